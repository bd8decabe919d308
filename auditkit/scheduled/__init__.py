"""Audits that run by themselves: `settings` says what, `run` does it once, `schedule` has the system do it again.

`figures` are what a report document is remembered by, `thresholds` the lines that they may cross, `history` where they
are kept, `artefacts` the dated folders of reports. Nothing here stays running.
"""
