"""Rows of single searches, as those of `floor` are: every search has a master LP of its own.

Such a row couples nothing but the candidates of one search. With the duals of the *shared* rows fixed, searches are
therefore solved each by itself (`Separate.solve`), all of them priced by one evaluation of a policy that has the own
duals of each. Around that, the shared rows are met as always (`generate`): what the searches yield at some shared duals
is a column of the block master. Time grows with the number of searches, not with the size of an LP over all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from auditkit.constraints.base import Rows
from auditkit.model.layout import Floats, Ints
from auditkit.solver.block_sums import BlockSums, Cells
from auditkit.solver.dual_search import DualOptimum
from auditkit.solver.master import MOST_ROUNDS, Entries, Master, Yields, rounding
from auditkit.solver.oracle import FEASIBILITY, Column, Infeasible, Oracle
from auditkit.solver.policy import Level, Lottery, Policy

LEAST_ROWS, LEAST_ROWS_BESIDE = 100, 600
"""Fewer rows than this, or than the second where there are shared rows too, are left to one master for all of them."""

MOST_SHARED = 100

KEPT = 3
"""Rounds of the shared rows after which a policy that no search has followed is forgotten."""


def searches_of(oracle: Oracle) -> Ints:
    """The search that each row belongs to, -1 for shared rows."""
    layout, found = oracle.layout, np.full(len(oracle.rows), -1)
    for j, row in enumerate(oracle.rows.rows):
        states = row.states
        if len(states):
            first, last = layout.candidate_search[layout.owners(states[[0, -1]])]
            found[j] = first if first == last else -1
    return found


def worthwhile(oracle: Oracle) -> bool:
    """Whether there are many rows, nearly all of them of single searches."""
    if len(oracle.rows) < LEAST_ROWS:
        return False
    owner = searches_of(oracle)
    shared = int((owner < 0).sum())
    least = LEAST_ROWS_BESIDE if shared else LEAST_ROWS
    return len(owner) - shared >= least and shared <= MOST_SHARED and len(np.unique(owner)) > 2


@dataclass(eq=False)
class Known:
    """A policy that was evaluated: what it yields in each search, shared rows (searches, rows) and own rows."""

    policy: Policy
    utility: Floats
    shared: Floats
    own: list[Floats]
    used: int = 0
    """The last round of the shared rows in which a search followed it."""


@dataclass(eq=False)
class Local:
    """One search at fixed shared duals."""

    master: Master
    centre: Floats
    bound: float
    step: float = 0.5
    value: float = 0.0
    duals: Floats = field(default_factory=lambda: np.zeros(0))
    lottery: Lottery = ()
    stuck: bool = False
    """Whether even the duals of the last basis in full precision price nothing new."""


@dataclass(eq=False)
class Separated:
    """The best of every search at some shared duals: lotteries over policies, own duals, and what they yield."""

    lotteries: list[tuple[tuple[Known, float], ...]]
    own_duals: Floats
    """As long as all rows, zero for shared ones."""
    bound: float
    """Of the objective, all searches together; the terms of the shared bounds are not in it."""
    utility: Floats
    shared: Floats


class Separate:
    """The searches of a problem, solved each by itself for whatever shared duals."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle, layout = oracle, oracle.layout
        self.searches = len(layout.search_ids)
        self.sums = BlockSums(layout, oracle.rows, Cells(layout, np.arange(self.searches + 1)))
        owner = searches_of(oracle)
        self.shared = np.flatnonzero(owner < 0)
        self.own = [np.zeros(0, dtype=np.int64)] * self.searches
        order = np.argsort(owner, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(owner[order])) + 1):
            if owner[rows[0]] >= 0:
                self.own[owner[rows[0]]] = rows
        self.sub = [_chosen(oracle.rows, rows) for rows in self.own]
        self.known: list[Known] = []
        self.round = 0
        self.gap = 0.0

    def evaluate(self, policy: Policy) -> Known:
        """One evaluation for all searches."""
        sums = self.sums.of_policy(policy)
        values = self.sums.values(sums)
        dense = np.zeros(len(self.oracle.rows))
        shared, own = np.zeros((self.searches, len(self.shared))), []
        for s in range(self.searches):
            part = slice(self.sums.start[s], self.sums.start[s + 1])
            rows = self.sums.row[part]
            dense[rows] = values[part]
            shared[s], mine = dense[self.shared], dense[self.own[s]]
            own.append(mine)
            dense[rows] = 0.0
        found = Known(policy, sums.utility, shared, own, self.round)
        self.known.append(found)
        self.oracle.unkept += 1
        return found

    def solve(self, objective: float, shared_duals: Floats, near: Floats | None = None, gap: float = 0.0) -> Separated:
        """Maximise objective * utility - shared duals . shared rows in every search, subject to its own rows.

        `near` are duals to start from; `gap` is what value and bound may differ by, all searches together.
        """
        self.gap = gap / self.searches
        self.round += 1
        self.known = [known for known in self.known if self.round - known.used <= KEPT]
        base = np.zeros(len(self.oracle.rows))
        base[self.shared] = shared_duals
        first = base.copy()
        for own in self.own:
            first[own] = 0.0 if near is None else near[own]
        start = self.evaluate(_policy(objective, first))
        locals_ = [self._local(s, objective, shared_duals, start, first) for s in range(self.searches)]
        self._phase_one(locals_, objective, shared_duals)
        active = []
        for s, local in enumerate(locals_):
            local.master.begin_phase_two()
            local.value = local.bound
            if len(self.own[s]):
                active.append(s)
        for _ in range(MOST_ROUNDS):
            active = [s for s in active if not self._settled(s, locals_[s])]
            if not active:
                break
            self._price(active, locals_, objective, base, smooth=True)
        duals = np.zeros(len(self.oracle.rows))
        bound, lotteries, by_policy = 0.0, [], {id(known.policy): known for known in self.known}
        utility, shared = np.zeros(self.searches), np.zeros((self.searches, len(self.shared)))
        for s, local in enumerate(locals_):
            drawn = tuple((by_policy[id(local.master.columns[c].policy)], w) for c, w in (local.lottery or ((0, 1.0),)))
            for known, w in drawn:
                known.used = self.round
                utility[s] += w * known.utility[s]
                shared[s] += w * known.shared[s]
            lotteries.append(drawn)
            duals[self.own[s]] = local.centre
            bound += local.bound
        return Separated(lotteries, duals, bound, utility, shared)

    def _local(self, s: int, objective: float, shared_duals: Floats, start: Known, first: Floats) -> Local:
        own = self.own[s]
        scale, bounds = self.oracle.scale[own], self.oracle.rows.bounds[own]
        master = Master(self.sub[s], bounds, scale, Entries.dense(1, len(own)))
        for known in [start, *(k for k in self.known if k is not start)] if len(own) else [start]:
            _add(master, s, known, objective, shared_duals)
        bound = float(master.yields[0].utility[0] + first[own] @ (bounds - start.own[s]))
        return Local(master, first[own], bound, 0.5 if len(self.known) < 10 else 0.95)

    def _phase_one(self, locals_: list[Local], objective: float, shared_duals: Floats) -> None:
        """Policies until a mixture of them meets the own rows of every search."""
        wrong = [s for s in range(self.searches) if len(self.own[s])]
        for _ in range(MOST_ROUNDS):
            direction, still = np.zeros(len(self.oracle.rows)), []
            for s in wrong:
                value, duals = locals_[s].master.solve()
                if -value > FEASIBILITY:
                    direction[self.own[s]] = duals
                    still.append(s)
            if not still:
                return
            wrong, direction = still, self.oracle.proper(direction)
            new = self.evaluate(Policy.towards(direction))
            for s in wrong:
                mine = direction[self.own[s]]
                reach = float(mine @ (self.oracle.rows.bounds[self.own[s]] - new.own[s]))
                if reach < -FEASIBILITY or not _add(locals_[s].master, s, new, objective, shared_duals):
                    proof = np.zeros(len(self.oracle.rows))
                    proof[self.own[s]] = mine
                    raise Infeasible(proof)

    def _settled(self, s: int, local: Local) -> bool:
        """Solve the master of a search; whether bound and value have met, then in full precision."""
        if local.stuck:
            return True
        if not local.lottery:
            local.value, duals = local.master.solve()
            local.duals = self.sub[s].proper(duals)
        least = rounding(local.value, local.centre, self.oracle.scale[self.own[s]])
        if local.bound - local.value > max(least, self.gap):
            return False
        if not local.lottery:
            lotteries, _, local.value = local.master.mixture()
            local.lottery = lotteries[0]
        return True

    def _price(self, active: list[int], locals_: list[Local], objective: float, base: Floats, smooth: bool) -> None:
        """One evaluation for the searches that are not settled; a second one for those that it does not help."""
        at = base.copy()
        for s in active:
            local = locals_[s]
            way = local.duals - local.centre
            at[self.own[s]] = local.centre + (local.step if smooth and not local.lottery else 1.0) * way
        new, failed = self.evaluate(_policy(objective, at)), []
        for s in active:
            local, own = locals_[s], self.own[s]
            slack = self.oracle.rows.bounds[own] - new.own[s]
            paid = objective * new.utility[s] - float(base[self.shared] @ new.shared[s])
            bound = paid + float(at[own] @ slack)
            if smooth:
                falls = float((local.duals - local.centre) @ slack) < 0
                local.step = local.step + 0.2 * (1.0 - local.step) if falls else max(0.02, 0.8 * local.step)
            yields = Yields(np.array([paid]), new.own[s])
            helps = local.master.gains(yields, rounding(local.value, local.duals, self.oracle.scale[own]))
            if bound < local.bound:
                local.bound, local.centre = bound, at[own]
            if (helps or local.lottery) and local.master.add_yields(yields, _column(new.policy)):
                local.lottery = ()
            else:
                failed.append(s)
        if smooth and failed:
            self._price(failed, locals_, objective, base, smooth=False)
        for s in (
            failed if not smooth else ()
        ):  # the LP is as good as its tolerances: its basis in full precision decides
            local = locals_[s]
            local.stuck = bool(local.lottery)
            if not local.stuck:
                lotteries, duals, local.value = local.master.mixture()
                local.lottery, local.duals = lotteries[0], self.sub[s].proper(duals)


def _policy(objective: float, duals: Floats) -> Policy:
    return Policy((Level(objective, tuple(float(x) + 0.0 for x in duals)),))


def _column(policy: Policy) -> Column:
    return Column(policy, 0.0, np.zeros(0))


def _add(master: Master, s: int, known: Known, objective: float, shared_duals: Floats) -> bool:
    paid = objective * known.utility[s] - float(shared_duals @ known.shared[s])
    return master.add_yields(Yields(np.array([paid]), known.own[s]), _column(known.policy))


def _chosen(rows: Rows, numbers: Ints) -> Rows:
    return Rows(tuple(rows.rows[j] for j in numbers), tuple(rows.owner[j] for j in numbers), rows.constraints)


def generate(oracle: Oracle) -> DualOptimum:
    """The optimum of a problem most of whose rows are of single searches; raises `Infeasible` with a proof."""
    separate = Separate(oracle)
    rows, shared = oracle.rows, separate.shared
    found = [separate.solve(1.0, np.zeros(len(shared)))]
    bound, duals = found[0].bound, found[0].own_duals
    weights: list[Lottery] = [((0, 1.0),)] * separate.searches
    if len(shared):
        bound, duals, weights = _meet_shared(separate, found, _chosen(rows, shared))
    lotteries = []
    for s in range(separate.searches):
        mixed: dict[int, tuple[Known, float]] = {}
        for number, w in weights[s]:
            for known, chance in found[number].lotteries[s]:
                mixed[id(known)] = (known, w * chance + mixed.get(id(known), (known, 0.0))[1])
        lotteries.append(list(mixed.values()))
    columns, numbered = _few(oracle, separate, lotteries)
    return DualOptimum(columns, np.zeros(0), duals, bound, lotteries=numbered)


def _meet_shared(separate: Separate, found: list[Separated], rows: Rows) -> tuple[float, Floats, list[Lottery]]:
    """Column generation over the shared rows; adds to `found` and returns bound, duals and the lottery over `found`."""
    oracle, shared = separate.oracle, separate.shared
    ptr = oracle.blocks.ptr
    blocks, m = len(ptr) - 1, len(shared)
    scale, bounds = oracle.scale[shared], rows.bounds
    master = Master(rows, bounds, scale, Entries.dense(blocks, m))

    def yields(new: Separated) -> Yields:
        return Yields(np.add.reduceat(new.utility, ptr[:-1]), np.add.reduceat(new.shared, ptr[:-1], axis=0).ravel())

    def add(new: Separated) -> bool:
        if not master.add_yields(yields(new), _column(Policy(()))):
            return False
        if new is not found[0]:
            found.append(new)
        return True

    add(found[0])
    for _ in range(MOST_ROUNDS):
        value, duals = master.solve()
        if -value <= FEASIBILITY:
            break
        duals = rows.proper(duals)
        new = separate.solve(0.0, duals)
        if new.bound + float(duals @ bounds) < -FEASIBILITY or not add(new):
            proof = new.own_duals.copy()
            proof[shared] = duals
            raise Infeasible(proof)
    master.begin_phase_two()
    best, centre, own, step = found[0].bound, np.zeros(m), found[0].own_duals, 0.5

    def price(at: Floats, gap: float) -> Separated:
        nonlocal best, centre, own
        new = separate.solve(1.0, at, own, gap)
        bound = new.bound + float(at @ bounds)
        if bound < best:
            best, centre, own = bound, at, new.own_duals
        return new

    for _ in range(MOST_ROUNDS):
        value, duals = master.solve()
        duals = rows.proper(duals)
        least, gap = rounding(value, duals, scale), max(0.0, 0.1 * (best - value))
        way = duals - centre
        new = price(centre + step * way, gap)
        falls = float(way @ (bounds - new.shared.sum(axis=0))) < 0
        step = step + 0.2 * (1.0 - step) if falls else max(0.02, 0.8 * step)
        if not master.gains(yields(new), least):
            new = price(duals, gap)
        if best - value > 10 * rounding(value, centre, scale) and add(new):
            continue
        lotteries, duals, value = master.mixture()
        new = price(rows.proper(duals), 0.0)
        if best - value <= 10 * rounding(value, centre, scale) or not add(new):
            break
    every = own.copy()
    every[shared] = centre
    by_search = [lottery for b, lottery in enumerate(lotteries) for _ in range(ptr[b], ptr[b + 1])]
    return best, every, by_search


def _few(
    oracle: Oracle, separate: Separate, lotteries: Sequence[list[tuple[Known, float]]]
) -> tuple[tuple[Column, ...], tuple[Lottery, ...]]:
    """Columns for all searches, put together from what each of them follows: as few as possible.

    Own duals touch one search only, so that policies with the same shared duals become one.
    """
    shared = separate.shared
    parts: dict[tuple[tuple[float, tuple[float, ...]], ...], list[list[Floats]]] = {}
    places: list[list[tuple[tuple[tuple[float, tuple[float, ...]], ...], int, float]]] = []
    for s, lottery in enumerate(lotteries):
        mine: dict[object, int] = {}
        places.append([])
        for known, w in sorted(lottery, key=lambda draw: -draw[1]):
            levels = known.policy.levels
            full = [np.array(level.duals) for level in levels]
            key = tuple((level.objective, tuple(d[shared])) for level, d in zip(levels, full, strict=True))
            number = mine[key] = mine.get(key, -1) + 1
            made = parts.setdefault(key, [])
            if number == len(made):
                made.append([np.where(np.isin(np.arange(len(d)), shared), d, 0.0) for d in full])
            for d, own in zip(made[number], full, strict=True):
                d[separate.own[s]] = own[separate.own[s]]
            places[s].append((key, number, w))
    numbered: dict[object, int] = {}
    columns: list[Column] = []
    for key, made in parts.items():
        for number, full in enumerate(made):
            numbered[key, number] = len(columns)
            levels = tuple(Level(o, tuple(map(float, d))) for (o, _), d in zip(key, full, strict=True))
            columns.append(oracle.column(Policy(levels)))
    chances = (tuple((numbered[key, number], w) for key, number, w in mine) for mine in places)
    return tuple(columns), tuple(chances)
