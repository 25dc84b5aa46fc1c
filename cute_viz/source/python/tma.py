"""The DSL's TMA: atoms, their coordinate tensors, and the parts that a CTA copies.

Sources: cutlass/cute/nvgpu/helpers.py, cpasync/helpers.py and utils/blackwell_helpers.py of the Python DSL 4.7, and CUTLASS's
cute/atom/copy_traits_sm90_tma.hpp.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any, cast

from cute_viz.algebra import tma as algebra
from cute_viz.algebra import tma_parts as parts
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.copy import Copy_Atom, CopyOp
from cute_viz.algebra.dialect import as_in_dsl
from cute_viz.algebra.inttuple import leaves, map_leaves, modes
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.make_tma import make_tma_atom
from cute_viz.algebra.measure import rank, size
from cute_viz.algebra.modes import get, select
from cute_viz.algebra.ops import find
from cute_viz.algebra.static import clear_static, mark_static
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError
from cute_viz.source.python.instructions import need_tiled_mma, resolved
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.subscripts import moved, somewhere, underscores
from cute_viz.source.python.tensors import Raw, coordinates, layout_of, picked
from cute_viz.source.python.values import Atom, DslOp, run_times, tensor_of
from cute_viz.values.integer import Unknown
from cute_viz.values.pointer import Pointer
from cute_viz.values.types import ValueType


def _operation(machine: Machine, op: Any) -> CopyOp:
    """CuTe's operation for one of the DSL. Raises: AlgebraError for anything but a bulk tensor copy."""
    op = need(op)
    if not isinstance(op, DslOp) or "BulkTensorTile" not in op.name:
        raise AlgebraError("a bulk tensor copy is expected here", hint="example: cpasync.CopyBulkTensorTileG2SOp()")
    found = resolved(op, machine.given.resolve)
    if not isinstance(found, CopyOp):
        raise AlgebraError(f"{op.name} is not a copy operation")
    return replace(found, thr_id=clear_static(found.thr_id))


def _memory(tensor: Any) -> tuple[Tensor, ValueType]:
    """A tensor in global memory, for the algebra. Raises: AlgebraError without a known layout or element type."""
    tensor = need(tensor)
    if not isinstance(tensor, Tensor) or not isinstance(tensor.layout, Layout) or is_coordinate_layout(tensor.layout):
        raise AlgebraError("a TMA is of a tensor in global memory")
    kind = need(tensor.pointer.type)
    if not isinstance(kind, ValueType):
        raise AlgebraError("the element type of this tensor is not known", hint="give it: `let=NAME.element_type=Float16`")
    return Tensor(Pointer("gmem", kind.cpp, 0), mark_static(_as_large(tensor.layout))), kind


def _as_large(layout: Layout) -> Layout:
    """A layout whose run-time extents and strides are large numbers: neither an atom nor the coordinates depend on which.

    >>> str(_as_large(Layout((8, 4), (4, 1))))
    '(8,4):(4,1)'
    """
    steps = count(1)
    return Layout(
        map_leaves(lambda n: 1 << 20 if isinstance(n, Unknown) else n, layout.shape),
        map_leaves(lambda d: next(steps) << 24 if isinstance(d, Unknown) else d, layout.stride),
    )


def _made(made: algebra.TmaCopy, op: Any, kind: ValueType, layout: Layout) -> tuple[Atom, Tensor]:
    """The atom and the coordinate tensor, as the functions that make such give them; layout: of the tensor in global memory."""
    made = replace(made, atom=replace(made.atom, value_type=f"cutlass.{kind.dsl}"))
    known = next(run_times(layout), None) is None
    atom, shape = Atom(made.atom, need(op), kind, made if known else None), layout.shape
    together = [n for n, mode in enumerate(modes(made.gbasis.stride)) if n and len(tuple(leaves(mode))) > 1]

    def step(stride: Any) -> Any:  # of modes that share one of the map's, the DSL computes it when it runs
        return Basis(cast(Any, Unknown()), stride.path) if isinstance(stride, Basis) and stride.path[0] in together else stride

    return atom, coordinates(clear_static(Layout(shape, map_leaves(step, made.g_stride))))


def _without_stages(layout: Any, count: int) -> Any:
    layout = mark_static(layout_of(layout))
    return select(layout, *range(count)) if rank(layout) == count + 1 else layout


def _internal(kind: Any) -> str | None:
    kind = need(kind)
    if not isinstance(kind, ValueType):
        return None
    return "uint16_t" if kind.short == "s16" else kind.cpp  # the map has no signed one


def _tiled_atom(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
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

    def make(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
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


def _partition(machine: Machine, atom: Any, cta_coord: Raw, cta_layout: Any, smem_tensor: Any, gmem_tensor: Any) -> Any:
    """`tma_partition`: the parts of shared memory and of the coordinates that a CTA copies, one instruction in the first mode."""
    ctas, smem = layout_of(cta_layout), smem_tensor
    smem = tensor_of(smem) if isinstance(smem, (Layout, ComposedLayout)) else smem  # a layout was given for a tensor
    if not isinstance(atom, Atom) or not isinstance(atom.value, Copy_Atom) or not isinstance(smem, Tensor):
        raise AlgebraError("tma_partition takes a TMA atom, a tensor of shared memory and one of coordinates")
    elements = int(size(get(atom.value.layout_src, 1)))
    cut, first = parts.order_of(elements, somewhere(underscores(cta_coord)), ctas, smem.layout)
    return tuple(_part(tensor, cut, first) for tensor in (smem, gmem_tensor))


def _part(tensor: Any, cut: Any, first: Any) -> Tensor:
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
