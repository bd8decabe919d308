"""Outcomes of small groups cannot be recovered from what a report publishes, and no large group disappears.

The attacker of these tests knows everything that is published, and the sizes of all groups besides.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic_core import to_jsonable_python
from scipy.optimize import Bounds, LinearConstraint, milp

import auditkit
from auditkit.config import Config
from auditkit.data.firm_history import History
from auditkit.data.privacy import protect
from auditkit.disparity.applicants import Applicants
from auditkit.disparity.cuts import DisparitySettings
from auditkit.disparity.disparity_tables import disparities
from auditkit.disparity.pair import stratify
from auditkit.disparity.sequential import Closings, closings
from auditkit.disparity.small_values import JOINED, common, join_requisitions, join_small
from auditkit.pipeline import audit, measure
from auditkit.report import people
from auditkit.report.schema import as_json
from auditkit.scheduled.evidence_stream import carried
from support import ROOT
from support.audit_helpers import plugins, rows, save
from support.sampling import sampled

THRESHOLD = 5
STEPS = ("Interviewed", "Hired")
SEXES = ["Female", "Male", "Nonbinary"]
RACES = ["White", "Black", "Asian", "Native American", "Pacific Islander"]


def applications(seed: int) -> pd.DataFrame:
    """A firm with some rare categories, crossed or by themselves."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 400))
    sex = rng.choice(SEXES, n, p=[0.47, 0.51, 0.02])
    race = rng.choice(RACES, n, p=[0.55, 0.2, 0.17, 0.05, 0.03])
    sex = np.where(rng.random(n) < rng.choice([0.0, 0.01, 0.05]), "", sex)
    interviewed = rng.random(n) < rng.uniform(0.1, 0.8)
    hired = interviewed & (rng.random(n) < rng.uniform(0.1, 0.8))
    return pd.DataFrame(
        {
            "Application ID": [f"a{i}" for i in range(n)],
            "Requisition": [f"R{i}" for i in rng.integers(0, 8, n)],
            "Gender": sex,
            "Ethnicity": race,
            "Department": rng.choice(["Sales", "Legal", "IT"], n, p=[0.6, 0.1, 0.3]),
            "Interviewed": np.where(interviewed, "yes", "no"),
            "Hired": np.where(hired, "yes", "no"),
        }
    )


def published(history: History) -> dict[str, Any]:
    """Everything in a report that comes from outcomes and not from the model."""
    shown = protect(history, THRESHOLD)
    page = measure(shown, Config())
    assert page is not None
    parts = {
        "groups": people.groups(shown),
        "funnel": people.funnel(shown),
        "scope": people.scope(history, shown, ""),
        "disparity": as_json(page),
        "segments": [as_json(segment) for segment in page.segments],
    }
    found: dict[str, Any] = to_jsonable_python(parts)
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("seed", sampled(range(10), 4))
def test_nothing_published_depends_on_people_who_are_left_out(seed: int) -> None:
    """Whatever became of them, the report is the same: so nobody can tell."""
    frame = applications(seed)
    history = auditkit.read(frame)
    kept = {str(c) for c in protect(history, THRESHOLD).history.table["candidate"]}
    out = ~frame["Application ID"].isin(kept)
    other = frame.copy()
    for step in STEPS:
        other.loc[out, step] = np.where(frame.loc[out, step] == "yes", "no", "yes")
    other.loc[out, "Interviewed"] = "yes"  # nobody is hired without an interview
    before = published(history)
    assert published(auditkit.read(other)) == before
    sizes = {name: frame[name].value_counts() for name in ("Gender", "Ethnicity")}
    shown = {(row["attribute"], row["name"]) for row in before["groups"]}
    for name, counts in sizes.items():
        large = {group for group, n in counts.items() if group and n >= 30}
        assert {(name, group) for group in large} <= shown


@pytest.mark.sampled
@pytest.mark.parametrize("seed", sampled(range(10), 4))
def test_small_cells_of_a_crossing_cannot_be_worked_out(seed: int) -> None:
    frame = applications(1000 + seed)
    history = auditkit.read(frame)
    shown = protect(history, THRESHOLD)
    table = shown.history.table
    sex, race = (table[f"group:{name}"].astype(str) for name in ("Gender", "Ethnicity"))
    reached = {step: table[f"step:{step}"].fillna(False).to_numpy(bool) for step in STEPS}
    rows, columns = sorted(set(sex)), sorted(set(race))
    size = {(a, b): int(((sex == a) & (race == b)).sum()) for a in rows for b in columns}
    place = {(s, a, b): i for i, (s, a, b) in enumerate((s, a, b) for s in STEPS for a in rows for b in columns)}
    document = published(history)
    system, bounds = attack(document, rows, columns, size, place)
    for (step, a, b), i in place.items():
        if not 0 < size[a, b] < THRESHOLD or "unknown" in (a, b):
            continue
        truth = int((reached[step] & (sex == a).to_numpy() & (race == b).to_numpy()).sum())
        ends = []
        for sign in (1.0, -1.0):
            objective = np.zeros(len(place))
            objective[i] = sign
            found = milp(objective, constraints=system, bounds=bounds, integrality=np.ones(len(place)))
            assert found.fun is not None
            ends.append(round(sign * float(found.fun)))
        assert ends[0] <= truth <= ends[1]
        if ends[0] == ends[1]:
            assert said_by_whole_groups(document, step, a, b, size), (step, a, b, truth)


def attack(
    document: dict[str, Any],
    rows: list[str],
    columns: list[str],
    size: dict[tuple[str, str], int],
    place: dict[tuple[str, str, str], int],
) -> tuple[LinearConstraint, Bounds]:
    """All that is published, as equations of the unknown outcomes of cells."""
    matrix, known = [], []

    def equation(step: str, cells: list[tuple[str, str]], number: int) -> None:
        row = np.zeros(len(place))
        row[[place[step, a, b] for a, b in cells]] = 1.0
        matrix.append(row)
        known.append(number)

    def cells_of(attribute: str, name: str) -> list[tuple[str, str]]:
        if attribute == "Gender":
            return [(name, b) for b in columns]
        if attribute == "Ethnicity":
            return [(a, name) for a in rows]
        first, _, second = name.partition("+")
        races = set(columns) - {"unknown"} if second == "other" else set(second.split(" or "))
        if second == "other":
            races -= {g["name"].partition("+")[2] for g in document["groups"] if g["attribute"] == attribute}
        return [(first, b) for b in columns if b in races]

    for group in document["groups"]:
        for step in STEPS:
            equation(step, cells_of(group["attribute"], group["name"]), group["steps"][step])
    for table in document["disparity"]["tables"]:
        for group in table["groups"]:
            equation(table["step"], cells_of(table["attribute"], group["group"]), group["selected"])
    for a in rows:
        for b in columns:
            row = np.zeros(len(place))
            row[place["Hired", a, b]], row[place["Interviewed", a, b]] = 1.0, -1.0
            matrix.append(row)
            known.append(0)
    lows = np.array(known, dtype=float)
    highs = lows.copy()
    lows[-len(rows) * len(columns) :] = -np.inf
    most = np.array([size[a, b] for _, a, b in place], dtype=float)
    return LinearConstraint(np.array(matrix), lows, highs), Bounds(np.zeros(len(place)), most)


def said_by_whole_groups(
    document: dict[str, Any], step: str, a: str, b: str, sizes: dict[tuple[str, str], int]
) -> bool:
    """Whether rates of 0 or 100 % say it: of a group that holds the cell, or of all the others that its group holds."""

    def whole(name: str) -> bool:
        group = next((g for g in document["groups"] if g["name"] == name), None)
        return group is not None and group["steps"][step] in (0, group["applicants"])

    for group in document["groups"]:
        first, _, second = group["name"].partition("+")
        inside = group["name"] in (a, b) or (first == a and (second == "other" or b in second.split(" or ")))
        reached = [group["applicants"], *(group["steps"][step] for step in STEPS)]
        if inside and any(now in (0, before) for before, now in pairwise(reached)):
            return True
    others = [y for x, y in sizes if x == a and y != b], [x for x, y in sizes if y == b and x != a]
    return any(all(map(whole, names)) for names in others)


def test_threshold_zero_shows_everybody() -> None:
    history = auditkit.read(applications(3))
    shown = protect(history, 0)
    assert shown.left_out == 0 and not shown.merged
    assert len(shown.history.table) == len(history.table)


def test_the_position_of_somebody_left_out_goes_with_them() -> None:
    frame = pd.DataFrame(
        {
            "Application ID": range(40),
            "Requisition": "R1",
            "Openings": 6,
            "Gender": ["Female", "Male"] * 19 + ["mf", "Male"],
            "Hired": ["yes"] * 4 + ["no"] * 34 + ["yes", "no"],
        }
    )
    shown = protect(auditkit.read(frame), THRESHOLD)
    assert shown.left_out == 1 and set(shown.history.table["capacity"]) == {5}


@pytest.mark.parametrize("name", ["hiring.csv", "hiring-messy.csv", "hiring-stages.csv"])
def test_the_rows_of_the_file_are_applications_and_those_left_out(name: str) -> None:
    history = auditkit.read(ROOT / "sample_data" / name)
    scope = people.scope(history, protect(history, THRESHOLD), "").to_json()
    assert scope["rows"] == scope["applications"] + sum(left["rows"] for left in scope["left_out"])
    assert all(left["rows"] > 0 for left in scope["left_out"]) and scope.get("stand_for") is None


def test_rows_that_are_counts_stand_for_applications() -> None:
    table = pd.DataFrame(
        {
            "Gender": ["Male", "Male", "Female", "Female"],
            "Dept": ["A"] * 4,
            "Admit": ["Admitted", "Rejected"] * 2,
            "Freq": [512, 313, 89, 19],
        }
    )
    history = auditkit.read(table)
    scope = people.scope(history, protect(history, THRESHOLD), "").to_json()
    assert (scope["rows"], scope["stand_for"], scope["applications"], scope["left_out"]) == (4, 933, 933, [])


# The whole document ---------------------------------------------------------------------------------------------------


def document_of(frame: pd.DataFrame, **settings: Any) -> dict[str, Any]:
    """Everything that a report of a table says, but for the digest of its rows."""
    config = Config().over(report__replicates=0, **settings)
    found: dict[str, Any] = audit(frame, config, plugins(), when="2026-01-01T00:00:00Z").to_json()
    del found["input"]["sha256"]
    return found


def two_in_small_values(column: str, values: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A firm with a large difference, and the same with the outcomes of two women of small values exchanged.

    They applied to the same requisition: what holds within requisitions is computed over all of them.
    """
    rng = np.random.default_rng(5)
    sizes = {"Female": [120, 90, 3, 4, 4], "Male": [110, 95, 60, 8, 3]}
    cells = [(sex, value, n) for sex, each in sizes.items() for value, n in zip(values, each, strict=True)]
    frame = pd.DataFrame([cell[:2] for cell in cells for _ in range(cell[2])], columns=["Gender", column])
    frame["Requisition"] = [f"R{i % 3}" for i in range(len(frame))]
    chance = np.where(frame["Gender"] == "Male", 0.7, 0.25)
    frame["Hired"] = np.where(rng.random(len(frame)) < chance, "yes", "no")
    frame.insert(0, "Application ID", [f"a{i}" for i in range(len(frame))])
    small = frame[(frame["Gender"] == "Female") & (frame["Requisition"] == "R1") & frame[column].isin(values[2:])]
    hidden = small.groupby(column).head(1).index[:2]
    frame.loc[hidden, "Hired"] = ["yes", "no"]
    other = frame.copy()
    other.loc[hidden, "Hired"] = ["no", "yes"]
    return frame, other


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("Department", ["Sales", "IT", "Legal", "Art", "Lab"]),
        ("Application Date", ["2024-01-09", "2024-02-09", "2024-03-09", "2024-04-09", "2024-05-09"]),
    ],
)
def test_nothing_tells_who_was_hired_in_a_small_value(column: str, values: list[str]) -> None:
    """Two women of different small values exchange their outcomes: no number of the document changes."""
    frame, other = two_in_small_values(column, values)
    before = document_of(frame)
    assert any(table["segment"] in (column, "period", "requisition") for table in before["segments"])
    listed = {part["value"] for t in before["segments"] if t["segment"] != "requisition" for part in t["parts"]}
    assert len(listed) == 2
    assert document_of(other) == before


def small_requisitions(seed: int) -> pd.DataFrame:
    """A firm of 4 to 11 requisitions with one or two women each, among 3 to 14 men, or the other way round."""
    rng = np.random.default_rng(seed)
    cells = []
    for k in range(int(rng.integers(4, 12))):
        few, many = int(rng.integers(1, 3)), int(rng.integers(3, 15))
        sizes = (few, many) if k % 3 else (many, few)
        chance = rng.uniform(0.1, 0.6)
        cells += [
            (f"R{k:02d}", sex, "yes" if rng.random() < chance else "no")
            for sex, n in zip(("Female", "Male"), sizes, strict=True)
            for _ in range(n)
        ]
    frame = pd.DataFrame(cells, columns=["Requisition", "Gender", "Hired"])
    frame.insert(0, "Application ID", [f"a{i:04d}" for i in range(len(frame))])
    return frame


def strata_of(frame: pd.DataFrame) -> pd.Series[int]:
    requisition = pd.factorize(frame["Requisition"], sort=True)[0]
    n = pd.crosstab(requisition, frame["Gender"]).to_numpy()
    return pd.Series(join_requisitions(n, THRESHOLD)[requisition], index=frame.index)


def exchanged(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The outcomes of each sex dealt out again within each stratum."""
    rng, other = np.random.default_rng(seed), frame.copy()
    for _, who in frame.groupby([strata_of(frame), "Gender"]).groups.items():
        other.loc[who, "Hired"] = rng.permutation(frame.loc[who, "Hired"].to_numpy())
    return other


@pytest.mark.parametrize("seed", range(10))
def test_nothing_within_requisitions_tells_who_was_hired_in_a_small_one(seed: int) -> None:
    """Five statistics of a table used to leave nine in ten of these outcomes only one possible value."""
    frame = small_requisitions(seed)
    other = exchanged(frame, seed)
    before, after = (
        disparities(
            Applicants({"sex": t["Gender"]}, {"Hired": t["Hired"] == "yes"}, strata=t["Requisition"]),
            DisparitySettings(threshold=THRESHOLD),
        )
        for t in (frame, other)
    )
    assert (frame["Hired"] != other["Hired"]).any()
    assert repr(after) == repr(before)


def test_the_whole_document_is_the_same_whoever_was_hired_in_small_requisitions() -> None:
    frame = pd.concat([small_requisitions(seed).assign(seed=seed) for seed in range(4)], ignore_index=True)
    frame["Requisition"] += frame.pop("seed").astype(str)
    frame["Application ID"] = [f"a{i:04d}" for i in range(len(frame))]
    before = document_of(frame)
    table = before["disparity"]["tables"][0]
    assert table["joined"] > 20 and max(row["within"]["strata"] for row in table["groups"] if row["within"]) > 5
    assert document_of(exchanged(frame, 1)) == before


@pytest.mark.parametrize("seed", range(10))
def test_evidence_over_time_does_not_tell_who_was_hired_in_a_small_requisition(seed: int) -> None:
    """Neither its sums nor its fingerprints; requisitions for which there is no set yet wait, and are counted later."""
    frame = small_requisitions(seed)

    def closed(table: pd.DataFrame) -> Closings:
        people = Applicants({"sex": table["Gender"]}, {"Hired": table["Hired"] == "yes"}, strata=table["Requisition"])
        found = closings(people, DisparitySettings(threshold=THRESHOLD))
        assert found is not None
        return found

    found = closed(frame)
    sets = found.sets("sex", range(len(found.requisitions)))
    place = {found.requisitions[k]: number for number, members in enumerate(sets) for k in members}
    rng, other = np.random.default_rng(seed), frame.copy()
    for _, who in frame.groupby([frame["Requisition"].map(place).fillna(-1), "Gender"]).groups.items():
        other.loc[who, "Hired"] = rng.permutation(frame.loc[who, "Hired"].to_numpy())
    first = carried(found, None, "x")
    assert (frame["Hired"] != other["Hired"]).any() and carried(closed(other), None, "x").kept() == first.kept()
    for members in sets:
        total = found.applicants["sex"][members].sum(axis=0)
        assert not ((total > 0) & (total < THRESHOLD)).any()
    assert len(first.counted) == len(place) < frame["Requisition"].nunique()  # the others wait, and are counted later
    many = pd.concat([frame.assign(Requisition=frame["Requisition"] + more) for more in ("", "a", "b", "c", "d")])
    later = carried(closed(many), first, "y")
    assert later.restarted is None and len(later.counted) > 0.8 * many["Requisition"].nunique()
    assert {id: later.counted[id] for id in first.counted} == first.counted


@pytest.mark.parametrize("seed", range(20))
def test_joined_requisitions_hold_enough_of_every_group(seed: int) -> None:
    """Of any number of groups; those of a crossing hold whole ones of both attributes, and large ones stay alone."""
    rng = np.random.default_rng(seed)
    places = [join_requisitions(rng.poisson(rng.uniform(1, 8), (40, groups)), THRESHOLD) for groups in (2, 5)]
    n = rng.poisson(2.0, (40, 3))
    within = rng.integers(0, 3, 40)
    together = common(*places)
    for start, block in ((None, None), (together, None), (None, within)):
        place = join_requisitions(n, THRESHOLD, start, block)
        sums = pd.DataFrame(n).groupby(place).sum().to_numpy()
        assert not ((sums > 0) & (sums < THRESHOLD)).any()
        for inner in [] if start is None else [start, *places]:
            assert (pd.Series(place).groupby(inner).nunique() == 1).all()
        if block is not None:
            assert (pd.Series(block).groupby(place).nunique() == 1).all()
    assert join_requisitions(n + THRESHOLD, THRESHOLD).tolist() == list(range(40))


def test_sets_of_equal_shares_leave_the_excess_of_a_group_as_it_is() -> None:
    rng = np.random.default_rng(3)
    size = rng.integers(1, 4, 30)
    n = np.stack([size, 2 * size], axis=1)
    x = rng.binomial(n, 0.4)
    place = join_requisitions(n, THRESHOLD)
    single = stratify(n[:, 0], x[:, 0], n[:, 1], x[:, 1])
    n, x = (pd.DataFrame(c).groupby(place).sum().to_numpy() for c in (n, x))
    joined = stratify(n[:, 0], x[:, 0], n[:, 1], x[:, 1])
    assert joined.strata < single.strata
    assert joined.shortfall == pytest.approx(single.shortfall, abs=1e-12)


def test_joining_small_requisitions_keeps_the_error_and_the_power_of_the_test() -> None:
    """Women apply where fewer are hired: that looks like a difference pooled, but not in sets of similar shares."""
    rng = np.random.default_rng(20)
    found: dict[tuple[str, float], list[bool]] = {}
    for odds in [1.0, 0.4] * 150:
        size, share = rng.integers(5, 15, 25), rng.beta(2, 2, 25)
        women = rng.binomial(size, share)
        n = np.stack([women, size - women], axis=1)
        rate = 1 / (1 + np.exp(0.8 + 2.5 * (share - 0.5) + rng.normal(0, 0.5, 25)))
        x = rng.binomial(n, np.stack([rate * odds / (1 - rate + rate * odds), rate], axis=1))
        place = join_requisitions(n, THRESHOLD)
        for name, strata in {"single": np.arange(25), "joined": place, "pooled": np.zeros(25, dtype=int)}.items():
            own_n, own_x = (pd.DataFrame(c).groupby(strata).sum().to_numpy() for c in (n, x))
            p = stratify(own_n[:, 0], own_x[:, 0], own_n[:, 1], own_x[:, 1]).p
            found.setdefault((name, odds), []).append(p is not None and p <= 0.05)
    share_of = {key: float(np.mean(hits)) for key, hits in found.items()}
    assert share_of["joined", 1.0] <= 0.08 < 0.2 < share_of["pooled", 1.0]
    assert share_of["joined", 0.4] >= share_of["single", 0.4] - 0.05 >= 0.5


def test_nothing_depends_on_the_outcome_of_somebody_left_out() -> None:
    """One person of a category of three: hired or not, with a high score or a low one, the report is the same."""
    frame = pd.DataFrame(rows(searches=8, each=9))
    frame.loc[[4, 22, 40], "Gender"] = "Nonbinary"
    frame.loc[[4, 22, 40], ["Interviewed", "Interview Score", "Hired"]] = ["yes", "5.0", "no"]
    other = frame.copy()
    other.loc[22, ["Interview Score", "Hired"]] = ["9.5", "yes"]
    before = document_of(frame, fit__points=6, report__what_if=False)
    assert before["firm"] is not None
    assert document_of(other, fit__points=6, report__what_if=False) == before


@pytest.mark.parametrize("seed", range(40))
def test_joined_values_hold_enough_of_every_group(seed: int) -> None:
    rng = np.random.default_rng(seed)
    code, groups = rng.geometric(0.2, 300).clip(max=12) - 1, rng.integers(-1, 3, 300)
    names = tuple(f"v{i}" for i in range(12))
    joined, values = join_small(code, names, groups, THRESHOLD)
    cells = pd.crosstab(joined[groups >= 0], groups[groups >= 0]).to_numpy()
    whole = pd.crosstab(code[groups >= 0], groups[groups >= 0])
    if len(values) > 1:
        assert not ((cells > 0) & (cells < THRESHOLD)).any()
    for at, name in enumerate(values):
        if name != JOINED:
            assert set(np.flatnonzero(joined == at)) == set(np.flatnonzero(code == names.index(name)))
    if not ((whole > 0) & (whole < THRESHOLD)).any(axis=None):
        assert values == names


def test_two_reports_a_row_apart_do_not_give_away_a_score() -> None:
    """The utility of what the firm did is a sum over people: exact, its difference was the score of one of them."""
    frame = pd.DataFrame(rows(searches=8, each=9))
    hired = frame.index[frame["Hired"] == "yes"]
    settings = {"fit__points": 6, "report__what_if": False, "cost": 1.0}
    whole = document_of(frame, **settings)["firm"]["utility"]
    for row in hired[:3]:
        without = document_of(frame.drop(index=row), **settings)["firm"]["utility"]
        score = float(frame.loc[row, "Interview Score"])
        assert float(f"{whole:.3g}") == whole and float(f"{without:.3g}") == without
        assert abs(whole - without - score) > 1e-6 and abs(whole - without - score + 1.0) > 1e-6


def test_a_second_report_with_other_settings_is_warned_of(auditkit: Any, tmp_path: Path) -> None:
    people_csv = save(tmp_path / "people.csv", rows(searches=6, each=6), leave=("Interview Score",))
    assert "with other settings" not in auditkit("report", people_csv).err
    assert "with other settings" not in auditkit("report", people_csv, "--format", "json").err
    (tmp_path / "other.toml").write_text("[report]\nsuppress_below = 0\n")
    run = auditkit("report", people_csv, "--config", "other.toml", "-o", "second")
    assert run.code == 0
    assert "warning: a report of the same data with other settings exists (people.audit.json)" in run.err
    more = save(tmp_path / "more.csv", rows(searches=7, each=6), leave=("Interview Score",))
    assert "with other settings" not in auditkit("report", more, "--config", "other.toml").err


LEFT = (
    *(("yes", "Hired"), ("yes", "Withdrawn"), ("yes", "Rejected")),
    *(("no", "Withdrawn"), ("no", "Rejected")),
)


def leavers() -> pd.DataFrame:
    """Of 60 women and 40 men of two races: hired, withdrew after the interview or before it, rejected; in turn."""
    cells = []
    for race, sex, number in (("White", "F", 40), ("White", "M", 30), ("Black", "F", 20), ("Black", "M", 10)):
        for k in range(number):
            cells.append((sex, race, *LEFT[k % 5]))
    return pd.DataFrame(cells, columns=["Gender", "Race", "Interviewed", "Status"])


def test_withdrawals_are_counted_at_the_steps_reached_and_nowhere_after() -> None:
    history = auditkit.read(leavers())
    shown = protect(history, 0)
    scope = people.scope(history, shown, "")
    # 20 of each kind: 12 women and 8 men
    assert (scope.applications, scope.reached, scope.decided) == (
        80,
        {"Interviewed": 60, "Hired": 20},
        {"Interviewed": 80, "Hired": 60},
    )
    assert {left.reason: left.rows for left in scope.left_out} == {"withdrawn": 20}
    women, men = (next(g for g in people.groups(shown) if g.name == sex) for sex in ("F", "M"))
    assert (women.applicants, women.steps["Hired"], women.decided) == (48, 12, {"Interviewed": 48, "Hired": 36})
    assert (men.applicants, men.steps["Hired"], men.decided) == (32, 8, {"Interviewed": 32, "Hired": 24})
    assert women.share("Interviewed") == men.share("Interviewed") == 0.75
    assert women.share("Hired") == men.share("Hired") == 1 / 3


def test_cells_of_people_who_all_left_are_joined_with_others() -> None:
    """Nobody of a cell was decided on in the end, but a few are counted at the first step."""
    code, groups = np.repeat([0, 0, 1, 1], [8, 8, 2, 9]), np.repeat([0, 1, 0, 1], [8, 8, 2, 9])
    decided = ~((code == 1) & (groups == 0))
    place = join_requisitions(np.array([[8, 8], [0, 9]]), THRESHOLD, there=np.array([[True, True], [True, True]]))
    assert place.tolist() == [0, 0]
    assert join_requisitions(np.array([[8, 8], [0, 9]]), THRESHOLD).tolist() == [0, 1]
    assert join_small(code, ("a", "b"), groups, THRESHOLD, decided)[1] == (JOINED,)
    assert join_small(code, ("a", "b"), np.where(decided, groups, -1), THRESHOLD)[1] == ("a", "b")


def test_crossed_cells_of_people_who_all_left_are_not_shown() -> None:
    frame = leavers()
    more = pd.DataFrame([("M", "Asian", "yes", "Withdrawn")] * 3 + [("F", "Asian", "yes", "Hired")] * 9)
    frame = pd.concat([frame, more.set_axis(frame.columns, axis=1)], ignore_index=True)
    frame["Interviewed"] = np.where(frame.index % 7 == 0, "no", frame["Interviewed"])
    frame.loc[frame["Status"] == "Hired", "Interviewed"] = "yes"
    shown = protect(auditkit.read(frame), THRESHOLD)
    labels = set(shown.crossings.get("Gender+Race", pd.Series(dtype="str")))
    assert "M+Asian" not in labels and shown.merged
