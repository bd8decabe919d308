"""From settings to constraints, and from constraints to the rows and measures of one instance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from auditkit.constraints import checks, spec
from auditkit.constraints.base import Constraint, Measure, Row, Rows, defect, unzip
from auditkit.constraints.words import PlainWords
from auditkit.errors import InputError, PluginError, Problem, blaming, nearest, validated
from auditkit.model.layout import Layout


def bind(constraints: Sequence[Constraint], layout: Layout) -> Rows:
    """Rows and measures of all constraints on one instance, every unknown name reported at once."""
    rows: list[tuple[Row, int]] = []
    measures: list[tuple[Measure, int]] = []
    problems: list[Problem] = []
    for i, constraint in enumerate(constraints):
        try:
            own, curved = _bound(constraint, layout)
            rows += [(row, i) for row in own]
            measures += [(measure, i) for measure in curved]
        except PluginError:
            raise
        except InputError as error:
            problems += [p.at(f"constraints[{i}] ({constraint.type})") for p in error.problems]
    if problems:
        raise InputError(problems)
    return Rows(*unzip(rows), tuple(constraints), *unzip(measures))


def _bound(constraint: Constraint, layout: Layout) -> tuple[Iterable[Row], Iterable[Measure]]:
    if (wrong := defect(type(constraint))) is not None:
        raise PluginError(constraint, wrong)
    by, within = (getattr(constraint, key, None) for key in ("by", "within"))
    for key, name in (("by", by), ("within", within)):
        if isinstance(name, str):
            layout.partition(name, key)  # refuses an attribute that no candidate has, even if a plugin doesn't check
    with blaming(constraint, f"binding the constraint {constraint.type!r}"):
        rows, measures = constraint.rows(layout), constraint.measures(layout)
    found = checks.checked_rows(constraint, rows, layout), checks.checked_measures(constraint, measures, layout)
    if isinstance(within, str):
        checks.check_within(constraint, layout.partition(within), layout, (*found[0], *found[1]))
    return found


def make(types: Mapping[str, type[Constraint]], keys: Mapping[str, object]) -> Constraint:
    """A constraint from its keys, including `type`; raises InputError that names every wrong key."""
    keys = dict(keys)
    name = keys.pop("type", None)
    if not isinstance(name, str):
        raise InputError(Problem("type", "a constraint needs a type", f"one of: {', '.join(sorted(types))}"))
    if name not in types:
        raise InputError(Problem("type", f"there is no constraint {name!r}", nearest(name, types)))
    chosen = types[name]
    with blaming(chosen, f"making the constraint {name!r}"):
        made = validated(chosen, keys, name)
        made.to_spec()  # otherwise keys that can't be written as a SPEC, or failing words, would surface in the report
        made.describe(PlainWords())
        return made


def make_constraints(
    types: Mapping[str, type[Constraint]], named: Iterable[tuple[str, str | Mapping[str, object]]]
) -> list[Constraint]:
    """Constraints from pairs of a place and a SPEC or a table of keys; every wrong one is reported with its place."""
    made: list[Constraint] = []
    problems: list[Problem] = []
    for place, stated in named:
        try:
            made.append(make(types, spec.parse(stated) if isinstance(stated, str) else stated))
        except InputError as error:
            problems += [problem.at(place) for problem in error.problems]
    if problems:
        raise InputError(problems)
    return made
