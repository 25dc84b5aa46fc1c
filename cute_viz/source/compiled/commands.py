"""How a project builds a file: the flags that were given, or those of its compile_commands.json."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cute_viz.errors import CuteVizError
from cute_viz.files import read_text, regular
from cute_viz.headers import cuda_headers, cute_headers
from cute_viz.source.build import Build
from cute_viz.source.compiled.flags import Flags, flags

_NAME = "compile_commands.json"
_SYSTEM = ("/usr/include", "/usr/lib", "/usr/local/cuda", "/opt/cuda", "/lib")
_MOST = 4000  # units that are searched for one that includes a header


def unit_of(build: Build, path: str) -> tuple[str, Flags]:
    """The unit in which a file is compiled, and its flags.

    Raises: CuteVizError for a file that no command compiles.
    """
    unit = build.through or path
    if build.flags is not None:
        return unit, _held(flags(build.flags, build.root or os.getcwd(), build.root), build.root)
    rows = list(_commands(build.folder or "."))
    real = os.path.realpath(unit)
    row = next((row for row in rows if os.path.realpath(row[0]) == real), None)
    if row is None and build.through is None:
        row = next((row for row in rows[:_MOST] if _includes(row[0], os.path.basename(path))), None)
    if row is None:
        names = ", ".join(sorted({os.path.basename(file) for file, _ in rows})[:8])
        hint = f"it compiles {names}; `through=UNIT` names a unit that includes the file" if names else "it has no commands"
        raise CuteVizError(f"no command in {_NAME} compiles this file", name=path, hint=hint)
    return row[0], _held(row[1], build.root)


def is_allowed(path: str, root: str) -> bool:
    """Whether a project may have a file read: of its own folder, of the system, of CuTe and CUDA.

    >>> is_allowed("/src/a.h", "/src"), is_allowed("/home/a.h", "/src")
    (True, False)
    """
    places = (root, *_SYSTEM, cute_headers() or root, *cuda_headers(), os.path.dirname(__file__))
    real = os.path.realpath(path)
    return any(real == top or real.startswith(os.path.join(top, "")) for top in map(os.path.realpath, places))


def _held(found: Flags, root: str | None) -> Flags:
    """Flags without the folders and files that a project must not name. root: None for those of the user."""
    if root is None:
        return found
    words: list[str] = []
    for word in found.words:
        if words and words[-1] in ("-I", "-isystem", "-include") and not is_allowed(word, root):
            words.pop()
        else:
            words.append(word)
    return replace(found, words=tuple(words))


def _commands(place: str) -> Iterator[tuple[str, Flags]]:
    """The units of a build, with their flags."""
    path = os.path.join(place, _NAME) if os.path.isdir(place) else place
    try:
        rows = json.loads(read_text(regular(path)))
        if not isinstance(rows, list):
            raise TypeError
        for row in rows:
            folder = os.path.join(os.path.dirname(path), str(row.get("directory", "")))
            yield os.path.join(folder, str(row["file"])), flags(_words(row), folder)
    except (ValueError, LookupError, TypeError, AttributeError):
        hint = "cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, `bear -- make` or `ninja -t compdb` writes one"
        raise CuteVizError(f"this is not a {_NAME}", name=path, hint=hint) from None


def _words(row: dict[str, Any]) -> Any:
    """The words of a command, less the compiler and the file."""
    words = row.get("arguments")
    if words is None:
        import shlex

        words = shlex.split(str(row["command"]))
    own = {str(row["file"]), os.path.basename(str(row["file"]))}
    return [str(word) for word in words[1:] if str(word) not in own]


def _includes(path: str, name: str) -> bool:
    """Whether a unit includes a header by its name, itself or through one file beside it."""
    pattern = re.compile(r'#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]')

    def included(file: str) -> list[str]:
        try:
            return pattern.findall(read_text(regular(file)))
        except (CuteVizError, OSError):
            return []

    first = included(path)
    beside = (os.path.join(os.path.dirname(path), word) for word in first)
    return any(
        os.path.basename(word) == name for word in first + [x for file in beside if os.path.isfile(file) for x in included(file)]
    )
