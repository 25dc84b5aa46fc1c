"""`cute-viz analyze`: what an access of shared or global memory costs, and why."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import click

from cute_viz.analysis.banks import ACCESSES
from cute_viz.analysis.memories import INSTRUCTIONS
from cute_viz.cli import output
from cute_viz.cli.words import Reading, reading_options
from cute_viz.engine import ask
from cute_viz.engine.access import Access, film, picture_of, report_of
from cute_viz.engine.answer import Answer, format_of
from cute_viz.source.model import matching


@click.command(
    epilog="\b\nExamples:\n"
    "  cute-viz analyze 'Sw<3,3,3> o 0 o (8,64):(64,1)'\n"
    "  cute-viz analyze '(8,64):(64,1)' --access '((8,4),8):((1,64),8)' --instruction ldmatrix.x4 --type f16\n"
    "  cute-viz analyze 'tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (128,64))' --type f16 \\\n"
    "      --access 'make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}, mma)' \\\n"
    "      --let 'mma=make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))'"
)
@click.argument("source", metavar="LAYOUT")
@click.option(
    "--access",
    metavar="OBJECT",
    help="Who accesses it: a TiledCopy, a TiledMMA with --operand, a TV layout; or a name in the file.",
)
@click.option(
    "--type",
    "element",
    default=None,
    metavar="TYPE",
    help="The element type: f16, half_t, 8 ... [default: of OBJECT or of LAYOUT's pointer, else f16]",
)
@click.option(
    "--instruction", type=click.Choice([*ACCESSES, *INSTRUCTIONS]), help="Instead of the one that follows from the access."
)
@click.option("--operand", metavar="LETTER", help="Of a TiledMMA: A, B or C.")
@click.option("--store", is_flag=True, help="The tile is written, not read.")
@click.option("--global", "sectors", is_flag=True, help="Global memory: sectors and lines instead of banks.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@click.option("-o", "--output", "path", metavar="FILE", help="Draw the costliest step: its wavefronts, or sectors.")
@click.option("--animate", is_flag=True, help="With -o FILE.svg: a film of lanes and banks, a frame for each wavefront.")
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
    path: str | None,
    animate: bool,
    reading: Reading,
) -> None:
    """Count the wavefronts of each step of each warp that accesses the tile LAYOUT, against the ideal; without --access, tell
    the facts of the layout.

    A wavefront is one round of shared memory: 32 banks of 4 bytes. An n-way conflict asks one bank for n words. With --arch gfx90a
    or gfx942 the lanes are those of a wave of 64, served in the phases that AMD documents.
    """
    if path is not None and access is None:
        raise click.UsageError("-o goes with --access")
    format_ = format_of(None, output.file_of(path)) if path is not None else ""
    if animate and (format_ != "svg" or sectors):
        raise click.UsageError("--animate goes with -o FILE.svg, and with shared memory")
    answer = ask(reading.request(source))
    output.notes(answer.notes)
    by = None if access is None else _accessor(answer, source, access, reading)
    asked = Access(by, element, instruction, operand, store, sectors, reading.library.arch)
    if path is not None:
        drawn = picture_of(answer.layout, asked)
        output.write(film(drawn) if animate else drawn.render(format_), path)
    report = report_of(answer.layout, asked)
    if by is None:
        output.facts(report, as_json)
    elif as_json:
        click.echo(json.dumps(report))
    else:
        _table(report["steps"])
        click.echo(report["summary"])


def _accessor(answer: Answer, source: str, access: str, reading: Reading) -> Any:
    """The object that accesses: of the file that LAYOUT is of, where that defines the name; otherwise an expression of its own."""
    file = answer.subjects[0].file
    if file is not None and source != "-" and matching(file.entries, access):
        return ask(replace(reading, name=access).request(source)).obj
    return ask(reading.beside(access)).obj


def _table(steps: list[dict[str, Any]]) -> None:
    """A line a step; equal steps of a warp are told once."""
    keys = [key for key in steps[0] if key not in ("step", "conflicts")]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for step in steps:
        groups.setdefault(tuple(str(step[key]) for key in keys), []).append(step["step"])
    head = ["warp", "steps", *keys[1:]]
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
