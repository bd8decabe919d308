"""An audit from a file to a report: the stages in order. Read this first.

    data      read the file, find out which column is what, collect every problem      auditkit.data
    protect   leave out whoever could be recognised, once for all that follows        auditkit.data.privacy
    measure   disparities of every attribute at every step, and where they come from  auditkit.disparity
    fit       from past scores to a prior for each candidate: an instance             auditkit.fitting
    solve     the best policy, without and under constraints, each with a proof       auditkit.solver
    compare   the firm and the best policies side by side                             auditkit.compare
    ask       frontiers, biased scores, more positions, more budget                   auditkit.scenarios
    report    all of it as a document, and the document as HTML, PDF and JSON         auditkit.report

Where the data cannot support a stage, the later ones are left out and the report says why: without scores there is
still the disparity audit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auditkit import disparity
from auditkit.compare import Comparison, FirmDecisions, IntervalOptions, compare, firm_decisions
from auditkit.compare.firm_decisions import standings_of
from auditkit.compare.firm_gain import Against
from auditkit.compare.parts import Parts
from auditkit.compare.shadow_prices import total_shifts
from auditkit.config import Config, check
from auditkit.constraints import Constraint, bind, make_constraints
from auditkit.constraints.base import Rows
from auditkit.data import History
from auditkit.data.privacy import Protected, protect
from auditkit.data.read_query import sha256_of_rows
from auditkit.data.source import Data, Place, read
from auditkit.data.sql_query import Query
from auditkit.disparity import Applicants, Disparities, DisparitySettings
from auditkit.errors import InputError, PluginError, Problem, blaming
from auditkit.files import parse_json, read_file, sha256_of
from auditkit.fitting.fitted import CannotFit, Fitted
from auditkit.fitting.priors import fit
from auditkit.model.documents import check_format, read_instance, read_solution
from auditkit.report import added, findings
from auditkit.report import document as documents
from auditkit.report.audit import Audit, Written, text_of, write
from auditkit.report.report_schema import ReportModel
from auditkit.report.section import Section, Subject
from auditkit.scenarios import Answers, ask
from auditkit.solver import engine
from auditkit.verification import NOISE, Check, Verified, check_report, check_solution, same_numbers

if TYPE_CHECKING:
    from auditkit.plugin_manager import Plugins

Progress = Callable[[str], None]

__all__ = ["Audit", "Written", "ask_about", "audit", "fit_history", "read", "text_of", "verify_files", "write"]

MEASURED = ("scope", "attributes", "steps", "groups", "funnel", "disparity", "segments", "problems", "mapping")
"""Parts of a report that are counted and tested; no optimisation leaves rounding there."""

UNDERIVED = ("config", "created", "provenance", "version")
GIVEN = f"{', '.join(UNDERIVED)} and input.path: with what the report was made, which it says itself"
"""What `verify` cannot derive from the data."""

MOST_ROWS_ASKED = 30
"""What-if questions about constraints of more rows are left to `auditkit whatif`: a report should not wait for them."""


def silent(_: str) -> None:
    """Progress that nobody watches."""


