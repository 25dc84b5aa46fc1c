"""`cute-viz list`: what there is to choose from."""

from __future__ import annotations

import re

import click

from cute_viz.cli import output
from cute_viz.cli.words import layouts_option
from cute_viz.errors import CuteVizError, spelled
from cute_viz.spec import Library

KINDS = ("formats", "palettes", "ops", "mma", "copy", "limits")


@click.command(epilog="\b\nExamples:\n  cute-viz list ops\n  cute-viz list mma --arch sm90 --type f16\n  cute-viz list copy")
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--arch", metavar="SM", help="Of atoms: this architecture alone, such as sm90.")
@click.option("--type", "element", metavar="TYPE", help="Of atoms: those whose name has this type, such as f16 or e4m3.")
@layouts_option
def command(kind: str, arch: str | None, element: str | None, library: Library) -> None:
    """List the output formats, the palettes, the operations of expressions, the atoms of the library, or the limits.

    In an atom's name {N} stands for a number; the range follows.
    """
    if kind not in ("mma", "copy") and (arch or element):
        raise click.UsageError("--arch and --type go with mma and copy")
    if kind == "formats":
        from cute_viz.renderers import FORMATS

        rows = [(f.name, " ".join(f.suffixes), f.summary) for f in FORMATS.values()]
    elif kind == "palettes":
        from cute_viz.renderers.palette import DEFAULT, PALETTES

        rows = [(p.name, " ".join(p.hues), p.source + (" (the default)" if p.name == DEFAULT else "")) for p in PALETTES.values()]
    elif kind == "ops":
        from cute_viz.algebra.ops import OPS

        rows = [(op.signature, op.summary, "") for op in OPS.values()]
    elif kind == "limits":
        from cute_viz.limits import LIMITS, limit, raised_by

        rows = [
            (name, str(limit(name)), f"{known.what}; raised by {spelled(raised_by(name), 'cli')}") for name, known in LIMITS.items()
        ]
    else:
        rows = _atoms(kind, arch, element, library)
    output.table(rows)


def _capitals(name: str) -> str:
    """A name whose types stand as CuTe's names have them: those of AMD's are in small letters, behind the shape or at its end."""
    return re.sub(r"(\d+X\d+X\d+)(?=[A-Z])", r"\1_", name.upper()) if name.islower() else name


def _atoms(kind: str, arch: str | None, element: str | None, library: Library) -> list[tuple[str, str, str]]:
    from cute_viz.algebra.elements import spells

    entries = [entry for entry in library.listing() if entry.kind == kind]
    archs = sorted({arch for entry in entries for arch in entry.archs})
    if arch is not None and arch.lower() not in archs:
        raise CuteVizError(f"the library has no {kind} atoms of {arch}", hint=f"architectures: {', '.join(filter(None, archs))}")
    found = [
        entry
        for entry in entries
        if (arch is None or arch.lower() in entry.archs) and (element is None or spells(_capitals(entry.name), element))
    ]
    if not found:
        raise CuteVizError(
            f"no {kind} atom has the type {element}", hint="types are written as in the names: f16, bf16, tf32, s8, e4m3"
        )
    return [(entry.name + (f"<{entry.args.replace(' ', ',')}>" if entry.args else ""), entry.arch, entry.ranges) for entry in found]
