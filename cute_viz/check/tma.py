"""Swizzled shared memory by TMA: it loads a matrix, and stores what was laid out as drawn; it swizzles by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.check.digest import digest
from cute_viz.check.elements import UNSIGNED
from cute_viz.check.job import Check, In, Kernel, Launch, Out, Outcome, Tensor, Word, entry_name
from cute_viz.check.swizzle_atom import ROWS, Atom, places, sheet, swapped
from cute_viz.figures.model import Figure, Panel

SHARED = 8 << 10  # bytes: enough for the largest tile, 8 rows of 128 bytes, at a multiple of 1024


def checks(atom: Atom, figure: Figure, name: str) -> list[Check]:
    """A load, where each element must lie at its drawn offset, and a store, which must give back the matrix.

    >>> from cute_viz import figure, parse
    >>> from cute_viz.check.swizzle_atom import recognise
    >>> layout = parse("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)")
    >>> [item.kind for item in checks(recognise(layout), figure(layout), "x")]
    ['TMA load', 'TMA store']
    """
    (panel,) = figure.panels
    out = []
    for kind, store in (("TMA load", False), ("TMA store", True)):
        job = _Job(atom, panel, entry_name("tma_store" if store else "tma_load", name), store)
        out.append(Check(kind, name, job.kernel(), job.launches, job.judge, digest(figure)))
    return out


@dataclass(frozen=True, slots=True)
class _Job:
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
        return np.stack(columns).astype(UNSIGNED[self.atom.bits])

    def launches(self) -> tuple[Launch, ...]:
        _, offsets = places(self.atom, self.panel)
        out = [self.launch(offsets)]
        if self.store:  # a tile laid out otherwise than drawn must come back wrong
            out.append(self.launch(swapped(offsets)))
        return tuple(out)

    def launch(self, offsets: Any) -> Launch:
        """One box a digit; a store gets the tile laid out by the offsets."""
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
        got = np.frombuffer(data, UNSIGNED[self.atom.bits]).reshape(self.digits, self.count).astype(np.int64)
        return sum(digit * 256**p for p, digit in enumerate(got)) - 1

    def judge(self, outputs: Sequence[Sequence[bytes]]) -> Outcome:
        """Each element's offset, or the matrix that came back, against the drawn offsets."""
        cells, offsets = places(self.atom, self.panel)
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
            control = bool((where != swapped(offsets)).any())
        return Outcome((sheet(self.panel, cells, [str(o) for o in offsets.tolist()], seen, ok),), control)

    def kernel(self) -> Kernel:
        """The kernel (map, in, out, bytes), a box a block: TMA loads a tile, which goes to out, or stores `in`."""
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
