"""Compile the solver's kernels once, before test workers start that would each compile them: `make kernels`.

Small problems of every sort go through the public functions; numba keeps what it compiles. A kernel that is missing
here is compiled by the first test that needs it. (No tests in here.)
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the package `support`

import auditkit
from auditkit.compare.expost import ExPost
from auditkit.compare.parts import Parts
from auditkit.constraints.binding import bind
from auditkit.model.documents import instance_from_document
from auditkit.solver import solve
from auditkit.solver.block_sums import BlockSums
from auditkit.solver.evaluate import Prepared
from auditkit.solver.policy import Policy
from support.audit_helpers import rows as table
from support.audit_helpers import save
from support.constraints import build
from support.instances import hidden_groups
from support.tiny import add_limits, box_instance, chain_instance

SPECS = (["parity:tolerance=0.2"], ["parity:tolerance=0.2", "floor:minimum=0"], ["quota:group=X,share=0.1"])


def compile_all(folder: Path) -> None:
    rng = np.random.default_rng(1)
    boxes, chains = box_instance(rng, searches=3, candidates=4), chain_instance(rng, searches=3, candidates=3)
    limited = add_limits(rng, box_instance(rng, searches=3, candidates=5))
    for document in (boxes, chains, limited, add_limits(rng, chains)):
        for specs in SPECS:
            auditkit.solve(instance_from_document(document), specs)
        auditkit.solve(instance_from_document(document), SPECS[-1], method="rdip")
        layout = instance_from_document(document).layout
        for rows in (bind([], layout), bind([build("parity"), build("floor:minimum=0.01")], layout)):
            problem, duals = BlockSums(layout, rows), (0.1,) * len(rows)
            for policy in (Policy.at(duals), Policy.towards(duals)):  # one level, and one that breaks ties
                problem.of_policy(policy)
    for document in (boxes, chains, limited, *(hidden_groups(1, as_chains) for as_chains in (False, True))):
        layout = instance_from_document(document).layout
        optimum = solve(instance_from_document(document), [build("parity")]).constrained
        assert optimum is not None
        ExPost(layout, optimum.rows, optimum.mixture, Parts.of(optimum.rows, layout)).slack(0)
        prepared, groups = Prepared.of(layout, layout.reward), np.zeros(len(layout.candidate_ids), dtype=np.int64)
        prepared.selection_law(0, groups, 1), prepared.inspection_law(0, groups, 1)
    auditkit.audit(save(folder / "people.csv", table()))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        compile_all(Path(folder))
