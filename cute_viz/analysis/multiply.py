"""Whether a gemm compiles, and what its operands in memory cost: as CuTe copies them, and as the compiler may take them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.algebra.descriptor import DescriptorTensor
from cute_viz.algebra.inttuple import X, modes, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.algebra.shares import sliced_share
from cute_viz.algebra.static import is_marked, mark_static
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor, tensors_in
from cute_viz.algebra.views import atom_of, tiled_of
from cute_viz.analysis.access import MODES
from cute_viz.analysis.banks import LANES
from cute_viz.analysis.cost import Cost, Side, cost_of, ordered, times
from cute_viz.analysis.vectorize import auto_width, registers_of
from cute_viz.errors import AlgebraError, first_error, raise_first
from cute_viz.limits import limit, over
from cute_viz.values.types import SPACES, Pointer, ValueType, bits_of


def multiplied(operands: list[object]) -> list[Cost]:
    """The operands of a gemm that are in memory: each mode of K is copied to registers first (cute/algorithm/gemm.hpp). What an
    MMA reads through descriptors is one cost without wavefronts. Raises: AlgebraError for operands that are not tensors, and for
    unknown element types."""
    if operands and isinstance(atom := atom_of(operands[0]), MMA_Atom) and _described(atom):
        return [_by_descriptors(atom, operands)]
    tensors = tensors_in(operands)
    if len(tensors) < 3:
        raise first_error(operands) or AlgebraError("this does not multiply tensors that can be evaluated")
    a, b = tensors[-3:-1]
    out = []
    for x in (a, b):
        if x.pointer.space not in ("smem", "gmem"):
            continue
        if not x.starts:
            raise AlgebraError("the MMA itself reads shared memory through a descriptor")
        if size(x.layout) * len(x.starts) > limit("accesses"):
            raise over("accesses", f"the statement touches {size(x.layout)} elements per thread")
        rank = len(modes(x.layout.shape))
        last = size(get(x.layout, rank - 1)) if rank > 1 else 1
        part = sliced_share(x, (*[X] * (rank - 1), 0)) if rank > 1 else x
        registers = Tensor(Pointer("rmem", x.pointer.type), mark_static(Layout(part.layout.shape)))
        width_ = auto_width(part, registers, None)
        order, together = ordered(part, registers, max(1, width_.bits // part.bits), range(size(part.layout)))
        one = cost_of(Side(part, order, together), width_.reasons)
        written = times(one, last)
        out.append(merged(x, written) or written)
    return out


def _by_descriptors(atom: MMA_Atom, operands: list[object]) -> Cost:
    """How many instructions a gemm is whose operands are descriptors, or one of them registers or tensor memory."""
    given = [*operands[2:], operands[1]] if len(operands) == 5 else operands[1:]  # D is the first
    tensors = [x if isinstance(x, DescriptorTensor) else _registers(x, n, atom) for n, x in enumerate(given[:3])]
    if len(tensors) < 3:
        raise AlgebraError("this does not multiply tensors that can be evaluated")
    _, count = gemm_calls(operands[0], *tensors)
    plain, kind = atom.instruction.name, atom.instruction.kind
    tiled = tiled_of(operands[0])
    threads = size(tiled.thr_layout) if isinstance(tiled, TiledMMA) else size(get(atom.layout_c, 0))
    warps = threads // LANES if kind == "wgmma" else 1  # one thread issues tcgen05.mma
    why = f"{plain} reads shared memory through descriptors: {MODES}"
    return Cost(plain, size(tensors[2].layout), count * warps, why=(why,))


def issued(operands: list[object]) -> Cost:
    """The instructions of a gemm whose operands are all in registers, which touches no memory. Raises: AlgebraError for operands
    that are not tensors, and as `gemm_calls`."""
    mma = operands[0]
    tiled, atom = tiled_of(mma), atom_of(mma)
    given = [*operands[2:], operands[1]] if len(operands) == 5 else operands[1:]  # D is the first
    tensors = tensors_in(given[:3])
    if not isinstance(atom, MMA_Atom) or len(tensors) < 3:
        raise first_error(operands) or AlgebraError("the operands of this product are not known")
    warps = size(tiled.thr_layout) // LANES if isinstance(tiled, TiledMMA) else 1
    count = gemm_calls(mma, *tensors)[1]
    return Cost(atom.name, size(tensors[2].layout), count * max(1, warps))


def _registers(x: Any, n: int, atom: MMA_Atom) -> Any:
    raise_first([x])
    bare = n < 2 and isinstance(x, Tensor) and x.pointer.known is None and size(get(x.layout, 0)) == 1  # the DSL's descriptors
    if isinstance(x, Layout) or bare:
        return Tensor(Pointer("tmem", "float"), x if isinstance(x, Layout) else x.layout)
    if not isinstance(x, Tensor):
        raise AlgebraError("this does not multiply tensors that can be evaluated")
    return x.of_type(ValueType(atom.types[min(n, 2)] if atom.types else "float"))


def merged(x: Tensor, written: Cost, store: bool = False) -> Cost | None:
    """An operand as the compiler reads it, which unrolls all modes: neighbours in shared memory at once where all threads' are
    aligned, as nvcc 13.0 does; None where that changes nothing. store: it is written."""
    if x.pointer.space != "smem" or x.swizzle or x.pointer.swizzle or not is_marked(x.layout):
        return None
    bits, does = x.bits, "writes" if store else "reads"
    table = [int(n) for n in offsets(x.layout)]
    order = tuple(sorted(range(len(table)), key=lambda n: table[n]))
    if len(set(table)) < len(table):
        return None
    for wide in (128, 64, 32):
        count = wide // bits
        if count * written.instructions <= written.elements * len(x.starts) // LANES or len(table) % count or count < 2:
            continue
        runs = [[table[n] for n in order[at : at + count]] for at in range(0, len(order), count)]
        begins = [run[0] + x.offset + start for run in runs for start in x.starts]
        if all(run[-1] - run[0] == count - 1 for run in runs) and not any(begin % count for begin in begins):
            words = f"{written.instructions} {written.instruction} as it is written: {count} elements of a thread are contiguous"
            one = cost_of(Side(x, order, count, None, store), (f"{words}, which nvcc {does} at once", *written.why))
            return replace(one, written=written)
    return None


# The forms of gemm by the modes of A, B and C; of each which modes of which operands must be alike (cute/algorithm/gemm.hpp).
_FORMS: dict[tuple[int, ...], tuple[tuple[str, tuple[int, int], tuple[int, int]], ...]] = {
    (1, 1, 1): (),
    (1, 1, 2): (("M", (0, 0), (2, 0)), ("N", (1, 0), (2, 1))),
    (2, 2, 2): (("M", (0, 0), (2, 0)), ("N", (1, 0), (2, 1)), ("K", (0, 1), (1, 1))),
    (2, 2, 3): (("M", (0, 1), (2, 1)), ("N", (1, 1), (2, 2))),
    (3, 3, 3): (("M", (0, 1), (2, 1)), ("N", (1, 1), (2, 2)), ("K", (0, 2), (1, 2))),
}


def gemm_calls(mma: Any, *tensors: Any) -> tuple[str, int]:
    """The instruction of `gemm(mma, A, B, C)` and how often a thread executes it.

    mma: None multiplies value by value. tensors: A, B and C, and D where it is another one.

    Raises: AlgebraError for what CuTe refuses (cute/algorithm/gemm.hpp, mma_unpack in cute/atom/mma_traits.hpp).
    """
    results = tensors[2:]
    atom = atom_of(mma)
    shapes = [modes(t.layout.shape) for t in tensors]
    ranks = tuple(len(shape) for shape in shapes[:3])
    if ranks not in _FORMS:
        raise AlgebraError(
            f"A, B and C have {ranks[0]}, {ranks[1]} and {ranks[2]} modes; (V,M,K), (V,N,K) and"
            " (V,M,N) are expected, or a slice of these",
            hint="partition_fragment_A, partition_fragment_B and partition_fragment_C give such tensors",
        )
    sizes = [[size(Layout(part)) for part in shape] for shape in shapes]
    for mode, (n, i), (m, j) in _FORMS[ranks]:
        if sizes[n][i] != sizes[m][j]:
            one, other = (f"{'ABC'[at]} {show(tensors[at].layout)}" for at in (n, m))
            raise AlgebraError(
                f"mode {mode} differs: {one} has {sizes[n][i]}, {other} has {sizes[m][j]}",
                hint=f"size<{i}>({'ABC'[n]}) == size<{j}>({'ABC'[m]})",
            )
    alike = len({str(x.layout) if _described(atom) else tuple(sizes[n]) for n, x in enumerate(results, 2)}) == 1
    if not alike:
        raise AlgebraError(f"C {show(tensors[2].layout)} and D {show(tensors[3].layout)} differ", hint="they are alike")
    if _described(atom) and atom is not None and atom.instruction.home("A") == "rmem" and atom.instruction.majors[0] == "MN":
        raise AlgebraError("Register source operand A must have K major layout", hint=atom.name.replace("MN", "K", 1))
    spaces = tuple(x.pointer.space if isinstance(x, Tensor) else "rmem" for x in tensors)
    from_smem = atom is None or not _described(atom) or atom.instruction.home("A") != "rmem"
    forms = ((3, 3, 3),) if _described(atom) else ((2, 2, 2), (3, 3, 3))  # for wgmma, CuTe makes the descriptors
    copied = spaces[:2] == ("smem", "smem") and ranks in forms and from_smem
    if any(space in ("smem", "gmem") for space in spaces[2 * copied :]):
        told = ", ".join(f"{operand} is in {SPACES[space]}" for operand, space in zip("ABCD", spaces, strict=False))
        raise AlgebraError(
            f"there is no gemm of such operands: {told}",
            hint="all are in registers, or A and B in shared memory; make_fragment_A makes A's fragment of its partition",
        )
    for n, (operand, t) in enumerate(zip("ABCD", tensors, strict=False)):
        held = len(sizes[n]) == 3 or ranks in ((1, 1, 1), (2, 2, 3))  # it has values in its first mode
        _operand(atom, min(n, 2), operand, t, t.layout[0] if held else None, copied and n < 2)
    count = 1
    for many in sizes[2][(ranks[2] == 3) :] if ranks != (1, 1, 1) else []:
        count *= many
    if ranks in ((2, 2, 2), (3, 3, 3)):
        count *= sizes[0][-1]
    return (atom.name or "MMA") if atom is not None else "FMA", count


def _described(atom: MMA_Atom | None) -> bool:
    """Whether an instruction reads operands through descriptors: wgmma, tcgen05.mma."""
    return atom is not None and atom.instruction.described()


def _operand(atom: MMA_Atom | None, n: int, operand: str, t: object, values: Layout | None, copied: bool) -> None:
    """Whether the values of one multiplication are what its instruction takes; those that are copied to a fragment by number.

    values: of its first mode, None of operands without one, for an MMA of one value.
    """
    if not isinstance(t, Tensor) or t.pointer.space == "tmem":
        return
    name = "the MMA" if atom is None else atom.name or "the MMA"
    wanted = 1 if atom is None else size(get(atom.layout("ABC"[n]), 1))
    vector = Layout(1, 0) if values is None else values
    head = f"{operand} has {size(vector)} values of {t.bits} bits in its first mode"
    hint = f"partition_fragment_{operand} of this MMA gives such a tensor"
    by_number = copied or atom is None or n >= len(atom.types)
    if (by_number or values is None) and size(vector) != wanted:
        raise AlgebraError(f"{head}, {name} takes {wanted} per thread", hint=hint)
    if by_number:
        return
    assert atom is not None
    own = bits_of(atom.types[n])
    packed = "pairs" in atom.instruction.words  # float2
    width = own * wanted if packed else own if own >= 32 or atom.instruction.kind == "fma" else 32
    number = own * wanted // width
    found, why = registers_of(vector, t, width)
    if found != number:
        raise AlgebraError(
            f"{head}, {name} takes {wanted} of {own} bits per thread, {number} register{'s' * (number > 1)} of {width} bits: {why}",
            hint=hint,
        )
