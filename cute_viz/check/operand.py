"""Swizzled shared memory as an operand of wgmma, one element at a time not zero: which row and k the product takes it for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cute_viz.check import wgmma_ptx
from cute_viz.check.digest import digest
from cute_viz.check.elements import ELEMENTS, UNSIGNED, decode, encode, unpack
from cute_viz.check.job import Check, In, Launch, Out, Outcome, Word, entry_name
from cute_viz.check.swizzle_atom import ROWS, Atom, places, sheet, swapped
from cute_viz.figures.model import Figure, Panel

TYPES = {8: "u8", 16: "f16", 32: "tf32"}  # of the wgmma that reads elements of so many bits


def checks(atom: Atom, figure: Figure, name: str) -> list[Check]:
    """The check of a drawn atom as operand A; none where wgmma does not have the major: M is contiguous in 16 bits alone.

    >>> from cute_viz import figure, parse
    >>> from cute_viz.check.swizzle_atom import recognise
    >>> layout = parse("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)")
    >>> [item.kind for item in checks(recognise(layout), figure(layout), "x")]
    ['wgmma operand']
    """
    if atom.mn_major and atom.bits != 16:
        return []
    (panel,) = figure.panels
    job = _Job(atom, panel, entry_name("operand", name))
    return [Check("wgmma operand", name, wgmma_ptx.kernel(job.made, job.entry), job.launches, job.judge, digest(figure))]


@dataclass(frozen=True, slots=True)
class _Job:
    """Operand A of wgmma with one element of the atom's memory set at a time: D then has one row, and its value is k + 1."""

    atom: Atom
    panel: Panel
    entry: str

    @property
    def made(self) -> wgmma_ptx.Wgmma:
        """The instruction with N = 8 that reads A in the atom's major, and B K-major."""
        element = ELEMENTS[TYPES[self.atom.bits]]
        result = ELEMENTS["s32" if element.whole else "f32"]
        return wgmma_ptx.Wgmma(element, element, result, 8, transposed=(int(self.atom.mn_major), 0))

    def tile(self) -> tuple[int, int, int]:
        """Of the A tile that the atom is the beginning of: its bytes, its descriptor, its instructions along K."""
        atom_bytes = ROWS * (16 << self.atom.swizzle)
        if self.atom.mn_major:
            across = 64 // self.atom.pitch  # atoms along M; the tile has two along K
            if not self.atom.swizzle:
                return 2 * across * atom_bytes, wgmma_ptx.descriptor(0, across * atom_bytes, atom_bytes), 1
            return 2 * across * atom_bytes, wgmma_ptx.descriptor(self.atom.swizzle, atom_bytes, across * atom_bytes), 1
        if not self.atom.swizzle:
            return 16 * atom_bytes, wgmma_ptx.PLAIN, 1
        pitch = 16 << self.atom.swizzle
        return 8 * atom_bytes, wgmma_ptx.descriptor(self.atom.swizzle, 16, 8 * pitch), pitch // wgmma_ptx.STEP

    def launches(self) -> tuple[Launch, ...]:
        """One launch: block e has the element at offset e of the atom set, the rest of the tile zero; B is k + 1."""
        size, described, steps = self.tile()
        made, count = self.made, ROWS * self.atom.pitch
        unit = np.frombuffer(int(encode(np.array([1]), made.a.name)[0]).to_bytes(8, "little"), UNSIGNED[self.atom.bits])[0]
        images = np.zeros((count, size * 8 // self.atom.bits), UNSIGNED[self.atom.bits])
        images[np.arange(count), np.arange(count)] = unit  # block e: the element at offset e
        k = np.arange(steps * made.k) + 1
        numbers = encode(np.broadcast_to(k, (made.n, len(k))), made.b.name).reshape(made.n, steps, made.k)
        tiles = wgmma_ptx.plain_tile(numbers.transpose(1, 0, 2), made.b.bits)  # a plain tile of B a step, one after the other
        arguments = (
            *(In(images.tobytes()), In(tiles), Out(count * wgmma_ptx.GROUP * made.results * 4)),
            *(
                Word(described, 8),
                Word(wgmma_ptx.PLAIN, 8),
                Word(size // 16),
                Word(len(tiles) // 16),
                Word(steps),
                Word(made.n * wgmma_ptx.STEP),
            ),
        )
        return (Launch(self.entry, (count, 1, 1), wgmma_ptx.GROUP, arguments, wgmma_ptx.SHARED),)

    def judge(self, outputs: Sequence[Sequence[bytes]]) -> Outcome:
        """The row and k that each element of memory was taken for, against the cell at whose offset it lies."""
        made, count = self.made, ROWS * self.atom.pitch
        registers = np.frombuffer(outputs[0][0], np.uint32).reshape(count, wgmma_ptx.GROUP, made.results)
        values = decode(unpack(registers, 32), made.c.name).astype(np.int64)
        t, v = np.meshgrid(np.arange(wgmma_ptx.GROUP), np.arange(made.results), indexing="ij")
        row = t // 32 * 16 + t % 32 // 4 + v // 2 % 2 * 8  # of the accumulator (PTX ISA, "wgmma Register Fragment"), N = 8
        table = np.zeros((count, 64), np.int64)
        np.maximum.at(table, (np.arange(count)[:, None, None], row[None]), values)
        m, k = table.argmax(axis=1), table.max(axis=1) - 1
        alone = (table != 0).sum(axis=1) == 1
        cells, offsets = places(self.atom, self.panel)
        drawn_m, drawn_k = np.divmod(cells, self.panel.cols)
        seen_m, seen_k = m[offsets], k[offsets]
        ok = (seen_m == drawn_m) & (seen_k == drawn_k) & alone[offsets]
        wrong = swapped(offsets)
        control = bool(((m[wrong] != drawn_m) | (k[wrong] != drawn_k)).any())
        drawn = [f"({a},{b})" for a, b in zip(drawn_m.tolist(), drawn_k.tolist(), strict=True)]
        seen = [f"({a},{b})" for a, b in zip(seen_m.tolist(), seen_k.tolist(), strict=True)]
        return Outcome((sheet(self.panel, cells, drawn, seen, ok),), control)
