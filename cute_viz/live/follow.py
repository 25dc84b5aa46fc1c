"""A file that is followed: its text as it was last saved, and how often it has changed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass

from cute_viz.errors import CuteVizError
from cute_viz.files import read_text

TICK = 0.15  # seconds between looks at it


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the file; `error` instead of the text while it cannot be read."""

    version: int
    text: str
    error: str = ""


class Followed:
    """A file that somebody edits.

    open: whether it is followed still. first: what a text goes through before anybody is shown it, as through a compiler; the
    CuteVizError that it raises is the error of that version.
    """

    def __init__(self, path: str, first: Callable[[str], object] = str) -> None:
        self.path = path
        self._first = first
        self.name = os.path.basename(path)
        self._changed = threading.Condition()
        self._stamp: object = _stamp(path)
        self._state = Version(1, _read(path))
        first(self._state.text)
        self.open = True
        threading.Thread(target=self._look, daemon=True).start()

    @property
    def state(self) -> Version:
        """The file as it was last saved."""
        with self._changed:
            return self._state

    def after(self, version: int, seconds: float) -> Version:
        """The state as soon as it differs from that of a version, or after this many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._state.version != version or not self.open, seconds)
            return self._state

    def close(self) -> None:
        """Stop following it."""
        with self._changed:
            self.open = False
            self._changed.notify_all()

    def _look(self) -> None:
        pause = threading.Event()
        while self.open:
            pause.wait(TICK)
            stamp = _stamp(self.path)
            if stamp == self._stamp:
                continue
            self._stamp = stamp
            text, error = self._state.text, ""
            try:
                new = _read(self.path)
                self._first(new)
                text = new
            except CuteVizError as failure:
                error = failure.line("cli")
            except OSError as failure:  # editors replace a file: for a moment there is none
                error = f"{self.name}: {failure.strerror or failure}"
            if (text, error) != (self._state.text, self._state.error):
                with self._changed:
                    self._state = Version(self._state.version + 1, text, error)
                    self._changed.notify_all()


def _read(path: str) -> str:
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe would be waited for, a device may never end
        raise CuteVizError("this is not a regular file", name=path, hint="a page follows a file that an editor saves")
    return read_text(path)


def _stamp(path: str) -> object:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
