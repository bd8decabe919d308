"""Check a report against its data, without the code that found its optima.

The data are read and fitted a second time, which yields the instance. Every claim about it is then derived
independently: what the firm achieved, what the best policies achieve (the policies behind the report, evaluated by
`independent`), that they obey their constraints, and the bound from the duals. Ex-post distributions must agree with
their means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from auditkit.compare.firm_gain import FirmGain
from auditkit.constraints.base import Rows
from auditkit.fitting.fitted import Fitted
from auditkit.fitting.recorded_search import recorded_search, stages_before_score
from auditkit.model.layout import Bools, Floats, Layout, Partition
from auditkit.report.schema import ConstrainedModel, GainModel, Report, StandingModel, as_json
from auditkit.text import exact, plain
from auditkit.verification.claims import CLOSED, TOLERANCE, Check, check_number, collected, same_numbers
from auditkit.verification.independent import Multipliers, adjusted, evaluate
from auditkit.verification.limited import check_units
from auditkit.verification.mixtures import ClaimedMixture, check_mixture, mixed_policy, mixed_visits

Progress = Callable[[str], None]
Gain = Callable[[str, Floats], FirmGain]
"""From the label and the expected visits of a policy to what it gains over the firm's own search."""


def check_report(
    report: Report, fitted: Fitted, rows: Sequence[Rows], progress: Progress, gain: Gain | None = None
) -> tuple[list[Check], list[str]]:
    """All claims about policies, and what couldn't be checked; `rows` are those of each constrained entry.

    `gain` derives the parts `against_firm`; what the firm's own search is worth is checked without it.
    """
    layout, realised, firm = fitted.instance.layout, fitted.realised, report.firm
    assert firm is not None and report.unconstrained is not None
    checks = _standing("the firm", firm, layout, realised.inspected, realised.selected, people=fitted.groups)
    checks.append(check_number("the firm: utility", firm.utility, realised.utility))
    checks.append(check_number("the firm: capacity", firm.capacity, float(layout.capacity.sum())))
    if realised.long_term_utility is not None:
        found = realised.long_term_utility
        checks.append(check_number("the firm: long-term utility", firm.long_term_utility, found))
    progress("re-evaluating the unconstrained optimum")
    nothing = Rows((), (), ())
    free = evaluate(layout, adjusted(layout, nothing, [Multipliers()]))
    checks += _outcome("unconstrained", report.unconstrained, layout, free)
    if firm.gain is not None:
        progress("re-evaluating the firm's own search")
        checks += _own_search(firm.gain, fitted, float(layout.reward @ free))
    skipped = []
    for entry, own in zip(report.entries, rows, strict=True):
        name = entry.label
        if not entry.met or not entry.policies:
            why = "its policies are not listed" if entry.met else "no policy meets it"
            skipped.append(f"{name} ({why})")
            continue
        progress(f"re-evaluating the policies under {name}")
        checks += _entry(name, entry, layout, own, free, gain)
    return checks, skipped


def _outcome(name: str, claimed: StandingModel | ConstrainedModel, layout: Layout, visits: Floats) -> list[Check]:
    selected = np.add.reduceat(np.where(layout.selecting, visits, 0.0), layout.candidate_ptr[:-1])
    by_state = {"inspected": np.zeros(layout.states), "selected": np.where(layout.selecting, visits, 0.0)}
    by_state["inspected"][layout.start] = visits[layout.start]
    checks = _standing(name, claimed, layout, visits[layout.start], selected, by_state)
    utility, unit = float(layout.reward @ visits), collected(layout, visits)
    checks.append(check_number(f"{name}: utility", claimed.utility, utility, 0.0, unit))
    if layout.has_true_rewards:
        found = float(layout.true_reward @ visits)
        checks.append(check_number(f"{name}: long-term utility", claimed.long_term_utility, found))
    return checks


def _standing(
    name: str,
    claimed: StandingModel | ConstrainedModel,
    layout: Layout,
    inspected: Floats | Bools,
    selected: Floats | Bools,
    by_state: Mapping[str, Floats] | None = None,
    people: Mapping[str, Partition] | None = None,
) -> list[Check]:
    """Numbers of every group of every attribute, and positions left open; uncertain groups count `by_state`, the firm's
    decisions count the `people` who applied."""
    by_group = claimed.by_group or {}
    wrong = [name for name in by_group if name not in layout.protected]
    for attribute, part in layout.protected.items():
        rows = by_group.get(attribute, {})
        wrong += [f"{attribute}: {group}" for group in rows if group not in part.names]
        for g, group in enumerate(part.names):
            if group not in rows:
                wrong.append(f"{attribute}: {group} is missing")
                continue
            if part.uncertain is None or people is not None:
                own_groups = part if part.uncertain is None or people is None else people[attribute]
                who = (own_groups.codes == own_groups.names.index(group)).astype(np.float64)
                numbers = [("candidates", who.sum()), ("inspected", who @ inspected), ("selected", who @ selected)]
            else:
                theta = layout.kinds.membership[attribute][:, g]
                before = theta[layout.kinds.ptr[:-1]][layout.candidate_kind]
                assert by_state is not None
                own = layout.of_states(theta)
                numbers = [("candidates", before.sum()), *((key, own @ visits) for key, visits in by_state.items())]
            wrong += [
                f"{attribute}: {group} {key}"
                for key, found in numbers
                if not check_number("", getattr(rows[group], key), float(found)).holds
            ]
    filled = np.bincount(layout.candidate_search, selected, minlength=len(layout.capacity))
    unfilled = float(np.maximum(layout.capacity - filled, 0.0).sum())
    return [
        Check(f"{name}: numbers by group", not wrong, f"differ: {', '.join(wrong[:5])}"),
        check_number(f"{name}: unfilled capacity", claimed.unfilled_capacity, unfilled),
        *check_units(name, claimed.units, layout, selected.astype(np.float64)),
    ]


def _own_search(claimed: GainModel, fitted: Fitted, free: float) -> list[Check]:
    """What the firm's own search is worth, the gain and its parts."""
    before, checks = free, []
    for number, stage in enumerate(stages_before_score(fitted)):
        after, _ = _worth(fitted, stage)
        steps = claimed.steps
        said = steps[number].gain if number < len(steps) and steps[number].step == stage else None
        checks.append(check_number(f"the firm's own search: gain at {stage}", said, before - after, abs(free)))
        before = after
    worth, filled = _worth(fitted)
    checks += [
        check_number("the firm's own search: expected utility", claimed.expected_utility, worth),
        check_number("the firm's own search: positions filled", claimed.positions_filled, filled),
        check_number("the firm's own search: gain", claimed.gain, free - worth, abs(free)),
    ]
    parts = sum(part or 0.0 for part in vars(claimed.parts).values())
    checks.append(check_number("the firm's own search: sum of the parts", claimed.gain, parts, abs(free)))
    return checks


def _worth(fitted: Fitted, through: str | None = None) -> tuple[float, float]:
    """Expected worth of the firm's own search, making the best of it, and expected positions filled."""
    problem = recorded_search(fitted, through)
    visits = evaluate(problem.layout, ([problem.rewards], (float(np.abs(problem.reward).max(initial=0.0)),)))
    filled = float(visits[problem.layout.selecting].sum())
    return float(problem.reward @ visits) - float(problem.paid.sum()), filled


def _entry(
    name: str, claimed: ConstrainedModel, layout: Layout, rows: Rows, free_visits: Floats, gain: Gain | None
) -> list[Check]:
    places = [str(search) for search in range(len(layout.search_ids))]
    policies = [mixed_policy(policy) for policy in claimed.policies or ()]
    mixture = ClaimedMixture(policies, claimed.mixture, claimed.randomised)
    lotteries, checks = check_mixture(mixture, places, len(rows), not rows.measures, f"{name}: ")
    if lotteries is None:
        return checks
    visits = mixed_visits(layout, rows, policies, lotteries)
    checks += _outcome(name, claimed, layout, visits)
    if gain is not None and claimed.against_firm is not None:
        found = gain(name, visits)
        what = f"{name}: gain over the firm's own search"
        checks.append(same_numbers(what, as_json(claimed.against_firm), as_json(found), noise=1e-6, tolerance=1e-6))
    stated = claimed.duals or ()
    same = [(dual.label, dual.sense) for dual in stated] == [(r.label, r.sense) for r in rows.rows]
    checks.append(Check(f"{name}: the rows are those of its constraints", same))
    if not same:
        return checks
    laws = {law.label: law for law in claimed.ex_post_slack or ()}
    duals, gains = [float(dual.value or 0.0) for dual in stated], []
    best = evaluate(layout, adjusted(layout, rows, [Multipliers(duals)]))
    for row, dual, value_of_dual in zip(rows.rows, stated, duals, strict=True):
        coefficients, here = row.coefficients, visits[row.states]
        size = float(np.abs(coefficients) @ here) + abs(row.bound)
        value = float(coefficients @ here)
        slack = value - row.bound if row.sense == ">=" else row.bound - value
        met = abs(slack) <= TOLERANCE * (1 + size) if row.sense == "==" else slack >= -TOLERANCE * (1 + size)
        sign = {"==": True, "<=": value_of_dual >= 0, ">=": value_of_dual <= 0}[row.sense]
        checks.append(Check(f"{name}: {row.label} holds", met, f"{exact(value)} {row.sense} {plain(row.bound)}"))
        checks.append(Check(f"{name}: sign of the dual of {row.label}", sign, f"dual {value_of_dual}"))
        checks.append(check_number(f"{name}: slack of {row.label}", dual.slack, slack, size))
        if row.label in laws:
            checks.append(check_number(f"{name}: mean ex-post slack of {row.label}", laws[row.label].mean, slack, size))
        gains.append(value_of_dual * (row.bound - float(row.coefficients @ best[row.states])))
    utility, bound = float(layout.reward @ visits), float(layout.reward @ best) + sum(gains)
    size, unit, price = sum(map(abs, gains)), collected(layout, free_visits, visits), claimed.price_of_fairness
    free = float(layout.reward @ free_visits)
    checks.append(check_number(f"{name}: bound from the duals", claimed.bound, bound, size, unit))
    if claimed.status == "optimal":
        closed = bound - utility <= CLOSED * unit
        checks.append(Check(f"{name}: the gap is closed", closed, f"bound {bound}, value {utility}"))
        checks.append(check_number(f"{name}: loss", None if price is None else price.loss, free - utility, 0.0, unit))
    if free > 0 and claimed.status == "optimal":
        checks.append(check_number(f"{name}: ratio", None if price is None else price.ratio, utility / free))
    if claimed.unfilled is not None:
        law = zip(claimed.unfilled.counts, claimed.unfilled.probabilities, strict=False)
        mean = float(sum(count * chance for count, chance in law))
        checks.append(check_number(f"{name}: mean of the law of unfilled positions", mean, claimed.unfilled_capacity))
    return checks
