"""An instance of sequential search: independent searches, solved together because constraints may span them all.

The solver sees none of these objects but their `layout`: all states of all candidates of all searches in flat arrays,
built once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from auditkit.display import Shown
from auditkit.errors import InputError, Problem
from auditkit.files import write_json
from auditkit.model.groups import UNKNOWN
from auditkit.model.layout import Layout, lay_out
from auditkit.model.search import Box, Chain, Groups, Search, State, groups_of
from auditkit.text import count

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

INSTANCE = "auditkit-instance/1"


@dataclass(frozen=True, eq=False)
class Instance(Shown):
    """Independent searches, solved together because constraints may span them all."""

    searches: tuple[Search, ...]

    def __post_init__(self) -> None:
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

        names = list(self.layout.protected)
        rows = [
            (search.id, search.capacity, c.id, *(groups_of(c.group).get(name, UNKNOWN) for name in names))
            + ((c.cost, float(c.values @ c.probs)) if isinstance(c, Box) else (None, None))
            for search in self.searches
            for c in search.candidates
        ]
        return pd.DataFrame(rows, columns=["search", "capacity", "candidate", *names, "cost", "mean_value"])

    def __repr__(self) -> str:
        n = sum(len(search.candidates) for search in self.searches)
        return f"<Instance: {n:,} candidates in {len(self.searches):,} searches>"

    def _facts(self) -> list[str]:
        return [f"positions: {count(int(self.layout.capacity.sum()))}"]

    def _tables(self) -> list[pd.DataFrame]:
        return [self.to_frame().groupby("group").size().rename("candidates").reset_index()]


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


def _group(group: Groups) -> str | dict[str, str | None]:
    return group if isinstance(group, str) else dict(group)


def _box(box: Box) -> dict[str, Any]:
    document: dict[str, Any] = {"id": box.id, "group": _group(box.group), "cost": box.cost}
    document |= {"values": box.values.tolist(), "probs": box.probs.tolist()}
    if box.true_values is not None:
        document["true_values"] = box.true_values.tolist()
    return document | ({"attributes": dict(box.attributes)} if box.attributes else {})


def _chain(chain: Chain) -> dict[str, Any]:
    document = {
        "id": chain.id,
        "group": _group(chain.group),
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
