"""One scheduled audit, from the source to the alerts:

    lock -> clear away leftovers -> unchanged? -> produce -> write and rename -> record -> tell -> retention

If a run is killed between any two steps, the history still opens, every recorded run has its artefacts, and the next
run clears away the rest. A `Job` says what to audit, and how; nothing here knows the pipeline.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from auditkit import __version__
from auditkit.disparity.sequential import Closings
from auditkit.errors import InputError
from auditkit.report.figures import Figures, figures
from auditkit.report.schema import Report
from auditkit.report.thresholds import evaluate
from auditkit.scheduled import artefacts, deliver, evidence_stream, finished_months
from auditkit.scheduled.alert import Channel
from auditkit.scheduled.finished_months import Roll
from auditkit.scheduled.lock import only_one
from auditkit.scheduled.run_history import UNCHANGED, Delivery, Run, RunHistory, opened
from auditkit.scheduled.settings import AuditSettings
from auditkit.text import plural

CONFIGURATION = "audit.toml"
LEAST_STEP = timedelta(days=40)
"""A gap between two runs this long needs no clock jump to explain it."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Job:
    """The subject of an audit: the SHA-256 of the current data, and the report with its files."""

    fingerprint: Callable[[], str]
    produce: Callable[[], tuple[Report, Mapping[str, bytes]]]
    closings: Callable[[], Closings | None] = lambda: None
    """After `produce`: the closed requisitions of the data."""
    roll: Callable[[], Roll | None] = lambda: None
    """After `produce`: the applications that are counted."""


@dataclass(frozen=True)
class Done:
    """A completed run. `notes` are figures that no threshold could check, `removed` says what retention removed."""

    run: Run
    notes: tuple[str, ...]
    alerts: tuple[Delivery, ...]
    removed: tuple[str, ...]
    link: str
    """The run's link in the chain (`chain.py`)."""

    @property
    def finding(self) -> bool:
        """Whether a threshold was crossed or an alert not delivered, so that someone should look."""
        return bool(self.run.crossings) or any(not alert.delivered for alert in self.alerts)


def run(
    settings: AuditSettings,
    job: Job,
    channels: tuple[Channel, ...],
    environ: Mapping[str, str],
    *,
    force: bool = False,
    new_population: bool = False,
    wait: float = 0.0,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    say: Say = lambda _: None,
) -> Done:
    """Run the audit once. Raises InputError before touching anything if the settings are wrong.

    `new_population` accepts applications in a finished period that differ from an earlier run's (`finished_months`).
    """
    secrets = deliver.secrets_of(channels, environ)
    database = settings.database(environ)
    with only_one(settings.folder, wait, say):
        try:
            with opened(database) as history:
                for line in artefacts.recover(settings.folder, history.id, history.has_folder):
                    say(line)
                return _locked(settings, job, channels, secrets, history, force, new_population, now, say)
        except Exception as error:
            record_failure(settings, database, error, _iso(now()), say)
            failed = deliver.deliver(deliver.of_failure(error, settings, _iso(now())), channels, secrets)
            for one in failed:
                if not one.delivered:
                    say(f"alert {one.channel}: {one.detail}")
            raise


def record_failure(settings: AuditSettings, database: str, error: Exception, moment: str, say: Say) -> None:
    """Record a failed run with its reason; a history that can't be written has already said so."""
    reason = str(error) or type(error).__name__
    with suppress(Exception), opened(database) as history:
        run = history.record_failure(settings.name, moment, __version__, settings.sha256, reason[:2000])
        say(f"run {run} failed; the history has the reason")


def _locked(
    settings: AuditSettings,
    job: Job,
    channels: tuple[Channel, ...],
    secrets: Mapping[str, str],
    history: RunHistory,
    force: bool,
    new_population: bool,
    now: Callable[[], datetime],
    say: Say,
) -> Done:
    moment = now()
    last = history.latest(settings.name)
    notes: tuple[str, ...] = ()
    if not force and last is not None and _same(settings, last, job.fingerprint()):
        id = history.record_unchanged(last, _iso(moment))
        made = dataclasses.replace(last, id=id, created=_iso(moment), status=UNCHANGED, same_as=last.id, alerts=())
        told = history.delivered(last.id) if last.crossings else set[int]()
    else:
        say("computing the audit")
        made, notes = _complete(settings, job, history, last, moment, new_population)
        told = set[int]()
    link, broken = history.keep_link(settings.folder, made.id)
    alerts = deliver.deliver(deliver.of_run(made, settings), channels, secrets, but=told)
    history.record_alerts(made.id, alerts)
    removed = _retain(settings, history, now(), say)
    return Done(dataclasses.replace(made, alerts=tuple(alerts)), (*notes, *broken), tuple(alerts), tuple(removed), link)


def _same(settings: AuditSettings, last: Run, data_sha256: str) -> bool:
    return (
        last.data_sha256 == data_sha256
        and last.config_sha256 == settings.sha256
        and last.figures.version == __version__
        and last.removed is None
        and artefacts.intact(settings.folder, last.folder, last.artefacts)
    )


def _complete(
    settings: AuditSettings, job: Job, history: RunHistory, last: Run | None, moment: datetime, new_population: bool
) -> tuple[Run, tuple[str, ...]]:
    report, files = job.produce()
    found = figures(report)
    said = tuple(one.text for one in report.findings if one.kind != "notice")
    evaluation = evaluate(settings.thresholds, found, None if last is None else last.figures)
    crossings, notes = evaluation.crossings, evaluation.notes
    if last is not None and (few := _few_apart(found, last.figures, settings.config.report.suppress_below)):
        notes = (*notes, few)
    roll = job.roll()
    if roll is not None:
        before = () if last is None else finished_months.read(settings.folder / last.folder / finished_months.FILE)
        enough = settings.config.report.suppress_below
        periods, others = finished_months.carried(roll, before, moment, _iso(moment), enough, new_population)
        files, notes = {**files, finished_months.FILE: finished_months.kept_file(periods)}, (*notes, *others)
    closed = job.closings()
    if closed is not None:
        so_far = None if last is None else evidence_stream.read(settings.folder / last.folder / evidence_stream.FILE)
        evidence = evidence_stream.carried(closed, so_far, _iso(moment))
        files = {**files, evidence_stream.FILE: evidence.kept()}
        crossings = (*crossings, *evidence.alarms())
        if evidence.restarted is not None:
            notes = (*notes, f"the evidence over time starts over: {evidence.restarted}")
    name = artefacts.free_name(settings.folder, moment, history.has_folder)
    try:
        kept = {**files, CONFIGURATION: settings.text}
        made = artefacts.write(settings.folder, name, kept, history.id, _seal(settings.signing_key))
        whole = history.record(
            settings.name, _iso(moment), name, settings.sha256, found.data_sha256, found, crossings, made, said
        )
    except Exception:
        # Only the database knows whether the record reached it; if it can't be asked now, the next run asks.
        with suppress(InputError):
            artefacts.recover(settings.folder, history.id, history.has_folder)
        raise
    artefacts.settle(settings.folder, name)
    return whole, notes


def _few_apart(now: Figures, before: Figures, enough: int) -> str | None:
    """A warning if two reports differ by so few applicants that subtracting them would reveal those."""
    sizes = [{(row.attribute, row.group): row.applicants or 0 for row in one.groups} for one in (now, before)]
    apart = max((abs(n - sizes[1][key]) for key, n in sizes[0].items() if key in sizes[1]), default=0)
    if set(sizes[0]) != set(sizes[1]) or not 0 < apart < enough:
        return None
    return (
        "no group has changed by more than a few applicants since the last run: if the rest are the same people, the "
        "two reports together reveal what became of those few. Select whole, finished periods "
        "(docs/scheduled-audits.md)"
    )


def _seal(key: Path | None) -> Callable[[bytes], bytes] | None:
    """A function that signs with the key."""
    if key is None:
        return None
    from auditkit.verification.signatures import sign

    return lambda content: sign(content, key)


def _retain(settings: AuditSettings, history: RunHistory, moment: datetime, say: Say) -> list[str]:
    """Remove the artefacts that no run within the last `keep` relies on. The figures stay in the history.

    A clock jump must not remove anything: a run dated before the others, or far ahead of them, removes nothing, and the
    time that was jumped over makes nothing older (`_witnessed`).
    """
    runs = history.runs(settings.name)
    for run in runs:
        if run.removed is not None and run.same_as is None:  # an earlier run was killed here
            artefacts.remove(settings.folder, run.folder)
    period = settings.history.period
    if period is None:
        return []
    oldest = _iso(period.before(moment))
    used: dict[int, str] = {}
    last: dict[int, int] = {}
    for place, run in enumerate(runs):
        used[run.same_as or run.id] = max(run.created, used.get(run.same_as or run.id, ""))
        last[run.same_as or run.id] = place
    old = [run for run in runs if run.same_as is None and run.removed is None and used[run.id] < oldest]
    if not old or len(runs) < 2:
        return []
    dates = [datetime.fromisoformat(run.created) for run in runs]
    ages, step = _witnessed(dates)
    jump = dates[-1] - dates[-2]
    if not timedelta(0) <= jump <= step or moment - dates[-1] > step or moment < dates[-1]:
        when = f"{abs(jump).days} days {'after' if jump > timedelta(0) else 'before'} the last one"
        looks = f"{plural(len(old), 'run')} older than {period} by the clock"
        say(f"nothing was removed ({looks}): this run is dated {when}, and the clock may be wrong")
        return []
    said = []
    for run in old:
        if moment - ages[last[run.id]] >= period.before(moment):
            continue
        history.mark_removed(run.id, _iso(moment), f"older than {period}")
        there = artefacts.remove(settings.folder, run.folder)
        what = "removed" if there else "were gone already"
        said.append(f"artefacts of run {run.id} ({run.folder}) {what}: older than {period}, see keep in [history]")
    return said


def _witnessed(dates: Sequence[datetime]) -> tuple[list[timedelta], timedelta]:
    """How old each run is, judging by the runs after it; a gap longer than the longest plausible counts as usual."""
    gaps = [later - earlier for earlier, later in pairwise(dates)]
    known = sorted(gap for gap in gaps[:-1] if gap > timedelta(0))
    usual = known[len(known) // 2] if known else timedelta(0)
    step = max(LEAST_STEP, 3 * usual)
    age, ages = timedelta(0), [timedelta(0)]
    for gap in reversed(gaps):
        age += gap if timedelta(0) <= gap <= step else usual
        ages.append(age)
    return ages[::-1], step


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
