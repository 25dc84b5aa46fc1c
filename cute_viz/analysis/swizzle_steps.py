"""A swizzle in words: which bits it reads and changes, as code, and what that does to the coordinates of a layout."""

from __future__ import annotations

from cute_viz.algebra.composed import ComposedLayout, PointerFlag, domain
from cute_viz.algebra.inttuple import modes
from cute_viz.algebra.layout import Layout, flat_modes, modes_of
from cute_viz.algebra.swizzle import Swizzle, span
from cute_viz.analysis.steps import Step

NAMES = ("m", "n", "p", "q")  # coordinates of the modes, as rulers name them


def swizzle_steps(swizzle: Swizzle, layout: Layout | None = None) -> list[Step]:
    """What Swizzle<B,M,S> does to an offset, and, where offsets come from a layout, to its coordinates."""
    b, s = swizzle.bits, swizzle.shift
    low, high = swizzle.changed, swizzle.read
    if not b:
        return [Step(f"{swizzle} has no bits: the identity")]
    steps = [
        Step(f"{span(high, b)} {'is' if b == 1 else 'are'} read: offset & 0b{swizzle.yyy:b}"),
        Step(f"moved {'down' if s >= 0 else 'up'} by {abs(s)}, {'it is' if b == 1 else 'they are'} XORed into {span(low, b)}"),
        Step(f"as code: {_code('offset', swizzle)}"),
    ]
    if keep := min(low, high):
        steps.append(Step(f"the lowest {keep} bits stay: vectors of {2**keep} elements stay together"))
    steps.append(Step(f"the pattern repeats every {2 ** (max(low, high) + b)} offsets; applied twice it is the identity"))
    if layout is not None and (words := on_coordinates(swizzle, layout)):
        steps.append(Step(f"on {layout} it is: {words}"))
    return steps


def steps_of(obj: object) -> list[Step] | None:
    """The steps of a swizzle or a swizzled layout; None for anything else."""
    if isinstance(obj, Swizzle):
        return swizzle_steps(obj)
    if isinstance(obj, ComposedLayout) and isinstance(obj.outer, Swizzle):
        inner = domain(obj)
        if isinstance(obj.offset, PointerFlag) and obj.outer.bits:
            return _flagged_steps(obj.outer, obj.offset.bits, inner)
        return swizzle_steps(obj.outer, inner if isinstance(inner, Layout) else None)
    return None


def _flagged_steps(swizzle: Swizzle, bits: int, layout: Layout) -> list[Step]:
    """What a swizzle behind a pointer does, in all three units: bytes of the address, elements, PTX's chunks of 16 bytes."""
    read, changed = span(swizzle.read, swizzle.bits), span(swizzle.changed, swizzle.bits)
    steps = [
        Step(f"in bytes, {swizzle} of the address XORs {read} into {changed}: {_code('address', swizzle)}"),
    ]
    elements = swizzle.rescaled(bits.bit_length() - 4) if bits & (bits - 1) == 0 else None  # it acts on bytes, of 2^3 bits
    if elements is None:
        steps.append(Step(f"in elements of {bits} bits there is no such swizzle: their width is not a power of two"))
    elif elements.bits == 0:
        steps.append(Step(f"in elements of {bits} bits nothing moves: the bits that change are inside an element"))
    else:
        steps.append(Step(f"in elements of {bits} bits, {elements} of the offset: {_code('offset', elements)}"))
    chunks = swizzle.rescaled(4)
    if swizzle.changed >= 4 and swizzle.read >= 4:
        steps.append(Step(f"in PTX's chunks of 16 bytes, {chunks} of the chunk's number: {_code('chunk', chunks)}"))
    else:
        steps.append(Step("in PTX's chunks of 16 bytes there is no such swizzle: it moves parts of a chunk"))
    if elements is not None and elements.bits:
        keep = min(elements.changed, elements.read)
        steps.append(Step(f"vectors of {2**keep} elements, {2**keep * bits // 8} bytes, stay together"))
        period = 2 ** (max(swizzle.changed, swizzle.read) + swizzle.bits)
        words = f"the pattern repeats every {period} bytes, {period * 8 // bits} elements; applied twice it is the identity"
        steps.append(Step(words))
        if (formula := on_coordinates(elements, layout)) is not None:
            steps.append(Step(f"on {layout}, in elements, it is: {formula}"))
    return steps


def on_coordinates(swizzle: Swizzle, layout: Layout) -> str | None:
    """The swizzle as a formula of the layout's coordinates; None where its bits are not bits of single coordinates. Holds where
    every extent and stride is a power of two and no two modes share a bit of the offset."""
    bits = _offset_bits(layout)
    if bits is None:
        return None
    low, high = swizzle.changed, swizzle.read
    pairs = [(bits.get(low + i), bits.get(high + i)) for i in range(swizzle.bits)]
    live = [(target, read) for target, read in pairs if read is not None]  # an offset bit that no coordinate reaches is 0
    if not live:
        return "nothing: the bits that are read are never set"
    if any(target is None for target, _ in live):
        return None
    (mode, at), (source, first) = live[0]  # type: ignore[misc]
    if any(pair != ((mode, at + i), (source, first + i)) for i, pair in enumerate(live)):
        return None
    name, read = NAMES[mode], NAMES[source]
    moved = _moved(read, first, 2 ** len(live) - 1)
    return f"{name} -> {name} ^ ({moved} << {at})" if at else f"{name} -> {name} ^ {moved}"


def _code(name: str, swizzle: Swizzle) -> str:
    moved = _moved(name, swizzle.read, 2**swizzle.bits - 1)
    return f"{name} ^ ({moved} << {swizzle.changed})" if swizzle.changed else f"{name} ^ {moved}"


def _moved(name: str, by: int, mask: int) -> str:
    return f"(({name} >> {by}) & {mask})" if by else f"({name} & {mask})"


def _offset_bits(layout: Layout) -> dict[int, tuple[int, int]] | None:
    """For each bit of the offset, the mode and the bit of that mode's coordinate; None where there is no such bit."""
    if len(modes(layout.shape)) > len(NAMES):
        return None
    out: dict[int, tuple[int, int]] = {}
    for n, mode in enumerate(modes_of(layout)):
        at = 0
        for extent, stride in flat_modes(mode):
            if extent == 1:
                continue
            if not isinstance(stride, int) or stride < 1 or stride & (stride - 1) or extent & (extent - 1):
                return None
            for i in range(extent.bit_length() - 1):
                bit = stride.bit_length() - 1 + i
                if bit in out:
                    return None
                out[bit] = (n, at)
                at += 1
    return out
