"""Which numbers are rounding, and therefore zero.

A sum of terms t_1 + ... + t_n carries an error in proportion to |t_1| + ... + |t_n|, however small the sum is. So a
loss is judged beside the rewards that both policies collect, a slack beside the terms of its row, and a shift beside
the duals that it adds up. Whatever is smaller than `ROUNDING` times the size of its terms is exactly 0.0, in results,
tables, sentences and JSON alike.
"""

from __future__ import annotations

from typing import overload

import numpy as np

from auditkit.model.layout import Floats

ROUNDING = 1e-11

MET = 1e-14
"""Of the size of their terms: a value and a bound that are closer have met."""


@overload
def without_noise(x: float, size: float) -> float: ...
@overload
def without_noise(x: Floats, size: Floats | float) -> Floats: ...
def without_noise(x: Floats | float, size: Floats | float) -> Floats | float:
    """x, with 0.0 in place of what rounding leaves of terms whose sizes add up to `size`."""
    kept = np.where(np.abs(x) <= ROUNDING * np.asarray(size), 0.0, x)
    return kept if isinstance(x, np.ndarray) else float(kept)
