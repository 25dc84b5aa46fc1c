"""Blackwell's tensor memory: where accumulators are in it, and the copies from and to it.

Sources: cute/atom/mma_traits_sm100.hpp (tmem_frg), cute/atom/copy_traits_sm100.hpp (make_tmem_copy), and
cutlass/utils/blackwell_helpers.py of the Python DSL.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, domain
from cute_viz.algebra.copy import Copy_Atom, TiledCopy
from cute_viz.algebra.descriptor import make_fragment
from cute_viz.algebra.inttuple import map_leaves, modes
from cute_viz.algebra.layout import Layout, make_layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import ThrMMA
from cute_viz.algebra.ops import find
from cute_viz.algebra.static import clear_static
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tmem import make_fragment_sf
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.source.python.instructions import copy_atom, instruction, need_tiled_mma
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.tensors import Raw, fragment_like, layout_of
from cute_viz.source.python.values import Atom, DslOp, EnumMember, Items, Lost, Slice, kind_of, tensor_of
from cute_viz.values.pointer import Pointer
from cute_viz.values.types import ValueType

_LANE = 1 << 16  # the distance of two lanes in addresses of 32 bits


def fragment(mma: Atom, operand: str, shape: Any) -> Tensor:
    """The part of tensor memory that an MMA of tcgen05 takes for its accumulators, or for A. shape: ((M,N),M tiles,N tiles,...), as
    partition_shape_C gives it. Raises: AlgebraError for an operand of shared memory.

    >>> from cute_viz import parse
    >>> mma = parse("make_tiled_mma(SM100_MMA_F16BF16_SS<half_t,half_t,float,128,64,UMMA::Major::K,UMMA::Major::K>{})")
    >>> op = DslOp("tcgen05", "MmaF16BF16Op", {"acc_dtype": ValueType("f32")})
    >>> str(fragment(Atom(mma, op), "C", ((128, 64), 1, 2)).layout)
    '((128,64),1,2):((65536,1),0,64)'
    """
    op = mma.op
    assert op is not None
    source = need(op.get("a_src"))
    in_tensor_memory = isinstance(source, EnumMember) and source.name == "TMEM"
    if operand == "B" or (operand == "A" and not in_tensor_memory):
        raise AlgebraError(f"operand {operand} of {op.name} is a descriptor of shared memory, which is not supported here")
    kind = _accumulator(op) if operand == "C" else need(op.get("a_dtype"))
    shape = tuple(modes(shape))
    first = modes(shape[0])
    if len(first) != 2:
        raise AlgebraError("a fragment of tensor memory must have the shape ((M,N),...)", hint="example: partition_shape_C gives")
    rows, columns = (int(size(part)) for part in first)
    step = 2 if in_tensor_memory and rows == 64 and size(mma.value.atom.thr_id) == 1 else 1
    block = _block(rows, columns, int(size(mma.value.atom.thr_id)), operand)
    rest = shape[1:]
    tiles = Layout(rest) if step == 1 else Layout(rest, _compact(rest, step))
    tiled = find("tiled_product").call([block, tiles])
    column = 32 // kind.bits if operand == "C" else 1
    address = Layout((128, 16384), (_LANE * 32 // kind.bits, column))
    return tensor_of(clear_static(find("composition").call([address, tiled])), Pointer("tmem", kind))


def _accumulator(op: DslOp) -> ValueType:
    kind = need(op.get("acc_dtype"))
    return kind if isinstance(kind, ValueType) else ValueType("s32" if op.name == "MmaI8Op" else "f32")


def _block(rows: int, columns: int, sms: int, operand: str) -> Layout:
    """One instruction's part: (M,N) -> lane + 128 column."""
    if rows == 128 or (rows, sms, operand) == (64, 2, "A"):
        return Layout((128, columns), (1, 128))
    if rows == 64 and sms == 1:
        return Layout(((16, 4), columns), ((1, 32), 128))
    if rows == 64 and sms == 2:
        return Layout((64, (columns // 2, 2)), (1, (128, 64)))
    raise AlgebraError(f"an instruction of {sms} SMs takes no {rows} rows of tensor memory")


def _compact(shape: Any, step: int) -> Any:
    out = []
    for extent in shape:
        out.append(step)
        step *= int(size(extent))
    return tuple(out)


def _descriptors(op: DslOp, operand: str, source: Any) -> Any:
    """The descriptors of an operand in shared memory: how far each starts behind the first, in units of 16 bytes. Source:
    MakeTensor<GMMA::smem_desc<Major>> and UMMA's. Raises: AlgebraError for a tensor that is not one of these.
    """
    kind = source.pointer.type if isinstance(source, Tensor) else None
    if isinstance(kind, Lost):
        raise kind.error
    if not isinstance(source, Tensor) or not isinstance(kind, ValueType):
        raise AlgebraError(f"operand {operand} of {op.name} is a tensor of shared memory, of a type that is known")
    layout = domain(source.layout)
    if not isinstance(layout, Layout) or (kind.bits < 8 and "MXF4" not in op.name):
        raise AlgebraError(f"operand {operand} of {op.name} is a descriptor of shared memory, which is not supported here")
    units = find("upcast").call([layout, 128 // kind.bits])
    fragment = clear_static(Layout((1, *modes(units.shape)[1:]), (0, *modes(units.stride)[1:])))
    made = _fields(op, operand, kind, source)
    return made if made is not None and made.layout == fragment else tensor_of(fragment)


def _fields(op: DslOp, operand: str, kind: ValueType, source: Tensor) -> Any:
    """The descriptors with their fields; None where the place, the swizzle or the major mode of the operand is not known."""
    major, layout, swizzle = op.get(f"{operand.lower()}_major_mode"), source.layout, source.pointer.swizzle
    if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle) and layout.offset == 0:  # of element offsets
        swizzle, layout = layout.outer.rescaled(4 - kind.bits.bit_length()), layout.inner
    if not isinstance(major, EnumMember) or not isinstance(layout, Layout) or not isinstance(source.offset, int):
        return None
    memory = Tensor(Pointer("smem", kind.cpp, None, swizzle, offset=source.offset), layout)
    try:
        made = make_fragment(memory, "GMMA" if op.module == "warpgroup" else "UMMA", major.name)
    except CuteVizError:
        return None
    return clear_static(made)


def _columns(machine: Machine, tmem_tensors: Any, rounding: Any, arch: Any) -> Any:
    """`get_num_tmem_alloc_cols(tensors, rounding=True)`: the columns that tensors take together, a power of two from 32 to 512."""
    taken = 0
    for tensor in tmem_tensors.items if isinstance(tmem_tensors, Items) else modes(tmem_tensors):
        tensor = need(tensor)
        kind = need(tensor.pointer.type) if isinstance(tensor, Tensor) else None
        if not isinstance(kind, ValueType):
            raise AlgebraError("get_num_tmem_alloc_cols takes tensors of tensor memory, of types that are known")
        taken += int(find("cosize").call([find("recast_layout").call([tensor.layout, kind.bits, 32])])) & 0xFFFF
    taken = taken if rounding is False else max(1 << (taken - 1).bit_length(), 32)
    if not 32 <= taken <= 512:
        raise AlgebraError(f"{taken} columns of tensor memory cannot be allocated: 32 to 512 can")
    return taken


def _copied_descriptors(machine: Machine, atom: Any, smem_tensor: Any) -> Any:
    """`get_s2t_smem_desc_tensor(atom, smem_tensor)`: descriptors of what a tcgen05.cp takes, in units of 16 bytes."""
    kind = need(smem_tensor.pointer.type) if isinstance(smem_tensor, Tensor) else None
    if not isinstance(kind, ValueType) or not isinstance(smem_tensor.layout, Layout):
        raise AlgebraError("get_s2t_smem_desc_tensor takes a tensor of shared memory, of a type that is known")
    return tensor_of(clear_static(find("upcast").call([smem_tensor.layout, 128 // kind.bits])))


def _make_fragment(operand: str) -> Callable[..., Any]:
    """`tiled_mma.make_fragment_C(tensor or shape)`: registers, tensor memory of tcgen05, or descriptors of shared memory."""

    def make(machine: Machine, mma: Raw, input: Any) -> Any:
        mma, source = mma.atom if isinstance(mma, Slice) else need(mma), input
        if isinstance(mma, Atom) and isinstance(mma.value, ThrMMA):  # of a thread's view the whole's
            mma = Atom(mma.value.tiled, mma.op, mma.element)
        if not isinstance(mma, Atom) or mma.op is None:
            raise AlgebraError("cannot determine what this MMA takes")
        layout = layout_of(source)
        where = need(mma.op.get("a_src")) if operand == "A" else None
        held = operand == "C" or (isinstance(where, EnumMember) and where.name in ("RMEM", "TMEM"))
        if mma.op.module in ("tcgen05", "warpgroup") and not held:
            return _descriptors(mma.op, operand, source)
        if mma.op.module == "tcgen05":
            return fragment(mma, operand, layout.shape)
        if operand == "C":  # whatever the strides of the tensor
            layout = Layout(layout.shape)
        elif isinstance(source, Tensor):
            layout = fragment_like(layout)
        kind = mma.op.get("acc_dtype") if operand == "C" else mma.op.get(f"{operand.lower()}_dtype") or mma.op.get("ab_dtype")
        return tensor_of(clear_static(layout), Pointer("rmem", kind_of(kind)))

    return make


def properties(atom: Any) -> tuple[int, int, int, bool, bool]:
    """For a copy of tensor memory: lanes, bits of a column, repetitions, whether it packs halves, whether it loads.

    >>> from cute_viz import parse
    >>> properties(Atom(parse("Copy_Atom<SM100_TMEM_LOAD_16dp32b4x, float>{}")))
    (16, 64, 4, False, True)
    """
    value = atom.value if isinstance(atom, Atom) else None
    value = value.atom if isinstance(value, TiledCopy) else value
    if not isinstance(value, Copy_Atom) or not value.instruction.lanes:
        raise AlgebraError("a copy of tensor memory is expected here", hint="example: tcgen05.Ld32x32bOp(tcgen05.Repetition(32))")
    op, shape = value.instruction, re.findall(r"\d+", value.instruction.opcode.split(".")[4])  # 16x32bx2 is of two
    bits = int(shape[1]) * (int(shape[2]) if len(shape) > 2 else 1)
    return op.lanes, bits, int(op.arguments["n"]), "16b" in op.words, op.kind == "tcgen05.ld"


def _tmem_copy(machine: Machine, atom: Any, tmem_tensor: Any) -> Any:
    """make_tmem_copy(atom, tmem_tensor): four warps, each on its own 32 lanes."""
    properties(atom)
    if not isinstance(atom.value, Copy_Atom) or not isinstance(tmem_tensor, Tensor):
        raise AlgebraError("make_tmem_copy takes a copy atom and a tensor of tensor memory")
    in_elements = find("coalesce").call([find("upcast").call([clear_static(atom.value.in_tmem), atom.value.bits])])
    threads = Layout((32, 4), (0, 32 * _LANE * 32 // atom.value.bits))
    tiled = find("make_cotiled_copy").call([atom.value, make_layout(threads, in_elements), tmem_tensor.layout])
    return Atom(tiled, atom.op, atom.element)


def _s2t_copy(machine: Machine, atom: Any, tmem_tensor: Any) -> Any:
    """make_s2t_copy(atom, tmem_tensor): one thread copies shared memory to tensor memory; extents of stride 0 count once."""
    if not isinstance(atom, Atom) or atom.value.instruction.kind != "tcgen05.cp" or not isinstance(tmem_tensor, Tensor):
        raise AlgebraError("make_s2t_copy takes an atom, for example tcgen05.Cp4x32x128bOp and a tensor of tensor memory")
    values = find("coalesce").call([find("upcast").call([clear_static(atom.value.in_tmem), atom.value.bits])])
    threads = Layout(int(size(atom.value.thr_id)), 0)
    whole = find("filter_zeros").call([tmem_tensor.layout])
    return Atom(find("make_cotiled_copy").call([atom.value, make_layout(threads, values), whole]), atom.op, atom.element)


def _store_op(machine: Machine, layout_d: Any, elem_ty_d: Any, elem_ty_acc: Any, tiled_tmem_load: Any) -> Any:
    """get_smem_store_op of Blackwell: stmatrix where the load of tensor memory leaves the values as that wants them."""
    if not isinstance(elem_ty_d, ValueType) or not isinstance(elem_ty_acc, ValueType) or not isinstance(layout_d, EnumMember):
        raise AlgebraError("get_smem_store_op takes a LayoutEnum, two element types and a copy of tensor memory")
    op = instruction("cute", "CopyUniversalOp", [], {})
    try:
        lanes, bits, times, packs, loads = properties(tiled_tmem_load)
    except AlgebraError:
        loads = False
    if loads:
        m_major = layout_d.name == "COL_MAJOR"
        word = (elem_ty_acc.bits, elem_ty_d.bits, lanes, bits, packs)
        direct = word in ((32, 16, 16, 256, False), (16, 16, 16, 128, True)) or (word == (32, 32, 16, 128, False) and not m_major)
        if direct:
            op = instruction("warp", "StMatrix8x8x16bOp", [m_major, 4 if times > 1 else 2], {})
        elif word == (32, 8, 16, 256, False) and m_major:
            op = instruction("warp", "StMatrix16x8x8bOp", [True, {1: 1, 2: 2}.get(times, 4)], {})
    return copy_atom(op, elem_ty_d, None, machine.given.resolve)


def _in_tensor_memory(operand: str) -> Callable[..., Any]:
    """make_tmem_layout_sfa and _sfb: where tensor memory has the scale factors of a stage, of which it keeps four copies."""

    def make(machine: Machine, tiled_mma: Any, mma_tiler_mnk: Raw, sf_vec_size: Raw, smem_layout: Any) -> Any:
        instruction, shape = need_tiled_mma(tiled_mma).value.atom.instruction, clear_static(layout_of(smem_layout).shape)
        made = make_fragment_sf(instruction, operand, "float_ue8m0_t", shape).layout
        return Layout(clear_static(made.shape), map_leaves(lambda n, d: 0 if n == 1 else d, made.shape, clear_static(made.stride)))

    return make


TENSOR_MEMORY: dict[tuple[str, str], Callable[..., Any]] = {
    ("", "make_tmem_layout_sfa"): _in_tensor_memory("SFA"),
    ("", "make_tmem_layout_sfb"): _in_tensor_memory("SFB"),
    ("", "get_s2t_smem_desc_tensor"): _copied_descriptors,
    ("", "get_num_tmem_alloc_cols"): _columns,
    ("arch", "get_max_tmem_alloc_cols"): lambda machine, args, named: 512,
    ("arch", "get_min_tmem_alloc_cols"): lambda machine, args, named: 32,
    **{("", f"make_fragment_{operand}"): _make_fragment(operand) for operand in "ABC"},
    ("", "make_tmem_copy"): _tmem_copy,
    ("", "make_s2t_copy"): _s2t_copy,
    ("sm100", "get_smem_store_op"): _store_op,
    ("utils", "get_smem_store_op"): _store_op,
}
