"""What there is in the library: every name, its words spelt out, with the ranges of its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import NamedTuple

from cute_viz.limits import limit, over
from cute_viz.spec.domains import words
from cute_viz.spec.family import Family, families
from cute_viz.spec.library_files import library_files


class Listed(NamedTuple):
    """One line of a listing: a name, perhaps with a {N} left in, what its parameters take, and its template arguments."""

    name: str
    kind: str
    arch: str
    args: str
    ranges: str
    archs: tuple[str, ...] = ()


def listing(folders: tuple[str, ...] = ()) -> Iterator[Listed]:
    """Every family with its words spelt out and its numbers left as {N}.

    >>> next(line.ranges for line in listing() if line.name == "SM90_64x{N}x16_F32F16F16_SS")
    'N = 8..256/8'
    """
    for file in library_files(folders):
        kind, arch = file.kind, file.word("arch")
        for family in families(file):
            slots = family.pattern.parameters
            ranges = [f"{key} = {value}" for key, value in family.domains.items() if key in slots and ".." in value]
            args = str(family.fields.get("args", ""))
            for name in _spelt(family):
                yield Listed(name, kind, arch, args, ", ".join(ranges), family.archs)


def _spelt(family: Family) -> Iterator[str]:
    """The names of a family, with each of the words in the place of its parameters."""
    slots = family.pattern.parameters
    several = {key: words(domain) for key, domain in family.domains.items() if key in slots and ".." not in domain}
    count = prod(map(len, several.values()))
    if count > limit("combinations"):
        place = family.file.path
        raise over("combinations", f"{family.key} has {count} names", text=family.file.text, span=family.block.span, place=place)
    return (family.pattern.filled(dict(zip(several, values, strict=True))) for values in product(*several.values()))
