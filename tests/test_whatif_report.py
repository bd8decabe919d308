"""What-if answers on their way to people: default questions, charts, the report, the command."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from markupsafe import escape

from auditkit import pipeline, scenarios
from auditkit.cli.whatif import whatif as command
from auditkit.config import Config
from auditkit.errors import InputError
from auditkit.model.variants import with_scores
from auditkit.report import html, scenario_charts
from auditkit.report.build import answers as answered
from auditkit.report.schema import Report
from auditkit.report.what_if import WhatIf
from auditkit.report.words import sentences as say
from auditkit.report.words.phrases import Phrases
from auditkit.solver import solve
from support.audit_helpers import plugins, rows, save
from support.constraints import KINDS, build
from support.instances import boxes


def told(found: scenarios.Answers) -> WhatIf:
    """The answers with their sentences, without words of the data's own."""
    return WhatIf(answered(found, Phrases()), Phrases())


@pytest.fixture(scope="module")
def report(people: Path) -> Report:
    limited = [{"type": "budget", "limit": 3, "group": "Female"}]
    settings = Config().over(report__replicates=0, report__what_if=True, constraints=limited, fit__group_aware=True)
    return pipeline.audit(people, settings, plugins()).report


def test_default_questions_are_about_the_group_that_is_selected_least() -> None:
    instance = boxes(np.random.default_rng(1), 2, 6, 2)
    found = scenarios.ask(instance, None, KINDS)
    assert found.group == "B" and [c.to_spec() for c in found.constraints] == ["parity"]
    assert [curve.parameter for curve in found.frontiers] == ["minimum"]
    assert found.sensitivity is not None and found.positions is not None and found.budgets == ()
    said = told(found).sentences
    assert len(said) == 3 and all(text.endswith(".") for text in said)
    layout = instance.layout
    selected = np.where(layout.candidate_group == layout.groups.index("A"), 0.1, 0.5)
    assert scenarios.ask(instance, None, KINDS, selected=selected).group == "A"
    three = scenarios.ask(boxes(np.random.default_rng(2), 2, 6, 2, "ABC"), None, KINDS)
    assert [c.to_spec() for c in three.constraints] == ["parity"]


def test_without_a_budget_the_inspections_of_the_firm_are_one() -> None:
    instance = boxes(np.random.default_rng(4), 2, 6, 2)
    free = solve(instance).unconstrained
    spent = float(free.inspected.sum())
    found = scenarios.ask(instance, None, KINDS, inspected=0.5 * spent)
    curve = next(curve for curve in found.frontiers if curve.parameter == "limit")
    assert curve.label == "budget (on inspection)" and curve.present == 0.5 * spent
    assert curve.starts == pytest.approx(spent, rel=1e-3), "what the best policy uses is what it needs"
    (budget,) = found.budgets
    assert 0 < budget.budget <= budget.dual + 1e-9
    said = say.budget_or_position(Phrases(), budget)
    assert "One more unit of the budget" in said and "more position is worth" in said
    (idle,) = scenarios.ask(instance, None, KINDS, inspected=2 * spent).budgets
    assert idle.budget == pytest.approx(0, abs=1e-9) and "does not use it up" in say.budget_or_position(Phrases(), idle)


def test_constraints_of_many_rows_are_left_to_those_who_wait() -> None:
    instance = boxes(np.random.default_rng(3), 2, 6, 2)
    own = [build("floor:minimum=0.01"), build("impact-ratio")]
    found = scenarios.ask(instance, own, KINDS, most_rows=11)
    assert [c.to_spec() for c in found.constraints] == ["impact-ratio"]
    assert found.notices == (
        "floor:minimum=0.01 has 12 rows: questions about it take long, and only auditkit whatif asks them.",
    )
    assert [c.label.partition(" ")[0] for c in found.frontiers] == ["impact-ratio"]
    assert scenarios.ask(instance, own, KINDS, most_rows=12).constraints == tuple(own)


def test_constraints_of_the_user_are_asked_about() -> None:
    instance = boxes(np.random.default_rng(3), 2, 6, 2)
    own = [build("impact-ratio:minimum=0.9"), build("budget:group=A,limit=1"), build("nash-welfare:minimum=0.2")]
    found = scenarios.ask(instance, own, KINDS)
    kinds = [curve.label.partition(" ")[0] for curve in found.frontiers]
    assert kinds == ["impact-ratio", "budget"]
    assert found.frontiers[0].present == 0.9 and len(found.budgets) == 1
    clash = scenarios.ask(instance, [build("floor:minimum=0.9")], KINDS)
    assert clash.positions is None and "cannot hold together" in clash.notices[0]
    with pytest.raises(InputError, match="no candidate is in group 'Q'"):
        scenarios.ask(instance, [build("quota:group=Q,share=0.1")], KINDS)


def test_with_one_group_there_is_nothing_to_ask() -> None:
    found = scenarios.ask(boxes(np.random.default_rng(5), 1, 4, 1, "A"), None, KINDS)
    assert found.group is None and found.frontiers == () and "there is nothing to ask" in found.notices[0]
    assert told(found).charts() == []


def test_charts_are_drawn_from_the_document() -> None:
    instance = with_scores(boxes(np.random.default_rng(6), 2, 8, 3), "B", 0.6)
    own = [build("quota:group=B,share=0.6"), build("budget:group=A,limit=2")]
    found = told(scenarios.ask(instance, own, KINDS))
    charts, again = found.charts(), found.charts()
    assert [c.id for c in charts] == [
        *("chart-frontier-1", "chart-frontier-2", "chart-frontier-3"),
        *("chart-sensitivity-1", "chart-positions", "chart-budget-1"),
    ]
    assert [c.svg for c in charts] == [c.svg for c in again]
    for chart in charts:
        root = ET.fromstring(scenario_charts.alone(chart))
        assert root.tag == "{http://www.w3.org/2000/svg}svg" and "var(" not in scenario_charts.alone(chart)
        assert chart.description.endswith(".")


def test_the_report_has_the_answers(report: Report) -> None:
    answers, biased = report.frontier, report.sensitivity
    assert answers is not None and biased is not None
    assert {c.parameter for c in answers.curves} >= {"minimum", "limit"}
    assert biased.points[0].factor == 1.0 and "search" not in report.to_json()["frontier"]["budgets"][0]
    page = html.render(report)
    assert '<section id="whatif"' in page and '<a href="#whatif">' in page
    for part in (*answers.curves, biased, *answers.budgets):
        assert f"<li>{escape(part.sentence)}</li>" in page
    assert "scores of women" in biased.sentence and "on those hired for women" in answers.budgets[0].sentence
    assert 'id="chart-frontier-1"' in page and 'id="chart-sensitivity-1"' in page
    without = html.render(report.model_copy(update={"frontier": None, "sensitivity": None}))
    assert 'id="whatif"' not in without and "#whatif" not in without


def test_the_questions_can_be_left_out(people: Path) -> None:
    settings = Config().over(report__replicates=0, report__what_if=False)
    found = pipeline.audit(people, settings, plugins()).report
    assert found.frontier is None and found.sensitivity is None


def test_the_command_prints_and_writes(people: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        command, [str(people), "--group-aware", "-o", str(tmp_path / "out")], catch_exceptions=False
    )
    assert done.exit_code == 0
    assert "costs nothing" in done.stdout and "worth shown by scores" in done.stdout and "positions open" in done.stdout
    written = json.loads((tmp_path / "out" / "whatif.json").read_text())
    assert written["frontier"]["curves"] and written["sensitivity"]["points"]
    assert len(list((tmp_path / "out").glob("*.svg"))) >= 3
    printed = CliRunner().invoke(command, [str(people), "--json", "--group", "Male"], catch_exceptions=False)
    assert json.loads(printed.stdout)["frontier"]["group"] == "Male"


def test_the_command_refuses_what_it_cannot_do(people: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(command, [str(people), "--group", "Femal"])
    assert isinstance(done.exception, InputError) and "did you mean 'Female'?" in str(done.exception)
    scoreless = save(tmp_path / "scoreless.csv", [{k: v for k, v in row.items() if "core" not in k} for row in rows()])
    done = CliRunner().invoke(command, [str(scoreless)])
    assert isinstance(done.exception, InputError) and "score" in str(done.exception)
