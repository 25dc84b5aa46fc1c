"""The path in memory: one line through the cells of a layout in the order of their addresses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain, position_independent
from cute_viz.algebra.inttuple import leaves, modes, product, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.modes import take
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Paint, Panel, Ruler, Shape
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.figures.paint import borders

MOST, MOST_RUNS = 1024, 128  # cells that are drawn; of more those of a corner; and where a cell is a run of a swizzle
SIDE = 64  # rows or columns, more of which are too small to be seen
FAR = 4  # times as long as it is broad is a path whose cells are stretched
SHADES = 6  # from the first address to the last
REPEATED = SHADES  # the paint of a cell whose address another has, too


def path(layout: AnyLayout, options: FigureOptions) -> Figure:
    """The cells of a layout joined in the order of their addresses: neighbors by a thick line, jumps by a thin one, gaps dashed.
    Above two modes the planes stand side by side, as those of a grid do; a step from one to the next is a jump. Raises:
    FigureError for a layout of coordinates."""
    layout = position_independent(layout)
    shape = modes(domain(layout).shape)
    if is_coordinate_layout(domain(layout)):
        raise FigureError(f"the values of {show(layout)} are coordinates, not places in memory", hint="`view=grid` shows them")
    extents = [product(mode) for mode in shape] if len(shape) > 1 else [1, product(domain(layout).shape)]
    tall, wide = extents[:2]
    check_cells(product(tuple(extents)), f"the layout {show(layout)}", options)
    places = [(0, 0)]
    rows = cols = 1
    for n, extent in enumerate(extents):  # mode 2 goes to the right, mode 3 down, and so on
        down = n == 0 or (n > 2 and n % 2 == 1)
        places = [(r + down * i * rows, c + (not down) * i * cols) for i in range(extent) for r, c in places]
        rows, cols = (rows * extent, cols) if down else (rows, cols * extent)
    found = offsets(layout)
    table = dict(zip(places, found, strict=True))
    first: dict[int, tuple[int, int]] = {}
    for cell in sorted(table):
        first.setdefault(table[cell], cell)
    every = sorted(first)
    plane = tall, wide
    all_near = sum(b == a + 1 and _is_near(first[a], first[b], plane) for a, b in pairwise(every))
    gaps, repeated = every[-1] - every[0] + 1 - len(every), len(table) - len(every)
    found_out = [f"{all_near} of {len(every) - 1} steps go to a neighbor"] if every[1:] else []
    found_out += [f"{gaps} addresses in between are unused"] if gaps else []
    found_out += [f"{repeated} cells repeat an address"] if repeated else []
    wasted = f"{gaps} of {every[-1] - every[0] + 1} addresses are unused" if gaps else ""
    shared = f"{repeated} of {len(table)} cells repeat an address" if repeated else ""
    told = shared or wasted or (found_out[0] if found_out else "one cell")
    title = options.title or f"{_called(layout, table, every, plane)}: {told}"
    facts = {"neighbors": all_near, "steps": len(every) - 1, "gaps": gaps, "repeated": repeated}
    run, (high, broad) = _run(layout, table) if len(table) > MOST else (1, (1, 1))
    if run > 1:
        table = {(r // high, c // broad): at for (r, c), at in table.items() if at % run == 0}
        rows, cols, tall, wide = rows // high, cols // broad, tall // high, wide // broad
        first, every, plane = {at: cell for cell, at in table.items()}, sorted(table.values()), (tall, wide)
    bottom, right = _corner(rows, cols, MOST if run == 1 else MOST_RUNS)
    order = [at for at in every if first[at][0] < bottom and first[at][1] < right]
    steps = [(first[a], first[b], (b - a) // run) for a, b in pairwise(order)]
    whole = (bottom, right) == (rows, cols)
    low, high = order[0], order[-1]
    cells = [(r, c) for r in range(bottom) for c in range(right)]
    paints = [(table[x] - low) * SHADES // (high - low + 1) if first[table[x]] == x else REPEATED for x in cells]
    panel = Panel(
        caption=f"  {show(layout)}",
        labels=tuple([str(table[cell]) for cell in cells]),
        paints=tuple(paints),
        row_ruler=_ruler(bottom, tall, "mode 3" if len(shape) > 3 else ""),
        col_ruler=_ruler(right, wide, "mode 2" if len(shape) > 2 else ""),
        data={"offset": tuple([table[cell] for cell in cells])},
        shapes=(*_lines(steps, whole, plane), *_ends(first, order)),
        foot="; ".join(found_out[1:]),
        unit=(2.0 if bottom >= FAR * right > FAR else 1.0, 2.0 if right >= FAR * bottom > FAR else 1.0),  # so that arcs have room
    )
    caption = f"The line follows the addresses {low} to {high}; it is thin where it jumps"
    caption += ", dashed over unused ones" * (gaps > 0 and whole)
    caption += f"; a cell is {run} elements" if run > 1 else ""
    caption += "" if whole else f"; drawn are the first {bottom} × {right} of {rows} × {cols} cells"
    return Figure(
        kind="path",
        title=title,
        source=show(layout),
        caption=caption + (", and gray cells repeat an address" * (repeated > 0)),
        description=f"{title}. {show(layout)}. {caption}. {'; '.join(found_out)}.",
        paints=(*[Paint(0, n, SHADES) for n in range(SHADES)], Paint(-1, 1, 2)),
        panels=(panel,),
        facts=facts,
        flow="row",
    )


def _run(layout: AnyLayout, table: dict[tuple[int, int], int]) -> tuple[int, tuple[int, int]]:
    """How many elements a swizzle leaves together, and the rows and columns that they take; 1 if not neighbors."""
    run = 1 << layout.outer.base if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle) else 1
    for down, across in ((0, 1), (1, 0)):
        if all(table.get((r + down, c + across)) == at + 1 for (r, c), at in table.items() if at % run < run - 1):
            return run, (run if down else 1, run if across else 1)
    return 1, (1, 1)


def _corner(rows: int, cols: int, most: int) -> tuple[int, int]:
    """The rows and columns that are drawn: all, or of many those of a corner, whole rows where these are short."""
    side = int((4 * most) ** 0.5)
    if min(rows, cols) > side:
        return side // 2, side // 2
    if rows * cols > most:
        rows, cols = (max(1, most // cols), cols) if cols <= side else (rows, most // rows)
    return min(rows, SIDE), min(cols, SIDE)


def _ruler(count: int, every: int, mode: str) -> Ruler:
    """The borders of planes, and their number at the middle of each."""
    if not mode:
        return Ruler("", ("",) * count)
    names = [str(n // every) if n % every == every // 2 else "" for n in range(count)]
    return Ruler(mode, tuple(names), borders(count, every))


def _is_near(a: tuple[int, int], b: tuple[int, int], plane: tuple[int, int]) -> bool:
    """Whether two cells are neighbors, of one plane."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 and all(x // e == y // e for x, y, e in zip(a, b, plane, strict=True))


def _lines(steps: Sequence[tuple[tuple[int, int], tuple[int, int], int]], whole: bool, plane: tuple[int, int]) -> Iterator[Shape]:
    """The jumps, an arc where one passes over cells of its row or column, and above them the runs of neighbors."""
    runs: list[list[tuple[int, int]]] = []
    for a, b, gap in steps:
        if _is_near(a, b, plane) and gap == 1:
            if runs and runs[-1][-1] == a:
                runs[-1].append(b)
            else:
                runs.append([a, b])
            continue
        look = "thin dashed" if gap > 1 and whole else "thin"
        flat = a[0] == b[0] or a[1] == b[1]
        side = "" if not flat else " plain up" if a[0] == b[0] else " plain right"
        yield Shape(
            "arc" if flat and abs(a[0] - b[0]) + abs(a[1] - b[1]) > 1 else "line", (_middle(a), _middle(b)), "", look + side
        )
    for run in runs:
        corners = [run[0], *(q for p, q, r in zip(run, run[1:], run[2:], strict=False) if not _straight(p, q, r)), run[-1]]
        yield Shape("line", tuple(map(_middle, corners)), "", "strong")


def _straight(p: tuple[int, int], q: tuple[int, int], r: tuple[int, int]) -> bool:
    return q[0] - p[0] == r[0] - q[0] and q[1] - p[1] == r[1] - q[1]


def _middle(cell: tuple[int, int]) -> tuple[float, float]:
    return cell[1] + 0.5, cell[0] + 0.5


def _ends(first: dict[int, tuple[int, int]], order: Sequence[int]) -> Iterator[Shape]:
    """A mark on the first address, and on the last."""
    for offset, paint in ((order[-1], 0), (order[0], SHADES - 1)):
        yield Shape("dot", (_middle(first[offset]),), str(offset), paint=paint)


def _called(layout: AnyLayout, table: dict[tuple[int, int], int], order: Sequence[int], plane: tuple[int, int]) -> str:
    """What the order is called: that of the first plane, and how the others follow."""
    if len(table) == plane[0] * plane[1]:
        return _name(layout, table, order, *plane)
    planes: dict[tuple[int, int], list[int]] = {}
    for (r, c), at in table.items():
        planes.setdefault((r // plane[0], c // plane[1]), []).append(at)
    ends = sorted((min(mine), max(mine)) for mine in planes.values())
    apart = all(before[1] < after[0] for before, after in pairwise(ends))
    way = "one after the other" if apart else "at the same addresses" if len(set(ends)) == 1 else "interleaved"
    first = take(layout, 0, 2) if isinstance(layout, Layout) else layout
    own = {cell: at for cell, at in table.items() if cell[0] < plane[0] and cell[1] < plane[1]}
    ranks = {at: n for n, at in enumerate(sorted(set(own.values())))}  # others may lie between
    return f"{_name(first, {cell: ranks[at] for cell, at in own.items()}, range(len(ranks)), *plane)}, {len(planes)} planes {way}"


def _name(layout: AnyLayout, table: dict[tuple[int, int], int], order: Sequence[int], rows: int, cols: int) -> str:
    """What the order is called."""
    if isinstance(layout, ComposedLayout):
        return str(layout.outer).replace("Sw<", "Swizzle<") if isinstance(layout.outer, Swizzle) else "Composed"
    if len(table) != len(order):
        return "Broadcast"
    low = order[0]
    if min(rows, cols) == 1:
        return "Contiguous" if order[-1] - low == len(order) - 1 else "Strided"
    if all(table[r, c] == table[r, 0] + c for r, c in table):
        return "Row-major"
    if all(table[r, c] == table[0, c] + r for r, c in table):
        return "Column-major"
    strides = [sorted(abs(s) for e, s in zip(leaves(e_), leaves(s_), strict=True) if e > 1) for e_, s_ in _pairs(layout)]
    extents = {e for mode in modes(layout.shape) for e in leaves(mode) if e > 1}
    merged = sorted(strides[0] + strides[1])
    turns = extents == {2} and merged == [1 << n for n in range(len(merged))] and abs(len(strides[0]) - len(strides[1])) < 2
    if turns and {merged.index(s) % 2 for s in strides[0]} != {0, 1} and {merged.index(s) % 2 for s in strides[1]} != {0, 1}:
        return "Morton order"
    cells = [cell for cell, offset in sorted(table.items(), key=lambda item: item[1])]
    blocks = []
    for count in range(4, len(cells)):
        tall, wide = (max(cell[axis] for cell in cells[:count]) + 1 for axis in (0, 1))
        if tall * wide == count and tall > 1 and wide > 1 and (tall < rows or wide < cols):
            blocks.append((tall, wide))
            break
    return f"Blocks of {blocks[0][0]} × {blocks[0][1]}" if blocks else "Interleaved"


def _pairs(layout: AnyLayout) -> list[tuple[object, object]]:
    plain = domain(layout)
    return list(zip(modes(plain.shape), modes(plain.stride), strict=True))
