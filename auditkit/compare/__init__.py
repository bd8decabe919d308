"""The firm's decisions beside the best policies: `compare` is the way in."""

from auditkit.compare.comparison import Comparison, Constrained, Dual, GroupNumbers, Standing, compare
from auditkit.compare.expost import SlackLaw, Unfilled
from auditkit.compare.intervals import IntervalOptions, NoInterval, PriceInterval

__all__ = [
    "Comparison",
    "Constrained",
    "Dual",
    "GroupNumbers",
    "PriceInterval",
    "NoInterval",
    "IntervalOptions",
    "SlackLaw",
    "Standing",
    "Unfilled",
    "compare",
]
