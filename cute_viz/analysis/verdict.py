"""Whether a copy or an MMA of tensors compiles, in how many instructions, and if not, which condition fails with which numbers.

Source: cute/algorithm/copy.hpp, cute/algorithm/gemm.hpp, cute/atom/copy_atom.hpp, cute/atom/copy_traits.hpp,
cute/atom/mma_traits.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import domain
from cute_viz.algebra.construct import make_layout
from cute_viz.algebra.copy import Copy_Atom, CopyOp, ThrCopy, TiledCopy
from cute_viz.algebra.descriptor import DescriptorTensor
from cute_viz.algebra.inttuple import all_static, leaves, modes, show
from cute_viz.algebra.inverse import nullspace
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.measure import cosize, size
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA
from cute_viz.algebra.modes import coalesce, get
from cute_viz.algebra.recast import recast_layout, upcast
from cute_viz.algebra.static import clear_static, mark_static
from cute_viz.algebra.tensor import Tensor, whole
from cute_viz.algebra.views import atom_of
from cute_viz.analysis.cooperative import cooperation
from cute_viz.analysis.multiply import gemm_calls
from cute_viz.analysis.vectorize import WIDEST, auto_width, check_registers, registers_of
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import is_static
from cute_viz.values.types import Pointer, bits_of

ASYNC = "auto.async"
_COPIES = (Copy_Atom, CopyOp, TiledCopy, ThrCopy)
CP_ASYNC = {"ca": (32, 64, 128), "cg": (128,)}  # widths in bits (cute/arch/copy_sm80.hpp)


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
        """The verdict for JSON."""
        out: dict[str, Any] = {"accepted": True, "instruction": self.instruction, "instructions": self.count}
        if self.common is not None:
            out |= {"max_common_vector": self.common, "bits": self.bits}
        return out | {"reasons": list(self.reasons)}


def verdict(name: str, operands: list[Any], template: tuple[Any, ...] = ()) -> Verdict:
    """The verdict on a statement of MOVES with its operands.

    template: of cooperative_copy the number of threads, and the most bits of an access.

    Raises: AlgebraError for what CuTe refuses, with its condition in words, and for operands that are not tensors.
    """
    if name == "gemm":
        return Verdict("gemm", *gemm_calls(*_operands("gemm", operands, 3, (MMA_Atom, TiledMMA, ThrMMA))))
    if name == "cooperative_copy":
        return _cooperative(operands, template)
    other = {"axpby": _axpby, "copy_if": _copy_if}.get(name)
    return other(operands) if other is not None else _copy(operands, aligned=name == "copy_aligned")


def _cooperative(operands: list[object], template: tuple[object, ...]) -> Verdict:
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


def _axpby(operands: list[object]) -> Verdict:
    """y = alpha x + beta y, element by element."""
    if len(operands) not in (4, 5):
        raise AlgebraError("axpby takes alpha, x, beta and y", hint="axpby(alpha, tCrC, beta, tCgC)")
    _, x, y = _operands("axpby", [operands[1], operands[3]], 2, ())
    _whole_bytes(y)
    return Verdict("copy", f"loads of x and y and a store of {y.bits} bits, element by element", size(x.layout), y.bits)


def _whole_bytes(*tensors: Tensor) -> None:
    if odd := next((x.bits for x in tensors if x.bits % 8), 0):
        raise AlgebraError(f"an element of {odd} bits has no address of its own and cannot be written separately")


def _copy(operands: list[object], aligned: bool = False) -> Verdict:
    policy, src, dst = _operands("copy", operands, 2, _COPIES)
    if isinstance(policy, CopyOp):
        if policy.instruction.kind == ASYNC:
            return _async(src, dst)
        check_policy(policy)
    elif policy is not None:
        policy = atom_of(policy)
    auto = policy is not None and policy.instruction.kind == "auto"
    if policy is None or auto:
        most = int(policy.instruction.arguments["align"]) if auto else WIDEST if aligned else None
        width = auto_width(src, dst, most, filtered=policy is None)
        words = f"a load and a store of {width.bits} bits"
        return Verdict("copy", words, width.accesses, width.bits, width.common, width.reasons)
    count, pair = _calls(policy, [src.layout, dst.layout])
    return _by_atom(policy, count, (pair[0], pair[1]), src, dst)


def _by_atom(atom: Copy_Atom, count: int, pair: tuple[Layout, Layout], src: Tensor, dst: Tensor) -> Verdict:
    """What becomes of calls of an atom with the values of one call."""
    _check_memory(atom, src, dst)
    _registers(atom, pair, (src, dst))
    # whether the values of one call are where the instruction finds them in tensor memory: its traits' ValID (copy_unpack)
    tensors = (src, dst)
    for side, values, tensor in zip(("src", "dst"), pair, tensors, strict=True):
        if atom.in_tmem is None or tensor.pointer.space != "tmem" or not atom.instruction.lanes:
            continue
        wanted, found = coalesce(upcast(clear_static(atom.in_tmem), tensor.bits)), coalesce(clear_static(values))
        if found != wanted:
            raise AlgebraError(
                f"Expected {side} to have the specific TMEM layout required by CopyOp: {atom.name} has its values of {tensor.bits}"
                f" bits at {show(wanted)}, the tensor at {show(found)}",
                hint="make_tmem_copy with an atom that fits the element type: those in _16b unpack 16 bits of each column",
            )
    bits = size(get(atom.layout_src, 1)) * atom.bits
    reasons = () if bits >= WIDEST else (f"{atom.name} moves {bits} bits per thread; a wider atom would take fewer instructions",)
    common = auto_width(src, dst, WIDEST).common if src.bits == dst.bits else 0
    return Verdict("copy", atom.name, count, bits, common, reasons)


def _copy_if(operands: list[object]) -> Verdict:
    """A copy with a predicate: by an atom, one for each of its calls; without, element by element."""
    first = operands[0] if operands and isinstance(operands[0], _COPIES) else None
    at = int(first is not None)
    if len(operands) < at + 3:
        raise AlgebraError("copy_if takes a predicate and 2 tensors, and an atom before them", hint="copy_if(ATOM, PRED, SRC, DST)")
    _, src, dst = _operands("copy_if", [*operands[:at], *operands[at + 1 :]], 2, _COPIES)
    check_registers([operands[at]], [src, dst])
    if first is None:
        return Verdict("copy", f"a load and a store of {dst.bits} bits, if its predicate holds", size(dst.layout), dst.bits)
    if isinstance(first, CopyOp) and first.instruction.kind == ASYNC:
        return _async(src, dst)
    if isinstance(first, CopyOp):
        check_policy(first, predicate=True)
    atom, prd = atom_of(first), domain(whole(operands[at]))
    if not isinstance(prd, Layout):
        raise AlgebraError(f"the predicate {show(prd)} is not a tensor", hint="make_tensor<bool>(shape), a value for each vector")
    count, (_, *pair) = _calls(atom, [prd, src.layout, dst.layout])
    return _by_atom(atom, count, (pair[0], pair[1]), src, dst)


def check_policy(op: CopyOp, predicate: bool = False) -> None:
    """Raises: AlgebraError for an operation that `copy` does not take by itself."""
    if predicate or op.instruction.kind != "auto":
        raise AlgebraError(f"unrecognized CopyPolicy {op.name}", hint=f"Copy_Atom<{op.name}, TYPE>{{}} is an atom")


def async_bits(src: Tensor, dst: Tensor) -> int:
    """The width of the cp.async that AutoCopyAsync makes of an element, 0 where it loads and stores it."""
    apart = (src.pointer.space, dst.pointer.space) == ("gmem", "smem") and src.bits == dst.bits
    return src.bits if apart and src.bits in CP_ASYNC["ca"] else 0


def _async(src: Tensor, dst: Tensor) -> Verdict:
    """AutoCopyAsync: an instruction for each element, whatever lies together."""
    _whole_bytes(src, dst)
    words = f"cp.async of {dst.bits // 8} bytes" if async_bits(src, dst) else f"a load and a store of {dst.bits} bits"
    common = auto_width(src, dst, WIDEST, filtered=False).common if src.bits == dst.bits else 0
    told = "AutoCopyAsync moves one element at a time; Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, TYPE> takes 128 bits"
    return Verdict("copy", words, size(dst.layout), dst.bits, common, () if dst.bits >= WIDEST else (told,))


def _operands(name: str, operands: list[object], count: int, atoms: tuple[type, ...]) -> list[Any]:
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
                hint="example: make_tensor(make_gmem_ptr<half_t>(0), (8,64):(64,1))",
            )
    return [first, *tensors]


def _with_registers(name: str, first: object, tensors: list[object]) -> list[object]:
    """The operands, of which a plain layout is a fragment: registers of the type that the instruction or the other side has."""
    if name == "gemm":
        types = getattr(atom_of(first), "types", ()) or ()
        return [_fragment(x, types[min(n, 2)] if n < len(types) else "") for n, x in enumerate(tensors)]
    known = next((str(x.pointer.type) for x in tensors if isinstance(x, Tensor)), "")
    if not known and first is not None and not isinstance(first, CopyOp):
        known = atom_of(first).value_type or str(atom_of(first).bits)
    return [_fragment(x, known) for x in tensors]


def _fragment(x: object, type_: str) -> object:
    return Tensor(Pointer("rmem", type_), x) if isinstance(x, Layout) and type_ and not is_coordinate_layout(x) else x


def _check_memory(atom: Copy_Atom, src: Tensor, dst: Tensor) -> None:
    op = atom.instruction
    if op.kind == "cp.async":
        bits, widths = _register_files(atom)[0][0], CP_ASYNC[op.opcode.split(".")[2]]
        if bits not in widths:
            raise AlgebraError(
                f"cp.async of {bits // 8} bytes is not supported by {op.name}",
                hint=f"it copies {' or '.join(str(width // 8) for width in widths)} bytes",
            )
    if op.lanes or op.kind == "cp.async.bulk" or "zfill" in op.words:  # whose traits ask for a memory
        op.check_reach(src.pointer.space, dst.pointer.space)


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
    return all_static(layout.shape)


def _registers(atom: Copy_Atom, pair: tuple[Layout, Layout], tensors: tuple[Tensor, Tensor]) -> None:
    """Whether the values of one call lie together as the registers of the instruction do (copy_unpack)."""
    for side, values, tensor, (width, number) in zip(("src", "dst"), pair, tensors, _register_files(atom), strict=True):
        if not width:
            continue
        held, why = registers_of(values, tensor, width)
        if not _is_static(values):  # one side alone tells how many values there are
            held, why = None, "how many registers they make is known at run time only"
        if held != number:
            if held is not None and any(x == 1 and not is_static(x) for x in leaves(values.stride)):
                why += "; the stride 1 is a run-time integer, of which CuTe does not know that it is 1"
            one = "Int<1>{}" if "run-time" in why else "1"
            each = max(1, width // tensor.bits)
            files = f"{number} register{'s' if number > 1 else ''} of {width} bits"
            raise AlgebraError(
                f"{side} failed to vectorize into registers: {atom.name} takes {files}; {size(values)} values of"
                f" {tensor.bits} bits are at {show(values)}: {why}",
                hint=f"{each} contiguous values (stride {one}) make a register" if each > 1 else "one value fills a register",
            )


def _register_files(atom: Copy_Atom) -> list[tuple[int, int]]:
    """For source and destination the bits of a register and how many there are; (0, 0) where the instruction is of another kind."""
    op = atom.instruction
    if op.kind == "auto":
        return [(int(op.arguments["align"]), 1)] * 2
    if op.kind in ("copy", "cp.async"):
        return [(bits_of(op.arguments[side]), 1) for side in "SD"]
    if op.kind not in _IN_REGISTERS:
        return [(0, 0), (0, 0)]
    held = [size(get(layout, 1)) * atom.bits for layout in (atom.layout_src, atom.layout_dst)]
    return [(32, bits // 32) if op.home(side) == "rmem" else (bits, 1) for side, bits in zip("SD", held, strict=True)]


_IN_REGISTERS = ("ldmatrix", "stmatrix", "movmatrix", "shfl", "ld", "st")  # whose words are registers, and one access of memory
