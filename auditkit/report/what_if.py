"""The answers to the what-if questions about data, as a command or a notebook shows them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from auditkit.display import Shown
from auditkit.errors import InputError, Problem, nearest
from auditkit.files import write_json
from auditkit.report import frames, scenario_charts
from auditkit.report.schema import AnswersModel
from auditkit.report.svg import Chart
from auditkit.report.words.phrases import Phrases
from auditkit.text import plural

if TYPE_CHECKING:
    import pandas as pd
    from pydantic import JsonValue


@dataclass(frozen=True, eq=False)
class WhatIf(Shown):
    """`answers` are `frontier` and `sensitivity` of a report."""

    answers: AnswersModel
    words: Phrases

    @property
    def group(self) -> str | None:
        """The group that the questions are about."""
        return self.answers.frontier.group

    @property
    def sentences(self) -> list[str]:
        """One for each answer."""
        found, biased = self.answers.frontier, self.answers.sensitivity
        parts = (*found.curves, biased, *found.bias_tables, found.positions, found.places, *found.budgets)
        return [part.sentence for part in parts if part is not None]

    def to_json(self) -> dict[str, JsonValue]:
        """What `auditkit whatif --json` prints."""
        return self.answers.to_json()

    def text(self) -> str:
        return json.dumps(self.to_json(), indent=1, ensure_ascii=False, allow_nan=False)

    def to_frame(self, table: str | None = None) -> pd.DataFrame:
        """Every point of every frontier in short, or one of the tables of a report that hold the answers.

        `frontier` has all numbers of the points; others are `sensitivity`, `sensitivity_points` and `bias_tables`.
        """
        import pandas as pd

        if table is not None:
            if table not in frames.ANSWERS:
                raise InputError(Problem("to_frame", f"there is no table {table!r}", nearest(table, frames.ANSWERS)))
            return frames.listed(self.answers, table)
        rows = [
            [curve.label, curve.parameter, p.value, p.utility, p.loss, p.ratio, p.unfilled_capacity]
            for curve in self.answers.frontier.curves
            for p in curve.points
        ]
        return pd.DataFrame(rows, columns=["frontier", "parameter", "value", "utility", "loss", "kept", "unfilled"])

    def charts(self) -> list[Chart]:
        """Every chart that the answers have the numbers for."""
        return scenario_charts.draw(self.answers.frontier, self.answers.sensitivity, self.words)

    def save_json(self, path: str | Path) -> None:
        """Write what `auditkit whatif --json` prints."""
        write_json(path, self.to_json())

    def __repr__(self) -> str:
        return f"<WhatIf: {plural(len(self.sentences), 'what-if question')}>"

    def _facts(self) -> list[str]:
        return [*self.sentences, *self.answers.frontier.notices]
