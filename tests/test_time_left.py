"""The estimate of how long a report will still take."""

from __future__ import annotations

import pytest

from auditkit import pipeline
from auditkit.config import Config
from auditkit.report.time_left import LEAST_DONE, TimeLeft

SHARES = pipeline.phases(Config().over(report={"formats": ["html", "pdf"]}))


def test_what_is_done_grows_and_ends_before_the_whole() -> None:
    estimate, seen = TimeLeft(SHARES), [0.0]
    for phase in SHARES:
        for step in range(5):
            estimate.begin(f"{phase} {step}")
            assert estimate.done >= seen[-1]
            seen.append(estimate.done)
    assert seen[1] == 0.0 and 0.9 < seen[-1] < 1.0


def test_what_is_left_is_in_proportion_to_what_is_done() -> None:
    estimate = TimeLeft(SHARES)
    estimate.begin("intervals of the prices")
    done = estimate.done
    before = [SHARES[phase] for phase in list(SHARES)[: list(SHARES).index("intervals of the prices")]]
    assert done == pytest.approx(sum(before) / sum(SHARES.values())) and done > LEAST_DONE
    assert estimate.left(600.0) == f"about {round(600 * (1 - done) / done / 60)} min left"
    assert estimate.left(8.0).endswith(" s left")


def test_phases_that_will_not_come_count_nothing() -> None:
    whole, short = TimeLeft(SHARES), TimeLeft(pipeline.phases(Config().over(report={"what_if": False})))
    for estimate in (whole, short):
        estimate.begin("the firm's own decisions")
    assert short.done > 0.75
    assert whole.done < short.done


def test_a_guess_is_not_said() -> None:
    estimate = TimeLeft(SHARES)
    assert estimate.left(100.0) == ""
    estimate.begin("reading the data")
    assert estimate.left(100.0) == ""
    estimate.begin("drawing the report")
    assert estimate.left(1.0) == ""


def test_steps_without_a_phase_belong_to_the_present_one() -> None:
    estimate = TimeLeft(SHARES)
    estimate.begin("frontier of quota")
    before = estimate.done
    estimate.begin("more positions")
    estimate.begin("best policy under parity")  # asked again for a question: no step back
    following = TimeLeft(SHARES)
    following.begin("the firm's own decisions")
    assert before < estimate.done < following.done
