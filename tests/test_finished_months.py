"""The applications of a finished month stay those that were counted first, or a run says so."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import auditkit as package
from auditkit.errors import InputError
from auditkit.scheduled.finished_months import FinishedPeriod, Roll, carried, kept_file, read

MAY, JUNE = datetime(2026, 5, 4, tzinfo=UTC), datetime(2026, 6, 4, tzinfo=UTC)


def applications(sizes: dict[str, int], *, decided: bool = True, more: tuple[str, ...] = ()) -> pd.DataFrame:
    """So many applications in each month, and one more on each of these days."""
    days = [f"{month}-{1 + i % 28:02d}" for month, n in sizes.items() for i in range(n)]
    names = [f"{day[:7]}/{i}" for i, day in enumerate(days)] + [f"late {day}" for day in more]
    days += more
    return pd.DataFrame(
        {
            "Application ID": names,
            "Application Date": days,
            "Gender": ["Female" if i % 2 else "Male" for i in range(len(days))],
            "Hired": ["yes" if i % (3 if decided else 4) == 0 else "no" for i in range(len(days))],
        }
    )


def roll(frame: pd.DataFrame) -> Roll:
    found = Roll.of(package.read(frame))
    assert found is not None
    return found


SIZES = {"2026-03": 30, "2026-04": 40, "2026-05": 20}


def first_run() -> tuple[FinishedPeriod, ...]:
    periods, notes = carried(roll(applications(SIZES)), (), MAY, "2026-05-04", 5, accepted=False)
    assert notes == []
    return periods


def test_months_that_are_over_are_fixed_and_the_present_one_is_not() -> None:
    assert [(period.months, period.applications) for period in first_run()] == [("2026-03", 30), ("2026-04", 40)]
    grown = roll(applications({**SIZES, "2026-05": 33}, decided=False))
    periods, notes = carried(grown, first_run(), JUNE, "2026-06-04", 5, accepted=False)
    assert notes == [] and [period.since for period in periods] == ["2026-05-04", "2026-05-04", "2026-06-04"]


def test_one_application_more_in_a_finished_month_is_refused_and_the_earlier_run_named() -> None:
    late = roll(applications(SIZES, more=("2026-04-30",)))
    with pytest.raises(InputError) as refused:
        carried(late, first_run(), JUNE, "2026-06-04", 5, accepted=False)
    text = str(refused.value)
    assert "the data, 2026-04" in text and "the run of 2026-05-04 counted (40 then, 41 now)" in text
    assert "auditkit run --new-population" in text and "2026-03" not in text
    periods, notes = carried(late, first_run(), JUNE, "2026-06-04", 5, accepted=True)
    assert [period.since for period in periods] == ["2026-05-04", "2026-06-04", "2026-06-04"]
    assert notes == [
        "2026-04 has different applications from those that the run of 2026-05-04 counted (40 then, 41 now): a new "
        "population from this run on"
    ]
    assert carried(late, periods, JUNE, "2026-06-05", 5, accepted=False)[1] == []


def test_somebody_who_is_gone_or_exchanged_is_noticed() -> None:
    frame = applications(SIZES)
    for changed in (frame.drop(index=3), frame.replace({"Application ID": {"2026-03/3": "another"}})):
        with pytest.raises(InputError, match="2026-03"):
            carried(roll(changed), first_run(), JUNE, "2026-06-04", 5, accepted=False)


def test_many_more_are_a_new_population() -> None:
    periods, notes = carried(
        roll(applications({**SIZES, "2026-04": 60})), first_run(), JUNE, "2026-06-04", 5, accepted=False
    )
    assert len(notes) == 1 and "(40 then, 60 now)" in notes[0] and periods[1].applications == 60


def test_a_window_that_moves_on_is_no_other_population() -> None:
    frame = applications(SIZES)
    moved = roll(frame[frame["Application Date"] >= "2026-03-15"])
    assert carried(moved, first_run(), JUNE, "2026-06-04", 5, accepted=False)[1] == []
    assert (
        carried(roll(frame[frame["Application Date"] >= "2026-05"]), first_run(), JUNE, "x", 5, accepted=False)[1] == []
    )


def test_months_with_few_applications_are_fixed_together() -> None:
    small = roll(applications({"2026-01": 3, "2026-02": 1, "2026-03": 4, "2026-04": 2}))
    periods, _ = carried(small, (), MAY, "2026-05-04", 5, accepted=False)
    assert [(period.months, period.applications) for period in periods] == [("2026-01 to 2026-03", 8)]


def test_the_file_goes_on_and_names_nobody(tmp_path: Path) -> None:
    path = tmp_path / "population.json"
    path.write_bytes(kept_file(first_run()))
    assert read(path) == first_run() and b"2026-03/1" not in path.read_bytes()
    path.write_text("{}")
    assert read(path) == read(tmp_path / "missing.json") == ()


def test_data_without_dates_have_no_periods() -> None:
    assert Roll.of(package.read(applications(SIZES).drop(columns="Application Date"))) is None


def test_a_scheduled_run_refuses_and_goes_on_when_told(auditkit: Any, tmp_path: Path) -> None:
    sizes = {"2025-03": 60, "2025-04": 60}
    applications(sizes).to_csv(tmp_path / "people.csv", index=False)
    report = '[report]\nparts = "summary"\nwhat_if = false\nreplicates = 0\n'
    (tmp_path / "audit.toml").write_text(f'source = "people.csv"\n{report}')
    assert auditkit("run", "audit.toml").code == 0
    applications(sizes, more=("2025-04-30",)).to_csv(tmp_path / "people.csv", index=False)
    refused = auditkit("run", "audit.toml")
    assert refused.code == 2 and "has different applications from those that the run of" in refused.err
    told = auditkit("run", "audit.toml", "--new-population", "--json")
    assert told.code == 0 and any("a new population from this run on" in note for note in json.loads(told.out)["notes"])
    assert len(list(tmp_path.rglob("population.json"))) == 2
