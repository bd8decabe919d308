"""The tables of a report as data frames: `Audit.to_frame(name)`.

A table is a list somewhere in the report: its rows are the entries of the list, its columns their fields, after the
fields of the entries around them that tell rows apart. Parts inside an entry become columns: `interval_lower`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args

from auditkit.report import view
from auditkit.report.schema import (
    AttributeModel,
    AvailabilityModel,
    Bounds,
    BudgetModel,
    ComparisonModel,
    ConstrainedModel,
    CoverageModel,
    CutScoreModel,
    DisparityTableModel,
    DualModel,
    FindingModel,
    FollowUpModel,
    FrontierOptimumModel,
    FrontierPointModel,
    GroupErrorModel,
    GroupModel,
    HiddenCorrelationModel,
    HiddenPriceModel,
    LawModel,
    LeftOutModel,
    NeededShiftModel,
    PlaceModel,
    PoolModel,
    ProblemModel,
    Report,
    ReportPart,
    RevealedShiftModel,
    RoleModel,
    RuleModel,
    ScoreDifferenceModel,
    ScoreGroupModel,
    SegmentDifferenceModel,
    SegmentModel,
    SegmentPartModel,
    SelectionRateModel,
    SensitivityPointModel,
    StepGainModel,
    StratumErrorModel,
    UnitModel,
    UnusedColumnModel,
)

if TYPE_CHECKING:
    import pandas as pd

POLICY_COLUMNS = ["policy", "utility", "loss", "loss_lower", "loss_upper", "kept", "kept_lower", "kept_upper"]
POLICY_COLUMNS += ["attribute", "group", "candidates", "inspected", "selected"]
DISPARITY_COLUMNS = ["attribute", "step", "kind", "group", "applicants", "selected", "rate", "impact_ratio"]
DISPARITY_COLUMNS += ["impact_ratio_lower", "impact_ratio_upper", "p", "p_adjusted", "p_within", "odds_ratio_within"]
DISPARITY_COLUMNS += ["shortfall", "detectable_ratio", "status"]

Row = dict[str, Any]


@dataclass(frozen=True)
class ReportTable:
    """Where a table is in the report, the class of its entries, and which fields around them tell its rows apart.

    A key `label=constraint` is the field `label` in a column `constraint`, as are `renamed` ones of the entries;
    `without` are fields that are left out.
    """

    path: str
    entry: type[ReportPart]
    keys: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def rows(self, report: Report) -> list[Row]:
        names, found = _columns(self.renamed), self._entries(report, self.path.split("."), {})
        return [
            {**keys, **{names.get(name, name): cell for name, cell in _cells(entry, self.without).items()}}
            for keys, entry in found
        ]

    def _entries(self, part: Any, path: list[str], keys: Row) -> Iterator[tuple[Row, ReportPart]]:
        if part is None:
            return
        if isinstance(part, tuple):
            for one in part:
                yield from self._entries(one, path, keys)
        elif not path:
            yield keys, part
        else:
            fields = type(part).model_fields
            own = {column: getattr(part, name) for name, column in _columns(self.keys).items() if name in fields}
            yield from self._entries(getattr(part, path[0]), path[1:], {**keys, **own})

    @property
    def columns(self) -> list[str]:
        """Of an empty table: its keys, and the fields that are no parts of their own."""
        names = _columns(self.renamed)
        fields = (names.get(name, name) for name in self.entry.model_fields if name not in self.without)
        return list(dict.fromkeys([*_columns(self.keys).values(), *fields]))


def _columns(keys: tuple[str, ...]) -> dict[str, str]:
    """Field -> column."""
    return {field: column or field for field, _, column in (key.partition("=") for key in keys)}


_AT_A_STEP = ("attribute", "step", "kind")
TABLES: dict[str, ReportTable] = {
    "findings": ReportTable("findings", FindingModel),
    "follow_ups": ReportTable("follow_ups", FollowUpModel),
    "mapping": ReportTable("mapping", RoleModel),
    "unused_columns": ReportTable("reading.unused", UnusedColumnModel),
    "problems": ReportTable("problems.by_code", ProblemModel),
    "left_out": ReportTable("scope.left_out", LeftOutModel),
    "attributes": ReportTable("attributes", AttributeModel),
    "groups": ReportTable("groups", GroupModel, renamed=("name=group",)),
    "comparisons": ReportTable("disparity.tables.groups.comparisons", ComparisonModel, (*_AT_A_STEP, "group")),
    "omnibus": ReportTable("disparity.tables", DisparityTableModel),
    "segments": ReportTable("segments", SegmentModel),
    "segment_values": ReportTable("segments.parts", SegmentPartModel, (*_AT_A_STEP, "segment", "group", "reference")),
    "segment_search": ReportTable("disparity.search.found", SegmentDifferenceModel),
    "availability": ReportTable("disparity.availability", AvailabilityModel),
    "pools": ReportTable("disparity.availability.pools", PoolModel, ("attribute", "group", "step")),
    "scores": ReportTable("disparity.score_pages.groups", ScoreGroupModel, ("attribute", "score", "reference")),
    "cut_scores": ReportTable("disparity.score_pages.cuts", CutScoreModel, ("attribute", "score=score_name")),
    "prices": ReportTable("constrained", ConstrainedModel, without=("by_group", "mixture", "unfilled", "against_firm")),
    "constraints": ReportTable("constrained.duals", DualModel, ("label=constraint",)),
    "ex_post": ReportTable(
        "constrained.ex_post_slack", LawModel, ("label=constraint",), without=("edges", "probabilities")
    ),
    "units": ReportTable("constrained.units", UnitModel, ("label=constraint",)),
    "gain_by_step": ReportTable("firm.gain.steps", StepGainModel),
    "frontier": ReportTable("frontier.curves.points", FrontierPointModel, ("label", "parameter")),
    "budgets": ReportTable("frontier.budgets", BudgetModel),
    "places": ReportTable("frontier.places.places", PlaceModel),
    "sensitivity": ReportTable("sensitivity.points", SensitivityPointModel, ("group",)),
    "blind": ReportTable("alternatives.blind", FrontierOptimumModel, ("attribute", "group", "against", "step")),
    "aware": ReportTable("alternatives.aware", FrontierOptimumModel, ("attribute", "group", "against", "step")),
    "rules": ReportTable("alternatives.rules", RuleModel, ("attribute", "group", "against", "step")),
    "revealed": ReportTable("revealed.steps.shifts", RevealedShiftModel, ("step", "standing")),
    "needed": ReportTable("revealed.needed", NeededShiftModel),
    "score_meaning": ReportTable("scores.tables.groups", ScoreDifferenceModel, ("attribute", "predicts", "reference")),
    "fit_by_group": ReportTable("fit.by_group", GroupErrorModel),
    "fit_by_stratum": ReportTable("fit.by_stratum", StratumErrorModel),
    "coverage": ReportTable("fit.coverage", CoverageModel),
    "inspected_by_group": ReportTable("fit.selection.by_group", SelectionRateModel, renamed=("name=group",)),
    "inspected_by_tercile": ReportTable("fit.selection.by_tercile", SelectionRateModel),
    "hidden_information": ReportTable(
        "fit.hidden_information.tests.groups", HiddenCorrelationModel, ("attribute", "verdict", "p")
    ),
    "hidden_prices": ReportTable(
        "fit.hidden_information.prices.prices", HiddenPriceModel, ("attribute", "group", "constraint")
    ),
}
NAMES = ("policies", "disparity", "funnel", *TABLES)
"""Of the tables that `Audit.to_frame` makes."""


def frame(report: Report, name: str) -> pd.DataFrame:
    """The table of one of `NAMES`; empty where the data cannot support it."""
    import pandas as pd

    if name == "policies":
        rows, named = _policy_rows(report), POLICY_COLUMNS
    elif name == "disparity":
        rows, named = _disparity_rows(report), DISPARITY_COLUMNS
    elif name == "funnel":
        rows, named = _funnel_rows(report), ["step", "attribute", "group", "reached"]
    else:
        rows = TABLES[name].rows(report)
        named = [] if rows else TABLES[name].columns
    others = dict.fromkeys(column for row in rows for column in row if column not in named)
    return pd.DataFrame(rows, columns=[*named, *others])


def _cells(part: ReportPart, without: tuple[str, ...] = ()) -> Row:
    """The fields of an entry as cells; lists of parts are tables of their own."""
    found: Row = {}
    for name, value in part:
        if name not in without:
            found |= _cell(name, value, _kinds(type(part).model_fields[name].annotation))
    return found


def _kinds(annotation: Any) -> set[Any]:
    """The types of a field: those of a union, one by one."""
    return (
        {kind for one in get_args(annotation) for kind in _kinds(one)}
        if isinstance(annotation, UnionType)
        else {annotation}
    )


def _cell(name: str, value: Any, kinds: set[Any]) -> Row:
    if Bounds in kinds:
        return dict(zip([f"{name}_lower", f"{name}_upper"], value or (None, None), strict=True))
    if isinstance(value, ReportPart):
        return {f"{name}_{inner}": cell for inner, cell in _cells(value).items()}
    if isinstance(value, Mapping):
        return {key: cell for inner, own in value.items() for key, cell in _cell(f"{name}_{inner}", own, set()).items()}
    if value is None and any(isinstance(kind, type) and issubclass(kind, ReportPart) for kind in kinds):
        return {}
    if isinstance(value, tuple):
        if any(isinstance(one, ReportPart) for one in value):
            return {}
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
            rows += [numbers | {"attribute": attribute, "group": name, **dict(row)} for name, row in groups.items()]
    return rows


def _disparity_rows(report: Report) -> list[Row]:
    rows: list[Row] = []
    for table in report.tables:
        for row in table.groups:
            numbers = {name: value for name, value in row if name in DISPARITY_COLUMNS}
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
            rows.append(numbers | row.measures)
    return rows


def _funnel_rows(report: Report) -> list[Row]:
    return [
        {"step": stage.step, "attribute": attribute, "group": group, "reached": reached}
        for stage in report.funnel
        for attribute, groups in stage.by_group.items()
        for group, reached in groups.items()
    ]
