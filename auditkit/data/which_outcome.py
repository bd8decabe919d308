"""Which column says how it ended, and whether its yes is good or bad.

Each column that could is weighed by its name, by how many of its words are known, and by how well it fits with the
others. What the columns do not settle is a question.
"""

from __future__ import annotations

from collections import abc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from auditkit.data.columns import ColumnProfile, by_name, is_protected, named
from auditkit.data.numbers import to_numbers
from auditkit.data.personal import is_personal, is_shown, listed_cells
from auditkit.data.problems import Collector
from auditkit.data.roles import Choice, flag, listed
from auditkit.data.statuses import Decided, Test, decide, is_bad, is_empty, is_hired, settled
from auditkit.data.steps import StepsInOneColumn, from_paths, is_last_stage, is_path, label_of
from auditkit.data.table_look import CHANCE, CONTENTS, ENOUGH, FEW, Decision, StepColumn, TableLook
from auditkit.data.vocabulary import HIRED, plain, spoken
from auditkit.errors import Problem
from auditkit.text import percent

_NESTED = 0.97
"""Share of those who got further that must have reached a step."""
_CLOSE = 0.6
"""Two decisions whose weights differ by less are not told apart."""
_GOOD_LETTERS = ("a", "h", "o", "p", "s")
"""Admitted, hired, offered, passed, selected."""
_BAD_LETTERS = ("d", "n", "r", "w", "x")
"""Denied, not, rejected, withdrawn."""
_OFFER = 8.0
_MOST_REASONS = 40
_FEWEST = 3
"""People of unknown words who got near the end, below which it makes no difference what the words mean."""
_MOST_SELECTED = 0.9
"""Share of those decided on who were selected, above which a decision is doubted."""


def find_decision(state: TableLook) -> Decision | None:
    """The column that says who had the favourable outcome, and whether another could be it as well."""
    choice = state.chosen.get("selected")
    if choice is not None:
        column = choice.columns[0]
        if column not in state.columns:
            return None
        decided = decide(state.table[column], column, state.words, choice.test)
        selected = settled(decided, state.table[column], column, Collector()).isin(["selected", "declined"])
        state.decisions = [Decision(column, decided, selected, 9.0, "as you said", choice.test, given=True)]
        return state.decisions[0]
    if "selected" in state.off:
        return None
    found = [each for column in state.columns.values() if (each := weigh(state, column)) is not None]
    state.decisions = found = _weighed_together(state, found)
    telling = [each for each in found if each.selected.any() and not each.selected.all()]
    best = telling[0] if telling else found[0] if found else None
    if best is None or (not telling and _unread_outcomes(state)) or (best.decided.bad and _ends_in_a_path(state)):
        return None
    if best.weight < ENOUGH:
        known = [each for each in telling if (each.decided.codes == "?").mean() < 0.5]  # initials are no marks
        state.alternatives = [{"selected": each.spec} for each in known[:3] if each.weight > 0]
        return None
    if len(telling) > 1 and best.weight - telling[1].weight < 2 * _CLOSE:
        state.alternatives = [{"selected": other.spec} for other in telling[1:3]]
    reason = best.why
    if best.guess:
        text = f"{best.column!r}: {best.guess!r} is taken as the favourable value, as the others are not"
        state.assume("guessed-word", text, flag("selected", best.spec))
    state.chosen["selected"] = Choice("selected", (best.column,), reason, test=best.test)
    return best


def _ends_in_a_path(state: TableLook) -> bool:
    """Whether the path of each application says who was selected, which is more than who was not rejected."""
    paths = [column.name for column in state.free() if is_path(state.table[column.name])]
    return any((from_paths(state.table[name]).final == "selected").any() for name in paths)


def _unread_outcomes(state: TableLook) -> list[str]:
    """Columns that are named like an outcome, with a few words whose meaning is not known."""
    return [
        column.name
        for column in state.free()
        if column.is_words
        and 2 <= column.distinct <= 12
        and (match := named(column.name, "selected")) is not None
        and not match.loose
        and not state.table[column.name].map(spoken().meaning).notna().any()
    ]


def find_what_came_last(state: TableLook, steps: list[StepColumn]) -> Decision | None:
    """Where no column is named like a decision: the one whose yes only those have who got over all the steps."""
    if "selected" in state.off or "selected" in state.chosen or not steps:
        return None
    last, own = steps[-1].reached, {step.column for step in steps}
    share = float(last.mean())
    later = [
        each
        for each in state.decisions
        if each.column not in own
        and not each.decided.bad
        and _within(each.selected, last)
        and share ** int(each.selected.sum()) < CHANCE
        and not spoken().has("favourable", "not_decision", plain(each.column))
    ]
    if len(later) > 1:
        _cannot_tell(state, later)
    if not later:
        return None
    text = f"{later[0].column!r} is read as the decision, as only those who got over {steps[-1].column!r} have it"
    state.assume("decision-by-people", text, flag("selected", later[0].spec))
    state.chosen["selected"] = Choice("selected", (later[0].column,), "only those who got over all the steps have it")
    state.alternatives = state.alternatives or [{"selected": later[0].spec}, {"selected": steps[-1].column}]
    return later[0]


def weigh(state: TableLook, column: ColumnProfile) -> Decision | None:
    """How much speaks for a column as the decision; None if it cannot be one."""
    name = column.name
    if name in state.used() or not column.filled or not _may_decide(state, column) or is_path(state.table[name]):
        return None
    match = named(name, "selected")
    bad, stage = is_bad(name), named(name, "stage")
    reason = named(name, "reason")
    if reason is not None and (match is None or reason.closeness < match.closeness):
        match = None
    weight, why = 0.4, "its values are words for a decision"
    if match is not None:
        weight = (3.0, 3.0, 2.5, 1.8, 1.6)[match.tier] - 0.4 * match.loose
        why = f"its name holds {match.name!r}" if match.loose else "its name says so"
    elif bad and reason is None:
        weight, why = 1.7, "its name is that of a bad outcome, so the others had the good one"
    elif stage is not None:
        weight, why = 1.6, "its values are stages, the last of them the decision"
    elif reason is None and column.is_words and spoken().has("names", "outcome_words", plain(name)):
        weight, why = 1.6, "its name is that of an outcome"
    elif reason is None and column.is_words and spoken().has("names", "stage_words", plain(name)):
        weight, why = 1.4, "its name is that of a stage"
    elif reason is not None:
        weight, why = 1.0, "it names those selected among the reasons why applications ended"
    elif column.content in ("yes/no", "date"):
        good = spoken().meaning(label_of(name)) == "selected" or spoken().step_rank(label_of(name)) == HIRED
        weight = 1.7 if good and column.content == "yes/no" else 1.0 if good else -0.2
        if column.content == "yes/no" and spoken().has("names", "outcome_words", plain(name)):
            weight, why = 1.4, "its name is that of an outcome"
    if any(spoken().has("favourable", key, plain(name)) for key in ("not_decision", "reply")):
        weight -= 2.0
    decided, guess = _decided(state, column)
    status = settled(decided, state.table[name], name, Collector())
    selected = status.isin(["selected", "declined"])
    filled = decided.codes != ""
    unknown = float((decided.codes[filled] == "?").mean()) if filled.any() else 1.0
    if column.is_words and unknown > 0.98 and reason is None:
        return None
    codes = set(decided.codes[filled].unique())
    weight += 1.2 * (1 - unknown)
    if {"selected", "rejected"} <= codes:
        weight += 0.7
    elif codes <= {"selected"}:
        weight += 0.3
    if column.is_words and "selected" not in codes:
        return _good_if_blank(state, column, decided, match is not None or bad, reason is not None)
    if column.is_words and column.steps >= 0.7 and not any(_is_last(word) for word in decided.meanings):
        weight -= 1.0  # stages without the last one
    if decided.staying:
        weight += 0.8
        why = "its values say who kept the job and who lost it"
    why = f"{why}; its values are {CONTENTS[column.content]}"
    return Decision(name, decided, selected, weight, why, guess=guess)


def _decided(state: TableLook, column: ColumnProfile) -> tuple[Decided, str]:
    """What a column says; where only its one unknown word can be the good one, that is taken and returned."""
    cells, name = state.table[column.name], column.name
    decided = decide(cells, name, state.words)
    codes = set(decided.meanings.values())
    reason = named(name, "reason") is not None  # an unknown reason is none for selecting somebody
    if reason or not column.is_words or "selected" in codes or "rejected" not in codes:
        return decided, ""
    gates = [word for word in decided.meanings if spoken().pattern("steps", "gate").fullmatch(plain(word))]
    good = decided.unknown or tuple(gates)
    if len(good) != 1:
        return decided, ""
    guess = good[0]
    return decide(cells, name, {**state.words, plain(guess): "selected"}), guess


def _good_if_blank(
    state: TableLook, column: ColumnProfile, decided: Decided, is_named: bool, is_reason: bool
) -> Decision | None:
    """A column that only says how it went wrong: an empty cell may be the good outcome, which must be asked.

    Reasons need not be known words: a column of them says by its name what they are reasons for.
    """
    cells = state.table[column.name]
    said = set(decided.codes.unique())
    known = "rejected" in said and (decided.codes == "?").mean() <= 0.5
    if "" not in said or not (is_reason or (is_named and known)):
        return None
    test = Test("=", "(blank)")
    good = decide(cells, column.name, state.words, test)
    return Decision(column.name, good, good.selected, 0.9, "it only says how applications failed", test)


def _may_decide(state: TableLook, column: ColumnProfile) -> bool:
    """Not a number, not protected, not about a part of the firm, not the date of the application."""
    if column.content not in ("yes/no", "date") and not column.is_words:
        return False
    roles = sorted(by_name(column.name), key=lambda match: match.closeness)
    first = roles[0].role if roles else ""
    told = max(column.statuses, column.steps) >= 0.8  # `Current Status Name`, `List Name`
    private = spoken().has("names", "private", plain(column.name)) and not told
    if is_protected(column.name) or private or _is_about_the_job(state, column.name):
        return False
    hired = column.content == "date" and spoken().step_rank(label_of(column.name)) == HIRED
    if column.content == "date" and first != "selected" and not is_bad(column.name):
        return hired
    if first in ("segment", "prior", "score", "outcome", "capacity", "expense", "cost", "search", "person"):
        return column.statuses >= 0.8 and first in ("prior", "outcome", "score")
    return not (first == "date" and column.content == "date")


def _weighed_together(state: TableLook, found: list[Decision]) -> list[Decision]:
    """Decisions that agree speak for each other; an earlier step is not the last one."""
    result = []
    for one in found:
        weight = one.weight
        for other in found:
            if other is one or other.weight < 1.5 or not other.selected.any():
                continue
            if _overlap(one.selected, other.selected) >= 0.98:
                weight += 0.3
            elif _within(other.selected, one.selected) and other.weight >= one.weight - _CLOSE:
                weight -= 0.8  # others with that name for an outcome go on from here: a step before it
            elif one.decided.bad and _within(other.selected, one.selected):
                weight -= 1.5  # not to be rejected, or not here, is less than what the other says
        codes = one.decided.codes
        # the column with the most different meanings also says who withdrew and who is still in process
        weight += 0.05 * codes[codes != "?"].nunique()
        result.append(replace(one, weight=weight))
    return sorted(result, key=lambda each: -each.weight)


def _cannot_tell(state: TableLook, rivals: list[Decision]) -> None:
    state.alternatives = [{"selected": each.spec} for each in rivals]
    names = [each.column for each in rivals]
    state.ambiguous = f"several columns could say who was selected: {listed(names)}"


def settle_words(state: TableLook, decision: Decision | None, last: pd.Series[Any] | None) -> None:
    """Words of unknown meaning get that of the people they are said of, or a question.

    `last` is who reached the last step before the decision.
    """
    if decision is None or not decision.decided.unknown:
        return
    unknown, cells = decision.decided.unknown, state.table[decision.column]
    codes = decision.decided.codes
    known = set(codes.unique())
    state.meant = {}
    for word in unknown:
        here = cells == word
        for other in state.decisions[1:]:
            if not _ends_alike(state, decision, other):
                continue  # an earlier step, which everybody named here may have passed
            told = _statuses(state, other)[here]
            told = told[told.isin(["selected", "rejected", "withdrawn"])]
            if (
                other.weight >= 1.5
                and len(told) >= 0.9 * here.sum()
                and told.value_counts(normalize=True).iloc[0] > 0.9
            ):
                code = str(told.mode().iloc[0])
                state.meant[word] = code
                said = listed_cells(decision.column, [word])
                state.assume("word-meaning", f"{said} is read as {code}, because {other.column!r} says so")
                break
    rest = [word for word in unknown if word not in state.meant]
    if not rest:
        return
    far = [word for word in rest if _got_as_far(decision, cells == word, last)]
    if far and not state.ambiguous:
        good = [word for word, code in decision.decided.meanings.items() if code == "selected"]
        text = f"{decision.column!r}: people with {listed_cells(decision.column, far)} got as far as those selected"
        state.ambiguous = f"{text}, and it is not known what that means"
        state.alternatives = [
            {"selected": f"{decision.column}={'|'.join(words)}"}
            for words in ([*good, *far], good)
            if words and all(is_shown(decision.column, word) for word in words)
        ]
        state.meant |= dict.fromkeys(rest, "pending")
        return
    reasons = named(decision.column, "reason") is not None and _ended_before(decision, cells.isin(rest), last)
    if "rejected" not in known or reasons:
        state.meant |= dict.fromkeys(rest, "rejected")
        state.assume(
            "word-meaning",
            f"{decision.column!r}: {listed_cells(decision.column, rest)} {_are(rest)} read as not selected, "
            "as other words are known",
            "say what a word means under [words] in audit.toml",
        )
        return
    here = cells.isin(rest)
    state.meant |= dict.fromkeys(rest, "pending")
    words = listed_cells(decision.column, rest)
    text = f"{decision.column!r}: it is not known what {words} {'means' if len(rest) == 1 else 'mean'}"
    near = here if last is None or last.all() else here & last
    matters = max(_FEWEST, FEW * int(decision.selected.sum()))
    if here.mean() <= FEW and near.sum() < matters:
        state.assume(
            "word-meaning",
            f"{text}; counted as undecided",
            "say what a word means under [words] in audit.toml",
        )
    else:
        good = [word for word, code in decision.decided.meanings.items() if code == "selected"]
        state.collector.add(
            "unknown-word", here, decision.column, cells, role="selected",
            meaning="selected, rejected, withdrawn or pending",
            more=', or what the words mean, under [words] of audit.toml: WORD = "pending"',
        )  # fmt: skip
        state.ambiguous = text
        state.alternatives = [
            {"selected": f"{decision.column}={'|'.join(words)}"}
            for words in (good, [*good, *rest])
            if all(is_shown(decision.column, word) for word in words)
        ]


def _got_as_far(decision: Decision, here: pd.Series[bool], last: pd.Series[Any] | None) -> bool:
    """Whether the people of a word reached the last step, which most others who did were selected after."""
    if last is None or last.all() or not decision.selected[last].any():
        return False
    others = last & ~here & ~decision.decided.codes.isin(["?", "withdrawn", "pending"])
    most = bool(decision.selected[others].mean() > 0.5) and bool(last[decision.selected].mean() > 0.9)
    return most and last[here].mean() > 0.9 and float(last.mean()) ** int(here.sum()) < CHANCE


def _ended_before(decision: Decision, here: pd.Series[bool], last: pd.Series[Any] | None) -> bool:
    """Whether most people of a word never reached the last step, at which nearly all of those selected were."""
    if last is None or not decision.selected.any():
        return False
    return bool(last[decision.selected].mean() > 0.9 and last[here].mean() < 0.5)


def _statuses(state: TableLook, decision: Decision) -> pd.Series[Any]:
    return settled(decision.decided, state.table[decision.column], decision.column, Collector())


def _ends_alike(state: TableLook, one: Decision, other: Decision) -> bool:
    """Whether two columns agree on who was selected and who was rejected, where both say so."""
    mine, theirs = (_statuses(state, each) for each in (one, other))
    both = mine.isin(["selected", "rejected"]) & theirs.isin(["selected", "rejected"])
    agree = mine[both] == theirs[both]
    return bool(agree.any() and agree.mean() >= 0.95 and mine[both].nunique() == 2)


def find_reasons(state: TableLook, decision: Decision | None) -> None:
    """Columns beside the decision that say why applications ended, that candidates withdrew or are in process."""
    if "reason" in state.chosen or "reason" in state.off:
        return
    vocabulary = spoken()
    telling = []
    selected = None if decision is None else decision.selected
    for column in state.columns.values():
        if column.name in state.used() or not _may_explain(state, column, selected):
            continue
        cells = state.table[column.name]
        codes = {str(word): vocabulary.meaning(str(word)) for word in pd.unique(cells) if not is_empty(str(word))}
        left = cells.map({word: code in ("withdrawn", "declined") for word, code in codes.items()}).eq(True)
        is_named = named(column.name, "reason") is not None
        if is_named and selected is not None and (cells[selected] != "").mean() > 0.5:
            is_named = bool(left.any() and not left[selected].any())
        elif not is_named:
            tier = named(column.name, "selected")
            beside = tier is not None and tier.tier == 2 and any(code == "pending" for code in codes.values())
            is_named = beside or bool(left.any() and (selected is None or not left[selected].any()))
        if is_named:
            telling.append(column.name)
    if telling:
        state.chosen["reason"] = Choice("reason", tuple(telling), "its values say why applications ended")


def _may_explain(state: TableLook, column: ColumnProfile, selected: pd.Series[Any] | None) -> bool:
    roles = sorted(by_name(column.name), key=lambda match: match.closeness)
    first = roles[0].role if roles else ""
    if not column.is_words or is_protected(column.name) or is_path(state.table[column.name]):
        return False
    codes = state.step(column.name).codes
    graded = codes[codes != ""].isin(["passed", "failed"]).mean() > 1 - FEW and (codes == "failed").any()
    ends = any(is_hired(str(word)) for word in pd.unique(state.table[column.name]))
    if graded and not ends and selected is not None and _within(selected, codes == "passed"):
        return False  # the results of a step, of which some withdrew
    return first not in ("segment", "search", "candidate", "prior") and not is_last_stage(state.table[column.name])


def ask_about_a_later_decision(state: TableLook, decision: Decision | None) -> None:
    """A column of unknown words that only those selected have says what became of them next: ask about it."""
    if decision is None or decision.given or state.ambiguous or not decision.selected.any():
        return
    # of several that go on from here, the one that fewest have is nearest the end
    for column in sorted(state.free(), key=lambda each: int(state.step(each.name).reached.sum())):
        if spoken().has("favourable", "reply", plain(column.name)):
            continue  # what candidates made of it is no decision of the firm
        cells = state.table[column.name]
        if column.name not in state.used() and (
            _goes_on(state, column, decision) or _is_nearer_the_end(state, column, decision)
        ):
            whom = f"with {decision.column!r} = {_name_of(state, decision)!r}"
            whom = f"for whom {decision.column!r} is not true" if decision.decided.bad else whom
            state.ambiguous = (
                f"only people {whom} have a yes in {column.name!r}: it may say who was selected in the end"
            )
            state.alternatives = [{"selected": _yes_of(column)}, {"selected": decision.spec}]
            return
        if column.name in state.used() or not column.is_words or not 2 <= column.distinct <= 12:
            continue
        filled = ~cells.map(is_empty).astype(bool)
        codes = decide(cells, column.name, state.words).codes
        if (codes[filled] != "?").mean() > 0.5:
            continue
        if _is_better_named(column.name, decision) and filled[decision.selected].any():
            state.ambiguous = f"{column.name!r} is named like the outcome, but its words are not known"
            often = cells[filled].value_counts()
            state.alternatives = _each_word(column.name, often)
            state.alternatives.insert(1, {"selected": decision.spec})
            return
        if filled[~decision.selected].mean() > 0.02:
            continue
        if filled[decision.selected].mean() < 0.5 or not spoken().has("names", "outcome_words", plain(column.name)):
            continue
        state.ambiguous = (
            f"only those with {decision.column!r} = {_name_of(state, decision)!r} have a value in {column.name!r}, "
            f"which may say what was decided about them in the end"
        )
        often = cells[filled].value_counts()
        state.alternatives = _each_word(column.name, often)
        state.alternatives.append({"selected": decision.spec})
        return


def ask_about_an_implausible_rate(state: TableLook, decision: Decision | None, status: pd.Series[Any] | None) -> None:
    """A selection that nearly everybody passed is more likely a step before it, where another column may say more."""
    if decision is None or decision.given or state.ambiguous or status is None:
        return
    decided = status.isin(["selected", "declined", "rejected"])
    rate = float(status[decided].isin(["selected", "declined"]).mean()) if decided.any() else 0.0
    others = [each for each in state.decisions if not (decision.decided.bad and each.decided.bad)]
    fewer = [each for each in others if each.column != decision.column and 0 < each.selected.mean() < rate]
    share = percent(rate, 0)
    if rate <= _MOST_SELECTED or decision.decided.staying:
        return
    if not fewer:
        if rate < 1 and not decision.decided.bad:
            state.assume("high-rate", f"{share} of the people who were decided on had the favourable outcome")
        return
    state.ambiguous = f"{decision.column!r} is good for {share} of the people, so another column may be the decision"
    state.alternatives = [{"selected": each.spec} for each in (*fewer[:2], decision)]


def ask_about_words_at_the_end(state: TableLook, decision: Decision | None, last: pd.Series[Any] | None) -> None:
    """Where only the steps say who was selected: an unknown word of people who all got to the last one may say it."""
    if decision is not None or state.ambiguous or last is None or last.all() or "selected" in state.off:
        return
    found: list[tuple[int, str, str]] = []
    for column in state.columns.values():
        about = min(by_name(column.name), key=lambda match: match.closeness, default=None)
        other = about is not None and about.role not in ("selected", "reason", "result", "stage")
        other |= column.name in state.columns_of("stages")
        if other or not column.is_words or is_personal(column.name, "") or column.distinct > _MOST_REASONS:
            continue
        cells = state.table[column.name]
        for word, n in cells[last].value_counts().items():
            known = is_empty(str(word)) or spoken().meaning(str(word)) is not None
            if known or n < _NESTED * (cells == word).sum() or n == last.sum() or float(last.mean()) ** n >= CHANCE:
                continue
            found.append((int(n), column.name, str(word)))
    if found:
        _, name, word = max(found)
        state.ambiguous = f"only people who got to the last step have {listed_cells(name, [word])} in {name!r}"
        state.ambiguous += ": it may say who was selected in the end"
        state.alternatives = [{"selected": f"{name}={word}"}] if is_shown(name, word) else []
        filled = ~state.table[name].map(is_empty).astype(bool)
        if sum(column == name for _, column, _ in found) > 1 and _within(filled, last):
            state.alternatives.insert(0, {"selected": f"{name}!=(blank)"})  # each says to what, not whether
        state.alternatives.append({"selected": "none"})


def ask_what_for(state: TableLook, decision: Decision | None) -> None:
    """People may be selected for a job, a promotion or a layoff: a bare `Selected` does not say which."""
    if decision is None or decision.given or decision.decided.bad or state.ambiguous:
        return
    vocabulary, either = spoken(), spoken().words("favourable", "either")
    words = {plain(word) for word in decision.decided.meanings}
    bare = state.columns[decision.column].content == "yes/no" or bool(words & either)
    said = set(plain(label_of(decision.column)).split())
    if not bare or not said <= either | vocabulary.words("names", "outcome_words"):
        return

    def told(*keys: str) -> bool:
        texts = (*state.columns, Path(state.raw.source.path).stem)
        return any(vocabulary.has("favourable", key, text) for key in keys for text in texts)

    employees = any(vocabulary.has("favourable", "employee", name) for name in state.columns_of("candidate"))
    ages = "age" in state.chosen["group"].characteristics.values()
    laid_off = employees or told("retained") or (ages and not told("applicant"))
    if told("promoted", "awarded", "admitted") or not laid_off:
        return
    who = "employees" if employees or told("retained") else "people"
    state.ambiguous = f"{decision.column!r} does not say for what {who} were selected: a layoff or something good"
    state.alternatives = [{"selected": decision.spec.replace("=", "!=", 1)}, {"selected": decision.spec}]


def _is_better_named(column: str, decision: Decision) -> bool:
    """Whether a column is called an outcome with more right than the one that was taken."""
    other, own = named(column, "selected"), named(decision.column, "selected")
    if other is None or other.loose or spoken().has("favourable", "not_decision", plain(column)):
        return False
    return decision.decided.bad or own is None or own.loose or other.tier < own.tier


def _goes_on(state: TableLook, column: ColumnProfile, decision: Decision) -> bool:
    """Whether a flag or date without a telling name is true of some of those selected, and of nobody else."""
    match, good = named(decision.column, "selected"), decision.decided.meanings.items()
    hired = any(code == "selected" and is_hired(word) for word, code in good)
    sure = match is not None and not decision.decided.bad and (match.tier < 1 or (hired and match.tier <= 2))
    if sure:
        return False
    if not _is_graded_among(state, column, decision.selected):
        amounts = _are_amounts(state, column)
        if not (amounts or column.content in ("yes/no", "date")):
            return False
        if not decision.decided.bad and not amounts and not _is_unnamed(state, column.name):
            return False
        if spoken().has("favourable", "not_decision", plain(column.name)):
            return False
    if spoken().has("within", "withdrawn", column.name):
        return False
    yes = state.step(column.name).reached
    chance = float(decision.selected.mean()) ** int(yes.sum())
    return bool(_within(yes, decision.selected)) and chance < CHANCE and not (yes & ~decision.selected).any()


def _is_graded_among(state: TableLook, column: ColumnProfile, selected: pd.Series[Any]) -> bool:
    """Whether a column has passes and fails, of those selected only: a result that came after."""
    codes = state.step(column.name).codes
    graded = column.is_words and {"passed", "failed"} <= set(codes.unique()) and (codes == "?").mean() <= FEW
    return graded and bool(selected[codes.isin(["passed", "failed"])].mean() >= _NESTED)


def _is_nearer_the_end(state: TableLook, column: ColumnProfile, decision: Decision) -> bool:
    """Whether a flag or date of an offer or a hire is true of part of those selected, and of (nearly) nobody else."""
    rank = spoken().step_rank(label_of(column.name))
    if column.content not in ("yes/no", "date") or rank is None or rank < _OFFER or is_bad(column.name):
        return False
    if named(decision.column, "selected") is not None:  # who then accepts, enrols or starts is not the firm's decision
        return False
    if spoken().has("favourable", "not_decision", plain(column.name)):
        return False
    yes = state.step(column.name).reached
    return _within(yes, decision.selected) and 0 < yes.sum() < 0.8 * decision.selected.sum()


def _is_unnamed(state: TableLook, name: str) -> bool:
    """Whether nothing is known of a name: neither a role, nor a step, nor anything else that is not a decision."""
    told = by_name(name) or spoken().step_rank(label_of(name)) is not None or is_bad(name)
    return not told and not spoken().has("favourable", "not_decision", plain(name))


def ask_about_loose_words(state: TableLook, decision: Decision | None, found: StepsInOneColumn | None) -> None:
    """Of two words for the good outcome, one whose people never got near it is not one: ask about it."""
    if decision is None or decision.given or state.ambiguous or found is None or not found.names:
        return
    cells, last = state.table[decision.column], found.reached[found.names[-1]]
    words = [word for word, code in decision.decided.meanings.items() if code == "selected"]
    near = {word: float(last[cells == word].mean()) for word in words}
    far = [word for word in words if near[word] < 0.5]
    if not far or max(near.values(), default=0.0) < 0.9 or state.chosen["stages"].columns[0] == decision.column:
        return
    sure = [word for word in words if word not in far]
    state.ambiguous = f"most people with {listed(far)} in {decision.column!r} never reached {found.names[-1]!r}"
    state.alternatives = [
        {"selected": f"{decision.column}={'|'.join(each)}"} for each in (sure, words) if len(each) <= 6
    ]


def ask_about_an_end(
    state: TableLook, decision: Decision | None, found: StepsInOneColumn | None, status: pd.Series[Any] | None
) -> None:
    """People at the last stage of whom the decision does not say that they were selected, or the other way round."""
    if decision is None or decision.given or state.ambiguous or found is None or status is None:
        return
    there, column = found.final == "selected", state.chosen["stages"].columns[0]
    if found.selected is None or column == decision.column or not is_shown(column, found.selected):
        return
    selected = decision.selected if decision.decided.bad else status.isin(["selected", "declined"])
    if decision.decided.bad and _within(there, selected):
        whom = f"of {int(selected.sum()):,} people for whom {decision.column!r} is not true, {int(there.sum()):,}"
    elif not decision.decided.bad and (there & ~selected).sum() > max(_FEWEST, FEW * int(there.sum())):
        chosen = f"{int((there & selected).sum()):,} of {int(there.sum()):,}"
        whom = f"{decision.column!r} says that {chosen} were selected, who all"
    else:
        return
    state.ambiguous = f"{whom} are at {listed_cells(column, [found.selected])}, the last stage in {column!r}"
    state.alternatives = [{"selected": f"{column}={found.selected}"}, {"selected": decision.spec}]


def _name_of(state: TableLook, decision: Decision) -> str:
    return next((word for word, code in decision.decided.meanings.items() if code == "selected"), decision.column)


def ask_who_was_selected(
    state: TableLook,
    decision: Decision | None,
    steps: list[StepColumn],
    found: StepsInOneColumn | None,
    seen: StepColumn | None,
) -> None:
    """Ask who was selected, where nothing says so and no more telling question is open."""
    if state.ambiguous:
        return
    if decision is None and len(steps) > 1 and "stages" in state.chosen and not state.chosen["stages"].given:
        unnamed = [step.column for step in steps if _is_unnamed(state, step.column)]
        ends = any(step.rank is not None and step.rank >= _OFFER for step in steps)
        if unnamed and not ends and "selected" not in state.off:
            state.ambiguous = f"no column is named like a selection; {listed(unnamed)} may say it"
            state.alternatives = [{"selected": name} for name in (*unnamed, steps[-1].column)]
    if (
        decision is not None
        or len(steps) > 1
        or found is not None
        or any(p.where == "selected" for p in state.problems)
    ):
        return
    if steps and "stages" in state.chosen:
        return
    used = state.used()
    like = [name for name in state.columns if name not in used and named(name, "selected") is not None]
    like = [name for name in like if state.columns[name].content in ("category", "status", "text", "yes/no")]
    if not like and seen is not None:
        later = [
            c
            for c in state.free()
            if (c.content == "yes/no" or _are_amounts(state, c)) and _within(state.step(c.name).reached, seen.reached)
        ]
        like = [c.name for c in later]
        state.alternatives = [{"selected": _yes_of(c)} for c in later]
    weak = [
        each
        for each in state.decisions
        if seen is not None and each.weight > 0 and _within(each.selected, seen.reached)
    ]
    if weak and not like:
        state.ask(
            "selected", f"no column is named like a selection; {listed([each.column for each in weak])} may say it", []
        )
        state.alternatives = [{"selected": each.spec} for each in weak]
        return
    inspected = state.chosen.get("inspected")
    telling = seen is not None and (
        seen.reached.mean() <= _MOST_SELECTED or (inspected is not None and inspected.given)
    )
    if telling and ("selected" in state.off or not like):
        text = "no column says who was selected: the audit is of who was inspected"
        state.assume("no-selected", text)
        return
    if state.alternatives and like and state.columns[like[0]].content in ("yes/no", "number"):
        what = f"no column is named like a selection; {listed(like)} may say it"
        state.ask("selected", what, like)
        return
    if like:
        column = state.columns[like[0]]
        examples = [value for value in column.examples if is_shown(column.name, value)]
        values = f" ({listed(examples)}, ...)" if examples else ""
        what = f"{like[0]!r} is named like it, but its values{values} are not known to say who was selected"
        fix = f"say which value counts, with {flag('selected', like[0] + '=VALUE')}"
        if column.examples and {spoken().meaning(value) for value in column.examples} <= {"rejected", "withdrawn"}:
            what, fix = f"{like[0]!r} only says who was not selected{values}", f"add those who were, or {fix}"
        state.problems.append(Problem("selected", what, fix))
        often = state.table[like[0]].value_counts()
        state.alternatives = _each_word(like[0], often)
        return
    free = [c for c in state.columns.values() if not is_protected(c.name)]
    likely = [
        c.name
        for c in free
        if c.name not in used
        and c.distinct > 1
        and is_outcome(state, c)
        and not spoken().has("favourable", "not_decision", plain(c.name))
    ]
    scores = spoken().words("names", "score_words")
    scored = [c.name for c in free if c.content == "number" and set(plain(c.name).split()) & scores]
    more = "" if likely else f"; columns: {listed([c.name for c in free])}"
    if scored and not likely:
        more = f", or, if a pass mark decided, {flag('selected', scored[-1] + '>=MARK')}{more}"
    what = "no column says who was selected (such as hired, selected, decision, final status)"
    state.ask("selected", what, likely, more)
    amounts = [c for c in free if c.name not in used and _are_amounts(state, c)]
    told = [each for each in _any_word(state) if each["selected"].partition("=")[0] not in like]
    named_so = [
        each for each in told if spoken().has("names", "outcome_words", plain(each["selected"].partition("=")[0]))
    ]
    state.alternatives = [*named_so, *state.alternatives] or [{"selected": name} for name in likely[:3]]
    state.alternatives = state.alternatives or [{"selected": _yes_of(c)} for c in amounts[:3]]
    state.alternatives = state.alternatives or told


def _is_about_the_job(state: TableLook, column: str) -> bool:
    """Whether all applicants for a job have the same value."""
    search = list(state.columns_of("search"))
    if not search or column in search or state.raw.count is not None:
        return False
    jobs = state.table[[*search, column]].drop_duplicates()
    return len(state.table) > 2 * len(jobs) and not jobs.duplicated(search).any()


def _are_amounts(state: TableLook, column: ColumnProfile) -> bool:
    """Nothing for some and something for others, as an award, a bonus or a raise is."""
    if column.content != "number" or column.low != 0:
        return False
    nothing = float((to_numbers(state.table[column.name]).values == 0).mean())
    return 0.05 <= nothing <= 0.98 and column.distinct > 2


def _yes_of(column: ColumnProfile) -> str:
    """The yes of a flag, or of an amount, as `--map selected=` takes it."""
    return f"{column.name}>0" if column.content == "number" else column.name


def is_outcome(state: TableLook, column: ColumnProfile) -> bool:
    return column.content in ("yes/no", "status") and _may_decide(state, column)


def _within(one: pd.Series[Any], other: pd.Series[Any]) -> bool:
    """Whether (nearly) all of `one` are among the others, of whom there are more."""
    return bool(one.any() and other[one].mean() >= _NESTED and other.sum() > one.sum())


def _overlap(one: pd.Series[Any], other: pd.Series[Any]) -> float:
    either = int((one | other).sum())
    return int((one & other).sum()) / either if either else 1.0


def _each_word(column: str, often: pd.Series[int]) -> list[dict[str, str]]:
    """An answer for each word that may be the good one and does not say who somebody is.

    Those known to be good come first; else those that sound good together, or all that are not known to be bad.
    """
    vocabulary = spoken()
    shown = [word for word in map(str, often.index) if is_shown(column, word) and not is_empty(word)]
    bad = [word for word in shown if _is_known_bad(word)]
    sound = [word for word in shown if vocabulary.has("within", "positive", word) and vocabulary.meaning(word) is None]
    best = [word for word in shown if vocabulary.meaning(word) == "selected"]
    rest = [word for word in shown if word not in bad]
    good = best or (rest if bad and len(sound) < 2 else sound)
    single = [word for word in _good_first(often) if word in shown and word not in bad]
    if shown and all(len(plain(word)) == 1 for word in shown):
        single.sort(key=lambda word: plain(word) in _BAD_LETTERS)
        rest = [word for word in shown if plain(word) not in _BAD_LETTERS]
        good = rest if len(rest) < len(shown) - 1 else good
    together = ["|".join(good)] if (best or 2 <= len(good) <= 4) and len(good) < len(shown) else []
    return [{"selected": f"{column}={word}"} for word in (*together, *single)]


def _is_known_bad(word: str) -> bool:
    meaning = spoken().meaning(word)
    return meaning in ("rejected", "withdrawn") or (meaning is None and spoken().employment(word) == "rejected")


def _any_word(state: TableLook) -> list[dict[str, str]]:
    """Words of columns of which one denies another (`Not recalled`), then of those with a word for an outcome."""
    vocabulary = spoken()
    found = []
    for column in state.free():
        often = state.table[column.name].value_counts()
        words = [str(word) for word in often.index if not is_empty(str(word))]
        told = vocabulary.has("names", "outcome_words", plain(column.name))
        coded = told and column.content == "number"
        if (column.is_words or coded) and 2 <= len(words) <= 6 and not is_personal(column.name, ""):
            denied = any(f"not {word.casefold()}" in {other.casefold() for other in words} for word in words)
            if (denied or told) and not _is_about_the_job(state, column.name):
                found.append((not denied, not told, column.name, often))
    found.sort(key=lambda each: each[:2])
    return [answer for *_, name, often in found for answer in _each_word(name, often)]


def _good_first(often: pd.Series[int]) -> list[str]:
    """Words of unknown meaning, likeliest good one first: one that another negates (`SEL`, `NSEL`), then the rare."""
    words = [str(word) for word in often.index if word][:12]
    low = {word.casefold() for word in words}

    good = [word for word in spoken().words("status", "selected") if " " not in word]

    def negated(word: str) -> bool:
        return any(f"{no}{word.casefold()}" in low for no in ("n", "not ", "non", "non-", "un", "in", "no "))

    def short(word: str) -> float:
        """`APPT` is short for `appointed`: the first letter, and others in order; which share of it."""
        letters = plain(word)
        share = 0.1 * (letters in _GOOD_LETTERS)
        for whole in good if 2 < len(letters) <= 5 else ():
            rest = iter(whole)
            if whole[0] == letters[0] and len(whole) > len(letters) and all(c in rest for c in letters):
                share = max(share, len(letters) / len(whole))
        return share

    def key(word: str) -> tuple[bool, bool, float, int]:
        return spoken().employment(word) != "selected", not negated(word), -short(word), int(often[word])

    return sorted(words, key=key)[:3]


def _is_last(word: str) -> bool:
    return spoken().step_rank(word) == HIRED


def _are(words: abc.Sized) -> str:
    return "is" if len(words) == 1 else "are"
