"""The paper's numerical study, figure by figure: `auditkit study NAME`.

Every instance is drawn from a seed, every policy is evaluated exactly; nothing about a policy is simulated.

| question | file |
| --- | --- |
| which instances | draw.py |
| one solved point | point.py |
| which points, and what is measured there | sweeps.py, ex_post.py, randomness.py, timing.py, two_stage.py |
| kept on disk, in parallel, resumed | store.py, run.py |
| means, standard errors | estimate.py |
| what the paper says, what was measured | parity.py, quota.py, budget.py, policies.py, chains.py; claims.py |
| charts and words | figure.py, page.py, report.py |
| names of studies | catalogue.py |
| the command | command.py |
"""
