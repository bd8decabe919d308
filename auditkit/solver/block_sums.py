"""The one interface under every method: a policy goes in; for each block of searches its utility and rows come out.

Blocks are ranges of searches, at most `MOST_BLOCKS` of about equal size; they depend on the data alone. Rows on numbers
or rates by group are sums over cells, plain or shared (`model/state_cells.py`). What a policy yields is therefore kept
as the count of each cell in each block, from which the value of any such row follows, whatever its coefficients. Other
rows are added up by themselves, in the blocks that they touch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from auditkit.constraints.base import CellRow, KindRow, Rows
from auditkit.model import session
from auditkit.model.layout import Bools, Floats, Ints, Layout
from auditkit.solver import box_kernels, engine
from auditkit.solver.box_kernels import Boxes, Weights
from auditkit.solver.candidate_types import Types
from auditkit.solver.evaluate import Prepared, fixed, in_order, in_threads, nested, pieces, tolerance
from auditkit.solver.policy import Policy
from auditkit.solver.room_kernels import Nested

MOST_BLOCKS = 200


def block_ranges(layout: Layout) -> Ints:
    """Where blocks begin among the searches, and the end of the last."""
    searches = len(layout.search_ids)
    if searches <= MOST_BLOCKS:
        return np.arange(searches + 1)
    first = layout.candidate_ptr[layout.search_ptr]
    cuts = np.searchsorted(first, np.linspace(0, layout.states, MOST_BLOCKS + 1)[1:-1])
    return np.unique(np.concatenate([[0], cuts, [searches]])).astype(np.int64)


class Cells:
    """What all problems of one layout share: blocks, cells, and types of candidates as far as no row splits them."""

    def __init__(self, layout: Layout, ptr: Ints | None = None) -> None:
        self.ptr = block_ranges(layout) if ptr is None else ptr
        self.of_state, self.plain = layout.cells.of_state, len(layout.cells)
        self.shares = layout.cells.shares
        self.count = self.plain + self.shares.shape[1]
        self._cells = layout.cells
        self.types = Types.of_boxes(layout) if layout.only_boxes else None

    def weights(self, rows: Rows) -> tuple[Floats, Bools]:
        """The weight of each cell in each row, and for which rows that is all there is to say."""
        matrix, whole = np.zeros((len(rows), self.count)), np.zeros(len(rows), dtype=np.bool_)
        for j, row in enumerate(rows.rows):
            if isinstance(row, KindRow) and row.shared is not None:
                matrix[j, self.plain :], whole[j] = row.shared, True
            elif (same := CellRow.like(row, self._cells)) is not None:
                matrix[j, : self.plain], whole[j] = same.cell_weights, True
        return matrix, whole

    @staticmethod
    def of(layout: Layout) -> Cells:
        return session.current().get(layout, "cells", lambda: Cells(layout))


@dataclass(frozen=True, eq=False)
class Sums:
    """What a policy yields in each block: utility, counts (blocks, cells), and `entries` of the further rows."""

    utility: Floats
    counts: Floats
    further: Floats


class BlockSums:
    """Policies of one problem, added up by block.

    `row` and `block` say what each entry of `values` is, sorted by block; `start[b]` is where those of block b begin.
    """

    def __init__(self, layout: Layout, rows: Rows, cells: Cells | None = None) -> None:
        self.layout, self.rows = layout, rows
        self.cells = cells = cells or Cells.of(layout)
        self.ptr = cells.ptr
        self.blocks = len(self.ptr) - 1
        self.block_of = np.repeat(np.arange(self.blocks), np.diff(self.ptr))
        self.matrix, whole = cells.weights(rows)
        self.by_cell, self.alone = np.flatnonzero(whole), np.flatnonzero(~whole)
        self.further = [rows.rows[j] for j in self.alone]
        search = layout.candidate_search
        touched = [
            np.arange(self.blocks)
            if isinstance(row, KindRow)
            else np.unique(self.block_of[search[layout.owners(row.states)]])
            for row in self.further
        ]
        self.entry_ptr = np.cumsum([0, *(len(t) for t in touched)]).astype(np.int64)
        self.entry_block = np.concatenate([np.zeros(0, dtype=np.int64), *touched])
        every = np.arange(self.blocks)
        row = np.concatenate([np.repeat(self.by_cell, self.blocks), np.repeat(self.alone, np.diff(self.entry_ptr))])
        block = np.concatenate([np.tile(every, len(self.by_cell)), self.entry_block])
        self._order = np.lexsort((row, block))
        self.row, self.block = row[self._order].astype(np.int64), block[self._order]
        self.start = np.searchsorted(self.block, np.arange(self.blocks + 1))

    @cached_property
    def types(self) -> Types | None:
        """None where there are chains."""
        if self.cells.types is None or not self.further:
            return self.cells.types
        return Types.of_boxes(self.layout, self.further)

    @cached_property
    def typed_rows(self) -> Rows:
        assert self.types is not None
        return self.types.restrict(self.rows)

    def of_policy(self, policy: Policy) -> Sums:
        """The sums of a policy; if it is one of other rows, they must weigh candidates of a type alike too."""
        elsewhere = engine.current()
        found = None if elsewhere is None else elsewhere.sums(self, policy)
        return self._of_policy(policy) if found is None else found

    def _of_policy(self, policy: Policy) -> Sums:
        types = self.types
        if types is None:
            return self.of_visits(Prepared.of_policy(self.layout, self.rows, policy).visits())
        typed = self.typed_rows
        if policy.rows is not None:
            policy = Policy(policy.levels, types.restrict(policy.rows))
        rewards = policy.rewards(types, typed)
        return self._of_types(rewards, tolerance(rewards, policy.sizes(types, typed)))

    def free(self) -> Sums:
        """The sums of the unconstrained optimum, found where the command runs."""
        return self._of_policy(Policy.at(()))

    def of_rewards(self, rewards: Floats, step: int = 1) -> Sums:
        """The sums of the policy that is optimal for other rewards of the states of types, 0 in all blocks but every
        `step`-th."""
        ranges = None if step == 1 else [(block, block + 1) for block in range(0, self.blocks, step)]
        return self._of_types(rewards.reshape(-1, 1), np.zeros(1), ranges)

    def _of_types(self, rewards: Floats, tol: Floats, ranges: list[tuple[int, int]] | None = None) -> Sums:
        layout, types = self.layout, self.types
        assert types is not None
        boxes = Boxes(layout.search_ptr, layout.capacity, types.of, types.ptr, types.chance)
        ranges = ranges or pieces(layout.candidate_ptr[layout.search_ptr[self.ptr]])
        return sums_of_boxes(self.ptr, boxes, nested(layout), self.weights, self.cells.count, rewards, tol, ranges)

    @cached_property
    def weights(self) -> Weights:
        types = self.types
        assert types is not None
        cell = self.cells.of_state[types.states].astype(np.int64)
        owner = np.repeat(np.arange(len(types.ptr) - 1), np.diff(types.ptr))
        of_type, of_row, first = ([np.zeros(0, dtype=np.int64)] for _ in range(3))
        dense = np.zeros((len(self.alone), len(types.reward)))
        share, values = np.ascontiguousarray(self.cells.shares[types.alike]), np.ones(len(types.reward), dtype=np.bool_)
        values[types.ptr[:-1]] = False
        later = (share != 0.0).any(axis=0, where=values[:, None])
        for number, j in enumerate(self.alone):  # all states of every type that a row touches
            row = self.typed_rows.rows[j]
            dense[number, row.states] = row.coefficients
            touched = np.unique(owner[row.states])
            of_type.append(touched)
            of_row.append(np.full(len(touched), number))
            first.append(number * len(types.reward) + types.ptr[touched])
        type_, number_of, begin = (np.concatenate(each).astype(np.int64) for each in (of_type, of_row, first))
        order = np.lexsort((number_of, type_))
        return Weights(
            reward=types.reward,
            cell=cell,
            share=share,
            opening=np.flatnonzero(~later),
            later=np.flatnonzero(later),
            row_ptr=np.searchsorted(type_[order], np.arange(len(types.ptr))).astype(np.int64),
            row=number_of[order],
            row_first=begin[order],
            coefficient=dense.ravel(),
            entry_ptr=self.entry_ptr,
            entry_block=self.entry_block,
        )

    def of_visits(self, visits: Floats) -> Sums:
        """The sums of a policy whose visits are known."""
        layout, cells = self.layout, self.cells
        block = layout.spread(self.block_of[layout.candidate_search])
        utility = np.bincount(block, layout.reward * visits, minlength=self.blocks)
        further = np.zeros(len(self.entry_block))
        for i, row in enumerate(self.further):
            low, high = self.entry_ptr[i], self.entry_ptr[i + 1]
            place = np.searchsorted(self.entry_block[low:high], block[row.states])
            further[low:high] = np.bincount(place, row.coefficients * visits[row.states], minlength=high - low)
        shared = [np.bincount(block, layout.of_states(c) * visits, minlength=self.blocks) for c in cells.shares.T]
        block *= cells.plain
        block += cells.of_state
        plain = np.bincount(block, visits, minlength=self.blocks * cells.plain).reshape(self.blocks, cells.plain)
        counts = np.column_stack([plain, *shared]).astype(np.float64)
        return Sums(utility.astype(np.float64), counts, further)

    def values(self, sums: Sums) -> Floats:
        """The value of each (row, block)."""
        dense = self.matrix[self.by_cell] @ sums.counts.T
        return np.concatenate([dense.ravel(), sums.further])[self._order]

    def totals(self, values: Floats) -> Floats:
        """The value of each row, blocks added up in their order."""
        return np.bincount(self.row, values, minlength=len(self.rows)).astype(np.float64)


def sums_of_boxes(
    block_ptr: Ints,
    boxes: Boxes,
    limits: Nested | None,
    weights: Weights,
    cells: int,
    rewards: Floats,
    tol: Floats,
    ranges: list[tuple[int, int]],
) -> Sums:
    """What the policy of some rewards (of the states of types) yields in each block; threads share the `ranges`."""
    blocks, index = len(block_ptr) - 1, np.empty_like(rewards)
    box_kernels.box_indices(0, len(boxes.type_ptr) - 1, boxes.type_ptr, boxes.prob, fixed(rewards), tol, index)
    found = Sums(np.zeros(blocks), np.zeros((blocks, cells)), np.zeros(len(weights.entry_block)))
    every = np.ones(len(boxes.type_ptr) - 1, dtype=np.bool_)
    order = fixed(in_order(index, tol))
    events = box_kernels.type_events(boxes.type_ptr, boxes.prob, order, weights.reward, every)
    further = len(weights.row) > 0
    yields = box_kernels.event_yields(boxes.type_ptr, boxes.prob, events, weights) if further else None
    shares = box_kernels.event_shares(boxes.type_ptr, boxes.prob, events, weights.share, weights.later)
    into = (weights, yields, shares, found.utility, found.counts, found.further)
    in_threads(ranges, lambda a, b: box_kernels.box_sums(a, b, block_ptr, boxes, limits, events, *into))
    return found
