"""`cute-viz render`: a source becomes a picture."""

from __future__ import annotations

import os
import sys
from typing import Any

import click
from click.core import ParameterSource

from cute_viz.cli import color, output, source
from cute_viz.cli.params import Pixels, Range, Tile
from cute_viz.errors import CuteVizError, FigureError
from cute_viz.figures.model import Figure
from cute_viz.figures.options import LABELS, MAX_CELLS, FigureOptions
from cute_viz.figures.views import VIEWS
from cute_viz.renderers import FORMATS, Options, format_of_suffix, render

STYLES = ("default", "cutlass")
THEMES = ("auto", "light", "dark", "print")
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
    "  cute-viz render 'logical_divide((8,6), (4,3))' --view operation -o divide.svg\n"
    "  cute-viz render '(8,8):(8,1)' '(8,8):(1,8)' --diff               side by side, differences marked\n"
    "  make 2>&1 | cute-viz render - --name sA                          what a kernel printed\n"
    "  cute-viz render '(8,8):(8,1)' -T json > f.json; cute-viz render f.json -o f.svg"
)
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option("-o", "--output", "path", metavar="FILE", help="The file to write; its suffix fixes the format.")
@click.option("-T", "--format", "format_", type=click.Choice(list(FORMATS)), help="Output format, else text.")
@click.option(
    "--view",
    type=click.Choice(VIEWS),
    help=" ".join(f"{name}: {view.meaning}." for name, view in VIEWS.items()),
)
@click.option("--tile", type=Tile(), help="The tile that a thread-value layout covers, rows x columns. Makes 'tv' the view.")
@click.option("--color-by", type=click.Choice(COLOR_BY), help="What hue means; each view has its own default.")
@click.option(
    "--labels",
    type=click.Choice(LABELS),
    default="auto",
    show_default=True,
    help="The text of a cell; full: never left out for lack of room.",
)
@click.option("--coords", is_flag=True, help="Rulers show the nested coordinates of hierarchical modes.")
@click.option("--title", help="A title instead of the one made from the layout.")
@click.option(
    "--style",
    type=click.Choice(STYLES),
    default="default",
    show_default=True,
    help="cutlass: the bytes of CuTe's own printers (text, tikz; svg of an MMA).",
)
@click.option("--palette", metavar="NAME", shell_complete=_palettes, help="Colours; see 'cute-viz list palettes'.")
@click.option(
    "--theme",
    type=click.Choice(THEMES),
    default="auto",
    show_default=True,
    help="Of pages: light, dark, or both where the format can. print: greys.",
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
@click.option("--diff", is_flag=True, help="Of two sources: mark the cells that differ.")
@click.option("--fold", type=click.IntRange(1), metavar="COLUMNS", help="Cut wide panels into bands of so many columns.")
@click.option("--crop", type=Tile(), help="Draw only the first rows x columns of each panel, and say so.")
@click.option(
    "--width", type=Pixels(200, 20000), help="Pixels that the page may take; labels give way to fit, rulers and captions do not."
)
@click.option("--cell", type=Pixels(0.01, 400), help="Pixels of a cell; what it shows follows from its size.")
@source.options
@click.option(
    "--max-cells",
    type=click.IntRange(1),
    default=MAX_CELLS,
    show_default=True,
    help="Refuse figures with more cells; as SVG, PNG, PDF and HTML, layouts become an image then.",
)
def command(
    sources: tuple[str, ...],
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
    diff: bool,
    fold: int | None,
    crop: tuple[int, int] | None,
    width: float | None,
    cell: float | None,
    max_cells: int,
    reading: source.Reading,
) -> None:
    """Draw SOURCE: a layout, an MMA or a copy, in CuTe notation, C++, Python or as CuTe printed it; the name of an atom; a
    figure's JSON file; or - for standard input.

    Without -o and -T the picture is a text grid on standard output. Several SOURCEs are drawn side by side.
    """
    format_ = format_of(format_, path)
    _check_format(format_, path, style)
    _check_diff(diff, tensor)
    if view == "operation" and (reading.name is not None or reading.dialect != "auto"):
        option = "--name" if reading.name is not None else "--dialect"
        raise click.UsageError(f"{option} does not go with --view operation, which draws the last operation of its text")
    if tensor is not None:
        tensor = source.read_object(tensor, source.Reading(reading.let))
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
        "bits": None if element is None else _bits(element),
        "heat": FORMATS[format_].pages or None,
    }
    options = {key: word for key, word in given.items() if word is not None}
    figures, full = [], False
    for one in sources:
        subject = _call(one, reading) if view == "operation" else source.read(one, reading)
        mine = options
        if source.is_spec(subject):
            from cute_viz.documents.draw import options_of

            style = style if style != "default" else subject.style
            palette = palette or subject.palette
            mine = options_of(subject, **options)
        if len(sources) > 1:
            mine = {key: word for key, word in mine.items() if key != "title"}
        full = full or mine.get("labels", "auto") not in ("auto", "none")
        try:
            figures.append(_figure(source.obj_of(subject), FigureOptions(**mine)))
        except CuteVizError as error:
            if source.is_spec(subject) and not set(options) - {"heat"}:  # else the mistake may be the command line's
                subject.locate(error, "figure")
            raise
    figure = _trimmed(_joined(figures, diff, title), fold, crop)
    to_terminal = format_ == "text" and path in (None, "-") and style != "cutlass"
    how = Options(style, palette, theme, fragment, to_terminal and color.wanted(color_), width, cell, full)
    output.write(render(figure, format_, how), path)


def _bits(element: str) -> int:
    """The width of an element type; few pictures need it."""
    from cute_viz.algebra.recast import bits_of

    return bits_of(element)


def _check_format(format_: str, path: str | None, style: str) -> None:
    """Refuse options of the command line that a format has no use for, and pixels on a terminal."""
    asked = click.get_current_context().get_parameter_source
    pages = [name for name, row in FORMATS.items() if row.pages]
    fragments = [name for name, row in FORMATS.items() if row.fragments]
    for option, formats in (("fragment", fragments), ("theme", pages), ("width", pages), ("cell", pages)):
        if format_ not in formats and asked(option) == ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{option} goes with {', '.join(formats)}, not with {format_}")
    if style == "cutlass" and asked("title") == ParameterSource.COMMANDLINE:
        raise click.UsageError("CuTe's printers write no title: leave out --title, or --style cutlass")
    if format_ in ("png", "pdf") and path in (None, "-") and sys.stdout.isatty():
        raise click.UsageError(f"{format_} is no text for a terminal; give a file with -o")


def _check_diff(diff: bool, tensor: str | None) -> None:
    """Refuse colours and highlights beside --diff, whose own colours they would be; --thread may say whose part of a tensor."""
    asked = click.get_current_context().get_parameter_source
    highlights = [] if tensor is not None else ["thread"]
    for option in ("color_by", *highlights, "warp", "value"):
        if diff and asked(option) == ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{option.replace('_', '-')} does not go with --diff, which colours the cells that differ")


def _call(expression: str, reading: source.Reading) -> Any:
    """The operation that an expression is, with its operands."""
    from cute_viz.figures.operation import Call
    from cute_viz.notation import read_call
    from cute_viz.spec import resolve

    name, operands, template = read_call(expression, reading.names(), resolve)
    if not name:
        raise FigureError(f"{expression!r} is no operation", hint="such as logical_divide((8,6), (4,3)), or A o B")
    return Call(name, tuple(operands), template)


def _joined(figures: list[Figure], diff: bool, title: str | None) -> Figure:
    """The figure, or several beside each other, or what differs between two."""
    if diff and len(figures) != 2:
        raise click.UsageError(f"--diff compares two sources, not {len(figures)}")
    if len(figures) == 1:
        return figures[0]
    from cute_viz.figures.compare import difference, side_by_side

    return difference(figures[0], figures[1], title) if diff else side_by_side(figures, title)


def _trimmed(figure: Figure, fold: int | None, crop: tuple[int, int] | None) -> Figure:
    """The figure cropped, then folded, as was asked for."""
    if crop is None and fold is None:
        return figure
    from cute_viz.figures import trim

    figure = figure if crop is None else trim.crop(figure, *crop)
    return figure if fold is None else trim.fold(figure, fold)


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
        if options != FigureOptions(title=options.title, max_cells=options.max_cells, heat=options.heat):
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
