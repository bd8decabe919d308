"""The firm's decisions beside the best policies: `compare` is the way in."""

from auditkit.compare.comparison import Comparison, Constrained, Dual, Group, Standing, compare
from auditkit.compare.expost import SlackLaw, Unfilled
from auditkit.compare.intervals import Interval, NoInterval, Options

__all__ = [
    "Comparison",
    "Constrained",
    "Dual",
    "Group",
    "Interval",
    "NoInterval",
    "Options",
    "SlackLaw",
    "Standing",
    "Unfilled",
    "compare",
]
