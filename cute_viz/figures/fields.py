"""The bits of a descriptor by field: a panel, its paints, and a legend of the values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from cute_viz.figures.model import Legend, LegendEntry, Paint, Panel, Ruler
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
