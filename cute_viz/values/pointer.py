"""Where a tensor begins: the one pointer of all readers, each of whose parts is known or not.

Source: cute/pointer.hpp, cute/pointer_base.hpp, cute/pointer_swizzle.hpp.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass
from cute_viz.values.types import ValueType, bits_of, sparse

COUNTS = "counting"  # the space of a pointer to integers that count from its offset on: of an identity tensor of one mode
SPACES = {"smem": "shared memory", "gmem": "global memory", "tmem": "tensor memory", "rmem": "registers"}


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where a tensor begins.

    space: a key of SPACES, or COUNTS; "" where nobody says it. type: of the elements, by its name or its width too, None where it
    is not known; of a reader of a language whatever the pointer points to. address: in bytes, of the buffer that it points into,
    of tensor memory lane << 16 | column; None where the text does not say it. swizzle: of the byte address, an algebra.Swizzle, or
    None. align: bytes to whose multiples the buffer is aligned, as far as that was said. base: the buffer that it points into,
    which two views of one share; "" where it is not known. offset: in elements, behind the beginning of that buffer. placed: False
    where the offset is that of the first of several places: a run-time index that nobody knows says which. name: the tensor that
    it was made for, as the source calls it. part: of a tensor's iterator how threads divide that tensor.
    """

    marked: ClassVar[tuple[str, ...]] = ("offset",)
    space: str = ""
    type: Any = None
    address: int | None = None
    swizzle: Any = None
    align: int | None = None
    base: str = ""
    offset: Any = 0
    placed: bool = True
    name: str = ""
    part: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.type, str):
            object.__setattr__(self, "type", ValueType(self.type) if self.type else None)

    @property
    def known(self) -> ValueType | None:
        """The type of its elements; None where it is not known, and of a pointer to anything else."""
        return self.type if isinstance(self.type, ValueType) else None

    @property
    def bits(self) -> int:
        """The width of an element in bits. Raises: AlgebraError where the type is not known."""
        if (kind := self.known) is None:
            raise AlgebraError(
                "the element type is unknown", hint="give it with make_tensor(make_smem_ptr<half_t>(p), layout) or `type=`"
            )
        return kind.bits

    @property
    def per_word(self) -> int:
        """How many elements 32 bits hold: those of a sparse type count as the elements that they stand for. Raises: AlgebraError
        for wider ones, which tensor memory does not hold, and where the type is not known."""
        packed = sparse(self.type)
        if not packed and self.bits > 32:
            raise AlgebraError(f"tensor memory holds elements of 32 bits at most, not of {self.bits}")
        return 32 * packed[0] // bits_of(packed[1]) if packed else 32 // self.bits

    @property
    def element(self) -> str:
        """The element type by its short name, `f16`; a width alone as `16-bit`."""
        kind = self.known
        return "?" if kind is None else "metadata" if kind.sparsity > 1 and self.space == "tmem" else kind.short

    def moved(self, elements: object, known: bool = True) -> Pointer:
        """The pointer so many elements further on; or at such places, of which it is not known which."""
        begins = type(self.offset) is int and self.offset == 0  # then the mark of a static offset stays
        offset = elements if begins else self.offset + elements
        if not known:
            return replace(self, offset=offset, placed=False, address=None)
        return replace(self, offset=offset)

    def of(self, kind: ValueType) -> Pointer:
        """The pointer as one to elements of another type."""
        if self.offset and self.known is not None:
            before = self.offset * self.bits
            return replace(self, type=kind, offset=before // kind.bits)
        return replace(self, type=kind)

    def __str__(self) -> str:
        where = "unset" if self.address is None else f"0x{self.address:x}"
        return f"{self.space}_ptr[{self.bits}b]({where})"
