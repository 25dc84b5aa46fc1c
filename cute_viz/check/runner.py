"""What an interface calls: objects -> checks -> device -> verdicts, as one `CheckReport`; or their kernels as text. Prints nothing.

`check` runs kernels on the GPU, `static` has layouts compiled; `kernels` and `asserts` give the text of either, and need no GPU.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets_numpy
from cute_viz.check import counters, plan
from cute_viz.check.device import Device, DeviceError, compile_
from cute_viz.check.job import Check, Item, Kernel, Undecided, module
from cute_viz.check.layout_ptx import kernel as layout_kernel
from cute_viz.check.layouts import launch
from cute_viz.check.report import CheckReport, CheckResult, compiled, judged, undecided, verdict_of
from cute_viz.errors import CannotCheck
from cute_viz.figures import build
from cute_viz.figures.options import FigureOptions
from cute_viz.limits import raised
from cute_viz.spec import PACKAGED, Library

BATCH = 64  # modules that are compiled side by side
ENTRIES = 1 << 28  # of the table by which bandwidth is measured
LARGE = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((1 << 14, 1 << 14), (1 << 14, 1)))

Progress: TypeAlias = "Callable[[int, int], object]"  # told how many checks are done, and of how many


class Checkable(NamedTuple):
    """Something to check: the name by which it is reported, the object, and the tile that its spec draws it in."""

    name: str
    obj: Any
    tile: tuple[int, int] | None = None


def check(
    subjects: Iterable[Checkable] = (),
    *,
    everything: bool = False,
    tile: tuple[int, int] | None = None,
    with_cute: bool = False,
    counted: bool = False,
    version: str = "",
    library: Library = PACKAGED,
    progress: Progress | None = None,
    device: object = None,
) -> CheckReport:
    """The verdicts of a GPU on what is drawn of the subjects.

    everything: the whole library and the bandwidth, too. tile: of layouts drawn as maps of threads and values. with_cute: CuTe's
    headers evaluate layouts on the device, too. counted: the hardware's counters are read, too, by Nsight Compute. version: of
    cute-viz, for the report. device: a `Device`; the first GPU without one. The subjects are asked for once the device is there.

    Raises: CannotCheck where there is no device, or CuTe's headers do not compile a kernel; CuteVizError as `planned` does.
    """
    device = Device() if device is None else device
    verdicts = run(device, list(planned(subjects, everything, tile, with_cute, library)), progress)
    if counted:
        verdicts += _counted()
    more = {"bandwidth": _bandwidth(device)} if everything else {}
    return CheckReport(_machine(device, version), tuple(verdicts), more)


def static(subjects: Iterable[Checkable], version: str = "") -> CheckReport:
    """The verdicts of a compiler on layouts: their tables as static_asserts over CuTe's headers. No GPU takes part. Raises:
    CannotCheck where there is no compiler, no headers, or a file does not compile for another reason."""
    verdicts = []
    for name, obj, _ in subjects:
        item = plan.static(obj, name)
        if isinstance(item, Undecided):
            verdicts.append(undecided(item))
            continue
        (ptx, log), (_, control) = compile_(item.source()), compile_(item.source(corrupted=True))
        wrong = item.wrong(log)
        if not ptx and not wrong:
            raise CannotCheck(f"{name} does not compile: {_first_line(log)}")
        verdicts.append(compiled(item, wrong, bool(item.wrong(control))))
    return CheckReport({"cute_viz": version}, tuple(verdicts))


def kernels(
    subjects: Iterable[Checkable] = (),
    *,
    cuda: bool = False,
    everything: bool = False,
    tile: tuple[int, int] | None = None,
    library: Library = PACKAGED,
) -> str:
    """The kernels of the checks as one PTX module; cuda: those that are CUDA C++ instead, which only layouts have. Raises:
    CannotCheck where there is no such kernel, with the reason; CuteVizError as `planned` does."""
    found: list[Kernel] = []
    reasons: list[str] = []
    for item in planned(subjects, everything, tile, cuda, library):
        if isinstance(item, Undecided):
            reasons.append(item.reason)
        elif item.kernel.cuda == cuda:
            found.append(item.kernel)
    if reasons and not found:
        raise CannotCheck(reasons[0])
    if not found:
        have, lack = ("ptx", "cuda") if cuda else ("cuda", "ptx")
        raise CannotCheck(f"there is no {lack} kernel for this", hint=f"`emit={have}`")
    return module(found)


def asserts(subjects: Iterable[Checkable]) -> str:
    """The files that `static` compiles, one after the other. Raises: CannotCheck where no subject has one, with the first one's
    reason."""
    items = [plan.static(obj, name) for name, obj, _ in subjects]
    found = [item.source() for item in items if not isinstance(item, Undecided)]
    for item in items if not found else ():
        if isinstance(item, Undecided):
            raise CannotCheck(item.reason)
    return "".join(found)


def planned(
    subjects: Iterable[Checkable],
    everything: bool = False,
    tile: tuple[int, int] | None = None,
    cute: bool = False,
    library: Library = PACKAGED,
) -> Iterator[Item]:
    """The checks of what was asked for, one by one: each may hold a large table. Raises: CuteVizError of a tile that cannot be
    drawn, which is wrong input and not undecided."""
    if everything:
        yield from plan.everything(cute, library)
    for name, obj, own in subjects:
        if tile:
            build(obj, FigureOptions(tile=tile, max_cells=plan.MAX_CELLS))
        yield from plan.plan(obj, name, tile or own, cute, library)


def run(device: Any, items: Sequence[Item], progress: Progress | None = None) -> list[CheckResult]:
    """Every check on the device, in order; what the device cannot run is undecided, with the reason."""
    out: list[CheckResult] = []
    for start in range(0, len(items), BATCH):
        batch = items[start : start + BATCH]
        checks = [item for item in batch if isinstance(item, Check) and item.kernel.runs_on(device.capability)]
        texts = [_ptx(check, device.capability) for check in checks]
        loaded = dict(zip(map(id, checks), device.load_all(texts), strict=True))
        for item in batch:
            if not isinstance(item, Check):
                out.append(undecided(item))
            elif id(item) not in loaded:
                out.append(undecided(item, f"needs sm_{item.kernel.target}; this device is sm_{device.capability}"))
            elif isinstance(loaded[id(item)], DeviceError):
                out.append(undecided(item, f"the driver does not take the instruction: {loaded[id(item)].message}"))
            else:
                out.append(judged(item, item.judge(device.run(loaded[id(item)], item.launches()))))
                device.unload(loaded[id(item)])
        if progress is not None:
            progress(len(out), len(items))
    return out


def _machine(device: Any, version: str) -> dict[str, Any]:
    """What a report says of where it was made."""
    return {
        "device": device.name,
        "capability": f"{device.capability // 10}.{device.capability % 10}",
        "driver": device.driver,
        "cuda": device.cuda,
        "cute_viz": version,
        "python": platform.python_version(),
    }


def _ptx(check: Check, capability: int) -> str:
    """The module of a check; CUDA C++ is compiled first."""
    text = module([check.kernel])
    if not check.kernel.cuda:
        return text
    ptx, log = compile_(text, capability)
    if not ptx:
        raise CannotCheck(f"{check.name}: CuTe's headers do not compile it: {_first_line(log)}")
    return ptx


def _first_line(log: str) -> str:
    return (log.strip().splitlines() or ["no log"])[0]


def _counted() -> list[CheckResult]:
    """The verdicts of the hardware's counters."""
    found = counters.measure()
    return [undecided(found)] if isinstance(found, Undecided) else [verdict_of(*one) for one in found]


def _bandwidth(device: Any) -> dict[str, Any]:
    """The speed of the layout kernel on a large table, in bytes a second, beside that of the device's own copy."""
    loaded = device.load(module([layout_kernel([LARGE], "bandwidth")]))
    with raised({"elements": ENTRIES}):
        table = offsets_numpy(LARGE, np).astype(np.int32).tobytes()
    seconds, copied = device.seconds(loaded, launch("bandwidth_0", table, ENTRIES)), device.copy_bandwidth()
    speed = 2 * 4 * ENTRIES / seconds  # each entry is read once and written once, 4 bytes at a time
    return {
        "layout": str(LARGE),
        "entries": ENTRIES,
        "layout kernel, GB/s": round(speed / 1e9, 1),
        "device copy, GB/s": round(copied / 1e9, 1),
        "of the copy": round(speed / copied, 3),
    }
