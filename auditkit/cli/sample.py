"""`auditkit sample`: the sample data that come with the program, and larger data of the same kind."""

from __future__ import annotations

from pathlib import Path

import click

from auditkit.cli.options import DONE
from auditkit.errors import InputError, Problem, nearest


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="the folder to copy into (default: this one), or the file to write",
)
@click.option(
    "--searches", metavar="N", type=click.IntRange(min=1), help="write a file with N searches like hiring.csv"
)
@click.option("--seed", metavar="S", type=click.IntRange(min=0), help="seed of the random numbers of --searches")
@click.option("--no-differences", is_flag=True, help="with --searches: don't plant differences between groups")
@click.option("--force", is_flag=True, help="overwrite existing files")
def sample(
    names: tuple[str, ...],
    output: Path | None,
    searches: int | None,
    seed: int | None,
    no_differences: bool,
    force: bool,
) -> int:
    """Copy sample data here, or write larger data of the same kind.

    Without a NAME, list the samples. With --searches, write applications to N searches, about 25 each, to the file
    named with -o. All people and firms are invented.
    """
    from auditkit.sample_data import FILES, content

    if searches is not None:
        if names or output is None:
            raise InputError(Problem("--searches", "writes one new file", "name it with -o and leave out NAME"))
        _write(searches, seed, output, no_differences, force)
        return DONE
    if seed is not None or no_differences:
        raise InputError(Problem("--seed, --no-differences", "are for generated data", "add --searches N"))
    if not names:
        from auditkit.cli.output import print_table

        print_table(["name", "what"], [[name, what] for name, what in FILES.items()])
        return DONE
    problems = [Problem(name, "there is no such sample", nearest(name, FILES)) for name in names if name not in FILES]
    one_file = len(names) == 1 and output is not None and not output.is_dir()
    if len(names) > 1 and output is not None and not output.is_dir():
        problems.append(Problem(str(output), "is not a folder", "make it first"))
    folder = output or Path()
    places = {name: output if one_file and output is not None else folder / name for name in names}
    if not force:
        problems += [_there_already(path) for path in places.values() if path.exists()]
    if problems:
        raise InputError(problems)
    from auditkit.files import write_bytes

    for name, path in places.items():
        write_bytes(path, content(name))
        click.echo(f"written: {path}")
    return DONE


def _write(searches: int, seed: int | None, path: Path, no_differences: bool, force: bool) -> None:
    if path.exists() and not force:
        raise InputError(_there_already(path))
    from auditkit.files import write_chunks
    from auditkit.sample_data.generator import firm, larger

    differences = firm.LEVEL if no_differences else firm.PLANTED
    write_chunks(path, larger.csv_lines(searches, firm.SEED if seed is None else seed, differences))
    click.echo(f"written: {path}")


def _there_already(path: Path) -> Problem:
    return Problem(str(path), "already exists", "name another with -o, or overwrite it with --force")
