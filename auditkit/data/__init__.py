"""From a file to a clean `History`: `load` is the way in, `check` the same without raising.

`read_file` (bytes to text) -> `shapes` (one row per application or category) -> `hypothesis` (what the table says)
-> `clean` (cells to values, all problems) -> `firm_history`, with a `reading` that says how.
"""
