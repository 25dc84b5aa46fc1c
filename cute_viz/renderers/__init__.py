"""Picture model -> bytes: the table of formats, each in a module of its own, imported when it is used.

A new format is one module with `render(figure, options)` and one row of FORMATS.
"""

from __future__ import annotations

from importlib import import_module

from cute_viz.errors import CuteVizError, FigureError
from cute_viz.figures.model import Figure
from cute_viz.records import dataclass
from cute_viz.renderers.palette import palette


@dataclass(frozen=True, slots=True)
class Options:
    """How to write a figure: what a renderer takes beside the figure itself.

    style: `default`, or `cutlass` for what CuTe's own printers write (text, tikz; svg of an MMA); refused elsewhere.
    palette: a name of `renderers.palette.PALETTES`, or None for the default.
    theme: `auto` (light and dark in one file where the format can), `light`, `dark`, or `print`, greys (of pages).
    fragment: only the picture, for inclusion in a document (tikz: no preamble; svg: no XML declaration).
    color: colour escapes for a terminal (text).
    width: px that the page may take; cell: px of a cell; without either the page is as large as its labels need, within
        reason. full: labels were asked for by name and are never left out.
    target: where the picture will appear, a name of `renderers.targets.TARGETS`. bare: the panels alone.
    letters: px of the labels of cells, in every picture the same; None for what fits. animate: whether it moves (svg).
    columns: letters that a line of a terminal holds (text); None for as many as there are. below: px of the target's height that
        are kept free.
    """

    style: str = "default"
    palette: str | None = None
    theme: str = "auto"
    fragment: bool = False
    color: bool = False
    width: float | None = None
    cell: float | None = None
    full: bool = False
    target: str | None = None
    bare: bool = False
    letters: float | None = None
    animate: bool = False
    columns: int | None = None
    below: float = 0.0


@dataclass(frozen=True, slots=True)
class Format:
    """One output format: its name, file suffixes, the module that writes it, and a line of help.

    pages: it draws a laid out page (`renderers.page`), and so can show very many cells as an image. cutlass: CuTe has a printer
    of this format, whose bytes `style` asks for. fragments: it can be written without what makes a document of it.
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    summary: str
    pages: bool = False
    cutlass: bool = False
    fragments: bool = False


FORMATS: dict[str, Format] = {
    f.name: f
    for f in (
        Format("text", (".txt",), "cute_viz.renderers.text", "a grid for the terminal, as CuTe's print_layout", cutlass=True),
        Format("svg", (".svg",), "cute_viz.renderers.svg", "a vector picture with real text, light and dark", True, True, True),
        Format("png", (".png",), "cute_viz.renderers.png", "pixels, two for each CSS pixel", True),
        Format("pdf", (".pdf",), "cute_viz.renderers.pdf", "a page with embedded fonts", True),
        Format("html", (".html", ".htm"), "cute_viz.renderers.html", "one file to explore: hover, click, search, tables", True),
        Format(
            "tikz",
            (".tex", ".tikz"),
            "cute_viz.renderers.tikz",
            "LaTeX for plain pdflatex; CuTe's style is what print_latex writes",
            pages=True,
            cutlass=True,
            fragments=True,
        ),
        Format("json", (".json",), "cute_viz.renderers.json_model", "the picture model, to be drawn again or read by programs"),
    )
}


def render(figure: Figure, format: str, options: Options | None = None) -> bytes:
    """The figure in one format, as bytes; text formats are UTF-8 with LF line ends."""
    row = format_named(format)
    options = options or Options()
    if options.style == "cutlass" and not row.cutlass:
        known = [other.name for other in FORMATS.values() if other.cutlass]
        raise FigureError(f"CuTe has no printer for {format}", hint=f"leave out `style=`, or one of {', '.join(known)}")
    if options.palette is not None:
        palette(options.palette)  # a wrong name is an error in every format, also where it has no colours
    if options.animate and format != "svg":
        raise FigureError("`animate=` applies to svg", hint="an HTML page of steps has a slider")
    out = import_module("cute_viz.renderers.moving" if options.animate else row.module).render(figure, options)
    return out if isinstance(out, bytes) else out.encode("utf-8", "replace")


def format_named(name: object) -> Format:
    """The format of a name. Raises: CuteVizError for a name of none."""
    if not isinstance(name, str) or name not in FORMATS:
        raise CuteVizError(f"there is no format {name!r}", hint=f"formats: {', '.join(FORMATS)}")
    return FORMATS[name]


def format_of_suffix(suffix: str) -> str | None:
    """The format that a file suffix stands for, or None."""
    return next((f.name for f in FORMATS.values() if suffix.lower() in f.suffixes), None)
