"""Text <-> objects: CuTe notation in, values of the algebra out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cute_viz.notation.cute import parse_program
from cute_viz.notation.evaluate import evaluate_program


def parse(text: str, names: Mapping[str, Any] | None = None) -> Any:
    """The object that a text stands for: the value of its last statement.

    `names` are bindings that the text may use. Errors are CuteVizError with the place in the text.

    >>> str(parse("((16,8),8):((64,1),8)")), parse("(4,(2,3))"), str(parse("Sw<3,3,3> o _0 o (_8,_64):(_64,_1)"))
    ('((16,8),8):((64,1),8)', (4, (2, 3)), 'Sw<3,3,3> o _0 o (_8,_64):(_64,_1)')
    """
    key, values = run(text, names)
    return values[key]


def run(text: str, names: Mapping[str, Any] | None = None, warnings: list[str] | None = None) -> tuple[str, dict[str, Any]]:
    """The name of the last statement (`""` where it has none), and the values of all by name; warnings go into the list.

    >>> run("a = 4:2; a(3)")[1][""]
    6
    """
    statements = parse_program(text)
    return statements[-1].name or "", evaluate_program(statements, text, names, warnings)


def read_call(text: str) -> tuple[str, list[Any]]:
    """The name and the evaluated operands of the operation that is the last statement of a text.

    >>> name, operands = read_call("(4,8):(8,1) o 4:2")
    >>> name, [str(x) for x in operands]
    ('composition', ['(4,8):(8,1)', '4:2'])
    """
    from cute_viz.errors import NotationError
    from cute_viz.notation.evaluate import operation_of

    statements = parse_program(text)
    names = evaluate_program(statements[:-1], text) if statements[:-1] else {}
    call = operation_of(statements[-1].value, text, names)
    if call is None:
        raise NotationError(
            "there is no operation to explain",
            text=text,
            span=statements[-1].value.span,
            hint="such as complement(4:2, 24), or A o B",
        )
    return call
