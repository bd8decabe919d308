"""Where the shortfall of a group comes from: segments, periods and requisitions.

With n1, x1 of the group and n0, x0 of the reference in value v, P_v their common rate there and P that of all:

    n1 P - x1  =  sum_v (n1_v P_v - x1_v)  +  sum_v n1_v (P - P_v)
    shortfall     parts: arise inside the values   composition: who applies where

Values with fewer than `threshold` people of either group are not listed by themselves, and neither are as many more as
it takes for those not listed to be that many together: totals would give them away.

Only differences that are already found are looked into. p is corrected with Holm's method over the values of one
segment; of requisitions, the ten with the largest parts are listed and p is multiplied by the number of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from auditkit.disparity.applicants import Applicants, codes, periods
from auditkit.disparity.pair import Pair, holm
from auditkit.disparity.results import DisparityTable, SegmentPart, SegmentTable
from auditkit.disparity.stratified import agreement

Ints = NDArray[np.int64]

PERIOD, REQUISITION = "period", "requisition"
MOST_VALUES = 50
"""A segment with more values is listed like requisitions: the largest parts only."""
LISTED = 10


def segment_tables(
    data: Applicants,
    table: DisparityTable,
    group: str,
    codes_of_groups: Ints,
    pair: tuple[int, int],
    alpha: float,
    threshold: int = 0,
) -> Iterator[SegmentTable]:
    """One table for each segment, for the periods and for the requisitions; `pair` are the codes of the two groups."""
    rows: NDArray[np.bool_] = np.isin(codes_of_groups, pair)
    if table.kind == "conditional":
        steps = list(data.steps)
        rows &= data.reached(steps[steps.index(table.step) - 1])
    at = np.flatnonzero(rows)
    zero = np.asarray(codes_of_groups[at] == pair[1], dtype=np.int64)
    chosen = data.reached(table.step)[at]
    columns = {name: codes(labels) for name, labels in data.segments.items()}
    if data.dates is not None:
        columns[PERIOD] = codes(periods(data.dates))
    if data.strata is not None:
        columns[REQUISITION] = data.stratum
    for name, (code, values) in columns.items():
        cell = code[at] * 2 + zero
        n = np.bincount(cell, minlength=2 * len(values)).reshape(-1, 2)
        x = np.bincount(cell[chosen], minlength=2 * len(values)).reshape(-1, 2)
        yield _segment(table, group, name, values, n, x, alpha, threshold)


def _segment(
    table: DisparityTable,
    group: str,
    segment: str,
    values: tuple[str, ...],
    n: Ints,
    x: Ints,
    alpha: float,
    threshold: int,
) -> SegmentTable:
    there = np.flatnonzero(n.sum(axis=1))
    t = np.maximum(n.sum(axis=1), 1)
    part = n[:, 0] * x.sum(axis=1) / t - x[:, 0]
    total = Pair(int(n[:, 0].sum()), int(x[:, 0].sum()), int(n[:, 1].sum()), int(x[:, 1].sum())).shortfall
    order = there[np.argsort(-part[there], kind="stable")]
    both = (n[:, 0] > 0) & (n[:, 1] > 0)
    shown = _shown(n, order, threshold)
    listed = shown if segment != REQUISITION and len(order) <= MOST_VALUES else shown[:LISTED]
    pairs = {int(v): Pair(int(n[v, 0]), int(x[v, 0]), int(n[v, 1]), int(x[v, 1])) for v in listed}
    raw = {v: pair.p for v, pair in pairs.items() if both[v]}
    if len(listed) == len(order):
        adjusted = dict(zip(raw, holm(list(raw.values())))) if raw else {}
    else:
        adjusted = {v: min(1.0, p * int(both.sum())) for v, p in raw.items()}
    within = float(part[there].sum())
    return SegmentTable(
        attribute=table.attribute,
        step=table.step,
        kind=table.kind,
        segment=segment,
        group=group,
        reference=str(table.reference),
        shortfall=total,
        within=within,
        composition=total - within,
        parts=tuple(_part(values[v], pair, raw.get(v), adjusted.get(v), alpha) for v, pair in pairs.items()),
        others=within - float(part[listed].sum()) if len(listed) < len(order) else 0.0,
        values=len(there),
        agreement=agreement(n[:, 0], x[:, 0], n[:, 1], x[:, 1]),
    )


def _shown(n: Ints, order: Ints, threshold: int) -> Ints:
    """The values that may be listed, in order."""
    small = ((n[order] > 0) & (n[order] < threshold)).any(axis=1)
    shown, rest = order[~small], order[small]
    while len(rest) and len(shown) and ((n[rest].sum(axis=0) > 0) & (n[rest].sum(axis=0) < threshold)).any():
        least = int(np.argmin(n[shown].sum(axis=1)))
        rest, shown = np.append(rest, shown[least]), np.delete(shown, least)
    return shown


def _part(value: str, pair: Pair, p: float | None, adjusted: float | None, alpha: float) -> SegmentPart:
    return SegmentPart(
        value=value,
        applicants=pair.n1,
        selected=pair.x1,
        reference_applicants=pair.n0,
        reference_selected=pair.x0,
        rate=Fraction(pair.x1, pair.n1) if pair.n1 else None,
        reference_rate=Fraction(pair.x0, pair.n0) if pair.n0 else None,
        impact_ratio=pair.impact_ratio if pair.n0 else None,
        interval=pair.interval(alpha) if pair.n0 else None,
        p=p,
        p_adjusted=adjusted,
        found=adjusted is not None and adjusted <= alpha,
        shortfall=pair.shortfall,
    )
