"""TiledMMA: the drawn tables drive a real product, and every element of C must come out right, written once.

Of instructions on registers, A and B are packed as they are drawn, the instruction runs for every warp, repetition and step of K,
and each accumulator is stored where C is drawn, with a count for each element. Warp groups (wgmma) multiply the tiles that the
drawn A and B give them: A and B of shared memory are drawn as values of every thread of a group, in the order m + 64 k and n + N k
of one instruction; a tile is laid out from these. A in registers is packed thread by thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.check import mma, wgmma_ptx
from cute_viz.check.elements import UNSIGNED, ElementType, decode, encode, pack, unpack
from cute_viz.check.job import Argument, Array, In, Job, Kernel, KernelRun, Out, Outcome, Outputs, Scalar, entry_name, sheet
from cute_viz.check.mma import WARP, Fragment, WarpMma, exchanged, fragment
from cute_viz.check.wgmma_ptx import GROUP, Wgmma, plain_tile
from cute_viz.figures.model import Figure

NOWHERE = 0xFFFFFFFF  # the place of an accumulator that no cell of C stands for


def job(obj: TiledMMA, figure: Figure, name: str) -> Job | str:
    """The check of a drawn TiledMMA, or the reason why there is none."""
    op = obj.atom.instruction
    made = (wgmma_ptx if op.kind == "wgmma" and op.sparse == 1 else mma).instruction(obj.atom)
    if isinstance(made, str):
        return made
    groups = isinstance(made, Wgmma)
    a, b, c = (fragment(figure, operand) for operand in "ABC")
    values = tuple(size(get(obj.atom.layout(operand), 1)) for operand in "ABC")
    repeats = [x.per_thread // n for x, n in zip((a, b, c), values, strict=True)]  # RM*RK, RN*RK, RM*RN
    along_k = size(get(obj.thr_layout_vmnk, 3)) > 1
    if groups and (along_k or repeats[0] * repeats[1] != repeats[2]):
        return "several instructions along K, which the check of wgmma tilings does not add up"
    if along_k:
        return "atoms along K hold partial sums, which no single product shows"
    rk = round((repeats[0] * repeats[1] / repeats[2]) ** 0.5)
    rest = (repeats[0] // rk, repeats[1] // rk, rk)
    if isinstance(made, Wgmma):
        return _Groups(made, entry_name("grouped", name), a, b, c, values, rest)
    return _Warps(made, entry_name("tiled", name), a, b, c, values, rest)


@dataclass(frozen=True, slots=True)
class _Tiling:
    """values: of A, B and C in one thread of an atom. rest: how often the atom is repeated along M, N and K by its threads."""

    made: WarpMma | Wgmma
    entry: str
    a: Fragment
    b: Fragment
    c: Fragment
    values: tuple[int, ...]
    rest: tuple[int, int, int]

    def numbers(self) -> tuple[Array, Array, Array]:
        """A (m,k), B (n,k) and their product: small numbers in a fixed irregular order, exact in every type."""
        m, n, k = (int(x.max()) + 1 for x in (self.c.rows, self.c.cols, self.a.cols))
        first, second = _small_numbers(m, k, self.made.a, 3), _small_numbers(n, k, self.made.b, 5)
        if isinstance(self.made, WarpMma) and self.made.xor:
            return first, second, (first[:, None, :] != second[None, :, :]).sum(axis=2)
        return first, second, first @ second.T

    def wrong(self) -> tuple[Fragment, Fragment]:
        """A with two values exchanged, and C with two places."""
        first, _, product = self.numbers()
        return exchanged(self.a, first[self.a.rows, self.a.cols]), exchanged(self.c, product[self.c.rows, self.c.cols])

    def received(self, outputs: Outputs) -> list[tuple[Array, Array]]:
        """The elements of C, and how often each was written: as drawn, and twice corrupted."""
        raise NotImplementedError

    def judge(self, outputs: Outputs) -> Outcome:
        """Each element of C against the product; what was corrupted must come out wrong."""
        product = self.numbers()[2]
        (values, written), *wrong = self.received(outputs)
        ok = (values == product) & (written == 1)
        control = all(bool(((found != product) | (count != 1)).any()) for found, count in wrong)
        found = zip(values.reshape(-1).tolist(), written.reshape(-1).tolist(), strict=True)
        seen = [f"{x:g}" if count == 1 else f"{x:g} written {count} times" for x, count in found]
        found_c = sheet("C", (self.c.panel.rows, self.c.panel.cols), product, seen, ok)
        return Outcome((found_c,), control, {"elements written once": int((written == 1).sum())})


@dataclass(frozen=True, slots=True)
class _Warps(_Tiling):
    """Instructions on registers: a block is one warp with one repetition (m,n)."""

    made: WarpMma

    @property
    def warps(self) -> int:
        return 1 + int(max(x.threads.max() for x in (self.a, self.b, self.c))) // WARP

    def registers(self, drawn: Fragment, numbers: object, element: ElementType, own: int) -> Any:
        """Registers as [warp, repetition, lane, register], a repetition being one atom's values of a thread."""
        patterns = np.zeros((self.warps * WARP, drawn.per_thread), np.uint64)
        patterns[drawn.threads, drawn.values] = encode(numbers, element.name)[drawn.rows, drawn.cols]
        grouped = patterns.reshape(self.warps, WARP, -1, own).transpose(0, 2, 1, 3)
        return pack(grouped, element.bits, element.register)

    def launches(self) -> tuple[KernelRun, ...]:
        wrong_a, wrong_c = self.wrong()
        return (self.launch(self.a, self.c), self.launch(wrong_a, self.c), self.launch(self.a, wrong_c))

    def launch(self, a: Fragment, c: Fragment) -> KernelRun:
        """The product with A and C packed as the fragments say."""
        rm, rn, rk = self.rest
        first, second, product = self.numbers()
        n, m, k = np.meshgrid(np.arange(rn), np.arange(rm), np.arange(rk), indexing="ij")  # repetition (m,n) of C is m + rm * n
        of_a = self.registers(a, first, self.made.a, self.values[0])[:, m + rm * k]  # [warp, n, m, k, lane, register]
        of_b = self.registers(self.b, second, self.made.b, self.values[1])[:, n + rn * k]
        places = np.full((self.warps * WARP, c.per_thread), NOWHERE, np.uint32)
        inside = (c.rows < product.shape[0]) & (c.cols < product.shape[1])
        places[c.threads[inside], c.values[inside]] = (c.rows * product.shape[1] + c.cols)[inside]
        table = places.reshape(self.warps, WARP, -1, self.values[2]).transpose(0, 2, 1, 3)
        buffers = (In(np.ascontiguousarray(x).tobytes()) for x in (of_a, of_b, table))
        outs = (Out(product.size * self.made.c.bits // 8), Out(product.size * 4, fill=0))
        arguments: tuple[Argument, ...] = (*buffers, *outs, Scalar(rk))
        return KernelRun(self.entry, (self.warps * rm * rn, 1, 1), WARP, arguments)

    def received(self, outputs: Outputs) -> list[tuple[Array, Array]]:
        c, shape = self.made.c, self.numbers()[2].shape
        values = (decode(np.frombuffer(output[0], UNSIGNED[c.bits]), c.name).reshape(shape) for output in outputs)
        return list(zip(values, (np.frombuffer(output[1], np.uint32).reshape(shape) for output in outputs), strict=True))

    def kernel(self) -> Kernel:
        """The kernel (a, b, places, d, count, steps), one warp a block: the sum over `steps` instructions, then the stores."""
        own, halves = self.values[2], self.made.c.bits == 16
        return self.made.kernel("tiled.ptx", self.entry, self.values, own=own, pairs=own // 2 * halves, singles=own * (not halves))


@dataclass(frozen=True, slots=True)
class _Groups(_Tiling):
    """wgmma: block (x, y) multiplies A tile x with B tile y, group by group."""

    made: Wgmma

    @property
    def groups(self) -> int:
        return 1 + int(self.c.threads.max()) // GROUP

    def kernel(self) -> Kernel:
        return self.made.kernel(self.entry)

    def table(self, drawn: Fragment, numbers: Array) -> Array:
        """The numbers of [thread, value]; of threads that a shared operand does not name as thread 0 has them."""
        out = np.zeros((self.groups * GROUP, drawn.per_thread), np.int64)
        out[drawn.threads, drawn.values] = numbers[drawn.rows, drawn.cols]
        named = np.zeros(self.groups * GROUP, bool)
        named[drawn.threads] = True
        out[~named] = out[0]
        return out

    def tiles(self, drawn: Fragment, numbers: Array, rows: int, element: ElementType, own: int) -> tuple[int, bytes]:
        """How many tiles [group and repetition, row, k] shared memory holds for the first thread of each group, and they."""
        table = self.table(drawn, numbers)[::GROUP]
        tiles = table.reshape(-1, own // rows, rows).transpose(0, 2, 1)
        return len(tiles), plain_tile(encode(tiles, element.name), element.bits)

    def launches(self) -> tuple[KernelRun, ...]:
        """The product as drawn; with two values of A exchanged."""
        return (self.launch(self.a), self.launch(self.wrong()[0]))

    def launch(self, a: Fragment) -> KernelRun:
        """Every A tile by every B tile; of the blocks, those whose A and B are of one group are C's."""
        made = self.made
        first, second, _ = self.numbers()
        if made.registers:
            table = self.table(a, first).reshape(self.groups, GROUP, -1, self.values[0]).transpose(0, 2, 1, 3)
            of_a = pack(encode(table, made.a.name), made.a.bits).astype(np.uint32)
            count, data = of_a.shape[0] * of_a.shape[1], of_a.tobytes()
        else:
            count, data = self.tiles(a, first, 64, made.a, self.values[0])
        count_b, of_b = self.tiles(self.b, second, made.n, made.b, self.values[1])
        return made.launch(self.entry, data, of_b, (count, count_b))

    def product(self, data: bytes, c: Fragment) -> tuple[Any, Any]:
        """C as its drawn places receive it, and how often each is written."""
        rm, rn, _ = self.rest
        registers = np.frombuffer(data, np.uint32).reshape(self.groups, rn, self.groups, rm, GROUP, self.made.results)
        own = registers[np.arange(self.groups), :, np.arange(self.groups)]  # [group, n, m, lane, register]
        values = decode(unpack(own, self.made.c.bits), self.made.c.name)
        by_thread = values.transpose(0, 3, 1, 2, 4).reshape(self.groups * GROUP, -1)  # values of a thread: atom, then m, then n
        out = np.full((int(self.c.rows.max()) + 1, int(self.c.cols.max()) + 1), np.nan)
        written = np.zeros(out.shape, np.int64)
        out[c.rows, c.cols] = by_thread[c.threads, c.values]
        np.add.at(written, (c.rows, c.cols), 1)
        return out, written

    def received(self, outputs: Outputs) -> list[tuple[Array, Array]]:
        right, corrupted = outputs[0][0], outputs[1][0]
        return [self.product(right, self.c), self.product(right, self.wrong()[1]), self.product(corrupted, self.c)]


def _small_numbers(rows: int, cols: int, element: ElementType, seed: int) -> Array:
    """Numbers of -1 .. 2, as far as the type has them, in a fixed irregular order: their products are exact in every type."""
    drawn = np.random.default_rng(seed).integers(0, 4, (rows, cols))
    return drawn % 2 if element.bits == 1 else drawn % 3 if not element.signed else drawn - 1
