"""TikZ of our own style: a standalone document or a fragment for \\input, which plain pdflatex compiles.

print_latex spends a node on each cell and exhausts TeX's memory at 78 x 78. Here a panel is one node that holds rows
of boxes: coloured rules for runs of equal cells, then the labels on top. Lines, borders and boxes are a few paths.
All names are defined inside one group, so a fragment leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cute_viz.errors import FigureError
from cute_viz.figures.model import HOLE, Figure, Legend, Panel
from cute_viz.figures.palette import Palette, palette
from cute_viz.renderers import Options
from cute_viz.renderers.geometry import (
    ALL_COLUMNS,
    CellLabels,
    arrange,
    cell_labels,
    column_step,
    counted,
    fact_line,
    runs,
    shared_sizes,
)
from cute_viz.renderers.tex import escape

LUALATEX_FROM = 16384  # cells that pdflatex's default memory still holds, labelled
ROUNDED = 300  # boxes of a panel that have round corners; each costs TeX a millisecond
AT_ONCE = 50  # shapes in one \draw, so that TeX can forget them
LINE_COLOUR, MUTED = "black!25", "black!65"


def render(figure: Figure, options: Options) -> str:
    r"""The figure as LaTeX source; with `options.style == "cutlass"` as CuTe's printers write it.

    Refused: CuTe's style as a fragment, and of a figure that its printers do not draw.

    >>> from cute_viz import figure
    >>> print(render(figure("(2,2)"), Options()).splitlines()[0])
    \documentclass[tikz,border=6pt]{standalone}
    """
    if options.style == "cutlass":
        if options.fragment:
            raise FigureError("CuTe's print_latex writes a whole document", hint="leave out --fragment or --style")
        from cute_viz.renderers import tikz_cutlass

        return tikz_cutlass.render(figure)
    body = _picture(figure, palette(options.palette))
    cells = sum(panel.rows * panel.cols for panel in figure.panels)
    holes = any(HOLE in set(panel.paints) for panel in figure.panels)
    library = "\\usetikzlibrary{patterns}\n" if holes else ""
    if options.fragment:
        needs = "\\usepackage{tikz}" + (" \\usetikzlibrary{patterns}" if holes else "")
        return f"% needs {needs}\n{body}"
    engine = "% !TeX program = lualatex\n" if cells > LUALATEX_FROM else ""
    return f"{engine}\\documentclass[tikz,border=6pt]{{standalone}}\n{library}\\begin{{document}}\n{body}\\end{{document}}\n"


def _picture(figure: Figure, colours: Palette) -> str:
    """The group with its colours and macros, and the picture."""
    blocks = [_Block(figure, n, colours) for n in range(len(figure.panels))]
    aligned = shared_sizes(figure.panels, [(b.w, b.h, b.left, b.top) for b in blocks])
    for block, size in zip(blocks, aligned, strict=True):
        block.resize(*size)
    places, width, height = arrange([p.place for p in figure.panels], [(b.width, b.height) for b in blocks], 20)
    names = [f"\\definecolor{{cv{n}}}{{HTML}}{{{colours.fill(paint)[1:].upper()}}}\n" for n, paint in enumerate(figure.paints)]
    out = [
        "\\begingroup\n",
        *names,
        _MACROS,
        "\\begin{tikzpicture}[x=1pt,y=-1pt,every node/.style={inner sep=0pt,outer sep=0pt}]\n",
    ]
    out.append(_heading(figure, max(width, 260)))
    for block, (x, y) in zip(blocks, places, strict=True):
        out.append(f"\\begin{{scope}}[shift={{({x:g},{y:g})}}]\n{block.draw()}\\end{{scope}}\n")
    out += [_legends(figure.legends, width + 24), _notes(figure, height + 14, max(width, 260))]
    return "".join(out) + "\\end{tikzpicture}\n\\endgroup\n"


# \cvrun: a rule over some cells. \cvone, \cvtwo: a label of one or two lines, in a box as wide as a cell.
_MACROS = r"""\def\cvrun#1#2{{\color{#1}\vrule width #2pt height \cvh}}%
\def\cvone#1{\hbox to\cvw{\hss\vbox to\cvh{\vss\hbox{\footnotesize\strut #1}\vss}\hss}}%
\def\cvtwo#1#2{\hbox to\cvw{\hss\vbox to\cvh{\vss\hbox to\cvw{\hss\scriptsize\bfseries #1\hss}\kern2pt%
\hbox to\cvw{\hss\tiny #2\hss}\vss}\hss}}%
\def\cvrow#1#2{\hbox{\hbox to0pt{#1\hss}#2}}%
"""


class _Block:
    """One panel: its cell size in points, the room for its rulers, and its TeX."""

    def __init__(self, figure: Figure, index: int, colours: Palette) -> None:
        self.panel: Panel = figure.panels[index]
        self.inks = [colours.ink(paint) == "#ffffff" for paint in figure.paints]
        self.labels: CellLabels = cell_labels(self.panel)
        first, second = self.labels.widths
        ruler = max(map(len, self.panel.col_ruler.labels)) if self.panel.cols <= ALL_COLUMNS else 0
        self.w = float(max(18, round(first * 4.6 + 6), round(second * 3.4 + 6), round(ruler * 4.4 + 4)))
        self.h = 18.0 if self.labels.depth == 1 else 24.0
        rows = self.panel.row_ruler
        self.left = max(max(map(len, rows.labels)) * 4.6, (len(rows.title) + 2) * 4.6) + 8
        self.caption_lines = -(-len(self.panel.caption) * 4.6 // max(self.panel.cols * self.w, 140)) if self.panel.caption else 0
        self.top = 14.0 + (12 if self.panel.col_ruler.title else 0) + self.caption_lines * 11 + 4
        self.resize(self.w, self.h, self.left, self.top)

    def resize(self, w: float, h: float, left: float, top: float) -> None:
        """Take a cell size and ruler rooms, such as those shared with other panels."""
        self.w, self.h, self.left, self.top = w, h, left, top
        self.width = left + max(self.panel.cols * w, 140 if self.panel.caption else 0)
        self.height = top + self.panel.rows * h

    def draw(self) -> str:
        x, y = self.left, self.top
        parts = [self._cells(x, y), self._holes(x, y), self._lines(x, y), self._boxes(x, y), self._ears(x, y), self._rulers(x, y)]
        if self.panel.caption:
            words = escape(self.panel.caption)
            room = max(self.panel.cols * self.w, 140)
            style = f"anchor=north west,text width={room:g}pt,align=left,font=\\footnotesize\\sffamily\\bfseries"
            parts.append(f"\\node[{style}] at ({x:g},0) {{{words}}};\n")
        return "".join(parts)

    def _cells(self, x: float, y: float) -> str:
        rows = []
        cols = self.panel.cols
        for r in range(self.panel.rows):
            rules = "".join(
                f"\\kern{n * self.w:g}pt" if paint == HOLE else f"\\cvrun{{cv{paint}}}{{{n * self.w:g}}}"
                for paint, n in runs(self.panel.paints[r * cols : (r + 1) * cols])
            )
            labels = "".join(self._label(cell) for cell in range(r * cols, (r + 1) * cols))
            rows.append(f"\\cvrow{{{rules}}}{{{labels}}}%\n")
        return (
            f"\\node[anchor=north west] at ({x:g},{y:g}) {{\\sffamily%\n"
            f"\\def\\cvw{{{self.w:g}pt}}\\def\\cvh{{{self.h:g}pt}}\\vbox{{\\offinterlineskip\n{''.join(rows)}}}}};\n"
        )

    def _label(self, cell: int) -> str:
        lines = [line[cell] for line in self.labels.lines]
        if not any(lines):
            return "\\kern\\cvw"
        if self.labels.depth == 1:
            out = f"\\cvone{{{escape(lines[0])}}}"
        else:
            out = f"\\cvtwo{{{escape(lines[0])}}}{{{escape(' '.join(lines[1:]))}}}"
        paint = self.panel.paints[cell]
        return f"{{\\color{{white}}{out}}}" if paint != HOLE and self.inks[paint] else out

    def _holes(self, x: float, y: float) -> str:
        shapes = []
        cols = self.panel.cols
        for r in range(self.panel.rows):
            c = 0
            for paint, n in runs(self.panel.paints[r * cols : (r + 1) * cols]):
                if paint == HOLE:
                    shapes.append(self._rectangle(x, y, r, c, r + 1, c + n))
                c += n
        return _paths("\\fill[pattern=north east lines,pattern color=black!30]", shapes)

    def _rectangle(self, x: float, y: float, r0: int, c0: int, r1: int, c1: int, inset: float = 0) -> str:
        x0, y0 = x + c0 * self.w + inset, y + r0 * self.h + inset
        x1, y1 = x + c1 * self.w - inset, y + r1 * self.h - inset
        return f"({x0:g},{y0:g}) rectangle ({x1:g},{y1:g})"

    def _lines(self, x: float, y: float) -> str:
        x1, y1 = x + self.panel.cols * self.w, y + self.panel.rows * self.h
        by_level: list[list[str]] = [[], [], []]
        for r, level in enumerate(self.panel.row_ruler.levels[1:-1], 1):
            by_level[min(level, 2)].append(f"({x:g},{y + r * self.h:g}) -- ({x1:g},{y + r * self.h:g})")
        for c, level in enumerate(self.panel.col_ruler.levels[1:-1], 1):
            by_level[min(level, 2)].append(f"({x + c * self.w:g},{y:g}) -- ({x + c * self.w:g},{y1:g})")
        by_level[2].append(f"({x:g},{y:g}) rectangle ({x1:g},{y1:g})")
        styles = (f"{LINE_COLOUR},line width=.3pt", "black,line width=1.1pt", "black,line width=1.6pt")
        return "".join(_paths(f"\\draw[{style}]", shapes) for style, shapes in zip(styles, by_level, strict=True))

    def _boxes(self, x: float, y: float) -> str:
        shapes = [self._rectangle(x, y, *box, inset=1) for box in self.panel.boxes]
        corners = "rounded corners=2pt," if len(shapes) <= ROUNDED else ""
        return _paths(f"\\draw[{corners}line width=.5pt]", shapes)

    def _ears(self, x: float, y: float) -> str:
        shapes = []
        for cell in self.labels.shared:
            r, c = divmod(cell, self.panel.cols)
            right, top = x + (c + 1) * self.w, y + r * self.h
            shapes.append(f"({right:g},{top:g}) -- ({right - 5:g},{top:g}) -- ({right:g},{top + 5:g}) -- cycle")
        return _paths("\\fill[black!60]", shapes)

    def _rulers(self, x: float, y: float) -> str:
        rows, cols = self.panel.row_ruler, self.panel.col_ruler
        step = column_step(cols.labels, 4.6, self.w)
        boxes = "".join(
            f"\\hbox to{self.w:g}pt{{\\hss\\hbox to0pt{{\\hss {escape(label)}\\hss}}\\hss}}"
            if c % step == 0
            else f"\\kern{self.w:g}pt"
            for c, label in enumerate(cols.labels)
        )
        left = "".join(
            f"\\hbox to{self.left - 4:g}pt{{\\hss\\vbox to{self.h:g}pt{{\\vss\\hbox{{\\strut {escape(label)}}}\\vss}}}}%\n"
            for label in rows.labels
        )
        style = f"text={MUTED},font=\\footnotesize\\sffamily"
        out = [
            f"\\node[anchor=south west,{style}] at ({x:g},{y - 3:g}) {{\\hbox{{{boxes}}}}};\n",
            f"\\node[anchor=north east,{style}] at ({x - 4:g},{y:g}) {{\\vbox{{\\offinterlineskip\n{left}}}}};\n",
        ]
        if rows.title:
            out.append(f"\\node[anchor=south east,{style}] at ({x - 4:g},{y - 3:g}) {{{escape(rows.title)} $\\downarrow$}};\n")
        if cols.title:
            out.append(f"\\node[anchor=south west,{style}] at ({x:g},{y - 14:g}) {{{escape(cols.title)} $\\rightarrow$}};\n")
        return "".join(out)


def _heading(figure: Figure, width: float) -> str:
    source = escape(figure.source).replace(",", ",\\allowbreak ").replace(":", ":\\allowbreak ")
    return (
        f"\\node[anchor=south west,text width={width:g}pt,align=left,font=\\sffamily] at (0,-6) {{"
        f"{{\\bfseries {escape(figure.title)}\\par}}\\vspace{{2pt}}{{\\small\\ttfamily {source}\\par}}\\vspace{{2pt}}"
        f"{{\\footnotesize\\color{{{MUTED}}}{escape(figure.caption)}\\par}}}};\n"
    )


def _notes(figure: Figure, y: float, width: float) -> str:
    lines = "".join(f"{escape(note)}\\par\n" for note in (*figure.notes, fact_line(figure)) if note)
    if not lines:
        return ""
    style = f"text width={width:g}pt,align=left,text={MUTED},font=\\footnotesize\\sffamily"
    return f"\\node[anchor=north west,{style}] at (0,{y:g}) {{{lines}}};\n"


def _legends(legends: Iterable[Legend], x: float) -> str:
    """The legends in a column at x, from the top of the panels down."""
    out, y = [], 0.0
    for legend in legends:
        lines = -(-len(legend.title) * 4.6 // 150)
        style = f"anchor=north west,text width=150pt,align=left,text={MUTED}"
        out.append(f"\\node[{style},font=\\footnotesize\\sffamily] at ({x:g},{y:g}) {{{escape(legend.title)}}};\n")
        y += lines * 11 + 4
        for entry in legend.entries:
            out.append(
                f"\\filldraw[fill=cv{entry.paint},line width=.3pt] ({x:g},{y:g}) rectangle ({x + 9:g},{y + 9:g});\n"
                f"\\node[anchor=west,font=\\footnotesize\\sffamily] at ({x + 14:g},{y + 4.5:g}) "
                f"{{{escape(entry.label)}\\enspace\\color{{{MUTED}}}\\scriptsize {counted(entry.count)}}};\n"
            )
            y += 13
        y += 8
    return "".join(out)


def _paths(command: str, shapes: Sequence[str]) -> str:
    return "".join(f"{command} {' '.join(shapes[n : n + AT_ONCE])};\n" for n in range(0, len(shapes), AT_ONCE))
