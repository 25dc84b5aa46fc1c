"""An MMA of a warp group or of tensor memory with its operands where they lie: shared memory, registers, tensor memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cute_viz.algebra.common import refuse
from cute_viz.algebra.descriptor import DescriptorTensor, SmemDescriptor
from cute_viz.algebra.inttuple import modes
from cute_viz.algebra.mma import TiledMMA, as_tiled_mma, partition
from cute_viz.algebra.tensor import Tensor, viewed
from cute_viz.algebra.umma import make_fragment
from cute_viz.algebra.views import get_slice
from cute_viz.display import Shown


@dataclass(frozen=True, slots=True)
class MmaOperands(Shown):
    """An MMA, and the descriptors of A and B where they are in shared memory and known; None of what is not."""

    tiling: ClassVar[str] = "operands"
    mma: TiledMMA
    a: DescriptorTensor | SmemDescriptor | None = None
    b: DescriptorTensor | SmemDescriptor | None = None

    def __str__(self) -> str:
        parts = [f"{x} {operand.tensor.layout}" for x, operand in (("A", self.a), ("B", self.b)) if operand is not None]
        return "; ".join([self.mma.atom.name, *parts])


def mma_operands(mma: object, a: object = None, b: object = None) -> MmaOperands:
    """An MMA with its operands. The name is ours.

    a, b: tensors in shared memory, tiles of the operands or partitioned ones, or their fragments of descriptors; 0 for none.
    Raises: AlgebraError for an MMA that reads no shared memory, and for an operand without a descriptor, in CuTe's words.

    >>> text = "s = make_tensor(make_smem_ptr<half_t>(0), tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (64,64))); "
    >>> made = parse(text + "mma_operands(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>{}, s, s)")
    >>> str(made.a), made.b.first.major
    ('(1,1,4):(0,0,2)', 'K')
    """
    tiled = as_tiled_mma(mma)
    if not tiled.atom.instruction.described():
        refuse(
            "mma_operands",
            (mma,),
            "its operands are in registers",
            hint="SM90_64x64x16_F32F16F16_SS<...>, SM100_MMA_F16BF16_SS<...>",
        )
    return MmaOperands(tiled, _described(tiled, "A", a), _described(tiled, "B", b))


def _described(mma: TiledMMA, operand: str, x: object) -> DescriptorTensor | SmemDescriptor | None:
    if x is None or (isinstance(x, int) and x == 0):
        return None
    if isinstance(x, (DescriptorTensor, SmemDescriptor)):
        return x
    if not mma.atom.instruction.described(operand):
        refuse("mma_operands", (x,), f"{operand} of {mma.atom.name} is not in shared memory", hint="0 in its place leaves it out")
    if not isinstance(x, Tensor):
        refuse(
            "mma_operands", (x,), f"{operand} is not a tensor in shared memory", hint="make_tensor(make_smem_ptr<half_t>(0), ...)"
        )
    if len(modes(x.layout.shape)) == 2:
        x = viewed(x, partition(get_slice(mma, 0), operand, x.layout))
    made: DescriptorTensor = make_fragment(operand, mma, x)
    return made
