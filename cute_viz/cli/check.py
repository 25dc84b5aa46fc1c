"""`cute-viz check`: pictures against a GPU, cell by cell."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from cute_viz import __version__
from cute_viz.check.job import Check, Item, Undecided, module
from cute_viz.check.promises import CLAIMS, PROVES
from cute_viz.check.report import Verdict
from cute_viz.cli import output, source
from cute_viz.cli.params import Tile
from cute_viz.errors import CannotCheck

BATCH = 64  # modules that are compiled side by side


@click.command(
    epilog="\b\nExamples:\n"
    "  cute-viz check SM80_16x8x16_F32BF16BF16F32_TN\n"
    "  cute-viz check 'Sw<3,3,3> o 0 o (8,64):(64,1)' --json\n"
    "  cute-viz check '(4,8):(8,1)' --emit ptx\n"
    "  cute-viz check 'Sw<3,3,3> o 0 o (8,64):(64,1)' --static\n"
    "  cute-viz check --all --save report.json\n\n"
    + "\n\n".join(f"{kind}: proves that {proves}; does not decide {not_}." for kind, (proves, not_) in PROVES.items())
)
@click.argument("sources", metavar="SOURCE...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="The whole library of atoms and every spec that comes with it.")
@click.option("--tile", type=Tile(), help="Of a layout drawn as a map of threads and values.")
@click.option("--json", "as_json", is_flag=True, help="The report as one JSON object.")
@click.option("--save", metavar="FILE", help="Keep the compact report: device, versions, counts, digest of each mapping.")
@click.option("--emit", type=click.Choice(["ptx", "cuda"]), help="Write the kernels instead of running them; needs no GPU.")
@click.option("--with-cute", is_flag=True, help="CuTe's own headers evaluate layouts on the device, too; the extra 'cute'.")
@click.option("--static", is_flag=True, help="CuTe's own headers evaluate layouts while they are compiled; needs no GPU.")
@click.option("--counters", is_flag=True, help="Wavefronts and sectors against the hardware's counters, by Nsight Compute (ncu).")
@click.option("-o", "--output", "path", metavar="FILE", help="Draw the first disagreement, its cells marked.")
@source.options
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
    reading: source.Reading,
) -> int:
    """Run kernels that decide, cell by cell, whether what is drawn of SOURCE is what the GPU does.

    Every check runs a control as well, a corrupted table that must be caught, and reads buffers that were poisoned before.
    What CuTe is known to have otherwise than the hardware is told as `known`, and is no failure.

    Needs an NVIDIA GPU, its driver, and pip install 'cute-viz[gpu]'; --emit needs none of them. Exit status: 0 all agree; 1 a
    cell differs; 3 nothing could be decided (the message says what is missing).
    """
    if sources and everything:
        raise click.UsageError("--all checks everything; leave out what is named beside it")
    if not sources and not everything and not counters:
        raise click.UsageError("name what to check, or give --all")
    if emit and (path or save or as_json):
        raise click.UsageError("--emit writes kernels to standard output, and checks nothing")
    if emit == "ptx" and (static or with_cute):
        option = "--static" if static else "--with-cute"
        raise click.UsageError(f"{option} asks CuTe's headers, by CUDA C++: --emit cuda, or leave out {option}")
    if emit and counters:
        raise click.UsageError("--counters asks the hardware, and has no kernel of SOURCE: leave it out, or --emit")
    if static and everything:
        raise click.UsageError("--static takes the layouts one by one", ctx=click.get_current_context())
    unused = {"--counters": counters, "--with-cute": with_cute, "--tile": tile, "--save": save, "-o": path}
    for option in [option for option, given in unused.items() if static and given]:
        raise click.UsageError(f"{option} does not go with --static, which only compiles the offsets of layouts")
    if tile and not sources:
        raise click.UsageError("--tile is of a layout: name it")
    if static:
        return _static(sources, as_json, emit, reading)
    if emit:
        kernels, reasons = [], []
        for item in _items(sources, everything, tile, reading, emit == "cuda"):
            if isinstance(item, Undecided):
                reasons.append(item.reason)
            elif item.kernel.cuda == (emit == "cuda"):
                kernels.append(item.kernel)
        if not kernels:
            other = "ptx" if emit == "cuda" else "cuda"
            raise CannotCheck(*reasons[:1] or [f"the kernel of this is no {emit}"], hint=None if reasons else f"--emit {other}")
        click.echo(module(kernels), nl=False)
        return 0
    from cute_viz.check.device import Device
    from cute_viz.check.report import document, evidence, picture, status

    device = Device()
    verdicts = run(device, list(_items(sources, everything, tile, reading, with_cute)), progress=everything and sys.stderr.isatty())
    if counters:
        verdicts += _counted()
    machine = _machine(device)
    more = {"bandwidth": _bandwidth(device)} if everything else {}
    if save:
        output.write((json.dumps(evidence(machine, verdicts, CLAIMS, more), indent=1) + "\n").encode(), save)
    if as_json:
        click.echo(json.dumps(document(machine, verdicts, more)))
    else:
        _say(machine, verdicts, more, everything)
    different = [verdict for verdict in verdicts if verdict.sheets]
    if path and different:
        from cute_viz.cli.render import format_of
        from cute_viz.renderers import render

        output.write(render(picture(different[0]), format_of(None, path)), path)
    elif path:
        click.echo("note: nothing differs, so there is nothing to draw", err=True)
    return status(verdicts)


def _items(
    sources: Sequence[str], everything: bool, tile: tuple[int, int] | None, reading: source.Reading, cute: bool
) -> Iterator[Item]:
    """The checks of what was asked for, one by one: each may hold a large table.

    Refused: a tile that cannot be drawn, as wrong input and nothing that is not decided.
    """
    from cute_viz.check import plan
    from cute_viz.figures import build
    from cute_viz.figures.options import FigureOptions

    if everything:
        yield from plan.everything(cute)
    for text in sources:
        subject = source.read_subject(text, reading)
        if tile:
            build(source.obj_of(subject), FigureOptions(tile=tile, max_cells=plan.MAX_CELLS))
        if source.is_spec(subject):
            from cute_viz.documents.draw import options_of

            yield from plan.plan(subject.obj, text, tile or options_of(subject).get("tile"), cute)
        else:
            yield from plan.plan(subject, text, tile, cute)


def _static(sources: Sequence[str], as_json: bool, emit: str | None, reading: source.Reading) -> int:
    """The tables of layouts as static_asserts over CuTe's headers, compiled here."""
    from cute_viz.check.compiler import compile_
    from cute_viz.check.plan import static
    from cute_viz.check.report import compiled, document, lines, status, undecided

    verdicts = []
    for text in sources:
        item = static(source.read_object(text, reading), text)
        if not isinstance(item, Undecided) and emit:
            click.echo(item.source(), nl=False)
        elif not isinstance(item, Undecided):
            (ptx, log), (_, control) = compile_(item.source()), compile_(item.source(corrupted=True))
            if not ptx and not item.wrong(log):
                raise CannotCheck(f"{text} does not compile: {(log.strip().splitlines() or ['no log'])[0]}")
            verdicts.append(compiled(item, item.wrong(log), bool(item.wrong(control))))
        else:
            verdicts.append(undecided(item))
    if emit:
        if len(verdicts) == len(sources):  # all undecided, nothing was written
            raise CannotCheck(verdicts[0].reason)
        return 0
    if as_json:
        click.echo(json.dumps(document({"cute_viz": __version__}, verdicts)))
    else:
        for verdict in verdicts:
            click.echo(f"{verdict.verdict:<9} {verdict.name}: {lines(verdict)}")
    return status(verdicts)


def run(device: Any, items: Sequence[Item], progress: bool = False) -> list[Verdict]:
    """Every check on the device, in order; what the device cannot run is undecided, with the reason."""
    from cute_viz.check.device import DeviceError
    from cute_viz.check.report import judged, undecided

    out: list[Verdict] = []
    for batch in _batches(items, progress):
        checks = [item for item in batch if isinstance(item, Check) and item.kernel.runs_on(device.capability)]
        texts = [_ptx(check, device.capability) for check in checks]
        loaded = dict(zip(map(id, checks), device.load_all(texts), strict=True))
        for item in batch:
            if not isinstance(item, Check):
                out.append(undecided(item))
            elif id(item) not in loaded:
                out.append(undecided(item, f"needs sm_{item.kernel.target}; this device is sm_{device.capability}"))
            elif isinstance(loaded[id(item)], DeviceError):
                out.append(undecided(item, f"the driver does not take the instruction: {loaded[id(item)].message}"))
            else:
                out.append(judged(item, item.judge(device.run(loaded[id(item)], item.launches()))))
                device.unload(loaded[id(item)])
    return out


def _ptx(check: Check, capability: int) -> str:
    """The module of a check; CUDA C++ is compiled first."""
    text = module([check.kernel])
    if not check.kernel.cuda:
        return text
    from cute_viz.check.compiler import compile_

    ptx, log = compile_(text, capability)
    if not ptx:
        raise CannotCheck(f"{check.name}: CuTe's headers do not compile it: {(log.strip().splitlines() or ['no log'])[0]}")
    return ptx


def _batches(items: Sequence[Item], progress: bool) -> Iterator[Sequence[Item]]:
    """The items, some at a time, with a bar on stderr if wanted."""
    starts = range(0, len(items), BATCH)
    if not progress:
        yield from (items[n : n + BATCH] for n in starts)
        return
    from rich.console import Console
    from rich.progress import track

    for n in track(starts, "checking", console=Console(stderr=True), transient=True):
        yield items[n : n + BATCH]


def _machine(device: Any) -> dict[str, Any]:
    """What the report says of where it was made."""
    return {
        "device": device.name,
        "capability": f"{device.capability // 10}.{device.capability % 10}",
        "driver": device.driver,
        "cuda": device.cuda,
        "cute_viz": __version__,
        "python": platform.python_version(),
    }


def _counted() -> list[Verdict]:
    """The verdicts of the hardware's counters."""
    from cute_viz.check.counters import measure
    from cute_viz.check.report import undecided, verdict_of

    found = measure()
    return [undecided(found)] if isinstance(found, Undecided) else [verdict_of(*one) for one in found]


def _bandwidth(device: Any) -> dict[str, Any]:
    """The speed of the layout kernel on a large table, beside that of the device's own copy."""
    from cute_viz.check import bench

    loaded = device.load(module([bench.made()]))
    return bench.found(device.seconds(loaded, bench.table()), device.copy_bandwidth())


def _say(machine: dict[str, Any], verdicts: Sequence[Verdict], more: dict[str, Any], everything: bool) -> None:
    """The report for people: a line a check, or of --all a table of counts and what does not simply agree."""
    from cute_viz.check.report import counts, lines

    click.echo(f"{machine['device']}, driver {machine['driver']}, CUDA {machine['cuda']}")
    if not everything:
        for verdict in verdicts:
            click.echo(f"{verdict.verdict:<9} {verdict.name}, {verdict.kind}: {lines(verdict)}")
            for panel, row, column, drawn, seen in verdict.differences:
                click.echo(f"  {panel} ({row},{column}): drawn {drawn}, seen {seen}")
        for kind in dict.fromkeys(verdict.kind for verdict in verdicts if verdict.verdict != "undecided"):
            proves, not_ = PROVES[kind]
            click.echo(f"{kind}: proves that {proves}; does not decide {not_}.")
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("kind", "agree", "differ", "known", "undecided", "cells", "cells agreeing", "controls caught")
    for kind, numbers in counts(verdicts).items():
        table.add_row(kind, *(f"{n:,}" for n in numbers.values()))
    Console().print(table)
    if speed := more.get("bandwidth"):
        click.echo("; ".join(f"{key}: {value}" for key, value in speed.items()))
    for verdict in verdicts:
        if verdict.verdict in ("differ", "known"):
            click.echo(f"{verdict.verdict:<9} {verdict.name}: {lines(verdict)}")
