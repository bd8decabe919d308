"""The hiring of an invented firm: who applied, who was interviewed, who was hired, and how it went.

Every applicant has a latent quality q ~ N(0, 1) with the same law in all groups. With independent noise e ~ N(0, 1),

    CV score          = 58 + 10 (0.65 q + 0.76 e) - what `Differences.cv` takes from the groups
    interview score   = mean of the job family + 11 (0.80 q + 0.60 e) - what `Differences.interview` takes
    first-year rating = the same with new noise, and nothing taken

all on a scale from 0 to 100, where one point is worth one unit of interview cost. So the spread of the interview score
given the CV score is about 9.4 points, and an interview costs 1 to 4. The firm interviews those whose CV score plus
noise is highest, and hires the best interviewed who reach its bar.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import NamedTuple

from auditkit.sample_data.generator.draws import Draws

SEED = 2402
"""Of some thousands, one whose single draw lies near what is expected of the parameters below (README)."""
LEVEL_SEED = 80
"""Of hiring-level.csv: the first from 1 on at which every impact ratio of the README's table is above 0.9."""

CV_MEAN, CV_SD, CV_LOADING = 58.0, 10.0, 0.65
INTERVIEW_SD, INTERVIEW_LOADING = 11.0, 0.80
CV_READING_SD = 3.0
"""Noise of the firm's reading: it does not follow its own CV score to the letter."""
BAR = 50.0
"""Interview score below which the firm leaves a position unfilled."""
FREEZE = 0.06
"""Chance that one position of a requisition is cancelled."""
NO_RATING = 0.05
"""Chance that somebody hired left before the first-year rating."""

REQUISITIONS = 60
ETHNICITIES = {"White": 0.55, "Asian": 0.22, "Black": 0.215, "Other": 0.015}
UNKNOWN_GENDER, UNKNOWN_ETHNICITY = 18, 27
SENIOR = 0.4
SENIOR_COST = 1.0


@dataclass(frozen=True)
class Differences:
    """What each step of the process takes from the members of a group; whoever is in two groups loses both."""

    cv: Mapping[str, float] = field(default_factory=dict)
    """Points of the CV score."""
    interview: Mapping[str, float] = field(default_factory=dict)
    """Points of the interview score."""
    phone: Mapping[str, float] = field(default_factory=dict)
    """Standard deviations of the phone screen's signal (only in the event log)."""

    def groups(self) -> list[str]:
        """Those that lose anything, in the order in which they are named."""
        return list(dict.fromkeys([*self.cv, *self.interview, *self.phone]))


PLANTED = Differences(
    cv={"Female": 2.5, "Black": 1.5},
    interview={"Female": 1.5, "Black": 0.5},
    phone={"Female": 0.15, "Black": 0.10},
)
LEVEL = Differences()


class Family(NamedTuple):
    share: float
    women: float
    interview_mean: float
    cost: float


FAMILIES = {
    "Engineering": Family(0.30, 0.36, 51.0, 3.0),
    "Operations": Family(0.22, 0.46, 52.0, 1.5),
    "Sales": Family(0.18, 0.48, 53.0, 2.0),
    "Finance": Family(0.15, 0.50, 51.0, 2.5),
    "Customer Support": Family(0.15, 0.58, 54.0, 1.0),
}


@dataclass
class Application:
    requisition: str
    family: str
    level: str
    applied: date
    gender: str
    ethnicity: str
    openings: int
    cv_score: float
    experience: float
    interview_cost: float
    relocation: int
    quality: float
    """Latent: no file has it."""
    candidate: int = 0
    interviewed: bool = False
    interview_score: float | None = None
    hired: bool = False
    rating: float | None = None

    @property
    def groups(self) -> tuple[str, str]:
        return self.gender, self.ethnicity


def points(value: float) -> float:
    """A score as it is recorded: from 0 to 100, one decimal."""
    return round(min(100.0, max(0.0, value)), 1)


def taken(step: Mapping[str, float], groups: tuple[str, ...]) -> float:
    """What a step takes from somebody who is in these groups."""
    return sum(step.get(group, 0.0) for group in groups)


def seen_through(draws: Draws, quality: float, loading: float) -> float:
    """A standard normal signal that has this correlation with quality."""
    return loading * quality + math.sqrt(1 - loading**2) * draws.normal()


def interview(draws: Draws, application: Application, differences: Differences) -> float:
    signal = INTERVIEW_SD * seen_through(draws, application.quality, INTERVIEW_LOADING)
    lost = taken(differences.interview, application.groups)
    return points(FAMILIES[application.family].interview_mean + signal - lost)


def hiring(seed: int = SEED, differences: Differences = PLANTED) -> list[Application]:
    """All applications in the order of their dates, decided."""
    draws = Draws(seed, 1)
    applications: list[Application] = []
    # sizes from 8 to 60, few of them large; the set is the same for every seed, only its order is drawn
    sizes = [round(8 + 52 * (i / (REQUISITIONS - 1)) ** 2) for i in range(REQUISITIONS)]
    for number, size in enumerate(draws.sample(sizes, REQUISITIONS)):
        pool = applicants(draws, f"REQ-{1001 + number}", size, differences)
        decide(draws, pool, differences)
        applications += pool
    applications.sort(key=lambda a: (a.applied, a.requisition))
    for number, application in enumerate(applications):
        application.candidate = 20_001 + number
    # what they did not say about themselves was never in the file, but the firm saw them all the same
    for application in draws.sample(applications, UNKNOWN_GENDER):
        application.gender = ""
    for application in draws.sample(applications, UNKNOWN_ETHNICITY):
        application.ethnicity = ""
    return applications


def applicants(draws: Draws, requisition: str, size: int, differences: Differences) -> list[Application]:
    """The pool of one requisition, undecided."""
    family = draws.among({name: family.share for name, family in FAMILIES.items()})
    level = "Senior" if draws.chance(SENIOR) else "Junior"
    opened = date(2023, 1, 9) + timedelta(days=draws.whole(0, 330))
    openings = min(4, 1 + int(size / 20 + 0.75 * draws.uniform()))
    cost = FAMILIES[family].cost + (SENIOR_COST if level == "Senior" else 0.0)
    pool = []
    for _ in range(size):
        gender = "Female" if draws.chance(FAMILIES[family].women) else "Male"
        ethnicity = draws.among(ETHNICITIES)
        quality = draws.normal()
        cv = CV_MEAN + CV_SD * seen_through(draws, quality, CV_LOADING) - taken(differences.cv, (gender, ethnicity))
        years = (9.0 if level == "Senior" else 4.0) + 2.0 * seen_through(draws, quality, 0.3)
        pool.append(
            Application(
                requisition=requisition,
                family=family,
                level=level,
                applied=opened + timedelta(days=int(28 * draws.uniform() ** 1.5)),
                gender=gender,
                ethnicity=ethnicity,
                openings=openings,
                cv_score=points(cv),
                experience=max(0.0, round(2 * years) / 2),
                interview_cost=cost,
                relocation=100 * draws.whole(12, 65) if draws.chance(0.3) else 0,
                quality=quality,
            )
        )
    return pool


def decide(draws: Draws, pool: list[Application], differences: Differences) -> None:
    """The firm's way: the top CVs (as it reads them) are interviewed, the best interviewed are hired."""
    openings = pool[0].openings
    places = max(2, min(round(0.45 * len(pool)), round(2.6 * openings + 1 + draws.normal())))
    reading = {id(a): a.cv_score + draws.normal(0.0, CV_READING_SD) for a in pool}
    for application in sorted(pool, key=lambda a: -reading[id(a)])[:places]:
        application.interviewed = True
        application.interview_score = interview(draws, application, differences)
    if draws.chance(FREEZE):
        openings -= 1
    best = sorted((a for a in pool if a.interviewed), key=lambda a: -(a.interview_score or 0.0))
    for application in best[:openings]:
        if (application.interview_score or 0.0) < BAR:
            break
        application.hired = True
        if not draws.chance(NO_RATING):
            signal = INTERVIEW_SD * seen_through(draws, application.quality, INTERVIEW_LOADING)
            application.rating = points(FAMILIES[application.family].interview_mean + signal)
