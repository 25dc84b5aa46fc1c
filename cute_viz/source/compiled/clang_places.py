"""Whose a file of a unit is, the user's or a library's, and what the compiler says of it."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clang.cindex import File, c_object_p, conf

from cute_viz.source.compiled.flags import HERE

if TYPE_CHECKING:
    from clang.cindex import Cursor, Diagnostic, TranslationUnit

REFUSED = "CuTe refuses this: "
_FILE, _LINE, _COLUMN, _OFFSET = c_object_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()  # that libclang writes to
_FOUND = tuple(map(ctypes.byref, (_FILE, _LINE, _COLUMN, _OFFSET)))
_EXTENSIONS = (  # what nvcc takes
    "'alignas' attribute cannot be applied to types",
    "'global' and 'device' attributes are not compatible",  # of an explicit instantiation where all is host and device code
)


def place_of(cursor: Cursor) -> tuple[str, int]:
    """The file and the line of a declaration or an expression; "" of what is in no file."""
    return offset_of(cursor)[:2]


def offset_of(cursor: Cursor) -> tuple[str, int, int]:
    """The file, the line and the offset of a declaration or an expression."""
    if "placed" not in cursor.__dict__:
        conf.lib.clang_getInstantiationLocation(conf.lib.clang_getCursorLocation(cursor), *_FOUND)
        names: dict[int, str] = cursor._tu.__dict__.setdefault("names", {})
        address = ctypes.cast(_FILE, ctypes.c_void_p).value or 0
        if address not in names:
            names[address] = str(File(_FILE).name) if address else ""
        cursor.placed = names[address], _LINE.value, _OFFSET.value
    found: tuple[str, int, int] = cursor.placed
    return found


class UnitFiles:
    """The files of a unit. lines: of its own text, behind which stands what was put there for the parser."""

    def __init__(self, unit: TranslationUnit, path: str, lines: int) -> None:
        self.parsed, self.path, self.lines = unit, path, lines
        included = [str(file.include.name) for file in unit.get_includes()]
        self.files = tuple(dict.fromkeys((path, *map(os.path.realpath, included))))  # `..` behind a link leads elsewhere
        self.skipped = tuple(dict.fromkeys(os.path.realpath(folder) + os.sep for folder in _foreign(included)))
        libraries = (os.path.dirname(os.path.dirname(name)) for name in included if name.endswith("/cutlass/cutlass.h"))
        self.libraries = (*self.skipped, *(os.path.realpath(place) + os.sep for place in libraries))
        self.foreign: dict[str, bool] = {"": False}

    def errors(self) -> Iterator[tuple[str, int, str]]:
        """The errors in files that are neither a library's nor the system's."""
        for diagnostic in self.parsed.diagnostics:
            file = diagnostic.location.file
            if diagnostic.spelling in _EXTENSIONS:
                continue
            if diagnostic.severity >= 3 and "static assertion failed" in diagnostic.spelling and self.is_library(file):
                yield from self.asked_by(diagnostic)
            if diagnostic.severity >= 3 and not self.is_library(file):
                yield str(file.name), int(diagnostic.location.line), str(diagnostic.spelling)

    def is_library(self, file: File | None) -> bool:
        """Whether a file is one of a library or of the system."""
        return file is None or os.path.realpath(str(file.name)).startswith(self.libraries)

    def asked_by(self, diagnostic: Diagnostic) -> Iterator[tuple[str, int, str]]:
        """What a library refuses, at the user's line that asks for it."""
        for note in diagnostic.children:
            place = note.location
            if not self.is_library(place.file) and note.spelling.startswith("in instantiation"):
                told = diagnostic.spelling.partition("static assertion failed")[2]
                words = re.sub(r"^ due to requirement '.*?'", "", told).lstrip(": ")
                yield str(place.file.name), int(place.line), f"{REFUSED}{words}"
                return

    def is_foreign(self, name: str) -> bool:
        """Whether a file is CuTe's, CUDA's or the system's."""
        if name not in self.foreign:
            self.foreign[name] = os.path.realpath(name).startswith(self.skipped)
        return self.foreign[name]

    def is_own(self, cursor: Cursor) -> bool:
        """Whether something stands in a file of the user."""
        name = place_of(cursor)[0]
        return name != "" and not self.is_foreign(name)


def _foreign(included: list[str]) -> Iterator[str]:
    """The folders of CuTe, CUDA and the system."""
    for name in included:
        if name.endswith(("/cute/layout.hpp", "/cuda_runtime_api.h", "/cuda_fp16.h", "/crt/host_defines.h", "/cuda/std/version")):
            yield os.path.dirname(name).removesuffix("/crt").removesuffix("/cuda/std")
    yield from (HERE, "/usr/include", "/usr/lib", "/lib")
