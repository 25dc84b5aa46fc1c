"""`cute-viz render`: a source becomes a picture."""

from __future__ import annotations

import os
from typing import Any

import click

from cute_viz.cli import color, output, source
from cute_viz.cli.params import Range, Tile
from cute_viz.errors import CuteVizError
from cute_viz.figures.model import Figure
from cute_viz.figures.options import LABELS, MAX_CELLS, VIEWS, FigureOptions
from cute_viz.renderers import FORMATS, Options, format_of_suffix, render

STYLES = ("default", "cutlass")
THEMES = ("auto", "light", "dark")
COLOR_BY = ("offset", "mod8", "chunk", "thread", "value", "warp", "row", "column", "tile", "none")


def _palettes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from cute_viz.figures.palette import PALETTES

    return [name for name in PALETTES if name.startswith(incomplete)]


@click.command(
    epilog="\b\nExamples:\n"
    "  cute-viz render '(4,8):(8,1)'                                    a grid in the terminal\n"
    "  cute-viz render '((16,8),8):((64,1),8)' --tile 8x128 -o tv.svg   who owns each cell\n"
    "  cute-viz render '((4,8),(2,2)):((32,1),(16,8))' --tile 16x8 --view table\n"
    "  cute-viz render '(_4,_8):(_8,_1)' -T tikz --style cutlass        print_latex, byte for byte\n"
    "  cute-viz render SM80_16x8x16_F32BF16BF16F32_TN --thread 5 -o mma.svg\n"
    "  make 2>&1 | cute-viz render - --name sA                          what a kernel printed\n"
    "  cute-viz render '(8,8):(8,1)' -T json > f.json; cute-viz render f.json -o f.svg"
)
@click.argument("source_", metavar="SOURCE")
@click.option("-o", "--output", "path", metavar="FILE", help="The file to write; its suffix fixes the format.")
@click.option("-T", "--format", "format_", type=click.Choice(list(FORMATS)), help="Output format, else text.")
@click.option(
    "--view",
    type=click.Choice(VIEWS),
    help="grid: offsets. tv: the owner of each tile cell. table: thread by value. both. Of shared memory: banks, address.",
)
@click.option("--tile", type=Tile(), help="The tile that a thread-value layout covers, rows x columns. Makes 'tv' the view.")
@click.option("--color-by", type=click.Choice(COLOR_BY), help="What hue means; each view has its own default.")
@click.option("--labels", type=click.Choice(LABELS), default="auto", show_default=True, help="The text of a cell.")
@click.option("--coords", is_flag=True, help="Rulers show the nested coordinates of hierarchical modes.")
@click.option("--title", help="A title instead of the one made from the layout.")
@click.option(
    "--style", type=click.Choice(STYLES), default="default", show_default=True, help="cutlass: the bytes of CuTe's own printers."
)
@click.option("--palette", metavar="NAME", shell_complete=_palettes, help="Colours; see 'cute-viz list palettes'.")
@click.option(
    "--theme",
    type=click.Choice(THEMES),
    default="auto",
    show_default=True,
    help="SVG: light, dark, or both.",
)
@click.option("--fragment", is_flag=True, help="TikZ for \\input, SVG for inlining: no preamble.")
@click.option(
    "--color",
    "color_",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="Colour the text output.",
)
@click.option("--thread", type=Range(), help="Colour these threads alone: 5, or 0..3.")
@click.option("--warp", type=Range(), help="Colour these warps alone.")
@click.option("--value", type=Range(), help="Colour these values of the threads alone.")
@click.option("--operand", metavar="LETTERS", help="Of an MMA only these panels: A, B, C; of a copy S, D.")
@click.option(
    "--type", "element", metavar="TYPE", help="The element type of shared memory, for --view banks and address: f16, 8 ..."
)
@click.option("--tensor", metavar="LAYOUT", help="Draw what --thread holds of this tensor: the partition, spelled out.")
@source.options
@click.option("--max-cells", type=click.IntRange(1), default=MAX_CELLS, show_default=True, help="Refuse figures with more cells.")
def command(
    source_: str,
    path: str | None,
    format_: str | None,
    view: str | None,
    tile: tuple[int, int] | None,
    color_by: str | None,
    labels: str,
    coords: bool,
    title: str | None,
    style: str,
    palette: str | None,
    theme: str,
    fragment: bool,
    color_: str,
    thread: range | None,
    warp: range | None,
    value: range | None,
    operand: str | None,
    element: str | None,
    tensor: Any,
    max_cells: int,
    reading: source.Reading,
) -> None:
    """Draw SOURCE: a layout, an MMA or a copy, in CuTe notation, C++, Python or as CuTe printed it; the name of an atom; a
    figure's JSON file; or - for standard input.

    Without -o and -T the picture is a text grid on standard output.
    """
    format_ = format_of(format_, path)
    subject = source.read(source_, reading)
    if tensor is not None:
        tensor = source.obj_of(source.read(tensor, source.Reading(reading.let)))
    if element is not None:
        from cute_viz.algebra.recast import bits_of
    given = {
        "view": view,
        "tile": tile,
        "color_by": color_by,
        "labels": None if labels == "auto" else labels,
        "coords": coords or None,
        "title": title,
        "max_cells": None if max_cells == MAX_CELLS else max_cells,
        "thread": thread,
        "warp": warp,
        "value": value,
        "operand": operand,
        "tensor": tensor,
        "bits": None if element is None else bits_of(element),
    }
    options = {key: word for key, word in given.items() if word is not None}
    if type(subject).__name__ == "Spec":
        style = style if style != "default" else subject.style
        palette = palette or subject.palette
        options = source.options_of(subject, **options)
    figure = _figure(source.obj_of(subject), FigureOptions(**options))
    to_terminal = format_ == "text" and path in (None, "-") and style != "cutlass"
    colored = to_terminal and color.wanted(color_)
    data = render(figure, format_, Options(style, palette, theme, fragment, colored))
    output.write(data, path)


def format_of(format_: str | None, path: str | None) -> str:
    """The format from -T or the suffix of -o; both must agree."""
    if path is None or path == "-":
        return format_ or "text"
    suffix = os.path.splitext(path)[1]
    implied = format_of_suffix(suffix)
    if format_ is None and implied is None:
        known = " ".join(s for f in FORMATS.values() for s in f.suffixes)
        raise click.UsageError(f"the suffix of {path!r} names no format; give -T, or one of {known}")
    if format_ and implied and format_ != implied:
        raise click.UsageError(f"-T {format_} and -o {path} contradict each other")
    return format_ or implied or "text"


def _figure(subject: Any, options: FigureOptions) -> Figure:
    if isinstance(subject, Figure):
        if options != FigureOptions(title=options.title, max_cells=options.max_cells):
            raise CuteVizError(
                "a figure's JSON is a finished figure",
                hint="--view, --tile, --color-by, --labels, --coords and highlights go with an object",
            )
        if options.title is None:
            return subject
        from dataclasses import replace

        return replace(subject, title=options.title)
    from cute_viz.figures import build

    figure = build(subject, options)
    if getattr(subject, "name", ""):  # an atom: a kept report may speak of it
        from cute_viz.check.digest import noted

        figure = noted(figure, subject)
    return figure
