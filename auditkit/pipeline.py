"""An audit from a file to a report: the stages in order. Read this first.

    read      find out which column is what, and collect every problem                auditkit.data
    protect   leave out everyone who could be recognised, once for all later stages   auditkit.data.privacy
    measure   disparities of every attribute at every step, and where they come from  auditkit.disparity
    fit       from past scores to a prior for each candidate: an instance             auditkit.fitting
    engine    where policies are evaluated: here, or on a cluster                     auditkit.solver
    compare   the firm and the best policies, each solved with a proof, side by side  auditkit.compare
    ask       frontiers, biased scores, more positions, more budget                   auditkit.scenarios
    alternatives   rules that never look at the group, where a difference was found   auditkit.rules
    decide    the firm's own decisions: what they cost, what they act like            auditkit.compare
    report    date it, prepare the plugins' sections, put everything together         auditkit.report
    write     the report as HTML, PDF and JSON                                        auditkit.report.audit

`STAGES` is this list: it runs an audit, reports progress, and times each stage (`report -v`). If the data can't support
a stage, later ones are left out and the report says why: without scores there is still the disparity audit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from pandas.api.types import is_numeric_dtype

from auditkit.compare import Comparison, FirmDecisions, IntervalOptions, compare, firm_decisions
from auditkit.compare.comparison import FEWEST_SELECTED
from auditkit.compare.value_of_point import PointValue, revealed_scale, value_of_a_point
from auditkit.config import Config
from auditkit.constraints import Constraint, make_constraints
from auditkit.data.firm_history import History
from auditkit.data.privacy import Protected, protect
from auditkit.data.source import Data, read
from auditkit.disparity import sequential
from auditkit.disparity.applicants import Applicants, group_codes
from auditkit.disparity.availability import PoolShare, against_pools
from auditkit.disparity.cuts import DisparitySettings
from auditkit.disparity.disparity_tables import disparities
from auditkit.disparity.measured import with_measures
from auditkit.disparity.results import Disparities
from auditkit.disparity.score_differences import ScorePage, score_page
from auditkit.disparity.score_validity import ScoreValidity, score_validity
from auditkit.disparity.sequential import Closings
from auditkit.errors import InputError, PluginError, Problem, blaming
from auditkit.fitting.fitted import CannotFit, Fitted
from auditkit.fitting.priors import fit
from auditkit.fitting.searches import hired
from auditkit.memory import give_back
from auditkit.report import added, findings
from auditkit.report.audit import Audit, Written, write
from auditkit.report.build import ReportParts, answers, build, created, words_of
from auditkit.report.exporter import check_formats
from auditkit.report.profile import check_profile
from auditkit.report.schema import Report
from auditkit.report.section import Section, Subject
from auditkit.report.time_left import Effort
from auditkit.report.what_if import WhatIf
from auditkit.rules.find import Alternatives, find_alternatives, outcomes_asked
from auditkit.scenarios import Answers, ask
from auditkit.solver import start_engine
from auditkit.text import brief

if TYPE_CHECKING:
    from auditkit.plugin_manager import Plugins

Progress = Callable[[str], None]
Timed = Callable[[str, float], None]
Counted = Callable[[int], None]

__all__ = ["Audit", "Written", "ask_about", "audit", "fit_history", "read", "write"]

MOST_ROWS_ASKED = 30
"""What-if questions about constraints with more rows are left to `auditkit whatif`: a report shouldn't wait."""


def silent(_: str) -> None:
    """Ignore progress."""


def untimed(_: str, __: float) -> None:
    """Ignore timings."""


def uncounted(_: int) -> None:
    """Ignore the number of applications."""


class AuditInProgress:
    """One audit under way. Each stage is a method: it reads the attributes of earlier stages and sets its own."""

    history: History
    protected: Protected
    disparities: Disparities | None
    fitted: Fitted | None
    missing: tuple[Problem, ...]
    aware: Fitted | None
    """The same with policies that see the groups, for the bound; None if `fitted` already is that."""
    comparison: Comparison | None
    rules: Alternatives | None
    point: PointValue | None
    decisions: FirmDecisions | None
    parts: ReportParts
    made: Report

    def __init__(self, data: Data, config: Config, plugins: Plugins, progress: Progress, when: str | None) -> None:
        self.data, self.config, self.plugins, self.progress, self.when = data, config, plugins, progress, when
        self.faults = Faults(plugins)
        self.constraints = constraints_of(config.constraints, plugins)
        check_profile(config.profile, plugins.profiles)
        check_formats(config.report.formats, plugins.exporters)
        self.answers: Answers | None = None
        self.counted: Counted = uncounted
        self.until_the_end = ExitStack()

    def through(self, stages: Iterable[Stage], timed: Timed = untimed) -> None:
        """Run these stages one after another."""
        with self.until_the_end:
            for stage in stages:
                begin = time.perf_counter()
                stage.run(self)
                give_back()
                timed(stage.name, time.perf_counter() - begin)

    def read(self) -> None:
        self.progress("reading the data")
        self.history = read(self.data, self.config, self.plugins, self.faults.leave_out)
        self.counted(len(self.history.table))

    def protect(self) -> None:
        self.protected = protect(self.history, self.config.report.suppress_below)
        if not self.protected.left_out:
            self.history = self.protected.history  # the same rows in another order: one table is enough
        else:
            self.history = replace(self.history, problems=self.protected.history.problems)

    def measure(self) -> None:
        self.progress("measuring disparities")
        self.disparities = measure(self.protected, self.config)
        if self.disparities is not None:
            self.disparities = with_measures(self.disparities, self.plugins.measures.values(), self.faults.leave_out)

    def fit(self) -> None:
        self.progress("fitting priors")
        self.point = None
        self.fitted, self.missing = try_to_fit(self.protected, self.config, self.plugins)
        if self.fitted is not None:
            self.point = value_of_a_point(self.fitted)
            if self.point.at_value.selected < FEWEST_SELECTED:
                self.fitted, self.missing = None, (nobody_selected(self.point),)

    def engine(self) -> None:
        if self.fitted is not None:
            self.until_the_end.enter_context(start_engine.running(self.config.engine, self.plugins.tell))

    def compare(self) -> None:
        self.aware = None
        if self.fitted is not None and self.point is not None and not self.fitted.settings.group_aware:
            self.aware = fit_protected(
                self.protected, self.config, self.plugins, group_aware=True, scale=self.point.value
            )
        self.comparison = compared(
            self.fitted, self.constraints, self.config, self.plugins, self.progress, aware=self.aware
        )

    def ask(self) -> None:
        if self.fitted is not None and self.config.report.what_if:
            self.answers = questions(
                self.fitted, self.constraints, self.plugins, most_rows=MOST_ROWS_ASKED, progress=self.progress
            )

    def alternatives(self) -> None:
        self.rules = None
        disparities, point = self.disparities, self.point
        if not self.config.report.alternatives or disparities is None or self.fitted is None or point is None:
            return
        found = [table for table, _ in disparities.found()]
        names = [name for name in self.history.attributes if any(table.attribute == name for table in found)]
        if not names:
            return
        self.progress("alternatives without the group")
        blind, aware = self.fitted, self.aware
        if blind.settings.group_aware:
            aware = blind
            blind = fit_protected(self.protected, self.config, self.plugins, group_aware=False, scale=point.value)
        steps, layout = disparities.steps, blind.instance.layout
        asked = [
            (name, on)
            for name in names
            for on in outcomes_asked(steps, {table.step for table in found if table.attribute == name}, layout)
        ]
        self.rules = find_alternatives(blind, self.plugins.rules, aware=aware, asked=asked, progress=self.progress)

    def decide(self) -> None:
        self.decisions = decided(self.protected, self.fitted, self.comparison, self.config, self.progress)

    def report(self) -> None:
        self.progress("writing down the findings")
        when, settings = self.when or created(), self.config
        every = protect(self.history, 0) if settings.statement.small_categories else None
        sections = prepare(
            self.plugins.sections,
            Subject(self.protected, settings, when, every, self.plugins.profiles.get(settings.profile)),
            self.faults,
        )
        reasons = tuple(problem.what for problem in self.missing)
        results = (self.disparities, self.fitted, self.comparison, reasons, self.answers, self.decisions)
        self.parts = ReportParts(self.history, self.protected, *results, self.rules, self.point)
        made = build(self.parts.published(settings), settings, when)
        made = added.with_sections(made, sections, settings.report.template_dir, self.faults.leave_out)
        failed = [fault.public for fault in self.faults.found]
        self.made = made.with_findings(findings.of_plugins([*self.plugins.warnings, *failed]))


@dataclass(frozen=True)
class Stage:
    """A step of an audit. `phases` are the beginnings of its progress messages, each with its effort in a default
    report, as measured by `benchmarks/phases.py`."""

    name: str
    run: Callable[[AuditInProgress], None]
    phases: Mapping[str, Effort] = field(default_factory=dict)


STAGES = (
    Stage("read", AuditInProgress.read, {"reading the data": Effort(0.5, 0.02)}),
    Stage("protect", AuditInProgress.protect),
    Stage("measure", AuditInProgress.measure, {"measuring disparities": Effort(0.4, 0.04)}),
    Stage("fit", AuditInProgress.fit, {"fitting priors": Effort(0.7, 0.3)}),
    Stage("engine", AuditInProgress.engine),
    Stage(
        "compare",
        AuditInProgress.compare,
        {
            "best policy under": Effort(0.3, 0.8),
            "intervals of the prices": Effort(8.0, 0.1),
            "ex-post laws under": Effort(0.1, 0.2),
        },
    ),
    Stage("ask", AuditInProgress.ask, {"frontier of": Effort(0.5, 1.6)}),
    Stage("alternatives", AuditInProgress.alternatives, {"alternatives": Effort(6.0, 0.5)}),
    Stage("decide", AuditInProgress.decide, {"the firm's own decisions": Effort(0.1, 0.15)}),
    Stage("report", AuditInProgress.report, {"writing down the findings": Effort(0.1)}),
)
WRITING = {"drawing the report": Effort(0.5), "setting the PDF": Effort(5.0)}
"""The phases of `write`."""


def phases(config: Config) -> dict[str, Effort]:
    """The phases of an audit with these settings, and the effort each takes."""
    left_out = {"ask"} if not config.report.what_if else set()
    left_out |= {"alternatives"} if not config.report.alternatives else set()
    found = {phase: effort for stage in STAGES if stage.name not in left_out for phase, effort in stage.phases.items()}
    drawn = {"drawing the report": {"html", "pdf"}, "setting the PDF": {"pdf"}}
    return found | {phase: WRITING[phase] for phase, formats in drawn.items() if formats & {*config.report.formats}}


def audit(
    data: Data,
    config: Config,
    plugins: Plugins,
    progress: Progress = silent,
    when: str | None = None,
    timed: Timed = untimed,
    counted: Counted = uncounted,
) -> Audit:
    """Run every stage that the data supports; raises InputError if the input or the settings are wrong.

    `when` is the date of the report; now, if it isn't given. `timed` is called with the name of each stage and its
    seconds, `counted` with the number of applications as soon as the file is read.
    """
    run = AuditInProgress(data, config, plugins, progress, when)
    run.counted = counted
    run.through(STAGES, timed)
    hints = tuple(problem.fix for problem in run.missing if problem.fix)
    offered = plugins.sections, plugins.exporters
    return Audit(run.made, config, run.history, run.fitted, run.comparison, *offered, hints, run.parts)


@dataclass(frozen=True)
class Faults:
    """Plugins that failed along the way, each named once; `strict` makes that an error."""

    plugins: Plugins
    found: list[PluginError] = field(default_factory=list)

    def leave_out(self, error: PluginError) -> None:
        """Go on without an optional plugin."""
        if all(error.offer is not known.offer for known in self.found):
            self.plugins.leave_out(error)
            self.found.append(error)


def prepare(kinds: Mapping[str, type[Section]], subject: Subject, faults: Faults) -> dict[str, Section]:
    """The plugins' sections, each prepared with what it needs from the applications."""
    sections = {}
    for name, kind in kinds.items():
        if kind.profiles and subject.config.profile not in kind.profiles:
            continue
        try:
            with blaming(kind, f"the section {name!r}"):
                section = kind()
                section.prepare(subject)
        except PluginError as error:
            faults.leave_out(error)
        else:
            sections[name] = section
    return sections


def measure(protected: Protected, config: Config) -> Disparities | None:
    """Disparities of every attribute at every step; None if the data have no groups or no decisions."""
    found = applicants(protected)
    if found is None:
        return None
    found = replace(found, favourable=not config.report.selection_is_bad)
    measured = disparities(found, disparity_settings(protected, config))
    shares = [PoolShare(one.group, one.share, one.attribute, one.pool) for one in config.availability]
    return replace(
        measured,
        availability=against_pools(found, shares, protected.threshold) if shares else (),
        score_pages=score_pages(protected, found, config.report.alpha),
        validity=validity_of(protected, config.report.alpha),
    )


def validity_of(protected: Protected, alpha: float) -> ScoreValidity | None:
    """Whether the score predicts the outcome of those hired; None without scores, outcomes or decisions."""
    history, table = protected.history, protected.history.table
    if not all(history.has(role) for role in ("score", "outcome", "selected")):
        return None
    segment = history.segments[0] if history.segments else None
    return score_validity(
        {name: table[f"group:{name}"].astype("str").to_numpy() for name in history.attributes},
        None if segment is None else table[f"segment:{segment}"].astype("str").to_numpy(),
        table["search"].astype("str").to_numpy(),
        table["score"].to_numpy(dtype=np.float64),
        table["outcome"].to_numpy(dtype=np.float64),
        hired(table),
        within=segment,
        threshold=protected.threshold,
        alpha=alpha,
    )


def score_pages(protected: Protected, found: Applicants, alpha: float) -> tuple[ScorePage, ...]:
    """Every score by every attribute: those known beforehand against the first step, the score against the last."""
    history, table = protected.history, protected.history.table
    steps = list(found.steps)
    priors = {name: table[f"prior:{name}"] for name in history.columns("prior")}
    scores = {name: (column, steps[0]) for name, column in priors.items() if is_numeric_dtype(column)}
    if history.has("score"):
        scores["score"] = (table["score"], steps[-1])
    pages = []
    for attribute in found.attributes:
        code, names = group_codes(found.attributes[attribute])
        for name, (column, step) in scores.items():
            values = np.asarray(column, dtype=np.float64)
            known = np.isfinite(values) & found.decided_at(step)
            chosen = found.reached(step)
            rows = {group: known & (code == k) for k, group in enumerate(names)}
            rows = {group: at for group, at in rows.items() if at.sum() >= max(2, protected.threshold)}
            page = score_page(
                attribute,
                name,
                {group: values[at] for group, at in rows.items()},
                {group: chosen[at] for group, at in rows.items()},
                alpha=alpha,
                threshold=protected.threshold,
            )
            if page is not None:
                pages.append(page)
    return tuple(pages)


def applicants(protected: Protected) -> Applicants | None:
    """The applications as arrays; None if the data have no groups or no decisions."""
    history, table = protected.history, protected.history.table
    if not history.attributes or not history.steps or not history.counted.any():
        return None
    return Applicants(
        attributes={name: table[f"group:{name}"] for name in history.attributes},
        crossings=protected.crossings,
        steps={step: history.reached(step) for step in history.steps},
        strata=table["search"] if table["search"].nunique() > 1 else None,
        segments={name: table[f"segment:{name}"] for name in history.segments},
        dates=table["date"] if history.has("date") else None,
        persons=table["person"] if history.has("person") else None,
        undecided=~history.decided,
        pending=table["pending"],
        ordered={name.partition(":")[2]: order for name, order in history.ordered.items()},
        bands={name: table[f"band:{name}"] for name in history.columns("band")},
    )


def disparity_settings(protected: Protected, config: Config) -> DisparitySettings:
    """The line, the level, and which groups are compared."""
    settings = config.report
    return DisparitySettings(
        line=Fraction(str(settings.line)),
        alpha=settings.alpha,
        minimum_share=Fraction(str(settings.minimum_share)),
        threshold=protected.threshold,
    )


def closings(history: History, config: Config) -> Closings | None:
    """The closed requisitions, for evidence over time."""
    protected = protect(history, config.report.suppress_below)
    found = applicants(protected)
    return None if found is None else sequential.closings(found, disparity_settings(protected, config))


def compared(
    fitted: Fitted | None,
    constraints: Sequence[Constraint] | None,
    config: Config,
    plugins: Plugins,
    progress: Progress = silent,
    aware: Fitted | None = None,
) -> Comparison | None:
    """The policies side by side, if there is a model."""
    if fitted is None:
        return None
    options = IntervalOptions(config.report.replicates, config.report.confidence, config.report.seed)
    return compare(fitted, constraints, plugins.constraints, options=options, progress=progress, aware=aware)


def decided(
    protected: Protected,
    fitted: Fitted | None,
    comparison: Comparison | None,
    config: Config,
    progress: Progress = silent,
) -> FirmDecisions | None:
    """The analysis of the firm's own decisions, if there is a model."""
    if fitted is None or comparison is None:
        return None
    return firm_decisions(
        protected.history,
        fitted,
        comparison.constrained,
        threshold=protected.threshold,
        level=config.report.confidence,
        progress=progress,
    )


def questions(
    fitted: Fitted,
    constraints: Sequence[Constraint] | None,
    plugins: Plugins,
    group: str | None = None,
    most_rows: int | None = None,
    bias_tables: bool = False,
    exact: bool = False,
    progress: Progress = silent,
) -> Answers:
    """The what-if questions, about `group` or the one that the firm selected least.

    The question about a budget of as many inspections as the firm held is asked only if their number can be judged.
    """
    revealed = fitted.settings.value_revealed
    inspected = None if revealed else float(fitted.realised.inspected.sum())
    return ask(
        fitted.instance,
        constraints,
        plugins.constraints,
        group=group,
        selected=fitted.realised.selected.astype(np.float64),
        inspected=inspected,
        most_rows=most_rows,
        bias_tables=bias_tables,
        exact=exact,
        progress=progress,
    )


def ask_about(
    data: Data,
    config: Config,
    plugins: Plugins,
    group: str | None = None,
    bias_tables: bool = False,
    exact: bool = False,
    progress: Progress = silent,
) -> WhatIf:
    """The what-if questions about data; raises InputError if the data cannot support a model."""
    run = AuditInProgress(data, config, plugins, progress, None)
    run.through(stage for stage in STAGES if stage.name in ("read", "protect", "fit"))
    if run.fitted is None:
        raise InputError([Problem("", problem.what, problem.fix) for problem in run.missing])
    with start_engine.running(config.engine, plugins.tell):
        found = questions(
            run.fitted,
            run.constraints,
            plugins,
            group=group,
            bias_tables=bias_tables,
            exact=exact,
            progress=progress,
        )
    words = words_of(run.protected)
    return WhatIf(answers(found, words), words)


def find_rules(
    data: Data,
    config: Config,
    plugins: Plugins,
    attributes: Sequence[str] | None = None,
    on: str = "selection",
    progress: Progress = silent,
) -> Alternatives:
    """Rules that never look at the group; raises InputError if the data cannot support a model."""
    with start_engine.running(config.engine, plugins.tell):
        progress("reading the data")
        protected = protect(read(data, config, plugins), config.report.suppress_below)
        progress("fitting priors")
        fitted = fit_protected(protected, config, plugins, group_aware=False)
        scale = fitted.settings.value_scale
        aware = fit_protected(protected, config, plugins, group_aware=True, scale=scale)
        give_back()
        asked = None if attributes is None else [(name, on) for name in attributes]
        return find_alternatives(fitted, plugins.rules, aware=aware, asked=asked, on=on, progress=progress)


def constraints_of(keys: Sequence[Mapping[str, object] | str] | None, plugins: Plugins) -> list[Constraint] | None:
    """The constraints in the settings; None if none are named."""
    named = [(f"constraints[{i}]", entry) for i, entry in enumerate(keys or ())]
    return make_constraints(plugins.constraints, named) or None


def try_to_fit(protected: Protected, config: Config, plugins: Plugins) -> tuple[Fitted | None, tuple[Problem, ...]]:
    """The fitted instance, or why the data can't support one."""
    try:
        return fit_protected(protected, config, plugins), ()
    except CannotFit as error:
        return None, tuple(error.problems)


def nobody_selected(point: PointValue) -> Problem:
    """Why there is no benchmark: the best search would select no one."""
    what = (
        f"with a score point worth {brief(point.value)}, an inspection costs more than it is expected to bring: the "
        "best search would select no one, which says nothing about the firm"
    )
    return Problem("value_scale", what, "leave out --value-scale, so that it is derived from how many were inspected")


def fit_history(history: History, config: Config, plugins: Plugins) -> Fitted:
    """The fitted instance of a history, which is protected first; raises InputError or CannotFit."""
    protected = protect(history, config.report.suppress_below)
    found = fit_protected(protected, config, plugins)
    return replace(found, rows=protected.positions[found.rows])  # in the table that was given


def fit_protected(
    protected: Protected,
    config: Config,
    plugins: Plugins,
    *,
    group_aware: bool | None = None,
    scale: float | None = None,
) -> Fitted:
    """Like `fit_history`, for data that is already protected."""
    group_aware = config.fit.group_aware if group_aware is None else group_aware
    given = scale or config.value_scale
    return fit(
        protected.history,
        fitters=plugins.fitters,
        fitter=config.fit.fitter,
        cost=config.cost,
        capacity=config.capacity,
        value_scale=given or revealed_scale,
        folds=config.fit.folds,
        points=config.fit.points,
        propensity=config.fit.propensity,
        outcome_scale=config.fit.outcome_scale,
        staged=config.fit.staged,
        blind=config.fit.blind,
        group_aware=group_aware,
    )
