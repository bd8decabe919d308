"""What ships as plugins, one small file each, registered as a third party registers its own.

This folder is the package `auditkit.plugins` (pyproject.toml maps it and lists its entry points).
"""
