"""Step 2 of the page: what a reading shows, what it asks, and how choices become a mapping."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditkit import pipeline, plugin_manager
from auditkit.config import Config
from auditkit.data import source
from auditkit.data.privacy import protect
from auditkit.page.bench import Bench
from auditkit.page.open_audits import OpenAudit, UserChoices
from auditkit.page.reading_step import apply_menus
from auditkit.page.reading_view import NOT_USED, ReadingView
from auditkit.page.tasks import Read
from auditkit.page.worker import JobState, Pending, Worker
from support.audit_helpers import rows, save

PLUGINS = plugin_manager.load([])


def read(path: Path, choices: UserChoices | None = None, first: ReadingView | None = None) -> ReadingView:
    config = (choices or UserChoices()).config(Config(), first)
    return Read(path, config)(Bench(plugins=PLUGINS), lambda _: None)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return save(tmp_path / "people.csv", rows(searches=8, each=10))


@pytest.fixture
def two_outcomes(tmp_path: Path) -> Path:
    """Two columns that could say who was selected, and they disagree."""
    lines = ["id,gender,decision,status"]
    for i in range(60):
        one, other = ("Hired" if i % 4 == 0 else "Rejected"), ("Hired" if i % 3 == 0 else "Rejected")
        lines.append(f"{i},{'F' if i % 2 else 'M'},{one},{other}")
    path = tmp_path / "two.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_every_column_is_there_with_its_role_and_values(people: Path) -> None:
    view = read(people)
    assert view.ok and view.rows == 80
    roles = {column.name: column.role for column in view.columns}
    assert roles["Gender"] == "group" and roles["Hired"] == "selected" and roles["Interview Score"] == "score"
    hired = next(column for column in view.columns if column.name == "Hired")
    assert {(value.text, value.rows) for value in hired.values} == {("no", 72), ("yes", 8)}
    assert "favourable" in view.summary and "8 of 80" in view.summary
    ids = next(column for column in view.columns if column.name == "Candidate ID")
    assert not ids.values  # nobody's id is listed


def test_the_funnel_counts_what_the_file_says(people: Path) -> None:
    view = read(people)
    (funnel,) = view.funnels
    table = rows(searches=8, each=10)
    for step, column in (("Interviewed", "Interviewed"), ("Hired", "Hired")):
        shown = next(one for one in funnel.steps if one.step == step)
        for group in shown.groups:
            mine = [row for row in table if row["Gender"] == group.group]
            assert (group.reached, group.of) == (sum(row[column] == "yes" for row in mine), len(mine))
    assert funnel.left_out == sum(row["Gender"] == "" for row in table)


def test_a_question_has_answers_with_the_funnels_they_give(two_outcomes: Path) -> None:
    view = read(two_outcomes)
    assert not view.ok and len(view.questions) == 1 and not view.errors
    (question,) = view.questions
    assert len(question.options) >= 2
    for option in question.options:
        answered = read(two_outcomes, UserChoices(answer=option.mapping))
        assert answered.ok, answered.errors
        config = Config().over(mapping=option.mapping)
        selected = int(source.read(two_outcomes, config, PLUGINS).table["selected"].sum())
        assert f"{selected:,}" in option.gives and f"{selected:,} of 60" in answered.summary


def test_a_changed_menu_changes_only_the_roles_it_touches(people: Path) -> None:
    first = read(people)
    choices = UserChoices(roles={"CV Score": NOT_USED})
    assert choices.config(Config(), first).mapping == {"prior": ["none"]}
    view = read(people, choices, first)
    assert {column.name: column.role for column in view.columns}["CV Score"] == NOT_USED
    moved = UserChoices(roles={"Openings": "segment"})
    assert moved.config(Config(), first).mapping == {"capacity": ["none"], "segment": ["Openings"]}


def test_groups_that_are_left_out_and_constraints_become_settings(people: Path) -> None:
    first = read(people)
    config = UserChoices(
        groups=("Gender",),
        constraints=("impact-ratio",),
        minimum_ratio=0.9,
        value_scale=2.0,
        organisation="Example Ltd",
    ).config(Config(), first)
    assert config.mapping == {"group": ["Gender"]} and config.value_scale == 2.0
    assert config.constraints == [{"type": "impact-ratio", "minimum": 0.9}]
    assert config.organisation == "Example Ltd"
    assert UserChoices().config(Config(), first) == Config()


def test_a_file_with_one_group_says_why_nothing_can_be_compared(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("id,gender,hired\n" + "".join(f"{i},F,{'yes' if i % 3 else 'no'}\n" for i in range(40)))
    view = read(path)
    assert not view.ok and "fewer than two groups" in " ".join(problem.what for problem in view.errors)


def test_a_menu_changes_what_it_says_in_a_file_that_could_not_be_read_at_first(tmp_path: Path) -> None:
    """No column looks like a group: once the user names one, the roles of the others are found and can be changed."""
    path = tmp_path / "teams.csv"
    people = [f"{i},{'Red' if i % 2 else 'Blue'},{'Yes' if i % 5 else 'No'}" for i in range(60)]
    path.write_text("\n".join(["id,Team Colour,Hired", *people]) + "\n")
    audit = OpenAudit("one", path, tmp_path, Config(), Worker(tmp_path))
    bench = Bench(plugins=PLUGINS)

    def reading() -> dict[str, str]:
        task = Read(path, audit.config, audit.choices.roles)
        audit.reading = Pending(JobState.DONE, result=task(bench, lambda _: None))
        assert audit.view is not None
        return {column.name: column.role for column in audit.view.columns}

    assert set(reading().values()) == {"not used"}
    assert apply_menus(audit, {"role-1": "group"})
    assert reading() == {"id": "candidate", "Team Colour": "group", "Hired": "selected"}
    assert apply_menus(audit, {"role-0": "not used"})
    assert reading() == {"id": "not used", "Team Colour": "group", "Hired": "selected"}


def test_two_files_are_read_as_one_and_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("Candidate ID,Hired\n" + "".join(f"c{i},{i % 3 == 0}\n" for i in range(60)))
    (tmp_path / "groups.csv").write_text("Candidate ID,Gender\n" + "".join(f"c{i},{'FM'[i % 2]}\n" for i in range(60)))
    both = source.Files((tmp_path / "people.csv", tmp_path / "groups.csv"))
    view = Read(both, Config())(Bench(plugins=PLUGINS), lambda _: None)
    assert view.ok and view.attributes == ("Gender",) and view.rows == 60
    assert any("groups.csv" in note for note in view.notes) and not any(str(tmp_path) in note for note in view.notes)


def test_the_funnel_counts_as_the_report_does(tmp_path: Path) -> None:
    """Whoever withdrew before the decision is in no rate of it, neither here nor there."""
    path = tmp_path / "people.csv"
    ends = ["Hired", "Rejected", "Rejected", "Withdrawn"]
    people = [f"{i},{'F' if i % 3 else 'M'},{ends[i % 4]}" for i in range(120)]
    path.write_text("\n".join(["id,Gender,Status", *people]) + "\n")
    view = read(path)
    (funnel,) = view.funnels
    shown = {(one.group, one.of, one.reached) for one in funnel.steps[-1].groups}
    measured = pipeline.measure(protect(source.read(path, Config()), 5), Config())
    assert measured is not None
    table = measured.tables[0]
    assert shown == {(one.group, one.applicants, one.selected) for one in table.groups}
    assert "30 withdrawn or still pending, not counted after the steps they reached" in view.counted
