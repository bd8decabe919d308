"""Instance and solution files (`auditkit-instance/2`, `auditkit-solution/3`): their formats, and how they are read.

These models read the files, and `auditkit schema` prints the JSON Schemas they imply, so each format is stated once.
The models check the shape of a document, the classes in `search.py` and `instance.py` its meaning; problems of both
kinds are collected, each with its place in the file.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, JsonValue, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from auditkit.errors import InputError, Problem, validated
from auditkit.files import read_json
from auditkit.model.instance import INSTANCE, UNCERTAIN_INSTANCE, Instance
from auditkit.model.limits import Limit
from auditkit.model.row_meaning import Meaning
from auditkit.model.search import Box, Candidate, Chain, Search, State

SOLUTION = "auditkit-solution/3"
SECOND_SOLUTION = "auditkit-solution/2"
"""The same without the `meaning` of rows."""
FIRST_SOLUTION = "auditkit-solution/1"
"""The format of auditkit 0: one lottery over policies with weights, for all searches together."""


M = TypeVar("M", bound=BaseModel)


GROUP_KEY = "the group, or one for each protected attribute (null: unknown); `membership` may replace it"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=False)


class StateModel(_Model):
    """One state of a candidate's chain."""

    reward: float = Field(
        default=0.0,
        description="paid (a cost, if negative) when the state is left; for a terminal state, when it is entered",
    )
    to: dict[str, float] = Field(
        default_factory=dict, description="next state = probability; they sum to 1, or there are none"
    )
    terminal: bool = Field(default=False, description="entering it means selection; a rejection is not terminal")
    selected: bool = Field(default=False, description="another name for `terminal`")
    stage: str | None = Field(default=None, description="name by which constraints can refer to it")
    true_reward: float | None = Field(default=None, description="long-term utility, instead of `reward`")
    membership: dict[str, dict[str, float]] = Field(
        default_factory=dict, description="attribute = group = its chance given the path to this state"
    )


class ShareModel(_Model):
    """The chance of one group."""

    before: float = Field(description="from what is known before the inspection")
    given: list[float] = Field(description="given each value; their mean over the values is `before`")


class BoxModel(_Model):
    """A candidate with one inspection: pay the cost, learn the value, select or not."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["group"]}, {"required": ["membership"]}]})

    id: str = Field(description="unique within the search")
    group: str | dict[str, str | None] = Field(default_factory=dict, description=GROUP_KEY)
    cost: float = Field(description="of the inspection, in the unit of the values")
    values: list[float] = Field(description="what the candidate may turn out to be worth")
    probs: list[float] = Field(description="probability of each value; they sum to 1")
    true_values: list[float] | None = Field(default=None, description="long-term utilities, one for each value")
    attributes: dict[str, float | str] = Field(
        default_factory=dict, description="numbers and texts that constraints can refer to"
    )
    membership: dict[str, dict[str, ShareModel]] = Field(
        default_factory=dict, description="attribute = group = its chance, for groups that a policy does not see"
    )


class ChainModel(_Model):
    """A candidate with several stages: a Markov chain."""

    id: str = Field(description="unique within the search")
    group: str | dict[str, str | None] = Field(default_factory=dict, description=GROUP_KEY)
    start: str = Field(description="the state in which the candidate begins; not terminal")
    states: dict[str, StateModel]
    attributes: dict[str, float | str] = Field(
        default_factory=dict, description="numbers and texts that constraints can refer to"
    )


class _BoxOrChain:
    """Candidates are read one by one, so that each problem names its candidate; the schema still includes them."""

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(TypeAdapter(BoxModel | ChainModel).core_schema)


class ConstraintModel(BaseModel):
    """A constraint: its type, and the keys of that type."""

    model_config = ConfigDict(extra="allow")
    type: str


class LimitModel(_Model):
    """A capacity within that of the search; limited sets are nested or disjoint."""

    label: str
    capacity: int = Field(ge=0)
    by: str | None = Field(default=None, description="an attribute: the limit applies to candidates with the `value`")
    value: str | float | None = None
    candidates: list[str] | None = Field(default=None, description="ids, instead of `by` and `value`")


class SearchModel(_Model):
    """One requisition: at most `capacity` of its candidates can be selected."""

    id: str
    capacity: int = Field(description="from 0 to the number of candidates")
    candidates: list[Annotated[dict[str, object], _BoxOrChain()]]
    limits: list[LimitModel] = Field(default_factory=list, description="capacities within the capacity")


class InstanceModel(_Model):
    """Independent searches, and the constraints that they are to meet together on average."""

    format: Literal["auditkit-instance/1", "auditkit-instance/2"]
    searches: list[SearchModel]
    constraints: list[dict[str, object]] = Field(default_factory=list)


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


class UnitOutcomeModel(_Part):
    """The limits of one label in all searches."""

    label: str
    positions: int
    unfilled: float = Field(description="expected places left open")


class OutcomeModel(_Part):
    """What a policy yields."""

    utility: float
    long_term_utility: float | None = None
    unfilled_capacity: float = Field(description="expected positions left open")
    units: list[UnitOutcomeModel] = Field(default_factory=list, description="where searches have limits")
    candidates: list[CandidateModel]


class RowModel(_Part):
    """One condition, and how well it is met."""

    label: str
    type: str
    sense: Literal["<=", "==", ">="]
    value: float
    bound: float
    slack: float = Field(description="distance from the bound; not negative if the condition is met")
    dual: float = Field(description="what the optimum gains per unit by which the bound is moved")
    meaning: Meaning | None = Field(default=None, description="null in `auditkit-solution/2` and before")


class LevelModel(_Part):
    """Multipliers under which a policy is optimal; `objective` is the weight of the utility itself."""

    objective: float = 1.0
    duals: list[float] = Field(description="one for each affine row, then one for each cut")


class PolicyModel(LevelModel):
    """One policy of the mixture. Ties of its indices are broken by the further levels in `ties`."""

    ties: list[LevelModel] = Field(default_factory=list)


class WeightedPolicyModel(PolicyModel):
    """A policy of `auditkit-solution/1`."""

    weight: float = Field(description="chance with which the policy is drawn")


Draw = Annotated[tuple[int, float], Field(description="number of a policy, counted from 0, and its probability")]


class MixtureModel(_Part):
    """Who follows which policy: one lottery for the whole `firm`, or a policy for every search."""

    firm: list[Draw] | None = Field(default=None, description="one policy is drawn for all searches together")
    default: int | None = Field(default=None, description="the policy of all searches that are not named")
    searches: dict[str, list[Draw]] = Field(
        default_factory=dict, description="search = its policy, or the lottery that it draws one from"
    )


class CutModel(_Part):
    """A tangent of a convex measure, valid for every policy."""

    measure: int = Field(description="which of the measures, counted from 0")
    label: str
    at: list[float] = Field(description="visits at which it touches")
    dual: float


class _CertifiedModel(OutcomeModel):
    bound: float
    gap: float = Field(description="bound - utility, not negative")
    evaluations: int | None = None
    constraints: list[RowModel]
    cuts: list[CutModel] = Field(default_factory=list)


class OptimumModel(_CertifiedModel):
    """The constrained optimum with its certificate: no policy is worth more than `bound`."""

    policies: list[PolicyModel]
    mixture: MixtureModel
    randomised: int = Field(description="how many searches draw their policy by lot")


class FirstOptimumModel(_CertifiedModel):
    """The constrained optimum of `auditkit-solution/1`."""

    policies: list[WeightedPolicyModel]


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


class _SolvedModel(_Part):
    status: Literal["optimal", "unproved", "infeasible"]
    method: str
    specs: list[ConstraintModel] = Field(description="the constraints")
    unconstrained: OutcomeModel
    conflict: list[str] = Field(default_factory=list, description="constraints that cannot hold together")
    certificate: list[CutModel | CertificateModel] = Field(
        default_factory=list, description="the proof that they cannot"
    )
    g_rdip: dict[str, JsonValue] | None = Field(
        default=None, description="of this method: its settings, its rounds, and how far from the optimum it ended"
    )
    price_of_fairness: PriceModel
    instance: InstanceHash


class SolutionModel(_SolvedModel):
    """A solved instance, with everything needed to check it."""

    format: Literal["auditkit-solution/3", "auditkit-solution/2"]
    constrained: OptimumModel | None


class FirstSolutionModel(_SolvedModel):
    """A solution in the previous format."""

    format: Literal["auditkit-solution/1"]
    constrained: FirstOptimumModel | None


def read_instance(path: Path) -> tuple[Instance, list[dict[str, object]], str]:
    """An instance file: the instance, the keys of its constraints, and the SHA-256 of the file."""
    document, content = read_json(path)
    try:
        instance = instance_from_document(document)
    except InputError as error:
        raise InputError([problem.of_file(path) for problem in error.problems]) from None
    return instance, document.get("constraints", []), hashlib.sha256(content).hexdigest()


def read_solution(path: Path) -> SolutionModel | FirstSolutionModel:
    """A solution file, with everything that `verify` looks at in its place."""
    document, _ = read_json(path)
    try:
        return solution_of(document)
    except InputError as error:
        raise InputError([problem.of_file(path) for problem in error.problems]) from None


def solution_of(document: object) -> SolutionModel | FirstSolutionModel:
    """The solution in a JSON document; InputError with every key that is missing or wrong."""
    known = (SOLUTION, SECOND_SOLUTION, FIRST_SOLUTION)
    if not isinstance(document, dict) or document.get("format") not in known:
        raise InputError(Problem("", f"is not a document of the format {' or '.join(known)}"))
    fix = "write it again with auditkit solve --json"
    if document["format"] == FIRST_SOLUTION:
        return validated(FirstSolutionModel, document, fix=fix, quote=False)
    return validated(SolutionModel, document, fix=fix, quote=False)


def instance_from_document(document: Any) -> Instance:
    """The instance of a parsed document; raises InputError with every problem and its place."""
    if not isinstance(document, dict):
        raise InputError(
            Problem("", "the file doesn't contain a JSON object", f'it must begin with {{"format": "{INSTANCE}"')
        )
    if document.get("format") not in (INSTANCE, UNCERTAIN_INSTANCE):
        found = document.get("format")
        raise InputError(Problem("format", f"{found!r} is not a known format", f'write "{INSTANCE}"'))
    problems: list[Problem] = []
    model = _validate(InstanceModel, document, "", problems)
    if model is None:
        # also report what's wrong inside the searches, as far as they can be read
        rough = document.get("searches")
        for i, search in enumerate(rough if isinstance(rough, list) else []):
            if isinstance(search, dict) and isinstance(search.get("candidates"), list):
                for j, candidate in enumerate(search["candidates"]):
                    _candidate(candidate, f"searches[{i}].candidates[{j}]", problems)
        raise InputError(problems)
    searches = [_search(search, f"searches[{i}]", problems) for i, search in enumerate(model.searches)]
    try:
        instance = Instance(tuple(search for search in searches if search is not None))
    except InputError as error:
        problems += () if None in searches else error.problems
    if problems:
        raise InputError(problems)
    if document["format"] == INSTANCE and instance.layout.uncertain:
        raise InputError(Problem("format", f"{INSTANCE} has no membership", f'write "{UNCERTAIN_INSTANCE}"'))
    return instance


def _search(model: SearchModel, place: str, problems: list[Problem]) -> Search | None:
    candidates = [_candidate(c, f"{place}.candidates[{j}]", problems) for j, c in enumerate(model.candidates)]
    whole = tuple(c for c in candidates if c is not None)
    try:
        # if candidates are missing, their number is wrong: judge the capacity only against all that were written
        capacity = model.capacity if len(whole) == len(candidates) else min(max(model.capacity, 0), len(whole))
        limits = [_limit(limit, j) for j, limit in enumerate(model.limits)]
        search = Search(model.id, capacity, whole, limits if len(whole) == len(candidates) else ())
    except InputError as error:
        problems += [p.at(f"{place} {model.id!r}") for p in error.problems]
        return None
    if len(whole) < len(candidates) and not 0 <= model.capacity <= len(candidates):
        what = f"{model.capacity} is not between 0 and the {len(candidates)} candidates"
        problems.append(Problem(f"{place}.capacity", what))
    return search


def _limit(model: LimitModel, number: int) -> Limit:
    try:
        return Limit(**model.model_dump())
    except InputError as error:
        raise InputError([p.at(f"limits[{number}] {model.label!r}") for p in error.problems]) from None


def _state(name: str, model: StateModel) -> State:
    rest = model.model_dump(exclude={"terminal", "selected"})
    return State(name, selected=model.terminal or model.selected, **rest)


def _candidate(raw: Any, place: str, problems: list[Problem]) -> Candidate | None:
    if not isinstance(raw, dict):
        problems.append(Problem(place, f"must be a JSON object, not {raw!r}"))
        return None
    name = f"{place} {raw['id']!r}" if "id" in raw else place
    try:
        if "states" in raw or "start" in raw:
            chain = _validate(ChainModel, raw, name, problems)
            if chain is None:
                return None
            states = tuple(_state(key, state) for key, state in chain.states.items())
            return Chain(chain.id, chain.group, chain.start, states, chain.attributes)
        box = _validate(BoxModel, raw, name, problems)
        if box is None:
            return None
        return Box(**box.model_dump())
    except InputError as error:
        problems += [problem.at(name) for problem in error.problems]
        return None


def _validate(model: type[M], raw: Any, place: str, problems: list[Problem]) -> M | None:
    try:
        return validated(model, raw)
    except InputError as error:
        problems += [problem.at(place) if place else problem for problem in error.problems]
        return None
