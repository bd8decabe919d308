"""Two groups: the formulas against the reference values of the field, and what they say at the edges."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from auditkit.disparity.pair import FlipFlop, Pair, Stratified, flip_flop, holm, score_interval, stratify
from support.data_files import shared

LINE = Fraction(4, 5)
UCB = [  # department: (applicants, admitted)
    {"F": (108, 89), "M": (825, 512)},
    {"F": (25, 17), "M": (560, 353)},
    {"F": (593, 202), "M": (325, 120)},
    {"F": (375, 131), "M": (417, 138)},
    {"F": (393, 94), "M": (191, 53)},
    {"F": (341, 24), "M": (373, 22)},
]
BLACKHIRE = [  # profession: (applicants, hired)
    {"black": (405, 4), "white": (2685, 20)},
    {"black": (3615, 16), "white": (27125, 315)},
    {"black": (1280, 17), "white": (8025, 207)},
    {"black": (1963, 85), "white": (6430, 723)},
    {"black": (375, 1), "white": (3240, 41)},
    {"black": (2055, 42), "white": (12985, 626)},
    {"black": (755, 14), "white": (4475, 315)},
    {"black": (1325, 127), "white": (4820, 552)},
]


def six(value: float) -> object:
    """Equal to six digits after the point."""
    return pytest.approx(value, abs=5.1e-7)


def pooled(strata: list[dict[str, tuple[int, int]]]) -> Pair:
    return Pair(*(int(count) for count in np.array([[*stratum.values()] for stratum in strata]).sum(axis=0).ravel()))


def within(strata: list[dict[str, tuple[int, int]]]) -> Stratified:
    return stratify(*np.array([[*stratum.values()] for stratum in strata]).reshape(-1, 4).T)


def flips(pair: Pair) -> FlipFlop:
    return flip_flop(pair, LINE, lambda other: other.p <= 0.05)


# Reference values -----------------------------------------------------------------------------------------------------


def test_callback_experiment() -> None:
    black = Pair(2435, 157, 2435, 235)
    assert float(black.impact_ratio or 0) == six(0.668085)
    assert black.z == six(-4.108412)
    interval = black.interval()
    assert interval is not None and interval.method == "katz"
    assert (interval.lower, interval.upper) == (six(0.550241), six(0.811168))
    assert black.fisher_p == pytest.approx(4.7587e-05, abs=5e-10)
    assert black.recommended == "z" and flips(black).robust


def test_ricci() -> None:
    black = Pair(27, 9, 68, 41)
    assert float(black.impact_ratio or 0) == six(0.552846)
    assert (black.z, black.sd) == (six(-2.373774), six(-2.361248))
    assert black.fisher_p == six(0.0230259)
    assert black.recommended == "fisher" and black.p == black.fisher_p
    assert not flips(black).test_holds and flips(black).line_holds and not flips(black).robust


def test_berkeley_reverses_within_departments() -> None:
    assert float(pooled(UCB).impact_ratio or 0) == six(0.681830)
    women = within(UCB)
    assert women.odds_ratio == six(1.105343)
    assert women.cmh == six(1.524607)
    # statsmodels 0.15.0, StratifiedTable
    assert women.p == six(0.216924)
    assert women.risk_ratio == six(1.058307)
    interval = women.odds_interval
    assert interval is not None and (interval.lower, interval.upper) == (six(0.943103), six(1.295492))
    assert women.reverses


def test_blackhire_confirmed_within_professions() -> None:
    black = within(BLACKHIRE)
    assert black.odds_ratio == six(0.477462)
    assert black.cmh == pytest.approx(145.840260, abs=5e-6)
    assert not black.reverses


@pytest.mark.parametrize(
    ("pair", "lower", "upper"),
    [  # statsmodels 0.15.0, confint_proportions_2indep(compare="ratio", method="score", correction=False)
        (Pair(40, 36, 80, 16), 2.939569, 7.152223),
        (Pair(27, 9, 68, 41), 0.301098, 0.913397),
        (Pair(10, 0, 20, 5), 0.0, 1.246691),
    ],
)
def test_score_interval_values(pair: Pair, lower: float, upper: float) -> None:
    interval = score_interval(pair)
    assert (interval.lower, interval.upper) == (six(lower), six(upper))


def test_adjustments_have_known_values() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


# The shared data ------------------------------------------------------------------------------------------------------


def test_shared_counts_are_those_above() -> None:
    def grouped(file: str, stratum: str, group: str, outcome: str, yes: str, freq: str) -> list[dict[str, list[int]]]:
        strata: dict[object, dict[str, list[int]]] = {}
        for row in pd.read_csv(shared(file)).to_dict("records"):
            cell = strata.setdefault(row[stratum], {}).setdefault(row[group], [0, 0])
            cell[0] += row[freq]
            cell[1] += row[freq] * (row[outcome] == yes)
        return [{name[0].upper(): cell for name, cell in stratum.items()} for stratum in strata.values()]

    berkeley = grouped("ucb_admissions_aggregate.csv", "Dept", "Gender", "Admit", "Admitted", "Freq")
    hires = grouped("gastwirth_blackhire_stratified.csv", "profession", "race", "outcome", "hired", "n")
    for read, ours in ((berkeley, UCB), (hires, BLACKHIRE)):
        assert read == [{name[0].upper(): list(cell) for name, cell in stratum.items()} for stratum in ours]


def test_shared_ricci_and_callbacks_by_row() -> None:
    ricci = pd.read_csv(shared("ricci_v_destefano.csv"))
    passed = (ricci["Combine"] >= 70).groupby(ricci["Race"]).agg(["size", "sum"])
    assert Pair(*map(int, passed.loc["B"]), *map(int, passed.loc["W"])).sd == six(-2.361248)
    resumes = pd.read_csv(shared("openintro_resume.csv"))
    called = resumes.groupby("race")["received_callback"].agg(["size", "sum"])
    assert Pair(*map(int, called.loc["black"]), *map(int, called.loc["white"])).z == six(-4.108412)


# Edges ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "pair", "below"),
    [
        (LINE, Pair(100, 64, 100, 80), False),
        (LINE, Pair(1000, 639, 100, 80), True),
        (Fraction(7, 10), Pair(100, 7, 100, 10), False),
    ],
)
def test_line_is_compared_exactly(line: Fraction, pair: Pair, below: bool) -> None:
    assert pair.below(line) is below


def test_nobody_selected() -> None:
    a = Pair(10, 0, 30, 0)
    assert (a.impact_ratio, a.below(LINE), a.interval(), a.z, a.sd, a.fisher_p) == (None, None, None, None, None, 1)
    strata = stratify([10, 5], [0, 0], [30, 3], [0, 0])
    assert (strata.strata, strata.odds_ratio, strata.cmh, strata.p) == (2, None, None, None)


def test_everyone_selected() -> None:
    a = Pair(15, 15, 30, 30)
    interval = a.interval()
    assert a.impact_ratio == 1 and a.z is None and interval is not None
    assert interval.method == "score" and interval.lower < 0.8


def test_zero_cell_takes_the_score_interval() -> None:
    a = Pair(100, 0, 100, 20)
    interval = a.interval()
    assert a.impact_ratio == 0 and interval is not None
    assert interval.method == "score" and interval.lower == 0 and 0 < (interval.upper or 9) < 0.3


def test_flip_flop_moves_against_the_conclusion() -> None:
    flip = flips(Pair(10, 3, 10, 4))
    assert flip.sign_reverses and flip.line_holds is False and not flip.robust  # 4/10 against 3/10
    assert flip.impact_ratio == 4 / 3
    flip = flips(Pair(10, 8, 10, 9))
    assert flip.impact_ratio == 7 / 10 and flip.line_holds is False  # 8/9 was not below 4/5
    flip = flips(Pair(5, 0, 5, 1))
    assert flip.impact_ratio is None and flip.line_holds is False  # the only selection moved


@pytest.mark.parametrize(
    ("pair", "test"),
    [
        (Pair(30, 10, 30, 15), "z"),
        (Pair(29, 10, 31, 15), "fisher"),
        (Pair(50, 5, 50, 5), "z"),  # expected: exactly 5
        (Pair(50, 4, 50, 5), "fisher"),
        (Pair(50, 46, 50, 45), "fisher"),  # few who are not selected
    ],
)
def test_recommended_test(pair: Pair, test: str) -> None:
    assert pair.recommended == test
    assert pair.p == (pair.fisher_p if test == "fisher" else pair.z_p)
