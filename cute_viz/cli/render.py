"""`cute-viz render`: a source becomes a picture."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

import click

from cute_viz.cli import output
from cute_viz.cli.options import picture_options
from cute_viz.cli.words import FILE, Choice, Command, SourceOptions, complete_sources, reading_options
from cute_viz.engine import ask
from cute_viz.engine.answer import format_of
from cute_viz.engine.drawing import check_format
from cute_viz.renderers import FORMATS
from cute_viz.renderers.geometry import keeping


@click.command(cls=Command)
@click.argument("sources", metavar="SOURCE...", shell_complete=complete_sources, nargs=-1, required=True)
@click.option("-o", "--output", "path", **FILE, help="Write to FILE; the suffix selects the format")
@click.option("-T", "--format", "format_", type=Choice(list(FORMATS)), metavar="FORMAT", help="")
@click.option("--all", "every", is_flag=True, help="Draw every object on one page; -o DIR/ writes a folder")
@picture_options
@click.option(
    "--color",
    "color_",
    type=Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    metavar="WHEN",
    help="Color text output",
)
@reading_options
def command(
    sources: tuple[str, ...],
    path: str | None,
    format_: str | None,
    every: bool,
    options: dict[str, Any],
    color_: str,
    reading: SourceOptions,
) -> None:
    """Draw notation, atoms, files, kernel.cu::sA or prints, several side by side."""
    if every:
        if reading.name is not None or len(sources) > 1:
            raise click.UsageError("--all draws every object of one file; leave out --name and further SOURCEs")
        if path is not None and (path.endswith(("/", os.sep)) or os.path.isdir(path)):
            from cute_viz.cli import pictures  # the gallery's index is behind it

            pictures.write(ask(reading.request(sources[0], options=options, formats=(format_ or "svg",))), format_ or "svg", path)
            return
    format_ = format_of(format_, output.file_of(path))
    check_format(format_, options)
    if format_ in ("png", "pdf") and output.file_of(path) is None and sys.stdout.isatty():
        raise click.UsageError(f"{format_} cannot be written to a terminal; give a file with -o")
    answer = ask(reading.request(*sources, options=options, formats=(format_,)))
    if every:
        output.write(answer.write_page(format_, color=_coloured(format_, path, color_)), path)
        from cute_viz.cli import pictures  # the gallery's index is behind it

        pictures.tell(answer)
        return
    output.notes(answer.notes)
    coloured = answer.how.style != "cutlass" and _coloured(format_, path, color_)
    columns = _columns(answer.how.target, format_, output.file_of(path) is None)
    with keeping():  # the hints are of the page that was written
        output.write(answer.write(format_, color=coloured, columns=columns), path)
        if output.file_of(path) is not None:
            output.notes(answer.hints(format_))
    if output.file_of(path) is not None and path is not None and (caption := answer.caption(format_)) is not None:
        stem = os.path.splitext(path)[0]  # nobody named this file: a link of its name is not followed
        output.write(caption[1].encode("utf-8", "replace"), stem + caption[0], os.path.dirname(path))


def _columns(target: str | None, format: str, on_stdout: bool) -> int | None:
    """Letters that a line of text may have: those of the terminal that it goes to, or is for; None for as many as there are."""
    if format != "text" or not (target == "terminal" or (target is None and on_stdout and sys.stdout.isatty())):
        return None
    return max(40, shutil.get_terminal_size((80, 24)).columns)


def _coloured(format: str, path: str | None, wanted: str) -> bool:
    return format == "text" and output.file_of(path) is None and wanted_color(wanted)


def wanted_color(choice: str) -> bool:
    """`always`, `never`, or `auto`: a terminal that has not asked for plain text (no-color.org)."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
