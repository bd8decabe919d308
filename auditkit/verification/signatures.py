"""Signatures over a report's files, in OpenSSH's format, which people can check without auditkit:

    ssh-keygen -Y verify -f allowed_signers -I NAME -n auditkit -s people.audit.sha256.sig < people.audit.sha256
    sha256sum -c people.audit.sha256

`people.audit.sha256` lists the SHA-256 of every file of the report, and the signature is over that list. A scheduled
run has the list `SHA256SUMS` in its folder. Keys are ssh-keygen's; auditkit never reads a private key itself.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Iterable
from pathlib import Path

from auditkit.errors import InputError, Problem
from auditkit.files import read_file, sha256_of, write_together
from auditkit.verification.claims import Check, Verified

NAMESPACE = "auditkit"
SUMS, SIG, FOLDER_SUMS = ".sha256", ".sig", "SHA256SUMS"
SECONDS = 60
"""How long ssh-keygen may take; it may be waiting for someone to touch a token."""

_LINE = re.compile(r"([0-9a-f]{64}) [ *]([^\0\n]+)")
_PUBLIC = re.compile(rb"(?:ssh-|sk-|ecdsa-)[\w@.-]+ [A-Za-z0-9+/=]+")
_SIGNER = re.compile(r'Good "auditkit" signature for (.+) with \S+ key (\S+)')


def sign_files(paths: Iterable[Path], key: Path) -> list[Path]:
    """Sign every report that one of the files belongs to; returns the lists and signatures written."""
    written: list[Path] = []
    for place in dict.fromkeys(path.parent / stem_of(path) for path in paths):
        listed = files_of(place)
        if not listed:
            what = "there is no such file" if not place.parent.is_dir() else "there are no files of this report"
            raise InputError(Problem(str(place), what, "name a file that auditkit report wrote"))
        sums = listing({path.name: sha256_of(path) for path in listed})
        name = f"{place.name}{SUMS}"
        written += write_together(place.parent, {name: sums, f"{name}{SIG}": sign(sums, key)})
    return written


def stem_of(path: Path) -> str:
    """The name that the files of a report share: people.audit of people.audit.summary.pdf."""
    return path.name.removesuffix(".summary.pdf") if path.name.endswith(".summary.pdf") else path.stem


def files_of(place: Path) -> list[Path]:
    """The files of a report, by the name that they share."""
    if not place.parent.is_dir():
        return []
    own = (SUMS, SUMS + SIG)
    found = [path for path in place.parent.iterdir() if path.name.startswith(f"{place.name}.") and path.is_file()]
    return sorted(path for path in found if not path.name.endswith(own) and stem_of(path) == place.name)


def listing(sums: dict[str, str]) -> bytes:
    """A list of files with their SHA-256, as sha256sum writes and reads it."""
    if odd := [name for name in sums if "\n" in name or "\\" in name]:
        raise InputError(Problem(odd[0], "such a name cannot be listed", "rename the file"))
    return "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(sums.items())).encode("utf-8", "surrogateescape")


def sign(content: bytes, key: Path) -> bytes:
    """A detached signature; `key` is a private key, or the public one of a key that ssh-agent holds."""
    if not key.is_file():
        raise InputError(Problem(str(key), "there is no such key", "ssh-keygen -t ed25519 -f KEY makes one"))
    done = _ssh_keygen(["-Y", "sign", "-n", NAMESPACE, "-f", str(key), "-q"], content)
    if done.returncode or not done.stdout.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        raise InputError(Problem(str(key), f"cannot sign: {_reason(done)}", "see ssh-keygen(1), -Y sign"))
    return done.stdout


def check_signature(claimed: Path, signers: Path) -> Verified:
    """Check that one of the signers signed a file.

    `signers` is a file of allowed signers as ssh-keygen(1) describes it, or a public key.
    """
    place = claimed.parent / f"{stem_of(claimed)}{SUMS}"
    if not place.is_file() and (claimed.parent / FOLDER_SUMS).is_file():
        place = claimed.parent / FOLDER_SUMS
    signature = place.with_name(f"{place.name}{SIG}")
    if not signature.is_file():
        fix = f"put {place.name} and {signature.name} beside it; auditkit sign writes them"
        raise InputError(Problem(str(claimed), "there is no signature of it", fix))
    content = read_file(place)
    who, why = _signer(content, signature, signers)
    checks = [Check(f"{place.name} was signed by {who or 'a signer that you named'}", who is not None, why)]
    sums = _listed(content, str(place))
    checks.append(Check(f"{claimed.name} is in the signed list", claimed.name in sums, "it is not"))
    missing = []
    for name, sha256 in sums.items():
        if not (place.parent / name).is_file():
            missing.append(f"{name}, which was signed too, is not here")
            continue
        same = sha256_of(place.parent / name) == sha256
        checks.append(Check(f"{name} is the file that was signed", same, "its SHA-256 is different"))
    return Verified(tuple(checks), tuple(missing))


def _listed(content: bytes, place: str) -> dict[str, str]:
    found = [_LINE.fullmatch(line) for line in content.decode("utf-8", "surrogateescape").splitlines()]
    if not found or any(line is None or Path(line[2]).name != line[2] for line in found):
        raise InputError(Problem(place, "is not a list of files with their SHA-256", "auditkit sign writes one"))
    return {line[2]: line[1] for line in found if line is not None}


def _signer(content: bytes, signature: Path, signers: Path) -> tuple[str | None, str]:
    """The signer, or None and the reason why there is none."""
    allowed = read_file(signers)
    if _PUBLIC.match(allowed.strip()):
        allowed = b"* " + allowed.strip() + b"\n"
        names = [signers.name]
    else:
        found = _with_signers(["-Y", "find-principals", "-s", str(signature)], allowed)
        names = [name for name in found.stdout.decode("utf-8", "replace").splitlines() if name]
        if found.returncode or not names:
            return None, "the key that signed it is not among the signers"
    for name in names:
        rest = ["-Y", "verify", "-n", NAMESPACE, "-I", name, "-s", str(signature)]
        done = _with_signers(rest, allowed, content)
        good = _SIGNER.search(done.stdout.decode("utf-8", "replace"))
        if done.returncode == 0 and good:
            return f"{name} ({good[2]})", ""
    return None, "the signature belongs to another list or another key"


def _with_signers(arguments: list[str], allowed: bytes, content: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run ssh-keygen with the allowed signers from a pipe: nothing is written to disk."""
    reading, writing = os.pipe()

    def feed() -> None:
        with os.fdopen(writing, "wb") as pipe:
            try:
                pipe.write(allowed)
            except BrokenPipeError:
                return

    feeding = threading.Thread(target=feed, daemon=True)
    feeding.start()
    try:
        return _ssh_keygen([*arguments, "-f", f"/dev/fd/{reading}"], content, reading)
    finally:
        os.close(reading)
        feeding.join()


def _ssh_keygen(arguments: list[str], content: bytes, *fds: int) -> subprocess.CompletedProcess[bytes]:
    command = ["ssh-keygen", *arguments]
    try:
        return subprocess.run(command, input=content, capture_output=True, timeout=SECONDS, pass_fds=fds)
    except FileNotFoundError:
        fix = "install OpenSSH 8.2 or newer (openssh-client)"
        raise InputError(Problem("signatures", "ssh-keygen is not installed", fix)) from None
    except subprocess.TimeoutExpired:
        raise InputError(Problem("signatures", f"ssh-keygen did not answer within {SECONDS} s")) from None


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else f"ssh-keygen exited with status {done.returncode}"
