"""A planned gallery -> its folder brought up to date, or compared with what would be drawn."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from cute_viz import files
from cute_viz.errors import CuteVizError
from cute_viz.gallery import state as states
from cute_viz.gallery.draw import Done, draw_all, hash_of
from cute_viz.gallery.index import page, readme
from cute_viz.gallery.plan import INDEX, Plan, spec_files

EVERY = 2.0  # seconds between two savings of the state, so that a killed run goes on where it was
Progress = Callable[[Iterator[Done], int], Iterable[Done]]  # hands on results; the number is how many there will be


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of a gallery. drawn, unchanged: figures. failures: errors in words, with their places. differs: of a check,
    what is not as it should be. removed, kept: stale files that were removed, or not, as somebody changed them. stale: files
    that no spec asks for."""

    drawn: int
    unchanged: int
    failures: tuple[str, ...]
    differs: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing failed, and nothing differs."""
        return not self.failures and not self.differs


def update(planned: Plan, folder: str, workers: int, prune: bool, progress: Progress, page: str | None = None) -> Tally:
    """Draw what has changed, and write the index and the state.

    page: the address of a live page, which the index then links each picture to.

    Raises: CuteVizError where the folder holds files of these names that no gallery made, and where a link in its path leads
    elsewhere; OSError.
    """
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise CuteVizError(f"{folder} is not a folder", hint="-o must be a folder for the pictures")
    files.held(folder, files.top_of(folder))
    os.makedirs(folder, exist_ok=True)
    with _alone(folder):
        return _update(planned, folder, workers, prune, progress, page)


@contextmanager
def _alone(folder: str) -> Iterator[None]:
    """One run after the other: what one prunes, another may be about to index. Where a system has no such lock there is none."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # of a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _update(planned: Plan, folder: str, workers: int, prune: bool, progress: Progress, page: str | None) -> Tally:
    states.sweep(folder)
    state = states.read(folder)
    state.claim(planned, folder)
    work = [job for job in planned.jobs if not state.fresh(job, folder)]
    by_name = {job.name: job for job in work}
    failures = [error.explain("spec") for error in planned.failures]
    drawn = 0
    saved = time.monotonic()
    try:
        for done in progress(draw_all(work, folder, False, workers, state.ours(folder)), len(work)):
            state.note(by_name[done.name], done)
            drawn += not done.failure
            failures += [done.failure] if done.failure else []
            if time.monotonic() - saved > EVERY:
                state.write(folder)
                saved = time.monotonic()
    except KeyboardInterrupt:
        state.write(folder)  # what is drawn is known to be ours
        raise
    state.settle(planned, folder)
    removed, kept = state.prune(folder) if prune else ([], [])
    failures += state.write_index(_index(planned, state, page), folder)
    state.write(folder)
    states.sweep(folder)  # once more: the workers of a run that was killed may have lived a moment longer
    unchanged = len(planned.jobs) - len(work)
    return Tally(drawn, unchanged, tuple(failures), (), tuple(removed), tuple(kept), tuple(state.stale))


def compare(planned: Plan, folder: str, workers: int, progress: Progress, page: str | None = None) -> Tally:
    """Compare every file of the gallery with what would be drawn; nothing is written."""
    state = states.read(folder)
    fresh = states.GalleryState(stale=dict(state.stale))
    by_name = {job.name: job for job in planned.jobs}
    failures = [error.explain("spec") for error in planned.failures]
    differs: list[str] = []
    for done in progress(draw_all(planned.jobs, folder, True, workers, {}), len(planned.jobs)):
        fresh.note(by_name[done.name], done)
        differs += done.differs
        failures += [done.failure] if done.failure else []
    for record in state.records.values():
        fresh.stale |= record.hashes
    fresh.settle(planned, folder)
    differs += [f"stale: {file}" for file in fresh.stale]
    for name, text in () if failures else _index(planned, fresh, page).items():
        path = os.path.join(folder, name)
        if (there := files.own_bytes(path)) is None:
            differs.append(f"missing: {name}")
        elif there != text.encode():
            differs.append(f"differs: {name}")
    return Tally(0, len(planned.jobs), tuple(failures), tuple(sorted(differs)))


def stamps(paths: Sequence[str]) -> dict[str, int]:
    """When each spec file was changed; one that is just being replaced is seen the next time."""
    out = {}
    for path, _ in spec_files(paths):
        try:
            out[path] = os.stat(path).st_mtime_ns
        except OSError:
            out[path] = 0
    return out


def _index(planned: Plan, state: states.GalleryState, live: str | None) -> dict[str, str]:
    """The texts of the index, in the order of the specs."""
    entries = [replace(state.records[job.name].entry, files=job.files) for job in planned.jobs if job.name in state.records]
    wanted = {file for entry in entries for file in entry.files.values()}
    hashes = {file: hash_ for record in state.records.values() for file, hash_ in record.hashes.items() if file in wanted}
    text = readme(entries, live=live)
    return {INDEX[0]: text, INDEX[1]: page(entries, hashes={INDEX[0]: hash_of(text.encode()), **hashes}, live=live)}
