"""The paper's numerical study, figure by figure: `auditkit study NAME`.

Every instance is drawn from a seed, every policy is evaluated exactly; nothing about a policy is simulated.

| question | file |
| --- | --- |
| which instances | population.py |
| one solved point | point.py |
| which points, and what is measured there | sweeps.py, ex_post.py, randomness.py, timing.py, two_stage.py |
| kept on disk, in parallel, resumed | store.py, runner.py |
| means, standard errors | estimate.py |
| what the paper says, what was measured | parity_, quota_, budget_, policy_ and chain_figures.py; paper_claims.py |
| charts and words | figure.py, write_study.py, make_study.py |
| names of studies | catalogue.py |
| the command | command.py |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditkit import hookimpl
from auditkit.plugins.study.command import study

if TYPE_CHECKING:
    import click


@hookimpl
def auditkit_commands() -> list[click.Command]:
    return [study]
