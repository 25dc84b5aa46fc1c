"""What C++ source calls by name besides the operations: tuples, integers."""

from __future__ import annotations

from cute_viz.notation.syntax import is_atom_name

TUPLES = ("Shape", "Stride", "Step", "Tile", "Coord", "Tiler", "tuple")  # with template arguments
LAYOUTS = ("Layout", "ComposedLayout")  # likewise
INTEGRALS = ("Int", "C", "constant", "integral_constant")  # static integers
MAKE_TUPLES = ("make_shape", "make_stride", "make_step", "make_tile", "make_coord", "make_tuple")
WRAPPERS = frozenset(["MMA_Atom", "MMA_Traits", "Copy_Traits", "make_mma_atom"])
ATOMS = frozenset((*WRAPPERS, "Copy_Atom", "TiledMMA", "TiledCopy", "ThrMMA", "ThrCopy"))


def may_be_atom(name: str) -> bool:
    """Whether a name can be that of an instruction.

    >>> may_be_atom("cute::SM75_U32x4_LDSM_N"), may_be_atom("Foo")
    (True, False)
    """
    short = name.rsplit("::", 1)[-1]
    return is_atom_name(short) or short.startswith("SM")
