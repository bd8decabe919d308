"""The audits open in the page: one per file, with the user's choices and the current job."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

from auditkit.config import Config
from auditkit.data.source import Files
from auditkit.page.explore import Explore
from auditkit.page.reading_view import NOT_USED, QuestionView, ReadingView
from auditkit.page.tasks import Made, MakeReport, Read
from auditkit.page.worker import Pending, Worker

MOST_WORKERS = 3
"""Idle workers beyond this number are stopped, the longest unused first: each holds a file in memory."""


@dataclass(frozen=True)
class UserChoices:
    """The user's choices so far; everything has a default."""

    roles: Mapping[str, str] = field(default_factory=dict)
    """Column -> role, if it differs from the first reading."""
    favourable: str = ""
    answer: Mapping[str, str | list[str]] = field(default_factory=dict)
    """The mapping of the answer to a question about the file."""
    sheet: str | None = None
    groups: tuple[str, ...] | None = None
    constraints: tuple[str, ...] | None = None
    minimum_ratio: float = 0.8
    value_scale: float | None = None
    cost: float | None = None
    organisation: str = ""
    prepared_for: str = ""
    marking: str = ""
    profile: str = ""

    def config(self, base: Config, first: ReadingView | None) -> Config:
        """The settings of these choices; `first` is the reading before any of them."""
        mapping: dict[str, str | list[str]] = dict(self.answer)
        if self.roles and first is not None:
            inferred = {column.name: column.role for column in first.columns}
            wanted = {name: self.roles.get(name, role) for name, role in inferred.items()}
            changed = {r for name, role in wanted.items() if role != inferred[name] for r in (role, inferred[name])}
            for role in changed - {NOT_USED}:
                mapping[role] = [name for name, has in wanted.items() if has == role] or ["none"]
        if self.favourable:
            mapping["selected"] = [self.favourable]
        if self.groups is not None and (self.groups or mapping.get("group")):
            mapping["group"] = list(self.groups) or ["none"]
        constraints = None
        if self.constraints is not None:
            keys: dict[str, dict[str, object]] = {
                "parity": {"type": "parity"},
                "impact-ratio": {"type": "impact-ratio", "minimum": self.minimum_ratio},
            }
            constraints = [keys[name] for name in self.constraints if name in keys]
        return base.over(
            mapping=mapping or None,
            sheet=self.sheet,
            cost=self.cost,
            value_scale=self.value_scale,
            constraints=constraints or None,
            organisation=self.organisation or None,
            statement__prepared_for=self.prepared_for or None,
            statement__marking=self.marking or None,
            profile=self.profile or None,
        )


@dataclass(eq=False)
class OpenAudit:
    """One file: where it is, how it's read, the choices, and the results."""

    id: str
    data: Path | Files
    folder: Path
    base: Config
    worker: Worker
    choices: UserChoices = field(default_factory=UserChoices)
    reading: Pending | None = None
    question: QuestionView | None = None
    """The last question about the file, answered or not."""
    first: ReadingView | None = None
    """The reading before any choice."""
    run: Pending | None = None
    made: Made | None = None
    made_with: UserChoices | None = None
    """The choices of the last run."""
    asked: Explore | None = None
    """Where the sliders are."""
    notice: str = ""

    @property
    def name(self) -> str:
        return self.data.name

    @property
    def config(self) -> Config:
        return self.choices.config(self.base, self.first)

    @property
    def view(self) -> ReadingView | None:
        """The last finished reading."""
        if self.reading is None or not isinstance(self.reading.result, ReadingView):
            return None
        if self.first is None or len(self.first.unused) == len(self.first.columns):  # nothing could be read at first
            found, ours = self.reading.result, self.choices.roles
            columns = tuple(replace(one, role=NOT_USED) if one.name in ours else one for one in found.columns)
            self.first = replace(found, columns=columns)
        if self.reading.result.questions:
            self.question = self.reading.result.questions[0]
        return self.reading.result

    @property
    def reached(self) -> int:
        """The last step that the user can go to."""
        if self.report() is not None or (self.run is not None and self.run.running):
            return 4
        return 3 if self.view is not None and self.view.ok else 2

    @property
    def outdated(self) -> bool:
        """Whether the report was made before the last change of the reading or of the choices."""
        return self.made is not None and self.made_with != self.choices

    def read(self) -> Pending:
        """Read the file with the choices so far."""
        shown = {} if self.first is None else {column.name: column.role for column in self.first.columns}
        self.reading = self.worker.submit(Read(self.data, self.config, {**shown, **self.choices.roles}))
        return self.reading

    def choose(self, **changes: object) -> None:
        self.choices = replace(self.choices, **changes)  # type: ignore[arg-type]

    def make(self) -> Pending:
        """Start the report, unless it's already running."""
        if self.run is None or not self.run.running:
            word = ("docx",) if find_spec("docx") else ()
            config = self.config.over(report__formats=("html", "json", "xlsx", "pdf", *word))
            self.made, self.asked, self.made_with = None, None, self.choices
            self.run = self.worker.submit(MakeReport(self.data, config, self.folder / f"{self.data.stem}.audit"))
        return self.run

    def report(self) -> Made | None:
        """The finished report."""
        if self.run is not None and isinstance(self.run.result, Made):
            self.made = self.run.result
        return self.made


class OpenAudits:
    """All open audits of a page, in a private folder that is removed with it."""

    def __init__(self, folder: Path, base: Config) -> None:
        self.folder, self.base = folder, base
        self._open: dict[str, OpenAudit] = {}
        self._spare = Worker(folder)

    def warm_up(self) -> None:
        """Start a worker before it is needed."""
        self._spare.start()

    def __iter__(self) -> Iterator[OpenAudit]:
        return iter(list(self._open.values()))

    def get(self, id: str) -> OpenAudit | None:
        """An open audit, which becomes the last one used."""
        found = self._open.pop(id, None)
        if found is not None:
            self._open[id] = found
        return found

    def reserve(self) -> tuple[str, Path]:
        """A new id, and the folder for its files."""
        id = secrets.token_urlsafe(9)
        folder = self.folder / id
        folder.mkdir(mode=0o700)
        return id, folder

    def open(self, id: str, data: Path | Files) -> OpenAudit:
        """Open a file, or several that belong together, and start reading."""
        worker, self._spare = self._spare, Worker(self.folder)
        folder = self.folder / id
        folder.mkdir(mode=0o700, exist_ok=True)
        audit = OpenAudit(id, data, folder, self.base, worker)
        self._open[id] = audit
        audit.read()
        self._stop_idle()
        return audit

    def open_file(self, data: Path | Files) -> OpenAudit:
        """Open the user's own files, which stay where they are."""
        return self.open(secrets.token_urlsafe(9), data)

    def discard(self, id: str) -> None:
        """Forget an upload that didn't arrive whole."""
        shutil.rmtree(self.folder / id, ignore_errors=True)

    def stop(self) -> None:
        """End every worker."""
        for audit in self:
            audit.worker.stop()
        self._spare.stop()

    def _stop_idle(self) -> None:
        idle = [audit for audit in self._open.values() if not audit.worker.busy]
        for audit in idle[: max(0, len(self._open) - MOST_WORKERS)]:
            audit.worker.stop()


def safe_name(name: str) -> str:
    """A file name without folders, and without characters that are special to a shell or a browser.

    >>> safe_name("../../etc/pass wd.csv"), safe_name("C:\\\\fakepath\\\\Bewerber März.xlsx"), safe_name("...")
    ('pass wd.csv', 'Bewerber März.xlsx', 'export')
    """
    last = re.split(r"[/\\\\]", name)[-1]
    kept = "".join(c if c.isalnum() or c in " ._-()" else "_" for c in last).strip(" .")
    stem, dot, ending = kept.rpartition(".")
    return f"{stem[:100]}{dot}{ending[:10]}" if stem else kept[:100] or "export"


def unlike(names: list[str]) -> list[str]:
    """The names, with repeats numbered (ignoring case, as some systems do).

    >>> unlike(["a.csv", "A.csv", "b.csv"])
    ['a.csv', '2 A.csv', 'b.csv']
    """
    taken: set[str] = set()
    for place, name in enumerate(names):
        number = 1
        while names[place].lower() in taken:
            number += 1
            names[place] = f"{number} {name}"
        taken.add(names[place].lower())
    return names
