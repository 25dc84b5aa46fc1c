"""Every limit refuses what is over it, says the limit and the option that raises it, and can be raised."""

from __future__ import annotations

import json
import subprocess
import sys
from tempfile import TemporaryDirectory

import pytest

from cute_viz import limits
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.table import offsets
from cute_viz.analysis.access import accesses as analysed
from cute_viz.analysis.swizzles import search
from cute_viz.documents.blocks import blocks
from cute_viz.engine import Request, ask
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.figures import build
from cute_viz.figures.load import from_json
from cute_viz.figures.options import FigureOptions
from cute_viz.files import decode, searched, write
from cute_viz.renderers import Options, render
from cute_viz.source import cpp, mlir, python, types
from cute_viz.source.model import Given
from cute_viz.source.text import parse, read
from cute_viz.spec.check_library import check_library
from cute_viz.spec.library_files import library_of
from cute_viz.spec.yaml import read_yaml
from tests import worst
from tests.commands import fails, process, run


def digits(n: int) -> str:
    return "9" * n


def counted(n: int) -> object:
    text = f"constexpr int f(int n) {{ int s = 0; for (int i = 0; i < n; ++i) s += i; return s; }} constexpr int c = f({n});"
    return cpp.read(text, Given()).find("c").read()


def text_of(n: int) -> object:
    return python.read(f"a = 'x' * 8 + 'y' * {n // 8 - 16}\nb = len(a)\n", Given()).find("b").read()


def every(n: int) -> None:
    """Draw two objects of a file, of which the first has so many cells, and raise what is said of the second."""
    with TemporaryDirectory() as at:
        write(f"using A = Layout<Shape<_1,_{n}>>;\nusing B = Layout<Shape<_2,_2>>;\n".encode(), f"{at}/x.cu")
        for error in ask(Request((f"{at}/x.cu",))).drawings[1]:
            raise error


def prints(n: int) -> str:
    return "".join(f"in {i}: (4,8):(8,1)\n" for i in range(n))


def kernels(n: int) -> str:
    return "".join(f"void k<Layout<C<{i + 2}>>>()\n" for i in range(n))


def small_json(length: int) -> str:
    return render(build(parse("1"), FigureOptions(title="x")), "json").decode().ljust(length)


def image(side: int) -> object:
    return build(Layout((side, side)), FigureOptions(heat=True, max_cells=16))


def png(cell: float) -> bytes:
    return render(build(parse("(8,8)"), FigureOptions()), "png", Options(cell=cell, full=True))


# What is just within a limit, what is just over it, and the limit, made small where the real one takes memory to reach.
CASES = {
    "source": (1000, lambda: parse(" " * 994 + "(4,8)", dialect="cute"), lambda: parse(" " * 996 + "(4,8)", dialect="cute")),
    "steps": (2000, lambda: counted(10), lambda: counted(250)),
    "values": (1 << 10, lambda: text_of(1 << 9), lambda: text_of(1 << 10)),
    "page-cells": (100, lambda: every(100), lambda: every(101)),
    "input of YAML": (1000, lambda: read_yaml("#" * 993 + "\na: 1"), lambda: read_yaml("#" * 996 + "\na: 1")),
    "source of the DSL": (
        1000,
        lambda: parse("#" * 970 + "\ncute.make_layout((4,8))", dialect="dsl"),
        lambda: parse("#" * 990 + "\ncute.make_layout((4,8))", dialect="dsl"),
    ),
    "log": (
        1000,
        lambda: parse("(4,8):(8,1)".rjust(1000), dialect="dump"),
        lambda: parse("(4,8):(8,1)".rjust(1001), dialect="dump"),
    ),
    "log of types": (1000, lambda: types.read("x" * 1000, Given()), lambda: types.read("x" * 1001, Given())),
    "log of CuTe IR": (1000, lambda: mlir.read("x" * 1000, Given()), lambda: mlir.read("x" * 1001, Given())),
    "types": (3, lambda: types.read(kernels(3), Given()), lambda: types.read(kernels(4), Given())),
    "json": (1000, lambda: from_json(small_json(1000)), lambda: from_json(small_json(1001))),
    "document": (1000, lambda: blocks("x" * 1000, "markdown"), lambda: blocks("x" * 1001, "markdown")),
    "file": (1000, lambda: decode(b" " * 1000, "f"), lambda: decode(b" " * 1001, "f")),
    "nesting": (0, lambda: parse("(" * 64 + "1" + ")" * 64), lambda: parse("(" * 65 + "1" + ")" * 65)),
    "nesting of the DSL": (
        0,
        lambda: parse("cute.make_layout(" + "(" * 63 + "1,1" + ")" * 64, dialect="dsl"),
        lambda: parse("cute.make_layout(" + "(" * 64 + "1,1" + ")" * 65, dialect="dsl"),
    ),
    "nesting of YAML": (0, lambda: read_yaml("[" * 65 + "]" * 65), lambda: read_yaml("[" * 66 + "]" * 66)),
    "nesting of modes": (0, lambda: parse("1" + "@0" * 64), lambda: parse("1" + "@0" * 65)),
    "digits": (0, lambda: parse(digits(400)), lambda: parse(digits(401))),
    "digits of a size": (
        0,
        lambda: parse(f"({digits(400)},{digits(390)})"),
        lambda: parse(f"({digits(400)},{digits(400)},{digits(9)})"),
    ),
    "modes": (0, lambda: parse(f"({','.join('1' * 1024)})"), lambda: parse(f"({','.join('1' * 1025)})")),
    "modes of append": (0, lambda: parse("append<1024>(4:1, 1:0)"), lambda: parse("append<1025>(4:1, 1:0)")),
    "yaml-nodes": (100, lambda: read_yaml(f"[{','.join('1' * 99)}]"), lambda: read_yaml(f"[{','.join('1' * 100)}]")),
    "prints": (100, lambda: whole(prints(100)), lambda: whole(prints(101))),
    "cells": (
        0,
        lambda: build(Layout((512, 512)), FigureOptions()),
        lambda: build(Layout((512, 513)), FigureOptions()),
    ),
    "title": (0, lambda: FigureOptions(title="x" * 2000), lambda: FigureOptions(title="x" * 2001)),
    "slices": (0, lambda: build(Layout((1, 1, 256)), FigureOptions()), lambda: build(Layout((1, 1, 257)), FigureOptions())),
    "image-cells": (4096, lambda: image(64), lambda: image(65)),
    "labels": (64, lambda: png(20), lambda: render(build(parse("(8,9)"), FigureOptions()), "pdf")),
    "pixels": (300_000, lambda: png(20), lambda: png(48)),
    "elements": (64, lambda: offsets(Layout((8, 8))), lambda: offsets(Layout((8, 9)))),
    "accesses": (64, lambda: accesses(2), lambda: accesses(4)),
    "accesses of a tile": (64, lambda: accesses(1, "(8,8)"), lambda: accesses(1, "(8,9)")),
    "combinations": (64, lambda: entry_of(8), lambda: entry_of(9)),
    "files": (4, lambda: folder(4), lambda: folder(5)),
    "tile-bytes": (0, lambda: search(64, 512, 16, ["rows"]), lambda: search(64, 513, 16, ["rows"])),
}


def folder(files: int) -> None:
    """Search a folder of so many files."""
    with TemporaryDirectory() as at:
        for n in range(files):
            write(b"", f"{at}/{n}.yaml")
        assert len(list(searched(at, (".yaml",)))) == files


def entry_of(words: int) -> None:
    """Check an entry with two parameters of so many words each, and raise what is wrong with it."""
    several = " ".join(map(str, range(words)))
    fma = "Shape_MNK: '(1,1,1)', ThrID: 1, ALayout: '(1,1):(0,0)', BLayout: '(1,1):(0,0)', CLayout: '(1,1):(0,0)'"
    text = f"library: mma\narch: sm80\nA{{M}}_{{N}}: {{where: {{M: {several}, N: {several}}}, {fma}}}\n"
    for error in check_library(library_of("mine.yaml", text)).errors:
        raise error


def whole(text: str) -> None:
    """Read a log, and raise what it says of its rest."""
    document = read(text, dialect="dump")
    if "the rest" in document.failures:
        raise document.failures["the rest"]


def accesses(values: int, tile: str = "(8,8)") -> object:
    return analysed(Layout(parse(tile)), 16, by=Layout((32, values), (1, 0)))


@pytest.mark.parametrize("case", CASES)
def test_what_is_over_a_limit_is_refused_in_its_words(case: str) -> None:
    name = case.split(" of ")[0]
    value, within, beyond = CASES[case]
    with limits.raised({name: value} if value else {}):
        within()
        with pytest.raises(LimitError if "append" not in case else CuteVizError) as error:
            beyond()
        _check_words(case, name, error.value)
        most = min(limits.LIMITS[name].most, 4 * limits.limit(name))
    if name != "cells":
        with limits.raised({name: most}):
            beyond()


def _check_words(case: str, name: str, error: CuteVizError) -> None:
    if "append" not in case:
        assert "the limit is " in error.message
        assert limits.raised_by(name) in (error.hint or "")
        if "size" not in case:
            assert str(limits.limit(name)) in error.message


def test_every_limit_has_a_case() -> None:
    assert {case.split(" of ")[0] for case in CASES} | {"seconds", "memory", "unit-seconds", "unit-memory"} == set(limits.LIMITS)


def test_time_and_memory_of_a_command(tmp_path) -> None:
    """Whatever it is that takes them: a line, and the limit that allows more."""
    (tmp_path / "x.cu").write_text("constexpr int f() { int i = 0; while (true) i = i + 1; return i; }\nconstexpr int a = f();\n")
    said = fails(run("--limit", "seconds=1", "--limit", "steps=1000000000", "list", str(tmp_path / "x.cu")), 1)
    assert "this takes more than 1 second" in said
    assert "--limit seconds=N" in said
    whole = ("render", "(512,512)", "--cell", "16", "-T", "pdf")
    assert "out of memory" in (said := fails(process("--limit", "memory=60000000", *whole), 1))
    assert "--limit memory=N" in said


BOMBS = {  # what a few lines of Python make of a short value; each has lines that are read before and after
    "texts": ("a = 'abcdefgh'", "a = a + a", "n = len(a)"),
    "formatted texts": ("a = 'abcdefgh'", "a = f'{a}{a}'", "n = len(a)"),
    "texts replaced": ("a = 'abcdefgh'", "a = a.replace('a', a)", "n = len(a)"),
    "texts in turn": ("a = 'abcdefgh'", "a, b = a + a, a.upper()", "n = len(a)"),
    "tuples": ("a = (1, 2)", "a = (a, a)", "n = a"),
    "lists of themselves": ("a = [1]", "a = [a, a]", "n = a"),
    "dictionaries": ("a = {'x': 1}", "a = {'x': a, 'y': a}", "n = a"),
    "a thousand times": ("a = [1] * 1000", "a = [a] * 1000", "n = a"),
    "unpacked": ("a = [1]", "a = [*a, *a]", "n = len(a)"),
    "comprehensions": ("a = [1]", "a = [y for x in a for y in (x, x)]", "n = len(a)"),
    "sums": ("a = [1]", "a = a + a", "n = a"),
    "compared": ("a = [1]\nb = [1]", "a = [a, a]\nb = [b, b]", "n = 8 if a == b else 4"),
    "loops": ("a = 'abcdefgh'", "for i in range(60):\n    a = a + a", "n = len(a)"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_values_that_double_are_no_bomb(bomb: str, tmp_path) -> None:
    first, again, last = BOMBS[bomb]
    lines = ["import cutlass.cute as cute", "before = cute.make_layout((2, 2))", first, *[again] * 40, last]
    (tmp_path / "x.py").write_text("\n".join([*lines, "after = cute.make_layout((4, 8))\n"]))
    listed = run("list", str(tmp_path / "x.py"), "--json")
    rows = {row["name"]: row for row in json.loads(listed.stdout)}
    assert rows["before"]["value"] == "(2,2):(1,2)"
    spent = bomb == "compared"  # which takes all steps of the file
    assert rows["after"]["value"] == (None if spent else "(4,8):(1,4)")
    assert len(listed.stdout) < 300_000
    if "n" in rows:
        assert rows["n"]["error"]
        assert not rows["n"]["value"]


OBJECTS = f"struct A {{ int {', '.join(f'a{n}' for n in range(200))}; }};\n" + (
    "constexpr int f() { A a{}; int s = 0; for (int i = 0; i < 20000; ++i) { A b = a; s += b.a0; } return s; }\n"
)
CPP_BOMBS = {  # what a few lines of C++ make: tokens of macros, objects that are copied, arrays
    "macros": ("#define A " + "1+" * 20_000 + "1\n" + "".join(f"int a{n} = A;\n" for n in range(500)), "values of this file"),
    "objects": (f"{OBJECTS}constexpr int n = f();\nusing Z = Layout<C<n>>;\n", "values of this file"),
    "arrays in loops": (
        "constexpr int f() { int s = 0; for (int i = 0; i < 20000; ++i) { int b[4000] = {}; s += b[0]; } return s; }\n"
        "constexpr int n = f();\nusing Z = Layout<C<n>>;\n",
        "values of this file",
    ),
}


@pytest.mark.parametrize("bomb", CPP_BOMBS)
def test_what_cpp_makes_is_counted(bomb: str, tmp_path) -> None:
    text, why = CPP_BOMBS[bomb]
    (tmp_path / "x.cu").write_text(f"using L = Layout<Shape<_4,_8>>;\n{text}")
    done = run("list", str(tmp_path / "x.cu"), "--json")
    assert why in (done.stdout + done.stderr).decode()


def test_the_worst_inputs_are_listed() -> None:
    """A hundred and more, of every language, none larger than a file may be."""
    known = dict(worst.inputs())
    assert len([name for name in known if not name.startswith("header")]) >= 140  # those of CuTe's headers only where these are
    assert {name.split(":")[0] for name in known} >= {"C++", "Python", "notation", "IR", "YAML", "other"}
    assert all(len(content) <= 1 << 20 for one in known.values() for content in one.files.values())


def test_the_limit_of_source_suffices(tmp_path) -> None:
    """A file over two limits of characters, and what is evaluated in it: one option lets it in."""
    (tmp_path / "x.cu").write_text("// x\n" * 300_000 + "using L = Layout<Shape<_4,_8>>;\n")
    (tmp_path / "x.py").write_text("# x\n" * 300_000 + "import cutlass.cute as cute\nL = cute.make_layout((4, 8))\n")
    for name in ("x.cu", "x.py"):
        assert "the limit is" in run("list", str(tmp_path / name)).stderr.decode()
        assert b"(4,8):(1,4)" in run("--limit", "source=3000000", "list", str(tmp_path / name)).stdout.replace(b"_", b"")


def test_the_option() -> None:
    deep = "(" * 70 + "1" + ")" * 70
    said = fails(run("eval", deep), 1)
    assert "the limit is 64" in said
    assert "cute-viz --limit nesting=N (up to 128)" in said
    assert run("--limit", "nesting=70", "eval", deep).returncode == 0
    assert run("eval", deep, env={"CUTE_VIZ_LIMIT": "nesting=70 digits=500"}).returncode == 0
    listed = run("list", "limits").stdout.decode()
    assert all(name in listed and str(known.value) in listed for name, known in limits.LIMITS.items())
    for word, words in (
        ("nesting", "NAME=N"),
        ("nesting=", "NAME=N"),
        ("nesting=1e9", "NAME=N"),
        ("nesting=129", "1 to 128"),
        ("nesting=0", "1 to 128"),
        ("cells=5", "--max-cells"),
        ("depth=5", "limits: input"),
    ):
        assert words in fails(run("--limit", word, "eval", "4"), 2)


def test_a_line_without_an_end_is_not_waited_for() -> None:
    with open("/dev/zero", "rb") as zeros:
        endless = subprocess.run([sys.executable, "-m", "cute_viz", "eval", "-"], stdin=zeros, capture_output=True, timeout=60)
    assert endless.returncode == 1
    assert b"the limit is 1048576" in endless.stderr
    assert run("--limit", "input=8", "eval", "-", stdin=b"(4,8)\n(4,8,16)\n").stdout == b"(4,8)\n(4,8,16)\n"
    short = run("--limit", "input=8", "eval", "-", stdin=b"(4,8)\n(4,8,16,2)\n")
    assert (short.returncode, short.stdout) == (1, b"(4,8)\n")
    assert b"the limit is 8" in short.stderr


@pytest.mark.parametrize(
    "step",
    ["({0},{0})", "append({0},{0})", "make_layout({0},{0})", "logical_product({0},{0})", "blocked_product({0},{0})"],
)
def test_names_that_are_used_again_and_again_are_no_bomb(step: str) -> None:
    """Forty lines that double an object each would need a thousand gigabytes."""
    lines = ["a0 = (2,2):(1,2)"] + [f"a{n + 1} = {step.format(f'a{n}')}" for n in range(40)]
    with pytest.raises(LimitError, match="the limit is"):
        read("\n".join(lines)).pick()


@pytest.mark.parametrize("start", ["(2, 2), stride=(0, 0)", "(2, 2)"])
def test_operations_of_the_dsl_that_double_are_no_bomb(tmp_path, start) -> None:
    """Each of these took 20 seconds, or ended in a mistake of ours."""
    words = ("logical_product", "blocked_product", "raked_product", "zipped_product", "flat_product", "append", "prepend")
    lines = [f" {w}{n + 1} = cute.{w}({w}{n}, {w}{n})" for w in words for n in range(40)]
    begin = [f" {w}0 = cute.make_layout({start})" for w in words]
    file = tmp_path / "doubled.py"
    file.write_text("\n".join(["import cutlass.cute as cute", "@cute.jit", "def f():", *begin, *lines]))
    ran = run("list", str(file), "--json")
    assert ran.returncode == 0
    for w in words:
        assert [e["value"] for e in json.loads(ran.stdout) if e["name"] == f"{w}40"] in ([None], ["?"])


def test_squares_of_squares_are_no_bomb() -> None:
    lines = ["a0 = 9999999"] + [f"a{n + 1} = a{n} * a{n}" for n in range(40)]
    with pytest.raises(CuteVizError, match=r"(digits together|too large)"):
        read("\n".join(lines)).pick()


def test_an_object_at_the_limits_can_be_used(tmp_path) -> None:
    """Its sizes have more digits than any of its integers, and are still written."""
    for expression in (
        f"({digits(400)},{digits(390)}):(1,{digits(10)})",
        f"({','.join('2' * 1024)})",
        f"{digits(400)}:{digits(400)}",
    ):
        for command in ("eval", "show", "fmt"):
            assert run(command, expression).returncode == 0, (command, expression[:80])
        assert "the limit is" in fails(run("render", expression), 1)


HUGE = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from contextlib import suppress
from cute_viz import parse
from cute_viz.algebra.composed import as_layout
from cute_viz.analysis.explain import explain
from cute_viz.analysis.facts import layout_facts, memory_facts
from cute_viz.errors import CuteVizError
from cute_viz.figures import build
from cute_viz.figures.options import FigureOptions
from cute_viz.options.views import VIEWS
from cute_viz.source.text import read, read_call

WIDE = ["(65536,65536)", "(65536,65536):(1@0,1@1)", "(65536,65536):(F1,F65537)", "(65536,65536) o 5 o (65536,65536)",
        "Sw<3,4,3> o smem_ptr[16b](unset) o (65536,65536)", "Sw<3,3,3> o 0 o (65536,65536):(F1,F7)"]
for text in WIDE:
    layout = as_layout(parse(text))
    facts = layout_facts(layout)
    assert facts["size"] == 1 << 32 and "injective" not in facts
    memory_facts(layout, 16)
    for operation in ("cosize(A)", "right_inverse(A)", "complement(A)", "logical_divide(A, (4,4))", "composition(A, (4,4))",
                      "blocked_product(A, (2,2))", "local_tile(A, (4,4), (1,1))"):
        with suppress(CuteVizError):
            read(operation, {"A": layout}, []).pick()
            explain(*read_call(operation, {"A": layout}))
    for view in (None, *VIEWS):
        for cells in (1 << 18, 1 << 30):
            with suppress(CuteVizError):
                build(layout, FigureOptions(view=view, max_cells=cells))
                raise AssertionError(view)
mma = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")
for operand in "ABC":
    with suppress(CuteVizError):
        build(mma, FigureOptions(thread=range(1), operand=operand, tensor=(65536, 65536)))
        raise AssertionError(operand)
"""


def test_huge_layouts_are_answered_or_refused_at_once() -> None:
    assert parse("cosize((1048576,1048576):(F1,F3))") == 2097152
    subprocess.run([sys.executable, "-c", HUGE], check=True, timeout=60)
