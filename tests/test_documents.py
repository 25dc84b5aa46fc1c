"""Every command that the documentation and the help show is run, and what they show as its output is its output."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from cute_viz.cli import COMMANDS
from tests.commands import run

ROOT = Path(__file__).parent.parent
REFUSED = {"cute-viz explain 'composition((3,5,7):(35,7,1), (1):(7))'": 1, "cute-viz render '(4,)8'": 1}
FILES = {
    "kernel.cu": "void gemm_tn() {\nauto sB = make_layout(Shape<_4,_2>{});\n"
    "auto sA = make_layout(make_shape(_4{}, _8{}), LayoutRight{});\n}\n",
    "tma.cu": "auto l = make_layout(make_shape(256,128), make_stride(128,Int<1>{}));\n"
    "auto g = make_tensor(make_gmem_ptr<half_t>((void*)0), l);\n"
    "auto tma = make_tma_copy(SM90_TMA_LOAD{}, g, GMMA::Layout_K_SW128_Atom<half_t>{});\n",
    "copy.cu": "auto src = make_tensor(make_gmem_ptr<half_t>((void*)0), Layout<Shape<_8,_8>,Stride<_8,_1>>{});\n"
    "auto dst = make_tensor(make_smem_ptr<half_t>((void*)0), Layout<Shape<_8,_8>,Stride<_9,_1>>{});\ncopy(src, dst);\n",
    "kernel_traits.h": "template <int kHeadDim_, class elem_type> struct Traits {\n"
    "  using SmemLayoutQ = Layout<Shape<_8, Int<kHeadDim_>>>;\n};\n",
    "spec.yaml": "layout: (4,8):(8,1)\n",
    "mine.yaml": "layout: (4,8):(8,1)\n",
    "notes.md": "<!-- cute-viz: (4,8):(8,1) -->\n<!-- /cute-viz -->\n",
}


def blocks(text: str) -> list[list[str]]:
    """The indented blocks of a Markdown text, without the indentation."""
    out: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("    "):
            if not out or out[-1] is None:
                out.append([])
            out[-1].append(line[4:])
        elif line.strip():
            out.append(None)  # type: ignore[arg-type]
    return [block for block in out if block]


def joined(lines: list[str]) -> list[str]:
    r"""Lines that end in \ with the next."""
    return re.sub(r" *\\\n\s*", " ", "\n".join(lines)).split("\n")


STAY = re.compile(r".*\bcute-viz (serve|mcp)\b")  # they answer until they are stopped: tests/test_live.py and test_mcp.py run them


def commands(text: str) -> list[str]:
    """The commands of the blocks that show no output, comments and the pip part of a line left out; none of those that stay."""
    out = []
    for block in blocks(text):
        if not any(line.startswith("$ ") for line in block):
            out += [line for line in joined(block) if "cute-viz " in line and 'eval "$(' not in line]
    return [line.split("  #")[0].removeprefix("pip install . && ").strip() for line in out if not STAY.match(line)]


def sessions(text: str) -> list[tuple[str, str]]:
    """(command, output) of the blocks that show both."""
    out = []
    for block in blocks(text):
        lines = joined(block)
        if lines[0].startswith("$ "):
            out.append((lines[0][2:], "\n".join(line.rstrip() for line in lines[1:])))
    return out


def examples() -> list[str]:
    """The commands that the helps show."""
    out = []
    for module, _ in COMMANDS.values():
        command = import_module(module).command
        lines = joined([line.strip() for line in (command.epilog or "").splitlines()])
        for line in lines:
            if line.startswith("cute-viz ") and not STAY.match(line):
                out.append(re.split(r"\s{3,}(?=[^-'])", line)[0])
    return out


README = (ROOT / "README.md").read_text()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def call(line: str, folder: Path) -> tuple[int, str]:
    """A line of a shell in which `make` prints what a kernel printed; a command alone needs none."""
    first, *words = shlex.split(line, comments=True)
    if first == "cute-viz" and not re.search(r"[|&;<>`$*?~]", re.sub(r"'[^']*'", "", line)):
        alone = run(*words, cwd=folder)
        return alone.returncode, (alone.stdout + alone.stderr).decode()
    shell = f'cute-viz() {{ "{sys.executable}" -m cute_viz "$@"; }}; make() {{ cat kernel.cu; }}; {line}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    done = subprocess.run(["bash", "-c", shell], cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL)
    return done.returncode, (done.stdout + done.stderr).decode()


@pytest.mark.parametrize("line", dict.fromkeys([*commands(README), *examples()]))
def test_it_runs(line: str, folder: Path) -> None:
    status, said = call(line, folder)
    on_a_gpu = line.startswith("cute-viz check ") and "--emit" not in line  # 3: could not check, and says what is missing
    assert status in ((0, 3) if on_a_gpu else (REFUSED.get(line, 0),)), said
    assert "Traceback" not in said
    for target in re.findall(r" (?:-o|>) ([^\s;]+)", line):
        assert (folder / target).stat().st_size > 0


@pytest.mark.parametrize(("line", "shown"), sessions(README))
def test_it_says_what_is_shown(line: str, shown: str, folder: Path) -> None:
    status, said = call(line, folder)
    assert [row.rstrip() for row in said.splitlines() if row.strip()] == shown.splitlines()
    assert status == REFUSED.get(line, 0)


def test_there_is_something_to_run() -> None:
    assert len(commands(README)) > 15
    assert len(sessions(README)) > 4
    assert len(examples()) > 15
