"""A whole file as its author wrote it: listed, evaluated by name, and drawn."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cute_viz.cli import main

KERNEL = """
#include <cute/tensor.hpp>
using namespace cute;

template <int kHeadDim_, int kBlockM_, class elem_type>
struct Traits {
  using Element = elem_type;
  static constexpr int kHeadDim = kHeadDim_;
  static constexpr int kSwizzle = kHeadDim % 64 == 0 ? 3 : 2;
  using SmemLayoutAtom = decltype(
      composition(Swizzle<kSwizzle, 3, 3>{},
                  Layout<Shape<_8, Int<kHeadDim>>, Stride<Int<kHeadDim>, _1>>{}));
  using SmemLayoutQ = decltype(tile_to_shape(
      SmemLayoutAtom{},
      Shape<Int<kBlockM_>, Int<kHeadDim>>{}));
  using SmemLayoutO = Layout<Shape<_16, _8>>;
};

void host(int m) {
  auto sA = make_layout(make_shape(Int<4>{}, Int<8>{}), LayoutRight{});
  launch<<<1, 32>>>(sA, m);
}

void other() {
  auto sA = make_layout(make_shape(Int<2>{}, Int<2>{}));
}
"""

MODULE = """
import cutlass
import cutlass.cute as cute


class Kernel:
    def __init__(self, tile):
        self.tile = tile
        self.stages = 3

    @cute.jit
    def __call__(self, a: cute.Tensor):
        sA = cute.make_layout((self.tile, 8, self.stages), stride=(8, 1, self.tile * 8))
        cute.printf("{}", sA)
        thr = cute.make_layout((16, 8), stride=(8, 1))
        self.kernel(a, sA).launch(grid=[1, 1, 1], block=[128, 1, 1])
"""


@pytest.fixture
def kernel(tmp_path: Path) -> str:
    path = tmp_path / "kernel.cu"
    path.write_text(KERNEL)
    return str(path)


def run(argv: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    try:
        main(argv)
        status = 0
    except SystemExit as left:
        status = int(left.code or 0)
    out, err = capsys.readouterr()
    return status, out, err


def listed(argv: list[str], capsys: Any) -> dict[str, Any]:
    status, out, err = run(["list", *argv, "--json"], capsys)
    assert status == 0, err
    return {row["path"]: row for row in json.loads(out)}


def test_a_file_lists_what_it_defines(kernel: str, capsys: Any) -> None:
    rows = listed([kernel], capsys)
    assert rows["host::sA"]["value"] == "(_4,_8):(_8,_1)"
    assert rows["host::sA"]["line"] == KERNEL[: KERNEL.index("sA = make_layout(make_shape(Int<4>")].count("\n") + 1
    assert rows["Traits::SmemLayoutQ"]["needs"] == ["kHeadDim_"] or "kHeadDim_" in rows["Traits::SmemLayoutQ"]["needs"]
    assert rows["Traits::SmemLayoutO"]["kind"] == "layout"


def test_what_is_missing_is_given(kernel: str, capsys: Any) -> None:
    let = ["--let", "kHeadDim_=128", "--let", "kBlockM_=64"]
    status, out, err = run(["eval", kernel, "--name", "Traits::SmemLayoutQ", *let], capsys)
    assert (status, out) == (0, "Sw<3,3,3> o _0 o ((_8,_8),(_128,_1)):((_128,_1024),(_1,_0))\n"), err
    assert listed([kernel, *let], capsys)["Traits::kSwizzle"]["value"] == "3"


def test_one_name_in_two_scopes_is_not_guessed(kernel: str, capsys: Any) -> None:
    status, _, err = run(["eval", kernel, "--name", "sA"], capsys)
    assert status == 1
    assert "host::sA" in err
    assert "other::sA" in err
    line = KERNEL[: KERNEL.index("sA = make_layout(make_shape(Int<2>")].count("\n") + 1
    assert run(["eval", kernel, "--name", f"sA@{line}"], capsys)[1] == "(_2,_2):(_1,_2)\n"
    assert run(["eval", kernel, "--name", "other.sA"], capsys)[1] == "(_2,_2):(_1,_2)\n"


@pytest.mark.parametrize("let", ["kHeadDm_=128", "Nothing=4"])
def test_a_value_for_a_name_that_is_not_there_is_a_mistake(let: str, kernel: str, capsys: Any) -> None:
    status, _, err = run(["list", kernel, "--let", let], capsys)
    assert status == 1
    assert let.partition("=")[0] in err
    assert ("kHeadDim_" in err) == let.startswith("kHead")


def test_all_of_a_file_is_drawn(kernel: str, tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / "pictures"
    status, _, err = run(["render", kernel, "--all", "-o", f"{folder}/"], capsys)
    assert status == 0, err
    drawn = sorted(path.name for path in folder.iterdir())
    assert drawn == ["README.md", "Traits.SmemLayoutO.svg", "host.sA.svg", "index.html", "other.sA.svg"]
    assert run(["render", kernel, "--all", "-o", f"{folder}/"], capsys)[0] == 0  # again, over its own files
    (folder / "host.sA.svg").write_text("somebody's work")
    status, _, err = run(["render", kernel, "--all", "-o", f"{folder}/"], capsys)
    assert status == 1
    assert "host.sA.svg, which is not as --all wrote it" in err
    assert (folder / "host.sA.svg").read_text() == "somebody's work"


def test_all_of_a_file_on_one_page(kernel: str, tmp_path: Path, capsys: Any) -> None:
    page = tmp_path / "page.json"
    assert run(["render", kernel, "--all", "-o", str(page)], capsys)[0] == 0
    captions = [panel["caption"] for panel in json.loads(page.read_text())["panels"]]
    assert [caption.partition(" ")[0] for caption in captions] == ["Traits::SmemLayoutO", "host::sA", "other::sA"]


def test_a_page_of_a_file_is_no_tower(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "kernel.cu"
    smem = "Sw<3,4,3> o _0 o ((_128,_16),_1,_4,_1):((_64,_1),_0,_16,_8192)"
    atom = "composition(Swizzle<3,4,3>{}, _0{}, Layout<Shape<Shape<_128,_16>,_1,_4,_1>,Stride<Stride<_64,_1>,_0,_16,_8192>>{})"
    names = [f"  auto a_rather_long_name_{n} = make_layout(make_shape(Int<{n + 8}>{{}}, Int<16>{{}}));" for n in range(8)]
    path.write_text("\n".join(["void a_kernel() {", f"  auto sA = {atom};", *names, "}\n"]))
    assert run(["eval", str(path), "--name", "sA"], capsys)[1].strip() == smem
    model, picture = tmp_path / "page.json", tmp_path / "page.svg"
    for out in (model, picture):
        assert run(["render", str(path), "--all", "-o", str(out)], capsys)[0] == 0
    first = json.loads(model.read_text())["panels"][0]
    assert (first["rows"], first["cols"]) == (128, 64)  # (M,K), not a strip of 2048
    offsets = first["data"]["offset"]
    assert [offsets[n] for n in (0, 1, 16, 64, 128)] == [0, 1, 16, 64, 144]  # row 2 is moved by a chunk
    svg = picture.read_text()
    width, height = (float(re.search(rf'{name}="([0-9.]+)"', svg)[1]) for name in ("width", "height"))
    assert height < 1.5 * width
    assert "a_rather_long_name_7" in svg


def test_python_prints_as_the_dsl_does(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(MODULE)
    rows = listed([str(path)], capsys)
    assert rows["Kernel::__call__::thr"]["value"] == "(16,8):(8,1)"
    assert rows["Kernel::__call__::sA"]["value"] is None
    status, out, err = run(["eval", str(path), "--name", "Kernel.__call__.sA", "--let", "self.tile=128"], capsys)
    assert (status, out) == (0, "(128,8,3):(8,1,1024)\n"), err


def test_what_cannot_be_read_stops_nothing_else(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "broken.cu"
    path.write_text(
        "int main() {\n  auto a = foreign<4>(x, [&](int i) { return i; });\n  auto b = make_layout(Int<4>{});\n"
        "  auto c = make_layout(a);\n}\n"
    )
    rows = listed([str(path)], capsys)
    assert rows["main::b"]["value"] == "_4:_1"
    assert rows["main::c"]["value"] is None
    assert rows["main::c"]["error"] or rows["main::c"]["needs"]
    status, _, err = run(["render", str(path), "-o", str(tmp_path / "b.json")], capsys)
    assert status == 0, err
    assert json.loads((tmp_path / "b.json").read_text())["source"] == "_4:_1"


def test_what_decides_a_branch_and_what_lacks_a_value_is_said(tmp_path, capsys):
    (tmp_path / "a.h").write_text(
        "#ifndef A\nusing L = Layout<_8>;\n#else\nusing L = Layout<_4>;\n#endif\n"
        "template <int K, bool T> struct S {\n  using A = Layout<Int<K>>;\n  using B = Layout<Int<K>>;\n};\n"
    )
    status, out, err = run(["list", str(tmp_path / "a.h")], capsys)
    assert (status, out.count("; depends on A")) == (0, 2)
    assert "2 objects without a value, marked ?: --let NAME=VALUE gives one, first of all for K\n" in err
    for value, line in (("0", "2  L"), ("1", "4  L")):
        _, out, _ = run(["list", str(tmp_path / "a.h"), "--let", f"A={value}"], capsys)
        assert out.startswith(line)
        assert "depends" not in out


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": "# A tile"},
        {
            "cell_type": "code",
            "source": ["%matplotlib inline\n", "!pip list\n", "import cutlass.cute as cute\n", "a = cute.make_layout(8)"],
        },
        {"cell_type": "code", "source": "%%bash\nnvidia-smi"},
        {"cell_type": "code", "source": "# %% cell 9\na = cute.make_layout((4, n))\nb = cute.size(a)"},
        {"cell_type": "code", "source": ["this is no Python\n"]},
        {"cell_type": "code", "source": ["c = cute.make_layout((a, 2)"]},
    ],
    "metadata": {},
    "nbformat": 4,
}


def test_the_cells_of_a_notebook_are_one_source(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "tile.ipynb"
    path.write_text(json.dumps(NOTEBOOK))

    def say(*argv: str) -> str:
        _, out, err = run([*argv], capsys)
        return out + err

    rows = say("list", str(path), "--let", "n=2").splitlines()
    assert [line.split() for line in rows[:2]] == [
        ["2:4", "a", "layout", "8:1"],
        ["4:2", "a", "layout", "(4,2):(1,4)"],
    ]
    assert [(row["cell"], row["line"]) for row in json.loads(say("list", str(path), "--json"))] == [(2, 4), (4, 2), (4, 3)]
    assert say("eval", str(path), "--name", "a@2:4") == "8:1\n"
    assert say("eval", str(path), "--name", "b", "--let", "n=2") == "8\n"
    assert "a (line 2:4), a (line 4:2)" in say("eval", str(path), "--name", "a")
    assert f"{path}:cell 4:2:26: nothing named" in say("eval", str(path), "--name", "b")
    for text in (
        '{"cells": 4, "nbformat": 4}',
        '{"cells": [{"cell_type": "code", "source": 4}], "nbformat": 4}',
        '{"cells" "nbformat"',
    ):
        path.write_text(text)
        assert "this is not a notebook of Jupyter" in say("list", str(path))
