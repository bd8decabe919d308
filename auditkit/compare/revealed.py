"""What the firm's decisions act like: the shift of each group that best describes whom it took forward.

For each step, among those who reached the step before, a conditional logit within searches (`conditional_logit`)

    P(taken) ~ exp(beta standing_i + sum_g gamma_g 1(i in g)),        shift_g = gamma_g / beta   in points of the score,

with the largest group of each attribute as reference and all attributes together. The standing is the score expected
from the priors alone, and where the score is known at the step, the score itself. So shift_g says: taken forward as if
everybody in g had an expected score that much higher (or lower, if it is negative), among people with equal priors.
Less what the scores of the group in fact differ by at equal priors, it is the shift at equal expected scores.

The variance of a shift is that of the choices, by the delta method, plus what the error of the standing adds:
J Cov(b) J' with J = d shift / d b, from one Newton step of the logit (`standing` has b). Where choices follow standing
and group without exception, the interval is the range of shifts that describe them (`separated_choices`).

Decisions are described, not intentions: what was judged and is not in the data is part of the shift, and so are
differences that a firm may weigh.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from auditkit.compare.intervals import around
from auditkit.constraints.base import Rows
from auditkit.constraints.two_sets import SELECTION
from auditkit.fitting.conditional_logit import Choices, ConditionalLogit
from auditkit.fitting.separated_choices import ranges
from auditkit.fitting.standing import Standings
from auditkit.model.groups import UNKNOWN
from auditkit.model.layout import Bools, Floats
from auditkit.text import listing

if TYPE_CHECKING:
    from auditkit.data.firm_history import History

FEWEST_TAKEN = 10
"""Taken, and not taken, of a group below which it is left out."""
FEWEST_STRATA = 8
CLEAR = 4.0
"""Standard errors by which the slope on standing must exceed 0: a ratio to a slope near 0 means nothing."""
KNOWN_SCORES = 0.9
"""Share of those who reached a step who have a score for it to be the standing."""

Bounds = tuple[float, float]
Shifts = Mapping[tuple[str, str], float]
"""(what is counted, group) -> what the duals add to the worth of it (`shadow_prices.total_shifts`)."""
Priced = tuple[str, Rows, Shifts | None, Sequence[Shifts]]
"""Label, rows and shifts of an optimum, and its shifts under the priors of each replicate."""


@dataclass(frozen=True)
class RevealedShift:
    """Of one group against the reference, in points of the score."""

    attribute: str
    group: str
    reference: str
    shift: float
    standard_error: float
    interval: Bounds
    equal_expectation: float | None
    """The shift at equal expected scores; None where the score itself is the standing."""
    equal_expectation_interval: Bounds | None


@dataclass(frozen=True)
class RevealedStep:
    """All groups at one step; `standing` is `priors` or `score`.

    Not how many people there were: who was left out could be found by subtraction.
    """

    step: str
    standing: Literal["priors", "score"]
    searches: int
    """Those that took some and left some."""
    slope: float | None
    """None where decisions follow standing and groups without exception: intervals are the range of such shifts."""
    shifts: tuple[RevealedShift, ...]


@dataclass(frozen=True)
class NeededShift:
    """What a constraint acts like at its optimum, against the reference of the attribute."""

    constraint: str
    attribute: str
    group: str
    reference: str
    counts: str
    """What the constraint counts: `selection` (then the shift is in points of the score), or inspections or exits of a
    stage (then it is in the unit of cost)."""
    shift: float
    interval: Bounds | None = None
    """Of what is not known of the priors; None where these are not fitted again."""


@dataclass(frozen=True)
class Revealed:
    level: float
    steps: tuple[RevealedStep, ...]
    needed: tuple[NeededShift, ...]
    left_out: tuple[str, ...]
    """In words: steps and groups of which nothing is said, and why."""


def revealed(
    history: History,
    standings: Standings | None,
    priced: Sequence[Priced],
    value_scale: float,
    *,
    threshold: int = 0,
    level: float = 0.95,
) -> Revealed:
    """The shifts at every step of a history that may be shown; `priced` as for `needed_shifts`."""
    left_out: list[str] = []
    steps = []
    decided = history.decided.to_numpy(dtype=np.bool_)
    scores = history.table["score"].to_numpy(dtype=np.float64) if history.has("score") else None
    attributes = [name for name in history.attributes if len(_labels(history, name, decided)) > 1]
    before = decided
    for step in history.steps if attributes and standings is not None else ():
        assert standings is not None
        column = history.table[f"step:{step}"]
        known = before & column.notna().to_numpy(dtype=np.bool_)
        taken = known & column.fillna(False).to_numpy(dtype=np.bool_)
        by_score = scores is not None and known.any() and (~np.isnan(scores[known])).mean() >= KNOWN_SCORES
        if by_score:
            assert scores is not None
            known = known & ~np.isnan(scores)
        found = _step(
            step, history, attributes, standings, scores if by_score else None, known, taken, threshold, level, left_out
        )
        if isinstance(found, str):
            left_out.append(f"{step}: {found}")
        else:
            steps.append(found)
        before = taken
    if not attributes or standings is None:
        left_out.append("no two groups" if not attributes else "too few scores to say what priors tell of them")
    references = {name: _labels(history, name, decided)[0] for name in attributes}
    return Revealed(level, tuple(steps), needed_shifts(priced, references, value_scale, level), tuple(left_out))


def _labels(history: History, attribute: str, rows: Bools) -> list[str]:
    """Known groups of an attribute, the largest first."""
    counts = history.table[f"group:{attribute}"].astype("str")[rows].value_counts()
    return sorted((str(g) for g in counts.index if g != UNKNOWN), key=lambda g: (-int(counts[g]), g))


def _step(
    step: str,
    history: History,
    attributes: Sequence[str],
    standings: Standings,
    scores: Floats | None,
    known: Bools,
    taken: Bools,
    threshold: int,
    level: float,
    left_out: list[str],
) -> RevealedStep | str:
    from scipy.special import stdtrit

    if scores is None and not standings.tells:
        return "nothing that is known beforehand tells candidates of a search apart"
    labels = {name: history.table[f"group:{name}"].astype("str").to_numpy() for name in attributes}
    fewest = max(FEWEST_TAKEN, threshold)
    rows, shown, small = _compared(labels, known, taken, standings, fewest)
    if small:
        left_out.append(f"{step}: fewer than {fewest} of {listing(small)} were taken, or were not")
    if not any(len(groups) > 1 for groups in shown.values()):
        return "no two groups of which enough were, and were not, taken"
    choices = Choices(taken[rows], standings.search[rows])
    if choices.strata < FEWEST_STRATA:
        return f"fewer than {FEWEST_STRATA} searches took some and left some"
    base = standings.values[rows] if scores is None else scores[rows]
    base = base - base.mean()
    unit = float(base.std()) or 1.0
    columns = [(name, g) for name, groups in shown.items() for g in groups[1:]]
    member = np.column_stack([labels[name][rows] == g for name, g in columns]).astype(np.float64)
    x = np.column_stack([base / unit, member])
    logit = choices.fit(x)
    beta, error = float(logit.coefficients[0]), float(np.sqrt(logit.covariance[0, 0]))
    estimates: list[_Estimate | None]
    if not logit.converged:
        prior = np.where(standings.prior, standings.matrix[rows], 0.0)
        known_ends = ranges(base, member, taken[rows], standings.search[rows])
        if known_ends is None or not any(known_ends):
            return "what was known and the group tell without exception who was taken"
        estimates = [
            None if ends is None else _Estimate(ends[0].value, ends[1].value, 0.0, *(end.slope @ prior for end in ends))
            for ends in known_ends
        ]
    elif beta < CLEAR * error:
        return "what was known says too little about who was taken"
    else:
        carried = _carried(choices, x, logit, standings, rows, unit) if scores is None else None
        estimates = [_of_logit(logit, j, unit, carried) for j in range(1, x.shape[1])]
    reach = float(stdtrit(choices.strata - 1, (1 + level) / 2))
    shifts = []
    for (name, g), estimate in zip(columns, estimates, strict=True):
        if g == UNKNOWN:
            continue
        if estimate is None:
            left_out.append(f"{step}: what was known and {name}: {g} tell without exception who was taken")
            continue
        bounds, told, equal_bounds = estimate.interval(reach, standings if scores is None else None), None, None
        if scores is None:
            effect = np.zeros(len(standings.coefficients))
            for group, sign in ((g, 1.0), (shown[name][0], -1.0)):
                if (name, group) in standings.effects:
                    effect[standings.effects[name, group]] = sign
            less = estimate.less(effect, standings)
            told, equal_bounds = less.shift, less.interval(reach, standings)
        shifts.append(
            RevealedShift(
                attribute=name,
                group=g,
                reference=shown[name][0],
                shift=estimate.shift,
                standard_error=(bounds[1] - bounds[0]) / (2 * reach),
                interval=bounds,
                equal_expectation=told,
                equal_expectation_interval=equal_bounds,
            )
        )
    return RevealedStep(
        step=step,
        standing="priors" if scores is None else "score",
        searches=choices.strata,
        slope=beta / unit if logit.converged else None,
        shifts=tuple(shifts),
    )


@dataclass(frozen=True, eq=False)
class _Estimate:
    """A shift between `low` and `high`, which move with b by `low_moves` and `high_moves`; `own` is the variance of
    the choices."""

    low: float
    high: float
    own: float
    low_moves: Floats
    high_moves: Floats

    @property
    def shift(self) -> float:
        return (self.low + self.high) / 2

    def interval(self, reach: float, standings: Standings | None) -> Bounds:
        """With the error of the standings, if they have one."""
        carried = [
            0.0 if standings is None else float(moves @ standings.covariance @ moves)
            for moves in (self.low_moves, self.high_moves)
        ]
        below, above = (reach * float(np.sqrt(self.own + each)) for each in carried)
        return self.low - below, self.high + above

    def less(self, effect: Floats, standings: Standings) -> _Estimate:
        """Less what scores differ by, effect . b."""
        by = float(effect @ standings.coefficients)
        return _Estimate(self.low - by, self.high - by, self.own, self.low_moves - effect, self.high_moves - effect)


def _of_logit(logit: ConditionalLogit, j: int, unit: float, carried: Floats | None) -> _Estimate:
    beta = float(logit.coefficients[0])
    shift = unit * float(logit.coefficients[j]) / beta
    slope = np.zeros(len(logit.coefficients))
    slope[j], slope[0] = unit / beta, -shift / beta
    moves = np.zeros(1) if carried is None else slope @ carried
    return _Estimate(shift, shift, float(slope @ logit.covariance @ slope), moves, moves)


def _compared(
    labels: dict[str, NDArray[Any]], known: Bools, taken: Bools, standings: Standings, fewest: int
) -> tuple[Bools, dict[str, list[str]], list[str]]:
    """Rows of groups of which enough were taken and left, the groups (the largest first), and those left out."""
    rows, small = known.copy(), []
    while True:
        search = standings.search
        all_, some = np.bincount(search[rows]), np.bincount(search[rows], taken[rows])
        told = np.flatnonzero((some > 0) & (some < all_))
        useful = rows & np.isin(search, told)
        shown, drop = {}, np.zeros(len(rows), dtype=np.bool_)
        for name, own in labels.items():
            counts = {}
            for g in map(str, np.unique(own[useful])):
                who = useful & (own == g)
                inside = int((who & taken).sum())
                if min(inside, int(who.sum()) - inside) < fewest:
                    drop |= rows & (own == g)
                    small += [f"{name}: {g}"] if g != UNKNOWN else []
                else:
                    counts[g] = int(who.sum())
            shown[name] = sorted(counts, key=lambda g: (g == UNKNOWN, -counts[g], g))
        if not drop.any():
            return useful, shown, small
        rows &= ~drop


def _carried(
    choices: Choices, x: Floats, logit: ConditionalLogit, standings: Standings, rows: Bools, unit: float
) -> Floats:
    """d coefficients of the logit / d b, by central differences of its slope and one Newton step."""
    b, columns = standings.coefficients, np.flatnonzero(standings.prior)
    found = np.zeros((x.shape[1], len(b)))
    for c in columns:
        moved = standings.matrix[rows, c]
        size = float(moved.std())
        if not size:
            continue
        step = 1e-4 * unit / size
        ends = []
        for sign in (1.0, -1.0):
            other = x.copy()
            other[:, 0] += sign * step * moved / unit
            ends.append(choices.likelihood(other, logit.coefficients)[1])
        found[:, c] = logit.covariance @ (ends[0] - ends[1]) / (2 * step)
    return found


def needed_shifts(
    priced: Sequence[Priced], references: Mapping[str, str], value_scale: float, level: float
) -> tuple[NeededShift, ...]:
    """From the total shifts of each optimum: of constraints on one attribute, less the reference's."""
    found = []
    for label, rows, shifts, replicates in priced:
        by = {row.by for row in rows.rows}
        if shifts is None or len(by) != 1:
            continue
        one = by.pop()
        name = next(iter(references), "") if one is None and len(references) == 1 else str(one)
        if name not in references:
            continue
        reference = references[name]
        for what, group in shifts:
            if group in (reference, UNKNOWN):
                continue
            unit = value_scale if what == SELECTION else 1.0
            moved, *varied = (
                (each.get((what, group), 0.0) - each.get((what, reference), 0.0)) / unit
                for each in (shifts, *replicates)
            )
            span = around(moved, varied, level)
            if span is not None and len(rows.rows) == 1 and rows.rows[0].sense in ("<=", ">="):
                # the dual of a limit has one sign, and so has its shift
                span = (max(span[0], 0.0), span[1]) if moved > 0 else (span[0], min(span[1], 0.0))
            found.append(NeededShift(label, name, group, reference, what, moved, span))
    return tuple(found)
