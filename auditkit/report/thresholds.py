"""Lines that the figures of an audit must not cross: `[thresholds]` in audit.toml, `--fail-on` on the command line.

A threshold is `MEASURE.BOUND = number`:

    MEASURE   impact_ratio                            every group of every attribute against the reference, of all
                                                      applicants, at the last step: the selection
              impact_ratio.inspected                  the same at the first step, where there are several
              impact_ratio.NAME                       the same at this step, or at the last step for this attribute or
                                                      crossing only; ATTRIBUTE.STEP for one attribute at one step
              price_of_fairness.loss, .ratio          every constraint; utility lost, share of the utility kept
              unfilled_capacity                       every policy; expected open positions as a share of all positions
              unfilled_capacity.firm, .constrained    the same of the firm only, of the best policies under constraints
              unfilled_capacity.positions             every policy; expected open positions, a number
              gap                                     every constraint; proven distance from the optimum
              problems                                problems found in the data
    BOUND     min, max                                the figure itself
              max_drop, max_rise                      its change since the previous run, in the figure's own unit

A figure *on* a line does not cross it. Numbers are compared as written, 0.8 is 4/5, and impact ratios are taken
from the counts as fractions: 64/100 against 80/100 is not below 4/5. A threshold for which the report has no
figure at all counts as crossed, because that line would go unwatched. Crossings of attributes are looked at only where
they are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from auditkit.errors import InputError, Problem, nearest
from auditkit.report.figures import CONSTRAINED, FIRM, REFERENCE, UNCONSTRAINED, Figures, GroupFigure, PolicyFigure
from auditkit.text import amount, percent, printable, ratio, scientific

IMPACT_RATIO = "impact_ratio"
BOUNDS = ("min", "max", "max_drop", "max_rise")
EQUAL = Fraction(1, 10**12)
"""Of a ratio that the report gives without counts: nearer than this to the line is on it."""


@dataclass(frozen=True)
class Threshold:
    """One line. `bound` is exactly the number that was written."""

    measure: str
    kind: str
    bound: Fraction

    @property
    def name(self) -> str:
        return f"{self.measure}.{self.kind}"

    @property
    def of_change(self) -> bool:
        return self.kind in ("max_drop", "max_rise")

    def __str__(self) -> str:
        return f"{self.name} = {_plain(self.bound)}"


@dataclass(frozen=True)
class MeasuredValue:
    """One figure that a threshold looks at; without a value, `words` say why."""

    subject: str
    value: Fraction | None
    words: str
    remark: str = ""
    counted: bool = True
    """The value is exact, or as exact as the report has it; otherwise it was rounded on the way."""


@dataclass(frozen=True)
class Crossing:
    """A threshold that was crossed, and by what; without a value, there was nothing to look at."""

    threshold: str
    subject: str
    value: float | None
    bound: float
    words: str

    @property
    def printable(self) -> Crossing:
        """With everything escaped that cannot be seen."""
        return replace(
            self, threshold=printable(self.threshold), subject=printable(self.subject), words=printable(self.words)
        )


@dataclass(frozen=True)
class Evaluation:
    """`notes` are about figures that could not be compared; they are no crossings, and no passes."""

    crossings: tuple[Crossing, ...]
    notes: tuple[str, ...]


# Reading the lines ----------------------------------------------------------------------------------------------------


def parse(table: Mapping[str, object], where: str = "thresholds") -> tuple[Threshold, ...]:
    """The thresholds of a (nested) table; every wrong key and number in one InputError."""
    found: list[Threshold] = []
    problems: list[Problem] = []
    for name, value in _leaves(table):
        try:
            found.append(_threshold(name, value, where))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return tuple(found)


def parse_options(texts: Iterable[str]) -> tuple[Threshold, ...]:
    """Those of `--fail-on NAME=NUMBER`, repeated or joined by commas; a single report has no previous run."""
    found: list[Threshold] = []
    problems: list[Problem] = []
    for text in (part.strip() for whole in texts for part in whole.split(",")):
        where = f"--fail-on {text!r}"
        name, equals, number = (part.strip() for part in text.partition("="))
        if not equals or not number:
            problems.append(Problem(where, "is not NAME=NUMBER", "for example impact_ratio.min=0.8"))
            continue
        try:
            threshold = _threshold(name, number, "--fail-on")
        except InputError as error:
            problems += error.problems
            continue
        if threshold.of_change:
            fix = "put it under [thresholds] in audit.toml, for auditkit run"
            problems.append(Problem(where, "compares with the previous run, and a report has none", fix))
        found.append(threshold)
    if problems:
        raise InputError(problems)
    return tuple(found)


def _leaves(table: Mapping[str, object], above: str = "") -> Iterable[tuple[str, object]]:
    for key, value in table.items():
        name = f"{above}.{key}" if above else str(key)
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, name)
        else:
            yield name, value


def _threshold(name: str, value: object, where: str) -> Threshold:
    measure, _, kind = name.rpartition(".")
    if not (measure in MEASURES or measure.startswith(f"{IMPACT_RATIO}.")) or kind not in BOUNDS:
        if name in MEASURES:
            what = f"{name!r} needs a bound"
            raise InputError(Problem(f"{where}.{name}", what, f"write {name}.min or one of {', '.join(BOUNDS)}"))
        known = [f"{m}.{b}" for m in MEASURES for b in BOUNDS]
        raise InputError(Problem(f"{where}.{name}", f"there is no threshold {name!r}", nearest(name, known)))
    bound = _number(value)
    if bound is None:
        raise InputError(Problem(f"{where}.{name}", f"{value!r} is not a number", "for example 0.8, or 4/5 in quotes"))
    if bound < 0 and kind in ("max_drop", "max_rise"):
        raise InputError(Problem(f"{where}.{name}", f"{value!r} is below 0", "a change is given by its size"))
    return Threshold(measure, kind, bound)


def _number(value: object) -> Fraction | None:
    """Exactly what was written: 0.8 is 4/5, not the binary number next to it."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError, OverflowError):
        return None


# Looking at the figures -----------------------------------------------------------------------------------------------


def evaluate(thresholds: Iterable[Threshold], now: Figures, before: Figures | None = None) -> Evaluation:
    """Which lines are crossed, in the order of the thresholds; `before` are the figures of the previous run."""
    crossings: list[Crossing] = []
    notes: list[str] = []
    for threshold in thresholds:
        readings = _readings(threshold.measure, now)
        if threshold.of_change and before is None:
            notes.append(f"{threshold.name}: there is no earlier run to compare with.")
            continue
        if not any(reading.value is not None for reading in readings):
            why = "; ".join(dict.fromkeys(f"{r.subject}: {r.words}" for r in readings[:3]))
            if not readings and threshold.measure.startswith(IMPACT_RATIO) and now.groups:
                why = f"steps: {', '.join(now.steps)}; attributes: {', '.join(now.attributes)}"
            words = f"{threshold} could not be evaluated: the report has no such figure{f' ({why})' if why else ''}."
            crossings.append(Crossing(threshold.name, "the report", None, float(threshold.bound), words))
            continue
        if threshold.of_change and before is not None:
            _changes(threshold, readings, _readings(threshold.measure, before), crossings, notes)
            continue
        for reading in readings:
            if reading.value is None:
                notes.append(f"{threshold.name}: {reading.subject}: {reading.words}.")
            elif _beyond(threshold, reading):
                crossings.append(_crossing(threshold, reading))
    return Evaluation(tuple(crossings), tuple(dict.fromkeys(notes)))


def _beyond(threshold: Threshold, reading: MeasuredValue) -> bool:
    assert reading.value is not None
    past = threshold.bound - reading.value if threshold.kind == "min" else reading.value - threshold.bound
    return past > (0 if reading.counted else EQUAL)


def _crossing(threshold: Threshold, reading: MeasuredValue) -> Crossing:
    assert reading.value is not None
    value, side = float(reading.value), "below" if threshold.kind == "min" else "above"
    written = _form(threshold.measure, value, float(threshold.bound))
    words = f"{reading.subject}: {written}{reading.words}, {side} the threshold {threshold}.{reading.remark}"
    return Crossing(threshold.name, reading.subject, value, float(threshold.bound), words)


def _changes(
    threshold: Threshold,
    now: list[MeasuredValue],
    before: list[MeasuredValue],
    crossings: list[Crossing],
    notes: list[str],
) -> None:
    earlier = {reading.subject: reading for reading in before}
    for reading in now:
        old = earlier.get(reading.subject)
        if reading.value is None or old is None or old.value is None:
            what = reading.words if reading.value is None else "there is no figure of the previous run to compare with"
            notes.append(f"{threshold.name}: {reading.subject}: {what}.")
            continue
        change = old.value - reading.value if threshold.kind == "max_drop" else reading.value - old.value
        if change - threshold.bound <= (0 if reading.counted and old.counted else EQUAL):
            continue
        verb = "fell" if threshold.kind == "max_drop" else "rose"
        first, last, size = (_form(threshold.measure, float(x)) for x in (old.value, reading.value, change))
        words = f"{reading.subject}: {verb} from {first} to {last}{reading.words} since the previous run, by {size}, "
        words += f"more than the threshold {threshold}.{reading.remark}"
        crossings.append(Crossing(threshold.name, reading.subject, float(change), float(threshold.bound), words))


# What there is to look at ---------------------------------------------------------------------------------------------


def _readings(measure: str, now: Figures) -> list[MeasuredValue]:
    return MEASURES[measure](now) if measure in MEASURES else _impact_ratios(now, measure)


def place(now: Figures, measure: str) -> tuple[str | None, str] | None:
    """The attribute (None: all but the crossings) and the step whose impact ratios a measure is about."""
    if not now.groups or not measure.startswith(IMPACT_RATIO):
        return None
    last = now.steps[-1]
    steps = {"selected": last} | ({"inspected": now.steps[0]} if len(now.steps) > 1 else {})
    steps |= {step: step for step in now.steps}
    places: dict[str, tuple[str | None, str]] = {}
    for attribute in now.attributes:
        places |= {f".{attribute}.{name}": (attribute, step) for name, step in steps.items()}
        places[f".{attribute}"] = attribute, last
    places |= {f".{name}": (None, step) for name, step in steps.items()} | {"": (None, last)}
    return places.get(measure.removeprefix(IMPACT_RATIO))


def _impact_ratios(now: Figures, measure: str) -> list[MeasuredValue]:
    found = place(now, measure)
    if found is None:
        return []
    attribute, step = found
    rows = [row for row in now.groups if row.step == step and row.status != REFERENCE]
    return [
        _impact_ratio(row) for row in rows if (not row.crossing if attribute is None else row.attribute == attribute)
    ]


def ratio_subject(row: GroupFigure) -> str:
    """What the crossing of a threshold calls an impact ratio."""
    against = f" against {row.reference}" if row.reference is not None else ""
    return f"Impact ratio at “{row.step}”, {row.attribute}: {row.group}{against}"


def _impact_ratio(row: GroupFigure) -> MeasuredValue:
    subject, value = ratio_subject(row), row.exact
    if value is not None:
        words = f" ({row.selected} of {row.applicants} against {row.reference_selected} of {row.reference_applicants})"
        return MeasuredValue(subject, value, words, EVIDENCE.get(row.status or "", ""))
    if row.impact_ratio is not None:
        return MeasuredValue(
            subject, _fraction(row.impact_ratio), "", EVIDENCE.get(row.status or "", ""), counted=False
        )
    return MeasuredValue(subject, None, MISSING.get(row.status or "", "the report gives no ratio"))


_FOUND = " The report finds a difference larger than chance usually makes."
_NOT_FOUND = " The report finds too little evidence to tell this ratio from chance."
EVIDENCE = {
    "difference_below_line": _FOUND,
    "difference_not_below_line": _FOUND,
    "below_line_evidence_not_sufficient": _NOT_FOUND,
    "too_little_evidence": _NOT_FOUND,
}
MISSING = {"excluded": "not compared, because it has too few applicants"}


def _prices(now: Figures, key: str) -> list[MeasuredValue]:
    name = {"loss": "Utility lost to", "ratio": "Share of the utility kept under"}[key]
    return [_of_policy(f"{name} {_under(p)}", getattr(p, key), p) for p in now.constraints]


def _gaps(now: Figures) -> list[MeasuredValue]:
    return [_of_policy(f"Gap of the optimum under {_under(p)}", p.gap, p) for p in now.constraints]


def _unfilled(now: Figures, *kinds: str, share: bool = True) -> list[MeasuredValue]:
    found = []
    for policy in now.policies:
        if kinds and policy.kind not in kinds:
            continue
        value = policy.unfilled
        if share and value is not None:
            value = value / now.capacity if now.capacity else None
        what = "Share of the positions left open" if share else "Positions left open"
        names = {FIRM: "by the firm", UNCONSTRAINED: "by the best policy without constraints"}
        found.append(_of_policy(f"{what} {names.get(policy.kind, f'under {_under(policy)}')}", value, policy))
    return found


def _problems(now: Figures) -> list[MeasuredValue]:
    return [] if now.problems is None else [MeasuredValue("Problems in the data", Fraction(now.problems), "")]


def _under(policy: PolicyFigure) -> str:
    return "all constraints together" if policy.label == "all together" else policy.label


def _of_policy(subject: str, value: float | None, policy: PolicyFigure) -> MeasuredValue:
    if value is None:
        why = "the constraint cannot be met" if policy.status == "infeasible" else "the report gives no figure"
        return MeasuredValue(subject, None, why)
    return MeasuredValue(subject, _fraction(value), "")


MEASURES: dict[str, Callable[[Figures], list[MeasuredValue]]] = {
    IMPACT_RATIO: lambda now: _impact_ratios(now, IMPACT_RATIO),
    f"{IMPACT_RATIO}.selected": lambda now: _impact_ratios(now, f"{IMPACT_RATIO}.selected"),
    f"{IMPACT_RATIO}.inspected": lambda now: _impact_ratios(now, f"{IMPACT_RATIO}.inspected"),
    "price_of_fairness.loss": lambda now: _prices(now, "loss"),
    "price_of_fairness.ratio": lambda now: _prices(now, "ratio"),
    "unfilled_capacity": _unfilled,
    "unfilled_capacity.firm": lambda now: _unfilled(now, FIRM),
    "unfilled_capacity.constrained": lambda now: _unfilled(now, CONSTRAINED),
    "unfilled_capacity.positions": lambda now: _unfilled(now, share=False),
    "gap": _gaps,
    "problems": _problems,
}


def _fraction(value: float) -> Fraction:
    """A figure of the report as it is written there."""
    return Fraction(str(value))


def _form(measure: str, value: float, line: float | None = None) -> str:
    if measure.startswith(IMPACT_RATIO):
        return ratio(value, line)
    if measure in (
        "price_of_fairness.ratio",
        "unfilled_capacity",
        "unfilled_capacity.firm",
        "unfilled_capacity.constrained",
    ):
        return percent(value, 2)
    text = scientific(value) if measure == "gap" else amount(value)
    return text if line is None or text != (scientific(line) if measure == "gap" else amount(line)) else _plain(value)


def _plain(x: Fraction | float) -> str:
    """As in audit.toml and on the command line, where a number has no separators."""
    return repr(int(x)) if x == int(x) else repr(float(x))
