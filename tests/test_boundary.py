"""A mistake of ours, planted into the program: every door tells it in one clean error, and goes on with the rest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import cute_viz.cli.evaluate
import cute_viz.engine.kernel
import cute_viz.figures.grid
from cute_viz.documents.embed import embed
from cute_viz.ext.markdown import formatter
from tests.commands import run
from tests.test_ext import build

SAID = "this is a mistake in cute-viz, not in the input: KeyError: 'planted'"
WRONG, RIGHT = "(4,8):(8,1)", "Sw<3,3,3>"  # the first is drawn by what does not work, the second is not


def broken(*args: object, **kwargs: object) -> Any:
    raise KeyError("planted")


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cute_viz.figures.grid, "grid", broken)
    monkeypatch.delenv("CUTE_VIZ_DEBUG")


def said_once(words: str) -> bool:
    return words.count(SAID) == words.count("error: ") == 1 and "Traceback" not in words


def test_a_command(planted: None) -> None:
    done = run("render", WRONG, "-T", "svg")
    assert (done.returncode, done.stdout) == (70, b"")
    assert said_once(done.stderr.decode())
    assert done.stderr.decode().startswith(f"error: {SAID}\n  hint: please report it")


def test_a_line_of_eval(planted: None, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = cute_viz.cli.evaluate.show
    monkeypatch.setattr(cute_viz.cli.evaluate, "show", lambda value: broken() if value == 7 else shown(value))
    done = run("eval", "-", stdin=b"3 + 3\n7\n4 + 4\n")
    assert (done.returncode, done.stderr) == (70, b"")
    assert done.stdout.decode().splitlines() == ["6", f"error: {SAID}", "8"]


def test_a_block_of_a_document(planted: None, tmp_path: Path) -> None:
    text = "".join(f"<!-- cute-viz: {one} -->\n<!-- /cute-viz -->\n" for one in (WRONG, RIGHT))
    done = embed(text, "markdown", "x")
    assert [error.message for error in done.failures] == [SAID]
    assert len(done.pictures) == 1
    (tmp_path / "x.md").write_text(text)
    out = run("embed", str(tmp_path / "x.md"))
    assert (out.returncode, out.stdout) == (70, b"")
    assert said_once(out.stderr.decode())
    assert out.stderr.decode().startswith(f"error: {tmp_path / 'x.md'}:1:")


def test_a_job_of_a_gallery(planted: None, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(f"specs:\n  wrong: {{layout: '{WRONG}'}}\n  right: {{swizzle: '{RIGHT}'}}\n")
    done = run("gallery", str(tmp_path / "s.yaml"), "-o", str(tmp_path / "out"), "-j", "1")
    assert done.returncode == 70
    assert said_once(done.stderr.decode())
    assert f"{tmp_path / 's.yaml'}:2" in done.stderr.decode()
    assert [path.name for path in (tmp_path / "out").glob("*.svg")] == ["right.svg"]


def test_a_fence_of_a_site(planted: None, caplog: pytest.LogCaptureFixture) -> None:
    page = formatter(WRONG, "cute-viz", "cute-viz", {}, None)
    assert page.count("this is a mistake in cute-viz") == 1
    assert 'role="alert"' in page
    assert [SAID in record.getMessage() for record in caplog.records] == [True]


def test_a_directive_of_sphinx(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plant = "import cute_viz.figures.grid\ndef broken(*args):\n    raise KeyError('planted')\ncute_viz.figures.grid.grid = broken\n"
    (tmp_path / "conf.py").write_text(f"extensions = ['cute_viz.ext.sphinx']\n{plant}")
    (tmp_path / "index.rst").write_text(f"Title\n=====\n\n.. cute-viz:: {WRONG}\n\n.. cute-viz:: {RIGHT}\n")
    monkeypatch.delenv("CUTE_VIZ_DEBUG")
    words = build(tmp_path, "html")
    assert words.count(SAID) == 1
    assert re.search(r"index\.rst:4: WARNING: cute-viz: ", words)
    page = (tmp_path / "_build" / "html" / "index.html").read_text()
    assert page.count("cute-viz-error") == page.count('<svg class="cv"') == 1


@pytest.mark.parametrize("door", ["render", "eval", "embed", "gallery", "markdown"])
def test_the_suite_meets_it_as_it_is(door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With CUTE_VIZ_DEBUG, as here, no mistake of ours passes for one of the input."""
    monkeypatch.setattr(cute_viz.figures.grid, "grid", broken)
    monkeypatch.setattr(cute_viz.cli.evaluate, "show", broken)
    (tmp_path / "s.yaml").write_text(f"layout: {WRONG}\n")
    (tmp_path / "x.md").write_text(f"```cute-viz\n{WRONG}\n```\n")
    doors: dict[str, Any] = {
        "render": lambda: run("render", WRONG),
        "eval": lambda: run("eval", "-", stdin=b"1\n"),
        "embed": lambda: run("embed", str(tmp_path / "x.md")),
        "gallery": lambda: run("gallery", str(tmp_path / "s.yaml"), "-o", str(tmp_path / "out"), "-j", "1"),
        "markdown": lambda: formatter(WRONG, "cute-viz", "cute-viz", {}, None),
    }
    with pytest.raises(KeyError, match="planted"):
        doors[door]()


def test_pages_and_json_that_tell_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A report goes on with the other accesses; the status shows what is in the file, of whatever format it is."""
    monkeypatch.delenv("CUTE_VIZ_DEBUG")
    kernel = tmp_path / "k.cu"
    kernel.write_text(
        "void f(float* p) {\n  auto s = make_tensor(make_smem_ptr(p), make_layout(Shape<_32,_4>{}));\n"
        "  copy(make_tensor<float>(_4{}), local_partition(s, Layout<_32>{}, threadIdx.x));\n}\n"
    )
    page = tmp_path / "k.html"
    commands = (("-o", str(page)), ("--json",), ("--format", "sarif"), ())
    assert [run("analyze", str(kernel), *more).returncode for more in commands] == [0, 0, 0, 0]
    monkeypatch.setattr(cute_viz.engine.kernel, "_costs", broken)
    done = [run("analyze", str(kernel), *more) for more in commands]
    assert [one.returncode for one in done] == [70, 70, 70, 70]
    assert "this is a mistake in cute-viz" in page.read_text()
    assert all(b"this is a mistake in cute-viz" in one.stdout for one in done[1:])
    (tmp_path / "x.md").write_text(f"this is a mistake in cute-viz\n<!-- cute-viz: {RIGHT} -->\n<!-- /cute-viz -->\n")
    assert run("embed", str(tmp_path / "x.md")).returncode == 0  # the author's words


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_gallery_of_several_processes(planted: None, tmp_path: Path, jobs: str) -> None:
    rows = "".join(f"  wrong{n}: {{layout: '({n + 2},8):(8,1)'}}\n" for n in range(3))
    (tmp_path / "s.yaml").write_text(f"specs:\n{rows}  right: {{swizzle: '{RIGHT}'}}\n")
    for more in (("-j", jobs, "-o", str(tmp_path / "out")), ("-j", jobs, "-o", str(tmp_path / "out"), "--check"), ("--validate",)):
        done = run("gallery", str(tmp_path / "s.yaml"), *more)
        assert (done.returncode, done.stderr.count(SAID.encode())) == (70, 3), done.stderr


@pytest.mark.parametrize("command", ["list", "analyze", "explain", "show", "render", "eval"])
@pytest.mark.parametrize(
    ("name", "text"),
    [("x.py", "import ast\nx = int(1? == 1\n"), ("x.cu", "auto a = ((("), ("x.mlir", "module {"), ("x.yaml", "a: [")],
)
def test_a_file_that_cannot_be_read(command: str, name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    done = run(command, str(tmp_path / name))
    assert done.returncode in (0, 1, 2)  # an exception of ours leaves `run` as it is
