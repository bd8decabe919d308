"""What a worker does: read, write settings, make the report. The same functions as the commands', in this order.

This is the only module of the page that knows how a file is read and an audit is made.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from auditkit.config import Config
from auditkit.data import History, audit_toml, source
from auditkit.data.columns import ColumnProfile, describe
from auditkit.data.privacy import protect
from auditkit.data.raw_table import RawTable
from auditkit.data.read_file import read as read_cells
from auditkit.data.reading import AmbiguousReading
from auditkit.data.source import Files, paths_of, place_of
from auditkit.errors import InputError, Problem
from auditkit.model.groups import UNKNOWN
from auditkit.page.bench import Bench, Say, TaskProgress
from auditkit.page.explore import Explore, Explored, SliderRanges
from auditkit.page.reading_view import (
    NOT_USED,
    AnswerView,
    ColumnView,
    Funnel,
    GroupReached,
    MenuOption,
    QuestionView,
    ReadingView,
    StepReached,
    ValueCount,
)
from auditkit.report.time_left import TimeLeft
from auditkit.text import count, day, indefinite, plural, sentence

STAGES = {
    "fitting priors": "Learning from past scores",
    "setting the PDF": "Making the PDF",
    "best policy under": "Best policies",
    "intervals of the prices": "Intervals of the prices",
    "ex-post laws under": "How outcomes vary",
    "frontier of": "What if",
}
"""Phases of `pipeline.phases` in words, where the beginning of a sentence does not do."""
FEW = 12
"""Different values up to which a column's values are listed, and offered as favourable outcomes."""
LISTED = 6


@dataclass(frozen=True)
class Read:
    """Read a file as `auditkit check` does, and describe what came out."""

    data: Path | Files
    config: Config
    roles: Mapping[str, str] = field(default_factory=dict)
    """Column -> role as the page shows it, kept where the reading fails."""

    def __call__(self, bench: Bench, say: Say) -> ReadingView:
        say(TaskProgress("reading the file", 0.1))
        raw = _cells(bench, self.data, self.config)
        say(TaskProgress("finding out which column is what", 0.5))
        checked = source.problems_of(self.data, self.config, bench.plugins)
        errors = (*checked.errors, *checked.problems.of("refuse").lines())
        reading = None if checked.history is None else checked.history.reading
        question = None
        if reading is None or reading.question:
            say(TaskProgress("trying other readings", 0.7))
            question = _question(self.data, self.config, bench)
        if question is not None:
            errors = ()  # the question says it better
        elif reading is not None and reading.refusal:
            errors = (*errors, Problem("", reading.refusal))
        view = _view(raw, bench.profiles, checked.history, errors, self.roles, self.config.report.suppress_below)
        profiles = tuple(MenuOption(name, one.title) for name, one in bench.plugins.profiles.items())
        return replace(view, profiles=profiles, questions=() if question is None else (question,))


def _question(data: Path | Files, config: Config, bench: Bench) -> QuestionView | None:
    """What must be asked about a file, each answer with the funnel that it gives; None if nothing must."""
    try:
        source.read(data, config, bench.plugins)
    except AmbiguousReading as error:
        found = error.question
        options = tuple(AnswerView(_in_words(one.mapping), one.shown, dict(one.mapping)) for one in found.answers)
        return QuestionView(found.text, options)
    except InputError:
        pass
    return None


def _in_words(mapping: Mapping[str, str | list[str]]) -> str:
    parts = [(role, given if isinstance(given, str) else ", ".join(given)) for role, given in mapping.items()]
    return "; ".join(text if role == "selected" else f"{role}: {text}" for role, text in parts)


def _cells(bench: Bench, data: Path | Files, config: Config) -> RawTable:
    paths = paths_of(data)
    key = paths, config.sheet, [path.stat().st_mtime_ns for path in paths]
    if bench.raw is None or bench.key != key:
        bench.raw = read_cells(
            paths if len(paths) > 1 else paths[0],
            sheet=config.sheet,
            readers=bench.plugins.readers.values(),
            on_fault=bench.plugins.leave_out,
        )
        bench.profiles = tuple(describe(str(name), bench.raw.table[name]) for name in bench.raw.table.columns)
        bench.key = key
    return bench.raw


def _view(
    raw: RawTable,
    profiles: tuple[ColumnProfile, ...],
    history: History | None,
    errors: tuple[Problem, ...],
    before: Mapping[str, str],
    threshold: int,
) -> ReadingView:
    columns = _columns(raw, profiles, history, before)
    roles = {column.name: column.role for column in columns}
    favourable, chosen = _favourable(raw, profiles, roles, history)
    facts = _facts(raw, history, threshold) if history is not None else ((), (), ())
    counted, funnels, notes = facts
    problems = () if history is None else tuple(p for p in history.problems.lines() if p not in errors)
    return ReadingView(
        rows=len(raw.table),
        columns=columns,
        favourable=favourable,
        chosen_favourable=chosen,
        summary=_summary(history),
        counted=counted,
        funnels=funnels,
        problems=problems,
        errors=errors,
        notes=notes,
        attributes=() if history is None else history.attributes,
        has_score=history is not None and history.has("score"),
        has_cost=history is not None and history.has("cost"),
    )


def _columns(
    raw: RawTable, profiles: tuple[ColumnProfile, ...], history: History | None, before: Mapping[str, str]
) -> tuple[ColumnView, ...]:
    roles: dict[str, tuple[str, str]] = {}
    if history is not None:
        for choice in history.mapping.choices:
            roles |= dict.fromkeys(choice.columns, (choice.role, choice.reason))
    else:
        roles = {name: (role, "") for name, role in before.items()}
    reading = None if history is None else history.reading
    looks = {} if reading is None else {one.column: one.looks_like for one in reading.unused if one.looks_like}
    return tuple(
        replace(
            _column(raw, profile, *roles.get(profile.name, (NOT_USED, ""))), note=_hint(looks.get(profile.name, ""))
        )
        for profile in profiles
    )


def _summary(history: History | None) -> str:
    """How the file is read, in one sentence."""
    if history is None or history.reading is None:
        return ""
    good = history.reading.favourable
    return f"One row per {history.reading.row}; favourable: {good.text}, {count(good.count)} of {count(good.of)}."


def _hint(looks_like: str) -> str:
    if not looks_like:
        return ""
    proxy = " It may stand in for a group." if looks_like == "postal code" else ""
    return f"looks like {indefinite(looks_like)} and is not used.{proxy}"


def _column(raw: RawTable, profile: ColumnProfile, role: str, reason: str) -> ColumnView:
    values: tuple[ValueCount, ...] = ()
    if profile.distinct <= FEW:
        counted = raw.table[profile.name].value_counts()
        values = tuple(ValueCount(str(text) or "empty", int(rows)) for text, rows in counted.items())[:LISTED]
    between = ""
    if profile.kind == "number" and profile.distinct > FEW:
        between = f"{profile.low:g} to {profile.high:g}"
    return ColumnView(profile.name, role, reason, profile.kind, profile.filled, profile.distinct, values, between)


def _favourable(
    raw: RawTable,
    profiles: tuple[ColumnProfile, ...],
    roles: Mapping[str, str],
    history: History | None,
) -> tuple[tuple[MenuOption, ...], str]:
    """The outcomes that may count as favourable: as the file was read, or a value of a column."""
    options = []
    chosen = ""
    selected = None if history is None else history.mapping.choice("selected")
    if selected is not None and selected.test is not None:
        chosen = f"{selected.columns[0]}{selected.test.sign}{selected.test.value}"
    elif history is not None and history.reading is not None:
        good = history.reading.favourable
        options.append(MenuOption("", f"{sentence(good.text)}, as read ({count(good.count)} of {count(good.of)})"))
    else:
        options.append(MenuOption("", "choose"))
    for profile in profiles:
        role = roles.get(profile.name, NOT_USED)
        few = 2 <= profile.distinct <= FEW and profile.kind in ("yes/no", "status", "category")
        if few and role in (NOT_USED, "selected", "inspected", "stage", "stages", "outcome"):
            for text, rows in raw.table[profile.name].value_counts().items():
                if text:
                    shown = f"{profile.name} = {text} ({count(int(rows))})"
                    options.append(MenuOption(f"{profile.name}={text}", shown))
    if chosen and all(option.value != chosen for option in options):
        options.insert(0, MenuOption(chosen, chosen))
    return tuple(options), chosen


def _facts(
    raw: RawTable, history: History, threshold: int
) -> tuple[tuple[str, ...], tuple[Funnel, ...], tuple[str, ...]]:
    """Who is counted, the funnel of each attribute, and what is worth knowing."""
    shown = protect(history, threshold).history
    table = shown.table[shown.decided]
    searches = history.table["search"].nunique()
    counted = [f"{plural(len(history.table), 'application')} in {plural(len(raw.table), 'row')}"]
    if searches > 1:
        counted.append(plural(searches, "requisition"))
    if history.has("date") and history.table["date"].notna().any():
        dates = history.table["date"].dropna()
        counted.append(f"{day(dates.min().isoformat())} to {day(dates.max().isoformat())}")
    if undecided := int((~history.decided).sum()):
        counted.append(f"{count(undecided)} withdrawn or still pending, in no rate")
    counted += [
        f"{plural(number, 'row')} left out ({code.replace('-', ' ')})"
        for code, number in history.counts.left.items()
        if number
    ]
    funnels = []
    for attribute in history.attributes:
        groups = table[f"group:{attribute}"]
        known = groups != UNKNOWN
        names = list(groups[known].value_counts().index)
        steps = [StepReached("Applied", tuple(_reached(name, groups == name, None) for name in names))]
        for step in history.steps:
            reached = table[f"step:{step}"]
            steps.append(StepReached(step, tuple(_reached(name, groups == name, reached) for name in names)))
        funnels.append(Funnel(attribute, tuple(steps), int(history.decided.sum()) - int(known.sum())))
    assumed = () if history.reading is None else history.reading.assumptions
    notes = dict.fromkeys([*assumed, *(notice.text for notice in history.notices)])
    return tuple(counted), tuple(funnels), tuple(notes)


def _reached(name: str, members: pd.Series[bool], reached: pd.Series[bool] | None) -> GroupReached:
    there = members if reached is None else members & reached.fillna(False).astype(bool)
    return GroupReached(name, int(there.sum()), int(members.sum()))


@dataclass(frozen=True)
class WriteSettings:
    """The text of audit.toml, as `auditkit init` writes it."""

    data: Path | Files
    config: Config

    def __call__(self, bench: Bench, say: Say) -> str:
        history = source.read(self.data, self.config, bench.plugins)
        names = [Path(path.name) for path in paths_of(self.data)]
        return audit_toml.write(source.named_in(self.config, place_of(names)), history, Path())


@dataclass(frozen=True)
class Made:
    """A finished report: the formats that were written to `stem`.FORMAT, and what was left out and why."""

    stem: Path
    formats: tuple[str, ...]
    warnings: tuple[str, ...]
    seconds: float
    ranges: SliderRanges | None = None
    """Of the sliders; None where the data support no model."""

    def file(self, ending: str) -> Path:
        return self.stem.with_name(f"{self.stem.name}.{ending}")


@dataclass(frozen=True)
class MakeReport:
    """What `auditkit report` does, into a folder of the page's."""

    data: Path | Files
    config: Config
    stem: Path

    def __call__(self, bench: Bench, say: Say) -> Made:
        say(TaskProgress("loading the solver", 0.0))
        from auditkit import pipeline
        from auditkit.page.explorer import Explorer

        begun = time.monotonic()
        phases = pipeline.phases(self.config)
        stages = tuple(STAGES.get(phase, sentence(phase)) for phase in phases)
        time_left = TimeLeft(phases)
        at = -1

        def progress(text: str) -> None:
            nonlocal at
            at = max(at, next((i for i, phase in enumerate(phases) if text.startswith(phase)), at))
            now = time.monotonic()
            time_left.begin(text, now)
            say(TaskProgress(text, 0.0, time_left.estimate, time_left.spent(now), stages, at))

        audit = pipeline.audit(self.data, self.config, bench.plugins, progress, counted=time_left.counted)
        written = pipeline.write(audit, self.stem, progress)
        if not written.files:
            raise InputError(Problem("", "; ".join(written.not_written) or "nothing was written"))
        formats = tuple(path.name.removeprefix(f"{self.stem.name}.") for path in written.files)
        bench.explorer = ranges = None
        if audit.fitted is not None:
            shown = protect(audit.history, self.config.report.suppress_below)
            scale = audit.fitted.settings.value_scale
            fits = {scale: audit.fitted}
            bench.explorer = explorer = Explorer(shown, self.config, bench.plugins, scale, fits)
            ranges = explorer.ranges
        seconds = time.monotonic() - begun
        return Made(self.stem, formats, tuple(written.not_written), seconds, ranges)


@dataclass(frozen=True)
class AskSliders:
    """The exact optimum where the sliders are."""

    asked: Explore

    def __call__(self, bench: Bench, say: Say) -> Explored:
        from auditkit.page.explorer import Explorer

        if not isinstance(bench.explorer, Explorer):
            raise InputError(Problem("", "the model of this report is no longer in memory", "make the report again"))
        return bench.explorer.answer(self.asked)
