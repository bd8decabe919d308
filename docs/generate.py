"""Write the pages that the program itself knows best: the command line (cli.md) and the JSON Schemas (schemas/).

python docs/generate.py [--check]
python docs/generate.py --study FOLDER     (study.md and its charts, from the output of `auditkit study`)
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from auditkit import plugin_manager
from auditkit.cli import commands, json_schemas
from auditkit.cli.group import shipped_commands
from auditkit.plugins.study.catalogue import STUDIES
from auditkit.plugins.study.make_study import INTRO

HERE = Path(__file__).resolve().parent
WIDTH = 100

HEAD = """\
# Command line

Written by `make docs` from the program itself: this is what `--help` says. The [tutorial](tutorial.md) shows the
commands at work; [formats](formats.md) says what the files hold.

| exit code | means |
| --- | --- |
| 0 | done, nothing above a threshold |
| 1 | done, and there is a finding: a threshold was crossed, constraints conflict, a check of `verify` failed |
| 2 | the input, the configuration or a plugin is wrong: the message says where and how to fix it; no file is touched |
| 3 | a defect of auditkit |
| 4 | `verify`: every check passed, but a part of the file, which is named, could not be checked |

Results go to standard output, progress and reasons to standard error.
"""


def command_line() -> str:
    """Every command that ships, with what it says of itself."""
    width = {"terminal_width": WIDTH, "max_content_width": WIDTH}
    root = click.Context(commands, info_name="auditkit", **commands.context_settings, **width)
    parts = [HEAD]
    for name, text in _helps(root, [*commands.commands, *shipped_commands()]):
        parts.append(f"\n## {name}\n\n```text\n{text.rstrip()}\n```\n")
    return "".join(parts)


def _helps(context: click.Context, names: list[str]) -> Iterator[tuple[str, str]]:
    group = context.command
    assert isinstance(group, click.Group)
    for name in names:
        command = group.get_command(context, name)
        assert command is not None, name
        if command.hidden:
            continue
        inner = click.Context(command, parent=context, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH)
        yield inner.command_path, command.get_help(inner)
        if isinstance(command, click.Group):
            yield from _helps(inner, list(command.commands))


def contents() -> dict[Path, str]:
    """Every generated file."""
    shipped = plugin_manager.shipped()
    files = {HERE / "schemas" / f"{name}.json": json_schemas.text(name, shipped) for name in json_schemas.FILES}
    return {HERE / "cli.md": command_line(), **files}


def study(folder: Path) -> None:
    """One page of all studies that were run into a folder, with a table of what agrees with the paper."""
    sections = [(folder / f"{name}.md").read_text(encoding="utf-8") for name in STUDIES]
    rows = []
    for one, section in zip(STUDIES.values(), sections, strict=True):
        found = [str(section.count(f"| {verdict} |\n") or "") for verdict in ("agrees", "within error", "differs")]
        rows.append(f"| [{one.title}](#{anchor(section)}) | {' | '.join(found)} |\n")
    summary = "| study | agrees | within error | differs |\n| --- | --- | --- | --- |\n" + "".join(rows)
    text = f"# The paper's numerical study\n\n{INTRO}\n\n{summary}\n" + "\n".join(sections)
    (HERE / "study.md").write_text(re.sub(r"\]\(([\w-]+\.svg)\)", r"](study/\1)", text), encoding="utf-8")
    (HERE / "study").mkdir(exist_ok=True)
    for name in STUDIES:
        shutil.copyfile(folder / f"{name}.svg", HERE / "study" / f"{name}.svg")


def anchor(section: str) -> str:
    """What GitHub and Sphinx call the first heading of a section."""
    heading = section.partition("\n")[0].lstrip("# ").lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def main() -> int:
    if "--study" in sys.argv:
        study(Path(sys.argv[sys.argv.index("--study") + 1]))
        return 0
    stale = {
        path: text for path, text in contents().items() if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    for path, text in stale.items():
        print(
            f"{path.relative_to(HERE.parent)}", "is not what the program says" if "--check" in sys.argv else "written"
        )
        if "--check" not in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
