"""Whether a copy or an MMA of tensors compiles, in how many instructions, and if not, which condition fails with which numbers.

Source: cute/algorithm/copy.hpp, cute/algorithm/gemm.hpp, cute/atom/copy_atom.hpp, cute/atom/copy_traits.hpp,
cute/atom/mma_traits.hpp.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.construct import make_layout
from cute_viz.algebra.copy import Copy_Atom, ThrCopy, TiledCopy
from cute_viz.algebra.inttuple import Static, leaves, modes, show
from cute_viz.algebra.inverse import nullspace
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import cosize, size
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.algebra.recast import recast_layout
from cute_viz.algebra.tensor import Tensor
from cute_viz.analysis.vectorize import WIDEST, auto_width
from cute_viz.errors import AlgebraError

AUTO = re.compile(r"AutoVectorizingCopy(?:WithAssumedAlignment<(\d+)>)?$")
CP_ASYNC = {"CACHEALWAYS": (32, 64, 128), "CACHEGLOBAL": (128,)}  # widths in bits (cute/arch/copy_sm80.hpp)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a copy or an MMA that compiles.

    instruction: what moves or multiplies, by its name. bits: of one access; 0 of an MMA. count: instructions a thread executes.
    common: max_common_vector of source and destination, None for an MMA. reasons: what keeps a copy from 128 bits, a sentence each.
    """

    what: str
    instruction: str
    count: int
    bits: int = 0
    common: int | None = None
    reasons: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The verdict for JSON.

        >>> Verdict("gemm", "mma", 4).as_dict()["instructions"]
        4
        """
        out: dict[str, Any] = {"accepted": True, "instruction": self.instruction, "instructions": self.count}
        if self.common is not None:
            out |= {"max_common_vector": self.common, "bits": self.bits}
        return out | {"reasons": list(self.reasons)}


def verdict(name: str, operands: list[Any]) -> Verdict:
    """The verdict on `copy(...)` or `gemm(...)` with its operands.

    Raises: AlgebraError for what CuTe refuses, with its condition in words, and for operands that are not tensors.

    >>> from cute_viz.algebra.static import mark_static
    >>> from cute_viz.algebra.tensor import Pointer
    >>> row = Tensor(Pointer("gmem", "half_t"), mark_static(Layout((8, 8), (8, 1))))
    >>> verdict("copy", [row, row]).bits
    128
    """
    return _gemm(operands) if name == "gemm" else _copy(operands, aligned=name == "copy_aligned")


def _copy(operands: list[Any], aligned: bool = False) -> Verdict:
    atom, src, dst = _operands("copy", operands, 2, (Copy_Atom, TiledCopy, ThrCopy))
    auto = None if atom is None else AUTO.match(_atom(atom).name)
    if atom is None or auto is not None:
        most = int(auto[1] or WIDEST) if auto is not None else WIDEST if aligned else None
        width = auto_width(src, dst, most)
        words = f"a load and a store of {width.bits} bits"
        return Verdict("copy", words, width.accesses, width.bits, width.common, width.reasons)
    atom = _atom(atom)
    _check_async(atom)
    count, *pair = _calls(atom, src.layout, dst.layout)
    _registers(atom, (pair[0], pair[1]), (src, dst))
    bits = size(get(atom.layout_src, 1)) * atom.bits
    reasons = () if bits >= WIDEST else (f"{atom.name} moves {bits} bits per thread; a wider atom would take fewer instructions",)
    common = auto_width(src, dst, WIDEST).common if src.bits == dst.bits else 0
    return Verdict("copy", atom.name, count, bits, common, reasons)


def _operands(name: str, operands: list[Any], count: int, atoms: tuple[type, ...]) -> list[Any]:
    """The atom, or None, and the tensors of a call."""
    first = operands[0] if operands and isinstance(operands[0], atoms) else None
    tensors = operands[first is not None :]
    if len(tensors) == count + 1 and name == "gemm":  # D is another one than C
        tensors = tensors[1:]
    wanted = "copy(ATOM, SRC, DST)" if name == "copy" else "gemm(MMA, A, B, C)"
    if len(tensors) != count:
        raise AlgebraError(f"{name} takes {count} tensors, and an atom before them", hint=wanted)
    for n, tensor in enumerate(tensors, 1 + (first is not None)):
        if not isinstance(tensor, Tensor):
            raise AlgebraError(
                f"operand {n} of {name}, {show(tensor).splitlines()[0]}, has no known memory and element type",
                hint="such as make_tensor(make_gmem_ptr<half_t>(0), (8,64):(64,1))",
            )
    return [first, *tensors]


def _atom(x: Any) -> Copy_Atom:
    tiled = x.tiled if isinstance(x, ThrCopy) else x
    return tiled.atom if isinstance(tiled, TiledCopy) else tiled


def _check_async(atom: Copy_Atom) -> None:
    for kind, widths in CP_ASYNC.items():
        bits = size(get(atom.layout_src, 1)) * atom.bits
        if f"CP_ASYNC_{kind}" in atom.name and bits not in widths:
            raise AlgebraError(
                f"cp.async of {bits // 8} bytes is not supported by {atom.name.partition('<')[0]}",
                hint=f"it copies {' or '.join(str(width // 8) for width in widths)} bytes",
            )


def _calls(atom: Copy_Atom, src: Layout, dst: Layout) -> tuple[int, Layout, Layout]:
    """How often the atom is called, and the source and destination values of one call (Copy_Atom::call)."""
    wanted = [size(get(layout, 1)) for layout in (atom.layout_src, atom.layout_dst)]
    count = 1
    while True:
        ranks = [len(modes(layout.shape)) for layout in (src, dst)]
        if ranks[0] != ranks[1]:
            raise AlgebraError(
                f"CopyAtom rank-mismatch: the source {show(src)} has {ranks[0]} modes, the destination {show(dst)} has {ranks[1]}",
                hint="both are (CPY, CPY_M, CPY_K, ...): retile the one that is an MMA's, by retile_S or retile_D",
            )
        if ranks[0] > 1:
            count *= _rest(src, dst)
            src, dst = get(src, 0), get(dst, 0)  # type: ignore[assignment]
        found = [size(layout) if _is_static(layout) else None for layout in (src, dst)]
        if any(there == many for there, many in zip(found, wanted, strict=True)):
            return count, src, dst
        if not all(isinstance(layout.shape, tuple) for layout in (src, dst)):
            raise AlgebraError(
                f"the partitioning does not match the instruction: {atom.name} takes {wanted[0]} values of the source and gives"
                f" {wanted[1]} to the destination; their first modes are {show(src)} and {show(dst)}",
                hint="partition with a TiledCopy of this atom"
                if None not in found
                else "their extents must be known when the kernel is compiled: Int<8>{}",
            )
        if ranks[0] == 1:
            src, dst = get(src, 0), get(dst, 0)  # type: ignore[assignment]


def _rest(src: Layout, dst: Layout) -> int:
    """How many vectors the modes behind the first one have, those that stay at one place of the destination once."""
    rests = [make_layout(*[get(layout, n) for n in range(1, len(modes(layout.shape)))]) for layout in (src, dst)]
    sizes = [size(rest) for rest in rests]
    if sizes[0] != sizes[1]:
        raise AlgebraError(
            f"after the first mode, the source {show(src)} has {sizes[0]} vectors but the destination {show(dst)} has {sizes[1]}",
            hint="partition both with the same TiledCopy, or retile one",
        )
    null = nullspace(rests[1])
    if size(null) > 1 and cosize(composition(rests[0], null)) != 1:
        raise AlgebraError(
            f"ambiguous scatter: {show(dst)} receives {size(null)} different vectors of the source {show(src)} at one offset",
            hint="a destination's stride of 0 needs a source that is constant there",
        )
    return sizes[1] // size(null)


def _is_static(layout: Layout) -> bool:
    return all(isinstance(leaf, Static) for leaf in leaves(layout.shape))


def _registers(atom: Copy_Atom, pair: tuple[Layout, Layout], tensors: tuple[Tensor, Tensor]) -> None:
    """Whether the values of one call lie together as the registers of the instruction do (copy_unpack)."""
    for side, values, tensor, (width, number) in zip(("src", "dst"), pair, tensors, _register_files(atom), strict=True):
        if not width:
            continue
        whole = values if tensor.swizzle is None else ComposedLayout(tensor.swizzle, tensor.offset, values)
        try:
            held = size(recast_layout(whole, tensor.bits, width))
        except AlgebraError as error:
            held, why = None, error.message
        else:
            why = f"they make {held} of {width} bits"
        if held != number:
            files = f"{number} register{'s' if number > 1 else ''} of {width} bits"
            raise AlgebraError(
                f"{side} failed to vectorize into registers: {atom.name} wants {files}; {size(values)} values of"
                f" {tensor.bits} bits are at {show(values)}: {why}",
                hint=f"{max(1, width // tensor.bits)} contiguous values (stride 1) make a register",
            )


def _register_files(atom: Copy_Atom) -> list[tuple[int, int]]:
    """For source and destination the bits of a register and how many there are; (0, 0) where the instruction is of another kind."""
    bits = [size(get(layout, 1)) * atom.bits for layout in (atom.layout_src, atom.layout_dst)]
    if atom.name.startswith("UniversalCopy") or "CP_ASYNC" in atom.name:
        return [(width, 1) for width in bits]
    if "_LDSM_" in atom.name:
        return [(WIDEST, 1), (32, bits[1] // 32)]
    if "_STSM_" in atom.name:
        return [(32, bits[0] // 32), (WIDEST, 1)]
    return [(0, 0), (0, 0)]


# The modes that must be alike: of which operand (A, B, C by number) which mode.
_ALIKE = (("M", (0, 1), (2, 1)), ("N", (1, 1), (2, 2)), ("K", (0, 2), (1, 2)))


def _gemm(operands: list[Any]) -> Verdict:
    mma, a, b, c = _operands("gemm", operands, 3, (MMA_Atom, TiledMMA, ThrMMA))
    if mma is None:
        raise AlgebraError("gemm without an MMA multiplies by FMA, value by value", hint="gemm(MMA, A, B, C)")
    tiled = mma.tiled if isinstance(mma, ThrMMA) else mma
    atom = tiled.atom if isinstance(tiled, TiledMMA) else tiled
    shapes = [modes(t.layout.shape) for t in (a, b, c)]
    ranks = tuple(len(shape) for shape in shapes)
    if ranks not in ((3, 3, 3), (2, 2, 3), (1, 1, 1), (2, 2, 2)):
        raise AlgebraError(
            f"A, B and C have {ranks[0]}, {ranks[1]} and {ranks[2]} modes; (V,M,K), (V,N,K) and"
            " (V,M,N) are expected, or a slice of these",
            hint="partition_fragment_A, partition_fragment_B and partition_fragment_C give such tensors",
        )
    if ranks == (2, 2, 2):  # (M,K) x (N,K) => (M,N), of an MMA of one value a thread
        shapes = [(1, *shape) for shape in shapes]
    sizes = [[size(Layout(part)) for part in shape] for shape in shapes]
    for mode, (n, i), (m, j) in _ALIKE[: len(sizes[0]) if len(sizes[0]) > 1 else 0]:
        if sizes[n][i] != sizes[m][j]:
            one, other = (f"{'ABC'[at]} {show((a, b, c)[at].layout)}" for at in (n, m))
            raise AlgebraError(
                f"mode {mode} differs: {one} has {sizes[n][i]}, {other} has {sizes[m][j]}",
                hint=f"size<{i}>({'ABC'[n]}) == size<{j}>({'ABC'[m]})",
            )
    for operand, t, mine in zip("ABC", (a, b, c), sizes, strict=True):
        wanted = size(get(atom.layout(operand), 1))
        if mine[0] != wanted and t.pointer.space == "rmem":
            raise AlgebraError(
                f"{operand} has {mine[0]} values in its first mode, {atom.name or 'the MMA'} takes {wanted} per thread",
                hint=f"partition_fragment_{operand} of this MMA gives such a tensor",
            )
    count = 1
    for many in sizes[2][1:]:
        count *= many
    if len(sizes[0]) == 3:
        count *= sizes[0][2]
    return Verdict("gemm", atom.name or "MMA", count)
