"""Sphinx: `sphinx-build -W docs site`. Pictures are drawn by this project's extension, the reference from its tables."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from reference import PAGES
from sphinx.application import Sphinx

from cute_viz import __version__

project = "cute-viz"
author = "the authors of cute-viz"
release = version = __version__
extensions = ["myst_parser", "cute_viz.ext.sphinx"]
myst_heading_anchors = 3
html_theme = "alabaster"
html_theme_options = {"description": "See CuTe layouts", "page_width": "1200px", "fixed_sidebar": True}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
highlight_language = "none"
suppress_warnings = ["myst.xref_missing"]  # SCHEMA.md and LIBRARY.md link to files of the repository


def _generate(app: Sphinx, docname: str, source: list[str]) -> None:
    """A page of `reference/` is what its tables give; its file is a stub."""
    if docname in PAGES:
        source[0] = PAGES[docname]()


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    app.connect("source-read", _generate)
