"""Instance and constraints in, certified optimum out.

| question | file |
| --- | --- |
| index, capped values, exact evaluation | kernels.py, evaluate.py |
| a policy's column | oracle.py |
| one constraint | dual_search.py, or the paper's rdip.py |
| several | master.py, or the paper's caratheodory.py |
| which constraints conflict | conflict.py |
| the answer | solution.py, document.py |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from auditkit.constraints import Constraint, bind
from auditkit.errors import InputError, Problem, nearest
from auditkit.instance import Instance
from auditkit.outcome import Outcome
from auditkit.policy import Mixture
from auditkit.solve import caratheodory, dual_search, master, rdip
from auditkit.solve.conflict import smallest_conflict
from auditkit.solve.dual_search import Meeting
from auditkit.solve.oracle import Column, Infeasible, Oracle
from auditkit.solve.solution import Optimum, Solution, mix


def _generate(oracle: Oracle) -> Meeting:
    return dual_search.search(oracle) if len(oracle.rows) == 1 else master.generate(oracle)


METHODS: dict[str, Callable[[Oracle], Meeting]] = {
    "column-generation": _generate,
    "rdip": rdip.mix_extremes,
    "caratheodory": caratheodory.mix_surrounding,
}


def solve(
    instance: Instance,
    constraints: Sequence[Constraint] = (),
    method: str = "column-generation",
    known: Sequence[Column] = (),
) -> Solution:
    """Unconstrained and constrained optimum of an instance, exactly, with a certificate.

    Column generation starts from the `known` columns, which must be of the rows of these constraints.
    """
    if method not in METHODS:
        raise InputError(Problem("method", f"there is no method {method!r}", nearest(method, METHODS)))
    layout = instance.layout
    rows = bind(constraints, layout)
    oracle = Oracle(layout, rows, known)
    unconstrained = Outcome(layout, oracle.free.visits)
    try:
        found = METHODS[method](oracle) if len(rows) else dual_search.alone(oracle.free)
    except Infeasible:
        return Solution(method, unconstrained, None, smallest_conflict(layout, rows))
    outcome = Outcome(layout, mix(found.weights, [c.visits for c in found.columns]))
    mixture = Mixture(tuple(float(w) for w in found.weights), tuple(c.policy for c in found.columns))
    optimum = Optimum(rows, mixture, outcome, found.duals, found.bound, oracle.calls, (*known, *oracle.columns))
    return Solution(method, unconstrained, optimum)


__all__ = ["METHODS", "Optimum", "Solution", "solve"]
