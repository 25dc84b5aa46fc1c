"""Accesses of single elements, `sV(c, r) = x`, `s[i]`: where each thread's lies, by the index and the loops around; how the arrays
of a kernel are aligned.
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
from cute_viz.algebra.modes import take
from cute_viz.algebra.shares import Starts
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, CuteVizError, UncountedError
from cute_viz.source.cpp.aliases import Pointed, array_of, place_of
from cute_viz.source.cpp.context import Context, function_of
from cute_viz.source.cpp.evaluate import CppEvaluator
from cute_viz.source.cpp.fields import ALIGNS, field_of, others
from cute_viz.source.cpp.indexed import Indexed
from cute_viz.source.cpp.launched import block_of, directions
from cute_viz.source.cpp.lookup import Lookup, opened
from cute_viz.source.cpp.pointed import KERNEL, meant, overloads, says
from cute_viz.source.cpp.scopes import Range, Scope
from cute_viz.source.cpp.shared import ASSIGNED, is_shared, is_single
from cute_viz.source.cpp.slices import known_part, split
from cute_viz.source.cpp.tree import Id
from cute_viz.source.cpp.turns import Turns
from cute_viz.source.cpp.unknown import attempted, tried
from cute_viz.source.cpp.values import Class, Value, finished
from cute_viz.source.moves import ADDRESS
from cute_viz.values.types import bits_of

_BARRIER = re.compile("sync|barrier|wait|arrive|volatile", re.IGNORECASE)
_TURNS = 256  # rounds that are counted one by one
_UNROLLED = 64  # rounds of loops that a compiler unrolls
_WIDEST = 128  # bits
_LANES = 32


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
    if access.why and access.place.field is not None:
        raise AlgebraError(f"a reference to a member of {access.name}, or a part of one, goes elsewhere").but(name=access.name)
    if access.why:
        raise UncountedError(access.why, name=access.name)
    if (found := _tensor(context, lookup(context), scope, access)) is None:
        return []
    x, plain = found
    try:
        _check_calls(context, lookup(context), function)
        x, fields = field_of(CppEvaluator(context, lookup(context), opened(context, scope)), x, access)
        return list(_iterations(context, lookup, scope, function, access, x, plain, fields))
    except CuteVizError as error:
        if error.needs[:1] and error.needs[0].startswith("threadIdx"):
            words = ", ".join(context.reader.words(part) for part in (*access.place.indices, *access.place.inner))
            error = AlgebraError(f"how {words} is computed of {error.needs[0]} is not followed")
        declared = lookup(context).declared(access.name, opened(context, scope), access.token)
        alone = declared is not None and is_shared(context.reader, declared) and not (declared.array or access.place.indices)
        error = error if x.pointer.space == "smem" and not alone else UncountedError(error.message, hint=error.hint)
        raise error.but(name=x.pointer.base or access.name) from None


def _iterations(
    context: Context, lookup: _Lookups, scope: Scope, function: Scope, access: Indexed, x: Tensor, plain: bool, fields: int
) -> Iterator[Tensor]:
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
    came, sure, assumed = _arrived(context, found, function, block)
    by = access.by
    if by is None and (beside := _beside(context, access, function)):
        raise UncountedError(f"no barrier is between this and {beside}: a compiler may keep the element in a register")
    evaluator = CppEvaluator(context, found, turns.env)
    place = access.place
    each = _elements_of(evaluator, context, place.cast, x.bits) if place.cast is not None else 1
    each = each if by is None else max(1, by.bits // x.bits)
    parts = [finished(evaluator.solid(context.tree(part))) for part in place.indices]
    step = finished(evaluator.solid(context.tree(place.step))) if place.step is not None else 0
    alias = _alias(evaluator, access) if plain else None
    least = rank(x.layout) if place.cast is not None or place.deref else len(parts)
    parts += [0] * (least - len(parts)) if alias is None else [*[0] * (len(alias.steps) - len(parts)), alias.tensor("")[1]]
    parts += [finished(evaluator.solid(context.tree(part))) for part in place.inner]
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
    places, several = _Places(x, crd, each, turns), others(context.reader, access, function)
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
        active = active if came is None else tuple([a and b for a, b in zip(active, came, strict=True)])
        lane = next((n for n, takes in enumerate(active) if takes), None)
        if lane is None:
            continue
        table = [places.of(at | dict(enumerate(inside, first))) for inside in product(*(loop.values for loop in loops[first:]))]
        table = [[place if takes else row[lane] for place, takes in zip(row, active, strict=True)] for row in table]
        if by is not None and by.lanes < _LANES:  # the others' addresses are not read
            table = [[row[n // _LANES * _LANES + n % by.lanes] for n in range(len(row))] for row in table]
        if several and all((b - row[lane]) % 2 == 0 for row in table for b in row):  # it may be aligned to two of them
            raise AlgebraError(f"how many members of an element of {access.name} a compiler takes at once is not known")
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
            x.root if fields == 1 else _whole(x.layout, len(place.inner), fields),
            frozenset(n - len(loops) for n in taken),
            align,
            summed,
            turns.sure and sure,
            (*assumed, *turns.assumed),
            each,
            "" if by is None else by.name,
            fields,
        )
        yield replace(x, layout=layout, part=part)


def _arrived(
    context: Context, lookup: Lookup, function: Scope, block: tuple[int, int, int]
) -> tuple[tuple[bool, ...] | None, bool, list[str]]:
    """Which threads come to a function from its kernel, None for all; whether all conditions around its calls are known, and those
    that are taken to hold. Raises: AlgebraError where the round of a loop decides."""
    out, sure, assumed = None, True, list[str]()
    while not says(context.reader, function, KERNEL) and (use := context.chosen.get(function)) is not None:
        turns = Turns(context, lookup, use.scope, use.token, block)
        if any(turns.asked()):
            raise AlgebraError("which threads call its function depends on the round of a loop")
        sure, assumed = sure and turns.sure, [*turns.assumed, *assumed]
        if turns.tests:
            here = turns.active({n: loop.values[0] for n, loop in enumerate(turns.loops) if loop.values})
            out = here if out is None else tuple([a and b for a, b in zip(out, here, strict=True)])
        if (caller := function_of(use.scope)) is None:
            break
        function = caller
    return out, sure, assumed


def _whole(x: Layout, inner: int, fields: int) -> Layout:
    """The layout of all that elements have, of which a layout is that of one member and its indices."""
    outer: Any = x if inner == 0 else take(x, 0, rank(x) - inner)
    return Layout((outer.shape, fields), (outer.stride, 1))


def _check_calls(context: Context, lookup: Lookup, function: Scope) -> None:
    """Raises: AlgebraError for a function that calls itself, and for one of a template whose specialisations have others."""
    reader = context.reader
    tokens = reader.tokens
    host = (n for n, x in enumerate(context.chosen, 1) if says(reader, x, KERNEL))
    for each in dict.fromkeys((function, *islice(context.chosen, next(host, None)))):
        opening = reader.find(each.token, ("{", ";"))
        named = (n for n in reader.places().get(each.name, ()) if opening < n < reader.match[opening])
        if any(tokens[n + 1].kind in ("(", "<") and tokens[n - 1].kind != "::" for n in named):
            raise AlgebraError(f"{each.name} calls itself, and how often is not known")
        use, evaluator = context.chosen.get(each), CppEvaluator(context, lookup, context.root)
        if use is not None and use.called and len(overloads(each)) > 1 and len(meant(evaluator, each, use)) > 1:
            raise AlgebraError(f"which of the functions {each.name} is called is not known")
        owner = each.parent
        if owner is not None and owner.kind == "class" and (owner.parent, owner.name) in reader.specialisations:
            raise AlgebraError(f"which specialisation of {owner.name} is called is not known")


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


def _tensor(context: Context, lookup: Lookup, scope: Scope, access: Indexed) -> tuple[Tensor, bool] | None:
    """What is indexed, and whether a pointer or a member says where it begins; None of what is not in shared or global memory."""
    env = opened(context, scope)
    declaration = lookup.declared(access.name, env, access.token)
    evaluator = CppEvaluator(context, lookup, env)
    if declaration is not None and declaration.array and access.place.member == access.token + 1:
        whole = array_of(evaluator, declaration)
        least = 0 if access.place.cast or access.place.deref else rank(whole.layout)
        if not least <= len(access.place.indices) <= rank(whole.layout):
            raise AlgebraError(f"the extents of {access.name} are not known").but(name=access.name)
        _check_rank(context, access, rank(whole.layout))
        return whole, False
    node = context.tree((access.token, access.place.member))
    x = attempted(lambda: finished(split(known_part(evaluator.solid(node), []))))
    if isinstance(x, Tensor) and x.pointer.space in ("smem", "gmem") and isinstance(x.layout, Layout):
        return replace(x, pointer=replace(x.pointer, name=x.pointer.name or access.name)), False
    view = declaration is not None and not (declaration.array or is_single(context.reader, declaration))
    begins = context.reader.tokens[declaration.token - 1].kind if declaration is not None and view else "*"
    if isinstance(x, CuteVizError) and isinstance(node, Id) and begins not in ("*", "&", "&&"):  # a view that nobody knows
        raise x
    alias = None if isinstance(x, Tensor) else _alias(evaluator, access)
    if alias is not None and isinstance(alias.kind, Class) and not alias.steps and access.place.indices:
        raise AlgebraError("what an operator of its type accesses is not followed").but(name=access.name)
    if alias is None or (not alias.steps and (access.place.indices or isinstance(alias.kind, Class))):
        return None
    if alias.steps and not (access.place.indices or access.place.cast or access.place.deref):
        raise UncountedError(ADDRESS, name=access.name)
    _check_rank(context, access, len(alias.steps))
    return alias.tensor(access.name)[0], True


def _check_rank(context: Context, access: Indexed, count: int) -> None:
    """Raises: AlgebraError for `*(s + i)` of an array of several indices, which is a part of it."""
    place = access.place
    added = bool(place.indices) and context.reader.tokens[place.indices[-1][0] - 1].text == "+"
    if place.deref and place.cast is None and len(place.indices) + (not added) < count:
        raise AlgebraError("what lies in a part of it is not followed").but(name=access.name)


def _alias(evaluator: CppEvaluator, access: Indexed) -> Pointed | None:
    """Where what is indexed begins in shared memory, of a pointer or a member."""
    try:
        return place_of(evaluator, evaluator.context.tree((access.token, access.place.member)))
    except CuteVizError as error:
        raise error.but(name=access.name) from None


def _is_uniform(context: Context, lookup: _Lookups, scope: Scope, access: Indexed, x: Tensor, block: Sequence[int]) -> bool:
    """Whether a view begins at the same place in every thread: asked of as many as differ in one bit of the index."""
    for n, extent in enumerate(block):
        for thread in [1 << bit for bit in range((extent - 1).bit_length())]:
            let = {**context.given.let, "threadIdx.x": 0, "threadIdx.y": 0, "threadIdx.z": 0, f"threadIdx.{'xyz'[n]}": thread}
            other = Context(context.reader, replace(context.given, let=let))
            other.chosen, other.facts, other.assumed, other.own = context.chosen, context.facts, {}, context.own
            found = _tensor(other, lookup(other), scope, access)
            if found is None or found[0].offset != x.offset:
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


def alignment_of(context: Context, lookup: Lookup, scope: Scope, base: str, store: bool, bits: int) -> int | None:
    """To how many bytes an array is known to be aligned by what merges accesses; None of what is not an array of the function.
    Where nothing is declared, ptxas places it, and takes neighboring words at once that are loaded, but none that are stored."""
    declaration = lookup.declared(base, opened(context, scope), None) if base.isidentifier() else None
    if declaration is None or not declaration.array:
        return None
    evaluator = CppEvaluator(context, lookup, opened(context, scope))
    tokens, at = context.reader.tokens, declaration.token
    while tokens[at].kind not in (";", "{", "}") and at > 0:
        if tokens[at].text in ALIGNS:
            value = tried(partial(evaluator.solid, context.tree((at + 2, context.reader.match[at + 1]))), None)
            return int(value) if isinstance(value, int) else None
        at -= 1
    return 0 if store or bits < 32 else 16
