"""A text, the files beside it, and what is given for its names -> the whole file that it is, for every command in the same way."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from typing import TypeAlias

from cute_viz.errors import CuteVizError, did_you_mean
from cute_viz.files import held, read_text
from cute_viz.limits import limit
from cute_viz.source import LANGUAGES, read
from cute_viz.source.address import Folder
from cute_viz.source.model import Given, SourceFile

_IMPORTED = 64  # files that are read for names
INCLUDE = re.compile(r'(?m)^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"')
_INCLUDED_FROM = 4  # folders in which the files that it includes are looked for, its own among them
_LIBRARIES = ("cute/", "cutlass/", "thrust/", "cub/", "cuda/")  # whose meaning is known, or too long to read
_BESIDE = 256  # entries of a folder among which folders are looked for
_DEEP = 16  # files within files
_MARKERS = 64  # characters of the line markers around one, beside two names
_OF_TENSORS = ("element_type", "dtype", "value_type", "width", "layout", "shape", "stride", "iterator")  # which every tensor has
_DIALECTS = {"cpp": "cpp", "dsl": "python"}  # that are whole files when they have several lines

Beside: TypeAlias = "Callable[[str, str], tuple[str, str] | None]"


def opened(
    text: str, name: str | None, given: Given, dialect: str = "auto", folder: Folder | None = None, check: bool = True
) -> SourceFile | None:
    """The file that a text is, with what it includes and imports; None for an expression, a program of expressions, or prints.

    name: its path, where it is a file. folder: where the files beside it may lie, None where none are read. check: what is given
    is for this file and no other.

    Raises: CuteVizError for a value of `given.let` that nothing in the file could use.
    """
    from cute_viz.source import notebook

    notes = notebook.is_notebook(text)
    if notes:
        text = notebook.code_of(text)
    language = "python" if notes else _language(text, name, dialect)
    if language is None:
        return None
    beside: Beside | None = None
    if folder is not None and name and os.path.isfile(name):
        given.files[""] = name
        if language == "cpp":
            text = with_includes(name, text, given.files, folder.root)
        elif language == "python":
            beside = cache(partial(module_beside, name, given.files, folder.root))
    file = read(text, language, replace(given, beside=beside))
    if check:
        check_let(file, beside)
    return file


def depends(path: str, folder: Folder) -> list[str]:
    """The files that the objects of a file may depend on: itself, what it includes, and the modules beside it that it imports."""
    text, files = read_text(path, folder.root), {"": path}
    with_includes(path, text, files, folder.root)
    if path.endswith((".py", ".ipynb")):
        for _ in _imported(text, cache(partial(module_beside, path, files, folder.root))):
            pass
    return list(dict.fromkeys(files.values()))


def _language(text: str, name: str | None, dialect: str) -> str | None:
    statement = ";" in text and name is not None and name != "-"  # in a file, an expression has none
    if "\n" not in text.strip() and len(text) < 400 and "{" not in text and "!cute" not in text and not statement:
        return None
    if dialect in _DIALECTS:
        return _DIALECTS[dialect] if "\n" in text.strip() else None
    if dialect != "auto":
        return None
    from cute_viz.source.sniff import sniff

    found = sniff(text, name or "")
    return found if found in LANGUAGES else None


def module_beside(path: str, files: dict[str, str], root: str | None, module: str, origin: str) -> tuple[str, str] | None:
    """The path and the text of a Python module that a file imports, where that lies in its folder or in one around it.

    They are those around the first file in which C++ finds what it includes: no import leads out of them, and one with more dots
    than there are packages around a file leads nowhere, as in Python.

    path: the first file. files: the path is added here. root: the folder that it does not leave. origin: the file that imports, ""
    for the first.
    """
    folder = os.path.dirname(os.path.abspath(origin or path))
    level = len(module) - len(module.lstrip("."))
    inside = os.path.join(*module[level:].split("."))
    for _ in range(level - 1):
        if not _is_package(folder):
            return None
        folder = os.path.dirname(folder)
    top = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(path)), *[os.pardir] * (_INCLUDED_FROM - 1)))
    for n in range(1 if level else _INCLUDED_FROM):
        found = (os.path.join(folder, inside + end) for end in (".py", f"{os.sep}__init__.py"))
        there = next((file for file in found if os.path.isfile(file)), None) if (n == 0 or not _is_package(folder)) else None
        if there is not None:
            with suppress(CuteVizError, OSError):
                held(there, top)
                text = read_text(there if root is None else held(there, root), folder)
                files[there] = told = os.path.relpath(there) if not os.path.isabs(path) else there
                return told, text
        folder = os.path.dirname(folder)
    return None


def _is_package(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "__init__.py"))


def _imported(text: str, beside: Beside) -> Iterator[str]:
    """The texts of the modules beside a Python file that it imports, and of those that these import."""
    todo, seen = [("", text)], set[str]()
    while todo:
        origin, here = todo.pop()
        for module in modules_of(here):
            other = beside(module, origin) if len(seen) < _IMPORTED else None
            if other is not None and other[0] not in seen:
                seen.add(other[0])
                yield other[1]
                todo.append(other)


def modules_of(text: str) -> Iterator[str]:
    """The modules that a Python text may import: `from a import b` may mean a.b."""
    for found in re.finditer(r"(?m)^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+\(?([\w, \t]*)|import[ \t]+([\w.]+))", text):
        head = found[1] or found[3]
        words = re.findall(r"\w+", found[2] or "")
        names = [head, *(f"{head.rstrip('.')}.{word}" if head.strip(".") else head + word for word in words)]
        yield from (name for name in names if name.strip("."))


def _is_extended(name: str) -> bool:
    from cute_viz.source.cpp.context import EXTENDED

    return name == EXTENDED


def check_let(file: SourceFile, beside: Beside | None = None) -> None:
    """Refuse a value for a name that stands neither in the file nor in one that it imports: it was meant to change something."""
    text, words = file.text, None
    for name in file.given.let:
        parts = re.split(r"::|\.", name)
        while len(parts) > 1 and parts[-1] in _OF_TENSORS:
            parts.pop()
        first, *_, last = 2 * parts
        if beside is not None and first != last and re.search(rf"^[ \t]*import\b[^\n#]*\b{re.escape(first)}\b", text, re.M):
            hint = f"inside that file: `let={last}=...`"
            raise CuteVizError(f"{first!r} is another file with names of its own", name=f"`let={name}`", hint=hint)
        if re.search(rf"(?<!\w){re.escape(last)}(?!\w)", text) or ("op_selector" in text and _is_extended(name)):
            continue
        if beside is not None and any(re.search(rf"(?<!\w){re.escape(last)}(?!\w)", other) for other in _imported(text, beside)):
            continue
        words = words or sorted(set(re.findall(r"[A-Za-z_]\w*", text)))
        hint = f"give its parts: `let={last}.x=128`" if last in ("blockDim", "gridDim") else did_you_mean(last, words)
        hint = hint or "cute-viz list FILE shows which values are needed"
        raise CuteVizError(f"nothing here is called {name!r}", name=f"`let={name}`", hint=hint)


def _within(tops: list[str], name: str) -> Iterator[tuple[str, str]]:
    """The folder in one around a file that alone there has what it includes, as `utils` or `include`, and the one that it is in."""
    for top in () if name.startswith(_LIBRARIES) else tops:
        found: list[str] = []
        with suppress(OSError):  # of a folder that nobody may read
            inner = [os.path.join(top, one) for one in sorted(os.listdir(top))[:_BESIDE]]
            found = [folder for folder in inner if os.path.isfile(os.path.join(folder, name))]
        if len(found) == 1:
            yield found[0], top


def with_includes(path: str, text: str, files: dict[str, str], root: str | None = None) -> str:
    """The text of a file with the files that it includes by `#include "name"`, each once and where it is included. They lie in
    its folder, or, as with an option -I, in one around it, and in `root` where there is one; their paths are added to `files`.
    A folder in one around it counts, too, where it alone there has the file. Line markers, as of a preprocessor, tell where each
    part is from. What is not there, leads out of these folders, or would make the text longer than the limit, is left out."""
    folder, seen, left = os.path.dirname(path) or ".", {os.path.realpath(path)}, limit("input")
    if INCLUDE.search(text) is None:
        return text
    tops = [os.path.join(folder, *[os.pardir] * n) for n in range(1, _INCLUDED_FROM)]

    def of(text: str, place: str, name: str, deep: int) -> str:
        nonlocal left
        left -= len(text) + len(name) + _MARKERS
        out: list[str] = []
        for number, line in enumerate(text.splitlines(keepends=True), 1):
            out.append(line)
            match = INCLUDE.match(line)
            if match is None or deep == _DEEP:
                continue
            bases = chain(((os.path.dirname(place), tops[-1]), *zip(tops, tops, strict=True)), _within(tops, match[1]))
            there = ((os.path.normpath(os.path.join(base, match[1])), top) for base, top in bases)
            other, around_it = next((x for x in there if os.path.isfile(x[0])), ("", folder))
            if not other or os.path.realpath(other) in seen or os.path.getsize(other) + len(other) + 2 * _MARKERS > left:
                continue
            try:
                inner = read_text(other if root is None else held(other, root), root=around_it)
            except (CuteVizError, OSError):
                continue
            seen.add(os.path.realpath(other))
            told = os.path.relpath(other, folder).replace(os.sep, "/")
            files[told] = other
            out += [f'#line 1 "{told}"\n', of(inner, other, told, deep + 1), f'\n#line {number + 1} "{name}"\n']
        return "".join(out)

    return of(text, path, "", 0)
