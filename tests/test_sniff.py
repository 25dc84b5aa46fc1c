"""Which reader a text wants, of real texts of every kind."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pytest

from cute_viz import parse
from cute_viz.notation.write import show_dsl
from cute_viz.source.sniff import KINDS, sniff
from tests.test_cute_ir import DATA as CUTE_IR
from tests.test_cute_ir import IR
from tests.test_source_types import DATA as TYPES

TESTS = Path(__file__).parent
ROOT = TESTS.parent
GOLDEN = json.loads(gzip.decompress((TESTS / "data" / "printer_goldens.json.gz").read_bytes()))
# What the DSL printed, and the error that ended it, with a type of its IR.
FAILED = """L = (?,8,(4,2)):(8,1,(64,256))
S: S<3,3,3> o 0 o (8,64):(64,1)
mA tensor<ptr<f16, gmem> o (512,256):(256,1)>
Traceback (most recent call last):
  File "a.py", line 18, in <module>
    cute.compile(f, x)
  File "core.py", line 4877, in raked_product
    return _cute_ir.raked_product(input=block, tiler=tiler, loc=loc, ip=ip)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
MLIRError: Operation creation failed:
error: unknown: expects `input` to be static, but got '!cute.layout<"(16,?):(1,16)">'
"""


@pytest.mark.parametrize("path", sorted((ROOT / "cute_viz").rglob("*.py"))[::4], ids=str)
def test_python(path: Path) -> None:
    text = path.read_text()
    assert sniff(text, path.name) == "python"
    assert len(text.splitlines()) < 8 or sniff(text) == "python"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (TYPES["symbols"], "types"), (TYPES["g++"], "types"), (TYPES["nvcc"], "types"), (TYPES["mangled"], "types"),
        *((text, "types") for text in TYPES["kernels"].values()),
        (IR, "mlir"), ("\n".join(f"%{n} = cute.static : {text}" for n, text in enumerate(CUTE_IR["types"][:50])), "mlir"),
        ('%lay = cute.make_layout(%s) : !cute.layout<"(4,8):(1,4)">', "mlir"),
        ("#include <cute/tensor.hpp>\n\nusing namespace cute;\n\n__global__ void f(float* a) {\n  auto l = make_layout(8);\n}\n", "cpp"),  # noqa: E501
        ("auto a = make_layout(Shape<_4,_8>{});\nauto b = coalesce(a);\n", "cpp"),
        ("import cutlass.cute as cute\n\n@cute.jit\ndef f(a: cute.Tensor):\n    b = cute.make_layout((4, 8))\n", "python"),
        ("def f():\n  '''!cute.layout<\"4:1\"> is CuTe IR'''\n  return cute.size(a)\n", "python"),
        ("sA: Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)\nsB: (_8,_64):(_64,_1)\n", "print"),
        ("TiledMMA\n  ThrLayoutVMNK:  (_32,_2,_2,_1):(_1,_32,_64,_0)\n  PermutationMNK: (_32,_32,_16)\n", "print"),
        ("Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nValueError: tensor<ptr<f16, smem> o (8,64):(64,1)>\n", "print"),  # noqa: E501
        (FAILED, "print"),
        ("loaded 3 files\ntensor(raw_ptr(0x7f00: f16, smem, align<1024>) o (8,64):(64,1), data=\n  [[1, 2]])\n", "print"),
        ("a = (4,8):(8,1)\nb = logical_divide(a, 4:1)", "notation"), ("(4,8):(8,1)", "notation"), ("composition((4,8):(8,1),\n  4:2)", "notation"),  # noqa: E501
        ("x = (4,8):(8,1)  # mine\ny = x o 4:2\n", "notation"), ("(4,8):(8,1)\n(8,8):(8,1)\n", "notation"), ("", "notation"),
        ("cute.make_layout((4,8), stride=(8,1))", "notation"), ("Layout<Shape<_4,_8>>{}", "notation"),
        ("void gemm_device<tuple<int, int>, Layout<tuple<C<(int)8>>, tuple<C<(int)1>>>>(T1, T2)", "types"),
    ],
)  # fmt: skip
def test_kinds(text: str, kind: str) -> None:
    assert sniff(text) == kind


def test_prints_before_a_traceback_are_read() -> None:
    assert [show_dsl(parse(FAILED, name=name)) for name in ("L", "S", "mA")] == [
        "(?,8,(4,2)):(8,1,(64,256))",
        "S<3,3,3> o 0 o (8,64):(64,1)",
        "(512,256):(256,1)",
    ]


def test_a_name_is_a_hint_and_no_more() -> None:
    assert sniff("(4,8):(8,1)", "a.cu") == "cpp"
    assert sniff("x = 4\n", "a.py") == "python"
    assert sniff(IR, "a.txt") == sniff(IR, "dump.mlir") == "mlir"
    assert sniff(TYPES["symbols"], "symbols.cpp") == "types"
    assert sniff(IR, "kernel.py") == "mlir"


def test_prints_of_the_real_printers() -> None:
    """What CuTe prints of objects and tables; LaTeX and SVG are no prints that are read."""
    texts = [text for text in _texts(GOLDEN) if "\n" in text.strip() and "\\" not in text and "<svg" not in text]
    assert texts
    assert {sniff(text) for text in texts} <= {"print", "notation"}
    assert sum(sniff(text) == "print" for text in texts) > 0.8 * len(texts)


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in _texts(item)]


@pytest.mark.parametrize(
    "unit", ["a", "\n", "(", "<", "x = ", "%a", "[with T = ", "(4,8):(8,1) ", "void f<", "_ZN3abc4cute", "1" * 50 + "\n"]
)
def test_long_texts_are_cheap(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    begun = time.process_time()
    assert sniff(text) in KINDS
    assert time.process_time() - begun < 0.5
