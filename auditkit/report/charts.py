"""The charts of a report, each from the document alone; what the document does not hold is not drawn.

All are 360 pixels wide, read from top to bottom, and repeat numbers that also stand in a table. Groups keep their
colour and marker from chart to chart. Names stand above their marks, so that long ones cost no room.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from auditkit.report.reading import (
    Document,
    PolicyView,
    at,
    constrained,
    coverage_rows,
    disparities,
    group_names,
    pit_bins,
    policies,
    total,
)
from auditkit.report.svg import (
    FILL,
    GRID,
    GROUPS,
    INK,
    MARKERS,
    MUTED,
    SIZE,
    WIDTH,
    Chart,
    axes,
    chart,
    drawing,
    figure,
    label,
)
from auditkit.report.words import amount, count, interval, listing, percent, plural, ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_GROUPS = len(GROUPS)
MOST_POLICIES = 10
MOST_PANELS = 6
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
            "fit": _present(pit(document), coverage(document)),
        }


def _present(*charts: Chart | None) -> list[Chart]:
    return [one for one in charts if one is not None]


# Parts that several charts share --------------------------------------------------------------------------------------


def _bare(ax: Axes, height: float) -> None:
    """Vertical pixels from the top; only the horizontal axis may be read."""
    ax.set_ylim(height, 0)
    ax.set_yticks([])


def _write(ax: Axes, y: float, text: str, side: str = "left", **style: Any) -> None:
    """Text at the left or right edge of the plot area, its base line at y."""
    x = 0.0 if side == "left" else 1.0
    ax.text(x, y, text, ha=side, va="baseline", transform=ax.get_yaxis_transform(), **style)


def _ticks(ax: Axes, form: Callable[[float], str], most: int = 5) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: form(x)))
    ax.tick_params(axis="x", length=3)


def _whole_percent(x: float) -> str:
    return f"{round(100 * x, 6):g}\u00a0%".replace("-", "\u2212")


def _plain_number(x: float) -> str:
    return f"{round(x, 9):,.10g}".replace("-", "\u2212")


def _legend_rows(names: Sequence[str]) -> list[list[tuple[int, float]]]:
    """Which names stand in which line, and how far from the left; widths are estimates on the safe side."""
    rows: list[list[tuple[int, float]]] = [[]]
    x = 0.0
    for i, name in enumerate(names):
        width = 16 + 0.62 * SIZE * len(label(name, 30)) + 12
        if rows[-1] and x + width > WIDTH:
            rows.append([])
            x = 0.0
        rows[-1].append((i, x))
        x += width
    return rows


def _legend(ax: Axes, names: Sequence[str], rows: list[list[tuple[int, float]]], line: float = 17) -> None:
    width = WIDTH - 2
    for k, row in enumerate(rows):
        for i, x in row:
            y = 10 + k * line
            across = ax.get_yaxis_transform()
            ax.plot(
                [(x + 6) / width], [y - 4], MARKERS[i], color=GROUPS[i], markersize=8, transform=across, clip_on=False
            )
            ax.text((x + 16) / width, y, label(names[i], 30), transform=across, va="baseline")


def _upright(ax: Axes, x: float, y: float, colour: str, **style: Any) -> None:
    """A piece of a vertical line beside the marks of one row, which leaves the names alone."""
    ax.plot([x, x], [y - 6, y + 7], color=colour, linewidth=1, zorder=1, **style)


def _span(ax: Axes, y: float, low: float, high: float, colour: str) -> None:
    ax.plot([low, high], [y, y], color=colour, linewidth=2.5, solid_capstyle="butt", zorder=2)


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
    _bare(ax, height)
    ax.axis("off")
    ax.set_xlim(0, max(shares) or 1)
    y = 0.0
    for stage, bars in stages:
        _write(ax, y + 14, label(stage.capitalize()), weight="bold", fontsize=SIZE + 0.5)
        y += 21
        for i, bar in enumerate(bars):
            _write(ax, y + 11, label(bar.group, 30))
            _write(ax, y + 11, bar.text, "right", color=MUTED)
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
    _bare(ax, height)
    ax.set_xlim(0, right)
    _ticks(ax, _plain_number, 6)
    ax.set_xlabel(f"impact ratio (reference {label(disparity['reference'], 24)} = 1)", labelpad=3)
    for i, (row, (x, low, high)) in enumerate(zip(rows, ends)):
        y = 32 * i
        bounds = row["comparison"]["interval"]
        _write(ax, y + 12, label(row["group"], 26))
        text = ratio(x, line) + ("" if bounds is None else f" ({interval(bounds, lambda v: ratio(v, line))})")
        _write(ax, y + 12, text, "right", color=MUTED)
        _upright(ax, 1, y + 22, MUTED)
        if line is not None:
            _upright(ax, line, y + 22, INK, dashes=(2.5, 1.5))
        if low is not None:
            _span(ax, y + 22, min(low, right), right if high is None else min(high, right), FILL)
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
    legend = _legend_rows(names)
    top = 8 + 17 * len(legend)
    height = top + 34 * len(views) + 4
    fig = figure(height + 36)
    ax = axes(fig, 0, height, left=6, right=6)
    _bare(ax, height)
    low, high = min(known), max(known)
    room = max(0.08 * (high - low), 0.02 * high, 0.005)
    ax.set_xlim(max(0.0, low - room) if low > 0.4 * high else -0.02 * high, high + room)
    _ticks(ax, _whole_percent)
    ax.set_xlabel(f"share of the group's candidates {outcome} (expected)", labelpad=3)
    _legend(ax, names, legend)
    for i, (view, row) in enumerate(zip(views, rates)):
        y = top + 34 * i
        _write(ax, y + 12, label(view.name), weight="normal")
        ax.plot([0, 1], [y + 23, y + 23], color=GRID, linewidth=1, transform=ax.get_yaxis_transform(), zorder=1)
        if view.infeasible:
            _write(ax, y + 12, "cannot be met", "right", color=MUTED)
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
    return _price(document, "ratio", "chart-price-kept", "Utility kept under each constraint", percent, _whole_percent)


def utility_lost(document: Document) -> Chart | None:
    return _price(document, "loss", "chart-price-lost", "Utility lost to each constraint", amount, _plain_number)


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
    _bare(ax, height)
    ax.set_xlim(low - room, high + room)
    _ticks(ax, tick, 4)
    ax.set_xlabel("of the unconstrained optimum's utility" if key == "ratio" else "in units of utility", labelpad=3)
    said = []
    for i, (entry, x, span) in enumerate(zip(entries, prices, spans)):
        y = 34 * i
        text = form(x) if x is not None else "cannot be met" if entry["status"] == "infeasible" else "not available"
        if x is not None and span is not None:
            text += f" ({interval(span, form)})"
        _write(ax, y + 12, label(entry["label"], 30))
        _write(ax, y + 12, text, "right", color=MUTED)
        ax.plot([0, 1], [y + 23, y + 23], color=GRID, linewidth=1, transform=ax.get_yaxis_transform(), zorder=1)
        _upright(ax, anchor, y + 23, MUTED)
        if span is not None and None not in span:
            _span(ax, y + 23, span[0], span[1], FILL)
        if x is not None:
            ax.plot([x], [y + 23], "o", color=GROUPS[0], markersize=8, zorder=3)
        said.append(f"{entry['label']}: {text}.")
    return chart(fig, id, title, " ".join(said))


# Ex-post slack and unfilled capacity ----------------------------------------------------------------------------------


def slack_panels(document: Document) -> list[tuple[str, Mapping[str, Any]]]:
    """Each distribution of an ex-post slack, under the first constraint that has it: alone before all together."""
    panels: dict[str, Mapping[str, Any]] = {}
    for entry in constrained(document):
        for law in entry["ex_post_slack"] or ():
            if law["edges"] and law["probabilities"]:
                panels.setdefault(str(law["label"]), law)
    return list(panels.items())


def slack(i: int, title: str, law: Mapping[str, Any]) -> Chart:
    edges, probabilities = _trim(law["edges"], law["probabilities"])
    fig = figure(150)
    ax = axes(fig, 6, 108, left=34, right=8)
    _histogram(ax, edges, probabilities)
    _ticks(ax, _plain_number, 6)
    ax.axvline(0, color=INK, linewidth=1)
    if law["mean"] is not None:
        ax.axvline(law["mean"], color=GROUPS[1], linewidth=1.5, dashes=(4, 2))
    ax.set_xlabel("realised slack; solid: zero, dashed: mean", labelpad=3)
    mean, sd = ratio(law["mean"]), ratio(law["sd"])
    description = f"Exact distribution of the realised slack: mean {mean}, standard deviation {sd}."
    return chart(fig, f"chart-slack-{i}", title, description)


def _trim(edges: Sequence[float], probabilities: Sequence[float]) -> tuple[list[float], list[float]]:
    """Without the ends that hold next to nothing, which would squeeze what there is to see."""
    whole = sum(probabilities)
    kept = [i for i, p in enumerate(probabilities) if p > 5e-4 * whole] or [0]
    first, last = kept[0], kept[-1] + 1
    return list(edges[first : last + 1]), list(probabilities[first:last])


def _histogram(ax: Axes, edges: Sequence[float], shares: Sequence[float], colour: str = FILL) -> None:
    ax.stairs(shares, edges, fill=True, color=colour)
    ax.set_ylim(0, 1.08 * max(shares) or 1)
    _shares_upwards(ax, 3)


def _shares_upwards(ax: Axes, most: int, prune: Literal["lower"] | None = None) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator(most, prune=prune))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: _whole_percent(y)))
    ax.set_axisbelow(True)
    ax.grid(axis="y", color=GRID, linewidth=0.7)


def unfilled(document: Document) -> Chart | None:
    entries = [e for e in constrained(document) if at(e, "unfilled", "counts") and at(e, "unfilled", "probabilities")]
    entries = entries[:MOST_PANELS]
    if not entries:
        return None
    panels = []
    for entry in entries:
        counts, probabilities = entry["unfilled"]["counts"], entry["unfilled"]["probabilities"]
        step = [*(c - 0.5 for c in counts), counts[-1] + 0.5]
        panels.append((entry, *_trim(step, probabilities)))
    left, right = min(p[1][0] for p in panels), max(p[1][-1] for p in panels)
    each = 78
    fig = figure(each * len(panels) + 34)
    said = []
    for i, (entry, edges, shares) in enumerate(panels):
        ax = axes(fig, each * i + 20, each - 26, left=34, right=8)
        _histogram(ax, edges, shares, GROUPS[0])
        ax.set_xlim(left - 0.5, right + 0.5)
        _ticks(ax, _plain_number, min(8, max(1, math.ceil(right - left))))
        if i < len(panels) - 1:
            ax.set_xticklabels([])
        else:
            ax.set_xlabel("positions left open", labelpad=3)
        mean = entry["unfilled_capacity"]
        text = "" if mean is None else f"mean {count(mean)}"
        ax.text(0, 1.08, label(entry["label"], 34), transform=ax.transAxes)
        ax.text(1, 1.08, text, ha="right", color=MUTED, transform=ax.transAxes)
        none = next((p for c, p in zip(entry["unfilled"]["counts"], entry["unfilled"]["probabilities"]) if c == 0), 0)
        said.append(
            f"{entry['label']}: {text or 'mean not available'}, every position filled with chance {percent(none)}."
        )
    return chart(fig, "chart-unfilled", "Positions left open, by constraint", " ".join(said))


# Fit quality ----------------------------------------------------------------------------------------------------------


def pit(document: Document) -> Chart | None:
    bins = pit_bins(document)
    if bins is None:
        return None
    edges, shares = bins
    even = (edges[1] - edges[0]) / (edges[-1] - edges[0])
    fig = figure(176)
    ax = axes(fig, 6, 134, left=34, right=8)
    _histogram(ax, edges, shares)
    ax.plot([edges[0], edges[-1]], [even, even], color=INK, linewidth=1, dashes=(4, 2))
    ax.set_xlim(edges[0], edges[-1])
    _ticks(ax, _plain_number)
    ax.set_xlabel("place of the score in its predicted distribution", labelpad=3)
    description = (
        f"{plural(len(shares), 'bin')} with between {percent(min(shares))} and {percent(max(shares))} of the scores; "
        f"a perfect fit would put {percent(even)} in each."
    )
    return chart(fig, "chart-fit-pit", "Place of scores in their predictions (PIT)", description)


def coverage(document: Document) -> Chart | None:
    rows = coverage_rows(document)
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
    _shares_upwards(ax, 4, prune="lower")
    _ticks(ax, _whole_percent)
    ax.set_xlabel("nominal level; height: share of scores inside", labelpad=3)
    said = listing(f"{percent(level)} intervals held {percent(share)}" for level, share in rows)
    return chart(fig, "chart-fit-coverage", "Coverage of the predicted intervals", f"{said} of the scores.")
