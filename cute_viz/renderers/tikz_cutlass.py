"""TikZ as CuTe's own printers write it: print_latex of a layout and print_latex_tv, byte for byte.

cute/util/print_latex.hpp. Kept for those who compare with CuTe; the project's own TikZ (`tikz.py`) compiles faster
and further.
"""

from __future__ import annotations

from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Panel

_GREYS = ("00", "40", "20", "60", "10", "50", "30", "70")  # per cent of black, by offset mod 8
_PASTELS = (
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
    """The figure as print_latex (a grid of offsets) or print_latex_tv (a tile view) would write it."""
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
        "CuTe's print_latex draws the offsets of a layout of rank 1 or 2, or the tile view of a TV map, nothing else",
        hint="leave out --style, or choose --view tv",
    )


def _grid_cells(panel: Panel) -> str:
    return "".join(
        f"\\node[fill=black!{_GREYS[value % 8]}] at ({cell // panel.cols},{cell % panel.cols}) {{{value}}};\n"
        for cell, value in enumerate(_integers(panel, "offset"))
    )


def _tv_cells(panel: Panel) -> str:
    """Cells in the order in which print_latex_tv fills them: thread by thread, value by value."""
    owned = zip(panel.data["thread"], panel.data["value"], range(panel.rows * panel.cols), strict=True)
    out = []
    for thread, value, cell in sorted(entry for entry in owned if isinstance(entry[0], int) and isinstance(entry[1], int)):
        red, green, blue = _PASTELS[thread % 8]
        out.append(
            f"\\node[fill={{rgb,255:red,{red};green,{green};blue,{blue}}}] at ({cell // panel.cols},{cell % panel.cols}) "
            f"{{\\shortstack{{T{thread} \\\\ V{value}}}}};\n"
        )
    return "".join(out)


def _integers(panel: Panel, name: str) -> list[int]:
    values = panel.data[name]
    if not all(isinstance(value, int) for value in values):
        raise _cannot()
    return list(values)


def _lines_and_labels(panel: Panel) -> str:
    rows = "".join(f"\\node at ({r},-1) {{\\Large{{\\texttt{{{r}}}}}}};\n" for r in range(panel.rows))
    cols = "".join(f"\\node at (-1,{c}) {{\\Large{{\\texttt{{{c}}}}}}};\n" for c in range(panel.cols))
    grid = f"\\draw[color=black,thick,shift={{(-0.5,-0.5)}}] (0,0) grid ({panel.rows},{panel.cols});\n\n"
    return grid + rows + cols
