"""The commands as functions: the same names, the same path through `pipeline`, results instead of files.

    import auditkit

    audit = auditkit.audit("people.csv", constraints=["parity", "quota:group=F,share=0.4"])
    audit                          # in a notebook: the findings and the policies
    audit.to_frame()               # the same as a table
    audit.save_html("people.html")

Data are a path, a database URL (with `query`), a table (of pandas, polars, Arrow or DuckDB), or what `read` returned.
Options have the same names as on the command line; any mistake raises `auditkit.errors.InputError` with the command
line's message. Nothing is printed, and only methods named `save_...` write files.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from auditkit import pipeline, plugin_manager
from auditkit.config import Config, choose
from auditkit.constraints import bind, spec
from auditkit.constraints.base import Constraint
from auditkit.data import source
from auditkit.data.availability_file import read_availability
from auditkit.data.firm_history import History
from auditkit.data.load import Checked
from auditkit.errors import InputError, Problem, wrong_type
from auditkit.fitting.fitted import Fitted
from auditkit.model.documents import read_instance
from auditkit.model.instance import Instance, LaidOut
from auditkit.report.audit import Audit
from auditkit.report.what_if import WhatIf
from auditkit.rules.find import Alternatives
from auditkit.scenarios.frontier import frontier
from auditkit.solver import Solution
from auditkit.solver import solve as solve_instance
from auditkit.solver.g_rdip import Settings
from auditkit.solver.start_engine import LOCAL, running
from auditkit.verification import Verified, check_solution
from auditkit.verification.verify_files import verify_files

if TYPE_CHECKING:
    import pandas as pd

    from auditkit.data.read_file import Tabular
    from auditkit.plugin_manager import Plugins

    Data = str | Path | Tabular
    Roles = Mapping[str, str | Sequence[str]]
    Cost = float | Mapping[str, float]
    Stated = str | Mapping[str, object] | Constraint
    Folders = str | Path | Iterable[str | Path]
    Available = str | Path | Sequence[Mapping[str, object]]


def read(
    data: Data,
    *,
    map: Roles | None = None,
    cost: Cost | None = None,
    capacity: int | None = None,
    sheet: str | None = None,
    query: str | None = None,
    words: Mapping[str, str] | None = None,
    config: str | Path | Config | None = None,
    plugins_dir: Folders = (),
) -> History:
    """Read an export: find out which column is what, turn every cell into a value, count every problem.

    `map` is role -> column or columns, `words` says what the file's statuses mean, `config` is an audit.toml.
    """
    chosen = _settings(locals())
    return source.read(_place(data, chosen), chosen, _plugins(plugins_dir))


def check(
    data: Data,
    *,
    map: Roles | None = None,
    cost: Cost | None = None,
    capacity: int | None = None,
    sheet: str | None = None,
    query: str | None = None,
    words: Mapping[str, str] | None = None,
    config: str | Path | Config | None = None,
    plugins_dir: Folders = (),
) -> Checked:
    """Only validate: report everything that `read` would complain about, without raising."""
    chosen = _settings(locals())
    return source.problems_of(_place(data, chosen), chosen, _plugins(plugins_dir))


def fit(
    data: Data | History,
    *,
    map: Roles | None = None,
    cost: Cost | None = None,
    capacity: int | None = None,
    sheet: str | None = None,
    query: str | None = None,
    value_scale: float | None = None,
    fitter: str | None = None,
    propensity: bool | None = None,
    blind: bool | None = None,
    group_aware: bool | None = None,
    config: str | Path | Config | None = None,
    plugins_dir: Folders = (),
) -> Fitted:
    """Fit a prior for each candidate: `.instance` is what `solve` takes, `.quality` says how well the priors fit."""
    _not_read_yet(data, map)
    chosen = _settings(locals())
    plugins = _plugins(plugins_dir)
    return pipeline.fit_history(source.read(_place(data, chosen), chosen, plugins), chosen, plugins)


def solve(
    instance: Instance | Fitted | str | Path,
    constraints: Stated | Sequence[Stated] = (),
    method: str = "column-generation",
    *,
    settings: Settings | None = None,
    least_spread: bool = False,
    engine: str = LOCAL,
    plugins_dir: Folders = (),
) -> Solution:
    """Find the best policy without and with constraints, exactly, with a certificate.

    An instance file's constraints come before those given here. `settings` are g-rdip's. `least_spread` chooses, among
    optimal mixtures of the known policies, the one whose realised outcomes scatter least.
    """
    for name, text in (("method", method), ("engine", engine)):
        if not isinstance(text, str):
            raise InputError(wrong_type(name, text, "text"))
    plugins = _plugins(plugins_dir)
    sha256 = rows = None
    named: list[dict[str, object]] = []
    if isinstance(instance, str | Path):
        instance, named, sha256 = read_instance(Path(instance))
    elif isinstance(instance, Fitted):
        rows, instance = instance.rows, instance.instance
    if not isinstance(instance, Instance):
        raise InputError(f"solve takes an Instance, what fit returned, or a path, not {type(instance).__name__}")
    for line in () if isinstance(instance, LaidOut) else instance.warnings:
        warnings.warn(line, stacklevel=2)
    made = pipeline.constraints_of([*named, *(_keys(constraints) or ())], plugins) or []
    with running(engine, plugins.tell):
        found = solve_instance(instance, made, method, settings=settings, least_spread=least_spread)
        return replace(found, sha256=sha256, rows=rows)


def audit(
    data: Data | History,
    *,
    constraints: Stated | Sequence[Stated] | None = None,
    map: Roles | None = None,
    cost: Cost | None = None,
    capacity: int | None = None,
    sheet: str | None = None,
    query: str | None = None,
    value_scale: float | None = None,
    fitter: str | None = None,
    propensity: bool | None = None,
    blind: bool | None = None,
    group_aware: bool | None = None,
    engine: str | None = None,
    parts: str | None = None,
    profile: str | None = None,
    availability: Available | None = None,
    template_dir: str | Path | None = None,
    config: str | Path | Config | None = None,
    plugins_dir: Folders = (),
) -> Audit:
    """Do what `auditkit report` does, except for the files: `save_html`, `save_pdf` and `save_json` write them.

    Without constraints, parity and impact-ratio are priced. `parts` (summary, body or all) says what the files contain,
    `profile` names the rules of a place, and `availability` has the shares of groups in a pool outside the firm: a CSV,
    or its rows. Everything else that audit.toml can say goes into `config`.
    """
    _not_read_yet(data, map)
    chosen = _settings(locals())
    return pipeline.audit(_place(data, chosen), chosen, _plugins(plugins_dir))


def whatif(
    data: Data | History,
    *,
    constraints: Stated | Sequence[Stated] | None = None,
    group: str | None = None,
    bias_tables: bool = False,
    exact: bool = False,
    map: Roles | None = None,
    cost: Cost | None = None,
    capacity: int | None = None,
    sheet: str | None = None,
    query: str | None = None,
    value_scale: float | None = None,
    fitter: str | None = None,
    propensity: bool | None = None,
    blind: bool | None = None,
    group_aware: bool | None = None,
    engine: str | None = None,
    config: str | Path | Config | None = None,
    plugins_dir: Folders = (),
) -> WhatIf:
    """Find out what stricter constraints, biased scores, more positions and more budget would do.

    `group` is the one asked about (default: the one selected least). `bias_tables` adds how strict each constraint
    should be (default: a quota), given how biased the group's scores are, as `to_frame("bias_tables")`. With `exact`,
    frontiers made of straight pieces have a point wherever their slope changes, instead of even steps.
    """
    _not_read_yet(data, map)
    chosen = _settings(locals())
    return pipeline.ask_about(_place(data, chosen), chosen, _plugins(plugins_dir), group, bias_tables, exact)


def alternatives(
    data: Data | History,
    *,
    attributes: Sequence[str] | None = None,
    on: str = "selection",
    map: Roles | None = None,
    cost: Cost | None = None,
    capacity: int | None = None,
    sheet: str | None = None,
    query: str | None = None,
    value_scale: float | None = None,
    fitter: str | None = None,
    propensity: bool | None = None,
    engine: str | None = None,
    config: str | Path | Config | None = None,
    plugins_dir: Folders = (),
) -> Alternatives:
    """Find rules that never look at the group and bring rates closer together: certified bounds, simple rules, gains.

    `attributes` are those to ask about (default: those with a difference), `on` is selection, inspection or a stage.
    """
    _not_read_yet(data, map)
    chosen = _settings(locals())
    return pipeline.find_rules(_place(data, chosen), chosen, _plugins(plugins_dir), attributes, on)


def sweep(
    instance: Instance | Fitted,
    constraint: Stated,
    others: Stated | Sequence[Stated] = (),
    *,
    exact: bool = False,
    plugins_dir: Folders = (),
    **grid: Sequence[float],
) -> pd.DataFrame:
    """Solve for each value of one number of a constraint: `sweep(fitted, "parity", tolerance=[0, 0.05, 0.1])`.

    The table has one row per value, with the utility, what is lost and kept, unfilled positions and the certificate's
    gap. With `exact`, it has one row for each value between the smallest and the largest at which the slope changes,
    and the slope from there on; this works for numbers that move only bounds (a limit, a tolerance, a floor's minimum).
    """
    if len(grid) != 1:
        raise InputError(f"sweep takes the values of one number of a constraint, not {len(grid)}: tolerance=[0, 0.1]")
    ((parameter, values),) = grid.items()
    plugins = _plugins(plugins_dir)
    made, *rest = pipeline.constraints_of([*(_keys(constraint) or ()), *(_keys(others) or ())], plugins) or []
    one = instance.instance if isinstance(instance, Fitted) else instance
    if not isinstance(one, Instance):
        raise InputError(f"sweep takes an Instance or what fit returned, not {type(instance).__name__}")
    return frontier(one, made, rest, parameter=parameter, values=_listed(parameter, values), exact=exact).to_frame()


def verify(
    claimed: str | Path | Solution,
    subject: str | Path | Instance | Fitted,
    *,
    query: str | None = None,
    plugins_dir: Folders = (),
) -> Verified:
    """Check a solution against its instance, or a report against its data, with other algorithms.

    Give two files, or two objects: a `Solution`, and the `Instance` or what `fit` returned.
    """
    if isinstance(claimed, Solution) or not isinstance(subject, str | Path):
        instance = subject.instance if isinstance(subject, Fitted) else subject
        if not isinstance(claimed, Solution) or not isinstance(instance, Instance):
            given = f"{type(claimed).__name__} and {type(subject).__name__}"
            raise InputError(f"verify takes a Solution and its Instance (or what fit returned), not {given}")
        rows = bind(claimed.constraints, instance.layout)
        document = json.loads(json.dumps(claimed.to_json()))
        return Verified(tuple(check_solution(document, instance.layout, rows, claimed.sha256 or "")))
    if not isinstance(claimed, str | Path):
        raise InputError(f"verify takes a Solution or a path, not {type(claimed).__name__}")
    return verify_files(Path(claimed), _place(subject, Config(query=query)), _plugins(plugins_dir))


def _settings(arguments: Mapping[str, Any]) -> Config:
    """The settings of `config`, overridden by the options among a function's arguments."""
    options = {**arguments, "constraints": _keys(arguments.get("constraints"))}
    if not isinstance(config := arguments["config"], str | Path | Config | None):
        raise InputError(wrong_type("config", config, "the path of an audit.toml or a Config"))
    if not isinstance(roles := arguments.get("map"), Mapping | None):
        raise InputError(wrong_type("map", roles, "a table of role: column"))
    if isinstance(available := options.get("availability"), str | Path):
        options["availability"] = read_availability(Path(available))
    return choose(arguments["config"], options)


@overload
def _place(data: str | Path, config: Config) -> source.Place: ...
@overload
def _place(data: Data, config: Config) -> source.Place | Tabular: ...
@overload
def _place(data: Data | History, config: Config) -> source.Data: ...
def _place(data: Data | History, config: Config) -> source.Data:
    if not isinstance(data, str | Path):
        return data
    place = source.locate(data, config)
    assert place is not None
    return place


def _listed(name: str, values: object) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(wrong_type(name, values, "a list of numbers"))
    return list(values)


def _not_read_yet(data: Data | History, roles: Roles | None) -> None:
    if isinstance(data, History) and roles is not None:
        raise InputError(Problem("map", "the data have already been read", "pass it to auditkit.read"))


def _keys(constraints: Stated | Sequence[Stated] | None) -> list[dict[str, object]] | None:
    """The tables of keys of constraints given as SPECs, tables or objects."""
    if constraints is None:
        return None
    several = [constraints] if isinstance(constraints, str | Mapping | Constraint) else constraints
    expected = "a SPEC, a table of keys or a Constraint"
    if not isinstance(several, Iterable):
        raise InputError(wrong_type("constraints", several, f"{expected}, or a list of them"))
    several = list(several)
    for i, one in enumerate(several):
        if not isinstance(one, str | Mapping | Constraint):
            raise InputError(wrong_type(f"constraints[{i}]", one, expected))
    return [
        spec.parse(c) if isinstance(c, str) else c.keys() if isinstance(c, Constraint) else dict(c) for c in several
    ]


def _plugins(folders: Folders) -> Plugins:
    """Load every plugin; those that can't be used are reported as Python warnings."""
    some = [folders] if isinstance(folders, str | Path) else folders
    if not isinstance(some, Iterable):
        raise InputError(wrong_type("plugins_dir", some, "a folder or a list of folders"))
    plugins = plugin_manager.load([Path(folder) for folder in some])
    for line in plugins.warnings:
        warnings.warn(line, stacklevel=3)
    return plugins
