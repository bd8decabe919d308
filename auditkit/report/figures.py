"""What is remembered of a report: headline figures, and figures per group and per constraint. Never a candidate's row.

Utilities and losses are in the unit of value and cost, `unfilled` and `capacity` in positions (expected ones for an
optimum), `gap` is absolute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

FIRM, UNCONSTRAINED, CONSTRAINED = "firm", "unconstrained", "constrained"
REFERENCE = "reference"
CUMULATIVE = "cumulative"


@dataclass(frozen=True)
class GroupFigure:
    """A group of an attribute at a step, of all applicants, beside the reference group; `selected` reached the step."""

    attribute: str
    crossing: bool
    step: str
    group: str
    applicants: int | None
    selected: int | None
    rate: float | None
    impact_ratio: float | None
    status: str | None
    reference: str | None
    reference_applicants: int | None
    reference_selected: int | None

    @property
    def exact(self) -> Fraction | None:
        """The impact ratio from the counts, without rounding; None where the report gives none."""
        n, x, m, y = self.applicants, self.selected, self.reference_applicants, self.reference_selected
        if self.impact_ratio is None or n is None or x is None or m is None or y is None or not n or not y:
            return None
        return Fraction(x * m, n * y)


@dataclass(frozen=True)
class PolicyGroup:
    """Candidates of a group, and how many of them a policy is expected to inspect and to select."""

    attribute: str
    group: str
    candidates: int | None
    inspected: float | None
    selected: float | None


@dataclass(frozen=True)
class PolicyFigure:
    """One policy: the firm's, the best one, or the best one under a constraint (then with the price of it)."""

    kind: str
    label: str
    status: str | None
    utility: float | None
    unfilled: float | None
    ratio: float | None = None
    loss: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    loss_low: float | None = None
    loss_high: float | None = None
    gap: float | None = None
    groups: tuple[PolicyGroup, ...] = ()


@dataclass(frozen=True)
class Figures:
    """A report in numbers, and where they come from."""

    created: str
    version: str
    data_path: str | None
    data_sha256: str | None
    rows: int | None
    problems: int | None
    python: str | None
    platform: str | None
    capacity: float | None
    groups: tuple[GroupFigure, ...]
    policies: tuple[PolicyFigure, ...]

    @property
    def constraints(self) -> list[PolicyFigure]:
        return [policy for policy in self.policies if policy.kind == CONSTRAINED]

    @property
    def steps(self) -> list[str]:
        """In order; the last one is the selection."""
        return list(dict.fromkeys(row.step for row in self.groups))

    @property
    def attributes(self) -> list[str]:
        """With crossings."""
        return list(dict.fromkeys(row.attribute for row in self.groups))

    def lowest(self) -> GroupFigure | None:
        """The group with the lowest impact ratio at the last step, over all attributes but not their crossings."""
        rows = [
            g
            for g in self.groups
            if g.step == self.steps[-1] and not g.crossing and g.impact_ratio is not None and g.status != REFERENCE
        ]
        return min(rows, key=lambda g: g.impact_ratio or 0.0) if rows else None


def figures(document: Mapping[str, Any]) -> Figures:
    """The figures of a report document (`auditkit-report/2`); any part of it may be null."""
    source, provenance = document.get("input") or {}, document.get("provenance") or {}
    tables = (document.get("disparity") or {}).get("tables") or ()
    groups = tuple(row for table in tables if table["kind"] == CUMULATIVE for row in _groups(table))
    policies = [_policy(kind, kind, document[kind]) for kind in (FIRM, UNCONSTRAINED) if document.get(kind)]
    policies += [
        _policy(CONSTRAINED, str(part.get("label")), part) for part in document.get("constrained") or () if part
    ]
    return Figures(
        created=str(document["created"]),
        version=str(document["version"]),
        data_path=source.get("path"),
        data_sha256=source.get("sha256"),
        rows=source.get("rows"),
        problems=(document.get("problems") or {}).get("total"),
        python=provenance.get("python"),
        platform=provenance.get("platform"),
        capacity=(document.get(FIRM) or {}).get("capacity"),
        groups=groups,
        policies=tuple(policies),
    )


def _groups(table: Mapping[str, Any]) -> list[GroupFigure]:
    rows = table["groups"]
    reference: Mapping[str, Any] = next((row for row in rows if row["group"] == table["reference"]), {})
    return [
        GroupFigure(
            attribute=str(table["attribute"]),
            crossing=bool(table["crossing"]),
            step=str(table["step"]),
            group=str(row["group"]),
            applicants=row.get("applicants"),
            selected=row.get("selected"),
            rate=row.get("rate"),
            impact_ratio=row.get("impact_ratio"),
            status=row.get("status"),
            reference=table["reference"],
            reference_applicants=reference.get("applicants"),
            reference_selected=reference.get("selected"),
        )
        for row in rows
    ]


def _policy(kind: str, label: str, part: Mapping[str, Any]) -> PolicyFigure:
    price = part.get("price_of_fairness") or {}
    interval = price.get("interval") or {}
    (ratio_low, ratio_high), (loss_low, loss_high) = ((interval.get(key) or (None, None)) for key in ("ratio", "loss"))
    groups = tuple(
        PolicyGroup(str(attribute), str(name), row.get("candidates"), row.get("inspected"), row.get("selected"))
        for attribute, rows in (part.get("by_group") or {}).items()
        for name, row in rows.items()
    )
    return PolicyFigure(
        kind=kind,
        label=label,
        status=part.get("status"),
        utility=part.get("utility"),
        unfilled=part.get("unfilled_capacity"),
        ratio=price.get("ratio"),
        loss=price.get("loss"),
        ratio_low=ratio_low,
        ratio_high=ratio_high,
        loss_low=loss_low,
        loss_high=loss_high,
        gap=part.get("gap"),
        groups=groups,
    )
