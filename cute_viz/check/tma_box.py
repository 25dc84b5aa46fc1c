"""TMA copies as they are drawn: the tensor maps that we compute drive loads and stores, out of bounds and multicast included.

Those of im2col mode drive loads of convolutions: pixels and channels must land as drawn, zeros out of bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cute_viz.algebra.inttuple import leaves, modes, product, show
from cute_viz.algebra.measure import cosize, get_swizzle_portion, size
from cute_viz.algebra.tma import TmaCopy
from cute_viz.check.elements import UNSIGNED
from cute_viz.check.job import (
    POISON,
    Array,
    In,
    Kernel,
    KernelRun,
    Map,
    Out,
    Outcome,
    Outputs,
    PanelCheck,
    Scalar,
    entry_name,
    kernel,
    registers,
    sheet,
)
from cute_viz.figures.im2col import Corner, conv, inside, issues, outputs, tile_pixels
from cute_viz.figures.tma_pieces import pieces_at, place_pieces

CHUNK, LINE = 16, 8  # bytes that are judged together, and how many of them stand in a row of the sheet
SHARED = 200 << 10
MOST = 5  # dimensions of a tensor map
OFFSETS = 3  # of a filter at most, behind the dimensions


def job(obj: TmaCopy, name: str) -> Corners | str:
    """The check of a TMA copy, or why there is none: its tile at the beginning of the tensor, across its end, and before it."""
    if obj.im2col:
        return _of_convolution(obj, name)
    op, tensor = obj.op.instruction, obj.tensor
    if op.arch == "sm100" or obj.map.swizzle > 3:
        return "it needs a device of compute capability 10.0"
    if obj.bits // 8 % CHUNK:
        return f"a box of {obj.bits // 8} bytes is not checked: {CHUNK} bytes are judged together"
    if op.words & {"reduce", "im2col"}:
        return f"{obj.op.name} is not checked"
    if any(isinstance(mode, tuple) for mode in modes(tensor.layout.shape)) or tensor.bits not in UNSIGNED:
        return f"a tensor {show(tensor.layout.shape)} of {tensor.bits}-bit elements is not checked"
    if obj.map.bits != tensor.bits or cosize(tensor.layout) > 1 << 24 or obj.bits > 8 * SHARED or tensor.offset:
        return "the tensor or the tile is too large, or seen as another type"
    return Corners(obj, entry_name("tma_box", name))


@dataclass(frozen=True, slots=True)
class Corners:
    """The launches of one copy, a corner of the tensor each, and their judgement."""

    obj: TmaCopy
    entry: str

    @property
    def store(self) -> bool:
        """Whether it goes from shared to global memory."""
        return self.obj.op.instruction.home("D") == "gmem"

    @property
    def ctas(self) -> int:
        """The cluster that is launched."""
        return 1 if self.store else self.obj.ctas

    @property
    def offsets(self) -> int:
        """Of im2col mode, how many offsets of the filter an instruction has."""
        return 0

    @property
    def size(self) -> int:
        """Bytes of the tile."""
        return size(self.obj.cta_v_map) * self.obj.tensor.bits // 8

    def kernel(self) -> Kernel:
        """The kernel (map, coords, in, out, bytes, count, step, own, mask), of one warp a CTA and one cluster a grid.

        PTX ISA, "cp.async.bulk.tensor". coords: 5 integers for each instruction and CTA, and 3 offsets of im2col mode. bytes: of
        the tile. count: instructions a CTA. step: bytes of shared memory from one instruction to the next, own: those of one CTA.
        mask: who receives. A load copies shared memory to out, CTA after CTA; a store fills it from `in` before.
        """
        rank, many = self.obj.map.rank, self.ctas > 1
        if self.store:
            issue = f"global.shared::cta.tile.bulk_group [%map, {registers('c', rank)}], [%x]"
        else:
            mode, moved = ("im2col", f", {registers('o', self.offsets)}") if self.offsets else ("tile", "")
            cast, mask = (".multicast::cluster", ", %h") if many else ("", "")
            issue = f"shared::cluster.global.{mode}.mbarrier::complete_tx::bytes{cast} [%x], "
            issue += f"[%map, {registers('c', rank)}], [%m]{moved}{mask}"
        issue = f"cp.async.bulk.tensor.{rank}d.{issue};"
        form = {"many": many, "ctas": self.ctas, "store": self.store, "rank": rank, "offsets": self.offsets}
        record = 4 * (MOST + (OFFSETS if self.offsets else 0))
        return kernel("tma_box.ptx", self.entry, issue=issue, record=record, **form)

    def corners(self) -> list[Any]:
        """Where the tile is put: at 0, across the end, and, of loads, across the beginning. A store with a negative coordinate
        is an illegal instruction to an H100, where a load is not."""
        shape: Any = self.obj.tensor.layout.shape
        extents = [int(extent) for extent in leaves(shape)]
        tile = [product(mode) for mode in modes(self.obj.cta_v_map.shape)]
        across = tuple(max(0, extent - part // 2) for extent, part in zip(extents, tile, strict=False))
        before = tuple(-(part // 2) for part in tile[: len(extents)])
        return [(0,) * len(extents), across, *([] if self.store else [before])]

    def elements(self) -> int:
        """How many elements the tensor has in global memory."""
        return cosize(self.obj.tensor.layout)

    def numbers(self) -> Array:
        """The tensor in global memory: a number that identifies each element, as far as its bits go."""
        bits = self.obj.tensor.bits
        return (np.arange(self.elements()) % ((1 << min(bits, 31)) - 5) + 1).astype(UNSIGNED[bits])

    def sources(self, corner: Any) -> Iterator[int]:
        """For each element of the tile at a corner its place in the tensor, -1 out of bounds."""
        extents, steps = ([int(x) for x in leaves(part)] for part in (self.obj.tensor.layout.shape, self.obj.tensor.layout.stride))
        for tile in place_pieces(self.obj):
            coord = tuple(a + b for a, b in zip(corner, tile, strict=True))
            inside = all(0 <= x < extent for x, extent in zip(coord, extents, strict=True))
            yield sum(x * step for x, step in zip(coord, steps, strict=True)) if inside else -1

    def image(self, corner: object) -> tuple[Array, Array]:
        """Shared memory with the tile at a corner, element by element; and the place in the tensor of each, -1 out of bounds."""
        bits, swizzle = self.obj.tensor.bits, get_swizzle_portion(self.obj.smem)
        source = np.full(self.size * 8 // bits, -1, np.int64)
        for element, place in enumerate(self.sources(corner)):
            source[swizzle(element * bits // 8) * 8 // bits + element * bits % 8] = place
        return np.where(source >= 0, self.numbers()[source], 0).astype(UNSIGNED[bits]), source

    def issued(self, corner: Any) -> list[tuple[int, ...]]:
        """The integers of each instruction."""
        return [tuple(piece.start) for piece in pieces_at(self.obj, corner)]

    def map(self) -> Map:
        """The tensor map that we compute."""
        x = self.obj.map
        return Map(3 if self.store else 2, x.global_dim, x.global_strides, x.box_dim, x.swizzle, x.data_type, x.rank)

    def launches(self) -> tuple[KernelRun, ...]:
        """A launch a corner."""
        return tuple(self._launch(corner) for corner in self.corners())

    def _launch(self, corner: object) -> KernelRun:
        pieces = self.issued(corner)
        coords = np.zeros((len(pieces), MOST + (OFFSETS if self.offsets else 0)), np.int32)
        for row, piece in zip(coords, pieces, strict=True):
            row[: len(piece)] = piece
        step, data = self.obj.bits // 8, self.numbers()
        words = (self.size, len(pieces) // self.obj.ctas, step, step // self.obj.ctas, (1 << self.ctas) - 1)
        filled = self.image(corner)[0] if self.store else data
        buffers = (In(coords.tobytes()), In(filled.tobytes()), Out(data.nbytes if self.store else self.size * self.ctas))
        return KernelRun(self.entry, (self.ctas, 1, 1), 32, (self.map(), *buffers, *map(Scalar, words)), self.size + 2048)

    def where(self, corner: object) -> str:
        """A corner in words."""
        return f"tile at {show(corner)}"

    def judge(self, outputs: Outputs) -> Outcome:
        """Every 16 bytes of shared memory of every CTA, or of the tensor that was stored, against what is drawn. The control has
        the first and the last element exchanged, and a bit of each."""
        sheets, control, bits = [], False, self.obj.tensor.bits
        for corner, (data,) in zip(self.corners(), outputs, strict=True):
            memory, source = self.image(corner)
            right, names = memory, [f"CTA {cta}" for cta in range(self.ctas)]
            if self.store:
                names, poison = ["the tensor"], int.from_bytes(bytes([POISON]) * (bits // 8), "little")
                right = np.full(len(self.numbers()), poison, memory.dtype)
                right[source[source >= 0]] = memory[source >= 0]
            for name, seen in zip(names, np.frombuffer(data, memory.dtype).reshape(len(names), -1), strict=True):
                sheets.append(_chunks(f"{name}, {self.where(corner)}", right, seen, bits))
                wrong = right.copy()
                wrong[[0, -1]] = wrong[[-1, 0]] ^ 1
                control |= bool((wrong != seen).any())
        return Outcome(tuple(sheets), control, {"tiles" if self.offsets else "boxes": len(outputs)})


def _of_convolution(obj: TmaCopy, name: str) -> Pixels | str:
    """Of a load of im2col mode: tiles at the first pixel, inside of a row with the last of the filter, across the end."""
    if obj.op.instruction.home("D") != "smem" or obj.op.instruction.arch == "sm100" or obj.map.swizzle > 3:
        return f"{obj.op.name} is not checked"
    if obj.tensor.bits not in UNSIGNED or product(obj.map.global_dim) > 1 << 24 or obj.bits > 8 * SHARED:
        return "the tensor or the tile is too large, or of elements of less than 8 bits"
    return Pixels(obj, entry_name("tma_im2col", name))


@dataclass(frozen=True, slots=True)
class Pixels(Corners):
    """The launches of one copy, a corner of the im2col matrix each, and their judgement."""

    @property
    def offsets(self) -> int:
        """As many as there are dimensions of the filter."""
        return len(conv(self.obj).lower)

    def corners(self) -> list[Any]:
        """Where the tile is put."""
        filters = conv(self.obj).filters
        first, last = (0,) * len(filters), tuple(extent - 1 for extent in filters)
        total = product(outputs(self.obj))
        return [Corner(0, 0, first), Corner(min(5, total - 1), 0, last), Corner(max(0, total - 7), 0, first), Corner(0, 0, last)]

    def elements(self) -> int:
        """How many elements the tensor has in global memory, c first."""
        x = self.obj.map
        return x.global_dim[x.rank - 1] * x.global_strides[x.rank - 2] * 8 // self.obj.tensor.bits

    def sources(self, corner: Any) -> Iterator[int]:
        """For each element of the tile at a corner its place in the tensor, -1 out of bounds."""
        bits = self.obj.tensor.bits
        steps = [bits // 8, *self.obj.map.global_strides]
        for pixel in tile_pixels(self.obj, corner):
            coord = (pixel.channel, *pixel.place, pixel.image)
            byte = sum(a * b for a, b in zip(coord, steps, strict=False))
            yield byte * 8 // bits if inside(self.obj, pixel) else -1

    def issued(self, corner: Any) -> list[tuple[int, ...]]:
        """The integers of each instruction, the offsets behind them."""
        pieces = issues(self.obj, corner)
        return [(*piece.start, *[0] * (MOST - len(piece.start)), *piece.offsets) for piece in pieces]

    def map(self) -> Map:
        """The tensor map that we compute, of im2col mode."""
        made = conv(self.obj)
        return replace(Corners.map(self), steps=self.obj.map.element_strides, corners=(made.lower, made.upper))

    def where(self, corner: Any) -> str:
        """A corner in words."""
        return f"tile at pixel {corner.pixel}, filter {','.join(map(str, corner.filter))}"


def _chunks(role: str, right: Any, seen: Any, bits: int) -> PanelCheck:
    """Memory in lines of 128 bytes, 16 bytes a cell."""
    per = CHUNK * 8 // bits
    count = -(-len(right) // (per * LINE)) * LINE
    padded = [np.pad(table, (0, count * per - len(table))).reshape(count, per) for table in (right, seen)]
    words = [[" ".join(map(str, row)) for row in table.tolist()] for table in padded]
    return sheet(role, (count // LINE, LINE), words[0], words[1], (padded[0] == padded[1]).all(axis=1))
