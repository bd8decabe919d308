"""Every label of the charts in one place: titles, axes, names of marks, and the descriptions for screen readers.

The charts decide what to draw. To translate them, translate this file (and `phrases.py`: steps, people, constraints).
"""

from __future__ import annotations

from collections.abc import Sequence

from auditkit.report.words.phrases import Phrases
from auditkit.text import amount, listing, percent, sentence

CANNOT_BE_MET = "cannot be met"
NOT_AVAILABLE = "not available"
ALL_OTHERS = "all others"
WHERE_THEY_APPLIED = "where they applied"
REFERENCE = "the reference"

IMPACT_AXIS = "impact ratio; 1 is the rate of the reference"
GIVEN_UP_TITLE, GIVEN_UP_AXIS = "What each constraint gives up", "share of the best utility given up"
LOST_TITLE, LOST_AXIS = "Utility lost to each constraint", "in units of utility"

GAIN_TITLE, GAIN_AXIS = "Where the gain would come from", "units of utility gained over the firm’s own search"
GAIN_TOTAL = "together"

SLACK_AXIS = "realised slack; solid: zero, dashed: mean"
UNFILLED_TITLE, UNFILLED_AXIS = "Openings left unfilled, by constraint", "openings left unfilled"
PIT_TITLE, PIT_AXIS = "Place of scores in their predictions (PIT)", "place of the score in its predicted distribution"
COVERAGE_TITLE, COVERAGE_AXIS = "Coverage of the predicted intervals", "nominal level; height: share of scores inside"

KEPT, FILLED, SHORT_TERM, LONG_TERM = "utility kept", "openings filled", "short term", "long term"
FREE_UP_TO, FREE_FROM, AS_IT_IS, WINS = "free up to here", "free from here", "as it is", "wins to the left"
POSITIONS_TITLE, POSITIONS_AXIS = "A few more openings", "utility; line: the unconstrained optimum now"
BUDGET_AXIS, ONE_MORE_POSITION = "units of utility gained", "one more opening"


SHIFT_HEADINGS = {
    True: ["Group", "Against", "Shift at equal scores", "Interval"],
    False: [
        *("Group", "Against", "Shift at equal prior information", "Interval"),
        *("At equal expected scores", "Interval"),
    ],
}
"""Headings of the table of what decisions act like, by whether scores were known."""


def gain_headings(words: Phrases, judged: bool) -> list[str]:
    """Headings of the table of gains; without `judged`, the number of inspections is part of who was inspected."""
    inspected, selected = (words.were(words.step(outcome), singular=True) for outcome in ("inspected", "selected"))
    parts = [f"{sentence(words.inspection)}s", f"Who {selected}"] if judged else [f"Who {inspected} and {selected}"]
    return ["Policy", "Gain", "Interval", "Openings filled", *parts]


def gain_legend(words: Phrases, judged: bool, level: float | None, steps: Sequence[tuple[str, float]]) -> str:
    said = [f"The last {'three' if judged else 'two'} columns sum to the gain."]
    if not judged:
        said.append(
            f"Whether the firm held too many {words.inspection}s or too few is not judged: what a point is worth is "
            "taken from how many it held."
        )
    if level is not None:
        said.append(f"Intervals ({percent(level, 0)}) include the uncertainty of the predicted scores.")
    if steps:
        said.append(f"By step, all later ones at their best: {', '.join(f'{s} {amount(x)}' for s, x in steps)}.")
    return " ".join(said)


def against(reference: str) -> str:
    return f"against {reference}"


def funnel_title(attribute: str) -> str:
    return f"Applicants by step and {attribute}"


def impact_title(attribute: str) -> str:
    return f"Impact ratios by {attribute}, with their intervals"


def step_title(words: Phrases, step: str, kind: str | None) -> str:
    return f"{step}, of {words.before(step)}" if kind == "conditional" else step


def shortfall_title(people: str, by: str) -> str:
    return f"Shortfall of {people} by {by}"


def shortfall_axis(people: str, step: str) -> str:
    return f"{people} short at “{step}”"


def shortfall_text(whole: str, parts: str) -> str:
    return f"Of {whole}: {parts}."


def policies_title(words: Phrases, outcome: str, attribute: str) -> str:
    return f"{words.outcome(outcome)[:1].upper()}{words.outcome(outcome)[1:]}, by policy and {attribute}"


def policies_axis(words: Phrases, outcome: str) -> str:
    return f"share of the group’s candidates {words.outcome(outcome)} (expected)"


def gain_parts(words: Phrases, judged: bool) -> dict[str, str]:
    """`judged`: whether the cost of inspections is a part of its own."""
    hired = words.were(words.step("selected"), singular=True)
    found = {"positions": "openings that the firm left unfilled"}
    if not judged:
        return found | {"quality": f"who {words.were(words.step('inspected'), singular=True)} and who {hired}"}
    return found | {"cost": f"{words.inspection}s that cost more than they were worth", "quality": f"who {hired}"}


def each(name: str, parts: Sequence[str]) -> str:
    """One line of a description."""
    return f"{name}: {listing(parts) if parts else NOT_AVAILABLE}."


def slack_text(mean: str, sd: str) -> str:
    return f"Exact distribution of the realised slack: mean {mean}, standard deviation {sd}."


def mean(text: str) -> str:
    return f"mean {text}"


def unfilled_text(name: str, mean: str, none: str) -> str:
    return f"{name}: {mean or 'mean not available'}, every opening filled with chance {none}."


def pit_text(bins: str, low: str, high: str, even: str) -> str:
    return f"{bins} with between {low} and {high} of the scores; a perfect fit would put {even} in each."


def coverage_text(pairs: Sequence[tuple[str, str]]) -> str:
    return f"{listing(f'{level} intervals held {share}' for level, share in pairs)} of the scores."


def frontier_text(points: Sequence[tuple[str, str]]) -> str:
    return f"Utility kept: {listing(f'{kept} at {value}' for value, kept in points)}."


def sensitivity_title(people: str) -> str:
    return f"If scores of {people} understate their worth"


def sensitivity_axis(people: str) -> str:
    return f"scores of {people}, as a share of their worth"


def sensitivity_text(points: Sequence[tuple[str, str, str]]) -> str:
    said = listing(f"{short} and {long} at {x}" for x, short, long in points)
    return f"Utility kept in the short and in the long term: {said}."


def more_positions(number: int | None) -> str:
    if number is None:
        return "no number is enough"
    return "none needed" if number == 0 else f"{number} more opening{'' if number == 1 else 's'}"


def positions_text(name: str, needed: str, now: str, reached: str | None, target: str) -> str:
    with_them = "" if reached is None else f", {reached} with them"
    return f"{name}: {needed}; constrained {now} now{with_them}, unconstrained {target}."


def budget_title() -> str:
    return "What more budget and one more opening are worth"


def more_budget(unit: str) -> str:
    return f"{unit} more of the budget"


def budget_text(parts: str) -> str:
    return f"Gained by {parts}."


WITHOUT_GROUP = "most without the group"
WITH_GROUP = "most if the group were used"
RULES = "simple rules found"
FIRMS_RULE = "the firm's own rule"
WITHIN_REACH = "within reach without the group"
VALUE_KEPT = "value kept, of the best search that does not see the group"


def alternatives_title(attribute: str, rates: str) -> str:
    return f"What rules that never look at {attribute} can earn, by ratio of the {rates}"


def ratio_axis(group: str, against: str) -> str:
    return f"rate of {group} over rate of {against}"


def alternatives_text(points: Sequence[tuple[str, str]], firm: str | None) -> str:
    told = ", ".join(f"{share} at {ratio}" for ratio, share in points)
    own = "" if firm is None else f" The firm's own rule has a ratio of {firm}."
    return f"Utility of the best policy without the group, by ratio of the rates: {told}.{own}"


STATUSES = {
    "reference": "reference",
    "difference_below_line": "difference found, below the line",
    "difference_not_below_line": "difference found",
    "below_line_evidence_not_sufficient": "below the line, evidence not sufficient",
    "no_difference_found": "no difference found",
    "too_little_evidence": "too little evidence",
    "higher_rate_found": "higher rate than everyone else",
    "excluded": "not compared",
}
"""The status of a ratio, in words."""
