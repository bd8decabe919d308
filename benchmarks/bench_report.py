"""Whole commands on exports of growing size: time of the processors and peak of memory, each in a process of its own.

The exports are those of sample_data with more requisitions (about 25 applications each), so that only the size differs.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from auditkit.sample_data.generator import csv_cells, firm

SIZES = (60, 240)
"""Requisitions; other numbers can be named on the command line."""
COMMANDS = {
    "check": ["check"],
    "fit": ["fit", "-o", "instance.json", "-q"],
    "report by gender": ["report", "--map", "group=Gender", "-q"],
    "report by gender and ethnicity": ["report", "-q"],
}


def export(requisitions: int, path: Path) -> int:
    """Write an export; how many rows it has."""
    firm.REQUISITIONS = requisitions
    rows = [csv_cells.hiring_cells(application) for application in firm.hiring()]
    path.write_bytes(csv_cells.table(rows).encode())
    return len(rows)


def measure(
    arguments: list[str], folder: str, environment: dict[str, str] | None = None, program: str = "auditkit"
) -> tuple[float, float]:
    """Seconds of processor time and megabytes at the peak; with "-c" as program, of an import."""
    run = ["-c", f"import {arguments[0]}"] if program == "-c" else ["-m", program, *arguments]
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        os.execve(sys.executable, [sys.executable, *run], environment or dict(os.environ))
    _, status, usage = os.wait4(child, 0)
    assert status == 0, f"{' '.join(run)} ended with {status}"
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    print("## Whole commands on exports of growing size\n")
    print(f"| rows | requisitions | {' | '.join(COMMANDS)} |")
    print(f"| --- | --- |{' --- |' * len(COMMANDS)}")
    with tempfile.TemporaryDirectory() as folder:
        for requisitions in map(int, sys.argv[1:] or SIZES):
            rows = export(requisitions, Path(folder) / "people.csv")
            cells = []
            for command, *options in COMMANDS.values():
                seconds, megabytes = measure([command, "people.csv", *options], folder)
                cells.append(f"{seconds:.1f} s, {megabytes:,.0f} MB")
            print(f"| {rows:,} | {requisitions} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
