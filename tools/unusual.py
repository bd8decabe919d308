"""Unusual problems against an independent linear program: `python tools/unusual.py [--write] [--each 40]`.

For each kind of `tests/support/unusual.py`, problems are drawn until so many were compared. A disagreement ends it with
the problem's number. `--write` puts the table into docs/method.md.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.unusual import KINDS, Agreement, compared  # noqa: E402

PAGE = ROOT / "docs" / "method.md"
START, END = "<!-- made by `make unusual` -->\n", "<!-- end -->\n"
HEAD = "| kind | compared | of these infeasible | largest difference | skipped |\n| --- | --- | --- | --- | --- |\n"


def draw(place: int, each: int) -> list[Agreement]:
    """Problems of one kind, until so many were compared."""
    found: list[Agreement] = []
    while sum(one.skipped is None for one in found) < each:
        found.append(compared(place + len(KINDS) * len(found)))
    return found


def line(name: str, found: list[Agreement]) -> str:
    done = [one for one in found if one.skipped is None]
    reasons = Counter(one.skipped for one in found if one.skipped is not None)
    skipped = ", ".join(f"{n}: {reason}" for reason, n in reasons.items()) or "0"
    infeasible = sum(one.infeasible for one in done)
    return f"| {name} | {len(done)} | {infeasible} | {max(one.apart for one in done):.0e} | {skipped} |\n"


def main() -> None:
    arguments = sys.argv[1:]
    each = int(arguments[arguments.index("--each") + 1]) if "--each" in arguments else 40
    every: list[Agreement] = []
    lines = ""
    for place, kind in enumerate(KINDS):
        found = draw(place, each)
        every += found
        lines += (own := line(kind, found))
        print(own, end="", flush=True)
    lines += (own := line("all", every))
    print(own, end="")
    if "--write" in arguments:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
        PAGE.write_text(f"{before}{START}{HEAD}{lines}{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
