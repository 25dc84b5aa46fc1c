"""Triton's encodings -> layouts: of registers (thread, register) -> index, of memory coordinates -> offset in elements.

A layout is in CuTe notation with integer strides where there is one, with a swizzle where one does it, else with XOR strides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.modes import coalesce
from cute_viz.algebra.stride import F2
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import CuteVizError, NotationError, did_you_mean
from cute_viz.notation import triton_distributed as registers
from cute_viz.notation import triton_shared as memory
from cute_viz.notation.program import Document
from cute_viz.notation.syntax import Passage
from cute_viz.notation.triton_linear import Linear
from cute_viz.notation.triton_text import Encoding, Typed, find

_TENSOR_MEMORY = "tensor_memory_encoding"


def read_triton(source: Passage) -> Document:
    """Every encoding of a text as a layout, by the names that the text gives them. Raises: NotationError for an encoding without
    a shape, neither in its type nor given, and for an unknown one, with the place."""
    document = Document()
    numbers: dict[str, int] = {}
    known: dict[tuple[str, tuple[int, ...], str], str] = {}  # a kernel has the same few types on most of its lines
    for typed in find(source.text):
        span = typed.encoding.span
        key = typed.name, typed.shape, source.text[span.start : span.end]
        if key in known:
            document.last = document.failures.get(known[key], known[key])
            continue
        name = known[key] = _fresh(typed.name, document, numbers)
        try:
            document.values[name] = layout_of(typed, source.shape)
            document.last = name
        except CuteVizError as error:
            document.failures[name] = document.last = error.at(source.text, typed.encoding.span)
    return document


def _fresh(name: str, document: Document, numbers: dict[str, int]) -> str:
    while True:
        numbers[name] = n = numbers.get(name, 0) + 1
        one = name if n == 1 else f"{name}_{n}"
        if one not in document.values and one not in document.failures:
            return one


def layout_of(typed: Typed, shape: Sequence[int] = ()) -> Layout | ComposedLayout:
    """The layout of an encoding for the shape of its type, or the one that is given."""
    linear = linear_of(typed, shape)
    name = typed.encoding.name
    if name in registers.ENCODINGS:
        return _of_inputs(linear, (("lane", "warp"), ("register",), *_blocks(linear)))
    if name == _TENSOR_MEMORY:
        return _of_inputs(linear, (("row",), ("col",), *_blocks(linear)))
    if typed.encoding.fields.get("fp4Padded"):
        raise NotationError("fp4Padded gives one element several offsets, so no layout maps coordinates to offsets")
    # coordinates to offsets, plain, swizzled, or by XOR strides; padded where paddings say so
    paddings = memory.paddings(typed.encoding)
    bits = [list(mode) for mode in memory.inverse(linear)]
    every = [offset for mode in bits for offset in mode]
    if _disjoint(every):
        padded = [[offset + sum(offset // interval * more for interval, more in paddings) for offset in mode] for mode in bits]
        return _layout(padded, True)
    if paddings:
        raise NotationError("offsets that are both swizzled and padded are neither a strided layout nor one of XOR strides")
    swizzle = _swizzle(every)
    if swizzle is None:
        return _layout(bits, False)
    return ComposedLayout(swizzle, 0, _layout([[swizzle(offset) for offset in mode] for mode in bits], True))


def linear_of(typed: Typed, shape: Sequence[int] = ()) -> Linear:
    """The linear layout of an encoding: the coordinate that each bit adds."""
    encoding = typed.encoding
    known = (*registers.ENCODINGS, *memory.ENCODINGS, _TENSOR_MEMORY)
    if encoding.name not in known:
        raise NotationError(
            f"{encoding.name} is not a supported encoding", hint=did_you_mean(encoding.name, known) or ", ".join(known)
        )
    shape = _of_a_buffer(typed) or tuple(shape) or _own_shape(typed)
    if not shape:
        raise NotationError(
            f"{encoding.name} needs the shape of its tensor",
            hint="`shape=64x64`, or a type, for example tensor<64x64xf16, ...>",
        )
    if prod(shape) > 1 << 24 or len(shape) > 8:
        raise NotationError(f"a tensor of {'x'.join(map(str, shape))} elements is not a tile")
    if encoding.name in registers.ENCODINGS:
        return registers.distributed(encoding, shape)
    if encoding.name == _TENSOR_MEMORY:
        return memory.tensor_memory(encoding, shape)
    return memory.shared(encoding, shape)


def smallest(encoding: Encoding) -> tuple[int, ...]:
    """The smallest tile that an encoding covers once, () where it does not say one."""
    fields = encoding.fields
    if (parent := fields.get("parent")) is not None:
        tile = smallest(parent)
        if encoding.name == "slice":
            return tuple(extent for n, extent in enumerate(tile) if n != fields.get("dim"))
        k = 8 * fields.get("kWidth", 0)  # two registers of four threads
        return ((tile[0], k) if fields.get("opIdx") == 0 else (k, tile[1])) if k and len(tile) == 2 else ()
    match encoding.name:
        case "blocked":
            return tuple(map(prod, zip(*(fields[x] for x in ("sizePerThread", "threadsPerWarp", "warpsPerCTA")), strict=True)))
        case "nvidia_mma" | "amd_mfma":
            return tuple(a * b for a, b in zip(fields["warpsPerCTA"], fields["instrShape"], strict=False))
        case "swizzled_shared" if len(fields["order"]) == 2:
            tile = fields["perPhase"] * fields["maxPhase"], fields["vec"] * fields["maxPhase"]
            return tile if fields["order"][0] == 1 else tile[::-1]
        case "nvmma_shared":
            tile = 8, (fields["swizzlingByteWidth"] or 16) * 8 // fields["elementBitWidth"]
            return tile[::-1] if fields.get("transposed") in (True, "true", "True") else tile
        case "tensor_memory_encoding" if "block" in fields:
            return tuple(fields["block"])
    return ()


def _of_a_buffer(typed: Typed) -> tuple[int, ...]:
    """The shape of a type; of several buffers of memory, whose first mode no encoding knows, that of one."""
    fields, name = typed.encoding.fields, typed.encoding.name
    if name not in memory.ENCODINGS and name != _TENSOR_MEMORY:
        return typed.shape
    order, ctas = fields.get("order"), fields.get("CGALayout")
    told = order if isinstance(order, list) else ctas[0] if isinstance(ctas, list) and ctas else None
    rank = len(told) if isinstance(told, list) else fields.get("rank") or (2 if name in ("nvmma_shared", _TENSOR_MEMORY) else 0)
    return typed.shape[1:] if isinstance(rank, int) and len(typed.shape) == rank + 1 > 1 else typed.shape


def _own_shape(typed: Typed) -> tuple[int, ...]:
    """The shape that an encoding says itself: padded_shared names it, the bases of a linear one reach it."""
    given = typed.encoding.fields.get("shape")
    if isinstance(given, list) and given and all(isinstance(x, int) and x > 0 for x in given):
        return tuple(given)
    return registers.shape_of_linear(typed.encoding)


def _blocks(linear: Linear) -> tuple[tuple[str, ...], ...]:
    return (("block",),) if linear.bases.get("block") else ()


def _of_inputs(linear: Linear, inputs: Iterable[tuple[str, ...]]) -> Layout:
    """The inputs, each mode some of them one after the other, to the column-major index of the shape."""
    bits = [linear.flat(*names) for names in inputs]
    return _layout(bits, _disjoint([x for mode in bits for x in mode]))


def _swizzle(offsets: Sequence[int]) -> Swizzle | None:
    """The swizzle that undone leaves offsets of single bits: of the fewest bits, the lowest first."""
    top = max(offsets).bit_length()
    for bits in range(1, top):
        for base in range(top):
            for shift in range(bits, top - base):
                one = Swizzle(bits, base, shift)
                if _disjoint([one(offset) for offset in offsets]):
                    return one
    return None


def _disjoint(values: Sequence[int]) -> bool:
    seen = 0
    for value in values:
        if seen & value:
            return False
        seen |= value
    return True


def _layout(bits: Sequence[Sequence[int]], plain: bool) -> Layout:
    modes = [_mode(values, plain) for values in bits]
    if len(modes) == 1:
        return modes[0]
    return Layout(tuple(mode.shape for mode in modes), tuple(mode.stride for mode in modes))


def _mode(values: Sequence[int], plain: bool) -> Layout:
    if plain:
        joined = coalesce(Layout((2,) * len(values), tuple(values))) if values else Layout(1, 0)
        assert isinstance(joined, Layout)
        return joined
    runs: list[list[int]] = []  # extent, first value: values that double are the multiples of the first
    for value in values:
        if runs and (value == runs[-1][1] * runs[-1][0]):
            runs[-1][0] *= 2
        else:
            runs.append([2, value])
    parts = [(extent, F2(value) if value else 0) for extent, value in runs] or [(1, 0)]
    if len(parts) == 1:
        return Layout(*parts[0])
    return Layout(tuple(extent for extent, _ in parts), tuple(stride for _, stride in parts))


def tile_of(text: str, shape: Sequence[int] = (), name: str = "") -> tuple[str, int]:
    """The tile that the threads and values of an encoding cover, as `8x128`, and how many lanes a warp has.

    The tile is "" where there is none of two modes, the lanes are 0 of what is not of registers.
    name: which of several encodings of a text is meant.
    """
    typed = next((one for one in reversed(find(text)) if one.name == name), None)
    if typed is None or typed.encoding.name not in registers.ENCODINGS:
        return "", 0
    extents, linear = typed.shape or tuple(shape) or _own_shape(typed), linear_of(typed, shape)
    lanes = 1 << len(linear.bases.get("lane", ()))
    if not 1 <= len(extents) <= 2 or linear.bases.get("block"):
        return "", lanes
    return "x".join(map(str, (1, *extents)[-2:])), lanes


def inputs_of(linear: Linear) -> list[tuple[str, tuple[Any, ...]]]:
    """The bits of a layout by name, in order: `lane 0` and the coordinate that it adds."""
    return [(f"{name} {n}", basis) for name, those in linear.bases.items() for n, basis in enumerate(those)]
