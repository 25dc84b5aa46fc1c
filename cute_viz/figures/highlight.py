"""The colours of owners: what hue means, and what the options thread, warp and value leave coloured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cute_viz.errors import FigureError
from cute_viz.figures.model import HOLE, Paint
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.owners import WARP, TVMap
from cute_viz.figures.paint import Painting, by_group, unpainted


def paint_owners(
    maps: Sequence[TVMap], owners: Sequence[Sequence[int | None]], options: FigureOptions
) -> tuple[list[tuple[int, ...]], Painting]:
    """Paints for the cells of several panels, given by their owners t * values + v, with one legend for all.

    Cells that the options thread, warp or value do not ask for stay paper. The painting has the paints and legends alone.

    >>> from cute_viz.figures.owners import first_owners
    >>> tv_map = TVMap(threads=2, values=2, rows=2, cols=2, places=[0, 2, 1, 3])
    >>> cells, painting = paint_owners([tv_map], [first_owners(tv_map.owners())], FigureOptions(color_by="thread"))
    >>> cells, [legend.title for legend in painting.legends]
    ([(0, 1, 2, 3)], ['hue: thread', 'shade: value'])
    """
    choice = options.color_by or ("warp" if max(m.threads for m in maps) > WARP else "thread")
    every = [o for mine in owners for o in mine]
    per = [m for m, mine in zip(maps, owners, strict=True) for _ in mine]
    keep = [o if _wanted(o, m, options) else None for o, m in zip(every, per, strict=True)] if _highlights(options) else every
    painting = _painting(choice, keep, per, maps)
    if choice == "thread" and options.thread is not None and len(options.thread) == 1 and painting.legends:
        first, *rest = painting.legends
        entries = tuple(replace(entry, label=f"T{options.thread.start}") for entry in first.entries)
        painting = replace(painting, legends=(replace(first, entries=entries), *rest))
    paper = len(painting.paints)
    cells = [HOLE if o is None else p if p != HOLE else paper for o, p in zip(every, painting.cells, strict=True)]
    paints = (*painting.paints, Paint(-1)) if paper in cells else painting.paints
    out, start = [], 0
    for mine in owners:
        out.append(tuple(cells[start : start + len(mine)]))
        start += len(mine)
    return out, Painting((), paints, painting.legends)


def _painting(choice: str, owners: Sequence[int | None], per: Sequence[TVMap], maps: Sequence[TVMap]) -> Painting:
    """The owners, each of the map beside it in `per`, painted by what hue is to mean."""
    if choice == "none":
        return unpainted(len(owners))
    if choice in ("row", "column"):
        places = [
            None if o is None else m.places[o // m.values + m.threads * (o % m.values)] for o, m in zip(owners, per, strict=True)
        ]
        keys = [None if p is None else (p // m.cols if choice == "row" else p % m.cols) for p, m in zip(places, per, strict=True)]
        count = max(m.rows if choice == "row" else m.cols for m in maps)
        return by_group(keys, count, f"hue: {choice} of the tile", f"{choice} ")
    values = max(m.values for m in maps)
    ids = [None if o is None else o % m.values for o, m in zip(owners, per, strict=True)]
    if choice == "value":
        return by_group(ids, values, "hue: value", "V")
    width = WARP if choice == "warp" else 1
    return by_group(
        [None if o is None else o // m.values // width for o, m in zip(owners, per, strict=True)],
        -(-max(m.threads for m in maps) // width),
        f"hue: {choice}" + (" (32 threads)" if choice == "warp" else ""),
        "warp " if choice == "warp" else "T",
        order=ids,
        order_count=values,
        order_title="shade: value",
        order_prefix="V",
    )


def _highlights(options: FigureOptions) -> bool:
    return (options.thread, options.warp, options.value) != (None, None, None)


def _wanted(owner: int | None, tv_map: TVMap, options: FigureOptions) -> bool:
    """Whether an owner t * values + v is among those that the options ask for."""
    if owner is None:
        return False
    thread, value = divmod(owner, tv_map.values)
    return (
        (options.thread is None or thread in options.thread)
        and (options.warp is None or thread // WARP in options.warp)
        and (options.value is None or value in options.value)
    )


def owners_of(maps: Sequence[TVMap], options: FigureOptions) -> list[list[list[int]]]:
    """For each map the owners of its cells, those asked for in front, so that a highlighted owner of a shared cell is seen.

    Refused: a thread, warp or value that none of the maps has.

    >>> tv_map = TVMap(threads=2, values=1, rows=1, cols=1, places=[0, 0])
    >>> owners_of([tv_map], FigureOptions()), owners_of([tv_map], FigureOptions(thread=range(1, 2)))
    ([[[0, 1]]], [[[1, 0]]])
    >>> owners_of([tv_map], FigureOptions(thread=range(4, 5)))
    Traceback (most recent call last):
    cute_viz.errors.FigureError: thread="4": there are threads 0 to 1
    """
    if not _highlights(options):
        return [tv_map.owners() for tv_map in maps]
    _check_highlight(maps, options)
    return [_chosen_first(tv_map, options) for tv_map in maps]


def _chosen_first(tv_map: TVMap, options: FigureOptions) -> list[list[int]]:
    return [sorted(mine, key=lambda o: not _wanted(o, tv_map, options)) for mine in tv_map.owners()]


def _check_highlight(maps: Sequence[TVMap], options: FigureOptions) -> None:
    threads, values = max(m.threads for m in maps), max(m.values for m in maps)
    for name, wanted, count in (
        ("thread", options.thread, threads),
        ("warp", options.warp, -(-threads // WARP)),
        ("value", options.value, values),
    ):
        if wanted is not None and (wanted.start < 0 or wanted.stop > count or not wanted):
            raise FigureError(f"`{name}={_range(wanted)}`: there are {name}s 0 to {count - 1}")


def highlight_notes(options: FigureOptions) -> list[str]:
    """A sentence that says what is highlighted; none without a highlight.

    >>> highlight_notes(FigureOptions(thread=range(0, 4), value=range(1, 2))), highlight_notes(FigureOptions())
    (['Only thread 0..3, value 1 is coloured.'], [])
    """
    asked = (("thread", options.thread), ("warp", options.warp), ("value", options.value))
    parts = [f"{name} {_range(wanted)}" for name, wanted in asked if wanted]
    return [f"Only {', '.join(parts)} is coloured."] if parts else []


def _range(wanted: range) -> str:
    return str(wanted.start) if len(wanted) == 1 else f"{wanted.start}..{wanted.stop - 1}"
