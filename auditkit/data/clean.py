"""A table of text and a mapping become a `History`, in one pass that collects every problem.

Order matters: rows that are no applications leave first, then ids, groups and statuses are read, then what follows
from several columns together (inspected, capacity, stages), and last a row that stands for several is repeated.
"""

from __future__ import annotations

from collections import abc
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.attributes import crossed, default_crossing, read_attribute
from auditkit.data.columns import characteristic_of, describe, is_protected
from auditkit.data.costs import read_capacity, read_costs
from auditkit.data.dates import to_dates
from auditkit.data.firm_history import ALL, History
from auditkit.data.group_probabilities import read_membership
from auditkit.data.hypothesis import Interpretation
from auditkit.data.numbers import clean_ids, decimal_mark
from auditkit.data.problems import Collector, Notice, RowCounts
from auditkit.data.reading import reading_of
from auditkit.data.remembered import Seen, new_columns
from auditkit.data.stages import PASSED, reach_and_pass, reached_steps, stage_of_scores
from auditkit.data.statuses import Words, took_place
from auditkit.data.steps import label_of
from auditkit.data.unit_capacities import Limited, read_unit_capacities
from auditkit.data.values import NumberReader, is_blank, read_dates, read_ids
from auditkit.data.vocabulary import plain, spoken
from auditkit.data.what_became_of_each import is_offer
from auditkit.errors import InputError, Problem
from auditkit.model.groups import UNKNOWN

MOST_APPLICATIONS = 20_000_000
_FEW_AGAIN, _MOST_AGAIN = 10, 0.2
"""Rows, and share of them, that may be second applications to the same job; more are events, or something else."""


@dataclass(frozen=True)
class CleaningOptions:
    """What the user adds: a cost (one, or one per stage), capacities of searches and units, the meaning of words."""

    cost: float | abc.Mapping[str, float] | None = None
    capacity: int | None = None
    words: Words | None = None
    limits: Limited = field(default_factory=dict)
    favourable: str | None = None
    seen: Seen = field(default_factory=dict)


def clean(
    plan: Interpretation, options: CleaningOptions, collector: Collector, left: dict[str, int] | None = None
) -> History:
    """The history of a table; its problems are in it, not raised. `collector` and `left` come from `set_aside`."""
    return _Cleaning(plan, options, collector, left or {}).history()


class _Cleaning:
    """The state of one pass: the cells still in, the columns already clean, the problems and notices so far."""

    def __init__(
        self, plan: Interpretation, options: CleaningOptions, collector: Collector, left: dict[str, int]
    ) -> None:
        self.plan, self.raw, self.options = plan, plan.raw, options
        self.collector, self.left = collector, left
        self.notices = [*plan.raw.notices, *plan.notices]
        sampled = (pd.unique(plan.raw.table[name])[:1000] for name in plan.raw.table.columns)
        self.numbers = NumberReader(collector, decimal_mark(sampled), plan.raw.source.separator)
        self.cells = plan.cells
        self.roles = plan.roles
        self.clean: dict[str, pd.Series[Any]] = {}
        self.stages, self.score_stage = plan.stages, plan.score_stage
        self.weight: Any = 1
        self.crossings: tuple[tuple[str, ...], ...] = ()
        self.later: pd.Series[Any] | None = None

    def history(self) -> History:
        rows_used = self.raw.source.rows - sum(self.left.values())
        if self.plan.row != "event":
            rows_used -= self._ids()
        self._who()
        status = self._status()
        self._score_and_inspected(status)
        if self.stages is not None:
            reached = reach_and_pass(self.stages, status, self.collector)
            self.clean |= {str(name): reached[name] for name in reached}
            self._score_of_stage(reached)
        steps = self._steps(status)
        self.clean |= {f"step:{name}": flags for name, flags in steps.items()}
        self._money()
        self._weigh()
        cells, column = self._cells("capacity")
        hired = (status == "selected") * self.weight
        capacity = read_capacity(
            cells,
            column,
            self.clean["search"],
            hired,
            self.options.capacity,
            self.numbers,
            self.collector,
            self.notices,
        )
        if capacity is not None:
            self.clean["capacity"] = capacity
        self.clean |= read_unit_capacities(
            self.cells,
            {name: self.clean[f"segment:{name}"] for name in self.roles.columns("unit")},
            self.roles.columns("unit_capacity"),
            self.options.limits,
            self.clean["search"],
            self.numbers,
            self.collector,
            self.notices,
        )
        table = pd.DataFrame(self.clean, index=self.cells.index)
        table.insert(0, "row", self.cells.index.to_numpy())
        table = self._repeat(table).reset_index(drop=True)
        self._say_what_is_missing(table)
        counts = RowCounts(
            rows_read=self.raw.source.rows,
            rows_used=rows_used,
            left=self.left,
            applications=len(table),
            outcomes=_outcomes(table),
            groups={str(group): int(n) for group, n in table["group"].value_counts().sort_index().items()},
        )
        attributes = self.roles.columns("group")
        names = self.stages.names if self.stages is not None else ()
        return History(
            table,
            names,
            self.score_stage,
            self.plan.mapping,
            self.collector.problems(),
            counts,
            self.raw.source,
            tuple(self.notices),
            attributes=attributes,
            crossings=self.crossings,
            characteristics=self._characteristics,
            segments=self._segments,
            units=self.roles.columns("unit"),
            steps=tuple(steps),
            tool_scores=_tool_scores(table),
            reading=reading_of(self._with_ages(), table, tuple(steps), attributes),
        )

    def _with_ages(self) -> Interpretation:
        """The plan with what was assumed of ages and answers, which only the cells tell, and with new columns."""
        told = ("age-date", "no-answer")
        ages = [n.text for n in self.notices if n.code in told or "so all are unknown" in n.text]
        new = new_columns(self.options.seen, self.plan.looks, self.plan.assumptions) if self.options.seen else ()
        return replace(self.plan, assumptions=(*self.plan.assumptions, *ages, *new))

    @property
    def _characteristics(self) -> dict[str, str]:
        choice = self.roles.choice("group")
        assert choice is not None, "a reading asks for a group"
        return {name: choice.characteristics.get(name, "other") for name in choice.columns}

    @property
    def _segments(self) -> tuple[str, ...]:
        """Parts of the firm that results are compared in; units are such parts too."""
        return tuple(dict.fromkeys([*self.roles.columns("segment"), *self.roles.columns("unit")]))

    def _cells(self, role: str) -> tuple[pd.Series[Any], str] | tuple[None, None]:
        column = self.roles.column(role)
        return (None, None) if column is None else (self.cells[column], column)

    def _ids(self) -> int:
        """Repeated rows leave; how many did."""
        cells, column = self._cells("candidate")
        if cells is None or column is None:
            return 0
        search, _ = self._cells("search")
        key = pd.DataFrame({"c": clean_ids(cells), "s": "" if search is None else clean_ids(search)})
        again = key.duplicated() & (key["c"] != "")
        if not again.any():
            return 0
        numbers = spoken().words("names", "row_numbers")
        telling = [name for name in self.cells.columns if plain(str(name)) not in numbers]
        repeated = again & self.cells.duplicated(telling)
        days, day = self._cells("date")
        if days is not None and day is not None:
            key["d"] = to_dates(days).values
            later = again & ~repeated & key["d"].notna() & ~key.duplicated()
            few = int(later.sum()) <= max(_FEW_AGAIN, _MOST_AGAIN * len(later))
            if later.any() and few and not (again & ~repeated & ~later).any():
                self.later, again = later, again & ~later
                text = f"{int(later.sum()):,} candidates applied again to the same search, on another day: each counts"
                self._say("applied-again", text)
        instead = self._unique_column(column) if (again & ~repeated).any() else ""
        self.collector.add("duplicate-candidate", again & ~repeated, column, cells, instead=instead)
        self.collector.add("repeated-row", repeated, column, cells)
        if repeated.any():
            self.left["repeated-row"] = int(repeated.sum())
            kept = ~repeated.to_numpy()
            self.cells, self.plan = self.cells[kept], self.plan.only(kept)
            self.stages = self.plan.stages
        return int(repeated.sum())

    def _unique_column(self, column: str) -> str:
        """The column that would do as the key, never a protected one."""
        for name in map(str, self.cells.columns):
            cells = self.cells[name]
            if (
                name == column
                or plain(name) in spoken().words("names", "row_numbers")
                or is_protected(name)
                or not cells.is_unique
            ):
                continue
            profile = describe(name, cells)
            if profile.filled == profile.rows and profile.dates < 0.5 and (profile.whole or profile.numbers < 1):
                return f'; {name!r} differs in every row: --map "candidate={name}"'
        return ""

    def _who(self) -> None:
        cells, column = self._cells("candidate")
        ids = read_ids(cells, self.cells.index, column, self.collector)
        if self.later is not None:
            self.clean["person"] = ids
            times = ids.groupby([ids, self.later.reindex(ids.index)]).cumcount() + 2
            ids = ids.where(~self.later.reindex(ids.index), ids + " (" + times.astype("str") + ")")
        self.clean["candidate"] = ids
        search, column = self._cells("search")
        if search is None or column is None:
            self.clean["search"] = pd.Series(ALL, index=self.cells.index, dtype="str")
        else:
            missing = is_blank(search)
            self.collector.add("missing-search", missing, column, search)
            self.clean["search"] = clean_ids(search).where(~missing, UNKNOWN)
        cells, column = self._cells("person")
        if cells is not None and self.later is None:
            self.clean["person"] = clean_ids(cells).where(cells != "", self.clean["candidate"])
        self._groups()
        for name in self._segments:
            cells = self.cells[name]
            self.clean[f"segment:{name}"] = cells.where(~is_blank(cells), UNKNOWN)

    def _groups(self) -> None:
        """Each attribute, and the crossing that stages of the audit use which know only one."""
        choice = self.roles.choice("group")
        assert choice is not None, "role inference asks for a group"
        cells, column = self._cells("date")
        applied = pd.Series(pd.NaT, index=self.cells.index)
        if cells is not None and column is not None:
            applied = read_dates(cells, column, Collector(), "date", self.cells)
        names = choice.columns
        if applied.isna().all() and "age" in self._characteristics.values():
            applied = self._some_date(applied)
        parts, bands = {}, {}
        for name in names:
            parts[name], bands[name] = read_attribute(
                self.cells[name], name, self._characteristics[name], applied, self.collector, self.notices
            )
        usual = None if self.raw.separate else default_crossing(self._characteristics)
        self.crossings = tuple(dict.fromkeys([*([usual] if usual else ()), *choice.crossings]))
        several = choice.crossings[0] if choice.crossings else usual
        if choice.given and several is None and len(names) == 2:
            several = names
        self.clean["group"] = crossed([parts[name] for name in several or names[:1]])
        if several:
            self._say(
                "group-crossed",
                f"groups are compared by each attribute, and by {' crossed with '.join(map(repr, several))}",
            )
        self.clean |= {f"group:{name}": part for name, part in parts.items()}
        self.clean |= {f"band:{name}": band for name, band in bands.items() if band is not None}

    def _some_date(self, applied: pd.Series[Any]) -> pd.Series[Any]:
        """The latest date of the file, for ages where nothing says when somebody applied; never a birthday."""
        latest: list[tuple[bool, pd.Timestamp, str]] = []
        for name in map(str, self.cells.columns):
            if describe(name, self.cells[name]).content == "date" and characteristic_of(name) != "age":
                dates = read_dates(self.cells[name], name, Collector(), "date", self.cells)
                began = bool(set(plain(name).split()) & {"hire", "start"})  # only if there is nothing better
                if dates.notna().any():
                    latest.append((not began, dates.max(), name))
        above = [title for title in self.raw.titles if spoken().has("within", "as_of", title)]
        headers = pd.Series([*map(str, self.cells.columns), *above], dtype="str")
        days = to_dates(headers.str.extract(r"(\d{1,4}[./-]\d{1,2}[./-]\d{2,4})")[0].fillna("").astype("str")).values
        if days.notna().sum() == 1:  # `Situation au 31/12/2025`
            day, name = days.max(), str(headers[days.notna()].iloc[0])
            self._say("age-date", f"ages are those on {day:%Y-%m-%d}, as {name!r} says", "--map date=COLUMN")
            return pd.Series(day, index=applied.index)
        if not latest:
            return applied
        _, day, name = max(latest)
        self._say("age-date", f"ages are those on {day:%Y-%m-%d}, the latest date in {name!r}", "--map date=COLUMN")
        return pd.Series(day, index=applied.index)

    def _steps(self, status: pd.Series[Any]) -> dict[str, pd.Series[Any]]:
        """Steps in order, the selection last, as far as the data know them."""
        found: dict[str, pd.Series[Any]] = {}
        names = self.stages.names if self.stages is not None else ()
        unfinished = status.isin(["withdrawn", "pending"])
        passed: pd.Series[Any] | None = None
        for name, codes in zip(names, self.stages.codes if self.stages is not None else (), strict=True):
            reached = self.clean[f"stage:{name}"]
            # after a result the next step is the same as having passed, but for those who stayed away from it
            if passed is None or not (unfinished | (reached.fillna(False) == passed.fillna(False))).all():
                found[name] = reached
            passed = None
            if (codes == "failed").any():  # a result: to have passed is a step too
                passed = self.clean[f"passed:{name}"].fillna(False).astype(bool).astype("boolean")
                found[f"{name}{PASSED}"] = passed = passed.where(reached.notna())
        inspected = self.roles.choice("inspected")
        if not found and inspected is not None and self.plan.inspected is not None:
            name = label_of(inspected.columns[0])
            found[name] = self.clean["inspected"]
            if (self.plan.inspected == "failed").any():
                found[f"{name}{PASSED}"] = (
                    self.plan.inspected.isin(["yes", "passed", "declined"]) | self.clean["selected"]
                )
        if "selected" in self.clean:
            found.pop(self.plan.selected_name, None)
            declined = self.clean["declined"] & self.plan.offers
            if self.plan.offers and not any(is_offer(step) for step in found):
                found["Offer"] = self.clean["selected"]
            found[self.plan.selected_name] = self.clean["selected"] & ~declined
            unfinished = unfinished | declined
        return reached_steps(found, unfinished)

    def _status(self) -> pd.Series[Any]:
        status = self.plan.status
        if status is None:
            for flag in ("declined", "withdrawn", "pending"):
                self.clean[flag] = pd.Series(False, index=self.cells.index)
            return pd.Series("", index=self.cells.index, dtype="str")
        self.clean["selected"] = status.isin(["selected", "declined"])
        self.clean["status"] = status
        for flag in ("declined", "withdrawn", "pending"):
            self.clean[flag] = status == flag
        return status

    def _score_and_inspected(self, status: pd.Series[Any]) -> None:
        score = None
        cells, column = self._cells("score")
        if cells is not None and column is not None:
            score = self.numbers.read(cells, column)
            if set(plain(column).split()) & spoken().words("names", "rank"):
                score = score.max() + 1 - score
                self._say("rank-reversed", f"{column!r} is a rank: the best rank is the highest score")
        selected = status.isin(["selected", "declined"])
        choice = self.roles.choice("inspected")
        if choice is not None and self.plan.inspected is not None:
            name = choice.columns[0]
            inspected = took_place(self.plan.inspected)
            self.collector.add("selected-not-inspected", selected & ~inspected, name, self.cells[name])
        elif self.stages is not None:
            inspected = self.stages.first_reached
            for codes in self.stages.codes[1:]:
                inspected = inspected | took_place(codes)
            self._say("inspected-derived", f"inspected are those who reached {self.stages.names[0]!r} or a later stage")
        elif score is not None:
            inspected = score.notna()
            self._say(
                "inspected-derived",
                "no column says who was inspected: those with a score, and those selected, count as inspected",
            )
        else:
            inspected = selected
            self._say(
                "inspected-derived", "no column says who was inspected: only those selected are known to have been"
            )
        inspected = inspected | selected
        self.clean["inspected"] = inspected
        if score is not None and cells is not None and column is not None:
            self.collector.add("score-without-inspection", score.notna() & ~inspected, column, cells)
            self.clean["score"] = score.where(inspected)
            if self.stages is None:
                self.collector.add("inspected-without-score", is_blank(cells) & inspected, column, cells)

    def _score_of_stage(self, reached: pd.DataFrame) -> None:
        """The stage that shows the score: only those who reached it can lack one."""
        cells, column = self._cells("score")
        if cells is None or column is None or self.stages is None:
            return
        score = self.clean["score"]
        self.score_stage = self.score_stage or stage_of_scores(reached, self.stages.names, score.notna())
        if self.score_stage is None:
            self._say(
                "score-stage", "no stage was reached by everybody who has a score: the first stage counts as its place"
            )
            self.score_stage = self.stages.names[0]
        there = reached[f"stage:{self.score_stage}"].fillna(False).astype(bool)
        self.collector.add("inspected-without-score", there & is_blank(cells), column, cells)

    def _money(self) -> None:
        for name in self.roles.columns("prior"):
            self.clean[f"prior:{name}"] = self.numbers.prior(self.cells[name], name)
        names = self.stages.names if self.stages is not None else ()
        columns = self.roles.columns("cost")
        self.clean |= read_costs(self.cells, columns, names, self.options.cost, self.numbers, self.collector)
        cells, column = self._cells("outcome")
        if cells is not None and column is not None:
            self.clean["outcome"] = self.numbers.read(cells, column)
        self.clean |= read_membership(self.cells, self.roles.columns("membership"), self.numbers)
        for name in self.roles.columns("expense"):
            self.clean[f"expense:{name}"] = self.numbers.read(self.cells[name], name)
        cells, column = self._cells("date")
        if cells is not None and column is not None:
            self.clean["date"] = read_dates(cells, column, self.collector, "date", self.cells)

    def _weigh(self) -> None:
        cells, column = self._cells("count")
        if cells is not None and column is not None:
            weight = self.numbers.whole(cells, column, "bad-count", required=True)
            self.weight = weight.fillna(0).astype("int64")

    def _repeat(self, table: pd.DataFrame) -> pd.DataFrame:
        column = self.roles.column("count")
        if column is None:
            return table
        weight = self.weight.to_numpy()
        total = int(weight.sum())
        if not 0 < total <= MOST_APPLICATIONS:
            limit = f"at most {MOST_APPLICATIONS:,} can be read" if total else "there are none"
            raise InputError(Problem(f"column {column!r}", f"the counts sum to {total:,} applications; {limit}"))
        self._say("counts", f"{column!r} counts applications: {len(table)} rows stand for {total:,} applications")
        table = table.iloc[np.repeat(np.arange(len(table)), weight)].copy()
        each = table.groupby("row").cumcount() + 1
        table["candidate"] = (table["candidate"] + " #" + each.astype("str")).astype("str")
        return table

    def _say(self, code: str, text: str, fix: str = "") -> None:
        self.notices.append(Notice(code, text, fix))

    def _say_what_is_missing(self, table: pd.DataFrame) -> None:
        lacks = {
            "score": (
                "no-score",
                "no score: nothing can be fitted, only the disparities are audited",
                "--map score=COLUMN",
            ),
            "cost": ("no-cost", "no cost of an inspection", "give one with --cost, or --map cost=COLUMN"),
            "capacity": (
                "no-capacity",
                "no capacity: the number selected in each search serves",
                "--capacity or --map capacity=COLUMN",
            ),
        }
        for column, (code, text, fix) in lacks.items():
            if column not in table:
                self._say(code, text, fix)
        if self.roles.column("search") is None:
            self._say("no-search", "no column of requisitions: all applications are one search", "--map search=COLUMN")
        if self.roles.column("candidate") is None:
            self._say("no-candidate", "no candidate ids: repeated candidates cannot be seen", "--map candidate=COLUMN")
        known = set(table["group"].unique()) - {UNKNOWN}
        if len(known) < 2:
            self._say("one-group", "fewer than two known groups: there is nothing to compare")
        declined = "which count as selected because the firm chose"
        if self.plan.offers:
            declined = "in the rates of the steps up to the offer and in none after"
        for flag, text in (
            ("withdrawn", "withdrawn applications, in the rates of the steps that they reached and in none after"),
            ("pending", "undecided applications, in the rates of the steps that they reached and in none after"),
            ("declined", "offers declined, " + declined),
        ):
            if n := int(table[flag].sum()):
                self._say(flag, f"{text}: {n:,}")


def _tool_scores(table: pd.DataFrame) -> tuple[str, ...]:
    """Columns of numbers known for everybody whose names are those of scores."""
    return tuple(
        str(name)
        for name in table.columns
        if str(name).startswith("prior:")
        and pd.api.types.is_numeric_dtype(table[name])
        and table[name].notna().all()
        and set(plain(str(name).removeprefix("prior:")).split()) & spoken().words("names", "score_words")
    )


def _outcomes(table: pd.DataFrame) -> dict[str, int]:
    if "status" in table:
        return {str(status): int(n) for status, n in table["status"].value_counts().sort_index().items()}
    return {"inspected": int(table["inspected"].sum()), "not inspected": int((~table["inspected"]).sum())}
