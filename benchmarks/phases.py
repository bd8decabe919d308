"""What each phase of a default report takes, in seconds of processor time, at several sizes.

The efforts in `auditkit.pipeline.STAGES`, from which the time that is left is estimated, come from here.

python benchmarks/phases.py [SEARCHES ...]     of about 25 applications each; 60 and 640 by default
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from auditkit import pipeline, plugin_manager
from auditkit.cli import main
from auditkit.config import Config


def measured(searches: int) -> tuple[int, dict[str, float]]:
    """The number of applications and the seconds of each phase."""
    config = Config().over(report__formats=("html", "json", "pdf"))
    phases, taken, sizes = list(pipeline.phases(config)), {}, []
    phase, begun = "", 0.0

    def progress(text: str) -> None:
        nonlocal phase, begun
        end = time.process_time()
        taken[phase] = taken.get(phase, 0.0) + end - begun
        phase, begun = next((one for one in phases if text.startswith(one)), phase), end

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        main(["sample", "--searches", str(searches), "-o", str(path)])
        begun = time.process_time()
        audit = pipeline.audit(path, config, plugin_manager.load([]), progress, counted=sizes.append)
        pipeline.write(audit, path.with_suffix(""), progress)
        progress("")
    return sizes[0], taken


if __name__ == "__main__":
    found = [measured(int(n)) for n in sys.argv[1:] or ("60", "640")]
    thousands = np.array([size / 1000 for size, _ in found])
    for phase in found[-1][1]:
        seconds = np.array([taken.get(phase, 0.0) for _, taken in found])
        each, fixed = np.polyfit(thousands, seconds, 1) if len(found) > 1 else (0.0, seconds[0])
        print(
            f"{phase or 'starting':30}", *(f"{value:9.2f}" for value in seconds), f"   {fixed:7.2f} + {each:.3f} n/1000"
        )
