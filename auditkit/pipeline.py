"""An audit from a file to a report: the stages in order. Read this first.

    data      read the file, find out which column is what, collect every problem      auditkit.data
    measure   disparities between groups in who was inspected and selected            auditkit.disparity, local_law
    fit       from past scores to a prior for each candidate: an instance             auditkit.fit
    solve     the best policy, without and under constraints, each with a proof       auditkit.solve
    compare   the firm and the best policies side by side                             auditkit.compare
    ask       frontiers, biased scores, more positions, more budget                   auditkit.scenarios
    report    all of it as a document, and the document as HTML, PDF and JSON         auditkit.report

Where the data cannot support a stage, the later ones are left out and the report says why: without scores there is
still the disparity audit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auditkit import disparity
from auditkit.compare import IntervalOptions, compare
from auditkit.config import Config, check
from auditkit.constraints.base import Constraint
from auditkit.constraints.binding import bind, make_constraints
from auditkit.data import History
from auditkit.data.role_matching import by_name
from auditkit.data.source import Data, read
from auditkit.disparity import Disparity, privacy
from auditkit.errors import InputError, PluginError, Problem
from auditkit.files import read_json, sha256_of
from auditkit.fitting.fitted import CannotFit, Fitted
from auditkit.fitting.priors import fit
from auditkit.model.documents import check_format, read_instance, read_solution
from auditkit.plugins.local_law_144 import rates
from auditkit.report import added, findings
from auditkit.report import document as documents
from auditkit.report.audit import Audit, Written, text_of, write
from auditkit.report.report_schema import ReportModel
from auditkit.scenarios import Answers, ask
from auditkit.verification import Check, Verified, check_report, check_solution

if TYPE_CHECKING:
    from auditkit.plugin_manager import Plugins

Progress = Callable[[str], None]

__all__ = ["Audit", "Written", "ask_about", "audit", "fit_history", "read", "text_of", "verify_files", "write"]

MOST_ROWS_ASKED = 30
"""What-if questions about constraints of more rows are left to `auditkit whatif`: a report should not wait for them."""


def silent(_: str) -> None:
    """Progress that nobody watches."""


def audit(data: Data, config: Config, plugins: Plugins, progress: Progress = silent) -> Audit:
    """Run every stage that the data supports; raises InputError if the input or the settings are wrong."""
    faults: list[PluginError] = []

    def leave_out(error: PluginError) -> None:
        if all(error.offer is not known.offer for known in faults):
            plugins.leave_out(error)
            faults.append(error)

    constraints = constraints_of(config.constraints, plugins)
    progress("reading the data")
    history = read(data, config, plugins, leave_out)
    progress("measuring disparities")
    tables = measure(history, config)
    when = documents.created()
    sex, race = sex_and_race(history)
    summary = summarise(history, config, sex, race, when)
    main = tables["selected"] or tables["inspected"]
    reference = None if main is None else main.reference
    hidden, summary = privacy.hide(history, reference, summary, (sex, race), config.report.suppress_below)
    for outcome, table in tables.items():
        if table is not None:
            shown = privacy.blank(table, hidden)
            tables[outcome] = disparity.measured(shown, plugins.measures.values(), leave_out)
    progress("fitting priors")
    fitted, missing = try_to_fit(history, config, plugins)
    comparison = None
    if fitted is not None:
        options = IntervalOptions(config.report.replicates, config.report.confidence, config.report.seed)
        comparison = compare(
            fitted, constraints, plugins.constraints, hidden=hidden.groups, options=options, progress=progress
        )
    answers = None
    if fitted is not None and config.report.what_if:
        answers = questions(fitted, constraints, plugins, hidden.groups, most_rows=MOST_ROWS_ASKED, progress=progress)
    progress("writing down the findings")
    parts = documents.ReportParts(history, tables, summary, hidden, fitted, comparison, missing, answers)
    document = documents.build(parts, config, when)
    document["sections"] = added.data(document, plugins.sections, config.report.template_dir, leave_out)
    document["findings"] += findings.of_plugins([*plugins.warnings, *(fault.public for fault in faults)])
    return Audit(document, config, history, fitted, comparison, plugins.sections)


def questions(
    fitted: Fitted,
    constraints: Sequence[Constraint] | None,
    plugins: Plugins,
    hidden: frozenset[str] = frozenset(),
    group: str | None = None,
    most_rows: int | None = None,
    progress: Progress = silent,
) -> Answers:
    """The what-if questions, about `group` or the one that the firm selected least."""
    layout, kinds = fitted.instance.layout, plugins.constraints
    selected = np.bincount(layout.candidate_group, fitted.realised.selected, minlength=len(layout.groups))
    rates = dict(zip(layout.groups, map(float, selected / layout.group_sizes), strict=True))
    inspected = float(fitted.realised.inspected.sum())
    return ask(
        fitted.instance,
        constraints,
        kinds,
        group=group,
        rates=rates,
        inspected=inspected,
        most_rows=most_rows,
        hidden=hidden,
        progress=progress,
    )


def ask_about(
    data: Data, config: Config, plugins: Plugins, group: str | None = None, progress: Progress = silent
) -> Answers:
    """The what-if questions about data; raises InputError if the data cannot support a model."""
    constraints = constraints_of(config.constraints, plugins)
    progress("reading the data")
    history = read(data, config, plugins)
    progress("fitting priors")
    fitted, missing = try_to_fit(history, config, plugins)
    if fitted is None:
        raise InputError([Problem("", reason) for reason in missing])
    return questions(fitted, constraints, plugins, group=group, progress=progress)


def constraints_of(keys: Sequence[Mapping[str, Any] | str] | None, plugins: Plugins) -> list[Constraint] | None:
    """The constraints of the settings; None if none is named."""
    named = [(f"constraints[{i}]", entry) for i, entry in enumerate(keys or ())]
    return make_constraints(plugins.constraints, named) or None


def measure(history: History, config: Config) -> dict[str, Disparity | None]:
    """Disparities in who was selected and in who was inspected, where that is known and not the same."""
    table, settings = history.table, config.report
    tables: dict[str, Disparity | None] = {"selected": None, "inspected": None}
    if not history.groups or not (history.decided & table["group"].isin(history.groups)).any():
        return tables
    for outcome in tables:
        if not history.has(outcome) or (outcome == "inspected" and not _known_apart(history)):
            continue
        tables[outcome] = disparity.measure(
            table,
            outcome,
            minimum_share=Fraction(str(settings.minimum_share)),
            stratum="search" if table["search"].nunique() > 1 else None,
            line=Fraction(str(settings.line)),
            alpha=settings.alpha,
        )
    return tables


def _known_apart(history: History) -> bool:
    """Whether being inspected is more than being selected and less than applying."""
    inspected = history.table["inspected"][history.decided]
    same = history.has("selected") and bool((inspected == history.table["selected"][history.decided]).all())
    return not same and not bool(inspected.all())


def sex_and_race(history: History) -> tuple[str | None, str | None]:
    """Which of the group columns hold sex and race, by their names."""
    found: dict[str, str] = {}
    for name in history.columns("group"):
        for match in by_name(name):
            if match.role == "group" and match.attribute in ("sex", "race"):
                found.setdefault(match.attribute, name)
    return found.get("sex"), found.get("race")


def summarise(history: History, config: Config, sex: str | None, race: str | None, when: str) -> rates.Summary | None:
    """The Local Law 144 tables, if a column of sex or race is known."""
    if sex is None and race is None:
        return None
    said = config.statement.model_dump()
    said["audit_date"] = said["audit_date"] or documents.day_of(when)
    return rates.of_table(
        history.table,
        None if sex is None else f"group:{sex}",
        None if race is None else f"group:{race}",
        history.decision,
        statement=rates.LawStatement(**said),
    )


def try_to_fit(history: History, config: Config, plugins: Plugins) -> tuple[Fitted | None, tuple[str, ...]]:
    """The fitted instance, or why the data cannot support one."""
    if config.fit.fitter not in plugins.fitters or history.has("cost") or config.cost is not None:
        try:
            return fit_history(history, config, plugins), ()
        except CannotFit as error:
            return None, tuple(_reason(problem) for problem in error.problems)
    asked = "there is no cost of an inspection (give one with --cost, in the unit of value, or --map cost=COLUMN)"
    lacks = [] if history.has("score") else ["there is no score, so no prior can be learnt (--map score=COLUMN)"]
    return None, (*lacks, asked)


def _reason(problem: Problem) -> str:
    return problem.what + (f" ({problem.fix})" if problem.fix else "")


def fit_history(history: History, config: Config, plugins: Plugins) -> Fitted:
    """The fitted instance; raises InputError or CannotFit."""
    return fit(
        history,
        fitters=plugins.fitters,
        fitter=config.fit.fitter,
        cost=config.cost,
        capacity=config.capacity,
        value_scale=config.value_scale,
        folds=config.fit.folds,
        points=config.fit.points,
        propensity=config.fit.propensity,
        outcome_scale=config.fit.outcome_scale,
        staged=config.fit.staged,
    )


def verify_files(claimed: Path, subject: Path, plugins: Plugins, progress: Progress = silent) -> Verified:
    """A solution against its instance, or a report against its data, without the code that found them."""
    document, _ = read_json(claimed)
    if isinstance(document, dict) and str(document.get("format")).startswith("auditkit-report/"):
        return verify_report(document, subject, plugins, progress)
    solution = read_solution(claimed)
    instance, _, sha256 = read_instance(subject)
    rows = bind(constraints_of(solution["specs"], plugins) or [], instance.layout)
    progress("evaluating the policies again")
    return Verified(tuple(check_solution(solution, instance.layout, rows, sha256)))


def verify_report(report: dict[str, Any], path: Path, plugins: Plugins, progress: Progress = silent) -> Verified:
    """Every claim of a report about its data, derived again; and what could not be checked."""
    check_format(ReportModel, report, "the report", "write it again with auditkit report --format json")
    config = check({**report["config"], "source": None})
    config = config.over(report={**config.report.model_dump(), "template_dir": None})
    progress("reading the data")
    same = sha256_of(path) == report["input"]["sha256"]
    checks = [Check("the report is of this data", same, "the SHA-256 of the file is another one")]
    if not same:
        return Verified(tuple(checks))
    history = read(path, config, plugins)
    for outcome, table in measure(history, config).items():
        claimed = report["disparity"][outcome]
        counted = None if table is None else (table.applicants, table.selected, table.unknown)
        told = None if claimed is None else (claimed["applicants"], claimed["selected"], claimed["unknown"])
        checks.append(Check(f"numbers of the table of who was {outcome}", counted == told, f"found {counted}"))
    if report["firm"] is None:
        return Verified(tuple(checks), ("there are no policies in this report",))
    progress("fitting priors")
    fitted = fit_history(history, config, plugins)
    rows = []
    for entry in report["constrained"]:
        constraints = constraints_of(entry["specs"], plugins) or []
        rows.append(bind(constraints, fitted.instance.layout))
    more, skipped = check_report(report, fitted, rows, progress)
    return Verified((*checks, *more), tuple(skipped))
