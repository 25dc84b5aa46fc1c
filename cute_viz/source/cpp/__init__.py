"""C++: files and pasted lines to the values of what they define."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cute_viz.source.model import Given, SourceFile


def read(text: str, given: Given) -> SourceFile:
    """A file of C++; see `files.read`, which a line outside of any file does not load."""
    from cute_viz.source.cpp.files import read

    return read(text, given)
