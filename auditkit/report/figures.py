"""What is remembered of a report: headline figures, and figures per group and per constraint. Never a candidate's row.

Utilities and losses are in the unit of value and cost, `unfilled` and `capacity` in positions (expected ones for an
optimum), `gap` is absolute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from auditkit.disparity.results import DisparityTable
from auditkit.report.schema import ConstrainedModel, Report, StandingModel

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
    candidates: float | None
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

    @property
    def numbers(self) -> dict[tuple[str, str, str], float | None]:
        """Every figure by its part, its subject and its name: what two reports are compared by."""
        found: dict[tuple[str, str, str], float | None] = {}
        for group in self.groups:
            for key in ("applicants", "selected", "rate", "impact_ratio"):
                found["disparity", f"{group.attribute}: {group.group} (“{group.step}”)", key] = getattr(group, key)
        for policy in self.policies:
            name = policy.label if policy.kind == CONSTRAINED else f"{policy.kind} policy"
            for key in ("utility", "ratio", "loss", "unfilled", "gap"):
                found["policies", name, key] = getattr(policy, key)
            for inside in policy.groups:
                for key in ("candidates", "inspected", "selected"):
                    found["policies", f"{name}, {inside.attribute}: {inside.group}", key] = getattr(inside, key)
        return found

    def lowest(self) -> GroupFigure | None:
        """The group with the lowest impact ratio at the last step, over all attributes but not their crossings."""
        rows = [
            g
            for g in self.groups
            if g.step == self.steps[-1] and not g.crossing and g.impact_ratio is not None and g.status != REFERENCE
        ]
        return min(rows, key=lambda g: g.impact_ratio or 0.0) if rows else None


def figures(report: Report) -> Figures:
    """The figures of a report; any part of it may be missing."""
    policies = [] if report.firm is None else [_policy(FIRM, FIRM, report.firm)]
    policies += [] if report.unconstrained is None else [_policy(UNCONSTRAINED, UNCONSTRAINED, report.unconstrained)]
    return Figures(
        created=report.created,
        version=report.version,
        data_path=report.input.path,
        data_sha256=report.input.sha256,
        rows=report.input.rows,
        problems=report.problems.total,
        python=report.provenance.python,
        platform=report.provenance.platform,
        capacity=None if report.firm is None else report.firm.capacity,
        groups=tuple(row for table in report.tables if table.kind == CUMULATIVE for row in _groups(table)),
        policies=(*policies, *map(_constrained, report.entries)),
    )


def _groups(table: DisparityTable) -> list[GroupFigure]:
    reference = next((row for row in table.groups if row.group == table.reference), None)
    return [
        GroupFigure(
            attribute=table.attribute,
            crossing=table.crossing,
            step=table.step,
            group=row.group,
            applicants=row.applicants,
            selected=row.selected,
            rate=row.rate,
            impact_ratio=row.impact_ratio,
            status=row.status.value,
            reference=table.reference,
            reference_applicants=None if reference is None else reference.applicants,
            reference_selected=None if reference is None else reference.selected,
        )
        for row in table.groups
    ]


def _policy(kind: str, label: str, part: StandingModel | ConstrainedModel) -> PolicyFigure:
    groups = tuple(
        PolicyGroup(attribute, name, row.candidates, row.inspected, row.selected)
        for attribute, rows in (part.by_group or {}).items()
        for name, row in rows.items()
    )
    return PolicyFigure(kind, label, None, part.utility, part.unfilled_capacity, groups=groups)


def _constrained(entry: ConstrainedModel) -> PolicyFigure:
    found = replace(_policy(CONSTRAINED, entry.label, entry), status=entry.status, gap=entry.gap)
    price = entry.price_of_fairness
    if price is None:
        return found
    ratio_low, ratio_high = (price.interval and price.interval.ratio) or (None, None)
    loss_low, loss_high = price.loss_span or (None, None)
    return replace(
        found,
        ratio=price.ratio,
        loss=price.loss,
        ratio_low=ratio_low,
        ratio_high=ratio_high,
        loss_low=loss_low,
        loss_high=loss_high,
    )
