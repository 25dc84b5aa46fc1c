"""What C++ source calls by name besides the operations: tuples, integers."""

from __future__ import annotations

TUPLES = ("Shape", "Stride", "Step", "Tile", "Coord", "Tiler", "tuple")  # with template arguments
LAYOUTS = ("Layout", "ComposedLayout")  # likewise
INTEGRALS = ("Int", "C", "constant", "integral_constant")  # static integers
MAKE_TUPLES = ("make_shape", "make_stride", "make_step", "make_tile", "make_coord", "make_tuple")
