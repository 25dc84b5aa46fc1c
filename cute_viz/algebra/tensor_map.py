"""Tensor maps: what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col are given, and what CuTe asserts of it.

Sources: cute/atom/copy_traits_sm90_tma.hpp, make_tma_copy_desc; cute/arch/copy_sm90_desc.hpp; the CUDA driver API.
"""

from __future__ import annotations

from math import gcd
from typing import Any

from cute_viz.algebra.inttuple import leaves, modes, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.modes import get
from cute_viz.algebra.recast import recast_layout
from cute_viz.algebra.static import is_marked, mark_static
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass
from cute_viz.values.types import bits_of, named

RANK, BOX = 5, 256  # the most dimensions of a tensor map, and elements of a box along one
# CUtensorMapDataType by element type; CUtensorMapSwizzle by the swizzle of the byte address
DATA_TYPES = {"s8": 0, "u8": 0, "e4m3": 0, "e5m2": 0, "ue8m0": 0, "u16": 1, "u32": 2, "s32": 3, "u64": 4, "s64": 5, "f16": 6}
DATA_TYPES |= {"f32": 7, "f64": 8, "bf16": 9, "tf32": 11, "e2m1": 13, "e2m3": 15, "e3m2": 15}
SWIZZLES = {(0, 4, 3): 0, (1, 4, 3): 1, (2, 4, 3): 2, (3, 4, 3): 3, (2, 5, 2): 4, (2, 6, 2): 6, (2, 6, 3): 6}
# CUtensorMapDataType of cuda.h, from 0 on.
DATA_TYPE_NAMES = (
    *("UINT8", "UINT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT16", "FLOAT32", "FLOAT64", "BFLOAT16"),
    *("FLOAT32_FTZ", "TFLOAT32", "TFLOAT32_FTZ", "16U4_ALIGN8B", "16U4_ALIGN16B", "16U6_ALIGN16B"),
)
SWIZZLE_NAMES = ("none", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B")
PACKED = 14  # from here on 16 elements of 4 or 6 bits take 16 bytes of shared memory: 16U4_ALIGN16B, 16U6_ALIGN16B
# What CuTe's Sw<2,6,S>, which it makes 128B_ATOM_64B of, is not (PTX ISA, "Swizzling modes", 64-byte atomicity).
ATOM_64B = "128B_ATOM_64B exchanges the halves of every other line of 128 bytes, and CuTe's swizzle moves quarters of 256"


@dataclass(frozen=True, slots=True)
class Im2col:
    """What cuTensorMapEncodeIm2col is given beside a tensor map of (C,W,H,D,N), and the coordinates that CuTe makes of it.
    lower, upper: the corners of the box of base pixels in (W,H,D), from the first and from the last pixel. channels, pixels: of
    one instruction, all CTAs. filters: how many offsets of the filter there are in (S,R,T). dilation: between them. moved: the
    first offset. coordinates: (pixel, (channel, s, r, t)) -> (c, (w,h,d), n, (s,r,t))."""

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int
    filters: tuple[int, ...]
    dilation: tuple[int, ...]
    moved: tuple[int, ...]
    coordinates: Any


@dataclass(frozen=True, slots=True)
class TensorMap:
    """The arguments of cuTensorMapEncodeTiled, dimension 0 first, which is contiguous. global_dim and box_dim are in elements,
    global_strides in bytes, of the dimensions 1 to 4. type: of an element, in C++."""

    type: str
    rank: int
    address: int
    global_dim: tuple[int, ...]
    global_strides: tuple[int, ...]
    box_dim: tuple[int, ...]
    element_strides: tuple[int, ...]
    swizzle: int
    interleave: int = 0

    @property
    def data_type(self) -> int:
        """CUtensorMapDataType."""
        known = named(self.type)
        assert known is not None
        return DATA_TYPES[known.short] + ("unpacksmem" in self.type and known.short == "e2m1")

    @property
    def bits(self) -> int:
        """The width of an element of the map."""
        return bits_of(self.type)

    @property
    def refused(self) -> tuple[str, ...]:
        """What cuTensorMapEncodeTiled refuses, though CuTe asserts nothing of it.

        Sources: cuda.h, cuTensorMapEncodeTiled; PTX ISA, "Restriction on tensor copy instructions".
        """
        inner, lines = self.box_dim[0] * self.bits // 8, 32 << min(self.swizzle - 1, 2) if self.swizzle else 0
        packed, first, box = self.data_type >= PACKED, self.global_dim[0], self.box_dim[0]
        along, kinds = "along dimension 0", "of a packed type"
        odd = any(x % 32 for x in (self.address, *self.global_strides))
        found: dict[str, Any] = {
            f"the box is {inner} bytes {along}, not a multiple of 16": inner % 16 and not packed,
            f"the box is {inner} bytes {along}, more than the {lines} of the swizzle": 0 < lines < inner and not packed,
            f"the box is {box} elements {along}; {kinds} it must be 128": packed and box != 128,
            f"globalDim[0] = {first}; {kinds} it must be a multiple of 128": packed and first % 128,
            f"globalDim[0] = {first}; of elements of 4 bits it must be even": self.data_type == PACKED - 1 and first % 2,
            f"address and strides {kinds} must be multiples of 32 bytes": packed and odd,
            f"swizzle {SWIZZLE_NAMES[self.swizzle]}; {kinds} it is none or one of 128 bytes": packed and self.swizzle in (1, 2),
        }
        return tuple(words for words, wrong in found.items() if wrong)


def basis_get(nested: object, basis: Basis) -> int:
    """The entry of a nested tuple at a basis element."""
    part: Any = nested
    for index in basis.path:
        part = part[index] if isinstance(part, tuple) else part
    return part  # type: ignore[no-any-return]


def recast_elements(layout: Layout, old: int, new: int) -> Layout:
    """A layout for elements of another width; of a static one all is static, where the width changes an integer, too."""
    out: Layout = recast_layout(layout, old, new)
    return mark_static(out) if is_marked(layout) else out


def make_tensor_map(name: str, g: Tensor, gbasis: Layout, swizzle: int, ctas: int, kind: str) -> tuple[TensorMap, Layout]:
    """make_tma_copy_desc: what cuTensorMapEncodeTiled is given, once CuTe's asserts hold; and the layout in its type.

    gbasis: box of TMA modes -> modes of the tensor. ctas: how many share a box.
    """
    bits = bits_of(kind)
    recast = recast_elements(g.layout, g.bits, bits)
    dims, strides = [1] * RANK, [0] * RANK
    groups = list(modes(gbasis.stride))
    for n, group in enumerate(groups):
        members = list(leaves(group))
        if len(members) == 1:
            dims[n], strides[n] = int(basis_get(recast.shape, members[0])), int(basis_get(recast.stride, members[0]))
            continue
        for basis in members:
            extent, step, before = int(basis_get(recast.shape, basis)), int(basis_get(recast.stride, basis)), strides[n]
            strides[n] = gcd(before, step)
            if strides[n]:
                dims[n] = (dims[n] - 1) * (before // strides[n]) + (extent - 1) * (step // strides[n]) + 1
            else:
                dims[n] = extent
    in_bytes = [step * bits // 8 for step in strides]
    address = "(reinterpret_cast<uint64_t>(gmem_address) & 0b1111) == 0"
    checks = [(g.address % 16 == 0, address, "the address must be a multiple of 16 bytes")]
    for n, extent in enumerate(dims):
        checks.append((1 <= extent <= 1 << 32, f"gmem_prob_shape[{n}] <= (uint64_t(1) << 32)", "an extent must be 1 to 2^32"))
    checks.append((strides[0] == 1, "gmem_prob_stride[0] == 1", "Majorness of smem doesn't match majorness of gmem"))
    for n, step in list(enumerate(in_bytes))[1:]:
        checks.append((step < 1 << 40, f"(gmem_prob_stride[{n}]) < (uint64_t(1) << 40)", "a stride must be less than 2^40 bytes"))
        checks.append((step % 16 == 0, f"(gmem_prob_stride[{n}] & 0b1111) == 0", "a stride must be a multiple of 16 bytes"))
    _assert_all(name, checks)
    box = _box(name, [size(get(gbasis, n)) for n in range(len(groups))], ctas)
    words = "a box must be at most 256 elements along a mode"
    _assert_all(name, [(extent <= BOX, f"smem_box_shape[{n}] <= (uint32_t(1) << 8)", words) for n, extent in enumerate(box)])
    return TensorMap(kind, len(groups), g.address, tuple(dims), tuple(in_bytes[1:]), tuple(box), (1,) * RANK, swizzle), recast


def _box(name: str, sizes: list[int], ctas: int) -> list[int]:
    """The box of one CTA: multicast cuts the last dimensions."""
    box = [*sizes, *[1] * (RANK - len(sizes))]
    n, rest = len(sizes) - 1, ctas
    while rest > 1:
        if n < 0:
            raise AlgebraError(f"{name}: a box {show(tuple(sizes))} has no part for each of {ctas} CTAs")
        condition = f"smem_box_shape[{n}] % multicast == 0 || multicast % smem_box_shape[{n}] == 0"
        words = "Stride Divisibility Condition: the CTAs must divide the box"
        _assert_all(name, [(box[n] % rest == 0 or rest % box[n] == 0, condition, words)])
        rest, box[n] = -(-rest // box[n]), -(-box[n] // rest)
        n -= 1
    return box


def _assert_all(name: str, checks: list[tuple[bool, str, str]]) -> None:
    """Refuse what CuTe asserts at run time: whether each holds, its condition and its words."""
    hint = "CuTe asserts this at run time; a release build continues, and cuTensorMapEncodeTiled fails"
    for holds, condition, words in checks:
        if not holds:
            raise AlgebraError(f'{name}: {condition} && "{words}"', hint=hint)


def in_global_memory(name: str, g: object, example: str = "(1024,256):(256,1)") -> Tensor:
    """The tensor of a TMA. Raises: AlgebraError for one in another memory, and for anything else."""
    if not isinstance(g, Tensor) or g.pointer.space != "gmem":
        raise AlgebraError(f"{name} needs a tensor in global memory", hint=f"make_tensor(make_gmem_ptr<half_t>(0), {example})")
    return g
