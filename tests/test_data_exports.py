"""Exports in the shapes of real systems, read without a flag: attributes, steps, selections and withdrawals."""

from __future__ import annotations

import pandas as pd
import pytest
from exports.systems import EXPORTS, Expected

from auditkit.data.firm_history import History
from auditkit.data.load import load
from auditkit.model.groups import UNKNOWN


@pytest.fixture(scope="module", params=EXPORTS)
def export(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Expected, History]:
    """An export, written and read once; do not change it."""
    expected = EXPORTS[request.param](tmp_path_factory.mktemp("export"))
    return expected, load(expected.path)


def test_attributes_and_segments(export: tuple[Expected, History]) -> None:
    expected, history = export
    assert dict(history.characteristics) == expected.attributes
    kinds = set(expected.attributes.values())
    assert len(history.crossings) == ({"sex", "race"} <= kinds)
    assert set(expected.segments) <= set(history.segments)
    assert not set(history.segments) & set(history.attributes)
    for name in history.attributes:
        groups = set(history.table[f"group:{name}"]) - {UNKNOWN}
        assert 2 <= len(groups) <= 4, (name, groups)


def test_steps_and_statuses(export: tuple[Expected, History]) -> None:
    expected, history = export
    table = history.table
    assert history.steps == expected.steps
    assert history.mapping.column("selected") == expected.selected
    assert len(table) == len(expected.people)
    statuses = {"hired": "selected", "withdrew": "withdrawn", "active": "pending", "rejected": "rejected"}
    assert table["status"].tolist() == [statuses[person.status] for person in expected.people]
    for k, name in enumerate(history.steps):
        for person, flag in zip(expected.people, table[f"step:{name}"], strict=True):
            reached = person.hired if k == len(history.steps) - 1 else person.reached > k
            unfinished = person.withdrew or person.active
            assert pd.isna(flag) if unfinished and not reached else bool(flag) == reached, (name, person)
    assert history.has("person") == expected.repeated
    if expected.repeated:
        assert table["person"].nunique() == len({person.person for person in expected.people})
    assert not len(history.problems.of("refuse"))


def test_the_planted_difference_is_at_its_step(export: tuple[Expected, History]) -> None:
    expected, history = export
    own = history.table[f"group:{expected.column}"]
    before = pd.Series(True, index=own.index)
    ratios = []
    for name in history.steps:
        flags = history.table[f"step:{name}"]
        base = before & flags.notna() & (own != UNKNOWN)
        mine, others = flags[base & (own == expected.group)], flags[base & (own != expected.group)]
        ratios.append(float(mine.mean()) / float(others.mean()))
        before = flags.fillna(False).astype(bool)
    assert min(range(len(ratios)), key=ratios.__getitem__) == expected.plant.step, ratios
    assert ratios[expected.plant.step] < 0.7
