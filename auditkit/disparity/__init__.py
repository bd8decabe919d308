"""Disparity between groups: every attribute at every step, with errors controlled for the whole page.

| question | file |
| --- | --- |
| two groups, the formulas | pair.py |
| two groups over strata: exact test, do strata agree | stratified.py |
| all groups of a table in one test | omnibus.py |
| many tests, their adjusted p | stepdown.py |
| what could have been shown | power.py |
| the applications as arrays | applicants.py |
| all tables of a page | page.py |
| where a difference comes from | segments.py |
| what comes out | results.py |
| one table by itself: Local Law 144 | single.py, table.py |
| what plugins measure | measure.py, measured.py |
"""

from auditkit.disparity.applicants import Applicants, periods
from auditkit.disparity.measured import with_measures
from auditkit.disparity.page import DisparitySettings, disparities
from auditkit.disparity.pair import FlipFlop, Interval, Pair, Stratified, flip_flop, holm, score_interval, stratify
from auditkit.disparity.plain import plain
from auditkit.disparity.power import applicants_needed, detectable_ratio
from auditkit.disparity.results import (
    Caution,
    DecidedBy,
    Disparities,
    DisparityTable,
    GroupResult,
    GroupStatus,
    Omnibus,
    Reconciled,
    Repeated,
    SegmentPart,
    SegmentTable,
    Within,
)
from auditkit.disparity.single import (
    FOUR_FIFTHS,
    Disparity,
    Flag,
    Group,
    GroupCounts,
    ReferenceComparison,
    Status,
    compare,
)
from auditkit.disparity.stratified import Agreement, agreement, exact_p
from auditkit.disparity.table import CountedOutcome, measure, tally

__all__ = [
    "Agreement",
    "Applicants",
    "Caution",
    "DecidedBy",
    "Disparities",
    "DisparitySettings",
    "DisparityTable",
    "GroupResult",
    "GroupStatus",
    "Omnibus",
    "Reconciled",
    "Repeated",
    "SegmentPart",
    "SegmentTable",
    "Within",
    "agreement",
    "applicants_needed",
    "detectable_ratio",
    "disparities",
    "exact_p",
    "periods",
    "FOUR_FIFTHS",
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
    "holm",
    "measure",
    "plain",
    "score_interval",
    "stratify",
    "tally",
    "with_measures",
]
