"""Layouts -> Triton's encodings: what the linear ones and swizzled_shared can say."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, domain, is_layout
from cute_viz.algebra.inttuple import leaves, modes, product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import idx2crd, size
from cute_viz.algebra.modes import get
from cute_viz.algebra.stride import plain
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.errors import CuteVizError
from cute_viz.limits import limit, over
from cute_viz.notation.triton_linear import Linear, bit_count
from cute_viz.notation.triton_shared import inverse, shared
from cute_viz.notation.triton_text import find


def write_triton(value: object, shape: Sequence[int] = (), wave: int = 32) -> str:
    """A layout as an encoding of Triton. With a shape, a thread-value layout of a tensor of that shape: #ttg.linear, of waves of
    so many threads. Without one, a layout of memory: #ttg.swizzled_shared where that can say it, else #ttg.shared_linear.
    Raises: CuteVizError for any other layout, and for one that is not linear over bits."""
    if not is_layout(value):
        what = show(value).strip().splitlines()[0]
        raise CuteVizError(f"Triton cannot express {what}", hint="a layout of memory, or with `shape=` one of threads and values")
    return _registers(value, tuple(shape), wave) if shape else _memory(value)


def _registers(value: Layout | ComposedLayout, shape: tuple[int, ...], wave: int) -> str:
    if isinstance(value, ComposedLayout) or len(modes(value.shape)) not in (2, 3):
        raise CuteVizError(f"{show(value)} is not a layout of (thread, value)", hint="leave out `shape=` for a layout of memory")
    names = ("thread", "register", "block")
    bits = {name: _bits(get(value, n), shape) for n, name in enumerate(names[: len(modes(value.shape))])}
    lanes = bit_count(wave)
    thread, block = bits["thread"], bits.get("block", [])
    parts = {"register": bits["register"], "lane": thread[:lanes], "warp": thread[lanes:], "block": block}
    return f"#ttg.linear<{{{', '.join(f'{name} = {_list(those)}' for name, those in parts.items())}}}>"


def _bits(layout: object, shape: Sequence[int]) -> list[list[int]]:
    """The coordinate that each bit of a mode adds."""
    values = _table(layout)
    steps = [values[1 << n] for n in range(bit_count(len(values)))]
    if any(step >= prod(shape) for step in steps):
        raise CuteVizError(f"{show(layout)} reaches past {'x'.join(map(str, shape))}")
    return [list(idx2crd(step, tuple(shape))) for step in steps]


def _table(layout: Any) -> list[int]:
    """The values of a layout, found to be linear over bits."""
    if size(layout) > limit("accesses"):
        raise over("accesses", f"the layout has {size(layout)} elements")
    for extent in leaves(domain(layout).shape):
        bit_count(int(extent))
    values = [plain(x) for x in offsets(layout)]
    if not all(isinstance(x, int) and x >= 0 for x in values):
        raise CuteVizError(f"{show(layout)} has values that are not offsets of 0 or more")
    for n, value in enumerate(values):
        low = n & -n
        if n and value != values[low] ^ values[n ^ low]:
            raise CuteVizError(f"{show(layout)} is not linear over bits; except for padded ones, Triton's layouts are")
    return values


def _memory(value: Layout | ComposedLayout) -> str:
    inner = domain(value)
    shape = tuple(int(product(mode)) for mode in modes(inner.shape))
    values = _table(value)
    columns, at = [], 0
    for extent in shape:
        columns.append(tuple(values[1 << (at + n)] for n in range(bit_count(extent))))
        at += bit_count(extent)
    back = Linear({"offset": tuple((x,) for mode in columns for x in mode)}, (1 << at,), (0,))
    bases = [list(idx2crd(coordinate, shape)) for coordinate in inverse(back)[0]]  # of the bits of an offset
    return _as_swizzled(value, shape, bases) or f"#ttg.shared_linear<{{offset = {_list(bases)}}}, alignment = 16>"


def _as_swizzled(value: Layout | ComposedLayout, shape: tuple[int, ...], bases: list[list[int]]) -> str:
    """The encoding #ttg.swizzled_shared with these bases, if there is one."""
    if len(shape) < 2:
        return ""
    order = list(
        dict.fromkeys(mode for basis in bases for mode, x in enumerate(basis) if x and not any(basis[:mode] + basis[mode + 1 :]))
    )
    order += [mode for mode in range(len(shape)) if mode not in order]
    swizzle = value.outer if isinstance(value, ComposedLayout) else Swizzle(0, 0, 0)
    if not isinstance(swizzle, Swizzle):
        return ""
    vec = 1 << swizzle.base if swizzle.bits else 1
    per_phase = (1 << swizzle.base + swizzle.shift) // shape[order[0]] if swizzle.bits else 1
    fields = f"vec = {vec}, perPhase = {max(1, per_phase)}, maxPhase = {1 << swizzle.bits}, order = {order}"
    text = f"#ttg.swizzled_shared<{{{fields}}}>"
    said = [list(basis) for basis in shared(find(text)[0].encoding, shape).bases["offset"]]
    return text if said == bases else ""


def _list(bases: Sequence[Sequence[int]]) -> str:
    return str([list(basis) for basis in bases])
