"""What a dual acts like, in words: "as if each score of group F were raised by 2.1 (0.4 to 3.8)"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from auditkit.compare.comparison import Dual
from auditkit.constraints.two_sets import INSPECTION, SELECTION
from auditkit.text import amount_like, brief, interval, listing

NOT_BINDING = "not binding"

Classes = Mapping[str, Sequence[str]]
"""Crossed groups by name, each with its group of every attribute."""


def dual(found: Dual, value_scale: float, classes: Classes) -> str | None:
    """What one dual acts like, with its interval; None if there are no words for it."""
    if found.value == 0.0:
        return NOT_BINDING
    span = None if found.interval is None else (found.interval[0] / found.value, found.interval[1] / found.value)
    return acts_like(found.shifts, value_scale, span, classes) if found.shifts else None


def rows_of_candidates(rows: int, tight: int) -> tuple[str, str]:
    """The label of rows that concern one candidate each, and how many of them bind."""
    return f"{rows} rows, one for each candidate", f"{tight} of them bind"


def acts_like(
    moved: Mapping[tuple[str, str], float],
    value_scale: float,
    span: tuple[float, float] | None = None,
    classes: Classes | None = None,
) -> str:
    """Names groups with the same shift together, and groups that make up a whole group of an attribute by that group.

    `span` has the ends of the interval, as multiples of each shift.
    """
    alike: dict[tuple[str, str, str], list[str]] = {}
    for (what, group), gain in moved.items():
        if gain == 0.0:
            continue
        shift = abs(gain) / value_scale if what == SELECTION else abs(gain)
        size = brief(shift)
        if span is not None:
            ends = sorted(shift * end for end in span)
            size = f"{amount_like(shift, ends)} ({interval(ends, partial(amount_like, bounds=ends))})"
        acts = ("were raised by {}", "were lowered by {}") if what == SELECTION else ("cost {} less", "cost {} more")
        thing = "score" if what == SELECTION else what if what == INSPECTION else f"step of the stage {what}"
        alike.setdefault((thing, acts[gain < 0], size), []).append(group)
    if not alike:
        return NOT_BINDING
    if len(alike) <= 2:
        clauses = [
            f"each {thing} of {_groups(_joined(names, classes))} {act.format(size)}"
            for (thing, act, size), names in alike.items()
        ]
        return "as if " + " and ".join(clauses)
    many: dict[tuple[str, str], list[str]] = {}
    for (thing, act, size), names in alike.items():
        many.setdefault((thing, act), []).append(f"{size} ({', '.join(_joined(names, classes))})")
    return "as if " + "; ".join(f"each {thing} {act.format(listing(each))}" for (thing, act), each in many.items())


def _joined(names: Sequence[str], classes: Classes | None) -> Sequence[str]:
    """Crossed groups replaced by the groups of one attribute that they make up, or else unchanged."""
    if not classes:
        return names
    for place in range(min(map(len, classes.values()))):
        wholes = list(dict.fromkeys(classes[name][place] for name in classes if name in names))
        if set(names) == {name for name, labels in classes.items() if labels[place] in wholes}:
            return wholes
    return names


def _groups(names: Sequence[str]) -> str:
    return f"{'group' if len(names) == 1 else 'groups'} {listing(names)}"
