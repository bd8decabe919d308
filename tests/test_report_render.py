"""The report as HTML: one golden page, every null, hostile texts, themes.

The golden page is `golden/report-example.html`. After a change that is meant, look at the page and then:

    UPDATE_GOLDEN=1 .venv/bin/pytest tests/test_report_render.py -k golden
"""

from __future__ import annotations

import copy
import json
import os
import re
import traceback
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from auditkit.disparity import Flag, GroupCounts, Status, compare, suppress
from auditkit.errors import InputError
from auditkit.report import charts, histograms, html, view
from support import report_example
from support.pages import GOLDEN, SECTIONS, Page, hostile, many_groups


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the charts, where only the words are in question."""
    nothing: dict[str, list[Any]] = {name: [] for name in SECTIONS}
    monkeypatch.setattr(charts, "draw", lambda document: nothing)
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
    order = "findings people disparity local-law-144 policies costs expost fit method certificate provenance glossary"
    assert " ".join(re.findall(r'<section id="(.*?)"', page)) == order


def test_it_says_what_it_is_and_gives_no_verdict(page: str) -> None:
    words = Page(page).words
    assert "benchmark to measure against, not advice to treat people by group" in words
    assert "not legal advice" in words
    assert "price of fairness" in words
    verdicts = r"\b(?:un)?fair(?:ly|er)?\b|\b(?:un)?bias(?:ed)?\b|\bcomplian\w*|discriminat\w*"
    assert re.findall(verdicts, words, re.I) == []


def test_numbers_stand_in_the_page(page: str) -> None:
    words = Page(page).words.replace("\u00a0", " ")
    for text in ("1,495", "0.325", "0.164 to 0.644", "96.9 %", "95.7 to 97.6 %", "3.6 × 10⁻¹²", "<5", "16 November"):
        assert text in words, text


def test_charts_have_words_and_share_no_ids(page: str) -> None:
    drawings = re.findall(r"<svg.*?</svg>", page, flags=re.S)
    assert len(drawings) == 15
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
    policies = [charts.side_by_side]
    readers: dict[str, list[Any]] = {
        "groups": [lambda d, _: charts.funnel(d), *policies],
        "funnel": [lambda d, _: charts.funnel(d)],
        "firm": policies,
        "unconstrained": policies,
        "disparity": [lambda d, _: [charts.impact_ratio(key, part) for key, part in view.disparities(d)][:1]],
        "fit": [lambda d, _: charts.pit(d), lambda d, _: charts.coverage(d)],
        "constrained": [
            *policies,
            lambda d, _: charts.utility_kept(d),
            lambda d, _: [charts.slack(1, *panel) for panel in charts.slack_panels(d)[:1]],
            lambda d, _: charts.unfilled(d),
        ],
    }
    wrong = []
    with charts.drawing():
        for path in paths(report_example.document()):
            if "local_law_144" in path:
                continue
            for reader in readers.get(str(path[0]), []):
                try:
                    reader(without(report_example.document(), path), "selected")
                except Exception:
                    wrong.append(f"{path}: {traceback.format_exc(limit=-1)}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("key", [key for key in report_example.document() if key not in ("findings", "format")])
def test_a_part_that_is_missing_is_spoken_of(key: str, drawn: None) -> None:
    document = without(report_example.document(), (key,))
    document["findings"] = [{"kind": "notice", "code": f"no-{key}", "text": f"Reason for {key}."}]
    words = Page(html.render(document)).words
    assert f"Reason for {key}." in words
    if key not in ("frontier", "sensitivity", "problems", "mapping", "config", "sections"):
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
    assert "The largest groups are drawn; the table has them all." in page


# What the measuring modules really give ------------------------------------------------------------------------------


def test_the_disparity_of_today_is_rendered() -> None:
    counts = GroupCounts.of(
        {"F": (300, 15), "M": (350, 40), "X": (12, 1)}, {"F": (400, 25), "M": (450, 62), "X": (3, 0)}
    )
    for found in (compare(counts), suppress(compare(counts), 20), compare(counts, minimum_share=0.02)):
        document = report_example.document()
        selected = json.loads(json.dumps(found.to_json()))
        document["disparity"] = {"selected": selected, "inspected": None, "local_law_144": None}
        Page(html.render(document))


def test_every_status_and_flag_has_a_name() -> None:
    names: Any = html.environment().get_template("macros.html").module
    assert set(names.status_names) == {status.value for status in Status}
    assert set(names.flag_names) == {flag.value for flag in Flag}


# Themes --------------------------------------------------------------------------------------------------------------


def test_a_theme_extends_what_is_shipped(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(
        '{% extends "shipped/report.html" %}{% block masthead %}Example & Sons, {{ document.version }}{% endblock %}'
    )
    (tmp_path / "section_glossary.html").write_text("<section id='glossary'><h2>Glossary</h2></section>")
    page = html.render(report_example.document(), template_dir=tmp_path)
    assert "Example & Sons, 0.1.0" in page
    assert "Disparity audit of" in page
    assert "Benjamini–Hochberg (BH)" not in page


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
