"""`cute-viz analyze`: what an access of shared or global memory costs, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from cute_viz.analysis.banks import ACCESSES, REDUCTIONS, REMOTE
from cute_viz.analysis.memories import INSTRUCTIONS
from cute_viz.cli import output
from cute_viz.cli.help import Choice, Command
from cute_viz.cli.words import Reading, reading_options
from cute_viz.engine import ask
from cute_viz.engine.access import DRAWN, Access, accessor, film, picture_of, report_of, typed
from cute_viz.engine.answer import format_of
from cute_viz.engine.kernel import HEAD, Report, assumption, page_of, place
from cute_viz.errors import CuteVizError, spelled
from cute_viz.options.words import read

if TYPE_CHECKING:
    from cute_viz.source.model import Move

_WIDE = 56  # characters of a statement in the table
_INSTRUCTIONS = (*ACCESSES, *REMOTE, *REDUCTIONS, *INSTRUCTIONS)


@click.command(
    cls=Command,
    epilog="Examples:\n"
    "  cute-viz analyze 'Sw<3,3,3> o 0 o (8,64):(64,1)'\n"
    "  cute-viz analyze '(8,64):(64,1)' --access '((8,4),8):((1,64),8)' \\\n"
    "    --instruction ldmatrix.x4 --type f16\n"
    "  cute-viz analyze --type f16 \\\n"
    "    'tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (128,64))' \\\n"
    "    --access 'make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}, M)' \\\n"
    "    --let 'M=make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))'",
)
@click.argument("source", metavar="LAYOUT|FILE")
@click.option(
    "--access",
    metavar="OBJECT",
    help="Who accesses it: a TiledCopy, a TiledMMA with --operand, a TV layout; or a name in the file",
)
@click.option(
    "--type",
    "element",
    default=None,
    metavar="TYPE",
    help="The element type: f16, half_t, 8 ... [default: that of OBJECT or of LAYOUT's tensor or pointer]",
)
@click.option(
    "--instruction",
    type=Choice(_INSTRUCTIONS),
    metavar="NAME",
    help=f"The instruction, instead of the one implied by the access: {', '.join(_INSTRUCTIONS)}",
)
@click.option("--operand", metavar="LETTER", help="The operand of a TiledMMA: A, B or C")
@click.option("--store", is_flag=True, help="The tile is written, not read")
@click.option("--global", "sectors", is_flag=True, help="Global memory: sectors and lines instead of banks")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines")
@click.option(
    "--max-ways",
    type=click.FloatRange(1),
    metavar="N",
    help="For a kernel: exit with 1 if an access costs more than N times its ideal wavefronts, or could not be evaluated",
)
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    help="Draw the costliest step: its wavefronts, or sectors. For a kernel, write the report, as .html",
)
@click.option(
    "--draw",
    type=Choice(DRAWN),
    default="phases",
    help="With -o: phases, a row for each wavefront; frames, lanes joined to banks, a frame for each wavefront, plain beside "
    "swizzled; tile, the cells that are touched, each with thread, value and bank.",
)
@click.option("--thread", metavar="N[..M]", help="With --draw tile: light these threads alone")
@click.option("--wavefront", type=click.IntRange(0), metavar="N", help="With --draw tile: light this wavefront alone, from 0")
@click.option("--animate", is_flag=True, help="With -o FILE.svg: animate lanes and banks, one frame for each wavefront")
@reading_options
def command(
    source: str,
    access: str | None,
    element: str | None,
    instruction: str | None,
    operand: str | None,
    store: bool,
    sectors: bool,
    as_json: bool,
    max_ways: float | None,
    path: str | None,
    draw: str,
    thread: str | None,
    wavefront: int | None,
    animate: bool,
    reading: Reading,
) -> None:
    """Count the wavefronts of each step of each warp that accesses the tile LAYOUT, against the ideal; without --access, show
    facts about the layout.

    A wavefront is one round of shared memory: 32 banks of 4 bytes. An n-way conflict asks one bank for n words. With --arch gfx90a
    or gfx942 the lanes are those of a wave of 64, served in the phases that AMD documents.

    For a whole FILE of C++ or the Python DSL, without --name and --access: every `copy` and `gemm` between tensors that can be
    evaluated, what it costs once for a thread block, the worst first, with the swizzle or the padding that would cure its tile.
    The files of its folder that it includes are read with it. The types and sizes of C++ are those of the calls from `main`, as if
    the program had no arguments; --let gives others.
    """
    answer = ask(reading.request(source))
    if access is None and (report := answer.kernel) is not None:
        return _kernel(report, source, as_json, path, max_ways)
    if max_ways is not None:
        raise click.UsageError("--max-ways needs the file of a kernel")
    if path is not None and access is None:
        raise click.UsageError("-o needs --access")
    format_ = format_of(None, output.file_of(path)) if path is not None else ""
    if animate and (format_ != "svg" or sectors):
        raise click.UsageError("--animate needs -o FILE.svg and an access of shared memory")
    if (draw != "phases" or thread is not None or wavefront is not None) and (path is None or animate):
        raise click.UsageError("--draw, --thread and --wavefront go with -o, without --animate")
    if access is None and answer.readings[0].query is None and answer.readings[0].path and answer.readings[0].file is not None:
        raise CuteVizError(
            "there is no `copy` or `gemm` statement to report",
            name=source,
            hint="for one tile: `name=` its name, `access=` a TiledCopy of the file; `cute-viz list` shows the names",
        )
    output.notes(answer.notes)
    by = None if access is None else accessor(answer, access)
    asked = Access(by, element, instruction, operand, store, sectors, reading.library.arch, draw, read("thread", thread), wavefront)
    asked = typed(asked, answer.bits)
    if path is not None:
        drawn = picture_of(answer.layout, asked)
        output.write(film(drawn) if animate else drawn.render(format_), path)
    found = report_of(answer.layout, asked)
    if by is None:
        output.facts(found, as_json)
    elif as_json:
        click.echo(json.dumps(found))
    else:
        _table(found["steps"], "wave" if reading.library.arch.startswith("gfx") else "warp")
        click.echo(found["summary"])


def _kernel(report: Report, source: str, as_json: bool, path: str | None, max_ways: float | None) -> None:
    """The report of a kernel; exit status 1 where it is worse than it may be."""
    if path is not None:
        if not path.endswith((".html", ".htm")):
            raise click.UsageError("the report of a kernel can only be written as .html")
        output.write(page_of(report, source), path)
    elif as_json:
        click.echo(json.dumps(report.as_dict()))
    else:
        _accesses(report, source)
    if max_ways is None:
        return
    if report.ways > max_ways:
        raise CuteVizError(f"an access costs {report.ways:g} times its ideal wavefronts, {max_ways:g} are allowed")
    if report.unknown:
        raise CuteVizError(f"{len(report.unknown)} statements could not be evaluated", hint="without `max-ways=` they are listed")


def _accesses(report: Report, source: str) -> None:
    """One line per access, the cures of the tiles, and what could not be evaluated."""
    rows = [list(HEAD)]
    for row in report.accesses:
        line, _, *counts = row.cells
        rows.append([line, _short(row.move), *counts])
    if report.accesses:
        output.table(rows)
    cures: dict[Any, dict[str, None]] = {}
    for row in report.accesses:
        if row.cost.side and row.cure:
            pointer = row.cost.side.tensor.pointer
            cures.setdefault((row.move.call, pointer.base, row.cure), {})[pointer.name] = None
    for (call, _, (layout, left, ideal)), tiles in cures.items():
        where = f", called in {call}" if call else ""
        output.say(f"{', '.join(tiles)}{where}: {layout} would leave {left} wavefronts, {ideal} are ideal", err=False)
    for instruction in dict.fromkeys(row.cost.why[0] for row in report.accesses if row.cost.side is None and row.cost.why):
        output.say(instruction, err=False)
    if told := assumption(report):
        output.say(f"{told}; --let gives others", err=False)
    for note in report.notes:
        output.say(note, err=False)
    if source.endswith((".cu", ".cuh")) and any(error.needs for _, error in report.unknown):
        output.say("--flags or -p reads the file as compiled, which needs no values", err=False)
    causes: dict[str, list[Move]] = {}
    for move, error in report.unknown:
        causes.setdefault(f"not evaluated: {spelled(error.message, 'cli')}{_needs(error)}", []).append(move)
    for cause, moves in causes.items():
        if len(moves) == 1:
            output.say(f"line {place(moves[0])}: {_short(moves[0])}: {cause}", err=False)
        else:  # one cause stops many statements of a kernel with a missing parameter
            output.say(f"{len(moves)} statements {cause}: {_lines(moves)}", err=False)


def _lines(moves: list[Move]) -> str:
    """The lines of some statements, each once, the first of many."""
    places = list(dict.fromkeys(map(place, moves)))
    more = f" and {len(places) - 12} more, which --json lists" if len(places) > 12 else ""
    return f"line{'s' * (len(places) > 1)} {', '.join(places[:12])}{more}"


def _short(move: Move) -> str:
    text = move.text if len(move.text) <= _WIDE else move.text[: _WIDE - 3] + "..."
    return f"{text} [{move.call}]" if move.call else text


def _needs(error: CuteVizError) -> str:
    return f" ({spelled(error.hint, 'cli')})" if error.hint else ""


def _table(steps: list[dict[str, Any]], group: str) -> None:
    """One line per step; equal steps of a warp, or of a `group` of another name, are listed once."""
    keys = [key for key in steps[0] if key not in ("step", "conflicts")]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for step in steps:
        groups.setdefault(tuple(str(step[key]) for key in keys), []).append(step["step"])
    head = [group, "steps", *keys[1:]]
    output.table([head, *([mine[0], _ranges(numbers), *mine[1:]] for mine, numbers in groups.items())])


def _ranges(numbers: list[int]) -> str:
    """`0..3, 8`: numbers in runs."""
    out: list[list[int]] = []
    for n in numbers:
        if out and n == out[-1][1] + 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    words = [str(a) if a == b else f"{a}..{b}" for a, b in out]
    return ", ".join(words[:4]) + (f" ... {len(words) - 4} more" if len(words) > 4 else "")
