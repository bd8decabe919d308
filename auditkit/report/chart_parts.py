"""What several charts are made of: names above marks, pieces of lines, axes in plain numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

from auditkit.report.svg import GRID, GROUPS, MARKERS, SIZE, WIDTH, label
from auditkit.text import tick_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bare(ax: Axes, height: float) -> None:
    """Vertical pixels from the top; only the horizontal axis may be read."""
    ax.set_ylim(height, 0)
    ax.set_yticks([])


def write(ax: Axes, y: float, text: str, side: str = "left", **style: Any) -> None:
    """Text at the left or right edge of the plot area, its base line at y."""
    x = 0.0 if side == "left" else 1.0
    ax.text(x, y, text, ha=side, va="baseline", transform=ax.get_yaxis_transform(), **style)


def wrapped(text: str, most: int = 52, lines: int = 2) -> list[str]:
    """A name on as many lines as it needs, at most `lines`; words stay whole."""
    found = textwrap.wrap(label(text, most * lines), most, break_long_words=True, break_on_hyphens=False)
    return [*found[: lines - 1], " ".join(found[lines - 1 :])] if len(found) > lines else found or [""]


LINE = 13.0
"""Height of a further line of a name."""


def write_lines(ax: Axes, y: float, lines: Sequence[str], **style: Any) -> float:
    """Lines of a name, the first at y; how much room those below it take."""
    for i, text in enumerate(lines):
        write(ax, y + LINE * i, text, **style)
    return LINE * (len(lines) - 1)


def stacked(first: float, heights: Sequence[float]) -> list[float]:
    """Where each of some rows begins, and where the last one ends."""
    return list(accumulate(heights, initial=first))


def ticks(ax: Axes, form: Callable[[float], str], most: int = 5) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: form(x)))
    ax.tick_params(axis="x", length=3)


def legend_rows(names: Sequence[str]) -> list[list[tuple[int, float]]]:
    """Which names stand in which line, and how far from the left; widths are estimates on the safe side."""
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


def legend(ax: Axes, names: Sequence[str], rows: list[list[tuple[int, float]]], line: float = 17) -> None:
    width = WIDTH - 2
    for k, row in enumerate(rows):
        for i, x in row:
            y = 10 + k * line
            across = ax.get_yaxis_transform()
            ax.plot(
                [(x + 6) / width], [y - 4], MARKERS[i], color=GROUPS[i], markersize=8, transform=across, clip_on=False
            )
            ax.text((x + 16) / width, y, label(names[i]), transform=across, va="baseline")


def upright(ax: Axes, x: float, y: float, colour: str, **style: Any) -> None:
    """A piece of a vertical line beside the marks of one row, which leaves the names alone."""
    ax.plot([x, x], [y - 6, y + 7], color=colour, linewidth=1, zorder=1, **style)


def stretch(ax: Axes, y: float, low: float, high: float, colour: str) -> None:
    ax.plot([low, high], [y, y], color=colour, linewidth=2.5, solid_capstyle="butt", zorder=2)


def shares_upwards(ax: Axes, most: int, prune: Literal["lower"] | None = None) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator(most, prune=prune))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: tick_percent(y)))
    ax.set_axisbelow(True)
    ax.grid(axis="y", color=GRID, linewidth=0.7)
