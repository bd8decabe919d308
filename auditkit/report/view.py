"""What templates and charts take from a report document (`auditkit-report/1`): None where there is nothing.

Any part of a document may be null. `at` walks a path and stops at the first null; a key that does not exist is an
error, so that a misspelt one is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Document = Mapping[str, Any]

SUPPRESSED = "not shown"


def at(value: Any, *path: str | int) -> Any:
    """value[path[0]][path[1]]..., or None as soon as one of them is None."""
    for key in path:
        if value is None:
            return None
        value = value[key]
    return value


def is_suppressed(group: Mapping[str, Any]) -> bool:
    return bool(group.get("suppressed"))


def shown(group: Mapping[str, Any], least: int = 5) -> str:
    """What stands in place of a hidden group's numbers: `<5`, or only that they are hidden.

    A group that is hidden to protect a smaller one is not itself small; then the document says so in `shown`.
    """
    return str(group.get("shown") or f"<{least}")


def group_names(document: Document) -> list[str]:
    """Groups whose numbers are shown, largest first: the order that gives each its colour in all charts."""
    groups = [g for g in at(document, "groups") or () if not is_suppressed(g) and g["name"] is not None]
    return [str(g["name"]) for g in sorted(groups, key=lambda g: -(g["applicants"] or 0))]


@dataclass(frozen=True)
class PolicyView:
    """One of the policies that are laid side by side, and what to call it."""

    name: str
    part: Mapping[str, Any]
    constrained: bool = False
    recorded: bool = False

    @property
    def hidden(self) -> list[str]:
        """Groups without numbers."""
        return [name for name, row in (self.part["by_group"] or {}).items() if not row or row["candidates"] is None]

    @property
    def infeasible(self) -> bool:
        return self.part.get("status") == "infeasible"

    def rate(self, group: str, outcome: str) -> float | None:
        """Expected outcomes per candidate of the group."""
        row = (self.part["by_group"] or {}).get(group)
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


def disparities(document: Document) -> Sequence[Mapping[str, Any]]:
    """Every disparity table: each attribute and crossing at each step."""
    return at(document, "disparity", "tables") or ()


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


def total(document: Document, key: str) -> float | None:
    """Applicants, inspected or selected over all groups; None rather than a sum that leaves a group out."""
    groups = at(document, "groups") or ()
    numbers = [group[key] for group in groups]
    if numbers and None not in numbers:
        return sum(numbers)
    table = "inspected" if key == "inspected" else "selected"
    part = (document["disparity"] or {}).get(table)
    return at(part, "applicants" if key == "applicants" else "selected")


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
