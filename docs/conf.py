"""Sphinx: `sphinx-build -W docs site`. Pictures are drawn by this project's extension, the reference from its tables."""

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from docutils import nodes
from reference import PAGES, page_of
from sphinx.application import Sphinx

from cute_viz import __version__, render, report
from cute_viz.cli import commands
from cute_viz.engine.kernel_picture import picture_of

project = "cute-viz"
author = copyright = "cute-viz maintainers"
release = version = __version__
extensions = ["myst_parser", "cute_viz.ext.sphinx"]
myst_heading_anchors = 3
myst_enable_extensions = ["deflist", "attrs_inline"]
html_theme = "furo"
html_title = "cute-viz"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
templates_path = ["_templates"]
_GLOSSARY = (Path(__file__).parent / "glossary.md").read_text()
TERMS = {  # each term of the glossary, longest first, and its anchor
    term.lower(): "term-" + re.sub(r"\W+", "-", term.lower())
    for term in sorted(re.findall(r"(?m)^(\S.*)\n: ", _GLOSSARY), key=len, reverse=True)
    if term != "Value"  # which also has its everyday meaning
}
CARDS = {  # the pictures of the landing page: a source and its options
    "tv": ("((4,8),(2,2)):((32,1),(16,8))", {"tile": "16x8", "crop": "4x8"}),
    "mma": ("SM80_16x8x16_F32F16F16F32_TN", {"operand": "C", "thread": "5", "crop": "4x8"}),
    "copy": ("ldmatrix.x4", {"operand": "D", "crop": "4x8"}),
    "swizzle": ("Sw<3,0,3> o 0 o (8,8):(8,1)", {"crop": "6x8"}),
    "divide": ("((2,2),(3,2)):((6,12),(1,3))", {"color_by": "tile"}),  # logical_divide((4,6):(6,1), (2,3))
    "bits": ("Sw<2,0,3>", {}),
}
html_css_files = ["site.css"]
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}
man_pages = [("index", "cute-viz", "see what CuTe layouts do", [author], 1)] + [
    (f"reference/{page_of(name)}", f"cute-viz-{name.replace(' ', '-')}", summary, [author], 1) for name, _, summary in commands()
]  # `sphinx-build -b man docs man`
highlight_language = "none"
smartquotes = False  # they would join the dashes of options
suppress_warnings = ["myst.xref_missing"]  # SCHEMA.md and LIBRARY.md link to files of the repository


def _generate(app: Sphinx, docname: str, source: list[str]) -> None:
    """A page of `reference/` is what its tables give; its file is a stub."""
    if docname in PAGES:
        source[0] = PAGES[docname]()


def _terms(app: Sphinx, doctree: nodes.document) -> None:
    """Link the first mention of each term of the glossary in the prose of a page."""
    page = app.env.docname
    if page == "glossary":
        for term in doctree.findall(nodes.term):
            term["ids"].append("term-" + re.sub(r"\W+", "-", term.astext().lower()))
    if page in ("glossary", "index") or page.startswith("reference/"):
        return
    left = dict(TERMS)
    for paragraph in list(doctree.findall(nodes.paragraph)):
        for text in [x for x in paragraph.findall(nodes.Text) if isinstance(x.parent, (nodes.paragraph, nodes.emphasis))]:
            terms = "|".join(left).replace(" ", r"\s+")
            found = re.search(rf"\b({terms})(?:s|es)?\b", str(text), re.IGNORECASE) if left else None
            if found:
                anchor = left.pop(" ".join(found[1].lower().split()))
                link = nodes.reference("", found[0], internal=True)
                link["refuri"] = app.builder.get_relative_uri(page, "glossary") + f"#{anchor}"
                link["classes"].append("cv-term")
                parts = (nodes.Text(str(text)[: found.start()]), link, nodes.Text(str(text)[found.end() :]))
                text.parent.replace(text, list(parts))


def _head(app: Sphinx, pagename: str, templatename: str, context: dict[str, object], doctree: object) -> str | None:
    """What a link to a page shows where it is shared; the first page has a template of its own."""
    about = "See what your CuTe layouts do: who owns each element, which banks conflict, and how to fix it."
    tags = {"og:title": f"{context.get('title', project)} - cute-viz", "og:description": about, "og:type": "website"}
    lines = "".join(f'<meta property="{name}" content="{value}">' for name, value in tags.items())
    context["metatags"] = f'{context.get("metatags", "")}{lines}<meta name="description" content="{about}">'
    return "landing.html" if pagename == "index" else None


def _cards(app: Sphinx, error: Exception | None) -> None:
    """Draw the pictures of the landing page: the cards, and a store before and after its fix."""
    for name, (source, options) in CARDS.items() if error is None and app.builder.format == "html" else ():
        render(source, Path(app.outdir) / "_static" / f"card_{name}.svg", bare=True, **options)
    if error is None and app.builder.format == "html":
        static = Path(app.outdir) / "_static"
        render("(4,4):(4,1)", static / "card_diff.svg", "(4,4):(1,4)", bare=True, diff=True)
        [row] = report(Path(__file__).parent / "store.cu").accesses
        hero = picture_of(row)
        hero.save(static / "hero.svg", bare=True)
        for name, panels in (("card_store", hero.panels[:1]), ("hero_fixed", hero.panels[1:])):
            replace(hero, panels=panels).save(static / f"{name}.svg", bare=True)


def _gallery(app: Sphinx, error: Exception | None) -> None:
    """Lay the gallery beside the pages, with its own index, search and filters."""
    if error is None and app.builder.format == "html":
        gallery = Path(__file__).parent.parent / "gallery"
        shutil.copytree(gallery, Path(app.outdir) / "gallery", dirs_exist_ok=True)


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    app.connect("source-read", _generate)
    app.connect("doctree-read", _terms)
    app.connect("html-page-context", _head)
    app.connect("build-finished", _cards)
    app.connect("build-finished", _gallery)
