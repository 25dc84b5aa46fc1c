"""`cute-viz check-spec` on files of the library: ours are fine, and a mistake in one is found, with its place."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from cute_viz.errors import CuteVizError
from cute_viz.spec.check_library import check_library
from cute_viz.spec.family import FIELDS, families
from cute_viz.spec.library_files import HEAD, library_file, library_of
from cute_viz.spec.yaml import Keys
from tests.commands import run

LAYOUTS = Path(__file__).parent.parent / "layouts"
FILES = sorted((*LAYOUTS.glob("mma/*.yaml"), *LAYOUTS.glob("copy/*.yaml")))
FMA = "  Shape_MNK: (1,1,1)\n  ThrID: 1:0\n  ALayout: (1,1):(0,0)\n  BLayout: (1,1):(0,0)\n  CLayout: (1,1):(0,0)\n"
WARP = (
    "library: mma\narch: sm80\n\nMY:\n  Shape_MNK: (16,8,8)\n  ThrID: 32:1\n  ALayout: ((4,8),(2,2)):((32,1),(16,8))\n"
    "  BLayout: ((4,8),2):((16,1),8)\n  CLayout: ((4,8),(2,2)):((32,1),(16,8))\n"
)
CHANGED = re.compile(r"  ([ABC]|Src|Dst)Layout: (?!.*\(\(512,1\),\(\(16,8\)\)\))\(.*[^0]\)+$")  # less what is incongruent in CuTe
MATRIX = (
    "library: copy\narch: sm75\n\nMY:\n  ThrID: 32:1\n  SrcLayout: ((8,4),128):((128,0),1)\n  DstLayout: (32,32):(32,1)\n"
    "  RefLayout: Dst\n"
)


def mistakes(path: Path, text: str) -> list[CuteVizError]:
    path.write_text(text)
    file = library_file(str(path))
    assert file is not None
    return check_library(file).errors


@pytest.mark.slow
def test_ours_are_fine() -> None:
    out = run("check-spec", *map(str, FILES))
    assert (out.returncode, out.stderr) == (0, b"")
    lines = out.stdout.decode().splitlines()
    assert len(lines) == len(FILES) == 27
    assert all(re.fullmatch(r".*\.yaml: \d+ entr(y|ies) fine, \d+ operations? tried", line) for line in lines)
    assert f"{LAYOUTS}/mma/universal.yaml: 1 entry fine, 1 operation tried" in lines


def test_every_layout_at_the_top_is_used() -> None:
    for path in FILES:
        file = library_file(str(path))
        assert file is not None
        values = [value for family in families(file) for value in family.own.values()]
        items = [item for value in values for item in (value.values() if isinstance(value, Keys) else [value])]
        used = {item for item in items if isinstance(item, str)}
        assert set(file.shared()) <= used, path


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (WARP.replace("(16,8,8)", "(16,8,16)"), "7:12", "MY: ALayout reaches 128 of the 256 elements of its tile"),
        (
            WARP.replace("(2,2)):((32,1),(16,8))\n  B", "(2,2)):((32,1),(16,9))\n  B"),
            "7:12",
            "ALayout reaches 128, but its tile has 128",
        ),
        (WARP.replace("(2,2)):((32,1),(16,8))\n  B", "(2,2)):((32,1),(8,8))\n  B"), "7:12", "ALayout reaches"),
        (WARP.replace("((16,1),8)", "((16,1),-8)"), "8:12", "BLayout reaches -8, but its tile has 64"),
        (WARP.replace("((16,1),8)", "((16@0,1),8)"), "8:12", "strides that are not integers"),
        (WARP.replace("((4,8),2):((16,1),8)", "((4,4),4):((16,1),4)"), "8:12", "BLayout has 16 threads, but ThrID has 32"),
        (WARP.replace("((4,8),2):((16,1),8)", "64:1"), "8:12", "not a layout of (thread, value)"),
        (WARP.replace("((4,8),2):((16,1),8)", "(32,(2,2,4)):(1,(1,32,1))"), "8:12", "reaches"),
        (WARP.replace("(16,1),8)", "(16,1),8"), "8:22", "never closed"),
        (WARP.replace("ThrID", "TrhID"), "6:3", "'TrhID' is not a field of an atom"),
        (WARP + "  SrcLayout: 1:0\n", "10:3", "not a field of mma operations"),
        (WARP + "  incongruent: ELayout\n", "10:16", "MY has no ELayout"),
        (MATRIX.replace("  RefLayout: Dst\n", ""), "4:1", "MY has no RefLayout"),
        (MATRIX.replace("  RefLayout: Dst\n", ""), "4:1", "usually it is SrcLayout or DstLayout"),
        (WARP + "\nMY/2:\n  inherits: MY\n", "11:1", "MY is also a name of MY, which comes first"),
        (WARP + "\nYOUR{S}:\n  inherits: MY\n", "11:1", "the values of {S} are not given"),
        (WARP + "\nYOURS:\n  inherits: MY\n  where: {S: a b}\n", "13:11", "S is neither a parameter of the name nor an argument"),
        (WARP + "\nM{N}Y:\n  inherits: MY\n  where: {N: {8: 8, 16: 16}}\n", "13:11", "whose values depend on no other"),
        (
            WARP + "\nYOURS:\n  inherits: MY\n  args: M N\n  where: {M: 1, N: {1: {2: 3}}}\n",
            "14:24",
            "the values of a parameter must be text",
        ),
        (WARP + "\nYOURS:\n  inherits: MY\n  args: M N\n  where: {M: 1, N: {1: 1..}}\n", "14:24", "is not a range"),
        (WARP + "\nYOURS:\n  inherits: MY\n  args: N=9\n  where: {N: 8..64/8}\n", "13:9", "N = 9 is not legal"),
        (WARP + "\nYOURS:\n  inherits: MY\n  args: A B\n  CLayout: (32,A)\n", "14:16", "YOURS<float,float>: "),
        (
            WARP.replace("MY:", "M{N}Y:\n  where: {N: 8..64/8}").replace("8,8)", "N,8)"),
            "9:12",
            "M40Y: BLayout reaches 64 of",
        ),
        (WARP.replace("arch: sm80\n", ""), "1:1", "needs an arch"),
        (WARP.replace("mma\n", "mna\n"), "1:1", "library must be mma or copy, not 'mna'"),
        (WARP + "? YOURS\n: {inherits: MY}\n", "10:3", "YOURS cannot be read as an entry"),
        (WARP + "MY:\n  inherits: MY\n", "10:1", "given twice"),
        (WARP + "YOURS:\n\tinherits: MY\n", "11:1", "not YAML"),
        (
            MATRIX.replace("(32,32):(32,1)", "(32,32):(16,1)"),
            "7:14",
            "does not write 496 of the 1024 bits that are read",
        ),
        (MATRIX.replace("(32,32):(32,1)", "(16,64):(64,1)"), "7:14", "DstLayout has 16 threads, but ThrID has 32"),
        (MATRIX.replace("Dst\n", "(32,32):(1,32)\n"), "8:14", "neither that of the source nor that of the destination"),
        (MATRIX + "\nYOURS:\n  reverse: HERS\n", "11:12", "YOURS is the reverse of HERS, which the library does not have"),
        (MATRIX + "\nYOURS:\n  inherits: MYY\n", "11:13", "did you mean MY?"),
    ],
)
def test_a_mistake_is_found_where_it_is(text: str, place: str, words: str, tmp_path: Path) -> None:
    error, *others = mistakes(tmp_path / "mine.yaml", text)
    assert all("reaches" in other.message for other in others)  # of another operand, where the shape is wrong
    assert error.line().startswith(f"{tmp_path / 'mine.yaml'}:{place}: ")
    assert words in error.explain()


def test_every_entry_with_a_mistake_is_told_and_each_mistake_once(tmp_path: Path) -> None:
    text = WARP.replace("2):((16,1),8)", "2):((16,1),9)") + "\nYOURS:\n  inherits: MY\n\nHERS:\n  ThrID: 1:0\n"
    (tmp_path / "mine.yaml").write_text(text)
    out = run("check-spec", str(tmp_path / "mine.yaml"), str(FILES[0]))
    places = re.findall(r"mine.yaml:(\d+):", out.stderr.decode())
    assert (out.returncode, places) == (1, ["8", "14"])
    assert out.stdout.decode().startswith(str(FILES[0]))


def test_every_mistake_is_told_and_no_command_takes_what_validate_refuses(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        WARP.replace("((16,1),8)", "((16,1),9)").replace("(16,8))\n", "(16,8)\n") + "  Nam: x\n\nYOURS:\n  inherits: MY\n"
    )
    out = run("check-spec", str(path)).stderr.decode()
    places = re.findall(r"mine.yaml:(\d+):\d+: (.{9})", out)
    assert places == [("7", "MY: '(' i"), ("8", "MY: BLayo"), ("9", "MY: '(' i"), ("10", "'Nam' is ")]
    specs = "specs:\n  a:\n    layout: (4,8):(8,1)\n    titel: x\n    style: no\n"
    specs += "    figure: {view: gridd, bar: yes}\n    expect: {sise: 3}\n"
    specs += "  b:\n    layout: (4,8):(9,1)\n    expect: {size: 33, cosize: 35, same: '(4,8):(8,1)'}\n"
    (tmp_path / "specs.yaml").write_text(specs)
    out = run("check-spec", str(tmp_path / "specs.yaml")).stderr.decode()
    assert re.findall(r"specs.yaml:([\d:]+): (\w+)", out) == [
        ("4:5", "a"), ("5:12", "style"), ("6:20", "view"), ("6:27", "figure"), ("7:14", "expect"),
        ("10:20", "size"), ("10:42", "same"),
    ]  # fmt: skip
    assert "(4,8):(9,1) has the size 32, not 33" in out
    whole = {"arch": WARP.replace("arch: sm80\n", ""), "B": WARP.replace("((4,8),2):((16,1),8)", "(4,8):(8,1)")}
    whole |= {"field": WARP + "  SrcLayout: 1:0\n", "copy": MATRIX.replace("(32,32):(32,1)", "(16,64):(64,1)")}
    for text in whole.values():
        path.write_text(text)
        said = run("check-spec", str(path)).stderr.decode().splitlines()[0]
        for words in (("show", "MY"), ("show", "MY", "--who", "(2,5)"), ("render", "MY"), ("explain", "MY")):
            out = run(*words, "--layouts", str(tmp_path))
            assert (out.returncode, out.stderr.decode().splitlines()[0]) == (1, said), words


def test_a_reverse_of_an_entry_of_the_same_file(tmp_path: Path) -> None:
    """A file is checked where it lies, in no folder of libraries."""
    assert mistakes(tmp_path / "mine.yaml", MATRIX + "\nYOURS:\n  reverse: MY\n") == []


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.stem != "xe_legacy" or path.parent.name == "mma"],
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_a_wrong_stride_in_ours_is_found(path: Path, tmp_path: Path) -> None:
    # Those copies stand as their traits have them, holes and all; test_vendors.py holds them to what CuTe prints.
    """Each layout of each MMA and copy in turn, its last stride doubled, where that is not 0."""
    file = library_of(str(path), path.read_text())
    assert file is not None
    blocks = {block.key: file.text[block.start : block.end] for block in file.families}
    head = "".join(file.text[block.start : block.end] for block in file.head.values())
    missed, tried = [], 0
    for own in blocks.values():
        lines = own.splitlines(keepends=True)
        others, at = "", own
        while parent := re.search(r"^  inherits: (\S+)$", at, re.M):  # what it needs of the file; the rest is another entry's case
            at = blocks[parent[1]]
            others += at
        for n, line in enumerate(lines):
            if CHANGED.match(line):
                changed = re.sub(r"(\w+)(\)+)$", r"2*\1\2", line.rstrip()) + "\n"
                tried += 1
                if not mistakes(tmp_path / "mine.yaml", "".join((head, others, *lines[:n], changed, *lines[n + 1 :]))):
                    missed.append(line)
    assert missed == []
    assert tried == sum(bool(CHANGED.match(line)) for line in file.text.splitlines(keepends=True))


def test_the_reference_has_every_field_with_an_example_of_ours() -> None:
    text = (LAYOUTS / "LIBRARY.md").read_text()
    top, entries, values = (
        re.findall(r"^\| (.+?) \| .+ \| `(.+)` \|$", part, re.M) for part in re.split(r"^## ", text, flags=re.M)[1:4]
    )
    assert [field.strip("`") for field, _ in top] == list(HEAD)
    assert sorted(field.strip("`") for field, _ in entries) == sorted(FIELDS)
    shipped = {line.strip() for path in FILES for line in path.read_text().splitlines()}
    for field, example in (*top, *entries, *values):
        assert example in shipped, field
    for field, example in (*top[:3], *entries):
        assert example.startswith(field.strip("`") + ": ")


def test_a_copy_of_ours_elsewhere_is_fine(tmp_path: Path) -> None:
    shutil.copy(LAYOUTS / "copy" / "sm100.yaml", tmp_path / "mine.yaml")
    assert "29 entries fine" in run("check-spec", str(tmp_path / "mine.yaml")).stdout.decode()
