"""Every sentence on differences, on random firms: what is said follows from the tables, and what follows is said.

tests/test_report_sentences.py has a planted case of each sentence; here no case was chosen. Every sentence has to occur
in some of the firms and to be absent from others.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import numpy as np
import pytest

from auditkit.disparity.applicants import Applicants
from auditkit.disparity.disparity_tables import disparities
from auditkit.disparity.results import Comparator, Disparities, GroupResult, GroupStatus, Reconciled
from auditkit.report.findings import FEW_SHARED, MANY_UNKNOWN, of_disparities
from auditkit.report.schema import FindingModel
from auditkit.report.words.phrases import Phrases
from auditkit.text import NBSP

pytestmark = pytest.mark.xdist_group("firms")  # each is drawn once
FIRMS = 36
STEPS = ("Interviewed", "Hired")
WORDS = Phrases({"Gender": ("sex", ["Female", "Male"]), "Race": ("race", ["A", "B", "C"])}, STEPS)


@cache
def firm(seed: int) -> Disparities:
    """Requisitions in four departments; who applies where, what differs and where is drawn."""
    rng = np.random.default_rng([2611, seed])
    K = int(rng.choice([3, 12, 40]))
    rows = int(rng.choice([300, 1500, 6000]))
    requisition = rng.integers(0, K, rows)
    share = 1 / (1 + np.exp(rng.normal(0, rng.choice([0.0, 0.8, 3.0]), K)))
    if seed % 6 == 0:
        share = (np.arange(K) % 2).astype(float)  # one sex in each requisition
    women = rng.random(rows) < share[requisition]
    race = rng.choice(["A", "B", "C"], rows, p=[0.6, 0.3, 0.1])
    rate = 1 / (1 + np.exp(rng.normal(0.3, rng.choice([0.0, 1.0]), (2, K))))
    if seed % 9 == 1:
        rate = np.where(np.argsort(np.argsort(share)) < K / 2, 0.75, 0.15)[None].repeat(
            2, axis=0
        )  # women apply where few pass
    person = np.arange(rows) if seed % 5 else rng.permutation(rows) // 3
    ratio = rng.choice([1.0, 1.0, 0.9, 0.75, 0.5], 2)
    where = (requisition % 4 == 0) | (rng.random() < 0.6)
    reached, steps = np.ones(rows, dtype=bool), {}
    for s, step in enumerate(STEPS):
        reached = reached & (rng.random(rows)[person] < rate[s][requisition] * np.where(women & where, ratio[s], 1.0))
        steps[step] = reached
    sex = np.where(women, "Female", "Male").astype(object)
    if seed % 4 == 2:
        sex[rng.random(rows) < 0.3] = None
    return disparities(
        Applicants(
            {"Gender": sex, "Race": race.astype(object)},
            steps,
            strata=requisition,
            segments={"Department": np.array(["Ads", "Bio", "Ops", "Web"], dtype=object)[requisition % 4]},
            persons=person,
        )
    )


@cache
def told(seed: int) -> tuple[FindingModel, ...]:
    return tuple(of_disparities(firm(seed), WORDS))


def plain(item: FindingModel) -> str:
    return item.text.replace(NBSP, " ")


def differences(seed: int) -> list[tuple[FindingModel, GroupResult, str]]:
    """Each difference with its row, and the kind of its table."""
    found = []
    for item in told(seed):
        if item.code.startswith("difference-") and item.kind == "disparity":
            kinds = [item.code.removeprefix("difference-")]
            kinds = ["cumulative", "conditional"] if kinds == ["within"] else kinds
            names = {str(item.group), str(item.against)}
            for kind in kinds:
                for table in firm(seed).tables:
                    if (table.attribute, table.step, table.kind) == (item.attribute, item.step, kind):
                        found += [(item, row, kind) for row in table.groups if row.status.found and row.group in names]
    assert all(
        any(item is one for one, *_ in found)
        for item in told(seed)
        if item.code.startswith("difference-") and item.kind == "disparity"
    )
    return found


@pytest.mark.parametrize("seed", range(FIRMS))
def test_a_difference_is_told_of_those_who_do_worse(seed: int) -> None:
    for item, row, _ in differences(seed):
        if item.code == "difference-within":
            continue
        if row.group != item.group:
            continue
        compared = row.against(row.decided_against or Comparator.HIGHEST)
        assert compared is not None and row.rate is not None and compared.rate is not None
        assert row.rate < compared.rate and "less often" in item.text
        said = re.search(r"(\S+) % against (\S+) %", plain(item))
        assert said is not None and said[1] != said[2]
        assert ("not below 4/5" in item.text) is (
            compared.impact_ratio is not None and compared.impact_ratio >= firm(seed).line
        )


@pytest.mark.parametrize("seed", range(FIRMS))
def test_found_within_requisitions_only_is_told_of_those_who_do_worse_there(seed: int) -> None:
    for item, row, _ in differences(seed):
        if item.code == "difference-within" and row.reconciled in (
            Reconciled.WITHIN_ONLY,
            Reconciled.WITHIN_ONLY_OPPOSITE,
        ):
            assert row.within is not None
            worse = (
                row.group
                if row.within.shortfall > 0
                else firm(seed).table(str(item.attribute), str(item.step)).reference
            )
            assert item.group == worse
            assert ("point the other way" in item.text) is (row.reconciled is Reconciled.WITHIN_ONLY_OPPOSITE)


@pytest.mark.parametrize("seed", range(FIRMS))
def test_a_difference_arises_only_where_a_decision_shows_it(seed: int) -> None:
    page = firm(seed)
    for item in told(seed):
        if item.code == "where-it-arises":
            shown = [
                step
                for step, kind in zip(STEPS, ("cumulative", "conditional"))
                if any(
                    r.group == item.group and r.status.found for r in page.table(str(item.attribute), step, kind).groups
                )
            ]
            assert ("builds up" in item.text) is (not shown)
            assert ("deciding who was interviewed" in item.text) is ("Interviewed" in shown)
            assert ("deciding which of those interviewed were hired" in item.text) is ("Hired" in shown)


@pytest.mark.parametrize("seed", range(FIRMS))
def test_the_shortfall_of_what_requisitions_explain_is_that_within_them(seed: int) -> None:
    inside = (Reconciled.POOLED_EXPLAINED, Reconciled.POOLED_WITHIN_UNCLEAR, Reconciled.REVERSED)
    for item, row, _ in differences(seed):
        said = re.search(r"about ([\d,.]+) more", plain(item))
        if row.group == item.group and row.decided_against is Comparator.HIGHEST and item.code != "difference-within":
            short = row.within.shortfall if row.reconciled in inside and row.within is not None else row.shortfall
            assert short is not None and (said is None) is (short <= 0)
            if said is not None:
                assert float(said[1].replace(",", "")) == pytest.approx(short, abs=0.51 if short >= 5 else 0.051)


@pytest.mark.parametrize("seed", range(FIRMS))
def test_a_department_stands_out_only_where_departments_differ(seed: int) -> None:
    page = firm(seed)
    by = Counter((item.attribute, item.group, item.step) for item in told(seed) if item.code == "contributes-most")
    for item in told(seed):
        if item.code == "difference-in-segment":
            one = next(
                o
                for o in page.search.found
                if (o.attribute, o.group, o.step, o.value) == (item.attribute, item.group, item.step, item.value)
            )
            apart = one.p_elsewhere is not None and one.p_elsewhere <= page.alpha
            assert ("It differs from the others" in item.text) is apart
        if item.code == "same-everywhere":
            assert not by[item.attribute, item.group, item.step]
            cuts = [
                c for c in page.segments if (c.attribute, c.group, c.step) == (item.attribute, item.group, item.step)
            ]
            assert all(
                c.agreement is None or c.agreement.p > page.alpha or not c.agreement.reliable
                for c in cuts
                if c.segment in item.text
            )


@pytest.mark.parametrize("seed", range(FIRMS))
def test_notices_are_there_exactly_where_they_are_true(seed: int) -> None:
    page, codes = firm(seed), {item.code: plain(item) for item in told(seed)}
    rows = [(table, row) for table in page.tables for row in table.groups]
    below = sum(row.status is GroupStatus.BELOW_LINE_NOT_SUFFICIENT for table, row in rows if table.pooled is not None)
    assert ("below-line" in codes) is (below > 0) and codes.get("below-line", f"{below}").startswith(f"{below}")
    assert ("repeated-applicants" in codes) is (page.repeated is not None)
    unknown = [t.unknown / (t.unknown + t.applicants) for t in page.tables if t.kind == "cumulative"]
    assert ("many-unknown" in codes) is (max(unknown) >= MANY_UNKNOWN)
    findings = [item for item in told(seed) if item.kind in ("disparity", "segment")]
    testable = any(table.pooled is not None for table in page.tables)
    assert ("no-difference-found" in codes) is (testable and not findings)
    assert ("nothing-to-compare" in codes) is (not testable)
    far = [row for _, row in rows if row.sd is not None and row.sd < -2 and row.p is not None and not row.status.found]
    assert far or "two-standard-deviations" not in codes
    texts = [plain(item) for item in told(seed) if item.code == "two-standard-deviations"]
    for text in texts:
        assert ("still not a finding" in text) is ("uncorrected figures apply" in text)
        assert ("still not a finding" in text) is ("only if applications are independent" not in text)
    explained = [
        row for row in far if row.p_design is not None and row.p_design > page.alpha and row.design is not None
    ]
    assert explained or not any("only if applications are independent" in text for text in texts)
    shared = {
        table.attribute: max((row.within.strata for row in table.groups if row.within is not None), default=0)
        for table in page.tables
        if table.step == STEPS[0] and table.kind == "cumulative" and table.pooled is not None
    }
    assert ("no-comparison-within" in codes) is any(n < FEW_SHARED * page.requisitions for n in shared.values())


def test_every_sentence_occurs_and_is_absent() -> None:
    """Otherwise the tests above would say nothing about it."""
    codes = [{item.code for item in told(seed)} for seed in range(FIRMS)]
    for code in (
        *("difference-cumulative", "difference-conditional", "difference-within", "difference-in-segment"),
        *("where-it-arises", "same-everywhere", "below-line", "repeated-applicants", "many-unknown"),
        *("no-difference-found", "two-standard-deviations", "no-comparison-within", "too-little-evidence"),
    ):
        assert 0 < sum(code in one for one in codes) < FIRMS, code
    said = " ".join(item.text for seed in range(FIRMS) for item in told(seed))
    for phrase in (
        "only if applications are independent",
        "builds up over several steps",
        "arises in deciding who",
        "It differs from the others",
        "not below 4/5",
    ):
        assert phrase in said, phrase
