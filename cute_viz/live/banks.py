"""A tile in shared memory and a way to access it -> the picture of it, what it costs, and the swizzle that would fix it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.composed import ComposedLayout, as_layout, pointer_bits, position_independent
from cute_viz.algebra.construct import LayoutRight, make_layout
from cute_viz.algebra.copy import ThrCopy, TiledCopy, as_tiled_copy, spanned_tile
from cute_viz.algebra.inttuple import leaves, modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.analysis.patterns import PATTERNS, UNITS, bytes_of, is_named
from cute_viz.analysis.swizzles import search
from cute_viz.engine import ask
from cute_viz.engine.access import accessor, picture_of, report_of, typed
from cute_viz.engine.accessing import Accessor, found_of, plain_of, width_of
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.options.words import read

if TYPE_CHECKING:
    from cute_viz.live.question import Question


CELLS = 1 << 14  # of a tile
_ASSUMED = 16  # bits of an element, where nothing says it: the page says that it assumes them


def banks(question: Question) -> dict[str, Any]:
    """The picture of an access of the question's layout, what all of its steps cost, and the swizzle that would free it.
    `access` of the question is a pattern, or who accesses the tile: a TV layout, a TiledCopy; `step` which instruction is drawn,
    without one the costliest; `global` the sectors of global memory instead of banks. Of a TiledCopy `access` is the tensor.
    `assumed` says that nothing gives the width of an element. Raises: CuteVizError where the layout cannot be
    accessed so."""
    answer, memory = question.answer(), tensor(question)
    whole = ask(question.request(memory)).layout if memory else answer.layout
    layout, said = position_independent(whole), question.options.get("type")
    known = read("type", said) if said else answer.bits or pointer_bits(layout)
    if (cells := size(layout)) > CELLS:
        raise LimitError(f"the tile has {cells} elements, more than {CELLS}", hint="give one tile")
    name = str(question.more.get("access") or "ldmatrix")
    by = as_tiled_copy(answer.obj) if memory else accessor(answer, name)
    access = typed(Accessor(by, known, operand=question.options.get("operand")), _ASSUMED)
    if question.more.get("global"):
        far = replace(access, sectors=True)
        told = {"name": answer.subjects[0].name, "uses": ["type", "palette", "theme"], "said": report_of(layout, far)["summary"]}
        return question.pictured(picture_of(layout, far)) | told
    bits = width_of(layout, access, known or (None if access.element is None else _ASSUMED))
    found, step = found_of(layout, access, bits), question.more.get("step")
    costs = [one.wavefronts for one in found_of(plain_of(layout) or layout, access, bits)]
    at = step if isinstance(step, int) and 0 <= step < len(found) else costs.index(max(costs))
    uncounted = by in UNITS
    figure = (
        question.answer(view="access", by=name).figure if uncounted else picture_of(layout, replace(access, draw="access", step=at))
    )
    out = question.pictured(figure) | {
        "name": answer.subjects[0].name,
        "uses": ["type", "operand", "palette", "theme"],
        "instruction": found[at].instruction,
        "bits": bits,
        "assumed": known is None and access.element is not None,
        "warps": [one.wavefronts for one in found],
        "wavefronts": sum(one.wavefronts for one in found),
        "ideal": sum(one.ideal for one in found),
        "step": at,
    }
    if uncounted:
        return out | {"said": figure.notes[0]}
    if by not in PATTERNS:
        return out
    rows, cols, flip, _ = bytes_of(layout, name, bits)
    best = next((one for one in search(rows, cols, bits, [name]) if one.swizzle is not None or one.name == "plain"), None)
    lines = "\n" in question.source.strip()  # a file, whose fixes the report has, at their definitions
    if best is not None and not lines and (source := _applied(best, layout, flip)) is not None:
        out["best"] = {"name": best.name, "wavefronts": best.wavefronts, "source": source}
    return out


def tensor(question: Question) -> str:
    """What a TiledCopy accesses: `access` of the question, without one its tile, row-major; "" of any other source."""
    copy, said = question.answer().obj, str(question.more.get("access") or "")
    if not isinstance(copy, (TiledCopy, ThrCopy)):
        return ""
    return said if said and not is_named(said) else str(make_layout(spanned_tile(as_tiled_copy(copy)), LayoutRight))


def _applied(best: Any, layout: Any, flip: bool) -> str | None:
    """The layout with the winner in the place of its swizzle, where the search speaks of it: a compact tile."""
    inner = layout.inner if isinstance(layout, ComposedLayout) else layout
    if not isinstance(inner, Layout) or best.padding or len(modes(inner.shape)) != 2:
        return None
    m, n = (product(mode) for mode in modes(inner.shape))
    compact = Layout((m, n), (1, m) if flip else (n, 1))
    try:
        same = offsets(inner) == offsets(compact)
    except CuteVizError:
        return None
    if not same:
        return None
    return str(inner) if best.swizzle is None else f"{best.swizzle} o 0 o {inner}"


def formula(obj: Any) -> dict[str, Any] | None:
    """The modes of a layout of rank 2 or less as (extent, stride) pairs, rows then columns, and its swizzle; None for all else."""
    try:
        found: Any = position_independent(as_layout(obj))
    except CuteVizError:
        return None
    swizzle, offset = None, 0
    if isinstance(found, ComposedLayout):
        if not isinstance(found.outer, Swizzle) or not isinstance(found.offset, int):
            return None
        swizzle, offset, found = [found.outer.bits, found.outer.base, found.outer.shift], int(found.offset), found.inner
    if not isinstance(found, Layout):
        return None
    pairs = [list(zip(leaves(a), leaves(b), strict=True)) for a, b in zip(modes(found.shape), modes(found.stride), strict=True)]
    if not 1 <= len(pairs) <= 2 or not all(isinstance(n, int) for mode in pairs for pair in mode for n in pair):
        return None
    rows, cols = ([[int(extent), int(step)] for extent, step in mode] for mode in (*pairs, [])[:2])
    return {"rows": rows, "cols": cols, "offset": offset, "swizzle": swizzle}
