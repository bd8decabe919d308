"""The page in a real Chromium: no error, no request, charts that show, usable at 375 pixels."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from auditkit.report import html
from auditkit.report.load_report import load
from support import report_example
from support.pages import HOSTILE, Watched, hostile, many_groups

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    documents = {
        "example": report_example.document(),
        "empty": report_example.empty(),
        "hostile": hostile(report_example.document() | {"alternatives": report_example.ALTERNATIVES}),
        "many": many_groups(),
    }
    for name, document in documents.items():
        (folder / f"{name}.html").write_text(html.render(load(document)), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in documents}


OUTSIDE = """width => [...document.querySelectorAll('body *')].filter(e => {
    const inner = e.parentElement.closest('.scroll, svg');
    const box = e.getBoundingClientRect();
    const out = box.right > width + 0.5 || box.left < -0.5;
    return !inner && !e.classList.contains("skip") && box.width > 0 && out;
}).map(e => e.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("name", ["example", "empty", "hostile", "many"])
def test_quiet_alone_and_not_wider_than_the_screen(
    browser: Browser, files: dict[str, Path], name: str, width: int
) -> None:
    watched = Watched(browser, files[name], viewport={"width": width, "height": 800}, color_scheme="light")
    for scheme in SCHEMES:
        watched.page.emulate_media(color_scheme=scheme)
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
        assert watched.page.evaluate(OUTSIDE, width) == []
    watched.page.close()
    assert watched.complaints == []


def test_headings_in_order_as_the_browser_sees_them(browser: Browser, files: dict[str, Path]) -> None:
    for path in files.values():
        page = Watched(browser, path).page
        levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])")
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        page.close()


@pytest.mark.parametrize("width", [375, 1280])
def test_charts_are_seen(browser: Browser, files: dict[str, Path], width: int) -> None:
    page = Watched(browser, files["example"], viewport={"width": width, "height": 800}).page
    boxes = page.evaluate(
        """[...document.querySelectorAll('figure svg')].map(svg => {
            const box = svg.getBoundingClientRect();
            const texts = [...svg.querySelectorAll('text')].map(t => t.getBoundingClientRect());
            return {id: svg.id, width: box.width, height: box.height, texts: texts.length,
                    small: Math.min(...texts.map(t => t.height)),
                    out: texts.filter(t => t.left < box.left - 12 || t.right > box.right + 12).length};
        })"""
    )
    assert len(boxes) == 21
    for box in boxes:
        assert box["width"] >= 320 and box["height"] >= 90 and box["texts"] >= 4, box
        assert box["small"] >= 10, f"too small to read: {box}"
        assert box["out"] == 0, f"texts leave the chart: {box}"
    page.close()


def test_charts_follow_the_scheme(browser: Browser, files: dict[str, Path]) -> None:
    seen = []
    for scheme in SCHEMES:
        page = Watched(browser, files["example"], color_scheme=scheme).page
        ask = "getComputedStyle(document.querySelector('#chart-funnel-1 text')).fill"
        seen.append((page.evaluate(ask), page.evaluate("getComputedStyle(document.body).backgroundColor")))
        page.close()
    assert seen == [("rgb(29, 39, 51)", "rgb(255, 255, 255)"), ("rgb(228, 232, 236)", "rgb(20, 24, 29)")]


def test_hostile_texts_are_shown_as_they_are(browser: Browser, files: dict[str, Path]) -> None:
    watched = Watched(browser, files["hostile"])
    shown = watched.page.evaluate("document.querySelector('main').textContent")
    assert HOSTILE[HOSTILE.index("script>alert") : HOSTILE.index("</script")] in shown
    assert watched.page.evaluate("document.scripts.length") == 1
    watched.page.close()
    assert watched.complaints == []


def test_the_keyboard_reaches_the_findings_and_every_table(browser: Browser, files: dict[str, Path]) -> None:
    page = Watched(browser, files["example"], viewport={"width": 375, "height": 800}).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#content"
    boxes = page.evaluate(
        """[...document.querySelectorAll('.scroll')].map(
            e => [e.tabIndex, e.getAttribute('role'), !!e.getAttribute('aria-label')])"""
    )
    assert len(boxes) > 15 and all(box == [0, "region", True] for box in boxes)
    page.close()


def test_it_prints_on_white(browser: Browser, files: dict[str, Path]) -> None:
    page = Watched(browser, files["example"], color_scheme="dark").page
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')").strip() == "#ffffff"
    page.close()


# What the script adds -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with a frontier of three points."""
    document = report_example.document()
    groups = {"Gender": {"Female": 50.0, "Male": 70.0}}
    points = [
        {"value": x, "utility": 100.0 - loss, "loss": loss, "ratio": 1 - loss / 100, "unfilled_capacity": 0.0, "gap": 0}
        | {"long_term_utility": None}
        | {"selected": {"Gender": {name: n + loss for name, n in groups["Gender"].items()}}}
        for x, loss in ((0.0, 0.0), (0.5, 1.0), (1.0, 8.0))
    ]
    curve = {"label": "impact-ratio", "parameter": "minimum", "tightens": 1, "present": None, "points": points}
    curve |= {"unconstrained": 100.0, "positions": 126, "starts": 0.25, "sentence": ""}
    document["frontier"] = report_example.ASKED | {"curves": [curve]}
    path = tmp_path_factory.mktemp("explored") / "page.html"
    path.write_text(html.render(load(document)), encoding="utf-8")
    return path


def ready(browser: Browser, path: Path, **options: Any) -> Watched:
    """The page when its script has run."""
    watched = Watched(browser, path, **options)
    watched.page.wait_for_selector(".filter")
    return watched


def test_a_slider_shows_the_computed_points_and_nothing_between(browser: Browser, explored: Path) -> None:
    watched = ready(browser, explored)
    page = watched.page
    slider = page.locator(".explore input")
    assert slider.count() == 1 and slider.get_attribute("step") == "1" and slider.get_attribute("max") == "2"
    shown = {}
    for point in range(3):
        slider.fill(str(point))
        shown[page.locator(".explore output").inner_text()] = page.locator(".explore dl").inner_text().split("\n")
    rows = page.evaluate("[...document.querySelectorAll('#frontier-1 tbody tr')].map(r => r.innerText.split('\\t'))")
    assert [name.rsplit(" ", 1)[1] for name in shown] == ["0", "0.5", "1"]
    for said, row in zip(shown.values(), rows, strict=True):
        assert said[1::2] == [cell.strip() for cell in row[1:]]
    assert "Female" in page.locator(".explore dl").inner_text()
    watched.page.close()
    assert watched.complaints == []


def test_long_tables_can_be_filtered_and_sorted(browser: Browser, explored: Path) -> None:
    page = ready(browser, explored).page
    rows = """[...document.querySelectorAll('#people table')[0].querySelectorAll('tbody tr:not([hidden])')].map(
        r => r.innerText)"""
    box = page.locator("#people .filter").first
    before = page.evaluate(rows)
    box.fill("female black")
    kept = [row.split("\t")[0].strip() for row in page.evaluate(rows)]
    assert "Female+Black" in kept and "Female" not in kept and "Male+Black" not in kept
    box.fill("")
    assert page.evaluate(rows) == before
    head = page.locator("#people thead .sort").nth(1)
    cells = """[...document.querySelectorAll('#people table')[0].tBodies].map(
        b => [...b.rows].slice(1).map(r => +r.cells[1].innerText.replace(',', '')))"""
    for direction in (1, -1):
        head.click()
        for group in page.evaluate(cells):
            assert group == sorted(group, reverse=direction < 0)
    head.click()
    assert page.evaluate(rows) == before, "a third click restores the original order"
    page.close()


def test_terms_explain_themselves_to_mouse_and_keyboard(browser: Browser, explored: Path) -> None:
    page = ready(browser, explored).page
    term = page.locator(".term[data-term='impact ratio']").first
    assert page.locator("#meaning").is_hidden()
    term.focus()
    assert "divided by that of the reference" in page.locator("#meaning").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#meaning").is_hidden()
    term.hover()
    box = page.locator("#meaning").bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 1280
    page.close()


def test_the_script_moves_nothing(browser: Browser, explored: Path) -> None:
    heights = []
    for scripts in (True, False):
        watched = (ready if scripts else Watched)(browser, explored, java_script_enabled=scripts)
        watched.page.set_viewport_size({"width": 1280, "height": 900})
        heights.append([one.bounding_box() for one in watched.page.locator("section").all()])
        watched.page.close()
        assert watched.complaints == []
    tops = [[round(box["y"]) for box in boxes if box is not None] for boxes in heights]
    assert len(tops[0]) == len(tops[1]) > 10
    assert all(abs(a - b) <= 40 for a, b in zip(*tops)), "only rows of buttons may be a little higher"


@pytest.mark.parametrize("width", [375, 1280])
def test_no_name_breaks_inside_a_word(browser: Browser, files: dict[str, Path], width: int) -> None:
    page = Watched(browser, files["example"], viewport={"width": width, "height": 800}).page
    broken = page.evaluate(
        """[...document.querySelectorAll('table:not(.pairs) th')].flatMap(th => {
            const walker = document.createTreeWalker(th, NodeFilter.SHOW_TEXT), found = [];
            while (walker.nextNode()) {
                const node = walker.currentNode;
                if (node.parentElement.closest('code')) continue;
                for (const word of node.data.matchAll(/[^\\s+-]+/g)) {
                    const range = document.createRange();
                    range.setStart(node, word.index);
                    range.setEnd(node, word.index + word[0].length);
                    const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
                    if (lines.size > 1) found.push(word[0]);
                }
            }
            return found;
        })"""
    )
    page.close()
    assert broken == []
