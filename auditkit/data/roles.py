"""Which column plays which role: from its name and its values, or as the user says. Never a silent guess.

Two columns of the same rank (see `match`): a required role is asked for, an optional one is left out, and both
messages name the columns and the flag to type.
"""

from __future__ import annotations

import difflib
import re
from collections import abc
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from auditkit.data.problems import Collector, Notice
from auditkit.data.profile import ColumnProfile, describe
from auditkit.data.read_file import RawTable
from auditkit.data.role_matching import (
    Match,
    best_of,
    by_name,
    is_cells,
    is_event_log,
    is_protected,
    kind_of,
    matches_of,
    suits,
)
from auditkit.data.statuses import (
    Test,
    ends_by_candidate,
    says_who_left,
    selected_cells,
    status_cells,
    to_stage,
    took_place,
)
from auditkit.data.steps import is_last_stage, is_path, stage_columns
from auditkit.data.vocabulary import GROUP_NAMES, ROLES, ROW_NUMBERS, SEVERAL, STATUS, WIDE_SEARCHES, code_of, plain
from auditkit.errors import InputError, Problem, nearest

Given = abc.Mapping[str, "str | abc.Sequence[str]"]
"""What a user maps: role -> column, or several columns (in a list, or joined by `+`)."""

NONE = ("", "none")
"""`--map score=none`: leave the role out."""

_TEST = re.compile(r"^(?P<column>.+?)\s*(?P<sign>>=|<=|==|=|>|<)\s*(?P<value>.+)$")
_TESTED = ("selected", "inspected")
_BY_THEMSELVES = ("group", "stage", "stages", "search", "candidate", "person", "selected", "reason")
"""Roles that the loop over all roles leaves to a method of their own."""


@dataclass(frozen=True)
class Choice:
    """The columns of a role, and why they."""

    role: str
    columns: tuple[str, ...]
    reason: str
    given: bool = False
    test: Test | None = None
    crossings: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Mapping:
    """Every role that the data has, in the order of `words.ROLES`."""

    choices: tuple[Choice, ...]
    unused: tuple[str, ...]
    notices: tuple[Notice, ...] = ()

    def choice(self, role: str) -> Choice | None:
        """The choice of a role; None if the data does not have it."""
        return next((choice for choice in self.choices if choice.role == role), None)

    def columns(self, role: str) -> tuple[str, ...]:
        """The columns of a role; none if the data does not have it."""
        choice = self.choice(role)
        return () if choice is None else choice.columns

    def column(self, role: str) -> str | None:
        """The column of a role that has one."""
        return next(iter(self.columns(role)), None)

    def as_dict(self) -> dict[str, list[str]]:
        """What can be given back to `load` as its mapping."""
        return {
            c.role: [f"{c.columns[0]}{c.test.sign}{c.test.value}"]
            if c.test
            else [*c.columns, *("+".join(crossing) for crossing in c.crossings)]
            for c in self.choices
        }


def describe_all(raw: RawTable) -> tuple[ColumnProfile, ...]:
    """All columns of a table, described."""
    return tuple(describe(str(name), raw.table[name]) for name in raw.table.columns)


def infer(raw: RawTable, given: Given | None = None) -> Mapping:
    """The mapping of a table, or one InputError with every role that must be asked for."""
    return _Inference(raw, given or {}).mapping()


class _Inference:
    """What is chosen so far, what is left out, and what must be asked."""

    def __init__(self, raw: RawTable, given: Given) -> None:
        self.raw = raw
        self.columns = {column.name: column for column in describe_all(raw)}
        self.chosen: dict[str, Choice] = {}
        self.off: set[str] = set()
        self.problems: list[Problem] = []
        self.stageless: list[Problem] = []
        self.notices: list[Notice] = []
        for role, value in given.items():
            self._take(role, value, given)
        if raw.count is not None:
            self.chosen["count"] = Choice("count", (raw.count,), "each row is a category with its counts")

    def mapping(self) -> Mapping:
        matches = self._matches()
        self._group(matches.get("group", []))
        matches = self._matches()
        person, search = self._likely("candidate", matches), self._likely("search", matches)
        if "stage" not in self.chosen and is_event_log(self.raw.table, person, search, matches.get("stage", [])):
            self._choose("stage", best_of(matches["stage"])[0])
            matches = self._matches()
        if "count" not in self.chosen and (person or not is_cells(self.raw.table, matches.get("count", []))):
            self.off.add("count")
        self._search(matches)
        self._candidate(matches)
        for role in ("selected", "reason"):
            if role not in self.chosen and role not in self.off:
                getattr(self, f"_{role}")(self._matches().get(role, []))
        self._stages()
        matches = self._matches()
        for role in ("prior", *ROLES):
            if role not in self.chosen and role not in self.off and role not in _BY_THEMSELVES:
                self._infer(role, matches.get(role, []))
        self._inspected()
        self._known_before()
        self._nobody_selected()
        if "stage" not in self.chosen:
            self.problems += self.stageless
        elif "candidate" not in self.chosen:
            self._ask("candidate", "an event log must say whose event each row is", list(self.columns))
        if self.problems:
            raise InputError(self.problems)
        choices = tuple(self.chosen[role] for role in ROLES if role in self.chosen)
        used = self._used()
        return Mapping(choices, tuple(name for name in self.columns if name not in used), tuple(self.notices))

    def _take(self, role: str, value: str | abc.Sequence[str], given: Given) -> None:
        """What the user says, with columns found regardless of case and punctuation."""
        if role not in ROLES:
            self.problems.append(Problem(f"--map {role}", f"there is no role {role!r}", nearest(role, ROLES)))
            return
        parts = [value] if isinstance(value, str) else list(value)
        if not parts or (len(parts) == 1 and parts[0].strip().lower() in NONE and parts[0] not in self.columns):
            self.off.add(role)
            return
        test: Test | None = None
        crossings: list[tuple[str, ...]] = []
        if role in _TESTED and len(parts) == 1 and self._find(parts[0]) is None and (match := _TEST.match(parts[0])):
            parts, test = [match["column"]], Test(match["sign"].replace("==", "="), match["value"].strip())
        else:
            parts, crossings = self._split(parts, role)
        columns = []
        for part in parts:
            name = self._find(part)
            columns.append(name or part)
            if name is None:
                # in an event log the stages are values of the stage column, and not wrong because they are no columns
                problem = Problem(f"--map {role}={part}", f"there is no column {part!r}", self._closest(part))
                (self.stageless if role == "stages" else self.problems).append(problem)
        if len(parts) > 1 and role not in SEVERAL and not (role == "cost" and "stages" in given):
            self.problems.append(Problem(f"--map {role}", f"the role {role!r} takes one column, not {len(parts)}"))
        self.chosen[role] = Choice(
            role, tuple(dict.fromkeys(columns)), "as you said", given=True, test=test, crossings=tuple(crossings)
        )

    def _split(self, parts: list[str], role: str) -> tuple[list[str], list[tuple[str, ...]]]:
        """Columns joined by `+` or by commas; for groups `+` asks for the crossing as well."""
        columns: list[str] = []
        crossings: list[tuple[str, ...]] = []
        for text in parts:
            for part in [text] if self._find(text) is not None else text.split(","):
                if self._find(part.strip()) is not None:
                    columns.append(part.strip())
                    continue
                joined = [piece.strip() for piece in part.split("+")]
                columns += joined
                if role == "group" and len(joined) > 1:
                    crossings.append(tuple(self._find(piece) or piece for piece in joined))
        return columns, crossings

    def _find(self, name: str) -> str | None:
        if name in self.columns:
            return name
        same = [known for known in self.columns if plain(known) == plain(name)]
        return same[0] if len(same) == 1 else None

    def _closest(self, name: str) -> str:
        by_key = {plain(known): known for known in self.columns}
        close = [by_key[key] for key in difflib.get_close_matches(plain(name), by_key, n=3, cutoff=0.5)]
        return f"closest: {_list(close)}" if close else f"columns: {_list(list(self.columns))}"

    def _used(self) -> set[str]:
        return {column for choice in self.chosen.values() for column in choice.columns}

    def _matches(self) -> dict[str, list[Match]]:
        return matches_of(self.columns, self._used(), self.chosen.keys() | self.off)

    def _likely(self, role: str, matches: dict[str, list[Match]]) -> str | None:
        if role in self.chosen:
            return self.chosen[role].columns[0]
        best = best_of(matches.get(role, []))
        return best[0].column if len(best) == 1 else None

    def _choose(self, role: str, match: Match) -> None:
        name = f"its name holds {match.name!r}" if match.loose else "its name says so"
        if not match.words:
            name = "it agrees with a column that is named so, and says more"
        kind = self.columns[match.column].kind
        self.chosen[role] = Choice(role, (match.column,), f"{name}; its values are {_KINDS[kind]}")

    def _infer(self, role: str, found: list[Match]) -> None:
        """An optional role, where one column stands out."""
        best = best_of(found)
        if role in ("prior", "expense", "segment") and found:
            names = tuple(name for name in self.columns if any(match.column == name for match in found))
            self.chosen[role] = Choice(role, names, "by name and values")
        elif len(best) == 1:
            self._choose(role, best[0])
        elif (
            best and role == "score" and all(self.columns[m.column].filled == self.columns[m.column].rows for m in best)
        ):
            self._add_prior(tuple(match.column for match in best))
        elif best:
            self._ambiguous(role, best)
        else:
            self._mention(role)

    def _ambiguous(self, role: str, best: list[Match]) -> None:
        names = tuple(match.column for match in best)
        text = f"{role}: {_list(names)} could each be it, so none is used"
        self.notices.append(Notice("ambiguous-role", text, f"choose with {_flag(role, names[0])}"))

    def _mention(self, role: str) -> None:
        """A column that has the name of a role but not its values is not passed over in silence."""
        used = self._used()
        for name, column in self.columns.items():
            closest = min(by_name(name), key=lambda match: match.closeness, default=None)
            if name in used or closest is None or closest.role != role or closest.loose or suits(column, role):
                continue
            kind = _KINDS.get(column.kind, "empty")
            text = f"{role}: {name!r} is named like it, but its values are {kind}"
            self.notices.append(Notice("unsuited-column", text, f"to use it anyway: {_flag(role, name)}"))

    def _ask(self, role: str, what: str, likely: abc.Sequence[str], more: str = "") -> None:
        fix = f"say which with --map {role}=COLUMN"
        if likely:
            fix = f"say which, e.g. {_flag(role, likely[0])}; most likely: {_list(likely)}"
        self.problems.append(Problem(role, what, fix + more))

    def _group(self, found: list[Match]) -> None:
        """Every protected column is an attribute; of two columns that say the same, the first."""
        if "group" in self.chosen:
            return
        names: list[str] = []
        for kind in GROUP_NAMES:
            own = sorted((match for match in found if match.attribute == kind), key=lambda match: match.rank)
            for match in own:
                alike = [name for name in names if kind_of(name) == kind]
                same = next((name for name in alike if self._same_values(name, match.column)), None)
                if same is None:
                    names.append(match.column)
                else:
                    text = f"{match.column!r} says the same as {same!r} and is not used as an attribute of its own"
                    self.notices.append(Notice("same-attribute", text))
        if not names:
            free = [c for c in self.columns.values() if c.kind == "category" and c.name not in self._used()]
            likely = [column.name for column in free if 2 <= column.distinct <= 12]
            self._ask("group", "no column says which group a candidate belongs to (such as sex, gender, race)", likely)
        elif len(names) == 1:
            self._choose("group", next(match for match in found if match.column == names[0]))
        else:
            self.chosen["group"] = Choice("group", tuple(names), "protected attributes by name and values")

    def _same_values(self, one: str, other: str) -> bool:
        """Whether each value of one column goes with one value of the other, and the other way round."""
        pairs = self.raw.table[[one, other]].drop_duplicates()
        return len(pairs) > 1 and bool(pairs[one].is_unique and pairs[other].is_unique)

    def _search(self, matches: dict[str, list[Match]]) -> None:
        if "search" in self.chosen or "search" in self.off:
            return
        best = best_of(matches.get("search", []))
        if best:
            # of two names for the same requisitions (a number and a title) the finer one is the key
            best.sort(key=lambda match: -self.columns[match.column].distinct)
            self._choose("search", best[0])
            return
        for name in WIDE_SEARCHES:
            wide = [
                c for c in self.columns.values() if plain(c.name) == name and c.filled and c.name not in self._used()
            ]
            if len(wide) == 1:
                self.chosen["search"] = Choice("search", (wide[0].name,), "nothing finer says which job it was")
                text = f"no column of requisitions: each value of {wide[0].name!r} is one search"
                self.notices.append(Notice("wide-search", text, "--map search=COLUMN"))
                return

    def _candidate(self, matches: dict[str, list[Match]]) -> None:
        """The key of an application; where it repeats and another id does not, it is the person."""
        found = sorted(matches.get("candidate", []), key=lambda match: match.rank)
        given = self.chosen.get("candidate")
        if given is None and "candidate" not in self.off and found:
            numbers = {match.column: self.columns[match.column].distinct for match in found}
            first = found[0]
            most = max(found, key=lambda match: numbers[match.column])
            full = self.columns[most.column].filled == self.columns[most.column].rows
            key = most if full and numbers[most.column] > numbers[first.column] else first
            self._choose("candidate", key)
        if "person" in self.chosen or "person" in self.off or "candidate" not in self.chosen:
            return
        key_column = self.chosen["candidate"].columns[0]
        others = [match for match in found if match.column != key_column and match.tier == 0]
        person = others[0].column if others else key_column
        search = self.chosen.get("search")
        rows = self.raw.table.drop_duplicates([key_column, *(search.columns if search else ())])
        filled = rows[person][rows[person] != ""]
        if filled.duplicated().any() and (person != key_column or search is not None):
            reason = f"{filled.nunique():,} people made {len(filled):,} applications"
            self.chosen["person"] = Choice("person", (person,), reason)

    def _needs_selected(self) -> bool:
        return "stages" not in self.chosen and "stage" not in self.chosen

    def _selected(self, found: list[Match]) -> None:
        """The column that says who was selected: some were, and not all; of several that agree, the first."""
        telling = [match for match in found if self._tells(match.column)]
        # a column of statuses counts by its values too, but only beside one that is named so
        unnamed = [c.name for c in self._free() if c.kind == "status" and c.name not in {m.column for m in found}]
        telling += [
            Match("selected", name, True, 9, 0, "status", "") for name in unnamed if telling and self._tells(name)
        ]
        best = best_of(telling) or best_of(found)
        if not best:
            return
        codes = {match.column: status_cells(self.raw.table[match.column]) for match in [*best, *telling]}
        hired = {column: code == "selected" for column, code in codes.items()}
        first = best[0].column
        if all(hired[first].equals(hired[match.column]) for match in best):
            same = [match for match in telling if hired[first].equals(hired[match.column])] or best
            # the column with the most different meanings also says who withdrew and who is still in process
            self._choose("selected", max(same, key=lambda match: codes[match.column].nunique()))
        elif self._needs_selected():
            names = [match.column for match in best]
            self._ask("selected", f"several columns could say who was selected: {_list(names)}", names)
        else:
            self._ambiguous("selected", best)

    def _free(self) -> list[ColumnProfile]:
        """Columns without a role that may have one: not protected, and not about a part of the firm."""
        used = self._used()
        taken = [name for name in self.columns if any(m.role in ("group", "segment") for m in by_name(name))]
        return [column for name, column in self.columns.items() if name not in used and name not in taken]

    def _tells(self, column: str) -> bool:
        yes = selected_cells(self.raw.table[column])
        return bool(yes.any() and not yes.all())

    def _reason(self, found: list[Match]) -> None:
        """Columns beside the status that say that candidates withdrew or are still in process."""
        chosen = self.chosen.get("selected")
        beside = [match.column for match in found]
        beside += [match.column for match in self._matches().get("selected", []) if match.tier == 2]
        named = set(beside)
        if chosen is not None:
            yes = selected_cells(self.raw.table[chosen.columns[0]], chosen.test)
            words = [column.name for column in self._free() if column.kind in ("category", "status")]
            beside += [name for name in words if not ends_by_candidate(self.raw.table[name])[yes].any()]
        telling = [
            name
            for name in dict.fromkeys(beside)
            if says_who_left(self.raw.table[name]) and (name in named or ends_by_candidate(self.raw.table[name]).any())
        ]
        if telling and (chosen is None or chosen.test is None):
            self.chosen["reason"] = Choice("reason", tuple(telling), "its values say who withdrew")
        if chosen is None and "selected" not in self.off:
            for name in telling:
                hired = [
                    str(word) for word in pd.unique(self.raw.table[name]) if code_of(str(word), STATUS) == "selected"
                ]
                if len(hired) == 1:
                    reason = "it names those hired among the reasons why applications ended"
                    self.chosen["selected"] = Choice("selected", (name,), reason, test=Test("=", hired[0]))
                    rest = tuple(other for other in telling if other != name)
                    self.chosen["reason"] = Choice("reason", (name, *rest), "its values say who withdrew")
                    return

    def _stages(self) -> None:
        """Stages as columns, a path in one cell, or the last stage reached; never where the user says who was seen."""
        if {"stages", "stage", "inspected"} & (self.chosen.keys() | self.off):
            return
        table, used = self.raw.table, self._used()
        free = [column for column in self.columns.values() if column.name not in used and column.filled]
        paths = [
            column.name
            for column in free
            if column.kind in ("category", "text", "status") and is_path(table[column.name])
        ]
        if paths:
            self.chosen["stages"] = Choice("stages", (paths[0],), "each cell is the path of an application")
            return
        choice = self.chosen.get("selected")
        stages = stage_columns(table, free)
        if choice is not None:
            yes = selected_cells(table[choice.columns[0]], choice.test)
            stages = tuple(name for name in stages if not self._same_as(name, yes))
        if len(stages) > 1:
            self.chosen["stages"] = Choice("stages", stages, "named like stages; empty or no for those not reached")
            return
        decided = None
        if choice is not None:
            codes, words = pd.factorize(table[choice.columns[0]])
            rejected = np.array([code_of(str(word), STATUS) == "rejected" for word in words], dtype=bool)
            decided = pd.Series(rejected[codes], index=table.index)
        for column in self.columns.values():
            mine = choice is not None and column.name == choice.columns[0]
            named = any(m.role == "stage" or (m.role == "selected" and m.tier == 4) for m in by_name(column.name))
            # whatever its name, a column that has a stage for each of those rejected is the last one they reached
            telling = decided is not None and decided.any() and column.kind in ("category", "status")
            if (column.name in used and not mine) or (mine and "reason" not in self.chosen) or not (named or telling):
                continue
            if is_last_stage(table[column.name], None if mine else decided):
                self.chosen["stages"] = Choice("stages", (column.name,), "its values are the last stage reached")
                return

    def _same_as(self, column: str, yes: pd.Series[bool]) -> bool:
        reached = took_place(to_stage(self.raw.table[column], column, Collector()))
        return bool((reached == yes).all())

    def _inspected(self) -> None:
        """An inspection of everybody, or of those selected only, is none."""
        choice, selected = self.chosen.get("inspected"), self.chosen.get("selected")
        if choice is None or choice.given:
            return
        name = choice.columns[0]
        reached = took_place(to_stage(self.raw.table[name], name, Collector()))
        if selected is None:
            return
        same = selected_cells(self.raw.table[selected.columns[0]], selected.test)
        if reached.all() or bool((reached == same).all()):
            what = "is true of everybody" if reached.all() else f"is the same as {selected.columns[0]!r}"
            del self.chosen["inspected"]
            self.notices.append(Notice("no-inspection", f"{name!r} {what}: it says nothing about who was inspected"))

    def _known_before(self) -> None:
        """A score that everybody has was known before the inspection."""
        score = self.chosen.get("score")
        if score is None or score.given or "stage" in self.chosen or "prior" in self.off:
            return
        column = self.columns[score.columns[0]]
        if column.filled < column.rows or column.rows < 2:
            return
        del self.chosen["score"]
        self._add_prior((column.name,))

    def _add_prior(self, names: tuple[str, ...]) -> None:
        prior = self.chosen.get("prior")
        if prior is not None and prior.given:
            return
        found = {*names, *(prior.columns if prior else ())}
        self.chosen["prior"] = Choice(
            "prior", tuple(name for name in self.columns if name in found), "by name; known for everybody"
        )
        listed = _list(names)
        text = f"{listed}: known for everybody, so known before the inspection"
        self.notices.append(Notice("score-known-before", text, f"if not: {_flag('score', names[0])}"))

    def _nobody_selected(self) -> None:
        if "selected" in self.chosen or not self._needs_selected() or any(p.where == "selected" for p in self.problems):
            return
        used = self._used()
        named = [name for name in self.columns if name not in used and any(m.role == "selected" for m in by_name(name))]
        if "inspected" in self.chosen and ("selected" in self.off or not named):
            text = "no column says who was selected: the audit is of who was inspected"
            self.notices.append(Notice("no-selected", text))
        elif named:
            examples = self.columns[named[0]].examples
            values = f" ({_list(examples)}, ...)" if examples else ""
            what = f"{named[0]!r} is named like it, but its values{values} are not known to say who was selected"
            self.problems.append(
                Problem("selected", what, f"say which value counts, with {_flag('selected', named[0] + '=VALUE')}")
            )
        else:
            free = [c for c in self.columns.values() if not is_protected(c.name)]
            likely = [c.name for c in free if c.name not in used and c.kind in ("yes/no", "status")]
            scored = [c.name for c in free if c.kind == "number" and plain(c.name) not in ROW_NUMBERS]
            more = "" if likely else f"; columns: {_list([c.name for c in free])}"
            if scored and not likely:
                more = f", or, if a pass mark decided, {_flag('selected', scored[-1] + '>=MARK')}{more}"
            what = "no column says who was selected (such as hired, selected, decision, final status)"
            self._ask("selected", what, likely, more)


_KINDS = {
    "yes/no": "yes and no",
    "id": "ids",
    "number": "numbers",
    "date": "dates",
    "status": "words for a status",
    "category": "categories",
    "text": "text",
}


def _flag(role: str, column: str) -> str:
    """What to type, quoted where a shell asks for it."""
    text = f"{role}={column}"
    return f"--map {text}" if re.fullmatch(r"[\w.,:/=+@%-]+", text) else f'--map "{text}"'


def _list(names: abc.Sequence[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def replace_choice(mapping: Mapping, role: str, choice: Choice | None) -> Mapping:
    """The mapping with another choice for a role, or none."""
    others = tuple(other for other in mapping.choices if other.role != role)
    return replace(mapping, choices=others if choice is None else (*others, choice))
