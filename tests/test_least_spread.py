"""The optimal mixture that scatters least, against every mixture and every realisation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import auditkit
from auditkit.errors import InputError
from auditkit.model.documents import instance_from_document
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats
from auditkit.model.search import Box, Search
from auditkit.solver import Optimum, solve
from auditkit.solver.policy import Level, Policy
from support import direct
from support.constraints import build
from support.instances import FOUR, boxes
from support.sampling import sampled
from support.tiny import box_instance

ROWS = {"parity:basis=count": "selection", "parity:on=inspection,basis=count": "inspection"}


def policies(best: Optimum) -> list[Policy]:
    """What was evaluated on the way, and the two tie-breaking rules at the optimal dual."""
    ties = [Policy.at(best.duals, Level(0.0, (sign,))) for sign in (-1.0, 1.0)]
    return list(dict.fromkeys([*(column.policy for column in best.columns), Policy.at(best.duals), *ties]))


def realised(instance: Instance, best: Optimum, policy: Policy, search: int, on: str) -> tuple[float, float, float]:
    """Utility, mean and second moment of (X - Y) in a search, by going through all combinations of values."""
    layout, original = best.outcome.layout, instance.searches[search]
    rewards = policy.rewards(layout, best.rows)
    seen = rewards[:, 0] if rewards.shape[1] == 1 else rewards[:, 0] + 1e-9 * rewards[:, 1]
    made, first = [], int(layout.search_ptr[search])
    for place, one in enumerate(original.candidates):
        at, order = int(layout.candidate_ptr[first + place]), layout.value_order[first + place]
        assert isinstance(one, Box) and order is not None
        values = seen[at + 1 : at + 1 + len(order)]
        made.append(Box(one.id, one.group or "any", -float(seen[at]), values, one.probs[order]))
    adjusted = Search(original.id, original.capacity, tuple(made))
    inspect, select = direct.visits(adjusted)
    true = [one.values[layout.value_order[first + i]] for i, one in enumerate(original.candidates)]
    earned = sum(float(p @ v) for p, v in zip(select, true, strict=True))
    spent = sum(p * one.cost for p, one in zip(inspect, original.candidates, strict=True))
    if layout.uncertain:
        at = [slice(layout.candidate_ptr[first + i], layout.candidate_ptr[first + i + 1]) for i in range(len(made))]
        theta = np.column_stack([layout.of_states(one) for one in layout.kinds.membership["Gender"].T])
        moments = scattered(adjusted, [theta[own][1:] for own in at], on)
        return float(earned - spent), *moments
    group = [0 if one.group == "X" else 1 if one.group == "Y" else 2 for one in original.candidates]
    if on == "selection":
        table = direct.selection_law(adjusted, group, 3)
        law = {tuple(map(int, at)): float(table[tuple(at)]) for at in np.argwhere(table > 0)}
    else:
        law = direct.inspection_law(adjusted, group, 3)
    mean = sum(p * (x - y) for (x, y, *_), p in law.items())
    return float(earned - spent), float(mean), float(sum(p * (x - y) ** 2 for (x, y, *_), p in law.items()))


def scattered(search: Search, given: list[Floats], on: str) -> tuple[float, float]:
    """Mean and second moment of (first group - second group), by going through all combinations of values.

    Whoever is counted belongs to the groups with the chances of their own value, each independently of the others.
    """
    boxes = [one for one in search.candidates if isinstance(one, Box)]
    sigma, mean, square = [direct.reservation(box) for box in boxes], 0.0, 0.0
    for drawn in product(*(range(len(box.values)) for box in boxes)):
        chance = float(np.prod([box.probs[j] for box, j in zip(boxes, drawn, strict=True)]))
        kappa = [min(float(box.values[j]), s) for box, j, s in zip(boxes, drawn, sigma, strict=True)]
        level = kappa if on == "selection" else sigma
        who = [
            i
            for i, y in enumerate(level)
            if y == np.inf
            or (y > 0 and sum((k, -j) > (y, -i) for j, k in enumerate(kappa) if j != i) < search.capacity)
        ]
        one, other = (sum(float(given[i][drawn[i], g]) for i in who) for g in (0, 1))
        within = sum(float(sum(t) - (t[0] - t[1]) ** 2) for t in (given[i][drawn[i]] for i in who))
        mean += chance * (one - other)
        square += chance * ((one - other) ** 2 + within)
    return mean, square


def least(instance: Instance, best: Optimum, on: str) -> float:
    """The least spread of all optimal mixtures in which one search mixes two policies and the others follow one."""
    known, searches = policies(best), range(len(instance.searches))
    every = [[realised(instance, best, policy, s, on) for policy in known] for s in searches]
    dual = float(best.duals[0])
    good = []
    for own in every:
        top = max(u - dual * x for u, x, _ in own)
        good.append(sorted({(round(x, 9), round(m, 9)) for u, x, m in own if u - dual * x >= top - 1e-6}))
    found = np.inf
    for mixing in searches:
        others = [good[s] for s in searches if s != mixing]
        for chosen in product(*others):
            rest, spread = sum(x for x, _ in chosen), sum(m for _, m in chosen)
            for (a, m), (b, n) in product(good[mixing], repeat=2):
                if abs(a + rest) <= 1e-8:
                    found = min(found, spread + m)
                elif (a + rest) * (b + rest) < 0:
                    w = (b + rest) / (b - a)
                    found = min(found, spread + w * m + (1 - w) * n)
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("text", ROWS)
@pytest.mark.parametrize("block", sampled(range(4), 2))
def test_it_is_the_least_of_all_optimal_mixtures_of_known_policies(text: str, block: int) -> None:
    changed = 0
    for seed in range(40 * block, 40 * block + 40):
        document = box_instance(np.random.default_rng(seed))
        instance = instance_from_document(document)
        if any(g not in instance.layout.groups for g in "XY") or len(instance.layout.groups) > 2:
            continue
        plain, calm = (solve(instance, [build(text)], least_spread=yes).constrained for yes in (False, True))
        assert plain is not None and calm is not None and calm.spread is not None
        assert calm.utility == pytest.approx(plain.utility, abs=1e-9)
        assert calm.bound == plain.bound and (calm.duals == plain.duals).all() and calm.gap <= 1e-9
        assert calm.spread == pytest.approx(least(instance, plain, ROWS[text]), abs=1e-6)
        changed += calm.mixture != plain.mixture
    assert changed > 0, "there are optima to choose among"


def hidden(seed: int) -> Instance:
    """Searches of boxes whose groups are known by their probability, which changes with the value."""
    rng, searches = np.random.default_rng(seed), []
    for s in range(2):
        boxes = []
        for i in range(3):
            values, probs, cost = np.round(rng.uniform(1, 10, 2), 1), np.array([0.5, 0.5]), round(rng.uniform(0, 1), 2)
            given = np.round(rng.uniform(0.1, 0.9, 2), 2)
            shares = {"F": given, "M": 0.95 - given}
            told = {g: {"before": float(probs @ x), "given": x.tolist()} for g, x in shares.items()}
            box = {"id": f"{s}{i}", "cost": cost, "values": values.tolist(), "probs": probs.tolist()}
            boxes.append(box | {"membership": {"Gender": told}})
        searches.append({"id": f"s{s}", "capacity": int(rng.integers(1, 3)), "candidates": boxes})
    return instance_from_document({"format": "auditkit-instance/2", "searches": searches})


@pytest.mark.parametrize("text", ROWS)
def test_groups_that_are_known_by_their_probability_scatter_too(text: str) -> None:
    changed = 0
    for seed in range(30):
        instance = hidden(seed)
        plain, calm = (solve(instance, [build(text)], least_spread=yes).constrained for yes in (False, True))
        assert plain is not None and calm is not None and calm.spread is not None
        assert calm.utility == pytest.approx(plain.utility, abs=1e-9) and calm.bound == plain.bound
        truth = least(instance, plain, ROWS[text])
        assert calm.spread * float(calm.rows.largest[0]) ** 2 == pytest.approx(truth, abs=1e-6)
        changed += calm.mixture != plain.mixture
    assert changed > 0, "there are optima to choose among"


def test_the_certificate_is_that_of_the_optimum_and_verifies() -> None:
    instance = boxes(np.random.default_rng(2), 6, 6, 2)
    specs = ["parity", "parity:on=inspection", "budget:on=inspection,limit=12"]
    plain, calm = (auditkit.solve(instance, specs, least_spread=yes) for yes in (False, True))
    assert plain.constrained is not None and calm.constrained is not None
    assert plain.constrained.spread is None and calm.constrained.spread is not None
    assert calm.constrained.utility == pytest.approx(plain.constrained.utility, rel=1e-9)
    assert calm.constrained.mixture.randomised <= len(calm.constrained.rows)
    assert auditkit.verify(calm, instance).holds


def test_with_one_search_it_is_the_variance_of_the_slack() -> None:
    best = solve(FOUR, [build("parity:basis=count")], least_spread=True).constrained
    assert best is not None and best.spread is not None
    moments = [
        (w, realised(FOUR, best, policy, 0, "selection"))
        for w, policy in zip(best.mixture.weights, best.mixture.policies, strict=True)
    ]
    assert sum(w * mean for w, (_, mean, _) in moments) == pytest.approx(0, abs=1e-9)
    assert best.spread == pytest.approx(sum(w * square for w, (_, _, square) in moments), abs=1e-9)


def test_a_choice_between_one_of_each_and_two_of_a_kind_goes_to_one_of_each() -> None:
    """Everyone is worth 10 for certain. In the first search ties go to two of X, which the second can even out with two
    of Y; one of each in both is as good, and only it never misses."""

    def of(groups: str, name: str) -> Search:
        return Search(name, 2, tuple(Box(f"{name}{i}", g, 0.0, [10.0], [1.0]) for i, g in enumerate(groups)))

    instance = Instance((of("XYXY", "a"), of("XYYX", "b")))
    best = solve(instance, [build("parity:basis=count")], least_spread=True).constrained
    assert best is not None and best.utility == pytest.approx(40) and best.spread == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("specs", "method", "said"),
    [
        (["quota:group=Y,share=0.5,min_value=8"], "column-generation", "no exact law"),
        (["nash-welfare:minimum=0.1"], "column-generation", "affine constraints only"),
        (["parity"], "rdip", "use column-generation"),
    ],
)
def test_what_has_no_law_is_refused_by_name(specs: list[str], method: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        solve(FOUR, [build(text) for text in specs], method, least_spread=True)
