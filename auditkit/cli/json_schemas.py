"""JSON Schemas of the files that auditkit reads and writes, made from the models it reads them with.

The models have everything except two parts, which other packages know:
the keys of each registered constraint and alert channel, and the tables of audit.toml that scheduled audits use.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaValue

from auditkit.config import Config
from auditkit.errors import InputError, Problem, nearest
from auditkit.model.documents import ConstraintModel, InstanceModel, SolutionModel
from auditkit.report.schema import Report, ReportPart
from auditkit.scheduled.settings import HistorySettings

if TYPE_CHECKING:
    from auditkit.plugin_manager import Plugins

Schema = JsonSchemaValue

DIALECT = "https://json-schema.org/draft/2020-12/schema"
CONSTRAINT, CHANNEL = "ConstraintModel", "Channel"

FILES: dict[str, tuple[type[BaseModel], str]] = {
    "instance": (InstanceModel, "auditkit-instance/1: what auditkit fit writes and auditkit solve reads"),
    "solution": (SolutionModel, "auditkit-solution/3: what auditkit solve --json prints and auditkit verify checks"),
    "report": (Report, "auditkit-report/3: what auditkit report writes and auditkit verify checks"),
    "config": (Config, "audit.toml: the settings that auditkit init writes"),
}
"""By name: the model, and a description of the file."""


def schema(name: str, plugins: Plugins) -> Schema:
    """The JSON Schema of a kind of file, with the keys of all registered constraints and channels."""
    if name not in FILES:
        raise InputError(Problem(name, "there is no schema of this name", nearest(name, FILES)))
    model, title = FILES[name]
    if model is Report:
        _read_docstrings(ReportPart)
    found = {"$schema": DIALECT, **model.model_json_schema(), "title": title}
    keys, parts = found["properties"], found.setdefault("$defs", {})
    parts[CONSTRAINT] = ConstraintModel.model_json_schema()
    _by_type(parts, CONSTRAINT, plugins.constraints)
    if name == "instance":
        keys["constraints"]["items"] = _ref(CONSTRAINT)
    elif name == "config":
        _configuration(keys, parts, plugins)
    elif name == "report":
        _configuration(parts["Config"]["properties"], parts, plugins)
    return found


def _read_docstrings(part: type[ReportPart]) -> None:
    """Describe the attributes of results by their docstrings; finding these takes too long except for a schema."""
    parts = [part]
    for each in parts:
        parts += each.__subclasses__()
        each.model_config["use_attribute_docstrings"] = True
    parts.append(Report)  # once more, after those that have another part as their base
    for each in parts:  # parts of parts come before them
        each.model_rebuild(force=True)


def text(name: str, plugins: Plugins) -> str:
    """The schema as it is written to a file."""
    return json.dumps(schema(name, plugins), indent=1, ensure_ascii=False) + "\n"


def _configuration(keys: Schema, parts: Schema, plugins: Plugins) -> None:
    """Constraints, thresholds, history and alerts: for `Config` these are only tables."""
    keys["constraints"]["anyOf"][0]["items"] = _ref(CONSTRAINT)
    keys["thresholds"] |= {"description": "MEASURE.BOUND = number: lines that must not be crossed"}
    keys["history"] = _hoist(HistorySettings, parts)
    parts[CHANNEL] = {**ConstraintModel.model_json_schema(), "title": CHANNEL, "description": "Whom to alert, and how."}
    keys["alerts"] |= {"items": _ref(CHANNEL)}
    _by_type(parts, CHANNEL, plugins.alerts)


def _by_type(parts: Schema, name: str, kinds: Mapping[str, type[BaseModel]]) -> None:
    """The keys of each registered `type`; other types may have any keys."""
    cases = []
    for kind, model in sorted(kinds.items()):
        keys = _hoist(model, parts, kind)  # by its type: two plugins may name their classes alike
        parts[kind]["properties"] = {"type": {"const": kind}, **parts[kind].get("properties", {})}
        cases.append({"if": {"properties": {"type": {"const": kind}}}, "then": keys})
    parts[name]["allOf"] = cases


def _hoist(model: type[BaseModel], parts: Schema, name: str | None = None) -> Schema:
    """A reference to a model's schema, which is added to the parts with everything it refers to."""
    found = model.model_json_schema()
    parts |= found.pop("$defs", {})
    parts[name or model.__name__] = found
    return _ref(name or model.__name__)


def _ref(part: str) -> Schema:
    return {"$ref": f"#/$defs/{part}"}
