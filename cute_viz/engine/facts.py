"""What is known of an object: the facts that analysis finds, what the library says of it, and what a device has confirmed."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.composed import as_layout, is_layout
from cute_viz.algebra.descriptor import DescriptorWord
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.static import is_tiling
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import CuteVizError
from cute_viz.spec import Library
from cute_viz.values.instruction import UNKNOWN
from cute_viz.values.integer import MulticastMask

_MEMORY = ("descriptor", "instruction", "tmem", "tma", "operands")  # by the attribute `tiling`


def facts_of(obj: object, name: str, library: Library) -> dict[str, object]:
    """The facts of an object by their names, in reading order, ready for JSON. Raises: CuteVizError for what is neither a
    layout, a swizzle, an atom nor a tiling."""
    return _own(as_layout(obj), library) | _claims(obj, name, library)


def _own(obj: Any, library: Library) -> dict[str, object]:
    if isinstance(obj, Swizzle):
        unit = "offsets of elements; bytes behind a pointer"
        return {"swizzle": str(obj), "acts on": unit, "reads bits": f"{obj.yyy:#b}", "changes bits": f"{obj.zzz:#b}"}
    if getattr(obj, "tiling", "") in _MEMORY or isinstance(obj, (MulticastMask, DescriptorWord)):
        from cute_viz.analysis.hardware import hardware_facts

        if (known := hardware_facts(obj)) is not None:
            if isinstance(known.get("on hardware"), str):
                from cute_viz.check.digest import told

                known["on hardware"] = told(known["on hardware"], library)
            return known
    if is_layout(obj):
        from cute_viz.analysis.facts import layout_facts

        return layout_facts(obj)
    if getattr(obj, "tiling", "") == "stages":
        return {f"stage {n + 1}": _own(as_layout(part), library) for n, part in enumerate(obj.parts)}
    if is_tiling(obj) or type(obj).__name__ == "CopyOp":
        from cute_viz.analysis.tilings import tiling_facts

        facts = tiling_facts(obj)
        return facts | (library.describe(facts["op"]) if facts.get("op") else {})
    raise CuteVizError(f"{show(obj)} is not a layout", hint="example: (4,8):(8,1)")


def _claims(obj: object, name: str, library: Library) -> dict[str, object]:
    """What a kept report of `cute-viz verify` says of this very mapping."""
    from cute_viz.check import digest

    if words := digest.known(name, library):
        return {"on hardware": words}
    if not any(name in report["agree"] for report in digest.reports(library)):
        return {}
    from cute_viz.figures import build
    from cute_viz.figures.options import FigureOptions

    op = getattr(obj, "instruction", UNKNOWN)
    operand = "".join(x for x in "CA" if not op.described(x)) if op.kind == "wgmma" and op.sparse == 1 else None  # else descriptors
    devices = digest.verified(name, build(obj, FigureOptions(operand=operand, max_cells=1 << 20)), library)
    return {"verified on": devices} if devices else {}


def with_marks(known: dict[str, object]) -> dict[str, object]:
    """The facts, and as "printed" those of them that CuTe prints with marks of static integers."""
    printed = {name: told for name, fact in known.items() if (told := getattr(fact, "printed", fact)) != fact}
    return {**known, "printed": printed} if printed else known
