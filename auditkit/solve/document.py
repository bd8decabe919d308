"""A solution as the document `auditkit-solution/1`."""

from __future__ import annotations

from typing import Any

from auditkit.constraints import Constraint, Rows
from auditkit.files import SOLUTION
from auditkit.layout import Floats
from auditkit.outcome import Outcome
from auditkit.policy import Level, Policy
from auditkit.solve.solution import Optimum, Solution


def document(solution: Solution, constraints: list[Constraint], sha256: str | None = None) -> dict[str, Any]:
    """Everything of a solution, as plain data; `verify` needs nothing else but the instance."""
    infeasible: dict[str, Any] = {}
    if solution.constrained is None:
        infeasible = {"conflict": list(solution.conflict), "certificate": _certificate(solution)}
    return {
        "format": SOLUTION,
        "status": solution.status,
        "method": solution.method,
        "specs": [{"type": c.type, **c.model_dump(mode="json", exclude_defaults=True)} for c in constraints],
        "unconstrained": outcome(solution.unconstrained),
        "constrained": None if solution.constrained is None else _optimum(solution.constrained),
        **infeasible,
        "price_of_fairness": {"ratio": solution.ratio, "loss": solution.loss},
        "instance": {"sha256": sha256},
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
        "constraints": _rows(optimum.rows, optimum.values, optimum.slacks, optimum.duals),
        "policies": [
            {"weight": weight, **_policy(policy)}
            for weight, policy in zip(optimum.mixture.weights, optimum.mixture.policies, strict=True)
        ],
        "candidates": candidates,
    }


def _rows(rows: Rows, values: Floats, slacks: Floats, duals: Floats) -> list[dict[str, Any]]:
    return [
        {
            "label": row.label,
            "type": rows.constraints[owner].type,
            "sense": row.sense,
            "value": float(value),
            "bound": row.bound,
            "slack": float(slack),
            "dual": float(dual),
        }
        for row, owner, value, slack, dual in zip(rows.rows, rows.owner, values, slacks, duals, strict=True)
    ]


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
    return [
        {"label": row.label, "sense": row.sense, "bound": row.bound, "dual": float(dual)}
        for row, dual in zip(proof.rows.rows, proof.duals, strict=True)
    ]
