"""The parts of a report document that describe the data: its problems, who is in it, and how far they got.

Rows of applications that were withdrawn or are undecided count nowhere, as in all rates; nothing here names a cell.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from auditkit.data import KINDS, UNKNOWN

if TYPE_CHECKING:
    from auditkit.data import History
    from auditkit.disparity.privacy import Hidden

_WORDS = {
    "more-selected-than-capacity": "more were selected than there are positions: the number selected serves",
    "group-spelling": "a spelling is taken as the same group as another",
    "mixed-dates": "dates are written in several styles",
    "ambiguous-number": "a number was read with a decimal mark that the file does not settle",
    "stage-skipped": "a later stage was reached, but not an earlier one: counted as reached",
    "rest-of-a-record": "a row that is the rest of the one above",
}
"""Kinds of problems whose own words are about one cell."""


def in_general(text: str) -> str:
    """The words of a kind of problem without the cells that a single one names."""
    text = re.sub(r" \(\{\w+\}\)|\{\w+\}: |candidate \{value\}: ", "", text)
    text = re.sub(r"(score|cost|capacity) \{value\}", r"a \1", text)
    text = text.replace("{column}", "COLUMN").replace("{role}", "ROLE").replace("{raw}", "VALUE")
    return re.sub(r"\{\w+\}", "a value", text)


def problems(history: History) -> dict[str, Any]:
    counts = history.problems.counts()
    return {
        "total": sum(counts.values()),
        "by_code": [
            {
                "code": code,
                "treatment": KINDS[code].treatment,
                "count": n,
                "what": _WORDS.get(code) or in_general(KINDS[code].what),
                "fix": in_general(KINDS[code].fix),
            }
            for code, n in sorted(counts.items())
        ],
        "counts": {
            "read": history.counts.rows_read,
            "used": history.counts.rows_used,
            "left": dict(history.counts.left),
        },
    }


def groups(history: History, hidden: Hidden) -> list[dict[str, Any]]:
    table = history.table[history.decided]
    counts = table.groupby("group").size()
    found = []
    for group in sorted(map(str, counts.index), key=lambda name: (name == UNKNOWN, name)):
        own = table[table["group"] == group]
        if group in hidden.groups:
            numbers: dict[str, Any] = dict.fromkeys(("applicants", "inspected", "selected"))
            found.append({"name": group, **numbers, "suppressed": True, "shown": hidden.shown[group]})
            continue
        selected = int(own["selected"].sum()) if history.has("selected") else None
        numbers = {"applicants": len(own), "inspected": int(own["inspected"].sum()), "selected": selected}
        found.append({"name": group, **numbers, "suppressed": False})
    return found


def funnel(history: History, hidden: Hidden) -> list[dict[str, Any]]:
    """How many of each group got how far; those who withdrew or are undecided count nowhere, as in all rates."""
    table = history.table[history.decided]
    reached = {"applied": table["row"].notna()}
    for name in history.stages:
        reached[name] = table[f"stage:{name}"].astype("boolean").fillna(False).astype("bool")
    if not history.stages:
        reached["inspected"] = table["inspected"]
    if history.has("selected"):
        reached["selected"] = table["selected"]
    names = sorted(map(str, table["group"].unique()), key=lambda name: (name == UNKNOWN, name))
    return [
        {
            "stage": stage,
            "by_group": {
                name: None if name in hidden.groups else int((who & (table["group"] == name)).sum()) for name in names
            },
        }
        for stage, who in reached.items()
    ]
