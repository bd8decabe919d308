"""How Sphinx builds these pages. They are Markdown that reads as well on GitHub; README.md is the first page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

project = "auditkit"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
root_doc = "README"
exclude_patterns = ["examples/**", "run_notebooks.py"]  # files to link to, not pages
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other libraries and private ones have no page to link to
default_role = "code"  # docstrings have Markdown's backticks
suppress_warnings = ["misc.highlighting_failure"]  # templates are HTML only nearly

myst_heading_anchors = 3  # the anchors that GitHub gives headings; a link to one that is not there is an error

nb_execution_mode = "off"  # what is stored is shown; tests/test_docs.py runs the notebooks
nb_ipywidgets_js: dict[str, Any] = {}  # pages load nothing from elsewhere

autodoc_default_options = {"members": True, "exclude-members": "model_config"}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
toc_object_entries = False

man_pages = [("cli", "auditkit", "measure disparity in hiring and price constraints on it", "", 1)]

html_theme = "alabaster"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_theme_options = {
    "description": "measure disparity, price constraints, exactly",
    "fixed_sidebar": True,
    "page_width": "1100px",
    "font_family": "system-ui, sans-serif",
}
html_title = "auditkit"
html_copy_source = False
html_show_sphinx = False


def elsewhere(app: Any, docname: str, source: list[str]) -> None:
    """Folders and pages of the repository that GitHub shows and the site has no page for: their names stay."""
    here = Path(app.srcdir)

    def name_of(link: re.Match[str]) -> str:
        target = (here / docname).parent.joinpath(link[2]).resolve()
        page = target.suffix == ".md" and target.exists() and not target.is_relative_to(here)
        return link[1] if page or target.is_dir() else link[0]

    source[0] = re.sub(r"\[([^\]\n]+)\]\(([^)#:\s]+)\)", name_of, source[0])


def table_of_contents(app: Any, docname: str, source: list[str]) -> None:
    """The first page lists all others: in the order in which it links to them, then any page it does not mention."""
    if docname != root_doc:
        return
    linked = re.findall(r"\]\(([\w-]+)\.md\)", source[0])
    others = sorted(path.stem for path in Path(app.srcdir).glob("*.md") if path.stem != root_doc)
    notebooks = sorted(f"notebooks/{path.stem}" for path in Path(app.srcdir, "notebooks").glob("*.ipynb"))
    pages = dict.fromkeys([*linked, *others, *notebooks])
    source[0] += "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"


def setup(app: Any) -> None:
    app.connect("source-read", elsewhere)
    app.connect("source-read", table_of_contents)
