"""Numbers in the report: never rounded across a line that matters."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit import text as words
from auditkit.compare.revealed import RevealedShift, RevealedStep
from auditkit.disparity.pair import Interval
from auditkit.disparity.results import SegmentPart, SegmentTable
from auditkit.report import decision_findings, svg
from auditkit.report.words import sentences
from auditkit.report.words.phrases import Phrases

CSS = Path(__file__).resolve().parents[1] / "templates" / "report.css"


def plain(text: str) -> str:
    return text.replace("\u00a0", " ").replace("\u2212", "-")


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0, "0 %"),
        (-0.0, "0 %"),
        (1, "100 %"),
        (0.5, "50.0 %"),
        (0.9996, "> 99.9 %"),
        (0.9994, "99.9 %"),
        (1.0004, "> 100 %"),
        (1.25, "125.0 %"),
        (1e-9, "< 0.1 %"),
        (-1e-9, "> -0.1 %"),
        (0.0005, "0.1 %"),
        (-0.25, "-25.0 %"),
        (None, "not available"),
    ],
)
def test_percent(x: float | None, text: str) -> None:
    assert plain(words.percent(x)) == text


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_no_percentage_hides_a_violation(x: float) -> None:
    assert plain(words.percent(x)) not in ("0 %", "100 %", "0.0 %", "100.0 %")


@given(st.floats(0, 3), st.sampled_from([0.8, 0.05, 2 / 3]))
def test_a_ratio_stays_on_its_side_of_the_line(x: float, line: float) -> None:
    written = plain(words.ratio(x, line))
    if written[0] in "<>":
        assert x != line
    else:
        assert (float(written) < line) == (x < line) and (float(written) > line) == (x > line)


@pytest.mark.parametrize(
    ("x", "text"),
    [(0.8, "0.800"), (0.79996, "0.79996"), (0.8 - 1e-12, "< 0.800"), (1.0, "1.000"), (0.9999, "0.9999"), (0, "0.000")],
)
def test_ratio(x: float, text: str) -> None:
    assert plain(words.ratio(x, 0.8)) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.05, "0.050"),
        (0.0500001, "0.0500001"),
        (0.0499999, "0.0499999"),
        (3e-9, "< 0.0001"),
        (0.00034, "0.0003"),
        (1.0, "1.000"),
    ],
)
def test_p_value(p: float, text: str) -> None:
    assert plain(words.p_value(p)) == text


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (3498.21, "3,498"),
        (113.61, "113.6"),
        (55.8, "55.8"),
        (1.84, "1.84"),
        (-0.92, "-0.920"),
        (0, "0"),
        (2e-7, "2.0 × 10⁻⁷"),
        (1234567.8, "1,234,568"),
        (None, "not available"),
    ],
)
def test_amount(x: float | None, text: str) -> None:
    assert plain(words.amount(x)) == text


def test_counts() -> None:
    assert [plain(words.count(x)) for x in (1495, 3.0, 71.26, 0, 0.01, None)] == [
        *("1,495", "3", "71.3", "0", "< 0.1", "not available")
    ]
    assert words.plural(1, "row") == "1 row" and words.plural(1507, "row") == "1,507 rows"


def test_intervals() -> None:
    assert words.interval([0.9571, 0.9763], words.percent) == "95.7 to 97.6\u00a0%"
    assert words.interval((0.5, None)) == "0.500 or more"
    assert words.interval(None) == words.interval([None, None]) == "not available"


def test_days() -> None:
    assert plain(words.moment("2026-11-16T06:00:00Z")) == "16 November 2026, 06:00 UTC"
    assert plain(words.moment("2026-11-16T06:00:00+01:00")) == "16 November 2026, 06:00 UTC+0100"
    assert plain(words.day("2026-02-01")) == "1 February 2026"
    assert words.day("some day") == "some day"


def test_texts() -> None:
    assert words.listing(["a"]) == "a" and words.listing("abc") == "a, b and c" and words.listing([]) == ""
    assert words.listing("abcde", 2) == "a, b and 3 more"
    assert words.fraction(0.8) == "4/5" and words.fraction(0.804) == "0.804"
    assert words.file_name("/home/someone/x.csv") == words.file_name("C:\\data\\x.csv") == "x.csv"
    assert words.flat({"a": 1, "b": {"c": [1, True, None], "d": []}, "e": [{"f": ""}]}) == [
        ("a", "1"),
        ("b.c", "1, yes, not set"),
        ("b.d", "none"),
        ("e[1].f", "not set"),
    ]


def test_what_is_not_set_is_one_row() -> None:
    given = {"a": None, "b": 1, "c": {"d": "", "e": "not set yet"}}
    assert words.settings(given) == [("b", "1"), ("c.e", "not set yet"), ("not set", "a, c.d")]
    assert words.settings({"b": 1}) == [("b", "1")]


# Colours -------------------------------------------------------------------------------------------------------------

# Machado, Oliveira and Fernandes (2009), severity 1
VISIONS = {
    "usual": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]])


def linear(colour: str) -> np.ndarray:
    c = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    x = XYZ @ np.clip(light, 0, 1) / [0.95047, 1, 1.08883]
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one: str, other: str) -> float:
    dark, light = sorted(float(XYZ[1] @ linear(colour)) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def dark() -> dict[str, str]:
    """The variables of the dark style sheet."""
    block = CSS.read_text(encoding="utf-8").split("prefers-color-scheme: dark", 1)[1].split("}", 1)[0]
    return dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", block))


def test_every_chart_colour_has_a_dark_one() -> None:
    assert set(svg.VARIABLES.values()) == {name for name in dark() if name.startswith("--chart")}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_groups_can_be_told_apart_by_all(scheme: str) -> None:
    colours = list(svg.GROUPS) if scheme == "light" else [dark()[f"--chart-{i}"] for i in range(1, 7)]
    paper = "#ffffff" if scheme == "light" else dark()["--paper"]
    assert min(contrast(colour, paper) for colour in colours) >= 3
    assert len(set(svg.MARKERS)) >= len(colours)
    for vision, matrix in VISIONS.items():
        seen = [lab(np.array(matrix) @ linear(colour)) for colour in colours]
        nearest = min(float(np.linalg.norm(a - b)) for i, a in enumerate(seen) for b in seen[:i])
        assert nearest > 12, vision


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read(scheme: str) -> None:
    css = CSS.read_text(encoding="utf-8")
    names = dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", css.split("}", 1)[0])) if scheme == "light" else dark()
    for ink in ("--ink", "--muted", "--accent", "--mark"):
        for paper in ("--paper", "--soft"):
            assert contrast(names[ink], names[paper]) >= 4.5, (ink, paper)


# One module writes numbers, so none can round a violation away --------------------------------------------------------


NOT_ZERO = st.floats(-1e9, 1e9).filter(bool)


@given(NOT_ZERO, st.sampled_from([words.number, words.brief, words.amount, words.expected, words.ratio, words.signed]))
def test_only_zero_is_written_as_zero(x: float, form: Callable[[float], str]) -> None:
    written = plain(form(x))
    assert written.startswith(("<", ">")) or float(written.replace(",", "").split()[0]) != 0


@given(st.floats(0, 1, exclude_min=True, exclude_max=True), st.integers(0, 4))
def test_no_share_of_a_table_or_sentence_is_rounded_to_nothing_or_all(x: float, decimals: int) -> None:
    for written in (words.cell_percent(x, decimals), words.percent(x, decimals)):
        shown = plain(written).removesuffix(" %")
        assert shown.startswith(("<", ">")) or 0 < float(shown) < 100
    assert plain(words.number(x)) not in ("0", "1")


@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6))
def test_a_number_of_a_sentence_keeps_its_side_of_a_line(x: float, line: float) -> None:
    written = plain(words.brief(x, line)).replace(",", "")
    if written[0] in "<>":
        assert (written[0] == "<") == (x < line)
    else:
        assert (float(written) < line) == (x < line) and (float(written) > line) == (x > line)
        assert float(written) == pytest.approx(x, rel=5e-3)


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (None, "-"),
        (float("nan"), "-"),
        (3, "3"),
        (-0.0, "0"),
        (-2.5, "-2.5"),
        (999999.6, "1,000,000"),
        (1234567.8, "1,234,568"),
        (0.123456789, "0.123457"),
        (0.99999999, "0.99999999"),
        (1 - 1e-15, "< 1"),
        (2e-7, "2e-07"),
        ("<=", "<="),
    ],
)
def test_number(x: object, text: str) -> None:
    assert plain(words.number(x)) == text


@pytest.mark.parametrize(("x", "text"), [(999.96, "1,000"), (1234.5, "1,234"), (-0.0123456, "-0.0123"), (0, "0")])
def test_short(x: float, text: str) -> None:
    assert plain(words.brief(x)) == text


def test_no_other_module_rounds_a_number() -> None:
    """A format such as .2f or % belongs into text.py; svg.py shortens coordinates, the study prints its own tables."""
    root = Path(__file__).resolve().parents[1]
    found = []
    for path in [*(root / "auditkit").rglob("*.py"), *(root / "plugins").rglob("*.py")]:
        if path.name in ("text.py", "svg.py") or "study" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
                spec = "".join(str(part.value) for part in node.format_spec.values if isinstance(part, ast.Constant))
                if re.search(r"\.\d*[efgEFG]$|^[,.\d]*%$", spec):
                    found.append(f"{path.relative_to(root)}:{node.lineno}: {spec}")
    assert not found, found


def test_a_group_that_does_best_later_on_is_said_to_do_so() -> None:
    phrases = Phrases({"Gender": ("sex", ["Female", "Male"])}, ("Interviewed", "Hired"))
    later: list[tuple[str, float | None, tuple[float, float] | None]] = [("Hired", 1.0, None)]
    about = {"attribute": "Gender", "group": "Female", "steps": ["Interviewed"], "line": 0.8, "thin": False}
    said = sentences.where_it_arises(phrases, later=later, **about)  # type: ignore[arg-type]
    assert "(hired: they have the highest rate)." in plain(said) and "not available" not in said
    said = sentences.where_it_arises(phrases, later=[("Hired", 0.97, (0.9, 1.05))], **about)  # type: ignore[arg-type]
    assert plain(said).endswith("(hired: ratio 0.97, 0.90 to 1.05).")
    about["thin"] = True
    said = sentences.where_it_arises(phrases, later=[("Hired", 0.97, (0.4, 2.0))], **about)  # type: ignore[arg-type]
    assert said.endswith("but there is too little evidence to rule one out.")


def test_people_are_named_as_in_speech() -> None:
    kinds = {
        "Veteran": ("veteran", ["Yes", "No"]),
        "Hispanic/Latino": ("race", ["Yes", "No"]),
        "Age": ("age", ["40-49"]),
    }
    words = Phrases({"Gender": ("sex", ["F", "M"]), "Race": ("race", ["White", "Two or more races"]), **kinds})
    assert words.people("Veteran", "No") == "applicants with Veteran “No”"
    assert words.people("Hispanic/Latino", "No") == "applicants with Hispanic/Latino “No”"  # not: "No applicants"
    assert words.people("Gender+Veteran", "F+Yes") == "women with Veteran “Yes”"
    assert words.people("Gender+Age", "M+40-49") == "men aged 40-49"
    assert words.people("Race+Age", "White+40-49") == "White applicants aged 40-49"
    assert words.people("Race", "Two or more races") == "applicants of two or more races"
    assert words.people("Race", "White") == "White applicants"
    assert words.people("Race+Gender", "Two or more races+M") == "men of two or more races"
    assert words.people("Gender+Race", "F+White") == "White women"


PEOPLE = Phrases({"Gender": ("sex", ["Female", "Male"])}, ("Interviewed", "Hired"))


def sentences_in(text: str) -> int:
    return len(re.findall(r"[.!?](?= [A-Z0-9]|$)", text))


def test_a_price_says_how_sure_it_is() -> None:
    """One end where it may be as good as nothing, two otherwise; the constraint, and all of them together."""
    one = ("equal hiring rates for women and men", 0.0003, 2.1, (0.0, 0.002))
    said = plain(sentences.prices(PEOPLE, one, (0.0009, 7.0, (0.0001, 0.0089)), 4, 0.95, 0.0002))
    assert said == (
        "Without looking at the group, equal hiring rates for women and men would cost at most 0.20 % of the value of "
        "those hired, net of costs (95 % confidence; measured 0.03 %); all 4 constraints "
        "together, 0.01 to 0.89 % (measured 0.09 %). If the group could be used it would be "
        "0.02 %: a bound, not a proposal."
    )
    alone = plain(sentences.prices(PEOPLE, (*one[:3], None), None, 1, None, None))
    assert alone.endswith(
        "Equal hiring rates for women and men would cost 0.03 % of the value of those hired, net of costs."
    )
    assert "lottery" not in said and "measured, because" not in said


def test_a_price_that_could_be_anything_up_to_a_lottery_says_so() -> None:
    one = ("equal hiring rates for women and men", 0.0616, 1100.0, (0.0, 0.26))
    said = plain(sentences.prices(PEOPLE, one, None, 1, 0.95, 0.001, lottery=True))
    assert said == (
        "Without looking at the group, equal hiring rates for women and men would cost at most 26 % of the value of "
        "those hired, net of costs (95 % confidence; measured 6 %). The upper end is what a lottery among the people "
        "of each requisition would cost, so the data say little about this price. If the group could be used it would "
        "be 0.10 %: a bound, not a proposal."
    )


def test_a_price_of_groups_that_are_not_told_apart_is_not_said() -> None:
    one = ("equal hiring rates for women and men", 0.0, 0.0, (0.0, 0.26))
    said = plain(sentences.prices(PEOPLE, one, None, 1, 0.95, 0.001, lottery=True, apart=False))
    assert said.startswith(
        "What equal hiring rates for women and men would cost without looking at the group could not be measured, "
        "because nothing known about candidates tells the groups apart better than chance: at most 26 % of the value "
        "of those hired, net of costs (95 % confidence). The upper end is what a lottery"
    )
    assert "measured 0" not in said
    aware = plain(sentences.prices(PEOPLE, one, None, 1, 0.95, None, apart=False))
    assert "could not be measured" not in aware


def test_a_price_without_an_interval_is_said_only_of_groups_that_are_told_apart() -> None:
    one = ("equal hiring rates for women and men", 0.0, 0.0, None)
    said = plain(sentences.prices(PEOPLE, one, None, 1, None, 0.001, apart=False))
    assert said == (
        "What equal hiring rates for women and men would cost without looking at the group could not be measured, "
        "because nothing known about candidates tells the groups apart better than chance. If the group could be used "
        "it would be 0.10 %: a bound, not a proposal."
    )
    told_apart = plain(sentences.prices(PEOPLE, one, None, 1, None, 0.001))
    assert "would cost 0" in told_apart and "could not be measured" not in told_apart


@pytest.mark.parametrize(
    ("clear", "explained", "end"),
    [
        (True, None, "anything that was judged but is not in the data."),
        (
            False,
            True,
            "So CV Score accounts for at least part of the difference in rates; whether it means the same for each "
            "group is a separate question.",
        ),
        (False, False, "A difference as large as the one in rates could have been missed."),
        (False, None, "than those of men (0.4 lower to 0.8 higher), and the interval includes 0."),
    ],
)
def test_what_decisions_act_like_says_what_was_found(clear: bool, explained: bool | None, end: str) -> None:
    shift = ("Female", -1.2, (-2.0, -0.4)) if clear else ("Female", 0.2, (-0.4, 0.8))
    said = sentences.acts_like(
        PEOPLE,
        attribute="Gender",
        step="Interviewed",
        priors=("CV Score",),
        shifts=[shift],
        reference="Male",
        clear=clear,
        others=False,
        explained=explained,
    )
    assert said.endswith(end) and sentences_in(said) <= 2
    assert ("no difference between women and men is found" in said) is not clear
    assert ("act as if expected scores of women were 1.2 points lower than those of men (0.4 to 2.0)" in said) is clear


def test_a_sentence_names_few_groups_and_counts_the_others() -> None:
    names = [f"G{i}" for i in range(15)]
    many = Phrases({"Race": ("race", names)}, ("Hired",))
    table = sentences.Thin("Race", "Hired", [(name, 0.02) for name in names])
    thin = sentences.too_little(many, [table])
    assert thin.endswith("and 12 more groups (80 % power only for ratios close to 0).")
    some = sentences.too_little(many, [sentences.Thin("Race", step, [("G1", 0.4), ("G2", 0.5)]) for step in "abcde"])
    assert "(80 % power only for ratios of 0.40 to 0.50 or lower)" in some and "; and in 2 more tables." in some


def test_a_part_is_called_the_largest_only_if_it_is() -> None:
    interval = Interval(0.16, 0.75, "katz", 0.95)
    numbers = {"rate": None, "reference_rate": None, "p": None, "found": True}
    sales = SegmentPart(
        value="Sales",
        applicants=55,
        selected=6,
        reference_applicants=157,
        reference_selected=50,
        impact_ratio=0.34,
        interval=interval,
        p_adjusted=0.012,
        shortfall=8.5,
        **numbers,
    )
    larger = dataclasses.replace(sales, value="Research", shortfall=9.0, found=False)
    about = {"attribute": "Gender", "group": "Female", "reference": "Male", "step": "Interviewed"}

    def said(*parts: SegmentPart) -> str:
        numbers = {"shortfall": 24.4, "within": 20.0, "composition": 4.4, "others": 0.0, "values": 5, "agreement": None}
        cut = SegmentTable(kind="cumulative", segment="Job Family", parts=parts, **numbers, **about)
        return plain(sentences.contributes_most(PEOPLE, segments=[(cut, sales)], **about))

    assert said(sales) == (
        "By Job Family, the shortfall of about 24 women at “Interviewed” is largest in Sales (about 9): 6 of 55 women "
        "were interviewed against 50 of 157 men, a ratio of 0.34 (p = 0.012, corrected for 5 values)."
    )
    assert "arises in part in Sales" in said(sales, larger) and "largest" not in said(sales, larger)


def test_a_difference_goes_along_with_the_standing_only_if_the_same_one_would_have_shown() -> None:
    """The interval of the shift, as a log odds ratio, against that of the rates; either group may be the reference."""

    def step(low: float, high: float, slope: float = 0.8) -> RevealedStep:
        shift = RevealedShift("Gender", "Female", "Male", (low + high) / 2, 0.3, (low, high), None, None)
        return RevealedStep("Interviewed", "priors", 60, slope, (shift,))

    def explained(step: RevealedStep, ratio: float | None, *pair: str) -> bool | None:
        odds = {} if ratio is None else {("Gender", "Interviewed", *(pair or ("Female", "Male"))): ratio}
        return decision_findings._explained(step, step.shifts, odds)  # type: ignore[arg-type]

    assert explained(step(-0.4, 0.8), None) is None
    assert explained(step(-0.4, 0.8), 0.66) is True  # -0.32 to 0.64 leaves log 0.66 = -0.42 out
    assert explained(step(-0.6, 0.8), 0.66) is False
    assert explained(step(-0.8, 0.4), 0.66, "Male", "Female") is True
    assert explained(step(-0.8, 0.6), 0.66, "Male", "Female") is False
