"""`cute-viz list`: what there is to choose from."""

from __future__ import annotations

import click

TOPICS = ("formats", "palettes", "ops")


@click.command(epilog="\b\nExamples:\n  cute-viz list ops\n  cute-viz list palettes")
@click.argument("topic", type=click.Choice(TOPICS))
def command(topic: str) -> None:
    """List the output formats, the palettes, or the operations that expressions may use."""
    if topic == "formats":
        from cute_viz.renderers import FORMATS

        rows = [(f.name, " ".join(f.suffixes), f.summary) for f in FORMATS.values()]
    elif topic == "palettes":
        from cute_viz.figures.palette import DEFAULT, PALETTES

        rows = [(p.name, " ".join(p.hues), p.source + (" (the default)" if p.name == DEFAULT else "")) for p in PALETTES.values()]
    else:
        from cute_viz.algebra.ops import OPS

        rows = [(op.signature, "", op.summary) for op in OPS.values()]
    widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
    for first, second, third in rows:
        middle = f"{second:<{widths[1]}}  " if widths[1] else ""
        click.echo(f"{first:<{widths[0]}}  {middle}{third}")
