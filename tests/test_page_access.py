"""Who may ask the page of `auditkit open` for anything, and what becomes of uploads."""

from __future__ import annotations

import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from auditkit.config import Config
from auditkit.page import page_frame
from auditkit.page.access import Key
from auditkit.page.bench import TaskProgress
from auditkit.page.open_audits import OpenAudit, OpenAudits, safe_name
from auditkit.page.page_frame import policy_of
from auditkit.page.routes import application
from auditkit.page.worker import Pending, Worker
from auditkit.report.time_left import TimeEstimate
from support.audit_helpers import rows, save
from support.page_server import running
from support.pages import PATIENCE
from support.plugin_helpers import Ran

KEY = Key(4321)
HOME = "http://127.0.0.1:4321"

TEMPLATE = re.compile(r'"(page_\w+\.html)"')


@pytest.fixture
def audits(tmp_path: Path) -> Iterator[OpenAudits]:
    made = OpenAudits(tmp_path, Config())
    yield made
    made.stop()


@pytest.fixture
def stranger(audits: OpenAudits) -> TestClient:
    """A client without the token."""
    return TestClient(application(audits, KEY), base_url=HOME, follow_redirects=False)


@pytest.fixture
def client(audits: OpenAudits) -> TestClient:
    """A client that opened the printed address."""
    made = TestClient(application(audits, KEY), base_url=HOME)
    assert made.get(KEY.address).status_code == 200
    return made


EVERYWHERE = ["/", "/page.js", "/page.css", "/audits/x/reading", "/audits/x/report.html", "/nowhere", "/favicon.ico"]


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize(
    "query",
    ["", "?token=", "?token=wrong", f"?token={KEY.token[:-1]}", f"?token={KEY.token}x"],
    ids=["none", "empty", "wrong", "short", "long"],
)
def test_without_the_token_every_address_is_403(stranger: TestClient, place: str, query: str) -> None:
    answer = stranger.get(place + query)
    assert answer.status_code == 403
    assert KEY.token not in answer.text + str(answer.headers)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_no_method_is_open_to_strangers(stranger: TestClient, method: str) -> None:
    assert stranger.request(method, "/files").status_code == 403


def test_the_token_leaves_the_address_for_a_cookie_that_no_script_reads(stranger: TestClient) -> None:
    answer = stranger.get(KEY.address)
    assert answer.status_code == 303 and answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and KEY.cookie in cookie
    assert stranger.get("/").status_code == 200


def test_a_token_does_not_send_the_browser_to_another_site(stranger: TestClient) -> None:
    answer = stranger.get(f"{HOME}//evil.example/?token={KEY.token}")
    assert answer.headers["location"] == "/evil.example/"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:4321", "127.0.0.1", "127.0.0.1:4322", "127.0.0.1.evil.example:4321", ""]
)
def test_another_host_name_is_refused_even_with_the_token(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 403
    assert client.get(KEY.address, headers={"Host": host}).status_code == 403


def test_localhost_is_the_same_machine(stranger: TestClient) -> None:
    answer = stranger.get(f"/?token={KEY.token}", headers={"Host": "localhost:4321"})
    assert answer.status_code == 303


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1:4321", "http://127.0.0.1:9999", "http://localhost:4321"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_requests_of_other_pages_are_refused(client: TestClient, method: str, origin: str) -> None:
    answer = client.request(method, "/" if method == "GET" else "/sample", headers={"Origin": origin})
    assert answer.status_code == 403


def test_the_pages_own_forms_are_taken(client: TestClient) -> None:
    assert client.post("/sample", headers={"Origin": HOME}, follow_redirects=False).status_code == 303


def test_a_form_of_a_browser_that_hides_its_origin_is_refused(client: TestClient) -> None:
    assert client.post("/sample", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403


@pytest.mark.parametrize("place", ["/", "/page.js", "/nowhere", "/audits/none/reading"])
def test_every_answer_has_a_policy_without_inline_scripts(client: TestClient, place: str) -> None:
    answer = client.get(place)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self';" in policy and "unsafe" not in policy
    assert "frame-ancestors 'self'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["cache-control"] == "no-store"
    assert "<script>" not in answer.text and " style=" not in answer.text and " onclick" not in answer.text


def test_the_policy_of_a_report_names_its_own_script_and_no_other() -> None:
    policy = policy_of("<!doctype html><style>p{}</style><script>let a = 1;</script><script src='x.js'></script>")
    assert policy.count("sha256-") == 1 and "script-src 'sha256-" in policy and "default-src 'none'" in policy
    assert "script-src 'none'" in policy_of("<p>no script</p>")


# Uploads --------------------------------------------------------------------------------------------------------------


def upload(client: TestClient, name: str, content: bytes) -> httpx.Response:
    return client.post("/files", files={"file": (name, content)}, follow_redirects=False)


def test_an_upload_goes_into_a_private_folder_under_a_safe_name(client: TestClient, audits: OpenAudits) -> None:
    answer = upload(client, "../../../escape.csv", b"a,b\n1,2\n")
    assert answer.status_code == 303
    (audit,) = audits
    assert audit.data.parent.parent == audits.folder and audit.data.name == "escape.csv"
    assert audit.data.read_bytes() == b"a,b\n1,2\n"
    assert audit.data.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a\\b\\c.csv", "c.csv"),
        ("..", "export"),
        ("x" * 500 + ".csv", "x" * 100 + ".csv"),
        ("a;b`c$.csv", "a_b_c_.csv"),
    ],
)
def test_names_of_files_are_made_safe(given: str, kept: str) -> None:
    assert safe_name(given) == kept


def test_too_large_an_upload_is_answered_clearly(
    client: TestClient, audits: OpenAudits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_frame, "MOST_BYTES", 2_000_000)
    answer = upload(client, "large.csv", b"x" * 3_000_000)
    assert answer.status_code == 413
    assert "larger than the 2 MB" in answer.text and "auditkit open FILE" in answer.text
    assert not list(audits) and not list(audits.folder.iterdir())


@pytest.mark.parametrize("data", [{}, {"file": "text, not a file"}])
def test_a_form_without_a_file_says_so(client: TestClient, data: dict[str, str]) -> None:
    answer = client.post("/files", data=data)
    assert answer.status_code == 400 and "no file was chosen" in answer.text


def test_a_broken_form_is_no_defect(client: TestClient) -> None:
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = client.post("/files", content=b"--x\r\nnonsense", headers=kind)
    assert answer.status_code == 400 and "traceback" not in answer.text.lower()


@pytest.mark.parametrize("place", ["reading", "choose", "run", "report", "report.html", "progress", "download/html"])
def test_an_audit_that_is_not_open_is_404(client: TestClient, place: str) -> None:
    answer = client.get(f"/audits/none/{place}")
    assert answer.status_code == 404 and "nothing at this address" in answer.text


# The process ----------------------------------------------------------------------------------------------------------


def wait_for(answer: httpx.Client, place: str, words: str) -> str:
    """A page once it has these words."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        text = answer.get(place, follow_redirects=True).text
        if words in text:
            return text
        time.sleep(0.3)
    raise AssertionError(f"{place} never said {words!r}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind_however_it_ends(number: int, tmp_path: Path) -> None:
    data = save(tmp_path / "people.csv", rows(searches=6, each=6))
    with running(tmp_path) as server, httpx.Client(timeout=PATIENCE) as client:
        client.get(server.address, follow_redirects=True)
        client.post(f"{server.origin}/files", files={"file": ("people.csv", data.read_bytes())})
        (private,) = server.temporary.iterdir()
        assert private.stat().st_mode & 0o077 == 0 and list(private.rglob("people.csv"))
        assert server.end(number) == (0 if number != signal.SIGKILL else -9)
        end = time.monotonic() + PATIENCE  # of a killed one, the workers clear away
        while list(server.temporary.iterdir()) and time.monotonic() < end:
            time.sleep(0.1)
        assert not list(server.temporary.iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "temporary"]


def test_it_listens_on_loopback_only_and_a_second_one_takes_another_port(tmp_path: Path) -> None:
    with running(tmp_path) as first, running(tmp_path) as second:
        ports = [int(server.origin.rpartition(":")[2]) for server in (first, second)]
        assert ports[0] != ports[1]
        assert all(httpx.get(f"{server.origin}/", timeout=PATIENCE).status_code == 403 for server in (first, second))
        others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
        for host in others | {"127.0.0.2"}:
            with pytest.raises(OSError), socket.create_connection((str(host), ports[0]), timeout=2):
                pass
        # the token of one does not open the other
        token = first.address.partition("token=")[2]
        assert httpx.get(f"{second.origin}/?token={token}", timeout=PATIENCE).status_code == 403


def test_a_port_that_is_taken_is_one_clear_message(auditkit: Callable[..., Ran]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = auditkit("open", "--no-browser", "--port", taken.getsockname()[1])
    assert ran.code == 2 and "is taken" in ran.err and not ran.out


def test_a_file_that_is_not_there_is_one_clear_message(auditkit: Callable[..., Ran]) -> None:
    ran = auditkit("open", "nothing.csv", "--no-browser")
    assert ran.code == 2 and "nothing.csv: there is no such file" in ran.err and not ran.out


def test_a_named_file_is_read_where_it_is_and_a_missing_browser_is_no_error(tmp_path: Path) -> None:
    data = save(tmp_path / "people.csv", rows(searches=6, each=6))
    nowhere = {"PATH": "/nonexistent", "BROWSER": "no-such-browser", "DISPLAY": ""}
    with running(tmp_path, data, browser=True, environment=nowhere) as server:
        with httpx.Client(timeout=PATIENCE) as client:
            client.get(server.address, follow_redirects=True)
            text = wait_for(client, server.address, "Favourable outcome")
        assert "people.csv" in text and not list(server.temporary.rglob("people.csv"))
        assert server.end() == 0


def test_300_megabytes_are_refused_and_never_hang(tmp_path: Path) -> None:
    with running(tmp_path) as server, httpx.Client(timeout=PATIENCE) as client:
        client.get(server.address, follow_redirects=True)
        piece = b"1,2,3\n" * 1_000_000
        head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="large.csv"\r\n\r\n'

        def body() -> Iterator[bytes]:
            yield head
            for _ in range(50):
                yield piece
            yield b"\r\n--x--\r\n"

        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        answer = client.post(f"{server.origin}/files", content=body(), headers=kind)
        assert answer.status_code == 413 and "larger than the 250 MB" in answer.text
        assert client.get(f"{server.origin}/").status_code == 200


def test_every_template_of_the_page_exists_and_a_run_that_is_under_way_is_shown(audits: OpenAudits) -> None:
    frame = page_frame.PageFrame(audits)
    named = [
        name for path in Path(page_frame.__file__).parent.glob("*.py") for name in TEMPLATE.findall(path.read_text())
    ]
    assert len(set(named)) > 5
    for name in named:
        frame.templates.get_template(name)
    audit = OpenAudit("id", Path("people.csv"), audits.folder, audits.base, Worker(audits.folder))
    estimate = TimeEstimate(0.5, 0.2, 100.0, 200.0, 60.0)
    job = Pending(progress=TaskProgress("fitting priors", estimate=estimate, stages=("Reading", "Fitting"), at=1))
    text = bytes(frame.waiting(audit, job, "Making the report", "/then", cancel=True).body).decode()
    assert "about 5 min left" in text and 'aria-valuenow="50"' in text and "Cancel" in text
    job.heard -= 400
    assert job.left == "longer than estimated" and 0.69 < job.share < 0.7
