"""Facts of atoms and tilings: their layouts by CuTe's names, sizes, and how elements are shared."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.copy import Copy_Atom, CopyOp, TiledCopy, layout_sd, tile_of
from cute_viz.algebra.instruction import issued
from cute_viz.algebra.inttuple import Underscore, modes, product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import cosize, size
from cute_viz.algebra.mma import MMA_Atom, TiledMMA, layout_tv, tile_shape
from cute_viz.algebra.modes import get
from cute_viz.algebra.static import EmptyLayout, Plain
from cute_viz.algebra.tmem import AHEAD, WORD, data_path, lane_stride, sparse_words
from cute_viz.algebra.views import tiled_of
from cute_viz.errors import CuteVizError


def tiling_facts(subject: object) -> dict[str, Any]:
    """The facts of an MMA atom, a copy atom or operation, a TiledMMA or a TiledCopy, ready for JSON."""
    subject = tiled_of(subject)
    match subject:
        case MMA_Atom():
            return _mma_atom(subject)
        case TiledMMA(atom, thr, permutation):
            return {
                "ThrLayoutVMNK": Plain.of(thr),
                "PermutationMNK": Plain.of(permutation, thr),
                **_old_repeats(subject),
                "tile": Plain.of(tile_shape(subject), thr),
                "threads": size(thr),
                **{f"layout{x}_TV": Plain.of(layout_tv(subject, x), thr) for x in "ABC"},
                **_mma_atom(atom),
            }
        case EmptyLayout(layout):
            return {"layout": Plain.of(layout), "kind": "layout without elements: an extent is 0 or less", "size": 0}
        case CopyOp():
            layouts = {"ThrID": subject.thr_id, "SrcLayout": subject.src, "DstLayout": subject.dst, "RefLayout": subject.ref}
            return {"op": subject.name, **{name: Plain.of(layout) for name, layout in layouts.items()}, **_units(subject)}
        case Copy_Atom():
            return _copy_atom(subject)
        case TiledCopy(atom, tv, tiler):
            units = {"units": "ValID counts bits of tensor memory, the other layouts elements"}
            return {
                "Tiler_MN": Plain.of(tiler),
                "TiledLayout_TV": Plain.of(tv),
                "tile": Plain.of(tile_of(subject), tv),
                "threads": size(subject.thr_layout),
                **{f"layout{side}_TV": Plain.of(layout_sd(subject, side), tv) for side in "SD"},
                **_copy_atom(atom),
                **(units if atom.instruction.lanes else {}),
            }
    raise CuteVizError(f"{show(subject)} is neither an atom nor a tiling")


def _old_repeats(tiled: TiledMMA) -> dict[str, str]:
    """What a third argument that older versions of CUTLASS took, ValLayoutMNK, means today, and how it is written today. Source:
    cute/atom/mma_atom.hpp, make_tiled_mma, which appends `_` to the argument until it has 3 modes."""
    first, *others = tiled.permutation_mnk
    if not isinstance(first, Layout) or len(modes(first.shape)) != 3 or any(not isinstance(x, Underscore) for x in others):
        return {}
    atoms = modes(tiled.thr_layout_vmnk.shape)[1:]
    tile = [
        int(product(m)) * int(product(a)) * int(product(r))
        for m, a, r in zip(tiled.atom.shape_mnk, atoms, modes(first.shape), strict=True)
    ]
    old = tuple(int(product(mode)) for mode in modes(first.shape))
    return {"note": f"permutes M only; the ValLayoutMNK {show(old)} of older versions is {show(tuple(tile))} today"}


def _mma_atom(atom: MMA_Atom) -> dict[str, object]:
    descriptor = issued(atom)
    refused = "; ".join(descriptor.refused) if descriptor else ""
    of_all = [x for x, tv in (("A", atom.layout_a), ("B", atom.layout_b)) if size(tv, 0) > 1 and cosize(get(tv, 0)) == 1]
    return {
        **({"op": atom.name} if atom.name else {}),
        "Shape_MNK": Plain.of(atom.shape_mnk),
        "ThrID": Plain.of(atom.thr_id),
        "ALayout": Plain.of(atom.layout_a),
        "BLayout": Plain.of(atom.layout_b),
        "CLayout": Plain.of(atom.layout_c),
        "DLayout": Plain.of(atom.layout_c),
        **({"in shared memory": f"{' and '.join(of_all)}, whose thread stride is 0, read through descriptors"} if of_all else {}),
        **({"blocks": atom.blocks} if atom.blocks > 1 else {}),
        **({"A stored": f"M x K/{atom.stored}"} if atom.stored > 1 else {}),
        **({"A": sparse} if (sparse := sparse_words(atom.instruction)) else {}),
        **({"descriptors of A and B": AHEAD} if "ultra" in atom.instruction.words else {}),
        **({"C in tensor memory": path} if (path := data_path(atom.instruction)) else {}),
        **({"instruction descriptor": str(descriptor)} if descriptor else {}),
        **({"not supported by tcgen05.mma": refused} if refused else {}),
    }


def _units(op: CopyOp) -> dict[str, Any]:
    """What the layouts of a copy of tensor memory count."""
    if op.val_id is None:
        return {}
    return {"units": f"bits; in ValID those of tensor memory, a lane is {lane_stride(1)} of them, a column {WORD}"}


def _copy_atom(atom: Copy_Atom) -> dict[str, object]:
    return {
        **({"op": atom.name} if atom.name else {}),
        "ThrID": Plain.of(atom.thr_id),
        "ValLayoutSrc": Plain.of(atom.layout_src),
        "ValLayoutDst": Plain.of(atom.layout_dst),
        "ValLayoutRef": Plain.of(atom.layout_ref),
        "NumValSrc": size(atom.layout_src, 1),
        "NumValDst": size(atom.layout_dst, 1),
        "bits of a value": atom.bits,
        **({"value type": atom.value_type} if atom.value_type else {}),
    }
