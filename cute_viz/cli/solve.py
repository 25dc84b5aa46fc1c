"""`cute-viz solve`: which layout gives a table of offsets, or of owners."""

from __future__ import annotations

import json
import os

import click

from cute_viz import files
from cute_viz.cli import output
from cute_viz.cli.words import source_of
from cute_viz.errors import CuteVizError
from cute_viz.limits import limit, over


@click.command(
    epilog="\b\nExamples:\n"
    "  # rows are separated by semicolons or lines\n  cute-viz solve '0 1 2 3; 4 5 6 7'\n"
    "  # an empty row, or line, begins the next index of a third mode\n  cute-viz solve '0 4; 1 5;; 8 12; 9 13'\n"
    "  cute-viz solve offsets.csv\n"
    "  # the TV layout of a table of T0V0, T0V1 ...\n  cute-viz solve owners.txt --json"
)
@click.argument("table", metavar="TABLE")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a line.")
def command(table: str, as_json: bool) -> None:
    """Find the layout that gives TABLE, a file, `-` for standard input, or its rows: a plain one, else one behind a swizzle;
    for a table of owners (T3V1), the layout from (thread, value) to the index into the column-major tile. Where there is none,
    show the first cell that contradicts the cells before it.
    """
    from cute_viz.analysis.solve import read_npy, solve, solved

    data = files.bytes_of(table) if table.endswith(".npy") else None
    if data is not None and len(data) > limit("file"):
        raise over("file", "this is too large", place=table)
    try:
        found = solved(_text(table)) if data is None else solve(read_npy(data))
    except CuteVizError as error:
        raise error.named(table if os.path.isfile(table) else None) from None
    if as_json:
        tile = list(found.tile) if found.tile else None
        click.echo(json.dumps({"layout": str(found.layout), "kind": found.kind, "tile": tile}))
    else:
        output.say(str(found.layout), err=False)


def _text(table: str) -> str:
    if table == "-":
        return str(source_of(table).text)
    if os.path.isfile(table):
        return files.read_text(table)
    if not table.strip():
        raise CuteVizError("the table is empty", hint="rows such as '0 1; 2 3'")
    if not any(char.isdigit() for char in table) or table.endswith((".csv", ".txt", ".npy")):
        raise CuteVizError("there is no such file", name=table, hint="a file, - for standard input, or rows such as '0 1; 2 3'")
    return table.replace(";", "\n")
