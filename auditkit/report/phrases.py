"""How a report names steps, people and constraints: "women were interviewed", not "group Female, inspected".

The data's own words come first. A step whose name says what happened to people ("Interviewed", "Hire") becomes a verb;
any other is quoted ("reached “Phone screen”"). A constraint is named by what it asks for, from its SPEC, and its rows
by their labels. What is not recognised keeps the name that it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from auditkit.constraints import spec as specs
from auditkit.errors import InputError
from auditkit.text import listing, percent, plain, signs

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
"""Names of steps -> what happened to people, and what their rate is called."""

WOMEN = frozenset({"female", "f", "w", "woman", "women", "weiblich", "frau", "femme", "mujer", "mujeres", "femenino"})
MEN = frozenset({"male", "m", "man", "men", "männlich", "mann", "homme", "hombre", "hombres", "masculino"})

_PARITY = re.compile(r"(?P<on>.+?) parity (?P<g>.+) (?P<sign>[=-]) (?P<h>.+?)(?P<where> in .*)?$")
_RATIO = re.compile(r"(?P<on>.+?) impact ratio (?P<g>.+)/(?P<h>.+) >= (?P<x>[\d.e+-]+)(?P<where> in .*)?$")
_QUOTA = re.compile(r"(?P<on>.+?) quota (?P<g>.+) >= (?P<x>[\d.e+-]+)(?P<where> in .*)?$")
_BUDGET = re.compile(r"(?P<on>.+?) budget(?: (?P<g>.+))? <= (?P<x>[\d.e+-]+)$")

TOGETHER = "all together"


@dataclass(frozen=True)
class Phrases:
    """The names of one report."""

    attributes: Mapping[str, tuple[str, Sequence[str]]] = field(default_factory=dict)
    """Attribute -> its kind (sex, race, crossing, ...) and its groups."""
    steps: Sequence[str] = ()

    @classmethod
    def of(cls, attributes: Iterable[Mapping[str, Any]] | None, steps: Sequence[str] | None) -> Phrases:
        """From `attributes` and `steps` of a document."""
        found = {str(a["name"]): (str(a["kind"]), [str(g) for g in a["groups"] or ()]) for a in attributes or ()}
        return cls(found, tuple(str(step) for step in steps or ()))

    # Steps

    def outcome(self, name: str) -> str:
        """What happened to those whom the policies count as inspected or selected, in the words of the data."""
        step = self.step(name)
        verb = _verb(step)
        return f"at “{step}”" if verb is None else verb[0]

    def rate(self, name: str, plural: str = "") -> str:
        """ "hiring rate"; of a step that is no verb "rate at “Offer”"."""
        verb = _verb(self.step(name))
        return f"rate{plural} at “{self.step(name)}”" if verb is None else f"{verb[1]} rate{plural}"

    @property
    def inspection(self) -> str:
        """One look at a candidate: "interview", or "inspection" where the data have no word for it."""
        return (_verb(self.step("inspected")) or VERBS["inspected"])[1]

    def were(self, step: str, singular: bool = False) -> str:
        """ "were interviewed", or "reached “Phone screen”"."""
        verb = _verb(step)
        return f"reached “{step}”" if verb is None else f"{'was' if singular else 'were'} {verb[0]}"

    def reached(self, step: str) -> str:
        """As an adjective: "interviewed", or "who reached “Phone screen”"."""
        verb = _verb(step)
        return f"who reached “{step}”" if verb is None else verb[0]

    def would(self, step: str) -> str:
        """ "would have been interviewed", or "would have reached “Phone screen”"."""
        verb = _verb(step)
        return f"would have reached “{step}”" if verb is None else f"would have been {verb[0]}"

    def before(self, step: str) -> str:
        """Those of whom the next step is asked: "those interviewed"."""
        place = list(self.steps).index(step) if step in self.steps else 0
        return f"those {self.reached(self.steps[place - 1])}" if place else "all applicants"

    def step(self, name: str) -> str:
        """The step that a policy's outcome is: the first is the inspection, the last the selection."""
        if name in ("selected", "selection") and self.steps:
            return self.steps[-1]
        if name in ("inspected", "inspection") and len(self.steps) > 1:
            return self.steps[0]
        return name

    # People

    def people(self, attribute: str | None, group: str) -> str:
        """ "women", "Black applicants", "Asian women", or "applicants of Age band 40+"."""
        kind = self.attributes.get(str(attribute), ("", ()))[0]
        names = str(attribute).split("+")
        if kind == "crossing" or len(names) > 1:
            return self._crossed(names, group)
        word = group.strip().lower()
        if kind == "sex" and word in WOMEN | MEN:
            return "women" if word in WOMEN else "men"
        if kind in ("sex", "race"):
            return f"{group} applicants"
        return f"applicants of {attribute} {group}" if attribute else f"applicants of {group}"

    def _crossed(self, names: Sequence[str], group: str) -> str:
        parts = group.split("+")
        if len(parts) != len(names):
            return f"{group} applicants"
        said = [self.people(name, part) for name, part in zip(names, parts)]
        noun = next((word for word in said if word in ("women", "men")), "applicants")
        return " ".join([*(p for p, word in zip(parts, said) if word not in ("women", "men")), noun])

    def group(self, name: str) -> str:
        """The people of a group whose attribute is not said, if only one attribute has it."""
        homes = [attribute for attribute, (_, groups) in self.attributes.items() if name in groups]
        return self.people(homes[0], name) if len(homes) == 1 else name

    # Constraints

    def constraint(self, entry: Mapping[str, Any]) -> str:
        """What a constraint of the report asks for, as it reads after "under"."""
        label = entry["label"]
        if label is None:
            return "an unnamed constraint"
        if label == TOGETHER:
            return "all constraints together"
        (one, *more) = entry["specs"] or [None]
        return (one and not more and self.spec(str(one))) or str(label)

    def spec(self, text: str) -> str | None:
        """What one SPEC asks for; None where there are no words for it."""
        try:
            return self._spec(specs.parse(text))
        except (InputError, TypeError, ValueError):  # of a plugin, whose keys may be anything
            return None

    def _spec(self, keys: dict[str, Any]) -> str | None:
        kind, on, by = keys.pop("type"), str(keys.pop("on", "selection")), keys.pop("by", None)
        within = keys.pop("within", None)
        least = keys.pop("min_value", None)
        said = self._asked(kind, keys, on, by)
        if said is None:
            return None
        said += f" within each {within}" if within else ""
        return said + (f", counting scores from {plain(least)}" if isinstance(least, int | float) else "")

    def _asked(self, kind: str, keys: dict[str, Any], on: str, by: str | None) -> str | None:
        if kind == "parity" and not keys.keys() - {"basis", "groups", "tolerance"}:
            what = f"numbers {self.outcome(on)}" if keys.get("basis") == "count" else self.rate(on, "s")
            who = self._whom(by, keys.get("groups"))
            if tolerance := keys.get("tolerance"):
                return f"{what} {who} within {plain(float(tolerance))} of each other"
            return f"equal {what} {who}"
        if kind == "impact-ratio" and not keys.keys() - {"minimum", "reference"}:
            least = plain(float(keys.get("minimum", 0.8)))
            other = f"that of {self._member(by, str(keys['reference']))}" if keys.get("reference") else "another’s"
            of = f" by {_joined(by)}" if by else ""
            return f"no group’s {self.rate(on)}{of} below {least} times {other}"
        if kind == "quota" and keys.keys() == {"group", "share"}:
            share, who = percent(float(keys["share"])), self._member(by, str(keys["group"]))
            return f"at least {share} {who} among those {self.reached(self.step(on))}"
        return None

    def _whom(self, by: str | None, groups: Sequence[str] | None) -> str:
        homes = [name for name, (kind, _) in self.attributes.items() if kind != "crossing"]
        by = by or (homes[0] if len(homes) == 1 else None)
        kind, known = self.attributes.get(str(by), ("", ()))
        said = [self.people(by, str(group)) for group in groups or known]
        if kind == "sex" and sorted(said) == ["men", "women"]:
            return "for women and men"
        if groups:
            return f"for {listing(said)}"
        return "by every attribute" if by is None else f"by {_joined(by)}"

    def _member(self, by: str | None, group: str) -> str:
        return self.people(by, group) if by else self.group(group)

    def row(self, label: str) -> str:
        """One row of a constraint: "Women hired at no less than 0.8 times men’s rate"."""
        said = self._row(label)
        return signs(label) if said is None else said[:1].upper() + said[1:]

    def _row(self, label: str) -> str | None:
        if found := _RATIO.match(label):
            own, other = self.group(found["g"]), self.group(found["h"])
            rate = f"{other}’s rate" if other in ("women", "men") else f"the rate of {other}"
            return f"{own} {self._done(found['on'])} at no less than {found['x']} times {rate}{found['where'] or ''}"
        if found := _PARITY.match(label):
            both = listing([self.group(found["g"]), self.group(found["h"])])
            how = "equal rates" if found["sign"] == "=" else "rates within the tolerance"
            return f"{both} {self._done(found['on'])} at {how}{found['where'] or ''}"
        if found := _QUOTA.match(label):
            share = percent(float(found["x"]))
            return f"{self.group(found['g'])} at least {share} of those {self._done(found['on'])}{found['where'] or ''}"
        if found := _BUDGET.match(label):
            who = f" for {self.group(found['g'])}" if found["g"] else ""
            return f"at most {found['x']} spent on those {self._done(found['on'])}{who}"
        return None

    def _done(self, on: str) -> str:
        return self.reached(self.step(on))

    def counts_people(self, label: str) -> bool:
        """Whether the slack of a row is a number of people and no share."""
        return _QUOTA.match(label) is not None


def _verb(step: str) -> tuple[str, str] | None:
    return VERBS.get(step.strip().lower().replace("_", " "))


def _joined(by: str | None) -> str:
    return str(by).replace("+", " and ")
