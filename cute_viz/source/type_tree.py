"""One type as a compiler or demangler writes it -> the syntax tree of a value: `cute::Layout<cute::tuple<cute::C<8>>, ...>`."""

from __future__ import annotations

import re
from collections.abc import Callable

from cute_viz.errors import NotationError, Span
from cute_viz.limits import limit, over
from cute_viz.notation.syntax import At, Blank, Call, Chain, FlaggedPointer, Name, Node, Number, Ratio, Sequence, short

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>(?:\(\s*(?:[\w:]|\s(?=\w))+\s*\)\s*)?-?\d+(?:[uUlLzZ]{0,3}))(?![\w.])
      | (?P<name>(?:(?:const|volatile|typename|struct|class|enum)\s+)*
                 (?:\((?:[\w:]|\s)+\)\s*)?(?:::)?[A-Za-z_~$](?:[\w$]|::(?=[\w~$]))*
                 (?:\s+(?:int|long|char|short|unsigned|signed|double))*)
      | (?P<mark>[<>,(){}\[\]*&])
      | (?P<junk>\S)
    )""",
    re.VERBOSE,
)
_CAST = re.compile(r"\(\s*((?:[\w:]|\s)+?)\s*\)\s*")
_QUALIFIERS = re.compile(r"^(?:(?:const|volatile|typename|struct|class|enum)\s+)+")
INTEGRALS = ("C", "Int", "constant", "integral_constant")
_WORD = "(?:unsigned|signed|long|short|int|char)"
RUNTIME = re.compile(rf"{_WORD}(?:\s+{_WORD})*|(?:std::)?u?int\d+_t|(?:std::)?(?:size_t|ptrdiff_t)")
_TUPLES = ("tuple", "ArithmeticTuple", "Shape", "Stride", "Step", "Tile", "Coord", "Tiler")
_COUNTED = (*_TUPLES, "Layout", "ComposedLayout", "ScaledBasis", "Apply", "conditional_t")
_THREAD = ("ThrMMA", "ThrCopy")  # what one thread sees: the tiling, then the thread
_FLAGS = ("smem_ptr_flag_bits", "smem_sparse_ptr_flag_bits")
_VIEWS = re.compile(r"(?:Const)?ViewEngine")


class TypeParser:
    """Recursive descent over a type in a text, from a place on; `runtime` gives the node of an integer that only runs know.

    >>> node = TypeParser("cute::Layout<cute::tuple<cute::C<(int)8>, cute::_4>, LayoutLeft::Apply>", 0).type()
    >>> node.name, [item.value for item in node.template[0].template]
    ('Layout', [8, 4])
    """

    def __init__(self, text: str, start: int, end: int | None = None, runtime: Callable[[Span], Node] | None = None) -> None:
        self.text = text
        self.end = len(text) if end is None else end
        self.runtime = runtime
        self.depth = 0
        self.integers = False  # whether `int` stands for an integer: in tuples and layouts
        self.after = start  # where the token before ends
        self.match = _TOKEN.match(text, start, self.end)

    def advance(self) -> re.Match[str]:
        """Read one token."""
        if self.match is None:
            raise NotationError("this type is cut off", text=self.text, span=Span(max(0, self.end - 1), self.end))
        match = self.match
        self.after = match.end()
        self.match = _TOKEN.match(self.text, match.end(), self.end)
        return match

    def next(self) -> str:
        """The mark to read next; empty before anything else."""
        return (self.match["mark"] or "") if self.match is not None else ""

    def type(self) -> Node:
        """A type or a value, with what stands around it: `const`, `&`, `*`, `[8]`, a parameter list."""
        node = self.plain()
        while self.match is not None and (self.next() in ("*", "&", "[", "(") or self.match["name"] in ("const", "volatile")):
            mark = self.next()
            if mark in ("[", "("):
                self.skip("])"["[(".index(mark)])
            else:
                self.advance()
        return node

    def plain(self) -> Node:
        """A number, a name, or a name with template arguments."""
        token = self.advance()
        span = Span(token.start(token.lastgroup or 0), token.end())
        if token["number"]:
            return Number(span, _integer(token["number"]), True)
        if token["mark"] == "{":  # an argument pack
            return self.pack(span)
        if token["mark"] == "&":
            return self.type()
        if not token["name"]:
            raise NotationError(f"unexpected {token[0].strip()!r} in a type", text=self.text, span=span)
        return self.named(token["name"], span)

    def named(self, name: str, span: Span) -> Node:
        """What a name means, whose template arguments follow if it has any."""
        name = _QUALIFIERS.sub("", name)
        cast = _CAST.match(name)
        name = name[cast.end() :] if cast else name
        key = short(name)
        if key in ("true", "false"):
            return Number(span, int(key == "true"), True)
        if self.next() != "<":
            if key in ("Underscore", "_"):
                return Blank(span)
            if match := re.fullmatch(r"_(m?)(\d{1,18})", key):
                return Number(span, int(match[2]) * (-1 if match[1] else 1), True)
            if self.runtime is not None and self.integers and RUNTIME.fullmatch(name):
                return self.runtime(span)
            return Name(span, key if key in ("LayoutLeft", "LayoutRight") else name)
        around, self.integers = self.integers, key in _COUNTED
        arguments = self.arguments()
        self.integers = around
        span = span | Span(span.start, self.after)
        inside = self.text[span.start : span.end]
        if self.match is not None and self.match["name"] and self.match["name"].startswith("::"):  # a member of a class
            member = self.advance()
            return Name(Span(span.start, member.end()), inside + member["name"])
        return self.meaning(key, name, tuple(arguments), span)

    def meaning(self, key: str, name: str, arguments: tuple[Node, ...], span: Span) -> Node:
        """A template and its arguments, as the notation would write the value."""
        if key in INTEGRALS and arguments and isinstance(arguments[-1], Number):
            return Number(span, arguments[-1].value, True)
        if key == "R" and len(arguments) == 2 and isinstance(arguments[0], Number) and isinstance(arguments[1], Number):
            return Ratio(span, arguments[0].value, arguments[1].value, True)
        if key == "ScaledBasis" and len(arguments) > 1:
            value, path = arguments[0], arguments[1:]
            if (isinstance(value, (Number, Ratio)) or (isinstance(value, Name) and value.text == "?")) and all(isinstance(n, Number) for n in path):
                return At(span, value, tuple(n.value for n in reversed(path) if isinstance(n, Number)))
            return Call(span, "ScaledBasis", arguments, None)
        if key == "Apply" and name.rpartition("::")[0].endswith(("LayoutLeft", "LayoutRight")) and arguments:
            return compact(span, arguments[0], name.rpartition("::")[0].endswith("LayoutLeft"))
        if key == "conditional_t" and len(arguments) == 3 and isinstance(arguments[0], Number):
            return arguments[1 if arguments[0].value else 2]
        if key == "Layout" and len(arguments) == 1:
            return Call(span, key, (arguments[0], compact(span, arguments[0], True)), None)
        if key in _TUPLES:
            return Call(span, "tuple", arguments, None) if arguments else Sequence(span, "(", ())
        if key in _THREAD and arguments:
            return arguments[0]
        if key == "Tensor" and len(arguments) == 2:
            return self.tensor(arguments[0], arguments[1], span)
        if key in ("Layout", "ComposedLayout", "Swizzle", "TiledMMA", "TiledCopy", "MMA_Atom", "Copy_Atom") or key in _FLAGS:
            return Call(span, key, arguments, None)
        return Call(span, name, arguments, None)

    def tensor(self, engine: Node, layout: Node, span: Span) -> Node:
        """A tensor: the layout, behind the swizzle of its pointer or the coordinate where it begins."""
        while (
            isinstance(engine, Call)
            and engine.template
            and (_VIEWS.fullmatch(short(engine.name)) or short(engine.name) == "gmem_ptr")
        ):
            engine = engine.template[0]
        if isinstance(engine, Call) and short(engine.name) == "ArithmeticTupleIterator" and engine.template:
            return Call(span, "tensor", (Chain(span, (_bracket(engine.template[0]), layout)),), None)
        if isinstance(engine, Call) and short(engine.name) == "swizzle_ptr" and len(engine.template) == 2:
            bits = _bits(self.text, engine.template[1])
            if bits is not None:
                return Chain(span, (engine.template[0], FlaggedPointer(engine.span, "smem_ptr", bits, 1), layout))
        return layout

    def arguments(self) -> list[Node]:
        """`<a, b, c>`; a pack in braces is part of the list."""
        opening = self.advance()
        self.depth += 1
        if self.depth > limit("nesting"):
            raise over("nesting", "templates nested too deeply", text=self.text, span=Span(opening.start("mark"), opening.end()))
        out: list[Node] = []
        while self.next() != ">":
            item = self.type()
            out += item.items if isinstance(item, Sequence) and item.bracket == "{" else [item]
            if self.next() == ",":
                self.advance()
            elif self.next() != ">":
                token = self.advance()
                span = Span(token.start(token.lastgroup or 0), token.end())
                raise NotationError(f"expected ',' or '>' in a type, found {token[0].strip()!r}", text=self.text, span=span)
        self.advance()
        self.depth -= 1
        return out

    def pack(self, span: Span) -> Node:
        """`{a, b}`, an argument pack of another demangler."""
        out: list[Node] = []
        while self.next() != "}":
            out.append(self.type())
            if self.next() == ",":
                self.advance()
            elif self.next() != "}":
                raise NotationError("'{' is never closed", text=self.text, span=span)
        return Sequence(span | Span(span.start, self.advance().end()), "{", tuple(out))

    def skip(self, close: str) -> None:
        """Read a bracket without looking into it."""
        depth = 0
        while True:
            mark = self.advance()["mark"]
            depth += (mark is not None and mark in "([") - (mark is not None and mark in ")]")
            if depth <= 0 and mark == close:
                return


def _integer(text: str) -> int:
    digits = _CAST.sub("", text).rstrip("uUlLzZ")
    longest = limit("digits")
    if len(digits) > longest:
        raise over("digits", f"an integer of {len(digits)} digits")
    return int(digits)


def _bracket(node: Node) -> Node:
    """A tuple as the notation writes the origin of a tensor."""
    items = node.template if isinstance(node, Call) and node.name == "tuple" else (node,)
    return Sequence(node.span, "(", items)


def _bits(text: str, pointer: Node) -> int | None:
    """The width of what a pointer points to: `smem_ptr<cutlass::half_t*>`."""
    from cute_viz.values.types import named

    inside = pointer.template[0] if isinstance(pointer, Call) and len(pointer.template) == 1 else pointer
    element = named(re.sub(r"[\s*&]|const\b", "", text[inside.span.start : inside.span.end]))
    return element.bits if element else None


def compact(span: Span, shape: Node, left: bool) -> Node:
    """The strides of LayoutLeft or LayoutRight for a shape: static up to the first extent that is none, 0 where the extent is a
    static 1 (cute/stride.hpp, compact_major).

    >>> shape = TypeParser("tuple<C<4>, C<2>>", 0).type()
    >>> [node.value for node in compact(shape.span, shape, left=False).template]
    [2, 1]
    """
    reach: Node = Number(span, 1, True)

    def go(node: Node) -> Node:
        nonlocal reach
        if isinstance(node, (Call, Sequence)):
            items = node.template if isinstance(node, Call) else node.items
            strides = tuple(map(go, items if left else items[::-1]))
            done = strides if left else strides[::-1]
            return Call(span, "tuple", done, None) if done else Sequence(span, "(", ())
        if isinstance(node, Number) and node.static and node.value == 1:
            return Number(span, 0, True)
        stride = reach
        if isinstance(reach, Number):
            reach = Number(span, reach.value * node.value, reach.static and node.static) if isinstance(node, Number) else node
        return stride

    return go(shape)


def arguments(type_: str) -> list[str]:
    """The template arguments of a type.

    >>> arguments("A<B<int, 4>, C &>")
    ['B<int, 4>', 'C &']
    """
    out, depth, begin = [], 0, 0
    for n, char in enumerate(type_):
        if char in "<(":
            depth += 1
            begin = n + 1 if depth == 1 else begin
        elif char in ">)" or (char == "," and depth == 1):
            if depth == 1:
                out.append(type_[begin:n].strip())
                begin = n + 1
            depth -= char != ","
            if not depth:
                break
    return out
