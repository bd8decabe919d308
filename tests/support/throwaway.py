"""An environment to install packages into and throw away: it sees what is installed here. (No tests in here.)"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path


def run(*command: str | Path, cwd: Path, code: int = 0, **env: str) -> str:
    """What a command prints, on stdout and stderr; it must end with `code`."""
    done = completed(*command, cwd=cwd, code=code, **env)
    return done.stdout + done.stderr


def completed(*command: str | Path, cwd: Path, code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
    """The same, with stdout and stderr apart."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE", "COV_"))}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=kept | env, capture_output=True, text=True, timeout=1800)
    assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def environment(folder: Path, *packages: Path) -> Path:
    """The Python of a new environment with these packages, built without a network as pip would build them."""
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    (site,) = folder.glob("lib/python*/site-packages")
    here = sysconfig.get_path("purelib")
    (site / "here.pth").write_text(
        f"import site; site.addsitedir({here!r})\n"
    )  # with its .pth files, unlike PYTHONPATH
    python = folder / "bin" / "python"
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    run(sys.executable, "-m", "pip", "--python", python, "install", *options, *packages, cwd=folder)
    return python
