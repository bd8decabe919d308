"""The stages of an audit: in order, timed, each where it belongs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from auditkit import pipeline, plugin_manager
from auditkit.config import Config
from support.audit_helpers import rows, save

QUICK = Config().over(cost=1.0, fit={"points": 3}, report={"replicates": 0, "what_if": False})


@pytest.fixture
def unscored(tmp_path: Path) -> Path:
    return save(tmp_path / "unscored.csv", rows(searches=4, each=6), leave=("Interview Score",))


def watch_engine(monkeypatch: pytest.MonkeyPatch, told: list[str]) -> None:
    @contextmanager
    def running(*_: Any) -> Iterator[None]:
        told.append("engine on")
        yield
        told.append("engine off")

    monkeypatch.setattr(pipeline.start_engine, "running", running)


def test_stages_run_in_order_and_are_timed(few_people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    watch_engine(monkeypatch, told)

    def timed(stage: str, seconds: float) -> None:
        assert seconds >= 0
        told.append(f"{stage} done")

    pipeline.audit(few_people, QUICK, plugin_manager.shipped(), told.append, timed=timed)
    assert [text for text in told if text.endswith(" done")] == [f"{stage.name} done" for stage in pipeline.STAGES]
    order = ["reading the data", "fitting priors", "fit done", "engine on", "compare done", "report done", "engine off"]
    assert sorted(order, key=told.index) == order


def test_an_engine_is_not_started_where_there_is_nothing_to_solve(
    unscored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    watch_engine(monkeypatch, told)
    audit = pipeline.audit(unscored, QUICK, plugin_manager.shipped())
    assert audit.fitted is None and told == []


def test_what_an_audit_says_begins_with_its_phases(few_people: Path) -> None:
    said: list[str] = []
    settings = QUICK.over(report={**QUICK.report.model_dump(), "what_if": True})
    pipeline.audit(few_people, settings, plugin_manager.shipped(), said.append)
    phases = [phase for phase in pipeline.phases(settings) if phase not in pipeline.WRITING]
    assert phases[0] == "reading the data" and phases[-1] == "writing down the findings"
    met = [next((i for i, text in enumerate(said) if text.startswith(phase)), None) for phase in phases]
    silent = [phase for phase, place in zip(phases, met, strict=True) if place is None]
    assert silent == ["alternatives"]  # no difference is found here, so there is nothing to find alternatives to
    found = [place for place in met if place is not None]
    assert found == sorted(found)


def test_phases_are_those_of_the_settings() -> None:
    assert {"frontier of", "drawing the report"} <= set(pipeline.phases(Config()))
    short = Config().over(report={"what_if": False, "formats": ["json"]})
    assert not {"frontier of", "drawing the report", "setting the PDF"} & set(pipeline.phases(short))
    assert "setting the PDF" in pipeline.phases(Config().over(report={"formats": ["pdf"]}))


def test_verbose_prints_the_time_of_each_stage(auditkit: Any, unscored: Path) -> None:
    ran = auditkit("report", unscored, "-v")
    stages = [line.split()[0] for line in ran.err.splitlines() if line.endswith(" s")]
    assert ran.code == 0 and stages == [*(stage.name for stage in pipeline.STAGES), "write"]
    assert " s" not in auditkit("report", unscored).err
