"""The words that exports use, as data: column names of each role, and values of status, mark and group columns.

Everything here is compared after `plain`: case, accents and punctuation do not count.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_GAPS = re.compile(r"[\W_]+")
_BREAK = re.compile(r"\s[-–—]\s|[:(/,;]")


@lru_cache(maxsize=65_536)
def plain(text: str) -> str:
    """`CandidateID`, `candidate-id` and `Candidate Id` are all `candidate id`; `Résumé` is `resume`."""
    letters = unicodedata.normalize("NFKD", _CAMEL.sub(" ", text))
    return _GAPS.sub(" ", "".join(c for c in letters if not unicodedata.combining(c)).lower()).strip()


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


def _tiers(*texts: str) -> tuple[tuple[str, ...], ...]:
    """A later tier counts only when no column has a name of an earlier one."""
    return tuple(_words(text) for text in texts)


ROLES: dict[str, str] = {
    "candidate": "who applied",
    "search": "the requisition or job",
    "group": "the group that is compared",
    "inspected": "who was inspected (interviewed)",
    "selected": "who was selected (hired)",
    "score": "what the inspection showed",
    "prior": "what was known before the inspection",
    "cost": "what an inspection costs",
    "capacity": "how many can be selected in the search",
    "outcome": "performance after hiring",
    "expense": "an expense that a budget may limit",
    "date": "when the application was made, or when the event took place",
    "stage": "the stage of each event, in a file with one row per event",
    "stages": "the columns of the stages, in order",
    "count": "how many applications a row stands for",
}
"""Every role with what it means, in the order in which a mapping is printed."""

SEVERAL = frozenset({"group", "prior", "expense", "stages"})
"""Roles that may have more than one column (`cost` too, when there is one for each stage)."""

NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "candidate": _tiers(
        "candidate id, applicant id, person id, candidate, applicant, candidate number, applicant number",
        "application id, submission id, opportunity id, application number, application",
    ),
    "search": _tiers(
        "requisition, requisition id, requisition number, req, req id, req number, job req id, job req",
        "job id, posting id, job posting id, vacancy, vacancy id, job number, job ad id, position id",
        "position, job, job title, position title, search, search id",
        "department, dept, profession, job family",
    ),
    "inspected": _tiers(
        "interviewed, was interviewed, inspected, interview taken on, interview attended, attended interview",
        "interview date, date of interview, interviewed on, interview taken, live interview, interview",
        "attended, phone screen, tech screen, technical screen, phone interview, onsite, on site",
    ),
    "selected": _tiers(
        "hired, selected, appointed, placed, was hired, is hired, hire, admitted, admit",
        "final status, final decision, hiring decision, selection decision, hire date, date hired",
        "decision, outcome, result, status, application status, candidate status, disposition",
        "offer, offered, offer made, offer extended, offer date, callback, called back",
        "current stage, current status, stage, final stage",
    ),
    "score": _tiers(
        "interview score, interview rating, interview grade, interview marks",
        "score, match score, total score, overall score, rating, overall rating, final score",
        "oral, written, test, test score, assessment, assessment score, grade, mark, marks",
        "interview, int, rank, ranking",
    ),
    "prior": _tiers(
        "resume score, cv score, screening score, screen score, prescreen score, application score, "
        "resume quality, resume rating, cv rating, resume grade, aptitude, apttest, aptitude test, "
        "years of experience, years experience, experience, experience years, yoe, years college, "
        "education, education level, highest education, degree, college degree, gpa, sat",
    ),
    "cost": _tiers(
        "cost per interview, interview cost, cost, inspection cost, fee, interview fee",
        "hours, interview hours",
    ),
    "capacity": _tiers(
        "openings, number of openings, positions, number of positions, headcount, vacancies, capacity",
        "number of vacancies, seats, slots",
    ),
    "outcome": _tiers(
        "performance, performance rating, performance score, review score, first year rating, job performance",
        "outcome, review rating",
    ),
    "expense": _tiers("expense, expenses, travel expense, travel cost, relocation cost, relocation"),
    "date": _tiers(
        "applied at, applied on, application date, date applied, submitted date, submitted at, date submitted",
        "created at, created on, created date, event date, event time, timestamp, stage date",
        "date, entered at, entered on, occurred at, occurred on",
    ),
    "stage": _tiers(
        "stage, stage name, new stage, to stage, event, event name, event type, step, activity",
        "status, new status, to status, milestone",
    ),
    "count": _tiers("n, freq, frequency, count, counts, number, number of applicants, n applicants"),
}

WIDE_SEARCHES = frozenset(NAMES["search"][-1])
"""Names of searches that are wider than a requisition; using one is said."""

GROUP_NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "sex": _tiers("sex, gender, gender identity, eeo gender, eeo sex"),
    "race": _tiers("race, ethnicity, ethnic origin, eeo race, race ethnicity, ethnic group, ethnic background"),
    "other": _tiers(
        "group, protected group, demographic, demographic group, age group, age band, disability",
        "disability status, veteran, veteran status, nationality, religion",
    ),
}
"""Sex and race are two attributes, not two candidates for one: one column of each is crossed."""

FOREIGN: dict[str, frozenset[str]] = {
    "group": frozenset(_words("manager, recruiter, interviewer, panel, supervisor, hm")),
    "candidate": frozenset(_words("name, email, source, status, type, date, count, score")),
    "prior": frozenset(_words("req, required, requirement, min, minimum, job")),
    "search": frozenset(_words("status, date, description, type, location")),
    "capacity": frozenset(_words("id, title, name")),
    "score": frozenset(_words("max, maximum, min, minimum, weight, date, id")),
}
"""A column about somebody else, or about the job, does not have the role although its name holds the word."""

EXACT_ONLY = frozenset(
    _words(
        "n, number, count, counts, job, date, test, stage, event, step, group, hire, req, mark, sat, degree, hours, "
        "experience, fee, application, candidate, applicant, position, search, result, status, number of applicants, "
        "activity, offer, department, profession, performance"
    )
)
"""Names too general to count when they are only part of a longer name."""

ROW_NUMBERS = frozenset(_words("rownames, row, row number, index, nr, no, unnamed 0, unnamed 1"))
"""Columns that only number the rows."""

RANK = frozenset({"rank", "ranking"})

TRUE = frozenset(_words("yes, y, true, t, 1, 1 0, x, ja, oui, si, checked"))
FALSE = frozenset(_words("no, n, false, f, 0, 0 0, nein, non, unchecked"))
MISSING = frozenset({"", *_words("na, n a, nan, null, none, nil, missing, blank")})
"""No value at all. Cells of punctuation only (`-`, `*`, `?`, `.`) are plain "" and so belong here."""

UNKNOWN_GROUP = MISSING | frozenset(
    _words(
        "unknown, unk, not known, undisclosed, not disclosed, not stated, not specified, unspecified, "
        "prefer not to say, prefer not to answer, prefer not to disclose, rather not say, not provided, refused, "
        "decline to self identify, declined to self identify, decline to answer, decline to state, choose not to say, "
        "i prefer not to say, i don t wish to answer, i do not wish to answer, do not wish to answer, no answer, "
        "i do not want to answer, choose not to disclose, i choose not to disclose, not answered, no response, "
        "withheld, declined, not available, keine angabe, k a"
    )
)

STATUS: dict[str, tuple[str, ...]] = {
    "selected": _words(
        "hired, hire, selected, appointed, placed, accepted, offer accepted, accepted offer, onboarded, "
        "offer, offered, offer made, offer extended, offer sent, offer pending, joined, successful, "
        "admitted, admit, callback, called back, started, approved, passed, pass"
    ),
    "declined": _words(
        "offer declined, declined offer, offer rejected by candidate, rejected offer, offer refused, refused offer, "
        "candidate declined offer, offer turned down, rejected our offer, rejected by candidate, offer rejected, "
        "offer declined by candidate, rejected the offer, turned down offer, reneged"
    ),
    "rejected": _words(
        "rejected, reject, not hired, not selected, no hire, unsuccessful, failed, fail, denied, not placed, "
        "not appointed, not admitted, disqualified, regret, regretted, no offer, not offered, turned down, "
        "screened out, not qualified, did not pass, dismissed, archived, closed, not passed, no callback, "
        "not called back, offer rescinded, offer withdrawn, declined by company, eliminated"
    ),
    "withdrawn": _words(
        "withdrawn, withdrew, withdraw, candidate withdrew, candidate withdrawn, self withdrawn, dropped out, "
        "withdrawn by candidate, application withdrawn, hired elsewhere, no longer interested, not interested, "
        "no show, ghosted, unresponsive, no response, drop out, candidate withdrawal"
    ),
    "pending": _words(
        "in process, in progress, pending, open, active, new, applied, under review, on hold, screening, "
        "interview, interviewing, interview scheduled, phone screen, onsite, shortlisted, waiting, undecided, "
        "application received, received, submitted, scheduled, invited, waitlisted, reserve, in review"
    ),
}
"""What a final status says. A declined offer is a selection that the candidate undid; withdrawn is not rejected."""

OFFER = frozenset(_words("offer, offered, offer made, offer extended, offer sent, offer pending"))
"""Selected in a final status, but a stage when each event has its row."""

START = frozenset(
    _words(
        "applied, application received, application submitted, application, new, submitted, received, created, "
        "application created, new application"
    )
)
"""Events that only say that somebody applied."""

INSPECTED: dict[str, tuple[str, ...]] = {
    "passed": _words("passed, pass, advanced, advance, proceed, successful, hire, strong hire, accepted, moved on"),
    "failed": _words("failed, fail, rejected, reject, not passed, unsuccessful, no hire, strong no hire"),
    "declined": _words("declined, offer declined, turned down, refused"),
    "yes": _words("interviewed, attended, completed, complete, done, took place, held, present, extended, made"),
    "no": _words(
        "not interviewed, no show, cancelled, canceled, not invited, absent, did not attend, not attended, "
        "skipped, not reached, not started, no interview"
    ),
    "withdrawn": _words("withdrew, withdrawn, candidate withdrew, withdrawn by candidate, dropped out"),
    "pending": _words("scheduled, invited, pending, in process, in progress, planned, to be scheduled"),
}
"""What a cell of an inspection or stage column says: it took place (passed, failed, an offer declined), or not."""


def code_of(word: str, table: dict[str, tuple[str, ...]]) -> str | None:
    """The entry of `table` that a cell means, or None if it is not known.

    `Hired - internal` is `Hired`, `Rejected by manager` is `Rejected`: the text up to a break counts, and a rejection
    or withdrawal may go on in words. Other words may not ("selected for interview" is no selection).
    """
    text = plain(word)
    head = plain(_BREAK.split(word, maxsplit=1)[0])
    for phrase in (text, head):
        for code, phrases in table.items():
            if phrase in phrases:
                return code
    for code in ("rejected", "withdrawn"):
        if any(text.startswith(f"{phrase} ") for phrase in table.get(code, ())):
            return code
    return None
