"""Scale factors of block-scaled MMAs, and of blockwise scaled GEMMs (Sm1xxBlockScaledConfig, Sm1xxBlockwiseScaleConfig).

A layout maps (row, element of K) to a scale factor of 8 bits; the elements that share one have stride 0.
Sources: cutlass/detail/sm100_blockscaled_layout.hpp, blockwise_scale_layout.hpp (CUTLASS 4.7.0).
"""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.common import refuse, told_outside
from cute_viz.algebra.descriptor import major_of
from cute_viz.algebra.inttuple import modes, product, ranked
from cute_viz.algebra.layout import Layout, trusted
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import as_tiled_mma
from cute_viz.algebra.modes import append, get
from cute_viz.algebra.static import EmptyLayout, mark_static
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import Static, is_static

BLK_MN, BLK_SF = 128, 4  # rows, and scale factors of a row, that an atom holds
VECTORS = (16, 32, 64)


def sf_atom(vector: int) -> Layout:
    """The block of 128 rows x 4 scale factors in 512 bytes: SfAtom.

    >>> str(sf_atom(16))
    '((32,4),(16,4)):((16,4),(0,1))'
    """
    if vector not in VECTORS:
        raise AlgebraError(f"one scale factor covers {', '.join(map(str, VECTORS))} elements, not {vector}")
    return Layout(((32, 4), (vector, BLK_SF)), ((16, 4), (0, 1)))


def tile_atom_to_shape(shape: object, operand: str, vector: int) -> Layout:
    """The layout of all scale factors of "SFA" (M x K x L) or "SFB" (N x K x L) for a problem (M,N,K) or (M,N,K,L).

    Extents are rounded up to whole blocks. The steps of run-time extents stay where there is one block, as in CuTe.
    Raises: AlgebraError for a problem of any other rank.

    >>> str(tile_atom_to_shape((256, 128, 256, 1), "SFB", 32))
    '(((32,4),1),((32,4),2),(1,1)):(((16,4),1024),((0,1),512),(0,1024))'
    """
    if not ranked(shape, 3, 4) or not all(isinstance(extent, int) for extent in shape):
        refuse(f"tile_atom_to_shape_{operand}", (shape,), "the problem must be (M,N,K) or (M,N,K,L)")
    m, n, k = shape[:3]
    atom = sf_atom(vector)
    rows, depth = (-(-extent // block) for extent, block in ((m if operand == "SFA" else n, BLK_MN), (k, vector * BLK_SF)))
    own = (m if operand == "SFA" else n, k, *shape[3:])
    blocks_of = (BLK_MN, vector * BLK_SF)
    if all(is_static(x) for x in own) and any(x % block for x, block in zip(own, blocks_of, strict=False)):
        words = "tile_to_shape: block shape does not divide the target shape."
        refuse(f"tile_atom_to_shape_{operand}", (shape,), f"{words} A block is {BLK_MN} x {vector * BLK_SF}")
    step = BLK_MN * BLK_SF
    extents, steps = [(m if operand == "SFA" else n, rows, step * depth), (k, depth, step)], []
    if len(shape) == 4:
        extents.append((shape[3], shape[3], step * depth * rows))
        atom = append(atom, n=3)
    for given, blocks, stride in extents:
        steps.append(0 if blocks == 1 and is_static(given) else stride)
    counts = [blocks for _, blocks, _ in extents]
    if any(is_static(x) for x in shape):  # what is static in CuTe: a box of TMA follows from it
        known = [is_static(x) for x in own]
        before = (known[1], True, known[0] and known[1])  # blocks follow each other along K, then along M or N
        atom, counts = mark_static(atom), [Static(x) if fixed else x for x, fixed in zip(counts, known, strict=True)]
        steps = [Static(x) if fixed or x == 0 else x for x, fixed in zip(steps, before, strict=False)]
    shapes = tuple(zip(modes(atom.shape), counts, strict=True))
    return Layout(shapes, tuple(zip(modes(atom.stride), steps, strict=True)))


def deduce_smem_layout(mma: object, operand: str, tile: object, vector: int) -> Any:
    """The layout in shared memory of "SFA" or "SFB" for a tile (M,N,K): ((MMA_MN,(vector,factors)),1,(MMA_K...)).

    N is rounded up to 128: tcgen05.cp copies whole blocks. Raises: AlgebraError for K of the tile smaller than one block's 4
    factors, and for M so where a picture is asked for: of values CuTe has an extent of 0 (EmptyLayout).

    >>> text = "SM100_MMA_MXF8F6F4_SS<float_e4m3_t,float_e4m3_t,float,float_ue8m0_t,128,192,UMMA::Major::K,UMMA::Major::K>{}"
    >>> str(deduce_smem_layout(parse(text), "SFB", (128, 192, 128), 32))
    '((((32,4),2),(32,1)),1,(4,1)):((((16,4),512),(0,1)),0,(1,1024))'
    """
    tiled = as_tiled_mma(mma)
    if not ranked(tile, 3):
        refuse(f"deduce_smem_layout{operand}", (tile,), "the tile must be (M,N,K)")
    m, n, k = map(product, tile)
    sf_atom(vector)  # refuses a vector that there is not
    factors = product(tiled.atom.shape_mnk[2]) // vector
    if factors not in (1, 2, 4):
        refuse(f"deduce_smem_layout{operand}", (tile,), f"K of the MMA has {factors} scale factors, not 1, 2 or 4")
    if k < vector * BLK_SF:
        refuse(f"deduce_smem_layout{operand}", (tile,), f"K of the tile is less than 4 scale factors of {vector} elements")
    extent = m // size(get(tiled.thr_layout_vmnk, 0)) if operand == "SFA" else -(-n // BLK_MN) * BLK_MN
    blocks, elements = extent // BLK_MN, BLK_MN * BLK_SF
    shape = ((((32, 4), blocks), (vector, factors)), 1, (BLK_SF // factors, k // vector // BLK_SF))
    stride = ((((16, 4), elements), (0, 1)), 0, (factors, blocks * elements))
    if not blocks:
        words = f"M of the tile is less than the {BLK_MN} rows of a block, {extent} a CTA: the layout has no elements"
        if not told_outside(words):
            refuse(f"deduce_smem_layout{operand}", (tile,), words)
        return EmptyLayout(trusted(shape, stride))
    return Layout(shape, stride)


# Blockwise and groupwise scaled GEMMs have plain layouts, M- or K-major, in which the strides of a block are 0.
_MN = "UMMA::Major::MN"


def _blocks(rows: int, depth: int, vector: int, vector_k: int, major: str) -> Layout:
    if vector < 1 or vector_k < 1:
        refuse("Sm1xxBlockwiseScaleConfig", (vector, vector_k), "a factor is for a block of at least 1 x 1 elements")
    high, deep = -(-rows // vector), -(-depth // vector_k)
    steps = (1, high) if major == "MN" else (deep, 1)
    return Layout(((vector, high), (vector_k, deep)), ((0, steps[0]), (0, steps[1])))


def _extents(name: str, shape: object, ranks: tuple[int, ...]) -> list[int]:
    if not ranked(shape, *ranks):
        refuse(name, (shape,), f"the shape is (M,N,K{',L' if 4 in ranks else ''})")
    return [product(mode) for mode in shape]


def blockwise_of_problem(
    shape: object, operand: str, m: int, n: int, k: int, major_a: object = _MN, major_b: object = _MN
) -> Layout:
    """The scale factors SFA or SFB of a problem (M,N,K,L): Sm1xxBlockwiseScaleConfig<...>::tile_atom_to_shape_SFA.

    One factor is for a block of m or n x k elements. Source: cutlass/detail/blockwise_scale_layout.hpp.

    >>> str(blockwise_of_problem((256, 256, 512), "SFA", 1, 128, 128))
    '((1,256),(128,4),1):((0,1),(0,256),1024)'
    """
    rows, vector, major = (0, m, major_a) if operand == "SFA" else (1, n, major_b)
    extents = _extents(f"tile_atom_to_shape_{operand}", shape, (3, 4))
    one = _blocks(extents[rows], extents[2], vector, k, major_of(major))
    factors = product(one.shape) // (vector * k)
    return Layout((*one.shape, extents[3] if len(extents) > 3 else 1), (*one.stride, factors))  # type: ignore[misc]


def blockwise_of_tile(shape: object, operand: str, m: int, n: int, k: int, major_a: object = _MN, major_b: object = _MN) -> Layout:
    """The scale factors SFA or SFB of a tile (M,N,K) in shared memory: Sm1xxBlockwiseScaleConfig<...>::smem_atom_layoutSFA.

    major_a counts for both, as in CUTLASS 4.7.0.

    >>> str(blockwise_of_tile((128, 128, 256), "SFB", 1, 128, 128))
    '((128,1),(128,2)):((0,1),(0,1))'
    """
    rows, vector = (0, m) if operand == "SFA" else (1, n)
    extents = _extents(f"smem_atom_layout{operand}", shape, (3,))
    return _blocks(extents[rows], extents[2], vector, k, major_of(major_a))
