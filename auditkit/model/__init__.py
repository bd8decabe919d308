"""Instances of sequential search, their flat layout, and their files."""
