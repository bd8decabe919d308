"""What plugins measure (`auditkit.disparity.measure`), in a table that is ready to be shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from auditkit.disparity.measure import DisparityMeasure, MeasureColumn, Numbers
from auditkit.disparity.results import Disparities, DisparityTable, GroupStatus
from auditkit.disparity.single import Disparity
from auditkit.errors import PluginError, blaming


def measured(
    disparity: Disparity, measures: Iterable[type[DisparityMeasure]], on_fault: Callable[[PluginError], None]
) -> Disparity:
    """The table with these measures of the groups that are compared and shown; one that fails is left out."""
    counts = {
        row.group: Numbers(row.applicants, row.selected)
        for row in disparity.groups
        if row.applicants is not None and row.selected is not None
        if row.comparison is not None or row.group == disparity.reference
    }
    reference = disparity.reference
    if reference not in counts or len(counts) < 2:
        return disparity
    for kind in measures:
        try:
            found = _numbers(kind, counts, reference)
        except PluginError as error:
            on_fault(error)
            continue
        column = MeasureColumn(kind.name, kind.title, kind.form, kind.legend)
        rows = [replace(row, measures={**row.measures, kind.name: found.get(row.group)}) for row in disparity.groups]
        disparity = replace(disparity, groups=tuple(rows), measures=(*disparity.measures, column))
    return disparity


def with_measures(
    found: Disparities, measures: Iterable[type[DisparityMeasure]], on_fault: Callable[[PluginError], None]
) -> Disparities:
    """Every table with these measures of the groups that are compared; a measure that fails once is left out."""
    for kind in measures:
        try:
            tables = tuple(_with_measure(table, kind) for table in found.tables)
        except PluginError as error:
            on_fault(error)
            continue
        column = MeasureColumn(kind.name, kind.title, kind.form, kind.legend)
        found = replace(found, tables=tables, measures=(*found.measures, column))
    return found


def _with_measure(table: DisparityTable, kind: type[DisparityMeasure]) -> DisparityTable:
    rows = [row for row in table.groups if row.status is not GroupStatus.EXCLUDED]
    if table.reference is None or len(rows) < 2:
        return table
    numbers = _numbers(kind, {row.group: Numbers(row.applicants, row.selected) for row in rows}, table.reference)
    groups = [replace(row, measures={**row.measures, kind.name: numbers.get(row.group)}) for row in table.groups]
    return replace(table, groups=tuple(groups))


def _numbers(kind: type[DisparityMeasure], counts: dict[str, Numbers], reference: str) -> dict[str, float | None]:
    with blaming(kind, f"the measure {kind.name!r}"):
        found = dict(kind().measure(dict(counts), reference))
        numbers = {group: None if number is None else float(number) for group, number in found.items()}
    strange = [group for group in numbers if group not in counts]
    missing = [group for group in counts if group not in numbers and group != reference]
    wrong = [group for group, number in numbers.items() if number is not None and not math.isfinite(number)]
    for groups, what in ((strange, "there is no group"), (missing, "it has no number for"), (wrong, "not finite for")):
        if groups:
            raise PluginError(kind, f"the measure {kind.name!r}: {what} {', '.join(map(repr, groups))}")
    return numbers
