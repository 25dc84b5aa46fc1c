"""C++ files: scopes, declarations, and the values of what they define."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial

from cute_viz.algebra.common import Operation
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, LimitError, Span, raised_again
from cute_viz.source.address import path_parts
from cute_viz.source.cpp.aliases import array_of
from cute_viz.source.cpp.asks import asks
from cute_viz.source.cpp.context import Context, Use, all_uses
from cute_viz.source.cpp.control import outline
from cute_viz.source.cpp.cutlass import with_cutlass
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.evaluate import CppEvaluator
from cute_viz.source.cpp.expressions import Expressions
from cute_viz.source.cpp.lookup import Lookup, opened
from cute_viz.source.cpp.operate import operations
from cute_viz.source.cpp.preprocess import Preprocessed, deciding
from cute_viz.source.cpp.scopes import Declaration, Range, Scope
from cute_viz.source.cpp.shared import is_shared
from cute_viz.source.cpp.shown import asked_member, built_entries, included, object_of, printed, scopes_of, standing
from cute_viz.source.cpp.statements import launched, launches, moves
from cute_viz.source.cpp.tokens import tokenize
from cute_viz.source.cpp.tree import CppCall, Id, Node
from cute_viz.source.cpp.values import Class, External, Value, finished
from cute_viz.source.model import Entry, Given, SourceFile, matching
from cute_viz.source.moves import Launch

_KINDS = ("alias", "variable")
_LIKELY = re.compile(
    r"(?i)layout|shape|stride|tiled|tiler|tile_|copy|mma|swizzle|tensor|partition|fragment|compos|divide|product|coalesce|collective"
)
_WORDS = 200  # of a declaration that are looked at
_Launches = Callable[[], tuple[Launch, ...]]
_FOREIGN = frozenset(("float", "double", "char", "void", "dim3", "std", "thrust", "HostTensor", "DeviceAllocation", "ostream"))


def read(text: str, given: Given) -> SourceFile:
    """A file of C++: its aliases, variables and constants, each evaluated when it is asked for. Raises: LimitError for a text
    over the limit `input`, or blocks that are nested too deeply; nothing else."""
    try:
        reader = outline(Preprocessed(with_cutlass(text), given))
    except RecursionError:
        raise LimitError("blocks are nested too deeply", text=text, span=Span(0, 1)) from None
    context = Context(reader, given)
    context.assumed, context.own = {}, len(text)
    context.chosen |= launched(reader, given, _lookup) if given.launch else _only(reader, given)
    lookup = _lookup(context)
    entries = [
        _entry(context, lookup, declaration)
        for scope in scopes_of(reader)
        for declaration in scope.declarations
        if declaration.kind in _KINDS and declaration.params is None and _is_object(context, declaration)
    ]
    entries += [entry for scope in scopes_of(reader) for x in scope.declarations for entry in built_entries(context, lookup, x)]
    entries = sorted((entry for entry in entries if entry.span.start < len(text)), key=lambda entry: entry.span.start)
    known = cache(lambda: launches(reader, given, _lookup))  # a report asks for many names
    return SourceFile(
        text,
        tuple(entries),
        asked=lambda query: _asked(context, lookup, query, known),
        moves=lambda: moves(reader, given, _lookup),
        statements=lambda: _statements(context, lookup, entries),
        launches=lambda: launches(reader, replace(given, launch=""), _lookup),
        asks=partial(asks, reader),
    )


def _only(reader: Declarer, given: Given) -> dict[Scope, Use]:
    """The calls that lead to the kernels of which there is one launch; what is given for a parameter wins over them."""
    out: dict[Scope, Use] = {}
    if any(token.text == "__global__" for token in reader.tokens):
        found = launches(reader, replace(given, notes={}, used=set()), _lookup)
        for launch in found:
            names = {param.name for scope in launch.key for param in (*scope.arguments, *(scope.params or ()))}
            if sum(launch.kernel == other.kernel for other in found) == 1 and not names & given.let.keys():
                out |= launch.key
    return out


def _lookup(context: Context) -> Lookup:
    lookup = Lookup(context, lambda env, part: CppEvaluator(context, lookup, env).of(part, env))
    return lookup


def _asked(context: Context, lookup: Lookup, query: str, known: _Launches) -> Entry | None:
    return (
        _called_by(context, query, known)
        or _member_of(context, lookup, query)
        or standing(context, lookup, scopes_of(context.reader), query)
    )


def _called_by(context: Context, query: str, known: _Launches) -> Entry | None:
    """`gemm_tn::gemm_device::sA`: sA of gemm_device, which several functions call, as gemm_tn calls it."""
    caller, callee, name = ("", "", "", *path_parts(query))[-3:]
    if not caller:
        return None
    for scope in scopes_of(context.reader):
        if scope.kind != "function" or scope.name != callee:
            continue
        uses = [use for use in all_uses(context.reader, scope) if caller in use.scope.path]
        ways = [launch.key for launch in known() if launch.caller == caller]
        ways = [way for way in ways if scope in way] or [{scope: use} for use in uses]
        if len(ways) != 1:
            continue
        other = Context(context.reader, context.given)
        other.chosen, other.assumed = dict(ways[0]), {}
        lookup = _lookup(other)
        inside = [x for block in scopes_of(context.reader) if block.inside(scope) for x in block.declarations if x.kind in _KINDS]
        found = matching((_entry(other, lookup, x) for x in inside), f"{callee}::{name}")
        if len(found) == 1:
            return found[0]
    return None


def _member_of(context: Context, lookup: Lookup, query: str) -> Entry | None:
    """The member that a query names through a class: `Traits<128, half_t>::SmemLayout`, or an alias of it; None for another one."""
    try:
        tokens, _ = tokenize(query)
        tree = Expressions(query, tokens, context.is_template).parse(0, len(tokens) - 1)
    except CuteVizError:
        return None
    if not isinstance(tree, Id) or len(tree.parts) < 2:
        return None
    first = tree.parts[0].name
    owners = [scope for scope in scopes_of(context.reader) if first in scope.names and not scope.local]
    owners = owners or [scope for scope in scopes_of(context.reader) if first in scope.names]
    if len(owners) != 1:
        return None
    evaluator = CppEvaluator(context, lookup, opened(context, owners[0]))
    evaluator.text = query
    try:
        owner = evaluator.value(Id(tree.span, tree.parts[:-1]))
        inside = owner.env if isinstance(owner, Class) else None
        if inside is not None and context.reader.tokens[inside.scope.token].start >= context.own:
            return asked_member(context, lookup, tree)
        found = lookup.member(tree.parts[-1].name, inside) if inside is not None else None
    except CuteVizError as error:
        raise error.at(query, tree.span) from None
    if found is None or found.declarations[0].kind not in _KINDS:
        return None
    declaration = found.declarations[0]
    entry = _entry(context, lookup, declaration)

    def of_it() -> Value:
        context.deep = 0
        value = CppEvaluator(context, lookup, found.env).meant(found, tree.parts[-1], Span(0, 0))
        return printed(finished(object_of(context, declaration.name, context.reader.tokens[declaration.token].span, value)))

    return Entry(entry.name, entry.scope, entry.span, entry.line, of_it, file=entry.file)


def _is_object(context: Context, declaration: Declaration) -> bool:
    """Whether a declaration may be more than a plain member, a pointer, or an object of a library that has no layouts."""
    if declaration.array:
        tokens, at = context.reader.tokens, declaration.token  # `extern __shared__ float s[]` has no extent
        return is_shared(context.reader, declaration) and tokens[at + 1].kind == "[" and tokens[at + 2].kind != "]"
    if declaration.pointer or not declaration.name:
        return False
    if declaration.kind == "alias":
        return True
    if declaration.init is None and declaration.scope.kind == "class":
        return False
    tokens = context.reader.tokens
    begin, end = declaration.type or (0, 0)
    words = [token.text for token in tokens[begin:end]]
    own = words[: words.index("<")] if "<" in words else words  # `S<float>::Layout` is no float
    return _FOREIGN.isdisjoint(own) and not tokens[begin].text.startswith(("cuda", "cublas"))


def _entry(context: Context, lookup: Lookup, declaration: Declaration) -> Entry:
    token = context.reader.tokens[declaration.token]
    read_it, tensor = _reader(context, lookup, declaration)
    return Entry(
        declaration.name,
        declaration.scope.path,
        token.span,
        context.line(declaration.token),
        read_it,
        likely=_is_likely(context, declaration),
        operations=lambda: _operations(context, lookup, declaration),
        text=_text(context, declaration),
        depends=deciding(context.reader.source.branch(declaration.token)),
        tensor=tensor,
        file=included(context, declaration),
    )


def _text(context: Context, declaration: Declaration) -> str:
    if declaration.init is None or declaration.init[0] == declaration.init[1]:
        return ""
    span = context.span(declaration.init)
    return " ".join(context.text[span.start : span.end].split())


def _operations(context: Context, lookup: Lookup, declaration: Declaration) -> tuple[Operation, ...]:
    """The operation that a declaration is, as `operations` has it."""
    if declaration.init is None or declaration.mixed is not None or declaration.place is not None:
        return ()
    return _operations_at(context, lookup, declaration.init, declaration.scope)


def _operations_at(context: Context, lookup: Lookup, part: Range, scope: Scope) -> tuple[Operation, ...]:
    context.deep = 0
    return operations(CppEvaluator(context, lookup, opened(context, scope)), context.tree(part))


def _statements(context: Context, lookup: Lookup, entries: list[Entry]) -> Iterator[Entry]:
    """The definitions and the calls of operations of a text, the last one first; what is printed is what is meant."""
    reader = context.reader
    tokens = reader.tokens
    defined = {entry.span.start: entry for entry in entries}
    for begin, number in reversed(reader.statements):
        end = reader.find(begin, (";", "{"))
        if tokens[begin].start >= context.own:
            continue
        entry = next((found for token in tokens[begin:end] if (found := defined.pop(token.start, None)) is not None), None)
        if entry is not None:
            yield entry
        elif isinstance(_tree(context, (begin, end)), CppCall):
            part, scope = (begin, end), reader.scopes[number]
            span = context.span(part)
            read = partial(_read_at, context, lookup, part, scope)
            told = partial(_operations_at, context, lookup, part, scope)
            text = context.text[span.start : span.end]
            yield Entry("", scope.path, span, context.line(begin), read, operations=told, text=text)


def _tree(context: Context, part: Range) -> Node | None:
    """The tree of a statement; None where it is not an expression."""
    try:
        return context.tree(part) if part[0] < part[1] else None
    except CuteVizError:
        return None


def _read_at(context: Context, lookup: Lookup, part: Range, scope: Scope) -> Value:
    context.deep = 0
    return finished(CppEvaluator(context, lookup, opened(context, scope)).solid(context.tree(part)))


def _is_likely(context: Context, declaration: Declaration) -> bool:
    words = [declaration.name]
    for part in (declaration.type, declaration.init):
        begin, end = part or (0, 0)
        tokens = context.reader.tokens[begin : min(end, begin + _WORDS)]
        words += [token.text for token in tokens if token.kind == "name"]
    return _LIKELY.search(" ".join(words).replace("layout RowMajor", "").replace("layout ColumnMajor", "")) is not None


def _reader(context: Context, lookup: Lookup, declaration: Declaration) -> tuple[Callable[[], Value], Callable[[], Value]]:
    """The value of an entry, evaluated once, and the tensor whose layout it is."""
    known: list[Value | CuteVizError] = []

    def read_it() -> Value:
        return printed(whole())

    def whole() -> Value:
        if not known:
            try:
                known.append(finished(_value(context, lookup, declaration)))
            except CuteVizError as error:
                known.append(context.placed(error, context.reader.tokens[declaration.token].span))
            except RecursionError:
                span = context.reader.tokens[declaration.token].span
                known.append(LimitError("this is nested too deeply", text=context.text, span=span))
        return raised_again(known[0])

    return read_it, lambda: found if known and isinstance(found := known[0], Tensor) else None


def _value(context: Context, lookup: Lookup, declaration: Declaration) -> Value:
    env = opened(context, declaration.scope)
    evaluator = CppEvaluator(context, lookup, env)
    span = context.reader.tokens[declaration.token].span
    context.deep = 0
    key = context.let(declaration.name, declaration.scope)
    if key is not None:
        value = evaluator.given(key, as_type=declaration.kind == "alias")
    elif declaration.array:
        return array_of(evaluator, declaration)
    else:
        value = evaluator.definition(declaration, env, None, Span(0, 0))
    is_tag = isinstance(value, External) and value.error is None
    return object_of(context, declaration.name, span, value if is_tag else evaluator.known(value, span))
