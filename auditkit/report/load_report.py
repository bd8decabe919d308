"""Read a report from JSON, whichever program wrote it: this one, an earlier version, or another.

The keys of `auditkit-report/2` have the same names and meaning in `/3`, so both are read through the same models; keys
that the models do not know are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping

from auditkit.errors import InputError, Problem, validated
from auditkit.report.schema import EARLIER, FORMAT, Report

FIX = "write it again with auditkit report --format json"


def load(document: object, place: str = "the report") -> Report:
    """The report in a JSON document; InputError with every key that is missing or wrong."""
    if not isinstance(document, Mapping) or document.get("format") not in (FORMAT, *EARLIER):
        formats = " or ".join((FORMAT, *EARLIER))
        raise InputError(Problem(place, f"is not a document of the format {formats}", FIX))
    try:
        return validated(Report, {**document, "format": FORMAT}, fix=FIX, quote=False, extra="ignore")
    except InputError as error:
        raise InputError([problem.of_file(place) for problem in error.problems]) from None
