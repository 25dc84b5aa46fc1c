"""YAML -> objects: the library of atoms by name, and users' spec files, every error with its line and column."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cute_viz.errors import AlgebraError, Span, UsageError
from cute_viz.records import dataclass, pattern

if TYPE_CHECKING:
    from cute_viz.notation.program import Document
    from cute_viz.spec.library import Gpu
    from cute_viz.spec.listing import Listed


# An opcode of PTX or SASS, or an operation of the DSL: names of instructions that are not names of CuTe's notation.
_CALLED = pattern(
    r"(?:[a-z]\w*\.)*[A-Z]\w*Op\([^()]*(?:\([^()]*\)[^()]*)*\)|m\d+n\d+k\d+(?:\.\w+)*"
    r"|(?:[HIDBQO]G?MMA|(?:LD|ST)(?:SM|TM)|MOVM|LDGSTS|UTMA\w+|UTC\w+|UBLKCP)\.[\w.:]+"  # of SASS
    r"|(?:(?:ld|st|mov)matrix|w?g?mma|tcgen05|cp|ld|st|fma|dp[24]a)\.[\w.:]+(?:\s+[\[{%d][^=\n]*)?"
)
WORDS = ("arch", "wave", "shape", "bits")  # what a name, or an encoding, may leave open


@dataclass(frozen=True, slots=True)
class Library:
    """Where atoms and specs are looked up by name: in a user's folders first, then in what comes with cute-viz. arch, wave: of
    names that several machines have, which one is meant: `gfx942`, and how many threads run together. bits: of a value, of
    copies that do not say it; with shape, that of a tensor, of encodings. All are empty or 0 where they are not said. A value:
    whoever answers a request is given one, and what is kept for speed is kept by the folders and their files."""

    folders: tuple[str, ...] = ()
    arch: str = ""
    wave: int = 0
    bits: int = 0
    shape: tuple[int, ...] = ()

    @classmethod
    def of_environment(cls, folders: tuple[str, ...] = ()) -> Library:
        """The folders, then those of CUTE_VIZ_LAYOUTS."""
        more = (part for part in os.environ.get("CUTE_VIZ_LAYOUTS", "").split(os.pathsep) if part)
        return cls((*folders, *more))

    def with_words(self, words: Mapping[str, object]) -> Library:
        """The same with words for `arch`, `wave`, `shape` and `bits`; others, and empty ones, say nothing. Raises: UsageError
        for what is not a number, and no shape."""
        given: dict[str, Any] = {}
        for name in WORDS:
            word = str(words.get(name) or "").strip().lower()
            parts = word.split("x")
            if not word or (name == "arch" and len(word) < 40):
                given |= {name: word} if word else {}
                continue
            if not all(part.isdecimal() and len(part) < 9 and int(part) for part in parts) or len(parts) > (
                8 if name == "shape" else 1
            ):
                raise UsageError(
                    f"invalid value {word[:40]!r} for `{name}=`", hint="`shape=64x64`" if name == "shape" else f"`{name}=64`"
                )
            given[name] = tuple(map(int, parts)) if name == "shape" else int(word)
        return replace(self, **given)

    @property
    def words(self) -> dict[str, str]:
        """What `with_words` would take to give it."""
        shape = "x".join(map(str, self.shape))
        return {
            name: word
            for name, word in zip(WORDS, (self.arch, str(self.wave or ""), shape, str(self.bits or "")), strict=True)
            if word
        }

    @property
    def machine(self) -> Gpu:
        """What is said of the machine."""
        from cute_viz.spec.library import Gpu

        return Gpu(self.arch, self.wave, self.bits)

    @property
    def together(self) -> tuple[int, str] | None:
        """How many threads of the machine run together, and what they are called; None where nothing says it."""
        if not self.arch:
            return (self.wave, "wave") if self.wave else None
        from cute_viz.spec.library_files import warp_of

        width, word = warp_of(self.arch, self.folders)
        return (self.wave or width, word) if self.wave or width else None

    def directories(self) -> list[str]:
        """The folders, ours the last. Raises: CuteVizError for a name that is not a folder."""
        from cute_viz.spec.library_files import directories

        return directories(self.folders)

    def resolve(self, name: str, args: tuple[str, ...] = ()) -> object:
        """The atom of a name and its template arguments, None where there is none; see `spec.library.resolve`."""
        from cute_viz.spec.library import resolve

        return resolve(name, args, self.folders, self.machine)

    def read(
        self,
        text: str,
        names: Mapping[str, object] | None = None,
        warnings: list[str] | None = None,
        *,
        dialect: str = "auto",
        free: bool = False,
    ) -> Document:
        """Everything that a text holds, by name, with the atoms at hand; see `source.text.read`."""
        from cute_viz.notation.program import Document
        from cute_viz.source.text import read

        if _CALLED.fullmatch(called := text.strip()):
            try:
                found = self.resolve(called)
            except AlgebraError as error:
                raise error.at(text, Span(text.index(called), text.index(called) + len(called))) from None
            if found is not None:
                return Document.of(found)
        return read(text, names, warnings, dialect=dialect, resolve=self.resolve, shape=self.shape, free=free)

    def read_call(self, text: str, names: Mapping[str, object] | None = None) -> tuple[str, list[Any], tuple[Any, ...]]:
        """The operation that the last statement of a text is, with the atoms at hand; see `source.text.read_call`."""
        from cute_viz.source.text import read_call

        return read_call(text, names, self.resolve)

    def describe(self, full: str) -> dict[str, Any]:
        """What is known of an operation beyond its layouts; see `spec.library.describe`."""
        from cute_viz.spec.library import describe

        return describe(full, self.folders, self.machine)

    def listing(self) -> Iterator[Listed]:
        """Every name of an atom; see `spec.listing.listing`."""
        from cute_viz.spec.listing import listing

        return listing(self.folders)

    def search(self, text: str) -> list[Listed]:
        """The operations that have all words of a text in one of their names; see `spec.listing.search`."""
        from cute_viz.spec import sass
        from cute_viz.spec.listing import search

        if sass.OPCODE.fullmatch(text.strip()):
            return [line for line, _ in sass.fitting(text.strip(), self.folders)]
        return search(text, self.folders)

    def spec_file(self, name: str) -> str | None:
        """The file that holds the spec of a name, or is called so; None where there is none."""
        from cute_viz.spec.library_files import spec_file

        return spec_file(name, self.folders)

    def spec_files(self) -> Iterator[str]:
        """The files of specs."""
        from cute_viz.spec.library_files import spec_files

        return spec_files(self.folders)

    def spec_names(self) -> Iterator[str]:
        """The names of the specs, and of their files."""
        from cute_viz.spec.library_files import spec_names

        return spec_names(self.folders)


PACKAGED = Library()  # what comes with cute-viz
resolve, read = PACKAGED.resolve, PACKAGED.read
