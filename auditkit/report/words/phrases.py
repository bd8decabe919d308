"""How a report names steps, people and constraints: "women were interviewed", not "group Female, inspected".

The data's own words come first. A step whose name says what happened to people ("Interviewed", "Hire") becomes a verb;
any other is quoted ("reached “Phone screen”"). Constraints describe themselves in these words, and rows get their names
from their meaning (`model.row_meaning`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from auditkit.compare.comparison import TOGETHER
from auditkit.data.stages import PASSED
from auditkit.data.vocabulary import shipped as vocabulary
from auditkit.model.row_meaning import AmountAtMost, Meaning, Other, RateGap, RatioAtLeast, ShareAtLeast
from auditkit.report.schema import AttributeModel, ConstrainedModel
from auditkit.text import listing, percent, plain, spaced

VERBS: dict[str, tuple[str, str]] = {
    "interviewed": ("interviewed", "interview"),
    "interview": ("interviewed", "interview"),
    "hired": ("hired", "hiring"),
    "hire": ("hired", "hiring"),
    "selected": ("selected", "selection"),
    "selection": ("selected", "selection"),
    "inspected": ("inspected", "inspection"),
    "inspection": ("inspected", "inspection"),
    "screened": ("screened", "screening"),
    "shortlisted": ("shortlisted", "shortlisting"),
    "shortlist": ("shortlisted", "shortlisting"),
    "invited": ("invited", "invitation"),
    "invited to interview": ("invited to interview", "invitation"),
    "placed": ("placed", "placement"),
    "appointed": ("appointed", "appointment"),
    "admitted": ("admitted", "admission"),
    "promoted": ("promoted", "promotion"),
    "called back": ("called back", "callback"),
    "callback": ("called back", "callback"),
    "received callback": ("called back", "callback"),
    "recommended": ("recommended", "recommendation"),
    "assessed": ("assessed", "assessment"),
    "eingestellt": ("hired", "hiring"),
    "einstellung": ("hired", "hiring"),
    "eingeladen": ("invited", "invitation"),
    "vorstellungsgespräch": ("interviewed", "interview"),
    "entretien": ("interviewed", "interview"),
    "embauché": ("hired", "hiring"),
    "recruté": ("hired", "hiring"),
    "entrevista": ("interviewed", "interview"),
    "entrevistado": ("interviewed", "interview"),
    "contratado": ("hired", "hiring"),
    "tested": ("tested", "test"),
}
"""Name of a step -> what happened to people there, and the name of their rate."""

OUTCOMES = {
    "retained": ("retained", "retention"),
    "promoted": ("promoted", "promotion"),
    "admitted": ("admitted", "admission"),
    "awarded": ("funded", "award"),
}
"""Verbs for the good outcome in files that aren't about hiring (`reading.verb`)."""

ALL_TOGETHER = "all constraints together"


@dataclass(frozen=True)
class Phrases:
    """The names of one report."""

    attributes: Mapping[str, tuple[str, Sequence[str]]] = field(default_factory=dict)
    """Attribute -> its kind (sex, race, crossing, ...) and its groups."""
    steps: Sequence[str] = ()
    noun: str = "applicants"
    """What to call the people in the file."""
    verb: str = "selected"
    """What the last step did to them, one of `OUTCOMES`, or `selected` if the step's own name says it."""

    @classmethod
    def of(
        cls,
        attributes: Iterable[AttributeModel],
        steps: Sequence[str],
        noun: str = "applicants",
        verb: str = "selected",
    ) -> Phrases:
        """From `attributes`, `steps` and `reading` of a report."""
        return cls({a.name: (a.kind, a.groups) for a in attributes}, tuple(steps), noun, verb)

    def _verb(self, step: str) -> tuple[str, str] | None:
        """What a step did to people, and the name of its rate; None if the step's name isn't a verb, or negates one:
        "were not rejected less often" would read as its opposite."""
        if self.verb in OUTCOMES and self.steps and step == self.steps[-1]:
            return OUTCOMES[self.verb]
        return VERBS.get(step.strip().lower().replace("_", " "))

    # Steps

    def outcome(self, name: str) -> str:
        """What happened to the people that policies count as inspected or selected, in the data's words."""
        step = self.step(name)
        verb = self._verb(step)
        return f"at “{step}”" if verb is None else verb[0]

    def rate(self, name: str, plural: str = "") -> str:
        """ "hiring rate"; "rate at “Offer”" for a step that isn't a verb."""
        verb = self._verb(self.step(name))
        return f"rate{plural} at “{self.step(name)}”" if verb is None else f"{verb[1]} rate{plural}"

    @property
    def inspection(self) -> str:
        """One look at a candidate: "interview", or "inspection" where the data have no word for it."""
        return (self._verb(self.step("inspected")) or VERBS["inspected"])[1]

    def were(self, step: str, singular: bool = False) -> str:
        """ "were interviewed", or "reached “Phone screen”"."""
        verb = self._verb(step)
        return f"reached “{step}”" if verb is None else f"{'was' if singular else 'were'} {verb[0]}"

    def reached(self, step: str) -> str:
        """As an adjective: "interviewed", or "who reached “Phone screen”"."""
        verb = self._verb(step)
        return f"who reached “{step}”" if verb is None else verb[0]

    def decision(self, step: str) -> str:
        """The decision that leads to a step: "deciding who was interviewed"."""
        place = list(self.steps).index(step) if step in self.steps else 0
        verb = self._verb(step)
        then = f"went on to “{step}”" if verb is None else f"{'was' if not place else 'were'} {verb[0]}"
        if not place:
            return f"deciding who {then}"
        return f"deciding which of {self.before(step)} {then}"

    def would(self, step: str) -> str:
        """ "would have been interviewed", or "would have reached “Phone screen”"."""
        verb = self._verb(step)
        return f"would have reached “{step}”" if verb is None else f"would have been {verb[0]}"

    def before(self, step: str) -> str:
        """The people that a step chooses from: "those interviewed"."""
        place = list(self.steps).index(step) if step in self.steps else 0
        return f"those {self.reached(self.steps[place - 1])}" if place else f"all {self.noun}"

    def step(self, name: str) -> str:
        """The step that a policy's outcome is: the first is the inspection, the last the selection.

        Where everyone took the first test, the first step is to have passed it; the inspection is the test.
        """
        if name in ("selected", "selection") and self.steps:
            return self.steps[-1]
        if name in ("inspected", "inspection") and len(self.steps) > 1:
            return self.steps[0].removesuffix(PASSED)
        return name

    # People

    def people(self, attribute: str | None, group: str) -> str:
        """ "women", "Black applicants", "Asian women", "applicants aged 40-49", "applicants with Veteran “yes”"."""
        names, parts = str(attribute).split("+"), group.split("+")
        if self.attributes.get(str(attribute), ("",))[0] != "crossing" and len(names) == 1:
            return "".join(self._described(attribute, group))
        if len(parts) != len(names):
            return f"{group} {self.noun}"
        before, nouns, after = zip(*(self._described(name, part) for name, part in zip(names, parts)))
        noun = next((word for word in nouns if word != self.noun), self.noun)
        return "".join([*before, noun, *after])

    def _described(self, attribute: str | None, group: str) -> tuple[str, str, str]:
        """The words before the noun for the people of a group, the noun, and the words after it."""
        kind, groups = self.attributes.get(str(attribute), ("", ()))
        if kind == "sex" and (sex := self._sex(str(attribute), group)):
            return "", {"female": "women", "male": "men"}[sex], ""
        if kind == "race" and _several(group):
            return "", self.noun, " of two or more races"
        if kind in ("sex", "race") and any(vocabulary().mark(name) is None for name in groups):
            return f"{group} ", self.noun, ""
        if kind == "age":
            return "", self.noun, f" {'aged ' if group.strip()[:1].isdigit() else ''}{group}"
        return "", self.noun, f" with {attribute} “{group}”" if attribute else f" of {group}"

    def _sex(self, attribute: str, group: str) -> str | None:
        """Beside `H` (hombre), `M` is mujer."""
        beside = {name.strip().lower() for name in self.attributes[attribute][1]}
        if "h" in beside and group.strip().lower() == "m":
            return "female"
        return vocabulary().sex(group)

    def group(self, name: str) -> str:
        """The people of a group whose attribute isn't given, if only one attribute has that group."""
        homes = [attribute for attribute, (_, groups) in self.attributes.items() if name in groups]
        return self.people(homes[0], name) if len(homes) == 1 else name

    # Constraints, which describe themselves in these words (`auditkit.constraints.words`)

    def constraint(self, entry: ConstrainedModel) -> str:
        """What a constraint of the report asks for, as it reads after "under"."""
        phrase = ALL_TOGETHER if entry.label == TOGETHER else entry.phrase or entry.label
        return f"{phrase} (only if no one is {self.outcome('selected')})" if entry.selects_nobody else phrase

    def done(self, on: str) -> str:
        """After "those": "hired", or "who reached “Offer”"."""
        return self.reached(self.step(on))

    def member(self, by: str | None, group: str) -> str:
        """The people of a group; without `by`, the attribute is the only one that has the group."""
        return self.people(by, group) if by else self.group(group)

    def whom(self, by: str | None, groups: Sequence[str] | None) -> str:
        """Whose rates are compared: "for women and men", "by Ethnicity", "by every attribute"."""
        homes = [name for name, (kind, _) in self.attributes.items() if kind != "crossing"]
        by = by or (homes[0] if len(homes) == 1 else None)
        kind, known = self.attributes.get(str(by), ("", ()))
        said = [self.people(by, group) for group in groups or known]
        if kind == "sex" and sorted(said) == ["men", "women"]:
            return "for women and men"
        if groups:
            return f"for {listing(said)}"
        return "by every attribute" if by is None else f"by {_joined(by)}"

    def row(self, label: str, meaning: Meaning | None) -> str:
        """One row of a constraint: "Women hired at no less than 0.8 times men’s rate"."""
        said = None if meaning is None else self._row(meaning)
        return label if said is None else said[:1].upper() + said[1:]

    def _row(self, asked: Meaning) -> str | None:
        if isinstance(asked, Other):
            return asked.text
        done = self.done(asked.on)
        own = "" if asked.group is None else self.member(asked.by, asked.group)
        where = "" if asked.within is None else f" in {spaced(asked.within)} {asked.value}"
        match asked:
            case RatioAtLeast():
                other = self.member(asked.by, asked.against)
                rate = f"{other}’s rate" if other in ("women", "men") else f"the rate of {other}"
                return f"{own} {done} at no less than {plain(asked.minimum)} times {rate}{where}"
            case RateGap():
                what = "numbers" if asked.basis == "count" else "rates"
                how = f"{what} within the tolerance" if asked.maximum else f"equal {what}"
                both = listing([own, self.member(asked.by, asked.against)])
                return f"{both} {done} {'in' if asked.basis == 'count' else 'at'} {how}{where}"
            case ShareAtLeast():
                return f"{own} at least {percent(asked.minimum)} of those {done}{where}"
            case AmountAtMost():
                return f"at most {plain(asked.maximum)} spent on those {done}{own and f' for {own}'}{where}"


def _several(group: str) -> bool:
    """Whether it's the census name for people of several races, which can't go before a noun."""
    return " ".join(group.lower().split()) in ("two or more", "two or more races", "2 or more races")


def _joined(by: str | None) -> str:
    return str(by).replace("+", " and ")
