"""What the firm's decisions and scores say: against statsmodels, every outcome, and firms with known laws."""

from __future__ import annotations

import copy
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, stats
from statsmodels.discrete.conditional_models import ConditionalLogit as Reference

from auditkit import pipeline
from auditkit.compare.firm_decisions import firm_decisions, standings_of
from auditkit.compare.firm_gain import Against, OwnSearch, firm_search
from auditkit.compare.revealed import revealed
from auditkit.config import Config
from auditkit.data.firm_history import History
from auditkit.fitting.clustered import clustered, mills, probit, wald
from auditkit.fitting.conditional_logit import Choices
from auditkit.fitting.fitted import Fitted
from auditkit.fitting.hidden_information import hidden_information, rival_distance
from auditkit.fitting.priors import fit
from auditkit.fitting.score_meaning import score_meanings
from auditkit.fitting.separated_choices import ranges
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Chain, Search
from auditkit.model.variants import with_shift
from auditkit.solver import solve
from auditkit.verification.verify_report import verify_report
from support.audit_helpers import fitted as as_if_fitted
from support.audit_helpers import plugins, random_instance
from support.histories import FITTERS, history
from support.sampling import examples

# Statistics -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_conditional_logit_is_that_of_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stratum, x = np.repeat(np.arange(30), 12), rng.normal(size=(360, 3))
    worth = x @ [1.0, -0.5, 0.3] + rng.gumbel(size=360)
    chosen = np.zeros(360, dtype=np.bool_)
    for s in range(30):  # from nobody to everybody
        rows = np.flatnonzero(stratum == s)
        chosen[rows[np.argsort(-worth[rows])[: rng.integers(0, 13)]]] = True
    found = Choices(chosen, stratum).fit(x)
    with pytest.warns(Warning, match="Dropped"):
        model = Reference(chosen.astype(float), x, groups=stratum)
    assert found.converged
    assert found.log_likelihood == pytest.approx(model.loglike(found.coefficients), abs=1e-9)
    assert model.score(found.coefficients) == pytest.approx(np.zeros(3), abs=1e-5)
    expected = model.fit(disp=False)
    assert found.coefficients == pytest.approx(expected.params, abs=1e-3)
    assert found.covariance == pytest.approx(expected.cov_params(), rel=0.01, abs=1e-4)


@examples(30)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 7), k=st.integers(1, 6))
def test_the_likelihood_sums_over_all_sets(seed: int, n: int, k: int) -> None:
    k = min(k, n - 1)
    rng = np.random.default_rng(seed)
    x, b = rng.normal(size=(n, 2)), rng.normal(size=2) * 3
    chosen = np.zeros(n, dtype=np.bool_)
    chosen[:k] = True
    weights = np.exp(x @ b)
    sets = {some: np.prod(weights[list(some)]) for some in itertools.combinations(range(n), k)}
    value, slope, _ = Choices(chosen, np.zeros(n, dtype=np.int64)).likelihood(x, b)
    assert value == pytest.approx(np.log(sets[tuple(range(k))] / sum(sets.values())), abs=1e-9)
    mean = sum(p * x[list(some)].sum(axis=0) for some, p in sets.items()) / sum(sets.values())
    assert slope == pytest.approx(x[:k].sum(axis=0) - mean, abs=1e-8)


def test_choices_without_exception_have_no_maximum() -> None:
    x = np.random.default_rng(1).normal(size=(200, 1))
    stratum = np.repeat(np.arange(20), 10)
    best = np.argsort(np.argsort(-x[:, 0].reshape(20, 10), axis=1), axis=1).ravel() < 3
    assert not Choices(best, stratum).fit(x).converged


@pytest.mark.parametrize("seed", range(6))
def test_choices_without_exception_leave_a_range_of_shifts(seed: int) -> None:
    """Ends by brute force over all pairs, their slopes by moving the standing."""
    rng = np.random.default_rng(seed)
    n, groups = 300, 2 + seed % 2
    search, group, standing = np.arange(n) // 10, rng.integers(0, groups, n), rng.normal(0, 5, n)
    true = np.array([0.0, -3.0, 1.5])[:groups]
    place = np.argsort(np.lexsort((-(standing + true[group]), search))) % 10
    taken = place < 4
    member = (group[:, None] == np.arange(1, groups)).astype(np.float64)

    def holds(d: Any, at: Any) -> bool:
        worth = at + member @ np.asarray(d)
        return all(worth[(search == s) & taken].min() >= worth[(search == s) & ~taken].max() for s in range(30))

    found = ranges(standing, member, taken, search)
    assert found is not None
    for column, ends in enumerate(found):
        assert ends is not None
        low, high = ends
        assert low.value <= true[column + 1] <= high.value
        if groups == 2:
            assert holds([low.value + 1e-6], standing) and not holds([low.value - 1e-6], standing)
            assert holds([high.value - 1e-6], standing) and not holds([high.value + 1e-6], standing)
        move = rng.normal(0, 1e-4, n)
        again = ranges(standing + move, member, taken, search)
        assert again is not None and again[column] is not None
        for end, other in zip(ends, again[column], strict=True):
            assert other.value - end.value == pytest.approx(end.slope @ move, abs=1e-9)
    one = int(np.flatnonzero(taken)[0])
    wrong = taken.copy()
    wrong[one] = False
    worst = int(np.argmin(np.where(search == search[one], standing + true[group], np.inf)))
    wrong[worst] = True
    assert holds(true[1:], standing) and ranges(standing, member, wrong, search) is None


def test_least_squares_and_probit_are_those_of_statsmodels() -> None:
    rng = np.random.default_rng(5)
    cluster = np.repeat(np.arange(25), 8)
    x = np.column_stack([np.ones(200), rng.normal(size=(200, 2))])
    y = x @ [1.0, 2.0, 0.0] + rng.normal(size=25)[cluster] + rng.normal(size=200)
    found = clustered(x, y, cluster)
    expected = sm.OLS(y, x).fit()
    assert found.coefficients == pytest.approx(expected.params)
    without = [sm.OLS(y[cluster != s], x[cluster != s]).fit().params - expected.params for s in range(25)]
    assert found.covariance == pytest.approx(24 / 25 * sum(np.outer(d, d) for d in without))
    sandwich = sm.OLS(y, x).fit(cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True)
    assert np.diag(found.covariance) == pytest.approx(np.diag(sandwich.cov_params()), rel=0.2)
    assert found.p(np.eye(3)[1]) == pytest.approx(
        2 * stats.t.sf(abs(expected.params[1]) / found.error(np.eye(3)[1]), 24)
    )
    yes = (x @ [0.2, 0.8, -0.4] + rng.normal(size=200) > 0).astype(np.float64)
    b = probit(x, yes)
    assert b is not None
    assert b == pytest.approx(sm.Probit(yes, x).fit(disp=False).params, abs=1e-5)
    assert probit(x, (x[:, 1] > 0).astype(np.float64)) is None
    assert mills(np.array([0.0, -30.0])) == pytest.approx([np.sqrt(2 / np.pi), 30.0333], rel=1e-4)


@pytest.mark.parametrize("columns", [[3], [2, 3], [1, 3, 4]])
def test_the_test_of_several_coefficients_is_hotellings(columns: list[int]) -> None:
    """Against the definition, with every matrix written out."""
    rng = np.random.default_rng(len(columns))
    cluster = rng.integers(0, 14, size=120)
    x = np.column_stack([np.ones(120), rng.normal(size=(120, 2)), rng.random((120, 2)) < 0.2]).astype(np.float64)
    y = x @ [1.0, 2.0, 0.3, 0.6, 0.0] + rng.normal(size=14)[cluster] + rng.normal(size=120)
    inverse = np.linalg.inv(x.T @ x)
    off = np.eye(120) - x @ inverse @ x.T
    unit = np.linalg.inv(linalg.sqrtm(inverse[np.ix_(columns, columns)]))
    parts = []
    for s in range(14):
        rows = np.flatnonzero(cluster == s)
        root = np.linalg.inv(linalg.sqrtm(off[np.ix_(rows, rows)]))
        parts.append(unit @ inverse[columns] @ x[rows].T @ root @ off[rows])
    variance = 0.0
    for one, other in itertools.product(parts, repeat=2):
        both = one @ other.T
        variance += np.trace(both) ** 2 + np.trace(both @ both)
    q = len(columns)
    eta = q * (q + 1) / variance
    moved = [part @ y for part in parts]
    b = unit @ sm.OLS(y, x).fit().params[columns]
    statistic = b @ np.linalg.inv(sum(np.outer(m, m) for m in moved)) @ b
    expected = stats.f.sf((eta - q + 1) / (eta * q) * statistic, q, eta - q + 1)
    assert wald(x, y, cluster, np.array(columns)) == pytest.approx(expected)
    # the same in other units, and with a column that says nothing new
    other = np.column_stack([x * [1.0, 1e4, 1e-3, 7.0, 1.0], x[:, 0]])
    if 1 not in columns:
        other[:, 1] += 5.0
    assert wald(other, 3 * y, cluster, np.array(columns)) == pytest.approx(expected)
    assert wald(x, y, np.minimum(cluster, 1), np.array([1, 3, 4])) is None


# The firm's own search ------------------------------------------------------------------------------------------------


def expected_of_best(boxes: list[Box], k: int) -> float:
    """E of the sum of the k largest positive values, over every outcome."""
    total = 0.0
    for draw in itertools.product(*(range(len(box.values)) for box in boxes)):
        chance = np.prod([box.probs[j] for box, j in zip(boxes, draw, strict=True)])
        values = sorted((float(box.values[j]) for box, j in zip(boxes, draw, strict=True)), reverse=True)
        total += float(chance) * sum(max(0.0, v) for v in values[:k])
    return total


def with_inspected(fit: Fitted, inspected: Any) -> Fitted:
    return replace(fit, realised=replace(fit.realised, inspected=np.asarray(inspected)))


@examples(25)
@given(seed=st.integers(0, 10_000), capacity=st.integers(1, 2))
def test_the_firms_own_search_is_worth_what_every_outcome_says(seed: int, capacity: int) -> None:
    instance = random_instance(seed, searches=3, candidates=4, capacity=capacity)
    who = np.random.default_rng(seed).random(12) < 0.6
    fit = with_inspected(as_if_fitted(instance), who)
    found = OwnSearch.of(fit)
    worth = 0.0
    for s, search in enumerate(instance.searches):
        own = [box for box, seen in zip(search.candidates, who[4 * s : 4 * s + 4], strict=True) if seen]
        boxes = [box for box in own if isinstance(box, Box)]
        worth += expected_of_best(boxes, capacity) - sum(box.cost for box in boxes)
    assert found.worth == pytest.approx(worth, abs=1e-9)
    gain = firm_search(fit, ()).unconstrained
    assert gain.gain == pytest.approx(solve(instance).unconstrained.utility - worth, abs=1e-8)
    assert gain.gain >= -1e-9
    assert gain.parts.positions + gain.parts.cost + gain.parts.quality == pytest.approx(gain.gain, abs=1e-9)
    changes = gain.by_group["group"]
    outcome = solve(instance).unconstrained
    assert sum(c.inspected for c in changes.values()) == pytest.approx(outcome.inspected.sum() - who.sum())
    assert sum(c.selected for c in changes.values()) == pytest.approx(outcome.selected.sum() - found.selected.sum())


def staged_history(searches: int = 12, each: int = 6, seed: int = 3) -> History:
    """Phone, then onsite with a score, then hired."""
    rng = np.random.default_rng(seed)
    n = searches * each
    cv, search = rng.normal(size=n), np.repeat(np.arange(searches), each)
    phone = rng.random(n) < 0.8
    passed = phone & (rng.random(n) < 0.7)
    onsite = passed & (rng.random(n) < 0.9)
    score = np.where(onsite, 5 + cv + rng.normal(size=n), np.nan)
    best = pd.Series(score).groupby(search).rank(ascending=False, method="first").to_numpy() <= 1
    table = {
        "search": [f"r{s}" for s in search],
        "group": np.where(rng.random(n) < 0.5, "A", "B"),
        "prior:cv": cv,
        "score": score,
        "selected": best,
        "inspected": phone,
        "stage:phone": pd.array(phone, dtype="boolean"),
        "passed:phone": pd.array(np.where(phone, passed, None), dtype="boolean"),
        "stage:onsite": pd.array(onsite, dtype="boolean"),
        "passed:onsite": pd.array(np.where(onsite, best, None), dtype="boolean"),
    }
    return history(table, ("phone", "onsite"), "onsite")


def test_of_chains_the_recorded_stages_stand() -> None:
    """Against an instance in which only those who came so far are left, beginning at that stage, nothing to pay."""
    found = fit(staged_history(), fitters=FITTERS, cost={"phone": 0.2, "onsite": 0.5}, points=4)
    layout, reached = found.instance.layout, found.realised.reached
    search = firm_search(found, ())
    worths = [solve(found.instance).unconstrained.utility]
    for stage, sunk in (("phone", 0.2), ("onsite", 0.7)):
        left = []
        for s, own in enumerate(found.instance.searches):
            chains = []
            for place, chain in enumerate(own.candidates, start=int(layout.search_ptr[s])):
                assert isinstance(chain, Chain)
                if reached[stage][place]:
                    later = [t for t in chain.states if stage == "phone" or t.name != "phone"]
                    states = [replace(t, reward=0.0) if t.name == stage else t for t in later]
                    chains.append(Chain(chain.id, chain.group, stage, tuple(states)))
            if chains:
                left.append(Search(own.id, min(own.capacity, len(chains)), tuple(chains)))
        cost = 0.2 * reached["phone"].sum() + (0.5 * reached["onsite"].sum() if sunk > 0.5 else 0.0)
        paid = cost if stage == "phone" else 0.7 * reached["onsite"].sum()
        worths.append(solve(Instance(tuple(left))).unconstrained.utility - paid)
        if stage == "onsite":  # who was screened and failed has cost something too
            worths[-1] -= 0.2 * (reached["phone"].sum() - reached["onsite"].sum())
    assert [step for step, _ in search.steps] == ["phone", "onsite"]
    assert [gain for _, gain in search.steps] == pytest.approx(-np.diff(worths), abs=1e-8)
    assert search.utility == pytest.approx(worths[-1], abs=1e-8)
    assert sum(gain for _, gain in search.steps) == pytest.approx(search.unconstrained.gain, abs=1e-8)


def test_a_shift_moves_values_and_nothing_else() -> None:
    instance = random_instance(4, searches=2, candidates=3)
    moved = with_shift(instance, "X", 2.0)
    laid = Instance(moved.searches).layout
    assert moved.layout.reward == pytest.approx(laid.reward)
    changed = moved.layout.reward - instance.layout.reward
    member = instance.layout.candidate_group[instance.layout.state_candidate] == instance.layout.groups.index("X")
    assert changed == pytest.approx(np.where(member & instance.layout.selecting, 2.0, 0.0))


# Known firms ----------------------------------------------------------------------------------------------------------


def firm(
    seed: int, *, searches: int = 60, each: int = 20, bias: float = 0.0, gap: float = 0.0, hidden: float = 0.0
) -> History:
    """Scores 50 + 5 cv + 2 years + 8 z - gap for B; B is read with `bias` points and, in part, by its own z."""
    rng = np.random.default_rng(seed)
    n = searches * each
    cv, years, z = rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)
    group = np.where(rng.random(n) < 0.4, "B", "A")
    known = 5 * cv + 2 * years
    read = known + (group == "B") * (bias + hidden * z) + 3 * rng.normal(size=n)
    search = np.repeat(np.arange(searches), each)
    order = pd.Series(read).groupby(search).rank(ascending=False)
    inspected = order.to_numpy() <= rng.integers(4, 7, searches)[search]
    score = np.where(inspected, 50 + known + 8 * z - gap * (group == "B"), np.nan)
    made = history(
        {
            "search": [f"r{s}" for s in search],
            "group": group,
            "group:Group": group,
            "prior:cv": cv,
            "prior:years": years,
            "score": score,
            "step:seen": inspected,
        }
    )
    return replace(made, attributes=("Group",), steps=("seen",))


def shift_of(data: History) -> Any:
    found = revealed(data, standings_of(data), (), 1.0)
    (step,) = found.steps
    (shift,) = step.shifts
    assert (shift.group, shift.reference, step.standing) == ("B", "A", "priors")
    return shift


def test_an_injected_bias_is_recovered_and_none_is_invented() -> None:
    """`make validity` has the coverage over more firms; these are the first seeds."""
    for bias in (0.0, -3.0):
        shifts = [shift_of(firm(seed, bias=bias, gap=2.0)) for seed in range(8)]
        assert np.mean([s.shift for s in shifts]) == pytest.approx(bias, abs=0.4)
        assert sum(s.interval[0] <= bias <= s.interval[1] for s in shifts) >= 7
        # at equal expected scores those of B, who score 2 lower, are read as if 2 points better
        assert np.mean([s.equal_expectation for s in shifts]) == pytest.approx(bias + 2.0, abs=1.0)
        assert all(s.equal_expectation_interval[1] - s.equal_expectation_interval[0] > 1 for s in shifts)


@pytest.mark.parametrize("bias", [0.0, -4.0])
def test_a_bias_of_one_step_is_found_where_the_highest_scores_are_taken(bias: float) -> None:
    made = firm(3)
    table = made.table.copy()
    seen, score = table["step:seen"].to_numpy(dtype=bool), table["score"].to_numpy(dtype=float)
    worth = np.where(seen, score + bias * (table["group:Group"] == "B"), -np.inf)
    best = pd.Series(worth).groupby(table["search"].to_numpy()).rank(ascending=False, method="first").to_numpy() <= 2
    table["step:hired"] = best & seen
    data = replace(made, table=table, steps=("seen", "hired"))
    first, second = revealed(data, standings_of(data), (), 1.0).steps
    assert first.slope is not None and second.slope is None
    assert (second.standing, second.searches) == ("score", first.searches)
    (shift,) = second.shifts
    assert shift.interval[0] < bias < shift.interval[1]
    assert shift.interval[1] - shift.interval[0] < 3 and shift.shift == pytest.approx(bias, abs=1.5)
    assert shift.equal_expectation is None


def test_hidden_information_is_found_where_it_is() -> None:
    def verdicts(hidden: float) -> list[str]:
        found = []
        for seed in range(6):
            data = firm(seed, searches=100, hidden=hidden)
            known = standings_of(data)
            assert known is not None
            groups = {"Group": data.table["group"].to_numpy()}
            (test,) = hidden_information(known, groups, data.table["score"].to_numpy())
            found.append(test.verdict)
        return found

    assert verdicts(0.0).count("found") <= 1
    assert verdicts(8.0).count("found") >= 4


def test_the_distance_is_to_the_rival_whose_place_is_at_stake() -> None:
    standing = np.array([3.0, 1.0, 2.0, 0.0, 5.0])
    seen = np.array([True, True, False, False, True])
    search = np.array([0, 0, 0, 0, 1])
    found = rival_distance(standing, seen, search)
    for i in range(4):
        rivals = sorted(np.delete(standing[:4], i), reverse=True)
        assert found[i] == standing[i] - rivals[1]
    assert np.isnan(found[4])


def test_meaning_of_scores_is_the_regression_of_statsmodels() -> None:
    data = firm(2, searches=120, gap=3.0)
    table = data.table
    scores = table["score"].to_numpy()
    known = standings_of(data)
    assert known is not None
    search = known.search
    family = np.array(["x", "y", "z"])[search % 3]
    groups = {"Group": table["group"].to_numpy()}
    found = score_meanings(groups, family, search, scores, known.values)
    assert [t.predicts for t in found.tables] == ["score"] and found.left_out == ()
    (row,) = found.tables[0].groups
    seen = ~np.isnan(scores) & ~np.isnan(known.values)
    s = known.values[seen] - known.values[seen].mean()
    b = (table["group"][seen] == row.group).to_numpy().astype(float)
    x = np.column_stack([s, b, b * s, pd.get_dummies(family[seen]).to_numpy(dtype=float)])
    expected = sm.OLS(scores[seen], x).fit(cov_type="cluster", cov_kwds={"groups": search[seen]}, use_t=True)
    assert (row.level, row.slope) == pytest.approx(tuple(expected.params[1:3]))
    assert row.level_interval == pytest.approx(tuple(expected.conf_int()[1]), rel=0.1)
    assert row.slope_p == pytest.approx(expected.pvalues[2], abs=0.1)
    few = score_meanings(groups, family, search, scores, None)
    assert few.tables == () and len(few.left_out) == 1


def test_the_interval_of_the_gain_holds_that_of_the_true_laws() -> None:
    inside = 0
    for seed in range(6):
        data = firm(seed, searches=30, gap=2.0)
        found = fit(data, fitters=FITTERS, fitter="normal", cost=1.0, capacity=2)
        table = data.table.iloc[found.rows]
        mean = 50 + 5 * table["prior:cv"] + 2 * table["prior:years"] - 2 * (table["group"] == "B")
        z = np.asarray(found.instance.searches[0].candidates[0].values)  # type: ignore[union-attr]
        z = (z - z.mean()) / z.std()
        layout = found.instance.layout
        boxes = [Box(f"c{i}", "A", 1.0, m + 8 * z, np.full(len(z), 1 / len(z))) for i, m in enumerate(mean.to_numpy())]
        true = Instance(
            tuple(
                Search(name, 2, tuple(boxes[a:b]))
                for name, a, b in zip(layout.search_ids, layout.search_ptr, layout.search_ptr[1:])
            )
        )
        gain = firm_search(found, (), standings_of(data)).unconstrained
        truth = firm_search(replace(found, instance=true), ()).unconstrained
        assert gain.interval is not None and truth.interval is None
        inside += gain.interval[0] <= truth.gain <= gain.interval[1]
    assert inside >= 5


def test_too_little_data_is_said() -> None:
    data = firm(1, searches=3, each=8)
    found = fit(data, fitters=FITTERS, cost=1.0)
    decisions = firm_decisions(data, found, ())
    assert decisions.revealed.steps == () and decisions.revealed.left_out
    assert decisions.search.unconstrained.interval is None
    assert [test.verdict for test in decisions.hidden] in ([], ["cannot-tell"])
    assert decisions.scores.tables == () and decisions.scores.left_out
    assert Against(found, None).gain("x", OwnSearch.of(found).visits).interval is None


# The report -----------------------------------------------------------------------------------------------------------


def table_of(seed: int) -> pd.DataFrame:
    """An export of a firm that reads B three points lower, with ratings of those it hired."""
    table = firm(seed, searches=60, each=12, bias=-3.0).table
    hired = table["selected"].to_numpy()
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "Candidate ID": table["candidate"],
            "Requisition": table["search"],
            "Gender": np.where(table["group"] == "B", "Female", "Male"),
            "Openings": 1,
            "CV Score": (50 + 10 * table["prior:cv"]).round(1),
            "Years of Experience": (8 + 2 * table["prior:years"]).clip(0).round(1),
            "Interviewed": np.where(table["inspected"], "yes", "no"),
            "Interview Score": table["score"].round(1),
            "Interview Cost": 1.0,
            "Hired": np.where(hired, "yes", "no"),
            "Performance Rating": np.where(hired, (table["score"] + rng.normal(0, 3, len(table))).round(1), np.nan),
        }
    )


def test_verify_derives_what_is_said_of_decisions(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    table_of(4).to_csv(path, index=False)
    quick = {"report__replicates": 3, "report__what_if": False, "report__alternatives": False, "fit__points": 8}
    settings_ = Config().over(**quick, fit__group_aware=True)
    made = pipeline.audit(path, settings_, plugins())
    document, whole = made.to_json(), made.exact()
    assert whole is not None
    exact = whole.to_json()
    assert verify_report(document, path, plugins()).failed == ()
    (step,) = [s for s in document["revealed"]["steps"] if s["standing"] == "priors"]
    (shift,) = step["shifts"]
    assert shift["group"] == "Female" and shift["interval"][1] < 0
    assert document["scores"]["tables"] and document["fit"]["hidden_information"]["tests"]
    said = {f["code"]: f for f in document["findings"]}
    assert said["firm-gain"]["kind"] == "firm"
    acts = {f["step"]: f["kind"] for f in document["findings"] if f["code"] == "acts-like"}
    assert acts[step["step"]] == "firm"
    layout = [entry["against_firm"]["gain"] for entry in exact["constrained"]]
    losses = [entry["price_of_fairness"]["loss"] for entry in exact["constrained"]]
    gain = exact["firm"]["gain"]["gain"]
    assert layout == pytest.approx([gain - loss for loss in losses], abs=1e-7)
    changes: list[tuple[Any, ...]] = [
        ("firm", "gain", "expected_utility"),
        ("firm", "gain", "gain"),
        ("firm", "gain", "parts", "cost"),
        ("firm", "gain", "interval", 1),
        ("constrained", 0, "against_firm", "by_group", "Gender", "Female", "selected"),
        ("revealed", "steps", 0, "shifts", 0, "shift"),
        ("revealed", "needed", 0, "shift"),
        ("revealed", "needed", 0, "interval", 0),
        ("scores", "tables", 0, "groups", 0, "level"),
        ("fit", "hidden_information", "tests", 0, "p"),
    ]
    other = copy.deepcopy(document)
    for *parents, last in changes:
        place: Any = other
        for key in parents:
            place = place[key]
        place[last] = (place[last] or 0.0) + 0.01
    checks = verify_report(other, path, plugins()).failed
    failed = {check.claim: check.detail for check in checks}
    places = ("expected_utility", "gain", "parts.cost", "interval[1]")
    assert all(f"firm.gain.{place}" in failed["every number of firm"] for place in places)
    assert "[0].against_firm.by_group.Gender.Female.selected" in failed["every number of constrained"]
    assert ".steps[0].shifts[0].shift" in failed["every number of revealed"]
    assert ".needed[0].shift" in failed["every number of revealed"]
    assert ".needed[0].interval[0]" in failed["every number of revealed"]
    assert ".tables[0].groups[0].level" in failed["every number of scores"]
    assert ".hidden_information.tests[0].p" in failed["every number of fit"]


def test_leaving_out_a_large_search_needs_no_matrix_of_its_size() -> None:
    """Against the definition, with matrices; and directions that a single search determines are left out."""
    rng = np.random.default_rng(8)
    cluster = rng.integers(0, 9, 80)
    x = np.column_stack([np.ones(80), rng.normal(size=(80, 3)), rng.normal(size=9)[cluster]])
    y = rng.normal(size=80)
    found, inverse = clustered(x, y, cluster), np.linalg.inv(x.T @ x)
    rest, total = y - x @ (inverse @ x.T @ y), np.zeros((5, 5))
    for s in range(9):
        own = x[cluster == s]
        moved = inverse @ own.T @ np.linalg.solve(np.eye(len(own)) - own @ inverse @ own.T, rest[cluster == s])
        total += np.outer(moved, moved)
    assert found.covariance == pytest.approx(8 / 9 * total, rel=1e-9)
    alone = np.column_stack([x, np.arange(80) == 3])
    cluster[3] = 9
    others = np.arange(80) != 3
    assert np.sqrt(np.diag(clustered(alone, y, cluster).covariance))[:5] == pytest.approx(
        np.sqrt(9 / 10 * 9 / 8 * np.diag(clustered(x[others], y[others], cluster[others]).covariance)), rel=1e-6
    )
