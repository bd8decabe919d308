"""Check a solution or a report without the code that found it.

Nothing in `auditkit.solver` is used here. Other algorithms evaluate the policies (`independent.py`), and the optimum is
re-derived: the mixture's utility and rows from its policies, the bound from the duals as
G(lambda) = max_p R.p + lambda.(b - Theta p), infeasibility from its multipliers. The only thing shared is the
statement of the problem: the layout of states, and the rows and measures that the constraint plugins make of it.
"""

from auditkit.verification.check_report import check_report
from auditkit.verification.check_solution import check_solution
from auditkit.verification.claims import NOISE, TOLERANCE, Check, Verified, same_numbers
