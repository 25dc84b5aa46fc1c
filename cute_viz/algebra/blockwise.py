"""Scale factors of blockwise and groupwise scaled GEMMs: plain layouts, M- or K-major (Sm1xxBlockwiseScaleConfig).

One factor is for a block of vector_mn x vector_k elements, whose strides are 0.
Source: cutlass/detail/blockwise_scale_layout.hpp (CUTLASS 4.7.0).
"""

from __future__ import annotations

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


def _global(operand: str, shape: Any, vector: int, vector_k: int, major: str) -> Layout:
    extents = _extents(f"tile_atom_to_shape_{operand}", shape, (3, 4))
    batches = extents[3] if len(extents) > 3 else 1
    one = _blocks(extents[["SFA", "SFB"].index(operand)], extents[2], vector, vector_k, major)
    factors = product(one.shape) // (vector * vector_k)
    return Layout((*one.shape, batches), (*one.stride, factors))  # type: ignore[misc]


def blockwise_tile_atom_to_shape_SFA(shape: Any, m: int, n: int, k: int, major_a: Any = MN, major_b: Any = MN) -> Layout:
    """The scale factors of A of a problem (M,N,K,L): Sm1xxBlockwiseScaleConfig<m,n,k,majorSFA,majorSFB>::tile_atom_to_shape_SFA.

    >>> str(blockwise_tile_atom_to_shape_SFA((256, 128, 512, 1), 1, 128, 128))
    '((1,256),(128,4),1):((0,1),(0,256),1024)'
    """
    return _global("SFA", shape, m, k, major_of(major_a))


def blockwise_tile_atom_to_shape_SFB(shape: Any, m: int, n: int, k: int, major_a: Any = MN, major_b: Any = MN) -> Layout:
    """The scale factors of B of a problem (M,N,K,L): Sm1xxBlockwiseScaleConfig<m,n,k,majorSFA,majorSFB>::tile_atom_to_shape_SFB.

    >>> str(blockwise_tile_atom_to_shape_SFB((256, 256, 512, 1), 1, 128, 128, MN, "UMMA::Major::K"))
    '((128,2),(128,4),1):((0,4),(0,1),8)'
    """
    return _global("SFB", shape, n, k, major_of(major_b))


def blockwise_smem_atom_layoutSFA(shape: Any, m: int, n: int, k: int, major_a: Any = MN, major_b: Any = MN) -> Layout:
    """The scale factors of A of a tile (M,N,K) in shared memory: Sm1xxBlockwiseScaleConfig<...>::smem_atom_layoutSFA.

    >>> str(blockwise_smem_atom_layoutSFA((128, 128, 256), 1, 128, 128, "UMMA::Major::K"))
    '((1,128),(128,2)):((0,2),(0,1))'
    """
    extents = _extents("smem_atom_layoutSFA", shape, (3,))
    return _blocks(extents[0], extents[2], m, k, major_of(major_a))


def blockwise_smem_atom_layoutSFB(shape: Any, m: int, n: int, k: int, major_a: Any = MN, major_b: Any = MN) -> Layout:
    """The scale factors of B of a tile (M,N,K) in shared memory: Sm1xxBlockwiseScaleConfig<...>::smem_atom_layoutSFB.

    As CUTLASS 4.7.0 computes it, whose order follows majorSFA and not majorSFB.

    >>> str(blockwise_smem_atom_layoutSFB((128, 256, 256), 1, 64, 128, MN, "UMMA::Major::K"))
    '((64,4),(128,2)):((0,1),(0,4))'
    """
    extents = _extents("smem_atom_layoutSFB", shape, (3,))
    return _blocks(extents[1], extents[2], n, k, major_of(major_a))
