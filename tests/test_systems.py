"""Other systems, as far as one machine has them: Windows' paths and shells, encodings, ends of lines, locales, seeds of hashes."""

from __future__ import annotations

import ntpath
import os
import re
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest
import yaml

from cute_viz.documents.markup import is_file_name
from cute_viz.files import top_of
from cute_viz.source.address import address_of
from tests.commands import fails, process, run

TEXT = "using L = Layout<Shape<_4,_8>>;\nstruct A {\n  // \u00d7\n  using B = Layout<Shape<_2>>;\n};\n"


@pytest.mark.parametrize(
    "file",
    [
        *(
            r"C:\x\kernel.cu",
            r"C:\Users\A B\kernel.cu",
            "C:/x/kernel.cu",
            r"\\srv\share\kernel.cu",
            r".\kernel.cu",
            r"..\a\kernel.cu",
        ),
        *(r"C:\Program Files (x86)\k.cu", r"\\?\C:\k.cu", r"d:\a-b\c.d\k.cu"),
    ],
)
def test_an_address_of_windows(file: str) -> None:
    """A drive's colon, backslashes, a share: no part of the object's name."""
    assert address_of(f"{file}::f::sA@3(_,0)") == (file, "f::sA@3(_,0)")
    assert PureWindowsPath(file).suffix == ".cu"
    assert fails(run("eval", f"{file}::sA"), 1).startswith(f"error: {file}: No such file")


def test_paths_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What decides by a path where a file may lie, asked with the other system's paths."""
    monkeypatch.setattr("cute_viz.files.os.path", ntpath)
    monkeypatch.setattr("cute_viz.files.os.sep", "\\")
    monkeypatch.setattr("cute_viz.files.os.pardir", "..")
    assert top_of(r"pictures\new", "docs") == "docs"
    assert top_of(r"..\pictures", "docs") == r"docs\.."
    assert top_of("C:\\out", "docs") == "C:\\out"
    for name in ("con", "NUL.svg", "a:b", "a\\b", "lpt1", "x.", "x ", "a?b", 'a"b', "a*b"):
        assert not is_file_name(name), name


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_encodings_of_a_file(encoding: str, newline: str, tmp_path: Path) -> None:
    path = tmp_path / "x.cu"
    path.write_bytes(TEXT.replace("\n", newline).encode(encoding))
    lines = run("list", str(path)).stdout.decode().split()
    assert (lines[0], lines[4], lines[3], lines[7]) == ("1", "4", "(_4,_8):(_1,_4)", "(_2):(_1)")
    for name, text in (
        ("x.py", "import cutlass.cute as cute\nL = cute.make_layout((4, 8))\n"),
        ("x.yaml", "layout: (4,8):(1,4)\n"),
    ):
        (tmp_path / name).write_bytes(text.replace("\n", newline).encode(encoding))
        assert b"(4,8):(1,4)" in run("eval", str(tmp_path / name)).stdout
    (tmp_path / "x.md").write_bytes(f"<!-- cute-viz: (2,2) -->{newline}<!-- /cute-viz -->{newline}".encode(encoding))
    assert run("embed", str(tmp_path / "x.md")).returncode == 0
    data = (tmp_path / "x.md").read_bytes()
    assert data.count(newline.encode()) == data.count(b"\n") == 3
    assert data.startswith(b"\xef\xbb\xbf") is (encoding == "utf-8-sig")


MARKS = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}


@pytest.mark.parametrize("encoding", MARKS)
def test_utf_16_is_read_and_never_written(encoding: str, tmp_path: Path) -> None:
    """PowerShell's `>` writes it: a source means the same, a document stays as it is, a line or a piece that is none is told."""
    data = MARKS[encoding] + TEXT.replace("\n", "\r\n").encode(encoding)
    (tmp_path / "x.cu").write_bytes(data)
    (tmp_path / "plain.cu").write_text(TEXT, "utf-8")
    assert run("list", str(tmp_path / "x.cu")).stdout == run("list", str(tmp_path / "plain.cu")).stdout != b""
    assert run("eval", f"{tmp_path / 'x.cu'}::L").stdout == b"(_4,_8):(_1,_4)\n"
    assert run("render", "-", "--name", "L", stdin=data).returncode == 0
    (tmp_path / "odd.cu").write_bytes(data[:-1])
    assert "this is not UTF-16 text" in fails(run("list", str(tmp_path / "odd.cu")), 1)
    lines = MARKS[encoding] + "a = (4,8)\r\nsize(a)\r\n".encode(encoding)
    assert run("eval", "-", stdin=lines).stdout == b"(4,8)\n32\n"
    assert "this is not UTF-16 text" in fails(run("eval", "-", stdin=lines[:-1]), 1)
    document = MARKS[encoding] + "<!-- cute-viz: (2,2) -->\r\n<!-- /cute-viz -->\r\n".encode(encoding)
    (tmp_path / "x.md").write_bytes(document)
    assert "UTF-16" in fails(run("embed", str(tmp_path / "x.md")), 1)
    assert (tmp_path / "x.md").read_bytes() == document


def test_a_code_page_is_told(tmp_path: Path) -> None:
    """Windows' editors wrote it."""
    data = TEXT.encode("latin-1")
    (tmp_path / "x.cu").write_bytes(data)
    assert "this is not UTF-8 text" in fails(run("list", str(tmp_path / "x.cu")), 1)
    assert run("render", "-", stdin=data).returncode == 1
    assert run("eval", "-", stdin=b"\xef\xbb\xbf(4,8):(8,1)\r\n").stdout == b"(4,8):(8,1)\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["'(4,8):(8,1)'"], ""),  # cmd.exe hands single quotes on
        (["'Sw<3,3,3>", "o", "0"], "in cmd.exe use double quotes"),
        (["'C:\\k.cu::sA'"], "error: C:\\k.cu: No such file"),
        (["\u201c(4,8)\u201d"], ""),  # quotes of a word processor
        (["(4,8):(8,1)\r"], ""),  # the end of a line of a script with Windows' ends
        (["@(4,8)"], "error: "),  # what PowerShell leaves of a splat
    ],
)
def test_quotes_of_other_shells(words: list[str], said: str) -> None:
    done = run("eval", *words)
    assert (done.returncode == 0) is (said == "")
    assert said in done.stderr.decode()


SAME = ("render", "((16,8),8):((64,1),8)", "--tile", "8x128", "-T", "svg")


def test_locales_and_seeds_of_hashes_change_no_byte() -> None:
    """Each in a process of its own: names of languages that are not installed, bytes, the order of sets."""
    wanted = run(*SAME).stdout
    for number, locale in enumerate(("C", "POSIX", "C.UTF-8", "en_US.ISO-8859-1", "tr_TR.UTF-8", "zz_ZZ")):
        env = {"LC_ALL": locale, "LANG": locale, "PYTHONHASHSEED": str(number * 1237), "PYTHONUTF8": str(number % 2)}
        assert process(*SAME, env=env).stdout == wanted, env


ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_the_shape_of_one(path: Path) -> None:
    """What GitHub would refuse or skip in silence: triggers, rights, jobs that exist, a matrix that is used."""
    flow = yaml.safe_load(path.read_text("utf-8"))
    assert flow["name"] == path.stem
    assert flow[True]  # the key `on`, which YAML 1.1 takes for a truth
    assert flow["permissions"] == {"contents": "read"}
    for job in flow["jobs"].values():
        axes = job.get("strategy", {}).get("matrix", {})
        used = set(re.findall(r"\$\{\{ matrix\.(\w+) \}\}", yaml.safe_dump(job, width=10_000)))
        assert used == set(axes)
        assert job["runs-on"]
        assert {job.get("needs")} <= {None, *flow["jobs"]}
        for step in job["steps"]:
            assert len({"uses", "run"} & set(step)) == 1, step
            assert re.fullmatch(r"[\w-]+/[\w-]+@[\w./]+", step.get("uses", "a/b@c"))
            for script in re.findall(r"(?:^|\s)(\.ci/\w+)", step.get("run", "")):
                assert (ROOT / script).is_file()
            for module in re.findall(r"python -m (tests(?:\.\w+)+)", step.get("run", "")):
                place = ROOT.joinpath(*module.split("."))
                assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file()


def test_pushes_are_tested_on_every_system_and_python() -> None:
    """The versions are those that the package says it runs on, the command is README's one test command."""
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8"))
    assert set(flow[True]) >= {"push", "pull_request"}
    job = flow["jobs"]["readme"]
    matrix = job["strategy"]["matrix"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert matrix["python"] == re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))
    assert matrix["python"] == ["3.10", "3.11", "3.12", "3.13", "3.14"]
    taken = re.search(r"sed -n '(.*)' README.md", job["steps"][-1]["run"])
    assert taken is not None
    if sys.platform == "linux":
        found = subprocess.run(["sed", "-n", taken[1], str(ROOT / "README.md")], capture_output=True, text=True).stdout
        assert found == "pip install -e '.[test]' && pytest\n"


@pytest.mark.skipif(os.sep == "\\", reason="it is a path there")
def test_a_path_of_windows_elsewhere_is_recognized(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "x.cu").write_text(TEXT, "utf-8")
    (tmp_path / "x.md").write_text("<!-- cute-viz: src\\x.cu::L -->\n<!-- /cute-viz -->\n", "utf-8")
    assert "did you mean src/x.cu?" in fails(run("eval", "src\\x.cu::L", cwd=tmp_path), 1)
    assert "did you mean src/x.cu?" in fails(run("embed", "x.md", cwd=tmp_path), 1).replace(f"{tmp_path}/", "")
