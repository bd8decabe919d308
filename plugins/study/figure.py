"""Panels as one SVG file: three to a row, bands of two standard errors, text kept as text, bytes that repeat."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from auditkit.errors import InputError, Problem
from auditkit.plugins.study.paper_claims import Line, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0068a8", "#d1560a", "#5b9e93", "#562548", "#b58900", "#723cd8", "#7f7f7f", "#4d4d0c", "#c2185b", "#00838f")
ACROSS = 3
WIDTH, HEIGHT = 3.5, 2.7
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "auditkit-study",
    "font.size": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9.0,
    "axes.grid": True,
    "grid.color": "#e3e6ea",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 7.0,
    "lines.linewidth": 1.3,
}


def draw(panels: Sequence[Panel]) -> str:
    """The SVG text of a figure."""
    try:
        import matplotlib
    except ImportError:
        raise InputError(Problem("matplotlib", "is missing", "pip install 'auditkit[study]'")) from None
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    across = min(ACROSS, len(panels))
    down = -(-len(panels) // across)
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        figure = Figure(figsize=(WIDTH * across, HEIGHT * down), layout="constrained", facecolor="white")
        FigureCanvasSVG(figure)
        grid = figure.subplots(down, across, squeeze=False).ravel()
        for axes, panel in zip(grid, panels):
            _panel(axes, panel)
        for axes in grid[len(panels) :]:
            axes.axis("off")
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return re.sub(r'="[^"]*"', _short, buffer.getvalue())


def _short(attribute: re.Match[str]) -> str:
    """Coordinates to a hundredth of a point; text in the figure is not changed."""
    return re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", attribute[0])


def _panel(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    if panel.level is not None:
        axes.axhline(panel.level, color="#8a929b", linewidth=0.8)
    for i, line in enumerate(panel.lines):
        _line(axes, line, COLOURS[(i if line.colour is None else line.colour) % len(COLOURS)])
    if len(panel.lines) > 1:
        axes.legend()


def _line(axes: Axes, line: Line, colour: str) -> None:
    dashes = "--" if line.style == "dashed" else "-"
    if line.style == "steps":
        axes.step(line.x, line.y, where="mid", color=colour, label=line.label)
        return
    axes.plot(line.x, line.y, dashes, color=colour, label=line.label)
    if line.se is not None and np.isfinite(line.se).all():
        axes.fill_between(line.x, line.y - 2 * line.se, line.y + 2 * line.se, color=colour, alpha=0.18, linewidth=0)
