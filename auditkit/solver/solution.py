"""A solved problem and its certificate: everything needed to check it without trusting who found it.

`to_json` is the document `auditkit-solution/3`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import JsonValue

from auditkit.constraints.base import Constraint, Measure, Row, Rows, Sense
from auditkit.display import Shown
from auditkit.errors import InputError, Problem, nearest, wrong_type
from auditkit.files import write_json
from auditkit.model.groups import UNKNOWN, group_column
from auditkit.model.layout import Floats, Ints
from auditkit.model.row_meaning import Meaning
from auditkit.solver.policy import Mixture, Outcome, Policy
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

    def to_json(self) -> dict[str, JsonValue]:
        """The document `auditkit-solution/3`, which `verify` checks."""
        from auditkit.solver.solution_document import document_of

        return document_of(self).model_dump(mode="json", exclude_unset=True)

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
