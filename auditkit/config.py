"""The settings of an audit: `audit.toml`, checked, with every default in one place.

Command-line options override the file. The stages of `pipeline` take the settings they need. `[thresholds]`,
`[history]` and `[[alerts]]` are plain tables here: `auditkit.scheduled` knows their keys.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from auditkit.errors import InputError, Problem, validated
from auditkit.files import read_regular
from auditkit.text import as_unicode

Parts = Literal["summary", "body", "all"]
PARTS: tuple[Parts, ...] = get_args(Parts)
"""How much of a report to write: the first page, with the details after it, or with the annex too."""
OPTIONS = {
    "map": "mapping",
    "words": "words",
    "sheet": "sheet",
    "query": "query",
    "cost": "cost",
    "capacity": "capacity",
    "value_scale": "value_scale",
    "fitter": "fit__fitter",
    "propensity": "fit__propensity",
    "blind": "fit__blind",
    "group_aware": "fit__group_aware",
    "constraints": "constraints",
    "engine": "engine",
    "formats": "report__formats",
    "parts": "report__parts",
    "template_dir": "report__template_dir",
    "profile": "profile",
    "availability": "availability",
}
"""Settings that commands and functions take directly: option = key, in the form that `Config.over` takes."""
SQLITE = "sqlite:///"
NonNegative = Annotated[int, Field(ge=0)]
RUN_ONLY = ("thresholds", "history", "alerts")
"""Settings that only matter once a report is made."""
_DATABASE = ("database", "database_env", "query")
"""A report has them in `input`, without a password."""
_ENGINE = ("engine",)
"""No number in a report depends on it, and it names a machine."""
_TABLES = {
    "thresholds": "is not a table: write [thresholds] above its keys",
    "history": "is not a table: write [history] above its keys",
    "alerts": "is not a list of tables: write [[alerts]], with two brackets",
}


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Fit(_Part):
    """How priors are learnt from past scores."""

    fitter: str = Field(default="empirical", description="how priors are learnt: empirical, normal, or a plugin's")
    folds: int = Field(
        default=5,
        ge=2,
        description="searches are split into this many folds: no candidate's own score enters their prior",
    )
    points: int | None = Field(
        default=None, ge=2, le=1000, description="support points of each prior; 40, fewer for over 250,000 applications"
    )
    propensity: bool = Field(default=False, description="weight scores by the inverse chance of being inspected")
    outcome_scale: Literal["match", "given"] = Field(
        default="match",
        description="outcomes are rescaled to the scores' mean and spread, or taken as given in their unit",
    )
    staged: bool = Field(default=True, description="model the stages of the data; false: one inspection")
    blind: bool = Field(default=False, description="keep the protected attributes out of the priors")
    group_aware: bool = Field(
        default=False, description="false: no policy sees the group; true: the bound for policies that could use it"
    )


class ReportSettings(_Part):
    """The files to write, and the lines that figures are compared with."""

    formats: tuple[str, ...] = Field(
        default=("html", "json"), min_length=1, description="any of html, json, pdf, or a plugin's"
    )
    parts: Parts = Field(
        default="all", description="summary: the first page; body: and the details; all: and the annex"
    )
    alternatives: bool = Field(
        default=True, description="look for rules that never look at the group, if a difference was found"
    )
    selection_is_bad: bool = Field(
        default=False, description="being selected is bad, as for dismissals: the lowest rate is then the reference"
    )
    suppress_below: int = Field(default=5, ge=0, description="outcomes of groups with fewer applicants are never shown")
    line: float = Field(default=0.8, gt=0, le=1, description="impact ratios are compared with this line (four fifths)")
    alpha: float = Field(default=0.05, gt=0, lt=1, description="level of the tests, corrected for many comparisons")
    minimum_share: float = Field(
        default=0.02, ge=0, le=1, description="groups with a smaller share are left out of the ratios"
    )
    replicates: int = Field(
        default=12,
        ge=0,
        le=10_000,
        description="resampled sets of searches behind an interval that needs them; 0: no intervals",
    )
    confidence: float = Field(default=0.95, gt=0, lt=1, description="level of the intervals of the price of fairness")
    seed: int = Field(default=20_260_229, ge=0, description="of the resampling: same seed, same intervals")
    what_if: bool = Field(default=True, description="ask what stricter constraints, biased scores, positions would do")
    template_dir: Path | None = Field(
        default=None, description="folder of templates that replace the shipped ones by name"
    )


class Statement(_Part):
    """The auditor's own words: kept here from run to run, shown in every report."""

    prepared_for: str = Field(default="", description="whom the report is for; printed on its first page")
    marking: str = Field(
        default="", description='printed on every page, e.g. "Confidential. Prepared at the direction of counsel."'
    )
    comments: str = Field(
        default="", description="your own comments, under the findings; an empty line ends a paragraph"
    )
    data_source: str = ""
    explanation: str = ""
    audit_date: date | None = None
    distribution_date: date | None = None
    small_categories: bool = Field(
        default=False, description="state categories of any size in the Local Law 144 tables; read the warning there"
    )


class AvailableShare(_Part):
    """The share of a group in a pool outside the firm."""

    group: str
    share: float = Field(ge=0, le=1)
    attribute: str | None = Field(default=None, description="needed if several attributes have a group of this name")
    pool: str | None = Field(default=None, description="value of a segment, if shares differ between them")


class Config(_Part):
    """All settings. `source` and `template_dir` are relative to their file."""

    source: Path | None = Field(default=None, description="the data; an argument on the command line comes first")
    also: list[Path] = Field(default_factory=list, description="further files: below source, or joined by an id")
    database: str | None = Field(
        default=None, description="instead of source: the URL of a database, without a password"
    )
    database_env: str | None = Field(
        default=None, description="name of the environment variable that holds the URL, if it needs a password"
    )
    query: str | None = Field(default=None, description="SQL that returns the rows, if the data are in a database")
    sheet: str | None = Field(default=None, description="sheet of an Excel file (default: the first with a table)")
    profile: str = Field(
        default="none",
        description="rules of a place: nyc-ll144, california, new-jersey, eu-ai-act, uk, a plugin's, or none",
    )
    organisation: str = Field(default="", description="whose hiring this is, for the title of the report")
    mapping: dict[str, str | list[str]] = Field(default_factory=dict, description="role = column(s)")
    favourable: str | None = Field(
        default=None, description="the good value of the outcome, as the file writes it: Retained, Hired|Offer accepted"
    )
    words: dict[str, str] = Field(default_factory=dict, description="statuses of the file: word = meaning")
    columns: dict[str, str | list[str]] = Field(
        default_factory=dict, description="what columns looked like: a later file whose columns have other names"
    )
    cost: float | dict[str, float] | None = Field(default=None, description="of an inspection, if the data has none")
    capacity: int | None = Field(default=None, ge=0, description="positions of a search, if the data has none")
    limits: dict[str, NonNegative | dict[str, NonNegative]] = Field(
        default_factory=dict, description="column of units = how many can be selected in each, or unit = how many"
    )
    value_scale: float | None = Field(
        default=None,
        gt=0,
        le=1e50,
        description="worth of one score point, in the unit of costs (none: revealed by how many were inspected)",
    )
    engine: str = Field(default="local", description="where to compute: local, dask, or tcp://HOST:PORT")
    fit: Fit = Field(default=Fit())
    constraints: list[dict[str, object]] | None = Field(default=None, description="none given: parity and impact-ratio")
    report: ReportSettings = Field(default=ReportSettings())
    availability: list[AvailableShare] = Field(
        default_factory=list, description="shares of groups in pools outside the firm, to compare selections with"
    )
    statement: Statement = Field(default=Statement())
    thresholds: dict[str, object] = Field(default_factory=dict)
    history: dict[str, object] = Field(default_factory=dict)
    alerts: list[dict[str, object]] = Field(default_factory=list)

    @field_validator("source", mode="before")
    @classmethod
    def _a_file(cls, value: Any) -> Any:
        if isinstance(value, str) and "://" in value:
            raise ValueError("is the URL of a database")
        return value

    def over(self, **given: Any) -> Config:
        """These settings, overridden by others; None means not given. `fit__folds` is `folds` of `fit`."""
        document = self.model_dump()
        for key, value in given.items():
            if value is None:
                continue
            *parts, last = key.split("__")
            target = document
            for part in parts:
                target = target[part]
            target[last] = {**target[last], **value} if last in ("mapping", "words") else value
        return check(document)

    def to_json(self) -> dict[str, JsonValue]:
        """For the report: all its settings, with only the names of files and folders."""
        document = self.model_dump(mode="json")
        document["source"] = None if self.source is None else as_unicode(self.source.name)
        document["also"] = [path.name for path in self.also]
        if not self.also:
            document.pop("also")
        if not self.availability:
            document.pop("availability")
        document["report"]["template_dir"] = None if self.report.template_dir is None else self.report.template_dir.name
        for name in (*RUN_ONLY, *_DATABASE, *_ENGINE):
            document.pop(name)
        return document


def choose(config: Config | str | Path | None, options: Mapping[str, object]) -> Config:
    """The settings of a file, or the defaults, overridden by the `options` that are in OPTIONS and not None."""
    if config is None or isinstance(config, Config):
        base = config or Config()
    else:
        base = place(parse(Path(config))[1], Path(config), confirmed=options.get("template_dir") is not None)
    return base.over(**{key: options.get(name) for name, key in OPTIONS.items()})


def read(path: Path) -> Config:
    """The settings of a file."""
    return place(parse(path)[1], path)


MOST_BYTES, MOST_DOTS = 500_000, 30
_PART = rb"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(rb"(?<![A-Za-z0-9_-])(?:%b\.[ \t]*+){%d}" % (_PART, MOST_DOTS))
"""Python's TOML parser needs gigabytes for a key with some ten thousand parts."""


def parse(path: Path) -> tuple[bytes, dict[str, object]]:
    """A TOML file: its bytes and its contents."""
    try:
        text = read_regular(path)
        if len(text) > MOST_BYTES or _LONG_KEY.search(text):
            what = f"is longer than {MOST_BYTES:,} bytes, or has a key of more than {MOST_DOTS} parts"
            raise InputError(Problem(str(path), what, "name a file of settings; auditkit init DATA writes one"))
        return text, tomllib.loads(text.decode("utf-8-sig").replace("\r\n", "\n"))
    except FileNotFoundError:
        raise InputError(Problem(str(path), "there is no such file", "auditkit init DATA writes one")) from None
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be read: {error.strerror or error}")) from None
    except UnicodeDecodeError:
        raise InputError(Problem(str(path), "is not text in UTF-8")) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(Problem(str(path), f"is not TOML: {error}")) from None
    except (ValueError, RecursionError):
        raise InputError(Problem(str(path), "holds a number with too many digits, or is nested too deeply")) from None


def place(document: Mapping[str, object], path: Path, confirmed: bool = False) -> Config:
    """The settings in a file; the paths they name are relative to it.

    Templates are programs: those that the file names must be beside it, unless the user names them (`confirmed`).
    """
    config = check(document, str(path))
    folder = config.report.template_dir
    if folder is not None and not confirmed:
        home = path.parent.resolve()
        if not (home / folder).resolve().is_relative_to(home):
            what = f"report.template_dir: {str(folder)!r} is outside the folder of this file"
            raise InputError(Problem(str(path), what, "move it there, or confirm it with --template-dir"))
    places = {"source": config.source, "report__template_dir": config.report.template_dir}
    found = {key: None if given is None else path.parent / given for key, given in places.items()}
    also = [path.parent / each for each in config.also] or None
    return config.over(**found, also=also, database=_beside(config.database, path))


def _beside(database: str | None, path: Path) -> str | None:
    """The URL of a SQLite file, which is also relative to the settings file."""
    head, sign, file = (database or "").partition(SQLITE)
    return database if head or not sign else SQLITE + str(path.parent / file)


def check(document: Mapping[str, object], place: str = "") -> Config:
    """Settings from plain data; raises InputError that names every wrong key."""
    try:
        return validated(Config, document, wording=_without_secrets)
    except InputError as error:
        raise InputError([p.of_file(place) if place else p for p in error.problems]) from None


def _without_secrets(where: str, item: Any) -> Problem | None:
    """Don't repeat the URL of a database, nor the settings of scheduled audits: they may be secrets."""
    key = item["loc"][0] if item["loc"] else ""
    if key == "source" and item["type"] == "value_error":
        return Problem(where, "is the URL of a database", "name it in database, or in database_env with a password")
    if key in _DATABASE:
        return Problem(where, "is not text in quotation marks")
    return Problem(where, _TABLES[key]) if key in RUN_ONLY else None
