"""Copy instructions: the instruction of an atom's name (PTX ISA, "Data Movement and Conversion"), and the kernel that runs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cute_viz.check.job import Kernel
from cute_viz.check.kernels import kernel, registers, text
from cute_viz.values.instruction import Instruction

WARP = 32
IDLE = 0xFFFFFFFF  # the slot of a lane that takes no part


@dataclass(frozen=True, slots=True)
class Move:
    """A copy instruction.

    source, target: `memory` (a row of bytes at an address of the lane's own) or `registers`. ptx: the instruction, with its
    registers %s0 ... or %d0 ..., and the addresses %from and %to, %from32 and %to32 in shared memory. needs: version and target of
    the PTX. shared: which of the two sides is in shared memory (`source`, `target` or empty).
    """

    source: str
    target: str
    ptx: str
    needs: str = "7.0 70"
    shared: str = ""


_WORDS = {8: "b8 %w8", 16: "b16 %w16", 32: "b32 %w32", 64: "b64 %w0", 128: "v2.b64 {%w0,%w1}"}


def move(op: Instruction, bits: int) -> Move | str:
    """The instruction of an atom that moves `bits` a thread; or the reason why there is none here.

    >>> from cute_viz.spec.library import resolve
    >>> move(resolve("SM75_U16x8_LDSM_T").instruction, 128).ptx
    'ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%d0,%d1,%d2,%d3}, [%from32];'
    """
    if op.matrices:
        return _of_matrices(op)
    if op.kind == "movmatrix":
        return Move("registers", "registers", f"{op.ptx} %d0, %s0;", "7.8 75")
    if op.kind == "shfl":
        return Move("registers", "registers", text("shuffle.ptx", x=op.name[-1]))
    if op.kind == "cp.async":
        where = op.opcode.split(".")[2]
        if bits not in (32, 64, 128) or (where == "cg" and bits != 128):
            return f"cp.async.{where} does not copy {bits // 8} bytes"
        tail = f", {bits // 8}" if "zfill" in op.words else ""
        ptx = f"cp.async.{where}.shared.global [%to32], [%from], {bits // 8}{tail};\ncp.async.wait_all;"
        return Move("memory", "memory", ptx, "7.0 80", "target")
    if op.kind in ("copy", "auto"):
        if bits not in _WORDS:
            return f"the atom moves {bits} bits; the tensors decide how many accesses that is"
        word, _, regs = _WORDS[bits].partition(" ")
        return Move("memory", "memory", f"ld.global.{word} {regs}, [%from];\nst.global.{word} [%to], {regs};")
    if op.kind.startswith("cp.async.bulk"):
        return "box and swizzle are in a descriptor that the atom does not hold; the checks of GMMA layouts run TMA"
    return f"no kernel for {op.name or 'an atom without a name'}"


def _of_matrices(op: Instruction) -> Move | str:
    if "packed" in op.words:
        return "the gaps of packed elements in shared memory are not drawn"
    store, of_bytes = op.kind == "stmatrix", op.ptx.endswith(".b8")
    needs = "8.6 100a" if of_bytes else "7.8 90" if store else "7.0 75"
    if store:
        return Move("registers", "memory", f"{op.ptx} [%to32], {registers('s', op.matrices)};", needs, "target")
    # Of each 16 x 16 bytes CuTe pairs the low halves of both registers, and the high ones (cute/arch/copy_sm100.hpp).
    paired = "".join(
        f"\nprmt.b32 %x, %d{j}, %d{j + 1}, 0x5410; prmt.b32 %d{j + 1}, %d{j}, %d{j + 1}, 0x7632; mov.b32 %d{j}, %x;"
        for j in range(0, op.matrices if of_bytes else 0, 2)
    )
    return Move("memory", "registers", f"{op.ptx} {registers('d', op.matrices)}, [%from32];{paired}", needs, "source")


def kernel_of(made: Move, entry: str, wide: Sequence[int]) -> Kernel:
    """The kernel (first, sslots, tslots, out), one warp a block.

    first: the rows or registers of the source. sslots, tslots: the slot of each lane, IDLE for a lane that takes no part on that
    side. out: the rows by slot, or each lane's registers. wide: bits of one thread, source and target.

    >>> from cute_viz.spec.library import resolve
    >>> "movmatrix" in kernel_of(move(resolve("SM75_U32x1_MOVM_T").instruction, 32), "k", (32, 32)).body
    True
    """
    sides = {f"{side}_memory": what == "memory" for side, what in (("from", made.source), ("to", made.target))}
    alone = all(sides.values())  # per lane; the others are of the whole warp
    sides |= {"from_shared": made.shared == "source", "to_shared": made.shared == "target"}
    s, d = (-(-bits // 32) for bits in wide)
    given, row = (bits // 8 for bits in wide)
    counts = {"s": s, "d": d, "given": given, "row": row, "words": -(-row // 4)}
    return kernel("copy.ptx", entry, made.needs, title=made.ptx.splitlines()[0], ptx=made.ptx, alone=alone, **sides, **counts)
