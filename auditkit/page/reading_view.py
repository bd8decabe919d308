"""What the page shows of a reading, as plain values that travel between processes."""

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
    """A column of the file as it is read: its role, the reason for it, and what it holds."""

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
    """One answer to a question, the funnel that it gives on this file, and the mapping that says so."""

    text: str
    gives: str
    mapping: dict[str, str | list[str]]


@dataclass(frozen=True)
class QuestionView:
    """Something that only the user can know; the likeliest answer is the first."""

    text: str
    options: tuple[AnswerView, ...]


@dataclass(frozen=True)
class GroupReached:
    """How many of a group reached a step, of those of whom it is known."""

    group: str
    reached: int
    of: int

    @property
    def rate(self) -> float | None:
        return self.reached / self.of if self.of else None

    @property
    def bar(self) -> tuple[float, float]:
        """Of the bar that shows the rate, flush right: where it begins and how wide it is, in per cent."""
        width = 100 * (self.rate or 0.0)
        return 100 - width, width


@dataclass(frozen=True)
class StepReached:
    step: str
    groups: tuple[GroupReached, ...]


@dataclass(frozen=True)
class Funnel:
    """The steps of one attribute, from applying on."""

    attribute: str
    steps: tuple[StepReached, ...]
    left_out: int
    """Applications without a stated group, or of a group too small to show."""


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
