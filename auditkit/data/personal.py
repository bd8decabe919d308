"""Which cells a message may repeat: not those that may say who somebody is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from auditkit.data.vocabulary import plain, spoken

_COLUMN = re.compile(
    r"\b(e ?mail|mail address|phone|telephone|mobile|cell number|(first|last|full|sur|given|family|maiden|candidate|"
    r"applicant|middle)\s?name|surname|address|street|birth|dob|ssn|social security|passport|national id|"
    r"comments?|notes?|remarks?|linkedin|url|website|vorname|nachname|telefon|anschrift|geburt\w*|nom|prénom|"
    r"nombre|apellido|correo)\b"
)
_CELL = re.compile(r"\S@\S|https?://|www\.|\+\d[\d ()/.-]{6,}|\b\d{3}-\d{2}-\d{4}\b")
"""E-mail and web addresses, telephone and social security numbers."""
_NOT_PEOPLE = re.compile(r"\b(job|requisition|req|position|company|school|department|office|stage|posting|role)\b")

_NAME = re.compile(r"\bname\b")
_NAMED_THINGS = re.compile(
    r"\b(concept|step|status|workflow|phase|event|milestone|source|reason|outcome|result|test|exam|course)\b"
)
_SOMEBODY = re.compile(
    r"\b(candidate|applicant|person|employee|recruiter|interviewer|manager|reviewer|contact|referee|bewerber(in)?|candidat|"
    r"candidato)s?$"
)
"""Columns that hold somebody: ids, or names."""

_CAPITALISED = re.compile(r"[A-ZÀ-ÖØ-ÞĀ-Ž]\.|(O'|Mc|Mac|D')?[A-ZÀ-ÖØ-ÞĀ-Ž][^\W\d_A-Z]+([-'’][^\W\d_]+)?")
_PARTICLES = frozenset(
    ("da", "de", "del", "della", "den", "der", "di", "dos", "du", "el", "la", "le", "van", "von", "bin", "ibn", "al")
)

HIDDEN = "a value that is not shown, because it may say who somebody is"


def is_personal(column: str, value: object, of_candidate: bool = False) -> bool:
    """Whether a cell may say who somebody is, by the name of its column or by what it looks like.

    Ids of candidates and of others are shown if they look like ids: one word with a digit.
    """
    name = re.sub(r"[\W_]+", " ", column).lower()
    named = _NAME.search(name) and not _NAMED_THINGS.search(name)
    if (_COLUMN.search(name) or named) and not _NOT_PEOPLE.search(name):
        return True
    text = str(value)
    if _CELL.search(text):
        return True
    return (
        (of_candidate or bool(_SOMEBODY.search(name.strip())))
        and bool(text)
        and (len(text.split()) > 1 or not any(sign.isdigit() for sign in text))
    )


def names_people(column: str, cells: Iterable[object]) -> bool:
    """Whether most of the values of a column may say who somebody is."""
    values = set(cells)
    return 2 * sum(is_personal(column, value) for value in values) > len(values)


def is_contact(cell: str) -> bool:
    """Whether a cell is an e-mail address or a telephone number and nothing else."""
    return re.fullmatch(r"[^\s@]+@[^\s@]+\.\w+|\+\d[\d ()/.-]{6,}", cell.strip()) is not None


def is_shown(column: str, value: object, of_candidate: bool = False) -> bool:
    """Whether a message may repeat a cell: it is not personal, and no name of a person that slipped into the column."""
    return not is_personal(column, value, of_candidate) and not _may_be_a_name(str(value))


def _may_be_a_name(text: str) -> bool:
    """Two to four words written like names, none of which is one of hiring in any language."""
    words = text.replace(",", " ").split()
    if not 2 <= len(words) <= 4:
        return False
    written = all(word in _PARTICLES or _CAPITALISED.fullmatch(word) for word in words)
    known = spoken().single_words
    return written and not any(
        plain(word) in known for word in words if word not in _PARTICLES and len(plain(word)) > 1
    )


def listed_cells(column: str, values: Sequence[str], most: int = 5) -> str:
    """Cells in quotation marks, the first few of many, without those that may say who somebody is."""
    shown = [repr(value) for value in values if is_shown(column, value)][:most]
    more = len(values) - len(shown)
    if not shown:
        return "a cell that may say who somebody is" if more == 1 else f"{more:,} cells that may say who somebody is"
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def without_cells(text: str) -> str:
    """A message of another program without what it quotes, which may be a cell, and without addresses."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "'***'", text)
    return re.sub(r"[^\s'\"<>(),;]+@[^\s'\"<>(),;]+", "***", text)
