"""Where the operands of an instruction lie that no thread holds in registers: shared, tensor or global memory, of which CTA.

CuTe's traits give such an operand a layout, too: of all threads, or of the one that issues the instruction. What it means is not
in the layout, but in the record of the instruction.
"""

from __future__ import annotations

from cute_viz.values.instruction import Instruction
from cute_viz.values.pointer import SPACES

SHARED, TENSOR, GLOBAL = (SPACES[space] for space in ("smem", "tmem", "gmem"))
THREAD, CTA = "T", "CTA"  # who owns the cells of a picture, as labels begin


def memory_of(op: Instruction, operand: str) -> str:
    """The memory of an operand "A", "B", "C" or of a side "S", "D"; "" for registers, and what threads address for themselves.

    >>> from cute_viz import parse
    >>> [memory_of(parse("SM90_64x8x16_F32F16F16_RS").instruction, x) for x in "ABC"]
    ['', 'shared memory', '']
    >>> [memory_of(parse(name).instruction, "D") for name in ("SM90_TMA_STORE{}", "SM90_U32x1_STSM_N{}")]
    ['global memory', '']
    """
    where = op.home(operand)
    return SPACES[where] if where != "rmem" and (op.issued or op.lanes or op.kind == "wgmma") else ""


def owner(op: Instruction) -> str:
    """Who the first mode of an instruction's layouts counts: threads, or the CTAs that issue it together.

    >>> owner(Instruction(kind="tcgen05.mma", memory=("smem", "smem", "tmem"))), owner(Instruction())
    ('CTA', 'T')
    """
    return CTA if op.issued else THREAD
