"""Jinja templates and style sheets of the report, and nothing else.

This folder is the package `auditkit.templates`: `PackageLoader("auditkit.templates", "")` finds them
in a working copy and in an installed wheel alike.
"""
