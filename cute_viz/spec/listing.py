"""What there is in the library: every name, its words spelt out, with the ranges of its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cute_viz.spec.domains import words
from cute_viz.spec.family import domains_of, fields_of, pattern_of
from cute_viz.spec.library_files import library_files


class Listed(NamedTuple):
    """One line of a listing: a name, perhaps with a {N} left in, what its parameters take, and its template arguments."""

    name: str
    kind: str
    arch: str
    args: str
    ranges: str


def listing() -> Iterator[Listed]:
    """Every family with its words spelt out and its numbers left as {N}.

    >>> next(line.ranges for line in listing() if line.name == "SM90_64x{N}x16_F32F16F16_SS")
    'N = 8..256/8'
    """
    for file in library_files():
        kind, arch = file.kind, file.word("arch")
        for family in file.families:
            fields = fields_of(file, family)
            domains = domains_of(fields)
            pattern = pattern_of(family)
            ranges = [f"{key} = {value}" for key, value in domains.items() if "{" + key + "}" in pattern and ".." in value]
            for full in spelt(pattern, {key: words(domain) for key, domain in domains.items() if ".." not in domain}):
                yield Listed(full, kind, arch, str(fields.get("args", "")), ", ".join(ranges))


def spelt(pattern: str, values: dict[str, list[str]]) -> list[str]:
    """The names of a pattern with each of the values in the place of its parameters.

    >>> spelt("{a}_{N}", {"a": ["SS", "TS"]})
    ['SS_{N}', 'TS_{N}']
    """
    out = [pattern]
    for key, several in values.items():
        slot = "{" + key + "}"
        if slot in pattern:
            out = [one.replace(slot, value) for one in out for value in several]
    return out
