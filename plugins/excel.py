"""The reader `excel`: every sheet of an .xlsx file as it stands."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, ClassVar

from auditkit import hookimpl
from auditkit.data.reader import Reader
from auditkit.errors import InputError, Problem

if TYPE_CHECKING:
    import pandas as pd


class Excel(Reader):
    name: ClassVar[str] = "excel"
    starts: ClassVar[tuple[bytes, ...]] = (b"PK\x03\x04",)
    suffixes: ClassVar[tuple[str, ...]] = (".xlsx", ".xlsm")

    def read(self, data: bytes, place: str) -> dict[str, pd.DataFrame]:
        import pandas as pd

        try:
            sheets = pd.read_excel(
                io.BytesIO(data), sheet_name=None, header=None, dtype=object, na_filter=False, engine="openpyxl"
            )
        except Exception as error:  # openpyxl raises whatever its XML and zip readers raise
            what = f"is not a readable .xlsx file ({error})"
            raise InputError(Problem(place, what, "save it again as .xlsx, or as CSV")) from None
        return {str(name): cells for name, cells in sheets.items()}


@hookimpl
def auditkit_readers() -> list[type[Excel]]:
    return [Excel]
