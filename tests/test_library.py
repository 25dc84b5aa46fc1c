"""The library of atoms against CuTe's own (tests/data/atoms.json.gz), and that every entry is a sound mapping."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import cute_viz as cv
from cute_viz.algebra.copy import make_copy_atom
from cute_viz.algebra.inttuple import product, same_profile
from cute_viz.algebra.mma import MMA_Atom
from cute_viz.algebra.recast import bits_of
from cute_viz.algebra.table import offsets
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.spec.library import clean, listing, lookup, split_arguments

ATOMS = json.loads(gzip.decompress((Path(__file__).parent / "data" / "atoms.json.gz").read_bytes()))


def entry(op):
    name, _, rest = op.partition("<")
    return lookup(name, tuple(split_arguments(rest.rpartition(">")[0])))


@pytest.mark.parametrize("kind", ["mma", "copy"])
def test_every_layout_is_cutes(kind):
    wrong = {}
    for op, layouts in ATOMS[kind].items():
        found = entry(op)
        got = {key: clean(found.layouts[key]) for key in layouts if key in found.layouts} if found else None
        if got != layouts:
            wrong[op] = got
    assert not wrong
    assert len(ATOMS["mma"]) + len(ATOMS["copy"]) == 1958


def test_copy_atoms_of_value_types():
    """Copy_Atom<op, T>: the layouts in values; where CuTe refuses the type, so do we."""
    wrong = {}
    for key, want in ATOMS["copy_atoms"].items():
        op, _, value_type = key.partition("|")
        atom = make_copy_atom(entry(op).atom(), bits_of(value_type))
        got = {name: clean(getattr(atom, f"layout_{name[-3:].lower()}")) for name in want if name.startswith("ValLayout")}
        if got != {name: text for name, text in want.items() if name.startswith("ValLayout")}:
            wrong[key] = got
    assert not wrong
    assert len(ATOMS["copy_atoms"]) > 500


def test_every_wgmma_n_and_no_other():
    for n in range(1, 300):
        found = lookup(f"SM90_64x{n}x16_F32F16F16_SS")
        assert (found is not None) == (n % 8 == 0 and 8 <= n <= 256)
        if found:
            assert clean(found.layouts["CLayout"]) == f"((4,8,4),(2,2,{n // 8})):((128,1,16),(64,8,512))"


SOUND = [line.name.replace("{N}", "64").replace("{n}", "8") for line in listing() if line.kind == "mma" and " " not in line.args]


@pytest.mark.parametrize("name", SOUND)
def test_each_mma_covers_its_tiles(name):
    """Image and replication: every layout hits each index of its tile, each one equally often."""
    found = lookup(name)
    atom = found.atom()
    assert isinstance(atom, MMA_Atom)
    m, n, k = map(product, atom.shape_mnk)
    for operand, extent in (("A", m * k), ("B", n * k), ("C", m * n)):
        layout = atom.layout(operand)
        if not same_profile(layout.shape, layout.stride):
            assert "16x8x128_S32U1U1" in name
            continue
        table = offsets(layout)
        assert set(table) == set(range(extent))
        assert len(table) % extent == 0
        assert len({table.count(i) for i in range(min(extent, 64))}) == 1


@pytest.mark.parametrize("line", [line for line in listing() if line.kind == "copy"], ids=lambda line: line.name)
def test_each_copy_moves_as_much_as_it_reads(line):
    found = lookup(line.name.replace("{n}", "8"), ("uint32_t",) if line.args.startswith("S ") else ())
    source, destination = found.layouts["SrcLayout"], found.layouts["DstLayout"]
    read, written = set(offsets(source)), set(offsets(destination))
    assert read == written or ("UTCCP" in line.name and read < written)  # those spread rows over the lanes
    assert found.layouts["RefLayout"] in (source, destination)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("16x8x16_F32BF16BF16F32", "SM80_16x8x16_F32BF16BF16F32_TN"),
        ("SM80_16x8x16_F32BF16BF16F32", "SM80_16x8x16_F32BF16BF16F32_TN"),
        ("cute::SM80_16x8x16_F32BF16BF16F32_TN{}", "SM80_16x8x16_F32BF16BF16F32_TN"),
        ("MMA_Atom<SM80_16x8x16_F32BF16BF16F32_TN>{}", "SM80_16x8x16_F32BF16BF16F32_TN"),
        ("MMA_Atom<MMA_Traits<SM80_16x8x16_F32BF16BF16F32_TN>>{}", "SM80_16x8x16_F32BF16BF16F32_TN"),
        ("SM90::GMMA::MMA_64x128x16_F16F16F16_SS<GMMA::Major::K,GMMA::Major::MN>{}", "SM90_64x128x16_F16F16F16_SS"),
        ("SM90_64x128x16_F16F16F16_SS", "SM90_64x128x16_F16F16F16_SS"),
    ],
)
def test_names_and_short_forms(written, meant):
    assert cv.parse(written) == cv.parse(meant)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("SM80_16x8x16_F32BF16BF16F33_TN", "did you mean SM80_16x8x16_F32BF16BF16F32_TN"),
        ("SM90_64x129x16_F16F16F16_SS", "SM90_64x{N}x16_F16F16F16_SS"),
        ("SM100_MMA_F16BF16_SS", "template arguments"),
        ("SM100_MMA_F16BF16_SS<half_t,half_t,float,128,9>", "N = 9 is not legal"),
        ("SM75_U32x4_LDSM_N<int>", "takes none"),
        ("Copy_Atom<SM75_U32x4_LDSM_N>{}", "a value type"),
        ("Copy_Atom<SM75_U32x4_LDSM_N, no_t>{}", "not a value type"),
    ],
)
def test_wrong_names(written, words):
    with pytest.raises(CuteVizError) as caught:
        cv.parse(written)
    assert words in caught.value.explain()


def test_value_types_that_cute_refuses():
    for key in ATOMS["refused"]:
        op, _, value_type = key.partition("|")
        with pytest.raises(AlgebraError, match="not valid for"):
            make_copy_atom(entry(op).atom(), bits_of(value_type))


def test_a_users_own_library(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text(
        "library: mma\narch: sm80\nsource: mine\n\n"
        "MY_{M}x8x4:\n  where: {M: 8..32/8}\n  Shape_MNK: (M,8,4)\n  ThrID: 1:0\n  ALayout: (1,(M,4)):(0,(1,M))\n"
        "  BLayout: (1,(8,4)):(0,(1,8))\n  CLayout: (1,(M,8)):(0,(1,M))\n"
    )
    monkeypatch.setenv("CUTE_VIZ_LAYOUTS", str(tmp_path))
    assert clean(lookup("MY_24x8x4").layouts["ALayout"]) == "(1,(24,4)):(0,(1,24))"
    assert lookup("MY_25x8x4") is None
    assert lookup("SM80_16x8x16_F32BF16BF16F32_TN") is not None
    assert any(line.name == "MY_{M}x8x4" for line in listing())


def test_a_mistake_in_a_library_has_its_line(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text("library: mma\narch: sm80\nsource: mine\n\nMY:\n  Shape_MNK: (8,8,4)\n  TrhID: 1:0\n")
    monkeypatch.setenv("CUTE_VIZ_LAYOUTS", str(tmp_path))
    with pytest.raises(CuteVizError) as caught:
        lookup("MY")
    assert "mine.yaml:7:3" in caught.value.line()
    assert "did you mean ThrID" in caught.value.explain()
