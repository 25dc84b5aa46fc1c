"""`cute-viz fmt`: an object in another language."""

from __future__ import annotations

import click

from cute_viz.cli import source
from cute_viz.files import read_text
from cute_viz.notation.write import TARGETS


@click.command(
    epilog="\b\nExamples:\n"
    "  cute-viz fmt '(_4,_8):(_8,_1)' --as cpp        Layout<Shape<_4,_8>,Stride<_8,_1>>{}\n"
    "  cute-viz fmt '(4,8):(8,1)' --as dsl            cute.make_layout((4, 8), stride=(8, 1))\n"
    "  pbpaste | cute-viz fmt - --as cute"
)
@click.argument("source_", metavar="SOURCE")
@click.option("--as", "target", type=click.Choice(TARGETS), help="The language to write; cute without it, YAML of a spec file.")
@source.options
def command(source_: str, target: str | None, reading: source.Reading) -> None:
    """Write SOURCE in another language: C++, the Python DSL, CuTe notation, or CuTe's compiler notation.

    What is written reads back as an equal object. Of a YAML spec without --as: the same spec, tidied.
    """
    from cute_viz.notation.write import write

    if target is None and source_.endswith((".yaml", ".yml")):
        click.echo(_canonical(source_), nl=False)
        return
    click.echo(write(source.read_object(source_, reading), target or "cute"))


def _canonical(path: str) -> str:
    """A spec file in block style, its fields in the order of the schema; the comment at its top is kept."""
    from cute_viz.spec.build import read_specs
    from cute_viz.spec.schema import COMMON, FIGURE, KINDS
    from cute_viz.spec.yaml import read_yaml, write_yaml

    text = read_text(path)
    read_specs(text, path)
    order = ["title", "description", "source", "let", "specs", *KINDS]
    order += [field.name for kind in KINDS.values() for field in kind.fields]
    order += [field.name for field in (*COMMON, *FIGURE)]
    lines = text.splitlines()
    others = [
        n for n, line in enumerate(lines, 1) if line.lstrip().startswith("#") and not all(x.startswith("#") for x in lines[:n])
    ]
    if others:
        click.echo(f"note: comments are left out, first that of line {others[0]}; the one at the top is kept", err=True)
    head = [line for n, line in enumerate(lines) if line.startswith("#") and all(x.startswith("#") for x in lines[:n])]
    return "".join(line + "\n" for line in head) + write_yaml(read_yaml(text, path), tuple(dict.fromkeys(order)))
