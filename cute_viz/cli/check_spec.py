"""`cute-viz check-spec`: whether spec files are right."""

from __future__ import annotations

import click

from cute_viz.cli import source
from cute_viz.errors import CuteVizError


@click.command(epilog="\b\nExamples:\n  cute-viz check-spec mine.yaml\n  cute-viz check-spec --schema > schema.json    for editors")
@click.argument("files", metavar="FILE...", nargs=-1, type=click.Path(exists=True, dir_okay=False))
@click.option("--schema", is_flag=True, help="Print the JSON Schema of spec files.")
@click.option("--doc", is_flag=True, help="Print the reference of spec files in Markdown.")
def command(files: tuple[str, ...], schema: bool, doc: bool) -> None:
    """Validate spec files: fields, expressions, and that each figure can be drawn; an error has its line and column."""
    if schema or doc:
        import json

        from cute_viz.spec.schema import document, json_schema

        click.echo(json.dumps(json_schema(), indent=2) if schema else document(), nl=schema)
        return
    if not files:
        raise click.UsageError("which files? or --schema")
    failed = False
    for path in files:
        try:
            specs = source.specs_of(path)
            for spec in specs:
                source.figure_of(spec)
            click.echo(f"{path}: {len(specs)} spec{'' if len(specs) == 1 else 's'} fine")
        except CuteVizError as error:
            error.name = error.name or path
            click.echo(error.explain(), err=True)
            failed = True
    if failed:
        raise SystemExit(1)
