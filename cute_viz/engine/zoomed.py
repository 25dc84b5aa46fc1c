"""A kernel's file -> what its boards begin with: the tile of C of a CTA, the grid of CTAs, the cluster, the tiles of K."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cute_viz.algebra.composed import domain, is_layout
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.tensor import whole
from cute_viz.engine.whole import value_of
from cute_viz.errors import CuteVizError

if TYPE_CHECKING:
    from cute_viz.algebra.common import Operation
    from cute_viz.source.model import Entry, SourceFile

Pair: TypeAlias = "tuple[int, int]"


class Launched(NamedTuple):
    """The tile of C, the grid of CTAs, the CTAs of a cluster along M and N, and the K of a tile; None for what is not known."""

    tile: Pair | None = None
    grid: Pair | None = None
    cluster: Pair | None = None
    k: int | None = None


class _Cut(NamedTuple):
    """A tensor that `local_tile` cuts: the extents of what it gives, and the first two of its own."""

    into: tuple[int, ...]
    whole: tuple[int, ...]

    @property
    def tile(self) -> Pair:
        return self.into[0], self.into[1]

    @property
    def tiles(self) -> Pair | None:
        """How many tiles there are; None of extents that are not known."""
        m, n = (-(-whole // one) if isinstance(whole, int) else None for whole, one in zip(self.whole, self.tile, strict=True))
        return None if m is None or n is None else (m, n)


def launched(file: SourceFile) -> Launched:
    """Where the file, as its launch runs it, cuts its tensors into tiles of C, and makes masks of multicasts. Nothing where
    several differ. What a compiler leaves to the run, the extents of C, is taken from the text, where that has the same tile."""
    of_c, of_a = _of_c_and_a(file)
    cuts = {(cut.tile, cut.tiles) for cut in of_c}
    if len(cuts) != 1:
        return Launched()
    masks = [_extents(mask.operands[0]) for _, mask in _calls(file, "create_tma_multicast_mask", "_mask")]
    clusters = {extents[-3:-1] for extents in masks}  # of (V,M,N,K) or (M,N,K)
    (m, n), *others = [cluster for cluster in clusters if len(cluster) == 2] or [(1, 1)]
    k = {cut.tile[1] for cut in of_a}
    found = Launched(*cuts.pop(), None if others or m * n == 1 else (m, n), k.pop() if len(k) == 1 else None)
    text = file.written() if found.grid is None and file.written is not None else file
    if text is not file and (written := launched(text)).tile == found.tile:
        found = found._replace(grid=written.grid, cluster=found.cluster or written.cluster)
        file.given.notes.update(text.given.notes)
    return found


def tiles_of_k(file: SourceFile) -> int | None:
    """How many tiles of K a CTA goes through: those that `local_tile` cuts of A and B; None where they differ."""
    found = {cut.tiles and cut.tiles[1] for cut in _of_c_and_a(file)[1]}
    tiles = found.pop() if len(found) == 1 else None
    return tiles_of_k(file.written()) if tiles is None and file.written is not None else tiles


def _of_c_and_a(file: SourceFile) -> tuple[list[_Cut], list[_Cut]]:
    """What cuts C, whose tile alone is left, and what cuts A and B, of which a mode over K is; where modes over all tiles are
    left, three in a row of which the tiles are M x K, N x K and M x N."""
    cuts = [
        _Cut(into, _extents(cut.operands[0])[:2])
        for entry, cut in _calls(file, "local_tile")
        if len(into := _extents_of(entry)) > 1 and all(isinstance(extent, int) for extent in into[:2])
    ]
    of_c = [cut for cut in cuts if len(cut.into) == 2]
    if of_c or not any(len(cut.into) > 3 for cut in cuts):
        return of_c, [cut for cut in cuts if len(cut.into) == 3]
    threes = [
        (a, b, c)
        for a, b, c in zip(cuts, cuts[1:], cuts[2:], strict=False)
        if a.tile[1] == b.tile[1] and c.tile == (a.tile[0], b.tile[0])
    ]
    return [c for _, _, c in threes], [a for a, _, _ in threes]


def _calls(file: SourceFile, name: str, spelled: str = "") -> Iterator[tuple[Entry, Operation]]:
    """The entries that one operation makes, with it. spelled: what its names in all languages have in common."""
    for entry in file.entries:
        if (spelled or name) in entry.text or file.compiled:
            with suppress(CuteVizError):
                yield from ((entry, call) for call in entry.operations()[:1] if call.name == name and call.operands)


def _extents_of(entry: Entry) -> tuple[int, ...]:
    """The extents of an entry's value; none of one that is not known."""
    try:
        return _extents(value_of(entry))
    except CuteVizError:
        return ()


def _extents(value: object) -> tuple[int, ...]:
    """The extents of the modes of a layout or a tensor; none of any other value."""
    value = whole(value)
    return tuple(map(product, modes(domain(value).shape))) if is_layout(value) else ()
