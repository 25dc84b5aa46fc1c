"""Wavefronts and sectors against the hardware's own counters, through Nsight Compute where `ncu` is installed.

`ncu` runs this module as a program, one launch a pattern, and writes what the counters saw as CSV; what it must be is the
prediction of `analysis`. Everything but `measure` and `main` is pure.
"""

from __future__ import annotations

import csv
import io
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from cute_viz.analysis.access import global_request
from cute_viz.analysis.banks import LANES, shared_wavefronts
from cute_viz.check import banks
from cute_viz.check.job import In, Kernel, KernelRun, Out, Outcome, Undecided, kernel, module
from cute_viz.errors import CannotCheck

SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
GLOBAL = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
REPEATS = 8  # loads of one global launch
OWN = 4  # sectors that reading the 32 addresses themselves takes
SPAN = 1 << 20  # bytes of global memory that addresses lie in
_LOADS = {1: "u8 %h", 2: "u16 %h", 4: "b32 %v", 8: "v2.b32 {%v,%w}", 16: "v4.b32 {%v,%w,%x,%y}"}


def global_patterns(width: int) -> Iterator[tuple[str, list[int]]]:
    """(what it is, a byte address a lane) of loads of `width` bytes from global memory."""
    lanes = range(LANES)
    for step in (1, 2, 4, 8, 32):
        yield f"every {step}", [width * step * lane for lane in lanes]
    yield "one address", [0] * LANES
    yield "one element off", [width * lane + width for lane in lanes]
    yield "8 rows of 4", [4096 * (lane // 4) + width * (lane % 4) for lane in lanes]
    rng = random.Random(width)
    for n in range(10):
        room = SPAN if n % 2 else 4096
        yield f"random {n}", [width * rng.randrange(room // width) for _ in lanes]


def global_kernel(width: int) -> Kernel:
    """The kernel (addresses, data, out) of one warp: REPEATS loads of a lane's address."""
    return kernel("sectors.ptx", f"sectors_{width}", load=_LOADS[width], narrow=width < 4, repeats=REPEATS)


def jobs() -> list[tuple[str, str, Kernel, list[tuple[str, list[int], int]]]]:
    """(kind, access, kernel, patterns): of each pattern its name, its addresses, and what the counters should say."""
    out = []
    for item in banks.checks():
        found = [(name, places, shared_wavefronts(places, item.name)) for name, places in banks.patterns(item.name)]
        out.append(("wavefronts", item.name, item.kernel, found))
    for width in _LOADS:
        seen = [(name, places, global_request(places, width).sectors) for name, places in global_patterns(width)]
        out.append(("sectors", f"ld.global.{8 * width}", global_kernel(width), seen))
    return out


def launch(kind: str, kernel: Kernel, places: list[int]) -> KernelRun:
    """One pattern as one launch."""
    addresses = In(np.array(places, np.uint32).tobytes())
    if kind == "wavefronts":
        return KernelRun(kernel.entry, (1, 1, 1), LANES, (addresses, Out(8)), banks.ALONE)
    return KernelRun(kernel.entry, (1, 1, 1), LANES, (addresses, Out(2 * SPAN + 64), Out(4 * LANES)))


def read(text: str) -> list[dict[str, float]]:
    """The counters of each launch, from ncu's raw CSV page; its first row after the head holds units."""
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise CannotCheck("ncu wrote no counters: " + (lines[-1] if lines else "nothing"), hint="it may need root, or permission")
    rows = [row for row in csv.DictReader(io.StringIO("\n".join(lines[start:]))) if row["ID"]]
    return [{key: _number(word) for key, word in row.items() if key and _number(word) == _number(word)} for row in rows]


def _number(word: str | None) -> float:
    try:
        return float((word or "").replace(",", ""))
    except ValueError:
        return float("nan")


def judge(rows: Sequence[dict[str, float]]) -> list[tuple[str, str, Outcome]]:
    """(kind, access, outcome) of all patterns, in the order of the launches. Raises: CannotCheck for fewer launches than there
    are patterns."""
    out, at = [], 0
    for kind, access, _, patterns in jobs():
        mine = rows[at : at + len(patterns)]
        at += len(patterns)
        if len(mine) < len(patterns):
            raise CannotCheck(f"ncu saw {len(rows)} launches, too few")
        if kind == "wavefronts":
            seen = [row.get(SHARED, -1.0) / banks.LOADS for row in mine]
        else:
            seen = [(row.get(GLOBAL, -1.0) - OWN) / REPEATS for row in mine]
        names, _, wanted = zip(*patterns, strict=True)
        out.append((kind, access, banks.counted(kind, names, wanted, seen)))
    return out


def measure() -> list[tuple[str, str, Outcome]] | Undecided:
    """Run everything under ncu; undecided where there is none."""
    ncu = shutil.which("ncu")
    if ncu is None:
        return Undecided("wavefronts", "hardware counters", "Nsight Compute (ncu) is not installed")
    command = [ncu, "--csv", "--page", "raw", "--clock-control", "none", "--metrics", f"{SHARED},{GLOBAL}"]
    done = subprocess.run([*command, sys.executable, "-m", __name__], capture_output=True, text=True, check=False)
    return judge(read(done.stdout if '"ID"' in done.stdout else done.stdout + done.stderr))


def main() -> None:
    """What ncu runs: the launches, one after the other."""
    from cute_viz.check.device import Device

    device = Device()
    for kind, _, made, patterns in jobs():
        loaded = device.load(module([made]))
        device.run(loaded, [launch(kind, made, places) for _, places, _ in patterns])


if __name__ == "__main__":
    main()
