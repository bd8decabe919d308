"""Which column plays which role: what the user says, and the result of a reading."""

from __future__ import annotations

import difflib
import re
from collections import abc
from dataclasses import dataclass, field, replace

from auditkit.data.problems import Notice
from auditkit.data.statuses import Test
from auditkit.data.vocabulary import ROLES, SEVERAL, plain
from auditkit.errors import Problem, nearest

Given = abc.Mapping[str, "str | abc.Sequence[str]"]
"""What a user maps: role -> column, or several columns (in a list, or joined by `+`)."""

NONE = ("", "none")
"""`--map score=none`: leave the role out."""

_TEST = re.compile(r"^(?P<column>.+?)\s*(?P<sign>!=|>=|<=|==|=|>|<)\s*(?P<value>.*)$")
_TESTED = ("selected", "inspected")


@dataclass(frozen=True)
class Choice:
    """The columns of a role, and the reason. `tests` compare columns with values, `characteristics` are of groups."""

    role: str
    columns: tuple[str, ...]
    reason: str
    given: bool = False
    test: Test | None = None
    crossings: tuple[tuple[str, ...], ...] = ()
    tests: abc.Mapping[str, Test] = field(default_factory=dict)
    characteristics: abc.Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Mapping:
    """Every role that the data has, in the order of `ROLES`."""

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
            else [*(_spec(name, c.tests.get(name)) for name in c.columns), *("+".join(each) for each in c.crossings)]
            for c in self.choices
        }


def _spec(column: str, test: Test | None) -> str:
    return column if test is None else f"{column}{test.sign}{test.value}"


@dataclass(frozen=True)
class GivenRoles:
    """What a user says, with columns found regardless of case and punctuation, and what is wrong with it.

    `stageless` are stages that are not columns: in an event log they are values of the stage column.
    """

    chosen: abc.Mapping[str, Choice]
    off: frozenset[str]
    problems: tuple[Problem, ...]
    stageless: tuple[Problem, ...]


def taken(given: Given, columns: abc.Collection[str]) -> GivenRoles:
    """Look up what the user maps among the columns of a table."""
    chosen: dict[str, Choice] = {}
    off: set[str] = set()
    problems: list[Problem] = []
    stageless: list[Problem] = []
    for role, value in given.items():
        if role not in ROLES:
            problems.append(Problem(f"--map {role}", f"there is no role {role!r}", nearest(role, ROLES)))
            continue
        parts = [value] if isinstance(value, str) else list(value)
        if not parts or (len(parts) == 1 and parts[0].strip().lower() in NONE and parts[0] not in columns):
            off.add(role)
            continue
        test: Test | None = None
        tests: dict[str, Test] = {}
        crossings: list[tuple[str, ...]] = []
        if role in _TESTED and len(parts) == 1 and find(parts[0], columns) is None and (match := _TEST.match(parts[0])):
            parts, test = [match["column"]], _test(match)
        else:
            parts, crossings = _split(parts, role, columns)
        found: list[str] = []
        for part in parts:
            name = find(part, columns)
            if name is None and role == "stages" and (match := _TEST.match(part)):
                name = find(match["column"], columns)
                if name is not None:
                    tests[name] = _test(match)
            found.append(name or part)
            if name is None:
                problem = Problem(f"--map {role}={part}", f"there is no column {part!r}", closest(part, columns))
                (stageless if role == "stages" else problems).append(problem)
        if len(parts) > 1 and role not in SEVERAL and not (role == "cost" and "stages" in given):
            problems.append(Problem(f"--map {role}", f"the role {role!r} takes one column, not {len(parts)}"))
        chosen[role] = Choice(
            role,
            tuple(dict.fromkeys(found)),
            "as you said",
            given=True,
            test=test,
            crossings=tuple(crossings),
            tests=tests,
        )
    return GivenRoles(chosen, frozenset(off), tuple(problems), tuple(stageless))


def _test(match: re.Match[str]) -> Test:
    return Test(match["sign"].replace("==", "="), match["value"].strip())


def _split(parts: list[str], role: str, columns: abc.Collection[str]) -> tuple[list[str], list[tuple[str, ...]]]:
    """Columns joined by `+` or by commas; for groups `+` asks for the crossing as well."""
    found: list[str] = []
    crossings: list[tuple[str, ...]] = []
    for text in parts:
        for part in [text] if _known(text, columns) else text.split(","):
            if _known(part.strip(), columns):
                found.append(part.strip())
                continue
            joined = [piece.strip() for piece in part.split("+")]
            found += joined
            if role == "group" and len(joined) > 1:
                crossings.append(tuple(find(piece, columns) or piece for piece in joined))
    return found, crossings


def _known(text: str, columns: abc.Collection[str]) -> bool:
    """A column, or a column compared with a value."""
    match = _TEST.match(text)
    return find(text, columns) is not None or (match is not None and find(match["column"], columns) is not None)


def find(name: str, columns: abc.Collection[str]) -> str | None:
    """The column of a name; case and punctuation do not count where that leaves one."""
    if name in columns:
        return name
    same = [known for known in columns if plain(known) == plain(name)]
    return same[0] if len(same) == 1 else None


def column_in(text: str, columns: abc.Collection[str]) -> str | None:
    """The column that a text names, alone, compared with a value, or joined to others by `+`."""
    match = _TEST.match(text)
    joined = [find(part.strip(), columns) for part in text.split("+")]
    tested = find(match["column"], columns) if match else None
    return find(text, columns) or tested or (joined[0] if all(joined) else None)


def closest(name: str, columns: abc.Collection[str]) -> str:
    """The columns with the most similar names, for a message."""
    by_key = {plain(known): known for known in columns}
    close = [by_key[key] for key in difflib.get_close_matches(plain(name), by_key, n=3, cutoff=0.5)]
    return f"closest: {listed(close)}" if close else f"columns: {listed(list(columns))}"


def flag(role: str, column: str) -> str:
    """What to type, quoted where a shell asks for it."""
    text = f"{role}={column}"
    if re.fullmatch(r"[\w.,:/=+@%-]+", text):
        return f"--map {text}"
    return f'--map "{text}"' if not set('"$`\\') & set(text) else "--map '" + text.replace("'", "'\\''") + "'"


def listed(names: abc.Sequence[str], most: int = 12) -> str:
    """Names in quotation marks, the first few of many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def replace_choice(mapping: Mapping, role: str, choice: Choice | None) -> Mapping:
    """The mapping with another choice for a role, or none."""
    others = tuple(other for other in mapping.choices if other.role != role)
    return replace(mapping, choices=others if choice is None else (*others, choice))
