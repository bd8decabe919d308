"""A reading as the page shows it, in plain values that travel between processes."""

from __future__ import annotations

from dataclasses import dataclass

from auditkit.errors import Problem

NOT_USED = "not used"


@dataclass(frozen=True)
class ValueCount:
    """A value of a column and how many rows have it."""

    text: str
    rows: int


@dataclass(frozen=True)
class ColumnView:
    """A column of the file as it is read: its role, the reason for it, and its contents."""

    name: str
    role: str
    reason: str
    content: str
    filled: int
    distinct: int
    values: tuple[ValueCount, ...]
    range: str
    note: str = ""


@dataclass(frozen=True)
class MenuOption:
    """One entry of a menu."""

    value: str
    text: str


@dataclass(frozen=True)
class AnswerView:
    """One answer to a question, the funnel it gives on this file, and its mapping."""

    text: str
    gives: str
    mapping: dict[str, str | list[str]]


@dataclass(frozen=True)
class QuestionView:
    """Something that only the user can know; the likeliest answer comes first."""

    text: str
    options: tuple[AnswerView, ...]


@dataclass(frozen=True)
class GroupReached:
    """How many people in a group reached a step, out of those for whom this is known."""

    group: str
    reached: int
    of: int

    @property
    def rate(self) -> float | None:
        return self.reached / self.of if self.of else None

    @property
    def bar(self) -> tuple[float, float]:
        """Start and width, in per cent, of the bar that shows the rate, flush right."""
        width = 100 * (self.rate or 0.0)
        return 100 - width, width


@dataclass(frozen=True)
class StepReached:
    step: str
    groups: tuple[GroupReached, ...]


@dataclass(frozen=True)
class Funnel:
    """The steps of one attribute, starting with the application."""

    attribute: str
    steps: tuple[StepReached, ...]
    left_out: int
    """Applications without a stated group, or from a group too small to show."""


@dataclass(frozen=True)
class ReadingView:
    """A file as it is read with the user's choices. With `errors` no audit is possible yet."""

    rows: int
    columns: tuple[ColumnView, ...]
    favourable: tuple[MenuOption, ...]
    chosen_favourable: str
    questions: tuple[QuestionView, ...] = ()
    summary: str = ""
    counted: tuple[str, ...] = ()
    funnels: tuple[Funnel, ...] = ()
    problems: tuple[Problem, ...] = ()
    errors: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    profiles: tuple[MenuOption, ...] = ()
    has_score: bool = False
    has_cost: bool = False

    @property
    def ok(self) -> bool:
        return not self.errors and not self.questions

    @property
    def unused(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.role == NOT_USED)
