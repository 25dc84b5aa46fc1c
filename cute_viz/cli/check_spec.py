"""`cute-viz check-spec`: whether spec files are right."""

from __future__ import annotations

from collections.abc import Iterator

import click

from cute_viz.documents.draw import check
from cute_viz.errors import CuteVizError
from cute_viz.figures.words import count as counted
from cute_viz.files import read_text
from cute_viz.spec.build import Builder, Spec


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
        wrong, count = 0, 0
        for spec in _specs(path):
            count += 1
            try:
                if isinstance(spec, CuteVizError):
                    raise spec
                check(spec)
            except CuteVizError as error:
                error.name = error.name or path
                click.echo(f"error: {error.explain()}", err=True)
                wrong += 1
        if not wrong:
            click.echo(f"{path}: {counted(count, 'spec')} fine")
        failed |= wrong > 0
    if failed:
        raise SystemExit(1)


def _specs(path: str) -> Iterator[Spec | CuteVizError]:
    """The specs of a file, and the errors of those that cannot be built; one of the file as a whole."""
    try:
        builder = Builder(read_text(path), path)
        parts = builder.parts()
    except CuteVizError as error:
        yield error
        return
    for name, fields in parts.items():
        try:
            yield builder.spec(name, fields)
        except CuteVizError as error:
            yield error
