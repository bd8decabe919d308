"""What auditkit is made of: hashes for the lock, an SBOM, and the licences of all dependencies.

python tools/supply_chain.py hashes      add the SHA-256 of every file of each release to requirements.lock
python tools/supply_chain.py sbom        write sbom.cdx.json (CycloneDX 1.5) from the lock and what is installed
python tools/supply_chain.py licences    write docs/licences.md from the SBOM
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK, SBOM, LICENCES = ROOT / "requirements.lock", ROOT / "sbom.cdx.json", ROOT / "docs" / "licences.md"
INDEX = "https://pypi.org/simple/"
HEAD = "# The exact set that was tested last, for make and CI; pyproject.toml has the ranges. Made by: make lock\n"


def locked() -> dict[str, str]:
    """Name -> version, as the lock has them."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s\\]+)", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    return dict(found)


def hashes_of(name: str, version: str) -> list[str]:
    """The SHA-256 of every file of a release, for all systems, from the index."""
    with urllib.request.urlopen(f"{INDEX}{canonicalize_name(name)}/", timeout=60) as answer:
        page = answer.read().decode()
    own = {canonicalize_name(name).replace("-", "_"), name.lower(), name.lower().replace("-", "_")}
    found = set()
    for file, digest in re.findall(r'href="[^"]*?/([^"/#]+)#sha256=([0-9a-f]{64})"', page):
        start = re.match(rf"(.+?)-{re.escape(version)}(?:-|\.tar\.gz$|\.zip$)", file)
        if start and start[1].lower().replace("-", "_").replace(".", "_") in {one.replace(".", "_") for one in own}:
            found.add(digest)
    if not found:
        raise SystemExit(f"the index has no file of {name} {version}")
    return sorted(found)


def add_hashes() -> None:
    pins = locked()
    with ThreadPoolExecutor(8) as pool:
        digests = list(pool.map(lambda pin: hashes_of(*pin), pins.items()))
    lines = [HEAD]
    for (name, version), found in zip(pins.items(), digests, strict=True):
        lines.append(f"{name}=={version} \\\n" + " \\\n".join(f"    --hash=sha256:{one}" for one in found) + "\n")
    LOCK.write_text("".join(lines), encoding="utf-8")


def runtime() -> set[str]:
    """What an installed auditkit needs, by canonical name; the rest serves tests and documentation."""
    seen: set[str] = set()
    todo = [(Requirement("auditkit"), "")]
    while todo:
        requirement, _ = todo.pop()
        name = canonicalize_name(requirement.name)
        if name in seen:
            continue
        seen.add(name)
        try:
            needs = metadata(requirement.name).get_all("Requires-Dist") or []
        except PackageNotFoundError:
            continue
        for need in map(Requirement, needs):
            wanted = [{**default_environment(), "extra": extra} for extra in ("", *requirement.extras)]
            if need.marker is None or any(need.marker.evaluate(environment) for environment in wanted):
                todo.append((need, name))
    return seen - {"auditkit"}


def licence_of(name: str) -> str:
    """The licence that a package declares: as an expression, in words, or as a classifier."""
    try:
        about = metadata(name)
    except PackageNotFoundError:
        return "not installed here"
    short = (about.get("License") or "").strip()
    classifiers = [
        line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if line.startswith("License")
    ]
    named = [line for line in classifiers if line != "OSI Approved"]
    return (
        about.get("License-Expression") or (short if 0 < len(short) < 60 else "") or ", ".join(named) or "not declared"
    )


def write_sbom() -> None:
    needed = runtime()
    components = []
    text = LOCK.read_text(encoding="utf-8")
    for name, version in sorted(locked().items(), key=lambda pin: canonicalize_name(pin[0])):
        block = text.partition(f"{name}=={version} \\\n")[2]
        digests = re.findall(r"^    --hash=sha256:(\w+)", re.split(r"\n(?=[^ ])", block)[0], re.MULTILINE)
        components.append(
            {
                "type": "library",
                "bom-ref": f"pkg:pypi/{canonicalize_name(name)}@{version}",
                "name": name,
                "version": version,
                "purl": f"pkg:pypi/{canonicalize_name(name)}@{version}",
                "scope": "required" if canonicalize_name(name) in needed else "excluded",
                "licenses": [{"license": {"name": licence_of(name)}}],
                "properties": [{"name": "auditkit:sha256", "value": digest} for digest in digests],
            }
        )
    version = re.search(r'__version__ = "([^"]+)"', (ROOT / "auditkit" / "__init__.py").read_text(encoding="utf-8"))
    digest = hashlib.sha256(json.dumps(components).encode()).hexdigest()
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.UUID(digest[:32])}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "auditkit",
                "version": version[1] if version else "0",
                "licenses": [{"license": {"id": "MIT"}}],
            }
        },
        "components": components,
    }
    SBOM.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def write_licences() -> None:
    components = json.loads(SBOM.read_text(encoding="utf-8"))["components"]
    parts = [
        "# Licences of all dependencies\n\nMade from `sbom.cdx.json` by `make sbom`; auditkit itself is under the MIT "
        "licence. What a package declares is repeated here, not judged.\n"
    ]
    for scope, title in (
        ("required", "What an installed auditkit uses"),
        ("excluded", "Extras, tests and documentation"),
    ):
        parts.append(f"\n## {title}\n\n| package | version | licence |\n| --- | --- | --- |\n")
        for one in components:
            if one["scope"] == scope:
                words = one["licenses"][0]["license"]["name"].replace("|", "/").replace("\n", " ")
                parts.append(f"| {one['name']} | {one['version']} | {words} |\n")
    LICENCES.write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    commands = {"hashes": add_hashes, "sbom": write_sbom, "licences": write_licences}
    if len(sys.argv) < 2 or not set(sys.argv[1:]) <= commands.keys():
        raise SystemExit(__doc__)
    for command in sys.argv[1:]:
        commands[command]()
