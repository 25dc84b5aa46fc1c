"""TTGIR -> its encodings by name, and the operations that move tiles, with where each bit of a register, lane and warp leads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from math import prod
from typing import Any

from cute_viz.algebra.transfer import Transfer, reaches, spanned
from cute_viz.errors import CuteVizError, NotationError, Span
from cute_viz.limits import limit, over
from cute_viz.notation import triton_distributed as registers
from cute_viz.notation import triton_shared as memory
from cute_viz.notation.triton import layout_of, linear_of
from cute_viz.notation.triton_linear import Linear
from cute_viz.notation.triton_text import ALIAS, Typed, find
from cute_viz.source.model import Entry, Given, Move, SourceFile
from cute_viz.values.types import named

_NAMES = (
    *("local_load", "local_store", "local_alloc", "convert_layout", "async_copy_global_to_local", "tmem_load", "tmem_store"),
    *("tmem_alloc", "tmem_copy", "tc_gen5_mma", "tc_gen5_mma_scaled", "warp_group_dot", "dot", "async_tma_copy_global_to_local"),
    *("async_tma_copy_local_to_global", "async_tma_reduce", "async_tma_gather", "async_tma_scatter"),
)
_STATEMENT = re.compile(
    rf"^[ \t]*(?:%[^=\n]+=\s*)?\"?(tt|ttg|ttng|triton_gpu|triton_nvidia_gpu)\.({'|'.join(_NAMES)})\b(?!\.)\"?"
    r"((?:[^\n]*[:,][ \t]*\n)*[^\n]*)",
    re.M,
)
_FUNCTION = re.compile(r"\b(?:tt\.func|func\.func|llvm\.func)\b[^@\n]*@([\w$.-]+)")
_TARGET = re.compile(r"\"cuda:(\d+)\"")
_AMD = re.compile(r"\"hip:(gfx\w+)\"")
_MATRIX = {"amd_mfma": "mfma", "amd_wmma": "wmma"}  # instructions of encodings
_WIDTH = re.compile(r"(?:\d+x)+!?(?:tt\.ptr<)?(\w+)")
_PLACE = re.compile(r"loc\((#[\w$.-]+)\)\s*$")
_FILE = re.compile(r'"([^"\n]+\.py)":(\d+):\d+')
_ISSUED = {"warp_group_dot": "wgmma", "tc_gen5_mma": "tcgen05.mma", "tc_gen5_mma_scaled": "tcgen05.mma.block_scale"}
_RAW = {"tmem_load": "tcgen05.ld", "tmem_store": "tcgen05.st", "tmem_alloc": "tcgen05.st", "tmem_copy": "tcgen05.cp"}


def read(text: str, given: Given) -> SourceFile:
    """The encodings of a text, for each shape that a type of it has, and what moves between them.

    Raises: NotationError for text that begins like an encoding and is not one.

    >>> blocked = "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>"
    >>> [(entry.name, str(entry.read())) for entry in read(f"#b = {blocked}\\n tensor<64xf16, #b>", Given()).entries]
    [('b', '(32,2):(2,1)')]
    """
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
        self.places = dict(re.findall(r"^(#[\w$.-]+)\s*=\s*loc\(([^\n]*)\)\s*$", text, re.M))
        self.types: dict[str, Typed | None] = {}

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
            file, line = self.source(rest)
            text = f"{found[1]}.{name} {rest.partition(' : ')[0].partition('{')[0].rstrip()}"
            read_it = partial(self.transfer, name, rest)
            yield Move("triton", line or self.text.count("\n", 0, found.start(1)) + 1, scope, "", read_it, text, file=file)

    def source(self, rest: str) -> tuple[str, int]:
        """The line of Python that an operation comes from, where its location says it."""
        found = _PLACE.search(rest)
        place = found[1] if found else ""
        for _ in range(8):
            if (there := _FILE.search(place)) is not None:
                return there[1], int(there[2])
            inner = re.search(r"#[\w$.-]+", place)
            if inner is None or inner[0] not in self.places:
                break
            place = self.places[inner[0]]
        return "", 0

    def transfer(self, name: str, rest: str) -> list[Any]:
        """What an operation moves. Raises: NotationError where its types do not say it."""
        types = self.typed(rest)
        regs = [x for x in types if x.encoding.name in registers.ENCODINGS]
        smem = [x for x in types if x.encoding.name in memory.ENCODINGS]
        bits = self.bits(rest)
        if name == "convert_layout" and len(regs) == 2:
            return [_converted(linear_of(regs[0]), linear_of(regs[1]), bits)]
        if name in ("local_load", "local_store", "local_alloc", "async_copy_global_to_local") and regs and smem:
            kind = {"local_load": "load", "async_copy_global_to_local": "async"}.get(name, "store")
            return [self.accessed(kind, regs[0], smem[-1], bits)]
        if name in _RAW and types:
            one = (regs or types)[0]
            warps = 1 << len(linear_of(one).bases.get("warp", ())) if regs else 1
            columns = max(1, prod(one.shape) * bits // 32 // (32 * warps) // 128)
            why = "each warp has 32 lanes of tensor memory to itself: it has no banks"
            each = (0,) * _log(prod(one.shape) // (32 * warps))
            return [Transfer("issued", bits, each, name=_RAW[name], count=columns * warps, why=why)]
        if name in ("dot", *_ISSUED) and len(types) > 1:
            return [self.multiplied(name, types, bits)]
        if name.startswith("async_tma"):
            size = max((prod(x.shape) for x in types), default=1)
            why = "TMA writes and reads boxes: shared memory is accessed without conflicts, in the layout of the encoding"
            return [Transfer("issued", bits, (0,) * _log(size), name=name.replace("async_tma", "tma"), count=1, why=why)]
        raise NotationError(f"the types of {name} do not determine what it moves")

    def accessed(self, kind: str, regs: Typed, smem: Typed, bits: int) -> Transfer:
        """Registers and the shared memory that they are read from or written to."""
        found, there = linear_of(regs), linear_of(smem)
        if found.sizes != there.sizes:
            raise NotationError(f"registers of {_by(found.sizes)} do not fit memory of {_by(there.sizes)}")
        steps = memory.inverse(there)

        def place(basis: tuple[int, ...]) -> int:
            out = 0
            for x, mode in zip(basis, steps, strict=True):
                for n, offset in enumerate(mode):
                    out ^= offset if x >> n & 1 else 0
            return out

        regs_, lanes, warps = (tuple(map(place, found.bases.get(key, ()))) for key in ("register", "lane", "warp"))
        matrices = not self.amd and self.arch >= (75 if kind == "load" else 90)
        return Transfer(kind, bits, regs_, lanes, warps, tuple(memory.paddings(smem.encoding)), matrices, self.amd)

    def multiplied(self, name: str, types: list[Typed], bits: int) -> Transfer:
        """A product of tiles: how many instructions all warps issue."""
        a, c = types[0], types[-1] if name != "tc_gen5_mma" else types[2 if len(types) > 2 else -1]
        m, n, k = c.shape[-2], c.shape[-1], a.shape[-1]
        fields = c.encoding.fields
        shape = fields.get("instrShape")
        if name in ("tc_gen5_mma", "tc_gen5_mma_scaled"):
            rows = int(fields.get("blockM") or (fields.get("block") or [128])[0])
            count = max(1, m // rows) * max(1, n // 256) * max(1, k * bits // 256)
            return Transfer(
                "issued", bits, name=_ISSUED[name], count=count, why="tcgen05.mma reads shared memory through descriptors"
            )
        if not isinstance(shape, list) or len(shape) < 2:
            if c.encoding.name != "blocked":
                raise NotationError(f"{c.encoding.name} needs instrShape")
            return Transfer(
                "issued", bits, name="fma", count=m * n * k // 32, why="no tensor core multiplies in this encoding: FMAs do"
            )
        kind = _MATRIX.get(c.encoding.name, "mma")
        if len(shape) < 3 and kind != "mma":
            raise NotationError(f"the type does not say how many elements of K an {kind} takes")
        depth = shape[2] if len(shape) > 2 else 256 // bits
        count = max(1, m // shape[0]) * max(1, n // shape[1]) * max(1, k // depth)
        why = "wgmma reads shared memory through descriptors" if name == "warp_group_dot" else ""
        return Transfer("issued", bits, name=_ISSUED.get(name, f"{kind}.m{shape[0]}n{shape[1]}k{depth}"), count=count, why=why)

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

    def flat(linear: Linear, *keys: str) -> tuple[int, ...]:
        steps, step = [], 1
        for size in linear.sizes:
            steps.append(step)
            step *= size
        return tuple(sum(x * s for x, s in zip(b, steps, strict=True)) for key in keys for b in linear.bases.get(key, ()))

    def alike(inner: tuple[str, ...], outer: str) -> bool:
        """Whether the same elements are in each of `outer`."""
        mine, other = spanned(flat(src, *inner)), spanned(flat(dst, *inner))
        pairs = list(zip(flat(src, outer), flat(dst, outer), strict=False))
        return mine == other and len(flat(src, outer)) == len(flat(dst, outer)) and all(reaches(mine, a ^ b) for a, b in pairs)

    warps, own = 1 << len(flat(src, "warp")), flat(src, "register")
    words = max(1, (bits << len(own)) // 32)
    registers_ = (0,) * len(own)
    within = alike(("register", "lane"), "warp")
    if within and alike(("register",), "lane"):
        return Transfer("convert", bits, registers_, name="registers", count=0, why="each thread keeps its elements: nothing moves")
    if within:
        return Transfer("convert", bits, registers_, name="shfl", count=words * warps, why="elements stay in their warp: shuffles")
    wide = max(1, words // 4)
    why = "through shared memory: stores, a barrier, loads, swizzled by Triton so that banks conflict as little as they can"
    return Transfer("convert", bits, registers_, name="st.shared + ld.shared", count=2 * wide * warps, why=why)


def _by(sizes: tuple[int, ...]) -> str:
    return "x".join(map(str, sizes))


def _log(number: int) -> int:
    return max(0, number.bit_length() - 1)
