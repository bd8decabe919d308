"""The reader `excel`: every sheet of an .xlsx file as it is.

Rows are streamed and counted, so that a cell in the far corner of a sheet, or a file that unpacks to a thousand times
its size, is refused before it fills the memory (`auditkit.data.file_limits`).
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from auditkit import hookimpl
from auditkit.data import file_limits as limits
from auditkit.data.reader import Reader
from auditkit.errors import InputError, Problem

if TYPE_CHECKING:
    import pandas as pd

LAST_ROW = 1_048_576
MOST_PARTS = 10_000
CHUNK, _LONGEST_TAG = 1 << 20, 10_000
_ROW_OR_VALUE = re.compile(rb"""<(?:\w+:)?(?:row\b[^<>]*?\sr=["'](?P<row>\d{1,9})["'][^<>]*>|(?:v|is|f)[\s>])""")
"""A row with its number, or the value of a cell."""


class Excel(Reader):
    name: ClassVar[str] = "excel"
    starts: ClassVar[tuple[bytes, ...]] = (b"PK\x03\x04",)
    suffixes: ClassVar[tuple[str, ...]] = (".xlsx", ".xlsm")

    def read(self, data: bytes, place: str) -> dict[str, pd.DataFrame]:
        import openpyxl

        try:
            archive = zipfile.ZipFile(io.BytesIO(data))
            parts = archive.infolist()
            limits.check_expansion(place, len(data), sum(part.file_size for part in parts))
            if len(parts) > MOST_PARTS:
                what = f"has {len(parts):,} parts inside, and no workbook has so many"
                raise InputError(Problem(place, what, "export the table again, as CSV"))
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
            try:
                return {sheet.title: _frame(place, sheet, _last_row(archive, sheet)) for sheet in book.worksheets}
            finally:
                book.close()
        except InputError:
            raise
        except Exception as error:  # openpyxl raises whatever its XML and zip readers raise
            what = f"is not a readable .xlsx file ({error})"
            raise InputError(Problem(place, what, "save it again as .xlsx, or as CSV")) from None


def _last_row(archive: zipfile.ZipFile, sheet: Any) -> int | None:
    """The last row with a value. A spreadsheet may keep a million formatted rows below it, which take minutes to parse.

    None if the rows are not numbered.
    """
    last = row = 0
    tail = b""
    with archive.open(sheet._worksheet_path) as file:
        while chunk := file.read(CHUNK):
            text = tail + chunk
            for found in _ROW_OR_VALUE.finditer(text):
                if found["row"] is not None:
                    row = int(found["row"])
                elif row == 0:
                    return None
                else:
                    last = max(last, row)
            cut = text.rfind(b"<")  # a tag may continue in the next chunk
            tail = text[cut:] if cut >= 0 and len(text) - cut < _LONGEST_TAG else b""
    return max(last, 1)


def _frame(place: str, sheet: Any, last: int | None) -> pd.DataFrame:
    """The cells of a sheet, without blank columns on its right and blank rows at its end."""
    import pandas as pd

    sheet.reset_dimensions()  # the size that the file declares may be wrong
    where = f"{place}, sheet {sheet.title!r}"
    rows: list[list[Any]] = []
    blank = width = cells = 0
    for number, row in enumerate(sheet.iter_rows(max_row=last), 1):
        if number > LAST_ROW:
            raise InputError(Problem(where, f"has more than {LAST_ROW:,} rows, which no sheet has", "export it as CSV"))
        values = _values(row)
        if not values:
            blank += 1
            continue
        if blank > limits.MOST_BLANK_ROWS:
            raise InputError(limits.blank_rows(f"{where}, row {number}"))
        limits.check_width(f"{where}, row {number}", len(values))
        longest = max((len(value) for value in values if isinstance(value, str)), default=0)
        if longest > limits.LONGEST_CELL:
            raise InputError(limits.long_cell(f"{where}, row {number}", longest))
        rows += [[] for _ in range(blank)]
        rows.append(values)
        blank, width, cells = 0, max(width, len(values)), cells + len(values)
        if cells > limits.MOST_CELLS:
            raise InputError(Problem(where, f"has more than {limits.MOST_CELLS:,} cells", "export the table as CSV"))
    frame = pd.DataFrame([row + [""] * (width - len(row)) for row in rows], dtype=object)
    frame.attrs["hidden"] = sheet.sheet_state != "visible"
    return frame


def _values(row: Iterable[Any]) -> list[Any]:
    """The values of a row up to the last that is not blank; errors such as #N/A are blank."""
    values = ["" if cell.value is None or cell.data_type == "e" else cell.value for cell in row]
    while values and values[-1] == "":
        values.pop()
    return values


@hookimpl
def auditkit_readers() -> list[type[Excel]]:
    return [Excel]
