"""Where the operands of an instruction lie that no thread holds in registers: shared, tensor or global memory, of which CTA.

CuTe's traits give such an operand a layout, too: of all threads, or of the one that issues the instruction. What it means is not
in the layout, but in the record of the instruction.
"""

from __future__ import annotations

from collections.abc import Sequence

from cute_viz.figures.model import HOLE, Panel, Ruler
from cute_viz.figures.paint import borders
from cute_viz.values.instruction import Instruction
from cute_viz.values.types import SPACES

SHARED, TENSOR, GLOBAL = (SPACES[space] for space in ("smem", "tmem", "gmem"))
LINE, CHUNK = 128, 16  # bytes of a line of shared memory, and of a cell
THREAD, CTA = "T", "CTA"  # who owns the cells of a picture, as labels begin


def memory_of(op: Instruction, operand: str) -> str:
    """The memory of an operand "A", "B", "C" or of a side "S", "D"; "" for registers, and what threads address for themselves."""
    where = op.home(operand)
    return SPACES[where] if where != "rmem" and (op.issued or op.lanes or op.kind == "wgmma") else ""


def owner(op: Instruction) -> str:
    """Who the first mode of an instruction's layouts counts: threads, or the CTAs that issue it together."""
    return CTA if op.issued else THREAD


def per_chunk(bits: int) -> int:
    """How many elements the 16 bytes of a cell hold; one that is wider counts alone."""
    return max(1, CHUNK * 8 // bits)


def in_chunks(caption: str, cells: Sequence[tuple[str, int] | None], place: tuple[int, int], every: int = 0) -> Panel:
    """Shared memory in lines of 128 bytes, a cell for 16: of each its label and paint, None of what holds nothing.

    every: lines between two borders, 0 for none.
    """
    per = LINE // CHUNK
    lines = len(cells) // per
    return Panel(
        caption=caption,
        labels=tuple(["" if cell is None else cell[0] for cell in cells]),
        paints=tuple([HOLE if cell is None else cell[1] for cell in cells]),
        row_ruler=Ruler("byte", tuple([str(r * LINE) for r in range(lines)]), borders(lines, every)),
        col_ruler=Ruler("banks", tuple([f"{4 * c}-{4 * c + 3}" for c in range(per)])),
        data={"byte": tuple([n * CHUNK for n in range(len(cells))])},
        place=place,
    )
