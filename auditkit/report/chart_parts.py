"""What several charts are made of: names above marks, pieces of lines, legends."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import accumulate

from auditkit.report.svg import GROUPS, INK, MARKERS, SIZE, WIDTH, Area, Drawing, Point, label


def write(area: Area, y: float, text: str, side: str = "left", colour: str = INK, *, bold: bool = False) -> None:
    """Text at the left or right edge of the plot area, its base line at y."""
    x = area.left if side == "left" else area.right
    area.drawing.text(x, y, text, side, colour, bold=bold, size=SIZE + 0.5 if bold else SIZE)


def wrapped(text: str, most: int = 52) -> list[str]:
    """A name on one line or two; words stay whole."""
    found = textwrap.wrap(label(text, most * 2), most, break_long_words=True, break_on_hyphens=False)
    return [found[0], " ".join(found[1:])] if len(found) > 2 else found or [""]


LINE = 13.0
"""Height of a further line of a name."""


def write_lines(area: Area, y: float, lines: Sequence[str], colour: str = INK) -> float:
    """Lines of a name, the first at y; how much room those below it take."""
    for i, text in enumerate(lines):
        write(area, y + LINE * i, text, colour=colour)
    return LINE * (len(lines) - 1)


def stacked(first: float, heights: Sequence[float]) -> list[float]:
    """Where each of some rows begins, and where the last one ends."""
    return list(accumulate(heights, initial=first))


def legend_rows(names: Sequence[str]) -> list[list[tuple[int, float]]]:
    """Which names go in which line, and how far from the left; widths are estimates on the safe side."""
    rows: list[list[tuple[int, float]]] = [[]]
    x = 0.0
    for i, name in enumerate(names):
        width = 16 + 0.62 * SIZE * len(label(name)) + 12
        if rows[-1] and x + width > WIDTH:
            rows.append([])
            x = 0.0
        rows[-1].append((i, x))
        x += width
    return rows


def legend(drawing: Drawing, names: Sequence[str], rows: list[list[tuple[int, float]]]) -> None:
    for k, row in enumerate(rows):
        for i, x in row:
            y = 10 + 17 * k
            drawing.mark(x + 7, y - 4, MARKERS[i], GROUPS[i], 8)
            drawing.text(x + 17, y, label(names[i]))


def upright(area: Area, number: float, y: float, colour: str, dashes: str = "") -> None:
    """A piece of a vertical line beside the marks of one row, which leaves the names alone."""
    x = area.x(number)
    area.drawing.line(((x, y - 6), (x, y + 7)), colour, dashes=dashes, layer=1)


def stretch(area: Area, y: float, low: float, high: float, colour: str) -> None:
    area.drawing.line(((area.x(low), y), (area.x(high), y)), colour, 2.5)


def curve(area: Area, dots: Sequence[Point], marker: str | None, colour: str, size: float, dashes: str = "") -> None:
    """A line through marked points."""
    points = area.points(dots)
    if points:
        area.drawing.line(points, colour, 1.5, dashes)
    for x, y in points:
        if marker is not None:
            area.drawing.mark(x, y, marker, colour, size)
