"""When a scheduled audit runs: `monday@06:00` and the like, as a cron expression and as systemd's calendar events.

    daily@06:00   weekdays@06:00   monday@06:00   mon,thu@06:00   weekly   monthly@1T06:00   hourly   "0 6 * * 1"

The default time is 06:00. Times are in the machine's time zone; CI services run in UTC.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from auditkit.errors import InputError, Problem, nearest

DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WORDS = ("daily", "weekdays", "weekly", "monthly", "hourly")
FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day of the month", 1, 31), ("month", 1, 12), ("day of the week", 0, 7))
DEFAULT = "06:00"
EXAMPLES = "write for example monday@06:00, daily@22:30, monthly@1T06:00, or a cron expression of five fields"


@dataclass(frozen=True)
class Recurrence:
    """`cron` has five fields; `calendar` is what systemd's OnCalendar= understands, any of them."""

    text: str
    cron: str
    calendar: tuple[str, ...]


def parse(text: str) -> Recurrence:
    """Raises InputError that says what is wrong and gives examples."""
    words = text.split()
    if len(words) == len(FIELDS):
        return _of_cron(text, " ".join(words))
    if len(words) != 1:
        raise _wrong(text, f"has {len(words)} fields" if words else "is empty")
    what, at, rest = text.strip().lower().partition("@")
    if at and not rest:
        raise _wrong(text, "has no time after @")
    if what == "hourly":
        if at:
            raise _wrong(text, "hourly takes no time")
        return _of_cron(text, "0 * * * *")
    if what == "monthly":
        day, between, time = rest.rpartition("T".lower())
        number = day if between else "1"
        if not number.isdecimal() or not 1 <= int(number) <= 28:
            raise _wrong(text, f"{number!r} is not a day in every month (1 to 28)")
        hour, minute = _time(text, time or DEFAULT)
        return _of_cron(text, f"{minute} {hour} {int(number)} * *")
    hour, minute = _time(text, rest or DEFAULT)
    if what == "daily":
        return _of_cron(text, f"{minute} {hour} * * *")
    if what == "weekdays":
        return _of_cron(text, f"{minute} {hour} * * 1-5")
    numbers = sorted({_day(text, name) for name in ("monday" if what == "weekly" else what).split(",")})
    return _of_cron(text, f"{minute} {hour} * * {','.join(map(str, numbers))}")


def _wrong(text: str, what: str, fix: str = EXAMPLES) -> InputError:
    return InputError(Problem(f"--every {text!r}", what, fix))


def _time(text: str, time: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,2}):(\d{2})", time)
    if found is None or int(found[1]) > 23 or int(found[2]) > 59:
        raise _wrong(text, f"{time!r} is not a time of day from 00:00 to 23:59")
    return int(found[1]), int(found[2])


def _day(text: str, name: str) -> int:
    matches = [i for i, day in enumerate(DAYS) if name in (day, day[:3])]
    if not matches:
        raise _wrong(text, f"{name!r} is not a day", f"{nearest(name, [*DAYS, *WORDS])} {EXAMPLES}")
    return matches[0]


# Cron -----------------------------------------------------------------------------------------------------------------


def _of_cron(text: str, cron: str) -> Recurrence:
    minute, hour, day, month, weekday = (_values(text, field, i) for i, field in enumerate(cron.split()))
    weekday = sorted({value % 7 for value in weekday})
    dates = f"*-{_list(month, 1, 12)}-{_list(day, 1, 31)}"
    time = f"{_list(hour, 0, 23)}:{_list(minute, 0, 59)}:00"
    names = ",".join(DAYS[i][:3].capitalize() for i in weekday) if len(weekday) < 7 else ""
    _, _, days, _, weekdays = cron.split()
    if days.startswith("*") or weekdays.startswith("*"):
        return Recurrence(text, cron, (f"{names} {dates} {time}".strip(),))
    # cron runs when either matches, systemd when both do
    either = (
        f"*-{_list(month, 1, 12)}-{_list(day, 1, 31)} {time}",
        f"{names} *-{_list(month, 1, 12)}-* {time}".strip(),
    )
    return Recurrence(text, cron, either)


def _values(text: str, field: str, place: int) -> list[int]:
    """The numbers that a field of a cron expression means."""
    name, low, high = FIELDS[place]
    found: set[int] = set()
    for part in field.lower().split(","):
        match = re.fullmatch(r"(\*|[a-z0-9]+(?:-[a-z0-9]+)?)(?:/(\d+))?", part)
        if match is None or match[2] == "0" or (match[2] and match[1] != "*" and "-" not in match[1]):
            raise _wrong(text, f"{part!r} is not a valid {name} of a cron expression", "*, a, a-b, a,b, */n or a-b/n")
        if match[1] == "*":
            first, last = low, high - (place == 4)
        else:
            ends = [_number(text, end, place) for end in match[1].split("-")]
            first, last = ends[0], ends[-1]
        if first > last:
            raise _wrong(text, f"{part!r}: the {name} {first} is after {last}", "write the smaller one first")
        found |= set(range(first, last + 1, int(match[2] or 1)))
    return sorted(found)


def _number(text: str, word: str, place: int) -> int:
    name, low, high = FIELDS[place]
    names = {3: MONTHS, 4: tuple(day[:3] for day in DAYS)}.get(place, ())
    if word in names:
        return names.index(word) + (place == 3)
    if not word.isdecimal() or not low <= int(word) <= high:
        raise _wrong(text, f"{word!r} is not a valid {name} (from {low} to {high})")
    return int(word)


def _list(values: list[int], low: int, high: int) -> str:
    return "*" if values == list(range(low, high + 1)) else ",".join(f"{value:02d}" for value in values)
