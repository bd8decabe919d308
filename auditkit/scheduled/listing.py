"""Past runs for people and programs: rows of a table, and the document `auditkit-history/1`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from auditkit.report.figures import FIRM, Figures
from auditkit.scheduled.evidence_stream import EvidenceOverTime
from auditkit.scheduled.run_history import FAILED, UNCHANGED, Run
from auditkit.text import amount, count, percent, ratio

FORMAT = "auditkit-history/1"
COLUMNS = (
    *("run", "date (UTC)", "status", "rows", "lowest impact ratio", "of group"),
    *("largest loss", "utility kept", "open positions", "findings", "artefacts"),
)


@dataclass(frozen=True)
class Headline:
    """The few figures that fit on one line about a run."""

    lowest_impact_ratio: float | None
    lowest_impact_ratio_attribute: str | None
    lowest_impact_ratio_group: str | None
    largest_loss: float | None
    lowest_utility_kept: float | None
    largest_gap: float | None
    firm_utility: float | None
    firm_unfilled_capacity: float | None

    @property
    def of(self) -> str:
        """The group with the lowest ratio."""
        group = self.lowest_impact_ratio_group
        return "" if group is None else f"{self.lowest_impact_ratio_attribute}: {group}"


def headline(figures: Figures) -> Headline:
    lowest = figures.lowest()
    losses = [policy.loss for policy in figures.constraints if policy.loss is not None]
    kept = [policy.ratio for policy in figures.constraints if policy.ratio is not None]
    gaps = [policy.gap for policy in figures.constraints if policy.gap is not None]
    firm = next((policy for policy in figures.policies if policy.kind == FIRM), None)
    return Headline(
        None if lowest is None else lowest.impact_ratio,
        None if lowest is None else lowest.attribute,
        None if lowest is None else lowest.group,
        max(losses, default=None),
        min(kept, default=None),
        max(gaps, default=None),
        None if firm is None else firm.utility,
        None if firm is None else firm.unfilled,
    )


def status(run: Run) -> str:
    return f"unchanged since run {run.same_as}" if run.status == UNCHANGED else run.status


def artefacts(run: Run) -> str:
    return f"removed {run.removed[:10]}, {run.removed_why}" if run.removed else run.folder


def rows(runs: Sequence[Run]) -> list[list[str]]:
    """One row per run, under COLUMNS; findings are the report's and, in brackets, the thresholds crossed."""
    found = []
    for run in runs:
        head = headline(run.figures)
        found.append(
            [
                str(run.id),
                run.created.removesuffix("Z").replace("T", " "),
                status(run),
                count(run.figures.rows),
                ratio(head.lowest_impact_ratio, 0.8),
                head.of,
                amount(head.largest_loss),
                percent(head.lowest_utility_kept),
                count(head.firm_unfilled_capacity),
                "" if run.status == FAILED else f"{len(run.findings)} ({len(run.crossings)})",
                artefacts(run),
            ]
        )
    return found


def document(
    audit: str, runs: Sequence[Run], evidence: Mapping[int, EvidenceOverTime] | None = None
) -> dict[str, object]:
    """Everything known about the runs, for programs; `evidence` by the number of the run."""
    known = {} if evidence is None else {id: one.to_json() for id, one in evidence.items()}
    return {
        "format": FORMAT,
        "audit": audit,
        "runs": [_run(run) | {"evidence": known.get(run.same_as or run.id, known.get(run.id))} for run in runs],
    }


def _run(run: Run) -> dict[str, object]:
    figures = asdict(run.figures)
    return {
        "id": run.id,
        "created": run.created,
        "status": run.status,
        "same_as": run.same_as,
        "version": run.figures.version,
        "config": {"sha256": run.config_sha256},
        "input": {"path": run.figures.data_path, "rows": run.figures.rows, "sha256": run.data_sha256},
        "python": run.figures.python,
        "platform": run.figures.platform,
        "headline": asdict(headline(run.figures)),
        "problems": run.figures.problems,
        "capacity": run.figures.capacity,
        "groups": figures["groups"],
        "policies": figures["policies"],
        "findings": list(run.findings),
        "failure": run.failure or None,
        "crossings": [asdict(crossing) for crossing in run.crossings],
        "alerts": [asdict(alert) for alert in run.alerts],
        "folder": run.folder,
        "artefacts": [asdict(artefact) for artefact in run.artefacts],
        "removed": run.removed,
        "removed_why": run.removed_why,
    }
