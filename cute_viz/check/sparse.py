"""Sparse wgmma atoms: whose bits of metadata tell of which elements of A, probed nibble by nibble; and whole products.

A holds a 1 in one kept element of each row, and B holds k + 1: each accumulator says which k the metadata gave that element. Every
nibble of metadata carries digits of its own number through several launches, and is known by them wherever it takes effect.
What the sparsity selector does not ask for holds other digits. Of N = 8 all is probed; of every N products of random A, metadata
and B must be exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.check.digest import digest, owners, role
from cute_viz.check.elements import decode, encode, pack, unpack
from cute_viz.check.fragments import Fragment, fragment
from cute_viz.check.job import Check, In, Launch, Out, Outcome, Sheet, Word, entry_name, places
from cute_viz.check.sparse_ptx import DENSE, SparseWgmma, kernel
from cute_viz.check.wgmma_ptx import GROUP, PLAIN, SHARED, plain_tile
from cute_viz.figures.model import Figure, Panel

PROBED = 8  # the N whose metadata is probed nibble by nibble
LARGEST = 3  # elements of a product are 0 to 3, so that every sum is exact
CODES: dict[int, tuple[int, ...]] = {
    4: (4, 8, 12, 9, 13, 14),
    2: (4, 14),
}  # the nibbles that PTX allows, by the elements they are for
KEPT: dict[int, dict[int, tuple[int, ...]]] = {
    4: {code: (code & 3, code >> 2) for code in CODES[4]},
    2: {4: (0,), 14: (1,)},
}  # which elements each keeps


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn of a sparse atom: the digest, the accumulator, A where it is in registers, and who holds which nibble.

    nibbles: of each cell of the metadata's panel its (thread, nibble), one for each sparsity selector.
    """

    digest: str
    c: Fragment
    a: Fragment | None
    panel: Panel
    nibbles: tuple[tuple[tuple[int, int], ...], ...]


def drawn(figure: Figure) -> Drawn:
    """The operands of a figure, and its metadata.

    >>> from cute_viz import figure
    >>> found = drawn(figure("GMMA_64x8x32_F32F16F16_SS"))
    >>> found.nibbles[1], found.a
    (((0, 1), (2, 1)), None)
    """
    panel = next(panel for panel in figure.panels if role(panel) == "E")
    a = None if "A in" in figure.facts else fragment(figure, "A")
    return Drawn(digest(figure), fragment(figure, "C"), a, panel, tuple(owners(panel)))


def check(made: SparseWgmma, shown: Drawn, name: str) -> Check:
    """The check of a drawn sparse atom.

    >>> from cute_viz import figure, parse
    >>> from cute_viz.check.sparse_ptx import instruction
    >>> atom = parse("GMMA_64x8x32_F32F16F16_SS")
    >>> check(instruction(atom, 4, 2), drawn(figure(atom)), "x").kind
    'sparse wgmma'
    """
    entry = entry_name("sparse", name)
    job = _Job(made, entry, shown)
    return Check("sparse wgmma", name, kernel(made, entry), job.launches, job.judge, shown.digest)


@dataclass(frozen=True, slots=True)
class _Job:
    """The launches of one atom and their judgement. codes [row, group]: nibbles as numbers of CODES."""

    sparse: SparseWgmma
    entry: str
    shown: Drawn

    @property
    def extents(self) -> tuple[int, int]:
        """Rows and groups of a row."""
        return self.shown.panel.rows, self.shown.panel.cols

    @property
    def slots(self) -> int:
        """Kept elements of a row."""
        return self.sparse.made.k

    @property
    def patterns(self) -> int:
        """The launches that give every nibble digits of its own."""
        rows, groups = self.extents
        n, count = len(CODES[self.sparse.group]), 1
        while n**count < rows * groups:
            count += 1
        return count

    def metadata(self, codes: Any, selector: int, exchanged: bool = False) -> Any:
        """The register of each thread; what the selector does not ask for holds another code of the same cell."""
        table = CODES[self.sparse.group]
        out = np.zeros(GROUP, np.uint32)
        for cell, mine in enumerate(self.shown.nibbles):
            code = int(codes.reshape(-1)[cell])
            for n, (thread, nibble) in enumerate(mine):
                own = code if n == selector or len(mine) == 1 else (code + 1) % len(table)
                out[thread] |= np.uint32(table[own] << 4 * nibble)
        if exchanged:
            asked = sorted({mine[min(selector, len(mine) - 1)][0] for mine in self.shown.nibbles})
            out[[asked[0], asked[-1]]] = out[[asked[-1], asked[0]]]
        return out

    def numbered(self, digit: int) -> Any:
        """The codes in which every nibble carries a digit of its number, of its row and column mixed."""
        rows, groups = self.extents
        n = len(CODES[self.sparse.group])
        return (np.arange(rows * groups) // n**digit % n).reshape(rows, groups)

    def kept(self, codes: Any) -> Any:
        """[row, slot]: the k that each kept element of A stands at."""
        table = [KEPT[self.sparse.group][code] for code in CODES[self.sparse.group]]
        rows, groups = codes.shape
        start = np.arange(groups)[None, :, None] * self.sparse.group
        return (np.array(table)[codes] + start).reshape(rows, -1)

    def numbers(self) -> tuple[Any, Any, Any]:
        """A as it is kept [row, slot], codes and B [n, k] of a product: the same in every run."""
        random = np.random.default_rng(90)
        rows, groups = self.extents
        codes = random.integers(0, len(CODES[self.sparse.group]), (rows, groups))
        a = random.integers(0, LARGEST + 1, (rows, self.slots))
        return a, codes, random.integers(0, LARGEST + 1, (self.sparse.made.n, self.sparse.k))

    def product(self) -> Any:
        """[m, n]: what the product of `numbers` is."""
        a, codes, b = self.numbers()
        whole = np.zeros((len(a), self.sparse.k), np.int64)
        np.put_along_axis(whole, self.kept(codes), a, axis=1)
        return whole @ b.T

    def launches(self) -> tuple[Launch, ...]:
        a, codes, b = self.numbers()
        every = range(self.sparse.selectors)
        out = [self.launch(a[None], b[None], self.metadata(codes, n), n) for n in every]
        out.append(self.launch(a[None], b[None], self.metadata(codes, 0, exchanged=True), 0))
        if self.sparse.made.n != PROBED:
            return tuple(out)
        pick = np.broadcast_to(np.eye(self.slots, dtype=np.int64)[:, None, :], (self.slots, 64, self.slots))
        k = self.sparse.made.digits(np.arange(self.sparse.k) + 1)[:, None, :] * np.ones((1, PROBED, 1), np.int64)
        for n in every:
            for digit in range(self.patterns):
                out.append(self.launch(pick, k, self.metadata(self.numbered(digit), n), n))
        return tuple(out)

    def launch(self, a: Any, b: Any, metadata: Any, selector: int) -> Launch:
        """All A [block, row, slot] by all B [block, n, k], with the metadata of each thread."""
        made = self.sparse.made
        patterns = encode(a, made.a.name)
        if self.shown.a is not None:
            values = np.zeros((len(a), GROUP, self.shown.a.per_thread // 2), np.uint64)
            drawn = self.shown.a  # of two drawn elements next to each other one is kept, and stands in the register
            values[:, drawn.threads, drawn.values // 2] = patterns[:, drawn.rows, drawn.cols // 2]
            first = pack(values, made.a.bits).astype(np.uint32).tobytes()
        else:
            first = plain_tile(patterns, made.a.bits)
        second = plain_tile(encode(b, made.b.name), made.b.bits)
        words = (Word(PLAIN, 8), Word(DENSE, 8), Word(64 * 32 // 16), Word(made.n * 64 // 16), Word(selector))
        out = Out(len(a) * len(b) * GROUP * made.results * 4)
        buffers = (In(first), In(second), In(metadata.tobytes()), out)
        return Launch(self.entry, (len(a), len(b), 1), GROUP, (*buffers, *words), SHARED)

    def results(self, data: bytes) -> Any:
        """[block, slot of C]: the accumulators as integers; -1 for what is none."""
        made = self.sparse.made
        registers = np.frombuffer(data, np.uint32).reshape(-1, GROUP, made.results)
        values = decode(unpack(registers, made.c.bits)[:, self.shown.c.threads, self.shown.c.values], made.c.name)
        return np.nan_to_num(values, nan=-1, posinf=-1, neginf=-1).astype(np.int64)

    def judge(self, outputs: Sequence[Sequence[bytes]]) -> Outcome:
        """The products, and of each place of the metadata's panel the nibble that takes effect there."""
        c, count = self.shown.c, self.sparse.selectors
        right = self.product()[c.rows, c.cols]
        sheets = []
        for n in range(count):
            got = self.results(outputs[n][0])[0]
            sheets.append(self._accumulators(f"C, sparsity selector {n}", right, got))
        control = bool((self.results(outputs[count][0])[0] != right).any())
        for n in range(count if self.sparse.made.n == PROBED else 0):
            begin = count + 1 + n * self.patterns
            found = [self._codes(outputs[begin + digit][0]) for digit in range(self.patterns)]
            sheets.append(self._nibbles(n, found))
        return Outcome(tuple(sheets), control, {"accumulators": int(c.size)})

    def _codes(self, data: bytes) -> Any:
        """[row, group]: the code that took effect, as its number in CODES; -1 where it is none."""
        rows, groups = self.extents
        found = self.results(data)
        depth = found.shape[0] // self.slots  # digits of k, a block of B each
        k = sum(part * self.sparse.made.base**p for p, part in enumerate(found.reshape(depth, self.slots, -1))) - 1
        first = self.shown.c.cols == 0
        by_row = np.zeros((self.slots, rows), np.int64)
        by_row[:, self.shown.c.rows[first]] = k[:, first]
        inside = by_row.T.reshape(rows, groups, self.sparse.kept) - np.arange(groups)[None, :, None] * self.sparse.group
        out = np.full((rows, groups), -1, np.int64)
        for number, code in enumerate(CODES[self.sparse.group]):
            out[(inside == np.array(KEPT[self.sparse.group][code])).all(axis=2)] = number
        return out

    def _nibbles(self, selector: int, found: Sequence[Any]) -> Sheet:
        """The panel of the metadata: the cell whose nibble took effect in each."""
        rows, cols = self.extents
        n = len(CODES[self.sparse.group])
        good = np.logical_and.reduce([part >= 0 for part in found])
        seen = np.where(good, sum(part * n**digit for digit, part in enumerate(found)), -1).reshape(-1)
        drawn = np.arange(rows * cols)
        words = places(rows, cols)
        got = tuple(words[cell] if 0 <= cell < len(words) else "no valid code" for cell in seen.tolist())
        return Sheet(f"E, sparsity selector {selector}", rows, cols, words, got, tuple((seen == drawn).tolist()))

    def _accumulators(self, label: str, right: Any, got: Any) -> Sheet:
        panel, c = self.shown.c.panel, self.shown.c
        drawn, seen = [""] * (panel.rows * panel.cols), [""] * (panel.rows * panel.cols)
        fine: list[bool | None] = [None] * len(drawn)
        for row, col, a, b in zip(c.rows.tolist(), c.cols.tolist(), right.tolist(), got.tolist(), strict=True):
            at = row * panel.cols + col
            drawn[at], seen[at], fine[at] = str(a), str(b), a == b
        return Sheet(label, panel.rows, panel.cols, tuple(drawn), tuple(seen), tuple(fine))
