"""wgmma atoms: the accumulators of every N, and the fragment of A in registers, against the instruction.

Operands are numbers that identify their places: A carries m + 1 in one column k and B is 1, or A is 1 in one column and B carries
k + 1 or n + 1. Each accumulator then says which m and n it is, and each value of A in registers which m and k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.check.digest import digest, role, shared_by_all
from cute_viz.check.elements import decode, encode, pack, unpack
from cute_viz.check.fragments import Fragment, fragment
from cute_viz.check.job import Check, Launch, Outcome, Sheet, entry_name, places
from cute_viz.check.wgmma_ptx import GROUP, Wgmma, kernel, launch, plain_tile
from cute_viz.figures.model import Figure


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn of an atom: the digest of the mapping, the accumulator, and A where it is in registers."""

    digest: str
    c: Fragment
    a: Fragment | None


def drawn(figure: Figure) -> Drawn:
    """The operands of a figure; of one that shared memory holds there is no fragment.

    >>> from cute_viz import figure
    >>> shown = drawn(figure("SM90_64x8x16_F32F16F16_SS"))
    >>> shown.c.size, shown.a is None
    (512, True)
    """
    in_registers = any(role(panel) == "A" and not shared_by_all(figure, panel) for panel in figure.panels)
    return Drawn(digest(figure), fragment(figure, "C"), fragment(figure, "A") if in_registers else None)


def check(made: Wgmma, shown: Drawn, name: str) -> Check:
    """The check of a drawn wgmma atom; of A in shared memory only the accumulator is drawn as a fragment, and decided.

    >>> from cute_viz import figure, parse
    >>> from cute_viz.check.wgmma_ptx import instruction
    >>> atom = parse("SM90_64x8x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>{}")
    >>> check(instruction(atom), drawn(figure(atom)), "x").kernel.target
    90
    """
    entry = entry_name("wgmma", name)
    job = _Job(made, entry, shown.c, shown.a)
    return Check("wgmma", name, kernel(made, entry), job.launches, job.judge, shown.digest)


@dataclass(frozen=True, slots=True)
class _Job:
    """The launches of one atom and their judgement. columns: the k that are probed, all of them when A is in registers."""

    made: Wgmma
    entry: str
    c: Fragment
    a: Fragment | None

    @property
    def columns(self) -> int:
        return self.made.k if self.a else 1

    def launches(self) -> tuple[Launch, ...]:
        m, n, k = np.arange(64) + 1, np.arange(self.made.n) + 1, np.arange(self.made.k) + 1
        pick = np.eye(self.made.k, dtype=np.int64)[: self.columns]  # [column, k]
        carry = np.concatenate([digit[None, :, None] * pick[:, None, :] for digit in self.made.digits(m)])
        ones = np.broadcast_to(pick[:, None, :], (self.columns, 64, self.made.k))
        plain = np.ones((1, self.made.n, self.made.k), np.int64)
        by_k = self.made.digits(k)[:, None, :] * plain
        by_n = self.made.digits(n)[:, :, None] * plain
        out = [self.launch(carry, plain), self.launch(ones[:1], by_n)]
        if self.a:
            out += [self.launch(ones, by_k), self.launch(carry, plain, self.a.swapped())]
        return tuple(out)

    def launch(self, a: Any, b: Any, fragment: Fragment | None = None) -> Launch:
        """All A [block, m, k] by all B [block, n, k]; fragment: A in registers, where it is not as drawn."""
        made = self.made
        patterns = encode(a, made.a.name)
        if self.a:
            drawn = fragment or self.a
            values = np.zeros((len(a), GROUP, self.a.per_thread), np.uint64)
            values[:, drawn.threads, drawn.values] = patterns[:, drawn.rows, drawn.cols]
            first = pack(values, made.a.bits).astype(np.uint32).tobytes()
        else:
            first = plain_tile(patterns, made.a.bits)
        second = plain_tile(encode(b, made.b.name), made.b.bits)
        return launch(made, self.entry, first, second, (len(a), len(b)))

    def results(self, data: bytes) -> Any:
        """[block, slot of C]: the accumulators as integers; -1 for what is none."""
        registers = np.frombuffer(data, np.uint32).reshape(-1, GROUP, self.made.results)
        patterns = unpack(registers, self.made.c.bits)
        values = decode(patterns[:, self.c.threads, self.c.values], self.made.c.name)
        return np.nan_to_num(values, nan=-1, posinf=-1, neginf=-1).astype(np.int64)

    def judge(self, outputs: Sequence[Sequence[bytes]]) -> Outcome:
        """Each accumulator's m and n, and with A in registers each of its values' m and k, against the drawn place."""
        c, base = self.c, self.made.base
        m_digits = self.results(outputs[0][0]).reshape(-1, self.columns, c.size)
        got_m = sum(digit * base**p for p, digit in enumerate(m_digits)) - 1
        got_n = sum(digit * base**p for p, digit in enumerate(self.results(outputs[1][0]))) - 1
        fine = (got_m[0] == c.rows) & (got_n == c.cols)
        sheets = [_sheet("C", c, got_m[0], got_n, fine)]
        wrong = c.swapped()
        control = bool(((got_m[0] != wrong.rows) | (got_n != wrong.cols)).any())
        if self.a:
            k_digits = self.results(outputs[2][0]).reshape(-1, self.columns, c.size)  # the digits of k + 1 are the blocks of B
            got_k = sum(digit * base**p for p, digit in enumerate(k_digits)) - 1
            first = c.cols == 0  # the slots of column 0 of C, one a row
            row_of = np.zeros(64, np.int64)
            row_of[c.rows[first]] = np.nonzero(first)[0]
            seen_m, seen_k = got_m[self.a.cols, row_of[self.a.rows]], got_k[self.a.cols, row_of[self.a.rows]]
            whole = (got_m == c.rows[None]) & (got_k == np.arange(self.columns)[:, None])  # [column, slot of C]
            by_row = np.ones((self.columns, 64), bool)
            np.logical_and.at(by_row, (np.arange(self.columns)[:, None], c.rows[None, :]), whole)
            ok = by_row[self.a.cols, self.a.rows] & (seen_m == self.a.rows) & (seen_k == self.a.cols)
            sheets.append(_sheet("A", self.a, seen_m, seen_k, ok))
            control &= outputs[3][0] != outputs[0][0]
        return Outcome(tuple(sheets), control, {"accumulators": int(c.size)})


def _sheet(letter: str, drawn: Fragment, rows: Any, cols: Any, ok: Any) -> Sheet:
    panel = drawn.panel
    right = places(panel.rows, panel.cols)
    if ok.all() and drawn.size == len(right):
        return Sheet(letter, panel.rows, panel.cols, right, right, (True,) * len(right))
    seen: list[str | None] = [None] * len(right)
    fine: list[bool | None] = [None] * len(right)
    cells = (drawn.rows * panel.cols + drawn.cols).tolist()
    for cell, row, col, same in zip(cells, *(x.tolist() for x in (rows, cols, ok)), strict=True):
        seen[cell], fine[cell] = f"({row},{col})", same
    return Sheet(letter, panel.rows, panel.cols, right, tuple(seen), tuple(fine))
