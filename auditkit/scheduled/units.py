"""The texts that have a system run an audit: systemd units, a crontab line, CI jobs. Paths are absolute and quoted."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from auditkit import __version__
from auditkit.errors import InputError, Problem
from auditkit.report.pdf import PACKAGES
from auditkit.scheduled.recurrence import Recurrence
from auditkit.text import printable

WAIT = "600"
ENVIRONMENTS = ".config/auditkit"
PINS = "requirements-audit.txt"
HASHED = "--require-hashes --only-binary :all: -r"
HOW_TO_PIN = (
    f"{PINS} names auditkit and all that it needs, with versions and hashes; pip refuses anything else.",
    f"To make it: echo auditkit=={__version__} | pip-compile --generate-hashes -o {PINS} - (of pip-tools)",
)


SANDBOX = (
    "# artefacts and history are for this user alone",
    "UMask=0077",
    "NoNewPrivileges=true",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
    "RestrictNamespaces=true",
    "RestrictRealtime=true",
    "RestrictSUIDSGID=true",
    "LockPersonality=true",
    "SystemCallArchitectures=native",
    "SystemCallFilter=@system-service",
)
"""What systemd keeps from the service, by means that a user's own manager has (seccomp). The network stays, for
databases and alerts, and memory may be written and run, because numba compiles."""


@dataclass(frozen=True)
class Plan:
    """An audit, when it runs, and the names of the environment variables that it needs."""

    audit: Path
    name: str
    recurrence: Recurrence
    folder: Path
    variables: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    python: str = sys.executable

    def __post_init__(self) -> None:
        if odd := [text for text in (*self.command, str(self.folder), self.recurrence.text) if not text.isprintable()]:
            raise InputError(Problem(repr(odd[0]), "has a character that no schedule can hold", "rename it"))

    @property
    def unit(self) -> str:
        """A name for files: of the audit, and unlike that of any other audit."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")[:40] or "audit"
        return f"auditkit-{slug}-{hashlib.sha256(str(self.audit).encode()).hexdigest()[:8]}"

    @property
    def command(self) -> list[str]:
        return [*self.program, "run", str(self.audit), "--wait", WAIT, "--quiet", *self.arguments]

    @property
    def program(self) -> list[str]:
        """The installed command; `-m` alone would import modules from whatever folder it is started in."""
        installed = Path(self.python).with_name("auditkit")
        return [str(installed)] if installed.is_file() else [self.python, "-P", "-m", "auditkit"]

    @property
    def marker(self) -> str:
        return f"# {self.unit}"


def service(plan: Plan) -> str:
    """A systemd service that runs the audit once."""
    lines = [
        "[Unit]",
        f"Description=auditkit: {_line(plan.name)}",
        "",
        "[Service]",
        "Type=oneshot",
        f"ExecStart={' '.join(map(systemd_quoted, plan.command))}",
        "# 1 is a finding: the audit went through, and its alerts tell",
        "SuccessExitStatus=1",
        *SANDBOX,
    ]
    if plan.variables:
        lines += [
            f"# NAME=value, one in a line, readable by you alone: {', '.join(plan.variables)}",
            f"EnvironmentFile=-%h/{ENVIRONMENTS}/{plan.unit}.env",
        ]
    return "\n".join(lines) + "\n"


def timer(plan: Plan) -> str:
    """The systemd timer of the service; a run that was slept through is made up for."""
    lines = [
        "[Unit]",
        f"Description=auditkit: {_line(plan.name)}, {_line(plan.recurrence.text)}",
        "",
        "[Timer]",
        *(f"OnCalendar={event}" for event in plan.recurrence.calendar),
        "Persistent=true",
        "",
        "[Install]",
        "WantedBy=timers.target",
    ]
    return "\n".join(lines) + "\n"


def systemd_quoted(text: str) -> str:
    """One word of ExecStart=; specifiers and variables lose their meaning."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{escaped.replace("%", "%%")}"'


def _line(text: str) -> str:
    """Free text for a unit: one line, no specifiers."""
    return printable(" ".join(text.split())).replace("\\", "\\\\").replace("%", "%%")


def crontab(plan: Plan) -> str:
    """One line of a crontab, with a comment by which it is found again."""
    command = f"umask 077; {shlex.join(plan.command)}"
    if plan.variables:
        file = f'"$HOME/{ENVIRONMENTS}/{plan.unit}.env"'
        command = f"set -a; [ ! -r {file} ] || . {file}; set +a; {command}"
    return f"{plan.recurrence.cron} {command} {plan.marker}".replace("%", r"\%") + "\n"


def github(plan: Plan) -> str:
    """A GitHub Actions workflow. JSON strings are YAML strings, whatever is in them."""
    audit, root = _in_repository(plan.audit)
    pins = _pins(audit)
    folder = plan.folder.relative_to(root).as_posix() if plan.folder.is_relative_to(root) else str(plan.folder)
    run = f"auditkit run {shlex.join([audit, *plan.arguments])}"
    lines = [
        f"# .github/workflows/{plan.unit}.yml; GitHub's clock is UTC",
        f"name: {_yaml(f'Disparity audit: {plan.name}')}",
        "on:",
        "  schedule:",
        f"    - cron: {json.dumps(plan.recurrence.cron)}",
        "  workflow_dispatch:",
        "permissions:",
        "  contents: read",
        "concurrency:",
        f"  group: {json.dumps(plan.unit)}",
        "  cancel-in-progress: false",
        "jobs:",
        "  audit:",
        "    runs-on: ubuntu-latest",
        "    steps:",
        "      - uses: actions/checkout@v4",
        "      - uses: actions/setup-python@v5",
        "        with:",
        '          python-version: "3.12"',
        f"      - run: sudo apt-get update && sudo apt-get install -y {' '.join(PACKAGES)}",
        *(f"      # {line}" for line in HOW_TO_PIN),
        f"      - run: {_yaml(f'python -I -m pip install {HASHED} {shlex.quote(pins)}')}",
        "      # the history of earlier runs; with PostgreSQL (database_env) it needs no cache",
        "      - uses: actions/cache@v4",
        "        with:",
        f"          path: {_yaml(folder)}",
        f"          key: {json.dumps(plan.unit + '-${{ github.run_id }}')}",
        f"          restore-keys: {json.dumps(plan.unit + '-')}",
        f"      - run: {_yaml(run)}",
    ]
    if plan.variables:
        lines.append("        env:")
        lines += [f"          {name}: {json.dumps('${{ secrets.' + name + ' }}')}" for name in plan.variables]
    lines += [
        "      - uses: actions/upload-artifact@v4",
        "        if: always()",
        "        with:",
        f"          name: {json.dumps(plan.unit)}",
        f"          path: {_yaml(folder)}",
    ]
    return "\n".join(lines) + "\n"


def _yaml(text: str) -> str:
    """A string of YAML in which GitHub finds no expression."""
    return json.dumps(text.replace("${{", "${{ '${{' }}"))


def script(plan: Plan) -> str:
    """A job for any other CI: a POSIX shell script, to be run at the root of the repository."""
    audit, root = _in_repository(plan.audit)
    folder = plan.folder.relative_to(root).as_posix() if plan.folder.is_relative_to(root) else str(plan.folder)
    pins = _pins(audit)
    how = "".join(f"# {line}\n" for line in HOW_TO_PIN)
    needs = f"# Secrets to set as variables of the job: {', '.join(plan.variables)}\n" if plan.variables else ""
    return (
        f"#!/bin/sh\n# Schedule (cron, the clock of the CI): {plan.recurrence.cron}\n"
        f"# Keep this folder from run to run, it holds the history: {folder}\n{needs}"
        "# Exit code: 0 nothing above a threshold, 1 a finding, 2 input or configuration, 3 a defect of auditkit\n"
        "# -I: no module of the repository takes the place of an installed one\n"
        f"{how}set -eu\numask 077\npython3 -I -m venv .venv-auditkit\n"
        f".venv-auditkit/bin/python -I -m pip install -q {HASHED} {shlex.quote(pins)}\n"
        f"exec .venv-auditkit/bin/auditkit run {shlex.join([audit, *plan.arguments])}\n"
    )


def _pins(audit: str) -> str:
    """The file beside the audit that pins what is installed."""
    return (PurePosixPath(audit).parent / PINS).as_posix()


def _in_repository(audit: Path) -> tuple[str, Path]:
    """The path of the audit within its git repository, and the repository; else within its own folder."""
    root = next((folder for folder in audit.parents if (folder / ".git").exists()), audit.parent)
    within = audit.relative_to(root).as_posix()
    return (f"./{within}" if within.startswith("-") else within), root


def everything(plan: Plan) -> dict[str, Sequence[tuple[str, str]]]:
    """Each way of scheduling: titles and texts."""
    return {
        "systemd": [
            (f"systemd service, ~/.config/systemd/user/{plan.unit}.service", service(plan)),
            (f"systemd timer, ~/.config/systemd/user/{plan.unit}.timer", timer(plan)),
        ],
        "cron": [("crontab line, for crontab -e", crontab(plan))],
        "github": [(f"GitHub Actions, .github/workflows/{plan.unit}.yml", github(plan))],
        "script": [("any other CI: a shell script", script(plan))],
    }
