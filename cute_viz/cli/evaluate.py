"""`cute-viz eval`: expressions in, one result a line out."""

from __future__ import annotations

import sys
from typing import Any

import click

from cute_viz.algebra.inttuple import show
from cute_viz.cli import output
from cute_viz.cli.words import Reading, reading_options
from cute_viz.engine.answer import evaluate
from cute_viz.engine.subject import values_of
from cute_viz.errors import CuteVizError, boundary
from cute_viz.limits import limit, over


@click.command(
    epilog="\b\nExamples:\n"
    "  cute-viz eval '(4,8):(8,1)' 'size((4,8):(8,1))'\n"
    "  cute-viz eval 'a = (4,8):(8,1); a(2,3)'\n"
    "  printf 'coalesce((2,(1,6)):(1,(6,2)))\\n' | cute-viz eval -"
)
@click.argument("expressions", metavar="EXPR...|-", nargs=-1, required=True)
@reading_options
def command(expressions: tuple[str, ...], reading: Reading) -> None:
    """Print the value of each EXPR in CuTe notation; a name bound by one can be used by the next.

    With - every line of standard input is an expression and gives exactly one line; a line that fails gives
    'error: ...', and the exit status is 1 at the end. With - and --name all of it is one text, of which that object is printed.
    """
    names = values_of(reading.let, reading.request())
    if expressions == ("-",) and reading.name is not None:  # one object of a whole text
        (source,) = reading.request("-").sources
        click.echo(_value(source.text, names, reading))
        return
    if expressions == ("-",):
        _lines(names, reading)
        return
    for text in expressions:
        click.echo(_value(text, names, reading))


def _lines(names: dict[str, Any], reading: Reading) -> None:
    failed = False
    if sys.stdin is None:
        raise CuteVizError("standard input is closed")
    sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]
    while line := sys.stdin.readline(limit("input") + 2):
        text = line.rstrip("\r\n")
        if len(text) > limit("input"):  # of a line without an end nothing more is read
            raise over("input", f"a line has more than {limit('input')} characters", place="standard input")
        try:
            with boundary():
                result = _value(text, names, reading) if text.strip() else ""
        except CuteVizError as error:
            result, failed = f"error: {error.line('cli')}", True
        click.echo(result.replace("\n", " "))
    if failed:
        raise SystemExit(1)


def _value(text: str, names: dict[str, Any], reading: Reading) -> str:
    """The value of the last statement, in CuTe notation; its bindings are kept in `names`."""
    value, bound = evaluate(text, reading.request(), names, output.warn)
    names |= bound
    return show(value).rstrip("\n")
