"""The trends of a page: bands of each row, counts, and scores u_i = (s_i - mean s)(y_i - rate) for `stepdown`.

Means and rates are those of the requisition if the test within requisitions decides, otherwise those of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auditkit.data.attributes import JOINED_BANDS
from auditkit.disparity.applicants import Applicants, codes
from auditkit.disparity.cuts import Cut, DisparitySettings, Key
from auditkit.disparity.design import Designs
from auditkit.disparity.scores import Way
from auditkit.disparity.small_values import join_requisitions, numbers
from auditkit.disparity.stepdown import PageTest
from auditkit.disparity.trend import Trend, bands, trend

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TREND = "trend"
FEWEST_OF_BAND = 10
"""The fewest applicants in the last band of an ordered attribute; with fewer it is joined to the previous band."""


@dataclass(frozen=True, eq=False)
class TrendTest:
    """One table with at least three bands in an order."""

    cut: Cut
    found: Trend
    band: Ints
    """For each row of the data; -1 if it isn't in the table."""
    stratum: Ints
    """Of each row of the data."""
    n: Ints
    """By stratum and band."""
    x: Ints

    def on_page(self) -> PageTest:
        return PageTest(self.found.p_design, 1, TREND)

    def scores(self, data: Applicants, rows: Ints) -> Floats:
        """One entry for each of these rows."""
        band, stratum = self.band[rows], self.stratum[rows]
        order, n, x = np.arange(self.n.shape[1]), self.n, self.x
        if self.found.z_within is None:
            n, x, stratum = n.sum(axis=0)[None], x.sum(axis=0)[None], np.zeros_like(stratum)
        t = np.maximum(n.sum(axis=1), 1)
        mean, rate = (n @ order / t)[stratum], (x.sum(axis=1) / t)[stratum]
        u: Floats = (band - mean) * (data.good(self.cut.step)[rows] - rate)
        return np.where(band >= 0, u, 0.0)


def trend_tests(
    data: Applicants,
    page: Sequence[Cut],
    designs: Mapping[Key, Mapping[Way, Designs]],
    settings: DisparitySettings,
) -> list[TrendTest]:
    """One for each table of an ordered attribute with three bands or more."""
    found = []
    for cut in page:
        if cut.attribute not in data.ordered:
            continue
        names, band = _bands(data, cut, settings.threshold)
        if len(names) < 3:
            continue
        stratum = _strata(data, cut, band, len(names), settings.threshold)
        band = np.where(cut.codes >= 0, band, -1)
        if cut.before is not None:
            band = np.where(data.reached(cut.before), band, -1)
        chosen = np.where(data.good(cut.step), band, -1)
        n, x = (_count(stratum, who, len(cut.strata.names), len(names)) for who in (band, chosen))
        # If being selected is bad, the trend is that of being selected.
        own = trend(names, n, n - x if cut.adverse else x, designs[cut.key])
        if own is not None:
            own = replace(own, bands=bands(names, n.sum(axis=0), x.sum(axis=0), cut.adverse, settings.alpha))
            found.append(TrendTest(cut, own, band, stratum, n, x))
    return found


def _strata(data: Applicants, cut: Cut, band: Ints, many: int, threshold: int) -> Ints:
    """The table's requisitions, joined further if a band, which is finer than a group, has few applicants."""
    own = cut.strata.of_row
    n, there = numbers(own, len(cut.strata.names), band, many, data.decided)
    return join_requisitions(n, threshold, there=there)[own]


def _count(stratum: Ints, band: Ints, K: int, many: int) -> Ints:
    there = band >= 0
    return np.bincount(stratum[there] * many + band[there], minlength=K * many).reshape(K, many)


def _bands(data: Applicants, cut: Cut, threshold: int) -> tuple[tuple[str, ...], Ints]:
    """The bands in order, and each applicant's band at any step. The last bands are joined until they can be shown."""
    everyone = np.where(data.counted, cut.everyone, -1)
    order = data.ordered[cut.attribute]
    if cut.attribute not in data.bands:
        kept = [cut.groups.index(name) for name in order if name in cut.groups]
        kept = [g for g in kept if g in cut.compared]
        place = np.full(len(cut.groups) + 1, -1)
        place[kept] = np.arange(len(kept))
        return tuple(cut.groups[g] for g in kept), place[everyone]
    code, found = codes(data.bands[cut.attribute], None)
    place = np.array([order.index(name) if name in order else -1 for name in (*found, "")])
    band = np.where(everyone >= 0, place[code], -1)
    sizes = np.bincount(band[(band >= 0) & data.decided], minlength=len(order))
    names, last = list(order), len(order) - 1
    while last > 1 and sizes[last] < max(threshold, FEWEST_OF_BAND):
        last -= 1
        sizes[last] += sizes[last + 1]
        names = [*names[:last], JOINED_BANDS.get(names[last], f"{names[last]} and beyond")]
    shown = sizes[: last + 1].min() >= threshold
    return (tuple(names) if shown else ()), np.minimum(band, last)
