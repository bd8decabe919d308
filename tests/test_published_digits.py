"""What comes from scores has the digits that are known of it, in every number of the document."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.compare import Comparison, Constrained, PriceInterval, Standing
from auditkit.compare.comparison import TOGETHER, AwarePrice
from auditkit.config import Config
from auditkit.pipeline import audit
from auditkit.report.published_digits import of_people, published, rounded
from support.audit_helpers import plugins, rows

NUMBERS = st.floats(-1e9, 1e9, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-9)
WIDTHS = st.floats(1e-6, 1e6)


def digits(x: float) -> int:
    """Significant digits of a number."""
    return len(Decimal(repr(x)).normalize().as_tuple().digits)


@given(NUMBERS)
def test_three_digits_without_an_interval(x: float) -> None:
    found = rounded(x)
    assert digits(found) <= 3 and abs(found - x) <= 0.0051 * abs(x) and rounded(found) == found


@given(NUMBERS, WIDTHS)
def test_an_interval_leaves_two_digits_of_its_width(x: float, width: float) -> None:
    found, unit = rounded(x, (0.0, width)), 10.0 ** (math.floor(math.log10(width)) - 1)
    assert (found == 0) == (x == 0) and (found < 0) == (x < 0)
    assert abs(found - x) <= 0.51 * unit + 1e-8 * abs(x)
    if abs(x) > 10 * unit:
        assert abs(found / unit - round(found / unit)) < 1e-6 * max(1.0, abs(found / unit))


@given(st.lists(NUMBERS, min_size=2, max_size=2), WIDTHS)
def test_the_order_of_a_number_and_the_ends_of_its_interval_stays(pair: list[float], width: float) -> None:
    low, high = (rounded(x, (0.0, width)) for x in sorted(pair))
    assert low <= high


@given(st.floats(0.5, 1.5), st.floats(0.001, 1.0))
def test_no_number_is_moved_onto_a_line_or_across_one(x: float, width: float) -> None:
    found = rounded(x, (0.0, width), (1.0, 0.8))
    for line in (1.0, 0.8):
        if abs(x - line) > 1e-6:
            assert (found > line) == (x > line) and (found < line) == (x < line)


def test_halves_are_rounded_alike_whatever_noise_they_have() -> None:
    assert {rounded(x) for x in (1.125, 1.125 * (1 - 1e-12), 1.125 * (1 + 1e-12))} == {1.13}
    assert {rounded(x, (0.0, 99.0)) for x in (12.5, 12.5 - 1e-11)} == {13.0}


@given(st.floats(0.001, 1e6))
def test_numbers_of_people_keep_one_decimal_and_counts_stay(x: float) -> None:
    assert abs(of_people(x) - x) <= 0.0501 and of_people(float(round(x))) == float(round(x))


def test_all_constraints_together_never_seem_cheaper_than_one_of_them() -> None:
    standing = Standing(100.0, None, {}, 0.0)
    wide, narrow = ((0.0, high) for high in (11000.0, 4000.0))

    def entry(label: str, loss: float, interval: tuple[float, float]) -> Constrained:
        share = (1 - interval[1] / 20_000, 1.0)
        price = PriceInterval(0.95, share, interval, True, (), 12, ())
        return Constrained(label, (), (), ratio=1 - loss / 20_000, loss=loss, interval=price)

    entries = (entry("parity by Gender", 1149.0, narrow), entry("impact-ratio", 0.0, narrow))
    together = entry(TOGETHER, 1151.0, wide)
    assert rounded(1151.0, wide) < rounded(1149.0, narrow)  # what a reader would stumble over
    comparison = Comparison(standing, standing, (*entries, together), True, 1.0)
    one, other, both = published(comparison, (0.8,)).constrained
    assert (one.loss, other.loss, both.loss) == (1100.0, 0.0, 1100.0)
    assert both.ratio is not None and one.ratio is not None and both.ratio <= one.ratio
    without = published(Comparison(standing, standing, entries, True, 1.0), (0.8,)).constrained
    assert [each.loss for each in without] == [1100.0, 0.0]


@given(st.floats(1e-6, 0.5))
def test_a_small_price_is_not_rounded_as_what_is_kept(given_up: float) -> None:
    """A kept share of 0.99949 to three digits would say twice the price: 0.10 % instead of 0.05 %."""
    standing = Standing(100.0, None, {}, 0.0)
    bound = AwarePrice(18_600.0, 18_600.0 * (1 - given_up), 0.0, 1 - given_up, 18_600.0 * given_up)
    entry = Constrained("parity", (), (), ratio=1 - given_up, loss=18_600.0 * given_up, group_aware=bound)
    found = published(Comparison(standing, standing, (entry,), True, 1.0), (0.8,)).constrained[0]
    assert found.group_aware is not None and found.group_aware.given_up is not None and found.ratio is not None
    assert found.group_aware.given_up == pytest.approx(given_up, rel=0.005)
    assert 1 - found.ratio == pytest.approx(given_up, rel=0.005)


GIVEN = ("level", "value", "factor", "target", "ratio", "parameters", "settings", "edges", "probabilities", "rate")
MODEL = ("firm", "unconstrained", "constrained", "frontier", "sensitivity", "alternatives", "revealed", "scores", "fit")


def numbers(part: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float]]:
    if isinstance(part, dict):
        for key, value in part.items():
            yield from numbers(value, (*path, key))
    elif isinstance(part, list):
        for value in part:
            yield from numbers(value, path)
    elif isinstance(part, float):
        yield path, part


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    config = Config().over(report__replicates=20, fit__points=8)
    found: dict[str, Any] = audit(pd.DataFrame(rows(searches=12, each=14)), config, plugins()).to_json()
    return found


def test_every_number_of_the_model_has_few_digits(made: dict[str, Any]) -> None:
    found = [(path, x) for part in MODEL for path, x in numbers(made[part], (part,))]
    assert len(found) > 300
    long = [(path, x) for path, x in found if digits(x) > 6 and not {*GIVEN} & {*path}]
    assert not long
    utilities = [x for path, x in found if path[-1].endswith("utility") and path[0] != "alternatives"]
    assert len(utilities) > 10 and all(digits(x) <= 5 for x in utilities)
    assert all(entry["policies"] is None and entry["mixture"] is None for entry in made["constrained"])


def test_a_price_has_the_digits_of_its_interval(made: dict[str, Any]) -> None:
    for entry in made["constrained"]:
        price = entry["price_of_fairness"]
        low, high = price["interval"]["loss"]
        assert low <= price["loss"] <= high
        assert high == low or digits(high) <= 2 + max(0, math.ceil(math.log10(abs(high) / (high - low))))
