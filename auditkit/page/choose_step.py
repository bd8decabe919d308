"""Step 3 of the page: what to audit, the run, and its progress."""

from __future__ import annotations

import asyncio
import time

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from auditkit.errors import InputError, Problem
from auditkit.page.open_audits import OpenAudit
from auditkit.page.page_frame import PageFrame, ended, in_the_page, number, to
from auditkit.page.tasks import WriteSettings
from auditkit.page.worker import JobState, Pending
from auditkit.text import sentence


class ChooseStep:
    """The choices, and the run that they start."""

    def __init__(self, page: PageFrame) -> None:
        self.page = page

    def routes(self) -> list[Route]:
        return [
            Route("/audits/{id}/choose", self.choose, methods=["GET"]),
            Route("/audits/{id}/choose", self.make, methods=["POST"]),
            Route("/audits/{id}/audit.toml", self.settings),
            Route("/audits/{id}/run", self.running),
            Route("/audits/{id}/progress", self.progress),
            Route("/audits/{id}/cancel", self.cancel, methods=["POST"]),
        ]

    async def choose(self, request: Request) -> Response:
        return self._choosing(self.page.audit(request), ())

    def _choosing(self, audit: OpenAudit, problems: tuple[Problem, ...], status: int = 200) -> Response:
        view = audit.view
        if view is None or not view.ok:
            return to(f"/audits/{audit.id}/reading")
        notice, audit.notice = audit.notice, ""
        return self.page.show(
            "page_choose.html",
            status,
            step=3,
            audit=audit,
            view=view,
            problems=in_the_page(audit, problems),
            notice=notice,
        )

    async def make(self, request: Request) -> Response:
        audit = self.page.audit(request)
        form = await request.form()
        view = audit.view
        if view is None or not view.ok:
            return to(f"/audits/{audit.id}/reading")
        try:
            groups = tuple(str(name) for name in form.getlist("group") if str(name) in view.attributes)
            own = form.get("constraints") == "own"
            audit.choose(
                groups=None if set(groups) == set(view.attributes) else groups,
                constraints=tuple(map(str, form.getlist("constraint"))) if own else None,
                minimum_ratio=number(form.get("minimum_ratio"), "Impact ratio of at least", 0.8),
                value_scale=number(form.get("value_scale"), "Value of a score point", None),
                cost=number(form.get("cost"), "Cost of an interview", None),
                organisation=str(form.get("organisation", "")).strip(),
                prepared_for=str(form.get("prepared_for", "")).strip(),
                marking=str(form.get("marking", "")).strip(),
                profile=str(form.get("profile", "")).strip(),
            )
            config = audit.config
            if own and not config.constraints:
                raise InputError(Problem("Constraints", "none is chosen", "choose one, or the usual ones"))
        except InputError as error:
            return self._choosing(audit, error.problems, 422)
        if "save" in form:
            return to(f"/audits/{audit.id}/audit.toml")
        audit.make()
        return to(f"/audits/{audit.id}/run")

    async def settings(self, request: Request) -> Response:
        audit = self.page.audit(request)
        job = await ended(audit.worker.submit(WriteSettings(audit.data, audit.config)))
        if job.state is not JobState.DONE:
            return self._choosing(audit, job.problems, 422)
        headers = {"Content-Disposition": 'attachment; filename="audit.toml"'}
        return Response(job.result, media_type="application/toml", headers=headers)

    async def running(self, request: Request) -> Response:
        audit = self.page.audit(request)
        if audit.run is None:
            return to(f"/audits/{audit.id}/choose")
        if audit.run.running:
            return self.page.waiting(audit, audit.run, "Making the report", f"/audits/{audit.id}/run", cancel=True)
        if audit.run.state is JobState.DONE:
            return to(f"/audits/{audit.id}/report")
        if audit.run.state is JobState.CANCELLED:
            return to(f"/audits/{audit.id}/choose")
        return self._choosing(audit, audit.run.problems, 422)

    async def progress(self, request: Request) -> Response:
        """The script asks for this every half second."""
        audit = self.page.audit(request)
        job = audit.run if request.query_params.get("of") == "run" else audit.reading
        if job is None:
            return JSONResponse({"running": False})
        now = job.progress
        said = {"says": sentence(now.says), "share": job.share, "left": job.left, "stages": now.stages, "at": now.at}
        said["spent"] = _spent(job)
        return JSONResponse({"running": job.running, **said})

    async def cancel(self, request: Request) -> Response:
        audit = self.page.audit(request)
        if audit.run is not None and audit.run.running:
            await asyncio.to_thread(audit.worker.cancel, audit.run)
            audit.notice = "The run was cancelled. Nothing of it was kept."
        return to(f"/audits/{audit.id}/choose")


def _spent(job: Pending) -> str:
    """How long a job has been running, once that's worth saying."""
    seconds = time.monotonic() - job.begun
    return "" if seconds < 3 else f"{round(seconds)} s so far" if seconds < 90 else f"{round(seconds / 60)} min so far"
