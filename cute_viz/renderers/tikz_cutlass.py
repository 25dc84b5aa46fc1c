"""TikZ as CuTe's own printers write it: print_latex of a layout, an MMA or a copy, and print_latex_tv, byte for byte.

cute/util/print_latex.hpp. Kept for those who compare with CuTe; the project's own TikZ (`tikz.py`) compiles faster
and further.
"""

from __future__ import annotations

from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Panel

_GREYS = ("00", "40", "20", "60", "10", "50", "30", "70")  # per cent of black, by offset mod 8
PASTELS = (
    (175, 175, 255),
    (175, 255, 175),
    (255, 255, 175),
    (255, 175, 175),
    (210, 210, 255),
    (210, 255, 210),
    (255, 255, 210),
    (255, 210, 210),
)  # by thread mod 8
_HEAD = r"""\documentclass[convert]{standalone}
\usepackage{tikz}

\begin{document}
\begin{tikzpicture}[x={(0cm,-1cm)},y={(1cm,0cm)},every node/.style={minimum size=1cm, outer sep=0pt}]

"""
_FOOT = "\\end{tikzpicture}\n\\end{document}\n"


def render(figure: Figure) -> str:
    r"""The figure as print_latex (a grid of offsets, an MMA, a copy) or print_latex_tv (a tile view) would write it. Raises:
    FigureError for any other figure, and one with options that those printers do not have."""
    if figure.kind == "mma":
        return _mma(figure)
    if figure.kind == "copy":
        return _copy(figure)
    panel = figure.panels[0]
    drawn = figure.facts.get("drawn")
    if len(figure.panels) != 1 or not isinstance(drawn, str) or "\n" in drawn:
        raise _cannot()
    if figure.kind == "grid" and "offset" in panel.data:
        return f"% Layout: {drawn}\n{_HEAD}{_grid_cells(panel)}{_lines_and_labels(panel)}{_FOOT}"
    if figure.kind == "tv" and "thread" in panel.data and "value" in panel.data:
        return f"% Layout TV: {drawn}\n{_HEAD}{_tv_cells(panel)}{_lines_and_labels(panel)}{_FOOT}"
    raise _cannot()


def _cannot() -> FigureError:
    return FigureError(
        "CuTe's print_latex draws the offsets of a layout of rank 1 or 2, the tile view of a TV map, a whole MMA, a TiledCopy",
        hint="leave out `style=`, or the options that change what is shown",
    )


def _grid_cells(panel: Panel) -> str:
    return "".join(
        f"\\node[fill=black!{_GREYS[value % 8]}] at ({cell // panel.cols},{cell % panel.cols}) {{{value}}};\n"
        for cell, value in enumerate(_integers(panel, "offset"))
    )


def drawn(figure: Figure, name: str) -> str:
    """What CuTe writes about a panel above its picture."""
    text = figure.facts.get(f"drawn {name}")
    if not isinstance(text, str) or "\n" in text:
        raise _cannot()
    return text


def _mma(figure: Figure) -> str:
    """C at the origin, A left of it, B above; labels on A and B alone."""
    c, a, b = mma_panels(figure)
    k = a.cols
    head = "".join(f"% Layout{x}: {drawn(figure, x)}\n" for x in "CAB")
    out = [head, _HEAD, _tv_cells(c), _frame(0, 0, c), _tv_cells(a, 0, -k - 1), _frame(0, -k - 1, a)]
    out += [_label(m, -k - 2, m) for m in range(a.rows)]
    out += [_label(-1, n - k - 1, n) for n in range(k)]
    out += [_tv_cells(b, -k - 1, 0), _frame(-k - 1, 0, b)]
    out += [_label(-k - 2, n, n) for n in range(b.cols)]
    out += [_label(n - k - 1, -1, n) for n in range(k)]
    return "".join(out) + _FOOT


def mma_panels(figure: Figure) -> tuple[Panel, Panel, Panel]:
    """The panels C, A and B; a FigureError where one is missing."""
    at = {panel.place: panel for panel in figure.panels}
    if set(at) != {(1, 1), (1, 0), (0, 1)} or any(not {"thread", "value"} <= set(panel.data) for panel in figure.panels):
        raise _cannot()
    return at[(1, 1)], at[(1, 0)], at[(0, 1)]


def _copy(figure: Figure) -> str:
    """Source at the origin, destination at the right of it, row labels on both outer sides."""
    if len(figure.panels) != 2:
        raise _cannot()
    s, d = figure.panels
    start = s.cols + 3
    head = "".join(f"% Layout {x} TV: {drawn(figure, x)}\n" for x in "SD")
    out = [head, _HEAD, _tv_cells(s), _frame(0, 0, s)]
    out += [_label(m, -1, m) for m in range(s.rows)]
    out += [_label(-1, n, n) for n in range(s.cols)]
    out += [_tv_cells(d, 0, start), _frame(0, start, d)]
    out += [_label(m, start + d.cols, m) for m in range(d.rows)]
    out += [_label(-1, start + n, n) for n in range(d.cols)]
    return "".join(out) + _FOOT


def _frame(row: int, col: int, panel: Panel) -> str:
    corner = f"({row + panel.rows},{col + panel.cols})"
    return f"\\draw[color=black,thick,shift={{(-0.5,-0.5)}}] ({row},{col}) grid {corner};\n\n"


def _label(row: int, col: int, number: int) -> str:
    return f"\\node at ({row},{col}) {{\\Large{{\\texttt{{{number}}}}}}};\n"


def _tv_cells(panel: Panel, row: int = 0, col: int = 0) -> str:
    out = []
    for thread, value, cell in owned(panel):
        red, green, blue = PASTELS[thread % 8]
        at = f"({row + cell // panel.cols},{col + cell % panel.cols})"
        out.append(
            f"\\node[fill={{rgb,255:red,{red};green,{green};blue,{blue}}}] at {at} {{\\shortstack{{T{thread} \\\\ V{value}}}}};\n"
        )
    return "".join(out)


def owned(panel: Panel) -> list[tuple[int, int, int]]:
    """(thread, value, cell) of every cell with an owner, in the order in which CuTe's printers fill them."""
    entries = zip(panel.data["thread"], panel.data["value"], range(panel.rows * panel.cols), strict=True)
    return sorted(entry for entry in entries if isinstance(entry[0], int) and isinstance(entry[1], int))


def _integers(panel: Panel, name: str) -> list[int]:
    values = panel.data[name]
    if not all(isinstance(value, int) for value in values):
        raise _cannot()
    return list(values)


def _lines_and_labels(panel: Panel) -> str:
    labels = [*(_label(r, -1, r) for r in range(panel.rows)), *(_label(-1, c, c) for c in range(panel.cols))]
    return "".join([_frame(0, 0, panel), *labels])
