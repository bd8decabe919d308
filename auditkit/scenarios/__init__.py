"""The managerial questions, asked about one fitted instance. Pure functions; every number is a certified optimum's.

| question | function |
| --- | --- |
| what does each value of a constraint's parameter cost, and where does it start to cost anything? | frontier |
| what if the scores of a group are biased? | sensitivity |
| how strict should a constraint be, given how biased scores are? | bias_table |
| how many more positions make up for a constraint? | more_positions |
| what is one more unit of a budget worth, compared with one more position? | budget_or_position |
| which limits inside searches bind, and what is one more place there worth? | more_places |
| all of these, about a user's data | ask |
"""

from auditkit.scenarios.answers import Answers, ask
from auditkit.scenarios.bias_table import BiasCell, BiasTable, bias_table
from auditkit.scenarios.frontier import Frontier, FrontierPoint, frontier
from auditkit.scenarios.places import MorePlaces, Place, more_places
from auditkit.scenarios.positions import BudgetOrPosition, Extra, MorePositions, budget_or_position, more_positions
from auditkit.scenarios.sensitivity import Sensitivity, SensitivityPoint, sensitivity
