"""Where the shortfall of a group comes from: segments, periods and requisitions.

With n1, x1 of the group and n0, x0 of the reference in value v, P_v their common rate there and P that of all:

    n1 P - x1  =  sum_v (n1_v P_v - x1_v)  +  sum_v n1_v (P - P_v)
    shortfall     parts: arise inside the values   composition: who applies where

Values with fewer than `threshold` applicants of a group are one value here (`small_values`), which is not listed.

Only differences already found are examined. p and the intervals allow for repeat applicants. Holm's method corrects p
over the values of one segment; of requisitions, the ten with the largest parts are listed, and p is multiplied by the
number of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from auditkit.disparity.applicants import Applicants
from auditkit.disparity.cuts import Cut
from auditkit.disparity.design import ClusterDesign, corrected, stretch, widened
from auditkit.disparity.pair import Pair, as_float, holm
from auditkit.disparity.results import DisparityTable, SegmentPart, SegmentTable
from auditkit.disparity.scores import population, repeat_effects
from auditkit.disparity.small_values import JOINED, join_small
from auditkit.disparity.stratified import agreement

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

REQUISITION = "requisition"
MOST_VALUES = 50
"""A segment with more values is listed like requisitions: only the largest parts."""
LISTED = 10


def segment_tables(
    data: Applicants, cut: Cut, table: DisparityTable, group: str, alpha: float, threshold: int = 0
) -> Iterator[SegmentTable]:
    """One table for each segment, for the periods and for the requisitions."""
    sides = ((cut.groups.index(group),), (cut.groups.index(str(table.reference)),))
    at, zero = population(data, cut, sides)
    chosen = data.good(table.step)[at]
    columns = dict(data.segment_codes)
    if data.strata is not None:
        columns[REQUISITION] = cut.strata.of_row, cut.strata.names
    compared = cut.compared_of(data)
    for name, (code, values) in columns.items():
        count = cut.strata.requisitions
        if name != REQUISITION:
            count = len(np.unique(code[compared >= 0]))
            code, values = join_small(code, values, compared, threshold, data.decided)
        cell = code[at] * 2 + zero
        n = np.bincount(cell, minlength=2 * len(values)).reshape(-1, 2)
        x = np.bincount(cell[chosen], minlength=2 * len(values)).reshape(-1, 2)
        effect = _repeat_effects(data, at, code[at], zero == 0, chosen, n, x)
        yield _segment(table, group, name, values, n, x, effect, cut.adverse, alpha, threshold, count)


def _repeat_effects(data: Applicants, at: Ints, value: Ints, one: Bools, chosen: Bools, n: Ints, x: Ints) -> Floats:
    """The design effect of repeat applicants in each value."""
    t, m = n.sum(axis=1).astype(np.float64), x.sum(axis=1)
    if data.repeat_applicants is None:
        return np.ones(len(t))
    u = (one - (n[:, 0] / np.maximum(t, 1))[value]) * (chosen - (m / np.maximum(t, 1))[value])
    V = n[:, 0] * n[:, 1] * m * (t - m) / np.maximum(t**2 * (t - 1), 1)
    return repeat_effects(data, at, u * (t / np.maximum(t - 1, 1))[value], value, V)


def _segment(
    table: DisparityTable,
    group: str,
    segment: str,
    values: tuple[str, ...],
    n: Ints,
    x: Ints,
    effect: Floats,
    adverse: bool,
    alpha: float,
    threshold: int,
    count: int,
) -> SegmentTable:
    there = np.flatnonzero(n.sum(axis=1))
    t = np.maximum(n.sum(axis=1), 1)
    part = n[:, 0] * x.sum(axis=1) / t - x[:, 0]
    total = Pair(int(n[:, 0].sum()), int(x[:, 0].sum()), int(n[:, 1].sum()), int(x[:, 1].sum())).shortfall
    order = there[np.argsort(-part[there], kind="stable")]
    both = (n[:, 0] > 0) & (n[:, 1] > 0)
    shown = _shown(n, order, threshold)
    shown = shown[[values[v] != JOINED for v in shown]]
    listed = shown if segment != REQUISITION and len(order) <= MOST_VALUES else shown[:LISTED]
    pairs = {int(v): Pair(int(n[v, 0]), int(x[v, 0]), int(n[v, 1]), int(x[v, 1]), adverse) for v in listed}
    design = {v: ClusterDesign("repeat applicants", float(effect[v])) for v in pairs}
    raw = {v: corrected(pair.p, pair.z, [design[v]]) for v, pair in pairs.items() if both[v]}
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
        parts=tuple(_part(values[v], pair, raw.get(v), adjusted.get(v), design[v], alpha) for v, pair in pairs.items()),
        others=within - float(part[listed].sum()) if len(listed) < len(order) else 0.0,
        values=count,
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


def _part(
    value: str, pair: Pair, p: float | None, adjusted: float | None, design: ClusterDesign, alpha: float
) -> SegmentPart:
    one, zero = pair.selected
    interval = pair.interval(widened(alpha, stretch([design], alpha))) if pair.n0 else None
    return SegmentPart(
        value=value,
        applicants=pair.n1,
        selected=one,
        reference_applicants=pair.n0,
        reference_selected=zero,
        rate=one / pair.n1 if pair.n1 else None,
        reference_rate=zero / pair.n0 if pair.n0 else None,
        impact_ratio=as_float(pair.impact_ratio) if pair.n0 else None,
        interval=None if interval is None else replace(interval, confidence=1 - alpha),
        p=p,
        p_adjusted=adjusted,
        found=adjusted is not None and adjusted <= alpha,
        shortfall=pair.shortfall,
    )
