"""Who was counted in the finished months of an audit: a later run with other people would show who came or went.

`population.json` beside a run's report has, for every finished period, how many applications were counted and a hash of
all of them together: no application by itself. A period is a month that was over when the run was made, or several if
one has fewer than `suppress_below` applications. If a later run has different applications in a period, it is

    refused    if the numbers differ by less than `suppress_below`: subtracting the two reports would reveal what became
               of those few. `auditkit run --new-population` goes on anyway
    noted      if more differ: there is a new population, and the note names the run that counted the earlier one

Outcomes aren't part of it: they may be decided later. A month at the beginning of the data counts only while the data
begin where they did, because a moving window cuts it. Data without dates have no periods.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from auditkit.data.firm_history import History
from auditkit.errors import InputError, Problem

FILE = "population.json"
FORMAT = "auditkit-population/1"


@dataclass(frozen=True)
class FinishedPeriod:
    """The applications of some months, as the run `since` counted them; `begin` is the first day of its data."""

    first: str
    last: str
    applications: int
    sha256: str
    begin: str
    since: str

    @property
    def months(self) -> str:
        return self.first if self.first == self.last else f"{self.first} to {self.last}"


@dataclass(frozen=True, eq=False)
class Roll:
    """Every dated application: its month and a name for it, in the order of both."""

    months: tuple[str, ...]
    names: tuple[str, ...]
    begin: str

    @staticmethod
    def of(history: History) -> Roll | None:
        """None where the data have no dates."""
        table = history.table
        if not history.has("date"):
            return None
        table = table[table["date"].notna()]
        if table.empty:
            return None
        named = any(choice.role == "candidate" for choice in history.mapping.choices)
        own = ["candidate"] if named else ["date", *(f"group:{name}" for name in history.attributes)]
        names = table[["search", *own]].astype("str").agg("\x1f".join, axis=1)
        months = table["date"].dt.strftime("%Y-%m")
        order = np.lexsort((names.to_numpy(dtype=str), months.to_numpy(dtype=str)))
        begin = table["date"].min().strftime("%Y-%m-%d")
        return Roll(tuple(months.iloc[order]), tuple(names.iloc[order]), begin)

    def period(self, first: str, last: str, since: str) -> FinishedPeriod:
        """The applications of these months."""
        low, high = np.searchsorted(self.months, first, "left"), np.searchsorted(self.months, last, "right")
        text = "\n".join(self.names[low:high])
        return FinishedPeriod(
            first, last, int(high - low), hashlib.sha256(text.encode()).hexdigest(), self.begin, since
        )

    def finished(self, after: str, moment: datetime, enough: int, since: str) -> list[FinishedPeriod]:
        """Periods of the months after `after` that were over at this moment; the last ones wait for more."""
        now, found, first = moment.strftime("%Y-%m"), [], None
        for month in sorted(set(self.months)):
            if after < month < now:
                first = first or month
                period = self.period(first, month, since)
                if period.applications >= enough:
                    found.append(period)
                    first = None
        return found


def carried(
    roll: Roll, before: Sequence[FinishedPeriod], moment: datetime, since: str, enough: int, accepted: bool
) -> tuple[tuple[FinishedPeriod, ...], list[str]]:
    """The finished periods after this run, and notes on those that changed; raises InputError to refuse the run."""
    kept, notes, problems = [], [], []
    for period in before:
        now = roll.period(period.first, period.last, since)
        cut = not now.applications or (roll.begin > period.begin and roll.begin[:7] >= period.first)
        if cut or now.sha256 == period.sha256:
            kept.append(period)
            continue
        numbers = f"{period.applications:,} then, {now.applications:,} now"
        what = f"has different applications from those that the run of {period.since} counted ({numbers})"
        if abs(now.applications - period.applications) >= enough or accepted:
            notes.append(f"{period.months} {what}: a new population from this run on")
            kept.append(replace(now, begin=period.begin))
        else:
            why = "subtracting the two reports would reveal what became of those few"
            fix = "find out which; to go on and withdraw the earlier report: auditkit run --new-population"
            problems.append(Problem(f"the data, {period.months}", f"{what}: {why}", fix))
    if problems:
        raise InputError(problems)
    after = max((period.last for period in kept), default="")
    return (*kept, *roll.finished(after, moment, enough, since)), notes


def kept_file(periods: Iterable[FinishedPeriod]) -> bytes:
    """The file for the next run."""
    document = {"format": FORMAT, "periods": [asdict(period) for period in periods]}
    return (json.dumps(document, indent=1) + "\n").encode()


def read(path: Path) -> tuple[FinishedPeriod, ...]:
    """The periods of a run; none if it has no such file, or one that this version can't read."""
    try:
        document = json.loads(path.read_bytes())
        if document["format"] != FORMAT:
            return ()
        return tuple(FinishedPeriod(**period) for period in document["periods"])
    except (OSError, ValueError, KeyError, TypeError):
        return ()
