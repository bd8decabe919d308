"""Constraints for auditkit, one file each; `pyproject.toml` names them as plugins."""
