"""A small export with everything an audit can use, and small fitted instances. (No tests in here.)"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from auditkit.fitting.fitted import FitSettings, Fitted, Realised
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search
from auditkit.plugin_manager import Plugins, load

HEADER = (
    *("Candidate ID", "Requisition", "Gender", "Openings", "CV Score", "Interviewed", "Interview Score"),
    *("Interview Cost", "Hired", "Performance Rating"),
)


def rows(searches: int = 12, each: int = 9, seed: int = 5, tiny: int = 0) -> list[dict[str, Any]]:
    """Women have lower CV scores and the same interviews; `tiny` applicants are of a third gender."""
    rng = np.random.default_rng(seed)
    found = []
    for s in range(searches):
        pool = []
        for i in range(each):
            group = "" if (s, i) == (0, 0) else "Female" if rng.random() < 0.45 else "Male"
            if s < tiny and i == 1:
                group = "Divers"
            talent = rng.normal(60, 10)
            cv = talent + rng.normal(0, 6) - (5 if group == "Female" else 0)
            pool.append({"group": group, "cv": round(cv, 1), "score": round(talent + rng.normal(0, 5), 1)})
        asked = sorted(range(each), key=lambda i: -pool[i]["cv"])[: each // 2 + 1]
        best = max(asked, key=lambda i: pool[i]["score"])
        for i, person in enumerate(pool):
            seen, hired = i in asked, i == best
            rating = round(0.5 * person["score"] + 30 + rng.normal(0, 3), 1) if hired else ""
            found.append(
                {
                    "Candidate ID": f"QX{1000 + 100 * s + i}",
                    "Requisition": f"REQ-{s + 1}",
                    "Gender": person["group"],
                    "Openings": 1,
                    "CV Score": person["cv"],
                    "Interviewed": "yes" if seen else "no",
                    "Interview Score": person["score"] if seen else "",
                    "Interview Cost": 2 + s % 2,
                    "Hired": "yes" if hired else "no",
                    "Performance Rating": rating,
                }
            )
    return found


def save(path: Path, table: list[dict[str, Any]], leave: tuple[str, ...] = ()) -> Path:
    """The rows as CSV, without some columns."""
    columns = [name for name in HEADER if name not in leave]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(table)
    return path


def plugins() -> Plugins:
    found = load()
    assert not found.warnings
    return found


def random_instance(
    seed: int, searches: int, candidates: int, values: int = 2, capacity: int = 1, groups: str = "XY"
) -> Instance:
    """Boxes with values that are never tied; every group is in the first search."""
    rng = np.random.default_rng(seed)
    made = []
    for s in range(searches):
        boxes = []
        for i in range(candidates):
            group = groups[i % len(groups)] if s == 0 else groups[int(rng.integers(len(groups)))]
            level = rng.normal(5.0 + (group == groups[0]), 1.0)
            support = level + rng.normal(0, 2.0, values)
            boxes.append(Box(f"c{i}", group, float(rng.uniform(0.1, 1.0)), support, rng.dirichlet(np.ones(values))))
        made.append(Search(f"s{s}", capacity, tuple(boxes)))
    return Instance(tuple(made))


def fitted(instance: Instance, value_scale: float = 1.0) -> Fitted:
    """An instance as if it had been fitted; the firm inspected everybody and selected the first ones."""
    layout = instance.layout
    n = len(layout.candidate_ids)
    first = np.arange(n) - layout.search_ptr[layout.candidate_search]
    selected = first < layout.capacity[layout.candidate_search]
    realised = Realised(
        search=layout.candidate_search.copy(),
        capacity=layout.capacity.copy(),
        inspected=np.ones(n, dtype=np.bool_),
        offered=selected.copy(),
        selected=selected,
        value=np.full(n, 5.0),
        credited=np.full(n, 5.0),
        cost=np.full(n, 0.5),
        true=None,
        reached={},
    )
    quality: Any = None
    settings = FitSettings(
        fitter="none",
        fitter_settings={},
        features=(),
        blind=False,
        group_aware=True,
        folds=1,
        folds_of="search",
        propensity=False,
        value_scale=value_scale,
        value_revealed=False,
        cost="data",
        capacity="data",
        stages=(),
        score_stage=None,
        true_value=None,
    )
    return Fitted(instance, realised, quality, np.arange(n), np.full(n, 5.0), None, (), settings)


def dump(document: Any) -> str:
    """A report document as it is written to a file."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
