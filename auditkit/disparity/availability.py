"""Selections against the composition of an outside pool, such as a census of qualified people.

With S selected of which x belong to a group whose share of the pool is q:

    one pool        x is binomial (S, q); two-sided p: all counts no likelier than the one observed
    several pools   S_k selected from pool k with share q_k; x is a sum of independent binomials, whose law is a
                    convolution (the generalised binomial); expected sum S_k q_k, variance sum S_k q_k (1 - q_k)

p-values of the groups of a table are corrected with Holm's method.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auditkit.disparity.applicants import Applicants, group_codes
from auditkit.disparity.hypergeometric import TIE
from auditkit.disparity.pair import holm
from auditkit.disparity.stratified import NEGLIGIBLE
from auditkit.errors import InputError, Problem

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PoolCount:
    """A group in one pool: selections from the pool, how many were of the group, and the group's share of the pool."""

    pool: str
    selected: int
    of_group: int
    share: float


@dataclass(frozen=True)
class Availability:
    """One group against its share of the outside pools."""

    attribute: str
    group: str
    step: str
    pools: tuple[PoolCount, ...]
    selected: int
    of_group: int
    expected: float
    share: float
    """Of the group in the pools, weighted by the selections from each."""
    sd: float | None
    """Number of standard deviations from the expected number; negative: fewer."""
    p: float
    p_adjusted: float
    shortfall: float


def availability(attribute: str, step: str, groups: Mapping[str, Sequence[PoolCount]]) -> tuple[Availability, ...]:
    """Every group against its pools."""
    found = []
    for group, pools in groups.items():
        S, x = sum(pool.selected for pool in pools), sum(pool.of_group for pool in pools)
        expected = sum(pool.selected * pool.share for pool in pools)
        variance = sum(pool.selected * pool.share * (1 - pool.share) for pool in pools)
        p = generalised_binomial([(pool.selected, pool.share) for pool in pools], x)
        sd = (x - expected) / math.sqrt(variance) if variance > 0 else None
        about = (attribute, group, step, tuple(pools), S, x)
        found.append(Availability(*about, expected, expected / S if S else 0.0, sd, p, p, expected - x))
    adjusted = holm([one.p for one in found])
    return tuple(replace(one, p_adjusted=p) for one, p in zip(found, adjusted))


@dataclass(frozen=True)
class PoolShare:
    """Of a group in a pool; the pool is a value of a segment, or None for all applicants."""

    group: str
    share: float
    attribute: str | None = None
    pool: str | None = None


def against_pools(data: Applicants, shares: Sequence[PoolShare], threshold: int = 0) -> tuple[Availability, ...]:
    """Those who reached the last step against the shares of their groups; InputError if a name is unknown."""
    step = list(data.steps)[-1]
    chosen = data.reached(step)
    found: list[Availability] = []
    problems: list[Problem] = []
    segment = _segment_of(data, {share.pool for share in shares if share.pool is not None}, problems)
    for attribute, labels in data.attributes.items():
        code, names = group_codes(labels)
        groups: dict[str, list[PoolCount]] = {}
        for share in shares:
            if share.attribute not in (None, attribute) or share.group not in names:
                continue
            inside = chosen & (code >= 0)
            if share.pool is not None and segment is not None:
                inside = inside & (segment == share.pool)
            of_group = int(np.sum(inside & (code == names.index(share.group))))
            groups.setdefault(share.group, []).append(
                PoolCount(share.pool or "", int(inside.sum()), of_group, share.share)
            )
        shown = {group: pools for group, pools in groups.items() if _shown(code == names.index(group), threshold)}
        if shown:
            found += availability(attribute, step, shown)
    for share in shares:
        names_of = [name for name, labels in data.attributes.items() if share.group in group_codes(labels)[1]]
        if not names_of or (share.attribute is not None and share.attribute not in names_of):
            problems.append(
                Problem(f"availability of {share.group!r}", "there is no such group", "see the report's groups")
            )
        elif share.attribute is None and len(names_of) > 1:
            fix = "add a column attribute"
            problems.append(Problem(f"availability of {share.group!r}", f"is a group of {' and '.join(names_of)}", fix))
    if problems:
        raise InputError(problems)
    return tuple(found)


def _shown(rows: NDArray[np.bool_], threshold: int) -> bool:
    return int(rows.sum()) >= threshold


def _segment_of(data: Applicants, pools: set[str], problems: list[Problem]) -> NDArray[np.object_] | None:
    """The segment whose values these pools are."""
    if not pools:
        return None
    for code, values in data.segment_codes.values():
        if pools <= set(values):
            return np.array(values, dtype=object)[code]
    where = f"pools {', '.join(sorted(pools))}"
    problems.append(Problem(where, "no segment has all of these values", "name the values of one segment"))
    return None


def generalised_binomial(pools: Sequence[tuple[int, float]], seen: int) -> float:
    """Two-sided exact p of a sum of independent binomials."""
    from scipy.stats import binom  # takes 0.4 s to load, and few reports have availability

    law, begin = np.ones(1), 0
    for n, q in pools:
        x = np.arange(n + 1)
        law = np.convolve(law, binom.pmf(x, n, q))
        likely = np.flatnonzero(law > NEGLIGIBLE)
        begin += int(likely[0])
        law = law[likely[0] : likely[-1] + 1]
    at = seen - begin
    probability = float(law[at]) if 0 <= at < len(law) else 0.0
    return min(1.0, float(law[law <= probability * (1 + TIE)].sum() / law.sum()))
