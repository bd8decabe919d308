"""The page in a real Chromium: no error, no request, charts that show, usable at 375 pixels."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from auditkit.report import html
from support import report_example
from support.pages import HOSTILE, Watched, hostile, many_groups

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    documents = {
        "example": report_example.document(),
        "empty": dict.fromkeys(report_example.document()),
        "hostile": hostile(report_example.document()),
        "many": many_groups(),
    }
    for name, document in documents.items():
        (folder / f"{name}.html").write_text(html.render(document), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in documents}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("name", ["example", "empty", "hostile", "many"])
def test_quiet_alone_and_not_wider_than_the_screen(
    browser: Browser, files: dict[str, Path], name: str, width: int, scheme: Any
) -> None:
    watched = Watched(browser, files[name], viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
    outside = watched.page.evaluate(
        """width => [...document.querySelectorAll('body *')].filter(e => {
            const inner = e.parentElement.closest('.scroll, svg');
            const box = e.getBoundingClientRect();
            const out = box.right > width + 0.5 || box.left < -0.5;
            return !inner && !e.classList.contains("skip") && box.width > 0 && out;
        }).map(e => e.outerHTML.slice(0, 200))""",
        width,
    )
    assert outside == []
    watched.context.close()
    assert watched.complaints == []


def test_headings_in_order_as_the_browser_sees_them(browser: Browser, files: dict[str, Path]) -> None:
    for path in files.values():
        page = Watched(browser, path).page
        levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])")
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        page.context.close()


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
    page.context.close()


def test_charts_follow_the_scheme(browser: Browser, files: dict[str, Path]) -> None:
    seen = []
    for scheme in ("light", "dark"):
        page = Watched(browser, files["example"], color_scheme=scheme).page
        ask = "getComputedStyle(document.querySelector('#chart-funnel-1 text')).fill"
        seen.append((page.evaluate(ask), page.evaluate("getComputedStyle(document.body).backgroundColor")))
        page.context.close()
    assert seen == [("rgb(29, 39, 51)", "rgb(255, 255, 255)"), ("rgb(228, 232, 236)", "rgb(20, 24, 29)")]


def test_hostile_texts_are_shown_as_they_are(browser: Browser, files: dict[str, Path]) -> None:
    watched = Watched(browser, files["hostile"])
    shown = watched.page.evaluate("document.querySelector('main').textContent")
    assert HOSTILE[HOSTILE.index("script>alert") : HOSTILE.index("</script")] in shown
    assert watched.page.evaluate("document.scripts.length") == 1
    watched.context.close()
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
    page.context.close()


def test_it_prints_on_white(browser: Browser, files: dict[str, Path]) -> None:
    page = Watched(browser, files["example"], color_scheme="dark").page
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')").strip() == "#ffffff"
    page.context.close()
