"""What a scheduled audit reads from audit.toml in addition to the settings of the report:

    [thresholds]            lines that must not be crossed (`thresholds`)
    [history]               where artefacts and figures are kept, and for how long
    [[alerts]]              whom to alert (`auditkit.scheduled.alert`)

Paths are relative to the file. Secrets are only in the environment variables that the settings name.
"""

from __future__ import annotations

import calendar
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from auditkit import config
from auditkit.config import Config
from auditkit.data.sql_query import holds_secret, parts_of
from auditkit.errors import InputError, Problem, validated
from auditkit.report import thresholds
from auditkit.scheduled.alert import Channel, Variable, make

UNITS = ("day", "week", "month", "year")


@dataclass(frozen=True)
class Period:
    """A stretch of calendar time such as 4 years."""

    number: int
    unit: str

    def before(self, moment: datetime) -> datetime:
        """The moment this long before another; the 31st of a short month is its last day."""
        if self.unit in ("day", "week"):
            days = self.number * (7 if self.unit == "week" else 1)
            return moment - timedelta(days=min(days, (moment - moment.replace(year=1, month=1, day=1)).days))
        months = self.number * (12 if self.unit == "year" else 1)
        year, month = divmod(moment.year * 12 + moment.month - 1 - months, 12)
        if year < 1:
            return moment.replace(year=1, month=1, day=1)
        day = min(moment.day, calendar.monthrange(year, month + 1)[1])
        return moment.replace(year=year, month=month + 1, day=day)

    def __str__(self) -> str:
        return f"{self.number} {self.unit}{'' if self.number == 1 else 's'}"


def parse_period(text: str) -> Period:
    found = re.fullmatch(r"\s*(\d{1,6})\s*([a-z]+?)s?\s*", text.lower())
    if found is None or found[2] not in UNITS or not int(found[1]):
        raise ValueError('is not a period; write for example "4 years", "18 months" or "90 days"')
    return Period(int(found[1]), found[2])


def _may_hold_secret(url: str) -> bool:
    try:
        return holds_secret(parts_of(url, "history.database"))
    except InputError:  # an ambiguous part may be a password
        return True


class HistorySettings(BaseModel):
    """The table `[history]`."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: str | None = Field(None, min_length=1, description="name of this audit (default: the name of its folder)")
    folder: Path = Field(Path("audits"), description="where the dated folders of artefacts are written")
    database: str | None = Field(
        None, description="SQLite file, or URL without a password (default: history.sqlite in the folder)"
    )
    database_env: Variable | None = Field(
        None, description="name of the environment variable that holds the URL of the database"
    )
    signing_key: Path | None = Field(
        None, description="ssh-keygen key that signs every run (the public key, if ssh-agent holds the private one)"
    )
    keep: str | None = Field(None, description='how long artefacts are kept, such as "4 years" (default: for ever)')

    @field_validator("keep")
    @classmethod
    def _a_period(cls, value: str | None) -> str | None:
        if value is not None:
            parse_period(value)
        return value

    @field_validator("database")
    @classmethod
    def _no_password(cls, value: str | None) -> str | None:
        if value is not None and "://" in value and not value.startswith("sqlite") and _may_hold_secret(value):
            raise ValueError("holds a password; put the URL into an environment variable and name it in database_env")
        return value

    @model_validator(mode="after")
    def _one_database(self) -> HistorySettings:
        if self.database is not None and self.database_env is not None:
            raise ValueError("database and database_env exclude each other")
        return self

    @property
    def period(self) -> Period | None:
        return None if self.keep is None else parse_period(self.keep)


@dataclass(frozen=True, eq=False)
class AuditSettings:
    """One audit.toml, as a run uses it. `text` is the file, byte by byte."""

    path: Path
    text: bytes
    config: Config
    thresholds: tuple[thresholds.Threshold, ...]
    history: HistorySettings
    alerts: tuple[Mapping[str, object], ...]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text).hexdigest()

    @property
    def name(self) -> str:
        return self.history.name or self.path.parent.name or self.path.stem

    @property
    def folder(self) -> Path:
        return self.path.parent / self.history.folder

    def database(self, environ: Mapping[str, str]) -> str:
        """The file of the history, or its URL; that may hold a password."""
        variable, given = self.history.database_env, self.history.database
        if variable is not None:
            url = value_of(variable, environ, "history.database_env")
            if "://" not in url:
                raise InputError(Problem("history.database_env", f"{variable} holds no URL", "postgresql://..."))
            return url
        if given is None:
            return str(self.folder / "history.sqlite")
        file = given.removeprefix("sqlite:///")
        return given if "://" in file else str(self.path.parent / file)

    @property
    def signing_key(self) -> Path | None:
        """The key that signs every run; relative to the file."""
        key = self.history.signing_key
        return None if key is None else self.path.parent / key.expanduser()

    def channels(self, kinds: Mapping[str, type[Channel]]) -> tuple[Channel, ...]:
        """The alert channels; every problem with any of them at once."""
        made: list[Channel] = []
        problems: list[Problem] = []
        for i, keys in enumerate(self.alerts):
            try:
                made.append(make(kinds, keys))
            except InputError as error:
                problems += [problem.at(f"{self.path}: alerts[{i}]") for problem in error.problems]
        if problems:
            raise InputError(problems)
        return tuple(made)


def value_of(variable: str, environ: Mapping[str, str], where: str) -> str:
    """The value of an environment variable; raises InputError if it isn't set."""
    value = environ.get(variable, "")
    if not value.strip():
        raise InputError(Problem(where, f"the environment variable {variable} is not set", "set it, or remove the key"))
    return value


def read(path: Path) -> AuditSettings:
    """The settings of a file; raises InputError that names every key that is wrong."""
    path = path.absolute()
    text, document = config.parse(path)
    return check(path, text, config.place(document, path))


def check(path: Path, text: bytes, chosen: Config) -> AuditSettings:
    """The settings of runs."""
    problems: list[Problem] = []
    lines: tuple[thresholds.Threshold, ...] = ()
    history = HistorySettings.model_validate({})
    try:
        lines = thresholds.parse(chosen.thresholds)
    except InputError as error:
        problems += error.problems
    try:
        history = validated(HistorySettings, chosen.history, quote=False)
    except InputError as error:
        problems += [problem.at("history") for problem in error.problems]
    if problems:
        raise InputError([problem.of_file(path) for problem in problems])
    return AuditSettings(path, text, chosen, lines, history, tuple(chosen.alerts))
