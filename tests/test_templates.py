"""Themes for --template-dir: the two of docs/examples, every block, pictures, and whose fault a wrong one is."""

from __future__ import annotations

import io
import re
from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from jinja2 import Environment, FileSystemLoader, nodes

from auditkit import cli
from auditkit.config import Config
from auditkit.errors import InputError
from auditkit.report import charts, html, pdf
from auditkit.report.load_report import load
from auditkit.report.section import CORE, Section
from auditkit.scheduled import history_page
from support import ROOT, report_example
from support.audit_helpers import rows, save
from support.pages import GOLDEN, NO_CHARTS, Page, Watched

EXAMPLES = ROOT / "docs" / "examples"
GUIDE = (ROOT / "docs" / "templates.md").read_text(encoding="utf-8")
EVERYTHING = {
    "frontier": report_example.ASKED,
    "alternatives": report_example.ALTERNATIVES,
    "disparity": report_example.document()["disparity"] | {"score_pages": [report_example.SCORE_PAGE]},
}
"""The parts of a document behind those sections that the example lacks."""
PNG = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The example under both themes, its charts drawn once."""
    document = report_example.report()
    drawn = charts.draw(document)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(charts, "draw", lambda _, parts: drawn)
        return {name: html.render(document, template_dir=EXAMPLES / name) for name in ("theme", "theme-de")}


@pytest.fixture
def uncharted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the charts, where only the templates are in question."""
    monkeypatch.setattr(charts, "draw", lambda document, parts: NO_CHARTS)


def themed(tmp_path: Path, parts: dict[str, Any] | None = None, **files: str | bytes) -> str:
    """The page under a theme of these files, each `name__ending`, with further parts in the document."""
    for name, text in files.items():
        path = tmp_path / name.replace("__", ".")
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return html.render(load(report_example.document() | (parts or {})), template_dir=tmp_path)


# The examples ---------------------------------------------------------------------------------------------------------


def test_the_house_style_adds_and_takes_nothing_away(pages: dict[str, str]) -> None:
    page, plain = Page(pages["theme"]), Page(GOLDEN.read_text(encoding="utf-8"))
    assert page.words.count("Example Ltd · Audit report") == 1
    assert pages["theme"].count('aria-label="Example Ltd"') == 1
    assert "every quarter, on 1,527 rows this time" in page.words
    assert page.words.index("One score point is worth") > page.words.index("What each constraint gives up")
    assert "Not legal advice. Example Ltd, People Analytics" in page.words
    assert page.headings == plain.headings
    assert ("html", {"lang": "en"}) in page.tags


def test_the_other_language_marks_what_is_in_which(pages: dict[str, str]) -> None:
    page = Page(pages["theme-de"])
    assert ("html", {"lang": "de"}) in page.tags
    assert next(tags for tag, tags in page.tags if tag == "main")["lang"] == "en"
    titles = [text for tag, text in page.headings if tag == "h2"]
    assert titles[:3] == ["Ergebnisse", "Unterschiede", "Sagt die Punktzahl die spätere Leistung voraus?"]
    assert page.words.count("Was jede Bedingung kostet") == 2  # contents and heading
    assert "Findings" not in page.words and "60 Stellen · 1,527 Bewerbungen" in page.words


@pytest.mark.slow
@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("name", ["theme", "theme-de"])
def test_in_chromium(browser: Any, pages: dict[str, str], tmp_path: Path, name: str, width: int) -> None:
    path = tmp_path / "page.html"
    path.write_text(pages[name], encoding="utf-8")
    watched = Watched(browser, path, viewport={"width": width, "height": 900})
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
    if name == "theme":
        box = watched.page.locator(".logo svg").bounding_box()
        assert box is not None and (box["width"], box["height"]) == (48, 48) and box["y"] < 100
        assert (
            watched.page.evaluate("getComputedStyle(document.querySelector('h2')).borderTopColor") == "rgb(26, 107, 79)"
        )
    assert len(watched.page.screenshot()) > 20_000
    watched.page.close()
    assert watched.complaints == []


def test_as_a_pdf() -> None:
    import pypdf

    empty = report_example.empty()  # nothing to say, and quickly said
    page = html.render(load(empty), template_dir=EXAMPLES / "theme-de")
    reader = pypdf.PdfReader(io.BytesIO(pdf.render(page, b"{}", "2026-11-16T06:00:00Z")))
    root: Any = reader.trailer["/Root"]
    assert root["/Lang"] == "de"
    assert "Ergebnisse" in "".join(part.extract_text() for part in reader.pages)


def test_a_theme_that_was_changed_is_read_again(tmp_path: Path, uncharted: None) -> None:
    """What is compiled is kept by its text."""
    extended = '{%% extends "shipped/report.html" %%}{%% block masthead %%}%s{%% endblock %%}'
    pages = [themed(tmp_path, report__html=extended % words) for words in ("Before", "After", "Before")]
    assert "After" in pages[1] and "Before" not in Page(pages[1]).words.split("Findings")[0]
    assert pages[0] == pages[2] != pages[1]


# Blocks and pictures --------------------------------------------------------------------------------------------------


def test_templates_print_numbers_and_texts_as_they_are_given() -> None:
    """No product, quotient or replacement is worked out in a template; `colspan` counts columns."""
    found = []
    for path in (ROOT / "templates").glob("*.*"):
        if path.suffix in (".html", ".jinja"):
            text = re.sub(r'colspan="{{.*?}}"', "", path.read_text(encoding="utf-8"))
            for expression in re.findall(r"{{(.*?)}}|{%(.*?)%}", text, re.DOTALL):
                code = re.sub(r"\"[^\"]*\"|'[^']*'|\(\*\w+\)", "", "".join(expression))  # without texts and *parts
                found += [f"{path.name}: {code}"] if re.search(r"[*/]|\breplace\b", code) else []
    assert not found


ELEMENT = re.compile(r"\s*(?:<.*>|\x00)?\s*", re.DOTALL)
"""Nothing, a value, or whole elements."""
ATTRIBUTE = re.compile(r' (?:[a-z-]+="[^"]*"|checked|selected|open|disabled)')
CLASSES, ADDRESSES = {" few", " named"}, {"report", "reading", "run", "from"}


def words_in(parts: Sequence[nodes.Node]) -> str:
    """What a part of a template writes, values as \\0."""
    found = ""
    for part in parts:
        if isinstance(part, nodes.Output):
            found += "".join(one.data if isinstance(one, nodes.TemplateData) else "\0" for one in part.nodes)
        elif isinstance(part, nodes.If):
            found += words_in(part.body) + "".join(words_in(one.body) for one in part.elif_) + words_in(part.else_)
        elif isinstance(part, nodes.For):
            found += words_in(part.body)
        elif isinstance(part, nodes.CallBlock | nodes.Include):
            found += "<>"
    return found


def is_prose(text: str) -> bool:
    return re.search("[A-Za-z]{2,}", re.sub("<[^>]*>", "", text)) is not None


def choices_of_words(template: str) -> list[str]:
    """Where a template picks between words, or goes on with a sentence or not, instead of printing what was picked.

    Allowed are attributes of an element, whole elements that are there or not, and one paragraph where they are not.
    """
    found = []
    tree = Environment(trim_blocks=True, lstrip_blocks=True).parse(template)
    for one in tree.find_all(nodes.If):
        branches = [one.body, *(each.body for each in one.elif_), one.else_]
        texts = [text for text in map(words_in, branches) if is_prose(text) and not ATTRIBUTE.fullmatch(text)]
        absent = len(texts) == 2 and not one.elif_ and any(re.fullmatch(r"\s*<p[ >].*</p>\s*", t, re.S) for t in texts)
        if (len(texts) > 1 and not absent) or not all(ELEMENT.fullmatch(text) for text in texts):
            found.append(f"line {one.lineno}: {texts}")
    for choice in tree.find_all(nodes.CondExpr):
        ends = [end for end in (choice.expr1, choice.expr2) if end is not None]
        constants = [c.value for end in ends for c in [end, *end.find_all(nodes.Const)] if isinstance(c, nodes.Const)]
        told = [text for text in constants if isinstance(text, str) and is_prose(text)]
        found += [f"line {choice.lineno}: {told}"] if set(told) - CLASSES - ADDRESSES else []
    return found


def test_templates_choose_no_words() -> None:
    """Sentences and choices between them are functions (`report/words`, `page/page_words`)."""
    paths = sorted((ROOT / "templates").glob("*.html"))
    assert len(paths) > 40
    found = {path.name: choices_of_words(path.read_text(encoding="utf-8")) for path in paths}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "template",
    [
        "<p>It is{% if late %} late{% endif %}.</p>",
        "{% if late %}<b>too late</b>{% else %}<b>in time</b>{% endif %}",
        '{{ "too late" if late else "in time" }}',
        '{{ "It is " ~ ("late" if late else "time") }}',
        "{% if one %}<i>one</i>{% elif two %}<i>two</i>{% endif %}",
    ],
)
def test_a_choice_of_words_is_seen(template: str) -> None:
    assert choices_of_words(template)
    assert not choices_of_words('<p{% if x %} class="late"{% endif %}>{% if y %}<b>in time</b>{% endif %}</p>')
    assert not choices_of_words("{% if rows %}<table><td>Row</table>{% else %}<p>There are no rows.</p>{% endif %}")


def test_every_section_takes_its_title_from_one_place() -> None:
    sections = sorted((ROOT / "templates").glob("section_*.html"))
    assert len(sections) == 19
    for path in sections:
        name = path.stem.removeprefix("section_")
        heading = f'<h2 id="{name}-title">{{{{ titles.{name} }}}}</h2>'
        assert re.findall("<h2.*", path.read_text(encoding="utf-8")) == [heading]


def test_every_section_of_the_report_is_a_block_with_a_template() -> None:
    shipped = (ROOT / "templates" / "report.html").read_text(encoding="utf-8")
    names = [section.name for section in CORE]
    assert re.findall(r'{% block (\w+) %}{% include "section_\1.html" %}', shipped) == names
    for section in CORE:
        assert section.title and section.template.is_file()
    assert {path.stem for path in (ROOT / "templates").glob("section_*.html")} == {f"section_{n}" for n in names}


@pytest.mark.parametrize(
    ("after", "asked"),
    [*((section.name, True) for section in CORE), *((name, False) for name in ("alternatives", "whatif", "fit"))],
)
def test_a_section_of_a_plugin_stands_behind_any_section(
    uncharted: None, tmp_path: Path, after: str, asked: bool
) -> None:
    (tmp_path / "extra.html").write_text("<p>{{ told }}</p>")
    extra = type("Extra", (Section,), {"name": "extra", "title": "Ours", "after": after, "data": lambda self, d: None})
    extra.template = tmp_path / "extra.html"
    document = report_example.document() | {"sections": {"extra": {"title": "Ours", "data": {"told": "here"}}}}
    if asked:
        document |= EVERYTHING
    page = html.render(load(document), sections={"extra": extra})
    order = re.findall(r'<section id="([\w-]+)"', page)
    names = [section.name for section in CORE]
    absent = set() if asked else {"alternatives", "whatif", "cutscores"}  # the example has none
    shown = [name for name in names if name not in absent]
    place = sum(name in shown for name in names[: names.index(after) + 1])
    assert order == [*shown[:place], "extra", *shown[place:]]
    assert re.findall(r'<li><a href="#([\w-]+)">', page)[: len(order)] == order


def test_a_theme_may_give_a_section_of_a_plugin_its_title(uncharted: None, tmp_path: Path) -> None:
    titles = (EXAMPLES / "theme-de" / "titles.html").read_text().replace("} %}", '"local-law-144": "Gesetz 144"} %}')
    page = themed(tmp_path, titles__html=titles)
    assert '<h2 id="local-law-144-title">Gesetz 144</h2>' in page


def test_every_block_of_the_page_is_documented() -> None:
    shipped = (ROOT / "templates" / "report.html").read_text(encoding="utf-8")
    blocks = set(re.findall(r"{%-? block (\w+)", shipped))
    assert len(blocks) > 25
    assert blocks <= set(re.findall(r"`(\w+)`", GUIDE))


def test_the_example_in_another_language_has_a_title_for_every_section(uncharted: None, tmp_path: Path) -> None:
    titles = (EXAMPLES / "theme-de" / "titles.html").read_text(encoding="utf-8")
    page = Page(themed(tmp_path, EVERYTHING, titles__html=titles))
    named = dict(re.findall(r'"(\w+)": de\("(.*)"\)', titles))
    assert set(named) == {section.name for section in CORE}
    assert [text for tag, text in page.headings if tag == "h2" and text in named.values()] == [
        named[section.name] for section in CORE
    ]


def test_every_block_can_be_replaced(uncharted: None, tmp_path: Path) -> None:
    shipped = (ROOT / "templates" / "report.html").read_text(encoding="utf-8")
    outer = {"header", "contents"}, {"masthead"}  # these hold others
    blocks = set(re.findall(r"{%-? block (\w+)", shipped.partition("#}")[2]))
    for together in (blocks.difference(*outer), *outer):
        texts = [f"{{% block {name} %}}[{name} replaced]{{% endblock %}}" for name in together]
        page = themed(tmp_path, EVERYTHING, report__html='{% extends "shipped/report.html" %}' + "".join(texts))
        for name in together:
            assert f"[{name} replaced]" in page


def test_the_organisation_is_a_setting_and_escaped(uncharted: None) -> None:
    document = report_example.document()
    document["config"]["organisation"] = "Example & <Sons>"
    assert '<p class="masthead">Example &amp; &lt;Sons&gt; · Audit report</p>' in html.render(load(document))


def test_the_templates_that_the_guide_shows(uncharted: None, tmp_path: Path) -> None:
    small, pictured = re.findall(r"^```html[+]jinja\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    logo = (EXAMPLES / "theme" / "logo.svg").read_text()
    page = themed(tmp_path, logo__svg=logo, report__html=small)
    assert logo.strip() in page and "Example Ltd · Audit report" in page
    assert page.index("<p>One score point is worth") > page.index('id="costs"')
    page = themed(tmp_path, logo__png=PNG, report__html=pictured)
    assert '<img src="data:image/png;base64,iVBORw0KGgo' in page
    assert "form-action 'none'; img-src data:\">" in page and "script-src 'sha256-" in page


@pytest.mark.parametrize("name", ["nowhere.png", "../secret.png", "/etc/hostname"])
def test_a_picture_is_taken_from_the_theme_only(uncharted: None, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.png").write_bytes(PNG)
    theme = tmp_path / "theme"
    theme.mkdir()
    with pytest.raises(InputError, match=re.escape(f"there is no file '{name}' in the folder of the theme")):
        themed(theme, summary__html=f'{{{{ data_uri("{name}") }}}}')


# Whose fault it is ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"report__html": '{% extends "report.html" %}'},
            "report.html, line 1: the template builds on itself (a shipped",
        ),
        ({"summary__html": b"\xff\xfe"}, "holds a template that is not text in UTF-8"),
        ({"titles__html": '{% set titles = {"findings": "Befunde"} %}'}, "leaves out what the shipped"),
    ],
)
def test_mistakes_that_are_easily_made(uncharted: None, tmp_path: Path, files: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as raised:
        themed(tmp_path, **files)
    assert message in str(raised.value) and str(tmp_path) in str(raised.value)


def test_a_missing_variable_ends_a_report_before_anything_is_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data = save(tmp_path / "people.csv", rows(searches=3, each=5))
    (tmp_path / "quick.toml").write_text(
        "[fit]\npoints = 5\n[report]\nreplicates = 0\nwhat_if = false\nalternatives = false\n"
    )
    (tmp_path / "theme").mkdir()
    template = tmp_path / "theme" / "report.html"
    template.write_text(
        '{% extends "shipped/report.html" %}\n{% block organisation %}\n{{ organization }}\n{% endblock %}'
    )
    options = ("--config", tmp_path / "quick.toml", "--template-dir", tmp_path / "theme", "-c", "parity")
    assert cli.invoke(["report", str(data), *map(str, options)]) == 2
    assert f"error: {template}, line 3: 'organization' is undefined" in capfd.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "quick.toml", "theme"]


def test_a_theme_reaches_the_history() -> None:
    config = Config().over(report__template_dir=EXAMPLES / "theme")
    page = history_page.render("hiring", [], Path(), Path("page.html"), "2026-11-16T06:00:00Z", (), config)
    found = Page(page)
    assert "Example Ltd · Audit history" in found.words and "There are no runs yet." in found.words
    assert (EXAMPLES / "theme" / "theme.css").read_text(encoding="utf-8").strip() in page
    plain = Page(history_page.render("hiring", [], Path(), Path("page.html"), "2026-11-16T06:00:00Z", ()))
    assert plain.headings == found.headings and "Example Ltd" not in plain.words


def test_a_wrong_theme_of_a_history_is_named(tmp_path: Path) -> None:
    (tmp_path / "history.html").write_text("{% if %}")
    config = Config().over(report__template_dir=tmp_path)
    with pytest.raises(InputError, match=r"history\.html, line 1"):
        history_page.render("hiring", [], Path(), Path("page.html"), "2026-11-16T06:00:00Z", (), config)


def test_compiled_templates_are_kept_beside_those_that_ship(tmp_path: Path) -> None:
    """A theme's are not, and a damaged file is compiled again."""
    shipped, theme = tmp_path / "shipped", tmp_path / "theme"
    for folder in (shipped, theme):
        (folder / "__pycache__").mkdir(parents=True)
        (folder / "a.html").write_text("1 + 1 = {{ 1 + 1 }}")

    def rendered(folder: Path) -> str:
        cache = html._Compiled(shipped)
        return Environment(loader=FileSystemLoader(folder), bytecode_cache=cache).get_template("a.html").render()

    assert rendered(theme) == "1 + 1 = 2"
    assert not [*tmp_path.rglob("*.cache")]
    assert rendered(shipped) == "1 + 1 = 2"
    (kept,) = tmp_path.rglob("*.cache")
    whole = kept.read_bytes()
    with mock.patch.object(Environment, "_compile", side_effect=AssertionError):
        assert rendered(shipped) == "1 + 1 = 2"
    for damaged in (whole[:-9], b"", b"?" * len(whole)):
        kept.write_bytes(damaged)
        assert rendered(shipped) == "1 + 1 = 2"
        assert kept.read_bytes() == whole
