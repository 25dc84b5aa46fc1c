"""Random C++ programs over all of CuTe's layout algebra, and what g++ says of each of their values.

A program is functions of statements, one on each line; a statement that CuTe refuses to compile is left out, with all that need
it, and noted as refused. `python -m tests.layout_programs 31 32` keeps programs of these seeds as the corpus of the tests.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

CORPUS = Path(__file__).parent / "data" / "layout_programs.json.gz"
TENSORS = Path(__file__).parent / "data" / "tensor_programs.json.gz"

HEAD = """#include <cstdio>
#include <cute/tensor.hpp>
#include <cute/swizzle_layout.hpp>
using namespace cute;
template <class T> void P(char const* f, char const* n, T const& x) {
  printf("%s::%s\\t", f, n); print(x); printf("\\n"); fflush(stdout);
}
"""


POINTED = "gr"  # tensors with a pointer, of which a list has the layout
SILENT = "myhsd"  # tilings and their threads, which print on several lines, or not at all
ATOMS = "#include <cute/atom/mma_atom.hpp>\n#include <cute/atom/copy_atom.hpp>\n#include <cutlass/numeric_types.h>\n"


class Statement(NamedTuple):
    """A declaration: where it is, its name, what it says, and the kind of value that it gives."""

    function: str
    name: str
    text: str
    kind: str


@dataclass(slots=True)
class Asked:
    """Statements, and what g++ printed of each, None where CuTe refuses it; what needs a refused one is not there."""

    statements: list[Statement]
    values: dict[str, str | None]

    def source(self, refused: bool = True) -> str:
        """The text of the program, with or without the statements that CuTe refuses."""
        kept = [x for x in self.statements if f"{x.function}::{x.name}" in self.values or x.kind in SILENT]
        return text([x for x in kept if refused or self.values.get(f"{x.function}::{x.name}", "") is not None])


class Writer:
    """Makes one function's statements.

    Kinds: n an integer, b an answer, k a stride or a coordinate, t a shape, l a layout, x one of coordinates, c a composed one,
    z a swizzle.
    """

    def __init__(self, rng: random.Random, function: str) -> None:
        self.rng, self.function = rng, function
        self.made: list[Statement] = []

    def static(self, n: int) -> str:
        names = [f"Int<{n}>{{}}", f"C<{n}>{{}}"]
        if n in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 32, 64):
            names += [f"_{n}{{}}"] * 3
        return self.rng.choice(names)

    def number(self, n: int, share: float = 0.7) -> str:
        return self.static(n) if self.rng.random() < share else str(n)

    def nested(self, depth: int = 0) -> object:
        if depth < 2 and self.rng.random() < (0.85 if depth == 0 else 0.3):
            return tuple(self.nested(depth + 1) for _ in range(self.rng.choice((1, 2, 2, 2, 3, 3, 4))))
        return self.rng.choice((1, 2, 2, 3, 4, 4, 4, 5, 6, 8, 8, 12, 16))

    def tuple(self, x: object, make: str, share: float) -> str:
        if not isinstance(x, tuple):
            return self.number(x, share)  # type: ignore[arg-type]
        return f"{self.rng.choice((make, 'make_tuple'))}({', '.join(self.tuple(y, make, share) for y in x)})"

    def share(self) -> float:
        return self.rng.choice((1, 1, 1, 1, 0.7, 0.4, 0))

    def shape(self) -> str:
        return self.tuple(self.nested(), "make_shape", self.share())

    def layout(self) -> str:
        rng, shape = self.rng, self.nested()
        written = self.tuple(shape, "make_shape", share := self.share())
        how = rng.random()
        if how < 0.3:
            return f"make_layout({written})"
        if how < 0.45:
            return f"make_layout({written}, {rng.choice(('LayoutRight', 'LayoutLeft', 'GenRowMajor', 'GenColMajor'))}{{}})"
        if how < 0.55:
            return f"make_ordered_layout({written}, {self.tuple(like(shape, lambda: rng.randint(0, 5)), 'make_step', 1)})"
        if how < 0.8:
            strides = compact(rng, shape)
        else:
            strides = like(
                shape,
                lambda: rng.choice((0, 0, 1, 1, 2, 3, 4, 8, 12, 16, 24, 32, -1, -4) if rng.random() < 0.3 else (0, 1, 2, 4, 8, 16)),
            )
        return f"make_layout({written}, {self.tuple(strides, 'make_stride', share)})"

    def tiler(self) -> str:
        if self.rng.random() < 0.5:
            return self.a("l")
        parts = [
            self.rng.choice((self.number(self.rng.choice((1, 2, 3, 4, 8))), self.a("l"), "_"))
            for _ in range(self.rng.choice((1, 2, 2, 3)))
        ]
        return f"make_tile({', '.join(parts)})" if self.rng.random() < 0.85 else self.number(self.rng.choice((1, 2, 4, 8)))

    def coordinate(self) -> str:
        def part(depth: int) -> str:
            if depth < 2 and self.rng.random() < (0.8 if not depth else 0.15):
                return f"make_coord({', '.join(part(depth + 1) for _ in range(self.rng.choice((1, 2, 2, 3))))})"
            return self.rng.choice(("_", self.number(self.rng.choice((0, 1, 2, 3, 5)), 0.5)))

        return part(0)

    def profile(self) -> str:
        return self.tuple(self.nested(), "make_step", 1)

    def type(self) -> str:
        return self.rng.choice(("half_t", "float", "uint8_t", "double", "uint4_t", "uint128_t"))

    def a(self, kinds: str) -> str:
        """A value of one of the kinds: a name that there is, or a new one."""
        names = [x.name for x in self.made if x.kind in kinds]
        if names and self.rng.random() < 0.75:
            return self.rng.choice(names[-6:])
        kind = self.rng.choice(kinds)
        if kind == "n":
            return self.number(self.rng.choice((1, 2, 3, 4, 6, 8, 12, 16, 24)))
        if kind == "t":
            return self.shape()
        if kind == "x":
            return f"make_identity_layout({self.shape()})"
        if kind == "z":
            return self.swizzle()
        return self.layout() if kind == "l" else f"composition({self.swizzle()}, {self.layout()})"

    def swizzle(self) -> str:
        bits = self.rng.choice((0, 1, 2, 3))
        return f"Swizzle<{bits},{self.rng.choice((0, 1, 2, 3, 4))},{self.rng.choice((bits, bits + 1, 3, 3, -3, 4))}>{{}}"

    def forms(self) -> list[tuple[str, Callable[[Writer], str]]]:
        return _FORMS

    def statement(self) -> None:
        kind, written = self.rng.choice(self.forms())
        self.made.append(Statement(self.function, f"v{len(self.made)}", written(self), kind))


def like(x: object, leaf: object) -> object:
    return tuple(like(y, leaf) for y in x) if isinstance(x, tuple) else leaf()  # type: ignore[operator]


def compact(rng: random.Random, shape: object) -> object:
    """Strides of a permuted, perhaps spaced compact layout."""
    sizes: list[int] = []
    like_leaves(shape, sizes)
    order, strides, reached = rng.sample(range(len(sizes)), len(sizes)), [0] * len(sizes), rng.choice((1, 1, 1, 2))
    for i in order:
        strides[i], reached = reached, reached * sizes[i] * rng.choice((1, 1, 1, 1, 2))
    places = iter(strides)
    return like(shape, lambda: next(places))


def like_leaves(x: object, out: list[int]) -> None:
    if isinstance(x, tuple):
        for y in x:
            like_leaves(y, out)
    else:
        out.append(x)  # type: ignore[arg-type]


def _mode(w: Writer) -> int:
    return w.rng.choice((0, 0, 1, 1, 2))


def _span(w: Writer) -> str:
    return f"{w.rng.randint(0, 2)},{w.rng.choice((-1, 1, 2, 3))}"


def _index(w: Writer, most: int) -> str:
    return w.number(w.rng.randint(0, most), 0.4)


def _forms(kind: str, names: str, *operands: str) -> list[tuple[str, Callable[[Writer], str]]]:
    """`name(operands)` for each name; an operand is the kinds that it may be, `<` before it opens a tiler, `.` a coordinate."""

    def operand(w: Writer, kinds: str) -> str:
        return w.tiler() if kinds == "T" else w.coordinate() if kinds == "C" else w.profile() if kinds == "P" else w.a(kinds)

    def form(name: str) -> Callable[[Writer], str]:
        return lambda w: f"{name}({', '.join(operand(w, kinds) for kinds in operands)})"

    return [(kind, form(name)) for name in names.split()]


_DIVIDES = "composition logical_divide zipped_divide tiled_divide flat_divide"
_PRODUCTS = "logical_product zipped_product tiled_product flat_product blocked_product raked_product"
_FORMS: list[tuple[str, Callable[[Writer], str]]] = [
    *[("l", Writer.layout)] * 8,
    *[("t", Writer.shape)] * 2,
    *[("x", lambda w: f"make_identity_layout({w.a('t')})")] * 2,
    ("z", Writer.swizzle),
    *_forms("c", "composition", "z", "l"),
    ("c", lambda w: f"make_composed_layout({w.a('z')}, {w.number(w.rng.choice((0, 0, 8, 64)))}, {w.a('l')})"),
    ("c", lambda w: f"make_composed_layout({w.a('l')}, {w.number(w.rng.choice((0, 1, 2)))}, {w.a('l')})"),
    *_forms("l", f"{_DIVIDES} {_PRODUCTS} max_common_layout", "l", "l"),
    *_forms("x", _DIVIDES, "x", "l"),
    *_forms("x", _DIVIDES, "x", "T"),
    *_forms("c", f"{_DIVIDES} {_PRODUCTS}", "c", "l"),
    *_forms("l", f"{_DIVIDES} logical_product zipped_product", "l", "T"),
    *_forms("l", "right_inverse left_inverse complement coalesce flatten filter filter_zeros nullspace", "l"),
    *_forms("x", "coalesce flatten filter filter_zeros get<0> layout<1> group<0,2> take<0,2>", "x"),
    *_forms("c", "coalesce flatten get<0> layout<1> group<0,2> right_inverse left_inverse", "c"),
    *_forms("l", "nullspace complement get_nonswizzle_portion make_fragment_like", "c"),
    *_forms("l", "make_layout_like make_fragment_like unwrap reverse", "l"),
    *_forms("l", "complement", "l", "tn") * 3,
    *_forms("l", "coalesce filter", "l", "P"),
    *_forms("c", "coalesce filter", "c", "P"),
    *_forms("l", "make_layout append replace_front zip", "l", "l"),
    *_forms("l", "make_ordered_layout", "t", "t"),
    *_forms("l", "tile_to_shape", "l", "t"),
    *_forms("c", "tile_to_shape", "c", "t"),
    *_forms("l", "unflatten", "l", "t"),
    *_forms("l", "slice dice", "C", "l"),
    *_forms("x", "slice dice", "C", "x"),
    *_forms("c", "composition", "l", "z"),
    *_forms("z", "composition", "z", "z"),
    *_forms("z", "get_swizzle_portion", "lc"),
    *_forms("c", "make_layout", "z"),
    (
        "l",
        lambda w: f"tile_to_shape({w.a('l')}, {w.a('t')}, {w.rng.choice(('LayoutRight{}', 'Step<_1,_0>{}', 'Step<_2,_1,_3>{}'))})",
    ),
    ("l", lambda w: f"make_layout({w.a('t')}, {w.rng.choice(('LayoutRight{}', 'LayoutLeft{}'))})"),
    *[(kind, lambda w, kind=kind: f"select<{_mode(w)},{_mode(w)}>({w.a(kind)})") for kind in "lxct"],
    *[(kind, lambda w, kind=kind: f"group<{_span(w)}>({w.a(kind)})") for kind in "lxct"],
    *[(kind, lambda w, kind=kind: f"take<{_span(w)}>({w.a(kind)})") for kind in "lxt"],
    *[(kind, lambda w, kind=kind: f"zip({w.a(kind)})") for kind in "lxct"],
    ("l", lambda w: f"append<{w.rng.randint(2, 5)}>({w.a('l')})"),
    ("l", lambda w: f"prepend<{w.rng.randint(2, 5)}>({w.a('l')}, {w.a('l')})"),
    ("c", lambda w: f"append<{w.rng.randint(2, 5)}>({w.a('c')}, Layout<_1,_0>{{}})"),
    ("l", lambda w: f"replace<{_mode(w)}>({w.a('l')}, {w.a('l')})"),
    *[(kind, lambda w, kind=kind: f"{w.a(kind)}.compose({w.tiler()})") for kind in "lxc"],
    ("l", lambda w: f"{w.a('l')}.with_shape({w.a('t')})"),
    *[
        (kind, lambda w, kind=kind: f"{w.rng.choice(('upcast', 'downcast'))}<{w.rng.choice((1, 2, 4, 8))}>({w.a(kind)})")
        for kind in "lcz"
    ],
    *[(kind, lambda w, kind=kind: f"recast_layout<{w.type()},{w.type()}>({w.a(kind)})") for kind in "lc"],
    *_forms("t", "flatten product_each reverse unwrap wrap flatten_to_tuple shape filter_zeros", "t"),
    *_forms("t", "shape shape<1>", "l"),
    *_forms("k", "stride stride<0>", "l"),
    *_forms("k", "compact_col_major compact_row_major", "t"),
    *_forms("t", "shape coprofile coshape", "x"),
    *_forms("n", "cosize size rank depth size<0> rank<0> coshape max_alignment", "l"),
    *_forms("n", "cosize size rank depth size<0> rank<0> max_alignment", "c"),
    *_forms("n", "size rank front back product depth sum", "t"),
    *_forms("n", "max_common_vector", "lc", "lc") * 2,
    *_forms("t", "ceil_div shape_div round_up elem_scale", "t", "tn"),
    *_forms("t", "product_like append prepend replace_front replace_back tuple_cat unflatten repeat_like zip", "t", "tn"),
    *_forms("k", "compact_order compact_col_major", "t", "tn"),
    *_forms("n", "inner_product", "t", "t"),
    *_forms("b", "congruent compatible weakly_congruent evenly_divides", "t", "tn"),
    *_forms("b", "congruent compatible weakly_congruent", "l", "l"),
    *_forms("b", "evenly_divides", "t", "T"),
    *_forms("t", "ceil_div", "t", "T"),
    *_forms("t", "slice dice", "C", "t"),
    ("t", lambda w: f"{w.rng.choice(('insert', 'replace'))}<{_mode(w)}>({w.a('t')}, {w.a('tn')})"),
    ("t", lambda w: f"remove<{_mode(w)}>({w.a('t')})"),
    ("t", lambda w: f"repeat<{w.rng.randint(1, 3)}>({w.a('tn')})"),
    ("k", lambda w: f"idx2crd({_index(w, 60)}, {w.a('t')})"),
    ("k", lambda w: f"idx2crd({_index(w, 60)}, {w.a('t')}, {w.a('t')})"),
    ("k", lambda w: f"{w.a('l')}.{w.rng.choice(('get_hier_coord', 'get_flat_coord', 'get_1d_coord'))}({_index(w, 40)})"),
    ("k", lambda w: f"crd2crd({_index(w, 40)}, {w.a('t')}, {w.a('t')})"),
    ("k", lambda w: f"crd2idx({_index(w, 60)}, {w.a('t')}, {w.a('t')})"),
    ("k", lambda w: f"{w.a('lxc')}({_index(w, 40)})"),
    ("k", lambda w: f"{w.a('lxc')}({_index(w, 4)}, {_index(w, 4)})"),
    *[(kind, lambda w, kind=kind: f"{w.a(kind)}({w.coordinate()})") for kind in "lxc"],
    *[("t", lambda w, f=f: f"transform({w.a('t')}, {f})") for f in ("[](auto x) { return size(x) * Int<2>{}; }", "product")],
    ("n", lambda w: f"fold({w.a('t')}, {w.number(1)}, [](auto a, auto b) {{ return a * size(b); }})"),
    ("t", lambda w: f"transform_leaf({w.a('t')}, [](auto x) {{ return x + 1; }})"),
]


def program(seed: int, functions: int = 12, statements: int = 14, writer_of: type[Writer] = Writer) -> list[Statement]:
    """The statements of a random program."""
    rng, out = random.Random(seed), []
    for n in range(functions):
        writer = writer_of(rng, f"f{n}")
        for _ in range(statements):
            writer.statement()
        out += writer.made
    return out


def heads(statements: list[Statement]) -> str:
    """What a program begins with."""
    atoms = any(x.kind in POINTED + SILENT for x in statements)
    return (ATOMS if atoms else "") + HEAD


def text(statements: list[Statement]) -> str:
    """The statements as C++, each on a line of its own, and a main that prints every value."""
    out, last = [heads(statements)], ""
    for x in statements:
        if x.function != last:
            out += [*(["}\n"] if last else []), f"void {x.function}() {{\n"]
            last = x.function
        shown = f"{x.name}.layout()" if x.kind in POINTED else x.name
        out += [f"  auto {x.name} = {x.text};\n"]
        out += [f'  P("{x.function}", "{x.name}", {shown});\n'] if x.kind not in SILENT else []
    names = dict.fromkeys(x.function for x in statements)
    return "".join([*out, "}\n" if last else "", "int main() {\n", *(f"  {name}();\n" for name in names), "}\n"])


def ask(statements: list[Statement], flags: list[str], folder: Path) -> Asked:
    """What g++ with CuTe's headers says of every statement."""
    asked = Asked(statements, {})
    left, refused, file = list(statements), set(), folder / "program.cpp"
    head = folder / "head.hpp"  # compiled once for a folder
    told = "#pragma once\n" + heads(statements).partition("using namespace")[0]
    if not head.is_file() or head.read_text() != told:
        head.write_text(told)
        subprocess.run(["g++", "-std=c++17", "-O0", "-w", *flags, "-x", "c++-header", str(head)], check=True)
    for _ in range(40):
        file.write_text(text(left))
        lines = {n: (x.group(1), x.group(2)) for n, x in _places(file.read_text())}
        command = ["g++", "-std=c++17", "-O0", "-w", "-fmax-errors=0", *flags, "-include", str(head), str(file)]
        for more in (["-fsyntax-only"], ["-o", str(folder / "program")]):  # what is refused is found without code
            built = subprocess.run([*command, *more], capture_output=True, text=True, preexec_fn=_bounded)
            if built.returncode != 0:
                break
        if built.returncode == 0:
            ran = subprocess.run([folder / "program"], capture_output=True, text=True, timeout=60)
            printed = ran.stdout.splitlines()
            if ran.returncode == 0:
                break
            crashed = [x for x in left if x.kind not in SILENT][len(printed)]  # a division by a run-time zero
            left = _without(left, {(crashed.function, crashed.name)})
            continue
        bad = {lines[int(n)] for n in re.findall(r"program\.cpp:(\d+):", built.stderr) if int(n) in lines}
        if not bad and len(left) > 1:  # types that are too large to compile: without the later half
            left = left[: len(left) // 2]
            continue
        assert bad, built.stderr[-3000:]
        first = {}
        for function, name in bad:
            first.setdefault(function, []).append(name)
        # A statement that needs a refused one fails, too: only those whose operands are fine are CuTe's refusals.
        gone = {
            (f, n)
            for f, n in bad
            if not any((f, m) in bad and m != n and re.search(rf"\b{m}\b", _text(left, f, n)) for m in first[f])
        }
        refused |= gone
        left = _without(left, gone)
    else:
        raise AssertionError("the program does not compile without the statements that g++ names")
    asked.values.update(line.split("\t", 1) for line in printed)  # type: ignore[arg-type]
    asked.values.update({f"{f}::{n}": None for f, n in refused})
    return asked


def expressions(asked: Asked, longest: int = 600) -> dict[str, str | None]:
    """The statements as one expression each, names replaced by what they are, and what g++ printed; None for a refusal."""
    out: dict[str, str | None] = {}
    known: dict[tuple[str, str], str] = {}  # by function and name
    for x in asked.statements:
        text = re.sub(r"\bv\d+\b", lambda name, x=x: known.get((x.function, name[0]), name[0]), x.text)  # type: ignore[misc]
        known[x.function, x.name] = text
        if f"{x.function}::{x.name}" in asked.values and len(text) <= longest:
            out[text] = asked.values[f"{x.function}::{x.name}"]
    return out


def _bounded() -> None:
    """Two minutes and 3 GB for a compiler, as some random types explode."""
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))


def _places(source: str) -> list[tuple[int, re.Match[str]]]:
    out, function = [], ""
    for n, line in enumerate(source.splitlines(), 1):
        if found := re.match(r"void (\w+)\(\) \{", line):
            function = found.group(1)
        if found := re.match(r"  (?:auto (\w+) = |P\(\"\w+\", \"(\w+)\")", line):
            out.append((n, re.fullmatch(r"(\w+) (\w+)", f"{function} {found.group(1) or found.group(2)}")))
    return [(n, match) for n, match in out if match]


def _text(statements: list[Statement], function: str, name: str) -> str:
    return next((x.text for x in statements if (x.function, x.name) == (function, name)), "")


def _without(statements: list[Statement], gone: set[tuple[str, str]]) -> list[Statement]:
    """Statements without some, and without all that need them."""
    missing, out = set(gone), []
    for x in statements:
        needs = {(x.function, name) for name in re.findall(r"\bv\d+\b", x.text)}
        if (x.function, x.name) in missing or needs & missing:
            missing.add((x.function, x.name))
        else:
            out.append(x)
    return out


def main(seeds: list[str]) -> None:
    """Keep the programs of some seeds as the corpus."""
    keep(CORPUS, [program(int(seed)) for seed in seeds])


def keep(corpus: Path, programs: list[list[Statement]]) -> None:
    """Keep programs, and what g++ says of them, in a file."""
    from tests.test_oracles import includes

    rows = []
    for statements in programs:
        with TemporaryDirectory() as folder:
            asked = ask(statements, includes(), Path(folder))
        rows.append((asked.statements, asked.values))
    corpus.write_bytes(gzip.compress(json.dumps(rows).encode(), mtime=0))


if __name__ == "__main__":
    main(sys.argv[1:])
