"""What each phase of a default report takes at several sizes: seconds of processor time, and memory at its peak.

The efforts in `auditkit.pipeline.STAGES`, from which the time that is left is estimated, come from here. `--write` puts
the table into docs/scale.md. Each size runs in a process of its own; peaks of phases need Linux.

python benchmarks/phases.py [--write] [SEARCHES ...]     of about 25 applications each; 60 and 640 by default
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is imported

import numpy as np

from auditkit import pipeline, plugin_manager
from auditkit.config import Config

PAGE = Path(__file__).resolve().parent.parent / "docs" / "scale.md"
BEGIN, END = "<!-- phases -->", "<!-- end of phases -->"
Phases = dict[str, tuple[float, float]]


def peak() -> float:
    """Megabytes at the peak since the last call."""
    status = Path("/proc/self/status").read_text()
    Path("/proc/self/clear_refs").write_text("5")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def measured(searches: int) -> tuple[int, Phases]:
    """The number of applications; seconds and megabytes of each phase."""
    config = Config().over(report__formats=("html", "json"))
    phases, taken, sizes = list(pipeline.phases(config)), {"importing": (time.process_time(), peak())}, []
    phase, begun = "", 0.0

    def progress(text: str) -> None:
        nonlocal phase, begun
        seconds, most = taken.get(phase, (0.0, 0.0))
        taken[phase] = seconds + time.process_time() - begun, max(most, peak())
        phase, begun = next((one for one in phases if text.startswith(one)), phase), time.process_time()

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        made = [sys.executable, "-m", "auditkit", "sample", "--searches", str(searches), "-o", str(path)]
        subprocess.run(made, stdout=subprocess.DEVNULL, check=True)
        phase, begun = "importing", time.process_time()
        audit = pipeline.audit(path, config, plugin_manager.load([]), progress, counted=sizes.append)
        pipeline.write(audit, path.with_suffix(""), progress)
        progress("")
    return sizes[0], taken


def in_own_process(searches: int) -> tuple[int, Phases]:
    made = subprocess.run([sys.executable, __file__, "--one", str(searches)], stdout=subprocess.PIPE, check=True)
    return json.loads(made.stdout.splitlines()[-1])


def table(found: list[tuple[int, Phases]]) -> list[str]:
    sizes = np.array([size for size, _ in found])
    lines = [f"| phase | {' | '.join(f'{size:,} rows' for size in sizes)} | growth per row |"]
    lines.append("| --- " * (len(found) + 2) + "|")
    for phase in found[-1][1]:
        numbers = [taken.get(phase, (0.0, 0.0)) for _, taken in found]
        growth = ""
        if len(found) > 1 and numbers[-2][0] > 0.1:
            growth = f"{numbers[-1][0] / numbers[-2][0] * sizes[-2] / sizes[-1]:.2f}"
        told = " | ".join(f"{seconds:.1f} s, {most:,.0f} MB" for seconds, most in numbers)
        lines.append(f"| {phase} | {told} | {growth} |")
    every = [(sum(s for s, _ in taken.values()), max(m for _, m in taken.values())) for _, taken in found]
    lines.append(f"| all | {' | '.join(f'{s:.1f} s, {m:,.0f} MB' for s, m in every)} | |")
    return lines


if __name__ == "__main__":
    named = [int(n) for n in sys.argv[1:] if n.isdecimal()] or [60, 640]
    if "--one" in sys.argv:
        print(json.dumps(measured(named[0])))
        sys.exit()
    found: list[tuple[int, Phases]] = []
    for searches in named:
        found.append(in_own_process(searches))
        lines = table(found)
        if "--write" in sys.argv:
            head, _, rest = PAGE.read_text().partition(BEGIN)
            PAGE.write_text("\n".join([head + BEGIN, *lines, END + rest.partition(END)[2]]))
    print("\n".join(lines))
    thousands = np.array([size / 1000 for size, _ in found])
    for phase in found[-1][1] if len(found) > 1 else ():
        each, fixed = np.polyfit(thousands, [taken.get(phase, (0.0, 0.0))[0] for _, taken in found], 1)
        print(f"{phase:30} {fixed:7.2f} + {each:.3f} n/1000")
