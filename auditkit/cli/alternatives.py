"""`auditkit alternatives`: look for rules that treat everyone alike and have less adverse impact."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from auditkit.cli.options import DONE, Request, json_option, load_plugins, quiet_option, takes_settings, working
from auditkit.text import amount, brief, expected, listing, number, percent, printable

if TYPE_CHECKING:
    from auditkit.rules.find import Alternative, Alternatives, RuleResult


@click.command()
@takes_settings("fit")
@click.option("--by", "attributes", multiple=True, metavar="ATTRIBUTE", help="ask about this attribute (repeatable)")
@click.option("--on", default="selection", metavar="STEP", help="selection (the default), inspection, or a stage")
@json_option
@quiet_option
def alternatives(request: Request, attributes: tuple[str, ...], on: str, as_json: bool, quiet: bool) -> int:
    """Find rules that never look at the group and bring rates closer together, and what they cost.

    For each attribute with a difference, it prints the most that any such rule can earn at a ratio, with a
    certificate; the best simple rule of each kind; and whether its gain was confirmed on requisitions other than those
    it was chosen on.
    """
    with working("starting", quiet) as say:
        from auditkit import pipeline

        found = pipeline.find_rules(request.data, request.config, load_plugins(), attributes or None, on, say)
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=1, ensure_ascii=False, allow_nan=False))
    else:
        _print(found)
    return DONE


def _print(found: Alternatives) -> None:
    for each in found.found:
        _print_one(each)
    for name, why in found.left_out.items():
        click.echo(printable(f"{name}: {why}"))
    using = listing([*found.information, "the score"])
    click.echo(
        printable(
            f"All of this holds under the fitted model, with this information: {using}. No rule looks at "
            "the group. Weights chosen for their effect on a group can be attacked as a proxy for it; rules are "
            "listed from the easiest to defend to the most exposed."
        )
    )


def _print_one(each: Alternative) -> None:
    from auditkit.cli.output import print_table

    at = f"{each.attribute}, {each.step}: {each.group} against {each.against}"
    firm = _ratio(each.firm.ratio)
    click.echo(printable(f"{at}; the firm's own rule has a ratio of {firm} in the model"))
    aware = {point.ratio: point.utility for point in each.aware}
    rows = [
        [
            "any" if point.ratio is None else number(point.ratio),
            *(amount(x) if x is not None else "out of reach" for x in (point.utility, point.bound)),
            amount(aware.get(point.ratio)),
        ]
        for point in each.blind
    ]
    headings = ["ratio of at least", "best without the group", "bound", "bound if the group could be used"]
    print_table(headings, rows, right=0)
    rules = [_row(rule) for rule in each.rules if rule.met]
    headings = [
        "ratio of at least",
        "rule",
        "utility",
        "ratio in the model",
        "for those who applied",
        "interviews",
        "gain elsewhere",
    ]
    print_table(headings, rules, right=2)
    for rule in each.rules:
        if rule.met:
            click.echo(printable(f"  {rule.name} at {number(rule.target)}: {rule.text}"))


def _ratio(ratio: float | None) -> str:
    return "-" if ratio is None else brief(ratio)


def _row(rule: RuleResult) -> list[str]:
    gain = "not judged"
    if rule.gain is not None:
        low, high = rule.gain.interval
        word = "found" if rule.gain.found else "not confirmed"
        gain = f"{percent(rule.gain.ratio - 1, 0)} ({percent(low - 1, 0)} to {percent(high - 1, 0)}), {word}"
    return [
        number(rule.target),
        rule.name,
        amount(rule.utility),
        _ratio(rule.ratio),
        _ratio(rule.people.ratio),
        expected(rule.interviews),
        gain,
    ]
