"""`cute-viz show`: the facts of a layout, an atom or a tiling."""

from __future__ import annotations

from typing import Any

import click

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import is_int_tuple, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.cli import output, source
from cute_viz.errors import CuteVizError


@click.command(
    epilog="\b\nExamples:\n  cute-viz show '((16,8),8):((64,1),8)'\n  cute-viz show 'Sw<3,3,3> o 0 o (8,64):(64,1)' --json\n"
    "  cute-viz show SM80_16x8x16_F32BF16BF16F32_TN"
)
@click.argument("source_", metavar="SOURCE")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@source.options
def command(source_: str, as_json: bool, reading: source.Reading) -> None:
    """Tell the facts of SOURCE: of a layout its size, cosize, whether it is injective, contiguous, and so on; of an atom its
    layouts, types and where they come from.
    """
    obj = source.read_object(source_, reading)
    facts = _facts(obj) | _claims(getattr(obj, "name", "") or source_, obj)
    output.facts(facts, as_json)


def _claims(name: str, obj: Any) -> dict[str, Any]:
    """What a kept report of `cute-viz check` says of this very mapping."""
    from cute_viz.check import digest

    if words := digest.known(name):
        return {"on hardware": words}
    if not any(name in report["agree"] for report in digest.reports()):
        return {}
    from cute_viz.figures import build
    from cute_viz.figures.options import FigureOptions

    operand = ("CA" if "_RS" in name else "C") if name.startswith("SM90_64x") else None  # the rest is behind descriptors
    devices = digest.verified(name, build(obj, FigureOptions(operand=operand, max_cells=1 << 20)))
    return {"verified on": devices} if devices else {}


def _facts(subject: Any) -> dict[str, Any]:
    if subject != () and is_int_tuple(subject):
        subject = Layout(subject)
    if isinstance(subject, Swizzle):
        return {"swizzle": str(subject), "reads bits": f"{subject.yyy:#b}", "changes bits": f"{subject.zzz:#b}"}
    if isinstance(subject, (Layout, ComposedLayout)):
        from cute_viz.analysis.facts import layout_facts

        return layout_facts(subject)
    from cute_viz.algebra.static import is_tiling

    if is_tiling(subject) or type(subject).__name__ == "CopyOp":
        from cute_viz.analysis.tilings import tiling_facts

        facts = tiling_facts(subject)
        if name := facts.get("op"):
            from cute_viz.spec.library import describe

            facts |= describe(name)
        return facts
    raise CuteVizError(f"{show(subject)} is not a layout", hint="such as (4,8):(8,1)")
