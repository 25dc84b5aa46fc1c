"""What a row of a report means, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cute_viz.algebra.descriptor import DescriptorTensor, behind
from cute_viz.algebra.static import clear_static
from cute_viz.algebra.tensor import Tensor
from cute_viz.analysis.cost import meeting
from cute_viz.spelling import count

if TYPE_CHECKING:
    from cute_viz.engine.kernel_rows import Access


def why(row: Access) -> str:
    """One sentence on what makes an access cost more than its ideal."""
    cost = row.cost
    if row.boxed:
        return cost.why[-1]
    if cost.side is None:
        return cost.why[0] if cost.why else ""
    if cost.wavefronts is None:
        return _sectors(row)
    gathered = cost.instruction.startswith("cp.async") and cost.sectors is not None  # its addresses in global memory are known
    if gathered and sum(x.wavefronts for x in cost.side.instructions()) < cost.wavefronts:
        return "The bytes of one wavefront come from several lines of global memory, which are read one after the other."
    return meeting(cost.side.instructions(), cost.side.store, cost.ways)


def plainly(row: Access) -> list[str]:
    """What a row means of which no thread gives an address: its instructions, boxes and bytes, why, and what it reaches and how."""
    cost = row.cost
    head = f"{count(cost.instructions, 'instruction')} of {cost.instruction}"
    near = next((x for x in row.tensors if isinstance(x, Tensor) and x.pointer.space == "smem"), None)
    if cost.boxes is not None and near is not None:
        size = cost.elements * near.bits // 8
        one = cost.instructions == 1
        head += f" copies a box of {size:,} bytes" if one else f" copy {size:,} bytes, in boxes of {size // cost.instructions:,}"
        head += f"; {cost.boxes:,} would do" * row.boxed
    where = {"smem": "shared memory", "gmem": "global memory", "tmem": "tensor memory", "rmem": "registers"}
    said = [f"{head}.", *(f"{words[0].upper()}{words[1:].rstrip('.')}." for words in cost.why)]
    for x in row.tensors:
        tensor = behind(x)
        if isinstance(tensor, Tensor):
            way = ", by descriptors" * isinstance(x, DescriptorTensor)
            name, space = tensor.pointer.name or "an operand", where.get(tensor.pointer.space, tensor.pointer.space)
            said.append(f"{name}: {tensor.pointer.element} in {space}{way}, {clear_static(tensor.layout)}")
    return said


def _sectors(row: Access) -> str:
    side = row.cost.side
    assert side is not None
    worst = max(side.instructions(), key=lambda x: len({begin // 32 for begin in x.begins}) / max(1, x.width))
    steps = sorted({b - a for a, b in zip(worst.begins, worst.begins[1:], strict=False)}, key=abs)
    apart = next((step for step in steps if abs(step) > worst.width), steps[-1] if steps else 0)
    took = (
        f"each thread {'stores' if side.store else 'loads'} {worst.width} bytes, and neighbors are up to {abs(apart):,} bytes apart"
    )
    half = f"A sector has 32 bytes, of which {32 * (row.cost.ideal_sectors or 0) // max(1, row.cost.sectors or 1)} are used"
    return f"{half}: {took}."
