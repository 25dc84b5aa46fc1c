"""The colours of owners: what hue means, and what the options thread, warp and value leave coloured."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cute_viz.errors import FigureError
from cute_viz.figures.memory import THREAD
from cute_viz.figures.model import HOLE, Legend, LegendEntry, Paint
from cute_viz.figures.options import FigureOptions, runs
from cute_viz.figures.owners import TVMap, first_owners
from cute_viz.figures.paint import HUES, Painting, by_group, in_turns

LOWEST = "; of several, the lowest"  # whose hue a cell has


def paint_owners(
    maps: Sequence[TVMap],
    owners: Sequence[Sequence[int | None]],
    options: FigureOptions,
    every_owner: Sequence[Sequence[Sequence[int]]] = (),
) -> tuple[list[tuple[int, ...]], Painting]:
    """Paints for the cells of several panels, given by their owners t * values + v, with one legend for all.

    Cells that the options thread, warp or value do not ask for are faded. The painting has the paints and legends alone.
    every_owner: of each panel the owners of each cell, where some have several: the legend names those, too, that no paint shows.
    """
    width = maps[0].warp[0]
    alone = "lanes" if max(m.row for m in maps) > 1 else "thread"  # of one warp alone
    choice = options.color_by or ("warp" if max(m.threads for m in maps) > width else alone)
    every = [o for mine in owners for o in mine]
    per = [m for m, mine in zip(maps, owners, strict=True) for _ in mine]
    keep = [o if _wanted(o, m, options) else None for o, m in zip(every, per, strict=True)] if _highlights(options) else every
    painting = _painting(choice, keep, per, maps)
    if keep is every:
        named = [mine for panel in every_owner for mine in panel]
        painting = _with_all_owners(painting, named, per, choice) if named else painting
        cells, paints, legends = list(painting.cells), painting.paints, painting.legends
    else:
        cells, paints, legends = _faded(painting, _painting(choice, every, per, maps), choice, options, maps[0].who)
    out, start = [], 0
    for mine in owners:
        out.append(tuple(cells[start : start + len(mine)]))
        start += len(mine)
    return out, Painting((), paints, legends)


def paint_held(
    maps: Mapping[str, TVMap], owners: Mapping[str, list[list[int]]], memory: Mapping[str, str], options: FigureOptions
) -> tuple[dict[str, tuple[int, ...]], Painting]:
    """The paints of every operand; one that no thread holds stays paper, and the legend says where it lies.

    memory: of an operand that no thread holds, where it lies.
    """
    held = [x for x in maps if maps[x].held]
    painting = Painting((), (), ())
    cells: dict[str, tuple[int, ...]] = {}
    if held:
        every = [owners[x] for x in held]
        found, painting = paint_owners([maps[x] for x in held], list(map(first_owners, every)), options, every)
        cells = dict(zip(held, found, strict=True))
    if rest := [x for x in maps if not maps[x].held]:
        paints = painting.paints if Paint(-1) in painting.paints else (*painting.paints, Paint(-1))
        paper = paints.index(Paint(-1))
        cells |= {x: tuple([paper if mine else HOLE for mine in owners[x]]) for x in rest}
        entries = [LegendEntry(paper, f"{x}: {memory[x]}") for x in rest if x in memory]
        legends = (*painting.legends, *([Legend("plain: not in any thread's registers", tuple(entries))] if entries else []))
        painting = Painting((), paints, legends)
    return {x: cells[x] for x in maps}, painting


def _faded(
    kept: Painting, whole: Painting, choice: str, options: FigureOptions, who: str
) -> tuple[list[int], tuple[Paint, ...], tuple[Legend, ...]]:
    """What was asked for in its colours, all else faded; the legend says what was asked for."""
    paints = list(kept.paints)
    number: dict[int, int] = {HOLE: HOLE}
    cells = list(kept.cells)
    for cell, (mine, own) in enumerate(zip(kept.cells, whole.cells, strict=True)):
        if mine == HOLE and own != HOLE:
            if own not in number:
                number[own] = len(paints)
                paints.append(replace(whole.paints[own], faded=True))
            cells[cell] = number[own]
    if not kept.legends:
        return cells, tuple(paints), ()
    first, *rest = kept.legends
    asked = ", ".join(_asked(options, who))
    one = choice == "thread" and options.thread is not None and len(options.thread) == 1
    alone = choice == "warp" and options.thread is None and options.value is None
    entries = [replace(e, label=asked if one else e.label if alone else f"{e.label}: {asked}") for e in first.entries]
    faded = [n for own, n in number.items() if own != HOLE]
    if faded:
        entries.append(LegendEntry(faded[0], "others, faded"))
    return cells, tuple(paints), (replace(first, entries=tuple(entries)), *rest)


def _with_all_owners(painting: Painting, owners: Sequence[Sequence[int]], per: Sequence[TVMap], choice: str) -> Painting:
    """The painting, its first legend naming all the threads or warps that share a hue, or saying that it is that of the lowest."""
    if choice not in ("thread", "warp", "lanes") or not painting.legends or not any(len(mine) > 1 for mine in owners):
        return painting
    (warp, word), row = per[0].warp, max(m.row for m in per)
    width, prefix = (warp, f"{word} ") if choice == "warp" else (row, "group ") if choice == "lanes" else (1, per[0].who)
    cells = list(zip(painting.cells, owners, [m.values * width for m in per], strict=True))
    alone = {(paint, mine[0] // wide) for paint, mine, wide in cells if len(mine) == 1}
    shared = {(paint, tuple([o // wide for o in mine])) for paint, mine, wide in cells if len(mine) > 1}
    each: dict[int, set[frozenset[int]]] = {}  # hue -> the groups that own a cell of it
    for paint, groups in [*((paint, (group,)) for paint, group in alone), *shared]:
        each.setdefault(painting.paints[paint].hue, set()).add(frozenset(groups))
    first, *rest = painting.legends
    entries, several = [], False
    for entry in first.entries:
        found = each[painting.paints[entry.paint].hue]
        held = sorted(next(iter(found)))
        same = len(found) == 1 < len(held)
        entries.append(replace(entry, label=f"{prefix}{_runs(held)}") if same else entry)
        several = several or (not same and any(len(mine) > 1 for mine in found))
    title = first.title + (LOWEST if several else "")
    return replace(painting, legends=(replace(first, title=title, entries=tuple(entries)), *rest))


def _runs(numbers: Sequence[int]) -> str:
    """Numbers in words: `0, 2`, or `1..3, 8`."""
    return ", ".join(f"{a}" if a == b else f"{a}, {b}" if b == a + 1 else f"{a}..{b}" for a, b in runs(numbers))


def _painting(choice: str, owners: Sequence[int | None], per: Sequence[TVMap], maps: Sequence[TVMap]) -> Painting:
    """The owners, each of the map beside it in `per`, painted by what hue is to mean."""
    if choice == "none":
        return Painting(tuple([HOLE if o is None else 0 for o in owners]), (Paint(-1),), ())
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
    (warp, word), row = maps[0].warp, max(m.row for m in maps)
    width = {"warp": warp, "lanes": row}.get(choice, 1)
    who = maps[0].who
    titles = {"warp": f"hue: {word} ({warp} threads)", "lanes": f"hue: group of {row} lanes"}
    turns = None
    if choice == "warp" and max(m.threads for m in maps) > HUES * warp:  # of the tiles, whichever view is painted
        lowest = [[None if o is None else o // m.values // warp for o in first_owners(m.owners())] for m in maps]
        turns = in_turns([one for mine in lowest for one in mine], [(m.rows, m.cols) for m in maps])
        turns |= {one: one % HUES for one in range(-(-max(m.threads for m in maps) // warp)) if one not in turns}
    painted = by_group(
        [None if o is None else o // m.values // width for o, m in zip(owners, per, strict=True)],
        -(-max(m.threads for m in maps) // width),
        titles.get(choice, "hue: thread" if who == THREAD else f"hue: {who}"),
        {"warp": f"{word} ", "lanes": "group "}.get(choice, who),
        order=ids,
        order_count=values,
        order_title="shade: value",
        order_prefix="V",
        turns=turns,
    )
    if choice != "lanes":
        return painted
    lanes = re.compile(r"(?:group )?(\d+)")
    first, *rest = painted.legends
    named = [
        replace(entry, label=lanes.sub(lambda x: f"{who}{int(x[1]) * row}..{who}{(int(x[1]) + 1) * row - 1}", entry.label))
        for entry in first.entries
    ]
    return replace(painted, legends=(replace(first, entries=tuple(named)), *rest))


def _highlights(options: FigureOptions) -> bool:
    return (options.thread, options.warp, options.value) != (None, None, None)


def _wanted(owner: int | None, tv_map: TVMap, options: FigureOptions) -> bool:
    """Whether an owner t * values + v is among those that the options ask for."""
    if owner is None:
        return False
    thread, value = divmod(owner, tv_map.values)
    return (
        (options.thread is None or thread in options.thread)
        and (options.warp is None or thread // tv_map.warp[0] in options.warp)
        and (options.value is None or value in options.value)
    )


def owners_of(maps: Sequence[TVMap], options: FigureOptions) -> list[list[list[int]]]:
    """For each map the owners of its cells, those asked for in front, so that a highlighted owner of a shared cell is seen.
    Raises: FigureError for a thread, warp or value that none of the maps has."""
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
        ("warp", options.warp, -(-threads // maps[0].warp[0])),
        ("value", options.value, values),
    ):
        if wanted is not None and (wanted.start < 0 or wanted.stop > count or not wanted):
            raise FigureError(f"`{name}={_range(wanted)}`: there are {name}s 0 to {count - 1}")


def highlight_notes(options: FigureOptions, who: str = THREAD) -> list[str]:
    """A sentence that says what is highlighted; none without a highlight."""
    parts = _asked(options, who)
    return [f"All but {', '.join(parts)} is faded."] if parts else []


def _asked(options: FigureOptions, who: str) -> list[str]:
    asked = (("thread" if who == THREAD else who, options.thread), ("warp", options.warp), ("value", options.value))
    return [f"{name} {_range(wanted)}" for name, wanted in asked if wanted]


def _range(wanted: range) -> str:
    return str(wanted.start) if len(wanted) == 1 else f"{wanted.start}..{wanted.stop - 1}"
