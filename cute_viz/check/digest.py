"""The mapping that a picture draws, its digest, and the kept reports that say which digests a device has confirmed.

A claim "verified on ..." is bound to the mapping itself: change one cell and the digest, and with it the claim, is gone.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

from cute_viz.algebra.copy import Copy_Atom, CopyOp
from cute_viz.errors import CuteVizError
from cute_viz.figures.copy import as_run
from cute_viz.figures.model import Figure, Panel
from cute_viz.figures.options import NOT_RUN
from cute_viz.files import read_text
from cute_viz.spec import PACKAGED, Library

LENGTH = 16  # hexadecimal digits of the SHA-256 that are kept


def role(panel: Panel) -> str:
    """What a panel shows: its caption up to the colon."""
    return panel.caption.partition(":")[0]


def owners(panel: Panel) -> list[tuple[tuple[int, int], ...]]:
    """For each cell, every (thread, value) that owns it, lowest first."""
    threads, values = panel.data["thread"], panel.data["value"]
    out: list[tuple[tuple[int, int], ...]] = [() if t is None else ((t, v),) for t, v in zip(threads, values, strict=True)]
    for cell, several in panel.owners:
        out[cell] = tuple(sorted((t, v) for t, v in several))
    return out


def shared_by_all(figure: Figure, panel: Panel) -> bool:
    """Whether every thread owns every cell: an operand behind a descriptor, which has no mapping to confirm."""
    return not panel.owners and set(panel.data["thread"]) == {0} and figure.facts.get("threads", 1) > 1


def mapping(figure: Figure) -> list[Any]:
    """What a figure says of its object, less everything that is only looks. A list of panels: role, rows, columns, and either
    the owners of each cell or the cell's offset or coordinate."""
    out: list[Any] = []
    for panel in figure.panels:
        if "thread" in panel.data:
            if not shared_by_all(figure, panel):
                out.append([role(panel), panel.rows, panel.cols, owners(panel)])
        elif column := panel.data.get("offset") or panel.data.get("coordinate"):
            out.append([role(panel), panel.rows, panel.cols, column])
    return out


def digest(figure: Figure) -> str:
    """The digest of what a figure says."""
    text = json.dumps([figure.kind, mapping(figure)], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def reports(library: Library = PACKAGED) -> tuple[dict[str, Any], ...]:
    """The kept reports: verified/*.json of every folder of a library. Raises: CuteVizError for a file that is not such a report,
    and for a link that leaves its folder."""
    out = []
    for directory in library.directories():
        folder = os.path.join(directory, "verified")
        if os.path.isdir(folder):
            paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".json"))
            out += [_report(path, directory, os.stat(path).st_mtime_ns) for path in paths]
    return tuple(out)


@lru_cache(maxsize=64)
def _report(path: str, directory: str, changed: int) -> dict[str, Any]:
    """The report in one file, read again when it has changed."""
    try:
        kept = json.loads(read_text(path, directory))
        if not (isinstance(kept["device"], str) and isinstance(kept["agree"], dict) and isinstance(kept["known"], dict)):
            raise TypeError
    except (ValueError, LookupError, TypeError, AttributeError):
        raise CuteVizError(
            "this is not the report of a check", name=path, hint="cute-viz verify --save writes one; remove any other file"
        ) from None
    return dict(kept)


def verified(name: str, figure: Figure, library: Library = PACKAGED) -> str | None:
    """The devices on which the mapping of this figure was confirmed under this name; None where none was."""
    kept = [report for report in reports(library) if name in report["agree"]]
    if not kept:
        return None
    now = digest(figure)
    devices = [report["device"] for report in kept if report["agree"][name] == now]
    return ", ".join(dict.fromkeys(devices)) or None


def known(name: str, library: Library = PACKAGED) -> str | None:
    """What a kept report says of a table that CuTe has otherwise than the hardware; None for all others."""
    return next((report["known"][name] for report in reports(library) if name in report["known"]), None)


def told(words: str, library: Library = PACKAGED) -> str:
    """Words of a picture or a fact; what they say of a machine on which nothing was run gives way to the kept report of one."""
    if NOT_RUN not in words:
        return words
    kept = {report["device"]: str(report.get("capability", "")).replace(".", "") for report in reports(library) if report["agree"]}

    def now(found: re.Match[str]) -> str:
        devices = [device for device, its in kept.items() if its[:-1] == found[1][:-1] and its[-1] >= found[1][-1]]
        return f"SM{found[1]}: pictures of this kind were checked on {', '.join(devices)}." if devices else found[0]

    return re.sub(rf"SM(\d{{3}}): {NOT_RUN}\.", now, words)


def owned_up(figure: Figure, library: Library = PACKAGED) -> Figure:
    """The figure, its notes and its description as `told` has them."""
    notes = tuple(told(note, library) for note in figure.notes)
    return replace(figure, notes=notes, description=told(figure.description, library))


def noted(figure: Figure, obj: object, library: Library = PACKAGED) -> Figure:
    """The figure of an atom with a note on the device that confirmed it, or that is known to differ; any other as it is."""
    name = getattr(obj, "name", "")
    if not name or figure.kind not in ("mma", "copy"):
        return figure
    if words := known(name, library):
        head = "Known to differ from hardware"
        if isinstance(obj, (CopyOp, Copy_Atom)) and as_run(obj) != obj:
            head = "Drawn as the hardware does it"
        return replace(figure, notes=(*figure.notes, f"{head}: {words}."))
    devices = verified(name, figure, library)
    return replace(figure, notes=(*figure.notes, f"Verified on {devices}.")) if devices else figure
