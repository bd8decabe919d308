"""When an audit runs, and the texts that have systemd, cron and CI run it; what `--install` does to a system."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from auditkit import __version__
from auditkit.cli.schedule import schedule
from auditkit.errors import InputError
from auditkit.scheduled import units
from auditkit.scheduled.recurrence import parse
from support.scheduled_example import Scheduled


@pytest.mark.parametrize(
    ("text", "cron", "calendar"),
    [
        ("monday@06:00", "0 6 * * 1", ["Mon *-*-* 06:00:00"]),
        ("Sunday@23:59", "59 23 * * 0", ["Sun *-*-* 23:59:00"]),
        ("mon,thu@6:05", "5 6 * * 1,4", ["Mon,Thu *-*-* 06:05:00"]),
        ("weekdays@22:30", "30 22 * * 1-5", ["Mon,Tue,Wed,Thu,Fri *-*-* 22:30:00"]),
        ("weekly", "0 6 * * 1", ["Mon *-*-* 06:00:00"]),
        ("weekly@07:15", "15 7 * * 1", ["Mon *-*-* 07:15:00"]),
        ("daily@06:00", "0 6 * * *", ["*-*-* 06:00:00"]),
        ("daily", "0 6 * * *", ["*-*-* 06:00:00"]),
        ("hourly", "0 * * * *", ["*-*-* *:00:00"]),
        ("monthly@1T06:00", "0 6 1 * *", ["*-*-01 06:00:00"]),
        ("monthly@15T22:30", "30 22 15 * *", ["*-*-15 22:30:00"]),
        ("monthly", "0 6 1 * *", ["*-*-01 06:00:00"]),
        ("0 6 * * 1", "0 6 * * 1", ["Mon *-*-* 06:00:00"]),
        ("*/30  8-10 * * mon-fri", "*/30 8-10 * * mon-fri", ["Mon,Tue,Wed,Thu,Fri *-*-* 08,09,10:00,30:00"]),
        ("0 6 1,15 jan,7 *", "0 6 1,15 jan,7 *", ["*-01,07-01,15 06:00:00"]),
        ("0 6 * * 7", "0 6 * * 7", ["Sun *-*-* 06:00:00"]),
        ("0 6 1 * 1", "0 6 1 * 1", ["*-*-01 06:00:00", "Mon *-*-* 06:00:00"]),  # cron: either; systemd: both
        ("0 0-20/10 * * *", "0 0-20/10 * * *", ["*-*-* 00,10,20:00:00"]),
    ],
)
def test_every(text: str, cron: str, calendar: list[str]) -> None:
    found = parse(text)
    assert (found.cron, list(found.calendar)) == (cron, calendar)
    if analyze := shutil.which("systemd-analyze"):
        for event in calendar:
            subprocess.run([analyze, "calendar", event], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mondey@06:00", "'mondey' is not a day (did you mean 'monday'?"),
        ("wekly", "did you mean 'weekly'?"),
        ("monday@25:00", "'25:00' is not a time of day from 00:00 to 23:59"),
        ("monday@6", "'6' is not a time of day"),
        ("monday@", "has no time after @"),
        ("monthly@31T06:00", "'31' is not a day in every month (1 to 28)"),
        ("hourly@06:00", "hourly takes no time"),
        ("", "is empty"),
        ("0 6 * *", "has 4 fields"),
        ("61 6 * * *", "'61' is not a valid minute (from 0 to 59)"),
        ("0 6 * * 9", "'9' is not a valid day of the week (from 0 to 7)"),
        ("0 9-8 * * *", "the hour 9 is after 8"),
        ("0 5/2 * * *", "'5/2' is not a valid hour of a cron expression"),
        ("*/0 * * * *", "'*/0' is not a valid minute of a cron expression"),
    ],
)
def test_every_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        parse(text)


SECRETS = '[history]\ndatabase_env = "AUDIT_DB"\n[[alerts]]\ntype = "webhook"\nurl_env = "AUDIT_WEBHOOK"\n'


def plan(audit: Path, *, variables: tuple[str, ...] = (), python: str = "/opt/my env/bin/python") -> units.Plan:
    return units.Plan(audit, "Hiring 50%", parse("monday@06:00"), audit.parent / "audits", variables, (), python)


ODD = '/srv/it\'s 100% "odd" $HOME; rm -rf  \\x/audit.toml'


def test_a_crontab_line_survives_odd_paths(tmp_path: Path) -> None:
    line = units.crontab(plan(Path(ODD)))
    assert line.count("\n") == 1 and line.startswith(
        "0 6 * * 1 umask 077; '/opt/my env/bin/python' -P -m auditkit run "
    )
    command = line.split(maxsplit=5)[5].replace(r"\%", "%")  # what cron hands to the shell
    command = command.removeprefix("umask 077; ")
    assert not re.search(r"(?<!\\)%", line)
    shown = subprocess.run(["sh", "-c", f"printf '%s\\n' {command}"], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[:6] == ["/opt/my env/bin/python", "-P", "-m", "auditkit", "run", ODD]


def test_systemd_units_survive_odd_paths(tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s 100% "odd" $HOME  \\x'
    folder.mkdir()
    made = plan(folder / "audit.toml", variables=("AUDIT_WEBHOOK",), python="/bin/sh")
    service, timer = tmp_path / f"{made.unit}.service", tmp_path / f"{made.unit}.timer"
    service.write_text(units.service(made))
    timer.write_text(units.timer(made))
    assert "%" not in re.sub("%%|%h", "", service.read_text())
    assert f"EnvironmentFile=-%h/.config/auditkit/{made.unit}.env" in service.read_text()
    assert "OnCalendar=Mon *-*-* 06:00:00\nPersistent=true" in timer.read_text()
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd-analyze here")
    done = subprocess.run([analyze, "verify", "--man=no", service, timer], capture_output=True, text=True)
    ours = [line for line in done.stderr.splitlines() if made.unit in line]
    assert not ours, ours


def test_a_service_is_private_and_may_do_little(tmp_path: Path) -> None:
    service = tmp_path / "audit.service"
    service.write_text(units.service(plan(tmp_path / "audit.toml", python="/bin/sh")))
    assert "UMask=0077\nNoNewPrivileges=true\n" in service.read_text()
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd-analyze here")
    command = [analyze, "security", "--offline=true", "--no-pager", service]
    done = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"Overall exposure level for audit.service: ([\d.]+)", done.stdout)
    assert found is not None, done.stderr
    assert float(found[1]) < 7


def test_a_path_that_no_schedule_can_hold() -> None:
    with pytest.raises(InputError, match="has a character that no schedule can hold"):
        plan(Path("/srv/a\nb/audit.toml"))


def test_the_workflow_is_yaml_with_secrets_by_name(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    (tmp_path / ".git").mkdir()
    audit = tmp_path / "hiring: #1" / "audit.toml"
    made = plan(audit, variables=("AUDIT_WEBHOOK", "MAIL_PASSWORD"))
    workflow = yaml.safe_load(units.written(made, "github"))
    assert workflow[True]["schedule"] == [{"cron": "0 6 * * 1"}]  # YAML 1.1 reads `on` as true
    steps = workflow["jobs"]["audit"]["steps"]
    (run,) = [step for step in steps if "auditkit run" in step.get("run", "")]
    assert shlex.split(run["run"]) == ["auditkit", "run", "hiring: #1/audit.toml"]
    assert run["env"]["AUDIT_WEBHOOK"] == "${{ secrets.AUDIT_WEBHOOK }}"
    (install,) = [step["run"] for step in steps if "pip install" in step.get("run", "")]
    assert shlex.split(install)[4:] == [
        *("install", "--require-hashes", "--only-binary", ":all:", "-r"),
        "hiring: #1/requirements-audit.txt",
    ]
    assert steps[-1]["with"]["path"] == "hiring: #1/audits" and steps[-1]["if"] == "always()"


def test_the_script_for_other_ci_is_a_script(tmp_path: Path) -> None:
    text = units.written(plan(tmp_path / "my audit.toml", variables=("AUDIT_WEBHOOK",)), "script")
    subprocess.run(["sh", "-n"], input=text, text=True, check=True)
    assert "run 'my audit.toml'" in text and "AUDIT_WEBHOOK" in text
    assert "pip install -q --require-hashes --only-binary :all: -r requirements-audit.txt\n" in text
    assert f"echo auditkit=={__version__} | pip-compile --generate-hashes" in text
    assert "\numask 077\n" in text


# The command ----------------------------------------------------------------------------------------------------------


def call(*arguments: str, environ: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(schedule, arguments, env=environ, standalone_mode=False)


def test_it_prints_every_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audit = Scheduled(tmp_path / "my audits", SECRETS)
    monkeypatch.chdir(tmp_path)
    done = call("my audits/audit.toml", "--every", "monday@06:00")
    for part in ("OnCalendar=Mon *-*-* 06:00:00", "0 6 * * 1 ", "runs-on: ubuntu-latest", "#!/bin/sh", str(audit.path)):
        assert part in done.output
    only = call("my audits/audit.toml", "--every", "daily@06:00", "--for", "cron", "--", "--plugins-dir", "p q")
    assert only.output.startswith("0 6 * * * ") and "'p q'" in only.output
    assert isinstance(call("my audits/audit.toml", "--every", "never").exception, InputError)
    assert isinstance(call("none.toml").exception, InputError)
    assert isinstance(call("my audits/audit.toml", "--for", "github", "--install").exception, InputError)


FAKE = """#!/bin/sh
echo "$(basename "$0") $*" >> "$FAKES/calls"
case "$(basename "$0") $*" in
  "systemctl --user show-environment") exit "${MANAGER:-0}" ;;
  "systemctl --user enable"*) [ -z "$BROKEN" ] || { echo "Failed to connect to bus" >&2; exit 1; } ;;
  "crontab -l") [ -z "$BROKEN" ] || { echo "you are not allowed" >&2; exit 1; }
                [ -f "$FAKES/table" ] || { echo "no crontab for me" >&2; exit 1; }; cat "$FAKES/table" ;;
  "crontab -") cat > "$FAKES/table" ;;
esac
"""


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs of our own in place of systemctl and crontab; they keep a list of their calls."""
    fakes = tmp_path / "fakes"
    fakes.mkdir()
    for name in ("systemctl", "crontab"):
        (fakes / name).write_text(FAKE)
        (fakes / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{fakes}:/usr/bin:/bin")
    monkeypatch.setenv("FAKES", str(fakes))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    Scheduled(tmp_path / "hiring", SECRETS)
    return fakes


def test_install_and_uninstall_a_user_timer(system: Path, tmp_path: Path) -> None:
    audit = str(tmp_path / "hiring" / "audit.toml")
    done = call(audit, "--every", "monday@06:00", "--install")
    assert done.exception is None, done
    folder = tmp_path / "home" / ".config" / "systemd" / "user"
    names = sorted(path.name for path in folder.iterdir())
    assert re.fullmatch(r"auditkit-hiring-[0-9a-f]{8}\.service", names[0]) and names[1].endswith(".timer")
    assert audit in (folder / names[0]).read_text()
    calls = (system / "calls").read_text().splitlines()
    assert calls == [
        "systemctl --user show-environment",
        "systemctl --user daemon-reload",
        f"systemctl --user enable --now {names[1]}",
    ]
    assert "AUDIT_DB, AUDIT_WEBHOOK" in done.output and "chmod 600" in done.output
    call(audit, "--every", "daily@07:00", "--install")
    assert sorted(path.name for path in folder.iterdir()) == names  # replaced, not doubled
    assert "07:00" in (folder / names[1]).read_text()
    assert call(audit, "--uninstall").exception is None
    assert list(folder.iterdir()) == []
    assert f"systemctl --user disable --now {names[1]}" in (system / "calls").read_text()
    assert "there is no" in call(audit, "--uninstall").output


def test_install_a_crontab_entry_where_there_is_no_systemd(
    system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MANAGER", "1")
    audit = str(tmp_path / "hiring" / "audit.toml")
    (system / "table").write_text("# mine\n5 4 * * * /usr/bin/backup\n")
    assert call(audit, "--every", "monday@06:00", "--install").exception is None
    assert call(audit, "--every", "monday@07:00", "--install").exception is None
    lines = (system / "table").read_text().splitlines()
    assert lines[:2] == ["# mine", "5 4 * * * /usr/bin/backup"] and len(lines) == 3
    assert lines[2].startswith("0 7 * * 1 set -a; [ ! -r ")
    assert call(audit, "--uninstall").exception is None
    assert (system / "table").read_text().splitlines() == lines[:2]
    assert "there was no entry" in call(audit, "--uninstall").output


def test_a_first_crontab(system: Path, tmp_path: Path) -> None:
    assert call(str(tmp_path / "hiring" / "audit.toml"), "--install", "--for", "cron").exception is None
    assert (system / "table").read_text().count("\n") == 1


def test_a_system_that_refuses_is_quoted_and_no_crontab_is_lost(
    system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROKEN", "1")
    audit = str(tmp_path / "hiring" / "audit.toml")
    error = call(audit, "--install").exception
    assert isinstance(error, InputError) and "failed: Failed to connect to bus" in str(error)
    (system / "table").write_text("5 4 * * * /usr/bin/backup\n")
    error = call(audit, "--install", "--for", "cron").exception
    assert isinstance(error, InputError) and "you are not allowed" in str(error)
    assert (system / "table").read_text() == "5 4 * * * /usr/bin/backup\n"
    monkeypatch.setenv("PATH", str(tmp_path))
    error = call(audit, "--install").exception
    assert isinstance(error, InputError) and "is not installed" in str(error)


def test_the_crontab_line_runs(tmp_path: Path) -> None:
    """The shell of cron reads the secrets from their file and starts what it should."""
    home = tmp_path / "home"
    program = tmp_path / "py thon"
    program.write_text('#!/bin/sh\necho "$AUDIT_WEBHOOK|$*"\n')
    program.chmod(0o755)
    made = plan(tmp_path / "audit.toml", variables=("AUDIT_WEBHOOK",), python=str(program))
    command = units.crontab(made).split(maxsplit=5)[5].replace(r"\%", "%")
    file = home / ".config" / "auditkit" / f"{made.unit}.env"
    file.parent.mkdir(parents=True)
    for text, shown in (("", ""), ("AUDIT_WEBHOOK=https://x/y", "https://x/y")):
        if text:
            file.write_text(text + "\n")
        done = subprocess.run(
            ["sh", "-c", command], env={"HOME": str(home), "PATH": "/bin:/usr/bin"}, capture_output=True, text=True
        )
        assert done.stdout == f"{shown}|-P -m auditkit run {tmp_path}/audit.toml --wait 600 --quiet\n", done
    assert isinstance(schedule, click.Command)
