"""`Tensor::value_type` of a parameter of a function: what the tensor that its call hands over is made of."""

from __future__ import annotations

from cute_viz.algebra.elements import ValueType
from cute_viz.source.cpp.lookup import opened
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.shares import Shares
from cute_viz.source.cpp.tree import Id
from cute_viz.source.cpp.uses import only_call

NAMES = ("value_type", "element_type")
_AROUND = frozenset(("const", "&", "&&", "volatile"))


def element_type(meaning: Meaning, node: Id) -> ValueType | None:
    """The type that `T::value_type` is, where T is what a call deduces; None where the file does not tell.

    Raises: the error of the tensor that is handed over.
    """
    name = node.parts[0].name
    found = meaning.lookup.find(name, meaning.env, meaning.position(node.span))
    if found is None or len(node.parts) != 2 or node.parts[1].name not in NAMES:
        return None
    scope, context = found.env.scope, meaning.context
    use = context.chosen.get(scope) or (only_call(context.reader, scope) if scope.kind == "function" else None)
    if use is None:
        return None
    for param, part in zip(scope.arguments, use.arguments, strict=False):
        words = [token.text for token in context.reader.tokens[slice(*param.type)]] if param.type is not None else []
        if [word for word in words if word not in _AROUND] == [name]:
            kind = Shares(meaning.inside(opened(context, use.scope))).of(context.tree(part)).type
            return ValueType(kind) if kind else None
    return None
