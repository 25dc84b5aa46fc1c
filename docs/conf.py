"""Sphinx: `sphinx-build -W docs site`. Pictures are drawn by this project's extension, the reference from its tables."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from reference import PAGES
from sphinx.application import Sphinx

from cute_viz import __version__

project = "cute-viz"
author = "cute-viz maintainers"
release = version = __version__
extensions = ["myst_parser", "cute_viz.ext.sphinx"]
myst_heading_anchors = 3
myst_enable_extensions = ["deflist", "attrs_inline"]
html_theme = "furo"
html_title = "cute-viz"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
CARDS = ("tv_8x128", "mma_tiled_221_thread_5", "atlas_copy_sm75_ldmatrix_x4", "smem_128x64_sw333", "divide_2d")
CARDS += ("blackwell_gemm", "ampere_gemm")
html_static_path = ["_static", *(f"../gallery/{name}.svg" for name in CARDS)]  # of the landing page
html_css_files = ["site.css"]
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}
highlight_language = "none"
suppress_warnings = ["myst.xref_missing"]  # SCHEMA.md and LIBRARY.md link to files of the repository


def _generate(app: Sphinx, docname: str, source: list[str]) -> None:
    """A page of `reference/` is what its tables give; its file is a stub."""
    if docname in PAGES:
        source[0] = PAGES[docname]()


def _head(app: Sphinx, pagename: str, templatename: str, context: dict[str, object], doctree: object) -> None:
    """What a link to a page shows where it is shared."""
    about = "See what your CuTe layouts do: who owns each element, which banks conflict, and how to fix it."
    tags = {"og:title": f"{context.get('title', project)} - cute-viz", "og:description": about, "og:type": "website"}
    lines = "".join(f'<meta property="{name}" content="{value}">' for name, value in tags.items())
    context["metatags"] = f'{context.get("metatags", "")}{lines}<meta name="description" content="{about}">'


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    app.connect("source-read", _generate)
    app.connect("html-page-context", _head)
