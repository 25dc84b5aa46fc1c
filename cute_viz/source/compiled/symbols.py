"""The instances of templates that a binary has: by the symbols of an ELF file, or by what `nm -C` printed of one."""

from __future__ import annotations

import re
import shutil
import subprocess

from cute_viz.errors import CuteVizError
from cute_viz.files import decode, held, note, read_text, regular
from cute_viz.limits import limit

_SECONDS = 60  # that nm may take
_MOST = 2000  # instances


def symbols_of(path: str, root: str | None = None) -> str:
    """The symbols of a binary, a line each, by nm, which does not run it; any other file is text that has them.

    root: as of `read_text`.

    Raises: CuteVizError for a file that is not there, and for a binary where nm is not installed or cannot read it.
    """
    place = regular(path if root is None else held(path, root))
    note(place)
    try:
        with open(place, "rb") as file:
            if file.read(4) != b"\x7fELF":
                return read_text(path, root)
    except OSError:
        return read_text(path, root)
    if (nm := shutil.which("nm")) is None:
        raise CuteVizError("reading a binary needs nm, which is not installed", name=path, hint="give what `nm -C` prints")
    try:
        done = subprocess.run([nm, "-C", "--defined-only", "--", place], capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        raise CuteVizError("nm does not end on this binary", name=path, hint="give what `nm -C` prints") from None
    if done.returncode or not done.stdout:
        raise CuteVizError("nm finds no symbols in this binary", name=path, hint="build it without `strip` or -s")
    return decode(done.stdout[: limit("file")], path)


def instances_of(symbols: str) -> tuple[str, ...]:
    r"""The instances of function templates that `nm -C` prints, each once.

    >>> instances_of("00000000 W void a::k<4, (b)1>(float*)\n0010 T main\n0020 W cute::Layout<int>::f()\n")
    ('void a::k<4, (b)1>(float*)',)
    """
    lines = (re.sub(r"^[0-9a-f ]{8,}[A-Za-z] ", "", line).strip() for line in symbols.splitlines())
    own = [line for line in lines if re.match(r"(?:void|auto|int|bool|cudaError_t|cudaError) [\w:]+<.*>\(.*\)$", line)]
    return tuple(dict.fromkeys(line for line in own if not line.split()[1].startswith(("cute::", "std::", "__"))))[:_MOST]
