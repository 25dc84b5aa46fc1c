"""`cute-viz gallery`: every spec becomes its pictures, and a run with nothing changed does nothing."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import click

from cute_viz.cli import gallery_state, output, source
from cute_viz.cli.gallery_draw import Drawn, draw_all
from cute_viz.cli.gallery_plan import INDEX, Job, Plan, plan, spec_files
from cute_viz.documents.index import page, readme
from cute_viz.errors import CuteVizError
from cute_viz.files import bytes_of
from cute_viz.renderers import FORMATS

EVERY = 2.0  # seconds between two savings of the state, so that a killed run goes on where it was
POLL = 0.3  # seconds between two looks of --watch


@click.command(
    epilog="\b\nExamples:\n"
    "  cute-viz gallery -o pictures                     the specs of the library\n"
    "  cute-viz gallery spec.yaml -o pictures -T svg -T text\n"
    "  cute-viz gallery spec.yaml -o pictures --prune   remove what no spec asks for any more"
)
@click.argument("specs", nargs=-1, type=click.Path(exists=True), metavar="[SPECS]...")
@click.option("-o", "--output", "folder", default="gallery", show_default=True, metavar="DIR", help="Where the pictures go.")
@click.option("-j", "--jobs", type=click.IntRange(1, 256), metavar="N", help="Processes; as many as cores otherwise.")
@click.option(
    "-T", "--format", "formats", multiple=True, type=click.Choice(list(FORMATS)), help="Instead of the specs' own formats."
)
@click.option("--check", is_flag=True, help="Draw in memory; exit 1 with a list where a file differs.")
@click.option("--prune", is_flag=True, help="Remove the files of former runs that no spec asks for.")
@click.option("--watch", is_flag=True, help="Go on, and draw again when a spec changes.")
@source.layouts_option
def command(
    specs: tuple[str, ...], folder: str, jobs: int | None, formats: tuple[str, ...], check: bool, prune: bool, watch: bool
) -> int:
    """Draw every spec of SPECS, YAML files or folders of them; the specs of the library otherwise.

    Only what has changed is drawn. The index is README.md and index.html. A spec that fails is reported with its place and
    does not stop the others.
    """
    if check and (prune or watch):
        raise click.UsageError("--check changes nothing; --prune and --watch do")
    import gc

    paths = specs or _library()
    workers = jobs or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))
    if check:
        return _check(plan(paths, formats), folder, workers)
    status = _update(plan(paths, formats), folder, workers, prune)
    seen = _stamps(paths)
    while watch:
        gc.collect()  # `main` has switched it off, and this process stays
        time.sleep(POLL)
        now = _stamps(paths)
        if now != seen:
            seen = now
            status = _update(plan(paths, formats), folder, workers, prune)
    return status


def _library() -> tuple[str, ...]:
    """The folders of specs of the libraries."""
    from cute_viz.spec.library_files import directories

    found = [os.path.join(directory, "specs") for directory in directories()]
    return tuple(path for path in found if os.path.isdir(path))


def _stamps(paths: Sequence[str]) -> dict[str, int]:
    """When each spec file was changed; one that is just being replaced is seen the next time."""
    out = {}
    for path in spec_files(paths):
        try:
            out[path] = os.stat(path).st_mtime_ns
        except OSError:
            out[path] = 0
    return out


def _update(planned: Plan, folder: str, workers: int, prune: bool) -> int:
    """Draw what has changed, write the index and the state, and tell; the exit status."""
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise CuteVizError(f"{folder} is not a folder", hint="-o takes the folder of the pictures")
    os.makedirs(folder, exist_ok=True)
    gallery_state.sweep(folder)
    state = gallery_state.read(folder)
    state.claim(planned, folder)
    work = [job for job in planned.jobs if not state.fresh(job, folder)]
    by_name = {job.name: job for job in work}
    failures = [error.explain() for error in planned.failures]
    drawn = 0
    saved = time.monotonic()
    for done in _with_progress(work, folder, False, workers):
        state.note(by_name[done.name], done)
        drawn += not done.failure
        failures += [done.failure] if done.failure else []
        if time.monotonic() - saved > EVERY:
            state.write(folder)
            saved = time.monotonic()
    state.settle(planned, folder)
    removed, kept = state.prune(folder) if prune else ([], [])
    for name, text in _index(planned, state).items():
        output.write(text.encode(), os.path.join(folder, name))
    state.write(folder)
    gallery_state.sweep(folder)  # once more: the workers of a run that was killed may have lived a moment longer
    for failure in failures:
        click.echo(f"error: {failure}", err=True)
    for verb, files in (("removed", removed), ("kept, as it was changed since", kept)):
        for file in files:
            click.echo(f"{verb}: {file}", err=True)
    for file in state.stale:
        click.echo(f"stale: {file}; this run does not draw it (--prune removes it)", err=True)
    unchanged = len(planned.jobs) - len(work)
    counts = [f"{drawn} drawn", f"{unchanged} unchanged", *([f"{len(failures)} failed"] if failures else [])]
    click.echo(f"{folder}: {', '.join(counts)}", err=True)
    return 1 if failures else 0


def _check(planned: Plan, folder: str, workers: int) -> int:
    """Compare every file of the gallery with what would be drawn; the exit status."""
    state = gallery_state.read(folder)
    fresh = gallery_state.State(stale=dict(state.stale))
    by_name = {job.name: job for job in planned.jobs}
    failures = [error.explain() for error in planned.failures]
    differs: list[str] = []
    for done in _with_progress(planned.jobs, folder, True, workers):
        fresh.note(by_name[done.name], done)
        differs += done.differs
        failures += [done.failure] if done.failure else []
    for record in state.records.values():
        fresh.stale |= record.hashes
    fresh.settle(planned, folder)
    differs += [f"stale: {file}" for file in fresh.stale]
    for name, text in () if failures else _index(planned, fresh).items():
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            differs.append(f"missing: {name}")
        elif bytes_of(path) != text.encode():
            differs.append(f"differs: {name}")
    for failure in failures:
        click.echo(f"error: {failure}", err=True)
    for line in sorted(differs):
        click.echo(line)
    if not failures and not differs:
        click.echo(f"{folder}: {len(planned.jobs)} figures are what their specs give", err=True)
    return 1 if failures or differs else 0


def _index(planned: Plan, state: gallery_state.State) -> dict[str, str]:
    """The texts of the index, in the order of the specs."""
    entries = [replace(state.records[job.name].entry, files=job.files) for job in planned.jobs if job.name in state.records]
    return {INDEX[0]: readme(entries), INDEX[1]: page(entries)}


def _with_progress(jobs: Sequence[Job], folder: str, check: bool, workers: int) -> Iterator[Drawn]:
    """Draw jobs; on a terminal a bar shows how far it has come."""
    results = draw_all(jobs, folder, check, workers)
    if not jobs or not sys.stderr.isatty():
        yield from results
        return
    from itertools import chain

    from rich.console import Console
    from rich.progress import Progress

    first = next(results)  # the workers are forked before the bar starts a thread
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("drawing", total=len(jobs))
        for done in chain([first], results):
            progress.update(task, advance=1, description=done.name[:30])
            yield done
