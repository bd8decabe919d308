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
from auditkit.report.phrases import TOGETHER, Phrases
from auditkit.text import NOT_AVAILABLE

FIRM, BEST = "The firm, as recorded", "Best without constraints"
"""The policies that every report has."""

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
    """One of the policies that are laid side by side: its name in tables, and in words its title."""

    name: str
    title: str
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
        yield PolicyView(FIRM, FIRM, document["firm"], recorded=True)
    if document["unconstrained"] is not None:
        yield PolicyView(BEST, BEST, document["unconstrained"])
    words = phrases(document)
    for entry in constrained(document):
        name = f"Best under {_label(entry)}"
        yield PolicyView(name, f"Best with {words.constraint(entry)}", entry, constrained=True)


def _label(entry: Mapping[str, Any]) -> str:
    label = entry["label"]
    return {None: "an unnamed constraint", TOGETHER: "all constraints"}.get(label, str(label))


def phrases(document: Document) -> Phrases:
    """The words for steps, people and constraints of this report."""
    return Phrases.of(document["attributes"], document["steps"])


def constrained(document: Document) -> Sequence[Mapping[str, Any]]:
    return [entry for entry in document["constrained"] or () if entry is not None]


def price_span(entry: Part, share: bool = True) -> tuple[float, float] | None:
    """The interval of what a constraint gives up: as a share of the utility, or as a loss."""
    bounds = at(entry, "price_of_fairness", "interval", "ratio" if share else "loss")
    if bounds is None or None in bounds:
        return None
    low, high = bounds
    return (max(0.0, 1 - high), max(0.0, 1 - low)) if share else (low, high)


def phrase_of_label(document: Document, label: str | None) -> str:
    """What the constraint of this label asks for."""
    words = phrases(document)
    return next((words.constraint(e) for e in constrained(document) if e["label"] == label), named(label))


def gain_rows(document: Document) -> list[tuple[str, Part]]:
    """What each policy would gain over the firm's own search."""
    gain = (document["firm"] or {}).get("gain")
    words = phrases(document)
    found = [] if gain is None else [(BEST, gain)]
    for entry in constrained(document):
        if against := entry.get("against_firm"):
            found.append((f"Best with {words.constraint(entry)}", against))
    return found


def policy_attributes(document: Document) -> list[str]:
    """The attributes by which the policies are counted."""
    names: dict[str, None] = {}
    for policy in policies(document):
        names |= dict.fromkeys(policy.part["by_group"] or {})
    return list(names)


def policy_rows(document: Document, attribute: str) -> list[tuple[str, Mapping[str, Part]]]:
    """The numbers of the groups of an attribute under each policy that has some."""
    found = [(policy.title, policy.groups(attribute)) for policy in policies(document)]
    return [(title, groups) for title, groups in found if groups]


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


CROSSED = frozenset(list(MARKS)[: list(MARKS).index(GroupStatus.NO_DIFFERENCE)])
"""Statuses of a difference that was found, or of a ratio below the line."""


def crossed_line(document: Document) -> bool:
    """Whether any measurement found a difference or lies below the line, crossed groups included."""
    return any(row["status"] in CROSSED for row in _rows(disparities(document)))


class MatrixColumn(NamedTuple):
    """A column of the first page: a step, of whom."""

    step: str
    kind: str
    of: str


def columns(document: Document) -> list[MatrixColumn]:
    """All steps of all applicants, then the later ones of those who reached the step before."""
    words = phrases(document)
    steps = list(dict.fromkeys(named(table["step"]) for table in disparities(document)))
    found = [MatrixColumn(step, "cumulative", "of all applicants") for step in steps]
    for before, step in pairwise(steps):
        found.append(MatrixColumn(step, "conditional", f"of those {words.reached(before)}"))
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


# Findings -------------------------------------------------------------------------------------------------------------

MOST_FINDINGS = 7
"""On the first page."""


def leading(document: Document) -> list[Part]:
    """The findings of the first page: in their order, at most seven, and neither kinds nor attributes crowded out."""
    told = [f for f in document["findings"] or () if f["kind"] != "notice"]
    room = MOST_FINDINGS
    kinds = list(dict.fromkeys(f["kind"] for f in told))
    kept: list[int] = []
    for i, kind in enumerate(kinds):
        own = _attributes_first([k for k, f in enumerate(told) if f["kind"] == kind], told)
        later = len(kinds) - i - 1
        kept += own[: max(1, room - len(kept) - later)]
    return [told[k] for k in sorted(kept)[:MOST_FINDINGS]]


def _attributes_first(places: list[int], told: Sequence[Part]) -> list[int]:
    """The first finding on each attribute (crossings apart) before the others."""
    first: dict[str, int] = {}
    for k in places:
        attribute = told[k].get("attribute")
        if attribute is not None and "+" not in attribute:
            first.setdefault(attribute, k)
    return [*first.values(), *(k for k in places if k not in first.values())]


def further(document: Document) -> list[Part]:
    """Findings that the first page has no room for."""
    first = leading(document)
    return [f for f in document["findings"] or () if f["kind"] != "notice" and not any(f is one for one in first)]


def comments(document: Document) -> list[str]:
    """The auditor's own words, in paragraphs."""
    text = ((document["config"] or {}).get("statement") or {}).get("comments") or ""
    return [" ".join(part.split()) for part in str(text).replace("\r", "").split("\n\n") if part.strip()]


class LawView(NamedTuple):
    """How one row of a constraint comes out in single rounds."""

    name: str
    mean: float | None
    sd: float | None
    outside: float | None
    equality: bool
    people: bool


def laws(entry: Part, words: Phrases) -> list[LawView]:
    """Ex-post slacks of an entry; an equality is never met exactly, so that only its spread is of interest."""
    senses = {dual["label"]: dual["sense"] for dual in entry["duals"] or () if dual}
    return [
        LawView(
            words.row(named(law["label"])),
            law["mean"],
            law["sd"],
            law["outside"],
            senses.get(law["label"]) == "==",
            words.counts_people(str(law["label"])),
        )
        for law in entry["ex_post_slack"] or ()
        if law
    ]


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
