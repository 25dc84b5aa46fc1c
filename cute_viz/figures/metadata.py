"""The metadata of a sparse wgmma: which thread tells where the elements of A stand, and in which of its bits.

Four consecutive elements of a row of A (two of tf32) hold two that are kept (one of tf32); 4 bits say which. A register of 32 bits
is 8 such nibbles. Sources: PTX ISA, "Sparse matrix multiply-accumulate with wgmma.mma_async.sp"; ELayout of
cute/atom/mma_traits_sm90_gmma_sparse.hpp.
"""

from __future__ import annotations

from cute_viz.algebra.inttuple import product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom
from cute_viz.algebra.modes import get
from cute_viz.algebra.table import offsets
from cute_viz.figures.owners import TVMap

NIBBLES = 8  # of the register that a thread gives


def has_metadata(atom: MMA_Atom) -> bool:
    """Whether an atom is a sparse wgmma, whose metadata is drawn."""
    return atom.layout_e is not None and atom.instruction.kind == "wgmma"


def group_of(atom: MMA_Atom) -> int:
    """How many elements of a row of A one nibble is for."""
    assert atom.layout_e is not None
    return size(get(atom.layout_e, 1)) // NIBBLES


def metadata_map(atom: MMA_Atom) -> TVMap:
    """The nibbles of every thread: value v of a thread is bits 4v..4v+3 of its register, a cell is a group of a row of A."""
    layout, group = atom.layout_e, group_of(atom)
    assert isinstance(layout, Layout)
    rows, depth = product(atom.shape_mnk[0]), product(atom.shape_mnk[2])
    threads, cols = size(get(layout, 0)), depth // group
    table = offsets(layout)
    places = []
    for nibble in range(NIBBLES):
        for index in table[nibble * group * threads : (nibble * group + 1) * threads]:
            places.append(index % rows * cols + index // rows // group)
    return TVMap(threads, NIBBLES, rows, cols, places)


def metadata_notes(atom: MMA_Atom) -> list[str]:
    """What a reader of the panel must know: bits, groups, and which of the threads that hold the same is asked."""
    group = group_of(atom)
    kept = "two of 4 elements of a row of A are kept, two bits each" if group == 4 else "of 2 elements is kept, as 0b0100 or 0b1110"
    notes = [f"E: V is the nibble of a thread's 32 bits of metadata, bits 4V to 4V+3: which {kept}."]
    if metadata_map(atom).threads * NIBBLES > 64 * product(atom.shape_mnk[2]) // group:
        notes.append("E: of the two threads of a cell, sparsity selector 0 asks the lower, selector 1 the higher.")
    return notes
