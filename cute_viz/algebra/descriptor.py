"""Matrix descriptors: how wgmma and tcgen05.mma find an operand in shared memory (make_gmma_desc, make_umma_desc).

Sources: cute/atom/mma_traits_sm90_gmma.hpp, mma_traits_sm100.hpp; cute/arch/mma_sm90_desc.hpp, mma_sm100_desc.hpp; PTX ISA, "Matrix
Descriptor" of wgmma, "Shared memory descriptor" of tcgen05.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, NoReturn

from cute_viz.algebra.divide import logical_divide
from cute_viz.algebra.inttuple import Sliced, X, has_underscore, modes, product, show, slice_begin, tuple_rank
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.modes import get
from cute_viz.algebra.recast import upcast
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor, as_tensor
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass, rows

UNIT = 16  # bytes: what offsets and addresses of a descriptor count


class Field(NamedTuple):
    """One field of a descriptor: its name, its first bit, its width, and what a 1 of it means in bytes, or 0."""

    name: str
    bit: int
    width: int
    unit: int = 0


_COMMON = (
    Field("start_address", 0, 14, UNIT),
    Field("leading_byte_offset", 16, 14, UNIT),
    Field("stride_byte_offset", 32, 14, UNIT),
)
FIELDS = {
    "GMMA": (*_COMMON, Field("base_offset", 49, 3), Field("layout_type", 62, 2)),
    "UMMA": (*_COMMON, Field("version", 46, 2), Field("base_offset", 49, 3), Field("lbo_mode", 52, 1), Field("layout_type", 61, 3)),
}
MODES: dict[str, dict[tuple[int, int, int], tuple[int, str, int, int]]] = {"GMMA": {}, "UMMA": {}}  # as layout_types.txt says
for _of, *_numbers, _word, _wide, _deep in rows(__file__, "layout_types.txt"):
    _b, _m, _s, _number = map(int, _numbers)
    MODES[_of][_b, _m, _s] = (_number, _word, int(_wide), int(_deep))
MMAS = {"GMMA": "wgmma", "UMMA": "tcgen05.mma"}


@dataclass(frozen=True, slots=True)
class SmemDescriptor(Shown):
    """The 64 bits that describe an operand in shared memory, and the tensor that they were made of.

    kind: "GMMA" (wgmma, SM90) or "UMMA" (tcgen05.mma, SM100). major: "K" or "MN". start_address, leading_byte_offset and
    stride_byte_offset are in units of 16 bytes, as the fields have them. mode: the name of the layout type.
    """

    tiling: ClassVar[str] = "descriptor"
    kind: str
    major: str
    start_address: int
    leading_byte_offset: int
    stride_byte_offset: int
    mode: str
    tensor: Tensor

    @property
    def values(self) -> dict[str, int]:
        """The fields by name, as they are in the descriptor; an offset that is too large loses its high bits there."""
        number = next(row[0] for row in MODES[self.kind].values() if row[1] == self.mode)
        known = {
            "start_address": self.start_address,
            "leading_byte_offset": self.leading_byte_offset,
            "stride_byte_offset": self.stride_byte_offset,
            "version": 1,
            "layout_type": number,
        }
        return {field.name: known.get(field.name, 0) & ((1 << field.width) - 1) for field in FIELDS[self.kind]}

    @property
    def desc(self) -> int:
        """The 64 bits as an integer."""
        return sum(value << field.bit for field, value in zip(FIELDS[self.kind], self.values.values(), strict=True))

    @property
    def bits(self) -> int:
        """The width of an element."""
        return self.tensor.bits

    @property
    def refused(self) -> str:
        """Why no MMA takes such an operand, of which CuTe makes a descriptor nevertheless; "" where one does.

        Sources: PTX ISA, wgmma.mma_async (imm-trans), and "Valid combinations of type-size, major-ness and swizzling" of tcgen05.
        """
        if self.tensor.address % UNIT:
            return f"it begins at byte {self.tensor.address}, not a multiple of {UNIT}"
        if self.major == "K":
            return ""
        if self.kind == "GMMA":
            return "" if self.bits == 16 else "MN-major is for elements of 16 bits"
        base32 = self.mode == "SWIZZLE_128B_BASE32B"
        if self.bits == 32 and not base32:
            return "MN-major elements of 32 bits have only SWIZZLE_128B_BASE32B, Layout_MN_SW128_32B_Atom"
        return "SWIZZLE_128B_BASE32B is for MN-major elements of 32 bits" if base32 and self.bits != 32 else ""

    def __str__(self) -> str:
        return f"0x{self.desc:016x}"


@dataclass(frozen=True, slots=True)
class DescriptorTensor(Shown):
    """A fragment whose elements are descriptors: the first one, and a layout of how far the others start, in 16-byte units."""

    tiling: ClassVar[str] = "descriptor"
    marked: ClassVar[tuple[str, ...]] = ("layout",)
    first: SmemDescriptor
    layout: Layout
    tensor: Tensor
    kept: tuple[int, ...] | None = None  # which modes of the tensor a slice has left, if it is one

    def __call__(self, *coord: Any) -> Any:
        """The descriptor at a coordinate; with `_` in it, the fragment that is left, which begins at its own first descriptor."""
        crd = coord[0] if len(coord) == 1 else coord
        found = self.layout(crd)
        units = int(self.layout(slice_begin(crd)))
        tensor = replace(self.first.tensor, pointer=self.first.tensor.pointer.moved(units * 128 // self.first.bits))
        first = replace(self.first, start_address=self.first.start_address + units, tensor=tensor)
        if not isinstance(found, Layout):
            return first
        modes_of = range(tuple_rank(self.tensor.layout.shape)) if self.kept is None else self.kept
        cut = dict(zip(modes_of, crd, strict=True)) if isinstance(crd, tuple) else {}
        kept = tuple(n for n in modes_of if has_underscore(cut.get(n, X)))
        return DescriptorTensor(first, found, _narrowed(self.tensor, cut), kept)

    @property
    def blocks(self) -> Layout:
        """How far the descriptors of (MMA,MMA_M,MMA_K,...) start, in 16-byte units, with the modes that a slice has cut, too."""
        return _units(self.tensor)

    def unplaced(self) -> DescriptorTensor:
        """The fragment where it is not known at which address it begins."""
        tensor, part = (replace(x, pointer=replace(x.pointer, address=None, offset=0)) for x in (self.tensor, self.first.tensor))
        return replace(self, first=replace(self.first, start_address=0, tensor=part), tensor=tensor)

    def __str__(self) -> str:
        return str(self.layout)


@dataclass(frozen=True, slots=True)
class DescriptorWord(Shown):
    """The 64 bits of a descriptor that a debugger or a log shows, without the operand that it describes. Raises: AlgebraError
    for a layout type that neither wgmma nor tcgen05 has."""

    desc: int

    @property
    def kind(self) -> str:
        """UMMA where the version field is 1, which is so on Blackwell; else GMMA."""
        return "UMMA" if (self.desc >> 46) & 3 == 1 else "GMMA"

    @property
    def values(self) -> dict[str, int]:
        """The fields by name."""
        return {field.name: (self.desc >> field.bit) & ((1 << field.width) - 1) for field in FIELDS[self.kind]}

    @property
    def mode(self) -> str:
        """The name of the layout type."""
        number = self.values["layout_type"]
        found = next((row[1] for row in MODES[self.kind].values() if row[0] == number), None)
        if found is None:
            raise AlgebraError(f"{self} is not a descriptor: {MMAS[self.kind]} has no layout type {number}")
        return found

    def __str__(self) -> str:
        return f"0x{self.desc:016x}"


def make_gmma_desc(tensor: object, major: object = "K") -> SmemDescriptor:
    """The descriptor of wgmma for an operand in shared memory: rank 2, (M or N) x K of one instruction.

    Raises: AlgebraError in CuTe's words, for a swizzle that the hardware lacks, or extents or strides of no canonical layout.

    >>> d = parse("make_gmma_desc<GMMA::Major::MN>(tile_to_shape(GMMA::Layout_MN_SW64_Atom<half_t>{}, (128,16)))")
    >>> d.mode, d.leading_byte_offset, d.stride_byte_offset
    ('B64', 32, 128)
    """
    return _make("GMMA", tensor, major)


def make_umma_desc(tensor: object, major: object = "K") -> SmemDescriptor:
    """The descriptor of tcgen05.mma for an operand in shared memory. Raises: as make_gmma_desc, but K may be longer.

    >>> str(parse("make_umma_desc<UMMA::Major::K>(tile_to_shape(UMMA::Layout_K_SW128_Atom<half_t>{}, (128,64)))"))
    '0x4000404000010000'
    """
    return _make("UMMA", tensor, major)


def major_of(word: object) -> str:
    """A major mode as a text names it: `GMMA::Major::K`, `UMMA::Major::MN`, `Major::K`, `K`."""
    plain = str(word).replace(".", "::").rpartition("::")[2]
    if plain not in ("K", "MN"):
        raise AlgebraError(f"{word} is not a major mode", hint="GMMA::Major::K or GMMA::Major::MN")
    return plain


def _make(kind: str, operand: object, word: object) -> SmemDescriptor:
    tensor, major = as_tensor(operand), major_of(word)

    def no(condition: str) -> NoReturn:
        raise AlgebraError(f"make_{kind.lower()}_desc<{major}>({tensor}): {condition}", hint=_remedy(condition, tensor))

    if tensor.pointer.space != "smem":
        no(f"Expected smem. {kind} Descriptors can only be constructed on smem.")
    if tuple_rank(tensor.layout.shape) != 2:
        no(f"{kind} Descriptors can only be constructed on rank-2 tensors.")
    units = upcast(tensor.layout, 128 // tensor.bits)
    swizzle = tensor.pointer.swizzle or Swizzle(0, 4, 3)
    found = MODES[kind].get((swizzle.bits, swizzle.base, swizzle.shift))
    if found is None:
        condition = {4: "Expected S = 3 when M == 4.", 5: "Expected B = 2 and S = 2 when M == 5."}
        words = condition.get(swizzle.base, "Only 16B and 32B Atoms are supported for UMMA.")
        no("Unsupported layout swizzle" if kind == "GMMA" else f"{words} Unsupported layout swizzle.")
    _, mode, width, rows = found
    leading, stride = _offsets(kind, major, tensor.bits, units, mode, (width, rows), no)
    return SmemDescriptor(kind, major, tensor.address >> 4, leading, stride, mode, tensor)


def _offsets(
    kind: str, major: str, bits: int, units: Layout, mode: str, row: tuple[int, int], no: Callable[[str], NoReturn]
) -> tuple[int, int]:
    """Leading and stride offset in units of 16 bytes: of ((8,m),(2,k)) K-major, of ((row,n),(rows,k)) MN-major."""
    whose, none = f"Not a canonical {kind}_{major} Layout:", mode in ("INTERLEAVE", "SWIZZLE_NONE")
    mn, k = map(product, modes(units.shape))
    if major == "MN":
        if kind == "GMMA" and k * bits not in (128, 256, 512):
            no(f"{whose} Expected K-size 256/sizeof_bits<T> for dense or (128|512)/sizeof_bits<T> for sparse.")
    elif mode == "SWIZZLE_128B_BASE32B":
        no(f"{mode} is invalid for Major-K")
    elif mn % 8:
        no(f"{whose} Expected MN-size multiple of 8.")
    elif kind == "GMMA" and k not in (2, 4):
        no(f"{whose} Expected K-size 2 for dense or 4 for sparse (in units of uint128_t).")
    cut: Any = logical_divide(units, tuple(map(Layout, row if major == "MN" else (8, 2))))
    strides = [modes(part) for part in modes(cut.stride)]
    if not all(len(part) == 2 and all(isinstance(step, int) for step in part) for part in strides):
        no(f"{whose} Expected profile failure.")
    (s00, s01), (s10, s11) = ([int(step) for step in part] for part in strides)
    steps = (s10, s00) if major == "MN" else (s00, s10)
    if steps[0] != row[0] or (not none and steps[1] != 1):
        no(f"{whose} Expected stride failure.")
    return (s10, s01) if major == "K" else (s11, s01) if none else (s01, s11)


def _remedy(condition: str, tensor: Tensor) -> str:
    """What would have a descriptor: shared memory, a k-block of the tile, or another atom."""
    if tensor.pointer.space != "smem":
        return f"make_tensor(make_smem_ptr<{tensor.pointer.type}>(0), layout)"
    deep = 2 * UNIT * 8 // tensor.bits
    shape = [product(mode) for mode in modes(tensor.layout.shape)]
    if "K-size" in condition and shape[1] > deep:
        mn, k = shape
        return f"K is {k} elements, and one wgmma takes {deep}: local_tile(A, ({mn},{deep}), (0,k)), or mma.make_fragment_A"
    return f"`explain` shows why, and which atoms of GMMA have a descriptor for {show(tensor.layout.shape)}"


def make_fragment(tensor: Tensor, kind: str, major: str, operand: str = "") -> DescriptorTensor:
    """A partitioned operand (MMA,MMA_M,MMA_K,...) as descriptors: its first mode becomes one of them. operand: A or B. Source:
    MakeTensor<GMMA::smem_desc<Major>> and UMMA's."""
    part = get(tensor.layout, 0)
    assert isinstance(part, Layout)
    descriptor = _make(kind, Tensor(tensor.pointer, part), major)
    return DescriptorTensor(descriptor, _units(tensor), replace(tensor, name=operand))


def behind(x: object) -> Any:
    """The tensor in shared memory that a fragment of descriptors is of; anything else as it is."""
    return x.tensor if isinstance(x, DescriptorTensor) else x


def _units(tensor: Tensor) -> Layout:
    units = upcast(tensor.layout, 128 // tensor.bits)
    return Layout((1, *modes(units.shape)[1:]), (0, *modes(units.stride)[1:]))


def _narrowed(tensor: Tensor, cut: dict[int, Sliced]) -> Tensor:
    """The part of a partitioned operand that a slice of its descriptors reads: a mode that it cuts is kept, of extent 1.

    cut: the coordinates by mode; the first mode is of one descriptor, and stays.
    """
    parts, begin = [], []
    for n in range(tuple_rank(tensor.layout.shape)):
        part, c = get(tensor.layout, n), cut.get(n, X) if n else X
        assert isinstance(part, Layout)
        begin.append(slice_begin(c))
        parts.append(part if c is X else part(c) if has_underscore(c) else Layout(1, 0))
    layout = Layout(tuple(part.shape for part in parts), tuple(part.stride for part in parts))
    return replace(tensor, pointer=tensor.pointer.moved(tensor.layout(tuple(begin))), layout=layout)
