"""Histories with stages become chains: their structure, their chances, their costs, and what the firm did."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditkit.data.firm_history import History
from auditkit.errors import InputError
from auditkit.fitting.fitted import Fitted
from auditkit.fitting.priors import fit
from auditkit.model.documents import instance_from_document
from auditkit.model.search import Chain
from auditkit.solver import solve
from support.histories import FITTERS, history

STAGES = ("phone", "onsite", "offer")


def funnel(
    n: int = 500, seed: int = 0, *, stages: tuple[str, ...] = STAGES, score_stage: str | None = "onsite"
) -> History:
    """Phone passed with a chance that rises with the prior, a score at the onsite, offers accepted by 80 %."""
    rng = np.random.default_rng(seed)
    prior, group = rng.normal(size=n), rng.choice(["A", "B"], n)
    phone = rng.random(n) < 0.8
    passed = phone & (rng.random(n) < chance(prior))
    score = pd.Series(np.where(passed, 6 + prior + rng.normal(size=n), np.nan))
    search = pd.Series([f"r{i // 25}" for i in range(n)])
    offer = (score.groupby(search).rank(ascending=False) <= 3).to_numpy()
    accepted = offer & (rng.random(n) < 0.8)
    columns: dict[str, Any] = {
        "search": search,
        "group": group,
        "prior:cv": prior,
        "score": score,
        "inspected": phone,
        "selected": offer,
        "declined": offer & ~accepted,
        "stage:phone": pd.array(phone, dtype="boolean"),
        "stage:onsite": pd.array(passed, dtype="boolean"),
        "stage:offer": pd.array(offer, dtype="boolean"),
    }
    data = history(columns, stages, score_stage)
    for name, reached, yes in (("phone", phone, passed), ("onsite", passed, offer), ("offer", offer, accepted)):
        data.table[f"passed:{name}"] = pd.array(yes, dtype="boolean")
        data.table.loc[~reached, f"passed:{name}"] = pd.NA
    return data


def chance(prior: Any) -> Any:
    return 1 / (1 + np.exp(-0.4 - 0.8 * prior))


COSTS = {"phone": 0.1, "onsite": 0.4, "offer": 0.05}


def fitted(data: History, **options: Any) -> Fitted:
    return fit(data, **{"fitters": FITTERS, "cost": COSTS} | options)


def chains(result: Fitted) -> list[Chain]:
    found = [c for s in result.instance.searches for c in s.candidates]
    assert all(isinstance(c, Chain) for c in found)
    return found  # type: ignore[return-value]


def test_the_chain_follows_the_stages() -> None:
    result = fitted(funnel())
    chain = chains(result)[0]
    states = chain.by_name
    assert chain.start == "phone" and set(states["phone"].to) == {"onsite", "out"}
    assert states["phone"].reward == -0.1 and states["onsite"].reward == -0.4 and states["offer-1"].reward == -0.05
    points = len(states["onsite"].to)
    assert 5 <= points <= 20 and set(states["onsite"].to) == {f"offer-{j}" for j in range(1, points + 1)}
    assert set(states["offer-3"].to) == {"hired-3", "out"}
    assert states["hired-3"].selected and states["out"].to == {} and not states["out"].selected
    rewards = [states[f"hired-{j}"].reward for j in range(1, points + 1)]
    assert rewards == sorted(rewards)
    mean = sum(p * states[name.replace("offer", "hired")].reward for name, p in states["onsite"].to.items())
    assert mean == pytest.approx(result.expected[0])
    assert {s.stage for s in chain.states} == {"phone", "onsite", "offer", None}
    assert result.instance.layout.stages == STAGES


def test_chances_are_recovered() -> None:
    result = fitted(funnel(2500))
    data = funnel(2500).table.iloc[result.rows]
    found = np.array([c.by_name["phone"].to.get("onsite", 0.0) for c in chains(result)])
    truth = chance(data["prior:cv"].to_numpy())
    assert np.abs(found - truth).mean() < 0.05 and np.corrcoef(found, truth)[0, 1] > 0.95
    accepted = np.array([c.by_name["offer-1"].to["hired-1"] for c in chains(result)])
    assert accepted.mean() == pytest.approx(0.8, abs=0.05) and accepted.std() < 0.06


def test_equal_candidates_share_their_states() -> None:
    data = funnel()
    data.table["prior:cv"] = data.table["prior:cv"].round()
    assert len({id(c.states) for c in chains(fitted(data))}) < 100


def test_the_firm_pays_for_the_stages_reached() -> None:
    data = funnel()
    result = fitted(data)
    table = data.table.iloc[result.rows]
    reached = np.stack([table[f"stage:{s}"].to_numpy(dtype=bool) for s in STAGES], axis=1)
    paid = reached @ np.array([COSTS[s] for s in STAGES])
    assert result.realised.cost == pytest.approx(paid)
    assert result.realised.inspected.tolist() == reached[:, 0].tolist()
    hired = (table["selected"] & ~table["declined"]).to_numpy()
    assert result.realised.utility == pytest.approx(table["score"].to_numpy()[hired].sum() - paid.sum())
    assert list(result.realised.reached) == list(STAGES)
    assert solve(result.instance).unconstrained.utility > result.realised.utility


def test_nobodys_own_results_enter_their_chances() -> None:
    data = funnel(600)
    before = fitted(data)
    row = int(np.flatnonzero(data.table["selected"])[0])
    place = int(np.flatnonzero(before.rows == row)[0])
    data.table.loc[row, ["passed:phone", "passed:offer"]] = [False, False]
    data.table.loc[row, "score"] = -50.0
    after = fitted(data)
    assert chains(after)[place].states == chains(before)[place].states
    assert chains(after)[-1].states != chains(before)[-1].states or chains(after)[0].states != chains(before)[0].states


def test_a_score_at_the_last_stage_adds_an_offer() -> None:
    data = funnel(stages=("phone", "onsite"))
    result = fitted(data, cost={"phone": 0.1, "onsite": 0.4})
    states = chains(result)[0].by_name
    assert result.settings.stages == ("phone", "onsite", "offer")
    assert states["offer-1"].reward == 0 and 0.6 < states["offer-1"].to["hired-1"] < 1
    data.table["declined"] = False
    sure = chains(fitted(data, cost={"phone": 0.1, "onsite": 0.4}))[0].by_name
    assert sure["offer-1"].to == {"hired-1": 1.0}


def test_the_stage_of_the_score_is_found_if_nothing_says_it() -> None:
    result = fitted(funnel(score_stage=None))
    assert result.settings.score_stage == "onsite"
    assert any("onsite is taken" in notice for notice in result.notices)


def test_an_early_score_leaves_later_stages_for_each_value() -> None:
    result = fitted(funnel(score_stage="phone"))
    states = chains(result)[0].by_name
    assert set(states["onsite-2"].to) == {"offer-2", "out"} and states["onsite-2"].stage == "onsite"


def test_stages_named_like_states_do_not_clash() -> None:
    data = funnel(stages=("phone", "onsite"))
    names = {"phone": "out", "onsite": "offer", "offer": "later"}
    columns = {f"{kind}:{old}": f"{kind}:{new}" for kind in ("stage", "passed") for old, new in names.items()}
    renamed = history(data.table.rename(columns=columns).to_dict("series"), ("out", "offer"), "offer")
    chain = chains(fitted(renamed, cost={"out": 0.1, "offer": 0.2}))[0]
    assert chain.start == "out" and set(chain.by_name["out"].to) == {"offer", "out*"}
    assert "offer*-1" in chain.by_name


def test_costs_of_stages() -> None:
    one = fitted(funnel(), cost=0.3)
    states = chains(one)[0].by_name
    assert [states[s].reward for s in ("phone", "onsite", "offer-1")] == [-0.3, -0.3, 0]
    assert any("charged at each of phone, onsite" in notice for notice in one.notices)
    with pytest.raises(InputError, match="did you mean 'phone'"):
        fitted(funnel(), cost={"fone": 1.0})
    unit = fitted(funnel(), cost=None)
    assert any("the unit of value is one inspection" in notice for notice in unit.notices)
    assert [chains(unit)[0].by_name[s].reward for s in ("phone", "onsite")] == [-1, -1]
    data = funnel()
    reached = data.table["stage:onsite"].to_numpy(dtype=bool)
    data.table["cost:onsite"] = np.where(reached, np.where(data.table["search"] == "r0", 2.0, 1.0), np.nan)
    own = fitted(data, cost=None)
    assert {c.by_name["onsite"].reward for c in own.instance.searches[0].candidates if isinstance(c, Chain)} == {-2.0}
    assert {c.by_name["onsite"].reward for c in own.instance.searches[1].candidates if isinstance(c, Chain)} == {-1.0}
    assert any("no cost is given for phone, offer" in notice for notice in own.notices)
    assert not any("no cost:onsite" in notice for notice in own.notices)


def test_outcomes_reach_the_terminal_states() -> None:
    data = funnel()
    table = data.table
    hired = table["selected"] & ~table["declined"]
    table["outcome"] = (table["score"] * 2 + np.random.default_rng(0).normal(size=len(table))).where(hired)
    result = fitted(data)
    states = chains(result)[0].by_name
    assert states["hired-1"].true_reward is not None and result.realised.long_term_utility is not None
    assert result.instance.layout.has_true_rewards


def test_chains_survive_the_file() -> None:
    result = fitted(funnel(300))
    again = instance_from_document(result.instance.to_json())
    assert solve(again).unconstrained.utility == pytest.approx(solve(result.instance).unconstrained.utility)


def test_stages_can_be_set_aside() -> None:
    result = fitted(funnel(), staged=False, cost=0.5)
    assert result.instance.layout.stages == () and result.settings.stages == ()
