"""What a session keeps, and for how long."""

from __future__ import annotations

import gc
from collections.abc import Callable

from auditkit.model.session import Session, current, kept


class Owner: ...


def counted() -> tuple[list[int], Callable[[int], object]]:
    asked: list[int] = []

    @kept(most=2)
    def answer(number: int) -> object:
        asked.append(number)
        return object()

    return asked, answer


def test_what_depends_on_arguments_alone_is_shared_by_all_sessions() -> None:
    asked, answer = counted()
    first = answer(1)
    with Session():
        assert answer(1) is first
        second = answer(2)
    assert answer(2) is second and asked == [1, 2]
    answer(3)
    assert answer(1) is not first, "only the last two are kept"


def test_what_belongs_to_an_owner_ends_with_it_and_with_the_session() -> None:
    owner, made = Owner(), []

    def make() -> int:
        made.append(1)
        return len(made)

    with Session():
        assert current().get(owner, "number", make) == current().get(owner, "number", make) == 1
        with Session():
            assert current().get(owner, "number", make) == 2
        assert current().latest(owner, "number", make) == current().latest(owner, "number", make) == 3
        assert current().latest(Owner(), "number", make) == 4
        assert current().latest(owner, "number", make) == 5
        del owner
        gc.collect()
        assert not current()._kept
