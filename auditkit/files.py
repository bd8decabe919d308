"""Files as bytes and JSON: read, hash, and write whole or not at all (a temporary name, then a rename)."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

from auditkit.errors import InputError, Problem

ALWAYS_FINE, MOST_EXPANSION = 10_000_000, 100
"""A larger file must take up at least a hundredth of its size on disk: the rest would be holes, read as zeros."""


MOST_DIGITS = 300
_MAY_OVERFLOW = re.compile(rb"NaN|Infinity|[eE]\+?0*[1-9]\d\d|\d{300}")
"""Documents without any of these contain only finite numbers."""


@contextmanager
def opened_regular(path: Path) -> Iterator[BufferedReader]:
    """A file, open for reading. Refuses pipes and devices, which may never end or never begin, and holes."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if (problem := _no_data(path, os.fstat(handle))) is not None:
        os.close(handle)
        raise InputError(problem)
    with os.fdopen(handle, "rb") as file:
        yield file


def _no_data(path: Path, found: os.stat_result) -> Problem | None:
    """Why this can't be read as a file; None if it can."""
    if stat.S_ISDIR(found.st_mode):
        return Problem(str(path), "is a folder, not a file", "name the file in it")
    if not stat.S_ISREG(found.st_mode):
        return Problem(str(path), "is a pipe or a device, not a file", "save the data to a file first")
    taken = 512 * getattr(found, "st_blocks", found.st_size)
    if found.st_size > max(ALWAYS_FINE, MOST_EXPANSION * taken):
        what = f"is {found.st_size:,} bytes long and holds {taken:,} at most; the rest is holes"
        return Problem(str(path), what, "copy or export it again")
    return None


def read_regular(path: Path) -> bytes:
    """The bytes of a file; raises OSError, or InputError for anything that isn't a file."""
    with opened_regular(path) as file:
        return file.read()


def read_json(path: Path) -> tuple[Any, bytes]:
    """A JSON file and its bytes; anything that keeps it from being read is the user's to fix."""
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
    """The contents of a JSON document."""
    try:
        document = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_each_once, parse_int=_whole_number)
        if _MAY_OVERFLOW.search(content) and (where := next(_not_finite(document), None)) is not None:
            raise InputError(Problem(where, "is not a finite number"))
        return document
    except InputError as error:
        raise InputError([problem.of_file(place) for problem in error.problems]) from None
    except UnicodeDecodeError:
        raise InputError(Problem(place, "is not text in UTF-8")) from None
    except json.JSONDecodeError as error:
        where = f"{place}, line {error.lineno}, column {error.colno}"
        raise InputError(Problem(where, f"is not JSON: {error.msg}")) from None
    except ValueError:
        raise InputError(Problem(place, "holds a number with too many digits", "round it")) from None
    except RecursionError:
        raise InputError(Problem(place, "is nested too deeply")) from None


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object; refuses repeated keys, because programs disagree on which one counts."""
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in {other for other, _ in pairs[:i]})
        raise InputError(Problem("", f"the key {twice!r} occurs twice in one object", "keep one of them"))
    return made


def _not_finite(value: Any, place: str = "") -> Iterator[str]:
    """Places with Infinity or NaN, also spelled 1e999: such numbers are close to everything, or to nothing."""
    if isinstance(value, float) and not math.isfinite(value):
        yield place
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, dict | list | float):
                yield from _not_finite(item, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            if isinstance(item, dict | list | float):
                yield from _not_finite(item, f"{place}[{i}]")


def _whole_number(text: str) -> int:
    """An integer that fits into a float: arithmetic with more digits fails."""
    if len(text) > MOST_DIGITS:
        raise ValueError
    return int(text)


def sha256_of(path: Path, fix: str = "") -> str:
    """The SHA-256 of a file, in hexadecimal; `fix` is the advice if there is no such file."""
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
    try:
        content = text.encode()
    except UnicodeEncodeError:
        what = "cannot be written: the name of a file in it is not UTF-8"
        raise InputError(Problem(str(path), what, "rename that file")) from None
    write_bytes(path, content)


def make_folder(path: Path) -> None:
    """Create the folder if it isn't there yet."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be made: {error.strerror or error}", "see -o")) from None


def write_bytes(path: Path, content: bytes, *, private: bool = False) -> None:
    """Write a file whole or not at all; `private` keeps it from other users, whatever the umask."""
    write_chunks(path, [content], private=private)


def write_chunks(path: Path, chunks: Iterable[bytes], *, private: bool = False) -> None:
    """Write a file whole or not at all: under a temporary name beside it, then renamed."""
    try:
        name = _temporary(path, chunks, private)
        try:
            name.replace(path)
        except BaseException:
            name.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be written: {error.strerror or error}", "see -o")) from None


LAST = ".json"
"""The file of a set that goes in place last: the others belong to it."""
_TEMPORARY = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{32}\.(new|old)", re.DOTALL)


def write_together(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write several files that belong together.

    No file system renames several files at once. All are first written to disk under names that can't be guessed; then
    the existing JSON is set aside, the pages are renamed, and the new JSON comes last. An error restores everything. A
    program that is killed in between leaves pages without a JSON, never pages beside the numbers of another report.
    There is no journal: nothing in the folder tells a later command what to do.
    """
    old: dict[str, Path] = {}
    new: dict[str, Path] = {}
    placed: list[str] = []
    try:
        with _locked(folder):  # two programs that write the same names don't mix their files
            _clear_leftovers(folder, files)
            for target in (folder / name for name in files):
                if target.is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
            try:
                for name, content in files.items():
                    new[name] = _temporary(folder / name, [content])
                for name in sorted(files, key=lambda name: not name.endswith(LAST)):
                    _set_aside(folder / name, old)
                for name in sorted(files, key=lambda name: name.endswith(LAST)):
                    placed.append(name)
                    new[name].replace(folder / name)
                _sync(folder)
            except BaseException:
                _put_back(folder, placed, new, old)
                raise
            finally:
                for path in (*new.values(), *old.values()):
                    path.unlink(missing_ok=True)
    except OSError as error:
        place = error.filename or folder
        raise InputError(Problem(str(place), f"cannot be written: {error.strerror or error}", "see -o")) from None
    return [folder / name for name in files]


def _set_aside(path: Path, old: dict[str, Path]) -> None:
    """Keep what a file replaces. The JSON is moved, because no page may be taken for its own from now on."""
    if not path.exists():
        return
    aside = _beside(path, "old")
    old[path.name] = aside
    if path.name.endswith(LAST):
        path.replace(aside)
    else:
        shutil.copy2(path, aside)


def _put_back(folder: Path, placed: Sequence[str], new: Mapping[str, Path], old: Mapping[str, Path]) -> None:
    """Undo the renames; the JSON comes back last."""
    for name in placed:
        if name not in old and not new[name].exists():
            (folder / name).unlink(missing_ok=True)
    for name in sorted(old, key=lambda name: name.endswith(LAST)):
        moved = name in placed or name.endswith(LAST)
        if moved and old[name].exists():
            old[name].replace(folder / name)


def _clear_leftovers(folder: Path, names: Iterable[str]) -> None:
    """Remove what killed programs left of files with these names; the folder is locked, so none of them is alive."""
    known = set(names)
    for path in folder.iterdir():
        found = _TEMPORARY.fullmatch(path.name)
        if found and found["name"] in known and _own_file(path):
            with suppress(OSError):
                path.unlink()


def _own_file(path: Path) -> bool:
    found = path.lstat()
    return stat.S_ISREG(found.st_mode) and found.st_uid == getattr(os, "geteuid", lambda: found.st_uid)()


def _beside(path: Path, kind: str) -> Path:
    """An unguessable name beside a file."""
    return path.with_name(f".{path.name}.{secrets.token_hex(16)}.{kind}")


def _temporary(path: Path, chunks: Iterable[bytes], private: bool = False) -> Path:
    """A new file beside a path, with its content on disk."""
    name = _beside(path, "new")
    handle = os.open(
        name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600 if private else 0o666
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        name.unlink(missing_ok=True)
        raise
    return name


def _sync(folder: Path) -> None:
    """Sync a folder: a rename is on disk only once its folder is."""
    with suppress(OSError):  # not every system can
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder; the system releases it when the program ends, however it ends."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # file systems that cannot lock
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
