"""The addresses of the page. Each shows a template, or changes one open audit and sends the browser on.

Forms work without the script; with it, menus are re-read at once and progress moves by itself.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import time
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Message

from auditkit import __version__
from auditkit.data import ROLES
from auditkit.data.source import paths_of, place_of
from auditkit.data.vocabulary import SEVERAL
from auditkit.errors import InputError, Problem
from auditkit.page.access import Guard, Key
from auditkit.page.explore import LOWEST, Explore, Explored, SliderRanges
from auditkit.page.open_audits import OpenAudit, OpenAudits, safe_name, unlike
from auditkit.page.past_audits import AuditHistory
from auditkit.page.reading_view import NOT_USED
from auditkit.page.tasks import AskSliders, Made, WriteSettings
from auditkit.page.worker import JobState, Pending
from auditkit.scheduled.responses import MEANING
from auditkit.text import amount, count, expected, noun, percent, plural, ratio, scientific, sentence, spaced

MOST_BYTES = 250_000_000
"""The largest upload; a larger file is opened by name, without a copy."""
MOST_FILES = 50
"""Files of one upload."""
SCALES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0)
"""Values of a point that the slider offers, as multiples of the report's."""
PATIENCE = 60.0
"""Seconds that an answer waits for a reading before it shows progress instead."""
DOWNLOADS = {
    "html": ("HTML", "text/html; charset=utf-8"),
    "pdf": ("PDF", "application/pdf"),
    "xlsx": ("Excel", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "json": ("JSON", "application/json"),
}
ROLE_NAMES = {
    "candidate": "application or candidate",
    "person": "person",
    "search": "requisition",
    "group": "group",
    "segment": "part of the firm",
    "inspected": "interviewed",
    "selected": "selected",
    "reason": "reason for leaving",
    "score": "interview score",
    "prior": "known before the interview",
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


@dataclass(frozen=True)
class TooLarge(Exception):
    """An upload above the limit."""


class PageRoutes:
    """The handlers, with what they share."""

    def __init__(self, audits: OpenAudits, history: AuditHistory | None = None) -> None:
        self.audits, self.past = audits, history
        self.templates = Environment(
            loader=PackageLoader("auditkit.templates", ""),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        formats = (amount, count, expected, noun, percent, plural, ratio, scientific, sentence, spaced)
        self.templates.filters |= {each.__name__: each for each in formats}
        self.templates.globals |= {"version": __version__, "roles": _role_menu(), "limit": MOST_BYTES}

    def routes(self) -> list[Route]:
        one = "/audits/{id}"
        return [
            Route("/", self.start),
            Route("/files", self.upload, methods=["POST"]),
            Route("/sample", self.sample, methods=["POST"]),
            Route("/page.css", asset),
            Route("/page.js", asset),
            Route("/history", self.history),
            Route("/history/trends.html", self.trends),
            Route("/history/record", self.record),
            Route("/history/respond", self.respond, methods=["POST"]),
            Route("/history/{folder}/{name}", self.artefact),
            Route(f"{one}/reading", self.reading, methods=["GET"]),
            Route(f"{one}/reading", self.change_reading, methods=["POST"]),
            Route(f"{one}/choose", self.choose, methods=["GET"]),
            Route(f"{one}/choose", self.make, methods=["POST"]),
            Route(f"{one}/audit.toml", self.settings),
            Route(f"{one}/run", self.running),
            Route(f"{one}/progress", self.progress),
            Route(f"{one}/cancel", self.cancel, methods=["POST"]),
            Route(f"{one}/report", self.report),
            Route(f"{one}/report.html", self.report_page),
            Route(f"{one}/explore", self.explore, methods=["POST"]),
            Route(f"{one}/download/{{format}}", self.download),
        ]

    # 1 File -----------------------------------------------------------------------------------------------------------

    async def start(self, request: Request) -> Response:
        await asyncio.to_thread(self.audits.warm_up)  # ready by the time that a file is chosen
        return self._show("page_file.html", step=1, audits=reversed(list(self.audits)), problems=())

    async def upload(self, request: Request) -> Response:
        try:
            return await self._upload(request)
        except TooLarge:
            what = f"is larger than the {MOST_BYTES // 1_000_000} MB that can be uploaded here"
            problem = Problem("The file", what, "start the page with its name: auditkit open FILE")
        except MultiPartException as error:
            many = "Too many files" in error.message
            what = f"has more than {MOST_FILES} files" if many else "did not arrive whole"
            fix = "start the page with their names: auditkit open *.csv" if many else "try it again"
            return self._refused_file(Problem("The upload", what, fix), 400)
        return self._refused_file(problem, 413)

    async def _upload(self, request: Request) -> Response:
        received = 0

        async def limited() -> Message:
            nonlocal received
            message: Message = await request.receive()
            received += len(message.get("body", b""))
            if received > MOST_BYTES:
                while message.get("more_body"):  # a browser reads no answer before it has sent everything
                    message = await request.receive()
                raise TooLarge
            return message

        form = await Request(request.scope, limited).form(max_files=MOST_FILES, max_fields=10)
        given = [one for one in form.getlist("file") if not isinstance(one, str) and one.filename]
        if not given:
            return self._refused_file(Problem("Export file", "no file was chosen", "choose one"), 400)
        id, folder = self.audits.reserve()
        names = unlike([safe_name(one.filename or "") for one in given])
        try:
            for name, one in zip(names, given, strict=True):
                with (folder / name).open("xb") as file:
                    while piece := await one.read(1 << 20):
                        await asyncio.to_thread(file.write, piece)
        except BaseException:
            self.audits.discard(id)
            raise
        finally:
            await form.close()
        paths = [folder / name for name in names]
        self.audits.open(id, place_of(paths))
        return _to(f"/audits/{id}/reading")

    async def sample(self, request: Request) -> Response:
        from auditkit.sample_data import content

        id, folder = self.audits.reserve()
        path = folder / "hiring.csv"
        path.write_bytes(content("hiring.csv"))
        self.audits.open(id, path)
        return _to(f"/audits/{id}/reading")

    def _refused_file(self, problem: Problem, status: int) -> Response:
        audits = reversed(list(self.audits))
        return self._show("page_file.html", status, step=1, audits=audits, problems=[problem])

    # 2 Reading --------------------------------------------------------------------------------------------------------

    async def reading(self, request: Request) -> Response:
        audit = self._audit(request)
        job = audit.reading or audit.read()
        if job.running or job.state is JobState.CANCELLED:
            if job.state is JobState.CANCELLED:
                job = audit.read()
            return self._waiting(audit, job, "Reading", f"/audits/{audit.id}/reading")
        return self._reading(audit)

    def _reading(self, audit: OpenAudit, status: int = 200, fragment: bool = False) -> Response:
        view = audit.view
        if view is None:
            assert audit.reading is not None
            return self._show(
                "page_unreadable.html", 422, step=2, audit=audit, problems=_shown(audit, audit.reading.problems)
            )
        template = "page_reading_form.html" if fragment else "page_reading.html"
        errors, problems = _shown(audit, view.errors), _shown(audit, view.problems)
        return self._show(template, status, step=2, audit=audit, view=view, errors=errors, problems=problems)

    async def change_reading(self, request: Request) -> Response:
        audit = self._audit(request)
        if audit.view is None:
            return _to(f"/audits/{audit.id}/reading")
        form = await request.form()
        changed = _apply(audit, {name: str(value) for name, value in form.items()})
        fragment = "x-fragment" in request.headers
        if changed:
            job = audit.read()
            await asyncio.to_thread(job.ended.wait, PATIENCE)
            if job.running and not fragment:
                return self._waiting(audit, job, "Reading", f"/audits/{audit.id}/reading")
        if "go" in form and audit.view is not None and audit.view.ok:
            return _to(f"/audits/{audit.id}/choose")
        if fragment:
            return self._reading(audit, fragment=True)
        return _to(f"/audits/{audit.id}/reading")

    # 3 Choose ---------------------------------------------------------------------------------------------------------

    async def choose(self, request: Request) -> Response:
        return self._choosing(self._audit(request), ())

    def _choosing(self, audit: OpenAudit, problems: tuple[Problem, ...], status: int = 200) -> Response:
        view = audit.view
        if view is None or not view.ok:
            return _to(f"/audits/{audit.id}/reading")
        notice, audit.notice = audit.notice, ""
        return self._show(
            "page_choose.html", status, step=3, audit=audit, view=view, problems=_shown(audit, problems), notice=notice
        )

    async def make(self, request: Request) -> Response:
        audit = self._audit(request)
        form = await request.form()
        view = audit.view
        if view is None or not view.ok:
            return _to(f"/audits/{audit.id}/reading")
        try:
            groups = tuple(str(name) for name in form.getlist("group") if str(name) in view.attributes)
            own = form.get("constraints") == "own"
            audit.choose(
                groups=None if set(groups) == set(view.attributes) else groups,
                constraints=tuple(map(str, form.getlist("constraint"))) if own else None,
                minimum_ratio=_number(form.get("minimum_ratio"), "Impact ratio of at least", 0.8),
                value_scale=_number(form.get("value_scale"), "Value of a score point", None),
                cost=_number(form.get("cost"), "Cost of an interview", None),
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
            return _to(f"/audits/{audit.id}/audit.toml")
        audit.make()
        return _to(f"/audits/{audit.id}/run")

    async def settings(self, request: Request) -> Response:
        audit = self._audit(request)
        job = await _ended(audit.worker.submit(WriteSettings(audit.data, audit.config)))
        if job.state is not JobState.DONE:
            return self._choosing(audit, job.problems, 422)
        headers = {"Content-Disposition": 'attachment; filename="audit.toml"'}
        return Response(job.result, media_type="application/toml", headers=headers)

    # 4 Run ------------------------------------------------------------------------------------------------------------

    async def running(self, request: Request) -> Response:
        audit = self._audit(request)
        if audit.run is None:
            return _to(f"/audits/{audit.id}/choose")
        if audit.run.running:
            return self._waiting(audit, audit.run, "Making the report", f"/audits/{audit.id}/run", cancel=True)
        if audit.run.state is JobState.DONE:
            return _to(f"/audits/{audit.id}/report")
        if audit.run.state is JobState.CANCELLED:
            return _to(f"/audits/{audit.id}/choose")
        return self._choosing(audit, audit.run.problems, 422)

    async def progress(self, request: Request) -> Response:
        """What the script asks for every half second."""
        audit = self._audit(request)
        job = audit.run if request.query_params.get("of") == "run" else audit.reading
        if job is None:
            return JSONResponse({"running": False})
        now = job.progress
        said = {"says": sentence(now.says), "share": job.share, "left": job.left, "stages": now.stages, "at": now.at}
        said["spent"] = _spent(job)
        return JSONResponse({"running": job.running, **said})

    async def cancel(self, request: Request) -> Response:
        audit = self._audit(request)
        if audit.run is not None and audit.run.running:
            await asyncio.to_thread(audit.worker.cancel, audit.run)
            audit.notice = "The run was cancelled. Nothing was kept of it."
        return _to(f"/audits/{audit.id}/choose")

    # 5 Report ---------------------------------------------------------------------------------------------------------

    async def report(self, request: Request) -> Response:
        audit = self._audit(request)
        made = audit.report()
        if made is None:
            return _to(f"/audits/{audit.id}/run")
        return self._report(audit, made, None)

    def _report(
        self, audit: OpenAudit, made: Made, explored: Explored | None, problems: Sequence[Problem] = ()
    ) -> Response:
        links = [(name, format) for format, (name, _) in DOWNLOADS.items() if format in made.formats]
        names = {"audit": audit, "made": made, "links": links, "explored": explored, "problems": problems}
        return self._show(
            "page_report.html", 422 if problems else 200, step=4, asked=audit.asked, scales=SCALES, **names
        )

    async def explore(self, request: Request) -> Response:
        """Another place of the sliders: the exact optimum there."""
        audit = self._audit(request)
        made = audit.report()
        if made is None or made.ranges is None:
            raise HTTPException(404)
        form = await request.form()
        explored, problems = None, []
        try:
            audit.asked = _asked(form, made.ranges)
        except InputError as error:
            problems = list(error.problems)
        else:
            job = await _ended(audit.worker.submit(AskSliders(audit.asked)))
            explored, problems = job.result, _shown(audit, job.problems)
        if "x-fragment" in request.headers:
            names = {"explored": explored, "problems": problems, "asked": audit.asked}
            return self._show("page_explored.html", 422 if problems else 200, **names)
        return self._report(audit, made, explored, problems)

    async def report_page(self, request: Request) -> Response:
        """The report for the frame, allowed its own script and styles and nothing else."""
        made = self._audit(request).report()
        if made is None:
            raise HTTPException(404)
        text = await asyncio.to_thread(made.file("html").read_text, encoding="utf-8")
        return HTMLResponse(text, headers={"Content-Security-Policy": policy_of(text)})

    async def download(self, request: Request) -> Response:
        audit, format = self._audit(request), request.path_params["format"]
        made = audit.report()
        if made is None or format not in made.formats or format not in DOWNLOADS:
            raise HTTPException(404)
        path = made.file(format)
        return FileResponse(path, filename=path.name, media_type=DOWNLOADS[format][1])

    # 6 History --------------------------------------------------------------------------------------------------------

    async def history(self, request: Request) -> Response:
        return await self._history(dict(request.query_params))

    async def _history(self, asked: dict[str, str], problems: Sequence[Problem] = ()) -> Response:
        past = found = None
        told = list(problems)
        if self.past is None:
            told.append(Problem("audit.toml", "there is no such file in this folder"))
        else:
            try:
                past = await asyncio.to_thread(self.past.look)
                if "first" in asked and "second" in asked:
                    found = await asyncio.to_thread(self.past.compare, asked["first"], asked["second"])
            except InputError as error:
                told += error.problems
        meanings = {decision.value: words for decision, words in MEANING.items()}
        names: dict[str, Any] = {"past": past, "found": found, "asked": asked, "problems": told, "meanings": meanings}
        return self._show(
            "page_history.html", 422 if problems else 200, step=5, today=date.today().isoformat(), **names
        )

    async def respond(self, request: Request) -> Response:
        form = {name: str(value) for name, value in (await request.form()).items()}
        if self.past is None:
            raise HTTPException(404)
        try:
            await asyncio.to_thread(self.past.respond, form.get("which", ""), form)
        except InputError as error:
            return await self._history(form, error.problems)
        return _to("/history")

    async def record(self, request: Request) -> Response:
        if self.past is None:
            raise HTTPException(404)
        asked = dict(request.query_params)
        try:
            page = await asyncio.to_thread(self.past.record, asked.get("from", ""), asked.get("to", ""))
        except InputError as error:
            return await self._history(asked, error.problems)
        name = safe_name(f"record.{asked['from']}.{asked['to']}.html")
        return HTMLResponse(page, headers={"Content-Disposition": f'attachment; filename="{name}"'})

    async def trends(self, request: Request) -> Response:
        if self.past is None:
            raise HTTPException(404)
        try:
            text = await asyncio.to_thread(self.past.trends)
        except InputError:
            raise HTTPException(404) from None
        return HTMLResponse(text, headers={"Content-Security-Policy": policy_of(text)})

    async def artefact(self, request: Request) -> Response:
        """A file of a past run, by the name under which it was recorded."""
        folder, name = request.path_params["folder"], request.path_params["name"]
        path = None if self.past is None else await asyncio.to_thread(self.past.artefact, folder, name)
        if path is None:
            raise HTTPException(404)
        if path.suffix == ".html":
            text = await asyncio.to_thread(path.read_text, encoding="utf-8")
            return HTMLResponse(text, headers={"Content-Security-Policy": policy_of(text)})
        return FileResponse(path, filename=path.name)

    # Shared -----------------------------------------------------------------------------------------------------------

    def _audit(self, request: Request) -> OpenAudit:
        audit = self.audits.get(request.path_params["id"])
        if audit is None:
            raise HTTPException(404)
        return audit

    def _waiting(self, audit: OpenAudit, job: Pending, title: str, then: str, cancel: bool = False) -> Response:
        step = 4 if cancel else 2
        return self._show("page_waiting.html", step=step, audit=audit, job=job, title=title, then=then, cancel=cancel)

    def _show(self, template: str, status: int = 200, **names: Any) -> Response:
        return HTMLResponse(self.templates.get_template(template).render(names), status_code=status)

    async def missing(self, request: Request, error: Exception) -> Response:
        return self._show("page_missing.html", 404, step=0)


def application(audits: OpenAudits, key: Key, history: AuditHistory | None = None) -> Starlette:
    """The page as an ASGI application; `history` is that of past audits, if there is one."""
    pages = PageRoutes(audits, history)
    return Starlette(
        routes=pages.routes(), middleware=[Middleware(Guard, key=key)], exception_handlers={404: pages.missing}
    )


async def asset(request: Request) -> Response:
    name = request.url.path.lstrip("/")
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    return Response((files("auditkit.templates") / name).read_bytes(), media_type=kind)


def policy_of(page: str) -> str:
    """The policy for a report: its own inline script by hash, its inline styles, and nothing from anywhere."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    allowed = " ".join(f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts)
    return (
        f"default-src 'none'; script-src {allowed or chr(39) + 'none' + chr(39)}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )


def _apply(audit: OpenAudit, form: dict[str, str]) -> bool:
    """Take over the menus of the reading; whether anything changed."""
    view, first = audit.view, audit.first
    assert view is not None and first is not None
    roles = {column.name: column.role for column in view.columns}
    given = {column.name: form.get(f"role-{i}", column.role) for i, column in enumerate(view.columns)}
    moved = {name: role for name, role in given.items() if role != roles[name] and role in (*ROLES, NOT_USED)}
    for name, role in moved.items():
        if role not in SEVERAL:  # one column at most: the one that had it gives it up
            roles = {other: NOT_USED if has == role else has for other, has in roles.items()}
        roles[name] = role
    answer = dict(audit.choices.answer)
    if audit.question is not None and form.get("answer", "").isdecimal():
        place = int(form["answer"])
        answer = dict(audit.question.options[place].mapping) if place < len(audit.question.options) else answer
    if answer != audit.choices.answer:
        audit.first = None  # the roles are read anew with this answer
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


def _number(given: object, place: str, default: float | None) -> float | None:
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


def _asked(form: FormData, ranges: SliderRanges) -> Explore:
    """The places of the sliders, within their ends."""
    attribute = str(form.get("attribute", ""))
    if attribute not in ranges.attributes:
        raise InputError(Problem("attribute", f"there is no attribute {attribute!r}", ", ".join(ranges.attributes)))
    ratio = _number(form.get("ratio"), "Impact ratio", LOWEST) or LOWEST
    places = [("interviews", ranges.interviews), ("scale", SCALES.index(1.0))]
    interviews, scale = (int(_number(form.get(name), name, default) or 0) for name, default in places)
    if not (LOWEST <= ratio <= 1 and 0 <= interviews <= ranges.interviews and 0 <= scale < len(SCALES)):
        raise InputError(Problem("", "a slider is beyond its end", "move it"))
    limit = None if interviews == ranges.interviews else interviews
    return Explore(attribute, ratio, limit, ranges.value_scale * SCALES[scale])


def _spent(job: Pending) -> str:
    """How long a job has been running, once that says something."""
    seconds = time.monotonic() - job.begun
    return "" if seconds < 3 else f"{round(seconds)} s so far" if seconds < 90 else f"{round(seconds / 60)} min so far"


async def _ended(job: Pending) -> Pending:
    await asyncio.to_thread(job.ended.wait)
    return job


def _shown(audit: OpenAudit, problems: tuple[Problem, ...]) -> list[Problem]:
    """Problems with the files' names in place of where their copies are."""

    def named(text: str) -> str:
        for path in paths_of(audit.data):
            text = text.replace(str(path), path.name)
        return text

    return [Problem(named(p.where), named(p.what), _fix(p)) for p in problems]


def _fix(problem: Problem) -> str:
    """What to do about it here, where the command line would take an option."""
    if problem.where in ROLES:
        return f"choose “{ROLE_NAMES.get(problem.where, problem.where)}” in the menu of the column that says it"
    return "change the menus of the columns" if "--" in problem.fix else problem.fix


def _role_menu() -> list[tuple[str, str]]:
    return [(NOT_USED, "not used"), *((role, ROLE_NAMES.get(role, role)) for role in ROLES)]


def _to(place: str) -> Response:
    return RedirectResponse(place, status_code=303)
