"""The price of a constraint over a range of hidden information.

If what the firm saw of group g has the correlation rho with what the priors leave open of the score, scores of the
inspected of g are rho sigma lambda_g too high on average (`hidden_information`), and so are the priors learnt from
them. For each rho of a range the laws of the group are lowered by that much and the constraint is priced again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from auditkit.fitting.fitted import Fitted
from auditkit.fitting.hidden_information import HiddenInformation
from auditkit.model.variants import with_shift
from auditkit.solver import solve

if TYPE_CHECKING:
    from auditkit.compare.comparison import Constrained

CORRELATIONS = (0.25, 0.5)
"""Besides 0, which is the price that the report gives."""


@dataclass(frozen=True)
class HiddenPrice:
    """The loss and the share kept if the correlation is this; None if the constraint cannot be met then."""

    correlation: float
    shift: float
    """What it takes from the scores of the group, in points."""
    loss: float | None
    ratio: float | None

    @property
    def given_up(self) -> float | None:
        """The share of the utility that it costs."""
        return None if self.ratio is None else 1 - self.ratio


@dataclass(frozen=True)
class HiddenPrices:
    """One constraint, and the group whose estimated correlation is highest."""

    attribute: str
    group: str
    constraint: str
    prices: tuple[HiddenPrice, ...]


def hidden_prices(
    fitted: Fitted, entries: Sequence[Constrained], tests: Sequence[HiddenInformation]
) -> tuple[HiddenPrices, ...]:
    """For each attribute of which the test rejects or cannot tell: the first constraint on it."""
    scale = fitted.settings.value_scale
    found = []
    for test in tests:
        if test.verdict == "not-found" or not test.groups or test.spread is None:
            continue
        entry = next((e for e in entries if _is_by(e, test.attribute, len(tests))), None)
        if entry is None or fitted.instance.layout.uncertain:
            continue  # a group that the model does not see cannot move anyone's scores
        most = max(test.groups, key=lambda row: row.correlation)
        prices = [HiddenPrice(0.0, 0.0, entry.loss, entry.ratio)]
        for correlation in CORRELATIONS:
            shift = correlation * test.spread * most.mills
            solution = solve(with_shift(fitted.instance, most.group, -scale * shift, test.attribute), entry.constraints)
            prices.append(HiddenPrice(correlation, -shift, solution.loss, solution.ratio))
        found.append(HiddenPrices(test.attribute, most.group, entry.label, tuple(prices)))
    return tuple(found)


def _is_by(entry: Constrained, attribute: str, attributes: int) -> bool:
    if entry.optimum is None or len(entry.constraints) != 1 or entry.optimum.rows.measures:
        return False
    by = {row.by for row in entry.optimum.rows.rows}
    return by == {attribute} or (by == {None} and attributes == 1)
