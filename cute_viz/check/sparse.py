"""Sparse wgmma atoms: whose bits of metadata tell of which elements of A, probed nibble by nibble; and whole products.

A holds a 1 in one kept element of each row, and B holds k + 1: each accumulator says which k the metadata gave that element. Every
nibble of metadata carries digits of its own number through several launches, and is known by them wherever it takes effect.
What the sparsity selector does not ask for holds other digits. Of N = 8 all is probed; of every N products of random A, metadata
and B must be exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from cute_viz.check.job import KernelRun, Outcome, Outputs, PanelCheck, pairs, sheet
from cute_viz.check.wgmma import Product
from cute_viz.check.wgmma_ptx import GROUP
from cute_viz.figures.model import Panel

PROBED = 8  # the N whose metadata is probed nibble by nibble
LARGEST = 3  # elements of a product are 0 to 3, so that every sum is exact
Codes: TypeAlias = "dict[int, tuple[int, ...]]"  # a nibble -> which elements it keeps
CODES: dict[int, Codes] = {  # by the elements that a nibble is for: those that PTX allows
    4: {code: (code & 3, code >> 2) for code in (4, 8, 12, 9, 13, 14)},
    2: {4: (0,), 14: (1,)},
}


@dataclass(frozen=True, slots=True)
class Metadata(Product):
    """The job of a sparse atom. codes [row, group]: nibbles as numbers of CODES."""

    @property
    def panel(self) -> Panel:
        """The panel of the metadata: rows, and groups of a row."""
        assert self.shown.metadata is not None
        return self.shown.metadata

    @property
    def codes(self) -> Codes:
        """The nibbles of this instruction."""
        return CODES[self.made.group]

    @property
    def patterns(self) -> int:
        """The launches that give every nibble digits of its own."""
        count = 1
        while len(self.codes) ** count < self.panel.rows * self.panel.cols:
            count += 1
        return count

    def metadata(self, codes: Any, selector: int, exchanged: bool = False) -> Any:
        """The register of each thread; what the selector does not ask for holds another code of the same cell."""
        table = list(self.codes)
        out = np.zeros(GROUP, np.uint32)
        for code, mine in zip(codes.reshape(-1).tolist(), self.shown.nibbles, strict=True):
            for n, (thread, nibble) in enumerate(mine):
                own = code if n == selector or len(mine) == 1 else (code + 1) % len(table)
                out[thread] |= np.uint32(table[own] << 4 * nibble)
        if exchanged:
            asked = sorted({mine[min(selector, len(mine) - 1)][0] for mine in self.shown.nibbles})
            out[[asked[0], asked[-1]]] = out[[asked[-1], asked[0]]]
        return out

    def numbered(self, digit: int) -> Any:
        """The codes in which every nibble carries a digit of its number, of its row and column mixed."""
        rows, groups = self.panel.rows, self.panel.cols
        return (np.arange(rows * groups) // len(self.codes) ** digit % len(self.codes)).reshape(rows, groups)

    def numbers(self) -> tuple[Any, Any, Any]:
        """A as it is kept [row, slot], codes and B [n, k] of a product: the same in every run."""
        random, made, rows = np.random.default_rng(90), self.made, self.panel.rows
        codes = random.integers(0, len(self.codes), (rows, self.panel.cols))
        return random.integers(0, LARGEST + 1, (rows, made.held)), codes, random.integers(0, LARGEST + 1, (made.n, made.k))

    def product(self) -> Any:
        """[m, n]: what the product of `numbers` is."""
        a, codes, b = self.numbers()
        inside = np.array(list(self.codes.values()))[codes]  # [row, group, kept]
        at = inside + np.arange(self.panel.cols)[None, :, None] * self.made.group
        whole = np.zeros((len(a), self.made.k), np.int64)
        np.put_along_axis(whole, at.reshape(len(a), -1), a, axis=1)
        return whole @ b.T

    def launches(self) -> tuple[KernelRun, ...]:
        """The product for each selector, and the control; of N = 8 every nibble's digits."""
        (a, codes, b), made = self.numbers(), self.made
        every = range(made.selectors)
        out = [self.launch(a[None], b[None], metadata=self.metadata(codes, n), selector=n) for n in every]
        out.append(self.launch(a[None], b[None], metadata=self.metadata(codes, 0, exchanged=True)))
        if made.n != PROBED:
            return tuple(out)
        pick = np.broadcast_to(np.eye(made.held, dtype=np.int64)[:, None, :], (made.held, 64, made.held))
        k = made.digits(np.arange(made.k) + 1)[:, None, :] * np.ones((1, PROBED, 1), np.int64)
        for n in every:
            for digit in range(self.patterns):
                out.append(self.launch(pick, k, metadata=self.metadata(self.numbered(digit), n), selector=n))
        return tuple(out)

    def judge(self, outputs: Outputs) -> Outcome:
        """The products, and of each place of the metadata's panel the nibble that takes effect there."""
        c, count = self.shown.c, self.made.selectors
        right = self.product()[c.rows, c.cols]
        results = [self.results(data[0])[0] for data in outputs[: count + 1]]
        control = bool((results.pop() != right).any())
        shape = (c.panel.rows, c.panel.cols)
        sheets = [sheet(f"C, sparsity selector {n}", shape, right, got, cells=c.cells) for n, got in enumerate(results)]
        for n in range(count if self.made.n == PROBED else 0):
            begin = count + 1 + n * self.patterns
            sheets.append(self._nibbles(n, [self._codes(data[0]) for data in outputs[begin : begin + self.patterns]]))
        return Outcome(tuple(sheets), control, {"accumulators": int(c.size)})

    def _codes(self, data: bytes) -> Any:
        """[row, group]: the code that took effect, as its number in CODES; -1 where it is none."""
        made, (rows, groups) = self.made, (self.panel.rows, self.panel.cols)
        found = self.results(data)
        k = made.number(found.reshape(-1, made.held, found.shape[1])) - 1  # digits of k, a block of B each
        first = self.shown.c.cols == 0
        by_row = np.zeros((made.held, rows), np.int64)
        by_row[:, self.shown.c.rows[first]] = k[:, first]
        inside = by_row.T.reshape(rows, groups, made.group // 2) - np.arange(groups)[None, :, None] * made.group
        out = np.full((rows, groups), -1, np.int64)
        for number, kept in enumerate(self.codes.values()):
            out[(inside == np.array(kept)).all(axis=2)] = number
        return out

    def _nibbles(self, selector: int, found: list[Any]) -> PanelCheck:
        """The panel of the metadata: the cell whose nibble took effect in each."""
        shape = (self.panel.rows, self.panel.cols)
        good = np.logical_and.reduce([part >= 0 for part in found])
        number = sum(part * len(self.codes) ** digit for digit, part in enumerate(found))
        seen, cells = np.where(good, number, -1).reshape(-1), np.arange(shape[0] * shape[1])
        words = pairs(*np.divmod(cells, shape[1]))
        got = [words[cell] if 0 <= cell < len(words) else "no valid code" for cell in seen.tolist()]
        return sheet(f"E, sparsity selector {selector}", shape, words, got, seen == cells)
