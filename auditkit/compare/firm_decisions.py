"""What the firm's own decisions and scores say, beside the policies: all that needs the history itself.

search     what the best policies would have gained over the firm's own search     firm_gain
revealed   what whom it took forward acts like                                     revealed
hidden     whether it inspected on something that the data do not show             fitting.hidden_information
scores     what scores say of different groups                                     fitting.score_meaning
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from auditkit.compare.firm_gain import FirmSearch, firm_search
from auditkit.compare.hidden_prices import HiddenPrices, hidden_prices
from auditkit.compare.revealed import Revealed, revealed
from auditkit.fitting.fitted import Fitted
from auditkit.fitting.hidden_information import HiddenInformation, hidden_information
from auditkit.fitting.priors import features_of
from auditkit.fitting.score_meaning import ScoreMeanings, score_meanings
from auditkit.fitting.standing import Standings, standings

if TYPE_CHECKING:
    from auditkit.compare.comparison import Constrained
    from auditkit.data.firm_history import History


@dataclass(frozen=True, eq=False)
class FirmDecisions:
    """The parts `firm.gain`, `revealed`, `fit.hidden_information` and `scores` of a report."""

    search: FirmSearch
    revealed: Revealed
    hidden: tuple[HiddenInformation, ...]
    prices: tuple[HiddenPrices, ...]
    scores: ScoreMeanings


def firm_decisions(
    history: History,
    fitted: Fitted,
    entries: Sequence[Constrained],
    *,
    threshold: int = 0,
    level: float = 0.95,
    progress: Callable[[str], None] = lambda _: None,
) -> FirmDecisions:
    """From a history that may be shown, its fit, and the constrained optima of a comparison."""
    progress("the firm's own decisions")
    table = history.table
    known = standings_of(history)
    scores = table["score"].to_numpy(dtype=np.float64)
    groups = {name: table[f"group:{name}"].astype("str").to_numpy() for name in history.attributes}
    search = _search(history)
    scale = fitted.settings.value_scale
    priced = [(e.label, e.optimum.rows, e.shifts, e.replicated_shifts) for e in entries if e.optimum is not None]
    segment = history.segments[0] if history.segments else None
    tests: tuple[HiddenInformation, ...] = ()
    if known is not None:
        tests = hidden_information(known, groups, scores, threshold=threshold)
    return FirmDecisions(
        search=firm_search(fitted, entries, known, level=level),
        revealed=revealed(history, known, priced, scale, threshold=threshold, level=level),
        hidden=tests,
        prices=hidden_prices(fitted, entries, tests),
        scores=score_meanings(
            groups,
            None if segment is None else table[f"segment:{segment}"].astype("str").to_numpy(),
            search,
            scores,
            known.values if known is not None and known.tells else None,
            within=segment,
            threshold=threshold,
            level=level,
        ),
    )


def standings_of(history: History) -> Standings | None:
    """The standing of every application, groups told apart even where the fit was blind to them."""
    names = history.columns("group")
    scores = history.table["score"].to_numpy(dtype=np.float64)
    return standings(features_of(history), scores, _search(history), names[0] if names else "")


def _search(history: History) -> Any:
    return pd.factorize(history.table["search"].to_numpy())[0].astype(np.int64)
