"""Scheduled audits: `settings` says what to audit, `run` does it once, `schedule` has the system repeat it.

`figures` are the numbers kept from a report, `thresholds` the lines that they may cross, `run_history` the database
that keeps them, `artefacts` the dated folders of reports. Nothing here stays running.
"""
