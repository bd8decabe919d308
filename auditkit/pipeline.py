"""An audit from a file to a report: the stages in order. Read this first.

    data      read the file, find out which column is what, collect every problem      auditkit.data
    measure   disparities between groups in who was inspected and selected            auditkit.disparity, local_law
    fit       from past scores to a prior for each candidate: an instance             auditkit.fit
    solve     the best policy, without and under constraints, each with a proof       auditkit.solve
    compare   the firm and the best policies side by side                             auditkit.compare
    ask       frontiers, biased scores, more positions, more budget                   auditkit.whatif
    report    all of it as a document, and the document as HTML, PDF and JSON         auditkit.report

Where the data cannot support a stage, the later ones are left out and the report says why: without scores there is
still the disparity audit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auditkit import disparity, local_law, spec
from auditkit.compare import Comparison, Options, compare
from auditkit.config import Config, check
from auditkit.constraints import Constraint, bind, make
from auditkit.data import History, load
from auditkit.data.match import by_name
from auditkit.disparity import Disparity
from auditkit.errors import InputError, Problem
from auditkit.files import sha256_of, write_bytes
from auditkit.fit.fit import fit
from auditkit.fit.fitted import CannotFit, Fitted
from auditkit.report import document as documents
from auditkit.report import privacy
from auditkit.verify import Check
from auditkit.verify import report as verify
from auditkit.whatif import Answers, ask

if TYPE_CHECKING:
    from auditkit.plugin_manager import Plugins

Progress = Callable[[str], None]


def silent(_: str) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, eq=False)
class Audit:
    """A finished audit: the document, and what it was made from."""

    document: dict[str, Any]
    config: Config
    history: History
    fitted: Fitted | None
    comparison: Comparison | None


def audit(path: Path, config: Config, plugins: Plugins, progress: Progress = silent) -> Audit:
    """Run every stage that the data supports; raises InputError if the input or the settings are wrong."""
    constraints = make_constraints(config.constraints, plugins)
    progress("reading the data")
    history = read(path, config)
    progress("measuring disparities")
    tables = measure(history, config)
    when = documents.created()
    sex, race = sex_and_race(history)
    summary = summarise(history, config, sex, race, when)
    main = tables["selected"] or tables["inspected"]
    reference = None if main is None else main.reference
    hidden, summary = privacy.hide(history, reference, summary, (sex, race), config.report.suppress_below)
    progress("fitting priors")
    fitted, missing = try_to_fit(history, config, plugins)
    comparison = None
    if fitted is not None:
        options = Options(config.report.replicates, config.report.confidence, config.report.seed)
        comparison = compare(
            fitted, constraints, plugins.constraints, hidden=hidden.groups, options=options, progress=progress
        )
    answers = None
    if fitted is not None and config.report.what_if:
        answers = questions(fitted, constraints, plugins, hidden.groups, progress=progress)
    progress("writing down the findings")
    parts = documents.Parts(history, tables, summary, hidden, fitted, comparison, missing, answers)
    return Audit(documents.build(parts, config, when), config, history, fitted, comparison)


def questions(
    fitted: Fitted,
    constraints: Sequence[Constraint] | None,
    plugins: Plugins,
    hidden: frozenset[str] = frozenset(),
    group: str | None = None,
    progress: Progress = silent,
) -> Answers:
    """The what-if questions, about `group` or the one that the firm selected least."""
    layout, kinds = fitted.instance.layout, plugins.constraints
    selected = np.bincount(layout.candidate_group, fitted.realised.selected, minlength=len(layout.groups))
    rates = dict(zip(layout.groups, map(float, selected / layout.group_sizes), strict=True))
    return ask(fitted.instance, constraints, kinds, group=group, rates=rates, hidden=hidden, progress=progress)


def ask_about(
    path: Path, config: Config, plugins: Plugins, group: str | None = None, progress: Progress = silent
) -> Answers:
    """The what-if questions about a file; raises InputError if the data cannot support a model."""
    constraints = make_constraints(config.constraints, plugins)
    progress("reading the data")
    history = read(path, config)
    progress("fitting priors")
    fitted, missing = try_to_fit(history, config, plugins)
    if fitted is None:
        raise InputError([Problem("", reason) for reason in missing])
    return questions(fitted, constraints, plugins, group=group, progress=progress)


def make_constraints(keys: Sequence[dict[str, Any]] | None, plugins: Plugins) -> list[Constraint] | None:
    """The constraints of the settings, every wrong one reported at once; None if none is named."""
    if not keys:
        return None
    made: list[Constraint] = []
    problems: list[Problem] = []
    for i, entry in enumerate(keys):
        try:
            made.append(make(plugins.constraints, entry))
        except InputError as error:
            problems += [problem.at(f"constraints[{i}]") for problem in error.problems]
    if problems:
        raise InputError(problems)
    return made


def read(path: Path, config: Config) -> History:
    """The history in a file."""
    return load(
        path,
        config.mapping or None,
        cost=config.cost,
        capacity=config.capacity,
        words=config.words or None,
        sheet=config.sheet,
    )


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


def summarise(
    history: History, config: Config, sex: str | None, race: str | None, when: str
) -> local_law.Summary | None:
    """The Local Law 144 tables, if a column of sex or race is known."""
    if sex is None and race is None:
        return None
    said = config.statement.model_dump()
    said["audit_date"] = said["audit_date"] or documents.day_of(when)
    return local_law.of_table(
        history.table,
        None if sex is None else f"group:{sex}",
        None if race is None else f"group:{race}",
        history.decision,
        statement=local_law.Statement(**said),
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


def text_of(audit: Audit) -> str:
    """The document as it is written to a file."""
    return documents.dump(audit.document)


@dataclass(frozen=True)
class Written:
    """The files of a report, and why there is no PDF if one was asked for."""

    files: tuple[Path, ...]
    no_pdf: str | None = None


def write(audit: Audit, stem: Path, progress: Progress = silent) -> Written:
    """Write the report as STEM.html, STEM.json and STEM.pdf, whichever the settings ask for.

    Everything is rendered before the first file is touched, and each is written under a temporary name and renamed.
    Where WeasyPrint cannot be used, the other files are written all the same.
    """
    formats = audit.config.report.formats
    text = text_of(audit)
    made: dict[str, bytes] = {}
    no_pdf = None
    if "html" in formats or "pdf" in formats:
        progress("drawing the report")
        from auditkit.report import html

        page = html.render(audit.document, template_dir=audit.config.report.template_dir)
        if "html" in formats:
            made["html"] = page.encode()
        if "pdf" in formats:
            progress("setting the PDF")
            from auditkit.report import pdf

            try:
                made["pdf"] = pdf.render(page, text.encode(), audit.document["created"])
            except pdf.PdfUnavailable as error:
                no_pdf = str(error)
    if "json" in formats:
        made["json"] = text.encode()
    files = []
    for name, content in made.items():
        path = stem.with_name(f"{stem.name}.{name}")
        write_bytes(path, content)
        files.append(path)
    return Written(tuple(files), no_pdf)


def verify_report(
    report: dict[str, Any], path: Path, plugins: Plugins, progress: Progress = silent
) -> tuple[list[Check], list[str]]:
    """Every claim of a report about its data, derived again; and what could not be checked."""
    if report.get("format") != documents.FORMAT or documents.KEYS - set(report):
        raise InputError(Problem("the report", f"is not a whole document of the format {documents.FORMAT}"))
    config = check({**report["config"], "source": None})
    config = config.over(report={**config.report.model_dump(), "template_dir": None})
    progress("reading the data")
    same = sha256_of(path) == report["input"]["sha256"]
    checks = [Check("the report is of this data", same, "the SHA-256 of the file is another one")]
    if not same:
        return checks, []
    history = read(path, config)
    for outcome, table in measure(history, config).items():
        claimed = report["disparity"][outcome]
        counted = None if table is None else (table.applicants, table.selected, table.unknown)
        told = None if claimed is None else (claimed["applicants"], claimed["selected"], claimed["unknown"])
        checks.append(Check(f"numbers of the table of who was {outcome}", counted == told, f"found {counted}"))
    if report["firm"] is None:
        return checks, ["there are no policies in this report"]
    progress("fitting priors")
    fitted = fit_history(history, config, plugins)
    rows = []
    for entry in report["constrained"]:
        constraints = make_constraints([spec.parse(text) for text in entry["specs"]], plugins) or []
        rows.append(bind(constraints, fitted.instance.layout))
    more, skipped = verify.verify(report, fitted, rows, progress)
    return [*checks, *more], skipped
