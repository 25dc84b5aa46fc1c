r"""TikZ: a page written down as a standalone document or a fragment for \input, which plain pdflatex compiles.

print_latex spends a node on each cell and exhausts TeX's memory at 78 x 78. Here all cells of a paint are one node that holds
rows of rules, all labels of a line and an ink one that holds rows of boxes; short lines are paths of many, and an outline that
stands in many places is drawn once and stamped. A px of the page is .75 pt. All names are defined inside one group, so a fragment
leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from cute_viz.errors import FigureError
from cute_viz.figures.model import CONFLICT, HOLE, Figure, Paint
from cute_viz.records import beside
from cute_viz.renderers import Options
from cute_viz.renderers import primitives as p
from cute_viz.renderers.colours import BETWEEN, BORDER, HATCH, HOLE_COLOUR, LIGHT, page_palette, roles
from cute_viz.renderers.geometry import cell_runs, lattices, number, runs
from cute_viz.renderers.page import page_of
from cute_viz.renderers.palette import FADED_INKS, PAPER_INK
from cute_viz.renderers.placed import Page
from cute_viz.renderers.targets import target_of
from cute_viz.renderers.tex import escape

PT = 0.75  # points of a px
BASELINE = 0.33  # from the middle of a letter down to its baseline, in font sizes
MOST_HATCHED = 10_000  # holes with a diagonal; each costs TeX 30 microseconds
MOST_RUNS = 1 << 18  # of an image; each costs TeX a microsecond or two, and ten words of its memory
LONGEST = 20_000  # px of a side: TeX knows no length of 16384 pt
LUALATEX_FROM = 100_000  # labels that pdflatex's memory holds; an outline with round corners takes that of fifteen
AT_ONCE = 50  # shapes in one \draw, so that TeX can forget them
ANCHORS = {p.START: "s", p.MIDDLE: "m", p.END: "e"}


def render(figure: Figure, options: Options) -> str:
    r"""The figure as LaTeX source; with `options.style == "cutlass"` as CuTe's printers write it. Raises: FigureError for CuTe's
    style as a fragment, and of a figure that its printers do not draw; a page that is too long for TeX; an image of too many
    colours."""
    if options.style == "cutlass":
        if options.fragment:
            raise FigureError(
                "CuTe's print_latex writes a whole document",
                hint="leave out `fragment=` or `style=`: compiled, its PDF is for \\includegraphics",
            )
        from cute_viz.renderers import tikz_cutlass

        return tikz_cutlass.render(figure)
    return write(page_of(figure, options), options)


def write(page: Page, options: Options) -> str:
    r"""A laid out page as LaTeX source."""
    if max(page.width, page.height) > LONGEST:
        size = f"{page.width:.0f} x {page.height:.0f} px"
        raise FigureError(f"a page of {size} is too long for TeX", hint="`width=`, `cell=`, `crop=` or `fold=` makes it shorter")
    writer = _TikzWriter(page.figure, options)
    body = "".join([writer.head(page), *(part for item in page.items for part in writer.put(item)), _FOOT])
    if options.fragment or target_of(options).fragment:
        return "% needs \\usepackage{tikz}\n" + _SHRUNK.format(body.rstrip())
    engine = "% !TeX program = lualatex\n" if _weight(page) > LUALATEX_FROM else ""
    return (
        f"{engine}\\RequirePackage{{fix-cm}}\n\\documentclass[tikz]{{standalone}}\n\\begin{{document}}\n{body}\\end{{document}}\n"
    )


def _weight(page: Page) -> int:
    """How much of TeX's memory a page takes, in labels."""
    labels = sum(len(item.texts) - item.texts.count("") for item in page.items if isinstance(item, p.Labels))
    shapes = [list(zip(item.xs, item.ys, strict=True)) for item in page.items if isinstance(item, p.Boxes)]
    return labels + 15 * sum(len(lattices(corners)) for corners in shapes)


_MACROS = "".join(line for line in beside(__file__, "assets/macros.tex").splitlines(True) if not line.startswith("% "))
_FOOT = "\\end{tikzpicture}%\n\\endgroup\n"
_SHRUNK = r"""\begingroup\setbox4\hbox{{%
{}}}%
\expandafter\ifx\csname ver@standalone.cls\endcsname\relax % whose page is as wide as the picture
\ifdim\wd4>\linewidth\setbox4\hbox{{\resizebox{{\linewidth}}{{!}}{{\box4}}}}\fi
\ifdim\ht4>.9\textheight\setbox4\hbox{{\resizebox{{!}}{{.9\textheight}}{{\box4}}}}\fi\fi
\leavevmode\box4
\endgroup
"""  # a box, as an argument takes TeX's memory twice


_INKS = {"#000000": "black", "#ffffff": "white", PAPER_INK: "cvt", **dict.fromkeys(FADED_INKS, "cvfaded")}


class _TikzWriter:
    """The colours of a page, and the TeX of each primitive."""

    def __init__(self, figure: Figure, options: Options) -> None:
        colours = page_palette(options)
        self.dark = options.theme == "dark"
        fills = [colours.fill(paint, self.dark) for paint in figure.paints]
        self.names = [*_names(figure.paints), "cvhole"]  # HOLE is -1, the last
        self.inks = [*(_INKS[colours.ink(paint, self.dark)] for paint in (*figure.paints, Paint(-1)))]
        self.colours = dict(zip(self.names, [*fills, HOLE_COLOUR], strict=True))
        self.colours |= {f"cv{role}": colour for role, colour in roles(options, self.dark).items()} | {
            "cvtile": BETWEEN if self.dark else BORDER,
            "cvhatch": HATCH[0],
        }
        self.colours["cvi"] = LIGHT["t"]
        if not figure.flow:
            del self.colours["cvx"]
        if "cvfaded" in self.inks:
            self.colours["cvfaded"] = FADED_INKS[self.dark]

    def head(self, page: Page) -> str:
        """The group's beginning: colours, macros, the picture's size, and paper where it is dark."""
        names = "".join(f"\\definecolor{{{name}}}{{HTML}}{{{colour[1:].upper()}}}%\n" for name, colour in self.colours.items())
        corner = f"(0,0) rectangle ({number(page.width)},{number(page.height)});\n"
        paper = f"\\fill[cvp] {corner}" if self.dark else ""
        return f"\\begingroup\n{names}{_MACROS}\\useasboundingbox {corner}{paper}"

    def put(self, item: p.Primitive) -> Iterable[str]:
        """The TeX of one primitive."""
        match item:
            case p.Cells():
                return self._cells(item)
            case p.Image():
                return self._image(item)
            case p.Strokes():
                grid, colour = item.grid, "black" if item.role == p.CELL else "cvtile"
                across = [f"({number(grid.left)},{number(y)})--({number(grid.right)},{number(y)})" for y in item.ys]
                down = [f"({number(x)},{number(grid.top)})--({number(x)},{number(grid.bottom)})" for x in item.xs]
                faint = f",draw opacity={number(item.opacity)}" if item.opacity < 1 else ""
                return _paths(f"\\draw[{colour},line width={_pt(item.width)}{faint}]", across + down)
            case p.Border():
                grid = item.grid
                corners = f"({number(grid.left)},{number(grid.top)}) rectangle ({number(grid.right)},{number(grid.bottom)})"
                return [f"\\draw[cvb,line width={_pt(item.width)}] {corners};\n"]
            case p.Boxes():
                style = f"cvtile,rounded corners={_pt(item.radius)},line width={_pt(item.width)}"
                return [
                    _stamps(f"\\draw[{style}] (0,0) rectangle ({number(w)},{number(h)});", corners)
                    for (w, h), corners in item.by_size().items()
                ]
            case p.Swatch():
                style = f"draw=cvb,fill={self.names[item.paint]},line width={_pt(item.width)},rounded corners={_pt(item.radius)}"
                corner = f"({number(item.x + item.size)},{number(item.y + item.size)})"
                return [f"\\path[{style}] ({number(item.x)},{number(item.y)}) rectangle {corner};\n"]
            case p.Path():
                return self._lines(item)
            case p.Labels():
                return [self._labels(item, ink) for ink in sorted({self.inks[paint] for paint in set(item.paints)})]
            case p.Texts():
                return self._texts(item)
            case p.Line():
                font = _font(item.size, item.mono, item.weight)
                return [_texts(f"cv{item.role[0]}", font, [_text(item.x, item.y, item.text, item.size, item.anchor)])]

    def _lines(self, item: p.Path) -> list[str]:
        fill = self.names[item.fill] if isinstance(item.fill, int) else f"cv{(item.fill or '')[:1]}"
        style = [f"fill={fill}"] if item.fill is not None else []
        edge = "black" if item.role == p.INK else f"cv{item.role[0]}"
        style += [f"draw={edge},line width={_pt(item.width)},line join=round"] if item.width else []
        style += [f"opacity={number(item.opacity)}"] if item.opacity < 1 else []
        style += [f"dash pattern=on {_pt(item.dash)} off {_pt(item.dash)}"] if item.dash else []
        end = "--cycle" if item.fill is not None else ""
        return _paths(f"\\path[{','.join(style)}]", ["--".join(map(_pair, line)) + end for line in item.lines])

    def _cells(self, item: p.Cells) -> Iterator[str]:
        yield self._block(item.grid, f"\\color{{{self.names[item.paint]}}}", _rules(item))
        if item.paint == HOLE and sum(item.lengths) <= MOST_HATCHED:
            ends = [f"({number(x0)},{number(y0)})--({number(x1)},{number(y1)})" for (x0, y0), (x1, y1) in item.diagonals()]
            yield from _paths(f"\\draw[cvhatch,line width={_pt(HATCH[1])}]", ends)

    def _image(self, item: p.Image) -> Iterator[str]:
        """The pixels of an image, as cells."""
        grid, step = item.grid, item.step
        rows = range(0, grid.rows, step)
        cols = len(range(0, grid.cols, step))
        paints = [paint for r in rows for paint in item.paints[r * grid.cols : (r + 1) * grid.cols : step]]
        found = cell_runs(paints, cols)
        if (count := sum(len(starts) for _, starts, _ in found.values())) > MOST_RUNS:
            raise FigureError(
                f"an image with {count} changes of color is too large for TeX", hint="`crop=`, or svg, png or pdf instead"
            )
        pixels = p.Grid(len(rows), cols, grid.left, grid.top, grid.cell_w * step, grid.cell_h * step)
        for paint in sorted(found):
            yield self._block(pixels, f"\\color{{{self.names[paint]}}}", _rules(p.Cells(pixels, paint, *found[paint])))

    def _labels(self, item: p.Labels, ink: str) -> str:
        """The labels of one ink, row by row."""
        mine = [self.inks[paint] == ink for paint in range(len(self.inks) - 1)] + [ink == "black"]
        words = {text: f"\\cvc{{{escape(text)}}}" for text in set(item.texts)}
        cols, rows = item.grid.cols, []
        for r in range(item.grid.rows):
            cells = zip(item.texts[r * cols : (r + 1) * cols], item.paints[r * cols : (r + 1) * cols], strict=True)
            parts = [words[text] if text and mine[paint] else "" for text, paint in cells]
            rows.append("".join([part * n if part else f"\\kern{n}\\cvw" for part, n in runs(parts)]) if any(parts) else "")
        lines = "".join([f"\\cvl{{{row}}}\n" * n if row else f"\\kern{n}\\cvh\n" for row, n in runs(rows)])
        faint = f",text opacity={number(item.opacity)}" if item.opacity < 1 else ""
        style = f"\\color{{{ink}}}{_font(item.size, True, item.weight)}"
        return self._block(item.grid, style, lines, item.dy + BASELINE * item.size - item.grid.cell_h, faint)

    def _texts(self, item: p.Texts) -> Iterator[str]:
        """The texts of each colour and size."""
        inks = ["cvm"] * len(item.texts) if item.paints is None else [self.inks[paint] for paint in item.paints]
        found: dict[tuple[str, float], list[str]] = {}
        for x, y, text, size, ink in zip(item.xs, item.ys, item.texts, item.sizes, inks, strict=True):
            found.setdefault((ink, size), []).append(_text(x, y, text, size, item.anchor))
        for (ink, size), texts in found.items():
            yield _texts(ink, _font(size, True, 400 if item.paints else item.weight), texts)

    def _block(self, grid: p.Grid, style: str, rows: str, dy: float = 0.0, options: str = "") -> str:
        """A node of rows of boxes, a row of cells each, that begins dy px below the top of the cells."""
        size = f"{{{_exact(grid.cell_w)}}}{{{_exact(grid.cell_h)}}}"
        at = f"({number(grid.left)},{number(grid.top + dy)})"
        return f"\\node[cvg{options}] at {at} {{{style}\\cvgrid{size}\\vbox{{%\n{rows}}}}};\n"


def _rules(item: p.Cells) -> str:
    """Rows of rules; rows that are alike and follow each other are one row, so that no viewer shows a seam."""
    out, at = [], 0
    rows = [(row, tuple((c, n) for _, c, n in found)) for row, found in groupby(item.runs(), lambda run: run[0])]
    start = 0
    while start < len(rows):
        stop = start + 1
        while stop < len(rows) and rows[stop] == (rows[start][0] + stop - start, rows[start][1]):
            stop += 1
        first, found = rows[start]
        parts, x = [], 0
        for c, n in found:
            parts.append((f"\\kern{c - x}\\cvw" if c > x else "") + f"\\vrule width{n}\\cvw")
            x = c + n
        gap = f"\\kern{first - at}\\cvh\n" if first > at else ""
        out.append(f"{gap}\\hbox{{\\cvr{{{stop - start}}}{''.join(parts)}}}\n")
        at, start = first + stop - start, stop
    return "".join(out)


def _paths(command: str, shapes: Sequence[str]) -> list[str]:
    return [f"{command} {' '.join(shapes[n : n + AT_ONCE])};\n" for n in range(0, len(shapes), AT_ONCE)]


def _pair(point: tuple[float, float]) -> str:
    return f"({number(point[0])},{number(point[1])})"


def _stamps(shape: str, corners: Iterable[tuple[float, float]]) -> str:
    """A shape that is drawn once, at many places."""
    places = []
    for x, y, across, dx, down, dy in lattices(corners):
        steps = f"{{{across}}}{{{_exact(dx or 1)}}}{{{down}}}{{{_exact(dy or 1)}}}"  # TeX has no leaders of nothing
        places.append(
            f"\\cvz{{{number(x)}}}{{{number(y)}}}%\n" if across * down == 1 else f"\\cvy{{{number(x)}}}{{{number(y)}}}{steps}%\n"
        )
    return f"\\node[cvo] at (0,0) {{\\cvstamp{{{shape}}}%\n{''.join(places)}}};\n"


def _text(x: float, y: float, text: str, size: float, anchor: str) -> str:
    return f"\\cv{ANCHORS[anchor]}{{{number(x)}}}{{{number(y + BASELINE * size)}}}{{{escape(text)}}}%\n"


def _texts(colour: str, font: str, texts: Iterable[str]) -> str:
    return f"\\node[cvo] at (0,0) {{\\color{{{colour}}}{font}%\n{''.join(texts)}}};\n"


def _names(paints: Sequence[Paint]) -> list[str]:
    """A name for each paint that is the same in every picture, so that a document may define it: cvhue0, its shade cvhue0s1of4,
    its faded one cvhue0f; cvconflict and cvpaper."""
    words = [{-1: "cvpaper", CONFLICT: "cvconflict"}.get(paint.hue, f"cvhue{paint.hue}") for paint in paints]
    shades = [f"s{paint.shade}of{paint.shades}" if paint.shade else "" for paint in paints]
    return [f"{word}{shade}{'f' * paint.faded}" for word, shade, paint in zip(words, shades, paints, strict=True)]


def _font(size: float, mono: bool, weight: int) -> str:
    """A font of a size in px. TeX's typewriter has no bold, so that bold is never monospaced; it is wider than a label's box is."""
    family = "\\cvbold" if weight != 400 else "\\cvmono" if mono else "\\cvsans"
    return f"\\cvfont{{{number(size * PT)}}}{{{family}}}"


def _pt(px: float) -> str:
    return f"{number(px * PT)}pt"


def _exact(x: float) -> str:
    """A size that is multiplied: with as many digits as TeX has."""
    return f"{x:.5f}".rstrip("0").rstrip(".")
