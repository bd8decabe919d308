"""A budget for selections from Y: the gain from it, and the table that sets it against capacity.

`U(k, b)` is the utility with capacity k and at most b expected selections from Y. The gain from a budget is
U(k, b) / U(k, 0). Entry (k, b) of the table is the gain of one more unit of budget minus that of one more position,

    U(k, b + 1) / U(k, 0)  -  U(k + 1, b) / U(k + 1, 0)

which reproduces every identity that the printed table implies (the two printed entries of a row and the next share a
term). The paper does not say whether ratios are averaged or averages divided: both are given. The first is judged,
because an entry of a table is then what a firm with one instance may expect.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from auditkit.model.layout import Floats
from auditkit.plugins.study import paper_claims
from auditkit.plugins.study.estimate import Estimate, mean, standard_error
from auditkit.plugins.study.paper_claims import Claim, Findings, Panel, Study, StudyTable, summary, with_ratios
from auditkit.plugins.study.parity_figures import family, utilities
from auditkit.plugins.study.store import Data
from auditkit.plugins.study.sweeps import BUDGET_K, BUDGET_RHOS, TABLE_B, TABLE_K

PRINTED = np.array(
    [
        [0.291, 0.040, 0.003, 0.003, 0.003],
        [0.251, 0.067, 0.009, 0.001, 0.001],
        [0.221, 0.079, 0.021, 0.004, 0.001],
        [0.201, 0.081, 0.028, 0.007, 0.001],
        [0.185, 0.082, 0.034, 0.010, 0.002],
        [0.173, 0.082, 0.039, 0.015, 0.003],
        [0.163, 0.082, 0.043, 0.019, 0.005],
        [0.154, 0.081, 0.047, 0.024, 0.009],
        [0.146, 0.079, 0.049, 0.028, 0.013],
        [0.139, 0.077, 0.049, 0.031, 0.016],
    ]
)
"""The paper's table: rows k = 1..10, columns b = 0..4."""


def budget(found: Mapping[str, Data]) -> Findings:
    data = with_ratios(found["budget"])
    none = np.empty_like(data.columns["best"])
    for rho in BUDGET_RHOS:
        for k in BUDGET_K:
            where = (data.keys["rho"] == rho) & (data.keys["k"] == k)
            none[:, where] = data.at("best", rho=rho, k=k, b=0)[:, None]
    data.columns["gain"] = data.columns["best"] / none
    steps = {}
    for k in (5, 10, 20):
        _, values = data.line("gain", "b", rho=1.0, k=k)
        steps[k] = np.diff(values.mean(axis=0))
    one = {k: mean(data.at("gain", rho=1.0, k=k, b=1) - 1) for k in (5, 10, 20)}
    stated = (
        paper_claims.true(
            "EC budget",
            "any budget increases the utility, every further unit by less",
            "; ".join(
                f"k = {k}: first unit {e.text(1, percent=True)}, fifth {steps[k][4]:.2%}" for k, e in one.items()
            ),
            all((s >= -1e-9).all() and paper_claims.monotone(s, False, 1e-9) for s in steps.values()),
        ),
    )
    panels = (
        *(
            Panel(
                f"gain from budget, k = {k}",
                "budget b",
                "U(k, b) / U(k, 0)",
                family(data, "gain", "b", "rho", BUDGET_RHOS, "ρ = ", k=k),
                1,
            )
            for k in (5, 10, 20)
        ),
        *(
            utilities(data, "b", "budget b", f"ρ = 1, k = {k} (unlimited, with budget)", rho=1.0, k=k)
            for k in (10, 15, 20)
        ),
    )
    names = ("gain", "best", "free", "ratio", "dual", "gap")
    return Findings(stated, panels, summary(data, {name: data.columns[name] for name in names}))


def entries(best: Floats) -> Floats:
    """Table entries from U, (..., k, b) with one capacity and one budget more than the table has."""
    gain = best / best[..., :1]
    return np.asarray(gain[..., :-1, 1:] - gain[..., 1:, :-1])


def of_means(best: Floats) -> tuple[Floats, Floats]:
    """The entries of the mean utilities, and their standard errors by the jackknife over instances."""
    n = len(best)
    total = best.sum(axis=0)
    value = entries(total / n)
    if n < 2:
        return value, np.full(value.shape, np.nan)
    left_out = entries((total - best) / (n - 1))
    return value, np.sqrt((n - 1) * ((left_out - left_out.mean(axis=0)) ** 2).mean(axis=0))


def budget_table(found: Mapping[str, Data]) -> Findings:
    data = found["budget-table"]
    best = data.columns["best"].reshape(data.instances, len(TABLE_K), len(TABLE_B))
    ours = entries(best)
    value, se = ours.mean(axis=0), standard_error(ours)
    means, means_se = of_means(best)
    near = np.abs(value - PRINTED) <= 0.01
    within = np.abs(value - PRINTED) <= 0.01 + 2 * se
    far = [f"({k}, {b})" for k, b in np.argwhere(~within) + np.array([1, 0])]
    stated = [
        Claim(
            "EC table",
            "its 50 entries (each within 0.01)",
            f"{int(near.sum())} within 0.01, {int((within & ~near).sum())} more within 0.01 and 2 standard errors"
            + (f"; further away: {', '.join(far)}" if far else ""),
            "agrees" if near.all() else "within error" if within.all() else "differs",
        ),
        paper_claims.true(
            "EC budget",
            "at b = 0 and b = 1 a unit of budget gains more than a position",
            f"least entry there {value[:, :2].min():.3f}",
            bool((value[:, :2] > 0).all()),
        ),
        paper_claims.true(
            "EC budget",
            "entries fall with b",
            "in every row" if (np.diff(value, axis=1) <= 1e-3).all() else "not in every row",
            bool((np.diff(value, axis=1) <= 1e-3).all()),
        ),
    ]
    for k in (1, 5, 10):
        e = Estimate(float(value[k - 1, 0]), float(se[k - 1, 0]))
        stated.append(
            paper_claims.about("EC table", f"entry ({k}, 0) is {PRINTED[k - 1, 0]:.3f}", e, PRINTED[k - 1, 0], 0.01)
        )
    rows = [
        (k + 1, b, PRINTED[k, b], value[k, b], se[k, b], means[k, b], means_se[k, b])
        for k in range(10)
        for b in range(5)
    ]
    shown = (
        ("Measured (mean of ratios ± standard error) and, in brackets, printed", _page(value, se)),
        ("Ratio of means ± standard error and, in brackets, printed", _page(means, means_se)),
    )
    x = np.arange(1, 11, dtype=np.float64)
    panels = tuple(
        Panel(
            f"b = {b}",
            "capacity k",
            "entry",
            (
                paper_claims.Line("measured", x, value[:, b], se[:, b]),
                paper_claims.Line("printed", x, PRINTED[:, b], None, "dashed"),
                paper_claims.Line("ratio of means", x, means[:, b], means_se[:, b], "solid", 2),
            ),
        )
        for b in range(5)
    )
    table = StudyTable(
        ("k", "b", "printed", "mean_of_ratios", "mean_of_ratios_se", "ratio_of_means", "ratio_of_means_se"),
        tuple(tuple(float(x) for x in row) for row in rows),
    )
    sd = float(se[0, 0] * np.sqrt(data.instances))
    far_at_most = float(np.max(np.abs(value - PRINTED) / (se * np.sqrt(data.instances / 100))))
    notes = (
        f"One instance's entry (1, 0) has a standard deviation of {sd:.2f}: an average over n instances is off by "
        f"about {sd:.2f} / √n there, {sd / 10:.2f} with 100 instances. The paper does not say how many it used. If it "
        f"were 100, no printed entry would be further than {far_at_most:.1f} such deviations from the mean measured "
        "here: the differences, largest where a single instance says least, are what averages of a hundred instances "
        "would show.",
    )
    return Findings(tuple(stated), panels, table, shown, notes)


def _page(value: Floats, se: Floats) -> StudyTable:
    rows = tuple(
        (str(k + 1), *(f"{value[k, b]:.3f} ± {se[k, b]:.3f} ({PRINTED[k, b]:.3f})" for b in range(5)))
        for k in range(10)
    )
    return StudyTable(("k \\ b", "0", "1", "2", "3", "4"), rows)


STUDIES = (
    Study("budget", "Gain from a budget", "fig. v4 gain, unlimited budget", ("budget",), budget),
    Study("budget-table", "Budget against capacity", 'table "gain of extra budget"', ("budget-table",), budget_table),
)
