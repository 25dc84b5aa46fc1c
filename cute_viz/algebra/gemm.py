"""The layouts of one GEMM: the MMA, the shared-memory tiles of A and B, and the copies between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from cute_viz.algebra.composed import ComposedLayout, domain, position_independent
from cute_viz.algebra.copy import TiledCopy, tile_of
from cute_viz.algebra.inttuple import modes, product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import TiledMMA, tile_shape
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError


@dataclass(frozen=True, slots=True)
class Gemm(Shown):
    """One thread block's part of D = A B + C.

    tile: (M, N, K), what a block computes with at a time.
    smem_a, smem_b: the shared-memory layouts of the (M,K) and the (N,K) tile, or of an atom that is repeated over it.
    g2s_a, g2s_b: the copies from global to shared memory; s2r_a, s2r_b: from shared memory to registers.
    epilogue: the copy of the accumulator back to global memory. Copies that are left out are None.
    """

    tiling: ClassVar[str] = "gemm"
    mma: TiledMMA
    tile: tuple[int, int, int]
    smem_a: Layout | ComposedLayout
    smem_b: Layout | ComposedLayout
    g2s_a: TiledCopy | None = None
    g2s_b: TiledCopy | None = None
    s2r_a: TiledCopy | None = None
    s2r_b: TiledCopy | None = None
    epilogue: TiledCopy | None = None

    def __str__(self) -> str:
        return f"GEMM of {show(self.tile)} with {self.mma.atom.name or 'an MMA atom'} over {show(tile_shape(self.mma))}"


def make_gemm(mma: TiledMMA, tile: Any, smem_a: Any, smem_b: Any = None, **copies: TiledCopy | None) -> Gemm:
    """A Gemm whose parts fit together.

    Raises: AlgebraError for a tile that the MMA, a copy or a shared-memory layout does not divide.

    >>> mma = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")
    >>> print(make_gemm(mma, (128, 128, 64), Layout((8, 64), (64, 1))))
    GEMM of (128,128,64) with SM80_16x8x16_F32F16F16F32_TN over (32,16,16)
    """
    if not isinstance(mma, TiledMMA):
        raise AlgebraError(f"a gemm needs a TiledMMA, not {show(mma)}")
    if not isinstance(tile, tuple) or len(tile) != 3 or not all(isinstance(x, int) and x > 0 for x in tile):
        raise AlgebraError(f"the tile of a gemm must be (M,N,K), not {show(tile)}", hint="example: (128,128,64)")
    m, n, k = tile
    _fits("the MMA", tile_shape(mma), tile)
    smem_b = smem_a if smem_b is None else smem_b
    for what, layout, extents in (("smem_a", smem_a, (m, k)), ("smem_b", smem_b, (n, k))):
        if not isinstance(layout, (Layout, ComposedLayout)):
            raise AlgebraError(f"{what} must be a layout, not {show(layout)}")
        shape = tuple(product(mode) for mode in modes(domain(layout).shape))[:2]
        _fits(what, shape, extents)
    for what, copy in copies.items():
        if copy is not None:
            extents = {"a": (m, k), "b": (n, k)}.get(what[-1], (m, n))
            _fits(what, tile_of(copy), extents)
    return Gemm(mma, tile, position_independent(smem_a), position_independent(smem_b), **copies)


def _fits(what: str, part: tuple[int, ...], whole: tuple[int, ...]) -> None:
    if len(part) != len(whole) or any(b % a for a, b in zip(part, whole, strict=True)):
        raise AlgebraError(f"{what} covers {show(part)}, which does not divide {show(whole)}")
