"""A source -> what was read of it: its text, the whole file that it is, and which object of it is meant; the one way in."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from cute_viz.engine.request import Request, Source
from cute_viz.errors import CuteVizError, Span, UsageError, raised_again
from cute_viz.files import read_text
from cute_viz.source.address import ANYWHERE, Address, address_of

if TYPE_CHECKING:
    from cute_viz.source.model import SourceFile

_SPECS = (".yaml", ".yml")
COMPILED = (".cu", ".cuh", ".cpp", ".cc", ".cxx", ".h", ".hpp", ".inl")


class Reading:
    """What was read of one source.

    text: None for an object. name: of the file, or the stream; None for an expression. path: of the file, None for any other.
    query: which object of it is meant, None where nothing says it.

    Raises: CuteVizError for a folder, a file that lies outside of the folder asked for, an object that is named twice.
    """

    def __init__(self, source: object, request: Request) -> None:
        self.source, self.request = source, request
        self.text: str | None = None
        self.name: str | None = None
        self.path: str | None = None
        self.query = request.name
        if isinstance(source, Source):
            self.text, self.name = source.text, source.name
            if source.name and os.path.isfile(source.name):
                self.path = source.name
        elif isinstance(source, (str, os.PathLike)):
            self.text = os.fspath(source)
            if (address := _file_of(self.text, request)) is not None:
                self._open(address)

    def _open(self, address: Address) -> None:
        folder, name = self.request.folder, address.name
        if folder is None:
            raise CuteVizError("files cannot be read here", name=address.file, hint="paste the text, or start with --folder DIR")
        if name and self.request.name is not None:
            raise UsageError(f"the address already names the object, {name}: leave out `name={self.request.name}`")
        file, revision = address.revised
        if revision and folder.root is not None:
            hint = f"leave out @{revision}, or ask on the command line or in Python"
            raise CuteVizError("revisions are not read here", name=address.file, hint=hint)
        self.path = self.name = folder.path(file)
        if revision:
            from cute_viz.source.revision import at_revision

            self.name, self.path = f"{self.path}@{revision}", at_revision(self.path, revision)
        self.query = name or self.request.name
        if not self.path.endswith(_SPECS):
            self.text = read_text(self.path, folder.root)

    @property
    def is_spec(self) -> bool:
        """Whether it is a file of specs."""
        return self.path is not None and self.path.endswith(_SPECS)

    @property
    def root(self) -> str | None:
        """The folder that its file, and what that names, do not leave; None for any."""
        return self.request.folder.root if self.request.folder is not None else None

    @cached_property
    def file(self) -> SourceFile | None:
        """The whole file that it is; None for an expression, a print, a picture."""
        if self.text is None or self.is_spec or (self.path or "").endswith(".json"):
            return None
        if self.path is None and "\n" not in self.text.strip() and self.name is None and len(self.text) < 400:
            return None  # nothing but an expression, which needs no reader of files
        from cute_viz.source.model import Given
        from cute_viz.source.opened import opened

        request = self._configured
        given = Given(request.let, request.library.resolve, launch=request.launch, watch=request.watch)
        try:
            if request.build is not None and self.path is not None and self.compiles:
                from cute_viz.source.compiled import read

                return read(self.text, self.path, request.build, given)
            beside = ANYWHERE if isinstance(self.source, Source) and request.folder is not None else request.folder
            return opened(self.text, self.path or self.name, given, request.dialect, beside)
        except CuteVizError as error:
            raise error.named(self.name) from None

    @property
    def compiles(self) -> bool:
        """Whether a compiler reads it: a file of C++ whose build the request or the project says."""
        return self._configured.build is not None and (self.path or "").endswith(COMPILED)

    @cached_property
    def _configured(self) -> Request:
        """The request with what the project says of the file."""
        request = self.request
        if not request.configured or self.path is None or not self.path.endswith((*COMPILED, ".py")):
            return request
        from cute_viz.spec.project import project_of

        said = project_of(self.path)
        let = {name: value for name, value in said.let.items() if re.search(rf"\b{re.escape(name)}\b", self.text or "")}
        return replace(request, build=request.build or said.build, launch=request.launch or said.launch, let={**let, **request.let})

    @property
    def listed(self) -> SourceFile:
        """The whole file, with the entries that the query means; a print and a program of expressions have one for each object.
        Raises: CuteVizError for a text that has none."""
        if self.path is None and self.name is None:
            said = "this is a folder" if os.path.isdir(str(self.source)) else "there is no such file"
            raise CuteVizError(said, name=str(self.source), hint="give a file of C++ or Python, or - for standard input")
        try:
            found = self.file or _lines_of(self.text or "", self.name, self.request)
            if not found.entries and not found.launches():
                raise CuteVizError("this is not a file with definitions, and nothing is printed in it", hint="example: kernel.cu")
            return found if self.query is None else found.within(self.query)
        except CuteVizError as error:
            raise error.named(self.name) from None


def _file_of(word: str, request: Request) -> Address | None:
    """The file that a word means, and what it says of the object; None for a text."""
    if (address := address_of(word)) is not None:
        return address
    return Address(word, "") if request.files and _exists(word) else None


def is_file(source: str) -> bool:
    """Whether a word is the path of a file: one that exists, be it a pipe (`<(...)`), or is called as source code and logs are."""
    return _file_of(source, Request((), files=True)) is not None


def _exists(source: str) -> bool:
    if len(source) > 4096 or "\n" in source or "\0" in source or not source.strip("0123456789_:,.() "):
        return False  # an expression, whatever the names of files
    if os.path.isdir(source):
        hint = "name a file in it; 'cute-viz gallery' draws a folder of specs"
        raise CuteVizError("this is a folder", name=source, hint=hint)
    return os.path.exists(source)


def _lines_of(text: str, name: str | None, request: Request) -> SourceFile:
    """What a text that is not a file of a language prints or defines line by line, as it is read without a list."""
    from cute_viz.source.model import Entry, Given, SourceFile
    from cute_viz.source.prints import read
    from cute_viz.source.sniff import sniff

    if sniff(text, name or "") == "print" or not re.search(r"[\w\s]=|[a-z]\w*\(", text):
        return read(text, Given(request.let, request.library.resolve))
    document = request.library.read(text, values_of(request.let, request), dialect=request.dialect)
    entries = []
    for key, value in [*document.values.items(), *document.failures.items()]:
        place = re.search(rf"(?m)^.*?\b{re.escape(key)}[ \t]*=", text) if key else None
        start = place.start() if place is not None else 0
        read_it = partial(raised_again, value)
        entries.append(Entry(key or "object1", (), Span(start, start + 1), text.count("\n", 0, start) + 1, read_it))
    entries.sort(key=lambda entry: entry.line)
    return SourceFile(text, tuple(entries))


def values_of(let: Mapping[str, object], request: Request, readable: bool = False) -> dict[str, object]:
    """The values that a request gives to names, each text an expression that may use those before it.

    readable: only of those that are expressions here, as a whole file may be given what its own reader reads.
    """
    out: dict[str, Any] = {}
    for name, value in let.items():
        try:
            out[name] = request.library.read(value, out).pick() if isinstance(value, str) else value
        except CuteVizError as error:
            if not readable:
                raise error.but(name=f"`let={name}`") from None
    return out
