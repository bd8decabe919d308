"""Random tiny instances and rows as plain documents, small enough for `occupancy` (a few hundred joint states).

Numbers are small integers and simple fractions, so that ties between indices, zero costs, free lunches and worthless
candidates are frequent. The generators take a numpy Generator; the hypothesis strategies draw the sizes (so that a
failing example shrinks to few candidates and rows) and a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from support.occupancy import Document, Key, Row, StateKey

COSTS = (-1.0, 0.0, 0.0, 1.0, 2.0, 0.5)
LEAVING = (-2.0, -1.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0)  # R(s) of non-terminal states
GROUPS = ("X", "Y")


def _pick(rng: np.random.Generator, options: tuple[Any, ...]) -> Any:
    return options[int(rng.integers(len(options)))]


def _probabilities(rng: np.random.Generator, size: int) -> list[float]:
    """Positive numbers that sum to 1: multiples of 1/4, multiples of 1/3, or arbitrary ones of at least 0.05."""
    kind = int(rng.integers(3))
    if kind < 2:
        parts = 4 if kind == 0 else 3
        cuts = np.sort(rng.choice(np.arange(1, parts), size=size - 1, replace=False))
        return [float(step) / parts for step in np.diff([0, *cuts, parts])]
    head = [float(p) for p in 0.05 + (1 - 0.05 * size) * rng.dirichlet(np.ones(size))[: size - 1]]
    return [*head, 1.0 - sum(head)]


def _group(rng: np.random.Generator, third: bool) -> str:
    return str(_pick(rng, (*GROUPS, "Z") if third else GROUPS))


def random_box(rng: np.random.Generator, name: str, group: str, support: int | None = None) -> Document:
    """A box with `support` values in -3..9 (default 1..3), not necessarily different."""
    size = int(rng.integers(1, 4)) if support is None else support
    values = [float(v) for v in rng.integers(-3, 10, size=size)]
    cost = _pick(rng, COSTS)
    return {"id": name, "group": group, "cost": cost, "values": values, "probs": _probabilities(rng, size)}


def random_chain(rng: np.random.Generator, name: str, group: str, states: int | None = None) -> Document:
    """A chain of `states` states (default 2..5): some terminal (rarely none), some dead ends, the rest free to loop.

    Drawn again until every state can reach a terminal state or a dead end; states that the start cannot reach may stay.
    """
    size = int(rng.integers(2, 6)) if states is None else states
    while True:
        inner = int(rng.integers(1, size))
        ends = ["out" if rng.random() < 0.25 else "hired" for _ in range(size - inner)]
        if "hired" not in ends and rng.random() < 0.8:
            ends[0] = "hired"
        names = [f"s{i}" for i in range(inner)] + [f"{end}{i}" for i, end in enumerate(ends)]
        body: dict[str, Document] = {}
        for i in range(inner):
            width = int(rng.integers(1, min(3, size) + 1))
            children = rng.choice(size, size=width, replace=False)
            to = {names[int(c)]: p for c, p in zip(children, _probabilities(rng, width), strict=True)}
            stage = "first" if i == 0 or rng.random() < 0.25 else "later"
            body[names[i]] = {"stage": stage, "reward": _pick(rng, LEAVING), "to": to}
        for end in names[inner:]:
            hired = end.startswith("hired")
            body[end] = (
                {"reward": float(rng.integers(-3, 10)), "terminal": True} if hired else {"reward": 0.0, "to": {}}
            )
        if _ends_everywhere(body):
            return {"id": name, "group": group, "start": "s0", "states": body}


def _ends_everywhere(states: dict[str, Document]) -> bool:
    """Whether every state can reach one that is never left (MATH.md, section 1)."""
    ending = {name for name, state in states.items() if not state.get("to")}
    while True:
        more = {name for name, state in states.items() if name not in ending and ending & state.get("to", {}).keys()}
        if not more:
            return len(ending) == len(states)
        ending |= more


def _instance(
    rng: np.random.Generator,
    searches: int | None,
    candidates: int | None,
    most: int,
    draw: Callable[[str, str], Document],
) -> Document:
    third = bool(rng.random() < 0.2)
    count = int(rng.integers(1, 3)) if searches is None else searches
    found = []
    for number in range(count):
        size = int(rng.integers(1, (most if count == 1 else min(most, 3)) + 1)) if candidates is None else candidates
        people = [draw(name, _group(rng, third)) for name in "abcdefgh"[:size]]
        found.append({"id": f"q{number}", "capacity": int(rng.integers(1, size + 1)), "candidates": people})
    return {"format": "auditkit-instance/1", "searches": found, "constraints": []}


def box_instance(
    rng: np.random.Generator, *, searches: int | None = None, candidates: int | None = None, support: int | None = None
) -> Document:
    """Boxes only; not given, drawn: 1..2 searches, 1..4 candidates (3 if two searches), 1..3 values, any capacity."""
    return _instance(rng, searches, candidates, 4, lambda name, group: random_box(rng, name, group, support))


def chain_instance(
    rng: np.random.Generator,
    *,
    searches: int | None = None,
    candidates: int | None = None,
    states: int | None = None,
    boxes: float = 0.2,
) -> Document:
    """Chains, each a box instead with probability `boxes`; 1..2 searches, 1..3 candidates, 2..5 states if not given."""

    def draw(name: str, group: str) -> Document:
        return random_box(rng, name, group) if rng.random() < boxes else random_chain(rng, name, group, states)

    return _instance(rng, searches, candidates, 3, draw)


def selected(candidate: Document, minimum: float = -np.inf) -> list[StateKey]:
    """Keys of the terminal states whose value is at least `minimum`: their entries add up to the selections."""
    if "values" in candidate:
        return [("value", j) for j, value in enumerate(candidate["values"]) if value >= minimum]
    states = candidate["states"].items()
    return [name for name, state in states if state.get("terminal") and state["reward"] >= minimum]


def inspected(candidate: Document) -> list[StateKey]:
    """Keys whose exits are inspections: "inspected" of a box; of a chain, the states in the stage of its start."""
    if "values" in candidate:
        return ["inspected"]
    states = candidate["states"]
    stage = states[candidate["start"]].get("stage")
    return [name for name, state in states.items() if state.get("to") and state.get("stage") == stage]


def terms(
    document: Document, keys: Callable[[Document], list[StateKey]], weight: Callable[[Document], float]
) -> dict[Key, float]:
    """Coefficients weight(candidate) on every state that `keys` names, over all searches."""
    return {
        (search["id"], candidate["id"], key): weight(candidate)
        for search in document["searches"]
        for candidate in search["candidates"]
        for key in keys(candidate)
        if weight(candidate) != 0
    }


def parity(document: Document, keys: Callable[[Document], list[StateKey]], weight: float = 1.0) -> Row:
    """Outcomes of X = weight x outcomes of Y, by count."""
    return terms(document, keys, lambda c: {"X": 1.0, "Y": -weight}.get(c["group"], 0.0)), "==", 0.0


def random_row(rng: np.random.Generator, document: Document) -> Row:
    """One row with at least one coefficient: a shipped affine constraint, a variant of one, or an arbitrary one."""
    while True:
        row = _KINDS[int(rng.integers(len(_KINDS)))](rng, document)
        if row[0]:
            return row


def random_rows(rng: np.random.Generator, document: Document, count: int | None = None) -> list[Row]:
    """`count` rows (default 1..4); together they may well be infeasible."""
    return [random_row(rng, document) for _ in range(int(rng.integers(1, 5)) if count is None else count)]


def _outcome(rng: np.random.Generator) -> Callable[[Document], list[StateKey]]:
    return selected if rng.random() < 0.5 else inspected


def _parity(rng: np.random.Generator, document: Document) -> Row:
    coefficients, _, _ = parity(document, _outcome(rng), _pick(rng, (1.0, 1.0, 2.0)))
    return coefficients, *_pick(rng, (("==", 0.0), ("==", 0.0), ("<=", 0.0), (">=", 0.0), ("<=", 0.25), (">=", -0.25)))


def _quota(rng: np.random.Generator, document: Document) -> Row:
    share, group = _pick(rng, (0.25, 1 / 3, 0.5)), _pick(rng, GROUPS)
    return terms(document, _outcome(rng), lambda c: float(c["group"] == group) - share), ">=", 0.0


def _budget(rng: np.random.Generator, document: Document) -> Row:
    limit = float(_pick(rng, (0.0, 0.5, 1.0, 1.5, 2.0)))
    group = _pick(rng, (None, *GROUPS))
    sense = _pick(rng, ("<=", "<=", "<=", "=="))
    return terms(document, _outcome(rng), lambda c: float(group in (None, c["group"]))), sense, limit


def _floor(rng: np.random.Generator, document: Document) -> Row:
    search = _pick(rng, tuple(document["searches"]))
    candidate = _pick(rng, tuple(search["candidates"]))
    minimum = _pick(rng, (0.0, 0.125, 0.25, 0.5, 1.0))
    return {(search["id"], candidate["id"], key): 1.0 for key in _outcome(rng)(candidate)}, ">=", minimum


def _value_specific(rng: np.random.Generator, document: Document) -> Row:
    minimum = {"X": float(rng.integers(-3, 9)), "Y": float(rng.integers(-3, 9)), "Z": 0.0}
    coefficients, _, _ = parity(document, lambda c: selected(c, minimum[c["group"]]))
    return coefficients, *_pick(rng, (("==", 0.0), ("<=", 0.0), (">=", 0.0), (">=", 0.25)))


def _arbitrary(rng: np.random.Generator, document: Document) -> Row:
    every = terms(document, lambda c: [*_leaving(c), *selected(c)], lambda c: 1.0)
    integral = rng.random() < 0.5
    coefficients = {
        key: float(rng.integers(-2, 3)) if integral else float(rng.normal()) for key in every if rng.random() < 0.6
    }
    bound = float(_pick(rng, (-0.5, 0.0, 0.0, 0.25, 0.5, 1.0)) if integral else rng.normal(scale=0.5))
    return {key: c for key, c in coefficients.items() if c != 0}, _pick(rng, ("<=", ">=", "==")), bound


def _total(rng: np.random.Generator, document: Document) -> Row:
    """Near the capacity, or beyond it: often infeasible."""
    capacity = sum(search["capacity"] for search in document["searches"])
    return terms(document, selected, lambda c: 1.0), _pick(rng, (">=", "==")), capacity + _pick(rng, (-0.75, -0.5, 0.5))


def _leaving(candidate: Document) -> list[StateKey]:
    if "values" in candidate:
        return ["inspected"]
    return [name for name, state in candidate["states"].items() if state.get("to")]


_KINDS: tuple[Callable[[np.random.Generator, Document], Row], ...] = (
    *(_parity, _parity, _quota, _quota, _budget, _budget, _floor, _value_specific, _arbitrary, _arbitrary, _total),
)

_seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@st.composite
def box_instances(draw: st.DrawFn, max_candidates: int = 4, max_searches: int = 2) -> Document:
    """Documents of `box_instance`."""
    searches = draw(st.integers(1, max_searches))
    candidates = draw(st.integers(1, max_candidates if searches == 1 else min(max_candidates, 3)))
    support = draw(st.none() | st.integers(1, 3))
    return box_instance(draw(_seeds), searches=searches, candidates=candidates, support=support)


@st.composite
def chain_instances(draw: st.DrawFn, max_candidates: int = 3, max_searches: int = 2) -> Document:
    """Documents of `chain_instance`."""
    searches, candidates = draw(st.integers(1, max_searches)), draw(st.integers(1, max_candidates))
    states = draw(st.none() | st.integers(2, 5))
    return chain_instance(draw(_seeds), searches=searches, candidates=candidates, states=states)


def add_limits(rng: np.random.Generator, document: Document) -> Document:
    """The document with random laminar limits: a set is cut in two or three, and its parts again."""

    def nest(search: Document, names: list[str], depth: int) -> None:
        if rng.random() < 0.8 and (depth or rng.random() < 0.3):
            capacity = int(rng.integers(0 if rng.random() < 0.1 else 1, len(names) + 1))
            search["limits"].append({"label": f"{depth}{names}", "capacity": capacity, "candidates": names})
        if len(names) > 1 and depth < 3:
            cut = int(rng.integers(1, len(names)))
            nest(search, names[:cut], depth + 1)
            nest(search, names[cut:], depth + 1)

    for search in document["searches"]:
        search["limits"] = []
        names = [str(candidate["id"]) for candidate in search["candidates"]]
        nest(search, [str(name) for name in rng.permutation(names)], 0)
    return document


@st.composite
def limited(draw: st.DrawFn, instances: st.SearchStrategy[Document]) -> Document:
    """Documents with limits inside their searches."""
    return add_limits(draw(_seeds), draw(instances))


@st.composite
def problems(draw: st.DrawFn, instances: st.SearchStrategy[Document], max_rows: int = 4) -> tuple[Document, list[Row]]:
    """An instance and 1..max_rows rows on it, e.g. `problems(box_instances())`."""
    document = draw(instances)
    return document, random_rows(draw(_seeds), document, draw(st.integers(1, max_rows)))
