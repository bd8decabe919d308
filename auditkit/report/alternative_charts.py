"""The chart of alternatives: utility against the ratio of the rates.

Two curves, the most that any policy can earn with and without looking at the group; dots, the rules that never look at
it; a diamond, the firm's own rule. Utility is relative to that of the best search that does not see the group.
"""

from __future__ import annotations

from auditkit.report.chart_parts import ticks
from auditkit.report.schema import AlternativeModel, FrontierOptimumModel
from auditkit.report.svg import GRID, GROUPS, INK, MUTED, Chart, axes, chart, figure
from auditkit.report.words import labels
from auditkit.text import brief, percent, tick_number, tick_percent


def alternative_chart(each: AlternativeModel, number: int = 1) -> Chart | None:
    """None where utilities are not positive, or fewer than two points are within reach."""
    free = each.blind[0].utility
    if free is None or free <= 0:
        return None
    blind, aware = (_curve(points, free) for points in (each.blind, each.aware))
    rules = [(rule.ratio, rule.utility / free) for rule in each.reached if rule.ratio is not None]
    if len(blind) < 2:
        return None
    fig = figure(240)
    ax = axes(fig, 28, 166, left=52, right=10)
    ax.grid(axis="y", color=GRID, linewidth=0.7)
    for i, (name, dots, style) in enumerate(
        ((labels.WITHOUT_GROUP, blind, "o-"), (labels.WITH_GROUP, aware, "s--"), (labels.RULES, rules, "."))
    ):
        if dots:
            color = GROUPS[i] if style != "." else MUTED
            ax.plot(*zip(*dots, strict=True), style, color=color, markersize=5, linewidth=1.5, zorder=4 - i)
        ax.plot(
            [-0.12 + 0.42 * i],
            [1.1],
            style[0],
            color=GROUPS[i] if style != "." else MUTED,
            markersize=7,
            transform=ax.transAxes,
            clip_on=False,
        )
        ax.text(-0.09 + 0.42 * i, 1.075, name, transform=ax.transAxes)
    if each.firm.ratio is not None:
        ax.plot([each.firm.ratio], [each.firm.utility / free], "D", color=INK, markersize=6, zorder=6)
        ax.annotate(
            labels.FIRMS_RULE, (each.firm.ratio, each.firm.utility / free), (6, -10), textcoords="offset points"
        )
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: tick_percent(y)))
    ticks(ax, tick_number, 6)
    ax.set_xlabel(labels.ratio_axis(each.group, each.against), labelpad=3)
    told = labels.alternatives_text(
        [(brief(x), percent(y)) for x, y in blind], None if each.firm.ratio is None else brief(each.firm.ratio)
    )
    return chart(fig, f"chart-alternatives-{number}", labels.alternatives_title(each.attribute), told)


def _curve(points: tuple[FrontierOptimumModel, ...], free: float) -> list[tuple[float, float]]:
    """(ratio reached, share of the utility), once for each ratio."""
    found = {p.reached: p.utility / free for p in points if p.reached is not None and p.utility is not None}
    return sorted(found.items())
