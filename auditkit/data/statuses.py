"""Cells that say what happened to a candidate: yes and no, dates, and the words of statuses and steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from auditkit.data.dates import looks_like_dates
from auditkit.data.numbers import is_number, to_numbers
from auditkit.data.problems import Collector
from auditkit.data.values import among, is_blank
from auditkit.data.vocabulary import HIRED, STATUSES, STEP_RANKS, plain, spoken
from auditkit.errors import InputError, Problem, nearest

Words = Mapping[str, str]
"""What a user's own words mean: word -> one of `STATUSES`."""


_DENIALS = ("un", "non", "not", "in", "dis")
_LONGEST_STEP = 3
"""Words in the name of a step; a longer text that holds one may say anything about it."""


class Test(NamedTuple):
    """`--map "selected=Score>=70"`: the column says yes where the comparison holds; `=A|B` for either of two values."""

    sign: str
    value: str

    @property
    def values(self) -> frozenset[str]:
        return frozenset(plain(part) for part in self.value.split("|")) | {plain(self.value)}


@dataclass(frozen=True, eq=False)
class Decided:
    """What a column says of a decision. `codes` are statuses, "" where a cell is blank, "?" where its word is unknown.

    `bad`: the column is about an outcome that nobody wants, so that its yes is a rejection. `staying`: it is about who
    kept a job.
    """

    codes: pd.Series[Any]
    meanings: Mapping[str, str]
    bad: bool = False
    staying: bool = False

    @property
    def selected(self) -> pd.Series[Any]:
        return self.codes.isin(["selected", "declined"])

    @property
    def unknown(self) -> tuple[str, ...]:
        """Words whose meaning is not known."""
        return tuple(word for word, code in self.meanings.items() if code == "?")


def check_words(words: Words) -> dict[str, str]:
    """The user's words, made plain; an InputError if one is given no known meaning."""
    problems = [
        Problem(f"words.{word}", f"{meaning!r} is not a status", nearest(meaning, STATUSES))
        for word, meaning in words.items()
        if meaning not in STATUSES
    ]
    if problems:
        raise InputError(problems)
    return {plain(word): meaning for word, meaning in words.items()}


def _codes(
    cells: pd.Series[Any], code: Callable[[str], str | None], dated: str
) -> tuple[pd.Series[Any], dict[str, str]]:
    """A code for each cell ("" if it is empty, `dated` if a date, "?" if its word is not known), and for each word."""
    index, found = pd.factorize(cells)
    words = pd.Series(found, dtype="str")
    dates = looks_like_dates(words)
    codes = [
        dated if date else "" if is_empty(word) else code(word) or "?" for word, date in zip(words, dates, strict=True)
    ]
    meanings = {word: code for word, code, date in zip(words, codes, dates, strict=True) if code and not date}
    return pd.Series(codes, dtype="str").take(index).set_axis(cells.index), meanings


def is_empty(word: str) -> bool:
    """No value, and neither yes nor no."""
    return spoken().is_missing(word) and spoken().mark(word) is None


def is_bad(name: str) -> bool:
    """Whether a column's name is about an outcome that nobody wants: `Rejected`, `Selected for RIF`."""
    vocabulary = spoken()
    text = plain(name)
    return vocabulary.has("favourable", "bad", text) and not vocabulary.pattern("within", "negation").match(text)


def decide(cells: pd.Series[Any], column: str, words: Words | None = None, test: Test | None = None) -> Decided:
    """What the cells of a column say of a decision, before blanks and unknown words are settled."""
    vocabulary, given = spoken(), words or {}
    bad = test is None and is_bad(column)
    found = [str(word) for word in pd.unique(cells)[:1000] if not is_empty(str(word))]
    staying = _is_about_staying(column, found)
    hired = any(is_hired(word) and vocabulary.meaning(word) == "selected" for word in found)
    plainly = any(
        is_hired(word) and vocabulary.meaning(word) == "selected" and vocabulary.is_plain(word) for word in found
    )
    # `Disqualified reason`: whatever it was, it was one
    whatever = "rejected" if bad and vocabulary.has("names", "reasons", column) else None

    def code(word: str) -> str | None:
        if plain(word) in given:
            return given[plain(word)]
        mark = vocabulary.mark(word)
        if mark is not None:
            return "selected" if mark != bad else "rejected"
        if staying and (stays := vocabulary.employment(word)):
            return stays
        known = vocabulary.meaning(word)
        if hired and known == "selected" and (is_onward(word) or plain(word) in vocabulary.words("cells", "offer")):
            return "pending"  # beside those hired, an offer or the next step is not yet the end
        if plainly and known == "selected" and not vocabulary.is_plain(word):
            return None  # beside "Hired", a sentence about hiring may be about somebody else
        if known is None and (denied := _denies(word, found)) is not None:
            return "rejected" if code(denied) == "selected" else None
        if known is None and vocabulary.employment(word) in ("rejected", "withdrawn"):
            return vocabulary.employment(word)
        rank = vocabulary.step_rank(word) if known is None and len(plain(word).split()) <= _LONGEST_STEP else None
        if rank is not None and rank != HIRED:
            return "pending"  # at some step of the process, so not decided on
        return known or whatever

    codes, meanings = _codes(cells, code, "rejected" if bad else "selected")
    if test is not None:
        codes = _tested(cells, codes, column, test)
        meanings = {word: str(codes[cells == word].iloc[0]) for word in meanings}
    return Decided(codes, meanings, bad, staying)


def _denies(word: str, others: list[str]) -> str | None:
    """The word of the same column that another denies: `Classificado` by `Não classificado`, `Fit` by `Unfit`."""
    text = plain(word)
    short = next((text.removeprefix(no) for no in _DENIALS if text.startswith(no)), "")
    start = spoken().pattern("within", "negation").match(text)
    denied = {short, "" if start is None else text[start.end() :].strip()} - {""}
    return next((other for other in others if plain(other) in denied), None) if denied else None


def _is_about_staying(column: str, found: list[str]) -> bool:
    """Whether words are about who keeps a job: some lost it, some stayed, and nobody was hired."""
    vocabulary = spoken()
    meanings = {word: vocabulary.employment(word) for word in found}
    lost = any(meaning == "rejected" for meaning in meanings.values())
    kept = any(meaning == "selected" for meaning in meanings.values())
    hired = any(vocabulary.meaning(word) == "selected" and meanings[word] is None for word in found)
    return lost and kept and not hired


def settled(decided: Decided, cells: pd.Series[Any], column: str, collector: Collector) -> pd.Series[Any]:
    """A status for each cell: blanks and unknown words get one, and problems are noted.

    An empty cell is undecided, unless the column only ever says yes (a tick, a hiring date): then it is a no; where it
    only ever says that something bad happened, an empty cell is good.
    """
    codes = decided.codes
    blank = codes == ""
    said = set(codes.unique()) - {""}
    if said <= {"selected"}:
        return codes.where(~blank, "rejected")
    if decided.bad and said <= {"rejected"}:
        return codes.where(~blank, "selected")
    collector.add("missing-status", blank, column, cells)
    return codes.where(~blank & (codes != "?"), "pending")


def _tested(cells: pd.Series[Any], codes: pd.Series[Any], column: str, test: Test) -> pd.Series[Any]:
    """Statuses of a column that is compared with a value; words for withdrawn and the like keep their meaning."""
    holds, known = compare(cells, column, test)
    keep = codes.isin(["withdrawn", "pending", "declined"]) & (test.sign == "=")
    decided = pd.Series("rejected", index=cells.index, dtype="str").where(~holds, "selected")
    return decided.where(~keep | holds, codes).where(known, "")


def compare(cells: pd.Series[Any], column: str, test: Test) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """Where the comparison holds, and where it can be made."""
    if test.sign in ("=", "!=") and spoken().is_missing(test.value):
        blank = is_blank(cells)
        return blank if test.sign == "=" else ~blank, pd.Series(True, index=cells.index)
    if test.sign in ("=", "!=") and (marked := _marked(cells, test)) is not None:
        holds, known = marked
        return (holds, known) if test.sign == "=" else (~holds, pd.Series(True, index=cells.index))
    if test.sign == "=":
        return among(cells, test.values), ~is_blank(cells)
    if test.sign == "!=":  # a blank is not the value either
        return ~among(cells, test.values), pd.Series(True, index=cells.index)
    mark = to_numbers(pd.Series([test.value], dtype="str"))
    if mark.bad.iloc[0] or mark.values.isna().iloc[0]:
        raise InputError(Problem(f"--map {column}{test.sign}{test.value}", f"{test.value!r} is not a number"))
    numbers = to_numbers(cells)
    if numbers.bad.any():
        row = cells.index[numbers.bad.to_numpy()][0]
        word = str(cells[numbers.bad.to_numpy()].iloc[0])
        raise InputError(Problem(f"row {row}, column {column!r}", f"{word!r} is not a number", "write a number"))
    bound = float(mark.values.iloc[0])
    order = {
        ">=": numbers.values >= bound,
        "<=": numbers.values <= bound,
        ">": numbers.values > bound,
        "<": numbers.values < bound,
    }
    return order[test.sign], numbers.values.notna()


def _marked(cells: pd.Series[Any], test: Test) -> tuple[pd.Series[Any], pd.Series[Any]] | None:
    """Where a yes or no is the tested one, however it is written, and where one is known; None for other columns.

    An empty cell in a column that only ever says yes is a no, and the other way round.
    """
    wanted = spoken().mark(test.value)
    index, found = pd.factorize(cells)
    empty = [is_empty(str(word)) for word in found]
    marks = [None if blank else spoken().mark(str(word)) for word, blank in zip(found, empty, strict=True)]
    said = {mark for mark in marks if mark is not None}
    if wanted is None or not said or any(mark is None and not blank for mark, blank in zip(marks, empty, strict=True)):
        return None
    if len(said) == 1:
        marks = [not said.copy().pop() if mark is None else mark for mark in marks]
    holds, known = ([mark == wanted for mark in marks], [mark is not None for mark in marks])
    spread = [pd.Series(part, dtype=bool).take(index).set_axis(cells.index) for part in (holds, known)]
    return spread[0], spread[1]


def step_codes(cells: pd.Series[Any], column: str, test: Test | None = None) -> pd.Series[Any]:
    """`yes`, `passed`, `failed`, `declined`, `no`, `withdrawn`, `pending` or "?" for each cell; an empty one is ""."""
    if test is not None:
        holds, known = compare(cells, column, test)
        return pd.Series("no", index=cells.index, dtype="str").where(~holds, "yes").where(known, "")
    vocabulary, bad = spoken(), is_bad(column)
    meant = {"selected": "passed", "rejected": "failed"}
    rank = vocabulary.step_rank(column)
    declined = "declined" if rank is None or rank >= STEP_RANKS["offer"] else "withdrawn"
    found = [str(word) for word in pd.unique(cells)[:1000]]
    letters = {plain(word) for word in found}
    graded = bool(letters & {"p", "pass", "passed"})  # beside these, `F` is a fail and not `false`

    def code(word: str) -> str | None:
        mark = vocabulary.mark(word)
        if mark is not None and not (graded and plain(word) == "f"):
            return "yes" if mark != bad else "no"
        for known in ("yes", "no"):
            if plain(word) in vocabulary.words("cells", known):
                return known
        # a score or a number of days in the cell: it took place
        if is_number(word):
            return "yes"
        meaning = vocabulary.meaning(word)
        if meaning is None and (denied := _denies(word, found)) is not None and code(denied) in ("yes", "passed"):
            return "failed"
        return declined if plain(word) == "declined" else meant.get(meaning or "", meaning)

    return _codes(cells, code, "no" if bad else "yes")[0]


def with_reasons(status: pd.Series[Any], reasons: pd.DataFrame) -> pd.Series[Any]:
    """Statuses corrected by the reasons beside them.

    Who withdrew was not rejected; an application that has a reason has ended; one that is open was not rejected.
    """
    vocabulary = spoken()
    for name in reasons:
        index, found = pd.factorize(reasons[name])
        codes = []
        for word in map(str, found):
            known = None if is_empty(word) else vocabulary.meaning(word)
            codes.append("" if is_empty(word) else "open" if known == "pending" else known or "ended")
        code = pd.Series(codes, dtype="str").take(index).set_axis(reasons.index)
        closed = status.isin(["rejected", "pending"])
        status = status.mask(closed & code.isin(["withdrawn", "declined"]), code)
        status = status.mask((status == "pending") & code.isin(["ended", "rejected"]), "rejected")
        status = status.mask((status == "rejected") & (code == "open"), "pending")
    return status


def took_place(codes: pd.Series[Any]) -> pd.Series[Any]:
    """Which codes of `step_codes` say that the candidate was there."""
    return codes.isin(["yes", "passed", "failed", "declined"])


def achieved(codes: pd.Series[Any]) -> pd.Series[Any]:
    """Which codes of `step_codes` say that the candidate got over the step: was there, and did not fail it."""
    return codes.isin(["yes", "passed", "declined"])


def is_onward(word: str) -> bool:
    """Whether a word only says that somebody went on to the next step: moved forward, advanced."""
    return plain(word) in spoken().words("cells", "onward")


def is_hired(word: str) -> bool:
    """Whether a word is the last step of a process: hired, admitted."""
    return spoken().step_rank(word) == HIRED
