"""One row per event becomes one row per application, with a column for each stage.

Events that end an application (hired, rejected, withdrawn, offer declined) become its final status, the last one
counting; those that begin it (applied) only say that it exists; all others are stages. Their order is the given one,
or that of the dates (each pair in the order in which most applications passed them), or else by how many reached them.
"""

from __future__ import annotations

from collections import abc
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.problems import Collector, Notice
from auditkit.data.roles import Choice, Mapping
from auditkit.data.values import read_dates, read_ids
from auditkit.data.vocabulary import HIRED, plain, spoken
from auditkit.errors import InputError, Problem, nearest

_FINAL = "final event"
_STAGE_ROLES = ("stage", "stages")
_ENDS = ("selected", "declined", "rejected", "withdrawn")
_CLEAR = 0.8
"""Share of the applications that must agree on the order of two neighbouring stages for it to be called clear."""


@dataclass(frozen=True, eq=False)
class Applications:
    """A table of text as `clean` takes it: one row per application; `columns` are those of the stages in order."""

    table: pd.DataFrame
    mapping: Mapping
    stages: tuple[str, ...]
    columns: tuple[str, ...]
    score_stage: str | None
    selected: str | None = None


def pivot(
    table: pd.DataFrame, mapping: Mapping, words: dict[str, str], collector: Collector, notices: list[Notice]
) -> Applications:
    """Put the events of each application together."""
    stage_column = _only(mapping, "stage")
    table = table.copy()
    person = _only(mapping, "candidate")
    table[person] = read_ids(table[person], table.index, person, collector)
    keys = [person, *mapping.columns("search")]
    app = table.groupby(keys, sort=False).ngroup()
    codes, labels = _codes(table[stage_column], words)
    collector.add("missing-stage", codes == "missing", stage_column, table[stage_column])

    date_column = mapping.column("date")
    dates = None if date_column is None else read_dates(table[date_column], date_column, collector, "date")
    if dates is not None and date_column is not None:
        table[date_column] = dates.dt.strftime("%Y-%m-%dT%H:%M:%S").fillna("").astype("str")
        order = dates.reset_index(drop=True).sort_values(kind="stable", na_position="last").index
        table, app, dates = table.iloc[order], app.iloc[order], dates.iloc[order]
        codes, labels = codes.iloc[order], labels.iloc[order]
    found = list(dict.fromkeys(labels[codes == "stage"]))
    if not found:
        raise InputError(
            Problem(stage_column, "no event is a stage between application and decision", "map another column")
        )
    stages = _in_order(found, app, labels, codes, dates, mapping.columns("stages"), stage_column, notices)

    first_row = pd.Series(table.index, index=app.to_numpy()).groupby(level=0).min().sort_index()
    merged = _merge(table, app, mapping, collector)
    columns = []
    for name in stages:
        reached = np.zeros(len(merged), dtype=bool)
        reached[app[(labels == name) & (codes == "stage")].unique()] = True
        columns.append(f"stage:{name}")
        merged[f"stage:{name}"] = pd.Series(np.where(reached, "yes", ""), dtype="str")
    choices = [c for c in mapping.choices if c.role not in _STAGE_ROLES]
    final = _final(app, codes, merged, columns[-1], notices)
    if final is not None:
        status_column = mapping.column("selected")
        if status_column is None:
            merged[_FINAL] = final
            choices.append(Choice("selected", (_FINAL,), "the last event that decides"))
        else:
            merged[status_column] = merged[status_column].where(merged[status_column] != "", final)
    score_stage = _most_scores(table, mapping, codes, labels)
    choices = _cost_by_stage(choices, table, app, labels, codes, merged, stages, mapping)
    merged.index = pd.Index(first_row.to_numpy())
    notices.append(
        Notice("events", f"{len(table):,} events of {len(merged):,} applications; stages: {', '.join(stages)}")
    )
    hired = labels[codes == "selected"]
    selected = None if hired.empty or mapping.column("selected") else str(hired.mode().iloc[0])
    roles = Mapping(tuple(choices), mapping.unused)
    return Applications(merged, roles, stages, tuple(columns), score_stage, selected)


def _only(mapping: Mapping, role: str) -> str:
    column = mapping.column(role)
    assert column is not None, role
    return column


def _codes(cells: pd.Series[Any], words: dict[str, str]) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """What each event is (`start`, `stage`, `missing` or a final status), and its name in the usual spelling."""
    index, found = pd.factorize(cells)
    often = np.bincount(index)
    spelling: dict[str, tuple[int, str]] = {}
    for word, count in zip(found, often, strict=True):
        spelling[plain(word)] = max(spelling.get(plain(word), (0, "")), (int(count), str(word)))
    codes, labels = [], []
    for word in found:
        text = plain(word)
        code = words.get(text) or spoken().meaning(str(word))
        step = text in spoken().words("cells", "offer") or text in ("pass", "passed", "fail", "failed")
        somewhere = code == "selected" and spoken().step_rank(str(word)) not in (None, HIRED)
        ends = code in _ENDS and not step and not somewhere
        start = text in spoken().words("cells", "start")
        missing = spoken().is_missing(str(word))
        codes.append("missing" if missing else "start" if start else str(code) if ends else "stage")
        labels.append(spelling[text][1])
    spread = [pd.Series(part, dtype="str").take(index).set_axis(cells.index) for part in (codes, labels)]
    return spread[0], spread[1]


def _in_order(
    found: list[str],
    app: pd.Series[Any],
    labels: pd.Series[Any],
    codes: pd.Series[Any],
    dates: pd.Series[Any] | None,
    given: tuple[str, ...],
    column: str,
    notices: list[Notice],
) -> tuple[str, ...]:
    if given:
        by_key = {plain(name): name for name in found}
        wrong = [name for name in given if plain(name) not in by_key]
        if wrong:
            raise InputError(
                [Problem(f"--map stages={n}", f"{n!r} does not occur in {column!r}", nearest(n, found)) for n in wrong]
            )
        stages = tuple(by_key[plain(name)] for name in given)
        if rest := [name for name in found if name not in stages]:
            notices.append(Notice("stages-left-out", f"events that are none of the given stages: {', '.join(rest)}"))
        return stages
    here = codes == "stage"
    frame = pd.DataFrame({"app": app[here].to_numpy(), "stage": labels[here].to_numpy()})
    frame["date"] = pd.NaT if dates is None else dates[here].to_numpy()
    often = frame.drop_duplicates(["app", "stage"])["stage"].value_counts()
    by_count = sorted(found, key=lambda name: -int(often[name]))
    if len(found) == 1:
        return (found[0],)
    if frame["date"].isna().all():
        notices.append(_order_notice(by_count, "by how many reached them, as there are no dates"))
        return tuple(by_count)
    first = frame.groupby(["app", "stage"])["date"].min().unstack("stage")
    times = first[by_count].to_numpy(dtype="datetime64[us]")
    n = len(by_count)
    ahead, clear = np.zeros((n, n)), np.ones((n, n), dtype=bool)
    for i in range(n):
        for j in range(n):
            before, after = int((times[:, i] < times[:, j]).sum()), int((times[:, i] > times[:, j]).sum())
            # no pair in common: the one that more people reached comes first
            ahead[i, j] = before > after if before != after else i < j
            clear[i, j] = max(before, after) >= _CLEAR * max(1, before + after)
    order = sorted(range(n), key=lambda i: (-ahead[i].sum(), i))
    stages = tuple(by_count[i] for i in order)
    sure = all(clear[i, j] for i, j in pairwise(order))
    notices.append(_order_notice(stages, "by their dates" if sure else "by their dates, which do not agree well"))
    return stages


def _order_notice(stages: abc.Sequence[str], why: str) -> Notice:
    return Notice("stage-order", f"stages are in order {why}", f'to set it: --map "stages={"+".join(stages)}"')


def _merge(table: pd.DataFrame, app: pd.Series[Any], mapping: Mapping, collector: Collector) -> pd.DataFrame:
    """One row per application: what is known last of the score, the status and the outcome, and first of the rest."""
    late = {
        column for role in ("score", "selected", "outcome", "inspected", "reason") for column in mapping.columns(role)
    }
    used = dict.fromkeys(c for choice in mapping.choices if choice.role not in _STAGE_ROLES for c in choice.columns)
    merged = {}
    for column in used:
        grouped = table[column].where(table[column] != "").groupby(app.to_numpy())
        merged[column] = (grouped.last() if column in late else grouped.first()).fillna("")
    result = pd.DataFrame(merged).sort_index().astype("str")
    for column in (*mapping.columns("group"), *mapping.columns("capacity")):
        cells = table[column]
        first = result[column].to_numpy()[app.to_numpy()]
        same = cells.str.casefold().to_numpy() == pd.Series(first, dtype="str").str.casefold().to_numpy()
        known = ~cells.map(spoken().is_unknown).astype(bool).to_numpy()
        other = ~same & known
        collector.add_pairs(
            "conflicting-value", column, cells.index[other].tolist(), cells[other].tolist(), first[other].tolist()
        )
    return result


def _final(
    app: pd.Series[Any], codes: pd.Series[Any], merged: pd.DataFrame, last_stage: str, notices: list[Notice]
) -> pd.Series[Any] | None:
    """The last deciding event of each application; None if no event decides anything."""
    ends = codes.isin(_ENDS)
    if not ends.any():
        return None
    final = codes[ends].groupby(app[ends].to_numpy()).last().reindex(range(len(merged))).fillna("")
    if not codes.isin(["selected", "declined"]).any():
        final = final.where((final != "") | (merged[last_stage] == ""), "selected")
    open_end = "pending"
    if not (codes == "rejected").any():
        # a log without one rejection does not record them
        open_end = "rejected"
        notices.append(
            Notice("no-rejections", "no event is a rejection: applicants without a final event count as rejected")
        )
    return final.where(final != "", open_end).astype("str").replace({"declined": "offer declined"})


def _most_scores(table: pd.DataFrame, mapping: Mapping, codes: pd.Series[Any], labels: pd.Series[Any]) -> str | None:
    column = mapping.column("score")
    if column is None:
        return None
    scored = labels[(table[column] != "") & (codes == "stage")]
    return None if scored.empty else str(scored.mode().iloc[0])


def _cost_by_stage(
    choices: list[Choice],
    table: pd.DataFrame,
    app: pd.Series[Any],
    labels: pd.Series[Any],
    codes: pd.Series[Any],
    merged: pd.DataFrame,
    stages: tuple[str, ...],
    mapping: Mapping,
) -> list[Choice]:
    """A cost that changes from event to event is that of the stage."""
    column = mapping.column("cost")
    if column is None:
        return choices
    filled = table[column].where((table[column] != "") & (codes == "stage"))
    if filled.groupby(app.to_numpy()).nunique().max() <= 1:
        return choices
    names = []
    for stage in stages:
        here = filled.where(labels == stage)
        names.append(f"cost of {stage}")
        merged[names[-1]] = here.groupby(app.to_numpy()).last().reindex(range(len(merged))).fillna("").astype("str")
    return [Choice("cost", tuple(names), c.reason, c.given) if c.role == "cost" else c for c in choices]
