"""Disparity between groups: every attribute at every step, with errors controlled across the whole page.

| question | file |
| --- | --- |
| two groups, the formulas | pair.py, hypergeometric.py |
| two groups over strata: the exact test, and whether strata agree | stratified.py |
| all groups of a table in one test | omnibus.py |
| requisitions and repeat applicants as clusters | design.py, scores.py |
| many tests, their adjusted p | stepdown.py, page_evidence.py |
| the differences that could have been shown | power.py |
| the applications as arrays | applicants.py |
| all tables of a page | cuts.py, disparity_tables.py |
| where a difference comes from | segments.py |
| a difference in one segment only | segment_search.py |
| ordered groups, such as bands of age | trend.py, trend_tests.py |
| scores by group, and whether they predict outcomes | score_differences.py, score_validity.py |
| results | results.py |
| measures of plugins | measure.py, measured.py |
"""
