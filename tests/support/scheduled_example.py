"""A scheduled audit for the tests: a report document with counts of choice, and a job that needs no solver."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

from auditkit import __version__
from auditkit.report.load_report import load
from auditkit.report.schema import FORMAT, Report
from auditkit.scheduled import artefacts, settings
from auditkit.scheduled.audit_run import Done, Job
from auditkit.scheduled.audit_run import run as run_once
from auditkit.scheduled.run_history import Run, opened
from support import report_example

BEGIN = datetime(2026, 11, 16, 6, 0, tzinfo=UTC)
COUNTS = {"Black": (305, 9), "White": (704, 64)}


ATTRIBUTE, STEPS = "Ethnicity", ("Interviewed", "Hired")
INTERVIEWED = {"Black": (305, 40), "Hispanic": (118, 22), "White": (704, 190)}
HIRED = {"Black": (305, 9), "Hispanic": (118, 7), "White": (704, 64)}
CROSSED = {"Female+Black": (150, 2), "Male+White": (350, 36)}
LABELS = {"parity": (0.96, 120.0), "quota Black": (0.99, 30.0), "all together": (0.95, 150.0)}


def table(step: str, counts: Mapping[str, tuple[int, int]], attribute: str = ATTRIBUTE) -> dict[str, Any]:
    """A table of `disparity` with these (applicants, selected); the highest rate is the reference."""
    reference = max(counts, key=lambda g: Fraction(counts[g][1], counts[g][0]))
    m, y = counts[reference]
    groups = [
        {
            "group": group,
            "applicants": n,
            "selected": x,
            "rate": x / n,
            "impact_ratio": float(Fraction(x * m, n * y)) if y else None,
            "status": "reference"
            if group == reference
            else "too_little_evidence"
            if group == "Hispanic"
            else "difference_below_line",
            **dict.fromkeys(("share", "interval", "p", "p_adjusted", "detectable_ratio", "within", "shortfall")),
        }
        for group, (n, x) in counts.items()
    ]
    crossing = "+" in attribute
    about = {"attribute": attribute, "step": step, "kind": "cumulative", "crossing": crossing, "unknown": 0}
    totals = {key: sum(row[key] for row in groups) for key in ("applicants", "selected")}  # type: ignore[misc]
    omnibus = {"p_adjusted": None, "open": False, "pooled": None, "stratified": None}
    return {**about, **totals, "reference": reference, "groups": groups, "omnibus": omnibus}


def policy(utility: float, left_open: float, **more: Any) -> dict[str, Any]:
    numbers = {
        group: {"candidates": n, "inspected": INTERVIEWED[group][1], "selected": x} for group, (n, x) in HIRED.items()
    }
    return {"utility": utility, "by_group": {ATTRIBUTE: numbers}, "unfilled_capacity": left_open, **more}


def document(counts: Mapping[str, tuple[int, int]] | None = None, **parts: Any) -> dict[str, Any]:
    """What is remembered of a report; with these numbers of hired, and with parts replaced."""
    hired = table(STEPS[1], counts or HIRED)
    tables = [table(STEPS[0], INTERVIEWED), hired, {**hired, "kind": "conditional", "groups": []}]
    constrained = [
        policy(
            2880.0,
            0.5,
            label=label,
            status="optimal",
            **dict.fromkeys(("ex_post_slack", "unfilled", "bound", "duals")),
            specs=[],
            conflict=[],
            gap=1e-9,
            price_of_fairness={
                "ratio": kept,
                "loss": loss,
                "interval": {"level": 0.95, "ratio": [kept - 0.01, kept + 0.01], "loss": [loss - 5, loss + 5]},
            },
        )
        for label, (kept, loss) in LABELS.items()
    ]
    made: dict[str, Any] = {
        "format": FORMAT,
        "version": __version__,
        "created": "2026-11-16T06:00:00Z",
        "input": {"path": "people.csv", "rows": 1127, "sha256": "a" * 64},
        "problems": {"total": 29, "by_code": [], "counts": {"read": 1127, "used": 1127, "left": {}}},
        "steps": list(STEPS),
        "firm": policy(2500.0, 9, capacity=89),
        "unconstrained": policy(3000.0, 0.5),
        "constrained": constrained,
        "disparity": {
            "tables": [*tables, table(STEPS[1], CROSSED, "Gender+Ethnicity")],
            "attributes": [ATTRIBUTE],
            "crossings": ["Gender+Ethnicity"],
            "steps": list(STEPS),
            **{"applicants": 1127, "undecided": 0, "level": 0.05, "line": 0.8, "alpha": 0.05, "minimum_share": 0.02},
        },
        "provenance": {"python": "3.11.7", "platform": "Linux x86_64"},
    }
    return {**report_example.document(), **made, **parts}


class FakeJob:
    """Reads `data.csv`, whose text is JSON with the counts; counts how often it computes."""

    def __init__(self, data: Path) -> None:
        self.data, self.computed = data, 0
        self.findings: list[dict[str, Any]] | None = None
        self.write(COUNTS)

    def write(self, counts: Mapping[str, tuple[int, int]]) -> None:
        self.data.write_text(json.dumps(counts))

    def fingerprint(self) -> str:
        return hashlib.sha256(self.data.read_bytes()).hexdigest()

    def produce(self) -> tuple[Report, dict[str, bytes]]:
        self.computed += 1
        counts = {group: tuple(pair) for group, pair in json.loads(self.data.read_text()).items()}
        source = {"path": self.data.name, "rows": 1009, "sha256": self.fingerprint()}
        made = document(counts, input=source, **({} if self.findings is None else {"findings": self.findings}))
        text = json.dumps(made).encode()
        return load(made), {
            "report.html": b"<p>" + text[:2000],
            "report.pdf": b"%PDF" + text[:9000],
            "report.json": text,
        }

    @property
    def job(self) -> Job:
        return Job(self.fingerprint, self.produce)


class Scheduled:
    """An audit.toml in a folder, a clock that goes on by a week at each run, and what was said."""

    def __init__(self, folder: Path, toml: str = "", **options: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "audit.toml"
        self.path.write_text(toml)
        self.fake = FakeJob(folder / "data.csv")
        self.now = BEGIN
        self.said: list[str] = []
        self.environ: dict[str, str] = {}
        self.options = options

    @property
    def settings(self) -> settings.AuditSettings:
        return settings.read(self.path)

    @property
    def folder(self) -> Path:
        return self.settings.folder

    def run(self, channels: tuple[Any, ...] = (), **options: Any) -> Done:
        try:
            return run_once(
                self.settings,
                self.fake.job,
                channels,
                self.environ,
                now=lambda: self.now,
                **{"say": self.said.append, **self.options, **options},
            )
        finally:
            self.now += timedelta(weeks=1)

    def dated(self) -> list[str]:
        """The folders of artefacts that are in place."""
        return sorted(p.name for p in self.folder.iterdir() if p.is_dir() and not p.name.startswith("."))


def runs(audit: Scheduled) -> list[Run]:
    with opened(audit.settings.database(audit.environ), create=False) as store:
        return store.runs(audit.settings.name)


def consistent(audit: Scheduled) -> None:
    """At any moment: the history opens, and every recorded run that was not removed has all of its artefacts."""
    for run in runs(audit):
        if run.removed is None:
            assert artefacts.intact(audit.folder, run.folder, run.artefacts), run


def complete(audit: Scheduled) -> None:
    """After a run: nothing is left over either."""
    consistent(audit)
    assert not [p.name for p in audit.folder.iterdir() if p.name.startswith((".writing", ".pending", ".removing"))]
    assert set(audit.dated()) == {run.folder for run in runs(audit) if run.removed is None}


Maker = Callable[..., Scheduled]
