"""A tile in shared memory and a way to access it -> its warps, who meets in which bank, and the swizzle that would fix it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cute_viz.algebra.composed import ComposedLayout, pointer_bits, position_independent
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.table import offsets
from cute_viz.analysis.access import element_bits
from cute_viz.analysis.patterns import PATTERNS, bytes_of, named_accesses, width
from cute_viz.analysis.swizzles import search
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.options.words import read

if TYPE_CHECKING:
    from cute_viz.live.question import Question

CELLS = 1 << 14  # of a tile
_ASSUMED = 16  # bits of an element, where nothing says it: the page says that it assumes them


def banks(question: Question) -> dict[str, Any]:
    """What a pattern's warps cost on the question's layout: all of them, and one of them bank by bank.

    `access` of the question is the pattern, `step` which of its warps is spelled out; without one the costliest. `assumed` says
    that nothing gives the width of an element.

    >>> banks(Question("banks", "(8,64):(64,1)", {"type": "f16"}, more={"access": "ldmatrix"}))["wavefronts"]
    64
    """
    layout = position_independent(question.answer().layout)
    known = (
        read("type", question.options["type"]) if question.options.get("type") else question.answer().bits or pointer_bits(layout)
    )
    bits = element_bits(layout, given=known or _ASSUMED)
    if (cells := size(layout)) > CELLS:
        raise LimitError(f"the tile has {cells} elements, more than {CELLS}", hint="give one tile")
    name = str(question.more.get("access") or "ldmatrix")
    rows, cols, flip, places = bytes_of(layout, name, bits)
    warps = named_accesses(layout, name, bits)
    costs = [one.wavefronts for one in warps]
    step = question.more.get("step")
    at = int(step) if isinstance(step, int) and 0 <= step < len(warps) else costs.index(max(costs))
    begins = warps[at].begins[: warps[at].mask.bit_length()]
    found = search(rows, cols, bits, [name])
    best = next((candidate for candidate in found if candidate.swizzle is not None or candidate.name == "plain"), found[0])
    whole = "\n" in question.source.strip()  # a file, whose fixes the report has, at their definitions
    return {
        "accesses": PATTERNS,
        "access": name,
        "instruction": warps[at].instruction,
        "bits": bits,
        "assumed": known is None,
        "warps": costs,
        "wavefronts": sum(costs),
        "ideal": sum(one.ideal for one in warps),
        "step": at,
        "phases": [
            {
                "lanes": list(phase.lanes),
                "wavefronts": phase.wavefronts,
                "banks": [[[w, list(lanes)] for w, lanes in b] for b in phase.banks],
            }
            for phase in warps[at].phases()
        ],
        "cells": [list(divmod(at, cols))[:: -1 if flip else 1] for at in map(places.index, begins)],
        "wide": max(1, width(name, bits) * 8 // bits),
        "flip": flip,
        "best": {"name": best.name, "wavefronts": best.wavefronts, "source": None if whole else _applied(best, layout, flip)},
    }


def _applied(best: Any, layout: Any, flip: bool) -> str | None:
    """The layout with the winner in the place of its swizzle, where the search speaks of it: a compact tile."""
    inner = layout.inner if isinstance(layout, ComposedLayout) else layout
    if not isinstance(inner, Layout) or best.padding:
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
