"""Run the notebooks and store what they print: python docs/run_notebooks.py"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).resolve().parent / "notebooks").glob("*.ipynb"))


def run(path: Path) -> Any:
    """The notebook with its outputs, run in an empty folder."""
    notebook = nbformat.read(path, as_version=4)
    path_of_commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # for !auditkit
    environment = {**os.environ, "PATH": path_of_commands, "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        options = {"resources": resources, "record_timing": False, "coalesce_streams": True}  # chunks vary by chance
        client = NotebookClient(notebook, timeout=600, **options)
        client.execute(env=environment)
    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        if "text/html" in output.get("data", {}):
            output["data"].pop("text/plain", None)  # the same again, and longer
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}  # no version
    return notebook


if __name__ == "__main__":
    for path in NOTEBOOKS:
        nbformat.write(run(path), path)
        print(f"ran {path.name}")
