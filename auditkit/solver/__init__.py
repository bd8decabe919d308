"""Instance and constraints in, certified optimum out.

| question | file |
| --- | --- |
| index, capped values, exact evaluation | kernels.py (chains), box_kernels.py, evaluate.py |
| candidates that are alike | candidate_types.py |
| what a policy yields, by block of searches | block_sums.py, oracle.py; pool.py keeps it for other problems |
| where policies are evaluated | engine.py, start_engine.py; dask_engine.py with block_pieces.py on clusters |
| affine constraints | block_master.py, or the paper's rdip.py (one, by dual_search.py) and caratheodory.py (several) |
| many rows of single searches | own_rows.py |
| convex ones | convex.py with master.py, or the paper's g_rdip.py |
| the optimal mixture that scatters least | least_spread.py |
| which constraints conflict | conflict.py |
| policies and what they yield | policy.py |
| methods by name | methods.py |
| the answer, and its document | solution.py |
"""

from auditkit.solver.methods import METHODS, solve, solve_once
from auditkit.solver.solution import Optimum, Solution
