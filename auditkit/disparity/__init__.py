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
from auditkit.disparity.stratified import Agreement, agreement, exact_p

__all__ = [
    "Agreement",
    "Applicants",
    "Caution",
    "DecidedBy",
    "Disparities",
    "DisparitySettings",
    "DisparityTable",
    "FlipFlop",
    "GroupResult",
    "GroupStatus",
    "Interval",
    "Omnibus",
    "Pair",
    "Reconciled",
    "Repeated",
    "SegmentPart",
    "SegmentTable",
    "Stratified",
    "Within",
    "agreement",
    "applicants_needed",
    "detectable_ratio",
    "disparities",
    "exact_p",
    "flip_flop",
    "holm",
    "periods",
    "plain",
    "score_interval",
    "stratify",
    "with_measures",
]
