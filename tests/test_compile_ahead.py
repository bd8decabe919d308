"""The second process that compiles during the first report."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from numba import typeof

from auditkit.cli import invoke
from auditkit.cli.compile_ahead import needed_last

SAMPLE = Path(__file__).parents[1] / "sample_data" / "hiring.csv"
ENDS = """
import itertools, os
os.cpu_count = lambda: 2
from auditkit.cli import compile_ahead
every = compile_ahead.needed_last
compile_ahead.needed_last = lambda: itertools.islice(every(), 1, 2)
before = compile_ahead._worth_it()
with compile_ahead.compiling_ahead():
    pass
compile_ahead.main()
print(before, compile_ahead._worth_it())
"""


def test_a_report_passes_the_types_that_were_compiled_ahead(tmp_path: Path) -> None:
    """Otherwise the work would be for nothing, and done a second time."""
    (tmp_path / "quick.toml").write_text("[report]\nwhat_if = false\nreplicates = 20\n")
    invoke(["report", str(SAMPLE), "-q", "-o", f"{tmp_path}/", "--config", str(tmp_path / "quick.toml")])
    for kernel, arguments in needed_last():
        assert tuple(map(typeof, arguments)) in kernel.signatures, kernel.py_func.__name__


def test_what_is_kept_is_not_compiled_ahead(tmp_path: Path) -> None:
    fresh = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-P", "-c", ENDS], env=fresh, stdout=subprocess.PIPE, check=True)
    assert done.stdout.split() == [b"True", b"False"]
