"""Which column plays which role: from its name and its values, or as the user says. Never a silent guess.

Two columns of the same rank (see `match`): a required role is asked for, an optional one is left out, and both
messages name the columns and the flag to type.
"""

from __future__ import annotations

import difflib
import re
from collections import abc
from dataclasses import dataclass, replace
from typing import NamedTuple

from auditkit.data.problems import Notice
from auditkit.data.profile import ColumnProfile, describe
from auditkit.data.read_file import RawTable
from auditkit.data.role_matching import Match, best_of, by_name, is_cells, is_event_log, matches_of, suits
from auditkit.data.vocabulary import GROUP_NAMES, ROLES, ROW_NUMBERS, SEVERAL, WIDE_SEARCHES, plain
from auditkit.errors import InputError, Problem, nearest

Given = abc.Mapping[str, "str | abc.Sequence[str]"]
"""What a user maps: role -> column, or several columns (in a list, or joined by `+`)."""

NONE = ("", "none")
"""`--map score=none`: leave the role out."""

_TEST = re.compile(r"^(?P<column>.+?)\s*(?P<sign>>=|<=|==|=|>|<)\s*(?P<value>.+)$")
_TESTED = ("selected", "inspected")


class Test(NamedTuple):
    """`--map "selected=Score>=70"`: the column says yes where the comparison holds."""

    sign: str
    value: str


@dataclass(frozen=True)
class Choice:
    """The columns of a role, and why they."""

    role: str
    columns: tuple[str, ...]
    reason: str
    given: bool = False
    test: Test | None = None


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
            c.role: [f"{c.columns[0]}{c.test.sign}{c.test.value}"] if c.test else list(c.columns) for c in self.choices
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

    def mapping(self) -> Mapping:
        matches = self._matches()
        person, search = self._likely("candidate", matches), self._likely("search", matches)
        if "stage" not in self.chosen and is_event_log(self.raw.table, person, search, matches.get("stage", [])):
            self._choose("stage", best_of(matches["stage"])[0])
            matches = self._matches()
        if "count" not in self.chosen and (person or not is_cells(self.raw.table, matches.get("count", []))):
            matches.pop("count", None)
        for role in ROLES:
            if role not in self.chosen and role not in self.off and role not in ("group", "stage", "stages"):
                self._infer(role, matches.get(role, []))
        self._group(matches.get("group", []))
        self._selected(best_of(matches.get("selected", [])))
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
        test = None
        if len(parts) == 1 and self._find(parts[0]) is None:
            if role in _TESTED and (match := _TEST.match(parts[0])):
                parts, test = [match["column"]], Test(match["sign"].replace("==", "="), match["value"].strip())
            else:
                parts = [part.strip() for part in parts[0].split("+")]
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
        self.chosen[role] = Choice(role, tuple(columns), "as you said", given=True, test=test)

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
        kind = self.columns[match.column].kind
        self.chosen[role] = Choice(role, (match.column,), f"{name}; its values are {_KINDS[kind]}")

    def _infer(self, role: str, found: list[Match]) -> None:
        """An optional role, or `selected` where one column stands out."""
        best = best_of(found)
        if role in ("prior", "expense") and found:
            names = tuple(name for name in self.columns if any(match.column == name for match in found))
            self.chosen[role] = Choice(role, names, "by name and values")
        elif len(best) == 1:
            self._choose(role, best[0])
            if role == "search" and best[0].name in WIDE_SEARCHES:
                text = f"no column of requisitions: each value of {best[0].column!r} is one search; --map search=COLUMN"
                self.notices.append(Notice("wide-search", text))
        elif best and not (role == "selected" and self._needs_selected()):
            names = tuple(match.column for match in best)
            flag = _flag(role, names[0])
            several = f" (or as stages: {_flag('stages', '+'.join(names))})" if role == "inspected" else ""
            text = f"{role}: {_list(names)} could each be it, so none is used; choose with {flag}{several}"
            self.notices.append(Notice("ambiguous-role", text))

        elif not best and role != "selected":
            self._mention(role)

    def _mention(self, role: str) -> None:
        """A column that has the name of a role but not its values is not passed over in silence."""
        used = self._used()
        for name, column in self.columns.items():
            closest = min(by_name(name), key=lambda match: match.closeness, default=None)
            if name in used or closest is None or closest.role != role or closest.loose or suits(column, role):
                continue
            kind = _KINDS.get(column.kind, "empty")
            text = (
                f"{role}: {name!r} is named like it, but its values are {kind}; to use it anyway: {_flag(role, name)}"
            )
            self.notices.append(Notice("unsuited-column", text))

    def _ask(self, role: str, what: str, likely: abc.Sequence[str], more: str = "") -> None:
        fix = f"say which with --map {role}=COLUMN"
        if likely:
            fix = f"say which, e.g. {_flag(role, likely[0])}; most likely: {_list(likely)}"
        self.problems.append(Problem(role, what, fix + more))

    def _group(self, found: list[Match]) -> None:
        if "group" in self.chosen:
            return
        kinds = {kind: best_of([match for match in found if match.attribute == kind]) for kind in GROUP_NAMES}
        usable = [kinds[kind] for kind in ("sex", "race") if kinds[kind]] or [best for best in [kinds["other"]] if best]
        names = [match.column for best in usable for match in best]
        if not usable:
            used = self._used()
            free = [c for c in self.columns.values() if c.kind == "category" and c.name not in used]
            likely = [column.name for column in free if 2 <= column.distinct <= 12]
            self._ask("group", "no column says which group a candidate belongs to (such as sex, gender, race)", likely)
        elif any(len(best) > 1 for best in usable):
            what = f"several columns could be the group: {_list(names)}"
            self._ask("group", what, names, "; columns joined by + are crossed")
        elif len(names) == 1:
            self._choose("group", usable[0][0])
        else:
            reason = f"sex and race by name, crossed; for one alone: {_flag('group', names[0])}"
            self.chosen["group"] = Choice("group", tuple(names), reason)
            self.notices.append(Notice("group-crossed", f"groups are {names[0]!r} crossed with {names[1]!r}"))

    def _needs_selected(self) -> bool:
        return "stages" not in self.chosen and "stage" not in self.chosen

    def _selected(self, best: list[Match]) -> None:
        if "selected" in self.chosen or not self._needs_selected():
            return
        if best:
            names = [match.column for match in best]
            self._ask("selected", f"several columns could say who was selected: {_list(names)}", names)
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
            likely = [c.name for c in self.columns.values() if c.name not in used and c.kind in ("yes/no", "status")]
            scored = [c.name for c in self.columns.values() if c.kind == "number" and plain(c.name) not in ROW_NUMBERS]
            more = "" if likely else f"; columns: {_list(list(self.columns))}"
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
