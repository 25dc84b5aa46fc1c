"""MMA atoms: the fragments of a matrix instruction, recovered from the instruction itself by one-hot probing.

Block (i, p) puts a single 1 into slot i of A, and digit p of a number of its own into every slot of B. The accumulator then names,
for every slot of C, the slot of B that met slot i of A there. This incidence is all that an instruction can show; the three drawn
fragments predict it entry by entry.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cute_viz.algebra.mma import MMA_Atom
from cute_viz.check.digest import owners, role
from cute_viz.check.elements import ElementType, decode, element_of, encode, pack, unpack
from cute_viz.check.job import Array, In, Kernel, KernelRun, Out, Outcome, Outputs, PanelCheck, entry_name, kernel, pairs, sheet
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


WARP = 32


@dataclass(frozen=True, slots=True)
class WarpMma:
    """A matrix instruction on registers: its PTX opcode, the types of A, B and C, and the version and target that it needs.

    xor: the multiplication of bits is an exclusive or, so that a 1 in A counts where B has a 0.
    """

    opcode: str
    a: ElementType
    b: ElementType
    c: ElementType
    needs: str
    xor: bool = False

    def kernel(self, file: str, entry: str, values: tuple[int, ...], **holes: int) -> Kernel:
        """A kernel of the instruction; values: of A, B and C in a thread. kernels/mma.ptx (A, B, C, D): one warp a block, A and
        D by blockIdx.x, B and D by blockIdx.y, C the same for all."""
        for letter, element, count in zip("abc", (self.a, self.b, self.c), values, strict=True):
            holes[letter] = -(-count * element.bits // element.register)
            holes[f"{letter}_bytes"] = element.register // 8
        return kernel(file, entry, self.needs, opcode=self.opcode, braces=self.opcode.startswith("mma"), **holes)


def instruction(atom: MMA_Atom) -> WarpMma | str:
    """The instruction that an atom's name stands for (PTX ISA, "mma"); or the reason why none does."""
    op = atom.instruction
    kinds = [found for kind in atom.types if (found := element_of(kind)) is not None]
    if op.kind == "dp4a":
        return WarpMma(op.opcode, kinds[0], kinds[1], kinds[2], "7.0 61")
    if op.kind == "dp2a":
        return "CuTe writes dp2a without .lo or .hi, which PTX does not have"
    if op.name == "UniversalFMA":
        if len(set(atom.types)) > 1 or not kinds or kinds[0].name not in ("f32", "f64"):
            return f"no kernel for fma of {', '.join(atom.types)}"
        return WarpMma(f"fma.rn.{kinds[0].name}", kinds[0], kinds[0], kinds[0], "7.0 70")
    arch = int(re.sub(r"\D", "", op.arch) or 0)
    if op.kind != "mma" and arch < 100:
        return f"no kernel for {op.name or 'an atom without a name'}"
    if any(kind.endswith("c64") for kind in atom.types):
        return "complex numbers: CuTe builds this from the F64 instruction of the same shape"
    if arch >= 100 or len(kinds) != 4:
        return f"needs an instruction of sm_{arch}"
    version = {89: "8.7" if kinds[2].name == "f16" else "8.4", 90: "7.8"}.get(arch, "7.1")
    return WarpMma(op.opcode, kinds[0], kinds[1], kinds[2], f"{version} {arch}", "xorpopc" in op.words)


@dataclass(frozen=True, slots=True)
class Incidence:
    """The job of one atom, of which A, B and C are drawn."""

    made: WarpMma
    entry: str
    a: Fragment
    b: Fragment
    c: Fragment

    @property
    def base(self) -> int:
        """The base of the numbers in B: no digit is larger than what f16, the smallest accumulator, holds exactly."""
        return min(self.made.b.exact, 2048)

    def digits(self) -> list[Array]:
        """The numbers 1 ... slots of B in a number system that its type holds exactly, a digit for all slots at a time."""
        numbers, out = np.arange(1, self.b.size + 1), []
        while numbers.any():
            out.append(numbers % self.base)
            numbers = numbers // self.base
        return out

    def kernel(self) -> Kernel:
        """The kernel of one instruction."""
        return self.made.kernel("mma.ptx", self.entry, (self.a.per_thread, self.b.per_thread, self.c.per_thread))

    def launches(self) -> tuple[KernelRun, ...]:
        """Every slot of A with every digit of B; and C alone, numbered."""
        a, b, c, digits = self.a, self.b, self.c, self.digits()
        ones = np.zeros((a.size + 1, WARP, a.per_thread), np.int64)  # the last one is A = 0: what C and a popc give alone
        ones[np.arange(a.size), a.threads, a.values] = 1
        numbers = np.zeros((len(digits) + 1, WARP, b.per_thread), np.int64)
        numbers[:, b.threads, b.values] = np.stack([np.ones_like(digits[0]), *digits])
        ids = np.zeros((1, WARP, c.per_thread), np.int64)
        ids[0, c.threads, c.values] = np.arange(c.size) + 1
        return self._launch(ones, numbers, 0 * ids), self._launch(0 * ones[:1], 0 * numbers[:1], ids)

    def _launch(self, *sets: Array) -> KernelRun:
        elements = (self.made.a, self.made.b, self.made.c)
        packed = [pack(encode(x, e.name), e.bits, e.register) for x, e in zip(sets, elements, strict=True)]
        grid = (len(sets[0]), len(sets[1]), 1)
        return KernelRun(self.entry, grid, WARP, (*(In(x.tobytes()) for x in packed), Out(grid[0] * grid[1] * packed[2].nbytes)))

    def accumulators(self, data: bytes) -> Any:
        """What came back, block by block: the value in each slot of C."""
        element, c = self.made.c, self.c
        registers = np.frombuffer(data, np.uint64 if element.register == 64 else np.uint32)
        per_lane = -(-c.per_thread * element.bits // element.register)
        patterns = unpack(registers.reshape(-1, WARP, per_lane), element.bits, element.register)[..., : c.per_thread]
        return decode(patterns[:, c.threads, c.values], element.name)

    def incidence(self, data: bytes) -> Array:
        """met[i, j]: the slot of B that slot i of A meets in slot j of C, or -1. data: the accumulators of the first launch."""
        values = self.accumulators(data).reshape(-1, self.a.size + 1, self.c.size)
        change = values[:, :-1] - values[:, -1:]
        hit = change[0] != 0
        digit = (change == -1) if self.made.xor else change
        number = sum((digit[p + 1] * float(self.base) ** p for p in range(len(values) - 1)), np.zeros(hit.shape))
        return np.where(hit, np.nan_to_num(number, nan=-1, posinf=-1, neginf=-1).astype(np.int64) - 1, -1)

    def judge(self, outputs: Outputs) -> Outcome:
        """The incidence against the predicted one; the control is a prediction with two slots of A exchanged."""
        a, b, c = self.a, self.b, self.c
        met = self.incidence(outputs[0][0])
        passed = self.accumulators(outputs[1][0])[0] == np.arange(c.size) + 1
        expected = predicted(a, b, c)
        control = not np.array_equal(predicted(a.swapped(), b, c), met)
        facts = {"incidences": int(met.size), "incidences agreeing": int((met == expected).sum())}
        return Outcome(_sheets(met, expected, a, b, c, passed), control, facts)


def job(made: WarpMma, figure: Figure, name: str) -> Incidence:
    """The check of a drawn MMA atom against its instruction."""
    return Incidence(made, entry_name("mma", name), *(fragment(figure, operand) for operand in "ABC"))


def predicted(a: Fragment, b: Fragment, c: Fragment) -> Any:
    """The incidence that the drawn fragments imply: slots meet where m, n and k are the same."""
    by_place = np.full((int(b.rows.max()) + 1, int(max(a.cols.max(), b.cols.max())) + 1), -1, np.int64)
    by_place[b.rows, b.cols] = np.arange(b.size)
    inside = np.minimum(c.cols, by_place.shape[0] - 1)
    meets = by_place[inside[None, :], a.cols[:, None]]
    return np.where((a.rows[:, None] == c.rows[None, :]) & (inside == c.cols)[None, :], meets, -1)


def _sheets(met: Any, expected: Any, a: Fragment, b: Fragment, c: Fragment, passed: Any) -> tuple[PanelCheck, ...]:
    """Each drawn cell against what the other two operands say of its slot, by majority of its meetings. With every label right,
    a slot is right when all its meetings are the predicted ones, and C's when it also lets a value through."""
    slot_a, slot_c = np.nonzero((met >= 0) & (met < b.size))
    slot_b = met[slot_a, slot_c]
    votes = {
        "A": (slot_a, c.rows[slot_c], b.cols[slot_b]),
        "B": (slot_b, c.cols[slot_c], a.cols[slot_a]),
        "C": (slot_c, a.rows[slot_a], b.rows[slot_b]),
    }
    right = met == expected
    fit = {"A": right.all(axis=1), "C": right.all(axis=0) & passed, "B": np.ones(b.size, bool)}
    wrong = ~right
    for seen in (met, expected):
        touched = seen[wrong]
        fit["B"][touched[(touched >= 0) & (touched < b.size)]] = False
    found = {}
    for letter, drawn in (("C", c), ("A", a), ("B", b)):
        slots, rows, cols = votes[letter]
        row, col = (_majority(slots, labels, drawn.size) for labels in (rows, cols))
        found[letter] = drawn, row, col
    labels_hold = all(bool(((row == drawn.rows) & (col == drawn.cols)).all()) for drawn, row, col in found.values())
    return tuple(
        drawn.sheet(letter, row, col, fit[letter] if labels_hold or (letter == "C" and not passed.all()) else True)
        for letter, (drawn, row, col) in found.items()
    )


def _majority(slots: Array, labels: Array, size: int) -> Array:
    """For each slot the label that it met most often, -1 where it met none."""
    if not len(slots):
        return np.full(size, -1)
    counts = np.zeros((size, int(labels.max()) + 1), np.int64)
    np.add.at(counts, (slots, labels), 1)
    return np.where(counts.any(axis=1), counts.argmax(axis=1), -1)
