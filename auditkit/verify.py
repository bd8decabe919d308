"""Check a solution without the code that found it.

Nothing of `solve/` is used here: policies are evaluated again by other algorithms, in plain Python and numpy.

    indices           state elimination, largest index first (MATH section 2), for every kind of chain
    running minimum   passed on along the transitions, or by linear solves where the chain has a cycle
    who is ahead      a segment tree of truncated polynomials over the candidates, one leaf left out at a time

The optimum is then re-derived: the mixture's utility and rows from its policies, the bound from the duals as
G(lambda) = max_p R.p + lambda.(b - Theta p), infeasibility from its multipliers. What is shared is the statement of the
problem: the layout of states and the rows that the constraint plugins make of it.

Sums are formed in the order in which they are written in the formulas, so that two indices which the solver finds
equal are equal here too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditkit.constraints import Row, Rows
from auditkit.errors import InputError
from auditkit.layout import Floats, Layout

TIE_TOLERANCE = 1e-9
"""Part of what a policy with ties means: of the largest reward of a level, closer indices are tied."""

TOLERANCE = 1e-8
"""How far a claim may be from what is found here, relative to the size of its terms."""

Vector = tuple[float, ...]


@dataclass(frozen=True)
class Check:
    """One claim of the solution and whether it stands."""

    claim: str
    holds: bool
    detail: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", bool(self.holds))  # numpy's booleans are not JSON's


def verify(document: dict[str, Any], layout: Layout, rows: Rows, sha256: str) -> list[Check]:
    """All claims of an `auditkit-solution/1` document about an instance."""
    checks = [Check("the solution is of this instance", document["instance"]["sha256"] in (None, sha256))]
    if not checks[0].holds:
        return checks
    nothing = Rows((), (), ())
    free = evaluate(layout, adjusted(layout, nothing, [{"duals": []}]))
    checks += _outcome_checks("unconstrained", document["unconstrained"], layout, free)
    if document["constrained"] is None:
        return checks + _infeasible_checks(document, layout, rows)
    return checks + _optimum_checks(document, layout, rows, float(layout.reward @ free))


def _close(claimed: float | None, found: float, size: float = 1.0) -> bool:
    return claimed is not None and abs(claimed - found) <= TOLERANCE * (1.0 + abs(found) + size)


def _check_number(claim: str, claimed: float | None, found: float, size: float = 1.0) -> Check:
    return Check(claim, _close(claimed, found, size), f"claimed {claimed}, found {found:.12g}")


def _outcome_checks(name: str, claimed: dict[str, Any], layout: Layout, visits: Floats) -> list[Check]:
    selected = np.add.reduceat(np.where(layout.selecting, visits, 0.0), layout.candidate_ptr[:-1])
    checks = [
        _check_number(f"{name}: utility", claimed["utility"], float(layout.reward @ visits)),
        _check_number(
            f"{name}: unfilled capacity", claimed["unfilled_capacity"], float(layout.capacity.sum() - selected.sum())
        ),
    ]
    if "long_term_utility" in claimed or layout.has_true_rewards:
        long_term = float(layout.true_reward @ visits)
        checks.append(_check_number(f"{name}: long-term utility", claimed.get("long_term_utility"), long_term))
    wrong = []
    if len(claimed["candidates"]) != len(layout.candidate_ids):
        wrong.append(f"{len(claimed['candidates'])} candidates instead of {len(layout.candidate_ids)}")
    for c, entry in enumerate(claimed["candidates"][: len(layout.candidate_ids)]):
        first, last = layout.candidate_ptr[c], layout.candidate_ptr[c + 1]
        names, order = layout.state_names[c], layout.value_order[c]
        found: dict[str, float] = {"inspected": float(visits[first]), "selected": float(selected[c])}
        if names is not None:
            found = dict(zip(names, map(float, visits[first:last]), strict=True))
        ok = (entry["search"], entry["id"]) == (layout.search_ids[layout.candidate_search[c]], layout.candidate_ids[c])
        ok &= _close(entry["inspect"], float(visits[first])) and _close(entry["select"], float(selected[c]))
        ok &= set(entry["visits"]) == set(found) and all(_close(entry["visits"][k], v) for k, v in found.items())
        if order is not None and "select_by_value" in entry:
            by_value = np.array(entry["select_by_value"])
            ok &= len(by_value) == len(order) and bool(
                np.allclose(by_value[order], visits[first + 1 : last], atol=TOLERANCE)
            )
        if not ok:
            wrong.append(f"{layout.candidate_ids[c]!r} in {layout.search_ids[layout.candidate_search[c]]!r}")
    checks.append(Check(f"{name}: chances of every candidate", not wrong, "differ for " + ", ".join(wrong[:5])))
    return checks


def _optimum_checks(document: dict[str, Any], layout: Layout, rows: Rows, free: float) -> list[Check]:
    claimed = document["constrained"]
    exact = document["method"] != "g-rdip"  # whose mixture is near-optimal and near-feasible by design
    if not claimed["policies"]:
        raise InputError(
            "this solution does not list its policies, as g-rdip with convex constraints cannot, so that they cannot be "
            "evaluated again: solve with --method column-generation to have something to verify"
        )
    cuts = claimed.get("cuts", [])
    cut_rows = _tangents(rows, cuts)
    if cut_rows is None:
        return [Check("cuts are tangents of the measures", False)]
    every = rows.with_cuts(cut_rows)
    weights = [policy["weight"] for policy in claimed["policies"]]
    checks = [
        Check(
            "weights are chances", min(weights) >= 0 and abs(sum(weights) - 1) <= 1e-9, f"they sum to {sum(weights)}"
        ),
    ]
    if exact and not rows.measures:
        fewest = len(weights) <= len(rows) + 1
        checks.append(Check("at most one policy more than rows", fewest, f"{len(weights)} policies"))
    visits = np.zeros(layout.states)
    for policy in claimed["policies"]:
        visits += policy["weight"] * evaluate(layout, adjusted(layout, every, [policy, *policy.get("ties", [])]))
    checks += _outcome_checks("constrained", claimed, layout, visits)
    utility = float(layout.reward @ visits)
    same = [(r["label"], r["sense"], r["bound"]) for r in claimed["constraints"]]
    stated = [(r.label, r.sense, r.bound) for r in (*rows.rows, *rows.measures)]
    checks.append(Check("the rows are those of the constraints", same == stated, f"{len(same)} and {len(stated)} rows"))
    if not checks[-1].holds:
        return checks
    for row, claim in zip((*rows.rows, *rows.measures), claimed["constraints"], strict=True):
        if isinstance(row, Row):
            size = float(np.abs(row.coefficients) @ visits[row.states]) + abs(row.bound)
            value = float(row.coefficients @ visits[row.states])
        else:
            value = row.value(visits[row.states])
            size = abs(value) + abs(row.bound)
        slack = value - row.bound if row.sense == ">=" else row.bound - value
        met = abs(slack) <= TOLERANCE * (1 + size) if row.sense == "==" else slack >= -TOLERANCE * (1 + size)
        if exact:
            checks.append(Check(f"{row.label}: holds", met, f"{value:.12g} {row.sense} {row.bound:g}"))
        checks.append(_check_number(f"{row.label}: value", claim["value"], value, size))
        checks.append(_check_number(f"{row.label}: slack", claim["slack"], slack, size))
        sign = {"==": True, "<=": claim["dual"] >= 0, ">=": claim["dual"] <= 0}[row.sense]
        checks.append(Check(f"{row.label}: sign of the dual", sign, f"dual {claim['dual']}"))
    duals = [claim["dual"] for claim in (*claimed["constraints"][: len(rows)], *cuts)]
    for k, measure in enumerate(rows.measures):
        together = sum(cut["dual"] for cut in cuts if cut["measure"] == k)
        checks.append(_check_number(f"{measure.label}: dual", claimed["constraints"][len(rows) + k]["dual"], together))
    checks += [Check("signs of the duals of cuts", _signs(duals, every))] if cuts else []
    best = evaluate(layout, adjusted(layout, every, [{"duals": duals}]))
    gains = [
        dual * (row.bound - float(row.coefficients @ best[row.states]))
        for dual, row in zip(duals, every.rows, strict=True)
    ]
    bound = float(layout.reward @ best) + sum(gains)
    size = sum(abs(gain) for gain in gains)
    checks.append(_check_number("bound from the duals", claimed["bound"], bound, size))
    checks.append(_check_number("gap", claimed["gap"], max(0.0, bound - utility), size))
    if exact:
        closed = bound - utility <= 1e-6 * (1 + abs(utility))
        checks.append(Check("the gap is closed", closed, f"bound {bound}, value {utility}"))
    price = document["price_of_fairness"]
    checks.append(_check_number("price of fairness: loss", price["loss"], free - utility))
    if free > 0:
        checks.append(_check_number("price of fairness: ratio", price["ratio"], utility / free))
    return checks


def _infeasible_checks(document: dict[str, Any], layout: Layout, rows: Rows) -> list[Check]:
    """No policy: the multipliers turn the rows into one that even the best policy for it misses."""
    described = [constraint.describe() for constraint in rows.constraints]
    named = [described.index(spec) for spec in document["conflict"] if spec in described]
    certificate = document["certificate"]
    some = rows.only(named)
    cuts = _tangents(some, [entry for entry in certificate if "measure" in entry])
    if cuts is None or [c["label"] for c in certificate] != [r.label for r in some.with_cuts(cuts).rows]:
        return [Check("the conflict names constraints of this problem", False)]
    some = some.with_cuts(cuts)
    duals = [c["dual"] for c in certificate]
    best = evaluate(layout, adjusted(layout, some, [{"objective": 0.0, "duals": duals}]))
    miss = sum(
        d * (float(row.coefficients @ best[row.states]) - row.bound) for d, row in zip(duals, some.rows, strict=True)
    )
    return [
        Check("signs of the multipliers", _signs(duals, some)),
        Check("the constraints named cannot hold together", miss > 0, f"the best policy misses by {miss:.3g}"),
    ]


def _signs(duals: list[float], rows: Rows) -> bool:
    """Whether duals have the signs that make G a bound: >= 0 for "<=", <= 0 for ">="."""
    return all(
        row.sense == "==" or (dual >= 0 if row.sense == "<=" else dual <= 0)
        for dual, row in zip(duals, rows.rows, strict=True)
    )


def _tangents(rows: Rows, cuts: list[dict[str, Any]]) -> list[tuple[int, Row]] | None:
    """The rows that cuts stand for, made again from their measures; None if one is of no measure."""
    if any(not 0 <= cut["measure"] < len(rows.measures) for cut in cuts):
        return None
    pairs = [(cut["measure"], rows.measures[cut["measure"]], np.array(cut["at"], dtype=np.float64)) for cut in cuts]
    if any(len(at) != len(measure.states) for _, measure, at in pairs):
        return None
    return [(k, measure.tangent(at)) for k, measure, at in pairs]


# ------------------------------------------------------------------------------------------- evaluation, written again


def adjusted(layout: Layout, rows: Rows, levels: list[dict[str, Any]]) -> list[Floats]:
    """Rewards of each level: objective * R - sum_j dual_j * theta_j."""
    rewards = []
    for level in levels:
        reward = level.get("objective", 1.0) * layout.reward
        for dual, row in zip(level["duals"], rows.rows, strict=False):
            if dual != 0.0:
                reward[row.states] -= dual * row.coefficients
        rewards.append(reward)
    return rewards


def evaluate(layout: Layout, rewards: list[Floats]) -> Floats:
    """Expected visits of every state under the index policy of `rewards`, one array a level."""
    tol = tuple(TIE_TOLERANCE * float(np.abs(r).max(initial=0.0)) if len(rewards) > 1 else 0.0 for r in rewards)
    reward = [tuple(map(float, levels)) for levels in np.column_stack(rewards)]
    visits = np.zeros(layout.states)
    for search in range(len(layout.search_ids)):
        candidates = range(layout.search_ptr[search], layout.search_ptr[search + 1])
        index = {s: y for c in candidates for s, y in indices(layout, c, reward, tol).items()}
        if len(tol) > 1:
            index = _snapped(index, tol)
        paths = [running_minimum(layout, c, index) for c in candidates]
        for s, value in _visits(layout, index, paths, int(layout.capacity[search])).items():
            visits[s] = value
    return visits


def _sign(x: Vector, y: Vector, tol: Vector) -> int:
    """Lexicographic comparison with a tolerance for each level."""
    for a, b, t in zip(x, y, tol, strict=True):
        if a != b and abs(a - b) > t:
            return 1 if a > b else -1
    return 0


def indices(layout: Layout, candidate: int, reward: list[Vector], tol: Vector) -> dict[int, Vector]:
    """Index of every non-terminal state by elimination, largest first.

    For a state s not yet eliminated, gain(s) and stop(s) are what is collected and the chance of selection from s until
    a state not eliminated is met; the best ratio gain / stop is the next index, and its state is eliminated.
    """
    states = list(range(layout.candidate_ptr[candidate], layout.candidate_ptr[candidate + 1]))
    zero = (0.0,) * len(tol)
    gain: dict[int, Vector] = {}
    stop: dict[int, float] = {}
    step: dict[int, dict[int, float]] = {}
    parents: dict[int, set[int]] = {s: set() for s in states}
    for s in states:
        if layout.terminal[s]:
            continue
        gain[s], stop[s], step[s] = reward[s], 1.0 if layout.stop[s] else 0.0, {}
        for e in range(layout.edges.ptr[s], layout.edges.ptr[s + 1]):
            t, a = int(layout.edges.items[e]), float(layout.edge_prob[e])
            if layout.terminal[t]:
                gain[s] = tuple(g + a * r for g, r in zip(gain[s], reward[t], strict=True))
                stop[s] += a
            else:
                step[s][t] = step[s].get(t, 0.0) + a
                parents[t].add(s)
    index: dict[int, Vector] = {}
    left = set(gain)
    ratio = {s: _ratio(gain[s], stop[s], zero, tol) for s in left}
    while left:
        best = min(left)
        for s in sorted(left):
            if _sign(ratio[s], ratio[best], tol) > 0:
                best = s
        index[best] = ratio[best]
        left.remove(best)
        if index[best][0] == -math.inf:
            continue
        loop = step[best].pop(best, 0.0)
        for q in parents[best] & left:
            free = stop[q] == 0.0 and _sign(gain[q], zero, tol) == 0  # costs nothing: worth what it leads to, exactly
            through = step[q].pop(best) / (1.0 - loop)
            gain[q] = tuple(g + through * h for g, h in zip(gain[q], gain[best], strict=True))
            stop[q] += through * stop[best]
            for t, a in step[best].items():
                step[q][t] = step[q].get(t, 0.0) + through * a
                parents[t].add(q)
            ratio[q] = index[best] if free and stop[q] > 0.0 else _ratio(gain[q], stop[q], zero, tol)
    return index


def _ratio(gain: Vector, stop: float, zero: Vector, tol: Vector) -> Vector:
    if stop > 0.0:
        return tuple(g / stop for g in gain)
    return (math.inf,) * len(gain) if _sign(gain, zero, tol) > 0 else (-math.inf,) * len(gain)


def _snapped(index: dict[int, Vector], tol: Vector) -> dict[int, Vector]:
    """Indices that are tied at a level made equal there, to zero if they are tied with zero."""
    columns = []
    for d, t in enumerate(tol):
        values = sorted({y[d] for y in index.values() if math.isfinite(y[d])} | {0.0})
        groups: list[list[float]] = []
        for value in values:
            if groups and value - groups[-1][-1] <= t:
                groups[-1].append(value)
            else:
                groups.append([value])
        to = {value: 0.0 if 0.0 in group else group[0] for group in groups for value in group}
        columns.append({s: to.get(y[d], y[d]) for s, y in index.items()})
    return {s: tuple(column[s] for column in columns) for s in index}


Path = dict[tuple[int, int], float]
"""(state, state with the smallest index so far) -> expected visits."""


def running_minimum(layout: Layout, candidate: int, index: dict[int, Vector]) -> Path:
    """Expected visits of each state by where the smallest index so far was met, while one always goes on."""
    first, last = int(layout.candidate_ptr[candidate]), int(layout.candidate_ptr[candidate + 1])
    mass: Path = {}
    entered = {first: 1.0}  # states that become the smallest index, and how often
    while entered:
        u = max(entered, key=lambda s: (index[s], -s))  # from the largest index down: none is entered again
        share = entered.pop(u)
        if index[u][0] == -math.inf:
            mass[u, u] = share
            continue
        inside = [s for s in range(first, last) if layout.terminal[s] or index[s] >= index[u]]
        for s, expected in _stay(layout, u, inside).items():
            mass[s, u] = mass.get((s, u), 0.0) + share * expected
            if not layout.terminal[s]:
                for e in range(layout.edges.ptr[s], layout.edges.ptr[s + 1]):
                    t = int(layout.edges.items[e])
                    if not layout.terminal[t] and index[t] < index[u]:
                        entered[t] = entered.get(t, 0.0) + share * expected * float(layout.edge_prob[e])
    return mass


def _stay(layout: Layout, start: int, inside: list[int]) -> dict[int, float]:
    """Expected visits, from `start`, of the states `inside` until one outside is entered."""
    allowed = set(inside)
    reached, todo = {start}, [start]
    edges: list[tuple[int, int, float]] = []
    while todo:
        s = todo.pop()
        for e in range(layout.edges.ptr[s], layout.edges.ptr[s + 1]):
            t = int(layout.edges.items[e])
            if t in allowed:
                edges.append((s, t, float(layout.edge_prob[e])))
                if t not in reached:
                    reached.add(t)
                    todo.append(t)
    place = {s: i for i, s in enumerate(sorted(reached))}
    matrix = np.eye(len(place))
    for s, t, a in edges:
        matrix[place[t], place[s]] -= a
    target = np.zeros(len(place))
    target[place[start]] = 1.0
    solved = np.linalg.solve(matrix, target)
    return {s: max(0.0, float(solved[i])) for s, i in place.items()}


def _visits(layout: Layout, index: dict[int, Vector], paths: list[Path], k: int) -> dict[int, float]:
    events = []
    for c, path in enumerate(paths):
        capped: dict[int, float] = {}
        for (s, u), mass in path.items():
            capped.setdefault(u, 0.0)
            if layout.selecting[s]:
                capped[u] += mass
        events += [(index[u], -c, u, mass) for u, mass in capped.items()]
    events.sort(key=lambda event: (event[0], event[1], -event[2]), reverse=True)
    zero = (0.0,) * len(events[0][0]) if events else ()
    tree = _Tree(len(paths), k)
    chance: dict[int, float] = {}
    ahead = [0.0] * len(paths)
    for y, minus_c, u, mass in events:
        if y <= zero:
            chance[u] = 0.0
        elif y[0] == math.inf:
            chance[u] = 1.0
        else:
            chance[u] = tree.fewer_without(-minus_c)
            ahead[-minus_c] = min(1.0, ahead[-minus_c] + mass)
            tree.set(-minus_c, ahead[-minus_c])
    visits: dict[int, float] = {}
    for path in paths:
        for (s, u), mass in path.items():
            visits[s] = visits.get(s, 0.0) + mass * chance[u]
    return visits


class _Tree:
    """Products of the factors (1 - p_c + p_c z), truncated at z^(k-1), of all candidates but one."""

    def __init__(self, n: int, k: int) -> None:
        self.k = k
        self.width = 1 << max(0, (n - 1).bit_length())
        self.nodes = [np.ones(1) for _ in range(2 * self.width)]

    def _product(self, a: Floats, b: Floats) -> Floats:
        return np.convolve(a, b)[: max(self.k, 1)]

    def set(self, c: int, p: float) -> None:
        i = self.width + c
        self.nodes[i] = np.array([1.0 - p, p])[: max(self.k, 1)]
        while i > 1:
            i //= 2
            self.nodes[i] = self._product(self.nodes[2 * i], self.nodes[2 * i + 1])

    def fewer_without(self, c: int) -> float:
        """P(fewer than k of the others are ahead)."""
        if self.k == 0:
            return 0.0
        law, i = np.ones(1), self.width + c
        while i > 1:
            law = self._product(law, self.nodes[i ^ 1])
            i //= 2
        return float(law[: self.k].sum())
