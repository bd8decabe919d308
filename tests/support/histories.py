"""Histories made by hand or from known priors; what the other tests of `fit` share. (No tests in here.)"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.firm_history import History
from auditkit.data.problems import Problems, RowCounts
from auditkit.data.raw_table import Source
from auditkit.data.roles import Mapping as Roles
from auditkit.fitting.fitter import Fitter
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search
from auditkit.plugins.empirical import Empirical
from auditkit.plugins.normal import Normal, normal_points

FITTERS: dict[str, type[Fitter]] = {"empirical": Empirical, "normal": Normal}


def history(columns: dict[str, Any], stages: tuple[str, ...] = (), score_stage: str | None = None) -> History:
    """A clean history; what every history has is filled in."""
    table = pd.DataFrame(columns)
    n = len(table)
    defaults: dict[str, Any] = {
        "candidate": [f"p{i}" for i in range(n)],
        "search": "all",
        "group": "A",
        "declined": False,
        "withdrawn": False,
        "pending": False,
    }
    for name, value in defaults.items():
        if name not in table:
            table[name] = value
    if "inspected" not in table:
        table["inspected"] = table["score"].notna()
    if "selected" not in table:
        table["selected"] = table["score"].groupby(table["search"]).rank(ascending=False, method="first") <= 1
    if not any(str(name).startswith("group:") for name in table):
        table["group:Group"] = table["group"]
    counts = RowCounts(n, n, {}, n, {"any": n}, table["group"].value_counts().to_dict())
    return History(table, stages, score_stage, Roles((), ()), Problems(), counts, Source("x", n, "", None, None, 1), ())


def known_world(
    n: int, seed: int, per_search: int = 20, capacity: int = 2, cost: float = 0.3
) -> tuple[History, Instance]:
    """Score ~ N(6 + prior - 0.5 for F, spread depending on prior and group) on 40 points; 70 % inspected.

    The history, and the instance with the laws from which its scores were drawn.
    """
    rng = np.random.default_rng(seed)
    prior, group = rng.normal(size=n), np.where(rng.random(n) < 0.35, "F", "M")
    mean = 6 + prior - 0.5 * (group == "F")
    spread = 1 + 0.3 * np.tanh(prior) + 0.2 * (group == "F")
    z = normal_points(40)
    scores = mean + spread * z[rng.integers(0, 40, n)]
    search = np.arange(n) // per_search
    data = history(
        {
            "search": [f"r{s}" for s in search],
            "group": group,
            "prior:cv": prior,
            "score": np.where(rng.random(n) < 0.7, scores, np.nan),
        }
    )
    uniform = np.full(40, 1 / 40)
    boxes = [Box(f"c{i}", str(group[i]), cost, mean[i] + spread[i] * z, uniform) for i in range(n)]
    searches = [
        Search(f"r{s}", capacity, tuple(boxes[s * per_search : (s + 1) * per_search])) for s in range(n // per_search)
    ]
    return data, Instance(tuple(searches))
