"""Files as bytes and JSON: read, hash, and write whole or not at all (a temporary name, then a rename)."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

from auditkit.errors import InputError, Problem

ALWAYS_FINE, MOST_EXPANSION = 10_000_000, 100
"""A larger file must take up at least a hundredth of its size on the disk: the rest would be holes, read as zeros."""


MOST_DIGITS = 300


@contextmanager
def opened_regular(path: Path) -> Iterator[BufferedReader]:
    """A file, open for reading. Pipes and devices, which may never end or never begin, and holes are refused."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if (problem := _no_data(path, os.fstat(handle))) is not None:
        os.close(handle)
        raise InputError(problem)
    with os.fdopen(handle, "rb") as file:
        yield file


def _no_data(path: Path, found: os.stat_result) -> Problem | None:
    """Why this is not read as a file."""
    if stat.S_ISDIR(found.st_mode):
        return Problem(str(path), "is a folder, not a file", "name the file in it")
    if not stat.S_ISREG(found.st_mode):
        return Problem(str(path), "is a pipe or a device, not a file", "save the data to a file first")
    taken = 512 * getattr(found, "st_blocks", found.st_size)
    if found.st_size > max(ALWAYS_FINE, MOST_EXPANSION * taken):
        what = f"is {found.st_size:,} bytes long and holds {taken:,} at most, the rest is holes"
        return Problem(str(path), what, "copy or export it again")
    return None


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
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=_each_once, parse_int=_whole_number)
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


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; of a key that stands there twice, every program takes the one it likes."""
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in {other for other, _ in pairs[:i]})
        raise InputError(Problem("", f"the key {twice!r} stands twice in one object", "keep one of them"))
    return made


def _whole_number(text: str) -> int:
    """What a float can hold: any arithmetic with more digits fails."""
    if len(text) > MOST_DIGITS:
        raise ValueError
    return int(text)


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
_NEW, _OLD, _FORWARD, _BACK = "new-", "old-", "forward", "back"


def write_together(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write several files so that they appear together or not at all.

    They are written into a hidden folder, brought to the disk and listed in a journal there, and then renamed one by
    one. An error takes back what was renamed. No file system renames several files at once: if the program is killed
    between two renames, the next command that looks into the folder completes the set (`settle`).
    """
    try:
        with ExitStack() as stack:
            with _locked(folder):  # nobody takes the new folder for a leftover before it is held
                _settle(folder)
                hidden = Path(tempfile.mkdtemp(dir=folder, prefix=f".{next(iter(files), '')}.", suffix=WRITING))
                stack.callback(_clear, hidden)
                stack.enter_context(_locked(hidden))
            mask = os.umask(0)
            os.umask(mask)
            for name, content in files.items():
                _to_disk(hidden / f"{_NEW}{name}", content)
                (hidden / f"{_NEW}{name}").chmod(0o666 & ~mask)
            with _locked(folder):  # two programs that write the same names do not mix their files
                _publish(hidden, folder, list(files))
    except OSError as error:
        place = error.filename or folder
        raise InputError(Problem(str(place), f"cannot be written: {error.strerror or error}", "see -o")) from None
    return [folder / name for name in files]


def settle(folder: Path) -> None:
    """Complete or take back the sets of files that killed programs left in a folder, if this user may."""
    if _unfinished(folder):
        with suppress(OSError), _locked(folder, wait=False):
            _settle(folder)


def refuse_partial(path: Path) -> None:
    """Raise InputError if a file belongs to a set of which only a part is in place and that cannot be settled here."""
    settle(path.parent)
    for hidden in _unfinished(path.parent):
        with suppress(OSError, ValueError, LookupError, TypeError):
            names, _ = _listed(hidden / (_BACK if (hidden / _BACK).exists() else _FORWARD))
            if path.name in names and _begun(hidden):
                what = f"is one of {len(names)} files that are not all in place: a program was ended while writing them"
                raise InputError(Problem(str(path), what, f"write the report again; the rest is in {hidden}"))


def _unfinished(folder: Path) -> list[Path]:
    """Folders of sets that are being written, or were."""
    try:
        return sorted(path for path in folder.iterdir() if path.name.startswith(".") and path.name.endswith(WRITING))
    except OSError:
        return []


def _listed(journal: Path) -> tuple[list[str], list[str]]:
    """The files of a set, and those that replace others. A journal may have come with a download: only plain names."""
    listed = json.loads(journal.read_text(encoding="utf-8"))
    names, replaced = list(map(str, listed["names"])), list(map(str, listed["replaced"]))
    if odd := [name for name in names if Path(name).name != name]:
        raise ValueError(f"no names of files: {odd}")
    return names, replaced


def _clear(hidden: Path) -> None:
    """Remove a hidden folder, unless it is needed to complete a set or to take it back: a second interrupt, say."""
    with suppress(OSError):
        if not _begun(hidden):
            shutil.rmtree(hidden, ignore_errors=True)


def _begun(hidden: Path) -> bool:
    """Whether a part of a set may be in place, and a part not."""
    left = {path.name for path in hidden.iterdir()}
    return _BACK in left or (_FORWARD in left and any(name.startswith(_NEW) for name in left))


def _settle(folder: Path) -> None:
    """The same for a folder that is held; what a living program is writing stays, and what belongs to another user."""
    for hidden in _unfinished(folder):
        with suppress(OSError, ValueError, LookupError, TypeError), _locked(hidden, wait=False):
            if hidden.is_symlink() or hidden.stat().st_uid != getattr(os, "geteuid", lambda: 0)():
                continue
            if (hidden / _BACK).exists():
                _take_back(hidden, folder)
            elif (hidden / _FORWARD).exists():
                _rename_all(hidden, folder, _listed(hidden / _FORWARD)[0])
            shutil.rmtree(hidden)


def _publish(hidden: Path, folder: Path, names: Sequence[str]) -> None:
    """Rename every file into place; where one cannot be, the others are put back as they were."""
    for target in (folder / name for name in names):
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    replaced = [name for name in names if (folder / name).exists()]
    for name in replaced:
        shutil.copy2(folder / name, hidden / f"{_OLD}{name}")
    _to_disk(hidden / "journal", json.dumps({"names": names, "replaced": replaced}).encode())
    _sync(hidden)
    (hidden / "journal").replace(hidden / _FORWARD)
    try:
        _rename_all(hidden, folder, names)
    except BaseException:
        (hidden / _FORWARD).replace(hidden / _BACK)  # nobody shall complete what is taken back
        _take_back(hidden, folder)
        raise


def _rename_all(hidden: Path, folder: Path, names: Sequence[str]) -> None:
    for name in names:
        with suppress(FileNotFoundError):  # renamed before the program was ended
            (hidden / f"{_NEW}{name}").replace(folder / name)
    _sync(folder)


def _take_back(hidden: Path, folder: Path) -> None:
    """Undo the renames that the journal lists; what was undone before stays as it is."""
    names, replaced = _listed(hidden / _BACK)
    for name in names:
        if (hidden / f"{_NEW}{name}").exists():
            continue
        if (old := hidden / f"{_OLD}{name}").exists():
            old.replace(folder / name)
        elif name not in replaced:
            (folder / name).unlink(missing_ok=True)
    (hidden / _BACK).unlink()


def _sync(folder: Path) -> None:
    """A rename is on the disk only when its folder is."""
    with suppress(OSError):  # not every system can
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


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
