"""Notebooks and Python: values show themselves, files are written by suffix, foreign objects are read as they print.

`python -m tests.test_notebooks` runs the cells of gallery/tour.ipynb anew and writes their outputs.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import cute_viz as cv
from cute_viz.errors import CuteVizError
from cute_viz.renderers import FORMATS
from tests.browser import chromium, until
from tests.test_dialects import BLOCK

ROOT = Path(__file__).parent.parent
TOUR = ROOT / "gallery" / "tour.ipynb"
MMA = "make_tiled_mma(SM80_16x8x8_F16F16F16F16_TN{}, Layout<Shape<_2,_2>>{}, Tile<_32,_32,_16>{})"
COPY = "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, (4,8):(8,1), (1,8))"
VALUES = {
    "Layout": "((4,8),(2,2)):((32,1),(16,8))",
    "ComposedLayout": "Sw<3,3,3> o 0 o (8,64):(64,1)",
    "Swizzle": "Sw<3,3,3>",
    "MMA_Atom": "SM80_16x8x8_F16F16F16F16_TN",
    "TiledMMA": MMA,
    "Copy_Atom": "Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}",
    "TiledCopy": COPY,
}


class Foreign:
    """An object of another library: all that is known of it is how it prints."""

    def __init__(self, printed: str) -> None:
        self.printed = printed

    def __str__(self) -> str:
        return self.printed


@pytest.mark.parametrize("kind", VALUES)
def test_a_value_shows_itself(kind: str) -> None:
    value = cv.parse(VALUES[kind])
    assert type(value).__name__ == kind
    bundle = value._repr_mimebundle_()
    assert bundle["text/plain"] == str(value)
    assert ElementTree.fromstring(bundle["image/svg+xml"]).tag.endswith("svg")
    assert bundle["image/svg+xml"] in cv.render(value, "svg", fragment=True).decode()
    assert set(value._repr_mimebundle_(include={"text/plain"})) == {"text/plain"}
    assert set(value._repr_mimebundle_(exclude={"text/plain", "text/html"})) == {"image/svg+xml"}


def test_a_figure_shows_itself() -> None:
    figure = cv.figure("(4,8):(8,1)")
    bundle = figure._repr_mimebundle_()
    assert bundle["text/plain"] == cv.render(figure).decode()
    assert bundle["image/svg+xml"].startswith("<svg")
    assert bundle["text/html"].startswith(f'<iframe sandbox="allow-scripts" loading="lazy" title="{figure.title}"')
    assert (str(figure), repr(figure)) == (f"<Figure grid: {figure.title}>",) * 2
    large = cv.figure("(256,256)")._repr_mimebundle_()
    assert len(large["text/plain"]) <= 2000
    assert cv.compare("(4,4):(4,1)", "(4,4):(1,4)").title.startswith("12 of 16 cells")
    assert str(cv.explain("complement(4:2, 24)")).endswith("(2,3):(1,8)")


def test_sliders_draw_again() -> None:
    """A number for each parameter chooses among its values; the picture, or what is wrong, follows."""
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    drawn = cv.interact(lambda bits=range(1, 4), tile=("(8,64):(64,1)", "(4,8"): f"Sw<{bits},3,3> o 0 o {tile}")
    assert drawn.names == [["bits", ["1", "2", "3"]], ["tile", ["(8,64):(64,1)", "(4,8"]]]
    assert "Sw&lt;1,3,3&gt;" in drawn.html or "Sw&amp;lt;1,3,3&amp;gt;" in drawn.html
    before = drawn.html
    drawn.picked = {"bits": 1, "tile": 0}
    assert drawn.html != before
    drawn.picked = {"bits": 1, "tile": 1}
    assert "never closed" in drawn.html
    with pytest.raises(CuteVizError, match="bits has no values"):
        cv.interact(lambda bits: bits)


AROUND = {
    "<body class=vscode-dark data-vscode-theme-kind=vscode-dark>": "dark",  # VS Code's outputs have no color behind them
    "<body class=vscode-high-contrast data-vscode-theme-kind=vscode-high-contrast>": "dark",
    "<body class=vscode-light data-vscode-theme-kind=vscode-light>": "light",
    "<body data-jp-theme-light=false style='background: rgb(17 17 17)'>": "dark",
    "<body style='background: oklch(98% 0 0)'>": "light",
    "<body>": "light",
}


@pytest.mark.browser
@pytest.mark.parametrize("system", ["light", "dark"])
def test_a_frame_is_as_dark_as_the_page_around_it(system: str, tmp_path: Path) -> None:
    """Whatever the system prefers, where the page is marked or painted; and another theme is followed."""
    picture = cv.figure("(2,2)")._repr_mimebundle_()["text/html"]
    told = "return document.body.className"
    with chromium() as driver:
        feature = {"name": "prefers-color-scheme", "value": system}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        for n, (around, theme) in enumerate(AROUND.items()):
            (tmp_path / f"{n}.html").write_text(f"<!DOCTYPE html>{around}{picture}")
            driver.get((tmp_path / f"{n}.html").as_uri())
            wanted = system if around == "<body>" else theme
            driver.switch_to.frame(0)
            until(lambda wanted=wanted: driver.execute_script(told) == f"framed {wanted}")
            driver.switch_to.default_content()
        driver.execute_script("document.body.style.background = arguments[0]", "#fff" if system == "dark" else "#000")
        driver.switch_to.frame(0)
        until(lambda: driver.execute_script(told) == f"framed {'light' if system == 'dark' else 'dark'}")


LAB = """const [script, done] = arguments, told = [], model = { picked: { bits: 0 } };
Object.assign(model, { get: (name) => ({ names: [["bits", ["1", "2", "3"]]], picked: model.picked, html: "" })[name], on() {},
  set: (name, value) => { model.picked = value; }, save_changes: () => told.push(model.picked.bits) });
// Lumino, which JupyterLab dispatches its keys with, takes a key unless its own target has the attribute.
const taken = (event) => { if (!event.target.hasAttribute("data-lm-suppress-shortcuts")) event.preventDefault(); };
addEventListener("keydown", taken, true);
import(URL.createObjectURL(new Blob([script], { type: "text/javascript" }))).then(({ default: widget }) => {
  widget.render({ model, el: document.body });
  window.told = told;
  done(true);
});"""


@pytest.mark.browser
def test_a_slider_has_its_keys_in_jupyterlab() -> None:
    script = (Path(cv.__file__).parent / "renderers/assets/interact.js").read_text()
    with chromium() as driver:
        driver.get("data:text/html,<title>a notebook</title>")
        driver.execute_async_script(LAB, script)
        driver.find_element("css selector", "input").send_keys("\ue014\ue014")  # the right arrow
        assert driver.execute_script("return told") == [1, 2]


REPORTED = """void f(float* p) {
  auto s = make_tensor(make_smem_ptr(p), make_layout(Shape<_32,_4>{}));
  copy(make_tensor<float>(_4{}), local_partition(s, Layout<_32>{}, threadIdx.x));
}"""


def test_a_report_and_an_explanation_show_themselves() -> None:
    """As the page that `analyze -o report.html` writes, and as lines: never as the values that they are made of."""
    report = cv.report(REPORTED)._repr_mimebundle_()
    assert "kernel" in report["text/plain"].splitlines()[0]
    assert "wavefronts" in report["text/html"]
    told = cv.explain("logical_divide((8,6), (4,3))")
    assert told._repr_mimebundle_() == {"text/plain": str(told)}
    assert repr(told) == "Explanation: 11 steps, the last: logical_divide, mode by mode"
    assert all(len(one["text/plain"]) <= 2048 and "Report(" not in one["text/plain"] for one in (report, told._repr_mimebundle_()))


def test_what_cannot_be_drawn_shows_its_text() -> None:
    huge = cv.parse("(100000,100000):(1,100000)")
    assert huge._repr_mimebundle_() == {"text/plain": repr(huge)}


def test_the_algebra_alone_does_not_import_figures() -> None:
    code = "import sys; from cute_viz.algebra import Layout; print(Layout((2, 2)), [m for m in sys.modules if 'figures' in m])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "(2,2):(1,2) []"


@pytest.mark.parametrize("format_", FORMATS)
def test_a_path_picks_the_format(format_: str, tmp_path: Path) -> None:
    for suffix in FORMATS[format_].suffixes:
        for path in (tmp_path / f"as_path{suffix}", str(tmp_path / f"as_text{suffix}")):
            data = cv.render("((4,8),(2,2)):((32,1),(16,8))", path, tile=(16, 8))
            assert Path(path).read_bytes() == data == cv.render("((4,8),(2,2)):((32,1),(16,8))", format_, tile=(16, 8))
    assert not list(tmp_path.glob(".*"))


def test_a_path_of_no_format(tmp_path: Path) -> None:
    for path in (tmp_path / "x.doc", tmp_path / "x", str(tmp_path / "x.doc")):
        with pytest.raises(CuteVizError, match=r"unknown file suffix|has no suffix"):
            cv.render("(4)", path)
    with pytest.raises(CuteVizError, match="there is no format 'gif'"):
        cv.render("(4)", "gif")
    with pytest.raises(OSError, match="nowhere"):
        cv.render("(4)", tmp_path / "nowhere" / "x.svg")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["Layout", "ComposedLayout", "Swizzle", "TiledMMA", "TiledCopy"])
def test_a_foreign_object_is_read_as_it_prints(kind: str) -> None:
    value = cv.parse(VALUES[kind])
    foreign = Foreign(str(value))
    assert cv.parse(foreign) == value
    cells = [[(panel.labels, panel.paints) for panel in cv.figure(obj).panels] for obj in (foreign, value)]
    assert cells[0] == cells[1]
    assert cv.render(foreign, "svg").startswith(b"<?xml")


def test_the_prints_of_the_dsl() -> None:
    printed = Foreign(
        "Tiled Copy\n  Tiler MN:        (16:1,64:1)\n  TV Layout tiled: ((8,16),8):((128,1),16)\nCopy Atom\n"
        "  ThrID:           1:0\n  TV Layout Src:   (1,8):(0,1)\n  TV Layout Dst:   (1,8):(0,1)\n  Value type:      f16\n"
    )
    assert cv.parse(printed) == cv.parse(BLOCK, name="copyA")
    assert cv.figure(printed).kind == "copy"
    mma = Foreign(
        "Tiled MMA\n  Thr Layout VMNK: (32,2,2,1):(1,32,64,0)\n  Permutation MNK: (_,_,_)\nMMA Atom\n  ThrID:           32:1\n"
        "  Shape MNK:       (16,8,16)\n  TV Layout A:     ((4,8),(2,2,2)):((32,1),(16,8,128))\n"
        "  TV Layout B:     ((4,8),(2,2)):((16,1),(8,64))\n  TV Layout C:     ((4,8),(2,2)):((32,1),(16,8))\n"
    )
    assert str(cv.figure(mma).kind) == "mma"
    assert cv.parse(mma).thr_layout_vmnk == cv.parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))").thr_layout_vmnk


def outputs(cells: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """What each code cell of a notebook gives, run by Python alone: its prints, and the value of its last line."""
    names: dict[str, Any] = {}
    out = []
    for cell in cells:
        body = ast.parse("".join(cell["source"]))
        last = ast.Expression(body.body.pop().value) if isinstance(body.body[-1], ast.Expr) else None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(body, "cell", "exec"), names)
            value = eval(compile(last, "cell", "eval"), names) if last is not None else None
        shown: list[dict[str, Any]] = []
        if printed.getvalue():
            shown.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)})
        if value is not None:
            data = (
                value._repr_mimebundle_(exclude={"text/html"})
                if hasattr(value, "_repr_mimebundle_")
                else {"text/plain": repr(value)}
            )
            lines = {kind: text.splitlines(keepends=True) for kind, text in data.items()}
            result = {"data": lines, "execution_count": len(out) + 1, "metadata": {}, "output_type": "execute_result"}
            shown.append(result)
        out.append(shown)
    return out


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_the_tour_gives_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = code_cells(json.loads(TOUR.read_text()))
    assert len(cells) > 4
    assert outputs(cells) == [cell["outputs"] for cell in cells]


def test_the_tour_in_jupyter(tmp_path: Path) -> None:
    """The same in a real kernel, where there is one."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    script = (
        "import sys, nbformat, nbclient\n"
        f"notebook = nbformat.read({str(TOUR)!r}, 4)\n"
        "nbclient.NotebookClient(notebook, timeout=60, kernel_name='python3').execute()\n"
        "nbformat.write(notebook, 'done.ipynb')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    assert nbclient
    assert nbformat
    ran = [cell["outputs"] for cell in code_cells(json.loads((tmp_path / "done.ipynb").read_text()))]
    for output in [output for cell in ran for output in cell if "data" in output]:
        output["data"].pop("text/html", None)  # which the committed tour leaves out: it would be five times as large
    shown = [cell["outputs"] for cell in code_cells(json.loads(TOUR.read_text()))]
    assert [[output.get("data") or output["text"] for output in cell] for cell in ran] == [
        [output.get("data") or output["text"] for output in cell] for cell in shown
    ]


def write(cells: list[tuple[str, str]]) -> None:
    """Write the tour from (kind, text) of its cells."""
    notebook: dict[str, Any] = {
        "cells": [],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    for number, (kind, text) in enumerate(cells):
        cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text.splitlines(keepends=True)}
        if kind == "code":
            cell |= {"execution_count": sum(k == "code" for k, _ in cells[: number + 1]), "outputs": []}
        notebook["cells"].append(cell)
    for cell, shown in zip(code_cells(notebook), outputs(code_cells(notebook)), strict=True):
        cell["outputs"] = shown
    TOUR.write_text(json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


if __name__ == "__main__":
    os.chdir(tempfile.mkdtemp())  # the tour writes a file
    write([(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(TOUR.read_text())["cells"]])
