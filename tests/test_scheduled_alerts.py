"""Alerts by webhook and mail against servers that fail, hang, redirect and refuse; secrets that stay secret."""

from __future__ import annotations

import email
import logging
import re
import shutil
import ssl
from collections.abc import Iterator, Mapping
from email import policy
from pathlib import Path
from typing import Any, ClassVar

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

from auditkit import plugin_manager
from auditkit.errors import InputError
from auditkit.report.thresholds import Crossing
from auditkit.scheduled.alert import Alert, AlertError, Channel, make, persistently
from auditkit.scheduled.run_history import opened
from support.scheduled_example import Scheduled
from support.scheduled_servers import PATIENCE, Handler, certificate, drip, hang, wait_for_requests, web

ALERT = Alert(
    id="0" * 32,
    kind="crossed",
    audit="hiring",
    created="2026-11-16T06:00:00Z",
    title="auditkit: 1 finding in hiring",
    text="Impact ratio of being selected, Schwarz & <Weiß>: 0.325",
    run=7,
    folder="/audits/2026-11-16T060000Z",
    crossings=(Crossing("impact_ratio.min", "Impact ratio", 0.325, 0.8, "words"),),
)
LINES = "[thresholds]\nimpact_ratio.min = 0.8\n"
QUICK = {"timeout": PATIENCE, "retries": 2, "pause": 0.01}


@pytest.fixture(scope="module")
def kinds() -> dict[str, type[Channel]]:
    return plugin_manager.load().alerts


def post(kinds: dict[str, type[Channel]], url: str, **options: Any) -> None:
    channel = make(kinds, {"type": "webhook", "url_env": "AUDIT_WEBHOOK", **QUICK, **options})
    channel.send(ALERT, {"AUDIT_WEBHOOK": url})


# Webhook --------------------------------------------------------------------------------------------------------------


def test_a_webhook_gets_the_alert_as_json(kinds: dict[str, type[Channel]]) -> None:
    with web(lambda handler, _: handler.reply(200)) as server:
        post(kinds, f"{server.url}/hooks/T0/s3cret?x=1")
    ((path, headers, body),) = server.requests
    assert path == "/hooks/T0/s3cret?x=1"
    assert headers["Content-Type"] == "application/json"
    assert headers["Idempotency-Key"] == ALERT.id
    assert headers["User-Agent"].startswith("auditkit/")
    assert body == {
        "format": "auditkit-alert/1",
        "id": ALERT.id,
        "kind": "crossed",
        "audit": "hiring",
        "created": "2026-11-16T06:00:00Z",
        "title": "auditkit: 1 finding in hiring",
        "text": ALERT.text,
        "run": 7,
        "folder": "/audits/2026-11-16T060000Z",
        "crossings": [
            {"threshold": "impact_ratio.min", "subject": "Impact ratio", "value": 0.325, "bound": 0.8, "words": "words"}
        ],
    }


@pytest.mark.parametrize("code", [500, 503, 429, 408])
def test_a_server_that_fails_is_tried_again(kinds: dict[str, type[Channel]], code: int) -> None:
    with web(lambda handler, number: handler.reply(code if number < 3 else 204, Retry_After="0")) as server:
        post(kinds, server.url)
    assert len(server.requests) == 3
    assert len({headers["Idempotency-Key"] for _, headers, _ in server.requests}) == 1


def test_a_server_that_keeps_failing_is_given_up(kinds: dict[str, type[Channel]]) -> None:
    with (
        web(lambda handler, _: handler.reply(502)) as server,
        pytest.raises(AlertError, match=r"^answers 502, after 3 tries$"),
    ):
        post(kinds, server.url)
    assert len(server.requests) == 3


@pytest.mark.parametrize("code", [400, 401, 404, 410])
def test_a_refusal_is_not_tried_again(kinds: dict[str, type[Channel]], code: int) -> None:
    with (
        web(lambda handler, _: handler.reply(code)) as server,
        pytest.raises(AlertError, match=f"^answers {code}$"),
    ):
        post(kinds, server.url)
    assert len(server.requests) == 1


@pytest.mark.parametrize("answer", [hang, drip])
def test_a_server_that_hangs_or_drips_is_left(kinds: dict[str, type[Channel]], answer: Any) -> None:
    with web(answer) as server:  # neither answer ever ends
        with pytest.raises(AlertError, match=r"no response within 0.3 s, after 2 tries"):
            post(kinds, server.url, timeout=0.3, retries=1)
        wait_for_requests(server, 2)
    assert len(server.requests) == 2


def test_nobody_listens(kinds: dict[str, type[Channel]]) -> None:
    with web(hang) as server:
        url = server.url
    with pytest.raises(AlertError, match="cannot be reached"):
        post(kinds, f"{url}/s3cret", retries=0)


def test_a_redirection_on_the_same_host_is_followed(kinds: dict[str, type[Channel]]) -> None:
    def answer(handler: Handler, number: int) -> None:
        handler.reply(*((307,) if number == 1 else (200,)), **({"Location": "/new"} if number == 1 else {}))

    with web(answer) as server:
        post(kinds, f"{server.url}/old")
    assert [path for path, _, _ in server.requests] == ["/old", "/new"]
    assert server.requests[1][2]["format"] == "auditkit-alert/1"  # still a POST with its body


def test_a_redirection_to_another_host_is_not_followed(kinds: dict[str, type[Channel]]) -> None:
    with web(lambda handler, _: handler.reply(200)) as elsewhere:
        for target in (
            elsewhere.url,
            elsewhere.url.replace("127.0.0.1", "localhost"),
            "https://example.org/",
            "//h:x/",
        ):
            with (
                web(lambda handler, _, to=target: handler.reply(308, Location=to)) as server,  # type: ignore[misc]
                pytest.raises(AlertError, match="another host, which is not followed"),
            ):
                post(kinds, server.url)
            assert len(server.requests) == 1
        assert elsewhere.requests == []


@pytest.mark.parametrize("code", [301, 302, 303])
def test_a_redirection_that_would_lose_the_body_is_not_followed(kinds: dict[str, type[Channel]], code: int) -> None:
    with (
        web(lambda handler, _: handler.reply(code, Location="/new")) as server,
        pytest.raises(AlertError, match="has moved; set AUDIT_WEBHOOK"),
    ):
        post(kinds, server.url)
    assert len(server.requests) == 1


def test_a_redirection_in_a_circle_ends(kinds: dict[str, type[Channel]]) -> None:
    with (
        web(lambda handler, _: handler.reply(307, Location="/again")) as server,
        pytest.raises(AlertError, match="redirects more than 3 times"),
    ):
        post(kinds, server.url)
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://example.org/s3cret", "without TLS"),
        ("file:///etc/passwd", "no address that begins with https://"),
        ("hooks.example.org/s3cret", "no address"),
        ("https://", "no address"),
        ("https://h:s3cret/", "no address"),
        ("https://host/a b/s3cret", "no address"),
    ],
)
def test_addresses_that_are_none(kinds: dict[str, type[Channel]], url: str, message: str) -> None:
    with pytest.raises(AlertError, match=message) as caught:
        post(kinds, url)
    assert "s3cret" not in str(caught.value)


def test_pauses_grow_and_have_an_end() -> None:
    pauses: list[float] = []

    def fail(after: float | None = None) -> None:
        raise AlertError("no", retry=True, after=after)

    with pytest.raises(AlertError):
        persistently(fail, 7, 1, pauses.append)
    assert pauses == [1, 2, 4, 8, 16, 30, 30]
    pauses.clear()
    with pytest.raises(AlertError):
        persistently(lambda: fail(3600), 1, 1, pauses.append)
    assert pauses == [30]


# Mail -----------------------------------------------------------------------------------------------------------------


class Post:
    """Keeps what it is given; refuses some."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.refusals = {"nobody@example.org": "550 no such person"}
        self.answers: list[str] = []

    async def handle_RCPT(self, _: Any, __: Any, envelope: Any, address: str, ___: Any) -> str:
        if address in self.refusals:
            return self.refusals[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _: Any, session: Any, envelope: Any) -> str:
        if self.answers:
            return self.answers.pop(0)
        self.messages.append((envelope.mail_from, envelope.rcpt_tos, envelope.content, session.ssl is not None))
        return "250 OK"


def authenticator(_: Any, __: Any, ___: Any, ____: Any, data: Any) -> AuthResult:
    good = isinstance(data, LoginPassword) and (data.login, data.password) == (b"audit", b"p4ss-w0rd")
    return AuthResult(success=good, handled=False)


class Anywhere(Controller):
    """On whatever port is free."""

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


class Secured(Anywhere):
    """STARTTLS, and a login only after it."""

    def __init__(self, handler: Post, context: ssl.SSLContext | None) -> None:
        self.context = context
        super().__init__(handler, hostname="127.0.0.1", port=0)

    def factory(self) -> SMTP:
        if self.context is None:
            return SMTP(self.handler)
        return SMTP(
            self.handler,
            tls_context=self.context,
            require_starttls=True,
            auth_required=True,
            authenticator=authenticator,
        )


@pytest.fixture(scope="module")
def trusted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl here to make a certificate")
    cert, key = certificate(tmp_path_factory.mktemp("certificate"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return cert, context


@pytest.fixture
def office() -> Post:
    return Post()


@pytest.fixture
def secured(office: Post, trusted: tuple[Path, ssl.SSLContext]) -> Iterator[Secured]:
    logging.getLogger("mail.log").setLevel(logging.CRITICAL)
    controller = Secured(office, trusted[1])
    controller.start()
    yield controller
    controller.stop()


def mail(kinds: dict[str, type[Channel]], port: int, **options: Any) -> None:
    keys = {
        "type": "mail",
        "host": "localhost",
        "port": port,
        "from": "audit@example.org",
        "to": ["board@example.org", "hr@example.org"],
        "username_env": "MAIL_USER",
        "password_env": "MAIL_PASSWORD",
        "timeout": PATIENCE,
        "retries": 2,
        "pause": 0.01,
        **options,
    }
    channel = make(kinds, {key: value for key, value in keys.items() if value is not None})
    channel.send(ALERT, {"MAIL_USER": "audit", "MAIL_PASSWORD": options.pop("password", "p4ss-w0rd")})


def test_mail_by_starttls_with_a_login(
    kinds: dict[str, type[Channel]], secured: Secured, office: Post, trusted: tuple[Path, ssl.SSLContext]
) -> None:
    office.answers = ["451 try later"]
    mail(kinds, secured.port, ca_file=str(trusted[0]))
    ((sender, receivers, content, encrypted),) = office.messages
    assert encrypted and sender == "audit@example.org"
    assert receivers == ["board@example.org", "hr@example.org"]
    message = email.message_from_bytes(content, policy=policy.default)
    assert message["Subject"] == ALERT.title
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Date"].startswith("Mon, 16 Nov 2026 06:00:00")
    assert "Schwarz & <Weiß>: 0.325" in message.get_content()


def test_a_certificate_that_nobody_vouches_for_is_refused(
    kinds: dict[str, type[Channel]], secured: Secured, office: Post
) -> None:
    with pytest.raises(AlertError, match="the certificate of localhost is not valid"):
        mail(kinds, secured.port)
    assert office.messages == []


def test_a_wrong_password_is_not_repeated(
    kinds: dict[str, type[Channel]], secured: Secured, trusted: tuple[Path, ssl.SSLContext]
) -> None:
    channel = make(
        kinds,
        {
            **{"type": "mail", "host": "localhost", "port": secured.port, "from": "a@b.org", "to": ["c@d.org"]},
            **{"username_env": "U", "password_env": "P", "ca_file": str(trusted[0]), "timeout": PATIENCE},
        },
    )
    with pytest.raises(AlertError, match=r"rejects the login \(535\)$") as caught:
        channel.send(ALERT, {"U": "audit", "P": "wrong-p4ss"})
    assert "wrong-p4ss" not in str(caught.value)


def test_receivers_that_are_refused_are_counted(
    kinds: dict[str, type[Channel]], secured: Secured, office: Post, trusted: tuple[Path, ssl.SSLContext]
) -> None:
    with pytest.raises(AlertError, match="refuses 1 of 2 recipients; the others have it"):
        mail(kinds, secured.port, ca_file=str(trusted[0]), to=["hr@example.org", "nobody@example.org"])
    assert len(office.messages) == 1
    with pytest.raises(AlertError, match=r"refuses every recipient \(550\)"):
        mail(kinds, secured.port, ca_file=str(trusted[0]), to=["nobody@example.org"])


def test_a_server_without_tls_gets_nothing(kinds: dict[str, type[Channel]], office: Post) -> None:
    controller = Secured(office, None)
    controller.start()
    try:
        with pytest.raises(AlertError, match="offers no TLS or no login"):
            mail(kinds, controller.port)
        assert office.messages == []
        mail(kinds, controller.port, security="none", username_env=None, password_env=None)
        assert len(office.messages) == 1  # on this machine, by request, without a password
    finally:
        controller.stop()


def test_mail_by_tls_from_the_first_byte(
    kinds: dict[str, type[Channel]], office: Post, trusted: tuple[Path, ssl.SSLContext]
) -> None:
    controller = Anywhere(office, hostname="127.0.0.1", port=0, ssl_context=trusted[1])
    controller.start()
    try:
        mail(kinds, controller.port, security="tls", ca_file=str(trusted[0]), username_env=None, password_env=None)
        assert len(office.messages) == 1
    finally:
        controller.stop()


def test_no_mail_server(kinds: dict[str, type[Channel]]) -> None:
    with web(hang) as server:
        port = server.server_port
        with pytest.raises(AlertError, match=r"did not take the message within 0.3 s, after 2 tries"):
            mail(kinds, port, timeout=0.3, retries=1)
    with pytest.raises(AlertError, match=r"cannot be reached \(.*\), after 3 tries"):
        mail(kinds, port)


# The tables -----------------------------------------------------------------------------------------------------------

GOOD_MAIL = {"type": "mail", "host": "localhost", "from": "a@b.org", "to": ["c@d.org"]}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"type": "webhook", "url": "https://h/hunter2"}, "did you mean 'url_env'?"),
        ({"type": "webhook", "url_env": "https://h/hunter2"}, "url_env: is not the name of an environment variable"),
        ({"type": "webhook"}, "'webhook' needs the key 'url_env'"),
        ({"type": "webhok"}, "there is no such alert channel (did you mean 'webhook'?)"),
        ({}, "an alert needs a type (one of: mail, webhook)"),
        ({"type": "webhook", "url_env": "X", "on": ["sometimes"]}, "on[0]: Input should be"),
        ({"type": "webhook", "url_env": "X", "timeout": 0}, "timeout: Input should be greater than 0"),
        ({**GOOD_MAIL, "password": "hunter2"}, "did you mean 'password_env'?"),
        ({**GOOD_MAIL, "password_env": "P"}, "belong together"),
        ({**GOOD_MAIL, "security": "none", "host": "mail.example.org"}, "for a server on this machine"),
        ({**GOOD_MAIL, "to": []}, "to: Tuple should have at least 1 item"),
        ({**GOOD_MAIL, "to": ["x\nBcc: hunter2@x.org"]}, "to[0]: String should match pattern"),
        ({**GOOD_MAIL, "sender": "a@b.org"}, "'mail' has no key 'sender'"),
    ],
)
def test_wrong_tables_are_named_without_their_values(
    kinds: dict[str, type[Channel]], keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        make(kinds, keys)
    assert "hunter2" not in str(caught.value)


def test_wrong_tables_are_all_reported_with_their_places(tmp_path: Path, kinds: dict[str, type[Channel]]) -> None:
    audit = Scheduled(tmp_path, '[[alerts]]\ntype = "webhok"\n[[alerts]]\ntype = "webhook"\n')
    with pytest.raises(InputError) as caught:
        audit.settings.channels(kinds)
    assert [bool(re.search(rf"audit\.toml: alerts\[{i}\]\.", str(p))) for i, p in enumerate(caught.value.problems)] == [
        True
    ] * 2


# In a run -------------------------------------------------------------------------------------------------------------


class Ear(Channel):
    """A channel of the test's own, as a plugin would bring one."""

    type: ClassVar[str] = "ear"
    token_env: str = "EAR_TOKEN"
    heard: ClassVar[list[Alert]] = []
    fault: ClassVar[Exception | None] = None

    def send(self, alert: Alert, secrets: Mapping[str, str]) -> None:
        if self.fault is not None:
            raise self.fault
        assert secrets == {"EAR_TOKEN": "t0ken-of-the-ear"}
        self.heard.append(alert)


@pytest.fixture
def listening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scheduled:
    audit = Scheduled(tmp_path / "hiring", LINES)
    audit.environ["EAR_TOKEN"] = "t0ken-of-the-ear"
    monkeypatch.setattr(Ear, "heard", [])
    return audit


def test_it_speaks_only_when_a_line_is_crossed(listening: Scheduled) -> None:
    listening.fake.write({"Black": (300, 27), "White": (700, 64)})
    assert not listening.run((Ear(),)).finding and Ear.heard == []
    listening.fake.write({"Black": (300, 9), "White": (700, 64)})
    done = listening.run((Ear(),))
    (alert,) = Ear.heard
    assert alert.kind == "crossed" and alert.run == done.run.id
    assert alert.title == "auditkit: 1 finding in hiring"
    assert "Black against White: 0.328" in alert.text and str(listening.folder / done.run.folder) in alert.text
    listening.run((Ear(),))
    assert len(Ear.heard) == 1  # nothing changed, and it has been told


def test_who_was_not_reached_is_told_at_the_next_run(listening: Scheduled, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Ear, "fault", AlertError("the ear is deaf"))
        first = listening.run((Ear(),))
    assert first.finding and [a.delivered for a in first.alerts] == [False]
    assert listening.run((Ear(),)).run.status == "unchanged"
    assert len(Ear.heard) == 1
    listening.run((Ear(),))
    assert len(Ear.heard) == 1


def test_always_and_never(listening: Scheduled) -> None:
    listening.fake.write({"Black": (300, 27), "White": (700, 64)})
    listening.run((Ear(on=("always",)),))
    listening.run((Ear(on=("always",)),))
    assert [alert.kind for alert in Ear.heard] == ["done", "done"]
    listening.fake.write({"Black": (300, 9), "White": (700, 64)})
    listening.run((Ear(on=("failed",)),))
    assert len(Ear.heard) == 2


def test_a_run_that_fails_is_told_without_a_word_of_the_data(
    listening: Scheduled, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> Any:
        raise InputError("row 17, column name: 'Ada Lovelace' is no number")

    monkeypatch.setattr(listening.fake, "produce", broken)
    with pytest.raises(InputError):
        listening.run((Ear(),))
    (alert,) = Ear.heard
    assert alert.kind == "failed" and "1 problem with the data" in alert.text
    assert "Ada" not in str(alert.document())
    with pytest.raises(InputError):
        listening.run((Ear(on=("crossed",)),))
    assert len(Ear.heard) == 1


def test_an_undelivered_alert_is_a_finding_of_its_own(listening: Scheduled, monkeypatch: pytest.MonkeyPatch) -> None:
    listening.fake.write({"Black": (300, 27), "White": (700, 64)})
    monkeypatch.setattr(Ear, "fault", RuntimeError("boom with t0ken-of-the-ear inside\nand more"))
    done = listening.run((Ear(on=("always",)),))
    assert not done.run.crossings and done.finding
    assert done.alerts[0].detail.endswith(": RuntimeError: boom with [EAR_TOKEN] inside")


def test_a_variable_that_is_not_set_stops_before_anything_is_touched(listening: Scheduled) -> None:
    listening.environ.clear()
    with pytest.raises(InputError, match=r"alerts\[0\]: the environment variable EAR_TOKEN is not set"):
        listening.run((Ear(),))
    assert not listening.folder.exists() and listening.fake.computed == 0


def test_secrets_appear_nowhere(
    tmp_path: Path,
    kinds: dict[str, type[Channel]],
    secured: Secured,
    office: Post,
    trusted: tuple[Path, ssl.SSLContext],
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    toml = f"""{LINES}
    [[alerts]]
    type = "webhook"
    url_env = "AUDIT_WEBHOOK"
    timeout = {PATIENCE}
    retries = 1
    pause = 0.01

    [[alerts]]
    type = "mail"
    host = "localhost"
    port = {secured.port}
    from = "audit@example.org"
    to = ["board@example.org"]
    username_env = "MAIL_USER"
    password_env = "MAIL_PASSWORD"
    ca_file = "{trusted[0]}"
    retries = 0
    """
    audit = Scheduled(tmp_path / "hiring", toml)
    with web(lambda handler, number: handler.reply(200 if number == 1 else 500)) as server:
        good = {"AUDIT_WEBHOOK": f"{server.url}/T0/s3cret-path", "MAIL_USER": "audit", "MAIL_PASSWORD": "p4ss-w0rd"}
        audit.environ = good
        channels = audit.settings.channels(kinds)
        done = [audit.run(channels)]
        assert [a.delivered for a in done[0].alerts] == [True, True]
        audit.environ = {**good, "MAIL_PASSWORD": "wr0ng-p4ss"}
        done.append(audit.run(channels, force=True))
        assert [a.delivered for a in done[1].alerts] == [False, False]
        audit.environ = {**good, "AUDIT_WEBHOOK": "http://example.org/s3cret-path"}
        done.append(audit.run(channels, force=True))
    with opened(audit.settings.database({})) as store:
        told = str(store.runs(audit.settings.name))
    written = b"".join(p.read_bytes() for p in audit.path.parent.rglob("*") if p.is_file())
    captured = capfd.readouterr()
    everything = f"{done} {told} {audit.said} {caplog.text} {captured} {channels!r}" + written.decode("latin-1")
    everything += str([body for _, _, body in server.requests]) + str([m[2] for m in office.messages])
    for secret in ("s3cret-path", "p4ss-w0rd", "wr0ng-p4ss"):
        assert secret not in everything
    assert "AUDIT_WEBHOOK" in everything  # the names are there


def test_the_hook_is_specified_used_and_listed() -> None:
    loaded = plugin_manager.load()
    assert set(loaded.alerts) >= {"webhook", "mail"}
    assert loaded.origins["alert", "mail"].module == "auditkit.plugins.mail"
    assert not loaded.warnings
