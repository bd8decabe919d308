"""The report as a document, `auditkit-report/2`: everything that HTML, PDF and other programs show, as plain data.

A part that the data cannot support is null, and a finding says why. No candidate's row, id or cell is in it; outcomes
of small groups are in none of its numbers (`data.privacy`). The same input, settings and
SOURCE_DATE_EPOCH give the same bytes.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditkit import __version__
from auditkit.compare import Comparison, Constrained, FirmDecisions, PriceInterval, SlackLaw, Standing
from auditkit.data import render_mapping
from auditkit.disparity import Disparities
from auditkit.model.limits import UnitNumbers
from auditkit.report import decision_findings, findings, people
from auditkit.report.conventions import conventions
from auditkit.report.phrases import Phrases
from auditkit.report.report_schema import FORMAT

if TYPE_CHECKING:
    from auditkit.config import Config
    from auditkit.data import History
    from auditkit.data.privacy import Protected
    from auditkit.fitting.fitted import Fitted
    from auditkit.scenarios import Answers
    from auditkit.solver.policy import Level, Policy

EPOCH = "SOURCE_DATE_EPOCH"

PACKAGES = ("highspy", "matplotlib", "numba", "numpy", "pandas", "pydantic", "scipy")


@dataclass(frozen=True, eq=False)
class ReportParts:
    """What an audit found, before it becomes a document."""

    history: History
    shown: Protected
    disparities: Disparities | None
    fitted: Fitted | None
    comparison: Comparison | None
    missing: tuple[str, ...]
    """Why there is no model."""
    answers: Answers | None = None
    """To the what-if questions."""
    decisions: FirmDecisions | None = None


def created() -> str:
    """Now, or the moment that SOURCE_DATE_EPOCH names."""
    epoch = os.environ.get(EPOCH, "").strip()
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def build(parts: ReportParts, config: Config, when: str) -> dict[str, Any]:
    """The document of an audit."""
    history, shown, comparison = parts.history, parts.shown, parts.comparison
    disparity = None if parts.disparities is None else parts.disparities.to_json()
    segments = None if disparity is None else disparity.pop("segments")
    return {
        "format": FORMAT,
        "version": __version__,
        "created": when,
        "input": {
            "path": Path(history.source.path).name,
            "rows": history.source.rows,
            "sha256": history.source.sha256,
            "encoding": history.source.encoding,
            "separator": history.source.separator,
            **({} if history.source.url is None else {"url": history.source.url, "query": history.source.query}),
        },
        "config": config.to_json(),
        "mapping": [{"role": r, "column": c, "reason": why} for r, c, why in render_mapping(history)],
        "problems": people.problems(history),
        "scope": people.scope(history, shown, config.organisation),
        "attributes": people.attributes(shown),
        "steps": list(history.steps),
        "groups": people.groups(shown),
        "firm": None if comparison is None else _firm(parts, comparison),
        "unconstrained": None if comparison is None else {**_standing(comparison.unconstrained), "ex_post_slack": None},
        "constrained": None if comparison is None else _all_constrained(comparison, parts.decisions),
        "disparity": disparity,
        "segments": segments,
        "funnel": people.funnel(shown),
        **({"frontier": None, "sensitivity": None} if parts.answers is None else parts.answers.to_json()),
        "revealed": None if parts.decisions is None else parts.decisions.revealed.to_json(),
        "scores": None if parts.decisions is None else parts.decisions.scores.to_json(),
        "fit": None if parts.fitted is None else _fit(parts, parts.fitted),
        "sections": {},
        "findings": _findings(parts),
        "provenance": _provenance(),
    }


def dump(document: Mapping[str, Any]) -> str:
    """The document as it is written to a file."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _findings(parts: ReportParts) -> list[dict[str, Any]]:
    words = Phrases.of(people.attributes(parts.shown), parts.history.steps)
    found = [] if parts.disparities is None else findings.of_disparities(parts.disparities, words)
    differing = {item.get("attribute") for item in found if item["kind"] == "disparity"}
    if parts.comparison is not None:
        found += findings.of_comparison(parts.comparison, words, differing)
    if parts.decisions is not None and parts.comparison is not None:
        names = {entry.label: findings.phrase_of(entry, words) for entry in parts.comparison.constrained}
        losses = {
            entry.label: entry.interval.loss
            for entry in parts.comparison.constrained
            if isinstance(entry.interval, PriceInterval)
        }
        odds = {} if parts.disparities is None else findings.odds_ratios(parts.disparities)
        found += decision_findings.of_decisions(parts.decisions, parts.history, words, names, losses, odds)
    if parts.fitted is None:
        found += findings.without_fit(parts.missing)
    found += findings.of_data(parts.history, parts.shown)
    if parts.fitted is not None:
        found += findings.of_fit(parts.fitted, parts.shown.threshold, words)
    return findings.in_order(found)


# Policies -------------------------------------------------------------------------------------------------------------


def _standing(standing: Standing) -> dict[str, Any]:
    return {
        "utility": standing.utility,
        "long_term_utility": standing.long_term_utility,
        "by_group": {
            attribute: {
                name: {
                    "candidates": row.candidates,
                    "inspected": _whole(row.inspected),
                    "selected": _whole(row.selected),
                }
                for name, row in groups.items()
            }
            for attribute, groups in standing.by_group.items()
        },
        "unfilled_capacity": _whole(standing.unfilled_capacity),
        **({"units": [_unit(unit) for unit in standing.units]} if standing.units else {}),
    }


def _unit(unit: UnitNumbers) -> dict[str, Any]:
    return asdict(unit) | {"selected": _whole(unit.selected), "unfilled": _whole(unit.unfilled)}


def _firm(parts: ReportParts, comparison: Comparison) -> dict[str, Any]:
    gain = None if parts.decisions is None else parts.decisions.search.to_json()
    return {**_standing(comparison.firm), "capacity": _capacity(parts), "gain": gain}


def _all_constrained(comparison: Comparison, decisions: FirmDecisions | None) -> list[dict[str, Any]]:
    none = (None,) * len(comparison.constrained)
    gains = none if decisions is None else decisions.search.constrained
    return [
        {**_constrained(entry), "against_firm": None if gain is None else gain.to_json()}
        for entry, gain in zip(comparison.constrained, gains, strict=True)
    ]


def _capacity(parts: ReportParts) -> int | None:
    """Positions of all searches."""
    return None if parts.fitted is None else int(parts.fitted.instance.layout.capacity.sum())


def _whole(x: float) -> float | int:
    """Recorded numbers are whole and are written so; expected ones are what they are."""
    return int(x) if float(x).is_integer() else float(x)


def _constrained(entry: Constrained) -> dict[str, Any]:
    optimum = entry.optimum
    document: dict[str, Any] = {
        "label": entry.label,
        "specs": [c.describe() for c in entry.constraints],
        "status": entry.status,
        "conflict": list(entry.conflict),
    }
    if entry.standing is None or optimum is None:
        empty = ("utility", "long_term_utility", "by_group", "unfilled_capacity", "price_of_fairness", "ex_post_slack")
        return document | dict.fromkeys(
            (*empty, "unfilled", "bound", "gap", "duals", "order_kept", "policies", "mixture", "randomised")
        )
    price = entry.interval
    bounds: dict[str, Any] | None = None
    if isinstance(price, PriceInterval):
        kept = None if price.ratio is None else list(price.ratio)
        bounds = {"level": price.level, "ratio": kept, "loss": list(price.loss), "one_sided": price.one_sided}
        bounds["replicates"] = price.replicates
    laws = [_law(law) for law in entry.shown_laws]
    return {
        **document,
        **_standing(entry.standing),
        "price_of_fairness": {"ratio": entry.ratio, "loss": entry.loss, "interval": bounds},
        "ex_post_slack": laws or None,
        "unfilled": None
        if entry.unfilled is None
        else {"counts": entry.unfilled.counts.tolist(), "probabilities": entry.unfilled.probabilities.tolist()},
        "bound": optimum.bound,
        "gap": optimum.gap,
        "duals": _duals(entry),
        "order_kept": entry.order_kept,
        "policies": _policies(entry),
        "mixture": _mixture(entry),
        "randomised": entry.optimum.mixture.randomised if entry.optimum is not None else None,
    }


def _law(law: SlackLaw) -> dict[str, Any]:
    return {
        "label": law.label,
        "edges": law.edges.tolist(),
        "probabilities": law.probabilities.tolist(),
        "mean": law.mean,
        "sd": law.sd,
        "outside": law.outside,
    }


def _duals(entry: Constrained) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for dual in entry.duals:
        if not dual.individual:
            numbers = {"value": dual.value, "slack": dual.slack, "words": dual.words}
            span = None if dual.interval is None else list(dual.interval)
            found.append({"label": dual.label, "sense": dual.sense, **numbers, "interval": span})
    single = [dual for dual in entry.duals if dual.individual]
    if single:
        tight = sum(dual.value != 0 for dual in single)
        found.append(
            {
                "label": f"{len(single)} rows, one for each candidate",
                "sense": single[0].sense,
                "value": None,
                "slack": min(dual.slack for dual in single),
                "words": f"{tight} of them bind",
                "interval": None,
            }
        )
    return found


def _policies(entry: Constrained) -> list[dict[str, Any]] | None:
    """The mixture, so that anyone with the data can evaluate it again; null where it would name candidates."""
    optimum = entry.optimum
    if optimum is None or optimum.rows.measures or any(dual.individual for dual in entry.duals):
        return None
    return [_policy(policy) for policy in optimum.mixture.policies]


def _mixture(entry: Constrained) -> dict[str, Any] | None:
    """Which searches follow which policy, by their place in the data: their names are cells of it."""
    optimum = entry.optimum
    if optimum is None or _policies(entry) is None:
        return None
    from auditkit.solver.solution import mixture_document

    return mixture_document(optimum.mixture, [str(s) for s in range(optimum.mixture.count)])


def _policy(policy: Policy) -> dict[str, Any]:
    first, *ties = (_level(level) for level in policy.levels)
    return first | ({"ties": ties} if ties else {})


def _level(level: Level) -> dict[str, Any]:
    return {"objective": level.objective, "duals": list(level.duals)}


# Fit and provenance ---------------------------------------------------------------------------------------------------


def _fit(parts: ReportParts, fitted: Fitted) -> dict[str, Any]:
    threshold = parts.shown.threshold
    quality = fitted.quality.to_json()
    bins = len(quality["pit"]["shares"])
    few = ("mean_error", "standard_error", "crps", "coverage")
    by_group = []
    for row in quality["by_group"]:
        shown = row if row["scores"] >= threshold else {**row, **dict.fromkeys(few), "scores": None}
        by_group.append({"group": shown.pop("name"), "n": shown.pop("scores"), **shown})
    settings = json.loads(json.dumps(fitted.settings))
    if settings.get("true_value"):
        settings["true_value"].pop("effects")  # of crossed groups of any size
    return {
        "fitter": fitted.settings["fitter"],
        "pit": {"edges": [i / bins for i in range(bins + 1)], **quality["pit"]},
        "coverage": [{"nominal": row["level"], "actual": row["covered"]} for row in quality["coverage"]],
        "by_group": by_group,
        "by_stratum": quality["by_stratum"],
        "skill": quality["skill"],
        "selection": quality["selection"],
        "hidden_information": None if parts.decisions is None else parts.decisions.hidden_json(),
        "warnings": list(quality["warnings"]),
        "settings": settings,
    }


def _provenance() -> dict[str, Any]:
    versions = {"auditkit": __version__}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    texts = conventions().values()
    return {
        "python": platform.python_version(),
        "packages": versions,
        "platform": f"{platform.system()} {platform.machine()}",
        "conventions": [{"name": c.name, "text": c.text, "read_on": c.read_on.isoformat()} for c in texts],
    }
