"""A solution as the document `auditkit-solution/3`: everything that `verify` needs beside the instance.

Only the keys that are set here are written, so that a file has no keys that do not apply to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
from pydantic import JsonValue

from auditkit.model.documents import (
    SOLUTION,
    CandidateModel,
    CertificateModel,
    ConstraintModel,
    CutModel,
    InstanceHash,
    LevelModel,
    MixtureModel,
    OptimumModel,
    OutcomeModel,
    PolicyModel,
    PriceModel,
    RowModel,
    SolutionModel,
    UnitOutcomeModel,
)
from auditkit.solver.policy import Level, Mixture, Outcome, Policy

if TYPE_CHECKING:
    from auditkit.solver.solution import Approximation, Optimum, Solution


def document_of(solution: Solution) -> SolutionModel:
    best = solution.constrained
    found = SolutionModel.model_construct(
        format=SOLUTION,
        status=solution.status,
        method=solution.method,
        specs=[ConstraintModel.model_validate(constraint.keys()) for constraint in solution.constraints],
        unconstrained=_outcome(solution.unconstrained),
        constrained=None if best is None else _optimum(best),
        price_of_fairness=PriceModel(ratio=solution.ratio, loss=solution.loss),
        instance=InstanceHash(sha256=solution.sha256),
    )
    if best is None:
        found.conflict, found.certificate = list(solution.conflict), _certificate(solution)
    elif solution.approximate is not None:
        found.g_rdip = _approximation(solution.approximate, best)
    return found


def _approximation(found: Approximation, mixed: Optimum) -> dict[str, JsonValue]:
    """What g-rdip did and how far it ended from the certified optimum."""
    run, certified = found.run, found.certified
    slacks = np.array([*mixed.slacks, *mixed.measure_slacks])
    equal = np.array([*mixed.rows.is_equality, *(False for _ in mixed.rows.measures)], dtype=np.bool_)
    missed = np.where(equal, np.abs(slacks), np.maximum(0.0, -slacks))
    return {
        "settings": asdict(run.settings),
        "distance": {
            "utility": certified.outcome.gain_over(mixed.outcome),
            "violation": float(missed.max(initial=0.0)),
            "certified": {"utility": certified.utility, "bound": certified.bound, "gap": certified.gap},
        },
        "trajectory": {name: getattr(run, name).tolist() for name in ("lagrangian", "utility", "slacks", "duals")},
    }


def _outcome(result: Outcome) -> OutcomeModel:
    found = OutcomeModel.model_construct(utility=result.utility)
    if result.long_term_utility is not None:
        found.long_term_utility = result.long_term_utility
    if units := result.layout.units(result.selected):
        found.units = [UnitOutcomeModel(label=u.label, positions=u.positions, unfilled=u.unfilled) for u in units]
    found.unfilled_capacity, found.candidates = result.unfilled_capacity, _candidates(result)
    return found


def _candidates(result: Outcome) -> list[CandidateModel]:
    layout, inspected, selected = result.layout, result.inspected, result.selected
    found = []
    for c, name in enumerate(layout.candidate_ids):
        first, last = layout.candidate_ptr[c], layout.candidate_ptr[c + 1]
        names, inspect, select = layout.state_names[c], float(inspected[c]), float(selected[c])
        visits = {"inspected": inspect, "selected": select}
        if names is not None:
            visits = {n: float(v) for n, v in zip(names, result.visits[first:last], strict=True)}
        search = layout.search_ids[layout.candidate_search[c]]
        entry = CandidateModel.model_construct(search=search, id=name, inspect=inspect, select=select, visits=visits)
        if names is None:
            entry.select_by_value = [float(x) for x in result.selected_by_value(c)]
        found.append(entry)
    return found


def _optimum(optimum: Optimum) -> OptimumModel:
    own = _outcome(optimum.outcome)
    found = OptimumModel.model_construct(**{name: getattr(own, name) for name in own.model_fields_set})
    found.bound, found.gap, found.evaluations = optimum.bound, optimum.gap, optimum.evaluations
    found.constraints = [RowModel(**vars(condition)) for condition in optimum.conditions]
    if optimum.rows.measures:  # tangents, which duals of policies refer to after those of the rows
        found.cuts = [
            CutModel(measure=k, label=cut.label, at=[float(x) for x in cut.tangent_at], dual=float(dual))
            for (k, cut), dual in zip(optimum.cuts, optimum.cut_duals, strict=True)
            if cut.tangent_at is not None
        ]
    found.policies = [_policy(policy) for policy in optimum.mixture.policies]
    found.mixture = mixture_of(optimum.mixture, optimum.outcome.layout.search_ids)
    found.randomised = optimum.mixture.randomised
    return found


def mixture_of(mixture: Mixture, names: Sequence[str]) -> MixtureModel:
    """Who follows which policy, searches by their names."""
    if mixture.firm is not None:
        return MixtureModel(firm=list(mixture.firm))
    searches = {names[s]: list(lottery) for s, lottery in sorted(mixture.searches.items())}
    return MixtureModel(default=mixture.default, searches=searches)


def _policy(policy: Policy) -> PolicyModel:
    first, *ties = policy.levels
    found = PolicyModel(duals=list(first.duals))
    if first.objective != 1.0:
        found.objective = first.objective
    if ties:
        found.ties = [_level(level) for level in ties]
    return found


def _level(level: Level) -> LevelModel:
    duals = list(level.duals)
    return LevelModel(duals=duals) if level.objective == 1.0 else LevelModel(objective=level.objective, duals=duals)


def _certificate(solution: Solution) -> list[CutModel | CertificateModel]:
    """Multipliers under which the rows of the conflict, added up, ask for more than any policy can do."""
    proof = solution.proof
    assert proof is not None
    labels = [measure.label for measure in proof.rows.measures]
    found: list[CutModel | CertificateModel] = []
    for row, dual in zip(proof.rows.rows, proof.duals, strict=True):
        stated = {"label": row.label, "sense": row.sense, "bound": row.bound, "dual": float(dual)}
        if row.tangent_at is not None and dual != 0.0:
            tangent = {"measure": labels.index(row.label), "at": [float(x) for x in row.tangent_at]}
            found.append(CutModel.model_validate(stated | tangent))
        elif row.tangent_at is None:
            found.append(CertificateModel.model_validate(stated))
    return found
