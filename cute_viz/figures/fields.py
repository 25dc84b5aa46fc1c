"""The bits of a descriptor by field: a panel, its paints, and a legend of the values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from cute_viz.algebra.instruction import LAYOUTS, InstrDescriptor
from cute_viz.algebra.swizzle import Swizzle, span
from cute_viz.figures.machine import of_instruction
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.options import FigureOptions, check_cells, not_run
from cute_viz.figures.paint import HUES, SHADES

ROW = 16  # bits a row


class Bits(Protocol):
    """What a field is here: its name, its first bit and its width."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def bit(self) -> int:
        """Its lowest bit."""

    @property
    def width(self) -> int:
        """How many bits it has."""


def field_paints(fields: Sequence[Bits], paints: Sequence[Paint]) -> tuple[dict[str, int], tuple[Paint, ...]]:
    """A paint for each field, in turns, behind the paints that there are; "" is that of bits which belong to none."""
    out, at = list(paints), {}
    for n, field in enumerate(sorted(fields, key=lambda field: field.bit)):
        round_, hue = divmod(n, HUES)
        paint = Paint(hue, round_, SHADES) if round_ else Paint(hue)
        if paint not in out:
            out.append(paint)
        at[field.name] = out.index(paint)
    if Paint(-1) not in out:
        out.append(Paint(-1))
    return {**at, "": out.index(Paint(-1))}, tuple(out)


def bits_panel(
    value: int, bits: int, fields: Sequence[Bits], at: Mapping[str, int], place: tuple[int, int], legends: tuple[int, ...]
) -> Panel:
    """The bits of a value, 16 a row, the highest first, each in the paint of its field."""
    names = [""] * bits
    for field in fields:
        names[field.bit : field.bit + field.width] = [field.name] * field.width
    rows = bits // ROW
    spans = tuple(f"{bits - ROW * row - 1}..{bits - ROW * (row + 1)}" for row in range(rows))
    order = [bits - ROW * (row + 1) + ROW - 1 - col for row in range(rows) for col in range(ROW)]
    return Panel(
        caption=f"the {bits} bits of 0x{value:0{bits // 4}x}",
        labels=tuple(str(value >> bit & 1) for bit in order),
        paints=tuple(at[names[bit]] for bit in order),
        row_ruler=Ruler("bits", spans),
        col_ruler=Ruler("", tuple(f"+{ROW - 1 - col}" for col in range(ROW))),
        data={"bit": tuple(order), "field": tuple(names[bit] or None for bit in order)},
        place=place,
        legends=legends,
    )


def fields_legend(fields: Sequence[Bits], at: Mapping[str, int], told: Mapping[str, str]) -> Legend:
    """The fields by their colours, each in words."""
    entries = tuple(LegendEntry(at[field.name], told[field.name]) for field in fields)
    return Legend("hue: field of the descriptor", entries)


def instruction(obj: InstrDescriptor, options: FigureOptions) -> Figure:
    """The figure of an instruction descriptor."""
    check_cells(32, "an instruction descriptor", options)
    fields, values, words = LAYOUTS[obj.kind], dict(obj.values), dict(obj.what)
    at, paints = field_paints(fields, ())
    told = {name: f"{name} {value}" + (f": {words[name]}" if name in words else "") for name, value in values.items()}
    name = f"Instruction descriptor of tcgen05.mma{', block-scaled' if 'Scaled' in obj.kind else ''}"
    title = options.title or of_instruction(words)
    return Figure(
        kind="instruction",
        title=title,
        source=str(obj),
        caption=f"{name}; one bit per cell, the highest first",
        description=f"{title}. {name}, {obj}. {', '.join(told.values())}.",
        paints=paints,
        legends=(fields_legend(fields, at, told),),
        panels=(bits_panel(obj.desc, 32, fields, at, (0, 0), (0,)),),
        notes=(*(f"No tcgen05.mma has it: {words}." for words in obj.refused), not_run()),
        facts={"desc": str(obj)},
    )


_KEPT, _CHANGED, _READ = range(3)  # paints


def bits(swizzle: Swizzle, options: FigureOptions) -> Figure:
    """The bit diagram of a swizzle: the offset that goes in, and the one that comes out, highest bit first."""
    b, m, s = swizzle.bits, swizzle.base, swizzle.shift
    low, high = swizzle.changed, swizzle.read
    width = max(1, max(low, high) + b)
    check_cells(2 * width, f"the bits of {swizzle}", options)
    order = list(range(width - 1, -1, -1))
    out = [f"b{i}⊕b{i + s}" if low <= i < low + b else f"b{i}" for i in order]
    paints = [_CHANGED if low <= i < low + b else _READ if high <= i < high + b else _KEPT for i in order]
    changed, read = span(low, b), span(high, b)
    kept = (
        f"the lowest {min(low, high)} bits stay: runs of {2 ** min(low, high)} stay together"
        if min(low, high)
        else "neighbors are separated"
    )
    title = options.title or f"{swizzle} XORs {read} into {changed}" if b else f"{swizzle} changes nothing"
    caption = (
        f"{read[0].upper()}{read[1:]} {'is' if b == 1 else 'are'} XORed into {changed}; {kept}" if b else "No bits: the identity"
    )
    return Figure(
        kind="bits",
        title=title,
        source=str(swizzle),
        caption=caption,
        paints=(Paint(-1), Paint(1), Paint(0)),
        legends=(
            Legend("hue: role of a bit", tuple(map(LegendEntry, (_READ, _CHANGED, _KEPT), ("read (Y)", "changed (Z)", "kept")))),
        ),
        panels=(
            Panel(
                caption="",
                labels=tuple([f"b{i}" for i in order] + out),
                paints=tuple(paints * 2),
                row_ruler=Ruler("", ("in", "out"), (0, 1, 0)),
                col_ruler=Ruler("bit", tuple(map(str, order))),
            ),
        ),
        facts={"B": b, "M": m, "S": s, "period": 2**width},
    )
