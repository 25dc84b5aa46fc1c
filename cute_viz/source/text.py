"""A text of no file -> what it holds, by the reader of its language: `cpp/` for C++, `notation/` for all else."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cute_viz import notation
from cute_viz.errors import CuteVizError
from cute_viz.limits import limit
from cute_viz.notation.reading import Passage

if TYPE_CHECKING:
    from cute_viz.algebra.call import Operation
    from cute_viz.notation.program import Document
    from cute_viz.notation.reading import Resolver
    from cute_viz.source.cpp.line import Pasted

# What C++ has and notation has not: braces, types with arguments, what makes tuples and pointers, declarations.
_CPP = re.compile(
    r"(?<!LayoutLeft)(?<!LayoutRight)(?<!GenRowMajor)(?<!GenColMajor)(?<!\?)(?<=[\w>])\{|\b(?:auto|using|constexpr|decltype|typename)\b"
    r"|\b(?:Layout|Shape|Stride|Step|Tiler?|Coord|tuple|Int|C|ComposedLayout|(?:Copy|MMA)_(?:Atom|Traits)|TiledMMA|TiledCopy|uint_\w+_t|\w+_v|smem_ptr_flag_bits)<"
    r"|\bmake_(?:(?:shape|stride|step|coord|tile|tuple|\w+_ptr|tensor|inttuple_iter)\b|\w+\(\s*\d+\s*[,)])|_selector(?:_sparse)?<|\bLayout_\w+<|\brecast<|>::\w+"
    r"|(?m:^|;)[ \t]*(?!return\b|import\b|from\b|for\b)[A-Za-z_][\w:]*[ \t]+[&*]*[A-Za-z_]\w*[ \t]*="
)
# Functions and classes.
_BLOCK = re.compile(r"\w[\s&*]+\w+\s*\([^()]*\)\s*(?:const\s*)?\{|\b(?:struct|class|namespace|template)\b")
_OTHER = re.compile(r"\bcute\.|\bstride\s*=|#tt|!cute|\?\{")  # the DSL, Triton, CuTe IR


def is_cpp(text: str, dialect: str = "auto") -> bool:
    """Whether a text is one of C++.

    >>> [is_cpp(x) for x in ("(4,8):(8,1)", "auto a = Layout<_4>{};", "size<1>((4,8))", "cute.make_layout(4)")]
    [False, True, False, False]
    """
    if dialect not in ("auto", "cpp", "cute") or _CPP.search(text) is None or len(text) > limit("source"):
        return False
    if _OTHER.search(text) is not None or notation.is_triton(text):
        return False
    if "\n" not in text.strip():
        return True
    from cute_viz.source.sniff import sniff

    return sniff(text) in ("cpp", "notation")


def _lines(source: Passage) -> Pasted:
    from cute_viz.source.cpp.line import Pasted

    return Pasted(source)


def read(
    text: str,
    names: Mapping[str, Any] | None = None,
    warnings: list[str] | None = None,
    *,
    dialect: str = "auto",
    resolve: Resolver | None = None,
    shape: tuple[int, ...] = (),
    free: bool = False,
) -> Document:
    """Everything that a text holds, by name; see `notation.read`.

    >>> str(read("auto a = Layout<_4>{}; composition(a, 2:1)").pick())
    '_2:_1'
    """
    if not is_cpp(text, dialect):
        return notation.read(text, names, warnings, dialect=dialect, resolve=resolve, shape=shape, free=free)
    if _BLOCK.search(text):
        return _of_file(text, names or {}, resolve)
    document = _lines(Passage(text, names or {}, warnings, dialect, resolve, shape, free)).document()
    if not document.values and (problem := document.problem()) is not None:
        raise problem
    return document


def _of_file(text: str, names: Mapping[str, Any], resolve: Resolver | None) -> Document:
    """What a text of functions and classes holds, as a file of it does."""
    from cute_viz.algebra.tensor import Tensor
    from cute_viz.notation.program import Document
    from cute_viz.source.cpp import read as read_file
    from cute_viz.source.cpp.unknown import certain
    from cute_viz.source.model import Given

    out = Document()
    for entry in read_file(text, Given(names, resolve)).entries:
        try:
            out.values[entry.name], out.last = certain(entry.read()), entry.name
        except CuteVizError as error:
            out.failures[entry.name] = out.last = error
            continue
        if isinstance(tensor := entry.tensor() if entry.tensor is not None else None, Tensor):
            out.tensors[entry.name] = tensor
            out.bits |= {entry.name: tensor.bits} if tensor.pointer.known is not None else {}
    if not out.values and (problem := out.problem()) is not None:
        raise problem
    return out


def parse(
    text: str,
    names: Mapping[str, Any] | None = None,
    *,
    dialect: str = "auto",
    name: str | None = None,
    resolve: Resolver | None = None,
) -> Any:
    """The object that a text stands for: the value of its last statement, or of the one called `name`.

    >>> str(parse("Layout<Shape<_4,_8>>{}"))
    '(_4,_8):(_1,_4)'
    """
    return read(text, names, dialect=dialect, resolve=resolve).pick(name)


def read_calls(
    text: str, names: Mapping[str, Any] | None = None, resolve: Resolver | None = None, name: str | None = None
) -> tuple[Operation, ...]:
    """The operation that the last statement of a text is, or the last that binds a name, behind those whose result it slices.

    >>> [str(call) for call in read_calls("auto a = logical_divide(Layout<_8>{}, 2)(_,1);", name="a")]
    ['logical_divide(_8:_1, 2)', 'slice((_,1), (2,4):(_1,2))']
    """
    if not is_cpp(text):
        return notation.read_calls(text, names, resolve, name)
    return _lines(Passage(text, names or {}, resolve=resolve)).calls(name)


def read_call(
    text: str, names: Mapping[str, Any] | None = None, resolve: Resolver | None = None, name: str | None = None
) -> tuple[str, list[Any], tuple[Any, ...]]:
    """The operation that the last statement is: what it is called, its operands and template arguments. Of an object that is no
    operation the name is "", and the operand the object.

    >>> name, operands, template = read_call("take<0,1>(Layout<Shape<_4,_8>>{})")
    >>> name, [str(x) for x in operands], template
    ('take', ['(_4,_8):(_1,_4)'], (0, 1))
    """
    if calls := read_calls(text, names, resolve, name):
        return calls[-1].name, list(calls[-1].operands), calls[-1].template
    return "", [parse(text, names, resolve=resolve, name=name)], ()


def called_last(text: str) -> str:
    """The name of the function that the last statement of a text calls; "" of any other, and of what cannot be read.

    >>> called_last("a = 4:2; cute::copy(a, a)"), called_last("a = 4:2")
    ('copy', '')
    """
    if not is_cpp(text):
        return notation.called_last(text)
    try:
        return _lines(Passage(text)).called()
    except CuteVizError:
        return ""


def calls_with(text: str, name: str, of: Container[str], names: Mapping[str, Any], resolve: Resolver | None) -> Iterator[Operation]:
    """The statements of a text, in no function, that call one of some names with a name as an argument, as far as they can be read.

    >>> [str(call) for call in calls_with("a = Layout<_4>{}; size(a); size(8)", "a", ("size",), {}, None)]
    ['size(_4:_1)']
    """
    if is_cpp(text):
        return _lines(Passage(text, names, resolve=resolve)).calls_with(name, of)
    return notation.calls_with(text, name, of, names, resolve)
