"""The reader `json-records`: records of JSON or JSON Lines, nested objects as columns with dotted names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from auditkit import hookimpl
from auditkit.data.reader import Reader
from auditkit.errors import InputError, Problem

if TYPE_CHECKING:
    import pandas as pd
    from pydantic import JsonValue

DEEPEST = 6
NAMED = ("name", "title", "stage", "status", "step", "label")
"""Under one of these a stage in a list of stages has its name."""


class JsonRecords(Reader):
    name: ClassVar[str] = "json-records"
    suffixes: ClassVar[tuple[str, ...]] = (".json", ".jsonl", ".ndjson")

    def read(self, data: bytes, place: str) -> dict[str, pd.DataFrame]:
        import pandas as pd

        found = _documents(data, place)
        tables: dict[str, pd.DataFrame] = {}
        for name, records in found.items():
            rows = [_flat(record) for record in records]
            columns = list(dict.fromkeys(key for row in rows for key in row))
            cells = [[row.get(column) for column in columns] for row in rows]
            tables[name] = pd.DataFrame(cells, columns=columns, dtype=object)
        return tables


def _documents(data: bytes, place: str) -> dict[str, list[dict[str, JsonValue]]]:
    """Lists of records by name: one object a line, a list, or an object that holds lists."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(Problem(place, f"is not UTF-8, as JSON must be ({error})", "export it again")) from None
    try:
        whole = json.loads(text)
    except ValueError:
        return {"": _lines(text, place)}
    except RecursionError:
        raise InputError(Problem(place, "is nested too deeply", "export the table as CSV")) from None
    if isinstance(whole, list):
        return {"": _records(whole, place)}
    if isinstance(whole, dict):
        lists = {key: value for key, value in whole.items() if isinstance(value, list) and value}
        lists = {key: value for key, value in lists.items() if all(isinstance(each, dict) for each in value)}
        if lists:
            return {key: _records(value, place) for key, value in lists.items()}
        return {"": [whole]}
    raise InputError(Problem(place, "holds no records", "export a list of objects, or JSON Lines"))


def _lines(text: str, place: str) -> list[dict[str, JsonValue]]:
    records = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = f"is not JSON ({error})"
            raise InputError(Problem(f"{place}, line {number}", what, "write one object a line")) from None
        records.append(record)
    return _records(records, place)


def _records(found: list[JsonValue], place: str) -> list[dict[str, JsonValue]]:
    wrong = next((i for i, record in enumerate(found, 1) if not isinstance(record, dict)), None)
    if wrong is not None or not found:
        what = "holds no records" if wrong is None else f"record {wrong} is not an object"
        raise InputError(Problem(place, what, "write a list of objects, or one object a line"))
    return [record for record in found if isinstance(record, dict)]


def _flat(record: dict[str, JsonValue], before: str = "", depth: int = 0) -> dict[str, JsonValue]:
    """Nested objects as `outer.inner`; lists of plain values as one text, lists of named objects as a path."""
    row: dict[str, JsonValue] = {}
    for key, value in record.items():
        name = f"{before}{key}"
        if isinstance(value, dict) and depth < DEEPEST:
            row |= _flat(value, f"{name}.", depth + 1)
        elif isinstance(value, list):
            inside = [each for each in value if isinstance(each, dict)]
            if all(not isinstance(each, dict | list) for each in value):
                row[name] = "; ".join("" if each is None else str(each) for each in value)
            elif len(inside) == len(value):
                inner = next((k for k in NAMED if all(isinstance(each.get(k), str) for each in inside)), None)
                row |= {} if inner is None else {name: " > ".join(str(each[inner]) for each in inside)}
        elif isinstance(value, bool):
            row[name] = "true" if value else "false"
        else:
            row[name] = value
    return row


@hookimpl
def auditkit_readers() -> list[type[Reader]]:
    return [JsonRecords]
