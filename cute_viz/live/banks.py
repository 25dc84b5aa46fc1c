"""A tile in shared memory and a way to access it -> its warps, who meets in which bank, and the swizzle that would cure it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cute_viz.algebra.composed import ComposedLayout, pointer_bits, position_independent
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.table import offsets
from cute_viz.analysis.access import element_bits
from cute_viz.analysis.banks import FULL, LANES, ideal_wavefronts, phases
from cute_viz.analysis.swizzles import PATTERNS, search, warp_addresses
from cute_viz.errors import AlgebraError, CuteVizError, LimitError
from cute_viz.options.words import read

if TYPE_CHECKING:
    from cute_viz.live.question import Question

CELLS = 1 << 14  # of a tile
_ASSUMED = 16  # bits of an element, where nothing says it: the page says that it assumes them
_INSTRUCTIONS = {"ldmatrix": "ldmatrix.x4", "stmatrix": "stmatrix.x4", "cp.async": "st.128", "column.128": "ld.128"}


def banks(question: Question) -> dict[str, Any]:
    """What a pattern's warps cost on the question's layout: all of them, and one of them bank by bank.

    `access` of the question is the pattern, `step` which of its warps is spelled out; without one the costliest. `assumed` says
    that nothing gives the width of an element.

    >>> from cute_viz.live.question import Question
    >>> banks(Question("banks", "(8,64):(64,1)", {"type": "f16"}, more={"access": "ldmatrix"}))["wavefronts"]
    64
    """
    layout = position_independent(question.answer().layout)
    known = (
        read("type", question.options["type"]) if question.options.get("type") else question.answer().bits or pointer_bits(layout)
    )
    bits = element_bits(layout, given=known or _ASSUMED)
    rows, cols, flip, table = _tile(layout, bits)
    name = str(question.more.get("access") or "ldmatrix")
    plain = list(warp_addresses(name, rows, cols, bits))
    warps = [_moved(warp, name, cols, bits, table) for warp in plain]
    costs = [sum(phase.wavefronts for phase in phases(*warp)) for warp in warps]
    ideal = [ideal_wavefronts(*warp) for warp in warps]
    step = question.more.get("step")
    at = int(step) if isinstance(step, int) and 0 <= step < len(warps) else costs.index(max(costs))
    size = bits // 8
    cells = [divmod(address // size, cols) for address in plain[at]]
    found = search(rows, cols, bits, [name])
    best = next((candidate for candidate in found if candidate.swizzle is not None or candidate.name == "plain"), found[0])
    whole = "\n" in question.source.strip()  # a file, whose fixes the report has, at their definitions
    return {
        "accesses": PATTERNS,
        "access": name,
        "instruction": warps[at][1],
        "bits": bits,
        "assumed": known is None,
        "warps": costs,
        "wavefronts": sum(costs),
        "ideal": sum(ideal),
        "step": at,
        "phases": [
            {
                "lanes": list(phase.lanes),
                "wavefronts": phase.wavefronts,
                "banks": [[[w, list(lanes)] for w, lanes in b] for b in phase.banks],
            }
            for phase in phases(*warps[at])
        ],
        "cells": [[c, r] if flip else [r, c] for r, c in cells],
        "wide": max(1, (16 if name not in ("rows", "column") else size) // size),
        "flip": flip,
        "best": {"name": best.name, "wavefronts": best.wavefronts, "source": None if whole else _applied(best, layout, flip)},
    }


def _tile(layout: Any, bits: int) -> tuple[int, int, bool, list[int]]:
    """Rows, columns, whether the contiguous mode is the first, and the byte of each element row by row.

    Raises: AlgebraError for anything but a tile of two modes.
    """
    extents = [product(mode) for mode in modes(layout.shape)]
    if len(extents) != 2:
        raise AlgebraError(f"a tile in shared memory has two modes, not {len(extents)}", hint="example: (8,64):(64,1)")
    if bits % 8 or bits > 128:
        raise AlgebraError(f"{bits} bits are not an element of 1 to 16 whole bytes", hint="recast the layout to bytes first")
    if product(tuple(extents)) > CELLS:
        raise LimitError(f"the tile has {product(tuple(extents))} elements, more than {CELLS}", hint="give one tile")
    m, n = extents
    column_major = offsets(layout)
    if not all(isinstance(offset, int) and offset >= 0 for offset in column_major):
        raise AlgebraError("the offsets of this layout are not offsets in shared memory", hint="example: (8,64):(64,1)")
    flip = m > 1 and column_major[1] - column_major[0] in (1, -1) and not (n > 1 and abs(column_major[m] - column_major[0]) == 1)
    size = bits // 8
    if flip:
        return n, m, True, [offset * size for offset in column_major]
    return m, n, False, [column_major[r + c * m] * size for r in range(m) for c in range(n)]


def _moved(warp: list[int], name: str, cols: int, bits: int, table: list[int]) -> tuple[list[int], str, int]:
    """The addresses of a warp of the plain tile where the layout puts them, with the instruction and the active lanes.

    Raises: AlgebraError where the layout tears apart the 16 bytes that a lane moves.
    """
    size = bits // 8
    wide = 1 if name in ("rows", "column") else 16 // size
    places = []
    for address in warp:
        first = address // size
        run = table[first : first + wide]
        if any(byte != run[0] + i * size for i, byte in enumerate(run)):
            r, c = divmod(first, cols)
            raise AlgebraError(
                f"{name} moves 16 bytes at once, and those at ({r},{c}) are not contiguous",
                hint="an access of single elements: rows, column",
            )
        places.append(run[0])
    if wide > 1:
        instruction = _INSTRUCTIONS.get(name, name)
    else:
        instruction = f"ld.{max(32, bits)}"
        places = [place // max(4, size) * max(4, size) for place in places]
    count = 8 * int(instruction.split(".")[1][1]) if "matrix" in instruction else LANES
    mask = FULL if len(places) >= count else (1 << len(places)) - 1
    return places + [places[-1]] * (LANES - len(places)), instruction, mask


def _applied(best: Any, layout: Any, flip: bool) -> str | None:
    """The layout with the winner in the place of its swizzle, where the search speaks of it: a compact tile."""
    inner = layout.inner if isinstance(layout, ComposedLayout) else layout
    if not isinstance(inner, Layout) or best.padding:
        return None
    m, n = (product(mode) for mode in modes(inner.shape))
    compact = Layout((m, n), (1, m) if flip else (n, 1))
    try:
        same = offsets(inner) == offsets(compact)
    except CuteVizError:
        return None
    if not same:
        return None
    return str(inner) if best.swizzle is None else f"{best.swizzle} o 0 o {inner}"
