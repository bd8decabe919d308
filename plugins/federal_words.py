"""The vocabulary `federal-words`: codes and words of United States federal hiring that aren't in any dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from auditkit import WordList, hookimpl


class FederalWords(WordList):
    name: ClassVar[str] = "federal-words"
    tables: ClassVar[Mapping[str, Mapping[str, Sequence[Any]]]] = {
        "roles": {
            "search": [["vin", "certificate number", "announcement no", "job announcement number"]],
            "selected": [[], [], ["audit code", "hiring action", "certificate disposition"]],
        },
        "status": {
            "selected": ["sel", "selectee", "entered on duty", "eod"],
            "rejected": [
                "nsel",
                "ns",
                "nref",
                "nr",
                "inel",
                "not referred",
                "tentatively ineligible",
                "not within reach",
            ],
            "withdrawn": ["declined position", "failed to reply", "fr", "da"],
        },
        "values": {"unknown": ["omitted", "not identified", "unspecified rno"]},
    }


@hookimpl
def auditkit_vocabulary() -> list[type[WordList]]:
    return [FederalWords]
