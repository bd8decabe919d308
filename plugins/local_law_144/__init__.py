"""The section `local-law-144`: the tables of New York City Local Law 144, if the data has sex or race and the profile
`nyc-ll144` is chosen.

The law asks for every category, however small. The section covers the people that the rest of the report shows; with
`small_categories = true` under `[statement]` it covers all of them, and shows a warning to heed before publishing.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import JsonValue

from auditkit import hookimpl
from auditkit.report.section import Section, Subject

if TYPE_CHECKING:
    import pandas as pd

    from auditkit.report.schema import Report

ASKED = (
    "A summary of the audit states, for sex, for race/ethnicity and for their intersection: each category's number of "
    "applicants, selected or scored above the median of the full sample, rate and impact ratio. A category under 2 % "
    "of the data may be left out of the ratio, but its number, rate and the reason are stated. So are the applicants "
    "of unknown category, the source and explanation of the data, and the dates of the audit and of the tool's "
    "distribution. The rule names no ratio that must be reached, and asks for an audit at most one year old."
)
READ = date(2026, 11, 16)
"""When the text of the rule was last read."""
INTERSECTION = "sex and race/ethnicity"
SMALL = 5
"""Categories of fewer applicants are counted in the warning."""


class LocalLaw(Section):
    name: ClassVar[str] = "local-law-144"
    title: ClassVar[str] = "New York City Local Law 144"
    template: ClassVar[Path] = Path(__file__).with_name("local_law_144.html")
    after: ClassVar[str] = "fit"
    profiles: ClassVar[tuple[str, ...]] = ("nyc-ll144",)

    def __init__(self) -> None:
        self.summary: dict[str, JsonValue] | None = None

    def prepare(self, subject: Subject) -> None:
        """Compute the tables from the applications."""
        from auditkit.plugins.local_law_144.outcomes import CountedOutcome
        from auditkit.plugins.local_law_144.rates import tables

        all_shown = subject.every_category or subject.shown
        history = all_shown.history
        sex, race = history.attribute_of("sex"), history.attribute_of("race")
        if sex is None and race is None:
            return
        columns: dict[str, pd.Series[Any]] = {}
        notes = []
        for label, name in (("sex", sex), ("race/ethnicity", race)):
            if name is None:
                notes.append(f"no column for {label}: its table and the intersection are left out")
            else:
                columns[label] = history.table[f"group:{name}"]
        crossing = all_shown.crossings.get(f"{sex}+{race}")
        if crossing is not None:
            columns[INTERSECTION] = crossing
        elif sex is not None and race is not None:
            notes.append("the intersection is left out: its categories are too small to be shown")
        found, missing = tables(CountedOutcome.of_table(history.table, history.decision), columns)
        for score in history.tool_scores:
            outcome = CountedOutcome.above_median(history.table[score])
            more, _ = tables(outcome, columns)
            name = score.partition(":")[2] or score
            found += more
            notes += [f"scoring rates are the shares above the median of {name}"] if more else []
        statement = subject.config.statement
        said = {
            "Source of the data": statement.data_source,
            "Explanation of the data": statement.explanation,
            "Date of the audit": (statement.audit_date or subject.day).isoformat(),
            "Date of the tool’s distribution": statement.distribution_date and statement.distribution_date.isoformat(),
        }
        small = sum(row.applicants < SMALL for table in found for row in table.rows)
        self.summary = {
            "tables": [table.to_json() for table in found],
            "notes": [*notes, *missing],
            "statement": [{"item": item, "text": text or None} for item, text in said.items()],
            "small_categories": small,
            "left_out": 0 if statement.small_categories else subject.shown.left_out,
            "convention": {"text": ASKED, "read_on": READ.isoformat()},
        }

    def data(self, report: Report) -> dict[str, JsonValue] | None:
        return self.summary


@hookimpl
def auditkit_sections() -> list[type[LocalLaw]]:
    return [LocalLaw]
