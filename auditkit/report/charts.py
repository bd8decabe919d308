"""The charts of a report, each from the document alone; what the document does not hold is not drawn.

All are 360 pixels wide, read from top to bottom, and repeat numbers that also stand in a table. Groups keep their
colour and marker from chart to chart. Names stand above their marks, so that long ones cost no room.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from auditkit.config import Parts
from auditkit.report import labels, scenario_charts
from auditkit.report.chart_parts import (
    LINE,
    bare,
    legend,
    legend_rows,
    stacked,
    stretch,
    ticks,
    upright,
    wrapped,
    write,
    write_lines,
)
from auditkit.report.histograms import MOST_PANELS, coverage, pit, slack, slack_panels, unfilled
from auditkit.report.phrases import Phrases
from auditkit.report.sentences import cost
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
    at,
    attributes,
    constrained,
    group_names,
    joined,
    named,
    phrases,
    policies,
    policy_attributes,
    price_span,
    step_numbers,
)
from auditkit.text import (
    amount,
    amount_like,
    count,
    decimals_of,
    expected,
    interval,
    listing,
    measured,
    percent,
    ratio,
    tick_number,
    tick_percent,
)

MOST_GROUPS = 12
MOST_MARKED = len(GROUPS)
"""Groups that share a line are told apart by colour and marker: there are not more of those."""
NAME, HEAD = 34, 46
"""Characters of a name beside its number, and of a line that has nothing beside it."""
MOST_POLICIES = 10
"""More than these are left to the tables, and the text says so."""

OUTCOMES = ("inspected", "selected")
NOTHING = 1e-9
"""Charts of numbers that are all below this show nothing."""

Drawn = dict[str, list[Chart]]


def draw(document: Document, parts: Parts = "all") -> dict[str, Any]:
    """Every chart of these parts of the report, by its section; an empty list where there is nothing to draw.

    Those by attribute are `funnel`, `impact_ratio` and `segments`; each `frontier` comes with its number.
    """
    if parts == "summary":
        return {**{name: {} for name in BY_ATTRIBUTE}, **{name: [] for name in (*IN_BODY, *IN_ANNEX)}}
    views = [view for view in attributes(document) if parts == "all" or not view.crossing]
    with drawing():
        funnels: Drawn = {}
        ratios: Drawn = {}
        segments: Drawn = {}
        words, line = phrases(document), at(document, "disparity", "line")
        for i, view in enumerate(views, 1):
            funnels[view.name] = [] if view.crossing else _present(funnel(document, view.name, i))
            ratios[view.name] = _present(impact_ratio(view, i, line, words))
            segments[view.name] = _present(
                *(shortfall(part, i, j, words) for j, part in enumerate(view.segments(document), 1))
            )
        by = list(enumerate(policy_attributes(document), 1))
        drawn: dict[str, Any] = {
            "funnel": funnels,
            "impact_ratio": ratios,
            "segments": segments,
            "policies": _present(*(side_by_side(document, name, out, i) for i, name in by for out in OUTCOMES)),
            "gain": _present(firm_gain(document)),
            "price": _present(given_up(document)),
            "frontier": scenario_charts.frontiers(document),
        }
        if parts == "body":
            return drawn | {name: [] for name in IN_ANNEX}
        return drawn | {
            "slack": _present(
                *(
                    slack(i, words.row(name), law)
                    for i, (name, law) in enumerate(slack_panels(document)[:MOST_PANELS], 1)
                )
            ),
            "unfilled": _present(unfilled(document)),
            "whatif": scenario_charts.others(document),
            "fit": _present(pit(document), coverage(document)),
        }


BY_ATTRIBUTE = ("funnel", "impact_ratio", "segments")
IN_BODY = ("policies", "gain", "price", "frontier")
IN_ANNEX = ("slack", "unfilled", "whatif", "fit")


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
    names = {bar.group: wrapped(bar.group, NAME) for _, bars in steps for bar in bars}
    height = sum(27 + sum(27 + LINE * (len(names[bar.group]) - 1) for bar in bars) for _, bars in steps)
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
            write(ax, y + 11, bar.text, "right", color=MUTED)
            y += write_lines(ax, y + 11, names[bar.group])
            ax.barh(y + 18, 1, height=6, color=GRID, transform=ax.get_yaxis_transform())
            ax.barh(y + 18, bar.share or 0, height=6, color=GROUPS[i % len(GROUPS)], zorder=2)
            y += 27
        y += 6
    said = [labels.each(step, [f"{bar.group} {bar.text}" for bar in bars]) for step, bars in steps]
    return chart(fig, f"chart-funnel-{number}", labels.funnel_title(joined(attribute)), " ".join(said))


# Disparity ------------------------------------------------------------------------------------------------------------


def impact_ratio(view: AttributeView, number: int, line: float | None, words: Phrases) -> Chart | None:
    """The ratios of all groups of an attribute at every step, lowest first, with their intervals.

    Steps are of all applicants; those of attributes also of those who reached the step before.
    """
    steps: list[tuple[Part, list[Part]]] = []
    for table in view.tables:
        rows = [row for row in table["groups"] or () if row["impact_ratio"] is not None and row["p"] is not None]
        if rows and not (view.crossing and table["kind"] == "conditional"):
            steps.append((table, sorted(rows, key=lambda row: row["impact_ratio"])[:MOST_GROUPS]))
    ends = [(row["impact_ratio"], *_ends(row["interval"])) for _, rows in steps for row in rows]
    if not ends:
        return None
    right = min(max(1.3, max(x if high is None else high for x, _, high in ends) * 1.05), 2.5)
    titles = [_step_lines(words, table) for table, _ in steps]
    names = {named(row["group"]): wrapped(named(row["group"]), NAME) for _, rows in steps for row in rows}
    further = sum(len(below) for *_, below in titles)
    further += sum(len(names[named(row["group"])]) - 1 for _, rows in steps for row in rows)
    height = sum(26 + 32 * len(rows) for _, rows in steps) + 4 + LINE * further
    fig = figure(height + 36)
    ax = axes(fig, 0, height, left=4, right=4)
    bare(ax, height)
    ax.set_xlim(0, right)
    ticks(ax, tick_number, 6)
    ax.set_xlabel(labels.IMPACT_AXIS, labelpad=3)
    y, said = 0.0, []
    for (table, rows), (step, beside, below) in zip(steps, titles):
        write(ax, y + 14, step, weight="bold", fontsize=SIZE + 0.5)
        write(ax, y + 14, beside, "right", color=MUTED)
        y += LINE + write_lines(ax, y + 14 + LINE, below, color=MUTED) if below else 0.0
        y += 20
        for row in rows:
            x, bounds = row["impact_ratio"], row["interval"]
            low, high = _ends(bounds)
            text = measured(x, bounds, line)
            if bounds is not None:
                digits = decimals_of(bounds)
                text += f" ({interval(bounds, partial(ratio, line=line, decimals=digits))})"
            write(ax, y + 12, text, "right", color=MUTED)
            y += write_lines(ax, y + 12, names[named(row["group"])])
            upright(ax, 1, y + 22, MUTED)
            if line is not None:
                upright(ax, line, y + 22, INK, dashes=(2.5, 1.5))
            if low is not None:
                stretch(ax, y + 22, min(low, right), right if high is None else min(high, right), FILL)
            ax.plot([min(x, right)], [y + 22], "o", color=GROUPS[0], markersize=7, zorder=3)
            y += 32
        y += 6
        each = [f"{named(row['group'])} {measured(row['impact_ratio'], row['interval'], line)}" for row in rows]
        title = labels.step_title(words, named(table["step"]), table["kind"])
        said.append(labels.each(title, each))
    return chart(fig, f"chart-impact-{number}", labels.impact_title(view.title), " ".join(said))


def _step_lines(words: Phrases, table: Part) -> tuple[str, str, list[str]]:
    """The title of a step, what stands beside it, and what below it: against whom groups are compared."""
    step = labels.step_title(words, named(table["step"]), table["kind"])
    against = labels.against(label(table["reference"] or labels.REFERENCE, 90))
    if len(step) + len(against) <= HEAD:
        return step, against, []
    (first, *more) = wrapped(step, HEAD)
    return first, "", [*more, *wrapped(against, HEAD)]


def shortfall(segment: Part, number: int, place: int, words: Phrases) -> Chart | None:
    """The parts of a shortfall: each value of a segment, those that are not listed, and where people applied.

    Only where one of the values stands out; the table has the others.
    """
    if not any(part["found"] for part in segment["parts"] or ()):
        return None
    parts = [(named(part["value"]), part["shortfall"]) for part in segment["parts"] or ()]
    parts = [(name, x) for name, x in parts if x is not None]
    rest = sum(x for _, x in parts[MOST_GROUPS:]) + (segment["others"] or 0.0)
    parts = parts[:MOST_GROUPS] + ([(labels.ALL_OTHERS, rest)] if rest else [])
    parts += [] if segment["composition"] is None else [(labels.WHERE_THEY_APPLIED, segment["composition"])]
    if len(parts) < 2 or max(abs(x) for _, x in parts) < NOTHING:
        return None
    height = 30 * len(parts) + 4
    fig = figure(height + 36)
    ax = axes(fig, 0, height, left=6, right=6)
    bare(ax, height)
    low, high = min(0.0, *(x for _, x in parts)), max(0.0, *(x for _, x in parts))
    room = 0.03 * (high - low)
    ax.set_xlim(low - room, high + room)
    ticks(ax, tick_number, 5)
    step, by = named(segment["step"]), named(segment["segment"])
    people = words.people(named(segment["attribute"]), named(segment["group"]))
    ax.set_xlabel(labels.shortfall_axis(label(people, 30), label(step, 24)), labelpad=3)
    for i, (name, x) in enumerate(parts):
        write(ax, 30 * i + 12, label(name, HEAD))
        write(ax, 30 * i + 12, expected(x), "right", color=MUTED)
        ax.barh(30 * i + 20, x, height=7, color=GROUPS[0] if i < len(parts) - 1 else FILL, zorder=2)
        upright(ax, 0, 30 * i + 20, MUTED)
    said = listing(f"{name} {expected(x)}" for name, x in parts)
    text = labels.shortfall_text(expected(segment["shortfall"]), said)
    return chart(fig, f"chart-shortfall-{number}-{place}", labels.shortfall_title(people, by), text)


def _ends(bounds: Mapping[str, Any] | None) -> tuple[float | None, float | None]:
    return (None, None) if bounds is None else (bounds["lower"], bounds["upper"])


# Policies -------------------------------------------------------------------------------------------------------------


def side_by_side(document: Document, attribute: str, outcome: str, number: int) -> Chart | None:
    """One line for each policy, one mark for each group: the further apart, the larger the difference."""
    views = list(policies(document))[:MOST_POLICIES]
    names = group_names(document, attribute)[:MOST_MARKED]
    rates = [[view.rate(attribute, name, outcome) for name in names] for view in views]
    known = [rate for row in rates for rate in row if rate is not None]
    if not known or max(known) < NOTHING:
        return None
    words = phrases(document)
    lines = legend_rows(names)
    titles = [wrapped(view.title) for view in views]
    tops = stacked(8 + 17 * len(lines), [20 + 14 * len(title) for title in titles])
    fig = figure(tops[-1] + 40)
    ax = axes(fig, 0, tops[-1] + 4, left=6, right=6)
    bare(ax, tops[-1] + 4)
    low, high = min(known), max(known)
    room = max(0.08 * (high - low), 0.02 * high, 0.005)
    ax.set_xlim(max(0.0, low - room) if low > 0.4 * high else -0.02 * high, high + room)
    ticks(ax, tick_percent)
    ax.set_xlabel(labels.policies_axis(words, outcome), labelpad=3)
    legend(ax, names, lines)
    for view, row, title, y in zip(views, rates, titles, tops):
        for k, piece in enumerate(title):
            write(ax, y + 12 + 14 * k, piece)
        y += 9 + 14 * len(title)
        ax.plot([0, 1], [y, y], color=GRID, linewidth=1, transform=ax.get_yaxis_transform(), zorder=1)
        if view.infeasible:
            write(ax, y + 4, labels.CANNOT_BE_MET, "right", color=MUTED)
        for g, rate in enumerate(row):
            if rate is not None:  # the first is the largest, so that marks on one spot are all seen
                ax.plot([rate], [y], MARKERS[g], color=GROUPS[g], markersize=9.5 - g, zorder=2 + g, clip_on=False)
    said = [
        labels.each(view.title, [f"{name} {percent(rate)}" for name, rate in zip(names, row) if rate is not None])
        for view, row in zip(views, rates)
    ]
    title_ = labels.policies_title(words, outcome, joined(attribute))
    return chart(fig, f"chart-policies-{number}-{outcome}", title_, " ".join(said))


def firm_gain(document: Document) -> Chart | None:
    """Where the gain of the best search over the firm's own comes from."""
    gain: Part = (document["firm"] or {}).get("gain") or {}
    parts = gain.get("parts")
    if parts is None or gain["gain"] is None:
        return None
    words = phrases(document)
    rows = [(name, parts[key]) for key, name in labels.gain_parts(words).items()]
    rows = [(name, x) for name, x in [*rows, (labels.GAIN_TOTAL, gain["gain"])] if x is not None]
    span = gain["interval"]
    ends = [x for _, x in rows] + [x for x in span or () if x is not None] + [0.0]
    low, high = min(ends), max(ends)
    if high - low < NOTHING:
        return None
    height = 30 * len(rows) + 4
    fig = figure(height + 36)
    ax = axes(fig, 0, height, left=6, right=6)
    bare(ax, height)
    ax.set_xlim(low - 0.03 * (high - low), high + 0.03 * (high - low))
    ticks(ax, tick_number, 5)
    ax.set_xlabel(labels.GAIN_AXIS, labelpad=3)
    said = []
    for i, (name, x) in enumerate(rows):
        total = i == len(rows) - 1
        text = amount_like(x, span)
        if total and span is not None and None not in span:
            text += f" ({interval(span, lambda end: amount_like(end, span))})"
        write(ax, 30 * i + 12, name, weight="bold" if total else "normal")
        write(ax, 30 * i + 12, text, "right", color=MUTED)
        ax.barh(30 * i + 20, x, height=7, color=FILL if total else GROUPS[0], zorder=2)
        upright(ax, 0, 30 * i + 20, MUTED)
        if total and span is not None and None not in span:
            ax.plot(span, [30 * i + 20] * 2, color=INK, linewidth=1.5, zorder=3)
        said.append(labels.each(name, [text]))
    return chart(fig, "chart-gain", labels.GAIN_TITLE, " ".join(said))


# What each constraint costs -------------------------------------------------------------------------------------------


def given_up(document: Document) -> Chart | None:
    """What each constraint costs with its interval: as a share of the best utility, or as a loss if that is no gain."""
    entries = constrained(document)[:MOST_POLICIES]
    kept = [at(entry, "price_of_fairness", "ratio") for entry in entries]
    share = any(x is not None for x in kept)
    prices = [None if x is None else max(0.0, 1 - x) for x in kept]
    if not share:
        prices = [at(entry, "price_of_fairness", "loss") for entry in entries]
    spans = [price_span(entry, share) for entry in entries]
    known = [x for x in prices if x is not None] + [x for span in spans if span for x in span]
    if not known or max(known) < NOTHING:
        return None
    high = max(known)
    names = [wrapped(phrases(document).constraint(entry), 50) for entry in entries]
    tops = stacked(0, [36 + 14 * len(name) for name in names])
    fig = figure(tops[-1] + 40)
    ax = axes(fig, 0, tops[-1] + 4, left=6, right=6)
    bare(ax, tops[-1] + 4)
    ax.set_xlim(-0.03 * high, 1.06 * high)
    ticks(ax, tick_percent if share else tick_number, 4)
    ax.set_xlabel(labels.GIVEN_UP_AXIS if share else labels.LOST_AXIS, labelpad=3)
    said = []
    for entry, x, span, name, y in zip(entries, prices, spans, names, tops):
        for k, piece in enumerate(name):
            write(ax, y + 12 + 14 * k, piece[:1].upper() + piece[1:] if k == 0 else piece)
        text = labels.CANNOT_BE_MET if entry["status"] == "infeasible" else labels.NOT_AVAILABLE
        if x is not None:
            text = cost(x, x, span, None) if share else amount(x)
        y += 14 * len(name)
        write(ax, y + 12, text, color=MUTED)
        ax.plot([0, 1], [y + 23, y + 23], color=GRID, linewidth=1, transform=ax.get_yaxis_transform(), zorder=1)
        upright(ax, 0, y + 23, MUTED)
        if span is not None:
            stretch(ax, y + 23, span[0], span[1], FILL)
        if x is not None:
            ax.plot([x], [y + 23], "o", color=GROUPS[0], markersize=8, zorder=3)
        said.append(labels.each(" ".join(name), [text]))
    return chart(fig, "chart-price", labels.GIVEN_UP_TITLE if share else labels.LOST_TITLE, " ".join(said))
