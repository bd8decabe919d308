"""Rows say what they mean: groups, segments and outcomes as fields, whatever characters their names hold."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.constraints import AmountAtMost, Other, PlainWords, RateGap, RatioAtLeast, ShareAtLeast, bind, make
from auditkit.constraints.base import Rows
from auditkit.model.documents import SECOND_SOLUTION, SolutionModel
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search
from auditkit.solver import solve
from auditkit.verification import check_solution
from support.constraints import KINDS, build
from support.sampling import examples

NAMES = ["Hispanic/Latino", "Black - Non Hispanic", "A+B", "B", "x = y", "Men in Sales", 'say "no"', "two\nlines", ","]
VALUES = ["Ops", "Dev+Ops", "Dev", "R/D in Ops", "a - b"]


def instance(groups: list[str], values: list[str], people: int = 12) -> Instance:
    """People of all groups and segments in turn, so that each pair occurs where there are enough of them."""
    rng = np.random.default_rng(0)
    return Instance(
        (
            Search(
                "s",
                3,
                tuple(
                    Box(
                        f"c{i}",
                        {"Race": groups[i % len(groups)]},
                        0.1,
                        np.round(rng.uniform(1, 9, 2), 2),
                        [0.5, 0.5],
                        attributes={"Team": values[(i // len(groups)) % len(values)]},
                    )
                    for i in range(people)
                ),
            ),
        )
    )


def rows_of(of: Instance, **keys: Any) -> Rows:
    return bind([make(KINDS, keys)], of.layout)


@given(
    groups=st.lists(st.sampled_from(NAMES), min_size=2, max_size=3, unique=True),
    values=st.lists(st.sampled_from(VALUES), min_size=2, max_size=3, unique=True),
)
@examples(40)
def test_any_name_is_told_as_it_is(groups: list[str], values: list[str]) -> None:
    of = instance(groups, values, 18)
    g, h = sorted(groups)[:2]
    for row in rows_of(of, type="impact-ratio", within="Team").rows:
        meaning = row.meaning
        assert isinstance(meaning, RatioAtLeast)
        assert (meaning.on, meaning.by, meaning.within, meaning.minimum) == ("selection", "Race", "Team", 0.8)
        assert {meaning.group, meaning.against} <= set(groups) and meaning.value in values
        # the row is about these people and nobody else: found without the constraint's code
        search = of.searches[0]
        whose = {
            one.id
            for one in search.candidates
            if one.group["Race"] in (meaning.group, meaning.against)  # type: ignore[index,call-overload]
            and one.attributes["Team"] == meaning.value
        }
        assert {of.layout.candidate_ids[c] for c in of.layout.owners(row.states)} == whose
    (first, *_) = rows_of(of, type="parity", groups=[g, h], on="inspection").rows
    assert first.meaning == RateGap(on="inspection", by="Race", group=g, against=h, maximum=0.0)
    (share,) = rows_of(of, type="quota", group=g, share=0.4).rows
    assert share.meaning == ShareAtLeast(on="selection", by="Race", group=g, minimum=0.4)
    (amount,) = rows_of(of, type="budget", group=g, limit=1, expense=2).rows
    assert amount.meaning == AmountAtMost(on="selection", by="Race", group=g, maximum=1.0, each=2.0)


def test_segment_values_that_end_alike_are_kept_apart() -> None:
    of = instance(["F", "M"], ["Ops", "Dev+Ops"])
    rows = rows_of(of, type="parity", within="Team").rows
    assert {row.meaning.value for row in rows} == {"Ops", "Dev+Ops"}
    owners = [set(of.layout.owners(row.states).tolist()) for row in rows]
    assert len(owners) == 2 and not owners[0] & owners[1]


SPOKEN = {
    "parity": "equal selection rates by every attribute",
    "parity:by=Race,tolerance=0.1,within=Team": ("selection rates by Race within 0.1 of each other within each Team"),
    'parity:groups=["F","M"],basis=count,on=inspection': "equal numbers inspected for F and M",
    "impact-ratio:reference=F": "no group’s selection rate below 0.8 times that of candidates of F",
    "impact-ratio:by=Race,min_value=4": (
        "no group’s selection rate by Race below 0.8 times another’s, counting scores from 4"
    ),
    "quota:group=F,share=0.4,by=Race": "at least 40.0\u00a0% candidates of Race F among those selected",
    "budget:limit=3,on=inspection": "at most 3 inspections",
    "budget:limit=3": "at most 3 candidates selected",
    "budget:limit=3,group=F,by=Race,expense=Travel": "at most 3 of Travel for candidates of Race F selected",
    "budget:limit=3,expense=2,on=inspection": "at most 3 for candidates inspected, at 2 each",
    "floor:minimum=0.1,on=inspection": "a chance of every candidate to be inspected of at least 10.0\u00a0%",
    "nash-welfare:minimum=0.3": "a geometric mean of the numbers selected by every attribute of at least 0.3",
    "nash-welfare:minimum=0.3,level=individual": (
        "a geometric mean of the chances of single candidates to be selected of at least 0.3"
    ),
    "entropy:maximum=0.3,basis=rate,within=Team": (
        "a negative entropy of the selection rates by every attribute within each Team of at most 0.3"
    ),
    "holder-mean:q=2,maximum=0.5,by=Race": "a Hölder mean of order 2 of the numbers selected by Race of at most 0.5",
    'affine:terms=[{"candidate":"a","state":"selected"}],sense=<=,bound=1,label=ours': "ours",
}


@pytest.mark.parametrize("text", SPOKEN)
def test_constraints_describe_themselves(text: str) -> None:
    made = build(text)
    said = made.describe(PlainWords())
    assert said.phrase == SPOKEN[text]
    assert said.title.startswith("Utility kept ")
    if made.parameter is not None:
        assert made.frontier_words(PlainWords(), made.parameter.name) == (said.title, said.axis) and said.axis
        assert made.frontier_words(PlainWords(), "q") == (f"Utility kept under {said.phrase}", "q")


SPECS = [
    "parity:tolerance=0.05",
    "quota:group=F,share=0.6",
    "budget:limit=1",
    "nash-welfare:minimum=0.1",
    "floor:minimum=0.01",
]


def test_a_solution_has_the_meaning_of_every_row_and_verify_compares_it() -> None:
    of = instance(["F", "M"], ["Ops", "Dev"])
    made = [build(text) for text in SPECS]
    document = json.loads(json.dumps(solve(of, made).to_json()))
    SolutionModel.model_validate(document)
    rows = bind(made, of.layout)
    kinds = [claim["meaning"]["kind"] for claim in document["constrained"]["constraints"]]
    assert kinds == ["rate_gap"] * 2 + ["share", "amount"] + ["other"] * (len(of.layout.candidate_ids) + 1)
    ratio = document["constrained"]["constraints"][0]["meaning"]
    assert {key: ratio[key] for key in ("on", "by", "group", "against", "within", "value")} == {
        "on": "selection",
        "by": "Race",
        "group": "F",
        "against": "M",
        "within": None,
        "value": None,
    }
    assert all(check.holds for check in check_solution(document, of.layout, rows, "any"))
    ratio["group"] = "M"
    wrong = [check.claim for check in check_solution(document, of.layout, rows, "any") if not check.holds]
    assert wrong == ["the rows mean what the constraints say"]


def test_solutions_of_the_format_before_are_still_verified() -> None:
    of = instance(["F", "M"], ["Ops", "Dev"])
    made = [build("parity")]
    document = json.loads(json.dumps(solve(of, made).to_json()))
    document["format"] = SECOND_SOLUTION
    for claim in document["constrained"]["constraints"]:
        del claim["meaning"]
    SolutionModel.model_validate(document)
    assert all(check.holds for check in check_solution(document, of.layout, bind(made, of.layout), "any"))


def test_tangents_have_the_meaning_of_their_measure() -> None:
    of = instance(["F", "M"], ["Ops", "Dev"])
    (measure, _) = rows_of(of, type="nash-welfare", minimum=0.1, within="Team").measures
    assert measure.meaning == Other(on="selection", by="Race", within="Team", value="Dev", basis="count")
    assert measure.tangent(np.full(len(measure.states), 0.5)).meaning == measure.meaning
