"""Other implementations asked the same questions: CuTe itself, compiled here, and PyPI's tensor-layouts.

`pip install -e '.[oracle]'` brings both (the CuTe headers come in the nvidia-cutlass wheel; a C++ compiler is needed).
"""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cute_viz import parse
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.ops import find
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.source.text import read

pytestmark = pytest.mark.oracle
OPERATIONS = (
    "composition", "complement", "right_inverse", "left_inverse", "coalesce", "flatten", "filter",
    "logical_divide", "zipped_divide", "tiled_divide", "flat_divide",
    "logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product", "raked_product",
)  # fmt: skip
BINARY = ("composition", "divide", "product")


def cases(seed: int, count: int) -> list[tuple[str, list[Any]]]:
    """Operations on random layouts that we accept; those that we refuse are another test's business."""
    rng = random.Random(seed)
    out: list[tuple[str, list[Any]]] = []
    while len(out) < count:
        name = rng.choice(OPERATIONS)
        operands: list[Any] = [layout(rng)]
        if any(word in name for word in BINARY):
            operands.append(layout(rng) if rng.random() < 0.7 or "ed_product" in name else rng.choice((1, 2, 4)))
        if name == "composition" and rng.random() < 0.2:
            operands = [Swizzle(rng.randint(1, 3), rng.randint(0, 3), 3), operands[0]]
        try:
            find(name).call(operands)
        except AlgebraError:
            continue
        out.append((name, operands))
    return out


def negative(seed: int, count: int) -> list[tuple[str, list[Any]]]:
    """Coordinates below 0, which C++ divides toward zero."""
    rng = random.Random(seed)
    shapes = [layout(rng) for _ in range(count)]
    return [case for x in shapes for case in (("crd2idx", [-rng.randint(1, 99), x.shape, x.stride]), ("idx2crd", [-9, x.shape]))]


def layout(rng: random.Random) -> Layout:
    def shape(depth: int) -> Any:
        if depth < 2 and rng.random() < 0.6:
            return tuple(shape(depth + 1) for _ in range(rng.randint(1, 3)))
        return rng.choice((1, 2, 3, 4, 6, 8))

    def stride(s: Any) -> Any:
        return tuple(map(stride, s)) if isinstance(s, tuple) else rng.choice((0, 1, 2, 3, 4, 8, 12, 16, 24))

    chosen = shape(0)
    return Layout(chosen) if rng.random() < 0.4 else Layout(chosen, stride(chosen))


def cpp(x: Any) -> str:
    """An operand as a C++ type."""
    if isinstance(x, Layout):
        return f"Layout<{cpp(x.shape)},{cpp(x.stride)}>"
    if isinstance(x, Swizzle):
        return f"Swizzle<{x.bits},{x.base},{x.shift}>"
    return f"cute::tuple<{','.join(map(cpp, x))}>" if isinstance(x, tuple) else f"Int<{x}>"


def includes() -> list[str]:
    """The include folders of the CuTe and CUDA wheels, or a skip that says what is missing."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    found = []
    for package, inside in (("cutlass_library", "source/include"), ("nvidia", "")):
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            pytest.skip(f"the headers of {package} are not installed: pip install -e '.[oracle]'")
        found += [Path(place) / inside for place in spec.submodule_search_locations]
    folders = [found[0]]
    for part in ("cuda_runtime", "cuda_cccl", "cuda_nvcc"):
        folders += [place / part / "include" for place in found[1:] if (place / part / "include").is_dir()]
    if not (folders[0] / "cute" / "layout.hpp").is_file() or len(folders) < 4:
        pytest.skip("the CuTe or CUDA headers are not where their wheels put them")
    return [flag for folder in folders for flag in ("-I", str(folder))]


def test_cute_itself(tmp_path: Path) -> None:
    asked = cases(seed=7, count=80) + negative(seed=8, count=12)
    lines = [f'print({name}({", ".join(cpp(x) + "{}" for x in operands)})); print("\\n");' for name, operands in asked]
    source = tmp_path / "oracle.cpp"
    heads = "".join(f"#include <cute/{name}.hpp>\n" for name in ("layout", "swizzle_layout", "pointer_flagged"))
    source.write_text(heads + "using namespace cute;\nint main() {\n" + "\n".join(lines) + "\n}\n")
    program = tmp_path / "oracle"
    command = ["g++", "-std=c++17", "-O0", "-w", *includes(), str(source), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert built.returncode == 0, built.stderr[:3000]
    answers = subprocess.run([program], capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    wrong = []
    for (name, operands), answer in zip(asked, answers, strict=True):
        ours = show(mark_static(find(name).call(operands)))
        if ours != answer:
            wrong.append((name, list(map(str, operands)), ours, answer))
    assert not wrong


# tensor-layouts takes another way where a tile leaves the layout, and in blocked_product of unequal ranks.
SAME_IN_TENSOR_LAYOUTS = (
    "composition", "complement", "right_inverse", "left_inverse", "coalesce", "flatten",
    "logical_product", "zipped_product", "tiled_product", "flat_product", "raked_product",
)  # fmt: skip


def test_tensor_layouts() -> None:
    """Where it follows CuTe, tensor-layouts computes the same functions."""
    theirs = pytest.importorskip("tensor_layouts", reason="pip install -e '.[oracle]'")
    compared, wrong = 0, []
    for name, operands in cases(seed=11, count=400):
        if name not in SAME_IN_TENSOR_LAYOUTS or not all(isinstance(x, Layout) for x in operands):
            continue
        other = getattr(theirs, "compose" if name == "composition" else name)
        result = other(*[theirs.Layout(x.shape, x.stride) for x in operands])
        ours = find(name).call(operands)
        compared += 1
        if [result(i) for i in range(theirs.size(result))] != [ours(i) for i in range(theirs.size(result))]:
            wrong.append((name, list(map(str, operands)), str(ours), str(result)))
    assert not wrong
    assert compared > 200


def test_tensor_layouts_of_other_machines() -> None:
    """AMD's calculator, which ours follow, has another C than its tables, but with every nested tuple reversed, and all of K."""
    pytest.importorskip("tensor_layouts", reason="pip install -e '.[oracle]'")
    from tensor_layouts import atoms_amd

    def reversed_(x: Any) -> Any:
        return tuple(map(reversed_, reversed(x))) if isinstance(x, tuple) else x

    same = {
        "CDNA_32x32x8_F32F16F16_MFMA": "v_mfma_f32_32x32x8_f16",
        "CDNA_16x16x16_F32F16F16_MFMA": "v_mfma_f32_16x16x16_f16",
        "CDNA3_16x16x32_F32F8F8_MFMA": "v_mfma_f32_16x16x32_fp8_fp8",
    }
    for name, ours in same.items():
        theirs, atom = getattr(atoms_amd, name), parse(ours)
        c, a = (Layout(x.shape, x.stride) for x in (theirs.c_layout, theirs.a_layout))
        turned = Layout(*(tuple(map(reversed_, x)) for x in (c.shape, c.stride)))
        assert list(offsets(turned)) == list(offsets(atom.layout_c)) != list(offsets(c))
        assert 2 * len(set(offsets(a))) <= len(set(offsets(atom.layout_a))) == size(atom.layout_a)


def dsl_layout(rng: random.Random, coordinates: bool) -> tuple[str, str]:
    """A random layout in our notation and in the Python DSL's, of integers or of coordinates."""

    def shape(inner: bool = False) -> list[Any]:
        return [rng.choice((1, 2, 3, 4, 6, 8)) if inner or rng.random() < 0.75 else shape(True) for _ in range(rng.randint(1, 3))]

    def strides(x: Any) -> Any:
        if isinstance(x, list):
            return [strides(y) for y in x]
        return (rng.choice((1, 1, 2, 4)), rng.randint(0, 2)) if coordinates else rng.choice((0, 1, 2, 3, 4, 8, 16))

    def ours(x: Any) -> str:
        if isinstance(x, list):
            return f"({','.join(map(ours, x))})"
        return f"{x[0]}@{x[1]}" if isinstance(x, tuple) else str(x)

    def theirs(x: Any) -> str:
        if isinstance(x, list):
            return f"({''.join(theirs(y) + ',' for y in x)})"
        return f"cute.ScaledBasis({x[0]}, {x[1]})" if isinstance(x, tuple) else str(x)

    extents = shape()
    steps = strides(extents)
    return f"{ours(extents)}:{ours(steps)}", f"cute.make_layout({theirs(extents)}, stride={theirs(steps)})"


def test_the_dsl_itself(tmp_path: Path) -> None:
    """What the Python DSL computes of random layouts, of coordinates too; it traces without a GPU."""
    if importlib.util.find_spec("cutlass") is None or importlib.util.find_spec("cutlass.cute") is None:
        pytest.skip("nvidia-cutlass-dsl is not installed")
    rng = random.Random(7)
    asked: dict[str, str] = {}
    while len(asked) < 150:
        name = rng.choice(("composition", "logical_divide", "zipped_divide", "coalesce", "logical_product", "right_inverse"))
        operands = [dsl_layout(rng, rng.random() < 0.6 and name != "right_inverse")]
        if name not in ("coalesce", "right_inverse"):
            number = str(rng.choice((2, 4, 8)))
            operands.append((f"{number}:1", f"cute.make_layout({number})") if rng.random() < 0.5 else dsl_layout(rng, False))
        ours, theirs = (", ".join(words) for words in zip(*operands, strict=True))
        warnings: list[str] = []
        try:
            mine = read(f"{name}({ours})", {}, warnings).pick()
        except CuteVizError:  # what we refuse is another test's business
            continue
        if not warnings:  # beyond the end of a layout C++ and the DSL go on in their own ways
            asked[str(mine)] = f"cute.{name}({theirs})"
    lines = "".join(
        f"    try: print({n}, {theirs}, flush=True)\n    except Exception: pass\n" for n, theirs in enumerate(asked.values())
    )
    program = tmp_path / "asked.py"
    program.write_text(f"import cutlass, cutlass.cute as cute\n@cute.jit\ndef f():\n{lines}cute.compile(f)\n")
    environment = {**os.environ, "CUTE_DSL_ARCH": "sm_90a"}
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=environment)
    answers = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line[:1].isdigit() and " " in line)
    assert len(answers) > 30, done.stderr[-500:]
    for n, (ours, theirs) in enumerate(asked.items()):
        assert answers.get(str(n), ours) == ours, theirs
