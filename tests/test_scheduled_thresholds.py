"""Lines, exact comparisons with them, and the words that tell of a crossing."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.errors import InputError
from auditkit.report.figures import Figures, figures
from auditkit.report.load_report import load
from auditkit.report.thresholds import BOUNDS, MEASURES, Evaluation, evaluate, parse, parse_options
from support.scheduled_example import document


def check(table: dict[str, Any], now: dict[str, Any], before: dict[str, Any] | None = None) -> Evaluation:
    return evaluate(parse(table), figures(load(now)), None if before is None else figures(load(before)))


def hired(made: dict[str, Any]) -> dict[str, Any]:
    """The table of the last step."""
    found: dict[str, Any] = made["disparity"]["tables"][1]
    return found


def test_the_thresholds_of_the_issue() -> None:
    table = {
        "impact_ratio": {"min": 0.8},
        "price_of_fairness": {"loss": {"max": 100}, "ratio": {"min": 0.97}},
        "unfilled_capacity": {"max": 0.05},
        "gap": {"max": 1e-6},
    }
    found = check(table, document()).crossings
    assert [(c.threshold, c.subject) for c in found] == [
        ("impact_ratio.min", "Impact ratio at “Hired”, Ethnicity: Black against White"),
        ("impact_ratio.min", "Impact ratio at “Hired”, Ethnicity: Hispanic against White"),
        ("price_of_fairness.loss.max", "Utility lost to parity"),
        ("price_of_fairness.loss.max", "Utility lost to all constraints together"),
        ("price_of_fairness.ratio.min", "Share of the utility kept under parity"),
        ("price_of_fairness.ratio.min", "Share of the utility kept under all constraints together"),
        ("unfilled_capacity.max", "Share of the positions left open by the firm"),
    ]
    assert found[0].words == (
        "Impact ratio at “Hired”, Ethnicity: Black against White: 0.325 (9 of 305 against 64 of 704), below the "
        "threshold impact_ratio.min = 0.8. The report finds a difference larger than chance usually makes."
    )
    assert "too little evidence" in found[1].words


def test_four_fifths_exactly_is_not_below_four_fifths() -> None:
    on = document({"A": (100, 64), "B": (100, 80)})
    below = document({"A": (10_000_000_000_000_000, 6_399_999_999_999_999), "B": (100, 80)})
    assert not check({"impact_ratio": {"min": 0.8}}, on).crossings
    (crossing,) = check({"impact_ratio": {"min": 0.8}}, below).crossings
    assert "< 0.800" in crossing.words.replace("\u00a0", " ")  # the figure is not rounded onto the line
    assert not check({"impact_ratio": {"min": "4/5"}}, on).crossings


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_comparisons_are_those_of_fractions(n: int, m: int, data: st.DataObject) -> None:
    x, y = data.draw(st.integers(0, n)), data.draw(st.integers(1, m))
    bound = data.draw(st.sampled_from([0.8, 0.1, 2.5, 1 / 3]))
    if Fraction(x, n) > Fraction(y, m):
        (n, x), (m, y) = (m, y), (n, x)
    made = document({"A": (n, x), "B": (m, y)})
    hired(made)["reference"] = "B"
    for row in hired(made)["groups"]:
        row["status"] = "reference" if row["group"] == "B" else "difference_below_line"
    crossed = bool(check({"impact_ratio": {"min": bound}}, made).crossings)
    assert crossed == (Fraction(x, n) / Fraction(y, m) < Fraction(str(bound)))


def test_a_ratio_without_counts_is_compared_as_rounded() -> None:
    """As a history may have it, which keeps figures and not reports."""
    known = figures(load(document({"A": (100, 64), "B": (100, 80)})))

    def crossings(ratio: float) -> int:
        bare = [
            replace(g, applicants=None, selected=None, impact_ratio=ratio) if g.group == "A" else g
            for g in known.groups
        ]
        return len(evaluate(parse({"impact_ratio": {"min": 0.8}}), replace(known, groups=tuple(bare))).crossings)

    assert crossings(0.7999999999999999) == 0
    assert crossings(0.7999) == 1


def test_changes_against_the_previous_run() -> None:
    before, now = document({"A": (100, 75), "B": (100, 80)}), document({"A": (100, 70), "B": (100, 80)})
    (crossing,) = check({"impact_ratio": {"max_drop": 0.05}}, now, before).crossings
    assert crossing.value == pytest.approx(0.0625)
    assert "fell from 0.938 to 0.875 (70 of 100 against 80 of 100) since the previous run" in crossing.words
    assert not check({"impact_ratio": {"max_drop": 0.0625}}, now, before).crossings  # exactly the threshold
    assert not check({"impact_ratio": {"max_drop": 0.05}}, before, now).crossings  # it rose
    assert check({"impact_ratio": {"max_rise": 0.05}}, before, now).crossings
    loss = {"price_of_fairness": {"loss": {"max_rise": 10}}}
    later = document()
    later["constrained"][0]["price_of_fairness"]["loss"] += 11
    assert [c.subject for c in check(loss, later, document()).crossings] == ["Utility lost to parity"]


def test_the_first_run_has_nothing_to_compare_with_and_says_so() -> None:
    found = check({"impact_ratio": {"max_drop": 0.05}}, document())
    assert not found.crossings
    assert found.notes == ("impact_ratio.max_drop: there is no earlier run to compare with.",)
    new_group = check({"impact_ratio": {"max_drop": 0.05}}, document({"A": (9, 1), "B": (9, 3)}), document())
    assert any("no figure of the previous run" in note for note in new_group.notes)


@pytest.mark.parametrize("measure", [measure for measure in MEASURES if measure != "problems"])
def test_a_line_that_nobody_watches_counts_as_crossed(measure: str) -> None:
    empty = document(firm=None, unconstrained=None, constrained=None, disparity=None)
    table = {f"{measure}.max": 1}
    (crossing,) = check(table, empty).crossings
    assert crossing.value is None
    assert "could not be evaluated" in crossing.words


def test_what_is_not_compared_or_cannot_be_met_is_noted_and_no_pass() -> None:
    made = document()
    made["constrained"][0] |= {"status": "infeasible", "price_of_fairness": None, "gap": None}
    hired(made)["groups"][1] |= {"impact_ratio": None, "status": "excluded"}
    found = check({"impact_ratio": {"min": 0.1}, "price_of_fairness": {"loss": {"max": 1e9}}}, made)
    assert not found.crossings
    assert any("not compared, because it has too few applicants" in note for note in found.notes)
    assert any("Utility lost to parity: the constraint cannot be met" in note for note in found.notes)


def test_a_group_that_is_left_out_of_the_ratio_crosses_nothing() -> None:
    made = document({"A": (100, 75), "B": (100, 80), "C": (9, 1)})
    hired(made)["groups"][2] |= {"impact_ratio": None, "status": "excluded"}
    found = check({"impact_ratio": {"min": 0.8}}, made)
    assert not found.crossings
    assert found.notes == (
        "impact_ratio.min: Impact ratio at “Hired”, Ethnicity: C against B: not compared, because it has too few "
        "applicants.",
    )


def test_positions_as_a_number_and_as_a_share() -> None:
    found = figures(load(document()))
    assert found.capacity == 9 + 7 + 64 + 9
    shown = {"Gender": {g: {"candidates": 1, "inspected": 1, "selected": 5} for g in "AB"}}
    firm = {"utility": 1, "by_group": shown, "unfilled_capacity": 1, "capacity": 11}
    made = document(firm=firm, unconstrained=None, constrained=None)
    assert not check({"unfilled_capacity": {"max": 0.1}}, made).crossings
    (crossing,) = check({"unfilled_capacity": {"max": 0.09}}, made).crossings
    assert crossing.value == pytest.approx(1 / 11)
    assert check({"unfilled_capacity": {"firm": {"max": 0.05}}}, made).crossings
    assert check({"problems": {"max": 28}}, document()).crossings
    assert not check({"problems": {"max": 29}}, document()).crossings


def subjects(measure: str, made: dict[str, Any]) -> list[str]:
    """What a threshold that everything crosses looks at."""
    return [c.subject.removeprefix("Impact ratio at ") for c in check({measure: {"max": -1}}, made).crossings]


def test_steps_and_attributes_are_watched_where_they_are_named() -> None:
    made = document()
    last = ["“Hired”, Ethnicity: Black against White", "“Hired”, Ethnicity: Hispanic against White"]
    first = [text.replace("Hired", "Interviewed") for text in last]
    crossed = ["“Hired”, Gender+Ethnicity: Female+Black against Male+White"]
    for name in ("", ".selected", ".Hired", ".Ethnicity", ".Ethnicity.Hired", ".Ethnicity.selected"):
        assert subjects(f"impact_ratio{name}", made) == last, name
    for name in (".inspected", ".Interviewed", ".Ethnicity.Interviewed", ".Ethnicity.inspected"):
        assert subjects(f"impact_ratio{name}", made) == first, name
    for name in (".Gender+Ethnicity", ".Gender+Ethnicity.Hired"):
        assert subjects(f"impact_ratio{name}", made) == crossed, name


def test_the_only_step_is_the_selection() -> None:
    made = document()
    del made["disparity"]["tables"][1:]
    assert all(text.startswith("“Interviewed”") for text in subjects("impact_ratio", made))
    (crossing,) = check({"impact_ratio": {"inspected": {"min": 0.1}}}, made).crossings
    assert crossing.value is None


def test_a_step_that_the_report_does_not_have_counts_as_crossed_and_the_known_ones_are_named() -> None:
    (crossing,) = check({"impact_ratio": {"Hirred": {"min": 0.1}}}, document()).crossings
    assert crossing.value is None
    assert "steps: Interviewed, Hired; attributes: Ethnicity, Gender+Ethnicity" in crossing.words


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"impact_ration": {"min": 0.8}}, "thresholds.impact_ration.min: there is no threshold 'impact_ration.min'"),
        ({"impact_ration": {"min": 0.8}}, "did you mean 'impact_ratio.min'"),
        ({"impact_ratio": {"minimum": 0.8}}, "did you mean 'impact_ratio.min"),
        ({"impact_ratio": 0.8}, "'impact_ratio' needs a bound"),
        ({"impact_ratio": {"min": "high"}}, "'high' is not a number"),
        ({"impact_ratio": {"min": True}}, "True is not a number"),
        ({"impact_ratio": {"min": float("nan")}}, "nan is not a number"),
        ({"impact_ratio": {"min": "1/0"}}, "'1/0' is not a number"),
        ({"impact_ratio": {"max_drop": -0.1}}, "-0.1 is below 0"),
        ({"gap": {}}, "'gap' needs a bound"),
    ],
)
def test_wrong_thresholds_are_named(table: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        parse(table)


def test_all_wrong_thresholds_are_reported_at_once() -> None:
    with pytest.raises(InputError) as caught:
        parse({"gab": {"max": 1}, "impact_ratio": {"min": "x"}})
    assert len(caught.value.problems) == 2


def test_fail_on() -> None:
    found = parse_options(["impact_ratio.min=0.8, gap.max = 1e-6", "price_of_fairness.loss.max=50000"])
    assert [str(one) for one in found] == [
        "impact_ratio.min = 0.8",
        "gap.max = 1e-06",
        "price_of_fairness.loss.max = 50000",
    ]
    assert found[0].bound == Fraction(4, 5)
    for text, message in {
        "impact_ratio.min": "is not NAME=NUMBER",
        "impact_ratio.min=": "is not NAME=NUMBER",
        "impact-ratio.min=0.8": "did you mean 'impact_ratio.min'",
        "impact_ratio.max_drop=0.1": "compares with the previous run",
        "gap.max=small": "'small' is not a number",
    }.items():
        with pytest.raises(InputError, match=re.escape(message)):
            parse_options([text])


def test_every_measure_takes_every_bound() -> None:
    now = figures(load(document()))
    for measure in MEASURES:
        for bound in BOUNDS:
            found = evaluate(parse({f"{measure}.{bound}": 0}), now, now)
            assert isinstance(found, Evaluation)
            if bound in ("max_drop", "max_rise"):
                assert not found.crossings  # nothing changed


def test_no_words_that_promise_anything() -> None:
    found = check({f"{measure}.min": 1e9 for measure in MEASURES}, document())
    words = " ".join(c.words for c in found.crossings).lower()
    assert len(found.crossings) > 10
    assert not re.search(r"\b(compliant|unbiased|bias-free|fair|illegal|discriminat\w+)\b", words)


def test_figures_hold_no_row_of_a_candidate() -> None:
    assert "candidate_id" not in str(figures(load(document())))
    fields = set(Figures.__dataclass_fields__)
    assert fields == {
        *("created", "version", "data_path", "data_sha256", "rows", "problems", "python", "platform", "capacity"),
        *("groups", "policies"),
    }
