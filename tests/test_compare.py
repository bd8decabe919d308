"""One Comparison: standings, prices, duals in words, defaults, order, conflicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auditkit.compare import Comparison, IntervalOptions, NoInterval, compare
from auditkit.compare.parts import Parts, individual
from auditkit.compare.shadow_prices import order_kept
from auditkit.constraints.base import Constraint
from auditkit.constraints.binding import bind, make
from auditkit.constraints.defaults import default_constraints
from auditkit.constraints.spec import parse, render
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Layout
from auditkit.model.search import Box, Search
from auditkit.report.findings import _prices
from auditkit.report.words.duals import NOT_BINDING, acts_like
from auditkit.report.words.duals import dual as dual_in_words
from auditkit.report.words.phrases import Phrases
from auditkit.solver import solve
from auditkit.solver.policy import Mixture, Policy
from support.audit_helpers import fitted, plugins, random_instance

KINDS = plugins().constraints
QUICK = IntervalOptions(replicates=12)
FOUR = Instance(
    (
        Search(
            "s",
            1,
            tuple(
                Box(f"{group}{low}", group, 1.0, np.array([low + 6.0, low]), np.array([0.5, 0.5]))
                for group, low in (("X", 4.0), ("X", 3.0), ("Y", 2.0), ("Y", 1.0))
            ),
        ),
    )
)
"""Four boxes of MATH section 7."""


def constraint(**keys: Any) -> Constraint:
    return make(KINDS, keys)


def compared(instance: Instance, *constraints: Constraint, **more: Any) -> Comparison:
    return compare(fitted(instance, more.pop("value_scale", 1.0)), list(constraints), KINDS, options=QUICK, **more)


def test_four_boxes() -> None:
    found = compared(FOUR, constraint(type="parity"), value_scale=2.0)
    (entry,) = found.constrained
    assert found.unconstrained.utility == pytest.approx(7.0625, abs=1e-9)
    assert entry.standing is not None
    assert entry.standing.utility == pytest.approx(6.5625, abs=1e-9)
    assert entry.loss == pytest.approx(0.5)
    assert entry.ratio == pytest.approx(6.5625 / 7.0625)
    assert entry.status == "optimal"
    assert entry.order_kept is True
    # rates of two candidates each: dual 2 on the rate is 1 on the value, half a score point at two units a point
    (dual,) = entry.duals
    assert abs(dual.value) == pytest.approx(2.0)
    assert dual_in_words(dual, found.value_scale, entry.classes) == (
        "as if each score of group X were lowered by 0.5 and each score of group Y were raised by 0.5"
    )
    assert entry.shifts == pytest.approx({("selection", "X"): -1.0, ("selection", "Y"): 1.0})
    assert isinstance(entry.interval, NoInterval)
    assert entry.interval.code == "few-searches"
    (law,) = entry.slack_laws
    assert law is not None
    assert law.mean == pytest.approx(0, abs=1e-12)
    assert law.outside == pytest.approx(1)  # one position: the rates are never equal
    assert entry.unfilled is not None
    assert entry.unfilled.probabilities[0] == pytest.approx(1)
    assert found.firm.utility == pytest.approx(5 - 4 * 0.5)
    assert found.firm.by_group["group"]["X"].selected == 1
    assert entry.standing.by_group["group"]["X"].selected == pytest.approx(
        entry.standing.by_group["group"]["Y"].selected
    )


def test_each_constraint_and_all_together() -> None:
    instance = random_instance(11, searches=9, candidates=6, values=3, capacity=2, groups="XYZ")
    some = [constraint(type="parity"), constraint(type="quota", group="Z", share=0.4), constraint(type="impact-ratio")]
    said: list[str] = []
    found = compared(instance, *some, progress=said.append)
    assert [entry.label for entry in found.constrained] == ["parity", "quota Z", "impact-ratio", "all together"]
    assert said[0] == "best policy under parity"
    assert not found.defaults
    for entry in found.constrained:
        fresh = solve(instance, entry.constraints)
        assert entry.standing is not None
        assert fresh.constrained is not None
        assert entry.optimum is not None
        assert entry.standing.utility == pytest.approx(fresh.constrained.utility, abs=1e-7)
        assert entry.optimum.gap < 1e-6
        assert entry.unfilled is not None
        assert entry.unfilled.mean == pytest.approx(entry.standing.unfilled_capacity, abs=1e-8)
        for dual, law in zip(entry.duals, entry.slack_laws, strict=True):
            assert law is not None
            assert law.mean == pytest.approx(dual.slack, abs=1e-8)
            assert (dual_in_words(dual, 1.0, entry.classes) == NOT_BINDING) == (dual.value == 0)
    single, together = found.constrained[:-1], found.constrained[-1]
    assert together.standing is not None
    assert together.standing.utility <= min(e.standing.utility for e in single if e.standing) + 1e-7
    # it starts from the policies of the others, so it evaluates few of its own
    assert together.optimum is not None
    assert together.optimum.evaluations < len(together.optimum.columns)


def test_conflicts_are_named_and_the_rest_goes_on() -> None:
    instance = random_instance(4, searches=2, candidates=4)
    many = constraint(
        type="affine", terms=[{"search": "s0", "candidate": "c0", "state": "selected"}], sense=">=", bound=2
    )
    found = compared(instance, many, constraint(type="parity"))
    first, second, together = found.constrained
    assert (first.status, second.status, together.status) == ("infeasible", "optimal", "infeasible")
    assert [parse(text)["type"] for text in first.conflict] == ["affine"]
    assert first.standing is None
    assert first.duals == ()
    assert together.conflict == first.conflict


def test_convex_constraints_have_words_and_no_interval() -> None:
    instance = random_instance(6, searches=8, candidates=5, values=3, capacity=2)
    free = compared(instance).unconstrained
    counts = [row.selected for row in free.by_group["group"].values()]
    assert compared(instance).constrained == ()
    least = float(np.sqrt(counts[0] * counts[1])) * 0.5 + 0.5 * sum(counts) / 2
    found = compared(instance, constraint(type="nash-welfare", minimum=least), constraint(type="parity"))
    entry, _, together = found.constrained
    (dual,) = entry.duals
    assert entry.order_kept is True
    assert dual.value < 0
    assert "were raised by" in str(dual_in_words(dual, found.value_scale, entry.classes))
    assert dual.slack == pytest.approx(0, abs=1e-6)
    assert entry.slack_laws == (None,)
    for one in (entry, together):
        assert isinstance(one.interval, NoInterval)
        assert one.interval.code == "not-affine"
    assert len(together.duals) == 2


def test_order_within_groups_is_checked_where_it_may_change() -> None:
    instance = random_instance(2, searches=2, candidates=4, values=3)
    layout = instance.layout
    rows = bind([constraint(type="parity", min_value=6.0), constraint(type="floor", minimum=0.05)], layout)

    def kept(duals: Floats) -> bool:
        return order_kept(layout, rows, Mixture((Policy.at(duals),), len(layout.search_ids)))

    duals = np.zeros(len(rows))
    assert kept(duals)
    raised = duals.copy()
    raised[0] = 30.0
    lowered = -raised
    # one of the two groups gains from the threshold on, which keeps its order, and the other loses, which does not
    assert not kept(raised)
    assert not kept(lowered)
    one = duals.copy()
    one[1] = -50.0
    assert not kept(one)  # a bonus for one candidate puts a lower value before a higher


def test_constraints_on_inspections_may_change_the_order_within_a_group() -> None:
    """Y: 10 with chance .2 else 0, and 6.5 for certain. Their indices 5 and 5.5 become 6.65 and 5.83."""
    people = (
        Box("a", "X", 1.0, [9, 3], [0.5, 0.5]),
        Box("b", "X", 1.0, [8.5, 3], [0.5, 0.5]),
        Box("c", "Y", 1.0, [10, 0], [0.2, 0.8]),
        Box("d", "Y", 1.0, [6.5], [1.0]),
    )
    instance = Instance((Search("s", 1, people),))
    optimum = solve(instance, [constraint(type="parity", basis="count", on="inspection")]).constrained
    assert optimum is not None
    dual = abs(float(optimum.duals[0]))  # what an inspection of Y costs less: index sigma with E(v - sigma)+ = 1 - dual
    assert 10 - (1 - dual) / 0.2 > 6.5 - (1 - dual) and 10 - 1 / 0.2 < 6.5 - 1
    assert not order_kept(instance.layout, optimum.rows, optimum.mixture)
    by_selection = solve(instance, [constraint(type="parity", basis="count")]).constrained
    assert by_selection is not None and by_selection.duals[0] != 0
    assert order_kept(instance.layout, by_selection.rows, by_selection.mixture)


def test_individual_rows_are_told_apart() -> None:
    instance = random_instance(2, searches=2, candidates=4)
    rows = bind([constraint(type="floor", minimum=0.1), constraint(type="parity")], instance.layout)
    assert [individual(row, instance.layout) for row in rows.rows] == [True] * 8 + [False]


def test_parts_know_what_is_counted_and_what_is_a_rate() -> None:
    instance = random_instance(2, searches=2, candidates=5, groups="XYZ")
    some = [
        constraint(type="parity"),
        constraint(type="parity", on="inspection", basis="count"),
        constraint(type="quota", group="X", share=0.25),
        constraint(type="budget", limit=3.0, expense=2.5),
    ]
    rows = bind(some, instance.layout)
    parts = Parts.of(rows, instance.layout)
    assert parts is not None
    assert parts.rate is not None
    named = {(part.counts, parts.names[part.group]) for part in parts.parts}
    assert named == {(what, group) for what in ("selection", "inspection") for group in "XYZ"}
    sizes = dict(zip(instance.layout.groups, instance.layout.group_sizes, strict=True))
    by_name = {(p.counts, parts.names[p.group]): f for f, p in enumerate(parts.parts)}
    assert parts.matrix[0, by_name["selection", "X"]] == pytest.approx(1 / sizes["X"])
    assert parts.rate[0, by_name["selection", "X"]]
    assert parts.rate[:2].any(axis=1).all()
    assert not parts.rate[2:].any()
    visits = np.random.default_rng(0).random(instance.layout.states)
    totals = parts.matrix @ parts.by_search(visits).sum(axis=1)
    np.testing.assert_allclose(totals, rows.values(visits), atol=1e-12)


def test_words() -> None:
    assert acts_like({("selection", "F"): 4.2}, 2.0) == "as if each score of group F were raised by 2.1"
    assert acts_like({("inspection", "F"): -1.5}, 2.0) == "as if each inspection of group F cost 1.5 more"
    assert acts_like({("phone", "F"): 0.25}, 1.0) == "as if each step of the stage phone of group F cost 0.25 less"
    several = {("selection", g): x for g, x in (("A", 1.0), ("B", 1.0), ("C", -0.5), ("D", 12345.0), ("E", 0.0))}
    assert (
        acts_like(several, 1.0)
        == "as if each score were raised by 1 (A, B) and 12,345 (D); each score were lowered by 0.5 (C)"
    )
    assert acts_like({("selection", "F"): 0.0}, 1.0) == NOT_BINDING
    classes = {f"{sex}+{race}": (sex, race) for sex in ("F", "M", "unknown") for race in ("X", "Y")}
    moved = {("selection", name): 1.0 if name.startswith("F") else -0.5 for name in classes}
    assert acts_like(moved, 1.0, classes=classes) == (
        "as if each score of group F were raised by 1 and each score of groups M and unknown were lowered by 0.5"
    )
    plus = {name: (name,) for name in ("Audio+Video", "Text+Video", "Text+None")}
    own = {("selection", "Audio+Video"): 1.0, ("selection", "Text+Video"): 1.0}
    assert acts_like(own, 1.0, classes=plus) == "as if each score of groups Audio+Video and Text+Video were raised by 1"
    moved.pop(("selection", "F+Y"))
    assert "each score of group F+X were raised by 1" in acts_like(moved, 1.0, classes=classes)
    assert "group 40+ were" in acts_like(
        {("selection", "40+"): 1.0}, 1.0, classes={"40+": ("40+",), "under 40": ("under 40",)}
    )


def counted(sizes: dict[str, int], selected: dict[str, float]) -> tuple[Layout, Any]:
    """One search with so many candidates of each group, and the share of each group that was selected."""
    groups = [group for group, n in sizes.items() for _ in range(n)]
    boxes = tuple(Box(f"c{i}", group, 1.0, [1.0, 5.0], [0.5, 0.5]) for i, group in enumerate(groups))
    return Instance((Search("s", 9, boxes),)).layout, np.array([selected[group] / sizes[group] for group in groups])


def test_default_constraints() -> None:
    sizes = {"F": 60, "M": 100, "tiny": 2, "unknown": 38}
    layout, selected = counted(sizes, {"F": 5.0, "M": 10.0, "tiny": 0.1, "unknown": 3.0})
    made = default_constraints(KINDS, layout, selected)
    assert [c.keys() for c in made] == [
        {"type": "parity"},
        {"type": "impact-ratio"},
    ]
    assert [row.label for row in bind(made[:1], layout).rows] == ["selection parity F = M"]
    assert default_constraints(KINDS, *counted({"F": 60, "unknown": 30}, {"F": 2.0, "unknown": 1.0})) == []


def test_unknown_and_small_groups_are_not_compared() -> None:
    layout, _ = counted(
        {"F": 60, "M": 100, "tiny": 2, "unknown": 38}, dict.fromkeys(("F", "M", "tiny", "unknown"), 1.0)
    )
    for kind in ("parity", "impact-ratio"):
        labels = [row.label for row in bind([constraint(type=kind)], layout).rows]
        assert labels and not [text for text in labels if "unknown" in text or "tiny" in text]
    (named,) = bind([constraint(type="parity", groups=["F", "tiny"])], layout).rows
    assert named.label == "selection parity F = tiny"


def test_labels_are_short_and_different() -> None:
    assert constraint(type="parity", on="inspection").short_name == "inspection parity"
    assert constraint(type="budget", limit=2, group="F").short_name == "budget F"
    instance = random_instance(5, searches=2, candidates=4)
    two = [constraint(type="quota", group="Y", share=share) for share in (0.2, 0.5)]
    found = compared(instance, *two)
    assert [entry.label for entry in found.constrained[:2]] == [render(c.keys()) for c in two]


@pytest.mark.parametrize(("minimum", "status"), [(0.5, "unproved"), (0.4, "optimal")])
def test_a_constraint_that_can_only_just_be_met_has_bounds_and_no_price(minimum: float, status: str) -> None:
    welfare = constraint(type="nash-welfare", minimum=minimum)
    entry = compare(fitted(FOUR), [welfare], KINDS).constrained[0]
    words = Phrases()
    told = list(_prices([entry], words, ()))
    assert entry.status == status and entry.optimum is not None
    if status == "optimal":
        assert [one.code for one in told] == ["price-of-fairness"]
    else:
        assert [one.code for one in told] == ["unproved"]
        assert "is not proved, as can happen when constraints can only just be met: the utility of" in told[0].text
        assert "is between 6." in told[0].text
