"""MMA atoms: the fragments of a matrix instruction, recovered from the instruction itself by one-hot probing.

Block (i, p) puts a single 1 into slot i of A, and digit p of a number of its own into every slot of B. The accumulator then names,
for every slot of C, the slot of B that met slot i of A there. This incidence is all that an instruction can show; the three drawn
fragments predict it entry by entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cute_viz.check.digest import digest
from cute_viz.check.elements import Element, decode, encode, pack, unpack
from cute_viz.check.fragments import Fragment, fragment
from cute_viz.check.job import Check, In, Launch, Out, Outcome, Sheet, entry_name
from cute_viz.check.mma_ptx import WARP, Instruction, kernel
from cute_viz.figures.model import Figure


def check(made: Instruction, figure: Figure, name: str, known: str = "") -> Check:
    """The check of a drawn MMA atom against its instruction. known: as in `Check`.

    >>> from cute_viz.check.mma_ptx import instruction
    >>> from cute_viz.figures import build
    >>> from cute_viz.spec import resolve
    >>> atom = resolve("SM80_16x8x8_F16F16F16F16_TN")
    >>> check(instruction(atom), build(atom), "x").kernel.entry
    'mma_x'
    """
    a, b, c = (fragment(figure, operand) for operand in "ABC")
    entry = entry_name("mma", name)
    digits = _digits(b.size, _base(made))
    fill = [(a, made.a), (b, made.b), (c, made.c)]

    def launches() -> tuple[Launch, ...]:
        ones = np.zeros((a.size + 1, WARP, a.per_thread), np.int64)  # the last one is A = 0: what C and a popc give alone
        ones[np.arange(a.size), a.threads, a.values] = 1
        numbers = np.zeros((len(digits) + 1, WARP, b.per_thread), np.int64)
        numbers[0, b.threads, b.values] = 1
        for p, column in enumerate(digits):
            numbers[p + 1, b.threads, b.values] = column
        zeros = np.zeros((1, WARP, c.per_thread), np.int64)
        ids = zeros.copy()
        ids[0, c.threads, c.values] = np.arange(c.size) + 1
        blank = np.zeros((1, WARP, a.per_thread), np.int64), np.zeros((1, WARP, b.per_thread), np.int64)
        return (
            _launch(entry, (ones, numbers, zeros), fill),
            _launch(entry, (*blank, ids), fill),
        )

    def judge(outputs: Sequence[Sequence[bytes]]) -> Outcome:
        met = incidence(outputs[0][0], made, a, c)
        through = _accumulators(outputs[1][0], made.c, c)[0]
        passed = through == np.arange(c.size) + 1
        expected = predicted(a, b, c)
        control = not np.array_equal(predicted(a.swapped(), b, c), met)
        facts = {"incidences": int(met.size), "incidences agreeing": int((met == expected).sum())}
        return Outcome(sheets(met, expected, a, b, c, passed), control, facts)

    values = (a.per_thread, b.per_thread, c.per_thread)
    return Check("mma", name, kernel(made, entry, values), launches, judge, digest(figure), known)


def _base(made: Instruction) -> int:
    """The base of the numbers in B: no digit is larger than what f16, the smallest accumulator, holds exactly."""
    return min(made.b.exact, 2048)


def _digits(slots: int, base: int) -> list[Any]:
    """The numbers 1 ... slots in a number system that the type of B holds exactly, a digit for all slots at a time."""
    numbers, out = np.arange(1, slots + 1), []
    while numbers.any():
        out.append(numbers % base)
        numbers = numbers // base
    return out


def _launch(entry: str, sets: tuple[Any, Any, Any], fill: list[tuple[Fragment, Element]]) -> Launch:
    packed = [pack(encode(x, e.name), e.bits, e.register) for x, (_, e) in zip(sets, fill, strict=True)]
    grid = (len(sets[0]), len(sets[1]), 1)
    out = grid[0] * grid[1] * packed[2].nbytes
    return Launch(entry, grid, WARP, (*(In(x.tobytes()) for x in packed), Out(out)))


def _accumulators(data: bytes, element: Element, c: Fragment) -> Any:
    """What came back, block by block: the value in each slot of C."""
    registers = np.frombuffer(data, np.uint64 if element.register == 64 else np.uint32)
    per_lane = -(-c.per_thread * element.bits // element.register)
    patterns = unpack(registers.reshape(-1, WARP, per_lane), element.bits, element.register)[..., : c.per_thread]
    return decode(patterns[:, c.threads, c.values], element.name)


def incidence(data: bytes, made: Instruction, a: Fragment, c: Fragment) -> Any:
    """met[i, j]: the slot of B that slot i of A meets in slot j of C, or -1. data: the accumulators of the first launch.

    >>> from cute_viz import figure, parse
    >>> from cute_viz.check.mma_ptx import instruction
    >>> fma = parse("UniversalFMA<float>{}")
    >>> a, c = (fragment(figure(fma), operand) for operand in "AC")
    >>> incidence(bytes(2 * 2 * WARP * 4), instruction(fma), a, c).tolist()  # zeros: nothing met
    [[-1]]
    """
    base = _base(made)
    values = _accumulators(data, made.c, c).reshape(-1, a.size + 1, c.size)
    change = values[:, :-1] - values[:, -1:]
    hit = change[0] != 0
    digit = (change == -1) if made.xor else change
    number = sum((digit[p + 1] * float(base) ** p for p in range(len(values) - 1)), np.zeros(hit.shape))
    return np.where(hit, np.nan_to_num(number, nan=-1, posinf=-1, neginf=-1).astype(np.int64) - 1, -1)


def predicted(a: Fragment, b: Fragment, c: Fragment) -> Any:
    """The incidence that the drawn fragments imply: slots meet where m, n and k are the same.

    >>> from cute_viz import figure
    >>> a, b, c = (fragment(figure("UniversalFMA<float>{}"), operand) for operand in "ABC")
    >>> predicted(a, b, c).tolist(), predicted(a.swapped(), b, c).tolist()
    ([[0]], [[-1]])
    """
    by_place = np.full((int(b.rows.max()) + 1, int(max(a.cols.max(), b.cols.max())) + 1), -1, np.int64)
    by_place[b.rows, b.cols] = np.arange(b.size)
    inside = np.minimum(c.cols, by_place.shape[0] - 1)
    meets = by_place[inside[None, :], a.cols[:, None]]
    return np.where((a.rows[:, None] == c.rows[None, :]) & (inside == c.cols)[None, :], meets, -1)


def sheets(met: Any, expected: Any, a: Fragment, b: Fragment, c: Fragment, passed: Any) -> tuple[Sheet, ...]:
    """Each drawn cell against what the other two operands say of its slot, by majority of its meetings.

    With every label right, a slot is right when all its meetings are the predicted ones, and C's when it also lets a value through.

    >>> from cute_viz import figure
    >>> a, b, c = (fragment(figure("SM80_16x8x8_F16F16F16F16_TN"), operand) for operand in "ABC")
    >>> met, passed = predicted(a, b, c), np.ones(c.size, bool)
    >>> [(sheet.role, all(sheet.ok)) for sheet in sheets(met, met, a, b, c, passed)]
    [('C', True), ('A', True), ('B', True)]
    """
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
    out = []
    for letter, drawn in (("C", c), ("A", a), ("B", b)):
        slots, rows, cols = votes[letter]
        row, col = (_majority(slots, labels, drawn.size) for labels in (rows, cols))
        same = (row == drawn.rows) & (col == drawn.cols)
        out.append((letter, drawn, row, col, same))
    labels_hold = all(bool(same.all()) for *_, same in out)
    return tuple(
        _sheet(letter, drawn, row, col, (same & fit[letter]) if labels_hold or (letter == "C" and not passed.all()) else same)
        for letter, drawn, row, col, same in out
    )


def _majority(slots: Any, labels: Any, size: int) -> Any:
    """For each slot the label that it met most often, -1 where it met none."""
    if not len(slots):
        return np.full(size, -1)
    counts = np.zeros((size, int(labels.max()) + 1), np.int64)
    np.add.at(counts, (slots, labels), 1)
    return np.where(counts.any(axis=1), counts.argmax(axis=1), -1)


def _sheet(letter: str, drawn: Fragment, row: Any, col: Any, ok: Any) -> Sheet:
    """The slots of one operand as the cells of its panel."""
    panel = drawn.panel
    cells = panel.rows * panel.cols
    said: list[str] = [""] * cells
    seen: list[str | None] = [None] * cells
    fine: list[bool | None] = [None] * cells
    columns = (drawn.rows, drawn.cols, row, col, ok)
    for m, n, got_m, got_n, same in zip(*(column.tolist() for column in columns), strict=True):
        cell = n * panel.cols + m if letter == "B" else m * panel.cols + n
        if fine[cell] is not False:
            said[cell], seen[cell], fine[cell] = f"({m},{n})", f"({got_m},{got_n})", same
    return Sheet(letter, panel.rows, panel.cols, tuple(said), tuple(seen), tuple(fine))
