"""How a project builds a file: the flags that were given, or those of its compile_commands.json; and what a binary has of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cute_viz.errors import CuteVizError
from cute_viz.files import decode, held, note, read_text, regular
from cute_viz.headers import cuda_headers, cute_headers
from cute_viz.limits import limit
from cute_viz.source.address import Build
from cute_viz.source.compiled.flags import Flags, flags

_NAME = "compile_commands.json"
_SYSTEM = ("/usr/include", "/usr/lib", "/usr/local/cuda", "/opt/cuda", "/lib")
_MOST = 4000  # units that are searched for one that includes a header
_SECONDS = 60  # that nm may take
_INSTANCES = 2000  # of a binary


def unit_of(build: Build, path: str) -> tuple[str, Flags]:
    """The unit in which a file is compiled, and its flags. Raises: CuteVizError for a file that no command compiles."""
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
    """Whether a project may have a file read: of its own folder, of the system, of CuTe and CUDA."""
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
            yield os.path.join(folder, str(row["file"])), flags(_command_words(row), folder)
    except (ValueError, LookupError, TypeError, AttributeError):
        hint = "cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, `bear -- make` or `ninja -t compdb` writes one"
        raise CuteVizError(f"this is not a {_NAME}", name=path, hint=hint) from None


def _command_words(row: dict[str, Any]) -> Any:
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
    r"""The instances of function templates that `nm -C` prints, each once."""
    lines = (re.sub(r"^[0-9a-f ]{8,}[A-Za-z] ", "", line).strip() for line in symbols.splitlines())
    own = [line for line in lines if re.match(r"(?:void|auto|int|bool|cudaError_t|cudaError) [\w:]+<.*>\(.*\)$", line)]
    return tuple(dict.fromkeys(line for line in own if not line.split()[1].startswith(("cute::", "std::", "__"))))[:_INSTANCES]
