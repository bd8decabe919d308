"""What stands in a report, `auditkit-report/1`: `verify` reads through these models, `auditkit schema` prints them.

Further keys are allowed everywhere, because the program that wrote a document may be newer, and plugins add theirs.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from auditkit.model.documents import MixtureModel, PolicyModel

FORMAT = "auditkit-report/1"

Hidden = Field(description="null where the numbers of a small group are hidden")


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", allow_inf_nan=False)


class InputModel(_Part):
    """Which data were audited."""

    path: str = Field(description="name of the file, without its folder")
    rows: int
    sha256: str
    encoding: str | None = None
    separator: str | None = None


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


class GroupModel(_Part):
    """Who is in the data."""

    name: str
    applicants: Annotated[int | None, Hidden]
    inspected: Annotated[int | None, Hidden]
    selected: int | None = Field(description="null where hidden, or where nobody knows who was selected")
    suppressed: bool


class NumbersModel(_Part):
    """Of one group under one policy; expected numbers, but of the firm recorded ones."""

    candidates: Annotated[int | None, Hidden]
    inspected: Annotated[float | None, Hidden]
    selected: Annotated[float | None, Hidden]


class StandingModel(_Part):
    """What a policy yields."""

    utility: float
    long_term_utility: float | None = None
    by_group: dict[str, NumbersModel]
    unfilled_capacity: float


class IntervalModel(_Part):
    """Bootstrap over searches."""

    level: float
    ratio: list[float] | None
    loss: list[float]


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


class ConstrainedModel(_Part):
    """The best policy under one constraint, or under all together; all null but its name where none meets them."""

    label: str
    specs: list[str]
    status: Literal["optimal", "infeasible"]
    conflict: list[str]
    utility: float | None
    long_term_utility: float | None = None
    by_group: dict[str, NumbersModel] | None
    unfilled_capacity: float | None
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


class DisparityRowModel(_Part):
    """One group against the reference group."""

    group: str
    applicants: int | None
    selected: int | None
    rate: float | None
    impact_ratio: float | None
    status: str
    comparison: dict[str, Any] | None = Field(description="difference, tests and intervals")
    measures: dict[str, float | None] = Field(default={}, description="what plugins measure, by name")


class DisparityModel(_Part):
    """Impact ratios with tests and intervals, of one outcome."""

    outcome: str
    reference: str | None
    groups: list[DisparityRowModel]
    applicants: int | None
    selected: int | None
    unknown: int | None


class DisparitiesModel(_Part):
    """Who was selected, who was inspected, and the tables of Local Law 144; null where the data do not say."""

    selected: DisparityModel | None
    inspected: DisparityModel | None
    local_law_144: dict[str, Any] | None


class SectionModel(_Part):
    """What a plugin adds to the report."""

    title: str
    data: dict[str, Any]


class StageModel(_Part):
    """How many of each group got as far as a stage."""

    stage: str
    by_group: dict[str, int | None]


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
    budgets: list[dict[str, Any]]
    notices: list[str]


class SensitivityModel(_Part):
    """What biased scores of a group would mean."""

    group: str
    constraints: list[str]
    points: list[dict[str, Any]]
    sentence: str


class FitModel(_Part):
    """How well the priors fit scores that they have not seen."""

    fitter: str
    pit: dict[str, Any]
    coverage: list[dict[str, Any]]
    by_group: list[dict[str, Any]]
    selection: dict[str, Any]
    warnings: list[str]
    settings: dict[str, Any]


class FindingModel(_Part):
    """One sentence of the summary."""

    kind: Literal["finding", "notice"]
    code: str
    text: str


class ReportModel(_Part):
    """An audit. A part that the data cannot support is null, and a finding says why. No candidate's row is in it."""

    format: Literal["auditkit-report/1"]
    version: str
    created: str = Field(description="UTC, as 2026-11-16T06:00:00Z")
    input: InputModel
    config: dict[str, Any]
    mapping: list[RoleModel]
    problems: ProblemsModel
    groups: list[GroupModel]
    firm: StandingModel | None
    unconstrained: StandingModel | None
    constrained: list[ConstrainedModel] | None
    disparity: DisparitiesModel
    funnel: list[StageModel]
    frontier: FrontierModel | None
    sensitivity: SensitivityModel | None
    fit: FitModel | None
    sections: dict[str, SectionModel] = Field(default={}, description="of plugins, by name")
    findings: list[FindingModel]
    provenance: dict[str, Any]
