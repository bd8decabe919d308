"""The sliders of the page give the optimum that a fresh solve gives, and say when demands cannot hold together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar
from unittest import mock

import pytest
from starlette.datastructures import FormData

from auditkit import pipeline, plugin_manager, text
from auditkit.config import Config
from auditkit.constraints import Budget, Slider
from auditkit.data import source
from auditkit.data.privacy import protect
from auditkit.errors import InputError
from auditkit.page.bench import Bench
from auditkit.page.explore import LOWEST, SCALES, Explore, SliderRanges
from auditkit.page.explorer import Explorer
from auditkit.page.page_frame import PageFrame
from auditkit.page.report_step import asked_of
from auditkit.page.tasks import AskSliders
from auditkit.solver import solve
from support.audit_helpers import rows, save

CONFIG = Config()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A worker's bench after a report."""
    people = save(tmp_path_factory.mktemp("data") / "people.csv", rows(searches=10, each=9))
    made = Bench(plugins=plugin_manager.load([]))
    shown = protect(source.read(people, CONFIG, made.plugins), CONFIG.report.suppress_below)
    fits = {1.0: pipeline.fit_protected(shown, CONFIG.over(value_scale=1.0), made.plugins)}
    made.explorer = Explorer(shown, CONFIG, made.plugins, 1.0, fits)
    return made


def fresh(bench: Bench, value_scale: float, *specs: dict[str, object]) -> float | None:
    """The optimum from nothing: another fit, and a solve without any known columns."""
    explorer = bench.explorer
    assert isinstance(explorer, Explorer)
    fitted = pipeline.fit_protected(explorer.shown, CONFIG.over(value_scale=value_scale), bench.plugins)
    solution = solve(fitted.instance, pipeline.constraints_of(list(specs), bench.plugins) or [])
    return None if solution.constrained is None else solution.constrained.utility


@pytest.mark.parametrize("value_scale", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(("ratio", "interviews"), [(LOWEST, None), (0.8, None), (1.0, None), (0.9, 25), (LOWEST, 12)])
def test_a_slider_gives_the_optimum_of_a_fresh_solve(
    bench: Bench, ratio: float, interviews: int | None, value_scale: float
) -> None:
    found = AskSliders(Explore("Gender", ratio, interviews, value_scale))(bench, lambda _: None)
    specs: list[dict[str, object]] = []
    if ratio > LOWEST:
        specs.append({"type": "impact-ratio", "minimum": ratio, "by": "Gender"})
    if interviews is not None:
        specs.append({"type": "budget", "limit": interviews, "on": "inspection"})
    assert found.utility == pytest.approx(fresh(bench, value_scale, *specs), rel=1e-9)
    assert found.gap == pytest.approx(0, abs=1e-6 * abs(found.utility or 1))
    assert found.utility is not None and found.utility <= found.free * (1 + 1e-12)
    shown = {one.group: one for one in found.groups}
    assert set(shown) == {"Female", "Male"}
    rates = {name: one.selected / one.candidates for name, one in shown.items()}
    for name, one in shown.items():
        assert one.ratio == pytest.approx(rates[name] / max(rates.values()))
        assert one.ratio >= (ratio if ratio > LOWEST else 0) - 1e-6
    if interviews is not None:
        assert found.interviews is not None and found.interviews <= interviews + 1e-6


def test_the_firm_beside_it_is_what_the_data_say(bench: Bench, tmp_path: Path) -> None:
    found = AskSliders(Explore("Gender", LOWEST, None, 1.0))(bench, lambda _: None)
    people = rows(searches=10, each=9)
    for one in found.groups:
        mine = [person for person in people if person["Gender"] == one.group]
        assert one.candidates == len(mine)
        assert one.firm_selected == sum(person["Hired"] == "yes" for person in mine)
        assert one.firm_inspected == sum(person["Interviewed"] == "yes" for person in mine)


def test_other_values_of_a_point_are_prepared_and_give_the_same(bench: Bench) -> None:
    explorer = bench.explorer
    assert isinstance(explorer, Explorer)
    ready = replace(explorer, fits={1.0: explorer.fits[1.0]}, lines={})
    ready.preparations()[-1]()  # done first: a neighbour of the report's
    (scale,) = set(ready.fits) - {1.0}
    assert scale in (SCALES[SCALES.index(1.0) - 1], SCALES[SCALES.index(1.0) + 1])
    asked = Explore("Gender", 0.9, None, scale)
    assert ready.answer(asked).utility == pytest.approx(explorer.answer(asked).utility)
    for prepare in ready.preparations():
        prepare()
    assert set(ready.fits) == set(SCALES)


def test_no_interviews_at_all_earn_nothing(bench: Bench) -> None:
    found = AskSliders(Explore("Gender", LOWEST, 0, 1.0))(bench, lambda _: None)
    assert found.utility == pytest.approx(0, abs=1e-9) and found.interviews == pytest.approx(0, abs=1e-9)


def test_a_constraint_of_a_plugin_says_what_a_slider_asks_for(bench: Bench) -> None:
    class OwnBudget(Budget):
        type: ClassVar[str] = "own-budget"

        @classmethod
        def at_slider(cls, slider: Slider, value: float, attribute: str) -> OwnBudget | None:
            return cls(on="inspection", limit=value / 2) if slider == "interviews" else None

    explorer = bench.explorer
    assert isinstance(explorer, Explorer)
    own = replace(bench.plugins, constraints={OwnBudget.type: OwnBudget})
    asked = Explore("Gender", 0.8, 20, 1.0)
    assert replace(explorer, plugins=own).demands(asked) == [OwnBudget(on="inspection", limit=10)]
    assert [one.type for one in explorer.demands(asked)] == ["budget", "impact-ratio"]


def test_without_a_report_there_is_nothing_to_explore() -> None:
    with pytest.raises(InputError, match="make the report again"):
        AskSliders(Explore("Gender", 0.9, None, 1.0))(Bench(plugins=plugin_manager.shipped()), lambda _: None)


RANGES = SliderRanges(("Gender",), 40, 2.0)


def test_the_ends_of_the_sliders_ask_for_nothing() -> None:
    asked = asked_of(FormData({"attribute": "Gender", "ratio": "0.5", "interviews": "40", "scale": "3"}), RANGES)
    assert asked == Explore("Gender", LOWEST, None, 2.0)
    asked = asked_of(FormData({"attribute": "Gender", "ratio": "0.93", "interviews": "39", "scale": "0"}), RANGES)
    assert asked == Explore("Gender", 0.93, 39, 2.0 * SCALES[0])


@pytest.mark.parametrize(
    "form",
    [
        {"attribute": "Shoe size"},
        {"attribute": "Gender", "ratio": "1.2"},
        {"attribute": "Gender", "ratio": "x"},
        {"attribute": "Gender", "interviews": "-1"},
        {"attribute": "Gender", "interviews": "41"},
        {"attribute": "Gender", "scale": "9"},
        {"attribute": "Gender", "ratio": "nan"},
        {"attribute": "Gender", "interviews": "inf"},
    ],
)
def test_places_beyond_the_ends_are_refused(form: dict[str, str]) -> None:
    with pytest.raises(InputError):
        asked_of(FormData(form), RANGES)


def test_the_value_of_the_firm_is_rounded_as_in_the_report(bench: Bench) -> None:
    """More digits of it would tell, with other figures, what single people were worth."""
    explorer = bench.explorer
    assert isinstance(explorer, Explorer)
    exact = explorer.fits[explorer.value_scale].realised.utility
    found = explorer.answer(Explore("Gender", LOWEST, None, explorer.value_scale))
    assert found.firm == float(f"{exact:.3g}") != exact
    page = PageFrame(mock.Mock()).templates.get_template("page_explored.html")
    assert f"turned out to be worth {text.amount(found.firm)}." in page.render(explored=found, problems=(), line=0.8)
