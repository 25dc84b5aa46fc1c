"""`cute-viz eval`: expressions in, one result a line out."""

from __future__ import annotations

import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from io import BufferedReader, StringIO, TextIOWrapper
from typing import Any, TextIO

import click

from cute_viz.algebra.inttuple import show
from cute_viz.cli import output
from cute_viz.cli.words import Choice, Command, SourceOptions, complete_sources, reading_options
from cute_viz.engine.evaluate import evaluate
from cute_viz.engine.reading import is_file, values_of
from cute_viz.errors import CuteVizError, UsageError, boundary
from cute_viz.files import decode
from cute_viz.limits import limit, over
from cute_viz.source.address import address_of


@click.command(cls=Command)
@click.argument("expressions", metavar="EXPR|FILE...|-", shell_complete=complete_sources, nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: value, names, warnings")
@click.option(
    "--as",
    "language",
    type=Choice(("cute", "cpp", "dsl", "ir", "triton", "table", "yaml")),
    metavar="LANG",
    help="Write it in another language",
)
@reading_options
def command(expressions: tuple[str, ...], as_json: bool, language: str | None, reading: SourceOptions) -> None:
    """Print the value of each EXPR in CuTe notation. A name bound by one can be used by the next.

    With -, each line of standard input is an expression and gives one line of output; a line that fails gives 'error: ...'. A FILE
    or an address, kernel.cu::gemm_tn::sA(_,_,0), prints that object. --as writes it in another language;
    --as yaml tidies a spec file.
    """
    if language is not None:
        if as_json:
            raise click.UsageError("--as cannot be combined with --json")
        for text in expressions:
            write_as(text, language, reading)
        return
    at_hand = {text: is_file(text) or (text == "-" and reading.name is not None) for text in expressions}
    if as_json and "-" in expressions and not at_hand["-"]:
        raise click.UsageError("--json takes expressions, not standard input")
    names = {} if all(at_hand.values()) else values_of(reading.let, reading.request())
    if expressions == ("-",) and not at_hand["-"]:
        _lines(names, reading)
        return
    for text in expressions:
        if at_hand[text]:
            output.echo(_of_file(text, as_json, reading))
        else:
            output.echo((_json if as_json else _value)(text, names, reading))


def write_as(source: str, target: str, reading: SourceOptions) -> None:
    """Print a source in a language; what is printed reads back as an equal object.

    An encoding of Triton is the same map of memory, or, with --shape, of the threads and values of a tensor; yaml tidies a spec.
    """
    from cute_viz.engine import ask
    from cute_viz.notation.write import write

    if target == "yaml":
        from cute_viz.spec.tidy import tidied

        spec = source.endswith((".yaml", ".yml"))
        if not spec and (not is_file(source) or address_of(source) is not None):
            hint = "in a spec a source is the value of a field, layout: (4,8):(8,1)"
            raise UsageError(f"`as=yaml` tidies a spec file; {source[:60]!r} is not one", hint=hint)
        text, lost = tidied(source, reading.library)
        if lost:
            output.notes([f"comments are dropped, the first one on line {lost}; the one at the top is kept"])
        output.echo(text, nl=False)
        return
    answer = ask(reading.request(source))
    output.notes(answer.notes)
    if target == "table":
        from cute_viz.analysis.solve import table_of

        output.echo(table_of(answer.layout), nl=False)
    elif target == "triton":
        from cute_viz.notation.triton_shared import write_triton

        output.echo(write_triton(answer.obj, reading.library.shape, reading.library.wave or 32))
    else:
        from cute_viz.algebra.static import mark_static
        from cute_viz.source.text import is_dsl

        file = answer.subjects[0].file
        constant = target == "cpp" and not reading.let  # the integers that a text of the DSL has
        constant = constant and (file.language == "python" if file is not None else is_dsl(source, reading.dialect))
        output.echo(write(mark_static(answer.obj) if constant else answer.obj, target))


def _of_file(source: str, as_json: bool, reading: SourceOptions) -> str:
    """The object of a file, or of an address, as its language prints it."""
    from cute_viz.engine import ask

    answer = ask(reading.request(source))
    if as_json:
        import json

        return json.dumps({"value": answer.printed, "names": {}, "warnings": list(answer.notes)})
    output.notes(answer.notes)
    return answer.printed


def _lines(names: dict[str, Any], reading: SourceOptions) -> None:
    failed = False
    if sys.stdin is None:
        raise CuteVizError("standard input is closed")
    raw: Any = sys.stdin.buffer
    data = raw if isinstance(raw, BufferedReader) else BufferedReader(raw)
    stream: TextIO = TextIOWrapper(data, encoding="utf-8-sig", errors="surrogateescape")
    if data.peek(2)[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
        stream = StringIO(decode(data.read(limit("file") + 1), "standard input"))
    while line := stream.readline(limit("input") + 2):
        text = line.rstrip("\r\n")
        if len(text) > limit("input"):  # of a line without an end nothing more is read
            raise over("input", f"a line has more than {limit('input')} characters", place="standard input")
        try:
            with boundary():
                result = _value(text, names, reading) if text.strip() else ""
        except CuteVizError as error:
            result, failed = f"error: {error.line('cli')}", True
        output.echo(result.replace("\n", " "))
    if failed:
        raise SystemExit(1)


def _value(text: str, names: dict[str, Any], reading: SourceOptions) -> str:
    """The value of the last statement, in CuTe notation; its bindings are kept in `names`."""
    value, bound = evaluate(text, reading.request(), names, output.warn, printed=True)
    names |= bound
    return show(value).rstrip("\n")


def _json(text: str, names: dict[str, Any], reading: SourceOptions) -> str:
    """What an expression gives, as JSON; its bindings are kept in `names`."""
    import json

    warnings: list[str] = []
    value, bound = evaluate(text, reading.request(), names, warnings.append, printed=True)
    mine = {name: show(other).rstrip("\n") for name, other in bound.items() if names.get(name) is not other}
    names |= bound
    return json.dumps({"value": show(value).rstrip("\n"), "names": mine, "warnings": warnings})
