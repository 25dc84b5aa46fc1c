"""Other implementations asked the same questions: CuTe itself, compiled here, and PyPI's tensor-layouts.

`pip install -e '.[oracle]'` brings both (the CuTe headers come in the nvidia-cutlass wheel; a C++ compiler is needed).
"""

from __future__ import annotations

import importlib.util
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.ops import find
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import AlgebraError

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
