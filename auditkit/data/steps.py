"""Steps in one column: the path of an application, the last stage it reached, or a disposition that names a step.

"Review > Phone screen > Onsite" is a path; "Onsite" beside a status is the last stage; "Rejected - not selected for
interview" says that the interview was not reached, "Interviewed, not selected" that it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.vocabulary import HIRED, STEP_RANKS, plain, spoken

_PATH = re.compile(r"\s*(?:>|→|->|»|⇒|=>|\|)\s*|\s+/\s+")
_DATE_WORDS = re.compile(
    r"^(?:date of|date|datum|fecha(?: de)?|date d['e]?|data(?: d[aeio]\w*)?)\s+"
    r"|[\s_-]*\b(?:date|datum|on|at|timestamp|fecha|completed|am)$",
    re.IGNORECASE,
)
_TIME_IN = re.compile(r"^(?:time|days|hours|tage|jours|dias|dagen|giorni|tempo|tiempo) (?:in|en|em)\b.*?:?\s+", re.I)
_ANSWERS = re.compile(r"\s*\((?:y/n|yes/no|p/f|pass/fail|j/n|s/n|o/n|0/1)\)", re.IGNORECASE)
_BY_WHOM = re.compile(r"\b(by|von|vom|par|por|da|dal|door)(?: (?:the|our|der|dem|le|la|el|het|de))? $")
_ENDS = ("selected", "declined", "rejected", "withdrawn")
_LEADING = re.compile(r"^\s*(\d{1,2})\s*[-.):_ ]\s*\D")
_MOST_STAGES = 30
_NAMING = 0.25
"""Share of the rejections that must name a step for the others to be read as those before the first."""
_UNPLACED = 2.5
"""The rank of a stage whose words are not known: between a screen and an interview."""
_AFTER_START = 0.5
"""The rank of a first look at applications, where others are only new."""


def label_of(column: str) -> str:
    """The step that a column is about: `Phone Screen Date` is `Phone Screen`."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column).replace("_", " ") if " " not in column else column
    head, colon, tail = spaced.rpartition(": ")
    if colon and _TIME_IN.match(head + " "):
        return tail
    short = _DATE_WORDS.sub("", _TIME_IN.sub("", _ANSWERS.sub("", spaced))).strip(" -_:")
    return short if short and short != spaced else column


def labels_of(columns: Sequence[str]) -> tuple[str, ...]:
    """Names of the steps of several columns; the columns themselves where two would be called the same."""
    names = tuple(label_of(column) for column in columns)
    return names if len(set(names)) == len(names) else tuple(columns)


@dataclass(frozen=True, eq=False)
class StepsInOneColumn:
    """Steps in order, who reached each, and the final statuses in the same cells ("" where none).

    `unplaced` are stages whose place in the order is not known. `silent` are cells that end an application without
    naming a step.
    """

    names: tuple[str, ...]
    reached: pd.DataFrame
    final: pd.Series[Any]
    selected: str | None
    unplaced: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


def is_path(cells: pd.Series[Any]) -> bool:
    """Whether cells hold paths such as "Review > Phone Screen > Onsite"."""
    words = spoken()
    found = [str(word) for word in pd.unique(cells) if not words.is_missing(str(word))]
    if not found or len(found) > 5000:
        return False
    parts = {part for word in found for part in _PATH.split(word) if part}
    several = sum(len(_PATH.split(word)) > 1 for word in found) / len(found)
    known = sum(words.step_rank(part) is not None or words.meaning(part) is not None for part in parts)
    return several >= 0.5 and len(parts) <= _MOST_STAGES and known >= 0.5 * len(parts)


def is_last_stage(cells: pd.Series[Any], decided: pd.Series[Any] | None = None) -> bool:
    """Whether cells name the last stage that was reached; `decided` are rows for which that must be known.

    One word that is not known, beside several stages that are, is a stage too.
    """
    known = {word: _rank(str(word)) for word in pd.unique(cells)}
    ranks = cells.map(known)
    staged = ranks.map(lambda rank: isinstance(rank, float))
    between = {rank for rank in ranks[staged].unique() if 0 < rank < HIRED}
    several = len(between) >= 2 or (len(between) == 1 and bool((ranks == 0.0).any()))
    strange = [word for word, rank in known.items() if rank == "" and not spoken().is_missing(str(word))]
    if len(strange) == 1 and len(between) >= 2:
        staged = staged | (cells == strange[0])
    if not several or cells.nunique() > _MOST_STAGES:
        return False
    if decided is not None and decided.any():
        return bool(staged[decided].mean() >= 0.8)
    return bool((staged | (cells == "")).mean() >= 0.8)


def _rank(word: str) -> float | str:
    """The rank of a stage, else the status that a word means, else ""."""
    words = spoken()
    if words.is_missing(word):
        return ""
    code, rank = words.meaning(word), words.step_rank(word)
    if plain(word) in words.words("cells", "start"):
        return 0.0
    if code in ("rejected", "withdrawn", "declined"):
        return code
    return rank if rank is not None else code or ""


def from_paths(cells: pd.Series[Any]) -> StepsInOneColumn:
    """Stages from a path in each cell, in the order in which most paths pass them."""
    codes, found = pd.factorize(cells)
    missing = spoken().is_missing
    paths = [[part for part in _PATH.split(str(word)) if not missing(part)] for word in found]
    ranks = {part: _rank(part) for path in paths for part in path}
    often = np.bincount(codes, minlength=len(found))
    ends = {part for part, rank in ranks.items() if rank in _ENDS or rank == HIRED}
    names = [part for part in ranks if part not in ends]
    index = {name: i for i, name in enumerate(names)}
    ahead = np.zeros((len(names), len(names)))
    reached = np.zeros((len(found), len(names)), dtype=bool)
    final = []
    for k, path in enumerate(paths):
        inner = [index[part] for part in path if part in index]
        reached[k, inner] = True
        for i, a in enumerate(inner):
            for b in inner[i + 1 :]:
                ahead[a, b] += often[k]
        last = [ranks[part] for part in path if part in ends]
        final.append("" if not last else "selected" if last[-1] == HIRED else str(last[-1]))
    order = sorted(range(len(names)), key=lambda i: (-(ahead[i] > ahead[:, i]).sum(), -reached[codes, i].sum()))
    selected = next((part for part, rank in ranks.items() if rank in (HIRED, "selected")), None)
    return _in_table(cells, codes, [names[i] for i in order], reached[:, order], final, selected)


def from_last_stage(cells: pd.Series[Any], selected: pd.Series[Any] | None = None) -> StepsInOneColumn:
    """Stages from the last one that was reached: who reached a stage passed through those before it.

    A stage of unknown name at which (nearly) everybody was selected is the last, where no other is.
    """
    codes, found = pd.factorize(cells)
    often = np.bincount(codes, minlength=len(found))
    ranks = [_rank(str(word)) for word in found]
    if selected is not None and HIRED not in ranks:
        shares = np.bincount(codes, weights=selected.to_numpy(dtype=float), minlength=len(found)) / np.maximum(often, 1)
        ranks = [
            HIRED if rank == "" and share > 0.9 and not spoken().is_missing(str(word)) else rank
            for word, rank, share in zip(found, ranks, shares, strict=True)
        ]
    leading = [_LEADING.match(str(word)) for word in found]
    numbered = all(leading[i] for i, rank in enumerate(ranks) if isinstance(rank, float) or rank == "")
    starts = [plain(str(word)) in spoken().words("cells", "start") for word in found]
    places: dict[int, float] = {}
    for i, rank in enumerate(ranks):
        match = leading[i]
        if numbered and match is not None and rank not in (HIRED, *_ENDS):
            places[i] = float(match.group(1))
        elif isinstance(rank, float) and 0 < rank < HIRED:
            places[i] = rank
        elif rank == 0.0 and any(starts) and not starts[i]:
            places[i] = _AFTER_START
        elif rank == "" and not spoken().is_missing(str(found[i])):
            # where no word is that of the start, the stage at which most applications ended is
            places[i] = _UNPLACED if any(starts) or 0.0 in ranks or often[i] < often.max() else 0.0
    stages = sorted(places, key=lambda i: (places[i], -often[i]))
    far = {i: place for place, i in enumerate(stages)}
    reached = np.zeros((len(found), len(stages)), dtype=bool)
    final = []
    for k, rank in enumerate(ranks):
        hired = rank == HIRED
        reached[k, : len(stages) if hired else far.get(k, -1) + 1] = True
        final.append("selected" if hired else str(rank) if rank in _ENDS else "")
    end = next((str(found[i]) for i, rank in enumerate(ranks) if rank == HIRED), None)
    unplaced = tuple(str(found[i]) for i in stages if ranks[i] == "" and not numbered)
    return _in_table(cells, codes, [str(found[i]) for i in stages], reached, final, end, unplaced)


@dataclass(frozen=True)
class Ending:
    """What a disposition says: a status, the step it names, and whether the person got there."""

    status: str
    step: str
    rank: float
    reached: bool


def ending(word: str) -> Ending | None:
    """What a disposition such as "Rejected - not selected for interview" says; None if it is not one."""
    words = spoken()
    status = words.meaning(word)
    step, text = words.step_in(word), plain(word)
    if step is not None and _BY_WHOM.search(text[: step[2]]):
        step = None  # "Rejected by hiring manager"
    if words.is_missing(word) or (status is None and (step is None or not 0 < step[0] < HIRED)):
        return None
    if step is not None and step[0] == HIRED and status == "rejected":  # "Interviewed - not hired", "Not hired: Screen"
        text = re.sub(rf"(?:{words.pattern('within', 'negation').pattern} )?{re.escape(step[1])}", "", text, count=1)
        step = words.step_in(text)
    if step is None and status == "rejected" and (gate := words.gate_in(word)):  # "Qualified, not selected"
        return Ending(status, gate, STEP_RANKS["gate"], True)
    if step is None or step[0] == HIRED:
        return Ending(status or "", "", HIRED if status in ("selected", "declined") else -1.0, False)
    rank, said, start = step
    before, after = text[:start].rstrip(), text[start + len(said) :].strip()
    missed = re.compile(rf"(?:{words.pattern('within', 'before').pattern})$").search(before) is not None
    missed |= after.startswith("out")
    return Ending(status or "", _as_written(word, said), rank, not missed)


def _as_written(word: str, said: str) -> str:
    """The words of a text that say something, in the spelling of the text."""
    loose = r"[\W_]+".join(re.escape(token) for token in said.split())
    match = re.search(loose, word, re.IGNORECASE)
    text = match.group() if match else said
    return text[:1].upper() + text[1:]


def names_steps(cells: pd.Series[Any]) -> bool:
    """Whether the dispositions of a column say at which step applications ended."""
    index, found = pd.factorize(cells)
    if len(found) > 60:
        return False
    ends = [ending(str(word)) for word in found]
    often = np.bincount(index, minlength=len(found))
    rejected = [(e, n) for e, n in zip(ends, often, strict=True) if e is not None and e.status == "rejected"]
    staged = [(e, n) for e, n in rejected if e.rank >= 0]
    ranks = {e.rank for e, _ in staged if e.rank > 0}
    # who is not eligible gets to no step, so that the word need not name one
    gate = [bool(spoken().has("within", "gate_failed", plain(str(word)))) for word in found]
    at_gate = sum(int(n) for e, n, out in zip(ends, often, gate, strict=True) if out and e is not None and e.rank < 0)
    told = len(staged) >= 2 and sum(n for _, n in staged) >= _NAMING * (sum(n for _, n in rejected) - at_gate)
    return bool(ranks) and told and any(e.reached for e, _ in staged if e.rank > 0)


def from_dispositions(cells: pd.Series[Any]) -> StepsInOneColumn:
    """Steps from dispositions that name the step at which an application ended.

    Who did not get to "interview" did not get to the first of several; of several tests the one that ended more
    applications is assumed to come first.
    """
    codes, found = pd.factorize(cells)
    often = np.bincount(codes, minlength=len(found))
    ends = _told_apart([ending(str(word)) for word in found], often)
    tests = [e.step for e in ends if e is not None and STEP_RANKS["test"] < e.rank < STEP_RANKS["hr"]]
    labels: dict[float, dict[str, int]] = {}
    for word, e, n in zip(found, ends, often, strict=True):
        if e is None or not 0 < e.rank < HIRED:
            continue
        own = labels.setdefault(e.rank, {})
        own[e.step] = own.get(e.step, 0) + int(n) * (2 if e.reached else 1)
        if gate := spoken().gate_in(str(word)):  # "Qualified, not referred" names two steps
            own = labels.setdefault(STEP_RANKS["gate"], {})
            own[gate] = own.get(gate, 0) + 2 * int(n)
    ranks = sorted(labels)
    reached = np.zeros((len(found), len(ranks)), dtype=bool)
    for k, e in enumerate(ends):
        for j, rank in enumerate(ranks):
            reached[k, j] = e is not None and (e.rank > rank or (e.rank == rank and e.reached))
    final = ["" if e is None else e.status for e in ends]
    names = [max(labels[rank], key=labels[rank].__getitem__) for rank in ranks]
    chosen = [str(w) for w, e in zip(found, ends, strict=True) if e is not None and e.status == "selected"]
    silent = tuple(str(w) for w, e in zip(found, ends, strict=True) if e is not None and e.rank < 0)
    unplaced = tuple(dict.fromkeys(tests)) if len(set(tests)) > 1 else ()
    return _in_table(cells, codes, names, reached, final, chosen[0] if chosen else None, unplaced, silent)


def _told_apart(ends: list[Ending | None], often: np.ndarray[Any, np.dtype[np.intp]]) -> list[Ending | None]:
    """Endings with ranks by which steps of one rank in one column can be told apart."""
    tests: dict[str, int] = {}
    for e, n in zip(ends, often, strict=True):
        if e is not None and e.rank == STEP_RANKS["test"]:
            tests[e.step] = tests.get(e.step, 0) + int(n)
    place = {step: 0.01 * i for i, step in enumerate(sorted(tests, key=lambda step: -tests[step]))}
    result: list[Ending | None] = []
    for e in ends:
        if e is not None and len(tests) > 1 and e.step in tests and e.rank == STEP_RANKS["test"]:
            e = replace(e, rank=e.rank + 0.001 + place[e.step])
        elif e is not None and e.step and not e.reached:
            said = f" {plain(e.step)} "
            same = [other.rank for other in ends if other and other.reached and said in f" {plain(other.step)} "]
            e = replace(e, rank=min(e.rank, *same)) if same else e
        result.append(e)
    return result


def _in_table(
    cells: pd.Series[Any],
    codes: Any,
    names: list[str],
    reached: np.ndarray[Any, np.dtype[np.bool_]],
    final: list[str],
    selected: str | None,
    unplaced: tuple[str, ...] = (),
    silent: tuple[str, ...] = (),
) -> StepsInOneColumn:
    spread = reached[codes]
    # what everybody reached is not a step between application and selection
    kept = [i for i in range(len(names)) if not spread[:, i].all()]
    table = pd.DataFrame(spread[:, kept], index=cells.index, columns=pd.Index([names[i] for i in kept], dtype=object))
    ends = pd.Series(final, dtype="str").take(codes).set_axis(cells.index)
    return StepsInOneColumn(tuple(names[i] for i in kept), table, ends, selected, unplaced, silent)
