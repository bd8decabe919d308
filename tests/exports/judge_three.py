"""Twenty-four exports by a third judge, in the shapes compliance teams most often bring.

Each function writes one export with a planted difference at a known step and returns its truth.  `of` counts everybody
of the group in the file, withdrawn or not; whoever withdrew or still waits does so after the planted step.
"""
# ruff: noqa: E501

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
from openpyxl import Workbook

from exports.fresh import Full
from exports.unseen import Truth

SEXES = {"Female": 0.47, "Male": 0.53}
RACES = {"White": 0.5, "Black": 0.2, "Hispanic": 0.16, "Asian": 0.14}


@dataclass
class P:
    """One application: `depth` steps passed; `left` if the person went of their own accord after the last of them."""

    i: int
    sex: str
    race: str
    age: int
    applied: date
    depth: int = 0
    left: bool = False
    extra: float = 0.0

    def on(self, step: int) -> date:
        return self.applied + timedelta(days=9 * step + 1 + (self.i * 7 + step * 3) % 8)


def crowd(
    seed: int,
    n: int,
    rates: list[float],
    field: str,
    group: str,
    step: int,
    rate: float,
    *,
    sexes: dict[str, float] = SEXES,
    races: dict[str, float] = RACES,
    leave: float = 0.0,
) -> list[P]:
    """People who pass each step at `rates`, the planted group at `rate` for step number `step`."""
    rng = np.random.default_rng(seed)
    out = []
    for i in range(n):
        p = P(
            i,
            str(rng.choice(list(sexes), p=list(sexes.values()))),
            str(rng.choice(list(races), p=list(races.values()))),
            int(rng.integers(21, 64)),
            date(2024, 1, 3) + timedelta(days=int(rng.integers(0, 330))),
            extra=float(rng.random()),
        )
        planted = getattr(p, field) == group
        for k, usual in enumerate(rates):
            if rng.random() >= (rate if planted and k == step else usual):
                p.left = k > step and rng.random() < leave
                break
            p.depth = k + 1
        out.append(p)
    return out


def z(a: int, n: int, b: int, m: int) -> float:
    q = (a + b) / (n + m)
    return abs(a / n - b / m) / math.sqrt(q * (1 - q) * (1 / n + 1 / m)) if 0 < q < 1 else 0.0


def told(
    files: Path | tuple[Path, ...],
    people: list[P],
    field: str,
    group: str,
    against: str,
    step: int,
    last: int,
    attribute: str,
    group_cell: str,
    against_cell: str,
    step_name: str,
    *,
    funnel: bool = True,
    count: bool = True,
    may_ask: bool = False,
) -> Truth:
    """The truth of `people`, whose planted step is number `step` of `last`."""
    of = tuple(sum(getattr(p, field) == v for p in people) for v in (group, against))
    reached = tuple(sum(getattr(p, field) == v and p.depth > step for p in people) for v in (group, against))
    before = tuple(sum(getattr(p, field) == v and p.depth >= step for p in people) for v in (group, against))
    assert z(reached[0], before[0], reached[1], before[1]) > 3.5, (reached, before)
    assert z(reached[0], of[0], reached[1], of[1]) > 3.5, (reached, of)
    for name in ("sex", "race"):  # no other difference may look planted
        values = {getattr(p, name) for p in people}
        top = max(values, key=lambda v: sum(getattr(p, name) == v for p in people))
        for v in values - {top}:
            for k in range(last):
                n = [sum(getattr(p, name) == w and p.depth >= k for p in people) for w in (v, top)]
                a = [sum(getattr(p, name) == w and p.depth > k for p in people) for w in (v, top)]
                if (name == field and k == step and group in (v, top)) is False and min(n) > 10:
                    assert z(a[0], n[0], a[1], n[1]) < 2.6, (name, v, k, a, n)
    files = files if isinstance(files, tuple) else (files,)
    steps = tuple(sum(p.depth > k for p in people) for k in range(last))
    common = {
        "files": files,
        "people": len(people) if count else 0,
        "favourable": steps[-1],
        "attribute": attribute,
        "group": group_cell,
        "against": against_cell,
        "step": step_name,
        "reached": reached,
        "of": of,
        "may_ask": may_ask,
    }
    return Full(**common, funnel=steps) if funnel else Truth(**common)


def text(
    path: Path,
    header: list[str],
    rows: list[list[object]],
    sep: str = ",",
    encoding: str = "utf-8",
    above: list[str] | None = None,
    below: list[str] | None = None,
) -> Path:
    out = io.StringIO()
    for line in above or []:
        out.write(line + "\r\n")
    writer = csv.writer(out, delimiter=sep, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    for line in below or []:
        out.write(line + "\r\n")
    path.write_bytes(out.getvalue().encode(encoding))
    return path


def book(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    wb = Workbook()
    wb.remove(wb.active)
    for title, rows in sheets.items():
        ws = wb.create_sheet(title)
        for row in rows:
            ws.append(row)
    wb.save(path)
    return path


def us(d: date) -> str:
    return f"{d.month}/{d.day}/{d.year}"


def pick(p: P, values: list[str], salt: int = 1) -> str:
    return values[(p.i * 31 + salt * 17 + int(p.extra * 1000)) % len(values)]


NAMES = [
    "Alex Moore",
    "Sam Diaz",
    "Jo Park",
    "Kim Lee",
    "Pat Young",
    "Chris Bell",
    "Robin Shah",
    "Lou Grant",
    "Dana Fox",
    "Max Weber",
    "Noa Cohen",
    "Ira Stone",
    "Val Cruz",
]
SEXES_D = {"Female": 0.44, "Male": 0.48, "": 0.08}


def greenhouse(folder: Path) -> Truth:
    """Greenhouse candidate report: status and the stage where each stands; two rows written twice."""
    races = {"White": 0.48, "Black": 0.2, "Hispanic": 0.12, "Asian": 0.12, "": 0.08}
    people = crowd(1101, 1100, [0.45, 0.6, 0.6, 0.55, 0.85], "race", "Black", 0, 0.26, races=races, leave=0.25)
    stage = [
        "Application Review",
        "Recruiter Phone Screen",
        "Hiring Manager Interview",
        "Onsite Interview",
        "Offer",
        "Offer",
    ]
    race = {
        "White": "White",
        "Black": "Black or African American",
        "Hispanic": "Hispanic or Latino",
        "Asian": "Asian",
        "": "Decline To Self Identify",
    }
    rows = []
    for p in people:
        hired = p.depth == 5
        why = (
            ""
            if hired
            else (
                "Candidate withdrew"
                if p.left
                else "Declined our offer"
                if p.depth == 4
                else pick(p, ["Lacking skill(s)/qualification(s)", "Hired other candidate", "Not a culture add"])
            )
        )
        kind = "" if hired else "They rejected us" if p.left or p.depth == 4 else "We rejected them"
        rows.append(
            [
                50312000 + p.i,
                9310000 + p.i,
                pick(p, NAMES),
                pick(p, ["Account Executive", "Support Specialist", "Data Analyst"], 2),
                p.applied.isoformat() + "T14:05:31Z",
                "Hired" if hired else "Rejected",
                stage[p.depth],
                kind,
                why,
                "" if hired else p.on(p.depth + 1).isoformat() + "T09:12:00Z",
                pick(p, ["LinkedIn", "Referral", "Jobs page"], 3),
                pick(p, ["", "", "Yes"], 4),
                p.sex if p.i % 14 else "Decline To Self Identify",
                race[p.race],
                pick(p, ["I am not a protected veteran", "I don't wish to answer"], 5),
            ]
        )
    rows.insert(300, rows[120])
    rows.append(rows[640])
    path = text(
        folder / "greenhouse_candidates_2024.csv",
        [
            "Application ID",
            "Candidate ID",
            "Candidate Name",
            "Job Name",
            "Application Date",
            "Status",
            "Current Stage",
            "Rejection Reason Type",
            "Rejection Reason",
            "Rejected At",
            "Source",
            "Referral",
            "Gender",
            "Race",
            "Veteran Status",
        ],
        rows,
    )
    return told(
        path,
        people,
        "race",
        "Black",
        "White",
        0,
        5,
        "Race",
        "Black or African American",
        "White",
        "Recruiter Phone Screen",
    )


def lever(folder: Path) -> Truth:
    """Lever opportunities: being hired is itself an archive reason."""
    people = crowd(
        102,
        950,
        [0.5, 0.5, 0.5, 0.8],
        "sex",
        "Female",
        1,
        0.28,
        sexes={"Female": 0.45, "Male": 0.5, "": 0.05},
        leave=0.2,
    )
    stage = ["New applicant", "Recruiter screen", "On-site interview", "Offer", "Offer"]
    rows = []
    for p in people:
        reason = (
            "Hired"
            if p.depth == 4
            else "Withdrew"
            if p.left
            else "Offer declined"
            if p.depth == 3
            else pick(p, ["Underqualified", "Not selected", "Position closed"])
        )
        rows.append(
            [
                f"{p.i * 7919 + 13:08x}-op",
                pick(p, NAMES),
                pick(p, ["Nurse Navigator", "Claims Analyst", "Care Coordinator"]),
                pick(p, ["Clinical", "Operations"], 2),
                pick(p, ["applied", "sourced", "referred", "agency"], 3),
                p.applied.strftime("%Y-%m-%d %H:%M:%S"),
                stage[p.depth],
                p.on(p.depth).strftime("%Y-%m-%d 10:00:00") if p.depth else "",
                p.on(p.depth + 1).strftime("%Y-%m-%d 17:30:00"),
                reason,
                f"REQ-{p.i % 40}" if p.depth == 4 else "",
                {"Female": "Woman", "Male": "Man", "": "I prefer not to answer"}[p.sex],
                pick(p, ["", "LinkedIn", "Campus"], 6),
            ]
        )
    path = text(
        folder / "lever_opportunities.csv",
        [
            "Opportunity ID",
            "Name",
            "Posting",
            "Team",
            "Origin",
            "Created At (GMT)",
            "Current Stage",
            "Last Advanced At (GMT)",
            "Archived At (GMT)",
            "Archive Reason",
            "Requisition ID",
            "Gender",
            "Tags",
        ],
        rows,
    )
    return told(path, people, "sex", "Female", "Male", 1, 4, "Gender", "Woman", "Man", "On-site interview")


def workday(folder: Path) -> Truth:
    """Workday custom report: title and prompts above, test candidates, a total below."""
    people = crowd(
        103,
        820,
        [0.6, 0.55, 0.5, 0.85],
        "race",
        "Hispanic",
        1,
        0.22,
        races={"White": 0.5, "Hispanic": 0.24, "Black": 0.14, "Asian": 0.12},
        leave=0.15,
    )
    stage = ["Review", "Screen", "Interview", "Offer", "Ready for Hire"]
    race = {
        "White": "White (Not Hispanic or Latino) (United States of America)",
        "Hispanic": "Hispanic or Latino (United States of America)",
        "Black": "Black or African American (Not Hispanic or Latino) (United States of America)",
        "Asian": "Asian (Not Hispanic or Latino) (United States of America)",
    }
    rows: list[list[object]] = [
        ["RPT - Candidate Pipeline by Requisition"],
        [],
        ["Company", "Northwind Health Inc."],
        ["Date Applied On or After", datetime(2024, 1, 1)],
        ["Candidate Stage", "Hired; Rejected; Withdrawn"],
        [],
        [
            "Candidate ID",
            "Candidate",
            "Job Requisition",
            "Date Applied",
            "Candidate Stage",
            "Last Recruiting Stage",
            "Disposition Reason",
            "Worker Type",
            "Gender",
            "Race/Ethnicity",
        ],
    ]
    for p in people:
        state = "Hired" if p.depth == 4 else "Withdrawn" if p.left or p.depth == 3 else "Rejected"
        why = (
            ""
            if state == "Hired"
            else "Candidate Withdrew"
            if p.left
            else "Offer Declined"
            if p.depth == 3
            else pick(p, ["Other candidate better qualified", "Does not meet preferred qualifications"])
        )
        rows.append(
            [
                f"C{100400 + p.i}",
                pick(p, NAMES),
                f"R-{2200 + p.i % 35} " + pick(p, ["RN", "Med Tech", "Scheduler"], 2),
                datetime(p.applied.year, p.applied.month, p.applied.day),
                state,
                stage[p.depth],
                why,
                pick(p, ["Regular", "Temporary"], 3),
                p.sex if p.i % 20 else "Not Declared",
                race[p.race],
            ]
        )
        if p.i in (200, 500):
            rows.append(
                [
                    f"C{999000 + p.i}",
                    "Test Candidate - DO NOT PROCESS",
                    "R-2200 RN",
                    datetime(2024, 5, 1),
                    "Rejected",
                    "Review",
                    "Test",
                    "Regular",
                    None,
                    None,
                ]
            )
    rows += [[], ["Total", None, len(people) + 2]]
    path = book(folder / "RPT_Candidate_Pipeline.xlsx", {"Sheet1": rows})
    return told(
        path,
        people,
        "race",
        "Hispanic",
        "White",
        1,
        4,
        "Race/Ethnicity",
        race["Hispanic"],
        race["White"],
        "Interview",
        count=False,
    )


def icims(folder: Path) -> Truth:
    """iCIMS: a date per step, a bin and status, American dates."""
    people = crowd(1104, 1000, [0.5, 0.55, 0.45, 0.85], "sex", "Female", 1, 0.3, sexes=SEXES_D)
    rows = []
    for p in people:
        rows.append(
            [
                700100 + p.i,
                f"2024-{1000 + p.i % 60}",
                pick(p, ["Warehouse Associate", "Driver", "Dispatcher"]),
                pick(p, ["Hired"]) if p.depth == 4 else "Not Selected",
                "Hired: Hired"
                if p.depth == 4
                else "Rejected: Declined Offer"
                if p.depth == 3
                else pick(p, ["Rejected: Better Qualified Selected", "Rejected: Did Not Meet Qualifications"], 2),
                us(p.applied),
            ]
            + [us(p.on(k)) if p.depth >= k else "" for k in (1, 2, 3, 4)]
            + [
                us(p.on(4) + timedelta(days=14)) if p.depth == 4 else "",
                {"Female": "Female", "Male": "Male", "": "I choose not to disclose"}[p.sex],
                pick(p, ["Not a Veteran", "Protected Veteran", ""], 8),
            ]
        )
    path = text(
        folder / "icims_recruiting_workflow.csv",
        [
            "Person : System ID",
            "Job : Job ID",
            "Job : Job Title",
            "Recruiting Workflow Profile : Bin",
            "Recruiting Workflow Profile : Status",
            "Date : Submitted",
            "Date : Phone Screened",
            "Date : Interviewed",
            "Date : Offer Extended",
            "Date : Hired",
            "Date : Started",
            "EEO : Gender",
            "EEO : Veteran",
        ],
        rows,
        encoding="utf-8-sig",
    )
    return told(path, people, "sex", "Female", "Male", 1, 4, "EEO : Gender", "Female", "Male", "Interviewed")


def taleo(folder: Path) -> Truth:
    """Taleo submissions: the last step of the workflow, numbered, and its status; the header again on the second page."""
    people = crowd(
        105,
        900,
        [0.6, 0.5, 0.6, 0.6, 0.85],
        "race",
        "Asian",
        1,
        0.24,
        races={"White": 0.5, "Asian": 0.22, "Black": 0.16, "Hispanic": 0.12},
        leave=0.15,
    )
    step = ["1. Initial Review", "2. Prescreening", "3. First Interview", "4. Second Interview", "5. Offer", "6. Hire"]
    race = {
        "White": "White (not Hispanic)",
        "Asian": "Asian (not Hispanic)",
        "Black": "Black or African American (not Hispanic)",
        "Hispanic": "Hispanic or Latino",
    }
    rows = [
        [
            880000 + p.i,
            f"240{p.i % 70:03d}",
            310000 + p.i * 3,
            pick(p, ["Retail", "Logistics", "Corporate"]),
            p.applied.strftime("%d-%b-%Y"),
            step[p.depth],
            "Hired" if p.depth == 5 else "Has Declined" if p.left else "Offer Refused" if p.depth == 4 else "Rejected",
            pick(p, ["Internal", "External"], 5),
            p.on(p.depth + 1).strftime("%d-%b-%Y"),
            p.sex if p.i % 25 else "Not specified",
            race[p.race],
        ]
        for p in people
    ]
    header = [
        "Submission Number",
        "Requisition Number",
        "Candidate Number",
        "Job Field",
        "Submission Date",
        "Last Step Reached",
        "Status",
        "Candidate Type",
        "Status Date",
        "Gender",
        "EEO Race",
    ]
    rows = [*rows[:450], header, *rows[450:]]
    path = text(
        folder / "taleo_submissions.csv",
        header,
        rows,
        above=["Submission Activity Report"],
        below=["", f"Total submissions: {len(people)}"],
    )
    return told(
        path, people, "race", "Asian", "White", 1, 5, "EEO Race", race["Asian"], race["White"], "First Interview"
    )


def successfactors(folder: Path) -> Truth:
    """SuccessFactors audit trail: one row per change of status, some written twice, not in order of the application."""
    people = crowd(1106, 460, [0.55, 0.6, 0.5, 0.9], "sex", "Female", 0, 0.34)
    names = ["New Application", "Recruiter Screen", "Interview", "Offer Extended", "Hired"]
    rows = []
    for p in people:
        head = [40100 + p.i, 77000 + p.i, f"JR{p.i % 30 + 500}"]
        tail = [pick(p, ["R. Hale", "M. Ortiz", "K. Singh"]), p.sex if p.i % 30 else "Undisclosed", p.race]
        trail = [(p.applied, names[0])] + [(p.on(k), names[k]) for k in range(1, p.depth + 1)]
        if p.depth < 4:
            trail.append((p.on(p.depth + 1) + timedelta(days=2), "Offer Declined" if p.depth == 3 else "Rejected"))
        rows += [[*head, s, d.strftime("%m/%d/%Y"), *tail] for d, s in trail]
        if p.i % 60 == 7:
            rows.append(rows[-1])
    rows.sort(key=lambda r: datetime.strptime(r[4], "%m/%d/%Y"), reverse=True)
    path = text(
        folder / "sf_application_status_audit.csv",
        [
            "Application ID",
            "Candidate ID",
            "Job Req ID",
            "Application Status",
            "Status Date",
            "Changed By",
            "Gender",
            "Ethnicity",
        ],
        rows,
    )
    for p in people:
        if p.i % 30 == 0:
            p.sex = ""
    return told(path, people, "sex", "Female", "Male", 0, 4, "Gender", "Female", "Male", "Recruiter Screen")


def ofccp_log(folder: Path) -> Truth:
    """An OFCCP applicant flow log with disposition codes; the legend is on a second sheet."""
    races = {"White": 0.5, "Black": 0.24, "Hispanic": 0.14, "Asian": 0.09, "": 0.03}
    people = crowd(107, 700, [0.5, 0.5, 0.8], "race", "Black", 0, 0.29, races=races, leave=0.2)
    code = {"White": "W", "Black": "B", "Hispanic": "H", "Asian": "A", "": "U"}
    rows: list[list[object]] = [
        ["Applicant Flow Log - AAP Plan Year 2024"],
        ["Establishment: Dayton Plant 2"],
        [],
        [
            "Req #",
            "Applicant Name",
            "App. Date",
            "Job Title",
            "Job Group",
            "Sex",
            "Race",
            "Source",
            "Disp. Code",
            "Hire Date",
        ],
    ]
    for p in people:
        disp = {3: "H1", 2: "D1" if p.i % 2 else "B1", 1: "W2" if p.left else "I1", 0: "N1" if p.i % 3 else "N2"}[
            p.depth
        ]
        rows.append(
            [
                f"24-{p.i % 45:03d}",
                f"{pick(p, NAMES)} {p.i}",
                datetime(p.applied.year, p.applied.month, p.applied.day),
                pick(p, ["Assembler", "Machinist", "Clerk"]),
                pick(p, ["7A", "8B", "5C"]),
                p.sex[0],
                code[p.race],
                pick(p, ["Indeed", "Walk-in", "State WF Agency"], 4),
                disp,
                datetime(2024, 12, 20) if p.depth == 3 else None,
            ]
        )
    legend: list[list[object]] = [
        ["Code", "Description"],
        ["N1", "Not selected for interview - less qualified than those interviewed"],
        ["N2", "Not selected for interview - lacks preferred experience"],
        ["I1", "Interviewed, not selected"],
        ["W2", "Interviewed, then withdrew"],
        ["D1", "Offer made, declined by applicant"],
        ["B1", "Offer made, failed pre-employment screen"],
        ["H1", "Hired"],
        [],
        ["W", "White"],
        ["B", "Black or African American"],
        ["H", "Hispanic or Latino"],
        ["A", "Asian"],
        ["U", "Unknown / did not self-identify"],
    ]
    path = book(folder / "AAP_2024_applicant_log.xlsx", {"Applicant Log": rows, "Codes": legend})
    return told(
        path, people, "race", "Black", "White", 0, 3, "Race", "B|Black or African American", "W|White", "Interview"
    )


def jazzhr(folder: Path) -> Truth:
    """JazzHR: hired or not, with a reason; two date styles, "female" and "FEMALE" beside "Female"."""
    people = crowd(108, 640, [0.3], "sex", "Female", 0, 0.14, sexes=SEXES_D)
    rows = []
    for p in people:
        when = us(p.applied) if p.i % 3 else p.applied.strftime("%b %d, %Y")
        rows.append(
            [
                pick(p, NAMES).split()[0],
                pick(p, NAMES, 3).split()[1],
                f"cand{p.i}@example.com",
                pick(p, ["Barista", "Shift Lead", "Baker"]),
                when,
                "Hired"
                if p.depth
                else pick(
                    p,
                    [
                        "Not Hired - Not a Fit",
                        "Not Hired - More Qualified Candidate",
                        "Not Hired - Did Not Meet Requirements",
                    ],
                ),
                int(p.extra * 5) + 1,
                pick(p, ["Yes", "No"], 3),
                {"": "Decline to Answer"}.get(
                    p.sex, p.sex if p.i % 6 else pick(p, [p.sex.lower(), p.sex.upper(), p.sex + " "])
                ),
                p.race if p.i % 9 else "Decline to Answer",
            ]
        )
    path = text(
        folder / "jazzhr_applicants.csv",
        [
            "First Name",
            "Last Name",
            "Email",
            "Job",
            "Apply Date",
            "Disposition",
            "Rating",
            "Would you relocate?",
            "EEOC Gender",
            "EEOC Race",
        ],
        rows,
    )
    return told(path, people, "sex", "Female", "Male", 0, 1, "EEOC Gender", "Female", "Male", "Hired", funnel=False)


def workable(folder: Path) -> Truth:
    """Workable: candidates in one file, a voluntary EEO survey in another, answered by most."""
    people = crowd(1109, 860, [0.5, 0.5, 0.5, 0.85], "sex", "Female", 0, 0.33, leave=0.15)
    stage = ["Applied", "Phone Screen", "Interview", "Offer", "Hired"]
    rows = [
        [
            f"wk{p.i * 37 + 11:06d}",
            pick(p, NAMES),
            pick(p, ["Field Engineer", "Estimator", "Buyer"]),
            p.applied.isoformat(),
            stage[p.depth],
            "" if p.depth == 4 else "Yes",
            ""
            if p.depth == 4
            else "Withdrew"
            if p.left
            else "Declined offer"
            if p.depth == 3
            else pick(p, ["Under-qualified", "Salary expectations", "Other"], 2),
            pick(p, ["Indeed", "Careers page", "Referral"], 3),
        ]
        for p in people
    ]
    first = text(
        folder / "workable_candidates.csv",
        ["Candidate ID", "Name", "Job", "Applied on", "Stage", "Disqualified", "Disqualification reason", "Source"],
        rows,
    )
    survey = []
    for p in sorted(people, key=lambda p: p.extra):
        if p.i % 8 == 0:
            p.sex, p.race = "", ""
            continue
        if p.i % 17 == 0:
            p.sex = ""
        survey.append(
            [
                f"wk{p.i * 37 + 11:06d}",
                p.applied.strftime("%Y-%m-%d 08:%M"),
                p.sex or "Decline to self-identify",
                p.race,
                pick(p, ["Yes", "No", "Decline to self-identify"], 7),
            ]
        )
    second = text(
        folder / "workable_eeo_survey.csv",
        ["Candidate ID", "Submitted", "Gender", "Race/Ethnicity", "Disability"],
        survey,
    )
    return told((first, second), people, "sex", "Female", "Male", 0, 4, "Gender", "Female", "Male", "Phone Screen")


def ashby(folder: Path) -> Truth:
    """Ashby: a time for every stage reached; whoever has neither a hire nor an archive reason is still active."""
    people = crowd(
        1110,
        1050,
        [0.5, 0.55, 0.45, 0.85],
        "race",
        "Asian",
        1,
        0.3,
        races={"White": 0.46, "Asian": 0.26, "Black": 0.12, "Hispanic": 0.1, "": 0.06},
        leave=0.25,
    )
    race = {"": "I don't wish to answer", "Hispanic": "Hispanic or Latino", "Black": "Black or African American"}
    rows = [
        [
            f"app_{p.i:05d}",
            pick(p, NAMES),
            pick(p, ["Backend Engineer", "Product Designer", "SRE"]),
            p.applied.isoformat() + "T16:20:00.000Z",
        ]
        + [p.on(k).isoformat() + f"T{9 + p.i % 8:02d}:30:00.000Z" if p.depth >= k else "" for k in (1, 2, 3, 4)]
        + [
            ""
            if p.depth == 4 or p.left
            else "Candidate declined offer"
            if p.depth == 3
            else pick(p, ["Skills mismatch", "Level mismatch", "Role filled"], 3),
            pick(p, ["Inbound", "Sourced", "Referral"], 4),
            p.sex if p.i % 16 else "I don't wish to answer",
            race.get(p.race, p.race),
        ]
        for p in people
    ]
    path = text(
        folder / "ashby_applications.csv",
        [
            "Application Id",
            "Candidate",
            "Job",
            "Applied At",
            "Recruiter Screen At",
            "Technical Interview At",
            "Offer Extended At",
            "Hired At",
            "Archive Reason",
            "Source",
            "Gender",
            "Race",
        ],
        rows,
    )
    return told(
        path, people, "race", "Asian", "White", 1, 4, "Race", "Asian", "White", "Technical Interview", count=False
    )


def adp_rif(folder: Path) -> Truth:
    """A layoff roster from ADP with the decision for every employee in scope."""
    people = crowd(111, 620, [0.8], "sex", "none", 0, 0.8)
    rng = np.random.default_rng(1110)
    for p in people:
        p.depth = int(rng.random() < (0.66 if p.age >= 40 else 0.87))
    rows = [
        [
            f"{600000 + p.i}",
            f"{pick(p, NAMES)}",
            pick(p, ["Engineering", "Finance", "Field Ops"]),
            us(date(2024 - int(p.extra * 15) - 1, p.applied.month, 11)),
            "40 and over" if p.age >= 40 else "Under 40",
            p.sex,
            p.race,
            pick(p, ["Meets", "Exceeds", "Partially Meets"], 4),
            pick(p, ["Exempt", "Non-Exempt"], 5),
            "Retained" if p.depth else "Selected for Separation",
            "" if p.depth else "02/28/2025",
            "" if p.depth else str(int(4 + p.extra * 20)),
        ]
        for p in people
    ]
    path = text(
        folder / "RIF_2025_decisional_unit.csv",
        [
            "Associate ID",
            "Name",
            "Department",
            "Hire Date",
            "Age Group",
            "Gender",
            "Race",
            "2024 Rating",
            "FLSA",
            "RIF Decision",
            "Separation Date",
            "Severance (weeks)",
        ],
        rows,
        above=[
            "PRIVILEGED & CONFIDENTIAL - prepared at the direction of counsel",
            "Decisional unit: all US employees as of 01/31/2025",
            "",
        ],
    )
    for p in people:
        p.age = "old" if p.age >= 40 else "young"  # type: ignore[assignment]
    return told(
        path, people, "age", "old", "young", 0, 1, "Age Group", "40 and over", "Under 40", "Retained", funnel=False
    )


def ukg_promotions(folder: Path) -> Truth:
    """A promotion cycle from UKG with yes/no steps, a blank line per division and a total."""
    people = crowd(2112, 540, [0.6, 0.55, 0.6], "sex", "Female", 1, 0.3)
    rows: list[list[object]] = [
        ["FY24 Promotion Cycle - Candidates Considered"],
        [],
        [
            "Employee #",
            "Division",
            "Current Grade",
            "Tenure (yrs)",
            "Gender",
            "Ethnicity",
            "Mentor Program",
            "Nominated",
            "Panel Interview",
            "Promoted",
        ],
    ]
    yes = lambda flag: "Yes" if flag else "No"  # noqa: E731
    for division in ("Commercial", "Corporate", "Operations"):
        mine = [p for p in people if ("Commercial", "Corporate", "Operations")[p.i % 3] == division]
        rows += [
            [
                20000 + p.i,
                division,
                f"G{6 + p.i % 4}",
                round(1 + p.extra * 12, 1),
                p.sex,
                p.race,
                yes(p.extra > 0.7),
                yes(p.depth > 0),
                yes(p.depth > 1),
                yes(p.depth > 2),
            ]
            for p in mine
        ]
        rows.append([])
    rows.append(
        ["Total", len(people), None, None, None, None, None, *(sum(p.depth > k for p in people) for k in range(3))]
    )
    path = book(folder / "FY24_promotion_cycle.xlsx", {"Candidates": rows})
    return told(path, people, "sex", "Female", "Male", 1, 3, "Gender", "Female", "Male", "Panel Interview")


def paycom_refuse(folder: Path) -> Truth:
    """Paycom: the EEO answers are collected at onboarding, so only those hired have any."""
    people = crowd(113, 520, [0.24], "sex", "none", 0, 0.3)
    rows = [
        [
            f"A{4000 + p.i}",
            pick(p, NAMES),
            pick(p, ["Server", "Line Cook", "Host"]),
            us(p.applied),
            "Hired" if p.depth else "Not Hired",
            us(p.on(3)) if p.depth else "",
            p.sex if p.depth else "",
            p.race if p.depth else "",
        ]
        for p in people
    ]
    path = text(
        folder / "paycom_applicant_tracking.csv",
        ["Applicant Code", "Name", "Position", "Applied", "Status", "Hire Date", "Gender", "Ethnicity"],
        rows,
    )
    return Truth((path,), 0, 0, "Gender", "Female", "Male", "Hired", (0, 0), (0, 0), refuse=True)


def neogov_exam(folder: Path) -> Truth:
    """NEOGOV: a civil-service examination from application to appointment."""
    people = crowd(
        114,
        760,
        [0.85, 0.72, 0.7, 0.6, 0.5],
        "race",
        "Hispanic",
        1,
        0.44,
        races={"White": 0.5, "Hispanic": 0.22, "Black": 0.18, "Asian": 0.1},
    )
    race = {"Hispanic": "Hispanic or Latino", "Black": "Black or African American"}
    rows: list[list[object]] = [
        ["City of Fairview - Civil Service Commission"],
        ["Exam Plan 24-0117 Firefighter Recruit"],
        [],
        [
            "Person ID",
            "Received",
            "Minimum Qualifications",
            "Written Score",
            "Written Exam",
            "Oral Board Score",
            "Oral Board",
            "Vet. Points",
            "Certified to Department",
            "Appointed",
            "Gender",
            "Ethnicity",
        ],
    ]
    for p in people:
        written = None if p.depth < 1 else round(70 + p.extra * 28, 1) if p.depth > 1 else round(48 + p.extra * 21, 1)
        oral = (
            None
            if p.depth < 2
            else round(70 + (p.i * 13 % 280) / 10, 1)
            if p.depth > 2
            else round(50 + (p.i * 13 % 190) / 10, 1)
        )
        rows.append(
            [
                3300000 + p.i,
                p.applied.strftime("%m/%d/%Y"),
                "Met" if p.depth else "Not met",
                written,
                None if p.depth < 1 else "Pass" if p.depth > 1 else "Fail",
                oral,
                None if p.depth < 2 else "Pass" if p.depth > 2 else "Fail",
                pick(p, ["0", "0", "0", "5"], 2),
                None if p.depth < 3 else "Yes" if p.depth > 3 else "No",
                None if p.depth < 4 else "Yes" if p.depth > 4 else "No",
                p.sex,
                race.get(p.race, p.race),
            ]
        )
    path = book(folder / "exam_24-0117_results.xlsx", {"Results": rows})
    return told(
        path, people, "race", "Hispanic", "White", 1, 5, "Ethnicity", "Hispanic or Latino", "White", "Written Exam"
    )


def usajobs_afd(folder: Path) -> Truth:
    """Applicant flow data as USA Staffing sums it up: everybody, then by sex, then by race."""
    people = crowd(115, 1180, [0.7, 0.6, 0.2], "sex", "Female", 1, 0.42, sexes={"Female": 0.42, "Male": 0.5, "": 0.08})
    race = {"White": "White", "Black": "Black or African American", "Hispanic": "Hispanic or Latino", "Asian": "Asian"}
    line = lambda name, some: [name, *(f"{sum(p.depth >= k for p in some):,}" for k in range(4))]  # noqa: E731
    rows = [line("All applicants", people), ["By sex", "", "", "", ""]]
    rows += [
        line(label, [p for p in people if p.sex == v])
        for v, label in (("Male", "Male"), ("Female", "Female"), ("", "Did not identify"))
    ]
    rows += [["By race/national origin", "", "", "", ""]] + [
        line(race[v], [p for p in people if p.race == v]) for v in race
    ]
    path = text(
        folder / "applicant_flow_summary.csv",
        ["Group", "Applied", "Qualified", "Referred", "Selected"],
        rows,
        above=["Applicant Flow Data - GS-0301 series - FY2024", ""],
        below=["", "Source: USA Staffing. Voluntary responses."],
    )
    return told(path, people, "sex", "Female", "Male", 1, 3, "sex", "Female", "Male", "Referred")


def personio_de(folder: Path) -> Truth:
    """Personio, German Excel CSV: the last phase and the status."""
    people = crowd(
        116,
        780,
        [0.55, 0.55, 0.5, 0.85],
        "sex",
        "Female",
        1,
        0.3,
        sexes={"Female": 0.46, "Male": 0.48, "": 0.06},
        leave=0.15,
    )
    phase = ["Sichtung", "Telefoninterview", "Vorstellungsgespräch", "Angebot", "Eingestellt"]
    rows = [
        [
            10500 + p.i,
            pick(p, ["Sachbearbeitung Einkauf", "Pflegefachkraft", "Buchhaltung"]),
            pick(p, ["Köln", "München"], 2),
            p.applied.strftime("%d.%m.%Y"),
            phase[p.depth],
            "Eingestellt" if p.depth == 4 else "Zurückgezogen" if p.left or p.depth == 3 else "Abgesagt",
            ""
            if p.depth == 4
            else "Bewerber hat zurückgezogen"
            if p.left
            else "Angebot abgelehnt"
            if p.depth == 3
            else pick(p, ["Qualifikation nicht passend", "Andere Person ausgewählt"], 3),
            f"{38 + p.extra * 30:.1f}".replace(".", ","),
            {"Female": "weiblich", "Male": "männlich", "": "keine Angabe"}[p.sex],
            pick(p, ["ja", "nein", "nein"], 5),
        ]
        for p in people
    ]
    path = text(
        folder / "Bewerbungen_2024.csv",
        [
            "Bewerbungs-ID",
            "Stelle",
            "Standort",
            "Eingangsdatum",
            "Letzte Phase",
            "Status",
            "Absagegrund",
            "Gehaltswunsch (T€)",
            "Geschlecht",
            "Interne Bewerbung",
        ],
        rows,
        sep=";",
        encoding="cp1252",
    )
    return told(
        path, people, "sex", "Female", "Male", 1, 4, "Geschlecht", "weiblich", "männlich", "Vorstellungsgespräch"
    )


def gemeente_nl(folder: Path) -> Truth:
    """A Dutch municipality's list, with yes or no for every round."""
    races = {"White": 0.6, "Black": 0.26, "Asian": 0.14}
    people = crowd(117, 640, [0.5, 0.5, 0.7], "race", "Black", 0, 0.29, races=races)
    origin = {"White": "Nederland", "Black": "Buiten Europa", "Asian": "Europa (excl. Nederland)"}
    ja = lambda p, k: "Ja" if p.depth >= k else "Nee" if p.depth == k - 1 else ""  # noqa: E731
    rows = [
        [
            f"S{2400 + p.i}",
            pick(p, ["Beleidsadviseur", "Handhaver", "Administratief medewerker"]),
            p.applied.strftime("%d-%m-%Y"),
            {"Female": "Vrouw", "Male": "Man"}[p.sex],
            origin[p.race],
            pick(p, ["hbo", "mbo", "wo"], 4),
            pick(p, ["16 uur", "32 uur", "36 uur"], 5),
            ja(p, 1),
            ja(p, 2),
            ja(p, 3),
        ]
        for p in people
    ]
    path = text(
        folder / "sollicitanten_gemeente.csv",
        [
            "Sollicitatienr",
            "Functie",
            "Datum ontvangst",
            "Geslacht",
            "Herkomst",
            "Opleiding",
            "Omvang",
            "Eerste gesprek",
            "Tweede gesprek",
            "Aangenomen",
        ],
        rows,
        sep=";",
        encoding="utf-8-sig",
    )
    return told(
        path, people, "race", "Black", "White", 0, 3, "Herkomst", "Buiten Europa", "Nederland", "Eerste gesprek"
    )


def concours_fr(folder: Path) -> Truth:
    """A French competitive examination: admissible, then admitted."""
    people = crowd(118, 700, [0.48, 0.5], "sex", "Female", 0, 0.3)
    rows = []
    for p in people:
        ecrit = 12 + p.extra * 7 if p.depth else 4 + p.extra * 7.9
        oral = (12 + (p.i % 50) / 10 if p.depth > 1 else 5 + (p.i % 60) / 10) if p.depth else None
        rows.append(
            [
                f"C-{p.i + 1:04d}",
                pick(p, ["Lille", "Lyon", "Créteil"]),
                {"Female": "Femme", "Male": "Homme"}[p.sex],
                f"{p.applied.day:02d}/{p.applied.month:02d}/{2024 - p.age}",
                pick(p, ["Externe", "Interne"], 3),
                f"{ecrit:.2f}".replace(".", ","),
                "Oui" if p.depth else "Non",
                "" if oral is None else f"{oral:.2f}".replace(".", ","),
                "" if not p.depth else "Oui" if p.depth > 1 else "Non",
            ]
        )
    path = text(
        folder / "resultats_concours_attache.csv",
        [
            "N° candidat",
            "Centre d'examen",
            "Sexe",
            "Date de naissance",
            "Voie",
            "Note écrit (/20)",
            "Admissible",
            "Note oral (/20)",
            "Admis",
        ],
        rows,
        sep=";",
        encoding="cp1252",
        above=["Concours d'attaché territorial - session 2024", ""],
    )
    return told(path, people, "sex", "Female", "Male", 0, 2, "Sexe", "Femme", "Homme", "Admissible")


def candidaturas_es(folder: Path) -> Truth:
    """A Spanish log of applications, with a date for each step reached."""
    people = crowd(
        119, 820, [0.55, 0.5, 0.5, 0.85], "sex", "Female", 1, 0.27, sexes={"Female": 0.46, "Male": 0.47, "": 0.07}
    )
    es = lambda d: d.strftime("%d/%m/%Y")  # noqa: E731
    rows = [
        [
            f"ES-{p.i + 3000}",
            pick(p, ["Dependiente/a", "Mozo de almacén", "Contable"]),
            pick(p, ["Valencia", "Sevilla", "Bilbao"], 2),
            es(p.applied),
        ]
        + [es(p.on(k)) if p.depth >= k else "" for k in (1, 2, 3, 4)]
        + [
            ""
            if p.depth == 4
            else "Rechaza la oferta"
            if p.depth == 3
            else pick(p, ["Perfil no adecuado", "Otro candidato elegido"], 3),
            {"Female": "Mujer", "Male": "Hombre", "": "Prefiere no contestar"}[p.sex],
            pick(p, ["Española", "Marroquí", "Rumana", "Española", "Española"], 4),
        ]
        for p in people
    ]
    path = text(
        folder / "candidaturas_2024.csv",
        [
            "Código",
            "Puesto",
            "Centro",
            "Fecha de solicitud",
            "Fecha preselección",
            "Fecha entrevista",
            "Fecha oferta",
            "Fecha contratación",
            "Motivo de descarte",
            "Sexo",
            "Nacionalidad",
        ],
        rows,
        sep=";",
        encoding="utf-8-sig",
    )
    return told(path, people, "sex", "Female", "Male", 1, 4, "Sexo", "Mujer", "Hombre", "entrevista")


def bolsas_pt(folder: Path) -> Truth:
    """A Brazilian scholarship: written test, interview, final result."""
    races = {"White": 0.48, "Black": 0.24, "Hispanic": 0.2, "": 0.08}
    people = crowd(120, 740, [0.55, 0.6, 0.6], "race", "Black", 0, 0.33, races=races)
    cor = {"White": "Branca", "Black": "Preta", "Hispanic": "Parda", "": "Não declarada"}
    res = lambda p, k: "Aprovado" if p.depth >= k else "Reprovado" if p.depth == k - 1 else "-"  # noqa: E731
    rows: list[list[object]] = [
        ["Programa de Bolsas 2024 - Resultado por inscrito"],
        [],
        [
            "Inscrição",
            "Curso",
            "Data de inscrição",
            "Sexo",
            "Cor/Raça",
            "Renda per capita (R$)",
            "Prova escrita",
            "Entrevista",
            "Resultado final",
        ],
    ]
    rows += [
        [
            20240000 + p.i,
            pick(p, ["Direito", "Enfermagem", "Pedagogia"]),
            p.applied.strftime("%d/%m/%Y"),
            {"Female": "Feminino", "Male": "Masculino"}[p.sex],
            cor[p.race],
            round(300 + p.extra * 1800, 2),
            res(p, 1),
            res(p, 2),
            "Contemplado" if p.depth == 3 else "Não contemplado",
        ]
        for p in people
    ]
    path = book(folder / "bolsas_2024.xlsx", {"Resultado": rows})
    return told(path, people, "race", "Black", "White", 0, 3, "Cor/Raça", "Preta", "Branca", "Prova escrita")


def admissions(folder: Path) -> Truth:
    """A university's decisions: admit, wait list or deny."""
    people = crowd(
        121,
        1150,
        [0.42],
        "race",
        "Black",
        0,
        0.24,
        races={"White": 0.44, "Black": 0.2, "Hispanic": 0.16, "Asian": 0.14, "": 0.06},
    )
    race = {"": "Unknown", "Hispanic": "Hispanic of any race", "Black": "Black or African American"}
    rows = [
        [
            900100 + p.i,
            "Fall 2025",
            pick(p, ["Early Action", "Regular"]),
            p.applied.isoformat(),
            p.sex,
            race.get(p.race, p.race),
            pick(p, ["Y", "N", "N"], 3),
            pick(p, ["N", "N", "N", "Y"], 4),
            pick(p, ["In-State", "Out-of-State"], 5),
            round(2.6 + p.extra * 1.4, 2),
            "Admit" if p.depth else pick(p, ["Deny", "Deny", "Deny", "Wait List"], 6),
        ]
        for p in people
    ]
    path = text(
        folder / "slate_decisions_fall25.csv",
        [
            "Ref",
            "Term",
            "Round",
            "Submitted",
            "Sex",
            "IPEDS Race/Ethnicity",
            "First Generation",
            "Legacy",
            "Residency",
            "HS GPA",
            "Decision",
        ],
        rows,
    )
    return told(
        path,
        people,
        "race",
        "Black",
        "White",
        0,
        1,
        "IPEDS Race/Ethnicity",
        "Black or African American",
        "White",
        "Admit",
        funnel=False,
    )


def pageup(folder: Path) -> Truth:
    """PageUp: the step is inside the text of the outcome."""
    people = crowd(122, 680, [0.46, 0.5, 0.85], "sex", "Female", 0, 0.3, sexes={"Female": 0.45, "Male": 0.51, "": 0.04})
    rows = []
    for p in people:
        outcome = {
            0: "Unsuccessful - not shortlisted for interview",
            1: "Unsuccessful after interview",
            2: "Unsuccessful after reference check",
            3: "Appointed",
        }[p.depth]
        rows.append(
            [
                f"{492000 + p.i}",
                pick(p, ["Lecturer", "Research Officer", "Student Adviser"]),
                pick(p, ["Arts", "Science", "Medicine"], 2),
                p.applied.strftime("%d %b %Y"),
                outcome,
                pick(p, ["Fixed term", "Continuing"], 3),
                {"": "Prefer not to say"}.get(p.sex, p.sex),
                pick(p, ["Yes", "No", "No"], 5),
            ]
        )
    path = text(
        folder / "pageup_applicant_outcomes.csv",
        [
            "Application No.",
            "Position",
            "Faculty",
            "Date received",
            "Application Outcome",
            "Contract",
            "Gender",
            "Language other than English at home",
        ],
        rows,
        below=["", f"{len(rows)} records"],
    )
    return told(path, people, "sex", "Female", "Male", 0, 3, "Gender", "Female", "Male", "interview", funnel=False)


def aap_summary(folder: Path) -> Truth:
    """An affirmative-action plan's table by job group, one pair of columns for each sex, with totals."""
    people = crowd(123, 1160, [0.27], "sex", "Female", 0, 0.15)
    groups = ["1A Managers", "2A Professionals", "5A Clerical", "7A Operatives", "9A Service"]
    rows: list[list[object]] = [
        ["Adverse Impact Analysis by Gender - Hires 01/01/2024 to 12/31/2024"],
        [],
        [
            "Job Group",
            "Male Applicants",
            "Male Hires",
            "Female Applicants",
            "Female Hires",
            "Total Applicants",
            "Total Hires",
        ],
    ]
    total = [0] * 6
    for number, name in enumerate(groups):
        mine = [p for p in people if p.i % 5 == number]
        six = [
            k
            for v in ("Male", "Female")
            for k in (sum(p.sex == v for p in mine), sum(p.sex == v and p.depth > 0 for p in mine))
        ]
        six += [six[0] + six[2], six[1] + six[3]]
        total = [a + b for a, b in zip(total, six, strict=True)]
        rows.append([name, *six])
    rows.append(["Total", *total])
    path = book(folder / "AAP_adverse_impact_summary.xlsx", {"By Gender": rows})
    return told(path, people, "sex", "Female", "Male", 0, 1, "Gender", "Female", "Male", "Hires", funnel=False)


def cornerstone_codes(folder: Path) -> Truth:
    """Cornerstone internal applications whose outcome is an unexplained code: the file cannot tell which is good."""
    people = crowd(124, 600, [0.42], "sex", "Female", 0, 0.24)
    rows = [
        [
            f"U{8800 + p.i}",
            pick(p, ["Team Lead", "Analyst II", "Planner"]),
            p.applied.isoformat(),
            3 if p.depth else 7,
            p.sex,
            p.race,
        ]
        for p in people
    ]
    path = text(
        folder / "csod_internal_applications.csv",
        ["User ID", "Opportunity", "Submitted", "Outcome Code", "Gender", "Ethnicity"],
        rows,
    )
    return told(
        path, people, "sex", "Female", "Male", 0, 1, "Gender", "Female", "Male", "3", funnel=False, may_ask=True
    )


INDEPENDENT: dict[str, Callable[[Path], Truth]] = {
    f.__name__: f
    for f in (
        greenhouse,
        lever,
        workday,
        icims,
        taleo,
        successfactors,
        ofccp_log,
        jazzhr,
        workable,
        ashby,
        adp_rif,
        ukg_promotions,
        paycom_refuse,
        neogov_exam,
        usajobs_afd,
        personio_de,
        gemeente_nl,
        concours_fr,
        candidaturas_es,
        bolsas_pt,
        admissions,
        pageup,
        aap_summary,
        cornerstone_codes,
    )
}

FIRST_RUN = {
    "paycom_refuse": "misread",
    "usajobs_afd": "misread",
    "cornerstone_codes": "asked, then right",
}
"""What the first run did not read right, before anybody who works on the reading had seen an export."""
