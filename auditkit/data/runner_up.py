"""The reading of a file against the best other one: is another complete reading nearly as likely?

A reading answers several questions at once, so that its parts are weighed together. Each part adds to one score:

    outcome   the column that says who was selected: its name, how many of its words are known, which columns agree
    steps     every step that people reached in order before it
    people    less for people on whom nothing is decided
    left      less for each column that looks like part of the process and has no part in the reading

A rival takes another column as the outcome and is carried out on the whole file, so that its steps, its people and
what it leaves over are its own. If it comes close and other people are selected, only a person can say which is right.
"""

from __future__ import annotations

from collections import abc
from dataclasses import dataclass, replace

from auditkit.data.columns import named
from auditkit.data.hypothesis import Interpretation
from auditkit.data.roles import listed
from auditkit.data.table_look import Decision

CLOSE = 0.6
"""Readings whose scores differ by less are not told apart."""
MOST_RIVALS = 3
_BEHIND = 3.0
"""An outcome that is so much weaker by itself cannot come close with what else it explains."""
_STEP, _UNDECIDED, _LEFT = 0.3, 2.0, {"outcome": 0.8, "step": 0.3}


@dataclass(frozen=True)
class ReadingScore:
    """How well a complete reading fits its file."""

    outcome: float
    steps: float
    people: float
    left: float

    @property
    def total(self) -> float:
        return self.outcome + self.steps + self.people + self.left


def evidence(plan: Interpretation, outcome: float) -> ReadingScore:
    """Of a reading whose outcome has this weight by itself."""
    steps = 0 if plan.stages is None else len(plan.stages.names)
    steps += plan.inspected is not None
    undecided = 0.0 if plan.status is None else float((plan.status == "pending").mean())
    left = sum(_LEFT.get(look, 0.0) for look in plan.looks.values())
    return ReadingScore(outcome, _STEP * min(steps, 4), -_UNDECIDED * undecided, -left)


def rivals(plan: Interpretation) -> list[str]:
    """Other answers to who was selected that are worth carrying out, the likeliest first."""
    own, *others = plan.outcomes.values()
    return [each.spec for each in others if each.weight > own.weight - _BEHIND and _is_other(own, each)][:MOST_RIVALS]


def _is_other(own: Decision, other: Decision) -> bool:
    """Whether other people are selected, but not just those of them who then accepted, enrolled or started."""
    if own.selected.equals(other.selected):
        return False
    if other.decided.bad and not (own.selected & ~other.selected).any():
        return False  # not to be rejected is less than to be selected
    return bool((other.selected & ~own.selected).any()) or named(own.column, "selected") is None


def doubted(plan: Interpretation, read: abc.Callable[[str], Interpretation | None]) -> Interpretation:
    """The reading, with a question where another comes close while other people are selected.

    `read` carries out the reading whose outcome is said. Where scores are close, the order of the questions decides:
    this reading comes first unless another is clearly ahead.
    """
    if plan.ambiguous or plan.status is None or len(plan.outcomes) < 2:
        return plan
    own = next(iter(plan.outcomes))
    best = evidence(plan, plan.outcomes[own].weight).total
    scores = {own: best}
    for spec in rivals(plan):
        other = read(spec)
        if other is not None and other.status is not None:
            scores[spec] = evidence(other, plan.outcomes[spec].weight).total
    near = sorted((spec for spec in scores if scores[spec] > best - CLOSE), key=lambda spec: -scores[spec])
    if len(near) < 2:
        return plan
    if scores[near[0]] < best + CLOSE:
        near.remove(own)
        near.insert(0, own)
    names = dict.fromkeys(plan.outcomes[spec].column for spec in near)
    text = f"several columns could say who was selected: {listed(list(names))}"
    return replace(plan, ambiguous=text, alternatives=tuple({"selected": spec} for spec in near))
