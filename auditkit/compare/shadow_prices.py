"""What duals act like, and whether the order within groups is kept.

At duals lambda the best policy is that of the adjusted rewards R - sum_j lambda_j theta_j (`solver/oracle`). Where
row j counts selections of group g with coefficient M, a value v of the group counts as v - lambda_j M: as if each
score were raised by x = -lambda_j M / value_scale points. Where it counts inspections, a cost c counts as c +
lambda_j M: as if each inspection cost x = -lambda_j M less. Whether the order within groups is kept is read off the
indices of the policies.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from auditkit.compare.parts import Parts
from auditkit.constraints.base import Rows
from auditkit.model.layout import Floats, Ints, Layout
from auditkit.solver.evaluate import Prepared
from auditkit.solver.policy import Mixture, Policy
from auditkit.solver.rounding import without_noise

ORDER_TOLERANCE = 1e-9


def shifts(parts: Parts | None, j: int, dual: float) -> dict[tuple[str, str], float] | None:
    """(outcome, group) -> what dual j adds to the worth of one such outcome; None if it is not a plain count."""
    if parts is None:
        return None
    duals = np.zeros(len(parts.matrix))
    duals[j] = dual
    return total_shifts(parts, duals)


def total_shifts(parts: Parts | None, duals: Floats) -> dict[tuple[str, str], float] | None:
    """The shifts of all rows together; None if some binding row is not a plain count."""
    if parts is None:
        return None
    terms: dict[tuple[str, str], list[float]] = defaultdict(list)
    for j in np.flatnonzero(duals):
        for f in np.flatnonzero(parts.matrix[j]):
            part = parts.parts[f]
            if part.counts is None:
                return None
            terms[part.counts, parts.names[part.group]].append(-float(duals[j]) * float(parts.matrix[j, f]))
    return {key: without_noise(sum(gains), sum(map(abs, gains))) for key, gains in terms.items()}


def order_kept(layout: Layout, rows: Rows, mixture: Mixture) -> bool:
    """Whether, within each search and group, the policies keep the order of the unconstrained optimum.

    Of two candidates of a group at the same stage, or of two values seen, the one with the higher index comes first;
    indices that are not positive are those of people who are left alone, all alike. A constraint on selections shifts
    all values of a group by the same amount. One on inspections makes looking cheaper, which helps most those of whom
    least is known: the order may change.
    """
    before = _indices(Prepared.of_policy(layout, Rows((), (), ()), Policy.at(())))
    for i, policy in enumerate(mixture.policies):
        searches, _ = mixture.followers(i)
        if not len(searches):
            continue
        states = _states(layout, searches)
        after = _indices(Prepared.of_policy(layout, rows, policy))[states]
        place = layout.spread(layout.candidate_search)[states] * len(layout.cells) + layout.cells.of_state[states]
        first = before[states]
        order = np.lexsort((after, first, place))
        place, first, after = place[order], first[order], after[order]
        finite = np.abs(after[np.isfinite(after)])
        lower = after[1:] < after[:-1] - 2 * ORDER_TOLERANCE * float(finite.max(initial=1.0))
        if (lower & (first[1:] > first[:-1]) & (place[1:] == place[:-1])).any():
            return False
    return True


def _indices(prepared: Prepared) -> Floats:
    """Indices rounded, so that ties are ties, and 0 for those that are never acted on."""
    found = np.maximum(prepared.indices, 0.0)
    finite = found[np.isfinite(found)]
    unit = ORDER_TOLERANCE * float(finite.max(initial=1.0))
    return np.where(np.isfinite(found), np.round(found / unit) * unit, found)


def _states(layout: Layout, searches: Ints) -> Ints:
    if len(searches) == len(layout.search_ids):
        return np.arange(layout.states)
    first = layout.candidate_ptr[layout.search_ptr]
    return np.concatenate([np.arange(first[s], first[s + 1]) for s in searches.tolist()])
