"""TiledMMA: the drawn tables drive a real product, and every element of C must come out right, written once.

Registers are packed as A and B are drawn, the instruction runs for every warp, repetition and step of K, and each accumulator is
stored where C is drawn, with a count for each element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.check.digest import digest
from cute_viz.check.elements import UNSIGNED, Element, decode, encode, pack
from cute_viz.check.fragments import Fragment, exchanged, fragment
from cute_viz.check.job import Argument, Check, In, Item, Kernel, Launch, Out, Outcome, Sheet, Undecided, Word, entry_name
from cute_viz.check.mma_ptx import WARP, Instruction, instruction
from cute_viz.figures.model import Figure

NOWHERE = 0xFFFFFFFF  # the place of an accumulator that no cell of C stands for


def check(obj: TiledMMA, figure: Figure, name: str) -> Item:
    """The check of a drawn TiledMMA of instructions on registers, or the reason why there is none.

    >>> from cute_viz import figure, parse
    >>> mma = parse("make_tiled_mma(SM80_16x8x8_F16F16F16F16_TN{}, (2,1,1))")
    >>> check(mma, figure(mma), "x").kernel.entry
    'tiled_x'
    """
    made = instruction(obj.atom)
    if isinstance(made, str):
        return Undecided("tiled mma", name, made)
    if size(get(obj.thr_layout_vmnk, 3)) > 1:
        return Undecided("tiled mma", name, "atoms along K hold partial sums, which no single product shows")
    a, b, c = (fragment(figure, operand) for operand in "ABC")
    values = tuple(size(get(obj.atom.layout(operand), 1)) for operand in "ABC")
    repeats = [x.per_thread // n for x, n in zip((a, b, c), values, strict=True)]  # RM*RK, RN*RK, RM*RN
    rk = round((repeats[0] * repeats[1] / repeats[2]) ** 0.5)
    job = _Job(made, entry_name("tiled", name), a, b, c, values, (repeats[0] // rk, repeats[1] // rk, rk))
    return Check("tiled mma", name, job.kernel(), job.launches, job.judge, digest(figure))


def small_numbers(rows: int, cols: int, element: Element, seed: int) -> Any:
    """Numbers of -1 .. 2, as far as the type has them, in a fixed irregular order: their products are exact in every type.

    >>> from cute_viz.check.elements import ELEMENTS
    >>> sorted(set(small_numbers(9, 9, ELEMENTS["b1"], 3).reshape(-1).tolist()))
    [0, 1]
    """
    drawn = np.random.default_rng(seed).integers(0, 4, (rows, cols))
    return drawn % 2 if element.bits == 1 else drawn % 3 if not element.signed else drawn - 1


@dataclass(frozen=True, slots=True)
class _Job:
    """values: of A, B and C in one thread of an atom. rest: how often the atom is repeated along M, N and K by its threads."""

    made: Instruction
    entry: str
    a: Fragment
    b: Fragment
    c: Fragment
    values: tuple[int, ...]
    rest: tuple[int, int, int]

    @property
    def warps(self) -> int:
        return 1 + int(max(x.threads.max() for x in (self.a, self.b, self.c))) // WARP

    def numbers(self) -> tuple[Any, Any, Any]:
        """A (m,k), B (n,k) and their product: small numbers in a fixed irregular order, exact in every type."""
        m, n, k = (int(x.max()) + 1 for x in (self.c.rows, self.c.cols, self.a.cols))
        first, second = small_numbers(m, k, self.made.a, 3), small_numbers(n, k, self.made.b, 5)
        if self.made.xor:
            return first, second, (first[:, None, :] != second[None, :, :]).sum(axis=2)
        return first, second, first @ second.T

    def registers(self, drawn: Fragment, numbers: Any, operand: str, own: int) -> Any:
        """Registers as [warp, repetition, lane, register], a repetition being one atom's values of a thread."""
        element = self.made.a if operand == "a" else self.made.b
        patterns = np.zeros((self.warps * WARP, drawn.per_thread), np.uint64)
        patterns[drawn.threads, drawn.values] = encode(numbers, element.name)[drawn.rows, drawn.cols]
        grouped = patterns.reshape(self.warps, WARP, -1, own).transpose(0, 2, 1, 3)
        return pack(grouped, element.bits, element.register)

    def launches(self) -> tuple[Launch, ...]:
        """The product as drawn; with two values of A exchanged; with two places of C exchanged."""
        first, _, product = self.numbers()
        wrong_a = exchanged(self.a, first[self.a.rows, self.a.cols])
        wrong_c = exchanged(self.c, product[self.c.rows, self.c.cols])
        return (self.launch(self.a, self.c), self.launch(wrong_a, self.c), self.launch(self.a, wrong_c))

    def launch(self, a: Fragment, c: Fragment) -> Launch:
        """The product with A and C packed as the fragments say: a block is one warp with one repetition (m,n)."""
        rm, rn, rk = self.rest
        first, second, product = self.numbers()
        m, n, k = np.meshgrid(np.arange(rm), np.arange(rn), np.arange(rk), indexing="ij")
        m, n, k = (x.transpose(1, 0, 2) for x in (m, n, k))  # repetition (m,n) of C is m + rm * n
        of_a = self.registers(a, first, "a", self.values[0])[:, m + rm * k]  # [warp, n, m, k, lane, register]
        of_b = self.registers(self.b, second, "b", self.values[1])[:, n + rn * k]
        places = np.full((self.warps * WARP, c.per_thread), NOWHERE, np.uint32)
        inside = (c.rows < product.shape[0]) & (c.cols < product.shape[1])
        places[c.threads[inside], c.values[inside]] = (c.rows * product.shape[1] + c.cols)[inside]
        table = places.reshape(self.warps, WARP, -1, self.values[2]).transpose(0, 2, 1, 3)
        width = self.made.c.bits // 8
        arguments: tuple[Argument, ...] = (
            *(In(np.ascontiguousarray(x).tobytes()) for x in (of_a, of_b, table)),
            *(Out(product.size * width), Out(product.size * 4, fill=0), Word(rk)),
        )
        return Launch(self.entry, (self.warps * rm * rn, 1, 1), WARP, arguments)

    def judge(self, outputs: Sequence[Sequence[bytes]]) -> Outcome:
        """Each element of C against the product; both corrupted launches must come out wrong."""
        _, _, product = self.numbers()

        def right(output: Sequence[bytes]) -> tuple[Any, Any, Any]:
            values = decode(np.frombuffer(output[0], UNSIGNED[self.made.c.bits]), self.made.c.name).reshape(product.shape)
            written = np.frombuffer(output[1], np.uint32).reshape(product.shape)
            return values, written, (values == product) & (written == 1)

        values, written, ok = right(outputs[0])
        wrong = [int((~right(output)[2]).sum()) for output in outputs[1:]]
        control = all(wrong)
        panel = self.c.panel
        drawn = tuple(str(x) for x in product.reshape(-1).tolist())
        seen = tuple(
            f"{x:g}" if w == 1 else f"{x:g} written {w} times"
            for x, w in zip(np.nan_to_num(values, nan=-1e9).reshape(-1).tolist(), written.reshape(-1).tolist(), strict=True)
        )
        sheet = Sheet("C", panel.rows, panel.cols, drawn, seen, tuple(ok.reshape(-1).tolist()))
        return Outcome((sheet,), control, {"elements written once": int((written == 1).sum())})

    def kernel(self) -> Kernel:
        """The kernel (a, b, places, d, count, steps), one warp a block: the sum over `steps` instructions, then the stores."""
        made = self.made
        counts = [made.registers(x, n) for x, n in zip("abc", self.values, strict=True)]
        widths = [made.a.register, made.b.register, made.c.register]
        lists = [",".join(f"%{x}{j}" for j in range(n)) for x, n in zip("abc", counts, strict=True)]
        if made.opcode.startswith("mma"):
            lists = [f"{{{text}}}" for text in lists]
        lines = [f".reg .b{width} %{x}<{n}>;" for x, n, width in zip("abc", counts, widths, strict=True)]
        lines.append("mov.u32 %lane, %tid.x; mov.u32 %block, %ctaid.x; ld.param.u32 %steps, [steps]; mov.u32 %step, 0;")
        lines += [f"mov.b{widths[2]} %c{j}, 0;" for j in range(counts[2])]
        lines.append("AGAIN: mad.lo.u32 %k, %block, %steps, %step; mul.lo.u32 %k, %k, 32; add.u32 %k, %k, %lane;")
        for x, n, width in zip("ab", counts, widths, strict=False):
            lines.append(f"mul.wide.u32 %by, %k, {n * width // 8}; ld.param.u64 %at, [{x}]; add.u64 %at, %at, %by;")
            lines += [f"ld.global.b{width} %{x}{j}, [%at+{j * width // 8}];" for j in range(n)]
        lines.append(f"{made.opcode} {lists[2]}, {lists[0]}, {lists[1]}, {lists[2]};")
        lines.append("add.u32 %step, %step, 1; setp.lt.u32 %p, %step, %steps; @%p bra AGAIN;")
        own = self.values[2]
        lines.append(f"mad.lo.u32 %k, %block, 32, %lane; mul.wide.u32 %by, %k, {4 * own};")
        lines.append("ld.param.u64 %at, [places]; add.u64 %at, %at, %by;")
        bits = made.c.bits
        for v in range(own):
            value = f"%c{v}"
            if bits == 16:
                value = ("%low", "%high")[v % 2]
                lines.append(f"mov.b32 {{%low,%high}}, %c{v // 2};")
            lines += [
                f"ld.global.u32 %k, [%at+{4 * v}]; setp.ne.u32 %p, %k, {NOWHERE};",
                f"mul.wide.u32 %by, %k, {bits // 8}; ld.param.u64 %to, [d]; add.u64 %to, %to, %by;",
                f"@%p st.global.b{bits} [%to], {value};",
                "mul.wide.u32 %by, %k, 4; ld.param.u64 %to, [count]; add.u64 %to, %to, %by; @%p red.global.add.u32 [%to], 1;",
            ]
        body = "\n".join(lines)
        parameters = ", ".join(f".param .u64 {x}" for x in ("a", "b", "places", "d", "count"))
        return Kernel(
            self.entry,
            f"""// {made.opcode}
.visible .entry {self.entry}({parameters}, .param .u32 steps)
{{
.reg .pred %p;
.reg .b16 %low, %high;
.reg .b32 %lane, %block, %k, %steps, %step;
.reg .b64 %at, %by, %to;
{body}
ret;
}}""",
            made.version,
            made.target,
        )
