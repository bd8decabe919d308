"""From a file to a clean `History`: `load` is the way in, `check` the same without raising.

`read_file` (bytes to text) -> `roles` (which column is what) -> `clean` (cells to values, all problems)
-> `firm_history`.
"""

from auditkit.data.firm_history import ALL, History, render_mapping
from auditkit.data.load import Checked, check, load
from auditkit.data.problems import KINDS, DataProblem, Notice, Problems, RowCounts
from auditkit.data.profile import ColumnProfile
from auditkit.data.read_file import Source
from auditkit.data.roles import Choice, Mapping
from auditkit.data.vocabulary import ROLES
from auditkit.model.groups import UNKNOWN

__all__ = [
    "ALL",
    "KINDS",
    "ROLES",
    "UNKNOWN",
    "Checked",
    "Choice",
    "ColumnProfile",
    "RowCounts",
    "DataProblem",
    "History",
    "Mapping",
    "Notice",
    "Problems",
    "Source",
    "check",
    "load",
    "render_mapping",
]
