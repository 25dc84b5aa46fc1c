"""Where the DSL spells an operation of the algebra its own way: its parameters, their order, other names."""

from __future__ import annotations

from cute_viz.algebra.dsl import DIFFERENCES
from cute_viz.algebra.ops import ALIASES
from cute_viz.records import rows

PARAMETERS = {name: tuple(words.split()) for name, words in rows(__file__, "spelled.txt")}
# Where the DSL's order of operands is another one than C++'s: positions in the DSL's call.
REORDERED = {"slice_": (1, 0), "dice": (1, 0), "recast_layout": (2, 1, 0), "repeat_like": (1, 0)}
# Another operation under the same name.
RENAMED = {"slice_": "slice", "make_tiled_copy": "make_tiled_copy_impl", "make_tiled_copy_tv": "make_tiled_copy"}
RENAMED |= {"is_congruent": "congruent", "is_weakly_congruent": "weakly_congruent"}


def operation(name: str) -> str:
    """The operation that a name of the DSL is for `algebra.ops.find`, `dsl.NAME` where its compiler computes another value.

    >>> operation("slice_"), operation("raked_product"), operation("group_modes")
    ('dsl.slice', 'dsl.raked_product', 'dsl.group_modes')
    """
    name = RENAMED.get(name, name)
    return f"dsl.{name}" if ALIASES.get(name, name) in DIFFERENCES else name
