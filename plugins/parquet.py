"""The reader `parquet`: columns by name, as Arrow, pandas and most warehouses write them.

It needs pyarrow, which weighs more than all of auditkit and comes with the extra `auditkit[parquet]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from auditkit import hookimpl
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
            table = pyarrow.parquet.read_table(pyarrow.BufferReader(data))
        except (pyarrow.ArrowException, OSError) as error:
            raise InputError(Problem(place, f"is not a readable Parquet file ({error})", "write it again")) from None
        return {"": table.to_pandas(ignore_metadata=True)}


@hookimpl
def auditkit_readers() -> list[type[Parquet]]:
    return [Parquet]
