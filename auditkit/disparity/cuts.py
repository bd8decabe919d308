"""Which tables a page has, and their counts: every attribute (and crossing) at every step.

There are two kinds: `cumulative`, of all applicants, and `conditional`, of those who reached the previous step. At the
first step both are the same, and only the first is made. Either counts everyone about whom the step decided: those with
a final decision, and those who reached the step and withdrew, or are waiting, after it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from auditkit.disparity.applicants import Applicants, group_codes
from auditkit.disparity.pair import Pair
from auditkit.disparity.results import TableKind
from auditkit.disparity.small_values import JOINED, common, join_requisitions, numbers
from auditkit.errors import InputError, Problem
from auditkit.model.groups import MINIMUM_SHARE, comparable

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

Key = tuple[str, str, TableKind]
"""Attribute, step and kind: the name of a table."""


@dataclass(frozen=True)
class DisparitySettings:
    line: Fraction = Fraction(4, 5)
    alpha: float = 0.05
    minimum_share: Fraction = MINIMUM_SHARE
    threshold: int = 0
    """Groups with fewer applicants are neither compared nor listed."""

    def __post_init__(self) -> None:
        for name in ("line", "minimum_share"):
            object.__setattr__(self, name, Fraction(str(getattr(self, name))))  # 0.8 means 4/5
        limits = {
            "line": 0 < self.line <= 1,
            "alpha": 0 < self.alpha < 1,
            "minimum_share": 0 <= self.minimum_share <= 1,
        }
        if not all(limits.values()):
            raise InputError(Problem(name, "must lie between 0 and 1") for name, good in limits.items() if not good)


@dataclass(frozen=True, eq=False)
class RequisitionSets:
    """Requisitions as a table compares within them: those with few applicants of a group are joined."""

    of_row: Ints
    names: tuple[str, ...]
    """`JOINED` where there are several."""
    requisitions: int
    """Requisitions with applicants of a group that is compared."""
    shared: int
    """Requisitions with applicants of two groups that are compared."""
    joined: int
    """Of `requisitions`, those that aren't a stratum by themselves."""


Sides = Sequence[tuple[int, ...]]
"""Groups to compare, each made of one or more columns of a table."""


@dataclass(frozen=True, eq=False)
class Cut:
    """Counts of one table: strata by groups; `taken` are the columns that are compared."""

    attribute: str
    crossing: bool
    step: str
    before: str | None
    """The step that those counted have reached; None: all applicants."""
    groups: tuple[str, ...]
    everyone: Ints
    """The group of each row, whatever was decided on it."""
    codes: Ints
    """The same, -1 for rows about which the step did not decide."""
    strata: RequisitionSets
    n: Ints
    x: Ints
    taken: tuple[int, ...]
    adverse: bool = False
    """x counts those who weren't selected, because being selected is bad."""

    @property
    def kind(self) -> TableKind:
        return "cumulative" if self.before is None else "conditional"

    @property
    def key(self) -> Key:
        return self.attribute, self.step, self.kind

    @cached_property
    def totals(self) -> tuple[Ints, Ints]:
        """Applicants and selected of every group."""
        return self.n.sum(axis=0), self.x.sum(axis=0)

    @cached_property
    def compared(self) -> tuple[int, ...]:
        """The columns that are compared and have applicants here."""
        return tuple(g for g in self.taken if self.totals[0][g])

    def compared_of(self, data: Applicants) -> Ints:
        """The group of each row counted at any step, or -1 if it isn't compared: the same for all steps."""
        return np.where(data.counted & np.isin(self.everyone, self.taken), self.everyone, -1)

    @property
    def each(self) -> Sides:
        """Every compared group on its own."""
        return tuple((g,) for g in self.taken)

    def rest(self, group: int) -> tuple[int, ...]:
        """All compared groups except this one."""
        return tuple(g for g in self.taken if g != group)

    def counts(self, sides: Sides) -> tuple[Ints, Ints]:
        """Applicants and selected by stratum and side."""
        n = np.stack([self.n[:, side].sum(axis=1) for side in sides], axis=1)
        return n, np.stack([self.x[:, side].sum(axis=1) for side in sides], axis=1)

    def pair(self, sides: Sides) -> Pair:
        n, x = self.totals
        one, zero = (list(side) for side in sides)
        counts = int(n[one].sum()), int(x[one].sum()), int(n[zero].sum()), int(x[zero].sum())
        return Pair(*counts, self.adverse)


def cuts(data: Applicants, settings: DisparitySettings, joined: bool = True) -> Iterator[Cut]:
    """The tables of a page, attributes before crossings; if being selected is bad, of all applicants only.

    Without `joined`, strata are single requisitions, which must not be published.
    """
    stratum, names = data.stratum
    good = {step: data.good(step) for step in data.steps}
    steps = list(data.steps)
    places: dict[str, Ints] = {}
    for crossing, columns in ((False, data.attributes), (True, data.crossings)):
        for attribute, labels in columns.items():
            everyone, groups = group_codes(labels)
            counted = np.where(data.counted, everyone, -1)
            G = len(groups)
            single, there = numbers(stratum, len(names), counted, G, data.decided)
            sizes = dict(zip(groups, single.sum(axis=0).tolist()))
            taken = tuple(groups.index(name) for name in comparable(sizes, settings.minimum_share, settings.threshold))
            start = _start(attribute, places) if crossing else None
            threshold = settings.threshold if joined else 0
            place = join_requisitions(single[:, taken], threshold, start, there=there[:, taken])
            places[attribute] = place
            strata = _sets(place, there[:, taken], stratum, names)
            K, cell = len(strata.names), strata.of_row * G + counted

            def count(rows: Bools, cell: Ints = cell, K: int = K, G: int = G) -> Ints:
                return np.bincount(cell[rows], minlength=K * G).reshape(K, G)

            for step, before in zip(steps, [None, *steps]):
                codes = np.where(data.decided_at(step), counted, -1)
                known = codes >= 0
                own = (groups, everyone, codes, strata)
                n, x = count(known), count(known & good[step])
                yield Cut(attribute, crossing, step, None, *own, n, x, taken, not data.favourable)
                if data.favourable and before is not None:
                    known &= data.reached(before)
                    yield Cut(attribute, crossing, step, before, *own, count(known), count(known & good[step]), taken)


def _start(crossing: str, places: Mapping[str, Ints]) -> Ints | None:
    """RequisitionSets of a crossing contain whole sets of its attributes, or else their tables could be subtracted."""
    for many in range(2, len(places) + 1):
        for names in itertools.combinations(places, many):
            if "+".join(names) == crossing:
                return reduce(common, (places[name] for name in names))
    return None


def _sets(place: Ints, groups: Bools, requisition: Ints, names: tuple[str, ...]) -> RequisitionSets:
    """From the stratum of each requisition and the groups that applied to it."""
    there = groups.any(axis=1)
    many = np.bincount(place[there], minlength=len(place))
    first, dense = np.unique(place, return_inverse=True)
    named = tuple(names[k] if many[k] < 2 else JOINED for k in first.tolist())
    shared, joined = groups.sum(axis=1) > 1, many[place[there]] > 1
    return RequisitionSets(dense[requisition], named, int(there.sum()), int(shared.sum()), int(joined.sum()))
