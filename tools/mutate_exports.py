"""Change exports that are read right by one thing, as other files are, and say which are still read right.

    python tools/mutate_exports.py [WORD] [--every N] [--start K] [--list]

Every change keeps the truth: a renamed header, an unknown word, a column of something else, a footer, a second file.
A changed export is `right` where the same people are counted, selected and compared, and the same numbers of people
reached each step as in the export itself; `partly` where only the steps differ. Where auditkit asks, its first
suggestion is followed once. WORD keeps changes and exports whose name holds it; `--every 3` takes each third pair and
`--start 1` other ones; `--list` prints each that is not right.
"""

from __future__ import annotations

import csv
import io
import pickle
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from exports import exam, fresh, later, rounds, vendors  # noqa: E402
from exports.judging import matches, other_steps  # noqa: E402
from exports.unseen import UNSEEN  # noqa: E402

from auditkit import plugin_manager  # noqa: E402
from auditkit.data.firm_history import History  # noqa: E402
from auditkit.data.load import load  # noqa: E402
from auditkit.data.reading import AmbiguousReading  # noqa: E402
from auditkit.data.vocabulary import extended, speaking  # noqa: E402
from auditkit.errors import InputError  # noqa: E402

EXPORTS = {
    **fresh.FRESH, **fresh.KEPT, **later.LATER, **exam.EXAM, **exam.LAST, **vendors.FIRST, **vendors.HELD,
    **rounds.BEFORE, **rounds.AFTER, **rounds.LAST, **UNSEEN,
}  # fmt: skip
GOOD_WORDS = ("Greenlit", "Code 7", "Vinto", "Seat confirmed", "OK-F")
BAD_WORDS = ("Parked", "Code 3", "Sent note B", "Below line", "NSX")
STAGE_WORDS = ("Coffee with Ada", "Fireside chat", "Gate K", "Stufe 3", "XR-2")
CODES = ("udf_14", "Field 7", "rcf3320", "c_09", "Attribut B")


Signature = tuple[int, int, set[tuple[tuple[int, int], ...]], list[int]]
"""People, selected, sizes and selections of the groups of each attribute, and people at each step."""


@dataclass
class Sheet:
    """An export as header and rows, and what its reading says of the columns."""

    name: str
    header: list[str]
    rows: list[list[str]]
    separator: str
    roles: dict[str, list[int]]
    seed: random.Random

    @property
    def counts(self) -> bool:
        """Whether rows stand for several people, so that nothing of one person fits beside them."""
        return "count" in self.roles or "several people" in self.roles

    def column(self, role: str) -> int | None:
        return next(iter(self.roles.get(role, ())), None)

    def words(self, column: int) -> list[tuple[str, int]]:
        return Counter(row[column] for row in self.rows).most_common()


Files = list[tuple[str, list[str], list[list[str]]]]
Change = Callable[[Sheet], Files | None]
CHANGES: dict[str, Change] = {}


def change(function: Change) -> Change:
    CHANGES[function.__name__] = function
    return function


def _one(header: list[str], rows: list[list[str]]) -> Files:
    return [("data", header, rows)]


def _renamed(sheet: Sheet, columns: list[int], names: tuple[str, ...]) -> Files | None:
    if not columns:
        return None
    header = list(sheet.header)
    for place, column in enumerate(columns):
        header[column] = names[place % len(names)] + (f" {place}" if place >= len(names) else "")
    return _one(header, sheet.rows)


def _added(sheet: Sheet, name: str, cell: Callable[[int, list[str]], str]) -> Files:
    place = sheet.seed.randrange(1, len(sheet.header) + 1)
    rows = [[*row[:place], cell(i, row), *row[place:]] for i, row in enumerate(sheet.rows)]
    return _one([*sheet.header[:place], name, *sheet.header[place:]], rows)


def _replaced(sheet: Sheet, column: int, old: str, new: str) -> Files:
    return _one(sheet.header, [[*r[:column], new, *r[column + 1 :]] if r[column] == old else r for r in sheet.rows])


@change
def outcome_header_synonym(sheet: Sheet) -> Files | None:
    names = ("Verdict", "Final call", "Conclusion", "Where it ended", "Answer to candidate")
    return _renamed(sheet, sheet.roles.get("selected", [])[:1], (sheet.seed.choice(names),))


@change
def outcome_header_code(sheet: Sheet) -> Files | None:
    return _renamed(sheet, sheet.roles.get("selected", [])[:1], (sheet.seed.choice(CODES),))


@change
def step_headers_code(sheet: Sheet) -> Files | None:
    return _renamed(sheet, sheet.roles.get("stages", []) or sheet.roles.get("inspected", []), CODES)


@change
def stage_header_code(sheet: Sheet) -> Files | None:
    return _renamed(sheet, sheet.roles.get("stage", []), CODES)


@change
def id_header_code(sheet: Sheet) -> Files | None:
    return _renamed(sheet, sheet.roles.get("candidate", [])[:1], (sheet.seed.choice(CODES),))


@change
def group_header_code(sheet: Sheet) -> Files | None:
    if not sheet.roles.get("group") or all(word.isdigit() for word, _ in sheet.words(sheet.roles["group"][0])):
        return None  # codes under a code: nothing says what they are
    return _renamed(sheet, sheet.roles.get("group", [])[:1], (sheet.seed.choice(CODES),))


@change
def headers_prefixed(sheet: Sheet) -> Files | None:
    start = sheet.seed.choice(("Candidate - ", "app_", "Report: ", "tbl."))
    return _one([start + name for name in sheet.header], sheet.rows)


@change
def headers_upper_snake(sheet: Sheet) -> Files | None:
    header = [re.sub(r"\W+", "_", name).strip("_").upper() for name in sheet.header]
    return _one(header, sheet.rows) if len(set(header)) == len(header) else None


def _outcome_words(sheet: Sheet, good: bool) -> tuple[int, list[str]] | None:
    column = sheet.column("selected")
    if column is None or sheet.counts:
        return None
    goods = sheet.roles["good words"]
    known = [word for word, _ in sheet.words(column) if word and (word in goods) == good]  # type: ignore[operator]
    return (column, known) if known and len(sheet.words(column)) <= 40 else None


@change
def good_word_unknown(sheet: Sheet) -> Files | None:
    found = _outcome_words(sheet, True)
    return _replaced(sheet, found[0], found[1][0], sheet.seed.choice(GOOD_WORDS)) if found else None


@change
def bad_word_unknown(sheet: Sheet) -> Files | None:
    found = _outcome_words(sheet, False)
    return _replaced(sheet, found[0], found[1][0], sheet.seed.choice(BAD_WORDS)) if found else None


@change
def rare_bad_word_unknown(sheet: Sheet) -> Files | None:
    found = _outcome_words(sheet, False)
    return (
        _replaced(sheet, found[0], found[1][-1], sheet.seed.choice(BAD_WORDS)) if found and len(found[1]) > 1 else None
    )


@change
def bad_words_merged(sheet: Sheet) -> Files | None:
    """Two words whose people count alike become one."""
    found = _outcome_words(sheet, False)
    if not found or len(found[1]) < 2 or sheet.roles.get("stages") == [found[0]] or "stage" in sheet.roles:
        return None
    sure = [word for word in found[1] if word in sheet.roles["bad words"]]  # type: ignore[operator]
    return _replaced(sheet, found[0], sure[1], sure[0]) if len(sure) > 1 else None


def _stage_words(sheet: Sheet) -> tuple[int, list[str]] | None:
    column = sheet.column("stage")
    if column is None and len(sheet.roles.get("stages", ())) == 1:
        column = sheet.roles["stages"][0]
    if column is None:
        return None
    ends = (*sheet.roles.get("good words", ()), *sheet.roles.get("bad words", ()))
    between = [word for word, _ in sheet.words(column) if word and word not in ends]
    return (column, between) if 2 <= len(between) <= 20 else None


@change
def stage_word_unknown(sheet: Sheet) -> Files | None:
    found = _stage_words(sheet)
    if not found:
        return None
    return _replaced(sheet, found[0], found[1][len(found[1]) // 2], sheet.seed.choice(STAGE_WORDS))


@change
def columns_shuffled(sheet: Sheet) -> Files:
    order = list(range(len(sheet.header)))
    sheet.seed.shuffle(order)
    return _one([sheet.header[i] for i in order], [[row[i] for i in order] for row in sheet.rows])


@change
def rows_shuffled(sheet: Sheet) -> Files | None:
    if ("stage" in sheet.roles and "date" not in sheet.roles) or sheet.counts:
        return None  # the order says what came first, or whose cell it is
    return _one(sheet.header, sheet.seed.sample(sheet.rows, len(sheet.rows)))


@change
def yes_no_another_way(sheet: Sheet) -> Files | None:
    pairs = {"yes": ("Y", "N"), "y": ("1", "0"), "true": ("Yes", "No"), "1": ("TRUE", "FALSE"), "x": ("1", "")}
    rows = [list(row) for row in sheet.rows]
    changed = False
    for column in {c for role in ("selected", "stages", "inspected") for c in sheet.roles.get(role, ())}:
        held = {row[column].lower() for row in rows}
        new = next((pairs[yes] for yes in pairs if yes in held), None)
        if new is None or len(held) != 2:
            continue
        changed = True
        for row in rows:
            row[column] = new[0] if row[column].lower() in pairs else new[1]
    return _one(sheet.header, rows) if changed else None


@change
def footer(sheet: Sheet) -> Files:
    width = len(sheet.header) - 1
    lines = [["", *[""] * width], [f"Total records: {len(sheet.rows)}", *[""] * width]]
    return _one(sheet.header, [*sheet.rows, *lines, ["Confidential - do not distribute", *[""] * width]])


@change
def title_above(sheet: Sheet) -> Files:
    width = len(sheet.header) - 1
    return _one(
        ["Applicant report", *[""] * width], [["Run by HRIS, 03/02/2026", *[""] * width], sheet.header, *sheet.rows]
    )


@change
def repeated_rows(sheet: Sheet) -> Files | None:
    if "candidate" not in sheet.roles or sheet.counts:
        return None
    chosen = sheet.seed.sample(range(len(sheet.rows)), max(2, len(sheet.rows) // 100))
    rows = [copy for i, row in enumerate(sheet.rows) for copy in [row] * (1 + (i in chosen))]
    return _one(sheet.header, rows)


@change
def two_files_below_each_other(sheet: Sheet) -> Files | None:
    if "stage" in sheet.roles or sheet.counts:
        return None
    half = len(sheet.rows) // 2
    return [("first", sheet.header, sheet.rows[:half]), ("second", sheet.header, sheet.rows[half:])]


@change
def groups_in_another_file(sheet: Sheet) -> Files | None:
    key, groups = sheet.column("candidate"), sheet.roles.get("group", [])
    if key is None or not groups or sheet.counts:
        return None
    own = {row[key]: [row[key], *[row[i] for i in groups]] for row in sheet.rows}
    if "" in own or any(own[row[key]][1:] != [row[i] for i in groups] for row in sheet.rows):
        return None
    people = sheet.seed.sample(list(own.values()), len(own))
    rest = [i for i in range(len(sheet.header)) if i not in groups]
    first = ("data", [sheet.header[i] for i in rest], [[row[i] for i in rest] for row in sheet.rows])
    return [first, ("eeo", [sheet.header[key], *[sheet.header[i] for i in groups]], people)]


@change
def without_unused_columns(sheet: Sheet) -> Files | None:
    kept = sorted({i for role, places in sheet.roles.items() if not role.endswith("words") for i in places})
    kept = [i for i in kept if i not in sheet.roles.get("segment", ()) and i not in sheet.roles.get("prior", ())]
    if len(kept) == len(sheet.header) or len(kept) < 2:
        return None
    return _one([sheet.header[i] for i in kept], [[row[i] for i in kept] for row in sheet.rows])


def _flag(name: str, share: float) -> None:
    def added(sheet: Sheet) -> Files | None:
        if sheet.counts:
            return None
        key = sheet.column("candidate")
        told: dict[str, str] = {}

        def cell(i: int, row: list[str]) -> str:
            who = str(i) if key is None else row[key]
            return told.setdefault(who, "Yes" if sheet.seed.random() < share else "No")

        return _added(sheet, name, cell)

    CHANGES[f"flag: {name}"] = added


for flag, part in (("Auto-Screened", 0.7), ("Referred", 0.25), ("Rehire eligible", 0.9), ("Profile Complete", 0.97)):
    _flag(flag, part)


def _flag_of_the_good(name: str, others: float) -> None:
    """A flag that everybody selected has, and some others: it is about them, and no step."""

    def added(sheet: Sheet) -> Files | None:
        column = sheet.column("selected")
        if column is None or "stage" in sheet.roles or sheet.counts:
            return None
        goods = sheet.roles["good words"]
        return _added(sheet, name, lambda i, row: "Y" if row[column] in goods or sheet.seed.random() < others else "N")  # type: ignore[operator]

    CHANGES[f"flag of the selected: {name}"] = added


_flag_of_the_good("Work authorization", 0.93)
_flag_of_the_good("Data consent", 0.95)


@change
def days_in_stage(sheet: Sheet) -> Files | None:
    return None if sheet.counts else _added(sheet, "Days in stage", lambda i, r: str(sheet.seed.randrange(1, 60)))


@change
def recruiter(sheet: Sheet) -> Files | None:
    names = ("Dana Whitfield", "Omar Reyes", "Priya Nair", "Tom Becker")
    return None if sheet.counts else _added(sheet, "Recruiter", lambda i, r: sheet.seed.choice(names))


@change
def another_score(sheet: Sheet) -> Files | None:
    return None if sheet.counts else _added(sheet, "Typing speed", lambda i, r: str(sheet.seed.randrange(20, 95)))


@change
def another_status(sheet: Sheet) -> Files | None:
    words = ("Sent", "Opened", "Bounced", "Not sent")
    return None if sheet.counts else _added(sheet, "Email status", lambda i, r: sheet.seed.choice(words))


@change
def another_result(sheet: Sheet) -> Files | None:
    words = ("Clear", "Review", "Pending", "Clear", "Clear")
    return None if sheet.counts else _added(sheet, "Duplicate check result", lambda i, r: sheet.seed.choice(words))


@change
def job_status(sheet: Sheet) -> Files | None:
    key = sheet.column("search")
    if key is None or sheet.counts:
        return None
    told: dict[str, str] = {}
    words = ("Filled", "Open", "Closed", "Cancelled")
    return _added(sheet, "Requisition Status", lambda i, row: told.setdefault(row[key], sheet.seed.choice(words)))


@change
def last_update(sheet: Sheet) -> Files | None:
    if sheet.counts or "date" not in sheet.roles:
        return None
    column = sheet.roles["date"][0]
    return _added(sheet, "Last Modified", lambda i, row: row[column])


# ------------------------------------------------------------------ reading and judging


def _read(paths: list[Path], mapping: dict[str, str | list[str]] | None = None) -> History:
    readers = list(plugin_manager.shipped().readers.values())
    return load(paths[0] if len(paths) == 1 else list(paths), mapping, readers=readers)


def _signature(history: History) -> Signature:
    table, good = history.table, history.table[history.decision]
    groups = {
        tuple(sorted((len(part), int(part.sum())) for _, part in good.groupby(table[f"group:{name}"])))
        for name in history.attributes
    }
    steps = [int(table[f"step:{step}"].sum()) for step in history.steps]
    return len(table), int(good.sum()), groups, [*dict.fromkeys(n for n in steps if n < len(table))]


def _judged(history: History, truth: Signature) -> tuple[str, str]:
    if history.reading is not None and history.reading.refusal:
        return "refused", history.reading.refusal
    found = _signature(history)
    if found[:2] != truth[:2] or not truth[2] <= found[2]:
        return "misread", f"{found[:2]}, not {truth[:2]}" + "; groups differ" * (not truth[2] <= found[2])
    return ("right", "") if found[3] == truth[3] else ("partly", f"steps {history.steps} {found[3]}, not {truth[3]}")


def _verdict(paths: list[Path], truth: Signature) -> tuple[str, str]:
    try:
        history = _read(paths)
    except AmbiguousReading as error:
        said = f"{error.question.text} [{error.question.answers[0].flags}]"
        try:
            verdict, why = _judged(_read(paths, dict(error.question.answers[0].mapping)), truth)
        except AmbiguousReading as second:
            return "asked, then asked", f"{said} | {second.question.text}"
        except InputError as second:
            return "asked, then refused", f"{said} | {second}"
        return f"asked, then {verdict}", f"{said} {why}"
    except InputError as error:
        return "refused", str(error)
    verdict, why = _judged(history, truth)
    said = "; ".join(history.reading.assumptions) if history.reading is not None else ""
    return verdict, f"{why} (said: {said})"


def sheets(folder: Path) -> Iterator[tuple[Sheet, Signature]]:
    """Every export of one delimited text that is read right without a flag."""
    for name, make in EXPORTS.items():
        truth = make(folder)
        if len(truth.files) > 1 or truth.refuse or truth.files[0].suffix not in (".csv", ".tsv", ".txt"):
            continue
        try:
            history = _read(list(truth.files))
        except InputError:
            continue
        source = history.source
        right = not matches(history, truth) and not other_steps(history, truth)
        if (
            not right
            or source.header_row != 1
            or source.separator is None
            or (history.reading and history.reading.refusal)
        ):
            continue
        text = truth.files[0].read_bytes().decode(source.encoding or "utf-8-sig")
        header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=source.separator)
        rows = [row for row in rows if len(row) == len(header)]
        places = {column: i for i, column in enumerate(header)}
        roles = {
            choice.role: [places[column] for column in choice.columns if column in places]
            for choice in history.mapping.choices
        }
        roles = {role: found for role, found in roles.items() if found}
        if (column := next(iter(roles.get("selected", ())), None)) is not None and "status" in history.table:
            ends: dict[str, set[str]] = {}
            for row, status in zip(history.table["row"], history.table["status"], strict=True):
                if 0 <= row - 2 < len(rows):
                    ends.setdefault(rows[row - 2][column], set()).add(status)
            roles["good words"] = [word for word, said in ends.items() if said <= {"selected", "declined"}]  # type: ignore[misc]
            roles["bad words"] = [word for word, said in ends.items() if said == {"rejected"}]  # type: ignore[misc]
        if len(history.table) > len(rows):
            roles["several people"] = [0]
        yield Sheet(name, header, rows, source.separator, roles, random.Random(name)), _signature(history)


def _kept(folder: Path) -> list[tuple[Sheet, Signature]]:
    """The sheets of the last run: what is right of them does not change."""
    place = ROOT / "build" / "mutations.pickle"
    if not place.is_file():
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(pickle.dumps(list(sheets(folder))))
    return pickle.loads(place.read_bytes())  # type: ignore[no-any-return]


def _written(files: Files, folder: Path, separator: str) -> list[Path]:
    paths = []
    for part, header, rows in files:
        paths.append(folder / f"{part}.csv")
        with paths[-1].open("w", newline="", encoding="utf-8") as out:
            csv.writer(out, delimiter=separator).writerows([header, *rows])
    return paths


def main(arguments: list[str]) -> int:
    every = int(arguments[arguments.index("--every") + 1]) if "--every" in arguments else 1
    start = int(arguments[arguments.index("--start") + 1]) if "--start" in arguments else 0
    only = next((word for word in arguments if not word.startswith("-") and not word.isdigit()), "")
    verdicts: dict[str, Counter[str]] = {}
    number = 0
    speak = speaking(extended(*plugin_manager.shipped().word_lists.values()))
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as changed, speak:
        for sheet, truth in _kept(Path(made)):
            for name, apply in CHANGES.items():
                if only and only not in name and only not in sheet.name:
                    continue
                sheet.seed = random.Random(f"{sheet.name} {name}")
                files = apply(sheet)
                number += files is not None
                if files is None or (number + start) % every:
                    continue
                paths = _written(files, Path(changed), sheet.separator)
                verdict, why = _verdict(paths, truth)
                verdicts.setdefault(name, Counter())[verdict] += 1
                if verdict != "right" and "--list" in arguments:
                    print(f"{verdict} | {name} | {sheet.name} | {why[:400]}", flush=True)
    for name, found in verdicts.items():
        print(f"{name}: " + ", ".join(f"{n} {verdict}" for verdict, n in found.most_common()))
    print(dict(sum(verdicts.values(), Counter()).most_common()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
