"""Groups and segments of any name are named correctly: no sentence, table or chart is read out of a label."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

import auditkit
from auditkit.config import Config
from auditkit.constraints.binding import bind
from auditkit.disparity.pair import FlipFlop, Interval
from auditkit.disparity.results import (
    Comparator,
    DisparityTable,
    GroupComparison,
    GroupResult,
    GroupStatus,
    OmnibusTests,
    Reconciled,
    Within,
)
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search
from auditkit.report import html
from auditkit.report.load_report import load
from auditkit.report.schema import Report
from auditkit.report.words import sentences
from auditkit.report.words.phrases import Phrases
from support import report_example
from support.audit_helpers import rows, save
from support.constraints import KINDS
from support.pages import Page
from support.sampling import examples

PIECES = ["/", " - ", "+", "=", " in ", " >= 0.8", " quota ", "'", '"', "\n", "Latino", "Hispanic", "x", "12", "é"]
NAMES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join).map(str.strip).filter(bool)
STEPS = ("Interviewed", "Hired")


def instance(groups: list[str], values: list[str]) -> Instance:
    """Every group in every value of the segment, twice."""
    boxes = [
        Box(f"{i}", {"Origin": group}, 1.0, [10 + i, 4], [0.5, 0.5], attributes={"Team": value})
        for i, (group, value) in enumerate((g, v) for g in groups for v in values for _ in range(2))
    ]
    return Instance((Search("s", 2, tuple(boxes)),))


@examples(40)
@given(st.lists(NAMES, min_size=2, max_size=3, unique=True), st.lists(NAMES, min_size=1, max_size=2, unique=True))
def test_rows_and_phrases_name_the_groups_they_are_about(groups: list[str], values: list[str]) -> None:
    layout = instance(groups, values).layout
    words = Phrases({"Origin": ("race", groups)}, STEPS)
    first, second = groups[:2]
    made = [
        KINDS["parity"](groups=(first, second)),
        KINDS["parity"](groups=(first, second), tolerance=0.1, on="inspection", within="Team"),
        KINDS["impact-ratio"](reference=second),
        KINDS["impact-ratio"](within="Team"),
        KINDS["quota"](group=first, share=0.25, within="Team"),
        KINDS["budget"](group=first, limit=3, on="inspection"),
    ]
    for constraint in made:
        for row in bind([constraint], layout).rows:
            asked = row.meaning.to_json()
            said = words.row(row.label, row.meaning)
            named = [asked["group"], *([asked["against"]] if asked.get("against") else [])]
            assert set(named) <= set(groups)
            people = [f"{group} applicants" for group in named]
            where = f" in Team {asked['value']}" if asked["value"] is not None else ""
            done = "interviewed" if asked["on"] == "inspection" else "hired"
            wanted = {
                "ratio": f"{people[0]} {done} at no less than 0.8 times the rate of {people[-1]}{where}",
                "rate_gap": f"{' and '.join(people)} {done} at "
                f"{'rates within the tolerance' if asked.get('maximum') else 'equal rates'}{where}",
                "share": f"{people[0]} at least 25.0\u00a0% of those {done}{where}",
                "amount": f"at most 3 spent on those {done} for {people[0]}{where}",
            }[str(asked["kind"])]
            assert said == wanted[:1].upper() + wanted[1:]
    assert made[0].describe(words).phrase == f"equal hiring rates for {first} applicants and {second} applicants"
    assert f"times that of {second} applicants" in made[2].describe(words).phrase
    title, axis = made[4].frontier_words(words, "share")
    assert title == f"Utility kept as the share of {first} applicants rises"
    assert axis == f"least share of {first} applicants among those hired"


@examples(25)
@given(NAMES, NAMES)
def test_findings_name_the_groups_they_are_about(one: str, other: str) -> None:
    words = Phrases({"Origin": ("race", [one, other])}, STEPS)
    wide = Interval(0.3, 0.7, "katz", 0.95)
    within = Within(
        strata=2,
        odds_ratio=2.0,
        interval=wide,
        risk_ratio=None,
        p=0.01,
        p_design=0.01,
        method="cmh",
        p_adjusted=0.02,
        shortfall=3.0,
    )
    row = GroupResult(one, 100, 10, 0.1, 0.5, 0.5, wide, 0.01, 0.02, GroupStatus.DIFFERENCE_BELOW_LINE)
    sides = (100, 20, 0.2, 0.5, wide, wide, 0.01, 0.01, "z", 0.01, 0.02, -2.6, None, None, None, None, 5.0)
    flips = FlipFlop(0.5, True, True, False, True)
    found = GroupComparison(Comparator.HIGHEST, other, *sides, flips, None, within)
    table = DisparityTable(
        attribute="Origin",
        step="Hired",
        kind="cumulative",
        crossing=False,
        reference=other,
        groups=(row,),
        applicants=200,
        selected=30,
        unknown=0,
        omnibus=OmnibusTests(None, True, None, None),
    )
    said = sentences.difference(words, table, row, found, 0.8, favourable=True)
    begins = f"{one} applicants were hired less often than {other} applicants: 10.0\u00a0%"
    assert said.startswith(begins[:1].upper() + begins[1:])
    behind = sentences.behind_it(words, table, row, found, Reconciled.BOTH, inside=True, favourable=True)
    assert behind.endswith(f"of each requisition about 3.0 more {one} applicants would have been hired.")
    told = sentences.within_only(words, table, row, found, opposite=True, favourable=True)
    assert told.startswith(f"Within requisitions, {other} applicants were hired less often than {one} applicants: ")
    assert told.endswith(f"(10.0\u00a0% of {one} applicants, 20.0\u00a0% of {other} applicants).")


ODD = {"Female": 'Hispanic/Latino - A = "B" in C', "Male": "Black - Non 'Hispanic' + 2 >= 0.8"}


def renamed(value: Any) -> Any:
    """The example with odd names in the place of its groups; labels and sentences keep whatever they say."""
    if isinstance(value, dict):
        return {ODD.get(key, key): renamed(part) for key, part in value.items()}
    if isinstance(value, list):
        return [renamed(part) for part in value]
    return ODD.get(value, value) if isinstance(value, str) else value


def test_tables_of_the_page_name_the_groups_of_their_rows() -> None:
    document = renamed(report_example.document())
    document["attributes"][0]["kind"] = "race"
    page = html.render(load(document))
    words = Page(page).words.replace("\u00a0", " ")
    one, other = (f"{name} applicants" for name in ODD.values())
    assert f"{one} hired at no less than 0.8 times the rate of {other}" in words
    assert f"{one} and {other} hired at equal rates" in words
    assert str(escape(ODD["Female"].split("+")[0])) in page


@pytest.mark.parametrize("odd", [{"Female": "Hispanic/Latino", "Male": "Black - Non Hispanic"}])
def test_an_audit_of_such_groups(odd: dict[str, str], tmp_path: Path) -> None:
    table = [{**row, "Gender": odd.get(row["Gender"], row["Gender"])} for row in rows()]
    path = save(tmp_path / "people.csv", table)
    quick = Config().over(report__replicates=0, report__alternatives=False, fit__points=8, mapping={"group": "Gender"})
    report = auditkit.audit(path, constraints=["parity", "impact-ratio"], config=quick).report
    entry = report.entries[1]
    said = [html.view.phrases(report).row(dual.label, dual.meaning) for dual in entry.duals or ()]
    people = [f"applicants with Gender “{name}”" for name in odd.values()]
    kind = next(attribute.kind for attribute in report.attributes)
    if kind in ("sex", "race"):
        people = [f"{name} applicants" for name in odd.values()]
    wanted = {
        f"{a[:1].upper()}{a[1:]} hired at no less than 0.8 times the rate of {b}" for a, b in (people, people[::-1])
    }
    assert set(said) == wanted
    assert all("Non Hispanic applicants" not in text or "Black - Non Hispanic" in text for text in said)
    written = json.loads(report.text())["constrained"][1]["duals"][0]["meaning"]
    assert {written["group"], written["against"]} == set(odd.values())


PLAIN = {"Female": "Aaa", "Male": "Bbb"}
STRANGE = {"Female": 'A/b - c = "d" in e', "Male": "B + c >= 0.8 'n'"}


def audited_as(names: dict[str, str], folder: Path) -> Report:
    """The same applications, their groups under other names that sort alike."""
    table = [{**row, "Gender": names.get(row["Gender"], row["Gender"])} for row in rows()]
    folder.mkdir()
    quick = Config().over(report__replicates=0, report__alternatives=False, fit__points=8, mapping={"group": "Gender"})
    return auditkit.audit(save(folder / "people.csv", table), config=quick).report


def test_a_report_differs_in_the_names_of_its_groups_alone(tmp_path: Path) -> None:
    """Every sentence, label, phrase, table and page: the one with plain names, with the others in their place."""
    plain, strange = audited_as(PLAIN, tmp_path / "plain"), audited_as(STRANGE, tmp_path / "strange")
    swap = {PLAIN[key]: STRANGE[key] for key in PLAIN}

    def swapped(value: Any) -> Any:
        if isinstance(value, dict):
            return {swapped(key): swapped(part) for key, part in value.items()}
        if isinstance(value, list):
            return [swapped(part) for part in value]
        for one, other in swap.items() if isinstance(value, str) else ():
            value = value.replace(one, other)
        return value

    apart = {"input": None, "created": None, "provenance": None}
    wanted, found = swapped(plain.to_json()) | apart, strange.to_json() | apart
    assert len(found["findings"]) > 5
    assert found == wanted
    same = {"input": plain.input, "created": plain.created, "provenance": plain.provenance}
    words = [Page(html.render(each.model_copy(update=same))).words for each in (plain, strange)]
    assert swapped(words[0]).replace(" ", "") == words[1].replace(" ", "")
