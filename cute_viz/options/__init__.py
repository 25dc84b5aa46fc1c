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

    short: its line of help; more: what only the reference adds.
    holds: `choice` one of `choices`; `text`; `tile` MxN; `range` 5 or 0..3; `flag`; `count` an integer of 1 or more; `element` a
        type by name or width in bits; `object` an expression, or the object; `pixels` a number between least and most.
    level: `object` how the object is drawn; `panels` what becomes of the panels of the finished figure; `several` how figures go
        together; `page` how the figure is written.
    field: the name of the field of `figures.options.FigureOptions`, where it is another.
    """

    name: str
    holds: str
    short: str
    level: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    field: str = ""
    example: str = ""
    least: float = 0
    most: float = 0
    more: str = ""

    @property
    def meaning(self) -> str:
        """What it means, whole, for the reference."""
        return f"{self.short}. {self.more}".rstrip()

    @property
    def metavar(self) -> str:
        """What stands for the value in a help text."""
        return self.example or {"tile": "MxN", "range": "N[..M]", "element": "TYPE", "object": "LAYOUT", "pixels": "PX"}.get(
            self.holds, "TEXT"
        )


TARGETS = ("screen", "readme", "column", "page", "slide", "terminal")  # `renderers.targets` has their measures
_VIEW_WORDS = " ".join(f"`{name}`: {view.meaning}." for name, view in VIEWS.items())

OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("view", "choice", "How a layout is drawn", "object", tuple(VIEWS), more=_VIEW_WORDS),
        Option("tile", "tile", "Tile of a thread-value layout; implies the view tv", "object"),
        Option(
            "color_by",
            "choice",
            "What the hue stands for",
            "object",
            COLOR_BY,
            example="KEY",
            more="Each view has its own default.",
        ),
        Option(
            "labels",
            "choice",
            "Cell text",
            "object",
            LABELS,
            "auto",
            example="TEXT",
            more="full: never omitted for lack of room.",
        ),
        Option("coords", "flag", "Show nested coordinates on the rulers", "object"),
        Option("title", "text", "Replace the default title", "object"),
        Option("thread", "range", "Color only these threads: 5 or 0..3", "object"),
        Option("warp", "range", "Color only these warps", "object"),
        Option("value", "range", "Color only these values of each thread", "object"),
        Option(
            "follow",
            "range",
            "Follow one thread through a GEMM",
            "object",
            example="N",
            more="From global memory to registers and back; 0..127 adds a slider in HTML.",
        ),
        Option("operand", "text", "Show only these panels: A, B, C (MMA); S, D (copy)", "object", example="LETTERS"),
        Option("type", "element", "Element type, for the views banks and address: f16, 8", "object", field="bits"),
        Option("tensor", "object", "Show what the highlighted thread holds of this tensor", "object"),
        Option(
            "by",
            "object",
            "Who accesses the tile (view access): ldmatrix.x4",
            "object",
            example="OBJECT",
            more="A TiledCopy, a TiledMMA with operand, a TV layout; ldmatrix.x4, st.64 ..., with a row of the tile per lane;"
            " or wgmma, tcgen05, tma, cp.async.128.",
        ),
        Option("cluster", "tile", "Of a zoom: CTAs that share TMA loads by multicast", "object"),
        Option(
            "schedule",
            "text",
            "Of a pipeline: tiles=8,load=3,compute=1",
            "object",
            example="NAME=N",
            more="Slots that a load, an MMA and the epilogue take; stages, tiles, consumers that take turns, work (output tiles).",
        ),
        Option("coord", "text", "Origin of a TMA tile in its tensor: 96,0", "object", example="I,J"),
        Option(
            "max_cells",
            "count",
            "Reject larger figures",
            "object",
            example="N",
            more="In formats other than text and json, larger layouts become an image instead.",
        ),
        Option("diff", "flag", "Compare two sources and mark the cells that differ", "several"),
        Option("fold", "count", "Wrap wide panels after this many columns", "panels", example="COLUMNS"),
        Option(
            "note",
            "text",
            "Words on cells: '(0,0)..(7,0): one bank group'",
            "panels",
            example="WHERE: WORDS",
            more="WHERE: (1,2), (0,0)..(7,0), T5, row 3, column 0..3, bank 4, offset 21; a line each, or the option again.",
        ),
        Option(
            "blank",
            "text",
            "Leave out offsets, owners, banks ... for an exercise",
            "panels",
            example="WHAT",
            more="offsets, owners, threads, banks, coordinates, tiles, labels, strides; offsets=5 or offsets=all.",
        ),
        Option("key", "flag", "With --blank: the answers beside it", "panels"),
        Option("crop", "tile", "Draw only the first M rows and N columns of each panel", "panels"),
        Option(
            "style",
            "choice",
            "default, or cutlass to match CuTe's own printers",
            "page",
            ("default", "cutlass"),
            "default",
            more="Byte for byte, for text and tikz; svg for an MMA.",
        ),
        Option("palette", "text", "Color palette; 'cute-viz list palettes' names them", "page", example="NAME"),
        Option(
            "theme",
            "choice",
            "Page theme",
            "page",
            ("auto", "light", "dark", "print"),
            "auto",
            more="auto: light and dark, where the format allows both; print: grays.",
        ),
        Option("fragment", "flag", "Omit the preamble: TikZ for \\input, SVG for inlining", "page"),
        Option(
            "width",
            "pixels",
            "Page width; labels that do not fit are omitted",
            "page",
            least=200,
            most=20000,
            more="Rulers and captions are never omitted.",
        ),
        Option(
            "target",
            "choice",
            "Where it will appear",
            "page",
            TARGETS,
            "screen",
            example="USE",
            more="A README of 700 px, a column (3.3 in) or page (6.5 in) of a paper, a slide, a terminal (one line a row, "
            "rules between blocks only). Text is never smaller than 6 pt; what does not fit is summarized. For column, page and "
            "bare pictures the caption is written beside the file, and TikZ is a fragment. On the command line it is --for.",
        ),
        Option("bare", "flag", "Draw only the panels: no title, legend or notes", "page"),
        Option("cell", "pixels", "Cell size; what a cell shows depends on it", "page", least=0.01, most=400),
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
    ['fold', 'note', 'blank', 'key', 'crop']
    """
    return tuple(option for option in OPTIONS.values() if option.level == level)


def used_by(name: str) -> str:
    """The pictures that use an option, in words.

    >>> used_by("type"), used_by("fold")
    ('the views banks, address, access, matrix', '')
    """
    views = ", ".join(key for key, view in VIEWS.items() if name in view.uses)
    others = [view.meaning for view in TILINGS.values() if name in view.uses]
    return "; ".join(part for part in (f"the views {views}" if views else "", ", ".join(others)) if part)
