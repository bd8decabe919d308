"""Step 2 of the page: the user checks how the file is read, and changes it."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auditkit.data.vocabulary import ROLES, SEVERAL
from auditkit.page.open_audits import OpenAudit
from auditkit.page.page_frame import PageFrame, in_the_page, to
from auditkit.page.reading_view import NOT_USED
from auditkit.page.worker import JobState

PATIENCE = 60.0
"""Seconds that a response waits for a reading before it shows progress instead."""


class ReadingStep:
    """The reading, and the form that changes it."""

    def __init__(self, page: PageFrame) -> None:
        self.page = page

    def routes(self) -> list[Route]:
        return [
            Route("/audits/{id}/reading", self.reading, methods=["GET"]),
            Route("/audits/{id}/reading", self.change_reading, methods=["POST"]),
        ]

    async def reading(self, request: Request) -> Response:
        audit = self.page.audit(request)
        job = audit.reading or audit.read()
        if job.running or job.state is JobState.CANCELLED:
            if job.state is JobState.CANCELLED:
                job = audit.read()
            return self.page.waiting(audit, job, "Reading", f"/audits/{audit.id}/reading")
        return self._reading(audit)

    def _reading(self, audit: OpenAudit, status: int = 200, fragment: bool = False) -> Response:
        view = audit.view
        if view is None:
            assert audit.reading is not None
            return self.page.show(
                "page_unreadable.html", 422, step=2, audit=audit, problems=in_the_page(audit, audit.reading.problems)
            )
        template = "page_reading_form.html" if fragment else "page_reading.html"
        errors, problems = in_the_page(audit, view.errors), in_the_page(audit, view.problems)
        return self.page.show(template, status, step=2, audit=audit, view=view, errors=errors, problems=problems)

    async def change_reading(self, request: Request) -> Response:
        audit = self.page.audit(request)
        if audit.view is None:
            return to(f"/audits/{audit.id}/reading")
        form = await request.form()
        changed = apply_menus(audit, {name: str(value) for name, value in form.items()})
        fragment = "x-fragment" in request.headers
        if changed:
            job = audit.read()
            await asyncio.to_thread(job.ended.wait, PATIENCE)
            if job.running and not fragment:
                return self.page.waiting(audit, job, "Reading", f"/audits/{audit.id}/reading")
        if "go" in form and audit.view is not None and audit.view.ok:
            return to(f"/audits/{audit.id}/choose")
        if fragment:
            return self._reading(audit, fragment=True)
        return to(f"/audits/{audit.id}/reading")


def apply_menus(audit: OpenAudit, form: dict[str, str]) -> bool:
    """Apply the menus of the reading; returns whether anything changed."""
    view, first = audit.view, audit.first
    assert view is not None and first is not None
    roles = {column.name: column.role for column in view.columns}
    given = {column.name: form.get(f"role-{i}", column.role) for i, column in enumerate(view.columns)}
    moved = {name: role for name, role in given.items() if role != roles[name] and role in (*ROLES, NOT_USED)}
    for name, role in moved.items():
        if role not in SEVERAL:  # one column at most: the previous one gives it up
            roles = {other: NOT_USED if has == role else has for other, has in roles.items()}
        roles[name] = role
    answer = dict(audit.choices.answer)
    if audit.question is not None and form.get("answer", "").isdecimal():
        place = int(form["answer"])
        answer = dict(audit.question.options[place].mapping) if place < len(audit.question.options) else answer
    if answer != audit.choices.answer:
        audit.first = None  # this answer may change the roles
        audit.choose(answer=answer, roles={}, favourable="", groups=None)
        return True
    favourable = form.get("favourable", audit.choices.favourable)
    known = {option.value for option in view.favourable}
    favourable = favourable if favourable in known else audit.choices.favourable
    if moved and "selected" in (*moved.values(), *(column.role for column in view.columns if column.name in moved)):
        favourable = ""
    inferred = {column.name: column.role for column in first.columns}
    changes = {name: role for name, role in roles.items() if role != inferred[name]} if moved else audit.choices.roles
    if changes == audit.choices.roles and favourable == audit.choices.favourable:
        return False
    audit.choose(roles=changes, favourable=favourable, groups=None)
    return True
