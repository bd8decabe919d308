"""Probabilities of groups that somebody else imputed: read as they are, checked, and used as membership."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from auditkit.data.values import NumberReader
from auditkit.errors import InputError, Problem

_NAMED = re.compile(r"(?P<attribute>[^:=_]+)[:=_]\s*(?P<group>.+)")
ROUNDED = 0.005
"""Probabilities with two digits may add up to so much more than 1 for each group."""


def read_membership(cells: pd.DataFrame, columns: Sequence[str], numbers: NumberReader) -> dict[str, pd.Series[Any]]:
    """`member:<attribute>:<group>` from columns such as `Race: White`, `Race=White` or `race_white`."""
    found: dict[str, pd.Series[Any]] = {}
    by_attribute: dict[str, list[pd.Series[Any]]] = {}
    for column in columns:
        named = _NAMED.fullmatch(column)
        if named is None:
            fix = "name the columns after the attribute and the group, such as 'Race: White'"
            raise InputError(Problem(f"column {column!r}", "does not say of which attribute it is", fix))
        own = numbers.read(cells[column], column)
        _refuse(column, (own < 0) | (own > 1), "contains a probability outside 0 to 1")
        found[f"member:{named['attribute'].strip()}:{named['group'].strip()}"] = own
        by_attribute.setdefault(named["attribute"].strip(), []).append(own)
    for attribute, shares in by_attribute.items():
        total = pd.concat(shares, axis=1).sum(axis=1)
        _refuse(attribute, total > 1 + ROUNDED * len(shares), "has groups whose probabilities add up to more than 1")
    return found


def _refuse(column: str, wrong: pd.Series[Any], what: str) -> None:
    if wrong.any():
        place = f"row {wrong[wrong].index[0]}, column {column!r}"
        raise InputError(Problem(place, what, f"{int(wrong.sum()):,} rows are like that"))
