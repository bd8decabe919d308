"""The tables of sample_data/README.md that are measured or taken from the parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from auditkit.sample_data.generator import firm
from auditkit.sample_data.generator.firm import Application
from auditkit.sample_data.generator.mess import MESS
from auditkit.sample_data.generator.stage_log import Event

SHORT_OF_EVIDENCE = 0.02
"""A category below this share of the applicants gets no impact ratio and is no reference."""


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def parameters() -> str:
    """What a group loses, and what a job family costs."""
    planted = firm.PLANTED
    loss = [
        (g, planted.cv.get(g, 0.0), planted.interview.get(g, 0.0), planted.phone.get(g, 0.0))
        for g in [*planted.groups(), "everyone else"]
    ]
    families = [
        (name, f"{f.share:.0%}", f"{f.women:.0%}", f.interview_mean, f"{f.cost:.1f} / {f.cost + firm.SENIOR_COST:.1f}")
        for name, f in firm.FAMILIES.items()
    ]
    return (
        markdown(("group", "CV score", "interview score", "phone screen (standard deviations)"), loss)
        + "\n"
        + markdown(
            ("job family", "of requisitions", "women", "mean interview score", "interview cost junior / senior"),
            families,
        )
    )


def measured(applications: list[Application]) -> str:
    """Counts, rates, impact ratios of hires and mean scores by group."""
    rows: list[tuple[object, ...]] = []
    for attribute in (lambda a: a.gender, lambda a: a.ethnicity):
        rows += _by(applications, attribute)
    header = ("group", "applied", "interviewed", "hired", "impact ratio, interviewed", "impact ratio, hired")
    return markdown((*header, "mean CV score", "mean interview score", "mean rating"), rows)


def _by(applications: list[Application], attribute: Callable[[Application], str]) -> list[tuple[object, ...]]:
    parts: dict[str, list[Application]] = {}
    for a in applications:
        parts.setdefault(attribute(a), []).append(a)
    counts = {g: (len(p), sum(a.interviewed for a in p), sum(a.hired for a in p)) for g, p in parts.items() if g}
    large = {g: c for g, c in counts.items() if c[0] >= SHORT_OF_EVIDENCE * len(applications)}
    best = [max(c[k] / c[0] for c in large.values()) for k in (1, 2)]
    rows: list[tuple[object, ...]] = []
    for g in sorted(counts, key=lambda g: -counts[g][0]):
        n = counts[g][0]
        ratios = [f"{counts[g][k] / n / best[k - 1]:.3f}" if g in large else "under 2 %" for k in (1, 2)]
        people = parts[g]
        means = (
            fmean(a.cv_score for a in people),
            fmean(a.interview_score for a in people if a.interview_score is not None),
            fmean(a.rating for a in people if a.rating is not None),
        )
        rows.append((g, *counts[g], *ratios, *(f"{mean:.1f}" for mean in means)))
    unknown = parts.get("", [])
    rows.append(
        ("unknown", len(unknown), sum(a.interviewed for a in unknown), sum(a.hired for a in unknown), *[""] * 5)
    )
    return rows


def mess_table() -> str:
    rows = [
        (m.count, m.what, ", ".join(f"`{code}` {k}" for code, k in m.reported.items()) or "-") for m in MESS.values()
    ]
    return markdown(("how many", "what", "`auditkit check` reports"), rows)


def funnel(events: list[Event]) -> str:
    """How many of each gender reached each stage."""
    stages = ("Applied", "Phone", "Onsite", "Offer", "Accepted")
    rows = []
    for gender in ("Female", "Male", ""):
        of = [sum(e.stage == s and e.application.gender == gender for e in events) for s in stages]
        rows.append((gender or "unknown", *of))
    return markdown(("gender", *stages), rows)
