"""Whether a written stride has the parentheses of its shape; a caret goes under the smallest piece that does not."""

from __future__ import annotations

from cute_viz.errors import NotationError
from cute_viz.notation.syntax import Apply, Arith, At, Call, Chain, Infix, Node, Number, Sequence, source

_HINT = "every integer of the shape needs one stride, in the same parentheses"


def check_congruent(text: str, shape: Node, stride: Node) -> None:
    """Refuse `shape:stride` of one text where their nesting differs; names and calls may come to anything and pass.

    >>> from cute_viz.notation.statements import parse_program
    >>> text = "((2,2),4):((1,8,16),2)"
    >>> pair = parse_program(text)[0].value
    >>> try: check_congruent(text, pair.shape, pair.stride)
    ... except NotationError as error: print(error.message)
    the stride (1,8,16) has 3 modes, its shape (2,2) has 2 modes
    """
    shape, stride = without_parentheses(shape), without_parentheses(stride)
    if isinstance(shape, Sequence) and isinstance(stride, Sequence):
        if len(shape.items) != len(stride.items):
            message = f"the stride {source(text, stride)} has {_modes(stride)}, its shape {source(text, shape)} has {_modes(shape)}"
            raise NotationError(message, text=text, span=stride.span, hint=_HINT)
        for s, d in zip(shape.items, stride.items, strict=True):
            check_congruent(text, s, d)
    elif isinstance(shape, Sequence) and isinstance(stride, (Number, At)):
        message = f"the shape {source(text, shape)} has {_modes(shape)}, its stride {source(text, stride)} is one number"
        raise NotationError(message, text=text, span=stride.span, hint=_HINT)
    elif isinstance(shape, Number) and isinstance(stride, Sequence):
        number = source(text, shape)
        message = f"the shape {number} is one number, its stride {source(text, stride)} is a tuple"
        hint = f"a tuple of one mode is written ({number}); one stride belongs to {number}"
        raise NotationError(message, text=text, span=stride.span, hint=hint)


def without_parentheses(node: Node) -> Node:
    """What parentheses around one expression hold; other nodes as they are. (4) is a tuple of one mode.

    >>> from cute_viz.notation.statements import parse_program
    >>> [type(without_parentheses(parse_program(text)[0].value)).__name__ for text in ("(2*4)", "(8)")]
    ['Arith', 'Sequence']
    """
    if isinstance(node, Sequence) and node.bracket == "(" and len(node.items) == 1:
        inside = node.items[0]
        return inside if isinstance(inside, (Chain, Infix, Call, Apply, Arith)) else node
    return node


def _modes(node: Sequence) -> str:
    return f"{len(node.items)} mode{'' if len(node.items) == 1 else 's'}"
