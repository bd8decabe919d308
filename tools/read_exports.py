"""Read every export that has a known truth, and say which were read right: `python tools/read_exports.py [--write]`.

`tests/exports/judging.py` says what right is. A word as argument reads only exports whose name holds it; `--write`
puts the table into docs/data.md.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from exports import exam, fresh, judge_one, judge_three, judge_two, later, rounds, vendors  # noqa: E402
from exports.exam import EXAM, LAST  # noqa: E402
from exports.fresh import FRESH, KEPT  # noqa: E402
from exports.judging import SHARED, SHARED_TRUTHS, Verdict, judge  # noqa: E402
from exports.systems import EXPORTS  # noqa: E402
from exports.unseen import UNSEEN, Truth  # noqa: E402

FIRST_RUN = {**exam.FIRST_RUN, **fresh.FIRST_RUN, **later.FIRST_RUN, **vendors.FIRST_RUN, **rounds.FIRST_RUN}
JUDGES = {
    "a first judge, who had not seen the reading": judge_one,
    "a second judge, unusual files": judge_two,
    "a third judge, files that people bring most often, read after the work on the others": judge_three,
}
FIRST_READ = {"fresh": FRESH, "kept": KEPT, "later": later.LATER, "exam": EXAM, "last": LAST}
FIRST_READ |= {"vendors, read before the last work": vendors.FIRST, "vendors, read after it": vendors.HELD}
FIRST_READ |= {"rounds, read before readings were weighed whole": rounds.BEFORE, "rounds, read after it": rounds.AFTER}
FIRST_READ |= {"rounds, written and read last": rounds.LAST}
FIRST_READ |= {title: judge.INDEPENDENT for title, judge in JUDGES.items()}
"""Sets whose first run was written down: each was read once before the reading was improved on it."""
START, END = "<!-- exports -->", "<!-- /exports -->"


def run(folder: Path, only: str = "") -> dict[str, dict[str, Verdict]]:
    """Verdicts of all exports, by set and name."""
    sets: dict[str, dict[str, Verdict]] = {name: {} for name in ("shared", *FIRST_READ, "unseen", "systems")}
    if SHARED.is_dir():
        sets["shared"] = {name: judge(truth) for name, truth in SHARED_TRUTHS.items() if only in name}
    for title, exports in (*FIRST_READ.items(), ("unseen", UNSEEN)):
        for name, make in exports.items():
            if only in name:
                sets[title][name] = judge(make(folder))
    for name, build in EXPORTS.items():
        if only not in name:
            continue
        expected = build(folder)
        good = sum(person.hired for person in expected.people)
        truth = Truth((expected.path,), len(expected.people), good, "", "", "", "", (0, 0), (0, 0))
        sets["systems"][name] = judge(truth)
    return sets


def table(sets: dict[str, dict[str, Verdict]]) -> str:
    """The verdicts as Markdown."""
    lines = []
    for title, verdicts in sets.items():
        summary = _summary([verdict.outcome for verdict in verdicts.values()])
        if title in FIRST_READ:
            known = JUDGES[title].FIRST_RUN if title in JUDGES else FIRST_RUN
            first = {name: known.get(name, "right") for name in verdicts}
            lines += ["", f"**{title}** ({len(verdicts)}): first run {_summary(first.values())}; now {summary}."]
            lines += ["", "| export | first run | now |", "| --- | --- | --- |"]
            lines += [f"| {name} | {first[name]} | {verdict.outcome} |" for name, verdict in verdicts.items()]
            continue
        lines += ["", f"**{title}** ({len(verdicts)}): {summary}.", "", "| export | read |", "| --- | --- |"]
        lines += [f"| {name} | {verdict.outcome} |" for name, verdict in verdicts.items()]
    return "\n".join(lines) + "\n"


def _summary(outcomes: Iterable[str]) -> str:
    counts = Counter(outcomes)
    return ", ".join(f"{n} {outcome}" for outcome, n in counts.most_common())


def main(arguments: list[str]) -> int:
    only = next((word for word in arguments if not word.startswith("-")), "")
    with tempfile.TemporaryDirectory() as folder:
        sets = run(Path(folder), only)
    for title, verdicts in sets.items():
        for name, verdict in verdicts.items():
            if verdict.outcome != "right" or only:
                print(f"{title} {name}: {verdict.outcome}: {verdict.detail}")
    outcomes = [verdict.outcome for verdicts in sets.values() for verdict in verdicts.values()]
    print({outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))})
    if "--write" in arguments:
        page = ROOT / "docs" / "data.md"
        text = page.read_text(encoding="utf-8")
        before, _, rest = text.partition(START)
        _, _, after = rest.partition(END)
        page.write_text(f"{before}{START}\n{table(sets)}{END}{after}", encoding="utf-8")
    return int(any(outcome.endswith("misread") for outcome in outcomes))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
