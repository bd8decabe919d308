"""The same firm's event log: one row per stage event, applied -> phone -> onsite -> offer -> accepted.

The people are drawn as in `firm.py`. The phone screen is passed if a signal of quality (correlation 0.5), less what
`Differences.phone` takes, exceeds PHONE_MARK; the onsite interview shows the interview score; offers go to the best in
turn, until the positions are filled or nobody is left above the bar; an offer is accepted with probability ACCEPTS.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import NamedTuple

from auditkit.sample_data.generator.draws import Draws
from auditkit.sample_data.generator.firm import (
    BAR,
    CV_READING_SD,
    PLANTED,
    Application,
    Differences,
    applicants,
    interview,
    seen_through,
    taken,
)

SEED = 1016
"""Chosen as in `firm.py`."""

REQUISITIONS = 20
PHONE_COST, OFFER_COST = 0.5, 1.0
PHONE_LOADING, PHONE_MARK = 0.5, -0.2
ACCEPTS = 0.82
WITHDRAWS = 0.04
"""Chance of withdrawing after a phone screen or an onsite interview that was passed."""
UNKNOWN_GENDER, UNKNOWN_ETHNICITY = 6, 9


class Event(NamedTuple):
    application: Application
    day: date
    stage: str
    result: str
    score: float | None = None
    cost: float | None = None


def events(seed: int = SEED, differences: Differences = PLANTED) -> list[Event]:
    """All events in the order of their dates."""
    draws = Draws(seed, 2)
    people: list[Application] = []
    log: list[Event] = []
    sizes = [round(14 + 32 * i / (REQUISITIONS - 1)) for i in range(REQUISITIONS)]
    for number, size in enumerate(draws.sample(sizes, REQUISITIONS)):
        pool = applicants(draws, f"REQ-{2001 + number}", size, differences)
        log += search(draws, pool, differences)
        people += pool
    people.sort(key=lambda a: (a.applied, a.requisition))
    for number, application in enumerate(people):
        application.candidate = 50_001 + number
    for application in draws.sample(people, UNKNOWN_GENDER):
        application.gender = ""
    for application in draws.sample(people, UNKNOWN_ETHNICITY):
        application.ethnicity = ""
    return sorted(log, key=lambda event: (event.day, event.application.candidate))


def search(draws: Draws, pool: list[Application], differences: Differences) -> list[Event]:
    """One requisition from the first application to the last offer."""
    openings = pool[0].openings
    places = min(round(0.6 * len(pool)), 5 * openings + 3)
    reading = {id(a): a.cv_score + draws.normal(0.0, CV_READING_SD) for a in pool}
    ranked = sorted(pool, key=lambda a: -reading[id(a)])
    log = [Event(a, a.applied, "Applied", "Advanced") for a in ranked[:places]]
    log += [Event(a, a.applied, "Applied", "Rejected") for a in ranked[places:]]
    onsite: list[tuple[float, date, Application]] = []
    for a in ranked[:places]:
        day = a.applied + timedelta(days=draws.whole(4, 14))
        signal = seen_through(draws, a.quality, PHONE_LOADING) - taken(differences.phone, a.groups)
        result = "Failed" if signal <= PHONE_MARK else "Withdrawn" if draws.chance(WITHDRAWS) else "Passed"
        log.append(Event(a, day, "Phone", result, cost=PHONE_COST))
        if result == "Passed":
            score = interview(draws, a, differences)
            onsite.append((score, day + timedelta(days=draws.whole(5, 15)), a))
    decided = max((day for _, day, _ in onsite), default=pool[0].applied)
    filled = 0
    for score, day, a in sorted(onsite, key=lambda item: -item[0]):
        result = "Failed" if filled == openings or score < BAR else "Withdrawn" if draws.chance(WITHDRAWS) else "Passed"
        log.append(Event(a, day, "Onsite", result, score, a.interview_cost))
        if result == "Passed":
            decided += timedelta(days=draws.whole(2, 6))
            accepted = draws.chance(ACCEPTS)
            log.append(Event(a, decided, "Offer", "Accepted" if accepted else "Offer declined", cost=OFFER_COST))
            if accepted:
                filled += 1
                log.append(Event(a, decided + timedelta(days=draws.whole(1, 5)), "Accepted", "Hired"))
    return log
