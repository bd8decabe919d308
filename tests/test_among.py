"""Some of the searches of an instance, without laying them out anew: as if they had been all there ever were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.model.documents import instance_from_document
from auditkit.model.groups import UNKNOWN
from auditkit.model.instance import Instance
from auditkit.model.layout import Layout
from auditkit.model.limits import Limit
from auditkit.model.membership import Share
from auditkit.model.search import Box, Search
from support.occupancy import Document
from support.tiny import chain_instances


def random_instance(seed: int) -> Instance:
    """Boxes with attributes, texts, limits, unknown groups and groups that few searches have."""
    rng = np.random.default_rng(seed)
    uncertain, searches = bool(rng.integers(2)), []
    for s in range(int(rng.integers(2, 6))):
        made = []
        for i in range(int(rng.integers(1, 5))):
            values, probs = np.sort(rng.integers(0, 9, 2) + rng.random(2)), np.array([0.25, 0.75])
            given = np.round(rng.uniform(0.1, 0.9, 2), 2)
            shares = {g: Share(float(probs @ own), own) for g, own in (("F", given), ("M", 1 - given))}
            groups = {"Race": str(rng.choice(["a", "b", "c", UNKNOWN], p=[0.6, 0.2, 0.1, 0.1]))}
            groups |= {} if uncertain else {"Gender": str(rng.choice(["F", "M"]))}
            carried: dict[str, float | str] = {"age": float(rng.integers(20, 60))} if rng.integers(2) else {}
            carried |= {"team": str(rng.choice(["x", "y"]))} if rng.integers(2) else {}
            known = {n: None if g == UNKNOWN else g for n, g in groups.items()}
            members = {"Gender": shares} if uncertain else {}
            made.append(Box(f"c{i}", known, float(rng.uniform(0, 1)), values, probs, None, carried, members))
        limits = [Limit("first", 1, candidates=["c0"])] if rng.integers(2) else []
        searches.append(Search(f"s{s}", min(int(rng.integers(0, 3)), len(made)), made, limits))
    return Instance(tuple(searches))


def alike(one: Layout, two: Layout) -> None:
    assert (one.search_ids, tuple(one.candidate_ids)) == (two.search_ids, tuple(two.candidate_ids))
    assert one.groups == two.groups
    for name in ("capacity", "search_ptr", "candidate_ptr", "candidate_search", "candidate_group", "reward"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
    for name in ("true_reward", "selecting", "edge_prob", "barred"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
    assert one.protected.keys() == two.protected.keys() and one.texts.keys() == two.texts.keys()
    for name, part in {**one.protected, **one.texts}.items():
        other = two.partition(name)
        assert part.names == other.names and np.array_equal(part.codes, other.codes)
        assert part.sizes == pytest.approx(other.sizes)
        for g in range(len(part.names)):
            assert np.array_equal(one.share(part, g), two.share(other, g))
    assert one.attributes.keys() == two.attributes.keys()
    for name, numbers in one.attributes.items():
        assert np.array_equal(numbers, two.attributes[name], equal_nan=True)
    assert (one.limits is None) == (two.limits is None)
    if one.limits is not None and two.limits is not None:
        assert one.limits.labels == two.limits.labels
        for name in ("ptr", "capacity", "parent", "innermost"):
            assert np.array_equal(getattr(one.limits, name), getattr(two.limits, name))


@given(st.integers(0, 10_000), st.data())
def test_some_searches_are_what_an_instance_of_them_alone_is(seed: int, data: st.DataObject) -> None:
    instance = random_instance(seed)
    some = data.draw(st.lists(st.integers(0, len(instance.searches) - 1), min_size=1, unique=True))
    found, wanted = instance.among(np.array(some)), Instance(tuple(instance.searches[s] for s in some))
    assert [search.id for search in found.searches] == [search.id for search in wanted.searches]
    alike(found.layout, wanted.layout)


@given(chain_instances(max_searches=3), st.data())
def test_also_of_chains(document: Document, data: st.DataObject) -> None:
    instance = instance_from_document(document)
    some = data.draw(st.lists(st.integers(0, len(instance.searches) - 1), min_size=1, unique=True))
    found, wanted = instance.among(np.array(some)), Instance(tuple(instance.searches[s] for s in some))
    alike(found.layout, wanted.layout)
