"""How an auditor looks at a file: what a row is, who is counted, which steps there were, what was good for a person.

A reading is one hypothesis about the whole table. `TableLook` asks the questions in the order in which a person would:

1. Which columns say who somebody is (groups, ids, requisitions)?
2. Is a row an application, or one event of several?
3. Which columns could say how it ended, and is their yes good or bad (`Decision`)? Each is weighed by its name, by
   how many of its words are known, and by how well it fits with the others.
4. Which columns are steps on the way there (`StepColumn`)? Who reached a later step reached the earlier ones: a
   column that breaks this is not a step, whatever its name; one that keeps it, against all chance, is one.
5. What else is known: scores, dates, parts of the firm?

The result is an `Interpretation`: what `clean` needs, and what a `Reading` says about it. Two answers of about the
same weight that differ in who was selected make a reading ambiguous.
"""

from __future__ import annotations

from collections import abc
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.attributes import is_coded
from auditkit.data.columns import (
    ColumnProfile,
    Match,
    best_of,
    by_name,
    describe,
    is_protected,
    kind_of,
    matches_of,
    named,
    suits,
)
from auditkit.data.dates import to_dates
from auditkit.data.event_log import pivot
from auditkit.data.personal import is_personal
from auditkit.data.problems import Collector, Notice
from auditkit.data.raw_table import RawTable
from auditkit.data.roles import Choice, Given, Mapping, flag, listed, replace_choice, taken
from auditkit.data.shapes import in_columns
from auditkit.data.stages import PASSED, Stages
from auditkit.data.statuses import (
    Decided,
    Test,
    Words,
    achieved,
    decide,
    is_bad,
    is_empty,
    settled,
    step_codes,
    with_reasons,
)
from auditkit.data.steps import (
    StepsInOneColumn,
    from_dispositions,
    from_last_stage,
    from_paths,
    is_last_stage,
    is_path,
    label_of,
    labels_of,
    names_steps,
)
from auditkit.data.vocabulary import HIRED, ROLES, plain, spoken
from auditkit.errors import InputError, Problem

_NESTED = 0.97
"""Share of those who got further that must have reached a step."""
_NAMED_NESTED = 0.9
"""The same for a column that is named like a step, as steps are skipped now and then."""
_PLAIN_NESTED = 0.5
"""The same for a column that is called just so: `Interviewed`."""
_CHANCE = 1e-3
"""A column without a telling name is a step only if chance would make it look like one more rarely than this."""
_CLOSE = 0.6
"""Two decisions whose weights differ by less are not told apart."""
_ENOUGH = 2.0
"""The least weight at which a column is taken as the decision without asking."""
_FEW = 0.1
"""Share of the rows that words of unknown meaning may have without a question."""


@dataclass(frozen=True, eq=False)
class Decision:
    """One answer to: which column says who had the favourable outcome, and how much speaks for it?"""

    column: str
    decided: Decided
    selected: pd.Series[Any]
    weight: float
    why: str
    test: Test | None = None
    given: bool = False
    guess: str = ""
    """The word that is taken as the good one because all others are bad."""

    @property
    def spec(self) -> str:
        """The answer as `--map selected=` takes it."""
        if self.test is not None:
            return f"{self.column}{self.test.sign}{self.test.value}"
        if self.decided.bad:
            yes = [word for word, code in self.decided.meanings.items() if code == "rejected"]
            return f"{self.column}!={'|'.join(yes[:4])}" if 0 < len(yes) <= 4 else f"{self.column}=(blank)"
        good = [word for word, code in self.decided.meanings.items() if code == "selected"]
        return f"{self.column}={'|'.join(good[:4])}" if 0 < len(good) <= 4 else self.column


@dataclass(frozen=True, eq=False)
class StepColumn:
    """A column that says who got over a step."""

    column: str
    codes: pd.Series[Any]
    rank: float | None
    test: Test | None = None

    @property
    def reached(self) -> pd.Series[Any]:
        return achieved(self.codes)


@dataclass(frozen=True, eq=False)
class Interpretation:
    """A table as it was understood: one row of `cells` for each application, with what happened to each."""

    raw: RawTable
    cells: pd.DataFrame
    mapping: Mapping
    roles: Mapping
    row: str
    stages: Stages | None
    status: pd.Series[Any] | None
    inspected: pd.Series[Any] | None
    selected_name: str
    score_stage: str | None
    notices: tuple[Notice, ...]
    assumptions: tuple[str, ...]
    doubts: tuple[str, ...]
    """Why the reading is not certain."""
    alternatives: tuple[dict[str, str], ...]
    """Mappings that would answer "who was selected" differently, the likeliest first, this reading's own before them
    where it is ambiguous."""
    ambiguous: str
    """The question that only a person can answer, "" if there is none."""
    looks: abc.Mapping[str, str] = field(default_factory=dict)
    """What columns that are not used look like."""

    def only(self, kept: np.ndarray[Any, np.dtype[np.bool_]]) -> Interpretation:
        """The plan for some of the rows of its cells."""
        stages = None
        if self.stages is not None:
            stages = Stages(self.stages.names, tuple(codes[kept] for codes in self.stages.codes))
        return replace(
            self,
            cells=self.cells[kept],
            stages=stages,
            status=None if self.status is None else self.status[kept],
            inspected=None if self.inspected is None else self.inspected[kept],
        )


def look(
    raw: RawTable,
    given: Given | None = None,
    words: Words | None = None,
    collector: Collector | None = None,
    assumptions: abc.Sequence[str] = (),
) -> Interpretation:
    """Understand a table, or one InputError with every role that must be asked for."""
    return TableLook(raw, given or {}, words or {}, collector or Collector(), assumptions).plan()


class Unanswered(InputError):
    """Something that must be asked, with mappings that may be the answer."""

    def __init__(self, problems: abc.Sequence[Problem], alternatives: abc.Sequence[dict[str, str]] = ()) -> None:
        super().__init__(list(problems))
        self.alternatives = tuple(alternatives)


class TableLook:
    """What is known of a table so far, what must be asked, and what was assumed."""

    def __init__(
        self, raw: RawTable, given: Given, words: Words, collector: Collector, assumptions: abc.Sequence[str]
    ) -> None:
        self.raw, self.words, self.collector = raw, words, collector
        self.table = raw.table
        self.columns = {str(name): describe(str(name), raw.table[name]) for name in raw.table.columns}
        mapped = taken(given, list(self.columns))
        self.chosen: dict[str, Choice] = dict(mapped.chosen)
        self.off: set[str] = set(mapped.off)
        self.problems: list[Problem] = [*mapped.problems]
        self.stageless = mapped.stageless
        self.notices: list[Notice] = []
        self.assumptions: list[str] = [*assumptions]
        self.doubts: list[str] = []
        self.alternatives: list[dict[str, str]] = []
        self.ambiguous = ""
        self.decisions: list[Decision] = []
        self.meant: dict[str, str] = {}
        if raw.count is not None:
            self.chosen["count"] = Choice("count", (raw.count,), "each row is a category with its counts")

    # ---------------------------------------------------------------- the questions, in order

    def plan(self) -> Interpretation:
        if self.problems:  # what is said of the columns does not fit the file
            raise InputError(self.problems)
        self._groups()
        matches = self._matches()
        person, search = self._likely("candidate", matches), self._likely("search", matches)
        events = None
        if "stage" not in self.chosen and "stage" not in self.off:
            events = self._events(person, search, matches.get("stage", []))
        if events is not None:
            self.chosen["stage"] = events
        matches = self._matches()
        if "count" not in self.chosen and (person or not self._are_cells(matches.get("count", []))):
            self.off.add("count")
        self._search(matches)
        self._candidate(matches)
        if "stage" in self.chosen:
            result = self._result()
            return self._plan_of_events() if result is None else self._plan_of_results(result)
        return self._plan_of_applications()

    def _plan_of_applications(self) -> Interpretation:
        decision = self._decision()
        self._reasons(decision)
        steps, found, inspected = self._steps(decision)
        self._later_decision(decision)
        self._loose_words(decision, found)
        self._others()
        self._known_before()
        self._nothing_selected(decision, steps, found, inspected)
        self.problems += self.stageless
        if self.problems:
            raise Unanswered(self.problems, self.alternatives)
        status, name = self._status(decision, steps, found)
        stages: Stages | None = None
        if found is not None:
            codes = tuple(_yes(found.reached[step]) for step in found.names)
            stages = Stages(found.names, codes)
            if found.unplaced:
                text = f"the place of {listed(found.unplaced)} among the steps is assumed, as the words are not known"
                self._assume("unplaced-stage", text, "--map stages=COLUMN+COLUMN, in order")
        elif len(steps) > 1 or (steps and "stages" in self.chosen):
            names = labels_of([step.column for step in steps])
            stages = Stages(names, tuple(step.codes.replace({"?": ""}) for step in steps))
        seen = None
        if stages is None and inspected is not None:
            seen = inspected.codes
        mapping = self._mapping()
        row = "counts" if "count" in self.chosen or self.raw.separate else "application"
        return self._finish(mapping, mapping, self.table, row, stages, status, seen, name, None)

    def _plan_of_events(self) -> Interpretation:
        if "candidate" not in self.chosen:
            self._ask("candidate", "an event log must say whose event each row is", list(self.columns))
            raise InputError(self.problems)
        for role in ("selected", "reason"):
            self._status_of_events(role)
        self._others()
        if self.problems:
            raise InputError(self.problems)
        mapping = self._mapping()
        apps = pivot(self.table, mapping, dict(self.words), self.collector, self.notices)
        if not mapping.columns("stages"):
            own = Choice("stages", apps.stages, "values of the stage column, in order")
            mapping = replace_choice(mapping, "stages", own)
        codes = tuple(step_codes(apps.table[name], name).replace({"": "no"}) for name in apps.columns)
        stages = Stages(apps.stages, codes)
        final = apps.mapping.choice("selected")
        if final is None:
            status = stages.status()
            name = stages.names[-1]
            self._say("selected-from-stages", f"selected are those who reached the last stage, {name!r}")
        else:
            cells = apps.table[final.columns[0]]
            decided = decide(cells, "" if final.columns[0] == "final event" else final.columns[0], self.words)
            status = settled(decided, cells, final.columns[0], self.collector)
            name = apps.selected or self._name(cells, decided, status, final.columns[0])
        reasons = apps.table[[c for c in apps.mapping.columns("reason") if c in apps.table]]
        status = with_reasons(status, reasons)
        return self._finish(mapping, apps.mapping, apps.table, "event", stages, status, None, name, apps.score_stage)

    def _plan_of_results(self, result: str) -> Interpretation:
        """One row for each person and stage, with the result: the same as a column of results for each stage."""
        stage = self.chosen["stage"].columns[0]
        keys = [name for role in ("candidate", "search") for name in self._columns(role)]
        dates = self._matches().get("date", [])
        day = self.chosen["date"].columns[0] if "date" in self.chosen else dates[0].column if dates else None
        wide, names = in_columns(self.table, keys, stage, result, day)
        given: dict[str, str | list[str]] = {
            role: [*choice.columns, *("+".join(each) for each in choice.crossings)]
            for role, choice in self.chosen.items()
            if choice.given and role not in ("stage", "result", "stages")
        }
        given |= dict.fromkeys(self.off - {"count"}, "none")
        ordered = [name for name in self._columns("stages") if name in names] or list(names)
        given["stages"] = ordered
        inner = look(replace(self.raw, table=wide), given, self.words, self.collector, self.assumptions)
        own = (
            Choice("stage", (stage,), "one row for each person and step"),
            Choice("result", (result,), "its values say who passed the step"),
        )
        listed_roles = {choice.role: choice for choice in (*inner.mapping.choices, *own)}
        choices = tuple(listed_roles[role] for role in ROLES if role in listed_roles)
        mapping = replace(inner.mapping, choices=choices)
        text = f"one row for each person and step: a step is passed where {result!r} says so"
        notices = (*self.notices, *inner.notices, Notice("step-results", text))
        return replace(inner, raw=self.raw, row="event with result", mapping=mapping, notices=notices)

    def _columns(self, role: str) -> tuple[str, ...]:
        choice = self.chosen.get(role)
        return () if choice is None else choice.columns

    def _result(self) -> str | None:
        """The column with the result of each event: those who go on to another event passed the one before."""
        if "result" in self.chosen:
            return self.chosen["result"].columns[0]
        if "result" in self.off or "candidate" not in self.chosen:
            return None
        keys = [name for role in ("candidate", "search") for name in self._columns(role)]
        app = self.table.groupby(keys, sort=False).ngroup()
        more = app.map(app.value_counts()) - 1
        order = self.table.groupby(keys, sort=False).cumcount()
        going_on = order < more
        for column in self._free():
            if column.name in self._used() or not (column.is_words or column.kind == "yes/no"):
                continue
            codes = decide(self.table[column.name], column.name, self.words).codes
            if not {"selected", "rejected"} <= set(codes.unique()) or (codes == "?").mean() > _FEW:
                continue
            if going_on.any() and (codes[going_on] == "selected").mean() >= 0.8 and self._stages_only():
                return column.name
        return None

    def _stages_only(self) -> bool:
        """Whether the stage column has no word for the end of an application, nor both its start and its success."""
        words = spoken()
        found = [str(word) for word in pd.unique(self.table[self.chosen["stage"].columns[0]])]
        meanings = {words.meaning(word) for word in found}
        if meanings & {"rejected", "withdrawn", "declined"}:
            return False
        starts = {plain(word) for word in found} & set(words.words("cells", "start"))
        return not (starts and "selected" in meanings)

    def _finish(
        self,
        mapping: Mapping,
        roles: Mapping,
        cells: pd.DataFrame,
        row: str,
        stages: Stages | None,
        status: pd.Series[Any] | None,
        inspected: pd.Series[Any] | None,
        name: str,
        score_stage: str | None,
    ) -> Interpretation:
        return Interpretation(
            self.raw,
            cells,
            mapping,
            roles,
            row,
            stages,
            status,
            inspected,
            name,
            score_stage,
            tuple(self.notices),
            tuple(self.assumptions),
            tuple(self.doubts),
            tuple(self.alternatives),
            self.ambiguous,
            {column: self._looks_like(column) for column in mapping.unused},
        )

    def _mapping(self) -> Mapping:
        choices = tuple(self.chosen[role] for role in ROLES if role in self.chosen)
        used = self._used()
        return Mapping(choices, tuple(name for name in self.columns if name not in used), tuple(self.notices))

    # ---------------------------------------------------------------- who somebody is

    def _groups(self) -> None:
        """Every protected column is an attribute; of two columns that say the same, the first."""
        if "group" in self.chosen:
            given = self.chosen["group"]
            self.chosen["group"] = replace(given, kinds={name: self._kind(name) for name in given.columns})
            return
        vocabulary = spoken()
        found = self._matches().get("group", [])
        names: list[str] = []
        kinds: dict[str, str] = {}
        for kind in vocabulary.groups:
            own = sorted((match for match in found if match.attribute == kind), key=lambda match: match.rank)
            for match in own:
                self._add_group(match.column, kind, names, kinds)
        for column in self.columns.values():
            kind_by_values = "" if column.name in kinds or by_name(column.name) else self._kind_by_values(column)
            if kind_by_values:
                self._add_group(column.name, kind_by_values, names, kinds)
                self._assume("group-by-values", f"{column.name!r} is read as {kind_by_values} because of its values")
        if not names:
            free = [c for c in self.columns.values() if c.kind == "category" and c.name not in self._used()]
            roles = ("search", "candidate", "selected", "stage", "reason")
            likely = [
                column.name
                for column in free
                if 2 <= column.distinct <= 12
                and not self._is_outcome(column)
                and not any(named(column.name, role) for role in roles)
            ]
            self._ask("group", "no column says which group a candidate belongs to (such as sex, gender, race)", likely)
            return
        reason = "protected attributes by name and values"
        if len(names) == 1:
            reason = f"its name or its values say so; its values are {_KINDS[self.columns[names[0]].kind]}"
        self.chosen["group"] = Choice("group", tuple(names), reason, kinds=kinds)
        coded = [
            name
            for name in names
            if kinds[name] in ("sex", "race") and is_coded(name, map(str, pd.unique(self.table[name])))
        ]
        if coded:
            rest = [name for name in names if name not in coded]
            self.ambiguous = f"{listed(coded)}: the groups are numbers, and nothing in the file says what they mean"
            self.alternatives = [{"group": ",".join(each)} for each in (names, rest) if each]

    def _add_group(self, column: str, kind: str, names: list[str], kinds: dict[str, str]) -> None:
        same = next((name for name in names if kinds[name] == kind and self._same_values(name, column)), None)
        if same is not None:
            text = f"{column!r} says the same as {same!r} and is not used as an attribute of its own"
            self.notices.append(Notice("same-attribute", text))
            return
        names.append(column)
        kinds[column] = kind

    def _kind(self, column: str) -> str:
        by_the_name = kind_of(column)
        return (
            by_the_name
            if by_the_name != "other"
            else self._kind_by_values(self.columns[column]) or "other"
            if (column in self.columns)
            else by_the_name
        )

    def _kind_by_values(self, column: ColumnProfile) -> str:
        """`sex` or `race` where most cells hold words for them, whatever the column is called."""
        if not 2 <= column.distinct <= 15 or column.kind in ("yes/no", "number", "date"):
            return ""
        vocabulary = spoken()
        often = self.table[column.name].value_counts()
        often = often[[not vocabulary.is_unknown(str(word)) for word in often.index]]
        if often.empty:
            return ""
        sexes = {str(word): vocabulary.sex(str(word)) for word in often.index}
        if {"female", "male"} <= set(sexes.values()):
            known = sum(int(n) for word, n in often.items() if sexes[str(word)])
            if known >= 0.8 * often.sum():
                return "sex"
        letters = {plain(str(word)) for word in often.index}
        if {"w", "b"} <= letters <= _RACE_LETTERS and len(letters) >= 3:
            return "race"
        races = vocabulary.pattern("values", "races")
        whole = {str(word): races.match(plain(str(word))) is not None for word in often.index}
        known = sum(int(n) for word, n in often.items() if whole[str(word)])
        return "race" if sum(whole.values()) >= 2 and known >= 0.6 * often.sum() else ""

    def _same_values(self, one: str, other: str) -> bool:
        """Whether each value of one column goes with one value of the other, and the other way round."""
        pairs = self.table[[one, other]].drop_duplicates()
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
        for name in spoken().phrases("names", "wide_searches"):
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
        rows = self.table.drop_duplicates([key_column, *(search.columns if search else ())])
        filled = rows[person][rows[person] != ""]
        if filled.duplicated().any() and (person != key_column or search is not None):
            reason = f"{filled.nunique():,} people made {len(filled):,} applications"
            self.chosen["person"] = Choice("person", (person,), reason)

    # ---------------------------------------------------------------- what a row is

    def _events(self, person: str | None, search: str | None, stages: list[Match]) -> Choice | None:
        """Several rows for an application, told apart by a column of stages."""
        if person is None:
            return None
        keys = [person, search] if search is not None and search != person else [person]
        repeated = len(self.table) / len(self.table.drop_duplicates(keys))
        if repeated <= 1.2:
            return None
        by_values = [
            Match("stage", column.name, True, 9, 0, "stage", "")
            for column in self.columns.values()
            if column.is_words and column.steps >= 0.5 and not is_protected(column.name)
        ]
        dated = any(column.kind == "date" for column in self.columns.values())
        clear = 0.5 if dated else 0.8
        people = len(self.table.drop_duplicates(keys))
        best = best_of(stages) if len(best_of(stages)) == 1 else best_of([*stages, *by_values])
        telling = [
            match
            for match in best
            if (told := len(self.table.drop_duplicates([*keys, match.column]))) > clear * len(self.table)
            and told > 1.2 * people
            and 2 <= self.table[match.column].nunique() <= 40
            and any(not _ends(str(word)) for word in pd.unique(self.table[match.column]))
        ]
        # beside the steps there may be the status at each of them: the steps have more words between start and end
        between = {m.column: sum(not _ends(str(word)) for word in pd.unique(self.table[m.column])) for m in telling}
        most = [name for name, n in between.items() if n == max(between.values())]
        if len(most) != 1:
            return None
        kind = self.columns[most[0]].kind
        return Choice("stage", (most[0],), f"one row for each event; its values are {_KINDS[kind]}")

    def _are_cells(self, counts: list[Match]) -> bool:
        """One row per combination of the other columns: the rows are cells of a table of counts."""
        best = best_of(counts)
        if len(best) != 1 or len(self.table) > _MOST_CELLS:
            return False
        numbers = spoken().words("names", "row_numbers")
        rest = [name for name in self.table.columns if name != best[0].column and plain(str(name)) not in numbers]
        return (
            bool(rest)
            and not self.table.duplicated(rest).any()
            and max(self.table[name].nunique() for name in rest) < len(self.table)
        )

    def _status_of_events(self, role: str) -> None:
        """Columns beside the stage that say how an application ended."""
        if role in self.chosen or role in self.off:
            return
        if role == "selected":
            found = [each for column in self._free() if (each := self._weigh(column)) is not None]
            telling = [each for each in found if self._tells(each.column) and each.weight >= _ENOUGH]
            if telling:
                best_decision = max(telling, key=lambda each: each.weight)
                self.chosen[role] = Choice(role, (best_decision.column,), best_decision.why)
            return
        best = best_of(self._matches().get(role, []))
        if best:
            self._choose(role, best[0])

    def _tells(self, column: str) -> bool:
        yes = decide(self.table[column], column, self.words).selected
        return bool(yes.any() and not yes.all())

    # ---------------------------------------------------------------- how it ended

    def _decision(self) -> Decision | None:
        """The column that says who had the favourable outcome, and whether another could be it as well."""
        choice = self.chosen.get("selected")
        if choice is not None:
            column = choice.columns[0]
            if column not in self.columns:
                return None
            decided = decide(self.table[column], column, self.words, choice.test)
            selected = settled(decided, self.table[column], column, Collector()).isin(["selected", "declined"])
            self.decisions = [Decision(column, decided, selected, 9.0, "as you said", choice.test, given=True)]
            self._settle_words(self.decisions[0])
            return self.decisions[0]
        if "selected" in self.off:
            return None
        found = [each for column in self.columns.values() if (each := self._weigh(column)) is not None]
        self.decisions = found = self._weighed_together(found)
        telling = [each for each in found if each.selected.any() and not each.selected.all()]
        best = telling[0] if telling else found[0] if found else None
        if best is None:
            return None
        rivals = [
            other
            for other in telling[1:]
            if best.weight - other.weight < _CLOSE
            and not _within(best.selected, other.selected)
            and _overlap(best.selected, other.selected) < 0.98
        ]
        if best.weight < _ENOUGH:
            self.alternatives = [{"selected": each.spec} for each in telling[:3]]
            return None
        if rivals:
            self._cannot_tell([best, *rivals])
        elif len(telling) > 1 and best.weight - telling[1].weight < 2 * _CLOSE:
            self.alternatives = [{"selected": other.spec} for other in telling[1:3]]
        reason = best.why
        if best.guess:
            text = f"{best.column!r}: {best.guess!r} is taken as the favourable value, as the others are not"
            self._assume("guessed-word", text, flag("selected", best.spec))
        self.chosen["selected"] = Choice("selected", (best.column,), reason, test=best.test)
        self._settle_words(best)
        return best

    def _weigh(self, column: ColumnProfile) -> Decision | None:
        """How much speaks for a column as the decision; None if it cannot be one."""
        name = column.name
        if name in self._used() or not column.filled or not self._may_decide(column) or is_path(self.table[name]):
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
        elif column.kind in ("yes/no", "date"):
            good = spoken().meaning(label_of(name)) == "selected" or spoken().step_rank(label_of(name)) == HIRED
            weight = 1.7 if good and column.kind == "yes/no" else 1.0 if good else -0.2
            if column.kind == "yes/no" and spoken().has("names", "outcome_words", plain(name)):
                weight, why = 1.4, "its name is that of an outcome"
        if spoken().has("favourable", "not_decision", plain(name)):
            weight -= 2.0
        decided, guess = self._decided(column)
        status = settled(decided, self.table[name], name, Collector())
        selected = status.isin(["selected", "declined"])
        filled = decided.codes != ""
        unknown = float((decided.codes[filled] == "?").mean()) if filled.any() else 1.0
        if column.is_words and unknown > 0.98:
            return None
        codes = set(decided.codes[filled].unique())
        weight += 1.2 * (1 - unknown)
        if {"selected", "rejected"} <= codes:
            weight += 0.7
        elif codes <= {"selected"}:
            weight += 0.3
        if column.is_words and "selected" not in codes:
            return self._good_if_blank(column, decided, match is not None or reason is not None or bad)
        if column.is_words and column.steps >= 0.7 and not any(_is_last(word) for word in decided.meanings):
            weight -= 1.0  # stages without the last one
        if decided.staying:
            weight += 0.8
            why = "its values say who kept the job and who lost it"
        why = f"{why}; its values are {_KINDS[column.kind]}"
        return Decision(name, decided, selected, weight, why, guess=guess)

    def _decided(self, column: ColumnProfile) -> tuple[Decided, str]:
        """What a column says; where only its one unknown word can be the good one, that is taken and returned."""
        cells, name = self.table[column.name], column.name
        decided = decide(cells, name, self.words)
        codes = set(decided.meanings.values())
        if not column.is_words or len(decided.unknown) != 1 or "selected" in codes or "rejected" not in codes:
            return decided, ""
        guess = decided.unknown[0]
        return decide(cells, name, {**self.words, plain(guess): "selected"}), guess

    def _good_if_blank(self, column: ColumnProfile, decided: Decided, is_named: bool) -> Decision | None:
        """A column that only says how it went wrong: an empty cell may be the good outcome, which must be asked."""
        cells = self.table[column.name]
        said = set(decided.codes.unique())
        if not is_named or "" not in said or "rejected" not in said or (decided.codes == "?").mean() > 0.5:
            return None
        test = Test("=", "(blank)")
        good = decide(cells, column.name, self.words, test)
        return Decision(column.name, good, good.selected, 0.9, "it only says how applications failed", test)

    def _may_decide(self, column: ColumnProfile) -> bool:
        """Not a number, not protected, not about a part of the firm, not the date of the application."""
        if column.kind not in ("yes/no", "date") and not column.is_words:
            return False
        roles = sorted(by_name(column.name), key=lambda match: match.closeness)
        first = roles[0].role if roles else ""
        if is_protected(column.name) or spoken().has("names", "private", plain(column.name)):
            return False
        if column.kind == "date" and first not in ("selected",) and not is_bad(column.name):
            return False
        if first in ("segment", "prior", "score", "outcome", "capacity", "expense", "cost", "search", "person"):
            return column.statuses >= 0.8 and first in ("prior", "outcome")
        return not (first == "date" and column.kind == "date")

    def _weighed_together(self, found: list[Decision]) -> list[Decision]:
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
                elif one.decided.bad and not other.decided.bad and _within(other.selected, one.selected):
                    weight -= 1.5  # not to be rejected is less than what the other says
            codes = one.decided.codes
            # the column with the most different meanings also says who withdrew and who is still in process
            weight += 0.05 * codes[codes != "?"].nunique()
            result.append(replace(one, weight=weight))
        return sorted(result, key=lambda each: -each.weight)

    def _cannot_tell(self, rivals: list[Decision]) -> None:
        self.alternatives = [{"selected": each.spec} for each in rivals]
        names = [each.column for each in rivals]
        self.ambiguous = f"several columns could say who was selected: {listed(names)}"

    def _settle_words(self, decision: Decision) -> None:
        """Words of unknown meaning get that of the people they are said of, or a question."""
        unknown = decision.decided.unknown
        cells = self.table[decision.column]
        if not unknown:
            return
        codes = decision.decided.codes
        known = set(codes.unique())
        self.meant = {}
        for word in unknown:
            here = cells == word
            for other in self.decisions[1:]:
                told = other.decided.codes[here]
                told = told[told.isin(["selected", "rejected", "withdrawn"])]
                if (
                    other.weight >= 1.5
                    and len(told) >= 0.9 * here.sum()
                    and told.value_counts(normalize=True).iloc[0] > 0.9
                ):
                    code = str(told.mode().iloc[0])
                    self.meant[word] = code
                    self._assume("word-meaning", f"{word!r} is read as {code}, because {other.column!r} says so")
                    break
        rest = [word for word in unknown if word not in self.meant]
        if not rest:
            return
        if "rejected" not in known:
            self.meant |= dict.fromkeys(rest, "rejected")
            self._assume(
                "word-meaning",
                f"{decision.column!r}: {listed(rest, 5)} {_are(rest)} read as not selected, as other words are known",
                "say what a word means under [words] in audit.toml",
            )
            return
        share = float(cells.isin(rest).mean())
        self.meant |= dict.fromkeys(rest, "pending")
        text = f"{decision.column!r}: it is not known what {listed(rest, 5)} {'means' if len(rest) == 1 else 'mean'}"
        if share <= _FEW:
            self._assume(
                "word-meaning",
                f"{text}; counted as undecided",
                "say what a word means under [words] in audit.toml",
            )
        else:
            good = [word for word, code in decision.decided.meanings.items() if code == "selected"]
            self.collector.add(
                "unknown-word", cells.isin(rest), decision.column, cells, role="selected",
                meaning="selected, rejected, withdrawn or pending",
                more=', or what the words mean, under [words] of audit.toml: WORD = "pending"',
            )  # fmt: skip
            self.ambiguous = text
            self.alternatives = [
                {"selected": f"{decision.column}={'|'.join(good)}"},
                {"selected": f"{decision.column}={'|'.join([*good, *rest])}"},
            ]

    def _reasons(self, decision: Decision | None) -> None:
        """Columns beside the decision that say why applications ended, that candidates withdrew or are in process."""
        if "reason" in self.chosen or "reason" in self.off or (decision is not None and decision.test is not None):
            return
        vocabulary = spoken()
        telling = []
        selected = None if decision is None else decision.selected
        for column in self.columns.values():
            if column.name in self._used() or not self._may_explain(column):
                continue
            cells = self.table[column.name]
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
            self.chosen["reason"] = Choice("reason", tuple(telling), "its values say why applications ended")

    def _may_explain(self, column: ColumnProfile) -> bool:
        roles = sorted(by_name(column.name), key=lambda match: match.closeness)
        first = roles[0].role if roles else ""
        if not column.is_words or is_protected(column.name) or is_path(self.table[column.name]):
            return False
        return first not in ("segment", "search", "candidate", "prior") and not is_last_stage(self.table[column.name])

    def _later_decision(self, decision: Decision | None) -> None:
        """A column of unknown words that only those selected have says what became of them next: ask about it."""
        if decision is None or decision.given or self.ambiguous or not decision.selected.any():
            return
        for column in self._free():
            cells = self.table[column.name]
            if column.name not in self._used() and self._goes_on(column, decision):
                self.ambiguous = (
                    f"only people with {decision.column!r} = {self._name_of(decision)!r} have a yes in "
                    f"{column.name!r}: it may say who was selected in the end"
                )
                self.alternatives = [{"selected": column.name}, {"selected": decision.spec}]
                return
            if column.name in self._used() or not column.is_words or not 2 <= column.distinct <= 8:
                continue
            filled = ~cells.map(is_empty).astype(bool)
            codes = decide(cells, column.name, self.words).codes
            if (codes[filled] != "?").mean() > 0.5 or filled[~decision.selected].mean() > 0.02:
                continue
            if filled[decision.selected].mean() < 0.5 or not spoken().has("names", "outcome_words", plain(column.name)):
                continue
            self.ambiguous = (
                f"only those with {decision.column!r} = {self._name_of(decision)!r} have a value in {column.name!r}, "
                f"which may say what was decided about them in the end"
            )
            often = cells[filled].value_counts()
            self.alternatives = [{"selected": f"{column.name}={word}"} for word in _good_first(often)]
            self.alternatives.append({"selected": decision.spec})
            return

    def _goes_on(self, column: ColumnProfile, decision: Decision) -> bool:
        """Whether a flag or date without a telling name is true of some of those selected, and of nobody else."""
        name = plain(column.name)
        told = by_name(column.name) or spoken().step_rank(label_of(column.name)) is not None or is_bad(column.name)
        sure = (match := named(decision.column, "selected")) is not None and match.tier < 1
        if told or sure or column.kind not in ("yes/no", "date") or spoken().has("favourable", "not_decision", name):
            return False
        yes = self._step(column.name).reached
        chance = float(decision.selected.mean()) ** int(yes.sum())
        return bool(_within(yes, decision.selected)) and chance < _CHANCE and not (yes & ~decision.selected).any()

    def _name_of(self, decision: Decision) -> str:
        return next((word for word, code in decision.decided.meanings.items() if code == "selected"), decision.column)

    def _loose_words(self, decision: Decision | None, found: StepsInOneColumn | None) -> None:
        """Of two words for the good outcome, one whose people never got near it is not one: ask about it."""
        if decision is None or decision.given or self.ambiguous or found is None or not found.names:
            return
        cells, last = self.table[decision.column], found.reached[found.names[-1]]
        words = [word for word, code in decision.decided.meanings.items() if code == "selected"]
        near = {word: float(last[cells == word].mean()) for word in words}
        far = [word for word in words if near[word] < 0.5]
        if not far or max(near.values(), default=0.0) < 0.9 or self.chosen["stages"].columns[0] == decision.column:
            return
        sure = [word for word in words if word not in far]
        self.ambiguous = f"most people with {listed(far)} in {decision.column!r} never reached {found.names[-1]!r}"
        self.alternatives = [
            {"selected": f"{decision.column}={'|'.join(each)}"} for each in (sure, words) if len(each) <= 6
        ]

    # ---------------------------------------------------------------- steps on the way

    def _steps(self, decision: Decision | None) -> tuple[list[StepColumn], StepsInOneColumn | None, StepColumn | None]:
        """Steps as columns, or in one column; and the one inspection, where there is no more than that."""
        given, seen = self.chosen.get("stages"), self.chosen.get("inspected")
        if given is not None and not self.stageless:
            if len(given.columns) == 1 and given.columns[0] not in given.tests:
                found = self._in_one_column(given.columns[0], None)
                if found is not None:
                    return [], found, None
            steps = [self._step(name, given.tests.get(name)) for name in given.columns]
            for step in steps:
                self._unknown_cells(step, "stages")
            return steps, None, None
        if seen is not None:
            step = self._step(seen.columns[0], seen.test)
            self._unknown_cells(step, "inspected")
            return [], None, step
        if {"stages", "inspected"} & self.off:
            return [], None, None
        paths = [
            c.name
            for c in self._free()
            if c.filled and c.kind in ("category", "text", "status", "id") and is_path(self.table[c.name])
        ]
        if paths:
            self.chosen["stages"] = Choice("stages", (paths[0],), "each cell is the path of an application")
            return [], from_paths(self.table[paths[0]]), None
        steps = self._step_columns(decision)
        if len(steps) < 2 and (found := self._find_last_stage(decision)) is not None:
            return [], found, None
        if len(steps) > 1:
            names = tuple(step.column for step in steps)
            self.chosen["stages"] = Choice("stages", names, "who got further reached them before")
            return steps, None, None
        if steps:
            self.chosen["inspected"] = Choice("inspected", (steps[0].column,), "who was selected reached it before")
            return [], None, steps[0]
        return [], None, None

    def _step(self, column: str, test: Test | None = None) -> StepColumn:
        codes = step_codes(self.table[column], column, test)
        return StepColumn(column, codes, spoken().step_rank(label_of(column)), test)

    def _unknown_cells(self, step: StepColumn, role: str) -> None:
        self.collector.add(
            "unknown-word", step.codes == "?", step.column, self.table[step.column], role=role,
            meaning="that it took place or not", more="",
        )  # fmt: skip

    def _step_columns(self, decision: Decision | None) -> list[StepColumn]:
        """Columns that those who got further reached before: by name, or because chance cannot explain it."""
        selected = None if decision is None else decision.selected
        found: list[StepColumn] = []
        for column in self._free():
            step = self._may_be_step(column, decision)
            if step is None and decision is not None and column.name != decision.column:
                step = self._passed_by_those_selected(column, decision.selected)
            if step is None:
                continue
            reached = step.reached
            if not 0 < reached.sum() < len(reached):
                if reached.all() and step.rank is not None and step.rank > 0 and selected is not None:
                    text = f"{column.name!r} is true of everybody: it says nothing about who was inspected"
                    self._say("no-inspection", text)
                continue
            if selected is not None and _same(reached, selected):
                if step.rank is not None and decision is not None:
                    text = (
                        f"{column.name!r} is the same as {decision.column!r}: it says nothing about who was inspected"
                    )
                    self._say("no-inspection", text)
                continue
            if any(_same(reached, other.reached) for other in found):
                continue
            if selected is not None and not self._leads_to(step, selected):
                continue
            found.append(step)
        return self._chain(found, selected)

    def _may_be_step(self, column: ColumnProfile, decision: Decision | None) -> StepColumn | None:
        """A flag, a date, a result, or the days spent in a step."""
        name = column.name
        if decision is not None and name == decision.column:
            return None
        vocabulary = spoken()
        rank = vocabulary.step_rank(label_of(name))
        timed = vocabulary.has("values", "days", plain(name))
        if is_bad(name) or vocabulary.has("favourable", "withdrew", plain(name)):
            return None
        if vocabulary.has("favourable", "not_decision", plain(name)) and rank is None:
            return None
        step = self._step(name)
        flags = step.codes
        known = float((flags[flags != ""] != "?").mean()) if (flags != "").any() else 0.0
        if column.kind == "yes/no" or (column.kind == "date" and rank is not None):
            return step
        if column.kind == "date":
            dated = named(name, "date") is not None or named(name, "selected") is not None
            return None if dated or spoken().has("favourable", "not_decision", plain(name)) else step
        if column.kind == "number":
            blank = (self.table[name] == "").any()
            if timed and rank is not None and blank:
                return StepColumn(name, flags.replace({"no": "yes"}), rank)
            return None
        foreign = spoken().words("names", "foreign_inspected")
        if not column.is_words or known < 0.9 or set(plain(name).split()) & foreign:
            return None
        last = column.steps >= 0.5 and column.distinct > 3
        return None if last else step

    def _passed_by_those_selected(self, column: ColumnProfile, selected: pd.Series[Any]) -> StepColumn | None:
        """A step whose words are not all known: everybody selected has one word, and no other word is ever theirs."""
        word = self._word_of_those_selected(column, selected)
        if word is None:
            return None
        codes = step_codes(self.table[column.name], column.name)
        known = codes[codes != ""].isin(["passed", "failed", "yes", "no"])
        name = plain(column.name)
        hinted = spoken().has("names", "outcome_words", name) or spoken().has("names", "stage_words", name)
        hinted |= spoken().step_rank(label_of(column.name)) is not None or bool(known.mean() >= 0.2)
        if not hinted:
            return None
        self._assume(
            "step-by-people",
            f"{column.name!r} is read as a step that {word!r} passed, as everybody selected has that value",
            flag("stages", f"{column.name}={word}"),
        )
        codes = codes.where(~codes.isin(["?", "selected", "pending"]), "no").mask(
            self.table[column.name] == word, "passed"
        )
        return StepColumn(column.name, codes, spoken().step_rank(label_of(column.name)), Test("=", word))

    def _word_of_those_selected(self, column: ColumnProfile, selected: pd.Series[Any]) -> str | None:
        """The one value of those selected, where chance cannot explain that no other value is theirs."""
        if not column.is_words or column.distinct > 12 or not selected.any():
            return None
        cells = self.table[column.name]
        held = pd.unique(cells[selected])
        if len(held) != 1 or is_empty(str(held[0])):
            return None
        share = float((cells == held[0]).mean())
        means = spoken().meaning(str(held[0]))
        chance = share ** int(selected.sum())
        return str(held[0]) if chance < _CHANCE and share < 0.97 and means not in ("rejected", "withdrawn") else None

    def _leads_to(self, step: StepColumn, selected: pd.Series[Any]) -> bool:
        """Whether those selected had reached the step, more than chance would have it."""
        before = float(step.reached[selected].mean()) if selected.any() else 0.0
        match = named(step.column, "inspected")
        if match is not None and not match.loose and match.tier < 2:
            return before >= _PLAIN_NESTED or int((selected & ~step.reached).sum()) <= 2
        if step.rank is not None and 0 <= step.rank < HIRED:
            return before >= _NAMED_NESTED
        share = float(step.reached.mean())
        return before >= 0.99 and share ** int(selected.sum()) < _CHANCE and share < 0.97

    def _chain(self, found: list[StepColumn], selected: pd.Series[Any] | None) -> list[StepColumn]:
        """Steps in order, each reached by those who reached the next; what does not fit is left out and said."""
        if selected is None:
            found = [step for step in found if step.rank is not None and step.rank > 0]
        order = sorted(found, key=lambda step: -int(step.reached.sum()))
        dates = {step.column: to_dates(self.table[step.column]).values for step in order}
        if order and all(dates[step.column].notna().any() for step in order):
            order.sort(key=lambda step: sum(_before(dates[other.column], dates[step.column]) for other in order))
        kept: list[StepColumn] = []
        for step in order:
            misfits = [other for other in kept if float(other.reached[step.reached].mean()) < _NAMED_NESTED]
            if not misfits:
                kept.append(step)
                continue
            weaker = [other for other in misfits if other.rank is None and step.rank is not None]
            if len(weaker) == len(misfits):
                kept = [other for other in kept if other not in weaker] + [step]
        if selected is not None and kept and kept[-1].rank == 7:
            self._assume("check-as-step", f"{kept[-1].column!r} is read as a step before the decision")
        return kept

    def _find_last_stage(self, decision: Decision | None) -> StepsInOneColumn | None:
        """A column with the last stage that was reached, or dispositions that name a step."""
        own = None if decision is None else decision.column
        over = None
        if decision is not None:
            status = with_reasons(
                settled(decision.decided, self.table[decision.column], "", Collector()), self._reason_cells()
            )
            over = status == "rejected"
        candidates = [c for c in self.columns.values() if c.name == own or c.name not in self._used()]
        candidates.sort(key=lambda c: (c.name == own, self._stage_tier(c.name)))
        for column in candidates:
            if not column.is_words or is_protected(column.name):
                continue
            is_named = self._stage_tier(column.name) < 9
            telling = over is not None and over.any()
            mine = column.name == own
            if not (is_named or telling) or (mine and "reason" not in self.chosen and not self._all_stages(column)):
                continue
            if is_last_stage(self.table[column.name], None if mine else over):
                self.chosen["stages"] = Choice("stages", (column.name,), "its values are the last stage reached")
                return from_last_stage(self.table[column.name])
        if own is not None and decision is not None and decision.test is None and names_steps(self.table[own]):
            self.chosen["stages"] = Choice("stages", (own,), "its words say at which step applications ended")
            found = from_dispositions(self.table[own])
            if said := [word for word in found.silent if spoken().meaning(word) == "rejected"]:
                text = (
                    f"{own!r}: {listed(said, 5)} {'names' if len(said) == 1 else 'name'} no step and count as the first"
                )
                self._assume("silent-disposition", text)
            return found
        return None

    def _all_stages(self, column: ColumnProfile) -> bool:
        """Whether only those selected have an end in the column: all others are at the stage they reached."""
        words = spoken()
        codes = {words.meaning(str(word)) for word in pd.unique(self.table[column.name])}
        return not codes & {"rejected", "withdrawn"}

    def _stage_tier(self, name: str) -> int:
        match = named(name, "stage")
        selected = named(name, "selected")
        if match is not None:
            return match.tier + 3 * match.loose
        if spoken().has("names", "stage_words", plain(name)):
            return 6
        return 4 if selected is not None and selected.tier == 4 else 9

    def _in_one_column(self, column: str, over: pd.Series[Any] | None) -> StepsInOneColumn | None:
        cells = self.table[column]
        if is_path(cells):
            return from_paths(cells)
        if is_last_stage(cells, over):
            return from_last_stage(cells)
        return from_dispositions(cells) if names_steps(cells) else None

    # ---------------------------------------------------------------- what became of each application

    def _reason_cells(self) -> pd.DataFrame:
        choice = self.chosen.get("reason")
        return self.table[list(choice.columns) if choice is not None else []]

    def _status(
        self, decision: Decision | None, steps: list[StepColumn], found: StepsInOneColumn | None
    ) -> tuple[pd.Series[Any] | None, str]:
        """The status of each application, and what the favourable one is called."""
        reasons = self._reason_cells()
        if decision is not None:
            cells, column = self.table[decision.column], decision.column
            raw_codes = decision.decided.codes
            decided = decision.decided
            if self.meant and decided.unknown:
                raw_codes = raw_codes.mask(cells.isin(list(self.meant)), cells.map(self.meant))
                decided = replace(decided, codes=raw_codes)
            quiet = Collector()
            status = settled(decided, cells, column, quiet)
            blank = (raw_codes == "") & (status == "pending")
            seen = self._inspection()
            for step in steps or ([] if seen is None else [seen]):
                status = status.mask(blank & step.codes.isin(["no", "failed"]), "rejected")
            status = with_reasons(status, reasons)
            status = self._endings(status, decision)
            if found is not None and decision.test is None and not (status == "rejected").any():
                # the column only has stages: those who are not at the last one were not selected
                open_ends = (status == "pending") & (raw_codes != "")
                if open_ends.any():
                    status = status.mask(open_ends, "rejected")
                    self._say("no-rejections", "nothing says who was rejected: those not selected count as rejected")
            self.collector.add("missing-status", (raw_codes == "") & (status == "pending"), column, cells)
            own = found.selected if found is not None and decision.test is None else None
            return status, own or self._name(cells, decided, status, column)
        if found is not None and (found.final != "").any():
            open_end = "pending" if (found.final == "rejected").any() else "rejected"
            status = with_reasons(found.final.where(found.final != "", open_end), reasons)
            return status, found.selected or "selected"
        if len(steps) > 1 or (steps and "stages" in self.chosen):
            names = labels_of([step.column for step in steps])
            stages = Stages(names, tuple(step.codes.replace({"?": ""}) for step in steps))
            self._say("selected-from-stages", f"selected are those who reached the last stage, {names[-1]!r}")
            last = names[-1] + PASSED * bool((stages.codes[-1] == "failed").any())
            return with_reasons(stages.status(), reasons), last
        if found is not None:
            last = found.names[-1]
            self._say("selected-from-stages", f"selected are those who reached the last stage, {last!r}")
            status = pd.Series("rejected", index=self.table.index, dtype="str").mask(found.reached[last], "selected")
            return with_reasons(status, reasons), last
        return None, "selected"

    def _inspection(self) -> StepColumn | None:
        choice = self.chosen.get("inspected")
        return None if choice is None else self._step(choice.columns[0], choice.test)

    def _endings(self, status: pd.Series[Any], decision: Decision) -> pd.Series[Any]:
        """Dates and flags of a withdrawal or a rejection: who has neither, nor the good outcome, is in process."""
        vocabulary = spoken()
        over = None
        only_good = not decision.decided.bad and bool(decision.decided.codes.isin(["selected", ""]).all())
        for column in self.columns.values():
            if column.name == decision.column or column.kind not in ("date", "yes/no") or column.name in self._used():
                continue
            yes = step_codes(self.table[column.name], "").isin(["yes"])
            if vocabulary.has("favourable", "withdrew", plain(column.name)) and not yes.all():
                status = status.mask(yes & (status == "rejected"), "withdrawn")
                self.chosen["reason"] = self._also(column.name)
                over = yes if over is None else over | yes
            elif is_bad(column.name) and only_good and yes.any() and not (yes & decision.selected).any():
                over = yes if over is None else over | yes
                self.chosen["reason"] = self._also(column.name)
        if over is not None and only_good:
            undecided = ~over & (status == "rejected")
            if (status == "rejected").sum() > undecided.sum():
                status = status.mask(undecided, "pending")
        return status

    def _also(self, column: str) -> Choice:
        have = self.chosen.get("reason")
        names = (*(have.columns if have else ()), column)
        return Choice("reason", names, "its values say why applications ended")

    def _name(self, cells: pd.Series[Any], decided: Decided, status: pd.Series[Any], column: str) -> str:
        """What the favourable outcome is called: the commonest word for it, or the column."""
        choice = self.chosen.get("selected")
        if choice is not None and choice.test is not None:
            test = choice.test
            if test.sign == "=":
                return f"no {column}" if spoken().is_missing(test.value) else test.value
            return f"{column} {test.sign} {test.value}"
        if decided.bad:
            return _not(column)
        words = cells[status == "selected"].value_counts()
        good = [
            str(w) for w in words.index if decided.meanings.get(str(w)) == "selected" and spoken().mark(str(w)) is None
        ]
        return good[0] if good and len(plain(good[0])) > 1 else label_of(column)

    def _nothing_selected(
        self,
        decision: Decision | None,
        steps: list[StepColumn],
        found: StepsInOneColumn | None,
        seen: StepColumn | None,
    ) -> None:
        """Ask who was selected, where nothing says so."""
        if (
            decision is not None
            or len(steps) > 1
            or found is not None
            or any(p.where == "selected" for p in self.problems)
        ):
            return
        if steps and "stages" in self.chosen:
            return
        used = self._used()
        like = [name for name in self.columns if name not in used and named(name, "selected") is not None]
        like = [name for name in like if self.columns[name].kind in ("category", "status", "text", "yes/no")]
        if not like and seen is not None:
            like = [
                c.name for c in self._free() if c.kind == "yes/no" and _within(self._step(c.name).reached, seen.reached)
            ]
            self.alternatives = [{"selected": name} for name in like]
        if seen is not None and ("selected" in self.off or not like):
            text = "no column says who was selected: the audit is of who was inspected"
            self.notices.append(Notice("no-selected", text))
            return
        if self.alternatives and like and self.columns[like[0]].kind == "yes/no":
            what = f"no column is named like a selection; {listed(like)} may say it"
            self._ask("selected", what, like)
            return
        if like:
            column = self.columns[like[0]]
            examples = [value for value in column.examples if not is_personal(column.name, value)]
            values = f" ({listed(examples)}, ...)" if examples else ""
            what = f"{like[0]!r} is named like it, but its values{values} are not known to say who was selected"
            self.problems.append(
                Problem("selected", what, f"say which value counts, with {flag('selected', like[0] + '=VALUE')}")
            )
            often = self.table[like[0]].value_counts()
            self.alternatives = [{"selected": f"{like[0]}={word}"} for word in _good_first(often)]
            return
        free = [c for c in self.columns.values() if not is_protected(c.name)]
        likely = [c.name for c in free if c.name not in used and self._is_outcome(c)]
        scores = spoken().words("names", "score_words")
        scored = [c.name for c in free if c.kind == "number" and set(plain(c.name).split()) & scores]
        more = "" if likely else f"; columns: {listed([c.name for c in free])}"
        if scored and not likely:
            more = f", or, if a pass mark decided, {flag('selected', scored[-1] + '>=MARK')}{more}"
        what = "no column says who was selected (such as hired, selected, decision, final status)"
        self._ask("selected", what, likely, more)
        self.alternatives = self.alternatives or [{"selected": name} for name in likely[:3]]

    def _is_outcome(self, column: ColumnProfile) -> bool:
        return column.kind in ("yes/no", "status") and self._may_decide(column)

    # ---------------------------------------------------------------- everything else

    def _others(self) -> None:
        matches = self._matches()
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
            if role not in self.chosen and role not in self.off and role not in alone:
                self._infer(role, matches.get(role, []))

        postal = [
            name
            for role in ("prior", "segment")
            for name in self._columns(role)
            if spoken().has("names", "postal", plain(name))
        ]
        if postal:
            text = f"{listed(postal)}: postal codes can stand for race or origin, and are flagged as possible proxies"
            self._assume("postal-code", text, flag("segment", "none"))

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
            names = tuple(match.column for match in best)
            text = f"{role}: {listed(names)} could each be it, so none is used"
            self.notices.append(Notice("ambiguous-role", text, f"choose with {flag(role, names[0])}"))
        else:
            self._mention(role)

    def _mention(self, role: str) -> None:
        """A column that has the name of a role but not its values is not passed over in silence."""
        used = self._used()
        for name, column in self.columns.items():
            nearest_role = min(by_name(name), key=lambda match: match.closeness, default=None)
            if name in used or nearest_role is None or nearest_role.role != role or nearest_role.loose:
                continue
            if suits(column, role):
                continue
            kind = _KINDS.get(column.kind, "empty")
            text = f"{role}: {name!r} is named like it, but its values are {kind}"
            self.notices.append(Notice("unsuited-column", text, f"to use it anyway: {flag(role, name)}"))

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
        text = f"{listed(names)}: known for everybody, so known before the inspection"
        self.notices.append(Notice("score-known-before", text, f"if not: {flag('score', names[0])}"))

    def _looks_like(self, name: str) -> str:
        """What a column that is not used looks like: a `group`, a `step`, an `outcome`, a `score`; "" if nothing."""
        column = self.columns[name]
        vocabulary = spoken()
        if not column.filled:
            return ""
        if vocabulary.has("names", "postal", plain(name)):
            return "postal code"
        if is_protected(name) or self._kind_by_values(column):
            return "group"
        if column.kind in ("yes/no", "date") and vocabulary.step_rank(label_of(name)) is not None:
            return "step"
        weighed = self._weigh(column) if name not in self._used() else None
        if weighed is not None and weighed.weight >= 1.5 and weighed.selected.any():
            return "outcome"
        if column.is_words and column.steps >= 0.5 and column.distinct > 2:
            return "step"
        best = self.decisions[0].selected if self.decisions else None
        segment = named(name, "segment") is not None or is_personal(name, "")
        if best is not None and not segment and self._word_of_those_selected(column, best) is not None:
            return "step"
        if column.kind == "yes/no" and not vocabulary.has("favourable", "not_decision", plain(name)):
            return "step"
        if column.kind == "number" and set(plain(name).split()) & vocabulary.words("names", "score_words"):
            return "score"
        return ""

    # ---------------------------------------------------------------- helpers

    def _free(self) -> list[ColumnProfile]:
        """Columns without a role that may have one: not protected, and not about a part of the firm."""
        used = self._used()
        result = []
        for name, column in self.columns.items():
            roles = sorted(by_name(name), key=lambda match: match.closeness)
            about = roles[0].role if roles else ""
            part = about == "segment" and column.kind != "yes/no"
            if name not in used and column.filled and not is_protected(name) and not part:
                result.append(column)
        return result

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

    def _ask(self, role: str, what: str, likely: abc.Sequence[str], more: str = "") -> None:
        fix = f"say which with --map {role}=COLUMN"
        if likely:
            fix = f"say which, e.g. {flag(role, likely[0])}; most likely: {listed(likely)}"
        self.problems.append(Problem(role, what, fix + more))

    def _say(self, code: str, text: str, fix: str = "") -> None:
        self.notices.append(Notice(code, text, fix))

    def _assume(self, code: str, text: str, fix: str = "") -> None:
        """Something that a reader of the report must know, as it may be wrong."""
        self._say(code, text, fix)
        self.assumptions.append(text)
        self.doubts.append(code)


_MOST_CELLS = 5000
_RACE_LETTERS = frozenset({"w", "b", "h", "a", "i", "p", "n", "o", "m", "t", "2", "x", "u"})
"""White, Black, Hispanic, Asian, Indian, Pacific, Native, other, mixed, two or more, as applicant logs abbreviate."""
_KINDS = {
    "yes/no": "yes and no",
    "id": "ids",
    "number": "numbers",
    "date": "dates",
    "status": "words for a status",
    "category": "categories",
    "text": "text",
    "empty": "empty",
}


def _yes(flags: pd.Series[Any]) -> pd.Series[Any]:
    return pd.Series(np.where(flags, "yes", "no"), index=flags.index, dtype="str")


def _same(one: pd.Series[Any], other: pd.Series[Any]) -> bool:
    return bool((one.to_numpy() == other.to_numpy()).all())


def _within(one: pd.Series[Any], other: pd.Series[Any]) -> bool:
    """Whether (nearly) all of `one` are among the others, of whom there are more."""
    return bool(one.any() and other[one].mean() >= _NESTED and other.sum() > one.sum())


def _overlap(one: pd.Series[Any], other: pd.Series[Any]) -> float:
    either = int((one | other).sum())
    return int((one & other).sum()) / either if either else 1.0


def _before(one: pd.Series[Any], other: pd.Series[Any]) -> bool:
    return bool((one < other).sum() > (one > other).sum())


def _ends(word: str) -> bool:
    """Whether a word ends an application, begins it or says nothing: not a stage in between."""
    words = spoken()
    start = plain(word) in words.words("cells", "start") or words.is_missing(word)
    return start or words.meaning(word) in ("selected", "rejected", "withdrawn", "declined")


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
        share = 0.0
        for whole in good if 2 < len(letters) <= 5 else ():
            rest = iter(whole)
            if whole[0] == letters[0] and len(whole) > len(letters) and all(c in rest for c in letters):
                share = max(share, len(letters) / len(whole))
        return share

    return sorted(words, key=lambda word: (not negated(word), -short(word), int(often[word])))[:3]


def _is_last(word: str) -> bool:
    return spoken().step_rank(word) == HIRED


def _are(words: abc.Sized) -> str:
    return "is" if len(words) == 1 else "are"


def _not(column: str) -> str:
    """The good outcome where a column names the bad one: `Selected for RIF` -> `not selected for RIF`."""
    label = label_of(column).rstrip("?")
    first, _, rest = label.partition(" ")
    lower = first if first.isupper() and len(first) > 1 else first.lower()
    return f"not {lower} {rest}".strip()
