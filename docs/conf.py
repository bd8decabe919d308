"""How Sphinx builds these pages. They are Markdown that reads as well on GitHub; README.md is the first page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

project = "auditkit"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
root_doc = "README"
exclude_patterns = ["examples/**", "run_notebooks.py", "draw_concepts.py"]  # files to link to, not pages
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other libraries and private ones have no page to link to
default_role = "code"  # docstrings have Markdown's backticks
suppress_warnings = ["misc.highlighting_failure"]  # templates are HTML only nearly

myst_heading_anchors = 3  # the anchors that GitHub gives headings; a link to one that is not there is an error

nb_execution_mode = "off"  # what is stored is shown; tests/test_docs.py runs the notebooks
nb_ipywidgets_js: dict[str, Any] = {}  # pages load nothing from elsewhere

autodoc_default_options = {"members": True, "exclude-members": "model_config"}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
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
html_show_copyright = False


def elsewhere(app: Any, docname: str, source: list[str]) -> None:
    """Folders and pages of the repository that GitHub shows and the site has no page for: their names stay."""
    here = Path(app.srcdir)

    def name_of(link: re.Match[str]) -> str:
        target = (here / docname).parent.joinpath(link[2]).resolve()
        page = target.suffix == ".md" and target.exists() and not target.is_relative_to(here)
        return link[1] if page or target.is_dir() else link[0]

    source[0] = re.sub(r"\[([^\]\n]+)\]\(([^)#:\s]+)\)", name_of, source[0])


def table_of_contents(app: Any, docname: str, source: list[str]) -> None:
    """The first page lists all others under its headings, in the order of its links; pages it misses come last."""
    if docname != root_doc:
        return
    listed: dict[str, list[str]] = {}
    seen: set[str] = set()
    for part in re.split(r"^## ", source[0], flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        linked = re.findall(r"\]\(([\w/-]+)\.(?:md|ipynb)\)", text)
        listed[title] = [page for page in linked if page not in seen]
        seen.update(linked)
    others = sorted(path.stem for path in Path(app.srcdir).glob("*.md") if path.stem != root_doc)
    if missed := [page for page in others if page not in seen]:
        listed["More"] = missed
    for title, pages in listed.items():
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(pages) + "\n```\n"


def setup(app: Any) -> None:
    app.connect("source-read", elsewhere)
    app.connect("source-read", table_of_contents)
