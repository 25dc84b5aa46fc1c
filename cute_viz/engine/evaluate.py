"""The value of a text: the shortest walk, on which nothing of pictures and files is imported."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cute_viz.algebra.common import outside_told
from cute_viz.engine.reading import values_of
from cute_viz.engine.request import Request
from cute_viz.errors import CuteVizError
from cute_viz.limits import raised

MOVES = r"\b(?:copy\w*|cooperative_copy|axpby|gemm)\s*[<(]"  # statements that give no value


def evaluate(
    text: str,
    request: Request,
    names: dict[str, object] | None = None,
    warn: Callable[[str], None] | None = None,
    printed: bool = False,
) -> tuple[Any, dict[str, Any]]:
    """The value of a text's last statement, or of the one that the request names, and every value by its name.

    names: bound before, instead of the request's `let`. warn: called with what is not as it seems, such as a composition that is
    not pointwise. printed: of a tensor as it is printed, without where it begins.

    Of a copy or an MMA at the end it is the verdict in words.
    """
    warnings: list[str] | None = None if warn is None else []
    with raised(request.limits), outside_told() as outside:
        bound = values_of(request.let, request) if names is None else names
        if re.search(MOVES, text):
            from cute_viz.engine.explaining import check_moves, explain, move_at_end

            if request.name is not None:
                check_moves(text, request.name, bound, request.library)
            elif move_at_end(text):
                return explain(text, bound, request.library).steps[0].words, {}
        try:
            document = request.library.read(text, bound, warnings, dialect=request.dialect, free=True)
        except CuteVizError as error:
            from cute_viz.engine.suggest import suggested

            raise suggested(error, text, request.library, request.files, drawn=False) from None
        for words in () if warnings is None else (*warnings, *outside):
            warn(words)  # type: ignore[misc]
        value = document.pick(request.name)
        tensor = document.tensors.get(request.name or str(document.last)) if printed else None
        return value if tensor is None else tensor.printed, document.bound()
