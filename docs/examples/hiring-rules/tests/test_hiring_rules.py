"""Both constraints keep their promises on random instances, and are exact on one that is solved by hand."""

import numpy as np
import pytest
from auditkit import Box, Constraint, Instance, Search, solve
from auditkit.testing import check_constraint

from hiring_rules.at_least_one import AtLeastOne
from hiring_rules.rate_spread import RateSpread

# One position. Looking at somebody costs 1; x turns out to be worth 10 and y 8, for certain. Alone, x earns 9.
X = Box("x", "X", 1.0, np.array([10.0]), np.array([1.0]))
Y = Box("y", "Y", 1.0, np.array([8.0]), np.array([1.0]))
TWO = Instance((Search("s", 1, (X, Y)),))


@pytest.mark.parametrize(
    "constraint",
    [
        AtLeastOne(group="Y"),
        AtLeastOne(group="Y", number=0.4, on="selection"),
        AtLeastOne(group="Y", number=0.5, on="onsite"),
        RateSpread(maximum=0.1),
        RateSpread(maximum=0.05, on="inspection"),
    ],
)
def test_they_keep_their_promises(constraint: Constraint) -> None:
    assert check_constraint(constraint) > 0


@pytest.mark.parametrize(
    ("constraint", "utility", "why"),
    [
        (AtLeastOne(group="Y"), 8.0, "y is looked at for nothing, which costs 1"),
        (AtLeastOne(group="Y", number=0.5), 8.5, "y is looked at in every second search"),
        (AtLeastOne(group="Y", number=3), 8.0, "there is only one of the group"),
        (RateSpread(maximum=0.25), 8.5, "rates of 3/4 and 1/4: 3/4 of 9 and 1/4 of 7"),
        (RateSpread(maximum=0.5), 9.0, "rates of 1 and 0 are allowed"),
    ],
)
def test_they_are_exact(constraint: Constraint, utility: float, why: str) -> None:
    solution = solve(TWO, [constraint])
    assert solution.constrained is not None
    assert solution.constrained.utility == pytest.approx(utility, abs=1e-6), why
    assert solution.constrained.gap <= 1e-6
