"""Whether the score predicts the outcome: formulas written out independently, and sentences with planted truth."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import auditkit
from auditkit import pipeline
from auditkit.config import Config
from auditkit.data.privacy import protect
from auditkit.disparity.score_validity import ScoreValidity, score_validity
from auditkit.report import findings
from auditkit.report.build import words_of

N, SEARCHES = 900, 60
ROLES = {"score": "Interview Score", "outcome": "Performance Rating", "segment": "Department"}


@cache
def people(tells: float = 0.6, women: float = 0.0, slope: float = 0.0, seed: int = 4) -> pd.DataFrame:
    """A firm that hires the four highest scores of each requisition; `women` do better by so much at equal scores."""
    rng = np.random.default_rng(seed)
    search, sex = np.arange(N) % SEARCHES, rng.choice(["Female", "Male"], N)
    family = np.array(["Sales", "Legal"])[search % 2]
    score = 50 + 10 * rng.standard_normal(N) + 5 * (family == "Sales")
    standing = (score - score.mean()) / 10
    woman = sex == "Female"
    rating = tells * standing + 0.5 * rng.standard_normal(N) + woman * (women + slope * standing) + (family == "Legal")
    rank = pd.Series(score).groupby(search).rank(ascending=False).to_numpy()
    hired = rank <= 6
    return pd.DataFrame(
        {
            "Applicant ID": np.arange(N),
            "Requisition": [f"R{s}" for s in search],
            "Department": family,
            "Gender": sex,
            "Interview Score": score.round(2),
            "Hired": np.where(hired, "Yes", "No"),
            "Performance Rating": np.where(hired, (3 + rating).round(3).astype(str), ""),
        }
    )


def told(table: pd.DataFrame) -> str:
    protected = protect(auditkit.read(table, map=ROLES), 5)
    found = pipeline.measure(protected, Config())
    assert found is not None
    return " ".join(item.text for item in findings.of_disparities(found, words_of(protected)) if "score-" in item.code)


def of(table: pd.DataFrame, within: bool = True) -> ScoreValidity:
    found = score_validity(
        {"Gender": table["Gender"].to_numpy()},
        table["Department"].to_numpy() if within else None,
        pd.factorize(table["Requisition"])[0],
        table["Interview Score"].to_numpy(),
        pd.to_numeric(table["Performance Rating"]).to_numpy(),
        (table["Hired"] == "Yes").to_numpy(),
    )
    assert found is not None
    return found


def test_correlation_and_its_correction_by_formulas_written_out_again() -> None:
    table = people(women=0.3)
    found = of(table)
    chosen = table[table["Hired"] == "Yes"]
    dummies = pd.get_dummies(chosen["Department"]).to_numpy(dtype=float)
    s, y = chosen["Interview Score"].to_numpy(), pd.to_numeric(chosen["Performance Rating"]).to_numpy()
    rest = [x - dummies @ np.linalg.lstsq(dummies, x, rcond=None)[0] for x in (s, y)]
    n, r = len(chosen), stats.pearsonr(*rest).statistic
    assert found.correlation == pytest.approx(r, abs=1e-10)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(r) / np.sqrt((1 - r**2) / (n - 3)), n - 3), abs=1e-10)
    z = 0.5 * np.log((1 + r) / (1 - r)) + np.array([-1, 1]) * stats.norm.ppf(0.975) / np.sqrt(n - 4)
    ends = (np.exp(2 * z) - 1) / (np.exp(2 * z) + 1)
    assert (found.interval.lower, found.interval.upper) == pytest.approx(tuple(ends), abs=1e-10)
    every = pd.get_dummies(table["Department"]).to_numpy(dtype=float)
    all_s = table["Interview Score"].to_numpy()
    all_s = all_s - every @ np.linalg.lstsq(every, all_s, rcond=None)[0]
    u = np.sqrt((all_s**2).sum() / (N - 2)) / np.sqrt((rest[0] ** 2).sum() / (n - 2))
    assert found.correlation_of_all == pytest.approx(r * u / np.sqrt(r**2 * u**2 + 1 - r**2), abs=1e-10)
    assert found.correlation_of_all is not None and found.correlation_of_all > found.correlation > 0


def test_levels_and_slopes_are_those_of_leaving_out_one_requisition_at_a_time() -> None:
    table = people(women=0.3)
    (row,) = of(table).tables[0].groups
    chosen = table[table["Hired"] == "Yes"]
    s, y = chosen["Interview Score"].to_numpy(), pd.to_numeric(chosen["Performance Rating"]).to_numpy()
    other = (chosen["Gender"] == row.group).to_numpy(dtype=float)
    x = np.column_stack(
        [s - s.mean(), other, other * (s - s.mean()), pd.get_dummies(chosen["Department"]).to_numpy(float)]
    )

    def fit(rows: np.ndarray) -> np.ndarray:
        return np.linalg.lstsq(x[rows], y[rows], rcond=None)[0][1:3]

    names = chosen["Requisition"].unique()
    whole = fit(np.ones(len(s), dtype=bool))
    left = np.array([fit((chosen["Requisition"] != name).to_numpy()) - whole for name in names])
    errors = np.sqrt((len(names) - 1) / len(names) * (left**2).sum(axis=0))
    reach = stats.t.ppf(0.975, len(names) - 1) * errors
    assert (row.level, row.slope) == pytest.approx(tuple(whole), abs=1e-10)
    assert row.level_interval == pytest.approx((whole[0] - reach[0], whole[0] + reach[0]), abs=1e-10)
    assert row.slope_interval == pytest.approx((whole[1] - reach[1], whole[1] + reach[1]), abs=1e-10)
    first = of(table).adjusted[0]
    assert row.level_p is not None and row.slope_p is not None
    small, large = sorted([row.level_p, row.slope_p])
    assert sorted([first.level_p_adjusted or 0.0, first.slope_p_adjusted or 0.0]) == pytest.approx(
        [min(1.0, 2 * small), min(1.0, max(2 * small, large))], abs=1e-10
    )


def test_a_score_that_tells_and_tells_the_same_of_both() -> None:
    text = told(people())
    assert "Higher scores go with better later performance" in text
    assert "closer together" in text and "At equal scores no difference" in text
    assert "predict too" not in text and "A point of the score says" not in text


def test_a_score_that_predicts_too_little_for_women() -> None:
    text = told(people(women=0.6))
    assert "would predict too little for women" in text and "no difference" not in text
    assert "would predict too much for women" in told(people(women=-0.6))


def test_a_point_that_says_less_about_women() -> None:
    text = told(people(slope=-0.6))
    assert "A point of the score says less about later performance of women than of men" in text


def test_a_score_that_tells_nothing() -> None:
    text = told(people(tells=0.0, seed=5))
    assert "No relation between the score and later performance is found" in text and "scores go with" not in text


def test_nothing_is_said_without_outcomes_or_with_few() -> None:
    table = people()
    assert told(table.assign(**{"Performance Rating": ""})) == ""
    few = table.assign(**{"Performance Rating": table["Performance Rating"].where(np.arange(N) % 60 < 2, "")})
    assert told(few) == ""
