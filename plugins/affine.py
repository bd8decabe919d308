"""Affine: anything linear in the expected visits of states, written out term by term.

sum_t coefficient_t * p(search_t, candidate_t, state_t)  <= | >= | ==  bound
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from auditkit import hookimpl
from auditkit.constraints import Constraint, Other, Row
from auditkit.errors import InputError, Problem, nearest
from auditkit.model.layout import Ints, Layout


class Term(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, coerce_numbers_to_str=True)
    candidate: str
    state: str = Field(description="'inspected', 'selected', or the name of a state")
    coefficient: float = 1.0
    search: str | None = Field(default=None, description="needed if several searches have a candidate with this id")


class Affine(Constraint):
    type: ClassVar[str] = "affine"
    terms: tuple[Term, ...] = Field(min_length=1, description="list of {search?, candidate, state, coefficient}")
    sense: Literal["<=", ">=", "=="]
    bound: float
    label: str = "affine"

    def rows(self, layout: Layout) -> list[Row]:
        weights = np.zeros(layout.states)
        problems = []
        for i, term in enumerate(self.terms):
            try:
                weights[_states(layout, term)] += term.coefficient
            except InputError as error:
                problems += [problem.at(f"terms[{i}]") for problem in error.problems]
        if problems:
            raise InputError(problems)
        return [Row.of(self.label, weights, self.sense, self.bound, meaning=Other(text=self.label, basis="count"))]


def _states(layout: Layout, term: Term) -> Ints:
    if term.search is not None and term.search not in layout.search_ids:
        known = nearest(term.search, layout.search_ids)
        raise InputError(Problem("search", f"there is no search {term.search!r}", known))
    found = [
        c
        for c, name in enumerate(layout.candidate_ids)
        if name == term.candidate and term.search in (None, layout.search_ids[layout.candidate_search[c]])
    ]
    if not found:
        known = nearest(term.candidate, set(layout.candidate_ids))
        raise InputError(Problem("candidate", f"there is no candidate {term.candidate!r}", known))
    if len(found) > 1:
        raise InputError(Problem("search", f"{len(found)} searches have a candidate {term.candidate!r}", "name one"))
    first, last = layout.candidate_ptr[found[0]], layout.candidate_ptr[found[0] + 1]
    names = layout.state_names[found[0]] or ()
    if term.state in names:
        return np.array([first + names.index(term.state)])
    if term.state == "inspected":
        return np.array([first])
    if term.state == "selected":
        return first + np.flatnonzero(layout.selecting[first:last])
    known = nearest(term.state, ["inspected", "selected", *names])
    raise InputError(Problem("state", f"candidate {term.candidate!r} has no state {term.state!r}", known))


@hookimpl
def auditkit_constraints() -> list[type[Affine]]:
    return [Affine]
