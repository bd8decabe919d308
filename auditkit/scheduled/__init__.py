"""Scheduled audits: `settings` says what to audit, `run` does it once, `schedule` has the system repeat it.

`figures` are what a report document is remembered by, `thresholds` the lines that they may cross, `history` where they
are kept, `artefacts` the dated folders of reports. Nothing here stays running.
"""
