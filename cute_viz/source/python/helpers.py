"""What the reader computes itself of the DSL's helpers, where Python's types tell nothing; most are written in the DSL (`modules`).

With what it makes for an MMA's operands, for Blackwell's tensor memory, and for TMA: atoms, their coordinate tensors, the
parts that a CTA copies. Sources: cutlass/utils of the Python DSL 4.7, its tile schedulers among them,
cutlass/cute/nvgpu/helpers.py, cpasync/helpers.py, and CUTLASS's cute/atom/copy_traits_sm90_tma.hpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any, cast

from cute_viz.algebra import tma as algebra
from cute_viz.algebra import tma_parts as parts
from cute_viz.algebra.composed import ComposedLayout, domain, swizzle_of
from cute_viz.algebra.copy import Copy_Atom, CopyOp, TiledCopy
from cute_viz.algebra.descriptor import make_fragment as make_descriptors
from cute_viz.algebra.inttuple import leaves, map_leaves, modes
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.make_tma import make_tma_atom
from cute_viz.algebra.measure import rank, size
from cute_viz.algebra.mma import ThrMMA
from cute_viz.algebra.modes import filter_zeros, get, select
from cute_viz.algebra.ops import find
from cute_viz.algebra.recast import upcast
from cute_viz.algebra.static import as_in_dsl, clear_static, mark_static
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tmem import find_tmem_tensor_col_offset, make_fragment, make_fragment_sf
from cute_viz.algebra.views import of_tmem
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.source.python.instructions import need_tiled_mma, resolved
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.subscripts import moved, somewhere, underscores
from cute_viz.source.python.tensors import Raw, coordinates, fragment_like, layout_of, leading, picked
from cute_viz.source.python.values import Atom, DslOp, EnumMember, Lost, Mutable, Slice, element, run_times, tensor_of
from cute_viz.values.integer import Unknown
from cute_viz.values.types import Pointer, ValueType


def _operation(machine: Machine, op: object) -> CopyOp:
    """CuTe's operation for one of the DSL. Raises: AlgebraError for anything but a bulk tensor copy."""
    op = need(op)
    if not isinstance(op, DslOp) or "BulkTensorTile" not in op.name:
        raise AlgebraError("a bulk tensor copy is expected here", hint="example: cpasync.CopyBulkTensorTileG2SOp()")
    found = resolved(op, machine.given.resolve)
    if not isinstance(found, CopyOp):
        raise AlgebraError(f"{op.name} is not a copy operation")
    return replace(found, thr_id=clear_static(found.thr_id))


def _memory(tensor: object) -> tuple[Tensor, ValueType]:
    """A tensor in global memory, for the algebra. Raises: AlgebraError without a known layout or element type."""
    tensor = need(tensor)
    if not isinstance(tensor, Tensor) or not isinstance(tensor.layout, Layout) or is_coordinate_layout(tensor.layout):
        raise AlgebraError("a TMA is of a tensor in global memory")
    kind = need(tensor.pointer.type)
    if not isinstance(kind, ValueType):
        raise AlgebraError("the element type of this tensor is not known", hint="give it: `let=NAME.element_type=Float16`")
    return Tensor(Pointer("gmem", kind.cpp, 0), mark_static(_as_large(tensor.layout))), kind


def _as_large(layout: Layout) -> Layout:
    """A layout whose run-time extents and strides are large numbers: neither an atom nor the coordinates depend on which."""
    steps = count(1)
    return Layout(
        map_leaves(lambda n: 1 << 20 if isinstance(n, Unknown) else n, layout.shape),
        map_leaves(lambda d: next(steps) << 24 if isinstance(d, Unknown) else d, layout.stride),
    )


def _made(made: algebra.TmaCopy, op: object, kind: ValueType, layout: Layout) -> tuple[Atom, Tensor]:
    """The atom and the coordinate tensor, as the functions that make such give them; layout: of the tensor in global memory."""
    made = replace(made, atom=replace(made.atom, value_type=f"cutlass.{kind.dsl}"))
    known = next(run_times(layout), None) is None
    atom, shape = Atom(made.atom, need(op), kind, made if known else None), layout.shape
    together = [n for n, mode in enumerate(modes(made.gbasis.stride)) if n and len(tuple(leaves(mode))) > 1]

    def step(stride: object) -> Any:  # of modes that share one of the map's, the DSL computes it when it runs
        return Basis(cast(Any, Unknown()), stride.path) if isinstance(stride, Basis) and stride.path[0] in together else stride

    return atom, coordinates(clear_static(Layout(shape, map_leaves(step, made.g_stride))))


def _without_stages(layout: Any, count: int) -> object:
    layout = mark_static(layout_of(layout))
    return select(layout, *range(count)) if rank(layout) == count + 1 else layout


def _internal(kind: object) -> str | None:
    kind = need(kind)
    if not isinstance(kind, ValueType):
        return None
    return "uint16_t" if kind.short == "s16" else kind.cpp  # the map has no signed one


def _tiled_atom(machine: Machine, args: list[object], named: dict[str, object]) -> Any:
    names = ("op", "gmem_tensor", "smem_layout", "cta_tiler", "num_multicast", "internal_type")
    named = {"smem_layout" if word == "smem_layout_" else word: value for word, value in named.items()}
    op, tensor, smem, tiler, multicast, internal = picked(args, named, names)
    memory, kind = _memory(tensor)
    tiler = mark_static(underscores(need(tiler)))
    smem = _without_stages(smem, len(tiler) if isinstance(tiler, tuple) else int(find("rank").call([tiler])))
    with as_in_dsl():
        made = make_tma_atom(_operation(machine, op), memory, smem, tiler, need(multicast) or 1, _internal(internal))
    return _made(made, op, kind, need(tensor).layout)


def _of_operand(side: str) -> Callable[..., Any]:
    """make_tiled_tma_atom_A and _B: a CTA's part of an operand's tile."""

    def make(machine: Machine, args: list[object], named: dict[str, object]) -> Any:
        names = ("op", "gmem_tensor", "smem_layout", "mma_tiler_mnk", "tiled_mma", "cluster_shape_vmnk", "internal_type")
        op, tensor, smem, tiler, mma, cluster, internal = picked(args, named, names)
        memory, kind = _memory(tensor)
        mma, cluster = need_tiled_mma(mma), need(cluster)
        cluster = (1, 1, 1, 1) if cluster is None else cluster
        smem = _without_stages(smem, 3)
        with as_in_dsl():
            made = parts.make_tma_atom_sm100(
                _operation(machine, op), memory, smem, mark_static(need(tiler)), mma.value, cluster, side, _internal(internal)
            )
        return _made(made, op, kind, need(tensor).layout)

    return make


def _partition(
    machine: Machine, atom: object, cta_coord: Raw, cta_layout: object, smem_tensor: object, gmem_tensor: object
) -> object:
    """`tma_partition`: the parts of shared memory and of the coordinates that a CTA copies, one instruction in the first mode."""
    ctas, smem = layout_of(cta_layout), smem_tensor
    smem = tensor_of(smem) if isinstance(smem, (Layout, ComposedLayout)) else smem  # a layout was given for a tensor
    if not isinstance(atom, Atom) or not isinstance(atom.value, Copy_Atom) or not isinstance(smem, Tensor):
        raise AlgebraError("tma_partition takes a TMA atom, a tensor of shared memory and one of coordinates")
    elements = int(size(get(atom.value.layout_src, 1)))
    cut, first = parts.order_of(elements, somewhere(underscores(cta_coord)), ctas, smem.layout)
    return tuple(_part(tensor, cut, first) for tensor in (smem, gmem_tensor))


def _part(tensor: Any, cut: Any, first: object) -> Tensor:
    """A tensor whose first mode is in the order of an instruction, from an element of that on."""
    tensor = replace(tensor, part=None) if isinstance(tensor, Tensor) else tensor_of(tensor)
    part = moved(tensor, parts.ordered(tensor.layout, cut, first))
    return replace(part, layout=clear_static(part.layout))


TMA: dict[tuple[str, str], Callable[..., Any]] = {
    ("", "make_tiled_tma_atom"): _tiled_atom,
    ("", "make_tiled_tma_atom_A"): _of_operand("A"),
    ("", "make_tiled_tma_atom_B"): _of_operand("B"),
    ("", "tma_partition"): _partition,
}


def _descriptors(op: DslOp, operand: str, source: object) -> Any:
    """The descriptors of an operand in shared memory: how far each starts behind the first, in units of 16 bytes. Source:
    MakeTensor<GMMA::smem_desc<Major>> and UMMA's. Raises: AlgebraError for a tensor that is not one of these."""
    kind = source.pointer.type if isinstance(source, Tensor) else None
    if isinstance(kind, Lost):
        raise kind.error
    if not isinstance(source, Tensor) or not isinstance(kind, ValueType):
        raise AlgebraError(f"operand {operand} of {op.name} is a tensor of shared memory, of a type that is known")
    layout = domain(source.layout)
    if not isinstance(layout, Layout) or (kind.bits < 8 and "MXF4" not in op.name):
        raise AlgebraError(f"operand {operand} of {op.name} is a descriptor of shared memory, which is not supported here")
    units = upcast(layout, 128 // kind.bits)
    fragment = clear_static(Layout((1, *modes(units.shape)[1:]), (0, *modes(units.stride)[1:])))
    made = _fields(op, operand, kind, source)
    return made if made is not None and made.layout == fragment else tensor_of(fragment)


def _fields(op: DslOp, operand: str, kind: ValueType, source: Tensor) -> Any:
    """The descriptors with their fields; None where the place, the swizzle or the major mode of the operand is not known."""
    major, layout, swizzle = op.get(f"{operand.lower()}_major_mode"), source.layout, source.pointer.swizzle
    if swizzle_of(layout) is not None and layout.offset == 0:  # of element offsets
        swizzle, layout = layout.outer.rescaled(4 - kind.bits.bit_length()), layout.inner
    if not isinstance(major, EnumMember) or not isinstance(layout, Layout) or not isinstance(source.offset, int):
        return None
    memory = Tensor(Pointer("smem", kind.cpp, None, swizzle, offset=source.offset), layout)
    try:
        made = make_descriptors(memory, "GMMA" if op.module == "warpgroup" else "UMMA", major.name)
    except CuteVizError:
        return None
    return clear_static(made)


def _columns(machine: Machine, tmem_tensors: object, rounding: object, arch: object) -> Any:
    """`get_num_tmem_alloc_cols(tensors, rounding=True)`: the columns that tensors take together, a power of two from 32 to 512."""
    tensors = tmem_tensors.items if isinstance(tmem_tensors, Mutable) else modes(tmem_tensors)
    taken = sum(int(find_tmem_tensor_col_offset(need(tensor))) for tensor in tensors)
    taken = taken if rounding is False else max(1 << (taken - 1).bit_length(), 32)
    if not 32 <= taken <= 512:
        raise AlgebraError(f"{taken} columns of tensor memory cannot be allocated: 32 to 512 can")
    return taken


def _copied_descriptors(machine: Machine, atom: Any, smem_tensor: Any) -> object:
    """`get_s2t_smem_desc_tensor(atom, smem_tensor)`: descriptors of what a tcgen05.cp takes, in units of 16 bytes."""
    kind = need(smem_tensor.pointer.type) if isinstance(smem_tensor, Tensor) else None
    if not isinstance(kind, ValueType) or not isinstance(smem_tensor.layout, Layout):
        raise AlgebraError("get_s2t_smem_desc_tensor takes a tensor of shared memory, of a type that is known")
    return tensor_of(clear_static(upcast(smem_tensor.layout, 128 // kind.bits)))


def _make_fragment(operand: str) -> Callable[..., Any]:
    """`tiled_mma.make_fragment_C(tensor or shape)`: registers, tensor memory of tcgen05, or descriptors of shared memory."""

    def make(machine: Machine, mma: Raw, input: object) -> Any:
        mma, source = mma.atom if isinstance(mma, Slice) else need(mma), input
        if isinstance(mma, Atom) and isinstance(mma.value, ThrMMA):  # of a thread's view the whole's
            mma = Atom(mma.value.tiled, mma.op, mma.element)
        if not isinstance(mma, Atom) or mma.op is None:
            raise AlgebraError("cannot determine what this MMA takes")
        layout, where = layout_of(source), mma.value.atom.instruction.home(operand)
        if where == "smem":
            return _descriptors(mma.op, operand, source)
        type_ = mma.value.atom.types["ABC".index(operand)] if mma.value.atom.types else ""
        kind = element(type_)
        if where == "tmem":
            made = make_fragment(mma.value.atom.instruction, operand, type_, layout.shape)
            return tensor_of(clear_static(made.layout), Pointer("tmem", kind))
        if operand == "C":  # whatever the strides of the tensor
            layout = Layout(layout.shape)
        elif isinstance(source, Tensor):
            layout = fragment_like(layout)
        return tensor_of(clear_static(layout), Pointer("rmem", kind))

    return make


def _properties(machine: Machine, tiled_tmem_load: object) -> object:
    """`get_tmem_copy_properties(copy)`: lanes, bits of a column, repetitions, packs, loads; None of others."""
    value = tiled_tmem_load.value if isinstance(tiled_tmem_load, Atom) else None
    value = value.atom if isinstance(value, TiledCopy) else value
    if not isinstance(value, Copy_Atom) or not value.instruction.lanes:
        return None
    op, shape = value.instruction, re.findall(r"\d+", value.instruction.opcode.split(".")[4])  # 16x32bx2 is of two
    bits = int(shape[1]) * (int(shape[2]) if len(shape) > 2 else 1)
    return op.lanes, bits, int(op.arguments["n"]), "16b" in op.words, op.kind == "tcgen05.ld"


def _copy(kinds: tuple[str, ...], example: str) -> Callable[..., Any]:
    """`make_tmem_copy` and `make_s2t_copy`, of an atom and a tensor of tensor memory, whose extents of stride 0 count once."""

    def make(machine: Machine, atom: Any, tmem_tensor: object) -> Any:
        found = atom.value if isinstance(atom, Atom) else None
        if not isinstance(found, Copy_Atom) or found.instruction.kind not in kinds or not isinstance(tmem_tensor, Tensor):
            raise AlgebraError("an atom that reaches tensor memory and a tensor of it are expected", hint=f"example: {example}")
        layout = tmem_tensor.layout
        return Atom(of_tmem(found, filter_zeros(layout) if "tcgen05.cp" in kinds else layout), atom.op, atom.element)

    return make


def _in_tensor_memory(operand: str) -> Callable[..., Any]:
    """make_tmem_layout_sfa and _sfb: where tensor memory has the scale factors of a stage, of which it keeps four copies."""

    def make(machine: Machine, tiled_mma: object, mma_tiler_mnk: Raw, sf_vec_size: Raw, smem_layout: object) -> Any:
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
    ("", "get_tmem_copy_properties"): _properties,
    ("", "make_tmem_copy"): _copy(("tcgen05.ld", "tcgen05.st"), "tcgen05.Ld32x32bOp(tcgen05.Repetition(32))"),
    ("", "make_s2t_copy"): _copy(("tcgen05.cp",), "tcgen05.Cp4x32x128bOp"),
}


_CAPACITY = dict.fromkeys(("80", "87"), 163) | dict.fromkeys(("86", "89", "120", "121"), 99)
_CAPACITY |= dict.fromkeys(("90", "100", "101", "103", "110"), 227)


def _from_tensor(machine: Machine, tensor: Raw) -> object:
    """LayoutEnum.from_tensor: which of the first two modes is contiguous; of `ROW_MAJOR`, given for a tensor, that."""
    if isinstance(tensor, Lost) and tensor.path:
        message = f"cannot determine whether {tensor.path!r} is row-major or column-major"
        hint = f"give it: `let={tensor.path}=ROW_MAJOR`, COL_MAJOR, or a layout, for example (512,512):(512,1)"
        raise tensor.error.but(message=message, hint=hint, needs=(tensor.path,))
    tensor = need(tensor)
    if isinstance(tensor, EnumMember) and tensor.enum == "LayoutEnum":
        return tensor
    at = leading(tensor.layout) if isinstance(tensor, Tensor) else leading(tensor)
    if at not in (0, 1):
        raise AlgebraError("this tensor is neither row-major nor column-major")
    return EnumMember("LayoutEnum", "ROW_MAJOR" if at == 1 else "COL_MAJOR")


def _smem_capacity(machine: Machine, compute_capability: object) -> object:
    """Shared memory of a block, in bytes, by the name of an architecture."""
    text, arch = machine.main.text, compute_capability
    if arch is None and re.search(r"\b(tcgen05|warpgroup)\b", text) and not re.search(r"\bsm_?(80|86|89|12\d)\b|\bwarp\.Mma", text):
        machine.given.notes["blocks have 227 KiB of shared memory, as those of SM90 and SM100 that this file is for"] = None
        arch = "sm_100"
    number = str(arch).removeprefix("sm_").rstrip("af")
    if number not in _CAPACITY:
        raise AlgebraError(f"the shared memory of {arch or 'this GPU'} is not known", hint="example: 'sm_90'")
    return _CAPACITY[number] * 1024


def _unit(machine: Machine, value: Any, mode: object) -> object:
    """`ScaledBasis(1, 0)`, which is `E(0)`, `E([1, 0])`: a step along a coordinate."""
    mode = underscores(mode)
    path = mode if isinstance(mode, tuple) else (mode,)
    if not all(isinstance(at, int) for at in path):
        raise AlgebraError("E takes the number of a mode, or a path of such")
    return Basis(value, tuple(map(int, path))) if path else value


HELPERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("", "from_tensor"): _from_tensor,
    ("", "get_smem_capacity_in_bytes"): _smem_capacity,
    **TENSOR_MEMORY,
    **TMA,
    ("cute", "E"): lambda machine, mode: _unit(machine, 1, mode),
    ("cute", "ScaledBasis"): _unit,
    ("", "basis_value"): lambda machine, e: getattr(e, "value", e),
}
