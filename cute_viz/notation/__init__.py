"""Text <-> objects: CuTe notation, C++ source, the Python DSL and printed dumps in, values of the algebra out."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from cute_viz.algebra.common import Operation
from cute_viz.errors import CuteVizError, LimitError, NotationError, Span
from cute_viz.limits import limit, raised_by
from cute_viz.notation.program import Document, evaluate_program, operations_of
from cute_viz.notation.statements import parse_program
from cute_viz.notation.syntax import Call, Name, Node, Passage, Resolver, Statement, short
from cute_viz.records import pattern

DIALECTS = ("auto", "cute", "cpp", "dsl", "dump", "triton")
_MESSAGES = ("warning", "error", "note", "remark", "Traceback")  # of a compiler, of Python: worth a closer look


def parse(
    text: str,
    names: Mapping[str, object] | None = None,
    *,
    dialect: str = "auto",
    name: str | None = None,
    resolve: Resolver | None = None,
) -> Any:
    """The object that a text stands for: the value of its last statement, or of the one called `name`. `names` are bindings that
    the text may use; `resolve` gives the atom of a name. Errors are CuteVizError with the place in the text."""
    return Notation(Passage(text, names or {}, dialect=dialect, resolve=resolve)).document().pick(name)


def _read(source: Passage) -> Document:
    if "\x1b" in source.text:  # the colours of a terminal
        from cute_viz.notation.dumps import strip_colors

        source = source.of(strip_colors(source.text))
    source = source.of(_without_operations(source.text))
    text, dialect = source.text, source.dialect
    if dialect == "triton" or (dialect == "auto" and is_triton(text)):
        from cute_viz.notation.triton import read_triton

        return read_triton(source)
    if dialect == "dump":
        from cute_viz.notation.dumps import read_dump

        return read_dump(source)
    if dialect == "auto" and len(text) > limit("source") and "\n" in text:  # a log, or nothing that a person would paste
        from cute_viz.notation.dumps import read_dump

        try:
            return read_dump(source)
        except CuteVizError as error:
            most, way = limit("source"), raised_by("source")
            hint = f"text of more than {most} characters is searched for prints; as source code {way} reads it"
            raise (error if error.hint else error.but(hint=hint)) from None
    if dialect == "auto" and "\n" in text and any(word in text for word in _MESSAGES):
        from cute_viz.notation.dumps import find_log

        if (log := find_log(source)) is not None:
            return log
    problem: CuteVizError | None
    try:
        document = evaluate_program(parse_program(text), source)
        problem = document.problem()
    except CuteVizError as error:
        document, problem = Document(), error
    if problem is not None and dialect == "auto" and not document.mistaken:
        from cute_viz.notation.dumps import find_dump

        if (found := find_dump(source)) is not None:
            return found
    if problem is not None and not document.values:
        raise problem
    return document


def is_triton(text: str) -> bool:
    """Whether a text has an encoding of Triton or Gluon in it."""
    if "#t" not in text and "Layout(" not in text and "with_identity_for(" not in text:
        return False
    from cute_viz.notation.triton_text import mentions

    return mentions(text)


# The DSL's print of an instruction: its name, then its parameters, the shape among them, which is not a layout.
_OPERATION = pattern(
    r"^(?=[^\n=]*\n)[^\n=:(]*\b(?:MMA|[Cc]opy|[Rr]eduction|[Ll]oad|[Ss]tore) [Oo]peration\b[^\n]*\n"
    r"(?:[ \t][^\n=]+=[^\n]*(?:\n|$))+",
    re.M,
)


def _without_operations(text: str) -> str:
    """A text with the prints of instructions blanked out; an error where there is nothing else."""
    if "peration" not in text or (found := _OPERATION.search(text)) is None:
        return text
    rest = _OPERATION.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    if rest.strip():
        return rest
    raise NotationError(
        f"{found[0].splitlines()[0].strip()!r} is an instruction, whose print has no layouts",
        text=text,
        span=Span(found.start(), found.start() + len(found[0].splitlines()[0])),
        hint="print the atom or the tiling that is made of it, for example cute.make_tiled_mma(op)",
    )


class Notation:
    """The statements of a text, which is read with what a `Passage` has."""

    def __init__(self, source: Passage) -> None:
        self.source = source

    def document(self) -> Document:
        """Everything that the text holds, by name. The dialect shows in the text: `cute` and `cpp` are one language, `dsl` is
        Python's grammar, a `dump` is what CuTe printed, amid other lines; `triton` are encodings of Triton and Gluon, for a
        shape, which their types or `shape` say."""
        with _shallow(self.source.text):
            return _read(self.source)

    def calls(self, name: str | None = None) -> tuple[Operation, ...]:
        """The operation that the last statement is, or the last that binds a name, behind those whose result it slices."""
        with _shallow(self.source.text):
            statements = parse_program(self.source.text)
            binding = [n for n, statement in enumerate(statements) if statement.name == name and name is not None]
            return self._operations(statements[: binding[-1] + 1] if binding else statements)

    def called(self) -> str:
        """The name of the function that the last statement calls; "" of any other."""
        with _shallow(self.source.text):
            return _called(parse_program(self.source.text)[-1])

    def calls_with(self, name: str, of: Container[str]) -> Iterator[Operation]:
        """The statements that call one of some functions with a name as an argument, as far as they can be read."""
        with _shallow(self.source.text):
            statements = parse_program(self.source.text)
            for n, statement in enumerate(statements):
                if _called(statement) in of and _mentions(statement.value, name):
                    with suppress(CuteVizError):  # what cannot be read says nothing of it
                        yield from self._operations(statements[: n + 1])

    def _operations(self, statements: list[Statement]) -> tuple[Operation, ...]:
        """The operation that the last of some statements is."""
        *before, last = statements
        document = evaluate_program(before, self.source)
        if last.value is None:
            assert last.error is not None
            raise last.error
        try:
            return operations_of(last.value, self.source.seeing({**self.source.names, **document.bound()}))
        except CuteVizError as error:  # the cause is that of a name whose own statement failed
            words = re.findall(r"[A-Za-z_]\w*", self.source.text[last.span.start : last.span.end])
            raise next((document.failures[word] for word in words if word in document.failures), error) from None


def _called(statement: Statement) -> str:
    node = statement.value
    if not isinstance(node, Call) or node.args is None or statement.name is not None:
        return ""
    return short(node.name).removeprefix("cute.")


def _mentions(node: Node | None, name: str) -> bool:
    if node is None:
        return False
    words = (node.text if isinstance(node, Name) else node.name if isinstance(node, Call) else "").split(".")
    return name in words or any(_mentions(child, name) for child in node.children())


@contextmanager
def _shallow(text: str) -> Iterator[None]:
    """What is nested deeper than Python's stack is an error of the text: brackets are counted, operators in a row are not."""
    try:
        yield
    except RecursionError:
        raise LimitError(
            "this is nested too deeply, or has too many operators in a row",
            text=text,
            span=Span(0, 1),
            hint="name its parts, a line each: a = ...; b = f(a)",
        ) from None
