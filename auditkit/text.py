"""Write numbers, percentages, dates and lists as text: in reports, notebooks, terminal tables and sentences.

    percent      12.3 %; only exactly 0 is "0 %" (else < 0.1 %), only exactly 1 is "100 %" (else > 99.9 %)
    ratio        0.668; as many decimals as keep it on its side of a line (0.79996 against 4/5 is not 0.800)
    measured     a ratio with as many decimals as the width of its interval warrants
    p_value      the same against the significance level
    expected     an expected number of people, one decimal
    amount       utilities in the user's unit, about three significant digits
    brief        three significant digits, for sentences
    roughly      two, for a number of people that is an order of magnitude
    number       six significant digits, for the cells of a table

Rounding never moves a number across a line that matters, and no number but 0 is written as 0. None is "not available"
("-" in a table). No-break spaces join numbers and units; minus is the minus sign.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from itertools import chain
from typing import Any

NOT_AVAILABLE = "not available"
NO_CELL = "-"
NBSP = "\u00a0"
MINUS = "\u2212"
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def count(x: float | None) -> str:
    """A count of things."""
    if x is None:
        return NOT_AVAILABLE
    return _decimal(x, 0) if float(x).is_integer() else expected(x)


def expected(x: float | None) -> str:
    """An expected number of people, with one decimal; a fraction of a person is never rounded to none."""
    return NOT_AVAILABLE if x is None else _careful(x, 1)


def percent(x: float | None, decimals: int = 1) -> str:
    """A share; exactly 0 and 1 are the only ones written without decimals."""
    if x is None:
        return NOT_AVAILABLE
    if x in (0, 1):
        return f"{100 * abs(x):.0f}{NBSP}%"
    unit = 10**-decimals
    if x < 1 and round(100 * x, decimals) >= 100:
        return f">{NBSP}{_decimal(100 - unit, decimals)}{NBSP}%"
    if x > 1 and round(100 * x, decimals) <= 100:
        return f">{NBSP}100{NBSP}%"
    return f"{_careful(100 * x, decimals)}{NBSP}%"


def ratio(x: float | None, line: float | None = None, decimals: int = 3) -> str:
    """A pure number, kept apart from 1 and from `line`.

    >>> ratio(0.66789), ratio(0.79996), ratio(0.79996, line=0.8)
    ('0.668', '0.800', '0.79996')
    """
    return NOT_AVAILABLE if x is None else _apart(x, decimals, [1.0] if line is None else [1.0, line])


def measured(x: float | None, bounds: Sequence[float | None] | None, line: float | None = None) -> str:
    """A ratio with as many decimals as its interval warrants.

    >>> measured(0.7611, (0.631, 0.916)), measured(0.7611, (0.7501, 0.7703)), measured(0.79996, (0.5, 1.2), 0.8)
    ('0.76', '0.761', '0.79996')
    """
    return NOT_AVAILABLE if x is None else ratio(x, line, decimals_of(bounds))


def decimals_of(bounds: Sequence[float | None] | None) -> int:
    """How many decimals a number with this interval gets: as many as its width warrants, from two to four."""
    if bounds is None:
        return 2
    low, high = bounds
    if low is None or high is None or not high > low:
        return 2
    return min(4, max(2, 1 - math.floor(math.log10(high - low))))


def p_value(p: float | None, level: float | None = 0.05) -> str:
    """Three decimals, or more close to the level; tiny values become a bound."""
    if p is None:
        return NOT_AVAILABLE
    if p < 0.0001:
        return f"<{NBSP}0.0001"
    return _apart(p, 4 if p < 0.001 else 3, [] if level is None else [level])


def decimals(x: float, digits: int = 2) -> str:
    """A number with this many decimals; only zero is written as zero."""
    return _careful(x, digits)


def signed(x: float | None, decimals: int = 2) -> str:
    """A number of standard deviations or the like, with its sign."""
    if x is None:
        return NOT_AVAILABLE
    text = _careful(x, decimals)
    return f"+{text}" if x > 0 and text[0].isdigit() else text


def amount(x: float | None) -> str:
    """Money, points or whatever the utilities are measured in.

    >>> amount(1234.5), amount(12.345), amount(0.012345)
    ('1,234', '12.3', '0.0123')
    """
    if x is None:
        return NOT_AVAILABLE
    if x == 0:
        return "0"
    size = abs(x)
    if size < 1e-4 or size >= 1e12:
        return scientific(x)
    power = math.floor(math.log10(size))
    return _decimal(x, 0 if power >= 3 else 1 if power >= 1 else 2 - power)


def amount_like(x: float | None, bounds: Sequence[float | None] | None) -> str:
    """A number with an interval, or an end of one, with as many decimals as its width warrants.

    >>> amount_like(2.3e-07, (2.3e-07, 6.21)), amount_like(6.21, (2.3e-07, 6.21)), amount_like(299.4, (120.5, 480.1))
    ('<\xa00.1', '6.2', '299')
    """
    low, high = bounds or (None, None)
    if x is None or low is None or high is None or not high > low:
        return amount(x)
    return "0" if x == 0 else _careful(x, max(0, 1 - math.floor(math.log10(high - low))))


def scientific(x: float | None) -> str:
    """A gap: two digits and a power of ten."""
    if x is None:
        return NOT_AVAILABLE
    if x == 0:
        return "0"
    mantissa, power = f"{abs(x):.1e}".split("e")
    return f"{MINUS if x < 0 else ''}{mantissa}{NBSP}×{NBSP}10{str(int(power)).translate(SUPERSCRIPT)}"


def number(x: object) -> str:
    """A table cell: six significant digits, kept apart from 1; "-" for no number; text as it is."""
    if x is None or x != x:
        return NO_CELL
    if isinstance(x, bool) or not isinstance(x, int | float):
        return str(x)
    return _decimal(x, 0) if float(x).is_integer() else _significant(x, 6, (1.0,))


def cell_percent(x: float | None, decimals: int = 2) -> str:
    """A share in a table cell."""
    return NO_CELL if x is None or x != x else percent(x, decimals)


def roughly(n: float | None) -> str:
    """A number of people known only to an order of magnitude: two digits.

    >>> roughly(3834), roughly(887), roughly(7)
    ('3,800', '890', '7')
    """
    return NOT_AVAILABLE if n is None else count(to_digits(n, 2))


def to_digits(x: float, digits: int) -> float:
    """A number rounded to this many significant digits."""
    return float(f"{x:.{digits}g}")


def brief(x: float, *lines: float) -> str:
    """Three significant digits as a person would write them, or more if x would otherwise meet one of `lines`."""
    return _significant(x, 3, lines)


def tick_number(x: float) -> str:
    """A number on an axis, where ticks are round."""
    return plain(round(x, 9) + 0.0)


def tick_percent(x: float) -> str:
    """A share on an axis."""
    return f"{plain(round(100 * x, 6) + 0.0)}{NBSP}%"


def plain(x: float | None) -> str:
    """A setting as the user wrote it: 0.05."""
    return NOT_AVAILABLE if x is None else f"{x:,.10g}".replace("-", MINUS)


def exact(x: float | None) -> str:
    """A value to be compared digit by digit."""
    return NOT_AVAILABLE if x is None else f"{x:,.12g}".replace("-", MINUS)


def interval(bounds: Sequence[float | None] | None, form: Callable[[float | None], str] = ratio) -> str:
    """Two ends, either of which may be missing."""
    if bounds is None:
        return NOT_AVAILABLE
    low, high = bounds
    if low is None:
        return NOT_AVAILABLE if high is None else f"up to {form(high)}"
    if high is None:
        return f"{form(low)} or more"
    first, last = form(low), form(high)
    unit = f"{NBSP}%"
    if first.endswith(unit) and last.endswith(unit):
        first = first.removesuffix(unit)
    return f"{first} to {last}"


def fraction(x: float | None) -> str:
    """0.8 as 4/5, if it's exactly that."""
    if x is None:
        return NOT_AVAILABLE
    near = Fraction(x).limit_denominator(20)
    return str(near) if float(near) == x else ratio(x)


def day(text: str | None) -> str:
    """An ISO date or moment as 16 November 2026."""
    if text is None:
        return NOT_AVAILABLE
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{date.day}{NBSP}{MONTHS[date.month - 1]}{NBSP}{date.year}"


def moment(text: str | None) -> str:
    """An ISO moment as 16 November 2026, 06:00 UTC."""
    if text is None:
        return NOT_AVAILABLE
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return text
    offset = date.utcoffset()
    zone = "" if offset is None else f"{NBSP}UTC" if not offset else f"{NBSP}UTC{date:%z}"
    return f"{day(text)}, {date:%H:%M}{zone}"


def listing(names: Iterable[object], most: int | None = None) -> str:
    """a, b and c; names beyond `most` are only counted."""
    texts = [str(name) for name in names]
    if most is not None and len(texts) > most:
        texts = [*texts[:most], f"{len(texts) - most} more"]
    return " and ".join(chain([", ".join(texts[:-1])] if texts[1:] else [], texts[-1:]))


def noun(n: float | None, one: str, many: str | None = None) -> str:
    """row for 1, rows for 2."""
    return one if n == 1 else many or f"{one}s"


def plural(n: float | None, one: str, many: str | None = None) -> str:
    """1 row, 2 rows."""
    return f"{count(n)} {noun(n, one, many)}"


def indefinite(one: str) -> str:
    """A step, an outcome."""
    return f"{'an' if one[:1].lower() in 'aeiou' else 'a'} {one}"


def each_row(row: str) -> str:
    """What a row of the data is: `one row per application`, or `rows of counts`."""
    return "rows of counts" if row == "counts" else f"one row per {row}"


def file_name(path: str | None) -> str:
    """The last part of any system's path: reports don't show where a file was."""
    return NOT_AVAILABLE if path is None else path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path


def sentence(text: object) -> str:
    """With a capital first letter, and nothing else changed."""
    words = str(text)
    return words[:1].upper() + words[1:]


def spaced(code: object) -> str:
    """A code as words: repeated-row is repeated row."""
    return str(code).replace("-", " ").replace("_", " ")


_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff"
)
"""Control characters but tab and line feed, direction marks, invisible signs and halves of characters."""

_IN_TEXT, _IN_LINE = re.compile(f"[{_UNSEEN}]"), re.compile(f"[\t\n{_UNSEEN}]")


def printable(text: object) -> str:
    """One line, with characters escaped that move the cursor, change the writing direction or are invisible.

    A name in the data must not control the terminal, nor look like another line or another name. The escapes are
    JSON's, so that a document stays the same document.
    """
    return _IN_LINE.sub(_escape, str(text))


def printable_lines(text: str) -> str:
    """Like `printable`, for text of several lines."""
    return _IN_TEXT.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    sign = found.group()
    known = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return known.get(sign) or json.dumps(sign)[1:-1].replace("\x7f", "\\u007f")


def as_unicode(name: str) -> str:
    """The name of a file as text; bytes that are not UTF-8 are escaped."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def visible(separator: str) -> str:
    """A separator, made visible."""
    names = {"\t": "tab", ",": "comma (,)", ";": "semicolon (;)", "|": "bar (|)", " ": "space"}
    return names.get(separator, separator)


def flat(value: Any, key: str = "") -> list[tuple[str, str]]:
    """Nested settings as dotted keys and texts, for a table."""
    if isinstance(value, Mapping) and value:
        return [row for name, part in value.items() for row in flat(part, f"{key}.{name}" if key else str(name))]
    if isinstance(value, list | tuple) and any(isinstance(part, Mapping | list | tuple) for part in value):
        return [row for i, part in enumerate(value, 1) for row in flat(part, f"{key}[{i}]")]
    if isinstance(value, list | tuple):
        return [(key, ", ".join(map(_setting, value)) or "none")]
    return [(key, "none" if isinstance(value, Mapping) else _setting(value))]


def settings(value: Any) -> list[tuple[str, str]]:
    """Like `flat`, with the names of all unset settings in one last row."""
    rows = flat(value)
    unset = [name for name, told in rows if told is NOT_SET]
    kept = [row for row in rows if row[1] is not NOT_SET]
    return [*kept, (NOT_SET, ", ".join(unset))] if unset else kept


NOT_SET = "not set"


def _setting(value: object) -> str:
    if value is None or value == "":
        return NOT_SET
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _decimal(x: float, decimals: int) -> str:
    text = f"{abs(x):,.{decimals}f}"
    return f"{MINUS if x < 0 and float(text.replace(',', '')) else ''}{text}"


def _careful(x: float, decimals: int) -> str:
    """Rounded, but only zero is written as zero."""
    unit = 10**-decimals
    if 0 < abs(x) < unit / 2:
        return f"<{NBSP}{_decimal(unit, decimals)}" if x > 0 else f">{NBSP}{_decimal(-unit, decimals)}"
    return _decimal(x, decimals)


def _apart(x: float, decimals: int, lines: Sequence[float]) -> str:
    """With the fewest decimals, from those given, that keep x on its side of every line."""
    for places in range(decimals, 9):
        if _same_side(round(x, places), x, lines):
            return _careful(x, places)
    return _beyond(x, lines, lambda line: _decimal(line, decimals))


def _significant(x: float, digits: int, lines: Sequence[float]) -> str:
    """With the fewest significant digits, from those given, that keep x on its side of every line."""
    for n in range(digits, 13):
        rounded = float(f"{x:.{n}g}")
        if not _same_side(rounded, x, lines):
            continue
        size = abs(rounded)
        if not 1e-4 <= size < 1e15:
            return f"{MINUS if x < 0 else ''}{abs(x):.{n}g}"
        decimals = max(0, n - 1 - math.floor(math.log10(size)))
        text = _decimal(x, decimals)
        return text.rstrip("0").rstrip(".") if decimals else text
    return _beyond(x, lines, plain)


def _same_side(rounded: float, x: float, lines: Iterable[float]) -> bool:
    return all((rounded < line) == (x < line) and (rounded > line) == (x > line) for line in lines)


def _beyond(x: float, lines: Iterable[float], form: Callable[[float], str]) -> str:
    """Which side of the nearest line x is on, if digits can't show it."""
    line = min(lines, key=lambda line: abs(line - x))
    return f"{'<' if x < line else '>'}{NBSP}{form(line)}"
