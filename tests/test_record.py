"""Scripts of the CuTe DSL: what they compile is kept and reported, by the command, in a block, and in tests."""

from __future__ import annotations

import json
import os
from pathlib import Path
from runpy import run_path

import pytest

import cute_viz
from cute_viz.cli import main
from cute_viz.errors import CuteVizError
from cute_viz.testing import assert_no_bank_conflicts
from tests.test_cute_ir import KERNEL

# What the DSL's compiler does as far as it matters here: it writes IR where the variables say, and reads its arguments.
SCRIPT = """import os, sys
assert os.environ["CUTE_DSL_KEEP"] == "ir-debug" and os.environ["CUTE_DSL_LINEINFO"] == "1"
for n in range(int(sys.argv[1])):
    with open(os.path.join(os.environ["CUTE_DSL_DUMP_DIR"], f"k{n}.mlir"), "w") as file:
        file.write(open(sys.argv[2]).read())
print(os.environ.get("CUTE_DSL_ARCH"))
sys.exit(3)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "s.py").write_text(SCRIPT)
    (tmp_path / "ir.txt").write_text(KERNEL)
    return tmp_path / "s.py"


def run(capfd: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["record", *argv])
    said = capfd.readouterr()
    return int(stop.value.code or 0), said.out, said.err


def test_a_script_is_run_and_reported(script: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ir = str(script.parent / "ir.txt")
    code, out, err = run(capfd, "--arch", "sm_90a", str(script), "1", ir)
    assert (code, f"running {script}" in err, "exit status 3" in err) == (0, True, True)
    assert out.startswith("sm_90a\n")
    assert "st.shared.32" in out
    code, out, err = run(capfd, "--json", str(script), "2", ir)
    reports = json.loads(out.partition("\n")[2])
    assert [name.endswith(" (2)") for name in reports] == [False, True]
    assert run(capfd, "--max-ways", "1", str(script), "1", ir)[0] == 1
    page = script.parent / "r.html"
    assert run(capfd, "-o", str(page), str(script), "2", ir)[0] == 0
    assert page.exists()
    assert (script.parent / "r-2.html").read_bytes().startswith(b"<!")
    code, _, err = run(capfd, str(script), "0", ir)
    assert (code, "no kernel with copies was compiled" in err) == (1, True)
    assert run(capfd, "none.py")[0] == 1


def test_a_block_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTE_DSL_KEEP", "ptx")
    monkeypatch.delenv("CUTE_DSL_DUMP_DIR", raising=False)
    page = tmp_path / "out.html"
    with cute_viz.record(page, arch="sm_80") as recorded:
        assert os.environ["CUTE_DSL_KEEP"] == "ptx,ir-debug"
        Path(os.environ["CUTE_DSL_DUMP_DIR"], "a.mlir").write_text(KERNEL)
    assert "CUTE_DSL_DUMP_DIR" not in os.environ
    assert os.environ["CUTE_DSL_KEEP"] == "ptx"
    assert page.exists()
    (found,) = recorded.reports.values()
    assert len(found.accesses) == 3
    with pytest.raises(AssertionError, match=r"st\.shared\.32"):
        assert_no_bank_conflicts(recorded)
    with cute_viz.record() as none, pytest.raises(AssertionError, match="no kernel"):
        assert_no_bank_conflicts(none)
    with pytest.raises(CuteVizError, match=r"\.html"):
        recorded.save(tmp_path / "out.txt")


DSL = """
import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import make_fake_compact_tensor

@cute.kernel
def kernel(a: cute.Tensor):
    tidx, _, _ = cute.arch.thread_idx()
    part = cute.local_partition(a, cute.make_layout(32), tidx)
    cute.autovec_copy(part, cute.make_fragment_like(part))

@cute.jit
def host(a: cute.Tensor):
    kernel(a).launch(grid=[1, 1, 1], block=[32, 1, 1])

cute.compile(host, make_fake_compact_tensor(cutlass.Float32, (128,), assumed_align=16))
"""


def test_the_dsl_itself(tmp_path: Path) -> None:
    pytest.importorskip("cutlass.cute", reason="pip install nvidia-cutlass-dsl")
    (tmp_path / "k.py").write_text(DSL)
    with cute_viz.record(arch="sm_80") as recorded:
        run_path(str(tmp_path / "k.py"))
    (found,) = recorded.reports.values()
    assert [(row.move.line, row.cost.instruction) for row in found.accesses] == [(10, "ld.global.32")]
