"""The words that exports use, as data: one TOML file for each language, and what plugins add.

`Vocabulary` answers questions about words: which roles a column's name suggests, what a status means, how far along a
process a step usually is, whether an answer was declined. Everything is compared after `plain`: case, accents and
punctuation do not count. In a phrase `*` ends a stem and `?` is any one word or none. The files are read together, as
an export may mix languages; `speaking` sets the vocabulary that is in force while a file is read.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from abc import ABC
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Any, ClassVar

from auditkit.errors import nearest
from auditkit.model.session import kept

Tables = Mapping[str, Mapping[str, Sequence[Any]]]
"""Section -> entry -> phrases, or lists of names by tier."""

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_GAPS = re.compile(r"[\W_]+")
_BREAK = re.compile(r"\s[-–—]\s|[:(/,;|)]")
_NOT_ASKED = re.compile(r"-\s*(?:1|9+)(?:[.,]0+)?")
"""-1, -9 and -99 beside 0 and 1 say that there is no answer."""
_ORDINAL = re.compile(r"\b([1-9])\b")

ROLES: dict[str, str] = {
    "candidate": "who applied: one value per application",
    "person": "the person, where one may have several applications",
    "search": "the requisition or job",
    "group": "the protected attributes, each compared by itself",
    "membership": "the probability of each group, where somebody else imputed it: columns such as `Race: White`",
    "segment": "parts of the firm in which results are compared: department, location, level, source",
    "inspected": "who was inspected (interviewed)",
    "selected": "who was selected (hired): a column, or COLUMN=VALUE for the favourable value",
    "reason": "why an application ended, where candidates withdrew",
    "score": "what the inspection showed",
    "prior": "what was known before the inspection",
    "cost": "what an inspection costs",
    "capacity": "how many can be selected in the search",
    "unit": "units inside a search with limits of their own, from outer to inner: department, team",
    "unit_capacity": "how many can be selected in the unit (in each of several: one column for each)",
    "outcome": "performance after hiring",
    "expense": "an expense that a budget may limit",
    "date": "when the application was made, or when the event took place",
    "stage": "the stage of each event, in a file with one row per event",
    "result": "the result of each event, in a file with one row per person and stage",
    "stages": "the columns of the stages, in order (or COLUMN=VALUE); or one column with a path or the last stage",
    "count": "how many applications a row stands for",
}
"""Every role with what it means, in the order in which a mapping is printed."""

SEVERAL = frozenset({"group", "membership", "segment", "prior", "expense", "stages", "unit", "unit_capacity"})
"""Roles that may have more than one column (`cost` too, when there is one for each stage)."""

STATUSES = ("selected", "declined", "rejected", "withdrawn", "pending")
"""What a final status can say. A declined offer is a selection that the candidate undid; withdrawn is not rejected."""

STEP_RANKS: dict[str, float] = {
    "hired": 9, "offer": 8, "check": 7, "third": 5.5, "second": 5, "manager": 3, "longlist": 1.2, "gate": 1.1,
    "shortlist": 1.4, "screen": 1.5, "hr": 2.5, "test": 2, "interview": 4, "applied": 0,
}  # fmt: skip
"""How far along a hiring process each step usually is."""

HIRED = 9.0


@kept(most=65_536)
def plain(text: str) -> str:
    """`CandidateID`, `candidate-id` and `Candidate Id` are all `candidate id`; `Résumé` is `resume`."""
    letters = unicodedata.normalize("NFKD", _CAMEL.sub(" ", text))
    return _GAPS.sub(" ", "".join(c for c in letters if not unicodedata.combining(c)).lower()).strip()


def _compiled(phrases: Iterable[str]) -> re.Pattern[str]:
    """One pattern for phrases of whole words; longer phrases go first."""
    parts = []
    for phrase in sorted(set(phrases), key=lambda text: -len(text)):
        pattern = ""
        for token in phrase.split():
            if token == "?":
                pattern = pattern.removesuffix(" ") + r"(?: \w+)? "
            else:
                pattern += re.escape(token).replace(r"\*", r"\w*") + " "
        parts.append(pattern.strip())
    return re.compile(rf"\b(?:{'|'.join(parts)})(?!\w)") if parts else re.compile(r"(?!)")


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words of all languages. `tables` is section -> key -> phrases, or lists of phrases by tier for names."""

    tables: Tables

    def tiers(self, section: str, key: str) -> tuple[tuple[str, ...], ...]:
        """The names of a role or of a characteristic; a later tier counts only without an earlier one."""
        return tuple(tuple(names) for names in self.tables[section].get(key, ()))

    def phrases(self, section: str, key: str) -> tuple[str, ...]:
        return tuple(self.tables.get(section, {}).get(key, ()))

    @cached_property
    def roles(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        return {role: self.tiers("roles", role) for role in self.tables["roles"]}

    @cached_property
    def groups(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        return {name: self.tiers("groups", name) for name in self.tables["groups"]}

    @cached_property
    def _sets(self) -> dict[tuple[str, str], frozenset[str]]:
        return {
            (section, key): frozenset(entries)
            for section, table in self.tables.items()
            if section not in ("roles", "groups")
            for key, entries in table.items()
        }

    @cached_property
    def single_words(self) -> frozenset[str]:
        """All words of all phrases but months, which people are called by too."""
        tables = self.tables.values()
        phrases: list[Any] = [entries for table in tables for key, entries in table.items() if key != "months"]
        found: set[str] = set()
        while phrases:
            entry = phrases.pop()
            found.update(plain(entry).split()) if isinstance(entry, str) else phrases.extend(entry)
        return frozenset(found)

    @cached_property
    def _patterns(self) -> dict[tuple[str, str], re.Pattern[str]]:
        return {}

    @cached_property
    def _memory(self) -> dict[tuple[str, str], Any]:
        return {}

    def words(self, section: str, key: str) -> frozenset[str]:
        """The phrases of an entry, as a set."""
        return self._sets.get((section, key), frozenset())

    def pattern(self, section: str, key: str) -> re.Pattern[str]:
        """The phrases of an entry, as one pattern over plain text."""
        found = self._patterns.get((section, key))
        if found is None:
            found = self._patterns[section, key] = _compiled(self.phrases(section, key))
        return found

    def has(self, section: str, key: str, text: str) -> bool:
        """Whether a text holds one of the phrases."""
        return self.pattern(section, key).search(plain(text)) is not None

    def is_missing(self, word: str) -> bool:
        """No value at all. Cells of punctuation only are plain "" and so belong here."""
        return plain(word) in self.words("values", "missing") or _NOT_ASKED.fullmatch(word.strip()) is not None

    def mark(self, word: str) -> bool | None:
        """True for yes, False for no, None for neither."""
        text = "x" if word in ("✓", "✔", "☑") else plain(word) if not word.startswith("-") else ""
        return True if text in self.words("values", "yes") else False if text in self.words("values", "no") else None

    def is_unknown(self, word: str) -> bool:
        """Whether a cell of a protected column says nothing: empty, unknown or declined to answer."""
        text = plain(word)
        return (
            text in self.words("values", "missing")
            or text in self.words("values", "unknown")
            or self.pattern("values", "declined_answer").search(text) is not None
        )

    def meaning(self, word: str) -> str | None:
        """The status that a word or sentence means, one of `STATUSES`, or None if it is not known."""
        key = ("meaning", word)
        if key not in self._memory:
            self._memory[key] = self._meaning(word)
        found: str | None = self._memory[key]
        return found

    def _meaning(self, word: str) -> str | None:
        text = plain(word)
        if (whole := self._exact(text)) is not None:
            return whole
        if self.pattern("within", "by_firm").search(text):
            return "rejected"
        if self.pattern("within", "elsewhere").search(text) and not self.negated(text):
            return "withdrawn"  # hired, but not for this job
        for code in ("declined", "withdrawn"):
            if self.pattern("within", code).search(text):
                return code
        parts = [self._exact(plain(part)) for part in _BREAK.split(word) if plain(part)]
        if "rejected" in parts or self.pattern("within", "rejected").search(text) or self.negated(text):
            return "rejected"
        if parts and parts[0] in ("withdrawn", "declined"):
            return parts[0]
        if len(parts) > 1 and parts[0] == "pending" and parts[-1] == "selected":
            return None  # "Waitlisted - admitted" ended well, "Screening - passed" did not end
        if len(parts) > 1 and "pending" in parts[1:]:
            return "pending"
        if parts and parts[0] == "selected":
            if "withdrawn" in parts:
                return "declined"
            made = plain(_BREAK.split(word)[0]) in self.words("cells", "offer")
            return None if made and any(code is None for code in parts) else "selected"  # "Offer - lapsed"
        for code in ("pending", "selected"):
            if self.pattern("within", code).search(text):
                return code
        return next((code for code in parts if code in ("selected", "pending")), None) if len(parts) > 1 else None

    def is_plain(self, word: str) -> bool:
        """Whether a status is said by the whole text or its first part, and not by some words of a sentence."""
        parts = (word, *_BREAK.split(word)[:1])
        return any(self._exact(plain(part)) is not None for part in parts)

    def _exact(self, text: str) -> str | None:
        return next((code for code in STATUSES if text in self.words("status", code)), None)

    @cached_property
    def _negated(self) -> re.Pattern[str]:
        negation = self.pattern("within", "negation").pattern
        return re.compile(rf"{negation} (?:\w+ )?{self.pattern('within', 'positive').pattern}")

    def negated(self, text: str) -> bool:
        """`not selected`, `nicht eingestellt`, `non idoneo`: a good word with a no before it."""
        return self._negated.search(text) is not None

    def negated_start(self, word: str) -> bool:
        """Whether a text begins with a no: `Not Hispanic or Latino`."""
        return self.pattern("within", "negation").match(plain(word)) is not None

    def employment(self, word: str) -> str | None:
        """`selected` for who stayed, `rejected` for who lost the job, `withdrawn` for who left; None if neither."""
        text = plain(word)
        for key, code in (("left", "withdrawn"), ("lost", "rejected"), ("kept", "selected")):
            if self.pattern("employment", key).search(text):
                negative = key == "lost" and self.pattern("within", "negation").match(text)
                return "selected" if negative else code
        return None

    def step_rank(self, word: str) -> float | None:
        """How far along a hiring process a step of this name usually is (0 applied, 9 hired); None if not a step.

        "Interview / Assessment" is as far as the later of the two.
        """
        key = ("rank", word)
        if key not in self._memory:
            parts = [self.step_in(part) for part in word.split("/")]
            found = parts if all(parts) else [self.step_in(word)]
            self._memory[key] = max((one[0] for one in found if one is not None), default=None)
        rank: float | None = self._memory[key]
        return rank

    def step_in(self, word: str) -> tuple[float, str, int] | None:
        """The step that a text names: its rank, the words that say so, and where in the plain text they begin."""
        text = plain(word)
        for whole in (True, False):
            for step, rank in STEP_RANKS.items():
                if step == "gate" and not whole:
                    continue  # "less qualified" is not a step
                pattern = self.pattern("steps", step)
                found = pattern.fullmatch(text) if whole else pattern.search(text)
                if found:
                    number = _ORDINAL.search(text)
                    more = int(number.group(1)) / 100 if number and rank in (1.5, 2, 3, 4) else 0
                    return float(rank) + more, found.group(), found.start()
        return None

    def gate_in(self, word: str) -> str:
        """The part of a text that says that somebody could be considered: `Qualified` in `Qualified, not referred`."""
        gate, parts = self.pattern("steps", "gate"), _BREAK.split(word)
        if any(self.negated_start(part) and self.has("within", "gate_failed", part) for part in parts):
            return ""  # "Not qualified - minimum qualifications" gives the reason
        return next((part.strip() for part in parts if gate.fullmatch(plain(part))), "")

    def sex(self, word: str) -> str | None:
        """`female` or `male` in any language; None for other words."""
        text = plain(word)
        return next((sex for sex in ("female", "male") if text in self.words("values", sex)), None)

    def month(self, word: str) -> int | None:
        """1 to 12 for the name of a month, whole or cut to three letters or more."""
        text = plain(word)
        names = self.phrases("values", "months")
        hits = {i % 12 + 1 for i, name in enumerate(names) if len(text) >= 3 and name.startswith(text)}
        return hits.pop() if len(hits) == 1 else None


class WordList(ABC):
    """Words that a plugin adds: the sections and entries of the files in this folder, in a class of its own.

    class Trade(WordList):
        name = "trade"
        tables = {"status": {"selected": ["Contract issued"]}, "steps": {"interview": ["trial day"]}}
    """

    name: ClassVar[str]

    tables: ClassVar[Tables]
    """Section -> entry -> phrases; under `roles` and `groups` lists of names by tier."""


def defect(offer: type[WordList]) -> str | None:
    """What is wrong with a word list: sections or entries that no vocabulary has."""
    known = shipped().tables
    for section, entries in getattr(offer, "tables", {"": {}}).items():
        if section not in known:
            return f"{offer.name!r} has a section {section!r} ({nearest(section, known)})"
        for entry, phrases in entries.items():
            if entry not in known[section]:
                return f"{offer.name!r} has an entry {section}.{entry} ({nearest(entry, known[section])})"
            if isinstance(phrases, str) or not isinstance(phrases, Sequence):
                return f"{offer.name!r}: {section}.{entry} is not a list"
    return None


def merged(tables: Iterable[Tables]) -> Vocabulary:
    """One vocabulary from several tables; the tiers of names are joined tier by tier."""
    result: dict[str, dict[str, list[Any]]] = {}
    for table in tables:
        for section, entries in table.items():
            own = result.setdefault(section, {})
            for key, phrases in entries.items():
                have = own.setdefault(key, [])
                if section in ("roles", "groups"):
                    have += [[] for _ in range(len(phrases) - len(have))]
                    for tier, names in zip(have, phrases, strict=False):
                        tier += [plain(name) for name in names]
                elif section == "names" or key in ("missing", "yes", "no"):
                    have += [*phrases]
                else:
                    have += [_plain_phrase(phrase) for phrase in phrases]
    return Vocabulary(result)


def _plain_phrase(phrase: str) -> str:
    """A phrase made plain, with its wildcards."""
    return " ".join(
        token if token == "?" else plain(token.rstrip("*")) + "*" * token.endswith("*") for token in phrase.split()
    )


@kept()
def shipped() -> Vocabulary:
    """What auditkit knows by itself: English, German, French, Spanish, Portuguese, Dutch, Italian and Danish."""
    return merged(_shipped_tables())


def _shipped_tables() -> list[Tables]:
    folder = resources.files(__name__)
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    files.sort(key=lambda file: file.name != "en.toml")
    return [tomllib.loads(file.read_text(encoding="utf-8")) for file in files]


@kept(most=2)
def extended(*added: type[WordList]) -> Vocabulary:
    """What ships and what plugins add."""
    return merged([*_shipped_tables(), *(offer.tables for offer in added)]) if added else shipped()


_SPOKEN: ContextVar[Vocabulary | None] = ContextVar("auditkit_vocabulary", default=None)


def spoken() -> Vocabulary:
    """The vocabulary in force."""
    return _SPOKEN.get() or shipped()


@contextmanager
def speaking(vocabulary: Vocabulary) -> Iterator[None]:
    """Read with this vocabulary until the block ends."""
    token = _SPOKEN.set(vocabulary)
    try:
        yield
    finally:
        _SPOKEN.reset(token)
