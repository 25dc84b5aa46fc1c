"""The block of a launch, `kernel<<<grid, block>>>(...)`, and how the arrays of its kernel are aligned."""

from __future__ import annotations

from functools import partial

from cute_viz.errors import CuteVizError
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.evaluate import Evaluator
from cute_viz.source.cpp.lookup import Lookup, opened
from cute_viz.source.cpp.scopes import Range, Scope
from cute_viz.source.cpp.tree import Brace, Call, Id, Node
from cute_viz.source.cpp.unknown import tried
from cute_viz.source.cpp.uses import Use
from cute_viz.source.cpp.values import Value

_FAR = 400  # tokens between the name of a kernel and its launch


def block_of(context: Context, lookup: Lookup, function: Scope) -> tuple[int, int, int] | None:
    """The threads of a block in each direction, as the launch of a kernel, or who asks, has them; None where nobody knows."""
    use, let = context.chosen.get(function), context.given.let
    if "blockDim.x" in let and all(f"blockDim.{d}" in let for d in directions(context.reader, function)):
        given = [str(let.get(f"blockDim.{d}", 1)) for d in "xyz"]
        if all(map(str.isdecimal, given)):
            return int(given[0]), int(given[1]), int(given[2])
    parts = launch_parts(context.reader, use) if use is not None else []
    if use is None or len(parts) < 2:
        return None
    evaluator = Evaluator(context, lookup, opened(context, use.scope))
    try:
        found = _extents(evaluator, context, context.tree(parts[1]), use)
    except CuteVizError:
        return None
    numbers = [int(x) for x in found if isinstance(x, int)]
    return (*numbers, 1, 1)[:3] if numbers and len(numbers) == len(found) else None  # type: ignore[return-value]


def directions(reader: Declarer, function: Scope) -> str:
    """The directions of a block that a function names, `x` among them.

    >>> from cute_viz.source.cpp.outline import outline
    >>> from cute_viz.source.cpp.preprocess import Preprocessed
    >>> reader = outline(Preprocessed("void f() { int a = threadIdx.z * blockDim.x; } void g() { int b = threadIdx.y; }", Given()))
    >>> [directions(reader, declaration.inner) for declaration in reader.file.declarations]
    ['xz', 'xy']
    """
    tokens, at = reader.tokens, function.token
    end = reader.match[at] if tokens[at].kind == "{" else reader.match[reader.find(at, ("{",))]
    named = {tokens[n + 2].text for n in range(at, end) if tokens[n].text in ("threadIdx", "blockDim")}
    return "".join(d for d in "xyz" if d == "x" or d in named)


def _extents(evaluator: Evaluator, context: Context, node: Node, use: Use) -> list[Value]:
    """The numbers of a `dim3`, or the one of an integer."""
    made = node.function if isinstance(node, Call) else node.type if isinstance(node, Brace) else None
    if isinstance(made, Id) and made.text == "dim3" and isinstance(node, (Call, Brace)):
        return [evaluator.solid(arg) for arg in node.args]
    found = evaluator.lookup.find(node.text, evaluator.env, use.token) if isinstance(node, Id) else None
    declaration = found.declarations[0] if found is not None and found.declarations else None
    if declaration is not None and declaration.init is not None and declaration.opens in ("(", "{"):
        return [evaluator.solid(context.tree(part)) for part in context.reader.split(*declaration.init)]
    if (
        declaration is not None
        and declaration.init is not None
        and isinstance(inner := context.tree(declaration.init), (Call, Brace))
    ):
        return _extents(evaluator, context, inner, use)
    return [evaluator.solid(node)]


def launch_parts(reader: Declarer, use: Use) -> list[Range]:
    """The tokens of each argument in `kernel<<<grid, block>>>(...)`, also of a variable that holds the kernel."""
    tokens, begin, name = reader.tokens, use.token, ""
    while tokens[begin - 1].text in ("&", "("):
        begin -= 1
    if tokens[begin - 1].text == "=" and tokens[begin - 2].kind == "name":  # a variable that is launched
        name = tokens[begin - 2].text
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

    Where nothing is declared, ptxas places it, and takes neighboring words at once that are loaded, but none that are stored.
    """
    named = lookup.find(base, opened(context, scope), None) if base.isidentifier() else None
    declaration = named.declarations[0] if named is not None and named.declarations else None
    if declaration is None or not declaration.array:
        return None
    evaluator = Evaluator(context, lookup, opened(context, scope))
    tokens, at = context.reader.tokens, declaration.token
    while tokens[at].kind not in (";", "{", "}") and at > 0:
        if tokens[at].text in ("alignas", "__align__"):
            value = tried(partial(evaluator.solid, context.tree((at + 2, context.reader.match[at + 1]))), None)
            return int(value) if isinstance(value, int) else None
        at -= 1
    return 0 if store or bits < 32 else 16
