"""From a file and its settings to a clean `History`: `load` is the way in, `check` the same without raising."""

from __future__ import annotations

from collections import abc
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from auditkit.data.clean import CleaningOptions, clean
from auditkit.data.firm_history import History
from auditkit.data.hypothesis import Unanswered, look
from auditkit.data.problems import Collector, Problems
from auditkit.data.raw_table import RawTable
from auditkit.data.read_file import Files, Tabular, give_up, read
from auditkit.data.read_query import read_query
from auditkit.data.reader import Reader
from auditkit.data.reading import AmbiguousReading, Answer, Reading, ReadingQuestion
from auditkit.data.remembered import Seen, favoured, rematched
from auditkit.data.roles import Given
from auditkit.data.set_aside import set_aside
from auditkit.data.shapes import shaped
from auditkit.data.sql_query import Query
from auditkit.data.statuses import check_words
from auditkit.data.unit_capacities import Limited
from auditkit.data.whole_readings import Answers, CarriedOut, weighed
from auditkit.display import Shown
from auditkit.errors import InputError, PluginError, Problem

MOST_ANSWERS = 3
"""Readings that are offered where a file can be read in several ways."""
_LARGE_GROUP = 30


@dataclass(frozen=True, eq=False)
class Checked(Shown):
    """What `check` found. `errors` are what stops before the cells are read: the file, or a role that must be given."""

    errors: tuple[Problem, ...]
    history: History | None
    problems: Problems

    @property
    def ok(self) -> bool:
        """Whether `load` would succeed."""
        return not self.errors and not len(self.problems.of("refuse"))

    def to_frame(self) -> pd.DataFrame:
        """One row per problem of a cell."""
        columns = ["code", "treatment", "row", "column", "value", "what", "fix"]
        return pd.DataFrame([[getattr(p, name) for name in columns] for p in self.problems], columns=columns)

    def __repr__(self) -> str:
        found = f"{len(self.errors)} errors, {len(self.problems):,} problems with cells"
        return f"<Checked: {found}; {'an audit can go on' if self.ok else 'fix them before an audit'}>"

    def _facts(self) -> list[str]:
        return [str(error) for error in self.errors]

    def _tables(self) -> list[pd.DataFrame]:
        """How often each problem occurs."""
        return [self.to_frame().groupby(["code", "treatment"]).size().rename("cells").reset_index()]


def load(
    path: str | Path | Files | Query | Tabular,
    mapping: Given | None = None,
    *,
    cost: float | abc.Mapping[str, float] | None = None,
    capacity: int | None = None,
    words: abc.Mapping[str, str] | None = None,
    limits: Limited | None = None,
    favourable: str | None = None,
    columns: Seen | None = None,
    sheet: str | None = None,
    readers: abc.Iterable[type[Reader]] = (),
    on_fault: abc.Callable[[PluginError], None] = give_up,
) -> History:
    """Read a file or the rows of a query into a clean history; one InputError with everything that must be fixed first.

    `mapping` is role -> column (or columns, in a list or joined by `+`; "none" leaves a role out; `selected` and
    `inspected` may compare, as in "Score>=70"). `words` gives statuses the file uses a meaning.
    `limits` says how many can be selected in the units of a column: one number, or one for each unit. `readers` are
    those of plugins, for files that are not delimited text; `on_fault` hears of one that fails. `favourable` is the
    good value of the outcome. `columns` says what columns looked like when the mapping was made, so that one that has
    another name now is found.
    """
    options = CleaningOptions(cost, capacity, words, limits or {}, favourable, columns or {})
    return _build(path, mapping, options, sheet, readers, on_fault, ask=True)


def check(
    path: str | Path | Files | Query | Tabular,
    mapping: Given | None = None,
    *,
    cost: float | abc.Mapping[str, float] | None = None,
    capacity: int | None = None,
    words: abc.Mapping[str, str] | None = None,
    limits: Limited | None = None,
    favourable: str | None = None,
    columns: Seen | None = None,
    sheet: str | None = None,
    readers: abc.Iterable[type[Reader]] = (),
    on_fault: abc.Callable[[PluginError], None] = give_up,
) -> Checked:
    """Everything that `load` would complain about, without raising."""
    try:
        options = CleaningOptions(cost, capacity, words, limits or {}, favourable, columns or {})
        history = _build(path, mapping, options, sheet, readers, on_fault, ask=False)
    except InputError as error:
        return Checked(error.problems, None, Problems())
    return Checked((), history, history.problems)


def _build(
    path: str | Path | Files | Query | Tabular,
    mapping: Given | None,
    options: CleaningOptions,
    sheet: str | None,
    readers: abc.Iterable[type[Reader]],
    on_fault: abc.Callable[[PluginError], None],
    *,
    ask: bool,
) -> History:
    if options.capacity is not None and options.capacity < 0:
        raise InputError(Problem("--capacity", f"{options.capacity} is not a number of positions", "give 0 or more"))
    if options.limits:
        mapping = {"unit": list(options.limits), **(mapping or {})}
    if isinstance(path, Query):
        found = read_query(path)
    else:
        found = read(path, sheet=sheet, readers=readers, on_fault=on_fault)
    given, said = _for_this_file(found, mapping or {}, options)
    try:
        history = _understood(found, given, options, said)
    except Unanswered as error:
        answers = tried(found, given, options, error.alternatives)
        if answers:
            question = ReadingQuestion(error.problems[0].what, answers)
            raise AmbiguousReading(list(error.problems), question) from None
        raise
    reading = history.reading
    if not ask:
        return history
    if set(history.problems.of("refuse").counts()) - {"unknown-word"}:
        history.problems.raise_refused()
    if reading is not None and _is_open(reading, given.keys()):
        answers = tried(found, given, options, reading.alternatives)
        if answers:
            problem = Problem(next(iter(answers[0].mapping)), reading.question, f"say which, e.g. {answers[0].flags}")
            raise AmbiguousReading(problem, ReadingQuestion(reading.question, answers))
        role = next(iter(_likeliest(reading)), "selected")  # none of the answers can be read
        raise InputError(Problem(role, reading.question, f"say which with --map {role}=COLUMN"))
    history.problems.raise_refused()
    return history


def _for_this_file(found: RawTable, given: Given, options: CleaningOptions) -> tuple[Given, tuple[str, ...]]:
    """The mapping with columns that have other names now, and the matches; what cannot be matched is a question."""
    now = rematched(given, options.seen, found.table)
    if now.lost:
        answers = tried(found, now.given, options, now.answers)
        if answers:
            where = "; ".join(f"{problem.where}: {problem.what}" for problem in now.lost)
            raise AmbiguousReading([*now.lost], ReadingQuestion(where, answers))
        raise InputError([*now.lost])
    return now.given, now.said


def _understood(found: RawTable, given: Given, options: CleaningOptions, said: abc.Sequence[str] = ()) -> History:
    """The history of a table under a mapping."""
    raw, collector, left, not_people = set_aside(found)
    raw, assumptions = shaped(raw, given, left)
    if options.favourable is not None:
        favourable = favoured(given, options.favourable, raw.table)
        if isinstance(favourable, Problem):
            raise InputError(favourable)
        given = favourable
    words = check_words(options.words or {})
    plan = look(raw, given, words, collector, (*said, *not_people, *assumptions))

    def read_otherwise(answers: Answers) -> CarriedOut | None:
        if given.keys() & answers.keys():
            return None
        met = Collector()
        try:
            return CarriedOut(look(raw, {**given, **answers}, words, met), met)
        except InputError:
            return None

    return clean(weighed(CarriedOut(plan, collector), read_otherwise), options, collector, left)


def _is_open(reading: Reading, answered: abc.Collection[str]) -> bool:
    """Whether nobody has said anything about what a reading asks; a question without answers is about the outcome."""
    roles = {role for each in reading.alternatives for role in each} or {"selected"}
    return bool(reading.question) and not roles & set(answered)


def _likeliest(reading: Reading) -> abc.Mapping[str, str]:
    return next(iter(reading.alternatives), {})


def tried(
    found: RawTable, given: Given, options: CleaningOptions, alternatives: abc.Iterable[abc.Mapping[str, str]]
) -> tuple[Answer, ...]:
    """Each mapping that can be read and compared, with the funnel that it gives on this table.

    A mapping after which another question would be asked is completed by the likeliest answer to that.
    """
    answers: list[tuple[Answer, bool]] = []
    for alternative in alternatives:
        complete = dict(alternative)
        try:
            history = _understood(found, {**given, **complete}, options)
            while (reading := history.reading) is not None and _is_open(reading, {*given, *complete}):
                if not _likeliest(reading):
                    raise InputError(Problem("selected", reading.question))
                complete |= _likeliest(reading)
                history = _understood(found, {**given, **complete}, options)
        except InputError:
            continue
        if reading is None or reading.refusal or len(history.problems.of("refuse")):
            continue
        answer = Answer(complete, len(history.table), reading.funnel)
        if all(answer.funnel != other.funnel for other, _ in answers):
            answers.append((answer, _leaves_a_group_out(history)))
        if len(answers) == MOST_ANSWERS:
            break
    return tuple(answer for answer, _ in sorted(answers, key=lambda pair: pair[1]))


def _leaves_a_group_out(history: History) -> bool:
    """Whether nobody of a large group was selected, though many of others were: part of the outcome is missing."""
    selected = history.table[history.decision]
    for name in history.attributes:
        groups = selected.groupby(history.table[f"group:{name}"])
        if ((groups.sum() == 0) & (groups.size() >= _LARGE_GROUP)).any() and selected.sum() >= _LARGE_GROUP:
            return True
    return False
