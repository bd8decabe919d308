"""What else is known: scores, dates, parts of the firm; and what columns without a role look like."""

from __future__ import annotations

from auditkit.data.columns import Match, best_of, by_name, is_protected, named, suits
from auditkit.data.personal import is_personal
from auditkit.data.problems import Notice
from auditkit.data.roles import Choice, flag, listed
from auditkit.data.steps import label_of
from auditkit.data.table_look import CONTENTS, TableLook
from auditkit.data.vocabulary import ROLES, plain, spoken
from auditkit.data.which_outcome import weigh
from auditkit.data.which_steps import words_of_those_selected
from auditkit.data.who_is_counted import characteristic_by_values


def find_other_roles(state: TableLook) -> None:
    matches = state.matches()
    alone = (
        "group",
        "stage",
        "stages",
        "search",
        "candidate",
        "person",
        "selected",
        "reason",
        "inspected",
        "result",
    )
    for role in ("prior", *ROLES):
        if role not in state.chosen and role not in state.off and role not in alone:
            _infer(state, role, matches.get(role, []))

    postal = [
        name
        for role in ("prior", "segment")
        for name in state.columns_of(role)
        if spoken().has("names", "postal", plain(name))
    ]
    if postal:
        text = f"{listed(postal)}: postal codes can stand for race or origin, and are flagged as possible proxies"
        state.assume("postal-code", text, flag("segment", "none"))


def _infer(state: TableLook, role: str, found: list[Match]) -> None:
    """An optional role, where one column stands out."""
    best = best_of(found)
    if role in ("prior", "expense", "segment") and found:
        names = tuple(name for name in state.columns if any(match.column == name for match in found))
        state.chosen[role] = Choice(role, names, "by name and values")
    elif len(best) == 1:
        state.choose(role, best[0])
    elif best and role == "score" and all(state.columns[m.column].filled == state.columns[m.column].rows for m in best):
        _add_prior(state, tuple(match.column for match in best))
    elif best:
        names = tuple(match.column for match in best)
        text = f"{role}: {listed(names)} could each be it, so none is used"
        state.notices.append(Notice("ambiguous-role", text, f"choose with {flag(role, names[0])}"))
    else:
        _mention(state, role)


def _mention(state: TableLook, role: str) -> None:
    """A column that has the name of a role but not its values is not passed over in silence."""
    used = state.used()
    for name, column in state.columns.items():
        nearest_role = min(by_name(name), key=lambda match: match.closeness, default=None)
        if name in used or nearest_role is None or nearest_role.role != role or nearest_role.loose:
            continue
        if suits(column, role):
            continue
        content = CONTENTS.get(column.content, "empty")
        text = f"{role}: {name!r} is named like it, but its values are {content}"
        state.notices.append(Notice("unsuited-column", text, f"to use it anyway: {flag(role, name)}"))


def known_before(state: TableLook) -> None:
    """A score that everybody has was known before the inspection."""
    score = state.chosen.get("score")
    if score is None or score.given or "stage" in state.chosen or "prior" in state.off:
        return
    column = state.columns[score.columns[0]]
    if column.filled < column.rows or column.rows < 2:
        return
    del state.chosen["score"]
    _add_prior(state, (column.name,))


def _add_prior(state: TableLook, names: tuple[str, ...]) -> None:
    prior = state.chosen.get("prior")
    if prior is not None and prior.given:
        return
    found = {*names, *(prior.columns if prior else ())}
    state.chosen["prior"] = Choice(
        "prior", tuple(name for name in state.columns if name in found), "by name; known for everybody"
    )
    text = f"{listed(names)}: known for everybody, so known before the inspection"
    state.notices.append(Notice("score-known-before", text, f"if not: {flag('score', names[0])}"))


def passed_by_all(state: TableLook, name: str) -> tuple[str, ...]:
    """The words of everybody selected in a column that is about people, where chance cannot explain it."""
    marked = state.columns[name].content == "yes/no"
    other = named(name, "segment") is not None
    other |= marked and spoken().has("favourable", "not_decision", plain(name))
    if not state.decisions or is_protected(name) or other or is_personal(name, ""):
        return ()
    return words_of_those_selected(state, state.columns[name], state.decisions[0].selected)


def looks_like(state: TableLook, name: str) -> str:
    """What a column that is not used looks like: a `group`, a `step`, an `outcome`, a `score`; "" if nothing."""
    column = state.columns[name]
    vocabulary = spoken()
    if not column.filled:
        return ""
    if vocabulary.has("names", "postal", plain(name)):
        return "postal code"
    if is_protected(name) or characteristic_by_values(state, column):
        return "group"
    if column.content in ("yes/no", "date") and vocabulary.step_rank(label_of(name)) is not None:
        return "step"
    weighed = weigh(state, column) if name not in state.used() else None
    if weighed is not None and weighed.weight >= 1.5 and weighed.selected.any():
        return "outcome"
    if column.is_words and column.steps >= 0.5 and column.distinct > 2:
        return "step"
    if passed_by_all(state, name):
        return "step"
    if column.content == "yes/no" and not vocabulary.has("favourable", "not_decision", plain(name)):
        return "step"
    if column.content == "number" and set(plain(name).split()) & vocabulary.words("names", "score_words"):
        return "score"
    return ""
