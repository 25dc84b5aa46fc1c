"""Random C++ programs over the layout algebra: `list --json` shows what g++ prints, and refuses what it refuses."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cute_viz import parse
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.static import as_in_dsl
from tests import commands, tensor_programs
from tests.layout_programs import CORPUS, HEAD, TENSORS, Asked, Statement, ask, expressions, program
from tests.test_oracles import includes


def told(asked: Asked, folder: Path) -> dict[str, str | None]:
    """Our value of every statement, None for one that is refused."""
    file = folder / "program.cpp"
    file.write_text(asked.source())
    return {entry["path"]: entry["value"] for entry in json.loads(commands.run("list", str(file), "--json").stdout)}


def wrong(asked: Asked, ours: dict[str, str | None]) -> list[tuple[str, str, Any, Any]]:
    """Statements whose value g++ has otherwise."""
    texts = {f"{x.function}::{x.name}": x.text for x in asked.statements}
    values = [(name, value) for name, value in asked.values.items() if value is not None]
    return [(name, texts[name], value, ours.get(name)) for name, value in values if ours.get(name) != value]


def accepted(asked: Asked, ours: dict[str, str | None]) -> list[str]:
    """Statements that g++ refuses and we do not."""
    return [name for name, value in asked.values.items() if value is None and ours.get(name) is not None]


def flags() -> list[str]:
    """Where the headers are: of CUTLASS_PATH, or of the wheels."""
    root = os.environ.get("CUTLASS_PATH")
    return [*(["-I", f"{root}/include"] if root else []), *includes()]


def corpus(kept: Path = CORPUS) -> list[Asked]:
    """Programs that were asked before."""
    rows = json.loads(gzip.decompress(kept.read_bytes()))
    return [Asked([Statement(*x) for x in statements], values) for statements, values in rows]


@pytest.mark.slow
@pytest.mark.parametrize("kept", [CORPUS, TENSORS], ids=lambda kept: kept.name.partition(".")[0])
def test_the_values_of_kept_programs_are_those_of_cute(kept, tmp_path):
    count = 0
    for asked in corpus(kept):
        ours = told(asked, tmp_path)
        assert wrong(asked, ours) == []
        assert accepted(asked, ours) == []
        count += len(asked.values)
    assert count > 300


SMALL = sorted((CORPUS.parent / "cpp_values").glob("*.cpp"))  # behind each statement what g++ prints
_SAID = re.compile(r"auto (\w+) = .*;  // (.+)")


def said(file: Path) -> dict[str, str]:
    """What stands behind the statements; `undefined` where compilers need not agree."""
    return {f"f::{name}": value for name, value in _SAID.findall(file.read_text())}


@pytest.mark.parametrize("file", SMALL, ids=lambda file: file.stem)
def test_a_small_program_has_the_values_of_cute(file):
    ours = {entry["path"]: entry["value"] or "undefined" for entry in json.loads(commands.run("list", str(file), "--json").stdout)}
    assert said(file)
    assert said(file).items() <= ours.items()


@pytest.mark.oracle
@pytest.mark.parametrize("file", SMALL, ids=lambda file: file.stem)
def test_what_stands_behind_a_statement_is_what_cute_prints(file, tmp_path):
    shown = re.sub(r"auto (\w+) = (.*;)  // .*", r'auto \1 = \2 P("f", "\1", \1);', file.read_text())
    head = HEAD.replace("using namespace", "#include <cute/atom/mma_atom.hpp>\nusing namespace")
    (tmp_path / "small.cpp").write_text(head + shown + "int main() { f(); }\n")
    command = ["g++", "-std=c++17", "-O0", "-w", *flags(), str(tmp_path / "small.cpp"), "-o", str(tmp_path / "small")]
    subprocess.run(command, check=True)
    printed = subprocess.run([tmp_path / "small"], capture_output=True, text=True, check=True).stdout
    theirs = dict(line.split("\t", 1) for line in printed.splitlines())
    assert {name: value for name, value in said(file).items() if value != "undefined"}.items() <= theirs.items()


@pytest.mark.oracle
@pytest.mark.parametrize("statements", [program(102), tensor_programs.program(15, functions=4)], ids=["layouts", "tensors"])
def test_a_new_program_has_the_values_of_cute(statements, tmp_path):
    asked = ask(statements, flags(), tmp_path)
    ours = told(asked, tmp_path)
    assert wrong(asked, ours) == []
    refused = [name for name, value in asked.values.items() if value is None]
    assert len(accepted(asked, ours)) <= len(refused) // 10


def lines(texts: list[str]) -> list[str | None]:
    """Each text as a line of `eval -`; None for an error."""
    done = commands.run("eval", "-", stdin="\n".join(texts).encode()).stdout.decode().splitlines()
    return [None if line.startswith("error: ") else line for line in done]


def test_an_expression_in_one_line_is_what_cute_prints():
    count = 0
    for asked in corpus():
        told = expressions(asked)
        assert [x for x in zip(told.items(), lines(list(told)), strict=True) if x[0][1] != x[1]] == []
        count += len(told)
    assert count > 600


@pytest.mark.oracle
@pytest.mark.parametrize("seed", [211, 212, 213])
def test_a_random_expression_is_the_same_in_a_line_in_a_file_and_in_cute(seed, tmp_path):
    told = expressions(ask(program(seed), flags(), tmp_path))
    expected = {text: value for text, value in told.items() if value is not None}
    assert len(expected) > 90
    assert [x for x in zip(expected.items(), lines(list(expected)), strict=True) if x[0][1] != x[1]] == []
    file = tmp_path / "expressions.cu"
    file.write_text("void f() {\n" + "".join(f"  auto x{n} = {text};\n" for n, text in enumerate(expected)) + "}\n")
    listed = {entry["name"]: entry["value"] for entry in json.loads(commands.run("list", str(file), "--json").stdout)}
    assert listed == {f"x{n}": value for n, value in enumerate(expected.values())}
    for n, value in list(enumerate(expected.values()))[::20]:
        assert commands.run("eval", str(file), "--name", f"x{n}").stdout.decode().strip() == value


@pytest.mark.parametrize(
    ("expression", "cpp", "dsl"),
    [  # as g++ with CUTLASS 4.7 and the DSL 4.8.1 print them; None: refused
        ("raked_product(128:1, (4,4):(1,4))", "((4,128),(4,1)):((128,1),(512,0))", "((4,128),4):((128,1),512)"),
        ("raked_product((8,2,8):(8,4,0), ((16,1),4):((8,0),1))", None, "((16,8),8,8):((128,8),1,0)"),
        ("raked_product(((4,8),4):((8,32),2), (8,2,5):(2,16,16))", None, "((8,32),(2,4),5):((256,8),(2048,2),2048)"),
        ("tile_to_shape((3,3):(1,3), (5,8))", None, "((3,2),(3,3)):((1,9),(3,18))"),
        ("composition((2,8):(8,1), (4,1))", "(4,1):(8,1)", "(4,1):(8,0)"),
        ("right_inverse(((8,8),2,4):((1,1),5,0))", "8:8", "8:1"),
        ("left_inverse((3,7):(0,0))", "21:0", "1:0"),
        ("ceil_div((4,(4,16),6), (4,16))", "(1,(1,4),6)", "(1,4,6)"),
        ("ceil_div((5,4), 8)", "(1,2)", "3"),
        ("flat_divide((8,32):(1,8), (4))", "((4),2,32):((1),4,8)", "(4,2,32):(1,4,8)"),
        ("group(5:8, 0, 1)", "((5)):((8))", "(5):(8)"),
    ],
)
def test_the_dsl_builds_some_results_otherwise(expression, cpp, dsl):
    for expected, meant in ((cpp, False), (dsl, True)):
        with as_in_dsl(meant):
            if expected is not None:
                assert show(parse(expression)) == expected


def test_a_list_has_the_part_of_a_thread_that_its_tiling_has_not_and_says_so(tmp_path):
    file = tmp_path / "kernel.cu"
    file.write_text(
        "void f() { auto thr = make_tiled_mma(SM75_16x8x8_F32F16F16F32_TN{}).get_slice(40);\n"
        "auto c = thr.partition_C(make_identity_tensor(Shape<_16,_8>{})); }"
    )
    ran = commands.run("list", str(file))
    assert b"ArithTuple(2,0) o ((_2,_2),_1,_1):((_1@1,_8@0),_0,_0)" in ran.stdout  # g++ says so, too
    assert b"note: thread 40 is not in this TiledMMA of 32 threads" in ran.stderr


@pytest.mark.parametrize(
    "call", ["complement(make_layout(12,2),53)", "composition(make_layout(12,1), 4)", "complement(make_layout(_4{},2),8)"]
)
def test_one_line_has_the_marks_of_a_file(call, tmp_path):
    file = tmp_path / "kernel.cu"
    file.write_text(f"void f() {{ auto x = {call}; }}")
    (entry,) = json.loads(commands.run("list", str(file), "--json").stdout)
    assert commands.run("eval", call).stdout.decode().strip() == entry["value"]
