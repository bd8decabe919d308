"""Rules that a firm may adopt, because they treat everyone alike, and what they would change.

rule              what a rule is: an index and a shown score from what is known, never the group
play              any rule, evaluated exactly
best_rules        the best rule of a kind at a ratio
blind_frontier    the most that any policy can earn at a ratio without seeing the group, with a bound
confirmed_gains   gains judged on other requisitions than those that they were chosen on
find              all of it for a fitted history
"""

from __future__ import annotations

from auditkit.rules.rule import Dimension, Draw, KnownBefore, Ranking, Rule
