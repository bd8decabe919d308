"""Exports in the shapes that applicant tracking systems write, each with one planted difference.

Column names and words follow the systems as far as they are publicly known; the people are invented. Every function
writes one file and returns what a reader should find in it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from exports.people import Person, Plant, applicants


@dataclass(frozen=True)
class Expected:
    """What the zero-flag reading of an export should find. `steps` end with the selection."""

    path: Path
    people: list[Person]
    attributes: dict[str, str]
    steps: tuple[str, ...]
    selected: str | None
    segments: tuple[str, ...]
    plant: Plant
    column: str
    group: str
    repeated: bool = False
    withdrawn_known: bool = True


def _write(
    folder: Path,
    name: str,
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    separator: str = ",",
    encoding: str = "utf-8",
    above: Sequence[str] = (),
    below: Sequence[Sequence[object]] = (),
) -> Path:
    out = io.StringIO()
    for line in above:
        out.write(line + "\r\n")
    writer = csv.writer(out, delimiter=separator, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    writer.writerows(below)
    path = folder / name
    path.write_bytes(out.getvalue().encode(encoding))
    return path


def _some(people: list[Person], seed: int, share: float = 0.05) -> set[int]:
    """People who declined to answer: the same for a seed."""
    rng = np.random.default_rng(seed)
    return {p.number for p in people if rng.random() < share}


def greenhouse(folder: Path) -> Expected:
    plant = Plant("sex", "Female", 1)
    people = applicants(800, 3, plant, 1, repeat=0.15)
    stages = ("Application Review", "Recruiter Phone Screen", "Face to Face", "Offer")
    silent = _some(people, 1)
    status = {"hired": "Hired", "rejected": "Rejected", "withdrew": "Rejected", "active": "Active"}
    reason = {
        "rejected": "Lacking skill(s)/qualification(s)",
        "withdrew": "Candidate withdrew",
        "hired": "",
        "active": "",
    }
    header = (
        "Application ID", "Candidate ID", "Candidate Name", "Job Name", "Requisition ID", "Department", "Office",
        "Source",
        "Application Status", "Current Stage", "Rejection Reason", "Applied On", "Gender", "Hispanic/Latino", "Race",
        "Veteran Status", "Disability Status",
    )  # fmt: skip
    rows = [
        (
            70000 + p.number, 3000 + p.person, f"Person {p.person}", f"Analyst {p.job}", f"R-{p.job}", p.department,
            p.location, p.source, status[p.status], stages[p.reached], reason[p.status], p.applied.isoformat(),
            "Decline To Self-Identify" if p.number in silent else p.sex,
            "Yes" if p.race == "Hispanic or Latino" else "No",
            "Decline To Self-Identify" if p.number in silent else p.race,
            "I identify as one or more of the classifications of a protected veteran"
            if p.veteran else "I am not a protected veteran",
            "Yes, I have a disability, or have had one in the past" if p.disability
            else "No, I do not have a disability and have not had one in the past",
        )
        for p in people
    ]  # fmt: skip
    path = _write(folder, "greenhouse.csv", header, rows)
    kinds = {
        "Gender": "sex",
        "Race": "race",
        "Hispanic/Latino": "race",
        "Veteran Status": "veteran",
        "Disability Status": "disability",
    }
    steps = (*stages[1:], "Hired")
    return Expected(
        path, people, kinds, steps, "Application Status", ("Department", "Office", "Source"), plant, "Gender", "Female",
        repeated=True,
    )  # fmt: skip


def workday(folder: Path) -> Expected:
    plant = Plant("race", "Black or African American", 0)
    people = applicants(700, 3, plant, 2)
    header = (
        "Candidate ID", "Job Requisition", "Supervisory Organization", "Primary Location", "Source", "Application Date",
        "Screen Date", "Interview Date", "Offer Date", "Hire Date", "Candidate Status", "Disposition Reason", "Gender",
        "Race/Ethnicity", "Date of Birth",
    )  # fmt: skip
    status = {"hired": "Hired", "rejected": "Rejected", "withdrew": "Candidate Withdrew", "active": "In Process"}
    rows = [
        (
            f"C{10000 + p.number}", f"R{p.job:04} Analyst", p.department, p.location, p.source, p.applied.isoformat(),
            *(p.dates[k].isoformat() if p.reached > k else "" for k in range(3)),
            p.dates[3].isoformat() if p.hired else "",
            status[p.status], "Experience" if p.status == "rejected" else "", p.sex,
            f"{p.race} (United States of America)", p.born.isoformat(),
        )
        for p in people
    ]  # fmt: skip
    above = ("Candidate Pipeline Report", "Company: Example Inc.", "")
    path = _write(folder, "workday.csv", header, rows, above=above, encoding="utf-8-sig")
    return Expected(
        path,
        people,
        {"Gender": "sex", "Race/Ethnicity": "race", "Date of Birth": "age"},
        ("Screen", "Interview", "Offer", "Hired"),
        "Candidate Status",
        ("Supervisory Organization", "Primary Location", "Source"),
        plant,
        "Race/Ethnicity",
        "Black or African American (United States of America)",
    )


def lever(folder: Path) -> Expected:
    plant = Plant("sex", "Female", 2)
    people = applicants(800, 3, plant, 3)
    stages = ("New applicant", "Recruiter screen", "On-site interview", "Offer")
    reason = {"hired": "Hired", "rejected": "Underqualified", "withdrew": "Withdrew", "active": ""}
    other = ("Accepted other offer", "Withdrew", "Unresponsive")
    header = (
        "Opportunity ID", "Posting Title", "Posting Department", "Posting Location", "Origin", "Applied At", "Stage",
        "Archive Reason", "Archived At", "Overall Feedback", "EEO Gender", "EEO Race",
    )  # fmt: skip
    words = {1: "1 - Strong No", 2: "2 - No", 3: "3 - Yes", 4: "4 - Strong Yes"}
    rows = [
        (
            f"{p.number:08x}-ab", f"Analyst {p.job}", p.department, p.location, p.source, f"{p.applied}T09:30:00Z",
            stages[p.reached], other[p.number % 3] if p.withdrew else reason[p.status],
            "" if p.active else f"{p.dates[3]}T12:00:00Z", words[int(p.rating)] if p.reached > 1 else "",
            p.sex, p.race,
        )
        for p in people
    ]  # fmt: skip
    path = _write(folder, "lever.csv", header, rows)
    return Expected(
        path,
        people,
        {"EEO Gender": "sex", "EEO Race": "race"},
        (*stages[1:], "Hired"),
        "Archive Reason",
        ("Posting Department", "Posting Location"),
        plant,
        "EEO Gender",
        "Female",
    )


def icims(folder: Path) -> Expected:
    plant = Plant("age", "40 and over", 1)
    people = applicants(800, 2, plant, 4)
    status = {
        "hired": "Hired: Hired: By Job",
        "rejected": "Rejected: Not Selected",
        "withdrew": "Self-Withdrew (Portal)",
        "active": "Under Consideration",
    }
    header = (
        "Submittal : System ID", "Person : System ID", "Job : Job ID", "Job : Department", "Job : Location Name",
        "Submittal : Date Submitted", "Submittal : Status", "Submittal : Phone Screen Date",
        "Submittal : Interview Date",
        "Person : Gender", "Person : Race", "Person : Age",
    )  # fmt: skip
    rows = [
        (
            f"{90000 + p.number:,}", f"{2000 + p.person:,}", f"2024-{1000 + p.job}", p.department, p.location,
            p.applied.strftime("%m/%d/%Y"), status[p.status],
            *(p.dates[k].strftime("%m/%d/%Y") if p.reached > k else "" for k in range(2)), p.sex, p.race, p.age,
        )
        for p in people
    ]  # fmt: skip
    path = _write(folder, "icims.csv", header, rows)
    return Expected(
        path,
        people,
        {"Person : Gender": "sex", "Person : Race": "race", "Person : Age": "age"},
        ("Submittal : Phone Screen", "Submittal : Interview", "Hired: Hired: By Job"),
        "Submittal : Status",
        ("Job : Department", "Job : Location Name"),
        plant,
        "Person : Age",
        "40 and over",
    )


def taleo(folder: Path) -> Expected:
    plant = Plant("sex", "Female", 0)
    people = applicants(700, 3, plant, 5)
    steps = ("New", "Screening", "1st Interview", "2nd Interview")
    status = {
        "hired": "Hired",
        "rejected": "Rejected by Employer",
        "withdrew": "Has Declined",
        "active": "To be reviewed",
    }
    header = (
        "Candidate Identifier", "Requisition Number", "Organization", "Primary Location", "Job Field", "Source Type",
        "Submission Completed Date", "Current Step", "Current Status", "Gender", "Ethnicity", "Screening Score",
    )  # fmt: skip
    rows = [
        (
            400000 + p.number, f"24000{p.job:02}", f"ACME > {p.department}", p.location, p.department, p.source,
            p.applied.strftime("%d-%b-%Y"), steps[p.reached] if not p.hired else "Hire", status[p.status],
            p.sex if p.number % 17 else "Not declared", p.race, p.cv,
        )
        for p in people
    ]  # fmt: skip
    path = _write(folder, "taleo.csv", header, rows, separator="\t", encoding="utf-16")
    return Expected(
        path,
        people,
        {"Gender": "sex", "Ethnicity": "race"},
        (*steps[1:], "Hire"),
        "Current Status",
        ("Organization", "Primary Location", "Source Type"),
        plant,
        "Gender",
        "Female",
    )


def smartrecruiters(folder: Path) -> Expected:
    """One row per change of status."""
    plant = Plant("race", "Asian", 1, 0.4)
    people = applicants(500, 2, plant, 6)
    header = (
        "Application ID", "Candidate ID", "Job ID", "Department", "Location", "Source", "Status", "Status Date",
        "Gender",
        "Race",
    )  # fmt: skip
    names = ("IN_REVIEW", "INTERVIEW")
    last = {"hired": "HIRED", "rejected": "REJECTED", "withdrew": "WITHDRAWN"}
    rows = []
    for p in people:
        events = [("NEW", p.applied), *((names[k], p.dates[k]) for k in range(p.reached))]
        if not p.active:
            events.append((last[p.status], p.dates[2]))
        own = (f"a{p.number:06}", f"c{p.person:06}", f"REF{p.job}", p.department, p.location, p.source)
        rows += [(*own, status, f"{day}T08:00:00.000Z", p.sex, p.race) for status, day in events]
    path = _write(folder, "smartrecruiters.csv", header, rows)
    return Expected(
        path,
        people,
        {"Gender": "sex", "Race": "race"},
        ("IN_REVIEW", "INTERVIEW", "HIRED"),
        None,
        ("Department", "Location", "Source"),
        plant,
        "Race",
        "Asian",
    )


def successfactors(folder: Path) -> Expected:
    plant = Plant("disability", "True", 0, 0.4)
    people = applicants(800, 2, plant, 7)
    status = {
        "hired": "Hired",
        "rejected": "Disqualified",
        "withdrew": "Withdrawn by Candidate",
        "active": "Forwarded",
    }
    status["active"] = "In Progress"
    header = (
        "Application ID", "Job Req ID", "Job Title", "Division", "Country", "Application Date", "Phone Screen",
        "Interview",
        "Application Status", "Gender", "Date Of Birth", "Disability Status", "Candidate Match Score",
        "Interview Rating",
    )  # fmt: skip
    rows = [
        (
            p.number + 1, 500 + p.job, f"Analyst {p.job}", p.department, p.location, p.applied.isoformat(),
            "Completed" if p.reached > 0 else "Not started", "Completed" if p.reached > 1 else "Not started",
            status[p.status], {"Female": "F", "Male": "M"}[p.sex], p.born.isoformat(),
            "Yes" if p.disability else "No", p.cv, p.rating if p.reached > 1 else "",
        )
        for p in people
    ]  # fmt: skip
    path = _write(folder, "successfactors.csv", header, rows)
    return Expected(
        path,
        people,
        {"Gender": "sex", "Date Of Birth": "age", "Disability Status": "disability"},
        ("Phone Screen", "Interview", "Hired"),
        "Application Status",
        ("Division", "Country"),
        plant,
        "Disability Status",
        "Yes",
    )


def personio(folder: Path) -> Expected:
    plant = Plant("sex", "Female", 1)
    people = applicants(700, 2, plant, 8)
    silent = _some(people, 8)
    phases = ("Eingegangen", "Telefoninterview", "Vorstellungsgespräch")
    status = {"hired": "Eingestellt", "rejected": "Abgelehnt", "withdrew": "Zurückgezogen", "active": "Offen"}
    header = (
        "Bewerber-Nr.", "Stelle", "Abteilung", "Standort", "Kanal", "Bewerbungsdatum", "Phase", "Status", "Absagegrund",
        "Geschlecht", "Geburtsdatum", "Lebenslauf-Score",
    )  # fmt: skip
    rows = [
        (
            f"{1000 + p.number:,}".replace(",", "."), f"Sachbearbeitung {p.job}", p.department, p.location, p.source,
            p.applied.strftime("%d.%m.%Y"), phases[p.reached], status[p.status],
            "Qualifikation" if p.status == "rejected" else "",
            "keine Angabe" if p.number in silent else {"Female": "weiblich", "Male": "männlich"}[p.sex],
            p.born.strftime("%d.%m.%Y"), f"{p.cv}".replace(".", ","),
        )
        for p in people
    ]  # fmt: skip
    path = _write(folder, "personio.csv", header, rows, separator=";", encoding="cp1252")
    return Expected(
        path,
        people,
        {"Geschlecht": "sex", "Geburtsdatum": "age"},
        (*phases[1:], "Eingestellt"),
        "Status",
        ("Abteilung", "Standort", "Kanal"),
        plant,
        "Geschlecht",
        "weiblich",
    )


def teamtailor(folder: Path) -> Expected:
    plant = Plant("sex", "Female", 1, 0.45)
    people = applicants(600, 2, plant, 9, active=0.0)
    stages = ("Inbox", "Phone interview", "Interview")
    header = (
        "Candidate ID", "Job title", "Department", "Location", "Applied at", "Stage", "Rejected at", "Reject reason",
        "Hired at", "Source", "Gender",
    )  # fmt: skip
    rows = [
        (
            p.number, f"Analyst {p.job}", p.department, p.location, p.applied.isoformat(), stages[p.reached],
            "" if p.hired else p.dates[2].isoformat(),
            "Candidate withdrew from process" if p.withdrew else "" if p.hired else "Not enough experience",
            p.dates[2].isoformat() if p.hired else "", p.source, p.sex,
        )
        for p in people
    ]  # fmt: skip
    path = _write(folder, "teamtailor.csv", header, rows)
    return Expected(
        path,
        people,
        {"Gender": "sex"},
        (*stages[1:], "Hired"),
        "Hired at",
        ("Department", "Location", "Source"),
        plant,
        "Gender",
        "Female",
    )


def ashby(folder: Path) -> Expected:
    """The path of each application in one cell."""
    plant = Plant("race", "Black or African American", 2)
    people = applicants(2400, 3, plant, 10)
    stages = ("Application Review", "Phone Screen", "Take Home", "Onsite")
    reason = {"rejected": "Experience", "withdrew": "Accepted other offer", "hired": "", "active": ""}
    status = {"hired": "Hired", "rejected": "Archived", "withdrew": "Archived", "active": "Active"}
    header = (
        "Application ID", "Candidate ID", "Job", "Department", "Location", "Source", "Application Created",
        "Stage History",
        "Status", "Archive Reason", "Gender Identity", "Race/Ethnicity",
    )  # fmt: skip
    rows = [
        (
            f"app-{p.number}", f"cand-{p.person}", f"Analyst {p.job}", p.department, p.location, p.source,
            p.applied.isoformat(), " > ".join(stages[: p.reached + 1]), status[p.status], reason[p.status],
            {"Female": "Woman", "Male": "Man"}[p.sex], p.race,
        )
        for p in people
    ]  # fmt: skip
    path = _write(folder, "ashby.csv", header, rows)
    return Expected(
        path,
        people,
        {"Gender Identity": "sex", "Race/Ethnicity": "race"},
        (*stages[1:], "Hired"),
        "Status",
        ("Department", "Location", "Source"),
        plant,
        "Race/Ethnicity",
        "Black or African American",
    )


def spreadsheet(folder: Path) -> Expected:
    """Kept by hand: a title, totals, ages, yes and no, cp1252."""
    plant = Plant("age", "40 and over", 0)
    people = applicants(600, 2, plant, 11, withdraw=0.0, active=0.0)
    header = (
        "",
        "Candidate no.",
        "Vacancy",
        "Team",
        "Sex",
        "Age",
        "Shortlisted",
        "Interviewed",
        "Appointed",
        "Comments",
    )
    rows = [
        (
            i, f"K-{p.number}", f"V{p.job}", p.department, {"Female": "f", "Male": "m"}[p.sex], p.age,
            "Yes" if p.reached > 0 else "No", "Yes" if p.reached > 1 else "No", "Yes" if p.hired else "No",
            "naïve façade" if p.number % 9 == 0 else "",
        )
        for i, p in enumerate(people, 1)
    ]  # fmt: skip
    totals = [("Total", len(people), "", "", "", "", *(sum(p.reached > k for p in people) for k in range(2)),
               sum(p.hired for p in people), "")]  # fmt: skip
    above = ("Recruitment log 2024 – confidential;;;;;;;;;", ";;;;;;;;;")
    path = _write(folder, "spreadsheet.csv", header, rows, separator=";", encoding="cp1252", above=above, below=totals)
    return Expected(
        path,
        people,
        {"Sex": "sex", "Age": "age"},
        ("Shortlisted", "Interviewed", "Appointed"),
        "Appointed",
        ("Team",),
        plant,
        "Age",
        "40 and over",
    )


def survey(folder: Path) -> Expected:
    """Questions as headers."""
    plant = Plant("sex", "Female", 1)
    people = applicants(700, 2, plant, 12, withdraw=0.0, active=0.0)
    silent = _some(people, 12)
    header = (
        "Response ID", "Which position did you apply for?", "Which office is the position in?", "What is your gender?",
        "What is your race/ethnicity? (select one)", "Do you have a disability?", "Did you have a phone screen?",
        "Were you invited to an on-site interview?", "Were you hired?",
    )  # fmt: skip
    rows = [
        (
            f"R_{p.number:05}", f"Analyst {p.job}", p.location,
            "Prefer not to say" if p.number in silent else {"Female": "Woman", "Male": "Man"}[p.sex], p.race,
            "I do not wish to answer" if p.number in silent else "Yes" if p.disability else "No",
            *("Yes" if p.reached > k else "No" for k in range(2)), "Yes" if p.hired else "No",
        )
        for p in people
    ]  # fmt: skip
    path = _write(folder, "survey.csv", header, rows)
    return Expected(
        path,
        people,
        {
            "What is your gender?": "sex",
            "What is your race/ethnicity? (select one)": "race",
            "Do you have a disability?": "disability",
        },
        ("Did you have a phone screen?", "Were you invited to an on-site interview?", "Were you hired?"),
        "Were you hired?",
        ("Which office is the position in?",),
        plant,
        "What is your gender?",
        "Woman",
    )


# The next three were written when the rules of reading were done.


def workable(folder: Path) -> Expected:
    plant = Plant("veteran", "True", 1, 0.4)
    people = applicants(800, 3, plant, 13, repeat=0.1)
    stages = ("Applied", "Phone Screen", "Assessment", "Executive Interview")
    header = (
        "Candidate", "Email", "Job", "Job shortcode", "Department", "Location", "Source", "Created at", "Stage",
        "Disqualified", "Disqualification reason", "Gender", "Race", "Veteran status",
    )  # fmt: skip
    rows = [
        (
            f"Person {p.person}", f"p{p.person}@example.org", f"Analyst {p.job}", f"AB{p.job:02}", p.department,
            p.location, p.source, f"{p.applied} 10:{p.number % 60:02}:{p.number // 60:02}",
            "Hired" if p.hired else stages[p.reached], "yes" if p.status in ("rejected", "withdrew") else "no",
            "Withdrew application" if p.withdrew else "Missing skills" if p.status == "rejected" else "",
            p.sex, p.race, "Protected veteran" if p.veteran else "Not a veteran",
        )
        for p in people
    ]  # fmt: skip
    path = _write(folder, "workable.csv", header, rows)
    return Expected(
        path,
        people,
        {"Gender": "sex", "Race": "race", "Veteran status": "veteran"},
        (*stages[1:], "Hired"),
        "Stage",
        ("Department", "Location", "Source"),
        plant,
        "Veteran status",
        "Protected veteran",
        repeated=True,
    )


def flatchr(folder: Path) -> Expected:
    """French, with a column for each step."""
    plant = Plant("sex", "Female", 1)
    people = applicants(700, 2, plant, 14)
    decision = {"hired": "Embauché(e)", "rejected": "Refusé(e)", "withdrew": "Désistement", "active": "En cours"}
    header = (
        "N° de candidature", "Intitulé du poste", "Service", "Lieu", "Date de candidature", "Sexe", "Date de naissance",
        "Entretien téléphonique", "Entretien manager", "Décision", "Note d'entretien",
    )  # fmt: skip
    rows = [
        (
            f"C-{p.number:04}", f"Chargé d'études {p.job}", p.department, p.location, p.applied.strftime("%d/%m/%Y"),
            {"Female": "Femme", "Male": "Homme"}[p.sex] if p.number % 20 else "Non renseigné",
            p.born.strftime("%d/%m/%Y"), *("oui" if p.reached > k else "non" for k in range(2)), decision[p.status],
            f"{p.rating + 10.5}".replace(".", ",") if p.reached > 1 else "",
        )
        for p in people
    ]  # fmt: skip
    path = _write(folder, "flatchr.csv", header, rows, separator=";", encoding="cp1252")
    return Expected(
        path,
        people,
        {"Sexe": "sex", "Date de naissance": "age"},
        ("Entretien téléphonique", "Entretien manager", "Embauché(e)"),
        "Décision",
        ("Service", "Lieu"),
        plant,
        "Sexe",
        "Femme",
    )


def bizneo(folder: Path) -> Expected:
    """Spanish, with the last stage reached."""
    plant = Plant("age", "40 and over", 2)
    people = applicants(800, 3, plant, 15)
    stages = ("Inscrito", "Preselección", "Entrevista telefónica", "Entrevista final")
    result = {"hired": "Contratado", "rejected": "Descartado", "withdrew": "Retirado", "active": "En proceso"}
    header = (
        "ID candidato", "Vacante", "Departamento", "Sede", "Fuente", "Fecha de inscripción", "Género", "Edad", "Fase",
        "Resultado", "Años de experiencia",
    )  # fmt: skip
    rows = [
        (
            p.number + 1, f"Analista {p.job}", p.department, p.location, p.source, p.applied.strftime("%d/%m/%Y"),
            {"Female": "Mujer", "Male": "Hombre"}[p.sex], p.age, stages[p.reached], result[p.status], p.number % 23,
        )
        for p in people
    ]  # fmt: skip
    path = _write(folder, "bizneo.csv", header, rows, separator=";")
    return Expected(
        path,
        people,
        {"Género": "sex", "Edad": "age"},
        (*stages[1:], "Contratado"),
        "Resultado",
        ("Departamento", "Sede", "Fuente"),
        plant,
        "Edad",
        "40 and over",
    )


EXPORTS: dict[str, Callable[[Path], Expected]] = {
    build.__name__: build
    for build in (
        greenhouse, workday, lever, icims, taleo, smartrecruiters, successfactors, personio, teamtailor, ashby,
        spreadsheet, survey, workable, flatchr, bizneo,
    )
}  # fmt: skip
