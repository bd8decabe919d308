"""`auditkit study NAME`: compute missing instances, write CSV, SVG and Markdown, compare with the paper."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="study")
@click.argument("name", metavar="NAME")
@click.option(
    "--instances",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="instances per point of the parity studies (others use a share of it, the budget table 20 times as many)",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="of the random instances")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("study"),
    show_default=True,
    help="folder to write to",
)
@click.option("--jobs", type=click.IntRange(min=1), help="processes (default: as many as there are cores)")
@click.option("-q", "--quiet", is_flag=True, help="no progress on stderr")
def study(name: str, instances: int, seed: int, output: Path, jobs: int | None, quiet: bool) -> int:
    """Repeat the paper's numerical study: NAME of one study, `all`, or `list`.

    Writes NAME.csv, NAME.svg and NAME.md into the folder and keeps finished instances there: a stopped run resumes
    where it left off, and asking for more instances computes only the new ones.
    """
    from auditkit.plugins.study.catalogue import STUDIES, chosen

    if name == "list":
        for one in STUDIES.values():
            click.echo(f"{one.name:16} {one.title} ({one.paper})")
        return 0
    studies = chosen(name)
    from auditkit.plugins.study.make_study import make

    for one, verdicts in make(studies, output, seed, instances, jobs, quiet):
        said = ", ".join(f"{verdicts.count(v)} {v}" for v in ("agrees", "within error", "differs") if v in verdicts)
        click.echo(f"{one.name:16} {said or 'nothing to compare'}  -> {output / one.name}.md")
    return 0
