"""Install a schedule, or remove it: a systemd user timer, or a crontab entry."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from auditkit.errors import InputError, Problem
from auditkit.files import write_text
from auditkit.scheduled import units
from auditkit.scheduled.units import Plan

TIMEOUT = 60


def default_way(environ: Mapping[str, str]) -> str:
    """systemd if the user's manager responds, else cron."""
    if shutil.which("systemctl", path=environ.get("PATH")):
        answer = _call(["systemctl", "--user", "show-environment"], environ)
        if answer.returncode == 0:
            return "systemd"
    return "cron"


def install(plan: Plan, way: str, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Install, replacing an earlier schedule of the same audit; returns a line for each action."""
    return _install_timer(plan, environ) if way == "systemd" else _install_cron(plan, environ)


def uninstall(plan: Plan, way: str, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Remove the schedule; returns a line for each action."""
    if way == "cron":
        lines = _crontab(environ)
        kept = [line for line in lines if not _ours(line, plan)]
        if kept == lines:
            return ["there was no entry for this audit in your crontab"]
        _write_crontab(kept, environ)
        return ["removed the entry from your crontab"]
    folder = _unit_folder(environ)
    files = [folder / f"{plan.unit}.{kind}" for kind in ("timer", "service")]
    if not any(file.exists() for file in files):
        return [f"there is no {plan.unit}.timer"]
    _must(["systemctl", "--user", "disable", "--now", f"{plan.unit}.timer"], environ)
    for file in files:
        file.unlink(missing_ok=True)
    _must(["systemctl", "--user", "daemon-reload"], environ)
    return [f"removed {file}" for file in files]


def _install_timer(plan: Plan, environ: Mapping[str, str]) -> list[str]:
    folder = _unit_folder(environ)
    files = {folder / f"{plan.unit}.service": units.service(plan), folder / f"{plan.unit}.timer": units.timer(plan)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            write_text(file, text)
    except OSError as error:
        raise InputError(Problem(str(folder), f"the units cannot be written: {error.strerror or error}")) from None
    _must(["systemctl", "--user", "daemon-reload"], environ)
    _must(["systemctl", "--user", "enable", "--now", f"{plan.unit}.timer"], environ)
    said = [f"wrote {file}" for file in files]
    said.append(f"started {plan.unit}.timer; see it with: systemctl --user list-timers {plan.unit}.timer")
    said.append("it runs while you are logged in; to run it always: loginctl enable-linger")
    return said + _secrets(plan, environ)


def _install_cron(plan: Plan, environ: Mapping[str, str]) -> list[str]:
    lines = [line for line in _crontab(environ) if not _ours(line, plan)]
    entry = units.crontab(plan).rstrip("\n")
    _write_crontab([*lines, entry], environ)
    return [f"your crontab has: {entry}", *_secrets(plan, environ)]


def _secrets(plan: Plan, environ: Mapping[str, str]) -> list[str]:
    if not plan.variables:
        return []
    file = _home(environ) / units.ENVIRONMENTS / f"{plan.unit}.env"
    return [f"put {', '.join(plan.variables)} into {file} (NAME=value, one per line), and chmod 600 it"]


def _ours(line: str, plan: Plan) -> bool:
    return line.rstrip().endswith(plan.marker)


def _crontab(environ: Mapping[str, str]) -> list[str]:
    """The lines of the user's crontab. Anything but "there is none" must stop us: writing would lose it."""
    answer = _call(["crontab", "-l"], environ)
    if answer.returncode != 0:
        if "no crontab" in answer.stderr.lower():
            return []
        raise _failed(["crontab", "-l"], answer)
    return answer.stdout.splitlines()


def _write_crontab(lines: list[str], environ: Mapping[str, str]) -> None:
    _must(["crontab", "-"], environ, "".join(f"{line}\n" for line in lines))


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or Path.home())


def _unit_folder(environ: Mapping[str, str]) -> Path:
    base = environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else _home(environ) / ".config") / "systemd" / "user"


def _must(command: list[str], environ: Mapping[str, str], text: str | None = None) -> None:
    answer = _call(command, environ, text)
    if answer.returncode != 0:
        raise _failed(command, answer)


def _call(command: list[str], environ: Mapping[str, str], text: str | None = None) -> subprocess.CompletedProcess[str]:
    program = shutil.which(command[0], path=environ.get("PATH"))
    if program is None:
        fix = "schedule it with the tools your system has; auditkit schedule prints the files"
        raise InputError(Problem(command[0], "is not installed", fix))
    try:
        return subprocess.run(
            [program, *command[1:]], input=text, env=dict(environ), capture_output=True, text=True, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        raise InputError(Problem(" ".join(command), f"did not end within {TIMEOUT} s")) from None
    except OSError as error:
        raise InputError(Problem(program, f"cannot be started: {error.strerror or error}")) from None


def _failed(command: list[str], answer: subprocess.CompletedProcess[str]) -> InputError:
    reason = next(iter(answer.stderr.strip().splitlines()), f"exit code {answer.returncode}")
    return InputError(Problem(" ".join(command), f"failed: {reason}"))
