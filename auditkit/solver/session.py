"""What is worked out once and used again, in one place: the session owns every cache of the solver.

Policies that were evaluated on a layout, its unconstrained visits, the types of its candidates, and the last answers of
an instance are kept as long as their owner lives, which policies that name it by their rows prolong. `with Session():`
gives a block of code one of its own, whose end frees what was kept: for instances that are asked once. Everything else
shares the session of the process. Answers do not depend on what is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

from auditkit.model.layout import Floats

T = TypeVar("T")


class Session:
    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[object, dict[str, object]] = WeakKeyDictionary()
        self._tokens: list[Token[Session]] = []
        self.last_visits: Floats | None = None
        """Those that were asked for last: an audit asks each outcome for a few sums in a row."""

    def get(self, owner: object, name: str, make: Callable[[], T]) -> T:
        """What is kept with an owner under a name, made if it is not there."""
        own = self._kept.setdefault(owner, {})
        if name not in own:
            own[name] = make()
        return cast(T, own[name])

    def __enter__(self) -> Session:
        self._tokens.append(_CURRENT.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _CURRENT.reset(self._tokens.pop())


_CURRENT: ContextVar[Session] = ContextVar("session", default=Session())  # noqa: B039  shared on purpose


def current() -> Session:
    return _CURRENT.get()
