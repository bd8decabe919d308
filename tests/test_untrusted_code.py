"""Themes, settings and names from others run nothing: sandboxed templates, folders beside the file, quoted texts."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from auditkit.config import choose, read
from auditkit.errors import InputError
from auditkit.report import html
from auditkit.scheduled import units
from auditkit.scheduled.recurrence import parse
from support.report_example import report as example

ESCAPES = (
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ data_uri.func.__globals__['__builtins__']['open']('/etc/passwd').read() }}",
    "{{ cell.__code__ }}",
    "{{ document.sections.update({'firm': 1}) }}",
    "{{ document.parse_file('/etc/passwd') }}",
    "{{ document.model_construct() }}",
    "{{ document.model_fields_set.clear() }}",
    "{% set f = 'a'.format %}{{ '{0.__class__}'.format(cell) }}",
    "{{ range(1000000000) | list }}",
    "{{ self._TemplateReference__context.environment }}",
    "{{ 2 ** 99999 }}",
    "{{ ''|attr('_' ~ '_class_' ~ '_') }}",
    "{% include '../passwords' %}",
)


@pytest.mark.parametrize("attack", ESCAPES)
def test_a_theme_runs_in_a_sandbox(tmp_path: Path, attack: str) -> None:
    (tmp_path / "report.html").write_text(attack)
    with pytest.raises(InputError, match=r"report\.html"):
        html.render(example(), template_dir=tmp_path)


def test_a_link_in_a_theme_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "passwords").write_text("s3cr3t")
    (tmp_path / "theme").mkdir()
    (tmp_path / "theme" / "logo.html").symlink_to(tmp_path / "passwords")
    (tmp_path / "theme" / "report.html").write_text("{% include 'logo.html' %}")
    with pytest.raises(InputError, match=r"there is no template logo\.html"):
        html.render(example(), template_dir=tmp_path / "theme")


def test_a_theme_that_only_writes_is_written(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("{{ document.input.path.upper() }} {{ document.steps | list | length > 1 }}")
    assert html.render(example(), template_dir=tmp_path).endswith("True")


@pytest.mark.parametrize("folder", ["../theme", "/tmp/theme", "link"])
def test_templates_that_settings_name_lie_beside_them(tmp_path: Path, folder: str) -> None:
    home = tmp_path / "audit"
    (home / "own").mkdir(parents=True)
    (tmp_path / "theme").mkdir()
    (home / "link").symlink_to(tmp_path / "theme")
    file = home / "audit.toml"
    file.write_text(f'[report]\ntemplate_dir = "{folder}"\n')
    with pytest.raises(InputError, match="is outside the folder of this file"):
        read(file)
    with pytest.raises(InputError, match="confirm it with --template-dir"):
        choose(file, {})
    assert choose(file, {"template_dir": tmp_path / "theme"}).report.template_dir == tmp_path / "theme"
    file.write_text('[report]\ntemplate_dir = "own"\n')
    assert read(file).report.template_dir == home / "own"


NAMES = (
    "a'; touch pwned; '",
    "$(touch pwned)",
    "`touch pwned`",
    '"; touch pwned; "',
    "${{ github.token }}",
    "-rf",
    "%n\\",
)


def plan(audit: Path, name: str, folder: Path | None = None, python: str = "/opt/x/bin/python") -> units.Plan:
    return units.Plan(audit, name, parse("monday@06:00"), folder or audit.parent / "audits", (), (), python)


@pytest.mark.parametrize("name", NAMES)
def test_texts_for_other_systems_quote_every_name(tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    home.mkdir()
    (tmp_path / ".git").mkdir()
    audit = home / "audit.toml"
    audit.touch()
    made = plan(audit, f"{name}\nExecStart=/bin/false")
    words = shlex.split(units.written(made, "script").splitlines()[-1])
    assert words[:3] == ["exec", ".venv-auditkit/bin/auditkit", "run"]
    assert (tmp_path / words[3]).resolve() == audit
    assert not words[3].startswith("-")
    for line in units.written(made, "github").splitlines():
        rest = line.replace("${{ '${{' }}", "").replace("${{ github.run_id }}", "")
        assert "${{" not in rest, line
    run = next(line for line in units.written(made, "github").splitlines() if "auditkit run" in line)
    shell = json.loads(run.partition("run: ")[2]).replace("${{ '${{' }}", "${{")
    assert (tmp_path / shlex.split(shell)[2]).resolve() == audit
    for text in (units.service(made), units.timer(made)):
        assert [line for line in text.splitlines() if line.startswith("ExecStart=")] in (
            [],
            [f"ExecStart={' '.join(map(units.systemd_quoted, made.command))}"],
        )
        description = next(line for line in text.splitlines() if line.startswith("Description="))
        assert (len(description) - len(description.rstrip("\\"))) % 2 == 0  # no continuation line


@pytest.mark.parametrize("place", ["folder", "audit"])
def test_a_line_break_in_a_folder_is_refused(tmp_path: Path, place: str) -> None:
    odd = tmp_path / "a\ntouch pwned\nb"
    with pytest.raises(InputError, match="a character that no schedule can hold"):
        plan(odd / "audit.toml" if place == "audit" else tmp_path / "audit.toml", "x", odd)


def test_a_schedule_starts_what_is_installed_and_no_module_of_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "auditkit.py").write_text("raise SystemExit('the module of the working folder')")
    (tmp_path / "click.py").write_text("raise SystemExit('the module of the working folder')")
    for python in (sys.executable, str(tmp_path / "bin" / "python")):
        made = plan(tmp_path / "audit.toml", "x", python=python)
        program: list[Any] = made.program
        if python != sys.executable:
            assert program == [python, "-P", "-m", "auditkit"]
            program[0] = sys.executable
        done = subprocess.run([*program, "--version"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("auditkit ")
