"""Signatures that anyone can check with ssh-keygen and sha256sum, and what `verify --signer` makes of them."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from auditkit.errors import InputError
from auditkit.verification import signatures
from support.audit_helpers import rows, save

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen here")


def new_key(path: Path, comment: str) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path], check=True)
    return path


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name in ("auditor", "stranger"):
        new_key(folder / name, f"{name}@example.org")
    public = (folder / "auditor.pub").read_text()
    (folder / "allowed").write_text(f'auditor@example.org namespaces="auditkit" {public}')
    (folder / "elsewhere").write_text(f'auditor@example.org namespaces="git" {public}')
    return folder


@pytest.fixture
def report(tmp_path: Path) -> Path:
    for name in ("html", "json", "pdf", "summary.pdf"):
        (tmp_path / f"people.audit.{name}").write_text(f"the {name}")
    (tmp_path / "people.audit2.html").write_text("another report")
    return tmp_path / "people.audit.html"


def test_people_can_check_a_signature_without_auditkit(auditkit: Any, report: Path, keys: Path) -> None:
    run = auditkit("sign", report, "--key", keys / "auditor")
    assert run.code == 0
    assert run.out.splitlines() == [f"written: {report.parent}/people.audit.sha256{end}" for end in ("", ".sig")]
    sums = report.parent / "people.audit.sha256"
    names = [line.split("  ")[1] for line in sums.read_text().splitlines()]
    assert names == [f"people.audit.{end}" for end in ("html", "json", "pdf", "summary.pdf")]
    command = ["ssh-keygen", "-Y", "verify", "-f", keys / "allowed", "-I", "auditor@example.org", "-n", "auditkit"]
    done = subprocess.run([*command, "-s", f"{sums}.sig"], input=sums.read_bytes(), capture_output=True)
    assert done.returncode == 0, done.stderr
    subprocess.run(["sha256sum", "--strict", "-c", sums.name], cwd=report.parent, check=True, capture_output=True)


@pytest.mark.parametrize("signers", ["auditor.pub", "allowed"])
def test_a_recipient_without_data_checks_the_signature(auditkit: Any, report: Path, keys: Path, signers: str) -> None:
    auditkit("sign", report, "--key", keys / "auditor")
    before = {path: path.read_bytes() for path in report.parent.iterdir()}
    run = auditkit("verify", report, "--signer", keys / signers)
    assert run.code == 4
    assert "not checked: the numbers of the report: its data were not given" in run.out
    assert "people.audit.sha256 was signed by auditor" in run.out
    assert {path: path.read_bytes() for path in report.parent.iterdir()} == before
    (report.parent / "people.audit.pdf").unlink()
    run = auditkit("verify", report, "--signer", keys / signers)
    assert run.code == 4 and "people.audit.pdf, which was signed too, is not here" in run.out


@pytest.mark.parametrize("change", ["file", "list", "signature", "stranger", "namespace", "unlisted", "another list"])
def test_what_was_changed_is_found(auditkit: Any, report: Path, keys: Path, change: str) -> None:
    auditkit("sign", report, "--key", keys / "auditor")
    sums, claimed, signers = report.parent / "people.audit.sha256", report, keys / "allowed"
    if change == "file":
        (report.parent / "people.audit.json").write_text("other numbers")
    elif change == "list":
        report.write_text("another page")
        sums.write_text(
            "".join(f"{signatures.sha256_of(p)}  {p.name}\n" for p in signatures.files_of(sums.with_suffix("")))
        )
    elif change == "signature":
        auditkit("sign", report, "--key", keys / "stranger")
    elif change == "stranger":
        signers = keys / "stranger.pub"
    elif change == "namespace":
        signers = keys / "elsewhere"
    elif change == "unlisted":
        claimed = report.with_name("people.audit.xlsx")
        claimed.write_text("added later")
    else:
        shutil.copy(f"{sums}.sig", report.parent / "people.audit2.sha256.sig")
        claimed = report.with_name("people.audit2.html")
        (report.parent / "people.audit2.sha256").write_text(f"{signatures.sha256_of(claimed)}  {claimed.name}\n")
    run = auditkit("verify", claimed, "--signer", signers)
    assert run.code == 1, run.out
    assert "FAILED: " in run.out


def test_wrong_input_is_named(auditkit: Any, report: Path, keys: Path) -> None:
    assert "there is no signature of it" in auditkit("verify", report, "--signer", keys / "allowed").err
    assert "name the data" in auditkit("verify", report).err
    assert "there is no such key" in auditkit("sign", report, "--key", keys / "nothing").err
    assert "there are no files of this report" in auditkit("sign", "nothing.html", "--key", keys / "auditor").err
    (keys / "text").write_text("no key")
    run = auditkit("sign", report, "--key", keys / "text")
    assert run.code == 2 and "cannot sign: " in run.err
    auditkit("sign", report, "--key", keys / "auditor")
    for text in ("", f"{'0' * 64}  ../people.csv\n", "no list\n"):
        (report.parent / "people.audit.sha256").write_text(text)
        with pytest.raises(InputError, match="is not a list of files"):
            signatures.check_signature(report, keys / "allowed")


def test_no_ssh_keygen(auditkit: Any, report: Path, keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    run = auditkit("sign", report, "--key", keys / "auditor")
    assert run.code == 2 and "ssh-keygen is not installed" in run.err


def test_a_signed_report_against_its_data(auditkit: Any, tmp_path: Path, keys: Path) -> None:
    people = save(tmp_path / "people.csv", rows(searches=6, each=6), leave=("Interview Score",))
    assert auditkit("report", people).code == 0
    auditkit("sign", "people.audit.json", "--key", keys / "auditor")
    for name in ("people.audit.json", "people.audit.html"):
        run = auditkit("verify", name, people, "--signer", keys / "allowed", "--json")
        assert run.code == 0, run.out
        assert "was signed by auditor@example.org" in json.loads(run.out)["claims"][0]["claim"]


def test_every_scheduled_run_is_signed_and_private(auditkit: Any, tmp_path: Path, keys: Path) -> None:
    people = save(tmp_path / "people.csv", rows(searches=6, each=6), leave=("Interview Score",))
    settings = 'source = "people.csv"\n[report]\nformats = ["json", "html"]\nparts = "summary"\n'
    settings += f'[history]\nsigning_key = "{keys}/auditor"\n'
    (tmp_path / "audit.toml").write_text(settings)
    before = os.umask(0o022)
    try:
        assert auditkit("run", "audit.toml").code == 0
    finally:
        os.umask(before)
    folder = next((tmp_path / "audits").glob("2*/report.json")).parent
    assert {path.stat().st_mode & 0o077 for path in (folder, *folder.iterdir())} == {0}
    assert (tmp_path / "audits" / "history.sqlite").stat().st_mode & 0o077 == 0
    report = folder / "report.json"
    run = auditkit("verify", report, people, "--signer", keys / "allowed")
    assert run.code == 0, run.out
    assert "SHA256SUMS was signed by auditor@example.org" in run.out
    history = auditkit("history")
    assert history.code == 0 and "last link of the chain: " in history.out
    (folder / "audit.toml").write_text("changed")
    assert auditkit("verify", report, "--signer", keys / "allowed").code == 1
    (tmp_path / "audit.toml").write_text(settings.replace("auditor", "nothing"))
    run = auditkit("run", "audit.toml", "--force")
    assert run.code == 2 and "there is no such key" in run.err
    with closing(sqlite3.connect(tmp_path / "audits" / "history.sqlite")) as connection:
        connection.execute("UPDATE auditkit_groups SET selected = 0")
        connection.commit()
    broken = auditkit("history")
    assert broken.code == 1 and "the history is not as it was recorded at its beginning" in broken.err
