"""Access to the page, and the headers of every response.

The page shows applicants' data to the person who runs the command, so three things are checked before any route:

- *Host* must be the address that the server listens on: another name that resolves to 127.0.0.1 (DNS rebinding) is
  refused.
- *Origin*, if the browser sends one, must be the page's own: other sites can't post forms here.
- *The token*, 256 random bits: in the address once, then in a cookie that scripts can't read and other sites can't
  send. All ports of a host share cookies, so the name of ours includes the port.

Everything else gets a 403 with one sentence.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN = "token"
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
    ),
    # not no-referrer: browsers then send "Origin: null" with every form
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
}
"""Headers of every response; a route may set its own policy."""


@dataclass(frozen=True)
class Key:
    """The address of a running page and its secret."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def address(self) -> str:
        """The address to open in a browser, token included."""
        return f"http://127.0.0.1:{self.port}/?{TOKEN}={self.token}"

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost"))

    @property
    def cookie(self) -> str:
        return f"auditkit-{self.port}"

    def fits(self, given: str | None) -> bool:
        return given is not None and secrets.compare_digest(given.encode(), self.token.encode())


class Guard:
    """Let a request through if host, origin and token are right; set the headers of the response."""

    def __init__(self, app: ASGIApp, key: Key) -> None:
        self.app, self.key = app, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # no websockets

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self._answer(scope)
        await (self.app if answer is None else answer)(scope, receive, with_headers)

    def _answer(self, scope: Scope) -> Response | None:
        """The response that replaces the page; None lets the request through."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self.key.hosts:
            return _refused("This page answers only at the address that auditkit printed.")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return _refused("This page takes no requests from other pages.")
        if headers.get("sec-fetch-site", "none") in ("cross-site", "same-site") and scope["method"] != "GET":
            return _refused("This page takes no requests from other pages.")
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if self.key.fits(dict(query).get(TOKEN)):
            if scope["method"] not in ("GET", "HEAD"):
                return None
            rest = urlencode([(name, value) for name, value in query if name != TOKEN])
            # "//host" would be another site's address
            path = "/" + scope["path"].lstrip("/\\")
            moved = RedirectResponse(path + (f"?{rest}" if rest else ""), status_code=303)
            moved.set_cookie(self.key.cookie, self.key.token, httponly=True, samesite="strict", path="/")
            return moved
        if self.key.fits(cookie_parser(headers.get("cookie", "")).get(self.key.cookie)):
            return None
        return _refused("The address lacks its token. Open the whole address that auditkit printed.")


def _refused(why: str) -> Response:
    return PlainTextResponse(why + "\n", status_code=403)
