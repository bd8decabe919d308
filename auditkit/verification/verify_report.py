"""Check every claim of a report against its data.

The report is made a second time from the data and compared number by number (`compare_reports`). That would repeat any
error in the code that made it, so different code also checks the policies behind it and their bounds (`check_report`);
they have all digits here and are rounded in the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from auditkit import __version__
from auditkit.compare.firm_decisions import standings_of
from auditkit.compare.firm_gain import Against
from auditkit.config import Config, check
from auditkit.constraints import bind
from auditkit.data.privacy import protect
from auditkit.data.read_query import sha256_of_rows
from auditkit.data.source import Files, Place
from auditkit.data.sql_query import Query
from auditkit.errors import InputError, Problem
from auditkit.files import sha256_of
from auditkit.pipeline import audit, constraints_of, fit_protected, silent
from auditkit.report import schema
from auditkit.report.load_report import load
from auditkit.text import flat, printable
from auditkit.verification.check_alternatives import check_alternatives
from auditkit.verification.check_report import check_report
from auditkit.verification.claims import Check, Verified
from auditkit.verification.compare_reports import REWORDED, compare_reports

if TYPE_CHECKING:
    from pydantic import JsonValue

    from auditkit.plugin_manager import Plugins

Progress = Callable[[str], None]

GIVEN = "config, created, version, input.path and provenance (but its conventions): how it was made, as it says itself"
"""What cannot be derived from the data."""

ORDINARY = {"report.replicates": 200, "fit.points": 200, "fit.folds": 50}
MOST_ENTRIES = {"constraints": 20, "availability": 1_000}
"""Larger settings in a report would make `verify` run for hours, which should be the user's decision."""


def verify_report(
    report: dict[str, JsonValue], data: Place, plugins: Plugins, progress: Progress = silent, *, slow: bool = False
) -> Verified:
    """Every claim of a report about its data, derived again; `slow` allows settings that make that take long."""
    claimed, settings = load(report), report["config"]
    assert isinstance(settings, dict)  # `load` has seen to it
    try:
        datetime.fromisoformat(claimed.created)
    except ValueError:
        raise InputError(
            Problem("the report: created", "is not a date", "write it again with auditkit report")
        ) from None
    config = check({**settings, "source": None, "also": [], "engine": "local"})  # a report sends data nowhere
    if not slow:
        refuse_slow(config)
    given = [GIVEN, *_chosen(config, claimed.version)]
    config = config.over(report={**config.report.model_dump(), "template_dir": None})
    progress("reading the data")
    if isinstance(data, Query):
        sha256, what = sha256_of_rows(data), "the SHA-256 of the rows is another one; ORDER BY keeps their order"
    else:
        sha256 = data.sha256() if isinstance(data, Files) else sha256_of(data)
        what = "the SHA-256 of the file is another one"
    same = sha256 == claimed.input.sha256
    checks = [Check("the report is of this data", same, what)]
    if not same:
        return Verified(tuple(checks), given=tuple(given))
    again = audit(data, config, plugins, progress, when=claimed.created)
    checks += compare_reports(report, again)
    exact = again.exact()
    if again.fitted is not None and exact is not None and exact.firm is not None:
        layout = again.fitted.instance.layout
        rows = [bind(constraints_of(entry.specs, plugins) or [], layout) for entry in exact.entries]
        shown, level = protect(again.history, config.report.suppress_below), config.report.confidence
        against = Against(again.fitted, standings_of(shown.history), level)
        more, unchecked = check_report(exact, again.fitted, rows, progress, against.gain)
        checks += more
        if exact.alternatives:
            aware = fit_protected(shown, config, plugins, group_aware=True, scale=again.fitted.settings.value_scale)
            blind = again.fitted
            if blind.settings.group_aware:
                blind = fit_protected(shown, config, plugins, group_aware=False, scale=blind.settings.value_scale)
            more, same_code = check_alternatives(exact.alternatives, blind, aware, plugins.rules, progress)
            checks, unchecked = checks + more, [*unchecked, *same_code]
        given += [f"derived a second time only by the code that made it: {text}" for text in unchecked]
    not_checked = (REWORDED,) if report["format"] in schema.EARLIER else ()
    return Verified(tuple(checks), not_checked, given=tuple(given))


def refuse_slow(config: Config) -> None:
    """Raise InputError if a report's settings ask for far more work than usual."""
    settings = config.model_dump()
    found = []
    for key, most in ORDINARY.items():
        part, _, name = key.partition(".")
        if (settings[part][name] or 0) > most:
            found.append(f"{key} = {settings[part][name]:,}")
    for key, most in MOST_ENTRIES.items():
        if len(settings[key] or ()) > most:
            found.append(f"{len(settings[key]):,} entries of {key}")
    if found:
        what = f"asks for much more work than usual ({', '.join(found)}), which may take hours"
        raise InputError(Problem("the report: config", what, "if you trust it: auditkit verify --slow"))


def _chosen(config: Config, version: str) -> Iterator[str]:
    """Settings to judge: a report may be correct for settings that are themselves questionable."""
    usual = dict(flat(Config().model_dump(mode="json")))
    settings = flat(config.model_dump(mode="json"))
    own = [f"{key} = {printable(text)}" for key, text in settings if usual.get(key) != text]
    if own:
        yield f"whether these settings, which are not the defaults, are the right ones: {'; '.join(own)}"
    if version != __version__:
        yield f"that auditkit {version} made it: this is {__version__}"
