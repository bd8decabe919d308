"""Names that would write on the terminal, and rows in another order: neither changes what a reader sees."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.cli import DONE, invoke
from auditkit.cli.streams import Escaping
from auditkit.report.thresholds import Crossing
from auditkit.scheduled.alert import Alert
from auditkit.text import printable, printable_lines
from support.audit_helpers import rows
from support.sampling import sampled

FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
NASTY = "F\x1b[31m\u202eelam\x9b\x07"
QUICK = "[fit]\npoints = 10\n[report]\nreplicates = 0\nwhat_if = false\nalternatives = false\n"


@given(st.text() | st.text(st.characters(categories=["Cc", "Cf", "Zl", "Zp"])))
def test_what_is_printed_can_be_seen_and_is_the_same_text_to_json(text: str) -> None:
    line = printable(text)
    assert not FORBIDDEN.search(line)
    assert "\n" not in line
    assert len(line.splitlines()) <= 1
    assert not FORBIDDEN.search(printable_lines(text))
    document = json.dumps({"name": text}, ensure_ascii=False)
    assert json.loads(printable_lines(document)) == json.loads(document)


def test_names_do_not_write_on_the_terminal(auditkit: Any, tmp_path: Path) -> None:
    table = pd.DataFrame(rows(searches=30)).rename(columns={"Gender": "Gender\u202e\x1b[2J"})
    table = table.replace({"Female": NASTY + "\nerror: none"}).assign(note="text, so that the file is one" * 9)
    path = tmp_path / "pe\x1bople.csv"
    table.to_csv(path, index=False)
    (tmp_path / "quick.toml").write_text(QUICK)
    for arguments in (["report", path], ["check", path], ["report", path, "--json"], ["whatif", path]):
        done = auditkit(*arguments, "--config", "quick.toml")
        assert done.code == 0, done.err
        assert not FORBIDDEN.search(done.out + done.err), arguments
        assert "\nerror: none" not in done.out + done.err
    missing = auditkit("report", tmp_path / "no\x1b[31m\nerror.csv")
    assert missing.code == 2
    assert not FORBIDDEN.search(missing.err)
    assert missing.err.count("\n") == 1


def test_alerts_hold_nothing_that_cannot_be_seen() -> None:
    crossed = Crossing("impact_ratio.min", NASTY, 0.5, 0.8, f"{NASTY}\nis below")
    alert = Alert(
        "1", "crossed", NASTY, "2026-11-16T06:00:00Z", f"{NASTY}\nBcc: x", f"one\n{NASTY}", 1, NASTY, (crossed,)
    )
    found = json.loads(json.dumps(alert.document()))
    texts = [found["audit"], found["title"], found["folder"], *(str(v) for v in found["crossings"][0].values())]
    assert not any(FORBIDDEN.search(text) or "\n" in text for text in texts)
    assert not FORBIDDEN.search(found["text"])
    assert found["text"].count("\n") == 1


@pytest.mark.sampled
@pytest.mark.parametrize("ids", [True, False])
def test_shuffled_rows_give_the_same_report_to_the_byte(
    auditkit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ids: bool
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    table = pd.DataFrame(rows())
    table = table if ids else table.drop(columns="Candidate ID")
    (tmp_path / "quick.toml").write_text(QUICK.replace("replicates = 0", "replicates = 20"))
    seen = []
    for seed in (None, *sampled((1, 2), 1)):
        path = tmp_path / "people.csv"
        (table if seed is None else table.sample(frac=1, random_state=seed)).to_csv(path, index=False)
        assert auditkit("report", path, "--config", "quick.toml").code == 0
        digest = json.loads((tmp_path / "people.audit.json").read_text())["input"]["sha256"]
        seen.append([(tmp_path / f"people.audit.{kind}").read_text().replace(digest, "") for kind in ("json", "html")])
    assert all(one == seen[0] for one in seen)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "no_color", "coloured"), [(Terminal, "", 1), (Terminal, "1", 0), (io.StringIO, "", 0)]
)
def test_colours_are_for_terminals_and_only_the_label_has_one(
    stream: type[io.StringIO], no_color: str, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    written = stream()
    Escaping(written).write("error: \x1b[31mfile.csv\nno error: here\n")
    label = "\x1b[1;31merror\x1b[0m" if coloured else "error"
    assert written.getvalue() == f"{label}: \\u001b[31mfile.csv\nno error: here\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_asks_this_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["completion", shell]) == DONE
    assert f"_AUDITKIT_COMPLETE={shell}_complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("outcome", "kept", "lost", "said"),
    [("Selected for RIF", "N", "Y", "Employees were retained"), ("Hired", "Y", "N", "Applicants were hired")],
)
def test_the_trend_with_age_calls_people_what_the_file_calls_them(
    auditkit: Any, tmp_path: Path, outcome: str, kept: str, lost: str, said: str
) -> None:
    ages = [20 + i % 45 for i in range(900)]
    good = [(7 * i) % 100 < (90 if age < 40 else 60) for i, age in enumerate(ages)]
    table = pd.DataFrame({"Id": range(900), "Age": ages, outcome: [kept if x else lost for x in good]})
    table.assign(Postcode=None, Score=None).to_csv(tmp_path / "people.csv", index=False)
    printed = auditkit("report", "people.csv", "-q").out
    assert f"{said} less often the older they were" in printed
    assert ("applicants" in printed.lower()) == (outcome == "Hired")
    assert "read as one row per application" in printed
