"""Shared by all steps of the page: the templates, the open audits, and the wording of problems."""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from auditkit import __version__
from auditkit.data.source import paths_of
from auditkit.data.vocabulary import ROLES
from auditkit.errors import InputError, Problem
from auditkit.page.open_audits import OpenAudit, OpenAudits
from auditkit.page.page_words import SAY
from auditkit.page.reading_view import NOT_USED
from auditkit.page.worker import Pending
from auditkit.text import amount, count, expected, noun, percent, plural, ratio, scientific, sentence, spaced

MOST_BYTES = 250_000_000
"""The largest upload; a larger file is opened by name, without a copy."""
ROLE_NAMES = {
    "candidate": "application or candidate",
    "person": "person",
    "search": "requisition",
    "group": "group",
    "membership": "probability of a group",
    "segment": "part of the firm",
    "inspected": "interviewed",
    "selected": "selected",
    "reason": "reason for leaving",
    "score": "interview score",
    "prior": "known before interview",
    "cost": "cost of an interview",
    "capacity": "openings",
    "unit": "unit with its own limit",
    "unit_capacity": "limit of the unit",
    "outcome": "performance after hiring",
    "expense": "expense",
    "date": "date",
    "stage": "stage of the event",
    "stages": "step",
    "count": "number of applications",
}
"""What the menus call the roles."""


class PageFrame:
    """The open audits and the templates."""

    def __init__(self, audits: OpenAudits) -> None:
        self.audits = audits
        self.templates = Environment(
            loader=PackageLoader("auditkit.templates", ""),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        formats = (amount, count, expected, noun, percent, plural, ratio, scientific, sentence, spaced)
        self.templates.filters |= {each.__name__: each for each in formats}
        self.templates.globals |= {"version": __version__, "roles": _role_menu(), "say": SAY}
        self.templates.globals |= {"limit": MOST_BYTES, "megabytes": megabytes()}

    def audit(self, request: Request) -> OpenAudit:
        """The audit of an address; 404 if it isn't open."""
        audit = self.audits.get(request.path_params["id"])
        if audit is None:
            raise HTTPException(404)
        return audit

    def waiting(self, audit: OpenAudit, job: Pending, title: str, then: str, cancel: bool = False) -> Response:
        step = 4 if cancel else 2
        return self.show("page_waiting.html", step=step, audit=audit, job=job, title=title, then=then, cancel=cancel)

    def show(self, template: str, status: int = 200, **names: Any) -> Response:
        return HTMLResponse(self.templates.get_template(template).render(names), status_code=status)

    async def missing(self, request: Request, error: Exception) -> Response:
        return self.show("page_missing.html", 404, step=0)


def megabytes() -> int:
    """The largest upload, in megabytes."""
    return MOST_BYTES // 1_000_000


def policy_of(page: str) -> str:
    """The policy for a report: its own inline script by hash, its inline styles, and nothing from elsewhere."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    allowed = " ".join(f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts)
    return (
        f"default-src 'none'; script-src {allowed or chr(39) + 'none' + chr(39)}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )


def number(given: object, place: str, default: float | None) -> float | None:
    text = str(given or "").strip().replace(",", ".")
    if not text:
        return default
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(Problem(place, f"{text!r} is not a number", "write it like 1.5"))
    return number


async def ended(job: Pending) -> Pending:
    await asyncio.to_thread(job.ended.wait)
    return job


def in_the_page(audit: OpenAudit, problems: Sequence[Problem]) -> list[Problem]:
    """Problems with the files' names instead of the paths of their copies."""

    def named(text: str) -> str:
        for path in paths_of(audit.data):
            text = text.replace(str(path), path.name)
        return text

    return [Problem(named(p.where), named(p.what), _fix(p)) for p in problems]


def _fix(problem: Problem) -> str:
    """What to do on the page where the command line would take an option."""
    if problem.where in ROLES:
        return f"choose “{ROLE_NAMES.get(problem.where, problem.where)}” in the menu of the column that says it"
    return "change the menus of the columns" if "--" in problem.fix else problem.fix


def _role_menu() -> list[tuple[str, str]]:
    return [(NOT_USED, "not used"), *((role, ROLE_NAMES.get(role, role)) for role in ROLES)]


def to(place: str) -> Response:
    return RedirectResponse(place, status_code=303)
