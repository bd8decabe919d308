"""Charts of distributions: ex-post slack, positions left open, and how scores fell in their predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from auditkit.report.chart_parts import curve
from auditkit.report.schema import ConstrainedModel, FitModel, LawModel, Report, UnfilledModel
from auditkit.report.svg import FILL, GROUPS, INK, MUTED, Area, Chart, Drawing, chart, label, spread
from auditkit.report.view import phrases
from auditkit.report.words import labels
from auditkit.text import count, percent, plural, ratio, tick_number, tick_percent

MOST_PANELS = 6
"""More distributions than these are left to the tables, and the text says so."""


def slack_panels(report: Report) -> list[LawModel]:
    """Each distribution of an ex-post slack, under the first constraint that has it: alone before all together."""
    panels: dict[str, LawModel] = {}
    for entry in report.benchmarks:
        for law in entry.ex_post_slack or ():
            panels.setdefault(law.label, law)
    return list(panels.values())


def slack(i: int, title: str, law: LawModel) -> Chart:
    edges, probabilities = _trim(law.edges, law.probabilities)
    drawing = Drawing(150)
    area = _histogram(drawing, 6, 108, edges, probabilities, spread([*edges, 0.0, law.mean]))
    area.x_axis(labels.SLACK_AXIS, tick_number, 6)
    area.upright(0, INK)
    area.upright(law.mean, GROUPS[1], 1.5, "6 3")
    return chart(drawing, f"chart-slack-{i}", title, labels.slack_text(ratio(law.mean), ratio(law.sd)))


def _trim(edges: Sequence[float], probabilities: Sequence[float]) -> tuple[list[float], list[float]]:
    """Without the ends that hold next to nothing, which would squeeze what there is to see."""
    whole = sum(probabilities)
    kept = [i for i, p in enumerate(probabilities) if p > 5e-4 * whole] or [0]
    first, last = kept[0], kept[-1] + 1
    return list(edges[first : last + 1]), list(probabilities[first:last])


def _histogram(
    drawing: Drawing,
    top: float,
    height: float,
    edges: Sequence[float],
    shares: Sequence[float],
    across: tuple[float, float],
    colour: str = FILL,
) -> Area:
    area = Area(drawing, top, height, across, (0, 1.08 * max(shares) or 1), left=34, right=8)
    outline = [(x, y) for left, right, y in zip(edges, edges[1:], shares) for x in (left, right)]
    drawing.polygon(area.points([(edges[0], 0.0), *outline, (edges[-1], 0.0)]), colour, layer=1)
    area.y_axis(tick_percent, 3)
    return area


def unfilled(report: Report) -> Chart | None:
    entries = [(e, e.unfilled) for e in report.benchmarks if e.unfilled is not None and e.unfilled.counts][:MOST_PANELS]
    if all(chance == 0 for _, law in entries for n, chance in zip(law.counts, law.probabilities) if n):
        return None
    words = phrases(report)
    panels: list[tuple[ConstrainedModel, UnfilledModel, list[float], list[float]]] = []
    for entry, law in entries:
        step = [*(c - 0.5 for c in law.counts), law.counts[-1] + 0.5]
        panels.append((entry, law, *_trim(step, law.probabilities)))
    left, right = min(p[2][0] for p in panels), max(p[2][-1] for p in panels)
    each = 78
    drawing = Drawing(each * len(panels) + 34)
    said = []
    for i, (entry, law, edges, shares) in enumerate(panels):
        top, across = each * i + 20, (left - 0.5, right + 0.5)
        area = _histogram(drawing, top, each - 26, edges, shares, across, GROUPS[0])
        last = i == len(panels) - 1
        most = min(8, max(1, math.ceil(right - left)))
        area.x_axis(labels.UNFILLED_AXIS if last else "", tick_number, most, numbers=last)
        mean = entry.unfilled_capacity
        text = "" if mean is None else labels.mean(count(mean))
        name = words.constraint(entry)
        drawing.text(area.left, top - 4, label(name, 42))
        drawing.text(area.right, top - 4, text, "right", MUTED)
        said.append(labels.unfilled_text(name, text, percent(law.none)))
    return chart(drawing, "chart-unfilled", labels.UNFILLED_TITLE, " ".join(said))


def pit(fit: FitModel) -> Chart | None:
    edges, shares = fit.pit.edges, fit.pit.shares
    if not shares:
        return None
    even = (edges[1] - edges[0]) / (edges[-1] - edges[0])
    drawing = Drawing(176)
    area = _histogram(drawing, 6, 134, edges, shares, (edges[0], edges[-1]))
    area.level(area.y(even), INK, dashes="4 2", layer=2)
    area.x_axis(labels.PIT_AXIS, tick_number)
    low, high = percent(min(shares)), percent(max(shares))
    text = labels.pit_text(plural(len(shares), "bin"), low, high, percent(even))
    return chart(drawing, "chart-fit-pit", labels.PIT_TITLE, text)


def coverage(fit: FitModel) -> Chart | None:
    rows = [(row.nominal, row.actual) for row in fit.coverage]
    if not rows:
        return None
    low = max(0.0, math.floor(10 * (min(min(row) for row in rows) - 0.05)) / 10)
    drawing = Drawing(176)
    area = Area(drawing, 6, 134, (low, 1), (low, 1.02), left=34, right=16)
    drawing.line(area.points([(low, low), (1, 1)]), MUTED, dashes="4 2")
    curve(area, rows, "circle", GROUPS[0], 7)
    area.y_axis(tick_percent, 4, skip_lowest=True)
    area.x_axis(labels.COVERAGE_AXIS, tick_percent)
    text = labels.coverage_text([(percent(level), percent(share)) for level, share in rows])
    return chart(drawing, "chart-fit-coverage", labels.COVERAGE_TITLE, text)
