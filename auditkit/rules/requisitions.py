"""Which requisitions alternatives are worked out on: all of them, or of a large history some that a hash chose.

A hash of their names deals requisitions, so that the same history is always dealt alike, whatever its order of rows.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from auditkit.fitting.fitted import Fitted, Realised
from auditkit.model.layout import ByKind, Ints, Layout, Partition, runs


def dealt(layout: Layout, *name: object) -> list[int]:
    """All requisitions in an order of their own for each name."""

    def key(search: int) -> bytes:
        parts = [*map(str, name), layout.search_ids[search]]
        return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).digest()

    return sorted(range(len(layout.search_ids)), key=key)


def some(layout: Layout, most: int) -> Ints:
    """The first requisitions dealt that hold so many candidates; all of them if they hold no more."""
    order = np.array(dealt(layout, "some"))
    held = np.cumsum(np.diff(layout.search_ptr)[order])
    return np.sort(order[: int(np.searchsorted(held, most)) + 1])


def among(fitted: Fitted, searches: Ints) -> Fitted:
    """A fitted history with some of its requisitions only, under the same laws."""
    layout, own, refit = fitted.instance.layout, fitted.realised, fitted.refit
    if len(searches) == len(layout.search_ids):
        return fitted
    who = candidates_of(layout, searches)
    number = np.zeros(len(layout.search_ids), dtype=np.int64)
    number[searches] = np.arange(len(searches))
    realised = Realised(
        search=number[own.search[who]],
        capacity=own.capacity[searches],
        inspected=own.inspected[who],
        offered=own.offered[who],
        selected=own.selected[who],
        value=own.value[who],
        credited=own.credited[who],
        cost=own.cost[who],
        true=None if own.true is None else own.true[who],
        reached={stage: reached[who] for stage, reached in own.reached.items()},
    )
    if refit is not None:
        people = ByKind(refit.people.items, refit.people.kind[who])
        extra = ByKind(refit.attributes.items, refit.attributes.kind[who])
        refit = replace(refit, rows=refit.rows[who], people=people, attributes=extra, costs=refit.costs[who])
    return replace(
        fitted,
        instance=fitted.instance.among(searches),
        realised=realised,
        rows=fitted.rows[who],
        expected=fitted.expected[who],
        refit=refit,
        groups={name: Partition.coded(part.by, part.names, part.codes[who]) for name, part in fitted.groups.items()},
    )


def candidates_of(layout: Layout, searches: Ints) -> Ints:
    """The candidates of some requisitions, in their order."""
    return runs(layout.search_ptr[searches], np.diff(layout.search_ptr)[searches])
