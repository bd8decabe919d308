"""Random numbers that stay the same on every machine and with every version of numpy.

numpy promises stable streams for the raw bits of its generators only (NEP 19), not for `Generator.normal` and its like.
So everything is made here from the raw bits of PCG64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import TypeVar

import numpy as np

T = TypeVar("T")
_NORMAL = NormalDist()
AT_ONCE = 256
"""Numbers taken from the generator in one call, which is what costs time."""


class Draws:
    """One stream of numbers; `seed` is any few whole numbers."""

    def __init__(self, *seed: int) -> None:
        self._bits = np.random.PCG64(seed)
        self._next: list[int] = []

    def uniform(self) -> float:
        """Strictly between 0 and 1."""
        if not self._next:
            self._next = self._bits.random_raw(AT_ONCE).tolist()[::-1]
        return ((self._next.pop() >> 12) + 0.5) * 2.0**-52

    def normal(self, mean: float = 0.0, sd: float = 1.0) -> float:
        return mean + sd * _NORMAL.inv_cdf(self.uniform())

    def chance(self, probability: float) -> bool:
        return self.uniform() < probability

    def whole(self, low: int, high: int) -> int:
        """Low and high included."""
        return low + int(self.uniform() * (high - low + 1))

    def among(self, shares: Mapping[str, float]) -> str:
        """One of the keys; shares sum to 1."""
        left = self.uniform()
        for name, share in shares.items():
            left -= share
            if left < 0:
                return name
        return list(shares)[-1]

    def sample(self, items: Sequence[T], n: int) -> list[T]:
        """Different items, in random order."""
        pool = list(items)
        for i in range(n):
            j = self.whole(i, len(pool) - 1)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:n]
