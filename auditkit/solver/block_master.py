"""Many affine constraints: column generation in which every block of searches mixes for itself.

Searches are independent and rows add up over them, so the master LP (`master.py`) mixes policies block by block. Its
duals price the next policy for all blocks at once (`block_sums.py`), and G at these duals bounds the optimum. When
bound and value meet, a basic solution is the optimum; it has at most blocks + m positive weights, so that **all but at
most m blocks follow one policy without a coin**. Blocks that mix are then taken apart: each of their searches chooses
among the policies that the block mixes, which again leaves at most m searches that toss a coin.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from auditkit.model.layout import Floats
from auditkit.solver.dual_search import DualOptimum, alone
from auditkit.solver.evaluate import Prepared
from auditkit.solver.master import MOST_ROUNDS, Entries, Master, Pricing, Yields, phase_one, rounding
from auditkit.solver.oracle import Column, Oracle
from auditkit.solver.policy import Lottery


def generate(oracle: Oracle) -> DualOptimum:
    """The optimum of a problem with affine rows; raises `Infeasible` with a proof."""
    free, scale, blocks = oracle.free, oracle.scale, oracle.blocks
    slack = oracle.rows.signs * (oracle.rows.bounds - free.values)
    if np.where(oracle.rows.is_equality, slack == 0, slack >= 0).all():
        return alone(free)
    master = begin(oracle, (free, *oracle.known))
    phase_one(oracle, master)
    master.begin_phase_two()
    pricing = Pricing(oracle)
    if oracle.known:
        pricing.step = 0.95  # the duals of a master that knows many columns do not leap about

    def met(value: float) -> bool:
        open_ = pricing.bound - value
        return open_ <= max(rounding(value, pricing.centre, scale), oracle.enough * abs(value))

    for _ in range(MOST_ROUNDS):
        value, duals = master.solve()
        duals = oracle.proper(duals)
        if not met(value):
            new = pricing.next(duals, partial(master.improves, least=rounding(value, duals, scale)), value)
            if not met(value) and master.add(new):
                continue
        # the LP's own value is only as good as its tolerances: its basis in full precision decides
        lotteries, duals, value = master.mixture()
        if met(value):
            break
        new = pricing.at(duals)
        if met(value) or not master.add(new):
            break
    if len(oracle.layout.search_ids) > blocks.blocks:
        lotteries = _search_by_search(oracle, master, lotteries)
    return DualOptimum(tuple(master.columns), np.zeros(0), pricing.centre, pricing.bound, lotteries=tuple(lotteries))


def begin(oracle: Oracle, columns: Iterable[Column]) -> Master:
    """The master of a problem, with some columns."""
    blocks = oracle.blocks
    entries = Entries(blocks.blocks, blocks.row, blocks.start)
    master = Master(oracle.rows, oracle.rows.bounds, oracle.scale, entries)
    for column in columns:
        master.add(column)
    return master


def _search_by_search(oracle: Oracle, master: Master, lotteries: list[Lottery]) -> list[Lottery]:
    """Lotteries of searches from those of blocks: where a block mixes, its searches choose one by one."""
    layout, rows, ptr = oracle.layout, oracle.rows, oracle.blocks.ptr
    mixing = [b for b, lottery in enumerate(lotteries) if len(lottery) > 1]
    found = [lottery for b, lottery in enumerate(lotteries) for _ in range(ptr[b], ptr[b + 1])]
    if not mixing:
        return found
    searches = np.concatenate([np.arange(ptr[b], ptr[b + 1]) for b in mixing])
    fixed = np.zeros(len(rows))
    for b, lottery in enumerate(lotteries):
        if len(lottery) == 1:
            own = slice(oracle.blocks.start[b], oracle.blocks.start[b + 1])
            np.add.at(fixed, oracle.blocks.row[own], master.yields[lottery[0][0]].values[own])
    finer = Master(rows, rows.bounds - fixed, oracle.scale, Entries.dense(len(searches), len(rows)))
    used = sorted({c for b in mixing for c, _ in lotteries[b]})
    for c in used:
        column = master.columns[c]
        visits = Prepared.of_policy(layout, rows, column.policy, searches).visits(searches)
        parts = [_by_search(oracle, visits, int(ptr[b]), int(ptr[b + 1])) for b in mixing]
        utility = np.concatenate([u for u, _ in parts])
        finer.add_yields(Yields(utility, np.concatenate([a for _, a in parts], axis=1).T.ravel()), column)
    finer.begin_phase_two()
    finer.solve()
    number = {id(column): c for c, column in enumerate(master.columns)}
    again, _, _ = finer.mixture()
    for search, lottery in zip(searches, again, strict=True):
        found[search] = tuple((number[id(finer.columns[c])], w) for c, w in lottery)
    return found


def _by_search(oracle: Oracle, visits: Floats, first: int, last: int) -> tuple[Floats, Floats]:
    """Utility and rows (rows, searches) of the searches first..last-1."""
    layout = oracle.layout
    begin, end = int(layout.search_ptr[first]), int(layout.search_ptr[last])
    low, high = int(layout.candidate_ptr[begin]), int(layout.candidate_ptr[end])
    states = np.arange(low, high)
    search = np.repeat(layout.candidate_search[begin:end] - first, np.diff(layout.candidate_ptr[begin : end + 1]))
    reward = layout.of_candidates(layout.kinds.reward, begin, end)
    utility = np.bincount(search, reward * visits[low:high], minlength=last - first)
    values = np.zeros((len(oracle.rows), last - first))
    for j, row in enumerate(oracle.rows.rows):
        values[j] = np.bincount(search, row.at(states) * visits[low:high], minlength=last - first)
    return utility.astype(np.float64), values
