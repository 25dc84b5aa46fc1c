"""The processes that answer: a question has a limit of time and memory, and a newer one of the same page ends an older one."""

from __future__ import annotations

import json
import multiprocessing
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from cute_viz.source.address import Build, Folder
from cute_viz.spec import Library

SECONDS = 20.0  # that an answer may take
MEMORY = 2 << 30  # bytes of address space of a process
GRACE = 0.12  # seconds that an answer is still waited for when the page has asked something newer
SWOLLEN = 600 << 10  # KiB: a process that once needed more is replaced
_START = 60.0  # seconds that a process may take to begin
_TICK = 0.02
_PAGES = 500  # of which the number of their last question is known


class Cancelled(Exception):
    """The page has asked something newer."""


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    ready: bool = False


@dataclass(slots=True)
class _Turn:
    """A page's newest question; an older one finds out here that it is not that any more."""

    newest: int = 0
    asking: int = 0
    at: float = field(default_factory=time.monotonic)


class Pool:
    """Processes that answer questions, each one question at a time."""

    def __init__(
        self,
        size: int = 2,
        library: Library | None = None,
        seconds: float = SECONDS,
        memory: int = MEMORY,
        folder: Folder | None = None,
        build: Build | None = None,
    ) -> None:
        self._read = folder, build  # whose files questions may name, and how the one that is followed is compiled
        self._library, self._seconds, self._memory = library or Library(), seconds, memory
        self._context = multiprocessing.get_context("spawn")
        self._lock = threading.Condition()
        self._turns: dict[str, _Turn] = {}
        self._open = True
        self._workers: list[_Worker] = []  # all that there are
        self._idle = [self._start() for _ in range(size)]

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def processes(self) -> list[int | None]:
        """The ids of the processes."""
        with self._lock:
            return [worker.process.pid for worker in self._workers]

    def ask(self, question: Any, page: str = "", path: str | None = None, number: int | None = None) -> bytes:
        """The answer as JSON.

        page: who asks; a newer question of the same one cancels this. number: of the page's question, as they may arrive in
        another order than they were asked; without one, the last to arrive is the newest. path: as for `questions.answer`.

        Raises: Cancelled. A question over a limit is answered with an error.
        """
        turn, mine = self._enter(page, number)
        try:
            worker = self._take(lambda: turn is not None and turn.newest != mine)
            return self._answer(worker, json.dumps([question, path]).encode(), turn, mine)
        finally:
            self._leave(turn)

    def close(self) -> None:
        """End the processes."""
        with self._lock:
            self._open = False
            workers, self._workers, self._idle = self._workers, [], []
            self._lock.notify_all()
        for worker in workers:
            worker.process.kill()
            worker.process.join()
            with suppress(OSError):  # a question that waited for it has closed it
                worker.pipe.close()

    def _enter(self, page: str, number: int | None) -> tuple[_Turn | None, int]:
        if not page:
            return None, 0
        with self._lock:
            turn = self._turns.pop(page, None) or _Turn()
            self._turns[page] = turn  # the last
            if len(self._turns) > _PAGES:
                self._turns = {name: other for name, other in self._turns.items() if other.asking or other is turn}
            mine = turn.newest + 1 if number is None else number
            if mine < turn.newest:
                raise Cancelled
            turn.newest, turn.at = mine, time.monotonic()
            turn.asking += 1
            self._lock.notify_all()
            return turn, mine

    def _leave(self, turn: _Turn | None) -> None:
        if turn is not None:
            with self._lock:
                turn.asking -= 1

    def _take(self, stale: Callable[[], bool]) -> _Worker:
        with self._lock:
            while not self._idle:
                if not self._open or stale():
                    raise Cancelled
                self._lock.wait(1.0)
            if not self._open or stale():
                raise Cancelled
            return self._idle.pop()

    def _answer(self, worker: _Worker, question: bytes, turn: _Turn | None, mine: int) -> bytes:
        try:
            self._await(worker)
            end = time.monotonic() + self._seconds
            worker.pipe.send_bytes(question)
            while not worker.pipe.poll(_TICK if turn is not None else 0.25):
                now = time.monotonic()
                if not self._open or (turn is not None and turn.newest != mine and now > turn.at + GRACE):
                    self._replace(worker)
                    raise Cancelled
                if now > end:
                    self._replace(worker)
                    return _error(f"this took longer than {self._seconds:g} seconds", "draw a smaller part: `crop=16x64`")
            swollen, out = worker.pipe.recv_bytes().split(b"\n", 1)
        except (EOFError, OSError):  # killed for its memory, or by somebody
            self._replace(worker)
            return _error("the process that answers has ended, perhaps for lack of memory", "draw a smaller part: `crop=16x64`")
        if swollen == b"1":
            self._replace(worker)
        else:
            self._put(worker)
        return out

    def _await(self, worker: _Worker) -> None:
        """Wait until a new process has loaded what every question needs, which is not part of a question's time."""
        if not worker.ready:
            if not worker.pipe.poll(_START):
                raise EOFError
            worker.pipe.recv_bytes()
            worker.ready = True

    def _put(self, worker: _Worker) -> None:
        with self._lock:
            self._idle.append(worker)
            self._lock.notify_all()

    def _replace(self, worker: _Worker) -> None:
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()
        with self._lock:
            if worker in self._workers:
                self._workers.remove(worker)
            if not self._open:
                return
        fresh = self._start()
        with self._lock:
            if self._open:
                self._idle.append(fresh)
                self._lock.notify_all()
                return
        fresh.process.kill()

    def _start(self) -> _Worker:
        mine, theirs = self._context.Pipe()
        process = self._context.Process(target=work, args=(theirs, self._library, self._memory, *self._read), daemon=True)
        process.start()
        theirs.close()
        worker = _Worker(process, mine)
        with self._lock:
            self._workers.append(worker)
        return worker


def work(pipe: Connection, library: Library, memory: int, folder: Folder | None = None, build: Build | None = None) -> None:
    """Answer questions until the other end is closed: what a process of a pool runs.

    memory: bytes of address space that the process may take.
    """
    import gc
    import signal

    from cute_viz.live.questions import answer

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's
    _hold(memory)
    answer({"source": "(4,8):(8,1)"})  # what every question needs is loaded before the first one comes
    gc.freeze()
    with suppress(EOFError, OSError):  # the other end is closed
        pipe.send_bytes(b"ready")
        while True:
            question, path = json.loads(pipe.recv_bytes())
            out = json.dumps(answer(question, library, path, folder, build), separators=(",", ":"), default=str).encode()
            pipe.send_bytes((b"1\n" if _peak() > SWOLLEN else b"0\n") + out)


def _hold(memory: int) -> None:
    """Take at most so much memory, where a system can hold a process to that."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = memory if most == resource.RLIM_INFINITY else min(memory, most)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, most))


def _peak() -> int:
    """The most memory that the process ever had, in KiB."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _error(message: str, hint: str) -> bytes:
    from cute_viz.errors import LimitError
    from cute_viz.live.faults import fault

    return json.dumps({"error": fault(LimitError(message, hint=hint), "")}).encode()
