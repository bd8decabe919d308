"""Charts of the what-if answers, each from its part of the document alone (`to_json` of `auditkit.scenarios`).

    frontier       share of the utility kept, and of the positions filled, over the parameter of a constraint
    sensitivity    utility kept in the short and in the long term, over the factor of a group's scores
    positions      the constrained optimum now, with more positions, and what it is measured against
    budget         what one more unit of budget and one more position are worth

All are 360 pixels wide. Shares of utility need a utility above zero; where there is none, no chart is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from auditkit.report.chart_parts import bare, stretch, ticks, upright, write
from auditkit.report.svg import FILL, GRID, GROUPS, INK, MARKERS, MUTED, WIDTH, Chart, axes, chart, figure, label, lit
from auditkit.text import amount, brief, listing, percent, plural, tick_number, tick_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Part = Mapping[str, Any]
Dots = list[tuple[float, float]]

NOTICED = 0.005
"""Share of the positions: fewer left empty than this are not drawn."""


def draw(document: Part) -> list[Chart]:
    """All charts that the document has the numbers for."""
    answers, biased = document["frontier"], document["sensitivity"]
    found: list[Chart | None] = []
    if answers is not None:
        found += [frontier(curve, i) for i, curve in enumerate(answers["curves"], 1)]
    if biased is not None:
        found.append(sensitivity(biased))
    if answers is not None:
        found += [] if answers["positions"] is None else [positions(answers["positions"])]
        found += [budget(part, i) for i, part in enumerate(answers["budgets"], 1)]
    return [one for one in found if one is not None]


def frontier(part: Part, number: int = 1) -> Chart | None:
    """One frontier; `number` tells several apart."""
    points = [p for p in part["points"] if p["ratio"] is not None]
    if len(points) < 2:
        return None
    kept = [(p["value"], p["ratio"]) for p in points]
    empty = [(p["value"], p["unfilled_capacity"]) for p in points]
    lines = {"utility kept": kept, **_filled(empty, part["positions"])}
    fig = figure(222)
    ax = _area(fig, lines, f"{part['parameter']} of {label(part['label'], 40)}")
    free = "free up to here" if part["tightens"] > 0 else "free from here"
    for height, x, text in ((0.03, part["starts"], free), (0.13, part["present"], "as it is")):
        if x is not None and kept[0][0] <= x <= kept[-1][0]:
            _mark(ax, x, text, x > (kept[0][0] + kept[-1][0]) / 2, height)
    said = listing(f"{percent(y)} at {brief(x)}" for x, y in kept)
    return chart(
        fig, f"chart-frontier-{number}", f"Utility kept by {label(part['label'], 80)}", f"Utility kept: {said}."
    )


def sensitivity(part: Part, number: int = 1) -> Chart | None:
    points = [p for p in part["points"] if p["ratio"] is not None and p["long_term_ratio"] is not None]
    if len(points) < 2:
        return None
    points = sorted(points, key=lambda p: p["factor"])
    lines = {
        "short term": [(p["factor"], p["ratio"]) for p in points],
        "long term": [(p["factor"], p["long_term_ratio"]) for p in points],
    }
    lines |= _filled([(p["factor"], p["constrained"]["unfilled_capacity"]) for p in points], part["positions"])
    fig = figure(222)
    ax = _area(fig, lines, f"scores of {label(part['group'], 26)}, as a share of their worth")
    if part["wins_at"] is not None:
        _mark(ax, part["wins_at"], "wins to the left", part["wins_at"] > 0.55, 0.03)
    said = listing(
        f"{percent(short)} and {percent(long)} at {brief(x)}"
        for (x, short), (_, long) in zip(lines["short term"], lines["long term"])
    )
    title = f"Biased scores of {label(part['group'], 60)}"
    return chart(fig, f"chart-sensitivity-{number}", title, f"Utility kept in the short and in the long term: {said}.")


def positions(part: Part) -> Chart | None:
    rows = [(name, part[key]) for name, key in (("short term", "short_term"), ("long term", "long_term")) if part[key]]
    ends = [x for _, e in rows for x in (e["now"], e["target"], e["reached"]) if x is not None]
    low, high = min(ends), max(ends)
    room = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
    height = 40 * len(rows) + 4
    fig = figure(height + 36)
    ax = axes(fig, 0, height, left=6, right=6)
    bare(ax, height)
    ax.set_xlim(low - room, high + room)
    ticks(ax, tick_number, 4)
    ax.set_xlabel("utility; line: the unconstrained optimum now", labelpad=3)
    said = []
    for i, (name, extra) in enumerate(rows):
        y = 40 * i
        text = _positions_in_words(extra["positions"])
        write(ax, y + 12, name)
        write(ax, y + 12, text, "right", color=MUTED)
        ax.plot([0, 1], [y + 25, y + 25], color=GRID, linewidth=1, transform=ax.get_yaxis_transform(), zorder=1)
        upright(ax, extra["target"], y + 25, INK)
        if extra["reached"] is not None:
            stretch(ax, y + 25, extra["now"], extra["reached"], FILL)
            ax.plot([extra["reached"]], [y + 25], MARKERS[1], color=GROUPS[1], markersize=8, zorder=3)
        ax.plot([extra["now"]], [y + 25], MARKERS[0], color=GROUPS[0], markersize=8, zorder=4)
        reached = "" if extra["reached"] is None else f", {amount(extra['reached'])} with them"
        said.append(
            f"{name}: {text}; constrained {amount(extra['now'])} now{reached}, unconstrained {amount(extra['target'])}."
        )
    return chart(fig, "chart-positions", "A few positions more", " ".join(said))


def _positions_in_words(number: int | None) -> str:
    if number is None:
        return "no number is enough"
    return "none needed" if number == 0 else plural(number, "more position")


def budget(part: Part, number: int = 1) -> Chart | None:
    rows = [
        (f"{tick_number(part['unit'])} more of the budget", part["budget"]),
        ("one more position", part["position"]),
    ]
    worth = [(name, x) for name, x in rows if x is not None]
    height = 30 * len(worth) + 4
    fig = figure(height + 36)
    ax = axes(fig, 0, height, left=6, right=6)
    bare(ax, height)
    ax.set_xlim(min(0.0, *(x for _, x in worth)), 1.02 * max(x for _, x in worth) or 1.0)
    ticks(ax, tick_number, 4)
    ax.set_xlabel("units of utility gained", labelpad=3)
    for i, (name, x) in enumerate(worth):
        write(ax, 30 * i + 12, name)
        write(ax, 30 * i + 12, amount(x), "right", color=MUTED)
        ax.barh(30 * i + 20, x, height=7, color=GROUPS[i], zorder=2)
    said = listing(f"{name} {amount(x)}" for name, x in worth)
    return chart(fig, f"chart-budget-{number}", f"Worth of {label(part['label'], 80)}", f"Gained by {said}.")


def _area(fig: Any, lines: Mapping[str, Dots], x_label: str) -> Axes:
    """Curves of shares over a number, named above."""
    ax = axes(fig, 24, 156, left=48, right=8)
    shares = [y for dots in lines.values() for _, y in dots] + [1.0]
    low, high = min(shares), max(shares)
    room = max(0.06 * (high - low), 0.005)
    ax.set_ylim(low - room, high + room)
    ax.axhline(1.0, color=MUTED, linewidth=1, zorder=1)
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: tick_percent(y)))
    ax.grid(axis="y", color=GRID, linewidth=0.7)
    ticks(ax, tick_number, 6)
    ax.set_xlabel(x_label, labelpad=3)
    _name(ax, list(lines))
    for i, dots in enumerate(lines.values()):
        ax.plot(*zip(*dots), MARKERS[i] + "-", color=GROUPS[i], markersize=6 - i, linewidth=1.5, zorder=3 + i)
    return ax


def _name(ax: Axes, names: Sequence[str]) -> None:
    x = -0.12
    for i, name in enumerate(names):
        ax.plot([x], [1.09], MARKERS[i], color=GROUPS[i], markersize=7, transform=ax.transAxes, clip_on=False)
        ax.text(x + 0.03, 1.065, name, transform=ax.transAxes)
        x += 0.1 + 0.0215 * len(name)


def _filled(empty: Dots, positions: float) -> dict[str, Dots]:
    """Positions filled, where it is worth a curve: some stay empty."""
    if not positions or max(n for _, n in empty) < NOTICED * positions:
        return {}
    return {"positions filled": [(x, 1 - n / positions) for x, n in empty]}


def _mark(ax: Axes, x: float, text: str, right: bool, height: float) -> None:
    ax.axvline(x, color=INK, linewidth=1, dashes=(2.5, 1.5), zorder=2)
    side = "right" if right else "left"
    ax.annotate(
        text, (x, height), (-4 if right else 4, 0), ("data", "axes fraction"), "offset points", ha=side, color=MUTED
    )


def alone(drawn: Chart) -> str:
    """A chart as a file of its own: with the name space, a size, and the light colours written out."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}"'
    return lit(drawn.svg).replace("<svg", head, 1)
