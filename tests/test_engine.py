"""Engines: wherever policies are evaluated, and whatever happens to the workers, the numbers are the same."""

from __future__ import annotations

import importlib.metadata
import io
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import psutil
import pytest

from auditkit.constraints.base import Constraint, Row
from auditkit.constraints.binding import bind
from auditkit.errors import InputError
from auditkit.model.documents import instance_from_document
from auditkit.model.instance import Instance
from auditkit.model.layout import Layout
from auditkit.model.search import Box, Search
from auditkit.solver import Solution, block_pieces, dask_engine, engine, solve, start_engine
from auditkit.solver.block_sums import BlockSums
from auditkit.solver.dask_engine import DaskEngine
from auditkit.solver.policy import Level, Policy
from support.clusters import NOBODY, scheduler, workers
from support.constraints import build
from support.instances import boxes
from support.tiny import add_limits, box_instance, chain_instance

SAMPLE = Path(__file__).parent.parent / "sample_data" / "four-boxes.json"
PYTHON = (sys.executable, "-P")


def few_kinds(seed: int, searches: int = 12) -> Instance:
    """Boxes of few types in three groups."""
    rng = np.random.default_rng(seed)
    laws = [(np.round(rng.uniform(0, 9, 4), 1), rng.dirichlet(np.ones(4)), float(rng.uniform(0, 1))) for _ in range(4)]

    def box(number: int) -> Box:
        values, probs, cost = laws[rng.integers(4)]
        group = "XXYYZ"[rng.integers(5)]
        return Box(str(number), group, cost, values + (group == "X"), probs)

    return Instance(
        tuple(Search(f"s{i}", int(rng.integers(1, 4)), tuple(box(j) for j in range(6))) for i in range(searches))
    )


def chains(seed: int) -> Instance:
    """Chains, some with cycles, and boxes between them."""
    return instance_from_document(chain_instance(np.random.default_rng(seed), searches=9, candidates=3))


def limited(seed: int) -> Instance:
    """Boxes with limits inside their searches."""
    rng = np.random.default_rng(seed)
    return instance_from_document(add_limits(rng, box_instance(rng, searches=9, candidates=5)))


class Marked(Constraint):
    """A constraint of a plugin that nobody else can load."""

    type = "marked"

    def rows(self, layout: Layout) -> list[Row]:
        weights = np.where(layout.selecting, np.arange(layout.states) % 3, 0.0)
        return [Row.of("every third value", weights, "<=", 0.6 * len(layout.search_ids))]


# ----------------------------------------------------------------------------------------------- without any cluster

SPECS = ["parity", "quota:group=Y,share=0.4", "parity:min_value=3", "floor:minimum=0.01"]


@pytest.mark.parametrize(("wanted", "seed"), [(1, 0), (2, 1), (5, 2), (100, 0)])
@pytest.mark.parametrize("make", [few_kinds, chains, limited])
@pytest.mark.parametrize("specs", [SPECS[:1], SPECS])
def test_pieces_yield_what_the_whole_yields(
    make: Callable[[int], Instance], specs: list[str], wanted: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditkit.solver.block_sums.MOST_BLOCKS", 7)
    layout = make(seed).layout
    kinds = [build(text) for text in specs] if make is few_kinds else [build(specs[0]), *map(build, specs[2:])]
    problem, other = BlockSums(layout, bind(kinds, layout)), bind([build("budget:limit=9,on=inspection")], layout)
    duals = tuple(np.random.default_rng(seed).normal(0, 0.5, len(problem.rows)))
    policies = [
        Policy.at(duals),
        Policy.towards(duals),
        Policy.at(duals, Level(0.0, duals), Level(1.0, (0.0,) * len(duals))),
        Policy((Level(1.0, (0.3,)), Level(0.0, (1.0,))), other),
    ]
    ranges = block_pieces.ranges(problem, wanted)
    assert len(ranges) == min(wanted, problem.blocks) and ranges[0][0] == 0 and ranges[-1][1] == problem.blocks
    for policy in policies:
        whole = problem.of_policy(policy)
        rows = policy.rows or problem.rows
        levels, tol = [(x.objective, x.duals) for x in policy.levels], dask_engine.tolerances(problem, policy)
        for a, b in ranges:
            piece, own = block_pieces.cut(problem, a, b), block_pieces.cut_rows(problem, rows, a, b)
            piece = pickle.loads(pickle.dumps(piece))
            utility, counts, further = block_pieces.answer(piece, own, levels, tol)
            np.testing.assert_array_equal(utility, whole.utility[a:b])
            np.testing.assert_array_equal(counts, whole.counts[a:b])
            np.testing.assert_array_equal(further, whole.further[block_pieces.entries(problem, a, b)])


@pytest.mark.parametrize("make", [few_kinds, chains])
def test_nobody_and_no_code_travels(make: Callable[[int], Instance]) -> None:
    names = {"X": "Secret group", "Y": "Other group", "Z": "Third group"}
    plain = make(1)
    searches = tuple(
        Search(
            f"Requisition {s.id}",
            s.capacity,
            tuple(
                type(c)(**{**vars_of(c), "id": f"Jane Doe {c.id}", "group": names.get(str(c.group), "Last")})
                for c in s.candidates
            ),
        )
        for s in plain.searches
    )
    layout = Instance(searches).layout
    problem = BlockSums(layout, bind([build("parity"), Marked()], layout))
    assert problem.further
    for a, b in block_pieces.ranges(problem, 3):
        sent = pickle.dumps((block_pieces.cut(problem, a, b), block_pieces.cut_rows(problem, problem.rows, a, b)))
        for word in (b"Jane", b"Requisition", b"group", b"every third", b"Marked", b"test_engine"):
            assert word not in sent
        assert modules_in(sent) <= {"auditkit", "numpy"}


def vars_of(candidate: Any) -> dict[str, Any]:
    return {name: getattr(candidate, name) for name in candidate.__dataclass_fields__}


def modules_in(sent: bytes) -> set[str]:
    """The packages whose code is needed to read something."""
    found = set()

    class Watching(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            found.add(module.partition(".")[0])
            return super().find_class(module, name)

    Watching(io.BytesIO(sent)).load()
    return found


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dsk", "did you mean 'dask'?"),
        ("spark", "known: local, dask, or tcp://HOST:PORT"),
        ("", "known: local, dask, or tcp://HOST:PORT"),
        ("tcp://", "is not tcp://HOST:PORT"),
        ("tcp://host", "is not tcp://HOST:PORT"),
        ("tcp://host:port", "is not tcp://HOST:PORT"),
        ("tcp://host:70000", "is not tcp://HOST:PORT"),
        ("tls://:8786", "is not tls://HOST:PORT"),
    ],
)
def test_a_name_that_no_engine_has(name: str, words: str) -> None:
    with pytest.raises(InputError, match=r"^engine: ") as caught, start_engine.running(name):
        pass
    assert words in str(caught.value) and len(caught.value.problems) == 1


def run(*command: object, code: int, cwd: Path, **env: str) -> tuple[str, str]:
    """What a program writes to stdout and stderr."""
    done = subprocess.run(
        [*PYTHON, *map(str, command)], capture_output=True, text=True, timeout=1200, cwd=cwd, env={**os.environ, **env}
    )
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


def test_the_local_engine_does_without_dask(tmp_path: Path) -> None:
    program = """
        import sys
        from auditkit.cli import invoke
        sys.modules["dask"] = sys.modules["distributed"] = None
        codes = [invoke(["solve", sys.argv[1], "--json", "--engine", name]) for name in sys.argv[2:]]
        assert sys.modules["dask"] is None
        assert codes == [0, 2, 2], codes
    """
    others = ("dask", "tcp://127.0.0.1:8786")
    out, err = run("-c", textwrap.dedent(program), SAMPLE, "local", *others, code=0, cwd=tmp_path)
    assert json.loads(out)["status"] == "optimal"  # one document: the others print none
    told = "error: engine: {!r} needs dask, which is not installed (pip install 'auditkit[dask]')\n"
    assert err == "".join(map(told.format, others))


# ------------------------------------------------------------------------------------------------------ with clusters


@pytest.fixture(scope="module", autouse=True)
def patience() -> Iterator[None]:
    """On a busy machine a scheduler answers late."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_engine, "CONNECT_SECONDS", 60)
        patch.setattr(dask_engine, "WORKER_SECONDS", 60)
        patch.setattr(dask_engine, "START_SECONDS", 600)
        yield


@pytest.fixture(scope="module")
def on_dask() -> Iterator[DaskEngine]:
    with start_engine.running("dask"):
        found = engine.current()
        assert isinstance(found, DaskEngine)
        engine._running.remove(found)  # tests start it
        found.client.wait_for_workers(os.cpu_count() or 1, timeout=600)
        assert len(pids(found)) == os.cpu_count(), "a worker for each core"
        try:
            yield found
        finally:
            engine._running.append(found)


@pytest.fixture
def address(on_dask: DaskEngine) -> str:
    """Where the scheduler of these workers listens: to a second client it is a cluster like any other."""
    return str(on_dask.client.cluster.scheduler_address)


@pytest.fixture
def asked(on_dask: DaskEngine, monkeypatch: pytest.MonkeyPatch) -> DaskEngine:
    """The engine on this machine, running for one test."""
    monkeypatch.setattr(engine, "_running", [on_dask])
    return on_dask


def same(one: Solution, other: Solution) -> None:
    """Not a digit differs."""
    assert one.status == other.status and one.conflict == other.conflict
    np.testing.assert_array_equal(one.unconstrained.visits, other.unconstrained.visits)
    if one.constrained is None or other.constrained is None:
        assert one.constrained is other.constrained
        return
    assert one.constrained.mixture == other.constrained.mixture
    assert one.constrained.evaluations == other.constrained.evaluations
    assert (one.constrained.utility, one.constrained.bound) == (other.constrained.utility, other.constrained.bound)
    np.testing.assert_array_equal(one.constrained.duals, other.constrained.duals)
    np.testing.assert_array_equal(one.constrained.outcome.visits, other.constrained.outcome.visits)


def many_boxes(seed: int) -> Instance:
    """All of different types, and more searches than blocks."""
    return boxes(np.random.default_rng(seed), 230, 5, 2, "ABC")


PROBLEMS: dict[str, tuple[Callable[[int], Instance], list[str], str]] = {
    "parity": (few_kinds, ["parity"], "column-generation"),
    "three constraints": (
        few_kinds,
        ["parity:tolerance=0.05", "quota:group=Z,share=0.3", "budget:limit=40"],
        "column-generation",
    ),
    "further rows": (few_kinds, ["floor:minimum=0.2", "parity:min_value=3"], "column-generation"),
    "infeasible": (few_kinds, ["floor:minimum=0.9"], "column-generation"),
    "many types": (many_boxes, ["parity", "impact-ratio:minimum=0.95,on=inspection"], "column-generation"),
    "chains": (chains, ["parity:basis=count"], "column-generation"),
    "chains with further rows": (
        chains,
        ["parity:basis=count,on=inspection", "floor:minimum=0.05"],
        "column-generation",
    ),
    "limits": (limited, ["parity:basis=count"], "column-generation"),
    "convex": (few_kinds, ["nash-welfare:level=group,minimum=4", "parity:tolerance=0.1"], "column-generation"),
    "rdip": (few_kinds, ["quota:group=Z,share=0.3"], "rdip"),
    "caratheodory": (few_kinds, ["quota:group=Z,share=0.3", "budget:limit=30"], "caratheodory"),
}


def solved(problem: str, seed: int) -> Solution:
    """The solution of a new instance: nothing is known from an earlier solve."""
    make, specs, method = PROBLEMS[problem]
    return solve(
        make(seed), [*map(build, specs), *([Marked()] if make is few_kinds and len(specs) > 2 else [])], method
    )


@pytest.mark.parametrize(("seed", "problem"), [*enumerate(PROBLEMS)])
def test_every_engine_finds_the_same(
    seed: int, problem: str, on_dask: DaskEngine, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = solved(problem, seed)
    answers: list[Any] = []
    ask = DaskEngine._ask
    monkeypatch.setattr(DaskEngine, "_ask", lambda *given: answers.append(ask(*given)) or answers[-1])
    with monkeypatch.context() as patch:
        patch.setattr(engine, "_running", [on_dask])
        same(here, solved(problem, seed))
    expected = 0 if problem == "convex" else 1
    assert (len(answers) > 0) == expected
    count = len(answers)
    with start_engine.running(address):
        same(here, solved(problem, seed))
    assert len(answers) == 2 * count
    assert engine.current() is None


def test_a_piece_is_sent_once(asked: DaskEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    scatter = asked.client.scatter
    monkeypatch.setattr(asked.client, "scatter", lambda data: sent.extend(data) or scatter(data))
    instance = many_boxes(3)
    solve(instance, [build("parity")])
    pieces = len(asked._plan(BlockSums(instance.layout, bind([], instance.layout))).pieces)
    rows = len(sent) - pieces
    assert 0 < rows <= pieces  # pieces whose candidates have the same groups in the same order share what a row says
    solve(instance, [build("parity")])
    solve(many_boxes(3), [build("parity")])  # the same numbers
    assert len(sent) == len({name.rpartition("-")[0] for name in sent})
    before = len(sent)
    solve(instance, [build("parity:on=inspection")])
    assert len(sent) == before + rows  # other rows, the same pieces


def killing(monkeypatch: pytest.MonkeyPatch, victims: Callable[[DaskEngine], list[int]], when: int = 3) -> list[int]:
    """Let worker processes be killed while they evaluate the policy of this number; returns whom it met."""
    killed: list[int] = []
    calls: list[DaskEngine] = []
    ask, wait = DaskEngine._ask, distributed.wait

    def watched(self: DaskEngine, *given: Any) -> Any:
        calls.append(self)
        return ask(self, *given)

    def kill_then_wait(tasks: Any, **options: Any) -> Any:
        if len(calls) == when and not killed:
            killed.extend(victims(calls[-1]))
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
        return wait(tasks, **options)

    monkeypatch.setattr(DaskEngine, "_ask", watched)
    monkeypatch.setattr(distributed, "wait", kill_then_wait)
    return killed


def pids(found: DaskEngine) -> list[int]:
    return sorted(found.client.run(os.getpid).values())


@pytest.mark.parametrize(("problem", "how_many", "late"), [("many types", 1, False), ("chains", None, True)])
def test_a_killed_worker_costs_time_only(
    problem: str, how_many: int | None, late: bool, asked: DaskEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that is not gone yet when its connection is lost."""
    here = solved(problem, 4)
    killed = killing(monkeypatch, lambda found: pids(found)[:how_many])
    looks: list[subprocess.Popen[bytes]] = []
    poll = subprocess.Popen.poll

    def poll_late(process: subprocess.Popen[bytes]) -> int | None:
        looks.extend([process] if killed else [])
        return None if len(looks) in (1, 2) else poll(process)

    if late:
        monkeypatch.setattr(subprocess.Popen, "poll", poll_late)
    waits: list[float] = []
    wait = asked.client.wait_for_workers
    monkeypatch.setattr(
        asked.client, "wait_for_workers", lambda count, timeout: waits.append(timeout) or wait(count, timeout)
    )
    same(here, solved(problem, 4))
    assert killed and not asked._gone and (len(looks) > 2) == late
    assert not set(killed) & set(pids(asked))
    assert max(waits) <= dask_engine.LOOK_SECONDS


def test_when_nobody_is_left_the_command_goes_on_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "PATIENCE_SECONDS", 1)
    here = solved("many types", 5)
    with scheduler() as (where, _), workers(where, 1):
        said: list[str] = []
        killed = killing(monkeypatch, pids)
        with start_engine.running(where, said.append):
            same(here, solved("many types", 5))
        assert len(killed) == 1 and said == ["the workers of the engine are gone: this process goes on alone"]


def test_a_scheduler_that_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "PATIENCE_SECONDS", 1)
    here = solved("many types", 6)
    with scheduler() as (where, process), workers(where, 1):
        said: list[str] = []
        killing(monkeypatch, lambda _: [process.pid])
        with start_engine.running(where, said.append):
            found = engine.current()
            assert isinstance(found, DaskEngine)
            found.client._timeout = 1  # a minute of patience is for its start, not for its end
            same(here, solved("many types", 6))
        assert len(said) == 1


@pytest.mark.parametrize("asked_before", [False, True])
def test_a_client_that_gave_up_on_its_scheduler(asked_before: bool, address: str) -> None:
    """Whether it gives up before, while or after it is asked is a matter of milliseconds."""
    here, said = solved("many types", 7), list[str]()
    with start_engine.running(address, said.append):
        found = engine.current()
        assert isinstance(found, DaskEngine)
        instance = many_boxes(7)
        if asked_before:
            solve(instance, [build("parity")])
            assert found._plans
        found.client.close()
        same(here, solved("many types", 7))
        assert solve(instance, [build("parity")]).status == "optimal"
    assert said == ["the workers of the engine are gone: this process goes on alone"]


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Somebody who listens and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_no_scheduler_there(auditkit: Any, silent_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "CONNECT_SECONDS", 1)
    for where in (NOBODY, f"tcp://127.0.0.1:{silent_port}"):
        ran = auditkit("solve", SAMPLE, "--engine", where)
        assert ran.code == 2 and ran.out == ""
        assert ran.err == f"error: engine: no scheduler answers at {where} (start one with: dask scheduler)\n"


def test_a_scheduler_without_workers(auditkit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "WORKER_SECONDS", 0.5)
    with scheduler() as (where, _):
        ran = auditkit("solve", SAMPLE, "--engine", where)
    assert ran.code == 2 and ran.out == ""
    assert ran.err == f"error: engine: the scheduler at {where} has no workers (start some with: dask worker {where})\n"


LACKING = """
import importlib.metadata as found
of = found.version
def version(name):
    if name == "auditkit":
        raise found.PackageNotFoundError(name)
    return of(name)
found.version = version
"""
OTHER = LACKING.replace("raise found.PackageNotFoundError(name)", "return '0.0.1'")


@pytest.mark.parametrize(
    ("at_scheduler", "at_worker", "words"),
    [
        ("", LACKING, "has no auditkit"),
        ("", OTHER, "has auditkit 0.0.1, not {own}"),
        (LACKING, "", "has no auditkit"),
        (OTHER, OTHER, "has auditkit 0.0.1, not {own}, and so it is with 1 more"),
    ],
)
def test_workers_with_another_auditkit(auditkit: Any, at_scheduler: str, at_worker: str, words: str) -> None:
    own = importlib.metadata.version("auditkit")
    with scheduler(at_scheduler) as (where, _), workers(where, 1, at_worker):
        ran = auditkit("solve", SAMPLE, "--engine", where)
    assert ran.code == 2 and ran.out == ""
    who = "scheduler" if at_scheduler else "worker"
    assert ran.err.startswith(f"error: engine: the {who} at tcp://127.0.0.1:") and ran.err.count("\n") == 1
    assert ran.err.endswith(f" {words.format(own=own)} (install auditkit {own} on every machine)\n")


# --------------------------------------------------------------------------------------------------- on the commands

QUICK = """[report]
replicates = 0
what_if = false
alternatives = false
[fit]
points = 3
[[constraints]]
type = "parity"
"""


def test_solve_prints_the_same_and_nothing_of_dask(auditkit: Any, tmp_path: Path) -> None:
    (tmp_path / "tornado.py").write_text("raise SystemExit('the working directory was loaded')\n")
    here = auditkit("solve", SAMPLE, "--json")
    there = run("-m", "auditkit", "solve", SAMPLE, "--json", "--engine", "dask", code=0, cwd=tmp_path)
    assert (here.out, here.err) == there and here.code == 0 and here.err == ""
    assert [path.name for path in tmp_path.iterdir()] == ["tornado.py"]


def test_report_and_run_take_an_engine(
    auditkit: Any, few_people: Path, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "audit.toml"
    documents = []
    for line in ("", f'engine = "{address}"\n'):
        settings.write_text(f'{line}source = "{few_people}"\n{QUICK}')
        ran = auditkit("report", "--config", settings, "--json")
        assert ran.code == 0 and ran.err == "favourable: Hired, 6 of 36\n"
        documents.append({**json.loads(ran.out), "created": ""})
    assert documents[0] == documents[1] and "engine" not in documents[0]["config"]
    monkeypatch.setattr(dask_engine, "CONNECT_SECONDS", 1)
    for command in (["report", "--config"], ["run"]):
        ran = auditkit(*command, settings, "--engine", NOBODY)
        assert ran.code == 2 and f"no scheduler answers at {NOBODY}" in ran.err
    assert not list(tmp_path.glob("*.html"))


def test_whatif_takes_an_engine(auditkit: Any, few_people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("auditkit.pipeline.questions", lambda *_, **__: asked.append(str(engine.current())) or 1 / 0)
    ran = auditkit("whatif", few_people, "--engine", "dask")
    assert ran.code == 3 and "DaskEngine" in asked[0]
    assert engine.current() is None


def children(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_a_command_ends_its_workers_do_too(how: signal.Signals) -> None:
    program = """
        import click, os, sys, time
        os.cpu_count = lambda: 1  # one worker will do
        from auditkit import cli
        from auditkit.solver import engine, start_engine

        @click.command()
        def wait():
            with start_engine.running("dask"):
                engine.current()._gather_workers()
                print("ready", flush=True)
                time.sleep(600)

        cli.commands.add_command(wait)
        cli.main(["wait"])
    """
    started = subprocess.Popen(
        [*PYTHON, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "ready\n"
    found = children(started.pid)
    assert len(found) == 1
    listening = [
        c.laddr.ip for p in (psutil.Process(started.pid), *found) for c in p.net_connections() if c.status == "LISTEN"
    ]
    assert listening and set(listening) == {"127.0.0.1"}
    os.killpg(started.pid, how)  # as a terminal does
    _, err = started.communicate(timeout=600)
    assert started.returncode == (130 if how == signal.SIGINT else -how)
    assert err.strip() == ("interrupted" if how == signal.SIGINT else "")
    assert psutil.wait_procs(found, timeout=600)[1] == []
