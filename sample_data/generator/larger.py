"""More of hiring.csv: as many requisitions as one likes, in memory that does not grow with them.

Each requisition has random numbers of its own, so that the first N of a larger file are those of the smaller one. They
differ from hiring.csv in two ways: rows are in the order of requisitions, and groups become unknown by chance, one
person at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

from auditkit.sample_data.generator.csv_cells import hiring_cells, write_csv
from auditkit.sample_data.generator.draws import Draws
from auditkit.sample_data.generator.firm import (
    PLANTED,
    SEED,
    UNKNOWN_ETHNICITY,
    UNKNOWN_GENDER,
    Application,
    Differences,
    applicants,
    decide,
)

ROWS = 1527
"""Of hiring.csv, in which so many groups are unknown."""


def applications(searches: int, seed: int = SEED, differences: Differences = PLANTED) -> Iterator[list[Application]]:
    """The decided applications of one requisition after the other."""
    candidate = 100_001
    for number in range(searches):
        draws = Draws(seed, 3, number)
        size = round(8 + 52 * draws.uniform() ** 2)
        pool = applicants(draws, f"REQ-{100_001 + number}", size, differences)
        decide(draws, pool, differences)
        for application in pool:
            application.candidate, candidate = candidate, candidate + 1
            if draws.chance(UNKNOWN_GENDER / ROWS):
                application.gender = ""
            if draws.chance(UNKNOWN_ETHNICITY / ROWS):
                application.ethnicity = ""
        yield pool


def csv_lines(searches: int, seed: int = SEED, differences: Differences = PLANTED) -> Iterator[bytes]:
    """The file, requisition by requisition; the first piece begins with the header."""
    for number, pool in enumerate(applications(searches, seed, differences)):
        rows = [hiring_cells(application) for application in pool]
        header = [list(rows[0])] if number == 0 else []
        yield write_csv([*header, *(list(row.values()) for row in rows)]).encode()
