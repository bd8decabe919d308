# ruff: noqa: E501
"""Twelve exports written after the reading had been mended on `fresh`, by somebody who knew the code; run once first.

They vary what READING.md lists as having gone wrong: layoffs in other languages and as counts by age, ticks for race,
letters for outcomes, stages beside counts, ages without a date, and flags that say how and not whether.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path

from exports.fresh import BLACK, RACES, One, _race, _sex, draw, truth
from exports.unseen import Truth, _csv, _xlsx


def owbpa_disclosure(folder: Path) -> Truth:
    """The table of a severance offer: job title, age, number selected and not selected."""
    people = draw(1200, 951, [0.8], "age", "old", 0, 0.8)
    keys = sorted({(p.job % 4, p.age) for p in people})
    rows = []
    for job, age in keys:
        own = [p for p in people if p.job % 4 == job and p.age == age]
        rows.append(
            (
                ("Analyst", "Clerk", "Engineer", "Buyer")[job],
                age,
                sum(not p.good for p in own),
                sum(p.good for p in own),
            )
        )
    path = _csv(
        folder / "exhibit_a.csv",
        ("Job Title", "Age", "# Selected for Termination", "# Not Selected"),
        rows,
        above=['"Exhibit A - Decisional unit: Headquarters"'],
    )
    return truth(path, people, _forty, ("Age", "40 and over", "under 40"), 0, "not selected", steps=1)


def _forty(p: One) -> str:
    return "40 and over" if p.age >= 40 else "under 40"


def german_layoff(folder: Path) -> Truth:
    """A German list of a works council: who was dismissed, birth years, social points."""
    people = draw(900, 952, [0.8], "age", "old", 0, 0.75)
    rows = [
        (
            f"P{p.number:04}",
            p.department,
            "m" if p.sex == "Male" else "w",
            2025 - p.age,
            p.age // 2,
            p.number % 4,
            "nein" if p.good else "ja",
            "31.12.2025",
        )
        for p in people
    ]
    path = _csv(
        folder / "sozialplan.csv",
        (
            "Personalnummer",
            "Abteilung",
            "Geschlecht",
            "Geburtsjahr",
            "Betriebszugehörigkeit",
            "Kinder",
            "Gekündigt",
            "Stichtag",
        ),
        rows,
        separator=";",
        encoding="cp1252",
    )
    return truth(
        path,
        people,
        _forty,
        ("Geburtsjahr", "40 and over", "under 40"),
        0,
        "nicht gekündigt",
        counted=len(people),
        steps=1,
    )


def spanish_dismissals(folder: Path) -> Truth:
    """Spanish: a collective dismissal, affected or not."""
    people = draw(1000, 953, [0.75], "sex", "Female", 0, 0.8)
    rows = [
        (p.number + 1, p.department, "M" if p.sex == "Female" else "H", p.age, "No afectado" if p.good else "Despedido")
        for p in people
    ]
    path = _csv(folder / "ere.csv", ("Nº empleado", "Área", "Sexo", "Edad", "Situación ERE"), rows, separator=";")
    return truth(
        path,
        people,
        lambda p: "M" if p.sex == "Female" else "H",
        ("Sexo", "M|mujer|female", "H|hombre|male"),
        0,
        "no afectado",
        steps=1,
    )


def ticks_and_letters(folder: Path) -> Truth:
    """A paper log typed in: an X under the race, S, N or W for the outcome."""
    people = draw(1100, 954, [0.3], "race", BLACK, 0, 0.45, withdraw=0.06)
    rows = [
        (p.number + 1, f"{p.applied:%m/%d/%Y}", f"Position {p.job}", "X" if p.sex == "Male" else "", "X" if p.sex == "Female" else "", *("X" if p.race == r else "" for r in RACES), {"good": "S", "withdrew": "W", "out": "N"}[p.end])
        for p in people
    ]  # fmt: skip
    header = ("Line", "Date Recd", "Position", "M", "F", "White", "Black", "Asian", "Hispanic", "Two or More", "S/N/W")
    path = _csv(folder / "typed_log.csv", header, rows)
    return truth(path, people, _race, ("Race", f"{BLACK}|Black", "White"), 0, "S", steps=1, may_ask=True)


def ucas_counts(folder: Path) -> Truth:
    """Admissions by subject and ethnicity: applicants, offers, placed."""
    people = draw(4000, 955, [0.6, 0.5], "race", BLACK, 0, 0.75)
    rows: list[Sequence[object]] = [
        ("Applicants and offers by subject, 2025 cycle",),
        (),
        ("Subject", "Ethnic group", "June deadline applicants", "Offers", "Offer rate", "Placed applicants"),
    ]
    for job in range(6):
        for race in RACES:
            own = [p for p in people if p.job % 6 == job and p.race == race]
            offers = sum(p.reached > 0 for p in own)
            rows.append(
                (
                    f"Subject {job}",
                    race,
                    len(own),
                    offers,
                    f"{100 * offers / max(1, len(own)):.1f}%",
                    sum(p.good for p in own),
                )
            )
    path = _xlsx(folder / "cycle_2025.xlsx", {"Sheet1": rows})
    return truth(path, people, _race, ("Ethnic group", BLACK, "White"), 0, "Offers", steps=2)


def long_funnel(folder: Path) -> Truth:
    """One row per stage, department and sex, with the number who reached it."""
    people = draw(2500, 956, [0.5, 0.5, 0.5], "sex", "Female", 1, 0.6)
    rows = []
    for department in sorted({p.department for p in people}):
        for sex in ("Women", "Men"):
            own = [p for p in people if p.department == department and p.sex == {"Women": "Female", "Men": "Male"}[sex]]
            for k, stage in enumerate(("Applied", "Assessed", "Interviewed", "Offered")):
                rows.append((department, sex, stage, sum(p.reached >= k for p in own)))
    path = _csv(folder / "funnel_long.csv", ("Function", "Gender", "Stage", "Headcount"), rows)
    return truth(
        path,
        people,
        lambda p: {"Female": "Women", "Male": "Men"}[p.sex],
        ("Gender", "Women|Female", "Men|Male"),
        1,
        "Interviewed",
        steps=3,
    )


def french_promotions(folder: Path) -> Truth:
    """French: a promotion round with proposals of the manager and the committee's decision."""
    people = draw(1000, 957, [0.5, 0.6], "sex", "Female", 0, 0.6)
    rows = [
        (f"MAT{p.number}", p.department, "Mme" if p.sex == "Female" else "M.", p.rating, "Oui" if p.reached else "Non", "" if not p.reached else "Favorable" if p.good else "Défavorable")
        for p in people
    ]  # fmt: skip
    path = _csv(
        folder / "avancement.csv",
        ("Matricule", "Direction", "Civilité", "Notation", "Proposé par le manager", "Avis de la commission"),
        rows,
        separator=";",
        encoding="utf-8-sig",
    )
    return truth(
        path,
        people,
        lambda p: "Mme" if p.sex == "Female" else "M.",
        ("Civilité", "Mme|Female|Femme", "M.|Male|Homme"),
        0,
        "Proposé par le manager",
        steps=2,
    )


def how_not_whether(folder: Path) -> Truth:
    """Flags about how (auto-screened, video, referral) beside flags about whether."""
    people = draw(1000, 958, [0.5, 0.5, 0.5], "sex", "Female", 0, 0.55)
    rows = [
        (p.number, "TRUE" if p.number % 3 else "FALSE", "TRUE" if p.number % 5 == 0 else "FALSE", str(p.reached > 0).upper(), "TRUE" if p.reached > 0 and p.number % 2 else "FALSE", str(p.reached > 1).upper(), str(p.good).upper(), p.sex, p.race)
        for p in people
    ]  # fmt: skip
    header = (
        "applicationId",
        "wasAutoScreened",
        "isEmployeeReferral",
        "recruiterScreenCompleted",
        "screenWasVideo",
        "onsiteCompleted",
        "offerAccepted",
        "gender",
        "race",
    )
    path = _csv(folder / "api_flags.csv", header, rows)
    return truth(path, people, _sex, ("gender", "Female", "Male"), 0, "recruiterScreenCompleted", steps=3)


def ages_without_date(folder: Path) -> Truth:
    """Dates of birth and of hiring, and who was kept: nothing says when."""
    people = draw(900, 959, [0.75], "age", "old", 0, 0.7)
    rows = []
    for p in people:
        born = datetime.date(2025, 6, 30) - datetime.timedelta(
            days=round((p.age + 0.05 + p.number % 300 / 365) * 365.2425)
        )
        hired = datetime.date(2025, 6, 30) - datetime.timedelta(days=1 + 3 * p.number)
        rows.append(
            (
                p.number + 1,
                f"{born:%Y-%m-%d}",
                f"{hired:%Y-%m-%d}",
                ("Ops", "IT")[p.job % 2],
                "Kept" if p.good else "Let go",
            )
        )
    path = _csv(folder / "kept.csv", ("Emp", "Birth Date", "Hire Date", "Unit", "Decision"), rows)
    return truth(path, people, _forty, ("Birth Date", "40 and over", "under 40"), 0, "Kept", steps=1, may_ask=True)


def dutch_phase_text(folder: Path) -> Truth:
    """Dutch: the step inside the text of the rejection."""
    people = draw(1000, 960, [0.5, 0.5], "sex", "Female", 0, 0.55)

    def text(p: One) -> str:
        return "Aangenomen" if p.good else ("Afgewezen na brief", "Afgewezen na gesprek")[p.reached]

    rows = [
        (p.number + 1, f"V{p.job}", "V" if p.sex == "Female" else "M", f"{p.applied:%d-%m-%Y}", text(p)) for p in people
    ]
    path = _csv(
        folder / "afhandeling.csv",
        ("Nr", "Vacaturenummer", "Geslacht (M/V)", "Datum", "Afhandeling"),
        rows,
        separator=";",
    )
    return truth(
        path,
        people,
        lambda p: "V" if p.sex == "Female" else "M",
        ("Geslacht (M/V)", "V|Vrouw|Female", "M|Man|Male"),
        0,
        "gesprek",
        steps=2,
    )


def portuguese_contest(folder: Path) -> Truth:
    """Portuguese public contest: objective test, title review, outcome; a quota column."""
    people = draw(1200, 961, [0.5, 0.6], "race", BLACK, 0, 0.6)
    names = {"White": "Branca", BLACK: "Preta", "Asian": "Amarela", RACES[3]: "Parda", RACES[4]: "Indígena"}
    rows = [
        (f"{p.number:06}", names[p.race], "Sim" if p.race == BLACK else "Não", f"{p.cv / 10:.2f}".replace(".", ","), "Aprovado" if p.reached else "Eliminado", "" if not p.reached else "Classificado" if p.good else "Não classificado")
        for p in people
    ]  # fmt: skip
    path = _csv(
        folder / "concurso.csv",
        ("Inscrição", "Cor/Raça", "Concorre às cotas", "Nota", "Prova objetiva", "Resultado final"),
        rows,
        separator=";",
        encoding="utf-8-sig",
    )
    return truth(path, people, lambda p: names[p.race], ("Cor/Raça", "Preta", "Branca"), 0, "Prova objetiva", steps=2)


def italian_pivot(folder: Path) -> Truth:
    """Italian pivot: sede, genere, numbers, with totals of each sede."""
    people = draw(2200, 962, [0.5, 0.5], "sex", "Female", 0, 0.6)
    rows: list[Sequence[object]] = []
    for site in sorted({p.site for p in people}):
        for i, sex in enumerate(("Female", "Male")):
            own = [p for p in people if p.site == site and p.sex == sex]
            rows.append(
                (
                    site if not i else "",
                    {"Female": "Donne", "Male": "Uomini"}[sex],
                    len(own),
                    sum(p.reached > 0 for p in own),
                    sum(p.good for p in own),
                )
            )
        own = [p for p in people if p.site == site]
        rows.append((f"Totale {site}", "", len(own), sum(p.reached > 0 for p in own), sum(p.good for p in own)))
    rows.append(
        ("Totale complessivo", "", len(people), sum(p.reached > 0 for p in people), sum(p.good for p in people))
    )
    path = _csv(folder / "pivot_it.csv", ("Sede", "Genere", "Candidati", "Colloqui", "Assunti"), rows, separator=";")
    return truth(
        path,
        people,
        lambda p: {"Female": "Donne", "Male": "Uomini"}[p.sex],
        ("Genere", "Donne|Female", "Uomini|Male"),
        0,
        "Colloqui",
        steps=2,
    )


ALL: tuple[Callable[[Path], Truth], ...] = (
    owbpa_disclosure, german_layoff, spanish_dismissals, ticks_and_letters, ucas_counts, long_funnel, french_promotions,
    how_not_whether, ages_without_date, dutch_phase_text, portuguese_contest, italian_pivot,
)  # fmt: skip

FIRST_RUN = {
    "owbpa_disclosure": "asked, then misread",
    "spanish_dismissals": "refused",
    "ucas_counts": "misread",
    "long_funnel": "refused",
    "ages_without_date": "refused",
    "dutch_phase_text": "misread",
    "portuguese_contest": "misread",
}
"""What the first run made of those that it did not read right."""

LATER: dict[str, Callable[[Path], Truth]] = {make.__name__: make for make in ALL}
