"""The history on the page: past runs, trends, differences, responses and the record."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from auditkit.errors import InputError, Problem
from auditkit.page.open_audits import safe_name
from auditkit.page.page_frame import PageFrame, policy_of, to
from auditkit.scheduled import evidence_page
from auditkit.scheduled.audit_history import AuditHistory
from auditkit.scheduled.responses import MEANING


class HistoryStep:
    """Past audits; there are none without an audit.toml."""

    def __init__(self, page: PageFrame, past: AuditHistory | None) -> None:
        self.page, self.past = page, past

    def routes(self) -> list[Route]:
        return [
            Route("/history", self.history),
            Route("/history/trends.html", self.trends),
            Route("/history/record", self.record),
            Route("/history/respond", self.respond, methods=["POST"]),
            Route("/history/{folder}/{name}", self.artefact),
        ]

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
        names: dict[str, object] = {
            "past": past,
            "found": found,
            "asked": asked,
            "problems": told,
            "meanings": meanings,
        }
        return self.page.show(
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
        return to("/history")

    async def record(self, request: Request) -> Response:
        if self.past is None:
            raise HTTPException(404)
        asked = dict(request.query_params)
        try:
            period = ("From", asked.get("from", "")), ("To", asked.get("to", ""))
            found, chosen = await asyncio.to_thread(self.past.evidence, *period)
            page = await asyncio.to_thread(evidence_page.html_of, found, chosen.config)
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
        """A file of a past run, by its recorded name."""
        folder, name = request.path_params["folder"], request.path_params["name"]
        path = None if self.past is None else await asyncio.to_thread(self.past.artefact, folder, name)
        if path is None:
            raise HTTPException(404)
        if path.suffix == ".html":
            text = await asyncio.to_thread(path.read_text, encoding="utf-8")
            return HTMLResponse(text, headers={"Content-Security-Policy": policy_of(text)})
        return FileResponse(path, filename=path.name)
