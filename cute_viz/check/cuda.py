"""The independent route: CUDA C++ in which CuTe's own headers evaluate a layout, on the device or while compiling. Pure text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cute_viz.algebra.composed import AnyLayout
from cute_viz.algebra.static import mark_static
from cute_viz.check.job import Kernel, text
from cute_viz.check.job import kernel as from_file
from cute_viz.check.layout_ptx import Unwritable
from cute_viz.errors import CuteVizError
from cute_viz.notation.write import write

CHUNK = 256  # entries of one static_assert
_FILES = ("layout", "layout_composed", "swizzle_layout")
HEADERS = "".join(f"#include <cute/{file}.hpp>\n" for file in _FILES) + "using namespace cute;\n"


def expression(layout: AnyLayout) -> str:
    """The layout as a constant expression of CuTe. Raises: Unwritable for what CuTe in C++ cannot express, such as XOR strides."""
    try:
        return write(mark_static(layout), "cpp")
    except CuteVizError as error:
        raise Unwritable(f"C++ cannot write it: {error.message}") from None


def kernel(layouts: Sequence[AnyLayout], entry: str, bits: int) -> Kernel:
    """The kernel of `layout_ptx.kernel` for one layout, with the same arguments, in which CuTe computes the values.

    layouts: one, or the components of one with coordinates as values, which is refused (Unwritable).
    """
    if len(layouts) > 1:
        raise Unwritable("its values are coordinates")
    kind = "int" if bits == 32 else "long long"
    return from_file("layout.cu", entry, headers=HEADERS, kind=kind, expression=expression(layouts[0]))


@dataclass(frozen=True, slots=True)
class StaticTable:
    """A table that the compiler compares: the layout as an expression, and what is drawn at each coordinate."""

    name: str
    layout: str
    table: tuple[int, ...]

    def source(self, corrupted: bool = False) -> str:
        """The file: a static_assert for each CHUNK of entries. corrupted: with one entry changed, so that it must not compile."""
        table = list(self.table)
        if corrupted:
            table[len(table) // 2] ^= 1
        asserts = []
        for n in range(0, len(table), CHUNK):
            part = table[n : n + CHUNK]
            asserts.append(f"constexpr long long drawn_{n}[] = {{{','.join(f'{x}LL' for x in part)}}};")
            asserts.append(f'static_assert(holds(drawn_{n}, {n}), "drawn entries {n} to {n + len(part) - 1}");')
        return text("static.cu", headers=HEADERS, expression=self.layout, asserts="\n".join(asserts)) + "\n"

    def wrong(self, log: str) -> list[tuple[int, int]]:
        """The ranges of entries (first, last) that a compiler's log says are not as drawn."""
        failed = [line for line in log.splitlines() if "static" in line and "assert" in line]
        return [(int(a), int(b)) for line in failed for a, b in re.findall(r"drawn entries (\d+) to (\d+)", line)]
