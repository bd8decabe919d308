"""Write all files of sample_data, or with --check compare them with what would be written.

    python sample_data/generate.py [--check]

The same bytes on every machine: all numbers come from the raw bits of a seeded PCG64 (`generator/draws.py`), and every
cell has a fixed format. The tables of the README stand between markers and are written too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from auditkit.sample_data.generator import csv_cells, firm, instances, mess, readme, stage_log

HERE = Path(__file__).resolve().parent


def contents() -> dict[str, bytes]:
    """Every generated file: name -> bytes."""
    applications = firm.hiring()
    rows = [csv_cells.hiring_cells(a) for a in applications]
    events = stage_log.events()
    level = firm.hiring(firm.LEVEL_SEED, firm.LEVEL)
    files = {
        "hiring-level.csv": csv_cells.table([csv_cells.hiring_cells(a) for a in level]).encode(),
        "hiring.csv": csv_cells.table(rows).encode(),
        "hiring-messy.csv": mess.messy(rows),
        "hiring-stages.csv": csv_cells.table([csv_cells.event_cells(event) for event in events]).encode(),
        "four-boxes.json": _json(instances.four_boxes),
        "three-boxes.json": _json(instances.three_boxes),
        "stages.json": _json(instances.stages),
    }
    blocks = {
        "parameters": readme.parameters(),
        "measured": readme.measured(applications),
        "level": readme.measured(level),
        "mess": readme.mess_table(),
        "events": readme.funnel(events),
    }
    files["README.md"] = _fill((HERE / "README.md").read_text(encoding="utf-8"), blocks).encode()
    return files


def _json(document: Callable[[], dict[str, object]]) -> bytes:
    return (instances.render(document()) + "\n").encode()


def _fill(text: str, blocks: dict[str, str]) -> str:
    """Replace what stands between `<!-- name -->` and `<!-- /name -->`."""
    for name, block in blocks.items():
        start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        if (text.count(start), text.count(end)) != (1, 1):
            sys.exit(f"README.md needs one block {start.strip()} ... {end}")
        before, rest = text.split(start)
        text = before + start + block + end + rest.partition(end)[2]
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the sample data.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file differs")
    check = parser.parse_args().check
    differ = 0
    for name, content in contents().items():
        path = HERE / name
        if path.exists() and path.read_bytes() == content:
            continue
        differ += 1
        if check:
            print(f"{name} is not what the generator writes: run python sample_data/generate.py", file=sys.stderr)
        else:
            path.write_bytes(content)
            print(f"wrote {name}: {len(content):,} bytes")
    return int(check and differ > 0)


if __name__ == "__main__":
    sys.exit(main())
