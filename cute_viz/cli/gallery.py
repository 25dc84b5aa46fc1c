"""`cute-viz gallery`: every spec becomes its pictures, and a run with nothing changed does nothing."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterable, Iterator

import click

from cute_viz.cli import output
from cute_viz.cli.words import DIR, Choice, Command, layouts_option
from cute_viz.files import held
from cute_viz.gallery.draw import Done
from cute_viz.gallery.plan import plan
from cute_viz.gallery.run import Tally, compare, stamps, update
from cute_viz.renderers import FORMATS
from cute_viz.spec import Library

POLL = 0.3  # seconds between two looks of --watch


@click.command(cls=Command)
@click.argument("specs", nargs=-1, type=click.Path(exists=True), metavar="[SPECS]...")
@click.option("-o", "--output", "folder", default="gallery", show_default=True, **DIR, help="Where the pictures go")
@click.option("-j", "--jobs", type=click.IntRange(1, 256), metavar="N", help="Processes  [default: one per core]")
@click.option(
    "-T",
    "--format",
    "formats",
    multiple=True,
    type=Choice(list(FORMATS)),
    metavar="FORMAT",
    help="Formats instead of the specs' own",
)
@click.option("--page", metavar="URL", help="Link each picture to the live page at URL")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a picture is out of date")
@click.option("--prune", is_flag=True, help="Remove files of earlier runs that no spec asks for")
@click.option("--validate", is_flag=True, help="Only validate SPECS: fields, expressions, figures, `expect:`")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of spec files")
@click.option("--doc", is_flag=True, hidden=True, help="Print the reference of spec files in Markdown")
@click.option("--watch", is_flag=True, help="Keep running; draw again when a spec changes")
@layouts_option
def command(
    specs: tuple[str, ...],
    folder: str,
    jobs: int | None,
    formats: tuple[str, ...],
    page: str | None,
    check: bool,
    prune: bool,
    validate: bool,
    schema: bool,
    doc: bool,
    watch: bool,
    library: Library,
) -> int:
    """Draw every spec of SPECS (YAML files or folders), or of the library.

    Only what changed is drawn again. The index is README.md and index.html. A spec that fails is reported with its place and does
    not stop the others.
    """
    if validate or schema or doc:
        from cute_viz.cli.validate import files_in, validated

        return validated(files_in(specs), schema, doc, library)
    if check and (prune or watch):
        raise click.UsageError("--check cannot be combined with --prune or --watch")
    paths = specs or _library(library)
    workers = jobs or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))
    if check:
        return _checked(compare(plan(paths, formats, library), folder, workers, _progress, page), folder)
    status = _updated(update(plan(paths, formats, library), folder, workers, prune, _progress, page), folder)
    seen = stamps(paths)
    while watch:
        gc.collect()  # `main` has switched it off, and this process stays
        time.sleep(POLL)
        now = stamps(paths)
        if now != seen:
            seen = now
            status = _updated(update(plan(paths, formats, library), folder, workers, prune, _progress, page), folder)
    return status


def _library(library: Library) -> tuple[str, ...]:
    """The folders of specs of the libraries."""
    found = [(os.path.join(directory, "specs"), directory) for directory in library.directories()]
    return tuple(held(path, directory) for path, directory in found if os.path.isdir(path))


def _updated(outcome: Tally, folder: str) -> int:
    """Say what a run has done; the exit status."""
    for failure in outcome.failures:
        output.error(failure)
    for verb, files in (("removed", outcome.removed), ("kept, because it was changed since", outcome.kept)):
        for file in files:
            output.say(f"{verb}: {file}")
    for file in outcome.stale:
        output.say(f"stale: {file}; this run does not draw it (--prune removes it)")
    failed = [f"{len(outcome.failures)} failed"] if outcome.failures else []
    if not (outcome.drawn or outcome.unchanged or failed):
        output.notes(["no spec found: a spec is a *.yaml or *.yml file"])
    output.say(f"{folder}: {', '.join([f'{outcome.drawn} drawn', f'{outcome.unchanged} unchanged', *failed])}")
    return 0 if outcome.ok else 1


def _checked(outcome: Tally, folder: str) -> int:
    """Say what a check has found; the exit status."""
    for failure in outcome.failures:
        output.error(failure)
    for line in outcome.differs:
        output.say(line, err=False)
    if outcome.ok:
        output.say(f"{folder}: {outcome.unchanged} figures are what their specs give")
    return 0 if outcome.ok else 1


def _progress(results: Iterator[Done], count: int) -> Iterable[Done]:
    """Hand on what is drawn; on a terminal a bar shows how far it has come."""
    if not count or not sys.stderr.isatty():
        yield from results
        return
    from itertools import chain

    from rich.console import Console
    from rich.progress import Progress

    first = next(results)  # the workers are forked before the bar starts a thread
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("drawing", total=count)
        for done in chain([first], results):
            progress.update(task, advance=1, description=done.name[:30])
            yield done
