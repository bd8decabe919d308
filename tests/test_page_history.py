"""Past audits on the page: findings with their responses, differences, evidence files and the files of runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from auditkit.config import Config
from auditkit.page.access import Key
from auditkit.page.open_audits import OpenAudits
from auditkit.page.routes import application
from auditkit.scheduled.audit_history import AuditHistory
from support.scheduled_example import ATTRIBUTE, Scheduled

KEY = Key(4322)
FINDING = {
    "kind": "disparity",
    "code": "difference-cumulative",
    "text": "Black applicants were hired <less> often.",
    "attribute": ATTRIBUTE,
    "group": "Black",
    "step": "Hired",
}
SUBJECT = f"{ATTRIBUTE} · Black · Hired"
ANSWER = {"which": SUBJECT, "decision": "change", "owner": "A. Smith", "due": "2027-01-31", "text": "New <test>."}


@pytest.fixture
def audit(tmp_path: Path) -> Scheduled:
    made = Scheduled(tmp_path / "firm")
    made.fake.findings = [FINDING]
    made.run()
    made.fake.write({"Black": (305, 25), "White": (704, 64)})
    made.run()
    return made


@pytest.fixture
def client(audit: Scheduled, tmp_path: Path) -> Iterator[TestClient]:
    (tmp_path / "private").mkdir()
    audits = OpenAudits(tmp_path / "private", Config())
    made = TestClient(application(audits, KEY, AuditHistory(audit.path)), base_url="http://127.0.0.1:4322")
    assert made.get(KEY.address).status_code == 200
    yield made
    audits.stop()


def test_runs_findings_and_trends_are_shown(client: TestClient) -> None:
    page = client.get("/history").text
    assert SUBJECT in page and "1 finding of the last run is open" in page
    assert "hired &lt;less&gt; often" in page
    trends = client.get("/history/trends.html")
    assert trends.status_code == 200 and "<svg" in trends.text and "Run 2" in trends.text
    assert "script-src 'sha256-" in trends.headers["content-security-policy"]


def test_a_response_is_recorded_once_and_shown(client: TestClient) -> None:
    answer = client.post("/history/respond", data=ANSWER, follow_redirects=False)
    assert answer.status_code == 303
    page = client.get("/history").text
    assert "under way" in page and "New &lt;test&gt;." in page and "A. Smith" in page


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"owner": ""}, "name who is responsible"), ({"which": "Nobody"}, "there is no such finding")],
)
def test_a_response_that_lacks_something_is_refused(client: TestClient, changes: dict[str, str], words: str) -> None:
    answer = client.post("/history/respond", data={**ANSWER, **changes})
    assert answer.status_code == 422 and words in answer.text and "A. Smith," not in answer.text


def test_two_audits_are_compared(client: TestClient) -> None:
    page = client.get("/history", params={"first": "1", "second": "2"}).text
    assert f"{ATTRIBUTE}" in page and "impact ratio" in page and "0.325" in page and "0.902" in page
    missing = client.get("/history", params={"first": "1", "second": "99"})
    assert "there is no such run" in missing.text


def test_the_evidence_file_is_a_download(client: TestClient) -> None:
    answer = client.get("/history/record", params={"from": "2026-01-01", "to": "2027-12-31"})
    assert answer.status_code == 200 and "attachment" in answer.headers["content-disposition"]
    assert "Not examined" in answer.text
    wrong = client.get("/history/record", params={"from": "x", "to": "2027-12-31"})
    assert wrong.status_code == 422 and "is not a date" in wrong.text


def test_only_files_that_runs_recorded_are_served(client: TestClient, audit: Scheduled) -> None:
    folder = audit.dated()[0]
    assert client.get(f"/history/{folder}/report.json").status_code == 200
    (audit.folder / folder / "other.txt").write_text("not recorded")
    for place in (f"{folder}/other.txt", f"{folder}/..%2f..%2faudit.toml", "..%2f/audit.toml", "x/report.json"):
        assert client.get(f"/history/{place}").status_code == 404, place


def test_without_a_history_the_page_says_how_to_begin_one(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text("")
    for history in (None, AuditHistory(tmp_path / "audit.toml")):
        audits = OpenAudits(tmp_path, Config())
        client = TestClient(application(audits, KEY, history), base_url="http://127.0.0.1:4322")
        page = client.get(f"/history?token={KEY.token}").text
        assert "auditkit run audit.toml" in page and "There is no history to show" in page
        audits.stop()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.toml"]  # looking creates nothing
