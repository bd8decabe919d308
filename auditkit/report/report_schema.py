"""What stands in a report, `auditkit-report/2`: `verify` reads through these models, `auditkit schema` prints them.

Further keys are allowed everywhere, because the program that wrote a document may be newer, and plugins add theirs.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from auditkit.disparity import GroupStatus
from auditkit.model.documents import MixtureModel, PolicyModel

FORMAT = "auditkit-report/2"

Basis = Literal["cumulative", "conditional"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", allow_inf_nan=False)


class InputModel(_Part):
    """Which data were audited."""

    path: str = Field(description="name of the file, without its folder, or of the database")
    rows: int
    sha256: str
    encoding: str | None = None
    separator: str | None = None
    url: str | None = Field(default=None, description="of the database, without its password")
    query: str | None = Field(default=None, description="the SQL that returned the rows")


class RoleModel(_Part):
    """Which column played which role, and why."""

    role: str
    column: str
    reason: str


class ProblemModel(_Part):
    """One kind of problem of the data, and how often it was met; no cell is quoted."""

    code: str
    treatment: Literal["refuse", "warn", "unknown"]
    count: int
    what: str
    fix: str


class CountsModel(_Part):
    """Rows of the file: those read are those used and those left out, by reason."""

    read: int
    used: int
    left: dict[str, int]


class ProblemsModel(_Part):
    """Problems of the data."""

    total: int
    by_code: list[ProblemModel]
    counts: CountsModel


class PeriodModel(_Part):
    """First and last date of the applications, as 2026-11-16."""

    first: str
    last: str


class LeftOutModel(_Part):
    """Rows that are in no number of the report, and why."""

    reason: str
    rows: int


class ScopeModel(_Part):
    """What the report covers: `rows` of the file are `applications` and those left out, unless rows are counts."""

    organisation: str
    period: PeriodModel | None
    searches: int
    rows: int
    stand_for: int | None = Field(default=None, description="where rows are counts: applications that those used are")
    applications: int
    reached: dict[str, int] = Field(default={}, description="applications that reached each step")
    left_out: list[LeftOutModel]
    repeated_applicants: int = Field(description="persons who applied more than once")
    unknown: dict[str, int] = Field(description="by attribute: applications whose group is unknown")
    merged: dict[str, list[str]] = Field(description="by attribute: small groups that are shown together")


class AttributeModel(_Part):
    """A protected attribute, or the crossing of several, and its groups."""

    name: str
    kind: str
    crossing: bool
    groups: list[str]


class GroupModel(_Part):
    """Who is in the data: a group of an attribute, and how many of it reached each step."""

    attribute: str
    name: str
    applicants: int
    steps: dict[str, int]


class NumbersModel(_Part):
    """Of one group under one policy; expected numbers, but of the firm recorded ones."""

    candidates: int
    inspected: float
    selected: float


ByGroup = Annotated[dict[str, dict[str, NumbersModel]], Field(description="by attribute, then by group")]


class UnitModel(_Part):
    """The limits of one label in all searches."""

    label: str
    searches: int
    positions: int
    selected: float
    unfilled: float
    exceeded: int = Field(description="searches in which more were selected")


class StandingModel(_Part):
    """What a policy yields."""

    utility: float
    long_term_utility: float | None = None
    by_group: ByGroup
    unfilled_capacity: float
    units: list[UnitModel] = Field(default_factory=list, description="where searches have limits")


class GainPartsModel(_Part):
    """Their sum is the gain."""

    positions: float = Field(description="more positions filled, at the mean worth of both searches")
    cost: float = Field(description="less spent on inspections")
    quality: float = Field(description="worth more, whoever fills a position")


class ChangeModel(_Part):
    """Expected numbers of people of a group that a policy changes."""

    inspected: float
    selected: float


class AgainstFirmModel(_Part):
    """What a policy is expected to gain over the firm's own search, the best of those it inspected taken."""

    label: str
    gain: float
    interval: list[float] | None
    parts: GainPartsModel
    by_group: dict[str, dict[str, ChangeModel]] = Field(description="by attribute, then by group")


class StepGainModel(_Part):
    """The gain at one stage, all later ones at their best."""

    step: str
    gain: float


class GainModel(AgainstFirmModel):
    """The best policy without constraints against the firm's own search."""

    level: float = Field(description="of the intervals")
    expected_utility: float = Field(description="of the firm's own search, the best of those it inspected taken")
    inspected: int
    positions_filled: float
    steps: list[StepGainModel] = Field(description="of searches in stages")


class FirmModel(StandingModel):
    """What the firm's recorded decisions yielded."""

    capacity: int | None = Field(default=None, description="positions of all searches")
    gain: GainModel | None = Field(default=None, description="what the best search would have gained, like with like")


class IntervalModel(_Part):
    """From priors that were fitted again to resampled searches."""

    level: float
    ratio: list[float] | None
    loss: list[float]
    one_sided: bool = Field(
        default=False, description="the loss may be as good as 0; only how large it may be is known"
    )
    replicates: int | None = Field(default=None, description="how many resampled sets of searches are behind it")


class ReportPriceModel(_Part):
    """The price of fairness."""

    ratio: float | None = Field(description="share of the unconstrained utility that is kept")
    loss: float
    interval: IntervalModel | None


class LawModel(_Part):
    """Exact distribution of how far a constraint is kept or missed in one draw of all searches."""

    label: str
    edges: list[float]
    probabilities: list[float]
    mean: float
    sd: float


class UnfilledModel(_Part):
    """Exact distribution of the number of positions left open."""

    counts: list[int]
    probabilities: list[float]


class DualModel(_Part):
    """What the optimum gains per unit by which the bound of a row is moved."""

    label: str
    sense: Literal["<=", "==", ">="]
    value: float | None
    slack: float
    words: str | None
    interval: list[float] | None = Field(default=None, description="of the value, at the level of the price's")


class ConstrainedModel(_Part):
    """The best policy under one constraint, or under all together; all null but its name where none meets them."""

    label: str
    specs: list[str]
    status: Literal["optimal", "infeasible"]
    conflict: list[str]
    utility: float | None
    long_term_utility: float | None = None
    by_group: ByGroup | None
    unfilled_capacity: float | None
    units: list[UnitModel] = Field(default_factory=list, description="where searches have limits")
    price_of_fairness: ReportPriceModel | None
    ex_post_slack: list[LawModel] | None
    unfilled: UnfilledModel | None
    bound: float | None
    gap: float | None
    duals: list[DualModel] | None
    policies: list[PolicyModel] | None = Field(
        default=None, description="the policies mixed; null where they would name candidates or are not affine"
    )
    mixture: MixtureModel | None = Field(
        default=None, description="who follows which policy; searches by their place in the data, counted from 0"
    )
    randomised: int | None = Field(default=None, description="how many searches draw their policy by lot")
    against_firm: AgainstFirmModel | None = None


class RatioIntervalModel(_Part):
    """Confidence interval of a ratio; null where it has no end."""

    lower: float | None
    upper: float | None
    method: str
    confidence: float


class WithinModel(_Part):
    """A group against the reference within searches."""

    strata: int
    odds_ratio: float | None
    interval: RatioIntervalModel | None
    risk_ratio: float | None
    p: float | None
    method: str
    p_adjusted: float | None
    shortfall: float


class DisparityRowModel(_Part):
    """One group beside the reference group; comparisons are null for the reference and for groups not compared."""

    group: str
    applicants: int
    selected: int
    rate: float | None
    share: float | None
    impact_ratio: float | None
    interval: RatioIntervalModel | None
    p: float | None = Field(description="without any correction")
    p_adjusted: float | None = Field(description="corrected for all tests of the report")
    status: GroupStatus
    detectable_ratio: float | None
    within: WithinModel | None
    shortfall: float | None
    measures: dict[str, float | None] = Field(default={}, description="what plugins measure, by name")


class OmnibusModel(_Part):
    """One test of equal rates in all compared groups."""

    statistic: float
    df: int
    p: float
    p_adjusted: float
    method: str


class OmnibusTestsModel(_Part):
    """The tests of a whole table; only if it is open are pairs of groups tested."""

    p_adjusted: float | None
    open: bool
    pooled: OmnibusModel | None
    stratified: OmnibusModel | None


class DisparityTableModel(_Part):
    """All groups of one attribute at one step, of all applicants or of those who reached the step before."""

    attribute: str
    step: str
    kind: Basis
    crossing: bool
    reference: str | None
    groups: list[DisparityRowModel]
    applicants: int
    selected: int
    unknown: int
    omnibus: OmnibusTestsModel


class DisparitiesModel(_Part):
    """Impact ratios with tests and intervals, of every attribute at every step."""

    tables: list[DisparityTableModel]
    attributes: list[str]
    crossings: list[str]
    steps: list[str]
    applicants: int
    undecided: int
    level: float
    line: float
    alpha: float
    minimum_share: float


class SegmentPartModel(_Part):
    """One value of a segment: the group beside the reference there, and its part of the shortfall."""

    value: str
    applicants: int
    selected: int
    reference_applicants: int
    reference_selected: int
    rate: float | None
    reference_rate: float | None
    impact_ratio: float | None
    p: float | None
    p_adjusted: float | None
    found: bool
    shortfall: float


class SegmentModel(_Part):
    """Where the shortfall of a group comes from: `shortfall` = those of the `parts` + `others` + `composition`."""

    attribute: str
    step: str
    kind: Basis
    segment: str
    group: str
    reference: str
    shortfall: float
    within: float
    composition: float
    parts: list[SegmentPartModel]
    others: float


class SectionModel(_Part):
    """What a plugin adds to the report."""

    title: str
    data: dict[str, Any]


class FunnelModel(_Part):
    """How many of each group reached a step, by attribute and group; the first step is having applied."""

    step: str
    by_group: dict[str, dict[str, int]]


class CurveModel(_Part):
    """What each value of a constraint's parameter costs."""

    label: str
    parameter: str
    points: list[dict[str, Any]]
    starts: float | None = Field(description="the value from which it costs something")
    sentence: str


class FrontierModel(_Part):
    """Answers to the what-if questions about constraints, positions and budgets."""

    group: str | None
    constraints: list[str]
    curves: list[CurveModel]
    positions: dict[str, Any] | None
    places: dict[str, Any] | None = Field(default=None, description="one more place in each limit that binds")
    budgets: list[dict[str, Any]]
    notices: list[str]


class SensitivityModel(_Part):
    """What biased scores of a group would mean."""

    group: str
    constraints: list[str]
    points: list[dict[str, Any]]
    sentence: str


class RevealedShiftModel(_Part):
    """Of a group against the reference, in points of the score, at equal priors (or at equal scores)."""

    attribute: str
    group: str
    reference: str
    shift: float = Field(description="negative: as if expected scores of the group were lower by that")
    standard_error: float
    interval: list[float]
    equal_expectation: float | None = Field(description="less what scores of the group differ by at equal priors")
    equal_expectation_interval: list[float] | None


class RevealedStepModel(_Part):
    """All groups at one step, among those who reached the step before."""

    step: str
    standing: Literal["priors", "score"]
    searches: int = Field(description="that took some and left some")
    slope: float | None = Field(description="null where decisions follow standing and groups without exception")
    shifts: list[RevealedShiftModel]


class NeededShiftModel(_Part):
    """What a constraint acts like at its optimum."""

    constraint: str
    attribute: str
    group: str
    reference: str
    counts: str = Field(description="selection: in points of the score; anything else: in the unit of cost")
    shift: float
    interval: list[float] | None = Field(
        default=None, description="of what is not known of the priors; null if not refitted"
    )


class RevealedModel(_Part):
    """What the firm's decisions act like, beside what constraints act like."""

    level: float
    steps: list[RevealedStepModel]
    needed: list[NeededShiftModel]
    left_out: list[str]


class ScoreDifferenceModel(_Part):
    """A group beside the reference: at the average of the predictor, and per point of it."""

    group: str
    people: int
    level: float
    level_interval: list[float]
    level_p: float | None
    slope: float
    slope_interval: list[float]
    slope_p: float | None


class ScoreMeaningModel(_Part):
    """One regression: of outcomes on scores, or of scores on priors."""

    attribute: str
    predicts: Literal["outcome", "score"]
    reference: str
    people: int
    families: int
    slope: float
    groups: list[ScoreDifferenceModel]


class ScoresModel(_Part):
    """What scores say of different groups."""

    within: str | None = Field(default=None, description="the segment within whose values people are compared")
    tables: list[ScoreMeaningModel]
    left_out: list[str]


class HiddenCorrelationModel(_Part):
    """Of one group: the correlation of what the firm saw with what the priors leave open."""

    group: str
    scores: int
    correlation: float
    standard_error: float
    mills: float


class HiddenTestModel(_Part):
    """Whether the firm inspected on something that the data do not show."""

    attribute: str
    verdict: Literal["found", "not-found", "cannot-tell"]
    p: float | None
    reason: str | None
    spread: float | None
    groups: list[HiddenCorrelationModel]


class HiddenPriceModel(_Part):
    """The price if the correlation is this."""

    correlation: float
    shift: float
    loss: float | None
    ratio: float | None


class HiddenPricesModel(_Part):
    """The price of a constraint over a range of hidden information about a group."""

    attribute: str
    group: str
    constraint: str
    prices: list[HiddenPriceModel]


class HiddenInformationModel(_Part):
    """The tests of all attributes, and prices where one rejects or cannot tell."""

    tests: list[HiddenTestModel]
    prices: list[HiddenPricesModel]


class FitModel(_Part):
    """How well the priors fit scores that they have not seen."""

    fitter: str
    pit: dict[str, Any]
    coverage: list[dict[str, Any]]
    by_group: list[dict[str, Any]]
    selection: dict[str, Any]
    hidden_information: HiddenInformationModel | None = None
    warnings: list[str]
    settings: dict[str, Any]


class FindingModel(_Part):
    """One sentence of the summary, and what it is about; the order is that of importance."""

    kind: Literal["disparity", "segment", "price", "firm", "model", "notice"]
    code: str
    text: str
    attribute: str | None = None
    group: str | None = None
    step: str | None = None
    segment: str | None = None


class ReportModel(_Part):
    """An audit. A part that the data cannot support is null, and a finding says why. No candidate's row is in it."""

    format: Literal["auditkit-report/2"]
    version: str
    created: str = Field(description="UTC, as 2026-11-16T06:00:00Z")
    input: InputModel
    config: dict[str, Any]
    mapping: list[RoleModel]
    problems: ProblemsModel
    scope: ScopeModel
    attributes: list[AttributeModel]
    steps: list[str] = Field(description="in order, as the data name them")
    groups: list[GroupModel]
    firm: FirmModel | None
    unconstrained: StandingModel | None
    constrained: list[ConstrainedModel] | None
    disparity: DisparitiesModel | None
    segments: list[SegmentModel] | None
    funnel: list[FunnelModel]
    frontier: FrontierModel | None
    sensitivity: SensitivityModel | None
    revealed: RevealedModel | None
    scores: ScoresModel | None = None
    fit: FitModel | None
    sections: dict[str, SectionModel] = Field(default={}, description="of plugins, by name")
    findings: list[FindingModel]
    provenance: dict[str, Any]
