"""Mixtures of policies as documents state them: who follows which policy, and whether the chances are chances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from auditkit.constraints.base import Rows
from auditkit.model.documents import MixtureModel, PolicyModel
from auditkit.model.layout import Floats, Layout
from auditkit.report.schema import LotteriesModel, MixedPolicyModel
from auditkit.verification.claims import Check
from auditkit.verification.independent import Multipliers, adjusted, evaluate

Draws = list[tuple[int, float]]


@dataclass(frozen=True)
class ClaimedMixture:
    """Policies, each with its levels, and who follows which; `weights` are those of the first format, in which one
    policy is drawn for all searches."""

    policies: Sequence[Sequence[Multipliers]]
    lotteries: MixtureModel | LotteriesModel | None
    randomised: int | None = None
    weights: Sequence[float] = ()


def mixed_policy(claimed: PolicyModel | MixedPolicyModel) -> list[Multipliers]:
    """The levels of a policy."""
    ties = [Multipliers(tie.duals, tie.objective) for tie in claimed.ties]
    return [Multipliers(claimed.duals, claimed.objective), *ties]


def lotteries_of(claimed: ClaimedMixture, names: Sequence[str]) -> list[Draws] | str:
    """The lottery of each search, or what is wrong with the mixture."""
    policies, mixture = claimed.policies, claimed.lotteries
    if mixture is None:
        return [list(enumerate(claimed.weights))] * len(names)
    if mixture.firm is not None:
        found = [list(mixture.firm)] * len(names)
    elif mixture.default is None:
        return "neither a lottery of the firm nor a policy for every search"
    else:
        unknown = sorted(set(mixture.searches) - set(names))
        if unknown:
            return f"no search {unknown[0]!r}"
        one = [(mixture.default, 1.0)]
        found = [list(mixture.searches.get(name, one)) for name in names]
    if not all(found):
        return "a search without a policy"
    if any(not 0 <= i < len(policies) for draws in found for i, _ in draws):
        return "a policy that is not listed"
    return found


def check_mixture(
    claimed: ClaimedMixture, names: Sequence[str], rows: int, exact: bool, prefix: str = ""
) -> tuple[list[Draws] | None, list[Check]]:
    """The lotteries and the claims about them: the chances, and how many searches draw by lot."""
    found = lotteries_of(claimed, names)
    if isinstance(found, str):
        return None, [Check(f"{prefix}every search has a policy", False, found)]
    wrong = [draws for draws in found if any(w < 0 for _, w in draws) or abs(sum(w for _, w in draws) - 1) > 1e-9]
    detail = f"they sum to {sum(w for _, w in wrong[0])}" if wrong else ""
    checks = [Check(f"{prefix}weights are chances", not wrong, detail)]
    if claimed.lotteries is None or claimed.lotteries.firm is not None:
        drawn = len(found) if found and len(found[0]) > 1 else 0
        if exact:
            fewest = len(claimed.policies) <= rows + 1
            checks.append(
                Check(f"{prefix}at most one policy more than rows", fewest, f"{len(claimed.policies)} policies")
            )
    else:
        drawn = sum(len(draws) > 1 for draws in found)
        if exact:
            extra = sum(len(draws) - 1 for draws in found)
            checks.append(Check(f"{prefix}at most as many coins as rows", extra <= rows, f"{extra} coins, {rows} rows"))
    if (told := claimed.randomised) is not None:
        checks.append(
            Check(f"{prefix}searches that draw a policy by lot", told == drawn, f"claimed {told}, found {drawn}")
        )
    return found, checks


def mixed_visits(
    layout: Layout, rows: Rows, policies: Sequence[Sequence[Multipliers]], lotteries: list[Draws]
) -> Floats:
    """Expected visits: each policy is evaluated on the searches that may follow it."""
    visits = np.zeros(layout.states)
    for i, policy in enumerate(policies):
        chance = np.array([sum(w for number, w in draws if number == i) for draws in lotteries])
        who = np.flatnonzero(chance)
        if len(who):
            found = evaluate(layout, adjusted(layout, rows, policy), who.tolist())
            visits += chance[layout.candidate_search][layout.state_candidate] * found
    return visits
