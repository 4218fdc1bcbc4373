"""The documentation as a site: `sphinx-build -W docs site`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
OUTSIDE = {"README.md": "index.md", "ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md"}
"""Files at the top of the repository, and the pages that stand for them on the site."""

project = "autofix"
copyright = "autofix contributors"  # noqa: A001  its name in Sphinx
FOUND = re.search(r'__version__ = "(.+?)"', (HERE.parent / "autofix" / "__init__.py").read_text("utf-8"))
version = FOUND[1] if FOUND is not None else ""
extensions = ["myst_parser"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"autofix {version}"
html_show_sphinx = False
html_copy_source = False
exclude_patterns = ["_build", "site"]
suppress_warnings = ["misc.highlighting_failure"]  # excerpts of sessions and of broken code are not whole programs


def inward(_app: Sphinx, name: str, source: list[str]) -> None:
    """Lead links out of this folder, which are right in the repository, to pages of the site; drop the others."""
    up = "../" * name.count("/")
    for outer, page in OUTSIDE.items():
        source[0] = source[0].replace(f"]({up}../{outer}", f"]({up}{page}")
    if name == "rules/README":  # written from the rules: it lists their pages in a table
        source[0] += "\n```{toctree}\n:glob:\n:hidden:\n\nAG*\n```\n"
    source[0] = re.sub(rf"\[([^\]]*)\]\({re.escape(up)}\.\./(?!\.)[^)]*\)", r"\1", source[0])


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    app.connect("source-read", inward)
