"""Accesses of single elements, `sV(c, r) = x`, `s[i]`: where each thread's lies, by the index and the loops around."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product
from math import prod
from typing import Any, NamedTuple

from cute_viz.algebra.inttuple import leaves, map_leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.shares import MOST, Starts
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.records import dataclass
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.dims import alignment_of, block_of
from cute_viz.source.cpp.evaluate import Evaluator
from cute_viz.source.cpp.lookup import Lookup, opened, within
from cute_viz.source.cpp.rounds import loops_of
from cute_viz.source.cpp.scopes import Declaration, Range, Scope
from cute_viz.source.cpp.slices import known_part, split
from cute_viz.source.cpp.threads import number_at
from cute_viz.source.cpp.unknown import tried
from cute_viz.source.cpp.values import Env, finished
from cute_viz.source.model import Loop, Often
from cute_viz.values.integer import Unknown
from cute_viz.values.pointer import Pointer

_VIEWS = re.compile(
    r"partition|local_tile|make_tensor(?!_like| <)|group_modes|recast|retile|domain_offset|flatten|coalesce|zipped_divide|filter"
)
_OTHERS = frozenset(("for", "while", "if", "switch", "template", "using"))  # whose heads are no statements
_ASSIGNED = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
_BY_VALUE = re.compile(
    r"(__)?(fast_)?(max|min|exp2?|abs|sqrt|rsqrt|tanh|log2?|fma|pow)f?|float|double|int|half|[A-Z]\w*|\w+_t|static_cast"
)
_TURNS = 64  # iterations whose places are compared
_UNROLLED = 64  # rounds of loops that a compiler unrolls
_WIDEST = 128  # bits


class Indexed(NamedTuple):
    """One access in a statement: where it stands, the name of what it indexes, the tokens of each index, whether it stores, and
    whether the statement both loads and stores elements of that name.
    """

    token: int
    name: str
    indices: tuple[Range, ...]
    store: bool
    both: bool


def arrays(reader: Declarer) -> dict[str, list[Declaration]]:
    """The names of a file that may be tensors in memory: views, and arrays in shared memory."""
    out: dict[str, list[Declaration]] = {}
    for scope in dict.fromkeys(reader.scopes):
        for x in scope.declarations if scope.local else ():
            words = " ".join(token.text for token in reader.tokens[slice(*(x.init or (0, 0)))])
            view = _VIEWS.search(words) and "fragment" not in words and "_like" not in words
            view = view or (x.init is not None and reader.tokens[x.init[0]].text in out)  # a slice of one
            if x.kind == "variable" and (_is_shared(reader, x) if x.array else view):
                out.setdefault(x.name, []).append(x)
    return out


def _is_shared(reader: Declarer, x: Declaration) -> bool:
    begin = x.type[0] if x.type is not None else x.token
    return "__shared__" in {token.text for token in reader.tokens[max(0, begin - 6) : x.token]}


def accesses(reader: Declarer, names: Mapping[str, list[Declaration]], begin: int, scope: Scope) -> Iterator[Indexed]:
    """The elements that a statement of a scope loads and stores, each once; those whose address or reference goes elsewhere are
    left out.
    """
    tokens, end = reader.tokens, reader.find(begin, (";", "{"))
    if tokens[begin].text in _OTHERS or any(x.text == "for" for x in tokens[begin:end]):
        return
    at, assigned = begin, None
    while at < end and assigned is None:
        assigned = at if tokens[at].text in _ASSIGNED else None
        at = reader.match[at] + 1 if tokens[at].kind in ("(", "[", "{") else at + 1
    met = set()

    def both(name: str) -> bool:
        return tokens[begin].text == name and (
            tokens[assigned or begin].text != "=" or name in {x.text for x in tokens[assigned or begin : end]}
        )

    for n in range(begin, end):
        if tokens[n].text not in names or tokens[n + 1].kind not in ("(", "[") or tokens[n - 1].kind in (".", "->", "::"):
            continue
        mine = [x for x in names[tokens[n].text] if scope.inside(x.scope)]
        if not mine or any(x.token == n for x in mine):  # a parameter; it is declared
            continue
        indices, close = _brackets(reader, n)
        words = {token.text for part in indices for token in tokens[slice(*part)]}
        first = n == begin and assigned == close
        if (
            not indices
            or any(a == b for a, b in indices)
            or words & {"_", "X"}
            or not (first or _is_value(reader, begin, n, close))
        ):
            continue
        kinds = [True, *[False] * (tokens[assigned].text != "=")] if first and assigned is not None else [False]
        for store in kinds:
            key = tokens[n].text, " ".join(token.text for token in tokens[n:close]), store
            if key not in met:
                met.add(key)
                yield Indexed(n, tokens[n].text, indices, store, assigned is not None and both(tokens[n].text))


def _brackets(reader: Declarer, n: int) -> tuple[tuple[Range, ...], int]:
    """The indices behind a name, `(i, j)` or `[i][j]`, and the token behind them."""
    at = n + 1
    if reader.tokens[at].kind == "(":
        return tuple(reader.split(at + 1, reader.match[at])), reader.match[at] + 1
    out = []
    while reader.tokens[at].kind == "[":
        out.append((at + 1, reader.match[at]))
        at = reader.match[at] + 1
    return tuple(out), at


def _is_value(reader: Declarer, begin: int, n: int, close: int) -> bool:
    """Whether a place in a statement is read as a value: no address, no argument of a function that may take a reference."""
    tokens = reader.tokens
    if tokens[n - 1].kind in ("&", "++", "--") or tokens[close].kind in ("++", "--", ".", "->"):
        return False
    values, depth = begin != n, 0  # a statement that is only an element does nothing
    for at in range(n - 1, begin, -1):
        depth += (tokens[at].kind in (")", "]", "}")) - (tokens[at].kind in ("(", "[", "{"))
        if depth < 0:
            depth, word = 0, at - 1
            if tokens[word].kind == ">":
                word = next((k - 1 for k in range(word, begin, -1) if tokens[k].kind == "<"), word)
            if tokens[at].kind == "(" and tokens[word].kind == "name":
                values = values and _BY_VALUE.fullmatch(tokens[word].text) is not None
    return values


_Lookups = Callable[[Context], Lookup]


def reader_of(
    context: Context, lookup: _Lookups, scope: Scope, function: Scope, access: Indexed, often: Callable[[], Often]
) -> Iterator[list[Tensor]]:
    """The tensor of the elements that all threads access, for each iteration that differs; the innermost loops, which a compiler
    unrolls, are its modes. Nothing of registers.

    Raises: CuteVizError for what the index depends on and nobody knows, and where nobody knows what a compiler takes at once, with
    the buffer as its name where the tensor is known.
    """
    context.deep = 0
    if (x := _tensor(context, lookup(context), scope, access)) is None:
        yield []
        return
    try:
        yield from _iterations(context, lookup, scope, function, access, x, often().loops)
    except CuteVizError as error:
        raise error.but(name=x.pointer.base or access.name) from None


def _iterations(
    context: Context, lookup: _Lookups, scope: Scope, function: Scope, access: Indexed, x: Tensor, runs: tuple[Loop, ...]
) -> Iterator[list[Tensor]]:
    found = lookup(context)
    block = block_of(context, found, function) or ((len(x.starts), 1, 1) if x.starts else None)
    if block is None:
        raise AlgebraError("how many threads the block has is not known: nothing here launches the kernel")
    if x.part is None and not x.pointer.placed and not _is_uniform(context, lookup, scope, access, x, block):
        raise AlgebraError(f"where {access.name} begins depends on the thread")
    if _is_divided(context, found, scope):
        raise AlgebraError("which threads take part depends on a condition on their index")
    loops = loops_of(context, found, scope)
    named = {inner: {name: Unknown("?", plain=True, key=f"loop {n}")} for n, (inner, name, values) in enumerate(loops) if values}
    evaluator = Evaluator(context, found, _bound(context, scope, named))
    parts = [finished(evaluator.solid(context.tree(part))) for part in access.indices]
    crd = tuple(parts) if len(parts) > 1 else parts[0]
    names = {name for leaf in leaves(crd) if isinstance(leaf, Unknown) for name in leaf.leaves}
    used = [any(f"loop {n}" in name for name in names) for n in range(len(loops))]
    values = [x[2] or range(1) for x in loops]
    first = len(loops)
    while (
        first
        and used[first - 1]
        and runs[first - 1].runs == runs[first - 1].rounds
        and prod(map(len, values[first - 1 :])) <= _UNROLLED
    ):
        first -= 1
    places = _Places(x, crd, block)
    if first == len(loops) and loops and used[-1] and len(values[-1]) > 1:
        one, two = (places.of(dict.fromkeys(range(first - 1), 0) | {first - 1: v}) for v in values[-1][:2])
        if any(0 < abs(b - a) * x.bits < _WIDEST for a, b in zip(one, two, strict=True)):
            raise AlgebraError("how many neighbors a compiler takes at once is not known: the loop is not unrolled")
    align = 0 if access.both else alignment_of(context, found, scope, x.pointer.base)
    met = set()
    for turn in islice(product(*(v if n < first and used[n] else v[:1] for n, v in enumerate(values))), _TURNS):
        table = [places.of(dict(enumerate((*turn[:first], *inside)))) for inside in product(*values[first:])]
        layout = _layout([row[0] - table[0][0] for row in table])
        if layout is None or any(b - a != row[0] - table[0][0] for row in table for a, b in zip(table[0], row, strict=True)):
            raise AlgebraError("the elements of the innermost loop form no layout")
        shift = table[0][0] if x.swizzle is None and x.pointer.swizzle is None else 0
        if (key := (layout, *(place - shift for place in table[0]))) not in met:  # else the same in other places
            met.add(key)
            part = ElementStarts(tuple(table[0]), getattr(x.part, "layout", x.layout), len(loops) - first, align)
            yield [replace(x, layout=layout, part=part)]


@dataclass(frozen=True, slots=True)
class ElementStarts(Starts):
    """Where each thread's element lies. layout: of the tensor that they are elements of. loops: how many loops are modes. align: to
    how many bytes the compiler knows that the buffer is aligned, so that it takes neighbors at once; None where that is not read.
    """

    layout: Any
    loops: int = 0
    align: int | None = 0


def _layout(table: list[int]) -> Layout | None:
    """The static layout of so many offsets, the last loop's first; None where there is none.

    >>> str(_layout([0, 1, 8, 9])), _layout([0, 1, 3])
    ('(_2,_2):(_1,_8)', None)
    """
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


def _is_divided(context: Context, lookup: Lookup, scope: Scope) -> bool:
    """Whether a condition around a scope is one on the thread's index."""
    tokens, here = context.reader.tokens, scope
    while here.kind == "block" and here.parent is not None:
        for statement in here.parent.statements if here.flow == "if" else ():
            begin, end = statement.value if statement.value is not None and here in (statement.yes, statement.no) else (0, 0)
            evaluator = Evaluator(context, lookup, opened(context, here.parent))
            for n in range(begin, end):
                name = tokens[n].kind == "name" and tokens[n + 1].kind not in ("(", "::") and tokens[n - 1].kind != "."
                value = tried(partial(evaluator.solid, context.tree((n, n + 1))), None) if name else None
                if tokens[n].text == "threadIdx" or (isinstance(value, Unknown) and "threadIdx" in value.key):
                    return True
        here = here.parent
    return False


def _tensor(context: Context, lookup: Lookup, scope: Scope, access: Indexed) -> Tensor | None:
    """What is indexed; None of what is not in shared or global memory."""
    env = opened(context, scope)
    found = lookup.find(access.name, env, access.token)
    declaration = found.declarations[0] if found is not None and found.declarations else None
    evaluator = Evaluator(context, lookup, env)
    if declaration is not None and declaration.array:
        kind = evaluator.value(context.tree(declaration.type)) if declaration.type is not None else None
        parts, _ = _brackets(context.reader, declaration.token)
        if len(parts) != len(access.indices) or any(a == b for a, b in parts):
            raise AlgebraError(f"the extents of {access.name} are not known").but(name=access.name)
        extents = [int(evaluator.solid(context.tree(part))) for part in parts]
        strides = [prod(extents[n + 1 :]) for n in range(len(extents))]
        whole = Layout(*((x[0] if len(x) == 1 else tuple(x)) for x in (extents, strides)))
        return Tensor(Pointer("smem", kind, base=access.name, name=access.name), mark_static(whole))
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


def _bound(context: Context, scope: Scope, values: Mapping[Scope, dict[str, Any]]) -> Env:
    """The environment of a scope, with values for the variables of the loops around it."""
    if scope.parent is None:
        return context.root
    outer = _bound(context, scope.parent, values)
    return Env(scope, outer, values[scope]) if scope in values else within(outer, scope)


class _Places:
    """How far behind a tensor's beginning each thread's element lies. crd: the coordinate, with integers that only runs know."""

    def __init__(self, x: Tensor, crd: Any, block: Sequence[int]) -> None:
        self.x, self.crd = x, crd
        self.threads = [(n % block[0], n // block[0] % block[1], n // (block[0] * block[1])) for n in range(min(MOST, prod(block)))]
        self.known: dict[tuple[Any, ...], int] = {}
        self.loops: dict[str, list[int]] = {}  # of each integer, those that it depends on
        self.places: dict[Any, int] = {}

    def of(self, turn: Mapping[int, int]) -> list[int]:
        """In one iteration, by the values of the loops' variables."""
        starts = self.x.starts or (0,) * len(self.threads)
        out = []
        for begin, thread in zip(starts, self.threads, strict=False):
            at = map_leaves(partial(self.number, thread, turn), self.crd)
            if at not in self.places:
                self.places[at] = int(self.x.layout(*(at if isinstance(at, tuple) else (at,))))
            out.append(begin + self.places[at])
        return out

    def number(self, thread: tuple[int, int, int], turn: Mapping[int, int], leaf: Any) -> int:
        """An integer of the coordinate. Raises: its error where it depends on more than the thread and the loops."""
        if not isinstance(leaf, Unknown):
            return int(leaf)
        if leaf.key not in self.loops:
            self.loops[leaf.key] = [n for n in turn if f"loop {n}" in leaf.key]
        key = (leaf.key, thread, *(turn[n] for n in self.loops[leaf.key]))
        if key not in self.known:
            number = number_at(leaf, partial(_named, thread, turn))
            if number is None:
                raise leaf.error()
            self.known[key] = number
        return self.known[key]


def _named(thread: tuple[int, int, int], turn: Mapping[int, int], name: str) -> int | None:
    if name.startswith("threadIdx."):
        return thread["xyz".index(name[10])]
    return turn.get(int(name[5:])) if name.startswith("loop ") else 0 if name.startswith("blockIdx.") else None
