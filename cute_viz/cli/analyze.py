"""`cute-viz analyze`: what an access of shared or global memory costs, and why."""

from __future__ import annotations

from typing import Any

import click

from cute_viz.analysis.banks import ACCESSES
from cute_viz.cli import output, source
from cute_viz.errors import AlgebraError
from cute_viz.figures.words import count


@click.command(
    epilog="\b\nExamples:\n"
    "  cute-viz analyze 'Sw<3,3,3> o 0 o (8,64):(64,1)'\n"
    "  cute-viz analyze '(8,64):(64,1)' --access '((8,4),8):((1,64),8)' --instruction ldmatrix.x4 --type f16\n"
    "  cute-viz analyze 'tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (128,64))' --type f16 \\\n"
    "      --access 'make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}, mma)' \\\n"
    "      --let 'mma=make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))'"
)
@click.argument("source_", metavar="LAYOUT")
@click.option("--access", metavar="OBJECT", help="Who accesses it: a TiledCopy, a TiledMMA with --operand, or a TV layout.")
@click.option(
    "--type",
    "element",
    default=None,
    metavar="TYPE",
    help="The element type: f16, half_t, 8 ... [default: of OBJECT or of LAYOUT's pointer, else f16]",
)
@click.option("--instruction", type=click.Choice(ACCESSES), help="Instead of the one that follows from the access.")
@click.option("--operand", metavar="LETTER", help="Of a TiledMMA: A, B or C.")
@click.option("--store", is_flag=True, help="The tile is written, not read.")
@click.option("--global", "is_global", is_flag=True, help="Global memory: sectors and lines instead of banks.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@click.option("-o", "--output", "path", metavar="FILE", help="Draw the costliest step, phase by phase; the suffix is the format.")
@source.options
def command(
    source_: str,
    access: str | None,
    element: str | None,
    instruction: str | None,
    operand: str | None,
    store: bool,
    is_global: bool,
    as_json: bool,
    path: str | None,
    reading: source.Reading,
) -> None:
    """Count the wavefronts of each step of each warp that accesses the tile LAYOUT, against the ideal; without --access, tell
    the facts of the layout.

    A wavefront is one round of shared memory: 32 banks of 4 bytes. An n-way conflict asks one bank for n words.
    """
    from cute_viz.algebra.recast import bits_of
    from cute_viz.analysis.access import accesses, element_bits

    layout = source.layout_of(source_, reading)
    bits = None if element is None else bits_of(element)
    if access is None:
        of_access = {"-o": path, "--instruction": instruction, "--operand": operand, "--store": store, "--global": is_global}
        if given := next((option for option, value in of_access.items() if value), None):
            raise click.UsageError(f"{given} goes with --access")
        output.facts(_facts(layout, element_bits(layout, given=bits)), as_json)
        return
    if store and instruction is not None and instruction.startswith("ld"):
        raise click.UsageError(f"--store and --instruction {instruction} contradict each other: it reads")
    if is_global and instruction is not None and "matrix" in instruction:
        raise click.UsageError(f"--global and --instruction {instruction} contradict each other: it is of shared memory")
    if is_global and path is not None:
        raise click.UsageError("-o draws the banks of shared memory, not --global")
    by = source.read_object(access, source.Reading(reading.let))
    found = accesses(layout, bits, by, instruction=instruction, operand=operand, store=store)
    if path is not None:
        _draw(found, layout, path)
    report = _global(found) if is_global else _shared(found)
    if as_json:
        import json

        click.echo(json.dumps(report))
        return
    _table(report["steps"])
    click.echo(report["summary"])


def _shared(found: list[Any]) -> dict[str, Any]:
    """The wavefronts of each access, and of all."""
    rows = []
    for a in found:
        phases = a.phases()
        rows.append(
            {
                "warp": a.warp,
                "step": a.step,
                "instruction": a.instruction,
                "wavefronts": sum(phase.wavefronts for phase in phases),
                "ideal": a.ideal,
                "ways": max((phase.wavefronts for phase in phases), default=0),
                "phases": [phase.wavefronts for phase in phases],
                "conflicts": _conflicts(phases),
            }
        )
    total, ideal = sum(row["wavefronts"] for row in rows), sum(row["ideal"] for row in rows)
    worst = max((row["ways"] for row in rows), default=0)
    conflict = "no conflicts" if total == ideal else f"conflicts up to {worst}-way"
    summary = f"{count(total, 'wavefront')} in {count(len(rows), 'instruction')}, {ideal} are ideal: {conflict}"
    return {"wavefronts": total, "ideal": ideal, "worst": worst, "summary": summary, "steps": rows}


def _conflicts(phases: list[Any]) -> list[dict[str, Any]]:
    """Who collides: of each bank that a phase asks for several words, the lanes of each word."""
    return [
        {"phase": n, "bank": bank, "lanes": [list(lanes) for _, lanes in phase.banks[bank]]}
        for n, phase in enumerate(phases)
        for bank in phase.conflicts
    ]


def _global(found: list[Any]) -> dict[str, Any]:
    """The sectors and lines of each access, and of all."""
    from cute_viz.analysis.access import global_request

    rows = []
    for a in found:
        if "matrix" in a.instruction:
            raise AlgebraError(
                f"the copy's {a.instruction} is of shared memory", hint="leave out --global, or name an --instruction"
            )
        request = global_request(a.begins, a.width, a.mask)
        rows.append(
            {
                "warp": a.warp,
                "step": a.step,
                "instruction": f"{a.instruction.split('.')[0]}.{8 * a.width}",  # ld.16 and ld.8, too, which banks serve as words
                "sectors": request.sectors,
                "lines": request.lines,
                "efficiency": round(request.efficiency, 4),
                "alignment": request.alignment,
            }
        )
    sectors = sum(row["sectors"] for row in rows)
    useful = sum(row["efficiency"] * row["sectors"] for row in rows) / max(1, sectors)
    summary = f"{count(sectors, 'sector')} of 32 bytes in {count(len(rows), 'request')}: {useful:.0%} of their bytes are asked for"
    return {"sectors": sectors, "efficiency": round(useful, 4), "summary": summary, "steps": rows}


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


def _draw(found: list[Any], layout: Any, path: str) -> None:
    """The phase strip of the costliest access."""
    from cute_viz.algebra.inttuple import show
    from cute_viz.cli.render import format_of
    from cute_viz.figures.phases import strip
    from cute_viz.renderers import render

    worst = max(found, key=lambda a: a.wavefronts)
    title = f"{worst.instruction} of warp {worst.warp}, step {worst.step}: {worst.wavefronts} wavefronts, {worst.ideal} are ideal"
    note = "The label of a row is the phase and its wavefronts: the words in its fullest bank."
    figure = strip(title, show(layout), worst.phases(), note)
    output.write(render(figure, format_of(None, path)), path)


def _facts(layout: Any, bits: int) -> dict[str, Any]:
    from cute_viz.analysis.facts import layout_facts, memory_facts

    return {**layout_facts(layout), **memory_facts(layout, bits)}
