"""Scale factors of blockwise and groupwise scaled GEMMs: plain layouts, M- or K-major (Sm1xxBlockwiseScaleConfig).

One factor is for a block of vector_mn x vector_k elements, whose strides are 0.
Source: cutlass/detail/blockwise_scale_layout.hpp (CUTLASS 4.7.0).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra.common import refuse
from cute_viz.algebra.descriptor import major_of
from cute_viz.algebra.inttuple import product
from cute_viz.algebra.layout import Layout

MN = "UMMA::Major::MN"


def _blocks(rows: int, depth: int, vector: int, vector_k: int, major: str) -> Layout:
    if vector < 1 or vector_k < 1:
        refuse("Sm1xxBlockwiseScaleConfig", (vector, vector_k), "a factor is for a block of at least 1 x 1 elements")
    high, deep = -(-rows // vector), -(-depth // vector_k)
    steps = (1, high) if major == "MN" else (deep, 1)
    return Layout(((vector, high), (vector_k, deep)), ((0, steps[0]), (0, steps[1])))


def _extents(name: str, shape: Any, ranks: tuple[int, ...]) -> list[int]:
    if not isinstance(shape, tuple) or len(shape) not in ranks:
        refuse(name, (shape,), f"the shape is (M,N,K{',L' if 4 in ranks else ''})")
    return [product(mode) for mode in shape]


def _of_problem(operand: str) -> Callable[..., Layout]:
    def tile_atom_to_shape(shape: Any, m: int, n: int, k: int, major_a: Any = MN, major_b: Any = MN) -> Layout:
        rows, vector, major = (0, m, major_a) if operand == "SFA" else (1, n, major_b)
        extents = _extents(f"tile_atom_to_shape_{operand}", shape, (3, 4))
        one = _blocks(extents[rows], extents[2], vector, k, major_of(major))
        factors = product(one.shape) // (vector * k)
        return Layout((*one.shape, extents[3] if len(extents) > 3 else 1), (*one.stride, factors))  # type: ignore[misc]

    tile_atom_to_shape.__doc__ = f"The scale factors {operand} of a problem (M,N,K,L): Sm1xxBlockwiseScaleConfig<...>."
    return tile_atom_to_shape


def _of_tile(operand: str) -> Callable[..., Layout]:
    def smem_atom_layout(shape: Any, m: int, n: int, k: int, major_a: Any = MN, major_b: Any = MN) -> Layout:
        rows, vector = (0, m) if operand == "SFA" else (1, n)
        extents = _extents(f"smem_atom_layout{operand}", shape, (3,))
        return _blocks(extents[rows], extents[2], vector, k, major_of(major_a))  # of SFB, too, as CUTLASS 4.7.0 computes it

    smem_atom_layout.__doc__ = f"The scale factors {operand} of a tile (M,N,K) in shared memory: Sm1xxBlockwiseScaleConfig<...>."
    return smem_atom_layout


blockwise_tile_atom_to_shape_SFA, blockwise_tile_atom_to_shape_SFB = map(_of_problem, ("SFA", "SFB"))
blockwise_smem_atom_layoutSFA, blockwise_smem_atom_layoutSFB = map(_of_tile, ("SFA", "SFB"))
