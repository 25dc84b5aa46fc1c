"""Text: a grid of characters, for a terminal or a log.

The grid of one integer layout is what CuTe's print_layout writes (cute/util/print.hpp), byte for byte. In a pipe or a
file everything else is drawn in the same manner, with the title, captions, legend and notes around it. For a terminal
(`Options.target`), and in lines of so many letters, a grid has a line for each row, a letter between cells, and rules
between blocks only. Colour, when wanted, comes from rich, and never changes a character.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import zip_longest

from cute_viz.errors import FigureError
from cute_viz.figures.model import HOLE, Figure, Panel, Ruler
from cute_viz.figures.trim import cut
from cute_viz.renderers import Options
from cute_viz.renderers.geometry import shared_cells, texts, wrap
from cute_viz.renderers.legend import told
from cute_viz.renderers.letters import printable
from cute_viz.renderers.palette import Palette, palette

Colouring = Callable[[int, str], str]  # (index of a paint, characters) -> characters with colour escapes
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_BESIDE = 80  # letters that panels beside each other may take where no terminal has a width
ATOM = 8  # rows of a lane in a terminal: those in which a swizzle repeats
_GAP = 3  # letters between them


def render(figure: Figure, options: Options) -> str:
    """The figure as text, lines closed by LF."""
    drawable, for_terminal = _is_print_layout(figure), options.target == "terminal"
    cutlass = drawable and (options.style == "cutlass" or not for_terminal)
    if options.style == "cutlass" and not drawable:
        raise FigureError(
            "CuTe's print_layout draws the offsets of a layout of rank 1 or 2, nothing else", hint="leave out `style=`"
        )
    paint = _painter(figure, palette(options.palette)) if options.color else _no_paint
    wide = (
        cutlass
        and options.columns is not None
        and 5 + figure.panels[0].cols * (len(str(figure.facts["cosize"])) + 3) > options.columns
    )
    if cutlass and (not wide or options.style == "cutlass"):
        width = len(str(figure.facts["cosize"]))
        own = (
            ""
            if options.bare or options.style == "cutlass" or figure.title.endswith(str(figure.facts.get("drawn title", "")) or "\0")
            else f"{printable(figure.title)}\n"
        )
        notes = "" if options.bare or options.style == "cutlass" else "".join(f"{printable(note)}\n" for note in _told(figure))
        return f"{own}{figure.facts['drawn']}\n" + _print_layout(figure.panels[0], width, paint) + notes
    if figure.kind == "journey" and for_terminal:
        figure = _first_rows(figure)
    light = for_terminal or options.columns is not None
    if light:
        from cute_viz.figures.trim import lying

        figure = lying(figure)
    if options.columns is not None:
        from cute_viz.renderers.narrow import narrowed

        figure = narrowed(figure, options.columns, _measure)
    if figure.flow:
        figure = _without_shapes(figure, options.color)
    lines = partial(_wrapped, columns=options.columns)
    head = figure.title, figure.source * (not figure.flow or not figure.caption.startswith(figure.source)), figure.caption
    blocks = [] if options.bare else ["".join(map(lines, filter(None, head)))]
    grids = [
        (lines(panel.caption) if panel.caption else "") + (_light if light else _grid)(panel, paint) for panel in figure.panels
    ]
    blocks += _beside(grids, options.columns or _BESIDE) if light else grids
    if options.color and not options.bare:  # without colour there is nothing to explain
        blocks.append(_legends(figure, paint, options.columns))
    if not options.bare:
        blocks.append("".join(map(lines, _told(figure))))
    return "\n".join(block for block in blocks if block)


def _without_shapes(figure: Figure, colored: bool) -> Figure:
    """A board without its shapes: faces have their letters as captions; without color what recedes in steps is `·`."""
    panels = []
    for panel in figure.panels:
        letters = [shape.text for shape in panel.shapes if panel.face and "bold" in shape.look]
        pairs = zip(panel.labels, panel.paints, strict=True)
        recede = figure.kind == "motion" and not colored
        labels = ["·" if recede and figure.paints[paint].faded else label for label, paint in pairs]
        panels.append(replace(panel, caption=panel.caption or "".join(letters[:1]), labels=tuple(labels)))
    return replace(figure, panels=tuple(panels))


def _first_rows(figure: Figure) -> Figure:
    """The lanes of a kernel with the first rows of each, and how these came there."""
    by = {arrow.target: arrow.label.replace("\n", ", ") for arrow in figure.arrows}
    panels = [
        replace(cut(panel, 0, min(ATOM, panel.rows), 0, panel.cols), caption=f"{panel.caption}{f', by {by[n]}' if n in by else ''}")
        for n, panel in enumerate(figure.panels)
    ]
    return replace(figure, panels=tuple(panels), notes=(f"The first {ATOM} rows of each lane are shown.", *figure.notes))


def _told(figure: Figure) -> list[str]:
    """The notes of a figure, and those on its cells with where they are."""
    return [*figure.notes, *(f"{note.where}: {note.text}" for note in figure.notes_on)]


def _is_print_layout(figure: Figure) -> bool:
    """Whether print_layout would draw this figure: one panel that shows the integer offsets of a layout."""
    if figure.kind != "grid" or len(figure.panels) != 1 or not isinstance(figure.facts.get("cosize"), int):
        return False
    panel = figure.panels[0]
    plain = panel.row_ruler.labels == tuple(map(str, range(panel.rows))) and panel.col_ruler.labels == tuple(
        map(str, range(panel.cols))
    )
    return plain and tuple(map(str, panel.data.get("offset", ()))) == panel.labels and isinstance(figure.facts.get("drawn"), str)


def _print_layout(panel: Panel, width: int, paint: Colouring) -> str:
    border = "    +" + ("-" * (width + 2) + "+") * panel.cols + "\n"
    out = ["    " + "".join(f"  {c:>{width}} " for c in range(panel.cols)) + "\n"]
    for r in range(panel.rows):
        start = r * panel.cols
        cells = zip(panel.labels[start : start + panel.cols], panel.paints[start : start + panel.cols], strict=True)
        row = "|".join(paint(p, f" {label:>{width}} ") for label, p in cells)
        out += [border, f"{r:>2}  |{row}|\n"]
    return "".join(out) + border


def _labels(panel: Panel) -> list[str]:
    """The label of every cell: `·` of a hole, with how many share a cell, and a star where it differs."""
    many, differs = shared_cells(panel), panel.data.get("differs")
    labels = []
    for cell, (label, paint_) in enumerate(zip(texts(panel), panel.paints, strict=True)):
        text = "·" if paint_ == HOLE else printable(label.replace("\n", " "))
        text = f"{text} ×{many[cell]}" if cell in many else text
        labels.append(f"{text}*" if differs and differs[cell] else text)
    return labels


def _grid(panel: Panel, paint: Colouring) -> str:
    """A grid with rulers; borders of tiles are drawn with `=` and a doubled bar."""
    labels = _labels(panel)
    columns, rows = panel.col_ruler, panel.row_ruler
    width = max(1, *map(len, labels), *map(len, columns.labels))
    margin = max(2, len(rows.title), *map(len, rows.labels))
    bars = ["‖" if 0 < i < panel.cols and level else "|" for i, level in enumerate(columns.levels)]
    indent = " " * (margin + 2)
    rule = {mark: indent + "+" + (mark * (width + 2) + "+") * panel.cols + "\n" for mark in "-="}
    head = f"{printable(rows.title):>{margin}}  " + "".join(f"  {printable(c):>{width}} " for c in columns.labels)
    out = [f"{indent}  {printable(columns.title)} →\n" if columns.title else "", head.rstrip() + "\n"]
    for r in range(panel.rows):
        start = r * panel.cols
        line = [f"{printable(rows.labels[r]):>{margin}}  "]
        for c in range(panel.cols):
            line += [bars[c], paint(panel.paints[start + c], f" {labels[start + c]:>{width}} ")]
        out += [rule["=" if r > 0 and rows.levels[r] else "-"], *line, "|\n"]
    return "".join(out) + rule["-"]


def _light(panel: Panel, paint: Colouring) -> str:
    """A grid of one line for each row; a rule is below the head and between blocks."""
    labels, columns, rows = _labels(panel), panel.col_ruler, panel.row_ruler
    beside, cell = _measure(panel)
    across, down = _borders(columns, panel.cols), _borders(rows, panel.rows)

    def rule(corner: str, cross: str) -> str:
        return (
            " " * (beside - 1) + corner + "".join((cross if c in across else "─") + "─" * (cell - 1) for c in range(panel.cols))[1:]
        )

    head = f"{printable(rows.title):>{beside - 1}} " + " ".join(f"{printable(c):>{cell - 1}}" for c in columns.labels)
    out = [" " * beside + f"{printable(columns.title)} →"] if columns.title else []
    out += [head.rstrip(), rule("┌", "┬")]
    for r in range(panel.rows):
        line = f"{printable(rows.labels[r]):>{beside - 1}}"
        for c in range(panel.cols):
            n = r * panel.cols + c
            line += ("│" if c == 0 or c in across else " ") + paint(panel.paints[n], f"{labels[n]:>{cell - 1}}")
        out += [rule("├", "┼"), line] if r in down else [line]
    return "".join(f"{line}\n" for line in out)


def _borders(ruler: Ruler, lines: int) -> set[int]:
    """The rows (or columns) that begin a block: of the smallest blocks that hold more than two of them, on average."""
    for least in sorted({level for level in ruler.levels if level}):
        found = {n for n in range(1, lines) if ruler.levels[n] >= least}
        if 2 * len(found) < lines:
            return found
    return set()


def _beside(grids: list[str], columns: int) -> list[str]:
    """Grids beside each other as long as the lines have room for them, their captions in one line."""
    out: list[list[str]] = []
    for grid in grids:
        lines = grid.splitlines()
        width = max(map(_letters, out[-1])) if out else columns
        if width + _GAP + max(map(_letters, lines)) > columns:
            out.append(lines)
            continue
        pairs = zip_longest(out[-1], lines, fillvalue="")
        out[-1] = [(left + " " * (width + _GAP - _letters(left)) + right) if right else left for left, right in pairs]
    return ["".join(f"{line}\n" for line in lines) for lines in out]


def _letters(line: str) -> int:
    """Letters of a line that show."""
    return len(_ESCAPE.sub("", line))


def _measure(panel: Panel) -> tuple[int, int]:
    """Letters beside the cells of a light grid, and of each of its cells with the letter before it."""
    width = max(1, *map(len, _labels(panel)), *(len(printable(label)) for label in panel.col_ruler.labels))
    margin = max(2, len(printable(panel.row_ruler.title)), *(len(printable(label)) for label in panel.row_ruler.labels))
    return margin + 1, width + 1


def _wrapped(text: str, columns: int | None) -> str:
    """A text in lines of so many letters, each closed by LF."""
    text = printable(text)
    lines = [text] if columns is None or len(text) <= columns else wrap(text, columns, 1, commas=True)
    return "".join(f"{line}\n" for line in lines)


def _legends(figure: Figure, paint: Colouring, columns: int | None) -> str:
    out = []
    for legend in told(figure):
        title = _wrapped(f"{legend.title}:", columns)[:-1]
        line, length = title, len(title.rpartition("\n")[2])
        for n, entry in enumerate(legend.entries):
            comma = "," if n + 1 < len(legend.entries) else ""
            label = printable(entry.label)
            need = 1 + len(label) + 2 + len(comma)
            if columns is not None and length + need > columns:
                line, length = line + "\n ", 1
            line, length = line + " " + paint(entry.paint, f" {label} ").strip() + comma, length + need
        out.append(line + "\n")
    return "".join(out)


def _no_paint(index: int, text: str) -> str:
    return text


def _painter(figure: Figure, colours: Palette) -> Colouring:
    """Colour escapes by rich: the escapes of each paint are asked for once and put around every cell of it."""
    from rich.color import ColorSystem
    from rich.style import Style

    marks = {}
    for index, paint in enumerate(figure.paints):
        style = Style(color=colours.ink(paint), bgcolor=colours.fill(paint))
        if paint.faded or paint.hue == -1:  # goes towards the terminal's own page, whose colour nobody knows
            style = Style(dim=paint.faded, reverse=paint.shade > 0)
        before, _, after = style.render("\0", color_system=ColorSystem.TRUECOLOR).partition("\0")
        marks[index] = (before, after)

    def painted(index: int, text: str) -> str:
        if index not in marks:
            return text
        before, after = marks[index]
        return before + text + after

    return painted
