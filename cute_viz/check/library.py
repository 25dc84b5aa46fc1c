"""All that `check --all` goes through: every atom of the library by name, ranges spelt out, and every spec in layouts/specs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from cute_viz.check.job import Undecided
from cute_viz.errors import CuteVizError
from cute_viz.figures.options import parse_tile
from cute_viz.spec import read
from cute_viz.spec.library import Listed, directories, listing, resolve

ARGUMENTS = {"UniversalFMA": ("float",), "D A=D B=A C=D": ("float",), "S D=S": ("uint128_t",)}


def atoms() -> Iterator[tuple[str, Any]]:
    """(name, atom) of everything in the library; an Undecided in the place of families that nothing here can run."""
    for listed in listing():
        reason = hopeless(listed)
        if reason:
            yield listed.name, Undecided(listed.kind, listed.name, reason)
            continue
        for name in spelt(listed):
            args = ARGUMENTS.get(listed.args, ())
            full = f"{name}<{','.join(args)}>" if args else name
            try:
                yield full, resolve(name, args)
            except CuteVizError as error:
                yield full, Undecided(listed.kind, full, error.message)


def hopeless(listed: Listed) -> str:
    """Why no atom of a family is tried, where that is known from its architecture; empty else."""
    arch = int(re.sub(r"\D", "", listed.arch) or 0)
    if arch >= 100:
        return f"an instruction of sm_{arch}, for which there is no kernel here"
    if listed.name.startswith("GMMA_"):
        return "sparse wgmma: the metadata of A is not probed"
    return ""


def spelt(listed: Listed) -> list[str]:
    """The names of a family with its number filled in.

    >>> spelt(Listed("SM90_64x{N}x16_F16F16F16_SS", "mma", "sm90", "", "N = 8..24/8"))
    ['SM90_64x8x16_F16F16F16_SS', 'SM90_64x16x16_F16F16F16_SS', 'SM90_64x24x16_F16F16F16_SS']
    """
    match = re.fullmatch(r"(\w+) = (\d+)\.\.(\d+)(?:/(\d+))?", listed.ranges)
    if match is None:
        return [listed.name]
    numbers = range(int(match[2]), int(match[3]) + 1, int(match[4] or 1))
    return [listed.name.replace("{" + match[1] + "}", str(n)) for n in numbers]


def swizzled() -> Iterator[tuple[str, Any]]:
    """(name, layout) of the shared-memory atoms of GMMA and TMA, for elements of 8, 16 and 32 bits."""
    for mode in ("INTER", "SW32", "SW64", "SW128"):
        for major, types in (("K", ("uint8_t", "half_t", "tfloat32_t")), ("MN", ("uint8_t", "half_t", "tfloat32_t"))):
            for kind in types:
                name = f"GMMA::Layout_{major}_{mode}_Atom<{kind}>"
                yield name, read(name).pick()


def specs() -> Iterator[tuple[str, Any, tuple[int, int] | None]]:
    """(name, object, tile) of every spec of the libraries."""
    from cute_viz.spec.build import read_specs

    for directory in directories():
        folder = os.path.join(directory, "specs")
        for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if file.endswith((".yaml", ".yml")):
                path = os.path.join(folder, file)
                with open(path, encoding="utf-8") as stream:
                    for spec in read_specs(stream.read(), path):
                        tile = spec.figure.get("tile")
                        name = f"specs/{os.path.splitext(file)[0]}" + (f":{spec.name}" if spec.name else "")
                        yield name, spec.obj, parse_tile(tile) if isinstance(tile, str) else tile
