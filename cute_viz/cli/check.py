"""`cute-viz verify`: pictures against a GPU, cell by cell."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import click

from cute_viz import __version__
from cute_viz.check.report import PROVES
from cute_viz.cli import output
from cute_viz.cli.options import OptionValue
from cute_viz.cli.words import FILE, Choice, Command, SourceOptions, complete_sources, reading_options
from cute_viz.engine import ask
from cute_viz.engine.answer import format_of
from cute_viz.engine.drawing import options_for
from cute_viz.options import OPTIONS
from cute_viz.spelling import spelled

if TYPE_CHECKING:
    from cute_viz.check.report import CheckReport
    from cute_viz.check.runner import Checkable


class _Rule(NamedTuple):
    """An option that excludes some others, or needs one of some; `{0}` in the words is the option itself."""

    option: str
    words: str
    apart: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


_RULES = (
    _Rule("--all", "--all checks everything; leave out the SOURCEs", apart=("SOURCE",)),
    _Rule("", "name what to check, or give --all", needs=("SOURCE", "--all", "--counters")),
    _Rule("--emit", "--emit writes kernels to standard output and runs no check", apart=("-o", "--save", "--json")),
    *(
        _Rule(option, "{0} compiles CUDA C++: use --emit cuda, or leave out {0}", apart=("--emit ptx",))
        for option in ("--static", "--with-cute")
    ),
    _Rule(
        "--counters", "--counters reads the hardware and has no kernel to write: leave out --counters or --emit", apart=("--emit",)
    ),
    _Rule("--static", "--static cannot be combined with --all", apart=("--all",)),
    *(
        _Rule(option, "{0} cannot be combined with --static, which only compiles the offsets of layouts", apart=("--static",))
        for option in ("--counters", "--with-cute", "--tile", "--save", "-o")
    ),
    _Rule("--tile", "--tile needs a layout: name one", needs=("SOURCE",)),
)


def _refuse(given: set[str]) -> None:
    """The first rule that what was given breaks, as wrong usage."""
    for rule in _RULES:
        broken = not given.isdisjoint(rule.apart) or (rule.needs and given.isdisjoint(rule.needs))
        if broken and rule.option in (*given, ""):
            raise click.UsageError(rule.words.format(rule.option))


def _promise(kind: str) -> str:
    """What a kind of check proves, and what it does not."""
    proves, not_ = PROVES[kind]
    return spelled(f"{kind}: proves that {proves}; does not decide {not_}.", "cli")


@click.command(cls=Command)
@click.argument("sources", metavar="SOURCE...", shell_complete=complete_sources, nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Verify the whole library and every packaged spec")
@click.option(
    "--tile",
    type=OptionValue(OPTIONS["tile"]),
    metavar=OPTIONS["tile"].metavar,
    help="Tile of a thread-value layout",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON")
@click.option("--save", **FILE, help="Save the compact report that captions refer to")
@click.option("--emit", type=Choice(["ptx", "cuda"]), help="Print the kernels, run nothing")
@click.option("--with-cute", is_flag=True, help="Also evaluate layouts with CuTe's headers on the GPU")
@click.option("--static", is_flag=True, help="Evaluate layouts with CuTe's headers at compile time")
@click.option("--counters", is_flag=True, help="Compare wavefronts and sectors with Nsight Compute")
@click.option("-o", "--output", "path", **FILE, help="Draw the first difference, its cells marked")
@reading_options
def command(
    sources: tuple[str, ...],
    everything: bool,
    tile: tuple[int, int] | None,
    as_json: bool,
    save: str | None,
    emit: str | None,
    with_cute: bool,
    static: bool,
    counters: bool,
    path: str | None,
    reading: SourceOptions,
) -> int:
    """Verify on a GPU, cell by cell, that the picture of SOURCE shows what the hardware does.

    Each check also runs a corrupted table, which must be caught, and reads from poisoned buffers. Known differences between CuTe
    and the hardware are reported as `known` and are not failures.

    Needs an NVIDIA GPU, its driver and pip install 'cute-viz[gpu]'; --emit needs none of them. Exit status: 0 all agree, 1 a cell
    differs, 3 nothing could be checked.
    """
    switches = {"--all": everything, "--json": as_json, "--with-cute": with_cute, "--static": static, "--counters": counters}
    values = {"SOURCE": sources, "--tile": tile, "--save": save, "--emit": emit, f"--emit {emit}": emit, "-o": path}
    _refuse({option for option, value in (switches | values).items() if value})
    from cute_viz.check import runner

    subjects = list(_subjects(sources, reading))  # what cannot be read needs no GPU to be told so
    if emit:
        cuda = emit == "cuda"
        text = (
            runner.asserts(subjects)
            if static
            else runner.kernels(subjects, cuda=cuda, everything=everything, tile=tile, library=reading.library)
        )
        output.echo(text, nl=False)
        return 0
    if static:
        found = runner.static(subjects, __version__)
    else:
        with _bar(everything and sys.stderr.isatty()) as progress:
            found = runner.check(
                subjects,
                everything=everything,
                tile=tile,
                with_cute=with_cute,
                counted=counters,
                version=__version__,
                library=reading.library,
                progress=progress,
            )
    return _tell(found, everything, as_json, save, path)


def _subjects(sources: Sequence[str], reading: SourceOptions) -> Iterator[Checkable]:
    """What the sources stand for, each read when it is asked for."""
    from cute_viz.check.runner import Checkable

    for text in sources:
        answer = ask(reading.request(text))
        output.notes(answer.notes)
        yield Checkable(text, answer.obj, options_for(answer.subjects[0], answer.request).get("tile"))


@contextmanager
def _bar(shown: bool) -> Iterator[Callable[[int, int], object] | None]:
    """A progress bar on stderr, if shown: a function that takes how many checks are done, and of how many."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("checking", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _tell(found: CheckReport, everything: bool, as_json: bool, save: str | None, path: str | None) -> int:
    """Write the report where it was asked for, and draw the first disagreement; the exit status."""
    from cute_viz.check.report import document, evidence, picture, status

    if save:
        output.write((json.dumps(evidence(found), indent=1) + "\n").encode(), save)
    if as_json:
        output.echo(output.data(document(found)))
    elif everything:
        _say_counts(found)
    else:
        _say(found)
    different = [verdict for verdict in found.verdicts if verdict.sheets]
    if path and different:
        output.write(picture(different[0]).render(format_of(None, output.file_of(path))), path)
    elif path:
        output.notes(["nothing differs, so there is nothing to draw"])
    return status(found.verdicts)


def _machine(found: CheckReport) -> str:
    return f"{found.machine['device']}, driver {found.machine['driver']}, CUDA {found.machine['cuda']}"


def _say(found: CheckReport) -> None:
    """The report for people: a line a check, and what each kind of check proves. What was only compiled is of one kind."""
    from cute_viz.check.report import lines

    on_device = "device" in found.machine
    if on_device:
        output.echo(_machine(found))
    for verdict in found.verdicts:
        kind = f", {verdict.kind}" if on_device else ""
        output.echo(f"{verdict.verdict:<9} {verdict.name}{kind}: {lines(verdict)}")
        for panel, row, column, drawn, seen in verdict.differences:
            output.echo(f"  {panel} ({row},{column}): drawn {drawn}, seen {seen}")
    decided = [verdict.kind for verdict in found.verdicts if verdict.verdict != "undecided"]
    for kind in dict.fromkeys(decided if on_device else ()):
        output.echo(_promise(kind))


def _say_counts(found: CheckReport) -> None:
    """The report of everything: a table of counts, the bandwidth, and what does not simply agree."""
    from rich.console import Console
    from rich.table import Table

    from cute_viz.check.report import counts, lines

    output.echo(_machine(found))
    table = Table("kind", "agree", "differ", "known", "undecided", "cells", "cells agreeing", "controls caught")
    for kind, numbers in counts(found.verdicts).items():
        table.add_row(kind, *(f"{n:,}" for n in numbers.values()))
    Console().print(table)
    if speed := found.more.get("bandwidth"):
        output.echo("; ".join(f"{key}: {value}" for key, value in speed.items()))
    for verdict in found.verdicts:
        if verdict.verdict in ("differ", "known"):
            output.echo(f"{verdict.verdict:<9} {verdict.name}: {lines(verdict)}")
