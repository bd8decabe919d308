"""What plugins measure (`auditkit.disparity.measure`), in the tables of a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from auditkit.disparity.measure import DisparityMeasure, MeasureColumn, Numbers
from auditkit.disparity.results import Disparities, DisparityTable, GroupStatus
from auditkit.errors import PluginError, blaming


def with_measures(
    found: Disparities, measures: Iterable[type[DisparityMeasure]], on_fault: Callable[[PluginError], None]
) -> Disparities:
    """Every table with these measures for the compared groups; a measure that fails once is left out."""
    for measure in measures:
        try:
            tables = tuple(_with_measure(table, measure) for table in found.tables)
        except PluginError as error:
            on_fault(error)
            continue
        column = MeasureColumn(measure.name, measure.title, measure.form, measure.legend)
        found = replace(found, tables=tables, measures=(*found.measures, column))
    return found


def _with_measure(table: DisparityTable, measure: type[DisparityMeasure]) -> DisparityTable:
    rows = [row for row in table.groups if row.status is not GroupStatus.EXCLUDED]
    if table.reference is None or len(rows) < 2:
        return table
    numbers = _numbers(measure, {row.group: Numbers(row.applicants, row.selected) for row in rows}, table.reference)
    groups = [replace(row, measures={**row.measures, measure.name: numbers.get(row.group)}) for row in table.groups]
    return replace(table, groups=tuple(groups))


def _numbers(measure: type[DisparityMeasure], counts: dict[str, Numbers], reference: str) -> dict[str, float | None]:
    with blaming(measure, f"the measure {measure.name!r}"):
        found = dict(measure().measure(dict(counts), reference))
        numbers = {group: None if number is None else float(number) for group, number in found.items()}
    strange = [group for group in numbers if group not in counts]
    missing = [group for group in counts if group not in numbers and group != reference]
    wrong = [group for group, number in numbers.items() if number is not None and not math.isfinite(number)]
    for groups, what in ((strange, "there is no group"), (missing, "it has no number for"), (wrong, "not finite for")):
        if groups:
            raise PluginError(measure, f"the measure {measure.name!r}: {what} {', '.join(map(repr, groups))}")
    return numbers
