"""The report, `auditkit-report/3`: one tree of frozen models. JSON is its dump; pages, charts, thresholds and exporters
read its attributes.

A part that the data cannot support is None, and a finding says why. No candidate's row is in it. `build` makes a report
from results, `load` reads one from a file, older or foreign ones included. Parts that mirror a result are read from its
attributes, so a result needs no JSON of its own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    field_serializer,
    model_serializer,
)

from auditkit.compare.comparison import AwarePrice, GroupNumbers, selects_nobody
from auditkit.compare.expost import Normalised
from auditkit.compare.firm_gain import FirmGain, GainParts, GroupChange
from auditkit.compare.hidden_prices import HiddenPrices
from auditkit.compare.revealed import Revealed
from auditkit.compare.value_of_point import PointValue
from auditkit.config import Config
from auditkit.data.reading import Favourable
from auditkit.disparity.results import Disparities, DisparityTable, SegmentTable
from auditkit.fitting.hidden_information import HiddenInformation
from auditkit.fitting.quality import Error
from auditkit.fitting.score_meaning import ScoreMeanings
from auditkit.model.limits import UnitNumbers, Whole
from auditkit.model.row_meaning import Meaning
from auditkit.rules.find import Alternative, RuleResult
from auditkit.scenarios import BiasTable, FrontierPoint, MorePlaces, MorePositions, Sensitivity

FORMAT: Literal["auditkit-report/3"] = "auditkit-report/3"
EARLIER = ("auditkit-report/2",)
"""Formats that `load` reads too: their keys have the same names and meaning."""

Outcome = Literal["inspected", "selected"]
P = TypeVar("P", bound="ReportPart")


def _finite(value: object) -> object:
    """Fractions as numbers; no number for what is not finite."""
    if isinstance(value, Fraction):
        return float(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


Ratio = Annotated[float, BeforeValidator(_finite)]
Bounds = tuple[float, float]


class ReportPart(BaseModel):
    """A part of the report. Keys in `sparse` are written only where they have a value."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        from_attributes=True,
        revalidate_instances="always",
        defer_build=True,
    )
    sparse: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def mirror(cls: type[P], result: object, **more: object) -> P:
        """The part that mirrors a result: its attributes by the same names, and what it does not have itself."""
        own = {name: getattr(result, name) for name in cls.model_fields if name not in more and hasattr(result, name)}
        return cls.model_validate({**own, **more})

    def to_json(self) -> dict[str, JsonValue]:
        """As JSON values."""
        return self.model_dump(mode="json")

    @model_serializer(mode="wrap")
    def _without_empty(self, dump: SerializerFunctionWrapHandler, _: SerializationInfo) -> object:
        found: dict[str, object] = dump(self)
        for key in self.sparse:
            if found.get(key) in (None, []):
                found.pop(key, None)
        return found


def as_json(result: object) -> Any:
    """A result that is itself a part of the report, as JSON values."""
    return TypeAdapter(type(result)).dump_python(result, mode="json")


# Data -----------------------------------------------------------------------------------------------------------------


class InputModel(ReportPart):
    """Which data were audited."""

    sparse = ("url", "query")

    path: str = Field(description="name of the file, without its folder, or of the database")
    rows: int
    sha256: str
    encoding: str | None = None
    separator: str | None = None
    url: str | None = Field(default=None, description="of the database, without its password")
    query: str | None = Field(default=None, description="the SQL that returned the rows")


class RoleModel(ReportPart):
    """Which column played which role, and why."""

    role: str
    column: str
    reason: str


class UnusedColumnModel(ReportPart):
    """A column that the audit does not use."""

    column: str
    looks_like: str | None = Field(description="step, outcome, group, score or postal code, where it looks like one")


class ReadingModel(ReportPart):
    """How the file was read."""

    confidence: Literal["certain", "likely"]
    row: str = Field(description="what a row is: application, event, counts, ...")
    favourable: Favourable
    people: str = Field(default="applicants", description="what the people of the file are called")
    verb: str = Field(default="selected", description="what the good outcome did to them: selected, retained, ...")
    unused: tuple[UnusedColumnModel, ...]
    assumptions: tuple[str, ...]


class ProblemModel(ReportPart):
    """One kind of problem of the data and how often it occurred; no cell is quoted."""

    code: str
    treatment: Literal["refuse", "warn", "unknown"]
    count: int
    what: str
    fix: str


class CountsModel(ReportPart):
    """Rows of the file: those read are those used and those left out, by reason."""

    read: int
    used: int
    left: dict[str, int]


class ProblemsModel(ReportPart):
    """Problems of the data."""

    total: int
    by_code: tuple[ProblemModel, ...]
    counts: CountsModel


class PeriodModel(ReportPart):
    """First and last date of the applications, as 2026-11-16."""

    first: str
    last: str


class LeftOutModel(ReportPart):
    """Rows that are in no number of the report, and why."""

    reason: str
    rows: int


class ScopeModel(ReportPart):
    """What the report covers: `rows` of the file are `applications` and those left out, unless rows are counts."""

    organisation: str
    period: PeriodModel | None
    searches: int
    rows: int
    stand_for: int | None = Field(
        default=None, description="where rows are counts: how many applications the used rows represent"
    )
    applications: int
    reached: dict[str, int] = Field(default={}, description="applications that reached each step")
    decided: dict[str, int] = Field(default={}, description="applications about which each step decided")
    left_out: tuple[LeftOutModel, ...]
    repeated_applicants: int = Field(description="people who applied more than once")
    unknown: dict[str, int] = Field(description="by attribute: applications whose group is unknown")
    merged: dict[str, tuple[str, ...]] = Field(description="by attribute: small groups that are shown together")


class AttributeModel(ReportPart):
    """A protected attribute, or the crossing of several, and its groups."""

    name: str
    kind: str
    crossing: bool
    groups: tuple[str, ...]


class GroupModel(ReportPart):
    """A group of an attribute, how many of it reached each step, and about how many each step decided."""

    attribute: str
    name: str
    applicants: int
    steps: dict[str, int]
    decided: dict[str, int] = Field(default={}, description="about how many a step decided; default: all applicants")

    def share(self, step: str) -> float | None:
        """Of those about whom a step decided, those who reached it."""
        whole = self.decided.get(step, self.applicants)
        return self.steps[step] / whole if whole and step in self.steps else None


class FunnelModel(ReportPart):
    """How many of each group reached a step, by attribute and group; the first step is having applied."""

    step: str
    by_group: dict[str, dict[str, int]]


# Policies -------------------------------------------------------------------------------------------------------------


ByGroup = Annotated[dict[str, dict[str, GroupNumbers]], Field(description="by attribute, then by group")]


class StandingModel(ReportPart):
    """What a policy yields."""

    sparse = ("units",)

    utility: float
    long_term_utility: float | None = None
    by_group: ByGroup
    unfilled_capacity: Whole
    units: tuple[UnitNumbers, ...] = Field(default=(), description="where searches have limits")


class BestModel(StandingModel):
    """The best policy without constraints."""

    ex_post_slack: None = None


class StepGainModel(ReportPart):
    """The gain at one stage, all later ones at their best."""

    step: str
    gain: float


class GainModel(ReportPart):
    """The best policy without constraints against the firm's own search."""

    level: float = Field(description="of the intervals")
    expected_utility: float = Field(description="of the firm's own search, the best of those it inspected taken")
    inspected: int
    positions_filled: float
    label: str
    gain: float
    interval: Bounds | None
    parts: GainParts
    by_group: dict[str, dict[str, GroupChange]] = Field(description="by attribute, then by group")
    steps: tuple[StepGainModel, ...] = Field(description="of searches in stages")


class FirmModel(StandingModel):
    """What the firm's recorded decisions yielded."""

    capacity: int | None = Field(default=None, description="positions of all searches")
    gain: GainModel | None = Field(default=None, description="what the best search would have gained, like with like")


class IntervalModel(ReportPart):
    """From other priors that the data allow, and the spread over searches."""

    level: float
    ratio: Bounds | None
    loss: Bounds
    one_sided: bool = Field(default=False, description="the loss may be zero; only an upper bound is known")
    replicates: int | None = Field(default=None, description="how many other priors are behind it")


class ReportPriceModel(ReportPart):
    """The price of fairness."""

    ratio: float | None = Field(description="share of the unconstrained utility that is kept")
    loss: float
    interval: IntervalModel | None

    @property
    def given_up(self) -> float | None:
        """The share of the utility that is lost."""
        return None if self.ratio is None else max(0.0, 1 - self.ratio)

    @property
    def given_up_span(self) -> Bounds | None:
        """The interval of the share that is lost."""
        if self.interval is None or self.interval.ratio is None:
            return None
        low, high = self.interval.ratio
        return max(0.0, 1 - high), max(0.0, 1 - low)

    @property
    def loss_span(self) -> Bounds | None:
        return None if self.interval is None else self.interval.loss


class LawModel(ReportPart):
    """Exact distribution of how far a constraint is kept or missed in one draw of all searches."""

    label: str
    edges: tuple[float, ...]
    probabilities: tuple[float, ...]
    mean: float
    sd: float
    outside: float | None = None
    normalised: Normalised | None = Field(default=None, description="the slack over the sum of what is compared")
    meaning: Meaning | None = Field(default=None, description="null in `auditkit-report/2`")


class UnfilledModel(ReportPart):
    """Exact distribution of the number of positions left open."""

    counts: tuple[int, ...]
    probabilities: tuple[float, ...]

    @property
    def none(self) -> float:
        """The chance that every position is filled."""
        return sum(p for n, p in zip(self.counts, self.probabilities, strict=True) if n == 0)


class DualModel(ReportPart):
    """What the optimum gains per unit by which the bound of a row is moved."""

    label: str
    sense: Literal["<=", "==", ">="]
    value: float | None
    slack: float
    words: str | None
    interval: Bounds | None = Field(default=None, description="of the value, at the level of the price's")
    meaning: Meaning | None = Field(default=None, description="null in `auditkit-report/2`")


class MultipliersModel(ReportPart):
    """Multipliers under which a policy is optimal; `objective` is the weight of the utility itself."""

    objective: float = 1.0
    duals: tuple[float, ...] = Field(description="one for each affine row, then one for each cut")


class MixedPolicyModel(MultipliersModel):
    """One policy of the mixture. Ties of its indices are broken by the further levels in `ties`."""

    sparse = ("ties",)

    ties: tuple[MultipliersModel, ...] = ()


Draw = Annotated[tuple[int, float], Field(description="number of a policy, counted from 0, and its probability")]


class LotteriesModel(ReportPart):
    """Who follows which policy: one lottery for the whole `firm`, or a policy for every search."""

    sparse = ("firm", "default")

    firm: tuple[Draw, ...] | None = Field(default=None, description="one policy is drawn for all searches together")
    default: int | None = Field(default=None, description="the policy of all searches that are not named")
    searches: dict[str, tuple[Draw, ...]] = Field(
        default={}, description="search = its policy, or the lottery that it draws one from"
    )


class ConstrainedModel(ReportPart):
    """The best policy under one constraint, or under all together; all null but its name where none meets them."""

    sparse = ("units",)

    label: str
    phrase: str | None = Field(default=None, description="what it asks for, in words")
    specs: tuple[str, ...]
    status: Literal["optimal", "unproved", "infeasible"] = Field(
        description="unproved: met, and the optimum lies between `utility` and `bound`"
    )
    conflict: tuple[str, ...]
    utility: float | None = None
    long_term_utility: float | None = None
    by_group: ByGroup | None = None
    unfilled_capacity: Whole | None = None
    units: tuple[UnitNumbers, ...] = Field(default=(), description="where searches have limits")
    price_of_fairness: ReportPriceModel | None = Field(
        default=None, description="of the best policy that does not see the group (with fit.group_aware: that does)"
    )
    group_aware: AwarePrice | None = Field(
        default=None, description="the bound if the group could be used; null where the price is that already"
    )
    ex_post_slack: tuple[LawModel, ...] | None = None
    unfilled: UnfilledModel | None = None
    bound: float | None = None
    gap: float | None = None
    duals: tuple[DualModel, ...] | None = None
    order_kept: bool | None = Field(default=None, description="within each group, nobody overtakes a higher score")
    policies: tuple[MixedPolicyModel, ...] | None = Field(
        default=None, description="null: `auditkit solve` lists them, with all digits; earlier versions did here"
    )
    mixture: LotteriesModel | None = Field(
        default=None, description="null like `policies`; searches by their place in the data, counted from 0"
    )
    randomised: int | None = Field(default=None, description="how many searches draw their policy by lot")
    against_firm: FirmGain | None = None

    @property
    def met(self) -> bool:
        """Whether some policy meets the constraints."""
        return self.status != "infeasible"

    @property
    def selects_nobody(self) -> bool:
        return self.by_group is not None and selects_nobody(self.by_group)

    @property
    def idle_rows(self) -> int:
        """How many of its rows do not bind."""
        return sum(not dual.value for dual in self.duals or ())


# Alternatives ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PointValuePart(PointValue):
    """What one score point is worth, in the unit of costs, or in inspections where the data have no cost."""

    sentence: str


@dataclass(frozen=True, kw_only=True)
class AlternativePart(Alternative):
    """Rules for one attribute and step: the most affected group and the one that it is compared with."""

    rates: str = ""
    """What is compared: "hiring rates of women and men"; empty in reports of earlier versions."""
    sentences: tuple[str, ...]

    @property
    def reached(self) -> list[RuleResult]:
        """The rules that reach the ratio they were looked for at, each once."""
        found: dict[str, RuleResult] = {}
        for rule in self.rules:
            if rule.met and rule.text not in found:
                found[rule.text] = rule
        return list(found.values())

    def given_up(self, ratio: float | None, *, aware: bool = False) -> float | None:
        """The share of the utility of the best search that a ratio costs; `aware`: if policies could use the group."""
        points = self.aware if aware else self.blind
        free = points[0].utility if points else None
        there = next((point.utility for point in points if point.ratio == ratio), None)
        return None if not free or free <= 0 or there is None else max(0.0, 1 - there / free)


# Disparity ------------------------------------------------------------------------------------------------------------


# What if --------------------------------------------------------------------------------------------------------------


class CurveModel(ReportPart):
    """What each value of a constraint's parameter costs."""

    sparse = ("apart",)

    label: str
    parameter: str
    tightens: int = Field(description="1 if larger values demand more, -1 if smaller ones do")
    present: float | None
    unconstrained: float
    positions: int
    points: tuple[FrontierPoint, ...]
    starts: float | None = Field(description="the value from which it costs something")
    apart: float | None = Field(
        default=None,
        description="exact breakpoints: the most by which the curve lies above straight lines between them",
    )
    title: str | None = Field(default=None, description="of its chart")
    axis: str | None = Field(default=None, description="what the values are")
    sentence: str


@dataclass(frozen=True, kw_only=True)
class MorePositionsPart(MorePositions):
    """How many more positions make up for the constraints."""

    sentence: str


class BudgetModel(ReportPart):
    """One more unit of a budget against one more position."""

    label: str
    limit: float
    unit: float
    utility: float
    dual: float
    budget: float
    position: float | None
    sentence: str


@dataclass(frozen=True, kw_only=True)
class MorePlacesPart(MorePlaces):
    """What limits cost: places in order of their worth."""

    sentence: str


@dataclass(frozen=True, kw_only=True)
class BiasTablePart(BiasTable):
    """How strict a constraint should be, given how biased the scores of a group are."""

    sentence: str


class FrontierModel(ReportPart):
    """Answers to the what-if questions about constraints, positions and budgets."""

    sparse = ("bias_tables",)

    group: str | None
    constraints: tuple[str, ...]
    curves: tuple[CurveModel, ...]
    positions: MorePositionsPart | None
    budgets: tuple[BudgetModel, ...]
    places: MorePlacesPart | None = Field(default=None, description="one more place in each limit that binds")
    bias_tables: tuple[BiasTablePart, ...] = Field(default=(), description="where they were asked for")
    notices: tuple[str, ...]
    phrases: tuple[str, ...] = Field(default=(), description="the constraints in words")


@dataclass(frozen=True, kw_only=True)
class SensitivityPart(Sensitivity):
    """What biased scores of a group would mean."""

    sentence: str


class AnswersModel(ReportPart):
    """The what-if answers of a report; what `auditkit whatif --json` prints."""

    frontier: FrontierModel
    sensitivity: SensitivityPart | None


# The firm's decisions and scores --------------------------------------------------------------------------------------


class HiddenInformationModel(ReportPart):
    """The tests of all attributes, and prices where one rejects or cannot tell."""

    tests: tuple[HiddenInformation, ...]
    prices: tuple[HiddenPrices, ...]


# Fit ------------------------------------------------------------------------------------------------------------------


class PitModel(ReportPart):
    """Where scores fall in their predicted distributions: shares in parts of [0, 1]."""

    edges: tuple[float, ...]
    shares: tuple[float, ...]
    p_value: float


class CoverageModel(ReportPart):
    """How often predicted intervals of a level hold the score."""

    nominal: float
    actual: float


class GroupErrorModel(ReportPart):
    """Errors of the predictions of a group; null where it is too small to show."""

    group: str
    n: int | None
    mean_error: float | None
    standard_error: float | None = None
    crps: float | None
    coverage: float | None = None


class SelectionRateModel(ReportPart):
    """How many were inspected among some candidates."""

    name: str
    candidates: int
    inspected: int
    scored: int
    rate: float | None


class SelectionModel(ReportPart):
    """Who was inspected, by group and by tercile of the expected score."""

    by_group: tuple[SelectionRateModel, ...]
    by_tercile: tuple[SelectionRateModel, ...]
    scored: int
    effective_sample_size: float
    weighted: bool


class TrueValueModel(ReportPart):
    """How outcomes follow from scores."""

    intercept: float
    slope: float
    outcomes: int
    scale: Literal["match", "given"]


class FitSettingsModel(ReportPart):
    """How the priors were fitted."""

    fitter: str
    fitter_settings: dict[str, JsonValue]
    features: tuple[str, ...]
    blind: bool
    group_aware: bool = Field(default=True, description="the policies of the model see the groups")
    folds: int
    folds_of: str
    propensity: bool
    value_scale: float
    value_revealed: bool = Field(default=False, description="the value of a point is taken from what the firm did")
    cost: JsonValue
    capacity: JsonValue
    stages: tuple[str, ...]
    score_stage: str | None
    true_value: TrueValueModel | None


class FitModel(ReportPart):
    """How well the priors fit scores that they have not seen."""

    fitter: str
    pit: PitModel
    coverage: tuple[CoverageModel, ...]
    by_group: tuple[GroupErrorModel, ...]
    by_stratum: tuple[Error, ...] = ()
    skill: float | None = None
    selection: SelectionModel
    hidden_information: HiddenInformationModel | None = None
    warnings: tuple[str, ...]
    settings: FitSettingsModel


# The whole ------------------------------------------------------------------------------------------------------------


class SectionModel(ReportPart):
    """What a plugin adds to the report."""

    title: str
    data: dict[str, JsonValue]


FindingKind = Literal["disparity", "segment", "firm", "price", "model", "notice"]


class FindingModel(ReportPart):
    """One statement of the summary, and what it is about; the order is that of importance."""

    sparse = ("attribute", "group", "against", "step", "segment", "value")

    kind: FindingKind
    code: str
    text: str
    attribute: str | None = None
    group: str | None = None
    against: str | None = Field(default=None, description="the group that it is compared with")
    step: str | None = None
    segment: str | None = None
    value: str | None = Field(default=None, description="of the segment")


class ConventionModel(ReportPart):
    """A convention that the report refers to, and when its text was read."""

    name: str
    text: str
    read_on: str


class ProvenanceModel(ReportPart):
    """The program and the machine that made the report."""

    python: str
    packages: dict[str, str] = {}
    platform: str
    conventions: tuple[ConventionModel, ...] = ()


class FollowUpModel(ReportPart):
    """A finding of this report or an earlier one, the response to it, and the impact ratio then and now."""

    subject: str
    finding: str
    status: Literal["open", "under way", "answered", "no longer found"]
    decision: str | None = None
    owner: str | None = None
    due: str | None = None
    response: str | None = None
    ratio_then: float | None = None
    ratio_now: float | None = None


class Report(ReportPart):
    """An audit. A part that the data cannot support is null, and a finding says why. No candidate's row is in it."""

    sparse = ("follow_ups",)

    format: Literal["auditkit-report/3"] = FORMAT
    version: str
    created: str = Field(description="UTC, as 2026-11-16T06:00:00Z")
    input: InputModel
    config: Config
    mapping: tuple[RoleModel, ...]
    reading: ReadingModel | None = Field(default=None, description="null for data that were not read from a file")
    problems: ProblemsModel
    scope: ScopeModel
    attributes: tuple[AttributeModel, ...]
    steps: tuple[str, ...] = Field(description="in order, as the data name them")
    groups: tuple[GroupModel, ...]
    firm: FirmModel | None
    unconstrained: BestModel | None
    constrained: tuple[ConstrainedModel, ...] | None
    disparity: Disparities | None
    segments: tuple[SegmentTable, ...] | None
    funnel: tuple[FunnelModel, ...]
    frontier: FrontierModel | None
    sensitivity: SensitivityPart | None
    value_of_a_point: PointValuePart | None = None
    alternatives: tuple[AlternativePart, ...] | None = Field(
        default=None, description="rules that never look at the group; a finding says why there are none"
    )
    revealed: Revealed | None
    scores: ScoreMeanings | None = None
    fit: FitModel | None
    sections: dict[str, SectionModel] = Field(default={}, description="of plugins, by name")
    findings: tuple[FindingModel, ...]
    follow_ups: tuple[FollowUpModel, ...] = Field(
        default=(), description="findings and the responses to them, from the history of scheduled audits"
    )
    provenance: ProvenanceModel

    @field_serializer("config")
    def _settings(self, config: Config) -> object:
        return config.to_json()

    @property
    def entries(self) -> tuple[ConstrainedModel, ...]:
        """The best policies under constraints, if there are any."""
        return self.constrained or ()

    @property
    def benchmarks(self) -> tuple[ConstrainedModel, ...]:
        """Those of `entries` whose best policy selects someone."""
        return tuple(entry for entry in self.entries if not entry.selects_nobody)

    @property
    def tables(self) -> tuple[DisparityTable, ...]:
        """Every disparity table, if there are any."""
        return () if self.disparity is None else self.disparity.tables

    def with_findings(self, more: Sequence[FindingModel]) -> Report:
        """The report with these findings behind its own."""
        return self.model_copy(update={"findings": (*self.findings, *more)})

    def text(self) -> str:
        """The JSON as it is written to a file."""
        return json.dumps(self.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
