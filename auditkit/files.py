"""Files as bytes and JSON: read, hash, and write whole or not at all (a temporary name, then a rename)."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

from auditkit.errors import InputError, Problem


@contextmanager
def opened_regular(path: Path) -> Iterator[BufferedReader]:
    """A file, open for reading. Pipes and devices are refused: they may never end, or never begin."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb", closefd=True) as file:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise InputError(Problem(str(path), "is a folder, not a file", "name the file in it"))
        if not stat.S_ISREG(mode):
            raise InputError(Problem(str(path), "is a pipe or a device, not a file", "save the data to a file first"))
        yield file


def read_regular(path: Path) -> bytes:
    """The bytes of a file; raises OSError, and InputError for what is not a file."""
    with opened_regular(path) as file:
        return file.read()


def read_json(path: Path) -> tuple[Any, bytes]:
    """A JSON file and its bytes; whatever keeps it from being read is the user's to fix."""
    content = read_file(path)
    return parse_json(content, str(path)), content


def read_file(path: Path) -> bytes:
    """The bytes of a file that must be there."""
    try:
        return read_regular(path)
    except FileNotFoundError:
        raise InputError(Problem(str(path), "there is no such file")) from None
    except (OSError, ValueError) as error:
        raise InputError(Problem(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}")) from None


def parse_json(content: bytes, place: str) -> Any:
    """What the bytes of a JSON document hold."""
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(Problem(place, "is not text in UTF-8")) from None
    except json.JSONDecodeError as error:
        where = f"{place}, line {error.lineno}, column {error.colno}"
        raise InputError(Problem(where, f"is not JSON: {error.msg}")) from None
    except ValueError:  # Python reads no integer of more than 4,300 digits
        raise InputError(Problem(place, "holds a number with too many digits", "round it")) from None
    except RecursionError:
        raise InputError(Problem(place, "is nested too deeply")) from None


def sha256_of(path: Path, fix: str = "") -> str:
    """The SHA-256 of a file, in hexadecimal; `fix` is said where there is none."""
    try:
        with opened_regular(path) as file:
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
