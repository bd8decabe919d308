"""The files that make a system run an audit: systemd units, a crontab line, CI jobs. Paths are absolute and quoted."""

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
    f"{PINS} names auditkit and everything it needs, with versions and hashes; pip refuses anything else.",
    f"To make it: echo auditkit=={__version__} | pip-compile --generate-hashes -o {PINS} - (of pip-tools)",
)


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
        """A name for the audit's files that differs from any other audit's."""
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


def written(plan: Plan, template: str) -> str:
    """A text from the templates; audit, folder and pins are as a repository names them."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("auditkit.templates", ""),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"line": _line, "quoted": systemd_quoted, "yaml": _yaml, "json": json.dumps}
    audit, root = _in_repository(plan.audit)
    folder = plan.folder.relative_to(root).as_posix() if plan.folder.is_relative_to(root) else str(plan.folder)
    return made.get_template(f"schedule_{template}.jinja").render(
        plan=plan,
        folder=folder,
        pins=shlex.quote((PurePosixPath(audit).parent / PINS).as_posix()),
        arguments=shlex.join([audit, *plan.arguments]),
        environments=ENVIRONMENTS,
        packages=PACKAGES,
        hashed=HASHED,
        how_to_pin=HOW_TO_PIN,
    )


def service(plan: Plan) -> str:
    """A systemd service that runs the audit once."""
    return written(plan, "service")


def timer(plan: Plan) -> str:
    """The systemd timer of the service; it makes up for runs missed while the machine was off."""
    return written(plan, "timer")


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


def _yaml(text: str) -> str:
    """A string of YAML in which GitHub finds no expression."""
    return json.dumps(text.replace("${{", "${{ '${{' }}"))


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
        "github": [(f"GitHub Actions, .github/workflows/{plan.unit}.yml", written(plan, "github"))],
        "script": [("any other CI: a shell script", written(plan, "script"))],
    }
