"""Charts of figures over time, in the style of the report's: one line for each group or policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from auditkit.report.chart_parts import bare, legend, legend_rows
from auditkit.report.figures import CONSTRAINED, FIRM, GroupFigure, PolicyFigure
from auditkit.report.svg import GRID, GROUPS, INK, MARKERS, Chart, axes, chart, drawing, figure
from auditkit.report.thresholds import Threshold, place
from auditkit.scheduled.run_history import Run
from auditkit.text import amount, expected, listing, percent, ratio, tick_number, tick_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SERIES = len(GROUPS)
HEIGHT = 150
MOST_MARKS = 60
"""Runs beyond which a line is drawn without marks."""

Series = dict[str, list[float | None]]
Form = Callable[[float | None], str]


def draw(runs: Sequence[Run], lines: Sequence[Threshold]) -> list[Chart]:
    """Every chart that has something to show; lowest impact ratios allowed by `lines` are drawn."""
    if not runs:
        return []
    moments = [datetime.fromisoformat(run.created) for run in runs]
    found: list[Chart | None] = []

    def add(title: str, series: Series, form: Form, tick: Callable[[float], str], line: float | None = None) -> None:
        found.append(_lines(f"trend-{len(found) + 1}", title, moments, series, form, tick, line))

    with drawing():
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
    """The first few names for which there is anything at all."""
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
    fig = figure(top + HEIGHT + 30)
    above = axes(fig, 0, top)
    bare(above, top)
    above.axis("off")
    legend(above, names, rows)
    ax = axes(fig, top + 4, HEIGHT, left=44, right=10)
    for i, points in enumerate(series.values()):
        known = [(when, x) for when, x in zip(moments, points) if x is not None]
        mark = MARKERS[i] if len(known) <= MOST_MARKS else ""
        ax.plot([w for w, _ in known], [x for _, x in known], color=GROUPS[i], marker=mark, markersize=5, linewidth=1.5)  # type: ignore[arg-type]
    if line is not None:
        ax.axhline(line, color=INK, linewidth=1, dashes=(2.5, 1.5))
    _scales(ax, moments, tick)
    last = [
        f"{name} {form(next((x for x in reversed(points) if x is not None), None))}" for name, points in series.items()
    ]
    first, end = moments[0], moments[-1]
    said = f"{len(moments)} runs from {first:%Y-%m-%d} to {end:%Y-%m-%d}. Last values: {listing(last)}."
    if line is not None:
        said += f" The dashed line is the threshold of {ratio(line)}."
    return chart(fig, id, title, said)


def _scales(ax: Axes, moments: Sequence[datetime], tick: Callable[[float], str]) -> None:
    from matplotlib.dates import AutoDateLocator, DateFormatter
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: tick(y)))
    ax.set_axisbelow(True)
    ax.grid(axis="y", color=GRID, linewidth=0.7)
    days = sorted({moment.date() for moment in moments})
    if len(days) <= 4:
        ax.set_xticks(list({moment.date(): moment for moment in moments}.values()))  # type: ignore[arg-type]
    else:
        ax.xaxis.set_major_locator(AutoDateLocator(minticks=2, maxticks=4))  # type: ignore[no-untyped-call]
    form = "%Y-%m-%d" if len(days) <= 4 or (days[-1] - days[0]).days < 120 else "%Y-%m"
    ax.xaxis.set_major_formatter(DateFormatter(form))  # type: ignore[no-untyped-call]
    ax.margins(x=0.06, y=0.12)
    ax.tick_params(axis="x", length=3)
