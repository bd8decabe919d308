"""Files as bytes and JSON: read, hash, and write whole or not at all (a temporary name, then a rename)."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from auditkit.errors import InputError, Problem


def read_json(path: Path) -> tuple[Any, bytes]:
    """A JSON file and its bytes; whatever keeps it from being read is the user's to fix."""
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
    """Write a file whole or not at all."""
    write_chunks(path, [content])


def write_chunks(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file whole or not at all: under a temporary name beside it, then renamed."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be written: {error.strerror or error}", "see -o")) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(chunks)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(Problem(str(path), f"cannot be written: {error.strerror or error}", "see -o")) from None
        raise
