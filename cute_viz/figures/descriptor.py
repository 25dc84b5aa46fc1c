"""Matrix descriptors: an operand in shared memory as core matrices, where they lie, and the 64 bits by field.

A core matrix is 8 rows of 16 bytes: of a K-major operand 8 of M or N, of an MN-major one 8 of K, and 4 of those of the swizzle with
a base of 32 bytes (PTX ISA, "Canonical layouts").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cute_viz.algebra.descriptor import FIELDS, MMAS, MODES, UNIT, DescriptorTensor, SmemDescriptor
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.recast import upcast
from cute_viz.algebra.static import unmarked
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.figures.fields import bits_panel, field_paints, fields_legend
from cute_viz.figures.machine import of_descriptors
from cute_viz.figures.model import Figure, Panel, Ruler
from cute_viz.figures.options import FigureOptions, check_cells, not_run
from cute_viz.figures.paint import HUES, Painting, borders, by_group
from cute_viz.figures.trim import some_lines
from cute_viz.values.types import sparse

LINE = 128  # bytes of memory a line shows: what all banks hold


class Cores(NamedTuple):
    """An operand cut into core matrices: rows and columns of them, and the 16-byte units of each, by their plain byte offset."""

    rows: int
    cols: int
    units: tuple[tuple[int, ...], ...]  # of a core matrix, row by row of the grid, its units


def descriptor(obj: SmemDescriptor | DescriptorTensor, options: FigureOptions) -> Figure:
    r"""The figure of a descriptor, or of a fragment of them. Raises: LimitError for an operand of more cells than the options
    allow."""
    x = obj.first if isinstance(obj, DescriptorTensor) else obj
    whole = _flat(obj.tensor) if isinstance(obj, DescriptorTensor) else x.tensor
    check_cells(product(whole.layout.shape) * x.bits // 128, f"the operand {whole.layout}", options)
    deep = MODES[x.kind][swizzle_of(x)][3]
    cores, block = _cores(whole, x.major, deep), _cores(x.tensor, x.major, deep)
    fragment = isinstance(obj, DescriptorTensor)
    steps = _steps(x, deep)
    # a fragment's colours tell its descriptors, a descriptor's those of its core matrices that lie farther apart
    down = cores.units[-cores.cols][0] >= cores.units[cores.cols - 1][0]
    if fragment:
        painted = [_block_of(cores, block, n) for n in range(len(cores.units))]
        what, prefix = "the descriptor that reads the core matrix, by its k-block", "desc "
    else:
        painted = [divmod(n, cores.cols)[not down] for n in range(len(cores.units))]
        what, prefix = f"{_mode(obj) if down else 'K'} of the core matrix", ""
    more = ", mod 8" if max(painted) >= HUES else ""
    painting = by_group([key % HUES for key in painted], HUES, f"hue: {what}{more}", prefix)
    if not (fragment or more):
        (legend,), each = painting.legends, steps[not down]
        named = [
            replace(entry, label=f"{'rows' if down else 'k'} {n * each}..{(n + 1) * each - 1}")
            for n, entry in enumerate(legend.entries)
        ]
        painting = replace(painting, legends=(replace(legend, entries=tuple(named)),))
    bits_at, paints = field_paints(FIELDS[x.kind], painting.paints)
    memory = _memory_panel(x, cores, painting, steps)
    if fragment:
        names = {n: painting.legends[0].entries[paint].label for n, paint in enumerate(painting.cells)}
        readers = tuple([names.get(core, "") for core in memory.data["core"]])
        memory = replace(memory, caption="shared memory: who reads each 16 bytes", labels=readers)
    memory, some = some_lines(memory, _starts(memory, painted if fragment else ()), LINE)
    bits = bits_panel(x.desc, 64, FIELDS[x.kind], bits_at, (1, 0), (1,))
    panels = [
        _core_panel(x, obj, cores, block, painting),
        memory,
        replace(bits, caption="descriptor 0: " * fragment + bits.caption),
    ]
    words = {"start_address": "start", "leading_byte_offset": "LBO", "stride_byte_offset": "SBO"}
    told = {name: f"{words.get(name, name)} {value}" for name, value in x.values.items()}
    for name in words:
        told[name] += f" = {x.values[name] * UNIT} B"
    told["layout_type"] = f"layout {x.values['layout_type']} {x.mode.removeprefix('SWIZZLE_')}"
    legend = fields_legend(FIELDS[x.kind], bits_at, told)
    name = "wgmma" if x.kind == "GMMA" else "tcgen05.mma"
    what = f"{name}, {x.major}-major {x.tensor.pointer.element}, {x.mode}"
    firsts = {key: units[0] for key, units in reversed(list(zip(painted, cores.units, strict=True)))} if fragment else {}
    title = options.title or of_descriptors(panels[0], [firsts[key] for key in sorted(firsts)], _mode(obj))
    caption = (
        f"{'Descriptors' if fragment else 'Descriptor'} of {what}. A cell is a core matrix of {deep} rows x 16 bytes, "
        "with its first byte; memory has 128 bytes per line, 16 bytes per cell"
    )
    facts: dict[str, Any] = {
        "desc": str(x),
        "start address, bytes": x.start_address * UNIT,
        "LBO, bytes": x.leading_byte_offset * UNIT,
        "SBO, bytes": x.stride_byte_offset * UNIT,
        "swizzle": str(x.tensor.pointer.swizzle or "none"),
    }
    return Figure(
        kind="descriptor",
        title=title,
        source=unmarked(whole.whole),
        caption=caption,
        paints=paints,
        legends=(*painting.legends, legend),
        panels=tuple(panels),
        notes=tuple(_notes(x, memory, some)),
        facts=facts,
    )


def _flat(tensor: Tensor) -> Tensor:
    """A partitioned operand ((MN,K),MMA_MN,MMA_K,...) as (MN,K), the first of its stages."""
    shape, stride = modes(tensor.layout.shape), modes(tensor.layout.stride)
    (mn, k), (mn_step, k_step) = shape[0], stride[0]
    layout = Layout(((mn, shape[1]), (k, shape[2])), ((mn_step, stride[1]), (k_step, stride[2])))
    return Tensor(tensor.pointer, layout)


def _cores(tensor: Tensor, major: str, deep: int) -> Cores:
    """The core matrices of an operand, of so many rows each, in bytes from its beginning."""
    units = upcast(tensor.layout, 128 // tensor.bits)
    mn, k = (product(mode) for mode in modes(units.shape))
    table = offsets(Layout((units.shape[0], units.shape[1]), (units.stride[0], units.stride[1])))
    high, wide = (deep, 1) if major == "K" else (1, deep)
    rows, cols = max(1, mn // high), max(1, k // wide)
    out = []
    for r in range(rows):
        for c in range(cols):
            down, across = range(r * high, min((r + 1) * high, mn)), range(c * wide, min((c + 1) * wide, k))
            out.append(tuple(table[i + j * mn] * UNIT for j in across for i in down))
    return Cores(rows, cols, tuple(out))


def _block_of(cores: Cores, block: Cores, n: int) -> int:
    """Which descriptor of a fragment reads a core matrix, counted along K first."""
    row, col = divmod(n, cores.cols)
    return row // block.rows * (cores.cols // block.cols) + col // block.cols


def _core_panel(x: SmemDescriptor, obj: Any, cores: Cores, block: Cores, painting: Painting) -> Panel:
    """The operand as core matrices: where each begins, and the offsets of the descriptor as arrows."""
    arrows, words = _arrows(x, block)
    deep = len(cores.units[0])
    row_step, col_step = _steps(x, deep)
    across, down = borders(cores.cols, block.cols), borders(cores.rows, block.rows)
    width = MODES[x.kind][swizzle_of(x)][2]
    boxes = _atoms(x, cores, width)
    labels = []
    led = {arrow[2:]: word.partition(" ")[0] for arrow, word in zip(arrows, words, strict=True)}  # to the cell that it leads to
    for n, units in enumerate(cores.units):
        row, col = divmod(n, cores.cols)
        label = f"+{units[0]}"
        if (row, col) in led:
            label += f"\n{led[row, col]}"
        if isinstance(obj, DescriptorTensor) and row % block.rows == 0 and col % block.cols == 0:
            label += f"\ndesc {_block_of(cores, block, n)}"
        labels.append(label)
    return Panel(
        caption=f"the operand, one core matrix of {deep} rows x 16 bytes per cell: its first byte",
        labels=tuple(labels),
        paints=painting.cells,
        row_ruler=Ruler(_mode(obj), tuple(str(r * row_step) for r in range(cores.rows)), down),
        col_ruler=Ruler("K", tuple(str(c * col_step) for c in range(cores.cols)), across),
        boxes=boxes,
        data={"byte": tuple(units[0] for units in cores.units)},
        place=(0, 0),
        legends=(0,),
        arrows=arrows,
        arrow_labels=words,
    )


def _steps(x: SmemDescriptor, deep: int) -> tuple[int, int]:
    """Rows and columns of an operand from a core matrix of so many rows to the next."""
    each = (sparse(x.tensor.pointer.type) or (1,))[0]  # elements along K for one that is stored
    t = 128 // (x.bits * each)
    return (deep, t * each) if x.major == "K" else (t, deep * each)


def _mode(obj: SmemDescriptor | DescriptorTensor) -> str:
    """What the rows of an operand are, where its MMA is known."""
    return {"A": "M", "B": "N"}.get(obj.tensor.name, "M or N")


def swizzle_of(x: SmemDescriptor) -> tuple[int, int, int]:
    """The swizzle of a layout type, as a key of MODES."""
    return next(key for key, row in MODES[x.kind].items() if row[1] == x.mode)


def _atoms(x: SmemDescriptor, cores: Cores, width: int) -> tuple[tuple[int, int, int, int], ...]:
    """The core matrices that one swizzle atom is made of."""
    if width == 1:
        return ()
    high, wide = (1, min(width, cores.cols)) if x.major == "K" else (min(width, cores.rows), 1)
    corners = [(r, c) for r in range(0, cores.rows, high) for c in range(0, cores.cols, wide)]
    return tuple((r, c, min(r + high, cores.rows), min(c + wide, cores.cols)) for r, c in corners)


def _arrows(x: SmemDescriptor, block: Cores) -> tuple[tuple[tuple[int, int, int, int], ...], tuple[str, ...]]:
    """The leading and the stride offset, from the first core matrix to the one that they lead to."""
    none = x.mode in ("INTERLEAVE", "SWIZZLE_NONE")
    width = MODES[x.kind][swizzle_of(x)][2]
    lbo, sbo = (f"{name} {value * UNIT} B" for name, value in (("LBO", x.leading_byte_offset), ("SBO", x.stride_byte_offset)))
    found = []
    if none and block.cols > 1:
        found.append(((0, 0, 0, 1), lbo))
    if (none or x.major == "K") and block.rows > 1:
        found.append(((0, 0, 1, 0), sbo))
    if not none and x.major == "MN":
        if block.rows > width:
            found.append(((0, 0, width, 0), lbo))
        if block.cols > 1:
            found.append(((0, 0, 0, 1), sbo))
    return tuple(arrow for arrow, _ in found), tuple(words for _, words in found)


def _memory_panel(x: SmemDescriptor, cores: Cores, painting: Painting, steps: tuple[int, int]) -> Panel:
    """Shared memory in order: which 16 bytes of the operand lie where, once the swizzle has been at work."""
    swizzle, start = x.tensor.pointer.swizzle, x.tensor.address
    held: dict[int, tuple[int, int]] = {}
    for n, units in enumerate(cores.units):
        for row, offset in enumerate(units):
            place = start + offset
            held[(swizzle(place) if swizzle else place) // UNIT] = (n, row)
    first = min(held) // (LINE // UNIT)
    lines = max(held) // (LINE // UNIT) - first + 1
    cells = [held.get(first * (LINE // UNIT) + n) for n in range(lines * LINE // UNIT)]
    first_of = [(n // cores.cols * steps[0], n % cores.cols * steps[1]) for n in range(len(cores.units))]
    line = (1, 0) if x.major == "K" else (0, steps[1] // len(cores.units[0]))  # from a row of a core matrix to the next
    at = [cell and (first_of[cell[0]], cell[1]) for cell in cells]
    labels = tuple([f"{cell[0][0] + cell[1] * line[0]},{cell[0][1] + cell[1] * line[1]}" if cell else "" for cell in at])
    return Panel(
        caption="shared memory, 16 bytes per cell: row,k of the first element",
        labels=labels,
        paints=tuple(-1 if cell is None else painting.cells[cell[0]] for cell in cells),
        row_ruler=Ruler("byte", tuple(str((first + r) * LINE) for r in range(lines)), borders(lines, 8)),
        col_ruler=Ruler("16-byte chunk", tuple(map(str, range(LINE // UNIT)))),
        data={
            "core": tuple(None if cell is None else cell[0] for cell in cells),
            "row": tuple(None if cell is None else cell[1] for cell in cells),
            "byte": tuple((first * (LINE // UNIT) + n) * UNIT for n in range(len(cells))),
        },
        place=(0, 1),
        legends=(0,),
    )


def _starts(memory: Panel, blocks: Sequence[int]) -> set[int]:
    """The lines of memory where the blocks of core matrices begin."""
    first: dict[int, int] = {}
    for n, core in enumerate(memory.data["core"]):
        if core is not None:
            first.setdefault(blocks[core] if blocks else 0, n // memory.cols)
    return {*first.values()}


def _notes(x: SmemDescriptor, memory: Panel, some: str) -> list[str]:
    out = []
    none = x.mode in ("INTERLEAVE", "SWIZZLE_NONE")
    if x.major == "K" and not none:
        out.append("LBO is not used: the 16-byte columns of K lie in one row of the swizzle atom, a box; the field holds 1.")
    if x.major == "MN" and not none:
        out.append("A box is a swizzle atom.")
    if x.major == "MN" and not none and not x.leading_byte_offset:
        out.append("LBO is 0: the operand is one swizzle atom wide.")
    if some:
        out.append(some)
    if any(cell is None for cell in memory.data["core"]):
        out.append("Hatched: bytes of other k-blocks, or unused ones.")
    if x.refused:
        out.append(f"No {MMAS[x.kind]} has it: {x.refused}.")
    if x.kind == "UMMA":
        out.append(not_run())
    return out
