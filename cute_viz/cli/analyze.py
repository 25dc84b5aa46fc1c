"""`cute-viz analyze`: what an access of shared or global memory costs, and why."""

from __future__ import annotations

import re
from typing import Any

import click

from cute_viz.analysis.banks import ACCESSES, INSTRUCTIONS, REDUCTIONS, REMOTE
from cute_viz.analysis.patterns import instruction_of
from cute_viz.cli import output
from cute_viz.cli.again import again
from cute_viz.cli.options import option
from cute_viz.cli.words import FILE, TYPE, Choice, Command, SourceOptions, complete_sources, reading_options
from cute_viz.engine import ask
from cute_viz.engine.accessing import DRAWN, Accessor
from cute_viz.errors import CuteVizError
from cute_viz.options.words import read

_INSTRUCTIONS = (*ACCESSES, *REMOTE, *REDUCTIONS, *INSTRUCTIONS)


class _Instruction(Choice):
    """An instruction by our name, PTX's or SASS's."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The instruction's name. Raises: UsageError for a word that names none."""
        return super().convert(instruction_of(value), param, ctx)


@click.command(cls=Command)
@click.argument("sources", metavar="FILE...|LAYOUT", nargs=-1, required=True, shell_complete=complete_sources)
@click.option("--all", "everything", is_flag=True, help="List every access, and every line that was not evaluated")
@click.option("--max-ways", type=click.FloatRange(1), metavar="N", help="Exit 1 above N ways, on a mistake, or where not counted")
@click.option("--ncu", **FILE, help="Compare with Nsight Compute's source page in FILE (CSV)")
@click.option("--set", "settings", multiple=True, metavar="NAME=EXPR", help="Show what it would cost with this definition")
@click.option("--accept", multiple=True, metavar="LINE", help="Allow this line any cost: 201, file.h:201")
@click.option("--baseline", **FILE, help="Exit 1 if an access got worse than in FILE (--json)")
@click.option("--access", metavar="OBJECT", help="Access by ldmatrix, cp.async, rows, column, a TV layout")
@click.option("--type", "element", default=None, **TYPE, help="Element type: f16, 8  [default: the object's]")
@click.option(
    "--instruction", type=_Instruction(_INSTRUCTIONS), metavar="NAME", help="Instruction: ldmatrix.x4, ld.128, ds_read_b64"
)
@click.option("--operand", metavar="LETTER", help="Operand of a TiledMMA: A, B or C")
@click.option("--store", is_flag=True, help="Count a write instead of a read")
@click.option("--global", "sectors", is_flag=True, help="Count sectors of global memory instead of banks")
@click.option("--json", "as_json", is_flag=True, help="Print JSON")
@click.option("--format", "kind", type=Choice(("text", "json", "sarif", "github")), metavar="FORMAT", help="Report format")
@click.option("-o", "--output", "path", **FILE, help="Write the report (.html .json .sarif .txt), or draw")
@click.option("--view", "--draw", "draw", type=Choice(DRAWN), default="phases", metavar="VIEW", help="Picture of -o")
@click.option("--thread", metavar="N[..M]", help="Highlight only these threads (view tile)")
@click.option("--wavefront", type=click.IntRange(0), metavar="N", help="Highlight only this wavefront, from 0 (view tile)")
@click.option("--animate", is_flag=True, help="With -o FILE.svg: one wavefront after the other")
@option("target")
@option("fragment")
@reading_options
def command(sources: tuple[str, ...], **given: Any) -> None:
    """Find the bank conflicts of a kernel: each copy and gemm of FILE (C++ or the Python DSL), and each access of a `__shared__`
    array, the worst first, why, and the edit that fixes it. Types and sizes are those of the calls from main, run without
    arguments; --let sets others.

    With --access, count the wavefronts of one access of the tile LAYOUT. A wavefront is one round of shared memory: 32 banks of
    4 bytes. An n-way conflict asks one bank for n words.
    """
    if len(sources) == 1:
        _analyze(source=sources[0], **given)
        return
    if given["access"] or given["path"] or given["baseline"] or given["settings"] or given["ncu"] or given["as_json"]:
        raise click.UsageError("--access, --baseline, --json, --ncu, --set and -o take one file")
    if given["kind"] not in (None, "text", "github"):
        raise click.UsageError(f"--format {given['kind']} takes one file")
    failed = False
    for n, source in enumerate(sources):
        if n and given["kind"] != "github":
            output.echo()
        try:
            _analyze(source=source, **given)
        except CuteVizError as error:
            output.error(error)
            failed = True
    click.get_current_context().exit(1 if failed else 0)


@again
def _analyze(
    source: str,
    access: str | None,
    element: str | None,
    instruction: str | None,
    operand: str | None,
    store: bool,
    sectors: bool,
    as_json: bool,
    everything: bool,
    kind: str | None,
    ncu: str | None,
    settings: tuple[str, ...],
    max_ways: float | None,
    accept: tuple[str, ...],
    baseline: str | None,
    path: str | None,
    draw: str,
    thread: str | None,
    wavefront: int | None,
    animate: bool,
    target: str | None,
    fragment: bool,
    reading: SourceOptions,
) -> None:
    """The report of one file, or the cost of one access."""
    from cute_viz.cli import kernel
    from cute_viz.engine.access import accessor, picture_of, report_of, typed
    from cute_viz.engine.answer import format_of

    before = None if baseline is None else kernel.before(baseline)
    answer = ask(reading.request(source))
    if access is None and instruction is not None and "matrix" in instruction:
        access, instruction = instruction, None  # each of its lanes has a row of the tile
    if settings:
        kernel.what_if(answer, settings, as_json or kind == "json")
        return
    if access is None and (report := answer.kernel) is not None:
        if ncu is not None:
            kernel.compare(report, ncu, source)
            return
        if any(error.needs for _, error in report.unknown):
            output.compiler(source, reading.build)
        kernel.say(report, source, answer.readings[0].text or "", "json" if as_json else kind, path, everything, accept)
        kernel.judge(report, max_ways, accept, before)
        return
    if access is None and answer.readings[0].query is None and answer.readings[0].path and answer.readings[0].file is not None:
        hint = (
            "for one tile: `name=` its name, `access=` ldmatrix, rows, column or a TiledCopy of the file; "
            "in plain CUDA write the layout: cute-viz analyze '(32,33):(33,1)' `access=column` `type=f32`; of global memory, "
            "p[2 * threadIdx.x]: cute-viz analyze 32:2 `access=32:1` `global=` `type=f32`"
        )
        absent = re.search(r'^[ \t]*#[ \t]*include[ \t]+"((?!cute/|cutlass/)[^"\n]+)"', answer.readings[0].text or "", re.M)
        if absent is not None and reading.build is None:
            hint = f"{absent[1]} was not found: as compiled, --flags '-arch=sm_90a -I FOLDER' names its folder"
        hint = next((note for note in answer.told if note.startswith("the compiler: ")), hint)
        raise CuteVizError("there is no `copy` or `gemm` statement to report", name=source, hint=hint)
    if max_ways is not None or accept or baseline is not None or kind not in (None, "text", "json") or everything or ncu:
        raise click.UsageError("--max-ways, --accept, --baseline, --all, --ncu and --format need the file of a kernel")
    as_json = as_json or kind == "json"
    if path is not None and access is None:
        raise click.UsageError("-o needs --access")
    if path is None and (fragment or target not in (None, "screen")):
        raise click.UsageError("--for and --fragment need -o")
    format_ = format_of(None, output.file_of(path)) if path is not None else ""
    if animate and (format_ != "svg" or sectors):
        raise click.UsageError("--animate needs -o FILE.svg and an access of shared memory")
    if (draw != "phases" or thread is not None or wavefront is not None) and (path is None or animate):
        raise click.UsageError("--view, --thread and --wavefront need -o, without --animate")
    output.notes(answer.notes)
    by = None if access is None else accessor(answer, access)
    asked = Accessor(
        by, element, instruction, operand, store, sectors, reading.library.arch, draw, read("thread", thread), wavefront
    )
    asked = typed(asked, answer.bits)
    if path is not None:
        drawn = picture_of(answer.layout, asked)
        target = None if target == "screen" else target
        output.write(drawn.render(format_, fragment=fragment or None, target=target, animate=animate or None), path)
    found = report_of(answer.layout, asked)
    if by is None:
        output.facts(found, as_json)
    elif as_json:
        output.echo(output.data(found))
    else:
        _table(found["steps"], "wave" if reading.library.arch.startswith("gfx") else "warp")
        output.echo(found["summary"])


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
