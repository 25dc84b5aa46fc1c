"""The console script, which is `python -m cute_viz`: the command line, and what can go wrong around it, in words too."""

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
    """Run the command line. An interrupt or a lack of memory while it is imported, or while the process ends, is one line, too."""
    taken = signal.getsignal(signal.SIGINT) is not signal.default_int_handler  # such as ignored, in the background of a shell
    if not taken:
        signal.signal(signal.SIGINT, lambda *_: _end(INTERRUPTED, "interrupted"))
    try:
        from cute_viz.cli import main as run
    except (ImportError, MemoryError, OSError) as error:
        _end(1, f"cute-viz cannot be loaded: {str(error) or 'out of memory'}".splitlines()[0])
    sys.unraisablehook = _unraisable
    try:
        if not taken:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except SystemExit as stop:
        if stop.code == INTERRUPTED:  # libraries that were half imported would not end in peace
            os._exit(INTERRUPTED)
        raise
    except KeyboardInterrupt:  # a second one, while the first is told
        _end(INTERRUPTED, "interrupted")
    except MemoryError:
        _end(1, "out of memory")
    finally:
        if not taken:
            signal.signal(signal.SIGINT, lambda *_: _end(INTERRUPTED, "interrupted"))


def _end(status: int, said: str) -> None:
    """End the process at once, without any import."""
    os.write(2, f"error: {said}\n".encode(errors="replace"))
    os._exit(status)


def _unraisable(what: sys.UnraisableHookArgs) -> None:
    """Of what cannot be raised where it happens: an interrupt is one a moment later, a lack of memory is told by what follows."""
    if isinstance(what.exc_value, KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    elif not isinstance(what.exc_value, MemoryError):
        sys.__unraisablehook__(what)


if __name__ == "__main__":
    main()
