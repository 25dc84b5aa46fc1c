"""The values that a report waits for, all at once: names, types, and candidates that stand in the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from cute_viz.errors import CuteVizError

if TYPE_CHECKING:
    from cute_viz.engine.kernel_rows import Report
    from cute_viz.source.model import Asked, SourceFile

_ROUNDS = 4  # of names that are asked for once others have values: each takes as long as a report without fixes
_MOST = 24  # names
_TYPE = "the element type is unknown"


def asked(file: SourceFile, report: Report, again: Callable[[Mapping[str, str]], Report | None]) -> tuple[Asked, ...]:
    """Every value that the rows of a report wait for, those too that are asked for once the first ones are given.

    again: the report with values for names.
    """
    out: dict[str, Asked] = {}
    now: Report | None = report
    for left in reversed(range(_ROUNDS)):
        if now is None or file.asks is None or len(out) > _MOST:
            break
        names = [name for _, error in now.unknown for name in error.needs]
        functions = {move.scope[-1] for move, error in now.unknown if error.message == _TYPE and move.scope}
        new = {one.name: one for one in file.asks(names, functions) if one.name not in {**out, **file.given.let}}
        out |= new
        if not new or not left:
            break
        try:
            now = again({name: one.trial for name, one in out.items() if one.trial})
        except CuteVizError:
            break
    return tuple(out.values())
