"""An audit from a file to a report: the stages in order. Read this first.

    data      read the file, find out which column is what, collect every problem      auditkit.data
    protect   leave out whoever could be recognised, once for all that follows        auditkit.data.privacy
    measure   disparities of every attribute at every step, and where they come from  auditkit.disparity
    fit       from past scores to a prior for each candidate: an instance             auditkit.fitting
    solve     the best policy, without and under constraints, each with a proof       auditkit.solver
    compare   the firm and the best policies side by side                             auditkit.compare
    ask       frontiers, biased scores, more positions, more budget                   auditkit.scenarios
    report    all of it as a document, and the document as HTML, PDF and JSON         auditkit.report

Where the data cannot support a stage, the later ones are left out and the report says why: without scores there is
still the disparity audit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auditkit import __version__, disparity
from auditkit.compare import Comparison, FirmDecisions, IntervalOptions, compare, firm_decisions
from auditkit.compare.firm_decisions import standings_of
from auditkit.compare.firm_gain import Against
from auditkit.compare.parts import Parts
from auditkit.compare.shadow_prices import total_shifts
from auditkit.config import Config, check
from auditkit.constraints import Constraint, bind, make_constraints
from auditkit.constraints.base import Rows
from auditkit.data import History
from auditkit.data.privacy import Protected, protect
from auditkit.data.read_query import sha256_of_rows
from auditkit.data.source import Data, Place, read
from auditkit.data.sql_query import Query
from auditkit.disparity import Applicants, Disparities, DisparitySettings
from auditkit.errors import InputError, PluginError, Problem, blaming
from auditkit.files import parse_json, read_file, refuse_partial, sha256_of
from auditkit.fitting.fitted import CannotFit, Fitted
from auditkit.fitting.priors import fit
from auditkit.memory import give_back
from auditkit.model.documents import check_format, read_instance, read_solution
from auditkit.report import added, findings
from auditkit.report import document as documents
from auditkit.report.audit import Audit, Written, text_of, write
from auditkit.report.report_schema import ReportModel
from auditkit.report.section import Section, Subject
from auditkit.scenarios import Answers, ask
from auditkit.solver import start_engine
from auditkit.text import flat, printable
from auditkit.verification import NOISE, Check, Verified, check_report, check_solution, same_numbers

if TYPE_CHECKING:
    from auditkit.plugin_manager import Plugins

Progress = Callable[[str], None]

__all__ = ["Audit", "Written", "ask_about", "audit", "fit_history", "read", "text_of", "verify_files", "write"]

MEASURED = ("scope", "attributes", "steps", "groups", "funnel", "disparity", "segments", "problems", "mapping")
"""Parts of a report that are counted and tested; no optimisation leaves rounding there."""

UNDERIVED = ("config", "created", "version")
OWN_WORDS = {"input": ("path",), "provenance": ("packages", "platform", "python")}
GIVEN = "config, created, version, input.path and provenance (but its conventions): how it was made, as it says itself"
"""What `verify` cannot derive from the data: whole parts, and keys of others."""

IMMATERIAL = ("source", "database", "database_env", "query", "engine", "report.formats", "report.parts")
"""Settings that change no number of a report, or stand in its `input`."""

MOST_ROWS_ASKED = 30
"""What-if questions about constraints of more rows are left to `auditkit whatif`: a report should not wait for them."""


def silent(_: str) -> None:
    """Progress that nobody watches."""


def audit(data: Data, config: Config, plugins: Plugins, progress: Progress = silent, when: str | None = None) -> Audit:
    """Run every stage that the data supports; raises InputError if the input or the settings are wrong.

    `when` is the moment that the report is dated with; now, if it is not given.
    """
    with start_engine.running(config.engine, plugins.tell):
        return _audit(data, config, plugins, progress, when)


def _audit(data: Data, config: Config, plugins: Plugins, progress: Progress, when: str | None) -> Audit:
    faults = Faults(plugins)
    when = when or documents.created()
    constraints = constraints_of(config.constraints, plugins)
    progress("reading the data")
    history = read(data, config, plugins, faults.leave_out)
    shown = protect(history, config.report.suppress_below)
    if not shown.left_out:
        history = shown.history  # the same rows in another order: one table is enough
    give_back()
    sections = prepare(plugins.sections, Subject(history, shown, config, when), faults)
    progress("measuring disparities")
    page = measure(shown, config)
    if page is not None:
        page = disparity.with_measures(page, plugins.measures.values(), faults.leave_out)
    give_back()
    progress("fitting priors")
    fitted, missing = try_to_fit(shown, config, plugins)
    give_back()
    comparison = compared(fitted, constraints, config, plugins, progress)
    answers = None
    if fitted is not None and config.report.what_if:
        answers = questions(fitted, constraints, plugins, most_rows=MOST_ROWS_ASKED, progress=progress)
    decisions = decided(shown, fitted, comparison, config, progress)
    progress("writing down the findings")
    reasons = tuple(problem.what for problem in missing)
    parts = documents.ReportParts(history, shown, page, fitted, comparison, reasons, answers, decisions)
    document = documents.build(parts, config, when)
    document["sections"] = added.data(document, sections, config.report.template_dir, faults.leave_out)
    document["findings"] += findings.of_plugins([*plugins.warnings, *(fault.public for fault in faults.found)])
    hints = tuple(problem.fix for problem in missing if problem.fix)
    return Audit(document, config, history, fitted, comparison, plugins.sections, hints)


@dataclass(frozen=True)
class Faults:
    """Plugins that failed on the way, each named once; `strict` makes that an error."""

    plugins: Plugins
    found: list[PluginError] = field(default_factory=list)

    def leave_out(self, error: PluginError) -> None:
        """Go on without what nobody asked for by name."""
        if all(error.offer is not known.offer for known in self.found):
            self.plugins.leave_out(error)
            self.found.append(error)


def prepare(kinds: Mapping[str, type[Section]], subject: Subject, faults: Faults) -> dict[str, Section]:
    """The sections of plugins, each with what it takes from the applications."""
    sections = {}
    for name, kind in kinds.items():
        try:
            with blaming(kind, f"the section {name!r}"):
                section = kind()
                section.prepare(subject)
        except PluginError as error:
            faults.leave_out(error)
        else:
            sections[name] = section
    return sections


def measure(shown: Protected, config: Config) -> Disparities | None:
    """Disparities of every attribute at every step; None if the data know no groups or no decision."""
    history, settings = shown.history, config.report
    if not history.attributes or not history.steps or not history.decided.any():
        return None
    table = history.table
    applicants = Applicants(
        attributes={name: table[f"group:{name}"] for name in history.attributes},
        crossings=shown.crossings,
        steps={step: table[f"step:{step}"].fillna(False) for step in history.steps},
        strata=table["search"] if table["search"].nunique() > 1 else None,
        segments={name: table[f"segment:{name}"] for name in history.segments},
        dates=table["date"] if history.has("date") else None,
        persons=table["person"] if history.has("person") else None,
        undecided=~history.decided,
    )
    return disparity.disparities(
        applicants,
        DisparitySettings(
            line=Fraction(str(settings.line)),
            alpha=settings.alpha,
            minimum_share=Fraction(str(settings.minimum_share)),
            threshold=shown.threshold,
        ),
    )


def compared(
    fitted: Fitted | None,
    constraints: Sequence[Constraint] | None,
    config: Config,
    plugins: Plugins,
    progress: Progress = silent,
) -> Comparison | None:
    """The policies side by side, if there is a model."""
    if fitted is None:
        return None
    options = IntervalOptions(config.report.replicates, config.report.confidence, config.report.seed)
    return compare(fitted, constraints, plugins.constraints, options=options, progress=progress)


def decided(
    shown: Protected, fitted: Fitted | None, comparison: Comparison | None, config: Config, progress: Progress = silent
) -> FirmDecisions | None:
    """What the firm's own decisions say, if there is a model."""
    if fitted is None or comparison is None:
        return None
    return firm_decisions(
        shown.history,
        fitted,
        comparison.constrained,
        threshold=shown.threshold,
        level=config.report.confidence,
        progress=progress,
    )


def questions(
    fitted: Fitted,
    constraints: Sequence[Constraint] | None,
    plugins: Plugins,
    group: str | None = None,
    most_rows: int | None = None,
    progress: Progress = silent,
) -> Answers:
    """The what-if questions, about `group` or the one that the firm selected least."""
    inspected = float(fitted.realised.inspected.sum())
    return ask(
        fitted.instance,
        constraints,
        plugins.constraints,
        group=group,
        selected=fitted.realised.selected.astype(np.float64),
        inspected=inspected,
        most_rows=most_rows,
        progress=progress,
    )


def ask_about(
    data: Data, config: Config, plugins: Plugins, group: str | None = None, progress: Progress = silent
) -> Answers:
    """The what-if questions about data; raises InputError if the data cannot support a model."""
    constraints = constraints_of(config.constraints, plugins)
    with start_engine.running(config.engine, plugins.tell):
        progress("reading the data")
        shown = protect(read(data, config, plugins), config.report.suppress_below)
        progress("fitting priors")
        fitted, missing = try_to_fit(shown, config, plugins)
        give_back()
        if fitted is None:
            raise InputError([Problem("", problem.what, problem.fix) for problem in missing])
        return questions(fitted, constraints, plugins, group=group, progress=progress)


def constraints_of(keys: Sequence[Mapping[str, Any] | str] | None, plugins: Plugins) -> list[Constraint] | None:
    """The constraints of the settings; None if none is named."""
    named = [(f"constraints[{i}]", entry) for i, entry in enumerate(keys or ())]
    return make_constraints(plugins.constraints, named) or None


def try_to_fit(shown: Protected, config: Config, plugins: Plugins) -> tuple[Fitted | None, tuple[Problem, ...]]:
    """The fitted instance, or why the data cannot support one."""
    if config.fit.fitter not in plugins.fitters or shown.history.has("cost") or config.cost is not None:
        try:
            return fit_shown(shown, config, plugins), ()
        except CannotFit as error:
            return None, tuple(error.problems)
    fix = "give one with --cost, in the unit of value, or --map cost=COLUMN"
    asked = Problem("cost", "there is no cost of an inspection", fix)
    if shown.history.has("score"):
        return None, (asked,)
    return None, (Problem("score", "there is no score, so no prior can be learnt", "--map score=COLUMN"), asked)


def fit_history(history: History, config: Config, plugins: Plugins) -> Fitted:
    """The fitted instance of the people who may be shown; raises InputError or CannotFit."""
    return fit_shown(protect(history, config.report.suppress_below), config, plugins)


def fit_shown(shown: Protected, config: Config, plugins: Plugins) -> Fitted:
    """The same of a history that is protected already."""
    return fit(
        shown.history,
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
        blind=config.fit.blind,
    )


def verify_files(claimed: Path, subject: Place, plugins: Plugins, progress: Progress = silent) -> Verified:
    """A solution against its instance, or a report (JSON, the PDF that holds it, the page with it) against its data."""
    refuse_partial(claimed)
    content = shown = read_file(claimed)
    if shown.startswith(b"%PDF"):
        from auditkit.report.pdf import attached

        content = attached(shown, str(claimed))
    elif shown[:15].lower() == b"<!doctype html>":
        content = _written_with(claimed)
    document = parse_json(content, str(claimed))
    if isinstance(document, dict) and str(document.get("format")).startswith("auditkit-report/"):
        found = verify_report(document, subject, plugins, progress)
        if shown is not content:
            progress("setting the pages again")
            checks, skipped = check_pages(shown, document, content, plugins, found.holds)
            found = Verified((*found.checks, *checks), (*found.not_checked, *skipped))
        return found
    if isinstance(subject, Query):
        what = "is a database: a solution is checked against its instance file"
        raise InputError(Problem(subject.shown, what, "auditkit verify SOLUTION.json INSTANCE.json"))
    solution = read_solution(claimed)
    instance, _, sha256 = read_instance(subject)
    rows = bind(constraints_of(solution["specs"], plugins) or [], instance.layout)
    progress("evaluating the policies again")
    return Verified(tuple(check_solution(solution, instance.layout, rows, sha256)))


def _written_with(page: Path) -> bytes:
    """The document that was written with a page; of the text of a page alone nothing can be derived."""
    beside = page.with_suffix(".json")
    if not beside.is_file():
        what = "is a page, which is checked with the JSON that was written with it"
        raise InputError(Problem(str(page), what, f"put {beside.name} beside it, or verify the PDF"))
    refuse_partial(beside)
    return read_file(beside)


def check_pages(
    shown: bytes, report: dict[str, Any], content: bytes, plugins: Plugins, stands: bool
) -> tuple[list[Check], list[str]]:
    """Whether the pages of an HTML or PDF file are those of the report's document: they are made again and compared.

    A page must be the same to the byte. A PDF need not be, as other versions of WeasyPrint, Pango and the fonts set it
    otherwise: one that differs is not checked.
    """
    from auditkit.report import html, pdf

    name = "the pages of the PDF" if shown.startswith(b"%PDF") else "the text of the page"
    settings = report["config"].get("report", {})
    if not stands:
        return [], [f"{name}: the document does not stand"]
    if settings.get("template_dir") is not None:
        return [], [f"{name}: a theme made it, and only the document was checked"]
    parts = settings.get("parts", "all")
    pages = [html.render(report, sections=plugins.sections, parts=part) for part in dict.fromkeys((parts, "summary"))]
    if not shown.startswith(b"%PDF"):
        wanted, lines = pages[0].encode().splitlines(), shown.splitlines()
        other = next((i for i, (a, b) in enumerate(zip(wanted, lines, strict=False), 1) if a != b), len(wanted) + 1)
        return [Check(f"{name} is that of the document", pages[0].encode() == shown, f"differs at line {other}")], []
    try:
        if any(pdf.render(page, content, report["created"]) == shown for page in pages):
            return [Check(f"{name} are those of the document", True)], []
        why = "set here they are other bytes (other fonts, another WeasyPrint, or changed)"
    except pdf.PdfUnavailable:
        why = "no PDF can be made here"
    return [], [f"{name}: {why}; only the document inside was checked"]


def verify_report(report: dict[str, Any], data: Place, plugins: Plugins, progress: Progress = silent) -> Verified:
    """Every claim of a report about its data, derived again; and what could not be checked.

    The report is made once more from the data and compared number by number. That would repeat an error of the code
    that made it: so the policies and their bounds are checked by other code too (`auditkit.verification`).
    """
    check_format(ReportModel, report, "the report", "write it again with auditkit report --format json")
    try:
        datetime.fromisoformat(report["created"])
    except ValueError:
        raise InputError(Problem("the report: created", "is no date", "write it again with auditkit report")) from None
    config = check({**report["config"], "source": None, "engine": "local"})  # nobody's report sends data anywhere
    skipped = [GIVEN, *_chosen(config, report["version"])]
    config = config.over(report={**config.report.model_dump(), "template_dir": None})
    progress("reading the data")
    if isinstance(data, Query):
        sha256, what = sha256_of_rows(data), "the SHA-256 of the rows is another one; ORDER BY keeps their order"
    else:
        sha256, what = sha256_of(data), "the SHA-256 of the file is another one"
    same = sha256 == report["input"]["sha256"]
    checks = [Check("the report is of this data", same, what)]
    if not same:
        return Verified(tuple(checks), tuple(skipped))
    again = audit(data, config, plugins, progress, when=report["created"])
    checks += compare_reports(report, again)
    if again.fitted is not None and report["firm"] is not None:
        rows = []
        for entry in report["constrained"]:
            constraints = constraints_of(entry["specs"], plugins) or []
            rows.append(bind(constraints, again.fitted.instance.layout))
        shown, level = protect(again.history, config.report.suppress_below), config.report.confidence
        against = Against(again.fitted, standings_of(shown.history), level)
        more, unchecked = check_report(
            report, again.fitted, rows, progress, lambda label, visits: against.gain(label, visits).to_json()
        )
        progress("the firm's own decisions again")
        checks += [*more, *check_decisions(report, shown, again.fitted, rows, level)]
        skipped += unchecked
    return Verified(tuple(checks), tuple(skipped))


def _chosen(config: Config, version: str) -> Iterator[str]:
    """What its author chose: a report may be right about settings that nobody else would have taken."""
    usual = dict(flat(Config().model_dump(mode="json")))
    own = [
        f"{key} = {printable(text)[:100]}"
        for key, text in flat(config.model_dump(mode="json"))
        if usual.get(key) != text
    ]
    own = [text for text in own if text.partition(" = ")[0] not in IMMATERIAL]
    if own:
        yield f"whether these settings, which are not the defaults, are the right ones: {'; '.join(own)}"
    if version != __version__:
        yield f"that auditkit {version} made it: this is {__version__}"


def check_decisions(
    report: dict[str, Any], shown: Protected, fitted: Fitted, rows: Sequence[Rows], level: float
) -> list[Check]:
    """What the report says of the firm's decisions and scores, derived again; shifts of constraints from its duals."""
    priced, layout = [], fitted.instance.layout
    for entry, own in zip(report["constrained"], rows, strict=True):
        duals = None if own.measures else [dual["value"] for dual in entry["duals"] or ()]
        if entry["status"] == "optimal":
            known = duals is not None and None not in duals
            shifts = total_shifts(Parts.of(own, layout), np.array(duals, dtype=np.float64)) if known else None
            priced.append((str(entry["label"]), own, shifts, ()))
    decisions = firm_decisions(shown.history, fitted, (), priced=priced, threshold=shown.threshold, level=level)
    found = {
        "revealed": (_without_needed_intervals(report["revealed"]), decisions.revealed.to_json()),
        "scores": (report.get("scores"), decisions.scores.to_json()),
        "hidden information": (
            (report["fit"].get("hidden_information") or {}).get("tests"),
            [test.to_json() for test in decisions.hidden],
        ),
        "firm.gain": (report["firm"].get("gain"), decisions.search.to_json()),
    }
    return [
        same_numbers(name, said, again, noise=1e-6, tolerance=1e-6)
        for name, (said, again) in found.items()
        if said is not None
    ]


def _without_needed_intervals(part: dict[str, Any] | None) -> dict[str, Any] | None:
    """These need the replicates, which only the report made again has (`compare_reports`)."""
    return part and {**part, "needed": [{**row, "interval": None} for row in part["needed"]]}


def compare_reports(report: Mapping[str, Any], again: Audit) -> list[Check]:
    """Each part of a report against the same part of a report that was made again of the same data."""
    found = json.loads(text_of(again))
    parts = [part for part in dict.fromkeys([*report, *found]) if part not in UNDERIVED]
    return [compare_part(part, report.get(part), found.get(part)) for part in parts]


def compare_part(part: str, claimed: Any, found: Any) -> Check:
    """One part of a report, word by word and number by number, but for what it alone can know (`OWN_WORDS`)."""
    if isinstance(claimed, dict) and isinstance(found, dict):
        claimed = {**claimed, **{key: found[key] for key in OWN_WORDS.get(part, ()) if key in claimed and key in found}}
    return same_numbers(part, claimed, found, noise=0.0 if part in MEASURED else NOISE)
