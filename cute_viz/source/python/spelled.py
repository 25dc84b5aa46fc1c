"""Where the DSL spells an operation of the algebra its own way: its parameters, their order, other names."""

from __future__ import annotations

from cute_viz.algebra.dsl import DIFFERENCES
from cute_viz.algebra.ops import ALIASES

# Parameters by their names in the DSL, in the order in which our operations take them.
PARAMETERS = {
    "make_layout": ("shape", "stride"),
    "make_ordered_layout": ("shape", "order"),
    "make_identity_layout": ("shape",),
    "make_identity_tensor": ("shape",),
    "make_composed_layout": ("inner", "offset", "outer"),
    "make_swizzle": ("b", "m", "s"),
    "make_layout_tv": ("thr_layout", "val_layout"),
    "make_tiled_copy_tv": ("atom", "thr_layout", "val_layout"),
    "make_tiled_copy": ("atom", "layout_tv", "tiler_mn"),
    "make_tiled_copy_A": ("atom", "tiled_mma"),
    "make_tiled_copy_B": ("atom", "tiled_mma"),
    "make_tiled_copy_C": ("atom", "tiled_mma"),
    "make_tiled_copy_S": ("atom", "tiled_copy"),
    "make_tiled_copy_D": ("atom", "tiled_copy"),
    "make_cotiled_copy": ("atom", "atom_layout_tv", "data_layout"),
    "make_tiled_mma": ("op_or_atom", "atom_layout_mnk", "permutation_mnk"),
    "tile_to_shape": ("atom", "trg_shape", "order"),
    "local_tile": ("input", "tiler", "coord", "proj"),
    "local_partition": ("target", "tiler", "index", "proj"),
    "group_modes": ("input", "begin", "end"),
    "coalesce": ("input", "target_profile"),
    "filter_zeros": ("input", "target_profile"),
    "create_tma_multicast_mask": ("cta_layout_vmnk", "cta_coord_vmnk", "mcast_mode"),
    "complement": ("input", "cotarget"),
    "composition": ("lhs", "rhs"),
    "slice_": ("src", "coord"),
    "dice": ("src", "dicer"),
    "crd2idx": ("coord", "layout"),
    "idx2crd": ("idx", "shape"),
    "append": ("input", "elem"),
    "prepend": ("input", "elem"),
    "recast_layout": ("new_type_bits", "old_type_bits", "src_layout"),
    **{f"{kind}_divide": ("target", "tiler") for kind in ("logical", "zipped", "tiled", "flat")},
    **{f"{kind}_product": ("block", "tiler") for kind in ("logical", "zipped", "tiled", "flat", "blocked", "raked")},
}
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
