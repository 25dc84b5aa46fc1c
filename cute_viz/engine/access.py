"""What an access of memory costs: the report of every step of every warp, and the picture of the costliest."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from cute_viz.algebra.composed import AnyLayout, pointer_bits, position_independent
from cute_viz.algebra.copy import ThrCopy, TiledCopy
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.table import offsets
from cute_viz.analysis.access import WarpAccess, element_bits, extents_of
from cute_viz.analysis.banks import BANKS, CLAIMS, REMOTE, WORD, has_warps, memory_of, width
from cute_viz.analysis.facts import layout_facts, memory_facts
from cute_viz.analysis.patterns import FURTHER, PATTERNS, UNITS, is_named
from cute_viz.analysis.reports import global_report, shared_report
from cute_viz.engine.accessing import Accessor, accessed, found_of, plain_of, width_of
from cute_viz.engine.answer import Answer, ask
from cute_viz.engine.reading import values_of
from cute_viz.engine.whole import value_of
from cute_viz.errors import CuteVizError, UsageError, did_you_mean
from cute_viz.figures import build
from cute_viz.figures.frames import frames
from cute_viz.figures.machine import of_wavefronts
from cute_viz.figures.model import Figure
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.phases import strip
from cute_viz.figures.sectors import sectors
from cute_viz.figures.served import Served, served
from cute_viz.options.words import read
from cute_viz.source.address import address_of, query_of
from cute_viz.source.model import matching
from cute_viz.spelling import count


def typed(access: Accessor, bits: int | None) -> Accessor:
    """An access of a tensor whose elements have a width, which counts where neither it nor a copy says another."""
    said = access.element is not None or isinstance(access.by, (TiledCopy, ThrCopy))
    return access if bits is None or said else replace(access, element=bits)


def report_of(layout: AnyLayout, access: Accessor) -> dict[str, Any]:
    """The facts of a layout in memory, or what the access of each step costs, ready for JSON. Raises: UsageError for words that
    contradict each other; CuteVizError for an access that does not fit the layout."""
    _check(access)
    bits = read("type", access.element)
    if access.by is None:
        known = bits or pointer_bits(layout)
        return {**layout_facts(layout), **(memory_facts(layout, element_bits(layout, given=bits)) if known else {})}
    found = found_of(layout, access, bits)
    if access.sectors:
        return global_report(found)
    report, memory = shared_report(found), memory_of(access.arch)
    claim = memory.claim if memory is not None else CLAIMS.get(access.instruction or "", "")
    return {**report, "summary": f"{report['summary']} ({claim})", "claim": claim} if claim else report


def picture_of(layout: AnyLayout, access: Accessor) -> Figure:
    """The wavefronts of the costliest access, a row each; of a swizzled layout those of the plain one above. Of global memory,
    the sectors of the costliest request. Raises: as `report_of`."""
    _check(access)
    bits = read("type", access.element)
    found = found_of(layout, access, bits)
    if access.sectors:
        return _sectors(layout, found)
    if access.draw == "access":
        return build(layout, FigureOptions(view="access", by=accessed(layout, access)))
    worst = max(found, key=lambda a: a.wavefronts)
    plain = plain_of(layout)
    before = [] if plain is None else found_of(plain, access, width_of(layout, access, bits))
    if before and len(before) == len(found):  # the step that the swizzle is for
        old = max(before, key=lambda a: a.wavefronts)
        worst = max(found, key=lambda a: (a.wavefronts, (a.warp, a.step) == (old.warp, old.step)))
    same = [a for a in before if (a.warp, a.step, a.instruction) == (worst.warp, worst.step, worst.instruction)]
    steps = [*((plain or layout, a) for a in same), (layout, worst)]
    parts = [(f"{show(one)}: {count(a.wavefronts, 'wavefront')}" if len(steps) > 1 else "", a.phases()) for one, a in steps]
    memory = memory_of(access.arch)
    group = "wave" if memory else "warp"
    title = of_wavefronts(worst.called, [a.wavefronts for _, a in steps], worst.ideal)
    counted = memory.claim if memory else CLAIMS.get(worst.instruction, "The number of wavefronts is as the hardware counts")
    note = f"{group.capitalize()} {worst.warp}, step {worst.step}. {counted}; in which of them a bank serves which word is unknown."
    begins = [a.begins for _, a in steps]
    xor = [old ^ new for old, new in zip(*begins, strict=True)] if len(steps) > 1 else []
    if access.draw == "frames":
        names = ["plain", "swizzled"] if len(steps) > 1 else [""]
        framed = [(name, phases) for name, (_, phases) in zip(names, parts, strict=True)]
        return frames(title, show(layout), framed, note, ([], [x // WORD % BANKS for x in xor]))
    if access.draw == "tile":
        size = width_of(layout, access, bits)
        tiles = [(heading, cells_of(one, a, size)) for (heading, _), (one, a) in zip(parts, steps, strict=True)]
        return served(title, show(layout), tiles, access.thread, access.wavefront, note)
    return strip(title, show(layout), parts, width(worst.instruction) // WORD, note, ([], xor))


def cells_of(layout: AnyLayout, access: WarpAccess, bits: int) -> list[Served]:
    """The cells of a tile that an instruction touches; of a lane that several wavefronts serve, each word with its own."""
    rows, _ = extents_of(layout)
    if bits % 8:
        raise UsageError("`draw=tile` needs elements of whole bytes")
    bytes_ = bits // 8
    where: dict[int, int] = {}
    for index, offset in enumerate(offsets(position_independent(layout))):
        where.setdefault(offset * bytes_, index)
    serves: dict[tuple[int, int], int] = {}  # (lane, word) -> wavefront
    before = 0
    for phase in access.phases():
        for words in phase.banks:
            for n, (word, lanes) in enumerate(words):
                serves.update({(lane, word): before + n for lane in lanes})
        before += phase.wavefronts
    out = []
    warp = len(access.begins)
    for lane, begin in enumerate(access.begins):
        for n in range(access.width // bytes_) if access.mask >> lane & 1 else ():
            byte = begin + n * bytes_
            if (lane, byte // WORD) in serves and byte in where:
                col, row = divmod(where[byte], rows)
                value = access.value + n
                out.append(Served(row, col, access.warp * warp + lane, value, byte, bits, serves[lane, byte // WORD]))
    return out


def _sectors(layout: AnyLayout, found: list[Any]) -> Figure:
    """The request that moves most bytes for nothing."""
    report = global_report(found)["steps"]
    worst, told = max(zip(found, report, strict=True), key=lambda pair: (pair[1]["sectors"], -pair[1]["efficiency"]))
    where = f"{told['instruction']} of warp {worst.warp}, step {worst.step}"
    return sectors(where, show(layout), worst.begins, worst.width, worst.mask)


def accessor(answer: Answer, text: str) -> object:
    """The object that accesses the layout of an answer: a name or an expression in its file, an address, an expression of its
    own. In an expression, names that the file defines once, and that were given no value, mean what they are there."""
    request, file = answer.request, answer.readings[0].file
    plain = replace(
        request, sources=(text,), options={}, name=None, dialect="auto", let=values_of(request.let, request, file is not None)
    )
    if is_named(text) and (file is None or not matching(file.entries, text)):
        return text
    if file is None or address_of(text) is not None:
        try:
            return ask(replace(plain, let=request.let)).obj
        except CuteVizError:
            if not re.fullmatch(r"[a-z][\w.]*", text):
                raise
        known = (*PATTERNS, *FURTHER)
        near = did_you_mean(text, known, 1) or f"one of {', '.join(known)}; a TV layout, a TiledCopy or a TiledMMA"
        raise CuteVizError(f"there is no access {text!r}", hint=near)
    asked = query_of(text)
    if asked is not None and matching(file.entries, text.strip()[: -len(asked.slices) or None]):
        return file.find(text).read()
    names = dict.fromkeys(re.findall(r"(?<![\w.:@])[A-Za-z_]\w*(?:::\w+)*", text))
    own = {name: found[0] for name in names if name not in request.let and len(found := matching(file.entries, name)) == 1}
    return ask(replace(plain, let={**plain.let, **{name: value_of(entry) for name, entry in own.items()}})).obj


def _check(access: Accessor) -> None:
    if isinstance(access.by, str) and access.by in UNITS:
        hint = f"its picture: cute-viz render LAYOUT `view=access` `by={access.by}`"
        raise UsageError(f"no document gives the order in which {access.by} is served, so it has no count", hint=hint)
    if isinstance(access.by, str) and (access.instruction or access.operand):
        words = "instruction" if access.instruction else "operand"
        whose = "a TiledCopy, a TiledMMA or a layout (thread, value)"
        raise UsageError(f"`{words}=` does not apply to `access={access.by}`: it is for {whose}")
    if access.by is None:
        given = {"instruction": access.instruction, "operand": access.operand, "store": access.store, "global": access.sectors}
        if name := next((name for name, value in given.items() if value), None):
            word = access.instruction or ""
            example = "(32,4):(1,32)" if access.sectors else word if "matrix" in word else "rows"
            hint = f"example: `access={example}`; also a TiledCopy, a TiledMMA or a layout (thread, value)"
            raise UsageError(f"`{name}=` needs `access=`", hint=hint)
    lit = access.thread is not None or access.wavefront is not None
    if access.sectors and (lit or access.draw != "phases"):
        raise UsageError("`view=`, `thread=` and `wavefront=` apply to shared memory")
    if lit and access.draw != "tile":
        raise UsageError("`thread=` and `wavefront=` need `view=tile`")
    word = access.instruction or (access.by if isinstance(access.by, str) else "")
    if access.store and word.startswith("ld"):
        raise UsageError(f"{word} reads; drop `store=`")
    if access.sectors and ("matrix" in word or word in REMOTE):
        raise UsageError(f"{word} accesses shared memory; drop `global=`")
    if access.sectors and not has_warps(access.arch):
        raise UsageError(f"how {access.arch} serves global memory is not known; drop `global=`, or count banks")
