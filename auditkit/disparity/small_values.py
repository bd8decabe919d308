"""Values of a segment in which a group has few applicants are joined before anything is counted.

A number that is computed over hidden cells gives them away: a sum by subtraction, a statistic by trying what fits. So a
table of a segment never sees them. Which values are joined depends on the numbers of applicants alone, and is the same
for all steps, kinds of tables and pairs of groups of an attribute: two tables with different cells could be subtracted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

JOINED = "(values with few applicants, together)"


def join_small(code: Ints, values: tuple[str, ...], groups: Ints, threshold: int) -> tuple[Ints, tuple[str, ...]]:
    """Codes and names of the values, with the small ones joined at the end under the name `JOINED`.

    `groups` are the codes of the groups that are compared, negative for all other rows. A value is small if it holds
    fewer than `threshold` applicants of a group, but not none; the smallest of the others are joined with them until
    that is true of none of the groups in the joined value either.
    """
    known = groups >= 0
    width = int(groups.max(initial=-1)) + 1
    n = np.bincount(code[known] * width + groups[known], minlength=len(values) * width).reshape(len(values), width)
    small = _few(n, threshold)
    rest = np.flatnonzero(small)
    if not len(rest):
        return code, values
    total = n.sum(axis=1)
    large = [v for v in np.argsort(total, kind="stable").tolist() if total[v] and not small[v]]
    while large and _few(n[rest].sum(axis=0), threshold).any():
        rest = np.append(rest, large.pop(0))
    kept = np.setdiff1d(np.arange(len(values)), rest)
    place = np.full(len(values), len(kept), dtype=np.int64)
    place[kept] = np.arange(len(kept))
    return place[code], (*(values[v] for v in kept), JOINED)


def _few(n: Ints, threshold: int) -> NDArray[np.bool_]:
    few = (n > 0) & (n < threshold)
    return np.asarray(few.any(axis=1) if n.ndim == 2 else few)
