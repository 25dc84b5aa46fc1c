"""Accesses -> what each step of each warp costs, and all together, ready for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cute_viz.analysis.access import global_request
from cute_viz.errors import AlgebraError
from cute_viz.spelling import count


def shared_report(found: Sequence[Any]) -> dict[str, object]:
    """The wavefronts of each access of shared memory, and of all."""
    rows = []
    for a in found:
        phases = a.phases()
        rows.append(
            {
                "warp": a.warp,
                "step": a.step,
                "instruction": a.called,
                "wavefronts": sum(phase.wavefronts for phase in phases),
                "ideal": a.ideal,
                "ways": max((phase.wavefronts for phase in phases), default=0),
                "phases": [phase.wavefronts for phase in phases],
                "conflicts": _conflicts(phases),
            }
        )
    total, ideal = sum(row["wavefronts"] for row in rows), sum(row["ideal"] for row in rows)
    worst = max((row["ways"] for row in rows), default=0)
    conflict = "no conflicts" if total == ideal else f"conflicts up to {worst}-way"
    verb = f"{ideal} {'is' if ideal == 1 else 'are'}"
    summary = f"{count(total, 'wavefront')} in {count(len(rows), 'instruction')}, {verb} ideal: {conflict}"
    return {"wavefronts": total, "ideal": ideal, "worst": worst, "summary": summary, "steps": rows}


def global_report(found: Sequence[Any]) -> dict[str, Any]:
    """The sectors and lines of each access of global memory, and of all. Raises: AlgebraError for an instruction of shared
    memory."""
    rows = []
    for a in found:
        if "matrix" in a.instruction:
            raise AlgebraError(
                f"the copy's {a.instruction} accesses shared memory", hint="leave out `global=`, or name an `instruction=`"
            )
        request = global_request(a.begins, a.width, a.mask)
        rows.append(
            {
                "warp": a.warp,
                "step": a.step,
                "instruction": a.called,
                "sectors": request.sectors,
                "lines": request.lines,
                "efficiency": round(request.efficiency, 4),
                "alignment": request.alignment,
            }
        )
    sectors = sum(row["sectors"] for row in rows)
    useful = sum(row["efficiency"] * row["sectors"] for row in rows) / max(1, sectors)
    summary = (
        f"{count(sectors, 'sector')} of 32 bytes in {count(len(rows), 'request')}: {100 * useful:.3g}% of their bytes are asked for"
    )
    return {"sectors": sectors, "efficiency": round(useful, 4), "summary": summary, "steps": rows}


def _conflicts(phases: Sequence[Any]) -> list[dict[str, object]]:
    """Who collides: of each bank that a phase asks for several words, the lanes of each word."""
    return [
        {"phase": n, "bank": bank, "lanes": [list(lanes) for _, lanes in phase.banks[bank]]}
        for n, phase in enumerate(phases)
        for bank in phase.conflicts
    ]
