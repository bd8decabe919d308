"""Duals in words, and whether the order within groups is kept.

At duals lambda the best policy is that of the adjusted rewards R - sum_j lambda_j theta_j (`solve.oracle`). Where row j
counts selections of group g with coefficient M, a value v of the group counts as v - lambda_j M: as if each score were
raised by x = -lambda_j M / value_scale points. Where it counts inspections, a cost c counts as c + lambda_j M: as if
each inspection cost x = -lambda_j M less. Whether the order within groups is kept is read off the indices of the
policies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from auditkit.compare.parts import INSPECTION, SELECTION, Parts
from auditkit.constraints.base import Rows
from auditkit.model.layout import Floats, Ints, Layout
from auditkit.solver.evaluate import Prepared
from auditkit.solver.policy import Mixture, Policy
from auditkit.solver.rounding import without_noise
from auditkit.text import amount_like, brief, interval, listing

NOT_BINDING = "not binding"
ORDER_TOLERANCE = 1e-9


def shifts(parts: Parts, j: int, dual: float) -> dict[tuple[str, str], float] | None:
    """(outcome, group) -> what dual j adds to the worth of one such outcome; None if it is not a plain count."""
    duals = np.zeros(len(parts.matrix))
    duals[j] = dual
    return total_shifts(parts, duals)


def dual_in_words(
    parts: Parts | None, j: int, dual: float, value_scale: float, interval: tuple[float, float] | None = None
) -> str | None:
    """What one dual acts like, with what its interval leaves open; None where there are no such words."""
    if dual == 0.0:
        return NOT_BINDING
    moved = None if parts is None else shifts(parts, j, dual)
    span = None if interval is None else (interval[0] / dual, interval[1] / dual)
    return None if parts is None or not moved else say(moved, value_scale, span, parts.names)


def say(
    moved: Mapping[tuple[str, str], float],
    value_scale: float,
    span: tuple[float, float] | None = None,
    classes: Sequence[str] = (),
) -> str:
    """As if each score of group F were raised by 2.1 (0.4 to 3.8); groups that are moved alike are named together.

    `span` has the ends of the interval, as multiples of each shift; `classes` are all groups, so that those that make
    up whole groups of one attribute are named by it.
    """
    alike: dict[tuple[str, str, str], list[str]] = {}
    for (what, group), gain in moved.items():
        if gain == 0.0:
            continue
        shift = abs(gain) / value_scale if what == SELECTION else abs(gain)
        size = brief(shift)
        if span is not None:
            ends = sorted(shift * end for end in span)
            size = f"{amount_like(shift, ends)} ({interval(ends, partial(amount_like, bounds=ends))})"
        acts = ("were raised by {}", "were lowered by {}") if what == SELECTION else ("cost {} less", "cost {} more")
        thing = "score" if what == SELECTION else what if what == INSPECTION else f"step of the stage {what}"
        alike.setdefault((thing, acts[gain < 0], size), []).append(group)
    if not alike:
        return NOT_BINDING
    if len(alike) <= 2:
        clauses = [
            f"each {t} of {_groups(joined(names, classes))} {act.format(x)}" for (t, act, x), names in alike.items()
        ]
        return "as if " + " and ".join(clauses)
    many: dict[tuple[str, str], list[str]] = {}
    for (thing, act, size), names in alike.items():
        many.setdefault((thing, act), []).append(f"{size} ({', '.join(joined(names, classes))})")
    return "as if " + "; ".join(f"each {thing} {act.format(listing(each))}" for (thing, act), each in many.items())


def joined(names: Sequence[str], classes: Sequence[str]) -> Sequence[str]:
    """Crossed groups by the groups of one attribute that they make up, or as they are.

    >>> joined(["F+X", "F+Y"], ["F+X", "F+Y", "M+X", "M+Y"]), joined(["F+X", "M+Y"], ["F+X", "F+Y", "M+X", "M+Y"])
    (['F'], ['F+X', 'M+Y'])
    """
    crossed = [tuple(name.split("+")) for name in classes]
    if len({len(labels) for labels in crossed}) != 1 or any("" in labels for labels in crossed):
        return names  # nothing is crossed, or a name has a plus of its own
    own = {tuple(name.split("+")) for name in names}
    for place in range(len(crossed[0])):
        wholes = list(dict.fromkeys(labels[place] for labels in crossed if labels in own))
        if own == {labels for labels in crossed if labels[place] in wholes}:
            return wholes
    return names


def _groups(names: Sequence[str]) -> str:
    return f"{'group' if len(names) == 1 else 'groups'} {listing(names)}"


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
