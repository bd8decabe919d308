"""Disparity between groups: impact ratios with tests, intervals and how far one selection would move them.

| question | file |
| --- | --- |
| two groups, the formulas | two_by_two.py |
| all groups against the reference, status and flags | groups.py |
| counts from a table of applications | table.py |
| what plugins measure | measured.py |
| groups too small to show | suppression.py |
"""

from auditkit.disparity.groups import (
    FOUR_FIFTHS,
    Disparity,
    Flag,
    FlipFlop,
    Group,
    GroupCounts,
    ReferenceComparison,
    Status,
    compare,
    flip_flop,
)
from auditkit.disparity.measured import measured
from auditkit.disparity.pair import Interval, Pair, Stratified, holm, score_interval, stratify
from auditkit.disparity.plain import plain
from auditkit.disparity.suppression import hidden, shown, suppress
from auditkit.disparity.table import UNKNOWN, CountedOutcome, measure, tally

__all__ = [
    "FOUR_FIFTHS",
    "UNKNOWN",
    "ReferenceComparison",
    "GroupCounts",
    "Disparity",
    "Flag",
    "FlipFlop",
    "Group",
    "Interval",
    "CountedOutcome",
    "Pair",
    "Status",
    "Stratified",
    "compare",
    "flip_flop",
    "hidden",
    "holm",
    "measure",
    "measured",
    "plain",
    "score_interval",
    "shown",
    "stratify",
    "suppress",
    "tally",
]
