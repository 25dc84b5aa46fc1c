"""TTGIR -> its encodings by name, and the operations that move tiles, with where each bit of a register, lane and warp leads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial, reduce
from itertools import product
from math import prod
from operator import xor
from typing import Any

from cute_viz.algebra.transfer import Transfer, reaches, spanned
from cute_viz.errors import CuteVizError, NotationError, Span
from cute_viz.limits import limit, over
from cute_viz.notation import triton_distributed as registers
from cute_viz.notation import triton_shared as memory
from cute_viz.notation.triton import layout_of, linear_of
from cute_viz.notation.triton_linear import Linear
from cute_viz.notation.triton_text import ALIAS, Typed, find
from cute_viz.source.mlir_moves import locations, python_line
from cute_viz.source.model import Entry, Given, SourceFile
from cute_viz.source.moves import Move
from cute_viz.values.types import named

_TMEM = "each warp has 32 lanes of tensor memory to itself: it has no banks"
_TMA = "TMA writes and reads boxes: shared memory is accessed without conflicts, in the layout of the encoding"
_UMMA = "tcgen05.mma reads shared memory through descriptors"
# Operations, by what reads their types; the kind of a transfer, or the instruction; and why it is counted so.
_OPERATIONS = {
    "convert_layout": ("converted", "", ""),
    "local_load": ("accessed", "load", ""),
    **dict.fromkeys(("local_store", "local_alloc"), ("accessed", "store", "")),
    **dict.fromkeys(("async_copy_global_to_local", "buffer_load_to_local"), ("accessed", "async", "")),
    "tmem_load": ("by_warps", "tcgen05.ld", _TMEM),
    **dict.fromkeys(("tmem_store", "tmem_alloc"), ("by_warps", "tcgen05.st", _TMEM)),
    "tmem_copy": ("by_warps", "tcgen05.cp", _TMEM),
    "dot": ("multiplied", "", ""),
    "warp_group_dot": ("multiplied", "wgmma", "wgmma reads shared memory through descriptors"),
    "tc_gen5_mma": ("multiplied", "tcgen05.mma", _UMMA),
    "tc_gen5_mma_scaled": ("multiplied", "tcgen05.mma.block_scale", _UMMA),
    **{
        f"async_{unit}_{word}": ("boxed", f"{unit}_{word}", _TMA)
        for unit, word in product(("tma", "tdm"), ("copy_global_to_local", "copy_local_to_global", "reduce", "gather", "scatter"))
    },
}
_STATEMENT = re.compile(
    rf"^[ \t]*(?:%[^=\n]+=\s*)?\"?(tt|ttn?g|amdg|triton_gpu|triton_nvidia_gpu)\.({'|'.join(_OPERATIONS)})\b(?!\.)\"?"
    r"((?:[^\n]*[:,][ \t]*\n)*[^\n]*)",
    re.M,
)
_FUNCTION = re.compile(r"\b(?:tt\.func|func\.func|llvm\.func)\b[^@\n]*@([\w$.-]+)")
_TARGET = re.compile(r"\"cuda:(\d+)\"")
_AMD = re.compile(r"\"hip:(gfx\w+)\"")
_MATRIX = {"amd_mfma": "mfma", "amd_wmma": "wmma"}  # instructions of encodings
_WIDTH = re.compile(r"(?:\d+x)+!?(?:tt\.ptr<)?(\w+)")
_PLACE = re.compile(r"loc\((#[\w$.-]+)\)\s*$")


def read(text: str, given: Given) -> SourceFile:
    """The encodings of a text, for each shape that a type of it has, and what moves between them. Raises: NotationError for text
    that begins like an encoding and is not one."""
    if len(text) > limit("log"):
        raise over("log", f"the text has {len(text)} characters")
    reader = _TtgirReader(text)
    return SourceFile(text, tuple(reader.entries()), moves=lambda: tuple(reader.moves()), given=given, compiled=True)


class _TtgirReader:
    def __init__(self, text: str) -> None:
        self.text = text
        found = _TARGET.search(text)
        self.arch = int(found[1]) if found else 80
        amd = _AMD.search(text)
        self.amd = amd[1] if amd else ""
        self.places = locations(text)

    def entries(self) -> Iterator[Entry]:
        """An entry for each encoding and shape, by its name in the text."""
        seen: dict[tuple[Any, ...], None] = {}
        every = sorted(find(self.text, every=True), key=lambda typed: typed.encoding.span.start)
        for typed in every:
            key = (self.text[typed.encoding.span.start : typed.encoding.span.end], typed.shape, typed.name)
            if key in seen or not typed.encoding.fields:
                continue
            seen[key] = None
            shapes = {x.shape for x in every if x.encoding.span == typed.encoding.span}
            name = typed.name or typed.encoding.name
            name += "_" + "x".join(map(str, typed.shape)) if len(shapes) > 1 or not typed.name else ""
            span = typed.encoding.span
            line = self.text.count("\n", 0, span.start) + 1
            yield Entry(name, (), Span(span.start, span.start + 1), line, partial(self.value, typed))

    def value(self, typed: Typed) -> Any:
        """The layout of an encoding. Raises: its error, at its place."""
        try:
            return layout_of(typed)
        except CuteVizError as error:
            raise error.at(self.text, typed.encoding.span) from None

    def moves(self) -> Iterator[Move]:
        """The operations that move or multiply tiles."""
        functions = [(found.start(), found[1]) for found in _FUNCTION.finditer(self.text)]
        for found in _STATEMENT.finditer(self.text):
            name, rest = found[2], " ".join(found[3].split())  # types may stand in lines of their own
            if name in ("local_alloc", "tmem_alloc") and re.match(r"\s*(?:\{[^}]*\}\s*)?:\s*\(\)", rest):
                continue  # memory that nothing is written to
            scope = tuple(name for start, name in functions if start < found.start())[-1:]
            place = _PLACE.search(rest)
            file, line = python_line(place[1] if place else "", self.places)
            text = f"{found[1]}.{name} {rest.partition(' : ')[0].partition('{')[0].rstrip()}"
            read_it = partial(self.transfer, name, rest)
            yield Move("triton", line or self.text.count("\n", 0, found.start(1)) + 1, scope, "", read_it, text, file=file)

    def transfer(self, name: str, rest: str) -> list[Any]:
        """What an operation moves. Raises: NotationError where its types do not say it."""
        types, bits = self.typed(rest), self.bits(rest)
        how, *words = _OPERATIONS[name]
        if (found := getattr(self, how)(types, bits, *words)) is None:
            raise NotationError(f"the types of {name} do not determine what it moves")
        return [found]

    def converted(self, types: list[Typed], bits: int, *_: str) -> Transfer | None:
        """Registers in one layout and in another."""
        regs = _registers(types)
        return _converted(linear_of(regs[0]), linear_of(regs[1]), bits) if len(regs) == 2 else None

    def boxed(self, types: list[Typed], bits: int, name: str, why: str) -> Transfer:
        """A tile that one thread has copied."""
        return _issued(bits, name, 1, why, max((prod(x.shape) for x in types), default=1))

    def by_warps(self, types: list[Typed], bits: int, name: str, why: str) -> Transfer | None:
        """Tensor memory that each warp reads or writes its lanes of."""
        if not types:
            return None
        regs = _registers(types)
        size, warps = prod((regs or types)[0].shape), 1 << len(linear_of(regs[0]).bases.get("warp", ())) if regs else 1
        return _issued(bits, name, max(1, size * bits // 32 // (32 * warps) // 128) * warps, why, size // (32 * warps))

    def accessed(self, types: list[Typed], bits: int, kind: str, _: str) -> Transfer | None:
        """Registers and the shared memory that they are read from or written to."""
        regs, smem = _registers(types), [x for x in types if x.encoding.name in memory.ENCODINGS]
        if not regs or not smem:
            return None
        found, there = linear_of(regs[0]), linear_of(smem[-1])
        if found.sizes != there.sizes:
            raise NotationError(f"registers of {_by(found.sizes)} do not fit memory of {_by(there.sizes)}")
        steps = memory.inverse(there)

        def place(basis: tuple[int, ...]) -> int:
            offsets = (offset for x, mode in zip(basis, steps, strict=True) for n, offset in enumerate(mode) if x >> n & 1)
            return reduce(xor, offsets, 0)

        regs_, lanes, warps = (tuple(map(place, found.bases.get(key, ()))) for key in ("register", "lane", "warp"))
        matrices = not self.amd and self.arch >= (75 if kind == "load" else 90)
        return Transfer(kind, bits, regs_, lanes, warps, tuple(memory.paddings(smem[-1].encoding)), matrices, self.amd)

    def multiplied(self, types: list[Typed], bits: int, name: str, why: str) -> Transfer | None:
        """A product of tiles: how many instructions all warps issue, or one thread does."""
        if len(types) < 2:
            return None
        a, c = types[0], types[2 if name == "tcgen05.mma" and len(types) > 2 else -1]
        (m, n), k, fields, kind = c.shape[-2:], a.shape[-1], c.encoding.fields, _MATRIX.get(c.encoding.name, "mma")
        shape = fields.get("instrShape", [16, 16, 16] if c.encoding.name == "amd_wmma" else None)
        if name.startswith("tcgen05"):
            shape = [int(fields.get("blockM") or (fields.get("block") or [128])[0]), 256]
        if not isinstance(shape, list) or len(shape) < 2:
            if c.encoding.name != "blocked":
                raise NotationError(f"{c.encoding.name} needs instrShape")
            return _issued(bits, "fma", m * n * k // 32, "no tensor core multiplies in this encoding: FMAs do")
        if len(shape) < 3 and kind != "mma":
            raise NotationError(f"the type does not determine how many elements of K an {kind} takes")
        steps = (*shape, 256 // bits)[:3]
        count = prod(max(1, whole // step) for whole, step in zip((m, n, k), steps, strict=True))
        return _issued(bits, name or "{}.m{}n{}k{}".format(kind, *steps), count, why)

    def typed(self, rest: str) -> list[Typed]:
        """The types of an operation that have encodings, in their order; `<8x8xf16, #a>` without a name is a memdesc."""
        head = self.text[: m.start()] if (m := re.search(r"^(?:module|tt\.func)\b", self.text, re.M)) else self.text
        aliases = "\n".join(line for line in head.splitlines() if ALIAS.match(line))
        types = rest[rest.rfind(" : ") :] if " : " in rest else rest
        return [x for x in find(f"{aliases}\n{types}") if x.shape]

    def bits(self, rest: str) -> int:
        """The width of the elements that an operation moves. Raises: NotationError where no type says it."""
        found = _WIDTH.search(rest[rest.rfind(" : ") :])
        kind = named({"i1": "i8"}.get(found[1], found[1])) if found is not None else None
        number = re.fullmatch(r"[a-z]+(\d+)\w*", found[1]) if found is not None else None
        if kind is None and number is None:
            raise NotationError("the element type of this operation is unknown")
        return kind.bits if kind is not None else int(number[1]) if number else 8


def _converted(src: Linear, dst: Linear, bits: int) -> Transfer:
    """How a conversion moves its elements: within threads, within warps, or through shared memory."""

    def alike(inner: tuple[str, ...], outer: str) -> bool:
        """Whether the same elements are in each of `outer`."""
        mine, ours, theirs = spanned(src.flat(*inner)), src.flat(outer), dst.flat(outer)
        same = mine == spanned(dst.flat(*inner)) and len(ours) == len(theirs)
        return same and all(reaches(mine, a ^ b) for a, b in zip(ours, theirs, strict=True))

    warps, own = 1 << len(src.flat("warp")), 1 << len(src.flat("register"))
    words = max(1, bits * own // 32)
    within = alike(("register", "lane"), "warp")
    if within and alike(("register",), "lane"):
        how, count, why = "registers", 0, "each thread keeps its elements: nothing moves"
    elif within:
        how, count, why = "shfl", words * warps, "elements stay in their warp: shuffles"
    else:
        how, count = "st.shared + ld.shared", 2 * max(1, words // 4) * warps
        why = "through shared memory: stores, a barrier, loads, swizzled by Triton so that banks conflict as little as they can"
    return replace(_issued(bits, how, count, why, own), kind="convert")


def _issued(bits: int, name: str, count: int, why: str, elements: int = 1) -> Transfer:
    """So many instructions of a name. elements: of a thread."""
    return Transfer("issued", bits, (0,) * max(0, elements.bit_length() - 1), name=name, count=count, why=why)


def _registers(types: list[Typed]) -> list[Typed]:
    return [x for x in types if x.encoding.name in registers.ENCODINGS]


def _by(sizes: tuple[int, ...]) -> str:
    return "x".join(map(str, sizes))
