"""The file of `--availability`: shares of groups in pools outside the firm.

A CSV with a header. `group` and `share` (0.47 or 47 %), or `group` and `size` (people of the group in the pool, from
which shares are computed). `attribute` where the same name is a group of several; `pool` where shares differ by the
value of a segment, such as the job family.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from auditkit.errors import InputError, Problem

COLUMNS = ("attribute", "pool", "group", "share", "size")
FIX = "a CSV with the columns group and share, e.g. Female,0.47; see docs/evidence.md"


def read_availability(path: Path) -> list[dict[str, object]]:
    """The rows, as `availability` of the settings has them."""
    try:
        table = pd.read_csv(path, dtype=str, encoding="utf-8-sig", sep=None, engine="python").fillna("")
    except (OSError, ValueError) as error:
        raise InputError(Problem(str(path), f"cannot be read: {error}", FIX)) from None
    table.columns = [str(name).strip().lower() for name in table.columns]
    unknown = [name for name in table.columns if name not in COLUMNS]
    if unknown or "group" not in table or ("share" in table) == ("size" in table) or table.empty:
        what = f"has the columns {', '.join(table.columns)}" if not table.empty else "has no rows"
        raise InputError(Problem(str(path), what, FIX))
    shares = _numbers(table, path)
    keys = [tuple(row.get(name, "").strip() for name in ("attribute", "pool")) for row in table.to_dict("records")]
    if "size" in table:
        totals: dict[tuple[str, ...], float] = {}
        for key, size in zip(keys, shares):
            totals[key] = totals.get(key, 0.0) + size
        empty = [key for key, total in totals.items() if total <= 0]
        if empty:
            raise InputError(Problem(str(path), f"pool {empty[0][1]!r} is empty", FIX))
        shares = [size / totals[key] for key, size in zip(keys, shares)]
    return [
        {"group": group.strip(), "share": share, "attribute": attribute or None, "pool": pool or None}
        for group, share, (attribute, pool) in zip(table["group"], shares, keys)
    ]


def _numbers(table: pd.DataFrame, path: Path) -> list[float]:
    name = "share" if "share" in table else "size"
    found, problems = [], []
    for row, text in enumerate(table[name], start=2):
        try:
            value = float(text.strip().removesuffix("%").strip()) / (100 if text.strip().endswith("%") else 1)
        except ValueError:
            value = -1.0
        if value < 0 or (name == "share" and value > 1):
            problems.append(Problem(f"{path}, row {row}, {name}", f"{text!r} is not a {name}", FIX))
        found.append(value)
    if problems:
        raise InputError(problems)
    return found
