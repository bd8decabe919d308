"""What a PDF shows to a reader: the document attached to it, the words on its pages, and what was added later.

The file is read by pypdf as viewers read it: through its last table of objects, so that an incremental update that
replaces the attachment or a page is what is found here too. auditkit writes a PDF in one go, without scripts, forms or
notes; anything of the kind is named in `added`.
"""

from __future__ import annotations

import logging
import re
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from auditkit.errors import InputError, Problem

MOST_BYTES, MOST_ATTACHED, MOST_DRAWN, MOST_PAGES, MOST_NAMES = 1 << 26, 1 << 26, 1 << 25, 2_000, 10_000
"""Bytes of the file, of the document inside and of what draws the pages; pages; entries of a tree of names."""

_OTHER = "name a PDF that auditkit report has written, or its JSON"
_ACTIVE = ("/OpenAction", "/AA", "/AcroForm", "/OCProperties", "/URI", "/Collection")
_OBJECT = re.compile(rb"(?<!\d)\d{1,10} \d{1,5} obj\b")


@dataclass(frozen=True)
class PdfFile:
    """A PDF that holds a report."""

    document: bytes
    """The JSON inside."""
    pages: tuple[str, ...]
    """The characters on each page, without white space: line breaks depend on fonts."""
    producer: str
    fonts: frozenset[str]
    added: tuple[str, ...]
    """What auditkit never writes into a PDF."""


def read_pdf(content: bytes, place: str) -> PdfFile:
    """Read a PDF; raises InputError if it cannot be read or holds no report."""
    if len(content) > MOST_BYTES:
        raise InputError(Problem(place, f"is longer than {MOST_BYTES:,} bytes", "verify its JSON"))
    with _quiet():
        try:
            return _read(content, place)
        except InputError:
            raise
        except Exception as error:  # a hostile file finds every assumption a parser makes
            what = f"cannot be read as a PDF: {type(error).__name__}: {str(error)[:100]}"
            raise InputError(Problem(place, what, _OTHER)) from None


def _read(content: bytes, place: str) -> PdfFile:
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(content))
    if reader.is_encrypted:
        raise InputError(Problem(place, "is encrypted", _OTHER))
    root = reader.root_object
    added = [*_later(content, reader), *_active(root)]
    attached = _attached(root, place)
    if len(reader.pages) > MOST_PAGES:
        raise InputError(Problem(place, f"has more than {MOST_PAGES:,} pages", _OTHER))
    pages, fonts, drawn = [], set(), 0
    for number, page in enumerate(reader.pages, 1):
        contents = page.get_contents()
        drawn += 0 if contents is None else len(contents.get_data())
        if drawn > MOST_DRAWN:
            raise InputError(Problem(place, f"draws more than {MOST_DRAWN:,} bytes", _OTHER))
        added += [f"{what} on page {number}" for what in _on_page(page)]
        pages.append("".join(unicodedata.normalize("NFKC", page.extract_text()).split()))
        for font in (page.get("/Resources", {}).get("/Font") or {}).values():
            fonts.add(str(font.get_object().get("/BaseFont", "")).rpartition("+")[2])
    producer = str(reader.metadata.producer if reader.metadata else "")
    return PdfFile(attached, tuple(pages), producer, frozenset(fonts), tuple(dict.fromkeys(added)))


def _later(content: bytes, reader: Any) -> Iterator[str]:
    """Traces of changes after the file was written."""
    if content.count(b"startxref") != 1 or "/Prev" in reader.trailer or "/XRefStm" in reader.trailer:
        yield "an incremental update"
    elif not content.rstrip().endswith(b"%%EOF"):
        yield "data after its end"
    elif len(_OBJECT.findall(content)) > sum(len(objects) for objects in reader.xref.values()):
        yield "objects that its table does not list"


def _active(root: Any) -> Iterator[str]:
    """Scripts, forms and layers."""
    yield from (key.strip("/") for key in _ACTIVE if key in root)
    yield from (key.strip("/") for key in root.get("/Names", {}) if key not in ("/EmbeddedFiles", "/Dests"))


def _on_page(page: Any) -> Iterator[str]:
    """Notes, and links that do more than point somewhere."""
    if "/AA" in page:
        yield "an action"
    for entry in page.get("/Annots") or ():
        note = entry.get_object()
        if note.get("/Subtype") != "/Link":
            yield f"a note of the kind {str(note.get('/Subtype'))[1:30]}"
        elif note.get("/A", {}).get("/S", "/GoTo") not in ("/GoTo", "/URI"):
            yield "a link that starts something"


def _attached(root: Any, place: str) -> bytes:
    """The one attachment: in the tree of names, where viewers look, and among the associated files of PDF/A."""
    named = list(_entries(root.get("/Names", {}).get("/EmbeddedFiles", {})))
    associated = [entry.get_object() for entry in root.get("/AF", [])]
    streams = {}
    for entry in (*named, *associated):
        for stream in (part.get_object() for part in entry["/EF"].values()):
            streams[stream.indirect_reference.idnum] = stream
    if not named or not streams:
        raise InputError(Problem(place, "there is no report inside", _OTHER))
    if len(streams) > 1:
        raise InputError(Problem(place, "there are several documents inside", _OTHER))
    (stream,) = streams.values()
    kinds = stream.get("/Filter", [])
    if stream.get("/DecodeParms") or kinds not in ("/FlateDecode", ["/FlateDecode"], []):
        raise InputError(Problem(place, "the document inside is packed in a way that auditkit does not use", _OTHER))
    raw = bytes(stream._data)
    if not kinds:
        return raw
    unpacking = zlib.decompressobj()
    document = unpacking.decompress(raw, MOST_ATTACHED)
    if not unpacking.eof:
        raise InputError(Problem(place, "the document inside is too large or cut off", "verify the JSON beside it"))
    return document


def _entries(node: Any) -> Iterator[Any]:
    """The values of a tree of names."""
    todo, seen = [node.get_object()], 0
    while todo:
        here = todo.pop()
        seen += 1
        if seen > MOST_NAMES:
            raise ValueError("too many names")
        yield from (entry.get_object() for entry in here.get("/Names", [])[1::2])
        todo += [kid.get_object() for kid in here.get("/Kids", [])]


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence pypdf, which logs what it repairs in a broken file."""
    logger = logging.getLogger("pypdf")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
