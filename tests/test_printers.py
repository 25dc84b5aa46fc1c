"""Byte agreement with CuTe's own printers, on what the real ones wrote (tests/data/printer_goldens.json.gz)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from cute_viz import figure, parse, render
from cute_viz.algebra.inttuple import show
from cute_viz.errors import FigureError

GOLDENS = json.loads(gzip.decompress((Path(__file__).parent / "data" / "printer_goldens.json.gz").read_bytes()))
LAYOUTS = GOLDENS["layouts"]
CUTLASS = {"style": "cutlass"}


def test_the_goldens_are_there():
    assert len(LAYOUTS) == 73
    assert sum("print_latex" in printed for printed in LAYOUTS.values()) == 67
    assert sum("print_layout" in printed for printed in LAYOUTS.values()) == 51


@pytest.mark.parametrize("name", LAYOUTS)
def test_print(name):
    printed = LAYOUTS[name]["print"]
    assert show(parse(printed)) == printed


@pytest.mark.parametrize("name", [n for n, printed in LAYOUTS.items() if "print_layout" in printed])
def test_print_layout(name):
    layout = parse(LAYOUTS[name]["print"])
    assert render(layout, "text").decode() == LAYOUTS[name]["print_layout"]
    assert render(layout, "text", **CUTLASS).decode() == LAYOUTS[name]["print_layout"]


@pytest.mark.parametrize("name", [n for n, printed in LAYOUTS.items() if "print_latex" in printed])
def test_print_latex(name):
    assert render(parse(LAYOUTS[name]["print"]), "tikz", **CUTLASS).decode() == LAYOUTS[name]["print_latex"]


@pytest.mark.parametrize("name", [n for n in LAYOUTS if n != "l_doc_s2xd4"])  # that one mixes static and run-time integers
def test_the_cxx_that_made_a_golden_reads_as_what_it_printed(name):
    source = LAYOUTS[name]["cxx"] + "; print_layout(x);"
    layout = parse(source)
    assert show(layout) == LAYOUTS[name]["print"]
    if "print_layout" in LAYOUTS[name]:
        assert render(layout, "text").decode() == LAYOUTS[name]["print_layout"]


PRINTERS = {"print_latex": "tikz", "print_svg": "svg"}
TILINGS = [(name, printer) for name, printed in GOLDENS["tilings"].items() for printer in printed if printer != "cxx"]


def test_the_goldens_of_atoms_and_tilings_are_there():
    assert len(TILINGS) == 15 * 3 + 6 * 2 + 2


@pytest.mark.parametrize(("name", "printer"), TILINGS)
def test_atoms_and_tilings(name, printer):
    """MMA atoms, TiledMMA, TiledCopy and copy atoms, fed with the C++ that made the golden."""
    golden = GOLDENS["tilings"][name]
    tiling = parse(f"{golden['cxx']}; {printer}(x);")
    if printer == "print":
        assert show(tiling) == golden["print"]
        assert parse(golden["print"]) == tiling
    else:
        assert render(tiling, PRINTERS[printer], **CUTLASS).decode() == golden[printer]


@pytest.mark.parametrize("name", GOLDENS["tv"])
def test_print_latex_tv(name):
    golden = GOLDENS["tv"][name]
    drawn = figure(golden["layout"], tile=tuple(golden["tile"]))
    assert render(drawn, "tikz", **CUTLASS).decode() == golden["print_latex_tv"]


@pytest.mark.parametrize(
    ("source", "format_", "options"),
    [
        ("(2,2,2)", "tikz", {}),
        ("(2,2,2)", "text", {}),
        ("(4,8):(1@0,1@1)", "tikz", {}),
        ("(4,8):(1@0,1@1)", "text", {}),
        ("(4,8)", "text", {"tile": (4, 8)}),
        ("(4,8)", "tikz", {"tile": (4, 8), "view": "table"}),
        ("(4,8)", "text", {"labels": "coord"}),
        ("(4,8)", "svg", {}),
        ("SM80_16x8x16_F32F16F16F32_TN", "text", {}),
        ("SM80_16x8x16_F32F16F16F32_TN", "tikz", {"operand": "C"}),
        ("Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}", "tikz", {}),
        ("make_tiled_copy(Copy_Atom<UniversalCopy<float>,float>{}, (2,2), (2,2))", "svg", {}),
    ],
)
def test_what_cute_cannot_print_is_refused(source, format_, options):
    with pytest.raises(FigureError):
        render(source, format_, **CUTLASS, **options)
