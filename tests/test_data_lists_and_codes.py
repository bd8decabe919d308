"""Totals of hidden parts, places on a list, codes that nothing explains, and lists without an outcome."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from auditkit.data.load import load
from auditkit.data.reading import AmbiguousReading
from auditkit.errors import InputError

REACHED = {"Disabled": (90, 40, 12), "Not disabled": (300, 190, 80)}
SHARES = {"East": 0.6, "North": 0.35, "South": 0.05}
STAGES = ("Applied", "Shortlisted", "Appointed")


def published(whole: str, hidden: int) -> pd.DataFrame:
    """Numbers by region, disability and stage, with those of all regions; small ones are hidden."""
    rows: list[tuple[str, str, str, str]] = []
    for group, numbers in REACHED.items():
        for stage, number in zip(STAGES, numbers, strict=True):
            parts = {region: int(number * share) for region, share in SHARES.items()}
            parts["East"] += number - sum(parts.values())
            for region, n in {whole: number, **parts}.items():
                rows.append((region, group, stage, str(n) if n >= hidden else f"fewer than {hidden}"))
    return pd.DataFrame(rows, columns=["Region", "Disability status", "Stage", "Number of people"])


@pytest.mark.parametrize("whole", ["All regions", "Total", "England"])
@pytest.mark.parametrize("hidden", [0, 10])
def test_totals_are_counted_where_their_parts_are_hidden(whole: str, hidden: int) -> None:
    history = load(published(whole, hidden))
    assert len(history.table) == 390
    assert [int(history.reached(step).sum()) for step in history.steps] == [230, 92]
    codes = {notice.code for notice in history.notices}
    assert ("hidden-parts" in codes) == (hidden > 0) and "stacked-counts" not in codes
    assert ("part-of-a-total" in history.counts.left) == (hidden > 0)


def ranked(places: list[str]) -> pd.DataFrame:
    """Of 90 people 60 were interviewed and 10 matched."""
    rows = range(90)
    own = {
        "Applicant ID": [f"A{k}" for k in rows],
        "Gender": [("Woman", "Man")[k % 2] for k in rows],
        "Interviewed": ["Y" if k < 60 else "N" for k in rows],
        "ROL #": places,
        "Matched": ["Y" if k < 10 else "" for k in rows],
    }
    return pd.DataFrame(own)


def test_a_place_on_a_list_is_a_step() -> None:
    history = load(ranked([str(k + 1) if k < 40 else "not ranked" if k < 60 else "" for k in range(90)]))
    assert [int(history.reached(step).sum()) for step in history.steps] == [60, 40, 10]


@pytest.mark.parametrize("word", ["5", "late"])
def test_numbers_that_are_no_places_are_no_step(word: str) -> None:
    history = load(ranked([str(k + 1) if k < 40 else word if k < 60 else "" for k in range(90)]))
    assert [int(history.reached(step).sum()) for step in history.steps] == [60, 10]


def test_a_status_in_numbers_that_nothing_explains_is_asked_about() -> None:
    codes = ["10"] * 60 + ["20"] * 40 + ["30"] * 20
    own = {
        "APPL_ID": [str(880000 + k) for k in range(120)],
        "REQ_ID": [str(5100 + k % 7) for k in range(120)],
        "APPL_DT": [f"202401{k % 28 + 1:02}" for k in range(120)],
        "STAT_CD": codes,
        "SRC_CD": [str(k % 5 + 1) for k in range(120)],
        "SEX_CD": ["FM"[k % 2] for k in range(120)],
    }
    with pytest.raises(AmbiguousReading) as error:
        load(pd.DataFrame(own))
    answers = [answer.mapping["selected"] for answer in error.value.question.answers]
    assert answers == ["STAT_CD=30", "STAT_CD=20", "STAT_CD=10"]


def test_a_list_for_letters_has_no_outcome(tmp_path: Path) -> None:
    letters = [f"{['Mr', 'Ms', 'Mrs'][k % 3]},{'JSPTRK'[k % 6]}.,Person {k},REGRET-2,14/06/2024" for k in range(60)]
    path = tmp_path / "letters.csv"
    path.write_text("\n".join(["Title,Initial,Surname,Letter,Date sent", *letters]))
    with pytest.raises(InputError, match="no column says who was selected") as error:
        load(path)
    assert not isinstance(error.value, AmbiguousReading)
