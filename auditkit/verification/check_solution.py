"""Check a solution against its instance, with different algorithms from the solver's (`independent.py`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from auditkit.constraints.base import Measure, Row, Rows
from auditkit.errors import InputError
from auditkit.model.documents import (
    SOLUTION,
    CutModel,
    FirstOptimumModel,
    FirstSolutionModel,
    OptimumModel,
    OutcomeModel,
    RowModel,
    SolutionModel,
    solution_of,
)
from auditkit.model.layout import Floats, Layout
from auditkit.text import brief, plain
from auditkit.text import exact as digits
from auditkit.verification.claims import CLOSED, TOLERANCE, Check, check_number, collected, is_close
from auditkit.verification.independent import Multipliers, adjusted, evaluate
from auditkit.verification.limited import check_units
from auditkit.verification.mixtures import ClaimedMixture, check_mixture, mixed_policy, mixed_visits

Solution = SolutionModel | FirstSolutionModel


def check_solution(document: Mapping[str, object], layout: Layout, rows: Rows, sha256: str) -> list[Check]:
    """All claims of an `auditkit-solution/3` document (or `/2`, `/1`) about an instance."""
    return check_claims(solution_of(document), layout, rows, sha256)


def check_claims(solution: Solution, layout: Layout, rows: Rows, sha256: str) -> list[Check]:
    """Like `check_solution`, for a parsed document."""
    checks = [Check("the solution is of this instance", solution.instance.sha256 in (None, sha256))]
    if not checks[0].holds:
        return checks
    nothing = Rows((), (), ())
    free = evaluate(layout, adjusted(layout, nothing, [Multipliers()]))
    checks += _outcome_checks("unconstrained", solution.unconstrained, layout, free)
    if solution.constrained is None:
        return checks + _infeasible_checks(solution, layout, rows)
    return checks + _optimum_checks(solution, solution.constrained, layout, rows, free)


def _outcome_checks(name: str, claimed: OutcomeModel, layout: Layout, visits: Floats) -> list[Check]:
    selected = np.add.reduceat(np.where(layout.selecting, visits, 0.0), layout.candidate_ptr[:-1])
    unit = collected(layout, visits)
    checks = [
        check_number(f"{name}: utility", claimed.utility, float(layout.reward @ visits), 0.0, unit),
        check_number(
            f"{name}: unfilled capacity", claimed.unfilled_capacity, float(layout.capacity.sum() - selected.sum())
        ),
        *check_units(name, claimed.units, layout, selected),
    ]
    if "long_term_utility" in claimed.model_fields_set or layout.has_true_rewards:
        long_term = float(layout.true_reward @ visits)
        checks.append(check_number(f"{name}: long-term utility", claimed.long_term_utility, long_term))
    wrong = []
    if len(claimed.candidates) != len(layout.candidate_ids):
        wrong.append(f"{len(claimed.candidates)} candidates instead of {len(layout.candidate_ids)}")
    for c, entry in enumerate(claimed.candidates[: len(layout.candidate_ids)]):
        first, last = layout.candidate_ptr[c], layout.candidate_ptr[c + 1]
        names, order = layout.state_names[c], layout.value_order[c]
        found: dict[str, float] = {"inspected": float(visits[first]), "selected": float(selected[c])}
        if names is not None:
            found = dict(zip(names, map(float, visits[first:last]), strict=True))
        ok = (entry.search, entry.id) == (layout.search_ids[layout.candidate_search[c]], layout.candidate_ids[c])
        ok &= is_close(entry.inspect, float(visits[first])) and is_close(entry.select, float(selected[c]))
        ok &= set(entry.visits) == set(found) and all(is_close(entry.visits[k], v) for k, v in found.items())
        if order is not None and entry.select_by_value is not None:
            by_value = np.array(entry.select_by_value)
            ok &= len(by_value) == len(order) and bool(
                np.allclose(by_value[order], visits[first + 1 : last], atol=TOLERANCE)
            )
        if not ok:
            wrong.append(f"{layout.candidate_ids[c]!r} in {layout.search_ids[layout.candidate_search[c]]!r}")
    checks.append(Check(f"{name}: chances of every candidate", not wrong, "differ for " + ", ".join(wrong[:5])))
    return checks


def _optimum_checks(
    solution: Solution, claimed: OptimumModel | FirstOptimumModel, layout: Layout, rows: Rows, free_visits: Floats
) -> list[Check]:
    free = float(layout.reward @ free_visits)
    exact = solution.method != "g-rdip"  # whose mixture is near-optimal and near-feasible by design
    if not claimed.policies:
        raise InputError(
            "this solution does not list its policies, as g-rdip with convex constraints cannot; they cannot be "
            "evaluated again: solve with --method column-generation instead"
        )
    cuts = claimed.cuts
    cut_rows = _tangents(rows, cuts)
    if cut_rows is None:
        return [Check("cuts are tangents of the measures", False)]
    with_cuts = rows.with_cuts(cut_rows)
    policies = [mixed_policy(policy) for policy in claimed.policies]
    if isinstance(claimed, FirstOptimumModel):
        mixture = ClaimedMixture(policies, None, weights=[policy.weight for policy in claimed.policies])
    else:
        mixture = ClaimedMixture(policies, claimed.mixture, claimed.randomised)
    lotteries, checks = check_mixture(mixture, layout.search_ids, len(rows), exact and not rows.measures)
    if lotteries is None:
        return checks
    visits = mixed_visits(layout, with_cuts, policies, lotteries)
    checks += _outcome_checks("constrained", claimed, layout, visits)
    utility = float(layout.reward @ visits)
    same = [(r.label, r.sense, r.bound) for r in claimed.constraints]
    stated = [(c.label, c.sense, c.bound) for c in _conditions(rows)]
    checks.append(Check("the rows are those of the constraints", same == stated, f"{len(same)} and {len(stated)} rows"))
    if not checks[-1].holds:
        return checks
    if solution.format == SOLUTION:
        meant = [claim.meaning and claim.meaning.to_json() for claim in claimed.constraints]
        alike = meant == [condition.meaning.to_json() for condition in _conditions(rows)]
        checks.append(Check("the rows mean what the constraints say", alike, "`meaning` differs"))
    for condition, claim in zip(_conditions(rows), claimed.constraints, strict=True):
        checks += _condition_checks(condition, claim, visits, exact)
    duals = [*(claim.dual for claim in claimed.constraints[: len(rows)]), *(cut.dual for cut in cuts)]
    for k, measure in enumerate(rows.measures):
        together = sum(cut.dual for cut in cuts if cut.measure == k)
        checks.append(check_number(f"{measure.label}: dual", claimed.constraints[len(rows) + k].dual, together))
    checks += [Check("signs of the duals of cuts", _signs(duals, with_cuts))] if cuts else []
    best = evaluate(layout, adjusted(layout, with_cuts, [Multipliers(duals)]))
    gains = [
        dual * (row.bound - float(row.coefficients @ best[row.states]))
        for dual, row in zip(duals, with_cuts.rows, strict=True)
    ]
    bound = float(layout.reward @ best) + sum(gains)
    size, unit = sum(abs(gain) for gain in gains), collected(layout, free_visits, visits)
    checks.append(check_number("bound from the duals", claimed.bound, bound, size, unit))
    checks.append(check_number("gap", claimed.gap, max(0.0, bound - utility), size, unit))
    if exact and solution.status != "unproved":
        closed = bound - utility <= CLOSED * unit
        checks.append(Check("the gap is closed", closed, f"bound {bound}, value {utility}"))
    price = solution.price_of_fairness
    checks.append(check_number("price of fairness: loss", price.loss, free - utility, 0.0, unit))
    if free > 0:
        checks.append(check_number("price of fairness: ratio", price.ratio, utility / free))
    return checks


def _conditions(rows: Rows) -> list[Row | Measure]:
    return [*rows.rows, *rows.measures]


def _condition_checks(stated: Row | Measure, claim: RowModel, visits: Floats, exact: bool) -> list[Check]:
    """One row or measure: checks that it holds, and that its value, slack and dual are as claimed."""
    x = visits[stated.states]
    if isinstance(stated, Row):
        value, size = float(stated.coefficients @ x), float(np.abs(stated.coefficients) @ x) + abs(stated.bound)
    else:
        value = stated.value(x)
        size = abs(value) + abs(stated.bound)
    slack = value - stated.bound if stated.sense == ">=" else stated.bound - value
    met = (abs(slack) if stated.sense == "==" else -slack) <= TOLERANCE * (1 + size)
    sign = {"==": True, "<=": claim.dual >= 0, ">=": claim.dual <= 0}[stated.sense]
    checks = [
        check_number(f"{stated.label}: value", claim.value, value, size),
        check_number(f"{stated.label}: slack", claim.slack, slack, size),
        Check(f"{stated.label}: sign of the dual", sign, f"dual {claim.dual}"),
    ]
    if exact:
        checks.append(Check(f"{stated.label}: holds", met, f"{digits(value)} {stated.sense} {plain(stated.bound)}"))
    return checks


def _infeasible_checks(solution: Solution, layout: Layout, rows: Rows) -> list[Check]:
    """Infeasible: the multipliers combine the rows into one that even the best policy for it misses."""
    described = [constraint.to_spec() for constraint in rows.constraints]
    named = [described.index(spec) for spec in solution.conflict if spec in described]
    certificate = solution.certificate
    some = rows.only(named)
    cuts = _tangents(some, [entry for entry in certificate if isinstance(entry, CutModel)])
    if cuts is None or [c.label for c in certificate] != [r.label for r in some.with_cuts(cuts).rows]:
        return [Check("the conflict names constraints of this problem", False)]
    some = some.with_cuts(cuts)
    duals = [c.dual for c in certificate]
    best = evaluate(layout, adjusted(layout, some, [Multipliers(duals, objective=0.0)]))
    miss = sum(
        d * (float(row.coefficients @ best[row.states]) - row.bound) for d, row in zip(duals, some.rows, strict=True)
    )
    return [
        Check("signs of the multipliers", _signs(duals, some)),
        Check("the constraints named cannot hold together", miss > 0, f"the best policy misses by {brief(miss)}"),
    ]


def _signs(duals: list[float], rows: Rows) -> bool:
    """Whether duals have the signs that make G a bound: >= 0 for "<=", <= 0 for ">="."""
    return all(
        row.sense == "==" or (dual >= 0 if row.sense == "<=" else dual <= 0)
        for dual, row in zip(duals, rows.rows, strict=True)
    )


def _tangents(rows: Rows, cuts: Sequence[CutModel]) -> list[tuple[int, Row]] | None:
    """The rows behind cuts, rebuilt from their measures; None if a cut doesn't belong to a measure."""
    if any(not 0 <= cut.measure < len(rows.measures) for cut in cuts):
        return None
    pairs = [(cut.measure, rows.measures[cut.measure], np.array(cut.at, dtype=np.float64)) for cut in cuts]
    if any(len(at) != len(measure.states) for _, measure, at in pairs):
        return None
    return [(k, measure.tangent(at)) for k, measure, at in pairs]
