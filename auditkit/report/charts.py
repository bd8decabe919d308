"""The charts of a report, each from the document alone; what the document does not hold is not drawn.

All are 360 pixels wide, read from top to bottom, and repeat numbers that also stand in a table. Groups keep their
colour and marker from chart to chart. Names stand above their marks, so that long ones cost no room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from auditkit.report import scenario_charts
from auditkit.report.chart_parts import bare, legend, legend_rows, stretch, ticks, upright, write
from auditkit.report.histograms import MOST_PANELS, coverage, pit, slack, slack_panels, unfilled
from auditkit.report.svg import (
    FILL,
    GRID,
    GROUPS,
    INK,
    MARKERS,
    MUTED,
    SIZE,
    Chart,
    axes,
    chart,
    drawing,
    figure,
    label,
)
from auditkit.report.view import Document, PolicyView, at, constrained, disparities, group_names, policies, total
from auditkit.text import amount, count, interval, listing, percent, ratio, tick_number, tick_percent

MOST_GROUPS = len(GROUPS)
MOST_POLICIES = 10
"""More than these are left to the tables, and the text says so."""

OUTCOMES = {"inspected": "Inspections", "selected": "Selections"}


def draw(document: Document) -> dict[str, list[Chart]]:
    """Every chart, by the section it belongs to; an empty list where there is nothing to draw."""
    with drawing():
        return {
            "funnel": _present(funnel(document)),
            "impact_ratio": _present(*(impact_ratio(key, part) for key, part in disparities(document))),
            "policies": _present(*(side_by_side(document, outcome) for outcome in OUTCOMES)),
            "price": _present(utility_kept(document), utility_lost(document)),
            "slack": _present(*(slack(i, *panel) for i, panel in enumerate(slack_panels(document)[:MOST_PANELS], 1))),
            "unfilled": _present(unfilled(document)),
            "whatif": scenario_charts.draw(document),
            "fit": _present(pit(document), coverage(document)),
        }


def _present(*charts: Chart | None) -> list[Chart]:
    return [one for one in charts if one is not None]


# Who applied, was inspected, was selected -----------------------------------------------------------------------------


class Bar(NamedTuple):
    group: str
    share: float | None
    text: str


def funnel_stages(document: Document) -> list[tuple[str, list[Bar]]]:
    """Every stage with the share of each group's applicants that reached it (of the first: of all applicants)."""
    stages = [stage for stage in document["funnel"] or () if stage["by_group"] is not None]
    names = group_names(document)[:MOST_GROUPS]
    found = []
    for k, stage in enumerate(stages):
        bars = []
        for name in names:
            n = stage["by_group"].get(name)
            whole = total(document, "applicants") if k == 0 else stages[0]["by_group"].get(name)
            share = None if n is None or not whole else n / whole
            of = f"{count(n)} ({percent(share)})" if k == 0 else f"{count(n)} of {count(whole)} ({percent(share)})"
            bars.append(Bar(name, share, of if share is not None else count(n)))
        if bars:
            found.append((str(stage["stage"]), bars))
    return found


def funnel(document: Document) -> Chart | None:
    stages = funnel_stages(document)
    shares = [bar.share for _, bars in stages for bar in bars if bar.share is not None]
    if not shares:
        return None
    height = sum(27 + 27 * len(bars) for _, bars in stages)
    fig = figure(height)
    ax = axes(fig, 0, height)
    bare(ax, height)
    ax.axis("off")
    ax.set_xlim(0, max(shares) or 1)
    y = 0.0
    for stage, bars in stages:
        write(ax, y + 14, label(stage.capitalize()), weight="bold", fontsize=SIZE + 0.5)
        y += 21
        for i, bar in enumerate(bars):
            write(ax, y + 11, label(bar.group, 30))
            write(ax, y + 11, bar.text, "right", color=MUTED)
            ax.barh(y + 18, 1, height=6, color=GRID, transform=ax.get_yaxis_transform())
            ax.barh(y + 18, bar.share or 0, height=6, color=GROUPS[i], zorder=2)
            y += 27
        y += 6
    said = [f"{stage}: {listing(f'{bar.group} {bar.text}' for bar in bars)}." for stage, bars in stages]
    return chart(fig, "chart-funnel", "Applicants by group and stage", " ".join(said))


# Disparity ------------------------------------------------------------------------------------------------------------


def impact_ratio(key: str, disparity: Mapping[str, Any]) -> Chart | None:
    rows = [row for row in disparity["groups"] or () if row["impact_ratio"] is not None and row["comparison"]]
    if not rows:
        return None
    rows = sorted(rows, key=lambda row: row["impact_ratio"])[: 2 * MOST_GROUPS]
    line = disparity["line"]
    ends = [(row["impact_ratio"], *_ends(row["comparison"]["interval"])) for row in rows]
    right = min(max(1.3, max(x if high is None else high for x, _, high in ends) * 1.05), 2.5)
    height = 14 + 32 * len(rows)
    fig = figure(height + 36)
    ax = axes(fig, 0, height, left=4, right=4)
    bare(ax, height)
    ax.set_xlim(0, right)
    ticks(ax, tick_number, 6)
    ax.set_xlabel(f"impact ratio; 1 is the rate of {label(disparity['reference'] or 'the reference', 24)}", labelpad=3)
    for i, (row, (x, low, high)) in enumerate(zip(rows, ends)):
        y = 32 * i
        bounds = row["comparison"]["interval"]
        write(ax, y + 12, label(row["group"], 26))
        text = ratio(x, line) + ("" if bounds is None else f" ({interval(bounds, lambda v: ratio(v, line))})")
        write(ax, y + 12, text, "right", color=MUTED)
        upright(ax, 1, y + 22, MUTED)
        if line is not None:
            upright(ax, line, y + 22, INK, dashes=(2.5, 1.5))
        if low is not None:
            stretch(ax, y + 22, min(low, right), right if high is None else min(high, right), FILL)
        ax.plot([min(x, right)], [y + 22], "o", color=GROUPS[0], markersize=7, zorder=3)
    said = listing(f"{row['group']} {ratio(row['impact_ratio'], line)}" for row in rows)
    outcome = disparity["outcome"] or key
    description = f"Impact ratios with their intervals, lowest first: {said}. The dashed line is at {ratio(line)}."
    return chart(fig, f"chart-impact-{_slug(key)}", f"Impact ratio of being {outcome}", description)


def _ends(bounds: Mapping[str, Any] | None) -> tuple[float | None, float | None]:
    return (None, None) if bounds is None else (bounds["lower"], bounds["upper"])


def _slug(text: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in text)


# Policies -------------------------------------------------------------------------------------------------------------


def side_by_side(document: Document, outcome: str) -> Chart | None:
    """One line for each policy, one mark for each group: the further apart, the larger the difference."""
    views = list(policies(document))[:MOST_POLICIES]
    names = group_names(document)[:MOST_GROUPS]
    rates = [[view.rate(name, outcome) for name in names] for view in views]
    known = [rate for row in rates for rate in row if rate is not None]
    if not known:
        return None
    lines = legend_rows(names)
    top = 8 + 17 * len(lines)
    height = top + 34 * len(views) + 4
    fig = figure(height + 36)
    ax = axes(fig, 0, height, left=6, right=6)
    bare(ax, height)
    low, high = min(known), max(known)
    room = max(0.08 * (high - low), 0.02 * high, 0.005)
    ax.set_xlim(max(0.0, low - room) if low > 0.4 * high else -0.02 * high, high + room)
    ticks(ax, tick_percent)
    ax.set_xlabel(f"share of the group's candidates {outcome} (expected)", labelpad=3)
    legend(ax, names, lines)
    for i, (view, row) in enumerate(zip(views, rates)):
        y = top + 34 * i
        write(ax, y + 12, label(view.name), weight="normal")
        ax.plot([0, 1], [y + 23, y + 23], color=GRID, linewidth=1, transform=ax.get_yaxis_transform(), zorder=1)
        if view.infeasible:
            write(ax, y + 12, "cannot be met", "right", color=MUTED)
        for g, rate in enumerate(row):
            if rate is not None:  # the first is the largest, so that marks on one spot are all seen
                size = 9.5 - g
                ax.plot([rate], [y + 23], MARKERS[g], color=GROUPS[g], markersize=size, zorder=2 + g, clip_on=False)
    title = f"{OUTCOMES[outcome]} by group and policy"
    return chart(fig, f"chart-policies-{outcome}", title, " ".join(_rates_in_words(views, names, rates)))


def _rates_in_words(
    views: Sequence[PolicyView], names: Sequence[str], rates: Sequence[Sequence[float | None]]
) -> Iterable[str]:
    for view, row in zip(views, rates):
        pairs = [f"{name} {percent(rate)}" for name, rate in zip(names, row) if rate is not None]
        yield f"{view.name}: {listing(pairs) if pairs else 'not available'}."


# What each constraint costs -------------------------------------------------------------------------------------------


def utility_kept(document: Document) -> Chart | None:
    return _price(document, "ratio", "chart-price-kept", "Utility kept under each constraint", percent, tick_percent)


def utility_lost(document: Document) -> Chart | None:
    return _price(document, "loss", "chart-price-lost", "Utility lost to each constraint", amount, tick_number)


def _price(
    document: Document, key: str, id: str, title: str, form: Callable[..., str], tick: Callable[[float], str]
) -> Chart | None:
    entries = constrained(document)[:MOST_POLICIES]
    prices = [at(entry, "price_of_fairness", key) for entry in entries]
    spans = [at(entry, "price_of_fairness", "interval", key) for entry in entries]
    known = [x for x in prices if x is not None] + [x for span in spans for x in span or () if x is not None]
    if not known:
        return None
    anchor = 1.0 if key == "ratio" else 0.0
    low, high = min([*known, anchor]), max([*known, anchor])
    room = 0.06 * (high - low) or 0.05
    height = 34 * len(entries) + 4
    fig = figure(height + 36)
    ax = axes(fig, 0, height, left=6, right=6)
    bare(ax, height)
    ax.set_xlim(low - room, high + room)
    ticks(ax, tick, 4)
    ax.set_xlabel("of the unconstrained optimum's utility" if key == "ratio" else "in units of utility", labelpad=3)
    said = []
    for i, (entry, x, span) in enumerate(zip(entries, prices, spans)):
        y = 34 * i
        text = form(x) if x is not None else "cannot be met" if entry["status"] == "infeasible" else "not available"
        if x is not None and span is not None:
            text += f" ({interval(span, form)})"
        write(ax, y + 12, label(entry["label"], 30))
        write(ax, y + 12, text, "right", color=MUTED)
        ax.plot([0, 1], [y + 23, y + 23], color=GRID, linewidth=1, transform=ax.get_yaxis_transform(), zorder=1)
        upright(ax, anchor, y + 23, MUTED)
        if span is not None and None not in span:
            stretch(ax, y + 23, span[0], span[1], FILL)
        if x is not None:
            ax.plot([x], [y + 23], "o", color=GROUPS[0], markersize=8, zorder=3)
        said.append(f"{entry['label']}: {text}.")
    return chart(fig, id, title, " ".join(said))
