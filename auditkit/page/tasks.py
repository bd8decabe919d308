"""A worker's tasks, done with the commands' functions: read, write settings, make the report, answer the sliders."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from auditkit.config import Config
from auditkit.data import audit_toml, source
from auditkit.data.columns import describe
from auditkit.data.privacy import protect
from auditkit.data.raw_table import RawTable
from auditkit.data.read_file import read as read_cells
from auditkit.data.reading import AmbiguousReading
from auditkit.data.source import Files, paths_of, place_of
from auditkit.errors import InputError, Problem
from auditkit.page.bench import Bench, Say, TaskProgress
from auditkit.page.describe_reading import described
from auditkit.page.explore import Explore, Explored, SliderRanges
from auditkit.page.reading_view import (
    AnswerView,
    MenuOption,
    QuestionView,
    ReadingView,
)
from auditkit.report.time_left import TimeLeft
from auditkit.text import sentence

STAGES = {
    "fitting priors": "Learning from past scores",
    "setting the PDF": "Making the PDF",
    "best policy under": "Best policies",
    "intervals of the prices": "Intervals of the prices",
    "ex-post laws under": "How outcomes vary",
    "frontier of": "What if",
}
"""Phases of `pipeline.phases` in words, if their own name won't do."""


@dataclass(frozen=True)
class Read:
    """Read a file as `auditkit check` does, and describe what came out."""

    data: Path | Files
    config: Config
    roles: Mapping[str, str] = field(default_factory=dict)
    """Column -> role as the page shows it, kept if the reading fails."""

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
        view = described(raw, bench.profiles, checked.history, errors, self.roles, self.config.report.suppress_below)
        profiles = tuple(MenuOption(name, one.title) for name, one in bench.plugins.profiles.items())
        if question is not None:  # nothing is counted on a guess
            view = replace(view, questions=(question,), summary="", funnels=())
        return replace(view, profiles=profiles)


def _question(data: Path | Files, config: Config, bench: Bench) -> QuestionView | None:
    """The question to ask about a file, each answer with its funnel; None if nothing needs asking."""
    try:
        source.read(data, config, bench.plugins)
    except AmbiguousReading as error:
        found = error.question
        options = tuple(
            AnswerView(_in_words(one.mapping), one.shown.replace("->", "→"), dict(one.mapping)) for one in found.answers
        )
        return QuestionView(found.text if found.text.endswith("?") else f"{found.text}. Which is right?", options)
    except InputError:
        pass
    return None


def _in_words(mapping: Mapping[str, str | list[str]]) -> str:
    parts = [(role, given if isinstance(given, str) else ", ".join(given)) for role, given in mapping.items()]
    return "; ".join(text.replace("=", " = ", 1) if role == "selected" else f"{role}: {text}" for role, text in parts)


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
    """A finished report: the formats written to `stem`.FORMAT, and what was left out and why."""

    stem: Path
    formats: tuple[str, ...]
    warnings: tuple[str, ...]
    seconds: float
    ranges: SliderRanges | None = None
    """The ranges of the sliders; None if the data don't support a model."""

    def file(self, ending: str) -> Path:
        return self.stem.with_name(f"{self.stem.name}.{ending}")


@dataclass(frozen=True)
class MakeReport:
    """Do what `auditkit report` does, into one of the page's folders."""

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
        bench.explorer, bench.idle, ranges = None, [], None
        if audit.fitted is not None:
            shown = protect(audit.history, self.config.report.suppress_below)
            scale = audit.fitted.settings.value_scale
            fits = {scale: audit.fitted}
            bench.explorer = explorer = Explorer(shown, self.config, bench.plugins, scale, fits)
            ranges, bench.idle = explorer.ranges, explorer.preparations()
        seconds = time.monotonic() - begun
        return Made(self.stem, formats, tuple(written.not_written), seconds, ranges)


@dataclass(frozen=True)
class AskSliders:
    """Find the exact optimum at the sliders' positions."""

    asked: Explore

    def __call__(self, bench: Bench, say: Say) -> Explored:
        from auditkit.page.explorer import Explorer

        if not isinstance(bench.explorer, Explorer):
            raise InputError(Problem("", "the model of this report is no longer in memory", "make the report again"))
        return bench.explorer.answer(self.asked)
