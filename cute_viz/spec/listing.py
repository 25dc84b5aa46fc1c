"""What there is in the library: every name, its words spelt out, with the ranges of its numbers and what others call it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from math import prod
from typing import NamedTuple

from cute_viz.limits import limit, over
from cute_viz.spec.entry import in_ptx
from cute_viz.spec.family import Family, families
from cute_viz.spec.library_files import LibraryFile, library_files
from cute_viz.spec.names import Pattern, allows, words
from cute_viz.values.instruction import short_of


class Listed(NamedTuple):
    """One line of a listing: a name, perhaps with a {N} left in, what its parameters take, and its template arguments.

    ptx, dsl, sass, names: what others call it, numbers and template arguments in braces; behind a call of the DSL what it says of
    these.
    family: where it is from.
    """

    name: str
    kind: str
    arch: str
    args: str
    ranges: str
    archs: tuple[str, ...] = ()
    ptx: str = ""
    dsl: str = ""
    sass: str = ""
    names: str = ""
    family: Family | None = None

    @property
    def short(self) -> str:
        """The PTX opcode without the words that all of its kind have, or what the DSL calls it."""
        return short_of(self.ptx.partition(" ")[0]) or self.dsl.partition("(")[0]

    @property
    def example(self) -> str:
        """A name that the library knows: each {N} is the largest number that it takes; template arguments follow by their names."""
        largest = dict(re.findall(r"(\w+) = (?:\d+\.\.)?(\d+)", self.ranges))
        name = re.sub(r"\{(\w+)\}", lambda slot: largest.get(slot[1], slot[0]), self.name)
        args = "uint128_t" if self.args == "S D=S" else ",".join(word for word in self.args.split() if "=" not in word)
        return f"{name}<{args}>" if args else name

    def has(self, word: str) -> bool:
        """Whether a name has a word with numbers in the place of its {N}: 64x32x16 of 64x{N}x16."""
        if not self.ranges:
            return False
        domains = dict(range_.split(" = ") for range_ in self.ranges.split(", "))
        for part in {part for name in (self.name, self.ptx, self.dsl, self.sass) for part in _BRACED.findall(name)}:
            found = Pattern(re.sub(r"\{\w+\}|\w+", lambda x: x[0] if "{" in x[0] else x[0].lower(), part)).bind(word, domains)
            if found and all(key in domains and allows(domains[key], value) for key, value in found.items()):
                return True
        return False


def listing(folders: tuple[str, ...] = ()) -> Iterator[Listed]:
    """Every family with its words spelt out and its numbers left as {N}."""
    for file in library_files(folders):
        yield from listed(file)


def search(text: str, folders: tuple[str, ...] = ()) -> list[Listed]:
    """The operations that have all words of a text in their name in CUTLASS, PTX, the DSL or SASS; also the beginning of a word.
    Whole words come first, then f16 with f32, then older architectures."""
    wanted = [word for word in _WORD.split(text.lower()) if word]
    if not wanted:
        return []
    found: dict[str, tuple[tuple[int, bool, int], Listed]] = {}
    for line in listing(folders):
        names = (line.name, line.ptx, line.dsl, line.sass, line.names)
        have = {word for name in names for word in _WORD.split(name.lower())}
        have |= {start for start in wanted if start.isalnum() and line.has(start)}
        if all(any(word.startswith(start) for word in have) for start in wanted):
            inexact = sum(start not in have for start in wanted)
            age = int(line.arch[2:]) if line.arch.startswith("sm") and line.arch[2:].isdecimal() else 999
            found.setdefault(line.name, ((inexact, "F32F16F16" not in line.name, age), line))
    return [line for _, line in sorted(found.values(), key=lambda row: row[0])]


_WORD = re.compile(r"[^a-z0-9]+")
_BRACED = re.compile(r"(?:[A-Za-z0-9]|\{\w+\})+")


@lru_cache(maxsize=256)
def listed(file: LibraryFile) -> tuple[Listed, ...]:
    """The lines of one file."""
    return tuple(line for family in families(file) for line in _of_family(family))


def _of_family(family: Family) -> Iterator[Listed]:
    """The names of a family, with each of the words in the place of its parameters."""
    file, slots = family.file, family.pattern.parameters
    ranges = [f"{key} = {value}" for key, value in family.domains.items() if key in slots and ".." in value]
    several = {key: words(domain) for key, domain in family.domains.items() if key in slots and ".." not in domain}
    count = prod(map(len, several.values()))
    if count > limit("combinations"):
        raise over("combinations", f"{family.key} has {count} names", text=file.text, span=family.block.span, place=file.path)
    args = str(family.fields.get("args", ""))
    called = [key for key in ("ptx", "dsl", "sass", "names") if key in family.fields or key in file.head]
    for chosen in product(*several.values()):
        bound = dict(zip(several, chosen, strict=True))
        name = family.pattern.filled(bound)
        others = {key: family.said(key, _left(family, name, bound)) for key in called}
        yield Listed(name, file.kind, file.word("arch"), args, ", ".join(ranges), family.archs, family=family, **others)


def _left(family: Family, name: str, bound: dict[str, str]) -> dict[str, str]:
    """What stands for the parameters in another name: words and types as they are there, all else in braces."""
    out = {key: f"{{{key}}}" for key in (*family.pattern.parameters, *(key for key, _ in family.template))} | bound
    k = family.said("K", out)
    shape = re.findall(r"\w+", str(family.fields.get("Shape_MNK", "")))
    out |= {x: out.get(extent, k if extent == "K" else extent) for x, extent in zip("MNK", shape, strict=False)}
    types = family.types(name, bound) if "A" not in dict(family.template) else ()
    return out | {x: in_ptx(kind) for x, kind in zip("ABCD", types, strict=False)}
