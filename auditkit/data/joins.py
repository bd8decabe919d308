"""Several tables become one: files of one shape are put below each other, others beside, by an id they share.

The table in which the id occurs once lends its columns to the other: who somebody is, on a second sheet or in a second
file. Nothing is joined where no id fits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import pandas as pd

from auditkit.data.columns import named
from auditkit.data.numbers import clean_ids
from auditkit.data.problems import Notice
from auditkit.data.raw_table import RawTable
from auditkit.data.vocabulary import plain, spoken
from auditkit.errors import InputError, Problem

_COVERED, _SURE = 0.5, 0.9
"""Share of the ids of one table that another must know to belong to it; more where nothing but the values says so."""


_LONGEST_LEGEND = 200
"""Rows of a table that says what the codes of another mean."""


def together(tables: Sequence[RawTable]) -> RawTable:
    """One table of several files; an InputError if they have nothing in common."""
    first = tables[0]
    for other in tables[1:]:
        name = Path(other.source.path).stem
        if go_on(first, other) or (_same_columns(first, other) and listed(first, name, other) is None):
            first = below(first, other)
        elif (
            joined := listed(first, name, other)
            or beside(first, other)
            or explained(first, other)
            or explained(other, first)
        ) is not None:
            first = joined
        else:
            place = f"{first.source.path} and {other.source.path}"
            what = "have neither the same columns nor an id in common"
            raise InputError(Problem(place, what, "give both the column of one id, such as 'Candidate ID'"))
    digests = "".join(table.source.sha256 for table in tables)
    source = replace(
        first.source,
        path=" + ".join(Path(table.source.path).name for table in tables),
        sha256=hashlib.sha256(digests.encode()).hexdigest(),
    )
    return replace(first, source=source)


def _same_columns(first: RawTable, other: RawTable) -> bool:
    return {plain(str(name)) for name in first.table} == {plain(str(name)) for name in other.table}


def go_on(first: RawTable, other: RawTable) -> bool:
    """Whether a sheet has more rows of the same table: other years, other offices; not some of its rows once more."""
    if not _same_columns(first, other):
        return False
    known = {tuple(row) for row in first.table.itertuples(index=False)}
    more = below(first, other).table.iloc[len(first.table) :]
    return sum(tuple(row) in known for row in more.itertuples(index=False)) <= len(more) / 2


def below(first: RawTable, other: RawTable) -> RawTable:
    """The rows of both; those of the second are numbered on."""
    names = {plain(str(name)): name for name in first.table.columns}
    more = other.table.rename(columns={name: names[plain(str(name))] for name in other.table.columns})
    more.index = more.index + int(first.table.index.max())
    table = pd.concat([first.table, more[list(first.table.columns)]])
    text = f"{Path(other.source.path).name} has the same columns: its {len(more):,} rows are put below"
    source = replace(first.source, rows=first.source.rows + other.source.rows)
    return replace(first, table=table, source=source, notices=(*first.notices, Notice("files-below", text)))


def beside(first: RawTable, other: RawTable) -> RawTable | None:
    """The first table with the columns of the second, by an id that is unique in one of them; None if there is none."""
    found = _key(first.table, other.table)
    if found is None:
        return None
    mine, theirs = found
    if not _unique(other.table, theirs):
        first, other, mine, theirs = other, first, theirs, mine
    more = other.table.copy()
    more.index = pd.Index(_ids(more[theirs]))
    more = more[more.index != ""]
    written = more[theirs]
    more = more.drop(columns=[theirs])
    taken = {plain(str(name)) for name in first.table.columns}
    more = more[[name for name in more.columns if plain(str(name)) not in taken]]
    ids = _ids(first.table[mine])
    table = first.table.copy()
    for name in more.columns:
        table[name] = ids.map(more[name]).fillna("").astype("str")
    lost = int((~ids.isin(more.index)).sum())
    text = f"{len(more.columns)} columns of {Path(other.source.path).name} are joined by {mine!r}"
    if lost:
        text += f"; {lost:,} rows have no match there"
    alone = more[~more.index.isin(ids)]
    if len(alone) and ids.duplicated().any() and any(_says_who_was_selected(more[name]) for name in more):
        rows = alone.assign(**{mine: written[alone.index]}).reindex(columns=table.columns, fill_value="").astype("str")
        rows.index = pd.RangeIndex(len(rows)) + int(table.index.max()) + 1
        table = pd.concat([table, rows])
        text += f"; {len(alone):,} people who are listed only there are counted too"
    elif len(alone):
        text += f"; {len(alone):,} rows there have no match here and are left out"
    return replace(first, table=table, notices=(*first.notices, Notice("joined", text)))


def _says_who_was_selected(cells: pd.Series[str]) -> bool:
    """Whether some words of a column are known for the good outcome, and others for the bad one."""
    return {"selected", "rejected"} <= {spoken().meaning(str(word)) for word in pd.unique(cells)}


def explained(first: RawTable, legend: RawTable) -> RawTable | None:
    """The first table with words for its codes, where the second says what they mean; None if it is not a legend.

    A legend of one column is a list of codes and their meanings; one of several also says which column each is of.
    """
    said = legend.table
    if not 2 <= len(said) <= _LONGEST_LEGEND or len(said.columns) < 2 or len(first.table) <= len(said):
        return None
    columns = {plain(str(name)): str(name) for name in first.table}
    fields = said.iloc[:, 0].where(said.iloc[:, 0] != "").ffill().fillna("").map(plain)  # often written once for all
    if len(said.columns) > 2 and fields.isin(list(columns)).mean() >= _SURE:
        lists = {columns[name]: part.iloc[:, 1:] for name, part in said.groupby(fields) if name in columns}
        found = {name: words for name, part in lists.items() if (words := _meanings(first.table[name], part))}
    else:
        found = {name: words for name in map(str, first.table) if (words := _meanings(first.table[name], said))}
        if len(found) > 1:  # 1 and 2 may be codes of anything: the legend says of what
            about = plain(f"{legend.source.path} {' '.join(map(str, said.columns))}")
            told = [name for name in found if any(f" {word} " in f" {about} " for word in plain(name).split())]
            found = {name: found[name] for name in told} if len(told) == 1 else {}
    if not found:
        return None
    text = f"{legend.source.path} says what the codes in {', '.join(map(repr, found))} mean"
    cells = {
        name: first.table[name].map(lambda cell, w=words: w.get(_code(cell), cell)) for name, words in found.items()
    }
    table = first.table.assign(**{name: column.astype("str") for name, column in cells.items()})
    return replace(first, table=table, notices=(*first.notices, Notice("legend", text)))


def _meanings(cells: pd.Series[str], said: pd.DataFrame) -> dict[str, str]:
    """What each code of a column means, by a list of codes and meanings; nothing where the list is not of its codes."""
    codes, meanings = said.iloc[:, 0].map(_code), said.iloc[:, 1]
    if not codes.is_unique or (codes == "").any() or (meanings == "").any() or meanings.nunique() < 2:
        return {}
    held = {_code(cell) for cell in cells.unique()} - {""}
    known = len(held) > 1 and len(held & set(codes)) >= _SURE * len(held) and not held & (set(meanings) - set(codes))
    return dict(zip(codes, meanings, strict=True)) if known else {}


def _code(cell: str) -> str:
    """A code without the zeros that a spreadsheet adds or drops: `090` and `90`."""
    return cell.lstrip("0") or cell if cell.isdigit() else cell


def listed(first: RawTable, name: str, part: RawTable) -> RawTable | None:
    """The first table with a column that says whose rows a second table has once more, such as those interviewed."""
    names, theirs = ({plain(column): column for column in map(str, raw.table)} for raw in (first, part))
    keys = [key for key in theirs if key in names and named(names[key], "candidate")]
    if not theirs.keys() <= names.keys() or name in first.table or not 0 < len(part.table) < len(first.table):
        return None
    if not keys or not _unique(first.table, names[keys[0]]):
        return None
    own, ids = _ids(first.table[names[keys[0]]]), _ids(part.table[theirs[keys[0]]])
    if not ids.isin(own).all() or not ids.is_unique:
        return None
    flags = own.isin(ids).map({True: "yes", False: "no"}).astype("str")
    text = f"{part.source.path} lists {len(ids):,} of the rows once more: {name!r} says which"
    return replace(first, table=first.table.assign(**{name: flags}), notices=(*first.notices, Notice("listed", text)))


def _key(one: pd.DataFrame, other: pd.DataFrame) -> tuple[str, str] | None:
    """The pair of columns by which two tables fit best: ids that one table has once, and the other knows."""
    best: tuple[float, str, str] | None = None
    mine_as, theirs_as = (cache(partial(_different_ids, table)) for table in (one, other))
    for mine in map(str, one.columns):
        for theirs in map(str, other.columns):
            same = plain(mine) == plain(theirs)
            if not (_unique(one, mine) or _unique(other, theirs)):
                continue
            told = same or bool(named(mine, "candidate") and named(theirs, "candidate"))
            ids, known = mine_as(mine), theirs_as(theirs)
            if min(len(ids), len(known)) < 2:
                continue
            share = len(ids & known) / min(len(ids), len(known)) + same + told
            if not told and not (_are_ids(ids) and _are_ids(known)):
                continue
            if share - same - told >= (_COVERED if told else _SURE) and (best is None or share > best[0]):
                best = (share, mine, theirs)
    return None if best is None else best[1:]


def _ids(cells: pd.Series[str]) -> pd.Series[str]:
    """As they are compared: some systems write addresses in capitals."""
    ids = clean_ids(cells)
    small = ids.str.casefold()
    return small if small.nunique() == ids.nunique() else ids


def _different_ids(table: pd.DataFrame, column: str) -> set[str]:
    return set(_ids(table[column])) - {""}


def _are_ids(cells: set[str]) -> bool:
    """Whether values can hardly be anything else: many, long, and not the numbers of the rows."""
    return len(cells) >= 20 and min(map(len, cells)) >= 4


def _unique(table: pd.DataFrame, column: str) -> bool:
    cells = table[column][table[column] != ""]
    return len(cells) > 1 and bool(cells.is_unique)
