"""Machines that are not as usual: one message each, never a defect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import ROOT
from support.audit_helpers import rows, save


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names or folders")
def test_a_file_name_that_is_not_utf_8(auditkit: Any, tmp_path: Path) -> None:
    plain = save(tmp_path / "people.csv", rows(searches=6, each=6), leave=("Interview Score",))
    odd = Path(os.fsdecode(bytes(tmp_path) + b"/pe\xffple.csv"))
    odd.write_bytes(plain.read_bytes())
    (tmp_path / "audit.toml").write_text("[report]\nreplicates = 0\n")
    for arguments in (
        ("check", odd),
        ("report", odd, "-o", "out", "--format", "html,json"),
        ("report", odd, "--config", "audit.toml", "--format", "html,json"),
    ):
        run = auditkit(*arguments)
        assert run.code == 0, (arguments, run.err)
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["input"]["path"] == "pe\\xffple.csv"
    assert auditkit("verify", "out.html", odd).code == 0
    assert odd.with_suffix(".audit.json").exists()
    run = auditkit("init", odd, "-o", "new.toml")  # TOML is UTF-8
    assert run.code == 2 and "the name of a file in it is not UTF-8 (rename that file)" in run.err


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep the folder")
def test_a_working_folder_that_was_deleted(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = "import os, sys; from auditkit.cli import invoke; os.rmdir(os.getcwd()); sys.exit(invoke(['solve', 'x']))"
    done = subprocess.run([sys.executable, "-c", script], cwd=gone, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: the working folder: was deleted (go to another one with cd)\n"


def test_compiled_code_that_cannot_be_kept(tmp_path: Path) -> None:
    """As in a read-only installation without a home: numba has no folder, and refuses what asks to be kept.

    No kernel of the package asks, and one of them is compiled and runs.
    """
    script = """
import importlib, sys, numba.core.caching as caching
caching.CompileResultCacheImpl._locator_classes = []
import numpy as np
from numba.core.dispatcher import Dispatcher
from auditkit.cli import options
from auditkit.fitting import compile_options
assert not compile_options.KEPT and 'in every run' in options._compiles()
for name in sys.argv[1:]:
    kernels = [kernel for kernel in vars(importlib.import_module(name)).values() if isinstance(kernel, Dispatcher)]
    assert kernels and all(isinstance(kernel._cache, caching.NullCache) for kernel in kernels), name
from auditkit.solver.kernels import falling
assert falling(np.array([1.0, 3.0, 2.0])).tolist() == [1, 2, 0]
"""
    compiled = [path for path in (ROOT / "auditkit").rglob("*.py") if "\n@njit" in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in compiled]
    assert len(names) > 5
    done = subprocess.run([sys.executable, "-c", script, *names], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
