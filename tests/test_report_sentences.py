"""Sentences of whole reports: each has a planted case in which it must appear, and one in which it must not."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

import auditkit
from auditkit.config import Config, ReportSettings
from auditkit.disparity.applicants import Applicants
from auditkit.disparity.disparity_tables import disparities
from auditkit.errors import InputError
from auditkit.report import html
from auditkit.report.findings import of_disparities
from auditkit.report.schema import FindingModel, Report
from auditkit.report.words import sentences as say
from auditkit.report.words.phrases import Phrases
from auditkit.text import NBSP

Cells = dict[str, tuple[int, int]]


def table(requisitions: Sequence[Cells], **more: Sequence[str]) -> pd.DataFrame:
    """One row for each applicant of these counts (applicants, hired), requisition by requisition."""
    rows = []
    for number, cells in enumerate(requisitions):
        for group, (n, x) in cells.items():
            rows += [
                {"Requisition ID": f"R{number:03}", "Gender": group, "Hired": "Yes" if k < x else "No"}
                for k in range(n)
            ]
    frame = pd.DataFrame(rows)
    for name, values in more.items():
        frame[name.replace("_", " ")] = [values[int(r[1:])] for r in frame["Requisition ID"]]
    return frame


def funnel(people: Sequence[tuple[str, int, int, int]], requisitions: int = 10) -> pd.DataFrame:
    """Group, applicants, interviewed and hired; spread evenly over requisitions."""
    rows = []
    for group, n, interviewed, hired in people:
        for k in range(n):
            rows.append(
                {
                    "Requisition ID": f"R{k % requisitions:03}",
                    "Gender": group,
                    "Interviewed": "Yes" if k < interviewed else "No",
                    "Hired": "Yes" if k < hired else "No",
                }
            )
    return pd.DataFrame(rows)


def report(frame: pd.DataFrame, outcome: str = "Hired") -> Report:
    roles = {"search": "Requisition ID", "group": "Gender", "selected": outcome}
    if "Interviewed" in frame:
        roles["inspected"] = "Interviewed"
    for name in ("Department",):
        if name in frame:
            roles["segment"] = name
    return auditkit.audit(frame, map=roles).report


def told(found: Report, code: str) -> list[FindingModel]:
    return [item for item in found.findings if item.code == code]


def said(found: Report, code: str) -> str:
    return " ".join(item.text for item in told(found, code)).replace(NBSP, " ")


EVEN = [{"Female": (100, 30), "Male": (100, 31)} for _ in range(8)]


# 1 Direction ----------------------------------------------------------------------------------------------------------


def test_found_within_only_the_other_way_is_told_of_those_who_do_worse() -> None:
    """Women do better within each requisition and slightly worse pooled: they apply where few are hired."""
    cells = [{"Female": (200, 40), "Male": (100, 10)}, {"Female": (100, 60), "Male": (200, 95)}] * 3
    found = report(table(cells))
    item = told(found, "difference-within")[0]
    assert (item.group, item.against) == ("Male", "Female")
    assert item.text.startswith("Within requisitions, men were hired less often than women")
    assert "Pooled, the rates point the other way" in item.text
    assert not re.search(r"\bwomen were hired less often", " ".join(f.text for f in found.findings))


def test_a_difference_that_points_one_way_is_told_that_way() -> None:
    found = report(table([{"Female": (100, 20), "Male": (100, 40)}] * 8))
    assert not told(found, "difference-within")
    assert said(found, "difference-cumulative").startswith(
        "Women were hired less often than men: 20.0 % against 40.0 %"
    )


def test_where_being_selected_is_bad_more_often_is_worse() -> None:
    frame = table([{"Female": (100, 40), "Male": (100, 20)}] * 8).rename(columns={"Hired": "Chosen"})
    roles = {"search": "Requisition ID", "group": "Gender", "selected": "Chosen"}
    settings = Config(report=ReportSettings(selection_is_bad=True))
    bad = auditkit.audit(frame, map=roles, config=settings).report
    text = said(bad, "difference-cumulative")
    assert "less often" not in text and "more often than men: 40.0 % against 20.0 %, a ratio of 0.50" in text
    assert "about 80 fewer women" in text
    good = auditkit.audit(frame, map=roles).report
    assert "more often" not in said(good, "difference-cumulative")


def test_opposite_directions_say_who_does_better_where() -> None:
    """Women are hired less often pooled and more often in each requisition."""
    cells = [{"Female": (200, 40), "Male": (60, 6)}, {"Female": (60, 45), "Male": (200, 110)}] * 8
    text = said(report(table(cells)), "difference-cumulative")
    assert text.startswith("Women were hired less often than men")
    assert "Within requisitions it is the other way round: women were hired more often than men there" in text
    assert "other way round" not in said(
        report(table([{"Female": (100, 20), "Male": (100, 40)}] * 8)), "difference-cumulative"
    )


def test_a_ratio_found_within_requisitions_only_says_so_on_the_first_page() -> None:
    """Its interval is the pooled one, which holds 1; nor does the row say that such a ratio could not be found."""
    found = report(table([{"Female": (110, 25), "Male": (110, 50)}, {"Female": (90, 5), "Male": (110, 20)}]))
    page = html.render(found)
    assert told(found, "difference-within") and "found within requisitions</span>" in page
    assert "ratios up to" not in page
    both = html.render(report(table([{"Female": (100, 20), "Male": (100, 40)}] * 8)))
    assert "found within requisitions</span>" not in both
    assert "ratios up to" in html.render(report(table(EVEN)))


# 2 Where it arises ----------------------------------------------------------------------------------------------------


def test_a_difference_arises_in_the_decision_that_shows_it() -> None:
    first = said(report(funnel([("Female", 900, 270, 90), ("Male", 900, 450, 150)])), "where-it-arises")
    assert first.startswith("The difference arises in deciding who was interviewed.")
    assert "Among those interviewed, no further difference is found for women" in first
    later = said(report(funnel([("Female", 900, 450, 90), ("Male", 900, 450, 225)])), "where-it-arises")
    assert later.startswith("The difference arises in deciding which of those interviewed were hired.")
    few = said(report(funnel([("Female", 300, 24, 10), ("Male", 300, 75, 30)])), "where-it-arises")
    assert "they have the highest rate), but there is too little evidence to rule one out" in few
    assert "too little evidence" not in first


def test_a_difference_that_no_decision_shows_has_built_up() -> None:
    found = report(funnel([("Female", 1000, 460, 180), ("Male", 1000, 500, 230)], 40))
    text = said(found, "where-it-arises")
    assert "builds up over several steps" in text and "arises in" not in text


# 3 The shortfall within requisitions ----------------------------------------------------------------------------------

UCB = [
    {"Female": (108, 89), "Male": (825, 512)},
    {"Female": (25, 17), "Male": (560, 353)},
    {"Female": (593, 202), "Male": (325, 120)},
    {"Female": (375, 131), "Male": (417, 138)},
    {"Female": (393, 94), "Male": (191, 53)},
    {"Female": (341, 24), "Male": (373, 22)},
]


def test_an_explained_difference_has_no_pooled_shortfall() -> None:
    text = said(report(table(UCB)), "difference-cumulative")
    assert "is associated with which requisitions people applied to" in text
    assert "more women would have been" not in text  # within departments women were admitted slightly more often


def test_a_difference_within_requisitions_has_its_shortfall() -> None:
    text = said(report(table([{"Female": (100, 20), "Male": (100, 40)}] * 8)), "difference-cumulative")
    assert "about 80 more women would have been hired" in text


# 4 Repeat applicants --------------------------------------------------------------------------------------------------


def test_people_who_apply_again_are_one_person_everywhere() -> None:
    frame = table([{"Female": (90, 27), "Male": (90, 45)}] * 6)
    once = auditkit.audit(frame, map={"search": "Requisition ID", "group": "Gender", "selected": "Hired"}).report
    frame["Candidate ID"] = np.arange(len(frame)) // 3
    frame["Application ID"] = np.arange(len(frame))
    roles = {"candidate": "Application ID", "person": "Candidate ID"}
    roles |= {"search": "Requisition ID", "group": "Gender", "selected": "Hired"}
    again = auditkit.audit(frame, map=roles).report
    assert "count each of them as one person" in said(again, "repeated-applicants")
    assert not told(once, "repeated-applicants")
    wide, narrow = (next(r for r in page.tables[0].groups if r.within is not None).within for page in (again, once))
    assert wide is not None and narrow is not None and wide.interval is not None and narrow.interval is not None
    assert (wide.interval.lower or 0) < (narrow.interval.lower or 0) and wide.design is not None


# 5 Segments -----------------------------------------------------------------------------------------------------------

DEPARTMENTS = ["Ads", "Bio", "Ops", "Web"] * 4


def test_a_department_stands_out_only_if_departments_differ() -> None:
    same = report(table([{"Female": (60, 15), "Male": (60, 30)}] * 16, Department=DEPARTMENTS))
    assert "does not differ detectably by Department" in said(same, "same-everywhere")
    assert not told(same, "contributes-most") and not told(same, "difference-in-segment")
    cells = [{"Female": (60, 4 if d == "Bio" else 24), "Male": (60, 26)} for d in DEPARTMENTS]
    one = report(table(cells, Department=DEPARTMENTS))
    item = told(one, "difference-in-segment")[0]
    assert (item.segment, item.value, item.group) == ("Department", "Bio", "Female")
    assert "It differs from the others" in item.text and not told(one, "same-everywhere")


def test_a_team_that_stands_out_is_not_alike_because_a_test_of_all_teams_sees_nothing() -> None:
    teams = ["Ads", "Bio", "Ops", "Web", "Law", "Art", "Lab", "Pay"] * 2
    cells = [{"Female": (40, 4 if team == "Bio" else 10), "Male": (40, 14)} for team in teams]
    found = report(table(cells, Department=teams))
    agreement = next(cut.agreement for cut in found.segments or () if cut.segment == "Department")
    assert agreement is not None and agreement.reliable and agreement.p > 0.05
    assert "It differs from the others" in said(found, "difference-in-segment") and not told(found, "same-everywhere")


def test_a_department_is_named_although_the_whole_shows_nothing() -> None:
    cells = [{"Female": (60, 10 if d == "Bio" else 32), "Male": (60, 27)} for d in DEPARTMENTS]
    found = report(table(cells, Department=DEPARTMENTS))
    assert not told(found, "difference-cumulative") and not told(found, "no-difference-found")
    assert told(found, "difference-in-segment")[0].value == "Bio"


# 6 Below the line -----------------------------------------------------------------------------------------------------


def test_below_the_line_without_evidence_is_not_a_finding() -> None:
    found = report(table([{"Female": (12, 3), "Male": (12, 4)}] * 5))
    assert not [item for item in found.findings if item.kind in ("disparity", "segment")]
    assert told(found, "no-difference-found") and "not counted as a finding" in said(found, "below-line")
    assert not told(report(table(EVEN)), "below-line")


# 7 Requisitions of one group ------------------------------------------------------------------------------------------


def test_requisitions_of_one_sex_allow_no_comparison_within() -> None:
    apart = [{"Female": (60, 12)} if k % 2 else {"Male": (60, 30)} for k in range(12)]
    none = "No requisition has applicants from two of the compared groups"
    assert none in said(report(table(apart)), "no-comparison-within")
    assert not told(report(table(EVEN)), "no-comparison-within")
    between = "No requisition has applicants of both, so this may be a difference between requisitions"
    assert between in said(report(table(apart)), "difference-cumulative")
    shared = said(report(table([{"Female": (100, 20), "Male": (100, 40)}] * 8)), "difference-cumulative")
    assert shared and between not in shared


def test_one_person_is_nobodys_reference() -> None:
    """1 of 1 is the highest rate, of a group that nobody would compare with."""
    cells = {"White": (36, 15), "Black": (12, 4), "Asian": (1, 1)}
    sizes = np.repeat(list(cells), [n for n, _ in cells.values()])
    hired = np.concatenate([np.arange(n) < x for n, x in cells.values()])
    assert disparities(Applicants({"race": sizes}, {"hired": hired})).tables[0].reference == "White"
    large = Applicants(
        {"race": np.repeat(["White", "Black"], 40)}, {"hired": np.arange(80) % 40 < np.repeat([9, 20], 40)}
    )
    assert disparities(large).tables[0].reference == "Black"


def test_small_requisitions_are_compared_together_and_it_is_said() -> None:
    few = [{"Female": (2, 1), "Male": (9, 3)}] * 12 + [{"Female": (30, 10), "Male": (30, 12)}] * 3
    text = said(report(table(few)), "joined-requisitions")
    assert "12 of 15 (for Gender)" in text and "leaves no comparison" not in text
    unknown = [*few, {"": (3, 1)}]  # a requisition of people without a group is in no set
    assert "12 of 15 (for Gender)" in said(report(table(unknown)), "joined-requisitions").replace(" of 16", " of 15")
    alone = [{"Female": (2, 1), "Male": (9, 3)}] * 4
    assert "For Gender this leaves no comparison within requisitions" in said(
        report(table(alone)), "joined-requisitions"
    )
    assert not told(report(table(EVEN)), "joined-requisitions")


# 8 Rates, the line, unknown groups ------------------------------------------------------------------------------------


def test_rates_are_written_so_that_they_differ() -> None:
    found = report(table([{"Female": (20_000, 10), "Male": (20_000, 28)}] * 2))
    text = said(found, "difference-cumulative")
    assert "0.05 % against 0.14 %" in text
    assert "20.0 % against 40.0 %" in said(
        report(table([{"Female": (100, 20), "Male": (100, 40)}] * 8)), "difference-cumulative"
    )


def test_a_difference_above_the_line_says_so() -> None:
    text = said(report(table([{"Female": (9000, 5310), "Male": (9000, 5700)}] * 3)), "difference-cumulative")
    assert "not below 4/5" in text
    assert "not below" not in said(
        report(table([{"Female": (100, 20), "Male": (100, 40)}] * 8)), "difference-cumulative"
    )


def test_many_unknown_groups_are_said() -> None:
    frame = table(EVEN)
    frame.loc[frame.index % 5 < 2, "Gender"] = ""
    assert "Gender is unknown for 640 of 1,600 applicants (40.0 %)" in said(report(frame), "many-unknown")
    assert not told(report(table(EVEN)), "many-unknown")


# 9 Nothing to compare -------------------------------------------------------------------------------------------------


NOTHING = [
    ([{"Female": (40, 40), "Male": (50, 50)}] * 2, "everyone was selected", "everybody in the file"),
    ([{"Female": (40, 12)}] * 2, "fewer than two groups", "fewer than two groups are known"),
]


@pytest.mark.parametrize(("cells", "why", "refused"), NOTHING)
def test_nothing_to_compare_is_not_no_difference(cells: list[Cells], why: str, refused: str) -> None:
    with pytest.raises(InputError, match=refused):  # a whole file of it is not read
        report(table(cells))
    frame = table(cells)
    page = disparities(
        Applicants({"Gender": frame["Gender"]}, {"Hired": frame["Hired"] == "Yes"}, strata=frame["Requisition ID"])
    )
    found = of_disparities(page, Phrases({"Gender": ("sex", ["Female", "Male"])}, ("Hired",)))
    codes = [item.code for item in found]
    assert why in next(item.text for item in found if item.code == "nothing-to-compare")
    assert "no-difference-found" not in codes
    assert "could have been missed" not in " ".join(item.text for item in found)


def test_something_to_compare_is_compared() -> None:
    found = report(table(EVEN))
    assert told(found, "no-difference-found") and not told(found, "nothing-to-compare")


# 10 Standard deviations -----------------------------------------------------------------------------------------------


def test_two_standard_deviations_without_a_finding_are_reconciled() -> None:
    rng = np.random.default_rng(3)
    frame = table([{"Female": (60, 16), "Male": (60, 22)}] * 4)
    for name in ("Site", "Level"):
        frame[name] = rng.choice(list("abcdefgh"), len(frame))
    frame["Ethnicity"] = rng.choice(["w", "x", "y", "z"], len(frame))
    frame["Veteran"] = rng.choice(["yes", "no"], len(frame))
    roles = {"search": "Requisition ID", "group": ["Gender", "Ethnicity", "Veteran"], "selected": "Hired"}
    found = auditkit.audit(frame, map={**roles, "segment": ["Site", "Level"]}).report
    text = said(found, "two-standard-deviations")
    row = next(row for row in found.tables[0].groups if row.p is not None)
    assert row.sd is not None and row.sd < -2 and row.status.value == "below_line_evidence_not_sufficient"
    assert text.startswith("Women were hired 2.") and "standard deviations less often than expected" in text
    assert (
        "for one comparison chosen before looking at the data, the uncorrected figures apply" in text
        and "corrected p = " in text
    )
    assert not told(report(table(EVEN)), "two-standard-deviations")


def test_a_finding_has_its_standard_deviations_and_both_p() -> None:
    text = said(report(table([{"Female": (100, 20), "Male": (100, 40)}] * 8)), "difference-cumulative")
    assert re.search(r"8\.7 standard deviations, p < 0.0001 by itself.*corrected for all tests", text)


def test_a_step_that_is_a_denial_is_quoted() -> None:
    """ "Women were not rejected less often than men" would read as its opposite."""
    frame = table([{"Female": (60, 18), "Male": (60, 30)}] * 8)
    frame["Rejected"] = frame.pop("Hired").map({"Yes": "No", "No": "Yes"})
    text = said(auditkit.audit(frame).report, "difference-cumulative")
    assert text.startswith("Women reached “not rejected” less often than men: 30.0 % against 50.0 %")


def test_p_that_few_requisitions_raise_says_so_where_the_interval_stays() -> None:
    """Three alike: rates hardly vary between them, but three clusters say little of how they vary."""
    few = [{"Female": (180, 60), "Male": (180, 92)}, {"Female": (180, 61), "Male": (180, 91)}]
    text = said(report(table([*few, {"Female": (180, 60), "Male": (180, 91)}])), "difference-cumulative")
    assert re.search(r"by itself, p = 0\.\d+ allowing for requisitions; corrected", text)
    assert "allowing for" not in said(
        report(table([{"Female": (100, 20), "Male": (100, 40)}] * 40)), "difference-cumulative"
    )


def test_lots_are_said_to_be_drawn_only_where_they_are() -> None:
    said = say.lotteries([(["parity"], 60, 60), (["quota", "budget"], 58, 60)])
    assert said.startswith("The best policy needs no lottery under parity; it draws lots in 2 of 60 requisitions under")
    assert said.endswith("under quota and budget.")
    assert say.lotteries([(["parity"], 0, 1)]) == "The best policy draws lots under parity."
    assert "draws" not in say.lotteries([(["parity"], 1, 1)])
