"""Step 1 of the page: a file arrives."""

from __future__ import annotations

import asyncio

from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message

from auditkit.data.source import place_of
from auditkit.errors import Problem
from auditkit.page import page_frame
from auditkit.page.open_audits import safe_name, unlike
from auditkit.page.page_frame import PageFrame, to

MOST_FILES = 50
"""The most files in one upload."""


class TooLarge(Exception):
    """An upload above the limit."""


class FileStep:
    """Uploads, and the sample data."""

    def __init__(self, page: PageFrame) -> None:
        self.page = page

    def routes(self) -> list[Route]:
        return [
            Route("/", self.start),
            Route("/files", self.upload, methods=["POST"]),
            Route("/sample", self.sample, methods=["POST"]),
        ]

    async def start(self, request: Request) -> Response:
        await asyncio.to_thread(self.page.audits.warm_up)  # ready by the time a file is chosen
        return self.page.show("page_file.html", step=1, audits=reversed(list(self.page.audits)), problems=())

    async def upload(self, request: Request) -> Response:
        try:
            return await self._upload(request)
        except TooLarge:
            what = f"is larger than the {page_frame.megabytes()} MB that can be uploaded here"
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
            if received > page_frame.MOST_BYTES:
                while message.get("more_body"):  # a browser reads the response only after sending everything
                    message = await request.receive()
                raise TooLarge
            return message

        form = await Request(request.scope, limited).form(max_files=MOST_FILES, max_fields=10)
        given = [one for one in form.getlist("file") if not isinstance(one, str) and one.filename]
        if not given:
            return self._refused_file(Problem("Export file", "no file was chosen", "choose one"), 400)
        id, folder = self.page.audits.reserve()
        names = unlike([safe_name(one.filename or "") for one in given])
        try:
            for name, one in zip(names, given, strict=True):
                with (folder / name).open("xb") as file:
                    while piece := await one.read(1 << 20):
                        await asyncio.to_thread(file.write, piece)
        except BaseException:
            self.page.audits.discard(id)
            raise
        finally:
            await form.close()
        paths = [folder / name for name in names]
        self.page.audits.open(id, place_of(paths))
        return to(f"/audits/{id}/reading")

    async def sample(self, request: Request) -> Response:
        from auditkit.sample_data import content

        id, folder = self.page.audits.reserve()
        path = folder / "hiring.csv"
        path.write_bytes(content("hiring.csv"))
        self.page.audits.open(id, path)
        return to(f"/audits/{id}/reading")

    def _refused_file(self, problem: Problem, status: int) -> Response:
        audits = reversed(list(self.page.audits))
        return self.page.show("page_file.html", status, step=1, audits=audits, problems=[problem])
