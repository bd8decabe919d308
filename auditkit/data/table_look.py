"""What is known of a table so far: its columns, the roles that are settled, what must be asked and what was assumed.

The files that each answer one question about a table (`hypothesis` lists them) write their answers here.
"""

from __future__ import annotations

from collections import abc
from dataclasses import dataclass
from typing import Any

import pandas as pd

from auditkit.data.columns import ColumnProfile, Match, best_of, by_name, describe, is_protected, matches_of
from auditkit.data.problems import Collector, Notice
from auditkit.data.raw_table import RawTable
from auditkit.data.roles import Choice, Given, flag, listed, taken
from auditkit.data.statuses import Decided, Test, Words, achieved, step_codes
from auditkit.data.steps import label_of
from auditkit.data.vocabulary import spoken
from auditkit.errors import Problem

CHANCE = 1e-3
"""A column without a telling name is a step only if chance would make it look like one more rarely than this."""
ENOUGH = 2.0
"""The least weight at which a column is taken as the decision without asking."""
FEW = 0.1
"""Share of the rows that words of unknown meaning may have without a question."""
CONTENTS = {
    "yes/no": "yes and no",
    "id": "ids",
    "number": "numbers",
    "date": "dates",
    "status": "words for a status",
    "category": "categories",
    "text": "text",
    "empty": "empty",
}


@dataclass(frozen=True, eq=False)
class Decision:
    """One answer to: which column says who had the favourable outcome, and how much speaks for it?"""

    column: str
    decided: Decided
    selected: pd.Series[Any]
    weight: float
    why: str
    test: Test | None = None
    given: bool = False
    guess: str = ""
    """The word that is taken as the good one because all others are bad."""

    @property
    def spec(self) -> str:
        """The answer as `--map selected=` takes it."""
        if self.test is not None:
            return f"{self.column}{self.test.sign}{self.test.value}"
        if self.decided.bad:
            yes = [word for word, code in self.decided.meanings.items() if code == "rejected"]
            return f"{self.column}!={'|'.join(yes[:4])}" if 0 < len(yes) <= 4 else f"{self.column}=(blank)"
        good = [word for word, code in self.decided.meanings.items() if code == "selected"]
        return f"{self.column}={'|'.join(good[:4])}" if 0 < len(good) <= 4 else self.column


@dataclass(frozen=True, eq=False)
class StepColumn:
    """A column that says who got over a step."""

    column: str
    codes: pd.Series[Any]
    rank: float | None
    test: Test | None = None

    @property
    def reached(self) -> pd.Series[Any]:
        return achieved(self.codes)


class TableLook:
    """What is known of a table so far, what must be asked, and what was assumed."""

    def __init__(
        self, raw: RawTable, given: Given, words: Words, collector: Collector, assumptions: abc.Sequence[str]
    ) -> None:
        self.raw, self.words, self.collector = raw, words, collector
        self.given, self.table = given, raw.table
        self.columns = {str(name): describe(str(name), raw.table[name]) for name in raw.table.columns}
        mapped = taken(given, list(self.columns))
        self.chosen: dict[str, Choice] = dict(mapped.chosen)
        self.off: set[str] = set(mapped.off)
        self.problems: list[Problem] = [*mapped.problems]
        self.stageless = mapped.stageless
        self.notices: list[Notice] = []
        self.assumptions: list[str] = [*assumptions]
        self.doubts: list[str] = []
        self.alternatives: list[dict[str, str]] = []
        self.ambiguous = ""
        self.decisions: list[Decision] = []
        self.meant: dict[str, str] = {}
        if raw.count is not None:
            self.chosen["count"] = Choice("count", (raw.count,), "each row is a category with its counts")

    def columns_of(self, role: str) -> tuple[str, ...]:
        choice = self.chosen.get(role)
        return () if choice is None else choice.columns

    def keys(self) -> list[str]:
        """The columns that tell applications apart."""
        return [name for role in ("candidate", "search") for name in self.columns_of(role)]

    def free(self) -> list[ColumnProfile]:
        """Columns without a role that may have one: not protected, and not about a part of the firm."""
        used = self.used()
        result = []
        for name, column in self.columns.items():
            roles = sorted(by_name(name), key=lambda match: match.closeness)
            about = roles[0].role if roles else ""
            part = about == "segment" and column.content != "yes/no"
            if name not in used and column.filled and not is_protected(name) and not part:
                result.append(column)
        return result

    def used(self) -> set[str]:
        return {column for choice in self.chosen.values() for column in choice.columns}

    def matches(self) -> dict[str, list[Match]]:
        return matches_of(self.columns, self.used(), self.chosen.keys() | self.off)

    def likely(self, role: str, matches: dict[str, list[Match]]) -> str | None:
        if role in self.chosen:
            return self.chosen[role].columns[0]
        best = best_of(matches.get(role, []))
        return best[0].column if len(best) == 1 else None

    def choose(self, role: str, match: Match) -> None:
        name = f"its name holds {match.name!r}" if match.loose else "its name says so"
        content = self.columns[match.column].content
        self.chosen[role] = Choice(role, (match.column,), f"{name}; its values are {CONTENTS[content]}")

    def ask(self, role: str, what: str, likely: abc.Sequence[str], more: str = "") -> None:
        fix = f"say which with --map {role}=COLUMN"
        if likely:
            fix = f"say which, e.g. {flag(role, likely[0])}; most likely: {listed(likely)}"
        self.problems.append(Problem(role, what, fix + more))

    def say(self, code: str, text: str, fix: str = "") -> None:
        self.notices.append(Notice(code, text, fix))

    def assume(self, code: str, text: str, fix: str = "") -> None:
        """Something that a reader of the report must know, as it may be wrong."""
        self.say(code, text, fix)
        self.assumptions.append(text)
        self.doubts.append(code)

    def step(self, column: str, test: Test | None = None) -> StepColumn:
        codes = step_codes(self.table[column], column, test)
        return StepColumn(column, codes, spoken().step_rank(label_of(column)), test)

    def reason_cells(self) -> pd.DataFrame:
        choice = self.chosen.get("reason")
        return self.table[list(choice.columns) if choice is not None else []]
