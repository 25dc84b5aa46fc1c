"""Every command that the documentation and the help show is run, and what they show as its output is its output."""

from __future__ import annotations

import doctest
import gzip
import html
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from cute_viz import __version__
from cute_viz.algebra.ops import OPS
from cute_viz.cli import COMMANDS
from cute_viz.cli import commands as every_command
from cute_viz.limits import LIMITS
from cute_viz.options import OPTIONS
from cute_viz.renderers import FORMATS
from tests.commands import run
from tests.test_cute_ir import KERNEL

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
REFUSED = {
    "cute-viz explain 'composition((3,5,7):(35,7,1), (1):(7))'": 1,
    "cute-viz render '(4,8,)'": 1,
    "cute-viz explain 'copy(Copy_Atom<UniversalCopy<uint128_t>,half_t>{}, make_tensor(make_gmem_ptr<half_t>(0), (_8,_4):(_4,_1)), "
    "make_tensor<half_t>((_8,_4)))'": 1,
    "cute-viz explain 'copy(Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint64_t>,half_t>{}, make_tensor(make_gmem_ptr<half_t>(0), (_4)), "
    "make_tensor(make_smem_ptr<half_t>(0), (_4)))'": 1,
    "cute-viz show docs/descriptors.cu --name kMajor": 1,
}


def measured(name: str) -> str:
    """One of CUTLASS's tutorials, with whose counters the predictions are compared."""
    with gzip.open(ROOT / "tests/data/measured_kernels.json.gz") as file:
        return str(json.load(file)["files"][name])


DOCS = ("kernel.cu", "hopper.cu", "copy.cu", "tma.cu", "descriptors.cu", "atoms/mine.yaml", "atoms/mine_copy.yaml")
SGEMM = measured("sgemm_2.cu")
FILES = {
    "kernel.cu": "void gemm_tn() {\nauto sB = make_layout(Shape<_4,_2>{});\n"
    "auto sA = make_layout(make_shape(_4{}, _8{}), LayoutRight{});\n}\n",
    "kernel_traits.h": "template <int kHeadDim_, class elem_type> struct Traits {\n"
    "  using SmemLayoutQ = Layout<Shape<_8, Int<kHeadDim_>>>;\n};\n",
    # writes the IR that the compiler of the DSL would, where the variables say
    "gemm.py": "import os\nfolder = os.environ['CUTE_DSL_DUMP_DIR']\n"
    f"open(os.path.join(folder, 'k.mlir'), 'w').write({KERNEL!r})\n",
    "spec.yaml": "layout: (4,8):(8,1)\n",
    "mine.yaml": "layout: (4,8):(8,1)\n",
    "gemm.cu": SGEMM,
    "sgemm_2.cu": SGEMM,
    "copy.cu": (ROOT / "docs" / "copy.cu").read_text(),
    **{f"docs/{name}": (ROOT / "docs" / name).read_text() for name in DOCS},
    "offsets.csv": "0,1,2,3\n5,4,7,6\n",
    "answers.yaml": "1: 17\n2: 0\n3: (7,1), (15,1)\n",
    "owners.txt": "T0V0 T0V1\nT1V0 T1V1\n",
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
    return [
        line.split("  #")[0].removeprefix("pipx install . && ").removeprefix("pip install . && ").strip()
        for line in out
        if not STAY.match(line)
    ]


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
    for _, command, _ in every_command():
        lines = joined([line.strip() for line in (command.epilog or "").splitlines()])
        for line in lines:
            if line.startswith("cute-viz ") and not STAY.match(line):
                out.append(re.split(r"\s{3,}(?=[^-'])", line)[0])
    return out


TEXTS = [page.read_text() for page in PAGES]
COMMANDS_SHOWN = [line for text in TEXTS for line in commands(text)]
SESSIONS = [session for text in TEXTS for session in sessions(text)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
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


ELSEWHERE = {"cute-viz gallery -o pictures"}  # which test_gallery runs, and looks at what it draws


@pytest.mark.parametrize("line", [line for line in dict.fromkeys([*COMMANDS_SHOWN, *examples()]) if line not in ELSEWHERE])
def test_it_runs(line: str, folder: Path) -> None:
    status, said = call(line, folder)
    on_a_gpu = line.startswith("cute-viz verify ") and "--emit" not in line  # 3: could not check, and says what is missing
    assert status in ((0, 3) if on_a_gpu else (REFUSED.get(line, 0),)), said
    assert "Traceback" not in said
    for target in re.findall(r" (?:-o|>) ([^\s;]+)", line):
        assert (folder / target).stat().st_size > 0


@pytest.mark.parametrize(("line", "shown"), SESSIONS)
def test_it_says_what_is_shown(line: str, shown: str, folder: Path) -> None:
    status, said = call(line, folder)
    assert [row.rstrip() for row in said.splitlines() if row.strip()] == shown.splitlines()
    assert status == REFUSED.get(line, 0)


def test_there_is_something_to_run() -> None:
    assert len(commands(TEXTS[0])) > 10
    assert len(COMMANDS_SHOWN) > 40
    assert len(sessions(TEXTS[0])) == 3
    assert len(SESSIONS) > 10
    assert len(examples()) > 15


PYTHON = [text for page in TEXTS for text in re.findall(r"^```pycon\n(.*?)^```", page, re.DOTALL | re.MULTILINE)]


@pytest.mark.parametrize("text", PYTHON)
def test_python_gives_what_is_shown(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(text, {}, "pycon", None, None)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_own_atoms_are_those_of_the_page() -> None:
    for name in ("mine", "mine_copy"):
        assert f"```yaml\n{FILES[f'docs/atoms/{name}.yaml']}```" in (ROOT / "docs" / "howto" / "atoms.md").read_text()


def test_a_stub_of_the_reference_says_what_prints_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    pages = importlib.import_module("reference").PAGES
    assert {f"docs/{name}.md" for name in pages} == {str(x.relative_to(ROOT)) for x in (ROOT / "docs/reference").glob("*.md")}
    for name in pages:
        shown = re.sub(r"<!--.*?-->", "", (ROOT / "docs" / f"{name}.md").read_text(), flags=re.S).strip()
        command, link = re.search(r"`(.+)`$", shown), re.search(r"\]\((.+)\)\.$", shown)
        assert "\n" not in shown
        assert command or link, name
        if command:
            words = shlex.split(command[1])
            assert (words[0] == "cute-viz" and run(*words[1:]).returncode == 0) or words[:3] == ["python", "-m", "pydoc"], name
        if link:
            assert (ROOT / "docs/reference" / link[1]).is_file(), name


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """The reference has every row of the tables, and each page draws its pictures."""
    site = tmp_path / "site"
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-d",
        str(tmp_path / "read"),
        str(ROOT / "docs"),
        str(site),
    ]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=100)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    reference = {path.stem: html.unescape(re.sub(r"<[^>]+>", "", path.read_text())) for path in (site / "reference").glob("*.html")}
    for page, names in (
        ("commands", COMMANDS),
        ("options", OPTIONS),
        ("operations", OPS),
        ("formats", FORMATS),
        ("limits", LIMITS),
    ):
        assert [name for name in names if name.replace("_", "-") not in reference[page].replace("_", "-")] == []
    assert len({path.stem for path in (ROOT / "docs" / "reference").glob("*.md")} - set(reference)) == 0
    pages = [path.read_text() for path in PAGES[1:]]
    asked = sum(len(re.findall(r"^```\{cute-viz\}", page, re.MULTILINE)) for page in pages)
    drawn = sum(path.read_text().count('<svg class="cv"') for path in site.rglob("*.html"))
    assert drawn == asked > 25
    glossary = (site / "glossary.html").read_text()
    linked = {term for page in site.rglob("*.html") for term in re.findall(r"glossary.html#([\w-]+)", page.read_text())}
    assert {"term-tv-layout", "term-bank-conflict", "term-tma"} <= linked
    assert [term for term in linked if f'id="{term}"' not in glossary] == []
    assert (site / "gallery" / "index.html").read_bytes() == (ROOT / "gallery" / "index.html").read_bytes()
    manual = tmp_path / "man"  # of the same pages, which are read: a page for each command, with all its options
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "man", "-d", str(tmp_path / "read"), str(ROOT / "docs"), str(manual)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=100)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert len(list(manual.glob("*.1"))) == len(list((ROOT / "docs" / "reference").glob("cli-*.md"))) + 1
    page = (manual / "cute-viz-render.1").read_text().replace("\\", "")
    assert [name for name in OPTIONS if f"--{name.replace('_', '-')}" not in page and name not in ("target", "bits")] == []


def test_the_pictures_of_the_story_are_those_of_its_command(tmp_path: Path) -> None:
    """`docs/_static/store_*.svg`, which README and the tutorial show."""
    for stride in (129, 132):
        words = f"analyze (4,8):(1,{stride}) --access ((8,4),1):((4,1),0) --type f32 --store --view access --for readme -o x.svg"
        assert run(*words.split(), cwd=tmp_path).returncode == 0
        assert (tmp_path / "x.svg").read_bytes() == (ROOT / "docs" / "_static" / f"store_{stride}.svg").read_bytes()


def test_the_version_stands_in_one_place() -> None:
    """The package's; the changelog begins with it, and a release takes a tag of it alone."""
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()
    heading = re.search(r"^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert heading
    assert heading[1] == __version__
    other = subprocess.run([ROOT / ".ci" / "release", "v0.0.0"], capture_output=True)
    assert (other.returncode, __version__ in other.stdout.decode()) == (1, True)


def test_the_numbers_of_the_readme() -> None:
    """What the README says to agree is what the tests and the kept report hold."""

    def data(name: str) -> dict[str, list[object]]:
        found: dict[str, list[object]] = json.loads(gzip.decompress((ROOT / "tests" / "data" / f"{name}.json.gz").read_bytes()))
        return found

    atoms, vendors, goldens = data("atoms"), data("vendors"), data("printer_goldens")
    printed = [printer for group in ("layouts", "tv", "tilings") for one in goldens[group].values() for printer in one]  # type: ignore[attr-defined]
    outputs = sum(printer.startswith("print_") for printer in printed)
    verified = json.loads((ROOT / "layouts" / "verified" / "nvidia-h200.json").read_text())
    newer = json.loads((ROOT / "layouts" / "verified" / "nvidia-h100.json").read_text())
    assert verified["differ"] == newer["differ"] == {}
    assert newer["agree"].items() <= verified["agree"].items()  # which was asked last
    atom = ("copy", "tcgen05", "mma", "wgmma", "sparse wgmma")
    of_atoms, of_others = Counter(), Counter()  # type: ignore[var-annotated]
    for kind, numbers in verified["counts"].items():
        (of_atoms if kind in atom else of_others).update(numbers)
    assert of_others["known"] == 0
    for number in (
        f"{outputs} of {outputs} outputs",
        f"{len(data('algebra_vectors')['accepted']):,} of 3,446 results",
        f"{len(atoms['mma']):,} of 1,706; {len(atoms['copy'])} of 252",
        f"{len(vendors['amd'])} of 149; {len(vendors['xe_mma'])} of 156 and {len(vendors['xe_copy'])} of 327",
        f"{len(data('bank_wavefronts')['rows'])} of 311",
        f"{of_atoms['agree']:,} agree, {of_atoms['known']} known differences, {of_atoms['undecided']} undecided",
        f"{of_others['agree']:,} agree, {of_others['undecided']} undecided",
    ):
        assert number in TEXTS[0], f"README does not have {number!r}: correct README and the number in this test"
