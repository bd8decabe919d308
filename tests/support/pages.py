"""Report pages: parsed, watched in a browser, and documents that are hard to render."""

from __future__ import annotations

import re
import shutil
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from auditkit.report import charts
from support import ROOT, report_example

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ViewportSize
    from playwright.sync_api import Page as BrowserPage

GOLDEN = ROOT / "tests" / "golden" / "report-example.html"


NO_CHARTS = charts.Charts()
"""What `charts.draw` gives where there is nothing to draw."""


HOSTILE = "</style></title><script>alert('x')</script>\"'&$\\frac{1}{0}$ \u202eevil\u202c \x00\x1b"


class Page(HTMLParser):
    """Tags with attributes in order, texts, and whether they nest."""

    VOID = frozenset({"meta", "wbr", "link", "br", "hr", "img", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.headings: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append((tag, ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if "style" not in self.open and "script" not in self.open:
            self.text.append(data)
            if self.open and re.fullmatch("h[1-6]", next((t for t in reversed(self.open) if t != "span"), "")):
                tag, before = self.headings[-1]
                self.headings[-1] = (tag, before + data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


WORDS = {"format", "treatment", "status", "sense", "kind", "decided_by", "reconciled", "flags", "form", "standing"}
WORDS |= {"predicts", "verdict", "scale", "formats", "parts", "outcome_scale", "basis"}
"""Keys whose texts are from a fixed list."""


def structure(page: str) -> str:
    """The tags and texts of a page, without styles, the script and the geometry of charts: they may change freely."""
    page = re.sub(r"(<(style|script)>).*?(</\2>)", r"\1\3", page, flags=re.S)
    page = re.sub(r"'sha256-[^']*'", "'sha256'", page)
    return re.sub(r"<svg.*?</svg>", lambda found: _words_of_chart(found[0]), page, flags=re.S)


def _words_of_chart(svg: str) -> str:
    said = re.findall(r"<(title|desc|text)\b[^>]*>(.*?)</\1>", svg, flags=re.S)
    return "\n".join(["<svg>", *(f"<{tag}>{' '.join(text.split())}</{tag}>" for tag, text in said), "</svg>"])


def hostile(value: Any) -> Any:
    """Every free text of the document made as unpleasant as it can be, names of groups included."""
    if isinstance(value, dict):
        return {
            key if key.islower() else key + HOSTILE: part if _fixed(key, part) else hostile(part)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [hostile(part) for part in value]
    return value + HOSTILE if isinstance(value, str) else value


def _fixed(key: str, part: Any) -> bool:
    return key in WORDS and (
        isinstance(part, str) or (isinstance(part, list) and all(isinstance(p, str) for p in part))
    )


def many_groups(n: int = 40) -> dict[str, Any]:
    """One attribute with many groups of all kinds of names, and five steps."""
    kinds = ("العربية", "日本語", "x", "xx", "word ", "-", "x" * 20)
    names = [f"Gruppe {i} {kinds[i % 7] * (1 + i % 11)}" for i in range(n)]
    document = report_example.document()
    applicants = {name: 50 + 11 * i for i, name in enumerate(names)}
    steps = ["phone screen", "on-site interview", "second interview", "offer", "hired"]
    reached = {"applied": applicants} | {
        step: {name: a // (k + 1) for name, a in applicants.items()} for k, step in enumerate(steps, 1)
    }
    document["steps"] = steps
    document["scope"]["reached"] = {step: sum(reached[step].values()) for step in steps}
    document["groups"] = [
        {"attribute": "Gender", "name": name, "applicants": a, "steps": {step: reached[step][name] for step in reached}}
        for name, a in applicants.items()
    ]
    document["funnel"] = [{"step": step, "by_group": {"Gender": numbers}} for step, numbers in reached.items()]
    by_group = {name: {"candidates": a, "inspected": a // 2, "selected": a // 6} for name, a in applicants.items()}
    for part in (document["firm"], document["unconstrained"], *document["constrained"]):
        part["by_group"] = {"Gender": by_group}
    female, male = document["disparity"]["tables"][0]["groups"]
    rows = [
        {**(female if name != names[-1] else male), "group": name, "applicants": a, "selected": a // 3}
        for name, a in applicants.items()
    ]
    document["disparity"]["tables"] = [
        {**document["disparity"]["tables"][0], "step": step, "kind": kind, "reference": names[-1], "groups": rows}
        for kind in ("cumulative", "conditional")
        for step in steps[kind == "conditional" :]
    ]
    return document


PATIENCE = 300
"""Seconds to wait for a browser or a server: the machine may be busy."""

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@cache
def context_of(browser: Browser, **options: Any) -> BrowserContext:
    """One context for all pages with these options: to open another takes Chromium a second."""
    context = browser.new_context(**options)
    context.new_page()  # keeps its window open
    return context


def tab(
    browser: Browser,
    viewport: ViewportSize | None = None,
    color_scheme: Literal["light", "dark"] = "light",
    **options: Any,
) -> BrowserPage:
    """A new page of this size and scheme."""
    page = context_of(browser, **options).new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.set_viewport_size(viewport or {"width": 1280, "height": 720})
    page.emulate_media(color_scheme=color_scheme)
    return page


class Watched:
    """A page, and everything it did that it should not."""

    def __init__(self, browser: Browser, path: Path, **options: Any) -> None:
        self.complaints: list[str] = []
        self.page = tab(browser, **options)
        self.page.on("console", lambda message: self.complaints.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self.complaints.append(f"request: {request.url}"))
        self.page.goto(path.as_uri())
        assert self.complaints.pop(0) == f"request: {path.as_uri()}"
