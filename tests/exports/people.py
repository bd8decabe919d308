"""Applicants of an invented firm with one planted difference, for exports in the shapes of real systems.

`applicants` draws who applied and how far each got: at every step a chance, lower for one group at one step (`Plant`).
Exports only dress these people; tests compare what is read with what was drawn.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field

import numpy as np

SEXES = ("Female", "Male")
RACES = ("White", "Black or African American", "Asian", "Hispanic or Latino")
DEPARTMENTS = ("Engineering", "Sales", "Operations")
LOCATIONS = ("Berlin", "New York", "Remote")
SOURCES = ("Referral", "LinkedIn", "Careers page")


@dataclass(frozen=True)
class Plant:
    """Of the group `value` of an attribute, `factor` times as many pass the step as of the others."""

    attribute: str
    value: str
    step: int
    factor: float = 0.5


@dataclass
class Person:
    """One application; `reached` counts the steps that it got to (0: applied only)."""

    number: int
    person: int
    job: int
    sex: str
    race: str
    age: int
    veteran: bool
    disability: bool
    department: str
    location: str
    source: str
    reached: int
    hired: bool
    withdrew: bool
    active: bool
    applied: datetime.date
    cv: float
    rating: float
    dates: list[datetime.date] = field(default_factory=list)

    @property
    def born(self) -> datetime.date:
        """A birthday that makes them this old, and half a year more, on the day they applied."""
        return self.applied - datetime.timedelta(days=round((self.age + 0.5) * 365.2425))

    @property
    def status(self) -> str:
        return "hired" if self.hired else "withdrew" if self.withdrew else "active" if self.active else "rejected"


def applicants(
    n: int, steps: int, plant: Plant, seed: int, *, repeat: float = 0.0, withdraw: float = 0.06, active: float = 0.04
) -> list[Person]:
    """`n` applications with `steps` steps before the last one, the hiring."""
    rng = np.random.default_rng(seed)
    chances = [*(0.6, 0.6, 0.65, 0.7)[:steps], 0.6]
    people: list[Person] = []
    for i in range(n):
        again = people and rng.random() < repeat
        same = people[int(rng.integers(len(people)))] if again else None
        sex = same.sex if same else str(rng.choice(SEXES))
        race = same.race if same else str(rng.choice(RACES, p=(0.5, 0.2, 0.18, 0.12)))
        age = same.age if same else int(rng.integers(22, 60))
        veteran = same.veteran if same else bool(rng.random() < 0.2)
        disability = same.disability if same else bool(rng.random() < 0.15)
        applied = datetime.date(2024, 1, 2) + datetime.timedelta(days=int(rng.integers(0, 300)))
        own = {
            "sex": sex,
            "race": race,
            "age": "40 and over" if age >= 40 else "under 40",
            "veteran": str(veteran),
            "disability": str(disability),
        }
        reached, hired = 0, False
        for step, chance in enumerate(chances):
            if own[plant.attribute] == plant.value and plant.step == step:
                chance *= plant.factor
            if rng.random() >= chance:
                break
            if step == steps:
                hired = True
            else:
                reached += 1
        withdrew = not hired and bool(rng.random() < withdraw)
        job = int(rng.integers(0, 12))
        dates = [applied + datetime.timedelta(days=7 * (k + 1) + int(rng.integers(0, 4))) for k in range(steps + 1)]
        people.append(
            Person(
                number=i,
                person=same.person if same else i,
                job=job,
                sex=sex,
                race=race,
                age=age,
                veteran=veteran,
                disability=disability,
                department=DEPARTMENTS[job % 3],
                location=LOCATIONS[job % len(LOCATIONS) if job < 6 else (job + 1) % 3],
                source=str(rng.choice(SOURCES)),
                reached=reached,
                hired=hired,
                withdrew=withdrew,
                active=not hired and not withdrew and bool(rng.random() < active),
                applied=applied,
                cv=round(float(rng.normal(60, 12)), 1),
                rating=float(rng.integers(1, 5)),
                dates=dates,
            )
        )
    return people
