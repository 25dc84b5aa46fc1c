"""What commands write: bytes to a file or standard output, tables and facts as aligned lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from cute_viz import files
from cute_viz.errors import CuteVizError


def write(data: bytes, path: str | None) -> None:
    """Write to a path, or to standard output for None and `-`. A file appears whole or not at all."""
    if path is None or path == "-":
        if sys.stdout.name == os.devnull:
            raise CuteVizError("standard output is closed", hint="give a file with -o")
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        files.write(data, path)


def table(rows: Sequence[Sequence[str]]) -> None:
    """Rows as lines, their columns aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(f"{word:<{width}}" for word, width in zip(row, widths, strict=True)).rstrip())


def facts(known: dict[str, Any], as_json: bool) -> None:
    """Facts as aligned lines, or as one JSON object."""
    if as_json:
        import json

        click.echo(json.dumps(known))
        return
    width = max(map(len, known))
    for name, fact in known.items():
        click.echo(f"{name:<{width}}  {({True: 'yes', False: 'no'}[fact]) if isinstance(fact, bool) else fact}")
