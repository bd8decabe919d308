"""The alert channel `webhook`: POSTs a JSON document (`auditkit-alert/1`) to an address that is a secret.

Connection errors, timeouts, 408, 429 and 5xx are retried with growing pauses. A redirection is followed only if it
keeps the method (307, 308), scheme, host and port. The document has a key `text`, which chat systems show.
"""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import SplitResult, urljoin, urlsplit

from pydantic import Field

from auditkit import __version__, hookimpl
from auditkit.scheduled.alert import Alert, AlertError, Channel, Variable, is_here, persistently, within

MOST_HOPS = 3
TEMPORARY = {408, 425, 429, 500, 502, 503, 504}
KEEPS_METHOD = {307, 308}


class Webhook(Channel):
    type: ClassVar[str] = "webhook"
    url_env: Variable = Field(description="name of the environment variable that holds the address")
    timeout: float = Field(10.0, gt=0, le=300, description="seconds for one try in total")
    retries: int = Field(3, ge=0, le=10, description="further tries after the first")
    pause: float = Field(1.0, ge=0, le=60, description="seconds before the second try; doubles each time")
    allow_http: bool = Field(False, description="allow an address without TLS that is not on this machine")

    def send(self, alert: Alert, secrets: Mapping[str, str]) -> None:
        url = secrets[self.url_env].strip()
        parts = self._checked(url)
        body = json.dumps(alert.document(), ensure_ascii=True, allow_nan=False).encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"auditkit/{__version__}",
            "Idempotency-Key": alert.id,
        }

        def attempt() -> None:
            try:
                within(self.timeout, lambda: self._post(url, parts, body, headers))
            except TimeoutError:
                raise AlertError(f"no response within {self.timeout:g} s", retry=True) from None
            except ssl.SSLCertVerificationError as error:
                raise AlertError(f"its certificate is not valid: {error.verify_message}") from None
            except (OSError, http.client.HTTPException) as error:
                raise AlertError(f"cannot be reached ({_reason(error)})", retry=True) from None

        persistently(attempt, self.retries, self.pause)

    def _checked(self, url: str) -> SplitResult:
        try:
            parts = urlsplit(url)
            parts.port  # noqa: B018 - raises if it is not a number
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname or any(c.isspace() for c in url):
            raise AlertError(f"{self.url_env} holds no address that begins with https://")
        if parts.scheme == "http" and not (self.allow_http or is_here(parts.hostname)):
            raise AlertError(f"{self.url_env} is an address without TLS; use https, or set allow_http = true")
        return parts

    def _post(self, url: str, home: SplitResult, body: bytes, headers: dict[str, str]) -> None:
        opener = urllib.request.build_opener(_NoRedirect)
        for _ in range(MOST_HOPS + 1):
            request = urllib.request.Request(url, body, headers, method="POST")
            try:
                with opener.open(request, timeout=self.timeout):
                    return
            except urllib.error.HTTPError as answer:
                answer.close()
                code, moved = answer.code, answer.headers.get("Location")
                if code in KEEPS_METHOD and moved:
                    url = urljoin(url, moved)
                    if not _same_place(urlsplit(url), home):
                        raise AlertError(f"responds {code} with another host, which is not followed") from None
                    continue
                if 300 <= code < 400:
                    raise AlertError(f"responds {code}: it has moved; set {self.url_env} to the new address") from None
                after = _seconds(answer.headers.get("Retry-After"))
                raise AlertError(f"answers {code}", retry=code in TEMPORARY, after=after) from None
            except urllib.error.URLError as error:
                raise (error.reason if isinstance(error.reason, OSError) else OSError("no connection")) from None
        raise AlertError(f"redirects more than {MOST_HOPS} times")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _same_place(one: SplitResult, other: SplitResult) -> bool:
    def place(parts: SplitResult) -> tuple[str, str | None, int | None]:
        return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)

    try:
        return place(one) == place(other)
    except ValueError:
        return False


def _reason(error: Exception) -> str:
    """The cause, in the system's words, which cannot contain the address."""
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.strip().isdecimal() else None


@hookimpl
def auditkit_alerts() -> list[type[Webhook]]:
    return [Webhook]
