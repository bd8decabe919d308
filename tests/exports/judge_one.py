"""Forty exports written by an independent judge, each with its truth.

Every function writes one export (one or several files) into a folder and
returns what a correct reading of it finds.  The people are synthetic and the
seeds fixed.  At one known step one group passes less often than another; at
every other step all groups pass at exactly the same rate (quotas, not draws),
so that the planted difference is the only one.

Conventions of the truth:

- `of` counts everybody of the group who must be counted, whoever withdrew
  included; `reached` counts those among them who reached the planted step, or
  passed it where the file has results (a test, a form of screening).
- `funnel` is given where the file says who reached each step.
- `people` or `favourable` is 0 where two honest readings differ.

Written from public documentation of the systems named and from general
knowledge of how such lists look, without having seen how the tool reads.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path

from openpyxl import Workbook

from exports.fresh import Full
from exports.unseen import Truth

# --------------------------------------------------------------------------
# People


@dataclass
class Person:
    """Somebody who applied, and how far they came."""

    number: int
    group: str
    level: int = 0  # how many steps after applying were reached
    withdrew: bool = False  # left by their own choice after the last step reached
    days: list[date] = field(default_factory=list)  # applied, then one date for each step


@dataclass
class Cohort:
    """People, the steps they went through and a source of chance."""

    rng: random.Random
    people: list[Person]
    steps: list[str]

    def count(self, step: str, group: str | None = None) -> int:
        """How many (of a group) reached a step."""
        least = self.steps.index(step) + 1
        return sum(p.level >= least for p in self.people if group in (None, p.group))

    def size(self, group: str) -> int:
        """How many there are of a group."""
        return sum(p.group == group for p in self.people)

    def funnel(self) -> tuple[int, ...]:
        """How many reached each step after applying."""
        return tuple(self.count(step) for step in self.steps)

    def pick(self, weights: Mapping[str, float]) -> str:
        """A value by chance, unrelated to the outcome."""
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def truth(
        self, files: Iterable[Path], attribute: str, group: str, against: str, step: str, **changes: object
    ) -> Full:
        """What a correct reading finds; `changes` replaces single fields.

        Of values that may be given in two ways, as "2|Female", the first is the people's own.
        """
        low, high = group.split("|")[0], against.split("|")[0]
        fields: dict[str, object] = {
            "files": tuple(files),
            "people": len(self.people),
            "favourable": self.count(self.steps[-1]),
            "attribute": attribute,
            "group": group,
            "against": against,
            "step": step,
            "reached": (self.count(step, low), self.count(step, high)),
            "of": (self.size(low), self.size(high)),
            "funnel": self.funnel(),
            **changes,
        }
        return Full(**fields)  # type: ignore[arg-type]


def cohort(
    seed: int,
    groups: Mapping[str, int],
    steps: Mapping[str, float],
    at: str,
    low: Mapping[str, float],
    withdrew: float = 0.0,
) -> Cohort:
    """People who pass each step at its rate, some groups at another rate `at` one step."""
    rng = random.Random(seed)
    people = [Person(0, group) for group, size in groups.items() for _ in range(size)]
    rng.shuffle(people)
    for number, person in enumerate(people):
        person.number = number
    for index, (step, rate) in enumerate(steps.items()):
        for group in groups:
            pool = [p for p in people if p.group == group and p.level == index]
            share = low.get(group, rate) if step == at else rate
            for person in rng.sample(pool, round(share * len(pool))):
                person.level = index + 1
    for person in people:
        day = date(2024, 1, 3) + timedelta(days=rng.randrange(250))
        person.days = [day]
        for _ in range(person.level):
            day += timedelta(days=rng.randrange(3, 19))
            person.days.append(day)
        if person.level < len(steps):
            person.withdrew = rng.random() < withdrew
    return Cohort(rng, people, list(steps))


def ended(made: Cohort, person: Person) -> date:
    """The day on which somebody's application came to its end."""
    return person.days[-1] + timedelta(days=made.rng.randrange(2, 15))


# --------------------------------------------------------------------------
# Files

Row = Sequence[object]


def table(path: Path, rows: Iterable[Row], sep: str = ",", encoding: str = "utf-8", end: str = "\r\n") -> Path:
    """A delimited text file."""
    text = io.StringIO()
    csv.writer(text, delimiter=sep, lineterminator=end).writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def book(path: Path, sheets: Mapping[str, Iterable[Row]], merged: Sequence[str] = ()) -> Path:
    """An Excel file; `merged` names ranges of the first sheet."""
    made = Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    for cells in merged:
        made.worksheets[0].merge_cells(cells)
    made.save(path)
    return path


def day_first(day: date, sep: str = ".") -> str:
    """12.03.2024"""
    return day.strftime(f"%d{sep}%m{sep}%Y")


def us(day: date) -> str:
    """3/12/2024"""
    return f"{day.month}/{day.day}/{day.year}"


def serial(day: date) -> int:
    """The number by which Excel knows a day."""
    return (day - date(1899, 12, 30)).days


def until(person: Person, step: int, form: Callable[[date], object]) -> object:
    """The date of a step, or nothing when it was not reached."""
    return form(person.days[step]) if person.level >= step else ""


def passed(person: Person, step: int, yes: object = "Yes", no: object = "No", never: object = "") -> object:
    """Yes when a step was passed, no when it ended there, else nothing."""
    return yes if person.level >= step else no if person.level == step - 1 else never


RACES = {"White": 6.0, "Black or African American": 2.0, "Asian": 1.5, "Two or more races": 0.4}
GENDERS = {"Male": 5.0, "Female": 5.0, "Decline to self-identify": 0.6}
SOURCES = {"Indeed": 4.0, "LinkedIn": 3.0, "Company site": 3.0, "Referral": 1.0}


# --------------------------------------------------------------------------
# Recruiting systems


def successfactors_audit(folder: Path) -> Truth:
    """A trail of status changes: the status before, the status after."""
    made = cohort(
        101,
        {"White": 520, "Asian": 260, "Black or African American": 120, "Not Specified": 60},
        {"Recruiter Screen": 0.62, "Hiring Manager Review": 0.60, "Interview": 0.55, "Offer": 0.45, "Hired": 0.9},
        "Hiring Manager Review",
        {"Asian": 0.34},
        0.04,
    )
    rows: list[list[object]] = []
    for p in made.people:
        keys = [700100 + p.number * 3, f"REQ-{1000 + p.number % 23}", 88000 + p.number]
        about = [made.pick(GENDERS), p.group]
        path = ["New Application", *made.steps[: p.level]]
        if p.level < len(made.steps):
            path.append("Withdrawn by Candidate" if p.withdrew else "Disqualified")
        days = [*p.days, ended(made, p)]
        for index, status in enumerate(path):
            at = datetime.combine(days[index], datetime.min.time()) + timedelta(
                seconds=made.rng.randrange(28800, 64800)
            )
            rows.append(
                [
                    *keys,
                    path[index - 1] if index else "",
                    status,
                    at.isoformat(" "),
                    made.pick({"recruiter1": 1, "recruiter2": 1, "system": 1}),
                    *about,
                ]
            )
    rows.sort(key=lambda row: str(row[5]))
    path_ = table(
        folder / "JobApplicationStatusAuditTrail.csv",
        [
            [
                "Candidate ID",
                "Job Requisition ID",
                "Application ID",
                "Status From",
                "Status To",
                "Status Change Date",
                "Changed By",
                "Gender",
                "Ethnicity",
            ],
            *rows,
        ],
    )
    return made.truth([path_], "Ethnicity", "Asian", "White", "Hiring Manager Review")


def taleo_csw(folder: Path) -> Truth:
    """Step and status of the selection workflow, the requisition's status beside them."""
    made = cohort(
        102,
        {"Male": 480, "Female": 450, "I choose not to disclose": 50},
        {"HM Review": 0.58, "Interview / Assessment": 0.56, "Offer": 0.4, "Hire": 0.9},
        "Interview / Assessment",
        {"Female": 0.33},
        0.05,
    )
    steps = ["New", *made.steps]
    requisitions = {n: made.pick({"Filled": 5, "Canceled": 1, "Open": 2}) for n in range(30)}
    rows = []
    for p in made.people:
        status = "Hired" if p.level == 4 else "Has Declined" if p.withdrew else "Rejected"
        number = p.number % 30
        rows.append(
            [
                f"2400{number:03d}",
                f"Analyst {number}",
                requisitions[number],
                500000 + p.number,
                made.pick({"No": 7, "Yes": 1}),
                us(p.days[0]),
                steps[p.level],
                status,
                made.pick(RACES),
                p.group,
            ]
        )
    path = book(
        folder / "Submission CSW Status.xlsx",
        {
            "Submissions": [
                ["Submission CSW Status - Detail"],
                ["Run date: 1/15/2025", "", "Prompt: Created 2024"],
                [],
                [
                    "Req. Identifier",
                    "Req. Title",
                    "Req. Current Status",
                    "Submission Identifier",
                    "Is Internal",
                    "Submission Created Date",
                    "Current CSW Step",
                    "Current CSW Status",
                    "Race",
                    "Gender",
                ],
                *rows,
                [],
                [f"Total submissions: {len(rows)}"],
            ]
        },
    )
    return made.truth([path], "Gender", "Female", "Male", "Interview / Assessment")


def icims_disposition(folder: Path) -> Truth:
    """The step stands in the words of the bin and status."""
    made = cohort(
        103,
        {"White": 560, "Black or African American": 290, "Hispanic or Latino": 140, "I do not wish to answer": 70},
        {"Phone Screen": 0.55, "Hiring Manager Interview": 0.55, "Hired": 0.35},
        "Hiring Manager Interview",
        {"Black or African American": 0.27},
    )
    words = [
        "Rejected: Not Selected for Phone Screen",
        "Rejected: Not Selected After Phone Screen",
        "Rejected: Not Selected After Hiring Manager Interview",
        "Hired: Hired External",
    ]
    rows = []
    for p in made.people:
        rows.append(
            [
                f"{12000 + p.number}",
                f"2024-{1100 + p.number % 17}",
                made.pick({"Closed (Filled)": 3, "Approved": 1}),
                us(p.days[0]),
                words[p.level],
                us(ended(made, p)),
                made.pick(SOURCES),
                made.pick(GENDERS),
                p.group,
                f"{made.rng.randrange(10000, 99999)}",
            ]
        )
    path = table(
        folder / "icims_recruiting_workflow_search.csv",
        [
            [
                "Person : System ID",
                "Job : Job ID",
                "Job : Folder",
                "Recruiting Workflow : Submitted Date",
                "Recruiting Workflow : Status",
                "Recruiting Workflow : Last Updated Date",
                "Person : Source",
                "Person : EEO Gender",
                "Person : EEO Race",
                "Person : Zip",
            ],
            *rows,
        ],
    )
    return made.truth([path], "Person : EEO Race", "Black or African American", "White", "Hiring Manager Interview")


def greenhouse_lines(folder: Path) -> Truth:
    """Compressed JSON Lines, nested; whoever was hired has no current stage."""
    made = cohort(
        104,
        {"Male": 430, "Female": 400, "Decline To Self Identify": 70},
        {"Preliminary Phone Screen": 0.5, "Face to Face": 0.6, "Offer": 0.38, "Hired": 0.88},
        "Face to Face",
        {"Female": 0.33},
        0.05,
    )
    stages = ["Application Review", *made.steps]
    lines = []
    for p in made.people:
        hired, end = p.level == 4, ended(made, p)
        theirs = p.withdrew or p.level == 3
        reason = (
            None
            if hired
            else {
                "id": 41 if theirs else 12,
                "name": "Withdrew" if theirs else made.pick({"Lacking skill(s)": 2, "Other": 1}),
                "type": {"id": 2 if theirs else 1, "name": "They rejected us" if theirs else "We rejected them"},
            }
        )
        lines.append(
            json.dumps(
                {
                    "id": 69306000 + p.number,
                    "candidate_id": 57683000 + p.number,
                    "prospect": False,
                    "applied_at": f"{p.days[0]}T09:14:22.045Z",
                    "rejected_at": None if hired else f"{end}T17:02:11.000Z",
                    "last_activity_at": f"{end}T17:02:11.000Z",
                    "source": {"id": 2, "public_name": made.pick(SOURCES)},
                    "status": "hired" if hired else "rejected",
                    "current_stage": None if hired else {"id": 767 + p.level, "name": stages[p.level]},
                    "rejection_reason": reason,
                    "jobs": [{"id": 100 + p.number % 9, "name": f"Engineer {p.number % 9}"}],
                    "eeoc": {
                        "gender": p.group,
                        "race": made.pick(RACES),
                        "veteran_status": made.pick({"I am not a protected veteran": 9, "I don't wish to answer": 1}),
                    },
                }
            )
        )
    path = folder / "greenhouse_applications.jsonl.gz"
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))
    return made.truth([path], "eeoc.gender", "Female", "Male", "Face to Face")


def lever_archive(folder: Path) -> Truth:
    """Everybody is archived, the hired too; contacts apply more than once."""
    no, yes = "I am not a protected veteran", "I identify as a protected veteran"
    silent = "I don't wish to answer"
    made = cohort(
        105,
        {no: 700, yes: 210, silent: 90},
        {"Recruiter screen": 0.52, "On-site interview": 0.45, "Offer": 0.42, "Hired": 0.9},
        "Recruiter screen",
        {yes: 0.29},
        0.04,
    )
    stages = ["New applicant", "Recruiter screen", "On-site interview", "Offer", "Offer"]
    rows = []
    known: dict[str, list[list[object]]] = {group: [] for group in (no, yes, silent)}
    for p in made.people:
        reason = (
            "Hired"
            if p.level == 4
            else "Offer declined"
            if p.level == 3
            else "Withdrew"
            if p.withdrew
            else made.pick({"Underqualified": 4, "Culture fit": 1, "Position closed": 1})
        )
        if not known[p.group] or made.rng.random() < 0.87:
            known[p.group].append(
                [hashlib.md5(f"c{p.number}".encode()).hexdigest()[:12], made.pick(GENDERS), made.pick(RACES)]
            )
            contact, gender, race = known[p.group][-1]
        else:  # somebody who applied before
            contact, gender, race = made.rng.choice(known[p.group])
        milli = (p.days[0] - date(1970, 1, 1)).days * 86_400_000
        rows.append(
            [
                hashlib.md5(f"o{p.number}".encode()).hexdigest(),
                contact,
                f"Field Technician - Region {p.number % 11}",
                made.pick({"applied": 6, "referred": 1, "sourced": 1}),
                milli,
                stages[p.level],
                ended(made, p).isoformat(),
                reason,
                gender,
                race,
                p.group,
            ]
        )
    path = table(
        folder / "lever_opportunities.csv",
        [
            [
                "Opportunity ID",
                "Contact ID",
                "Posting",
                "Origin",
                "Created At",
                "Stage",
                "Archived At",
                "Archive Reason",
                "Gender",
                "Race",
                "Veteran Status",
            ],
            *rows,
        ],
        end="\n",
    )
    return made.truth([path], "Veteran Status", yes, no, "Recruiter screen")


def ashby_history_survey(folder: Path) -> Truth:
    """One file of the stages entered, one of the answers to a survey."""
    made = cohort(
        106,
        {"Man": 430, "Woman": 400, "Non-binary": 14, "Prefer not to say": 46, "": 110},
        {"Recruiter Phone Screen": 0.55, "Take-home": 0.7, "Onsite": 0.62, "Offer": 0.4, "Hired": 0.92},
        "Onsite",
        {"Woman": 0.32},
    )
    kinds = ["PreInterviewScreen", "Active", "Active", "Active", "Offer", "Hired"]
    rows: list[list[object]] = []
    survey: list[list[object]] = []
    for p in made.people:
        key = hashlib.sha1(f"ashby{p.number}".encode()).hexdigest()[:16]
        path = ["Application Review", *made.steps[: p.level]]
        days = [*p.days]
        if p.level < len(made.steps):
            path.append("Archived")
            days.append(ended(made, p))
        for index, stage in enumerate(path):
            last = index == len(path) - 1
            kind = "Archived" if stage == "Archived" else kinds[index]
            rows.append(
                [
                    key,
                    f"Job {p.number % 13}",
                    stage,
                    kind,
                    f"{days[index]}T10:00:00Z",
                    "" if last else f"{days[index + 1]}T10:00:00Z",
                    "" if last else (days[index + 1] - days[index]).days,
                ]
            )
        if p.group:
            survey.append([key, p.days[0], p.group, made.pick(RACES)])
    made.rng.shuffle(survey)
    one = table(
        folder / "ashby_application_stage_history.csv",
        [["Application ID", "Job", "Stage", "Stage Type", "Entered Stage At", "Left Stage At", "Days in Stage"], *rows],
    )
    two = table(
        folder / "ashby_eeo_survey_responses.csv",
        [["Application ID", "Submitted", "How do you describe your gender?", "Race"], *survey],
    )
    return made.truth([one, two], "How do you describe your gender?", "Woman", "Man", "Onsite")


def teamtailor_dates(folder: Path) -> Truth:
    """A date for every stage; a survey and a consent with dates of their own."""
    made = cohort(
        107,
        {"Under 30": 330, "30-49": 480, "50 or over": 230, "Prefer not to answer": 40},
        {"Screening": 0.6, "Interview": 0.52, "Offer": 0.35, "Hired": 0.9},
        "Interview",
        {"50 or over": 0.26},
        0.03,
    )
    rows = []
    for p in made.people:
        end = ended(made, p)
        over = p.level < 4
        rows.append(
            [
                9000 + p.number,
                f"Store manager {p.number % 14}",
                made.pick({"FALSE": 6, "TRUE": 1}),
                *(until(p, step, date.isoformat) for step in range(5)),
                end.isoformat() if over else "",
                (
                    "Candidate withdrew"
                    if p.withdrew
                    else made.pick({"Not enough experience": 3, "Other candidate chosen": 2})
                )
                if over
                else "",
                (end + timedelta(days=3)).isoformat() if made.rng.random() < 0.55 else "",
                end.isoformat() if made.rng.random() < 0.4 else "",
                made.pick(GENDERS),
                p.group,
            ]
        )
    path = table(
        folder / "teamtailor-job-applications.csv",
        [
            [
                "Candidate ID",
                "Job",
                "Sourced",
                "Applied at",
                "Moved to Screening at",
                "Moved to Interview at",
                "Moved to Offer at",
                "Hired at",
                "Rejected at",
                "Reject reason",
                "NPS survey sent at",
                "Consent future jobs at",
                "Gender",
                "Age group",
            ],
            *rows,
        ],
    )
    return made.truth([path], "Age group", "50 or over", "30-49", "Interview")


def workable_json(folder: Path) -> Truth:
    """One JSON document; whoever was disqualified keeps the stage."""
    made = cohort(
        108,
        {"White": 470, "Hispanic or Latino": 270, "Asian": 110, "Decline to answer": 50},
        {"Shortlisted": 0.5, "Phone Screen": 0.8, "Interview": 0.5, "Offer": 0.4, "Hired": 0.9},
        "Shortlisted",
        {"Hispanic or Latino": 0.3},
        0.04,
    )
    kinds = ["applied", "shortlisted", "phone-screen", "interview", "offer", "hired"]
    found = []
    for p in made.people:
        over = p.level < 5
        found.append(
            {
                "id": f"{p.number:x}ab{p.number % 7}",
                "name": f"Candidate {p.number}",
                "stage": ["Applied", *made.steps][p.level],
                "stage_kind": kinds[p.level],
                "disqualified": over and not p.withdrew,
                "withdrew": p.withdrew,
                "disqualified_at": f"{ended(made, p)}T12:00:00Z" if over and not p.withdrew else None,
                "disqualification_reason": "Not a match" if over and not p.withdrew else None,
                "hired_at": None if over else f"{p.days[-1]}T12:00:00Z",
                "sourced": False,
                "created_at": f"{p.days[0]}T08:30:00Z",
                "job": {"shortcode": f"GROOV{p.number % 8:03d}", "title": f"Driver {p.number % 8}"},
                "eeo": {"gender": made.pick(GENDERS), "race": p.group},
            }
        )
    path = folder / "workable_candidates.json"
    path.write_text(json.dumps({"candidates": found, "paging": {"next": None}}, indent=1))
    return made.truth([path], "eeo.race", "Hispanic or Latino", "White", "Shortlisted")


def jazzhr_yes_no(folder: Path) -> Truth:
    """Yes and no for each stage; ids with commas, test rows, a consent that is no step."""
    made = cohort(
        109,
        {"Male": 410, "Female": 390, "Undisclosed": 40},
        {"Phone Screen": 0.52, "In-Person Interview": 0.6, "Job Offer": 0.4, "Hired": 0.9},
        "In-Person Interview",
        {"Female": 0.35},
    )
    rows: list[list[object]] = []
    for p in made.people:
        rows.append(
            [
                f"{41250 + p.number:,}",
                f"Line Cook #{p.number % 6}",
                us(p.days[0]),
                *(passed(p, step) for step in (1, 2, 3, 4)),
                made.pick({"Yes": 9, "No": 1}),
                made.pick(SOURCES),
                p.group,
                made.pick({"": 8, "left voicemail": 1, "called, will try again": 1}),
            ]
        )
    for place, number in ((40, 90001), (300, 90002), (301, 90003)):
        rows.insert(
            place,
            [f"{number:,}", "TEST - do not use", "1/1/2024", "", "", "", "", "", "", "", "test applicant, ignore"],
        )
    path = table(
        folder / "JazzHR applicants 2024.csv",
        [
            [
                "Applicant #",
                "Job",
                "Apply Date",
                "Phone Screen",
                "In-Person Interview",
                "Job Offer",
                "Hired",
                "Background Check Consent",
                "Source",
                "Gender",
                "Notes",
            ],
            *rows,
        ],
    )
    return made.truth([path], "Gender", "Female", "Male", "In-Person Interview", people=0)


def breezy_paths(folder: Path) -> Truth:
    """The whole way of a candidate in one cell."""
    made = cohort(
        110,
        {"White": 500, "Black": 270, "Asian": 130, "Rather not say": 50},
        {"Phone Screen": 0.6, "Assessment": 0.62, "Interview": 0.55, "Offer": 0.4, "Hired": 0.9},
        "Assessment",
        {"Black": 0.36},
        0.04,
    )
    rows = []
    for p in made.people:
        way = ["Applied", *made.steps[: p.level]]
        if p.level < 5:
            way.append("Withdrew" if p.withdrew else "Disqualified")
        rows.append(
            [
                f"brz-{p.number:04d}",
                f"Warehouse Associate {p.number % 5}",
                p.days[0],
                " > ".join(way),
                made.pick(SOURCES),
                made.rng.randrange(1, 60),
                made.pick(GENDERS),
                p.group,
            ]
        )
    path = table(
        folder / "breezy-pipeline.csv",
        [["Candidate", "Position", "Added", "Pipeline Path", "Source", "Commute (min)", "Gender", "Race"], *rows],
    )
    return made.truth([path], "Race", "Black", "White", "Assessment")


def bullhorn_serials(folder: Path) -> Truth:
    """A staffing firm's submissions; dates are numbers as Excel keeps them."""
    made = cohort(
        111,
        {"M": 450, "F": 420, "U": 50},
        {"Client Submission": 0.58, "Client Interview": 0.5, "Placement": 0.35},
        "Client Submission",
        {"F": 0.4},
        0.05,
    )
    status = ["Internally Rejected", "Client Rejected", "Client Rejected", "Placed"]
    rows = []
    for p in made.people:
        rows.append(
            [
                310000 + p.number,
                41000 + p.number * 2,
                f"JO-{p.number % 40}",
                *(until(p, step, serial) for step in range(4)),
                "Candidate Not Interested" if p.withdrew else status[p.level],
                made.rng.randrange(28, 95),
                p.group,
            ]
        )
    path = table(
        folder / "bullhorn_job_submissions.csv",
        [
            [
                "Submission ID",
                "Candidate ID",
                "Job Order",
                "Date Added",
                "Date Client Submission",
                "Date Client Interview",
                "Date Placement",
                "Status",
                "Bill Rate",
                "Gender",
            ],
            *rows,
        ],
    )
    return made.truth([path], "Gender", "F", "M", "Client Submission")


def oracle_phase_state(folder: Path) -> Truth:
    """UTF-16 with tabs; Hispanic beside race, and race empty for who is."""
    made = cohort(
        112,
        {"White": 510, "Black or African American": 280, "Asian": 120, "Hispanic": 150, "": 50},
        {"Screening": 0.62, "Interview and Selection": 0.55, "Offer": 0.38, "Hired": 0.9},
        "Interview and Selection",
        {"Black or African American": 0.3},
        0.04,
    )
    rows = []
    for p in made.people:
        state = "Processed" if p.level == 4 else "Withdrawn by Candidate" if p.withdrew else "Rejected by Employer"
        hispanic = "Yes" if p.group == "Hispanic" else "No" if p.group else ""
        rows.append(
            [
                300000012 + p.number,
                1200 + p.number % 21,
                made.pick({"Filled": 3, "Open - Posted": 2, "Suspended": 1}),
                p.days[0].strftime("%d-%b-%Y"),
                ["New", *made.steps][p.level],
                state,
                hispanic,
                "" if p.group == "Hispanic" else p.group,
                made.pick(GENDERS),
            ]
        )
    path = table(
        folder / "ORC_Job_Applications.txt",
        [
            [
                "Job Application ID",
                "Requisition Number",
                "Requisition State",
                "Application Date",
                "Current Phase",
                "Current State",
                "Hispanic or Latino",
                "Race",
                "Gender",
            ],
            *rows,
        ],
        sep="\t",
        encoding="utf-16",
    )
    return made.truth([path], "Race", "Black or African American", "White", "Interview and Selection")


def peoplesoft_legend(folder: Path) -> Truth:
    """Codes, and a sheet that says what they mean."""
    made = cohort(
        113,
        {"1": 420, "2": 390, "9": 40},
        {"Screen": 0.6, "Interview": 0.55, "Offer": 0.38, "Hire": 0.92},
        "Interview",
        {"2": 0.32},
        0.05,
    )
    phases = [1, 3, 5, 6, 7]
    rows = [
        [
            f"{200000 + p.number}",
            1500 + p.number % 16,
            p.days[0],
            phases[p.level],
            "090" if p.level == 4 else "120" if p.withdrew else "110",
            int(p.group),
            int(made.pick({"1": 6, "2": 2, "3": 2, "4": 1})),
        ]
        for p in made.people
    ]
    legend: list[Row] = [
        ["Field", "Code", "Meaning"],
        *(
            [
                ["HIGHEST_PHASE", code, text]
                for code, text in zip((1, 3, 5, 6, 7), ("Applied", "Screen", "Interview", "Offer", "Hire"))
            ]
        ),
        ["DISPOSITION", "090", "Hired"],
        ["DISPOSITION", "110", "Reject"],
        ["DISPOSITION", "120", "Withdrawn"],
        ["SEX", 1, "Male"],
        ["SEX", 2, "Female"],
        ["SEX", 9, "Not disclosed"],
        ["ETHNIC_GRP", 1, "White"],
        ["ETHNIC_GRP", 2, "Black"],
        ["ETHNIC_GRP", 3, "Hispanic"],
        ["ETHNIC_GRP", 4, "Asian"],
    ]
    path = book(
        folder / "HRS_RCMNT_extract.xlsx",
        {
            "Applicants": [
                ["APPLICANT_ID", "JOB_OPENING_ID", "APPL_DT", "HIGHEST_PHASE", "DISPOSITION", "SEX", "ETHNIC_GRP"],
                *rows,
            ],
            "Legend": legend,
        },
    )
    return made.truth([path], "SEX", "2|Female", "1|Male", "Interview")


# --------------------------------------------------------------------------
# Other languages


def personio_de(folder: Path) -> Truth:
    """German, semicolons, Windows-1252; the export was pasted twice for some rows."""
    made = cohort(
        114,
        {"männlich": 460, "weiblich": 430, "divers": 9, "keine Angabe": 55},
        {"Telefoninterview": 0.55, "Erstgespräch": 0.6, "Angebot": 0.38, "Angenommen": 0.9},
        "Erstgespräch",
        {"weiblich": 0.36},
        0.05,
    )
    phases = ["Eingegangen", "Telefoninterview", "Erstgespräch", "Angebot", "Angebot"]
    rows: list[list[object]] = []
    for p in made.people:
        status = "Angenommen" if p.level == 4 else ("Zurückgezogen" if p.withdrew or p.level == 3 else "Abgelehnt")
        reason = made.pick({"Qualifikation nicht passend": 3, "Andere Bewerbung vorgezogen": 2})
        rows.append(
            [
                10450 + p.number,
                f"Sachbearbeitung {p.number % 12}",
                made.pick({"StepStone": 3, "Karriereseite": 3, "Empfehlung": 1}),
                day_first(p.days[0]),
                f"{made.rng.randrange(36, 64)}.000,00",
                phases[p.level],
                status,
                reason if status == "Abgelehnt" else "",
                p.group,
            ]
        )
    rows[200:200] = rows[180:192]
    path = table(
        folder / "Bewerbungen_Export.csv",
        [
            [
                "Bewerbenden-ID",
                "Stelle",
                "Bewerbungskanal",
                "Bewerbungsdatum",
                "Gehaltsvorstellung",
                "Letzte Phase",
                "Letzter Status",
                "Absagegrund",
                "Geschlecht",
            ],
            *rows,
        ],
        ";",
        "cp1252",
    )
    return made.truth([path], "Geschlecht", "weiblich", "männlich", "Erstgespräch")


def softgarden_de(folder: Path) -> Truth:
    """German dates for each stage; the difference is by disability."""
    made = cohort(
        115,
        {"Nein": 760, "Ja": 240, "möchte ich nicht angeben": 80},
        {"Vorauswahl bestanden am": 0.6, "Vorstellungsgespräch am": 0.58, "Zusage am": 0.3},
        "Vorstellungsgespräch am",
        {"Ja": 0.33},
    )
    rows = [
        [
            f"B-{24000 + p.number}",
            f"Verwaltung {p.number % 9}",
            *(until(p, step, day_first) for step in range(4)),
            day_first(ended(made, p)) if p.level < 3 else "",
            made.pick({"w": 5, "m": 5, "d": 0.1}),
            made.rng.randrange(1962, 2004),
            p.group,
        ]
        for p in made.people
    ]
    path = table(
        folder / "softgarden_bewerbungen.csv",
        [
            [
                "Bewerbung Nr.",
                "Ausschreibung",
                "Eingang am",
                "Vorauswahl bestanden am",
                "Vorstellungsgespräch am",
                "Zusage am",
                "Absage am",
                "Geschlecht",
                "Geburtsjahr",
                "Schwerbehinderung",
            ],
            *rows,
        ],
        ";",
        "utf-8-sig",
    )
    return made.truth([path], "Schwerbehinderung", "Ja", "Nein", "Vorstellungsgespräch am")


def talentsoft_fr(folder: Path) -> Truth:
    """French: one row for each step of an application, with its result."""
    made = cohort(
        116,
        {"H": 420, "F": 400, "Non communiqué": 50},
        {"Présélection CV": 0.6, "Entretien RH": 0.62, "Entretien manager": 0.5, "Proposition d'embauche": 0.9},
        "Entretien RH",
        {"F": 0.4},
    )
    rows: list[list[object]] = []
    for p in made.people:
        age = made.pick({"Moins de 30 ans": 4, "30 à 44 ans": 5, "45 ans et plus": 3})
        days = [*p.days, ended(made, p)]
        for step in range(min(p.level + 1, 4)):
            rows.append(
                [
                    f"CAND-{7000 + p.number}",
                    f"Offre {p.number % 15}",
                    day_first(days[step + 1], "/"),
                    made.steps[step],
                    "Favorable" if p.level > step else "Défavorable",
                    p.group,
                    age,
                ]
            )
    path = table(
        folder / "historique_candidatures.csv",
        [["Réf. candidature", "Offre", "Date", "Étape", "Résultat", "Sexe", "Tranche d'âge"], *rows],
        ";",
        "utf-8-sig",
    )
    return made.truth([path], "Sexe", "F", "H", "Entretien RH")


def concours_fr(folder: Path) -> Truth:
    """A French public examination: written, declared eligible, oral, admitted."""
    made = cohort(
        117,
        {"Femme": 420, "Homme": 400},
        {"Présent à l'écrit": 0.85, "Admissible": 0.55, "Admis": 0.6},
        "Admis",
        {"Femme": 0.37},
    )
    rows: list[list[object]] = []
    for p in made.people:
        written = made.rng.uniform(10, 17) if p.level >= 2 else made.rng.uniform(3, 9.9)
        oral = made.rng.uniform(11, 18) if p.level >= 3 else made.rng.uniform(5, 10.9)
        rows.append(
            [
                f"{20240000 + p.number}",
                made.pick({"Lyon": 2, "Nantes": 1, "Paris": 4}),
                p.group,
                f"{made.rng.randrange(1, 29):02d}/{made.rng.randrange(1, 13):02d}/{made.rng.randrange(1975, 2002)}",
                "Oui" if p.level else "Non",
                round(written, 2) if p.level else "",
                passed(p, 2, "Oui", "Non"),
                round(oral, 2) if p.level >= 2 else "",
                passed(p, 3, "Oui", "Non"),
            ]
        )
    path = book(
        folder / "concours_attache_2024.xlsx",
        {
            "Résultats": [
                ["Concours externe d'attaché - session 2024"],
                ["Direction des concours"],
                [],
                [
                    "N° candidat",
                    "Centre d'examen",
                    "Sexe",
                    "Date de naissance",
                    "Présent à l'écrit",
                    "Moyenne écrit",
                    "Admissible",
                    "Moyenne oral",
                    "Admis",
                ],
                *rows,
            ]
        },
    )
    return made.truth([path], "Sexe", "Femme", "Homme", "Admis", funnel=())


def gupy_pt(folder: Path) -> Truth:
    """Brazilian Portuguese: the stage at which it ended, and how."""
    made = cohort(
        118,
        {"Branca": 520, "Parda": 260, "Preta": 250, "Amarela": 30, "Prefiro não informar": 60},
        {"Testes": 0.7, "Entrevista com RH": 0.6, "Entrevista com gestor": 0.66, "Contratação": 0.4},
        "Entrevista com gestor",
        {"Preta": 0.26},
        0.05,
    )
    rows = [
        [
            580000 + p.number,
            f"Assistente {p.number % 10}",
            day_first(p.days[0], "/"),
            ["Cadastro", *made.steps][p.level],
            "Contratado" if p.level == 4 else "Desistiu" if p.withdrew else "Reprovado",
            f"{made.rng.uniform(20, 99):.1f}".replace(".", ","),
            made.pick({"Não": 12, "Sim": 1}),
            made.pick({"Feminino": 5, "Masculino": 5, "Prefiro não informar": 0.5}),
            p.group,
        ]
        for p in made.people
    ]
    path = table(
        folder / "gupy_candidaturas.csv",
        [
            [
                "ID da candidatura",
                "Vaga",
                "Data de inscrição",
                "Etapa atual",
                "Status",
                "Afinidade (%)",
                "PcD",
                "Gênero",
                "Raça/Cor",
            ],
            *rows,
        ],
        ";",
        "utf-8-sig",
    )
    return made.truth([path], "Raça/Cor", "Preta", "Branca", "Entrevista com gestor")


def inrecruiting_it(folder: Path) -> Truth:
    """Italian: yes or no for each step; a privacy consent that is none."""
    made = cohort(
        119,
        {"Uomo": 410, "Donna": 400, "Preferisco non rispondere": 45},
        {"Screening CV": 0.62, "Colloquio telefonico": 0.6, "Colloquio in sede": 0.62, "Assunto": 0.4},
        "Colloquio in sede",
        {"Donna": 0.3},
    )
    rows = [
        [
            f"C{3000 + p.number}",
            f"Impiegato {p.number % 8}",
            day_first(p.days[0], "/"),
            made.pick({"Sì": 8, "No": 1}),
            *(passed(p, step, "Sì") for step in (1, 2, 3, 4)),
            made.pick({"No": 15, "Sì": 1}),
            p.group,
        ]
        for p in made.people
    ]
    path = table(
        folder / "candidature_inrecruiting.csv",
        [
            [
                "Codice candidatura",
                "Annuncio",
                "Data candidatura",
                "Consenso privacy",
                "Screening CV",
                "Colloquio telefonico",
                "Colloquio in sede",
                "Assunto",
                "Categoria protetta L.68/99",
                "Genere",
            ],
            *rows,
        ],
        ";",
        "cp1252",
    )
    return made.truth([path], "Genere", "Donna", "Uomo", "Colloquio in sede")


def infojobs_es(folder: Path) -> Truth:
    """Spanish: the phase reached and the result."""
    made = cohort(
        120,
        {"Hombre": 450, "Mujer": 440, "No consta": 50},
        {"Preseleccionado": 0.56, "Entrevista telefónica": 0.7, "Entrevista presencial": 0.6, "Contratado": 0.35},
        "Preseleccionado",
        {"Mujer": 0.4},
        0.04,
    )
    phases = ["Inscrito", *made.steps]
    rows = []
    for p in made.people:
        result = "Contratado" if p.level == 4 else "Desiste" if p.withdrew else "Descartado"
        rows.append(
            [
                77000 + p.number,
                f"Dependiente/a {p.number % 13}",
                day_first(p.days[0], "/"),
                phases[p.level],
                result,
                made.pick({"Falta de experiencia": 3, "Perfil no ajustado": 2}) if result == "Descartado" else "",
                p.group,
                made.rng.randrange(1966, 2005),
            ]
        )
    path = table(
        folder / "inscripciones_2024.csv",
        [
            [
                "Nº inscripción",
                "Oferta",
                "Fecha de inscripción",
                "Fase alcanzada",
                "Resultado",
                "Motivo de descarte",
                "Sexo",
                "Año de nacimiento",
            ],
            *rows,
        ],
        ";",
        "cp1252",
    )
    return made.truth([path], "Sexo", "Mujer", "Hombre", "Preseleccionado")


def afas_nl(folder: Path) -> Truth:
    """Dutch: real dates in Excel, one column for each step."""
    made = cohort(
        121,
        {"Nederlands": 560, "Niet-westers": 270, "Westers": 110, "Wil ik niet zeggen": 60},
        {"Datum uitnodiging": 0.55, "Datum 1e gesprek": 0.95, "Datum 2e gesprek": 0.5, "Datum aangenomen": 0.5},
        "Datum uitnodiging",
        {"Niet-westers": 0.34},
    )
    rows = [
        [
            24100 + p.number,
            f"Beleidsmedewerker {p.number % 7}",
            *(until(p, step, lambda day: day) or None for step in range(5)),
            ended(made, p) if p.level < 4 else None,
            made.pick({"Man": 5, "Vrouw": 5, "Anders": 0.1}),
            p.group,
        ]
        for p in made.people
    ]
    path = book(
        folder / "Sollicitaties AFAS.xlsx",
        {
            "Sollicitaties": [
                [
                    "Sollicitatienr.",
                    "Functie",
                    "Datum ontvangst",
                    "Datum uitnodiging",
                    "Datum 1e gesprek",
                    "Datum 2e gesprek",
                    "Datum aangenomen",
                    "Datum afwijzing",
                    "Geslacht",
                    "Migratieachtergrond",
                ],
                *rows,
            ]
        },
    )
    return made.truth([path], "Migratieachtergrond", "Niet-westers", "Nederlands", "Datum uitnodiging")


# --------------------------------------------------------------------------
# Public bodies, exams, promotions, layoffs, awards


def neogov_exam(folder: Path) -> Truth:
    """An exam plan of a city: pass or fail for each part, points for veterans."""
    made = cohort(
        122,
        {"Male": 620, "Female": 240, "Choose not to identify": 30},
        {"MQ Review": 0.9, "Written Exam": 0.7, "Physical Ability Test": 0.85, "Oral Board": 0.6, "Hired": 0.3},
        "Physical Ability Test",
        {"Female": 0.5},
    )
    rows = []
    for p in made.people:
        score = made.rng.uniform(70, 99) if p.level >= 2 else made.rng.uniform(40, 69.9)
        final = "Hired" if p.level == 5 else "Eligible List - Not Selected" if p.level == 4 else "Removed - Failed Step"
        rows.append(
            [
                50000 + p.number,
                us(p.days[0]),
                passed(p, 1, "Pass", "Fail"),
                passed(p, 2, "Pass", "Fail"),
                round(score, 1) if p.level >= 1 else "",
                passed(p, 3, "Pass", "Fail"),
                passed(p, 4, "Pass", "Fail"),
                made.pick({"0": 8, "5": 1, "10": 1}),
                final,
                made.pick(RACES),
                p.group,
            ]
        )
    path = table(
        folder / "FF-2024-117 exam plan.csv",
        [
            ["City of Redfield - Human Resources"],
            ["Exam Plan: 2024-117 Firefighter"],
            ["Printed 11/02/2024"],
            [],
            [
                "Person ID",
                "Received",
                "MQ Review",
                "Written Exam",
                "Written Exam Score",
                "Physical Ability Test",
                "Oral Board",
                "Veteran Points",
                "Disposition",
                "Race",
                "Gender",
            ],
            *rows,
        ],
    )
    return made.truth([path], "Gender", "Female", "Male", "Physical Ability Test")


def usa_staffing_flow(folder: Path) -> Truth:
    """Federal applicant flow: race as several columns of yes and no."""
    black, both = "Black or African American", "Asian and White"
    made = cohort(
        123,
        {"White": 600, black: 320, "Asian": 130, both: 30, "": 90},
        {"Qualified": 0.72, "Referred": 0.58, "Selected": 0.2},
        "Referred",
        {black: 0.33},
    )
    races = ["American Indian or Alaska Native", "Asian", black, "Native Hawaiian or Pacific Islander", "White"]
    rows = []
    for p in made.people:
        marked = ["Asian", "White"] if p.group == both else [p.group]
        rows.append(
            [
                f"DE-{12000000 + p.number % 12}",
                900000 + p.number,
                f"GS-{made.pick({'0301': 1, '0343': 1})}",
                *(("Y" if race in marked else "N") if p.group else "" for race in races),
                made.pick({"M": 5, "F": 5, "Omitted": 0.7}),
                made.pick({"No disability": 8, "Targeted disability": 0.5, "Omitted": 1}),
                *(passed(p, step, "Y", "N", "N") for step in (1, 2, 3)),
            ]
        )
    path = table(
        folder / "applicant_flow_data.csv",
        [
            [
                "Announcement Number",
                "Applicant ID",
                "Series",
                *(f"Race: {race}" for race in races),
                "Sex",
                "Disability",
                "Qualified",
                "Referred",
                "Selected",
            ],
            *rows,
        ],
    )
    return made.truth([path], "Race", black, "White", "Referred")


def _stacked(made: Cohort, kinds: Mapping[str, Sequence[str]]) -> list[list[object]]:
    """Each person's counts, once for each characteristic: [kind, value, applied, steps...]."""
    rows: list[list[object]] = []
    for kind, values in kinds.items():
        seen: dict[str, Counter[int]] = {}
        for person, value in zip(made.people, values):
            seen.setdefault(value, Counter())[person.level] += 1
        for value, levels in sorted(seen.items()):
            rows.append(
                [
                    kind,
                    value,
                    *(sum(n for level, n in levels.items() if level >= least) for least in range(len(made.steps) + 1)),
                ]
            )
    return rows


def nhs_trac_stacked(folder: Path) -> Truth:
    """A trust's equality report: counts, stacked by characteristic, with percentages."""
    made = cohort(
        124,
        {
            "White": 700,
            "Asian or Asian British": 430,
            "Black or Black British": 220,
            "I do not wish to disclose my ethnic origin": 60,
        },
        {"Shortlisted": 0.46, "Appointed": 0.3},
        "Shortlisted",
        {"Asian or Asian British": 0.28},
    )
    kinds = {
        "Ethnic origin": [p.group for p in made.people],
        "Gender": [made.pick({"Female": 7, "Male": 3, "I do not wish to disclose this": 0.2}) for _ in made.people],
        "Disability": [made.pick({"No": 9, "Yes": 1, "I do not wish to disclose this": 0.4}) for _ in made.people],
    }
    total = [len(made.people), *made.funnel()]
    rows = [
        [kind, value, a, s, f"{100 * s / a:.1f}%", h, f"{100 * h / s:.1f}%" if s else "-"]
        for kind, value, a, s, h in _stacked(made, kinds)
    ]  # type: ignore[misc]
    path = table(
        folder / "Trac equality monitoring 2023-24.csv",
        [
            ["Northmoor NHS Foundation Trust"],
            ["Equality monitoring, 1 April 2023 to 31 March 2024"],
            [],
            [
                "Characteristic",
                "Category",
                "Applied",
                "Shortlisted",
                "% of applied shortlisted",
                "Appointed",
                "% of shortlisted appointed",
            ],
            *rows,
            [
                "Total",
                "",
                total[0],
                total[1],
                f"{100 * total[1] / total[0]:.1f}%",
                total[2],
                f"{100 * total[2] / total[1]:.1f}%",
            ],
        ],
    )
    return made.truth([path], "Ethnic origin", "Asian or Asian British", "White", "Shortlisted")


def civil_service_counts(folder: Path) -> Truth:
    """Tidy counts of a ministry; small ones are suppressed, notes stand at the foot."""
    made = cohort(
        125,
        {"White": 800, "Ethnic minority": 520, "Not declared": 60},
        {"Passed sift": 0.48, "Invited to interview": 0.9, "Appointed": 0.33},
        "Passed sift",
        {"Ethnic minority": 0.32},
    )
    grades = [("AO", "EO", "HEO", "SEO")[p.number % 4] for p in made.people]
    rows: list[list[object]] = []
    for grade in ("AO", "EO", "HEO", "SEO"):
        for least, stage in enumerate(["Applied", *made.steps]):
            for group in ("White", "Ethnic minority", "Not declared"):
                n = sum(p.level >= least and p.group == group and g == grade for p, g in zip(made.people, grades))
                rows.append(["2023/24", grade, stage, group, n if n >= 5 else "[c]"])
    path = table(
        folder / "recruitment-by-ethnicity.csv",
        [
            ["Year", "Grade", "Stage", "Ethnicity", "Headcount"],
            *rows,
            [],
            ["Notes"],
            ["1. [c] = fewer than 5, suppressed to protect confidentiality."],
            ["2. Each candidate is counted at every stage that they reached."],
        ],
        encoding="utf-8-sig",
    )
    return made.truth([path], "Ethnicity", "Ethnic minority", "White", "Passed sift", people=0, favourable=0, funnel=())


def phd_admissions(folder: Path) -> Truth:
    """A graduate school: ones and noughts; everybody was reviewed."""
    made = cohort(
        126,
        {"M": 430, "F": 380, "X": 8},
        {"Interview invited": 0.42, "Offer made": 0.5, "Offer accepted": 0.62},
        "Interview invited",
        {"F": 0.25},
    )
    rows = [
        [
            f"PG{240000 + p.number}",
            made.pick({"Physics": 2, "Economics": 2, "History": 1}),
            made.pick({"Home": 3, "Overseas": 2}),
            made.pick({"0": 3, "1": 1}),
            p.days[0],
            made.rng.randrange(148, 171),
            1,
            *(int(p.level >= step) for step in (1, 2, 3)),
            p.group,
        ]
        for p in made.people
    ]
    path = table(
        folder / "pgr_admissions_2024.csv",
        [
            [
                "Application ID",
                "Programme",
                "Fee status",
                "First generation",
                "Received",
                "GRE Quant",
                "Reviewed",
                "Interview invited",
                "Offer made",
                "Offer accepted",
                "Sex",
            ],
            *rows,
        ],
    )
    return made.truth([path], "Sex", "F", "M", "Interview invited", favourable=0, funnel=())


def sergeant_promotion(folder: Path) -> Truth:
    """A promotional examination; two header rows, the upper one merged."""
    made = cohort(
        127,
        {"White": 330, "Hispanic": 190, "Black": 90},
        {"Written Examination": 0.72, "Assessment Center": 0.6, "Promoted": 0.35},
        "Written Examination",
        {"Hispanic": 0.48},
    )
    rows: list[list[object]] = []
    for p in made.people:
        written = made.rng.uniform(70, 97) if p.level >= 1 else made.rng.uniform(45, 69.9)
        centre = made.rng.uniform(70, 95) if p.level >= 2 else made.rng.uniform(50, 69.9)
        rows.append(
            [
                2100 + p.number,
                p.group,
                made.pick({"M": 8, "F": 2}),
                made.rng.randrange(4, 25),
                round(written, 1),
                passed(p, 1, "P", "F"),
                round(centre, 1) if p.level >= 1 else None,
                passed(p, 2, "P", "F") or None,
                None,
                passed(p, 3, "Yes", "No") or None,
            ]
        )
    listed = [row for row in rows if row[7] == "P"]
    listed.sort(key=lambda row: -(row[4] + row[6]))  # type: ignore[operator]
    for rank, row in enumerate(listed, 1):
        row[8] = rank
    path = book(
        folder / "Sgt exam 2024.xlsx",
        {
            "Sergeant 2024": [
                [
                    "Candidate",
                    None,
                    None,
                    None,
                    "Written Examination",
                    None,
                    "Assessment Center",
                    None,
                    "Eligible List",
                    None,
                ],
                [
                    "Badge No.",
                    "Race",
                    "Sex",
                    "Years of Service",
                    "Score",
                    "Pass/Fail",
                    "Score",
                    "Pass/Fail",
                    "Rank",
                    "Promoted",
                ],
                *rows,
            ]
        },
        ["A1:D1", "E1:F1", "G1:H1", "I1:J1"],
    )
    return made.truth([path], "Race", "Hispanic", "White", "Written Examination")


def rif_worksheet(folder: Path) -> Truth:
    """A layoff: the selected lose their job, the retained keep it; ages, not bands."""
    made = cohort(
        128, {"under 40": 330, "40 and over": 380}, {"RIF Decision": 0.88}, "RIF Decision", {"40 and over": 0.7}
    )
    rows = []
    for p in made.people:
        age = made.rng.randrange(24, 40) if p.group == "under 40" else made.rng.randrange(40, 65)
        rows.append(
            [
                60000 + p.number,
                made.pick({"Analyst II": 3, "Engineer": 3, "Planner": 2}),
                f"Unit {p.number % 5}",
                age,
                made.rng.randrange(1, 15),
                made.pick({"Meets": 5, "Exceeds": 2, "Below": 1}),
                made.rng.randrange(40, 100),
                made.pick({"No": 9, "Yes": 1}),
                "Retained" if p.level else "Selected",
            ]
        )
    path = book(
        folder / "RIF selection worksheet.xlsx",
        {
            "Decisional unit": [
                ["Reduction in Force 2024 - Decisional Unit 3"],
                ["Privileged and confidential - prepared for the OWBPA disclosure"],
                [],
                [
                    "Employee ID",
                    "Job Title",
                    "Unit",
                    "Age",
                    "Years of Service",
                    "Last Rating",
                    "Skills Score",
                    "Tie-break Applied",
                    "RIF Decision",
                ],
                *rows,
                [],
                ["Ages are as of 31 May 2024."],
            ]
        },
    )
    return made.truth([path], "Age", "40 and over|40+|40 or over", "under 40|Under 40", "RIF Decision", funnel=())


def bonus_round(folder: Path) -> Truth:
    """A year-end round: the rating given, then who was nominated and who got a bonus."""
    made = cohort(
        129,
        {"Male": 450, "Female": 420},
        {"Manager Nominated": 0.55, "Bonus Awarded": 0.8},
        "Manager Nominated",
        {"Female": 0.38},
    )
    rows = [
        [
            f"E{40000 + p.number}",
            made.pick({"DE01": 2, "NL02": 1, "UK03": 1}),
            f"Band {made.rng.randrange(3, 8)}",
            made.pick({"1.0": 6, "0.8": 1, "0.6": 1}),
            made.rng.randrange(2, 6),
            passed(p, 1),
            passed(p, 2, "Yes", "No", "No"),
            made.rng.randrange(20, 140) * 100 if p.level == 2 else 0,
            p.group,
        ]
        for p in made.people
    ]
    path = table(
        folder / "2024 bonus round.csv",
        [
            [
                "Employee ID",
                "Legal Entity",
                "Grade",
                "FTE",
                "Rating 2024",
                "Manager Nominated",
                "Bonus Awarded",
                "Bonus Amount (EUR)",
                "Gender",
            ],
            *rows,
        ],
    )
    return made.truth([path], "Gender", "Female", "Male", "Manager Nominated")


def teacher_hiring(folder: Path) -> Truth:
    """A school district: an outcome in words for each stage."""
    made = cohort(
        130,
        {"White": 420, "Black": 250, "Latino/a": 120, "Opted out": 40},
        {"Paper Screening": 0.68, "Demo Lesson": 0.64, "Principal Interview": 0.55, "Hired": 0.7},
        "Demo Lesson",
        {"Black": 0.36},
    )
    go, stop = "Advanced", "Not Advanced"
    rows = [
        [
            f"T-{p.number:04d}",
            f"PS {p.number % 19}",
            made.pick({"Math": 2, "ELA": 2, "Art": 1}),
            made.pick({"Verified": 8, "Pending": 1}),
            passed(p, 1, go, stop),
            passed(p, 2, go, stop),
            passed(p, 3, go, stop),
            "Hired" if p.level == 4 else "Not Hired",
            made.pick(GENDERS),
            p.group,
        ]
        for p in made.people
    ]
    path = table(
        folder / "teacher selection 24-25.csv",
        [
            [
                "Applicant",
                "School",
                "Subject",
                "Certification",
                "Paper Screening",
                "Demo Lesson",
                "Principal Interview",
                "Final Status",
                "Gender",
                "Race/Ethnicity",
            ],
            *rows,
        ],
    )
    return made.truth([path], "Race/Ethnicity", "Black", "White", "Demo Lesson")


def apprenticeship_sheets(folder: Path) -> Truth:
    """A log of assessments on one sheet, the candidates on another."""
    made = cohort(
        131,
        {"White": 480, "Asian": 290, "Black": 110, "Prefer not to say": 40},
        {"Online test": 0.65, "Assessment centre": 0.62, "Final interview": 0.5},
        "Assessment centre",
        {"Asian": 0.4},
    )
    log: list[list[object]] = []
    people: list[list[object]] = []
    for p in made.people:
        key = f"APP{5000 + p.number}"
        people.append(
            [
                key,
                made.pick({"Engineering L3": 2, "Business L4": 1}),
                made.pick({"Female": 4, "Male": 6}),
                p.group,
                made.pick({"No": 4, "Yes": 1}),
            ]
        )
        days = [*p.days, ended(made, p)]
        for step in range(min(p.level + 1, 3)):
            good = p.level > step
            log.append(
                [
                    key,
                    made.steps[step],
                    days[step + 1],
                    made.rng.randrange(55, 96) if good else made.rng.randrange(15, 55),
                    "Successful" if good else "Unsuccessful",
                ]
            )
    made.rng.shuffle(people)
    path = book(
        folder / "Apprentice intake 2024.xlsx",
        {
            "Read me": [
                ["Apprentice intake 2024"],
                ["Sheet Log: one row per assessment taken"],
                ["Sheet Candidates: details given on the application form"],
            ],
            "Log": [["Candidate ref", "Assessment", "Date", "Mark", "Outcome"], *log],
            "Candidates": [["Candidate ref", "Programme", "Sex", "Ethnicity", "Free school meals"], *people],
        },
    )
    return made.truth([path], "Ethnicity", "Asian", "White", "Assessment centre")


def grant_decisions(folder: Path) -> Truth:
    """A funder: a declined proposal is one that the funder turned down."""
    made = cohort(132, {"Male": 520, "Female": 400, "Not provided": 60}, {"Awarded": 0.34}, "Awarded", {"Female": 0.21})
    rows = []
    for p in made.people:
        rating = made.rng.uniform(3, 5) if p.level else made.rng.uniform(1.5, 4.4)
        status = "Awarded" if p.level else made.pick({"Declined": 12, "Returned without review": 1, "Withdrawn": 0.5})
        rows.append(
            [
                f"24{p.number:05d}",
                made.pick({"BIO": 1, "ENG": 1, "MPS": 1}),
                us(p.days[0]),
                round(rating, 2),
                f"{made.rng.randrange(90, 600) * 1000:,}",
                made.pick({"Early career": 2, "Mid career": 2, "Senior": 1}),
                p.group,
                status,
            ]
        )
    path = table(
        folder / "proposal_decisions_FY24.csv",
        [
            [
                "Proposal No.",
                "Directorate",
                "Received",
                "Mean Panel Rating",
                "Requested ($)",
                "PI Career Stage",
                "PI Gender",
                "Proposal Status",
            ],
            *rows,
        ],
    )
    return made.truth([path], "PI Gender", "Female", "Male", "Awarded", funnel=())


# --------------------------------------------------------------------------
# Counts


def board_pivot(folder: Path) -> Truth:
    """A pivot table in compact form: departments with their genders below, and a total."""
    made = cohort(
        133,
        {"Female": 560, "Male": 640},
        {"Longlisted": 0.4, "Interviewed": 0.55, "Appointed": 0.3},
        "Longlisted",
        {"Female": 0.25},
    )
    units = ["Audit", "Finance", "Legal", "Operations"]
    where = [made.rng.choice(units) for _ in made.people]

    def counts(unit: str | None, gender: str | None) -> list[int]:
        chosen = [p for p, u in zip(made.people, where) if unit in (None, u) and gender in (None, p.group)]
        return [sum(p.level >= least for p in chosen) for least in range(4)]

    rows: list[list[object]] = []
    for unit in units:
        rows.append([unit, *counts(unit, None)])
        rows += [[f"   {gender}", *counts(unit, gender)] for gender in ("Female", "Male")]
    path = book(
        folder / "board appointments pivot.xlsx",
        {
            "Pivot": [
                ["Year", "2024"],
                [],
                ["Department / Gender", "Applied", "Longlisted", "Interviewed", "Appointed"],
                *rows,
                ["Grand Total", *counts(None, None)],
            ]
        },
    )
    return made.truth([path], "Gender", "Female", "Male", "Longlisted")


def eeo_crosstab(folder: Path) -> Truth:
    """Applicants and hires by job group, across sex and race; two header rows and totals."""
    made = cohort(134, {"Male": 640, "Female": 600}, {"Hires": 0.26}, "Hires", {"Female": 0.15})
    races = ["White", "Black", "Hispanic", "Asian"]
    groups = ["Officials and Managers", "Professionals", "Technicians", "Administrative Support"]
    about = [(made.rng.choices(races, [6, 2, 2, 1])[0], made.rng.choice(groups)) for _ in made.people]
    cells: Counter[tuple[str, str, str, int]] = Counter()
    for p, (race, job) in zip(made.people, about):
        for least in range(p.level + 1):
            cells[p.group, race, job, least] += 1
    rows: list[list[object]] = []
    sums = {least: [0] * 9 for least in (0, 1)}
    for job in groups:
        for least, action in enumerate(("Applicants", "Hires")):
            row = [cells[sex, race, job, least] for sex in ("Male", "Female") for race in races]
            row.append(sum(row))
            sums[least] = [a + b for a, b in zip(sums[least], row)]
            rows.append([job, action, *row])
    for least, action in enumerate(("Applicants", "Hires")):
        rows.append(["TOTAL", action, *sums[least]])
    path = table(
        folder / "EEO applicant and hire summary.csv",
        [
            ["", "Sex", "Male", "", "", "", "Female", "", "", "", "Overall"],
            ["Job Category", "Race/Ethnicity", *races, *races, "Totals"],
            *rows,
        ],
    )
    return made.truth([path], "Sex", "Female", "Male", "Hires")


# --------------------------------------------------------------------------
# Where the file alone cannot tell


def ask_hires_file(folder: Path) -> Truth:
    """Applications without an outcome, and a list of who started later."""
    made = cohort(135, {"Male": 450, "Female": 430, "Not stated": 30}, {"Hired": 0.3}, "Hired", {"Female": 0.18})
    rows, hires = [], []
    for p in made.people:
        rows.append([f"A{p.number:05d}", 30000 + p.number, f"R{p.number % 25}", p.days[0], made.pick(SOURCES), p.group])
        if p.level:
            hires.append(
                [
                    9000 + len(hires),
                    30000 + p.number,
                    f"R{p.number % 25}",
                    p.days[1] + timedelta(days=30),
                    f"Cost centre {p.number % 6}",
                ]
            )
    one = table(
        folder / "applications_2024.csv",
        [["Application ID", "Candidate ID", "Requisition", "Applied", "Source", "Gender"], *rows],
    )
    two = table(
        folder / "new_starters_2024.csv",
        [["Employee No", "Candidate ID", "Requisition", "Start Date", "Cost Centre"], *hires],
    )
    return made.truth([one, two], "Gender", "Female", "Male", "Hired", may_ask=True, funnel=())


def ask_letters(folder: Path) -> Truth:
    """Letters for the outcome and numbers for the sex, and no legend."""
    made = cohort(136, {"1": 420, "2": 400}, {"OUTCOME": 0.3}, "OUTCOME", {"2": 0.18})
    rows = [
        [
            p.number + 1,
            f"P{p.number % 9}",
            made.rng.randrange(20, 61),
            int(p.group),
            "S" if p.level else made.pick({"N": 9, "W": 1}),
        ]
        for p in made.people
    ]
    path = table(folder / "extract_0093.csv", [["SEQ", "POST", "AGE", "SEX", "OUTCOME"], *rows])
    return made.truth([path], "SEX", "2|Female", "1|Male", "OUTCOME", may_ask=True, funnel=())


def ask_traffic_lights(folder: Path) -> Truth:
    """Rounds marked with colours; amber went on in two rounds, and is open in the last."""
    made = cohort(
        137, {"Men": 380, "Women": 360}, {"Round 1": 0.6, "Round 2": 0.55, "Round 3": 0.35}, "Round 2", {"Women": 0.3}
    )
    rows = []
    for p in made.people:
        marks = [
            passed(
                p,
                step,
                made.pick({"green": 4, "amber": 1}) if step < 3 else "green",
                "red" if step < 3 else made.pick({"red": 3, "amber": 1}),
            )
            for step in (1, 2, 3)
        ]
        rows.append([p.number + 1, made.pick({"Trainee A": 1, "Trainee B": 1}), p.group, *marks])
    path = book(
        folder / "trainee rounds.xlsx",
        {"Sheet1": [["No", "Programme", "Group", "Round 1", "Round 2", "Round 3"], *rows]},
    )
    return made.truth([path], "Group", "Women", "Men", "Round 2", may_ask=True)


# --------------------------------------------------------------------------
# Where nothing can be compared


def _refused(path: Path, attribute: str) -> Truth:
    """The truth of a file from which nothing can be compared."""
    return Truth(
        files=(path,),
        people=0,
        favourable=0,
        attribute=attribute,
        group="",
        against="",
        step="",
        reached=(0, 0),
        of=(0, 0),
        refuse=True,
    )


def workday_new_hires(folder: Path) -> Truth:
    """A report of hires: everybody in it was hired."""
    made = cohort(138, {"Female": 160, "Male": 170}, {"Hired": 1.0}, "Hired", {})
    rows = [
        [
            f"C{2000 + p.number}",
            f"JR-{1000 + p.number}",
            "Filled",
            us(p.days[0]),
            us(p.days[1]),
            "Hired",
            made.pick({"External": 3, "Internal": 1}),
            made.pick(SOURCES),
            made.pick({"No": 9, "Yes": 1}),
            p.group,
            made.pick(RACES),
        ]
        for p in made.people
    ]
    path = book(
        folder / "New Hires - Recruiting.xlsx",
        {
            "Sheet1": [
                ["New Hires - Recruiting"],
                ["Hire Date From", "01/01/2024"],
                ["Hire Date To", "12/31/2024"],
                [],
                [
                    "Candidate ID",
                    "Job Requisition",
                    "Requisition Status",
                    "Application Date",
                    "Hire Date",
                    "Candidate Stage",
                    "Candidate Type",
                    "Source",
                    "Rehire",
                    "Gender",
                    "Race/Ethnicity",
                ],
                *rows,
            ]
        },
    )
    return _refused(path, "Gender")


def percentages_report(folder: Path) -> Truth:
    """A published summary of percentages, without a single count."""
    made = cohort(
        139, {"Women": 400, "Men": 400}, {"Shortlisted": 0.4, "Appointed": 0.3}, "Shortlisted", {"Women": 0.28}
    )
    rows = [
        [
            "Gender",
            g,
            f"{100 * made.count('Shortlisted', g) / made.size(g):.1f}%",
            f"{100 * made.count('Appointed', g) / made.size(g):.1f}%",
        ]
        for g in ("Women", "Men")
    ]
    rows += [
        ["Age band", "Under 35", "34.9%", "10.1%"],
        ["Age band", "35 to 54", "33.2%", "10.4%"],
        ["Age band", "55 and over", "33.8%", "9.7%"],
    ]
    path = table(
        folder / "diversity report appendix B.csv",
        [
            ["Appendix B: success rates by characteristic"],
            [],
            ["Characteristic", "Group", "Shortlisted (% of applicants)", "Appointed (% of applicants)"],
            *rows,
            [],
            ["Rates are rounded to one decimal place."],
        ],
    )
    return _refused(path, "Group")


def open_requisitions(folder: Path) -> Truth:
    """Applications that nobody has decided on yet."""
    made = cohort(140, {"Female": 260, "Male": 270}, {"Hired": 0.0}, "Hired", {})
    rows = [
        [
            7000 + p.number,
            f"Nurse {p.number % 6}",
            "Open",
            p.days[0],
            "Application Received",
            "Under review",
            made.pick(SOURCES),
            p.group,
        ]
        for p in made.people
    ]
    path = table(
        folder / "open_applications.csv",
        [
            [
                "Application ID",
                "Vacancy",
                "Vacancy Status",
                "Applied On",
                "Stage",
                "Application Status",
                "Source",
                "Gender",
            ],
            *rows,
        ],
    )
    return _refused(path, "Gender")


INDEPENDENT: dict[str, Callable[[Path], Truth]] = {
    write.__name__: write
    for write in (
        successfactors_audit,
        taleo_csw,
        icims_disposition,
        greenhouse_lines,
        lever_archive,
        ashby_history_survey,
        teamtailor_dates,
        workable_json,
        jazzhr_yes_no,
        breezy_paths,
        bullhorn_serials,
        oracle_phase_state,
        peoplesoft_legend,
        personio_de,
        softgarden_de,
        talentsoft_fr,
        concours_fr,
        gupy_pt,
        inrecruiting_it,
        infojobs_es,
        afas_nl,
        neogov_exam,
        usa_staffing_flow,
        nhs_trac_stacked,
        civil_service_counts,
        phd_admissions,
        sergeant_promotion,
        rif_worksheet,
        bonus_round,
        teacher_hiring,
        apprenticeship_sheets,
        grant_decisions,
        board_pivot,
        eeo_crosstab,
        ask_hires_file,
        ask_letters,
        ask_traffic_lights,
        workday_new_hires,
        percentages_report,
        open_requisitions,
    )
}

FIRST_RUN = {
    "taleo_csw": "misread",
    "greenhouse_lines": "partly right",
    "bullhorn_serials": "misread",
    "personio_de": "misread",
    "usa_staffing_flow": "misread",
    "rif_worksheet": "asked, then right",
    "eeo_crosstab": "refused",
    "ask_traffic_lights": "refused",
    "lever_archive": "misread",
    "workable_json": "partly right",
    "jazzhr_yes_no": "asked, then right",
    "peoplesoft_legend": "refused",
    "civil_service_counts": "refused",
    "board_pivot": "refused",
    "ask_letters": "asked, then right",
}
"""What the first run did not read right, before anybody who works on the reading had seen an export."""
