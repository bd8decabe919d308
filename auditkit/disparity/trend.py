"""Ordered groups, such as age bands: does the rate rise or fall along them?

With scores s_j of the groups j (their order, 0, 1, 2, ...), n applicants and x selected in each, P = S/N:

    Cochran-Armitage    Z = sum s (x - n P) / sqrt( P (1-P) (sum n s^2 - (sum n s)^2 / N) )
    within requisitions the same sums over requisitions k with their own P_k, and the variance of sampling without
                        replacement, m (t-m) / (t (t-1)) (sum n s^2 - (sum n s)^2 / t)        (Mantel's extension)

With requisitions the second test decides, otherwise the first, both with the design effect of the table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from auditkit.disparity.design import Designs, corrected
from auditkit.disparity.pair import Interval, Pair

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Band:
    """One of the ordered groups compared with the first; interval and p are those of this pair alone."""

    group: str
    applicants: int
    selected: int
    rate: float | None
    impact_ratio: float | None
    interval: Interval | None
    p: float | None


@dataclass(frozen=True)
class Trend:
    """Over ordered groups; Z is negative if the rate falls."""

    groups: tuple[str, ...]
    z: float
    p: float
    z_within: float | None
    p_within: float | None
    p_design: float
    """Of the test that decides, with the design effect."""
    p_adjusted: float | None = None
    """Corrected for all tests of the report."""
    bands: tuple[Band, ...] = ()

    @property
    def deciding(self) -> float:
        return self.z if self.z_within is None else self.z_within


def trend(
    groups: Sequence[str], n: Ints, x: Ints, designs: Mapping[Literal["pooled", "within"], Designs] | None = None
) -> Trend | None:
    """The trend in counts by stratum and ordered group; None if it can't be computed. `designs`: "pooled", "within"."""
    n, x = np.atleast_2d(n).astype(np.float64), np.atleast_2d(x).astype(np.float64)
    order = np.arange(n.shape[1], dtype=np.float64)
    total, chosen = n.sum(axis=0), x.sum(axis=0)
    N, S = float(total.sum()), float(chosen.sum())
    spread = float(total @ order**2 - (total @ order) ** 2 / max(N, 1.0))
    if not 0 < S < N or spread <= 0:
        return None
    P = S / N
    z = float(order @ (chosen - total * P)) / math.sqrt(P * (1 - P) * spread)
    t, m = n.sum(axis=1), x.sum(axis=1)
    inside = (t > 1) & (m > 0) & (m < t)
    t, m, n, x = t[inside], m[inside], n[inside], x[inside]
    variance = float(np.sum(m * (t - m) / (t * (t - 1)) * (n @ order**2 - (n @ order) ** 2 / t))) if len(t) > 1 else 0.0
    within = float(np.sum((x - n * (m / t)[:, None]) @ order)) / math.sqrt(variance) if variance > 0 else None
    designs = designs or {}
    p, p_within = _two_sided(z), None if within is None else _two_sided(within)
    decided = corrected(p, z, designs.get("pooled", ())) if p_within is None else None
    if decided is None:
        assert p_within is not None
        decided = corrected(p_within, within, designs.get("within", ()))
    return Trend(tuple(groups), z, p, within, p_within, decided)


def bands(groups: Sequence[str], n: Ints, x: Ints, adverse: bool, alpha: float) -> tuple[Band, ...]:
    """Each group compared with the first, from total counts; x counts the favourable outcome."""
    found = []
    for j, group in enumerate(groups):
        pair = Pair(int(n[j]), int(x[j]), int(n[0]), int(x[0]), adverse)
        chosen = pair.selected[0]
        ratio = pair.impact_ratio if j else None
        found.append(
            Band(
                group,
                pair.n1,
                chosen,
                chosen / pair.n1 if pair.n1 else None,
                None if ratio is None else float(ratio),
                pair.interval(alpha) if j and pair.n1 and pair.n0 else None,
                pair.p if j and pair.n1 and pair.n0 else None,
            )
        )
    return tuple(found)


def _two_sided(z: float) -> float:
    return float(2 * ndtr(-abs(z)))
