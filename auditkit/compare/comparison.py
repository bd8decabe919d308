"""What the firm did, what the best policy would do, and what it would do under constraints: one `Comparison`.

    firm            recorded decisions, valued at the scores seen (`fit`)
    unconstrained   the policy with the highest expected utility
    constrained     the same under each constraint, and under all of them together

Each optimum has its value, bound and gap from the solver; the price of fairness of a constraint is U - U_c (loss) and
U_c / U (ratio, if U > 0). The law of the realised slacks and of the positions left empty is exact (`expost`), the duals
are put in words (`words`), intervals come from other priors that the data allow (`intervals`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from auditkit.compare import shadow_prices
from auditkit.compare.expost import ExPost, SlackLaw, Unfilled
from auditkit.compare.intervals import IntervalOptions, NoInterval, Priced, PriceInterval, intervals
from auditkit.compare.parts import Parts, individual
from auditkit.constraints.base import Constraint, Rows, Sense
from auditkit.constraints.defaults import default_constraints
from auditkit.fitting.fitted import Fitted
from auditkit.model.layout import Ints, Layout
from auditkit.model.limits import UnitNumbers, Whole
from auditkit.model.row_meaning import Meaning
from auditkit.model.session import Session
from auditkit.solver import Optimum, Solution, solve, solve_once
from auditkit.solver.oracle import Column, Oracle
from auditkit.solver.policy import Level, Outcome, Policy
from auditkit.solver.solution import Status, status_of

MOST_LAWS = 12
"""Rows of one problem whose ex-post law is computed, those with the largest duals first."""

LARGE, NEARLY, NEAR = 5_000, 1e-9, 1e-6
"""Of the utility: the gap of a bound beside a price, and that with more candidates than the first."""

MOST_WIDENED = 6
"""Policies of each problem, those found last, that the problem with all constraints begins with."""

TOGETHER = "all together"
"""The label of the entry under all constraints at once."""

NOT_AFFINE = NoInterval("not-affine", "it is not affine, so it does not add up over searches")

Progress = Callable[[str], None]


@dataclass(frozen=True)
class GroupNumbers:
    """Expected (for the firm: recorded) numbers of one group."""

    candidates: Whole
    inspected: Whole
    selected: Whole

    def rate(self, outcome: Literal["inspected", "selected"]) -> float | None:
        """Outcomes per candidate."""
        return getattr(self, outcome) / self.candidates if self.candidates else None


FEWEST_SELECTED = 0.5
"""Expected number of selections below which a best search is not a benchmark."""


def selects_nobody(by_group: Mapping[str, Mapping[str, GroupNumbers]]) -> bool:
    """Whether a policy with these numbers, by attribute and group, selects practically no one."""
    every = [sum(numbers.selected for numbers in groups.values()) for groups in by_group.values()]
    return bool(every) and max(every) < FEWEST_SELECTED


@dataclass(frozen=True)
class Standing:
    """What a policy yields. Utilities are in the unit of value and cost."""

    utility: float
    long_term_utility: float | None
    by_group: Mapping[str, Mapping[str, GroupNumbers]]
    """Attribute -> group -> its numbers."""
    unfilled_capacity: float
    units: tuple[UnitNumbers, ...] = ()
    """Where searches have limits."""


@dataclass(frozen=True)
class Dual:
    """One row or measure of a constraint: `value` is d utility / d bound."""

    label: str
    sense: Sense
    value: float
    slack: float
    shifts: Mapping[tuple[str, str], float] | None
    """(what is counted, group) -> what it adds to the worth of that; None if that cannot be said of single groups."""
    individual: bool
    """The row is about one candidate."""
    meaning: Meaning
    interval: tuple[float, float] | None = None
    """Of the value, at the level of that of the price."""


@dataclass(frozen=True)
class NoLaw:
    """A row (or, without a meaning, several) whose ex-post slack has no law here, and why."""

    label: str
    meaning: Meaning | None
    reason: str


@dataclass(frozen=True)
class AwarePrice:
    """The bound if policies could use the group: the same constraints on the model in which they see it, from its own
    best search. Not a proposal."""

    unconstrained: float
    utility: float
    gap: float
    ratio: float | None
    """Share of the unconstrained utility that is kept."""
    loss: float

    @property
    def given_up(self) -> float | None:
        """The share of the utility that is lost."""
        return None if self.ratio is None else max(0.0, 1 - self.ratio)


@dataclass(frozen=True, eq=False)
class Constrained:
    """The best policy under some constraints; without a `standing` they cannot hold together."""

    label: str
    constraints: tuple[Constraint, ...]
    conflict: tuple[str, ...]
    standing: Standing | None = None
    ratio: float | None = None
    loss: float | None = None
    interval: PriceInterval | NoInterval | None = None
    slack_laws: tuple[SlackLaw | None, ...] = ()
    """One for each of `duals`; None where a row has no such law."""
    laws_left_out: tuple[NoLaw, ...] = ()
    """Rows without a law, each with the reason."""
    unfilled: Unfilled | None = None
    duals: tuple[Dual, ...] = ()
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The classes in `shifts`, by name, each with its group of every attribute."""
    shifts: Mapping[tuple[str, str], float] | None = None
    """(what is counted, group) -> what all duals together add to the worth of it, in the unit of value."""
    replicated_shifts: tuple[Mapping[tuple[str, str], float], ...] = ()
    """The same under the priors of each replicate of the interval; none where one of them has no such shifts."""
    order_kept: bool | None = None
    optimum: Optimum | None = None
    group_aware: AwarePrice | None = None
    """None where the policies see the group already, or none meets the constraints."""

    @property
    def status(self) -> Status:
        return status_of(self.optimum)

    @property
    def selects_nobody(self) -> bool:
        """Whether the constraints are met only where nobody is selected, which is no benchmark."""
        return self.standing is not None and selects_nobody(self.standing.by_group)

    @property
    def shown_laws(self) -> list[SlackLaw]:
        """Ex-post laws of rows that are not about one candidate."""
        pairs = zip(self.slack_laws, self.duals, strict=True)
        return [law for law, dual in pairs if law is not None and not dual.individual]


@dataclass(frozen=True, eq=False)
class Comparison:
    """The policies side by side; `defaults` says whether the constraints are the default ones."""

    firm: Standing
    unconstrained: Standing
    constrained: tuple[Constrained, ...]
    defaults: bool
    value_scale: float
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Attribute -> known groups that are too small to be compared."""
    alike: tuple[str, ...] = ()
    """Attributes whose groups nothing that policies see tells apart."""


def compare(
    fitted: Fitted,
    constraints: Sequence[Constraint] | None,
    kinds: Mapping[str, type[Constraint]],
    *,
    options: IntervalOptions | None = None,
    progress: Progress = lambda _: None,
    aware: Fitted | None = None,
) -> Comparison:
    """Compare the policies; with `constraints` None those of `default_constraints`.

    `aware` is the same history fitted so that policies see the groups, for the bound beside each price.
    """
    options = options or IntervalOptions()
    layout = fitted.instance.layout
    scale = fitted.settings.value_scale
    firm = firm_standing(fitted)
    chosen = list(constraints or ())
    if constraints is None:
        chosen = default_constraints(kinds, layout, fitted.realised.selected.astype(np.float64))
    left_out = {
        name: tuple(group for group in part.names if group not in part.comparable)
        for name, part in layout.protected.items()
    }
    solved: list[tuple[str, tuple[Constraint, ...], Solution]] = []
    for name, constraint in zip(_labels(chosen), chosen, strict=True):
        progress(f"best policy under {name}")
        solved.append((name, (constraint,), solve_once(fitted.instance, [constraint])))
    if len(chosen) > 1:
        progress(f"best policy under {TOGETHER}")
        known = _widened([solution for _, _, solution in solved], layout)
        solved.append((TOGETHER, tuple(chosen), solve(fitted.instance, chosen, known=known)))
    free = solved[0][2].unconstrained if solved else solve_once(fitted.instance).unconstrained
    with Session():  # nothing else is asked about all searches if policies see the groups
        bounds = [
            None if aware is None or not _seen(solution, aware) else _aware(aware, some) for _, some, solution in solved
        ]
    progress("intervals of the prices")
    spans = _intervals(solved, fitted, options)
    entries = []
    for (name, some, solution), span, bound in zip(solved, spans, bounds, strict=True):
        progress(f"ex-post laws under {name}")
        entries.append(replace(_entry(name, some, solution, span), group_aware=bound))
    return Comparison(firm, _standing(free), tuple(entries), constraints is None, scale, left_out, fitted.alike)


def _seen(solution: Solution, aware: Fitted) -> bool:
    """Whether the groups of all rows are known: those of some attributes may be known by their probability only."""
    rows = () if solution.constrained is None else solution.constrained.rows.rows
    return {row.by for row in rows if row.by is not None} <= aware.instance.layout.protected.keys()


def _aware(fitted: Fitted, constraints: tuple[Constraint, ...]) -> AwarePrice | None:
    precision = NEAR if len(fitted.instance.layout.candidate_ids) > LARGE else NEARLY
    solution = solve(fitted.instance, list(constraints), precision=precision)
    best = solution.constrained
    if best is None or solution.loss is None:
        return None
    return AwarePrice(solution.unconstrained.utility, best.utility, best.gap, solution.ratio, solution.loss)


def _labels(constraints: Sequence[Constraint]) -> list[str]:
    short = [c.short_name for c in constraints]
    return [c.to_spec() if short.count(name) > 1 else name for c, name in zip(constraints, short, strict=True)]


def firm_standing(fitted: Fitted) -> Standing:
    """What the firm did, counted by the groups of the people who applied."""
    layout, realised = fitted.instance.layout, fitted.realised
    by_group = (
        _of_people(fitted)
        if layout.uncertain
        else _by_group(layout, *(layout.by_attribute(who) for who in (realised.inspected, realised.selected)))
    )
    units = layout.units(realised.selected)
    return Standing(realised.utility, realised.long_term_utility, by_group, realised.unfilled_capacity, units)


def _of_people(fitted: Fitted) -> dict[str, dict[str, GroupNumbers]]:
    """Recorded numbers, where the instance knows groups by their probability only."""
    realised = fitted.realised
    return {
        name: {
            group: GroupNumbers(
                int(part.sizes[g]),
                float(realised.inspected[part.codes == g].sum()),
                float(realised.selected[part.codes == g].sum()),
            )
            for g, group in enumerate(part.names)
            if group in fitted.instance.layout.protected[name].names  # smaller groups are in no rate
        }
        for name, part in fitted.groups.items()
    }


def _standing(outcome: Outcome) -> Standing:
    by_group = _by_group(outcome.layout, outcome.inspected_by_attribute, outcome.selected_by_attribute)
    units = outcome.layout.units(outcome.selected)
    return Standing(outcome.utility, outcome.long_term_utility, by_group, outcome.unfilled_capacity, units)


def _by_group(
    layout: Layout, inspected: Mapping[str, Mapping[str, float]], selected: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, GroupNumbers]]:
    return {
        name: {
            group: GroupNumbers(n, inspected[name][group], selected[name][group])
            for group, n in zip(part.names, part.sizes.tolist(), strict=True)
        }
        for name, part in layout.protected.items()
    }


def _widened(solutions: Sequence[Solution], layout: Layout) -> list[Column]:
    """Policies found under single constraints as columns of the problem with all: zero duals on the other rows."""
    found = [solution.constrained for solution in solutions if solution.constrained is not None]
    if len(found) < len(solutions) or any(optimum.rows.measures for optimum in found):
        return []  # policies that refer to tangents of one problem mean nothing in another
    ends = np.cumsum([0, *(len(optimum.rows) for optimum in found)])
    all_rows = tuple(row for optimum in found for row in optimum.rows.rows)
    oracle = Oracle(layout, Rows(all_rows, (0,) * len(all_rows), ()))
    if oracle.blocks.further:
        return []
    widened: list[Column] = []
    for optimum, (start, end) in zip(found, pairwise(ends), strict=True):
        for column in optimum.columns[-MOST_WIDENED:]:
            levels = tuple(
                Level(level.objective, (*(0.0,) * start, *level.duals, *(0.0,) * (ends[-1] - end)))
                for level in column.policy.levels
            )
            if column.sums is not None:
                widened.append(oracle.summed(Policy(levels), column.sums))
    return widened


def _intervals(
    solved: Sequence[tuple[str, tuple[Constraint, ...], Solution]], fitted: Fitted, options: IntervalOptions
) -> list[PriceInterval | NoInterval | None]:
    """Of each problem; None where it has no optimum."""
    optima = [solution.constrained for _, _, solution in solved]
    affine = [i for i, optimum in enumerate(optima) if optimum is not None and not optimum.rows.measures]
    problems = [Priced(solved[i][1], optimum) for i in affine if (optimum := optima[i]) is not None]
    spans: list[PriceInterval | NoInterval | None] = [None if optimum is None else NOT_AFFINE for optimum in optima]
    for i, span in zip(affine, intervals(fitted, problems, options), strict=True):
        spans[i] = span
    if solved and solved[-1][0] == TOGETHER and isinstance(spans[-1], PriceInterval):
        spans[-1] = no_less_than_each(spans[-1], [span for span in spans[:-1] if isinstance(span, PriceInterval)])
    return spans


def no_less_than_each(together: PriceInterval, each: Sequence[PriceInterval]) -> PriceInterval:
    """The interval of all constraints together: they cost at least what any one of them does, so no end lies lower."""
    every = (together, *each)
    kept = [span.ratio for span in every if span.ratio is not None]
    return replace(
        together,
        loss=(max(span.loss[0] for span in every), max(span.loss[1] for span in every)),
        ratio=None if together.ratio is None else (min(low for low, _ in kept), min(high for _, high in kept)),
        one_sided=all(span.one_sided for span in every),
    )


def _entry(
    name: str,
    constraints: tuple[Constraint, ...],
    solution: Solution,
    interval: PriceInterval | NoInterval | None,
) -> Constrained:
    optimum = solution.constrained
    if optimum is None:
        return Constrained(name, constraints, tuple(c.to_spec() for c in _conflicting(solution)))
    layout, rows = optimum.outcome.layout, optimum.rows.with_cuts(optimum.cuts)
    duals = np.concatenate([optimum.duals, optimum.cut_duals])
    parts = Parts.of(rows, layout)
    chance = ExPost(layout, rows, optimum.mixture, parts)
    return Constrained(
        label=name,
        constraints=constraints,
        conflict=(),
        standing=_standing(optimum.outcome),
        ratio=solution.ratio,
        loss=solution.loss,
        interval=interval,
        slack_laws=_laws(chance, optimum),
        laws_left_out=_left_out(chance, optimum),
        unfilled=chance.unfilled(),
        duals=_duals(optimum, parts, interval),
        classes={} if parts is None else dict(zip(parts.names, parts.labels, strict=True)),
        shifts=shadow_prices.total_shifts(parts, duals),
        replicated_shifts=_replicated_shifts(parts, interval),
        order_kept=shadow_prices.order_kept(layout, rows, optimum.mixture),
        optimum=optimum,
    )


def _replicated_shifts(
    parts: Parts | None, interval: PriceInterval | NoInterval | None
) -> tuple[Mapping[tuple[str, str], float], ...]:
    if not isinstance(interval, PriceInterval):
        return ()
    found = [shadow_prices.total_shifts(parts, np.array(duals)) for duals in interval.replicated_duals]
    known = [each for each in found if each is not None]
    return tuple(known) if len(known) == len(found) else ()


def _conflicting(solution: Solution) -> list[Constraint]:
    assert solution.proof is not None
    return [solution.proof.rows.constraints[i] for i in sorted(solution.proof.constraints)]


def _first_rows(optimum: Optimum) -> Ints:
    return np.argsort(-np.abs(optimum.duals), kind="stable")[:MOST_LAWS]


def _left_out(chance: ExPost, optimum: Optimum) -> tuple[NoLaw, ...]:
    said = [(row, chance.reason(j)) for j, row in enumerate(optimum.rows.rows) if j in _first_rows(optimum)]
    found = [NoLaw(row.label, row.meaning, why) for row, why in said if why is not None]
    if len(optimum.rows) > MOST_LAWS:
        others = f"{len(optimum.rows) - MOST_LAWS} further rows"
        found.append(NoLaw(others, None, f"only the {MOST_LAWS} with the largest duals have one"))
    return (*found, *(NoLaw(m.label, m.meaning, "it is not affine") for m in optimum.rows.measures))


def _laws(chance: ExPost, optimum: Optimum) -> tuple[SlackLaw | None, ...]:
    first = _first_rows(optimum)
    laws = [chance.slack(j) if j in first else None for j in range(len(optimum.rows))]
    return (*laws, *(None for _ in optimum.rows.measures))


def _duals(optimum: Optimum, parts: Parts | None, price: PriceInterval | NoInterval | None) -> tuple[Dual, ...]:
    layout = optimum.outcome.layout
    spans = price.duals if isinstance(price, PriceInterval) else (None,) * len(optimum.rows)
    found = []
    for j, (row, value, slack) in enumerate(zip(optimum.rows.rows, optimum.duals, optimum.slacks, strict=True)):
        found.append(
            Dual(
                row.label,
                row.sense,
                float(value),
                float(slack),
                shadow_prices.shifts(parts, j, float(value)),
                individual(row, layout),
                row.meaning,
                spans[j],
            )
        )
    duals, affine = np.concatenate([optimum.duals, optimum.cut_duals]), len(optimum.rows)
    for k, (measure, value) in enumerate(zip(optimum.rows.measures, optimum.measure_duals, strict=True)):
        own = np.zeros(len(duals))
        own[[affine + i for i, (number, _) in enumerate(optimum.cuts) if number == k]] = 1.0
        moved = shadow_prices.total_shifts(parts, duals * own)
        slack = optimum.measure_slacks[k]
        found.append(Dual(measure.label, measure.sense, float(value), slack, moved, False, measure.meaning))
    return tuple(found)
