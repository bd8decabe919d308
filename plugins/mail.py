"""The alert channel `mail`: one plain message by SMTP, over TLS.

`starttls` (port 587) refuses a server that doesn't offer TLS; `tls` (port 465) uses it from the first byte.
Certificates are checked. Without TLS (`none`) it only talks to a server on this machine, and never with a password.
"""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Mapping
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints, model_validator

from auditkit import hookimpl
from auditkit.scheduled.alert import Alert, AlertError, Channel, Variable, is_here, persistently, within

PORTS = {"starttls": 587, "tls": 465, "none": 25}
Address = Annotated[str, StringConstraints(pattern=r"^[^\s@<>,;\"]+@[^\s@<>,;\"]+$")]


class Mail(Channel):
    type: ClassVar[str] = "mail"
    host: str = Field(min_length=1, description="name of the SMTP server")
    port: int | None = Field(None, ge=1, le=65535, description="default: 587 with starttls, 465 with tls")
    security: Literal["starttls", "tls", "none"] = Field("starttls", description="how the connection is secured")
    sender: Address = Field(alias="from", description="address of the sender")
    to: tuple[Address, ...] = Field(min_length=1, description="addresses of the recipients")
    username_env: Variable | None = Field(None, description="name of the environment variable with the user's name")
    password_env: Variable | None = Field(None, description="name of the environment variable with the password")
    ca_file: Path | None = Field(None, description="certificates to trust instead of the system's")
    timeout: float = Field(20.0, gt=0, le=300, description="seconds for one try in total")
    retries: int = Field(3, ge=0, le=10, description="further tries after the first")
    pause: float = Field(2.0, ge=0, le=60, description="seconds before the second try; doubles each time")

    @model_validator(mode="after")
    def _consistent(self) -> Mail:
        if (self.username_env is None) != (self.password_env is None):
            raise ValueError("username_env and password_env belong together")
        if self.security == "none" and (self.password_env is not None or not is_here(self.host)):
            raise ValueError('security = "none" is for a server on this machine, without a password')
        return self

    def send(self, alert: Alert, secrets: Mapping[str, str]) -> None:
        message = self.message(alert)

        def attempt() -> None:
            try:
                within(self.timeout, lambda: self._deliver(message, secrets))
            except TimeoutError:
                raise AlertError(
                    f"{self.host} did not take the message within {self.timeout:g} s", retry=True
                ) from None
            except ssl.SSLCertVerificationError as error:
                raise AlertError(f"the certificate of {self.host} is not valid: {error.verify_message}") from None
            except smtplib.SMTPNotSupportedError:
                raise AlertError(f"{self.host} offers no TLS or no login") from None
            except smtplib.SMTPAuthenticationError as error:
                raise AlertError(f"{self.host} rejects the login ({error.smtp_code})") from None
            except smtplib.SMTPRecipientsRefused as error:
                codes = [code for code, _ in error.recipients.values()]
                raise AlertError(f"{self.host} refuses every recipient ({codes[0]})", retry=max(codes) < 500) from None
            except smtplib.SMTPResponseException as error:
                raise AlertError(f"{self.host} answers {error.smtp_code}", retry=error.smtp_code < 500) from None
            except (OSError, smtplib.SMTPException) as error:
                reason = getattr(error, "strerror", None) or type(error).__name__
                raise AlertError(f"{self.host} cannot be reached ({reason})", retry=True) from None

        persistently(attempt, self.retries, self.pause)

    def message(self, alert: Alert) -> EmailMessage:
        message = EmailMessage()
        message["Subject"] = " ".join(alert.title.split())
        message["From"] = self.sender
        message["To"] = ", ".join(self.to)
        message["Date"] = format_datetime(datetime.fromisoformat(alert.created))
        message["Message-ID"] = make_msgid(alert.id, self.sender.partition("@")[2])
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(alert.text + "\n", charset="utf-8")
        return message

    def _deliver(self, message: EmailMessage, secrets: Mapping[str, str]) -> None:
        port = self.port or PORTS[self.security]
        trust = ssl.create_default_context(cafile=self.ca_file)
        if self.security == "tls":
            server: smtplib.SMTP = smtplib.SMTP_SSL(self.host, port, timeout=self.timeout, context=trust)
        else:
            server = smtplib.SMTP(self.host, port, timeout=self.timeout)
        with server:
            if self.security == "starttls":
                server.starttls(context=trust)
            if self.username_env is not None and self.password_env is not None:
                server.login(secrets[self.username_env], secrets[self.password_env])
            refused = server.send_message(message)
        if refused:
            raise AlertError(f"{self.host} refuses {len(refused)} of {len(self.to)} recipients; the others have it")


@hookimpl
def auditkit_alerts() -> list[type[Mail]]:
    return [Mail]
