"""Layouts, swizzles and compositions: what the device evaluates against the drawn table, coordinate by coordinate.

The kernel of `layout_ptx.py` proves the arithmetic of the picture; CuTe's own headers (`cuda.py`) are the independent route.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain, position_independent
from cute_viz.algebra.layout import Layout, flat_modes
from cute_viz.algebra.stride import Basis
from cute_viz.check import cuda
from cute_viz.check.digest import owners
from cute_viz.check.job import Array, In, Job, Kernel, KernelRun, Out, Outcome, Outputs, Scalar, entry_name, sheet
from cute_viz.check.layout_ptx import PER_THREAD, THREADS, Unwritable, bound, kernel
from cute_viz.figures.model import Figure


def components(layout: AnyLayout) -> list[AnyLayout]:
    """A layout of integers as it is; of one with coordinate values, a layout of integers for each component."""
    parts = flat_modes(domain(layout))
    if not any(isinstance(d, Basis) for _, d in parts):
        return [layout]
    paths = sorted({d.path for _, d in parts if isinstance(d, Basis)})
    if isinstance(layout, ComposedLayout) or any(len(path) != 1 for path in paths):
        raise Unwritable(f"the values of {layout} are nested coordinates")
    shape = tuple(extent for extent, _ in parts)
    return [
        Layout(shape, tuple(d.value if isinstance(d, Basis) and d.path == (i,) else 0 for _, d in parts))
        for i in range(paths[-1][0] + 1)
    ]


def _drawn(figure: Figure, flat: bool) -> Iterator[tuple[int, int, int, tuple[int, ...]]]:
    """(panel, cell, coordinate's index, value drawn) of every place of a grid or a tile of owners.

    flat: the values of a tile's cells are indices into its column-major tile, not coordinates.
    """
    before = 0
    for n, panel in enumerate(figure.panels):
        if "thread" in panel.data:
            threads = int(figure.facts["threads"])
            for cell, mine in enumerate(owners(panel)):
                row, col = divmod(cell, panel.cols)
                for t, v in mine:
                    yield n, cell, t + threads * v, (row + panel.rows * col,) if flat else (row, col)
            continue
        column = panel.data.get("offset") or panel.data["coordinate"]
        for cell, value in enumerate(column):
            row, col = divmod(cell, panel.cols)
            yield n, cell, before + row + panel.rows * col, value if isinstance(value, tuple) else (value,)
        before += panel.rows * panel.cols


def job(layout: AnyLayout, figure: Figure, name: str, cute: bool = False) -> Job | str:
    """The check that the device evaluates a layout to what its figure (a grid, or a tile of owners) shows, or why there is none.

    cute: CuTe's headers evaluate it, not the PTX that is made from the layout.
    """
    layout = position_independent(layout)
    try:
        parts = components(layout)
        largest = max(map(bound, parts))
        if largest >= 1 << 63:
            raise Unwritable(f"values of up to {largest} take more than 64 bits")
        bits = 32 if largest < 1 << 31 else 64
        entry = entry_name("layout", name)
        made = cuda.kernel(parts, entry, bits) if cute else kernel(parts, entry, bits)
    except Unwritable as error:
        return error.message
    places = tuple(_drawn(figure, flat=len(parts) == 1))
    return _Tables(made, bits, len(parts), figure, places)


@dataclass(frozen=True, slots=True)
class _Tables:
    """The tables of a layout's components, and each with an entry changed. places: as `_drawn` has them."""

    made: Kernel
    bits: int
    parts: int
    figure: Figure
    places: tuple[tuple[int, int, int, tuple[int, ...]], ...]

    def kernel(self) -> Kernel:
        return self.made

    def tables(self) -> list[Array]:
        """Of each component its drawn values by index."""
        out = np.zeros((self.parts, 1 + max(index for _, _, index, _ in self.places)), f"i{self.bits // 8}")
        for _, _, index, value in self.places:
            out[: len(value), index] = value[: self.parts]
        return list(out)

    def launches(self) -> tuple[KernelRun, ...]:
        out = []
        for k, table in enumerate(self.tables()):
            padded = np.pad(table, (0, -len(table) % PER_THREAD))
            wrong = padded.copy()
            wrong[len(table) // 2] ^= 1
            out += [launch(f"{self.made.entry}_{k}", data.tobytes(), len(table)) for data in (padded, wrong)]
        return tuple(out)

    def judge(self, outputs: Outputs) -> Outcome:
        """What the device computed against what is drawn; it counts mismatches itself, one more or less with a changed entry."""
        tables = self.tables()
        seen = [np.frombuffer(out[0], table.dtype)[: len(table)] for out, table in zip(outputs[::2], tables, strict=True)]
        counts = [int(np.frombuffer(out[1], np.uint32)[0]) for out in outputs]
        pairs = list(zip(counts[::2], counts[1::2], strict=True))
        control = all(wrong == right + 1 or (right and wrong == right - 1) for right, wrong in pairs)
        unequal = [int((s != t).sum()) for s, t in zip(seen, tables, strict=True)]
        lists = [s.tolist() for s in seen]
        sheets = []
        for n, panel in enumerate(self.figure.panels):
            cells, drawn, got = [], [], []
            for of, cell, index, value in self.places:
                if of == n:
                    cells.append(cell)
                    drawn.append(",".join(map(str, value)))
                    got.append(",".join(str(s[index]) for s in lists))
            sheets.append(sheet(panel.caption, (panel.rows, panel.cols), drawn, got, cells=cells))
        facts = {"mismatches counted on the device": sum(counts[::2])}
        return Outcome(tuple(sheets), control and counts[::2] == unequal, facts)


def table_of(figure: Figure) -> list[int] | None:
    """The drawn offsets in the order of coordinates; None for pictures of coordinates or owners."""
    if any("offset" not in panel.data for panel in figure.panels):
        return None
    places = sorted((index, value[0]) for _, _, index, value in _drawn(figure, flat=True))
    return [value for _, value in places]


def launch(entry: str, table: bytes, count: int) -> KernelRun:
    """The launch of one entry: its table, what it sees, the count of mismatches; `count` of the table's entries are compared."""
    blocks = -(-count // (THREADS * PER_THREAD))
    return KernelRun(entry, (blocks, 1, 1), THREADS, (In(table), Out(len(table)), Out(4, fill=0), Scalar(count)))
