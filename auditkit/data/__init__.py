"""From a file to a clean `History`: `load` is the way in, `check` the same without raising.

`read_file` (bytes to text) -> `shapes` (one row per application or category) -> `hypothesis` (what the table says)
-> `clean` (cells to values, all problems) -> `firm_history`, with a `reading` that says how.
"""

from auditkit.data.columns import ColumnProfile
from auditkit.data.firm_history import ALL, History, render_mapping
from auditkit.data.load import Checked, check, load
from auditkit.data.problems import KINDS, DataProblem, Notice, Problems, RowCounts
from auditkit.data.raw_table import Source
from auditkit.data.roles import Choice, Mapping
from auditkit.data.vocabulary import ROLES
from auditkit.model.groups import UNKNOWN
