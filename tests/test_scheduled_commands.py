"""The commands `run` and `history` as people use them: tables, JSON, the page, differences, exit codes."""

from __future__ import annotations

import csv
import json
import os
import re
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ET
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click
import pytest
from click.testing import CliRunner

from auditkit.cli import commands
from auditkit.errors import InputError
from auditkit.plugin_manager import load
from auditkit.report.thresholds import BOUNDS, MEASURES
from auditkit.scheduled.job import job as real_job
from auditkit.scheduled.settings import HistorySettings
from support.pages import Page
from support.scheduled_example import Scheduled
from support.scheduled_servers import web

LINES = "[thresholds]\nimpact_ratio.min = 0.8\n"
LEVEL = {"Black": (300, 27), "White": (700, 64)}
GROUP = click.Group("auditkit", {name: commands.commands[name] for name in ("run", "history", "schedule")})


def call(*arguments: str | Path) -> tuple[int, str, str]:
    """Exit code, stdout and stderr; the code is what auditkit.cli makes of the command."""
    runner = CliRunner()
    done = runner.invoke(GROUP, [str(a) for a in arguments], standalone_mode=False)
    if isinstance(done.exception, InputError):
        return 2, done.stdout, f"{done.stderr}{done.exception}"
    if done.exception is not None:
        raise done.exception
    return int(done.return_value or 0), done.stdout, done.stderr


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scheduled:
    """An audit in the working folder, whose job needs no solver."""
    made = Scheduled(tmp_path / "my hiring", LINES)
    monkeypatch.chdir(made.path.parent)
    monkeypatch.setattr("auditkit.scheduled.job.job", lambda *_: made.fake.job)
    return made


def test_exit_codes_of_run(audit: Scheduled, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = call("run", "audit.toml")
    assert code == 1
    assert (
        out.startswith(f"run 1: {audit.folder}")
        and "threshold crossed: Impact ratio at “Hired”, Ethnicity: Black" in out
    )
    assert "computing the audit" in err
    code, out, _ = call("run", "audit.toml")
    assert code == 1 and "data and configuration are those of run 1; nothing was computed" in out
    audit.fake.write(LEVEL)
    assert call("run", "audit.toml", "--quiet") == (0, "", "")  # nothing to say, nothing said: cron sends no mail
    out = call("run", "audit.toml", "--force")[1]
    findings = [line for line in out.splitlines() if line.startswith("finding: ")]
    assert findings and [line for line in out.splitlines() if line not in findings] == call_text(audit).splitlines()
    audit.path.write_text("[thresholds]\nimpact_ration.min = 0.8\n")
    code, out, err = call("run", "audit.toml")
    assert (code, out) == (2, "") and "did you mean 'impact_ratio.min'?" in err
    audit.path.write_text(LINES)
    monkeypatch.setattr(audit.fake, "produce", lambda: 1 / 0)
    audit.fake.write({"Black": (300, 26), "White": (700, 64)})
    with pytest.raises(ZeroDivisionError):  # which the program reports as its own defect, 3
        call("run", "audit.toml")
    failed = json.loads(call("history", "--json")[1])["runs"][-1]
    assert (failed["status"], failed["failure"], failed["findings"]) == ("failed", "division by zero", [])
    assert f"run {failed['id']} failed: division by zero" in call("history")[1]
    audit.fake.write(LEVEL)
    monkeypatch.undo()
    monkeypatch.chdir(audit.path.parent)
    assert call("history", "diff", "previous", "latest")[0] == 0  # a failed run has nothing to compare


def call_text(audit: Scheduled) -> str:
    link = json.loads((audit.folder / "last-link.json").read_text())["link"]
    return f"run 4: {audit.folder / audit.dated()[-1]}\nlast link of the chain: {link}\nno threshold was crossed\n"


def test_run_as_json(audit: Scheduled) -> None:
    code, out, _ = call("run", "audit.toml", "--json")
    document = json.loads(out)
    assert code == 1 and document["format"] == "auditkit-history/1"
    assert document["runs"][0]["crossings"][0]["threshold"] == "impact_ratio.min"
    assert document["removed"] == []


def test_an_alert_that_fails_is_said_and_the_run_stands(audit: Scheduled, monkeypatch: pytest.MonkeyPatch) -> None:
    alert = '[[alerts]]\ntype = "webhook"\nurl_env = "AUDIT_WEBHOOK"\nretries = 0\n'
    audit.path.write_text(LINES + alert)
    with web(lambda handler, _: handler.reply(404)) as server:
        monkeypatch.setenv("AUDIT_WEBHOOK", f"{server.url}/s3cret")
        code, out, err = call("run", "audit.toml")
    assert code == 1 and "warning: the alert by webhook was not delivered: answers 404" in err
    assert "s3cret" not in out + err
    monkeypatch.delenv("AUDIT_WEBHOOK")
    code, _, err = call("run", "audit.toml")
    assert code == 2 and "the environment variable AUDIT_WEBHOOK is not set" in err


def three_runs(audit: Scheduled) -> None:
    audit.run()
    audit.run()
    audit.fake.write(LEVEL)
    audit.path.write_text(LINES + "# since December\n")
    audit.run()


def test_history_as_a_table_and_as_json(audit: Scheduled) -> None:
    assert call("history")[0] == 2
    three_runs(audit)
    code, out, _ = call("history")
    assert code == 0
    assert re.search(
        r"1 +2026-11-16 06:00:00 +complete +1,009 +0\.325 +Ethnicity: Black +150\.0 +95\.0.% +9 +\d+ \(1\) +2026-",
        out,
    )
    assert "unchanged since run 1" in out
    document = json.loads(call("history", "--json")[1])
    assert (document["format"], document["audit"]) == ("auditkit-history/1", "my hiring")
    assert [run["status"] for run in document["runs"]] == ["complete", "unchanged", "complete"]
    last = document["runs"][-1]
    assert last["headline"]["lowest_impact_ratio_group"] == "Black"
    assert {a["name"] for a in last["artefacts"]} >= {"report.html", "report.pdf", "report.json", "audit.toml"}
    assert last["input"]["sha256"] == audit.fake.fingerprint()
    assert len(json.loads(call("history", "--json", "-n", "1")[1])["runs"]) == 1


def test_the_page_has_charts_and_links_that_work(audit: Scheduled) -> None:
    three_runs(audit)
    target = audit.path.parent / "out" / "trend & co.html"
    target.parent.mkdir()
    assert call("history", "--html", target)[0] == 0
    text = target.read_text()
    page = Page(text)
    assert [tag for tag, _ in page.tags if tag in ("script", "link", "img", "iframe", "object")] == ["script"]
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    links = [attrs["href"] or "" for tag, attrs in page.tags if tag == "a" and attrs["href"] != "#content"]
    assert len(links) == 3 * 5
    for link in links:
        assert not urlsplit(link).scheme and (target.parent / unquote(link)).is_file(), link
    svgs = re.findall(r"<svg.*?</svg>", text, flags=re.S)
    assert len(svgs) == 7
    titles = [ET.fromstring(svg).findtext("title") for svg in svgs]
    assert titles[0] == "Ethnicity: impact ratio at “Hired”" and "Utility kept under each constraint" in titles
    assert "The dashed line is the threshold of 0.800." in text
    assert "No threshold was crossed." in text


def test_nothing_in_the_page_is_taken_for_markup(audit: Scheduled) -> None:
    evil = '<script>alert(1)</script> & "x" $y$'
    audit.path.write_text(LINES + f"[history]\nname = '{evil}'\n")
    audit.fake.write({evil: (300, 9), "White": (700, 64)})
    audit.run()
    call("history", "--html", "page.html")
    text = Path("page.html").read_text()
    assert text.count("<script") == 1 and "&lt;script&gt;alert(1)" in text  # the page's own, allowed by its hash
    assert "<script>alert" not in text


def test_removed_artefacts_are_said_in_the_page_and_in_the_table(audit: Scheduled) -> None:
    audit.path.write_text('[history]\nkeep = "10 days"\n')
    audit.run()
    audit.fake.write(LEVEL)
    for _ in range(3):  # week by week: a year at once would be a clock that jumped
        audit.run()
    call("history", "--html", "page.html")
    assert "older than 10 days" in Path("page.html").read_text()
    assert re.search(r"removed \d{4}-\d\d-\d\d, older than 10 days", call("history")[1])


def test_a_page_that_cannot_be_written(audit: Scheduled) -> None:
    audit.run()
    code, _, err = call("history", "--html", "no/such/folder/page.html")
    assert code == 2 and "cannot be written" in err


def test_a_thousand_runs_are_drawn_without_marks(audit: Scheduled) -> None:
    from dataclasses import replace

    from auditkit.scheduled.trends import draw

    run = audit.run().run
    many = [
        replace(run, id=i, created=f"20{10 + i // 52:02d}-{1 + i % 52 * 11 // 52:02d}-{1 + i % 28:02d}T06:00:00Z")
        for i in range(800)
    ]
    charts = draw(sorted(many, key=lambda r: r.created), ())
    assert sum(len(chart.svg) for chart in charts) < 700_000


def test_diff(audit: Scheduled) -> None:
    three_runs(audit)
    code, out, _ = call("history", "diff", "1", "3")
    assert code == 0
    assert "SHA-256 of the data" in out and "+# since December" in out
    assert re.search(r"disparity +Ethnicity: Black \(“Hired”\) +impact_ratio +0\.325 +0\.984", out)
    assert "no longer a finding: Impact ratio at “Hired”, Ethnicity: Black against White: 0.325" in out
    assert "new finding: " in call("history", "diff", "latest", "previous")[1]
    assert call("history", "diff", "1", "2")[1] == "runs 1 and 2 do not differ\n"
    assert "+# since December" in call("history", "diff", "2026-11-16", "2026-11-30")[1]
    document = json.loads(call("history", "diff", "1", "latest", "--json")[1])
    assert document["format"] == "auditkit-history-diff/1"
    (change,) = [
        f for f in document["figures"] if f["subject"] == "Ethnicity: Black (“Hired”)" and f["figure"] == "impact_ratio"
    ]
    assert change["after"] == pytest.approx(27 / 300 / (64 / 700))
    code, _, err = call("history", "diff", "1", "77")
    assert code == 2 and "there is no such run (known: runs 1 to 3" in err
    assert call("history", "--config", "other.toml", "diff", "1", "2")[0] == 2


# With the pipeline ----------------------------------------------------------------------------------------------------


def export(path: Path, hired: int) -> None:
    """60 applicants without scores: enough for the disparity part of a report."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Application ID", "Requisition", "Gender", "Interviewed", "Hired"])
        for i in range(60):
            woman = i % 2
            position = i // 2
            yes = position < (hired if woman else 12)
            writer.writerow(
                [f"A{i}", f"R{i % 3}", "F" if woman else "M", "yes" if position < 20 else "no", "yes" if yes else "no"]
            )


def test_a_real_audit_from_file_to_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "hiring"
    folder.mkdir()
    export(folder / "people.csv", 6)
    (folder / "audit.toml").write_text(
        'source = "people.csv"\n[thresholds]\nimpact_ratio.min = 0.8\n[report]\nparts = "summary"\nreplicates = 0\n'
    )
    code, out, err = call("run", "hiring/audit.toml")
    assert code == 1, err
    assert "F against M: 0.500 (6 of 30 against 12 of 30)" in out
    (made,) = (path for path in (folder / "audits").iterdir() if path.is_dir())
    assert {path.name for path in made.iterdir()} >= {"report.html", "report.json", "audit.toml", "SHA256SUMS"}
    assert (made / "report.pdf").exists() or "no PDF" in err
    assert json.loads((made / "report.json").read_text())["format"] == "auditkit-report/3"
    code, out, _ = call("run", "hiring/audit.toml")
    assert code == 1 and "nothing was computed" in out
    with closing(sqlite3.connect(folder / "audits" / "history.sqlite")) as stored:
        dump = "\n".join(stored.iterdump())
    assert "'people.csv'" in dump and not re.search(r"'(A|R)\d+'", dump)  # no candidate, no requisition
    (folder / "people.csv").unlink()
    code, _, err = call("run", "hiring/audit.toml")
    assert code == 2 and "there is no such file" in err


def test_a_file_without_a_source_and_with_a_wrong_setting(tmp_path: Path) -> None:
    audit = Scheduled(tmp_path, "")
    plugins: Any = None
    with pytest.raises(InputError, match="names no data"):
        real_job(audit.settings, plugins, print, print)
    audit.path.write_text('sourze = "x.csv"')
    with pytest.raises(InputError, match="did you mean 'source'"):
        real_job(audit.settings, plugins, print, print)


def test_the_commands_load_nothing_heavy() -> None:
    script = "import sys, auditkit.cli.run; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=dict(os.environ), check=True
    )
    assert not {"sqlalchemy", "pydantic", "matplotlib", "numpy", "pandas", "jinja2"} & set(done.stdout.split())


def test_the_example_of_the_documentation_is_right(tmp_path: Path) -> None:
    text = (Path(__file__).resolve().parents[1] / "docs" / "scheduled-audits.md").read_text()
    (toml,) = re.findall(r"```toml\n(.*?)```", text, re.S)
    audit = Scheduled(tmp_path, toml)
    assert [line.name for line in audit.settings.thresholds][:2] == ["impact_ratio.min", "impact_ratio.max_drop"]
    assert [channel.type for channel in audit.settings.channels(load().alerts)] == ["webhook", "mail"]
    for name in (*MEASURES, *BOUNDS, *HistorySettings.model_fields, *GROUP.commands):
        assert f"`{name}" in text or f"auditkit {name}" in text, f"docs/scheduled-audits.md does not mention {name}"
    for kind in load().alerts.values():
        for key, field in kind.model_fields.items():
            assert key == "on" or f"`{field.alias or key}`" in text or "allow_http" in key, key


def test_a_history_that_was_cut_at_its_end_is_noticed(audit: Scheduled) -> None:
    """A chain without its last runs is whole by itself; what is kept beside the artefacts, or by a person, is not."""
    for _ in range(2):
        assert call("run", "audit.toml", "--force")[0] == 1
    first, last = (run["link"] for run in _links(audit))
    assert call("history", "--link", first)[0] == 0 and f"last link of the chain: {last}" in call("history")[1]
    with closing(sqlite3.connect(audit.folder / "history.sqlite")) as database:
        for table in ("groups", "policies", "policy_groups", "crossings", "artefacts", "alerts"):
            database.execute(f"DELETE FROM auditkit_{table} WHERE run = 2")
        database.execute("DELETE FROM auditkit_runs WHERE id = 2")
        database.commit()
    kept = audit.folder / "last-link.json"
    said = f"the history was cut or replaced: run 2 of {kept} is not in it as it was recorded"
    code, _, err = call("history")
    assert code == 1 and said in err
    assert f"note: {said}" in call("run", "audit.toml", "--force")[1]  # and what was kept is not overwritten
    assert call("history")[0] == 1
    kept.unlink()
    assert call("history")[0] == 0 and call("history", "--link", last)[0] == 1
    kept.write_text("[]")
    assert call("history")[0] == 2


def _links(audit: Scheduled) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(audit.folder / "history.sqlite")) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute("SELECT id, link FROM auditkit_runs ORDER BY id")]
