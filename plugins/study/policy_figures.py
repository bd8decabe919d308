"""What instances and policies look like: drawn values, the need to randomise, realised slacks, seconds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from auditkit.plugins.study import ex_post, paper_claims, timing
from auditkit.plugins.study.estimate import mean
from auditkit.plugins.study.paper_claims import Findings, Line, Panel, Study, StudyTable, summary
from auditkit.plugins.study.parity_figures import RHO, family, seconds_by_capacity
from auditkit.plugins.study.store import Data
from auditkit.plugins.study.sweeps import RANDOM_ATOMS


def values(found: Mapping[str, Data]) -> Findings:
    data = found["values"]
    panels = []
    for uniform, name in ((0, "log-normal"), (1, "uniform")):
        for rho in (0.3, 0.6, 0.9):
            lines = []
            for group, label in ((0, "X"), (1, "Y")):
                low, shares = data.line("share", "low", uniform=uniform, rho=rho, group=group)
                lines.append(Line(label, low + 2.5, shares.mean(axis=0), None, "steps"))
            panels.append(Panel(f"{name} means, ρ = {rho:g}", "signal v", "share per 5", tuple(lines)))
    notes = (
        "Exact laws of the drawn candidates, averaged over instances; values beyond the axis are in the last bins.",
    )
    return Findings((), tuple(panels), summary(data, {"share": data.columns["share"]}), (), notes)


def randomisation(found: Mapping[str, Data]) -> Findings:
    data = found["randomisation"]
    finest = max(RANDOM_ATOMS)
    rhos = np.unique(data.keys["rho"])
    biased = [float(rho) for rho in rhos if rho < 1]
    mixed = mean(data.at("mixed", atoms=finest).mean(axis=1))
    by_atoms = {
        atoms: mean(np.mean([data.at("order", atoms=atoms, rho=rho).mean(axis=1) for rho in biased], axis=0))
        for atoms in RANDOM_ATOMS
    }
    by_k = {
        k: mean(np.mean([data.at("order", atoms=finest, rho=rho, k=k) for rho in biased], axis=0))
        for k in (1, 5, 10, 20)
    }
    jump = {
        k: mean(np.mean([data.at("jump", atoms=finest, rho=rho, k=k) for rho in biased], axis=0))
        for k in (1, 5, 10, 20)
    }
    order = by_atoms[finest]
    stated = (
        paper_claims.more(
            "EC parity",
            "the optimum randomises in the majority of instances: with the values that are solved here",
            mixed,
            0.5,
            f"{mixed.text(0, percent=True)} of instances and points",
        ),
        paper_claims.more(
            "EC parity",
            "the same with continuous values (where only an exchange of two inspections needs it), all k and ρ < 1",
            order,
            0.5,
            "; ".join(f"{atoms} levels: {e.text(0, percent=True)}" for atoms, e in by_atoms.items()),
        ),
        *(
            paper_claims.more(
                "EC parity", f"continuous values, k = {k}", e, 0.5, f"{e.text(0, percent=True)} ({finest} levels)"
            )
            for k, e in by_k.items()
        ),
    )
    panels = (
        Panel(
            f"an exchange of inspections, {finest} levels",
            RHO,
            "share of instances",
            family(data, "order", "rho", "k", (1, 5, 10, 20), "k = ", atoms=finest),
        ),
        Panel(
            "as values become finer, ρ = 0.7",
            "levels of values",
            "share of instances",
            family(data, "order", "atoms", "k", (1, 5, 10, 20), "k = ", rho=0.7),
        ),
        Panel(
            "slack between the two policies",
            RHO,
            "per position",
            family(data, "jump", "rho", "k", (1, 5, 10, 20), "k = ", atoms=finest),
        ),
    )
    notes = (
        "With finitely many values a mixture of two policies is needed almost surely, however little the two differ "
        f"(slack between them at {finest} levels: "
        + ", ".join(f"{e.text(3)} per position at k = {k}" for k, e in jump.items())
        + "). The paper, whose values are continuous, does not say how it judged the need.",
    )
    table = summary(data, {name: data.columns[name] for name in ("mixed", "order", "jump")})
    return Findings(stated, panels, table, (), notes)


def realised(found: Mapping[str, Data]) -> Findings:
    data = found["ex-post"]
    panels: list[Panel] = []
    rows: list[tuple[float | str, ...]] = []
    names = (("parity", "ρ = "), ("quota, ρ = 0.7", "θ = "), ("budget, ρ = 1", "b = "))
    for kind, (title, label) in enumerate(names):
        lines = []
        for parameter in np.unique(data.along("parameter", kind=kind)):
            bins = [data.at(f"bin{i}", kind=kind, parameter=float(parameter)).mean() for i in range(ex_post.BINS)]
            lines.append(Line(f"{label}{parameter:g}", ex_post.CENTRES, np.array(bins), None, "steps"))
            numbers = [mean(data.at(n, kind=kind, parameter=float(parameter))) for n in ("mean", "sd", "within")]
            rows.append((ex_post.KINDS[kind], float(parameter), *(x for e in numbers for x in (e.value, e.se))))
        panels.append(Panel(f"{title}, k = 20", "normalised ex-post slack", "probability per 0.1", tuple(lines)))

    def at(kind: int, parameter: float, number: str = "within") -> float:
        return float(data.at(number, kind=kind, parameter=parameter).mean())

    inside = mean(data.at("within", kind=0, parameter=0.7))
    shares = [float(t) for t in np.unique(data.along("parameter", kind=1))]
    limits = [float(b) for b in np.unique(data.along("parameter", kind=2))]
    stated = (
        paper_claims.more(
            "EC parity",
            "the ex-post slack of parity is close to 0, its tail decays fast (taken as: within 0.2 in 9 of 10 cases)",
            inside,
            0.9,
            f"within 0.2 with chance {inside.text(3)}, sd {at(0, 0.7, 'sd'):.3f} (ρ = 0.7, k = 20)",
        ),
        paper_claims.true(
            "EC quota",
            "for every θ the ex-post slack has a low variance (taken as: sd below 0.25)",
            ", ".join(f"{at(1, t, 'sd'):.2f} (θ = {t:g})" for t in shares),
            max(at(1, t, "sd") for t in shares) < 0.25,
        ),
        paper_claims.true(
            "EC quota",
            "small θ are skewed to the left because the quota does not bind",
            "mean slack " + ", ".join(f"{at(1, t, 'mean'):+.2f} (θ = {t:g})" for t in shares),
            at(1, shares[0], "mean") < -0.1,
        ),
        paper_claims.true(
            "EC budget",
            "for every b the ex-post slack has a low variance (taken as: sd below 0.25)",
            ", ".join(f"{at(2, b, 'sd'):.2f} (b = {b:g})" for b in limits),
            max(at(2, b, "sd") for b in limits) < 0.25,
        ),
        paper_claims.true(
            "EC budget",
            "large b are skewed to the left because the budget does not bind",
            "mean slack " + ", ".join(f"{at(2, b, 'mean'):+.2f} (b = {b:g})" for b in limits),
            at(2, limits[-1], "mean") < -0.05,
        ),
    )
    columns = ("constraint", "parameter", "mean", "mean_se", "sd", "sd_se", "within_0.2", "within_0.2_se")
    notes = (
        "Exact laws of each instance's optimal mixture, averaged over instances. Parity's bias factor is not stated.",
    )
    return Findings(stated, tuple(panels), StudyTable(columns, tuple(rows)), (), notes)


def running_times(found: Mapping[str, Data]) -> Findings:
    data = found["times"]
    both = {name: float(np.median(data.columns[name])) * 1e3 for name in timing.NUMBERS}
    notes = (
        f"Median over all points: {both['unconstrained']:.2f} ms unconstrained, {both['constrained']:.1f} ms "
        "constrained with a certificate, of processor time. The paper's text states no numbers.",
    )
    return Findings(
        (),
        seconds_by_capacity(data, timing.NUMBERS),
        summary(data, {name: data.columns[name] for name in timing.NUMBERS}),
        (),
        notes,
    )


STUDIES = (
    Study("values", "Values drawn", "fig. histograms of values, and uniform", ("values",), values),
    Study("randomisation", "Need to randomise", "fig. fraction of instances", ("randomisation",), randomisation),
    Study("ex-post", "Realised slacks", "fig. ex-post slack of parity, quota, budget", ("ex-post",), realised),
    Study("running-times", "Running times", "fig. running time", ("times",), running_times),
)
