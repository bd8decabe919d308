"""Groups that a policy does not see: membership in the model, against a program over all policies that see no group."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditkit import solve
from auditkit.constraints import bind
from auditkit.errors import InputError
from auditkit.files import write_json
from auditkit.model.documents import instance_from_document, read_instance
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search
from auditkit.verification import check_solution
from support.constraints import build
from support.instances import boxes
from support.sampling import sampled
from support.two_layer import BlindProgram, Hidden, blind_program, hidden_box, hidden_chain

GROUPS = ("F", "M")


def law(rng: np.random.Generator, size: int) -> list[float]:
    return [float(p) for p in rng.dirichlet(np.ones(size))]


def random_candidate(rng: np.random.Generator, kind: str) -> tuple[Hidden, dict[str, Any]]:
    share = float(rng.uniform(0.1, 0.9))
    pi = {"F": share, "M": 1 - share}
    if kind == "boxes":
        size = int(rng.integers(1, 3)) + 1
        values = [round(float(v), 2) for v in rng.uniform(-1, 10, size)]
        return hidden_box(pi, {g: law(rng, size) for g in GROUPS}, values, round(float(rng.uniform(-0.3, 2)), 2))
    tree: dict[str, dict[str, dict[str, float]]] = {}
    for g in GROUPS:
        phone, weak, strong = float(rng.uniform(0.4, 0.9)), float(rng.uniform()), float(rng.uniform())
        tree.setdefault("start", {})[g] = {"2": phone, "out1": 1 - phone}
        tree.setdefault("2", {})[g] = dict(zip(("3-low", "3-high"), law(rng, 2), strict=True))
        tree.setdefault("3-low", {})[g] = {"hired-low": 0.3 + 0.6 * weak, "out2": 0.7 - 0.6 * weak}
        tree.setdefault("3-high", {})[g] = {"hired-high": 0.3 + 0.6 * strong, "out3": 0.7 - 0.6 * strong}
    reward = {"start": -0.3, "2": -0.5, "3-low": -0.2, "3-high": -0.2}
    reward |= {"hired-low": float(rng.uniform(1, 5)), "hired-high": float(rng.uniform(4, 9))}
    return hidden_chain(pi, tree, reward)


class Example:
    """A random search of the two-layer model: its instance, and the program over all blind policies."""

    def __init__(self, seed: int, kind: str, limited: bool) -> None:
        rng = np.random.default_rng(seed)
        made = [random_candidate(rng, kind) for _ in range(2 if kind == "chains" else 3)]
        self.hidden = [hidden for hidden, _ in made]
        candidates = [{"id": f"c{i}", **document} for i, (_, document) in enumerate(made)]
        capacity = int(rng.integers(1, len(made)))
        search: dict[str, Any] = {"id": "s", "capacity": capacity, "candidates": candidates}
        capacities, sets = [capacity], [{0} for _ in made]
        if limited:
            search["limits"] = [{"label": "both", "capacity": 1, "candidates": ["c0", "c1"]}]
            capacities.append(1)
            sets[0].add(1)
            sets[1].add(1)
        self.document = {"format": "auditkit-instance/2", "searches": [search]}
        self.instance = instance_from_document(self.document)
        self.program: BlindProgram = blind_program(self.hidden, capacities, sets)
        self.sizes = {g: sum(p for c in self.hidden for (own, _), p in c.draws.items() if own == g) for g in GROUPS}

    def outcome(self, group: str | None, on: str) -> np.ndarray[Any, Any]:
        def counted(candidate: int, state: str) -> float:
            if on == "selection":
                return float(state in self.hidden[candidate].terminal)
            return float(state in ("closed", "start") if on == "inspection" else state.startswith(on))

        return self.program.count(group, counted)

    def rows(self, spec: str) -> list[tuple[np.ndarray[Any, Any], str, float]]:
        """What a SPEC means, written from the definition in docs."""
        name, _, rest = spec.partition(":")
        keys = dict(part.split("=") for part in rest.split(",") if part)
        on = keys.get("on", "selection")
        count = {g: self.outcome(g, on) for g in GROUPS}
        rate = {g: count[g] / self.sizes[g] for g in GROUPS}
        if name == "parity":
            return [(rate["F"] - rate["M"], "==", 0.0)]
        if name == "impact-ratio":
            least = float(keys["minimum"])
            return [(rate["F"] - least * rate["M"], ">=", 0.0), (rate["M"] - least * rate["F"], ">=", 0.0)]
        if name == "quota":
            share = float(keys["share"])
            return [(count[keys["group"]] - share * self.outcome(None, on), ">=", 0.0)]
        if name == "budget":
            return [(self.outcome(keys.get("group"), on), "<=", float(keys["limit"]))]
        assert name == "floor"
        ids = range(len(self.hidden))
        each = [self.program.count(None, lambda c, s, i=i: float(c == i and s in self.hidden[i].terminal)) for i in ids]
        return [(one, ">=", float(keys["minimum"])) for one in each]


SPECS = [
    ["parity"],
    ["parity:on=inspection"],
    ["impact-ratio:minimum=0.95"],
    ["quota:group=F,share=0.6"],
    ["budget:group=M,limit=0.3,on=inspection"],
    ["parity", "parity:on=inspection"],
    ["impact-ratio:minimum=0.9", "quota:group=M,share=0.5,on=inspection"],
    ["quota:group=F,share=0.8", "floor:minimum=0.2"],
]


@pytest.mark.sampled
@pytest.mark.parametrize("specs", SPECS, ids=" and ".join)
@pytest.mark.parametrize("kind, limited", [("boxes", False), ("boxes", True), ("chains", False)])
def test_blind_optimum_is_that_of_all_policies_that_see_no_group(kind: str, limited: bool, specs: list[str]) -> None:
    for seed in sampled(range(3), 1):
        example = Example(100 * seed + len(specs) + 7 * limited, kind, limited)
        status, utility = example.program.best([row for spec in specs for row in example.rows(spec)])
        solution = solve(example.instance, [build(spec) for spec in specs])
        free = example.program.best([])[1]
        assert solution.unconstrained.utility == pytest.approx(free, abs=1e-7)
        assert solution.status == status
        if solution.constrained is not None:
            assert solution.constrained.utility == pytest.approx(utility, abs=1e-7)
            assert solution.constrained.gap <= 1e-7


def test_some_of_these_are_infeasible_and_some_are_not() -> None:
    specs = SPECS[-1]
    found = set()
    for seed in range(4):
        example = Example(100 * seed + len(specs), "boxes", False)
        found.add(example.program.best([row for spec in specs for row in example.rows(spec)])[0])
    assert found == {"optimal", "infeasible"}


def test_stage_of_a_chain_counts_the_membership_of_its_states() -> None:
    example = Example(5, "chains", False)
    rows = example.rows("parity:on=3")
    solution = solve(example.instance, [build("parity:on=3")])
    assert solution.constrained is not None
    assert solution.constrained.utility == pytest.approx(example.program.best(rows)[1], abs=1e-7)


def known_twice(instance: Instance) -> Instance:
    """The same with every known group written as a membership of 1."""
    searches = []
    for search in instance.searches:
        boxes = []
        for box in search.candidates:
            assert isinstance(box, Box) and isinstance(box.group, str)
            given = {box.group: {"before": 1.0, "given": np.ones(len(box.values))}}
            boxes.append(Box(box.id, {}, box.cost, box.values, box.probs, membership={"group": given}))
        searches.append(Search(search.id, search.capacity, boxes, search.limits))
    return Instance(searches)


@pytest.mark.parametrize(
    "spec",
    [
        "parity",
        "impact-ratio",
        "quota:group=B,share=0.6",
        "nash-welfare:minimum=2",
        "parity:min_value=18",
        "entropy:maximum=8",
    ],
)
def test_a_group_that_is_known_is_membership_one(spec: str) -> None:
    instance = boxes(np.random.default_rng(3), 4, 6, 2)
    one, two = (solve(i, [build(spec)]).constrained for i in (instance, known_twice(instance)))
    assert one is not None and two is not None
    assert two.utility == pytest.approx(one.utility, abs=1e-7)
    for name in ("inspected_by_attribute", "selected_by_attribute"):
        a, b = (getattr(o.outcome, name)["group"] for o in (one, two))
        assert b == pytest.approx(a, abs=1e-6) if spec == "parity" else set(a) == set(b)


def test_expected_numbers_by_group_and_sizes() -> None:
    example = Example(11, "boxes", False)
    layout, outcome = example.instance.layout, solve(example.instance).unconstrained
    part = layout.protected["Gender"]
    assert dict(zip(part.names, part.sizes, strict=True)) == pytest.approx(example.sizes)
    theta = layout.of_states(layout.kinds.membership["Gender"][:, 0])
    starts = np.zeros(layout.states)
    starts[layout.start] = 1
    assert outcome.inspected_by_attribute["Gender"]["F"] == pytest.approx(float(theta * starts @ outcome.visits))
    selected = outcome.selected_by_attribute["Gender"]
    assert selected["F"] == pytest.approx(float(theta * layout.selecting @ outcome.visits))
    assert sum(selected.values()) == pytest.approx(float(outcome.selected.sum()))


def test_candidates_of_one_law_and_other_membership_are_other_kinds() -> None:
    example = Example(3, "boxes", False)
    box = example.document["searches"][0]["candidates"][0]
    half = {g: {"before": 0.5, "given": [0.5] * len(box["values"])} for g in GROUPS}
    twin = {**box, "id": "twin", "membership": {"Gender": half}}
    search = {"id": "s", "capacity": 1, "candidates": [box, twin]}
    layout = instance_from_document({"format": "auditkit-instance/2", "searches": [search]}).layout
    assert len(layout.kinds.group) == 2


def test_a_segment_crosses_with_membership_and_two_uncertain_attributes_do_not() -> None:
    example = Example(21, "boxes", False)
    candidates = copy.deepcopy(example.document["searches"][0]["candidates"])
    for i, c in enumerate(candidates):
        c["attributes"] = {"Department": "Law" if i else "Sales"}
        c["group"] = {"Age": "old" if i < 2 else "young"}
    document = {"format": "auditkit-instance/2", "searches": [{"id": "s", "capacity": 2, "candidates": candidates}]}
    layout = instance_from_document(document).layout
    crossed = layout.partition("Gender+Department")
    before = layout.before("Gender")
    assert dict(zip(crossed.names, crossed.sizes, strict=True)) == pytest.approx(
        {"F+Law": before[1:, 0].sum(), "F+Sales": before[0, 0], "M+Law": before[1:, 1].sum(), "M+Sales": before[0, 1]}
    )
    inside = layout.share(crossed, crossed.names.index("F+Law"))
    own = layout.share(layout.partition("Gender"), 0)
    assert np.array_equal(
        inside, np.where(layout.candidate_group[layout.state_candidate] >= 0, own, 0) * (layout.state_candidate > 0)
    )
    assert layout.partition("Age+Gender").names[0] == "old+F"
    solved = solve(instance_from_document(document), [build("parity:by=Gender,within=Department")])
    assert solved.constrained is not None and solved.constrained.gap <= 1e-7
    for c in candidates:
        c["membership"]["Age"] = c["membership"]["Gender"]
        del c["group"]
    with pytest.raises(InputError, match="how they occur together isn't known"):
        instance_from_document(document).layout.partition("Age+Gender")


def test_verify_derives_the_numbers_of_groups_that_are_uncertain() -> None:
    for kind, specs in (("boxes", SPECS[5]), ("chains", SPECS[0])):
        example = Example(9, kind, False)
        document = solve(example.instance, [build(spec) for spec in specs]).to_json()
        rows = bind([build(spec) for spec in specs], example.instance.layout)
        assert all(check.holds for check in check_solution(document, example.instance.layout, rows, ""))
        document["constrained"]["constraints"][0]["value"] += 0.01
        assert not all(check.holds for check in check_solution(document, example.instance.layout, rows, ""))


def test_instance_files_with_membership_are_read_as_they_were_written(tmp_path: Path) -> None:
    for kind in ("boxes", "chains"):
        example = Example(4, kind, False)
        write_json(tmp_path / "a.json", example.instance.to_json())
        again, _, _ = read_instance(tmp_path / "a.json")
        assert again.layout.protected["Gender"].names == GROUPS
        assert again.to_json()["format"] == "auditkit-instance/2"
        own, read = (i.layout.kinds.membership["Gender"] for i in (example.instance, again))
        assert np.array_equal(own, read)


def broken(change: Any, kind: str = "boxes") -> str:
    document = copy.deepcopy(Example(4, kind, False).document)
    change(document["searches"][0]["candidates"][1])
    with pytest.raises(InputError) as error:
        instance_from_document(document)
    return str(error.value)


def test_inconsistent_membership_is_refused_with_its_place() -> None:
    def before(c: dict[str, Any]) -> None:
        c["membership"]["Gender"]["F"]["before"] += 0.01

    said = broken(before)
    assert "candidates[1] 'c1'" in said and "membership.Gender.F" in said and "probs . given" in said

    def more(c: dict[str, Any]) -> None:
        c["membership"]["Gender"]["X"] = {"before": 0.5, "given": [0.5] * len(c["values"])}

    assert "sum to 1.5, more than 1" in broken(more)

    def short(c: dict[str, Any]) -> None:
        c["membership"]["Gender"]["F"]["given"].pop()

    assert "membership.Gender.F.given" in broken(short)
    assert "outside 0 to 1" in broken(lambda c: c["membership"]["Gender"]["F"].update(before=-0.1))
    assert "is also in `group`" in broken(lambda c: c.update(group={"Gender": "F"}))
    assert "or contain +" in broken(lambda c: c["membership"].update({"A+B": c["membership"]["Gender"]}))
    assert "names no group" in broken(lambda c: c["membership"].update(Age={}))
    assert "names no attribute" in broken(lambda c: c.pop("membership"))

    def moved(c: dict[str, Any]) -> None:
        c["states"]["2"]["membership"]["Gender"] = {"F": 0.999, "M": 0.001}

    assert "in the states that follow" in broken(moved, "chains")
    assert "states.2.membership.Gender" in broken(lambda c: c["states"]["2"].pop("membership"), "chains")


def test_a_dead_end_needs_no_membership_and_the_first_format_has_none() -> None:
    document = copy.deepcopy(Example(4, "chains", False).document)
    for c in document["searches"][0]["candidates"]:
        for name, state in c["states"].items():
            if name.startswith("out"):
                del state["membership"]
    layout = instance_from_document(document).layout
    assert layout.uncertain
    with pytest.raises(InputError, match="auditkit-instance/1 has no membership"):
        instance_from_document({**document, "format": "auditkit-instance/1"})


def test_questions_that_need_to_know_the_group_are_refused() -> None:
    from auditkit.model.variants import with_scores

    instance = Example(4, "boxes", False).instance
    with pytest.raises(InputError, match="known only by their probability"):
        with_scores(instance, "F", 0.8)
    with pytest.raises(InputError, match="min_value can only count selections"):
        solve(instance, [build("parity:on=inspection,min_value=3")])


@pytest.mark.parametrize("searches", [1, 3])
@pytest.mark.parametrize(
    ("method", "specs"),
    [
        ("column-generation", ["parity"]),
        ("column-generation", ["parity", "impact-ratio"]),
        ("rdip", ["parity"]),
        ("caratheodory", ["parity", "impact-ratio"]),
    ],
)
def test_rows_that_are_nothing_but_rounding_cost_nothing(searches: int, method: str, specs: list[str]) -> None:
    """Where nothing tells the groups apart every policy has equal rates, although sums differ in their last digits."""
    share = {"F": 1249 / 2600, "M": 1351 / 2600}

    def candidate(name: str, values: list[float]) -> dict[str, Any]:
        known = {g: {"before": p, "given": [p] * len(values)} for g, p in share.items()}
        weights = np.arange(1, len(values) + 1)
        probs = (weights / weights.sum()).tolist()
        return {"id": name, "cost": 0.37, "values": values, "probs": probs, "membership": {"Gender": known}}

    rng = np.random.default_rng(4)
    people = [[candidate(f"{s}-{i}", rng.uniform(1, 9, 4).tolist()) for i in range(17)] for s in range(searches)]
    listed = [{"id": f"s{s}", "capacity": 3, "candidates": candidates} for s, candidates in enumerate(people)]
    instance = instance_from_document({"format": "auditkit-instance/2", "searches": listed})
    solution = solve(instance, [build(each) for each in specs], method)
    assert solution.constrained is not None
    assert solution.loss == 0 and not solution.constrained.duals.any()
    assert solution.constrained.utility == pytest.approx(solution.unconstrained.utility, rel=1e-12)
    assert solution.unconstrained.utility > 10
