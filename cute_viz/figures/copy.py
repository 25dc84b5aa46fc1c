"""Copy atoms and TiledCopy: who reads which element of the source, and who writes which of the destination."""

from __future__ import annotations

from dataclasses import replace

from cute_viz.algebra.construct import make_identity_layout
from cute_viz.algebra.copy import Copy_Atom, CopyOp, ThrCopy, TiledCopy, layout_in_tile, make_copy_atom, spanned_tile
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import cosize, size
from cute_viz.algebra.modes import get
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.table import offsets
from cute_viz.errors import AlgebraError, FigureError
from cute_viz.figures.highlight import highlight_notes, owners_of, paint_owners
from cute_viz.figures.model import Figure
from cute_viz.figures.options import FigureOptions, check_cells, operands
from cute_viz.figures.owners import (
    TVMap,
    first_owners,
    ownership_notes,
    places_of,
    replicas,
    tile_panel,
)
from cute_viz.figures.paint import in_each
from cute_viz.figures.words import count

SIDE_BY_SIDE = 32  # columns up to which source and destination stand next to each other
_NAMES = {"S": "source: who reads", "D": "destination: who writes"}
CAPTION = "each cell shows its owner T,V: which thread moves the element, as which of its values"


def copy(obj: Copy_Atom | CopyOp | TiledCopy | ThrCopy, options: FigureOptions) -> Figure:
    r"""The figure of a copy atom, a TiledCopy, or one thread's view of it.

    Refused: a tile of more than two modes, a side that a copy does not have, more cells than the options allow.

    >>> from cute_viz import parse
    >>> ldmatrix = copy(parse("Copy_Atom<SM75_U32x1_LDSM_N, half_t>{}"), FigureOptions())
    >>> [panel.labels[0] for panel in ldmatrix.panels]
    ['T0,8,16,24\nV0', 'T0\nV0']
    """
    if isinstance(obj, ThrCopy):
        options = replace(options, thread=options.thread or range(obj.thr_idx, obj.thr_idx + 1))
        obj = obj.tiled
    if isinstance(obj, CopyOp):
        obj = make_copy_atom(obj, 16 if max(cosize(obj.src), cosize(obj.dst)) % 16 == 0 else 1)
    sides = operands(options.operand, "SD", "a copy has the sides S (source) and D (destination)")
    maps = _tile_maps(obj, sides, options) if isinstance(obj, TiledCopy) else _atom_maps(obj, sides, options)
    owners = dict(zip(sides, owners_of([maps[x] for x in sides], options), strict=True))
    cells, painting = paint_owners([maps[x] for x in sides], [first_owners(owners[x]) for x in sides], options)
    atom = obj.atom if isinstance(obj, TiledCopy) else obj
    beside = maps[sides[0]].cols <= SIDE_BY_SIDE
    panels = [
        tile_panel(maps[x], owners[x], paints, options, _NAMES[x], ("M", "N"), place, named=bool(replicas(owners[x])))
        for x, paints, place in zip(sides, cells, [(0, 0), (0, 1) if beside else (1, 0)], strict=False)
    ]
    notes = _notes(sides, maps, owners) + highlight_notes(options)
    first = maps[sides[0]]
    name = atom.name or "copy atom"
    kind = atom.value_type or f"{atom.bits}-bit values"
    shape = f"{first.rows} × {first.cols} {'tile' if isinstance(obj, TiledCopy) else 'values'}"
    title = options.title or f"{name}, {kind}: {count(first.threads, 'thread')} over {shape}"
    source = (
        f"TiledLayout_TV {obj.layout_tv}, Tiler_MN {show(obj.tiler_mn)}"
        if isinstance(obj, TiledCopy)
        else f"Src {obj.layout_src}, Dst {obj.layout_dst}"
    )
    facts = {"threads": first.threads, **{f"values of {x}": maps[x].values for x in sides}, "bits of a value": atom.bits}
    return Figure(
        kind="copy",
        title=title,
        source=source,
        caption=CAPTION,
        description=f"{title}. {source}. {CAPTION}. {' '.join(notes)}",
        paints=painting.paints,
        legends=in_each(painting.legends, cells, painting.paints),
        panels=tuple(panels),
        notes=tuple(notes),
        facts={**facts, **(_drawn(obj, sides) if isinstance(obj, TiledCopy) else {})},
    )


def _tile_maps(tiled: TiledCopy, sides: str, options: FigureOptions) -> dict[str, TVMap]:
    tile = spanned_tile(tiled)
    if len(tile) > 2:
        raise FigureError(f"the tile {show(tile)} has {len(tile)} modes; a picture has two", hint="draw a slice of it")
    rows, cols = tile
    check_cells(rows * cols, f"the {rows} x {cols} tile", options)
    out = {}
    for x in sides:
        layout = layout_in_tile(tiled, x, Layout(tile))
        threads, values = (size(get(layout, n)) for n in (0, 1))
        check_cells(threads * values, f"the {x} layout", options)
        out[x] = TVMap(threads, values, rows, cols, places_of(offsets(layout), rows, cols))
    return out


def _atom_maps(atom: Copy_Atom, sides: str, options: FigureOptions) -> dict[str, TVMap]:
    """An atom's values in the order in which its wider side holds them: a row for each of that side's threads."""
    layouts = {"S": atom.layout_src, "D": atom.layout_dst}
    total = max(cosize(layout) for layout in layouts.values())
    cols = max(size(get(layout, 1)) for layout in layouts.values())
    cols = cols if total % cols == 0 and cols <= 256 else min(total, 64)
    rows = -(-total // cols)
    out = {}
    for x in sides:
        threads, values = (size(get(layouts[x], n)) for n in (0, 1))
        check_cells(threads * values, f"the {x} layout", options)
        out[x] = TVMap(threads, values, rows, cols, offsets(layouts[x]))
    return out


def _notes(sides: str, maps: dict[str, TVMap], owners: dict[str, list[list[int]]]) -> list[str]:
    names = {"S": "Source: ", "D": "Destination: "}
    notes = [note for x in sides for note in ownership_notes(maps[x].rows * maps[x].cols, owners[x], names[x], named=True)]
    if len(sides) == 2 and maps["S"].places == maps["D"].places and maps["S"].values == maps["D"].values:
        notes.append("Source and destination are alike: each thread writes what it reads.")
    return notes


def _drawn(tiled: TiledCopy, sides: str) -> dict[str, str]:
    """What print_latex writes above its picture: the TV layouts of a coordinate tensor of the tile."""
    tile = spanned_tile(tiled)
    out = {}
    for x in sides:
        try:
            out[f"drawn {x}"] = f"ArithTuple(_0,_0) o {mark_static(layout_in_tile(tiled, x, make_identity_layout(tile)))}"
        except AlgebraError:
            return {}
    return out
