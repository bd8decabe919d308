"""The words of the report's templates that depend on the data: sentences, parts of sentences, captions.

Templates call these functions through `say`; each returns plain text, "" if there is nothing to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING

from auditkit.report.words import labels
from auditkit.report.words.phrases import Phrases
from auditkit.report.words.sentences import CAUTIONS, RECONCILED
from auditkit.text import (
    amount,
    amount_like,
    brief,
    count,
    day,
    decimals,
    each_row,
    fraction,
    indefinite,
    listing,
    noun,
    p_value,
    percent,
    plain,
    plural,
    ratio,
    sentence,
    spaced,
)

if TYPE_CHECKING:
    from auditkit.disparity.results import Disparities, DisparityTable, GroupResult
    from auditkit.disparity.score_differences import ScoreGroup
    from auditkit.report.schema import (
        CountsModel,
        FitModel,
        FollowUpModel,
        LeftOutModel,
        ReadingModel,
        ScopeModel,
        UnusedColumnModel,
    )
    from auditkit.rules.find import RuleResult

ALL_APPLICANTS = "all applicants"


# First page -----------------------------------------------------------------------------------------------------------


def applications(number: int, reading: ReadingModel | None) -> str:
    """`1,527 applications`, or whatever the rows are."""
    other = reading is not None and reading.people != "applicants"
    return f"{count(number)}\N{NO-BREAK SPACE}{reading.people}" if other and reading else plural(number, "application")


def reached_by(words: Phrases, step: str, number: float) -> str:
    """`370 interviewed`; of a step that is not a verb `Phone screen: 370`."""
    said = words.reached(step)
    verb = not said.startswith("who ")
    return f"{count(number)}\N{NO-BREAK SPACE}{said}" if verb else f"{step}:\N{NO-BREAK SPACE}{count(number)}"


def read_as(reading: ReadingModel) -> str:
    sure = "" if reading.confidence == "certain" else "; this is likely, not certain"
    return f"The file was read as {each_row(reading.row)}{sure}."


def unused_columns(unused: Sequence[UnusedColumnModel]) -> str:
    def named(each: UnusedColumnModel) -> str:
        return f"{each.column} (looks like {indefinite(each.looks_like)})" if each.looks_like else each.column

    return f"Columns not used: {', '.join(map(named, unused))}." if unused else ""


def rows_left(
    scope: ScopeModel, rows: Sequence[LeftOutModel], of: Sequence[LeftOutModel], reading: ReadingModel | None
) -> str:
    """How many rows there are, which were left out, and what remains; `rows` are left-out rows, `of` applications."""
    one = "an application" if reading is None or reading.people == "applicants" else f"one of the {reading.people}"
    here = f"{plural(scope.rows, 'row')} in the file"
    remain = f"{plural(scope.applications, 'application')} {noun(scope.applications, 'remains', 'remain')}"
    if scope.stand_for is not None:
        begun = f"{here}; {_left_out(rows)}; the others" if rows else here
        left = f"; {_left_out(of)}; {remain}" if of else ""
        return f"{begun} stand for {plural(scope.stand_for, 'application')}{left}."
    if scope.left_out:
        return f"{here}; {_left_out(scope.left_out)}; {remain}."
    return f"{here}: each is {one}, and none is left out."


def _left_out(entries: Sequence[LeftOutModel]) -> str:
    return f"left out: {', '.join(f'{count(each.rows)} ({spaced(each.reason)})' for each in entries)}"


def unknown(numbers: Mapping[str, int]) -> str:
    """How many people stated no group, by attribute."""
    stated = [f"{count(number)} without a stated {name}" for name, number in numbers.items() if number]
    return f"Not counted in that attribute’s tables: {', '.join(stated)}." if stated else ""


# Findings and people --------------------------------------------------------------------------------------------------


def no_findings(compared: bool, crossed_line: bool, mark: str) -> str:
    if not compared:
        return "No groups were compared."
    below = f"; ratios below the conventional line are marked {mark} above" if crossed_line else ""
    return f"No difference between groups was found with sufficient evidence{below}."


def follow_up(one: FollowUpModel, line: float | None) -> str:
    """An earlier finding, and the response to it."""
    answer = f" ({one.decision}, {one.owner}{f', due {day(one.due)}' if one.due else ''})" if one.owner else ""
    then = one.ratio_then is not None and one.ratio_now is not None
    change = f"; impact ratio then {ratio(one.ratio_then, line)}, now {ratio(one.ratio_now, line)}" if then else ""
    return f"{one.subject}: {one.status}{answer}{change}."


def notices(some: bool) -> str:
    found = "What was left out or assumed, where the evidence is thin, and what could not be computed."
    return found if some else "There are none."


def rows_read(counts: CountsModel) -> str:
    out = ", ".join(f"{count(rows)} ({spaced(code)})" for code, rows in counts.left.items())
    read = f"{plural(counts.read, 'row')} {noun(counts.read, 'was', 'were')} read and {count(counts.used)} used."
    return f"{read} Left out: {out}." if out else read


def problems_listed(total: int) -> str:
    """Goes before the link to the list."""
    return f"{plural(total, 'problem')} found in the data {noun(total, 'is', 'are')} listed under"


def several_applications(persons: int, tests: bool = False) -> str:
    counted = "; the tests count each as one person" if tests else ""
    return f"{plural(persons, 'person', 'people')} applied more than once{counted}." if persons else ""


def joined_groups(attribute: str, groups: Sequence[str]) -> str:
    return f"In {attribute}, {listing(groups)} are joined, because some cells are too small."


# Disparity ------------------------------------------------------------------------------------------------------------


def conventions(found: Disparities) -> str:
    """The line and the level, and who isn't counted in any rate."""
    said = [f"The conventional line is {fraction(found.line)}; the level of the tests is {plain(found.alpha)}."]
    if found.minimum_share:
        said.append(f"Groups under {percent(found.minimum_share)} of the applicants are not compared.")
    if number := found.undecided:
        said.append(f"No rate counts the {plural(number, 'application')} that no step decided.")
    if number := found.decided_in_part:
        pending = f"{plural(number, 'application')} withdrawn or still pending after a step"
        said.append(f"{pending} {noun(number, 'counts', 'count')} at the steps reached and at no later one.")
    if found.repeated is not None:
        said.append(several_applications(found.repeated.persons, tests=True))
    return " ".join(said)


def of_whom(words: Phrases, table: DisparityTable) -> str:
    """Whose rates a table shows."""
    before = words.before(table.step)
    if table.kind != "conditional":
        return f"of {ALL_APPLICANTS}"
    return f"of {before}" if before != ALL_APPLICANTS else "of those who reached the step before"


def who_reached(words: Phrases, table: DisparityTable) -> str:
    of = of_whom(words, table)
    return f"{table.step}, {of}: {count(table.selected)} of {count(table.applicants)}"


def drawn(first: bool, shown: int, most: int) -> str:
    """The legend below the funnel and the ratios of an attribute."""
    funnel = "Funnel: the share of each group’s applicants who reached a step."
    ratios = "Ratios: the dot is the impact ratio, the bar its interval, the dashed line the conventional line."
    few = f"At most {most} groups are drawn; the tables have them all." if shown > most else ""
    return " ".join([*([funnel, ratios] if first else []), *([few] if few else [])])


def corrected(p_adjusted: float | None, level: float) -> str:
    return "not tested" if p_adjusted is None else p_value(p_adjusted, level)


def without_ratio(status: str) -> str:
    """For a group on the first page that isn't compared with another."""
    return "reference" if status == "reference" else "not compared"


def share_of(part: float | None, whole: float | None) -> str:
    return f"{count(part)} of {count(whole)}"


def remarks(row: GroupResult) -> str:
    """Remarks on a comparison that follow its status."""
    found = [] if row.reconciled in (None, "neither", "no_strata") else [RECONCILED[row.reconciled]]
    found += [CAUTIONS[flag] for flag in row.flags]
    if row.detectable_ratio is not None and row.decided_by is None:
        found.append(f"with 80 % power, ratios up to {ratio(row.detectable_ratio, None, 2)} would be found")
    return "".join(f"; {text}" for text in found)


def trend(words: Phrases, table: DisparityTable, level: float) -> str:
    assert table.trend is not None
    found = table.trend
    side = "falls" if found.deciding < 0 else "rises"
    within = "" if found.z_within is None else " within requisitions"
    return (
        f"{table.step}, {of_whom(words, table)}: the rate {side} along the bands by "
        f"{decimals(abs(found.deciding), 1)} standard deviations{within}, p {p_value(found.p_design, level)}, "
        f"corrected {p_value(found.p_adjusted, level)}"
    )


def quantiles(groups: Sequence[ScoreGroup]) -> str:
    """The 10, 25, 50, 75 and 90 % quantiles of each group's scores."""
    known = [one for one in groups if None not in one.quantiles]
    each = "; ".join(f"{one.group} {', '.join(map(amount, one.quantiles))}" for one in known)
    return f"10, 25, 50, 75 and 90 % of the scores are at or below: {each}." if known else ""


def agreement(share: float | None) -> str:
    """How well selections agree with a cut score."""
    if share is None:
        return ""
    alone = ", so the score did not decide alone" if share < 1 else ""
    return f"{percent(share)} of those selected are at or above the present cut{alone}."


def cut_scores_under() -> str:
    """Goes before the link to them."""
    return "Distributions and the impact ratio at every cut score are under"


def compared_within(segment: str | None) -> str:
    return f", compared within each {spaced(segment)}" if segment else ""


def of_all_scored(corrected_for_range: bool) -> str:
    return "All with a score" + (", corrected for the restriction of range" if corrected_for_range else "")


# Policies and prices --------------------------------------------------------------------------------------------------


def never_the_group(fit: FitModel | None) -> str:
    return "" if fit is None or fit.settings.group_aware else ", and never the group"


def yardstick(fit: FitModel | None) -> str:
    """What to make of the best policy under a constraint."""
    known = ": groups are counted by how likely they are given what is known, and no decision depends on them"
    if fit is not None and fit.settings.group_aware:
        known = ", not a recommendation to treat people by group, which the law may forbid"
    return f"It is a yardstick for the firm’s decisions{known}."


def columns_of_policies(long_term: bool) -> list[str]:
    more = ["Long-term utility"] if long_term else []
    return ["Policy", "Utility", *more, "Openings left unfilled", "Order within groups"]


def continued(caption: str, first: str | None) -> str:
    """The caption of a continued table, with the group it starts at."""
    return caption if first is None else f"{caption}, from {first}"


def no_policy(conflict: Sequence[str] | None) -> str:
    """For a constraint that no policy meets."""
    return "cannot be met" + (f": {listing(conflict)} exclude each other" if conflict else "")


def met_by_none(conflict: Sequence[str] | None) -> str:
    return f"no policy meets {listing(conflict) if conflict else 'it'}"


def policies_drawn(groups: int, most: int) -> str:
    few = " The largest groups are drawn; the tables have them all." if groups > most else ""
    apart = "the further apart the marks, the larger the difference between groups."
    return f"One row for each policy, one mark for each group: {apart}{few}"


def among_which(blind: bool) -> str:
    """The policies among which a price is the lowest; follows `would give up`."""
    if not blind:
        return "."
    return (
        ", among those that use what is known about candidates and never their group. The last column is the bound if "
        "the group could be used; it is not a proposal, and doing so is unlawful in many places."
    )


def columns_of_prices(blind: bool) -> list[str]:
    more = ["If the group could be used"] if blind else []
    return ["Constraint", "Utility", "Share given up", "Interval", "Loss", "Interval", *more]


def prices_drawn(level: float | None) -> str:
    if level is None:
        return "Dot: the share given up."
    allows = "which allows for errors in the predictions and for the choice of requisitions."
    return f"Dot: the share given up. Bar: its {percent(level, 0)} interval, {allows}"


def numbers_under() -> str:
    """Goes before a link."""
    return "The numbers are under"


def not_known(bound: float | None) -> str:
    return f"not known: the optimum lies between this and {amount(bound)}"


def slack_drawn(all_of_them: int, shown: int) -> str:
    more = " Further distributions are in the table." if all_of_them > shown else ""
    return f"Zero: the constraint holds exactly in that round.{more}"


def spread(two_sd: float, people: bool) -> str:
    return f"± {brief(two_sd)}{' people' if people else ''}"


def ratio_demanded(least: float | None) -> str:
    return "any" if least is None else brief(least)


def gain_of_rule(rule: RuleResult) -> str:
    if rule.gain is None:
        return "not judged"
    low, high = rule.gain.interval
    return (
        f"{brief(rule.gain.ratio)} ({brief(low)} to {brief(high)}), {'found' if rule.gain.found else 'not confirmed'}"
    )


def two_ends(bounds: Sequence[float | None] | None) -> str | None:
    """An interval with as many digits as its width warrants."""
    return None if not bounds else f"{amount_like(bounds[0], bounds)} to {amount_like(bounds[1], bounds)}"


def shifts(level: float | None, unbounded: bool) -> str:
    """The legend below the shifts that a best policy acts like."""
    none = "; shifts have none where the price has none" if unbounded else ""
    return (
        f"In points of the score if selections are counted, otherwise in the unit of cost. Intervals "
        f"({percent(level, 0)}) include the uncertainty of the predicted scores{none}. This describes a benchmark, not "
        f"a procedure: it recommends no change to anyone’s score."
    )


def score_meaning_title(words: Phrases, predicts: str) -> str:
    """The title of a table that predicts one number from another."""
    later = f"Later performance of those {words.outcome('selected')}, at equal scores"
    return later if predicts == "outcome" else "Scores, at equal prior information"


def score_meaning(segment: str | None) -> str:
    errors = "tandard errors allow for requisitions."
    begun = f"Compared within each {segment}; s{errors}" if segment else f"S{errors}"
    return (
        f"{begun} Above 0, one prediction for everyone would predict too little for the group; a change per point "
        f"above 0 means that a point says more about the group than about the reference."
    )


# History and record -----------------------------------------------------------------------------------------


def prepared_for(name: str) -> str:
    """The beginning of the dateline."""
    return f"Prepared for {name} · " if name else ""


def crossings(number: int) -> str:
    """How many thresholds the last run crossed; their list follows."""
    return f"{sentence(plural(number, 'finding'))}:" if number else "No threshold was crossed."


def restarted(why: str) -> str:
    return f" (started again: {why})" if why else ""


def removed(day_of_it: str | None, why: str | None) -> str:
    """Why the files of a run are gone; "" if they aren't."""
    return f"removed {day(day_of_it)}, {why}" if day_of_it else ""


def rules_named(profile: str, retention: str) -> str:
    kept = f", which require records to be kept for at least {retention}" if retention else ""
    return f"The last report names the rules of {profile}{kept}." if profile else ""


def covered(applications: int | None, begin: str | None, end: str | None) -> str:
    """What a period's last report covers."""
    made = f", made from {day(begin)} to {day(end)}" if begin else ""
    return "" if applications is None else f"The last report covers {plural(applications, 'application')}{made}."


def constraints_priced(constraints: Sequence[str]) -> str:
    return f" Constraints priced: {'; '.join(constraints)}." if constraints else ""


def since(run: int | None) -> str:
    return f" since run {run}" if run else ""


def problems_of_cells(priced: bool) -> str:
    gap = " The gap is the distance between the value of a constrained policy and its proven bound."
    found = "Problems are cells that could not be read, were unknown or contradicted others; each report lists them."
    return found + (gap if priced else "")


def detectable(least: float | None) -> str:
    return "none" if least is None else ratio(least)


def due(date: str | None) -> str:
    return f", due {day(date)}" if date else ""


# Fit ------------------------------------------------------------------------------------------------------------------


def fit_drawn(charts: int) -> str:
    if charts == 2:
        return (
            "Left: even heights (dashed) mean that scores are as spread out as predicted; a hump means predictions "
            "that are too wide, a valley predictions that are too narrow. Right: dots on the dashed line mean that "
            "intervals cover what they promise."
        )
    return "Even heights, or dots on the dashed line, mean that scores are as spread out as predicted."


def columns_of_errors(name: str, standard_error: bool, coverage: bool) -> list[str]:
    more = (["Standard error"] if standard_error else [], ["80 % interval holds"] if coverage else [])
    return [name, "Scores", "Mean error", *more[0], "CRPS", *more[1]]


def expected_score(tercile: str) -> str:
    return f"Expected score: {tercile}"


SAYINGS: tuple[Callable[..., object], ...] = (
    *(applications, reached_by, read_as, unused_columns, rows_left, unknown),
    *(no_findings, follow_up, notices, rows_read, problems_listed, several_applications, joined_groups),
    *(conventions, who_reached, drawn, corrected, share_of, remarks, trend),
    *(quantiles, agreement, cut_scores_under, compared_within, of_all_scored),
    *(continued, never_the_group, yardstick, columns_of_policies, no_policy, met_by_none, policies_drawn),
    *(among_which, columns_of_prices, prices_drawn, numbers_under, not_known),
    *(slack_drawn, spread, ratio_demanded, gain_of_rule, two_ends, shifts, score_meaning_title, score_meaning),
    *(prepared_for, crossings, restarted, removed, rules_named, covered, constraints_priced, since),
    *(problems_of_cells, detectable, due, without_ratio),
    *(fit_drawn, columns_of_errors, expected_score),
)
SAY = SimpleNamespace(
    **{each.__name__: each for each in SAYINGS},
    shift_headings=lambda by_score: labels.SHIFT_HEADINGS[by_score],
)
"""All that templates see of this module: themes aren't trusted."""
