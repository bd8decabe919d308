"""The reader `parquet`: columns by name, as Arrow, pandas and most warehouses write them.

It needs pyarrow (the extra `auditkit[parquet]`, which weighs more than all of auditkit) or DuckDB (`auditkit[scale]`).
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from auditkit import hookimpl
from auditkit.data import file_limits as limits
from auditkit.data.reader import Reader
from auditkit.errors import InputError, Problem

if TYPE_CHECKING:
    import pandas as pd


class Parquet(Reader):
    name: ClassVar[str] = "parquet"
    starts: ClassVar[tuple[bytes, ...]] = (b"PAR1",)
    suffixes: ClassVar[tuple[str, ...]] = (".parquet",)

    def read(self, data: bytes, place: str) -> dict[str, pd.DataFrame]:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            return {"": _with_duckdb(data, place)}
        try:
            file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data))
            _check(place, len(data), *_described(file))
            texts = [field.name for field in file.schema_arrow if pyarrow.types.is_string(field.type)]
            # a value that a small file repeats a million times stays one value
            file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data), read_dictionary=texts)
            table = file.read()
            limits.check_expansion(place, len(data), _characters(table))
            return {"": table.to_pandas(ignore_metadata=True)}
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise _unreadable(place, error) from None


def _characters(table: Any) -> int:
    """Bytes of all texts, each counted as often as it occurs."""
    import pyarrow
    import pyarrow.compute

    total = 0
    for column in table.columns:
        if pyarrow.types.is_dictionary(column.type):
            for chunk in column.chunks:
                lengths = pyarrow.compute.binary_length(chunk.dictionary)
                total += pyarrow.compute.sum(lengths.take(chunk.indices)).as_py() or 0
    return total


def _with_duckdb(data: bytes, place: str) -> pd.DataFrame:
    """The table, read through DuckDB, which takes files, not bytes."""
    try:
        import duckdb
    except ImportError:
        fix = "pip install 'auditkit[parquet]', or export the table as CSV"
        raise InputError(Problem(place, "is a Parquet file, and reading it needs pyarrow", fix)) from None
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as database:
        file = Path(folder) / "table.parquet"
        file.write_bytes(data)
        try:

            def total(what: str, where: str) -> int:
                found = database.execute(f"SELECT {what} FROM {where}(?)", [str(file)]).fetchone()
                return int(found[0] or 0) if found else 0

            columns = total("count(*) - 1", "parquet_schema")
            cells = max(
                total("sum(num_values)", "parquet_metadata"),
                columns * total("sum(num_rows)", "parquet_file_metadata"),
            )
            _check(place, len(data), columns, total("sum(total_uncompressed_size)", "parquet_metadata"), cells)
            rows = database.execute("SELECT * FROM read_parquet(?) LIMIT 0", [str(file)])
            texts = [name for name, kind, *_ in rows.description or () if kind == "VARCHAR"]
            lengths = " + ".join(f'coalesce(sum(strlen("{name.replace(chr(34), chr(34) * 2)}")), 0)' for name in texts)
            limits.check_expansion(place, len(data), total(lengths or "0", "read_parquet"))
            return database.execute("SELECT * FROM read_parquet(?)", [str(file)]).df()
        except (duckdb.Error, UnicodeDecodeError) as error:
            raise _unreadable(place, error) from None


def _unreadable(place: str, error: Exception) -> InputError:
    first = str(error).splitlines()[0]
    return InputError(Problem(place, f"is not a readable Parquet file ({first})", "write it again"))


def _described(file: Any) -> tuple[int, int, int]:
    """Columns, bytes when unpacked and cells, as the file itself describes them."""
    described = file.metadata
    groups = [described.row_group(i) for i in range(described.num_row_groups)]
    chunks = [group.column(i) for group in groups for i in range(group.num_columns)]
    values = max(sum(chunk.num_values for chunk in chunks), described.num_rows * described.num_columns)
    return described.num_columns, sum(chunk.total_uncompressed_size for chunk in chunks), values


def _check(place: str, size: int, columns: int, unpacked: int, values: int) -> None:
    """Refuse a file whose own metadata says that it unpacks to far more than real files do."""
    limits.check_width(place, columns)
    limits.check_expansion(place, size, unpacked)
    limits.check_expansion(place, size, values, "cells")


@hookimpl
def auditkit_readers() -> list[type[Parquet]]:
    return [Parquet]
