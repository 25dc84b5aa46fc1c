"""Bytes -> a file or standard output."""

from __future__ import annotations

import os
import sys

from cute_viz import files
from cute_viz.errors import CuteVizError


def write(data: bytes, path: str | None) -> None:
    """Write to a path, or to standard output for None and `-`. A file appears whole or not at all."""
    if path is None or path == "-":
        if sys.stdout.name == os.devnull:
            raise CuteVizError("standard output is closed", hint="give a file with -o")
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        files.write(data, path)
