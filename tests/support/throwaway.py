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
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=kept_environment() | env, capture_output=True, text=True, timeout=1800)
    assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def kept_environment() -> dict[str, str]:
    """The variables of this process but for those that change how Python runs."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE", "COV_"))}


BUILD = """
import os, sys
from setuptools import build_meta
wheels, *folders = sys.argv[1:]
for folder in folders:
    os.chdir(folder)
    build_meta.build_wheel(wheels)
"""


def environment(folder: Path, *packages: Path) -> Path:
    """The Python of a new environment with these packages, built without a network as pip would build them."""
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    (site,) = folder.glob("lib/python*/site-packages")
    here = sysconfig.get_path("purelib")
    (site / "here.pth").write_text(
        f"import site; site.addsitedir({here!r})\n"
    )  # with its .pth files, unlike PYTHONPATH
    python = folder / "bin" / "python"
    options = ("--no-deps", "--no-index", "--quiet")
    # pip would start a process for each package and each step of its build
    run(sys.executable, "-c", BUILD, folder / "wheels", *packages, cwd=folder)
    wheels = sorted((folder / "wheels").glob("*.whl"))
    run(sys.executable, "-m", "pip", "--python", python, "install", *options, *wheels, cwd=folder)
    return python
