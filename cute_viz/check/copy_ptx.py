"""Copy instructions: the instruction of an atom's name (PTX ISA, "Data Movement and Conversion"), and the kernel that runs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cute_viz.check.job import Kernel
from cute_viz.values.instruction import Instruction

WARP = 32
IDLE = 0xFFFFFFFF  # the slot of a lane that takes no part


@dataclass(frozen=True, slots=True)
class Move:
    """A copy instruction.

    source, target: `memory` (a row of bytes at an address of the lane's own) or `registers`. ptx: with {{regs}} for the
    registers, {from} and {to} for address registers. arch, version: what the PTX needs. shared: which of the two sides is in
    shared memory (`source`, `target` or empty). exact: it needs that very architecture (sm_100a).
    """

    source: str
    target: str
    ptx: str
    arch: int
    shared: str = ""
    version: tuple[int, int] = (7, 0)
    exact: bool = False


_SHUFFLE = """shfl.sync.bfly.b32 %x, %s0, {x}, 31, -1;
shfl.sync.bfly.b32 %y, %s1, {x}, 31, -1;
and.b32 %t, %lane, {x}; setp.eq.u32 %even, %t, 0;
selp.b32 %d0, %s0, %y, %even; selp.b32 %d1, %x, %s1, %even;"""
_WORDS = {8: "b8", 16: "b16", 32: "b32", 64: "b64", 128: "v2.b64"}


def move(op: Instruction, bits: int) -> Move | str:
    """The instruction of an atom that moves `bits` a thread; or the reason why there is none here.

    >>> from cute_viz.spec.library import resolve
    >>> move(resolve("SM75_U16x8_LDSM_T").instruction, 128).ptx
    'ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {{regs}}, [{from}];'
    """
    if op.matrices:
        return _of_matrices(op)
    if op.kind == "movmatrix":
        return Move("registers", "registers", f"{op.ptx} %d0, %s0;", 75, version=(7, 8))
    if op.kind == "shfl":
        return Move("registers", "registers", _SHUFFLE.replace("{x}", op.name[-1]), 70)
    if op.kind == "cp.async":
        where = op.opcode.split(".")[2]
        if bits not in (32, 64, 128) or (where == "cg" and bits != 128):
            return f"cp.async.{where} does not copy {bits // 8} bytes"
        tail = f", {bits // 8}" if "zfill" in op.words else ""
        text = f"cp.async.{where}.shared.global [{{to}}], [{{from}}], {bits // 8}{tail};\ncp.async.wait_all;"
        return Move("memory", "memory", text, 80, "target")
    if op.kind in ("copy", "auto"):
        if bits not in _WORDS:
            return f"the atom moves {bits} bits; the tensors decide how many accesses that is"
        word = _WORDS[bits]
        regs = {64: "%w0", 128: "{%w0,%w1}"}.get(bits, f"%w{bits}")
        return Move("memory", "memory", f"ld.global.{word} {regs}, [{{from}}];\nst.global.{word} [{{to}}], {regs};", 70)
    if op.kind.startswith("cp.async.bulk"):
        return "box and swizzle are in a descriptor that the atom does not hold; the checks of GMMA layouts run TMA"
    return f"no kernel for {op.name or 'an atom without a name'}"


def _of_matrices(op: Instruction) -> Move | str:
    if "packed" in op.words:
        return "the gaps of packed elements in shared memory are not drawn"
    store, of_bytes, opcode = op.kind == "stmatrix", op.ptx.endswith(".b8"), op.ptx
    arch, version, exact = (100, (8, 6), True) if of_bytes else (90, (7, 8), False) if store else (75, (7, 0), False)
    if not store:
        # Of each 16 x 16 bytes CuTe pairs the low halves of both registers, and the high ones (cute/arch/copy_sm100.hpp).
        pairs = range(0, op.matrices if of_bytes else 0, 2)
        paired = "".join(
            f"\nprmt.b32 %x, %d{j}, %d{j + 1}, 0x5410; prmt.b32 %d{j + 1}, %d{j}, %d{j + 1}, 0x7632; mov.b32 %d{j}, %x;"
            for j in pairs
        )
        return Move("memory", "registers", f"{opcode} {{{{regs}}}}, [{{from}}];{paired}", arch, "source", version, exact)
    return Move("registers", "memory", f"{opcode} [{{to}}], {{{{regs}}}};", arch, "target", version, exact)


def kernel(made: Move, entry: str, wide: Sequence[int]) -> Kernel:
    """The kernel (first, sslots, tslots, out), one warp a block.

    first: the rows or registers of the source. sslots, tslots: the slot of each lane, IDLE for a lane that takes no part on that
    side. out: the rows by slot, or each lane's registers. wide: bits of one thread, source and target.

    >>> from cute_viz.spec.library import resolve
    >>> "movmatrix" in kernel(move(resolve("SM75_U32x1_MOVM_T").instruction, 32), "k", (32, 32)).body
    True
    """
    lines = []
    regs = [-(-w // 32) for w in wide]
    lines.append("mad.lo.u32 %k, %block, 32, %lane;")
    lines.append("mul.wide.u32 %at, %k, 4; ld.param.u64 %p, [sslots]; add.u64 %p, %p, %at; ld.global.u32 %ss, [%p];")
    lines.append("ld.param.u64 %p, [tslots]; add.u64 %p, %p, %at; ld.global.u32 %ts, [%p];")
    active = "%ss" if made.source == "memory" else "%ts"
    lines.append(f"setp.ne.u32 %on, {active}, {IDLE};")
    nbytes = [w // 8 for w in wide]
    if made.source == "memory":
        lines.append(f"mul.wide.u32 %at, %k, {nbytes[0]}; ld.param.u64 %first, [first]; add.u64 %at, %first, %at;")
        if made.shared == "source":  # rows of 16 bytes: each lane puts its own into its slot
            lines += [
                "mov.u32 %base, smem; mul.lo.u32 %from32, %ss, 16; add.u32 %from32, %from32, %base;",
                "ld.global.v2.b64 {%w0,%w1}, [%at]; @%on st.shared.v2.b64 [%from32], {%w0,%w1};",
                "bar.sync 0;",
            ]
            where = "%from32"
        else:  # the image in global memory is laid out slot by slot
            lines.append(f"mul.lo.u32 %t, %block, {WARP}; add.u32 %t, %t, %ss; mul.wide.u32 %at, %t, {nbytes[0]};")
            lines.append("add.u64 %from, %first, %at;")
            where = "%from"
    else:
        lines.append(f"mul.wide.u32 %at, %k, {4 * regs[0]}; ld.param.u64 %first, [first]; add.u64 %at, %first, %at;")
        lines += [f"ld.global.b32 %s{j}, [%at+{4 * j}];" for j in range(regs[0])]
        where = ""
    to = ""
    row = nbytes[1]
    if made.target == "memory":
        lines.append(f"ld.param.u64 %out, [out]; mul.lo.u32 %t, %block, {WARP};")
        if made.shared == "target":
            lines += [
                f"mov.u32 %base, smem; mul.lo.u32 %to32, %lane, {row}; add.u32 %to32, %to32, %base;",
                *(f"st.shared.b32 [%to32+{j}], 0xCDCDCDCD;" for j in range(0, row, 4)),
                f"bar.sync 0; mul.lo.u32 %to32, %ts, {row}; add.u32 %to32, %to32, %base;",
            ]
            to = "%to32"
        else:
            lines.append(f"add.u32 %t, %t, %ts; mul.wide.u32 %at, %t, {row}; add.u64 %to, %out, %at;")
            to = "%to"
    holder = "d" if made.target == "registers" else "s"
    names = ",".join(f"%{holder}{j}" for j in range(regs[1] if holder == "d" else regs[0]))
    text = made.ptx.replace("{{regs}}", "{" + names + "}").replace("{from}", where).replace("{to}", to)
    alone = "memory" == made.source == made.target  # per lane; the others are of the whole warp
    if alone:
        lines.append("@!%on bra SKIP;")
    lines.append(text)
    if alone:
        lines.append("SKIP:")
    if made.target == "registers":
        lines.append(f"mul.wide.u32 %at, %k, {4 * regs[1]}; ld.param.u64 %out, [out]; add.u64 %out, %out, %at;")
        lines += [f"st.global.b32 [%out+{4 * j}], %d{j};" for j in range(regs[1])]
    elif made.shared == "target":  # each lane brings the slot of its own number back
        lines += [
            f"bar.sync 0; mul.lo.u32 %to32, %lane, {row}; add.u32 %to32, %to32, %base;",
            f"mul.wide.u32 %at, %k, {row}; add.u64 %out, %out, %at;",
        ]
        for j in range(0, row, 4):
            lines.append(f"ld.shared.b32 %t, [%to32+{j}]; st.global.b32 [%out+{j}], %t;")
    body = "\n".join(lines)
    return Kernel(
        entry,
        f"""// {made.ptx.splitlines()[0]}
.visible .entry {entry}(.param .u64 first, .param .u64 sslots, .param .u64 tslots, .param .u64 out)
{{
.shared .align 128 .b8 smem[{WARP * 16}];
.reg .pred %on, %even;
.reg .b32 %lane, %block, %k, %t, %x, %y, %ss, %ts, %base, %from32, %to32, %s<{regs[0]}>, %d<{regs[1]}>;
.reg .b64 %at, %p, %first, %out, %from, %to, %w0, %w1;
.reg .b16 %w8, %w16;
.reg .b32 %w32;
mov.u32 %lane, %tid.x; mov.u32 %block, %ctaid.x;
{body}
ret;
}}""",
        made.version,
        made.arch,
        made.exact,
    )
