"""The chart of alternatives: utility against the ratio of the rates.

Two curves, the most that any policy can earn with and without looking at the group; triangles, the rules that never
look at it; a diamond, the firm's own rule. What lies under the lower curve can be had without the group. Utility is
relative to that of the best search that does not see the group.
"""

from __future__ import annotations

from auditkit.report.chart_parts import curve
from auditkit.report.schema import AlternativePart
from auditkit.report.svg import GRID, GROUPS, INK, MUTED, SIZE, Area, Chart, Drawing, chart, spread
from auditkit.report.words import labels
from auditkit.rules.blind_frontier import FrontierOptimum
from auditkit.text import brief, percent, tick_number, tick_percent


def alternative_chart(each: AlternativePart, number: int = 1) -> Chart | None:
    """None where utilities are not positive, or fewer than two points are within reach."""
    free = each.blind[0].utility
    if free is None or free <= 0:
        return None
    blind, aware = (_curve(points) for points in (each.blind, each.aware))
    rules = [(rule.ratio, rule.utility / free) for rule in each.reached if rule.ratio is not None]
    if len(blind) < 2:
        return None
    firm = [] if each.firm.ratio is None else [(each.firm.ratio, each.firm.utility / free)]
    dots = [*blind, *aware, *rules, *firm]
    drawing = Drawing(278)
    across, up = (spread(numbers) for numbers in zip(*dots, strict=True))
    area = Area(drawing, 60, 172, across, up, left=52, right=10)
    edge = area.points(blind)
    reach = [(area.left, edge[0][1]), *edge, (edge[-1][0], area.bottom), (area.left, area.bottom)]
    drawing.polygon(reach, GRID, layer=0)
    drawing.text(area.left + 5, area.bottom - 6, labels.WITHIN_REACH, colour=MUTED, size=SIZE - 0.5)
    for x, y in area.points(rules):
        drawing.mark(x, y, "up", GROUPS[2], 5)
    curve(area, aware, "square", GROUPS[1], 5, "6 3")
    curve(area, blind, "circle", GROUPS[0], 5)
    for x, y in area.points(firm):
        drawing.mark(x, y, "diamond", INK, 6)
    names = (
        (labels.WITHOUT_GROUP, "circle", GROUPS[0], 0, 0),
        (labels.WITH_GROUP, "square", GROUPS[1], 0, 1),
        (labels.RULES, "up", GROUPS[2], 1, 0),
        (labels.FIRMS_RULE, "diamond", INK, 1, 1),
    )
    for name, marker, colour, column, line in names:
        drawing.mark(8 + 192 * column, 11 + 17 * line, marker, colour, 6)
        drawing.text(17 + 192 * column, 15 + 17 * line, name)
    drawing.text(2, 50, labels.VALUE_KEPT, colour=MUTED)
    area.y_axis(tick_percent)
    area.x_axis(labels.ratio_axis(each.group, each.against), tick_number, 6)
    told = labels.alternatives_text(
        [(brief(x), percent(y)) for x, y in blind], None if each.firm.ratio is None else brief(each.firm.ratio)
    )
    return chart(drawing, f"chart-alternatives-{number}", labels.alternatives_title(each.attribute, each.rates), told)


def _curve(points: tuple[FrontierOptimum, ...]) -> list[tuple[float, float]]:
    """(ratio reached, share of the utility of their best search), once for each ratio."""
    free = points[0].utility if points else None
    if free is None or free <= 0:
        return []
    found = {p.reached: p.utility / free for p in points if p.reached is not None and p.utility is not None}
    return sorted(found.items())
