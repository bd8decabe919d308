"""Parity in selection: short-term and long-term utilities, high inspection costs, the optimal dual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from auditkit.model.layout import Floats
from auditkit.plugins.study import paper_claims, timing
from auditkit.plugins.study.estimate import Estimate, bootstrapped, mean, ratio_of_means, starts
from auditkit.plugins.study.paper_claims import (
    Claim,
    Findings,
    Line,
    Panel,
    Study,
    StudyTable,
    curve,
    joined,
    summary,
    with_ratios,
)
from auditkit.plugins.study.store import Data
from auditkit.plugins.study.sweeps import TENTHS

MAIN_K = (8, 15, 20)
UTILITY, RATIO, LOSS = "utility", "constrained / unconstrained", "unconstrained − constrained"
RHO, CAPACITY, SHARE = "bias factor ρ", "capacity k", "quota θ"
PAIR = (("free", "unconstrained", 1), ("best", "constrained", 0))


def seconds_by_capacity(data: Data, numbers: Sequence[str]) -> tuple[Panel, ...]:
    return tuple(
        Panel(
            f"ρ = {rho:g}", CAPACITY, "seconds", tuple(curve(name, *data.line(name, "k", rho=rho)) for name in numbers)
        )
        for rho in timing.RHOS
    )


def utilities(data: Data, over: str, x: str, title: str, end: str = "", **where: float) -> Panel:
    """Both utilities along one key."""
    lines = []
    for number, label, colour in PAIR:
        grid, values = data.line(number + end, over, **where)
        lines.append(curve(label, grid, values, colour=colour))
    return Panel(title, x, UTILITY, tuple(lines))


def family(
    data: Data, number: str, over: str, by: str, values: Sequence[float], label: str, **where: float
) -> tuple[Line, ...]:
    """One curve of a number for each value of a key."""
    lines = []
    for value in values:
        grid, found = data.line(number, over, **{by: value}, **where)
        lines.append(curve(f"{label}{value:g}", grid, found))
    return tuple(lines)


def ratio_and_slack(data: Data, number: str, title: str) -> Panel:
    """The price of fairness, and dashed the normalised slack of the unconstrained optimum."""
    lines = []
    for colour, k in enumerate(MAIN_K):
        lines.append(curve(f"ratio, k = {k}", *data.line(number, "rho", k=k), colour=colour))
    for colour, k in enumerate(MAIN_K):
        lines.append(curve(f"slack / k, k = {k}", *data.line("slack", "rho", k=k), "dashed", colour))
    return Panel(title, RHO, f"{RATIO}; slack / k", tuple(lines), level=1.0)


def _tenths(data: Data, number: str, k: int) -> Floats:
    return np.array([float(data.at(number, rho=rho, k=k).mean()) for rho in TENTHS])


def short_term(found: Mapping[str, Data]) -> Findings:
    data = with_ratios(found["parity"])
    loss = mean(1 - data.at("ratio", rho=0.7, k=20))
    slack = mean(data.at("slack", rho=0.7, k=20))
    means = ratio_of_means(data.at("best", rho=0.7, k=20), data.at("free", rho=0.7, k=20))
    at_half = mean(1 - data.at("ratio", rho=0.5, k=20))
    small = _tenths(data, "ratio", 20)
    worst = min(MAIN_K, key=lambda k: float(data.at("ratio", rho=0.7, k=k).mean()))
    worst_loss = mean(1 - data.at("ratio", rho=0.7, k=worst))
    grows = [data.at("best", rho=rho).mean(axis=0)[::-1] for rho in TENTHS if rho >= 0.3]
    stated = (
        paper_claims.less(
            "5.1", "ρ = 0.7, k = 20: the drop in utility is less than 6 %", loss, 0.06, loss.text(2, percent=True)
        ),
        paper_claims.less(
            "5.1",
            "the same for k = 8, 15, 20",
            worst_loss,
            0.06,
            f"{worst_loss.text(2, percent=True)} (k = {worst}, the largest)",
        ),
        paper_claims.about("5.1", "ρ = 0.7, k = 20: normalised slack around 0.5", slack, 0.5, 0.05),
        paper_claims.true(
            "5.1",
            "from ρ = 1 to about 0.5 the ratio falls gradually",
            f"{small[-1]:.3f} (ρ = 1) … {small[4]:.3f} (0.5) … {small[0]:.3f} (0.1), k = 20; loss at 0.5 "
            f"{at_half.text(1, percent=True)}",
            paper_claims.monotone(small),
        ),
        paper_claims.true(
            "EC parity",
            "for ρ in [0.3, 1] both utilities rise with k",
            f"smallest step of the constrained utility from k to k + 1: {min(np.diff(g).min() for g in grows):.2f}",
            all(paper_claims.monotone(g) for g in grows),
        ),
        _constant_after_six(data),
        _constant_after_six(found["high-cost"], HIGH),
    )
    panels = (
        utilities(data, "rho", RHO, "k = 20", k=20),
        ratio_and_slack(data, "ratio", "price of fairness, slack"),
        Panel("loss of utility", RHO, LOSS, family(data, "loss", "rho", "k", MAIN_K, "k = ")),
        *(utilities(data, "k", CAPACITY, f"ρ = {rho:g}", rho=rho) for rho in (0.9, 0.6, 0.2)),
        *(utilities(data, "rho", RHO, f"k = {k}", k=k) for k in (1, 10)),
        Panel("ratio", CAPACITY, RATIO, family(data, "ratio", "k", "rho", (0.9, 0.7, 0.5, 0.3, 0.1), "ρ = "), 1.0),
        Panel("slack", CAPACITY, "(X − Y) / k", family(data, "slack", "k", "rho", (1, 0.9, 0.7, 0.5, 0.3), "ρ = ")),
        Panel("slack", RHO, "(X − Y) / k", family(data, "slack", "rho", "k", (1, 5, 10, 20), "k = ")),
        Panel("loss of utility", CAPACITY, LOSS, family(data, "loss", "k", "rho", (0.9, 0.7, 0.5, 0.3, 0.1), "ρ = ")),
    )
    note = (
        f"Ratio of the mean utilities at ρ = 0.7, k = 20 instead of the mean of the instances' ratios: {means.text(4)} "
        f"(mean of ratios {mean(data.at('ratio', rho=0.7, k=20)).text(4)})."
    )
    empty = mean(data.at("unfilled", rho=0.2, k=20))
    why = (
        "The companion's statement about small ρ needs capacity that stays unfilled. In the basic set-up hardly any "
        "does "
        f"({empty.text(1, percent=True)} at ρ = 0.2, k = 20); with high inspection costs it does, and the statement "
        "holds there."
    )
    return Findings(stated, panels, _table(data), (), (note, why))


def _constant_after_six(data: Data, end: str = "") -> Claim:
    """The capacity at which the constrained optimum at rho = 0.2 has 95 % of its utility at k = 20."""
    utility = data.line("best", "k", rho=0.2)[1]
    enough = mean(1.0 + np.argmax(utility >= 0.95 * utility[:, -1:], axis=1))
    empty = mean(data.at("unfilled", rho=0.2, k=20))
    return paper_claims.about(
        "EC parity",
        f"small ρ (the figure: 0.2): the constrained utility is constant after k ≈ 6, capacity stays unfilled{end}",
        enough,
        6,
        2,
        f"95 % of the utility at k = 20 is reached at k = {enough.text(1)}; {empty.text(0, percent=True)} is unfilled",
    )


def _table(data: Data) -> StudyTable:
    names = ("free", "best", "ratio", "free_long", "best_long", "long_ratio", "slack", "unfilled", "dual", "gap")
    return summary(data, {name: data.columns[name] for name in names})


HIGH = " (high-cost set-up)"
"""The companion's statements on unfilled capacity, thresholds and extra capacity are measured in both set-ups."""


def _wins_from(data: Data, k: int) -> tuple[Estimate, str]:
    """The bias factor from which the constrained policy is worth more in the long term."""
    x, gain = data.line("long_gain", "rho", k=k)

    def start(means: Floats) -> float:
        return starts(x, means)

    e = bootstrapped(gain, start)
    always = f"wins at every ρ ≥ {x[0]:g} up to the peak"
    return e, f"wins from ρ = {e.text(3)}" if np.isfinite(e.value) else always if e.value < 0 else "never wins"


THRESHOLDS = {5: 0.07, 10: 0.18, 20: 0.28}
"""k -> the bias factor from which the constrained policy wins, in the companion."""


def _unexplained(measured: Mapping[int, float]) -> str:
    """Thresholds with high costs that are far from the companion's."""
    far = [f"k = {k}" for k, said in THRESHOLDS.items() if not abs(measured[k] - said) <= 0.06]
    if not far:
        return ""
    found, said = (" / ".join(f"{x:.2f}" for x in numbers) for numbers in (measured.values(), THRESHOLDS.values()))
    return (
        f"With high costs the thresholds measured at k = 5 / 10 / 20 are {found}, against {said} in the companion; "
        f"those at {' and '.join(far)} are unexplained: nothing in its set-up accounts for the difference. "
    )


def long_term(found: Mapping[str, Data]) -> Findings:
    data = with_ratios(found["parity"])
    stated = []
    measured: dict[int, float] = {}
    for where, end in ((data, ""), (with_ratios(found["high-cost"]), HIGH)):
        for k, threshold in THRESHOLDS.items():
            e, text = _wins_from(where, k)
            measured[k] = e.value  # in the end those with high costs
            says = f"k = {k}: the constrained policy wins in the long term for ρ ≥ {threshold} (± 0.03){end}"
            distance = abs(e.value - threshold) - 0.03 if np.isfinite(e.value) else np.inf
            stated.append(Claim("EC parity", says, text, paper_claims.judged(distance, e.se)))
    for k in MAIN_K:
        line = _tenths(data, "long_ratio", k)
        at = int(line[:-1].argmin())
        least, unbiased = (mean(data.at("long_ratio", rho=rho, k=k)) for rho in (TENTHS[at], 1.0))
        says = f"k = {k}: the long-term ratio is above 1 for all ρ (judged: 0.1 … 0.9; at ρ = 1 it cannot be)"
        above = [f"{rho:g}" for rho, ratio in zip(TENTHS, line, strict=True) if ratio >= 1]
        text = f"least {least.text(4)} (ρ = {TENTHS[at]:g}); above 1 at ρ = {', '.join(above)}; at 1 {unbiased.text(4)}"
        stated.append(paper_claims.more("5.2", says, least, 1.0, text))
    best, free = (_tenths(data, name, 20) for name in ("best_long", "free_long"))
    change = [float(line[4] / line[-1] - 1) for line in (best, free)]
    stated.append(
        paper_claims.true(
            "5.2",
            "as ρ falls the constrained policy's long-term utility is nearly constant, the unconstrained one's falls",
            f"from ρ = 1 to 0.5: {change[0]:+.1%} against {change[1]:+.1%}; to 0.1: {best[0] / best[-1] - 1:+.1%} "
            f"against {free[0] / free[-1] - 1:+.1%} (k = 20)",
            abs(change[0]) < 0.25 * abs(change[1]),
        )
    )
    panels = (
        utilities(data, "rho", RHO, "long term, k = 20", "_long", k=20),
        ratio_and_slack(data, "long_ratio", "long-term price of fairness, slack"),
        Panel(
            "long-term gain",
            RHO,
            "constrained − unconstrained",
            family(data, "long_gain", "rho", "k", (5, 10, 20), "k = "),
            0,
        ),
        *(utilities(data, "rho", RHO, f"long term, k = {k}", "_long", k=k) for k in (5, 10)),
        Panel("long-term ratio", RHO, RATIO, family(data, "long_ratio", "rho", "k", (5, 10, 20), "k = "), 1.0),
    )
    note = (
        "The paper's main text says that the constrained policy wins for all ρ, its companion that it wins above "
        "a threshold that grows with k; both are judged. In the basic set-up no capacity stays unfilled, which "
        "is the reason that the companion gives for its thresholds; with high costs it does (study `high-cost`). "
        f"{_unexplained(measured)}"
        "Close enough to ρ = 1 a ratio above 1 is impossible wherever parity binds at ρ = 1: there the firm sees the "
        "true values, so the unconstrained policy is the best in the long term too and the ratio is below 1, and it "
        "moves continuously with ρ. So it cannot be above 1 for all ρ; 0.9 is the nearest point measured."
    )
    return Findings(tuple(stated), panels, _table(data), (), (note,))


def high_cost(found: Mapping[str, Data]) -> Findings:
    data = with_ratios(found["high-cost"])
    by_rho = {k: _tenths(data, "unfilled", k) for k in (4, 10, 20)}
    free = _tenths(data, "free", 20)
    best = _tenths(data, "best", 20)
    fills = mean(1 - data.at("free_unfilled", rho=0.1, k=20))
    slack = mean(data.at("slack", rho=0.1, k=20))
    long = [_tenths(data, name, 20) for name in ("best_long", "free_long")]
    stated = (
        paper_claims.true(
            "EC unintended",
            "the constrained policy leaves capacity unfilled for small ρ, more so for larger k",
            "; ".join(f"k = {k}: {v[0]:.0%} (ρ = 0.1), {v[2]:.0%} (0.3), {v[6]:.0%} (0.7)" for k, v in by_rho.items()),
            bool(by_rho[4][0] < by_rho[10][0] < by_rho[20][0]) and by_rho[20][0] > 0.1,
        ),
        paper_claims.true(
            "EC unintended",
            "for ρ in [0, 0.3] the constrained utility drops drastically, the unconstrained one hardly changes",
            f"from ρ = 0.3 to 0.1: {best[0] / best[2] - 1:+.1%} against {free[0] / free[2] - 1:+.1%} (short term), "
            f"{long[0][0] / long[0][2] - 1:+.1%} against {long[1][0] / long[1][2] - 1:+.1%} (long term), k = 20",
            bool(abs(free[0] / free[2] - 1) < 0.05 and best[0] / best[2] - 1 < -0.2),
        ),
        paper_claims.more(
            "EC unintended",
            "the unconstrained policy fills most of its capacity even at ρ = 0.1 (taken as: more than half)",
            fills,
            0.5,
            f"{fills.text(0, percent=True)} filled, slack / k {slack.text(2)} (k = 20)",
        ),
    )
    ks = (4, 8, 15, 20)
    panels = (
        utilities(data, "rho", RHO, "short term, k = 20", k=20),
        ratio_and_slack(data, "ratio", "short-term price of fairness, slack"),
        Panel("unfilled capacity, constrained", RHO, "share of k", family(data, "unfilled", "rho", "k", ks, "k = ")),
        utilities(data, "rho", RHO, "long term, k = 20", "_long", k=20),
        ratio_and_slack(data, "long_ratio", "long-term price of fairness, slack"),
        Panel(
            "unfilled capacity, constrained",
            CAPACITY,
            "share of k",
            family(data, "unfilled", "k", "rho", (0.1, 0.2, 0.3, 0.5, 0.7, 1.0), "ρ = "),
        ),
    )
    return Findings(stated, panels, _table(data))


def optimal_dual(found: Mapping[str, Data]) -> Findings:
    data, quota, budget = found["parity"], found["quota"], found["budget"]
    line = _tenths(data, "dual", 20)
    shares, by_share = quota.line("dual", "share", rho=0.5, k=20)
    limits, by_limit = budget.line("dual", "b", rho=1.0, k=20)
    stated = (
        paper_claims.true(
            "EC parity",
            "λ* grows as ρ falls (parity, k = 20)",
            f"{line[-1]:.2f} (ρ = 1), {line[6]:.2f} (0.7), {line[2]:.2f} (0.3), {line[0]:.2f} (0.1)",
            paper_claims.monotone(line, rising=False),
        ),
    )
    panels = (
        Panel("parity", CAPACITY, "λ*", family(data, "dual", "k", "rho", (1, 0.9, 0.7, 0.5, 0.3, 0.1), "ρ = ")),
        Panel("parity", RHO, "λ*", family(data, "dual", "rho", "k", (1, 5, 10, 20), "k = ")),
        *(
            Panel(
                f"quota, k = {k}",
                SHARE,
                "λ*",
                family(quota, "dual", "share", "rho", (0.1, 0.3, 0.5, 0.7, 1), "ρ = ", k=k),
            )
            for k in (1, 10, 20)
        ),
        *(
            Panel(f"budget, k = {k}", "budget b", "λ*", family(budget, "dual", "b", "rho", (0.3, 0.7, 1), "ρ = ", k=k))
            for k in (10, 15, 20)
        ),
    )
    tables = [(name, summary(d, {"dual": d.columns["dual"]})) for name, d in found.items()]
    note = (
        f"Quota, ρ = 0.5, k = 20: λ* is 0 up to θ = {shares[by_share.mean(axis=0) < 1e-9].max(initial=0):g}. "
        f"Budget, ρ = 1, k = 20: λ* falls from {by_limit.mean(axis=0)[0]:.1f} (b = {limits[0]:g}) to "
        f"{by_limit.mean(axis=0)[10]:.2f} (b = 10). The paper states no numbers."
    )
    return Findings(stated, panels, joined(tables), (), (note,))


_FIGURES = "fig. short-term, v1 utilities, ratio, difference and slack"
STUDIES = (
    Study("short-term", "Parity: short-term utilities", _FIGURES, ("parity", "high-cost"), short_term),
    Study(
        "long-term",
        "Parity: long-term utilities",
        "fig. long-term, v3 utilities and ratios",
        ("parity", "high-cost"),
        long_term,
    ),
    Study(
        "high-cost", "High inspection costs: unfilled capacity", "fig. high cost, unintended", ("high-cost",), high_cost
    ),
    Study(
        "optimal-dual",
        "The optimal dual",
        "fig. dual adjustment of parity, quota, budget",
        ("parity", "quota", "budget"),
        optimal_dual,
    ),
)
