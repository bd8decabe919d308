"""Charts of the what-if answers, each from its part of the report alone.

    frontier       share of the utility kept, and of the positions filled, over the parameter of a constraint
    sensitivity    utility kept in the short and in the long term, over the factor of a group's scores
    positions      the constrained optimum now, with more positions, and what it is measured against
    budget         what one more unit of budget and one more position are worth

All are 360 pixels wide. Shares of utility need a utility above zero; where there is none, no chart is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping

from auditkit.report.chart_parts import curve, stretch, upright, write
from auditkit.report.schema import BudgetModel, CurveModel, FrontierModel, MorePositionsPart, SensitivityPart
from auditkit.report.svg import (
    FILL,
    GRID,
    GROUPS,
    INK,
    MARKERS,
    MUTED,
    WIDTH,
    Area,
    Chart,
    Drawing,
    chart,
    label,
    lit,
    spread,
)
from auditkit.report.words import labels
from auditkit.report.words.phrases import Phrases
from auditkit.scenarios.sensitivity import NOTICED
from auditkit.text import amount, brief, listing, percent, tick_number, tick_percent

Dots = list[tuple[float, float]]

PLAIN = Phrases()
NOTHING = 1e-9
"""A curve that gives up less than this everywhere shows nothing."""
LEAST_RANGE = 0.01
"""Shares that an axis spans at least: differences that are nothing do not look like something."""


def draw(answers: FrontierModel | None, biased: SensitivityPart | None, words: Phrases) -> list[Chart]:
    """All charts that the answers have the numbers for."""
    return [*(one for _, one in frontiers(answers)), *others(answers, biased, words)]


def frontiers(answers: FrontierModel | None) -> list[tuple[int, Chart]]:
    """The frontiers, each with its number among those of the report."""
    curves = () if answers is None else answers.curves
    found = [(i, frontier(curve, i)) for i, curve in enumerate(curves, 1)]
    return [(i, one) for i, one in found if one is not None]


def others(answers: FrontierModel | None, biased: SensitivityPart | None, words: Phrases) -> list[Chart]:
    """Biased scores, more openings, more budget."""
    found: list[Chart | None] = []
    if biased is not None:
        found.append(sensitivity(biased, 1, words))
    if answers is not None:
        found += [] if answers.positions is None else [positions(answers.positions)]
        found += [budget(part, i) for i, part in enumerate(answers.budgets, 1)]
    return [one for one in found if one is not None]


def frontier(part: CurveModel, number: int = 1) -> Chart | None:
    """One frontier; `number` tells several apart."""
    kept = [(p.value, p.ratio) for p in part.points if p.ratio is not None]
    if len(kept) < 2 or min(ratio for _, ratio in kept) > 1 - NOTHING:
        return None
    empty = [(p.value, p.unfilled_capacity or 0.0) for p in part.points if p.ratio is not None]
    lines = {labels.KEPT: kept, **_filled(empty, part.positions)}
    title, axis = part.title or part.label, part.axis or part.parameter
    area = _area(lines, label(axis, 60))
    free = labels.FREE_UP_TO if part.tightens > 0 else labels.FREE_FROM
    for height, x, text in ((5, part.starts, free), (20, part.present, labels.AS_IT_IS)):
        if x is not None and kept[0][0] <= x <= kept[-1][0]:
            _mark(area, x, text, x > (kept[0][0] + kept[-1][0]) / 2, height)
    text = labels.frontier_text([(brief(x), percent(y)) for x, y in kept])
    return chart(area.drawing, f"chart-frontier-{number}", title, text)


def sensitivity(part: SensitivityPart, number: int = 1, words: Phrases = PLAIN) -> Chart | None:
    points = sorted(
        (p.factor, p.ratio, p.long_term_ratio, p.constrained.unfilled_capacity)
        for p in part.points
        if p.constrained is not None and p.ratio is not None and p.long_term_ratio is not None
    )
    if len(points) < 2:
        return None
    lines = {
        labels.SHORT_TERM: [(x, short) for x, short, *_ in points],
        labels.LONG_TERM: [(x, long) for x, _, long, _ in points],
    }
    lines |= _filled([(x, empty) for x, *_, empty in points], part.positions)
    people = words.group(part.group)
    area = _area(lines, labels.sensitivity_axis(label(people, 26)))
    if part.wins_at is not None:
        _mark(area, part.wins_at, labels.WINS, part.wins_at > 0.55, 5)
    text = labels.sensitivity_text([(brief(x), percent(short), percent(long)) for x, short, long, _ in points])
    return chart(area.drawing, f"chart-sensitivity-{number}", labels.sensitivity_title(people), text)


def positions(part: MorePositionsPart) -> Chart | None:
    terms = ((labels.SHORT_TERM, part.short_term), (labels.LONG_TERM, part.long_term))
    rows = [(name, extra) for name, extra in terms if extra is not None]
    ends = [x for _, e in rows for x in (e.now, e.target, e.reached) if x is not None]
    height = 40 * len(rows) + 4
    drawing = Drawing(height + 36)
    area = Area(drawing, 0, height, spread(ends, 0.08), left=6, right=6)
    area.x_axis(labels.POSITIONS_AXIS, tick_number, 4)
    said = []
    for i, (name, extra) in enumerate(rows):
        y = 40 * i
        text = labels.more_positions(extra.positions)
        write(area, y + 12, name)
        write(area, y + 12, text, "right", MUTED)
        area.level(y + 25, GRID)
        upright(area, extra.target, y + 25, INK)
        if extra.reached is not None:
            stretch(area, y + 25, extra.now, extra.reached, FILL)
            drawing.mark(area.x(extra.reached), y + 25, MARKERS[1], GROUPS[1], 8)
        drawing.mark(area.x(extra.now), y + 25, MARKERS[0], GROUPS[0], 8)
        reached = None if extra.reached is None else amount(extra.reached)
        said.append(labels.positions_text(name, text, amount(extra.now), reached, amount(extra.target)))
    return chart(drawing, "chart-positions", labels.POSITIONS_TITLE, " ".join(said))


def budget(part: BudgetModel, number: int = 1) -> Chart | None:
    rows = [
        (labels.more_budget(tick_number(part.unit)), part.budget),
        (labels.ONE_MORE_POSITION, part.position),
    ]
    worth = [(name, x) for name, x in rows if x is not None]
    if not worth or max(abs(x) for _, x in worth) < NOTHING:
        return None
    height = 30 * len(worth) + 4
    drawing = Drawing(height + 36)
    across = min(0.0, *(x for _, x in worth)), 1.02 * max(x for _, x in worth) or 1.0
    area = Area(drawing, 0, height, across, left=6, right=6)
    area.x_axis(labels.BUDGET_AXIS, tick_number, 4)
    for i, (name, x) in enumerate(worth):
        write(area, 30 * i + 12, name)
        write(area, 30 * i + 12, amount(x), "right", MUTED)
        drawing.bar(area.x(0), area.x(x), 30 * i + 20, 7, GROUPS[i])
    said = listing(f"{name} {amount(x)}" for name, x in worth)
    return chart(drawing, f"chart-budget-{number}", labels.budget_title(), labels.budget_text(said))


def _area(lines: Mapping[str, Dots], x_label: str) -> Area:
    """Curves of shares over a number, named above."""
    shares = [y for dots in lines.values() for _, y in dots] + [1.0]
    low, high = min(shares), max(shares)
    up = spread((min(low, high - LEAST_RANGE), high), 0.06)
    across = spread([x for dots in lines.values() for x, _ in dots])
    area = Area(Drawing(222), 24, 156, across, up, left=48, right=8)
    area.level(area.y(1.0), MUTED)
    area.y_axis(tick_percent)
    area.x_axis(x_label, tick_number, 6)
    x = 12.0
    for i, (name, dots) in enumerate(lines.items()):
        area.drawing.mark(x, 10, MARKERS[i], GROUPS[i], 7)
        area.drawing.text(x + 9, 14, name)
        x += 30 + 6.6 * len(name)
        curve(area, dots, MARKERS[i], GROUPS[i], 6 - i)
    return area


def _filled(empty: Dots, positions: float) -> dict[str, Dots]:
    """Positions filled, where it is worth a curve: some stay empty."""
    if not positions or max(n for _, n in empty) < NOTICED * positions:
        return {}
    return {labels.FILLED: [(x, 1 - n / positions) for x, n in empty]}


def _mark(area: Area, number: float, text: str, right: bool, height: float) -> None:
    area.upright(number, INK, dashes="2.5 1.5")
    x = area.x(number) + (-4 if right else 4)
    area.drawing.text(x, area.bottom - height, text, "right" if right else "left", MUTED)


def alone(drawn: Chart) -> str:
    """A chart as a file of its own: with the name space, a size, and the light colours written out."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}"'
    return lit(drawn.svg).replace("<svg", head, 1)
