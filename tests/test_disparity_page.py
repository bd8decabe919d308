"""All tables of a report: what is found, what decides, where it comes from, and what does not depend on the file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.disparity.applicants import Applicants, periods
from auditkit.disparity.cuts import DisparitySettings
from auditkit.disparity.disparity_tables import disparities
from auditkit.disparity.measured import with_measures
from auditkit.disparity.pair import Pair
from auditkit.disparity.results import Caution, DecidedBy, Disparities, GroupStatus, Reconciled
from auditkit.errors import InputError, PluginError
from auditkit.plugins.shortfall import Shortfall
from auditkit.report.schema import as_json
from auditkit.report.words import sentences
from support.sampling import examples

ROOT = Path(__file__).resolve().parents[1]

UCB = [  # department: (women, admitted), (men, admitted)
    ((108, 89), (825, 512)),
    ((25, 17), (560, 353)),
    ((593, 202), (325, 120)),
    ((375, 131), (417, 138)),
    ((393, 94), (191, 53)),
    ((341, 24), (373, 22)),
]


def applicants(strata: list[tuple[tuple[int, int], ...]], groups: str = "FM", **more: Any) -> Applicants:
    """One row for each applicant of these counts (applicants, selected), stratum by stratum."""
    group, stratum, selected = [], [], []
    for k, stratum_cells in enumerate(strata):
        for name, (n, x) in zip(groups, stratum_cells):
            group += [name] * n
            stratum += [f"r{k:03}"] * n
            selected += [True] * x + [False] * (n - x)
    steps = {"selected": np.array(selected, dtype=bool)}
    return Applicants(attributes={"group": np.array(group, dtype=object)}, steps=steps, strata=stratum, **more)


def sample() -> Applicants:
    table = pd.read_csv(ROOT / "sample_data" / "hiring.csv")
    gender, ethnicity = table["Gender"], table["Ethnicity"]
    return Applicants(
        attributes={"Gender": gender, "Ethnicity": ethnicity},
        crossings={"Gender+Ethnicity": gender + "+" + ethnicity},
        steps={"interviewed": table["Interviewed"] == "Yes", "hired": table["Hired"] == "Yes"},
        strata=table["Requisition ID"],
        segments={"Job Family": table["Job Family"], "Job Level": table["Job Level"]},
        dates=table["Application Date"],
    )


@pytest.fixture(scope="module")
def audit() -> Disparities:
    return disparities(sample())


# The sample -----------------------------------------------------------------------------------------------------------


def test_the_samples_difference_by_sex_comes_first(audit: Disparities) -> None:
    table, women = next(audit.found())
    assert (table.attribute, table.step, table.kind) == ("Gender", "interviewed", "cumulative")
    assert (women.group, women.selected, women.applicants, table.reference) == ("Female", 145, 704, "Male")
    assert women.status is GroupStatus.DIFFERENCE_BELOW_LINE and women.decided_by is DecidedBy.BOTH
    assert women.p == Pair(704, 145, 805, 218).p == pytest.approx(0.00328, abs=1e-5)
    assert women.within is not None and women.within.p == pytest.approx(0.00134, abs=1e-5)
    assert women.p_adjusted is not None and women.p < women.p_adjusted < 0.05
    assert women.shortfall == pytest.approx(24.35, abs=0.01)
    assert table.open and table.reconciled is women.reconciled is Reconciled.BOTH
    assert len(list(audit.found())) == 1


def test_the_samples_other_tables(audit: Disparities) -> None:
    kinds = [(t.attribute, t.step, t.kind) for t in audit.tables[:3]]
    assert kinds == [
        ("Gender", "interviewed", "cumulative"),
        ("Gender", "hired", "cumulative"),
        ("Gender", "hired", "conditional"),
    ]
    assert len(audit.tables) == 9 and [t.crossing for t in audit.tables] == [False] * 6 + [True] * 3
    hired = audit.table("Gender", "hired")["Female"]
    assert hired.status is GroupStatus.BELOW_LINE_NOT_SUFFICIENT and (hired.more_applicants or 0) > 1000
    assert audit.table("Ethnicity", "hired")["Other"].status is GroupStatus.EXCLUDED
    assert audit.table("Gender", "hired").unknown == 18 and audit.table("Gender", "hired").applicants == 1509
    assert audit.level < 0.05 / 5


def test_engineering_contributes_most(audit: Disparities) -> None:
    families = next(s for s in audit.segments if s.segment == "Job Family")
    top = families.parts[0]
    assert (top.value, top.selected, top.applicants, top.reference_selected, top.reference_applicants) == (
        "Engineering",
        6,
        55,
        50,
        157,
    )
    assert top.found and [part.value for part in families.parts if part.found] == ["Engineering"]
    assert {s.segment for s in audit.segments} == {"Job Family", "Job Level", "period", "requisition"}
    assert {s.step for s in audit.segments} == {"interviewed"}  # nothing else is open


def test_json_has_the_keys_of_the_contract(audit: Disparities) -> None:
    document = as_json(audit)
    json.dumps(document, allow_nan=False)
    table = document["tables"][0]
    assert {"attribute", "step", "kind", "reference", "groups", "omnibus", "reconciled", "agreement"} <= set(table)
    assert {"pooled", "stratified", "p_adjusted", "open"} == set(table["omnibus"])
    assert {
        "group",
        "applicants",
        "selected",
        "rate",
        "impact_ratio",
        "interval",
        "p",
        "p_adjusted",
        "status",
        "detectable_ratio",
        "within",
    } <= set(table["groups"][0])


def test_shuffled_outcomes_name_nothing() -> None:
    data = sample()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(data.rows)
        steps = {name: np.asarray(column)[order] for name, column in data.steps.items()}
        found = disparities(Applicants(data.attributes, steps, data.crossings, data.strata))
        assert not list(found.found()) and not found.segments


def test_measures_of_plugins_stand_in_every_table(audit: Disparities) -> None:
    class Broken(Shortfall):
        name = "broken"

        def measure(self, counts: Any, reference: str) -> dict[str, float | None]:
            return {"nobody": 1.0}

    faults: list[PluginError] = []
    found = with_measures(audit, [Shortfall, Broken], faults.append)
    assert [column.name for column in found.measures] == ["shortfall"] and len(faults) == 1
    for table in found.tables:
        for row in table.groups:
            if row.shortfall is not None:
                assert row.measures["shortfall"] == pytest.approx(row.shortfall)
            assert "broken" not in row.measures


# Pooled and within requisitions ---------------------------------------------------------------------------------------


def test_berkeley_no_detectable_difference_within_departments() -> None:
    table = disparities(applicants(UCB)).table("group", "selected")  # type: ignore[arg-type]
    women = table["F"]
    assert float(women.impact_ratio or 0) == pytest.approx(0.681830, abs=5e-7)
    assert women.within is not None and women.within.odds_ratio == pytest.approx(1.105343, abs=5e-7)
    assert women.within.statistic == pytest.approx(1.524607, abs=5e-7)
    assert women.reconciled is table.reconciled is Reconciled.POOLED_EXPLAINED
    assert women.decided_by is DecidedBy.POOLED and women.status is GroupStatus.DIFFERENCE_BELOW_LINE
    # six departments: the pooled difference is far less certain than 4,526 independent applications would make it
    assert women.p is not None and women.p < 1e-20 and women.p_design is not None and women.p_design > 0.01
    assert women.design is not None and women.design.cause == "requisitions" and women.design.effect > 9
    assert table.agreement is not None and table.agreement.p < 0.01 and table.agreement.reliable
    assert Caution.STRATA_DISAGREE in women.flags


def test_pooling_can_hide_and_reverse() -> None:
    hides = [((100, 50), (100, 60)), ((400, 350), (50, 48))] * 10
    table = disparities(applicants(hides)).table("group", "selected")
    assert table.reference == "F" and table.reconciled is Reconciled.REVERSED
    table = disparities(applicants([((1000, 500), (1000, 600)), ((4000, 3500), (500, 480))])).table("group", "selected")
    assert table.reconciled is Reconciled.WITHIN_ONLY_OPPOSITE  # two requisitions cannot tell the pooled rates apart
    hides = [((100, 50), (100, 60)), ((100, 77), (50, 43))] * 10
    table = disparities(applicants(hides)).table("group", "selected")
    assert table["F"].reconciled is Reconciled.BOTH
    level = [((1000, 500), (1000, 570)), ((1000, 840), (600, 530))]
    women = disparities(applicants(level)).table("group", "selected")["F"]
    assert women.reconciled is Reconciled.WITHIN_ONLY and women.decided_by is DecidedBy.WITHIN
    assert women.status is GroupStatus.DIFFERENCE_NOT_BELOW_LINE


def test_pooled_evidence_with_too_few_in_each_requisition() -> None:
    strata = [((100, 30), (1, 1)), ((1, 0), (100, 55)), ((2, 1), (2, 1))]
    women = disparities(applicants(strata)).table("group", "selected")["F"]
    assert women.reconciled is Reconciled.POOLED_WITHIN_UNCLEAR and women.decided_by is None
    assert women.p is not None and women.p < 0.001  # yet sex and requisition cannot be told apart


def test_callbacks_and_one_stratum() -> None:
    table = disparities(applicants([((2435, 157), (2435, 235))], "bw")).table("group", "selected")
    black = table["b"]
    assert float(black.impact_ratio or 0) == pytest.approx(0.668085, abs=5e-7)
    assert black.interval is not None
    assert (black.interval.lower, black.interval.upper) == pytest.approx((0.550241, 0.811168), abs=5e-7)
    assert black.p_adjusted == pytest.approx(black.p, rel=1e-6) and table.stratified is None and black.within is None
    assert table.reconciled is Reconciled.NO_STRATA and black.status is GroupStatus.DIFFERENCE_BELOW_LINE


# Many groups ----------------------------------------------------------------------------------------------------------


def test_pairs_are_tested_in_open_tables_only() -> None:
    closed = [((100, 30), (100, 36), (100, 41), (100, 44))]
    table = disparities(applicants(closed, "abcd")).table("group", "selected")
    assert Pair(100, 30, 100, 44).p < 0.05 and not table.open and not any(row.status.found for row in table.groups)
    opened = [((300, 60), (300, 118), (300, 123), (300, 125))]
    table = disparities(applicants(opened, "abcd")).table("group", "selected")
    assert table.open and [row.group for row in table.groups if row.status.found] == ["a"]
    a = table["a"]
    assert a.p is not None and a.p_adjusted is not None and a.p < a.p_adjusted <= 6 * a.p + 1e-3
    assert a.p_adjusted >= (table.omnibus.p_adjusted or 1)


def test_statuses() -> None:
    def status(*cells: tuple[int, int], **settings_: Any) -> GroupStatus:
        found = disparities(applicants([cells]), DisparitySettings(**settings_))
        return found.table("group", "selected")["F"].status

    assert status((1000, 500), (1000, 700)) is GroupStatus.DIFFERENCE_BELOW_LINE
    assert status((10000, 8500), (10000, 9500)) is GroupStatus.DIFFERENCE_NOT_BELOW_LINE
    assert status((60, 10), (60, 14)) is GroupStatus.BELOW_LINE_NOT_SUFFICIENT
    assert status((1000, 500), (1000, 510)) is GroupStatus.NO_DIFFERENCE
    assert status((30, 14), (30, 15)) is GroupStatus.TOO_LITTLE_EVIDENCE
    assert status((4, 1), (5, 2)) is GroupStatus.TOO_LITTLE_EVIDENCE  # below the line, yet nothing could be shown
    assert status((10, 9), (1000, 100), minimum_share=0.02) is GroupStatus.EXCLUDED
    assert status((100, 64), (100, 80), line=Fraction(4, 5)) is GroupStatus.DIFFERENCE_NOT_BELOW_LINE  # exactly 4/5


@pytest.mark.parametrize(
    "cells",
    [((10, 0), (30, 0)), ((10, 10), (30, 30)), ((10, 5), (0, 0)), ((0, 0), (1, 1)), ((3, 1), (3, 3))],
)
def test_edges_have_no_nan(cells: tuple[tuple[int, int], ...]) -> None:
    found = disparities(applicants([cells, cells]))
    json.dumps(as_json(found), allow_nan=False)
    assert not list(found.found())


def test_zero_selections_have_a_score_interval() -> None:
    row = disparities(applicants([((100, 0), (100, 20))])).table("group", "selected")["F"]
    assert row.interval is not None and row.interval.method == "score" and row.interval.lower == 0
    assert 0 < (row.interval.upper or 9) < 0.3


# Rows -----------------------------------------------------------------------------------------------------------------


def test_whoever_leaves_counts_at_the_steps_reached() -> None:
    """4 of each sex are rejected at once. Of 6 women interviewed 2 are hired, 1 rejected, 3 withdrew; 2 never came."""
    sex = ["F"] * 12 + ["M"] * 9
    interviewed = [True] * 6 + [False] * 6 + [True] * 5 + [False] * 4
    hired = [True] * 2 + [False] * 10 + [True] * 2 + [False] * 7
    undecided = [False] * 3 + [True] * 3 + [False] * 4 + [True] * 2 + [False] * 9  # 3 after the interview, 2 before it
    data = Applicants({"sex": sex}, {"interview": interviewed, "hired": hired}, undecided=undecided)
    found = disparities(data)
    assert (found.applicants, found.undecided, found.decided_in_part) == (19, 2, 3)
    counts = {
        (table.step, table.kind): [(row.selected, row.applicants) for row in table.groups] for table in found.tables
    }
    assert counts == {
        ("interview", "cumulative"): [(6, 10), (5, 9)],
        ("hired", "cumulative"): [(2, 7), (2, 9)],
        ("hired", "conditional"): [(2, 3), (2, 5)],
    }


def test_undecided_and_unknown_rows_are_in_no_rate() -> None:
    data = Applicants(
        attributes={"sex": ["F", "F", "M", "M", None, "unknown", "M"]},
        steps={"hired": [True, False, True, False, True, True, False]},
        undecided=[False, False, False, False, False, False, True],
    )
    found = disparities(data)
    table = found.table("sex", "hired")
    assert (found.applicants, found.undecided, table.unknown, table.applicants) == (6, 1, 2, 4)
    assert [(row.group, row.applicants, row.selected) for row in table.groups] == [("F", 2, 1), ("M", 2, 1)]


def test_repeated_applicants_are_clustered() -> None:
    once = applicants([((60, 12), (60, 26)), ((60, 14), (60, 25))], persons=np.arange(240))
    assert disparities(once).repeated is None
    thrice = applicants([((180, 36), (180, 78)), ((180, 42), (180, 75))])
    # rows of one group, stratum and outcome stand together: three in a row are one person with one outcome
    data = Applicants(thrice.attributes, thrice.steps, strata=thrice.strata, persons=np.arange(720) // 3)
    found = disparities(data)
    assert found.repeated is not None
    assert (found.repeated.persons, found.repeated.applications) == (240, 720)
    table, naive = found.table("group", "selected"), disparities(thrice).table("group", "selected")
    assert table.stratified is not None and table.stratified.design_effect == pytest.approx(3, rel=0.05)
    assert table["F"].p == naive["F"].p
    one, other = table["F"].within, naive["F"].within
    assert one is not None and other is not None and one.p == other.p and one.design is not None
    assert (one.p_adjusted or 0) > 20 * (other.p_adjusted or 0)
    assert one.interval is not None and other.interval is not None and one.interval.confidence == 0.95
    assert one.risk_interval is not None and other.risk_interval is not None
    for wide, narrow in ((one.interval, other.interval), (one.risk_interval, other.risk_interval)):
        assert wide.upper is not None and narrow.upper is not None
        ratio = np.log(wide.upper / wide.lower) / np.log(narrow.upper / narrow.lower)
        assert ratio == pytest.approx(one.design.effect**0.5, rel=1e-9)
    pooled = disparities(Applicants(thrice.attributes, thrice.steps, persons=np.arange(720) // 3))
    test = pooled.table("group", "selected").pooled
    assert test is not None and test.design_effect == pytest.approx(3, rel=0.05)


def test_chance_makeup_of_requisitions_is_a_design_effect() -> None:
    """Women apply where few are selected in 12 of 20 requisitions, and where many are in 8: no more than chance."""
    many, few = ((25, 20), (5, 4)), ((25, 5), (5, 1))
    strata = [many if k < 8 else few if k < 12 else (cell[1], cell[0]) for k in range(20) for cell in [many]]
    table = disparities(applicants(strata)).table("group", "selected")
    assert table.pooled is not None and table.pooled.design_effect > 2
    assert table.pooled.p_design > 10 * table.pooled.p
    row = next(row for row in table.groups if row.p is not None)
    assert row.p_design == pytest.approx(table.pooled.p_design, rel=1e-9) and row.design is not None
    assert row.interval is not None and row.interval.upper is not None
    assert (row.interval.upper < 1) == (table.pooled.p_design < 0.05)


def test_periods() -> None:
    year = periods(["2023-01-05", "2023-12-31", None])
    assert list(year) == ["2023-Q1", "2023-Q4", "(none)"]
    assert list(periods(["2023-01-05", "2023-03-31"])) == ["2023-01", "2023-03"]
    assert list(periods([None, None])) == ["(none)", "(none)"]


def test_wrong_input_is_refused_with_its_name() -> None:
    with pytest.raises(InputError, match="'hired'"):
        Applicants({"sex": ["F", "M"]}, {"hired": [True]})
    with pytest.raises(InputError, match="at least one attribute"):
        Applicants({}, {"hired": [True]})
    with pytest.raises(InputError) as caught:
        DisparitySettings(line=Fraction(2), alpha=0.0)
    assert [problem.where for problem in caught.value.problems] == ["line", "alpha"]


def test_words_give_no_verdict() -> None:
    assert set(sentences.RECONCILED) == set(Reconciled) and set(sentences.CAUTIONS) == set(Caution)
    for text in (*sentences.RECONCILED.values(), *sentences.CAUTIONS.values()):
        assert not re.search(r"\b(un)?fair|complian|bias|\bpass|legal|discriminat", text, re.IGNORECASE), text


# What does not depend on the file -------------------------------------------------------------------------------------


@st.composite
def funnels(draw: st.DrawFn) -> Applicants:
    rows = draw(st.integers(20, 150))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    race = rng.choice(np.array(["a", "b", "c", "unknown"], dtype=object), rows, p=[0.4, 0.3, 0.2, 0.1])
    stage = rng.integers(0, 4, rows) * (rng.random(rows) < np.where(race == "a", 0.5, 0.95))
    return Applicants(
        attributes={"race": race, "sex": rng.choice(np.array(["F", "M"], dtype=object), rows)},
        steps={"screened": stage >= 1, "interviewed": stage >= 2, "hired": stage >= 3},
        strata=rng.integers(0, 5, rows).astype(str),
        segments={"site": rng.choice(np.array(["x", "y", "z"], dtype=object), rows)},
        undecided=rng.random(rows) < 0.05,
    )


def rearranged(data: Applicants, order: Any, rename: dict[str, str] | None = None) -> Applicants:
    def take(column: Any) -> Any:
        column = np.asarray(column)[order]
        return column if rename is None else np.array([rename.get(label, label) for label in column], dtype=object)

    return Applicants(
        attributes={name: take(column) for name, column in data.attributes.items()},
        steps={name: np.asarray(column)[order] for name, column in data.steps.items()},
        strata=np.asarray(data.strata)[order],
        segments={name: np.asarray(column)[order] for name, column in data.segments.items()},
        undecided=np.asarray(data.undecided)[order],
    )


few = examples(15)


@few
@given(funnels(), st.integers(0, 100))
def test_the_order_of_rows_is_irrelevant(data: Applicants, seed: int) -> None:
    one, other = disparities(data), disparities(rearranged(data, np.random.default_rng(seed).permutation(data.rows)))
    for table, same in zip(one.tables, other.tables):
        assert table.reference == same.reference and table.reconciled == same.reconciled
        for row, twin in zip(table.groups, same.groups):
            assert (row.p, row.status, row.impact_ratio) == (twin.p, twin.status, twin.impact_ratio)
            assert row.p_adjusted == (None if twin.p_adjusted is None else pytest.approx(twin.p_adjusted, abs=1e-3))


@few
@given(funnels())
def test_labels_are_irrelevant(data: Applicants) -> None:
    rename = {"a": "z", "c": "A", "F": "w"}
    one, other = disparities(data), disparities(rearranged(data, np.arange(data.rows), rename))
    for table, same in zip(one.tables, other.tables):
        for row in table.groups:
            twin = same[rename.get(row.group, row.group)]
            assert (row.applicants, row.selected) == (twin.applicants, twin.selected)
            if table.reference is not None and same.reference == rename.get(table.reference, table.reference):
                assert (row.impact_ratio, row.p) == (
                    twin.impact_ratio,
                    pytest.approx(twin.p, rel=1e-9) if row.p else twin.p,
                )
        for test, twin_test in ((table.pooled, same.pooled), (table.stratified, same.stratified)):
            assert (test is None) == (twin_test is None)
            if test is not None and twin_test is not None:
                assert test.p == pytest.approx(twin_test.p, rel=1e-6, abs=0.01)  # may be drawn
                near = min(test.p_adjusted, twin_test.p_adjusted) < 0.15  # where a finding depends on it
                assert test.p_adjusted == pytest.approx(twin_test.p_adjusted, abs=0.005 if near else 0.1)  # is drawn


@few
@given(funnels(), st.booleans())
def test_conditional_times_the_step_before_is_cumulative(data: Applicants, finished: bool) -> None:
    """Where everybody was decided on; where some left after a step, they are missing at the next one and only there."""
    if finished:
        data = replace(data, undecided=None)
    found = disparities(data)
    for before, step in (("screened", "interviewed"), ("interviewed", "hired")):
        gone = ~data.decided & data.reached(before) & ~data.reached(step)
        for attribute in ("race", "sex"):
            for row in found.table(attribute, step, "conditional").groups:
                whole, part = found.table(attribute, step)[row.group], found.table(attribute, before)[row.group]
                left = int(np.sum(gone & (data.attributes[attribute] == row.group)))
                assert row.selected == whole.selected and row.applicants == part.selected - left
                assert whole.applicants == part.applicants - left
                if finished and row.rate is not None and part.rate is not None:
                    assert row.rate * part.rate == pytest.approx(whole.rate, rel=1e-12)  # rates are floats
    assert not [t for t in found.tables if t.kind == "conditional" and t.step == "screened"]


@few
@given(funnels())
def test_parts_add_up_to_the_shortfall(data: Applicants) -> None:
    found = disparities(data, DisparitySettings(alpha=0.9))  # opens nearly everything
    for segment in found.segments:
        parts = sum(part.shortfall for part in segment.parts) + segment.others
        assert parts == pytest.approx(segment.within, abs=1e-9)
        assert parts + segment.composition == pytest.approx(segment.shortfall, abs=1e-9)
        row = found.table(segment.attribute, segment.step, segment.kind)[segment.group]
        assert row.shortfall == pytest.approx(segment.shortfall)
        assert sum(part.applicants for part in segment.parts) <= row.applicants
    if any(True for _ in found.found()):
        assert found.segments
