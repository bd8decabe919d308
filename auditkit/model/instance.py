"""An instance of sequential search: independent searches, solved together because constraints may span them all.

The solver sees none of these objects but their `layout`: all states of all candidates of all searches in flat arrays,
built once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from auditkit.errors import InputError, Problem
from auditkit.files import write_json
from auditkit.model.layout import Layout, lay_out
from auditkit.model.search import Box, Chain, Search, State

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

INSTANCE = "auditkit-instance/1"


@dataclass(frozen=True, eq=False)
class Instance:
    """Independent searches, solved together because constraints may span them all."""

    searches: tuple[Search, ...]

    if TYPE_CHECKING:  # what it takes is wider than what it holds

        def __init__(self, searches: Iterable[Search]) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "searches", tuple(self.searches))
        seen: set[str] = set()
        problems = []
        if not self.searches:
            problems.append(Problem("searches", "there must be at least one search"))
        for i, search in enumerate(self.searches):
            if search.id in seen:
                problems.append(Problem(f"searches[{i}].id", f"{search.id!r} occurs twice"))
            seen.add(search.id)
        if problems:
            raise InputError(problems)

    @cached_property
    def layout(self) -> Layout:
        """All states in flat arrays: what constraints bind to and the solver computes with."""
        return lay_out(self.searches)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that occur, sorted."""
        return self.layout.groups

    def to_json(self) -> dict[str, Any]:
        """The document `auditkit-instance/1`, without constraints."""
        return _document(self)

    def save_json(self, path: str | Path) -> None:
        """Write the instance file."""
        write_json(path, self.to_json())

    def to_frame(self) -> pd.DataFrame:
        """One row per candidate; cost and mean value are those of boxes, which have one inspection."""
        import pandas as pd

        rows = [
            (search.id, search.capacity, c.id, c.group)
            + ((c.cost, float(c.values @ c.probs)) if isinstance(c, Box) else (None, None))
            for search in self.searches
            for c in search.candidates
        ]
        return pd.DataFrame(rows, columns=["search", "capacity", "candidate", "group", "cost", "mean_value"])

    def __repr__(self) -> str:
        n = sum(len(search.candidates) for search in self.searches)
        return f"<Instance: {n:,} candidates in {len(self.searches):,} searches>"

    def _repr_html_(self) -> str:
        from auditkit import display

        layout = self.layout
        sizes = list(zip(layout.groups, layout.group_sizes.tolist(), strict=True))
        facts = [f"positions: {display.number(int(layout.capacity.sum()))}"]
        return display.card(repr(self).strip("<>"), facts, display.Table(["group", "candidates"], sizes, right=1))


def _document(instance: Instance) -> dict[str, Any]:
    """An instance as a document of format auditkit-instance/1, without constraints."""
    searches = [
        {
            "id": search.id,
            "capacity": search.capacity,
            "candidates": [_box(c) if isinstance(c, Box) else _chain(c) for c in search.candidates],
        }
        for search in instance.searches
    ]
    return {"format": INSTANCE, "searches": searches}


def _box(box: Box) -> dict[str, Any]:
    document: dict[str, Any] = {"id": box.id, "group": box.group, "cost": box.cost}
    document |= {"values": box.values.tolist(), "probs": box.probs.tolist()}
    if box.true_values is not None:
        document["true_values"] = box.true_values.tolist()
    return document | ({"attributes": dict(box.attributes)} if box.attributes else {})


def _chain(chain: Chain) -> dict[str, Any]:
    document = {
        "id": chain.id,
        "group": chain.group,
        "start": chain.start,
        "states": {state.name: _state(state) for state in chain.states},
    }
    return document | ({"attributes": dict(chain.attributes)} if chain.attributes else {})


def _state(state: State) -> dict[str, Any]:
    document: dict[str, Any] = {"stage": state.stage} if state.stage is not None else {}
    document["reward"] = state.reward
    if state.terminal:
        document["terminal"] = True
    else:
        document["to"] = dict(state.to)
    return document | ({"true_reward": state.true_reward} if state.true_reward is not None else {})
