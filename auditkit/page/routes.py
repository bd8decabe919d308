"""The page as an application: the addresses of its steps behind the guard.

Forms work without the script; with it, menus take effect at once and progress updates by itself.
"""

from __future__ import annotations

from importlib.resources import files

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auditkit.page.access import Guard, Key
from auditkit.page.choose_step import ChooseStep
from auditkit.page.file_step import FileStep
from auditkit.page.history_step import HistoryStep
from auditkit.page.open_audits import OpenAudits
from auditkit.page.page_frame import PageFrame
from auditkit.page.reading_step import ReadingStep
from auditkit.page.report_step import ReportStep
from auditkit.scheduled.audit_history import AuditHistory


def application(audits: OpenAudits, key: Key, history: AuditHistory | None = None) -> Starlette:
    """The page as an ASGI application; `history` has the past audits, if there are any."""
    page = PageFrame(audits)
    steps = (FileStep(page), ReadingStep(page), ChooseStep(page), ReportStep(page), HistoryStep(page, history))
    return Starlette(
        routes=[Route("/page.css", asset), Route("/page.js", asset), *(one for step in steps for one in step.routes())],
        middleware=[Middleware(Guard, key=key)],
        exception_handlers={404: page.missing},
    )


async def asset(request: Request) -> Response:
    name = request.url.path.lstrip("/")
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    return Response((files("auditkit.templates") / name).read_bytes(), media_type=kind)
