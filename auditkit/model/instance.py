"""An instance of sequential search: independent searches, solved together because constraints may span them all.

The solver sees only their `layout`: all states of all candidates of all searches in flat arrays, built once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from auditkit.display import Shown
from auditkit.errors import InputError, Problem, nearest, wrong_type
from auditkit.files import write_json
from auditkit.model.groups import UNKNOWN, Groups, group_column, groups_of
from auditkit.model.layout import ByKind, Ints, Layout, lay_out
from auditkit.model.limits import Limit
from auditkit.model.search import Box, Chain, Search, State, entries, uncertain_attributes
from auditkit.text import count

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from pydantic import JsonValue

INSTANCE, UNCERTAIN_INSTANCE = "auditkit-instance/1", "auditkit-instance/2"
"""The second format has `membership`; a file without it is written in the first."""


@dataclass(frozen=True, eq=False)
class Instance(Shown):
    """Independent searches, solved together because constraints may span them all."""

    searches: Sequence[Search]

    if TYPE_CHECKING:  # it accepts wider types than it stores

        def __init__(self, searches: Iterable[Search]) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "searches", entries("searches", self.searches, (Search,), "Search"))
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

    @property
    def warnings(self) -> list[str]:
        """Likely mistakes: rejections that are marked as selections."""
        odd = {
            (name, candidate.id, search.id): None
            for search in self.searches
            for candidate in search.candidates
            if isinstance(candidate, Chain)
            for name in candidate.worthless_selections
        }
        states = dict.fromkeys(name for name, _, _ in odd)
        return [
            f"the state {name!r} is terminal, which means selected, and pays 0 while others pay "
            f"(candidate {who!r} in search {where!r}): a rejection must not be terminal"
            for name in states
            for who, where in [next((c, s) for n, c, s in odd if n == name)]
        ]

    def __getitem__(self, search: str) -> Search:
        """The search with this id."""
        for one in self.searches:
            if one.id == search:
                return one
        raise InputError(Problem("search", f"there is no search {search!r}", nearest(search, self.layout.search_ids)))

    def replace(self, *, capacities: Mapping[str, int] | None = None, only: Iterable[str] | None = None) -> Instance:
        """The instance with new capacities for some searches, or with only some of its searches."""
        kept = self.searches if only is None else [self[name] for name in only]
        if capacities is not None and not isinstance(capacities, Mapping):
            raise InputError(wrong_type("capacities", capacities, "a table of search id: positions"))
        other = dict(capacities or {})
        for name in other:
            self[name]
        return Instance(tuple(changed(s, capacity=other.get(s.id, s.capacity)) for s in kept))

    def among(self, searches: Ints) -> Instance:
        """Some of its searches, by position, without creating their candidates or laying them out a second time."""
        return LaidOut(ByKind(self.searches, searches), self.layout.among(searches))

    def to_json(self) -> dict[str, JsonValue]:
        """The document `auditkit-instance/1` (`/2` where groups are uncertain), without constraints."""
        return _document(self)

    def save_json(self, path: str | Path) -> None:
        """Write the instance file."""
        write_json(path, self.to_json())

    @staticmethod
    def from_frame(frame: pd.DataFrame) -> Instance:
        """An instance from a table with one row for each value that a candidate may turn out to have.

        Columns `search`, `capacity`, `candidate`, `group` (or `group:NAME` for each protected attribute), `cost`,
        `value` and `prob`; optionally `true_value`, and `attribute:NAME` for anything else that candidates carry.
        `to_frame("values")` is the inverse.
        """
        import pandas as pd

        if not isinstance(frame, pd.DataFrame):
            raise InputError(wrong_type("frame", frame, "a DataFrame"))
        return _from_frame(frame)

    def to_frame(self, part: Literal["candidates", "values"] = "candidates") -> pd.DataFrame:
        """The candidates, or the values that they may turn out to have, as a table.

        `candidates`: one row per candidate; boxes, which have one inspection, have a cost and a mean value.
        `values`: one row per value of each box, without loss (see `from_frame`); chains don't have such a table.
        """
        import pandas as pd

        if part == "values":
            return pd.DataFrame(_value_rows(self))
        if part != "candidates":
            raise InputError(Problem("to_frame", f"there is no table {part!r}", "tables: candidates, values"))
        names = list(self.layout.protected)
        columns = ["search", "capacity", "candidate", *map(group_column, names), "cost", "mean_value"]
        rows = [
            (search.id, search.capacity, c.id, *(groups_of(c.group).get(name, UNKNOWN) for name in names))
            + ((c.cost, float(c.values @ c.probs)) if isinstance(c, Box) else (None, None))
            for search in self.searches
            for c in search.candidates
        ]
        return pd.DataFrame(rows, columns=columns)

    def __repr__(self) -> str:
        return _told(sum(len(search.candidates) for search in self.searches), len(self.searches))

    def _facts(self) -> list[str]:
        return [f"positions: {count(int(self.layout.capacity.sum()))}"]

    def _tables(self) -> list[pd.DataFrame]:
        sizes = [(name, *row) for name, part in self.layout.protected.items() for row in zip(part.names, part.sizes)]
        import pandas as pd

        return [pd.DataFrame(sizes, columns=["attribute", "group", "candidates"])]


@dataclass(frozen=True, eq=False, repr=False)
class LaidOut(Instance):
    """An instance defined by its layout; `searches` may create each search on demand."""

    layout: Layout = field()  # no default: it replaces what an instance derives

    def __post_init__(self) -> None:
        """Nothing to check: whatever was laid out was checked."""

    def __repr__(self) -> str:
        return _told(len(self.layout.candidate_ids), len(self.layout.search_ids))


def _told(candidates: int, searches: int) -> str:
    return f"<Instance: {candidates:,} candidates in {searches:,} searches>"


def _document(instance: Instance) -> dict[str, JsonValue]:
    """An instance as a document, without constraints."""
    searches: list[JsonValue] = [
        {
            "id": search.id,
            "capacity": search.capacity,
            "candidates": [_box(c) if isinstance(c, Box) else _chain(c) for c in search.candidates],
            **({"limits": [_limit(limit) for limit in search.limits]} if search.limits else {}),
        }
        for search in instance.searches
    ]
    uncertain = any(uncertain_attributes(c) for search in instance.searches for c in search.candidates)
    return {"format": UNCERTAIN_INSTANCE if uncertain else INSTANCE, "searches": searches}


def _limit(limit: Limit) -> dict[str, JsonValue]:
    document: dict[str, JsonValue] = {"label": limit.label, "capacity": limit.capacity}
    if limit.candidates is not None:
        return document | {"candidates": list(limit.candidates)}
    return document | {"by": limit.by, "value": limit.value}


def _group(group: Groups) -> dict[str, JsonValue]:
    """The key `group`, absent if all groups are uncertain."""
    return {"group": group if isinstance(group, str) else dict(group)} if group else {}


def _box(box: Box) -> dict[str, JsonValue]:
    document: dict[str, JsonValue] = {"id": box.id, **_group(box.group), "cost": box.cost}
    document |= {"values": box.values.tolist(), "probs": box.probs.tolist()}
    if box.true_values is not None:
        document["true_values"] = box.true_values.tolist()
    if box.membership:
        document["membership"] = {
            name: {group: {"before": own.before, "given": own.given.tolist()} for group, own in groups.items()}
            for name, groups in box.membership.items()
        }
    return document | ({"attributes": dict(box.attributes)} if box.attributes else {})


def _chain(chain: Chain) -> dict[str, JsonValue]:
    document: dict[str, JsonValue] = {
        "id": chain.id,
        **_group(chain.group),
        "start": chain.start,
        "states": {state.name: _state(state) for state in chain.states},
    }
    return document | ({"attributes": dict(chain.attributes)} if chain.attributes else {})


def _state(state: State) -> dict[str, JsonValue]:
    document: dict[str, JsonValue] = {"stage": state.stage} if state.stage is not None else {}
    document["reward"] = state.reward
    if state.selected:
        document["terminal"] = True
    else:
        document["to"] = dict(state.to)
    if state.membership:
        document["membership"] = {name: dict(groups) for name, groups in state.membership.items()}
    return document | ({"true_reward": state.true_reward} if state.true_reward is not None else {})


_SEARCH, _BOX, _VALUE = ["search", "capacity"], ["candidate", "group", "cost"], ["value", "prob"]
_COLUMNS = [*_SEARCH, *_BOX, *_VALUE]
_TRUE, _ATTRIBUTE, _GROUP = "true_value", "attribute:", "group:"


def _value_rows(instance: Instance) -> dict[str, list[Any]]:
    """The columns of the table of values."""
    candidates = [(search, c) for search in instance.searches for c in search.candidates]
    boxes = [(search, c) for search, c in candidates if isinstance(c, Box)]
    if len(boxes) < len(candidates):
        what = f"{len(candidates) - len(boxes)} candidates have several stages, which this table cannot hold"
        raise InputError(Problem("to_frame", what, "save_json writes any instance"))
    if any(box.membership for _, box in boxes):
        raise InputError(Problem("to_frame", "has no columns for membership", "save_json writes any instance"))
    if limited := sum(bool(search.limits) for search in instance.searches):
        what = f"{limited} searches have limits, which this table cannot hold"
        raise InputError(Problem("to_frame", what, "save_json writes any instance"))
    long = [(search, box, j) for search, box in boxes for j in range(len(box.values))]
    columns: dict[str, list[Any]] = {
        "search": [search.id for search, _, _ in long],
        "capacity": [search.capacity for search, _, _ in long],
        "candidate": [box.id for _, box, _ in long],
        **_group_columns([box for _, box, _ in long]),
        "cost": [box.cost for _, box, _ in long],
        "value": [float(box.values[j]) for _, box, j in long],
        "prob": [float(box.probs[j]) for _, box, j in long],
    }
    if any(box.true_values is not None for _, box in boxes):
        columns[_TRUE] = [None if box.true_values is None else float(box.true_values[j]) for _, box, j in long]
    for name in dict.fromkeys(name for _, box in boxes for name in box.attributes):
        columns[_ATTRIBUTE + name] = [box.attributes.get(name) for _, box, _ in long]
    return columns


def _group_columns(boxes: list[Box]) -> dict[str, list[Any]]:
    """`group`, or `group:NAME` for each attribute where they have names."""
    if all(isinstance(box.group, str) for box in boxes):
        return {"group": [box.group for box in boxes]}
    each = [groups_of(box.group) for box in boxes]
    names = dict.fromkeys(name for groups in each for name in groups)
    return {group_column(name): [groups.get(name, UNKNOWN) for groups in each] for name in names}


def _from_frame(frame: pd.DataFrame) -> Instance:
    attributes = [str(name) for name in frame.columns if str(name).startswith(_ATTRIBUTE)]
    named = [str(name) for name in frame.columns if str(name).startswith(_GROUP)]
    optional = [name for name in (_TRUE, *attributes) if name in frame.columns]
    needed = [name for name in _COLUMNS if name != "group" or not named]
    problems = [Problem(f"column {name!r}", "is missing") for name in needed if name not in frame.columns]
    for name in frame.columns:
        if name not in (*needed, *named, *optional):
            problems.append(Problem(f"column {name!r}", "is not known", f"columns: {', '.join([*_COLUMNS, _TRUE])}"))
    if not problems:
        frame = frame.reset_index(drop=True)
        problems = _cell_problems(frame, optional)
    if problems:
        raise InputError(problems)

    searches = []
    for search_id, rows in frame.groupby("search", sort=False):
        place, boxes = f"search {str(search_id)!r}", []
        for box_id, values in rows.groupby("candidate", sort=False):
            first = values.iloc[0]
            given = {name.removeprefix(_ATTRIBUTE): first[name] for name in attributes}
            true = values[_TRUE] if _TRUE in values and values[_TRUE].notna().any() else None
            try:
                boxes.append(
                    Box(
                        str(box_id),
                        _groups_in(first, named),
                        float(first["cost"]),
                        values["value"],
                        values["prob"],
                        true,
                        {n: x if isinstance(x, str) else float(x) for n, x in given.items() if x == x},
                    )
                )
            except InputError as error:
                problems += [problem.at(f"{place}, candidate {str(box_id)!r}") for problem in error.problems]
        try:
            searches.append(Search(str(search_id), int(rows["capacity"].iloc[0]), boxes))
        except InputError as error:
            problems += [problem.at(place) for problem in error.problems]
    if problems:
        raise InputError(problems)
    return Instance(searches)


def _groups_in(row: pd.Series[Any], named: list[str]) -> Groups:
    if not named:
        return str(row["group"])
    return {n.removeprefix(_GROUP): None if row[n] in (None, UNKNOWN) else str(row[n]) for n in named}


def _cell_problems(frame: pd.DataFrame, optional: list[str]) -> list[Problem]:
    """Cells that are empty or not numbers, and rows of one search or candidate that contradict each other."""
    import pandas as pd

    problems = []
    groups = [str(name) for name in frame.columns if name == "group" or str(name).startswith(_GROUP)]
    for name in (n for n in _COLUMNS if n in frame):
        if (empty := frame[name].isna()).any():
            problems.append(Problem(f"column {name!r}, row {empty.idxmax()}", "is empty"))
    texts = [name for name in optional if name.startswith(_ATTRIBUTE)]
    for name in ("capacity", "cost", *_VALUE, *(n for n in optional if n not in texts)):
        if not pd.api.types.is_numeric_dtype(frame[name]) and frame[name].notna().any():
            problems.append(Problem(f"column {name!r}", "does not hold numbers", "convert it with pandas.to_numeric"))
    if not problems and (frame["capacity"] % 1 != 0).any():
        problems.append(Problem("column 'capacity'", "must hold whole numbers"))
    once = [(name, ["search", "candidate"], "candidate") for name in (*groups, "cost", *optional) if name != _TRUE]
    for name, keys, what in [("capacity", ["search"], "search"), *once]:
        differs = frame[name].ne(frame.groupby(keys)[name].transform("first")) & frame[name].notna()
        if differs.any():
            problems.append(
                Problem(f"column {name!r}, row {differs.idxmax()}", f"differs from another row of the same {what}")
            )
    return problems
