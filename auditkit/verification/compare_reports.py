"""Two reports of the same data, part by part, word by word and number by number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from auditkit.report.audit import Audit
from auditkit.report.schema import EARLIER
from auditkit.verification.claims import NOISE, Check, same_numbers

MEASURED = ("scope", "attributes", "steps", "groups", "funnel", "disparity", "segments", "problems", "mapping")
"""Parts of a report that are counted and tested; no optimisation leaves rounding there."""

UNDERIVED = ("config", "created", "version", "follow_ups")
SENTENCES = ("sentence", "words")
REWORDED = "format, findings and sentences: those of an earlier format, which are worded in another way"
OWN_WORDS = {"input": ("path",), "provenance": ("packages", "platform", "python")}
"""What the data cannot tell: whole parts, and keys of others."""


def compare_reports(report: Mapping[str, object], again: Audit) -> list[Check]:
    """Compare each part of a report with the same part of a second report made from the same data.

    Earlier versions published all digits, so a part may also match the exact one.
    """
    rounded, exact = again.to_json(), again.exact()
    whole = rounded if exact is None else {**rounded, **exact.to_json(), "sections": rounded["sections"]}
    skipped: tuple[str, ...] = UNDERIVED
    if report["format"] in EARLIER:
        rounded, whole = _as_said(report, rounded), _as_said(report, whole)
        skipped = (*UNDERIVED, "format", "findings")
    parts = [part for part in dict.fromkeys([*report, *rounded]) if part not in skipped]
    checks = []
    for part in parts:
        check = compare_part(part, report.get(part), rounded.get(part))
        as_before = check if check.holds else compare_part(part, report.get(part), whole.get(part))
        checks.append(as_before if as_before.holds else check)
    return checks


def _as_said(claimed: Any, found: Any) -> Any:
    """What was found, with the keys and sentences of an earlier format."""
    if isinstance(claimed, Mapping) and isinstance(found, Mapping):
        return {
            key: claimed[key] if key in SENTENCES else _as_said(claimed[key], value)
            for key, value in found.items()
            if key in claimed
        }
    if isinstance(claimed, list) and isinstance(found, list) and len(claimed) == len(found):
        return [_as_said(one, other) for one, other in zip(claimed, found, strict=True)]
    return found


def compare_part(part: str, claimed: Any, found: Any) -> Check:
    """One part of a report, word by word and number by number, except for what only it can know (`OWN_WORDS`)."""
    if isinstance(claimed, dict) and isinstance(found, dict):
        claimed = {**claimed, **{key: found[key] for key in OWN_WORDS.get(part, ()) if key in claimed and key in found}}
    return same_numbers(part, claimed, found, noise=0.0 if part in MEASURED else NOISE)
