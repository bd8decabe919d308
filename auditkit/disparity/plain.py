"""Results as plain data, for JSON."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any


def plain(value: Any) -> Any:
    """Dataclasses as JSON values: fractions as floats, dates as ISO text, non-finite numbers as None."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.isoformat() if hasattr(value, "isoformat") else value
