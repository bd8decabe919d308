"""How a file was read, for people and programs: confidence, what a row is, what is favourable, what was not used.

A `Reading` goes with every `History`. It says what was understood and what was assumed; `questions` are the points on
which another answer would change who was selected, each answer with the funnel that it gives on this very file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from auditkit.data.hypothesis import Interpretation
from auditkit.data.roles import flag
from auditkit.data.vocabulary import plain, spoken
from auditkit.errors import InputError, Problem
from auditkit.model.groups import UNKNOWN

MOST_SHOWN = 8
"""Values of a column that are listed with their counts."""


@dataclass(frozen=True)
class Favourable:
    """The good outcome in words, how many had it, and of how many."""

    text: str
    count: int
    of: int


@dataclass(frozen=True)
class UnusedColumn:
    """A column without a role; `looks_like` is `step`, `outcome`, `group`, `score`, `postal code`, or ""."""

    column: str
    looks_like: str = ""


@dataclass(frozen=True)
class ColumnReading:
    """A column as the page shows it: its role ("" if it is not used), why, and its commonest values."""

    name: str
    role: str
    reason: str
    content: str
    values: tuple[tuple[str, int], ...]
    looks_like: str = ""


@dataclass(frozen=True)
class FunnelStep:
    """How many people reached a step."""

    step: str
    count: int


@dataclass(frozen=True)
class Answer:
    """One answer to a question: the mapping that says so, and the funnel that it gives on this file."""

    mapping: Mapping[str, str | list[str]]
    people: int
    funnel: tuple[FunnelStep, ...]

    @property
    def flags(self) -> str:
        """The mapping as flags of the command line."""
        return " ".join(
            flag(role, value) if isinstance(value, str) else " ".join(flag(role, each) for each in value)
            for role, value in self.mapping.items()
        )

    @property
    def shown(self) -> str:
        """The funnel in one line."""
        steps = "".join(f" -> {step.step} {step.count:,}" for step in self.funnel)
        return f"{self.people:,}{steps}"


@dataclass(frozen=True)
class ReadingQuestion:
    """Something that only a person can answer; the likeliest answer is the first."""

    text: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class PeopleWords:
    """What the people in a file are called, and what the good outcome does to them."""

    people: str = "applicants"
    person: str = "applicant"
    verb: str = "selected"


@dataclass(frozen=True)
class Reading:
    """How a file was read. `refusal` says why nothing can be compared, "" where something can."""

    confidence: Literal["certain", "likely", "ambiguous"]
    row: str
    favourable: Favourable
    funnel: tuple[FunnelStep, ...]
    columns: tuple[ColumnReading, ...]
    unused: tuple[UnusedColumn, ...]
    assumptions: tuple[str, ...]
    question: str = ""
    alternatives: tuple[Mapping[str, str], ...] = ()
    refusal: str = ""
    words: PeopleWords = field(default_factory=PeopleWords)

    @property
    def shown(self) -> str:
        """The first line of the terminal output."""
        return f"favourable: {self.favourable.text}, {self.favourable.count:,} of {self.favourable.of:,}"


class AmbiguousReading(InputError):
    """A file that can be read in several ways, with the ways that were tried on it."""

    def __init__(self, problems: Problem | list[Problem], question: ReadingQuestion) -> None:
        super().__init__(problems)
        self.question = question


def reading_of(
    plan: Interpretation, table: pd.DataFrame, steps: tuple[str, ...], attributes: tuple[str, ...]
) -> Reading:
    """The reading of a plan whose history is `table`."""
    decision = "selected" if "selected" in table else "inspected"
    counts = {name: int(table[f"step:{name}"].fillna(False).astype(bool).sum()) for name in steps}
    name = steps[-1] if steps else plan.selected_name
    favourable = Favourable(name, number_favourable(table, steps), len(table))
    confidence: Literal["certain", "likely", "ambiguous"] = "certain"
    if plan.ambiguous:
        confidence = "ambiguous"
    elif plan.doubts or plan.alternatives or any(plan.looks[name] in ("step", "outcome") for name in plan.looks):
        confidence = "likely"
    return Reading(
        confidence,
        plan.row,
        favourable,
        tuple(FunnelStep(step, count) for step, count in counts.items()),
        _columns(plan),
        tuple(UnusedColumn(name, plan.looks.get(name, "")) for name in plan.mapping.unused),
        plan.assumptions,
        plan.ambiguous,
        plan.alternatives,
        _refusal(plan, table, decision, attributes),
        _words(plan),
    )


def _columns(plan: Interpretation) -> tuple[ColumnReading, ...]:
    roles = {column: choice for choice in plan.mapping.choices for column in reversed(choice.columns)}
    result = []
    for name in map(str, plan.raw.table.columns):
        often = plan.raw.table[name].value_counts()
        choice = roles.get(name)
        values = tuple((str(value), int(n)) for value, n in often.head(MOST_SHOWN).items())
        private = choice is not None and choice.role in ("candidate", "person")
        result.append(
            ColumnReading(
                name,
                choice.role if choice is not None else "",
                choice.reason if choice is not None else "",
                f"{len(often):,} different values",
                () if private or len(often) > 200 or spoken().has("names", "private", plain(name)) else values,
                plan.looks.get(name, ""),
            )
        )
    return tuple(result)


def number_favourable(table: pd.DataFrame, steps: tuple[str, ...]) -> int:
    """How many people of a history's table have the good outcome: those at the last step, where there are any."""
    decided = f"step:{steps[-1]}" if steps else "selected" if "selected" in table else "inspected"
    return int(table[decided].fillna(False).astype(bool).sum())


def _refusal(plan: Interpretation, table: pd.DataFrame, decision: str, attributes: tuple[str, ...]) -> str:
    """Why nothing can be compared: everybody or nobody had the good outcome, or there is one group."""
    decided = table[~(table["withdrawn"] | table["pending"])]
    chosen = int(decided[decision].sum())
    steps = [name for name in table if str(name).startswith("step:")]
    split = any(0 < table[name].dropna().sum() < len(table[name].dropna()) for name in steps)
    name = plan.selected_name if decision == "selected" else "inspected"
    if not split and chosen == len(decided):
        return (
            f"everybody in the file who was decided on has the outcome {name!r} ({chosen:,} of {len(decided):,}): "
            "add those who did not, for example all applicants and not only the hires"
        )
    if chosen == 0 and (decision == "selected" or not split):
        return (
            f"nobody in the file has the outcome {name!r} (0 of {len(decided):,}): "
            "say which column and value is the favourable one with --map selected=COLUMN=VALUE"
        )
    if all(len(set(table[f"group:{name}"].unique()) - {UNKNOWN}) < 2 for name in attributes):
        return (
            f"{', '.join(map(repr, attributes))}: fewer than two groups are known, so there is nothing to compare; "
            "add the people of the other groups, or another column with --map group=COLUMN"
        )
    known = decided[(decided[[f"group:{name}" for name in attributes]] != UNKNOWN).any(axis=1)]
    counted = [known[step].dropna() for step in steps or [decision]]
    if not any(0 < flags.sum() < len(flags) for flags in counted):
        return (
            f"{', '.join(map(repr, attributes))}: everybody whose group is known ({len(known):,} of {len(decided):,}) "
            "has the same outcome, so there is nothing to compare; add the groups of the others"
        )
    return ""


def _words(plan: Interpretation) -> PeopleWords:
    """Employees, students or proposals, where the file is about them."""
    vocabulary = spoken()
    names = [plain(str(name)) for name in plan.raw.table.columns]
    outcome = plain(f"{plan.selected_name} {plan.mapping.column('selected') or ''}")

    def says(key: str, texts: list[str]) -> bool:
        return any(vocabulary.has("favourable", key, text) for text in texts)

    verbs = ("retained", "promoted", "admitted", "awarded")
    verb = next((word for word in verbs if says(word, [outcome])), "selected")
    if verb in ("retained", "promoted"):
        return PeopleWords("employees", "employee", verb)
    if verb == "admitted":
        return PeopleWords("applicants", "applicant", verb)
    if says("proposal", names) and verb == "awarded":
        return PeopleWords("proposals", "proposal", verb)
    return PeopleWords(verb=verb)
