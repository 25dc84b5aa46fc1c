"""Copy instructions: the instruction of an atom's name (PTX ISA, "Data Movement and Conversion"), and the kernel that runs it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cute_viz.algebra.matrix_op import MatrixOp, matrix_op
from cute_viz.check.job import Kernel
from cute_viz.check.kernels import kernel, registers, text

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


def matrix_opcode(access: str) -> str:
    """The opcode of ldmatrix or stmatrix, from the short name that the analysis of banks has for it.

    >>> matrix_opcode("ldmatrix.x4.trans")
    'ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16'
    """
    which, _, form = access.partition(".")
    return f"{which}.sync.aligned.m8n8.{form}.shared.b16"


def byte_opcode(matrix: MatrixOp) -> str:
    """The opcode of ldmatrix or stmatrix of 8-bit elements, or of 4 and 6 bits that ldmatrix spreads to 8.

    >>> byte_opcode(MatrixOp(100, True, 2, transposed=True, bits=8)), byte_opcode(MatrixOp(100, False, 1, bits=6))
    ('stmatrix.sync.aligned.m16n8.x2.trans.shared.b8', 'ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32')
    """
    if matrix.bits < 8:
        packed = {4: "b4x16_p64", 6: "b6x16_p32"}[matrix.bits]
        return f"ldmatrix.sync.aligned.m8n16.x{matrix.matrices}.shared.b8x16.{packed}"
    which, shape = ("stmatrix", "m16n8") if matrix.store else ("ldmatrix", "m16n16")
    return f"{which}.sync.aligned.{shape}.x{matrix.matrices}.trans.shared.b8"


def move(name: str, bits: int) -> Move | str:
    """The instruction of an atom's name that moves `bits` a thread; or the reason why there is none here.

    >>> move("SM75_U16x8_LDSM_T", 128).ptx
    'ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%d0,%d1,%d2,%d3}, [%from32];'
    """
    name = name.partition("<")[0]
    if matrix := matrix_op(name):
        return _of_matrices(matrix)
    if name == "SM75_U32x1_MOVM_T":
        return Move("registers", "registers", "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %s0;", "7.8 75")
    if match := re.fullmatch(r"SM50_Shuffle_U32_2x2Trans_XOR([14])", name):
        return Move("registers", "registers", text("shuffle.ptx", x=match[1]))
    if match := re.fullmatch(r"SM80_CP_ASYNC_CACHE(ALWAYS|GLOBAL)(_ZFILL)?", name):
        where = "cg" if match[1] == "GLOBAL" else "ca"
        if bits not in (32, 64, 128) or (where == "cg" and bits != 128):
            return f"cp.async.{where} does not copy {bits // 8} bytes"
        tail = f", {bits // 8}" if match[2] else ""
        ptx = f"cp.async.{where}.shared.global [%to32], [%from], {bits // 8}{tail};\ncp.async.wait_all;"
        return Move("memory", "memory", ptx, "7.0 80", "target")
    if name in ("UniversalCopy", "DefaultCopy", "AutoVectorizingCopy", "AutoVectorizingCopyWithAssumedAlignment"):
        if bits not in _WORDS:
            return f"the atom moves {bits} bits; the tensors decide how many accesses that is"
        word, _, regs = _WORDS[bits].partition(" ")
        return Move("memory", "memory", f"ld.global.{word} {regs}, [%from];\nst.global.{word} [%to], {regs};")
    if match := re.fullmatch(r"SM(\d+)_(?:TMA|BULK).*", name):
        return "box and swizzle are in a descriptor that the atom does not hold; the checks of GMMA layouts run TMA"
    return f"no kernel for {name or 'an atom without a name'}"


def _of_matrices(matrix: MatrixOp) -> Move | str:
    if matrix.bits < 8:
        return "the gaps of packed elements in shared memory are not drawn"
    needs = "8.6 100a" if matrix.bits == 8 else "7.8 90" if matrix.store else "7.0 75"
    opcode = byte_opcode(matrix) if matrix.bits == 8 else matrix_opcode(matrix.instruction)
    if matrix.store:
        return Move("registers", "memory", f"{opcode} [%to32], {registers('s', matrix.matrices)};", needs, "target")
    # Of each 16 x 16 bytes CuTe pairs the low halves of both registers, and the high ones (cute/arch/copy_sm100.hpp).
    count = matrix.matrices * 16 // matrix.bits
    paired = "".join(
        f"\nprmt.b32 %x, %d{j}, %d{j + 1}, 0x5410; prmt.b32 %d{j + 1}, %d{j}, %d{j + 1}, 0x7632; mov.b32 %d{j}, %x;"
        for j in range(0, count if matrix.bits == 8 else 0, 2)
    )
    return Move("memory", "registers", f"{opcode} {registers('d', count)}, [%from32];{paired}", needs, "source")


def kernel_of(made: Move, entry: str, wide: Sequence[int]) -> Kernel:
    """The kernel (first, sslots, tslots, out), one warp a block.

    first: the rows or registers of the source. sslots, tslots: the slot of each lane, IDLE for a lane that takes no part on that
    side. out: the rows by slot, or each lane's registers. wide: bits of one thread, source and target.

    >>> "movmatrix" in kernel_of(move("SM75_U32x1_MOVM_T", 32), "k", (32, 32)).body
    True
    """
    sides = {f"{side}_memory": what == "memory" for side, what in (("from", made.source), ("to", made.target))}
    alone = all(sides.values())  # per lane; the others are of the whole warp
    sides |= {"from_shared": made.shared == "source", "to_shared": made.shared == "target"}
    s, d = (-(-bits // 32) for bits in wide)
    given, row = (bits // 8 for bits in wide)
    counts = {"s": s, "d": d, "given": given, "row": row, "words": -(-row // 4)}
    return kernel("copy.ptx", entry, made.needs, title=made.ptx.splitlines()[0], ptx=made.ptx, alone=alone, **sides, **counts)
