"""The stages of a pipeline against time: what the producer loads, what lies in each stage, what consumers compute and store."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from cute_viz.algebra.composed import domain, is_layout
from cute_viz.algebra.gemm import MOST, Pipeline, Store, Turn, words_of
from cute_viz.algebra.inttuple import modes, product, show
from cute_viz.errors import FigureError
from cute_viz.figures.model import CONFLICT, Figure, Legend, LegendEntry, Paint, Panel, Ruler, Shape
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.figures.paint import numbered
from cute_viz.spelling import count

WHOLE, FIRST, LAST = 48, 26, 14  # slots of time that are all drawn, and of more the first and the last
WIDE = 20  # slots, of more of which cells are higher than they are broad
MOST_SLOTS = 32768  # that are worked out
EMPTY, LOADS, FULL, READ, STORES, BEFORE, WAITS = range(7)  # paints
PAINTS = (Paint(-1), Paint(0, faded=True), Paint(0), Paint(3), Paint(2), Paint(CONFLICT, faded=True), Paint(CONFLICT))
WORDS = {
    LOADS: "a load is under way",
    FULL: "full: it waits for the MMA",
    READ: "the MMA reads it",
    STORES: "the epilogue stores C",
    BEFORE: "the MMA waits for the first load",
    WAITS: "the MMA waits",
}


def pipeline(obj: Any, options: FigureOptions) -> Figure:
    """A row for the producer, one for each stage and each consumer; a column is a slot of time.

    obj: a Pipeline, or the layout of shared memory whose last mode of three or more, or whose only one, counts the stages.

    Raises: FigureError for a layout of two modes, and for a schedule that is too long.
    """
    made = _of(obj).given(words_of(options.schedule)) if options.schedule else _of(obj)
    if max(made.load, made.compute) * made.tiles * made.work > MOST_SLOTS:
        raise FigureError(f"{made} takes too many slots", hint="fewer tiles, or a shorter load")
    turns, stores = made.turns()
    slots = max(turns[-1].free, *(store.done for store in stores))
    shown = range(slots) if slots <= WHOLE else [*range(FIRST), *range(slots - LAST, slots)]
    every = _cells(made, turns, stores, slots)
    rows, cells = len(every) // slots, [every[at + slot] for at in range(0, len(every), slots) for slot in shown]
    check_cells(len(cells), str(made), options)
    at = [bisect_left(shown, n) for n in range(slots + 1)]  # the column where a slot begins
    begins = [cells[n - 1] != cell for n, cell in enumerate(cells)]  # a row ends in a slot that the next does not begin with
    names = ["producer", *(f"stage {n}" for n in range(made.stages))]
    names += ["MMA"] if made.consumers == 1 else [f"MMA {n}" for n in range(made.consumers)]
    painted = tuple([paint for paint, _ in cells])
    panel = Panel(
        caption=f"  {made.source}" if made.source else "",
        labels=tuple(
            [
                f"{'C' * (paint == STORES)}{tile}" if begin and tile is not None else ""
                for begin, (paint, tile) in zip(begins, cells, strict=True)
            ]
        ),
        paints=painted,
        row_ruler=Ruler("", tuple(names), (0, 1, *[0] * (made.stages - 1), 1, *[0] * (made.consumers - 1), 0)),
        col_ruler=numbered("slot", shown),
        data={"slot": tuple(shown) * rows, "tile": tuple([tile for _, tile in cells])},
        shapes=(*_braces(turns, at), *_barriers(made, turns)),
        foot="arrows: barriers of stage 0: down, full, when its load is there; up, empty, when its MMA is done",
        unit=(0.8, 0.8 * max(1.0, len(shown) / WIDE)),  # so that rows have their names, however many slots
    )
    title = options.title or _title(made)
    stored = ", C0 the first of C" if STORES in painted else ""
    caption = (
        f"0, 1, ... are tiles of K{stored}; tile n is in stage n mod {made.stages}, phase n / {made.stages} mod 2. "
        f"Assumed: one load a slot, which takes {made.load}; an MMA takes {made.compute}"
    )
    told = "; ".join(
        f"tile {t.tile} in stage {t.stage}: slots {t.issued}, {t.full}, {t.begun}, {t.free}" for t in turns[: 2 * made.stages]
    )
    entries = [LegendEntry(paint, words) for paint, words in WORDS.items() if paint in painted]
    return Figure(
        kind="pipeline",
        title=title,
        source=made.source or str(made),
        caption=caption,
        description=f"{title}. {caption}. Issued, full, MMA begun, free: {told}.",
        paints=PAINTS,
        legends=(Legend("hue: what happens", tuple(entries)),),
        panels=(panel,),
        notes=() if slots == len(shown) else (f"Slots {FIRST} to {slots - LAST - 1} of {slots} are left out.",),
        facts={"stages": made.stages, "tiles": len(turns), "slots": slots, "MMA waits": made.waits()},
        flow="row",
    )


def _of(obj: Any) -> Pipeline:
    """The pipeline that an object is, or whose stages are a mode of it."""
    if isinstance(obj, Pipeline):
        return obj
    shape = modes(domain(obj).shape) if is_layout(obj) else ()
    if len(shape) not in (1, 3, 4):
        raise FigureError(f"{show(obj)} has no mode of stages", hint="example: (128,64,4), where it is the last mode, or 4")
    stages = product(shape[-1])
    if stages > MOST["stages"]:
        raise FigureError(f"{show(obj)} has {stages} stages; at most {MOST['stages']} are drawn")
    return Pipeline(stages, 2 * max(stages, 2), source=show(obj) if len(shape) != 1 else "")


def _cells(made: Pipeline, turns: Sequence[Turn], stores: Sequence[Store], slots: int) -> list[tuple[int, int | None]]:
    """What happens in each row and slot: a paint, and the tile."""
    out: list[tuple[int, int | None]] = [(EMPTY, None)] * (slots * (1 + made.stages + made.consumers))

    def put(row: int, begin: int, end: int, paint: int, tile: int | None) -> None:
        out[row * slots + begin : row * slots + end] = [(paint, tile)] * (end - begin)

    for turn in turns:
        put(0, turn.issued, turn.issued + 1, LOADS, turn.tile)
        for begin, end, paint in ((turn.issued, turn.full, LOADS), (turn.full, turn.begun, FULL), (turn.begun, turn.free, READ)):
            put(1 + turn.stage, begin, end, paint, turn.tile)
        put(1 + made.stages + turn.consumer, turn.begun, turn.free, READ, turn.tile)
    put(1 + made.stages + turns[0].consumer, 0, turns[0].begun, BEFORE, None)
    for before, turn in pairwise(turns):
        put(1 + made.stages + turn.consumer, before.free, turn.begun, WAITS, None)
    for store in stores:
        put(1 + made.stages + store.consumer, store.begun, store.done, STORES, store.work)
    return out


def _braces(turns: Sequence[Turn], at: Sequence[int]) -> list[Shape]:
    """Prologue, steady state and drain, above the slots: until the first MMA, until the last load is issued, until the end."""
    first, last, end = at[turns[0].begun], at[max(turns[0].begun, turns[-1].issued + 1)], at[-1]
    parts = ((0, first, "prologue"), (first, last, "steady state"), (last, end, "drain"))
    return [Shape("brace", ((a + 0.1, -0.05), (b - 0.1, -0.05)), words, "up bold") for a, b, words in parts if b - a > 1]


def _barriers(made: Pipeline, turns: Sequence[Turn]) -> list[Shape]:
    """The barriers of stage 0, once: its first load lets an MMA begin, and the end of that lets the producer load again."""
    first, mma = turns[0], 1 + made.stages
    out = [Shape("arrow", ((first.full, 1.5), (first.full, mma + 0.05)), "", "")]
    if len(turns) > made.stages and (again := turns[made.stages]).issued == first.free:
        out.append(Shape("arrow", ((again.issued, mma + 0.5), (again.issued, 0.95)), "", ""))
    return out


def _title(made: Pipeline) -> str:
    """Whether loads are hidden, and what would hide them."""
    stages, waits = count(made.stages, "stage"), made.waits()
    all_of_it = f"{waits} of {made.compute * made.tiles * made.work + waits} slots"
    if made.consumers > 1:
        alone = replace(made, consumers=1).waits()
        many = f"{made.consumers} consumers take turns"
        words = f"waits {all_of_it}" if waits else "waits only for the first load"
        return f"{many}: the MMA {words}; one consumer would wait {alone} slots"
    if not waits:
        return f"{stages} hide{'s' * (made.stages == 1)} a load of {count(made.load, 'slot')}: the MMA waits only for the first"
    enough = next((n for n in range(made.stages + 1, MOST["stages"] + 1) if not replace(made, stages=n).waits()), 0)
    more = f"; {enough} stages would hide the loads" if enough else ", the epilogue among them" if made.work > 1 else ""
    return f"{stages}: the MMA waits {all_of_it}{more}"
