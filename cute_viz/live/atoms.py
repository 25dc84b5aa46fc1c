"""Words -> the atoms of the library that they may mean: of CuTe's name, of PTX, a shape, a type, an architecture."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from cute_viz.spec import Library

MOST = 20
_HOLE = re.compile(r"\\\{\w+\\\}")


def search(words: str, library: Library, most: int = MOST) -> dict[str, Any]:
    """The atoms in whose name, PTX or architecture every word occurs; a number stands for the {N} of a family.

    >>> from cute_viz.spec import PACKAGED
    >>> [atom["name"] for atom in search("wgmma m64n128k16 bf16 RS", PACKAGED)["atoms"]]
    ['SM90_64x128x16_F32BF16BF16_RS']
    """
    asked = words.lower().split()
    found = []
    for line, text, holes in _lines(library):
        rest = [word for word in asked if word not in text]
        numbers: dict[str, str] = {}
        for word in list(rest):
            fits = next((match for hole in holes if (match := hole.fullmatch(word)) is not None), None)
            if fits is not None:
                rest.remove(word)
                numbers |= {name: number for name, number in fits.groupdict().items() if number}
        if not rest:
            name = line.name
            for hole, number in numbers.items():
                name = name.replace(f"{{{hole.upper()}}}", number)
            told = {"name": name, "kind": line.kind, "arch": line.arch, "ptx": line.ptx or None, "short": line.short}
            found.append(told | ({"where": line.ranges} if "{" in name else {}))
    found.sort(key=lambda atom: (len(atom["name"]), atom["name"]))
    return {"atoms": found[:most], **({"left_out": len(found) - most} if len(found) > most else {})}


@lru_cache(maxsize=4)
def _lines(library: Library) -> list[tuple[Any, str, list[re.Pattern[str]]]]:
    """The lines of the library, each with the text that is searched and what its words with holes match."""
    out = []
    for line in library.listing():
        words = [line.name, *re.split(r"[.\s,]+", line.ptx)]
        if shape := re.search(r"_(\d+|\{\w+\})x(\d+|\{\w+\})x(\d+|\{\w+\})(?=_)", line.name):
            words += [shape[0].strip("_"), "m{}n{}k{}".format(*shape.groups())]
        text = " ".join((line.name, line.ptx, line.names, line.short, " ".join(line.archs), *words)).lower()
        holes = {_pattern(word) for word in words if "{" in word}
        out.append((line, text, [re.compile(hole) for hole in sorted(holes)]))
    return out


def _pattern(word: str) -> str:
    """A word with holes for numbers as a regular expression that names the first hole of each name."""
    seen: set[str] = set()

    def group(match: re.Match[str]) -> str:
        name = match[0].strip("\\{}")
        first = name not in seen
        seen.add(name)
        return rf"(?P<{name}>\d+)" if first else rf"(?P={name})"

    return _HOLE.sub(group, re.escape(word.lower()))
