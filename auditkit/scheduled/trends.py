"""Charts of figures over time, in the style of the report's: one line for each group or policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta

from auditkit.report.chart_parts import curve, legend, legend_rows
from auditkit.report.figures import CONSTRAINED, FIRM, GroupFigure, PolicyFigure
from auditkit.report.svg import GROUPS, INK, MARKERS, Area, Chart, Drawing, chart, spread
from auditkit.report.thresholds import Threshold, place
from auditkit.scheduled.run_history import Run
from auditkit.text import amount, expected, listing, percent, ratio, tick_number, tick_percent

MOST_SERIES = len(GROUPS)
HEIGHT = 150
MOST_DATES = 4
MOST_MARKS = 60
"""With more runs than this, a line is drawn without marks."""

Series = dict[str, list[float | None]]
Form = Callable[[float | None], str]


def draw(runs: Sequence[Run], lines: Sequence[Threshold]) -> list[Chart]:
    """Every chart with something to show; the lowest impact ratios that `lines` allow are drawn."""
    if not runs:
        return []
    moments = [datetime.fromisoformat(run.created) for run in runs]
    found: list[Chart | None] = []

    def add(title: str, series: Series, form: Form, tick: Callable[[float], str], line: float | None = None) -> None:
        found.append(_lines(f"trend-{len(found) + 1}", title, moments, series, form, tick, line))

    for attribute, step in _tables(runs):
        ratios, rates = (_of_groups(runs, attribute, step, key) for key in ("impact_ratio", "rate"))
        add(
            f"{attribute}: impact ratio at “{step}”",
            ratios,
            ratio,
            tick_number,
            _line(runs[-1], lines, attribute, step),
        )
        add(f"{attribute}: share of applicants who reached “{step}”", rates, percent, tick_percent)
    kept, lost = (_of_policies(runs, key, CONSTRAINED) for key in ("ratio", "loss"))
    add("Utility kept under each constraint", kept, percent, tick_percent)
    add("Utility lost to each constraint", lost, amount, tick_number)
    add("Positions left open", _of_policies(runs, "unfilled"), expected, tick_number)
    return [one for one in found if one is not None]


def _line(run: Run, lines: Sequence[Threshold], attribute: str, step: str) -> float | None:
    """The highest threshold for these impact ratios."""
    places = ((None, step), (attribute, step))
    bounds = [float(one.bound) for one in lines if one.kind == "min" and place(run.figures, one.measure) in places]
    return max(bounds, default=None)


def _tables(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Attributes and steps, the last step first; crossings have too many groups for a chart."""
    rows = [row for run in reversed(runs) for row in run.figures.groups if not row.crossing]
    attributes, steps = dict.fromkeys(row.attribute for row in rows), dict.fromkeys(row.step for row in rows)
    return [(attribute, step) for step in reversed(steps) for attribute in attributes]


def _of_groups(runs: Sequence[Run], attribute: str, step: str, key: str) -> Series:
    def wanted(group: GroupFigure) -> bool:
        reference = key == "impact_ratio" and group.group == group.reference
        return (group.attribute, group.step) == (attribute, step) and not reference

    sizes = {g.group: g.applicants or 0 for run in runs for g in run.figures.groups if wanted(g)}
    names = sorted(sizes, key=lambda name: -sizes[name])
    values = [{g.group: getattr(g, key) for g in run.figures.groups if wanted(g)} for run in runs]
    return _first(names, values)


def _of_policies(runs: Sequence[Run], key: str, kind: str | None = None) -> Series:
    values = [{_name(p): getattr(p, key) for p in run.figures.policies if kind in (None, p.kind)} for run in runs]
    return _first(dict.fromkeys(name for row in reversed(values) for name in row), values)


def _name(policy: PolicyFigure) -> str:
    if policy.kind == CONSTRAINED:
        return policy.label
    return "the firm" if policy.kind == FIRM else "without constraints"


def _first(names: Iterable[str], values: list[dict[str, float | None]]) -> Series:
    """The first few names that have any data."""
    series = {name: [row.get(name) for row in values] for name in names}
    known = [name for name, points in series.items() if any(x is not None for x in points)]
    return {name: series[name] for name in known[:MOST_SERIES]}


def _lines(
    id: str,
    title: str,
    moments: Sequence[datetime],
    series: Series,
    form: Form,
    tick: Callable[[float], str],
    line: float | None = None,
) -> Chart | None:
    if not series:
        return None
    names = list(series)
    rows = legend_rows(names)
    top = 8 + 17 * len(rows)
    drawing = Drawing(top + HEIGHT + 30)
    legend(drawing, names, rows)
    lines = [[(w.timestamp(), x) for w, x in zip(moments, points) if x is not None] for points in series.values()]
    across = spread([w for dots in lines for w, _ in dots], 0.06)
    up = spread([*(x for dots in lines for _, x in dots), *([] if line is None else [line])], 0.12)
    area = Area(drawing, top + 4, HEIGHT, across, up, left=44, right=10)
    for i, dots in enumerate(lines):
        curve(area, dots, MARKERS[i] if len(dots) <= MOST_MARKS else None, GROUPS[i], 5)
    if line is not None:
        area.level(area.y(line), INK, dashes="2.5 1.5", layer=2)
    area.y_axis(tick)
    dates, form_of = _dates(moments)
    area.x_axis("", form_of, at=dates)
    last = [
        f"{name} {form(next((x for x in reversed(points) if x is not None), None))}" for name, points in series.items()
    ]
    first, end = moments[0], moments[-1]
    said = f"{len(moments)} runs from {first:%Y-%m-%d} to {end:%Y-%m-%d}. Last values: {listing(last)}."
    if line is not None:
        said += f" The dashed line is the threshold of {ratio(line)}."
    return chart(drawing, id, title, said)


def _dates(moments: Sequence[datetime]) -> tuple[list[float], Callable[[float], str]]:
    """The days of few runs, or else a few round dates between the first and the last; and how to write a date."""
    days = {moment.date(): moment for moment in moments}
    first, last = min(days), max(days)
    form = "%Y-%m-%d" if len(days) <= MOST_DATES or (last - first).days < 120 else "%Y-%m"
    zone = moments[0].tzinfo
    between = (datetime(day.year, day.month, day.day, tzinfo=zone) for day in _round_dates(first, last))
    found = list(days.values()) if len(days) <= MOST_DATES else list(between)
    return [moment.timestamp() for moment in found], lambda at: f"{datetime.fromtimestamp(at, zone):{form}}"


def _round_dates(first: date, last: date) -> list[date]:
    """Days a week or more apart, months or years: the closest of these that are few enough."""
    span = (last - first).days
    for step in (1, 2, 7, 14):
        if span // step < MOST_DATES:
            return [first + timedelta(days=n) for n in range(0, span + 1, step)]
    months = range(12 * first.year + first.month, 12 * last.year + last.month)  # those that begin in between
    steps = (1, 2, 3, 6, *(12 * years for years in (1, 2, 5, 10, 20, 50, 100)))
    few = next(found for step in steps if len(found := [m for m in months if m % step == 0]) <= MOST_DATES)
    return [date(month // 12, month % 12 + 1, 1) for month in few]
