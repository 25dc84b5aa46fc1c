"""Swizzled shared memory: the layout atoms of GMMA and TMA against the hardware that swizzles by itself.

Three checks of one drawn atom: TMA loads a matrix and each element must lie at its drawn offset; TMA stores what was laid out as
drawn; wgmma reads an operand of which one element at a time is not zero, and tells which row and k it took it for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, PointerFlag, domain
from cute_viz.algebra.layout import flat_modes
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.check import wgmma
from cute_viz.check.digest import digest
from cute_viz.check.elements import ELEMENTS, decode, encode, unpack
from cute_viz.check.job import Check, In, Item, Kernel, Launch, Out, Outcome, Sheet, Tensor, Word, entry_name
from cute_viz.figures.model import Figure, Panel

ROWS = 8  # of a swizzle atom
TYPES = {8: "u8", 16: "f16", 32: "tf32"}  # of the wgmma that reads elements of so many bits
SHARED = 8 << 10


@dataclass(frozen=True, slots=True)
class Atom:
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


def recognise(layout: AnyLayout) -> Atom | None:
    """The atom that a layout is, flagged (Sw<b,4,3> on bytes) or on elements; None for any other layout.

    >>> from cute_viz.notation import parse
    >>> recognise(parse("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)"))
    Atom(swizzle=3, bits=16, mn_major=False)
    >>> recognise(parse("Sw<3,3,3> o 0 o (64,8):(1,64)"))
    Atom(swizzle=3, bits=16, mn_major=True)
    """
    if not isinstance(layout, ComposedLayout) or not isinstance(layout.outer, Swizzle) or layout.outer.shift != 3:
        return None
    if isinstance(layout.inner, (ComposedLayout, Swizzle)):
        return None
    swizzle, base = layout.outer.bits, layout.outer.base
    if isinstance(layout.offset, PointerFlag):
        bits = layout.offset.bits if base == 4 else 0
    else:
        bits = 8 << (4 - base) if layout.offset == 0 and swizzle and base <= 4 else 0
    if bits not in TYPES or swizzle > 3:
        return None
    pitch = (16 << swizzle) * 8 // bits
    parts = [(int(extent), int(stride)) for extent, stride in flat_modes(domain(layout))]
    if parts == [(ROWS, pitch), (pitch, 1)]:
        return Atom(swizzle, bits, False)
    return Atom(swizzle, bits, True) if parts == [(pitch, 1), (ROWS, pitch)] else None


def checks(atom: Atom, figure: Figure, name: str) -> list[Item]:
    """TMA load, TMA store and, where wgmma has that major, the operand of a product.

    >>> from cute_viz import figure, parse
    >>> layout = parse("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)")
    >>> [item.kind for item in checks(recognise(layout), figure(layout), "x")]
    ['TMA load', 'TMA store', 'wgmma operand']
    """
    (panel,) = figure.panels
    mark = digest(figure)
    out: list[Item] = []
    load = _Tma(atom, panel, entry_name("tma_load", name), store=False)
    store = _Tma(atom, panel, entry_name("tma_store", name), store=True)
    for kind, job in (("TMA load", load), ("TMA store", store)):
        out.append(Check(kind, name, job.kernel(), job.launches, job.judge, mark))
    if not atom.mn_major or atom.bits == 16:
        operand = _Operand(atom, panel, entry_name("operand", name))
        out.append(Check("wgmma operand", name, wgmma.kernel(operand.made, operand.entry), operand.launches, operand.judge, mark))
    return out


def _places(atom: Atom, panel: Panel) -> tuple[Any, Any]:
    """For each element of the rows of memory, row by row: its cell of the picture, and its drawn offset."""
    cells = np.arange(panel.rows * panel.cols).reshape(panel.rows, panel.cols)
    by_row = (cells.T if atom.mn_major else cells).reshape(-1)
    offsets = np.array(panel.data["offset"], np.int64)
    return by_row, offsets[by_row]


def _sheet(panel: Panel, cells: Any, drawn: Sequence[str], seen: Sequence[str], ok: Any) -> Sheet:
    order = np.argsort(cells)
    return Sheet(
        panel.caption,
        panel.rows,
        panel.cols,
        tuple(drawn[i] for i in order),
        tuple(seen[i] for i in order),
        tuple(bool(ok[i]) for i in order),
    )


def _swapped(offsets: Any) -> Any:
    wrong = offsets.copy()
    wrong[[0, 9]] = wrong[[9, 0]]
    return wrong


_UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32}


@dataclass(frozen=True, slots=True)
class _Tma:
    """A bulk tensor copy (PTX ISA, "cp.async.bulk.tensor") of one atom: elements are numbered, of 8 bits in two digits."""

    atom: Atom
    panel: Panel
    entry: str
    store: bool

    @property
    def count(self) -> int:
        return ROWS * self.atom.pitch

    @property
    def digits(self) -> int:
        return 2 if self.atom.bits == 8 else 1

    def numbers(self) -> Any:
        """[digit, element in the order of memory]: its number, from 1."""
        every = np.arange(self.count) + 1
        columns = [every % 256, every // 256] if self.digits == 2 else [every]
        return np.stack(columns).astype(_UNSIGNED[self.atom.bits])

    def launches(self) -> tuple[Launch, ...]:
        _, offsets = _places(self.atom, self.panel)
        out = [self.launch(offsets)]
        if self.store:  # a tile laid out otherwise than drawn must come back wrong
            out.append(self.launch(_swapped(offsets)))
        return tuple(out)

    def launch(self, offsets: Any) -> Launch:
        numbers = self.numbers()
        size = self.count * self.atom.bits // 8
        box = (ROWS, self.atom.pitch)
        tensor = Tensor(2 if self.store else 1, ROWS * self.digits, self.atom.pitch, box, self.atom.swizzle, self.atom.bits)
        data = numbers
        if self.store:
            data = np.zeros_like(numbers)
            data[:, offsets] = numbers
        arguments = (tensor, In(data.tobytes()), Out(size * self.digits), Word(size))
        return Launch(self.entry, (self.digits, 1, 1), 32, arguments, SHARED)

    def received(self, data: bytes) -> Any:
        """The number at each place of the output, less 1."""
        got = np.frombuffer(data, _UNSIGNED[self.atom.bits]).reshape(self.digits, self.count).astype(np.int64)
        return sum(digit * 256**p for p, digit in enumerate(got)) - 1

    def judge(self, outputs: Sequence[Sequence[bytes]]) -> Outcome:
        cells, offsets = _places(self.atom, self.panel)
        got = self.received(outputs[0][0])
        every = np.arange(self.count)
        if self.store:
            seen = [str(offsets[g]) if 0 <= g < self.count else "nothing" for g in got.tolist()]
            ok = got == every
            control = bool((self.received(outputs[1][0]) != every).any())
        else:
            where = np.full(self.count, -1, np.int64)
            inside = (got >= 0) & (got < self.count)
            where[got[inside]] = np.nonzero(inside)[0]
            seen, ok = [str(w) if w >= 0 else "nowhere" for w in where.tolist()], where == offsets
            control = bool((where != _swapped(offsets)).any())
        return Outcome((_sheet(self.panel, cells, [str(o) for o in offsets.tolist()], seen, ok),), control)

    def kernel(self) -> Kernel:
        """The kernel (map, in, out, bytes), a box a block: `load` copies global -> shared by TMA and then shared -> out."""
        name = f"{self.entry}_smem"
        copy = "cp.async.bulk.tensor.2d"
        head = f""".extern .shared .align 1024 .b8 {name}[];
.visible .entry {self.entry}(.param .align 64 .b8 map[128], .param .u64 in, .param .u64 out, .param .u32 bytes)
{{
.shared .align 8 .b64 barrier;
.reg .pred %p;
.reg .b32 %t, %y, %s, %n, %k, %x, %m;
.reg .b64 %map, %at, %by, %q, %w0, %w1;
mov.u32 %t, %tid.x; mov.u32 %y, %ctaid.x; mov.u32 %s, {name}; mov.u32 %m, barrier;
add.u32 %s, %s, 1023; and.b32 %s, %s, 0xFFFFFC00; // swizzles act on address bits
ld.param.u32 %n, [bytes]; mul.wide.u32 %by, %y, %n; shl.b32 %y, %y, 3;
mov.b64 %map, map; cvta.param.u64 %map, %map;
mul.lo.u32 %k, %t, 16;"""
        each = "setp.ge.u32 %p, %k, %n; @%p bra {end};\ncvt.u64.u32 %q, %k; add.u64 %q, %q, %at; add.u32 %x, %k, %s;"
        if self.store:
            return Kernel(
                self.entry,
                f"""{head}
ld.param.u64 %at, [in]; add.u64 %at, %at, %by;
FILL: {each.format(end="FULL")}
ld.global.v2.b64 {{%w0,%w1}}, [%q]; st.shared.v2.b64 [%x], {{%w0,%w1}}; add.u32 %k, %k, 512; bra FILL;
FULL: fence.proxy.async.shared::cta; bar.sync 0;
setp.ne.u32 %p, %t, 0; @%p ret;
mov.u32 %k, 0;
{copy}.global.shared::cta.tile.bulk_group [%map, {{%k, %y}}], [%s];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
ret;
}}""",
                (8, 0),
                90,
            )
        return Kernel(
            self.entry,
            f"""{head}
FILL: setp.ge.u32 %p, %k, %n; @%p bra FULL; add.u32 %x, %k, %s; mov.b64 %w0, 0xCDCDCDCDCDCDCDCD;
st.shared.v2.b64 [%x], {{%w0,%w0}}; add.u32 %k, %k, 512; bra FILL;
FULL: setp.ne.u32 %p, %t, 0; @%p bra READY;
mbarrier.init.shared::cta.b64 [%m], 1; fence.mbarrier_init.release.cluster;
READY: fence.proxy.async.shared::cta; bar.sync 0;
@%p bra WAIT;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%m], %n;
mov.u32 %k, 0;
{copy}.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%map, {{%k, %y}}], [%m];
WAIT: mov.u32 %x, 0;
POLL: mbarrier.try_wait.parity.shared::cta.b64 %p, [%m], 0; @%p bra DONE;
add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 1000000; @%p bra POLL; ret;
DONE: bar.sync 0; mul.lo.u32 %k, %t, 16;
ld.param.u64 %at, [out]; add.u64 %at, %at, %by;
BACK: {each.format(end="END")}
ld.shared.v2.b64 {{%w0,%w1}}, [%x]; st.global.v2.b64 [%q], {{%w0,%w1}}; add.u32 %k, %k, 512; bra BACK;
END: ret;
}}""",
            (8, 0),
            90,
        )


@dataclass(frozen=True, slots=True)
class _Operand:
    """Operand A of wgmma with one element of the atom's memory set at a time: D then has one row, and its value is k + 1."""

    atom: Atom
    panel: Panel
    entry: str

    @property
    def made(self) -> wgmma.Wgmma:
        element = ELEMENTS[TYPES[self.atom.bits]]
        result = ELEMENTS["s32" if self.atom.bits == 8 else "f32"]
        return wgmma.Wgmma(element, element, result, 8, transposed=(int(self.atom.mn_major), 0))

    def tile(self) -> tuple[int, int, int]:
        """Of the A tile that the atom is the beginning of: its bytes, its descriptor, its instructions along K."""
        atom_bytes = ROWS * (16 << self.atom.swizzle)
        if self.atom.mn_major:
            across = 64 // self.atom.pitch  # atoms along M; the tile has two along K
            if not self.atom.swizzle:
                return 2 * across * atom_bytes, wgmma.descriptor(0, across * atom_bytes, atom_bytes), 1
            return 2 * across * atom_bytes, wgmma.descriptor(self.atom.swizzle, atom_bytes, across * atom_bytes), 1
        if not self.atom.swizzle:
            return 16 * atom_bytes, wgmma.PLAIN, 1
        pitch = 16 << self.atom.swizzle
        return 8 * atom_bytes, wgmma.descriptor(self.atom.swizzle, 16, 8 * pitch), pitch // wgmma.STEP

    def launches(self) -> tuple[Launch, ...]:
        size, described, steps = self.tile()
        made, count = self.made, ROWS * self.atom.pitch
        unit = np.frombuffer(int(encode(np.array([1]), made.a.name)[0]).to_bytes(8, "little"), _UNSIGNED[self.atom.bits])[0]
        images = np.zeros((count, size * 8 // self.atom.bits), _UNSIGNED[self.atom.bits])
        images[np.arange(count), np.arange(count)] = unit  # block e: the element at offset e
        k = np.arange(steps * made.k) + 1
        numbers = encode(np.broadcast_to(k, (made.n, len(k))), made.b.name).reshape(made.n, steps, made.k)
        tiles = wgmma.plain_tile(numbers.transpose(1, 0, 2), made.b.bits)  # a plain tile of B a step, one after the other
        arguments = (
            *(In(images.tobytes()), In(tiles), Out(count * wgmma.GROUP * made.results * 4)),
            *(
                Word(described, 8),
                Word(wgmma.PLAIN, 8),
                Word(size // 16),
                Word(len(tiles) // 16),
                Word(steps),
                Word(made.n * wgmma.STEP),
            ),
        )
        return (Launch(self.entry, (count, 1, 1), wgmma.GROUP, arguments, wgmma.SHARED),)

    def judge(self, outputs: Sequence[Sequence[bytes]]) -> Outcome:
        made, count = self.made, ROWS * self.atom.pitch
        registers = np.frombuffer(outputs[0][0], np.uint32).reshape(count, wgmma.GROUP, made.results)
        values = decode(unpack(registers, 32), made.c.name).astype(np.int64)
        t, v = np.meshgrid(np.arange(wgmma.GROUP), np.arange(made.results), indexing="ij")
        row = t // 32 * 16 + t % 32 // 4 + v // 2 % 2 * 8  # of the accumulator (PTX ISA, "wgmma Register Fragment"), N = 8
        table = np.zeros((count, 64), np.int64)
        np.maximum.at(table, (np.arange(count)[:, None, None], row[None]), values)
        m, k = table.argmax(axis=1), table.max(axis=1) - 1
        alone = (table != 0).sum(axis=1) == 1
        cells, offsets = _places(self.atom, self.panel)
        drawn_m, drawn_k = np.divmod(cells, self.panel.cols)
        seen_m, seen_k = m[offsets], k[offsets]
        ok = (seen_m == drawn_m) & (seen_k == drawn_k) & alone[offsets]
        wrong = _swapped(offsets)
        control = bool(((m[wrong] != drawn_m) | (k[wrong] != drawn_k)).any())
        drawn = [f"({a},{b})" for a, b in zip(drawn_m.tolist(), drawn_k.tolist(), strict=True)]
        seen = [f"({a},{b})" for a, b in zip(seen_m.tolist(), seen_k.tolist(), strict=True)]
        return Outcome((_sheet(self.panel, cells, drawn, seen, ok),), control)
