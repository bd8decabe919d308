"""What-if questions against problems solved one by one from nothing, and against laws that their answers obey."""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from pydantic import Field

from auditkit import scenarios
from auditkit.constraints import AuditContext, Constraint, OutcomeConstraint, Parameter, Row, group_rates
from auditkit.constraints.defaults import default_constraints
from auditkit.errors import InputError, PluginError
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Layout, lay_out
from auditkit.model.search import Box, Chain, Search, State
from auditkit.model.variants import with_capacities, with_scores, with_shift
from auditkit.report.words import sentences as say
from auditkit.report.words.phrases import Phrases
from auditkit.scenarios.frontier import changed
from auditkit.scenarios.neighbours import Neighbours
from auditkit.solver import solve
from support.constraints import KINDS, build
from support.instances import FOUR, FREE_PARITY, boxes

PLAIN = Phrases()
"""No words of the data's own."""


def staged(rng: np.random.Generator) -> Instance:
    """One search of boxes and of chains with two stages."""
    chains: list[Any] = [
        Chain(
            f"c{i}",
            "AB"[i % 2],
            "phone",
            (
                State("phone", -1.0, {"onsite": 0.75, "out": 0.25}, stage="phone"),
                State("onsite", -1.5, {"high": 0.5, "low": 0.5}, stage="onsite"),
                State("low", float(rng.uniform(3, 6)), selected=True),
                State("high", float(rng.uniform(7, 12)), selected=True),
                State("out", 0.0),
            ),
        )
        for i in range(4)
    ]
    return Instance((Search("s", 2, (*chains, *boxes(rng, 1, 4, 1).searches[0].candidates)),))


# Variants -------------------------------------------------------------------------------------------------------------


def assert_same_layout(made: Instance) -> None:
    """The flat form that was taken over is the one that would be built."""
    taken, built = made.layout, lay_out(made.searches)
    assert taken.groups == built.groups and taken.has_true_rewards == built.has_true_rewards
    for name in ("capacity", "reward", "true_reward", "edge_prob", "terminal", "stop", "candidate_ptr"):
        np.testing.assert_allclose(getattr(taken, name), getattr(built, name), rtol=1e-15)


@pytest.mark.parametrize("factor", [0.1, 0.7, 1.0, 1.5])
def test_scores_of_a_group_are_multiplied_and_its_true_values_kept(factor: float) -> None:
    instance = staged(np.random.default_rng(1))
    made = with_scores(instance, "B", factor)
    assert_same_layout(made)
    before, after = instance.layout, made.layout
    biased = (before.candidate_group[before.state_candidate] == 1) & before.selecting
    np.testing.assert_allclose(after.reward[biased], factor * before.reward[biased])
    np.testing.assert_array_equal(after.reward[~biased], before.reward[~biased])
    np.testing.assert_array_equal(after.true_reward, before.reward)
    assert_same_layout(with_scores(made, "B", 0.5))  # what is true stays true
    np.testing.assert_array_equal(with_scores(made, "B", 0.5).layout.true_reward, before.reward)


def test_scores_of_a_department_split_the_kinds_of_its_candidates() -> None:
    def box(i: int) -> Box:
        return Box(str(i), "AB"[i % 2], 1.0, [5.0, 1.0], [0.5, 0.5], None, {"Department": "XY"[i // 2 % 2]})

    instance = Instance((Search("s", 2, [box(i) for i in range(9)]),))
    for made in (with_scores(instance, "X", 0.5, "Department"), with_shift(instance, "Y", 2.0, "Department")):
        assert_same_layout(made)
        assert len(made.layout.kinds.shapes) == 2 * len(instance.layout.kinds.shapes)


def test_other_capacities() -> None:
    instance = boxes(np.random.default_rng(2), 3, 4, 1)
    assert_same_layout(with_capacities(instance, [2, 0, 4]))
    with pytest.raises(InputError, match="no candidate is in group 'Q'"):
        with_scores(instance, "Q", 0.5)
    with pytest.raises(InputError, match="not positive"):
        with_scores(instance, "A", 0.0)


# Frontiers ------------------------------------------------------------------------------------------------------------


FRONTIERS = [
    ("quota:group=B,share=0.5", "share"),
    ("quota:group=B,share=0.5,on=inspection", "share"),
    ("impact-ratio", "minimum"),
    ("budget:group=A,limit=2", "limit"),
    ("parity", "tolerance"),
    ("nash-welfare:minimum=0.5", "minimum"),
]


@pytest.mark.parametrize(("text", "parameter"), FRONTIERS)
def test_a_frontier_is_what_single_solves_find(text: str, parameter: str) -> None:
    instance = boxes(np.random.default_rng(3), 3, 6, 2, "ABC" if "impact" in text else "AB")
    constraint = build(text)
    found = scenarios.frontier(instance, constraint)
    assert found.parameter == parameter and len(found.points) == (10 if "nash" in text else 11)
    free = solve(instance).unconstrained.utility
    assert found.unconstrained == pytest.approx(free, rel=1e-12)
    for point in found.points:
        alone = solve(instance, [changed(constraint, parameter, point.value)]).constrained
        if alone is None:
            assert point.utility is None
            continue
        assert point.utility == pytest.approx(alone.utility, rel=1e-7) and point.gap is not None
        assert point.gap <= 1e-7 * free
        assert point.unfilled_capacity == pytest.approx(alone.outcome.unfilled_capacity, abs=1e-6)
    losses = [p.loss for p in found.points[:: found.tightens] if p.loss is not None]
    assert (np.diff(losses) >= -1e-7).all(), "what demands more costs more"
    assert found.constraint == constraint
    json.dumps({**asdict(found), "constraint": constraint.to_spec()}, allow_nan=False)


@pytest.mark.parametrize("text", [text for text, _ in FRONTIERS[:5]])
def test_cost_starts_where_it_says(text: str) -> None:
    instance = boxes(np.random.default_rng(4), 2, 6, 2)
    constraint = build(text)
    found = scenarios.frontier(instance, constraint)
    assert found.starts is not None

    def loss(value: float) -> float:
        return solve(instance, [changed(constraint, found.parameter, value)]).loss or 0.0

    assert loss(found.starts) <= 1e-9 * found.unconstrained
    span = abs(found.points[-1].value - found.points[0].value)
    assert loss(found.starts + found.tightens * 0.02 * span) > 1e-9 * found.unconstrained


def test_the_start_of_a_quota_is_the_share_of_the_free_optimum() -> None:
    found = scenarios.frontier(FOUR, build("quota:group=Y,share=0.4"))
    outcome = solve(FOUR).unconstrained
    x, y = outcome.by_group(outcome.selected)
    assert found.starts == pytest.approx(y / (x + y), abs=1e-9)
    assert found.present == 0.4
    said = say.frontier(PLAIN, found)
    assert "costs nothing" in said and "share" in said


def test_ties_let_a_frontier_start_later() -> None:
    """Inspection parity is free in this example of the paper, though not under every best policy."""
    start = scenarios.frontier(FREE_PARITY, build("quota:group=Y,share=0.5,on=inspection")).starts
    outcome = solve(FREE_PARITY).unconstrained
    x, y = outcome.by_group(outcome.inspected)
    assert start is not None and start >= 0.5 - 1e-6
    assert start > y / (x + y) + 1e-3


def test_a_budget_is_worth_less_and_less() -> None:
    found = scenarios.frontier(boxes(np.random.default_rng(5), 2, 6, 2), build("budget:group=A,limit=1"))
    gains = np.diff([p.utility for p in found.points if p.utility is not None])
    assert (np.diff(gains) <= 1e-9).all() and (gains >= -1e-12).all()


def test_columns_of_a_neighbour_save_evaluations() -> None:
    instance = boxes(np.random.default_rng(6), 4, 8, 2)
    line, limits = Neighbours(), np.linspace(4, 0.5, 8)
    for limit in limits:
        line.solve(instance, [build(f"budget:group=A,limit={limit}")])
    solutions = [solve(instance, [build(f"budget:group=A,limit={limit}")]).constrained for limit in limits]
    assert line.evaluations < 0.8 * sum(s.evaluations for s in solutions if s is not None)


def test_other_constraints_stay_and_conflicts_are_points_without_numbers() -> None:
    instance = boxes(np.random.default_rng(7), 2, 6, 2)
    quota = build("quota:group=A,share=0.5")
    found = scenarios.frontier(instance, quota, [build("floor:minimum=0.3")])
    solved = [p for p in found.points if p.utility is not None]
    assert 0 < len(solved) < 11 and "cannot be met" in say.frontier(PLAIN, found)
    for point in solved:
        both = solve(instance, [changed(quota, "share", point.value), build("floor:minimum=0.3")])
        assert both.constrained is not None and point.utility == pytest.approx(both.constrained.utility, rel=1e-9)


def test_wrong_questions_are_refused() -> None:
    with pytest.raises(InputError, match="has no key 'shar'"):
        scenarios.frontier(FOUR, build("quota:group=Y,share=0.4"), parameter="shar", values=[0.1])
    with pytest.raises(InputError, match="share: Input should be less than or equal to 1, not 2"):
        scenarios.frontier(FOUR, build("quota:group=Y,share=0.4"), values=[2])
    with pytest.raises(InputError, match="at least one"):
        scenarios.sensitivity(FOUR, [], "Y")
    with pytest.raises(InputError, match="no limit"):
        scenarios.budget_or_position(FOUR, build("parity"))


# Biased scores --------------------------------------------------------------------------------------------------------


def test_sensitivity_is_what_single_solves_find() -> None:
    rng = np.random.default_rng(8)
    means = rng.normal(20, 3, 12)
    candidates = tuple(
        Box(str(i), "AB"[i % 2], 2.0, m + np.array([-5.0, 0.0, 5.0]), np.full(3, 1 / 3)) for i, m in enumerate(means)
    )
    instance = Instance((Search("s", 4, candidates),))
    parity = build("parity")
    found = scenarios.sensitivity(instance, [parity], "B")
    assert [p.factor for p in found.points] == sorted((p.factor for p in found.points), reverse=True)
    for point in found.points:
        f = point.factor
        biased = tuple(
            Box(c.id, c.group, c.cost, c.values * (f if c.group == "B" else 1), c.probs, c.values) for c in candidates
        )
        alone = solve(Instance((Search("s", 4, biased),)), [parity])
        assert alone.constrained is not None and point.constrained is not None
        assert point.unconstrained.long_term_utility == pytest.approx(alone.unconstrained.long_term_utility)
        assert point.constrained.utility == pytest.approx(alone.constrained.utility, rel=1e-9)
        assert point.ratio == pytest.approx(alone.ratio) and point.gap is not None and point.gap < 1e-9
    first, last = found.points[0], found.points[-1]
    assert first.long_term_ratio is not None and first.long_term_ratio <= 1 + 1e-12, "unbiased, nothing can be won"
    assert last.long_term_ratio is not None and last.long_term_ratio > 1, "the groups are equal in truth"
    assert found.wins_at is not None and found.wins_between is not None
    low, high = found.wins_between
    assert low <= found.wins_at <= high
    assert "long term" in say.biased_scores(PLAIN, found)
    json.dumps(asdict(found), allow_nan=False)


def test_dear_inspections_leave_positions_unfilled_when_scores_are_biased() -> None:
    candidates = tuple(
        Box(str(i), "AB"[i % 2], 6.0, np.array([8.0 + i / 10, 12.0 + i / 10]), [0.5, 0.5]) for i in range(8)
    )
    found = scenarios.sensitivity(Instance((Search("s", 4, candidates),)), [build("parity")], "B")
    empty = [p.constrained.unfilled_capacity for p in found.points if p.constrained is not None]
    assert empty[0] < 0.02 and empty[-1] > 1
    assert found.unfilled_at is not None and found.unfilled_between is not None
    assert found.unfilled_between[0] <= found.unfilled_at <= found.unfilled_between[1]
    assert "unfilled" in say.biased_scores(PLAIN, found)


def test_a_bias_in_points_lies_beside_the_factor_that_takes_as_much() -> None:
    instance, parity = boxes(np.random.default_rng(5), 2, 6, 2), build("parity")
    found = scenarios.sensitivity(instance, [parity], "B", (1.0, 0.5), shifted=(0.7, 0.5))
    free = solve(instance).unconstrained
    layout = free.layout
    own = layout.selecting & (layout.candidate_group == layout.groups.index("B"))[layout.state_candidate]
    mean = float(layout.reward[own] @ free.visits[own] / free.visits[own].sum())
    assert [point.shift for point in found.shifts] == pytest.approx([-0.3 * mean, -0.5 * mean])
    for point in found.shifts:
        alone = solve(with_scores(instance, "B", points=point.shift), [parity])
        assert alone.constrained is not None and point.constrained is not None
        assert point.constrained.utility == pytest.approx(alone.constrained.utility, rel=1e-9)
        assert point.constrained.long_term_utility == pytest.approx(alone.constrained.outcome.long_term_utility)
        assert point.factor == 1.0 and point.ratio == pytest.approx(alone.ratio)


def test_how_strict_a_quota_should_be_given_the_bias() -> None:
    alike = [Box(str(i), "AB"[i % 2], 1.0, [6.0 - i // 2, 12.0 - i // 2], [0.5, 0.5]) for i in range(8)]
    instance = Instance((Search("s", 4, alike),))
    found = scenarios.bias_table(instance, build("quota:group=B,share=0.3"), "B", values=(0.0, 0.5), factors=(1.0, 0.4))
    assert (found.values, found.factors) == ((0.0, 0.5), (1.0, 0.4))
    for cell in found.cells:
        seen = with_scores(instance, "B", cell.factor)
        alone = solve(seen, [build(f"quota:group=B,share={cell.value}")])
        free, best = alone.unconstrained.long_term_utility, alone.constrained
        assert best is not None and free is not None and best.outcome.long_term_utility is not None
        assert cell.ratio == pytest.approx(alone.ratio)
        assert cell.long_term_ratio == pytest.approx(best.outcome.long_term_utility / free)
    best_cell = found.best(0.4)
    assert best_cell is not None and best_cell.value == 0.5, "the groups are equal in truth"
    said = say.best_by_bias(PLAIN, found).replace("\xa0", " ")
    assert "0.5 (" in said and "at 40 %; at 100 % none pays off" in said
    as_it_is = replace(found, cells=tuple(cell for cell in found.cells if cell.factor == 1.0))
    assert "none pays off in the long term" in say.best_by_bias(PLAIN, as_it_is)


# Positions and budgets ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_few_positions_more_in_one_search(seed: int) -> None:
    instance = boxes(np.random.default_rng(seed), 1, 10, 3)
    quota = build("quota:group=B,share=0.7")
    found = scenarios.more_positions(instance, [quota])
    target = solve(instance).unconstrained.utility
    enough = (
        extra
        for extra in range(8)
        if (best := solve(with_capacities(instance, [3 + extra]), [quota]).constrained) is not None
        and best.utility >= target - 1e-9 * target
    )
    assert found.short_term.positions == next(enough)
    assert found.long_term is None
    if found.short_term.positions:
        assert found.short_term.one_less is not None and found.short_term.reached is not None
        assert found.short_term.one_less < target <= found.short_term.reached * (1 + 1e-9)
    json.dumps(asdict(found), allow_nan=False)


def test_positions_go_where_they_are_worth_most() -> None:
    """Against all ways to give the positions out."""
    instance = boxes(np.random.default_rng(11), 3, 4, 1)
    quota = build("quota:group=B,share=0.9")
    found = scenarios.more_positions(instance, [quota])
    target = solve(instance).unconstrained.utility
    assert found.short_term.positions is not None
    for extra in range(found.short_term.positions):
        for more in itertools.product(range(4), repeat=3):
            if sum(more) == extra:
                best = solve(with_capacities(instance, [1 + e for e in more]), [quota]).constrained
                assert best is not None and best.utility < target


def test_positions_in_the_long_term_and_not_at_all() -> None:
    biased = with_scores(boxes(np.random.default_rng(12), 1, 8, 3), "B", 0.3)
    found = scenarios.more_positions(biased, [build("quota:group=B,share=0.9")])
    assert found.long_term is not None
    never = scenarios.more_positions(with_capacities(FOUR, [4]), [build("quota:group=Y,share=0.9")])
    assert never.short_term.positions is None and "no number" in say.more_positions(never).lower()
    free = scenarios.more_positions(FOUR, [build("quota:group=Y,share=0")])
    assert free.short_term.positions == 0 and "no further positions are needed" in say.more_positions(free).lower()


def test_budget_against_position() -> None:
    instance = boxes(np.random.default_rng(13), 2, 6, 1)
    found = scenarios.budget_or_position(instance, build("budget:group=A,limit=0.5"), unit=0.25)

    def utility(more: tuple[int, int], limit: float) -> float:
        problem = with_capacities(instance, [1 + e for e in more])
        best = solve(problem, [build(f"budget:group=A,limit={limit}")]).constrained
        assert best is not None
        return best.utility

    now = utility((0, 0), 0.5)
    assert found.utility == pytest.approx(now) and found.limit == 0.5
    assert found.budget == pytest.approx(utility((0, 0), 0.75) - now)
    assert found.position == pytest.approx(max(utility((1, 0), 0.5), utility((0, 1), 0.5)) - now)
    assert found.dual * found.unit >= found.budget - 1e-9, "the first bit is worth most"
    assert "worth" in say.budget_or_position(PLAIN, found)
    json.dumps(asdict(found), allow_nan=False)
    full = scenarios.budget_or_position(with_capacities(FOUR, [4]), build("budget:limit=1"))
    assert full.position is None and "no candidate left" in say.budget_or_position(PLAIN, full)


# Constraints of others ------------------------------------------------------------------------------------------------


class AtMost(OutcomeConstraint):
    """Somebody's own: at most `cap` expected selections of a group. None of its names is known to auditkit."""

    type: ClassVar[str] = "at-most"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("cap", tightens=-1, resource=True),)
    who: str
    cap: float = Field(ge=0)

    @classmethod
    def priced_by_default(cls, context: AuditContext) -> AtMost | None:
        return cls(who=context.attributes[0].groups[0], cap=1.5)

    @classmethod
    def explored_by_default(cls, context: AuditContext) -> AtMost | None:
        return cls(who=context.attributes[0].groups[0], cap=0.5)

    def parameter_range(self, name: str, layout: Layout, visits: Floats) -> tuple[float, float]:
        return 0.0, 2.0

    def rows(self, layout: Layout) -> list[Row]:
        count = group_rates(layout, self.outcome(layout), "count")[self.who]
        return [Row.of(f"at most {self.cap:g} of {self.who}", count, "<=", self.cap)]


def test_a_constraint_of_others_says_itself_what_defaults_and_questions_need() -> None:
    instance = boxes(np.random.default_rng(14), 2, 5, 2)
    found = scenarios.frontier(instance, AtMost(who="A", cap=1.0))
    assert (found.parameter, found.tightens, found.present) == ("cap", -1, 1.0)
    budget = scenarios.frontier(instance, build("budget:group=A,limit=1"), values=[p.value for p in found.points])
    assert [p.utility for p in found.points] == pytest.approx([p.utility for p in budget.points])
    assert [p.value for p in found.points] == pytest.approx(np.linspace(0, 2, 11))

    kinds: dict[str, type[Constraint]] = {"at-most": AtMost}
    answers = scenarios.ask(instance, None, kinds)
    assert [curve.label for curve in answers.frontiers] == ["at-most (who A)"]
    assert [constraint.to_spec() for constraint in answers.constraints] == ["at-most:who=A,cap=1.5"]
    assert len(answers.budgets) == 1
    layout = instance.layout
    selected = np.where(np.array(layout.groups)[layout.candidate_group] == "A", 0.1, 0.5)
    made = default_constraints({**KINDS, **kinds}, layout, selected)
    assert [constraint.type for constraint in made] == ["parity", "impact-ratio", "at-most"]
    named = scenarios.ask(instance, [AtMost(who="B", cap=2.0)], KINDS)
    assert [curve.label for curve in named.frontiers][-1] == "at-most (who B)"


def test_the_parameter_of_a_constraint_is_the_one_that_is_set() -> None:
    convex = build("holder-mean:q=2,maximum=3")
    assert convex.parameter is not None
    assert (convex.parameter.name, convex.parameter.tightens) == ("maximum", -1)
    with pytest.raises(InputError, match=r"'affine' declares none in `parameters` .name one"):
        scenarios.frontier(FOUR, build('affine:terms=[{"candidate":"X4","state":"selected"}],sense=<=,bound=1'))


def test_a_range_or_a_default_that_is_none_is_refused_with_its_plugin() -> None:
    class Endless(AtMost):
        def parameter_range(self, name: str, layout: Layout, visits: Floats) -> tuple[float, float]:
            return 0.0, np.inf

        @classmethod
        def priced_by_default(cls, context: AuditContext) -> Any:
            return {"type": "at-most"}

    with pytest.raises(
        PluginError, match=r"parameter_range of the constraint 'at-most' failed.*0 to inf is not a range"
    ):
        scenarios.frontier(FOUR, Endless(who="X", cap=1.0))
    with pytest.raises(
        PluginError, match="priced_by_default of the constraint 'at-most' must return constraints or None"
    ):
        default_constraints({"at-most": Endless}, FOUR.layout, np.ones(len(FOUR.layout.candidate_ids)))
