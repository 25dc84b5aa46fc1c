"""What the copies of a kernel cost: the instructions that all threads of a block execute, their wavefronts and sectors.

cp.async reads lines of the L1 cache and writes banks of shared memory in one instruction. Its model agrees with what Nsight Compute
counts of LDGSTS on an H100 (layouts/verified/kernels): words in the same place of several lines are read one after the other, as
words of one bank are written, and what is written waits for what is read. Of 100 other patterns of 4 and 8 bytes counted there
it is exact for 64 (54 of 60 regular ones, 10 of 40 scattered ones), and else off by one to four wavefronts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cute_viz.algebra.composed import inner_of
from cute_viz.algebra.copy import Copy_Atom, CopyOp, ThrCopy, TiledCopy
from cute_viz.algebra.layout import Layout, flat_modes
from cute_viz.algebra.measure import size
from cute_viz.algebra.modes import get
from cute_viz.algebra.shares import Starts
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor, tensors_in
from cute_viz.algebra.tma import TmaCopy
from cute_viz.algebra.views import atom_of, tiled_of
from cute_viz.analysis.access import WarpAccess, instruction_of
from cute_viz.analysis.banks import BANKS, LANES, WORD
from cute_viz.analysis.cooperative import boxes, bulk, cooperation
from cute_viz.analysis.cost import Cost, Side, cost_of, ordered, summed
from cute_viz.analysis.lanes import fixed_name
from cute_viz.analysis.multiply import merged, multiplied
from cute_viz.analysis.vectorize import WIDEST, is_static_shape
from cute_viz.analysis.verdict import ASYNC, CP_ASYNC, async_bits, check_policy, verdict
from cute_viz.errors import AlgebraError, CuteVizError, first_error, raise_first
from cute_viz.limits import limit, over
from cute_viz.values.instruction import ELEMENTS
from cute_viz.values.types import SPACES, ValueType


def async_wavefronts(read: WarpAccess, written: WarpAccess) -> int:
    """The wavefronts of one cp.async of a warp: `read` of global memory, `written` of shared memory. In every phase, each
    wavefront that is written takes one, or as many as there are lines to be read for it first."""
    total = 0
    for phase in written.phases():
        reads = _turns(phase.lanes, read.begins, read.width)
        writes = _turns(phase.lanes, written.begins, written.width)
        known: set[int] = set()
        for turn in range(max(writes.values()) + 1):
            wanted = {reads[lane] for lane in phase.lanes if writes[lane] == turn}
            total += max(1, len(wanted - known))
            known |= wanted
    return total


def _turns(lanes: Sequence[int], begins: Sequence[int], width: int) -> dict[int, int]:
    """In which turn each lane is served where each of 32 banks gives one word at a time, the lowest lane's first."""
    banks: list[dict[int, int]] = [{} for _ in range(BANKS)]
    out = {}
    for lane in lanes:
        words = range(begins[lane] // WORD, (begins[lane] + width - 1) // WORD + 1)
        out[lane] = max(banks[word % BANKS].setdefault(word, len(banks[word % BANKS])) for word in words)
    return out


_BANKLESS = f"{SPACES['tmem']} has no banks: each warp has 32 lanes of it to itself"


def costs(name: str, operands: list[Any]) -> list[Cost]:
    """The costs of `copy(...)`, `copy_if(...)` or `gemm(...)`, one for each memory that it touches; empty where it moves
    registers. A `copy` of another namespace counts as CuTe's where a tiled copy, a source and a destination are its first
    operands. Raises: the error of an unknown operand; AlgebraError for any other function of another namespace, for what CuTe
    refuses, and for tensors that are not parts of threads."""
    foreign, _, name = name.rpartition("::")
    if foreign and name != "gemm" and operands and isinstance(operands[0], CuteVizError) and operands[0].needs:
        raise operands[0]
    if foreign and (name == "gemm" or not isinstance(operands[0] if operands else None, (Copy_Atom, TiledCopy, ThrCopy))):
        raise AlgebraError(f"{foreign}::{name} is not CuTe's; this statement does not show what it does")
    if name == "gemm":
        return multiplied(operands)
    if name == "cooperative_copy":
        return _cooperative(operands)
    if name == "axpby":
        return _axpby(operands)
    if name in ELEMENTS:
        return _elements(operands, name == "store")
    if operands and isinstance(operands[0], TmaCopy):
        return [boxes(operands[0], operands[1:3])]
    tiled = [x for x in operands[:1] if isinstance(x, (Copy_Atom, CopyOp, TiledCopy, ThrCopy))]
    rest = operands[len(tiled) :]
    if not tiled and name != "copy_if" and len(operands) > 2:
        raise_first(operands[:1])
    atom = atom_of(tiled[0]) if tiled else None
    if isinstance(atom, CopyOp) and "auto" not in atom.instruction.words and atom.instruction.kind != ASYNC:
        check_policy(atom, name == "copy_if")
    if atom is not None and atom.instruction.kind.startswith("cp.async.bulk"):
        return [bulk(atom, rest[:2])]
    if atom is not None and atom.instruction.lanes:
        return [_tensor_memory(tiled[0], atom, rest[:2])]
    if name == "copy_if":
        rest = rest[1:]
    pair = _shares(rest[:2])
    return _copy(tiled[0] if tiled else None, pair[0], pair[1], name == "copy_if")


def _tensor_memory(copy: object, atom: Copy_Atom, pair: list[object]) -> Cost:
    """Loads and stores of tensor memory, each by a warp."""
    tensors = [x.of_type(ValueType(atom.value_type or str(atom.bits))) if isinstance(x, Tensor) else x for x in pair]
    held = next((x for x in tensors_in(tensors) if x.pointer.space != "tmem"), None)
    if held is None:
        raise first_error(pair) or AlgebraError("the registers of this copy are not known")
    layout = atom.layout_dst if atom.instruction.kind == "tcgen05.ld" else atom.layout_src
    count = max(1, size(held.layout) // size(get(layout, 1)))
    if len(tensors_in(tensors)) == len(tensors):
        count = verdict("copy", [atom, *tensors]).count
    tiled = tiled_of(copy)
    warps = size(get(tiled.layout_tv, 0)) // LANES if isinstance(tiled, TiledCopy) else 1
    return Cost(atom.name, size(held.layout), count * max(1, warps), why=(_BANKLESS,))


def _cooperative(operands: list[object]) -> list[Cost]:
    """The passes of a cooperative copy, whose threads and widest access come before its operands."""
    at = next((n for n, x in enumerate(operands) if isinstance(x, Tensor)), len(operands))
    pair, policy = _shares(operands[at : at + 2]), operands[at + 2] if len(operands) > at + 2 else None
    threads, most = (*operands[: max(0, at - 1)], None, None)[:2]
    raise_first((threads, most, policy))
    if any(x.starts for x in pair):
        raise AlgebraError("cooperative_copy takes whole tensors: this is a thread's part already")
    src, dst = pair = _typed(pair)
    found = cooperation(threads, most, src, dst)
    if not found.parts:
        raise AlgebraError(f"{threads} threads do not divide the {size(src.layout)} elements, which form no layout")
    kind = "" if policy is None else atom_of(policy).instruction.kind
    apart = (src.pointer.space, dst.pointer.space) == ("gmem", "smem") and found.bits in CP_ASYNC["ca"]
    like = "cp.async" if found.even and (kind == "cp.async" or (kind == ASYNC and apart)) else ""
    out = []
    for parts in found.parts:
        sides = []
        for n, (x, (layout, starts)) in enumerate(zip(pair, parts, strict=True)):
            part, order = replace(x, layout=layout, part=Starts(starts)), tuple(range(size(layout)))
            sides.append(cost_of(Side(part, order, found.bits // src.bits, None, n == 1, like), ()))
        out += _joined(sides) if like else sides
    return out


def _axpby(operands: list[object]) -> list[Cost]:
    """Loads of x and y and stores of y, element by element."""
    if len(operands) < 4:
        raise AlgebraError("axpby takes alpha, x, beta and y")
    x, y = _typed(_shares([operands[1], operands[3]]))
    out = []
    for side, store in ((x, False), (y, False), (y, True)):
        if side.pointer.space in ("smem", "gmem"):
            out.append(cost_of(Side(side, tuple(range(size(side.layout))), 1, None, store), ()))
    return out


def _elements(rounds: list[Tensor], store: bool) -> list[Cost]:
    """Loads or stores of single elements in all rounds of the loops that are counted with them, for each instruction."""
    out: dict[str, list[Cost]] = {}
    for x in rounds if rounds and rounds[0].part.summed else rounds[:1]:
        one = _element(x, store)
        out.setdefault(one.instruction, []).append(one)
    return [summed(several) for several in out.values()]


def _element(x: Tensor, store: bool) -> Cost:
    """A load or store of one element, or of those of a loop, which a compiler takes together where they are neighbors."""
    each = x.part.each
    name = x.part.name
    matrix = name if "matrix" in name else None
    written = cost_of(Side(x, tuple(range(size(x.layout))), each, matrix, store, "" if matrix else name), ())
    if matrix:
        return written
    if each > 1 or name:
        if int(written.instruction.rpartition(".")[2]) != each * x.bits:
            raise AlgebraError(f"{each} elements are not aligned to their size in every thread").but(name=x.pointer.base)
        return written
    found, align = merged(x, written, store), x.part.align
    if found is None and align != 0 and _has_neighbors(x):
        x = replace(x, part=replace(x.part, assumes=(*x.part.assumes, "no neighbors across unrolled rounds are loaded at once")))
        return cost_of(Side(x, tuple(range(size(x.layout))), 1, None, store), ())
    if found is None or align == 0:
        return written
    inner = next(iter(flat_modes(x.layout)))  # of the innermost loop
    wide = int(found.instruction.rpartition(".")[2])
    if align is None or 8 * align < wide or inner[1] != 1 or inner[0] * x.bits < wide:
        why = "how many neighbors a compiler takes at once is not known: "
        why += "they lie along an outer loop" if align and 8 * align >= wide else "it is not read how the buffer is aligned"
        raise AlgebraError(why).but(name=x.pointer.base)
    return found


def _has_neighbors(x: Tensor) -> bool:
    """Whether two elements of a thread lie one behind the other, aligned to both in all threads as far as that is known."""
    places = {int(n) for n in offsets(x.layout)} if x.swizzle is None and x.pointer.swizzle is None else set()
    begins = {(x.offset + start) % 2 for start in x.starts}
    ends = (0, 1) if x.part.align is None else [begin for begin in (0, 1) if begins == {begin}]
    return len(begins) == 1 and any((n - end) % 2 == 0 and n + 1 in places for n in places for end in ends)


def _shares(pair: list[Any]) -> list[Tensor]:
    raise_first(pair)
    if len(pair) < 2 or len(tensors_in(pair)) < len(pair):
        raise AlgebraError("this does not copy between two tensors that can be evaluated")
    return pair


def _typed(pair: list[Tensor], otherwise: str = "") -> list[Tensor]:
    """The tensors of a copy, of the type of the other side where their own is not known, or of what the copy is for."""
    kind = next((x.pointer.known for x in pair if x.pointer.known is not None), ValueType(otherwise) if otherwise else None)
    if kind is None:
        raise AlgebraError("the element type is unknown")
    return [x.of_type(kind) for x in pair]


def _copy(copy: Any, src: Tensor, dst: Tensor, predicate: bool = False) -> list[Cost]:
    atom = atom_of(copy) if copy is not None else None
    if src.pointer.space == dst.pointer.space == "rmem":
        return []
    if atom is not None:
        atom.instruction.check_reach(src.pointer.space, dst.pointer.space)
    tensors = src, dst = _typed([src, dst], (atom.value_type or str(atom.bits)) if isinstance(atom, Copy_Atom) else "")
    if size(src.layout) * max(1, len(src.starts), len(dst.starts)) > limit("accesses"):
        raise over("accesses", f"the statement touches {size(src.layout)} elements per thread")
    by = "" if atom is None else atom.instruction.kind
    alone = by == ASYNC
    names: list[str | None] = [None, None]
    order: tuple[int, ...] = ()
    reasons: tuple[str, ...] = ()
    if alone or (predicate and atom is None):  # element by element
        atoms = [1, 1]
        reasons = verdict("copy", [atom, *tensors]).reasons if alone else ()
    elif atom is None or by == "auto":
        if size(src.layout) != size(dst.layout):
            raise AlgebraError(f"the source has {size(src.layout)} elements per thread, the destination {size(dst.layout)}")
        operands = tensors if atom is None else [atom, *tensors]
        found = verdict("copy", operands)
        together = max(1, found.bits // tensors[1].bits)
        order, together = ordered(src, dst, together, _once(dst, 1) if copy is None else range(size(dst.layout)))
        atoms = [together, together]
        reasons = found.reasons
    else:
        found = verdict("copy", [atom, *tensors])
        names = [instruction_of(atom, False), instruction_of(atom, True)]
        atoms = [size(get(layout, 1)) for layout in (atom.layout_src, atom.layout_dst)]
        together = min(WIDEST, (found.common or 0) * tensors[1].bits)
        wider = f"{atom.name} moves {found.bits} bits of a thread, of which {together} lie together: a wider atom is possible"
        reasons = (wider,) if found.bits < together and "matrix" not in found.instruction else ()
        if not predicate and atoms[0] == atoms[1]:
            order = _once(dst, atoms[1])
    like = by == "cp.async" or (alone and async_bits(*tensors) > 0)
    out = []
    for n, side in enumerate(tensors):
        if side.pointer.space in ("smem", "gmem"):
            elements = order or tuple(range(size(side.layout)))
            one = Side(side, elements, atoms[n], names[n], n == 1, "cp.async" if like else "", fixed_name(atom))
            out.append(cost_of(one, reasons))
        elif side.pointer.space == "tmem":
            raise AlgebraError(f"{SPACES['tmem']} can only be copied by the atoms of make_tmem_copy")
    each = len(order) or min(size(src.layout), size(dst.layout))  # matrices of fewer than 32 rows have more lanes' addresses
    out = [replace(cost, elements=each) for cost in out]
    return _joined(out) if like and len(out) == 2 else out


def _once(dst: Tensor, each: int) -> tuple[int, ...]:
    """The elements that are copied, so many by an access: what stays at one place of the destination is once (AutoFilter)."""
    order, layout = tuple(range(size(dst.layout))), inner_of(dst.layout)
    if not is_static_shape(dst) or not isinstance(layout, Layout) or all(n == 1 or step != 0 for n, step in flat_modes(layout)):
        return order
    places, first = [*offsets(dst.layout)], dict[tuple[object, ...], tuple[int, ...]]()
    for n in range(0, len(order), each):
        one = order[n : n + each]
        first.setdefault(tuple(places[i] for i in one), one)
    return tuple(n for one in first.values() for n in one)


def _joined(pair: list[Cost]) -> list[Cost]:
    """cp.async is one instruction with a side in each memory."""
    read, written = pair
    assert read.side is not None
    assert written.side is not None
    steps = zip(read.side.instructions(), written.side.instructions(), strict=True)
    wavefronts = sum(async_wavefronts(*step) for step in steps)
    return [replace(written, wavefronts=wavefronts, sectors=read.sectors, ideal_sectors=read.ideal_sectors)]
