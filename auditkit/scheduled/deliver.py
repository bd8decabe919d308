"""From a run to alerts: the text, the channels, the outcome. Secrets go no further than this module."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from auditkit.errors import InputError, Problem, origin_of, shipped
from auditkit.scheduled.alert import Alert, AlertError, Channel, redact
from auditkit.scheduled.run_history import Delivery, Run
from auditkit.scheduled.settings import AuditSettings, value_of
from auditkit.text import plural, printable

CLOSING = (
    "Measured against the thresholds in audit.toml; the measurement doesn't say whether a threshold is the right one."
)


def secrets_of(channels: Iterable[Channel], environ: Mapping[str, str]) -> dict[str, str]:
    """The values of all variables that the channels name; every missing one in one InputError."""
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for i, channel in enumerate(channels):
        for variable in channel.variables():
            try:
                found[variable] = value_of(variable, environ, f"alerts[{i}]")
            except InputError as error:
                problems += error.problems
    if problems:
        raise InputError(problems)
    return found


def of_run(run: Run, settings: AuditSettings) -> Alert:
    """The alert about a completed run."""
    kind: Literal["crossed", "done"] = "crossed" if run.crossings else "done"
    if run.crossings:
        title = f"auditkit: {plural(len(run.crossings), 'finding')} in {settings.name}"
    else:
        title = f"auditkit: nothing above a threshold in {settings.name}"
    lines = [f"Audit {printable(settings.name)}, run {run.id} of {run.created}.", ""]
    lines += [f"- {printable(crossing.words)}" for crossing in run.crossings] or ["No threshold was crossed."]
    if run.same_as is not None:
        lines.append(f"Data and configuration are those of run {run.same_as}.")
    lines += ["", f"Artefacts: {printable(settings.folder / run.folder)}", CLOSING]
    return Alert(
        id=_id(settings.name, str(run.same_as or run.id), run.config_sha256, kind),
        kind=kind,
        audit=settings.name,
        created=run.created,
        title=title,
        text="\n".join(lines),
        run=run.id,
        folder=str(settings.folder / run.folder),
        crossings=run.crossings,
    )


def of_failure(error: Exception, settings: AuditSettings, created: str) -> Alert:
    """The alert about a failed run. Its reasons stay on the machine: they may quote cells of the data."""
    if isinstance(error, InputError):
        what = f"{plural(len(error.problems), 'problem')} with the data, the configuration or the machine"
    else:
        what = f"a defect of auditkit ({type(error).__name__})"
    text = (
        f"Audit {printable(settings.name)} of {created} was not completed: {what}. "
        f"To see the reason: auditkit run {printable(settings.path)}"
    )
    title = f"auditkit: the audit {settings.name} was not completed"
    return Alert(_id(settings.name, created, "failed"), "failed", settings.name, created, title, text)


def deliver(
    alert: Alert, channels: Iterable[Channel], secrets: Mapping[str, str], but: Collection[int] = ()
) -> list[Delivery]:
    """Send to every channel that wants it, except those at the places `but`, which already have it.

    Nothing is raised: each channel has its result.
    """
    done = []
    for place, channel in enumerate(channels):
        heard = place in but and "always" not in channel.on
        if heard or not channel.wants(alert):
            continue
        try:
            channel.send(alert, {name: secrets[name] for name in channel.variables()})
            done.append(Delivery(place, channel.type, True))
        except AlertError as error:
            done.append(Delivery(place, channel.type, False, redact(str(error), secrets)))
        except Exception as error:  # a defect in a plugin's channel must not hide the audit
            whose = "" if shipped(channel) else f"{origin_of(channel)}: "
            reason = f"{whose}{type(error).__name__}: {error}".partition("\n")[0]
            done.append(Delivery(place, channel.type, False, redact(reason, secrets)))
    return done


def _id(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
