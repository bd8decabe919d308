"""What templates and charts take from a report document (`auditkit-report/2`): None where there is nothing.

Any part of a document may be null. `at` walks a path and stops at the first null; a key that does not exist is an
error, so that a misspelt one is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from auditkit.disparity import GroupStatus
from auditkit.text import NOT_AVAILABLE

Document = Mapping[str, Any]
Part = Mapping[str, Any]


def at(value: Any, *path: str | int) -> Any:
    """value[path[0]][path[1]]..., or None as soon as one of them is None."""
    for key in path:
        if value is None:
            return None
        value = value[key]
    return value


def named(value: object) -> str:
    """A name, or that there is none."""
    return NOT_AVAILABLE if value is None else str(value)


def joined(attribute: object) -> str:
    """A crossing as people say it: Gender+Ethnicity is Gender and Ethnicity."""
    return named(attribute).replace("+", " and ")


def group_names(document: Document, attribute: str) -> list[str]:
    """Groups of an attribute, largest first: the order that gives each its colour in all charts."""
    groups = [g for g in at(document, "groups") or () if g["attribute"] == attribute and g["name"] is not None]
    return [str(g["name"]) for g in sorted(groups, key=lambda g: -(g["applicants"] or 0))]


def groups_by_attribute(document: Document) -> dict[str, list[Part]]:
    """The groups of each attribute, in the order of the document."""
    found: dict[str, list[Part]] = {}
    for group in at(document, "groups") or ():
        found.setdefault(named(group["attribute"]), []).append(group)
    return found


def step_numbers(document: Document, attribute: str) -> list[tuple[str, Mapping[str, int | None]]]:
    """Every step of the funnel with the number of each group that reached it; those who applied first."""
    found = []
    for stage in document["funnel"] or ():
        numbers = (stage["by_group"] or {}).get(attribute)
        if numbers and stage["step"] is not None:
            found.append((str(stage["step"]), numbers))
    return found


@dataclass(frozen=True)
class PolicyView:
    """One of the policies that are laid side by side, and what to call it."""

    name: str
    part: Mapping[str, Any]
    constrained: bool = False
    recorded: bool = False

    @property
    def infeasible(self) -> bool:
        return self.part.get("status") == "infeasible"

    def groups(self, attribute: str) -> Mapping[str, Part]:
        """The numbers of each group of an attribute."""
        rows = (self.part["by_group"] or {}).get(attribute) or {}
        return {name: row for name, row in rows.items() if row}

    def rate(self, attribute: str, group: str, outcome: str) -> float | None:
        """Expected outcomes per candidate of the group."""
        row = self.groups(attribute).get(group)
        n, x = (None, None) if row is None else (row["candidates"], row[outcome])
        return None if x is None or not n else x / n


def policies(document: Document) -> Iterator[PolicyView]:
    """The firm's, the best without constraints, and the best under each constraint."""
    if document["firm"] is not None:
        yield PolicyView("The firm, as recorded", document["firm"], recorded=True)
    if document["unconstrained"] is not None:
        yield PolicyView("Best without constraints", document["unconstrained"])
    for entry in constrained(document):
        yield PolicyView(f"Best under {constraint_name(entry)}", entry, constrained=True)


def constraint_name(entry: Mapping[str, Any]) -> str:
    """As it reads after "under"."""
    label = entry["label"]
    return {None: "an unnamed constraint", "all together": "all constraints"}.get(label, str(label))


def constrained(document: Document) -> Sequence[Mapping[str, Any]]:
    return [entry for entry in document["constrained"] or () if entry is not None]


def policy_attributes(document: Document) -> list[str]:
    """The attributes by which the policies are counted."""
    names: dict[str, None] = {}
    for policy in policies(document):
        names |= dict.fromkeys(policy.part["by_group"] or {})
    return list(names)


# Disparity ------------------------------------------------------------------------------------------------------------


MARKS = {
    GroupStatus.DIFFERENCE_BELOW_LINE: "●",
    GroupStatus.DIFFERENCE_NOT_BELOW_LINE: "◍",
    GroupStatus.BELOW_LINE_NOT_SUFFICIENT: "◐",
    GroupStatus.NO_DIFFERENCE: "○",
    GroupStatus.TOO_LITTLE_EVIDENCE: "·",
    GroupStatus.EXCLUDED: "·",
    GroupStatus.REFERENCE: "",
}
"""Shapes that differ without colour, the most serious first."""

_ORDER = list(MARKS)


def disparities(document: Document) -> Sequence[Part]:
    """Every disparity table: each attribute and crossing at each step."""
    return at(document, "disparity", "tables") or ()


def severity(row: Part) -> tuple[int, float, float]:
    """Sorts groups and tables: differences found first, then those below the line, each by evidence and by size."""
    try:
        rank = _ORDER.index(GroupStatus(row["status"]))
    except ValueError:
        rank = len(_ORDER)
    p, ratio = row["p_adjusted"], row["impact_ratio"]
    return rank, 1.0 if p is None else p, 1.0 if ratio is None else ratio


class AttributeView(NamedTuple):
    """An attribute or crossing with its tables, in the order of the steps."""

    name: str
    crossing: bool
    tables: Sequence[Part]

    @property
    def title(self) -> str:
        return joined(self.name)

    @property
    def steps(self) -> list[tuple[str, list[Part]]]:
        """The tables of each step: of all applicants, then of those who reached the step before."""
        found: dict[str, list[Part]] = {}
        for table in self.tables:
            found.setdefault(named(table["step"]), []).append(table)
        return [(step, sorted(tables, key=lambda t: t["kind"] == "conditional")) for step, tables in found.items()]

    @property
    def groups(self) -> list[str]:
        """Those that fare worst first; the ones that are not compared are left out."""
        worst: dict[str, tuple[int, float, float]] = {}
        for row in _rows(self.tables):
            name = named(row["group"])
            worst[name] = min(worst.get(name, severity(row)), severity(row))
        return sorted((name for name in worst if name not in self.excluded), key=lambda name: worst[name])

    @property
    def excluded(self) -> list[str]:
        """Groups that are compared nowhere."""
        compared = {named(row["group"]) for row in _rows(self.tables) if row["status"] != GroupStatus.EXCLUDED}
        return list(
            dict.fromkeys(named(row["group"]) for row in _rows(self.tables) if named(row["group"]) not in compared)
        )

    def applicants(self, group: str) -> int | None:
        return next((row["applicants"] for row in _rows(self.tables[:1]) if named(row["group"]) == group), None)

    def segments(self, document: Document) -> list[Part]:
        return [part for part in document["segments"] or () if named(part["attribute"]) == self.name]


def _rows(tables: Sequence[Part]) -> Iterator[Part]:
    for table in tables:
        yield from table["groups"] or ()


def attributes(document: Document) -> list[AttributeView]:
    """Attributes with tables, the one that fares worst first; crossings behind them."""
    found: dict[str, list[Part]] = {}
    for table in disparities(document):
        found.setdefault(named(table["attribute"]), []).append(table)
    views = [AttributeView(name, bool(tables[0]["crossing"]), tables) for name, tables in found.items()]

    def worst(view: AttributeView) -> tuple[bool, tuple[int, float, float]]:
        rows = [severity(row) for row in _rows(view.tables)]
        return view.crossing, min(rows, default=(len(_ORDER), 1.0, 1.0))

    return sorted(views, key=worst)


class MatrixColumn(NamedTuple):
    """A column of the first page: a step, of whom."""

    step: str
    kind: str
    of: str


def columns(document: Document) -> list[MatrixColumn]:
    """All steps of all applicants, then the later ones of those who reached the step before."""
    steps = list(dict.fromkeys(named(table["step"]) for table in disparities(document)))
    found = [MatrixColumn(step, "cumulative", "of all applicants") for step in steps]
    for before, step in pairwise(steps):
        found.append(MatrixColumn(step, "conditional", f"of those who reached “{before}”"))
    return found


def cell(view: AttributeView, column: MatrixColumn, group: str | None = None) -> Part | None:
    """The result of a group in a column; without a group, the one that fares worst."""
    rows = [
        row
        for table in view.tables
        if (named(table["step"]), table["kind"]) == (column.step, column.kind)
        for row in table["groups"] or ()
        if group is None or named(row["group"]) == group
    ]
    return min(rows, key=severity, default=None)


# Fit ------------------------------------------------------------------------------------------------------------------


def coverage_rows(document: Document) -> list[tuple[float, float]]:
    """Nominal level and share of scores inside, as the document or as `FitQuality` names them."""
    rows = [
        (row.get("nominal", row.get("level")), row.get("actual", row.get("covered")))
        for row in at(document, "fit", "coverage") or ()
    ]
    return [(level, share) for level, share in rows if level is not None and share is not None]


def pit_bins(document: Document) -> tuple[list[float], list[float]] | None:
    """Edges and shares of the PIT histogram; equal bins of [0, 1] where no edges are given."""
    pit = at(document, "fit", "pit")
    shares = at(pit, "shares")
    if not shares:
        return None
    edges = pit.get("edges") or [i / len(shares) for i in range(len(shares) + 1)]
    return list(edges), list(shares)


class ErrorRow(NamedTuple):
    name: str | None
    scores: int | None
    mean_error: float | None
    standard_error: float | None
    crps: float | None
    coverage: float | None


def error_rows(document: Document, key: str) -> list[ErrorRow]:
    """Errors of the fit by group or by stratum."""
    return [
        ErrorRow(
            row.get("group", row.get("name")),
            row.get("n", row.get("scores")),
            row["mean_error"],
            row.get("standard_error"),
            row["crps"],
            row.get("coverage"),
        )
        for row in (document["fit"] or {}).get(key) or ()
    ]


def reached(document: Document) -> Mapping[str, int | None]:
    """How many of the applications reached each step."""
    return (document["scope"] or {}).get("reached") or {}


def reasons(document: Document, *parts: str) -> list[str]:
    """Why a part is missing: notices that name it as their `part`, or whose code does (`no-fit`, `fit-...`)."""
    found = []
    for note in document["findings"] or ():
        code, about = str(note["code"]), note.get("part")
        for part in parts:
            name = part.replace("_", "-")
            if about == part or code in (f"no-{name}", f"{name}-missing") or code.startswith(f"{name}-not-"):
                found.append(str(note["text"]))
                break
    return found
