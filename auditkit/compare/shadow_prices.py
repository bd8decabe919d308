"""What duals act like, and whether the order within groups is kept.

At duals lambda the best policy is that of the adjusted rewards R - sum_j lambda_j theta_j (`solver/oracle`). Where
row j counts selections of group g with coefficient M, a value v of the group counts as v - lambda_j M: as if each
score were raised by x = -lambda_j M / value_scale points. Where it counts inspections, a cost c counts as c +
lambda_j M: as if each inspection cost x = -lambda_j M less. Whether the order within groups is kept is read off the
indices of the policies.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np

from auditkit.compare.parts import Parts
from auditkit.constraints.base import Rows
from auditkit.model.layout import Floats, Ints, Layout, runs
from auditkit.solver.evaluate import Prepared
from auditkit.solver.policy import Mixture, Policy
from auditkit.solver.rounding import without_noise

ORDER_TOLERANCE = 1e-9

AT_ONCE = 20_000
"""About so many candidates are looked at together."""


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
    before = Prepared.of_policy(layout, Rows((), (), ()), Policy.at(()))
    of_state, cells = layout.cells.of_state, len(layout.cells)
    cuts = np.searchsorted(layout.search_ptr, np.arange(0, len(layout.candidate_ids) + AT_ONCE, AT_ONCE))
    ends = layout.search_ptr[np.unique(np.minimum(cuts, len(layout.search_ids)))].tolist()
    for i, policy in enumerate(mixture.policies):
        follow = np.zeros(len(layout.search_ids), dtype=np.bool_)
        follow[mixture.followers(i)[0]] = True
        prepared = Prepared.of_policy(layout, rows, policy)
        for low, high in pairwise(ends):
            some = low + np.flatnonzero(follow[layout.candidate_search[low:high]])
            sizes = np.diff(layout.candidate_ptr)[some]
            first, after = _indices(before, some), _indices(prepared, some)
            acted_on = np.flatnonzero((first > 0) | (after > 0))
            place = np.repeat(layout.candidate_search[some] * cells, sizes)[acted_on]
            place += of_state[runs(layout.candidate_ptr[some], sizes)[acted_on]]
            first, after = first[acted_on], after[acted_on]
            order = np.lexsort((after, first, place))
            place, first, after = place[order], first[order], after[order]
            lower = after[1:] < after[:-1] - 2 * _unit(prepared)
            if (lower & (first[1:] > first[:-1]) & (place[1:] == place[:-1])).any():
                return False
    return True


def _unit(prepared: Prepared) -> float:
    """Indices that differ by less are the same."""
    finite = prepared.index[np.isfinite(prepared.index[:, 0]), 0]
    return ORDER_TOLERANCE * max(float(finite.max(initial=0.0)), 1.0)


def _indices(prepared: Prepared, candidates: Ints) -> Floats:
    """Indices rounded, so that ties are ties, and 0 for those that are never acted on."""
    found, unit = np.maximum(prepared.levels_of(candidates)[:, 0], 0.0), _unit(prepared)
    return np.where(np.isfinite(found), np.round(found / unit) * unit, found)
