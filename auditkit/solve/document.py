"""A solution as the document `auditkit-solution/1`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from auditkit.constraints import Row, Rows
from auditkit.formats import SOLUTION
from auditkit.outcome import Outcome
from auditkit.policy import Level, Policy
from auditkit.solve.solution import Optimum, Solution


def document(solution: Solution) -> dict[str, Any]:
    """Everything of a solution, as plain data; `verify` needs nothing else but the instance."""
    infeasible: dict[str, Any] = {}
    if solution.constrained is None:
        infeasible = {"conflict": list(solution.conflict), "certificate": _certificate(solution)}
    return {
        "format": SOLUTION,
        "status": solution.status,
        "method": solution.method,
        "specs": [{"type": c.type, **c.model_dump(mode="json", exclude_defaults=True)} for c in solution.constraints],
        "unconstrained": outcome(solution.unconstrained),
        "constrained": None if solution.constrained is None else _optimum(solution.constrained),
        **infeasible,
        **_approximation(solution),
        "price_of_fairness": {"ratio": solution.ratio, "loss": solution.loss},
        "instance": {"sha256": solution.sha256},
    }


def _approximation(solution: Solution) -> dict[str, Any]:
    """What g-rdip did and how far it ended from the certified optimum; nothing for an exact method."""
    if solution.approximate is None or solution.constrained is None:
        return {}
    run, certified, mixed = solution.approximate.run, solution.approximate.certified, solution.constrained
    slacks = [*mixed.slacks, *(measure.slack(mixed.outcome.visits) for measure in mixed.rows.measures)]
    missed = [
        abs(s) if e else max(0.0, -s)
        for s, e in zip(slacks, [*mixed.rows.is_equality, *(False for _ in mixed.rows.measures)], strict=True)
    ]
    return {
        "g_rdip": {
            "settings": asdict(run.settings),
            "distance": {
                "utility": certified.utility - mixed.utility,
                "violation": float(max(missed, default=0.0)),
                "certified": {"utility": certified.utility, "bound": certified.bound, "gap": certified.gap},
            },
            "trajectory": {name: getattr(run, name).tolist() for name in ("lagrangian", "utility", "slacks", "duals")},
        }
    }


def outcome(result: Outcome) -> dict[str, Any]:
    layout = result.layout
    inspected, selected = result.inspected, result.selected
    candidates = []
    for c, name in enumerate(layout.candidate_ids):
        first, last = layout.candidate_ptr[c], layout.candidate_ptr[c + 1]
        names = layout.state_names[c]
        entry: dict[str, Any] = {
            "search": layout.search_ids[layout.candidate_search[c]],
            "id": name,
            "inspect": float(inspected[c]),
            "select": float(selected[c]),
        }
        if names is None:
            entry["visits"] = {"inspected": float(inspected[c]), "selected": float(selected[c])}
            entry["select_by_value"] = [float(x) for x in result.selected_by_value(c)]
        else:
            entry["visits"] = {n: float(v) for n, v in zip(names, result.visits[first:last], strict=True)}
        candidates.append(entry)
    summary: dict[str, Any] = {"utility": result.utility}
    if result.long_term_utility is not None:
        summary["long_term_utility"] = result.long_term_utility
    return summary | {"unfilled_capacity": result.unfilled_capacity, "candidates": candidates}


def _optimum(optimum: Optimum) -> dict[str, Any]:
    described = outcome(optimum.outcome)
    candidates = described.pop("candidates")
    return described | {
        "bound": optimum.bound,
        "gap": optimum.gap,
        "evaluations": optimum.evaluations,
        "constraints": [asdict(condition) for condition in optimum.conditions],
        **_cuts(optimum),
        "policies": [
            {"weight": weight, **_policy(policy)}
            for weight, policy in zip(optimum.mixture.weights, optimum.mixture.policies, strict=True)
        ],
        "candidates": candidates,
    }


def _cuts(optimum: Optimum) -> dict[str, Any]:
    """Tangents that duals of policies refer to after those of the rows; nothing where all constraints are affine."""
    if not optimum.rows.measures:
        return {}
    return {
        "cuts": [
            {**_cut(optimum.rows, k, cut), "dual": float(dual)}
            for (k, cut), dual in zip(optimum.cuts, optimum.cut_duals, strict=True)
        ]
    }


def _cut(rows: Rows, k: int, cut: Row) -> dict[str, Any]:
    assert cut.tangent_at is not None
    return {"measure": k, "label": cut.label, "at": [float(x) for x in cut.tangent_at]}


def _policy(policy: Policy) -> dict[str, Any]:
    first, *ties = (_level(level) for level in policy.levels)
    return first | ({"ties": ties} if ties else {})


def _level(level: Level) -> dict[str, Any]:
    objective = {} if level.objective == 1.0 else {"objective": level.objective}
    return objective | {"duals": list(level.duals)}


def _certificate(solution: Solution) -> list[dict[str, Any]]:
    """Multipliers under which the rows of the conflict, added up, ask for more than any policy can do."""
    proof = solution.proof
    assert proof is not None
    labels = [measure.label for measure in proof.rows.measures]
    entries = []
    for row, dual in zip(proof.rows.rows, proof.duals, strict=True):
        cut = {} if row.tangent_at is None else _cut(proof.rows, labels.index(row.label), row)
        if dual != 0.0 or not cut:
            entries.append({"label": row.label, "sense": row.sense, "bound": row.bound, "dual": float(dual), **cut})
    return entries
