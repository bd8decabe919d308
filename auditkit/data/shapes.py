"""Tables of another shape become one row per application, or per category with its count.

Counts come in several shapes: `Department, Gender, Applicants, Interviewed, Hired` (one row per category); the same
with a column for each group; one row per category and stage; every characteristic below the other, each counting
everybody once; with subtotals, and with cells such as "<5". A person's race may be spread over yes/no columns, or
Hispanic asked apart from race.
"""

from __future__ import annotations

import re
from collections import abc
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.columns import by_name, characteristic_of, is_protected, named
from auditkit.data.dates import from_day_numbers, to_dates
from auditkit.data.numbers import to_numbers
from auditkit.data.problems import Notice
from auditkit.data.raw_table import RawTable
from auditkit.data.roles import NONE, Given, column_in
from auditkit.data.statuses import is_bad
from auditkit.data.steps import label_of
from auditkit.data.vocabulary import HIRED, plain, spoken
from auditkit.errors import InputError, Problem
from auditkit.model.session import current

_MOST_BLOCKS = 20
"""Attributes whose groups may stand below each other."""
_MOST_PAIRS = 60
"""Different cells of a column of sex and race."""
_MOST_ROWS = 5000
_MANY = 30
_SUMS = 4
"""Sums that must be right before a row counts as a total that no word calls so."""
_HIDES = 3
"""The smallest number shown, from which a mark beside it may hide smaller ones."""
_DIGIT = re.compile(r"\d")
_AND = re.compile(r"[/|,>&+]| and | by ")
"""Between the names of what a column of a pivot has below each other: `Department / Gender`."""
_MARK = re.compile(r"\*+|\.+|…|†|‡")
"""Marks that stand for a hidden count, beside those that are words."""
_SMALL = re.compile(r"^\s*(?:<|less than|under|fewer than|≤|<=)\s*(\d+)\s*$", re.IGNORECASE)


def shaped(raw: RawTable, given: Given, left: dict[str, int]) -> tuple[RawTable, tuple[str, ...]]:
    """The table with one row per application or category, and what was assumed; `left` counts rows of totals."""
    assumptions: list[str] = []
    raw = _with_days(raw)
    own = {"count", "candidate", "selected", "stage"} & given.keys()
    if not own or _is_of_another_shape(given, raw) or (own == {"selected"} and _is_a_count(given["selected"], raw)):
        raw = _expanded_counts(raw, assumptions, left)
    if "group" not in given or _is_of_another_shape({"group": given["group"]}, raw):
        raw = _one_race(_sex_and_race(raw, assumptions), assumptions)
    return raw, tuple(assumptions)


def _is_of_another_shape(given: Given, raw: RawTable) -> bool:
    """Whether a mapping names columns that the table will only have once it has another shape, as settings may."""
    parts = [part for value in given.values() for part in ([value] if isinstance(value, str) else value)]
    return any(column_in(part, raw.table.columns) is None and part not in NONE for part in parts)


def _is_a_count(said: str | abc.Sequence[str], raw: RawTable) -> bool:
    """Whether the outcome is a column of counts, beside others."""
    column = column_in(said if isinstance(said, str) else said[0], raw.table.columns)
    return len(raw.table) <= _MOST_ROWS and len(counts := _counts(raw.table)) > 1 and column in counts


def _say(raw: RawTable, code: str, text: str) -> RawTable:
    return replace(raw, notices=(*raw.notices, Notice(code, text)))


def _with_days(raw: RawTable) -> RawTable:
    """Columns named like dates that hold the day numbers of a spreadsheet, or milliseconds, as days."""
    table = raw.table
    dated = [name for name in map(str, table) if label_of(name) != name or named(name, "date")]
    days = {name: cells for name in dated if (cells := from_day_numbers(table[name])) is not None}
    if not days:
        return raw
    text = f"the numbers in {', '.join(map(repr, days))} are read as days"
    return replace(_say(raw, "day-numbers", text), table=table.assign(**days))


# -------------------------------------------------------------------- counts


def _expanded_counts(raw: RawTable, assumptions: list[str], left: dict[str, int]) -> RawTable:
    """A table of counts in any of its shapes as one row per category, step reached and number."""
    if len(raw.table) > _MOST_ROWS:
        return raw
    said: list[str] = []
    tidy = _with_ranges(_without_rates(raw), said)
    if any(named(name, "candidate") and len(raw.table) >= _MANY for name in _one_a_row(tidy.table)):
        return raw  # a row is a person, whatever the numbers look like
    if not _counts(tidy.table):
        _refuse_shares(raw)
        return raw
    tidy = _filled_down(tidy)
    whole = _totals_of_hidden_parts(tidy)
    parts, tidy = len(tidy.table) - len(whole.table), _without_totals(whole)
    totals = len(whole.table) - len(tidy.table)
    for reshape in (_from_compact, _from_wide, _from_steps_by_group, _from_long, _with_named_groups):
        tidy = reshape(tidy)
    tidy = _with_characteristics(tidy)
    hidden, said = said, []
    stacked = _from_stacked(tidy, said)
    if stacked is not None:
        assumptions += hidden + said
        _refuse_other_cells(tidy.table, _counts(tidy.table))
        _leave(left, totals, parts)
        return stacked
    counts = _counts(tidy.table)
    said = []  # what an attempt assumed that came to nothing is not true of the file
    found = _summary(tidy, counts, said)
    if found is not tidy:
        assumptions += hidden + said
    elif (found := _from_outcomes(tidy)) is tidy:
        return raw
    _refuse_other_cells(tidy.table, counts)
    _leave(left, totals, parts)
    return found


def _leave(left: dict[str, int], totals: int, parts: int) -> None:
    for code, number in (("total-row", totals), ("part-of-a-total", parts)):
        if number:
            left[code] = left.get(code, 0) + number


def _refuse_other_cells(table: pd.DataFrame, counts: abc.Collection[str]) -> None:
    """Among counts a column of numbers with a few other cells counts people too: without them it would be left out."""
    for name in map(str, table):
        filled = table[name][~table[name].map(spoken().is_missing).astype(bool)]
        bad = to_numbers(filled).bad
        if name in counts or is_protected(name) or not 0 < bad.mean() < 0.5:
            continue
        row, cell = bad.index[bad.to_numpy()][0], filled[bad.to_numpy()].iloc[0]
        what = f"{cell!r} is not a number, in a column of counts"
        raise InputError(Problem(f"row {row}, column {name!r}", what, "write a number, or <5 for a small one"))


def _with_ranges(raw: RawTable, assumptions: list[str]) -> RawTable:
    """Marks for small counts ("[c]", "*", "..") as the range that they hide: less than the smallest number shown."""
    table, words = raw.table, spoken()
    marks: dict[str, set[str]] = {}
    least: list[int] = []
    for name in map(str, table):
        found = {str(cell) for cell in pd.unique(table[name])}
        hidden = {cell for cell in found if _MARK.fullmatch(cell) or plain(cell) in words.words("values", "hidden")}
        rest = table[name][~table[name].isin(hidden)]
        if hidden and 2 * len(rest) > len(table) and (shown := _whole(rest)) is not None and (shown > 0).any():
            marks[name] = hidden
            least.append(int(shown[shown > 0].min()))
    if not marks or min(least) < _HIDES:
        return raw
    cells = {name: table[name].where(~table[name].isin(hidden), f"<{min(least)}") for name, hidden in marks.items()}
    said = ", ".join(map(repr, sorted(set().union(*marks.values()))))
    assumptions.append(f"{said} hides a count below {min(least)}, the smallest number that is shown")
    return replace(raw, table=table.assign(**cells))


def _counts(table: pd.DataFrame) -> dict[str, pd.Series[Any]]:
    """Columns of whole numbers that may be counts: not ages. Those of the last table are kept: every shape asks."""

    def counts() -> dict[str, pd.Series[Any]]:
        names = [str(name) for name in table if characteristic_of(str(name)) != "age" and not _is_id(str(name))]
        found = {name: values for name in names if (values := _whole(table[name])) is not None}
        found = {name: values for name, values in found.items() if values.any() and not _is_numbering(values)}
        return {name: values for name, values in found.items() if not _are_years(values)}

    return dict(current().latest(table, "counts", counts))


def _one_a_row(table: pd.DataFrame) -> list[str]:
    """Labels that differ in every row."""
    counts = _counts(table)
    return [str(name) for name in table if name not in counts and table[name].is_unique]


def _is_id(name: str) -> bool:
    """`current_stage.id`, `Req. Identifier`, but not `Count of Applicant ID`."""
    return plain(name).split()[-1:] in (["id"], ["identifier"]) and _counted(name) == plain(name)


def _is_numbering(values: pd.Series[Any]) -> bool:
    """Whether numbers tell many rows apart and leave few out, as running numbers of people do and counts do not."""
    return len(values) >= _MANY and bool(values.is_unique) and values.max() - values.min() < 2 * len(values)


def _are_years(values: pd.Series[Any]) -> bool:
    """Whether a few years come again and again, or all numbers are days such as 20240131."""
    days = values.between(19_500_101, 20_501_231) & (values % 100).between(1, 31) & (values // 100 % 100).between(1, 12)
    return bool(days.all()) or (bool(values.between(1950, 2050).all()) and values.nunique() <= len(values) / 2)


def _filled_down(raw: RawTable) -> RawTable:
    """A pivot writes a label once and leaves it out in the rows below."""
    table = raw.table
    counts = _counts(table)
    labels = [str(name) for name in table if name not in counts]
    if len(labels) < 2:
        return raw
    first = labels[0]
    blank = table[first] == ""
    if not blank.any() or blank.iloc[0] or (table.loc[blank, labels[1]] == "").any():
        return raw
    return replace(raw, table=table.assign(**{first: table[first].where(~blank).ffill()}))


def is_total(cell: str) -> bool:
    """Whether a label is that of a total or subtotal: `Total`, `Engineering Total`, `Summe Vertrieb`."""
    words = spoken()
    text = plain(cell)
    starts = any(text.startswith(f"{start} ") for start in words.words("values", "total_starts"))
    ends = any(text.endswith(f" {end}") for end in words.words("values", "total_ends"))
    return text in words.words("values", "totals") or starts or ends


def _without_totals(raw: RawTable) -> RawTable:
    """Rows and columns of totals add nothing; rows whose labels say so leave."""
    table = raw.table
    counts = _counts(table)
    labels = [str(name) for name in table if name not in counts]
    totals = pd.Series(False, index=table.index)
    for name in labels:
        totals |= _totals_within(table, counts, name, labels)
    totals |= _sum_of_the_others(counts, totals)
    if not totals.any() or totals.all():
        return raw
    text = f"{int(totals.sum())} rows of totals and subtotals are not counted"
    return replace(_say(raw, "totals", text), table=table[~totals])


def _totals_within(
    table: pd.DataFrame, counts: dict[str, pd.Series[Any]], name: str, labels: list[str]
) -> pd.Series[Any]:
    """Rows that a label calls totals, or whose counts are the sums of its other values."""
    said = table[name].isin([cell for cell in table[name].unique() if is_total(cell)])
    return said | _sum_within(table, counts, name, [other for other in labels if other != name])


def _totals_of_hidden_parts(raw: RawTable) -> RawTable:
    """The totals of a label alone, where small numbers are hidden in its parts: the totals count everybody."""
    table = raw.table
    counts = _counts(table)
    labels = [str(name) for name in table if name not in counts]
    hidden = pd.DataFrame({name: table[name].map(_SMALL.match).notna() for name in counts}).sum(axis=1)
    for name in labels if hidden.any() else ():
        keys = [other for other in labels if other != name]
        totals = _totals_within(table, counts, name, labels)
        if is_protected(name) or not any(map(is_protected, keys)) or not totals.any() or totals.all():
            continue
        own, parts = (table[flags].set_index(keys).index for flags in (totals, ~totals))
        if own.is_unique and set(own) == set(parts) and 2 * hidden[totals].sum() < hidden[~totals].sum():
            text = f"numbers are hidden in the parts of {name!r}, so only their totals are counted"
            return replace(_say(raw, "hidden-parts", text), table=table[totals].drop(columns=[name]))
    return raw


def hides_numbers(table: pd.DataFrame) -> bool:
    """Whether a table of counts hides small ones ("<5")."""
    return len(table) <= _MOST_ROWS and any(table[name].map(_SMALL.match).notna().any() for name in _counts(table))


def _sum_of_the_others(counts: dict[str, pd.Series[Any]], totals: pd.Series[Any]) -> pd.Series[Any]:
    """The one row, whatever it is called, each of whose counts is the sum of all other rows that are not totals."""
    rest = pd.DataFrame(counts)[~totals]
    rest = rest.loc[:, rest.sum() > 0]
    same = (2 * rest == rest.sum()).all(axis=1) & (len(rest) > 3) & (rest.shape[1] > 1)
    return same.reindex(totals.index, fill_value=False)


def _sum_within(table: pd.DataFrame, counts: dict[str, pd.Series[Any]], name: str, keys: list[str]) -> pd.Series[Any]:
    """Rows with the one value of a label, whatever it is called, whose counts are the sums of all its other values."""
    none, frame = pd.Series(False, index=table.index), pd.DataFrame(counts)
    if not 3 <= table[name].nunique() <= 40 or not keys:
        return none
    if any(table[key].is_unique for key in keys) or not table.duplicated(keys).any():
        return none  # there are no others, as in a row for each application
    most = pd.DataFrame({count: _most(table[count], values) for count, values in counts.items()})
    by = [table[key] for key in keys]  # a hidden cell ("<5") may be anything in its range
    least_of_others, most_of_others = (each.groupby(by).transform("sum") - each for each in (frame, most))
    same = (least_of_others <= most).all(axis=1) & (most_of_others >= frame).all(axis=1) & (frame.sum(axis=1) > 0)
    held = table[name][same].value_counts()
    value = held.index[0] if len(held) else None
    here = table[name] == value
    enough = here.sum() * len(counts) >= _SUMS and here.sum() > 1
    return here if len(held) and enough and bool(same[here].mean() > 0.9) else none


def _from_outcomes(raw: RawTable) -> RawTable:
    """A column for each way in which applications ended, which add up to a column of totals: one row for each."""
    table = raw.table
    counts = _counts(table)
    labels = [str(name) for name in table if name not in counts]
    frame = pd.DataFrame(counts)
    total = next((name for name in counts if (2 * frame[name] == frame.sum(axis=1)).all()), None)
    ends = [name for name in counts if name != total]
    meanings = [_outcome(name) for name in ends]
    good, bad = meanings.count("selected"), meanings.count("rejected")
    if total is None or not good or not bad or len(ends) < 2 or not any(is_protected(name) for name in labels):
        return raw
    flat = table.melt(id_vars=labels, value_vars=ends, var_name="Outcome", value_name="Number", ignore_index=False)
    text = f"{', '.join(map(repr, ends))} add up to {total!r}: each counts those whose applications ended so"
    flat = flat.sort_index(kind="stable").astype("str")
    return replace(_say(raw, "outcome-columns", text), table=flat, count="Number")


def _from_compact(raw: RawTable) -> RawTable:
    """A pivot with one column of labels: a part of the firm, and below it its groups, which add up to it."""
    table, words = raw.table, spoken()
    counts = _counts(table)
    labels = [str(name) for name in table if name not in counts]
    if len(labels) != 1 or not counts:
        return raw
    cells = table[labels[0]]
    races = words.pattern("values", "races")
    sexes = cells.map(lambda cell: words.sex(cell) is not None).astype(bool)
    group = sexes if sexes.any() else cells.map(lambda cell: races.match(plain(cell)) is not None).astype(bool)
    if group.iloc[0] or group.sum() < 2 or group.all() or not cells[group].duplicated().any():
        return raw
    parent = cells.where(~group).ffill()
    for values in counts.values():
        if not (values[group].groupby(parent[group]).sum() == values[~group].groupby(parent[~group]).sum()).all():
            return raw
    attribute = "Sex" if sexes.any() else "Race"
    unit = next((part for part in map(str.strip, _AND.split(labels[0])) if part and not is_protected(part)), "Unit")
    text = f"{labels[0]!r} has groups below the parts of the firm that they add up to"
    table = table.drop(columns=labels).assign(**{unit: parent, attribute: cells})
    return replace(_say(raw, "compact-pivot", text), table=table[group])


def _part(name: str) -> tuple[str, str] | None:
    """The group and the measure in the name of a column: `Female Applicants` -> `Female`, `Applicants`."""
    words = spoken()
    tokens = [token for token in re.split(r"[\s_\-:/()|.]+", name) if token]
    for size in (4, 3, 2, 1):
        for i in range(len(tokens) - size + 1):
            text = " ".join(tokens[i : i + size])
            sex = words.sex(text) if len(text) > 1 or i in (0, len(tokens) - 1) else None
            race = words.pattern("values", "races").fullmatch(plain(text))
            if sex or race or is_total(text):
                rest = [*tokens[:i], *tokens[i + size :]]
                rest = [token for token in rest if plain(token) not in ("of", "n", "no", "number", "count")]
                return text, " ".join(rest)
    return None


def _from_wide(raw: RawTable) -> RawTable:
    """Columns for each group: `Male Applicants, Female Applicants, Male Hires, Female Hires`."""
    table = raw.table
    counts = _counts(table)
    parts = {name: part for name in counts if (part := _part(name)) is not None}
    parts = {name: part for name, part in parts.items() if not is_total(part[0])}
    groups = {part[0] for part in parts.values()}
    measures = list(dict.fromkeys(part[1] for part in parts.values()))
    labels = [str(name) for name in table if name not in counts]
    if len(groups) < 2 or len(measures) < 2 or any(is_protected(name) for name in labels):
        return raw
    sexes = all(spoken().sex(group) for group in groups)
    attribute = "Sex" if sexes else "Race"
    rows = []
    for group in sorted(groups):
        own = {part[1]: name for name, part in parts.items() if part[0] == group}
        if len(own) != len(measures):
            return raw
        people = table[labels].copy()
        people[attribute] = group
        for measure in measures:
            people[measure] = table[own[measure]]
        rows.append(people)
    text = f"the columns {', '.join(map(repr, list(parts)[:6]))} count groups of people"
    return replace(_say(raw, "wide-counts", text), table=pd.concat(rows).sort_index(kind="stable"))


def _without_rates(raw: RawTable) -> RawTable:
    """Percentages beside counts say nothing new."""
    table, rates = raw.table, _rates(raw.table)
    return replace(raw, table=table.drop(columns=rates)) if rates and len(rates) < len(table.columns) else raw


def _rates(table: pd.DataFrame) -> list[str]:
    percents = [name for name in table if table[name].str.fullmatch(r"\s*-?[\d.,]+\s*%|").all()]
    return [str(name) for name in percents if (table[name] != "").any()]


def _refuse_shares(raw: RawTable) -> None:
    """Percentages of groups without the numbers of people: nothing can be compared."""
    labels = [str(name) for name in raw.table if name not in _rates(raw.table)]
    people = any(named(name, "candidate") for name in labels)
    if len(labels) == len(raw.table.columns) or people or not any(is_protected(name) for name in labels):
        return
    if not raw.table.duplicated(labels).any():
        what = "has percentages, but not the numbers of people that they are of"
        raise InputError(Problem(raw.source.path, what, "add a column with how many people each row is about"))


def _from_steps_by_group(raw: RawTable) -> RawTable:
    """One row for each step and a column for each group: `Stage, Male, Female`."""
    table, words = raw.table, spoken()
    counts = _counts(table)
    labels = [str(name) for name in table if name not in counts]
    groups = [name for name in counts if not is_total(name)]
    races = words.pattern("values", "races")
    sexes = [name for name in groups if words.sex(name)]
    named_races = [name for name in groups if races.match(plain(name))]
    known = sexes if len(sexes) >= 2 else named_races
    if not labels or len(known) < 2 or any(name not in known and not words.is_unknown(name) for name in groups):
        return raw
    stage = min(labels, key=lambda name: table[name].nunique())
    rest = [name for name in labels if name != stage]
    steps = list(dict.fromkeys(map(str, table[stage])))
    if len(steps) < 2 or sum(words.step_rank(word) is not None for word in steps) < 2:
        return raw
    parts = [table] if not rest else [part for _, part in table.groupby(rest, sort=False)]
    if any(list(part[stage]) != steps for part in parts):
        return raw
    if any((counts[name][part.index].diff() > 0).any() for name in known for part in parts):
        return raw
    blocks = []
    for part in parts:
        block = pd.DataFrame({"Sex" if known is sexes else "Race": groups}, dtype="str")
        block = block.assign(**{name: str(part[name].iloc[0]) for name in rest})
        for place, step in enumerate(steps):
            block[step if place else "Applicants"] = [str(part[name].iloc[place]) for name in groups]
        blocks.append(block.set_index(pd.Index(np.resize(part.index.to_numpy(), len(block)))))
    text = f"{stage!r} has one row for each step, with a column for each group; {steps[0]!r} counts all who applied"
    return replace(_say(raw, "steps-by-group", text), table=pd.concat(blocks))


def _from_long(raw: RawTable) -> RawTable:
    """One row for each category and stage, each stage counting all who reached it."""
    table, words = raw.table, spoken()
    counts = _counts(table)
    labels = [str(name) for name in table if name not in counts]
    sized = [
        name
        for name in counts
        if named(name, "count")
        or named(name, "capacity")
        or plain(name) in words.words("values", "applied")
        or name.lstrip().startswith("#")
    ]
    sized = sized or (list(counts) if len(counts) == 1 else [])
    for stage in (name for name in labels if not is_protected(name)):
        found = [str(word) for word in pd.unique(table[stage])]
        ranks = {word: words.step_rank(word) for word in found}
        first = [word for word in found if plain(word) in words.words("values", "applied") or ranks[word] == 0]
        unknown = [word for word in found if ranks[word] is None and words.meaning(word) is None]
        first = first or (unknown if len(found) > len(unknown) == 1 else [])  # it counts everybody, or is refused below
        if len(found) < 2 or len(first) != 1 or len(sized) != 1:
            continue
        said = table.groupby(stage)
        numbered = [name for name in counts if counts[name].nunique() > 1 and (said[name].nunique() == 1).all()]
        rest = [name for name in labels if name != stage]
        years = [name for name in counts if name not in (*sized, *numbered)]
        keys = [*rest, *years]
        if not keys or table.duplicated([*keys, stage]).any():
            continue
        wide = table.set_index([*keys, stage])[sized[0]].unstack(stage).fillna("0")
        numbers = {word: pd.to_numeric(wide[word], errors="coerce").to_numpy() for word in found}
        if any((numbers[first[0]] < numbers[word]).any() for word in found):
            continue  # stages that do not contain each other
        order = sorted(found, key=lambda word: -float(np.nansum(numbers[word])))
        falling = not any((numbers[a] < numbers[b]).any() for a, b in pairwise(order))  # a hidden count may be any
        if None in ranks.values() and len(found) > 2 and not falling:
            continue  # words that are not known, and that do not contain each other either
        flat = wide[order].reset_index().astype("str")
        flat.columns = [str(name) for name in flat.columns]
        flat = flat.rename(columns={first[0]: "Applicants"})
        rows = table.index.to_numpy()
        flat.index = pd.Index([int(rows[min(i, len(rows) - 1)]) for i in range(len(flat))])
        text = f"{stage!r} has one row for each step, which counts all who reached it"
        return replace(_say(raw, "long-counts", text), table=flat.drop(columns=years), separate=raw.separate)
    return raw


def _with_characteristics(raw: RawTable) -> RawTable:
    """One column of groups of several attributes, below each other, each of which adds up to everybody: by its sums.

    The rows between them that said which attribute comes next have no numbers, and were left out as headings.
    """
    table = raw.table
    counts = pd.DataFrame(_counts(table))
    labels = [str(name) for name in table if name not in counts]
    if len(labels) != 1 or len(counts.columns) < 2 or len(table) < 4:
        return raw
    found = _blocks(counts.to_numpy())
    if found is None:
        return raw
    rows = table[found >= 0].copy()
    own = {k: _attribute_of(table[labels[0]][found == k]) for k in range(int(found.max()) + 1)}
    if len({*own.values()}) < len(own) or "" in own.values():
        what = f"its rows count everybody {len(own)} times, and not all say which attribute they are of"
        fix = "put the attribute of each row into a column of its own, such as Sex or Ethnicity"
        raise InputError(Problem(f"column {labels[0]!r}", what, fix))
    rows.insert(
        0, "Attribute" if "Attribute" not in rows else "Attribute of the row", [own[k] for k in found[found >= 0]]
    )
    return replace(raw, table=rows)


def _blocks(counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """The block of each row, -1 for a total, where two or more blocks of rows have the same sums; None otherwise.

    Of m blocks with the sums T the running sums are T, 2T, ..., mT at their ends, and a total beside them is T.
    """
    n = len(counts)
    for total, first, end in ((0, 1, n), (n - 1, 0, n - 1), (None, 0, n)):
        sums = counts[first:end].cumsum(axis=0)
        places: dict[tuple[Any, ...], int] = {}
        for row, so_far in enumerate(map(tuple, sums.tolist())):
            places.setdefault(so_far, row)
        for number in range(2, _MOST_BLOCKS + 1):
            whole = sums[-1] / number
            if total is not None and (counts[total] != whole).any():
                continue
            ends = [places.get(tuple((whole * k).tolist())) for k in range(1, number + 1)]
            if whole.any() and None not in ends:
                found = np.full(n, -1)
                found[first:end] = np.searchsorted(np.array(ends[:-1], dtype=np.int64), np.arange(end - first))
                if (np.bincount(found[first:end]) >= 2).all():
                    return found
    return None


def _attribute_of(cells: pd.Series[Any]) -> str:
    """ "Sex" of women and men, "Race" of races; "" of other words."""
    words = spoken()
    races, known = words.pattern("values", "races"), [str(cell) for cell in cells if not words.is_unknown(str(cell))]
    if {words.sex(cell) for cell in known} >= {"female", "male"}:
        return "Sex"
    if sum(races.match(plain(cell)) is not None for cell in known) > len(known) / 2:
        return "Race"
    found = {characteristic_of(cell) for cell in known}
    return found.pop().capitalize() if len(found) == 1 and "other" not in found else ""


def _from_stacked(raw: RawTable, assumptions: list[str]) -> RawTable | None:
    """Every characteristic below the other: each block counts everybody once.

    The blocks are put side by side, at random among those who got equally far: the numbers of each characteristic are
    those of the file, and their crossings, which the file does not know, are not compared.
    """
    table = raw.table
    counts = _counts(table)
    labels = [str(name) for name in table if name not in counts]
    groups = [name for name in labels if is_protected(name) and characteristic_of(name) != "other"]
    block = next((name for name in labels if name not in groups and _are_characteristics(table[name])), None)
    if block is None or len(labels) < 2:
        return None
    group = next((name for name in labels if name != block and table[name].nunique() > table[block].nunique()), None)
    if group is None:
        return None
    applied = [name for name in counts if _are_applicants(name)]
    reached = [name for name in counts if name not in applied and _is_step(name)]
    if len(applied) == 1 and reached:
        reached += _between(counts, counts[applied[0]], reached, [], applied[0], assumptions)
    else:
        sums = pd.DataFrame(counts).groupby(table[block].to_numpy()).sum()
        nested = _nested(counts, assumptions) if (sums.nunique() == 1).all() else []
        if len(nested) < 2:
            return None
        applied, reached = nested[:1], nested[1:]
    reached.sort(key=lambda name: -counts[name].sum())
    counts = _least_difference(table, [applied[0], *reached], counts, group, assumptions)
    levels = np.minimum.accumulate([counts[name].to_numpy() for name in (applied[0], *reached)])
    furthest = levels - np.vstack([levels[1:], np.zeros_like(levels[:1])])
    blocks = list(dict.fromkeys(table[block]))
    rng = np.random.default_rng(0)
    parts = []
    for k in range(len(levels)):
        columns = {}
        for name in blocks:
            own = (table[block] == name).to_numpy()
            columns[name] = np.repeat(table[group].to_numpy()[own], furthest[k][own])
        size = max(map(len, columns.values()))
        filled = {str(name): rng.permutation([*cells, *[""] * (size - len(cells))]) for name, cells in columns.items()}
        part = pd.DataFrame(filled, dtype="str")
        for j, name in enumerate(reached):
            part[name] = "yes" if j < k else "no"
        parts.append(part)
    rows = pd.concat(parts, ignore_index=True).astype("str")
    rows.index = pd.Index(np.resize(table.index.to_numpy(), len(rows)))
    text = f"{block!r} stacks {len(blocks)} characteristics, each of which counts everybody once"
    assumptions.append(f"{text}: {len(rows):,} people; crossings of characteristics are not known")
    return replace(_say(raw, "stacked-counts", text), table=rows, separate=True)


def _nested(counts: dict[str, pd.Series[Any]], assumptions: list[str]) -> list[str]:
    """Columns of counts from left to right, each part of the one before, whatever they are called."""
    names = list(counts)
    if not all((counts[b] <= counts[a]).all() and counts[b].sum() < counts[a].sum() for a, b in pairwise(names)):
        return []
    text = f"each count is part of the one before it, so {names[0]!r} is read as those who applied"
    assumptions.append(f"{text}, {', '.join(map(repr, names[1:]))} as the steps that they reached")
    return names


def _are_characteristics(cells: pd.Series[Any]) -> bool:
    """Whether cells name attributes: `Sex`, `Ethnicity`, `Age`."""
    found = [str(word) for word in pd.unique(cells) if word]
    return 2 <= len(found) <= 20 and sum(is_protected(word) for word in found) >= 0.6 * len(found)


def _least_difference(
    table: pd.DataFrame, order: abc.Sequence[str], counts: dict[str, pd.Series[Any]], label: str, assumptions: list[str]
) -> dict[str, pd.Series[Any]]:
    """Hidden cells ("<5") as the number in their range that makes the least difference between groups.

    A difference that is found then does not depend on what is hidden. `order` has those who applied, then the steps.
    """
    hidden = {name: table[name].map(_SMALL.match).notna() for name in order}
    if not any(flags.any() for flags in hidden.values()):
        return counts
    least = 1 if any((table[name] == "0").any() for name in order) else 0
    result, said = dict(counts), []
    for k, name in enumerate(order):
        above = result[order[k - 1]] if k else None
        below = counts[order[k + 1]] if k + 1 < len(order) else None
        seen = ~hidden[name] & (~hidden[order[k - 1]] if k else True)
        share = counts[name][seen].sum() / max(1, counts[order[k - 1]][seen].sum()) if k else None
        values = counts[name].copy()
        for row in table.index[hidden[name].to_numpy()]:
            cell = str(table.at[row, name])
            most = int(re.sub(r"\D", "", cell)) - (0 if "≤" in cell or "=" in cell else 1)
            low, high = min(least, most), most
            if above is not None:
                high = min(high, int(above[row]))
            if below is not None and not hidden[order[k + 1]][row]:
                low = max(low, int(below[row]))
            guess = high if above is None or share is None else round(float(share) * int(above[row]))
            values[row] = min(max(guess, low), max(high, low))
            said.append(f"{table.at[row, label]!s} {name} {low} to {max(high, low)} (read as {int(values[row])})")
        result[name] = values
    assumptions.append(
        "hidden counts are read as the number in their range that makes the least difference: "
        + "; ".join(said[:8])
        + (f"; and {len(said) - 8} more" if len(said) > 8 else "")
    )
    return result


def _summary(raw: RawTable, counts: dict[str, pd.Series[Any]], assumptions: list[str]) -> RawTable:
    """One row per category, with how many applied and how many reached each step."""
    table = raw.table
    if not any(is_protected(str(name)) for name in table if name not in counts):
        return raw
    applied = [name for name in counts if _are_applicants(name)]
    reached = [name for name in counts if name not in applied and _is_step(name)]
    if len(counts) > 2 and (len(applied) != 1 or not reached) and (nested := _nested(counts, assumptions)):
        applied, reached = nested[:1], nested[1:]
    refused = [name for name in counts if name not in applied and _outcome(name) == "rejected"]
    bad = [name for name in counts if is_bad(_counted(name))]
    if len(bad) == 1 and not applied:  # beside those selected for a layoff, those not selected had the good outcome
        denials = [name for name in refused if name not in bad] or [name for name in reached if name not in bad]
        good = "Retained" if spoken().has("favourable", "retained", plain(bad[0])) else "Selected"
        table = table.rename(columns=dict.fromkeys(denials[:1], good))
        raw, counts = replace(raw, table=table), _counts(table)
        reached, refused = [good] if denials else [], bad
    if len(bad) == 1 and len(applied) == 1 and not [name for name in reached if name not in bad]:
        good = "Retained" if spoken().has("favourable", "retained", plain(bad[0])) else f"Not {bad[0]}"
        kept = (counts[applied[0]] - counts[bad[0]]).clip(lower=0)
        raw = replace(raw, table=raw.table.assign(**{good: kept.astype("str")}))
        table, counts = raw.table, {**counts, good: kept}
        reached, refused = [good], bad
    if not applied and reached and not refused:
        most = [name for name in counts if all((counts[name] >= counts[step]).all() for step in reached)]
        applied = [name for name in most if name not in reached][:1]
        reached = [name for name in reached if name not in applied]
    if len(applied) == 1:
        total = counts[applied[0]]
        reached += _between(counts, total, reached, refused, applied[0], assumptions)
    elif not applied and len(reached) == 1 and len(refused) == 1:
        total = counts[reached[0]] + counts[refused[0]]
    elif not applied and len(reached) > 1 and not refused:
        reached.sort(key=lambda name: -counts[name].sum())
        applied, total, reached = reached[:1], counts[reached[0]], reached[1:]
    else:
        return raw
    reached = sorted((name for name in reached if (counts[name] <= total).all()), key=lambda name: -counts[name].sum())
    # people who applied several times have numbers too, but a selection of 0 or 1, and rows that are no categories
    rest = [name for name in table if name not in (*applied, *reached, *refused)]
    if not reached or counts[reached[-1]].max() < 2 or table.duplicated(rest).any():
        return raw
    label = next(str(name) for name in table if is_protected(str(name)))
    if applied:
        counts = _least_difference(table, [applied[0], *reached], counts, label, assumptions)
        total = counts[applied[0]]
    return _expanded(raw, applied[0] if applied else "applicants", total, {name: counts[name] for name in reached})


def _between(
    counts: dict[str, pd.Series[Any]],
    total: pd.Series[Any],
    reached: abc.Sequence[str],
    refused: abc.Sequence[str],
    applied: str,
    assumptions: list[str],
) -> list[str]:
    """Counts without a telling name that are, in every row, part of those who applied and part of or more than each
    step: steps too."""
    if not reached:
        return []
    rest = [name for name in counts if name not in (applied, *reached, *refused) and not named(name, "capacity")]
    found = [
        name
        for name in rest
        if all((counts[name] >= counts[step]).all() or (counts[name] <= counts[step]).all() for step in reached)
        and (counts[name] <= total).all()
        and 0 < counts[name].sum() < total.sum()
        and all(counts[name].sum() != counts[step].sum() for step in reached)
        and _outcome(name) not in ("withdrawn", "declined", "pending")
    ]
    if found:
        assumptions.append(f"{', '.join(map(repr, found))}: read as a step, as its numbers fit between the others")
    return found


def _whole(cells: pd.Series[Any]) -> pd.Series[Any] | None:
    """Whole numbers from 0 in every cell ("<5" is 0 until `_least_difference` settles it), or None."""
    if not all(map(_DIGIT.search, cells)):
        return None  # most columns of an export say so in their first cell
    small = cells.map(_SMALL.match).notna()
    if small.all():
        return None
    cells = cells.where(~small, "0")
    numbers = to_numbers(cells)
    values = numbers.values
    if numbers.bad.any() or values.isna().any() or (values < 0).any() or (values != values.round()).any():
        return None
    return values.astype("int64")


def _most(cells: pd.Series[Any], values: pd.Series[Any]) -> pd.Series[Any]:
    """The most that counts can be: hidden ones are up to their limit."""
    limits = cells.map(lambda cell: re.sub(r"\D", "", cell) if _SMALL.match(cell) else "0").astype("int64")
    return values.where(limits == 0, limits)


def _counted(name: str) -> str:
    """What a column counts: `Sum of Hired` is `hired`."""
    text = plain(name)
    for start in sorted(spoken().phrases("values", "counted"), key=len, reverse=True):
        text = text.removeprefix(f"{start} ")
    return text


def _outcome(name: str) -> str | None:
    return spoken().meaning(_counted(name))


def _are_applicants(name: str) -> bool:
    """`Applications`, or in a pivot `Count of Applicant ID`."""
    text = _counted(name)
    words = spoken().words("values", "applied")
    return plain(name) in words or text in words or (text != plain(name) and named(text, "candidate") is not None)


def _with_named_groups(raw: RawTable) -> RawTable:
    """The labels of a pivot ("Row Labels") under the name of what they are, sex or race."""
    table, words = raw.table, spoken()
    labels = [str(name) for name in table if _whole(table[name]) is None]
    if any(is_protected(name) for name in labels):
        return raw
    races = words.pattern("values", "races")
    for name in labels:
        cells = [cell for cell in map(str, table[name]) if not words.is_unknown(cell)]
        for attribute, known in (("Sex", words.sex), ("Race", lambda cell: races.match(plain(cell)))):
            if len(set(cells)) > 1 and all(known(cell) for cell in cells):
                return replace(raw, table=table.rename(columns={name: attribute}))
    return raw


def _is_step(name: str) -> bool:
    if _outcome(name) == "rejected" or plain(name) in spoken().words("names", "row_numbers"):
        return False
    roles = {match.role for match in by_name(name)}
    rank = spoken().step_rank(name)
    return bool(roles & {"selected", "inspected"}) or _outcome(name) == "selected" or (rank or 0) > 0


def _expanded(raw: RawTable, count: str, total: pd.Series[Any], reached: dict[str, pd.Series[Any]]) -> RawTable:
    """Each category as many rows as there are steps: how many got just so far."""
    table = raw.table
    levels = [total.to_numpy(), *(values.to_numpy() for values in reached.values())]
    # a step is reached by no more than the one before
    levels = list(np.minimum.accumulate(levels))
    parts = []
    for k in range(len(levels)):
        own = levels[k] - (levels[k + 1] if k + 1 < len(levels) else 0)
        part = table.drop(columns=[count], errors="ignore").copy()
        for j, name in enumerate(reached):
            part[name] = "yes" if j < k else "no"
        part[count] = pd.Series(own, index=table.index).astype("str")
        parts.append(part)
    rows = pd.concat(parts).sort_index(kind="stable").astype("str")
    text = f"a summary table: {count!r} counts applications, and {', '.join(map(repr, reached))} how many got there"
    return replace(_say(raw, "summary-table", text), table=rows, count=count)


# -------------------------------------------------------------------- race


def _one_race(raw: RawTable, assumptions: list[str]) -> RawTable:
    """Race as several yes/no columns is one attribute; who is Hispanic is so whatever the race. Sex likewise."""
    raw = _one_sex(raw, assumptions)
    table, words = raw.table, spoken()
    label = {str(name): said for name in table if (said := _race_of(str(name)))}
    flags = {name: cells for name in label if (cells := _flags(table[name], some=False)) is not None}
    others = [str(name) for name in table if characteristic_of(str(name)) == "race" and name not in flags]
    hispanic = [name for name in [*flags, *others] if words.has("values", "hispanic", plain(name))]
    if sum(cells.any() for cells in flags.values()) >= 2 and not [name for name in others if name not in hispanic]:
        yes = pd.DataFrame(flags)
        race = pd.Series("", index=table.index, dtype="str")
        for name in flags:
            race = race.mask(yes[name] & (race == ""), label[name])
        race = race.mask(yes[[name for name in flags if name not in hispanic]].sum(axis=1) > 1, "Two or more races")
        for name in hispanic:
            if name in flags:
                race = race.mask(yes[name], label[name])
        text = f"{len(flags)} yes/no columns are read as one attribute, 'Race': {', '.join(map(repr, flags))}"
        assumptions.append(text)
        kept = table.drop(columns=list(flags))
        column = "Race" if "Race" not in kept else "Race (from columns)"
        return replace(_say(raw, "race-columns", text), table=kept.assign(**{column: race}))
    apart = [name for name in hispanic if name not in flags or len(flags) < 2]
    main = [name for name in others if name not in hispanic]
    if len(apart) == 1 and len(main) == 1:
        yes_cells = _flags(table[apart[0]])
        if yes_cells is None:
            marked = table[apart[0]].map(lambda word: words.has("values", "hispanic", word)).astype(bool)
            no = table[apart[0]].map(words.negated_start).astype(bool)
            yes_cells = marked & ~no if (marked & ~no).any() and not (marked & ~no).all() else None
        known = table[main[0]].map(lambda word: words.has("values", "hispanic", word)).any()
        if yes_cells is not None and not known:
            text = f"who answers yes to {apart[0]!r} is counted as Hispanic or Latino in {main[0]!r}, whatever the race"
            assumptions.append(text)
            race = table[main[0]].mask(yes_cells, "Hispanic or Latino")
            return replace(_say(raw, "hispanic", text), table=table.assign(**{main[0]: race}))
    return raw


def _race_of(name: str) -> str:
    """The race whose column this is: "White" of "White" and of "Race: White"; "" if it is none's."""
    races = spoken().pattern("values", "races")
    if races.match(plain(name)):
        return name
    head, *rest = re.split(r"[\s:._\N{EN DASH}-]+", name.strip(), maxsplit=1)
    return rest[0] if rest and characteristic_of(head) == "race" and races.match(plain(rest[0])) else ""


def _sex_and_race(raw: RawTable, assumptions: list[str]) -> RawTable:
    """A column of "F / White" is two attributes."""
    words, table = spoken(), raw.table
    races = words.pattern("values", "races")
    taken = {"Sex", "Race"} & {*map(str, table)}
    for name in filter(is_protected, () if taken else map(str, table)):
        cells = pd.Series(pd.unique(table[name]), dtype="str")
        known = cells[~cells.map(words.is_unknown).astype(bool)]
        if not 2 <= len(known) <= _MOST_PAIRS:
            continue
        parts = known.str.extract(r"^(.+?)\s*(?: - |[/|;,])\s*(.+)$").fillna("")
        for sex, race in ((0, 1), (1, 0)):
            if (
                parts[sex].map(words.sex).notna().all()
                and parts[race].map(lambda one: bool(races.match(plain(one)))).all()
            ):
                text = f"{name!r} is read as two attributes, 'Sex' and 'Race'"
                assumptions.append(text)
                both = {column: dict(zip(known, parts[k])) for column, k in (("Sex", sex), ("Race", race))}
                own = {column: table[name].map(lambda cell, of=of: of.get(cell, "")) for column, of in both.items()}
                return replace(_say(raw, "sex-and-race", text), table=table.drop(columns=[name]).assign(**own))
    return raw


def _one_sex(raw: RawTable, assumptions: list[str]) -> RawTable:
    """A yes/no column for women and one for men are one attribute."""
    table, words = raw.table, spoken()
    flags = {str(name): cells for name in table if words.sex(str(name)) and (cells := _flags(table[name])) is not None}
    if len(flags) == 1 and not any(characteristic_of(str(name)) == "sex" for name in table):
        (name, yes), *_ = flags.items()
        text = f"{name!r} is read as an attribute, 'Sex'"
        assumptions.append(text)
        sex = pd.Series(f"not {name}", index=table.index, dtype="str").mask(yes, name)
        return replace(_say(raw, "sex-columns", text), table=table.drop(columns=[name]).assign(Sex=sex))
    if len(flags) != 2 or len({words.sex(name) for name in flags}) != 2 or "Sex" in table:
        return raw
    (one, mine), (other, theirs) = flags.items()
    if (mine & theirs).mean() > 0.02:
        return raw
    text = f"the columns {one!r} and {other!r} are read as one attribute, 'Sex'"
    assumptions.append(text)
    sex = pd.Series("", index=table.index, dtype="str").mask(mine, one).mask(theirs & ~mine, other)
    return replace(_say(raw, "sex-columns", text), table=table.drop(columns=list(flags)).assign(Sex=sex))


def _flags(cells: pd.Series[Any], *, some: bool = True) -> pd.Series[Any] | None:
    """Which cells say yes, where all say yes, no or nothing, and `some` say yes; else None."""
    words = spoken()
    marks = {str(word): words.mark(str(word)) for word in pd.unique(cells)}
    if any(mark is None and not words.is_unknown(word) for word, mark in marks.items()):
        return None
    if some and True not in marks.values():
        return None
    return cells.map({word: mark is True for word, mark in marks.items()}).astype(bool)


# -------------------------------------------------------------------- results


def order_of_events(table: pd.DataFrame, stage: str, day: str | None) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Places of the rows by date; where there are no dates, an event that more people have is the earlier."""
    if day is None:
        return np.argsort(-table[stage].map(table[stage].value_counts()).to_numpy(), kind="stable")
    dates = to_dates(table[day]).values
    return np.argsort(dates.to_numpy(), kind="stable") if dates.notna().mean() > 0.9 else np.arange(len(table))


def in_columns(
    table: pd.DataFrame, keys: list[str], stage: str, result: str, day: str | None
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """One row per application with a column of results for each stage, and the stages in order.

    Stages are in the order of the numbers that they begin with, or in that in which most applications passed them.
    """
    app = table.groupby(keys, sort=False).ngroup().to_numpy()
    order = order_of_events(table, stage, day)
    events = table.iloc[order]
    own = app[order]
    place = pd.Series(own).groupby(own).cumcount().to_numpy()
    labels = events[stage].to_numpy()
    found = [str(name) for name in dict.fromkeys(labels) if not spoken().is_missing(str(name))]
    leading = {name: re.match(r"\s*(\d+)", name) for name in found}
    if all(leading.values()):
        found.sort(key=lambda name: int(match.group(1)) if (match := leading[name]) else 0)
    else:
        mean = {name: float(place[labels == name].mean()) for name in found}
        found.sort(key=lambda name: (mean[name], -int((labels == name).sum())))
    others = [str(name) for name in table.columns if name not in (stage, result)]
    merged = {}
    for name in others:
        cells = events[name].where(events[name] != "").groupby(own)
        merged[name] = (cells.last() if named(name, "score") else cells.first()).fillna("")
    wide = pd.DataFrame(merged).sort_index().astype("str")
    for name in found:
        here = labels == name
        last = events[result][here].groupby(own[here]).last()
        if spoken().step_rank(name) == HIRED:  # who has an event of the end got there, result or not
            last = last.mask(last == "", "yes")
        words = [word for word in pd.unique(last) if word]
        if len(words) == 1 and spoken().meaning(str(words[0])) is None:  # the one result of a step that nobody fails
            last = last.mask(last == words[0], "yes")
        wide[name] = last.reindex(wide.index).fillna("").astype("str")
    first = pd.Series(table.index, index=app).groupby(level=0).min().sort_index()
    wide.index = pd.Index(first.to_numpy())
    return wide, tuple(found)
