"""Who owns which cell of a tile: what every thread-value picture is made of.

A TVMap is an evaluated layout of (thread, value); `tile_panel` draws its inverse, one cell a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from cute_viz.errors import FigureError
from cute_viz.figures.model import HOLE, Paint, Panel, Ruler
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.paint import Painting, by_group, unpainted

COLOR_BY = ("thread", "value", "warp", "row", "column", "none")
WARP = 32  # threads


@dataclass(frozen=True, slots=True)
class TVMap:
    """An evaluated TV layout: places[t + threads * v] is the cell (m * cols + n) of value v of thread t.

    real: the threads that exist, where the layout's thread mode holds copies of others (SM70's quad pairs).
    """

    threads: int
    values: int
    rows: int
    cols: int
    places: list[int]
    real: frozenset[int] | None = None

    def __post_init__(self) -> None:
        if self.places and not 0 <= min(self.places) <= max(self.places) < self.rows * self.cols:
            raise FigureError(f"values lie outside of the {self.rows} x {self.cols} tile", hint="permute the tile as a whole")

    def owners(self) -> list[list[int]]:
        """For each cell of the tile, its owners as t * values + v, lowest thread, then value, first."""
        out: list[list[int]] = [[] for _ in range(self.rows * self.cols)]
        for t in range(self.threads):
            if self.real is None or t in self.real:
                for v, place in enumerate(self.places[t :: self.threads]):
                    out[place].append(t * self.values + v)
        return out


def first_owners(owners: list[list[int]]) -> list[int | None]:
    """The first owner of each cell, None for a hole: the lowest, unless `chosen_first` put another in front.

    >>> first_owners([[0, 4], [], [1]])
    [0, None, 1]
    """
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
    everyone: bool = False,
) -> Panel:
    r"""The tile, each cell labelled with its owner.

    titles: of the rulers down and across. atom: rows and columns of an atom, whose borders are drawn; 0 for none.
    named: labels name every owner of a cell, not the lowest alone. everyone: all threads own every cell; labels are values.

    >>> tv_map = TVMap(threads=2, values=2, rows=2, cols=2, places=[0, 2, 1, 3])
    >>> tile_panel(tv_map, tv_map.owners(), (0, 0, 0, 0), FigureOptions()).labels
    ('T0\nV0', 'T0\nV1', 'T1\nV0', 'T1\nV1')
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
    elif everyone:
        labels = ["" if o is None else f"V{o % values}" for o in first]
    else:
        labels = _owner_labels(owners, values) if named else ["" if o is None else f"T{o // values}\nV{o % values}" for o in first]
    pair = [(t, v) for t in range(tv_map.threads) for v in range(values)]  # of an owner
    rows_ruler = _tile_ruler(titles[0], threads, tv_map.rows, cols, 1)
    cols_ruler = _tile_ruler(titles[1], threads, cols, tv_map.rows, cols)
    return Panel(
        caption=caption,
        rows=tv_map.rows,
        cols=cols,
        labels=tuple(labels),
        paints=paints,
        row_ruler=with_atoms(rows_ruler, atom[0]),
        col_ruler=with_atoms(cols_ruler, atom[1]),
        owners=()
        if everyone
        else tuple([(cell, tuple([pair[o] for o in mine])) for cell, mine in enumerate(owners) if len(mine) > 1]),
        boxes=_boxes(first, values, tv_map.rows, cols),
        data={"thread": threads, "value": value_ids},
        place=place,
    )


NAMED = 4  # owners of a cell that its label still names


def replicas(owners: list[list[int]]) -> int:
    """How many owners every owned cell has, where all have as many and more than one, few enough to be named; else 0.

    >>> replicas([[0, 4], [1, 5]]), replicas([[0, 4], [1]])
    (2, 0)
    """
    counts = {len(mine) for mine in owners if mine}
    return counts.pop() if len(counts) == 1 and counts <= set(range(2, NAMED + 1)) else 0


def _owner_labels(owners: list[list[int]], values: int) -> list[str]:
    """`T0,64` over `V3`: every thread that owns a cell."""
    out = []
    for mine in owners:
        if not mine:
            out.append("")
            continue
        value = mine[0] % values
        if len(mine) == 1:
            out.append(f"T{mine[0] // values}\nV{value}")
            continue
        if len(mine) == 2 and mine[1] % values == value:
            out.append(f"T{mine[0] // values},{mine[1] // values}\nV{value}")
            continue
        ids = str(value)
        if {o % values for o in mine} != {value}:
            ids = ",".join(map(str, sorted({o % values for o in mine})))
        out.append(f"T{','.join([str(o // values) for o in mine])}\nV{ids}")
    return out


def with_atoms(ruler: Ruler, every: int) -> Ruler:
    """A ruler with a border at every atom.

    >>> with_atoms(Ruler("M", ("0", "1", "2", "3"), (0, 0, 0, 0, 0)), 2).levels
    (0, 0, 1, 0, 0)
    """
    if every < 1:
        return ruler
    last = len(ruler.levels) - 1
    levels = tuple(max(level, 1) if 0 < i < last and i % every == 0 else level for i, level in enumerate(ruler.levels))
    return replace(ruler, levels=levels)


def _tile_ruler(title: str, threads: Sequence[int | None], count: int, width: int, step: int) -> Ruler:
    """Borders where another warp begins along the whole line (2), or where the threads of the first line start over (1)."""
    lines = [threads[i * width : (i + 1) * width] if step == 1 else threads[i::step] for i in range(count)]
    warps = [[None if t is None else t // WARP for t in line] for line in lines]
    out = [0] * (count + 1)
    for i in range(1, count):
        if all(None not in (a, b) and a != b for a, b in zip(warps[i - 1], warps[i], strict=True)):
            out[i] = 2
        elif lines[i] == lines[0] and lines[i - 1] != lines[i]:
            out[i] = 1
    return Ruler(title, tuple(map(str, range(count))), tuple(out))


def _boxes(first: Sequence[int | None], values: int, rows: int, cols: int) -> tuple[tuple[int, int, int, int], ...]:
    """Runs of consecutive values of one thread, along the direction that has more of them; `first` are owners t * values + v."""
    owner = [-9 if o is None else o for o in first]
    cells = rows * cols
    # Cells whose right, or lower, neighbour is the next value of the same thread.
    right = {i for i, (a, b) in enumerate(pairwise(owner)) if b == a + 1 and b % values and (i + 1) % cols}
    links, step = right, 1
    if 2 * len(right) < cells:  # a value has one place, so that no cell has its next value in both directions
        down = {i for i, (a, b) in enumerate(zip(owner, owner[cols:], strict=False)) if b == a + 1 and b % values}
        links, step = (right, 1) if len(right) >= len(down) else (down, cols)
    out = []
    for start in sorted(links):
        if start - step in links and (step == cols or start % cols):
            continue
        end = start
        while end in links and (step == cols or (end + 1) % cols):
            end += step
        out.append((start // cols, start % cols, end // cols + 1, end % cols + 1))
    return tuple(out)


def paint_owners(
    maps: Sequence[TVMap], owners: Sequence[Sequence[int | None]], options: FigureOptions
) -> tuple[list[tuple[int, ...]], Painting]:
    """Paints for the cells of several panels, given by their owners t * values + v, with one legend for all.

    Cells that --thread, --warp or --value do not ask for stay paper.

    >>> tv_map = TVMap(threads=2, values=2, rows=2, cols=2, places=[0, 2, 1, 3])
    >>> cells, painting = paint_owners([tv_map], [first_owners(tv_map.owners())], FigureOptions(color_by="thread"))
    >>> cells, [legend.title for legend in painting.legends]
    ([(0, 1, 2, 3)], ['hue: thread', 'shade: value'])
    """
    threads = max(m.threads for m in maps)
    values = max(m.values for m in maps)
    choice = options.color_by or ("warp" if threads > WARP else "thread")
    if choice not in COLOR_BY:
        raise FigureError(f"a TV map has no colour by {choice!r}", hint=f"choices: {', '.join(COLOR_BY)}")
    if options.thread is None and options.warp is None and options.value is None:
        keep = [o for mine in owners for o in mine]
    else:
        keep = [o if _wanted(o, m, options) else None for m, mine in zip(maps, owners, strict=True) for o in mine]
    per = [m for m, mine in zip(maps, owners, strict=True) for _ in mine]
    if choice == "none":
        painting = unpainted(len(keep))
    elif choice == "value":
        painting = by_group(
            [None if o is None else o % m.values for o, m in zip(keep, per, strict=True)], values, "hue: value", "V"
        )
    elif choice in ("row", "column"):
        places = [
            None if o is None else m.places[o // m.values + m.threads * (o % m.values)] for o, m in zip(keep, per, strict=True)
        ]
        keys = [None if p is None else (p // m.cols if choice == "row" else p % m.cols) for p, m in zip(places, per, strict=True)]
        count = max(m.rows if choice == "row" else m.cols for m in maps)
        painting = by_group(keys, count, f"hue: {choice} of the tile", f"{choice} ")
    else:
        width = WARP if choice == "warp" else 1
        painting = by_group(
            [None if o is None else o // m.values // width for o, m in zip(keep, per, strict=True)],
            -(-threads // width),
            f"hue: {choice}" + (" (32 threads)" if choice == "warp" else ""),
            "warp " if choice == "warp" else "T",
            order=[None if o is None else o % m.values for o, m in zip(keep, per, strict=True)],
            order_count=values,
            order_title="shade: value",
            order_prefix="V",
        )
    if choice == "thread" and options.thread is not None and len(options.thread) == 1 and painting.legends:
        first, *rest = painting.legends
        entries = tuple(replace(entry, label=f"T{options.thread.start}") for entry in first.entries)
        painting = replace(painting, legends=(replace(first, entries=entries), *rest))
    paper = len(painting.paints)
    every = [o for mine in owners for o in mine]
    cells = [HOLE if o is None else p if p != HOLE else paper for o, p in zip(every, painting.cells, strict=True)]
    paints = (*painting.paints, Paint(-1)) if paper in cells else painting.paints
    out, start = [], 0
    for mine in owners:
        out.append(tuple(cells[start : start + len(mine)]))
        start += len(mine)
    return out, Painting((), paints, painting.legends)


def _wanted(owner: int | None, tv_map: TVMap, options: FigureOptions) -> bool:
    if owner is None:
        return False
    thread, value = divmod(owner, tv_map.values)
    return (
        (options.thread is None or thread in options.thread)
        and (options.warp is None or thread // WARP in options.warp)
        and (options.value is None or value in options.value)
    )


def chosen_first(owners: list[list[int]], tv_map: TVMap, options: FigureOptions) -> list[list[int]]:
    """The owners of each cell with those asked for in front, so that a highlighted owner of a shared cell is seen.

    >>> tv_map = TVMap(threads=2, values=1, rows=1, cols=1, places=[0, 0])
    >>> tv_map.owners(), chosen_first(tv_map.owners(), tv_map, FigureOptions(thread=range(1, 2)))
    ([[0, 1]], [[1, 0]])
    """
    if options.thread is None and options.warp is None and options.value is None:
        return owners
    return [sorted(mine, key=lambda o: not _wanted(o, tv_map, options)) for mine in owners]


def check_highlight(maps: Iterable[TVMap], options: FigureOptions) -> None:
    """Refuse a thread, warp or value that the picture does not have.

    >>> check_highlight([TVMap(threads=2, values=2, rows=2, cols=2, places=[0, 2, 1, 3])], FigureOptions(thread=range(4, 5)))
    Traceback (most recent call last):
    cute_viz.errors.FigureError: --thread 4: there are threads 0 to 1
    """
    maps = list(maps)
    threads, values = max(m.threads for m in maps), max(m.values for m in maps)
    for name, wanted, count in (
        ("thread", options.thread, threads),
        ("warp", options.warp, -(-threads // WARP)),
        ("value", options.value, values),
    ):
        if wanted is not None and (wanted.start < 0 or wanted.stop > count or not wanted):
            raise FigureError(f"--{name} {_range(wanted)}: there are {name}s 0 to {count - 1}")


def highlighted(options: FigureOptions) -> str:
    """What is highlighted, in words; empty without a highlight.

    >>> highlighted(FigureOptions(thread=range(0, 4), value=range(1, 2))), highlighted(FigureOptions())
    ('thread 0..3, value 1', '')
    """
    parts = [
        f"{name} {_range(r)}" for name, r in (("thread", options.thread), ("warp", options.warp), ("value", options.value)) if r
    ]
    return ", ".join(parts)


def _range(wanted: range) -> str:
    return str(wanted.start) if len(wanted) == 1 else f"{wanted.start}..{wanted.stop - 1}"


def ownership_notes(cells: int, owners: list[list[int]], what: str = "", named: bool = False) -> list[str]:
    """Sentences about holes and shared cells.

    >>> ownership_notes(4, [[0], [1], [], [2]])
    ['1 of 4 cells have no owner and are drawn as holes.']
    """
    holes = sum(not mine for mine in owners)
    shared = sum(len(mine) > 1 for mine in owners)
    notes = []
    if holes:
        notes.append(f"{what}{holes} of {cells} cells have no owner and are drawn as holes.")
    if named and (copies := replicas(owners)):
        notes.append(f"{what}every element is held by {copies} threads.")
    elif shared:
        most = max(map(len, owners))
        notes.append(
            f"{what}{shared} cells have several owners (up to {most}); the lowest thread is shown, ×n tells how many there are."
        )
    return notes
