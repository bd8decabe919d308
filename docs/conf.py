"""How Sphinx builds these pages. They are Markdown that reads as well on GitHub; README.md is the first page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

project = "auditkit"
extensions = ["myst_parser"]
root_doc = "README"
exclude_patterns = ["examples/**"]  # files to link to, not pages
nitpicky = True

myst_heading_anchors = 3  # the anchors that GitHub gives headings; a link to one that is not there is an error

html_theme = "alabaster"
html_theme_options = {
    "description": "measure disparity, price constraints, exactly",
    "fixed_sidebar": True,
    "page_width": "1100px",
    "font_family": "system-ui, sans-serif",
}
html_title = "auditkit"
html_copy_source = False
html_show_sphinx = False


def folders(app: Any, docname: str, source: list[str]) -> None:
    """Folders of the repository can be shown by GitHub, but a site has no page for them: their names stay."""

    def name_of(link: re.Match[str]) -> str:
        return link[1] if (Path(app.srcdir) / docname).parent.joinpath(link[2]).is_dir() else link[0]

    source[0] = re.sub(r"\[([^\]\n]+)\]\(([^)#:\s]+)\)", name_of, source[0])


def table_of_contents(app: Any, docname: str, source: list[str]) -> None:
    """The first page lists all others: in the order in which it links to them, then any page it does not mention."""
    if docname != root_doc:
        return
    linked = re.findall(r"\]\(([\w-]+)\.md\)", source[0])
    others = sorted(path.stem for path in Path(app.srcdir).glob("*.md") if path.stem != root_doc)
    pages = dict.fromkeys([*linked, *others])
    source[0] += "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"


def setup(app: Any) -> None:
    app.connect("source-read", folders)
    app.connect("source-read", table_of_contents)
