"""Exports that the tool has never seen, each with its truth: the second judge's.

Every function writes one export, in the manner of a system, a body or a small
firm, from people made up with a planted difference between two groups at one
step, and returns what a careful person who sees only the file would find.
Seeds are fixed: the same file is written every time.

`INDEPENDENT` names the functions.
"""

import csv
import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
from openpyxl import Workbook

from exports.fresh import Full
from exports.unseen import Truth

Row = Sequence[object]
SURNAMES = [
    "Adams",
    "Baker",
    "Castro",
    "Diaz",
    "Evans",
    "Fischer",
    "Garcia",
    "Hansen",
    "Ito",
    "Jones",
    "Kaya",
    "Lopez",
    "Martin",
    "Novak",
    "Okafor",
    "Petit",
    "Quinn",
    "Rossi",
    "Silva",
    "Tran",
    "Ueda",
    "Varga",
    "Weber",
    "Xu",
    "Young",
    "Zhang",
]


# - people -------------------------------------------------------------------
@dataclass
class Person:
    """Somebody who applied: their group, how many steps they reached, whether they left."""

    number: int
    group: str
    reached: int
    left: bool


@dataclass
class Cohort:
    """All who applied, with the random numbers that their other answers come from."""

    people: list[Person]
    rng: np.random.Generator

    def pick(self, choices: Sequence[str], weights: Sequence[float] | None = None) -> str:
        """One of the choices, by chance."""
        if weights is not None:
            weights = np.asarray(weights) / np.sum(weights)
        return choices[int(self.rng.choice(len(choices), p=weights))]

    def day(self, first: date, days: int) -> date:
        """A day within so many days of the first."""
        return first + timedelta(days=int(self.rng.integers(days)))

    def later(self, day: date, days: int = 20) -> date:
        """A day after another."""
        return day + timedelta(days=int(self.rng.integers(2, days)))

    def name(self) -> str:
        """An initial and a surname, which tell no group."""
        return f"{'ABCDEFGHJKLMNPRSTVW'[int(self.rng.integers(19))]}. {self.pick(SURNAMES)}"


def cohort(
    seed: int,
    sizes: Mapping[str, int],
    rates: Sequence[float],
    planted: int,
    held: Mapping[str, float],
    left: float = 0.06,
) -> Cohort:
    """People who pass each step at its rate; at the planted one some groups at another."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(list(sizes), list(sizes.values())))
    reached = np.zeros(len(groups), dtype=int)
    for step, rate in enumerate(rates):
        for group in sizes:
            here = np.flatnonzero((groups == group) & (reached == step))
            share = held.get(group, rate) if step == planted else rate
            reached[rng.permutation(here)[: round(share * len(here))]] += 1
    leaves = (rng.random(len(groups)) < left) & (reached < len(rates))
    return Cohort(
        [
            Person(number, str(group), int(steps), bool(leave))
            for number, (group, steps, leave) in enumerate(zip(groups, reached, leaves, strict=True))
        ],
        rng,
    )


def told(
    files: Iterable[Path],
    crowd: Cohort,
    steps: Sequence[str],
    planted: int,
    attribute: str,
    group: str,
    against: str,
    *,
    names: tuple[str, str] | None = None,
    funnel: bool = True,
    favourable: int | None = None,
    may_ask: bool = False,
) -> Truth:
    """The truth about an export of these people; `names` is how its cells call the groups."""
    counts = tuple(sum(person.reached > step for person in crowd.people) for step in range(len(steps)))
    members = [[person for person in crowd.people if person.group == name] for name in (group, against)]
    passed = [sum(person.reached > planted for person in some) for some in members]
    told_group, told_against = names or (group, against)
    facts = {
        "files": tuple(files),
        "people": len(crowd.people),
        "favourable": counts[-1] if favourable is None else favourable,
        "attribute": attribute,
        "group": told_group,
        "against": told_against,
        "step": steps[planted],
        "reached": (passed[0], passed[1]),
        "of": (len(members[0]), len(members[1])),
        "may_ask": may_ask,
    }
    return Full(**facts, funnel=counts) if funnel else Truth(**facts)


def nothing(path: Path) -> Truth:
    """The truth about a file in which nothing can be compared."""
    return Truth(
        files=(path,),
        people=0,
        favourable=0,
        attribute="",
        group="",
        against="",
        step="",
        reached=(0, 0),
        of=(0, 0),
        refuse=True,
    )


# - files --------------------------------------------------------------------
def write_text(path: Path, rows: Iterable[Row], sep: str = ",", encoding: str = "utf-8") -> Path:
    """Delimited text with Windows line ends."""
    with path.open("w", newline="", encoding=encoding) as file:
        csv.writer(file, delimiter=sep, lineterminator="\r\n").writerows(rows)
    return path


def write_book(
    path: Path, sheets: Mapping[str, Iterable[Row]], merged: Mapping[str, Sequence[str]] | None = None
) -> Path:
    """A workbook of these sheets, with the ranges of cells that are merged in each."""
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
        for cells in (merged or {}).get(name, ()):
            sheet.merge_cells(cells)
    book.save(path)
    return path


def comma(number: float, places: int = 2) -> str:
    """A number with a decimal comma."""
    return f"{number:.{places}f}".replace(".", ",")


def serial(day: date) -> int:
    """A day as Excel counts it."""
    return (day - date(1899, 12, 30)).days


def millis(moment: datetime) -> int:
    """A moment in milliseconds since 1970."""
    return int((moment - datetime(1970, 1, 1)).total_seconds() * 1000)


def ticks(person: Person, steps: int, yes: str, no: str, left: str, blank: str = "") -> list[str]:
    """A cell for each step: passed, failed (or left) where they stopped, then blank."""
    cells = [yes] * person.reached
    if person.reached < steps:
        cells += [left if person.left else no] + [blank] * (steps - person.reached - 1)
    return cells


# - recruiting systems -------------------------------------------------------
def zoho_recruit(folder: Path) -> Truth:
    """Zoho Recruit: the stage an application stands in beside its status; a job opening has a status too."""
    steps = ["Submissions", "Interview", "Offered", "Hired"]
    crowd = cohort(2101, {"Female": 310, "Male": 330, "-None-": 35}, [0.5, 0.55, 0.4, 0.85], 0, {"Female": 0.3})
    ends = [
        ["Unqualified", "Rejected", "Attempted-to-Contact"],
        ["Rejected-by-client", "Rejected-by-client"],
        ["Rejected", "Rejected", "Rejected", "Interview-Scheduled"],
        ["Offer-Declined", "Offer-Withdrawn"],
        ["Hired", "Joined"],
    ]
    rows: list[Row] = [
        [
            "Application ID",
            "Candidate ID",
            "Candidate Name",
            "Posting Title",
            "Job Opening Status",
            "Candidate Stage",
            "Candidate Status",
            "Source",
            "Created Time",
            "Last Activity Time",
            "Gender",
        ]
    ]
    for person in crowd.people:
        made = crowd.day(date(2024, 1, 8), 300)
        job = int(crowd.rng.integers(12)) if person.reached < 4 else int(crowd.rng.integers(3)) * 4 + 1
        rows.append(
            [
                f"ZR_{4100 + person.number}_APP",
                f"ZR_{900 + person.number}_CAND",
                crowd.name(),
                f"Account Executive {job}",
                ["In-progress", "Filled", "On-Hold", "Cancelled"][job % 4],
                ["Screening", *steps][person.reached],
                "Candidate-Withdrew" if person.left else crowd.pick(ends[person.reached]),
                crowd.pick(["LinkedIn", "Career Site", "Referral"]),
                f"{made:%m/%d/%Y} 09:{person.number % 60:02} AM",
                f"{crowd.later(made):%m/%d/%Y} 04:15 PM",
                person.group,
            ]
        )
    return told(
        [write_text(folder / "Applications_2024.csv", rows, encoding="utf-8-sig")],
        crowd,
        steps,
        0,
        "Gender",
        "Female",
        "Male",
    )


def smartrecruiters_history(folder: Path) -> Truth:
    """SmartRecruiters: a history of statuses, some going back, and the candidates in a second file."""
    steps = ["IN_REVIEW", "INTERVIEW", "OFFERED", "HIRED"]
    crowd = cohort(
        2102, {"Female": 290, "Male": 320, "I prefer not to say": 40}, [0.75, 0.5, 0.45, 0.85], 1, {"Female": 0.28}
    )
    log: list[Row] = [["candidate_id", "job_id", "status", "sub_status", "changed_on"]]
    who: list[Row] = [["id", "first_name", "last_name", "location_city", "internal", "created_on", "diversity_gender"]]
    for person in crowd.people:
        key = hashlib.sha256(f"sr{person.number}".encode()).hexdigest()[:12]
        when = datetime(2024, 1, 3, 8) + timedelta(hours=int(crowd.rng.integers(6500)))
        path = ["NEW", *steps[: person.reached]]
        if person.reached == 2 and crowd.rng.random() < 0.2:
            path += ["IN_REVIEW"]
        if person.reached < 4:
            path += ["WITHDRAWN" if person.left or person.reached == 3 else "REJECTED"]
        who.append(
            [
                key,
                f"First{person.number}",
                crowd.pick(SURNAMES),
                crowd.pick(["Boston", "Denver", "Austin"]),
                "false",
                f"{when:%Y-%m-%dT%H:%M:%S}.000Z",
                person.group,
            ]
        )
        job = crowd.pick(["a41f", "b77c", "c903", "d220", "e5be"])
        for status in path:
            log.append(
                [key, job, status, "Phone Interview" if status == "INTERVIEW" else "", f"{when:%Y-%m-%dT%H:%M:%S}.000Z"]
            )
            when += timedelta(hours=int(crowd.rng.integers(20, 200)))
    body = log[1:]
    crowd.rng.shuffle(body)
    files = [
        write_text(folder / "candidate_status_history.csv", [log[0], *body]),
        write_text(folder / "candidate.csv", who),
    ]
    return told(files, crowd, steps, 1, "diversity_gender", "Female", "Male")


def recruitee_api(folder: Path) -> Truth:
    """Recruitee: the answer of the API, with the placement and the custom fields nested."""
    steps = ["Phone screen", "Interview", "Offer", "Hired"]
    crowd = cohort(2103, {"Female": 250, "Male": 290, "": 30}, [0.6, 0.5, 0.45, 0.85], 1, {"Female": 0.25})
    found = []
    for person in crowd.people:
        made = datetime(2024, 2, 1, 9) + timedelta(hours=int(crowd.rng.integers(5000)))
        gone = person.reached < 4
        found.append(
            {
                "id": 5560000 + person.number,
                "name": crowd.name(),
                "created_at": f"{made:%Y-%m-%d %H:%M:%S} UTC",
                "source": crowd.pick(["careers_site", "indeed", "referral"]),
                "rating": None,
                "has_avatar": False,
                "placements": [
                    {
                        "id": 880000 + person.number,
                        "offer_id": int(crowd.rng.integers(7001, 7009)),
                        "stage": {
                            "name": ["Applied", *steps][person.reached],
                            "position": person.reached,
                            "locked": person.reached == 0,
                        },
                        "disqualified": gone,
                        "disqualify_reason": None
                        if not gone
                        else "Candidate withdrew"
                        if person.left or person.reached == 3
                        else crowd.pick(["Underqualified", "Other candidate chosen", "Location"]),
                        "hired_at": None if gone else f"{made + timedelta(days=40):%Y-%m-%d %H:%M:%S} UTC",
                    }
                ],
                "custom_fields": [
                    {"name": "Gender", "value": person.group or None},
                    {"name": "Notice period", "value": crowd.pick(["1 month", "2 months", "None"])},
                ],
            }
        )
    path = folder / "recruitee_candidates.json"
    path.write_text(
        json.dumps({"candidates": found, "generated_at": "2024-10-02 07:00:00 UTC"}, indent=1), encoding="utf-8"
    )
    return told([path], crowd, steps, 1, "Gender", "Female", "Male")


def pageup_dispositions(folder: Path) -> Truth:
    """PageUp at a university: the step stands in the words of the application status."""
    steps = ["Initial Interview", "In-person Interview", "Reference check", "Verbal Offer", "Hired"]
    crowd = cohort(
        2104,
        {"Female": 340, "Male": 300, "Choose not to disclose": 25},
        [0.45, 0.5, 0.6, 0.8, 0.85],
        0,
        {"Female": 0.27},
    )
    ends = [
        ["Unsuccessful application", "Not selected for interview"],
        ["Initial Interview unsuccessful"],
        ["In-person Interview unsuccessful"],
        ["Reference check unsuccessful"],
        ["Verbal Offer declined"],
        ["Hired"],
    ]
    away = [
        "Withdrawn prior to interview",
        "Initial Interview - Event Declined",
        "In-person Interview - Event Declined",
        "Reference check unsuccessful",
        "Verbal Offer declined",
    ]
    rows: list[Row] = [
        [
            "Applicant No",
            "Job No",
            "Job title",
            "Job status",
            "Date submitted",
            "Application status",
            "Sex",
            "Hispanic or Latino",
            "Race",
            "Veteran status",
        ]
    ]
    for person in crowd.people:
        job = int(crowd.rng.integers(14)) if person.reached < 5 else int(crowd.rng.integers(4)) * 4
        rows.append(
            [
                71000 + person.number,
                f"5{job + 2100}",
                f"Program Coordinator {job}",
                ["Filled", "Closed - Filled", "Open", "Cancelled"][job % 4],
                f"{crowd.day(date(2023, 8, 1), 330):%d %b %Y}",
                away[person.reached] if person.left else crowd.pick(ends[person.reached]),
                person.group,
                crowd.pick(["Yes", "No", "Choose not to disclose"], [1, 7, 1]),
                crowd.pick(
                    ["White", "Black or African American", "Asian", "Two or more races", "Choose not to disclose"],
                    [60, 18, 12, 4, 6],
                ),
                crowd.pick(["Not a veteran", "Protected veteran", "Choose not to disclose"], [85, 6, 9]),
            ]
        )
    return told([write_text(folder / "PageUp applicant detail.csv", rows)], crowd, steps, 0, "Sex", "Female", "Male")


def eightfold_lines(folder: Path) -> Truth:
    """Eightfold: JSON lines, compressed, with times in milliseconds and records of a test."""
    steps = ["Recruiter Screen", "Hiring Manager Review", "Onsite", "Offer", "Hired"]
    crowd = cohort(2105, {"M": 380, "F": 300, "U": 25}, [0.6, 0.5, 0.45, 0.4, 0.8], 1, {"F": 0.27})
    lines = []
    for person in crowd.people:
        when = datetime(2023, 11, 6, 12) + timedelta(hours=int(crowd.rng.integers(7000)))
        path = ["Applied", *steps[: person.reached]]
        if person.reached < 5:
            path.append("Withdrawn" if person.left or person.reached == 4 else "Rejected")
        history = []
        for stage in path:
            history.append({"stage": stage, "ts": millis(when)})
            when += timedelta(hours=int(crowd.rng.integers(30, 300)))
        lines.append(
            {
                "application_id": f"ef-{person.number:06}",
                "profile_id": 33000000 + person.number * 7,
                "position_id": int(crowd.rng.integers(420, 435)),
                "is_test": False,
                "match_score": float(crowd.rng.integers(2, 11) / 2),
                "current_stage": path[-1],
                "stage_history": history,
                "eeo": {"gender": person.group, "veteran": crowd.pick(["N", "Y", "U"], [90, 4, 6])},
            }
        )
    for number in range(4):
        lines.insert(
            60 * number,
            {
                "application_id": f"ef-test-{number}",
                "profile_id": number,
                "position_id": 1,
                "is_test": True,
                "match_score": 5.0,
                "current_stage": "Hired",
                "stage_history": [{"stage": "Applied", "ts": 1700000000000}, {"stage": "Hired", "ts": 1700000600000}],
                "eeo": {"gender": "F", "veteran": "U"},
            },
        )
    path = folder / "applications-2024.jsonl.gz"
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines).encode())
    return told([path], crowd, steps, 1, "gender", "F", "M")


def brassring_other_req(folder: Path) -> Truth:
    """BrassRing: the last folder beside the final status; some were hired on another requisition."""
    steps = ["Manager Review", "Phone Interview", "Onsite Interview", "Offer", "Hired"]
    crowd = cohort(
        2106,
        {"Not a Protected Veteran": 620, "Protected Veteran": 160, "I don't wish to answer": 70},
        [0.6, 0.45, 0.5, 0.4, 0.85],
        1,
        {"Protected Veteran": 0.16},
    )
    hired = [person for person in crowd.people if person.reached == 5]
    rest = [person for person in crowd.people if person.reached in (1, 2) and not person.left]
    elsewhere: dict[int, int] = {}
    for winner in hired[:9]:
        other = next(person for person in rest if person.group == winner.group and person.number not in elsewhere)
        elsewhere[other.number] = winner.number
    rows: list[Row] = [
        [
            "Candidate Ref #",
            "AutoreqID",
            "Req Status",
            "Date Filed",
            "Last Active HR Status",
            "Final HR Status",
            "Source Code",
            "Gender",
            "Veteran Self-ID",
        ]
    ]
    genders = [crowd.pick(["Female", "Male", "I don't wish to answer"], [46, 47, 7]) for _ in crowd.people]
    for person in crowd.people:
        final = (
            "Hired"
            if person.reached == 5
            else "Hired - Other Req"
            if person.number in elsewhere
            else "Offer Declined"
            if person.reached == 4
            else "Candidate Withdrew"
            if person.left
            else "Not Selected"
        )
        same = elsewhere.get(person.number, person.number)
        req = int(crowd.rng.integers(30)) * 2 + (person.number in elsewhere)
        rows.append(
            [
                f"{1500000 + same * 3}",
                f"{20000 + req}BR",
                "Closed" if person.reached == 5 else crowd.pick(["Closed", "Open", "Cancelled", "On Hold"]),
                f"{crowd.day(date(2024, 1, 2), 330):%d-%b-%Y}",
                ["0-Filed", *steps][person.reached],
                final,
                crowd.pick(["CS-100", "REF-220", "JB-310"]),
                genders[same],
                person.group,
            ]
        )
    return told(
        [write_text(folder / "BR_Req_Candidate_Tracking.csv", rows)],
        crowd,
        steps,
        1,
        "Veteran Self-ID",
        "Protected Veteran",
        "Not a Protected Veteran",
    )


def paylocity_merged(folder: Path) -> Truth:
    """Paylocity-like: sex and race in one column, as the EEO screen shows them."""
    steps = ["Interviewed", "Hired"]
    crowd = cohort(2107, {"F": 280, "M": 320, "Not disclosed": 45}, [0.42, 0.35], 0, {"F": 0.23})
    rows: list[Row] = [
        [
            "Applicant",
            "Requisition",
            "Location",
            "Applied On",
            "Interviewed",
            "Hired",
            "EEO (Sex / Race)",
            "Desired Pay",
        ]
    ]
    for person in crowd.people:
        race = crowd.pick(
            ["White", "Black or African American", "Hispanic or Latino", "Asian", "Two or More Races"],
            [50, 20, 18, 8, 4],
        )
        rows.append(
            [
                crowd.name(),
                f"{int(crowd.rng.integers(3100, 3120))} - Warehouse Associate",
                crowd.pick(["Reno", "Tulsa", "Macon"]),
                f"{crowd.day(date(2024, 3, 1), 200):%m/%d/%y}",
                "Yes" if person.reached > 0 else "No",
                "Yes" if person.reached > 1 else "No",
                person.group if person.group == "Not disclosed" else f"{person.group} / {race}",
                f"${int(crowd.rng.integers(17, 27))}.00",
            ]
        )
    return told([write_text(folder / "applicant_eeo_report.csv", rows)], crowd, steps, 0, "EEO (Sex / Race)", "F", "M")


def codility_sessions(folder: Path) -> Truth:
    """Codility: test sessions in tabs, and the candidates in another file under another e-mail header."""
    crowd = cohort(
        2108, {"Male": 330, "Female": 215, "Prefer not to answer": 25}, [0.52], 0, {"Female": 0.3}, left=0.08
    )
    log: list[Row] = [
        [
            "Test session ID",
            "Test",
            "First Name",
            "Last Name",
            "Candidate E-mail",
            "Create date",
            "Start date",
            "Close date",
            "Score",
            "Max score",
            "% total score",
            "% correctness",
            "% performance",
            "Similarity Check",
            "Task 1 name",
            "Task 1 score",
            "Task 2 name",
            "Task 2 score",
            "Decision",
        ]
    ]
    who: list[Row] = [["Email", "Name", "Role", "Years of experience", "Gender", "Nationality"]]
    for person in crowd.people:
        surname = crowd.pick(SURNAMES)
        mail = f"{surname.lower()}.{person.number}@example.com"
        made = datetime(2024, 4, 2, 10) + timedelta(hours=int(crowd.rng.integers(3000)))
        start = made + timedelta(hours=int(crowd.rng.integers(5, 90)))
        total = int(crowd.rng.integers(124, 201) if person.reached else crowd.rng.integers(10, 122))
        first = min(100, max(total - 100, int(crowd.rng.integers(0, total + 1))))
        done = [
            f"{start:%Y-%m-%d %H:%M:%S}",
            f"{start + timedelta(minutes=75):%Y-%m-%d %H:%M:%S}",
            total,
            200,
            total // 2,
            total // 2,
            "NA",
            "Not checked",
            "SqlTransfers",
            first,
            "OrderedTrees",
            total - first,
            "Pass" if person.reached else "Fail",
        ]
        never = ["", "", "", 200, "", "", "", "", "SqlTransfers", "", "OrderedTrees", "", "Not started"]
        log.append(
            [
                f"DN{person.number:04}-SKB",
                "Backend screening 2024",
                f"First{person.number}",
                surname,
                mail,
                f"{made:%Y-%m-%d %H:%M:%S}",
                *(never if person.left else done),
            ]
        )
        who.append(
            [
                mail if crowd.rng.random() < 0.9 else mail.capitalize(),
                f"First{person.number} {surname}",
                crowd.pick(["Backend", "Data", "Platform"]),
                int(crowd.rng.integers(0, 15)),
                person.group,
                crowd.pick(["PL", "DE", "ES", "IN"]),
            ]
        )
    body = who[1:]
    crowd.rng.shuffle(body)
    files = [
        write_text(folder / "codility_sessions.tsv", log, sep="\t"),
        write_text(folder / "candidates.csv", [who[0], *body]),
    ]
    return told(files, crowd, ["Pass"], 0, "Gender", "Female", "Male", funnel=False)


def trello_board(folder: Path) -> Truth:
    """A hiring board in Trello: the list is the step, a label says who was turned down; two cards are no people."""
    steps = ["2 Phone call", "3 On-site", "4 Offer", "5 Hired"]
    crowd = cohort(2109, {"Woman": 200, "Man": 240, "": 20}, [0.65, 0.55, 0.45, 0.85], 1, {"Woman": 0.25})
    rows: list[Row] = [
        [
            "Card ID",
            "Card Name",
            "Card URL",
            "Card Description",
            "Labels",
            "Members",
            "Due Date",
            "Attachment Count",
            "Comment Count",
            "Last Activity Date",
            "List Name",
            "Board Name",
            "Archived",
            "Gender",
        ]
    ]
    for text in ("READ ME how to use this board", "TEMPLATE - copy this card"):
        rows.append(
            [
                hashlib.sha256(text.encode()).hexdigest()[:24],
                text,
                "https://trello.com/c/x",
                "",
                "",
                "",
                "",
                0,
                0,
                "2023-12-01T09:00:00.000Z",
                "0 Start here",
                "Hiring 2024",
                "false",
                "",
            ]
        )
    for person in crowd.people:
        still = person.reached < 4 and not person.left and crowd.rng.random() < 0.05
        label = (
            ""
            if person.reached == 4 or still
            else "Withdrew (yellow)"
            if person.left
            else "Declined our offer (orange)"
            if person.reached == 3
            else "Rejected (red)"
        )
        labels = [text for text in (label, "Referral (blue)" if crowd.rng.random() < 0.1 else "") if text]
        key = hashlib.sha256(f"card{person.number}".encode()).hexdigest()
        rows.append(
            [
                key[:24],
                f"{crowd.name()} - {crowd.pick(['Designer', 'Developer', 'Support'])}",
                f"https://trello.com/c/{key[:8]}",
                "",
                ", ".join(labels),
                crowd.pick(["kim", "raj", "kim, raj"]),
                "",
                int(crowd.rng.integers(1, 3)),
                int(crowd.rng.integers(0, 9)),
                f"{crowd.day(date(2024, 1, 5), 300):%Y-%m-%d}T10:20:00.000Z",
                ["1 New CVs", *steps][person.reached],
                "Hiring 2024",
                "true" if label else "false",
                person.group,
            ]
        )
    return told([write_text(folder / "Hiring 2024.csv", rows)], crowd, steps, 1, "Gender", "Woman", "Man")


def jira_candidates(folder: Path) -> Truth:
    """Candidates kept as Jira issues: headers twice, every status Done, the outcome in the resolution."""
    steps = ["Phone screen", "Tech interview", "Team interview", "Offer", "Hired"]
    crowd = cohort(2110, {"Woman": 210, "Man": 330, "Undisclosed": 30}, [0.6, 0.55, 0.6, 0.5, 0.8], 1, {"Woman": 0.25})
    rows: list[Row] = [
        [
            "Summary",
            "Issue key",
            "Issue id",
            "Issue Type",
            "Status",
            "Resolution",
            "Created",
            "Resolved",
            "Labels",
            "Labels",
            "Custom field (Furthest stage)",
            "Custom field (Gender)",
            "Comment",
            "Comment",
        ]
    ]
    for person in crowd.people:
        made = crowd.day(date(2024, 1, 8), 280)
        result = "Hired" if person.reached == 5 else "Withdrawn" if person.left or person.reached == 4 else "Rejected"
        rows.append(
            [
                f"{crowd.name()} / Engineer",
                f"HIRE-{200 + person.number}",
                61000 + person.number,
                "Candidate",
                "Done",
                result,
                f"{made:%d/%b/%y} 9:14 AM",
                f"{crowd.later(made, 60):%d/%b/%y} 5:02 PM",
                crowd.pick(["backend", "frontend", "sre"]),
                crowd.pick(["remote", "", "onsite"]),
                ["CV review", *steps[:4], "Offer"][person.reached],
                person.group,
                crowd.pick(["see scorecard", "", "CV attached"]),
                "",
            ]
        )
    for number in range(6):
        rows.insert(
            40 + 70 * number,
            [
                f"Book room for interviews {number}",
                f"HIRE-{100 + number}",
                60900 + number,
                "Task",
                "Done",
                "Done",
                "02/Feb/24 8:00 AM",
                "03/Feb/24 8:00 AM",
                "admin",
                "",
                "",
                "",
                "",
                "",
            ],
        )
    return told(
        [write_text(folder / "Jira 2024-11-04.csv", rows)], crowd, steps, 1, "Custom field (Gender)", "Woman", "Man"
    )


# - other languages ----------------------------------------------------------
def otys_voorstellen(folder: Path) -> Truth:
    """OTYS, a Dutch agency: the step stands in the words of the status; V is a woman, M a man."""
    steps = ["Voorgesteld", "Gesprek", "Geplaatst"]
    crowd = cohort(2111, {"V": 270, "M": 310, "Onbekend": 15}, [0.6, 0.6, 0.4], 1, {"V": 0.28})
    ends = [
        ["Afgewezen door recruiter"],
        ["Afgewezen door klant na voorstellen cv"],
        ["Afgewezen door klant na gesprek"],
        ["Geplaatst"],
    ]
    away = [
        "Afgewezen door recruiter",
        "Kandidaat trekt zich terug na voorstellen",
        "Kandidaat trekt zich terug na gesprek",
    ]
    rows: list[Row] = [
        [
            "Kandidaatnr",
            "Vacature",
            "Opdrachtgever",
            "Intercedent",
            "Datum",
            "Status",
            "Uurtarief",
            "Geslacht",
            "Woonplaats",
        ]
    ]
    for person in crowd.people:
        rows.append(
            [
                88000 + person.number,
                f"{crowd.pick(['Monteur', 'Planner', 'Inkoper'])}",
                f"Klant {int(crowd.rng.integers(1, 25))}",
                crowd.pick(["JdV", "MK", "SB"]),
                f"{crowd.day(date(2024, 1, 3), 320):%d-%m-%Y}",
                away[person.reached] if person.left else ends[person.reached][0],
                comma(float(crowd.rng.uniform(18, 45))),
                person.group,
                crowd.pick(["Breda", "Zwolle", "Delft"]),
            ]
        )
    return told([write_text(folder / "voorstellen_2024.csv", rows, sep=";")], crowd, steps, 1, "Geslacht", "V", "M")


def zucchetti_fasi(folder: Path) -> Truth:
    """An Italian suite, saved as 'Unicode text': UTF-16 with tabs, and Sig. or Sig.ra for the sex."""
    steps = ["Preselezione", "Colloquio HR", "Colloquio tecnico", "Proposta", "Assunzione"]
    crowd = cohort(2112, {"Sig.": 320, "Sig.ra": 290}, [0.7, 0.52, 0.5, 0.5, 0.85], 1, {"Sig.ra": 0.27})
    rows: list[Row] = [
        [
            "Cod. candidato",
            "Titolo",
            "Cognome",
            "Posizione",
            "Sede",
            "Data candidatura",
            "Fase raggiunta",
            "Esito",
            "RAL richiesta",
        ]
    ]
    for person in crowd.people:
        result = (
            "Assunto/a"
            if person.reached == 5
            else "Proposta rifiutata"
            if person.reached == 4
            else "Ritirato/a"
            if person.left
            else crowd.pick(["Non idoneo/a", "Non selezionato/a"])
        )
        rows.append(
            [
                f"C{person.number + 3000:05}",
                person.group,
                crowd.pick(SURNAMES),
                crowd.pick(["Contabile", "Manutentore", "Buyer"]),
                crowd.pick(["Verona", "Bari"]),
                f"{crowd.day(date(2023, 9, 4), 300):%d/%m/%y}",
                ["Ricezione CV", *steps][person.reached],
                result,
                f"{int(crowd.rng.integers(24, 45))}.000,00",
            ]
        )
    return told(
        [write_text(folder / "candidature.txt", rows, sep="\t", encoding="utf-16")],
        crowd,
        steps,
        1,
        "Titolo",
        "Sig.ra",
        "Sig.",
    )


def solides_etapas(folder: Path) -> Truth:
    """A Brazilian suite: a column for each step with its result, and a profile test that is no step."""
    steps = ["Triagem", "Entrevista RH", "Entrevista Gestor", "Contratado(a)"]
    crowd = cohort(
        2113,
        {"Branca": 310, "Parda": 240, "Preta": 160, "Amarela": 18, "Prefiro não informar": 32},
        [0.6, 0.5, 0.5, 0.6],
        1,
        {"Preta": 0.18},
    )
    rows: list[Row] = [
        [
            "Código",
            "Vaga",
            "Data inscrição",
            "Perfil Profiler",
            "Triagem",
            "Entrevista RH",
            "Entrevista Gestor",
            "Contratado(a)",
            "Raça/Cor",
            "PCD",
            "Pretensão salarial",
        ]
    ]
    for person in crowd.people:
        cells = ticks(person, 4, "Aprovado", "Reprovado", "Desistiu", "—")
        cells[3] = {"Aprovado": "Sim", "Reprovado": "Não", "Desistiu": "Não", "—": "Não"}[cells[3]]
        rows.append(
            [
                15000 + person.number,
                crowd.pick(["Analista Fiscal", "Vendedor", "Auxiliar"]),
                f"{crowd.day(date(2024, 1, 10), 280):%d/%m/%Y}",
                crowd.pick(["Comunicador", "Executor", "Planejador", "Analista"]),
                *cells,
                person.group,
                crowd.pick(["Não", "Sim"], [95, 5]),
                f"R$ {comma(float(crowd.rng.integers(18, 60)) * 100)}",
            ]
        )
    return told(
        [write_text(folder / "processo_seletivo.csv", rows, sep=";", encoding="utf-8-sig")],
        crowd,
        steps,
        1,
        "Raça/Cor",
        "Preta",
        "Branca",
    )


def beetween_etapes(folder: Path) -> Truth:
    """A French system: the step reached beside the status; the pool ('Vivier') is no hire; dates as serials."""
    steps = ["Présélection", "Entretien téléphonique", "Entretien manager", "Proposition", "Embauche"]
    crowd = cohort(2114, {"Mme": 310, "M.": 300}, [0.68, 0.52, 0.5, 0.5, 0.85], 1, {"Mme": 0.27})
    rows: list[Row] = [
        ["N° dossier", "Civilité", "Nom", "Offre", "Date de réception", "Étape atteinte", "Statut", "Origine"]
    ]
    for person in crowd.people:
        state = (
            "Recruté(e)"
            if person.reached == 5
            else "Proposition déclinée"
            if person.reached == 4
            else "Désistement"
            if person.left
            else crowd.pick(["Refusé(e)", "Vivier", "En cours"], [80, 16, 4])
        )
        rows.append(
            [
                f"D-{person.number + 1200}",
                person.group,
                crowd.pick(SURNAMES),
                crowd.pick(["Chargé(e) de clientèle", "Comptable", "Conducteur(trice)"]),
                serial(crowd.day(date(2024, 1, 8), 300)),
                ["Réception", *steps][person.reached],
                state,
                crowd.pick(["Indeed", "Site carrière", "France Travail", "Cooptation"]),
            ]
        )
    return told(
        [write_book(folder / "export_candidatures.xlsx", {"Export": rows})], crowd, steps, 1, "Civilité", "Mme", "M."
    )


def emply_trin(folder: Path) -> Truth:
    """A Danish system: the last step beside the outcome."""
    steps = ["Screening", "1. samtale", "2. samtale", "Tilbud", "Ansættelse"]
    crowd = cohort(
        2115, {"Kvinde": 290, "Mand": 310, "Ønsker ikke at oplyse": 20}, [0.7, 0.5, 0.5, 0.6, 0.85], 1, {"Kvinde": 0.26}
    )
    rows: list[Row] = [
        ["Kandidat-ID", "Stilling", "Afdeling", "Ansøgningsdato", "Sidste trin", "Udfald", "Køn", "Fødselsår"]
    ]
    for person in crowd.people:
        result = (
            "Ansat" if person.reached == 5 else "Trukket tilbage" if person.left or person.reached == 4 else "Afslag"
        )
        rows.append(
            [
                90000 + person.number,
                crowd.pick(["Pædagog", "Projektleder", "Jurist"]),
                crowd.pick(["Børn og Unge", "Teknik", "Økonomi"]),
                f"{crowd.day(date(2024, 1, 4), 310):%d-%m-%Y}",
                ["Ansøgning modtaget", *steps][person.reached],
                result,
                person.group,
                int(crowd.rng.integers(1962, 2001)),
            ]
        )
    return told(
        [write_text(folder / "rekruttering.csv", rows, sep=";", encoding="cp1252")],
        crowd,
        steps,
        1,
        "Køn",
        "Kvinde",
        "Mand",
    )


def offizier_eignung(folder: Path) -> Truth:
    """An officers' assessment in German: tests passed or not, fit or not, an oral grade, the overall verdict."""
    steps = ["Computertest", "Sporttest", "Ärztl. Untersuchung", "Gesamturteil"]
    crowd = cohort(2116, {"Herr": 560, "Frau": 200}, [0.75, 0.78, 0.88, 0.6], 1, {"Frau": 0.48}, left=0.04)
    rows: list[Row] = [
        [
            "Bew.-Nr.",
            "Anrede",
            "Wunsch",
            "Prüfdatum",
            "Computertest",
            "Sporttest",
            "Ärztl. Untersuchung",
            "Punkte Prüfgespräch",
            "Gesamturteil",
        ]
    ]
    for person in crowd.people:
        cells = ticks(person, 4, "bestanden", "nicht bestanden", "abgebrochen")
        cells[2] = {"bestanden": "tauglich", "nicht bestanden": "nicht tauglich"}.get(cells[2], cells[2])
        final = "geeignet" if person.reached == 4 else "abgebrochen" if person.left else "nicht geeignet"
        points = crowd.rng.uniform(9, 15) if person.reached == 4 else crowd.rng.uniform(3, 9)
        rows.append(
            [
                f"B{person.number + 410:04}",
                person.group,
                crowd.pick(["Heer", "Luftwaffe", "Marine"]),
                f"{crowd.day(date(2024, 2, 5), 200):%d.%m.%Y}",
                *cells[:3],
                comma(float(points), 1) if person.reached >= 3 and not person.left else "",
                final,
            ]
        )
    return told(
        [write_text(folder / "Eignungsfeststellung.csv", rows, sep=";", encoding="cp1252")],
        crowd,
        steps,
        1,
        "Anrede",
        "Frau",
        "Herr",
    )


def becas_nota_de_corte(folder: Path) -> Truth:
    """A Spanish scholarship board: a cut-off above the table, substitutes; H is a man, M a woman."""
    crowd = cohort(2117, {"H": 260, "M": 300}, [0.42], 0, {"M": 0.22}, left=0.07)
    made = []
    for person in crowd.people:
        spare = not person.reached and not person.left and crowd.rng.random() < 0.15
        total = round(
            float(
                crowd.rng.uniform(6.75, 9.6)
                if person.reached
                else crowd.rng.uniform(6.2, 6.74)
                if spare
                else crowd.rng.uniform(3.2, 6.19)
            ),
            2,
        )
        made.append((person, spare, total))
    order = sorted((entry for entry in made if entry[1]), key=lambda entry: -entry[2])
    place = {person.number: rank for rank, (person, _, _) in enumerate(order, 1)}
    rows: list[Row] = [
        ["Resolución de la convocatoria de becas 2024"],
        ["Nota de corte: 6,75 puntos"],
        [],
        ["N.º expediente", "Sexo", "Titulación", "Baremo académico", "Baremo económico", "Puntuación total", "Estado"],
    ]
    for person, spare, total in made:
        state = (
            "Concedida"
            if person.reached
            else f"Suplente n.º {place[person.number]}"
            if spare
            else "Excluida (falta documentación)"
            if person.left
            else "Denegada"
        )
        money = round(float(crowd.rng.uniform(0.5, 2.4)), 2)
        marks = ["", "", ""] if person.left else [comma(total - money), comma(money), comma(total)]
        rows.append(
            [
                f"BEC-{person.number + 1:04}/24",
                person.group,
                crowd.pick(["Derecho", "Biología", "Filología"]),
                *marks,
                state,
            ]
        )
    return told(
        [write_book(folder / "resolucion_becas.xlsx", {"Listado": rows})],
        crowd,
        ["Concedida"],
        0,
        "Sexo",
        "M",
        "H",
        funnel=False,
    )


def befoerderung_stichtag(folder: Path) -> Truth:
    """A promotion round in German: births with two-digit years, and a day at which ages are taken."""
    steps = ["Vorschlag", "Befördert"]
    crowd = cohort(2118, {"40+": 340, "under 40": 300}, [0.4, 0.6], 0, {"40+": 0.2})
    rows: list[Row] = [
        ["Beförderungsrunde 2023, Stichtag 31.12.2023"],
        ["Personalnr.", "Bereich", "Geburtsdatum", "Eintritt", "EG alt", "EG neu", "Vorschlag", "Befördert"],
    ]
    for person in crowd.people:
        born = crowd.day(date(1959, 1, 5), 9000) if person.group == "40+" else crowd.day(date(1984, 2, 1), 5800)
        joined = born + timedelta(days=20 * 365 + int(crowd.rng.integers(900)))
        level = int(crowd.rng.integers(6, 13))
        rows.append(
            [
                40100 + person.number,
                crowd.pick(["Technik", "Vertrieb", "Verwaltung"]),
                f"{born:%d.%m.%y}",
                f"{joined:%d.%m.%y}",
                f"EG {level}",
                f"EG {level + (person.reached == 2)}",
                "ja" if person.reached > 0 else "nein",
                "ja" if person.reached > 1 else "nein",
            ]
        )
    return told(
        [write_text(folder / "Befoerderungsrunde_2023.csv", rows, sep=";", encoding="utf-8-sig")],
        crowd,
        steps,
        0,
        "Geburtsdatum",
        "40+",
        "under 40",
        names=("40 and over|40+", "under 40|Under 40"),
    )


def messe_haekchen(folder: Path) -> Truth:
    """A small firm's list of a job fair: two rows of headers, days between, every kind of tick, sums below."""
    steps = ["Mappe ok", "Gespräch", "Probetag", "Zusage"]
    crowd = cohort(2119, {"Herr": 160, "Frau": 140}, [0.8, 0.75, 0.6, 0.5], 2, {"Frau": 0.18}, left=0)
    rows: list[Row] = [
        ["Karrieremesse April 2024, Bewerberliste"],
        [],
        ["Person", None, None, None, "Auswahl", None, None, None, None],
        ["Nr.", "Anrede", "Name", "Beruf", *steps, "Bemerkung"],
    ]
    for person in crowd.people:
        if person.number in (0, 160):
            rows.append(["Freitag, 12.04." if person.number == 0 else "Samstag, 13.04."])
        cells: list[object] = [crowd.pick(["x", "x", "X", "✓", "ja"]) for _ in range(person.reached)]
        cells += [crowd.pick(["-", "", "nein", "-"]) for _ in range(person.reached, min(person.reached + 1, 4))]
        cells += [None] * (4 - len(cells))
        rows.append(
            [
                person.number + 1,
                person.group,
                crowd.pick(SURNAMES),
                crowd.pick(["Schlosser/in", "Lager", "Büro"]),
                *cells,
                crowd.pick(["", "", "", "ruft zurück", "Führerschein B"]),
            ]
        )
    counts = [sum(person.reached > step for person in crowd.people) for step in range(4)]
    rows.append(["Summe", None, None, None, *counts, None])
    path = write_book(folder / "Bewerberliste_Messe.xlsx", {"Tabelle1": rows}, {"Tabelle1": ["A3:D3", "E3:I3"]})
    return told([path], crowd, steps, 2, "Anrede", "Frau", "Herr")


# - universities, hospitals, forms -------------------------------------------
def interfolio_search(folder: Path) -> Truth:
    """Faculty searches: lines above the table, and the furthest point that each applicant reached."""
    steps = ["Long list", "Zoom interview", "Campus visit", "Offer", "Offer accepted"]
    crowd = cohort(
        2120,
        {"Woman": 300, "Man": 340, "Non-binary": 8, "Decline to state": 32},
        [0.34, 0.5, 0.5, 0.45, 0.75],
        0,
        {"Woman": 0.16},
        left=0.03,
    )
    rows: list[Row] = [
        ["College of Arts and Sciences: faculty searches 2023-24"],
        ["Exported 05/21/2024 by jsmith"],
        [],
        [
            "Applicant ID",
            "Search",
            "Rank sought",
            "Highest degree",
            "Application complete",
            "Furthest point reached",
            "Final disposition",
            "Gender identity",
        ],
    ]
    for person in crowd.people:
        end = (
            "Hired"
            if person.reached == 5
            else "Declined offer"
            if person.reached == 4
            else "Withdrew"
            if person.left
            else "Not selected"
        )
        rows.append(
            [
                f"IF{person.number + 20000}",
                crowd.pick(["History 24-01", "Chemistry 24-07", "Sociology 24-11"]),
                crowd.pick(["Assistant Professor", "Open rank"]),
                "PhD",
                crowd.day(date(2023, 9, 15), 60),
                ["Committee review", *steps][person.reached],
                end,
                person.group,
            ]
        )
    return told(
        [write_book(folder / "Faculty_searches.xlsx", {"Applicants": rows})],
        crowd,
        steps,
        0,
        "Gender identity",
        "Woman",
        "Man",
    )


def slate_decisions(folder: Path) -> Truth:
    """Admissions in Slate: a first decision, and for those on the waiting list a second one."""
    groups = {
        "White": 480,
        "Hispanics of any race": 260,
        "Asian": 170,
        "Black or African American": 120,
        "Two or more races": 50,
        "Nonresident": 90,
        "Unknown": 30,
    }
    crowd = cohort(2121, groups, [0.45], 0, {"Hispanics of any race": 0.25}, left=0.03)
    rows: list[Row] = [
        [
            "Ref",
            "Round",
            "Entry Term",
            "HS GPA",
            "Reader Rating",
            "Bin",
            "Decision",
            "Second Decision",
            "IPEDS Race/Ethnicity",
            "First Generation",
        ]
    ]
    for person in crowd.people:
        first, second = ("Withdrawn", "") if person.left else ("Deny", "")
        if not person.left and crowd.rng.random() < 0.2:
            first, second = "Waitlist", "Admit from Waitlist" if person.reached else "Released from Waitlist"
        elif person.reached:
            first = "Admit"
        rows.append(
            [
                f"{300000000 + person.number * 37}",
                crowd.pick(["Early Action", "Regular Decision"]),
                "Fall 2024",
                f"{crowd.rng.uniform(2.8, 4):.2f}",
                int(crowd.rng.integers(1, 6)),
                "Decided",
                first,
                second,
                person.group,
                crowd.pick(["No", "Yes"], [76, 24]),
            ]
        )
    return told(
        [write_text(folder / "slate_query_decisions.csv", rows)],
        crowd,
        ["Admit"],
        0,
        "IPEDS Race/Ethnicity",
        "Hispanics of any race",
        "White",
        funnel=False,
    )


def ucas_codes(folder: Path) -> Truth:
    """Applications to one university through UCAS: everything in codes, which a second sheet explains."""
    crowd = cohort(2122, {"10": 420, "11": 380, "12": 6, "96": 14}, [0.62], 0, {"10": 0.46}, left=0.04)
    rows: list[Row] = [["PERSONAL_ID", "CHOICE_NO", "COURSE", "CYCLE", "SEXID", "DECISION", "REPLY"]]
    for person in crowd.people:
        offer = crowd.pick(["C", "U"], [85, 15])
        decision = offer if person.reached else "W" if person.left else crowd.pick(["R", "RBD"], [9, 1])
        reply = crowd.pick(["F", "I", "D"], [3, 2, 5]) if person.reached else None
        rows.append(
            [
                f"{1180000000 + person.number * 13}",
                int(crowd.rng.integers(1, 6)),
                crowd.pick(["A100", "C800", "L101"]),
                2024,
                int(person.group),
                decision,
                reply,
            ]
        )
    codes: list[Row] = [
        ["Field", "Code", "Meaning"],
        ["SEXID", 10, "Female"],
        ["SEXID", 11, "Male"],
        ["SEXID", 12, "Other"],
        ["SEXID", 96, "Information refused"],
        ["DECISION", "U", "Unconditional offer"],
        ["DECISION", "C", "Conditional offer"],
        ["DECISION", "R", "Unsuccessful"],
        ["DECISION", "RBD", "Rejected by default"],
        ["DECISION", "W", "Withdrawn by applicant"],
        ["REPLY", "F", "Applicant: firm acceptance"],
        ["REPLY", "I", "Applicant: insurance"],
        ["REPLY", "D", "Applicant: declined the offer"],
    ]
    return told(
        [write_book(folder / "ucas_2024.xlsx", {"Applications": rows, "Codes": codes})],
        crowd,
        ["DECISION"],
        0,
        "SEXID",
        "10",
        "11",
        names=("10|Female", "11|Male"),
        funnel=False,
        favourable=0,
    )


def eras_rank_list(folder: Path) -> Truth:
    """A residency programme: invited, interviewed, ranked, matched; the licensing exam is no step of theirs."""
    steps = ["Invited to Interview", "Interview Date", "ROL #", "Matched"]
    black = "Black or African American"
    crowd = cohort(
        2123,
        {"White": 480, "Asian": 390, black: 160, "Hispanic or Latino": 130, "Prefer not to say": 60},
        [0.27, 0.94, 0.93, 0.1],
        0,
        {black: 0.08},
        left=0,
    )
    ranks = iter(crowd.rng.permutation(sum(person.reached > 2 for person in crowd.people)) + 1)
    rows: list[Row] = [
        [
            "AAMC ID",
            "Applicant",
            "Medical School Type",
            "USMLE Step 1",
            "USMLE Step 2 CK",
            "Invited to Interview",
            "Interview Date",
            "Interview Score",
            "ROL #",
            "Matched",
            "Self Identification",
        ]
    ]
    for person in crowd.people:
        invited = crowd.day(date(2023, 10, 2), 30)
        met = crowd.day(date(2023, 11, 6), 60)
        rows.append(
            [
                13000000 + person.number * 11,
                crowd.name(),
                crowd.pick(["US MD", "US DO", "IMG"]),
                crowd.pick(["Pass", "Fail", "Pending"], [93, 4, 3]),
                int(crowd.rng.integers(222, 268)),
                invited if person.reached > 0 else None,
                met if person.reached > 1 else None,
                round(float(crowd.rng.uniform(2, 5)), 1) if person.reached > 1 else None,
                int(next(ranks)) if person.reached > 2 else "not ranked" if person.reached == 2 else None,
                "Y" if person.reached > 3 else None,
                person.group,
            ]
        )
    return told(
        [write_book(folder / "ERAS_2024_rank_list.xlsx", {"IM categorical": rows})],
        crowd,
        steps,
        0,
        "Self Identification",
        black,
        "White",
    )


def google_form_fellows(folder: Path) -> Truth:
    """Answers to a Google form with the decisions beside them; pronouns; long answers; three test answers."""
    steps = ["Interview?", "Decision"]
    crowd = cohort(
        2124,
        {"she/her": 220, "he/him": 235, "they/them": 16, "Prefer not to say": 19},
        [0.52, 0.5],
        0,
        {"she/her": 0.3},
        left=0,
    )
    rows: list[Row] = [
        [
            "Timestamp",
            "Email Address",
            "Full name",
            "What are your pronouns?",
            "Which track are you applying for?",
            "Why do you want to join? (max 150 words)",
            "Have you applied before?",
            "Reviewer 1 (1-5)",
            "Reviewer 2 (1-5)",
            "Interview?",
            "Decision",
        ]
    ]
    for person in crowd.people:
        when = crowd.day(date(2024, 2, 1), 45)
        end = (
            crowd.pick(["Accepted", "Accepted", "Accepted - declined spot"], [8, 8, 2])
            if person.reached == 2
            else crowd.pick(["Rejected", "Waitlist"], [8, 2])
            if person.reached
            else "Rejected"
        )
        rows.append(
            [
                f"{when.month}/{when.day}/{when.year} 1{person.number % 10}:05:09",
                f"p{person.number}@example.org",
                crowd.name(),
                person.group,
                crowd.pick(["Data", "Policy", "Design"]),
                crowd.pick(
                    ["I care about cities, and people.\nThat is why.", 'My mentor told me; "go" she said.', "To learn."]
                ),
                crowd.pick(["No", "Yes"], [85, 15]),
                int(crowd.rng.integers(1, 6)),
                int(crowd.rng.integers(1, 6)),
                "Y" if person.reached else "N",
                end,
            ]
        )
    for number in range(3):
        rows.insert(
            1 + number,
            [
                f"1/30/2024 9:0{number}:00",
                "test@test.com",
                "TEST please ignore",
                "they/them",
                "Data",
                "test",
                "No",
                "",
                "",
                "",
                "",
            ],
        )
    return told(
        [write_text(folder / "Fellowship 2024 (Responses) - Form Responses 1.csv", rows)],
        crowd,
        steps,
        0,
        "What are your pronouns?",
        "she/her",
        "he/him",
    )


def surveymonkey_award(folder: Path) -> Truth:
    """SurveyMonkey: a second row of headers, races ticked in a column each, and three columns of the staff."""
    steps = ["Eligible", "Shortlisted", "Award"]
    crowd = cohort(
        2125, {"Female": 270, "Male": 230, "Prefer not to say": 20}, [0.85, 0.45, 0.45], 1, {"Female": 0.22}, left=0
    )
    races = ["White", "Black or African American", "Asian", "Hispanic or Latino"]
    rows: list[Row] = [
        [
            "Respondent ID",
            "Collector ID",
            "Start Date",
            "End Date",
            "What is your full name?",
            "What is your gender?",
            "Which of these describe you? (choose all that apply)",
            None,
            None,
            None,
            "What is your field?",
            "Staff use only",
            None,
            None,
        ],
        [None, None, None, None, "Open-Ended Response", "Response", *races, "Response", *steps],
    ]
    for person in crowd.people:
        start = datetime(2024, 1, 9, 9) + timedelta(minutes=int(crowd.rng.integers(60000)))
        main = crowd.pick(races, [55, 20, 12, 13])
        chosen = {main} | ({crowd.pick(races)} if crowd.rng.random() < 0.06 else set())
        rows.append(
            [
                118000000000 + person.number,
                44002211,
                start,
                start + timedelta(minutes=14),
                crowd.name(),
                person.group,
                *[race if race in chosen else None for race in races],
                crowd.pick(["Nursing", "Engineering", "Arts"]),
                *ticks(person, 3, "Y", "N", "N"),
            ]
        )
    path = write_book(folder / "Scholarship application.xlsx", {"Sheet": rows}, {"Sheet": ["G1:J1", "L1:N1"]})
    return told([path], crowd, steps, 1, "What is your gender?", "Female", "Male")


def teach_exercises(folder: Path) -> Truth:
    """An assessment centre: a row for each exercise on the first sheet, the outcomes on the second."""
    crowd = cohort(
        2126,
        {"White": 340, "Black": 150, "Asian": 130, "Mixed": 40, "Prefer not to say": 22},
        [0.52],
        0,
        {"Black": 0.26},
        left=0.06,
    )
    scores: list[Row] = [["Candidate", "Exercise", "Assessor", "Score (1-5)"]]
    ends: list[Row] = [
        ["Candidate no.", "Subject", "Assessment date", "Ethnicity", "Gender", "Total (max 20)", "Outcome"]
    ]
    for person in crowd.people:
        key = f"TF{person.number + 700}"
        marks: list[int] = []
        if not person.left:
            low = 3 if person.reached else 1
            marks = [int(mark) for mark in crowd.rng.integers(low, low + 3, 4)]
            scores += [
                [key, name, crowd.pick(["A1", "A2", "A3"]), mark]
                for name, mark in zip(["Lesson", "Group task", "Interview", "Self-evaluation"], marks, strict=True)
            ]
        end = (
            "Offer"
            if person.reached
            else "Did not attend"
            if person.left
            else crowd.pick(["Reject", "Waiting list"], [9, 1])
        )
        ends.append(
            [
                key,
                crowd.pick(["Maths", "Physics", "English"]),
                crowd.day(date(2024, 1, 15), 90),
                person.group,
                crowd.pick(["F", "M"]),
                sum(marks) if marks else None,
                end,
            ]
        )
    path = write_book(folder / "AC results spring.xlsx", {"Exercise scores": scores, "Outcomes": ends})
    return told([path], crowd, ["Offer"], 0, "Ethnicity", "Black", "White", funnel=False)


# - public bodies, works, tables ---------------------------------------------
def fire_service_intakes(folder: Path) -> Truth:
    """A fire service: a sheet for each intake with the same columns, notes on the last; reserves; DNA."""
    steps = ["Online tests", "Job related tests", "Interview", "Medical", "Appointed"]
    crowd = cohort(2127, {"Male": 540, "Female": 170, "PNTS": 20}, [0.66, 0.72, 0.55, 0.93, 0.7], 1, {"Female": 0.38})
    header = ["Candidate ref", "Date of application", "Sex", "Preferred station", *steps[:4], "Outcome"]
    sheets: dict[str, list[Row]] = {name: [header] for name in ("Intake Mar 23", "Intake Sep 23", "Intake Mar 24")}
    for person in crowd.people:
        name = list(sheets)[person.number % 3]
        end = (
            "Appointed"
            if person.reached == 5
            else "Withdrew"
            if person.left
            else "Reserve list"
            if person.reached == 4
            else "Unsuccessful"
        )
        day = crowd.day(
            {"Intake Mar 23": date(2022, 11, 1), "Intake Sep 23": date(2023, 5, 1)}.get(name, date(2023, 11, 1)), 60
        )
        sheets[name].append(
            [
                f"FF/{person.number + 1:04}",
                serial(day),
                person.group,
                crowd.pick(["Central", "Harbour", "Northgate"]),
                *[cell or None for cell in ticks(person, 5, "Pass", "Fail", "DNA")[:4]],
                end,
            ]
        )
    notes: list[Row] = [
        ["PNTS = prefer not to say"],
        ["DNA = did not attend"],
        ["Reserve list: passed every stage, no post available"],
    ]
    return told(
        [write_book(folder / "Wholetime recruitment.xlsx", {**sheets, "Notes": notes})],
        crowd,
        steps,
        1,
        "Sex",
        "Female",
        "Male",
    )


def union_recall(folder: Path) -> Truth:
    """A recall list after a layoff: everybody was hired and laid off; who was called back is the question."""
    steps = ["Recall Notice Sent", "Return to Work Date"]
    crowd = cohort(2128, {"White": 320, "Black": 180, "Hispanic": 70}, [0.55, 0.85], 0, {"Black": 0.3}, left=0)
    rows: list[Row] = [
        [
            "Seniority No.",
            "Clock #",
            "Classification",
            "Dept",
            "Hire Date",
            "Layoff Date",
            "Recall Notice Sent",
            "Response",
            "Return to Work Date",
            "Race",
            "Sex",
        ]
    ]
    hired = sorted(crowd.day(date(1998, 1, 5), 8500) for _ in crowd.people)
    for person in crowd.people:
        notice = crowd.day(date(2024, 3, 4), 60)
        answer = (
            "" if not person.reached else "Accepted" if person.reached == 2 else crowd.pick(["Declined", "No response"])
        )
        rows.append(
            [
                person.number + 1,
                6200 + person.number,
                crowd.pick(["Assembler", "Welder", "Painter"]),
                crowd.pick(["Body", "Paint", "Trim"]),
                f"{hired[person.number]:%m/%d/%Y}",
                f"{crowd.day(date(2023, 10, 2), 20):%m/%d/%Y}",
                f"{notice:%m/%d/%Y}" if person.reached else "",
                answer,
                f"{crowd.later(notice):%m/%d/%Y}" if person.reached == 2 else "",
                person.group,
                crowd.pick(["M", "F"], [7, 3]),
            ]
        )
    return told([write_text(folder / "Local 412 recall register.csv", rows)], crowd, steps, 0, "Race", "Black", "White")


def ukg_increases(folder: Path) -> Truth:
    """Rises outside the yearly round: nominated, supported, approved; everybody is 'Active'."""
    steps = ["Manager Nominated", "HRBP Review", "Comp Committee"]
    crowd = cohort(2129, {"F": 390, "M": 470}, [0.4, 0.75, 0.8], 0, {"F": 0.22}, left=0)
    rows: list[Row] = [
        [
            "Employee Number",
            "Employment Status",
            "Org Level 1",
            "Job",
            "Pay Grade",
            "Last Hire Date",
            "Gender",
            "Current Base",
            "Manager Nominated",
            "HRBP Review",
            "Comp Committee",
            "New Base",
        ]
    ]
    for person in crowd.people:
        base = int(crowd.rng.integers(52, 140)) * 1000
        review = "" if person.reached < 1 else "Supported" if person.reached > 1 else "Not supported"
        board = "" if person.reached < 2 else "Approved" if person.reached > 2 else crowd.pick(["Denied", "Deferred"])
        rows.append(
            [
                f"{person.number + 100:06}",
                "Active",
                crowd.pick(["Sales", "R&D", "Operations"]),
                crowd.pick(["Analyst", "Engineer", "Manager"]),
                f"P{int(crowd.rng.integers(3, 8))}",
                f"{crowd.day(date(2009, 1, 5), 5000):%m/%d/%Y}",
                person.group,
                f"{base:,}.00",
                "Y" if person.reached else "N",
                review,
                board,
                f"{round(base * 1.06):,}.00" if person.reached > 2 else "",
            ]
        )
    return told([write_text(folder / "Off-cycle increases FY24.csv", rows)], crowd, steps, 0, "Gender", "F", "M")


def aap_flow_log(folder: Path) -> Truth:
    """An applicant flow log for an affirmative action plan: codes for dispositions and races, explained behind."""
    steps = ["Phone screen", "Interview", "Offer", "Hired"]
    crowd = cohort(2130, {"W": 430, "B": 270, "H": 110, "A": 90, "X": 30}, [0.52, 0.55, 0.4, 0.85], 0, {"B": 0.3})
    rows: list[Row] = [["AAP Job Group", "Req #", "Applicant ID", "Date Applied", "Race", "Sex", "Disp Code"]]
    for person in crowd.people:
        code = [("10", "11"), ("20", "21"), ("30", "31"), ("40", "40"), ("50", "50")][person.reached][person.left]
        rows.append(
            [
                crowd.pick(["2A", "3B", "5C"]),
                f"R{int(crowd.rng.integers(100, 140))}",
                f"A{person.number + 5000}",
                crowd.day(date(2023, 1, 4), 350),
                person.group,
                crowd.pick(["M", "F", "X"], [48, 48, 4]),
                int(code),
            ]
        )
    legend: list[Row] = [
        ["Disposition code", "Description"],
        [10, "Considered, not selected for phone screen"],
        [11, "Applicant withdrew before phone screen"],
        [20, "Phone screened, not selected for interview"],
        [21, "Phone screened, applicant withdrew before interview"],
        [30, "Interviewed, not selected"],
        [31, "Interviewed, applicant withdrew"],
        [40, "Offer extended, declined by applicant"],
        [50, "Hired"],
        [],
        ["Race code", "Description"],
        ["W", "White"],
        ["B", "Black or African American"],
        ["H", "Hispanic or Latino"],
        ["A", "Asian"],
        ["X", "Not disclosed"],
    ]
    return told(
        [write_book(folder / "Applicant Flow Log 2023.xlsx", {"Log": rows, "Codes": legend})],
        crowd,
        steps,
        0,
        "Race",
        "B",
        "W",
        names=("B|Black or African American", "W|White"),
    )


def tidy_counts_regions(folder: Path) -> Truth:
    """Published counts: a row for year, region, status and stage; totals among them, small numbers withheld."""
    steps = ["Shortlisted", "Appointed"]
    crowd = cohort(
        2131,
        {"Not disabled": 900, "Disabled": 320, "Prefer not to say": 240},
        [0.46, 0.42],
        0,
        {"Disabled": 0.28},
        left=0,
    )
    regions = ["East", "London", "Midlands", "North", "South", "Wales"]
    counts: dict[tuple[str, str, str, str], int] = {}
    for person in crowd.people:
        year, region = crowd.pick(["2022/23", "2023/24"]), crowd.pick(regions)
        for stage in ["Applied", *steps][: person.reached + 1]:
            for place in (region, "All regions"):
                key = (year, place, person.group, stage)
                counts[key] = counts.get(key, 0) + 1
    rows: list[Row] = [["Year", "Region", "Disability status", "Stage", "Number of people"]]
    for year in ("2022/23", "2023/24"):
        for place in ["All regions", *regions]:
            for group in ("Disabled", "Not disabled", "Prefer not to say"):
                for stage in ("Applied", *steps):
                    count = counts.get((year, place, group, stage), 0)
                    rows.append([year, place, group, stage, count if count >= 10 else "fewer than 10"])
    return told(
        [write_text(folder / "recruitment_by_disability.csv", rows)],
        crowd,
        steps,
        0,
        "Disability status",
        "Disabled",
        "Not disabled",
    )


def wide_counts_by_stage(folder: Path) -> Truth:
    """A summary with a row for each stage and a column for each group; one row is no stage."""
    steps = ["Passed online test", "Video interview", "Assessment centre", "Offers made", "Offers accepted"]
    crowd = cohort(
        2132,
        {"Men": 742, "Women": 561, "Non-binary": 9, "Not disclosed": 62},
        [0.7, 0.6, 0.5, 0.5, 0.85],
        1,
        {"Women": 0.4},
        left=0,
    )
    groups = ["Men", "Women", "Non-binary", "Not disclosed"]
    lines = []
    for step in range(6):
        found = [sum(person.group == group and person.reached >= step for person in crowd.people) for group in groups]
        lines.append(
            [
                ["Applications", *steps][step],
                *[f"{count:,}" if count >= 5 else "<5" for count in found],
                f"{sum(found):,}",
            ]
        )
    lines.insert(3, ["of whom withdrew after the interview", "21", "12", "-", "-", "33"])
    rows: list[Row] = [["Graduate programme 2024: candidates by gender"], [], ["Stage", *groups, "Total"], *lines]
    return told([write_text(folder / "graduate_funnel.csv", rows)], crowd, steps, 1, "Gender", "Women", "Men")


# - nothing to compare, and files that cannot tell ---------------------------
def mail_merge_regrets(folder: Path) -> Truth:
    """A list for a mail merge: everybody in it gets the letter of regret."""
    crowd = cohort(2133, {"Mr": 210, "Ms": 150, "Mrs": 70, "Dr": 12}, [0.5], 0, {})
    rows: list[Row] = [
        ["Title", "Initial", "Surname", "Address 1", "Town", "Postcode", "Vacancy", "Letter", "Date sent"]
    ]
    for person in crowd.people:
        initial, surname = crowd.name().split()
        rows.append(
            [
                person.group,
                initial,
                surname,
                f"{int(crowd.rng.integers(1, 180))} High Street",
                crowd.pick(["Leeds", "Hull", "York"]),
                f"LS{person.number % 28 + 1} 4QT",
                crowd.pick(["Customer adviser", "Case worker"]),
                "REGRET-2",
                "14/06/2024",
            ]
        )
    return nothing(write_text(folder / "mailmerge_june.csv", rows))


def headcount_snapshot(folder: Path) -> Truth:
    """A list of the staff on one day: nobody decided anything about them."""
    crowd = cohort(2134, {"Female": 330, "Male": 410}, [0.5], 0, {})
    rows: list[Row] = [
        ["Headcount as of 06/30/2024"],
        [],
        [
            "Worker",
            "Employee ID",
            "Gender",
            "Race/Ethnicity",
            "Job Profile",
            "Grade",
            "FTE %",
            "Location",
            "Original Hire Date",
            "Worker Type",
            "Time Type",
        ],
    ]
    for person in crowd.people:
        rows.append(
            [
                crowd.name(),
                20100 + person.number,
                person.group,
                crowd.pick(["White", "Black or African American", "Asian", "Hispanic or Latino"], [60, 15, 14, 11]),
                crowd.pick(["Analyst", "Technician", "Manager"]),
                f"G{int(crowd.rng.integers(4, 11))}",
                int(crowd.rng.choice([100, 100, 100, 80, 50])),
                crowd.pick(["Dallas", "Phoenix"]),
                crowd.day(date(2008, 1, 7), 5800),
                "Employee",
                crowd.pick(["Full time", "Part time"], [8, 2]),
            ]
        )
    return nothing(write_book(folder / "Headcount.xlsx", {"Sheet1": rows}))


def codes_without_legend(folder: Path) -> Truth:
    """A table from a data warehouse: the status is a number that nothing explains."""
    crowd = cohort(2135, {"F": 320, "M": 350}, [0.52, 0.5, 0.45], 0, {"F": 0.3}, left=0)
    rows: list[Row] = [["APPL_ID", "REQ_ID", "APPL_DT", "STAT_CD", "SRC_CD", "SEX_CD"]]
    for person in crowd.people:
        rows.append(
            [
                880000 + person.number,
                5100 + int(crowd.rng.integers(20)),
                f"{crowd.day(date(2024, 1, 2), 340):%Y%m%d}",
                [10, 20, 30, 40][person.reached],
                int(crowd.rng.integers(1, 6)),
                person.group,
            ]
        )
    return told(
        [write_text(folder / "APPL_FACT.csv", rows, sep="|")],
        crowd,
        ["20", "30", "40"],
        0,
        "SEX_CD",
        "F",
        "M",
        may_ask=True,
    )


def reorganisation_selected(folder: Path) -> Truth:
    """A list for a reorganisation: 'Selected', but the file does not say whether to stay or to go."""
    crowd = cohort(2136, {"Female": 200, "Male": 240}, [0.58], 0, {"Female": 0.34}, left=0)
    rows: list[Row] = [
        ["Project Falcon: people list v7 (confidential)"],
        [],
        ["Employee", "Function", "Level", "Service (yrs)", "Score", "Gender", "Selected"],
    ]
    for person in crowd.people:
        rows.append(
            [
                f"E{person.number + 300}",
                crowd.pick(["Finance", "IT", "Claims"]),
                int(crowd.rng.integers(2, 7)),
                int(crowd.rng.integers(1, 28)),
                round(float(crowd.rng.uniform(1, 5)), 1),
                person.group,
                "Y" if person.reached else "N",
            ]
        )
    return told(
        [write_book(folder / "Falcon_v7.xlsx", {"List": rows})],
        crowd,
        ["Selected"],
        0,
        "Gender",
        "Female",
        "Male",
        funnel=False,
        may_ask=True,
    )


INDEPENDENT: dict[str, Callable[[Path], Truth]] = {
    function.__name__: function
    for function in (
        zoho_recruit,
        smartrecruiters_history,
        recruitee_api,
        pageup_dispositions,
        eightfold_lines,
        brassring_other_req,
        paylocity_merged,
        codility_sessions,
        trello_board,
        jira_candidates,
        otys_voorstellen,
        zucchetti_fasi,
        solides_etapas,
        beetween_etapes,
        emply_trin,
        offizier_eignung,
        becas_nota_de_corte,
        befoerderung_stichtag,
        messe_haekchen,
        interfolio_search,
        slate_decisions,
        ucas_codes,
        eras_rank_list,
        google_form_fellows,
        surveymonkey_award,
        teach_exercises,
        fire_service_intakes,
        union_recall,
        ukg_increases,
        aap_flow_log,
        tidy_counts_regions,
        wide_counts_by_stage,
        mail_merge_regrets,
        headcount_snapshot,
        codes_without_legend,
        reorganisation_selected,
    )
}

FIRST_RUN = {
    "zoho_recruit": "asked, then misread",
    "smartrecruiters_history": "partly right",
    "recruitee_api": "refused",
    "pageup_dispositions": "misread",
    "eightfold_lines": "misread",
    "brassring_other_req": "refused",
    "paylocity_merged": "misread",
    "codility_sessions": "refused",
    "trello_board": "asked, then misread",
    "jira_candidates": "misread",
    "otys_voorstellen": "asked, then right",
    "zucchetti_fasi": "misread",
    "solides_etapas": "partly right",
    "beetween_etapes": "asked, then misread",
    "emply_trin": "refused",
    "offizier_eignung": "refused",
    "becas_nota_de_corte": "asked, then right",
    "befoerderung_stichtag": "misread",
    "messe_haekchen": "misread",
    "interfolio_search": "misread",
    "slate_decisions": "misread",
    "ucas_codes": "refused",
    "eras_rank_list": "asked, then right",
    "google_form_fellows": "misread",
    "surveymonkey_award": "asked, then right",
    "teach_exercises": "misread",
    "union_recall": "asked, then misread",
    "aap_flow_log": "misread",
    "tidy_counts_regions": "misread",
    "wide_counts_by_stage": "refused",
    "mail_merge_regrets": "asked, then misread",
    "codes_without_legend": "refused",
    "reorganisation_selected": "asked, then misread",
}
"""What the first run did not read right, before anybody who works on the reading had seen an export."""
