"""The estimate of how long a report will still take."""

from __future__ import annotations

import pytest

from auditkit import pipeline
from auditkit.config import Config
from auditkit.report.time_left import LEAST_SECONDS, TOO_LONG, TimeLeft

PHASES = pipeline.phases(Config().over(report={"formats": ["html", "pdf"]}))
NAMES = list(PHASES)


def walked(applications: int, slower: float, until: str, counted: bool = True) -> tuple[TimeLeft, float]:
    """A report that takes exactly what it should on a machine that is `slower`, when a phase has just begun."""
    estimate, now = TimeLeft(PHASES), 100.0
    if counted:
        estimate.counted(applications)
    for name, effort in PHASES.items():
        estimate.begin(f"{name} of this", now)
        if name == until:
            break
        now += slower * effort.seconds(applications)
    return estimate, now


@pytest.mark.parametrize("applications", [1_500, 16_000, 100_000])
@pytest.mark.parametrize("slower", [1.0, 4.0])
def test_the_time_left_is_that_of_the_phases_to_come(applications: int, slower: float) -> None:
    at = NAMES.index("frontier of")
    estimate, _ = walked(applications, slower, NAMES[at])
    to_come = slower * sum(PHASES[name].seconds(applications) for name in NAMES[at:])
    found = estimate.estimate
    assert found.phase is not None and found.phase + found.after == pytest.approx(to_come, rel=0.3)
    if to_come > 60:
        assert estimate.estimate.left(0.0) == f"about {round((found.phase + found.after) / 60)} min left"


def test_larger_files_take_longer_and_solving_a_larger_part_of_it() -> None:
    small, large = (walked(n, 1.0, "frontier of")[0].estimate for n in (1_500, 100_000))
    assert small.phase is not None and large.phase is not None
    assert large.phase > 10 * small.phase and large.own > small.own


def test_what_is_done_grows_and_ends_before_the_whole() -> None:
    seen = [0.0]
    for name in NAMES:
        estimate = walked(5_000, 2.0, name)[0].estimate
        for spent in (0.0, 1.0, 50.0):
            assert seen[-1] <= estimate.done(spent) + 1e-12
            seen.append(estimate.done(spent))
    assert seen[1] == 0.0 and 0.9 < seen[-1] < 1.0


def test_the_time_left_shrinks_while_a_phase_says_nothing_and_an_overrun_is_admitted() -> None:
    estimate = walked(100_000, 1.0, "frontier of")[0].estimate
    assert estimate.phase is not None
    said = [estimate.left(spent).split()[1:3] for spent in (0.0, estimate.phase / 2, estimate.phase)]
    seconds = [int(number) * {"s": 1, "min": 60}[unit] for number, unit in said]
    assert seconds[0] > seconds[1] > seconds[2] >= estimate.after / 2
    assert estimate.left(TOO_LONG * estimate.phase + LEAST_SECONDS + 1) == "longer than estimated"


def test_a_guess_is_not_said() -> None:
    assert TimeLeft(PHASES).estimate.left(100.0) == ""
    assert walked(1_500, 1.0, "frontier of", counted=False)[0].estimate.left(100.0) == ""
    assert walked(1_500, 0.01, "measuring disparities")[0].estimate.left(0.0) == ""


def test_phases_that_will_not_come_count_nothing() -> None:
    whole, short = TimeLeft(PHASES), TimeLeft(pipeline.phases(Config().over(report={"what_if": False})))
    for estimate in (whole, short):
        estimate.counted(1_500)
        estimate.begin("the firm's own decisions", 10.0)
    assert whole.estimate.before != short.estimate.before
    assert whole.estimate.after > short.estimate.after  # the PDF


def test_steps_without_a_phase_belong_to_the_present_one() -> None:
    estimate, now = walked(1_500, 1.0, "frontier of")
    before = estimate.estimate
    estimate.begin("more positions", now + 1)
    estimate.begin("best policy under parity", now + 2)  # asked again for a question: no step back
    assert estimate.estimate == before and estimate.spent(now + 2) == 2.0
