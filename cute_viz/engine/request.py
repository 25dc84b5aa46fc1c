"""What an interface asks of the engine: sources, options, and what they are read with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from typing import Any

from cute_viz.records import dataclass
from cute_viz.source.address import ANYWHERE, Build, Folder
from cute_viz.spec import PACKAGED, Library


@dataclass(frozen=True, slots=True)
class Source:
    """A text that was read already, and where it came from: `standard input`, a file."""

    text: str
    name: str


@dataclass(frozen=True, slots=True)
class Request:
    """One question.

    sources: texts (an expression, the name of an atom or a spec, source code, a print, a figure's JSON), objects, figures.
    options: of `cute_viz.options` by name, as words or as values; None is not given.
    let: values for the run-time names of the sources, as texts or as values. name, dialect: which object of a text is meant, and
    how the text is read. library, limits: what names stand for, and how much is taken. formats: in which the picture will be
    written, as far as it is known; where all show images, so many cells that no label fits become one.
    files: a text may be the path of any file, and not only an address, `kernel.cu::sA`, or called as code. folder: where files lie,
    None where none are read. strict: a line that cannot be read is a mistake, not noise around an object. build: how a file of C++
    is compiled, None to read it as it is written. launch: which launch of a file's kernels is meant, "" for all.
    configured: what the project around a file says holds, as far as the request says nothing. watch: a context around work that
    takes seconds.
    """

    sources: tuple[Any, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    let: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None
    dialect: str = "auto"
    library: Library = PACKAGED
    limits: Mapping[str, int] = field(default_factory=dict)
    formats: tuple[str, ...] = ()
    files: bool = False
    folder: Folder | None = ANYWHERE
    strict: bool = False
    build: Build | None = None
    launch: str = ""
    configured: bool = False
    watch: Callable[[str], AbstractContextManager[Any]] = nullcontext
