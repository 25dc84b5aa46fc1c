"""Layouts, swizzles and compositions: PTX that evaluates them, made from the layout, checked against the drawn table.

The kernel reads the drawn table, evaluates the layout at every coordinate, writes what it got, and counts mismatches.
It proves the arithmetic of the picture; CuTe's own headers (`cuda.py`) are the independent route.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain, position_independent
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout, flat_modes
from cute_viz.algebra.stride import F2, Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.check import cuda
from cute_viz.check.digest import digest, owners
from cute_viz.check.job import Check, In, Item, Kernel, Launch, Out, Outcome, Sheet, Undecided, Word, entry_name
from cute_viz.errors import CuteVizError
from cute_viz.figures.model import Figure

THREADS = 256
PER_THREAD = 4  # entries of one thread, loaded as one vector


class Unwritable(CuteVizError):
    """A layout that the generated kernels do not compute, such as one with fractional strides."""


class _Writer:
    """Lines of PTX that compute a layout in registers of 32 or 64 bits."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.lines: list[str] = []
        self.count = 0

    def new(self, instruction: str, *operands: object) -> str:
        """One instruction with a fresh destination register."""
        name = f"%v{self.count}"
        self.count += 1
        self.lines.append(f"{instruction}{self.bits} {', '.join(map(str, (name, *operands)))};")
        return name

    def layout(self, layout: AnyLayout, index: str) -> str:
        """The register that holds layout(index)."""
        if isinstance(layout, ComposedLayout):
            inner = layout.inner
            if isinstance(inner, Swizzle) or not isinstance(layout.offset, int):
                raise Unwritable(f"{layout} has no integer table")
            value = self.layout(inner, index)
            if layout.offset:
                value = self.new("add.s", value, int(layout.offset))
            return self.swizzle(layout.outer, value) if isinstance(layout.outer, Swizzle) else self.layout(layout.outer, value)
        total = ""
        rest = index
        parts = flat_modes(layout)
        for n, (extent, stride) in enumerate(parts):
            if n + 1 < len(parts):
                coordinate, rest = self.divide(rest, extent)
            else:
                coordinate = rest
            term = self.product(coordinate, stride)
            if term:
                total = term if not total else self.new("xor.b" if isinstance(stride, F2) else "add.s", total, term)
        return total or self.new("mov.b", 0)

    def divide(self, value: str, extent: int) -> tuple[str, str]:
        """(value mod extent, value / extent)."""
        if extent & (extent - 1) == 0:
            return self.new("and.b", value, extent - 1), self.new("shr.u", value, extent.bit_length() - 1)
        return self.new("rem.u", value, extent), self.new("div.u", value, extent)

    def product(self, coordinate: str, stride: Any) -> str:
        """coordinate * stride, empty for 0; of an XOR stride the carry-less product."""
        if isinstance(stride, F2):
            total = ""
            for bit in range(stride.value.bit_length()):
                if stride.value >> bit & 1:
                    term = self.new("shl.b", coordinate, bit)
                    total = term if not total else self.new("xor.b", total, term)
            return total
        if not isinstance(stride, int):
            raise Unwritable(f"the stride {show(stride)} is no integer")
        if stride == 0:
            return ""
        if stride > 0 and stride & (stride - 1) == 0:
            return coordinate if stride == 1 else self.new("shl.b", coordinate, stride.bit_length() - 1)
        return self.new("mul.lo.s", coordinate, int(stride))

    def swizzle(self, swizzle: Swizzle, value: str) -> str:
        """value ^ ((value & yyy) >> shift)."""
        if not swizzle.bits:
            return value
        picked = self.new("and.b", value, swizzle.yyy)
        moved = self.new("shr.s" if swizzle.shift >= 0 else "shl.b", picked, abs(swizzle.shift))
        return self.new("xor.b", value, moved)


def bound(layout: AnyLayout, index: int | None = None) -> int:
    """No value of the layout, nor anything on the way to it, is larger in magnitude.

    >>> bound(ComposedLayout(Swizzle(1, 0, 2), 3, Layout(8, 2)))
    31
    """
    if isinstance(layout, ComposedLayout):
        if isinstance(layout.inner, Swizzle) or not isinstance(layout.offset, int):
            raise Unwritable(f"{layout} has no integer table")
        inner = bound(layout.inner, index) + abs(layout.offset)
        if isinstance(layout.outer, Swizzle):
            return int((1 << (inner | layout.outer.zzz if inner else 0).bit_length()) - 1)
        if layout.offset < 0 or any(not isinstance(d, int) or d < 0 for _, d in flat_modes(domain(layout.inner))):
            raise Unwritable(f"{layout.outer} would be asked for negative indices")
        return bound(layout.outer, inner)
    parts = flat_modes(layout)
    total = 0
    for n, (extent, stride) in enumerate(parts):
        if not isinstance(stride, (int, F2)):
            raise Unwritable(f"the stride {show(stride)} is no integer")
        last = extent - 1 if index is None or n + 1 < len(parts) else index
        total += last * abs(stride) if isinstance(stride, int) else (1 << (last * stride.value).bit_length())
    return total


def kernel(layouts: Sequence[AnyLayout], entry: str, bits: int = 32) -> Kernel:
    """Kernels (table, seen, count, n), one a layout: seen[i] = layout(i), and count of the i < n with seen[i] != table[i].

    The entries are called `entry_0`, `entry_1` ... Buffers hold a multiple of PER_THREAD entries. bits: of an entry, 32 or 64.
    Refused: strides that are no integers.

    >>> "xor.b32" in kernel([ComposedLayout(Swizzle(1, 0, 2), 0, Layout(8))], "k").body
    True
    """
    return Kernel(entry, "\n".join(_entry(layout, f"{entry}_{n}", bits) for n, layout in enumerate(layouts)))


def _entry(layout: AnyLayout, entry: str, bits: int) -> str:
    writer = _Writer(bits)
    groups = [range(4)] if bits == 32 else [range(2), range(2, 4)]
    lanes = [f"{{{','.join(f'%e{j}' for j in group)}}}" for group in groups]
    vector = f"v{len(groups[0])}.b{bits}"
    lines = [f"ld.global.{vector} {names}, [%from+{16 * n}];" for n, names in enumerate(lanes)]
    values = []
    for j in range(PER_THREAD):
        writer.lines.append(f"// entry {j}")
        index = writer.new("add.u", "%base", j)
        values.append(writer.layout(layout, index))
    lines += writer.lines
    for n, group in enumerate(groups):
        names = f"{{{','.join(values[j] for j in group)}}}"
        lines.append(f"st.global.{vector} [%to+{16 * n}], {names};")
    for j in range(PER_THREAD):
        lines += [
            f"add.u32 %t, %first, {j};",
            "setp.lt.u32 %inside, %t, %n;",
            f"setp.ne.and.b{bits} %miss, {values[j]}, %e{j}, %inside;",
            "@%miss add.u32 %bad, %bad, 1;",
        ]
    body = "\n".join(lines)
    widen = "mov.b32 %base, %first;" if bits == 32 else "cvt.u64.u32 %base, %first;"
    return f"""// {layout}
.visible .entry {entry}(.param .u64 table, .param .u64 seen, .param .u64 count, .param .u32 n)
{{
.reg .pred %inside, %miss, %past;
.reg .b32 %first, %n, %t, %bad;
.reg .b64 %from, %to, %at;
.reg .b{bits} %base, %e<{PER_THREAD}>, %v<{writer.count}>;
mov.u32 %first, %ctaid.x; mov.u32 %t, %ntid.x; mul.lo.u32 %first, %first, %t; mov.u32 %t, %tid.x;
add.u32 %first, %first, %t; shl.b32 %first, %first, {PER_THREAD.bit_length() - 1};
ld.param.u32 %n, [n]; setp.ge.u32 %past, %first, %n; @%past ret;
{widen}
mul.wide.u32 %at, %first, {bits // 8};
ld.param.u64 %from, [table]; add.u64 %from, %from, %at;
ld.param.u64 %to, [seen]; add.u64 %to, %to, %at;
mov.u32 %bad, 0;
{body}
setp.eq.u32 %past, %bad, 0; @%past ret;
ld.param.u64 %at, [count]; red.global.add.u32 [%at], %bad;
ret;
}}"""


def components(layout: AnyLayout) -> list[AnyLayout]:
    """A layout of integers as it is; of one with coordinate values, a layout of integers for each component.

    >>> from cute_viz.algebra.construct import make_identity_layout
    >>> [str(x) for x in components(make_identity_layout((4, 8)))]
    ['(4,8):(1,0)', '(4,8):(0,1)']
    """
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


def check(layout: AnyLayout, figure: Figure, name: str, cute: bool = False) -> Item:
    """The check that the device evaluates a layout to what its figure (a grid, or a tile of owners) shows.

    cute: CuTe's headers evaluate it, not the PTX that is made from the layout.

    >>> from cute_viz.figures import build
    >>> check(Layout((4, 8), (8, 1)), build(Layout((4, 8), (8, 1))), "x").kernel.entry
    'layout_x'
    >>> check(Layout((4, 8), (8, 1)), build(Layout((4, 8), (8, 1))), "x", cute=True).kernel.cuda
    True
    """
    kind = "layout by CuTe" if cute else "layout"
    layout = position_independent(layout)
    try:
        parts = components(layout)
        bits = 32 if max(map(bound, parts)) < 1 << 31 else 64
        entry = entry_name("layout", name)
        made = cuda.kernel(parts, entry, bits) if cute else kernel(parts, entry, bits)
    except (Unwritable, cuda.NotInCuTe) as error:
        return Undecided(kind, name, error.message)
    places = list(_drawn(figure, flat=len(parts) == 1))
    count = 1 + max(index for _, _, index, _ in places)
    padded = -(-count // PER_THREAD) * PER_THREAD
    dtype = np.dtype(np.int32 if bits == 32 else np.int64)

    def tables() -> list[Any]:
        out = []
        for k in range(len(parts)):
            table = np.zeros(padded, dtype)
            for _, _, index, value in places:
                table[index] = value[k] if k < len(value) else 0
            out.append(table)
        return out

    def launches() -> tuple[Launch, ...]:
        out = []
        for k, table in enumerate(tables()):
            wrong = table.copy()
            wrong[count // 2] ^= 1
            for data in (table, wrong):
                out.append(launch(f"{entry}_{k}", data.tobytes(), count))
        return tuple(out)

    def judge(outputs: Sequence[Sequence[bytes]]) -> Outcome:
        seen = [np.frombuffer(out[0], dtype)[:count] for out in outputs[::2]]
        counts = [int(np.frombuffer(out[1], np.uint32)[0]) for out in outputs]
        unequal = [int((s != t[:count]).sum()) for s, t in zip(seen, tables(), strict=True)]
        control = all(
            wrong == right + 1 or (right and wrong == right - 1) for right, wrong in zip(counts[::2], counts[1::2], strict=True)
        )
        counted = counts[::2] == unequal
        return Outcome(_sheets(figure, places, seen), control and counted, {"mismatches counted on the device": sum(counts[::2])})

    return Check(kind, name, made, launches, judge, digest(figure))


def table_of(figure: Figure) -> list[int] | None:
    """The drawn offsets in the order of coordinates; None for pictures of coordinates or owners.

    >>> from cute_viz.figures import build
    >>> table_of(build(Layout((2, 2), (2, 1))))
    [0, 2, 1, 3]
    """
    if any("offset" not in panel.data for panel in figure.panels):
        return None
    places = sorted((index, value[0]) for _, _, index, value in _drawn(figure, flat=True))
    return [value for _, value in places]


def launch(entry: str, table: bytes, count: int) -> Launch:
    """The launch of one entry: its table, what it sees, the count of mismatches; `count` of the table's entries are compared.

    >>> launch("k_0", bytes(4 * 4096), 4096).grid
    (4, 1, 1)
    """
    blocks = -(-count // (THREADS * PER_THREAD))
    return Launch(entry, (blocks, 1, 1), THREADS, (In(table), Out(len(table)), Out(4, fill=0), Word(count)))


def _sheets(figure: Figure, places: list[tuple[int, int, int, tuple[int, ...]]], seen: list[Any]) -> tuple[Sheet, ...]:
    lists = [s.tolist() for s in seen]
    drawn = [["" for _ in panel.labels] for panel in figure.panels]
    saw: list[list[str | None]] = [[None for _ in panel.labels] for panel in figure.panels]
    ok: list[list[bool | None]] = [[None for _ in panel.labels] for panel in figure.panels]
    for n, cell, index, value in places:
        got = tuple(s[index] for s in lists)
        right = got == value
        if ok[n][cell] is not False:  # of a cell with several owners, the one that differs is told
            drawn[n][cell], saw[n][cell] = (",".join(map(str, x)) for x in (value, got))
            ok[n][cell] = right
    return tuple(
        Sheet(panel.caption, panel.rows, panel.cols, tuple(drawn[n]), tuple(saw[n]), tuple(ok[n]))
        for n, panel in enumerate(figure.panels)
    )
