"""A report as one self-contained HTML page: no request, one small script of ours, every text escaped.

The words are in the templates (the package `auditkit.templates`), the way of writing numbers in `text.py`, the
drawings in `charts.py`; here they meet. A folder of templates takes the place of shipped ones by name; the shipped ones
stay within reach as `shipped/NAME`, so that a theme can extend what it replaces.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
import traceback
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from types import CodeType
from typing import Any

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemBytecodeCache,
    FileSystemLoader,
    FunctionLoader,
    PackageLoader,
    PrefixLoader,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateNotFound,
    TemplateRuntimeError,
    TemplateSyntaxError,
    UndefinedError,
)
from jinja2.bccache import Bucket
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup
from pydantic import BaseModel

from auditkit import plugin_manager, text
from auditkit.config import Parts
from auditkit.disparity.pair import Interval
from auditkit.errors import InputError, PluginError, Problem, shipped
from auditkit.model.session import kept
from auditkit.report import charts, histograms, view
from auditkit.report.schema import CurveModel, Report, ReportPriceModel
from auditkit.report.section import CORE, Section
from auditkit.report.svg import Chart
from auditkit.report.words import labels, page_texts, sentences

Sections = Mapping[str, type[Section] | Section]

MISSING = Markup('<span class="na">not available</span>')


def render(
    report: Report,
    *,
    template_dir: Path | None = None,
    sections: Sections | None = None,
    parts: Parts = "all",
) -> str:
    """The page. Raises InputError where a template of the user's or of a plugin is wrong.

    `sections` are those of plugins whose data the report may hold; by default the ones that ship. `parts` says how
    much of the report is shown.
    """
    sections = shipped_sections() if sections is None else sections
    theirs = added(report, sections, template_dir) if parts == "all" else {}
    shown = [section for section in in_order(report, theirs) if section.part in SHOWN[parts]]
    names = _names(report, [section.name for section in shown])
    names |= {"charts": charts.draw(report, parts), "sections": shown}
    return themed("report.html", names, template_dir, sections)


def themed(
    template: str, names: Mapping[str, object], template_dir: Path | None = None, sections: Sections | None = None
) -> str:
    """A page from a template and what it can use; InputError where the template is the user's and wrong."""
    try:
        return environment(template_dir, sections).get_template(template).render(names)
    except Exception as error:
        problem = None if template_dir is None else _whose(error, template_dir)
        if problem is None:
            raise
        raise InputError(problem) from error


SHOWN: dict[Parts, tuple[str, ...]] = {
    "summary": ("summary",),
    "body": ("summary", "body"),
    "all": ("summary", "body", "annex"),
}


@kept()
def shipped_sections() -> Sections:
    """Sections that are plugins of auditkit's own."""
    return plugin_manager.shipped().sections


@dataclass(frozen=True)
class PageSection:
    """A section of the page."""

    name: str
    title: str
    part: str = "annex"
    body: Markup | None = None
    """None for one of the report's own, which is a block of the page."""


def in_order(report: Report, theirs: Mapping[str, list[PageSection]]) -> list[PageSection]:
    """The report's own sections that have something to show, each followed by those that plugins put after it."""
    found: list[PageSection] = []
    for section in CORE:
        if section.in_report(report):
            found.append(PageSection(section.name, section.title, section.part))
        found += [replace(one, part=section.part) for one in theirs.get(section.name, [])]
    return found


def added(report: Report, sections: Sections, template_dir: Path | None = None) -> dict[str, list[PageSection]]:
    """Sections of plugins, rendered, by the section that they follow; a wrong template is a PluginError."""
    found: dict[str, list[PageSection]] = {}
    shown = {name: entry for name, entry in report.sections.items() if name in sections}
    if not shown:
        return found
    made, names = environment(template_dir, sections), _names(report)
    for name, entry in shown.items():
        section = sections[name]
        try:
            body = made.get_template(_template_of(name)).render(names | entry.data)
        except Exception as error:
            if template_dir is not None and (problem := _whose(error, template_dir)) is not None:
                raise InputError(problem) from error
            if shipped(section):
                raise
            problem = _whose(error, section.template.parent) or Problem(str(section.template), str(error))
            raise PluginError(section, f"the template of the section {name!r} failed", str(problem)) from error
        found.setdefault(section.after, []).append(PageSection(name, entry.title, body=Markup(body)))
    return found


def _template_of(name: str) -> str:
    return f"section_{name}.html"


def _names(report: Report, present: Collection[str] = ()) -> dict[str, object]:
    """What every template can use; `present` are the names of the sections that are shown."""
    phrases = view.phrases(report)
    return {
        "document": report,
        "present": present,
        "phrases": phrases,
        "constraint_of": partial(view.phrase_of_label, report),
        "loss_span_of": partial(view.loss_span_of_label, report),
        "gain": view.gain(report),
        "leading": view.leading(report),
        "further": view.further(report),
        "notices": view.notices(report),
        "follow_ups": view.follow_ups(report),
        "left_out": view.left_out(report),
        "comments": view.comments(report),
        "unsupported": [section.name for section in CORE if section.needs_model and not section.in_report(report)],
        "slack_laws": lambda entry: view.laws(entry, phrases),
        "why": partial(view.reasons, report),
        "policies": list(view.policies(report)),
        "has_long_term": view.has_long_term(report),
        "most_policy_groups": view.most_groups(report),
        "feasible": [policy for policy in view.policies(report) if not policy.infeasible],
        "units": view.units(report),
        "laws": [entry for entry in report.benchmarks if entry.ex_post_slack],
        "priced_blind": any(entry.group_aware for entry in report.entries),
        "price_level": view.price_level(report),
        "policy_attributes": view.policy_attributes(report),
        "policy_rows": partial(view.policy_rows, report),
        "groups_by_attribute": view.groups_by_attribute(report),
        "attributes": view.attributes(report),
        "has_crossings": any(one.crossing for one in view.attributes(report)),
        "crossed_line": view.crossed_line(report),
        "differences": any(finding.kind == "disparity" for finding in report.findings),
        "columns": view.columns(report),
        "matrices": view.matrices(report),
        "line": None if report.disparity is None else report.disparity.line,
        "alpha": None if report.disparity is None else report.disparity.alpha,
        "errors": view.errors(report),
        "settings": text.settings(report.config.to_json()),
        "fit_settings": [] if report.fit is None else text.settings(report.fit.settings.to_json()),
        "shifts_unbounded": report.revealed is not None and any(not row.interval for row in report.revealed.needed),
        "slack_total": len(histograms.slack_panels(report)),
    }


def environment(template_dir: Path | None = None, sections: Sections | None = None) -> Environment:
    """Jinja with the filters of the report; strict, and escaping whatever the template's name."""
    files = {_template_of(name): section.template for name, section in (sections or {}).items()}
    ours = ChoiceLoader([PackageLoader("auditkit.templates", ""), FunctionLoader(partial(_of_plugin, files))])
    loaders: list[BaseLoader] = [ours, PrefixLoader({"shipped": ours})]
    if template_dir is not None:
        if not template_dir.is_dir():
            raise InputError(Problem(str(template_dir), "there is no such folder of templates", "see --template-dir"))
        loaders.insert(0, _Theme(template_dir))
    made = _Sandbox(
        loader=ChoiceLoader(loaders),
        bytecode_cache=_compiled(),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_presentable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {name: _or_missing(form) for name, form in NUMBERS.items()} | TEXTS
    made.globals |= {
        "core_titles": {section.name: section.title for section in CORE},
        "cell": view.cell,
        "comparisons": view.comparisons,
        "most_groups": charts.MOST_GROUPS,
        "most_marked": charts.MOST_MARKED,
        "most_columns": MOST_COLUMNS,
        "status_names": labels.STATUSES,
        "marks": {status.value: mark for status, mark in view.MARKS.items()},
        "say": page_texts.SAY,
        "verdict_texts": sentences.VERDICTS,
        "treatment_texts": sentences.TREATMENTS,
        "order_texts": sentences.ORDERS,
        "data_uri": partial(data_uri, template_dir),
    }
    return made


class _Compiled(FileSystemBytecodeCache):
    """Templates that were compiled, by their text: those of this process, and those that ship beside their files, as
    Python keeps its modules."""

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder / "__pycache__"))
        self.folder, self.kept, self.shipped = folder, dict[tuple[str, str], CodeType](), set[str]()

    def get_bucket(self, environment: Environment, name: str, filename: str | None, source: str) -> Bucket:
        if filename is not None and Path(filename).parent == self.folder:
            self.shipped.add(self.get_cache_key(name, filename))
        return super().get_bucket(environment, name, filename, source)

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self.kept.get((bucket.key, bucket.checksum))
        if bucket.code is None and bucket.key in self.shipped:
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        assert bucket.code is not None
        self.kept[bucket.key, bucket.checksum] = bucket.code
        if bucket.key in self.shipped:
            with suppress(OSError):  # where nothing can be written, every process compiles
                super().dump_bytecode(bucket)


@kept()
def _compiled() -> _Compiled:
    return _Compiled(Path(str(files("auditkit.templates"))))


class _Sandbox(ImmutableSandboxedEnvironment):
    """Themes are not trusted: they may print, not act. They see attributes of the report, not pydantic's methods."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._safe: dict[tuple[type, str], bool] = {}
        """Nothing but the type of an object decides, and a page asks 4,000 times about some hundred."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        asked = type(obj), attr
        if asked not in self._safe:
            of_pydantic = isinstance(obj, BaseModel) and hasattr(BaseModel, attr)
            self._safe[asked] = not of_pydantic and super().is_safe_attribute(obj, attr, value)
        return self._safe[asked]


class _Theme(FileSystemLoader):
    """The templates in a folder of the user's; not what a link in it leads to, which would come out in the report."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        text, file, current = super().get_source(environment, template)
        if not any(Path(file).resolve().is_relative_to(Path(folder).resolve()) for folder in self.searchpath):
            raise TemplateNotFound(template)
        return text, file, current

    def load(self, environment: Environment, name: str, globals: Any = None) -> Template:
        try:
            return super().load(environment, name, globals)
        except (TemplateError, UnicodeDecodeError):
            raise
        except Exception as error:  # Jinja computes constants while it compiles, 2 ** 99999 among them
            what = f"cannot be compiled: {error}"
            raise TemplateSyntaxError(what, 1, name, str(Path(self.searchpath[0]) / name)) from error


def _of_plugin(files: Mapping[str, Path], name: str) -> tuple[str, str, Callable[[], bool]] | None:
    path = files.get(name)
    return None if path is None else (path.read_text(encoding="utf-8"), str(path), lambda: True)


def data_uri(template_dir: Path | None, name: str) -> str:
    """A picture of the theme as an address that holds the picture itself: the page stays one file."""
    folder = Path() if template_dir is None else template_dir.resolve()
    path = (folder / name).resolve()
    if template_dir is None or not path.is_relative_to(folder) or not path.is_file():
        raise TemplateRuntimeError(f"there is no file {name!r} in the folder of the theme")
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{b64encode(path.read_bytes()).decode()}"


def written(value: float | None, form: str | None) -> str:
    """A number in the form that its measure asks for."""
    return MISSING if value is None else NUMBERS[form or "amount"](value)


Ends = Interval | Sequence[float | None] | None


def _ends(bounds: Ends) -> Sequence[float | None] | None:
    return bounds.ends if isinstance(bounds, Interval) else bounds


def written_interval(bounds: Ends, form: str = "ratio", line: float | None = None) -> str:
    """`form` names the way in which the two ends are written."""
    ends = _ends(bounds)
    decimals = text.decimals_of(ends)
    forms: dict[str, Callable[[float | None], str]] = {
        "ratio": lambda x: text.ratio(x, line, decimals),
        "percent": text.percent,
        "amount": lambda x: text.amount_like(x, ends),
        "signed": text.signed,
    }
    return text.interval(ends, forms[form])


def measured(x: float, bounds: Ends, line: float | None = None) -> str:
    return text.measured(x, _ends(bounds), line)


def drawing(chart: Chart) -> Markup:
    """Made by us from parsed XML, in which every text is escaped."""
    return Markup(chart.svg)


def given_up(price: ReportPriceModel | None) -> str | None:
    """The share of the best utility that a constraint costs."""
    if price is None or price.given_up is None:
        return None
    return text.percent(price.given_up, sentences.share_decimals(price.given_up, price.given_up_span))


def given_up_interval(price: ReportPriceModel | None) -> str | None:
    span = None if price is None else price.given_up_span
    if span is None:
        return None
    ends = (span[0] or None, span[1])  # one-sided where it may be zero
    return text.interval(ends, partial(text.percent, decimals=sentences.share_decimals(span[1], span)))


def loss(price: ReportPriceModel | None) -> str | None:
    return None if price is None else text.amount_like(price.loss, price.loss_span)


def loss_interval(price: ReportPriceModel | None) -> str | None:
    span = None if price is None else price.loss_span
    return None if span is None else written_interval((span[0] or None, span[1]), "amount")


@dataclass(frozen=True)
class FrontierGroup:
    """A group whose numbers are shown beside the points of a frontier."""

    attribute: str
    name: str
    title: str


def frontier_groups(curve: CurveModel) -> tuple[list[FrontierGroup], int]:
    """The largest of the groups that the points of a frontier count, and how many more there are.

    A name that two attributes share is shown with its attribute.
    """
    known = next((point.selected for point in curve.points if point.selected), {})
    counts = {(attribute, name): n for attribute, groups in known.items() for name, n in groups.items()}
    often = Counter(name for _, name in counts)
    largest = sorted(counts, key=lambda key: -counts[key])[:MOST_BESIDE]
    shown = [FrontierGroup(a, n, n if often[n] == 1 else f"{a}: {n}") for a, n in counts if (a, n) in largest]
    return shown, len(counts) - len(shown)


def script_hash(script: str) -> str:
    """What a content security policy calls a script that it allows."""
    return f"sha256-{b64encode(hashlib.sha256(str(script).encode()).digest()).decode()}"


def group_name(name: str) -> Markup:
    """The name of a group, which may break behind the plus of a crossing."""
    parts = [part.translate(UNSEEN) for part in name.split("+")]
    return Markup("+<wbr>").join(Markup("<wbr>").join(_pieces(part)) for part in parts)


def _pieces(name: str) -> list[str]:
    """A name in pieces that fit a column: whole, unless one of its words is longer than any column."""
    if max(map(len, name.split()), default=0) <= LONGEST_WORD:
        return [name]
    return [name[i : i + LONGEST_WORD] for i in range(0, len(name), LONGEST_WORD)]


def slug(text: object) -> str:
    return re.sub(r"[^a-z0-9]+", "-", str(text).lower()).strip("-")


MOST_COLUMNS = 5
"""Groups side by side in a table of policies, which has further tables for the others."""
MOST_BESIDE = 7
"""Groups beside the points of a frontier."""
LONGEST_WORD = 24
"""Longer words may break; all others stay whole."""

NUMBERS: dict[str, Callable[..., str]] = {
    "amount": text.amount,
    "amount_like": text.amount_like,
    "brief": text.brief,
    "count": text.count,
    "day": text.day,
    "exact": text.exact,
    "expected": text.expected,
    "file_name": text.file_name,
    "fraction": text.fraction,
    "interval": written_interval,
    "moment": text.moment,
    "measured": measured,
    "p_value": text.p_value,
    "percent": text.percent,
    "plain": text.plain,
    "ratio": text.ratio,
    "roughly": text.roughly,
    "scientific": text.scientific,
    "sentence": text.sentence,
    "signed": text.signed,
}
"""Filters that write a value; None is marked as missing."""

TEXTS: dict[str, Callable[..., object]] = {
    "drawing": drawing,
    "decimals_of": lambda bounds: text.decimals_of(_ends(bounds)),
    "flat": text.flat,
    "frontier_groups": frontier_groups,
    "given_up": given_up,
    "given_up_interval": given_up_interval,
    "loss": loss,
    "loss_interval": loss_interval,
    "group_name": group_name,
    "joined": view.joined,
    "listing": text.listing,
    "decimals": text.decimals,
    "noun": text.noun,
    "indefinite": text.indefinite,
    "each_row": text.each_row,
    "plural": text.plural,
    "script_hash": script_hash,
    "slug": slug,
    "spaced": text.spaced,
    "visible": text.visible,
    "written": written,
}


_PARTS = ((0x00, 0x09), (0x0B, 0x0D), (0x0E, 0x20), (0x7F, 0xA0), (0x202A, 0x202F), (0x2066, 0x206A))
UNSEEN = dict.fromkeys(code for part in _PARTS for code in range(*part))
"""Control characters, and those that turn the direction of whatever follows."""


def _presentable(value: Any) -> Any:
    """What a template writes: nothing becomes "not available", and a text cannot reach beyond itself."""
    if value is None:
        return MISSING
    return value.translate(UNSEEN) if type(value) is str else value


def _or_missing(form: Callable[..., str]) -> Callable[..., str]:
    return lambda value, *args: MISSING if value is None else form(value, *args)


def _whose(error: Exception, template_dir: Path) -> Problem | None:
    """The place in the user's templates that an error comes from, if it comes from there."""
    if isinstance(error, UnicodeDecodeError):
        return Problem(str(template_dir), "holds a template that is not text in UTF-8")
    if isinstance(error, TemplateSyntaxError):
        inside = error.filename is not None and Path(error.filename).is_relative_to(template_dir)
        return Problem(f"{error.filename}, line {error.lineno}", str(error.message)) if inside else None
    frames = traceback.extract_tb(error.__traceback__)
    own = [f"{f.filename}, line {f.lineno}" for f in frames if Path(f.filename).is_relative_to(template_dir)]
    if isinstance(error, RecursionError) and own:
        return Problem(own[0], "the template builds on itself", 'a shipped one is extended as "shipped/NAME"')
    if own:
        what = f"there is no template {error}" if isinstance(error, TemplateNotFound) else f"{error}"
        name = "" if isinstance(error, TemplateError) else f"{type(error).__name__}: "
        return Problem(own[-1], name + what)
    if isinstance(error, UndefinedError):  # as shipped nothing is undefined, so a replaced template leaves it out
        shipped = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}"
        return Problem(str(template_dir), f"leaves out what the shipped {shipped} needs: {error}")
    return None
