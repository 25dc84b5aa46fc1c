"""A layout and its complement on a number line: which offsets each reaches, and both together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cute_viz.figures.model import Panel, Ruler

LONGEST = 128  # offsets of a line that is drawn


def number_line(own: Sequence[int], rest: Sequence[int], both: Mapping[int, int], paper: int, caption: str) -> Panel | None:
    """The panel of a number line: a row for A's offsets, one for those of its complement, one for those of both.

    own, rest: the offsets of A and of its complement. both: the paint of each offset that the two reach together. paper: that of
    the others. None where the line would be too long, or offsets are negative.

    >>> line = number_line([0, 1], [0, 2], {0: 0, 1: 0, 2: 1, 3: 1}, 2, "")
    >>> line and (line.cols, line.labels[:4], line.paints[4:])
    (4, ('0', '1', '', ''), (0, 2, 1, 2, 0, 0, 1, 1))
    """
    last = max(both, default=0)
    if not both or min(both) < 0 or last >= LONGEST:
        return None
    rows = (set(own), set(rest), set(both))
    cells = [(n, n in row) for row in rows for n in range(last + 1)]
    return Panel(
        caption=caption,
        labels=tuple([str(n) if reached else "" for n, reached in cells]),
        paints=tuple([both.get(n, paper) if reached else paper for n, reached in cells]),
        row_ruler=Ruler("", ("A", "complement", "both"), (0, 1, 1, 0)),
        col_ruler=Ruler("offset", tuple(map(str, range(last + 1))), (0,) * (last + 2)),
        data={"offset": tuple([n if reached else None for n, reached in cells])},
        place=(1, 0),
    )
