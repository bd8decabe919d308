"""The frontier of six points without the group beside the one with it, on exports of growing size: processor time."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import auditkit
from auditkit.data.firm_history import History
from auditkit.fitting.fitted import Fitted
from auditkit.model.session import Session
from auditkit.rules.blind_frontier import frontier_points
from auditkit.rules.find import most_affected
from benchmarks.bench_report import export
from benchmarks.timing import processor_time

SIZES = (60, 240)
"""Requisitions; other numbers can be named on the command line."""


def timed(history: History, aware: bool) -> tuple[float, float]:
    """Seconds of the laws, and of the frontier."""
    fitted: list[Fitted] = []
    laws = processor_time(lambda: fitted.append(auditkit.fit(history, group_aware=aware)))
    pair, _ = most_affected(fitted[0], "Gender", "selection")
    assert pair is not None
    with Session():
        return laws, processor_time(lambda: frontier_points(fitted[0].instance, pair))


def main() -> None:
    print("## Frontiers of six points\n")
    print("| rows | laws: without the group, with it | frontier: without the group, with it | both, ratio |")
    print("| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        for requisitions in map(int, sys.argv[1:] or SIZES):
            rows, history = export(requisitions, path), auditkit.read(path)
            _, _, blind, aware = (timed(history, seen) for seen in (False, True, False, True))  # the first compile
            ratio = sum(blind) / sum(aware)
            laws, points = (f"{one:.2f}, {other:.2f} s" for one, other in zip(blind, aware, strict=True))
            print(f"| {rows:,} | {laws} | {points} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
