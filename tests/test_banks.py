"""The bank model against the hardware's own counter."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from cute_viz.analysis.banks import ACCESSES, ideal_wavefronts, phases, shared_wavefronts
from cute_viz.errors import AlgebraError

MEASURED = json.loads(gzip.decompress((Path(__file__).parent / "data" / "bank_wavefronts.json.gz").read_bytes()))


def test_every_measured_pattern():
    rows = MEASURED["rows"]
    assert len(rows) == 311
    wrong = [row for row in rows if shared_wavefronts(row["addresses"], row["access"], row["mask"]) != row["wavefronts"]]
    assert not wrong


def test_phases_tell_who_collides():
    column = [128 * lane for lane in range(32)]
    (phase,) = phases(column, "ld.32")
    assert phase.conflicts == (0,)
    assert [lanes for _, lanes in phase.banks[0]] == [(lane,) for lane in range(32)]
    assert ideal_wavefronts(column, "ld.32") == 1
    assert shared_wavefronts(column, "ld.32", mask=0) == 0


@pytest.mark.parametrize("access", ACCESSES)
def test_contiguous_accesses_are_free(access):
    width = 16 if "matrix" in access else int(access.split(".")[1]) // 8
    addresses = [width * lane for lane in range(32)]
    assert shared_wavefronts(addresses, access) == ideal_wavefronts(addresses, access)


@pytest.mark.parametrize(
    ("addresses", "access"),
    [([0] * 31, "ld.32"), ([2] * 32, "ld.32"), ([-4] * 32, "ld.32"), ([0] * 32, "ld.16"), ([8] * 32, "ldmatrix.x4")],
)
def test_what_is_no_access(addresses, access):
    with pytest.raises(AlgebraError):
        shared_wavefronts(addresses, access)
