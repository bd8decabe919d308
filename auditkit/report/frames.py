"""The tables of a report as data frames: `Audit.to_frame(name)`.

A table is a list somewhere in the report: its rows are the entries of the list, its columns their fields, after the
fields of the entries around them that tell rows apart. Parts inside an entry become columns: `interval_lower`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from auditkit.model.session import kept
from auditkit.report import view
from auditkit.report.schema import AnswersModel, ConstrainedModel, Report

if TYPE_CHECKING:
    import pandas as pd

POLICY_COLUMNS = ["policy", "utility", "loss", "loss_lower", "loss_upper", "kept", "kept_lower", "kept_upper"]
POLICY_COLUMNS += ["attribute", "group", "candidates", "inspected", "selected"]
DISPARITY_COLUMNS = ["attribute", "step", "kind", "group", "applicants", "selected", "rate", "impact_ratio"]
DISPARITY_COLUMNS += ["impact_ratio_lower", "impact_ratio_upper", "p", "p_adjusted", "p_within", "odds_ratio_within"]
DISPARITY_COLUMNS += ["shortfall", "detectable_ratio", "status"]

Row = dict[str, object]
Bounds = tuple[float, float]


@dataclass(frozen=True)
class ReportTable:
    """Where a table is in the report, and which fields around its entries tell its rows apart.

    A key `label=constraint` is the field `label` in a column `constraint`, as are `renamed` ones of the entries;
    `without` are fields that are left out.
    """

    path: str
    keys: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def rows(self, report: Report | AnswersModel) -> list[Row]:
        names = _columns(self.renamed)
        return [
            {**keys, **{names.get(name, name): cell for name, cell in cells(entry, self.without).items()}}
            for keys, entry in self._entries(report, self.path.split("."), {})
        ]

    def _entries(self, part: Any, path: list[str], keys: Row) -> Iterator[tuple[Row, Any]]:
        if isinstance(part, tuple):
            for one in part:
                yield from self._entries(one, path, keys)
        elif part is not None and not path:
            yield keys, part
        elif part is not None:
            own = {c: getattr(part, name) for name, c in _columns(self.keys).items() if name in fields_of(type(part))}
            yield from self._entries(getattr(part, path[0]), path[1:], {**keys, **own})

    @property
    def columns(self) -> list[str]:
        """The columns of an empty table: its keys, and the fields its entries would have."""
        entry: type = Report
        for name in self.path.split("."):
            entry = next(kind for kind in kinds_of(fields_of(entry)[name]) if fields_of(kind))
        names = _columns(self.renamed)
        fields = (names.get(name, name) for name in fields_of(entry) if name not in self.without)
        return list(dict.fromkeys([*_columns(self.keys).values(), *fields]))


def _columns(keys: tuple[str, ...]) -> dict[str, str]:
    """Field -> column."""
    return {field: column or field for field, _, column in (key.partition("=") for key in keys)}


def fields_of(kind: type) -> dict[str, object]:
    """The fields of a part of the report with their types: parts are models, or results that the report holds."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    if not is_dataclass(kind):
        return {}
    hints = {field.name: _hints(kind)[field.name] for field in fields(kind)}
    return {
        name: get_args(hint)[0] if get_origin(hint) is Annotated else hint
        for name, hint in hints.items()
        if not _left_out(hint)
    }


@kept()
def _hints(part: type) -> dict[str, object]:
    return get_type_hints(part, include_extras=True)


def _left_out(hint: Any) -> bool:
    """Whether the dump of a report has no such field."""
    return get_origin(hint) is Annotated and any(getattr(each, "exclude", None) for each in hint.__metadata__)


def kinds_of(annotation: Any) -> set[Any]:
    """The types that a field may have: those of a union and of the entries of a list, one by one."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    inside = get_origin(annotation) in (Union, UnionType) or (get_origin(annotation) is tuple and annotation != Bounds)
    return {kind for one in get_args(annotation) for kind in kinds_of(one)} if inside else {annotation}


_AT_A_STEP = ("attribute", "step", "kind")
TABLES: dict[str, ReportTable] = {
    "findings": ReportTable("findings"),
    "follow_ups": ReportTable("follow_ups"),
    "mapping": ReportTable("mapping"),
    "unused_columns": ReportTable("reading.unused"),
    "problems": ReportTable("problems.by_code"),
    "left_out": ReportTable("scope.left_out"),
    "attributes": ReportTable("attributes"),
    "groups": ReportTable("groups", renamed=("name=group",)),
    "comparisons": ReportTable("disparity.tables.groups.comparisons", (*_AT_A_STEP, "group")),
    "omnibus": ReportTable("disparity.tables"),
    "bands": ReportTable("disparity.tables.trend.bands", _AT_A_STEP),
    "score_validity": ReportTable("disparity.validity.tables.groups", ("attribute", "predicts", "reference")),
    "score_validity_adjusted": ReportTable("disparity.validity.adjusted"),
    "segments": ReportTable("segments"),
    "segment_values": ReportTable("segments.parts", (*_AT_A_STEP, "segment", "group", "reference")),
    "segment_search": ReportTable("disparity.search.found"),
    "availability": ReportTable("disparity.availability"),
    "pools": ReportTable("disparity.availability.pools", ("attribute", "group", "step")),
    "scores": ReportTable("disparity.score_pages.groups", ("attribute", "score", "reference")),
    "cut_scores": ReportTable("disparity.score_pages.cuts", ("attribute", "score=score_name")),
    "prices": ReportTable("constrained", without=("by_group", "mixture", "unfilled", "against_firm")),
    "constraints": ReportTable("constrained.duals", ("label=constraint",)),
    "ex_post": ReportTable("constrained.ex_post_slack", ("label=constraint",), without=("edges", "probabilities")),
    "units": ReportTable("constrained.units", ("label=constraint",)),
    "gain_by_step": ReportTable("firm.gain.steps"),
    "frontier": ReportTable("frontier.curves.points", ("label", "parameter")),
    "bias_tables": ReportTable("frontier.bias_tables.cells", ("label", "parameter", "group")),
    "budgets": ReportTable("frontier.budgets"),
    "places": ReportTable("frontier.places.places"),
    "sensitivity": ReportTable("sensitivity.points", ("group",)),
    "sensitivity_points": ReportTable("sensitivity.shifts", ("group",)),
    "blind": ReportTable("alternatives.blind", ("attribute", "group", "against", "step")),
    "aware": ReportTable("alternatives.aware", ("attribute", "group", "against", "step")),
    "rules": ReportTable("alternatives.rules", ("attribute", "group", "against", "step")),
    "revealed": ReportTable("revealed.steps.shifts", ("step", "standing")),
    "needed": ReportTable("revealed.needed"),
    "score_meaning": ReportTable("scores.tables.groups", ("attribute", "predicts", "reference")),
    "fit_by_group": ReportTable("fit.by_group"),
    "fit_by_stratum": ReportTable("fit.by_stratum"),
    "coverage": ReportTable("fit.coverage"),
    "inspected_by_group": ReportTable("fit.selection.by_group", renamed=("name=group",)),
    "inspected_by_tercile": ReportTable("fit.selection.by_tercile"),
    "hidden_information": ReportTable("fit.hidden_information.tests.groups", ("attribute", "verdict", "p")),
    "hidden_prices": ReportTable("fit.hidden_information.prices.prices", ("attribute", "group", "constraint")),
}
ANSWERS = tuple(name for name, table in TABLES.items() if table.path.startswith(("frontier.", "sensitivity.")))
NAMES = ("policies", "disparity", "funnel", *TABLES)
"""Of the tables that `Audit.to_frame` makes."""


def frame(report: Report, name: str) -> pd.DataFrame:
    """The table of one of `NAMES`; empty where the data cannot support it."""
    if name == "policies":
        rows, named = _policy_rows(report), POLICY_COLUMNS
    elif name == "disparity":
        rows, named = _disparity_rows(report), DISPARITY_COLUMNS
    elif name == "funnel":
        rows, named = _funnel_rows(report), ["step", "attribute", "group", "reached"]
    else:
        return listed(report, name)
    return _framed(rows, named)


def listed(report: Report | AnswersModel, name: str) -> pd.DataFrame:
    """One of `TABLES`; the answers to what-if questions have `ANSWERS` by themselves."""
    rows = TABLES[name].rows(report)
    return _framed(rows, [] if rows else TABLES[name].columns)


def _framed(rows: list[Row], named: list[str]) -> pd.DataFrame:
    import pandas as pd

    others = dict.fromkeys(column for row in rows for column in row if column not in named)
    return pd.DataFrame(rows, columns=[*named, *others])


def cells(part: Any, without: tuple[str, ...] = ()) -> Row:
    """The fields of an entry as cells; lists of parts are tables of their own."""
    found: Row = {}
    for name, annotation in fields_of(type(part)).items():
        if name not in without:
            found |= _cell(name, getattr(part, name), kinds_of(annotation))
    return found


def _cell(name: str, value: Any, kinds: set[Any]) -> Row:
    if Bounds in kinds:
        return dict(zip([f"{name}_lower", f"{name}_upper"], value or (None, None), strict=True))
    if fields_of(type(value)):
        return {f"{name}_{inner}": cell for inner, cell in cells(value).items()}
    if isinstance(value, Mapping):
        return {key: cell for inner, own in value.items() for key, cell in _cell(f"{name}_{inner}", own, set()).items()}
    if any(map(fields_of, kinds)):
        return {}  # a list of parts, or a part that is not there
    if isinstance(value, tuple):
        return {name: ", ".join(map(str, value)) if all(isinstance(one, str) for one in value) else value}
    return {name: value.value if isinstance(value, Enum) else value}


def _policy_rows(report: Report) -> list[Row]:
    rows: list[Row] = []
    for policy in view.policies(report):
        price = policy.part.price_of_fairness if isinstance(policy.part, ConstrainedModel) else None
        numbers: Row = {"policy": policy.name, "utility": policy.part.utility}
        if price is not None:
            numbers |= {"loss": price.loss, "kept": price.ratio}
            kept = None if price.interval is None else price.interval.ratio
            numbers |= dict(zip(["loss_lower", "loss_upper"], price.loss_span or (None, None), strict=True))
            numbers |= dict(zip(["kept_lower", "kept_upper"], kept or (None, None), strict=True))
        for attribute, groups in (policy.part.by_group or {}).items():
            rows += [numbers | {"attribute": attribute, "group": name, **vars(row)} for name, row in groups.items()]
    return rows


def _disparity_rows(report: Report) -> list[Row]:
    rows: list[Row] = []
    for table in report.tables:
        for row in table.groups:
            numbers = {name: value for name, value in vars(row).items() if name in DISPARITY_COLUMNS}
            numbers |= {
                "attribute": table.attribute,
                "step": table.step,
                "kind": table.kind,
                "status": row.status.value,
            }
            if row.interval is not None:
                numbers |= {"impact_ratio_lower": row.interval.lower, "impact_ratio_upper": row.interval.upper}
            if row.within is not None:
                numbers |= {"p_within": row.within.p, "odds_ratio_within": row.within.odds_ratio}
            rows.append({**numbers, **row.measures})
    return rows


def _funnel_rows(report: Report) -> list[Row]:
    return [
        {"step": stage.step, "attribute": attribute, "group": group, "reached": reached}
        for stage in report.funnel
        for attribute, groups in stage.by_group.items()
        for group, reached in groups.items()
    ]
