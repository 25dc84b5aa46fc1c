"""Accesses of single elements, `sV(c, r) = x`, `s[i]`: where each thread's lies, by the index and the loops around;
the block of a launch, `kernel<<<grid, block>>>(...)`, and how the arrays of its kernel are aligned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product
from math import prod
from typing import Any

from cute_viz.algebra.inttuple import leaves, map_leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import rank
from cute_viz.algebra.shares import Starts
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, CuteVizError, UncountedError
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.evaluate import CppEvaluator
from cute_viz.source.cpp.indexed import ASSIGNED, Indexed, brackets
from cute_viz.source.cpp.lookup import Lookup, opened
from cute_viz.source.cpp.scopes import Declaration, Range, Scope
from cute_viz.source.cpp.slices import known_part, split
from cute_viz.source.cpp.tree import Brace, CppCall, Id, Node
from cute_viz.source.cpp.turns import Turns
from cute_viz.source.cpp.unknown import tried
from cute_viz.source.cpp.uses import RUNTIME, Use, launch_call
from cute_viz.source.cpp.values import Value, finished, integer
from cute_viz.values.integer import Unknown
from cute_viz.values.pointer import Pointer
from cute_viz.values.types import bits_of

_BARRIER = re.compile("sync|barrier|wait|arrive|volatile", re.IGNORECASE)
_TURNS = 256  # rounds that are counted one by one
_UNROLLED = 64  # rounds of loops that a compiler unrolls
_WIDEST = 128  # bits
_LANES = 32


def array_of(evaluator: CppEvaluator, x: Declaration) -> Tensor:
    """An array in shared memory as C++ places its elements, the last index the contiguous one. The first extent of one of
    dynamic size, `extern __shared__ float s[]`, is what only a launch knows; no place depends on it. Raises: AlgebraError for
    another extent that is left out; the error of one that cannot be evaluated."""
    context = evaluator.context
    kind = evaluator.value(context.tree(x.type)) if x.type is not None else None
    parts, _ = brackets(context.reader, x.token)
    if any(a == b for a, b in parts[1:]):
        raise AlgebraError(f"the extents of {x.name} are not known").but(name=x.name)
    extents: list[Any] = [int(integer(evaluator.solid(context.tree((a, b))))) if a < b else Unknown("?") for a, b in parts]
    strides = [prod(extents[n + 1 :]) for n in range(len(extents))]
    whole = Layout(*((one[0] if len(one) == 1 else tuple(one)) for one in (extents, strides)))
    return Tensor(Pointer("smem", kind, base=x.name, name=x.name), mark_static(whole))


def _beside(context: Context, access: Indexed, function: Scope) -> str:
    """Which statement makes a compiler keep an element in a register, "" for none: without a barrier between, it stores the same
    element after a store, or has it before a load."""
    reader, tokens = context.reader, context.reader.tokens
    text = [token.text for token in tokens[access.token : access.place.close]]
    opening = reader.find(function.token, ("{", ";"))
    begin, end = opening, reader.match[opening]
    places = range(reader.find(access.token, (";",)), end) if access.store else range(access.token - 1, begin, -1)
    for n in places:
        if _BARRIER.search(tokens[n].text):
            return ""
        if [token.text for token in tokens[n : n + len(text)]] != text:
            continue
        if not access.store or (tokens[n + len(text)].text in ASSIGNED):
            return f"line {context.line(n)}"
    return ""


_Lookups = Callable[[Context], Lookup]


def reader_of(context: Context, lookup: _Lookups, scope: Scope, function: Scope, access: Indexed) -> list[Tensor]:
    """The tensor of the elements that all threads access, for each round of the loops where they may differ; the innermost
    loops, which a compiler unrolls, are its modes. Nothing of registers. Raises: CuteVizError for what the index depends on and
    nobody knows, and where nobody knows what a compiler takes at once, with the buffer as its name where the tensor is known."""
    context.deep = 0
    if access.why:
        raise UncountedError(access.why, name=access.name)
    if (x := _tensor(context, lookup(context), scope, access)) is None:
        return []
    try:
        return list(_iterations(context, lookup, scope, function, access, x))
    except CuteVizError as error:
        error = error if x.pointer.space == "smem" else UncountedError(error.message, hint=error.hint)
        raise error.but(name=x.pointer.base or access.name) from None


def _iterations(context: Context, lookup: _Lookups, scope: Scope, function: Scope, access: Indexed, x: Tensor) -> Iterator[Tensor]:
    found = lookup(context)
    block = block_of(context, found, function) or ((len(x.starts), 1, 1) if x.starts else None)
    if block is None:
        named = directions(context.reader, function)
        few = {"x": 32, "y": 8, "z": 1} if named != "x" else {"x": 256}
        hint = f"give it: {' '.join(f'`let=blockDim.{d}={few[d]}`' for d in named)}"
        raise AlgebraError("how many threads the block has is not known: nothing here launches the kernel", hint=hint)
    if x.part is None and not x.pointer.placed and not _is_uniform(context, lookup, scope, access, x, block):
        raise AlgebraError(f"where {access.name} begins depends on the thread")
    turns = Turns(context, found, scope, access.token, block, access.tests)
    by = access.by
    if by is None and (beside := _beside(context, access, function)):
        raise UncountedError(f"no barrier is between this and {beside}: a compiler may keep the element in a register")
    evaluator = CppEvaluator(context, found, turns.env)
    place = access.place
    each = _elements_of(evaluator, context, place.cast, x.bits) if place.cast is not None else 1
    each = each if by is None else max(1, by.bits // x.bits)
    parts = [finished(evaluator.solid(context.tree(part))) for part in place.indices]
    parts += [0] * (rank(x.layout) - len(parts) if place.cast is not None else 0)
    step = finished(evaluator.solid(context.tree(place.step))) if place.step is not None else 0
    crd = (tuple(parts), step)
    used, asked, loops = turns.used(leaves(crd)), turns.asked(), turns.loops
    for n, (begin, end) in enumerate(turns.spans):
        steady = by is None and not used[n] and not asked[n] and loops[n].rounds != 1
        if steady and not any(_BARRIER.search(token.text) for token in context.reader.tokens[begin:end]):
            raise UncountedError("the loop around it has no barrier: a compiler may keep the element in a register")
    first = len(loops)
    while (
        first
        and by is None
        and used[first - 1]
        and not asked[first - 1]
        and loops[first - 1].rounds is not None
        and prod(len(loop.values) for loop in loops[first - 1 :]) <= _UNROLLED
    ):
        first -= 1
    if x.starts and len(x.starts) < turns.count:
        raise AlgebraError(f"{access.name} is divided among {len(x.starts)} threads, and the block has {turns.count}")
    places = _Places(x, crd, each, turns)
    align = 0 if access.both else alignment_of(context, found, scope, x.pointer.base, access.store, x.bits)
    if (place.cast is not None or by is not None) and (x.swizzle is not None or x.pointer.swizzle is not None):
        raise UncountedError("the neighbors of a swizzled element are other ones")
    if align != 0 and each == 1 and first == len(loops) and loops and used[-1] and not asked[-1] and len(loops[-1].values) > 1:
        one, two = (places.of(dict.fromkeys(range(first - 1), 0) | {first - 1: v}) for v in loops[-1].values[:2])
        if any(0 < abs(b - a) * x.bits < _WIDEST for a, b in zip(one, two, strict=True)):
            raise UncountedError("how many neighbors a compiler takes at once is not known: the loop is not unrolled")
    varied = [n for n in range(first) if used[n] or asked[n]]
    count = prod(len(loops[n].values) for n in varied)
    summed = count <= _TURNS and all(loops[n].rounds is not None for n in varied)
    taken = (*(varied if summed else ()), *range(first, len(loops)))
    met = set()
    for turn in islice(product(*(loop.values if n in varied else loop.values[:1] for n, loop in enumerate(loops[:first]))), _TURNS):
        at = dict(enumerate(turn))
        active = turns.active(at | {n: loops[n].values[0] for n in range(first, len(loops))})
        lane = next((n for n, takes in enumerate(active) if takes), None)
        if lane is None:
            continue
        table = [places.of(at | dict(enumerate(inside, first))) for inside in product(*(loop.values for loop in loops[first:]))]
        table = [[place if takes else row[lane] for place, takes in zip(row, active, strict=True)] for row in table]
        if by is not None and by.lanes < _LANES:  # the others' addresses are not read
            table = [[row[n // _LANES * _LANES + n % by.lanes] for n in range(len(row))] for row in table]
        layout = _layout([row[lane] - table[0][lane] for row in table])
        if layout is None or any(b - a != row[lane] - table[0][lane] for row in table for a, b in zip(table[0], row, strict=True)):
            raise AlgebraError("the elements of the innermost loop form no layout")
        if each > 1:
            layout = mark_static(Layout((each, layout.shape), (1, layout.stride)))
        shift = table[0][lane] if x.swizzle is None and x.pointer.swizzle is None else 0
        met.add((layout, active, *(place - shift for place in table[0])))
        if not summed and len(met) > 1:
            raise AlgebraError("the elements differ from round to round, and how many rounds there are is not known")
        part = Starts(
            tuple(table[0]),
            () if all(active) else active,
            x.root,
            frozenset(n - len(loops) for n in taken),
            align,
            summed,
            turns.sure,
            tuple(turns.assumed),
            each,
            "" if by is None else by.name,
        )
        yield replace(x, layout=layout, part=part)


def _elements_of(evaluator: CppEvaluator, context: Context, cast: Range, bits: int) -> int:
    """How many elements are accessed at once by the type of a cast."""
    wide = tried(lambda: bits_of(str(evaluator.value(context.tree(cast)))), None)
    if wide is None:
        raise UncountedError(f"the type of its cast, {context.reader.words(cast)}, is not known")
    return max(1, wide // bits)


def _layout(table: list[int]) -> Layout | None:
    """The static layout of so many offsets, the last loop's first; None where there is none."""
    modes: list[tuple[int, int]] = []
    while len(table) > 1:
        step = table[1] - table[0]
        run = next((n for n, place in enumerate(table) if place != table[0] + n * step), len(table))
        if len(table) % run or any(table[n] != table[n - n % run] + n % run * step for n in range(len(table))):
            return None
        modes.append((run, step))
        table = table[::run]
    shape, stride = zip(*modes, strict=True) if modes else ((1,), (0,))
    found: Layout = mark_static(Layout(*(x[0] if len(x) == 1 else x for x in (shape, stride))))
    return found


def _tensor(context: Context, lookup: Lookup, scope: Scope, access: Indexed) -> Tensor | None:
    """What is indexed; None of what is not in shared or global memory."""
    env = opened(context, scope)
    declaration = lookup.declared(access.name, env, access.token)
    evaluator = CppEvaluator(context, lookup, env)
    if declaration is not None and declaration.array:
        whole = array_of(evaluator, declaration)
        if len(access.place.indices) not in range(0 if access.place.cast else rank(whole.layout), rank(whole.layout) + 1):
            raise AlgebraError(f"the extents of {access.name} are not known").but(name=access.name)
        return whole
    x = finished(split(known_part(evaluator.solid(context.tree((access.token, access.token + 1))), [])))
    if not isinstance(x, Tensor) or x.pointer.space not in ("smem", "gmem") or not isinstance(x.layout, Layout):
        return None
    return replace(x, pointer=replace(x.pointer, name=x.pointer.name or access.name))


def _is_uniform(context: Context, lookup: _Lookups, scope: Scope, access: Indexed, x: Tensor, block: Sequence[int]) -> bool:
    """Whether a view begins at the same place in every thread: asked of as many as differ in one bit of the index."""
    for n, extent in enumerate(block):
        for thread in [1 << bit for bit in range((extent - 1).bit_length())]:
            let = {**context.given.let, "threadIdx.x": 0, "threadIdx.y": 0, "threadIdx.z": 0, f"threadIdx.{'xyz'[n]}": thread}
            other = Context(context.reader, replace(context.given, let=let))
            other.chosen, other.facts, other.assumed, other.own = context.chosen, context.facts, {}, context.own
            found = _tensor(other, lookup(other), scope, access)
            if found is None or found.offset != x.offset:
                return False
    return True


class _Places:
    """How far behind a tensor's beginning each thread's element lies. crd: the coordinate, and how many times `each` elements
    behind it, with integers that only runs know."""

    def __init__(self, x: Tensor, crd: Value, each: int, turns: Turns) -> None:
        self.x, self.crd, self.each, self.turns = x, crd, each, turns
        self.starts = (x.starts or (0,) * turns.count)[: turns.count]
        self.places: dict[Any, int] = {}

    def of(self, turn: Mapping[int, int]) -> list[int]:
        """In one turn. Raises: the error of an index that depends on more than threads and loops."""
        columns = [self.turns.spread(self.turns.numbers(leaf, turn)) for leaf in leaves(self.crd)]
        for at in set(zip(*columns, strict=True)) - self.places.keys():
            numbers = iter(at)
            crd, step = map_leaves(lambda _, left=numbers: next(left), self.crd)
            self.places[at] = int(self.x.layout(*crd)) + step * self.each
        return [begin + self.places[at] for begin, at in zip(self.starts, zip(*columns, strict=True), strict=False)]


_FAR = 400  # tokens between the name of a kernel and its launch


def block_of(context: Context, lookup: Lookup, function: Scope) -> tuple[int, int, int] | None:
    """The threads of a block in each direction, as the launch of a kernel, or who asks, has them; None where nobody knows."""
    let = context.given.let
    if "blockDim.x" in let and all(f"blockDim.{d}" in let for d in directions(context.reader, function)):
        given = [str(let.get(f"blockDim.{d}", 1)) for d in "xyz"]
        if all(map(str.isdecimal, given)):
            return int(given[0]), int(given[1]), int(given[2])
    return dims_of(context, lookup, function, 1)


def dims_of(context: Context, lookup: Lookup, function: Scope, which: int) -> tuple[int, int, int] | None:
    """The grid (0), the block (1) or the bytes of shared memory (2) that a kernel is launched with; None where nobody knows."""
    use = context.chosen.get(function)
    parts = launch_parts(context.reader, use) if use is not None else []
    if use is None or len(parts) <= which:
        return None
    evaluator = CppEvaluator(context, lookup, opened(context, use.scope))
    try:
        found = _extents(evaluator, context, context.tree(parts[which]), use)
    except CuteVizError:
        return None
    numbers = [int(x) for x in found if isinstance(x, int)]
    return (*numbers, 1, 1)[:3] if numbers and len(numbers) == len(found) else None  # type: ignore[return-value]


def directions(reader: Declarer, function: Scope) -> str:
    """The directions of a block that a function names, `x` among them."""
    tokens, at = reader.tokens, function.token
    end = reader.match[at] if tokens[at].kind == "{" else reader.match[reader.find(at, ("{",))]
    named = {tokens[n + 2].text for n in range(at, end) if tokens[n].text in ("threadIdx", "blockDim")}
    return "".join(d for d in "xyz" if d == "x" or d in named)


def _extents(evaluator: CppEvaluator, context: Context, node: Node, use: Use) -> list[Value]:
    """The numbers of a `dim3`, or the one of an integer."""
    match node:
        case CppCall(function=Id(text="dim3"), args=args) | Brace(type=Id(text="dim3"), args=args):
            return [evaluator.solid(arg) for arg in args]
        case Id(text=name):
            declaration = evaluator.lookup.declared(name, evaluator.env, use.token)
            init = declaration.init if declaration is not None else None
            if declaration is not None and init is not None and declaration.opens in ("(", "{"):
                return [evaluator.solid(context.tree(part)) for part in context.reader.split(*init)]
            if init is not None and isinstance(inner := context.tree(init), (CppCall, Brace)):
                return _extents(evaluator, context, inner, use)
    return [evaluator.solid(node)]


def launch_parts(reader: Declarer, use: Use) -> list[Range]:
    """The tokens of each argument in `kernel<<<grid, block>>>(...)`, also of a variable that holds the kernel."""
    tokens, begin, name = reader.tokens, use.token, ""
    while tokens[begin - 1].text in ("&", "(", ")", "*", "void", "const"):
        begin -= 1
    if tokens[begin - 1].text == "=" and tokens[begin - 2].kind == "name":  # a variable that is launched
        name = tokens[begin - 2].text
    held = [n for n in reader.places().get(name, ()) if n > use.token] if name else [use.token]
    for place in held:
        behind = reader.angles(place + 1) if tokens[place + 1].kind == "<" else place + 1
        word, parts = launch_call(reader, place, behind or place + 1)
        if word in RUNTIME:
            return parts
    end = min(len(tokens), use.token + (_FAR if not name else len(tokens)))
    at = next((n for n in range(use.token, end) if tokens[n].kind == "<<<" and name in ("", tokens[n - 1].text)), None)
    if at is None:
        return []
    close = at + 1
    while close < end and not all(tokens[close + n].kind == ">" for n in range(3)):
        close = reader.match[close] + 1 if tokens[close].kind in ("(", "[", "{") else close + 1
    return [(a, b) for a, b in reader.split(at + 1, close) if a < b]


def alignment_of(context: Context, lookup: Lookup, scope: Scope, base: str, store: bool, bits: int) -> int | None:
    """To how many bytes an array is known to be aligned by what merges accesses; None of what is not an array of the function.
    Where nothing is declared, ptxas places it, and takes neighboring words at once that are loaded, but none that are stored."""
    declaration = lookup.declared(base, opened(context, scope), None) if base.isidentifier() else None
    if declaration is None or not declaration.array:
        return None
    evaluator = CppEvaluator(context, lookup, opened(context, scope))
    tokens, at = context.reader.tokens, declaration.token
    while tokens[at].kind not in (";", "{", "}") and at > 0:
        if tokens[at].text in ("alignas", "__align__"):
            value = tried(partial(evaluator.solid, context.tree((at + 2, context.reader.match[at + 1]))), None)
            return int(value) if isinstance(value, int) else None
        at -= 1
    return 0 if store or bits < 32 else 16
