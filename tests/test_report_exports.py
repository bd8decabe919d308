"""Reports of exports in the shapes of real systems, without a flag: the planted difference is found, at its step."""

from __future__ import annotations

from pathlib import Path

import pytest
from exports.systems import EXPORTS

import auditkit
from auditkit.config import Config
from support import ROOT

QUICK = Config().over(report__replicates=0, report__what_if=False, report__alternatives=False)


@pytest.mark.parametrize("name", EXPORTS)
def test_the_report_finds_what_is_planted(name: str, tmp_path: Path) -> None:
    expected = EXPORTS[name](tmp_path)
    audit = auditkit.audit(expected.path, config=QUICK)
    found = [item for item in audit.to_json()["findings"] if item["kind"] == "disparity"]
    first = found[0]
    assert (first["attribute"], first["group"]) == (expected.column, expected.group), first["text"]
    step = expected.steps[expected.plant.step]
    assert step in {item["step"] for item in found if item["code"].startswith("difference-")}
    earlier = set(expected.steps[: expected.plant.step])
    differences = [item for item in found if item["code"].startswith("difference-")]
    assert not earlier & {item["step"] for item in differences if item["attribute"] == expected.column}


def test_of_the_two_samples_one_hides_a_difference_and_one_does_not() -> None:
    planted = auditkit.audit(ROOT / "sample_data" / "hiring.csv", config=QUICK).to_json()["findings"]
    assert planted[0]["kind"] == "disparity" and planted[0]["code"] == "difference-cumulative"
    assert (planted[0]["attribute"], planted[0]["group"], planted[0]["step"]) == ("Gender", "Female", "Interviewed")
    level = auditkit.audit(ROOT / "sample_data" / "hiring-level.csv", config=QUICK).to_json()["findings"]
    assert not [item for item in level if item["code"].startswith("difference-")]
