"""The paper's study: how instances are drawn, what is measured at a point, and that a stopped run goes on."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from auditkit.errors import InputError
from auditkit.model.search import Box, Chain
from auditkit.plugins.study import budget_figures, ex_post, runner, sweeps, two_stage
from auditkit.plugins.study.catalogue import STUDIES
from auditkit.plugins.study.command import study
from auditkit.plugins.study.estimate import Estimate, capacity_worth, mean, ratio_of_means, starts
from auditkit.plugins.study.paper_claims import Panel, about, judged, less, more
from auditkit.plugins.study.point import PARITY, columns_near, measure, quota
from auditkit.plugins.study.population import (
    BASIC,
    HIGH_COST,
    TWO_STAGE,
    UNIFORM,
    Setup,
    normal_slices,
    resized,
    uniform_slices,
)
from auditkit.plugins.study.randomness import need
from auditkit.plugins.study.runner import Runner
from auditkit.plugins.study.store import Store
from auditkit.plugins.study.sweeps import SWEEPS, Rows, Sweep
from auditkit.solver import solve

# Instances ------------------------------------------------------------------------------------------------------------


def test_slices_have_the_moments_of_their_laws() -> None:
    z = normal_slices(40)
    assert len(z) == 40 and z.mean() == pytest.approx(0, abs=1e-14) and (np.diff(z) > 0).all()
    assert (z**2).mean() == pytest.approx(1, abs=0.01)  # what lies within a slice is lost
    u = uniform_slices(40)
    assert u.mean() == pytest.approx(0, abs=1e-14) and (u**2).mean() == pytest.approx(1 / 3, abs=1e-3)


def test_a_draw_depends_on_seed_and_number_only() -> None:
    one, same, other = (BASIC.draw(*key) for key in ((1, 5), (1, 5), (2, 5)))
    np.testing.assert_array_equal(one.values, same.values)
    assert (one.values != other.values).any()
    np.testing.assert_array_equal(one.values, HIGH_COST.draw(1, 5).values)  # set-ups share what they have in common


def test_the_set_up_is_the_papers() -> None:
    draws = [BASIC.draw(1, i) for i in range(60)]
    costs, means = (np.concatenate(x) for x in zip(*((d.costs, d.values.mean(axis=1)) for d in draws)))
    assert costs.min() >= 3 and costs.max() <= 6 and costs.mean() == pytest.approx(4.5, abs=0.1)
    assert means.min() > 20 and np.median(means) == pytest.approx(30, abs=0.7)  # 20 + 10 exp(N(0, 1))
    assert np.log((means - 20) / 10).std() == pytest.approx(1, abs=0.05)
    assert draws[0].values[0].std() == pytest.approx(10, rel=0.01)
    high = HIGH_COST.draw(1, 0).costs
    assert high.min() >= 25 and high.max() <= 35
    uniform = np.concatenate([UNIFORM.draw(1, i).values.mean(axis=1) for i in range(30)])
    assert uniform.min() >= 20 and uniform.max() <= 60 and uniform.mean() == pytest.approx(40, abs=1)


def test_signals_of_y_are_biased_and_true_values_are_not() -> None:
    (search,) = BASIC.draw(1, 0).instance(0.4, 7).searches
    assert search.capacity == 7 and [c.group for c in search.candidates] == ["X"] * 30 + ["Y"] * 30
    for candidate in search.candidates:
        assert isinstance(candidate, Box) and candidate.true_values is not None
        rho = 1.0 if candidate.group == "X" else 0.4
        np.testing.assert_allclose(candidate.values, rho * candidate.true_values)
    (staged,) = TWO_STAGE.draw(1, 0).instance(0.4, 7).searches
    chain = staged.candidates[-1]
    assert isinstance(chain, Chain)
    phone, onsite, offer, hired = (chain.by_name[n] for n in ("phone", "onsite", "offer-0", "hired-0"))
    assert -2 <= phone.reward <= -1 and phone.to["onsite"] == 0.8
    assert -4 <= onsite.reward <= -2 and offer.reward == -3 and offer.to["hired-0"] == 0.9
    assert hired.true_reward is not None and hired.reward == pytest.approx(0.4 * hired.true_reward)


def test_forty_levels_are_enough() -> None:
    """Utilities within 3e-4, short-term ratios within 3e-5 of those with ten times as many (`population.py`)."""
    for rho, k in ((1.0, 1), (0.7, 20)):
        coarse, fine = (measure(Setup(atoms=m).draw(1, 0).instance(rho, k), PARITY).point for m in (40, 400))
        assert coarse.free == pytest.approx(fine.free, rel=3e-4)
        assert coarse.best == pytest.approx(fine.best, rel=3e-4)
        assert coarse.best_long == pytest.approx(fine.best_long, rel=1e-3)
        assert coarse.best / coarse.free == pytest.approx(fine.best / fine.free, abs=3e-5)


# Points ---------------------------------------------------------------------------------------------------------------


def test_parity_at_moderate_bias_costs_little() -> None:
    """The paper's headline: k = 20, bias factor 0.7, less than 6 % of short-term utility; the long term gains."""
    points = [measure(BASIC.draw(1, i).instance(0.7, 20), PARITY).point for i in range(6)]
    loss = mean(np.array([1 - p.best / p.free for p in points]))
    assert loss.value < 0.06 and max(p.gap for p in points) < 1e-10
    assert 0.3 < np.mean([p.slack for p in points]) < 0.65
    assert np.mean([p.best_long / p.free_long for p in points]) > 1
    assert all(p.best <= p.free + 1e-9 and p.dual > 0 for p in points)


def test_a_neighbours_dual_changes_nothing_but_the_work() -> None:
    instance = BASIC.draw(1, 0).instance(0.5, 12)
    cold = measure(instance, PARITY)
    for duals in ((0.0, 1.0), (3.0, 30.0), (cold.point.dual, cold.point.dual)):
        warm = measure(instance, PARITY, columns_near(instance, PARITY, duals))
        assert warm.point.best == pytest.approx(cold.point.best, rel=1e-12)
        assert warm.point.dual == pytest.approx(cold.point.dual, rel=1e-6)


def test_sweeps_find_what_single_solves_find(monkeypatch: pytest.MonkeyPatch) -> None:
    population = BASIC.draw(1, 0)
    rows = sweeps._parity(BASIC, (0.3, 0.8), (4, 5))(1, 0)
    assert [row[:2] for row in rows] == [(0.3, 5), (0.3, 4), (0.8, 5), (0.8, 4)]
    for rho, k, free, _, best, *_ in rows:
        alone = measure(population.instance(rho, int(k)), PARITY).point
        assert (free, best) == pytest.approx((alone.free, alone.best), rel=1e-11)
    for rho, k, share, *numbers in sweeps._quota(BASIC, {6: (0.5,)}, (0.0, 0.4, 1.0))(1, 0):
        alone = measure(population.instance(rho, int(k)), quota(share)).point
        assert numbers[2] == pytest.approx(alone.best, rel=1e-11)


def test_the_two_stage_optimum_meets_all_three_parities() -> None:
    instance = resized(TWO_STAGE.draw(1, 0).instance(0.5, 20), 8)
    optimum = two_stage.certified(solve(instance, two_stage.PARITIES))
    np.testing.assert_allclose(optimum.values, 0, atol=1e-7)
    assert optimum.gap <= 1e-8 * optimum.utility


def test_trajectories_end_near_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two_stage, "STEP_RHOS", (0.9,))
    monkeypatch.setattr(two_stage, "DELTAS", (1.0,))
    rows = np.array(two_stage.trajectories(1, 0))
    assert rows.shape == (two_stage.ROUNDS, len(two_stage.STEP_KEYS) + len(two_stage.STEPS))
    lagrangian, so_far = rows[:, 3], rows[:, 4]
    assert (lagrangian >= 1 - 1e-9).all(), "every best response bounds the optimum"
    assert so_far[-1] == pytest.approx(1, abs=0.02)
    assert np.abs(rows[-1, 6:9]).max() < 0.05


def test_the_ex_post_law_is_that_of_the_policy() -> None:
    optimum = measure(BASIC.draw(1, 0).instance(0.7, 6), PARITY).optimum
    law = ex_post.law(optimum)
    counts = np.arange(7)
    x, y = optimum.outcome.by_group(optimum.outcome.selected)
    assert law.sum() == pytest.approx(1) and (law >= 0).all()
    assert counts @ law.sum(axis=1) == pytest.approx(x) and law.sum(axis=0) @ counts == pytest.approx(y)
    parity = ex_post.QUESTIONS[0].slack(np.array([0.0, 3.0, 2.0]), np.array([0.0, 1.0, 2.0]))
    np.testing.assert_allclose(parity, [0, 0.5, 0])
    limit = next(q for q in ex_post.QUESTIONS if q.kind == 2 and q.parameter == 4)
    np.testing.assert_allclose(limit.slack(np.array([9.0, 9.0]), np.array([4.0, 0.0])), [0, -1])


def test_randomisation_is_needed_and_why() -> None:
    mixed, order, jump = need(measure(BASIC.draw(1, 0).instance(0.7, 5), PARITY).optimum)
    assert mixed == 1 and order in (0, 1) and 0 < jump < 1
    assert need(measure(BASIC.draw(1, 0).instance(0.7, 5), quota(0.0)).optimum) == (0, 0, 0)


# The table ------------------------------------------------------------------------------------------------------------


def test_table_entries_are_gains_of_budget_minus_gains_of_capacity() -> None:
    u = np.array([[1.0, 2.0, 3.0], [10.0, 15.0, 18.0]])  # U(k, b), k = 1..2, b = 0..2
    np.testing.assert_allclose(budget_figures.entries(u), [[2 - 1, 3 - 1.5]])


def test_the_printed_table_has_entries_of_this_kind() -> None:
    """With g(k, b) = U(k, b) / U(k, 0), an entry is g(k, b+1) - g(k+1, b), and g(k, b) is constant from b = k on."""
    e = budget_figures.PRINTED
    g = {(k, 1): 1 + e[k - 1, 0] for k in range(1, 11)}
    for b in (1, 2, 3, 4):
        g |= {(k, b + 1): e[k - 1, b] + g[k + 1, b] for k in range(1, 11 - b)}
    for k in (1, 2, 3):
        assert g[k, k + 1] == pytest.approx(g[k, k], abs=0.003), "to the rounding of the terms"


def test_table_of_few_instances_is_near_the_papers() -> None:
    rows = np.array([_table_block(i) for i in range(3)])
    assert rows.shape == (3, 66, 4) and (rows[:, :, 3] < 1e-9).all()
    best = rows[:, :, 2].reshape(3, 11, 6)
    assert (np.diff(best, axis=2) >= -1e-9).all() and (np.diff(best, axis=1) > 0).all()
    entries = budget_figures.entries(best)
    value, se = budget_figures.of_means(best)
    assert entries.shape == (3, 10, 5) and value.shape == se.shape == (10, 5)
    for b in range(1, 6):  # beyond k a budget is no limit
        assert best[:, 0, b] == pytest.approx(best[:, 0, 1])


def _table_block(number: int) -> Rows:
    return SWEEPS["budget-table"].rows(1, number)


# Estimates and verdicts -----------------------------------------------------------------------------------------------


def test_estimates() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    assert mean(x).value == 2.5 and mean(x).se == pytest.approx(x.std(ddof=1) / 2)
    assert np.isnan(mean(x[:1]).se)
    assert ratio_of_means(2 * x, x).value == 2 and ratio_of_means(2 * x, x).se == pytest.approx(0)
    grid = np.array([0.1, 0.2, 0.3, 0.4])
    assert starts(grid, np.array([-1.0, 1.0, 2.0, -1.0])) == pytest.approx(0.15)
    assert starts(grid, np.array([1.0, 2.0, 1.0, -1.0])) == -np.inf
    assert np.isnan(starts(grid, np.array([-2.0, -1.0, -1.0, -3.0])))
    worth = capacity_worth(np.array([[10.0, 18.0, 24.0]]), np.array([[5.0, 14.0, 24.0]]))
    np.testing.assert_allclose(worth, [[0.5, 1.5, 3.0]])


def test_verdicts_follow_from_numbers() -> None:
    assert judged(-0.1, 0.0) == "agrees" and judged(0.1, 0.06) == "within error" and judged(0.1, 0.04) == "differs"
    assert judged(0.1, np.nan) == "differs"
    e = Estimate(0.05, 0.01)
    assert less("", "", e, 0.06).verdict == "agrees" and more("", "", e, 0.06).verdict == "within error"
    assert about("", "", e, 0.10, 0.01).verdict == "differs"
    assert e.text(1, percent=True) == "5.0 ± 1.0 %"


# Runs -----------------------------------------------------------------------------------------------------------------

CALLS: list[int] = []


def _tiny(seed: int, number: int) -> Rows:
    CALLS.append(number)
    rng = np.random.default_rng([seed, number])
    return [(0.5, k, rng.random()) for k in (1, 2, 3)]


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Sweep:
    CALLS.clear()
    sweep = Sweep("tiny", ("rho", "k"), ("x",), _tiny, 3)
    monkeypatch.setitem(runner.SWEEPS, "tiny", sweep)
    return sweep


def test_a_run_goes_on_where_it_stopped(tiny: Sweep, tmp_path: Path) -> None:
    with Runner(tmp_path, 1, 4, 1) as runner:
        whole = runner.data("tiny")
    text = (tmp_path / "tiny.seed-1.csv").read_text()
    assert CALLS == [0, 1, 2, 3] and whole.instances == 4
    (tmp_path / "tiny.seed-1.csv").write_text(text[:-9])  # killed while it wrote the last instance
    CALLS.clear()
    with Runner(tmp_path, 1, 6, 1) as runner:
        again = runner.data("tiny")
    assert CALLS == [3, 4, 5], "finished instances are not computed again, the broken one is"
    np.testing.assert_array_equal(again.columns["x"][:4], whole.columns["x"])
    with Runner(tmp_path, 1, 2, 1) as runner:
        fewer = runner.data("tiny")
    assert fewer.instances == 2 and len(CALLS) == 3


def test_runs_repeat_to_the_byte(tiny: Sweep, tmp_path: Path) -> None:
    texts = []
    for name in ("a", "b"):
        with Runner(tmp_path / name, 1, 3, 1) as runner:
            runner.data("tiny")
        texts.append((tmp_path / name / "tiny.seed-1.csv").read_bytes())
    with Runner(tmp_path / "c", 2, 3, 1) as runner:
        runner.data("tiny")
    assert texts[0] == texts[1] != (tmp_path / "c" / "tiny.seed-2.csv").read_bytes()


def test_a_foreign_file_is_refused_and_left_alone(tiny: Sweep, tmp_path: Path) -> None:
    path = tmp_path / "tiny.seed-1.csv"
    path.write_text("instance,rho,k,x,old\n0,0.5,1,2,3\n")
    with pytest.raises(InputError, match="remove it"):
        Store(tmp_path, tiny, 1)
    assert path.read_text().startswith("instance,rho,k,x,old")


def test_points_are_found_by_their_keys(tiny: Sweep, tmp_path: Path) -> None:
    with Runner(tmp_path, 1, 2, 1) as runner:
        data = runner.data("tiny")
    assert data.at("x", rho=0.5, k=2).shape == (2,) and data.at("x", rho=0.5).shape == (2, 3)
    x, values = data.line("x", "k", rho=0.5)
    np.testing.assert_array_equal(x, [1, 2, 3])
    assert values.shape == (2, 3)
    with pytest.raises(KeyError, match="no point"):
        data.at("x", rho=0.6)


def test_instances_in_other_processes_are_the_same(tmp_path: Path) -> None:
    texts = []
    for jobs in (1, 2):
        with Runner(tmp_path / str(jobs), 1, 2, jobs) as runner:
            runner.data("values")
        texts.append((tmp_path / str(jobs) / "values.seed-1.csv").read_bytes())
    assert texts[0] == texts[1]


# The command ----------------------------------------------------------------------------------------------------------


def test_every_study_has_its_sweeps_and_the_list_names_them() -> None:
    for one in STUDIES.values():
        assert set(one.sweeps) <= set(SWEEPS)
    assert {name for one in STUDIES.values() for name in one.sweeps} == set(SWEEPS)
    listed = CliRunner().invoke(study, ["list"])
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.output.splitlines()] == list(STUDIES)


def test_an_unknown_study_is_refused_by_name(tmp_path: Path) -> None:
    done = CliRunner().invoke(study, ["shortterm", "-o", str(tmp_path / "out")])
    assert isinstance(done.exception, InputError) and "did you mean 'short-term'?" in str(done.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "extra"), [("ex-post", []), ("running-times", []), ("values", ["--seed", "7"])])
def test_a_study_writes_csv_svg_and_markdown(name: str, extra: list[str], tmp_path: Path) -> None:
    command = [name, "--instances", "2", "-o", str(tmp_path), "--jobs", "1", *extra]
    assert CliRunner().invoke(study, command, catch_exceptions=False).exit_code == 0
    table = (tmp_path / f"{name}.csv").read_text().splitlines()
    assert len(table) > 10 and all(line.count(",") == table[0].count(",") for line in table)
    assert ET.parse(tmp_path / f"{name}.svg").getroot().tag.endswith("svg")
    page = (tmp_path / f"{name}.md").read_text()
    assert (page.startswith("## ") and f"({name}.svg)" in page and "±" in page) or name != "ex-post"
    assert not list(tmp_path.glob(".*")), "no temporary file is left"
    before = {path.name: path.read_bytes() for path in tmp_path.glob(f"{name}.*")}
    assert CliRunner().invoke(study, command, catch_exceptions=False).exit_code == 0
    assert before == {path.name: path.read_bytes() for path in tmp_path.glob(f"{name}.*")}, "from what is on disk"


def test_studies_read_what_their_sweeps_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every study is built from made-up numbers of the right shape: no key, column or point is misspelt."""
    from auditkit.plugins.study import write_study as pages
    from auditkit.plugins.study.make_study import make

    monkeypatch.setattr(pages, "draw", _shape)
    for name, sweep in SWEEPS.items():
        keys = [row[: len(sweep.keys)] for row in _keys(name)]
        assert len(keys) == sweep.points == len(set(keys)), name

        def rows(seed: int, number: int, keys: list = keys, sweep: Sweep = sweep) -> Rows:  # type: ignore[type-arg]
            rng = np.random.default_rng([seed, number])
            return [(*key, *(1 + rng.random(len(sweep.numbers)))) for key in keys]

        made = Sweep(name, sweep.keys, sweep.numbers, rows, sweep.points, 1.0)
        monkeypatch.setitem(runner.SWEEPS, name, made)
    done = dict(make(list(STUDIES.values()), tmp_path, 1, 3, 1, True))
    assert [one.name for one in done] == list(STUDIES)
    page = (tmp_path / "study.md").read_text()
    assert page.startswith("# The paper's numerical study") and "SVG_FOLDER" not in page and "nan" not in page.lower()
    for name in STUDIES:
        assert f"(`{name}`)" in page and (tmp_path / f"{name}.svg").exists()


def _shape(panels: Sequence[Panel]) -> str:
    """In place of a drawing, which takes long: that it could be drawn."""
    for panel in panels:
        assert panel.lines
        for line in panel.lines:
            assert line.x.shape == line.y.shape and len(line.x) > 1
            assert line.se is None or line.se.shape == line.y.shape
    return "<svg/>"


def _keys(name: str) -> list[tuple[float, ...]]:
    """The points of a sweep, without solving anything."""
    pairs = [(rho, k) for rho in sweeps.RHOS for k in reversed(sweeps.ALL_K)]
    by_limit = [(rho, k, b) for rho in sweeps.BUDGET_RHOS for k in sweeps.BUDGET_K for b in range(k + 1)]
    staged, steps = [(r, k) for r in two_stage.RHOS for k in two_stage.CAPACITIES], range(1, two_stage.ROUNDS + 1)
    from auditkit.plugins.study import timing

    return {
        "values": lambda: [row[:4] for row in SWEEPS["values"].rows(1, 0)],
        "parity": lambda: pairs,
        "high-cost": lambda: pairs,
        "uniform": lambda: [(rho, k) for rho in sweeps.TENTHS for k in (20, 15, 8)],
        "quota": lambda: [(r, k, s) for k, rhos in sweeps.QUOTA_K.items() for r in rhos for s in sweeps.SHARES],
        "uniform-quota": lambda: [(rho, 20, i / 10) for rho in sweeps.TENTHS for i in range(11)],
        "budget": lambda: by_limit,
        "budget-table": lambda: [(k, b) for k in sweeps.TABLE_K for b in sweeps.TABLE_B],
        "randomisation": lambda: [(a, *point) for a in sweeps.RANDOM_ATOMS for point in sweeps.RANDOM_POINTS],
        "ex-post": lambda: [(q.kind, q.parameter) for q in ex_post.QUESTIONS],
        "times": lambda: [(rho, k) for rho in timing.RHOS for k in timing.CAPACITIES],
        "two-stage": lambda: staged,
        "trajectories": lambda: [(d, r, s) for r in two_stage.STEP_RHOS for d in two_stage.DELTAS for s in steps],
        "two-stage-times": lambda: [(rho, k) for rho in timing.RHOS for k in timing.CHAIN_CAPACITIES],
    }[name]()  # type: ignore[no-untyped-call, no-any-return]
