"""All studies by name, in the order of the paper."""

from __future__ import annotations

from auditkit.errors import InputError, Problem, nearest
from auditkit.plugins.study import budget_figures, chain_figures, parity_figures, policy_figures, quota_figures
from auditkit.plugins.study.paper_claims import Study

_BY_NAME = {
    s.name: s
    for module in (parity_figures, quota_figures, budget_figures, policy_figures, chain_figures)
    for s in module.STUDIES
}
_ORDER = (
    *("values", "short-term", "long-term", "quota", "high-cost", "extra-capacity", "optimal-dual", "randomisation"),
    *("budget", "budget-table", "ex-post", "running-times", "uniform", "two-stage", "trajectories", "two-stage-times"),
)
STUDIES = {name: _BY_NAME[name] for name in _ORDER}


def chosen(name: str) -> list[Study]:
    """The studies that a name on the command line means."""
    if name == "all":
        return list(STUDIES.values())
    if name not in STUDIES:
        raise InputError(Problem("NAME", f"there is no study {name!r}", nearest(name, [*STUDIES, "all", "list"])))
    return [STUDIES[name]]
