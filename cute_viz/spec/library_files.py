"""The files of the library: the folders that hold them, the entries in a file by their lines, and which files may have a name.

Nothing of an entry is read until it is asked for: a name is found by lines, and YAML is read of the one entry that has it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from cute_viz.errors import Span
from cute_viz.files import held, read_text, searched
from cute_viz.records import dataclass
from cute_viz.spec.yaml import Keys, SpecError, Text, Value, read_yaml

# What a record is made of.
OF_INSTRUCTION = ("kind", "memory", "words", "sparse", "lanes", "ptx", "dsl", "names", "sass", "isa", "spelt")
HEAD = ("library", "arch", "also", "warp", "source", "layouts", *OF_INSTRUCTION)

_STARTS = (  # of names without a number of their architecture: where they stand, newest first
    ("GMMA_", ("sm90_sparse",)),
    ("XE_", ("xe", "xe_legacy")),
    ("v_", ("gfx950", "gfx942", "gfx90a", "gfx908", "gfx1200", "gfx1100")),
)


class Section(NamedTuple):
    """A key at the margin of a file and what stands under it: path and text of the file, the key, and the characters it spans."""

    path: str
    whole: str
    key: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Where the key stands."""
        return Span(self.start, self.start + len(self.key))

    def wrong(self, message: str, at: Value | Span | None = None, hint: str | None = None) -> SpecError:
        """The error of a value in the file; without one, of the key."""
        span = at if isinstance(at, Span) else at.span if at is not None else self.span
        return SpecError(message, text=self.whole, span=span, hint=hint, name=self.path)


@dataclass(frozen=True, slots=True, eq=False)
class LibraryFile:
    """A file of atoms, by its blocks; while its text is the same, it is the same file."""

    path: str
    text: str
    head: dict[str, Section]
    families: tuple[Section, ...]

    @property
    def kind(self) -> str:
        """What the file holds: "mma" or "copy"."""
        kind = self.word("library")
        if kind not in ("mma", "copy"):
            raise self.head["library"].wrong(f"library must be mma or copy, not {kind!r}")
        return kind

    def word(self, key: str) -> str:
        """A text at the top of the file, in one line; empty where it is not given."""
        value = read_block(self.head[key]) if key in self.head else ""
        if not isinstance(value, str):
            raise self.head[key].wrong(f"{key} must be text", value)
        return " ".join(value.split())

    @property
    def archs(self) -> tuple[str, ...]:
        """The architectures that the file is of, its own first."""
        return (self.word("arch"), *self.word("also").split())

    def shared(self) -> dict[str, Text]:
        """The layouts that the file names once for several entries."""
        if "layouts" not in self.head:
            return {}
        value = read_block(self.head["layouts"])
        if not isinstance(value, Keys):
            raise self.head["layouts"].wrong("layouts must be a mapping of names to layouts", value)
        return {key: _text_of(item, self.head["layouts"]) for key, item in value.items()}


def _text_of(value: Value, block: Section) -> Text:
    if not isinstance(value, Text):
        raise block.wrong("a layout must be text", value, hint="in a flow mapping, quote a layout")
    return value


def directories(folders: tuple[str, ...] = ()) -> list[str]:
    """Where libraries are: a user's folders first, then the one that comes with cute-viz. Raises: SpecError for a name that is
    not a folder."""
    for folder in folders:
        if not os.path.isdir(folder):
            raise SpecError(f"{folder} is not a folder", hint="`layouts=` and CUTE_VIZ_LAYOUTS name folders of atoms and specs")
    return [*folders, _own()]


def _own() -> str:
    """The folder that comes with cute-viz."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    own = os.path.join(here, "layouts")
    return own if os.path.isdir(own) else os.path.join(os.path.dirname(here), "layouts")  # an editable install: beside the package


def is_own(path: str) -> bool:
    """Whether a file is of the folder that comes with cute-viz."""
    return path.startswith(os.path.join(_own(), ""))


def library_files(folders: tuple[str, ...] = ()) -> Iterator[LibraryFile]:
    """Every file of atoms, folder by folder."""
    for directory in directories(folders):
        yield from _libraries(directory)


def files_for(short: str, folders: tuple[str, ...] = ()) -> Iterator[LibraryFile]:
    """Every file of atoms, those first that a name leads to: all of a user's, of ours the ones of its architecture."""
    *users, own = directories(folders)
    for directory in users:
        yield from _libraries(directory)
    likely = [os.path.join(own, kind, f"{stem}.yaml") for stem in _stems(short) for kind in ("mma", "copy")]
    for path in likely:
        if os.path.isfile(path) and (file := library_file(path)) is not None:
            yield file
    for file in _libraries(own):
        if file.path not in likely:
            yield file


def warp_of(arch: str, folders: tuple[str, ...] = ()) -> tuple[int, str]:
    """How many threads of an architecture run together, 0 where that is not one number, and what they are called."""
    written = next((file.word("warp") for file in library_files(folders) if arch in file.archs and file.word("warp")), "0 warp")
    width, _, word = written.partition(" ")
    return (int(width) if width.isdecimal() else 0), word


def _stems(short: str) -> tuple[str, ...]:
    """The files of ours that a name leads to, by their names."""
    if match := re.match(r"SM(\d+)_", short):
        return (f"sm{match[1]}",)
    return next((stems for start, stems in _STARTS if short.startswith(start)), ("universal",))


def spec_file(name: str, folders: tuple[str, ...] = ()) -> str | None:
    """The YAML file of the libraries that holds a spec of this name, or is called so; None where there is none."""
    return next((path for path in spec_files(folders) if name in _names_of(path)), None)


def spec_names(folders: tuple[str, ...] = ()) -> Iterator[str]:
    """The names of the specs of the libraries, and of their files."""
    for path in spec_files(folders):
        yield from _names_of(path)


def _names_of(path: str) -> list[str]:
    """The name of a spec file, and those of the specs in it, by their lines: indented by two under `specs:`."""
    below = f"\n{_text(path)}".partition("\nspecs:")[2]
    inside = re.split(r"\n(?=[^\s#])", below, maxsplit=1)[0]
    return [os.path.splitext(os.path.basename(path))[0], *re.findall(r"^  (\w+):", inside, re.M)]


def spec_files(folders: tuple[str, ...] = ()) -> Iterator[str]:
    """The spec files of the libraries, folder by folder: those under `specs`, where a folder has that, else all that hold no
    atoms."""
    for directory in directories(folders):
        specs = os.path.join(directory, "specs")
        for path in _yaml_files(specs if os.path.isdir(specs) else directory, directory):
            if not is_library(_text(path)):
                yield path


def library_file(path: str) -> LibraryFile | None:
    """A file by its blocks; None where it holds no atoms."""
    return library_of(path, _text(path))


def library_of(path: str, text: str) -> LibraryFile | None:
    """The text of a file by its blocks; None where it holds no atoms."""
    return _split(path, text) if is_library(text) else None


@lru_cache(maxsize=4096)
def read_block(block: Section) -> Value:
    r"""What stands under the key; blanks in front make every place that in the file. Raises: SpecError for text that is not a
    key of a mapping."""
    line = block.whole.count("\n", 0, block.start)
    value = read_yaml(" " * (block.start - line) + "\n" * line + block.whole[block.start : block.end], block.path)
    if not isinstance(value, Keys) or list(value) != [block.key]:
        raise block.wrong("a library file has names at the margin, with their fields below", value)
    return value[block.key]


def _libraries(directory: str) -> Iterator[LibraryFile]:
    return (file for path in _yaml_files(directory, directory) if (file := library_file(path)) is not None)


def _yaml_files(directory: str, root: str) -> list[str]:
    """The YAML files of a folder of a library and those in it, in order. Raises: CuteVizError for a link that leaves a user's
    library, and for a folder with too many files."""
    files = sorted(searched(directory, (".yaml", ".yml")))
    return files if root == _own() else [held(path, root) for path in files]


def is_library(text: str) -> bool:
    """Whether a file holds atoms, by its text."""
    return re.search(r"^library:( |\s*$)", text, re.M) is not None


@lru_cache(maxsize=256)
def _split(path: str, text: str) -> LibraryFile:
    """The blocks of a file by its lines: a key at the margin, and what is indented under it."""
    keys, at = [], 0
    for line in text.split("\n"):
        if line and line[0] not in " #\t\r":
            key, colon, _ = f"{line.rstrip()} ".partition(": ")
            if colon:
                keys.append((key.strip("'\""), at))
        at += len(line) + 1
    ends = [start for _, start in keys[1:]] + [len(text)]
    blocks = [Section(path, text, key, start, end) for (key, start), end in zip(keys, ends, strict=True)]
    head = {block.key: block for block in blocks if block.key in HEAD}
    return LibraryFile(path, text, head, tuple(block for block in blocks if block.key not in HEAD))


_cache: dict[str, tuple[int, str]] = {}


def _text(path: str) -> str:
    """The text of a file, kept until the file changes."""
    stat = os.stat(path)
    if path not in _cache or _cache[path][0] != stat.st_mtime_ns:
        _cache[path] = (stat.st_mtime_ns, read_text(path))
    return _cache[path][1]
