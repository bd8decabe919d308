"""The sample data is what its generator writes, tells the story that its README tells, and can be read and solved."""

from __future__ import annotations

import csv
import statistics
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from auditkit.cli import invoke
from auditkit.constraints.binding import make
from auditkit.constraints.outcome import group_rates, outcome_weights
from auditkit.data import load as data
from auditkit.model.documents import read_instance
from auditkit.plugin_manager import load
from auditkit.sample_data import FILES, generate
from auditkit.sample_data.generator import firm, larger, mess, stage_log
from auditkit.solver import Solution, solve

SAMPLES = Path(__file__).resolve().parents[1] / "sample_data"

CSVS = ("hiring.csv", "hiring-level.csv", "hiring-messy.csv", "hiring-stages.csv")


@pytest.fixture(scope="module")
def written() -> dict[str, bytes]:
    return generate.contents()


@pytest.fixture(scope="module")
def hiring() -> pd.DataFrame:
    return pd.read_csv(SAMPLES / "hiring.csv", keep_default_na=False, na_values=[""], parse_dates=["Application Date"])


@pytest.fixture(scope="module")
def events() -> pd.DataFrame:
    return pd.read_csv(SAMPLES / "hiring-stages.csv", parse_dates=["Event Date"])


# The files and their generator ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*CSVS, "four-boxes.json", "three-boxes.json", "stages.json", "README.md"])
def test_committed_files_are_what_the_generator_writes(name: str, written: dict[str, bytes]) -> None:
    assert (SAMPLES / name).read_bytes() == written[name], "run: python sample_data/generate.py"


def test_every_file_is_generated_or_part_of_the_generator(written: dict[str, bytes]) -> None:
    present = {path.name for path in SAMPLES.iterdir() if path.is_file() and not path.name.startswith(".")}
    report = {name for name in present if ".audit." in name}  # what somebody's run of auditkit left
    assert present - report == {"__init__.py", "generate.py", *written}
    assert {*FILES, "README.md"} == set(written)


def test_check_flag_runs_from_anywhere_and_writes_nothing(tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in SAMPLES.iterdir() if path.is_file()}
    subprocess.run([sys.executable, str(SAMPLES / "generate.py"), "--check"], cwd=tmp_path, check=True)
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_check_flag_names_a_file_that_differs(
    written: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in written.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "hiring.csv").write_bytes(b"edited by hand\n")
    monkeypatch.setattr(generate, "HERE", tmp_path)
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    assert generate.main() == 1
    assert capsys.readouterr().err.startswith("hiring.csv is not what the generator writes")
    assert (tmp_path / "hiring.csv").read_bytes() == b"edited by hand\n"
    monkeypatch.setattr(sys, "argv", ["generate.py"])
    assert generate.main() == 0
    assert (tmp_path / "hiring.csv").read_bytes() == (SAMPLES / "hiring.csv").read_bytes()


@pytest.mark.parametrize("name", CSVS)
def test_files_are_small(name: str) -> None:
    assert (SAMPLES / name).stat().st_size < 300_000


# hiring.csv -----------------------------------------------------------------------------------------------------------


def test_hiring_adds_up(hiring: pd.DataFrame) -> None:
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    assert f"{hiring['Requisition ID'].nunique()} requisitions, {len(hiring):,} applications" in text
    assert hiring["Candidate ID"].is_unique
    sizes = hiring.groupby("Requisition ID").size()
    assert (len(sizes), sizes.min(), sizes.max()) == (60, 8, 60)
    per_search = hiring.groupby("Requisition ID")[["Openings", "Job Family", "Job Level", "Interview Cost"]].nunique()
    assert (per_search == 1).all(axis=None)
    assert set(hiring["Openings"]) == {1, 2, 3, 4}
    assert hiring["Interview Cost"].between(1, 4).all()
    assert (hiring["Application Date"].dt.year == 2023).all()
    assert hiring["Gender"].isna().sum() == firm.UNKNOWN_GENDER
    assert hiring["Ethnicity"].isna().sum() == firm.UNKNOWN_ETHNICITY
    interviewed, hired = hiring["Interviewed"] == "Yes", hiring["Hired"] == "Yes"
    assert (hiring["Interview Score"].notna() == interviewed).all()
    assert interviewed[hired].all()
    assert hired[hiring["First-year Rating"].notna()].all()
    for column in ("CV Score", "Interview Score", "First-year Rating"):
        assert hiring[column].dropna().between(0, 100).all()
    filled = hired.groupby(hiring["Requisition ID"]).sum()
    openings = hiring.groupby("Requisition ID")["Openings"].first()
    assert (filled <= openings).all()
    assert 0 < (filled < openings).sum() < 20  # the firm sometimes leaves a position unfilled


def test_the_disparity_of_the_story_is_in_hiring(hiring: pd.DataFrame) -> None:
    yes = hiring.assign(hired=hiring["Hired"] == "Yes", interviewed=hiring["Interviewed"] == "Yes")
    gender = yes.groupby("Gender")[["hired", "interviewed"]].mean()
    assert gender.loc["Female", "hired"] / gender.loc["Male", "hired"] == pytest.approx(0.70, abs=0.03)
    assert 0.65 < gender.loc["Female", "interviewed"] / gender.loc["Male", "interviewed"] < 0.85
    ethnicity = yes.groupby("Ethnicity")["hired"].mean()
    assert ethnicity["Black"] / ethnicity["White"] == pytest.approx(0.85, abs=0.04)
    assert ethnicity["Asian"] / ethnicity["White"] == pytest.approx(1, abs=0.06)
    assert (yes["Ethnicity"] == "Other").sum() < 0.02 * len(
        yes
    )  # too few for a reference in the tables of Local Law 144
    rating = yes.groupby("Gender")["First-year Rating"].mean()
    assert rating["Female"] > rating["Male"]
    rating = yes.groupby("Ethnicity")["First-year Rating"].mean()
    assert rating["Black"] > max(rating["White"], rating["Asian"])


def test_an_interview_is_worth_its_cost_for_some(hiring: pd.DataFrame) -> None:
    """The spread that an interview can show is a few times its cost: Pandora's problem is not trivial."""
    seen = hiring[hiring["Interviewed"] == "Yes"]
    slope = seen["CV Score"].cov(seen["Interview Score"]) / seen["CV Score"].var()
    spread = (seen["Interview Score"] - slope * seen["CV Score"]).std()
    assert 8 < spread < 11
    assert 0.15 < len(seen) / len(hiring) < 0.35


def test_the_story_is_that_of_the_parameters_not_of_the_seed() -> None:
    people = [a for seed in range(40) for a in firm.hiring(seed)]

    def rate(group: str) -> float:
        members = [a for a in people if group in a.groups]
        return sum(a.hired for a in members) / len(members)

    def quality(group: str, hired: bool) -> float:
        chosen = [a.quality for a in people if group in a.groups and (a.hired or not hired)]
        return sum(chosen) / len(chosen)

    assert rate("Female") / rate("Male") == pytest.approx(0.71, abs=0.04)
    assert rate("Black") / rate("White") == pytest.approx(0.82, abs=0.05)
    assert rate("Asian") / rate("White") == pytest.approx(1, abs=0.06)
    for penalised, other in (("Female", "Male"), ("Black", "White")):
        assert quality(penalised, hired=False) == pytest.approx(quality(other, hired=False), abs=0.03)
        assert quality(penalised, hired=True) > quality(other, hired=True)


def test_no_difference_is_planted_in_the_level_sample() -> None:
    people = [a for seed in range(40) for a in firm.hiring(seed, firm.LEVEL)]
    for one, other in (("Female", "Male"), ("Black", "White"), ("Asian", "White")):
        for outcome in ("hired", "interviewed"):
            rates = [
                statistics.fmean(getattr(a, outcome) for a in people if group in a.groups) for group in (one, other)
            ]
            assert rates[0] / rates[1] == pytest.approx(1, abs=0.06), (one, outcome)
    level = firm.hiring(firm.LEVEL_SEED, firm.LEVEL)
    assert generate.contents()["hiring-level.csv"].count(b"\n") == len(level) + 1


def test_the_differences_are_those_of_the_table() -> None:
    """Each step takes from a group what the table of the README says, and from nobody else anything."""
    draws = [firm.hiring(7, differences) for differences in (firm.LEVEL, firm.PLANTED)]
    known = [(a, b) for a, b in zip(*draws, strict=True) if a.gender and a.ethnicity]
    for level, planted in known:
        lost = 2.5 * (planted.gender == "Female") + 1.5 * (planted.ethnicity == "Black")
        if 0 < planted.cv_score < 100 and 0 < level.cv_score < 100:
            assert level.cv_score - planted.cv_score == pytest.approx(lost, abs=0.1001)
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    assert "| Female | 2.5 | 1.5 | 0.15 |" in text and "| Black | 1.5 | 0.5 | 0.1 |" in text


def test_every_role_of_hiring_is_inferred() -> None:
    history = data.load(SAMPLES / "hiring.csv")
    assert history.mapping.as_dict() == {
        "candidate": ["Candidate ID"],
        "search": ["Requisition ID"],
        "group": ["Gender", "Ethnicity"],
        "segment": ["Job Family", "Job Level"],
        "inspected": ["Interviewed"],
        "selected": ["Hired"],
        "score": ["Interview Score"],
        "prior": ["CV Score", "Years of Experience"],
        "cost": ["Interview Cost"],
        "capacity": ["Openings"],
        "outcome": ["First-year Rating"],
        "expense": ["Relocation Expense"],
        "date": ["Application Date"],
    }
    assert history.mapping.unused == ()
    assert history.problems.counts() == {"unknown-group": firm.UNKNOWN_GENDER + firm.UNKNOWN_ETHNICITY}


# hiring-messy.csv -----------------------------------------------------------------------------------------------------


def test_the_mess_is_as_often_as_its_table_says() -> None:
    content = (SAMPLES / "hiring-messy.csv").read_bytes()
    with pytest.raises(UnicodeDecodeError):
        content.decode("utf-8")
    records = list(csv.reader(content.decode("cp1252").splitlines(), delimiter=";"))
    header = next(i for i, record in enumerate(records) if record[0] == "Candidate ID")
    blank = [record for record in records if not any(record)]
    total = [record for record in records if record[0] == "Total"]
    rows = [dict(zip(records[header], r)) for r in records[header + 1 :] if any(r) and r[0] != "Total"]
    ids = Counter(row["Candidate ID"] for row in rows)
    once = list({row["Candidate ID"]: row for row in rows}.values())
    assert all(len(i) == 6 and i[2] == "." for i in ids)

    def count(column: str, word: str) -> int:
        return sum(row[column] == word for row in once)

    def groups(word: str) -> int:
        return count("Gender", word) + count("Ethnicity", word)

    seen = {"title row": header, "blank rows": len(blank), "total row": len(total)}
    seen["repeated rows"] = sum(ids.values()) - len(ids)
    seen |= {"prefer not to say": groups("prefer not to say"), "group NA": groups("NA"), "group dash": groups("-")}
    seen["lower case"] = count("Gender", "female")
    seen["trailing spaces"] = sum(v != v.strip() for row in once for v in row.values())
    seen |= {"CV score NA": count("CV Score", "NA"), "CV score dash": count("CV Score", "-")}
    seen["score lost"] = count("Interview Score", "NA")
    uninvited = [row for row in once if row["Interviewed"] == "N"]
    seen["score without interview"] = sum(row["Interview Score"] != "" for row in uninvited)
    seen["hired without interview"] = sum(row["Hired"] == "TRUE" for row in uninvited)
    hired = Counter(row["Requisition ID"].strip() for row in once if row["Hired"] == "TRUE")
    openings = {row["Requisition ID"].strip(): int(row["Openings"]) for row in once}
    seen["openings too low"] = sum(hired[name] > places for name, places in openings.items())
    assert seen == {name: entry.count for name, entry in mess.MESS.items()}


def test_the_mess_is_reported_as_its_table_says() -> None:
    checked = data.check(SAMPLES / "hiring-messy.csv")
    assert checked.ok, checked.errors
    reported: Counter[str] = Counter()
    for entry in mess.MESS.values():
        reported.update(entry.reported)
    assert checked.problems.counts() == dict(reported)


def test_the_messy_twin_holds_the_same_data() -> None:
    clean, messy = data.load(SAMPLES / "hiring.csv"), data.load(SAMPLES / "hiring-messy.csv")
    assert clean.counts.groups == messy.counts.groups
    assert clean.counts.outcomes == messy.counts.outcomes
    left = clean.table.set_index("candidate")
    right = messy.table.rename(columns=lambda name: name.replace(" (€)", "")).set_index("candidate")
    assert list(left.index) == list(right.index)
    assert set(left.columns) == set(right.columns)
    differ = {
        name: int((~((left[name] == right[name]) | (left[name].isna() & right[name].isna()))).sum()) for name in left
    }
    n = {name: entry.count for name, entry in mess.MESS.items()}
    assert {name: k for name, k in differ.items() if k and name != "row"} == {
        "score": n["score lost"] + n["hired without interview"],
        "prior:CV Score": n["CV score NA"] + n["CV score dash"],
    }


# hiring-stages.csv ----------------------------------------------------------------------------------------------------


def test_the_event_log_adds_up(events: pd.DataFrame) -> None:
    stages = ["Applied", "Phone", "Onsite", "Offer", "Accepted"]
    assert set(events["Stage"]) == set(stages)
    assert not events.duplicated(["Candidate ID", "Stage"]).any()
    people = events.groupby("Candidate ID")
    assert (people[["Requisition ID", "Gender", "Ethnicity", "Openings", "CV Score"]].nunique() <= 1).all(axis=None)
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    assert f"{events['Requisition ID'].nunique()} requisitions, {people.ngroups} applications" in text
    assert events["Requisition ID"].nunique() == stage_log.REQUISITIONS
    # everybody passes the stages in order, without a gap, and only a passed stage is followed by another
    dates = events.pivot(index="Candidate ID", columns="Stage", values="Event Date")[stages]
    reached = dates.notna().sum(axis="columns")
    for i, (earlier, later) in enumerate(pairwise(stages), 1):
        went_on = dates[later].notna()
        assert (went_on == (reached > i)).all()
        assert (dates[later] >= dates[earlier])[went_on].all()
        result = events[events["Stage"] == earlier].set_index("Candidate ID")["Result"]
        assert (result.isin(["Advanced", "Passed", "Accepted"]) == went_on.reindex(result.index)).all()
    assert (events["Interview Score"].notna() == (events["Stage"] == "Onsite")).all()
    assert (events["Stage Cost"].notna() == events["Stage"].isin(["Phone", "Onsite", "Offer"])).all()
    accepted = events[events["Stage"] == "Accepted"].groupby("Requisition ID").size()
    assert (accepted <= events.groupby("Requisition ID")["Openings"].first().reindex(accepted.index)).all()


def test_the_disparity_of_the_story_is_in_the_event_log(events: pd.DataFrame) -> None:
    counts = events.groupby(["Gender", "Stage"]).size().unstack()
    rate = counts.div(counts["Applied"], axis="index")
    ratio = rate.loc["Female"] / rate.loc["Male"]
    assert 0.8 < ratio["Phone"] < 1
    assert 0.65 < ratio["Offer"] < 0.85


def test_the_event_log_is_read_without_a_flag() -> None:
    history = data.load(SAMPLES / "hiring-stages.csv")
    assert history.stages == ("Phone", "Onsite", "Offer")
    assert history.score_stage == "Onsite"
    for role, column in (("stage", "Stage"), ("selected", "Result"), ("cost", "Stage Cost"), ("date", "Event Date")):
        assert history.mapping.columns(role) == (column,)
    assert history.mapping.columns("group") == ("Gender", "Ethnicity")
    assert history.counts.applications == 600
    assert history.table["selected"].sum() == history.table["stage:Offer"].sum()


# auditkit sample ------------------------------------------------------------------------------------------------------


def test_samples_are_listed_and_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke(["sample"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in FILES) and not list(tmp_path.iterdir())
    assert invoke(["sample", "hiring.csv", "-o", "people.csv"]) == 0
    assert Path("people.csv").read_bytes() == (SAMPLES / "hiring.csv").read_bytes()
    Path("all").mkdir()
    assert invoke(["sample", *FILES, "-o", "all"]) == 0
    assert {path.name: path.read_bytes() for path in Path("all").iterdir()} == {
        name: (SAMPLES / name).read_bytes() for name in FILES
    }
    assert invoke(["sample", "stages.json", "-o", "all", "--force"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hirin.csv"], "there is no such sample (did you mean 'hiring.csv'?)"),
        (["people.csv", "hirin.csv", "-o", "there.csv"], "there.csv: is not a folder"),
        (["hiring.csv", "-o", "there.csv"], "there.csv: already exists"),
        (["--searches", "3"], "name it with -o"),
        (["hiring.csv", "--searches", "3", "-o", "big.csv"], "leave out NAME"),
        (["--searches", "3", "-o", "there.csv"], "there.csv: already exists"),
        (["hiring.csv", "--seed", "3"], "add --searches N"),
        (["--searches", "3", "-o", "nowhere/big.csv"], "cannot be written"),
    ],
)
def test_what_sample_refuses(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.csv").write_text("mine")
    assert invoke(["sample", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_larger_data_of_the_same_kind(tmp_path: Path, hiring: pd.DataFrame) -> None:
    for name, arguments in (
        ("a", ["30"]),
        ("b", ["20"]),
        ("c", ["20", "--seed", "5"]),
        ("d", ["20", "--no-differences"]),
    ):
        assert invoke(["sample", "--searches", *arguments, "-o", str(tmp_path / f"{name}.csv")]) == 0
    a, b, c, d = ((tmp_path / f"{name}.csv").read_bytes() for name in "abcd")
    assert a.startswith(b) and len({b, c, d}) == 3
    table = pd.read_csv(tmp_path / "a.csv", keep_default_na=False, na_values=[""], parse_dates=["Application Date"])
    assert list(table) == list(hiring) and (table.dtypes == hiring.dtypes).all()
    assert table["Requisition ID"].nunique() == 30 and table["Candidate ID"].is_unique
    history = data.load(tmp_path / "a.csv")
    assert history.mapping.as_dict() == data.load(SAMPLES / "hiring.csv").mapping.as_dict()


def test_larger_data_is_written_piece_by_piece() -> None:
    pieces = larger.csv_lines(10**9)
    assert [next(pieces).count(b"Candidate ID") for _ in range(3)] == [1, 0, 0]


def test_the_story_holds_in_larger_data() -> None:
    for differences, women in ((firm.PLANTED, 0.71), (firm.LEVEL, 1.0)):
        people = [a for pool in larger.applications(2000, differences=differences) for a in pool]
        rate = {g: statistics.fmean(a.hired for a in people if a.gender == g) for g in ("Female", "Male", "")}
        assert rate["Female"] / rate["Male"] == pytest.approx(women, abs=0.05)
        unknown = statistics.fmean(not a.gender for a in people)
        assert unknown == pytest.approx(firm.UNKNOWN_GENDER / larger.ROWS, abs=0.003)


# The instances --------------------------------------------------------------------------------------------------------


def solved(name: str) -> Solution:
    instance, constraints, _ = read_instance(SAMPLES / name)
    kinds = load().constraints
    return solve(instance, [make(kinds, keys) for keys in constraints])


def test_four_boxes() -> None:
    solution = solved("four-boxes.json")
    assert solution.unconstrained.utility == pytest.approx(7.0625, abs=1e-9)
    assert solution.constrained is not None
    assert solution.constrained.outcome.utility == pytest.approx(6.5625, abs=1e-9)
    assert solution.constrained.duals == pytest.approx([1.0])


def test_three_boxes() -> None:
    solution = solved("three-boxes.json")
    assert solution.unconstrained.utility == pytest.approx(4, abs=1e-9)
    assert solution.constrained is not None
    assert solution.constrained.outcome.utility == pytest.approx(4, abs=1e-9)
    assert solution.constrained.rows.values(solution.constrained.outcome.visits) == pytest.approx([0, 0], abs=1e-9)


def test_stages() -> None:
    solution = solved("stages.json")
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    assert solution.constrained is not None
    optimum = solution.constrained
    assert f"earns {solution.unconstrained.utility:.4f}" in text
    assert f"earns {optimum.outcome.utility:.4f}" in text
    assert optimum.bound - optimum.outcome.utility == pytest.approx(0, abs=1e-9)
    assert [row.label.split()[0] for row in optimum.rows.rows] == ["phone", "onsite", "selection"]
    assert (abs(optimum.duals) > 0.1).all()  # each of the three parities matters
    layout = solution.unconstrained.layout
    hires = group_rates(layout, outcome_weights(layout, "selection"), "count")
    x, y = (float(hires[group] @ solution.unconstrained.visits) for group in ("X", "Y"))
    assert f"hires {x:.1f} of X and {y:.1f} of Y" in text
