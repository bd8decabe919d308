"""`auditkit report`, `check`, `init`, `fit` and `verify` of reports as a user meets them."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from auditkit import config
from auditkit.report import view
from auditkit.scheduled import settings as scheduled_settings
from support.audit_helpers import rows, save

QUICK = """
[fit]
points = 10
[report]
replicates = 0
alternatives = false
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    (tmp_path / "quick.toml").write_text(QUICK)
    return save(tmp_path / "people.csv", rows())


def test_report_writes_beside_its_input(auditkit: Any, people: Path, tmp_path: Path) -> None:
    done = auditkit("report", people, "--config", "quick.toml")
    assert done.code == 0
    assert done.err == ""
    assert "Interview Score" in done.out
    assert "its name says so" in done.out
    assert "1. " in done.out
    assert f"written: {tmp_path / 'people.audit.html'}" in done.out
    document = json.loads((tmp_path / "people.audit.json").read_text())
    assert document["format"] == "auditkit-report/3"
    assert (tmp_path / "people.audit.html").read_text().startswith("<!DOCTYPE html>")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        ["people.csv", "quick.toml", "people.audit.html", "people.audit.json"]
    )
    stands = auditkit("verify", "people.audit.json", people)
    assert stands.code == 0
    assert "checks passed" in stands.out
    document["firm"]["utility"] += 1
    (tmp_path / "people.audit.json").write_text(json.dumps(document))
    falls = auditkit("verify", "people.audit.json", people, "--json")
    assert falls.code == 1
    assert json.loads(falls.out)["holds"] is False
    other = auditkit("verify", "people.audit.json", "quick.toml")
    assert other.code == 1
    assert "the report is of this data" in other.out


def test_where_a_report_goes_and_in_which_formats(auditkit: Any, people: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert auditkit("report", people, "--config", "quick.toml", "-o", "out", "--format", "json").code == 0
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["people.audit.json"]
    assert auditkit("report", people, "--config", "quick.toml", "-o", "out/x.html", "--format", "HTML, json").code == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["people.audit.json", "x.html", "x.json"]
    assert auditkit("report", people, "--config", "quick.toml", "-o", "new/deep/", "--format", "json").code == 0
    assert (tmp_path / "new" / "deep" / "people.audit.json").exists()
    nowhere = auditkit("report", people, "-o", "nowhere/x")
    assert nowhere.code == 2
    assert "there is no such folder" in nowhere.err
    printed = auditkit("report", people, "--config", "quick.toml", "--json", "-q")
    assert printed.code == 0
    assert json.loads(printed.out)["input"]["path"] == "people.csv"
    assert not (tmp_path / "people.audit.json").exists()
    odd = auditkit("report", people, "--format", "odt")
    assert odd.code == 2
    assert "formats" in odd.err


def test_options_and_settings(auditkit: Any, people: Path, tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text(
        'source = "people.csv"\nvalue_scale = 2.0\n[[constraints]]\ntype = "parity"\n' + QUICK
    )
    done = auditkit("report", "--config", "audit.toml", "--json")
    assert done.code == 0
    document = json.loads(done.out)
    assert [entry["label"] for entry in document["constrained"]] == ["parity"]
    assert document["fit"]["settings"]["value_scale"] == 2.0
    assert document["fit"]["settings"]["group_aware"] is False and document["fit"]["settings"]["blind"] is True
    more = ("--value-scale", 3, "-c", "quota:group=Female,share=0.5", "-c", "impact-ratio", "--fitter", "normal")
    done = auditkit(
        "report", people, "--config", "audit.toml", "--json", *more, "--propensity", "--capacity", 2, "--group-aware"
    )
    document = json.loads(done.out)
    assert [entry["label"] for entry in document["constrained"]] == ["quota Female", "impact-ratio", "all together"]
    assert document["fit"]["settings"]["value_scale"] == 3.0
    assert document["fit"]["settings"]["propensity"] is True
    assert document["fit"]["fitter"] == "normal"
    assert document["config"]["source"] == "people.csv"
    assert document["fit"]["settings"]["group_aware"] is True and document["fit"]["settings"]["blind"] is False
    blind = json.loads(auditkit("report", people, "--config", "quick.toml", "--json", "--blind").out)
    assert blind["fit"]["settings"]["blind"] is True
    mapped = auditkit("report", people, "--config", "quick.toml", "--json", "--map", "score=none")
    assert json.loads(mapped.out)["fit"] is None


def test_thresholds_decide_the_exit_code(auditkit: Any, people: Path, tmp_path: Path) -> None:
    base = ("report", people, "--config", "quick.toml", "--format", "json")
    crossed = auditkit(*base, "--fail-on", "impact_ratio.min=0.99", "--fail-on", "problems.max=1e6")
    assert crossed.code == 1
    assert crossed.err.startswith("finding: Impact ratio at “Hired”, Gender: Female against Male")
    assert (tmp_path / "people.audit.json").exists()
    assert auditkit(*base, "--fail-on", "impact_ratio.min=0.01").code == 0
    wrong = auditkit(*base, "--fail-on", "impact.min=0.8")
    assert wrong.code == 2
    assert "did you mean" in wrong.err
    strict = "[thresholds]\nimpact_ratio.min = 0.99\nimpact_ratio.max_drop = 0.1\n[history]\nkeep = '4 years'\n"
    (tmp_path / "strict.toml").write_text(strict + QUICK)
    done = auditkit("report", people, "--config", "strict.toml", "--format", "json")
    assert done.code == 1
    assert "impact_ratio.max_drop: there is no earlier run to compare with" in done.err


def test_wrong_input_is_named_and_nothing_is_written(auditkit: Any, people: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    for arguments, said in (
        (("report", "nobody.csv"), "nobody.csv"),
        (("report",), "no data is named"),
        (("report", people, "--map", "score=Intervew Score"), "closest: 'Interview Score'"),
        (("report", people, "--map", "scores=x"), "did you mean 'score'"),
        (("report", people, "--map", "score"), "is not ROLE=COLUMN"),
        (("report", people, "--map", "score=CV Score", "--map", "score=x"), "is given twice"),
        (("report", people, "--config", "none.toml"), "auditkit init"),
        (("report", people, "-c", "party"), "did you mean 'parity'"),
        (("report", people, "-c", "quota:group=Female"), "needs the key 'share'"),
        (("report", people, "-c", "quota:group=Femal,share=0.1"), "did you mean 'Female'"),
        (("report", people, "--cost", "cheap"), "'cheap' is not a number"),
        (("report", people, "--cost", "a=1", "--cost", "2"), "is not STAGE=NUMBER"),
        (("report", people, "--value-scale", "-1"), "value_scale"),
        (("report", people, "--fitter", "guess"), "there is no fitter 'guess'"),
        (("report", people, "--template-dir", "themes"), "no such folder of templates"),
        (("fit", people, "--map", "score=none"), "no prior can be learnt"),
        (("check", "nobody.csv"), "nobody.csv"),
        (("verify", people, people), "is not JSON"),
    ):
        done = auditkit(*arguments)
        assert done.code == 2, (arguments, done.err)
        assert said in done.err, (arguments, done.err)
        assert "Traceback" not in done.err
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "bad.toml").write_text("value_scale = \n")
    assert "is not TOML" in auditkit("report", people, "--config", "bad.toml").err
    (tmp_path / "odd.toml").write_text("[fit]\nfitters = 'x'\n")
    assert "did you mean 'fitter'" in auditkit("report", people, "--config", "odd.toml").err


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder(auditkit: Any, people: Path, tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    done = auditkit("report", people, "--config", "quick.toml", "-o", folder)
    assert done.code == 2
    assert "cannot be written" in done.err


def test_a_folder_that_cannot_be_written(
    auditkit: Any, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("auditkit.files._temporary", refuse)
    done = auditkit("report", people, "--config", "quick.toml")
    assert done.code == 2
    assert "cannot be written: Permission denied" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "quick.toml"]


def test_without_pango(auditkit: Any, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from auditkit.report import pdf

    def missing(*_: object) -> bytes:
        raise pdf.PdfUnavailable("cannot load library")

    monkeypatch.setattr(pdf, "render", missing)
    both = auditkit("report", people, "--config", "quick.toml", "--format", "html,pdf")
    assert both.code == 0
    assert "libpango-1.0-0" in both.err
    assert (tmp_path / "people.audit.html").exists()
    assert auditkit("report", people, "--config", "quick.toml", "--format", "pdf").code == 2


def test_check_shows_one_line_for_each_kind_of_problem(auditkit: Any, tmp_path: Path) -> None:
    table = rows()
    for row in table[:14]:
        row["Interview Cost"] = "much"
    table[20]["Gender"] = "NA"
    path = save(tmp_path / "people.csv", table)
    done = auditkit("check", path)
    assert done.code == 2
    assert done.out.count("is not a number") == 1 and "14 rows (2, 3, 4, ...), column 'Interview Cost'" in done.out
    assert "16 problems (--all lists them row by row)" in done.out
    assert "14 must be fixed" in done.out
    assert auditkit("check", path, "--all").out.count("not-a-number") == 14
    listed = json.loads(auditkit("check", path, "--json").out)
    assert listed["total"] == len(listed["problems"]) == 16
    assert set(listed["problems"][0]) == {"code", "treatment", "row", "column", "value", "what", "fix"}
    assert auditkit("report", path).code == 2
    good = auditkit("check", save(tmp_path / "good.csv", rows()))
    assert good.code == 0
    assert "0 must be fixed" in good.out
    asked = auditkit("check", save(tmp_path / "bare.csv", rows(), ("Hired", "Interviewed")))
    assert asked.code == 2
    assert "error: selected" in asked.err


def test_init_keeps_and_explains_what_runs_need(auditkit: Any, people: Path, tmp_path: Path) -> None:
    given = '[thresholds]\nimpact_ratio.min = 0.8\n[history]\nkeep = "4 years"\n[[alerts]]\ntype = "webhook"\n'
    (tmp_path / "before.toml").write_text(given)
    assert auditkit("init", people, "--config", "before.toml").code == 0
    text = (tmp_path / "audit.toml").read_text()
    assert tomllib.loads(text).items() >= tomllib.loads(given).items()
    (tmp_path / "audit.toml").unlink()
    assert auditkit("init", people).code == 0
    examples = (tmp_path / "audit.toml").read_text().split("# Lines that figures")[1].splitlines()[1:]
    shown = "\n".join(line.removeprefix("# ") for line in examples if not line.startswith(("# Where", "# Who")))
    (tmp_path / "shown.toml").write_text(shown.replace("\n#\n", "\n").removeprefix("#\n"))
    found = scheduled_settings.read(tmp_path / "shown.toml")
    assert "price_of_fairness.loss.max" in {line.name for line in found.thresholds}
    assert found.history.keep == "4 years"
    assert found.alerts[0]["type"] == "webhook"


def test_init_spells_everything_out(auditkit: Any, people: Path, tmp_path: Path) -> None:
    done = auditkit("init", people)
    assert done.code == 0
    text = (tmp_path / "audit.toml").read_text()
    written = tomllib.loads(text)
    assert written["source"] == "people.csv"
    assert written["mapping"]["score"] == "Interview Score"
    assert written["report"]["formats"] == ["html", "json"]
    assert "# worth of one score point" in text
    settings = config.read(tmp_path / "audit.toml")
    defaults = config.Config()
    assert settings.fit == defaults.fit
    assert settings.report == defaults.report
    again = auditkit("init", people)
    assert again.code == 2
    assert "--force" in again.err
    assert auditkit("init", people, "--force", "--map", "group=Gender", "--cost", 4).code == 0
    assert tomllib.loads((tmp_path / "audit.toml").read_text())["cost"] == 4.0
    assert auditkit("init", people, "-o", "deep/audit.toml").code == 2
    (tmp_path / "deep").mkdir()
    assert auditkit("init", people, "-o", "deep/audit.toml").code == 0
    assert tomllib.loads((tmp_path / "deep" / "audit.toml").read_text())["source"] == "../people.csv"
    same = auditkit("report", "--config", "audit.toml", "--json", "-c", "parity")
    assert same.code == 0


def test_fit_writes_an_instance_that_can_be_solved(auditkit: Any, people: Path, tmp_path: Path) -> None:
    done = auditkit("fit", people, "--config", "quick.toml", "-o", "instance.json")
    assert done.code == 0
    assert "107 candidates in 12 searches" in done.out
    text = (tmp_path / "instance.json").read_text()
    assert "QX1" not in text
    solved = auditkit("solve", "instance.json", "-c", 'parity:groups=["Female","Male"]')
    assert solved.code == 0
    printed = auditkit("fit", people, "--config", "quick.toml", "-q")
    assert json.loads(printed.out) == json.loads(text)


def test_fit_and_whatif_take_blind(auditkit: Any, people: Path) -> None:
    base = ("--config", "quick.toml", "-q", "--group-aware")
    seeing, blind = (json.loads(auditkit("fit", people, *base, *more).out) for more in ((), ("--blind",)))
    assert seeing != blind
    answers = [auditkit("whatif", people, *base, "-c", "parity", "--json", *more) for more in ((), ("--blind",))]
    assert [done.code for done in answers] == [0, 0]
    assert answers[0].out != answers[1].out


@pytest.mark.parametrize(("difference", "first"), [(True, "disparity"), (False, "price")])
def test_the_findings_are_printed_in_the_order_of_the_report(
    auditkit: Any, people: Path, difference: bool, first: str
) -> None:
    if difference:
        table = rows(searches=24)
        for row in table:
            row["Hired"] = "yes" if row["Hired"] == "yes" and row["Gender"] != "Female" else "no"
        save(people, table)
    done = auditkit("report", people, "--config", "quick.toml", "--format", "json")
    document = json.loads(people.with_name("people.audit.json").read_text())
    texts = [f["text"] for f in document["findings"] if f["kind"] != "notice"]
    printed = re.findall(r"^\d\. (.*)$", done.out, re.MULTILINE)
    assert printed == [text for text in texts if text in printed]
    assert len(printed) == min(view.MOST_FINDINGS, len(texts))
    assert document["findings"][0]["kind"] == first
    assert ("no-difference-found" in {f["code"] for f in document["findings"]}) is not difference
    assert ("\nNo difference between groups was found at any step." in done.out) is not difference
    bare = auditkit("report", people, "--config", "quick.toml", "--format", "json", "--map", "score=none")
    assert bare.out.count("No model of the scores") == 1


def test_every_command_has_help(auditkit: Any) -> None:
    listing = auditkit("--help")
    assert listing.code == 0
    order = [listing.out.index(f"\n  {name} ") for name in ("report", "check", "init", "fit", "solve", "verify")]
    assert order == sorted(order)
    for name in ("report", "check", "init", "fit"):
        assert auditkit(name, "--help").code == 0


def test_audit_toml_here_serves_where_nothing_is_named(auditkit: Any, people: Path, tmp_path: Path) -> None:
    nothing = auditkit("check")
    assert nothing.code == 2 and "write audit.toml with auditkit init" in nothing.err
    assert auditkit("init", people, "--capacity", "3").code == 0
    found = auditkit("check")
    assert found.code == 0 and found.err == "settings: audit.toml\n" and "people.csv: " in found.out
    (tmp_path / "audit.toml").write_text("capacity = -1\n")
    assert auditkit("check", people).code == 0  # the data is named: no file is looked for


def test_a_quiet_check_prints_only_what_must_be_fixed(auditkit: Any, people: Path) -> None:
    done = auditkit("check", people, "-q")
    assert (done.code, done.out, done.err) == (0, "", "")
    missing = auditkit("check", "nowhere.csv", "-q")
    assert missing.code == 2 and missing.out == "" and missing.err.startswith("error: nowhere.csv")
