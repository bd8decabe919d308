"""The report as HTML: one golden page, every null, hostile texts, themes.

The golden page is `golden/report-example.html`: tags and texts, without styles, script and drawings. After
an intended change, look at the page and then:

    UPDATE_GOLDEN=1 .venv/bin/pytest tests/test_report_render.py -k golden
"""

from __future__ import annotations

import hashlib
import os
import re
import traceback
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from auditkit import text as words_of
from auditkit.config import PARTS
from auditkit.disparity.results import GroupStatus
from auditkit.errors import InputError
from auditkit.report import charts, histograms, html, view
from auditkit.report.load_report import load
from auditkit.report.schema import Report
from auditkit.report.svg import Chart
from support import ROOT, report_example
from support.pages import GOLDEN, NO_CHARTS, Page, hostile, many_groups, structure


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the charts, where only the words are in question."""
    monkeypatch.setattr(charts, "draw", lambda document, parts: NO_CHARTS)
    once = html.environment(None, html.shipped_sections())
    monkeypatch.setattr(html, "environment", lambda template_dir=None, sections=None: once)


# The page of the example ---------------------------------------------------------------------------------------------


def test_golden(page: str) -> None:
    found = structure(page)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8"), f"if it is meant: see the head of {Path(__file__).name}"


def test_a_second_rendering_is_the_same(page: str) -> None:
    assert html.render(report_example.report()) == page


def test_it_stands_alone(page: str) -> None:
    found = Page(page)
    assert len(page.encode()) < 2_000_000
    assert not {"link", "img", "iframe", "object", "embed", "form"} & {tag for tag, _ in found.tags}
    assert [attributes for tag, attributes in found.tags if tag == "script"] == [{}]
    for tag, attributes in found.tags:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        for name in ("src", "href", "xlink:href", "action", "data"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
    assert not re.search(r"url\((?!#)|@import|https?://", page)
    policy = next(a["content"] for _, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.S)
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    sources = f"style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert policy == f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"
    assert not re.search(r"fetch\(|XMLHttpRequest|WebSocket|eval\(|innerHTML|localStorage|cookie", script)


def test_structure(page: str) -> None:
    found = Page(page)
    levels = [int(tag[1]) for tag, _ in found.headings]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), found.headings
    ids = [a["id"] for _, a in found.tags if "id" in a]
    assert [id for id, n in Counter(ids).items() if n > 1] == []
    links = [a["href"] for tag, a in found.tags if tag == "a"]
    assert {str(link)[1:] for link in links} <= set(ids), "a link to nowhere"
    referred = [id for _, a in found.tags for id in (a.get("aria-labelledby") or "").split()]
    assert set(referred) <= set(ids)
    assert next(a for tag, a in found.tags if tag == "html")["lang"] == "en"
    assert links[0] == "#content"
    contents = page[page.index('<nav class="contents"') : page.index("</nav>")]
    listed = re.findall(r'<li><a href="#(.*?)">(.*?)</a></li>', contents)
    assert [title for _, title in listed] == [words for tag, words in found.headings if tag == "h2"]


def test_every_table_has_a_caption_and_scopes(page: str) -> None:
    for table in re.findall(r"<table.*?</table>", page, flags=re.S):
        assert re.match(r"<table[^>]*>\s*<caption>", table)
        assert not re.search(r"<th(?! scope=)[ >]", table)
        rows = re.findall(r"<tr.*?</tr>", table, flags=re.S)
        widths = {sum(int(n or 1) for n in re.findall(r'<t[hd](?:[^>]*?colspan="(\d+)")?[^>]*>', row)) for row in rows}
        assert len(widths) == 1, f"cells are missing in\n{table}"


def test_the_order_of_the_sections(page: str) -> None:
    order = (
        "findings disparity validity policies costs notices people crossings duals decisions expost fit local-law-144"
    )
    assert f"{order} method certificate provenance glossary" == " ".join(re.findall(r'<section id="(.*?)"', page))
    before = page.index('id="annex"')
    assert page.index('<section id="costs"') < before < page.index('<section id="notices"')
    assert "describes a benchmark, not a procedure" in page[before : page.index('<section id="notices"')]


def test_parts(drawn: None) -> None:
    sections = {
        parts: re.findall(r'<section id="(.*?)"', html.render(report_example.report(), parts=parts)) for parts in PARTS
    }
    assert sections["summary"] == ["findings"]
    assert sections["body"] == ["findings", "disparity", "validity", "policies", "costs"]
    assert sections["all"][:5] == sections["body"] and len(sections["all"]) == 17
    for parts in PARTS:
        found = Page(html.render(report_example.report(), parts=parts))
        ids = {a["id"] for _, a in found.tags if "id" in a}
        assert {str(a["href"])[1:] for tag, a in found.tags if tag == "a"} <= ids, f"a link to nowhere in {parts}"


def test_the_words_of_the_auditor_stand_on_the_first_page(drawn: None) -> None:
    document = report_example.document()
    document["config"]["statement"] |= {"prepared_for": "The <Board>", "comments": "We saw this.\n\nAnd & that."}
    page = html.render(report_example.report(document), parts="summary")
    assert "Prepared for The &lt;Board&gt; · 16" in page
    assert "<p>We saw this.</p>\n<p>And &amp; that.</p>" in page
    assert "Auditor’s comments" not in html.render(report_example.report(), parts="summary")


def test_no_sentence_names_a_flag_of_a_command(page: str) -> None:
    assert re.findall(r"(?<![\w-])--?[a-z][\w-]*", Page(page).words) == []


def test_people_are_interviewed_and_hired(page: str) -> None:
    words = re.sub(r"<style>.*?</style>|<[^>]*>", "", page[: page.index('<section id="method"')], flags=re.S)
    assert re.findall(r"\b(?:inspected|inspections)\b", words, re.I) == []
    assert "Women hired at no less than 0.8 times men’s rate" in words
    assert "Equal hiring rates for women and men" in words
    assert "selection parity" not in words and "impact ratio Female/Male" not in words


def test_nothing_is_missed_for_certain(page: str) -> None:
    """An equality never holds exactly in one round: its spread is told, not a chance of 100 %."""
    expost = page[page.index('<section id="expost"') : page.index('id="unfilled"')]
    assert "there the spread is what matters" in expost and "100\u00a0%" not in expost


def test_it_says_what_it_is_and_gives_no_verdict(page: str) -> None:
    words = Page(page).words
    assert "benchmark to measure against, not advice to treat people by group" in words
    assert "not legal advice" in words
    assert "price of fairness" in words
    verdicts = r"\b(?:un)?fair(?:ly|er)?\b|\b(?:un)?bias(?:ed)?\b|\bcomplian\w*|discriminat\w*"
    assert re.findall(verdicts, words, re.I) == []


def test_numbers_stand_in_the_page(page: str) -> None:
    words = Page(page).words.replace("\u00a0", " ")
    for text in ("1,527", "0.76", "0.63 to 0.92", "0.70", "6 of 55", "16 November 2026", "27.1 %"):
        assert text in words, text


def test_charts_have_words_and_share_no_ids(page: str) -> None:
    drawings = re.findall(r"<svg.*?</svg>", page, flags=re.S)
    assert len(drawings) == 21
    for svg in drawings:
        assert re.search(r"^<svg [^>]*role=\"img\"[^>]*><title id=.+?>.+?</title><desc id=.+?>.+?</desc>", svg)
        assert "<text" in svg and "<metadata" not in svg and "<style" not in svg and "<image" not in svg
        assert not re.findall(r"(?<![\w,-])#[0-9a-f]{6}", svg), "a colour that the dark cannot change"


# Nulls ---------------------------------------------------------------------------------------------------------------


def paths(value: Any, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every key of the document; of a list, or of parts by the name of a group, the first stands for all."""
    if isinstance(value, dict):
        named = list(value.items())[: 1 if any(not key.islower() for key in value) else None]
        for key, part in named:
            if key == "data" and above[:1] == ("sections",):
                continue  # the business of the plugin
            yield (*above, key)
            yield from paths(part, (*above, key))
    elif isinstance(value, list) and value:
        yield from paths(value[0], (*above, 0))


def nulls(*keys: str) -> Iterator[Report]:
    """The example with each part that may be null set to null, or each within some keys."""
    document = report_example.document()
    for path in list(paths(document)):
        if not keys or path[0] in keys:
            place: Any = document
            for key in path[:-1]:
                place = place[key]
            kept, place[path[-1]] = place[path[-1]], None
            with suppress(ValidationError):
                yield Report.model_validate(document, extra="ignore")
            place[path[-1]] = kept


def test_every_part_that_may_be_null_may_be(drawn: None) -> None:
    wrong, rendered = [], 0
    for changed in nulls():
        rendered += 1
        try:
            text = html.render(changed)
            assert (said := re.search(r"\b(None|nan|inf)\b", text)) is None, said
        except Exception:
            wrong.append(traceback.format_exc(limit=-1))
    assert rendered > 60 and not wrong, "\n".join(wrong)


def test_every_part_may_be_null_in_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the charts that read the part; what is drawn is not written out, which takes the most time."""
    for module in (charts, histograms):
        monkeypatch.setattr(module, "chart", lambda fig, id, title, description: Chart(id, title, description, ""))

    def ratios(report: Report) -> None:
        for one in view.attributes(report)[:1]:
            charts.impact_ratio(one, 1, None, view.phrases(report))

    def side_by_side(report: Report) -> None:
        charts.side_by_side(report, "Gender", "selected", 1)

    def shortfalls(report: Report) -> None:
        for part in (report.segments or ())[:1]:
            charts.shortfall(part, 1, 1, view.phrases(report))

    def fits(report: Report) -> None:
        if report.fit is not None:
            charts.pit(report.fit), charts.coverage(report.fit)

    readers: dict[str, list[Callable[[Report], object]]] = {
        "firm": [side_by_side, charts.firm_gain],
        "unconstrained": [side_by_side],
        "disparity": [ratios],
        "segments": [shortfalls],
        "fit": [fits],
        "constrained": [side_by_side, charts.given_up, charts.unfilled],
    }
    drawn = 0
    for key, some in readers.items():
        for changed in nulls(key):
            drawn += 1
            for reader in some:
                reader(changed)
    assert drawn > 40


MAY_BE_NULL = ["firm", "unconstrained", "constrained", "disparity", "segments", "fit", "revealed", "scores"]


@pytest.mark.parametrize("key", MAY_BE_NULL)
def test_a_part_that_is_missing_is_spoken_of(key: str, drawn: None) -> None:
    document = report_example.document() | {key: None}
    document["findings"] = [{"kind": "notice", "code": f"no-{key}", "text": f"Reason for {key}."}]
    words = Page(html.render(load(document))).words
    assert f"Reason for {key}." in words
    if key not in ("segments", "revealed", "scores"):
        assert "not available" in words.lower() or "Not in this report" in words


def test_nothing_at_all() -> None:
    words = Page(html.render(load(report_example.empty()))).words
    assert words.count("Not available.") <= 4  # the parts that need no model
    left = words[words.index("Not in this report") :].partition(".")[0]
    assert all(
        title in left for title in ("The firm and the best policies", "What each constraint costs", "Fit quality")
    )
    assert "No groups were compared" in words


def test_an_infeasible_constraint_is_named() -> None:
    document = report_example.document()
    nothing = ("utility", "long_term_utility", "by_group", "unfilled_capacity", "price_of_fairness", "ex_post_slack")
    entry = document["constrained"][-1]
    entry |= dict.fromkeys((*nothing, "unfilled", "bound", "gap", "duals", "order_kept"))
    entry |= {"status": "infeasible", "conflict": ["floor:minimum=0.5", "budget:limit=3"]}
    words = Page(html.render(load(document))).words
    assert "cannot be met: floor:minimum=0.5 and budget:limit=3 exclude each other" in words
    assert "no policy meets floor:minimum=0.5 and budget:limit=3" in words


def test_an_optimum_that_is_not_proved_has_its_bound_and_no_price() -> None:
    document = report_example.document()
    said = ("not proved optimal", "not known: the optimum lies between this and")
    assert not any(text in Page(html.render(load(document))).words for text in said)
    entry = document["constrained"][-1]
    entry |= {"status": "unproved", "price_of_fairness": None, "bound": entry["utility"] + 100}
    words = Page(html.render(load(document))).words
    assert [words.count(text) for text in said] == [1, 1]


# Hostile and large ---------------------------------------------------------------------------------------------------


def test_hostile_texts_are_only_texts() -> None:
    page = html.render(load(hostile(report_example.document() | {"alternatives": report_example.ALTERNATIVES})))
    found = Page(page)
    assert not {"b", "img"} & {tag for tag, _ in found.tags} and [tag for tag, _ in found.tags].count("script") == 1
    assert all(not name.startswith("on") for _, attributes in found.tags for name in attributes)
    assert not re.search("[\x00\x1b\u202e]", page)


def test_forty_groups() -> None:
    document = many_groups()
    page = html.render(load(document))
    assert len(page.encode()) < 2_000_000
    assert Page(page).words.count("Gruppe 39 ") >= 10
    assert "The largest groups are drawn; the tables have them all." in page
    assert "At most 12 groups are drawn" in page


# The first page ------------------------------------------------------------------------------------------------------


def matrix(page: str) -> list[list[str]]:
    """The cells of the first table, as text."""
    table = re.findall(r"<table.*?</table>", page, flags=re.S)[0]
    rows = re.findall(r"<tr.*?</tr>", table, flags=re.S)
    return [[Page(cell).words for cell in re.findall(r"<t[hd].*?</t[hd]>", row, flags=re.S)] for row in rows]


def test_the_matrix_has_the_numbers_of_the_document(page: str) -> None:
    cells = {row[0]: row[1:] for row in matrix(page)}
    document = report_example.document()
    assert list(cells)[:2] == ["Group", "Gender"], "the attribute with a difference first"
    by = {(t["attribute"], t["step"], t["kind"]): t for t in document["disparity"]["tables"]}
    for i, (step, kind) in enumerate(
        [("Interviewed", "cumulative"), ("Hired", "cumulative"), ("Hired", "conditional")]
    ):
        for attribute in ("Gender", "Ethnicity"):
            for row in by[attribute, step, kind]["groups"]:
                if row["status"] == "excluded":
                    continue
                shown = next(cell for name, cell in cells.items() if name.startswith(f"{row['group']} ("))
                rate = words_of.percent(row["rate"]).replace("\u00a0", " ")
                assert rate in shown[i].replace("\u00a0", " ")
                if row["status"] == "reference":
                    assert "reference" in shown[i]
                else:
                    span = (row["interval"]["lower"], row["interval"]["upper"])
                    digits = words_of.decimals_of(span)
                    assert words_of.ratio(row["impact_ratio"], 0.8, digits) in shown[i]
                    ends = partial(words_of.ratio, line=0.8, decimals=digits)
                    assert words_of.interval(span, ends) in shown[i]
                    assert view.MARKS[GroupStatus(row["status"])] in shown[i]


def test_the_rows_of_the_file_add_up() -> None:
    document = report_example.document()
    document["scope"] |= {"rows": 1532, "left_out": [{"reason": "repeated-row", "rows": 5}]}
    words = Page(html.render(load(document))).words.replace("\u00a0", " ")
    assert "1,532 rows in the file; left out: 5 (repeated row); 1,527 applications remain." in words
    assert "18 without a stated Gender, 27 without a stated Ethnicity." in words
    document["scope"] |= {"rows": 33, "stand_for": 1600, "applications": 1527}
    document["scope"]["left_out"] = [{"reason": "total-row", "rows": 1}, {"reason": "withdrawn", "rows": 73}]
    document["problems"]["counts"]["left"] = {"total-row": 1}
    words = Page(html.render(load(document))).words.replace("\u00a0", " ")
    assert "33 rows in the file; left out: 1 (total row); the others stand for 1,600 applications;" in words
    assert "left out: 73 (withdrawn); 1,527 applications remain." in words


def told(kinds: str) -> dict[str, Any]:
    """A document with findings of these kinds."""
    names = {"d": "disparity", "s": "segment", "p": "price", "f": "firm", "m": "model", "n": "notice"}
    found = [{"kind": names[k], "code": k, "text": f"{names[k]} {i}."} for i, k in enumerate(kinds)]
    return report_example.document() | {"findings": found}


@pytest.mark.parametrize(
    ("kinds", "shown"),
    [
        ("ddspf", "ddspf"),
        ("ddddddddddspfn", "ddddspf"),
        ("dddddddddd", "ddddddd"),
        ("dssssspppfff", "dsssspf"),
        ("n", ""),
    ],
)
def test_at_most_seven_findings_lead_and_none_of_a_kind_crowds_out_the_others(kinds: str, shown: str) -> None:
    document = told(kinds)
    assert "".join(f.code for f in view.leading(load(document))) == shown
    texts = sorted(f.text for f in (*view.leading(load(document)), *view.further(load(document))))
    assert texts == sorted(f["text"] for f in document["findings"] if f["kind"] != "notice")


def test_every_attribute_comes_to_the_first_page_before_a_second_finding_on_one() -> None:
    document = told("ddddddspfm")
    about = ["Gender", "Gender", "Gender+Race", "Race", "Race", "Age"]
    for finding, attribute in zip(document["findings"], about):
        finding["attribute"] = attribute
    assert [f.attribute for f in view.leading(load(document))[:3]] == ["Gender", "Race", "Age"]


def test_seven_findings_and_the_rest_behind_them(drawn: None) -> None:
    page = html.render(load(told("ddddddddddspfnn")))
    section = page[page.index('<section id="findings"') : page.index("</section>")]
    assert section.count("<li>") == 7 and "6 more findings" in section
    notices = page[page.index('<section id="notices"') : page.index('<section id="people"')]
    assert notices.count("<li>") == 6 + 2
    assert "No difference between groups was found" not in page


def test_marks_of_ratios_below_the_line_are_explained_only_if_there_are_any(drawn: None) -> None:
    document = told("spf")
    rows = [row for table in document["disparity"]["tables"] for row in table["groups"]]
    for row in rows:
        row["status"] = "reference" if row["status"] == "reference" else "no_difference_found"
    page = html.render(load(document))
    assert "No difference between groups was found with sufficient evidence." in page
    rows[-1]["status"] = "below_line_evidence_not_sufficient"  # of a crossing, of which only a notice is told
    page = html.render(load(document))
    assert "No difference between groups was found with sufficient evidence; ratios below the conventional line" in page


def test_findings_have_at_most_two_sentences() -> None:
    for finding in report_example.document()["findings"]:
        if finding["kind"] != "notice":
            assert len(re.findall(r"[.!?](?= [A-Z0-9]|$)", finding["text"])) <= 2, finding["text"]


def test_every_status_has_a_mark_and_a_name() -> None:
    names: Any = html.environment().globals["status_names"]
    statuses = {status.value for status in GroupStatus}
    assert set(names) == statuses == {status.value for status in view.MARKS}


def test_many_steps_make_two_tables() -> None:
    captions = re.findall(r"<caption><span>(.*?)</span>", html.render(load(many_groups())))
    assert captions[:2] == [
        "Impact ratios at each step, of all applicants",
        "Impact ratios at each step, of those who reached the step before",
    ]


# Themes --------------------------------------------------------------------------------------------------------------


def test_a_theme_extends_what_is_shipped(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(
        '{% extends "shipped/report.html" %}{% block masthead %}Example & Sons, {{ document.version }}{% endblock %}'
    )
    (tmp_path / "section_glossary.html").write_text("<section id='glossary'><h2>Glossary</h2></section>")
    page = html.render(report_example.report(), template_dir=tmp_path)
    assert "Example & Sons, 0.1.0" in page
    assert "Disparity audit of" in page
    assert "Attribute, crossing" not in page


@pytest.mark.parametrize(
    ("name", "text", "where", "what"),
    [
        ("report.html", "{% if %}", "report.html, line 1", "Expected an expression"),
        ("summary.html", "\n{{ document.misspelt }}", "summary.html, line 2", "misspelt"),
        ("summary.html", "{% include 'nowhere.html' %}", "summary.html, line 1", "nowhere.html"),
        ("summary.html", "{{ 1 / 0 }}", "summary.html, line 1", "ZeroDivisionError"),
    ],
)
def test_a_wrong_theme_is_the_users(tmp_path: Path, name: str, text: str, where: str, what: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as raised:
        html.render(report_example.report(), template_dir=tmp_path)
    assert where in str(raised.value) and what in str(raised.value)


def test_a_theme_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        html.render(report_example.report(), template_dir=tmp_path / "nowhere")


def test_every_way_of_writing_an_interval_that_templates_name_exists() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "templates").glob("*.html")]
    forms = {form for text in texts for form in re.findall(r'\| interval\("(\w+)"', text)}
    assert "signed" in forms
    for form in forms:
        assert " to " in html.written_interval((0.5, 0.75), form)
