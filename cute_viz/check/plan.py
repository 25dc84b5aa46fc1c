"""Objects and their figures -> checks. Pure: what can be decided, by which kernel, and why the rest cannot.

The tables that the kernels are held against come from the figure (`digest.owners`, panel data), never from a second evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.copy import Copy_Atom, CopyOp, ThrCopy, TiledCopy
from cute_viz.algebra.gemm import Gemm
from cute_viz.algebra.inttuple import is_int_tuple, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA
from cute_viz.check import banks, copies, layouts, mma, smem, tiled, wgmma
from cute_viz.check.job import Item, Undecided
from cute_viz.errors import CuteVizError
from cute_viz.figures import build
from cute_viz.figures.options import FigureOptions
from cute_viz.notation import parse

MAX_CELLS = 1 << 20

PROVES = {
    "layout": (
        "the device evaluates the layout to every drawn value",
        "only arithmetic: the formula is our own (--with-cute asks CuTe's headers instead)",
    ),
    "mma": (
        "which value of which thread meets which, for the instruction itself: the drawn A, B and C are complete",
        "names: m, n and k only up to a relabelling that is the same in all operands",
    ),
    "wgmma": (
        "which m and n each accumulator is, and which m and k each value of A in registers: of the instruction itself",
        "operands behind a descriptor, whose picture has no owners; the checks of GMMA layouts do that",
    ),
    "TMA load": (
        "cp.async.bulk.tensor puts every element of a matrix at its drawn offset of shared memory",
        "tiles whose address is not a multiple of 1024 bytes: the swizzle acts on address bits",
    ),
    "TMA store": (
        "a tile laid out as drawn is stored by cp.async.bulk.tensor as the matrix it stands for",
        "tiles whose address is not a multiple of 1024 bytes: the swizzle acts on address bits",
    ),
    "wgmma operand": (
        "wgmma takes every element of the drawn atom for the row and k at which it is drawn",
        "names: k only up to a relabelling that is the same in A and B",
    ),
    "tiled mma": (
        "fragments packed as drawn give the exact product, each element of C written once where it is drawn",
        "names: k only up to a relabelling that is the same in A and B",
    ),
    "banks": (
        "a chain of dependent loads takes the time of the wavefronts that the bank analysis predicts",
        "stores, whose time a chain of loads does not show",
    ),
    "copy": (
        "the instruction brings every element from where the source is drawn to where the destination is drawn",
        "the order of elements: source and destination only relative to each other",
    ),
    "tiled copy": (
        "real copies driven by the drawn source bring every element of the tile to its drawn place",
        "the order of elements: source and destination only relative to each other",
    ),
}
CLAIMS = (
    "mma",
    "wgmma",
    "TMA load",
    "TMA store",
    "wgmma operand",
    "copy",
    "tiled copy",
)  # kinds in which the hardware itself decides


@dataclass(frozen=True, slots=True)
class Known:
    """A table that CuTe has wrong: in words, and the atom with the layouts that the hardware has."""

    words: str
    layouts: dict[str, str]


KNOWN = {
    **{
        f"SM80_16x8x128_S32U1U1S32_TN_{popc}": Known(
            "CuTe's stride of A, ((_512,_1),((_16,_8))), is malformed and cannot be evaluated; "
            "the hardware has ((_512,_1),(_16,_8)), which was checked",
            {"layout_a": "((_4,_8),(_32,_2)):((_512,_1),(_16,_8))"},
        )
        for popc in ("XORPOPC", "ANDPOPC")
    },
    "SM75_U32x1_MOVM_T": Known(
        "CuTe's trait is the identity; the hardware transposes the 8 x 8 matrix, to Dst ((4,8),(16,2)):((256,16),(1,128)), "
        "which was checked",
        {"dst": "((4,8),(16,2)):((256,16),(1,128))"},
    ),
}


def plan(obj: Any, name: str, tile: tuple[int, int] | None = None) -> list[Item]:
    """The checks of one object, under the name by which it is reported.

    tile: of a layout that is drawn as a map of threads and values.

    >>> [(item.kind, item.name) for item in plan(Layout((4, 8), (8, 1)), "(4,8):(8,1)")]
    [('layout', '(4,8):(8,1)')]
    """
    if isinstance(obj, (int, tuple)) and not isinstance(obj, bool) and obj != () and is_int_tuple(obj):
        obj = Layout(obj)
    if isinstance(obj, (ThrMMA, ThrCopy)):
        obj = obj.tiled
    if isinstance(obj, Gemm):
        return [item for part, whole in _parts(obj) for item in plan(whole, f"{name} {part}")]
    options = FigureOptions(max_cells=MAX_CELLS)
    try:
        if isinstance(obj, (Layout, ComposedLayout)):
            figure = build(obj, replace(options, tile=tile))
            atom = None if tile else smem.recognise(obj)
            return [layouts.check(obj, figure, name), *(smem.checks(atom, figure, name) if atom else ())]
        if isinstance(obj, MMA_Atom):
            return [_mma(obj, name, options)]
        if isinstance(obj, TiledMMA):
            return [tiled.check(obj, build(obj, options), name)]
        if isinstance(obj, CopyOp) and (known := KNOWN.get(obj.name)):
            obj = replace(obj, **{key: parse(text) for key, text in known.layouts.items()})
            return [copies.check(obj, build(obj, options), name, known.words)]
        if isinstance(obj, (CopyOp, Copy_Atom, TiledCopy)):
            return [copies.check(obj, build(obj, options), name)]
    except CuteVizError as error:
        return [Undecided("picture", name, f"it cannot be drawn: {error.message}")]
    return [Undecided("picture", name, f"no check for {show(obj).splitlines()[0]}")]


def _mma(atom: MMA_Atom, name: str, options: FigureOptions) -> Item:
    if atom.name.startswith("SM90_64x"):
        if isinstance(made := wgmma.instruction(atom), str):
            return Undecided("wgmma", name, made)
        return wgmma.check(atom, _drawn(atom, "CA" if made.registers else "C"), name)
    if isinstance(reason := mma.instruction(atom), str):
        return Undecided("mma", name, reason)
    known = KNOWN.get(atom.name)
    if known is None:
        return mma.check(atom, build(atom, options), name)
    fixed = replace(atom, **{key: parse(text) for key, text in known.layouts.items()})
    return mma.check(fixed, build(fixed, options), name, known.words)


def _parts(gemm: Gemm) -> list[tuple[str, Any]]:
    """The objects of a GEMM by name, each once."""
    found = [(key, getattr(gemm, key)) for key in ("mma", "smem_a", "smem_b", "g2s_a", "g2s_b", "s2r_a", "s2r_b", "epilogue")]
    out: list[tuple[str, Any]] = []
    for key, part in found:
        if part is not None and all(part != other for _, other in out):
            out.append((key, part))
    return out


@lru_cache(maxsize=256)
def _drawn(atom: MMA_Atom, operands: str) -> wgmma.Drawn:
    """The panels of a wgmma atom's operands in registers. Atoms that differ in name and types alone share one drawing."""
    return wgmma.drawn(build(atom, FigureOptions(max_cells=MAX_CELLS, operand=operands)))


def everything() -> Iterator[Item]:
    """The checks of the whole library of atoms and of every spec that comes with it."""
    from cute_viz.check.library import atoms, specs, swizzled, tilings

    for name, obj in atoms():
        if isinstance(obj, Undecided):
            yield obj
        else:
            yield from plan(obj, name)
    for name, obj in swizzled():
        yield from plan(obj, name)
    for name, obj in tilings():
        yield from plan(obj, name)
    yield from banks.checks()
    for name, obj, tile in specs():
        yield from plan(obj, name, tile)
