"""Whether a copy or an MMA of tensors compiles, in how many instructions, and if not, which condition fails with which numbers.

Source: cute/algorithm/copy.hpp, cute/algorithm/gemm.hpp, cute/atom/copy_atom.hpp, cute/atom/copy_traits.hpp,
cute/atom/mma_traits.hpp.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import domain
from cute_viz.algebra.construct import make_layout
from cute_viz.algebra.copy import Copy_Atom, CopyOp, ThrCopy, TiledCopy
from cute_viz.algebra.descriptor import DescriptorTensor
from cute_viz.algebra.inttuple import leaves, modes, show
from cute_viz.algebra.inverse import nullspace
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.measure import cosize, size
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.algebra.recast import recast_layout, upcast
from cute_viz.algebra.simplify import coalesce
from cute_viz.algebra.static import clear_static, mark_static
from cute_viz.algebra.tensor import Tensor, whole
from cute_viz.analysis.cooperative import cooperation
from cute_viz.analysis.multiply import gemm_calls
from cute_viz.analysis.vectorize import BYTE, WIDEST, auto_width, check_registers, registers_of
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import Static
from cute_viz.values.pointer import SPACES, Pointer
from cute_viz.values.types import bits_of

AUTO = re.compile(r"(?:AutoVectorizingCopy(?:WithAssumedAlignment<(\d+)>)?|(DefaultCopy))$")  # DefaultCopy assumes 8 bits
ASYNC = "AutoCopyAsync"
_COPIES = (Copy_Atom, CopyOp, TiledCopy, ThrCopy)
_TYPED = re.compile(r"(?:UniversalCopy|SM80_CP_ASYNC_CACHE\w+)<(.*)>$")  # the types of source and destination
_MATRIX = re.compile(r"(?:_x(\d)|U(8|16|32)x(\d+))_(?:\w*_)?(LDSM|STSM)_")
_FILES = {  # (bits of a register, how many) of source and destination (cute/arch/copy_sm50.hpp, copy_sm75.hpp, copy_sm100.hpp)
    "SM50_Shuffle_U32_2x2": ((32, 2), (32, 2)),
    "MOVM_T": ((32, 1), (32, 1)),
    "SM100_LOAD_256bit": ((256, 1), (32, 8)),
    "SM100_STORE_256bit": ((32, 8), (256, 1)),
}
# Where the traits ask for a memory (cute/atom/copy_traits_sm80.hpp, copy_traits_sm90_tma.hpp).
_MEMORY = {"_ZFILL": ("gmem", "smem"), "BULK_COPY_G2S": ("gmem", "smem"), "BULK_COPY_S2G": ("smem", "gmem")}
_MEMORY |= {"TMEM_LOAD": ("tmem", "rmem"), "TMEM_STORE": ("rmem", "tmem")}
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


MOVES = ("copy", "copy_if", "copy_aligned", "cooperative_copy", "axpby", "gemm")  # what moves or multiplies, and gives no value


def verdict(name: str, operands: list[Any], template: tuple[Any, ...] = ()) -> Verdict:
    """The verdict on a statement of MOVES with its operands.

    template: of cooperative_copy the number of threads, and the most bits of an access.

    Raises: AlgebraError for what CuTe refuses, with its condition in words, and for operands that are not tensors.

    >>> from cute_viz.algebra.static import mark_static
    >>> from cute_viz.values.pointer import Pointer
    >>> row = Tensor(Pointer("gmem", "half_t"), mark_static(Layout((8, 8), (8, 1))))
    >>> verdict("copy", [row, row]).bits
    128
    """
    if name == "gemm":
        return Verdict("gemm", *gemm_calls(*_operands("gemm", operands, 3, (MMA_Atom, TiledMMA, ThrMMA))))
    if name == "cooperative_copy":
        return _cooperative(operands, template)
    if name == "axpby":
        return _axpby(operands)
    return _copy_if(operands) if name == "copy_if" else _copy(operands, aligned=name == "copy_aligned")


def _cooperative(operands: list[Any], template: tuple[Any, ...]) -> Verdict:
    """What each thread does in a cooperative copy."""
    policy = operands[3] if len(operands) == 4 else None
    if len(operands) not in (3, 4) or (policy is not None and not isinstance(policy, _COPIES)):
        raise AlgebraError("cooperative_copy takes a thread index and 2 tensors", hint="cooperative_copy<128, 128>(tid, SRC, DST)")
    _, src, dst = _operands("cooperative_copy", operands[1:3], 2, _COPIES)
    found = cooperation((*template, None)[0], (*template, None, None)[1], src, dst)
    if policy is not None and found.even:  # elsewhere no policy is asked
        parts = [mark_static(recast_layout(layout, src.bits, found.bits)) for (layout, _) in found.parts[0]]
        tensors = [Tensor(Pointer(x.pointer.space, f"uint{found.bits}_t"), part) for x, part in zip((src, dst), parts, strict=True)]
        return replace(_copy([policy, *tensors]), common=found.common, bits=found.bits)
    return Verdict("copy", f"a load and a store of {found.bits} bits", found.count, found.bits, found.common)


def _axpby(operands: list[Any]) -> Verdict:
    """y = alpha x + beta y, element by element."""
    if len(operands) not in (4, 5):
        raise AlgebraError("axpby takes alpha, x, beta and y", hint="axpby(alpha, tCrC, beta, tCgC)")
    _, x, y = _operands("axpby", [operands[1], operands[3]], 2, ())
    _whole_bytes(y)
    return Verdict("copy", f"loads of x and y and a store of {y.bits} bits, element by element", size(x.layout), y.bits)


def _whole_bytes(dst: Tensor) -> None:
    if dst.bits % 8:
        raise AlgebraError(f"an element of {dst.bits} bits has no address, so that one by one they cannot be written")


def _copy(operands: list[Any], aligned: bool = False) -> Verdict:
    policy, src, dst = _operands("copy", operands, 2, _COPIES)
    if isinstance(policy, CopyOp):
        if policy.name == ASYNC:
            return _async(src, dst)
        _policy(policy)
    elif policy is not None:
        policy = _atom(policy)
    auto = None if policy is None else AUTO.match(policy.name)
    if policy is None or auto is not None:
        most = None if policy is None and not aligned else WIDEST if auto is None else _aligned_to(auto)
        width = auto_width(src, dst, most, filtered=policy is None)
        words = f"a load and a store of {width.bits} bits"
        return Verdict("copy", words, width.accesses, width.bits, width.common, width.reasons)
    count, pair = _calls(policy, [src.layout, dst.layout])
    return _by_atom(policy, count, (pair[0], pair[1]), src, dst)


def _by_atom(atom: Copy_Atom, count: int, pair: tuple[Layout, Layout], src: Tensor, dst: Tensor) -> Verdict:
    """What becomes of calls of an atom with the values of one call."""
    _check_memory(atom, src, dst)
    _registers(atom, pair, (src, dst))
    _tensor_memory(atom, pair, (src, dst))
    bits = size(get(atom.layout_src, 1)) * atom.bits
    reasons = () if bits >= WIDEST else (f"{atom.name} moves {bits} bits per thread; a wider atom would take fewer instructions",)
    common = auto_width(src, dst, WIDEST).common if src.bits == dst.bits else 0
    return Verdict("copy", atom.name, count, bits, common, reasons)


def _copy_if(operands: list[Any]) -> Verdict:
    """A copy with a predicate: by an atom, one for each of its calls; without, element by element."""
    first = operands[0] if operands and isinstance(operands[0], _COPIES) else None
    at = int(first is not None)
    if len(operands) < at + 3:
        raise AlgebraError("copy_if takes a predicate and 2 tensors, and an atom before them", hint="copy_if(ATOM, PRED, SRC, DST)")
    _, src, dst = _operands("copy_if", [*operands[:at], *operands[at + 1 :]], 2, _COPIES)
    check_registers([operands[at]], [src, dst])
    if first is None:
        return Verdict("copy", f"a load and a store of {dst.bits} bits, if its predicate holds", size(dst.layout), dst.bits)
    if isinstance(first, CopyOp) and first.name == ASYNC:
        return _async(src, dst)
    if isinstance(first, CopyOp):
        _policy(first, predicate=True)
    atom, prd = _atom(first), domain(whole(operands[at]))
    if not isinstance(prd, Layout):
        raise AlgebraError(f"the predicate {show(prd)} is not a tensor", hint="make_tensor<bool>(shape), a value for each vector")
    count, (_, *pair) = _calls(atom, [prd, src.layout, dst.layout])
    return _by_atom(atom, count, (pair[0], pair[1]), src, dst)


def _policy(op: CopyOp, predicate: bool = False) -> None:
    """Raises: AlgebraError for an operation that `copy` does not take by itself."""
    if predicate or not AUTO.match(op.name):
        raise AlgebraError(f"unrecognized CopyPolicy {op.name}", hint=f"Copy_Atom<{op.name}, TYPE>{{}} is an atom")


def async_bits(src: Tensor, dst: Tensor) -> int:
    """The width of the cp.async that AutoCopyAsync makes of an element, 0 where it loads and stores it.

    >>> async_bits(Tensor(Pointer("gmem", "float"), Layout(4)), Tensor(Pointer("smem", "float"), Layout(4)))
    32
    """
    apart = (src.pointer.space, dst.pointer.space) == ("gmem", "smem") and src.bits == dst.bits
    return src.bits if apart and src.bits in CP_ASYNC["CACHEALWAYS"] else 0


def _async(src: Tensor, dst: Tensor) -> Verdict:
    """AutoCopyAsync: an instruction for each element, whatever lies together."""
    _whole_bytes(src)
    _whole_bytes(dst)
    words = f"cp.async of {dst.bits // 8} bytes" if async_bits(src, dst) else f"a load and a store of {dst.bits} bits"
    common = auto_width(src, dst, WIDEST, filtered=False).common if src.bits == dst.bits else 0
    told = "AutoCopyAsync moves one element at a time; Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, TYPE> takes 128 bits"
    return Verdict("copy", words, size(dst.layout), dst.bits, common, () if dst.bits >= WIDEST else (told,))


def _aligned_to(auto: re.Match[str]) -> int:
    return BYTE if auto[2] else int(auto[1] or WIDEST)


def _operands(name: str, operands: list[Any], count: int, atoms: tuple[type, ...]) -> list[Any]:
    """The atom, or None, and the tensors of a call; of a gemm with D, this too, behind them."""
    first = operands[0] if operands and isinstance(operands[0], atoms) else None
    tensors = operands[first is not None :]
    wanted = "gemm(MMA, A, B, C)" if name == "gemm" else f"{name}(ATOM, SRC, DST)"
    if len(tensors) != count and not (name == "gemm" and len(tensors) == count + 1):
        raise AlgebraError(f"{name} takes {count} tensors, and an atom before them", hint=wanted)
    if isinstance(first, ThrCopy):
        raise AlgebraError(f"{name} of a ThrCopy is deleted: it takes the TiledCopy", hint="copy(tiled_copy, SRC, DST)")
    if len(tensors) > count:
        tensors = [*tensors[1:], tensors[0]]
    tensors = _with_registers(name, first, tensors)
    check_registers(tensors, tensors)
    for n, tensor in enumerate(tensors, 1 + (first is not None)):
        if not isinstance(tensor, (Tensor, DescriptorTensor)) or (name != "gemm" and not isinstance(tensor, Tensor)):
            raise AlgebraError(
                f"operand {n} of {name}, {show(tensor).splitlines()[0]}, has no known memory and element type",
                hint="such as make_tensor(make_gmem_ptr<half_t>(0), (8,64):(64,1))",
            )
    return [first, *tensors]


def _with_registers(name: str, first: Any, tensors: list[Any]) -> list[Any]:
    """The operands, of which a plain layout is a fragment: registers of the type that the instruction or the other side has."""
    if name == "gemm":
        tiled = first.tiled if isinstance(first, ThrMMA) else first
        types = getattr(tiled.atom if isinstance(tiled, TiledMMA) else tiled, "types", ()) or ()
        return [_fragment(x, types[min(n, 2)] if n < len(types) else "") for n, x in enumerate(tensors)]
    known = next((str(x.pointer.type) for x in tensors if isinstance(x, Tensor)), "")
    if not known and first is not None and not isinstance(first, CopyOp):
        known = _atom(first).value_type or str(_atom(first).bits)
    return [_fragment(x, known) for x in tensors]


def _fragment(x: Any, type_: str) -> Any:
    return Tensor(Pointer("rmem", type_), x) if isinstance(x, Layout) and type_ and not is_coordinate_layout(x) else x


def _atom(x: Any) -> Copy_Atom:
    tiled = x.tiled if isinstance(x, ThrCopy) else x
    return tiled.atom if isinstance(tiled, TiledCopy) else tiled


def _check_memory(atom: Copy_Atom, src: Tensor, dst: Tensor) -> None:
    for kind, widths in CP_ASYNC.items():
        bits = _register_files(atom)[0][0]
        if f"CP_ASYNC_{kind}" in atom.name and bits not in widths:
            raise AlgebraError(
                f"cp.async of {bits // 8} bytes is not supported by {atom.name.partition('<')[0]}",
                hint=f"it copies {' or '.join(str(width // 8) for width in widths)} bytes",
            )
    for word, spaces in _MEMORY.items():
        found = (src.pointer.space, dst.pointer.space)
        if word in atom.name and found != spaces:
            raise AlgebraError(
                f"{atom.name} copies from {SPACES[spaces[0]]} to {SPACES[spaces[1]]},"
                f" not from {SPACES[found[0]]} to {SPACES[found[1]]}"
            )


def _calls(atom: Copy_Atom, parts: list[Layout]) -> tuple[int, list[Layout]]:
    """How often the atom is called, and the source and destination values of one call (Copy_Atom::call).

    parts: source and destination; before them the predicate, if there is one.
    """
    wanted = [size(get(layout, 1)) for layout in (atom.layout_src, atom.layout_dst)]
    count = 1
    while True:
        src, dst = parts[-2:]
        if len(parts) > 2 and (rank := len(modes(parts[0].shape))) == len(modes(src.shape)) - 1:  # without the mode of the values
            parts[0] = make_layout(Layout(1, 0), *[get(parts[0], n) for n in range(rank)])
        ranks = [len(modes(layout.shape)) for layout in parts]
        if len(set(ranks)) > 1:
            told = f"the source {show(src)} has {ranks[-2]} modes, the destination {show(dst)} has {ranks[-1]}"
            if len(parts) > 2:
                told = f"the predicate {show(parts[0])} has {ranks[0]} modes, {told}"
            raise AlgebraError(
                f"CopyAtom rank-mismatch: {told}",
                hint="both are (CPY, CPY_M, CPY_K, ...): retile the one that is an MMA's, by retile_S or retile_D",
            )
        if ranks[0] > 1:
            static = len(parts) == 2 and _is_static(src) and _is_static(dst)
            count *= _rest(src, dst) if static else size(dst) // size(get(dst, 0))
            parts = [get(layout, 0) for layout in parts]  # type: ignore[misc]
        src, dst = parts[-2:]
        found = [size(layout) if _is_static(layout) else None for layout in (src, dst)]
        if any(there == many for there, many in zip(found, wanted, strict=True)):
            return count, parts
        if not all(isinstance(layout.shape, tuple) for layout in (src, dst)):
            raise AlgebraError(
                f"the partitioning does not match the instruction: {atom.name} takes {wanted[0]} values of the source and gives"
                f" {wanted[1]} to the destination; their first modes are {show(src)} and {show(dst)}",
                hint="partition with a TiledCopy of this atom"
                if None not in found
                else "their extents must be known when the kernel is compiled: Int<8>{}",
            )
        if ranks[0] == 1:
            parts = [get(layout, 0) for layout in parts]  # type: ignore[misc]


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
        held, why = registers_of(values, tensor, width)
        if not _is_static(values):  # one side alone tells how many values there are
            held, why = None, "how many registers they make is known at run time only"
        if held != number:
            one = "Int<1>{}" if "run-time" in why else "1"
            files = f"{number} register{'s' if number > 1 else ''} of {width} bits"
            raise AlgebraError(
                f"{side} failed to vectorize into registers: {atom.name} wants {files}; {size(values)} values of"
                f" {tensor.bits} bits are at {show(values)}: {why}",
                hint=f"{max(1, width // tensor.bits)} contiguous values (stride {one}) make a register",
            )


def _tensor_memory(atom: Copy_Atom, pair: tuple[Layout, Layout], tensors: tuple[Tensor, Tensor]) -> None:
    """Whether the values of one call are where the instruction finds them in tensor memory: its traits' ValID (copy_unpack)."""
    for side, values, tensor in zip(("src", "dst"), pair, tensors, strict=True):
        if atom.in_tmem is None or tensor.pointer.space != "tmem" or "_TMEM_" not in atom.name:
            continue
        wanted, found = coalesce(upcast(clear_static(atom.in_tmem), tensor.bits)), coalesce(clear_static(values))
        if found != wanted:
            raise AlgebraError(
                f"Expected {side} to have the specific TMEM layout required by CopyOp: {atom.name} has its values of {tensor.bits}"
                f" bits at {show(wanted)}, the tensor at {show(found)}",
                hint="make_tmem_copy with an atom that fits the element type: those in _16b unpack 16 bits of each column",
            )


def _register_files(atom: Copy_Atom) -> list[tuple[int, int]]:
    """For source and destination the bits of a register and how many there are; (0, 0) where the instruction is of another kind."""
    if (auto := AUTO.match(atom.name)) is not None:
        return [(_aligned_to(auto), 1)] * 2
    if (typed := _TYPED.match(atom.name)) is not None:
        source, _, target = typed[1].partition(",")
        return [(bits_of(source.strip()), 1), (bits_of((target or source).strip()), 1)]
    if (matrix := _MATRIX.search(atom.name)) is not None:
        registers = (32, int(matrix[1] or 0) or int(matrix[3]) * int(matrix[2]) // 32)
        return [(WIDEST, 1), registers] if matrix[4] == "LDSM" else [registers, (WIDEST, 1)]
    return next((list(files) for word, files in _FILES.items() if word in atom.name), [(0, 0), (0, 0)])
