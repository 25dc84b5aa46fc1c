"""The swizzled layout atoms of GMMA and TMA (cute/atom/mma_traits_sm90_gmma.hpp), drawn as rows of memory, against the hardware.

TMA swizzles by itself (PTX ISA, "cp.async.bulk.tensor"): it loads a matrix, and stores what was laid out as drawn. wgmma reads an
atom as operand A, one element at a time not zero: which row and k the product takes it for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, PointerFlag, domain
from cute_viz.algebra.layout import flat_modes
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.check.elements import ELEMENTS, UNSIGNED, encode
from cute_viz.check.job import (
    Array,
    In,
    Job,
    Kernel,
    KernelRun,
    Map,
    Out,
    Outcome,
    Outputs,
    Scalar,
    entry_name,
    kernel,
    pairs,
    sheet,
)
from cute_viz.check.wgmma_ptx import PLAIN, STEP, Wgmma, accumulator, descriptor, plain_tile
from cute_viz.figures.model import Figure, Panel

ROWS = 8  # of a swizzle atom
BITS = (8, 16, 32)  # of an element
TYPES = {8: "u8", 16: "f16", 32: "tf32"}  # of the wgmma that reads elements of so many bits
SHARED = 8 << 10  # bytes: enough for the largest tile, 8 rows of 128 bytes, at a multiple of 1024


@dataclass(frozen=True, slots=True)
class SwizzleAtom:
    """A swizzle atom: 8 rows of `16 << swizzle` bytes.

    swizzle: 0..3 for none, 32, 64, 128 bytes. bits: of an element. mn_major: rows run along k, and M or N is contiguous.
    """

    swizzle: int
    bits: int
    mn_major: bool

    @property
    def pitch(self) -> int:
        """Elements of a row."""
        return (16 << self.swizzle) * 8 // self.bits


def recognise(layout: AnyLayout) -> SwizzleAtom | None:
    """The atom that a layout is, flagged (Sw<b,4,3> on bytes) or on elements; None for any other layout."""
    if not isinstance(layout, ComposedLayout) or not isinstance(layout.outer, Swizzle) or layout.outer.shift != 3:
        return None
    if isinstance(layout.inner, (ComposedLayout, Swizzle)):
        return None
    swizzle, base = layout.outer.bits, layout.outer.base
    if isinstance(layout.offset, PointerFlag):
        bits = layout.offset.bits if base == 4 else 0
    else:
        bits = 8 << (4 - base) if layout.offset == 0 and swizzle and base <= 4 else 0
    if bits not in BITS or swizzle > 3:
        return None
    pitch = (16 << swizzle) * 8 // bits
    parts = [(int(extent), int(stride)) for extent, stride in flat_modes(domain(layout))]
    if parts == [(ROWS, pitch), (pitch, 1)]:
        return SwizzleAtom(swizzle, bits, False)
    return SwizzleAtom(swizzle, bits, True) if parts == [(pitch, 1), (ROWS, pitch)] else None


def jobs(layout: AnyLayout, figure: Figure, name: str) -> dict[str, Job]:
    """The checks of a drawn atom, none of another layout: TMA loads and stores it; wgmma reads it, M contiguous only in 16 bits."""
    atom = recognise(layout)
    if atom is None:
        return {}
    (panel,) = figure.panels
    out: dict[str, Job] = {f"TMA {w}": _Tma(atom, panel, entry_name(f"tma_{w}", name), w == "store") for w in ("load", "store")}
    if atom.bits == 16 or not atom.mn_major:
        out["wgmma operand"] = _Operand(atom, panel, entry_name("operand", name))
    return out


@dataclass(frozen=True, slots=True)
class _Drawn:
    """An atom and its picture. cells, offsets: of each element of the rows of memory, row by row, its cell and drawn offset."""

    atom: SwizzleAtom
    panel: Panel
    entry: str

    @property
    def count(self) -> int:
        return ROWS * self.atom.pitch

    @property
    def cells(self) -> Any:
        cells = np.arange(self.count).reshape(self.panel.rows, self.panel.cols)
        return (cells.T if self.atom.mn_major else cells).reshape(-1)

    @property
    def offsets(self) -> Any:
        return np.array(self.panel.data["offset"], np.int64)[self.cells]

    @property
    def swapped(self) -> Any:
        """The offsets with two exchanged, in rows of their own: what no hardware agrees with."""
        wrong = self.offsets
        wrong[[0, 9]] = wrong[[9, 0]]
        return wrong

    def outcome(self, drawn: Any, seen: Any, ok: Array, control: Array) -> Outcome:
        shape = (self.panel.rows, self.panel.cols)
        return Outcome((sheet(self.panel.caption, shape, drawn, seen, ok, self.cells),), bool(control.any()))


@dataclass(frozen=True, slots=True)
class _Tma(_Drawn):
    """A bulk tensor copy: elements are numbered, of 8 bits in two digits, a box each; a store gets the tile laid out as drawn."""

    store: bool

    @property
    def digits(self) -> int:
        return 2 if self.atom.bits == 8 else 1

    def kernel(self) -> Kernel:
        """The kernel (map, in, out, bytes), a box a block: TMA loads a tile, which goes to out, or stores `in`."""
        return kernel("tma.ptx", self.entry, store=self.store)

    def launches(self) -> tuple[KernelRun, ...]:
        return tuple(self._launch(offsets) for offsets in [self.offsets, self.swapped][: 1 + self.store])

    def _launch(self, offsets: Array) -> KernelRun:
        every, bits, pitch = np.arange(self.count) + 1, self.atom.bits, self.atom.pitch
        data = np.stack([every % 256, every // 256] if self.digits == 2 else [every]).astype(UNSIGNED[bits])
        if self.store:
            numbers, data = data, np.zeros_like(data)
            data[:, offsets] = numbers
        size, strides = self.count * bits // 8, (pitch * bits // 8,)
        kind = BITS.index(bits)  # of CUtensorMapDataType: UINT8, UINT16, UINT32
        tensor = Map(1 + self.store, (pitch, ROWS * self.digits), strides, (pitch, ROWS), self.atom.swizzle, kind, 2)
        arguments = (tensor, In(data.tobytes()), Out(size * self.digits), Scalar(size))
        return KernelRun(self.entry, (self.digits, 1, 1), 32, arguments, SHARED)

    def _received(self, data: bytes) -> Any:
        """The number at each place of the output, less 1."""
        got = np.frombuffer(data, UNSIGNED[self.atom.bits]).reshape(self.digits, self.count).astype(np.int64)
        return sum(digit * 256**p for p, digit in enumerate(got)) - 1

    def judge(self, outputs: Outputs) -> Outcome:
        """Each element's offset, or the matrix that came back, against the drawn offsets; a tile laid out otherwise is wrong."""
        offsets, got, every = self.offsets, self._received(outputs[0][0]), np.arange(self.count)
        inside = (got >= 0) & (got < self.count)
        if self.store:
            seen = [str(offsets[g]) if fine else "nothing" for g, fine in zip(got, inside, strict=True)]
            return self.outcome(offsets, seen, got == every, self._received(outputs[1][0]) != every)
        where = np.full(self.count, -1, np.int64)
        where[got[inside]] = np.nonzero(inside)[0]
        seen = [str(w) if w >= 0 else "nowhere" for w in where.tolist()]
        return self.outcome(offsets, seen, where == offsets, where != self.swapped)


@dataclass(frozen=True, slots=True)
class _Operand(_Drawn):
    """Operand A of wgmma with one element of the atom's memory set at a time: D then has one row, and its value is k + 1."""

    @property
    def made(self) -> Wgmma:
        """The instruction with N = 8 that reads A in the atom's major, and B K-major."""
        element = ELEMENTS[TYPES[self.atom.bits]]
        result = ELEMENTS["s32" if element.whole else "f32"]
        return Wgmma(element, element, result, 8, transposed=(int(self.atom.mn_major), 0))

    def kernel(self) -> Kernel:
        return self.made.kernel(self.entry)

    def tile(self) -> tuple[int, int, int]:
        """Of the A tile that the atom is the beginning of: its bytes, its descriptor, its instructions along K."""
        pitch, swizzle = 16 << self.atom.swizzle, self.atom.swizzle
        each = ROWS * pitch  # bytes of an atom
        if self.atom.mn_major:
            across = 64 // self.atom.pitch * each  # the atoms along M; the tile has two along K
            leading, stride = (each, across) if swizzle else (across, each)
            return 2 * across, descriptor(swizzle, leading, stride), 1
        if not swizzle:
            return 16 * each, PLAIN, 1
        return 8 * each, descriptor(swizzle, 16, 8 * pitch), pitch // STEP

    def launches(self) -> tuple[KernelRun, ...]:
        """One launch: block e has the element at offset e of the atom set, the rest of the tile zero; B is k + 1."""
        size, described, steps = self.tile()
        made, bits = self.made, self.atom.bits
        images = np.zeros((self.count, size * 8 // bits), UNSIGNED[bits])
        np.fill_diagonal(images, encode(1, made.a.name))
        k = np.arange(steps * made.k) + 1
        numbers = encode(np.broadcast_to(k, (made.n, len(k))), made.b.name).reshape(made.n, steps, made.k)
        tiles = plain_tile(numbers.transpose(1, 0, 2), made.b.bits)  # a plain tile of B a step, one after the other
        return (made.launch(self.entry, images.tobytes(), tiles, (self.count, 1), (described, PLAIN), tail=(steps, made.n * STEP)),)

    def judge(self, outputs: Outputs) -> Outcome:
        """The row and k that each element of memory was taken for, against the cell at whose offset it lies."""
        values, (row, _) = self.made.values(outputs[0][0]), accumulator(self.made.results)
        table = np.zeros((self.count, 64), np.int64)
        np.maximum.at(table, (np.arange(self.count)[:, None, None], row[None]), values)
        m, k = table.argmax(axis=1), table.max(axis=1) - 1
        alone = (table != 0).sum(axis=1) == 1
        drawn_m, drawn_k = np.divmod(self.cells, self.panel.cols)
        right, wrong = self.offsets, self.swapped
        ok = (m[right] == drawn_m) & (k[right] == drawn_k) & alone[right]
        return self.outcome(pairs(drawn_m, drawn_k), pairs(m[right], k[right]), ok, (m[wrong] != drawn_m) | (k[wrong] != drawn_k))
