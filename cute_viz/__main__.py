"""The console script, also `python -m cute_viz`: runs the command line and reports what goes wrong around it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # the part of it that is there already: an interrupt may come at any import

INTERRUPTED = 130


def main() -> None:
    """Run the command line. An interrupt or a lack of memory during imports or at exit also prints one line."""
    taken = signal.getsignal(signal.SIGINT) is not signal.default_int_handler  # such as ignored, in the background of a shell
    if not taken:
        signal.signal(signal.SIGINT, lambda *_: _end(INTERRUPTED, "interrupted"))
    try:
        from cute_viz.cli import main as run
    except (ImportError, MemoryError, OSError, SystemError) as error:  # the last is Python's own, out of memory
        _end(1, f"cute-viz cannot be loaded: {str(error) or 'out of memory'}".splitlines()[0])
    sys.unraisablehook = _unraisable
    try:
        if not taken:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except SystemExit as stop:
        if stop.code == INTERRUPTED:  # half-imported libraries can fail at exit
            os._exit(INTERRUPTED)
        raise
    except KeyboardInterrupt:  # a second one, while the first is reported
        _end(INTERRUPTED, "interrupted")
    except (MemoryError, SystemError):
        _end(1, "out of memory")
    finally:
        if not taken:
            signal.signal(signal.SIGINT, lambda *_: _end(INTERRUPTED, "interrupted"))


def _end(status: int, said: str) -> None:
    """End the process at once, without any import."""
    os.write(2, f"error: {said}\n".encode(errors="replace"))
    os._exit(status)


def _unraisable(what: sys.UnraisableHookArgs) -> None:
    """Handle what Python cannot raise in place: an interrupt is raised again, a lack of memory shows in what follows."""
    if isinstance(what.exc_value, KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    elif not isinstance(what.exc_value, MemoryError):
        sys.__unraisablehook__(what)


if __name__ == "__main__":
    main()
