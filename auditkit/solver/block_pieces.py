"""Some blocks of an instance as plain arrays, and the sums of a policy over them: all that runs on a worker.

A piece has what the kernels need and nothing else: rewards, chances, positions, and numbers in place of groups and
stages. There are no names of people, searches or groups in it, and no constraint or other code of a plugin.
A policy comes as its levels (objective, duals), with the coefficients of the rows that the duals refer to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from auditkit.constraints.base import Row, Rows
from auditkit.model.layout import Floats, Ints, Pattern
from auditkit.solver import kernels
from auditkit.solver.block_sums import BlockSums, sums_of_boxes
from auditkit.solver.box_kernels import Boxes, Weights
from auditkit.solver.evaluate import nested
from auditkit.solver.kernels import Chains
from auditkit.solver.room_kernels import Nested

Parts = tuple[Floats, Floats, Floats]
"""Utility of each block, counts of cells in each block, entries of the further rows (see `block_sums.Sums`)."""

P = TypeVar("P", bound=tuple[Any, ...])


class PieceRows(NamedTuple):
    """Rows over the states of a piece: row j has entries `ptr[j]`..`ptr[j + 1] - 1`."""

    ptr: Ints
    states: Ints
    coefficients: Floats


class BoxPiece(NamedTuple):
    """Blocks of searches of boxes; states are those of the types that occur in them."""

    block_ptr: Ints
    boxes: Boxes
    limits: Nested | None
    weights: Weights
    cells: int


class ChainPiece(NamedTuple):
    """Blocks of searches with chains. Row i of `further` is added up in the blocks `entry_block[entry_ptr[i]]`..."""

    block_ptr: Ints
    chains: Chains
    limits: Nested | None
    reward: Floats
    cell: Ints
    cells: int
    share: Floats
    further: PieceRows
    entry_ptr: Ints
    entry_block: Ints


Piece = BoxPiece | ChainPiece


# ---------------------------------------------------------------------------------------------------- on the workers


def answer(piece: Piece, rows: PieceRows, levels: list[tuple[float, tuple[float, ...]]], tol: list[float]) -> Parts:
    """What the policy of some levels yields in each block of a piece."""
    piece, rows, tie = as_compiled(piece), as_compiled(rows), np.array(tol)
    if isinstance(piece, BoxPiece):
        return _box_sums(piece, adjusted(piece.weights.reward, rows, levels), tie)
    return _chain_sums(piece, adjusted(piece.reward, rows, levels), tie)


def adjusted(reward: Floats, rows: PieceRows, levels: list[tuple[float, tuple[float, ...]]]) -> Floats:
    """Rewards of every level, by the very operations of `Level.reward`."""
    columns = []
    for objective, duals in levels:
        column = objective * reward
        for j, dual in enumerate(duals[: len(rows.ptr) - 1]):
            if dual != 0.0:
                own = slice(rows.ptr[j], rows.ptr[j + 1])
                column[rows.states[own]] -= dual * rows.coefficients[own]
        columns.append(column)
    return np.column_stack(columns)


def _box_sums(piece: BoxPiece, rewards: Floats, tol: Floats) -> Parts:
    everything = [(0, len(piece.block_ptr) - 1)]
    found = sums_of_boxes(
        piece.block_ptr, piece.boxes, piece.limits, piece.weights, piece.cells, rewards, tol, everything
    )
    return found.utility, found.counts, found.further


def _chain_sums(piece: ChainPiece, rewards: Floats, tol: Floats) -> Parts:
    chains, rows, states = piece.chains, piece.further, len(rewards)
    searches, blocks = np.arange(len(chains.capacity)), len(piece.block_ptr) - 1
    index, mass = np.empty_like(rewards), np.empty(len(chains.mass_items))
    share, visits = np.empty(states), np.empty(states)
    kernels.prepare(searches, chains, rewards, tol, index, mass)
    kernels.evaluate(searches, chains, piece.limits, index, mass, share, visits)
    first = chains.candidate_ptr[chains.search_ptr[piece.block_ptr]]
    block = np.repeat(np.arange(blocks), np.diff(first))
    utility = np.bincount(block, piece.reward * visits, minlength=blocks).astype(np.float64)
    plain = np.bincount(block * piece.cells + piece.cell, visits, minlength=blocks * piece.cells)
    shared = [np.bincount(block, share * visits, minlength=blocks) for share in piece.share.T]
    counts = np.column_stack([plain.reshape(blocks, piece.cells), *shared]).astype(np.float64)
    further = np.zeros(len(piece.entry_block))
    for i in range(len(rows.ptr) - 1):
        own, low, high = slice(rows.ptr[i], rows.ptr[i + 1]), piece.entry_ptr[i], piece.entry_ptr[i + 1]
        place = np.searchsorted(piece.entry_block[low:high], block[rows.states[own]])
        terms = rows.coefficients[own] * visits[rows.states[own]]
        further[low:high] = np.bincount(place, terms, minlength=high - low)
    return utility, counts, further


READ_ONLY: dict[type, str] = {Boxes: "prob", Weights: "reward"}
"""Arrays that are read-only in a whole problem: numba compiles a kernel again where one array differs in that."""


def as_compiled(piece: P) -> P:
    """The same arrays, read-only or not as in a whole problem, whatever they were when they came off the wire."""
    return cast(P, _as_compiled(piece, fixed=False))


def _as_compiled(part: Any, fixed: bool) -> Any:
    if isinstance(part, np.ndarray):
        if part.flags.writeable == fixed:
            part = part.view() if fixed else part.copy()
            part.flags.writeable = not fixed
        return part
    if not hasattr(part, "_fields"):
        return part
    which = READ_ONLY.get(type(part))
    return type(part)(*(_as_compiled(own, name == which) for name, own in zip(part._fields, part, strict=True)))


# --------------------------------------------------------------------------------------------- where the command runs


def ranges(problem: BlockSums, wanted: int) -> list[tuple[int, int]]:
    """Ranges of blocks with about equal numbers of states."""
    first = problem.layout.candidate_ptr[problem.layout.search_ptr[problem.ptr]]
    cuts = np.searchsorted(first, np.linspace(0, first[-1], min(wanted, problem.blocks) + 1)[1:-1])
    ends = np.unique([0, *cuts, problem.blocks]).tolist()
    return list(pairwise(ends))


def entries(problem: BlockSums, a: int, b: int) -> Ints:
    """Which entries of the further rows belong to the blocks a..b-1."""
    return np.flatnonzero((problem.entry_block >= a) & (problem.entry_block < b))


def cut(problem: BlockSums, a: int, b: int) -> Piece:
    """The blocks a..b-1 of a problem."""
    return _cut_chains(problem, a, b) if problem.types is None else _cut_boxes(problem, a, b)


def cut_rows(problem: BlockSums, rows: Rows, a: int, b: int) -> PieceRows:
    """Rows over the states of the piece of the blocks a..b-1."""
    if problem.types is None:
        return _renumbered(rows.rows, _chain_states(problem, a, b))
    typed = problem.typed_rows if rows is problem.rows else problem.types.restrict(rows)
    return _renumbered(typed.rows, _type_states(problem, a, b)[2])


def digest(piece: tuple[Any, ...]) -> str:
    """Equal for equal pieces."""
    found = hashlib.blake2b(type(piece).__name__.encode(), digest_size=16)
    for array in _arrays(piece):
        found.update(f"{array.dtype}{array.shape}".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _arrays(piece: Any) -> Iterable[np.ndarray]:
    if isinstance(piece, np.ndarray):
        yield piece
    elif isinstance(piece, tuple):
        for part in piece:
            yield from _arrays(part)
    else:
        yield np.array(0 if piece is None else piece)


def _renumbered(rows: Sequence[Row], states: Ints) -> PieceRows:
    """Rows over some increasing states, which are renumbered."""
    dense = [row.at(states) for row in rows]
    place = [np.flatnonzero(weights) for weights in dense]
    coefficients = [weights[own] for weights, own in zip(dense, place, strict=True)]
    return PieceRows(
        _ptr(np.array([len(own) for own in place], dtype=np.int64)),
        np.concatenate([np.zeros(0, dtype=np.int64), *place]),
        np.concatenate([np.zeros(0), *coefficients]),
    )


def _ptr(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _ragged(first: Ints, sizes: Ints) -> Ints:
    """first[0], first[0] + 1, ..., first[1], ...: `sizes` numbers from each."""
    ptr = _ptr(sizes)
    return np.repeat(first - ptr[:-1], sizes) + np.arange(ptr[-1])


def _searches(problem: BlockSums, a: int, b: int) -> tuple[slice, Ints, slice]:
    """The searches of some blocks, where they begin among their candidates, and these."""
    layout, s0, s1 = problem.layout, int(problem.ptr[a]), int(problem.ptr[b])
    ptr = layout.search_ptr[s0 : s1 + 1]
    return slice(s0, s1), ptr - ptr[0], slice(int(ptr[0]), int(ptr[-1]))


def _type_states(problem: BlockSums, a: int, b: int) -> tuple[Ints, Ints, Ints]:
    """Types that occur in some blocks, the number of each candidate's among them, and their states among all types'."""
    types = problem.types
    assert types is not None
    used, of = np.unique(types.of[_searches(problem, a, b)[2]], return_inverse=True)
    return used, of.ravel(), _ragged(types.ptr[used], np.diff(types.ptr)[used])


def _chain_states(problem: BlockSums, a: int, b: int) -> Ints:
    candidates = _searches(problem, a, b)[2]
    return np.arange(*(problem.layout.candidate_ptr[c] for c in (candidates.start, candidates.stop)))


def _entry_ptr(problem: BlockSums, own: Ints) -> Ints:
    row = np.repeat(np.arange(len(problem.further)), np.diff(problem.entry_ptr))
    return _ptr(np.bincount(row[own], minlength=len(problem.further)))


def _cut_boxes(problem: BlockSums, a: int, b: int) -> BoxPiece:
    types, weights = problem.types, problem.weights
    assert types is not None
    searches, search_ptr, _ = _searches(problem, a, b)
    used, of, states = _type_states(problem, a, b)
    type_ptr = _ptr(np.diff(types.ptr)[used])
    rows = np.diff(weights.row_ptr)[used]
    pairs = _ragged(weights.row_ptr[used], rows)
    lengths = np.repeat(np.diff(type_ptr), rows)
    own = entries(problem, a, b)
    return BoxPiece(
        block_ptr=problem.ptr[a : b + 1] - problem.ptr[a],
        boxes=Boxes(search_ptr, problem.layout.capacity[searches], of, type_ptr, types.chance[states]),
        limits=_cut_limits(problem, a, b),
        weights=Weights(
            reward=weights.reward[states],
            cell=weights.cell[states],
            share=weights.share[states],
            opening=weights.opening,
            later=weights.later,
            row_ptr=_ptr(rows),
            row=weights.row[pairs],
            row_first=_ptr(lengths)[:-1],
            coefficient=weights.coefficient[_ragged(weights.row_first[pairs], lengths)],
            entry_ptr=_entry_ptr(problem, own),
            entry_block=problem.entry_block[own] - a,
        ),
        cells=problem.cells.count,
    )


def _cut_chains(problem: BlockSums, a: int, b: int) -> ChainPiece:
    layout = problem.layout
    searches, search_ptr, candidates = _searches(problem, a, b)
    low, high = (int(layout.candidate_ptr[c]) for c in (candidates.start, candidates.stop))
    edges = slice(int(layout.edges.ptr[low]), int(layout.edges.ptr[high]))
    own, shares = entries(problem, a, b), problem.cells.shares
    return ChainPiece(
        block_ptr=problem.ptr[a : b + 1] - problem.ptr[a],
        chains=Chains(
            search_ptr,
            layout.capacity[searches],
            layout.candidate_ptr[candidates.start : candidates.stop + 1] - low,
            layout.cyclic[candidates],
            layout.terminal[low:high],
            layout.stop[low:high],
            *_cut_pattern(layout.edges, low, high),
            layout.edge_prob[edges],
            *_cut_pattern(layout.law, low, high),
            *_cut_pattern(layout.mass, low, high),
        ),
        limits=_cut_limits(problem, a, b),
        reward=layout.reward[low:high],
        cell=problem.cells.of_state[low:high].astype(np.int64),
        cells=problem.cells.plain,
        share=np.column_stack([np.zeros((high - low, 0)), *(layout.of_states(c)[low:high] for c in shares.T)]),
        further=_renumbered(problem.further, _chain_states(problem, a, b)),
        entry_ptr=_entry_ptr(problem, own),
        entry_block=problem.entry_block[own] - a,
    )


def _cut_limits(problem: BlockSums, a: int, b: int) -> Nested | None:
    """The limits of some searches; sets are numbered within a search."""
    return nested(problem.layout.part(int(problem.ptr[a]), int(problem.ptr[b])))


def _cut_pattern(pattern: Pattern, low: int, high: int) -> tuple[Ints, Ints]:
    """Rows of the states low..high-1, whose items are all among them, numbered from `low`."""
    ptr = pattern.ptr[low : high + 1]
    return ptr - ptr[0], pattern.items[ptr[0] : ptr[-1]] - low
