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


def run(text: str, names: Mapping[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
    """The values of all statements by name, and the name of the last one (`""` where it has none).

    >>> run("a = 4:2; a(3)")[1][""]
    6
    """
    statements = parse_program(text)
    return statements[-1].name or "", evaluate_program(statements, text, names)
