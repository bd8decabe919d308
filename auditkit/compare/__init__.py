"""The firm's decisions beside the best policies: `compare` is the way in."""

from auditkit.compare.comparison import Comparison, Constrained, Dual, GroupNumbers, Standing, compare
from auditkit.compare.expost import SlackLaw, Unfilled
from auditkit.compare.firm_decisions import FirmDecisions, firm_decisions
from auditkit.compare.firm_gain import FirmGain, FirmSearch
from auditkit.compare.intervals import IntervalOptions, NoInterval, PriceInterval
