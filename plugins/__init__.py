"""The shipped plugins, one small file each, registered the same way as third-party plugins.

This folder is the package `auditkit.plugins` (pyproject.toml maps it and lists its entry points).
"""
