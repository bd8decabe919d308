"""The checker for constraint authors: shipped constraints pass it, flawed ones do not."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import pytest

from auditkit.constraints import (
    Description,
    GroupConstraint,
    Other,
    OutcomeConstraint,
    RateGap,
    Words,
    bind,
)
from auditkit.constraints.base import Constraint, Row
from auditkit.errors import PluginError
from auditkit.model.layout import Layout
from auditkit.testing import check_constraint, random_instances
from support.constraints import KINDS, Own, build

SHIPPED = [
    "parity",
    "parity:basis=count,tolerance=0.1",
    "parity:on=onsite",
    "quota:group=X,share=0.6",
    "quota:group=Y,share=0.6,on=inspection,min_value=4",
    "impact-ratio:minimum=0.9",
    "budget:limit=0.5,expense=km",
    "floor:minimum=0.1,on=inspection",
    'affine:terms=[{"search":"s0","candidate":"c0","state":"selected"}],sense=<=,bound=0.3',
    "nash-welfare:minimum=0.2",
    "nash-welfare:minimum=0.05,level=individual,on=inspection",
    "entropy:maximum=0.1",
    "holder-mean:q=-1,minimum=0.2",
    "holder-mean:q=2,maximum=0.8",
    "holder-mean:q=-inf,minimum=0.1,basis=rate",
    "atkinson:maximum=0.1",
    "atkinson:maximum=0.2,aversion=0.5,level=individual,on=inspection",
    "divergence:maximum=0.05",
    "budget:limit=0.5,expense=cost,on=total",
]


def test_every_shipped_constraint_is_checked() -> None:
    assert {text.partition(":")[0] for text in SHIPPED} == set(KINDS)


@pytest.mark.parametrize("text", SHIPPED)
def test_shipped_constraints_keep_their_promises(text: str) -> None:
    assert check_constraint(build(text)) >= 2


class Flawed(Constraint):
    type: ClassVar[str] = "flawed"
    flaw: str

    def rows(self, layout: Layout) -> list[Row]:
        states, ones = np.arange(3), np.ones(3)
        if self.flaw == "random":
            ones = np.random.default_rng().random(3)
        return {
            "nothing": [],
            "shape": [Row("flawed", states, np.ones(2), "<=", 1.0)],
            "order": [Row("flawed", states[::-1], ones, "<=", 1.0)],
            "outside": [Row("flawed", states + layout.states, ones, "<=", 1.0)],
            "nan": [Row("flawed", states, ones * np.nan, "<=", 1.0)],
            "random": [Row("flawed", states, ones, "<=", 1.0)],
            "weights": [Row.of("flawed", np.ones(len(layout.candidate_ids)), "<=", 1.0)],
        }[self.flaw]


@pytest.mark.parametrize("flaw", ["nothing", "shape", "order", "outside", "nan", "random", "weights"])
def test_flawed_rows_are_found(flaw: str) -> None:
    with pytest.raises(AssertionError, match="flawed"):
        check_constraint(Flawed(flaw=flaw))


def test_mistakes_in_the_class_are_found() -> None:
    class Empty(Constraint):
        type: ClassVar[str] = "empty"

    class Narrower(OutcomeConstraint):
        type: ClassVar[str] = "narrower"
        on: Literal["selection"] = "selection"
        min_value: float = 0.0

        def rows(self, layout: Layout) -> list[Row]:
            return [Row.of("few", self.outcome(layout), "<=", 0.5)]

    with pytest.raises(AssertionError, match="the constraint 'empty' has neither rows nor measures: define"):
        check_constraint(Empty())

    class Spaced(Narrower):
        type: ClassVar[str] = "their own"

    class Key(Constraint):
        type: str = "key"  # type: ignore[misc]

    with pytest.raises(AssertionError, match="Spaced has the type 'their own': write type: ClassVar"):
        check_constraint(Spaced())
    with pytest.raises(AssertionError, match="Key has no type: write type: ClassVar"):
        check_constraint(Key())
    with pytest.raises(PluginError, match="has neither rows nor measures"):
        bind([Empty()], next(random_instances()).layout)
    assert check_constraint(Narrower()) == 8


@pytest.mark.parametrize(
    ("flaw", "message"), [("convexity", "not concave"), ("gradient", "gradient"), ("nan", "finite")]
)
def test_flawed_measures_are_found(flaw: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_constraint(Own(flaw=flaw))


def test_names_that_no_instance_has_are_said() -> None:
    with pytest.raises(AssertionError, match="pass instances that have"):
        check_constraint(build("quota:group=Q,share=0.1"))
    named = random_instances(groups=("Q", "R"))
    assert check_constraint(build("quota:group=Q,share=0.1"), named) == 8


class Speaking(GroupConstraint):
    """Says of itself what `lie` makes of it."""

    type: ClassVar[str] = "speaking"
    lie: str

    def rows(self, layout: Layout) -> list[Row]:
        meaning = {
            "basis": Other(basis="rate"),
            "group": RateGap(on="selection", by="group", group="Z", against="Y", maximum=0.5, basis="count"),
            "meaning": "at most so many",
        }.get(self.lie, Other(basis="count"))
        bound = 0.5 * len(layout.candidate_ids)
        return [Row.of("lies", self.outcome(layout), "<=", bound, meaning=meaning)]  # type: ignore[arg-type]

    def describe(self, words: Words) -> Description:
        if self.lie == "phrase":
            return self.described("few\nselected")
        return "few selected" if self.lie == "words" else self.described("few selected")  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        ("basis", "its coefficients are not those of a rate"),
        ("group", "no candidate is in {'Z'}, which its meaning names"),
        ("meaning", "its meaning is 'at most so many'"),
        ("phrase", "the phrase of its description is"),
        ("words", "must return a Description"),
        ("nothing", "doesn't honour `within`: use self.scopes"),
    ],
)
def test_a_constraint_that_misstates_itself_is_found(lie: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_constraint(Speaking(lie=lie))
