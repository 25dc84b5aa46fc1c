"""The instruction descriptor of tcgen05.mma: its 32 bits by field."""

from __future__ import annotations

from cute_viz.algebra.instruction import LAYOUTS, InstrDescriptor
from cute_viz.figures.fields import bits_panel, field_paints, fields_legend
from cute_viz.figures.machine import of_instruction
from cute_viz.figures.model import Figure
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.figures.words import not_run


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
