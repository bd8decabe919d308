"""What became of each application, and what the favourable outcome is called."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from auditkit.data.problems import Collector
from auditkit.data.roles import Choice, flag
from auditkit.data.stages import PASSED, Stages
from auditkit.data.statuses import (
    Decided,
    Test,
    decide,
    is_bad,
    is_empty,
    settled,
    step_codes,
    took_place,
    with_reasons,
)
from auditkit.data.steps import StepsInOneColumn, label_of, labels_of
from auditkit.data.table_look import Decision, StepColumn, TableLook
from auditkit.data.vocabulary import STEP_RANKS, plain, spoken

MANY_OPEN = 0.25
"""Share of people without a decision above which that is said first of all."""
MOST_DECISIONS, ALL_OPEN = 12, 0.98
"""Words of a column of later decisions, and the share of its people whom the first decision left open."""
_OFFERED = 0.97
"""Share of those selected, or who declined, that a step must know to be the one of offers."""


def status_of_each(
    state: TableLook, decision: Decision | None, steps: list[StepColumn], found: StepsInOneColumn | None
) -> tuple[pd.Series[Any] | None, str]:
    """The status of each application, and what the favourable one is called."""
    reasons = state.reason_cells()
    if decision is not None:
        cells, column = state.table[decision.column], decision.column
        raw_codes = decision.decided.codes
        decided = decision.decided
        if state.meant and decided.unknown:
            raw_codes = raw_codes.mask(cells.isin(list(state.meant)), cells.map(state.meant))
            decided = replace(decided, codes=raw_codes)
        quiet = Collector()
        status = settled(decided, cells, column, quiet)
        blank = (raw_codes == "") & (status == "pending")
        seen = _inspection(state)
        for step in steps or ([] if seen is None else [seen]):
            stopped = step.codes.isin(["no", "failed"])
            if not (decision.decided.codes == "pending").any() and step.codes.isin(["yes", ""]).all():
                stopped |= step.codes == ""  # a date or tick that only those have who got there
            status = status.mask(blank & stopped, "rejected").mask(blank & (step.codes == "withdrawn"), "withdrawn")
        status = with_reasons(status, reasons)
        status = _endings(state, _decided_later(state, status, decision), decision)
        chosen = decision.test is not None and decision.test.sign == "="
        if (chosen or (found is not None and decision.test is None)) and not (status == "rejected").any():
            # the column only has stages: those who are not at the last one were not selected
            open_ends = (status == "pending") & (raw_codes != "")
            if open_ends.any():
                status = status.mask(open_ends, "rejected")
                state.say("no-rejections", "nothing says who was rejected: those not selected count as rejected")
        open_cells = (raw_codes == "") & (status == "pending")
        state.collector.add("missing-status", open_cells, column, cells)
        if open_cells.mean() > MANY_OPEN and (status == "rejected").any():
            number = int(open_cells.sum())
            text = f"{column!r} is empty for {number:,} of {len(cells):,} people, who count as undecided"
            state.assume("many-undecided", text, flag("selected", decision.spec))
        elif (status == "pending").mean() > MANY_OPEN and (status == "rejected").any():
            text = f"{int((status == 'pending').sum()):,} of {len(status):,} people are read as undecided"
            state.assume("many-undecided", f"{text}, by the words in {column!r}", flag("selected", decision.spec))
        own = found.selected if found is not None and decision.test is None else None
        return status, own or name_of_outcome(state, cells, decided, status, column)
    if found is not None and (found.final != "").any():
        open_end = "pending" if (found.final == "rejected").any() else "rejected"
        status = with_reasons(found.final.where(found.final != "", open_end), reasons)
        return status, found.selected or "selected"
    if len(steps) > 1 or (steps and "stages" in state.chosen):
        names = labels_of([step.column for step in steps])
        stages = Stages(names, tuple(step.codes.replace({"?": ""}) for step in steps))
        state.assume("selected-from-stages", f"selected are those who reached the last stage, {names[-1]!r}")
        last = names[-1] + PASSED * bool((stages.codes[-1] == "failed").any())
        return with_reasons(stages.status(), reasons), last
    if found is not None:
        last = found.names[-1]
        state.say("selected-from-stages", f"selected are those who reached the last stage, {last!r}")
        status = pd.Series("rejected", index=state.table.index, dtype="str").mask(found.reached[last], "selected")
        return with_reasons(status, reasons), last
    return None, "selected"


def offers_are_a_step(state: TableLook, status: pd.Series[Any], stages: Stages | None, outcome: str) -> bool:
    """Whether offers are a step before the outcome, as some declined one. Then who declined is counted there; without
    any steps they are counted as selected: of "Hired, 89 of 1,000" nine would not have been hired."""
    declined = status == "declined"
    if not declined.any() or is_offer(outcome):
        return False
    steps = () if stages is None else zip(stages.names, stages.codes, strict=True)
    last = [codes for name, codes in steps if is_offer(name)][-1:]
    if stages is not None and (not last or took_place(last[0])[declined | (status == "selected")].mean() >= _OFFERED):
        return True
    text = f"{int(declined.sum()):,} who declined an offer count as {outcome!r}, because they were chosen"
    state.assume("declined-offers", text)
    return False


def is_offer(step: str) -> bool:
    """Whether a step is that of offers."""
    return spoken().step_rank(step) == STEP_RANKS["offer"]


def _inspection(state: TableLook) -> StepColumn | None:
    choice = state.chosen.get("inspected")
    return None if choice is None else state.step(choice.columns[0], choice.test)


def _decided_later(state: TableLook, status: pd.Series[Any], decision: Decision) -> pd.Series[Any]:
    """A second decision, on those alone whom the first left open: "Waitlist", then "Admit from Waitlist"."""
    for column in state.columns.values() if (status == "pending").any() else ():
        if column.name == decision.column or column.name in state.used() or not column.is_words or not column.filled:
            continue
        if column.distinct > MOST_DECISIONS:
            continue
        cells = state.table[column.name]
        filled = ~cells.map(is_empty).astype(bool)
        if (status[filled] == "pending").mean() < ALL_OPEN:
            continue
        codes = decide(cells, column.name, state.words).codes
        said = codes[filled]
        if "selected" not in set(said) or (said == "?").any():
            continue
        own = codes.where(filled & codes.isin(["selected", "rejected", "declined", "withdrawn"]), "")
        text = f"{column.name!r} says what was decided later about {int(filled.sum()):,} people"
        state.assume("decided-later", text, flag("selected", decision.spec))
        state.chosen["reason"] = _also(state, column.name)
        status = status.mask((status == "pending") & (own != ""), own)
    return status


def _endings(state: TableLook, status: pd.Series[Any], decision: Decision) -> pd.Series[Any]:
    """Dates and flags of a withdrawal or a rejection: who has neither, nor the good outcome, is in process."""
    vocabulary = spoken()
    over = None
    only_good = not decision.decided.bad and bool(decision.decided.codes.isin(["selected", ""]).all())
    for column in state.columns.values():
        if column.name == decision.column or column.content not in ("date", "yes/no") or column.name in state.used():
            continue
        yes = step_codes(state.table[column.name], "").isin(["yes"])
        if vocabulary.has("within", "withdrawn", column.name) and not yes.all():
            status = status.mask(yes & status.isin(["rejected", "pending"]), "withdrawn")
            state.chosen["reason"] = _also(state, column.name)
            over = yes if over is None else over | yes
        elif is_bad(column.name) and yes.any() and not (yes & decision.selected).any():
            if only_good:
                over = yes if over is None else over | yes
            elif not (yes & (status == "pending")).any():
                continue
            status = status.mask(yes & (status == "pending"), "rejected")
            state.chosen["reason"] = _also(state, column.name)
    if over is not None and only_good:
        undecided = ~over & (status == "rejected")
        if (status == "rejected").sum() > undecided.sum():
            status = status.mask(undecided, "pending")
    return status


def _also(state: TableLook, column: str) -> Choice:
    have = state.chosen.get("reason")
    names = (*(have.columns if have else ()), column)
    return Choice("reason", names, "its values say why applications ended")


def name_of_outcome(
    state: TableLook, cells: pd.Series[Any], decided: Decided, status: pd.Series[Any], column: str
) -> str:
    """What the favourable outcome is called: the commonest word for it, or the column."""
    choice = state.chosen.get("selected")
    if choice is not None and choice.test is not None:
        return _by_test(column, choice.test)
    if decided.bad:
        return _not(column)
    words = cells[status == "selected"].value_counts()
    good = [str(w) for w in words.index if decided.meanings.get(str(w)) == "selected" and spoken().mark(str(w)) is None]
    if good and len(plain(good[0])) == 1:  # a letter says nothing by itself: `Result P`
        return f"{label_of(column)} {good[0]}"
    return good[0] if good else label_of(column)


def _by_test(column: str, test: Test) -> str:
    """The good outcome of `--map selected=Rejected=No` and the like in words: `not rejected`."""
    if test.sign not in ("=", "!="):
        return f"{column} {test.sign} {test.value}"
    if is_empty(test.value):
        return f"no {column}" if test.sign == "=" else label_of(column)
    mark = spoken().mark(test.value)
    if mark is not None:
        return label_of(column) if mark == (test.sign == "=") else _not(column)
    return test.value if test.sign == "=" else " or ".join(_not(part) for part in test.value.split("|"))


def _not(column: str) -> str:
    """The good outcome where a column names the bad one: `Selected for RIF` -> `not selected for RIF`."""
    label = label_of(column).rstrip("?")
    first, _, rest = label.partition(" ")
    lower = first if first.isupper() and len(first) > 1 else first.lower()
    return f"not {lower} {rest}".strip()
