"""`cute-viz find swizzle`: which Swizzle<B,M,S> removes the conflicts."""

from __future__ import annotations

import sys

import click
from click.core import ParameterSource

from cute_viz.cli import output
from cute_viz.cli.options import OptionValue
from cute_viz.cli.words import FILE, TYPE, Command, SourceOptions, complete_sources, let_option
from cute_viz.engine.answer import format_of
from cute_viz.options import OPTIONS


@click.command(cls=Command)
@click.argument("tile", metavar="ROWSxCOLS|LAYOUT", shell_complete=complete_sources, required=False)
@click.option("--type", "element", **TYPE, help="Element type: e4m3, 32  [default: LAYOUT's, or f16]")
@click.option("--read", "reads", multiple=True, metavar="ACCESS", help="How the tile is read; --list names the accesses")
@click.option("--write", "writes", multiple=True, metavar="ACCESS", help="How it is written")
@click.option("--top", type=click.IntRange(1), default=8, show_default=True, help="Candidates to show")
@click.option("--arch", default="", metavar="ARCH", help="Target GPU; gfx90a, gfx942: ds_read, ds_write, waves of 64")
@click.option("--list", "listing", is_flag=True, help="List the accesses; with --arch those of that GPU")
@click.option("--json", "as_json", is_flag=True, help="Print every candidate as JSON")
@click.option("-o", "--output", "path", **FILE, help="Draw the banks before and after; the suffix is the format")
@let_option
def command(
    tile: str | None,
    element: str | None,
    reads: tuple[str, ...],
    writes: tuple[str, ...],
    top: int,
    arch: str,
    listing: bool,
    as_json: bool,
    path: str | None,
    let: dict[str, str],
) -> None:
    """Find the swizzle that makes a row-major tile of shared memory free of bank conflicts.

    The tile is ROWSxCOLS, or as large as a LAYOUT, for example kernel.cu::sA. Every legal swizzle is tried, and padding for
    comparison. M keeps the widest vector of the accesses together, so that 16-byte accesses, cp.async and TMA remain possible.
    """
    if listing:
        from cute_viz.analysis.banks import memory_of
        from cute_viz.analysis.patterns import FURTHER, OF_WAVES, PATTERNS

        _alone()
        for name, words in ({**PATTERNS, **FURTHER} if memory_of(arch.lower()) is None else OF_WAVES).items():
            output.echo(f"{name:<12} {words}")
        return
    if tile is None:
        raise click.UsageError("the tile is missing: give ROWSxCOLS, for example 64x64")
    from cute_viz.engine.search import search_swizzle

    size, bits = tile_in(tile, let)
    result = search_swizzle(size, element or bits or "f16", (*reads, *writes), arch.lower())
    if path is not None:
        output.write(result.figure.render(format_of(None, output.file_of(path))), path)
    if as_json:
        output.echo(output.data(result.as_dict(result.found)))
        return
    output.echo("\n".join(result.table(top)))
    output.echo()
    output.echo(output.fitted(result.why, sys.stdout))


def tile_in(word: str, let: dict[str, str]) -> tuple[tuple[int, int], int | None]:
    """The tile that a word is, ROWSxCOLS or a layout, and the bits of its elements where it says them."""
    if not word.strip("0123456789x×*,()_ "):
        return OptionValue(OPTIONS["tile"]).convert(word, None, click.get_current_context()), None
    from cute_viz.engine import ask
    from cute_viz.engine.search import tile_of

    return tile_of(ask(SourceOptions(let).request(word)))


def _alone() -> None:
    """Refuse what --list ignores: every option but --arch. A tile has all accesses."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in ("listing", "arch", "tile"):
            continue
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE and context.params[name]:
            raise click.UsageError(f"--list only lists the accesses: leave out {parameter.opts[-1]}")
