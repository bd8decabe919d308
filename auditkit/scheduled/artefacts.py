"""Dated folders of artefacts, each complete or not there at all.

    .writing-NAME     being written; renamed to NAME when every byte is on the disk
    .pending-NAME     a file: NAME is in place, but the history may not know it yet
    NAME              complete; recorded, unless a file .pending-NAME says otherwise
    .removing-NAME    being removed

A killed run may leave hidden ones behind; the next run clears them away (`recover`) while it holds the lock.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from auditkit.errors import InputError, Problem
from auditkit.scheduled.run_history import Artefact

WRITING, PENDING, REMOVING = ".writing-", ".pending-", ".removing-"
SUMS = "SHA256SUMS"


def free_name(folder: Path, moment: datetime, recorded: Callable[[str], bool]) -> str:
    """A name for a run at a moment (UTC) that sorts by date and that no run has had before: clocks are set back."""
    name = first = f"{moment:%Y-%m-%dT%H%M%SZ}"
    number = 1
    while (folder / name).exists() or (folder / f"{PENDING}{name}").exists() or recorded(name):
        number += 1
        name = f"{first}-{number}"
    return name


def write(
    folder: Path,
    name: str,
    files: Mapping[str, bytes],
    history: str,
    sign: Callable[[bytes], bytes] | None = None,
) -> list[Artefact]:
    """Put the folder NAME with these files and their checksums in place, pending; returns its contents.

    Only the user may read them, whatever the umask. `sign` signs the checksums.
    """
    if odd := [file for file in files if Path(file).name != file or file.startswith(".")]:
        raise ValueError(f"not names of artefacts: {odd}")
    made = [Artefact(file, hashlib.sha256(data).hexdigest(), len(data)) for file, data in sorted(files.items())]
    sums = "".join(f"{one.sha256}  {one.name}\n" for one in made).encode()
    own = {SUMS: sums} if sign is None else {SUMS: sums, f"{SUMS}.sig": sign(sums)}
    made += [Artefact(file, hashlib.sha256(data).hexdigest(), len(data)) for file, data in own.items()]
    temporary = folder / f"{WRITING}{name}"
    with _disk_errors_explained(folder):
        try:
            temporary.mkdir(mode=0o700)
            for file, data in {**files, **own}.items():
                _write(temporary / file, data)
            _sync(temporary)
            _write(folder / f"{PENDING}{name}", history.encode())
            temporary.rename(folder / name)
            _sync(folder)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    return made


def settle(folder: Path, name: str) -> None:
    """Mark NAME as recorded in the history."""
    (folder / f"{PENDING}{name}").unlink(missing_ok=True)


def recover(folder: Path, history: str, recorded: Callable[[str], bool]) -> list[str]:
    """Clear away what killed runs left behind; returns a line for each thing worth mentioning.

    A pending folder is removed only if this very history doesn't know it.
    """
    said = []
    with _disk_errors_explained(folder):
        for path in sorted(folder.iterdir()):
            if path.name.startswith((WRITING, REMOVING)):
                shutil.rmtree(path)
                if path.name.startswith(WRITING):
                    said.append(f"cleared away the files of an interrupted run ({path.name})")
            elif path.name.startswith(PENDING):
                name = path.name.removeprefix(PENDING)
                owner = path.read_text(encoding="utf-8")
                if owner and owner != history:
                    said.append(f"left {name} alone: it belongs to another history")
                    continue
                if owner and not recorded(name) and (folder / name).is_dir():
                    remove(folder, name)
                    said.append(f"cleared away {name}: its run was interrupted before it was recorded")
                path.unlink()
    return said


def remove(folder: Path, name: str) -> bool:
    """Remove NAME without ever leaving part of it; returns whether it was there."""
    if Path(name).name != name or name.startswith("."):
        raise ValueError(f"not the name of a folder of artefacts: {name!r}")
    with _disk_errors_explained(folder):
        if not (folder / name).is_dir():
            return False
        doomed = folder / f"{REMOVING}{name}"
        (folder / name).rename(doomed)
        shutil.rmtree(doomed)
    return True


def intact(folder: Path, name: str, artefacts: tuple[Artefact, ...]) -> bool:
    """Whether every artefact is there, byte for byte."""
    return bool(artefacts) and all(_is(folder / name / one.name, one) for one in artefacts)


def _is(path: Path, artefact: Artefact) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == artefact.sha256
    except OSError:
        return False


def _write(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Sync a folder: a rename is on the disk only once its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _disk_errors_explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        place = str(error.filename or folder)
        raise InputError(Problem(place, f"the artefacts cannot be kept: {error.strerror or error}")) from None
