"""The fitter `empirical`: laws observed in strata of priors and groups, each shrunk toward its parent's.

    L_s = (n_s F_s + K L_parent) / (n_s + K),    K = variance within strata / variance between them

F_s is what was observed among the n_s candidates of stratum s; K is estimated level by level (the formulas are in
`auditkit.fitting.strata`). It makes no assumption about the shape of the law, so ratings, skewed scores and bounded
scores are all fine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from auditkit import hookimpl
from auditkit.fitting.fitter import Fitter
from auditkit.fitting.strata import Strata
from auditkit.model.layout import Floats

if TYPE_CHECKING:
    import pandas as pd


class Empirical(Fitter):
    name: ClassVar[str] = "empirical"

    def train(self, features: pd.DataFrame, scores: Floats, weights: Floats) -> Strata:
        return Strata(features, scores, weights, self.points)


@hookimpl
def auditkit_fitters() -> list[type[Empirical]]:
    return [Empirical]
