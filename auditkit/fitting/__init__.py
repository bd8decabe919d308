"""From a table of past candidates to priors, an `Instance`, and how well they fit.

the way through             fit.py, and what it returns: fitted.py
what a fitter is            fitter.py (the fitters that ship are plugins)
who learns from whom        folds.py
strata and shrinkage        partition.py, strata.py;  regressions: design.py
positions and costs         terms.py
candidates                  boxes.py, or stages.py for searches in stages
who was inspected at all    selection.py
how well it fits            quality.py
what became of the hired    long_term.py
"""
