"""Instance and solution files (`auditkit-instance/1`, `auditkit-solution/1`): read and check.

The models of `formats.py` check the shape of a document, the classes of `instance.py` what it means; problems of both
kinds are collected, each with its place in the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from auditkit.errors import InputError, Problem, nearest
from auditkit.formats import (
    INSTANCE,
    SOLUTION,
    BoxModel,
    ChainModel,
    InstanceModel,
    SearchModel,
    SolutionModel,
    StateModel,
)
from auditkit.instance import Box, Candidate, Chain, Instance, Search, State

M = TypeVar("M", bound=BaseModel)


def read_json(path: Path) -> tuple[Any, bytes]:
    """A JSON file and its bytes; whatever keeps it from being read is the user's to mend."""
    try:
        content = path.read_bytes()
        return json.loads(content.decode("utf-8-sig")), content
    except FileNotFoundError:
        raise InputError(Problem(str(path), "there is no such file")) from None
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be read: {error.strerror or error}")) from None
    except UnicodeDecodeError:
        raise InputError(Problem(str(path), "is not text in UTF-8")) from None
    except json.JSONDecodeError as error:
        place = f"{path}, line {error.lineno}, column {error.colno}"
        raise InputError(Problem(place, f"is not JSON: {error.msg}")) from None
    except RecursionError:
        raise InputError(Problem(str(path), "is nested too deeply")) from None


def read_instance(path: Path) -> tuple[Instance, list[dict[str, Any]], str]:
    """An instance file: the instance, the keys of its constraints, and the SHA-256 of the file."""
    document, content = read_json(path)
    try:
        instance = instance_from_document(document)
    except InputError as error:
        raise InputError([Problem(f"{path}: {p.where}", p.what, p.fix) for p in error.problems]) from None
    return instance, document.get("constraints", []), hashlib.sha256(content).hexdigest()


def read_solution(path: Path) -> dict[str, Any]:
    """A solution file, with everything that `verify` looks at in its place."""
    document, _ = read_json(path)
    if not isinstance(document, dict) or document.get("format") != SOLUTION:
        raise InputError(Problem(str(path), f"is not a document of the format {SOLUTION}"))
    try:
        SolutionModel.model_validate(document)
    except ValidationError as error:
        raise InputError(mismatches(error, str(path), "write it again with auditkit solve --json")) from None
    return document


def mismatches(error: ValidationError, place: str, fix: str) -> list[Problem]:
    """Where a document that a program wrote is not of its format, and what to do."""
    return [
        Problem(f"{place}: {_where(item['loc'])}", "is missing" if item["type"] == "missing" else item["msg"], fix)
        for item in error.errors()
    ]


def _where(loc: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")


def instance_from_document(document: Any) -> Instance:
    """The instance of a parsed document; raises InputError with every problem and its place."""
    if not isinstance(document, dict):
        raise InputError(Problem("", "the file holds no JSON object", f'it must begin with {{"format": "{INSTANCE}"'))
    if document.get("format") != INSTANCE:
        found = document.get("format")
        raise InputError(Problem("format", f"{found!r} is not a format known here", f'write "{INSTANCE}"'))
    problems: list[Problem] = []
    model = _validate(InstanceModel, document, "", problems)
    if model is None:
        # say what is wrong inside the searches too, as far as they can be read
        rough = document.get("searches")
        for i, search in enumerate(rough if isinstance(rough, list) else []):
            if isinstance(search, dict) and isinstance(search.get("candidates"), list):
                for j, candidate in enumerate(search["candidates"]):
                    _candidate(candidate, f"searches[{i}].candidates[{j}]", problems)
        raise InputError(problems)
    searches = [_search(search, f"searches[{i}]", problems) for i, search in enumerate(model.searches)]
    try:
        instance = Instance(tuple(search for search in searches if search is not None))
    except InputError as error:
        problems += error.problems if len(searches) == len(model.searches) else ()
    if problems:
        raise InputError(problems)
    return instance


def _search(model: SearchModel, place: str, problems: list[Problem]) -> Search | None:
    candidates = [_candidate(c, f"{place}.candidates[{j}]", problems) for j, c in enumerate(model.candidates)]
    whole = tuple(c for c in candidates if c is not None)
    try:
        # with candidates missing their number is wrong, so only judge the capacity against all that were written
        capacity = model.capacity if len(whole) == len(candidates) else min(max(model.capacity, 0), len(whole))
        search = Search(model.id, capacity, whole)
    except InputError as error:
        problems += [p.at(f"{place} {model.id!r}") for p in error.problems]
        return None
    if len(whole) < len(candidates) and not 0 <= model.capacity <= len(candidates):
        what = f"{model.capacity} is not between 0 and the {len(candidates)} candidates"
        problems.append(Problem(f"{place}.capacity", what))
    return search


def _candidate(raw: Any, place: str, problems: list[Problem]) -> Candidate | None:
    if not isinstance(raw, dict):
        problems.append(Problem(place, f"is no JSON object but {raw!r}"))
        return None
    name = f"{place} {raw['id']!r}" if "id" in raw else place
    try:
        if "states" in raw or "start" in raw:
            chain = _validate(ChainModel, raw, name, problems)
            if chain is None:
                return None
            states = tuple(State(key, **state.model_dump()) for key, state in chain.states.items())
            return Chain(chain.id, chain.group, chain.start, states, chain.attributes)
        box = _validate(BoxModel, raw, name, problems)
        if box is None:
            return None
        return Box(**box.model_dump())
    except InputError as error:
        problems += [problem.at(name) for problem in error.problems]
        return None


def _validate(kind: type[M], raw: Any, place: str, problems: list[Problem]) -> M | None:
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        for item in error.errors():
            where = _where(item["loc"])
            last = str(item["loc"][-1])
            if item["type"] == "extra_forbidden":
                problem = Problem(where, f"unknown key {last!r}", nearest(last, _keys(kind, item["loc"])))
            elif item["type"] == "missing":
                problem = Problem(where, "is missing")
            else:
                problem = Problem(where, f"{item['msg']}, not {item['input']!r}")
            problems.append(problem.at(place) if place else problem)
        return None


def _keys(kind: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """The keys that are known where an unknown one was found."""
    if kind is InstanceModel and len(place) > 1:
        return list(SearchModel.model_fields)
    if kind is ChainModel and len(place) > 1:
        return list(StateModel.model_fields)
    return list(kind.model_fields)


def sha256_of(path: Path, fix: str = "") -> str:
    """The SHA-256 of a file, in hexadecimal; `fix` is said where there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise InputError(Problem(str(path), "there is no such file", fix)) from None
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be read: {error.strerror or error}")) from None


def write_json(path: str | Path, document: Any) -> None:
    """Write a document as a JSON file, whole or not at all."""
    write_text(Path(path), json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    write_bytes(path, text.encode())


def make_folder(path: Path) -> None:
    """The folder, if it is not there yet."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be made: {error.strerror or error}", "see -o")) from None


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: under a temporary name beside it, then renamed."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be written: {error.strerror or error}", "see -o")) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(Problem(str(path), f"cannot be written: {error.strerror or error}", "see -o")) from None
        raise
