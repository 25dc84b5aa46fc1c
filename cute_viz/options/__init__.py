"""Every option of a picture, once: what it means, what it holds, where it applies.

The command line's options, the fields of specs, the words of documents, the keywords of Python, the JSON schema and the reference
follow from this table; `views.py` says which picture uses which option.
"""

from __future__ import annotations

from cute_viz.errors import FigureError, did_you_mean
from cute_viz.options.views import COLOR_BY, LABELS, TILINGS, VIEWS
from cute_viz.records import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    holds: `choice` one of `choices`; `text`; `tile` MxN; `range` 5 or 0..3; `flag`; `count` an integer of 1 or more; `element` a
        type by name or width in bits; `object` an expression, or the object; `pixels` a number between least and most.
    level: `object` how the object is drawn; `panels` what becomes of the panels of the finished figure; `several` how figures go
        together; `page` how the figure is written.
    field: the name of the field of `figures.options.FigureOptions`, where it is another.
    command_line: an addition to the meaning that is true on the command line alone.
    """

    name: str
    holds: str
    meaning: str
    level: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    field: str = ""
    example: str = ""
    least: float = 0
    most: float = 0
    command_line: str = ""

    @property
    def metavar(self) -> str:
        """What stands for the value in a help text."""
        return self.example or {"tile": "MxN", "range": "N[..M]", "element": "TYPE", "object": "LAYOUT", "pixels": "PX"}.get(
            self.holds, "TEXT"
        )


TARGETS = ("screen", "readme", "column", "page", "slide", "terminal")  # `renderers.targets` has their measures
_VIEW_WORDS = " ".join(f"{name}: {view.meaning}." for name, view in VIEWS.items())

OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("view", "choice", f"How a layout is drawn. {_VIEW_WORDS}", "object", tuple(VIEWS)),
        Option("tile", "tile", "The tile that a thread-value layout covers, rows x columns. Implies the view 'tv'.", "object"),
        Option("color_by", "choice", "What the hue stands for; each view has its own default.", "object", COLOR_BY),
        Option("labels", "choice", "The text in a cell; full: never omitted for lack of room.", "object", LABELS, "auto"),
        Option("coords", "flag", "Show the nested coordinates of hierarchical modes on the rulers.", "object"),
        Option("title", "text", "A title instead of the one made from the layout.", "object"),
        Option("thread", "range", "Colour only these threads: 5, or 0..3.", "object"),
        Option("warp", "range", "Colour only these warps.", "object"),
        Option("value", "range", "Colour only these values of each thread.", "object"),
        Option(
            "follow",
            "range",
            "Follow this one thread through a GEMM, from memory to registers and back; html has a slider for several, 0..127.",
            "object",
            example="N",
        ),
        Option("operand", "text", "Show only these panels (MMA: A, B, C; copy: S, D).", "object", example="LETTERS"),
        Option(
            "type",
            "element",
            "The element type of shared memory, for the views banks and address: f16, 8 ...",
            "object",
            field="bits",
        ),
        Option("tensor", "object", "Draw what the highlighted thread holds of this tensor: the partition, spelled out.", "object"),
        Option(
            "by",
            "object",
            "Who accesses the tile, for the view access: a TiledCopy, a TiledMMA with operand, a TV layout; or ldmatrix.x4,"
            " st.64 ..., of which each lane has a row of the tile; or wgmma, tcgen05, tma.",
            "object",
            example="OBJECT",
        ),
        Option("coord", "text", "Where the tile of a TMA copy begins in the tensor: 96,0.", "object", example="I,J"),
        Option(
            "max_cells",
            "count",
            "Reject figures with more cells; in formats other than text and json, larger layouts become an image instead.",
            "object",
            example="N",
        ),
        Option("diff", "flag", "Compare two sources: mark the cells that differ.", "several"),
        Option("fold", "count", "Cut wide panels into bands of this many columns.", "panels", example="COLUMNS"),
        Option("crop", "tile", "Draw only the first rows x columns of each panel, and say so.", "panels"),
        Option(
            "style",
            "choice",
            "cutlass: the bytes of CuTe's own printers (text, tikz; svg for an MMA).",
            "page",
            ("default", "cutlass"),
            "default",
        ),
        Option(
            "palette",
            "text",
            "The name of the palette.",
            "page",
            example="NAME",
            command_line="See 'cute-viz list palettes'.",
        ),
        Option(
            "theme",
            "choice",
            "The theme of a page: light, dark, or auto for both where the format allows it. print: greys.",
            "page",
            ("auto", "light", "dark", "print"),
            "auto",
        ),
        Option("fragment", "flag", "TikZ for \\input, SVG for inlining: no preamble.", "page"),
        Option(
            "width",
            "pixels",
            "The width of the page in pixels; labels are omitted to fit, rulers and captions are not.",
            "page",
            least=200,
            most=20000,
        ),
        Option(
            "target",
            "choice",
            "Where the picture will appear: a README of 700 px, a column (3.3 in) or page (6.5 in) of a paper, a slide, a terminal."
            " Text is never smaller than 6 pt; what does not fit is summarised.",
            "page",
            TARGETS,
            "screen",
            command_line="For column, page and bare pictures the caption is written beside FILE; TeX is a fragment.",
        ),
        Option("bare", "flag", "Only the panels, without title, legend and notes.", "page"),
        Option(
            "cell", "pixels", "The size of a cell in pixels; what a cell shows depends on its size.", "page", least=0.01, most=400
        ),
    )
}


def known(name: str) -> Option:
    """The option of a name; also with - for _.

    Raises: FigureError for an unknown option, with those like it.

    >>> known("color-by").choices[:2]
    ('offset', 'mod8')
    >>> known("color_bye")
    Traceback (most recent call last):
    cute_viz.errors.FigureError: there is no option 'color_bye'
      hint: did you mean color_by?
    """
    word = name.replace("-", "_")
    if word in OPTIONS:
        return OPTIONS[word]
    near = "did you mean target?" if word == "for" else did_you_mean(word, OPTIONS, 1)  # --for of the command line
    raise FigureError(f"there is no option {name[:40]!r}", hint=near or f"one of {', '.join(OPTIONS)}")


def of_level(level: str) -> tuple[Option, ...]:
    """The options of a level.

    >>> [option.name for option in of_level("panels")]
    ['fold', 'crop']
    """
    return tuple(option for option in OPTIONS.values() if option.level == level)


def used_by(name: str) -> str:
    """The pictures that use an option, in words.

    >>> used_by("type"), used_by("operand")
    ('the views banks, address', "an MMA, a copy, a tensor's partition, a thread's way through a GEMM")
    """
    views = ", ".join(key for key, view in VIEWS.items() if name in view.uses)
    others = [view.meaning for view in TILINGS.values() if name in view.uses]
    return "; ".join(part for part in (f"the views {views}" if views else "", ", ".join(others)) if part)
