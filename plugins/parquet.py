"""The reader `parquet`: columns by name, as Arrow, pandas and most warehouses write them.

It needs pyarrow, which weighs more than all of auditkit and comes with the extra `auditkit[parquet]`.
"""

from __future__ import annotations

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
            fix = "pip install 'auditkit[parquet]', or export the table as CSV"
            raise InputError(Problem(place, "is a Parquet file, and reading it needs pyarrow", fix)) from None
        try:
            file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data))
            _check(place, len(data), file)
            texts = [field.name for field in file.schema_arrow if pyarrow.types.is_string(field.type)]
            # a value that a small file repeats a million times stays one value
            file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data), read_dictionary=texts)
            table = file.read()
        except (pyarrow.ArrowException, OSError) as error:
            raise InputError(Problem(place, f"is not a readable Parquet file ({error})", "write it again")) from None
        return {"": table.to_pandas(ignore_metadata=True)}


def _check(place: str, size: int, file: Any) -> None:
    """Refuse a file whose own description says that it unpacks to far more than real files do."""
    described = file.metadata
    limits.check_width(place, described.num_columns)
    groups = [described.row_group(i) for i in range(described.num_row_groups)]
    chunks = [group.column(i) for group in groups for i in range(group.num_columns)]
    limits.check_expansion(place, size, sum(chunk.total_uncompressed_size for chunk in chunks))
    values = max(sum(chunk.num_values for chunk in chunks), described.num_rows * described.num_columns)
    limits.check_expansion(place, size, values, "cells")


@hookimpl
def auditkit_readers() -> list[type[Parquet]]:
    return [Parquet]
