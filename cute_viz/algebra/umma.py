"""Operands of an MMA where they live: registers, descriptors of shared memory (SM90, SM100), tensor memory (SM100).

Sources: cute/atom/mma_atom.hpp, make_fragment_A/B/C; FrgTypeA/B/C of mma_traits_sm90_gmma.hpp and mma_traits_sm100.hpp.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cute_viz.algebra.common import refuse
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, PointerFlag, as_layout, domain
from cute_viz.algebra.descriptor import DescriptorTensor, SmemDescriptor
from cute_viz.algebra.descriptor import make_fragment as _described
from cute_viz.algebra.divide import tiled_divide
from cute_viz.algebra.instruction import FORMATS
from cute_viz.algebra.inttuple import is_int_tuple, leaves, map_leaves, modes, tuple_rank
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA, as_tiled_mma, partition
from cute_viz.algebra.modes import get
from cute_viz.algebra.partition import of_tensor
from cute_viz.algebra.products import make_fragment_like, tile_to_shape
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.tensor import Tensor, as_tensor, behind, viewed, whole
from cute_viz.algebra.tmem import make_fragment as _in_tmem
from cute_viz.algebra.tmem import make_fragment_e
from cute_viz.algebra.tmem import make_fragment_sf as _scales_in_tmem
from cute_viz.algebra.views import get_slice
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import Runtime, Unknown, is_known
from cute_viz.values.types import Pointer, named, sparse


def make_fragment(operand: str, *given: object) -> Any:
    """A fragment of A, B or C of an MMA and a partitioned tensor, or its shape: descriptors, tensor memory or registers; of a
    layout alone registers.

    >>> mma = parse("SM80_16x8x16_F32F16F16F32_TN{}")
    >>> str(make_fragment("C", mma, (4, 1, 1))), str(make_fragment("A", Layout((4, 2), (2, 1))))
    ('(4,1,1):(1,0,0)', '(4,(2)):(1,(4))')
    """
    if len(given) == 1:  # of a layout alone: registers for it
        if isinstance(given[0], (TiledMMA, ThrMMA, MMA_Atom)):
            words = f"make_fragment_{operand} of an MMA takes the partitioned tensor, too"
            raise AlgebraError(words, hint=f"make_fragment_{operand}(mma, partition_shape_{operand}(mma, (128,64)))")
        return make_fragment_like(whole(given[0]))
    mma, part = as_tiled_mma(given[0]), given[1]
    op, where = mma.atom.instruction, mma.atom.instruction.home(operand)
    if where == "rmem":
        alone = operand == "C" or is_int_tuple(part)
        return _registers(mma, operand, Layout(_shape(part)) if alone else make_fragment_like(_layout(part)))
    name = check_partitioned(mma, operand, part)
    if isinstance(part, Tensor) and operand != "C" and mma.atom.types:
        _check_type(name, mma.atom, operand, part)
    if where == "smem":
        tensor, major = as_tensor(part), op.majors["AB".index(operand)]
        return _described(tensor, "GMMA" if op.kind == "wgmma" else "UMMA", major, operand)
    result = named(mma.atom.types[2])
    if result is not None and result.short not in ("f16", "f32", "s32"):
        raise AlgebraError(f"{op.name}: Unknown type for CFormat", hint="half_t, float or int32_t")
    return _in_tmem(op, operand, mma.atom.types["ABC".index(operand)], _shape(part))


def check_partitioned(mma: TiledMMA, operand: str, part: object) -> str:
    """Refuse what was not partitioned for an MMA; the name of the operation that makes a fragment of the rest."""
    shape, name = _shape(part), f"make_fragment_{operand}"
    if not is_int_tuple(shape) or tuple_rank(shape) < 3:
        refuse(name, (part,), "VMK: the tensor is not partitioned", hint=f"partition_{operand}(mma.get_slice(0), tensor)")
    if size(modes(shape)[0]) != size(get(mma.atom.layout(operand), 1)):
        refuse(name, (part,), f"its first mode has {size(modes(shape)[0])} elements, but the {operand} of the atom does not")
    return name


def _shape(x: object) -> Any:
    return x.shape if isinstance(x, (Tensor, Layout, ComposedLayout)) else x


def _layout(part: object) -> Any:
    return part.layout if isinstance(part, Tensor) and part.swizzle is None else whole(part)


def _registers(mma: TiledMMA, operand: str, layout: Layout) -> Tensor:
    types = mma.atom.types
    return Tensor(Pointer("rmem", types["ABC".index(operand)] if types else None), layout)


def _check_type(name: str, atom: MMA_Atom, operand: str, part: Tensor) -> None:
    """Refuse elements of another type than ValTypeA or ValTypeB: 8 bits may hold narrower ones, and sparse are half as wide."""
    wanted, packed = named(atom.types["ABC".index(operand)]), sparse(part.pointer.type)
    given = named(packed[1] if packed else part.pointer.type)
    each = atom.instruction.sparse if operand == "A" else 1
    if wanted is None or given is None:
        return
    stored = wanted if each < 4 else named("uint8_t")  # of 4-bit elements two are stored together
    assert stored is not None
    bits = stored.bits // each
    if (stored, each) != (given, packed[0] if packed else 1) and (part.bits, bits) not in _HELD[operand]:
        words = f"sparse_elem<{each},{stored.short}>" if each > 1 else stored.short
        refuse(name, (part,), f"Expecting ValType{operand} type: {words}, not {part.pointer.type if packed else given.short}")
    if each > 1 and not packed and atom.instruction.kind != "wgmma":
        refuse(name, (part,), "Expected sparse value_type.", hint=f"make_smem_ptr<sparse_elem<{each},{stored.short}>>(...)")


# Bits of the elements of a tensor, and of the type that an MMA expects: what make_fragment_A and B let through.
_HELD = {"B": {(8, 8), (8, 6), (8, 4)}}
_HELD["A"] = _HELD["B"] | {(4, 4), (4, 3), (4, 2)}


_WIDTHS = {"TF32": (32, 32), "F16BF16": (16, 16), "F8F6F4": (0, 8), "S8": (8, 8), "MXF8F6F4": (0, 8), "MXF4": (4, 4)}
_WIDTHS["MXF4NVF4"] = _WIDTHS["MXF4"]
_KIND = re.compile(r"SM100_MMA_(\w+?)(_2x1SM)?_(SS|TS)(\w*)")
# What CUTLASS's assertions say of M where its condition is another one.
_SAID = {"MXF8F6F4_SS": ("64 or 128", 1), "F8F6F4_2x1SM_SS": ("64 or 128", 1), "F8F6F4_2x1SM_TS": ("64 or 128", 1)}
_SAID["MXF8F6F4_2x1SM_SS"] = ("128 or 256", 2)


def size_words(name: str, mode: str, allowed: str) -> str:
    """What CUTLASS says of an M, an N or a VS that a tcgen05.mma does not have. Source: cute/arch/mma_sm100_umma.hpp."""
    if mode == "VS":
        return f"{name} Vector size can only be {allowed}"
    whole, name = name, _said_name(name)
    if mode == "M":
        allowed, ctas = _SAID.get(whole.removeprefix("SM100_MMA_"), (allowed, 2 if "_2x1SM" in whole else 1))
        return f"{name} M-mode size should be {allowed} for {ctas} CTA cluster MMA"
    sentence = f"{name} N-mode size should be {{}}"
    if whole in ("SM100_MMA_F8F6F4_SS", "SM100_MMA_F8F6F4_2x1SM_SS"):
        steps = (16, 32) if "_2x1SM" in whole else (8, 16)
        words = (f"a multiple of {n} between {n} and 256 when B is {x} major" for n, x in zip(steps, ("K", "MN"), strict=True))
        return ". ".join(map(sentence.format, words))
    if "_2x1SM" not in whole and not whole.startswith("SM100_MMA_S8") and ("_TS" in whole or whole == "SM100_MMA_F8F6F4_SS_SPARSE"):
        allowed = "a multiple of 8 between 8 and 256 for M=64, or a multiple of 16 between 16 and 256 for M=128"
    return sentence.format(allowed)


def _said_name(name: str) -> str:
    short = re.sub(r"^(SM100_MMA_(?:TF32|F16BF16))_[ST]S$", r"\1", name)
    return "SM100_MMA_S8" if name == "SM100_MMA_S8_2x1SM_SS_SPARSE" else "MMA" if name.startswith("SM103_") else short


def refusal(name: str, values: Mapping[str, str]) -> str:
    """What CUTLASS says of template arguments that a tcgen05.mma does not take together; "" of those that it does.

    values: by name A, B, C, SF, M, N, VS, a_major, b_major. Source: cute/arch/mma_sm100_umma.hpp, cute/atom/mma_traits_sm100.hpp.
    """
    if (match := _KIND.fullmatch(name)) is None:
        return ""
    kind, pair, _, more = match.groups()
    n, vector = int(values.get("N", 0)), values.get("VS", "")
    step = 32 if pair else 16
    if "_TS" in name and values.get("a_major") == "MN":
        return f"{_said_name(name)} A from TMEM can't be transposed"
    if "INTERLEAVED" in name and values.get("b_major") == "MN":
        return f"{name} B from SMEM requires non-transpose"
    if kind == "F8F6F4" and not more and "_SS" in name and values.get("b_major") == "MN" and n % step:
        return size_words(name, "N", "")
    result = named(values.get("C", ""))
    if kind == "S8" and not pair and "_SS" in name and result is not None and result.short != "s32":
        return f"{name} result type can only be int32_t"
    low, high = _WIDTHS.get(kind, (0, 128))
    found = [x for x in (named(values.get("A", "")), named(values.get("B", ""))) if x is not None]
    if any(not low <= x.bits <= high for x in found):
        return f"{name} supports {f'{high}bit types' if low == high else f'types with leq {high}bit types'}"
    if kind in ("TF32", "F16BF16", "F8F6F4", "S8") and any(x.short not in FORMATS for x in found):
        return f"{name}: Unknown type for UMMAFormat"
    of_two = "64" if "SPARSE" in more else "32"
    scale = named(values.get("SF", ""))
    if vector == of_two and not (pair and not more) and scale is not None and scale.short != "ue8m0":
        types = "float_e2m1_t or cutlass::type_erased_dynamic_float4_t"
        return f"2x mode (VectorSize={of_two}) only supports a_type and b_type={types} and sf_type=ue8m0_t"
    return ""


def make_fragment_sf(mma: object, operand: str, x: object) -> Tensor:
    """The tensor memory of the scale factors SFA or SFB, for their layout in shared memory.

    CuTe makes it of `make_tensor<TiledMma::FrgTypeSFA>(shape)`; the name is ours.

    >>> types = "float_e4m3_t,float_e4m3_t,float,float_ue8m0_t"
    >>> mma = parse(f"SM100_MMA_MXF8F6F4_SS<{types},128,128,UMMA::Major::K,UMMA::Major::K>{{}}")
    >>> str(make_fragment_sf(mma, "SFA", ((((32, 4), 1), (32, 1)), 1, (4, 1))).layout.shape)
    '((((32, 4), 4), (32, 1)), 1, (4, 1))'
    """
    op = as_tiled_mma(mma).atom.instruction
    return _scales_in_tmem(op, operand, op.arguments.get("SF", "float_ue8m0_t"), _shape(x))


def make_fragment_E(mma: object, shape: object) -> Tensor:
    """The tensor memory of the metadata of a sparse MMA, for the partitioned shape of A: make_tensor<TiledMma::FrgTypeE>(shape).

    The name is ours; CuTe has only the type.

    >>> mma = parse("SM100_MMA_S8_SS_SPARSE<int8_t,int8_t,int32_t,128,64,UMMA::Major::K,UMMA::Major::K>{}")
    >>> str(make_fragment_E(mma, ((128, 64), 1, 2)).layout)
    '((128,64),1,2):((2097152,1),0,64)'
    """
    return make_fragment_e(as_tiled_mma(mma).atom.instruction, _shape(shape))


def tile_to_mma_shape(atom: AnyLayout, shape: object, order: object = None) -> AnyLayout:
    """An atom of shared memory tiled to a shape ((MMA_M,MMA_K),M,K,...) of partition_shape_A: UMMA::tile_to_mma_shape.

    >>> atom = parse("UMMA::Layout_K_SW128_Atom<half_t>{}")
    >>> str(tile_to_mma_shape(atom, ((128, 16), 1, 4)).inner)
    '((128,16),1,4):((64,1),0,16)'
    """
    if not isinstance(shape, tuple) or len(shape) < 3 or tuple_rank(shape[0]) != 2:
        refuse(
            "tile_to_mma_shape", (atom, shape), "the shape must be ((MMA_M,MMA_K),M,K,...)", hint="partition_shape_A(mma, (128,64))"
        )
    (m, k), m_tiles, k_tiles = shape[0], shape[1], shape[2]
    tiled = tile_to_shape(atom, ((m, m_tiles), (k, k_tiles), *shape[3:]), order)
    return tiled_divide(tiled, product_each(shape[0]))


def AtomThrID(mma: object) -> Layout:
    """The threads of an atom; for tcgen05.mma, its CTAs: `typename decltype(mma)::AtomThrID`.

    >>> str(AtomThrID(parse("SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,256,256,UMMA::Major::K,UMMA::Major::K>{}")))
    '_2:_1'
    """
    return as_tiled_mma(mma).atom.thr_id


_OWNING = "registers need extents that are known when the code is compiled, for example Int<64>{} or _64"


def partition_fragment(mma: object, operand: str, x: object) -> object:
    """What a thread needs of operand A, B or C: registers, descriptors or tensor memory.

    >>> str(partition_fragment(parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))"), "C", (64, 32)))
    '((_2,2),2,2):((1,2),4,8)'
    """
    tiled, name = as_tiled_mma(mma), f"partition_fragment_{operand}"
    if tiled.atom.instruction.home(operand) != "rmem":
        thr = mma if isinstance(mma, ThrMMA) else get_slice(tiled, 0)
        part = partition(thr, operand, as_layout(behind(x)))
        return make_fragment(operand, tiled, viewed(x, part) if isinstance(x, Tensor) else part)
    # Whichever thread: a swizzle that its part meets nowhere is gone, and its strides are run-time integers.
    thr, layout = get_slice(tiled, Unknown()), as_layout(whole(x))  # type: ignore[arg-type]
    if isinstance(layout, ComposedLayout) and isinstance(layout.offset, PointerFlag):
        layout = domain(layout)  # the pointer has the swizzle
    with of_tensor():
        part = partition(thr, operand, layout)
    plain = domain(part[0] if isinstance(part, tuple) else part)
    if not all(map(is_known, leaves(plain.shape))):
        refuse(name, (x,), "Dynamic owning tensors not supported", hint=_OWNING)
    if operand == "C":
        return _registers(tiled, operand, Layout(plain.shape))  # accumulators do not follow the tensor
    steps = map_leaves(lambda step: Runtime(1) if isinstance(step, Unknown) else step, plain.stride)
    return _registers(tiled, operand, make_fragment_like(Layout(plain.shape, steps)))


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
    return MmaOperands(tiled, _operand(tiled, "A", a), _operand(tiled, "B", b))


def _operand(mma: TiledMMA, operand: str, x: object) -> DescriptorTensor | SmemDescriptor | None:
    match x:
        case None | 0:
            return None
        case DescriptorTensor() | SmemDescriptor():
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
