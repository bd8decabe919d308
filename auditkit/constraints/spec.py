"""Constraint SPECs of the command line: `name` or `name:key=value,key=value`.

A value is read as JSON if possible, otherwise as a number or a word; commas inside brackets or quotes don't separate
keys, so `parity:groups=["F","M"]` and `affine:terms=[{"candidate": "a", ...}],sense=<=,bound=1` work.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from auditkit.errors import InputError, Problem

_NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)\.\d*|\.\d+)")
"""Numbers that people write and JSON doesn't know: .5, 5. and +0.5."""


def parse(spec: str) -> dict[str, object]:
    """The keys of a SPEC with its `type`, as in a TOML `[[constraints]]` table.

    >>> parse('parity:groups=["F", "M"],tolerance=0.1,on=inspection')
    {'type': 'parity', 'groups': ['F', 'M'], 'tolerance': 0.1, 'on': 'inspection'}
    """
    name, _, rest = spec.partition(":")
    keys: dict[str, object] = {"type": name.strip()}
    for part in _split(rest) if rest.strip() else []:
        key, sign, value = part.partition("=")
        if not sign or not key.strip():
            raise InputError(Problem(f"--constraint {spec!r}", f"{part.strip()!r} is not key=value"))
        if key.strip() in keys:
            raise InputError(Problem(f"--constraint {spec!r}", f"the key {key.strip()!r} occurs twice"))
        keys[key.strip()] = _value(value.strip())
    return keys


def render(keys: Mapping[str, object]) -> str:
    """The SPEC that `parse` reads as these keys.

    >>> render({"type": "quota", "group": "F", "share": 0.4})
    'quota:group=F,share=0.4'
    """
    rest = ",".join(f"{key}={_text(value)}" for key, value in keys.items() if key != "type")
    return f"{keys['type']}:{rest}" if rest else str(keys["type"])


def _text(value: object) -> str:
    plain = isinstance(value, str) and value and value == value.strip() and not set(value) & set(',"[]{}=')
    return str(value) if plain and _value(str(value)) == value else json.dumps(value, ensure_ascii=False)


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return float(text) if _NUMBER.fullmatch(text) else text


def _split(text: str) -> list[str]:
    """Split at commas outside brackets and quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, character in enumerate(text):
        if character == '"' and text[i - 1 : i] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]
