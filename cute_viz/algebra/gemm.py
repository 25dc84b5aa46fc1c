"""One GEMM: its layouts, the objects that a tile goes through, and the pipeline of its tiles through stages of shared memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple

from cute_viz.algebra.common import needed
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain, is_layout, position_independent
from cute_viz.algebra.copy import TiledCopy, tile_of
from cute_viz.algebra.inttuple import modes, product, ranked, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import TiledMMA, tile_shape
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError, did_you_mean


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


def make_gemm(
    mma: TiledMMA, tile: tuple[int, int, int], smem_a: AnyLayout, smem_b: AnyLayout | None = None, **copies: TiledCopy | None
) -> Gemm:
    """A Gemm whose parts fit together. Raises: AlgebraError for a tile that the MMA, a copy or a shared-memory layout does not
    divide."""
    needed(TiledMMA, mma, "a gemm needs a TiledMMA")
    if not ranked(tile, 3) or not all(isinstance(x, int) and x > 0 for x in tile):
        raise AlgebraError(f"the tile of a gemm must be (M,N,K), not {show(tile)}", hint="example: (128,128,64)")
    m, n, k = tile
    _fits("the MMA", tile_shape(mma), tile)
    smem_b = smem_a if smem_b is None else smem_b
    for what, layout, extents in (("smem_a", smem_a, (m, k)), ("smem_b", smem_b, (n, k))):
        if not is_layout(layout):
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


@dataclass(frozen=True, slots=True)
class Stages(Shown):
    """Objects in the order in which a kernel uses them.

    names: what A, B, C, the A and the B of a next MMA, and D are called; empty for these letters.
    """

    tiling: ClassVar[str] = "stages"
    parts: tuple[Any, ...]
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "; ".join(show(part).splitlines()[0] for part in self.parts)


def stages(*parts: object) -> Stages:
    """Objects as the numbered stages of a kernel. The name is ours.

    >>> str(stages(Layout(4), Layout(8)))
    '4:1; 8:1'
    """
    return Stages(parts)


def attention(*parts: object) -> Stages:
    """The stages of attention's forward, S = QKᵀ and O += PV, with softmax between. The name is ours.

    >>> attention(Layout(4), Layout(8)).names
    ('Q', 'Kᵀ', 'S = QKᵀ', 'P', 'V', 'O')
    """
    return Stages(parts, ("Q", "Kᵀ", "S = QKᵀ", "P", "V", "O"))


MOST = {"stages": 32, "tiles": 1024, "load": 64, "compute": 64, "consumers": 4, "work": 64, "epilogue": 64}


class Turn(NamedTuple):
    """One tile of K in one stage: the slots in which its load is issued, its data is there, its MMA begins, and it is free again.

    tile: its number. stage: tile mod stages. consumer: the warp group that reads it.
    """

    tile: int
    stage: int
    consumer: int
    issued: int
    full: int
    begun: int
    free: int


class Store(NamedTuple):
    """The epilogue of an output tile: who stores it, and in which slots."""

    work: int
    consumer: int
    begun: int
    done: int


@dataclass(frozen=True, slots=True)
class Pipeline(Shown):
    """A producer that issues a load a slot, and consumers that wait for it.

    stages: buffers of shared memory. tiles: of K, of one output tile. load, compute, epilogue: slots that a load takes until its
    data is there, an MMA over a tile, and the store of an output tile. consumers: warp groups that take turns, an output tile
    each, and whose MMAs share the tensor cores (CUTLASS's ping-pong). work: output tiles.
    """

    tiling: ClassVar[str] = "pipeline"
    stages: int
    tiles: int = 8
    load: int = 3
    compute: int = 1
    consumers: int = 1
    work: int = 1
    epilogue: int = 2
    source: str = ""

    def __str__(self) -> str:
        return f"pipeline of {self.stages} stages, {self.tiles} tiles"

    def given(self, words: Mapping[str, str]) -> Pipeline:
        """The pipeline with numbers by name. Raises: AlgebraError for another name, and for a number that is none of those
        allowed."""
        for name, word in words.items():
            if name not in MOST:
                raise AlgebraError(f"a pipeline has no {name!r}", hint=did_you_mean(name, MOST, 1) or f"it has {', '.join(MOST)}")
            least = 0 if name == "epilogue" else 1
            if not word.isdecimal() or not least <= int(word[:9]) <= MOST[name]:
                raise AlgebraError(f"{name} of a pipeline is an integer from {least} to {MOST[name]}, not {word[:20]}")
        numbers: dict[str, Any] = {name: int(word) for name, word in words.items()}
        return replace(self, **numbers)

    def turns(self) -> tuple[list[Turn], list[Store]]:
        """When what happens. A load waits until its stage is free (the empty barrier), an MMA until its tile is full."""
        turns: list[Turn] = []
        stores: list[Store] = []
        for n in range(self.tiles * self.work):
            work, k = divmod(n, self.tiles)
            issued = max(turns[-1].issued + 1 if turns else 0, turns[n - self.stages].free if n >= self.stages else 0)
            before = stores[work - self.consumers].done if k == 0 and work >= self.consumers else 0
            begun = max(issued + self.load, turns[-1].free if turns else 0, before)
            done = begun + self.compute
            turns.append(Turn(n, n % self.stages, work % self.consumers, issued, issued + self.load, begun, done))
            if k == self.tiles - 1:
                stores.append(Store(work, work % self.consumers, done, done + self.epilogue))
        return turns, stores

    def waits(self) -> int:
        """The slots between the first MMA and the end of the last in which none runs."""
        turns, _ = self.turns()
        return turns[-1].free - turns[0].begun - self.compute * len(turns)


assert MOST.keys() == {field.name for field in fields(Pipeline)} - {"source"}


def words_of(text: str) -> dict[str, str]:
    """The numbers by name of `tiles=8, load=3`. Raises: AlgebraError for another text."""
    parts = [part for part in re.split(r"[,\s]+", text.strip()) if part]
    found = [re.fullmatch(r"(\w+)=(\w+)", part) for part in parts]
    if not parts or not all(found):
        raise AlgebraError(f"{text[:40]!r} is not a schedule", hint=f"example: tiles=8,load=3; names: {', '.join(MOST)}")
    return {match[1]: match[2] for match in found if match is not None}
