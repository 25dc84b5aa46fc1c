"""A kernel's file -> what its boards begin with: the tile of C of a CTA, the grid of CTAs, the cluster, the tiles of K."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.tensor import whole
from cute_viz.engine.whole import value_of
from cute_viz.errors import CuteVizError

if TYPE_CHECKING:
    from cute_viz.algebra.call import Operation
    from cute_viz.source.model import Entry, SourceFile

Pair: TypeAlias = "tuple[int, int]"


class Launched(NamedTuple):
    """The tile of C, the grid of CTAs, and the CTAs of a cluster along M and N; None for what is not known."""

    tile: Pair | None = None
    grid: Pair | None = None
    cluster: Pair | None = None


def launched(file: SourceFile) -> Launched:
    """Where the file, as its launch runs it, cuts tensors of two modes into tiles of C, and makes masks of multicasts.

    C is what `local_tile` cuts into a tile of two modes: tiles of A and B have a third, over K. Nothing where several differ.

    >>> from cute_viz.source import read
    >>> text = "void f(float* p) {\\n  auto mC = make_tensor(p, make_shape(512, 256));\\n  auto gC = local_tile(mC, "
    >>> launched(read(text + "make_shape(Int<128>{}, Int<64>{}), make_coord(0, 0));\\n}\\n", "cpp", Given()))
    Launched(tile=(128, 64), grid=(4, 4), cluster=None)
    """
    cuts = {
        ((m, n), (-(-c[0] // m), -(-c[1] // n)))
        for entry, cut in _calls(file, "local_tile")
        if len(c := _extents(cut.operands[0])) == 2 and len(tile := _extents_of(entry)) == 2
        for m, n in [tile]
    }
    clusters = {_extents(mask.operands[0])[1:3] for _, mask in _calls(file, "create_tma_multicast_mask")}
    (m, n), *others = [cluster for cluster in clusters if len(cluster) == 2] or [(1, 1)]
    return Launched(*cuts.pop(), None if others or m * n == 1 else (m, n)) if len(cuts) == 1 else Launched()


def tiles_of_k(file: SourceFile) -> int | None:
    """How many tiles of K a CTA goes through: the third mode of what `local_tile` cuts of A and B; None where they differ.

    >>> from cute_viz.source import read
    >>> text = "void f(float* p) {\\n  auto mA = make_tensor(p, make_shape(512, 256));\\n  auto gA = local_tile(mA, "
    >>> tiles_of_k(read(text + "make_shape(Int<128>{}, Int<64>{}), make_coord(0, _));\\n}\\n", "cpp", Given()))
    4
    """
    found = {tile[2] for entry, _ in _calls(file, "local_tile") if len(tile := _extents_of(entry)) == 3}
    return found.pop() if len(found) == 1 else None


def _calls(file: SourceFile, name: str) -> Iterator[tuple[Entry, Operation]]:
    """The entries that one operation makes, with it."""
    for entry in file.entries:
        if name in entry.text:
            yield from ((entry, call) for call in entry.operations()[:1] if call.name == name and call.operands)


def _extents_of(entry: Entry) -> tuple[int, ...]:
    """The extents of an entry's value; none of one that is not known."""
    try:
        return _extents(value_of(entry))
    except CuteVizError:
        return ()


def _extents(value: Any) -> tuple[int, ...]:
    """The extents of a value whose modes are all known; none of any other."""
    value = whole(value)
    extents = [product(mode) for mode in modes(value.shape)] if isinstance(value, Layout) else []
    return tuple(extents) if all(isinstance(extent, int) for extent in extents) else ()
