"""A matplotlib figure as a small piece of inline SVG: text stays text, colours follow the page, bytes repeat.

Figures are drawn in the light colours below. On the way out each becomes `var(--chart-x,#light)`, so that a style sheet
can give it another value in the dark; WeasyPrint reads no style sheet inside an SVG and gets the light one (`lit`).
Lengths are pixels of the drawing. Matplotlib is loaded when the first figure is made.
"""

from __future__ import annotations

import io
import re
import unicodedata
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 360
"""Of every chart: two stand beside each other on a page, one on a phone, at about the size they are drawn."""

SIZE = 11.0
FAMILY = "Liberation Sans, Arial, Helvetica, DejaVu Sans Condensed, sans-serif"
"""For the PDF; the HTML page lets its own family take over."""

INK, MUTED, GRID, FILL = "#1d2733", "#5a6572", "#d8dde3", "#8fa3b8"
GROUPS = ("#0068a8", "#d1560a", "#562548", "#5b9e93", "#4d4d0c", "#723cd8")
MARKERS = ("o", "s", "^", "D", "v", "P")
"""Colour is never the only difference between two groups."""

VARIABLES = {
    INK: "--chart-ink",
    MUTED: "--chart-muted",
    GRID: "--chart-grid",
    FILL: "--chart-fill",
    **{colour: f"--chart-{i}" for i, colour in enumerate(GROUPS, 1)},
}
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "auditkit",
    "text.parse_math": False,  # a group may be called "$x$"
    "font.family": "DejaVu Sans",
    "font.size": SIZE,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.linewidth": 1.0,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.unicode_minus": True,
    "text.color": INK,
    "xtick.color": GRID,
    "xtick.labelcolor": MUTED,
    "xtick.labelsize": SIZE - 0.5,
    "ytick.color": GRID,
    "ytick.labelcolor": MUTED,
    "ytick.labelsize": SIZE - 0.5,
    "ytick.major.size": 0,
}
SVG = "http://www.w3.org/2000/svg"
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of whatever follows: names of people's groups may hold any."""

HREF = "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True)
class Chart:
    """One drawing; `title` and `description` are also inside the SVG, for those who do not see it."""

    id: str
    title: str
    description: str
    svg: str


@contextmanager
def drawing() -> Iterator[None]:
    """Matplotlib with the settings of the report and no others, not even the user's."""
    import matplotlib

    with warnings.catch_warnings(), matplotlib.rc_context():
        warnings.filterwarnings("ignore", message="Glyph")  # the reader's fonts may have it; ours only measures
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


def figure(height: float) -> Figure:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    made = Figure(figsize=(WIDTH / 72, height / 72), dpi=72, facecolor="none")
    FigureCanvasSVG(made)
    return made


def axes(fig: Figure, top: float, height: float, left: float = 1, right: float = 1) -> Axes:
    """A plot area `top` pixels below the upper edge."""
    whole = fig.get_figheight() * 72
    box = (left / WIDTH, 1 - (top + height) / whole, (WIDTH - left - right) / WIDTH, height / whole)
    return fig.add_axes(box, facecolor="none")


def label(text: object, most: int = 46) -> str:
    """A name as a drawing can hold it: one line, not too long, no control characters. Tables have it in full."""
    line = " ".join("".join(c if unicodedata.category(c)[0] != "C" else " " for c in str(text)).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def chart(fig: Figure, id: str, title: str, description: str) -> Chart:
    """The finished drawing."""
    buffer = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    fig.savefig(buffer, format="svg", metadata=nothing)
    title, description = label(title, 300), label(description, 2000)
    return Chart(id, title, description, _tidy(_UNSEEN.sub(" ", buffer.getvalue()), id, title, description))


def lit(html: str) -> str:
    """The page with the light colours written out inside its drawings."""
    return re.sub(
        r"<svg\b.*?</svg>", lambda svg: re.sub(r"var\(--[\w-]+,\s*([^()]+)\)", r"\1", svg[0]), html, flags=re.S
    )


def _tidy(text: str, id: str, title: str, description: str) -> str:
    root = ET.fromstring(text)
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    for parent in list(root.iter()):
        for child in list(parent):
            child.tag = child.tag.removeprefix(f"{{{SVG}}}")
            if child.tag in ("style", "metadata") or child.get("style") == "fill: none":
                parent.remove(child)
    for element in root.iter():
        _shorten(element, id, used)
    _unwrap(root)
    view = root.attrib["viewBox"]
    root.attrib.clear()
    root.tag = "svg"
    root.attrib |= {
        "id": id,
        "viewBox": view,
        "role": "img",
        "aria-labelledby": f"{id}-title {id}-desc",
        "font-family": FAMILY,
        "stroke-linejoin": "round",
    }
    for i, (tag, words) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(tag, {"id": f"{id}-{tag}"})
        element.text = words
        root.insert(i, element)
    return ET.tostring(root, encoding="unicode")


def _shorten(element: ET.Element, id: str, used: set[str]) -> None:
    element.tail = None
    if element.tag != "text":
        element.text = None
    attributes, element.attrib = element.attrib, {}
    for name, value in attributes.items():
        if name == "id":
            if value in used:
                element.set("id", f"{id}-{value}")
        elif name == HREF:
            element.set("href", f"#{id}-{value[1:]}")
        elif name == "clip-path":
            element.set(name, value.replace("#", f"#{id}-"))
        elif name == "style":
            _restyle(element, value)
        elif name == "d":
            element.set(name, _rounded(" ".join(value.split())))
        elif not (name == "transform" and value.startswith("rotate(-0 ")):
            element.set(name, _rounded(value))


def _restyle(element: ET.Element, style: str) -> None:
    """Colours stay in the style, where variables work; the rest become attributes, except the family."""
    kept = []
    for part in style.split("; "):
        name, _, value = part.partition(": ")
        if value in VARIABLES:
            kept.append(f"{name}:var({VARIABLES[value]},{value})")
        elif name != "font-family" and (name, value) not in (
            ("stroke-linejoin", "miter"),
            ("stroke-linecap", "square"),
        ):
            element.set(name, value.removesuffix("px"))
    if kept:
        element.set("style", ";".join(kept))


def _rounded(text: str) -> str:
    return re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), text)


def _unwrap(element: ET.Element) -> None:
    """Drops groups that say nothing, and those that are empty."""
    children = []
    for child in element:
        _unwrap(child)
        if child.tag == "g" and not child.attrib:
            children += list(child)
        elif child.tag not in ("g", "defs") or len(child):
            children.append(child)
    element[:] = children
