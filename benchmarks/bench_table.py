"""The one table of `make bench`: work, opponent, ratio, limit. `--write` puts it into docs/scale.md; `--large` adds
exports of 100,000 and a million rows and dask workers at a million candidates, `--million` only that of a million rows.

Times are of the processors unless the line says by the clock, each command in a process of its own, after a first run
that compiles. The opponent is in the same run, so that any machine will do: the import of the libraries that a report
uses, simulation, a smaller size, or fewer workers. Limits are aims; nothing fails on them.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
from bench_report import export, measure
from bench_scale import firm
from opponents import Boxes, monte_carlo, random_instance
from timing import best_of, processor_time

from auditkit.constraints.binding import bind
from auditkit.plugins.parity import Parity
from auditkit.solver import evaluate, start_engine
from auditkit.solver.oracle import Oracle

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = (
    "numpy, pandas, numba, scipy.optimize, scipy.special, scipy.sparse.linalg, highspy, pydantic, jinja2, rich, click"
)
SETTINGS = {"plain.toml": "[report]\nalternatives = false\n", "all.toml": ""}
SMALL = """{"format": "auditkit-instance/1", "searches": [{"id": "r", "capacity": 1, "candidates": [
 {"id": "a", "group": "X", "cost": 1.0, "values": [10, 4], "probs": [0.5, 0.5]},
 {"id": "b", "group": "Y", "cost": 1.0, "values": [9, 5], "probs": [0.5, 0.5]}]}],
 "constraints": [{"type": "parity", "basis": "count"}]}"""
EVALUATIONS = ((60, 100, 20), (2_000, 50, 100), (10_000, 20, 200))
DRAWS = 100_000
MILLION = 1_000_000
MANY_REQUISITIONS, ONE_OPENINGS = 700, 500
"""Exported, then taken for one search: about 18,000 applications for as many openings."""
BEGIN, END = "<!-- make bench -->", "<!-- end of make bench -->"


class Line(NamedTuple):
    work: str
    taken: str
    opponent: str
    ratio: str
    limit: str


def commands(folder: str) -> Iterator[Line]:
    """Whole commands on the sample."""
    here = Path(folder)
    for name, text in SETTINGS.items():
        (here / name).write_text(text)
    (here / "small.json").write_text(SMALL)
    (here / "people.csv").write_bytes((ROOT / "sample_data" / "hiring.csv").read_bytes())
    fresh = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/compiled"}
    first, _ = measure(["solve", "small.json"], folder, fresh)
    solve, _ = measure(["solve", "small.json"], folder, fresh)
    fresh = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/compiled too"}
    begin, runs = time.perf_counter(), []
    for _ in range(2):
        runs.append((*measure(["report", "people.csv", "-q"], folder, fresh), time.perf_counter() - begin))
    compiling = runs[0][0] - runs[1][0], 2 * runs[0][2] - runs[1][2]
    measure(["report", "people.csv", "-q", "--format", "html,pdf,json"], folder)  # compiles
    imports, _ = measure([LIBRARIES], folder, program="-c")
    libraries = f"import of the libraries, {imports:.1f} s"
    report, memory = measure(["report", "people.csv", "-q", "--config", "all.toml"], folder)
    yield Line("report of the sample", f"{report:.1f} s, {memory:,.0f} MB", libraries, f"{report / imports:.1f}", "4")
    plain, _ = measure(["report", "people.csv", "-q", "--config", "plain.toml"], folder)
    yield Line("the same without alternatives", f"{plain:.1f} s", libraries, f"{plain / imports:.1f}", "3")
    yield Line(
        "alternatives beside it", f"{report - plain:.1f} s more", libraries, f"{(report - plain) / imports:.1f}", "3 s"
    )
    pdf, _ = measure(["report", "people.csv", "-q", "--config", "plain.toml", "--format", "html,json,pdf"], folder)
    yield Line("PDF beside it", f"{pdf - plain:.1f} s more", libraries, f"{(pdf - plain) / imports:.1f}", "4 s")
    verify, _ = measure(["verify", "people.audit.json", "people.csv", "-q"], folder)
    yield Line("`verify` of it", f"{verify:.1f} s", f"that report, {plain:.1f} s", f"{verify / plain:.1f}", "2")
    yield Line("`solve` of two candidates", f"{solve:.1f} s", libraries, f"{solve / imports:.1f}", "1 s")
    yield Line("the first `solve` on a machine", f"{first - solve:.1f} s more", "the second", "", "8 s")
    told = f"{compiling[1]:.1f} s more by the clock, {compiling[0]:.1f} s of the processors"
    yield Line("the first report on a machine", told, "the second", "", "8 s")


def sizes(folder: str, requisitions: list[tuple[int, str]]) -> Iterator[Line]:
    """Reports of larger exports, without alternatives, by the row."""
    before: tuple[int, float] | None = None
    for number, limit in requisitions:
        rows = export(number, Path(folder) / "people.csv")
        taken, memory = measure(["report", "people.csv", "-q", "--config", "plain.toml"], folder)
        opponent, ratio = "", ""
        if before is not None:
            opponent, ratio = f"each row of {before[0]:,}", f"{taken / rows / (before[1] / before[0]):.2f}"
        yield Line(f"report of {rows:,} rows", f"{taken:.0f} s, {memory:,.0f} MB", opponent, ratio, limit)
        before = rows, taken


def one_search(folder: str) -> Iterator[Line]:
    """A report of one search, without alternatives."""
    path = Path(folder) / "people.csv"
    export(MANY_REQUISITIONS, path)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row |= {"Requisition ID": "REQ-1", "Openings": str(ONE_OPENINGS)}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    taken, memory = measure(["report", "people.csv", "-q", "--config", "plain.toml"], folder)
    yield Line(f"report of one search of {len(rows):,}", f"{taken:.0f} s, {memory:,.0f} MB", "", "", "10 s, 1 GB")


def workers() -> Iterator[Line]:
    """An evaluation of a million candidates by the clock: on one dask worker, and on two."""
    layout = firm(MILLION).layout
    oracle = Oracle(layout, bind([Parity()], layout))
    points = [np.full(len(oracle.rows), 0.01 * i) for i in range(6)]
    taken, answers = [], []
    for count in (1, 2):
        with mock.patch.object(os, "cpu_count", lambda count=count: count), start_engine.running("dask"):
            oracle.at(points[0])  # starts the workers and sends them their blocks
            taken.append(best_of(3, lambda: [oracle.at(duals) for duals in points]) / len(points))
            answers.append([oracle.at(duals).values.tolist() for duals in points])
    digits = "the same digits" if answers[0] == answers[1] else "OTHER DIGITS"
    work = f"one evaluation of {MILLION:,} candidates on two dask workers, by the clock"
    yield Line(
        work,
        f"{taken[1]:.2f} s, {digits}",
        f"one worker, {taken[0]:.2f} s",
        f"1 / {taken[0] / taken[1]:.1f}",
        "1 / 1.6",
    )


def evaluations() -> Iterator[Line]:
    """One exact evaluation against simulation."""
    for n, support, k in EVALUATIONS:
        instance = random_instance(n, support, k)
        layout, boxes = instance.layout, Boxes.of(instance)
        evaluate.visits(layout, layout.reward)
        ours = min(processor_time(partial(evaluate.visits, layout, layout.reward)) for _ in range(7))
        theirs = processor_time(partial(monte_carlo, boxes, DRAWS // 10)) * 10
        work = f"one evaluation of {n:,} candidates, {support} points, k = {k}"
        yield Line(
            work, f"{1e3 * ours:.2f} ms", f"simulation, {DRAWS:,} draws", f"1 / {theirs / ours:,.0f}", "1 / 1,000"
        )


def main() -> None:
    lines = ["| work | taken | opponent | ratio | limit |", "| --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    million = [(40_000, "480 s, 2 GB")] if {"--large", "--million"} & {*sys.argv} else []
    large = [] if "--large" not in sys.argv else [(4_000, "60 s, 700 MB")]
    with tempfile.TemporaryDirectory() as folder:
        sized = sizes(folder, [(600, "20 s"), *large, *million])
        clusters = [workers()] if "--large" in sys.argv else []
        for part in (commands(folder), evaluations(), sized, one_search(folder), *clusters):
            for line in part:
                lines.append(f"| {' | '.join(line)} |")
                print(lines[-1], flush=True)
    if "--write" in sys.argv:
        page = ROOT / "docs" / "scale.md"
        head, _, rest = page.read_text().partition(BEGIN)
        page.write_text("\n".join([head + BEGIN, *lines, END + rest.partition(END)[2]]))


if __name__ == "__main__":
    main()
