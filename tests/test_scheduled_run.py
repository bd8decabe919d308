"""One scheduled run: artefacts, record, thresholds, unchanged data, the lock, retention, a full disk."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import subprocess
import sys
import threading
import tomllib
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from auditkit.errors import InputError
from auditkit.scheduled import artefacts, settings
from auditkit.scheduled.lock import only_one
from auditkit.scheduled.run_history import RunHistory, opened
from support.scheduled_example import Scheduled, complete, consistent, runs

LINES = "[thresholds]\nimpact_ratio.min = 0.8\n"
LEVEL = {"Black": (300, 27), "White": (700, 64)}


def test_a_run_writes_a_dated_folder_and_records_it(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path / "hiring", LINES)
    done = audit.run()
    folder = audit.folder / "2026-11-16T060000Z"
    assert done.run.folder == folder.name
    assert {path.name for path in folder.iterdir()} == {
        *("report.html", "report.pdf", "report.json", "audit.toml", "SHA256SUMS")
    }
    assert (folder / "audit.toml").read_bytes() == audit.path.read_bytes()
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, check=True, capture_output=True)
    assert done.finding and "Black against White: 0.325" in done.run.crossings[0].words
    (recorded,) = runs(audit)
    assert recorded.audit == "hiring"
    assert recorded.config_sha256 == hashlib.sha256(audit.path.read_bytes()).hexdigest()
    assert recorded.data_sha256 == hashlib.sha256(audit.fake.data.read_bytes()).hexdigest()
    assert recorded.crossings == done.run.crossings
    complete(audit)


def test_nothing_crossed_is_no_finding(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path, LINES)
    audit.fake.write(LEVEL)
    assert not audit.run().finding


def test_the_same_data_and_configuration_are_not_computed_again(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path, LINES)
    first, second = audit.run(), audit.run()
    assert audit.fake.computed == 1
    assert (second.run.status, second.run.same_as) == ("unchanged", first.run.id)
    assert second.finding  # the line is still crossed
    assert len(audit.dated()) == 1
    assert audit.run(force=True).run.status == "complete"
    audit.fake.write(LEVEL)
    assert audit.run().run.status == "complete"
    audit.path.write_text(LINES + "# a remark\n")
    assert audit.run().run.status == "complete"
    assert [run.status for run in runs(audit)] == ["complete", "unchanged", "complete", "complete", "complete"]
    complete(audit)


def test_damaged_or_missing_artefacts_are_made_again(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path)
    (audit.folder / audit.run().run.folder / "report.html").write_text("touched")
    assert audit.run().run.status == "complete"
    assert audit.run().run.status == "unchanged"


def test_another_version_of_auditkit_computes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audit = Scheduled(tmp_path)
    audit.run()
    monkeypatch.setattr("auditkit.scheduled.audit_run.__version__", "99.0")
    assert audit.run().run.status == "complete"


def test_a_change_against_the_previous_run(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path, "[thresholds]\nimpact_ratio.max_drop = 0.05\n")
    audit.fake.write(LEVEL)
    first = audit.run()
    assert not first.finding and "no earlier run" in first.notes[0]
    audit.run()
    audit.fake.write({"Black": (300, 20), "White": (700, 64)})
    (crossing,) = audit.run().run.crossings
    assert re.search(r"fell from 0\.984 to 0\.729", crossing.words)


def test_a_run_that_differs_by_few_applicants_from_the_last_says_what_both_tell(tmp_path: Path) -> None:
    """Two reports a row apart can be subtracted; of whole periods, or of the same rows, they cannot."""
    audit = Scheduled(tmp_path)
    audit.fake.write({"Black": (300, 20), "White": (700, 64)})
    audit.run()
    for black, warned in (((301, 21), True), ((301, 20), False), ((340, 25), False)):
        audit.fake.write({"Black": black, "White": (700, 64)})
        assert any("what became of those few" in note for note in audit.run().notes) is warned


def test_two_runs_in_one_second_get_folders_of_their_own(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path)
    audit.run()
    audit.now = datetime(2026, 11, 16, 6, tzinfo=UTC)
    assert audit.run(force=True).run.folder == "2026-11-16T060000Z-2"
    complete(audit)


# Settings -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[threshold]\nx = 1", "did you mean 'thresholds'?"),
        ("[thresholds]\nimpact_ratio.mim = 0.8", "did you mean 'impact_ratio.min'?"),
        ("thresholds = 3", "thresholds: is not a table"),
        ('[history]\nkep = "4 years"', "did you mean 'keep'?"),
        ('[history]\nkeep = "four years"', 'is not a period; write for example "4 years"'),
        ('[history]\nkeep = "0 days"', "is not a period"),
        ('[history]\ndatabase = "postgresql://me:hunter2@host/db"', "holds a password"),
        ('[history]\ndatabase_env = "postgresql://me:hunter2@host/db"', "is not the name of an environment variable"),
        ('[history]\ndatabase = "a"\ndatabase_env = "B"', "exclude each other"),
        ("[alerts]\npassword = 'hunter2'", "write [[alerts]], with two brackets"),
        ("this is = not = toml", "is not TOML"),
        ("[thresholds]\ngab.max=1", "did you mean 'gap.max'?"),
    ],
)
def test_wrong_settings_are_named_and_nothing_is_touched(tmp_path: Path, toml: str, message: str) -> None:
    audit = Scheduled(tmp_path, toml)
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        audit.run()
    assert "hunter2" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.toml", "data.csv"]


def test_a_missing_file_or_variable(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        settings.read(tmp_path / "none.toml")
    audit = Scheduled(tmp_path, '[history]\ndatabase_env = "AUDIT_DATABASE"')
    with pytest.raises(InputError, match="the environment variable AUDIT_DATABASE is not set"):
        audit.run()
    audit.environ["AUDIT_DATABASE"] = "hunter2"
    with pytest.raises(InputError, match="AUDIT_DATABASE holds no URL"):
        audit.run()


def test_any_place_will_do_for_the_history(tmp_path: Path) -> None:
    folder = tmp_path / "50 % ? #1 & ü"
    for toml in ("", '[history]\ndatabase = "sqlite:///a?b%20.db"\n', '[history]\ndatabase = "past.sqlite"\n'):
        audit = Scheduled(folder, toml)
        audit.run()
        consistent(audit)
    assert {p.name for p in folder.rglob("*.*") if p.suffix in (".sqlite", ".db")} == {
        *("history.sqlite", "a?b%20.db", "past.sqlite")
    }


def test_places_are_relative_to_the_file_and_not_to_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = Scheduled(tmp_path / "a b", '[history]\nfolder = "../kept"\ndatabase = "past.sqlite"')
    monkeypatch.chdir("/")
    audit.run()
    assert (tmp_path / "kept" / "2026-11-16T060000Z").is_dir()
    assert (tmp_path / "a b" / "past.sqlite").is_file()


# One at a time --------------------------------------------------------------------------------------------------------


def test_the_second_of_two_runs_leaves_with_a_message(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path)
    message = rf"another run of this audit is under way \(process {os.getpid()}, since .* UTC\).*--wait SECONDS"
    with only_one(audit.folder, 0), pytest.raises(InputError, match=message):
        audit.run()
    assert audit.fake.computed == 0
    audit.run()


def test_the_second_of_two_runs_waits(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path)
    entered, told = threading.Event(), threading.Event()

    def hold() -> None:
        with only_one(audit.folder, 0):
            entered.set()
            told.wait()

    def say(text: str) -> None:
        audit.said.append(text)
        told.set()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    try:
        assert audit.run(wait=300, say=say).run.id == 1
    finally:
        told.set()
        thread.join()
    assert "another run of this audit is under way: waiting up to 300 s" in audit.said


def test_a_killed_holder_does_not_lock_forever(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from auditkit.scheduled.lock import only_one\n"
        "with only_one(Path(sys.argv[1]), 0): print('held', flush=True); time.sleep(60)"
    )
    audit = Scheduled(tmp_path)
    child = subprocess.Popen([sys.executable, "-c", script, str(audit.folder)], stdout=subprocess.PIPE)
    assert child.stdout is not None and child.stdout.readline() == b"held\n"
    with pytest.raises(InputError, match=f"process {child.pid}"):
        audit.run()
    child.kill()
    child.wait()
    child.stdout.close()
    audit.run()


# Retention ------------------------------------------------------------------------------------------------------------


def yearly(audit: Scheduled, *years: int) -> None:
    for year in years:
        audit.now = datetime(year, 11, 16, 6, tzinfo=UTC)
        audit.run()


def test_artefacts_older_than_keep_are_removed_and_it_says_so(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path, LINES + '[history]\nkeep = "4 years"\n')
    yearly(audit, 2026)
    audit.fake.write(LEVEL)
    yearly(audit, 2027, 2028)  # 2028 is unchanged: the artefacts of the second run are in use until then
    audit.fake.write({"Black": (300, 26), "White": (700, 64)})
    yearly(audit, 2029)
    audit.now = datetime(2030, 11, 29, 6, tzinfo=UTC)
    done = audit.run()
    assert done.removed == (
        "artefacts of run 1 (2026-11-16T060000Z) removed: older than 4 years, see keep in [history]",
    )
    assert audit.dated() == ["2027-11-16T060000Z", "2029-11-16T060000Z"]
    first = runs(audit)[0]
    assert (first.removed, first.removed_why) == ("2030-11-29T06:00:00Z", "older than 4 years")
    assert first.figures.groups and first.crossings  # what is known of it stays
    complete(audit)
    audit.now = datetime(2032, 11, 17, 6, tzinfo=UTC)
    assert len(audit.run().removed) == 1
    assert audit.dated() == ["2029-11-16T060000Z"]
    complete(audit)


def said_by(audit: Scheduled, moment: datetime) -> tuple[tuple[str, ...], str]:
    audit.now = moment
    audit.said.clear()
    return audit.run(force=True).removed, "\n".join(audit.said)


def test_a_clock_that_jumped_removes_nothing(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path, '[history]\nkeep = "90 days"\n')
    for day in range(0, 70, 7):
        audit.now = datetime(2026, 11, 16, 6, tzinfo=UTC) + timedelta(days=day)
        audit.run(force=True)
    before = audit.dated()
    assert len(before) == 10
    removed, said = said_by(audit, datetime(2036, 1, 1, tzinfo=UTC))
    assert removed == ()
    assert "days after the last one, and the clock may be wrong" in said
    removed, _ = said_by(audit, datetime(2036, 1, 8, tzinfo=UTC))  # it stays wrong: the years do not count as age
    assert removed == ()
    removed, said = said_by(audit, datetime(2027, 2, 1, tzinfo=UTC))  # it is put right
    assert removed == ()
    assert [name for name in audit.dated() if name < "2027"] == [name for name in before if name < "2027"]
    for day in range(7, 120, 7):
        removed, _ = said_by(audit, datetime(2027, 2, 1, tzinfo=UTC) + timedelta(days=day))
    assert "2026-11-16T060000Z" not in audit.dated()  # time passes, and then they go
    assert "2027-05-17T000000Z" in audit.dated()
    complete(audit)


def test_a_clock_that_is_set_back_does_not_meet_removed_runs(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path, '[history]\nkeep = "10 days"\n')
    audit.run()
    audit.fake.write(LEVEL)
    audit.now = datetime(2026, 12, 1, tzinfo=UTC)
    assert audit.run().removed
    audit.now = datetime(2026, 11, 16, 6, tzinfo=UTC)
    audit.run(force=True)
    assert audit.run().run.folder == "2026-11-16T060000Z-2"
    complete(audit)


def test_without_keep_nothing_is_removed(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path)
    audit.run()
    audit.now = datetime(2126, 11, 16, tzinfo=UTC)
    audit.fake.write(LEVEL)
    assert audit.run().removed == () and len(audit.dated()) == 2


def test_a_folder_that_was_taken_away_by_hand(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path, '[history]\nkeep = "10 days"\n')
    first = audit.run()
    (audit.folder / first.run.folder).rename(tmp_path / "elsewhere")
    audit.fake.write(LEVEL)
    audit.now = datetime(2026, 12, 1, tzinfo=UTC)
    assert "were gone already" in audit.run().removed[0]


@pytest.mark.parametrize(
    ("period", "before"),
    [
        ("4 years", "2026-02-28"),
        ("1 year", "2029-02-28"),
        ("18 months", "2028-08-28"),
        ("2 weeks", "2030-02-14"),
        ("90 days", "2029-11-30"),
        ("9999 years", "0001-01-01"),
        ("999999 days", "0001-01-01"),
    ],
)
def test_periods_are_those_of_the_calendar(period: str, before: str) -> None:
    moment = datetime(2030, 2, 28, 6, tzinfo=UTC)
    assert f"{settings.parse_period(period).before(moment):%Y-%m-%d}".zfill(10) == before
    leap = settings.parse_period("1 year").before(datetime(2028, 2, 29, tzinfo=UTC))
    assert (leap.year, leap.month, leap.day) == (2027, 2, 28)


# Leftovers ------------------------------------------------------------------------------------------------------------


def test_leftovers_of_killed_runs_are_cleared_away(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path)
    done = audit.run()
    with opened(audit.settings.database({})) as store:
        history = store.id
    for name in (".writing-2026-01-05T060000Z", ".removing-2025-01-06T060000Z", "2026-01-12T060000Z", "my notes"):
        (audit.folder / name).mkdir()
        (audit.folder / name / "report.html").write_text("x")
    (audit.folder / ".pending-2026-01-12T060000Z").write_text(history)  # killed before it was recorded
    (audit.folder / f".pending-{done.run.folder}").write_text(history)  # killed just after
    (audit.folder / ".pending-2026-01-19T060000Z").write_text("")  # killed while it was written
    audit.run()
    assert audit.dated() == [done.run.folder, "my notes"]  # what is not ours is not touched
    assert not list(audit.folder.glob(".[wpr]*"))
    said = "\n".join(audit.said)
    assert "the files of an interrupted run (.writing-2026-01-05T060000Z)" in said
    assert "cleared away 2026-01-12T060000Z: its run was interrupted before it was recorded" in said


def test_artefacts_of_another_history_are_left_alone(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path)
    done = audit.run()
    (audit.folder / f".pending-{done.run.folder}").write_text("the id of another history")
    (audit.folder / "history.sqlite").unlink()  # and with it what is known of the folder
    audit.run()
    assert done.run.folder in audit.dated()
    assert any("belongs to another history" in line for line in audit.said)


def test_names_of_artefacts_stay_within_their_folder(tmp_path: Path) -> None:
    for name in ("../x", "a/b", ".hidden"):
        with pytest.raises(ValueError, match=r"not (names|the name) of"):
            artefacts.write(tmp_path, "x", {name: b""}, "")
        with pytest.raises(ValueError, match=r"not (names|the name) of"):
            artefacts.remove(tmp_path, name)


# A full disk ----------------------------------------------------------------------------------------------------------


class FullDisk:
    """Lets so many of these calls through, then there is no space left."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, left: int) -> None:
        self.left = left
        for place, name in ((artefacts, "_write"), (artefacts, "_sync"), (Path, "mkdir"), (Path, "rename")):
            original = getattr(place, name)

            def limited(*args: Any, original: Any = original, **kwargs: Any) -> Any:
                self.left -= 1
                if self.left < 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(args[0]))
                return original(*args, **kwargs)

            monkeypatch.setattr(place, name, limited)


def test_a_full_disk_at_every_write(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path, LINES)
    audit.run()
    failures = 0
    for left in range(30):
        audit.fake.write({"Black": (300, left), "White": (700, 64)})
        with pytest.MonkeyPatch.context() as patch:
            disk = FullDisk(patch, left)
            try:
                audit.run()
                break
            except InputError as error:
                assert "No space left on device" in str(error)
                failures += 1
        assert disk.left < 0
        consistent(audit)  # clearing away may need space too; the next run does it
        assert len(runs(audit)) == 1
    assert failures >= 8
    assert len(runs(audit)) == 2
    complete(audit)


def test_a_database_that_fails_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audit = Scheduled(tmp_path)
    audit.run()
    audit.fake.write(LEVEL)
    with monkeypatch.context() as patch:

        def full(*_: Any, **__: Any) -> int:
            raise InputError("history.sqlite: the history cannot be used: database or disk is full")

        patch.setattr(RunHistory, "record", full)
        with pytest.raises(InputError, match="disk is full"):
            audit.run()
    complete(audit)
    audit.run()
    complete(audit)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", small], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        audit = Scheduled(tmp_path / "audit", f'[history]\nfolder = "{small}"\n')
        audit.run()
        said = set()
        for filler in range(0, 200, 8):  # the disk gets fuller: it fails in another place each time
            audit.fake.write({"Black": (300, filler), "White": (700, 640)})
            blocks = small / "filler"
            with suppress(OSError):
                blocks.write_bytes(b"x" * 1024 * filler)
            try:
                audit.run()
            except InputError as error:
                said.add(str(error).rpartition(": ")[2])
            blocks.unlink()
            complete(audit)
        assert any("No space left" in line for line in said), said
    finally:
        subprocess.run(["umount", small], check=True)


def test_the_history_keeps_every_configuration_as_it_was(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path, LINES)
    audit.run()
    audit.path.write_text("[thresholds]\nimpact_ratio.min = 0.1\n")
    assert not audit.run().finding
    kept = [tomllib.loads((audit.folder / name / "audit.toml").read_text()) for name in audit.dated()]
    assert [one["thresholds"]["impact_ratio"]["min"] for one in kept] == [0.8, 0.1]
