"""MMA atoms: the fragments of a matrix instruction, recovered from the instruction itself by one-hot probing.

Block (i, p) puts a single 1 into slot i of A, and digit p of a number of its own into every slot of B. The accumulator then names,
for every slot of C, the slot of B that met slot i of A there. This incidence is all that an instruction can show; the three drawn
fragments predict it entry by entry. A slot is one value of one thread.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cute_viz.algebra.mma import MMA_Atom
from cute_viz.check.digest import digest, owners, role
from cute_viz.check.elements import ELEMENTS, Element, decode, encode, pack, unpack
from cute_viz.check.job import Check, In, Item, Kernel, Launch, Out, Outcome, Sheet, Undecided, entry_name
from cute_viz.figures.model import Figure, Panel

WARP = 32


@dataclass(frozen=True, slots=True)
class Instruction:
    """A matrix instruction on registers: its PTX opcode, the types of A, B and C, and what it needs.

    xor: the multiplication of bits is an exclusive or, so that a 1 in A counts where B has a 0.
    """

    opcode: str
    a: Element
    b: Element
    c: Element
    version: tuple[int, int]
    target: int
    xor: bool = False

    def registers(self, operand: str, values: int) -> int:
        """How many registers hold so many values of operand "a", "b" or "c"."""
        element: Element = getattr(self, operand)
        return -(-values * element.bits // element.register)


def instruction(atom: MMA_Atom) -> Instruction | str:
    """The instruction that an atom's name stands for (PTX ISA, "mma"); or the reason why none does.

    >>> from cute_viz.spec.library import resolve
    >>> instruction(resolve("SM80_16x8x16_F32BF16BF16F32_TN")).opcode
    'mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32'
    """
    name = atom.name.partition("<")[0]
    kinds = [{"u1": "b1"}.get(kind, kind) for kind in atom.types]
    if name == "SM61_DP4A":
        return Instruction("dp4a.s32.s32", ELEMENTS["s8"], ELEMENTS["s8"], ELEMENTS["s32"], (7, 0), 61)
    if name == "SM61_DP2A":
        return "CuTe writes dp2a without .lo or .hi, which PTX does not have"
    if name == "UniversalFMA":
        real = {"float": "f32", "double": "f64"}
        if len(set(kinds)) > 1 or kinds[0] not in real:
            return f"no kernel for fma of {', '.join(kinds)}"
        element = ELEMENTS[real[kinds[0]]]
        return Instruction(f"fma.rn.{element.name}", element, element, element, (7, 0), 70)
    match = re.fullmatch(r"SM(\d+)_(\d+)x(\d+)x(\d+)_\w+?_([TN])([TN])(_\w+)?", name)
    if match is None or len(kinds) != 4:
        return f"no kernel for {name or 'an atom without a name'}"
    if any(kind.endswith("c64") for kind in kinds):
        return "complex numbers: CuTe composes it of the F64 instruction of the same shape"
    arch = int(match[1])
    if arch >= 100 or any(kind not in ELEMENTS for kind in kinds):
        return f"needs an instruction of sm_{arch}"
    a, b, c = (ELEMENTS[kind] for kind in kinds[:3])
    majors = {"T": ("row", "row"), "N": ("col", "col")}
    layout = f"{majors[match[5]][0]}.{majors[match[6]][1]}"
    tail = match[7] or ""
    saturate = ".satfinite" if tail == "_SATURATE" else ""
    popc = {"_XORPOPC": ".xor.popc", "_ANDPOPC": ".and.popc"}.get(tail, "")
    shape = f"m{match[2]}n{match[3]}k{match[4]}"
    opcode = f"mma.sync.aligned.{shape}.{layout}{saturate}.{c.name}.{a.name}.{b.name}.{c.name}{popc}"
    version = {89: (8, 7) if c.name == "f16" else (8, 4), 90: (7, 8)}.get(arch, (7, 1))
    return Instruction(opcode, a, b, c, version, arch, tail == "_XORPOPC")


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
    """Operand "A", "B" or "C" of an MMA figure; the panel of B shows K down and N across.

    >>> from cute_viz import figure
    >>> c = fragment(figure("SM80_16x8x16_F32F16F16F32_TN"), "C")
    >>> c.size, c.per_thread, (int(c.rows[2]), int(c.cols[2]))
    (128, 4, (8, 0))
    """
    panel = next(panel for panel in figure.panels if role(panel) == operand)
    found = [(t, v, cell) for cell, mine in enumerate(owners(panel)) for t, v in mine]
    threads, values, cells = (np.array(column, dtype=np.int64) for column in zip(*sorted(found), strict=True))
    rows, cols = np.divmod(cells, panel.cols)
    if operand == "B":
        rows, cols = cols, rows
    return Fragment(panel, threads, values, rows, cols, int(figure.facts[f"values of {operand}"]))


def kernel(made: Instruction, entry: str, values: tuple[int, int, int]) -> Kernel:
    """The kernel (A, B, C, D) of one warp a block: A and D by blockIdx.x, B and D by blockIdx.y, C the same for all.

    values: of A, B and C in a thread. Registers lie lane by lane.

    >>> from cute_viz.spec.library import resolve
    >>> "mma.sync.aligned.m16n8k8" in kernel(instruction(resolve("SM80_16x8x8_F16F16F16F16_TN")), "k", (4, 2, 4)).body
    True
    """
    counts = [made.registers(x, n) for x, n in zip("abc", values, strict=True)]
    widths = [made.a.register, made.b.register, made.c.register]
    lists = ["{" + ",".join(f"%{x}{j}" for j in range(n)) + "}" for x, n in zip("abcd", [*counts, counts[2]], strict=True)]
    if not made.opcode.startswith("mma"):
        lists = [text.strip("{}") for text in lists]
    declared = "\n".join(
        f".reg .b{width} %{x}<{n}>;" for x, n, width in zip("abcd", [*counts, counts[2]], [*widths, widths[2]], strict=True)
    )
    loads = "\n".join(
        _move("ld", x, place, n, width) for x, place, n, width in zip("abc", ("%i", "%p", "0"), counts, widths, strict=True)
    )
    body = f"""// {made.opcode}
.visible .entry {entry}(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{{
.reg .b32 %lane, %i, %p, %g, %k;
.reg .b64 %at, %by;
{declared}
mov.u32 %lane, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %p, %ctaid.y; mov.u32 %g, %nctaid.x;
{loads}
{made.opcode} {lists[3]}, {lists[0]}, {lists[1]}, {lists[2]};
mad.lo.u32 %p, %p, %g, %i;
{_move("st", "d", "%p", counts[2], widths[2])}
ret;
}}"""
    return Kernel(entry, body, made.version, made.target)


def _move(which: str, operand: str, block: str, count: int, width: int) -> str:
    """Load or store the registers of one operand."""
    lines = [
        f"mad.lo.u32 %k, {block}, {WARP}, %lane; mul.wide.u32 %by, %k, {count * width // 8};",
        f"ld.param.u64 %at, [{operand}]; add.u64 %at, %at, %by;",
    ]
    for j in range(count):
        register, place = f"%{operand}{j}", f"[%at+{j * width // 8}]"
        lines.append(f"ld.global.b{width} {register}, {place};" if which == "ld" else f"st.global.b{width} {place}, {register};")
    return "\n".join(lines)


def check(atom: MMA_Atom, figure: Figure, name: str, known: str = "") -> Item:
    """The check of a drawn MMA atom on registers, or the reason why it cannot be decided.

    >>> from cute_viz.figures import build
    >>> from cute_viz.spec.library import resolve
    >>> atom = resolve("SM80_16x8x8_F16F16F16F16_TN")
    >>> check(atom, build(atom), "x").kernel.entry
    'mma_x'
    """
    made = instruction(atom)
    if isinstance(made, str):
        return Undecided("mma", name, made)
    a, b, c = (fragment(figure, operand) for operand in "ABC")
    entry = entry_name("mma", name)
    digits = _digits(b.size, min(made.b.exact, 2048))
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
        met = incidence(outputs[0][0], made, a, b, c)
        through = _accumulators(outputs[1][0], made.c, c)[0]
        passed = through == np.arange(c.size) + 1
        expected = predicted(a, b, c)
        control = not np.array_equal(predicted(a.swapped(), b, c), met)
        facts = {"incidences": int(met.size), "incidences agreeing": int((met == expected).sum())}
        return Outcome(sheets(met, expected, a, b, c, passed), control, facts)

    values = (a.per_thread, b.per_thread, c.per_thread)
    return Check("mma", name, kernel(made, entry, values), launches, judge, digest(figure), known)


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


def incidence(data: bytes, made: Instruction, a: Fragment, b: Fragment, c: Fragment) -> Any:
    """met[i, j]: the slot of B that slot i of A meets in slot j of C, or -1.

    >>> from cute_viz import figure, parse
    >>> fma = parse("UniversalFMA<float>{}")
    >>> a, b, c = (fragment(figure(fma), operand) for operand in "ABC")
    >>> incidence(bytes(2 * 2 * WARP * 4), instruction(fma), a, b, c).tolist()  # zeros: nothing met
    [[-1]]
    """
    base = min(made.b.exact, 2048)
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
