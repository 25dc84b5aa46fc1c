"""The bit matrix: which bits of a coordinate make each bit of an address; 1s in a row are joined by XOR."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from itertools import groupby
from operator import xor
from typing import Any

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain, pointer_bits, position_independent
from cute_viz.algebra.inttuple import product, show
from cute_viz.algebra.layout import is_coordinate_layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import bit_columns, bit_counts, offsets
from cute_viz.errors import FigureError
from cute_viz.figures.model import Arrow, Figure, Legend, LegendEntry, Paint, Panel, Ruler, Shape
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.spelling import count

ZERO, COPY, XOR = range(3)  # paints
LETTERS = {1: (("i", "index"),), 2: (("r", "row"), ("c", "column"))}
OWNERS = (("t", "thread"), ("v", "value"))


class Matrix:
    """A matrix of bits by its columns: the address, or the coordinates, that each bit of what goes in makes.

    names: of each column, its letter and its number. groups: (name, how many columns) of each mode. rows: the name of each row.
    """

    def __init__(
        self, columns: Sequence[int], names: Sequence[str], groups: Sequence[tuple[str, int]], rows: Sequence[str]
    ) -> None:
        self.columns, self.names, self.groups, self.rows = tuple(columns), tuple(names), tuple(groups), tuple(rows)
        self.bits = len(self.rows)

    def ones(self, row: int) -> list[int]:
        """The columns that have a 1 in a row."""
        return [n for n, column in enumerate(self.columns) if column >> row & 1]


def matrix(obj: Any, options: FigureOptions) -> Figure:
    """The bit matrix of a layout whose extents are powers of 2, or of a swizzle; of a swizzled layout also as a product. Raises:
    FigureError for extents that are not powers of 2, and for a layout that carries, with the coordinate where it does."""
    if options.bits is not None and (isinstance(obj, Swizzle) or options.tile is not None):
        raise FigureError("`type=` marks the banks of offsets, which a bare swizzle and a tile of owners do not have")
    if isinstance(obj, Swizzle):
        found, plain = _of_swizzle(obj, obj.bits + min(obj.changed, obj.read) + abs(obj.shift)), None
        check_cells(found.bits * found.bits, f"the matrix of {obj}", options)
        base: Matrix | None = _of_swizzle(Swizzle(0, obj.base, obj.shift), found.bits)
        outer = None
    else:
        layout = position_independent(obj)
        swizzled = isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle) and not layout.offset
        bits = max(1, max(_table(layout, options)).bit_length())
        plain = _of_layout(domain(layout), options, bits) if swizzled else None
        base, found = plain, _of_layout(layout, options, bits)
        outer = layout.outer if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle) else None
    if isinstance(obj, Swizzle) and options.tile is not None:
        raise FigureError("`tile=` is that of threads and values, which a bare swizzle does not have")
    owned = options.wave is not None or options.tile is not None
    size = None if isinstance(obj, Swizzle) or owned else options.bits or pointer_bits(obj) or 16
    panels = [_panel(found, base, "", (0, 0), _beside(found, size))]
    arrows: tuple[Arrow, ...] = ()
    if plain is not None and outer is not None:
        first = _of_swizzle(outer, found.bits)
        identity = _of_swizzle(Swizzle(0, outer.base, outer.shift), found.bits)
        parts = ((first, identity, str(outer)), (plain, None, show(domain(obj))), (found, plain, "both"))
        panels += [_panel(m, b, f"  {c}" if n < 2 else c, (1, n), (), 0.6) for n, (m, b, c) in enumerate(parts)]
        arrows = (Arrow(1, 2, look="×"), Arrow(2, 3, look="="))
    mixed = [row for row in range(found.bits) if len(found.ones(row)) > 1]
    banks = _bank_rows(size, found.bits)
    dead = [found.names[n] for n, column in enumerate(found.columns) if not column]
    title = options.title or _title(found, mixed, banks, dead)
    source = str(obj) if isinstance(obj, Swizzle) else show(obj)
    caption = f"{source}: bits of the coordinate in, bits of the address" + (f" of {size}-bit elements out" if size else " out")
    return _figure(found, panels, title, source, caption, arrows)


def bases(
    title: str, source: str, inputs: Sequence[tuple[str, Sequence[int]]], sizes: Sequence[int], options: FigureOptions
) -> Figure:
    """The matrix of a linear map by XOR, such as an encoding of a compiler.

    inputs: the name of each bit that goes in, such as `lane 0`, and the coordinate that it adds. sizes: the coordinates' extents.
    """
    rows = [(mode, bit) for mode, extent in enumerate(sizes) for bit in range((extent - 1).bit_length())]
    if not inputs or not rows:
        raise FigureError("a map of no bits has no matrix")
    check_cells(len(inputs) * len(rows), "the matrix of the bits", options)
    names = [name.partition(" ")[::2] for name, _ in inputs]
    columns = [sum((at[mode] >> bit & 1) << n for n, (mode, bit) in enumerate(rows)) for _, at in inputs]
    groups = [(kind, len(list(those))) for kind, those in groupby(kind for kind, _ in names)]
    letters = "mnpqrstu" if len(sizes) <= 8 else "x" * len(sizes)
    found = Matrix(columns, [kind[:3] + number for kind, number in names], groups, [f"{letters[m]}{bit}" for m, bit in rows])
    caption = "A column is an input bit, a row an output bit of a coordinate: the XOR of the bits of its columns"
    return _figure(found, [_panel(found, None, "", (0, 0), _beside(found, None))], title, source, caption)


def _figure(
    found: Matrix, panels: Sequence[Panel], title: str, source: str, caption: str, arrows: tuple[Arrow, ...] = ()
) -> Figure:
    entries = LegendEntry(COPY, "copies a bit"), LegendEntry(XOR, "is XORed in")
    rows = "; ".join(f"{name} = {_sum(found, row)}" for row, name in enumerate(found.rows))
    return Figure(
        kind="matrix",
        title=title,
        source=source,
        caption=caption,
        description=f"{title}. {source}. {rows}.",
        paints=(Paint(-1, faded=True), Paint(0), Paint(5)),
        legends=(Legend("hue: what a 1 does", entries),),
        panels=tuple(panels),
        facts={"rank": _rank(found.columns), "bits out": found.bits, "bits in": len(found.columns)},
        arrows=arrows,
        flow="grid",
    )


def _table(layout: AnyLayout, options: FigureOptions) -> list[int]:
    """The offsets of all coordinates."""
    if is_coordinate_layout(domain(layout)):
        raise FigureError(f"the values of {show(layout)} are coordinates, not addresses", hint="`view=grid` shows them")
    bit_counts(layout)
    check_cells(product(domain(layout).shape), f"the layout {show(layout)}", options)
    return offsets(layout)


def _of_layout(layout: AnyLayout, options: FigureOptions, bits: int) -> Matrix:
    """The matrix of a layout, held to every coordinate."""
    table, counts = _table(layout, options), bit_counts(layout)
    if options.tile is not None and len(counts) != 2:
        raise FigureError(f"{show(layout)} has {len(counts)} modes; a tile is owned by threads and values")
    owned = len(counts) == 2 and (options.wave is not None or options.tile is not None)
    letters = OWNERS if owned else LETTERS.get(len(counts))
    named = letters or [("ijklmnop"[n % 8], f"mode {n}") for n in range(len(counts))]
    columns, wrong = bit_columns(table)
    if wrong is not None:
        made = reduce(xor, (column for n, column in enumerate(columns) if wrong >> n & 1), 0)
        words = f"{show(layout)} carries: coordinate {wrong} is at {table[wrong]}, and its bits make {made}"
        raise FigureError(words, hint="a bit matrix needs strides with disjoint bits, and no offset")
    names = [f"{letter}{n}" for (letter, _), count in zip(named, counts, strict=True) for n in range(count)]
    down = 0 if options.tile is None else (options.tile[0] - 1).bit_length()
    rows = [f"a{n}" if options.tile is None else f"m{n}" if n < down else f"n{n - down}" for n in range(bits)]
    return Matrix(columns, names, [(name, count) for (_, name), count in zip(named, counts, strict=True)], rows)


def _of_swizzle(swizzle: Swizzle, bits: int) -> Matrix:
    """The matrix of a swizzle on addresses of so many bits."""
    return Matrix(
        [swizzle(1 << n) for n in range(bits)], [f"x{n}" for n in range(bits)], [("before", bits)], [f"a{n}" for n in range(bits)]
    )


def _panel(
    found: Matrix, base: Matrix | None, caption: str, place: tuple[int, int], beside: Sequence[Shape], unit: float = 1.0
) -> Panel:
    """A panel of a matrix; what the base does not have is XORed in, and without a base nothing is but in rows of several 1s."""
    cols = max(1, len(found.columns))
    paints, levels, at = [], [0] * (cols + 1), 0
    for row in range(found.bits):
        ones = found.ones(row)
        kept = ones if len(ones) < 2 else [n for n in ones if base is not None and base.columns[n] >> row & 1]
        paints += [(COPY if n in kept else XOR) if n in ones else ZERO for n in range(cols)]
    names = []
    for name, many in found.groups:
        if at:
            levels[at] = 1
        if many:
            names.append(Shape("text", ((at + many / 2, -0.05),), name if unit == 1 else name[0], "muted"))
        at += many
    small = unit != 1
    return Panel(
        caption=caption,
        labels=tuple([("1" if paint else "0") if not small or paint else "" for paint in paints]),
        paints=tuple(paints),
        row_ruler=Ruler("", ("",) * found.bits if small else found.rows),
        col_ruler=Ruler("", ("",) * cols if small else found.names or ("",), tuple(levels)),
        shapes=(*(names if len(found.groups) > 1 or not small else ()), *beside),
        place=place,
        unit=(unit, unit),
    )


def _sum(found: Matrix, row: int) -> str:
    return " ⊕ ".join(found.names[n] for n in reversed(found.ones(row))) or "0"


def _bank_rows(size: int | None, bits: int) -> range:
    """The address bits that choose the bank, of elements of a size in bits, a power of 2."""
    if size is None or size & (size - 1):
        return range(0)
    log = size.bit_length() - 1
    return range(min(bits, max(0, 5 - log)), max(0, min(bits, 10 - log)))


def _beside(found: Matrix, size: int | None) -> tuple[Shape, ...]:
    """The equation of each row, and what its bits are of memory."""
    right = len(found.columns) + 0.3
    sums = [_sum(found, row) for row in range(found.bits)]
    out = [
        Shape("text", ((right, row + 0.5),), f"= {words}", "mono start" + (" bold" if "⊕" in words else " muted"))
        for row, words in enumerate(sums)
    ]
    banks = _bank_rows(size, found.bits)
    edge = len(found.columns) + 1.1
    parts = [(0, banks.start, "within a word"), (banks.start, banks.stop, f"bank: {len(banks)} bits")]
    parts.append((banks.stop, found.bits, "line of 128 bytes"))
    for first, last, words in parts if banks else ():
        if last > first:
            look = "right bold" if words.startswith("bank") else "right"
            out.append(Shape("brace", ((edge, first + 0.1), (edge, last - 0.1)), words, look))
    return tuple(out)


def _title(found: Matrix, mixed: Sequence[int], banks: range, dead: Sequence[str]) -> str:
    """What the matrix says."""
    rank = _rank(found.columns)
    if dead:
        are = "reaches" if len(dead) == 1 else "reach"
        return f"{', '.join(dead)} {are} no address bit: {1 << len(found.columns) - rank} coordinates share each address"
    if rank < len(found.columns):
        return f"Rank {rank} of {len(found.columns)}: {1 << len(found.columns) - rank} coordinates share each address"
    if not mixed:
        letters = Counter(found.names[n][0] for row in banks if row < found.bits for n in found.ones(row))
        told = [count(letters[letter], f"{word} bit") for letter, word in (("r", "row"), ("c", "column")) if letters[letter]]
        if told and {*letters} < {name[0] for name in found.names} == {"r", "c"}:
            share = "rows of a column" if letters["c"] else "columns of a row"
            return f"{told[0]} choose{'s' * told[0].startswith('1 ')} the bank: all {share} share one"
        if len(told) > 1:
            return f"{' and '.join(told)} choose the bank"
        return f"Each of {len(found.columns)} address bits copies one bit of the coordinate"
    here = [row for row in mixed if row in banks]
    if here and here == list(mixed):
        mixes = {found.names[n][0] for row in here for n in found.ones(row)}
        of = "a column bit XOR a row bit" if mixes == {"r", "c"} else "XORs"
        return f"{len(here)} of {len(banks)} bank bits are {of}"
    return f"{len(mixed)} of {found.bits} address bits {'is an XOR' if len(mixed) == 1 else 'are XORs'}"


def _rank(columns: Sequence[int]) -> int:
    """How many of the columns are independent."""
    basis: list[int] = []
    for column in columns:
        for one in basis:
            column = min(column, column ^ one)
        if column:
            basis.append(column)
    return len(basis)
