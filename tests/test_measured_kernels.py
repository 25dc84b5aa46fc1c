"""What `analyze FILE` predicts of whole kernels, held to what Nsight Compute counted of each of their instructions on an H100."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from cute_viz.analysis.cost import Cost
from cute_viz.analysis.kernel import costs
from cute_viz.engine import Request, Source
from cute_viz.engine.reading import Reading

ROOT = Path(__file__).parent.parent
RECORD = json.loads((ROOT / "layouts" / "verified" / "kernels" / "nvidia-h100.json").read_text())
FILES = json.loads(gzip.decompress((ROOT / "tests" / "data" / "measured_kernels.json.gz").read_bytes()))["files"]
EVERY = 6  # of the kernels of one copy, each sixth is tried here: they take 30 ms each


def predicted(file: str, let: dict[str, str], call: str = "", only: tuple[str, ...] = ()) -> list[tuple[str, Cost]]:
    """(the call, the cost) of every access, of the calls that contain `call`, of one of `only`."""
    source = Reading(Source(FILES[file], file), Request((), let=let)).file
    moves = [move for move in source.moves() if call in move.call and (not only or move.call.partition(",")[0] in only)]
    # copy_kernel is called by nothing; axpby was not measured: with a beta of 0 it does not load y; nor are elements kept
    moves = [move for move in moves if move.scope[0] != "copy_kernel" and move.name not in ("axpby", "load", "store")]
    return [(move.call, cost) for move in moves for cost in costs(move.name, move.read())]


def counters(cost: Cost) -> list[int]:
    found = (cost.instructions, cost.wavefronts, cost.ideal, cost.sectors, cost.ideal_sectors)
    return [x or 0 for x in found]


@pytest.mark.parametrize("kernel", RECORD["kernels"], ids=lambda x: f"{x['file']} {x['call']} {x['let'].get('TA', '')}")
def test_the_tutorials(kernel: dict[str, Any]) -> None:
    """Of every instruction the wavefronts and the sectors, ideal ones too, for each time that a warp executes it."""
    sums: dict[str, list[int]] = {}
    for _, cost in predicted(kernel["file"], kernel["let"], kernel["call"]):
        mine = sums.setdefault(cost.instruction, [0] * 5)
        mine[:] = [a + b for a, b in zip(mine, counters(cost), strict=True)]
    assert sums.keys() == kernel["counters"].keys()
    for name, seen in kernel["counters"].items():
        assert [n * sums[name][0] for n in seen[1:]] == [n * seen[0] for n in sums[name][1:]], name


def test_kernels_of_one_copy() -> None:
    """Loads, stores, cp.async, ldmatrix and stmatrix of 8 to 128 bits, swizzled, padded and misaligned: every counter."""
    names = tuple(RECORD["probes"])[::EVERY]
    found = {call.partition(",")[0]: cost for call, cost in predicted("probes.cu", {}, only=names)}
    assert found.keys() == set(names)
    wrong = {
        name: (cost.instruction, counters(cost), RECORD["probes"][name])
        for name, cost in found.items()
        if [cost.instruction, counters(cost)] != list(RECORD["probes"][name].values())
    }
    assert not wrong


def test_cp_async_of_all_counted_patterns() -> None:
    """One LDGSTS of one warp: around the L1 cache each pattern is exact, through it all but the scattered ones."""
    from cute_viz.analysis.access import WarpAccess
    from cute_viz.analysis.cost import async_wavefronts

    rows = json.loads(gzip.decompress((ROOT / "tests" / "data" / "async.json.gz").read_bytes()))["rows"]
    off: dict[str, list[int]] = {"cg": [], "ca": []}
    for kind, width, *sides, counted in rows:
        places = [tuple(width * n for n in side) for side in sides]
        read, written = (
            WarpAccess(0, 0, f"{op}.{8 * width}", x, 0xFFFFFFFF, x, width) for op, x in zip(("ld", "st"), places, strict=True)
        )
        off[kind].append(abs(async_wavefronts(read, written, kind == "cg") - counted))
    assert (len(off["cg"]), max(off["cg"])) == (244, 0)
    assert (len(off["ca"]), off["ca"].count(0), max(off["ca"])) == (366, 337, 3)
