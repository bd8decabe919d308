"""A realistic report document (`auditkit-report/1`), written by hand, for the tests of the rendering.

Six groups, of which two are not shown; four constraints; every part present. The disparity tables are what
`auditkit.disparity` and the Local Law 144 plugin gave for such data, kept beside this file so that they stand still.
tests/test_schemas.py compares the document with the schema; after a change, write the golden page again (see
tests/test_report_render.py).
"""

from __future__ import annotations

import json
from itertools import pairwise
from math import erf, exp, factorial, sqrt
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
APPLICANTS = {"Asian": 251, "Black": 305, "Hispanic": 198, "White": 704}
INSPECTED = {"Asian": 79, "Black": 68, "Hispanic": 52, "White": 232}
SELECTED = {"Asian": 20, "Black": 9, "Hispanic": 13, "White": 64}
HIDDEN = {"Native American": "<5", "Two or more": "not shown"}
NAMES = sorted([*APPLICANTS, *HIDDEN])


def document() -> dict[str, Any]:
    """A new one each time: tests may take it apart."""
    return {
        "format": "auditkit-report/1",
        "version": "0.1.0",
        "created": "2026-11-16T06:00:00Z",
        "input": {
            "path": "people.csv",
            "rows": 1507,
            "sha256": "9b74c9897bac770ffc029102a200c5de9f4e2c8b6a1f0d3c5b7e9a8d6f4c2b10",
            "encoding": "utf-8",
            "separator": ";",
        },
        "config": {
            "cost": 2.5,
            "value_scale": 1.0,
            "fit": {"fitter": "empirical"},
            "report": {"suppress_below": 5},
            "constraints": [
                {"type": "parity", "on": "selection"},
                {"type": "impact-ratio", "minimum": 0.8},
                {"type": "quota", "group": "Black", "share": 0.204},
            ],
        },
        "mapping": [
            {"role": "candidate", "column": "Application ID", "reason": "name, and every value occurs once"},
            {"role": "search", "column": "Requisition", "reason": "name"},
            {"role": "group", "column": "Race", "reason": "name and values"},
            {"role": "inspected", "column": "Interview date", "reason": "name; a date means inspected"},
            {"role": "selected", "column": "Final status", "reason": "name and values"},
            {"role": "score", "column": "Interview score", "reason": "name, and numbers from 0 to 100"},
            {"role": "prior", "column": "CV score", "reason": "--map"},
        ],
        "problems": {
            "total": 29,
            "by_code": [
                {
                    "code": "repeated-row",
                    "treatment": "warn",
                    "count": 12,
                    "what": "the row repeats another one cell by cell and is left out",
                    "fix": "remove it",
                },
                {
                    "code": "selected-not-inspected",
                    "treatment": "warn",
                    "count": 3,
                    "what": "selected but not inspected: counted as inspected",
                    "fix": "check the column of inspections",
                },
                {
                    "code": "unknown-group",
                    "treatment": "unknown",
                    "count": 14,
                    "what": "the group is unknown",
                    "fix": "fill it in if it is known",
                },
            ],
            "counts": {"read": 1507, "used": 1495, "left": {"repeated-row": 12}},
        },
        "groups": [group(name) for name in NAMES],
        "firm": policy(3204.6, 2871.3, INSPECTED, SELECTED, 9),
        "unconstrained": {
            **policy(
                3611.82,
                3102.4,
                {"Asian": 71.3, "Black": 49.6, "Hispanic": 44.2, "White": 203.5},
                {"Asian": 21.8, "Black": 8.7, "Hispanic": 13.1, "White": 70.4},
                1.6,
            ),
            "ex_post_slack": None,
        },
        "constrained": [
            optimum(
                "parity",
                ["parity"],
                3498.21,
                3155.9,
                {"Asian": 66.9, "Black": 77.4, "Hispanic": 50.8, "White": 183.1},
                {"Asian": 19.62, "Black": 23.84, "Hispanic": 15.48, "White": 55.03},
                1.7,
                (0.9685, (0.9571, 0.9763), 113.61, (84.2, 153.8)),
                [
                    ("selection parity Asian = Black", "==", 1.84, 0.0, moved("Black", 1.5)),
                    ("selection parity Black = Hispanic", "==", -0.92, 0.0, moved("Hispanic", -0.9)),
                    ("selection parity Hispanic = White", "==", 0.61, 0.0, moved("White", -0.3)),
                ],
            ),
            optimum(
                "impact-ratio",
                ["impact-ratio:minimum=0.8"],
                3556.02,
                3139.0,
                {"Asian": 69.2, "Black": 68.8, "Hispanic": 48.1, "White": 193.0},
                {"Asian": 20.4, "Black": 19.83, "Hispanic": 14.6, "White": 59.17},
                1.6,
                (0.98455, (0.9762, 0.9901), 55.8, (35.1, 85.0)),
                [("impact ratio of selection, Black to White >= 0.8", ">=", 1.12, 0.0, moved("Black", 1.1))],
            ),
            optimum(
                "quota Black",
                ["quota:group=Black,share=0.204"],
                3531.4,
                3120.2,
                {"Asian": 67.0, "Black": 76.9, "Hispanic": 42.8, "White": 190.8},
                {"Asian": 20.1, "Black": 23.26, "Hispanic": 12.7, "White": 57.94},
                1.6,
                (0.97774, (0.9688, 0.9842), 80.42, (55.7, 113.4)),
                [("selection quota Black >= 0.204", ">=", 1.37, 0.0, moved("Black", 1.4))],
            ),
            optimum(
                "all together",
                ["parity", "impact-ratio:minimum=0.8", "quota:group=Black,share=0.204"],
                3496.88,
                3156.2,
                {"Asian": 66.8, "Black": 77.6, "Hispanic": 50.8, "White": 182.9},
                {"Asian": 19.6, "Black": 23.86, "Hispanic": 15.46, "White": 54.98},
                1.7,
                (0.96818, (0.9566, 0.9761), 114.94, (85.1, 155.6)),
                [
                    ("selection parity Asian = Black", "==", 1.79, 0.0, moved("Black", 1.5)),
                    ("impact ratio of selection, Black to White >= 0.8", ">=", 0.0, 0.2, "not binding"),
                    ("selection quota Black >= 0.204", ">=", 0.11, 0.0, moved("Black", 0.1)),
                ],
            ),
        ],
        "disparity": json.loads((HERE / "report_example_disparity.json").read_text(encoding="utf-8")),
        "funnel": [
            {"stage": "applied", "by_group": {**APPLICANTS, **dict.fromkeys(HIDDEN)}},
            {"stage": "inspected", "by_group": {**INSPECTED, **dict.fromkeys(HIDDEN)}},
            {"stage": "selected", "by_group": {**SELECTED, **dict.fromkeys(HIDDEN)}},
        ],
        "frontier": None,
        "sensitivity": None,
        "fit": {
            "fitter": "empirical",
            "pit": {
                "edges": [i / 10 for i in range(11)],
                "shares": [0.088, 0.095, 0.104, 0.11, 0.107, 0.103, 0.106, 0.1, 0.096, 0.091],
            },
            "coverage": [
                {"nominal": 0.5, "actual": 0.523},
                {"nominal": 0.8, "actual": 0.812},
                {"nominal": 0.9, "actual": 0.894},
                {"nominal": 0.95, "actual": 0.931},
            ],
            "by_group": [
                {"group": "Asian", "n": 79, "mean_error": 0.31, "crps": 4.12},
                {"group": "Black", "n": 68, "mean_error": -1.24, "crps": 4.61},
                {"group": "Hispanic", "n": 52, "mean_error": 0.08, "crps": 4.35},
                {"group": "White", "n": 232, "mean_error": 0.12, "crps": 4.02},
            ],
            "selection": {
                "by_group": [
                    {
                        "name": g,
                        "candidates": n,
                        "inspected": INSPECTED[g],
                        "scored": INSPECTED[g],
                        "rate": INSPECTED[g] / n,
                    }
                    for g, n in APPLICANTS.items()
                ],
                "by_tercile": None,
                "scored": sum(INSPECTED.values()),
                "effective_sample_size": None,
                "weighted": False,
            },
            "warnings": ["52 scores of group Hispanic: its priors lean on those of the whole job family."],
            "settings": {"points": 40, "folds": 5, "strata": ["job family", "group"], "propensity_weights": False},
        },
        "sections": {
            "local-law-144": {
                "title": "New York City Local Law 144",
                "data": {"tables": ["sex", "race", "intersection"]},
            }
        },
        "findings": [
            {
                "kind": "finding",
                "code": "impact-ratio-below-line",
                "text": "Selected: 9 of 305 applicants of group Black (3.0 %) against 64 of 704 of group White "
                "(9.1 %), an impact ratio of 0.325. That is below 4/5, and a difference larger than chance usually "
                "makes.",
            },
            {
                "kind": "finding",
                "code": "impact-ratio-below-line",
                "text": "Inspected: 68 of 305 applicants of group Black (22.3 %) against 232 of 704 of group White "
                "(33.0 %), an impact ratio of 0.677. That is below 4/5, and a difference larger than chance usually "
                "makes.",
            },
            {
                "kind": "finding",
                "code": "price-of-fairness",
                "text": "Selection parity would keep 96.9 % of the utility of the best policy without constraints, "
                "which is more than the firm's recorded decisions reached.",
            },
            {
                "kind": "notice",
                "code": "too-little-evidence",
                "text": "For Asian and Hispanic applicants there is too little evidence to place the impact ratio of "
                "selection on either side of 4/5.",
            },
            {
                "kind": "notice",
                "code": "capacity-from-selections",
                "text": "No capacity in the data: each requisition's number of positions is the number selected in it.",
            },
            {
                "kind": "notice",
                "code": "groups-suppressed",
                "text": "The numbers of 2 groups are not shown, so that no person can be recognised.",
            },
        ],
        "provenance": {
            "python": "3.11.2",
            "packages": {"auditkit": "0.1.0", "numpy": "2.4.6", "scipy": "1.17.1", "highspy": "1.15.1"},
            "platform": "Linux x86_64",
            "conventions": [
                {
                    "name": "Four-fifths rule of thumb",
                    "text": "A selection rate under four fifths of the highest group's rate is by convention taken as "
                    "a sign of adverse impact that calls for a closer look. It is a rule of thumb and no proof.",
                    "read_on": "2026-11-16",
                },
                {
                    "name": "New York City Local Law 144",
                    "text": "A summary of the audit states, for sex, for race/ethnicity and for their intersection, "
                    "each category's number of applicants, rate and impact ratio.",
                    "read_on": "2026-11-16",
                },
            ],
        },
    }


def moved(group: str, points: float) -> str:
    return f"as if each score of group {group} were {'raised' if points > 0 else 'lowered'} by {abs(points)}"


def group(name: str) -> dict[str, Any]:
    if name in HIDDEN:
        numbers: dict[str, Any] = dict.fromkeys(("applicants", "inspected", "selected"))
        return {"name": name, **numbers, "suppressed": True, "shown": HIDDEN[name]}
    numbers = {"applicants": APPLICANTS[name], "inspected": INSPECTED[name], "selected": SELECTED[name]}
    return {"name": name, **numbers, "suppressed": False}


def policy(
    utility: float, long_term: float, inspected: dict[str, Any], selected: dict[str, Any], unfilled: float
) -> dict[str, Any]:
    rows = {g: {"candidates": n, "inspected": inspected[g], "selected": selected[g]} for g, n in APPLICANTS.items()}
    hidden = {g: dict.fromkeys(("candidates", "inspected", "selected")) for g in HIDDEN}
    by_group = {**rows, **hidden}
    return {"utility": utility, "long_term_utility": long_term, "by_group": by_group, "unfilled_capacity": unfilled}


def optimum(
    label: str,
    specs: list[str],
    utility: float,
    long_term: float,
    inspected: dict[str, float],
    selected: dict[str, float],
    unfilled: float,
    price: tuple[float, tuple[float, float], float, tuple[float, float]],
    duals: list[tuple[str, str, float, float, str]],
) -> dict[str, Any]:
    kept, kept_interval, loss, loss_interval = price
    chances = [exp(-unfilled) * unfilled**k / factorial(k) for k in range(9)]
    return {
        "label": label,
        "specs": specs,
        "status": "optimal",
        "conflict": [],
        **policy(utility, long_term, inspected, selected, unfilled),
        "price_of_fairness": {
            "ratio": kept,
            "loss": loss,
            "interval": {"level": 0.95, "ratio": list(kept_interval), "loss": list(loss_interval)},
        },
        "ex_post_slack": [
            law(dual[0], 0.0 if dual[1] == "==" else dual[3], 0.021 + 0.004 * i) for i, dual in enumerate(duals)
        ],
        "unfilled": {"counts": list(range(9)), "probabilities": [round(p, 6) for p in chances]},
        "bound": utility + 3.6e-12,
        "gap": 3.6e-12,
        "duals": [
            {"label": name, "sense": sense, "value": value, "slack": slack, "words": words}
            for name, sense, value, slack, words in duals
        ],
        "order_kept": True,
    }


def law(label: str, mean: float, sd: float) -> dict[str, Any]:
    """A histogram of a normal law, for want of a solver."""
    edges = [round(mean + sd * (i - 16) / 4, 6) for i in range(33)]
    below = [0.5 * (1 + erf((edge - mean) / sd / sqrt(2))) for edge in edges]
    shares = [round(b - a, 6) for a, b in pairwise(below)]
    miss = 0.9712 if mean == 0 else 0.004
    return {"label": label, "edges": edges, "probabilities": shares, "mean": mean, "sd": sd, "outside": miss}
