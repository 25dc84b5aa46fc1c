"""What a statement does that it must not, as far as known values prove it: elements beyond a tensor's extents, arrays that are
smaller than what lies over them, threads that a tiling has and the block lacks, or the other way round.

The operands are evaluated once more, in the first and the last block of the launch and in the first and the last rounds of the
loops, over tensors whose strides keep coordinates apart: whatever was divided and sliced, an offset tells each coordinate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice, product
from typing import Any, NamedTuple

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import leaves, modes, unflatten
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.modes import get
from cute_viz.algebra.shares import MOST, Division, Starts
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.source.cpp.accesses import reader_of
from cute_viz.source.cpp.aliases import array_of
from cute_viz.source.cpp.context import Context, Use, function_of, scope_at
from cute_viz.source.cpp.elements import Array
from cute_viz.source.cpp.evaluate import CppEvaluator
from cute_viz.source.cpp.indexed import Indexed
from cute_viz.source.cpp.launched import dims_of
from cute_viz.source.cpp.lookup import Lookup, Meaning, opened
from cute_viz.source.cpp.pointed import member_of
from cute_viz.source.cpp.scopes import Range, Scope, outward
from cute_viz.source.cpp.shared import is_shared
from cute_viz.source.cpp.slices import known_part, split
from cute_viz.source.cpp.tree import Cast, CppCall, Id, Index, Member, Node, Unary
from cute_viz.source.cpp.turns import Turns
from cute_viz.source.cpp.unknown import tried
from cute_viz.source.cpp.values import Value, finished
from cute_viz.source.moves import Mistake
from cute_viz.values.integer import Unknown

_FIELD = 32  # bits of a coordinate among all of an offset
_CORNERS = 16  # turns that are evaluated
_ENDS = frozenset(("return", "exit", "abort", "throw"))
_LEAVES = _ENDS | {"trap", "__trap", "goto"}
_ASSERTS = re.compile("(?i)^(?!static).*(assert|check|require|expect)")


class Extents(NamedTuple):
    """A tensor whose coordinates are kept apart: for each field of an offset the extent, None where it is not known, and the
    mode; the width of its elements."""

    fields: tuple[tuple[int | None, int], ...]
    bits: int


class Apart:
    """Makes tensors whose strides keep coordinates apart, and remembers their extents. dynamic: bytes of shared memory that the
    launch gives."""

    def __init__(self, dynamic: int | None) -> None:
        self.dynamic = dynamic
        self.extents: dict[str, Extents] = {}
        self.small: dict[str, Mistake] = {}  # by the tensors that lie over too few bytes

    def __call__(self, meaning: Meaning, node: Node | None, x: Tensor) -> Tensor:
        """A tensor that was made, with the node of its pointer, as one whose strides keep coordinates apart."""
        swizzled = isinstance(x.layout, ComposedLayout) and isinstance(x.layout.outer, Swizzle)
        layout = x.layout.inner if swizzled else x.layout
        if x.pointer.known is None or x.pointer.space == "tmem" or not isinstance(layout, Layout) or is_coordinate_layout(layout):
            return x
        shape, strides = list(leaves(layout.shape)), list[Any](leaves(layout.stride))
        if any(not isinstance(step, Unknown) and step < 0 for step in strides):
            return x
        base = f"{x.pointer.base}#{len(self.extents)}"
        if node is not None and x.pointer.space == "smem" and not any(isinstance(n, Unknown) for n in (*shape, *strides)):
            self._measure(meaning, node, x, int(layout.cosize), base)
        of_mode = [n for n, mode in enumerate(modes(layout.shape)) for _ in leaves(mode)]
        fields: list[tuple[int | None, int]] = []
        for n in sorted(range(len(shape)), key=lambda n: (isinstance(strides[n], Unknown) or strides[n] != 1, n)):
            if isinstance(strides[n], Unknown) or strides[n]:  # the stride 1 stays, so that words can be taken together
                strides[n] = 1 << _FIELD * len(fields)
                fields.append((None if isinstance(shape[n], Unknown) else int(shape[n]), of_mode[n]))
        self.extents[base] = Extents(tuple(fields), x.pointer.bits)
        where = replace(x.pointer, base=base, offset=0, placed=True, address=None, swizzle=None)
        return Tensor(where, Layout(layout.shape, unflatten(strides, layout.shape)))

    def _measure(self, meaning: Meaning, node: Node, x: Tensor, cosize: int, base: str) -> None:
        """Note an array that has fewer bytes than the layout over it."""
        found = tried(partial(room_of, meaning, node, self.dynamic), None)
        if found is not None and x.pointer.placed and isinstance(x.pointer.offset, int):
            needs = -(-(int(x.pointer.offset) + cosize) * x.pointer.bits // 8)
            if needs > found[1]:
                self.small[base] = Mistake("array", f"{found[0]} has {found[1]:,} bytes, and the layout over it takes {needs:,}.")

    def has(self, x: Tensor) -> bool:
        """Whether a tensor is a part of one that was made."""
        return _made(x) in self.extents

    def smaller(self, x: Tensor) -> list[Mistake]:
        """What is wrong with the array of a tensor, if anything."""
        return [found for base, found in self.small.items() if base == _made(x)]

    def beyond(self, x: Tensor, starts: list[int], where: str) -> Iterator[Mistake]:
        """The extents that a part of a tensor leaves. starts: where the parts of the threads begin that take part; where: the
        block that they are of."""
        known = self.extents.get(_made(x))
        shape, strides = list(leaves(x.layout.shape)), list(leaves(x.layout.stride)) if isinstance(x.layout, Layout) else [-1]
        if known is None or not starts or not x.pointer.placed:
            return
        if not all(isinstance(n, int) and n >= 0 for n in (x.offset, *shape, *strides)):
            return
        far = sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
        for at, (extent, mode) in enumerate(known.fields):
            reached = sum(max(_field(n, at) for n in part) for part in ([int(x.offset)], starts, [far]))
            reached = (reached + (at == 0)) * x.bits // known.bits - (at == 0)  # where words were taken together
            if extent is not None and reached >= extent:
                name = x.pointer.name or "the tensor"
                told = f"Mode {mode} of {name} has {extent:,} element{'s' * (extent != 1)}, and {where} reaches index {reached:,}."
                yield Mistake("extent", told, f"{name} {mode}")


def _made(x: Tensor) -> str:
    """The tensor that one is a part of."""
    head, mark, tail = x.pointer.base.partition("#")
    return f"{head}{mark}{tail.partition('+')[0]}"


def _field(offset: int, at: int) -> int:
    return offset >> _FIELD * at & (1 << _FIELD) - 1


def room_of(meaning: Meaning, node: Node, dynamic: int | None) -> tuple[str, int] | None:
    """The array that a pointer points to the beginning of, and its bytes; None where that is not known. dynamic: the bytes of
    one without an extent. Raises: the error of what cannot be evaluated."""
    inside = partial(room_of, meaning, dynamic=dynamic)
    match node:
        case Cast():
            return inside(node.value)
        case Unary(operator="&", value=Index(value=inner, index=at)) if meaning.solid(at) == 0:
            return inside(inner)
        case CppCall(function=Member(object=inner) as method, args=()) if method.part.name in ("data", "begin"):
            return inside(inner)
        case CppCall(function=Id(parts=(*_, part)), args=(inner,)) if part.name in ("make_smem_ptr", "recast_ptr"):
            return inside(inner)
        case Id(parts=(part,)):
            own = meaning.lookup.declared(part.name, meaning.env, meaning.position(node.span))
            if own is not None and own.array and is_shared(meaning.context.reader, own):
                whole = array_of(CppEvaluator(meaning.context, meaning.lookup, meaning.env), own)
                open_ = any(isinstance(n, Unknown) for n in leaves(whole.layout.shape))
                room = dynamic if open_ else int(size(whole.layout)) * whole.bits // 8
                return None if room is None else (own.name, room)
        case Member(part=part) if (found := member_of(meaning, node)) is not None and found.declarations:
            own = found.declarations[0]
            kind = meaning.of(own.type, found.env) if own.type is not None and not own.array else None
            return (part.name, kind.bytes) if isinstance(kind, Array) else None
    return None


def blocks_of(context: Context, lookup: Callable[[Context], Lookup], kernel: Scope) -> list[ThreadBlock]:
    """The first and the last block of the launch of a kernel; none where nobody knows how many threads they have."""
    grid, block, dynamic = (dims_of(context, lookup(context), kernel, n) for n in range(3))
    corners = dict.fromkeys(((0, 0, 0), (0, 0, 0) if grid is None else (grid[0] - 1, grid[1] - 1, grid[2] - 1)))
    room = None if dynamic is None else dynamic[0]
    return [ThreadBlock(context, lookup, kernel, at, block, room) for at in corners if block is not None and min(at) >= 0]


class ThreadBlock:
    """A block of a launch, whose operands are those of its kernel. at: which one it is. dims: its threads. dynamic: as of Apart."""

    def __init__(
        self,
        context: Context,
        lookup: Callable[[Context], Lookup],
        kernel: Scope,
        at: tuple[int, int, int],
        dims: tuple[int, int, int],
        dynamic: int | None,
    ) -> None:
        names: dict[str, object] = {f"blockIdx.{d}": n for d, n in zip("xyz", at, strict=True)}
        names |= {f"blockDim.{d}": n for d, n in zip("xyz", dims, strict=True)} | {**context.given.let}
        self.context = own = Context(context.reader, replace(context.given, let=names, notes={}, used=set()))
        own.chosen, own.facts, own.assumed, own.own = context.chosen, context.facts, {}, context.own
        own.apart = self.apart = Apart(dynamic)
        self.lookup, self.kernel, self.dims, self.found = lookup, kernel, dims, lookup(own)
        self.where = f"block ({','.join(map(str, at))})" if any(at) else "this"
        self.stopped = any(_is_stopped(own, self.found, use) for use in own.chosen.values())

    def mistakes(self, scope: Scope, token: int, given: list[Range] | Indexed) -> list[Mistake]:
        """What is wrong with a statement, where it is certain that threads run it. given: the tokens of its operands, or the
        access of an element. Raises: the error of a condition that nobody knows."""
        function, reached = function_of(scope), None if self.stopped else self._reached(scope)
        turns = self._turns(scope, token) if reached is not None else None
        if function is None or reached is None or turns is None:
            return []
        return [*self._found(function, reached, turns, given)]

    def _found(self, function: Scope, reached: list[bool], turns: Turns, given: list[Range] | Indexed) -> Iterator[Mistake]:
        if isinstance(given, Indexed):
            for x in reader_of(self.context, self.lookup, turns.scope, function, given):
                starts = [start for start, *takes in zip(x.starts, reached, x.part.active or reached, strict=False) if all(takes)]
                if x.part.sure and not x.part.assumes and starts:
                    yield from self.apart.beyond(x, starts, self.where) if self.apart.has(x) else self._outside(x, max(starts))
            return
        for values in islice(product(*(dict.fromkeys((loop.values[0], loop.values[-1])) for loop in turns.loops)), _CORNERS):
            turn = dict(enumerate(values))
            if lanes := [n for n, takes in enumerate(turns.active(turn)) if takes and reached[n]]:
                yield from self._in_turn(given, turns, turn, lanes)

    def _turns(self, scope: Scope, token: int) -> Turns | None:
        """The loops and conditions around a place; None where it is not certain that all of them run it."""
        turns = Turns(self.context, self.found, scope, token, self.dims)
        reader, function = self.context.reader, function_of(scope)
        for n in range(function.token if function is not None else token, token):
            if reader.tokens[n].text in _LEAVES and not any(begin < n < end for begin, end in turns.left):
                around = scope_at(reader, n)
                if not any(here.kind == "lambda" and not scope.inside(here) for here in outward(around)):
                    return None
        return turns if turns.sure and all(loop.rounds for loop in turns.loops) else None

    def _reached(self, scope: Scope) -> list[bool] | None:
        """The threads that come to the function of a scope from their kernel; None where that is not known."""
        active, function = [True] * MOST, function_of(scope)
        while function is not None and function is not self.kernel:
            use = self.context.chosen.get(function)
            turns = self._turns(use.scope, use.token) if use is not None else None
            if use is None or turns is None:
                return None
            those = turns.active({n: loop.values[0] for n, loop in enumerate(turns.loops)})
            active = [a and b for a, b in zip(active, those, strict=False)]
            function = function_of(use.scope)
        return active

    def _in_turn(self, given: list[Range], turns: Turns, turn: Mapping[int, int], lanes: list[int]) -> Iterator[Mistake]:
        """What is wrong in one round of each loop. lanes: the threads that take part."""
        evaluator = CppEvaluator(self.context, self.found, turns.at(turn))
        for part in given:
            x = tried(partial(_operand, evaluator, part), None)
            if "ZFILL" in getattr(x, "name", ""):  # each element has a predicate
                return
            if not isinstance(x, Tensor):
                continue
            yield from self.apart.smaller(x)
            starts = [0]
            if isinstance(x.part, Division):
                index = tried(partial(_numbers, turns, x.part.index, turn), None)
                if index is None:
                    continue
                yield from _threads(x, index, lanes, turns.count)
                own = x.starts
                starts = [own[index[n]] for n in lanes if index[n] < len(own)]
            yield from self.apart.beyond(x, starts, self.where)

    def _outside(self, x: Tensor, start: int) -> Iterator[Mistake]:
        """An element of an array in shared memory that lies behind it. start: of the thread whose element lies furthest."""
        fields = x.part.fields if isinstance(x.part, Starts) else 1
        last, extent = (int(x.offset) + start + int(x.layout.cosize) - 1) // fields, size(x.root) // fields
        if x.pointer.space == "smem" and last >= extent:
            yield Mistake("extent", f"{x.pointer.name} has {extent:,} elements, and {self.where} reaches index {last:,}.")


def _operand(evaluator: CppEvaluator, part: Range) -> Value:
    return finished(split(known_part(evaluator.solid(evaluator.context.tree(part)), [])))


def _numbers(turns: Turns, x: Value, turn: Mapping[int, int]) -> list[int] | None:
    """An integer for each thread."""
    return None if x is None else turns.spread(turns.numbers(x, turn))


def _threads(x: Tensor, index: list[int], lanes: list[int], block: int) -> Iterator[Mistake]:
    """Threads of the block that a tiling lacks, and threads of a tiling that the block lacks. index: of the part of each thread."""
    starts, threads, name = x.starts, get(x.part.cut[0], 0), x.pointer.name or "The tensor"
    over = [n for n in lanes if index[n] >= len(starts) and int(threads(index[n])) not in starts]
    if over:
        told = f"threads {over[0]} to {over[-1]}" if len(over) > 1 else f"thread {over[0]}"
        told = f"{name} is divided among {len(starts)} threads, and {told} of the block take parts, too."
        yield Mistake("threads", told, "over")
    covered = {starts[index[n]] for n in lanes if index[n] < len(starts)}
    if len(lanes) == block < len(starts) and index == list(range(block)) and not covered.issuperset(starts):
        told = f"{name} is divided among {len(starts)} threads, and the block has {block}."
        yield Mistake("threads", told, "few", str(x.part.tiling))


def _is_stopped(context: Context, lookup: Lookup, use: Use) -> bool:
    """Whether a condition before a call is known to end its function: `if (M % 128) return`, `assert(M % 128 == 0)`."""
    reader, tokens = context.reader, context.reader.tokens

    def holds(test: Range, scope: Scope) -> bool | None:
        return tried(lambda: CppEvaluator(context, lookup, opened(context, scope)).truth(context.tree(test)), None)

    for here in outward(use.scope):
        for one in (x for block in here.statements for x in (block.yes.statements if block.yes is not None else ())):
            if one.kind == "if" and one.value is not None and one.yes is not None and one.token < use.token:
                body = {token.text for token in tokens[one.value[1] : one.no.token if one.no is not None else one.end]}
                if body & _ENDS and not use.scope.inside(one.yes) and holds(one.value, here) is True:
                    return True
    function = function_of(use.scope)
    for n in range(function.token if function is not None else use.token, use.token):
        if tokens[n + 1].kind == "(" and _ASSERTS.search(tokens[n].text) and reader.match[n + 1] > n + 2:
            around = scope_at(reader, n)
            asked = reader.split(n + 2, reader.match[n + 1])[0]
            if around is not None and use.scope.inside(around) and holds(asked, use.scope) is False:
                return True
    return False
