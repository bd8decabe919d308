"""Charts of distributions: ex-post slack, positions left open, and how scores fell in their predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from auditkit.report.chart_parts import shares_upwards, ticks
from auditkit.report.schema import ConstrainedModel, FitModel, LawModel, Report, UnfilledModel
from auditkit.report.svg import FILL, GROUPS, INK, MUTED, Chart, axes, chart, figure, label
from auditkit.report.view import phrases
from auditkit.report.words import labels
from auditkit.text import count, percent, plural, ratio, tick_number, tick_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PANELS = 6
"""More distributions than these are left to the tables, and the text says so."""


def slack_panels(report: Report) -> list[LawModel]:
    """Each distribution of an ex-post slack, under the first constraint that has it: alone before all together."""
    panels: dict[str, LawModel] = {}
    for entry in report.entries:
        for law in entry.ex_post_slack or ():
            panels.setdefault(law.label, law)
    return list(panels.values())


def slack(i: int, title: str, law: LawModel) -> Chart:
    edges, probabilities = _trim(law.edges, law.probabilities)
    fig = figure(150)
    ax = axes(fig, 6, 108, left=34, right=8)
    _histogram(ax, edges, probabilities)
    ticks(ax, tick_number, 6)
    ax.axvline(0, color=INK, linewidth=1)
    ax.axvline(law.mean, color=GROUPS[1], linewidth=1.5, dashes=(4, 2))
    ax.set_xlabel(labels.SLACK_AXIS, labelpad=3)
    return chart(fig, f"chart-slack-{i}", title, labels.slack_text(ratio(law.mean), ratio(law.sd)))


def _trim(edges: Sequence[float], probabilities: Sequence[float]) -> tuple[list[float], list[float]]:
    """Without the ends that hold next to nothing, which would squeeze what there is to see."""
    whole = sum(probabilities)
    kept = [i for i, p in enumerate(probabilities) if p > 5e-4 * whole] or [0]
    first, last = kept[0], kept[-1] + 1
    return list(edges[first : last + 1]), list(probabilities[first:last])


def _histogram(ax: Axes, edges: Sequence[float], shares: Sequence[float], colour: str = FILL) -> None:
    ax.stairs(shares, edges, fill=True, color=colour)
    ax.set_ylim(0, 1.08 * max(shares) or 1)
    shares_upwards(ax, 3)


def unfilled(report: Report) -> Chart | None:
    entries = [(e, e.unfilled) for e in report.entries if e.unfilled is not None and e.unfilled.counts][:MOST_PANELS]
    if all(chance == 0 for _, law in entries for n, chance in zip(law.counts, law.probabilities) if n):
        return None
    words = phrases(report)
    panels: list[tuple[ConstrainedModel, UnfilledModel, list[float], list[float]]] = []
    for entry, law in entries:
        step = [*(c - 0.5 for c in law.counts), law.counts[-1] + 0.5]
        panels.append((entry, law, *_trim(step, law.probabilities)))
    left, right = min(p[2][0] for p in panels), max(p[2][-1] for p in panels)
    each = 78
    fig = figure(each * len(panels) + 34)
    said = []
    for i, (entry, law, edges, shares) in enumerate(panels):
        ax = axes(fig, each * i + 20, each - 26, left=34, right=8)
        _histogram(ax, edges, shares, GROUPS[0])
        ax.set_xlim(left - 0.5, right + 0.5)
        ticks(ax, tick_number, min(8, max(1, math.ceil(right - left))))
        if i < len(panels) - 1:
            ax.set_xticklabels([])
        else:
            ax.set_xlabel(labels.UNFILLED_AXIS, labelpad=3)
        mean = entry.unfilled_capacity
        text = "" if mean is None else labels.mean(count(mean))
        name = words.constraint(entry)
        ax.text(0, 1.08, label(name, 42), transform=ax.transAxes)
        ax.text(1, 1.08, text, ha="right", color=MUTED, transform=ax.transAxes)
        said.append(labels.unfilled_text(name, text, percent(law.none)))
    return chart(fig, "chart-unfilled", labels.UNFILLED_TITLE, " ".join(said))


def pit(fit: FitModel) -> Chart | None:
    edges, shares = fit.pit.edges, fit.pit.shares
    if not shares:
        return None
    even = (edges[1] - edges[0]) / (edges[-1] - edges[0])
    fig = figure(176)
    ax = axes(fig, 6, 134, left=34, right=8)
    _histogram(ax, edges, shares)
    ax.plot([edges[0], edges[-1]], [even, even], color=INK, linewidth=1, dashes=(4, 2))
    ax.set_xlim(edges[0], edges[-1])
    ticks(ax, tick_number)
    ax.set_xlabel(labels.PIT_AXIS, labelpad=3)
    low, high = percent(min(shares)), percent(max(shares))
    text = labels.pit_text(plural(len(shares), "bin"), low, high, percent(even))
    return chart(fig, "chart-fit-pit", labels.PIT_TITLE, text)


def coverage(fit: FitModel) -> Chart | None:
    rows = [(row.nominal, row.actual) for row in fit.coverage]
    if not rows:
        return None
    fig = figure(176)
    ax = axes(fig, 6, 134, left=34, right=16)
    low = max(0.0, math.floor(10 * (min(min(row) for row in rows) - 0.05)) / 10)
    ax.set_xlim(low, 1)
    ax.set_ylim(low, 1.02)
    ax.plot([low, 1], [low, 1], color=MUTED, linewidth=1, dashes=(4, 2))
    levels, shares = zip(*rows)
    ax.plot(levels, shares, "o-", color=GROUPS[0], markersize=7, linewidth=1.5, clip_on=False)
    shares_upwards(ax, 4, prune="lower")
    ticks(ax, tick_percent)
    ax.set_xlabel(labels.COVERAGE_AXIS, labelpad=3)
    text = labels.coverage_text([(percent(level), percent(share)) for level, share in rows])
    return chart(fig, "chart-fit-coverage", labels.COVERAGE_TITLE, text)
