# ruff: noqa: E501
"""Whether an export was read right: its truth against what auditkit makes of it without a flag.

An export is right if the people who are counted, the number with the favourable outcome and the planted step's
numbers of both groups are those of its truth; asked if auditkit asks (then its first suggestion is tried); refused if
it stops without a suggestion; misread if it goes on with anything else; partly right if only another step than the
planted one is missing or invented (known for exports that say how many people reached every step).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from auditkit import plugin_manager
from auditkit.data.firm_history import History
from auditkit.data.load import load
from auditkit.data.reading import AmbiguousReading
from auditkit.data.vocabulary import extended, speaking
from auditkit.errors import InputError
from exports.fresh import Full
from exports.unseen import Truth

SHARED = Path("/work/shared/exports")


def _truth(name: str, people: int, good: int, group: str, against: str, step: str, *counts: int) -> Truth:
    files = tuple(SHARED / part for part in name.split("+"))
    reached, of = (counts[0], counts[2]), (counts[1], counts[3])
    return Truth(files, people, good, "", group, against, step, reached, of)


SHARED_TRUTHS = {
    "04 SmartRecruiters": _truth("04_smartrecruiters_reportbuilder.csv", 0, 0, "Female", "Male", "Interview", 129, 389, 206, 433),
    "08 police exam": _truth("08_police_exam.xlsx", 0, 0, "Black", "White", "Written Result", 97, 184, 279, 343),
    "11 promotions": _truth("11_promotions.csv", 0, 0, "Asian", "White", "Promoted", 41, 331, 155, 640),
    "15 BambooHR": _truth("15_bamboohr.csv", 0, 0, "Female", "Male", "Hired", 55, 528, 125, 526),
    "17 Jobvite, two files": _truth("17_jobvite_candidates.csv+17_jobvite_eeo.csv", 0, 0, "Female", "Male", "Phone Screen", 48, 198, 116, 237),
    "18b pivot": _truth("18b_pivot_tabular.csv", 0, 0, "Female", "Male", "Interviewed", 239, 822, 400, 813),
    "22 assessment log": _truth("22_assessment_log.csv", 0, 0, "Black", "White", "1-Online test", 99, 230, 345, 487),
    "27 rejected flag": _truth("27_rejected_flag.csv", 0, 0, "Female", "Male", "not rejected", 115, 519, 188, 481),
    "28 Recruitee (Dutch)": _truth("28_recruitee_nl.csv", 0, 0, "Vrouw", "Man", "Eerste gesprek", 174, 500, 294, 529),
    "31 ages": _truth("31_age_full.csv", 0, 0, "40 and over", "under 40", "Interview", 0, 0, 0, 0),
    "hires only": Truth((SHARED / "hiredonly.csv",), 0, 0, "", "", "", "", (0, 0), (0, 0), refuse=True),
}  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """What became of one export."""

    outcome: str
    detail: str


def matches(history: History, truth: Truth) -> str:
    """ "" if a reading is right, else what is wrong."""
    table = history.table
    if truth.people and len(table) != truth.people:
        return f"{len(table)} people, not {truth.people}"
    good = history.reading.favourable.count if history.reading is not None else -1
    if truth.favourable and good != truth.favourable:
        return f"{good} with the favourable outcome, not {truth.favourable}"
    if not truth.of[0]:
        return ""
    seen = []
    for attribute in history.attributes:
        groups = table[f"group:{attribute}"]
        own, other = truth.group.casefold().split("|"), truth.against.casefold().split("|")  # a code or its meaning
        if not groups.str.casefold().isin(own).any():
            continue
        for step in history.steps:
            flags = table[f"step:{step}"]
            mine, others = groups.str.casefold().isin(own), groups.str.casefold().isin(other)
            counts = (int(flags[mine].sum()), int(flags[others].sum()))
            seen.append(f"{attribute}/{step} {counts[0]}/{int(mine.sum())}, {counts[1]}/{int(others.sum())}")
            if step == history.steps[-1]:  # truths may count an offer that was declined as no hire
                hired = flags & (table["status"] != "declined") if "status" in table else flags
                if int(hired[mine].sum()) == truth.reached[0] and int(hired[others].sum()) == truth.reached[1]:
                    return ""
            if counts[0] == truth.reached[0] and (counts[1] == truth.reached[1] or not others.any()):
                return ""
    wanted = f"{truth.reached[0]}/{truth.of[0]}, {truth.reached[1]}/{truth.of[1]} at {truth.step!r}"
    return f"{wanted} not among: {'; '.join(seen) or 'no such group: ' + ', '.join(history.attributes)}"


def other_steps(history: History, truth: Truth) -> str:
    """ "" if the people at every step are those of the truth, else both; steps that everybody reached are left out."""
    if not isinstance(truth, Full) or not truth.funnel:
        return ""
    table = history.table
    seen = [int(table[f"step:{step}"].sum()) for step in history.steps]
    wanted = [*dict.fromkeys(n for n in truth.funnel if n < truth.people or not truth.people)]
    found = [*dict.fromkeys(n for n in seen if n < len(table))]
    return "" if found == wanted else f"steps {dict(zip(history.steps, seen, strict=True))}, not {wanted}"


def judge(truth: Truth) -> Verdict:
    """Read an export without a flag; where auditkit asks, follow its first suggestion."""
    with speaking(extended(*plugin_manager.shipped().word_lists.values())):
        return _judge(truth)


def _judge(truth: Truth) -> Verdict:
    readers = list(plugin_manager.shipped().readers.values())
    data = truth.files[0] if len(truth.files) == 1 else list(truth.files)
    mapping: dict[str, str | list[str]] = {}
    asked = ""
    for _ in range(2):
        try:
            history = load(data, mapping or None, readers=readers)
        except AmbiguousReading as error:
            if asked:
                return Verdict("asked, then asked", error.question.text)
            asked = error.question.text
            mapping = dict(error.question.answers[0].mapping)
            continue
        except InputError as error:
            right = truth.refuse and not asked
            return Verdict("right" if right else "refused" if not asked else "asked, then refused", str(error)[:200])
        refusal = history.reading.refusal if history.reading is not None else ""
        if refusal:
            return Verdict("right" if truth.refuse else "refused", refusal)
        wrong = "not refused" if truth.refuse else matches(history, truth)
        if asked:
            return Verdict("asked, then misread" if wrong else "asked, then right", wrong or asked)
        if not wrong and not truth.refuse and (differs := other_steps(history, truth)):
            return Verdict("partly right", differs)
        said = f" (said: {'; '.join(history.reading.assumptions)})" if history.reading and wrong else ""
        return Verdict("misread" if wrong else "right", wrong + said)
    raise AssertionError
