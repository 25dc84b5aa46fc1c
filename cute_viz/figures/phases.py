"""The phase strip: an access of one warp, phase by phase, bank by bank, with the lanes that meet in each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.rulers import ruler, with_borders

_EMPTY, _ONE, _MORE = range(3)


def strip(title: str, source: str, phases: Sequence[Any], note: str) -> Figure:
    r"""The figure of phases (analysis.banks.Phase): a row a phase, a column a bank.

    A bank that is asked for one word shows its lanes; one asked for several shows how many, `2×`, and is boxed.

    >>> from cute_viz.analysis.banks import phases
    >>> strip("Two words of a bank", "", phases([0, 128] + [0] * 30, "ld.32"), "").panels[0].labels[:2]
    ('0,1,2…\n2×', '')
    """
    labels, paints, boxes = [], [], []
    for r, phase in enumerate(phases):
        for bank, words in enumerate(phase.banks):
            lanes = [lane for _, mine in words for lane in mine]
            shown = ",".join(map(str, sorted(set(lanes))[:3])) + ("…" if len(set(lanes)) > 3 else "")
            labels.append("" if not words else f"{shown}\n{len(words)}×" if len(words) > 1 else f"{shown}\n")
            paints.append(min(len(words), 2))
            if len(words) > 1:
                boxes.append((r, bank, r + 1, bank + 1))
    counts = [paints.count(p) for p in range(3)]
    return Figure(
        kind="phases",
        title=title,
        source=source,
        caption="a row is a phase, a column a bank; a cell shows the lanes that want it, and how many words they want of it",
        description=f"{title}. {note}",
        paints=(Paint(-1), Paint(0, 1, 2), Paint(1)),
        legends=(
            Legend(
                "hue: words that the phase wants of a bank",
                (
                    LegendEntry(_EMPTY, "none", counts[_EMPTY]),
                    LegendEntry(_ONE, "one", counts[_ONE]),
                    LegendEntry(_MORE, "several, a conflict (n×, boxed)", counts[_MORE]),
                ),
            ),
        ),
        panels=(
            Panel(
                caption="",
                rows=len(phases),
                cols=32,
                labels=tuple(labels),
                paints=tuple(paints),
                row_ruler=Ruler(
                    "phase", tuple(f"{n}: {phase.wavefronts}" for n, phase in enumerate(phases)), (0,) * (len(phases) + 1)
                ),
                col_ruler=with_borders(ruler("bank", 32), 8),
                boxes=tuple(boxes),
            ),
        ),
        notes=(note,),
    )
