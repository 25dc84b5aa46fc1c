"""wgmma atoms: the accumulators of every N, and the fragment of A in registers, against the instruction.

Operands are numbers that identify their places: A carries m + 1 in one column k and B is 1, or A is 1 in one column and B carries
k + 1 or n + 1. Each accumulator then says which m and n it is, and each value of A in registers which m and k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.check.digest import digest, owners, role, shared_by_all
from cute_viz.check.elements import encode, pack
from cute_viz.check.fragments import Fragment, fragment
from cute_viz.check.job import Kernel, KernelRun, Outcome, Outputs
from cute_viz.check.wgmma_ptx import DENSE, GROUP, PLAIN, Wgmma, plain_tile
from cute_viz.figures.model import Figure, Panel


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
    """The operands of a figure, of which one that shared memory holds is no fragment; and its metadata.

    >>> from cute_viz import figure
    >>> shown = drawn(figure("SM90_64x8x16_F32F16F16_SS"))
    >>> shown.c.size, shown.a is None
    (512, True)
    >>> drawn(figure("GMMA_64x8x32_F32F16F16_SS")).nibbles[1]
    ((0, 1), (2, 1))
    """
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
