"""The bootstrap over searches against solving the resampled instances from nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from auditkit.compare import IntervalOptions, NoInterval, PriceInterval, compare
from auditkit.compare.intervals import PILOTS, Bootstrap, Resampled
from auditkit.compare.parts import Parts
from auditkit.constraints.base import Constraint
from auditkit.constraints.binding import bind, make
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats
from auditkit.solver import solve
from support.audit_helpers import fitted, plugins, random_instance

KINDS = plugins().constraints
INSTANCE = random_instance(21, searches=10, candidates=7, values=4, capacity=2, groups="XYZ")
CASES: list[dict[str, Any]] = [
    {"type": "parity"},
    {"type": "impact-ratio", "minimum": 0.9},
    {"type": "quota", "group": "Z", "share": 0.4},
    {"type": "parity", "on": "inspection", "groups": ["X", "Z"]},
    {"type": "parity", "basis": "count", "groups": ["X", "Y"]},
]


def resampled(instance: Instance, omega: Floats) -> Instance:
    searches = [
        replace(search, id=f"{search.id}-{i}")
        for search, times in zip(instance.searches, omega, strict=True)
        for i in range(int(times))
    ]
    return Instance(tuple(searches))


def bootstrap_of(constraint: Constraint, replicates: int) -> tuple[Bootstrap, Any]:
    optimum = solve(INSTANCE, [constraint]).constrained
    assert optimum is not None
    rows = bind([constraint], INSTANCE.layout)
    return Bootstrap(
        rows, Parts.of(rows, INSTANCE.layout), optimum.columns, IntervalOptions(replicates=replicates)
    ), optimum


@pytest.mark.parametrize("keys", CASES, ids=lambda keys: f"{keys['type']}-{keys.get('on', 'selection')}")
def test_replicates_are_near_the_optimum_of_the_resampled_instance(keys: dict[str, Any]) -> None:
    constraint = make(KINDS, keys)
    boot, optimum = bootstrap_of(constraint, PILOTS + 8)
    problem = Resampled(boot, range(len(optimum.rows)), 1e-6)
    problem.near(optimum.duals)
    # the sample itself is no replicate, but the LP must find its optimum
    assert problem.solve(np.ones(10)).value == pytest.approx(optimum.utility, abs=1e-6)
    boot.evaluate([problem.solve(omega).shifts for omega in boot.drawn[:PILOTS]])
    off, losses = [], []
    for omega in boot.drawn[PILOTS:]:  # not the pilots, whose own best policies are among the columns
        fresh = solve(resampled(INSTANCE, omega), [constraint])
        value = problem.solve(omega).value
        assert fresh.constrained is not None
        assert value is not None
        assert fresh.unconstrained.utility == pytest.approx(float(omega @ boot.utility[0]), abs=1e-8)
        assert value <= fresh.constrained.utility + 1e-6  # what is attained cannot beat the optimum
        off.append(fresh.constrained.utility - value)
        losses.append(fresh.unconstrained.utility - fresh.constrained.utility)
    assert np.mean(off) <= 0.25 * np.mean(losses) + 1e-6


def test_rows_on_rates_are_weighed_with_the_sizes_that_were_drawn() -> None:
    constraint = make(KINDS, CASES[0])
    boot, _ = bootstrap_of(constraint, 3)
    for omega in boot.drawn:
        other = resampled(INSTANCE, omega)
        rows = bind([constraint], other.layout)
        parts = Parts.of(rows, other.layout)
        assert parts is not None
        weighed = boot.weigh(omega)
        assert weighed is not None
        np.testing.assert_allclose(weighed, parts.matrix, rtol=1e-12)
    assert boot.weigh(np.zeros(len(INSTANCE.searches))) is None  # a group without candidates has no rate


def test_an_interval_is_the_same_each_time_and_holds_the_price() -> None:
    constraints = [make(KINDS, keys) for keys in CASES[:2]]

    def intervals(**options: Any) -> list[Any]:
        found = compare(fitted(INSTANCE), constraints, KINDS, options=IntervalOptions(replicates=40, **options))
        return [entry.interval for entry in found.constrained]

    first = intervals()
    assert first == intervals()
    assert first != intervals(seed=7)
    for interval in first:
        assert isinstance(interval, PriceInterval)
        assert interval.level == 0.95
        assert interval.ratio is not None
        assert 0 < interval.ratio[0] < interval.ratio[1] <= 1
        assert 0 <= interval.loss[0] < interval.loss[1]


def test_more_searches_than_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditkit.compare.intervals.MOST_BLOCKS", 5)
    boot, optimum = bootstrap_of(make(KINDS, CASES[0]), 20)
    assert boot.blocks == 5
    assert boot.drawn.shape == (20, 5)
    assert boot.utility[0].sum() == pytest.approx(solve(INSTANCE).unconstrained.utility)
    assert isinstance(boot.interval(range(len(optimum.rows)), optimum.duals, 1.0), PriceInterval)


def test_why_there_is_no_interval() -> None:
    def reason(instance: Instance, *keys: dict[str, Any], replicates: int = 10) -> str:
        made = [make(KINDS, k) for k in keys]
        entry = compare(fitted(instance), made, KINDS, options=IntervalOptions(replicates=replicates)).constrained[-1]
        assert isinstance(entry.interval, NoInterval), entry.interval
        return entry.interval.code

    small = random_instance(1, searches=4, candidates=4)
    assert reason(small, CASES[0] | {"groups": ["X", "Y"]}) == "few-searches"
    assert reason(INSTANCE, CASES[0], replicates=0) == "no-replicates"
    assert reason(INSTANCE, {"type": "nash-welfare", "minimum": 0.5}) == "not-affine"
    # at the edge of what can be: nearly all selections from one of three groups
    shares = [{"type": "quota", "group": g, "share": s} for g, s in (("X", 0.34), ("Y", 0.33), ("Z", 0.33))]
    assert reason(INSTANCE, *shares, {"type": "budget", "limit": 0.5}) in ("resampling-fails", "not-by-search")


def test_too_many_rows_are_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditkit.compare.parts.MOST_ROWS", 3)
    found = compare(fitted(INSTANCE), [make(KINDS, {"type": "floor", "minimum": 0.01})], KINDS)
    (entry,) = found.constrained
    assert isinstance(entry.interval, NoInterval)
    assert entry.interval.code == "not-by-search"
    assert set(entry.slack_laws) == {None}
    assert entry.unfilled is not None
    assert {dual.words for dual in entry.duals} <= {None, "not binding"}
