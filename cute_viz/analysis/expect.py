"""What is expected of layouts and copies, and where it first fails, in words: for tests of kernels, and for specs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cute_viz.algebra.composed import as_layout, domain, pointer_bits, position_independent
from cute_viz.algebra.copy import Copy_Atom, TiledCopy, layout_sd, tile_of
from cute_viz.algebra.inttuple import product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import cosize, size
from cute_viz.algebra.mma import MMA_Atom, TiledMMA, layout_tv, make_tiled_mma, tile_shape
from cute_viz.algebra.modes import get
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import whole
from cute_viz.algebra.views import atom_of, tiled_of
from cute_viz.analysis.access import accesses, element_bits
from cute_viz.analysis.patterns import is_named, named_accesses, usual_bits
from cute_viz.analysis.verdict import verdict
from cute_viz.errors import AlgebraError
from cute_viz.limits import limit, over
from cute_viz.values.types import bits_of

FEW = 4  # cells that a failure shows


def same(a: Any, b: Any) -> str:
    """Where two layouts differ as functions of their coordinates, two other values as they print; "" where they do not."""
    a, b = (as_layout(whole(x)) for x in (a, b))
    try:
        shapes = [_extents(domain(x).shape) for x in (a, b)]
    except (AlgebraError, AttributeError):
        return "" if show(a) == show(b) else f"{show(a).splitlines()[0]} is not {show(b).splitlines()[0]}"
    if shapes[0] != shapes[1]:
        return f"{a} has the shape {show(shapes[0])}, {b} has {show(shapes[1])}"
    _check_cells(product(shapes[0]))
    tables = [offsets(position_independent(x)) for x in (a, b)]
    wrong = [n for n, (one, other) in enumerate(zip(*tables, strict=True)) if one != other]
    cells = [f"{_at(n, shapes[0])} is {show(tables[0][n])} and {show(tables[1][n])}" for n in wrong[:FEW]]
    return f"{a} and {b} differ in {len(wrong)} of {len(tables[0])} cells: {_listed(cells, len(wrong))}" if wrong else ""


def measure(layout: Any, what: str, wanted: int) -> str:
    """Which `size` or `cosize` a layout has instead of the one that is wanted; "" where it has that."""
    layout = as_layout(whole(layout))
    found = (size if what == "size" else cosize)(layout)
    return "" if found == wanted else f"{layout} has the {what} {show(found)}, not {wanted}"


def covers(tv: Any, tile: Any = None) -> str:
    """Which cells of a tile no thread holds, or several do; "" where each is held once.

    tv: a layout (thread, value) -> index into the column-major tile, or a TiledCopy with the tile that it has; an MMA's is that
    of its accumulators.
    """
    tv = tiled_of(tv)
    tv = make_tiled_mma(tv) if isinstance(tv, MMA_Atom) else tv
    of_copy = isinstance(tv, TiledCopy)
    if isinstance(tv, TiledMMA) and cosize(tv.atom.thr_id) != size(tv.atom.thr_id):
        raise AlgebraError(
            f"{tv.atom.name} leaves threads out, which its TV layout repeats", hint="give the layout of one quad-pair"
        )
    if of_copy or isinstance(tv, TiledMMA):
        extents = tile_of(tv) if of_copy else tile_shape(tv)[:2]
        if tile is not None and tuple(tile) != extents:
            return f"the {'copy' if of_copy else 'MMA'}'s tile is {_by(extents)}, not {_by(tile)}"
        tv, tile = layout_sd(tv, "D") if of_copy else layout_tv(tv, "C"), extents
    tv = as_layout(tv)
    if tile is None or not isinstance(tv, Layout):
        raise AlgebraError("a TV layout and its tile are needed", hint="covers((thread, value):..., (8,128))")
    cells = product(tuple(tile))
    _check_cells(max(cells, size(tv)))
    threads = size(get(tv, 0))
    holders: dict[int, list[str]] = {}
    for n, place in enumerate(offsets(tv)):
        if not isinstance(place, int) or not 0 <= place < cells:
            return f"T{n % threads}V{n // threads} holds {show(place)}, outside the {_by(tile)} tile"
        holders.setdefault(place, []).append(f"T{n % threads}V{n // threads}")
    missing = [_at(n, tile) for n in range(cells) if n not in holders]
    twice = [f"{_at(n, tile)} by {' '.join(who[:FEW])}" for n, who in sorted(holders.items()) if len(who) > 1]
    said = []
    if missing:
        said.append(f"{len(missing)} of {cells} cells of the {_by(tile)} tile are held by nobody: {_listed(missing, len(missing))}")
    if twice:
        said.append(f"{len(twice)} are held several times: {_listed(twice, len(twice))}")
    return "; ".join(said)


def conflict_free(smem: Any, access: Any, type_: Any = None, **how: Any) -> str:
    """Which access of a tile of shared memory has bank conflicts; "" where none has.

    access: as of `access.accesses`, as is how; or the name of one, `ldmatrix`.
    """
    bits = None if type_ is None else type_ if isinstance(type_, int) else bits_of(str(type_))
    tile = as_layout(whole(smem))
    if isinstance(access, str):
        if not is_named(access):
            raise AlgebraError(
                f"{access!r} is not an access", hint="ldmatrix, rows, column, a TiledCopy or a layout (thread, value)"
            )
        width = element_bits(tile, given=bits or pointer_bits(tile) or usual_bits(access))
        found = named_accesses(tile, access, width, how.get("store", False))
    else:
        found = accesses(tile, bits, access, **how)
    wrong = [a for a in found if a.wavefronts > a.ideal]
    if not wrong:
        return ""
    first = wrong[0]
    verb = "has" if len(wrong) == 1 else "have"
    head = f"{len(wrong)} of {len(found)} accesses {verb} conflicts: {first.instruction} of warp {first.warp}, step {first.step}"
    cost = f"takes {first.wavefronts} wavefronts, {first.ideal} {'is' if first.ideal == 1 else 'are'} ideal"
    banks = max(first.phases(), key=lambda phase: phase.wavefronts).banks
    bank, words = max(enumerate(banks), key=lambda item: len(item[1]))
    begin = first.warp * len(first.begins)
    lanes = sorted(begin + lanes[0] for _, lanes in words)  # of those that want one word the first: they do not wait
    return f"{head} {cost}: bank {bank} serves {' '.join(f'T{lane}' for lane in lanes[:FEW])}{' ...' if len(lanes) > FEW else ''}"


def vector(copy: object, bits: int, name: str = "copy") -> str:
    """Why a copy does not move so many bits at once; "" where it does.

    copy: a TiledCopy or Copy_Atom, or the operands of `copy(...)` or of another such `name`: an atom or none, and two tensors.
    """
    operands = list(copy) if isinstance(copy, Sequence) else None
    if operands is None:
        atom = atom_of(copy)
        if not isinstance(atom, Copy_Atom):
            raise AlgebraError(f"{show(copy).splitlines()[0]} is not a copy", hint="a tiled copy, or `copy(src, dst)`")
        moved, why = size(get(atom.layout_src, 1)) * atom.bits, ""
    else:
        found = verdict(name, operands)
        moved, why = found.bits, "; ".join(found.reasons)
    return "" if moved == bits else f"the copy moves {moved} bits at once, not {bits}" + (f": {why}" if why else "")


def _check_cells(count: int) -> None:
    if count > limit("accesses"):
        raise over("accesses", f"{count} cells")


def _extents(shape: object) -> Any:
    """The extents of the modes of a shape, however these are nested; of a lone integer itself."""
    return product_each(shape) if isinstance(shape, tuple) else shape


def _at(n: int, shape: object) -> str:
    out = []
    for extent in shape if isinstance(shape, tuple) else (shape,):
        out.append(str(n % extent))
        n //= extent
    return f"({','.join(out)})" if len(out) > 1 else out[0]


def _by(tile: Any) -> str:
    return " x ".join(map(str, tile))


def _listed(cells: Sequence[str], count: int) -> str:
    separator = "; " if " is " in "".join(cells[:1]) else ", "
    return separator.join(cells[:FEW]) + (" ..." if count > FEW else "")
