"""PTX that evaluates a layout, made from the layout itself: swizzles, compositions and XOR strides as instructions on registers."""

from __future__ import annotations

from collections.abc import Sequence

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import flat_modes
from cute_viz.algebra.stride import F2
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.check.job import Kernel, text
from cute_viz.errors import CuteVizError

THREADS = 256
PER_THREAD = 4  # entries of one thread: a vector of 32 bits each, two of 64 bits


class Unwritable(CuteVizError):
    """A layout that no generated kernel computes: one with fractional strides, in C++ also one with XOR strides."""


class _PtxWriter:
    """Lines of PTX that compute a layout in registers of 32 or 64 bits."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.lines: list[str] = []
        self.count = 0

    def new(self, instruction: str, *operands: object) -> str:
        """One instruction with a fresh destination register."""
        name = f"%v{self.count}"
        self.count += 1
        self.lines.append(f"{instruction}{self.bits} {', '.join(map(str, (name, *operands)))};")
        return name

    def layout(self, layout: AnyLayout, index: str) -> str:
        """The register that holds layout(index)."""
        if isinstance(layout, ComposedLayout):
            inner = layout.inner
            if isinstance(inner, Swizzle) or not isinstance(layout.offset, int):
                raise Unwritable(f"{layout} has no integer table")
            value = self.layout(inner, index)
            if layout.offset:
                value = self.new("add.s", value, int(layout.offset))
            return self.swizzle(layout.outer, value) if isinstance(layout.outer, Swizzle) else self.layout(layout.outer, value)
        total = ""
        rest = index
        parts = flat_modes(layout)
        for n, (extent, stride) in enumerate(parts):
            if n + 1 < len(parts):
                coordinate, rest = self.divide(rest, extent)
            else:
                coordinate = rest
            term = self.product(coordinate, stride)
            if term:
                total = term if not total else self.new("xor.b" if isinstance(stride, F2) else "add.s", total, term)
        return total or self.new("mov.b", 0)

    def divide(self, value: str, extent: int) -> tuple[str, str]:
        """(value mod extent, value / extent)."""
        if extent & (extent - 1) == 0:
            return self.new("and.b", value, extent - 1), self.new("shr.u", value, extent.bit_length() - 1)
        return self.new("rem.u", value, extent), self.new("div.u", value, extent)

    def product(self, coordinate: str, stride: object) -> str:
        """coordinate * stride, empty for 0; of an XOR stride the carry-less product."""
        if isinstance(stride, F2):
            total = ""
            for bit in range(stride.value.bit_length()):
                if stride.value >> bit & 1:
                    term = self.new("shl.b", coordinate, bit)
                    total = term if not total else self.new("xor.b", total, term)
            return total
        if not isinstance(stride, int):
            raise Unwritable(f"the stride {show(stride)} is not an integer")
        if stride == 0:
            return ""
        if stride > 0 and stride & (stride - 1) == 0:
            return coordinate if stride == 1 else self.new("shl.b", coordinate, stride.bit_length() - 1)
        return self.new("mul.lo.s", coordinate, int(stride))

    def swizzle(self, swizzle: Swizzle, value: str) -> str:
        """value ^ ((value & yyy) >> shift)."""
        if not swizzle.bits:
            return value
        picked = self.new("and.b", value, swizzle.yyy)
        moved = self.new("shr.s" if swizzle.shift >= 0 else "shl.b", picked, abs(swizzle.shift))
        return self.new("xor.b", value, moved)


def bound(layout: AnyLayout, index: int | None = None) -> int:
    """No value of the layout, nor anything on the way to it, is larger in magnitude.

    index: the largest index that it is asked for, where that is not its last one. Raises: as `kernel` does.
    """
    if isinstance(layout, ComposedLayout):
        if isinstance(layout.inner, Swizzle) or not isinstance(layout.offset, int):
            raise Unwritable(f"{layout} has no integer table")
        inner = bound(layout.inner, index) + abs(layout.offset)
        if isinstance(layout.outer, Swizzle):
            return int((1 << (inner | layout.outer.zzz if inner else 0).bit_length()) - 1)
        if layout.offset < 0 or any(not isinstance(d, int) or d < 0 for _, d in flat_modes(domain(layout.inner))):
            raise Unwritable(f"{layout.outer} would be asked for negative indices")
        return bound(layout.outer, inner)
    parts = flat_modes(layout)
    total = 0
    for n, (extent, stride) in enumerate(parts):
        if not isinstance(stride, (int, F2)):
            raise Unwritable(f"the stride {show(stride)} is not an integer")
        last = extent - 1 if index is None or n + 1 < len(parts) else index
        total += last * abs(stride) if isinstance(stride, int) else (1 << (last * stride.value).bit_length())
    return total


def kernel(layouts: Sequence[AnyLayout], entry: str, bits: int = 32) -> Kernel:
    """Kernels (table, seen, count, n), one a layout: seen[i] = layout(i), and count of the i < n with seen[i] != table[i]. The
    entries are called `entry_0`, `entry_1` ... Buffers hold a multiple of PER_THREAD entries. bits: of an entry, 32 or 64.
    Raises: Unwritable for strides that are not integers, and compositions without a table of integers."""
    return Kernel(entry, "\n".join(_entry(layout, f"{entry}_{n}", bits) for n, layout in enumerate(layouts)))


def _entry(layout: AnyLayout, entry: str, bits: int) -> str:
    writer = _PtxWriter(bits)
    values = []
    for j in range(PER_THREAD):
        writer.lines.append(f"// entry {j}")
        values.append(writer.layout(layout, writer.new("add.u", "%base", j)))
    per = 128 // bits  # entries of a vector
    groups = range(0, PER_THREAD, per)
    holes = {f"loaded{g // per}": ",".join(f"%e{j}" for j in range(g, g + per)) for g in groups}
    holes |= {f"stored{g // per}": ",".join(values[g : g + per]) for g in groups}
    counted = "\n".join(text("count.ptx", j=j, value=value, bits=bits) for j, value in enumerate(values))
    form = {"wide": bits == 64, "bits": bits, "bytes": bits // 8, "per": per, "registers": writer.count}
    return text("layout.ptx", layout=layout, entry=entry, lines="\n".join(writer.lines), counted=counted, **form, **holes)
