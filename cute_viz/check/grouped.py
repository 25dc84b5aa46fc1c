"""TiledMMA of wgmma: warp groups multiply the tiles that the drawn A and B give them, and C must come out where it is drawn.

A and B of shared memory are drawn as values of every thread of a group, in the order m + 64 k and n + N k of one instruction; a
tile is laid out from these. A in registers is packed thread by thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.check.digest import digest
from cute_viz.check.elements import decode, encode, pack, unpack
from cute_viz.check.fragments import Fragment, exchanged, fragment
from cute_viz.check.job import Check, Item, Launch, Outcome, Sheet, Undecided, entry_name
from cute_viz.check.tiled import small_numbers
from cute_viz.check.wgmma_ptx import GROUP, Wgmma, instruction, kernel, launch, plain_tile
from cute_viz.figures.model import Figure


def check(obj: TiledMMA, figure: Figure, name: str) -> Item:
    """The check of a drawn TiledMMA of wgmma atoms, or the reason why there is none.

    >>> from cute_viz import parse
    >>> from cute_viz.figures import build
    >>> mma = parse("make_tiled_mma(SM90_64x8x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>{}, (2,1,1))")
    >>> check(mma, build(mma), "x").kernel.exact
    True
    """
    made = instruction(obj.atom)
    if isinstance(made, str):
        return Undecided("tiled mma", name, made)
    values = tuple(size(get(obj.atom.layout(operand), 1)) for operand in "ABC")
    a, b, c = (fragment(figure, operand) for operand in "ABC")
    repeats = [x.per_thread // n for x, n in zip((a, b, c), values, strict=True)]
    if size(get(obj.thr_layout_vmnk, 3)) > 1 or repeats[0] * repeats[1] != repeats[2]:
        return Undecided("tiled mma", name, "several instructions along K, which the check of wgmma tilings does not add up")
    job = _Job(made, entry_name("grouped", name), a, b, c, values)
    return Check("tiled mma", name, kernel(made, job.entry), job.launches, job.judge, digest(figure))


@dataclass(frozen=True, slots=True)
class _Job:
    """values: of A, B and C in one thread of an atom. Block (x, y) multiplies A tile x with B tile y, group by group."""

    made: Wgmma
    entry: str
    a: Fragment
    b: Fragment
    c: Fragment
    values: tuple[int, ...]

    @property
    def groups(self) -> int:
        return 1 + int(self.c.threads.max()) // GROUP

    def numbers(self) -> tuple[Any, Any, Any]:
        """A (m,k), B (n,k) and their product."""
        m, n, k = (int(x.max()) + 1 for x in (self.c.rows, self.c.cols, self.a.cols))
        first, second = small_numbers(m, k, self.made.a, 3), small_numbers(n, k, self.made.b, 5)
        return first, second, first @ second.T

    def table(self, drawn: Fragment, what: Any) -> Any:
        """what[thread, value], of threads that a shared operand does not name as thread 0 has it."""
        out = np.zeros((self.groups * GROUP, drawn.per_thread), np.int64)
        out[drawn.threads, drawn.values] = what
        named = np.zeros(self.groups * GROUP, bool)
        named[drawn.threads] = True
        out[~named] = out[0]
        return out

    def tiles(self, drawn: Fragment, numbers: Any, rows: int, own: int) -> Any:
        """The tiles [group and repetition, row, k] that shared memory holds for the first thread of each group."""
        table = self.table(drawn, numbers[drawn.rows, drawn.cols])[::GROUP]
        return table.reshape(-1, own // rows, rows).transpose(0, 2, 1)

    def launches(self) -> tuple[Launch, ...]:
        """The product as drawn; with two values of A exchanged."""
        first, _, _ = self.numbers()
        return (self.launch(self.a), self.launch(exchanged(self.a, first[self.a.rows, self.a.cols])))

    def launch(self, a: Fragment) -> Launch:
        """Every A tile by every B tile; of the blocks, those whose A and B are of one group are C's."""
        made = self.made
        first, second, _ = self.numbers()
        if made.registers:
            table = self.table(a, first[a.rows, a.cols]).reshape(self.groups, GROUP, -1, self.values[0]).transpose(0, 2, 1, 3)
            of_a = pack(encode(table, made.a.name), made.a.bits).astype(np.uint32)
            count, data = of_a.shape[0] * of_a.shape[1], of_a.tobytes()
        else:
            tiles = self.tiles(a, first, 64, self.values[0])
            count, data = len(tiles), plain_tile(encode(tiles, made.a.name), made.a.bits)
        tiles_b = self.tiles(self.b, second, made.n, self.values[1])
        of_b = plain_tile(encode(tiles_b, made.b.name), made.b.bits)
        return launch(made, self.entry, data, of_b, (count, len(tiles_b)))

    def product(self, data: bytes, c: Fragment) -> tuple[Any, Any]:
        """C as its drawn places receive it, and how often each is written."""
        rm, rn = (x.per_thread // n for x, n in zip((self.a, self.b), self.values, strict=False))
        registers = np.frombuffer(data, np.uint32).reshape(self.groups, rn, self.groups, rm, GROUP, self.made.results)
        own = registers[np.arange(self.groups), :, np.arange(self.groups)]  # [group, n, m, lane, register]
        values = decode(unpack(own, self.made.c.bits), self.made.c.name)
        by_thread = values.transpose(0, 3, 1, 2, 4).reshape(self.groups * GROUP, -1)  # values of a thread: atom, then m, then n
        out = np.full((int(self.c.rows.max()) + 1, int(self.c.cols.max()) + 1), np.nan)
        written = np.zeros(out.shape, np.int64)
        out[c.rows, c.cols] = by_thread[c.threads, c.values]
        np.add.at(written, (c.rows, c.cols), 1)
        return out, written

    def judge(self, outputs: Sequence[Sequence[bytes]]) -> Outcome:
        """Each element of C against the product; the control exchanges two places of C, and two values of A."""
        _, _, product = self.numbers()
        values, written = self.product(outputs[0][0], self.c)
        ok = (values == product) & (written == 1)
        wrong_c = exchanged(self.c, product[self.c.rows, self.c.cols])
        corrupted = (self.product(outputs[0][0], wrong_c)[0], self.product(outputs[1][0], self.c)[0])
        control = all(bool((found != product).any()) for found in corrupted)
        panel = self.c.panel
        drawn = tuple(str(x) for x in product.reshape(-1).tolist())
        seen = tuple(f"{x:g}" for x in values.reshape(-1).tolist())
        sheet = Sheet("C", panel.rows, panel.cols, drawn, seen, tuple(ok.reshape(-1).tolist()))
        return Outcome((sheet,), control, {"elements written once": int((written == 1).sum())})
