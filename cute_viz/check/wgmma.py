"""wgmma atoms: the accumulators of every N, and the fragment of A in registers, against the instruction.

Operands are numbers that identify their places: A carries m + 1 in one column k and B is 1, or A is 1 in one column and B carries
k + 1 or n + 1. Each accumulator then says which m and n it is, and each value of A in registers which m and k.

Of sparse atoms the metadata is probed nibble by nibble. A holds a 1 in one kept element of each row, and B holds k + 1: each
accumulator says which k the metadata gave that element. Every nibble carries digits of its own number through several launches,
and is known by them wherever it takes effect. What the sparsity selector does not ask for holds other digits. Of N = 8 all is
probed; of every N products of random A, metadata and B must be exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from cute_viz.check.digest import digest, owners, role, shared_by_all
from cute_viz.check.elements import encode, pack
from cute_viz.check.job import Array, Kernel, KernelRun, Outcome, Outputs, PanelCheck, pairs, sheet
from cute_viz.check.mma import Fragment, fragment
from cute_viz.check.wgmma_ptx import DENSE, GROUP, PLAIN, Wgmma, plain_tile
from cute_viz.figures.model import Figure, Panel

PROBED = 8  # the N whose metadata is probed nibble by nibble
LARGEST = 3  # elements of a product are 0 to 3, so that every sum is exact
Codes: TypeAlias = "dict[int, tuple[int, ...]]"  # a nibble -> which elements it keeps
CODES: dict[int, Codes] = {  # by the elements that a nibble is for: those that PTX allows
    4: {code: (code & 3, code >> 2) for code in (4, 8, 12, 9, 13, 14)},
    2: {4: (0,), 14: (1,)},
}


@dataclass(frozen=True, slots=True)
class Pictured:
    """What is drawn of an atom: the digest of the mapping, the accumulator, A where it is in registers; of a sparse one metadata.

    nibbles: of each cell of the metadata's panel its (thread, nibble), one for each sparsity selector.
    """

    digest: str
    c: Fragment
    a: Fragment | None
    metadata: Panel | None
    nibbles: tuple[tuple[tuple[int, int], ...], ...]


def drawn(figure: Figure) -> Pictured:
    """The operands of a figure, of which one that shared memory holds is not a fragment; and its metadata."""
    panels = {role(panel): panel for panel in figure.panels}
    in_registers = "A" in panels and not shared_by_all(figure, panels["A"])
    nibbles = tuple(owners(panels["E"])) if "E" in panels else ()
    c, a = fragment(figure, "C"), fragment(figure, "A") if in_registers else None
    return Pictured(digest(figure), c, a, panels.get("E"), nibbles)


@dataclass(frozen=True, slots=True)
class Product:
    """The products of one atom: what the probes of dense and of sparse ones share."""

    made: Wgmma
    entry: str
    shown: Pictured

    def kernel(self) -> Kernel:
        """The kernel of the instruction."""
        return self.made.kernel(self.entry)

    def launch(self, a: Any, b: Any, fragment: Fragment | None = None, metadata: Any = None, selector: int = 0) -> KernelRun:
        """All A [block, row, held element] by all B [block, n, k]; fragment: A in registers, where it is not as drawn."""
        made, drawn = self.made, fragment or self.shown.a
        first, second = encode(a, made.a.name), plain_tile(encode(b, made.b.name), made.b.bits)
        if drawn is None:
            data = plain_tile(first, made.a.bits)
        else:
            each = made.k // made.held  # of so many drawn elements next to each other one is kept, and stands in the register
            values = np.zeros((len(a), GROUP, drawn.per_thread // each), np.uint64)
            values[:, drawn.threads, drawn.values // each] = first[:, drawn.rows, drawn.cols // each]
            data = pack(values, made.a.bits).astype(np.uint32).tobytes()
        blocks = (len(a), len(b))
        if metadata is None:
            return made.launch(self.entry, data, second, blocks)
        return made.launch(self.entry, data, second, blocks, (PLAIN, DENSE), metadata.tobytes(), (selector,))

    def results(self, data: bytes) -> Any:
        """[block, slot of C]: the accumulators as integers; -1 for what is none."""
        return self.made.values(data)[:, self.shown.c.threads, self.shown.c.values]


@dataclass(frozen=True, slots=True)
class Accumulators(Product):
    """The job of a dense atom. columns: the k that are probed, all of them when A is in registers."""

    @property
    def columns(self) -> int:
        """How many k are probed."""
        return self.made.k if self.shown.a else 1

    def launches(self) -> tuple[KernelRun, ...]:
        """m in A, n in B; of A in registers also k in B, and the control, A with two values exchanged."""
        made, a = self.made, self.shown.a
        m, n, k = np.arange(64) + 1, np.arange(made.n) + 1, np.arange(made.k) + 1
        pick = np.eye(made.k, dtype=np.int64)[: self.columns]  # [column, k]
        carry = np.concatenate([digit[None, :, None] * pick[:, None, :] for digit in made.digits(m)])
        ones = np.broadcast_to(pick[:, None, :], (self.columns, 64, made.k))
        plain = np.ones((1, made.n, made.k), np.int64)
        out = [self.launch(carry, plain), self.launch(ones[:1], made.digits(n)[:, :, None] * plain)]
        if a:
            by_k = made.digits(k)[:, None, :] * plain
            out += [self.launch(ones, by_k), self.launch(carry, plain, a.swapped())]
        return tuple(out)

    def judge(self, outputs: Outputs) -> Outcome:
        """Each accumulator's m and n, and with A in registers each of its values' m and k, against the drawn place."""
        c, a, number = self.shown.c, self.shown.a, self.made.number
        got_m = number(self.results(outputs[0][0]).reshape(-1, self.columns, c.size)) - 1
        got_n = number(self.results(outputs[1][0])) - 1
        sheets = [c.sheet("C", got_m[0], got_n)]
        wrong = c.swapped()
        control = bool(((got_m[0] != wrong.rows) | (got_n != wrong.cols)).any())
        if a:
            got_k = number(self.results(outputs[2][0]).reshape(-1, self.columns, c.size)) - 1  # digits are the blocks of B
            first = c.cols == 0  # the slots of column 0 of C, one a row
            row_of = np.zeros(64, np.int64)
            row_of[c.rows[first]] = np.nonzero(first)[0]
            seen_m, seen_k = got_m[a.cols, row_of[a.rows]], got_k[a.cols, row_of[a.rows]]
            whole = (got_m == c.rows[None]) & (got_k == np.arange(self.columns)[:, None])  # [column, slot of C]
            by_row = np.ones((self.columns, 64), bool)
            np.logical_and.at(by_row, (np.arange(self.columns)[:, None], c.rows[None, :]), whole)
            sheets.append(a.sheet("A", seen_m, seen_k, by_row[a.cols, a.rows]))
            control &= outputs[3][0] != outputs[0][0]
        return Outcome(tuple(sheets), control, {"accumulators": int(c.size)})


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

    def metadata(self, codes: Array, selector: int, exchanged: bool = False) -> Array:
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

    def numbers(self) -> tuple[Array, Array, Array]:
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

    def _codes(self, data: bytes) -> Array:
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
