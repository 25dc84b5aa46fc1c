"""An address, `FILE@REVISION::SCOPE::NAME@LINE(slice)`: in one word, which object of which file is meant, and which part of it."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import NamedTuple

from cute_viz.files import held

CODE = "cuh?|cpp|cc|h|hpp|cxx|inl|py|ipynb|mlir|txt|log|out|md"  # the suffixes of files with layouts in them
REVISION = r"[\w][\w./~^-]*"  # of Git: HEAD~1, main, v1.2, 3a62160
_NAME = r"(?:(?:\\\\\?\\)?[A-Za-z]:[\\/][^<>:\"|?*\n]+|[^\s(){}<>;=,:]+)"  # behind a drive, also blanks and brackets
_FILE = rf"({_NAME}\.(?:{CODE}|ya?ml|json)(?:@{REVISION})?)(?:::(.+))?"
_QUERY = r"(?P<path>[^@]*)(?:@(?P<line>\d+(?::\d+)?))?"
_LONGEST = 4096


class Address(NamedTuple):
    """A file, and which object of it is meant, as `query_of` takes it; "" where nothing says it."""

    file: str
    name: str

    @property
    def revised(self) -> tuple[str, str]:
        """The path of the file and its revision; "" for the file as it is."""
        found = re.fullmatch(rf"(.+\.\w+)@({REVISION})", self.file)
        return (found[1], found[2]) if found is not None and not os.path.exists(self.file) else (self.file, "")


class Query(NamedTuple):
    """Which object of a file is meant: the parts of its path, its line, `CELL:LINE` in a notebook, and slices behind it."""

    parts: tuple[str, ...]
    line: str | None
    slices: str


class Folder(NamedTuple):
    """Where the files of addresses lie: `base`, "" for the working folder; `root` is the folder that paths, their `..` and links
    and what the files include do not leave, None for any."""

    base: str = ""
    root: str | None = None

    def path(self, file: str) -> str:
        """The path of a file. Raises: CuteVizError for one that leads out of the root."""
        path = os.path.join(self.base, file)
        return path if self.root is None else held(path, self.root)


ANYWHERE = Folder()


def address_of(word: str) -> Address | None:
    """The address that a word is: a file that is called as source code, logs and specs are, or that exists; None for any other."""
    word = word.strip()
    if len(word) > _LONGEST or "\n" in word or "\0" in word or not ("." in word or "::" in word):
        return None
    if (found := re.fullmatch(_FILE, word)) is not None:
        return Address(found[1], found[2] or "")
    for mark in re.finditer("::", word):
        if re.search(r"[./\\]", word[: mark.start()]) and mark.end() < len(word) and os.path.isfile(word[: mark.start()]):
            return Address(word[: mark.start()], word[mark.end() :])
    return None


def query_of(text: str) -> Query | None:
    """What `SCOPE::NAME@LINE(slice)` means; None for what is none."""
    begin = _slices(text := text.strip())
    found = re.fullmatch(_QUERY, text[:begin])
    if found is None:
        return None
    line = found["line"] and ":".join(number.lstrip("0") for number in found["line"].split(":"))
    return Query(path_parts(found["path"]), line, text[begin:])


def _slices(text: str) -> int:
    """Where the brackets begin that end a text, `(_,_,0)` or `[None,0]`, one pair or several; those of `operator()` are none."""
    begin, depth = len(text), 0
    for at in range(len(text) - 1, 0, -1):
        depth += (text[at] in ")]") - (text[at] in "([")
        if depth == 0 and text[at] not in "([":
            break
        if depth == 0:
            if not text[at + 1 : begin - 1].strip():
                break
            begin = at
    return begin


@lru_cache(1 << 14)  # those of every name of a file, for each name that is asked for
def path_parts(path: str) -> tuple[str, ...]:
    """The parts of `A::b` or `A.b`, whose template arguments may have `::` in them."""
    text, out, depth, begin = "".join(path.split()), [], 0, 0
    for n, char in enumerate(text):
        depth += (char == "<") - (char == ">")
        if depth == 0 and char in ".:":
            if n > begin:
                out.append(text[begin:n])
            begin = n + 1
    return (*out, text[begin:])


class Build(NamedTuple):
    """Where the flags of a file come from.

    flags: those of nvcc or clang, as one text. folder: of compile_commands.json, or the path of one. through: the unit that
    includes the file. root: the folder of the project that says so, outside of which nothing but system headers is read; None for
    what the user says. instances: the path of what `nm -C` prints of a binary, whose instances of templates are read.
    """

    flags: str | None = None
    folder: str | None = None
    through: str | None = None
    root: str | None = None
    instances: str | None = None
