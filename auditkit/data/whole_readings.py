"""Complete readings of one file, weighed against each other.

An auditor who opens a file holds several readings of it in mind. Each answers all questions at once:

    grain     is a row an application, one event of several, or an event with its result?
    people    which id says who is counted, or does each row count by itself?
    steps     which column says how far somebody got?
    outcome   which column says who was selected?

Another reading answers one of them otherwise and is carried out on the whole file, so that everything else about it is
its own. What speaks for a reading adds up to one score:

    outcome   the column that says who was selected: its name, how many of its words are known, which columns agree
    steps     every step that people reached in order before it
    people    less for people on whom nothing is decided, and where everybody or nobody was selected
    fit       less for ids that repeat, for groups that change within a person, for steps that those further on skipped
    left      less for each column that looks like part of the process and has no part in the reading

If another reading comes close and other people are selected, or other steps were reached, only a person can say which
is right; the likeliest is offered first.
"""

from __future__ import annotations

import math
from collections import abc
from dataclasses import dataclass, replace
from functools import cached_property

from auditkit.data.columns import named
from auditkit.data.hypothesis import Interpretation
from auditkit.data.personal import is_personal
from auditkit.data.problems import Collector
from auditkit.data.roles import listed
from auditkit.data.statuses import took_place
from auditkit.data.table_look import Decision
from auditkit.data.what_a_row_is import events_of_people, is_constant_within

Answers = dict[str, str]
"""What is answered otherwise: role -> column, as `--map` takes it."""

CLOSE = 0.6
"""Readings whose scores differ by less are not told apart."""
MOST_RIVALS, _MOST_STAGES = 3, 30
_BEHIND = 3.0
"""An outcome that is so much weaker by itself cannot come close with what else it explains."""
_STEP, _UNDECIDED, _LEFT = 0.3, 2.0, {"outcome": 0.8, "step": 0.3}
_REPEATED, _CHANGED, _SKIPPED, _ALL_ALIKE = 4.0, 6.0, 2.0, 2.0
_SHAKY = ("guessed-word", "unplaced-stage", "silent-disposition")
"""Assumptions on which it depends who was selected or which steps there were, and for which only words speak."""
_ALIKE = 0.02
"""Share of the people of a step that a column which says the same may have otherwise."""
_USUAL = 2.0
"""The weight of an outcome that is no column of its own, such as the last event of an application."""


@dataclass(frozen=True)
class ReadingScore:
    """How well a complete reading fits its file."""

    outcome: float
    steps: float
    people: float
    fit: float
    left: float

    @property
    def total(self) -> float:
        return self.outcome + self.steps + self.people + self.fit + self.left


@dataclass(frozen=True, eq=False)
class CarriedOut:
    """A reading on the whole file, with what it met with on the way."""

    plan: Interpretation
    collector: Collector

    @cached_property
    def events(self) -> tuple[str, str] | None:
        """The id and the stage, where the rows are events of an id that the reading does not use."""
        plan = self.plan
        roles = ("stages", "inspected", "selected")
        stages = [name for role in roles for name in plan.mapping.columns(role)]
        stages += [name for name, look in plan.looks.items() if look in ("step", "outcome")]
        known = [*plan.mapping.columns("candidate"), *plan.mapping.columns("person")]
        return events_of_people(plan.raw.table, plan.mapping.columns("group"), known, stages)

    @cached_property
    def numbers(self) -> str | None:
        """The column of counts, where the rows are cells of a table of counts and were read as applications."""
        return _numbers_of_cells(self.plan)


def evidence(tried: CarriedOut, outcome: float) -> ReadingScore:
    """Of a reading whose outcome has this weight by itself."""
    plan = tried.plan
    steps = 0 if plan.stages is None else len(plan.stages.names)
    steps += plan.inspected is not None
    undecided = 0.0 if plan.status is None else float((plan.status == "pending").mean())
    left = sum(_LEFT.get(look, 0.0) for look in plan.looks.values())
    alike = _ALL_ALIKE * (plan.status is not None and _selected(plan) in (0, len(plan.status)))
    return ReadingScore(outcome, _STEP * min(steps, 4), -_UNDECIDED * undecided - alike, -_misfit(tried), -left)


def _misfit(tried: CarriedOut) -> float:
    plan = tried.plan
    keys = [name for role in ("candidate", "search") for name in plan.roles.columns(role) if name in plan.cells]
    repeated = float(plan.cells.duplicated(keys).mean()) if plan.roles.columns("candidate") else 0.0
    changed = tried.collector.problems().counts().get("conflicting-value", 0) / max(1, len(plan.raw.table))
    skipped = 0.0
    if plan.stages is not None and plan.status is not None:
        pairs = [(int(a.sum()), int(b.sum())) for a, b in plan.stages.skipped(plan.status).values()]
        skipped = max((n / of for n, of in pairs if of), default=0.0)
    divided = plan.row == "application" and (tried.events or tried.numbers) is not None
    return _REPEATED * (repeated + divided) + _CHANGED * changed + _SKIPPED * skipped


def rivals(tried: CarriedOut) -> list[Answers]:
    """Other answers that are worth carrying out: each changes one part of the reading, the likeliest first."""
    plan = tried.plan
    own, *others = plan.outcomes.values() if plan.outcomes else (None,)
    outcomes = [
        {"selected": each.spec}
        for each in others
        if own is not None and each.weight > own.weight - _BEHIND and _is_other(own, each)
    ]
    return [*outcomes[:MOST_RIVALS], *_other_steps(plan)[:MOST_RIVALS], *_other_grains(tried)[:MOST_RIVALS]]


def _is_other(own: Decision, other: Decision) -> bool:
    """Whether other people are selected, but not just those of them who then accepted, enrolled or started."""
    if own.selected.equals(other.selected):
        return False
    if other.decided.bad and not (own.selected & (other.decided.codes == "rejected")).any():
        return False  # not to be rejected is less than to be selected
    return bool((other.selected & ~own.selected).any()) or named(own.column, "selected") is None


def _other_steps(plan: Interpretation) -> list[Answers]:
    """Columns of words that no part of the reading explains, and that look like steps."""
    if plan.row != "application":
        return []
    if answers := _one_more_step(plan):
        return answers
    if plan.stages is not None and len(plan.stages.names) > 1:
        return []
    own = next(iter(plan.outcomes.values()), None)
    # an outcome that those selected did not all have is no step before theirs
    same = {
        each.column
        for each in plan.outcomes.values()
        if own is not None and (own.selected.equals(each.selected) or not each.selected[own.selected].all())
    }
    looks = ("step",) if "selected" in plan.given else ("step", "outcome")  # another outcome was turned down
    left = [name for name in plan.mapping.unused if plan.looks.get(name) in looks]
    few = [name for name in left if name in plan.cells and plan.cells[name].nunique() <= _MOST_STAGES]
    return [{"stages": name} for name in few if name not in same and not is_personal(name, "")]


def _one_more_step(plan: Interpretation) -> list[Answers]:
    """The steps with one more, in its place: a column of words that everybody selected shares, against chance."""
    columns = plan.mapping.columns("stages") or plan.mapping.columns("inspected")
    codes = plan.stages.codes if plan.stages is not None else () if plan.inspected is None else (plan.inspected,)
    if len(columns) != len(codes):
        return []  # steps inside one column
    reached = {name: took_place(each) for name, each in zip(columns, codes, strict=True)}
    answers = []
    for name, words in plan.passed.items():
        here = plan.cells[name].isin(words)
        number = int(here.sum())
        if any((here != flags).sum() <= _ALIKE * number for flags in reached.values()):
            continue  # it says the same as a step
        before = [step for step in columns if int(reached[step].sum()) >= number]
        after = [step for step in columns if step not in before]
        if number > _selected(plan):
            answers.append({"stages": "+".join((*before, f"{name}={'|'.join(words)}", *after))})
    return answers


def _other_grains(tried: CarriedOut) -> list[Answers]:
    """Rows as applications where they were read as events, and the other way round where ids repeat."""
    plan = tried.plan
    if plan.row == "event":
        results = [name for name in plan.mapping.unused if plan.looks.get(name) in ("step", "outcome")]
        results += [name for name in plan.mapping.columns("selected") if not _said_once(plan, name)]
        return [{"result": name} for name in results] + [{"stage": "none"}]
    if plan.row != "application":
        return []
    if tried.events is not None:
        return [{"candidate": tried.events[0], "stage": tried.events[1]}]
    if tried.numbers is not None:
        return [{"count": tried.numbers}]
    if not plan.mapping.columns("candidate"):
        return []
    keys = [name for role in ("candidate", "search") for name in plan.mapping.columns(role)]
    if not plan.cells.duplicated(keys).mean() > 0.02:
        return []
    stages = [name for name in plan.mapping.unused if plan.looks.get(name) in ("step", "outcome")]
    return [{"stage": name} for name in stages] + [{"candidate": "none"}]


def _numbers_of_cells(plan: Interpretation) -> str | None:
    """The one column of whole numbers beside labels that occur in every combination, each once, as people never do."""
    table = plan.raw.table
    numbers = [
        str(name)
        for name in table  # most columns say so in their first cell
        if table[name].iloc[:1].str.isdigit().all() and table[name].str.fullmatch(r"\d+").all()
    ]
    if len(numbers) != 1:
        return None
    sizes = [table[name].nunique() for name in table if name not in numbers]
    crossed = len(sizes) > 1 and min(sizes) > 1 and math.prod(sizes) == len(table)
    return numbers[0] if crossed else None


def _said_once(plan: Interpretation, column: str) -> bool:
    table = plan.raw.table
    if column not in table:
        return True
    keys = [name for role in ("candidate", "search") for name in plan.mapping.columns(role)]
    return is_constant_within(table, keys, column)


def _selected(plan: Interpretation) -> int:
    return 0 if plan.status is None else int(plan.status.isin(["selected", "declined"]).sum())


def _says(plan: Interpretation) -> tuple[object, ...]:
    """Who is counted, who was selected and how many reached each step: what a wrong reading would get wrong."""
    steps = () if plan.stages is None else tuple(int((codes != "no").sum()) for codes in plan.stages.codes)
    chosen = () if plan.status is None else tuple(plan.status.isin(["selected", "declined"]))
    return chosen, *dict.fromkeys(steps)


def weighed(own: CarriedOut, read: abc.Callable[[Answers], CarriedOut | None]) -> Interpretation:
    """The reading, with a question where another comes close while other people are selected or steps were reached.

    `read` carries out a reading with other answers. Where scores are close, the order of the questions decides: this
    reading comes first unless another is clearly ahead.
    """
    plan = own.plan
    if plan.ambiguous or plan.status is None:
        return plan
    weight = next((each.weight for each in plan.outcomes.values()), _USUAL)
    best = evidence(own, weight).total
    near: list[tuple[float, Answers]] = []
    for answers in rivals(own):
        other = read(answers)
        if other is None or other.plan.status is None or _says(other.plan) == _says(plan):
            continue
        by_itself = plan.outcomes[answers["selected"]].weight if "selected" in answers else weight
        score = evidence(other, by_itself).total
        more = "=" in answers.get("stages", "")
        if score > best - CLOSE and ("selected" in answers or more or score > best + CLOSE):
            near.append((score + CLOSE * more, answers))
    if not near:
        return _unconfirmed(plan)
    near = [pair for pair in near if "selected" in pair[1]] or near  # who was selected is the first question
    near.sort(key=lambda pair: -pair[0])
    mine = _own_answers(plan, near[0][1])
    offered = [each for _, each in near]
    offered.insert(0 if near[0][0] < best + CLOSE else 1, mine)
    return replace(plan, ambiguous=_question(plan, offered), alternatives=tuple(offered))


def _unconfirmed(plan: Interpretation) -> Interpretation:
    """A question where something was assumed that neither a name nor the people bear out."""
    for code in (code for code in _SHAKY if code in plan.doubts):
        stages, spec = plan.mapping.column("stages"), next(iter(plan.outcomes), "")
        said = next(notice.text for notice in plan.notices if notice.code == code)
        if code == "guessed-word" and not _borne_out(plan):
            return replace(plan, ambiguous=said, alternatives=({"selected": spec}, {"selected": "none"}))
        if code != "guessed-word" and stages is not None and "stages" not in plan.given:
            return replace(plan, ambiguous=said, alternatives=({"stages": stages}, {"stages": "none"}))
    return plan


def _borne_out(plan: Interpretation) -> bool:
    """Whether another column than that of the outcome says that those selected, and only they, got to the end."""
    if plan.stages is None or plan.status is None or plan.mapping.columns("stages") == plan.mapping.columns("selected"):
        return False
    further = [without for without, _ in plan.stages.skipped(plan.status).values()]
    return not any(flags.any() for flags in further)


def _own_answers(plan: Interpretation, other: Answers) -> Answers:
    """What this reading answers to the question that another answers otherwise."""
    role = next(iter(other))
    if role == "selected":
        return {"selected": next(iter(plan.outcomes))}
    columns = plan.mapping.columns(role)
    return {role: "+".join(columns) if columns else "none"}


def _question(plan: Interpretation, answers: abc.Sequence[Answers]) -> str:
    role = next(iter(answers[0]))
    if role == "selected":
        names = dict.fromkeys(plan.outcomes[spec].column for a in answers if (spec := a.get("selected")) is not None)
        return f"several columns could say who was selected: {listed(list(names))}"
    own = set(plan.mapping.columns(role))
    parts = [part.partition("=")[0] for a in answers for part in a.get(role, "none").split("+")]
    names = dict.fromkeys(part for part in parts if part != "none" and part not in own)
    what = {"stages": "how far people got", "stage": "what a row is an event of", "result": "who passed each step"}
    what["count"] = "how many people a row stands for"
    return f"{listed(list(names))} may say {what.get(role, 'who somebody is')}"
