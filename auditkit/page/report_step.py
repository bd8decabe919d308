"""Step 4 of the page: the finished report, its sliders and its files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from auditkit.errors import InputError, Problem
from auditkit.page.explore import LOWEST, SCALES, Explore, Explored, SliderRanges
from auditkit.page.open_audits import OpenAudit
from auditkit.page.page_frame import PageFrame, ended, in_the_page, number, policy_of, to
from auditkit.page.tasks import AskSliders, Made

DOWNLOADS = {
    "html": ("HTML", "text/html; charset=utf-8"),
    "pdf": ("PDF", "application/pdf"),
    "xlsx": ("Excel", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "docx": ("Word", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    "json": ("JSON", "application/json"),
}


class ReportStep:
    """The report, the exact optimum at the sliders' positions, and downloads."""

    def __init__(self, page: PageFrame) -> None:
        self.page = page

    def routes(self) -> list[Route]:
        return [
            Route("/audits/{id}/report", self.report),
            Route("/audits/{id}/report.html", self.report_page),
            Route("/audits/{id}/explore", self.explore, methods=["POST"]),
            Route("/audits/{id}/download/{format}", self.download),
        ]

    async def report(self, request: Request) -> Response:
        audit = self.page.audit(request)
        made = audit.report()
        if made is None:
            return to(f"/audits/{audit.id}/run")
        return self._report(audit, made, None)

    def _report(
        self, audit: OpenAudit, made: Made, explored: Explored | None, problems: Sequence[Problem] = ()
    ) -> Response:
        links = [(name, format) for format, (name, _) in DOWNLOADS.items() if format in made.formats]
        names = {"audit": audit, "made": made, "links": links, "explored": explored, "problems": problems}
        line = audit.config.report.line
        return self.page.show(
            "page_report.html", 422 if problems else 200, step=4, asked=audit.asked, line=line, **names
        )

    async def explore(self, request: Request) -> Response:
        """The exact optimum at new positions of the sliders."""
        audit = self.page.audit(request)
        made = audit.report()
        if made is None or made.ranges is None:
            raise HTTPException(404)
        form = await request.form()
        explored, problems = None, []
        try:
            audit.asked = asked_of(form, made.ranges)
        except InputError as error:
            problems = list(error.problems)
        else:
            job = await ended(audit.worker.submit(AskSliders(audit.asked)))
            explored, problems = job.result, in_the_page(audit, job.problems)
        if "x-fragment" in request.headers:
            names = {"explored": explored, "problems": problems, "line": audit.config.report.line}
            return self.page.show("page_explored.html", 422 if problems else 200, **names)
        return self._report(audit, made, explored, problems)

    async def report_page(self, request: Request) -> Response:
        """The report for the iframe, which may use its own script and styles and nothing else."""
        made = self.page.audit(request).report()
        if made is None:
            raise HTTPException(404)
        text = await asyncio.to_thread(made.file("html").read_text, encoding="utf-8")
        return HTMLResponse(text, headers={"Content-Security-Policy": policy_of(text)})

    async def download(self, request: Request) -> Response:
        audit, format = self.page.audit(request), request.path_params["format"]
        made = audit.report()
        if made is None or format not in made.formats or format not in DOWNLOADS:
            raise HTTPException(404)
        path = made.file(format)
        return FileResponse(path, filename=path.name, media_type=DOWNLOADS[format][1])


def asked_of(form: FormData, ranges: SliderRanges) -> Explore:
    """The positions of the sliders, within their ends."""
    attribute = str(form.get("attribute", ""))
    if attribute not in ranges.attributes:
        raise InputError(Problem("attribute", f"there is no attribute {attribute!r}", ", ".join(ranges.attributes)))
    ratio = number(form.get("ratio"), "Impact ratio", LOWEST) or LOWEST
    places = [("interviews", ranges.interviews), ("scale", SCALES.index(1.0))]
    interviews, scale = (int(number(form.get(name), name, default) or 0) for name, default in places)
    if not (LOWEST <= ratio <= 1 and 0 <= interviews <= ranges.interviews and 0 <= scale < len(SCALES)):
        raise InputError(Problem("", "a slider is beyond its end", "move it"))
    limit = None if interviews == ranges.interviews else interviews
    return Explore(attribute, ratio, limit, ranges.scales[scale])
