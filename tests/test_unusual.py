"""Unusual problems against the LP over all policies: a sample. `make unusual` compares forty of each kind."""

from __future__ import annotations

import pytest

from support.unusual import KINDS, compared


@pytest.mark.parametrize("kind", KINDS)
def test_unusual_problems_agree_with_the_program_over_all_policies(kind: str) -> None:
    found = [compared(seed) for seed in range(list(KINDS).index(kind), 36, len(KINDS))]
    assert sum(one.skipped is None for one in found) >= 0.7 * len(found), found
