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
from auditkit.report.view import (
    AttributeView,
    Document,
    Part,
    PolicyView,
    at,
    attributes,
    constrained,
    group_names,
    joined,
    named,
    policies,
    policy_attributes,
    step_numbers,
)
from auditkit.text import amount, count, expected, interval, listing, percent, ratio, tick_number, tick_percent

MOST_GROUPS = 12
MOST_MARKED = len(GROUPS)
"""Groups that share a line are told apart by colour and marker: there are not more of those."""
MOST_POLICIES = 10
"""More than these are left to the tables, and the text says so."""

OUTCOMES = {"inspected": "Inspections", "selected": "Selections"}
OF = {"cumulative": "of all applicants", "conditional": "of those who reached the step before"}

Drawn = dict[str, list[Chart]]


def draw(document: Document) -> dict[str, Any]:
    """Every chart, by the section it belongs to; an empty list where there is nothing to draw.

    Those of the disparity section are by attribute: `funnel`, `impact_ratio`, `segments`.
    """
    views = attributes(document)
    with drawing():
        funnels: Drawn = {}
        ratios: Drawn = {}
        segments: Drawn = {}
        for i, view in enumerate(views, 1):
            funnels[view.name] = _present(funnel(document, view.name, i))
            ratios[view.name] = _present(
                *(impact_ratio(view, kind, i, at(document, "disparity", "line")) for kind in OF)
            )
            segments[view.name] = _present(
                *(shortfall(part, i, j) for j, part in enumerate(view.segments(document), 1))
            )
        by = list(enumerate(policy_attributes(document), 1))
        return {
            "funnel": funnels,
            "impact_ratio": ratios,
            "segments": segments,
            "policies": _present(*(side_by_side(document, name, out, i) for i, name in by for out in OUTCOMES)),
            "price": _present(utility_kept(document), utility_lost(document)),
            "slack": _present(*(slack(i, *panel) for i, panel in enumerate(slack_panels(document)[:MOST_PANELS], 1))),
            "unfilled": _present(unfilled(document)),
            "whatif": scenario_charts.draw(document),
            "fit": _present(pit(document), coverage(document)),
        }


def _present(*charts: Chart | None) -> list[Chart]:
    return [one for one in charts if one is not None]


# Who reached which step -----------------------------------------------------------------------------------------------


class Bar(NamedTuple):
    group: str
    share: float | None
    text: str


def funnel_steps(document: Document, attribute: str) -> list[tuple[str, list[Bar]]]:
    """Every step with the share of each group's applicants that reached it (of the first: of all applicants)."""
    steps = step_numbers(document, attribute)
    names = group_names(document, attribute)[:MOST_GROUPS]
    found = []
    for k, (step, numbers) in enumerate(steps):
        bars = []
        for name in names:
            n = numbers.get(name)
            whole = sum(x or 0 for x in numbers.values()) if k == 0 else steps[0][1].get(name)
            share = None if n is None or not whole else n / whole
            of = f"{count(n)} ({percent(share)})" if k == 0 else f"{count(n)} of {count(whole)} ({percent(share)})"
            bars.append(Bar(name, share, of if share is not None else count(n)))
        if bars:
            found.append((step, bars))
    return found


def funnel(document: Document, attribute: str, number: int) -> Chart | None:
    steps = funnel_steps(document, attribute)
    shares = [bar.share for _, bars in steps for bar in bars if bar.share is not None]
    if not shares:
        return None
    height = sum(27 + 27 * len(bars) for _, bars in steps)
    fig = figure(height)
    ax = axes(fig, 0, height)
    bare(ax, height)
    ax.axis("off")
    ax.set_xlim(0, max(shares) or 1)
    y = 0.0
    for step, bars in steps:
        write(ax, y + 14, label(step[:1].upper() + step[1:]), weight="bold", fontsize=SIZE + 0.5)
        y += 21
        for i, bar in enumerate(bars):
            write(ax, y + 11, label(bar.group, 30))
            write(ax, y + 11, bar.text, "right", color=MUTED)
            ax.barh(y + 18, 1, height=6, color=GRID, transform=ax.get_yaxis_transform())
            ax.barh(y + 18, bar.share or 0, height=6, color=GROUPS[i % len(GROUPS)], zorder=2)
            y += 27
        y += 6
    said = [f"{step}: {listing(f'{bar.group} {bar.text}' for bar in bars)}." for step, bars in steps]
    return chart(fig, f"chart-funnel-{number}", f"Applicants by step and {joined(attribute)}", " ".join(said))


# Disparity ------------------------------------------------------------------------------------------------------------


def impact_ratio(view: AttributeView, kind: str, number: int, line: float | None) -> Chart | None:
    """The ratios of all groups of an attribute at every step, lowest first, with their intervals."""
    steps: list[tuple[Part, list[Part]]] = []
    for table in view.tables:
        rows = [row for row in table["groups"] or () if row["impact_ratio"] is not None and row["p"] is not None]
        if rows and table["kind"] == kind:
            steps.append((table, sorted(rows, key=lambda row: row["impact_ratio"])[:MOST_GROUPS]))
    ends = [(row["impact_ratio"], *_ends(row["interval"])) for _, rows in steps for row in rows]
    if not ends:
        return None
    right = min(max(1.3, max(x if high is None else high for x, _, high in ends) * 1.05), 2.5)
    height = sum(26 + 32 * len(rows) for _, rows in steps) + 4
    fig = figure(height + 36)
    ax = axes(fig, 0, height, left=4, right=4)
    bare(ax, height)
    ax.set_xlim(0, right)
    ticks(ax, tick_number, 6)
    ax.set_xlabel("impact ratio; 1 is the rate of the reference", labelpad=3)
    y, said = 0.0, []
    for table, rows in steps:
        write(ax, y + 14, label(named(table["step"]), 24), weight="bold", fontsize=SIZE + 0.5)
        write(ax, y + 14, f"against {label(table['reference'] or 'the reference', 22)}", "right", color=MUTED)
        y += 20
        for row in rows:
            x, bounds = row["impact_ratio"], row["interval"]
            low, high = _ends(bounds)
            write(ax, y + 12, label(named(row["group"]), 26))
            text = ratio(x, line) + ("" if bounds is None else f" ({interval(bounds, lambda v: ratio(v, line))})")
            write(ax, y + 12, text, "right", color=MUTED)
            upright(ax, 1, y + 22, MUTED)
            if line is not None:
                upright(ax, line, y + 22, INK, dashes=(2.5, 1.5))
            if low is not None:
                stretch(ax, y + 22, min(low, right), right if high is None else min(high, right), FILL)
            ax.plot([min(x, right)], [y + 22], "o", color=GROUPS[0], markersize=7, zorder=3)
            y += 32
        y += 6
        each = listing(f"{named(row['group'])} {ratio(row['impact_ratio'], line)}" for row in rows)
        said.append(f"{named(table['step'])}: {each}.")
    return chart(fig, f"chart-impact-{number}-{kind}", f"Impact ratios {OF[kind]}, by {view.title}", " ".join(said))


def shortfall(segment: Part, number: int, place: int) -> Chart | None:
    """The parts of a shortfall: each value of a segment, those that are not listed, and where people applied."""
    rows = [(named(part["value"]), part["shortfall"]) for part in segment["parts"] or ()]
    rows += [("all others", segment["others"])] if segment["others"] else []
    rows += [("where they applied", segment["composition"])]
    parts = [(name, x) for name, x in rows if x is not None]
    if len(parts) < 2:
        return None
    height = 30 * len(parts) + 4
    fig = figure(height + 36)
    ax = axes(fig, 0, height, left=6, right=6)
    bare(ax, height)
    low, high = min(0.0, *(x for _, x in parts)), max(0.0, *(x for _, x in parts))
    room = 0.03 * (high - low) or 1.0
    ax.set_xlim(low - room, high + room)
    ticks(ax, tick_number, 5)
    group, step, by = (named(segment[key]) for key in ("group", "step", "segment"))
    ax.set_xlabel(f"people of {label(group, 24)} short at “{label(step, 24)}”", labelpad=3)
    for i, (name, x) in enumerate(parts):
        write(ax, 30 * i + 12, label(name, 34))
        write(ax, 30 * i + 12, expected(x), "right", color=MUTED)
        ax.barh(30 * i + 20, x, height=7, color=GROUPS[0] if i < len(parts) - 1 else FILL, zorder=2)
        upright(ax, 0, 30 * i + 20, MUTED)
    said = listing(f"{name} {expected(x)}" for name, x in parts)
    return chart(
        fig,
        f"chart-shortfall-{number}-{place}",
        f"Shortfall of {group} by {by}",
        f"Of {expected(segment['shortfall'])}: {said}.",
    )


def _ends(bounds: Mapping[str, Any] | None) -> tuple[float | None, float | None]:
    return (None, None) if bounds is None else (bounds["lower"], bounds["upper"])


# Policies -------------------------------------------------------------------------------------------------------------


def side_by_side(document: Document, attribute: str, outcome: str, number: int) -> Chart | None:
    """One line for each policy, one mark for each group: the further apart, the larger the difference."""
    views = list(policies(document))[:MOST_POLICIES]
    names = group_names(document, attribute)[:MOST_MARKED]
    rates = [[view.rate(attribute, name, outcome) for name in names] for view in views]
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
    title = f"{OUTCOMES[outcome]} by policy and {joined(attribute)}"
    return chart(fig, f"chart-policies-{number}-{outcome}", title, " ".join(_rates_in_words(views, names, rates)))


def _rates_in_words(
    views: Sequence[PolicyView], names: Sequence[str], rates: Sequence[Sequence[float | None]]
) -> Iterable[str]:
    for view, row in zip(views, rates):
        pairs = [f"{name} {percent(rate)}" for name, rate in zip(names, row) if rate is not None]
        yield f"{view.name}: {listing(pairs) if pairs else 'not available'}."


# What each constraint costs -------------------------------------------------------------------------------------------


def utility_kept(document: Document) -> Chart | None:
    return _price(document, "ratio", "chart-price-kept", "Utility kept under each constraint", _fine, tick_percent)


def _fine(x: float | None) -> str:
    """Most prices are small."""
    return percent(x, 2)


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
