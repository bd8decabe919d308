"""What the numbers of a report are worth: simulations with known truth, and docs/validity.md from them.

    python benchmarks/validity                      a few minutes: few data sets of each scenario
    python benchmarks/validity --full               all scenarios, more data sets
    python benchmarks/validity --only coverage -n 40 --scenario gap
    python benchmarks/validity --only coverage --write     only writes the page anew, from what is there

Data sets have the seeds 0, 1, 2, ..., or from `FIRST` of the study on. Each result is kept in
build/validity/STUDY/SCENARIO-SEED.json, so that an interrupted run goes on where it stopped; --anew forgets them. A
study is a module with `NAME`, `SCENARIOS`, `QUICK` (scenarios without --full), `COUNTS` (data sets of each, without and
with --full), `FIRST`, `measure(firm)` and `section(results)`, and `draw(scenario, seed)` if its data sets are not known
firms; add it to `STUDIES`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one process a core

import argparse
import json
import re
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import alarms_study
import blind_study
import coverage_study
import decisions_study
import gains_study
import looks_study
import reports_study
from known_firms import draw

STUDIES: dict[str, ModuleType] = {
    study.NAME: study
    for study in (coverage_study, blind_study, decisions_study, gains_study, alarms_study, reports_study, looks_study)
}
ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "validity"
PAGE = ROOT / "docs" / "validity.md"


def run(study: str, scenario: str, seed: int) -> dict[str, Any]:
    """What a study measures of one data set; found in the folder if it was there before."""
    path = KEPT / study / f"{scenario}-{seed}.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    warnings.simplefilter("ignore")
    module = STUDIES[study]
    drawn = getattr(module, "draw", draw)(next(s for s in module.SCENARIOS if s.name == scenario), seed)
    found = module.measure(drawn)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found), encoding="utf-8")
    return found


def results(study: ModuleType, scenario: str) -> list[dict[str, Any]]:
    """All data sets of a scenario that are there, by seed."""
    found = {}
    for path in (KEPT / study.NAME).glob(f"{scenario}-*.json"):
        if number := re.fullmatch(rf"{re.escape(scenario)}-(\d+)", path.stem):
            found[int(number[1])] = json.loads(path.read_text(encoding="utf-8"))
    return [found[seed] for seed in sorted(found)]


def write(study: ModuleType) -> None:
    """Put the tables of a study into the page, between its marks."""
    have = {s.name: found for s in study.SCENARIOS if (found := results(study, s.name))}
    if not have:
        return  # what is written there stays
    begin, end = f"<!-- {study.NAME}: written by make validity -->", f"<!-- end of {study.NAME} -->"
    text = PAGE.read_text(encoding="utf-8")
    if begin not in text:
        text = f"{text.rstrip()}\n\n{begin}\n{end}\n"
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    section = study.section(have).strip()
    PAGE.write_text(f"{before}{begin}\n\n{section}\n\n{end}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="all scenarios, and more data sets of each")
    parser.add_argument("--only", action="append", choices=list(STUDIES), help="this study; several times for more")
    parser.add_argument("--scenario", action="append", help="this scenario; several times for more")
    parser.add_argument("-n", type=int, help="data sets of each scenario")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--anew", action="store_true", help="forget the results of earlier runs")
    parser.add_argument("--write", action="store_true", help="only write the page")
    chosen = parser.parse_args()
    for study in (STUDIES[name] for name in chosen.only or STUDIES):
        if chosen.anew:
            for path in (KEPT / study.NAME).glob("*.json"):
                path.unlink()
        names = [s.name for s in study.SCENARIOS if chosen.full or s.name in study.QUICK or chosen.scenario]
        names = [name for name in names if not chosen.scenario or name in chosen.scenario]
        count = chosen.n or study.COUNTS[chosen.full]
        seeds = range(study.FIRST, study.FIRST + count)
        tasks = [(name, seed) for seed in seeds for name in names]  # an interrupted run has some of each
        if not chosen.write:
            with ProcessPoolExecutor(chosen.jobs) as pool:
                asked = [pool.submit(run, study.NAME, *task) for task in tasks]
                for done, future in enumerate(asked, 1):
                    future.result()
                    print(f"\r{study.NAME}: {done} of {len(tasks)} data sets", end="", file=sys.stderr, flush=True)
                print(file=sys.stderr)
        write(study)
    print(f"Wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
