"""A drawn operand of an MMA as slots, the values of threads, each at its place; and with two of them exchanged, for controls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cute_viz.check.digest import owners, role
from cute_viz.check.job import Array, PanelCheck, pairs, sheet
from cute_viz.figures.model import Figure, Panel


@dataclass(frozen=True, slots=True)
class Fragment:
    """A drawn operand as slots: slot i is value `values[i]` of thread `threads[i]`, at (`rows[i]`, `cols[i]`) of the operand.

    per_thread: the values of a thread. Rows and columns are (m,k), (n,k) and (m,n) for A, B and C.
    """

    panel: Panel
    threads: Any
    values: Any
    rows: Any
    cols: Any
    per_thread: int

    @property
    def size(self) -> int:
        """How many slots there are."""
        return len(self.threads)

    @property
    def cells(self) -> Any:
        """Of each slot its cell of the panel, which shows B with K down and N across."""
        across = role(self.panel) == "B"
        return self.cols * self.panel.cols + self.rows if across else self.rows * self.panel.cols + self.cols

    def sheet(self, letter: str, rows: object, cols: object, fit: object = True) -> PanelCheck:
        """The panel, every slot's place as drawn and as seen; right where they are the same, and it is fit."""
        ok = (rows == self.rows) & (cols == self.cols) & fit
        shape = (self.panel.rows, self.panel.cols)
        return sheet(letter, shape, pairs(self.rows, self.cols), pairs(rows, cols), ok, self.cells)

    def swapped(self) -> Fragment:
        """The fragment with two of its slots exchanged, which no instruction agrees with; a lone slot is moved away."""
        rows, cols = self.rows.copy(), self.cols.copy()
        if self.size == 1:
            rows[0] += 1
        else:
            for axis in (rows, cols):
                axis[[0, -1]] = axis[[-1, 0]]
        return replace(self, rows=rows, cols=cols)


def fragment(figure: Figure, operand: str) -> Fragment:
    """Operand "A", "B" or "C" of an MMA figure; the panel of B shows K down and N across."""
    panel = next(panel for panel in figure.panels if role(panel) == operand)
    found = [(t, v, cell) for cell, mine in enumerate(owners(panel)) for t, v in mine]
    threads, values, cells = (np.array(column, dtype=np.int64) for column in zip(*sorted(found), strict=True))
    rows, cols = np.divmod(cells, panel.cols)
    if operand == "B":
        rows, cols = cols, rows
    return Fragment(panel, threads, values, rows, cols, int(values.max()) + 1)


def exchanged(drawn: Fragment, numbers: Array) -> Fragment:
    """The fragment with its first slot and the last one that holds another number exchanged; as it is where there is none."""
    others = np.nonzero(numbers != numbers[0])[0]
    if not len(others):
        return drawn
    rows, cols = drawn.rows.copy(), drawn.cols.copy()
    for axis in (rows, cols):
        axis[[0, others[-1]]] = axis[[others[-1], 0]]
    return replace(drawn, rows=rows, cols=cols)
