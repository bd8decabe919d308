"""All caches in one place: the session owns what is worked out once and reused.

Policies evaluated on a layout, its unconstrained visits, the types of its candidates, and the last answers about an
instance are kept as long as their owner lives (policies that refer to it by their rows keep it alive). `with
Session():` gives a block of code its own session, which frees everything at its end: for instances that are asked only
once. Everything else shares the session of the process, as does everywhere what depends on no instance (`kept`).
Answers don't depend on what is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast
from weakref import ReferenceType, WeakKeyDictionary, ref

if TYPE_CHECKING:
    from auditkit.model.layout import Floats

T = TypeVar("T")
P = ParamSpec("P")


class Session:
    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[object, dict[str, object]] = WeakKeyDictionary()
        self._latest: dict[str, tuple[ReferenceType[Any], object]] = {}
        self._answers: dict[object, Callable[..., object]] = {}
        self._tokens: list[Token[Session]] = []
        self.last_visits: Floats | None = None
        """The most recent ones: an audit asks each outcome for a few sums in a row."""

    def get(self, owner: object, name: str, make: Callable[[], T]) -> T:
        """What is kept with an owner under a name, made if it isn't there."""
        own = self._kept.setdefault(owner, {})
        if name not in own:
            own[name] = make()
        return cast(T, own[name])

    def latest(self, owner: object, name: str, make: Callable[[], T]) -> T:
        """The same for owners that cannot be hashed, such as tables: only that of the last owner is kept."""
        held = self._latest.get(name)
        if held is None or held[0]() is not owner:
            held = self._latest[name] = ref(owner), make()
        return cast(T, held[1])

    def answers(self, function: Callable[..., T], most: int | None) -> Callable[..., T]:
        """A function that remembers its last `most` answers."""
        found = self._answers.get(function)
        if found is None:
            found = self._answers.setdefault(function, lru_cache(most)(function))
        return cast("Callable[..., T]", found)

    def __enter__(self) -> Session:
        self._answers = current()._answers
        self._tokens.append(_CURRENT.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _CURRENT.reset(self._tokens.pop())


_CURRENT: ContextVar[Session] = ContextVar("session", default=Session())  # noqa: B039  shared on purpose


def current() -> Session:
    return _CURRENT.get()


def kept(most: int | None = None) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """For functions whose answer depends on their arguments alone: the session keeps the last `most` answers."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def asked(*args: P.args, **kwargs: P.kwargs) -> T:
            return _CURRENT.get().answers(function, most)(*args, **kwargs)

        return asked

    return decorate
