"""Disparity measures against the reference values of the field, and what the statuses say at the edges."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from auditkit.disparity import (
    CountedOutcome,
    Disparity,
    Flag,
    GroupCounts,
    Pair,
    ReferenceComparison,
    Status,
    compare,
    holm,
    measure,
    score_interval,
)
from auditkit.errors import InputError
from support.data_files import shared

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


def against(disparity: Disparity, group: str) -> ReferenceComparison:
    comparison = disparity[group].comparison
    assert comparison is not None
    return comparison


def no_nan(disparity: Disparity) -> None:
    json.dumps(disparity.to_json(), allow_nan=False)


# ------------------------------------------------------------------------------------------------ reference values
def test_callback_experiment() -> None:
    found = compare(GroupCounts.of({"black": (2435, 157), "white": (2435, 235)}))
    black = against(found, "black")
    assert found.reference == "white"
    assert float(black.impact_ratio or 0) == six(0.668085)
    assert black.z == six(-4.108412)
    assert black.interval is not None and black.interval.method == "katz"
    assert (black.interval.lower, black.interval.upper) == (six(0.550241), six(0.811168))
    assert black.fisher_p == pytest.approx(4.7587e-05, abs=5e-10)
    assert black.recommended == "z"
    assert found["black"].status is Status.BELOW_LINE
    assert found["black"].flags == (Flag.MORE_THAN_TWO_SD,)
    assert found["white"].impact_ratio == 1


def test_ricci() -> None:
    found = compare(GroupCounts.of({"B": (27, 9), "W": (68, 41)}))
    black = against(found, "B")
    assert float(black.impact_ratio or 0) == six(0.552846)
    assert (black.z, black.sd) == (six(-2.373774), six(-2.361248))
    assert black.fisher_p == six(0.0230259)
    assert black.recommended == "fisher" and black.p == black.fisher_p
    assert not black.flip_flop.test_holds and black.flip_flop.line_holds
    assert Flag.NOT_ROBUST in found["B"].flags


def test_berkeley_reverses_within_departments() -> None:
    found = compare(GroupCounts.of(*UCB))
    women = against(found, "F")
    assert float(women.impact_ratio or 0) == six(0.681830)
    assert women.stratified is not None
    assert women.stratified.odds_ratio == six(1.105343)
    assert women.stratified.cmh == six(1.524607)
    # statsmodels 0.15.0, StratifiedTable
    assert women.stratified.p == six(0.216924)
    assert women.stratified.risk_ratio == six(1.058307)
    interval = women.stratified.odds_interval
    assert interval is not None and (interval.lower, interval.upper) == (six(0.943103), six(1.295492))
    assert women.stratified.reverses and Flag.POOLING_REVERSES in found["F"].flags


def test_blackhire_confirmed_within_professions() -> None:
    found = compare(GroupCounts.of(*BLACKHIRE))
    black = against(found, "black")
    assert black.stratified is not None
    assert black.stratified.odds_ratio == six(0.477462)
    assert black.stratified.cmh == pytest.approx(145.840260, abs=5e-6)
    assert not black.stratified.reverses and Flag.POOLING_REVERSES not in found["black"].flags


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


# ------------------------------------------------------------------------------------------------ the shared data
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
    ricci = ricci.assign(search=lambda t: t["Position"], score=lambda t: t["Combine"])
    found = measure(ricci, "score", "Race")
    assert found.median == six(69.502)
    assert {row.group: (row.selected, row.applicants) for row in found.groups} == {
        "B": (9, 27),
        "H": (6, 23),
        "W": (44, 68),
    }
    ricci["passed"] = ricci["Combine"] >= 70
    black = against(measure(ricci[ricci["Race"] != "H"], "passed", "Race"), "B")
    assert black.sd == six(-2.361248) and black.stratified is not None and black.stratified.strata == 2
    resumes = pd.read_csv(shared("openintro_resume.csv"))
    found = measure(resumes, "received_callback", "race", stratum="job_ad_id")
    assert against(found, "black").z == six(-4.108412)


# ------------------------------------------------------------------------------------------------ statuses and edges
@pytest.mark.parametrize(
    ("line", "rates", "below"),
    [
        (Fraction(4, 5), ((100, 64), (100, 80)), False),
        (0.8, ((100, 64), (100, 80)), False),
        (0.8, ((1000, 639), (100, 80)), True),
        (0.7, ((100, 7), (100, 10)), False),
    ],
)
def test_line_is_compared_exactly(line: float, rates: tuple[tuple[int, int], ...], below: bool) -> None:
    found = compare(GroupCounts.of({"a": rates[0], "b": rates[1]}), line=line)
    assert against(found, "a").below_line is below


@pytest.mark.parametrize(
    ("a", "b", "status"),
    [
        ((1000, 500), (1000, 700), Status.BELOW_LINE),
        ((10000, 8500), (10000, 9500), Status.DIFFERENCE_FOUND),
        ((10000, 5000), (10000, 5010), Status.NOT_BELOW_LINE),
        ((6, 2), (10, 5), Status.TOO_LITTLE_EVIDENCE),  # ratio 2/3, by chance
        ((6, 5), (10, 9), Status.TOO_LITTLE_EVIDENCE),  # ratio 0.93, interval far below
    ],
)
def test_status(a: tuple[int, int], b: tuple[int, int], status: Status) -> None:
    found = compare(GroupCounts.of({"a": a, "b": b}))
    assert found["a"].status is status
    assert found["b"].status is Status.REFERENCE


def test_small_groups_leave_before_the_reference_is_chosen() -> None:
    counts = GroupCounts.of({"a": (490, 100), "b": (490, 150), "tiny": (20, 20)})
    assert compare(counts).reference == "tiny"
    assert compare(counts, minimum_share=0.02).reference == "tiny"  # exactly 2 % is not under 2 %
    found = compare(counts, minimum_share=0.021)
    assert found.reference == "b"
    assert found["tiny"].status is Status.EXCLUDED and found["tiny"].comparison is None
    assert (found["tiny"].applicants, found["tiny"].rate) == (20, Fraction(1)) and found["tiny"].impact_ratio is None
    assert "2.1 %" in found["tiny"].reason


def test_a_tie_goes_to_the_larger_group() -> None:
    assert compare(GroupCounts.of({"a": (10, 5), "b": (100, 50)})).reference == "b"


def test_nobody_selected() -> None:
    found = compare(GroupCounts.of({"a": (10, 0), "b": (30, 0)}, {"a": (5, 0), "b": (3, 0)}))
    a = against(found, "a")
    assert (a.impact_ratio, a.below_line, a.interval, a.z, a.sd, a.fisher_p) == (None, None, None, None, None, 1)
    assert a.stratified is not None and (a.stratified.odds_ratio, a.stratified.cmh) == (None, None)
    assert found["a"].status is Status.TOO_LITTLE_EVIDENCE and found["b"].impact_ratio is None
    assert "nobody has the outcome" in found.notes[0]
    no_nan(found)


def test_everyone_selected() -> None:
    found = compare(GroupCounts.of({"a": (10, 10), "b": (30, 30)}, {"a": (5, 5)}))
    a = against(found, "a")
    assert a.impact_ratio == 1 and a.z is None and a.interval is not None and a.interval.method == "score"
    assert a.interval.lower < 0.8 and found["a"].status is Status.TOO_LITTLE_EVIDENCE
    no_nan(found)


def test_zero_cell_takes_the_score_interval() -> None:
    a = against(compare(GroupCounts.of({"a": (100, 0), "b": (100, 20)})), "a")
    assert a.impact_ratio == 0 and a.interval is not None
    assert a.interval.method == "score" and a.interval.lower == 0 and 0 < (a.interval.upper or 9) < 0.3


@pytest.mark.parametrize("counts", [{"a": (10, 5)}, {"a": (10, 5), "b": (0, 0)}, {"a": (0, 0)}])
def test_one_group_or_none(counts: dict[str, tuple[int, int]]) -> None:
    found = compare(GroupCounts.of(counts))
    assert all(row.comparison is None for row in found.groups) and found.notes
    no_nan(found)


def test_everyone_excluded() -> None:
    found = compare(GroupCounts.of({"a": (10, 5), "b": (10, 4)}), minimum_share=0.9)
    assert found.reference is None and {row.status for row in found.groups} == {Status.EXCLUDED}


@pytest.mark.parametrize("cell", [(3, 4), (3, -1), (2.5, 1)])
def test_impossible_counts_are_refused(cell: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="counts of 'a'"):
        GroupCounts.of({"a": cell, "b": (3, 1)})


def test_wrong_settings_are_refused_together() -> None:
    with pytest.raises(InputError) as caught:
        compare(GroupCounts.of({"a": (3, 1)}), minimum_share=2, alpha=0)
    assert [problem.where for problem in caught.value.problems] == ["minimum_share", "alpha"]
    with pytest.raises(InputError, match="at least one group"):
        GroupCounts.of()


def test_flip_flop_moves_against_the_conclusion() -> None:
    flip = against(compare(GroupCounts.of({"a": (10, 3), "b": (10, 4)})), "a").flip_flop
    assert flip.sign_reverses and flip.line_holds is False and not flip.robust  # 4/10 against 3/10
    assert flip.impact_ratio == Fraction(4, 3)
    flip = against(compare(GroupCounts.of({"a": (10, 8), "b": (10, 9)})), "a").flip_flop
    assert flip.impact_ratio == Fraction(7, 10) and flip.line_holds is False  # 8/9 was not below 4/5
    flip = against(compare(GroupCounts.of({"a": (5, 0), "b": (5, 1)})), "a").flip_flop
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


def test_two_standard_deviations() -> None:
    for selected, raised in ((38, False), (35, True)):  # against 50 of 100: -1.70 and -2.14
        found = compare(GroupCounts.of({"a": (100, selected), "ref": (100, 50)}))
        assert (Flag.MORE_THAN_TWO_SD in found["a"].flags) is raised


def test_holm_stands_behind_the_status() -> None:
    one = compare(GroupCounts.of({"a": (100, 30), "ref": (100, 45)}))
    assert one["a"].status is Status.BELOW_LINE
    many = compare(GroupCounts.of({"a": (100, 30), "b": (100, 44), "c": (100, 44), "ref": (100, 45)}))
    a = against(many, "a")
    assert a.p == against(one, "a").p < 0.05 < a.p_holm and a.p_bh <= a.p_holm
    assert many["a"].status is Status.TOO_LITTLE_EVIDENCE


def test_words_give_no_verdict() -> None:
    texts = [*(status.text for status in Status), *(flag.text for flag in Flag)]
    texts += [row.reason for row in compare(GroupCounts.of({"a": (6, 2), "b": (10, 5), "c": (0, 0)})).groups]
    for text in texts:
        assert not re.search(r"\b(un)?fair|complian|bias|\bpass|legal|discriminat", text, re.IGNORECASE), text


# ------------------------------------------------------------------------------------------------ tables of persons
def history() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "candidate": [str(i) for i in range(8)],
            "search": ["r1"] * 4 + ["r2"] * 4,
            "group": ["F", "F", "M", "M", "F", "M", "unknown", None],
            "inspected": [True, True, True, False, True, True, True, True],
            "selected": [False, False, True, False, False, True, True, False],
            "withdrawn": [True, False, False, False, False, False, False, False],
            "pending": [False, True, False, True, False, False, False, False],
            "score": [1.0, 2.0, 3.0, np.nan, 3.0, 3.0, 4.0, 5.0],
        }
    )


def test_withdrawn_and_pending_are_not_rejected_and_counts_add_up() -> None:
    found = measure(history())
    assert (found["F"].applicants, found["F"].selected) == (1, 0)
    assert (found.applicants, found.withdrawn, found.pending, found.unknown) == (3, 1, 2, 2)
    assert measure(history(), "inspected")["F"].applicants == 1  # inspected and then withdrew: in no rate either
    for outcome in ("selected", "inspected", "score"):
        found = measure(history(), outcome)
        assert found.applicants + found.withdrawn + found.pending + found.unknown + found.not_measured == 8
        no_nan(found)
    assert measure(history().drop(columns=["withdrawn", "pending"])).applicants == 6


def test_scored_above_the_full_sample_median() -> None:
    found = measure(history(), "score")
    assert found.median == 3 and found.outcome == "score above the median"  # unknown groups are in the sample
    assert (found.selected, found.pending, found.withdrawn) == (0, 1, 0)  # ties are not above; a given score counts
    assert found["F"].applicants == 3


def test_missing_outcomes_are_left_out() -> None:
    selected = pd.array([None, None, True, None, None, True, True, False], dtype="boolean")
    found = measure(history().assign(selected=selected))
    assert (found.applicants, found.withdrawn, found.pending, found.not_measured, found.unknown) == (2, 1, 2, 1, 2)
    with pytest.raises(InputError, match="no row with a known group"):
        measure(history().assign(score=np.nan), "score")


def test_columns_are_asked_for_by_name() -> None:
    with pytest.raises(InputError, match="did you mean 'selected'"):
        measure(history(), "select")
    with pytest.raises(InputError, match="not a yes/no column"):
        CountedOutcome.of_column(pd.Series([0.0, 2.0]))
    assert CountedOutcome.of_column(pd.Series([0, 1, None])).not_measured == 1
    assert CountedOutcome.of_column(pd.Series([True, None, False], dtype=object)).counted.tolist() == [
        True,
        False,
        True,
    ]
    assert measure(history(), stratum=None)["F"].comparison is not None
