"""A solved problem and its certificate: everything needed to check it without trusting who found it.

`to_json` is the document `auditkit-solution/3`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from auditkit.constraints.base import Constraint, Measure, Row, Rows, Sense
from auditkit.display import Shown
from auditkit.errors import InputError, Problem, nearest, wrong_type
from auditkit.files import write_json
from auditkit.model.documents import SOLUTION
from auditkit.model.groups import UNKNOWN, group_column
from auditkit.model.layout import Floats, Ints
from auditkit.model.row_meaning import Meaning
from auditkit.solver.policy import Level, Mixture, Outcome, Policy
from auditkit.solver.rounding import without_noise
from auditkit.solver.search_policy import SearchPolicy, simulate
from auditkit.text import number, percent, scientific

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from auditkit.data.firm_history import History
    from auditkit.solver.g_rdip import Trajectory
    from auditkit.solver.oracle import Column


PROVED = 1e-6
"""Of the rewards collected: value and bound that are farther apart do not prove an optimum."""

NOBODY = 1e-9
"""Expected selections below this are none."""

Status = Literal["optimal", "unproved", "infeasible"]
"""Unproved: a policy meets the constraints, and how much better another may be is known only by the bound."""

NOBODY_SELECTED = "the best policy that meets these constraints selects no one: all positions stay open"


@dataclass(frozen=True)
class Condition:
    """A row or a measure, and how a mixture meets it."""

    label: str
    type: str
    sense: Sense
    value: float
    bound: float
    slack: float
    """How far it is from its bound: >= 0 on the right side, 0 for a row met with equality."""
    dual: float
    meaning: Meaning

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Optimum:
    """The constrained optimum: `utility` is attained by `mixture`, `bound` is proved by `duals`."""

    rows: Rows
    mixture: Mixture
    outcome: Outcome
    duals: Floats
    """d utility / d bound of each row."""
    bound: float
    evaluations: int
    """How many policies were evaluated to find it."""
    columns: tuple[Column, ...] = ()
    """Those policies: a neighbouring problem starts from them."""
    cuts: tuple[tuple[int, Row], ...] = ()
    """Tangents of measures that the policies or the bound refer to, each with the number of its measure."""
    cut_duals: Floats = field(default_factory=lambda: np.zeros(0))
    free_size: float = 0.0
    """The absolute rewards that the unconstrained optimum collects."""
    spread: float | None = None
    """How far realised outcomes scatter (`least_spread.py`), where the least was asked for."""

    @property
    def utility(self) -> float:
        return self.outcome.utility

    @property
    def gap(self) -> float:
        return max(0.0, without_noise(self.bound - self.utility, self.size))

    @property
    def proved(self) -> bool:
        """Whether value and bound have met. Where constraints can only just be met they may not."""
        return self.gap <= PROVED * (self.free_size + self.outcome.size)

    @property
    def size(self) -> float:
        """The terms of the bound added up: what rounding is relative to."""
        return self.free_size + self.outcome.size + float(np.abs(self.duals) @ self.sizes)

    @property
    def unproved_text(self) -> str:
        """What is known of an optimum that is not proved."""
        ends = f"between {number(self.utility)} and {number(self.bound)}"
        why = "the optimum is not proved, as happens where constraints can only just be met"
        return f"{why}: it lies {ends}, and these numbers are of the lower end"

    @cached_property
    def sizes(self) -> Floats:
        """The size of each row's terms."""
        return self.rows.sizes(self.outcome.visits)

    @cached_property
    def values(self) -> Floats:
        return without_noise(self.rows.values(self.outcome.visits), self.sizes)

    @property
    def slacks(self) -> Floats:
        """How far each row is from its bound: >= 0 on the right side, 0 for a row met with equality."""
        return without_noise(self.rows.signs * (self.rows.bounds - self.values), self.sizes)

    @property
    def measure_slacks(self) -> tuple[float, ...]:
        """How far each measure is from its bound."""
        visits = self.outcome.visits
        return tuple(without_noise(float(m.slack(visits)), float(m.size(visits))) for m in self.rows.measures)

    @property
    def measure_duals(self) -> Floats:
        """d utility / d bound of each measure: its cuts' duals together."""
        whose = np.array([k for k, _ in self.cuts], dtype=np.int64)
        return np.bincount(whose, self.cut_duals, minlength=len(self.rows.measures)).astype(np.float64)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """All rows, then all measures."""
        rows, visits = self.rows, self.outcome.visits
        measured = [measure.value(visits[measure.states]) for measure in rows.measures]
        stated: tuple[Row | Measure, ...] = (*rows.rows, *rows.measures)
        numbers = zip(
            stated,
            (*rows.owner, *rows.measured_by),
            (*self.values, *measured),
            (*self.slacks, *self.measure_slacks),
            (*self.duals, *self.measure_duals),
            strict=True,
        )
        return tuple(
            Condition(
                c.label, rows.constraints[i].type, c.sense, float(value), c.bound, float(slack), float(dual), c.meaning
            )
            for c, i, value, slack, dual in numbers
        )


def status_of(best: Optimum | None) -> Status:
    """What is known where this was found, or nothing."""
    if best is None:
        return "infeasible"
    return "optimal" if best.proved else "unproved"


@dataclass(frozen=True, eq=False)
class Proof:
    """That rows conflict: `duals` . (Theta p - b) > 0 for every policy, with the signs that the senses demand."""

    rows: Rows
    """Affine rows, and cuts of measures after them."""
    duals: Floats

    @property
    def constraints(self) -> frozenset[int]:
        """Which constraints take part."""
        return frozenset(self.rows.owner) | frozenset(self.rows.measured_by)


@dataclass(frozen=True, eq=False)
class Approximation:
    """How a near-optimal, near-feasible mixture was found, and the certified optimum that it is measured against."""

    run: Trajectory
    certified: Optimum


@dataclass(frozen=True, eq=False)
class Solution(Shown):
    """The unconstrained and the constrained optimum of one instance; `constrained` is None if there is none."""

    method: str
    unconstrained: Outcome
    constrained: Optimum | None
    proof: Proof | None = None
    approximate: Approximation | None = None
    constraints: tuple[Constraint, ...] = ()
    sha256: str | None = None
    """Of the file that the instance was read from, if there was one."""
    rows: Ints | None = None
    """Per candidate: the row of the history that was fitted, if there was one."""

    @property
    def conflict(self) -> tuple[str, ...]:
        """Constraints, as SPECs, that cannot hold together, as few as possible."""
        if self.proof is None:
            return ()
        return tuple(self.proof.rows.constraints[i].to_spec() for i in sorted(self.proof.constraints))

    @property
    def impossible(self) -> tuple[str, ...]:
        """Rows of the conflict that no policy can move at all: the candidates or groups that they name."""
        rows = () if self.proof is None else self.proof.rows.rows
        return tuple(row.label for row in rows if not len(row.states))

    @property
    def status(self) -> Status:
        return status_of(self.constrained if self.approximate is None else self.approximate.certified)

    @property
    def selects_nobody(self) -> bool:
        """Whether the constraints are met only by leaving every position open that could be filled."""
        return (
            self.constrained is not None
            and self.unconstrained.selected.sum() > NOBODY
            and self.constrained.outcome.selected.sum() <= NOBODY
        )

    @property
    def loss(self) -> float | None:
        """What the constraints cost, in the instance's unit."""
        return None if self.constrained is None else self.unconstrained.gain_over(self.constrained.outcome)

    @property
    def ratio(self) -> float | None:
        """Utility kept; None where a ratio means nothing because the unconstrained utility is not positive."""
        if self.loss is None or not self.unconstrained.utility > 0:
            return None
        return 1.0 - self.loss / self.unconstrained.utility

    def policy(self, search: str, *, constrained: bool = True) -> SearchPolicy:
        """What a search follows in the constrained optimum, or in the unconstrained one."""
        layout = self.unconstrained.layout
        if search not in layout.search_ids:
            raise InputError(Problem("search", f"there is no search {search!r}", nearest(search, layout.search_ids)))
        return SearchPolicy.of(layout, *self._followed(constrained), layout.search_ids.index(search))

    def simulate(self, runs: int = 1000, seed: int = 0, *, constrained: bool = True) -> pd.DataFrame:
        """Follow the policies in simulated searches: how often each candidate was inspected and selected.

        `frame.attrs["utility"]` has the utility of each run. The numbers of the solution itself are exact; this shows
        how much single runs differ.
        """
        layout = self.unconstrained.layout
        if not isinstance(runs, int) or runs < 1:
            raise InputError(wrong_type("runs", runs, "a whole number from 1 on"))
        visits, utilities = simulate(layout, *self._followed(constrained), runs, seed)
        outcome = Outcome(layout, visits)
        frame = self._candidates().assign(inspected=outcome.inspected, selected=outcome.selected)
        frame.attrs["utility"] = utilities.tolist()
        return frame

    def _followed(self, constrained: bool) -> tuple[Rows, Mixture]:
        best, searches = self.constrained, len(self.unconstrained.layout.search_ids)
        if not constrained:
            return Rows((), (), ()), Mixture((Policy.at(()),), searches)
        if best is None:
            raise InputError(Problem("constrained", "these constraints cannot hold together", "constrained=False"))
        if not best.mixture.policies:
            raise InputError("g-rdip lists no policies where measures take part: solve with column-generation")
        return best.rows.with_cuts(best.cuts), best.mixture

    def to_json(self) -> dict[str, Any]:
        """The document `auditkit-solution/3`, which `verify` checks."""
        return _document(self)

    def save_json(self, path: str | Path) -> None:
        """Write the solution file."""
        write_json(path, self.to_json())

    def to_frame(self, ids: History | None = None) -> pd.DataFrame:
        """One row per candidate: the chances of being inspected and selected, without and under the constraints.

        `ids` is the history that was fitted: then candidates have its names, and `at` is their row in its table.
        """
        free = self.unconstrained
        frame = self._candidates().assign(inspect=free.inspected, select=free.selected)
        if ids is not None:
            if not hasattr(ids, "table"):
                raise InputError(wrong_type("ids", ids, "the History that was fitted"))
            if self.rows is None:
                raise InputError(Problem("ids", "this solution is not of a fitted history", "solve(fit(history), ...)"))
            frame = frame.assign(candidate=ids.table["candidate"].to_numpy()[self.rows], at=self.rows)
        if self.constrained is not None:
            best = self.constrained.outcome
            frame = frame.assign(inspect_constrained=best.inspected, select_constrained=best.selected)
        return frame

    def _candidates(self) -> pd.DataFrame:
        import pandas as pd

        layout = self.unconstrained.layout
        return pd.DataFrame(
            {
                "search": np.array(layout.search_ids, dtype=object)[layout.candidate_search],
                "candidate": layout.candidate_ids,
                **{
                    group_column(name): np.array([*part.names, UNKNOWN], dtype=object)[part.codes]
                    for name, part in layout.protected.items()
                },
            }
        )

    def __repr__(self) -> str:
        best = "" if self.constrained is None else f", constrained {number(self.constrained.utility)}"
        return f"<Solution: {self.status}, unconstrained {number(self.unconstrained.utility)}{best}>"

    def _facts(self) -> list[str]:
        if self.constrained is None:
            return ["these constraints cannot hold together:", *self.conflict, *self.impossible]
        kept = "" if self.ratio is None else f"; {percent(self.ratio, 2)} of the utility is kept"
        facts = [f"price: {number(self.loss)}{kept}", f"gap: {scientific(self.constrained.gap)}"]
        facts += [] if self.constrained.proved else [self.constrained.unproved_text]
        return [*facts, NOBODY_SELECTED] if self.selects_nobody else facts

    def _tables(self) -> list[pd.DataFrame]:
        """The constraints, and expected inspections and selections of each group."""
        import pandas as pd

        conditions = () if self.constrained is None else self.constrained.conditions
        layout = self.unconstrained.layout
        if layout.uncertain:
            groups = self._by_attribute()
        else:
            by = [group_column(name) for name in layout.protected]
            groups = self.to_frame().drop(columns=["search", "candidate"]).groupby(by).sum().reset_index()
        return [
            pd.DataFrame([asdict(condition) for condition in conditions]).drop(
                columns=["type", "meaning"], errors="ignore"
            ),
            groups,
        ]

    def _by_attribute(self) -> pd.DataFrame:
        """Expected inspections and selections of each group of each attribute, counted by membership."""
        import pandas as pd

        outcomes = {"unconstrained": self.unconstrained}
        outcomes |= {} if self.constrained is None else {"constrained": self.constrained.outcome}
        rows: list[dict[str, object]] = []
        for name, part in self.unconstrained.layout.protected.items():
            for group in part.names:
                rows.append({"attribute": name, "group": group})
                for which, outcome in outcomes.items():
                    rows[-1][f"inspect {which}"] = outcome.inspected_by_attribute[name][group]
                    rows[-1][f"select {which}"] = outcome.selected_by_attribute[name][group]
        return pd.DataFrame(rows)


def _document(solution: Solution) -> dict[str, Any]:
    """Everything of a solution, as plain data; `verify` needs nothing else but the instance."""
    infeasible: dict[str, Any] = {}
    if solution.constrained is None:
        infeasible = {"conflict": list(solution.conflict), "certificate": _certificate(solution)}
    return {
        "format": SOLUTION,
        "status": solution.status,
        "method": solution.method,
        "specs": [c.keys() for c in solution.constraints],
        "unconstrained": _outcome(solution.unconstrained),
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
    slacks = [*mixed.slacks, *mixed.measure_slacks]
    missed = [
        abs(s) if e else max(0.0, -s)
        for s, e in zip(slacks, [*mixed.rows.is_equality, *(False for _ in mixed.rows.measures)], strict=True)
    ]
    return {
        "g_rdip": {
            "settings": asdict(run.settings),
            "distance": {
                "utility": certified.outcome.gain_over(mixed.outcome),
                "violation": float(max(missed, default=0.0)),
                "certified": {"utility": certified.utility, "bound": certified.bound, "gap": certified.gap},
            },
            "trajectory": {name: getattr(run, name).tolist() for name in ("lagrangian", "utility", "slacks", "duals")},
        }
    }


def _outcome(result: Outcome) -> dict[str, Any]:
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
    if units := result.layout.units(result.selected):
        summary["units"] = [{"label": u.label, "positions": u.positions, "unfilled": u.unfilled} for u in units]
    return summary | {"unfilled_capacity": result.unfilled_capacity, "candidates": candidates}


def _optimum(optimum: Optimum) -> dict[str, Any]:
    described = _outcome(optimum.outcome)
    candidates = described.pop("candidates")
    return described | {
        "bound": optimum.bound,
        "gap": optimum.gap,
        "evaluations": optimum.evaluations,
        "constraints": [condition.to_json() for condition in optimum.conditions],
        **_cuts(optimum),
        "policies": [_policy(policy) for policy in optimum.mixture.policies],
        "mixture": mixture_document(optimum.mixture, optimum.outcome.layout.search_ids),
        "randomised": optimum.mixture.randomised,
        "candidates": candidates,
    }


def mixture_document(mixture: Mixture, names: Sequence[str]) -> dict[str, Any]:
    """Who follows which policy, searches by their names."""
    if mixture.firm is not None:
        return {"firm": [list(draw) for draw in mixture.firm]}
    searches = {names[s]: [list(draw) for draw in lottery] for s, lottery in sorted(mixture.searches.items())}
    return {"default": mixture.default, "searches": searches}


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
