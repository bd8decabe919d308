"""From a history to an instance: what comes from where, what is said about it, and nobody's score in their prior."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditkit.data.firm_history import History
from auditkit.data.load import load
from auditkit.errors import InputError
from auditkit.fitting import priors
from auditkit.fitting.fitted import CannotFit, Fitted
from auditkit.fitting.fitter import Fitter, Laws, ScoreModel
from auditkit.fitting.folds import cross_fit, deal
from auditkit.fitting.priors import features_of, fit
from auditkit.model.documents import instance_from_document
from auditkit.model.layout import Floats
from auditkit.model.search import Box
from auditkit.solver import solve
from support.histories import FITTERS, history, known_world


def small(**columns: Any) -> History:
    """Twelve candidates in three searches; the second half of each was not inspected."""
    base: dict[str, Any] = {
        "search": ["x", "y", "z"] * 4,
        "group": ["A", "A", "B", "B", "A", "unknown"] * 2,
        "prior:cv": np.linspace(0, 1, 12),
        "score": [5.0, 6, 7, 8, 5, 6, 7, 9, 4, 6, np.nan, np.nan],
        "selected": [False, False, False, True, False, False, True, True, False, False, False, True],
        "inspected": [True] * 10 + [False, True],
    }
    return history(base | columns)


def fitted(data: History, **options: Any) -> Fitted:
    return fit(data, **{"fitters": FITTERS, "cost": 0.5} | options)


def test_the_instance_has_the_rows_of_each_search_in_order() -> None:
    result = fitted(small())
    searches = result.instance.searches
    assert [s.id for s in searches] == ["x", "y", "z"]
    assert result.rows.tolist() == [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]
    assert [c.id for s in searches for c in s.candidates] == [f"c{i}" for i in range(12)]
    groups = np.array(["A", "A", "B", "B", "A", "unknown"] * 2)[result.rows]
    assert [(dict(c.group)["Group"] or "unknown") for s in searches for c in s.candidates] == groups.tolist()
    assert result.instance.groups == ("A", "B", "unknown")
    assert result.instance.layout.candidate_search.tolist() == result.realised.search.tolist()
    means = [float(c.probs @ c.values) for s in searches for c in s.candidates if isinstance(c, Box)]
    assert result.expected == pytest.approx(means)


def test_what_the_firm_did() -> None:
    realised = fitted(small()).realised
    # x: rows 3 and 6 selected (8, 7), y: row 7 (9), z: row 11 without a score
    credit = realised.credited[-1]
    assert realised.selected.tolist() == [
        False,
        True,
        True,
        False,
        False,
        False,
        True,
        False,
        False,
        False,
        False,
        True,
    ]
    assert np.isnan(realised.value[-1]) and realised.without_score == 1
    assert realised.by_search == pytest.approx([15 - 4 * 0.5, 9 - 3 * 0.5, credit - 4 * 0.5])
    assert realised.utility == pytest.approx(realised.by_search.sum())
    assert realised.unfilled_capacity == 0 and realised.long_term_utility is None
    with pytest.raises(ValueError, match="read-only"):
        realised.cost[0] = 7


def test_value_scale_turns_scores_into_money() -> None:
    one, ten = fitted(small()), fitted(small(), value_scale=10, cost=5)
    assert ten.realised.utility == pytest.approx(10 * one.realised.utility)
    assert ten.expected == pytest.approx(10 * one.expected)
    best = [solve(f.instance).unconstrained.utility for f in (one, ten)]
    assert best[1] == pytest.approx(10 * best[0])


def test_capacity_comes_from_the_data_the_option_or_the_number_selected() -> None:
    selected = fitted(small())
    assert selected.realised.capacity.tolist() == [2, 1, 1] and selected.settings.capacity == "selected"
    assert any("as many positions as it filled" in notice for notice in selected.notices)
    option = fitted(small(), capacity=1)
    assert option.realised.capacity.tolist() == [2, 1, 1]
    assert any("one search filled more positions" in notice for notice in option.notices)
    data = fitted(small(capacity=[3, 9, 1] * 4), capacity=1)
    assert data.realised.capacity.tolist() == [3, 4, 1] and data.realised.unfilled_capacity == 4
    assert any("5 positions are left out" in notice for notice in data.notices)
    none = fitted(small(selected=[i == 0 for i in range(12)]))
    assert none.realised.capacity.tolist() == [1, 0, 0]
    assert any("2 searches had no position" in notice for notice in none.notices)


def test_declined_offers_fill_no_position() -> None:
    declined = [i == 7 for i in range(12)]
    result = fitted(small(declined=declined))
    assert result.realised.offered.sum() == 4 and result.realised.selected.sum() == 3
    assert result.realised.capacity.tolist() == [2, 1, 1] and result.realised.unfilled_capacity == 1
    assert any("1 declined an offer" in notice for notice in result.notices)


def test_withdrawn_and_open_applications_leave_the_instance() -> None:
    result = fitted(small(withdrawn=[i == 1 for i in range(12)], pending=[i in (2, 10) for i in range(12)]))
    assert 1 not in result.rows and 2 not in result.rows and len(result.rows) == 9
    assert any("1 withdrawn and 2 pending applications" in n and "2 inspections" in n for n in result.notices)


def test_costs_come_from_the_data_or_the_option_or_are_one_inspection() -> None:
    for nothing in (small(), small(cost=[np.nan] * 12)):
        unit = fitted(nothing, cost=None)
        assert set(unit.realised.cost) == {1.0} and unit.settings.cost == "inspection"
        assert any("the unit of value is one inspection" in notice for notice in unit.notices)
    with pytest.raises(InputError, match="no stages"):
        fitted(small(), cost={"phone": 1.0})
    with pytest.raises(InputError, match="not a finite number"):
        fitted(small(), cost=float("inf"))
    gaps = [1.0, 2, 3, np.nan, 2, 3] * 2
    own = fitted(small(cost=gaps), cost=None)
    assert own.realised.cost[[0, 4, 8]].tolist() == [1, 2, 3]
    assert own.realised.cost[1] == 1.0, "the mean of its search"
    assert any("2 candidates have no cost" in notice for notice in own.notices)
    filled = fitted(small(cost=gaps), cost=7.0)
    assert filled.realised.cost[1] == 7 and not any("no cost" in notice for notice in filled.notices)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": None}, "there is no score.*--map score"),
        ({"score": [1.0] * 4 + [np.nan] * 8}, "only 4 candidates have a score"),
        (
            {"score": [5.0, 6, 7, 8, 5, 6, 7, 9, 4] + [np.nan] * 3},
            "only 9 candidates have a score; priors need at least 10",
        ),
        ({"candidate": ["same"] * 12}, "one person"),
        ({"pending": [True] * 12}, "no application has been decided"),
        ({"selected": None}, "who was selected"),
    ],
)
def test_data_that_support_no_model_say_so(change: dict[str, Any], message: str) -> None:
    data = small(**{k: v for k, v in change.items() if v is not None})
    for column in [k for k, v in change.items() if v is None]:
        del data.table[column]
    with pytest.raises(CannotFit, match=message):
        fitted(data)


def test_wrong_settings_are_all_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        fitted(small(), fitter="emprical", folds=1, value_scale=0, points=1, capacity=-1)
    text = str(caught.value)
    assert "did you mean 'empirical'" in text and all(
        w in text for w in ("folds", "value-scale", "points", "--capacity")
    )


def test_priors_of_a_very_large_file_have_fewer_points_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fitted(small()).settings.fitter_settings["points"] == priors.POINTS
    monkeypatch.setattr(priors, "MOST_STATES", 12 * 9)
    few = fitted(small())
    assert few.settings.fitter_settings["points"] == 9
    assert any("9 support points" in notice for notice in few.notices)
    assert fitted(small(), points=30).settings.fitter_settings["points"] == 30


def test_a_fitter_with_wrong_laws_is_named() -> None:
    class Lazy(Fitter):
        name = "lazy"

        def train(self, features: pd.DataFrame, scores: Floats, weights: Floats) -> ScoreModel:
            class Model(ScoreModel):
                def laws(self, features: pd.DataFrame) -> Laws:
                    return Laws(np.zeros((1, 1)), np.ones((1, 1)), np.zeros(1, dtype=np.int64))

            return Model()

    with pytest.raises(InputError, match=r"fitter 'lazy'.*1 for \d+ candidates"):
        fitted(small(), fitter="lazy", fitters={"lazy": Lazy})


# Nobody's own score enters their prior --------------------------------------------------------------------------------


@pytest.mark.parametrize("fitter", ["empirical", "normal"])
@pytest.mark.parametrize("one_search", [False, True])
def test_changing_a_score_leaves_that_candidates_prior_alone(fitter: str, one_search: bool) -> None:
    data, _ = known_world(160, 5)
    if one_search:
        data.table["search"] = "all"
    data.table.loc[40, "candidate"] = data.table.loc[10, "candidate"]  # one person in two searches
    before = fitted(data, fitter=fitter)
    place = {int(row): i for i, row in enumerate(before.rows)}
    others = 0
    for row in (10, 40, 100, 159):
        data.table.loc[row, ["score", "inspected"]] = [60.0, True]
    scored_before = fitted(data, fitter=fitter)
    for row in (10, 159):
        table = data.table.copy()
        table.loc[row, "score"] = -40.0
        after = fitted(History(table, *[getattr(data, f) for f in list(data.__dataclass_fields__)[1:]]), fitter=fitter)
        assert _law(after, place[row]) == _law(scored_before, place[row])
        if row == 10:
            assert _law(after, place[40]) == _law(scored_before, place[40]), "the same person elsewhere"
        changed = after.expected != scored_before.expected
        others += int(changed.sum())
    assert others > 100, "everyone else's prior may well change"


def _law(result: Fitted, i: int) -> tuple[list[float], list[float]]:
    box = [c for s in result.instance.searches for c in s.candidates][i]
    assert isinstance(box, Box)
    return box.values.tolist(), box.probs.tolist()


def test_cross_fitting_takes_the_laws_of_a_fold_from_the_others() -> None:
    data, _ = known_world(400, 2)
    table, features = data.table, features_of(data)
    scores = table["score"].to_numpy()
    scored = ~np.isnan(scores)
    folds = deal(table["search"], table["candidate"], scored, 4)
    kind = FITTERS["normal"](points=15)
    laws = cross_fit(kind, features, scores, scored.astype(float), folds)
    for f in range(4):
        inside = np.flatnonzero(folds.fold == f)
        training = np.flatnonzero(scored & (folds.fold != f))
        direct = kind.train(features.iloc[training], scores[training], np.ones(len(training))).laws(
            features.iloc[inside]
        )
        assert laws.means[inside] == pytest.approx(direct.means)


def test_equal_candidates_share_their_arrays() -> None:
    rng = np.random.default_rng(0)
    data = history(
        {
            "search": [f"r{i // 10}" for i in range(400)],
            "group": rng.choice(["A", "B"], 400),
            "prior:level": rng.integers(0, 3, 400).astype(float),
            "score": rng.normal(size=400),
        }
    )
    boxes = [c for s in fitted(data).instance.searches for c in s.candidates]
    assert len({id(box.values) for box in boxes if isinstance(box, Box)}) <= 5 * 2 * 3
    for box in boxes[:50]:
        assert isinstance(box, Box) and not box.values.flags.writeable
        again = Box(box.id, box.group, box.cost, box.values, box.probs)  # as strict as any other box
        assert again.probs == pytest.approx(box.probs, abs=1e-15)


# Outcomes, expenses, files --------------------------------------------------------------------------------------------


def with_outcomes(n: int = 1200) -> History:
    data, _ = known_world(n, 9)
    rng = np.random.default_rng(1)
    table = data.table
    table["selected"] = table["score"].groupby(table["search"]).rank(ascending=False) <= 4
    better = np.where(table["group"] == "F", 1.5, 0.0)
    table["outcome"] = np.where(table["selected"], table["score"] + better + 0.3 * rng.normal(size=n), np.nan)
    table["expense:travel"] = np.where(np.arange(n) == 3, np.nan, 2.0)
    return data


def test_outcomes_yield_long_term_utilities() -> None:
    result = fitted(with_outcomes(), outcome_scale="given")
    assert result.true_value is not None and result.realised.true is not None
    effects = result.true_value.effects
    assert effects["F"] - effects["M"] == pytest.approx(1.5, abs=0.2)
    layout = result.instance.layout
    assert layout.has_true_rewards
    better = np.array([dict(c.group)["Group"] == "F" for s in result.instance.searches for c in s.candidates])
    gain = result.realised.true - result.realised.credited
    assert gain[better].mean() - gain[~better].mean() > 1
    long_term, short = result.realised.long_term_utility, result.realised.utility
    assert long_term is not None and long_term > short
    best = solve(result.instance).unconstrained.long_term_utility
    assert best is not None and best > long_term
    matched = fitted(with_outcomes())
    assert any("rescaled" in notice for notice in matched.notices)


def test_too_few_outcomes_are_said() -> None:
    data = small(outcome=[3.0] * 12)
    result = fitted(data)
    assert result.true_value is None and any("3 hired have both" in notice for notice in result.notices)
    assert not result.instance.layout.has_true_rewards


def test_expenses_become_attributes() -> None:
    result = fitted(with_outcomes(100))
    candidates = [c for s in result.instance.searches for c in s.candidates]
    assert candidates[0].attributes == {"travel": 2.0} and candidates[3].attributes == {}


def test_the_document_is_the_instance() -> None:
    result = fitted(with_outcomes(400))
    document = result.instance.to_json()
    again = instance_from_document(document)
    assert again.to_json() == document
    assert solve(again).unconstrained.utility == pytest.approx(solve(result.instance).unconstrained.utility)


def test_settings_and_quality_are_plain_json() -> None:
    import json

    result = fitted(with_outcomes(400), propensity=True)
    text = json.dumps([asdict(result.settings), asdict(result.quality)], allow_nan=False)
    assert '"propensity": true' in text and '"folds_of": "search"' in text


def test_a_file_goes_all_the_way(tmp_path: Path) -> None:
    data, _ = known_world(300, 4)
    table = data.table
    rows = pd.DataFrame(
        {
            "Candidate ID": table["candidate"],
            "Requisition": table["search"],
            "Gender": table["group"],
            "CV score": table["prior:cv"].round(3),
            "Interview score": table["score"].round(3),
            "Hired": np.where(table["selected"], "yes", "no"),
        }
    )
    rows.to_csv(tmp_path / "people.csv", index=False)
    result = fitted(load(tmp_path / "people.csv"))
    assert len(result.rows) == 300 and result.settings.features == ("group", "CV score")
    assert solve(result.instance).unconstrained.utility > result.realised.utility > 0


def test_only_the_group_is_known() -> None:
    data = history({"search": [f"r{i // 5}" for i in range(50)], "score": np.arange(50) % 7.0})
    result = fitted(data)
    assert any("but their group" in notice for notice in result.notices)
    assert np.isfinite(solve(result.instance).unconstrained.utility)
