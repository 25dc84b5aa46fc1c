"""Who owns which cell of a tile: what every thread-value picture is made of.

A TVMap is an evaluated layout of (thread, value); `tile_panel` draws its inverse, one cell a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from cute_viz.algebra.common import WARP
from cute_viz.errors import FigureError
from cute_viz.figures.memory import THREAD
from cute_viz.figures.model import Panel, Ruler
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.paint import with_borders
from cute_viz.records import dataclass

NAMED = 4  # owners of every cell that a note tells of as one rule
LISTED = 2  # owners of a cell that its label still names; of more, the lowest and how many


@dataclass(frozen=True, slots=True)
class TVMap:
    """An evaluated TV layout: places[t + threads * v] is the cell (m * cols + n) of value v of thread t.

    real: the threads that exist, where the layout's thread mode holds copies of others (SM70's quad pairs).
    everyone: every thread has every cell, as of an operand in shared memory; places and owners are those of thread 0 alone.
    who: `T` or `CTA`, what the first mode counts.
    held: the owners hold the cells, in registers or as a CTA; an operand in memory that threads merely see is paper.
    warp: how many threads run together, and what they are called. row: of a wider one, how many lanes hold a row together.
    """

    threads: int
    values: int
    rows: int
    cols: int
    places: list[int]
    real: frozenset[int] | None = None
    everyone: bool = False
    who: str = THREAD
    held: bool = True
    warp: tuple[int, str] = WARP
    row: int = 1

    def __post_init__(self) -> None:
        if self.places and not 0 <= min(self.places) <= max(self.places) < self.rows * self.cols:
            raise FigureError(f"values are outside the {self.rows} x {self.cols} tile", hint="permute the tile as a whole")

    def owners(self) -> list[list[int]]:
        """For each cell of the tile, its owners as t * values + v, lowest thread, then value, first."""
        out: list[list[int]] = [[] for _ in range(self.rows * self.cols)]
        if self.everyone:
            for v, place in enumerate(self.places):
                out[place].append(v)
            return out
        for t in range(self.threads):
            if self.real is None or t in self.real:
                for v, place in enumerate(self.places[t :: self.threads]):
                    out[place].append(t * self.values + v)
        return out


def places_of(indices: Iterable[int], rows: int, cols: int) -> list[int]:
    """The cells, counted row by row, of indices into a tile, which CuTe counts column by column."""
    return [k // rows + (k % rows) * cols for k in indices]


def first_owners(owners: list[list[int]]) -> list[int | None]:
    """The first owner of each cell, None for a hole: the lowest, unless `highlight.owners_of` put another in front."""
    return [mine[0] if mine else None for mine in owners]


def tile_panel(
    tv_map: TVMap,
    owners: list[list[int]],
    paints: tuple[int, ...],
    options: FigureOptions,
    caption: str = "",
    titles: tuple[str, str] = ("M", "N"),
    place: tuple[int, int] = (0, 0),
    atom: tuple[int, int] = (0, 0),
    named: bool = False,
) -> Panel:
    r"""The tile, each cell labelled with its owner.

    titles: of the rulers down and across. atom: rows and columns of an atom, whose borders are drawn; 0 for none.
    named: labels name every owner of a cell, not the lowest alone. What no thread holds has no labels.
    """
    values, cols = tv_map.values, tv_map.cols
    first = first_owners(owners)
    threads = tuple([None if o is None else o // values for o in first])
    value_ids = tuple([None if o is None else o % values for o in first])
    if options.labels == "none":
        labels = [""] * len(first)
    elif options.labels == "coord":
        labels = [f"({i // cols},{i % cols})" for i in range(len(first))]
    elif options.labels == "index":
        labels = [str(i // cols + (i % cols) * tv_map.rows) for i in range(len(first))]
    elif not tv_map.held:
        labels = [""] * len(first)
    elif named:
        labels = _owner_labels(owners, values, tv_map.who)
    else:
        who = [f"{tv_map.who}{t}\nV" for t in range(tv_map.threads)]
        ids = list(map(str, range(values)))
        labels = ["" if o is None else who[o // values] + ids[o % values] for o in first]
    # Whatever a highlight puts in front; there is no pattern in what nobody holds.
    lowest: Sequence[int | None] = threads
    if not tv_map.held or (options.thread, options.warp, options.value) != (None, None, None):
        lowest = [min(mine) // values if mine and tv_map.held else None for mine in owners]
    rows_ruler = _tile_ruler(titles[0], lowest, tv_map.rows, cols, 1, tv_map.warp[0])
    cols_ruler = _tile_ruler(titles[1], lowest, cols, tv_map.rows, cols, tv_map.warp[0])
    return Panel(
        caption=caption,
        labels=tuple(labels),
        paints=paints,
        row_ruler=with_borders(rows_ruler, atom[0]),
        col_ruler=with_borders(cols_ruler, atom[1]),
        owners=tuple([(cell, tuple([divmod(o, values) for o in mine])) for cell, mine in enumerate(owners) if len(mine) > 1]),
        boxes=() if not tv_map.held else _boxes(first, values, tv_map.rows, cols, options.value),
        data={"thread": threads, "value": value_ids},
        place=place,
        warp=tv_map.warp[0],
        warp_name=tv_map.warp[1],
    )


def replicas(owners: list[list[int]]) -> int:
    """How many owners every owned cell has, where all have as many and more than one, few enough to be named; else 0."""
    counts = {len(mine) for mine in owners if mine}
    return counts.pop() if len(counts) == 1 and counts <= set(range(2, NAMED + 1)) else 0


def _owner_labels(owners: list[list[int]], values: int, who: str) -> list[str]:
    """`T0,64` over `V3`: every thread that owns a cell, once."""
    out = []
    for mine in owners:
        threads, ids = [o // values for o in mine], {o % values for o in mine}
        if len(ids) < 2:
            value = str(*ids)
        else:
            threads, value = list(dict.fromkeys(threads)), ",".join(map(str, sorted(ids)))
        out.append(f"{who}{','.join(map(str, threads))}\nV{value}" if mine else "")
    return out


def _tile_ruler(title: str, threads: Sequence[int | None], count: int, width: int, step: int, warp: int) -> Ruler:
    """Borders where another warp begins along the whole line (2), and at the period with which lanes start over (1). A period is
    one of all lines: every line has the lanes (threads modulo the warp) of the line a period before it."""
    lines = [threads[i * width : (i + 1) * width] if step == 1 else threads[i::step] for i in range(count)]
    warps = [[None if t is None else t // warp for t in line] for line in lines]
    lanes = [[None if t is None else t % warp for t in line] for line in lines]
    period = next(n for n in range(1, count + 1) if count % n == 0 and lanes[n:] == lanes[:-n])
    out = [0] * (count + 1)
    for i in range(1, count):
        if all(None not in (a, b) and a != b for a, b in zip(warps[i - 1], warps[i], strict=True)):
            out[i] = 2
        elif period > 1 and i % period == 0:
            out[i] = 1
    return Ruler(title, tuple(map(str, range(count))), tuple(out))


def _boxes(
    first: Sequence[int | None], values: int, rows: int, cols: int, chosen: range | None = None
) -> tuple[tuple[int, int, int, int], ...]:
    """Runs of consecutive values of one thread, along the direction that has more of them; `first` are owners t * values + v.

    chosen: values that are asked for, which no box holds together with others.
    """
    owner = [-9 if o is None else o for o in first]
    cells = rows * cols
    # Cells whose right, or lower, neighbour is the next value of the same thread.
    right = {i for i, (a, b) in enumerate(pairwise(owner)) if b == a + 1 and b % values and (i + 1) % cols}
    links, step = right, 1
    if 2 * len(right) < cells:  # a value has one place, so that no cell has its next value in both directions
        down = {i for i, (a, b) in enumerate(zip(owner, owner[cols:], strict=False)) if b == a + 1 and b % values}
        links, step = (right, 1) if len(right) >= len(down) else (down, cols)
    out = []
    if chosen is not None:
        links = {i for i in links if (owner[i] % values in chosen) == (owner[i + step] % values in chosen)}
        alone = {i for i, o in enumerate(owner) if o >= 0 and o % values in chosen} - links - {i + step for i in links}
        out = [(i // cols, i % cols, i // cols + 1, i % cols + 1) for i in sorted(alone)]
    for start in sorted(links):
        if start - step in links and (step == cols or start % cols):
            continue
        end = start
        while end in links and (step == cols or (end + 1) % cols):
            end += step
        out.append((start // cols, start % cols, end // cols + 1, end % cols + 1))
    return tuple(out)


def ownership_notes(cells: int, owners: list[list[int]], values: int, what: str = "", named: bool = False) -> list[str]:
    """Sentences about cells without an owner and shared ones; a highlighted owner was put in front (`highlight.owners_of`).

    owners: t * values + v of each cell.
    """
    holes = sum(not mine for mine in owners)
    shared = sum(len(mine) > 1 for mine in owners)
    notes = []
    if holes:
        notes.append(f"{what}{holes} of {cells} cells {'has' if holes == 1 else 'have'} no owner.")
    if named and (copies := replicas(owners)):
        holders = {len({o // values for o in mine}) for mine in owners if mine}
        if holders == {copies}:
            listed = "" if copies <= LISTED else f"; the lowest is shown, ×{copies}"
            notes.append(f"{what}every element is held by {copies} threads{listed}.")
        elif holders == {1}:
            notes.append(f"{what}every element appears {copies} times among the values, all of one owner.")
        else:
            notes.append(f"{what}every element appears {copies} times among the values, some of one owner.")
    elif shared:
        most = max(map(len, owners))
        seen = "the lowest thread is shown"
        if any(mine[0] > min(mine) for mine in owners if mine):
            seen = "a highlighted owner is shown, else the lowest thread"
        cells_have = "cell has" if shared == 1 else "cells have"
        notes.append(f"{what}{shared} {cells_have} several owners (up to {most}); {seen}; ×n gives the count.")
    return notes
