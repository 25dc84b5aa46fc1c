"""The console script, which is `python -m cute_viz`: the command line, and what can go wrong around it, in words too."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any


def main() -> None:
    """Run the command line. An interrupt or a lack of memory while it is imported, or while the process ends, is one line, too."""
    taken = signal.getsignal(signal.SIGINT) is not signal.default_int_handler  # such as ignored, in the background of a shell
    if not taken:
        signal.signal(signal.SIGINT, _end)  # a KeyboardInterrupt would pass through the machinery of imports
    try:
        from cute_viz.cli import main as run
    except (ImportError, MemoryError, OSError) as error:
        _end(1, said=f"cute-viz cannot be loaded: {str(error) or 'out of memory'}".splitlines()[0])
        raise  # not reached
    sys.unraisablehook = _unraisable
    try:
        if not taken:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:  # a second one, while the first is told
        _end(130)
    except MemoryError:
        _end(1, said="out of memory")
    finally:
        if not taken:
            signal.signal(signal.SIGINT, _end)


def _end(status: int, frame: Any = None, said: str = "interrupted") -> None:
    """End the process at once; as a handler of SIGINT, whose number is 2, with the status of an interrupt."""
    os.write(2, f"error: {said}\n".encode(errors="replace"))
    os._exit(130 if status == signal.SIGINT else status)


def _unraisable(what: Any) -> None:
    """Of what cannot be raised where it happens: an interrupt is one a moment later, a lack of memory is told by what follows."""
    if isinstance(what.exc_value, KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    elif not isinstance(what.exc_value, MemoryError):
        sys.__unraisablehook__(what)


if __name__ == "__main__":
    main()
