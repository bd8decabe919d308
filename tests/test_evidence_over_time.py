"""E-processes over requisitions: against enumeration, by simulation, and from run to run."""

from __future__ import annotations

import dataclasses
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom, nchypergeom_fisher

from auditkit.disparity.applicants import Applicants
from auditkit.disparity.sequential import GRID, WEIGHTS, Closings, closings, confidence_sequence, e_value, log_evidence
from auditkit.scheduled import evidence_stream
from auditkit.scheduled.evidence_stream import EvidenceOverTime, alarm_line, carried, read


def test_one_requisition_is_a_ratio_of_noncentral_laws() -> None:
    for n1, n0, m, x in ((7, 9, 5, 1), (12, 4, 6, 6), (30, 25, 11, 4)):
        found = log_evidence([(n1, n0)], m, x)
        for theta in (0.2, 0.8, 1.0, 3.0):
            at = int(np.argmin(np.abs(GRID - math.log(theta))))
            law = [
                nchypergeom_fisher(n1 + n0, n1, m, math.exp(GRID[at])).pmf(x),
                nchypergeom_fisher(n1 + n0, n1, m, 1.0).pmf(x),
            ]
            assert found[at] == pytest.approx(math.log(law[0] / law[1]), abs=1e-7)
    assert not log_evidence([(5, 0)], 2, 2).any() and not log_evidence([(5, 5)], 10, 5).any()


def test_the_expectation_is_one_without_a_difference() -> None:
    n1, n0, m = 8, 6, 5
    law = nchypergeom_fisher(n1 + n0, n1, m, 1.0)
    outcomes = range(max(0, m - n0), min(n1, m) + 1)
    assert sum(law.pmf(x) * e_value(log_evidence([(n1, n0)], m, x)) for x in outcomes) == pytest.approx(1.0, abs=1e-9)
    assert WEIGHTS.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("sizes", [((3, 9), (6, 4)), ((1, 5), (2, 2), (4, 3)), ((4, 8), (2, 4))])
def test_the_expectation_of_a_set_is_at_most_one_whatever_its_requisitions_select(
    sizes: tuple[tuple[int, int], ...],
) -> None:
    """Over every way to spread the selected over the requisitions; with equal shares hardly less than one."""
    largest = 0.0
    for m in itertools.product(*(range(n1 + n0 + 1) for n1, n0 in sizes)):
        outcomes, law = range(1), np.ones(1)
        for own, (n1, n0) in zip(m, sizes):
            law = np.convolve(law, hypergeom(n1 + n0, n1, own).pmf(np.arange(n1 + 1)))
        outcomes = range(len(law))
        mean = sum(p * e_value(log_evidence(sizes, sum(m), x)) for x, p in zip(outcomes, law) if p > 1e-15)
        assert mean <= 1 + 1e-9
        # as if it were one requisition
        whole = [(sum(n1 for n1, _ in sizes), sum(n0 for _, n0 in sizes))]
        largest = max(largest, sum(p * e_value(log_evidence(whole, sum(m), x)) for x, p in zip(outcomes, law)))
    assert (largest > 1.05) == (len({n1 / (n1 + n0) for n1, n0 in sizes}) > 1)


def looks(rng: np.random.Generator, ratio: float, weeks: int) -> tuple[list[float], bool]:
    """Evidence week by week, one requisition each; and whether the confidence sequence ever lost the odds ratio."""
    log, seen, lost = np.zeros_like(GRID), [], False
    odds = ratio * 0.3 / (1 - ratio * 0.3) / (0.3 / 0.7)
    for _ in range(weeks):
        x1, x0 = rng.binomial(15, 0.3 * ratio), rng.binomial(15, 0.3)
        log = log + log_evidence([(15, 15)], int(x1 + x0), int(x1))
        seen.append(e_value(log))
        bounds = confidence_sequence(log)
        lost |= odds < bounds[0] or (bounds[1] is not None and odds > bounds[1])
    return seen, lost


def test_two_years_of_weekly_looks_cry_wolf_in_a_twentieth_at_most() -> None:
    rng = np.random.default_rng(1)
    runs = [looks(rng, 1.0, 104) for _ in range(120)]
    assert np.mean([max(seen) >= 20 for seen, _ in runs]) <= 0.05
    assert np.mean([lost for _, lost in runs]) <= 0.05


def test_a_ratio_of_seven_tenths_is_found() -> None:
    rng = np.random.default_rng(2)
    weeks = [next((w for w, e in enumerate(looks(rng, 0.7, 104)[0], 1) if e >= 20), 999) for _ in range(30)]
    assert np.median(weeks) < 104


@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=12))
def test_the_line_is_that_of_e_bh(e: list[float]) -> None:
    """Benjamini and Hochberg's procedure at 5 % for the p-values 1/e; alarms need an average of 20."""
    line, many = alarm_line(e), len(e)
    p = sorted(1 / value if value else math.inf for value in e)
    rejected = max((k for k in range(1, many + 1) if p[k - 1] <= 0.05 * k / many * (1 + 1e-12)), default=0)
    assert sum(value >= line for value in e) == rejected
    assert not rejected or sum(e) / many >= 20 - 1e-9


def test_many_decisions_cry_wolf_in_a_twentieth_at_most() -> None:
    """Six decisions without a difference, a year of weekly looks."""
    rng = np.random.default_rng(12)
    false = 0
    for _ in range(40):
        weeks = zip(*(looks(rng, 1.0, 52)[0] for _ in range(6)))
        false += any(max(now) >= alarm_line(now) for now in weeks)
    assert false <= 5  # P(more than 5 of 40) is 0.014 at 5 %


# From run to run ------------------------------------------------------------------------------------------------------


def people(requisitions: dict[str, tuple[int, int, int, int]], pending: str = "") -> Applicants:
    sex: list[str] = []
    names: list[str] = []
    hired: list[bool] = []
    for name, (n1, x1, n0, x0) in requisitions.items():
        for group, n, x in (("F", n1, x1), ("M", n0, x0)):
            sex += [group] * n
            names += [name] * n
            hired += [k < x for k in range(n)]
    return Applicants(
        {"sex": np.array(sex, dtype=object)},
        {"hired": np.array(hired)},
        strata=np.array(names, dtype=object),
        undecided=np.array([name == pending for name in names]),
    )


FIRST = {"a": (10, 2, 10, 5), "b": (8, 1, 12, 6)}
MORE = {**FIRST, "c": (9, 3, 9, 4), "d": (20, 2, 20, 9)}


def closed(requisitions: dict[str, tuple[int, int, int, int]], pending: str = "") -> Closings:
    found = closings(people(requisitions, pending))
    assert found is not None
    return found


def test_a_withdrawal_does_not_keep_a_requisition_open() -> None:
    data = people(MORE, pending="d")
    gone = dataclasses.replace(data, pending=np.zeros(data.rows, dtype=bool))
    waiting = dataclasses.replace(data, pending=data.undecided)
    found, later = closings(gone), closings(waiting)
    assert found is not None and found.requisitions == ("a", "b", "c", "d")
    assert later is not None and later.requisitions == ("a", "b", "c")


def test_a_requisition_counts_once_when_it_closes() -> None:
    first = carried(closed(MORE, pending="d"), None, "2026-01-01")
    assert first.streams[0].requisitions == 3
    again = carried(closed(MORE, pending="d"), first, "2026-01-08")
    assert again.streams == first.streams and again.since == "2026-01-01"
    last = carried(closed(MORE), again, "2026-01-15")
    at_once = carried(closed(MORE), None, "2026-01-15")
    assert last.streams[0].requisitions == 4 and last.restarted is None
    assert last.streams[0].log == pytest.approx(at_once.streams[0].log, abs=1e-8)
    gone = carried(closed({"d": MORE["d"], "e": (5, 1, 5, 2)}), last, "2026-01-22")  # the others are exported no more
    assert gone.streams[0].requisitions == 5 and gone.restarted is None


def test_a_correction_starts_again_and_says_so() -> None:
    first = carried(closed(FIRST), None, "2026-01-01")
    corrected = carried(closed({**FIRST, "a": (10, 3, 10, 5)}), first, "2026-02-01")
    assert corrected.restarted == "1 requisition counted before has changed" and corrected.since == "2026-02-01"
    assert corrected.streams[0].requisitions == 2


def test_the_file_goes_on_and_names_no_requisition(tmp_path: Path) -> None:
    found = carried(closed(MORE), None, "2026-01-01")
    path = tmp_path / evidence_stream.FILE
    path.write_bytes(found.kept())
    assert read(path) == found and b'"counts"' not in path.read_bytes()
    assert read(tmp_path / "missing.json") is None
    path.write_text("{}")
    assert read(path) is None


def test_alarms_at_twenty_for_the_audit_as_a_whole() -> None:
    quiet = carried(closed(FIRST), None, "2026-01-01")
    assert quiet.alarms() == []
    loud = carried(closed({f"r{k}": (20, 2, 20, 10) for k in range(12)}), None, "2026-01-01")
    alarm = loud.alarms()[0]
    assert alarm.threshold == "evidence" and alarm.bound == 20 and (alarm.value or 0) > 20 and "sex" in alarm.words
    twice = dataclasses.replace(
        loud,
        streams=(
            *loud.streams,
            dataclasses.replace(quiet.streams[0], name=dataclasses.replace(quiet.streams[0].name, step="offered")),
        ),
    )
    assert isinstance(twice, EvidenceOverTime) and twice.alarms()[0].bound == 40
    again = dataclasses.replace(
        loud,
        streams=(
            *loud.streams,
            dataclasses.replace(loud.streams[0], name=dataclasses.replace(loud.streams[0].name, step="offered")),
        ),
    )
    assert [alarm.bound for alarm in again.alarms()] == [20, 20]  # two of two: each counts for both
    document = loud.to_json()
    assert document["line"] == 20 and document["decisions"][0]["alarm"] is True
    assert document["requisitions"] == 12 and document["streams"][0]["e"] == pytest.approx(alarm.value)
    low, high = document["streams"][0]["odds_ratio"]
    assert low < 0.1111 < high < 1
