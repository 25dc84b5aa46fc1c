"""All that a check of everything goes through: each atom of the library by name, ranges spelt out, and the specs of its folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from cute_viz.check.job import Undecided
from cute_viz.errors import CuteVizError
from cute_viz.files import read_text
from cute_viz.options.words import parse_tile
from cute_viz.spec import PACKAGED, Library, read
from cute_viz.spec.build import read_specs
from cute_viz.spec.listing import Listed
from cute_viz.spec.names import numbers

TRIED = ("SM100_TMEM_LOAD", "SM100_TMEM_STORE", "SM100_U8")  # of SM100, what kernels are there for
ARGUMENTS = {"D A=D B=A C=D": ("float",), "S D=S": ("uint128_t",)}  # those that are tried, by the parameters of a family


def atoms(library: Library = PACKAGED) -> Iterator[tuple[str, Any]]:
    """(name, atom) of everything in the library; an Undecided in the place of families that nothing here can run."""
    for listed in library.listing():
        reason = hopeless(listed)
        if reason:
            yield listed.name, Undecided(listed.kind, listed.name, reason)
            continue
        for name in numbered(listed):
            args = ARGUMENTS.get(listed.args, ())
            full = f"{name}<{','.join(args)}>" if args else name
            try:
                yield full, library.resolve(name, args)
            except CuteVizError as error:
                yield full, Undecided(listed.kind, full, error.message)


def hopeless(listed: Listed) -> str:
    """Why no atom of a family is tried, where that is known from its architecture; empty else."""
    arch = int(re.sub(r"\D", "", listed.arch) or 0)
    if arch >= 100 and not listed.name.startswith(TRIED):
        return f"an instruction of {listed.arch}, for which there is no kernel here"
    return ""


def numbered(listed: Listed) -> list[str]:
    """The names of a family with its number filled in, each of the range; the name alone where it has none, or two."""
    key, _, words = listed.ranges.partition(" = ")
    if not words or "," in words:
        return [listed.name]
    return [listed.name.replace("{" + key + "}", str(n)) for word in words.split() for n in numbers(word)]


def subjects(section: str) -> Iterator[tuple[str, Any]]:
    """(name, object) of what is checked besides atoms and specs, as CuTe writes it: a section of `subjects.txt`.

    swizzles: the shared-memory atoms of GMMA and TMA. tilings: atoms of every family, permuted and repeated, and copies of them.
    descriptors: every major, mode and type that wgmma accepts. tma: every swizzle, types, both majors, three dimensions, stores,
    clusters. im2col: convolutions of one to three dimensions. umma: every kind, M of 64 to 256, both majors, A in tensor memory,
    pairs of CTAs, scale factors.
    """
    return ((name, read(text).pick()) for name, text in written(section))


def written(section: str) -> list[tuple[str, str]]:
    """(name, text) of each of `subjects`, not yet read."""
    text = (files("cute_viz.check") / "subjects.txt").read_text("utf-8")
    lines = [line.split(" | ") for line in text.partition(f"# {section}\n")[2].partition("#")[0].splitlines()]
    return [(words[0], words[-1]) for words in lines]


def specs(library: Library = PACKAGED) -> Iterator[tuple[str, Any, tuple[int, int] | None]]:
    """(name, object, tile) of every spec of the library."""
    for path in library.spec_files():
        stem = os.path.splitext(os.path.basename(path))[0]
        for spec in read_specs(read_text(path), path, library):
            tile = spec.figure.get("tile")  # as written
            yield f"specs/{stem}" + (f":{spec.name}" if spec.name else ""), spec.obj, parse_tile(tile) if tile else None
