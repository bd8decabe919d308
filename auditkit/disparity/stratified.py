"""Two groups over strata beyond `pair.stratify`: the exact conditional test, and whether strata agree.

With a = x1, m = x1 + x0, t = n1 + n0 of each stratum:

    exact            the law of sum(a) given all margins, a convolution of hypergeometric laws; two-sided p: all
                     outcomes that are no likelier than the one observed. Used if CMH's approximation is poor:
    Mantel-Fleiss    min(sum E - sum L, sum U - sum E) < 5,  E = n1 m/t,  L = max(0, m-n0),  U = min(n1, m)
    Breslow-Day      sum (a-A)^2/V - (sum (a-A))^2 / sum V        (the second term is Tarone's correction)
                     A: the count in [L, U] whose odds ratio is that of Mantel-Haenszel,
                     1/V = 1/A + 1/(n1-A) + 1/(m-A) + 1/(n0-m+A);  chi-square with strata - 1 degrees of freedom
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from auditkit.disparity import hypergeometric
from auditkit.disparity.hypergeometric import TIE

Floats = NDArray[np.float64]

MOST_STRATA, MOST_OUTCOMES = 5_000, 20_000
"""The exact test is for few selections; above these sizes it's left out."""
NEGLIGIBLE = 1e-40


@dataclass(frozen=True)
class Agreement:
    """Whether the odds ratio is the same in all strata: Breslow-Day with Tarone's correction."""

    statistic: float
    df: int
    p: float
    reliable: bool
    """At least four in five strata expect 5 or more in every cell; in sparser strata p is unreliable."""


def _informative(n1: Any, x1: Any, n0: Any, x0: Any) -> tuple[Floats, Floats, Floats, Floats]:
    """Strata that hold both groups, some selected and some not; as n1, a, n0, m."""
    n1, a, n0, c = (np.asarray(counts, dtype=np.float64) for counts in (n1, x1, n0, x0))
    m = a + c
    inside = (n1 > 0) & (n0 > 0) & (m > 0) & (m < n1 + n0)
    return n1[inside], a[inside], n0[inside], m[inside]


def sparse(n1: Any, x1: Any, n0: Any, x0: Any) -> bool:
    """Whether the criterion of Mantel and Fleiss asks for the exact test."""
    n1, _, n0, m = _informative(n1, x1, n0, x0)
    E = float(np.sum(n1 * m / (n1 + n0)))
    return min(E - float(np.sum(np.maximum(0, m - n0))), float(np.sum(np.minimum(n1, m))) - E) < 5


@dataclass(frozen=True, eq=False)
class ExactTest:
    """The exact conditional test over strata."""

    p: float
    mid_p: float
    """p minus half the probability of the observed counts."""
    attainable: Floats
    """All values that p can take, given the margins; ascending."""


def exact_test(n1: Any, x1: Any, n0: Any, x0: Any) -> ExactTest | None:
    """Two-sided exact conditional test over strata; None if it's too large to compute."""
    n1, a, n0, m = _informative(n1, x1, n0, x0)
    lower, upper = np.maximum(0, m - n0), np.minimum(n1, m)
    if len(n1) > MOST_STRATA or float(np.sum(upper - lower)) > MOST_OUTCOMES:
        return None
    law, begin = np.ones(1), 0
    tables, times = np.unique(np.stack([n1, n0, m], axis=1).astype(np.int64), axis=0, return_counts=True)
    for (ones, zeros, chosen), many in zip(tables.tolist(), times.tolist()):
        first, power = hypergeometric.law(ones, zeros, chosen)
        while many:  # the law of `many` equal strata by squaring
            if many % 2:
                law, begin = _sum_law(law, begin, power, first)
            many //= 2
            if many:
                power, first = _sum_law(power, first, power, first)
    at = round(float(np.sum(a))) - begin
    law = law / law.sum()
    seen = float(law[at]) if 0 <= at < len(law) else 0.0
    p = min(1.0, float(law[law <= seen * (1 + TIE)].sum()))
    ascending = np.sort(law)
    last = np.append(ascending[1:] > ascending[:-1] * (1 + TIE), True)
    return ExactTest(p, max(p - seen / 2, 0.0), np.minimum(np.cumsum(ascending)[last], 1.0))


def _sum_law(one: Floats, begin: int, other: Floats, first: int) -> tuple[Floats, int]:
    """The law of the sum of two independent counts, without its negligible ends; and its smallest outcome."""
    law = np.convolve(one, other)
    likely = np.flatnonzero(law > NEGLIGIBLE)
    return law[likely[0] : likely[-1] + 1], begin + first + int(likely[0])


def exact_p(n1: Any, x1: Any, n0: Any, x0: Any) -> float | None:
    """p of the exact conditional test."""
    found = exact_test(n1, x1, n0, x0)
    return None if found is None else found.p


def agreement(n1: Any, x1: Any, n0: Any, x0: Any) -> Agreement | None:
    """Breslow-Day test with Tarone's correction; None with fewer than two informative strata."""
    n1, a, n0, m = _informative(n1, x1, n0, x0)
    t = n1 + n0
    r, s = float(np.sum(a * (n0 - m + a) / t)), float(np.sum((n1 - a) * (m - a) / t))
    if len(t) < 2 or r <= 0 or s <= 0:
        return None
    odds = r / s
    # (1-odds) A^2 + B A - odds n1 m = 0; the root in [L, U], written so that odds = 1 divides by nothing
    B = odds * (n1 + m) + (n0 - m)
    A = 2 * odds * n1 * m / (B + np.sqrt(np.maximum(B * B + 4 * (1 - odds) * odds * n1 * m, 0.0)))
    cells = np.stack([A, n1 - A, m - A, n0 - m + A])
    V = 1 / np.sum(1 / np.maximum(cells, 1e-300), axis=0)
    statistic = max(0.0, float(np.sum((a - A) ** 2 / V) - np.sum(a - A) ** 2 / np.sum(V)))
    reliable = bool(np.mean(cells.min(axis=0) >= 5) >= 0.8)
    return Agreement(statistic, len(t) - 1, float(chdtrc(len(t) - 1, statistic)), reliable)
