"""Attack auditkit within a time limit and write down what was tried and what held.

    python tools/campaign.py [--seconds 20] [--seed 1] [--parts FOLDER] [--write docs/reliability.md] [NAME...]

Fuzzing mutates valid files, instances, solutions, SPECs and settings; an attack holds if the program answers or refuses
in words (exit codes 0, 1, 2 and 4), and fails on exit code 3 or any other exception. Exits with 1 if anything failed.
The short run in the tests is the same code with a smaller limit. With --parts, finished attacks are kept in a folder
and not tried again: a long campaign can be run in pieces, and the page says which commit was attacked.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import itertools
import json
import math
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from auditkit.cli import invoke  # noqa: E402
from auditkit.scheduled.artefacts import intact  # noqa: E402
from support import scheduled_postgres  # noqa: E402
from support.audit_helpers import rows, save  # noqa: E402

AUDIT = 'source = "people.csv"\n[mapping]\nscore = "none"\n[report]\nformats = ["json"]\nreplicates = 0\n'
ONE_PAGE = AUDIT + 'parts = "summary"\n'
"""A run always writes a PDF, and each page of it takes a tenth of a second."""
FITTED = 'source = "people.csv"\n[fit]\npoints = 6\n[report]\nparts = "summary"\nreplicates = 0\nwhat_if = false\n'
FITTED += "alternatives = false\n"
PEOPLE = "Candidate ID,Requisition,Gender,Hired\n" + "".join(
    f"c{i},r{i % 4},{'FM'[i % 2]},{'yes' if i % 3 == 0 else 'no'}\n" for i in range(80)
)
MENDED = (
    (
        "verify accepted changed headlines",
        "it makes the report once more and compares every number",
        "test_verify_report",
    ),
    ("passwords of database URLs in messages", "one function shows URLs and scrubs texts", "test_scheduled_history"),
    ("a clock that jumped removed records", "jumps remove nothing and make nothing older", "test_scheduled_run"),
    ("a killed report left some of its files", "the JSON is placed last, and is missing then", "test_written_together"),
    ("a planted journal had verify overwrite the data", "there is no journal any more", "test_written_together"),
    ("infinity passed as any number; JSON named .html", "refused", "test_verify_report"),
    ("pages of themes, forged and updated PDFs at exit code 0", "exit code 4 or 1", "test_verify_report"),
    ("10,000 replicates in a report had verify run for hours", "needs --slow", "test_verify_report"),
    ("hidden values of segments recovered from sums", "joined before anything is counted", "test_privacy"),
    ("outcomes in small requisitions from five statistics", "joined before anything is counted", "test_privacy"),
    ("names of people in columns of other things", "not repeated", "test_personal_cells"),
    ("the score of a person from two reports", "no more digits than are known", "test_published_digits"),
    ("a month that gained or lost a person later", "the run is refused, the earlier one named", "test_finished_months"),
    ("evidence over time of a requisition with one woman", "counted in sets, or later", "test_privacy"),
    ("verify failed on forged policies", "it evaluates only what it found itself", "test_verify_report"),
    ("an e-mail address in a message", "cells that may be personal are not repeated", "test_personal_cells"),
    ("names that are not UTF-8, no working folder, no cache: exit code 3", "refused, or done", "test_odd_machines"),
    ("Parquet of 21 KB took 3.6 GB; formats of empty rows, minutes", "limits, and a look first", "test_small_files"),
    ("SQL without an end", "ten minutes and 50 million cells", "test_data_sql"),
    ("verify did not look at the pages", "made again from the document and compared", "test_verify_report"),
    ("small files that exhaust the machine", "limits before memory is spent", "test_small_files"),
    ("a key of 50,000 parts in audit.toml took 10 GB", "limits before it is parsed", "test_small_files"),
    ("many reports inside one PDF filled the memory", "refused at the second", "test_verify_report"),
    ("hidden sheets read in place of visible ones", "read only by name, and said", "test_small_files"),
    ("control characters and direction marks in names", "escaped wherever text leaves", "test_printed_text"),
    ("the order of rows changed the report", "ties are broken by content", "test_printed_text"),
    ("templates could reach the machine", "they run in a sandbox, from beside the settings", "test_untrusted_code"),
    ("names in units and CI texts", "quoted; the installed command is started", "test_untrusted_code"),
    ("numbers that overflow, true as a number", "refused in words", "test_extreme_numbers"),
    ("a wrong optimum would have been reported", "every solution is checked first", "test_extreme_numbers"),
    ("sparse files: gigabytes of holes were read", "refused by what they take up on the disk", "test_small_files"),
    ("a URL in the wrong place showed its password", "no problem quotes one", "test_scheduled_history"),
    ("a forged report had verify send the data to its engine", "verify computes here", "test_verify_report"),
    ("forged legal texts; settings that suit a result", "compared; choices are listed", "test_verify_report"),
    ("documents that programs read differently: keys twice, text as a number", "refused", "test_verify_report"),
    ("another document beside the report inside a PDF", "refused", "test_verify_report"),
    ("links in a theme led to any file", "they lead nowhere", "test_untrusted_code"),
    ("a chain that hardly ever ends was exit code 3", "refused in words", "test_extreme_numbers"),
)


@dataclass
class Result:
    """What one attack tried, and what did not hold."""

    what: str
    tried: int = 0
    failed: list[str] = field(default_factory=list)
    note: str = ""
    measured: list[tuple[str, str, float, float, str]] = field(default_factory=list)
    """What was refused: name, size, seconds, megabytes, and the reason."""
    commit: str = ""


@dataclass(frozen=True)
class Limits:
    seconds: float
    rng: random.Random
    audits: int = 50
    repeats: int = 200
    odd: int = 10_000
    """Odd exports at most."""
    kills: int = 100


def answered(*arguments: str) -> str | None:
    """Run a command in this process; what is wrong if it neither answers nor refuses in words."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            code = invoke(list(arguments))
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return None if code in (0, 1, 2, 4) else f"exit code {code}: {err.getvalue().strip()[:300]}"


def invoke_quietly(*arguments: str) -> int:
    """The exit code of a command in this process."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return invoke(list(arguments))


def until(seconds: float) -> Iterator[int]:
    """Numbers while this process has used less than so many seconds of processor time, whatever else is running."""
    end, number = time.process_time() + seconds, 0
    while number == 0 or time.process_time() < end:
        yield number
        number += 1


def mutated(rng: random.Random, data: bytes, snippets: tuple[bytes, ...]) -> bytes:
    """The bytes with some taken out, doubled, changed, or strange ones put in."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 9))):
        at = rng.randrange(len(made) + 1)
        move = rng.randrange(5)
        if move == 0:
            del made[at : at + rng.choice((1, 3, 40))]
        elif move == 1:
            made[at:at] = rng.choice(snippets)
        elif move == 2 and made:
            made[min(at, len(made) - 1)] = rng.randrange(256)
        elif move == 3:
            made[at:at] = made[at : at + rng.choice((1, 20, 300))]
        else:
            made[at : at + rng.choice((1, 5))] = rng.choice(snippets)
    return bytes(made)


ODD = (
    b"\0",
    b'"',
    b"\r",
    b"\xff\xfe",
    b"1e400",
    b"-1",
    b"\xe2\x80\xae",
    b",,,,",
    b"=cmd()",
    b"NaN",
    b"9" * 400,
    b"\x1b[2J",
)
ODD_JSON = (
    b"null",
    b"true",
    b"-1",
    b"1e400",
    b"NaN",
    b"[]",
    b"{}",
    b'""',
    b"9" * 50,
    b"0.0",
    b"1e-320",
    b'"X"',
    b"[[0,1]]",
)


def files(folder: Path, limits: Limits) -> Result:
    import pandas as pd

    result = Result("mutated exports (CSV, UTF-16, .xlsx, Parquet) to `check`")
    table = pd.read_csv(io.StringIO(PEOPLE))
    table.to_excel(folder / "x.xlsx", index=False)
    table.to_parquet(folder / "x.parquet")
    seeds = {
        "csv": PEOPLE.encode(),
        "tsv": PEOPLE.replace(",", "\t").encode("utf-16"),
        "xlsx": (folder / "x.xlsx").read_bytes(),
        "parquet": (folder / "x.parquet").read_bytes(),
    }
    for number in until(limits.seconds):
        kind = list(seeds)[number % 4]
        content = mutated(limits.rng, seeds[kind], ODD)
        path = folder / f"fuzz.{kind}"
        path.write_bytes(content)
        _judge(result, answered("check", str(path)), content)
    return result


def instances(folder: Path, limits: Limits) -> Result:
    result = Result("mutated instances to `solve`")
    seeds = [(ROOT / "sample_data" / name).read_bytes() for name in ("three-boxes.json", "stages.json")]
    for number in until(limits.seconds):
        content = mutated(limits.rng, seeds[number % 2], ODD_JSON)
        (folder / "instance.json").write_bytes(content)
        _judge(result, answered("solve", str(folder / "instance.json")), content)
    return result


def solutions(folder: Path, limits: Limits) -> Result:
    result = Result("mutated solutions to `verify`")
    instance = ROOT / "sample_data" / "three-boxes.json"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        invoke(["solve", str(instance), "--json", "-c", "parity:basis=count"])
    for _ in until(limits.seconds):
        content = mutated(limits.rng, out.getvalue().encode(), ODD_JSON)
        (folder / "solution.json").write_bytes(content)
        _judge(result, answered("verify", str(folder / "solution.json"), str(instance)), content)
    return result


def reports(folder: Path, limits: Limits) -> Result:
    """Any value of a report's document replaced by one of another kind, or left out; made again only once."""
    from unittest import mock

    from auditkit import pipeline, plugin_manager
    from auditkit.config import check
    from auditkit.errors import InputError
    from auditkit.verification import verify_report as verifying

    result = Result("reports with a value of another kind, or without one, to `verify`")
    data, plugins = save(folder / "people.csv", rows(searches=6, each=7)), plugin_manager.load(())
    again = pipeline.audit(data, check({"fit": {"points": 6}, "report": {"replicates": 2}}), plugins)
    text = again.report.text()
    kinds: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for path in paths(json.loads(text)):
        kinds.setdefault(tuple(key for key in path if isinstance(key, str)), []).append(path)
    for _ in until(limits.seconds):
        document = owner = json.loads(text)
        *parents, key = limits.rng.choice(kinds[limits.rng.choice(list(kinds))])
        for parent in parents:
            owner = owner[parent]
        owner[key] = json.loads(limits.rng.choice(ODD_JSON).replace(b"1e400", b"1e300").replace(b"NaN", b"7"))
        if limits.rng.random() < 0.2:
            del owner[key]
        fault = None
        with mock.patch.object(verifying, "audit", lambda *_, **__: again):
            try:
                verifying.verify_report(document, data, plugins)
            except InputError:
                pass
            except Exception as error:
                fault = f"{type(error).__name__}: {error}"
        _judge(result, fault, f"{(*parents, key)}".encode())
    return result


def paths(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of a document, those inside others too."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*before, key)
        if isinstance(item, dict | list):
            yield from paths(item, (*before, key))


def specs(folder: Path, limits: Limits) -> Result:
    result = Result("mutated SPECs to `solve -c`")
    instance = str(ROOT / "sample_data" / "three-boxes.json")
    seeds = (b"parity", b"quota:group=X,share=0.4", b"budget:limit=3,expense=1", b"holder-mean:q=0.5,minimum=0.1")
    for number in until(limits.seconds):
        spec = mutated(limits.rng, seeds[number % 4], (b":", b"=", b",", b"1e400", b"nan", b"[", b"{", b"-1", b"on=x"))
        _judge(result, answered("solve", instance, "-c", spec.decode("latin-1")), spec)
    return result


def settings(folder: Path, limits: Limits) -> Result:
    result = Result("mutated audit.toml to `check`")
    seed = (AUDIT + '[thresholds]\n"impact_ratio.min" = 0.8\n[history]\nkeep = "4 years"\n').encode()
    (folder / "people.csv").write_text(PEOPLE)
    for _ in until(limits.seconds):
        content = mutated(
            limits.rng, seed, (b"[", b"]", b"true", b"1e400", b'"', b"\n[[alerts]]\n", b"9" * 5000, b"= {}")
        )
        (folder / "audit.toml").write_bytes(content)
        _judge(result, answered("check", str(folder / "people.csv"), "--config", str(folder / "audit.toml")), content)
    return result


def _judge(result: Result, fault: str | None, content: bytes) -> None:
    result.tried += 1
    if fault is not None:
        result.failed.append(f"{fault} <- {content[:2000]!r}")


def killed_reports(folder: Path, limits: Limits) -> Result:
    from support.killed_writing import NEW, OLD, contents, killed_at, start

    result = Result("SIGKILL at every system call while the files of a report are written, or taken back on an error")
    parts = 0
    for before, failing in itertools.product(({}, OLD), ("", "a.pdf")):
        point = 1
        while killed_at(point, place := start(Path(tempfile.mkdtemp(dir=folder)) / "x", before), failing):
            left = contents(place)
            result.tried += 1
            if left not in (before, NEW):
                parts += 1
                if "a.json" in left:
                    result.failed.append(f"point {point}: {sorted(left)}")
            point += 1
    result.note = f"{parts} left pages without their JSON, none left pages beside the JSON of another report"
    return result


def killed_runs(folder: Path, limits: Limits) -> Result:
    stride = 19 if limits.seconds < 30 else 7
    result = Result("SIGKILL at system and database calls of a scheduled run (SQLite)")
    return _killed(result, folder / "sqlite", stride)


def killed_runs_in_postgresql(folder: Path, limits: Limits) -> Result:
    result = Result("the same with the history in PostgreSQL")
    if scheduled_postgres.binaries() is None:
        result.failed.append("there is no PostgreSQL server here")
        return result
    with scheduled_postgres.server() as url:
        return _killed(result, folder / "postgresql", 47 if limits.seconds < 30 else 13, url)


def _killed(result: Result, folder: Path, stride: int, *url: str) -> Result:
    script = ROOT / "tests" / "support" / "scheduled_killed.py"
    done = subprocess.run([sys.executable, str(script), str(folder), str(stride), *url], capture_output=True, text=True)
    if done.returncode:
        result.failed.append(done.stderr[-500:])
    else:
        result.tried = int(done.stdout.split()[0])
    return result


def ended_reports(folder: Path, limits: Limits) -> Result:
    """SIGINT and SIGKILL after a random time, a full disk, a folder without permission: for the whole command."""
    result = Result("`report` with PDF and `run`, ended by SIGINT or SIGKILL after a random time")
    for _ in range(math.ceil(limits.seconds)):
        place = Path(tempfile.mkdtemp(dir=folder))
        (place / "people.csv").write_text(PEOPLE)
        (place / "audit.toml").write_text(AUDIT)
        command = limits.rng.choice((["report", "people.csv", "--format", "html,pdf,json"], ["run", "audit.toml"]))
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "auditkit", *command, "-q"],
            cwd=place,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        time.sleep(limits.rng.uniform(0.2, 6))
        child.send_signal(limits.rng.choice((2, 9)))
        _, err = child.communicate()
        result.tried += 1
        sets = [sorted(p.name.partition(".audit.")[2] for p in place.glob("people.audit.*"))]
        audits = place / "audits"
        dated = [p for p in audits.iterdir() if not p.name.startswith(".") and p.is_dir()] if audits.is_dir() else []
        whole = "json" not in sets[0] or sets[0] == ["html", "json", "pdf", "summary.pdf"]
        whole = whole and all((p / "SHA256SUMS").is_file() for p in dated)
        if not whole or (b"Traceback" in err and b"auditkit has a defect" in err):
            result.failed.append(f"{command}: {sets}, {err[-200:]!r}")
        shutil.rmtree(place)
    return result


def killed_with_pdf(folder: Path, limits: Limits) -> Result:
    """SIGKILL at points spread evenly over a `report` with PDF that replaces an earlier one."""
    result = Result(f"SIGKILL at {limits.kills} points of `report` with PDF over an earlier report")
    (folder / "people.csv").write_text(PEOPLE)
    short = limits.seconds < 5  # one page: it takes a tenth of the time
    (folder / "audit.toml").write_text(ONE_PAGE if short else AUDIT)
    names = ["html", "json", "pdf", *([] if short else ["summary.pdf"])]
    command = [*("report", "people.csv", "--config", "audit.toml", "--format", "html,pdf,json", "-q")]

    def started() -> int:
        child = os.fork()
        if child == 0:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                os._exit(invoke(command))
        return child

    parts = 0
    with contextlib.chdir(folder):
        answered(*command)  # imports and compiles before the fork
        begin = time.monotonic()
        os.waitpid(started(), 0)
        whole = time.monotonic() - begin
        for point in range(limits.kills):
            os.environ["SOURCE_DATE_EPOCH"] = str(1_790_000_000 + point)  # another report each time
            child = started()
            time.sleep(whole * 1.05 * point / limits.kills)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, 9)
            os.waitpid(child, 0)
            result.tried += 1
            left = sorted(p.name.partition(".audit.")[2] for p in folder.glob("people.audit.*"))
            if "json" not in left:
                parts += 1
                answered(*command)
            elif left != names or invoke_quietly("verify", "people.audit.html", "people.csv", "-q"):
                result.failed.append(f"point {point}: {left}")
        del os.environ["SOURCE_DATE_EPOCH"]
    result.note = f"{parts} left pages without a JSON; none left pages beside the JSON of another report"
    return result


def odd_exports() -> Iterator[tuple[str, bytes]]:
    """Exports as people have them: ways of writing a table, each with each oddity of its cells."""
    header = ["Candidate ID", "Requisition", "Gender", "Interviewed", "Interview Score", "Hired", "Applied"]
    plain = [
        [
            *(f"c{i}", f"r{i % 5}", "FM"[i % 2], "yes" if i % 3 else "no", f"{i % 9}.5" if i % 3 else ""),
            "yes" if i % 4 == 1 and i % 3 else "no",
            f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}",
        ]
        for i in range(60)
    ]

    def cells(change: Callable[[int, list[str]], list[str]]) -> list[list[str]]:
        return [header, *(change(i, list(row)) for i, row in enumerate(plain))]

    def put(column: int, text: Callable[[int, str], str]) -> Callable[[int, list[str]], list[str]]:
        return lambda i, row: [text(i, cell) if j == column else cell for j, cell in enumerate(row)]

    oddities: dict[str, list[list[str]]] = {
        "plain": cells(lambda i, row: row),
        "one applicant a requisition": cells(put(1, lambda i, _: f"r{i}")),
        "one requisition": cells(put(1, lambda i, _: "r")),
        "nobody hired": cells(put(5, lambda i, _: "no")),
        "everybody hired": cells(put(5, lambda i, _: "yes")),
        "one group": cells(put(2, lambda i, _: "F")),
        "no group": cells(put(2, lambda i, _: "")),
        "a group each": cells(put(2, lambda i, _: f"g{i}")),
        "groups with odd names": cells(put(2, lambda i, cell: {"F": "=1+1", "M": "<b>\u202eM</b>"}[cell])),
        "the same score": cells(put(4, lambda i, cell: cell and "5")),
        "huge scores": cells(put(4, lambda i, cell: cell and f"{i}e80")),
        "negative scores": cells(put(4, lambda i, cell: cell and f"-{cell}")),
        "decimal commas": cells(put(4, lambda i, cell: cell.replace(".", ","))),
        "words for scores": cells(put(4, lambda i, cell: cell and "good")),
        "repeated ids": cells(put(0, lambda i, _: f"c{i % 30}")),
        "missing ids": cells(put(0, lambda i, cell: "" if i % 7 == 0 else cell)),
        "e-mail addresses as ids": cells(put(0, lambda i, cell: f"{cell}@example.org")),
        "missing decisions": cells(put(5, lambda i, cell: "" if i % 5 == 0 else cell)),
        "withdrawn": cells(put(5, lambda i, cell: "withdrawn" if i % 5 == 0 else cell)),
        "unknown words": cells(put(5, lambda i, cell: "perhaps" if i % 5 == 0 else cell)),
        "American dates": cells(put(6, lambda i, _: f"{1 + i % 12}/{1 + i % 28}/2024")),
        "no dates": cells(put(6, lambda i, _: "soon")),
        "hired without an interview": cells(put(3, lambda i, _: "no")),
        "blank rows": [line for row in cells(lambda i, row: row) for line in (row, [""] * 7)],
        "the header again": [*cells(lambda i, row: row), header],
        "a total": [*cells(lambda i, row: row), ["Total", "60", "", "", "", "15", ""]],
        "header alone": [header],
        "one row": [header, plain[0]],
        "the same column twice": [[*row, row[2]] for row in cells(lambda i, row: row)],
        "an unnamed column": [["", *row] for row in cells(lambda i, row: row)],
        "ragged rows": [row[: 7 - (i % 11 == 5)] for i, row in enumerate(cells(lambda i, row: row))],
        "long cells": cells(put(1, lambda i, cell: cell * 2_000)),
        "line breaks in cells": cells(put(1, lambda i, cell: f"{cell}\n2")),
    }
    writings = {
        "UTF-8": ("utf-8", ",", "\n", ""),
        "UTF-8 with BOM": ("utf-8-sig", ";", "\r\n", ""),
        "UTF-16, tabs": ("utf-16", "\t", "\r\n", ""),
        "cp1252": ("cp1252", ";", "\n", ""),
        "sep= line": ("utf-8", ";", "\r\n", "sep=;\r\n"),
        "title rows": ("utf-8", ",", "\n", "Report of applications\n\n"),
        "bars": ("utf-8", "|", "\n", ""),
        "old Mac line ends": ("utf-8", ",", "\r", ""),
        "cut off": ("utf-8", ",", "\n", ""),
        "a NUL": ("utf-8", ",", "\n", ""),
    }
    for way, (encoding, separator, end, above) in writings.items():
        for name, table in oddities.items():
            out = io.StringIO()
            csv.writer(out, delimiter=separator, lineterminator=end).writerows(table)
            content = (above + out.getvalue()).encode(encoding, "replace")
            if way == "cut off":
                content = content[: -max(1, len(content) // 40)]
            if way == "a NUL":
                content += b"\0"
            yield f"{name}, {way}", content


def odd_inputs(folder: Path, limits: Limits) -> Result:
    """Odd exports to `check`, and every fourth to `report`."""
    result = Result("odd exports (33 oddities in 10 ways of writing) to `check`, a quarter of them to `report`")
    settings = "cost = 0.5\n[fit]\npoints = 6\n[report]\nreplicates = 0\nwhat_if = false\n"
    (folder / "audit.toml").write_text(settings + ("alternatives = false\n" if limits.seconds < 5 else ""))
    exports = list(odd_exports())
    limits.rng.shuffle(exports)
    for number, (name, content) in enumerate(exports[: limits.odd]):
        (folder / "people.csv").write_bytes(content)
        fault = answered("check", str(folder / "people.csv"))
        if fault is None and number % 4 == 0:
            fault = answered("report", str(folder / "people.csv"), "--config", str(folder / "audit.toml"), "-q")
        _judge(result, None if fault is None else f"{name}: {fault}", content)
    return result


def many_audits(folder: Path, limits: Limits) -> Result:
    """Many audits at the same time (read, test, HTML, JSON) that share one history: what is attacked are the files."""
    result = Result(f"{limits.audits} audits at once against one history: `run` of 80 applicants, each in a process")
    return _many_audits(result, folder, limits, f"sqlite:///{folder / 'history.sqlite'}")


def many_audits_in_postgresql(folder: Path, limits: Limits) -> Result:
    result = Result("the same with the history in PostgreSQL")
    if scheduled_postgres.binaries() is None:
        result.failed.append("there is no PostgreSQL server here")
        return result
    with scheduled_postgres.server() as url:
        return _many_audits(result, folder, limits, url)


def _many_audits(result: Result, folder: Path, limits: Limits, url: str) -> Result:
    from auditkit.scheduled.run_history import opened

    os.environ["CAMPAIGN_HISTORY"] = url
    for number in range(limits.audits + 1):
        place = folder / f"audit-{number}"
        place.mkdir()
        (place / "people.csv").write_text(PEOPLE.replace("c1,", f"c{100 + number},"))
        shared = "[history]\n" + ('database_env = "CAMPAIGN_HISTORY"' if number else 'database = "own.sqlite"') + "\n"
        (place / "audit.toml").write_text(ONE_PAGE.replace('["json"]', '["html", "json"]') + shared)
    first = answered("run", str(folder / "audit-0" / "audit.toml"))  # imports and compiles before the fork
    children = {}
    for number in range(1, limits.audits + 1):
        child = os.fork()
        if child == 0:
            os._exit(_left_a_fault(folder / f"error-{number}", "run", str(folder / f"audit-{number}" / "audit.toml")))
        children[child] = number
    for child in children:
        os.waitpid(child, 0)
    result.tried = limits.audits
    result.failed += [first] if first else []
    result.failed += [path.read_text() for path in folder.glob("error-*")]
    with opened(url, create=False) as history:
        result.failed += history.breaks()[0]
        for number in range(1, limits.audits + 1):
            audits, recorded = folder / f"audit-{number}" / "audits", history.runs(f"audit-{number}")
            whole = len(recorded) == 1 and intact(audits, recorded[0].folder, recorded[0].artefacts)
            if not whole or not json.loads((audits / recorded[0].folder / "report.json").read_bytes())["disparity"]:
                result.failed.append(f"audit-{number} is {len(recorded)} times in the history, or not whole")
    return result


def _left_a_fault(place: Path, *arguments: str) -> int:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = invoke(list(arguments))
    if code not in (0, 1):  # a run that waits for others is not refused
        place.write_text(f"exit code {code}: {out.getvalue()[-300:]}")
    return code


MOST_SECONDS, MOST_MEGABYTES = 2.0, 500.0
MEASURED = """
import sys, time
from auditkit.cli import invoke
def once(*arguments):
    begin = time.process_time()
    code = invoke(list(arguments))
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return code, time.process_time() - begin, int(peak.split()[1]) / 1000
command, small, path, *more = sys.argv[1:]
print(*once(command, small, *more)[1:], *once(command, path, *more))
"""


def exhausting(folder: Path, limits: Limits) -> Result:
    """Small files that would fill the memory or never end: what refusing them takes, in a process for each."""
    from test_small_files import ATTACKS as SMALL_FILES

    result = Result(f"small files that exhaust a machine, refused within {MOST_SECONDS:g} s and {MOST_MEGABYTES:g} MB")
    (folder / "people.csv").write_text(PEOPLE)
    short = limits.seconds < 5  # tests/test_small_files.py tries the others
    calls = {}
    for name, (make, _) in () if short else SMALL_FILES.items():
        calls[name] = ("check", str(make(folder / name)))
    os.mkfifo(folder / "pipe.csv")
    (folder / "nested.json").write_bytes(b"[" * 5_000_000)
    (folder / "bomb.pdf").write_bytes(bombs_in_a_pdf(10 if short else 40))
    calls["a FIFO"] = ("check", str(folder / "pipe.csv"))
    calls["/dev/zero"] = ("check", "/dev/zero")
    for name in ("nested.json", "bomb.pdf"):
        calls[f"{name} to verify"] = ("verify", str(folder / name), str(folder / "people.csv"))
    calls["nested.json to solve"] = ("solve", str(folder / "nested.json"))
    if short:
        calls = {name: calls[name] for name in ("bomb.pdf to verify", "nested.json to solve")}
    for name, arguments in calls.items():
        done = subprocess.run(
            [sys.executable, "-P", "-c", MEASURED, arguments[0], str(folder / "people.csv"), *arguments[1:]],
            capture_output=True,
            text=True,
            timeout=1200,
        )
        load, memory, code, seconds, megabytes = map(float, done.stdout.split()[-5:])
        path = Path(arguments[1])
        size = f"{path.stat().st_size:,} bytes" if path.is_file() else ""
        reason = done.stderr.strip().rpartition("error: ")[2].replace(f"{folder}/", "").replace("|", "\\|")
        result.tried += 1
        result.measured.append((name, size, seconds, megabytes, reason))
        if not result.note:
            result.note = f"the libraries take {load:.1f} s and {memory:.0f} MB before"
        late = seconds > MOST_SECONDS and not short  # a short run is one of the tests, which share the machine
        if code != 2 or late or megabytes > MOST_MEGABYTES:
            result.failed.append(f"{name}: exit code {code:g}, {seconds:.1f} s, {megabytes:.0f} MB, {reason}")
    return result


def bombs_in_a_pdf(count: int) -> bytes:
    """Streams that begin like a report and unpack to sixty megabytes each."""
    streams = []
    for number in range(count):
        packing = zlib.compressobj(9)
        text = packing.compress(b'{\n "format": "auditkit-report/2", "x": %d' % number)
        text += b"".join(packing.compress(b" " * 1_000_000) for _ in range(60)) + packing.flush()
        streams.append(b"stream\n" + text + b"endstream\n")
    return b"%PDF-1.7\n" + b"".join(streams)


def forged(folder: Path, limits: Limits) -> Result:
    """Every number, word and yes or no of a report's document, changed one at a time, against the report made again."""
    from auditkit import pipeline, plugin_manager
    from auditkit.config import check
    from auditkit.verification.compare_reports import OWN_WORDS, UNDERIVED, compare_part

    result = Result("forged reports: every number, text and yes or no of the sample (with ages), changed one at a time")
    data = with_ages(folder / "people.csv", rows(searches=6, each=7) if limits.seconds < 5 else sample_rows())
    found = json.loads(pipeline.audit(data, check({"source": None}), plugin_manager.load(())).report.text())
    given, every = 0, 20 if limits.seconds < 5 else 1
    missing = [t["attribute"] for t in found["disparity"]["tables"] if t["attribute"] == "Age" and t["trend"] is None]
    result.failed += [f"there is no trend over {name}" for name in missing]
    for part, value in found.items():
        own = {key: value[key] for key in OWN_WORDS.get(part, ())}
        given += len(list(leaves({part: value} if part in UNDERIVED else own)))
        holder = {part: json.loads(json.dumps({**value, **{key: {} for key in own}} if own else value))}
        for owner, key in itertools.islice(leaves({} if part in UNDERIVED else holder), None, None, every):
            before = owner[key]
            owner[key] = forgery(before)
            result.tried += 1
            if compare_part(part, holder[part], value).holds:
                result.failed.append(f"{part}: {key} {before!r} -> {owner[key]!r}")
            owner[key] = before
    result.note = f"{given} more are what a report says of its own making, which `verify` lists as not checked"
    return result


def sample_rows() -> list[dict[str, Any]]:
    with (ROOT / "sample_data" / "hiring.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def with_ages(path: Path, table: list[dict[str, Any]]) -> Path:
    """The table with the ages of its people, so that bands and trends are in the report too."""
    ages = random.Random(3)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*table[0], "Age"])
        writer.writeheader()
        writer.writerows({**row, "Age": ages.randint(21, 66)} for row in table)
    return path


def leaves(value: Any) -> Iterator[tuple[Any, Any]]:
    """Where the single values of a document are: what holds them, and at which key."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, dict | list):
            yield from leaves(item)
        else:
            yield value, key


def forgery(value: Any) -> Any:
    """Another value of the same kind, close to it; a zero for what is missing."""
    if value is None:
        return 0
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return f"{value}." if isinstance(value, str) else value + 1e-6 * (1 + abs(value))


def in_one_process(folder: Path, limits: Limits) -> Result:
    """Many audits one after the other in one process: what they need must not grow."""
    result = Result(f"{limits.repeats} audits in one process")
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "audit.toml").write_text(AUDIT)
    used = []
    for _ in range(limits.repeats):
        _judge(result, answered("report", str(folder / "people.csv"), "--config", str(folder / "audit.toml")), b"")
        used.append(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6)
    growth = used[-1] - used[len(used) // 3]
    result.note = f"grew by {max(0.0, growth):.0f} MB in the last two thirds"
    if growth > 30:
        result.failed.append(result.note)
    return result


def other_user(folder: Path, limits: Limits) -> Result:
    """Files that may not be read and folders that may not be written, as a user without rights."""
    result = Result("a file without permission, a read-only folder, a terminal that cannot be written")
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "closed.csv").write_text(PEOPLE)
    (folder / "closed.csv").chmod(0)
    (folder / "audit.toml").write_text(ONE_PAGE)
    warm = folder / "warm"  # the other user may not be able to read this Python: everything is imported before
    warm.mkdir()
    for name in ("people.csv", "audit.toml"):
        shutil.copy(folder / name, warm)
    answered("report", str(warm / "people.csv"), "--config", str(warm / "audit.toml"))
    answered("run", str(warm / "audit.toml"))
    folder.chmod(0o555)
    for parent in folder.parents:
        if not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011) if parent.is_relative_to(tempfile.gettempdir()) else None
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        calls = (("report", "closed.csv"), ("report", "people.csv", "--config", "audit.toml"), ("run", "audit.toml"))
        os.chdir(folder)
        codes = []
        for arguments in calls:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                codes.append(invoke(list(arguments)))
        os._exit(0 if codes == [2, 2, 2] else 1)
    result.tried = 4
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        result.failed.append("another user did not get exit code 2")
    folder.chmod(0o755)
    if Path("/dev/full").exists():
        command = [sys.executable, "-P", "-m", "auditkit", "solve", str(ROOT / "sample_data" / "three-boxes.json")]
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE)
        if done.returncode != 2 or b"Traceback" in done.stderr:
            result.failed.append(f"a full disk: {done.returncode} {done.stderr[-300:]!r}")
    return result


def full_disk(folder: Path, limits: Limits) -> Result:
    """`report` with PDF and `run` that may write only so many bytes to a file: refused, and nothing is left over."""
    import resource

    from auditkit.scheduled.run_history import opened

    result = Result("`report` with PDF and `run` where a file cannot grow beyond 1, 2, 4, ... KB")
    warm = folder / "warm"
    sizes = [1 << power for power in (range(10, 19) if limits.seconds >= 5 else (12, 16))]
    for place in (warm, *(folder / str(size) for size in sizes)):
        place.mkdir()
        save(place / "people.csv", rows(searches=6, each=7))
        (place / "audit.toml").write_text(FITTED)
    report = ("--config", "audit.toml", "--format", "html,pdf,json", "-q")
    with contextlib.chdir(warm):
        answered("report", "people.csv", *report)
        answered("run", "audit.toml", "-q")
    for size, command in itertools.product(sizes, (("report", "people.csv", *report), ("run", "audit.toml", "-q"))):
        place = folder / str(size)
        child = os.fork()
        if child == 0:
            os.chdir(place)
            with (place / "said").open("wb") as said:
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            os._exit(invoke(list(command)))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said = (place / "said").read_text(errors="replace")
        (place / "said").unlink()
        result.tried += 1
        files = {path.name for path in place.iterdir()} - {"people.csv", "audit.toml", "audits"}
        audits = place / "audits"
        kept = {path.name for path in audits.iterdir() if path.is_dir()} if audits.is_dir() else set()
        recorded = set()
        if (audits / "history.sqlite").exists() and code != 2:
            with opened(str(audits / "history.sqlite"), create=False) as history:
                recorded = {run.folder for run in history.runs(str(size))}
        whole = len(files) in (0, 3) and kept == recorded and code in (0, 2)
        if not whole or (code == 0) != bool(kept if command[0] == "run" else files):
            result.failed.append(
                f"{command[0]}, {size} bytes: exit code {code}, {sorted(files)}, {kept}, {said[-200:]}"
            )
        for path in place.glob("people.audit.*"):
            path.unlink()
    return result


ATTACKS: dict[str, Callable[[Path, Limits], Result]] = {
    "files": files,
    "instances": instances,
    "solutions": solutions,
    "reports": reports,
    "specs": specs,
    "settings": settings,
    "killed-reports": killed_reports,
    "killed-runs": killed_runs,
    "killed-runs-postgresql": killed_runs_in_postgresql,
    "killed-with-pdf": killed_with_pdf,
    "ended": ended_reports,
    "odd-inputs": odd_inputs,
    "exhausting": exhausting,
    "forged": forged,
    "many-audits": many_audits,
    "many-audits-postgresql": many_audits_in_postgresql,
    "one-process": in_one_process,
    "other-user": other_user,
    "full-disk": full_disk,
}


def attack(name: str, limits: Limits) -> Result:
    folder = Path(tempfile.mkdtemp(prefix="auditkit-campaign-"))
    try:
        return ATTACKS[name](folder, limits)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


REFUSED = """
## Small files that exhaust a machine

Each is refused in a process of its own; the time is the processor's, of the command after another small
file has had the libraries loaded, the memory the peak of the whole process with them.

| file | size | time | peak memory | refused with |
| --- | --- | --- | --- | --- |
"""


FORGED = """
## What verify reads of a forged report

The document: the JSON, the one inside a PDF, or the one beside a page. Each changed value is compared with the report
made once more from the data. The text of a page (HTML) must then be the document's to the byte. The pages of a PDF are
set again too: where other fonts or another WeasyPrint make other bytes, their words are compared, and the drawings are
named as not checked (exit code 4). So are pages made with a theme, unless `--template-dir` names it.
"""


def commit() -> str:
    """The commit that is attacked, with a mark if files of it were changed."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude", "*"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def page(results: list[Result], seconds: float, seed: int) -> str:
    """docs/reliability.md."""
    rows = []
    for r in results:
        note = r.note or ("see below" if r.failed else "")
        rows.append(f"| {r.what} | {r.tried:,} | {r.tried - len(r.failed):,} | {note} |\n")
    refused = [
        f"| {name} | {size} | {seconds:.2f} s | {megabytes:.0f} MB | {reason} |\n"
        for r in results
        for name, size, seconds, megabytes, reason in r.measured
    ]
    faults = [f"- {r.what}: `{fault[:200]}`\n" for r in results for fault in r.failed[:3]]
    mended = [f"| {what} | {how} | `tests/{test}.py` |\n" for what, how, test in MENDED]
    when = f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return (
        "# Reliability: tried, held, mended\n\n"
        f"Written by `make reliability` from its own runs ({when}; {seconds:g} s of processor time for each "
        f"fuzzing, seed {seed}; "
        f"commit {', '.join(dict.fromkeys(r.commit for r in results if r.commit)) or 'unknown'}). An attack holds if "
        "the program answers, or refuses in words (exit codes 0, 1, 2 and 4), and nothing is lost.\n\n"
        "## Tried and held\n\n| attack | tried | held | |\n| --- | --- | --- | --- |\n"
        + "".join(rows)
        + ("\n## Did not hold\n\n" + "".join(faults) if faults else "")
        + (REFUSED + "".join(refused) if refused else "")
        + FORGED
        + "\n## Mended\n\nEach of these was found by attacking, and has a test that attacks it again.\n\n"
        "| what did not hold | now | test |\n| --- | --- | --- |\n" + "".join(mended)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*ATTACKS, []], metavar="NAME")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--parts", type=Path, metavar="FOLDER", help="keep finished attacks here, and skip them")
    given = parser.parse_args()
    results = []
    for name in given.names or ATTACKS:
        part = None if given.parts is None else given.parts / f"{name}.json"
        if part is not None and part.exists():
            results.append(Result(**json.loads(part.read_text(encoding="utf-8"))))
            continue
        here = commit()
        results.append(attack(name, Limits(given.seconds, random.Random(f"{given.seed} {name}"))))
        results[-1].commit = here
        if part is not None:
            part.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(asdict(results[-1]), indent=1), encoding="utf-8")
        print(f"{name}: {results[-1].tried} tried, {len(results[-1].failed)} failed {results[-1].note}", flush=True)
        for fault in results[-1].failed[:5]:
            print(f"  {fault[:600]}", flush=True)
    if given.write is not None:
        given.write.write_text(page(results, given.seconds, given.seed), encoding="utf-8")
    sys.exit(any(result.failed for result in results))


if __name__ == "__main__":
    main()
