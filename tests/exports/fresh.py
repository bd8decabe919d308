# ruff: noqa: E501
"""A third set of exports nobody tuned to: 43 files written before the reading code was opened, run once, never changed.

`FRESH` has 30 of them and `KEPT` 13, drawn by a fixed shuffle: the 30 were run once (the first-run figure in
docs/data.md), then the reading was mended by principle; the 13 stayed unread until that was finished. Shapes follow
vendors' documentation (Taleo's candidate details, PeopleSoft's dispositions, SmartRecruiters' history, Workday's
stages), applicant-flow logs, exam and layoff lists, and READING.md's list of what went wrong. People are invented.

`Full.funnel` has the people at every step in order: a step that is missing or invented is noticed.
"""

from __future__ import annotations

import datetime
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from exports.unseen import Truth, _csv, _text, _xlsx

RACES = ("White", "Black or African American", "Asian", "Hispanic or Latino", "Two or More Races")
BLACK = RACES[1]
FIRST = ("Ana", "Ben", "Chloe", "Dev", "Elif", "Frank", "Grace", "Hugo", "Ines", "Jamal", "Kim", "Luis")
FAMILY = ("Adams", "Brandt", "Costa", "Diaz", "Evans", "Fischer", "Green", "Hassan", "Ito", "Jones", "Klein")


@dataclass(frozen=True)
class Full(Truth):
    """A truth that also knows how many people reached each step."""

    funnel: tuple[int, ...] = ()


@dataclass
class One:
    """One application; `reached` counts the steps passed, the last of them the favourable outcome."""

    number: int
    sex: str
    race: str
    age: int
    veteran: bool
    disabled: bool
    job: int
    reached: int
    good: bool
    end: str
    applied: datetime.date
    cv: float
    rating: int
    dates: list[datetime.date] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{FIRST[self.number % 12]} {FAMILY[self.number * 7 % 11]}"

    @property
    def department(self) -> str:
        return ("Finance", "Field Service", "R&D", "Logistics")[self.job % 4]

    @property
    def site(self) -> str:
        return ("Leeds", "Tulsa", "Porto")[self.job % 3]


def draw(
    n: int,
    seed: int,
    chances: Sequence[float],
    key: str,
    value: str,
    at: int,
    factor: float,
    *,
    withdraw: float = 0.0,
    active: float = 0.0,
) -> list[One]:
    """`n` people; those whose `key` is `value` pass step `at` with `factor` times the chance of the others."""
    rng = np.random.default_rng(seed)
    people = []
    for i in range(n):
        sex = "Female" if rng.random() < 0.47 else "Male"
        race = str(rng.choice(RACES, p=(0.5, 0.2, 0.15, 0.12, 0.03)))
        age = int(rng.integers(21, 64))
        own = {"sex": sex, "race": race, "age": "old" if age >= 40 else "young"}
        reached = 0
        for step, chance in enumerate(chances):
            if rng.random() >= chance * (factor if own[key] == value and step == at else 1.0):
                break
            reached += 1
        good = reached == len(chances)
        chance = rng.random()
        end = "good" if good else "withdrew" if chance < withdraw else "active" if chance < withdraw + active else "out"
        applied = datetime.date(2025, 1, 6) + datetime.timedelta(days=int(rng.integers(0, 240)))
        dates = [applied + datetime.timedelta(days=6 * (k + 1) + int(rng.integers(0, 5))) for k in range(len(chances))]
        people.append(
            One(
                i, sex, race, age, bool(rng.random() < 0.1), bool(rng.random() < 0.08), int(rng.integers(0, 14)), reached,
                good, end, applied, round(float(rng.normal(62, 11)), 1), int(rng.integers(1, 6)), dates,
            )
        )  # fmt: skip
    return people


def truth(
    files: Path | Sequence[Path],
    people: Sequence[One],
    known: Callable[[One], str],
    names: tuple[str, str, str],
    at: int,
    step: str,
    *,
    counted: int | None = None,
    funnel: Sequence[int] | None = None,
    good: int | None = None,
    steps: int = 0,
    may_ask: bool = False,
) -> Full:
    """`known` is the group of a person as the file tells it; `names`: attribute, planted group, group compared with."""

    def count(group: str) -> tuple[int, int]:
        own = [p for p in people if known(p) in group.split("|")]
        return sum(p.reached > at for p in own), len(own)

    mine, other = count(names[1]), count(names[2])
    if funnel is None:
        funnel = tuple(sum(p.reached > k for p in people) for k in range(steps))
    return Full(
        (files,) if isinstance(files, Path) else tuple(files),
        len(people) if counted is None else counted,
        sum(p.good for p in people) if good is None else good,
        *names,
        step,
        (mine[0], other[0]),
        (mine[1], other[1]),
        may_ask=may_ask,
        funnel=tuple(funnel),
    )


def refusal(path: Path) -> Full:
    return Full((path,), 0, 0, "", "", "", "", (0, 0), (0, 0), refuse=True)


def _sex(p: One) -> str:
    return p.sex


def _race(p: One) -> str:
    return p.race


def hris_rif(folder: Path) -> Truth:
    """A list of staff after a layoff: Active beside Terminated - RIF, and people who left by themselves."""
    people = draw(1000, 901, [0.8], "race", BLACK, 0, 0.72)
    rng = np.random.default_rng(9010)
    left = [not p.good and rng.random() < 0.12 for p in people]
    rows = [
        (
            f"E{4000 + p.number}", p.name, f"{p.sex[0]}", p.race, p.department, p.site, f"{p.applied.replace(year=2009 + p.job):%m/%d/%Y}",
            "Active" if p.good else "Terminated - Voluntary" if gone else "Terminated - RIF",
            "" if p.good else f"{p.dates[0]:%m/%d/%Y}", ("3 - Meets", "4 - Exceeds", "2 - Partially meets")[p.rating % 3],
        )
        for p, gone in zip(people, left, strict=True)
    ]  # fmt: skip
    header = ("Employee ID", "Worker", "Gender", "Race/Ethnicity", "Cost Center", "Location", "Hire Date", "Employment Status", "Termination Date", "Last Performance Rating")  # fmt: skip
    path = _csv(folder / "workers_status.csv", header, rows, above=['"Worker status report as of 09/30/2025"', ""])
    return truth(path, people, _race, ("Race/Ethnicity", BLACK, "White"), 0, "Active", counted=0, steps=1)


def rif_selected(folder: Path) -> Truth:
    """Counsel's worksheet: Selected for RIF, ages, a decisional unit, and a note at the foot."""
    people = draw(900, 902, [0.86], "age", "old", 0, 0.84)
    rows: list[Sequence[object]] = [
        ("PRIVILEGED & CONFIDENTIAL - prepared at the request of counsel",), ("Project Alder - selections as of 10/14/2025",), (),
        ("EEID", "Decisional Unit", "Job Title", "Age at 10/14/2025", "Gender", "Yrs of Service", "Skills Score (1-5)", "Selected for RIF", "Severance Weeks"),
    ]  # fmt: skip
    for p in people:
        rows.append((10000 + p.number, f"DU-{p.job % 5 + 1}", f"{p.department} Specialist", p.age, p.sex[0], p.age // 4, p.rating, "N" if p.good else "Y", "" if p.good else 2 + p.age // 8))  # fmt: skip
    rows += [
        (),
        ("Total employees", "", "", "", "", "", "", sum(not p.good for p in people)),
        ("Y = position eliminated",),
    ]
    path = _xlsx(folder / "project_alder.xlsx", {"Selections": rows})
    return truth(path, people, lambda p: "40 and over" if p.age >= 40 else "under 40", ("Age at 10/14/2025", "40 and over", "under 40"), 0, "not selected for RIF", steps=1)  # fmt: skip


def federal_flow(folder: Path) -> Truth:
    """USAJOBS applicant flow: race as seven yes/no columns, Omitted answers, certificate and selection."""
    people = draw(1400, 903, [0.7, 0.5, 0.18], "race", BLACK, 1, 0.55)
    names = (
        "American Indian",
        "Asian",
        "Black/African American",
        "Native Hawaiian/Pacific Islander",
        "White",
        "Hispanic/Latino",
        "Other",
    )
    where = {"White": (4,), BLACK: (2,), "Asian": (1,), RACES[3]: (5,), RACES[4]: (1, 4)}

    def answer(p: One, k: int) -> str:
        return "Omitted" if p.number % 12 == 0 else "Yes" if k in where[p.race] else "No"

    rows = [
        (
            f"DE-2025-{p.job:03}", f"{5_600_000 + p.number:,}", "0343", f"GS-{p.job % 3 + 11}", "Omitted" if p.number % 15 == 0 else p.sex,
            *(answer(p, k) for k in range(7)), "Yes" if p.reached > 0 else "No", "Yes" if p.reached > 1 else "No", "Yes" if p.reached > 2 else "No",
        )
        for p in people
    ]  # fmt: skip
    header = ("Vacancy ID", "Application Number", "Series", "Grade", "Sex", *names, "Qualified", "Referred", "Selected")
    path = _csv(folder / "afd_extract.csv", header, rows)
    kept = [p for p in people if p.number % 12]
    known = truth(
        path, kept, _race, ("Race", f"{BLACK}|Black/African American", "White"), 1, "Referred", counted=len(people)
    )
    full = truth(path, people, _race, ("Race", BLACK, "White"), 1, "Referred", steps=3)
    return Full(
        known.files,
        len(people),
        full.favourable,
        *known_names(known),
        known.step,
        known.reached,
        known.of,
        funnel=full.funnel,
    )


def known_names(known: Truth) -> tuple[str, str, str]:
    return known.attribute, known.group, known.against


def uk_sift(folder: Path) -> Truth:
    """Civil-service campaign: Passed sift, interview outcome on a merit list, reserve list."""
    people = draw(1100, 904, [0.42, 0.45], "sex", "Female", 0, 0.62, withdraw=0.05)

    def outcome(p: One) -> str:
        if p.good:
            return "Appointed"
        if p.end == "withdrew":
            return "Withdrawn"
        return ("Reserve list", "Did not meet standard")[p.number % 2] if p.reached else ""

    rows = [
        (
            f"CSR-{p.number + 100}", f"Campaign {p.job}", "HEO" if p.job % 2 else "SEO", round(p.cv / 10), "Yes" if p.reached else "No",
            round(p.cv / 9, 1) if p.reached else "", outcome(p), p.sex if p.number % 23 else "Prefer not to say", "Yes" if p.disabled else "No",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Application ref",
        "Campaign",
        "Grade",
        "Sift score",
        "Passed sift",
        "Interview score",
        "Outcome",
        "Sex",
        "Disability declared",
    )
    path = _csv(folder / "campaign_outcomes.csv", header, rows)
    full = truth(
        path, people, lambda p: p.sex if p.number % 23 else "?", ("Sex", "Female", "Male"), 0, "Passed sift", steps=2
    )
    return full


def police_boards(folder: Path) -> Truth:
    """An officer exam with a result for each part and no-shows."""
    people = draw(1050, 905, [0.72, 0.8, 0.7, 0.45], "race", BLACK, 0, 0.68)

    def result(p: One, k: int, words: tuple[str, str]) -> str:
        return words[0] if p.reached > k else words[1] if p.reached == k else ""

    rows: list[Sequence[object]] = [("City of Marlow - Police Officer Recruit #25-03",), ()]
    rows.append(
        (
            "Cand No.",
            "Race",
            "Sex",
            "Vet Pref",
            "Written Score",
            "Written Result",
            "PAT",
            "Oral Board",
            "Oral Band",
            "Appointed",
            "Remarks",
        )
    )
    for p in people:
        written = round(70 + (p.cv - 40) / 2.2, 1) if p.reached else round(40 + p.cv / 3, 1)
        rows.append((p.number + 1, p.race, p.sex[0], "5" if p.veteran else "", written, result(p, 0, ("Pass", "Fail")), result(p, 1, ("Pass", "Fail")), result(p, 2, ("Q", "NQ")), f"Band {p.rating % 3 + 1}" if p.reached > 2 else "", "X" if p.good else "", ""))  # fmt: skip
    path = _xlsx(folder / "police_25_03.xlsx", {"Roster": rows})
    return truth(path, people, _race, ("Race", BLACK, "White"), 0, "Written Result", steps=4)


def auto_screened(folder: Path) -> Truth:
    """A dashboard's export: Was Auto-Screened says how, not whether; dates for the real steps."""
    people = draw(900, 906, [0.4, 0.5, 0.4], "sex", "Female", 0, 0.55, withdraw=0.05, active=0.03)
    final = {"good": "Hired", "withdrew": "Candidate Withdrew", "active": "In Process", "out": "Not Hired"}
    rows = [
        (
            p.number + 77000, f"R{p.job:04}", p.department, f"{p.applied}", "Y" if p.number % 4 else "N",
            f"{p.dates[0]}" if p.reached > 0 else "", f"{p.dates[1]}" if p.reached > 1 else "", f"{p.dates[2]}" if p.good else "",
            final[p.end], p.sex if p.number % 17 else "I choose not to disclose", p.race,
        )
        for p in people
    ]  # fmt: skip
    header = ("Candidate Number", "Req", "Org", "Application Received", "Was Auto-Screened", "Phone Interview", "Panel Interview", "Start Date", "Final Status", "Gender Identity", "Race")  # fmt: skip
    path = _csv(folder / "funnel_dashboard.csv", header, rows)
    return truth(
        path,
        people,
        lambda p: p.sex if p.number % 17 else "?",
        ("Gender Identity", "Female", "Male"),
        0,
        "Phone Interview",
        steps=3,
    )


def optional_screen(folder: Path) -> Truth:
    """Dates by stage, with an optional technical screen that some had after their offer."""
    people = draw(1400, 907, [0.6, 0.5, 0.5], "race", "Asian", 1, 0.3, withdraw=0.06)
    rows = [
        (
            f"{p.number}", p.name, f"{p.applied:%d/%m/%Y}", f"{p.dates[0]:%d/%m/%Y}" if p.reached > 0 else "", f"{p.dates[1]:%d/%m/%Y}" if p.reached > 1 else "",
            f"{p.dates[2]:%d/%m/%Y}" if p.reached > 2 else "", f"{p.dates[2] + datetime.timedelta(days=3):%d/%m/%Y}" if p.good and p.number % 3 == 0 else "",
            "Hired" if p.good else "Withdrawn" if p.end == "withdrew" else "Rejected", p.race, p.sex, p.site,
        )
        for p in people
    ]  # fmt: skip
    header = ("App ID", "Candidate", "Applied", "Recruiter Call", "Onsite", "Offer", "Technical Screen (optional)", "Status", "Ethnicity", "Gender", "Office")  # fmt: skip
    path = _csv(folder / "stages_with_optional.csv", header, rows)
    return truth(
        path,
        people,
        _race,
        ("Ethnicity", "Asian", "White"),
        1,
        "Onsite",
        counted=len(people),
        funnel=_with_last(people, 3),
    )


def _with_last(people: Sequence[One], steps: int) -> tuple[int, ...]:
    return tuple(sum(p.reached > k for p in people) for k in range(steps))


def days_in_stage(folder: Path) -> Truth:
    """Days spent in every stage; the status says the rest."""
    people = draw(950, 908, [0.55, 0.5, 0.45], "sex", "Female", 1, 0.55, withdraw=0.04)
    rows = [
        (
            f"JID-{p.number}", p.number + 300, p.department, p.number % 9 + 1, p.number % 14 + 1 if p.reached > 0 else "", p.rating + 2 if p.reached > 1 else "",
            p.rating if p.reached > 2 else "", 9 + p.number % 30, "Hired" if p.good else "Withdrawn" if p.end == "withdrew" else "Rejected", p.sex, p.race,
        )
        for p in people
    ]  # fmt: skip
    header = ("Job application", "Candidate Id", "Team", "Days in Application Review", "Days in Phone Interview", "Days in Onsite Interview", "Days in Offer", "Total days", "Application Status", "Gender", "Race")  # fmt: skip
    path = _csv(folder / "time_in_stage.csv", header, rows)
    return truth(path, people, _sex, ("Gender", "Female", "Male"), 1, "Days in Onsite Interview", steps=3)


def gupy_nd(folder: Path) -> Truth:
    """Portuguese: N/D for those who did not say, the last stage in one column and the situation in another."""
    people = draw(1000, 909, [0.55, 0.5, 0.4], "sex", "Female", 1, 0.55, withdraw=0.06)
    stages = ("Cadastro", "Triagem", "Entrevista com gestor", "Proposta")
    rows = [
        (
            f"{p.number + 1}", f"Vaga {p.job}", stages[p.reached], {"good": "Contratado", "withdrew": "Desistente", "out": "Reprovado"}[p.end],
            "N/D" if p.number % 8 == 0 else "Feminino" if p.sex == "Female" else "Masculino", ("Branca", "Parda", "Preta", "N/D", "Amarela")[p.number % 5],
            f"{p.applied:%d/%m/%Y}", f"{p.cv:.1f}".replace(".", ","),
        )
        for p in people
    ]  # fmt: skip
    header = ("Código", "Vaga", "Etapa atual", "Situação", "Gênero", "Raça/Cor", "Data de inscrição", "Aderência (%)")
    path = _csv(folder / "inscricoes.csv", header, rows, separator=";", encoding="utf-8-sig")

    def known(p: One) -> str:
        return "?" if p.number % 8 == 0 else {"Female": "Feminino", "Male": "Masculino"}[p.sex]

    return truth(path, people, known, ("Gênero", "Feminino", "Masculino"), 1, "Entrevista com gestor", steps=3)


def dutch_phases(folder: Path) -> Truth:
    """Dutch: 'Zeg ik liever niet', phases with dates, an outcome in words."""
    people = draw(900, 910, [0.5, 0.5, 0.5], "sex", "Female", 0, 0.55, withdraw=0.05)
    rows = [
        (
            p.number + 50, f"Vacature {p.job}", "Zeg ik liever niet" if p.number % 10 == 0 else "Vrouw" if p.sex == "Female" else "Man",
            f"{p.applied:%d-%m-%Y}", f"{p.dates[0]:%d-%m-%Y}" if p.reached > 0 else "", f"{p.dates[1]:%d-%m-%Y}" if p.reached > 1 else "",
            {"good": "Aangenomen", "withdrew": "Teruggetrokken", "out": "Afgewezen"}[p.end], ("Netwerk", "Indeed", "Werkenbij-site")[p.job % 3],
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Kandidaatnr",
        "Vacature",
        "Geslacht",
        "Sollicitatiedatum",
        "Eerste gesprek",
        "Tweede gesprek",
        "Uitkomst",
        "Bron",
    )
    path = _csv(folder / "sollicitaties.csv", header, rows, separator=";", encoding="cp1252")

    def known(p: One) -> str:
        return "?" if p.number % 10 == 0 else {"Female": "Vrouw", "Male": "Man"}[p.sex]

    return truth(path, people, known, ("Geslacht", "Vrouw", "Man"), 0, "Eerste gesprek", steps=3)


def disposition_text(folder: Path) -> Truth:
    """An applicant-flow log whose only outcome is the text of the disposition."""
    people = draw(1200, 911, [0.45, 0.55, 0.5], "race", BLACK, 0, 0.6, withdraw=0.06)

    def text(p: One) -> str:
        if p.good:
            return "Hired"
        if p.end == "withdrew":
            return ("Withdrew - before review", "Withdrew - after phone screen", "Withdrew - after interview")[
                p.reached
            ]
        return (
            "Rejected - not selected for phone screen",
            "Rejected - phone screened, not selected for interview",
            "Rejected - interviewed, not selected",
        )[p.reached]

    rows = [(f"{p.applied:%m/%d/%y}", p.name, f"REQ-{p.job:03}", f"{p.department} Associate", p.race, p.sex, "No" if not p.veteran else "Yes", p.site, text(p)) for p in people]  # fmt: skip
    header = (
        "Date Applied",
        "Applicant",
        "Req No",
        "Position",
        "Race/Ethnicity",
        "Sex",
        "Protected Veteran",
        "Location",
        "Disposition",
    )
    path = _csv(folder / "applicant_flow_log.csv", header, rows)
    return truth(path, people, _race, ("Race/Ethnicity", BLACK, "White"), 0, "phone screen", steps=3)


def standards_log(folder: Path) -> Truth:
    """One row per assessment, with words for pass and fail that are not pass and fail."""
    people = draw(800, 912, [0.65, 0.65, 0.6], "sex", "Female", 1, 0.6)
    rows = []
    names = ("Situational judgement test", "Assessment centre", "Final panel")
    for p in people:
        for k in range(min(p.reached + 1, 3)):
            rows.append((f"GR{p.number:05}", "Female" if p.sex == "Female" else "Male", p.race, names[k], f"{p.dates[k]:%d %b %Y}", "Met standard" if p.reached > k else "Below standard", round(p.cv + 5 * k - (0 if p.reached > k else 20), 1)))  # fmt: skip
    random.Random(5).shuffle(rows)
    header = ("Candidate ref", "Sex", "Ethnic group", "Assessment", "Date taken", "Result", "Mark")
    path = _csv(folder / "graduate_assessments.csv", header, rows)
    return truth(path, people, _sex, ("Sex", "Female", "Male"), 1, "Assessment centre", steps=3)


def stacked_shares(folder: Path) -> Truth:
    """A published summary: each characteristic below the other, with shares and totals."""
    people = draw(3000, 913, [0.4, 0.35], "race", BLACK, 0, 0.7)
    rows: list[Sequence[object]] = [
        ("Recruitment monitoring 2024/25",),
        ("Source: HR system, extracted 4 April 2025",),
        (),
    ]
    rows.append(
        (
            "Characteristic",
            "Category",
            "Applications",
            "% of applications",
            "Shortlisted",
            "Success rate to shortlist",
            "Appointed",
        )
    )
    for title, get in (("Sex", _sex), ("Ethnicity", _race)):
        for value in sorted({get(p) for p in people}):
            own = [p for p in people if get(p) == value]
            counts = [sum(p.reached > k for p in own) for k in range(2)]
            rows.append(
                (
                    title,
                    value,
                    len(own),
                    f"{len(own) / 30:.1f}%",
                    counts[0],
                    f"{100 * counts[0] / len(own):.1f}%",
                    counts[1],
                )
            )
        both = [sum(p.reached > k for p in people) for k in range(2)]
        rows.append(("", "Total", len(people), "100.0%", both[0], f"{both[0] / 30:.1f}%", both[1]))
    path = _xlsx(folder / "monitoring_2025.xlsx", {"Notes": [("Figures are unrounded.",)], "Table 1": rows})
    return truth(path, people, _race, ("Ethnicity", BLACK, "White"), 0, "Shortlisted", steps=2)


def pivot_subtotals(folder: Path) -> Truth:
    """A pivot in outline form: department, sex, numbers by outcome, subtotals and a grand total."""
    people = draw(2000, 914, [0.35, 0.4], "sex", "Female", 1, 0.55)
    lines: list[Sequence[object]] = [
        ("Count of Application", "", "Outcome", "", "", ""),
        ("Department", "Sex", "Hired", "Interviewed - not hired", "Not interviewed", "Grand Total"),
    ]

    def numbers(own: Sequence[One]) -> tuple[int, ...]:
        return (sum(p.good for p in own), sum(p.reached == 1 for p in own), sum(p.reached == 0 for p in own), len(own))

    for department in sorted({p.department for p in people}):
        for i, sex in enumerate(("Female", "Male")):
            own = [p for p in people if p.department == department and p.sex == sex]
            lines.append((department if not i else "", sex, *numbers(own)))
        lines.append((f"{department} Total", "", *numbers([p for p in people if p.department == department])))
    lines.append(("Grand Total", "", *numbers(people)))
    path = _xlsx(folder / "pivot_outline.xlsx", {"Pivot": lines})
    return truth(path, people, _sex, ("Sex", "Female", "Male"), 1, "Hired", steps=2)


def groups_sheet(folder: Path) -> Truth:
    """Applications on one sheet, self-identification on another under another name for the id."""
    people = draw(1100, 915, [0.6, 0.55, 0.5], "race", BLACK, 1, 0.4, withdraw=0.05)
    stages = ("New", "Recruiter Screen", "Manager Interview", "Offer")
    cover = [("Talent Acquisition Extract",), ("Run by: hr.reporting",), ("Filters: all requisitions 2025",)]
    applications: list[Sequence[object]] = [
        ("Applicant #", "Requisition", "Hiring Manager", "Stage reached", "Disposition", "Disposition date")
    ]
    for p in people:
        applications.append((f"A-{p.number:05}", f"JR{p.job:04}", FAMILY[p.job % 11], stages[p.reached], {"good": "Hired", "withdrew": "Withdrawn by applicant", "out": "Rejected"}[p.end], p.dates[-1]))  # fmt: skip
    answers: list[Sequence[object]] = [
        ("Applicant Number", "Gender", "Race / Ethnicity", "Protected Veteran?", "Form completed on")
    ]
    order = list(people)
    random.Random(3).shuffle(order)
    for p in order:
        answers.append(
            (
                f"A-{p.number:05}",
                p.sex,
                p.race,
                "I am not a protected veteran" if not p.veteran else "I identify as a protected veteran",
                p.applied,
            )
        )
    path = _xlsx(folder / "ta_extract.xlsx", {"About": cover, "Applications": applications, "Self-ID": answers})
    return truth(path, people, _race, ("Race / Ethnicity", BLACK, "White"), 1, "Manager Interview", steps=3)


def step_counts(folder: Path) -> Truth:
    """A row per requisition and group with the number at each step."""
    people = draw(2400, 916, [0.5, 0.5, 0.4], "sex", "Female", 1, 0.6)
    rows = []
    for job in range(14):
        for sex in ("F", "M", "X/undisclosed"):
            own = [p for p in people if p.job == job and (p.sex[0] if p.number % 30 else "X/undisclosed") == sex]
            rows.append(
                (
                    f"Req {job + 1}",
                    ("Plant", "Office")[job % 2],
                    sex,
                    len(own),
                    *(sum(p.reached > k for p in own) for k in range(3)),
                )
            )
    header = ("Requisition", "Site", "Gender", "# Applied", "# Screened In", "# Interviewed", "# Hired")
    path = _csv(folder / "requisition_counts.csv", header, rows)
    return truth(
        path, people, lambda p: p.sex[0] if p.number % 30 else "?", ("Gender", "F", "M"), 1, "# Interviewed", steps=3
    )


def workday_forward(folder: Path) -> Truth:
    """Workday: prompts above the header, one row per application and stage, Moved Forward or a disposition."""
    people = draw(700, 917, [0.5, 0.5, 0.5], "race", BLACK, 0, 0.5, withdraw=0.05)
    names = ("Review", "Screen", "Interview", "Offer")
    rows = []
    for p in people:
        for k in range(p.reached + 1):
            last = k == p.reached
            result = (
                "Moved Forward"
                if not last
                else {"good": "Hired", "withdrew": "Candidate Withdrew", "out": "Not Moved Forward"}[p.end]
            )
            day = p.applied + datetime.timedelta(days=6 * k)
            rows.append(
                (
                    f"C{900000 + p.number}",
                    f"R-{p.job + 2100}",
                    f"{p.department} Analyst",
                    names[k],
                    result,
                    f"{day:%m/%d/%Y}",
                    p.sex,
                    p.race,
                    "No" if p.number % 9 else "Yes",
                )
            )
    header = (
        "Candidate ID",
        "Job Requisition",
        "Job Profile",
        "Recruiting Stage",
        "Disposition",
        "Stage Start",
        "Gender",
        "Race/Ethnicity (Locale Sensitive)",
        "Internal",
    )
    above = [
        '"Candidate Pipeline - All Stages"',
        '"Company","Northwind Group"',
        '"Period","01/01/2025 - 09/30/2025"',
        "",
    ]
    path = _csv(folder / "candidate_pipeline.csv", header, rows, above=above)
    return truth(path, people, _race, ("Race/Ethnicity (Locale Sensitive)", BLACK, "White"), 0, "Screen", steps=3)


def lever_lines(folder: Path) -> Truth:
    """JSON Lines with nested objects; times in milliseconds; hired is an archive reason."""
    people = draw(800, 918, [0.5, 0.5, 0.45], "sex", "Female", 1, 0.5, withdraw=0.05, active=0.05)
    stages = ("New applicant", "Phone interview", "On-site interview", "Offer")
    reason = {"good": "Hired", "withdrew": "Withdrew", "out": "Underqualified"}
    lines = []
    for p in people:
        stamp = int(
            datetime.datetime(p.applied.year, p.applied.month, p.applied.day, tzinfo=datetime.UTC).timestamp() * 1000
        )
        archived = None if p.end == "active" else {"reason": reason[p.end], "archivedAt": stamp + 86_400_000 * 30}
        record = {
            "id": f"opp-{p.number:05}", "contact": f"con-{p.number:05}", "origin": ("applied", "referred", "sourced")[p.job % 3], "createdAt": stamp,
            "stage": {"id": f"st-{p.reached}", "text": stages[p.reached]}, "archived": archived,
            "posting": {"id": f"post-{p.job}", "team": p.department}, "eeo": {"gender": p.sex if p.number % 14 else "Decline to self-identify", "race": p.race},
        }  # fmt: skip
        lines.append(json.dumps(record))
    path = folder / "opportunities.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return truth(
        path,
        people,
        lambda p: p.sex if p.number % 14 else "?",
        ("gender", "Female", "Male"),
        1,
        "On-site interview",
        steps=3,
    )


def blank_when_hired(folder: Path) -> Truth:
    """The only outcome is a reason for non-selection: blank for those hired."""
    people = draw(850, 919, [0.3], "sex", "Female", 0, 0.5)
    reasons = (
        "Other candidate better qualified",
        "Lacks required certification",
        "Salary expectations",
        "Incomplete application",
    )
    rows = [
        (
            p.number + 1,
            p.name,
            f"{p.applied:%m/%d/%Y}",
            f"Pos {p.job}",
            p.sex,
            p.race,
            "" if p.good else reasons[p.number % 4],
        )
        for p in people
    ]
    header = ("No.", "Applicant Name", "Date", "Position Applied For", "Sex", "Race", "Reason for Non-Selection")
    path = _csv(folder / "paper_log.csv", header, rows)
    return truth(path, people, _sex, ("Sex", "Female", "Male"), 0, "no reason", steps=1, may_ask=True)


def codes_one_two(folder: Path) -> Truth:
    """Sex as 1 and 2, the outcome as 0 and 1: a question about the codes is right."""
    people = draw(900, 920, [0.5, 0.4], "sex", "Female", 0, 0.6)
    rows = [
        (p.number, p.job + 1, 2 if p.sex == "Female" else 1, p.age, int(p.reached > 0), int(p.good), p.cv)
        for p in people
    ]
    path = _csv(folder / "coded.csv", ("caseid", "jobno", "sex", "age", "interviewed", "hired", "score"), rows)
    return truth(
        path,
        people,
        lambda p: "2" if p.sex == "Female" else "1",
        ("sex", "2", "1"),
        0,
        "interviewed",
        steps=2,
        may_ask=True,
    )


def short_years(folder: Path) -> Truth:
    """A plant closing: birth dates with two-digit years, and who was kept."""
    people = draw(800, 921, [0.75], "age", "old", 0, 0.75)
    rows = [
        (
            f"{p.number + 1:04}", p.name, f"{datetime.date(2025, 3, 1) - datetime.timedelta(days=round((p.age + 0.05 + p.number % 300 / 365) * 365.2425)):%m/%d/%y}",
            f"{2 + p.number % 28}", ("Assembly", "Paint", "Stores")[p.job % 3], "Retained" if p.good else "Laid off", "03/01/25",
        )
        for p in people
    ]  # fmt: skip
    path = _csv(
        folder / "plant_closing.csv",
        ("Clock No", "Name", "DOB", "Seniority (yrs)", "Dept", "Decision", "Effective"),
        rows,
    )
    return truth(
        path,
        people,
        lambda p: "40 and over" if p.age >= 40 else "under 40",
        ("DOB", "40 and over", "under 40"),
        0,
        "Retained",
        steps=1,
    )


def coded_reasons(folder: Path) -> Truth:
    """An archive reason in codes; who was hired is one of them, and the stage shows it."""
    people = draw(950, 922, [0.5, 0.5, 0.5], "sex", "Female", 0, 0.5)
    stages = ("Lead", "Screen", "Panel", "Offer extended")
    rows = [
        (
            f"o{p.number}", f"P{p.job}", stages[p.reached], "A10" if p.good else ("A21", "A22", "A35")[p.number % 3], f"{p.applied}T09:00:00Z",
            f"{p.dates[-1]}T17:00:00Z", f"REQ{p.job:03}" if p.good else "", p.sex, p.race,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "opportunity_id",
        "posting_id",
        "last_stage",
        "archive_reason_code",
        "created_at",
        "archived_at",
        "requisition_id",
        "gender",
        "race",
    )
    path = _csv(folder / "archive_codes.csv", header, rows)
    return truth(path, people, _sex, ("gender", "Female", "Male"), 0, "Screen", steps=3, may_ask=True)


def german_last_step(folder: Path) -> Truth:
    """German: last step reached and a result; 'keine Angabe'."""
    people = draw(900, 923, [0.5, 0.5, 0.45], "sex", "Female", 1, 0.5, withdraw=0.06)
    stages = ("Eingang", "Telefoninterview", "Fachgespräch", "Angebot")
    rows = [
        (
            p.number + 1, f"Stelle {p.job}", p.site, "keine Angabe" if p.number % 11 == 0 else "weiblich" if p.sex == "Female" else "männlich",
            f"{p.applied:%d.%m.%Y}", stages[p.reached], {"good": "Eingestellt", "withdrew": "Zurückgezogen", "out": "Abgelehnt"}[p.end], f"{p.cv:.1f}".replace(".", ","),
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Bewerbungs-Nr.",
        "Ausschreibung",
        "Standort",
        "Geschlecht",
        "Eingangsdatum",
        "Letzter Schritt",
        "Ergebnis",
        "Matching-Wert",
    )
    path = _csv(folder / "bewerbungen.csv", header, rows, separator=";", encoding="cp1252")

    def known(p: One) -> str:
        return "?" if p.number % 11 == 0 else {"Female": "weiblich", "Male": "männlich"}[p.sex]

    return truth(path, people, known, ("Geschlecht", "weiblich", "männlich"), 1, "Fachgespräch", steps=3)


def french_admission(folder: Path) -> Truth:
    """French master's admissions: admissible, admis, with those who resigned."""
    people = draw(1000, 924, [0.5, 0.5], "sex", "Female", 0, 0.6)
    rows = [
        (
            f"{p.number:06}", f"Master {('Droit', 'Chimie', 'Gestion')[p.job % 3]}", "F" if p.sex == "Female" else "M", "Oui" if p.number % 4 == 0 else "Non",
            f"{p.cv / 5:.2f}".replace(".", ","), "Admissible" if p.reached else "Non admissible", "" if not p.reached else "Admis" if p.good else "Refusé",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "N° dossier",
        "Formation",
        "Civilité",
        "Boursier",
        "Note dossier /20",
        "Admissibilité",
        "Décision du jury",
    )
    path = _csv(folder / "candidatures_master.csv", header, rows, separator=";", encoding="utf-8-sig")
    return truth(path, people, lambda p: p.sex[0], ("Civilité", "F", "M"), 0, "Admissibilité", steps=2)


def spanish_exercises(folder: Path) -> Truth:
    """Spanish competition: each exercise Apto, No apto or No presentado, and who got a post."""
    people = draw(1100, 925, [0.6, 0.6, 0.5], "sex", "Female", 1, 0.6)

    def result(p: One, k: int) -> str:
        return "Apto" if p.reached > k else "No apto" if p.reached == k else ""

    rows = [(f"***{p.number:04}**", "Mujer" if p.sex == "Female" else "Hombre", ("Libre", "Discapacidad")[p.disabled], result(p, 0), result(p, 1), f"{p.cv / 10:.2f}".replace(".", ",") if p.reached > 1 else "", "Sí" if p.good else "No") for p in people]  # fmt: skip
    header = ("DNI", "Sexo", "Turno", "Primer ejercicio", "Segundo ejercicio", "Nota final", "Plaza obtenida")
    path = _csv(folder / "oposicion.csv", header, rows, separator=";", encoding="cp1252")
    return truth(
        path,
        people,
        lambda p: "Mujer" if p.sex == "Female" else "Hombre",
        ("Sexo", "Mujer", "Hombre"),
        1,
        "Segundo ejercicio",
        steps=3,
    )


def italian_selection(folder: Path) -> Truth:
    """Italian: outcome of each interview, and the words idoneo and assunto."""
    people = draw(900, 926, [0.5, 0.5, 0.5], "sex", "Female", 0, 0.55, withdraw=0.05)
    rows = [
        (
            f"CND{p.number}", "Donna" if p.sex == "Female" else "Uomo", p.site, "Idoneo" if p.reached > 0 else "Non idoneo",
            "" if p.reached < 1 else "Idoneo" if p.reached > 1 else "Non idoneo", {"good": "Assunto", "withdrew": "Rinuncia", "out": "Scartato"}[p.end],
        )
        for p in people
    ]  # fmt: skip
    header = ("Codice candidato", "Genere", "Sede", "Esito test", "Esito colloquio", "Stato finale")
    path = _csv(folder / "selezione.csv", header, rows, separator=";")
    return truth(
        path,
        people,
        lambda p: "Donna" if p.sex == "Female" else "Uomo",
        ("Genere", "Donna", "Uomo"),
        0,
        "Esito test",
        steps=3,
    )


def promotion_panel(folder: Path) -> Truth:
    """A promotion round: nomination, panel's recommendation, final decision."""
    people = draw(1000, 927, [0.55, 0.6], "race", "Asian", 0, 0.6)
    rows = [
        (
            f"W{p.number}", p.department, f"P{p.job % 4 + 2}", p.sex, p.race, p.rating, 1 + p.number % 9,
            "Recommended" if p.reached else ("Not recommended", "Deferred to next cycle")[p.number % 2],
            "Promoted" if p.good else "Not promoted this cycle",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Worker ID",
        "Function",
        "Current Level",
        "Gender",
        "Ethnicity",
        "Performance Rating",
        "Years in Level",
        "Panel Recommendation",
        "Final Decision",
    )
    path = _csv(folder / "promotion_panel_h1.csv", header, rows)
    return truth(path, people, _race, ("Ethnicity", "Asian", "White"), 0, "Panel Recommendation", steps=2)


def graduate_school(folder: Path) -> Truth:
    """Admissions by programme: invited to interview, Admit, Deny, Waitlist."""
    people = draw(1300, 928, [0.45, 0.5], "sex", "Female", 0, 0.65)

    def decision(p: One) -> str:
        return "Admit" if p.good else "Deny" if p.number % 5 else "Waitlist"

    rows = [
        (f"{880000 + p.number}", ("PhD Physics", "PhD History", "MS Statistics")[p.job % 3], f"{3 + p.rating / 5:.2f}", 150 + p.number % 20, p.sex, "Yes" if p.number % 3 == 0 else "No", "Invited" if p.reached else "Not invited", decision(p))
        for p in people
    ]  # fmt: skip
    header = ("UID", "Program", "UG GPA", "GRE Q", "Sex", "First Generation", "Interview", "Committee Decision")
    path = _csv(folder / "grad_admissions.csv", header, rows)
    return truth(path, people, _sex, ("Sex", "Female", "Male"), 0, "Interview", steps=2)


def grant_review(folder: Path) -> Truth:
    """Research proposals: discussed or triaged, a percentile, funded or not."""
    people = draw(1100, 929, [0.55, 0.4], "race", BLACK, 0, 0.6)
    rows = [
        (f"R01-{p.number:05}", f"FY25-{p.job % 3 + 1}", f"Panel {p.job}", p.race, p.sex, p.number % 30 + 1, "Discussed" if p.reached else "Not discussed", 5 + p.number % 60 if p.reached else "", "Funded" if p.good else "Not funded", f"{250000 + 1000 * p.number % 90000:,}")
        for p in people
    ]  # fmt: skip
    header = (
        "Application Number",
        "Council Round",
        "Study Section",
        "PI Race",
        "PI Gender",
        "Years Since Degree",
        "Review Status",
        "Percentile",
        "Funding Decision",
        "Requested Budget ($)",
    )
    path = _csv(folder / "proposals.csv", header, rows)
    return truth(path, people, _race, ("PI Race", BLACK, "White"), 0, "Review Status", steps=2)


def affirmative_action_counts(folder: Path) -> Truth:
    """Job groups with applicants and hires by sex side by side, under two header rows."""
    people = draw(2600, 930, [0.3], "sex", "Female", 0, 0.65)
    rows: list[Sequence[object]] = [
        ("Adverse impact summary, plan year 2025",),
        ("", "Applicants", "", "Hires", ""),
        ("Job Group", "Male", "Female", "Male", "Female"),
    ]
    for job in range(14):
        own = [p for p in people if p.job == job]
        rows.append(
            (
                f"JG {job + 1}",
                *(sum(p.sex == s for p in own) for s in ("Male", "Female")),
                *(sum(p.sex == s and p.good for p in own) for s in ("Male", "Female")),
            )
        )
    rows.append(
        (
            "All groups",
            *(sum(p.sex == s for p in people) for s in ("Male", "Female")),
            *(sum(p.sex == s and p.good for p in people) for s in ("Male", "Female")),
        )
    )
    path = _xlsx(folder / "aap_summary.xlsx", {"Summary": rows})
    return truth(path, people, _sex, ("Sex", "Female", "Male"), 0, "Hires", steps=1)


def icims_bins_statuses(folder: Path) -> Truth:
    """iCIMS: bin and status, where the bin of a rejected person hides how far they got; a column keeps it."""
    people = draw(1000, 931, [0.5, 0.5, 0.5], "sex", "Female", 0, 0.55, withdraw=0.05)
    bins = ("Application Review", "Phone Screen", "Interview", "Offer")

    def final(p: One) -> tuple[str, str]:
        if p.good:
            return "Hired", "Hired: Onboarding Complete"
        if p.end == "withdrew":
            return "Rejected", "Rejected: Candidate Withdrew"
        return "Rejected", (
            "Rejected: Not Qualified",
            "Rejected: Position Filled",
            "Rejected: Better Candidate Selected",
        )[p.number % 3]

    rows = [
        (
            f"{p.number + 10000}",
            f"2025-{p.job:04}",
            p.name,
            *final(p),
            bins[p.reached],
            f"{p.dates[-1]:%b %d, %Y}",
            p.sex if p.number % 13 else "",
            p.race,
        )
        for p in people
    ]
    header = (
        "Recruiting Workflow Profile : System ID",
        "Job : ID",
        "Person : Full Name",
        "Status : Bin",
        "Status : Current",
        "Status : Furthest Bin",
        "Status : Updated",
        "Person : Gender",
        "Person : Race",
    )
    path = _csv(folder / "icims_flow.csv", header, rows)
    return truth(
        path,
        people,
        lambda p: p.sex if p.number % 13 else "?",
        ("Person : Gender", "Female", "Male"),
        0,
        "Phone Screen",
        steps=3,
    )


def taleo_details(folder: Path) -> Truth:
    """Taleo's candidate details: current step and status; minimum requirements; ACE candidates."""
    people = draw(1100, 932, [0.6, 0.5, 0.5], "race", BLACK, 1, 0.5, withdraw=0.05)
    steps = ("New", "1st Interview", "2nd Interview", "Offer")
    status = {"good": "Hired", "withdrew": "Has Declined", "out": "Rejected"}
    rows = [
        (f"{p.job + 1400:06}", f"{p.department} Lead", 300000 + p.number, p.name, "No", "Yes" if p.number % 6 == 0 else "No", "Yes" if p.number % 8 else "No", "Standard CSW", steps[p.reached], status[p.end], f"{p.dates[-1]:%b %d, %Y}", p.race, p.sex)
        for p in people
    ]  # fmt: skip
    header = ("Req. Identifier", "Req. Title", "Candidate Identifier", "Candidate Name", "Candidate is Internal", "Is Ace", "Minimum Requirements Met", "Current Workflow Name", "Current Step Name", "Current Status Name", "Current Status Start Date", "Ethnicity", "Gender")  # fmt: skip
    path = _csv(folder / "candidate_details.csv", header, rows)
    return truth(path, people, _race, ("Ethnicity", BLACK, "White"), 1, "2nd Interview", steps=3)


def bamboo_elsewhere(folder: Path) -> Truth:
    """BambooHR-like statuses, one column, no stage: only the last step can be known."""
    people = draw(1000, 933, [0.25], "sex", "Female", 0, 0.5, withdraw=0.06)
    words = {
        "good": ("Hired",),
        "withdrew": ("Candidate Withdrew", "Hired Elsewhere"),
        "out": ("Not a Fit", "Not Qualified", "Over Qualified", "Location"),
    }
    rows = [
        (
            p.name,
            f"{p.applied:%Y-%m-%d}",
            f"Opening {p.job}",
            words[p.end][p.number % len(words[p.end])],
            p.rating if p.number % 3 else "",
            p.sex,
            p.race,
            p.site,
        )
        for p in people
    ]
    path = _csv(
        folder / "applicants_report.csv",
        ("Applicant", "Application Date", "Job Opening", "Status", "Rating", "Gender", "Ethnicity", "Location"),
        rows,
    )
    return truth(path, people, _sex, ("Gender", "Female", "Male"), 0, "Hired", steps=1)


def french_recruitee(folder: Path) -> Truth:
    """French: stage, disqualified yes or no, reason."""
    people = draw(950, 934, [0.5, 0.5, 0.5], "sex", "Female", 1, 0.5, withdraw=0.05)
    stages = ("Candidature", "Présélection", "Entretien RH", "Embauché")
    rows = [
        (p.number + 1, f"Offre {p.job}", stages[p.reached], "Non" if p.good else "Oui", {"good": "", "withdrew": "Le candidat s'est retiré", "out": "Profil inadapté"}[p.end], f"{p.applied:%d/%m/%Y}", "Femme" if p.sex == "Female" else "Homme", ("LinkedIn", "Cooptation")[p.job % 2])
        for p in people
    ]  # fmt: skip
    header = (
        "Identifiant",
        "Offre",
        "Étape",
        "Disqualifié",
        "Motif de disqualification",
        "Date de candidature",
        "Genre",
        "Provenance",
    )
    path = _csv(folder / "candidats.csv", header, rows, separator=";", encoding="utf-8-sig")
    return truth(
        path,
        people,
        lambda p: "Femme" if p.sex == "Female" else "Homme",
        ("Genre", "Femme", "Homme"),
        1,
        "Entretien RH",
        steps=3,
    )


def jobvite_dates(folder: Path) -> Truth:
    """Workflow states as dates, with a rejection date, and the groups in a second file."""
    people = draw(900, 935, [0.5, 0.5, 0.5], "race", BLACK, 0, 0.5, withdraw=0.05)
    rows = [
        (f"p{p.number:05}", f"j{p.job}", f"{p.applied:%m/%d/%Y}", f"{p.dates[0]:%m/%d/%Y}" if p.reached > 0 else "", f"{p.dates[1]:%m/%d/%Y}" if p.reached > 1 else "", f"{p.dates[2]:%m/%d/%Y}" if p.good else "", "" if p.good else f"{p.dates[2]:%m/%d/%Y}", {"good": "Hired", "withdrew": "Withdrawn", "out": "Rejected"}[p.end])
        for p in people
    ]  # fmt: skip
    header = (
        "Candidate Id",
        "Requisition Id",
        "Date: New",
        "Date: Phone Screen",
        "Date: Interview",
        "Date: Hired",
        "Date: Closed",
        "Workflow State",
    )
    first = _csv(folder / "jv_candidates.csv", header, rows)
    second = _csv(
        folder / "jv_eeo.csv",
        ("Candidate Id", "EEO Gender", "EEO Race"),
        [(f"p{p.number:05}", p.sex, p.race) for p in reversed(people)],
    )
    return truth((first, second), people, _race, ("EEO Race", BLACK, "White"), 0, "Date: Phone Screen", steps=3)


def teacher_hiring(folder: Path) -> Truth:
    """School district: paper screen, interview, demonstration lesson, board approval."""
    people = draw(1000, 936, [0.45, 0.55, 0.6], "race", BLACK, 0, 0.5)
    rows = [
        (f"T{p.number}", ("Elementary", "Math", "Special Ed")[p.job % 3], p.race, p.sex, round(p.cv / 10, 1), "Recommend" if p.reached > 0 else "Do not recommend", "" if p.reached < 1 else "Advance" if p.reached > 1 else "Do not advance", "Approved" if p.good else "")
        for p in people
    ]  # fmt: skip
    header = (
        "Applicant Key",
        "Certification Area",
        "Race",
        "Gender",
        "Paper Screen Score",
        "Paper Screen",
        "Demonstration Lesson",
        "Board Action",
    )
    path = _csv(folder / "teacher_pool.csv", header, rows)
    return truth(path, people, _race, ("Race", BLACK, "White"), 0, "Paper Screen", steps=3)


def peoplesoft(folder: Path) -> Truth:
    """PeopleSoft dispositions with their codes; the last phase reached beside the disposition."""
    people = draw(1000, 937, [0.5, 0.5, 0.5], "sex", "Female", 1, 0.5, withdraw=0.05, active=0.03)
    phases = ("020 Reviewed", "030 Screen", "060 Interview", "070 Offer")
    words = {"good": "090 Hired", "withdrew": "120 Withdrawn", "active": "100 Hold", "out": "110 Reject"}
    rows = [
        (
            f"{p.number + 500000}",
            f"{p.job + 3000}",
            p.department,
            f"{p.applied}",
            words[p.end],
            phases[p.reached],
            p.sex[0],
            ("1", "2", "4")[p.number % 3],
        )
        for p in people
    ]
    header = (
        "Applicant ID",
        "Job Opening ID",
        "Business Unit",
        "Applied Dt",
        "Disposition",
        "Last Phase",
        "Sex",
        "Applicant Type",
    )
    path = _csv(folder / "hrs_rcm.csv", header, rows)
    return truth(path, people, lambda p: p.sex[0], ("Sex", "F", "M"), 1, "060 Interview", steps=3)


def smart_history(folder: Path) -> Truth:
    """SmartRecruiters' status history: one row per change, the groups on every row."""
    people = draw(1100, 938, [0.6, 0.5, 0.5], "race", BLACK, 1, 0.4, withdraw=0.05)
    names = ("IN_REVIEW", "INTERVIEW", "OFFERED", "HIRED")
    rows = []
    for p in people:
        events = ["NEW", *names[: p.reached if not p.good else 3]]
        events += {"good": ["HIRED"], "withdrew": ["WITHDRAWN"], "out": ["REJECTED"]}[p.end]
        for k, status in enumerate(events):
            rows.append((f"cand-{p.number}", f"job-{p.job}", f"{p.applied + datetime.timedelta(days=5 * k)}T0{k}:12:00Z", status, f"user{p.job}", p.sex, p.race))  # fmt: skip
    random.Random(8).shuffle(rows)
    path = _csv(
        folder / "status_history.csv",
        ("candidate_id", "job_id", "changed_on", "status", "changed_by", "gender", "race"),
        rows,
    )
    full = truth(path, people, _race, ("race", BLACK, "White"), 1, "INTERVIEW", steps=3)
    return full


def italian_hires(folder: Path) -> Truth:
    """A list of people taken on: nothing to compare with."""
    people = draw(260, 939, [0.9], "sex", "Female", 0, 1.0)
    rows = [
        (
            p.number + 1,
            p.name,
            "F" if p.sex == "Female" else "M",
            p.site,
            f"{p.applied:%d/%m/%Y}",
            "Assunto",
            "Tempo indeterminato",
        )
        for p in people
    ]
    path = _csv(
        folder / "assunzioni.csv",
        ("Matricola", "Nominativo", "Sesso", "Sede", "Data assunzione", "Stato", "Contratto"),
        rows,
        separator=";",
    )
    return refusal(path)


def german_tabs(folder: Path) -> Truth:
    """Excel's Unicode text: UTF-16 with tabs; salutations; Zusage and Absage."""
    people = draw(850, 940, [0.5, 0.5], "sex", "Female", 0, 0.55)
    rows = [
        (p.number + 1, "Frau" if p.sex == "Female" else "Herr", p.name.split()[1], f"{p.applied:%d.%m.%Y}", f"Ausbildung {p.job % 4}", "bestanden" if p.reached else "nicht bestanden", "Zusage" if p.good else "Absage")
        for p in people
    ]  # fmt: skip
    header = ("Nr.", "Anrede", "Nachname", "Eingang", "Beruf", "Einstellungstest", "Entscheidung")
    path = folder / "ausbildung.txt"
    path.write_bytes(_text(header, rows, "\t").encode("utf-16"))
    return truth(
        path,
        people,
        lambda p: "Frau" if p.sex == "Female" else "Herr",
        ("Anrede", "Frau|weiblich|Female", "Herr|männlich|Male"),
        0,
        "Einstellungstest",
        steps=2,
    )


def separations(folder: Path) -> Truth:
    """Performance-based exits: Involuntary Separation yes or no beside a review score."""
    people = draw(1200, 941, [0.88], "race", BLACK, 0, 0.82)
    rows = [
        (
            f"{p.number + 20000}",
            p.department,
            p.sex,
            p.race,
            f"{1 + p.rating * 0.7:.1f}",
            "No" if p.good else "Yes",
            f"{40 + p.job},{p.number % 10}00",
        )
        for p in people
    ]
    path = _csv(
        folder / "fy25_separations.csv",
        ("Emp No", "Division", "Gender", "Ethnicity", "FY25 Review", "Involuntary Separation", "Base Salary"),
        rows,
    )
    return truth(path, people, _race, ("Ethnicity", BLACK, "White"), 0, "not separated", steps=1)


def eligible_list(folder: Path) -> Truth:
    """Civil-service exam: a raw score with a cut, eligible list, certification, appointment."""
    people = draw(1300, 942, [0.65, 0.5, 0.5], "race", "Hispanic or Latino", 0, 0.65)
    rows = [
        (f"X{p.number:05}", "Firefighter", p.race if p.number % 16 else "Not specified", p.sex, round(71 + p.cv / 4, 2) if p.reached else round(30 + p.cv / 2, 2), "Eligible" if p.reached > 0 else "Failed", "Y" if p.reached > 1 else "N", "Y" if p.good else "N")
        for p in people
    ]  # fmt: skip
    header = (
        "Exam ID",
        "Title",
        "Ethnic Code",
        "Sex",
        "Adjusted Final Average",
        "List Status",
        "Certified",
        "Appointed",
    )
    path = _csv(folder / "list_5119.csv", header, rows)
    return truth(
        path,
        people,
        lambda p: p.race if p.number % 16 else "?",
        ("Ethnic Code", RACES[3], "White"),
        0,
        "List Status",
        steps=3,
    )


def hispanic_beside(folder: Path) -> Truth:
    """Ethnicity (Hispanic or not) and race apart, as on the federal forms; the log's steps as Y and N."""
    people = draw(1300, 943, [0.5, 0.4], "race", "Hispanic or Latino", 0, 0.5)
    race = {"Hispanic or Latino": "White"}
    rows = [
        (p.number, f"{p.applied:%m/%d/%Y}", f"J{p.job}", "Hispanic or Latino" if p.race == RACES[3] else "Not Hispanic or Latino", race.get(p.race, p.race), p.sex, "Y" if p.reached > 0 else "N", "Y" if p.good else "N", "" if p.good else "Better qualified candidate")
        for p in people
    ]  # fmt: skip
    header = ("App", "Date", "Job Code", "Ethnicity", "Race", "Gender", "Interviewed (Y/N)", "Hired (Y/N)", "Reason")
    path = _csv(folder / "afl_2025.csv", header, rows)
    return truth(path, people, _race, ("Race", "Hispanic or Latino", "White"), 0, "Interviewed", steps=2)


ALL: tuple[Callable[[Path], Truth], ...] = (
    hris_rif, rif_selected, federal_flow, uk_sift, police_boards, auto_screened, optional_screen, days_in_stage, gupy_nd,
    dutch_phases, disposition_text, standards_log, stacked_shares, pivot_subtotals, groups_sheet, step_counts,
    workday_forward, lever_lines, blank_when_hired, codes_one_two, short_years, coded_reasons, german_last_step,
    french_admission, spanish_exercises, italian_selection, promotion_panel, graduate_school, grant_review,
    affirmative_action_counts, icims_bins_statuses, taleo_details, bamboo_elsewhere, french_recruitee, jobvite_dates,
    teacher_hiring, peoplesoft, smart_history, italian_hires, german_tabs, separations, eligible_list, hispanic_beside,
)  # fmt: skip

FIRST_RUN = {
    "standards_log": "misread",
    "spanish_exercises": "misread",
    "bamboo_elsewhere": "refused",
    "optional_screen": "refused",
    "grant_review": "misread",
    "pivot_subtotals": "refused",
    "affirmative_action_counts": "misread",
    "codes_one_two": "asked, then right",
    "workday_forward": "partly right",
    "promotion_panel": "partly right",
    "blank_when_hired": "asked, then right",
    "short_years": "refused",
    "eligible_list": "misread",
}
"""What the first run made of those that it did not read right: of `FRESH` with commit be8c70d, of `KEPT` (only the
last of these) with the commit that mended `FRESH`. `short_years` ended in a
traceback; its birthdays, all on one day of October by a mistake of the generator, were spread over the year afterwards,
and it still did."""

_shuffled = random.Random(2025).sample(ALL, len(ALL))
FRESH: dict[str, Callable[[Path], Truth]] = {make.__name__: make for make in _shuffled[:30]}
KEPT: dict[str, Callable[[Path], Truth]] = {make.__name__: make for make in _shuffled[30:]}
