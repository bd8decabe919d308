"""Charts as small pieces of inline SVG, written directly: text stays text, colours follow the page, bytes repeat.

Lengths are pixels from the upper left corner of a drawing; an `Area` says where numbers fall on it and draws its axes.
Each colour is written as `var(--chart-x,#light)`, so that a style sheet can give it another value in the dark;
WeasyPrint reads no style sheet inside an SVG and gets the light one (`lit`).
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

WIDTH = 360
"""Of every chart: two fit side by side on a page, one on a phone, at about the size they are drawn."""

SIZE = 11.0
FAMILY = "Liberation Sans, Arial, Helvetica, DejaVu Sans Condensed, sans-serif"
"""For the PDF; the HTML page lets its own family take over."""

INK, MUTED, GRID, FILL = "#1d2733", "#5a6572", "#d8dde3", "#8fa3b8"
GROUPS = ("#0068a8", "#d1560a", "#562548", "#5b9e93", "#4d4d0c", "#723cd8")
MARKERS = ("circle", "square", "up", "diamond", "down", "plus")
"""Colour is never the only difference between two groups."""

VARIABLES = {
    INK: "--chart-ink",
    MUTED: "--chart-muted",
    GRID: "--chart-grid",
    FILL: "--chart-fill",
    **{colour: f"--chart-{i}" for i, colour in enumerate(GROUPS, 1)},
}
OUTLINES = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "up": ((-1, 1), (0, -1), (1, 1)),
    "down": ((-1, -1), (0, 1), (1, -1)),
    "diamond": ((0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)),
    "plus": tuple((x / 3, y / 3) for x, y in (
        *((-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1)),
        *((1, 3), (-1, 3), (-1, 1), (-3, 1), (-3, -1), (-1, -1)),
    )),
}  # fmt: skip
"""Corners of the markers, in halves of their size; a circle has none."""
STEPS = (1, 2, 2.5, 5, 10)
"""Ticks are multiples of these, times a power of ten."""
ANCHORS = {"left": "", "middle": ' text-anchor="middle"', "right": ' text-anchor="end"'}
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Control characters, and those that turn the direction of whatever follows: names of people's groups may hold any."""

Point = tuple[float, float]
Form = Callable[[float], str]


@dataclass(frozen=True)
class Chart:
    """One drawing; `title` and `description` are also inside the SVG, for those who do not see it."""

    id: str
    title: str
    description: str
    svg: str


class Drawing:
    """A chart in the making: shapes in the order of their layers, and of their drawing within a layer."""

    def __init__(self, height: float) -> None:
        self.height = height
        self._shapes: list[tuple[int, str]] = []

    def line(self, points: Sequence[Point], colour: str, width: float = 1.0, dashes: str = "", layer: int = 2) -> None:
        """From point to point; `dashes` are lengths of strokes and gaps."""
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        form = f'fill="none" stroke-width="{_short(width)}"{dashed}'
        self._add(layer, f'<path d="{_path(points)}" {form} style="stroke:{_colour(colour)}"/>')

    def polygon(self, points: Sequence[Point], colour: str, layer: int = 2) -> None:
        """A filled area."""
        self._add(layer, f'<path d="{_path(points)}z"{_filled(colour)}/>')

    def bar(self, left: float, right: float, y: float, height: float, colour: str, layer: int = 2) -> None:
        """A horizontal bar, y its middle."""
        top, bottom = y - height / 2, y + height / 2
        self.polygon(((left, top), (right, top), (right, bottom), (left, bottom)), colour, layer)

    def mark(self, x: float, y: float, marker: str, colour: str, size: float) -> None:
        """A marker around a point."""
        radius = (size + 1) / 2
        if marker == "circle":
            place = f'cx="{_short(x)}" cy="{_short(y)}" r="{_short(radius)}"'
            self._add(3, f"<circle {place}{_filled(colour)}/>")
        else:
            self.polygon([(x + radius * dx, y + radius * dy) for dx, dy in OUTLINES[marker]], colour, 3)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        side: str = "left",
        colour: str = INK,
        *,
        bold: bool = False,
        size: float = SIZE,
    ) -> None:
        """Words that begin (or have their middle, or end) at x, their base line at y."""
        words = html.escape(_UNSEEN.sub(" ", text), quote=False)
        form = f'font-size="{_short(size)}"{ANCHORS[side]}' + (' font-weight="700"' if bold else "")
        self._add(4, f'<text x="{_short(x)}" y="{_short(y)}" {form}{_filled(colour)}>{words}</text>')

    def _add(self, layer: int, shape: str) -> None:
        self._shapes.append((layer, shape))

    @property
    def shapes(self) -> str:
        return "".join(shape for _, shape in sorted(self._shapes, key=lambda one: one[0]))


class Area:
    """A plot area of a drawing, `top` pixels below its upper edge: the numbers of `across` go from left to right, those
    of `up` from the bottom to the top."""

    def __init__(
        self,
        drawing: Drawing,
        top: float,
        height: float,
        across: Point = (0, 1),
        up: Point = (0, 1),
        left: float = 1,
        right: float = 1,
    ) -> None:
        self.drawing, self.top, self.bottom, self.left, self.right = drawing, top, top + height, left, WIDTH - right
        self.across, self.up = across, up

    def x(self, number: float) -> float:
        low, high = self.across
        return self.left + (self.right - self.left) * (number - low) / (high - low or 1)

    def y(self, number: float) -> float:
        low, high = self.up
        return self.bottom - (self.bottom - self.top) * (number - low) / (high - low or 1)

    def points(self, numbers: Sequence[Point]) -> list[Point]:
        return [(self.x(x), self.y(y)) for x, y in numbers]

    def level(self, y: float, colour: str, width: float = 1.0, dashes: str = "", layer: int = 1) -> None:
        """A line from side to side at a pixel."""
        self.drawing.line(((self.left, y), (self.right, y)), colour, width, dashes, layer)

    def upright(self, number: float, colour: str, width: float = 1.0, dashes: str = "") -> None:
        """A line from top to bottom at a number."""
        x = self.x(number)
        self.drawing.line(((x, self.bottom), (x, self.top)), colour, width, dashes)

    def x_axis(
        self, title: str, form: Form, most: int = 5, at: Sequence[float] | None = None, *, numbers: bool = True
    ) -> None:
        """The lower edge with its ticks: about `most`, or those that are given."""
        self.level(self.bottom, GRID)
        for number in ticks(*self.across, most) if at is None else at:
            x = self.x(number)
            self.drawing.line(((x, self.bottom), (x, self.bottom + 3)), GRID, layer=1)
            if numbers:
                self.drawing.text(x, self.bottom + 15, form(number), "middle", MUTED, size=SIZE - 0.5)
        self.drawing.text((self.left + self.right) / 2, self.bottom + 30, title, "middle", MUTED)

    def y_axis(self, form: Form, most: int = 5, *, skip_lowest: bool = False) -> None:
        """Lines across at about `most` numbers, which are written to the left."""
        for number in ticks(*self.up, most)[1 if skip_lowest else 0 :]:
            y = self.y(number)
            self.level(y, GRID, 0.7, layer=0)
            self.drawing.text(self.left - 4, y + 3.8, form(number), "right", MUTED, size=SIZE - 0.5)


def ticks(low: float, high: float, most: int) -> list[float]:
    """The multiples of a round number from low to high that make at most so many intervals."""
    least = (high - low) / most
    if not least > 0 or not math.isfinite(least):
        return [low]
    power = math.floor(math.log10(least))
    step = next(s * 10.0**p for p in (power, power + 1) for s in STEPS if s * 10.0**p >= least * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [n * step for n in range(first, last + 1)]


def spread(numbers: Sequence[float], room: float = 0.05) -> Point:
    """From the least to the largest, with room at both ends."""
    low, high = min(numbers), max(numbers)
    room *= (high - low) or abs(high) or 1.0
    return low - room, high + room


def label(text: object, most: int = 46) -> str:
    """A name as a drawing can hold it: one line, not too long, no control characters. Tables have it in full."""
    line = " ".join("".join(c if unicodedata.category(c)[0] != "C" else " " for c in str(text)).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def chart(drawing: Drawing, id: str, title: str, description: str) -> Chart:
    """The finished drawing."""
    title, description = label(title, 300), label(description, 2000)
    head = f'id="{id}" viewBox="0 0 {WIDTH} {_short(drawing.height)}" role="img" aria-labelledby="{id}-title {id}-desc"'
    style = f'font-family="{FAMILY}" stroke-linejoin="round" style="fill:{_colour(INK)}"'
    said = "".join(
        f'<{tag} id="{id}-{tag}">{html.escape(words, quote=False)}</{tag}>'
        for tag, words in (("title", title), ("desc", description))
    )
    return Chart(id, title, description, f"<svg {head} {style}>{said}{drawing.shapes}</svg>")


def lit(html: str) -> str:
    """The page with the light colours written out inside its drawings."""
    return re.sub(
        r"<svg\b.*?</svg>", lambda svg: re.sub(r"var\(--[\w-]+,\s*([^()]+)\)", r"\1", svg[0]), html, flags=re.S
    )


def _colour(light: str) -> str:
    return f"var({VARIABLES[light]},{light})"


def _filled(colour: str) -> str:
    """Ink is the colour of the whole drawing."""
    return "" if colour == INK else f' style="fill:{_colour(colour)}"'


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in points)


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
