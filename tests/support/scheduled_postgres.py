"""A PostgreSQL server of the tests' own: started on a free port in a temporary folder, gone when the tests end."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PASSWORD = "s3cret-of-the-database"


def binaries() -> Path | None:
    """The folder of initdb; Debian keeps it out of the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    return Path(initdb).resolve().parent if initdb else None


@contextmanager
def server() -> Iterator[str]:
    """The URL of an empty database, with its password in it."""
    folder = binaries()
    assert folder is not None
    home = Path(tempfile.mkdtemp(prefix="auditkit-postgres-"))
    data, password = home / "data", home / "password"
    password.write_text(PASSWORD)
    as_user: list[str] = []
    if os.geteuid() == 0:  # the server refuses to run as root
        owner = pwd.getpwnam("postgres")
        for path in (home, password):
            os.chown(path, owner.pw_uid, owner.pw_gid)
        as_user = ["runuser", "-u", "postgres", "--"]

    def call(program: str, *arguments: str) -> None:
        subprocess.run(
            [*as_user, str(folder / program), *arguments],
            check=True,
            cwd=home,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=600,
        )

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    try:
        call(
            "initdb",
            "-D",
            str(data),
            "-U",
            "audit",
            "-A",
            "scram-sha-256",
            f"--pwfile={password}",
            "--no-sync",
            "-E",
            "UTF8",
        )
        options = f"-p {port} -k {home} -c listen_addresses=127.0.0.1 -c fsync=off"
        call("pg_ctl", "-D", str(data), "-w", "-l", str(home / "log"), "-o", options, "start")
        try:
            yield f"postgresql://audit:{PASSWORD}@127.0.0.1:{port}/postgres"
        finally:
            call("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)
