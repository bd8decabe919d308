"""Cells that say what happened to a candidate: yes and no, dates, and the words of statuses and stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from auditkit.data.dates import looks_like_dates
from auditkit.data.numbers import to_numbers
from auditkit.data.problems import Collector
from auditkit.data.profile import is_mark
from auditkit.data.values import among
from auditkit.data.vocabulary import INSPECTED, MISSING, STATUS, code_of, ended_by_candidate, plain, stage_rank
from auditkit.errors import InputError, Problem, nearest

Words = Mapping[str, str]
"""What a user's own words mean: word -> `selected`, `declined`, `rejected`, `withdrawn` or `pending`."""


_OPEN = frozenset(
    {
        *(
            "active",
            "in process",
            "in progress",
            "open",
            "pending",
            "under review",
            "on hold",
            "undecided",
            "in review",
        ),
        *("offen", "laufend", "in bearbeitung", "en cours", "en attente", "en proceso", "pendiente", "abierto"),
        *("under consideration", "in consideration"),
    }
)
"""Words beside a decision that say that there is none yet."""


class Test(NamedTuple):
    """`--map "selected=Score>=70"`: the column says yes where the comparison holds."""

    sign: str
    value: str


def check_words(words: Words) -> dict[str, str]:
    """The user's words, made plain; an InputError if one is given no known meaning."""
    problems = [
        Problem(f"words.{word}", f"{meaning!r} is no status", nearest(meaning, STATUS))
        for word, meaning in words.items()
        if meaning not in STATUS
    ]
    if problems:
        raise InputError(problems)
    return {plain(word): meaning for word, meaning in words.items()}


def _codes(cells: pd.Series[Any], code: Callable[[str], str | None], dated: str) -> pd.Series[Any]:
    """A code for each cell: "" if it is empty, `dated` if it is a date, "?" if its word is not known."""
    index, found = pd.factorize(cells)
    words = pd.Series(found, dtype="str")
    dates = looks_like_dates(words)
    codes = [
        dated if date else "" if _empty(word) else code(word) or "?" for word, date in zip(words, dates, strict=True)
    ]
    return pd.Series(codes, dtype="str").take(index).set_axis(cells.index)


def _empty(word: str) -> bool:
    return plain(word) in MISSING and is_mark(word) is None


def to_status(
    cells: pd.Series[Any], column: str, collector: Collector, *, words: dict[str, str], test: Test | None = None
) -> pd.Series[Any]:
    """`selected`, `declined`, `rejected`, `withdrawn` or `pending` for each cell.

    An empty cell is undecided, unless the column only ever says yes (a tick, a hiring date): then it is a no.
    """

    def code(word: str) -> str | None:
        if plain(word) in words:
            return words[plain(word)]
        mark = is_mark(word)
        if mark is not None:
            return "selected" if mark else "rejected"
        # whoever is at some stage of the process is not decided on
        return code_of(word, STATUS) or ended_by_candidate(word) or (None if stage_rank(word) is None else "pending")

    codes = _codes(cells, code, "selected")
    if test is not None:
        codes = _tested(cells, codes, column, collector, test)
    only_yes = set(codes.unique()) <= {"selected", ""}
    blank = codes == ""
    if only_yes:
        return codes.where(~blank, "rejected")
    collector.add("missing-status", blank, column, cells)
    collector.add(
        "unknown-word",
        codes == "?",
        column,
        cells,
        role="selected",
        meaning="selected, rejected, withdrawn or pending",
        more=', or what the words mean, under [words] of audit.toml: WORD = "pending"',
    )
    return codes.where(~blank & (codes != "?"), "pending")


def _tested(
    cells: pd.Series[Any], codes: pd.Series[Any], column: str, collector: Collector, test: Test
) -> pd.Series[Any]:
    """Statuses of a column that is compared with a value; words for withdrawn and the like keep their meaning."""
    holds, known = _compare(cells, column, collector, test)
    keep = codes.isin(["withdrawn", "pending", "declined"]) & (test.sign == "=")
    decided = pd.Series("rejected", index=cells.index, dtype="str").where(~holds, "selected")
    return decided.where(~keep | holds, codes).where(known, "")


def _compare(
    cells: pd.Series[Any], column: str, collector: Collector, test: Test
) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """Where the comparison holds, and where it can be made."""
    mark = to_numbers(pd.Series([test.value], dtype="str"))
    if test.sign == "=":
        return among(cells, {plain(test.value)}), ~among(cells, MISSING)
    if mark.bad.iloc[0] or mark.values.isna().iloc[0]:
        raise InputError(Problem(f"--map {column}{test.sign}{test.value}", f"{test.value!r} is not a number"))
    numbers = to_numbers(cells)
    collector.add("not-a-number", numbers.bad, column, cells)
    bound = float(mark.values.iloc[0])
    order = {
        ">=": numbers.values >= bound,
        "<=": numbers.values <= bound,
        ">": numbers.values > bound,
        "<": numbers.values < bound,
    }
    return order[test.sign], numbers.values.notna()


def to_stage(
    cells: pd.Series[Any], column: str, collector: Collector, *, role: str = "inspected", test: Test | None = None
) -> pd.Series[Any]:
    """`yes`, `passed`, `failed`, `declined`, `no`, `withdrawn` or `pending` for each cell; an empty one is a no."""
    if test is not None:
        holds, _ = _compare(cells, column, collector, test)
        return pd.Series("no", index=cells.index, dtype="str").where(~holds, "yes")

    def code(word: str) -> str | None:
        mark = is_mark(word)
        if mark is not None:
            return "yes" if mark else "no"
        # a score or a count of interviews in the cell: it took place
        number = to_numbers(pd.Series([word], dtype="str")) if any(c.isdigit() for c in word) else None
        return "yes" if number is not None and not number.bad.iloc[0] else code_of(word, INSPECTED)

    codes = _codes(cells, code, "yes")
    collector.add("unknown-word", codes == "?", column, cells, role=role, meaning="that it took place or not", more="")
    return codes.where(~codes.isin(["", "?"]), "no")


def selected_cells(cells: pd.Series[Any], test: Test | None = None) -> pd.Series[bool]:
    """Which cells say that somebody was selected, as `to_status` reads them."""
    return status_cells(cells, test).isin(["selected", "declined"])


def status_cells(cells: pd.Series[Any], test: Test | None = None) -> pd.Series[Any]:
    """What cells say of a decision, without a word about problems."""
    return to_status(cells, "", Collector(), words={}, test=test)


def ends_by_candidate(cells: pd.Series[Any]) -> pd.Series[bool]:
    """Which cells say that the candidate ended the application."""
    ended = {word: ended_by_candidate(str(word)) is not None for word in pd.unique(cells)}
    return cells.map(ended).astype(bool)


def says_who_left(cells: pd.Series[Any]) -> bool:
    """Whether some cells, but not all, say that the candidate ended the application, or that it is still open."""
    found = [str(word) for word in pd.unique(cells) if not _empty(word)]
    left = [ended_by_candidate(word) is not None or plain(word) in _OPEN for word in found]
    return any(left) and len(found) <= 200


def with_reasons(status: pd.Series[Any], reasons: pd.DataFrame) -> pd.Series[Any]:
    """Statuses corrected by the reasons beside them.

    Who withdrew was not rejected; an application that has a reason has ended; one that is open was not rejected.
    """
    for name in reasons:
        index, found = pd.factorize(reasons[name])
        codes = []
        for word in map(str, found):
            ended = None if _empty(word) else ended_by_candidate(word) or code_of(word, STATUS)
            codes.append("" if _empty(word) else "open" if plain(word) in _OPEN else ended or "ended")
        code = pd.Series(codes, dtype="str").take(index).set_axis(reasons.index)
        closed = status.isin(["rejected", "pending"])
        status = status.mask(closed & code.isin(["withdrawn", "declined"]), code)
        status = status.mask((status == "pending") & code.isin(["ended", "rejected"]), "rejected")
        status = status.mask((status == "rejected") & (code == "open"), "pending")
    return status


def took_place(codes: pd.Series[Any]) -> pd.Series[Any]:
    """Which codes of `to_stage` say that the candidate was there."""
    return codes.isin(["yes", "passed", "failed", "declined"])
