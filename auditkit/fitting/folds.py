"""Who learns from whom: folds such that nobody's own score enters their own prior.

Searches, not candidates, are dealt into folds, because candidates of one search were judged together; with a single
search the candidates are dealt. A fold's priors are learnt from the other folds, without the people who also apply in
this one (a person's score elsewhere is a score of their own). Where that would leave too little, because the same
people apply everywhere, people are dealt instead, each with all their applications.

Dealing is by a hash of the ids: the same data give the same folds, whatever the order of the rows.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from auditkit.errors import InputError, PluginError, Problem, blaming, shipped
from auditkit.fitting.fitter import Fitter, Laws
from auditkit.model.layout import Bools, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

ENOUGH = 0.5
"""Share of the other folds' scores that must remain without the people who apply in this fold."""


@dataclass(frozen=True, eq=False)
class Folds:
    """`fold` of every row; `unit` says what was dealt: "search" or "candidate"."""

    unit: str
    count: int
    fold: Ints
    person: Ints

    def training(self, number: int, scored: Bools) -> Bools:
        """The rows from which the priors of a fold are learnt."""
        inside = self.fold == number
        return scored & ~inside & ~np.isin(self.person, self.person[inside])


def deal(search: Any, candidate: Any, scored: Bools, folds: int) -> Folds:
    """Deal rows with these ids (arrays of text) into at most `folds` folds."""
    names, of_search = np.unique(np.asarray(search, dtype=object).astype(str), return_inverse=True)
    people, person = np.unique(np.asarray(candidate, dtype=object).astype(str), return_inverse=True)
    with_scores = len(np.unique(of_search[scored]))
    if with_scores > 1:
        count = min(folds, with_scores)
        dealt = Folds("search", count, _deal(names, of_search, scored, count), person)
        if all(
            dealt.training(f, scored).sum() >= ENOUGH * (scored & (dealt.fold != f)).sum() > 0 for f in range(count)
        ):
            return dealt
    count = min(folds, len(np.unique(person[scored])))
    return Folds("candidate", count, _deal(people, person, scored, count), person)


def _deal(names: Any, unit: Ints, scored: Bools, count: int) -> Ints:
    """In the order of their hashes, each unit goes to the fold with the fewest scores so far."""
    scores = np.bincount(unit, scored, minlength=len(names))
    load = np.zeros(count)
    fold = np.zeros(len(names), dtype=np.int64)
    for i in sorted(range(len(names)), key=lambda i: hashlib.blake2b(names[i].encode(), digest_size=16).digest()):
        fold[i] = np.argmin(load)
        load[fold[i]] += scores[i]
    return fold[unit]


def cross_fit(
    fitter: Fitter,
    features: pd.DataFrame,
    scores: Floats,
    weights: Floats,
    folds: Folds,
    times: Ints | None = None,
) -> Laws:
    """Laws of all rows, those of a fold learnt from the other folds; `weights` are 0 where there is no score.

    `times` says how often each row teaches, in a resample; once otherwise.
    """
    parts = []
    for fold in range(folds.count):
        inside, training = np.flatnonzero(folds.fold == fold), np.flatnonzero(folds.training(fold, ~np.isnan(scores)))
        if not len(inside):
            continue
        if times is not None:
            training = np.repeat(training, times[training])
        own = weights[training] / weights[training].mean()
        try:
            with blaming(fitter, f"the fitter {fitter.name!r}"):
                laws = fitter.train(features.iloc[training], scores[training], own).laws(features.iloc[inside])
                if not isinstance(laws, Laws):
                    raise TypeError(f"its laws are of the class {type(laws).__name__}, not Laws")
            if len(laws) != len(inside):
                raise InputError(Problem("laws", f"{len(laws)} for {len(inside)} candidates"))
        except PluginError:
            raise
        except InputError as error:
            problems = [problem.at(f"fitter {fitter.name!r}") for problem in error.problems]
            if not shipped(fitter):
                raise PluginError(fitter, f"the fitter {fitter.name!r} failed", "; ".join(map(str, problems))) from None
            raise InputError(problems) from None
        parts.append((inside, laws))
    return Laws.joined(parts, len(features))
