"""What differs between two runs: where the figures come from, the figures, and the lines that they cross."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from auditkit.errors import InputError, Problem
from auditkit.scheduled.audit_run import CONFIGURATION
from auditkit.scheduled.run_history import Run
from auditkit.text import amount, count, percent, ratio

FORMAT = "auditkit-history-diff/1"


@dataclass(frozen=True)
class Change:
    """One figure in both runs; None where a run does not have it."""

    part: str
    subject: str
    figure: str
    before: float | None
    after: float | None
    before_text: str
    after_text: str

    @property
    def change(self) -> float | None:
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True)
class Difference:
    """`figures` has those that differ; crossings are compared by threshold and subject."""

    first: int
    second: int
    provenance: tuple[tuple[str, str, str], ...]
    configuration: tuple[str, ...]
    figures: tuple[Change, ...]
    new_crossings: tuple[str, ...]
    gone_crossings: tuple[str, ...]


def find(runs: list[Run], name: str) -> Run:
    """A run by its number, a date (the last run of that day), `latest` or `previous`."""
    if not runs:
        raise InputError("there are no runs yet")
    if name in ("latest", "previous"):
        if name == "previous" and len(runs) < 2:
            raise InputError("there is no previous run yet")
        return runs[-1 if name == "latest" else -2]
    found = [run for run in runs if str(run.id) == name or (len(name) >= 10 and run.created.startswith(name))]
    if not found:
        known = f"runs {runs[0].id} to {runs[-1].id}, a date such as {runs[-1].created[:10]}, latest, previous"
        raise InputError(Problem(f"run {name!r}", "there is no such run", f"known: {known}"))
    return found[-1]


def compare(first: Run, second: Run, folder: Path) -> Difference:
    """The second run against the first."""
    sources = (
        ("data", first.figures.data_path, second.figures.data_path),
        ("rows", count(first.figures.rows), count(second.figures.rows)),
        ("SHA-256 of the data", first.data_sha256, second.data_sha256),
        ("SHA-256 of the configuration", first.config_sha256, second.config_sha256),
        ("auditkit", first.figures.version, second.figures.version),
        ("Python", first.figures.python, second.figures.python),
        ("platform", first.figures.platform, second.figures.platform),
    )
    old, new = first.figures.numbers, second.figures.numbers
    changes = []
    for key in dict.fromkeys([*old, *new]):
        before, after = old.get(key), new.get(key)
        if before != after:
            form = _form(key[2])
            changes.append(Change(*key, before, after, form(before), form(after)))
    crossed = [{(c.threshold, c.subject): c.words for c in run.crossings} for run in (first, second)]
    return Difference(
        first.id,
        second.id,
        tuple((name, str(a or "unknown"), str(b or "unknown")) for name, a, b in sources if a != b),
        _configuration(first, second, folder),
        tuple(changes),
        tuple(words for key, words in crossed[1].items() if key not in crossed[0]),
        tuple(words for key, words in crossed[0].items() if key not in crossed[1]),
    )


def document(difference: Difference) -> dict[str, object]:
    found = {"format": FORMAT, **asdict(difference)}
    found["figures"] = [
        {"part": c.part, "subject": c.subject, "figure": c.figure, "before": c.before, "after": c.after}
        for c in difference.figures
    ]
    return found


def _form(figure: str) -> Callable[[float | None], str]:
    if figure == "impact_ratio":
        return lambda x: ratio(x, 0.8)
    if figure in ("rate", "ratio"):
        return lambda x: percent(x, 2)
    return count if figure in ("applicants", "selected", "candidates", "inspected") else amount


def _configuration(first: Run, second: Run, folder: Path) -> tuple[str, ...]:
    """The lines of the configuration that differ, while the artefacts of both runs are there."""
    if first.config_sha256 == second.config_sha256:
        return ()
    try:
        texts = [(folder / run.folder / CONFIGURATION).read_text(encoding="utf-8-sig") for run in (first, second)]
    except (OSError, UnicodeDecodeError):
        return ()
    old, new = (text.splitlines() for text in texts)
    names = (f"run {first.id}", f"run {second.id}")
    return tuple(difflib.unified_diff(old, new, *names, n=1, lineterm=""))
