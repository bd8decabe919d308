# ruff: noqa: E501
"""A second set of exports nobody tuned to: written before the reading code was opened, run once, never changed.

`EXAM` has 24 of them and `LAST` 8, drawn by a fixed shuffle. The 24 were run once (the first-run figure in
docs/data.md), then the reading was mended by principle; the 8 stayed unread until that was finished. Shapes follow the
documentation of Trakstar Hire, Biddle, SuccessFactors, Teamtailor, Workable, ClearCompany, NEOGOV, NHS Jobs, USA
Staffing, Slate, Interfolio and others, and READING.md's list of what went wrong. People are invented.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from exports.people import Person, Plant, applicants
from exports.unseen import BLACK, MEN, WHITE, Truth, _csv, _truth, _with, _women, _xlsx

FIRST = ("Ana", "Ben", "Chloe", "Dev", "Elif", "Frank", "Grace", "Hugo", "Ines", "Jamal", "Kim", "Luis")
LASTN = ("Adams", "Brandt", "Costa", "Diaz", "Evans", "Fischer", "Green", "Hassan", "Ito", "Jones", "Klein")


def _name(p: Person) -> str:
    return f"{FIRST[p.person % 12]} {LASTN[p.person * 7 % 11]}"


def _mail(p: Person) -> str:
    return f"{_name(p).replace(' ', '.').lower()}{p.person}@example.org"


def trakstar_hire(folder: Path) -> Truth:
    """Excel report "Candidates": stage, doneness, and Archived? which says nothing about the outcome."""
    plant = _women(1)
    people = applicants(820, 3, plant, 301)
    stages = ("Screening", "Phone Interview", "On-site Interview", "Offer")
    done = {"hired": "Hired", "rejected": "Rejected", "withdrew": "Withdrawn", "active": "In Process"}
    rows: list[Sequence[object]] = [
        (
            "Candidate Name", "Candidate Email", "Source Type", "Source", "Archived?", "Opening ID",
            "Opening Public Title", "Location", "Added Date", "Current Stage", "Candidate Status", "Gender", "Race",
        )
    ]  # fmt: skip
    for p in people:
        rows.append(
            (
                _name(p), _mail(p), "Job Board", p.source, "Yes" if p.job < 5 else "No", 88000 + p.job,
                f"Analyst {p.job}", p.location, p.applied, stages[p.reached], done[p.status], p.sex, p.race,
            )
        )  # fmt: skip
    path = _xlsx(folder / "trakstar_candidates.xlsx", {"Candidates": rows})
    return _truth(path, people, plant, "On-site Interview", "Gender", "Female", MEN, steps=3)


def biddle_applicants(folder: Path) -> Truth:
    """A consultant's applicant file: letters for race and sex, a disposition code with its text."""
    plant = Plant("race", BLACK, 0)
    people = applicants(1000, 1, plant, 302, withdraw=0.0, active=0.0)
    letter = {"White": "W", BLACK: "B", "Asian": "A", "Hispanic or Latino": "H"}

    def code(p: Person) -> tuple[str, str]:
        if p.hired:
            return "H01", "Hired"
        if p.reached:
            return "I05", "Interviewed - not selected"
        return (
            ("N02", "Not interviewed - less qualified")
            if p.number % 2
            else ("N03", "Not interviewed - did not meet BQ")
        )

    rows = [
        (
            f"{p.applied:%m/%d/%Y}", 70000 + p.number, *_name(p).split(), p.sex[0] if p.number % 19 else "U",
            letter[p.race], f"Job {p.job}", f"{p.job + 100}", "2A", *code(p), f"{p.dates[-1]:%m/%d/%Y}" if p.hired else "",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Application Date", "Applicant ID", "First Name", "Last Name", "Gender", "Race", "Job Title", "Req #",
        "EEO Category", "Disposition Code", "Disposition", "Hire Date",
    )  # fmt: skip
    path = _csv(folder / "applicants_file.csv", header, rows)
    return _truth(path, people, plant, "Interviewed", "Race", "B", ("White", "W"), steps=1)


def successfactors_statuses(folder: Path) -> Truth:
    """System statuses of SuccessFactors; 'Hired on Other Requisition' is no hire here."""
    plant = _women(1)
    people = applicants(900, 3, plant, 303, active=0.0)
    steps = ("New Application", "Phone Screen", "Interview", "Offer")

    def status(p: Person) -> str:
        if p.hired:
            return "Hired"
        if p.withdrew:
            return "Withdrawn by Candidate"
        if p.number % 13 == 0:
            return "Hired On Other Requisition"
        return "Requisition Closed" if p.number % 5 == 0 else "Auto Disqualified" if not p.reached else "Not Selected"

    rows = [
        (
            p.number + 1, f"{p.person + 5000}", f"{p.job + 20}", f"Consultant {p.job}", status(p), steps[p.reached],
            f"{p.applied:%d-%b-%Y}", p.sex if p.number % 21 else "No Selection", p.race, p.department,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Application ID", "Candidate ID", "Job Requisition ID", "Job Title", "Application Status",
        "Last In-Progress Status", "Application Date", "Gender", "Ethnicity", "Business Unit",
    )  # fmt: skip
    path = _csv(folder / "sf_applications.csv", header, rows, encoding="utf-8-sig")
    kept = [p for p in people if p.number % 21]
    truth = _truth(path, kept, plant, "Interview", "Gender", "Female", MEN, steps=3, counted=len(people))
    return _with(truth, favourable=sum(p.hired for p in people))


def teamtailor(folder: Path) -> Truth:
    """Hired at and rejected at as dates; who rejected whom in its own column."""
    plant = _women(0)
    people = applicants(800, 2, plant, 304)
    stages = ("Inbox", "First interview", "Second interview")
    rows = [
        (
            p.number, _name(p), f"Job {p.job}", p.department, f"{p.applied} 08:12", "Hired" if p.hired else stages[p.reached],
            f"{p.dates[-1]} 10:00" if p.status in ("rejected", "withdrew") else "",
            {"rejected": "Rejected by us", "withdrew": "Rejected by the candidate"}.get(p.status, ""),
            {"rejected": "Other candidates were a better match", "withdrew": "Accepted another job"}.get(p.status, ""),
            f"{p.dates[-1]} 10:00" if p.hired else "", stages[p.reached], p.sex,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Candidate ID", "Name", "Job", "Department", "Applied at", "Stage", "Rejected at", "Rejection type",
        "Reject reason", "Hired at", "Furthest stage", "Gender",
    )  # fmt: skip
    path = _csv(folder / "teamtailor.csv", header, rows)
    return _truth(path, people, plant, "First interview", "Gender", "Female", MEN, steps=2)


def workable(folder: Path) -> Truth:
    """Stage and a Disqualified flag; no status column."""
    plant = _women(1)
    people = applicants(850, 3, plant, 305)
    stages = ("Applied", "Phone Screen", "Assessment", "Interview")
    rows = [
        (
            f"{p.number:x}f", _name(p), _mail(p), f"Shift lead {p.job}", p.department,
            "Hired" if p.hired else stages[p.reached], "true" if p.status in ("rejected", "withdrew") else "false",
            {"rejected": "Doesn't have required experience", "withdrew": "Candidate withdrew: Not interested"}.get(p.status, ""),
            f"{p.applied}T10:00:00Z", p.sex if p.number % 11 else "Decline to answer", p.race,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "id", "name", "email", "job", "department", "stage", "disqualified", "disqualification_reason", "created_at",
        "gender", "race",
    )  # fmt: skip
    path = _csv(folder / "workable_candidates.csv", header, rows)
    kept = [p for p in people if p.number % 11]
    truth = _truth(path, kept, plant, "Assessment", "gender", "Female", MEN, steps=3, counted=len(people))
    return _with(truth, favourable=sum(p.hired for p in people))


def clearcompany(folder: Path) -> Truth:
    """Macro and micro workflow stages, with dates of each step."""
    plant = Plant("race", BLACK, 1)
    people = applicants(1000, 3, plant, 306)
    names = ("New Applicants", "Screening", "Interviewing", "Offer")
    end = {"hired": "Hired", "rejected": "Declined by Employer", "withdrew": "Withdraw by Candidate"}
    rows = []
    for p in people:
        dates = [f"{p.dates[k]:%m/%d/%Y}" if p.reached > k else "" for k in range(3)]
        rows.append(
            (
                f"C{p.number}", p.person, "B" if p.cv > 60 else "C", f"{p.applied:%m/%d/%Y}",
                end.get(p.status, names[p.reached]), f"{names[p.reached]} - step {p.number % 3}", *dates,
                f"{p.dates[-1]:%m/%d/%Y}" if p.hired else "", p.source, f"REQ{p.job}", p.race, p.sex, p.location,
            )
        )  # fmt: skip
    header = (
        "Candidate ID", "Person", "Candidate Grade", "Date Candidate Applied", "Current Macro Workflow Stage",
        "Current Workflow Stage", "Screening Date", "Interviewing Date", "Offer Date", "Hire Date", "Source Detail",
        "Requisition", "EEO Ethnicity", "EEO Gender", "Office",
    )  # fmt: skip
    path = _csv(folder / "clearcompany.csv", header, rows)
    return _truth(path, people, plant, "Interviewing Date", "EEO Ethnicity", BLACK, WHITE, steps=3)


def neogov_eeo(folder: Path) -> Truth:
    """Counts under the abbreviations that NEOGOV explains elsewhere; each category counts everybody."""
    plant = Plant("race", BLACK, 1)
    people = applicants(2600, 3, plant, 307, withdraw=0.0, active=0.0)
    rows: list[Sequence[object]] = [("EEO Report",), ("Job posting", "All"), ()]
    rows.append(("Category", "Subcategory", "AP", "SQ", "TE", "AI", "AH/P"))
    for title, attribute in (("Gender", "sex"), ("Ethnicity", "race")):
        for value in sorted({getattr(p, attribute) for p in people}):
            own = [p for p in people if getattr(p, attribute) == value]
            counts = [sum(p.reached > k for p in own) for k in range(3)]
            rows.append((title, value, len(own), *counts, sum(p.hired for p in own)))
    path = _xlsx(folder / "neogov_eeo.xlsx", {"Report": rows})
    return _truth(path, people, plant, "TE", "Ethnicity", BLACK, WHITE, steps=3, may_ask=True)


def nhs_jobs(folder: Path) -> Truth:
    """British ethnic categories with their code letters, yes/no at each step."""
    plant = Plant("race", BLACK, 0)
    people = applicants(1200, 2, plant, 308, withdraw=0.0, active=0.0)
    words = {
        "White": "A - White - British", BLACK: "N - Black or Black British - African",
        "Asian": "H - Asian or Asian British - Indian", "Hispanic or Latino": "Z - I do not wish to disclose my ethnic origin",
    }  # fmt: skip
    rows = [
        (
            f"AR-{p.number:05}", f"C{p.job:03}-24", "Band " + str(5 + p.job % 3), p.department, p.sex, words[p.race],
            "Yes" if p.disability else "No", "Christianity" if p.number % 2 else "I do not wish to disclose this",
            "Y" if p.reached > 0 else "N", "Y" if p.reached > 1 else "N", "Y" if p.hired else "N",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Application ref", "Job reference", "Pay band", "Staff group", "Gender", "Ethnic origin", "Disability",
        "Religion or belief", "Shortlisted", "Interview attended", "Appointed",
    )  # fmt: skip
    path = _csv(folder / "nhs_equality_monitoring.csv", header, rows)
    return _truth(
        path, people, plant, "Shortlisted", "Ethnic origin", words[BLACK], ("White", words["White"]), steps=2
    )  # fmt: skip


def usa_staffing(folder: Path) -> Truth:
    """The step inside the status; race as yes/no columns, as on the federal form."""
    plant = Plant("race", BLACK, 1)
    people = applicants(1100, 2, plant, 309, withdraw=0.0, active=0.0)

    def status(p: Person) -> str:
        if p.hired:
            return "Selected"
        return ("Ineligible", "Eligible - Not Referred", "Referred - Not Selected")[p.reached]

    races = ("American Indian or Alaska Native", "Asian", BLACK, "Native Hawaiian or Other Pacific Islander", "White")
    rows = [
        (
            f"DE-{11200 + p.job}", f"{p.number:08}", f"GS-{7 + p.job % 5}", status(p),
            "Y" if p.race == "Hispanic or Latino" else "N",
            *("Y" if p.race == r or (r == "White" and p.race == "Hispanic or Latino") else "N" for r in races),
            {"Female": "Female", "Male": "Male"}[p.sex] if p.number % 8 else "Omitted", "Y" if p.disability else "N",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Announcement Number",
        "Applicant ID",
        "Grade",
        "Applicant Status",
        "Hispanic or Latino",
        *races,
        "Sex",
        "Disability",
    )
    path = _csv(folder / "applicant_flow_data.csv", header, rows)
    return _truth(path, people, plant, "Referred", "Race", BLACK, ("White", "White"), steps=2)


def civil_service_list(folder: Path) -> Truth:
    """A fixed vocabulary of abbreviations, pipes, capitals."""
    plant = Plant("race", BLACK, 0)
    people = applicants(1000, 1, plant, 310, withdraw=0.0, active=0.0)
    letter = {"White": "W", BLACK: "B", "Asian": "A", "Hispanic or Latino": "H"}
    rows = [
        (
            "8021", f"{p.number:06}", LASTN[p.number % 11].upper(), letter[p.race], p.sex[0],
            round(70 + p.cv / 5, 1) if p.reached else round(40 + p.cv / 5, 1), "PASS" if p.reached else "FAIL",
            "V" if p.veteran else "", ("APPT" if p.hired else "CNS") if p.reached else "",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "EXAM NO",
        "APPLICANT NO",
        "LAST NAME",
        "ETH",
        "SEX",
        "WRITTEN SCORE",
        "WRITTEN RESULT",
        "VET CREDIT",
        "CERT STATUS",
    )
    path = _csv(folder / "exam_8021.txt", header, rows, separator="|")
    return _truth(path, people, plant, "WRITTEN RESULT", "ETH", "B", ("White", "W"), steps=1, may_ask=True)


def slate_admissions(folder: Path) -> Truth:
    """Admission is the university's decision; who enrols is the student's."""
    plant = _women(0, 0.6)
    people = applicants(1300, 0, plant, 311, withdraw=0.03, active=0.0)

    def decision(p: Person) -> str:
        if p.hired:
            return "Admit"
        return "Withdraw" if p.withdrew else "Waitlist" if p.number % 6 == 0 else "Deny"

    rows = [
        (
            100000000 + p.number, "Fall 2024", ("Biology", "History", "Nursing")[p.job % 3], p.sex, p.race,
            "Yes" if p.veteran else "No", round(2.4 + p.cv / 80, 2), decision(p), f"{p.dates[0]:%m/%d/%Y}",
            "Y" if p.hired and p.number % 3 else "N" if p.hired else "",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Ref", "Round", "Major", "Sex", "Ethnicity", "First Generation", "HS GPA", "Decision", "Decision Released",
        "Enrolled",
    )  # fmt: skip
    path = _csv(folder / "slate_export.csv", header, rows)
    return _truth(path, people, plant, "Admit", "Sex", "Female", MEN, steps=0, may_ask=True)


def grant_rounds(folder: Path) -> Truth:
    """A cover sheet; two rounds with words of their own."""
    plant = _women(0, 0.55)
    people = applicants(900, 1, plant, 312, active=0.0)
    rows: list[Sequence[object]] = [
        (
            "Application reference",
            "Scheme",
            "Lead applicant gender",
            "Career stage",
            "Outline outcome",
            "Panel score",
            "Full proposal outcome",
        )
    ]
    for p in people:
        full = (
            "Funded"
            if p.hired
            else "Withdrawn by applicant"
            if p.withdrew and p.reached
            else "Not funded"
            if p.reached
            else ""
        )
        rows.append(
            (
                f"UKR/{p.number:05}", f"Scheme {p.job % 4}", p.sex if p.number % 14 else "Not disclosed",
                ("Early", "Mid", "Senior")[p.job % 3], "Invited to full" if p.reached else "Not invited",
                p.rating if p.reached else None, full,
            )
        )  # fmt: skip
    sheets = {"Read me": [("Funding data 2024",), ("Contact: data team",)], "Applications": rows}
    path = _xlsx(folder / "funding_rounds.xlsx", sheets)
    kept = [p for p in people if p.number % 14]
    truth = _truth(
        path, kept, plant, "Outline outcome", "Lead applicant gender", "Female", MEN, steps=1, counted=len(people)
    )
    return _with(truth, favourable=sum(p.hired for p in people))


def promotion_dates(folder: Path) -> Truth:
    """Promoted if there is a date of promotion; the grade before and after."""
    plant = Plant("race", "Asian", 0, 0.5)
    people = applicants(1300, 0, plant, 313, withdraw=0.0, active=0.0)
    rows = [
        (
            f"E{p.number:05}", p.department, p.location, p.sex, p.race, f"{p.born:%Y-%m-%d}", 4 + p.job % 4,
            5 + p.job % 4 if p.hired else 4 + p.job % 4, f"{p.dates[0]:%Y-%m-%d}" if p.hired else "",
            ("Meets", "Exceeds", "Developing")[p.number % 3], 52000 + 900 * p.job,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Employee ID", "Division", "Site", "Gender", "Ethnicity", "Birth Date", "Grade 2023", "Grade 2024",
        "Promotion Effective Date", "Performance 2023", "Base Salary",
    )  # fmt: skip
    path = _csv(folder / "promotion_cycle.csv", header, rows)
    return _truth(path, people, plant, "Promotion Effective Date", "Ethnicity", "Asian", WHITE, steps=0, may_ask=True)


def rif_ages(folder: Path) -> Truth:
    """A layoff with ages on a stated day; retained, impacted or left of their own accord."""
    plant = Plant("age", "40 and over", 0, 0.7)
    people = applicants(1000, 0, plant, 314, withdraw=0.0, active=0.0)
    rows = [
        (
            60000 + p.number, f"Org {p.job}", f"L{2 + p.job % 5}", p.age, p.sex, p.race, int(p.rating),
            "Retained" if p.hired else "Impacted",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Personnel No",
        "Decisional Unit",
        "Level",
        "Age as of 2024-03-01",
        "Gender",
        "Ethnicity",
        "Rating",
        "Impact Decision",
    )
    path = _csv(folder / "rif_decisional_units.csv", header, rows)
    return _truth(
        path, people, plant, "Retained", "Age as of 2024-03-01", "40 and over", ("under 40", "under 40"), steps=0
    )  # fmt: skip


def adp_workforce(folder: Path) -> Truth:
    """A payroll roster with involuntary terminations; people on leave are still employed."""
    plant = Plant("race", BLACK, 0, 0.75)
    people = applicants(1400, 0, plant, 315, withdraw=0.0, active=0.0)

    def status(p: Person) -> str:
        return "Terminated" if not p.hired else "Leave" if p.number % 12 == 0 else "Active"

    rows = [
        (
            f"A{p.number:06}", *_name(p).split(), f"{p.applied:%m/%d/%Y}", status(p),
            "" if p.hired else f"{p.dates[0]:%m/%d/%Y}",
            "" if p.hired else ("Attendance", "Performance", "Policy violation")[p.number % 3], p.department,
            p.location, p.sex, p.race, f"{10000 + 37 * p.job:05}",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Associate ID", "First Name", "Last Name", "Hire Date", "Position Status", "Termination Date",
        "Termination Reason Description", "Home Department", "Location", "Gender", "Race Description", "Zip Code",
    )  # fmt: skip
    path = _csv(folder / "adp_roster.csv", header, rows)
    return _truth(path, people, plant, "Active", "Race Description", BLACK, WHITE, steps=0)


def pivot_rates(folder: Path) -> Truth:
    """An Excel pivot saved as CSV, with rates beside the counts and a grand total."""
    plant = _women(0)
    people = applicants(1700, 1, plant, 316, withdraw=0.0, active=0.0)
    rows: list[Sequence[object]] = []
    for name in ("Female", "Male", "(blank)", "Grand Total"):
        own = [
            p
            for p in people
            if name == "Grand Total" or (p.sex == name and p.number % 25) or (name == "(blank)" and p.number % 25 == 0)
        ]
        seen, got = sum(p.reached > 0 for p in own), sum(p.hired for p in own)
        rows.append((name, len(own), seen, f"{seen / len(own):.1%}", got, f"{got / len(own):.1%}"))
    header = (
        "Row Labels",
        "Count of Applicant ID",
        "Sum of Interviewed",
        "Interview rate",
        "Sum of Hired",
        "Hire rate",
    )
    path = _csv(folder / "pivot_with_rates.csv", header, rows)
    kept = [p for p in people if p.number % 25]
    truth = _truth(path, kept, plant, "Interviewed", "", "Female", MEN, steps=1, counted=len(people))
    return _with(truth, favourable=sum(p.hired for p in people))


def french_summary(folder: Path) -> Truth:
    """French counts: every characteristic below the other, a space for thousands, Windows code page."""
    plant = _women(0)
    people = applicants(3000, 1, plant, 317, withdraw=0.0, active=0.0)
    rows: list[Sequence[object]] = []

    def number(n: int) -> str:
        return f"{n:,}".replace(",", "\u00a0")

    words = {"Female": "Femmes", "Male": "Hommes"}
    for title, key in (
        ("Sexe", lambda p: words[p.sex]),
        ("Âge", lambda p: "50 ans et plus" if p.age >= 50 else "Moins de 50 ans"),
    ):
        for value in sorted({key(p) for p in people}):
            own = [p for p in people if key(p) == value]
            rows.append(
                (
                    title,
                    value,
                    number(len(own)),
                    number(sum(p.reached > 0 for p in own)),
                    number(sum(p.hired for p in own)),
                )
            )
        own = people
        rows.append(
            (
                title,
                "Ensemble",
                number(len(own)),
                number(sum(p.reached > 0 for p in own)),
                number(sum(p.hired for p in own)),
            )
        )
    header = ("Critère", "Modalité", "Candidatures reçues", "Entretiens", "Embauches")
    path = _csv(folder / "bilan_recrutement.csv", header, rows, separator=";", encoding="cp1252")
    return _truth(path, people, plant, "Entretiens", "Sexe", "Femmes", ("Male", "Hommes"), steps=1)


def status_events(folder: Path) -> Truth:
    """JSON lines of status changes in capitals, groups nested in each."""
    plant = _women(1)
    people = applicants(700, 3, plant, 318)
    names = ("NEW", "IN_REVIEW", "INTERVIEW", "OFFERED")
    end = {"hired": "HIRED", "rejected": "REJECTED", "withdrew": "WITHDRAWN"}
    lines = []
    for p in people:
        path_ = [*names[: p.reached + 1], *([end[p.status]] if p.status in end else [])]
        days = [p.applied, *p.dates]
        for k, name in enumerate(path_):
            lines.append(
                json.dumps(
                    {
                        "eventId": f"ev{p.number}-{k}",
                        "applicationId": f"a{p.number:05}",
                        "jobId": f"j{p.job}",
                        "previousStatus": path_[k - 1] if k else None,
                        "status": name,
                        "changedOn": f"{days[min(k, len(days) - 1)]}T{8 + k:02}:00:00.000Z",
                        "candidate": {"id": p.person, "gender": p.sex, "country": "US"},
                    }
                )
            )
    path = folder / "status_events.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return _truth(path, people, plant, "INTERVIEW", "candidate.gender", "Female", MEN, steps=3)


def german_anrede(folder: Path) -> Truth:
    """Sex is only in the form of address; ja, nein, and a dash for what did not happen."""
    plant = _women(1)
    people = applicants(850, 2, plant, 319, active=0.0)
    address = {"Female": "Frau", "Male": "Herr"}
    end = {"hired": "Zusage", "rejected": "Absage", "withdrew": "Bewerbung zurückgezogen"}
    rows = [
        (
            f"B-{p.number}", f"ST{p.job}", address[p.sex], LASTN[p.person % 11], f"{p.applied:%d.%m.%Y}", p.source,
            "ja" if p.reached > 0 else "nein", ("ja" if p.reached > 1 else "nein") if p.reached else "–", end[p.status],
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Bewerber-Nr.",
        "Stellen-ID",
        "Anrede",
        "Nachname",
        "Eingang am",
        "Quelle",
        "Erstgespräch",
        "Zweitgespräch",
        "Ergebnis",
    )
    path = _csv(folder / "bewerbungen.csv", header, rows, separator=";", encoding="cp1252")
    return _truth(path, people, plant, "Zweitgespräch", "Anrede", "Frau", ("Male", "Herr"), steps=2)


def spanish_states(folder: Path) -> Truth:
    """H is hombre and M is mujer; the step is in the state's words."""
    plant = _women(0)
    people = applicants(900, 1, plant, 320, withdraw=0.0, active=0.0)

    def state(p: Person) -> str:
        return "Contratado" if p.hired else "Descartado tras entrevista" if p.reached else "Descartado en preselección"

    rows: list[Sequence[object]] = [("Nº candidatura", "Oferta", "Fecha", "Sexo", "Edad", "Estado", "Observaciones")]
    for p in people:
        rows.append(
            (
                p.number + 1,
                f"OF-{p.job}",
                f"{p.applied:%d/%m/%Y}",
                "M" if p.sex == "Female" else "H",
                p.age,
                state(p),
                "",
            )
        )
    path = _xlsx(folder / "candidaturas.xlsx", {"Hoja1": rows})
    return _truth(path, people, plant, "entrevista", "Sexo", "M", ("Male", "H"), steps=1)


def portuguese_steps(folder: Path) -> Truth:
    """Brazilian: race as the census asks it, current step and situation."""
    plant = Plant("race", BLACK, 0)
    people = applicants(1000, 3, plant, 321)
    race = {"White": "Branca", BLACK: "Preta", "Asian": "Amarela", "Hispanic or Latino": "Parda"}
    steps = ("Triagem", "Teste online", "Entrevista", "Proposta")
    end = {"hired": "Contratado", "rejected": "Reprovado", "withdrew": "Desistente", "active": "Em andamento"}
    rows = [
        (
            f"{p.number:05}", f"Vaga {p.job}", steps[p.reached], end[p.status], race[p.race] if p.number % 16 else "Prefiro não informar",
            "Feminino" if p.sex == "Female" else "Masculino", f"{p.applied:%d/%m/%Y}", str(p.cv).replace(".", ","),
        )
        for p in people
    ]  # fmt: skip
    header = ("Inscrição", "Vaga", "Etapa atual", "Situação", "Raça/Cor", "Gênero", "Data de inscrição", "Aderência")
    path = _csv(folder / "inscricoes.csv", header, rows, separator=";", encoding="utf-8-sig")
    kept = [p for p in people if p.number % 16]
    truth = _truth(
        path, kept, plant, "Teste online", "Raça/Cor", "Preta", ("White", "Branca"), steps=3, counted=len(people)
    )
    return _with(truth, favourable=sum(p.hired for p in people))


def dutch_results(folder: Path) -> Truth:
    """A result in words for every step; birth dates with two-digit years."""
    plant = _women(1)
    people = applicants(850, 2, plant, 322, withdraw=0.0, active=0.0)

    def result(p: Person, step: int) -> str:
        if p.reached < step:
            return "n.v.t."
        passed = p.hired if step == 2 else p.reached > step
        return "Door" if passed else "Afgewezen"

    rows = [
        (
            f"S{p.number}", f"V{p.job}", p.department, "V" if p.sex == "Female" else "M", f"{p.born:%d-%m-%y}",
            f"{p.applied:%d-%m-%y}", result(p, 0), result(p, 1), result(p, 2), "Ja" if p.hired else "Nee",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Sollicitatienummer", "Vacature", "Afdeling", "Geslacht", "Geboortedatum", "Sollicitatiedatum", "Briefselectie",
        "Eerste ronde", "Tweede ronde", "Aangenomen",
    )  # fmt: skip
    path = _csv(folder / "sollicitaties.csv", header, rows, separator=";")
    return _truth(path, people, plant, "Eerste ronde", "Geslacht", "V", ("Male", "M"), steps=2)


def coded_with_legend(folder: Path) -> Truth:
    """Codes whose meaning is in the header."""
    plant = _women(0)
    people = applicants(800, 1, plant, 323, withdraw=0.0, active=0.0)
    rows = [
        (p.number, p.job, 2 if p.sex == "Female" else 1, p.age, 1 if p.reached else 0, 1 if p.hired else 0)
        for p in people
    ]
    header = ("case", "req", "sex (1=M, 2=F)", "age", "interview (0/1)", "hired (0/1)")
    path = _csv(folder / "study_file.csv", header, rows)
    return _truth(
        path, people, plant, "interview (0/1)", "sex (1=M, 2=F)", "2|F", ("Male", "1|M"), steps=1, may_ask=True
    )


def greenhouse_small_cells(folder: Path) -> Truth:
    """Greenhouse's EEOC summary: a row for each stage, a column for each answer, fewer than five hidden."""
    plant = _women(1)
    people = applicants(1500, 3, plant, 324, withdraw=0.0, active=0.0)
    names = ("Application Review", "Phone Interview", "Face to Face", "Offer", "Hired")
    rows: list[Sequence[object]] = []
    for k, name in enumerate(names):
        own = [p for p in people if (p.hired if k == 4 else p.reached >= k)]
        hidden = 7 - 2 * k
        rows.append(
            (
                name,
                sum(p.sex == "Male" for p in own),
                sum(p.sex == "Female" for p in own),
                hidden if hidden >= 5 else "<5",
            )
        )
    header = ("Stage", "Male", "Female", "Decline To Self Identify")
    path = _csv(folder / "eeoc_by_stage.csv", header, rows)
    truth = _truth(path, people, plant, "Face to Face", "", "Female", MEN, steps=3)
    return _with(truth, people=0, favourable=0)  # the hidden cells can be counted in several ways


def lever_stage_columns(folder: Path) -> Truth:
    """A time for each stage, an optional check after the offer, archive reasons."""
    plant = _women(1)
    people = applicants(900, 3, plant, 325)
    reason = {"hired": "Hired", "rejected": "Underqualified", "withdrew": "Withdrew", "active": ""}
    rows = [
        (
            f"{p.number:06x}", _name(p), f"Role {p.job}", p.source, f"{p.applied} 09:00",
            *(f"{p.dates[k]} 09:00" if p.reached > k else "" for k in range(3)),
            f"{p.dates[2]} 18:00" if p.reached > 2 and p.number % 3 == 0 else "", reason[p.status],
            f"{p.dates[-1]} 12:00" if p.status != "active" else "", p.sex,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Opportunity ID", "Candidate", "Posting", "Origin", "Stage: New applicant", "Stage: Phone screen",
        "Stage: On-site interview", "Stage: Offer", "Stage: Reference check", "Archive reason", "Archived at",
        "Gender (self-reported)",
    )  # fmt: skip
    path = _csv(folder / "lever_pipeline.csv", header, rows)
    return _truth(path, people, plant, "Stage: On-site interview", "Gender (self-reported)", "Female", MEN, steps=3)


def roster_only(folder: Path) -> Truth:
    """Everybody is employed and nothing was decided about anybody: nothing to compare."""
    plant = _women(0)
    people = applicants(700, 0, plant, 326)
    rows = [
        (
            f"{p.number:05}", f"Title {p.job}", p.department, p.sex, p.race, f"{p.applied:%Y-%m-%d}", 40000 + 1000 * p.job,
            "Full time" if p.number % 5 else "Part time", "Active", int(p.rating),
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Employee ID", "Job Title", "Department", "Gender", "Race/Ethnicity", "Hire Date", "Annual Salary", "FT/PT",
        "Employment Status", "Last Review",
    )  # fmt: skip
    path = _csv(folder / "employee_roster.csv", header, rows)
    return _truth(path, people, plant, "", "Gender", "Female", MEN, steps=0, refuse=True)


def scorecards(folder: Path) -> Truth:
    """One row for each interviewer's scorecard: an application has several rows."""
    plant = _women(0, 0.55)
    people = applicants(900, 0, plant, 327, withdraw=0.0, active=0.0)
    words = ("definitely_not", "no", "mixed", "yes", "strong_yes")
    rows: list[Sequence[object]] = []
    for p in people:
        for k in range(2 + p.number % 2):
            rows.append(
                (
                    f"sc{p.number}-{k}", p.number + 7000, f"Engineer {p.job}", f"Interviewer {(p.number + k) % 9}",
                    "Onsite", words[min(4, max(0, int(p.rating) - 1 + k))], f"{p.dates[0]}T1{k}:00:00Z",
                    "hired" if p.hired else "rejected", p.sex,
                )
            )  # fmt: skip
    header = (
        "scorecard_id", "application_id", "job", "interviewer", "interview", "overall_recommendation", "submitted_at",
        "application_status", "gender",
    )  # fmt: skip
    path = _csv(folder / "scorecards.csv", header, rows)
    return _truth(path, people, plant, "hired", "gender", "Female", MEN, steps=0)


def taleo_history(folder: Path) -> Truth:
    """Every step and status a submission went through, with its time."""
    plant = Plant("race", BLACK, 0)
    people = applicants(800, 3, plant, 328, withdraw=0.05, active=0.0)
    names = ("New", "Review", "1st Interview", "Offer")
    rows: list[Sequence[object]] = []
    for p in people:
        for k in range(p.reached + 1):
            day = p.applied if k == 0 else p.dates[k - 1]
            rows.append(
                (
                    f"SUB{p.number}",
                    f"{2400 + p.job}",
                    names[k],
                    "To be reviewed",
                    f"{day:%m/%d/%Y} 08:00 AM",
                    p.race,
                    p.sex,
                )
            )
        last = (
            (names[p.reached], "Rejected")
            if p.status == "rejected"
            else (names[p.reached], "Has Declined")
            if p.withdrew
            else ("Hire", "Hired")
        )
        rows.append((f"SUB{p.number}", f"{2400 + p.job}", *last, f"{p.dates[-1]:%m/%d/%Y} 05:00 PM", p.race, p.sex))
    header = (
        "Submission Identifier",
        "Req. Identifier",
        "Historical Step",
        "Historical Status",
        "Event Date",
        "Race",
        "Gender",
    )
    path = _csv(folder / "taleo_csw_history.csv", header, rows, encoding="utf-16", separator="\t")
    return _truth(path, people, plant, "Review", "Race", BLACK, WHITE, steps=3)


def fire_academy(folder: Path) -> Truth:
    """Two header rows above one row a person: the test, then what is said of it."""
    plant = _women(1, 0.45)
    people = applicants(800, 2, plant, 329, withdraw=0.0, active=0.0)
    rows: list[Sequence[object]] = [
        ("Fire Academy 2024 selection",),
        ("Applicant", None, None, "Written Exam", None, "Physical Agility", None, "Chief's Interview", None),
        ("ID", "Sex", "Race", "Score", "P/F", "Minutes", "P/F", "Score", "Hired"),
    ]
    for p in people:
        one, two = p.reached > 0, p.reached > 1
        rows.append(
            (
                p.number + 1, p.sex, p.race, round(p.cv + (15 if one else -15), 1), "P" if one else "F",
                round(9 + p.number % 7 / 2, 1) if one else None, ("P" if two else "F") if one else None,
                p.rating if two else None, "Yes" if p.hired else "No",
            )
        )  # fmt: skip
    path = _xlsx(folder / "fire_academy.xlsx", {"Results": rows})
    return _truth(path, people, plant, "Physical Agility P/F", "Sex", "Female", MEN, steps=2)


def interfolio(folder: Path) -> Truth:
    """A faculty search: the status says where somebody was eliminated."""
    plant = _women(1, 0.45)
    people = applicants(900, 2, plant, 330, withdraw=0.04, active=0.0)

    def status(p: Person) -> str:
        if p.hired:
            return "Position accepted"
        if p.withdrew:
            return "Withdrew"
        return ("Eliminated - application review", "Eliminated - long list", "Eliminated - campus visit")[p.reached]

    rows = [
        (
            p.number + 3000, f"Assistant Professor {p.job}", "College of Arts", f"{p.applied:%Y-%m-%d}", status(p),
            ("Application review", "Long list", "Campus visit")[p.reached], p.sex if p.number % 10 else "Prefer not to respond",
            p.race, "PhD",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Application ID", "Position", "Unit", "Date Submitted", "Applicant Status", "Highest Round", "Gender",
        "Race/Ethnicity", "Highest Degree",
    )  # fmt: skip
    path = _csv(folder / "interfolio.csv", header, rows)
    kept = [p for p in people if p.number % 10]
    truth = _truth(path, kept, plant, "Campus visit", "Gender", "Female", MEN, steps=2, counted=len(people))
    return _with(truth, favourable=sum(p.hired for p in people))


def italian_competition(folder: Path) -> Truth:
    """A public competition: marks and results of each test, then the winners."""
    plant = _women(0)
    people = applicants(900, 2, plant, 331, withdraw=0.0, active=0.0)
    rows = [
        (
            p.number + 1, "F" if p.sex == "Female" else "M", f"{p.born:%d/%m/%Y}", f"{21 + p.rating:.1f}".replace(".", ",") if p.reached else "17,5",
            "Idoneo" if p.reached else "Non idoneo", ("Idoneo" if p.reached > 1 else "Non idoneo") if p.reached else "",
            "Sì" if p.hired else "No",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "N. domanda",
        "Sesso",
        "Data di nascita",
        "Voto prova scritta",
        "Esito prova scritta",
        "Esito prova orale",
        "Vincitore",
    )
    path = _csv(folder / "concorso.csv", header, rows, separator=";", encoding="cp1252")
    return _truth(path, people, plant, "Esito prova scritta", "Sesso", "F", ("Male", "M"), steps=2)


def scholarship_amounts(folder: Path) -> Truth:
    """The outcome is an amount: nothing for most."""
    plant = Plant("race", BLACK, 0, 0.5)
    people = applicants(1200, 0, plant, 332, withdraw=0.0, active=0.0)
    rows = [
        (
            f"ST{p.number:05}", ("STEM", "Arts", "Athletics")[p.job % 3], p.sex, p.race, round(2.2 + p.cv / 70, 2),
            f"{20000 + 350 * p.job}", f"{2500 + 500 * (p.job % 4):.2f}" if p.hired else "0.00",
        )
        for p in people
    ]  # fmt: skip
    header = ("Student ID", "Fund", "Gender", "Race", "GPA", "Family Income", "Award Amount")
    path = _csv(folder / "scholarships.csv", header, rows)
    return _truth(path, people, plant, "Award Amount", "Race", BLACK, WHITE, steps=0, may_ask=True)


ALL: tuple[Callable[[Path], Truth], ...] = (
    trakstar_hire, biddle_applicants, successfactors_statuses, teamtailor, workable, clearcompany, neogov_eeo, nhs_jobs,
    usa_staffing, civil_service_list, slate_admissions, grant_rounds, promotion_dates, rif_ages, adp_workforce,
    pivot_rates, french_summary, status_events, german_anrede, spanish_states, portuguese_steps, dutch_results,
    coded_with_legend, greenhouse_small_cells, lever_stage_columns, roster_only, scorecards, taleo_history, fire_academy,
    interfolio, italian_competition, scholarship_amounts,
)  # fmt: skip

FIRST_RUN = {
    "german_anrede": "refused",
    "neogov_eeo": "refused",
    "taleo_history": "misread",
    "dutch_results": "misread",
    "greenhouse_small_cells": "refused",
    "successfactors_statuses": "misread",
    "civil_service_list": "misread",
    "usa_staffing": "misread",
    "grant_rounds": "misread",
    "biddle_applicants": "misread",
    "scholarship_amounts": "refused",
    "pivot_rates": "refused",
}
"""What the first run made of those that it did not read right: of `EXAM` with commit 65e2cf9, of `LAST` with the commit
that mended `EXAM`. Every other export was right."""

_shuffled = random.Random(24).sample(ALL, len(ALL))
EXAM: dict[str, Callable[[Path], Truth]] = {make.__name__: make for make in _shuffled[:24]}
LAST: dict[str, Callable[[Path], Truth]] = {make.__name__: make for make in _shuffled[24:]}
