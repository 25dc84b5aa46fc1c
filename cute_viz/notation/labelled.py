"""The labelled lines of a printed atom or tiling -> the object; C++ prints `MMA_Atom` and `Shape_MNK`, the DSL with blanks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from cute_viz.algebra.inttuple import is_int_tuple, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.errors import NotationError, Span
from cute_viz.values.types import bits_of, printed

Fields: TypeAlias = "dict[str, tuple[str, int]]"  # what a label says, and where that begins

HEADING = re.compile(r"(?<!\w)(TiledMMA|TiledCopy|MMA_Atom|Copy_Atom|ThrMMA|ThrCopy|Tiled MMA|Tiled Copy|MMA Atom|Copy Atom)\s*$")
LABEL = re.compile(
    r"(?<!\w)(ThrLayoutVMNK|PermutationMNK|ThrID|Shape_MNK|LayoutA_TV|LayoutB_TV|LayoutC_TV|Tiler_MN|TiledLayout_TV|ValLayoutSrc"
    r"|ValLayoutDst|ValLayoutRef|ValueType|Thr VMNK|ThrIdx|Thr Layout VMNK|Permutation MNK|Shape MNK|TV Layout A|TV Layout B"
    r"|TV Layout C|Tiler MN|TV Layout tiled|TV Layout Src|TV Layout Dst|Value type)\s*:[ \t]*(.*)$"
)


def label_key(label: str) -> str:
    """A label in one spelling for C++ and the DSL, the key of its line."""
    return label.replace(" ", "").replace("_", "").lower()


def build(heading: str, fields: Fields, value: Callable[[str, int], object]) -> Any:
    """The atom or tiling of a heading from the labelled lines under it; `value` reads what a label says. Raises: NotationError
    for a print that lacks a line, or holds something that an atom does not have. A print of the DSL has no reference layout,
    which is inferred."""
    from cute_viz.algebra.copy import Copy_Atom, TiledCopy
    from cute_viz.algebra.mma import MMA_Atom, TiledMMA

    def get(wanted: str, fits: Callable[[object], bool], *labels: str) -> Any:
        for label in labels:
            if label in fields:
                text, offset = fields[label]
                found = value(text, offset)
                if not fits(found):
                    place = Span(offset, offset + max(1, len(text)))
                    raise NotationError(f"the {label} of this {heading} must be {wanted}, not {show(found)}", span=place)
                return found
        raise NotationError(f"the print of this {heading} lacks its {labels[0]}")

    def layout(modes: int, *labels: str) -> Layout:
        def fits(found: object) -> bool:
            return isinstance(found, Layout) and found.rank == modes and not is_coordinate_layout(found)

        out: Layout = get(f"a layout of integers with {modes} modes", fits, *labels)
        return out

    def tiler(label: str, modes: int | None = None) -> Any:
        """`(32:1,32:1,_)`, as the DSL prints extents, is `(32,32,_)`."""
        found = get("a tuple of extents or layouts", lambda x: isinstance(x, tuple) and modes in (None, len(x)), label)
        return tuple(x.shape if isinstance(x, Layout) and x.stride == 1 else x for x in found)

    def thr_id() -> Layout:
        found = get("a layout of threads", lambda found: isinstance(found, (int, Layout)), "thrid")
        return found if isinstance(found, Layout) else Layout(found)

    if "MMA" in heading:
        layouts: list[Any] = [layout(2, f"layout{x}tv", f"tvlayout{x}") for x in "abc"]
        shape = get("(M,N,K)", lambda found: isinstance(found, tuple) and len(found) == 3 and is_int_tuple(found), "shapemnk")
        atom = MMA_Atom(thr_id(), shape, *layouts)
        if heading == "MMAAtom":
            return atom
        return TiledMMA(atom, layout(4, "thrlayoutvmnk"), tiler("permutationmnk", 3))
    source, destination = layout(2, "vallayoutsrc", "tvlayoutsrc"), layout(2, "vallayoutdst", "tvlayoutdst")
    reference = layout(2, "vallayoutref") if "vallayoutref" in fields else _reference(source, destination)
    width = fields.get("valuetype", ("", 0))[0].strip()
    element = printed(width)
    bits = element.bits if element else bits_of(width.removesuffix("b") or 8)
    copy_atom = Copy_Atom(thr_id(), source, destination, reference, bits)
    if heading == "CopyAtom":
        return copy_atom
    return TiledCopy(copy_atom, layout(2, "tiledlayouttv", "tvlayouttiled"), tiler("tilermn"))


def _reference(source: Layout, destination: Layout) -> Layout:
    """The reference of a DSL print, which leaves it out: the side that is one-to-one, as ldmatrix and stmatrix have it."""
    from cute_viz.algebra.measure import cosize, size

    def spread(layout: Layout) -> bool:
        return size(layout, 1) == 1 or cosize(layout) == size(layout)

    simple = spread(destination) and not (spread(source) and str(destination).count("(") < str(source).count("("))
    return destination if simple else source
