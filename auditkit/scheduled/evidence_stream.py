"""Evidence over time: the e-processes of `auditkit.disparity.sequential`, carried from run to run.

`evidence.json` beside a run's report has, for each attribute, decision and group, the sums needed to go on, and for
every requisition counted so far a fingerprint of the set it was counted in: no person, and no count. A requisition
counts in the first run in which it's closed, or, if too few of a group applied, with others in a later run. If the
counts of a set are different now, old data were corrected: the process starts over from all requisitions of the new
data, and says so. Requisitions that are no longer exported stay counted.

Groups of a decision are averaged: an average of e-processes is one. Of m decisions with e-values e_(1) >= ... >= e_(m)
the first k are alarms, with the largest k for which e_(k) >= 20 m / k (e-BH; Wang and Ramdas). On average at most 5 %
of alarms are false, however the decisions depend on each other. And e_(k) >= 20 m / k makes the average of all at least
20: so without any difference an audit ever raises an alarm with a chance of at most 5 %.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from auditkit.disparity.sequential import ALARM, GRID, Closings, StreamName, confidence_sequence, e_value, summed
from auditkit.report.thresholds import Crossing
from auditkit.scheduled.run_history import Run
from auditkit.text import amount, plural

FILE = "evidence.json"
FORMAT = "auditkit-evidence/3"


@dataclass(frozen=True)
class Stream:
    """One group against everyone else in one decision, over all requisitions counted so far."""

    name: StreamName
    log: tuple[float, ...]
    requisitions: int

    @property
    def e(self) -> float:
        return e_value(np.array(self.log))

    @property
    def interval(self) -> tuple[float, float | None]:
        """A confidence sequence for the odds ratio: valid at all times simultaneously."""
        return confidence_sequence(np.array(self.log))


@dataclass(frozen=True)
class EvidenceOverTime:
    """The evidence of an audit at one run."""

    streams: tuple[Stream, ...]
    counted: Mapping[str, str]
    """Attribute and requisition, hashed -> fingerprint of the set that it was counted in."""
    since: str
    """The run at which the process began, or began again."""
    restarted: str | None = None
    """Why it began again."""

    def decisions(self) -> list[tuple[str, str, float]]:
        """Attribute, step and e-value of each decision: the average over its groups."""
        found: dict[tuple[str, str], list[float]] = {}
        for stream in self.streams:
            found.setdefault((stream.name.attribute, stream.name.step), []).append(stream.e)
        return [(attribute, step, sum(values) / len(values)) for (attribute, step), values in found.items()]

    @property
    def line(self) -> float:
        """The e-value that makes a decision an alarm, by e-BH over all decisions."""
        return alarm_line([e for *_, e in self.decisions()])

    def alarms(self) -> list[Crossing]:
        """Decisions whose evidence has reached the line."""
        line = self.line
        return [
            Crossing(
                threshold="evidence",
                subject=f"{attribute} (“{step}”)",
                value=e,
                bound=line,
                words=f"Evidence over time of a difference by {attribute} at “{step}”: {amount(e)}. The line is "
                f"{amount(line)}; without any difference, an audit reaches it in at most 5 % of cases, however often "
                "you look.",
            )
            for attribute, step, e in self.decisions()
            if e >= line
        ]

    def to_json(self) -> dict[str, object]:
        """For programs: the numbers of every stream, except for what only the next run needs."""
        return {
            "since": self.since,
            "restarted": self.restarted,
            "requisitions": max((stream.requisitions for stream in self.streams), default=0),
            "line": self.line,
            "decisions": [{"attribute": a, "step": s, "e": e, "alarm": e >= self.line} for a, s, e in self.decisions()],
            "streams": [
                {**asdict(s.name), "e": s.e, "odds_ratio": s.interval, "requisitions": s.requisitions}
                for s in self.streams
            ],
        }

    def kept(self) -> bytes:
        """The file for the next run."""
        streams = [{**asdict(s.name), "log": s.log, "requisitions": s.requisitions} for s in self.streams]
        document = {"format": FORMAT, "since": self.since, "restarted": self.restarted, **self.to_json()}
        document |= {"grid": [float(GRID[0]), float(GRID[-1]), len(GRID)], "sums": streams, "counted": self.counted}
        return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()


def alarm_line(e: Sequence[float]) -> float:
    """20 m / k for the largest k for which k of the m e-values reach it; 20 m if there is none."""
    many = max(len(e), 1)
    reached = [k for k, value in enumerate(sorted(e, reverse=True), 1) if value >= ALARM * many / k]
    return ALARM * many / max(reached, default=1)


def carried(found: Closings, before: EvidenceOverTime | None, created: str) -> EvidenceOverTime:
    """The evidence with the requisitions that have closed since."""
    restarted = None
    if before is not None:
        changed = set().union(*(_changed(found, attribute, before.counted) for attribute in found.applicants))
        if changed or {stream.name for stream in before.streams} != set(found.streams):
            what = (
                f"{plural(len(changed), 'requisition')} counted before {'has' if len(changed) == 1 else 'have'} changed"
            )
            restarted = what if changed else "the groups or steps are different"
            before = None
    known = {} if before is None else {stream.name: stream for stream in before.streams}
    counted = {} if before is None else dict(before.counted)
    sets = {}
    for attribute in found.applicants:
        ids = _ids(found, attribute)
        sets[attribute] = found.sets(attribute, [k for k, id in enumerate(ids) if id not in counted])
        for members in sets[attribute]:
            counted |= dict.fromkeys((ids[k] for k in members), _fingerprint(found, attribute, ids, members))
    streams = []
    for place, name in enumerate(found.streams):
        log, told = summed(found.counts[:, place], sets[name.attribute])
        if name in known:
            log, told = log + np.array(known[name].log), told + known[name].requisitions
        streams.append(Stream(name, tuple(round(float(value), 9) for value in log), told))
    since = created if before is None else before.since
    return EvidenceOverTime(tuple(streams), counted, since, restarted)


def _ids(found: Closings, attribute: str) -> list[str]:
    return [_hash(f"{attribute}: {name}") for name in found.requisitions]


def _fingerprint(found: Closings, attribute: str, ids: Sequence[str], members: Sequence[int]) -> str:
    """Of a set: how many requisitions, and a hash of their sums in every stream of the attribute."""
    streams = [place for place, name in enumerate(found.streams) if name.attribute == attribute]
    sums = found.counts[np.ix_(list(members), streams)].sum(axis=0).tolist()
    return f"{len(members)}:{_hash(json.dumps([sorted(ids[k] for k in members), sums]))}"


def _changed(found: Closings, attribute: str, counted: Mapping[str, str]) -> set[int]:
    """Requisitions of sets whose counts are different now; sets that are not exported wholly can't be compared."""
    sets: dict[str, list[int]] = {}
    ids = _ids(found, attribute)
    for k, id in enumerate(ids):
        if id in counted:
            sets.setdefault(counted[id], []).append(k)
    return {
        k
        for mark, members in sets.items()
        if mark.startswith(f"{len(members)}:") and _fingerprint(found, attribute, ids, members) != mark
        for k in members
    }


def read(path: Path) -> EvidenceOverTime | None:
    """The evidence of a run; None where it has none, or one that this version cannot go on from."""
    try:
        document = json.loads(path.read_bytes())
        if document["format"] != FORMAT or document["grid"][2] != len(GRID):
            return None
        streams = tuple(
            Stream(StreamName(s["attribute"], s["step"], s["group"]), tuple(s["log"]), s["requisitions"])
            for s in document["sums"]
        )
        return EvidenceOverTime(streams, document["counted"], document["since"], document["restarted"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def of_runs(folder: Path, runs: Sequence[Run]) -> dict[int, EvidenceOverTime]:
    """The evidence of each run that has one."""
    found = {run.id: read(folder / run.folder / FILE) for run in runs if run.folder and run.removed is None}
    return {id: evidence for id, evidence in found.items() if evidence is not None}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
