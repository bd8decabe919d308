"""The charts of a report, each from the report alone; what it does not hold is not drawn.

All are 360 pixels wide, read from top to bottom, and repeat numbers that are also in a table. Groups keep their
colour and marker from chart to chart. Names are above their marks, so that long ones fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from auditkit.config import Parts
from auditkit.disparity.pair import Interval
from auditkit.disparity.results import DisparityTable, GroupResult, SegmentTable
from auditkit.report import scenario_charts
from auditkit.report.alternative_charts import alternative_chart
from auditkit.report.chart_parts import (
    LINE,
    legend,
    legend_rows,
    stacked,
    stretch,
    upright,
    wrapped,
    write,
    write_lines,
)
from auditkit.report.histograms import MOST_PANELS, coverage, pit, slack, slack_panels, unfilled
from auditkit.report.schema import Outcome, Report
from auditkit.report.svg import FILL, GRID, GROUPS, INK, MARKERS, MUTED, Area, Chart, Drawing, chart, label, spread
from auditkit.report.view import (
    AttributeView,
    attributes,
    group_names,
    joined,
    phrases,
    policies,
    policy_attributes,
    price_span,
    step_numbers,
)
from auditkit.report.words import labels
from auditkit.report.words.phrases import Phrases
from auditkit.report.words.sentences import cost
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

OUTCOMES: tuple[Outcome, ...] = ("inspected", "selected")
ByAttribute = dict[str, list[Chart]]


@dataclass(frozen=True)
class Charts:
    """The charts of a report by their sections; empty where there is nothing to draw."""

    funnel: ByAttribute = field(default_factory=dict)
    impact_ratio: ByAttribute = field(default_factory=dict)
    segments: ByAttribute = field(default_factory=dict)
    policies: Sequence[Chart] = ()
    gain: Sequence[Chart] = ()
    price: Sequence[Chart] = ()
    frontier: Sequence[tuple[int, Chart]] = ()
    """Each with its number."""
    alternatives: Sequence[Chart | None] = ()
    """One for each alternative of the report."""
    slack: Sequence[Chart] = ()
    unfilled: Sequence[Chart] = ()
    whatif: Sequence[Chart] = ()
    fit: Sequence[Chart] = ()


def draw(report: Report, parts: Parts = "all") -> Charts:
    """Every chart of these parts of the report."""
    if parts == "summary":
        return Charts()
    views = [view for view in attributes(report) if parts == "all" or not view.crossing]
    words, line = phrases(report), None if report.disparity is None else report.disparity.line
    by = list(enumerate(policy_attributes(report), 1))
    body = Charts(
        funnel={v.name: _present(funnel(report, v.name, i)) for i, v in enumerate(views, 1) if not v.crossing},
        impact_ratio={v.name: _present(impact_ratio(v, i, line, words)) for i, v in enumerate(views, 1)},
        segments={
            v.name: _present(*(shortfall(part, i, j, words) for j, part in enumerate(v.segments(report), 1)))
            for i, v in enumerate(views, 1)
        },
        policies=_present(*(side_by_side(report, name, out, i) for i, name in by for out in OUTCOMES)),
        gain=_present(firm_gain(report)),
        price=_present(given_up(report)),
        frontier=scenario_charts.frontiers(report.frontier),
        alternatives=[alternative_chart(each, i) for i, each in enumerate(report.alternatives or (), 1)],
    )
    if parts == "body":
        return body
    laws = enumerate(slack_panels(report)[:MOST_PANELS], 1)
    return replace(
        body,
        slack=[slack(i, words.row(law.label, law.meaning), law) for i, law in laws],
        unfilled=_present(unfilled(report)),
        whatif=scenario_charts.others(report.frontier, report.sensitivity, words),
        fit=[] if report.fit is None else _present(pit(report.fit), coverage(report.fit)),
    )


def _present(*charts: Chart | None) -> list[Chart]:
    return [one for one in charts if one is not None]


# Who reached which step -----------------------------------------------------------------------------------------------


class Bar(NamedTuple):
    group: str
    share: float | None
    text: str


def funnel_steps(report: Report, attribute: str) -> list[tuple[str, list[Bar]]]:
    """Every step with the share of each group's applicants that reached it (of the first: of all applicants)."""
    steps = step_numbers(report, attribute)
    names = group_names(report, attribute)[:MOST_GROUPS]
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


def funnel(report: Report, attribute: str, number: int) -> Chart | None:
    steps = funnel_steps(report, attribute)
    shares = [bar.share for _, bars in steps for bar in bars if bar.share is not None]
    if not shares:
        return None
    names = {bar.group: wrapped(bar.group, NAME) for _, bars in steps for bar in bars}
    height = sum(27 + sum(27 + LINE * (len(names[bar.group]) - 1) for bar in bars) for _, bars in steps)
    drawing = Drawing(height)
    area = Area(drawing, 0, height, (0, max(shares) or 1))
    y = 0.0
    for step, bars in steps:
        write(area, y + 14, label(step[:1].upper() + step[1:]), bold=True)
        y += 21
        for i, bar in enumerate(bars):
            write(area, y + 11, bar.text, "right", MUTED)
            y += write_lines(area, y + 11, names[bar.group])
            drawing.bar(area.left, area.right, y + 18, 6, GRID, layer=1)
            drawing.bar(area.left, area.x(bar.share or 0), y + 18, 6, GROUPS[i % len(GROUPS)])
            y += 27
        y += 6
    said = [labels.each(step, [f"{bar.group} {bar.text}" for bar in bars]) for step, bars in steps]
    return chart(drawing, f"chart-funnel-{number}", labels.funnel_title(joined(attribute)), " ".join(said))


# Disparity ------------------------------------------------------------------------------------------------------------


def impact_ratio(view: AttributeView, number: int, line: float | None, words: Phrases) -> Chart | None:
    """The ratios of all groups of an attribute at every step, lowest first, with their intervals.

    Steps are of all applicants; those of attributes also of those who reached the step before.
    """
    steps: list[tuple[DisparityTable, list[GroupResult]]] = []
    for table in view.tables:
        rows = [row for row in table.groups if row.impact_ratio is not None and row.p is not None]
        if rows and not (view.crossing and table.kind == "conditional"):
            steps.append((table, sorted(rows, key=_ratio)[:MOST_GROUPS]))
    ends = [(_ratio(row), *_ends(row.interval)) for _, rows in steps for row in rows]
    if not ends:
        return None
    right = min(max(1.3, max(x if high is None else high for x, _, high in ends) * 1.05), 2.5)
    titles = [_step_lines(words, table) for table, _ in steps]
    names = {row.group: wrapped(row.group, NAME) for _, rows in steps for row in rows}
    further = sum(len(below) for *_, below in titles)
    further += sum(len(names[row.group]) - 1 for _, rows in steps for row in rows)
    height = sum(26 + 32 * len(rows) for _, rows in steps) + 4 + LINE * further
    drawing = Drawing(height + 36)
    area = Area(drawing, 0, height, (0, right), left=4, right=4)
    area.x_axis(labels.IMPACT_AXIS, tick_number, 6)
    y, said = 0.0, []
    for (table, rows), (step, beside, below) in zip(steps, titles):
        write(area, y + 14, step, bold=True)
        write(area, y + 14, beside, "right", MUTED)
        y += LINE + write_lines(area, y + 14 + LINE, below, MUTED) if below else 0.0
        y += 20
        for row in rows:
            x, bounds = _ratio(row), _ends(row.interval)
            low, high = bounds
            text = measured(x, bounds, line)
            if row.interval is not None:
                digits = decimals_of(bounds)
                text += f" ({interval(bounds, partial(ratio, line=line, decimals=digits))})"
            write(area, y + 12, text, "right", MUTED)
            y += write_lines(area, y + 12, names[row.group])
            upright(area, 1, y + 22, MUTED)
            if line is not None:
                upright(area, line, y + 22, INK, "2.5 1.5")
            if low is not None:
                stretch(area, y + 22, min(low, right), right if high is None else min(high, right), FILL)
            drawing.mark(area.x(min(x, right)), y + 22, "circle", GROUPS[0], 7)
            y += 32
        y += 6
        each = [f"{row.group} {measured(row.impact_ratio, _ends(row.interval), line)}" for row in rows]
        title = labels.step_title(words, table.step, table.kind)
        said.append(labels.each(title, each))
    return chart(drawing, f"chart-impact-{number}", labels.impact_title(view.title), " ".join(said))


def _step_lines(words: Phrases, table: DisparityTable) -> tuple[str, str, list[str]]:
    """The title of a step, the note beside it, and the line below it: against whom groups are compared."""
    step = labels.step_title(words, table.step, table.kind)
    against = labels.against(label(table.reference or labels.REFERENCE, 90))
    if len(step) + len(against) <= HEAD:
        return step, against, []
    (first, *more) = wrapped(step, HEAD)
    return first, "", [*more, *wrapped(against, HEAD)]


def shortfall(segment: SegmentTable, number: int, place: int, words: Phrases) -> Chart | None:
    """The parts of a shortfall: each value of a segment, those that are not listed, and where people applied.

    Only where one of the values stands out; the table has the others.
    """
    if not any(part.found for part in segment.parts):
        return None
    parts = [(part.value, part.shortfall) for part in segment.parts if part.shortfall is not None]
    rest = sum(x for _, x in parts[MOST_GROUPS:]) + (segment.others or 0.0)
    parts = parts[:MOST_GROUPS] + ([(labels.ALL_OTHERS, rest)] if rest else [])
    parts += [] if segment.composition is None else [(labels.WHERE_THEY_APPLIED, segment.composition)]
    if len(parts) < 2 or max(abs(x) for _, x in parts) < scenario_charts.NOTHING:
        return None
    height = 30 * len(parts) + 4
    drawing = Drawing(height + 36)
    area = Area(drawing, 0, height, spread([0.0, *(x for _, x in parts)], 0.03), left=6, right=6)
    step, by = segment.step, segment.segment
    people = words.people(segment.attribute, segment.group)
    area.x_axis(labels.shortfall_axis(label(people, 30), label(step, 24)), tick_number)
    for i, (name, x) in enumerate(parts):
        write(area, 30 * i + 12, label(name, HEAD))
        write(area, 30 * i + 12, expected(x), "right", MUTED)
        drawing.bar(area.x(0), area.x(x), 30 * i + 20, 7, GROUPS[0] if i < len(parts) - 1 else FILL)
        upright(area, 0, 30 * i + 20, MUTED)
    said = listing(f"{name} {expected(x)}" for name, x in parts)
    text = labels.shortfall_text(expected(segment.shortfall), said)
    return chart(drawing, f"chart-shortfall-{number}-{place}", labels.shortfall_title(people, by), text)


def _ratio(row: GroupResult) -> float:
    return 1.0 if row.impact_ratio is None else row.impact_ratio


def _ends(bounds: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if bounds is None else bounds.ends


# Policies -------------------------------------------------------------------------------------------------------------


def side_by_side(report: Report, attribute: str, outcome: Outcome, number: int) -> Chart | None:
    """One line for each policy, one mark for each group: the further apart, the larger the difference."""
    views = list(policies(report))[:MOST_POLICIES]
    names = group_names(report, attribute)[:MOST_MARKED]
    rates = [[view.rate(attribute, name, outcome) for name in names] for view in views]
    known = [rate for row in rates for rate in row if rate is not None]
    if not known or max(known) < scenario_charts.NOTHING:
        return None
    words = phrases(report)
    lines = legend_rows(names)
    titles = [wrapped(view.title) for view in views]
    tops = stacked(8 + 17 * len(lines), [20 + 14 * len(title) for title in titles])
    low, high = min(known), max(known)
    room = max(0.08 * (high - low), 0.02 * high, 0.005)
    left = max(0.0, low - room) if low > 0.4 * high else -0.02 * high
    drawing = Drawing(tops[-1] + 40)
    area = Area(drawing, 0, tops[-1] + 4, (left, high + room), left=6, right=6)
    area.x_axis(labels.policies_axis(words, outcome), tick_percent)
    legend(drawing, names, lines)
    for view, row, title, y in zip(views, rates, titles, tops):
        for k, piece in enumerate(title):
            write(area, y + 12 + 14 * k, piece)
        y += 9 + 14 * len(title)
        area.level(y, GRID)
        if view.infeasible:
            write(area, y + 4, labels.CANNOT_BE_MET, "right", MUTED)
        for g, rate in enumerate(row):
            if rate is not None:  # the first is the largest, so that marks on one spot are all seen
                drawing.mark(area.x(rate), y, MARKERS[g], GROUPS[g], 9.5 - g)
    said = [
        labels.each(view.title, [f"{name} {percent(rate)}" for name, rate in zip(names, row) if rate is not None])
        for view, row in zip(views, rates)
    ]
    title_ = labels.policies_title(words, outcome, joined(attribute))
    return chart(drawing, f"chart-policies-{number}-{outcome}", title_, " ".join(said))


def firm_gain(report: Report) -> Chart | None:
    """Where the gain of the best search over the firm's own comes from."""
    gain = None if report.firm is None else report.firm.gain
    if gain is None:
        return None
    named = labels.gain_parts(phrases(report), judged=gain.parts.cost is not None)
    rows = [(name, getattr(gain.parts, key)) for key, name in named.items()]
    rows.append((labels.GAIN_TOTAL, gain.gain))
    span = gain.interval
    ends = [*(x for _, x in rows), *(span or ()), 0.0]
    if max(ends) - min(ends) < scenario_charts.NOTHING:
        return None
    height = 30 * len(rows) + 4
    drawing = Drawing(height + 36)
    area = Area(drawing, 0, height, spread(ends, 0.03), left=6, right=6)
    area.x_axis(labels.GAIN_AXIS, tick_number)
    said = []
    for i, (name, x) in enumerate(rows):
        total = i == len(rows) - 1
        text = amount_like(x, span)
        if total and span is not None:
            text += f" ({interval(span, lambda end: amount_like(end, span))})"
        write(area, 30 * i + 12, name, bold=total)
        write(area, 30 * i + 12, text, "right", MUTED)
        drawing.bar(area.x(0), area.x(x), 30 * i + 20, 7, FILL if total else GROUPS[0])
        upright(area, 0, 30 * i + 20, MUTED)
        if total and span is not None:
            drawing.line([(area.x(end), 30 * i + 20) for end in span], INK, 1.5, layer=3)
        said.append(labels.each(name, [text]))
    return chart(drawing, "chart-gain", labels.GAIN_TITLE, " ".join(said))


# What each constraint costs -------------------------------------------------------------------------------------------


def given_up(report: Report) -> Chart | None:
    """The cost of each constraint with its interval: as a share of the best utility, or else as a loss."""
    entries = report.benchmarks[:MOST_POLICIES]
    priced = [entry.price_of_fairness for entry in entries]
    share = any(price is not None and price.ratio is not None for price in priced)
    prices = [None if price is None else price.given_up if share else price.loss for price in priced]
    spans = [price_span(entry, share) for entry in entries]
    known = [x for x in prices if x is not None] + [x for span in spans if span for x in span]
    if not known or max(known) < scenario_charts.NOTHING:
        return None
    high = max(known)
    names = [wrapped(phrases(report).constraint(entry), 50) for entry in entries]
    tops = stacked(0, [36 + 14 * len(name) for name in names])
    drawing = Drawing(tops[-1] + 40)
    area = Area(drawing, 0, tops[-1] + 4, (-0.03 * high, 1.06 * high), left=6, right=6)
    area.x_axis(labels.GIVEN_UP_AXIS if share else labels.LOST_AXIS, tick_percent if share else tick_number, 4)
    said = []
    for entry, x, span, name, y in zip(entries, prices, spans, names, tops):
        for k, piece in enumerate(name):
            write(area, y + 12 + 14 * k, piece[:1].upper() + piece[1:] if k == 0 else piece)
        text = labels.CANNOT_BE_MET if not entry.met else labels.NOT_AVAILABLE
        if x is not None:
            text = cost(x, x, span, None) if share else amount(x)
        y += 14 * len(name)
        write(area, y + 12, text, colour=MUTED)
        area.level(y + 23, GRID)
        upright(area, 0, y + 23, MUTED)
        if span is not None:
            stretch(area, y + 23, span[0], span[1], FILL)
        if x is not None:
            drawing.mark(area.x(x), y + 23, "circle", GROUPS[0], 8)
        said.append(labels.each(" ".join(name), [text]))
    return chart(drawing, "chart-price", labels.GIVEN_UP_TITLE if share else labels.LOST_TITLE, " ".join(said))
