# ruff: noqa: E501
"""Twenty-four exports in shapes that vendors and public bodies document, written before the reader was run on any.

`FIRST` were read once before the reading was worked on, `HELD` once after that: neither the files nor their truths
change. Sources: Ashby's application status (Active, Hired, Archived, Lead) and archive reasons; SuccessFactors' system
statuses (Forwarded, Invited to Apply, Auto Disqualified, Requisition Closed, Hired On Other Requisition, Declined
DPCS); Taleo's workflow, step and status; USA Staffing's milestones (qualified, referred, selected) and codes of
notices; Texas' applicant review by posting; applicant-flow logs of federal contractors, which keep whether somebody was
selected (S) or rejected (R), or only the reason for not selecting them. People are invented.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from exports.fresh import BLACK, One, _race, _sex, draw, refusal, truth
from exports.unseen import Truth, _csv, _xlsx

WEEK = datetime.timedelta(days=7)


def _old(p: One) -> str:
    return "40 and over" if p.age >= 40 else "under 40"


def _letter(p: One) -> str:
    return p.sex[0]


# Read before the reading was worked on --------------------------------------------------------------------------------


def ashby_applications(folder: Path) -> Truth:
    """Status Archived hides both rejections and withdrawals; the reason tells them apart; the stage is the last one."""
    people = draw(1100, 2001, [0.45, 0.5, 0.35], "sex", "Female", 1, 0.55, withdraw=0.08, active=0.05)
    stages = ("Application Review", "Recruiter Screen", "Onsite", "Offer Accepted")
    reasons = ("Not enough relevant experience", "Weak technical skills", "Another candidate was chosen")
    rows = []
    for p in people:
        status = {"good": "Hired", "active": "Active"}.get(p.end, "Archived")
        reason = "Candidate withdrew" if p.end == "withdrew" else reasons[p.number % 3] if p.end == "out" else ""
        rows.append(
            (
                f"a{p.number:05x}", f"c{p.number:05x}", f"{p.department} Lead", f"{p.applied}T09:{p.number % 60:02}:11.204Z", stages[p.reached], status, reason,
                ("Inbound", "Referral", "Sourced")[p.job % 3], p.sex if p.number % 19 else "Decline to self-identify",
            )
        )  # fmt: skip
    header = (
        "Application ID",
        "Candidate ID",
        "Job",
        "Created At",
        "Current Interview Stage",
        "Status",
        "Archive Reason",
        "Source Type",
        "Gender",
    )
    path = _csv(folder / "ashby_applications.csv", header, rows)
    return truth(path, people, lambda p: p.sex if p.number % 19 else "?", ("Gender", "Female", "Male"), 1, "Onsite", steps=3)  # fmt: skip


def successfactors_statuses(folder: Path) -> Truth:
    """One status from a pipeline, with system statuses that mean rejected, withdrawn or no application at all."""
    people = draw(1300, 2002, [0.5, 0.5, 0.4], "race", BLACK, 0, 0.6, withdraw=0.06)
    out = (
        ("Auto Disqualified", "Not Suitable - Screening"),
        ("Not Suitable - Phone Screen",),
        ("Not Suitable - Interview", "Requisition Closed"),
    )
    rows = []
    for p in people:
        status = {"good": "Hired", "withdrew": "Withdrawn By Candidate"}.get(p.end) or out[p.reached][
            p.number % len(out[p.reached])
        ]
        rows.append((3000 + p.job, 88000 + p.number, f"{p.applied:%d/%m/%Y}", status, f"{p.dates[p.reached - 1]:%d/%m/%Y}", p.department, p.race, p.sex))  # fmt: skip
    header = (
        "Job Req Id",
        "Application Id",
        "Application Date",
        "Application Status",
        "Last Modified",
        "Division",
        "Race/Ethnicity",
        "Gender",
    )
    path = _csv(folder / "sf_adhoc.csv", header, rows, separator=";", encoding="utf-8-sig")
    return truth(path, people, _race, ("Race/Ethnicity", BLACK, "White"), 0, "Phone Screen", steps=0)


def nonselection_only(folder: Path) -> Truth:
    """A contractor's log that keeps only why somebody was not selected: blank for those hired."""
    people = draw(950, 2003, [0.24], "sex", "Female", 0, 0.55)
    reasons = (
        "Lacks required licence",
        "Less relevant experience",
        "Failed skills test",
        "Salary requirements too high",
    )
    rows = [
        (f"{p.applied:%m/%d/%Y}", p.name, f"{p.department} Associate", f"JG-{p.job % 5}", p.race, p.sex[0], "Y" if p.veteran else "N", "" if p.good else reasons[p.number % 4])
        for p in people
    ]  # fmt: skip
    header = (
        "Date Received",
        "Applicant Name",
        "Position Applied For",
        "Job Group",
        "Race",
        "Sex",
        "Veteran",
        "Reason for Non-Selection",
    )
    path = _csv(folder / "flow_log_reasons.csv", header, rows)
    return truth(path, people, _letter, ("Sex", "F", "M"), 0, "selected", counted=0, steps=1, may_ask=True)


def flow_log_letters(folder: Path) -> Truth:
    """Selected (S) or rejected (R), race by a letter with a legend at the foot."""
    people = draw(1000, 2004, [0.25], "race", BLACK, 0, 0.5)
    letters = {"White": "W", BLACK: "B", "Asian": "A", "Hispanic or Latino": "H", "Two or More Races": "T"}
    rows: list[Sequence[object]] = [
        (p.number + 1, f"{p.applied:%m/%d/%y}", p.department, letters[p.race], p.sex[0], "S" if p.good else "R", f"{p.dates[0]:%m/%d/%y}" if p.good else "")
        for p in people
    ]  # fmt: skip
    rows += [(), ("S = selected, R = rejected",), ("W = White, B = Black, A = Asian, H = Hispanic, T = Two or more",)]
    header = ("No.", "Date Rec'd", "Dept", "Race", "Sex", "S/R", "Date of Hire")
    path = _csv(folder / "flow_log_letters.csv", header, rows)
    return truth(
        path,
        people,
        lambda p: letters[p.race],
        ("Race", "B|Black|Black or African American", "W|White"),
        0,
        "S",
        steps=1,
    )


def usa_staffing_codes(folder: Path) -> Truth:
    """A notice code for everybody out, a date of referral, selection as an audit code."""
    people = draw(1400, 2005, [0.65, 0.5, 0.2], "sex", "Female", 1, 0.6, withdraw=0.03)
    rows = []
    for p in people:
        code = "IDPN" if p.end == "withdrew" else ("IQOR", "IOPF")[p.number % 2] if p.reached == 0 else ""
        audit = "" if p.reached < 2 else "S" if p.good else "D" if p.end == "withdrew" else "NS"
        rows.append(
            (
                f"{11200000 + p.job}", f"{p.number + 500000}", "MQ" if p.reached else "NQ", code, f"{p.dates[1]:%m/%d/%Y}" if p.reached > 1 else "", audit,
                ("Best Qualified", "Well Qualified", "Qualified")[p.rating % 3] if p.reached else "", p.sex if p.number % 13 else "Not Provided",
            )
        )  # fmt: skip
    header = (
        "Vacancy Number",
        "Applicant ID",
        "Minimum Qualification",
        "NOR Code",
        "Date Referred",
        "Audit Code",
        "Category",
        "Sex",
    )
    path = _csv(folder / "usas_applicants.csv", header, rows)
    return truth(
        path, people, lambda p: p.sex if p.number % 13 else "?", ("Sex", "Female", "Male"), 1, "Date Referred", steps=3
    )


def taleo_three_columns(folder: Path) -> Truth:
    """Workflow, step and status in three columns: the status is only about the step."""
    people = draw(1200, 2006, [0.5, 0.45, 0.4], "race", BLACK, 0, 0.55, withdraw=0.05)
    steps = ("New", "Phone Screen", "Interview", "Hire")

    def status(p: One) -> str:
        return {"good": "Hired", "withdrew": "Has Declined"}.get(p.end, "Rejected")

    rows = [
        (f"{p.number + 20000}", f"{2500000 + p.job}", "Corporate CSW", steps[p.reached], status(p), f"{p.applied:%b %d, %Y}", f"{p.dates[max(p.reached - 1, 0)]:%b %d, %Y}", p.race, p.sex)
        for p in people
    ]  # fmt: skip
    header = (
        "Submission ID",
        "Requisition Number",
        "CSW Workflow",
        "CSW Step (Current)",
        "CSW Status (Current)",
        "Submission Completed Date",
        "CSW Last Activity",
        "EEO Ethnicity",
        "EEO Gender",
    )
    path = _xlsx(
        folder / "taleo_csw.xlsx", {"Report 1": [("Submissions by CSW",), ("Run: 03-Nov-2025",), (), header, *rows]}
    )
    return truth(path, people, _race, ("EEO Ethnicity", BLACK, "White"), 0, "Phone Screen", steps=3)


def lever_archived(folder: Path) -> Truth:
    """Hired is itself an archive; archived_at is filled for everybody who is out, and for those hired."""
    people = draw(1000, 2007, [0.4, 0.5, 0.4], "sex", "Female", 0, 0.6, withdraw=0.06, active=0.04)
    stages = ("New applicant", "Phone interview", "On-site interview", "Offer")
    rows = []
    for p in people:
        reason = {"good": "Hired", "withdrew": "Withdrew", "active": ""}.get(
            p.end, ("Underqualified", "Unresponsive hiring manager", "Culture")[p.number % 3]
        )
        at = (
            ""
            if p.end == "active"
            else f"{int(datetime.datetime.combine(p.dates[-1], datetime.time()).timestamp())}000"
        )
        rows.append((f"{p.number:08x}", f"post-{p.job}", stages[p.reached], ("applied", "referred", "sourced")[p.number % 3], at, reason, p.sex, p.race))  # fmt: skip
    header = (
        "opportunity_id",
        "posting_id",
        "stage",
        "origin",
        "archived_at",
        "archived_reason",
        "eeo_gender",
        "eeo_race",
    )
    path = _csv(folder / "lever_opportunities.csv", header, rows)
    return truth(path, people, _sex, ("eeo_gender", "Female", "Male"), 0, "Phone interview", steps=3)


def workday_last_stage(folder: Path) -> Truth:
    """Candidate stage is how it ended; the last recruiting stage is where."""
    people = draw(1150, 2008, [0.5, 0.45, 0.5], "race", BLACK, 1, 0.55, withdraw=0.05)
    stages = ("Review", "Screen", "Interview", "Offer")
    rows = [
        (
            f"C{p.number:06}", f"R-{p.job + 900}", {"good": "Hired", "withdrew": "Withdrawn"}.get(p.end, "Rejected"), stages[p.reached],
            "" if p.good else "Candidate withdrew" if p.end == "withdrew" else ("Experience", "Skills", "Other candidate selected")[p.number % 3], f"{p.applied}", p.race, p.department,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Candidate_ID",
        "Job_Req_ID",
        "Candidate_Stage",
        "Last_Recruiting_Stage",
        "Disposition_Reason",
        "Application_Date",
        "Race_Ethnicity",
        "Supervisory_Org",
    )
    path = _csv(folder / "wd_candidates.csv", header, rows)
    return truth(path, people, _race, ("Race_Ethnicity", BLACK, "White"), 1, "Interview", steps=3)


def promotion_slate(folder: Path) -> Truth:
    """Eligible, nominated by a manager, calibrated, promoted: effective date and new grade only for those promoted."""
    people = draw(1200, 2009, [0.4, 0.6, 0.7], "sex", "Female", 0, 0.6)
    rows = [
        (
            70000 + p.number, p.department, f"L{p.job % 4 + 3}", p.rating, "Yes" if p.reached > 0 else "No", "" if not p.reached else "Supported" if p.reached > 1 else "Not supported",
            f"L{p.job % 4 + 4}" if p.good else "", "2025-10-01" if p.good else "", p.sex, p.race, p.age,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Employee Number",
        "Function",
        "Current Grade",
        "Performance Rating",
        "Nominated",
        "Calibration Outcome",
        "New Grade",
        "Promotion Effective Date",
        "Gender",
        "Ethnicity",
        "Age",
    )
    path = _csv(folder / "promotion_slate_2025.csv", header, rows)
    return truth(path, people, _sex, ("Gender", "Female", "Male"), 0, "Nominated", steps=3)


def rif_matrix(folder: Path) -> Truth:
    """A selection matrix: impacted or retained, points that decided, birth dates; terminations are the bad outcome."""
    people = draw(1000, 2010, [0.78], "age", "old", 0, 0.78)
    rows = [
        (f"{600 + p.number}", p.department, f"{p.applied.replace(year=2025 - p.age, month=1, day=1 + p.number % 28):%m/%d/%Y}", p.sex, p.rating, 10 - p.rating, "Retained" if p.good else "Impacted", "09/15/2025")
        for p in people
    ]  # fmt: skip
    header = ("Emp #", "Business Unit", "DOB", "Gender", "Skills Pts", "Tenure Pts", "RIF Decision", "Decision Date")
    path = _csv(folder / "rif_matrix.csv", header, rows)
    return truth(path, people, _old, ("DOB", "40 and over", "under 40"), 0, "Retained", steps=1)


def admissions_decisions(folder: Path) -> Truth:
    """University: complete files, decision, deposit; an admitted student who declined was admitted all the same."""
    people = draw(1600, 2011, [0.85, 0.45], "race", BLACK, 1, 0.6)
    rows = []
    for p in people:
        decision = (
            ("Admit", "Admit", "Admit/Scholarship")[p.number % 3]
            if p.good
            else "Incomplete"
            if not p.reached
            else ("Deny", "Waitlist - not admitted")[p.number % 2]
        )
        rows.append((f"A{p.number:05}", "Fall 2025", ("Nursing", "Biology", "History")[p.job % 3], "Y" if p.reached else "N", decision, "Paid" if p.good and p.number % 2 else "", round(2 + p.cv / 40, 2), p.sex, p.race))  # fmt: skip
    header = (
        "Applicant ID",
        "Entry Term",
        "Program",
        "File Complete",
        "Decision",
        "Deposit",
        "HS GPA",
        "Legal Sex",
        "Ethnicity",
    )
    path = _csv(folder / "slate_decisions.csv", header, rows)
    return truth(path, people, _race, ("Ethnicity", BLACK, "White"), 1, "Decision", counted=0, steps=0)


def job_group_counts(folder: Path) -> Truth:
    """Adverse-impact worksheet: applicants and hires by job group, side by side for men and women, with a total row."""
    people = draw(2400, 2012, [0.2], "sex", "Female", 0, 0.6)
    rows: list[Sequence[object]] = []
    for group in range(6):
        own = [p for p in people if p.job % 6 == group]
        cells = [
            sum(p.sex == sex and (p.good or not hired) for p in own)
            for hired in (False, True)
            for sex in ("Male", "Female")
        ]
        rows.append((f"{group + 1}A", *cells))
    rows.append(("Total", *(sum(row[k] for row in rows) for k in range(1, 5))))  # type: ignore[misc]
    path = _csv(
        folder / "iar_worksheet.csv",
        ("Job Group", "Male Applicants", "Female Applicants", "Male Hires", "Female Hires"),
        rows,
    )
    return truth(path, people, _sex, ("Gender", "Female", "Male"), 0, "Hires", steps=1)


# Read after it ---------------------------------------------------------------------------------------------------------


def greenhouse_stage_dates(folder: Path) -> Truth:
    """A date for each stage entered, rejected and hired dates, a reason with its type."""
    people = draw(1050, 2101, [0.5, 0.5, 0.4], "sex", "Female", 0, 0.6, withdraw=0.06, active=0.03)
    rows = [
        (
            p.number + 40000, f"{p.department} Manager", f"{p.applied}", *(f"{p.dates[k]}" if p.reached > k else "" for k in range(2)), f"{p.dates[2] + WEEK}" if p.end in ("out", "withdrew") else "",
            {"withdrew": "They rejected us", "out": "We rejected them"}.get(p.end, ""), f"{p.dates[2]}" if p.good else "", p.sex if p.number % 21 else "I don't wish to answer", p.race,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Application ID",
        "Job Name",
        "Applied On",
        "Entered Phone Interview On",
        "Entered Onsite On",
        "Rejected On",
        "Rejection Reason Type",
        "Hired On",
        "Gender",
        "Race",
    )
    path = _csv(folder / "gh_stage_dates.csv", header, rows)
    return truth(
        path,
        people,
        lambda p: p.sex if p.number % 21 else "?",
        ("Gender", "Female", "Male"),
        0,
        "Entered Phone Interview On",
        steps=3,
    )


def icims_bins(folder: Path) -> Truth:
    """A bin and a status; the bins are numbered in the order of the workflow."""
    people = draw(1250, 2102, [0.5, 0.5, 0.35], "race", BLACK, 1, 0.55, withdraw=0.05)
    bins = ("1. Applied", "2. Recruiter Review", "3. Interview", "4. Hired")
    rows = [
        (
            p.number + 7_000_000, f"2025-{1100 + p.job}", bins[p.reached], "Hired: Placed" if p.good else "Candidate Withdrew" if p.end == "withdrew" else f"Rejected: {('Less qualified', 'No show')[0]}",
            f"{p.applied:%m/%d/%Y %I:%M %p}", p.race, p.sex,
        )
        for p in people
    ]  # fmt: skip
    header = (
        "Recruiting Workflow Profile ID",
        "Job : Requisition ID",
        "Bin",
        "Recruiting Workflow Status",
        "Submitted Date",
        "Person : Race",
        "Person : Gender",
    )
    path = _csv(folder / "icims_workflow.csv", header, rows)
    return truth(path, people, _race, ("Person : Race", BLACK, "White"), 1, "3. Interview", steps=3)


def bamboo_events(folder: Path) -> Truth:
    """A history of status changes, several rows an applicant; groups in a second file."""
    people = draw(800, 2103, [0.5, 0.5, 0.4], "sex", "Female", 1, 0.5, withdraw=0.05)
    words = ("Schedule Phone Screen", "Schedule Interview", "Hired")
    rows = []
    for p in people:
        rows.append((p.number + 1, f"{p.applied}", "New", "system"))
        rows += [(p.number + 1, f"{p.dates[k]}", words[k], "recruiter") for k in range(p.reached)]
        if not p.good:
            rows.append(
                (
                    p.number + 1,
                    f"{p.dates[-1] + WEEK}",
                    "Withdrew" if p.end == "withdrew" else ("Not a Fit", "Not Qualified")[p.number % 2],
                    "recruiter",
                )
            )
    log = _csv(folder / "bamboo_status_history.csv", ("applicantId", "changedDate", "status", "changedBy"), rows)
    eeo = _csv(folder / "bamboo_eeo.csv", ("applicantId", "gender", "ethnicity", "veteranStatus"), [(p.number + 1, p.sex, p.race, "Yes" if p.veteran else "No") for p in people])  # fmt: skip
    return truth((log, eeo), people, _sex, ("gender", "Female", "Male"), 1, "Schedule Interview", steps=3)


def teamtailor_rejected(folder: Path) -> Truth:
    """The stage, and a rejected date: no column says hired but the name of the last stage."""
    people = draw(1000, 2104, [0.45, 0.5, 0.5], "sex", "Female", 0, 0.55)
    stages = ("Inbox", "First interview", "Final interview", "Hired")
    rows = [
        (f"tt{p.number}", p.department, stages[p.reached], "" if p.good else f"{p.dates[-1]} 10:00", "" if p.good else ("Not the right profile", "Role filled")[p.number % 2], f"{p.applied} 08:30", p.sex)
        for p in people
    ]  # fmt: skip
    header = ("Candidate ID", "Job department", "Stage", "Rejected at", "Reject reason", "Applied at", "Sex")
    path = _csv(folder / "teamtailor.csv", header, rows)
    return truth(path, people, _sex, ("Sex", "Female", "Male"), 0, "First interview", steps=3)


def smartrecruiters_json(folder: Path) -> Truth:
    """JSON Lines with nested answers; the status of an application is upper case."""
    people = draw(900, 2105, [0.5, 0.5, 0.4], "race", BLACK, 0, 0.55, withdraw=0.05)
    names = ("NEW", "IN_REVIEW", "INTERVIEW", "OFFERED")
    lines = [
        json.dumps(
            {
                "id": f"app-{p.number}", "job": {"refNumber": f"REF{p.job}", "department": p.department},
                "status": {"good": "HIRED", "withdrew": "WITHDRAWN"}.get(p.end, "REJECTED"), "lastActiveStage": names[p.reached],
                "diversity": {"ethnicity": p.race, "gender": p.sex}, "createdOn": f"{p.applied}T08:00:00Z",
            }
        )
        for p in people
    ]  # fmt: skip
    path = folder / "sr_applications.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return truth(path, people, _race, ("diversity.ethnicity", BLACK, "White"), 0, "IN_REVIEW", steps=3)


def texas_review(folder: Path) -> Truth:
    """Applicant review by posting: an application status in capitals, one list for each posting below another."""
    people = draw(900, 2106, [0.4, 0.35], "sex", "Female", 0, 0.55)
    words = ("NOT INTERVIEWED", "INTERVIEWED NOT SELECTED", "SELECTED")
    rows = [
        (f"{30000 + p.job}", f"{p.applied:%m/%d/%Y}", f"{p.number + 1:06}", words[p.reached], f"{p.dates[-1]:%m/%d/%Y}", ("WEB", "AGENCY", "FAIR")[p.number % 3], p.race.upper(), p.sex[0])
        for p in people
    ]  # fmt: skip
    header = (
        "POSTING NOTICE",
        "APPLCTN DATE",
        "APPLICANT NUMBER",
        "APPLICATION STATUS",
        "STATUS DATE",
        "REFERRAL SOURCE",
        "ETHNICITY",
        "SEX",
    )
    path = _csv(folder / "report_980.csv", header, rows)
    return truth(path, people, _letter, ("SEX", "F", "M"), 0, "INTERVIEWED", steps=2)


def civil_exam(folder: Path) -> Truth:
    """A list of eligibles: pass or fail, a rank, certified, appointed; the score is known for those who came."""
    people = draw(1300, 2107, [0.6, 0.5, 0.4], "race", BLACK, 0, 0.62)
    rows = []
    rank = 0
    for p in people:
        rank += p.reached > 0
        rows.append((f"X{p.number:04}", round(55 + p.cv / 4 + 12 * (p.reached > 0), 2), "PASS" if p.reached else "FAIL", rank if p.reached else "", f"{p.dates[1]:%m/%d/%Y}" if p.reached > 1 else "", "APPOINTED" if p.good else "" if p.reached < 2 else "CONSIDERED NOT APPOINTED", p.race, p.sex))  # fmt: skip
    header = ("Exam ID", "Final Score", "Result", "List Rank", "Cert Date", "Disposition", "Race", "Sex")
    path = _csv(folder / "eligible_list.csv", header, rows)
    return truth(path, people, _race, ("Race", BLACK, "White"), 0, "Result", steps=3)


def tenure_review(folder: Path) -> Truth:
    """Faculty: department vote, dean, tenure granted or denied; withdrew from review."""
    people = draw(800, 2108, [0.75, 0.8], "sex", "Female", 0, 0.75, withdraw=0.1)

    def final(p: One) -> str:
        return {"good": "Granted", "withdrew": "Withdrew from review"}.get(p.end, "Denied")

    rows = [
        (f"F{p.number}", p.department, 2015 + p.job % 9, "" if p.end == "withdrew" and not p.reached else "Favorable" if p.reached else "Unfavorable", final(p), p.sex, p.race)
        for p in people
    ]  # fmt: skip
    header = ("Faculty ID", "School", "Hire Year", "Department Vote", "Tenure Decision", "Gender", "Race/Ethnicity")
    path = _csv(folder / "tenure_cases.csv", header, rows)
    return truth(path, people, _sex, ("Gender", "Female", "Male"), 0, "Department Vote", steps=2)


def furlough_recall(folder: Path) -> Truth:
    """Who was called back: the good outcome is the recall, and everybody was laid off before."""
    people = draw(1000, 2109, [0.55], "age", "old", 0, 0.7)
    rows = [
        (f"{p.number + 900}", p.site, "Laid off 2025-03-01", "Recalled" if p.good else "Not recalled", f"{p.dates[0]}" if p.good else "", p.age, p.sex)
        for p in people
    ]  # fmt: skip
    header = ("Badge", "Plant", "Layoff Event", "Recall Status", "Recall Date", "Age", "Gender")
    path = _csv(folder / "recalls.csv", header, rows)
    return truth(path, people, _old, ("Age", "40 and over", "under 40"), 0, "Recalled", steps=1)


def stacked_flow_counts(folder: Path) -> Truth:
    """Milestones of a vacancy in rows, groups in columns, as applicant-flow tables print them."""
    people = draw(2200, 2110, [0.6, 0.5, 0.2], "race", BLACK, 1, 0.6)
    groups = tuple(dict.fromkeys(["White", BLACK, "Asian", "Hispanic or Latino", "Two or More Races"]))
    names = ("Applied", "Qualified", "Referred", "Selected")
    rows = [(name, *(sum(p.race == g and p.reached >= k for p in people) for g in groups)) for k, name in enumerate(names)]  # fmt: skip
    path = _csv(folder / "afd_table.csv", ("Milestone", *groups), rows)
    return truth(path, people, _race, ("Race", BLACK, "White"), 1, "Referred", steps=3)


def french_suivi(folder: Path) -> Truth:
    """A French recruiter's table: present, entretien, decision; Mme and M."""
    people = draw(900, 2111, [0.45, 0.4], "sex", "Female", 0, 0.55, withdraw=0.05)
    rows = [
        (
            f"C-{p.number}", f"{p.applied:%d/%m/%Y}", "Mme" if p.sex == "Female" else "M.", p.department, "Oui" if p.reached else "Non",
            "Embauché(e)" if p.good else "Désistement" if p.end == "withdrew" else "Refus", f"{1985 + p.job}",
        )
        for p in people
    ]  # fmt: skip
    header = (
        "N° candidature",
        "Reçue le",
        "Civilité",
        "Service",
        "Entretien réalisé",
        "Décision finale",
        "Promotion (école)",
    )
    path = _csv(folder / "suivi_candidatures.csv", header, rows, separator=";", encoding="cp1252")
    return truth(
        path,
        people,
        lambda p: "F" if p.sex == "Female" else "M",
        ("Civilité", "F|Mme|Female|women|femme", "M|M.|Male|men|homme"),
        0,
        "Entretien réalisé",
        steps=2,
    )


def shortlist_only(folder: Path) -> Truth:
    """Everybody on the list was interviewed and the decision is still open: nothing can be compared."""
    people = draw(300, 2112, [0.5], "sex", "Female", 0, 0.6)
    rows = [(f"S{p.number}", p.department, "Interview scheduled", p.sex, p.race) for p in people]
    path = _csv(folder / "shortlist.csv", ("Candidate", "Department", "Status", "Gender", "Race"), rows)
    return refusal(path)


_FIRST = (
    *(ashby_applications, successfactors_statuses, nonselection_only, flow_log_letters, usa_staffing_codes),
    *(taleo_three_columns, lever_archived, workday_last_stage, promotion_slate, rif_matrix, admissions_decisions),
    job_group_counts,
)
_HELD = (
    *(greenhouse_stage_dates, icims_bins, bamboo_events, teamtailor_rejected, smartrecruiters_json, texas_review),
    *(civil_exam, tenure_review, furlough_recall, stacked_flow_counts, french_suivi, shortlist_only),
)
FIRST: dict[str, Callable[[Path], Truth]] = {make.__name__: make for make in _FIRST}
HELD: dict[str, Callable[[Path], Truth]] = {make.__name__: make for make in _HELD}

FIRST_RUN = {
    "successfactors_statuses": "misread",
    "nonselection_only": "asked, then right",
    "flow_log_letters": "misread",
    "usa_staffing_codes": "misread",
    "lever_archived": "asked, then right",
    "furlough_recall": "refused",
}
"""What the first run made of those that it did not read right."""
