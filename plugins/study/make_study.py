"""Studies from their names to their files."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from auditkit.files import write_text
from auditkit.plugins.study import write_study
from auditkit.plugins.study.paper_claims import Study
from auditkit.plugins.study.runner import Runner, cores
from auditkit.plugins.study.store import Data

FINISHED = "instances"
"""Folder of finished instances inside the output folder."""

INTRO = """The paper's simulations, repeated with auditkit: instances drawn from a seed as the paper describes, every
policy evaluated exactly, every optimum certified. Made by `auditkit study`; each section says how many instances it
has (`make study` takes 50 for parity, 5 to 20 for most others and 10,000 for the budget table: 35 minutes of
processor time; `auditkit study NAME --instances N` computes more and keeps the old). `plugins/study/population.py`
says how instances are drawn and what the paper leaves open. ± is one standard error over instances; bands in charts
are two. Verdicts are computed: **agrees** if the statement is true of the measured mean, **within error** if it is
within two standard errors of being true, **differs** otherwise. Where the paper is vague ("small", "about"), the
reading that is judged is in brackets. 5.1 to 5.3 are sections of the paper, EC its electronic companion."""


def make(
    studies: Sequence[Study], folder: Path, seed: int, instances: int, jobs: int | None, quiet: bool
) -> Iterator[tuple[Study, list[str]]]:
    """Run studies one after another; yields each with the verdicts on the paper's statements."""
    sections = []
    loaded: dict[str, Data] = {}
    started = time.monotonic()
    with Runner(folder / FINISHED, seed, instances, jobs or cores(), quiet) as runner:
        for study in studies:
            for name in study.sweeps:
                if name not in loaded:
                    loaded[name] = runner.data(name)
            found = {name: loaded[name] for name in study.sweeps}
            findings = study.build(found)
            sections.append(write_study.write(folder, study, findings, _count(found, seed)))
            yield study, [claim.verdict for claim in findings.claims]
    if len(studies) > 1:
        took = f"This run took {time.monotonic() - started:.0f} s, finished instances from before not counted."
        write_text(
            folder / "study.md", write_study.page("The paper's numerical study", f"{INTRO}\n\n{took}", sections, ".")
        )


def _count(found: dict[str, Data], seed: int) -> str:
    counts = sorted({data.instances for data in found.values()})
    number = " and ".join(f"{n:,}" for n in counts)
    return f"{number} instance{'s' if counts != [1] else ''} per point, seed {seed}."
