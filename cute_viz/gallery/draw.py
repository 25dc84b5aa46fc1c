"""Jobs of a gallery -> files, in this process or spread over several; what becomes of each job is a `Done`."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from importlib import import_module

from cute_viz import files
from cute_viz.engine import Answer, Request, ask
from cute_viz.errors import CuteVizError, FigureError, boundary
from cute_viz.files import own_bytes
from cute_viz.gallery.gates import flaws
from cute_viz.gallery.index import IndexEntry
from cute_viz.gallery.plan import Task
from cute_viz.limits import current, held, raised
from cute_viz.renderers import FORMATS
from cute_viz.renderers.geometry import keeping, number
from cute_viz.renderers.page import page_of
from cute_viz.renderers.said import described

LETTER, BESIDE = 6.71, 12  # px: width of a letter of a ruler, and room beside its labels
ABOVE, TITLE = 22, 18  # px above the cells that column labels take, and their title


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a job.

    entry: what the index says of it; None where drawing failed, and `failure` says why.
    hashes: file -> hash of its bytes. differs: what a check found, file by file.
    """

    name: str
    entry: IndexEntry | None = None
    hashes: dict[str, str] = field(default_factory=dict)
    differs: tuple[str, ...] = ()
    failure: str = ""


Ours = Mapping[str, frozenset[str]]  # file -> the hashes of what runs of a gallery wrote there


def draw(job: Task, folder: str, check: bool, ours: Ours) -> Done:
    """Draw one job into the folder, or compare it with what lies there. Whatever goes wrong is reported, not raised."""
    try:
        with boundary(), held(), keeping():  # every format and the words have one page
            return _draw(job, folder, check, ours)
    except CuteVizError as error:
        if error.span is None or error.text != job.builder.text:
            # An error of the figure: the place is that of the spec.
            text = None if error.text == job.builder.text else error.text
            error = error.but(message=f"{job.place}: {error.message}", name=None, text=text)
        return Done(job.name, failure=error.explain("spec"))
    except OSError as error:
        failure = CuteVizError(f"{error.filename or job.name}: {error.strerror or error}", name=job.place)
        return Done(job.name, failure=failure.explain("spec"))


def _draw(job: Task, folder: str, check: bool, ours: Ours) -> Done:
    spec = job.builder.spec(job.own, job.value)
    formats = {format_: file for format_, file in job.files.items() if format_ in FORMATS}
    answer = ask(Request((spec,), formats=tuple(formats), library=job.builder.library))
    figure = answer.figure
    pictures = {file: _write(answer, format_, job.forced) for format_, file in formats.items()}
    captions = dict(filter(None, (answer.caption(format_) for format_ in formats)))
    pictures |= {f"{job.name}{suffix}": words.encode("utf-8", "replace") for suffix, words in captions.items()}
    differs = []
    for file, data in pictures.items():
        path = os.path.join(folder, file)
        if not check:
            if foreign(path, data, ours.get(file, frozenset())):
                raise kept(path)
        elif (there := own_bytes(path)) != data:
            differs.append(f"{'missing' if there is None else 'differs'}: {file}")
    if check and "svg" in formats and answer.how.style == "default":
        differs += [f"cannot be read: {formats['svg']}: {flaw}" for flaw in flaws(figure, answer.how)]
    for file, data in () if check else pictures.items():
        files.write(data, os.path.join(folder, file), folder)
    words = str(job.value) + figure.source
    archs = {f"sm{number}" for number in re.findall(r"SM(\d+)_", words)}
    archs |= {arch for word, arch in (("UMMA::", "sm100"), ("GMMA", "sm90")) if re.search(rf"(?<![A-Z]){word}", words)}
    entry = IndexEntry(
        name=job.name,
        group=job.group,
        title=figure.title,
        alt=described(figure, answer.how).description,
        kind=figure.kind,
        archs=tuple(sorted(archs, key=lambda arch: int(arch[2:]))),
        expression=figure.source,
        note=" ".join(part for part in (spec.description, f"From {spec.source}." if spec.source else "") if part),
        files=job.files,
        view=_view(answer) if any(file.endswith(".svg") for file in job.files.values()) else "",
    )
    return Done(job.name, entry, {file: hash_of(data) for file, data in pictures.items()}, tuple(differs))


def _view(answer: Answer) -> str:
    """Where panels and their rulers are on the page of a picture: x, y, width, height, and the page's width and height. "" in
    the style of CuTe's printers, whose page is another."""
    if answer.how.style != "default":
        return ""
    page = page_of(answer.figure, answer.how)
    if answer.figure.flow:  # a board is whole
        return ""
    corners = []
    for place in page.panels:
        rows, cols, grid = place.panel.row_ruler, place.panel.col_ruler, place.grid
        beside = max(max(map(len, rows.labels)), len(rows.title) + 2 if rows.title else 0) * LETTER + BESIDE
        corners.append((grid.left - beside, grid.top - ABOVE - (TITLE if cols.title else 0), grid.right + 4, grid.bottom + 4))
    if not corners:  # of bits alone
        return ""
    left, top = (max(0.0, min(corner[n] for corner in corners)) for n in (0, 1))
    right, bottom = (max(corner[n] for corner in corners) for n in (2, 3))
    return ",".join(map(number, (left, top, right - left, bottom - top, page.width, page.height)))


def _write(answer: Answer, format_: str, forced: bool) -> bytes:
    """A figure in a format; where -T asks for a format that has no style of CuTe's own, in the default style."""
    try:
        return answer.write(format_)
    except FigureError:
        if not forced or answer.how.style == "default":
            raise
        return answer.write(format_, style="default")


def hash_of(data: bytes) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def foreign(path: str, data: bytes, ours: frozenset[str]) -> bool:
    """Whether what lies at a path is neither these bytes nor, by their hashes, what a run wrote there; a link is not."""
    if not os.path.lexists(path):  # asked first: another run may put the same picture there in between
        return False
    there = own_bytes(path)
    return os.path.lexists(path) if there is None else there != data and hash_of(there) not in ours


def kept(path: str) -> CuteVizError:
    """The error of a file that is not replaced, as it may be somebody's work."""
    hint = "remove it to have it drawn again, or give the spec another name"
    return CuteVizError(f"refusing to overwrite {path}, which is not as gallery wrote it", hint=hint)


def draw_all(jobs: Sequence[Task], folder: str, check: bool, workers: int, ours: Ours) -> Iterator[Done]:
    """Draw jobs as they get done, in no order."""
    workers = min(workers, len(jobs) // 2)  # a process costs what a picture or two do
    import gc

    if workers <= 1:
        for number, job in enumerate(jobs):
            if number % 64 == 63:
                gc.collect()  # `main` has switched it off
            yield draw(job, folder, check, ours)
        return
    import multiprocessing
    import sys

    # A forked worker has everything imported already; elsewhere each pays for its imports once.
    method = "fork" if sys.platform == "linux" else "spawn"
    _import_all(jobs)
    gc.collect()
    gc.freeze()  # the workers share what is there
    size = max(1, min(8, len(jobs) // (workers * 4)))
    chunks = [range(start, min(start + size, len(jobs))) for start in range(0, len(jobs), size)]
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context(method), _begin, (jobs, folder, check, ours, current()))
    try:
        pending = {pool.submit(_chunk, chunk): chunk for chunk in chunks}
        for future in as_completed(pending):
            try:
                yield from future.result()
            except BrokenProcessPool:
                for number in pending[future]:
                    yield Done(jobs[number].name, failure=f"{jobs[number].place}: a worker process died; try -j 1")
    finally:
        pool.shutdown(cancel_futures=True)
        gc.unfreeze()


_work: tuple[Sequence[Task], str, bool, Ours] = ((), "", False, {})


def _begin(jobs: Sequence[Task], folder: str, check: bool, ours: Ours, limits: dict[str, int]) -> None:
    """What a worker does first: it leaves Ctrl-C to its parent, and ends when the parent is gone."""
    import gc
    import signal
    import threading
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    global _work
    _work = (jobs, folder, check, ours)
    raised(limits).__enter__()  # for as long as the process lives
    gc.enable()  # unlike its parent it may live for minutes
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _chunk(numbers: range) -> list[Done]:
    jobs, folder, check, ours = _work
    return [draw(jobs[number], folder, check, ours) for number in numbers]


def _import_all(jobs: Sequence[Task]) -> None:
    """Import what drawing needs before the workers are forked, so that it is done once."""
    for format_ in dict.fromkeys(format_ for job in jobs for format_ in job.files if format_ in FORMATS):
        import_module(FORMATS[format_].module)
    for module in ("grid", "tv", "mma", "copy", "banks"):
        import_module(f"cute_viz.figures.{module}")
