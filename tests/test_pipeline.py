"""From an export to a document: golden JSON, the same bytes twice, nobody recognisable, missing parts said.

The golden document is `golden/audit.json`. After a change that is meant, look at the difference and then:

    UPDATE_GOLDEN=1 .venv/bin/pytest tests/test_pipeline.py -k golden
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from auditkit import api, pipeline
from auditkit.config import Config, check
from auditkit.data.problems import CODES
from auditkit.errors import InputError
from auditkit.report import findings, html
from auditkit.report.load_report import load
from auditkit.report.people import in_general
from auditkit.report.published_digits import rounded
from support.audit_helpers import HEADER, dump, plugins, rows, save

GOLDEN = Path(__file__).parent / "golden" / "audit.json"
PLUGINS = plugins()
EPOCH = "1790000000"
KEYS = (
    *("format", "version", "created", "input", "config", "mapping", "reading", "problems", "scope", "attributes"),
    "steps",
    *("groups", "firm", "unconstrained", "constrained", "disparity", "segments", "funnel", "frontier", "sensitivity"),
    *("value_of_a_point", "alternatives", "revealed", "scores", "fit", "sections", "findings", "provenance"),
)
BANNED = re.compile(r"\b(fair|unfair|unbiased|bias-free|compliant|compliance|discriminat\w+)\b", re.IGNORECASE)
Doc = dict[str, Any]


@pytest.fixture(autouse=True)
def fixed_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", EPOCH)


def audited(path: Path, **settings: Any) -> pipeline.Audit:
    settings.setdefault("report__replicates", 25)
    settings.setdefault("profile", "nyc-ll144")
    return pipeline.audit(path, Config().over(**settings), PLUGINS)


@pytest.fixture(scope="module")
def whole(people: Path) -> Doc:
    """The document of the small export; do not change it."""
    before = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = EPOCH
    try:
        return audited(people).to_json()
    finally:
        if before is None:
            del os.environ["SOURCE_DATE_EPOCH"]


def numbers_apart(one: Any, other: Any, place: str = "") -> list[str]:
    """Where two documents differ by more than rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        if list(one) != list(other):
            return [f"{place}: keys {list(one)} and {list(other)}"]
        return [d for key in one for d in numbers_apart(one[key], other[key], f"{place}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [d for i, (a, b) in enumerate(zip(one, other)) for d in numbers_apart(a, b, f"{place}[{i}]")]
    if isinstance(one, float) or isinstance(other, float):
        same = None not in (one, other) and one == pytest.approx(other, rel=1e-6, abs=1e-6)
        return [] if same else [f"{place}: {one} and {other}"]
    return [] if one == other else [f"{place}: {one!r} and {other!r}"]


def test_golden(people: Path) -> None:
    # without intervals, whose last digits are the LP solver's
    kept = json.loads(dump(audited(people, report__replicates=0).to_json()))
    for volatile in ("version", "provenance"):
        kept.pop(volatile)
    for entry in kept["constrained"]:
        for any_optimum in ("policies", "mixture", "randomised"):  # any optimal mixture will do
            entry.pop(any_optimum)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    wrong = numbers_apart(json.loads(GOLDEN.read_text(encoding="utf-8")), kept)
    assert not wrong, f"if it is meant: see the head of {Path(__file__).name}\n" + "\n".join(wrong[:20])


def test_the_document_has_its_shape(whole: Doc) -> None:
    assert tuple(whole) == KEYS
    assert whole["format"] == "auditkit-report/3"
    assert whole["created"] == "2026-09-21T14:13:20Z"
    assert whole["input"]["path"] == "people.csv"
    assert whole["problems"]["counts"] == {"read": 108, "used": 108, "left": {}}
    assert [entry["label"] for entry in whole["constrained"]] == [
        "parity",
        "impact-ratio",
        "all together",
    ]
    for entry in whole["constrained"]:
        assert entry["status"] == "optimal"
        assert entry["gap"] < 1e-6
        assert entry["price_of_fairness"]["loss"] >= -1e-9
        assert sum(entry["unfilled"]["probabilities"]) == pytest.approx(1)
        laws = entry["ex_post_slack"]
        assert laws and all(law["sd"] > 0 and -1 <= law["normalised"]["mean"] <= 1 for law in laws)
        assert 0 <= entry["group_aware"]["loss"] < entry["price_of_fairness"]["loss"], "the bound with the group"
        total = sum(row["selected"] for row in entry["by_group"]["Gender"].values())
        assert total + entry["unfilled_capacity"] == pytest.approx(12)
    interval = whole["constrained"][0]["price_of_fairness"]["interval"]
    assert (interval["level"], interval["replicates"]) == (0.95, 25)
    assert interval["one_sided"] == (interval["loss"][0] == 0)
    assert all(dual["interval"] is not None for dual in whole["constrained"][0]["duals"])
    assert whole["firm"]["capacity"] == 12
    assert [(row["attribute"], row["name"]) for row in whole["groups"]] == [("Gender", "Female"), ("Gender", "Male")]
    assert sum(row["applicants"] for row in whole["groups"]) == whole["scope"]["applications"] == 107
    assert whole["scope"]["left_out"] == [{"reason": "category-too-small-to-show", "rows": 1}]  # one of unknown group
    assert whole["steps"] == ["Interviewed", "Hired"]
    assert [row["step"] for row in whole["funnel"]] == ["applied", "Interviewed", "Hired"]
    for row in whole["funnel"]:
        assert row["by_group"]["Gender"] == {group["name"]: group["steps"][row["step"]] for group in whole["groups"]}
    assert whole["fit"]["fitter"] == "empirical"
    assert sum(whole["fit"]["pit"]["shares"]) == pytest.approx(1, abs=0.005)  # ten shares of three digits
    tables = {(t["attribute"], t["step"], t["kind"]): t for t in whole["disparity"]["tables"]}
    assert list(tables) == [
        ("Gender", "Interviewed", "cumulative"),
        ("Gender", "Hired", "cumulative"),
        ("Gender", "Hired", "conditional"),
    ]
    for (_, step, kind), table in tables.items():
        base = "Interviewed" if kind == "conditional" else "applied"
        for row, group in zip(table["groups"], whole["groups"], strict=True):
            assert (row["applicants"], row["selected"]) == (group["steps"][base], group["steps"][step])
    law = whole["sections"]["local-law-144"]["data"]
    assert [(table["name"], table["applicants"]) for table in law["tables"]] == [("sex", 107)] * 2
    assert {"item": "Date of the audit", "text": "2026-09-21"} in law["statement"]


def test_words_are_careful(whole: Doc) -> None:
    for finding in whole["findings"]:
        assert set(finding) >= {"kind", "code", "text"}
        assert not BANNED.search(finding["text"]), finding
        assert finding["text"][0].isupper() or finding["text"][0].isdigit()
        assert finding["text"].endswith(".")
    kinds = [finding["kind"] for finding in whole["findings"]]
    found = load(whole).findings
    assert list(found) == findings.in_order(found)
    rest = [f["kind"] for f in whole["findings"] if f["code"] not in findings.LAST]
    assert rest == sorted(rest, key=findings.KINDS.index)  # by importance
    assert kinds[0] == "price" and not {"disparity", "segment"} & {*kinds}
    codes = [finding["code"] for finding in whole["findings"]]
    assert codes.count("price-of-fairness") == codes.count("no-difference-found") == 1
    assert "default-constraints" in codes
    assert "categories-too-small" in codes


def test_the_same_bytes_twice(people: Path, whole: Doc) -> None:
    again = audited(people)
    assert dump(again.to_json()) == dump(whole)
    page = html.render(again.report)
    assert page == html.render(load(json.loads(dump(whole))))


def test_nobody_can_be_recognised(whole: Doc) -> None:
    text, page = dump(whole), html.render(load(whole))
    table = rows()
    for row in table:
        assert row["Candidate ID"] not in text
        assert row["Candidate ID"] not in page
    assert not re.search(r"\bc\d+\b", "".join(re.findall(r'"label": "[^"]*"', text)))
    assert "REQ-" not in text


def test_small_groups_are_in_no_number(tmp_path: Path) -> None:
    """The report is that of the data without them."""
    path = save(tmp_path / "people.csv", rows(tiny=3))
    document = audited(path, report__replicates=0).to_json()
    assert "Divers" not in dump(document)
    assert "Divers" not in html.render(load(document))
    assert {f["code"] for f in document["findings"]} >= {"categories-too-small"}
    without = [row for row in rows(tiny=3) if row["Gender"] not in ("Divers", "")]
    other = audited(save(tmp_path / "others.csv", without), report__replicates=0).to_json()
    assert document["scope"]["rows"] - document["scope"]["applications"] == 4
    for part in ("groups", "funnel", "disparity", "segments", "attributes"):
        assert document[part] == other[part], part
    with pytest.raises(InputError, match="no candidate is in group 'Divers'"):
        audited(path, constraints=[{"type": "parity", "groups": ["Male", "Divers"]}])
    shown = audited(path, report__suppress_below=0, report__replicates=0).to_json()
    assert {row["name"]: row["applicants"] for row in shown["groups"]}["Divers"] == 3
    assert shown["scope"]["applications"] == 108


def test_small_cells_of_a_crossing_are_merged(tmp_path: Path) -> None:
    table = rows(searches=12, each=10)
    for i, row in enumerate(table):
        row["Race"] = "White" if i % 3 else "Black"
    few = [row for row in table if row["Race"] == "Black" and row["Gender"] == "Female"]
    for row in few[3:]:
        row["Race"] = "White"
    path = tmp_path / "people.csv"
    header = ",".join([*HEADER, "Race"])
    path.write_text("\n".join([header, *(",".join(str(row[n]) for n in (*HEADER, "Race")) for row in table)]) + "\n")
    document = audited(path, report__replicates=0, fit__points=8).to_json()
    assert document["scope"]["merged"] == {"Gender+Race": ["Female", "Male"]}
    assert {row["attribute"] for row in document["groups"]} == {"Gender", "Race"}
    assert all(row["applicants"] >= 5 for row in document["groups"])
    law = document["sections"]["local-law-144"]["data"]["tables"]
    assert all(row["applicants"] >= 5 for one in law for row in one["rows"])


def test_without_scores_or_costs_there_is_still_the_disparity_audit(tmp_path: Path) -> None:
    bare = save(tmp_path / "a.csv", rows(), ("Interview Score", "Interview Cost", "Performance Rating"))
    document = audited(bare).to_json()
    for part in ("firm", "unconstrained", "constrained", "fit"):
        assert document[part] is None
    codes = {f["code"]: f["text"] for f in document["findings"]}
    assert "there is no score" in codes["no-fit"]
    assert not re.search(r"--\w", " ".join(codes.values())), "a report names no flag"
    assert {"no-firm", "no-unconstrained", "no-constrained"} <= set(codes)
    assert [t["step"] for t in document["disparity"]["tables"]] == ["Interviewed", "Hired", "Hired"]
    assert "<html" in html.render(load(document))
    costless = save(tmp_path / "b.csv", rows(), ("Interview Cost",))
    priced = audited(costless, report__replicates=0).to_json()
    assert priced["fit"]["settings"]["cost"] == priced["value_of_a_point"]["unit"] == "inspection"
    assert "(the data have no cost" in next(f["text"] for f in priced["findings"] if f["code"] == "value-of-a-point")
    assert priced["constrained"][0]["price_of_fairness"]["interval"] is None
    assert "no-interval" in {f["code"] for f in priced["findings"]}
    plain = save(tmp_path / "c.csv", rows(), ("Performance Rating", "Openings"))
    document = audited(plain, report__replicates=0).to_json()
    codes = {f["code"]: f["text"] for f in document["findings"]}
    assert "no-long-term-utility" in codes
    assert "no-capacity" in codes
    assert document["firm"]["long_term_utility"] is None


def test_a_best_search_that_selects_no_one_is_no_benchmark(few_people: Path) -> None:
    document = audited(few_people, value_scale=1e-6).to_json()
    assert document["unconstrained"] is None and document["constrained"] is None and document["alternatives"] is None
    point = document["value_of_a_point"]
    assert point["source"] == "given" and point["at_value"]["selected"] < 1
    assert "would select no one" in next(f["text"] for f in document["findings"] if f["code"] == "no-fit")


def test_few_scores_are_no_model(tmp_path: Path) -> None:
    path = save(tmp_path / "few.csv", rows(searches=1))
    document = audited(path).to_json()
    assert document["fit"] is None
    assert "score" in next(f["text"] for f in document["findings"] if f["code"] == "no-fit")


def test_an_audit_of_inspections_only(tmp_path: Path) -> None:
    path = save(tmp_path / "people.csv", rows(), ("Hired", "Performance Rating", "Interview Score"))
    document = audited(path).to_json()
    (table,) = document["disparity"]["tables"]
    assert (table["step"], table["kind"]) == ("Interviewed", "cumulative")
    assert [row["step"] for row in document["funnel"]] == ["applied", "Interviewed"]
    assert set(document["groups"][0]["steps"]) == {"applied", "Interviewed"}


def test_stages_are_in_the_funnel(tmp_path: Path) -> None:
    lines = ["candidate id,req id,gender,phone screen,onsite interview,offer"]
    for i in range(40):
        lines.append(f"p{i},r{i % 4},{'FM'[i % 2]},{'yes' if i % 3 else 'no'},{'yes' if i % 6 in (1, 2) else ''},"
                     f"{'yes' if i % 12 == 1 else ''}")  # fmt: skip
    path = tmp_path / "stages.csv"
    path.write_text("\n".join(lines) + "\n")
    mapping = {"stages": ["phone screen", "onsite interview", "offer"]}
    document = audited(path, mapping=mapping).to_json()
    assert [row["step"] for row in document["funnel"]] == ["applied", *document["steps"]]
    assert document["steps"] == ["phone screen", "onsite interview", "offer"]
    assert {t["step"] for t in document["disparity"]["tables"]} == set(document["steps"])


def test_problems_are_counted_and_told_without_cells(tmp_path: Path) -> None:
    table = rows()
    path = save(tmp_path / "people.csv", [*table, table[5], table[17]])
    document = audited(path, report__replicates=0).to_json()
    assert document["problems"]["counts"] == {"read": 110, "used": 108, "left": {"repeated-row": 2}}
    by_code = {row["code"]: row for row in document["problems"]["by_code"]}
    assert by_code["repeated-row"]["count"] == 2
    assert by_code["repeated-row"]["what"] == "the row repeats another one cell by cell and is left out"
    assert table[5]["Candidate ID"] not in dump(document)
    assert "left-out-repeated-row" in {f["code"] for f in document["findings"]}
    for kind in CODES.values():
        for text in (kind.what, kind.fix):
            assert "{" not in in_general(text)


def test_individual_rows_are_not_shown(people: Path) -> None:
    floor = {"type": "floor", "minimum": 0.001}
    document = audited(people, constraints=[floor], report__replicates=0, fit__points=10).to_json()
    (entry,) = document["constrained"]
    (dual,) = entry["duals"]
    assert dual["label"] == "107 rows, one for each candidate"
    assert entry["policies"] is None
    assert entry["ex_post_slack"] is None
    assert "REQ-" not in dump(document)
    assert "ex-post-slack-not-computed" in {f["code"] for f in document["findings"]}


def test_conflicts_are_findings(people: Path) -> None:
    clash = [{"type": "quota", "group": "Female", "share": 0.9}, {"type": "quota", "group": "Male", "share": 0.9}]
    clash.append({"type": "budget", "limit": -6, "expense": -1})
    document = audited(people, constraints=clash, report__replicates=0, fit__points=10).to_json()
    last = document["constrained"][-1]
    assert last["status"] == "infeasible"
    assert last["utility"] is last["duals"] is None
    assert len(last["conflict"]) >= 2
    assert any(f["code"] == "infeasible" for f in document["findings"])
    assert "<html" in html.render(load(document))


def test_files_are_written_whole_or_not_at_all(
    people: Path, whole: Doc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = audited(people, report__formats=("html", "json"), fit__points=10, report__replicates=0)
    written = pipeline.write(audit, tmp_path / "out.audit")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.audit.html", "out.audit.json"]
    assert {p.name for p in written.files} == {"out.audit.html", "out.audit.json"}
    before = (tmp_path / "out.audit.html").read_bytes()

    def fail(*_: object, **__: object) -> str:
        raise RuntimeError("drawing fails")

    monkeypatch.setattr("auditkit.report.html.render", fail)
    with pytest.raises(RuntimeError, match="drawing fails"):
        pipeline.write(audit, tmp_path / "out.audit")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.audit.html", "out.audit.json"]
    assert (tmp_path / "out.audit.html").read_bytes() == before
    with pytest.raises(InputError, match="cannot be written"):
        monkeypatch.undo()
        pipeline.write(audit, tmp_path / "nowhere" / "x")


def test_a_pdf_needs_pango_and_nothing_else_does(people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from auditkit.report import pdf

    def missing(*_: object) -> bytes:
        raise pdf.PdfUnavailable("no library")

    monkeypatch.setattr(pdf, "render", missing)
    audit = audited(people, report__formats=("html", "pdf"), fit__points=10, report__replicates=0)
    written = pipeline.write(audit, tmp_path / "x")
    assert [p.name for p in written.files] == ["x.html"]
    (why,) = written.not_written
    assert "libpango" in why


def test_settings_are_checked_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        check({"valuescale": 2, "fit": {"folds": 1, "fiter": "x"}, "report": {"formats": []}})
    text = str(caught.value)
    assert "did you mean 'value_scale'" in text
    assert "fit.folds" in text
    assert "did you mean 'fitter'" in text
    assert "report.formats" in text
    with pytest.raises(InputError, match=r"formats: .*'odt'"):
        audited(save(tmp_path / "p.csv", rows()), report__formats=("odt",))
    with pytest.raises(InputError, match="there is no fitter 'x'"):
        audited(save(tmp_path / "p.csv", rows()), fit__fitter="x")
    with pytest.raises(InputError, match=r"constraints\[0\].*did you mean 'parity'"):
        audited(tmp_path / "p.csv", constraints=[{"type": "party"}])


# The sample data ------------------------------------------------------------------------------------------------------

SAMPLES = Path(__file__).parents[1] / "sample_data"


@pytest.fixture(scope="module")
def sample() -> Doc:
    """The report of the sample under parity; do not change it."""
    settings = {"report__replicates": 0, "report__what_if": False, "report__alternatives": False}
    return audited(SAMPLES / "hiring.csv", constraints=[{"type": "parity"}], **settings).to_json()


def test_the_difference_by_sex_is_named_first(sample: Doc) -> None:
    first = sample["findings"][0]
    assert (first["kind"], first["attribute"], first["step"]) == ("disparity", "Gender", "Interviewed")
    assert first["group"] == "Female"


def test_data_without_a_planted_difference_name_none() -> None:
    document = audited(SAMPLES / "hiring-level.csv", mapping={"score": "none"}).to_json()
    assert not [f for f in document["findings"] if f["code"].startswith("difference")]
    assert not [
        row["status"]
        for table in document["disparity"]["tables"]
        for row in table["groups"]
        if row["status"].startswith("difference")
    ]


def test_report_fit_and_solve_see_the_same_problem(sample: Doc) -> None:
    fitted = api.fit(SAMPLES / "hiring.csv")
    solved = api.solve(fitted, "parity").to_json()
    (entry,) = sample["constrained"]
    loss = solved["price_of_fairness"]["loss"]
    interval = entry["price_of_fairness"]["interval"]
    assert entry["price_of_fairness"]["loss"] == rounded(loss, interval and tuple(interval["loss"]), [1.0])
    assert sample["unconstrained"]["utility"] == rounded(solved["unconstrained"]["utility"])
    rows = [(dual["label"], dual["sense"]) for dual in entry["duals"]]
    assert rows == [(row["label"], row["sense"]) for row in solved["constrained"]["constraints"]]


def test_blind_priors_are_the_same_whatever_the_groups_are(tmp_path: Path) -> None:
    """Exchange the groups of everybody: blind priors stay, others do not."""
    table = rows()
    path = save(tmp_path / "people.csv", table)
    for row in table:
        row["Gender"] = {"Female": "Male", "Male": "Female", "": ""}[row["Gender"]]
    for row in table[::5]:
        row["Gender"] = "Female"
    swapped = save(tmp_path / "swapped.csv", table)

    def priors(data: Path, blind: bool) -> dict[tuple[str, str], Any]:
        found = pipeline.fit_history(
            pipeline.read(data, Config(), PLUGINS),
            Config().over(fit__blind=blind, fit__group_aware=not blind, fit__points=10, report__suppress_below=0),
            PLUGINS,
        )
        instance = found.instance.to_json()
        return {
            (search["id"], c["id"]): (c["values"], c["probs"])
            for search in instance["searches"]
            for c in search["candidates"]
        }

    assert priors(path, True) == priors(swapped, True)
    assert priors(path, False) != priors(swapped, False)
    document = audited(path, fit__blind=True, report__replicates=0).to_json()
    assert document["fit"]["settings"]["blind"] is True
    assert not [name for name in document["fit"]["settings"]["features"] if name.startswith("group:")]
    said = next(f["text"] for f in document["findings"] if f["code"] == "priors-use")
    assert "do not use the protected attributes" in said
