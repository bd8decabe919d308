"""Files as bytes and JSON: read, hash, and write whole or not at all (a temporary name, then a rename)."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
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


WRITING = ".writing"
_READY = ".ready"


def write_together(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write several files so that they appear together or not at all.

    They are written into a hidden folder, brought to the disk and marked as ready, and then renamed one by one. An
    error takes back what was renamed. What a killed program left is settled by the next one that writes into the same
    folder: a set that was ready is completed, one that was not is removed.
    """
    try:
        with ExitStack() as stack:
            with _locked(folder):  # nobody takes the new folder for a leftover before it is held
                _settle(folder)
                hidden = Path(tempfile.mkdtemp(dir=folder, prefix=f".{next(iter(files), '')}.", suffix=WRITING))
                stack.callback(shutil.rmtree, hidden, ignore_errors=True)
                stack.enter_context(_locked(hidden))
            mask = os.umask(0)
            os.umask(mask)
            for name, content in files.items():
                _to_disk(hidden / name, content)
                (hidden / name).chmod(0o666 & ~mask)
            _to_disk(hidden / _READY, b"")
            _rename_all(hidden, folder, files)
    except OSError as error:
        place = error.filename or folder
        raise InputError(Problem(str(place), f"cannot be written: {error.strerror or error}", "see -o")) from None
    return [folder / name for name in files]


def _settle(folder: Path) -> None:
    """Complete or remove what killed programs left in a folder; what a living one is writing stays."""
    for hidden in sorted(folder.glob(f".*{WRITING}")):
        with suppress(OSError), _locked(hidden, wait=False):
            if (hidden / _READY).exists():
                for file in sorted(hidden.iterdir()):
                    if not file.name.startswith("."):
                        file.replace(folder / file.name)
            shutil.rmtree(hidden)


def _rename_all(hidden: Path, folder: Path, names: Iterable[str]) -> None:
    """Rename every file into place; where one cannot be, the others are put back as they were."""
    old: dict[str, Path | None] = {}
    try:
        for name in names:
            target, kept = folder / name, hidden / f".old-{name}"
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
            if target.exists():
                shutil.copy2(target, kept)
            old[name] = kept if target.exists() else None
            (hidden / name).replace(target)
    except BaseException:
        (hidden / _READY).unlink(missing_ok=True)  # nobody shall complete what is taken back
        for name, before in old.items():
            if not (hidden / name).exists():
                if before is None:
                    (folder / name).unlink(missing_ok=True)
                else:
                    before.replace(folder / name)
        raise


def _to_disk(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _locked(folder: Path, wait: bool = True) -> Iterator[None]:
    """Hold a folder, or raise BlockingIOError; the system lets go when the program ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # leftovers are then taken for those of a dead program
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            if not wait:  # it is held, or nobody can tell: then it stays
                raise
        yield
    finally:
        os.close(handle)
