"""The calls of a function in its file, which say what its parameters are: by a call, a launch, or a name with arguments."""

from __future__ import annotations

from bisect import bisect_right

from cute_viz.records import dataclass
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.scopes import Range, Scope, outward


@dataclass(frozen=True, slots=True)
class Use:
    """A call: the scope that it stands in, the arguments of the template and of the function, and where it begins. called: it is
    a call, and not a name with template arguments that is called elsewhere."""

    scope: Scope
    template: tuple[Range, ...]
    arguments: tuple[Range, ...]
    token: int = 0
    called: bool = True


RUNTIME = frozenset(("cudaLaunchKernel", "cudaLaunchCooperativeKernel"))  # grid, block, addresses of the arguments


def function_of(scope: Scope) -> Scope | None:
    """The function that a scope is in; None outside of functions."""
    around = next((x for x in outward(scope) if x.kind not in ("block", "lambda")), scope)
    return around if around.kind == "function" else None


def all_uses(reader: Declarer, function: Scope) -> list[Use]:
    """The uses of a function that give its template arguments, or its arguments; empty where one of them is not read. A call
    with more or fewer arguments than the function takes is that of another one."""
    places = reader.places().get(function.name, ())
    declared = {declaration.token for declaration in function.parent.names.get(function.name, ())} if function.parent else set()
    others = [n for n in places if n not in declared and not _is_compared(reader, n)]
    found = [use_at(reader, function, n) for n in others if not is_another(reader, function, n)]
    if len(declared) != 1 or None in found:
        return []
    return [use for use in found if use is not None and (not use.called or takes(function, len(use.arguments)))]


def _is_compared(reader: Declarer, place: int) -> bool:
    """Whether a name is only one side of `kernel == &f`."""
    before = place - 2 if reader.tokens[place - 1].text == "&" else place - 1
    return {reader.tokens[before].text, reader.tokens[place + 1].text} & {"==", "!="} != set()


def is_another(reader: Declarer, function: Scope, place: int) -> bool:
    """Whether the namespace before a name, `cute::copy`, is none that the function is in."""
    tokens = reader.tokens
    if place < 2 or tokens[place - 1].kind != "::" or tokens[place - 2].kind != "name":
        return False
    return tokens[place - 2].text not in function.path and tokens[place - 2].text not in reader.file.names


def takes(function: Scope, count: int) -> bool:
    """Whether a function takes so many arguments."""
    params = function.arguments
    least = sum(param.default is None and not param.pack for param in params)
    return least <= count and (count <= len(params) or any(param.pack for param in params))


def use_at(reader: Declarer, function: Scope | None, place: int) -> Use | None:
    """The use that begins at a token; None where it is none, or stands in the function itself."""
    tokens = reader.tokens
    at = place + 1
    template: tuple[Range, ...] = ()
    if function is not None and function.kind == "lambda" and tokens[at].kind == ".":  # f.template operator()<2>()
        begin = at + 1 + (tokens[at + 1].text == "template")
        at = begin + 3 if tokens[begin].text == "operator" else at
    if tokens[at].kind == "<":
        behind = reader.angles(at)
        if behind is None:
            return None
        template = tuple(reader.split(at + 1, behind - 1))
        at = behind
    if tokens[at].kind == "<<<":
        while tokens[at].kind not in (";", "end", "{", "}") and not all(tokens[at + n].kind == ">" for n in range(3)):
            at = reader.match[at] + 1 if tokens[at].kind in ("(", "[") else at + 1
        if tokens[at].kind != ">":
            return None
        at += 3
    called = at < len(tokens) and tokens[at].kind == "("
    if not called and not template and (function is None or tokens[at].kind not in (";", ",", ")")):
        return None
    arguments = tuple(reader.split(at + 1, reader.match[at])) if called else ()
    scope = scope_at(reader, place)
    if scope is None:
        return None
    if not called and function is not None and (launched := _launched(reader, place, at, scope)) is not None:
        called, arguments = takes(function, len(launched)), launched if takes(function, len(launched)) else ()
    if not called and not template:
        return None
    return None if function is not None and scope.inside(function) else Use(scope, template, arguments, place, called)


def scope_at(reader: Declarer, place: int) -> Scope | None:
    """The scope of the statement that a token stands in; None before the first."""
    nearest = bisect_right(reader.statements, (place, 1 << 60)) - 1
    return None if nearest < 0 else reader.scopes[reader.statements[nearest][1]]


def _launched(reader: Declarer, place: int, end: int, scope: Scope) -> tuple[Range, ...] | None:
    """The arguments of the launch that a kernel is given to, by its name or by a variable that holds it; None where there is
    none. cutlass::launch_kernel_on_cluster(params, kernel, ...), cudaLaunchKernelEx(&config, kernel, ...), kernel<<<grid,
    block>>>(...)."""
    tokens = reader.tokens
    if (found := _launch_of(reader, place, end)) is not None:
        return found
    at = place
    while at > 0 and tokens[at].kind not in ("=", ";", "{", "}"):
        at -= 1
    if tokens[at].kind != "=" or tokens[at - 1].kind != "name":
        return None
    inside = function_of(scope)
    after = [n for n in reader.places().get(tokens[at - 1].text, ()) if n > end]
    after = [n for n in after if (there := scope_at(reader, n)) is not None and function_of(there) is inside]
    uses = [use for n in after if (use := use_at(reader, None, n)) is not None]
    launches = [use.arguments for use in uses if use.called]
    launches += [found for n in after if (found := _launch_of(reader, n, n + 1)) is not None]
    return launches[0] if len({tuple(map(reader.words, found)) for found in launches}) == 1 else None


def _launch_of(reader: Declarer, place: int, end: int) -> tuple[Range, ...] | None:
    """The arguments that a kernel is launched with whose name stands there, where it is an argument of a launch itself."""
    name, parts = launch_call(reader, place, end)
    return _packed(reader, parts[2], place) if name in RUNTIME and len(parts) > 2 else tuple(parts) if name else None


def launch_call(reader: Declarer, place: int, end: int) -> tuple[str, list[Range]]:
    """The function that launches a kernel whose name stands there, "" where nothing does, and its arguments behind that."""
    tokens = reader.tokens
    end += tokens[end].kind == ")" and tokens[end + 1].kind == ","  # of a cast
    if tokens[end].kind != ",":
        return "", []
    at = place - 1
    while at > 1 and (tokens[at].kind != "(" or reader.match[at] <= end):
        if tokens[at].kind == "}" and tokens[at + 1].kind == ",":  # `{1, 1, 1}`, an argument
            at = max((n for n in range(at) if tokens[n].kind == "{" and reader.match[n] == at), default=0)
        elif tokens[at].kind in (";", "{", "}"):
            return "", []
        at -= 1
    name = tokens[at - 1].text if tokens[at].kind == "(" else ""
    return (name, reader.split(end + 1, reader.match[at])) if "launch" in name.lower() else ("", [])


def _packed(reader: Declarer, part: Range, place: int) -> tuple[Range, ...] | None:
    """The arguments whose addresses an array has, `void* args[] = {&a, (void*)&b}`; None of another one."""
    tokens, (begin, end) = reader.tokens, part
    open_ = begin if tokens[begin].kind == "{" else 0
    for at in reader.places().get(tokens[begin].text, ()) if end - begin == 1 else ():
        words = [token.kind for token in tokens[at + 1 : at + 6]]
        brace = words.index("{") if "{" in words else 0
        if at < place and words[:1] == ["["] and words[brace - 1] in ("]", "="):
            open_ = at + 1 + brace
    if not open_:
        return None
    out = []
    for first, last in reader.split(open_ + 1, reader.match[open_]):
        address = next((n for n in range(first, last) if tokens[n].kind == "&"), first - 1)
        out.append((address + 1, next((n for n in range(address + 1, last) if tokens[n].kind == ")"), last)))
    return tuple(out)
