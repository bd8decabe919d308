"""The report as HTML: one golden page, every null, hostile texts, themes.

The golden page is `golden/report-example.html`. After a change that is meant, look at the page and then:

    UPDATE_GOLDEN=1 .venv/bin/pytest tests/test_report_render.py -k golden
"""

from __future__ import annotations

import copy
import os
import re
import traceback
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from auditkit import text as words_of
from auditkit.disparity import GroupStatus
from auditkit.errors import InputError
from auditkit.report import charts, histograms, html, view
from support import report_example
from support.pages import GOLDEN, NO_CHARTS, Page, hostile, many_groups


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the charts, where only the words are in question."""
    monkeypatch.setattr(charts, "draw", lambda document: NO_CHARTS)
    once = html.environment(None, html.shipped_sections())
    monkeypatch.setattr(html, "environment", lambda template_dir=None, sections=None: once)


# The page of the example ---------------------------------------------------------------------------------------------


def test_golden(page: str) -> None:
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(page, encoding="utf-8")
    assert page == GOLDEN.read_text(encoding="utf-8"), f"if it is meant: see the head of {Path(__file__).name}"


def test_a_second_rendering_is_the_same(page: str) -> None:
    assert html.render(report_example.document()) == page


def test_it_stands_alone(page: str) -> None:
    found = Page(page)
    assert len(page.encode()) < 2_000_000
    assert not {"script", "link", "img", "iframe", "object", "embed", "form"} & {tag for tag, _ in found.tags}
    for tag, attributes in found.tags:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        for name in ("src", "href", "xlink:href", "action", "data"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
    assert not re.search(r"url\((?!#)|@import|https?://", page)
    policy = next(a["content"] for _, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


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
    listed = re.findall(r'<li><a href="#(.*?)">(.*?)</a></li>', page)
    assert [title for _, title in listed] == [words for tag, words in found.headings if tag == "h2"]


def test_every_table_has_a_caption_and_scopes(page: str) -> None:
    for table in re.findall(r"<table.*?</table>", page, flags=re.S):
        assert re.match(r"<table[^>]*>\s*<caption>", table)
        assert not re.search(r"<th(?! scope=)[ >]", table)
        rows = re.findall(r"<tr.*?</tr>", table, flags=re.S)
        widths = {sum(int(n or 1) for n in re.findall(r'<t[hd](?:[^>]*?colspan="(\d+)")?[^>]*>', row)) for row in rows}
        assert len(widths) == 1, f"cells are missing in\n{table}"


def test_the_order_of_the_sections(page: str) -> None:
    order = "findings people disparity local-law-144 policies decisions costs expost fit notices method certificate"
    assert f"{order} provenance glossary" == " ".join(re.findall(r'<section id="(.*?)"', page))


def test_it_says_what_it_is_and_gives_no_verdict(page: str) -> None:
    words = Page(page).words
    assert "benchmark to measure against, not advice to treat people by group" in words
    assert "not legal advice" in words
    assert "price of fairness" in words
    verdicts = r"\b(?:un)?fair(?:ly|er)?\b|\b(?:un)?bias(?:ed)?\b|\bcomplian\w*|discriminat\w*"
    assert re.findall(verdicts, words, re.I) == []


def test_numbers_stand_in_the_page(page: str) -> None:
    words = Page(page).words.replace("\u00a0", " ")
    for text in ("1,527", "0.761", "0.631 to 0.916", "0.702", "6 of 55", "16 November 2026", "REQ-1023", "27.1 %"):
        assert text in words, text


def test_charts_have_words_and_share_no_ids(page: str) -> None:
    drawings = re.findall(r"<svg.*?</svg>", page, flags=re.S)
    assert len(drawings) == 28
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


def without(document: dict[str, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    place: Any = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = None
    return changed


def test_every_key_may_be_null(drawn: None) -> None:
    wrong = []
    for path in paths(report_example.document()):
        try:
            text = html.render(without(report_example.document(), path))
            assert (said := re.search(r"\b(None|nan|inf)\b", text)) is None, said
        except Exception:
            wrong.append(f"{path}: {traceback.format_exc(limit=-1)}")
    assert not wrong, "\n".join(wrong)


def test_every_key_may_be_null_in_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the charts that read the part; what is drawn is not written out, which takes the most time."""
    for module in (charts, histograms):
        monkeypatch.setattr(module, "chart", lambda fig, id, title, description: (title, description))

    def ratios(d: Any) -> Any:
        for one in view.attributes(d)[:1]:
            charts.impact_ratio(one, "cumulative", 1, view.at(d, "disparity", "line"))

    def funnel(d: Any) -> Any:
        charts.funnel(d, "Gender", 1)

    def side_by_side(d: Any) -> Any:
        charts.side_by_side(d, "Gender", "selected", 1)

    readers: dict[str, list[Any]] = {
        "groups": [funnel, side_by_side],
        "funnel": [funnel],
        "firm": [side_by_side],
        "unconstrained": [side_by_side],
        "disparity": [ratios],
        "segments": [lambda d: [charts.shortfall(part, 1, 1) for part in (d["segments"] or ())[:1]]],
        "fit": [charts.pit, charts.coverage],
        "constrained": [
            side_by_side,
            charts.utility_kept,
            lambda d: [charts.slack(1, *panel) for panel in charts.slack_panels(d)[:1]],
            charts.unfilled,
        ],
    }
    wrong = []
    with charts.drawing():
        for path in paths(report_example.document()):
            for reader in readers.get(str(path[0]), []):
                try:
                    reader(without(report_example.document(), path))
                except Exception:
                    wrong.append(f"{path}: {traceback.format_exc(limit=-1)}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("key", [key for key in report_example.document() if key not in ("findings", "format")])
def test_a_part_that_is_missing_is_spoken_of(key: str, drawn: None) -> None:
    document = without(report_example.document(), (key,))
    document["findings"] = [{"kind": "notice", "code": f"no-{key}", "text": f"Reason for {key}."}]
    words = Page(html.render(document)).words
    assert f"Reason for {key}." in words
    if key not in (
        "frontier",
        "sensitivity",
        "problems",
        "mapping",
        "config",
        "sections",
        "scope",
        "attributes",
        "steps",
        "segments",
        "revealed",
    ):
        assert "not available" in words.lower()


def test_nothing_at_all() -> None:
    document: dict[str, Any] = dict.fromkeys(report_example.document())
    words = Page(html.render(document)).words
    assert words.count("Not available.") >= 8
    assert "No measurement of this report crossed the line" in words


def test_an_infeasible_constraint_is_named() -> None:
    document = report_example.document()
    nothing = ("utility", "long_term_utility", "by_group", "unfilled_capacity", "price_of_fairness", "ex_post_slack")
    entry = document["constrained"][-1]
    entry |= dict.fromkeys((*nothing, "unfilled", "bound", "gap", "duals", "order_kept"))
    entry |= {"status": "infeasible", "conflict": ["floor:minimum=0.5", "budget:limit=3"]}
    words = Page(html.render(document)).words
    assert "cannot be met: floor:minimum=0.5 and budget:limit=3 exclude each other" in words
    assert "no policy meets floor:minimum=0.5 and budget:limit=3" in words


# Hostile and large ---------------------------------------------------------------------------------------------------


def test_hostile_texts_are_only_texts() -> None:
    page = html.render(hostile(report_example.document()))
    found = Page(page)
    assert not {"script", "b", "img"} & {tag for tag, _ in found.tags}
    assert all(not name.startswith("on") for _, attributes in found.tags for name in attributes)
    assert not re.search("[\x00\x1b\u202e]", page)


def test_forty_groups() -> None:
    document = many_groups()
    page = html.render(document)
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
                    assert words_of.ratio(row["impact_ratio"], 0.8) in shown[i]
                    assert words_of.interval(row["interval"], lambda x: words_of.ratio(x, 0.8)) in shown[i]
                    assert view.MARKS[GroupStatus(row["status"])] in shown[i]


def test_the_rows_of_the_file_add_up() -> None:
    document = report_example.document()
    document["scope"] |= {"rows": 1532, "left_out": [{"reason": "repeated-row", "rows": 5}]}
    words = Page(html.render(document)).words.replace("\u00a0", " ")
    assert "1,532 rows in the file; left out: 5 (repeated row); 1,527 applications remain." in words
    assert "18 without a stated Gender, 27 without a stated Ethnicity." in words


def test_seven_findings_and_the_rest_behind_them(page: str) -> None:
    document = report_example.document()
    kinds = [finding["kind"] for finding in document["findings"]]
    told = len(kinds) - kinds.count("notice")
    section = page[page.index('<section id="findings"') : page.index('<section id="people"')]
    first, _, rest = section.partition("<details")
    assert first.count("<li>") == 7 and rest.partition("</details>")[0].count("<li>") == told - 7
    notices = page[page.index('<section id="notices"') : page.index('<section id="method"')]
    assert notices.count("<li>") == kinds.count("notice")
    assert "No measurement of this report crossed" not in page
    document["findings"] = [f for f in document["findings"] if f["kind"] != "disparity"]
    assert "No measurement of this report crossed" in html.render(document)


def test_every_status_has_a_mark_and_a_name() -> None:
    names: Any = html.environment().get_template("macros.html").module
    statuses = {status.value for status in GroupStatus}
    assert set(names.status_names) == statuses == {status.value for status in view.MARKS}


def test_many_steps_make_two_tables() -> None:
    captions = re.findall(r"<caption><span>(.*?)</span>", html.render(many_groups()))
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
    page = html.render(report_example.document(), template_dir=tmp_path)
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
        html.render(report_example.document(), template_dir=tmp_path)
    assert where in str(raised.value) and what in str(raised.value)


def test_a_theme_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        html.render(report_example.document(), template_dir=tmp_path / "nowhere")
