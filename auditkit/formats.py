"""What stands in instance and solution files (`auditkit-instance/1`, `auditkit-solution/1`).

Files are read through these models and `auditkit schema` prints the JSON Schemas that they imply, so that there is one
statement of each format. What numbers mean, and whether they agree with each other, the classes of `instance.py` and
`verify` know.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema

from auditkit.instance import Box, Chain, Instance, State

INSTANCE = "auditkit-instance/1"
SOLUTION = "auditkit-solution/1"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=False)


class StateModel(_Model):
    """One state of a candidate's chain."""

    reward: float = Field(
        default=0.0,
        description="paid (or, if negative, cost) when the state is left; of a terminal state when it is entered",
    )
    to: dict[str, float] = Field(
        default_factory=dict, description="next state = probability; they sum to 1, or there are none"
    )
    terminal: bool = Field(default=False, description="entering it means selection")
    stage: str | None = Field(default=None, description="name by which constraints can refer to it")
    true_reward: float | None = Field(default=None, description="long-term utility in place of `reward`")


class BoxModel(_Model):
    """A candidate with one inspection: pay the cost, learn the value, select or not."""

    id: str = Field(description="unique within the search")
    group: str
    cost: float = Field(description="of the inspection, in the unit of the values")
    values: list[float] = Field(description="what the candidate may turn out to be worth")
    probs: list[float] = Field(description="probability of each value; they sum to 1")
    true_values: list[float] | None = Field(default=None, description="long-term utilities, one for each value")
    attributes: dict[str, float] = Field(default_factory=dict, description="numbers that constraints can refer to")


class ChainModel(_Model):
    """A candidate with several stages: a Markov chain."""

    id: str = Field(description="unique within the search")
    group: str
    start: str = Field(description="the state in which the candidate begins; not terminal")
    states: dict[str, StateModel]
    attributes: dict[str, float] = Field(default_factory=dict, description="numbers that constraints can refer to")


class _BoxOrChain:
    """Candidates are read one by one, so that each problem names its candidate; the schema has them all the same."""

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return handler(TypeAdapter(BoxModel | ChainModel).core_schema)


class ConstraintModel(BaseModel):
    """A constraint: its type, and the keys of that type."""

    model_config = ConfigDict(extra="allow")
    type: str


class SearchModel(_Model):
    """One requisition: at most `capacity` of its candidates can be selected."""

    id: str
    capacity: int = Field(description="from 0 to the number of candidates")
    candidates: list[Annotated[dict[str, Any], _BoxOrChain()]]


class InstanceModel(_Model):
    """Independent searches, and the constraints that they are to meet together on average."""

    format: Literal["auditkit-instance/1"]
    searches: list[SearchModel]
    constraints: list[dict[str, Any]] = Field(default_factory=list)


class _Part(BaseModel):
    """A part of a solution: further keys are allowed, because the program that wrote it may be newer."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False)


class CandidateModel(_Part):
    """What a policy means for one candidate."""

    search: str
    id: str
    inspect: float = Field(description="chance of being inspected")
    select: float = Field(description="chance of being selected")
    visits: dict[str, float] = Field(description="expected visits of each state; of a box: inspected, selected")
    select_by_value: list[float] | None = Field(default=None, description="of a box: chance of selection by value")


class OutcomeModel(_Part):
    """What a policy yields."""

    utility: float
    long_term_utility: float | None = None
    unfilled_capacity: float = Field(description="expected positions left open")
    candidates: list[CandidateModel]


class RowModel(_Part):
    """One condition, and how it is met."""

    label: str
    type: str
    sense: Literal["<=", "==", ">="]
    value: float
    bound: float
    slack: float = Field(description="distance from the bound, not negative on the right side")
    dual: float = Field(description="what the optimum gains per unit by which the bound is moved")


class LevelModel(_Part):
    """Multipliers under which a policy is optimal; `objective` is the weight of the utility itself."""

    objective: float = 1.0
    duals: list[float] = Field(description="one for each affine row, then one for each cut")


class PolicyModel(LevelModel):
    """One policy of the mixture. Ties of its indices are broken by the further levels in `ties`."""

    weight: float = Field(description="chance with which the policy is drawn")
    ties: list[LevelModel] = Field(default_factory=list)


class CutModel(_Part):
    """A tangent of a convex measure, valid for every policy."""

    measure: int = Field(description="which of the measures, counted from 0")
    label: str
    at: list[float] = Field(description="visits at which it touches")
    dual: float


class OptimumModel(OutcomeModel):
    """The constrained optimum with its certificate: no policy is worth more than `bound`."""

    bound: float
    gap: float = Field(description="bound - utility, not negative")
    evaluations: int | None = None
    constraints: list[RowModel]
    cuts: list[CutModel] = Field(default_factory=list)
    policies: list[PolicyModel]


class PriceModel(_Part):
    """The price of fairness."""

    ratio: float | None = Field(description="share of the unconstrained utility that is kept")
    loss: float | None = Field(description="utility lost")


class InstanceHash(_Part):
    """Which instance was solved."""

    sha256: str | None = Field(description="of the instance file; null if there was none")


class CertificateModel(_Part):
    """A multiplier of the proof that constraints conflict."""

    label: str
    dual: float


class SolutionModel(_Part):
    """A solved instance, with all that is needed to check it."""

    format: Literal["auditkit-solution/1"]
    status: Literal["optimal", "infeasible"]
    method: str
    specs: list[ConstraintModel] = Field(description="the constraints")
    unconstrained: OutcomeModel
    constrained: OptimumModel | None
    conflict: list[str] = Field(default_factory=list, description="constraints that cannot hold together")
    certificate: list[CertificateModel] = Field(default_factory=list, description="the proof that they cannot")
    price_of_fairness: PriceModel
    instance: InstanceHash


def instance_document(instance: Instance) -> dict[str, Any]:
    """An instance as a document of format auditkit-instance/1, without constraints."""
    searches = [
        {
            "id": search.id,
            "capacity": search.capacity,
            "candidates": [_box(c) if isinstance(c, Box) else _chain(c) for c in search.candidates],
        }
        for search in instance.searches
    ]
    return {"format": INSTANCE, "searches": searches}


def _box(box: Box) -> dict[str, Any]:
    document: dict[str, Any] = {"id": box.id, "group": box.group, "cost": box.cost}
    document |= {"values": box.values.tolist(), "probs": box.probs.tolist()}
    if box.true_values is not None:
        document["true_values"] = box.true_values.tolist()
    return document | ({"attributes": dict(box.attributes)} if box.attributes else {})


def _chain(chain: Chain) -> dict[str, Any]:
    document = {
        "id": chain.id,
        "group": chain.group,
        "start": chain.start,
        "states": {state.name: _state(state) for state in chain.states},
    }
    return document | ({"attributes": dict(chain.attributes)} if chain.attributes else {})


def _state(state: State) -> dict[str, Any]:
    document: dict[str, Any] = {"stage": state.stage} if state.stage is not None else {}
    document["reward"] = state.reward
    if state.terminal:
        document["terminal"] = True
    else:
        document["to"] = dict(state.to)
    return document | ({"true_reward": state.true_reward} if state.true_reward is not None else {})
