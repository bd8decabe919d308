"""Instance and constraints in, certified optimum out.

| question | file |
| --- | --- |
| index, capped values, exact evaluation | kernels.py, evaluate.py |
| a policy's column | oracle.py |
| one constraint | dual_search.py, or the paper's rdip.py |
| several | master.py, or the paper's caratheodory.py |
| convex ones | convex.py, or the paper's g_rdip.py |
| which constraints conflict | conflict.py |
| policies and what they yield | policy.py |
| methods by name | methods.py |
| the answer, and its document | solution.py |
"""

from auditkit.solver.methods import METHODS, solve
from auditkit.solver.solution import Optimum, Solution

__all__ = ["METHODS", "Optimum", "Solution", "solve"]
