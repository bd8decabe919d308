"""The reader `json-records`: records of JSON or JSON Lines, nested objects as columns with dotted names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, cast

from auditkit import hookimpl
from auditkit.data.reader import Reader
from auditkit.errors import InputError, Problem

if TYPE_CHECKING:
    import pandas as pd
    from pydantic import JsonValue

DEEPEST = 6
NAMED = ("name", "title", "stage", "status", "step", "label")
"""The keys under which a stage in a list of stages may have its name."""
ASKED, ANSWERED = ("name", "label", "title", "question", "field", "key"), ("value", "answer", "response")
"""Under these a list of custom fields has what was asked, and the answer."""


class JsonRecords(Reader):
    name: ClassVar[str] = "json-records"
    suffixes: ClassVar[tuple[str, ...]] = (".json", ".jsonl", ".ndjson")

    def read(self, data: bytes, place: str) -> dict[str, pd.DataFrame]:
        import pandas as pd

        found = _documents(data, place)
        tables: dict[str, pd.DataFrame] = {}
        for name, records in found.items():
            rows = [_flat(one) for record in _apart(records) for one in record]
            columns = list(dict.fromkeys(key for row in rows for key in row))
            cells = [[row.get(column) for column in columns] for row in rows]
            tables[name] = pd.DataFrame(cells, columns=columns, dtype=object)
        return tables


def _documents(data: bytes, place: str) -> dict[str, list[dict[str, JsonValue]]]:
    """Lists of records by name: one object per line, a list, or an object that contains lists."""
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
            raise InputError(Problem(f"{place}, line {number}", what, "write one object per line")) from None
        records.append(record)
    return _records(records, place)


def _records(found: list[JsonValue], place: str) -> list[dict[str, JsonValue]]:
    wrong = next((i for i, record in enumerate(found, 1) if not isinstance(record, dict)), None)
    if wrong is not None or not found:
        what = "holds no records" if wrong is None else f"record {wrong} is not an object"
        raise InputError(Problem(place, what, "write a list of objects, or one object per line"))
    return [record for record in found if isinstance(record, dict)]


def _apart(records: list[dict[str, JsonValue]]) -> Iterator[list[dict[str, JsonValue]]]:
    """Each record once for each object in its one list of objects that have no name, such as its applications."""
    lists = {key for record in records for key, value in record.items() if _is_list_of_nameless(value)}
    for record in records:
        own = [key for key in record if key in lists and isinstance(record[key], list) and record[key]]
        if len(lists) == 1 and own:
            yield [{**record, own[0]: each} for each in cast("list[JsonValue]", record[own[0]])]
        else:
            yield [record]


def _is_list_of_nameless(value: JsonValue) -> bool:
    inside = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    return bool(inside) and not _answers(inside) and _name_in(inside) is None


def _name_in(objects: list[dict[str, JsonValue]]) -> str | None:
    return next((k for k in NAMED if all(isinstance(each.get(k), str) for each in objects)), None)


def _answers(objects: list[dict[str, JsonValue]]) -> dict[str, JsonValue]:
    """Custom fields by what was asked; nothing where objects are something else."""
    asked = next((k for k in ASKED if all(isinstance(each.get(k), str) for each in objects)), None)
    given = next((k for k in ANSWERED if all(k in each for each in objects)), None)
    if asked is None or given is None or any(isinstance(each[given], dict) for each in objects):
        return {}
    return {str(each[asked]): each[given] for each in objects}


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
                if answers := _answers(inside):
                    taken = {*record, *row} if not before else {*row}
                    row |= _flat({k if k not in taken else f"{name}.{k}": v for k, v in answers.items()})
                elif inner := _name_in(inside):
                    row[name] = " > ".join(str(each[inner]) for each in inside)
        elif isinstance(value, bool):
            row[name] = "true" if value else "false"
        else:
            row[name] = value
    return row


@hookimpl
def auditkit_readers() -> list[type[Reader]]:
    return [JsonRecords]
