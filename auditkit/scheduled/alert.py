"""Alert channels: they tell people about an audit that crossed a line.

A plugin subclasses `Channel`, gives it a `type`, and returns it from the hook `auditkit_alerts`; users write it as

    [[alerts]]
    type = "webhook"
    url_env = "AUDIT_WEBHOOK"

Secrets are never in a file: a field whose name ends in `_env` holds the *name* of an environment variable, and `send`
gets the values. An alert holds figures of groups and constraints, nothing about a candidate.
"""

from __future__ import annotations

import ipaddress
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from auditkit.errors import InputError, Problem, nearest, validated
from auditkit.text import printable, printable_lines

if TYPE_CHECKING:
    from auditkit.report.thresholds import Crossing

FORMAT = "auditkit-alert/1"
LONGEST_PAUSE = 30.0
"""In seconds; a server that asks for a longer wait is retried after this."""

T = TypeVar("T")


class AlertError(Exception):
    """An alert that couldn't be delivered. `retry`: another try may help, `after` this many seconds if known."""

    def __init__(self, reason: str, *, retry: bool = False, after: float | None = None) -> None:
        super().__init__(reason)
        self.retry, self.after = retry, after


@dataclass(frozen=True)
class Alert:
    """The contents of an alert, with all invisible characters escaped.

    `id` is the same for every try, so that a receiver can drop duplicates.
    """

    id: str
    kind: Literal["crossed", "failed", "done"]
    audit: str
    created: str
    title: str
    text: str
    run: int | None = None
    folder: str | None = None
    crossings: tuple[Crossing, ...] = ()

    def __post_init__(self) -> None:
        for name in ("audit", "created", "title", "folder"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, printable(value))
        object.__setattr__(self, "text", printable_lines(self.text))
        object.__setattr__(self, "crossings", tuple(one.printable for one in self.crossings))

    def document(self) -> dict[str, object]:
        return {"format": FORMAT, **asdict(self)}


def _variable(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(
            "is not the name of an environment variable; write the name here and keep the value out of the file"
        )
    return name


Variable = Annotated[str, AfterValidator(_variable)]
"""The name of an environment variable that holds a secret."""


class Channel(BaseModel, ABC):
    """One way to tell people. The fields are the keys of its `[[alerts]]` table."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    type: ClassVar[str]
    """The name that users write."""

    on: tuple[Literal["crossed", "failed", "always"], ...] = Field(
        default=("crossed", "failed"),
        description="when to alert: a threshold was crossed, a run failed, or after every run",
    )

    @abstractmethod
    def send(self, alert: Alert, secrets: Mapping[str, str]) -> None:
        """Deliver, or raise AlertError. `secrets` has the value of every variable that a field `*_env` names."""

    def wants(self, alert: Alert) -> bool:
        return alert.kind in self.on or "always" in self.on

    def variables(self) -> list[str]:
        values = [getattr(self, name) for name in type(self).model_fields if name.endswith("_env")]
        return [value for value in values if value is not None]


def make(types: Mapping[str, type[Channel]], keys: Mapping[str, object]) -> Channel:
    """A channel from its keys, including `type`. No message repeats a value: it may be a secret in the wrong place."""
    given = dict(keys)
    name = given.pop("type", None)
    if not isinstance(name, str):
        raise InputError(Problem("type", "an alert needs a type", f"one of: {', '.join(sorted(types))}"))
    if name not in types:
        raise InputError(Problem("type", "there is no such alert channel", nearest(name, types)))
    return validated(types[name], given, name, quote=False)


def within(seconds: float, call: Callable[[], T]) -> T:
    """The result of `call`, or TimeoutError: socket timeouts limit neither name resolution nor a slow drip."""
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError
    return results[0]


def persistently(
    call: Callable[[], None], retries: int, pause: float, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Try, and retry if that may help, after `pause`, twice that, and so on."""
    for attempt in range(retries + 1):
        try:
            return call()
        except AlertError as error:
            if not error.retry or attempt == retries:
                tries = f", after {attempt + 1} tries" if attempt else ""
                raise AlertError(f"{error}{tries}") from None
            sleep(min(LONGEST_PAUSE, pause * 2**attempt if error.after is None else error.after))


def redact(text: str, secrets: Mapping[str, str]) -> str:
    """The text with each secret replaced by the name of its variable, longest first."""
    for name, value in sorted(secrets.items(), key=lambda pair: -len(pair[1])):
        if value:
            text = text.replace(value, f"[{name}]")
    return text


def is_here(host: str) -> bool:
    """Whether a host is this machine, so that nothing leaves it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
