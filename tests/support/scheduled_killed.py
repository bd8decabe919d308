"""Kills a run at every call of the system and of the database, one after the other, and looks at what is left.

    python scheduled_killed.py FOLDER STRIDE            the history is a SQLite file
    python scheduled_killed.py FOLDER STRIDE URL        it is in a PostgreSQL database

One process that has loaded everything forks a child for each point; the child kills itself with SIGKILL just before or
just after its n-th call of `open`, `write`, `fsync`, `rename`, `unlink`, `execute`, `commit` and the like (of psycopg:
its Python functions of these names). Then the
history must open, every recorded run must have its artefacts, and the next run must succeed and leave nothing over.
Prints the number of points.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.scheduled_example import Scheduled, complete, consistent, runs

CALLS = {
    *(
        "open",
        "write",
        "fsync",
        "flush",
        "rename",
        "replace",
        "mkdir",
        "rmdir",
        "unlink",
        "remove",
        "scandir",
        "pwrite",
    ),
    *("ftruncate", "flock", "connect", "execute", "executemany", "commit", "rollback", "close", "__exit__"),
}
MODULES = {"posix", "io", "_io", "fcntl", "sqlite3", "_sqlite3", None}
KEEP = '[history]\nkeep = "20 days"\n'


def tick(point: int) -> Any:
    """A profiler that kills this process at its `point`-th event of interest; with -1 it only counts."""
    count = [0]

    def watch(frame: Any, event: str, what: Any) -> None:
        if event in ("call", "return"):
            if "psycopg" not in frame.f_code.co_filename or frame.f_code.co_name not in CALLS:
                return
        elif getattr(what, "__name__", "") not in CALLS or getattr(what, "__module__", None) not in MODULES:
            return
        count[0] += 1
        if count[0] == point:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)
    return count


def once(audit: Scheduled, point: int) -> tuple[int, int]:
    """A run in a child that dies at the point, or ends; its wait status, and the events it saw if it ended."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            count = tick(point)
            audit.run()
            sys.setprofile(None)
            os.write(send, str(count[0]).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(send)
    _, status = os.waitpid(child, 0)
    seen = int(os.read(receive, 20) or b"0")
    os.close(receive)
    return status, seen


def database(url: str, name: str, like: str) -> dict[str, str]:
    """The environment of an audit with a new database that has what another one has."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(like)))
    return {"AUDIT_DATABASE": f"{url.rpartition('/')[0]}/{name}"}


def main(folder: Path, stride: int, url: str | None = None) -> None:
    """Each point begins with a copy of four runs, the first of which is due for removal at the next."""
    toml = KEEP if url is None else f'{KEEP}database_env = "AUDIT_DATABASE"\n'
    first = Scheduled(folder / "first", toml)
    if url is not None:
        first.environ = database(url, "first", "template1")
    for week in range(4):
        first.fake.write({"Black": (3000, week), "White": (700, 64)})
        first.run()

    def copy(name: str) -> Scheduled:
        shutil.copytree(first.path.parent, folder / name / "first")  # the name of the folder is that of the audit
        audit = Scheduled(folder / name / "first", toml)
        audit.now = first.now
        if url is not None:
            audit.environ = database(url, name, "first")
        audit.fake.write({"Black": (3000, 9), "White": (700, 64)})
        return audit

    status, total = once(copy("counted"), -1)
    assert status == 0 and total > 100, (status, total)
    points = 0
    for point in range(1, total + 1, stride):
        audit = copy(str(point))
        status, _ = once(audit, point)
        points += os.WIFSIGNALED(status)
        consistent(audit)
        before = len(runs(audit))
        assert before in (4, 5), (point, before)
        audit.run()
        assert len(runs(audit)) == before + 1, point
        complete(audit)
        shutil.rmtree(folder / str(point))
    print(points, total)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
