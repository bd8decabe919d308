"""What a fitter is: from what was known of candidates before inspection to the law of their score.

A **law** is discrete: support points v_1 <= ... <= v_m with probabilities p_1..p_m, in the unit of the score.
`quantise` makes one of at most m points from any weighted sample without moving its mean: with Q the quantile function
of the sample and G(u) the integral of Q from 0 to u,

    v_j = m * (G(j/m) - G((j-1)/m)),    p_j = 1/m,    so that  sum_j p_j v_j = G(1), the mean.

Each v_j is the mean of the j-th of m equally likely slices. A sample with at most m different values keeps them as they
are, with their own probabilities.

A plugin subclasses `Fitter`, names it, and returns it from the hook `auditkit_fitters`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from auditkit.errors import InputError, Problem
from auditkit.model.layout import Floats, Ints
from auditkit.model.search import SUM_TOLERANCE

if TYPE_CHECKING:
    import pandas as pd

GROUP = "group"
"""The column of features that holds the groups of a protected attribute; `group:NAME` where there are several."""


def group_columns(features: pd.DataFrame) -> list[str]:
    """The columns of features that hold protected attributes; none in a blind fit."""
    return [str(name) for name in features.columns if str(name) == GROUP or str(name).startswith(f"{GROUP}:")]


def quantise(values: Floats, weights: Floats, points: int) -> tuple[Floats, Floats]:
    """At most `points` support points, increasing, and their probabilities, with the mean of the weighted values."""
    atoms, inverse = np.unique(values[weights > 0], return_inverse=True)
    probs = np.bincount(inverse, weights[weights > 0]).astype(np.float64)
    probs /= probs.sum()
    if len(atoms) <= points:
        return atoms, probs
    upto = np.cumsum(probs)
    upto[-1] = 1.0
    # about the mean, so that a large offset of all scores costs no digits
    centre = float(probs @ atoms)
    partial = np.concatenate([[0.0], np.cumsum(probs * (atoms - centre))])
    grid = np.arange(points + 1) / points
    means = centre + points * np.diff(np.interp(grid, np.concatenate([[0.0], upto]), partial))
    first, last = np.searchsorted(upto, grid[:-1], "right"), np.searchsorted(upto, grid[1:], "left")
    within = first >= last  # the slice lies inside one atom: its mean is the atom, without rounding
    means[within] = atoms[np.minimum(first[within], len(atoms) - 1)]
    return np.maximum.accumulate(means), np.full(points, 1.0 / points)  # rounding must not disorder equal points


@dataclass(frozen=True, eq=False)
class Laws:
    """Laws of many candidates: candidate i has law `which[i]`, so that candidates known alike share one.

    `values` and `probs` have one row per law; rows are padded at the end with probability 0.
    """

    values: Floats
    probs: Floats
    which: Ints

    def __post_init__(self) -> None:
        problems = []
        if self.values.ndim != 2 or self.values.shape != self.probs.shape or not self.values.shape[1]:
            problems.append(Problem("laws", f"values {self.values.shape} and probs {self.probs.shape} do not match"))
        elif not (np.isfinite(self.values).all() and np.isfinite(self.probs).all()):
            problems.append(Problem("laws", "contain a number that is not finite"))
        elif (self.probs < 0).any() or (np.abs(self.probs.sum(axis=1) - 1) > SUM_TOLERANCE).any():
            problems.append(Problem("laws", "probabilities must be at least 0 and sum to 1 in every law"))
        elif (np.diff(self.values, axis=1) < 0).any():
            problems.append(Problem("laws", "support points must not decrease"))
        elif len(self.which) and not (self.which.min() >= 0 and self.which.max() < len(self.values)):
            problems.append(Problem("laws", "a candidate has a law that does not exist"))
        if problems:
            raise InputError(problems)
        object.__setattr__(self, "probs", self.probs / self.probs.sum(axis=1, keepdims=True))
        for array in (self.values, self.probs, self.which):
            array.setflags(write=False)

    @staticmethod
    def of(laws: Sequence[tuple[Floats, Floats]], which: Ints) -> Laws:
        """From laws of different lengths."""
        width = max(len(values) for values, _ in laws)
        values, probs = np.empty((len(laws), width)), np.zeros((len(laws), width))
        for row, (support, p) in enumerate(laws):
            values[row, : len(support)], values[row, len(support) :] = support, support[-1]
            probs[row, : len(support)] = p
        return Laws(values, probs, np.asarray(which, dtype=np.int64))

    @staticmethod
    def joined(parts: Sequence[tuple[Ints, Laws]], rows: int) -> Laws:
        """Laws of `rows` candidates, of whom each part has those at its positions."""
        width = max(laws.values.shape[1] for _, laws in parts)
        which, offset = np.full(rows, -1, dtype=np.int64), 0
        for positions, laws in parts:
            which[positions] = laws.which + offset
            offset += len(laws.values)
        values = [np.pad(laws.values, ((0, 0), (0, width - laws.values.shape[1])), mode="edge") for _, laws in parts]
        probs = [np.pad(laws.probs, ((0, 0), (0, width - laws.probs.shape[1]))) for _, laws in parts]
        return Laws(np.concatenate(values), np.concatenate(probs), which)

    def __len__(self) -> int:
        return len(self.which)

    @property
    def means(self) -> Floats:
        """The mean of every candidate's law."""
        return (self.values * self.probs).sum(axis=1)[self.which]

    def take(self, positions: Ints) -> Laws:
        return Laws(self.values, self.probs, self.which[positions])

    @cached_property
    def flat(self) -> tuple[Ints, Floats, Floats]:
        """Where each law begins, and support and probabilities one law after another, without the padding; points that
        coincide become one."""
        present = self.probs > 0
        law, values = np.nonzero(present)[0], self.values[present]
        first = np.flatnonzero(np.concatenate([[True], (np.diff(values) > 0) | (np.diff(law) > 0)]))
        probs = np.add.reduceat(self.probs[present], first)
        values = values[first]
        for array in (values, probs):
            array.setflags(write=False)
        return np.searchsorted(law[first], np.arange(len(self.values) + 1)), values, probs

    def law(self, number: int) -> tuple[Floats, Floats]:
        """Support and probabilities of one law."""
        ptr, values, probs = self.flat
        own = slice(ptr[number], ptr[number + 1])
        return values[own], probs[own]


class ScoreModel(ABC):
    """A trained fitter."""

    @abstractmethod
    def laws(self, features: pd.DataFrame) -> Laws:
        """The law of the score of each row; rows with equal features should share a law."""


class Fitter(BaseModel, ABC):
    """Base of all fitters: `name` is how users call it, its fields are its settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: ClassVar[str]

    points: int = Field(default=40, ge=2, le=1000, description="most support points of a law")

    @abstractmethod
    def train(self, features: pd.DataFrame, scores: Floats, weights: Floats) -> ScoreModel:
        """Learn from candidates whose score is known.

        `features` has one column for each thing known before the inspection: floats (NaN where it is not known) or
        categories, those of protected attributes among them (`group_columns`). `weights` are positive with mean 1: how
        many candidates each stands for.
        """
