"""Small groups are not shown, and neither is whatever would give them away."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from auditkit.disparity.single import Disparity, Group, Status


def hidden(
    applicants: Mapping[str, int],
    threshold: int = 5,
    *,
    last: str | None = None,
    lines: Iterable[Collection[str]] | None = None,
) -> frozenset[str]:
    """Groups not to be shown: the small ones, and as many more as keep them from being had by subtraction.

    In every line of groups whose total is known (default: all of them), what is hidden is at least two groups and
    `threshold` persons together, as far as the line has them. `last` is hidden only when no other group is left.
    """
    out = {group for group, n in applicants.items() if 0 < n < threshold}
    sums = [list(line) for line in lines] if lines is not None else [list(applicants)]
    changed = bool(out)
    while changed:
        changed = False
        for line in sums:
            inside = [group for group in line if group in out]
            rest = sorted((g == last, applicants[g], g) for g in line if g not in out and applicants[g])
            if inside and rest and (len(inside) < 2 or sum(applicants[g] for g in inside) < threshold):
                out.add(rest[0][2])
                changed = True
    return frozenset(out)


def suppress(disparity: Disparity, threshold: int = 5) -> Disparity:
    """The same table without small groups; without comparisons when the reference is among them."""
    applicants = {row.group: row.applicants for row in disparity.groups if row.applicants is not None}
    out = hidden(applicants, threshold, last=disparity.reference)
    blind = disparity.reference in out
    rows = []
    for row in disparity.groups:
        if row.group in out:
            rows.append(_blank(row, threshold))
        elif blind:
            rows.append(
                replace(
                    row,
                    impact_ratio=None,
                    comparison=None,
                    measures={},
                    flags=(),
                    reason=f"{row.status.text}; the reference is not shown",
                )
            )
        else:
            rows.append(row)
    return replace(disparity, groups=tuple(rows))


def shown(applicants: int, threshold: int) -> str:
    """What stands in place of the number of a hidden group."""
    return f"<{threshold}" if applicants < threshold else "not shown"


def _blank(row: Group, threshold: int) -> Group:
    return replace(
        row,
        applicants=None,
        shown=shown(row.applicants or 0, threshold),
        selected=None,
        rate=None,
        share=None,
        impact_ratio=None,
        status=Status.SUPPRESSED,
        reason=Status.SUPPRESSED.text,
        flags=(),
        comparison=None,
        measures={},
    )
