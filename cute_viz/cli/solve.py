"""`cute-viz find layout`: which layout gives a table of offsets or of owners, or what a function computes."""

from __future__ import annotations

import os

import click

from cute_viz import files
from cute_viz.cli import output
from cute_viz.cli.words import Command, let_option, source_of
from cute_viz.errors import CuteVizError
from cute_viz.limits import limit, over
from cute_viz.options.words import read


@click.command(cls=Command)
@click.argument("table", metavar="TABLE|FUNCTION")
@click.option("--tile", metavar="MxN", help="Rows x columns over which FUNCTION(row, column) is evaluated")
@let_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON")
def command(table: str, tile: str | None, let: dict[str, str], as_json: bool) -> None:
    """Find the layout that gives a TABLE of offsets, or of owners (T3V1), or that a FUNCTION of a row and a column computes.

    TABLE is a file, - (stdin), or rows separated by semicolons. The layout is a plain one, or one behind a swizzle; for owners it
    maps (thread, value) to the index in the column-major tile. If there is none, the first contradicting cell is shown.

    FUNCTION is the text of a function of C++ or Python, or a lambda, or its address, kernel.cu::index.
    """
    from cute_viz.analysis.solve import read_npy, solve, solved
    from cute_viz.engine.arithmetic import EXAMPLES, is_function, layout_of
    from cute_viz.engine.request import Request

    data = files.bytes_of(table) if table.endswith(".npy") else None
    if data is not None and len(data) > limit("file"):
        raise over("file", "this is too large", place=table)
    text = str(source_of(table).text) if table == "-" else table
    by_function = data is None and not os.path.isfile(text) and is_function(text)
    if by_function and tile is None:
        raise click.UsageError("a FUNCTION needs --tile, its rows and columns")
    if tile is not None and not by_function:
        raise click.UsageError(f"--tile is for a FUNCTION, and this is none: write {EXAMPLES}")
    try:
        if by_function:
            found = layout_of(text, read("tile", tile), Request((), let=let))
        else:
            found = solved(_text(text)) if data is None else solve(read_npy(data))
    except CuteVizError as error:
        raise error.named(table if os.path.isfile(table) else None) from None
    if as_json:
        covered = list(found.tile) if found.tile else None
        output.echo(output.data({"layout": str(found.layout), "kind": found.kind, "tile": covered}))
    else:
        output.say(str(found.layout), err=False)


def _text(table: str) -> str:
    if os.path.isfile(table):
        text = files.read_text(table)
        rows = [row for row in text.splitlines() if row.strip()]
        return text.replace(";", " ") if len(rows) > 1 and all(";" in row for row in rows) else text  # a CSV of Excel in Europe
    if not table.strip():
        raise CuteVizError("the table is empty", hint="rows, for example '0 1; 2 3'")
    if not any(char.isdigit() for char in table) or table.endswith((".csv", ".txt", ".npy")):
        raise CuteVizError(
            "there is no such file", name=table, hint="a file, - for standard input, or rows, for example '0 1; 2 3'"
        )
    return table.replace(";", "\n")
