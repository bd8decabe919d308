"""Fits whose policies do not see groups: chances of groups before and given the score, and what a point is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import auditkit
from auditkit.compare import PriceInterval, compare
from auditkit.compare.value_of_point import inspections
from auditkit.config import Config
from auditkit.constraints.base import KindRow
from auditkit.constraints.binding import bind, make
from auditkit.data.firm_history import History
from auditkit.data.source import read
from auditkit.errors import InputError
from auditkit.fitting.fitted import Fitted
from auditkit.fitting.folds import Folds
from auditkit.fitting.group_chances import GroupChances, multinomial_logit, tilted
from auditkit.fitting.priors import fit
from auditkit.model.documents import instance_from_document
from auditkit.model.instance import Instance
from auditkit.model.variants import with_value_scale
from auditkit.plugin_manager import load
from auditkit.rules.find import find_alternatives
from auditkit.solver import block_pieces, solve_once
from auditkit.solver.evaluate import Prepared
from auditkit.solver.oracle import Oracle
from auditkit.solver.policy import Policy

SAMPLES = Path(__file__).parent.parent / "sample_data"
PLUGINS = load()


def history(name: str) -> History:
    return read(SAMPLES / name, Config(), PLUGINS)


def blind(name: str, **options: object) -> Fitted:
    return fit(history(name), fitters=PLUGINS.fitters, group_aware=False, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def boxes() -> Fitted:
    return blind("hiring.csv")


@pytest.fixture(scope="module")
def chains() -> Fitted:
    return blind("hiring-stages.csv", cost=1.0)


def test_chances_add_up_to_the_groups(boxes: Fitted) -> None:
    layout = boxes.instance.layout
    for name, part in layout.protected.items():
        actual = boxes.groups[name]
        known = dict(zip(actual.names, actual.sizes.tolist(), strict=True))
        assert dict(zip(part.names, part.sizes.tolist(), strict=True)) == pytest.approx(
            {group: known[group] for group in actual.comparable}, rel=1e-4
        )


def test_the_instance_is_consistent_and_says_nothing_of_anybodys_group(boxes: Fitted, chains: Fitted) -> None:
    for fitted in (boxes, chains):
        document = fitted.instance.to_json()
        assert document["format"] == "auditkit-instance/2"
        assert not any("group" in c for search in document["searches"] for c in search["candidates"])
        assert instance_from_document(document).layout.uncertain  # membership is checked as it is read
    assert boxes.settings.group_aware is False
    assert not any(name.startswith("group") for name in boxes.settings.features)


def test_tilts_have_the_chances_and_means_that_they_should() -> None:
    rng = np.random.default_rng(1)
    cells, points, classes = 200, 15, 3
    values = np.sort(rng.normal(60, 10, (cells, points)), axis=1)
    probs, pi = rng.dirichlet(np.ones(points), cells), rng.dirichlet(np.ones(classes), cells)
    effects = rng.normal(0, 1.5, (cells, classes))
    tilts = tilted(values, probs, pi, effects, ("a", "b"))
    for cell in range(cells):
        theta = tilts.theta(cell, values[cell])
        assert theta.sum(axis=1) == pytest.approx(1.0)
        found = probs[cell] @ theta
        assert found == pytest.approx(pi[cell] / pi[cell].sum(), abs=2e-4 if pi[cell].min() < 1e-4 else 1e-9)
        means = (probs[cell] * values[cell]) @ theta / found - probs[cell] @ values[cell]
        wanted = effects[cell] - pi[cell] @ effects[cell]
        scaled = float(means @ wanted / (wanted @ wanted))
        assert scaled <= 1 + 1e-6  # all scaled down together where the law cannot have such means
        assert means == pytest.approx(scaled * wanted, abs=1e-3)


def test_a_law_of_one_score_leaves_chances_as_they_are() -> None:
    tilts = tilted(
        np.full((1, 3), 5.0), np.array([[1.0, 0.0, 0.0]]), np.array([[0.3, 0.7]]), np.array([[2.0, -1.0]]), ("a", "b")
    )
    assert tilts.theta(0, np.array([5.0]))[0] == pytest.approx([0.3, 0.7])


def test_logit_finds_planted_coefficients() -> None:
    rng = np.random.default_rng(2)
    x = np.column_stack([np.ones(20_000), rng.normal(size=(20_000, 2))])
    b = np.array([[0.2, 0.0, -0.2], [1.0, -1.0, 0.0], [0.0, 0.5, -0.5]])
    eta = x @ b
    chance = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
    code = (rng.random((20_000, 1)) > np.cumsum(chance, axis=1)).sum(axis=1)
    found = multinomial_logit(x, np.eye(3)[code], np.full(3, 1e-3))
    assert found - found.mean(axis=1, keepdims=True) == pytest.approx(b - b.mean(axis=1, keepdims=True), abs=0.08)


@pytest.mark.parametrize("gap", [0.0, 6.0])
def test_effects_of_groups_are_found_where_they_are_and_shrunk_where_not(gap: float) -> None:
    rng = np.random.default_rng(3)
    n = 4000
    code = rng.integers(0, 2, n)
    folds = Folds("search", 5, rng.integers(0, 5, n), np.arange(n))
    chances = GroupChances(("a", "b"), code, np.full((n, 2), 0.5))
    effects = chances.effects(rng.normal(0, 10, n) + gap * (code == 1), np.ones(n), folds)
    assert effects[:, 1] - effects[:, 0] == pytest.approx(gap, abs=1.2)


def firm(cv_gap: float = 0.0, score_gap: float = 0.0) -> pd.DataFrame:
    """60 requisitions of 15; six are interviewed by their CV and two hired by their score."""
    rng, n = np.random.default_rng(7), 900
    group, search = rng.choice(["F", "M"], n), np.repeat(np.arange(60), 15)
    cv = np.round(rng.normal(50, 10, n) - cv_gap * (group == "F"))
    score = 25 + cv / 2 + rng.normal(0, 6, n) - score_gap * (group == "F")
    seen = pd.Series(cv + rng.normal(0, 3, n)).groupby(search).rank(ascending=False).to_numpy() <= 6
    hired = pd.Series(np.where(seen, score, -1.0)).groupby(search).rank(ascending=False).to_numpy() <= 2
    table = pd.DataFrame({"id": range(n), "req": search, "Gender": group, "CV Score": cv, "Cost": 1.0})
    table["Interviewed"], table["Hired"] = (np.where(yes, "Yes", "No") for yes in (seen, hired))
    return table.assign(**{"Interview Score": np.where(seen, score, np.nan)})


@pytest.mark.parametrize(("cv_gap", "score_gap"), [(0.0, 0.0), (5.0, 0.0), (0.0, 5.0)])
def test_groups_that_nothing_tells_apart_have_no_price(cv_gap: float, score_gap: float) -> None:
    fitted = auditkit.fit(firm(cv_gap, score_gap), group_aware=False)
    price = auditkit.solve(fitted.instance, ["parity"])
    told = "tells the groups of Gender apart" in " ".join(fitted.notices)
    if cv_gap or score_gap:
        assert fitted.alike == () and not told and price.ratio is not None and price.ratio < 0.99
    else:
        assert fitted.alike == ("Gender",) and told and price.ratio == pytest.approx(1)
        found = find_alternatives(fitted, {})
        assert found.found == () and "changes the rates" in found.left_out["Gender"]


def test_a_price_without_the_group_starts_at_nothing_unless_a_difference_is_beyond_chance() -> None:
    """Chance differences would have a price; so would those of groups that are told apart by noise alone."""
    for gaps, sure in (((0.0, 0.0), False), ((8.0, 3.0), True)):
        fitted = auditkit.fit(firm(*gaps), group_aware=False)
        entry = compare(fitted, [make(PLUGINS.constraints, {"type": "parity"})], PLUGINS.constraints).constrained[0]
        assert isinstance(entry.interval, PriceInterval) and entry.loss is not None
        low, high = entry.interval.loss
        assert (low > 0) == sure and low <= entry.loss < high


IMPUTED = {"membership": ["Sex: F", "Sex: M"]}


def test_probabilities_of_groups_in_the_data_are_read_as_membership() -> None:
    table = firm(5.0, 2.0)
    sure = table.assign(**{f"Sex: {g}": (table["Gender"] == g).astype(float) for g in "FM"})
    fitted = auditkit.fit(sure, map=IMPUTED, group_aware=False)
    layout = fitted.instance.layout
    assert layout.before("Sex") == pytest.approx(layout.before("Gender"), abs=0.01)
    assert "Sex" not in fitted.groups, "nobody's group is inferred"
    prices = [auditkit.solve(fitted.instance, [f"parity:by={name}"]).ratio for name in ("Gender", "Sex")]
    assert prices[0] == pytest.approx(prices[1], abs=0.005)
    vague = sure.assign(**{f"Sex: {g}": 0.25 + 0.5 * sure[f"Sex: {g}"] for g in "FM"})
    vague.loc[:4, "Sex: F"] = np.nan
    found = auditkit.alternatives(vague, map=IMPUTED, attributes=["Sex"]).found[0]
    assert (found.group, found.against) == ("F", "M") and found.aware == ()
    assert found.recorded_ratio is not None and 0 < found.recorded_ratio < 1 and found.blind[-1].utility is not None


def test_probabilities_that_cannot_be_are_refused_with_their_place() -> None:
    table = firm().assign(**{"Sex: F": 0.5, "Sex: M": 0.5})
    for value, said in (
        (0.9, "row 9, column 'Sex': has groups whose prob"),
        (1.2, "row 9, column 'Sex: F': contains a"),
    ):
        wrong = table.copy()
        wrong.loc[7, "Sex: F"] = value
        with pytest.raises(InputError, match=said):
            auditkit.fit(wrong, map=IMPUTED)
    with pytest.raises(InputError, match="does not say of which attribute"):
        auditkit.fit(table.rename(columns={"Sex: F": "chance"}), map={"membership": "chance"})


def test_a_group_that_scores_higher_is_likelier_given_a_high_score(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    n = 1200
    group = rng.choice(["F", "M"], n)
    cv = rng.normal(50, 10, n) + 4 * (group == "M")
    score = cv + rng.normal(0, 6, n) - 5 * (group == "F")
    table = pd.DataFrame({"id": range(n), "req": rng.integers(0, 60, n), "Gender": group, "CV Score": cv})
    table["Interviewed"] = np.where(cv > 45, "Yes", "No")
    table["Interview Score"] = np.where(cv > 45, score, np.nan)
    table["Hired"] = np.where((cv > 45) & (score > 60), "Yes", "No")
    table["Cost"] = 1.0
    table.to_csv(tmp_path / "a.csv", index=False)
    data = read(tmp_path / "a.csv", Config(), PLUGINS)
    fitted = fit(data, fitters=PLUGINS.fitters, group_aware=False)
    layout = fitted.instance.layout
    men = layout.protected["Gender"].names.index("M")
    theta = layout.kinds.membership["Gender"][:, men]
    highest, lowest = layout.kinds.ptr[:-1] + 1, layout.kinds.ptr[1:] - 1  # values fall
    assert (theta[highest] > theta[lowest]).mean() > 0.95
    before = layout.before("Gender")[:, men]
    prior = data.table["prior:CV Score"].to_numpy()[fitted.rows]
    assert np.corrcoef(before, prior)[0, 1] > 0.5  # a higher CV score is likelier a man's


def test_resampled_priors_have_membership_too(boxes: Fitted, chains: Fitted) -> None:
    for fitted in (boxes, chains):
        assert fitted.refit is not None
        times = np.ones(fitted.refit.searches, dtype=np.int64)
        same = fitted.refit.instance(fitted.instance, times, np.arange(8), moved=False)
        assert len(same.searches) == 8
        for own in (c for search in same.searches for c in search.candidates):
            shares = own.membership if hasattr(own, "membership") else own.states[0].membership
            assert set(shares) == set(fitted.instance.layout.protected)


def test_boxes_laid_out_by_arrays_are_those_of_the_objects(boxes: Fitted) -> None:
    layout = boxes.instance.layout
    other = Instance(boxes.instance.searches).layout
    np.testing.assert_array_equal(layout.candidate_ptr, other.candidate_ptr)
    for name in ("reward", "true_reward", "value_chance", "selecting"):
        np.testing.assert_array_equal(getattr(layout, name), getattr(other, name))
    for name, part in layout.protected.items():
        assert part.names == other.protected[name].names
        np.testing.assert_allclose(part.sizes, other.protected[name].sizes, rtol=1e-12)
        for code in range(len(part.names)):
            theirs = other.share(other.protected[name], code)
            np.testing.assert_allclose(layout.share(part, code), theirs, atol=1e-15)


@pytest.mark.parametrize("which", ["boxes", "chains"])
def test_rows_on_groups_known_by_their_probability_are_sums_over_shared_cells(
    which: str, request: pytest.FixtureRequest
) -> None:
    layout = request.getfixturevalue(which).instance.layout
    rows = bind([PLUGINS.constraints["parity"](), PLUGINS.constraints["impact-ratio"](on="inspection")], layout)
    assert len(rows) > 2 and all(isinstance(row, KindRow) and row.shared is not None for row in rows.rows)
    outcome = {"selection": layout.selecting, "inspection": np.isin(np.arange(layout.states), layout.start)}
    visits = np.random.default_rng(5).random(layout.states)

    def rate(meaning: Any, group: str) -> float:
        part = layout.protected[meaning.by]
        code = part.names.index(group)
        return float((layout.share(part, code) * outcome[meaning.on]) @ visits) / float(part.sizes[code])

    for row in rows.rows:
        told = row.meaning
        factor = getattr(told, "minimum", 1.0)
        assert row.value(visits) == pytest.approx(rate(told, told.group) - factor * rate(told, told.against), abs=1e-12)
        np.testing.assert_array_equal(row.at(row.states), row.coefficients)
    oracle = Oracle(layout, rows)
    duals = oracle.proper(np.random.default_rng(6).normal(0, 1e4, len(rows)))
    for policy in (Policy.at(duals), Policy.towards(duals / np.abs(duals).max())):
        sums, alone = oracle.blocks.of_policy(policy), Prepared.of_policy(layout, rows, policy).visits()
        again = oracle.blocks.of_visits(alone)
        np.testing.assert_allclose(sums.counts, again.counts, atol=1e-11)
        np.testing.assert_allclose(oracle.blocks.totals(oracle.blocks.values(sums)), rows.values(alone), atol=1e-13)
        levels = [(level.objective, tuple(level.duals)) for level in policy.levels]
        tol = [0.0] if len(levels) == 1 else None
        for a, b in block_pieces.ranges(oracle.blocks, 3) if tol else ():
            piece, own = block_pieces.cut(oracle.blocks, a, b), block_pieces.cut_rows(oracle.blocks, rows, a, b)
            utility, counts, _ = block_pieces.answer(piece, own, levels, tol or [])
            np.testing.assert_array_equal(utility, sums.utility[a:b])
            np.testing.assert_array_equal(counts, sums.counts[a:b])


@pytest.mark.parametrize("which", ["boxes", "chains"])
def test_inspections_at_another_value_of_a_point_are_those_of_the_best_search(
    which: str, request: pytest.FixtureRequest
) -> None:
    instance = request.getfixturevalue(which).instance
    more, _ = inspections(instance.layout)
    for value in (0.1, 1.0, 7.0):
        best = solve_once(with_value_scale(instance, value)).unconstrained
        assert more(value) == pytest.approx(float(best.inspected.sum()), rel=1e-11)
