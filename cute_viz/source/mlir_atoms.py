"""The atoms of CuTe IR by the names of the library: `!cute_nvgpu.sm80.mma<16x8x16, ...>` is SM80_16x8x16_..."""

from __future__ import annotations

import re
from typing import Any

from cute_viz.errors import AlgebraError
from cute_viz.notation.reading import Resolver
from cute_viz.values.types import ValueType, printed, unsigned

_MMA = re.compile(r"!?(?:cute_nvgpu\.)?sm(\d+)\.mma\s*<\s*(\d+)x(\d+)x(\d+)\s*(.*)>", re.S)
_COPY = re.compile(r"!?(?:cute_nvgpu\.)?atom\.(\w+)\s*<(.*)>", re.S)
_TYPES = re.compile(r"elem_type\s*=\s*\(\s*(\w+)\s*,\s*(\w+)\s*,\s*(\w+)\s*\)")
_OPTION = re.compile(r"(\w+)\s*=\s*(<[^<>]*>|\([^()]*\)|\w+)")
_SM100 = {"f16": "F16BF16", "bf16": "F16BF16", "tf32": "TF32", "i8": "S8", "u8": "S8"}


def mma_atom(text: str, resolve: Resolver | None) -> Any:
    """The atom of an MMA's type. Raises: AlgebraError for one that is not supported.

    >>> mma_atom("!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>", lambda name, args: name)
    'SM80_16x8x16_F32F16F16F32_TN'
    """
    match = _MMA.fullmatch(text)
    types = _TYPES.search(text)
    if match is None or types is None:
        raise _unknown(text)
    a, b, c = (_element(types[n]) for n in (1, 2, 3))
    shape = "x".join(match.group(2, 3, 4))
    options = {option[1]: option[2] for option in _OPTION.finditer(match[5])}
    ab = f"{a.short.upper()}{b.short.upper()}"
    source = options.get("frag_kind", "ss").upper()
    if match[1] == "80":
        return _resolved(f"SM80_{shape}_{c.short.upper()}{ab}{c.short.upper()}_TN", (), resolve, text)
    if match[1] == "90":
        ending = "" if a.bits == 16 else "_TN"
        return _resolved(f"SM90_{shape}_{c.short.upper()}{ab}_{source}{ending}", (), resolve, text)
    if match[1] == "100":
        kind = _SM100.get(types[1], "F8F6F4")
        majors = ["0" if word == "k" else "1" for word in re.findall(r"\w+", options.get("ab_major", "(k, k)"))]
        pair = "_2x1SM" if options.get("num_cta") == "2" else ""
        args = (a.cpp, b.cpp, c.cpp, match[2], match[3], *majors)
        return _resolved(f"SM100_MMA_{kind}{pair}_{source}", args, resolve, text)
    raise _unknown(text)


def copy_atom(text: str, resolve: Resolver | None) -> Any:
    """The atom of a copy's type, for values of its type. Raises: AlgebraError for one that is not supported.

    >>> copy_atom("!cute_nvgpu.atom.tma_load<f16>", None)
    Traceback (most recent call last):
    cute_viz.errors.AlgebraError: the atom cute_nvgpu.atom.tma_load is not supported
    """
    from cute_viz.algebra.copy import CopyOp, make_copy_atom

    match = _COPY.fullmatch(text)
    if match is None:
        raise _unknown(text)
    kind, inside = match[1], match[2]
    words = [word.strip() for word in re.split(r",(?![^<(]*[>)])", inside)]
    options = {option[1]: option[2] for option in _OPTION.finditer(inside)}
    element = _element(options.get("val_type", words[0]))
    name, args = _instruction(kind, words, options, element, text)
    operation = _resolved(name, args, resolve, text)
    if not isinstance(operation, CopyOp):
        raise _unknown(text)
    return make_copy_atom(operation, element.bits, element.cpp)


def _instruction(
    kind: str, words: list[str], options: dict[str, str], element: ValueType, text: str
) -> tuple[str, tuple[str, ...]]:
    """The name and the arguments of a copy instruction."""
    if kind in ("universal_copy", "simt_async_copy"):
        widths = [int(word.split()[0]) for word in words if re.fullmatch(r"\d{1,4} b", word)]
        width = unsigned(widths[0] if widths else element.bits)
        if width is None:
            raise AlgebraError(f"no instruction copies {widths[0] if widths else element.bits} bits")
        if kind == "universal_copy":
            return "UniversalCopy", (width,)
        return f"SM80_CP_ASYNC_CACHE{options.get('cache', 'always').upper()}", (width,)
    if kind in ("ldsm", "stsm") and options.get("mode", '<"(8,8)">') == '<"(8,8)">':
        count = options.get("num_matrices", "1")
        if count in ("1", "2", "4") and words[-1] in ("n", "t"):
            return f"{'stmatrix' if kind == 'stsm' else 'ldmatrix'}.x{count}{'.trans' * (words[-1] == 't')}", ()
    if kind in ("tma_load", "tma_store", "tma_reduce") and "copy_bits" in options:
        multicast = "_MULTICAST" if options.get("num_multicast", "1") not in ("0", "1") else ""
        return f"SM90_{kind.replace('reduce', 'reduce_add').upper()}{multicast}", (options["copy_bits"],)
    if kind in ("tmem_load", "tmem_store") and len(words) == 4:
        sizes = [
            re.fullmatch(pattern, word) for pattern, word in zip((r"(\d+) DP", r"(\d+) bit", r"x(\d+)"), words[1:], strict=True)
        ]
        if all(sizes):
            lanes, bits, times = (size[1] for size in sizes if size)
            return f"SM100_{kind.upper()}_{lanes}dp{bits}b{times}x", ()
    raise _unknown(text)


def _element(word: str) -> ValueType:
    element = printed(word.strip())
    if element is None:
        raise AlgebraError(f"{word.strip()[:40]!r} is not an element type")
    return element


def _resolved(name: str, args: tuple[str, ...], resolve: Resolver | None, text: str) -> Any:
    atom = resolve(name, args) if resolve else None
    if atom is None:
        raise _unknown(text)
    return atom


def _unknown(text: str) -> AlgebraError:
    return AlgebraError(f"the atom {text.split('<')[0].lstrip('!').strip()[:60]} is not supported")
