# ruff: noqa: E501  (the inputs are tables)
"""`python -m tests.worst [WORD...]`: the inputs of up to 1 MB that should cost most; time and memory of each, in its own process.

Names that hold one of the words are tried; without words, all. Exit status 1 where one takes more than the limits `seconds` and
`memory`, ends by a mistake of ours, or says nothing. docs/explain/safety.md has the last figures.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from cute_viz.headers import cute_headers
from cute_viz.limits import LIMITS

MB = 1 << 20
ROOT = Path(__file__).parent.parent
WALL = 300  # seconds of waiting; the machine may be busy


class Input(NamedTuple):
    """A command, and the files that it finds in its folder."""

    argv: tuple[str, ...]
    files: dict[str, str | bytes] = {}  # noqa: RUF012 (never changed)


def _doubled(first: str, again: str, times: int = 60, last: str = "") -> str:
    return "\n".join([first, *(again.format(n=n, p=n - 1) for n in range(1, times + 1)), last.format(n=times), ""])


def _filled(one: str, size: int = MB - 1000) -> str:
    """A text of so many characters, of numbered parts."""
    out, length = [], 0
    while length < size:
        out.append(one.replace("@@", str(len(out))))
        length += len(out[-1])
    return "".join(out[:-1])


CPP: dict[str, str | Callable[[], str]] = {
    "parentheses in one another": lambda: "auto a = " + "(" * 30_000 + "1" + ")" * 30_000 + ";",
    "braces": lambda: "{" * 60_000,
    "templates in one another": lambda: "using A = " + "Shape<" * 10_000 + "_1" + ">" * 10_000 + ";",
    "angles without an end": lambda: "using A = " + "a<" * 30_000,
    "a wide shape": lambda: f"using A = Layout<Shape<{','.join(['_2'] * 20_000)}>>;",
    "a wide tuple": lambda: f"auto a = make_tuple({','.join(['1'] * 30_000)}); auto b = tuple_cat({','.join(['a'] * 500)});",
    "tuples doubled": lambda: _doubled("auto a0 = make_tuple(1,2);", "auto a{n} = make_tuple(a{p},a{p});", last="auto z = a{n};"),
    "tuple_cat doubled": lambda: _doubled("auto a0 = make_tuple(1,2);", "auto a{n} = tuple_cat(a{p},a{p});"),
    "layouts doubled": lambda: _doubled("auto a0 = Layout<Shape<_2,_2>>{{}};".format(), "auto a{n} = make_layout(a{p},a{p});"),
    "aliases doubled": lambda: _doubled("using A0 = tuple<int,int>;", "using A{n} = tuple<A{p},A{p}>;", last="A{n} z;"),
    "shapes doubled": lambda: _doubled(
        "using A0 = Shape<_1,_1>;", "using A{n} = Shape<A{p},A{p}>;", last="using Z = Layout<A{n}>;"
    ),
    "packs doubled": lambda: (
        "template<class... T> using D = tuple<T..., T...>;\n" + "using Z = " + "D<" * 40 + "int" + ">" * 40 + ";\n"
    ),
    "macros doubled": lambda: _doubled("#define A0 x,x", "#define A{n} A{p},A{p}", last="auto z = make_tuple(A{n});"),
    "arguments of macros doubled": lambda: f"#define D(x) x,x\nauto z = make_tuple({'D(' * 60}1{')' * 60});\n",
    "macros used again and again": lambda: f"#define A {'1+' * 20_000}1\n" + _filled("int a@@ = A;\n", 200_000),
    "many macros": lambda: _filled("#define M@@(x) M@@ x @@\nint a@@ = M@@(@@);\n", 60_000),
    "names pasted": lambda: _doubled("#define P(a,b) a##b\n#define A0 x", "#define A{n} P(A{p},A{p})", 40, "int A{n} = 1;"),
    "strings of macros": lambda: _doubled(
        '#define S(x) #x\n#define A0 "a"', "#define A{n} A{p} A{p}", 40, "auto s = S(A{n}) A{n};"
    ),
    "a string doubled": lambda: _doubled('constexpr auto a0 = "abcdefgh";', "constexpr auto a{n} = a{p} + a{p};"),
    "numbers of templates": lambda: (
        "template<int N> struct F { static constexpr int v = F<N-1>::v + F<N-2>::v; };\n"
        "template<> struct F<0> { static constexpr int v = 0; };\ntemplate<> struct F<1> { static constexpr int v = 1; };\n"
        "constexpr int z = F<60>::v;\n"
    ),
    "types of templates": lambda: (
        "template<int N> struct F { using t = tuple<typename F<N-1>::t, typename F<N-1>::t>; };\n"
        "template<> struct F<0> { using t = int; };\nusing Z = typename F<40>::t;\n"
    ),
    "a loop without an end": "constexpr int f() { int s = 0; while (true) s += 1; return s; }\nconstexpr int a = f();\n",
    "many loops without an end": lambda: _filled(
        "constexpr int f@@() { int s = 0; while (true) s += 1; return s; }\nconstexpr int a@@ = f@@();\n", 60_000
    ),
    "recursion": "constexpr long f(long n) { return n < 2 ? n : f(n-1) + f(n-2); }\nconstexpr long a = f(60);\n",
    "recursion of layouts": (
        "template<class L> auto f(L l, int n) { return n == 0 ? l : f(make_layout(l, l), n - 1); }\nauto a = f(Layout<_2>{}, 60);\n"
    ),
    "a large array": "constexpr std::array<int, 100000000> a = {};\nconstexpr int b[100000000] = {};\nconstexpr int c = a[5];\n",
    "arrays of arrays": "struct A { int a[1000][1000][1000]; };\nconstexpr A f() { A a{}; a.a[1][2][3] = 4; return a; }\nconstexpr A z = f();\n",
    "arrays copied": (
        "struct A { int a[4000]; };\nconstexpr int f() { A a{}; int s = 0; for (int i = 0; i < 100000; ++i) { A b = a; A c = b; s += c.a[0]; }"
        " return s; }\nconstexpr int z = f();\n"
    ),
    "a long number": lambda: f"constexpr auto a = {'9' * 900_000};",
    "shifts": "constexpr auto a = 1 << 1000000000;\nusing A = C<(1LL << 62) * (1LL << 62)>;\nauto b = a << a;\n",
    "numbers multiplied": lambda: _doubled("using A0 = C<9999999>;", "using A{n} = decltype(A{p}{{}} * A{p}{{}});", 60, "A{n} z;"),
    "functions that call each other": lambda: (
        "auto f0() { return Layout<_2>{}; }\n" + _filled("auto f@@(int) { return f@@(1); }\n", 30_000)
    ),
    "functions in a chain": lambda: (
        "auto f0() { return Layout<_2>{}; }\n"
        + "".join(f"auto f{n}() {{ return f{n - 1}(); }}\n" for n in range(1, 3000))
        + "auto z = f2999();"
    ),
    "calls doubled": lambda: (
        "auto f0(int n) { return n; }\n"
        + "".join(f"auto f{n}(int n) {{ return f{n - 1}(n) + f{n - 1}(n + 1); }}\n" for n in range(1, 60))
        + "auto z = f59(1);"
    ),
    "callers of one helper": lambda: (
        "template <class T> auto h(T t) { auto s = make_layout(t); return s; }\n"
        + _filled("void k@@() { auto a = h(Shape<_@@,_8>{}); }\n", 60_000)
    ),
    "spaces and names": lambda: "a " * (MB // 2 - 100),
    "signs": lambda: "int a = " + "-" * 60_000 + "1;",
    "sums": lambda: "int a = " + "1+" * 30_000 + "1;",
    "conditions": lambda: "int a = " + "1?1:" * 15_000 + "1;",
    "brackets": lambda: "int a = b" + "[b" * 15_000 + "]" * 15_000 + ";",
    "members": lambda: "auto a = b" + ".c" * 30_000 + ";",
    "casts": lambda: "auto a = " + "(int)" * 12_000 + "1;",
    "lambdas": lambda: "auto a = " + "[&]{ return " * 3000 + "1" + ";}()" * 3000 + ";",
    "lines that go on": lambda: "int a = 1 \\\n" + "\\\n" * 30_000 + ";",
    "a comment without an end": lambda: "using A = Layout<_2>; /*" + "*" * (MB - 100),
    "a raw string without an end": lambda: 'auto s = R"' + "(" * 60_000,
    "quotes": lambda: "'" * 60_000,
    "nested conditions": lambda: "#if 1\n" * 8000 + "using A = Layout<_2>;\n" + "#endif\n" * 8000,
    "a long condition": lambda: "#if " + "(" * 20_000 + "1" + ")" * 20_000 + "\n#endif\n",
    "many branches": lambda: "#if N == 0\n" + _filled("#elif N == @@\nusing A = Layout<C<@@>>;\n", 60_000) + "#endif\n",
    "many names": lambda: _filled("using L@@ = Layout<Shape<_4,_8>,Stride<_8,_1>>;\n", 64_000),
    "many scopes": lambda: "namespace a {\n" * 5000 + "using A = Layout<_2>;\n" + "}\n" * 5000,
    "one name again and again": lambda: _filled("void f() { auto s = Layout<Shape<_4,_8>>{}; }\n", 60_000),
    "overloads": lambda: _filled("auto f(A@@ a) { return Layout<C<@@>>{}; }\n", 40_000) + "auto z = f(1);\n",
    "specialisations": lambda: (
        "template <int N> struct S;\n" + _filled("template <> struct S<@@> { using L = Layout<C<@@>>; };\n", 60_000)
    ),
    "a chain of classes": lambda: (
        "struct S0 { using L = Layout<_2>; };\n"
        + "".join(f"struct S{n} : S{n - 1} {{}};\n" for n in range(1, 2000))
        + "using Z = S1999::L;\n"
    ),
    "classes of two parents": lambda: (
        "struct S0 { using L = Layout<_2>; };\nstruct T0 : S0 {};\n"
        + "".join(f"struct S{n} : S{n - 1}, T{n - 1} {{}};\nstruct T{n} : S{n - 1}, T{n - 1} {{}};\n" for n in range(1, 40))
        + "using Z = S39::Q;\n"
    ),
    "a long name": lambda: f"using {'a' * 30_000} = Layout<_2>;\n" * 2,
    "copies of large tiles": (
        "__global__ void k(float* p) { __shared__ float s[1]; auto a = make_tensor(make_gmem_ptr(p), Layout<Shape<_65536,_65536>>{});\n"
        "auto b = make_tensor(make_smem_ptr(s), Layout<Shape<_65536,_65536>>{}); copy(a, b); }\n"
    ),
    "many copies": lambda: (
        "__global__ void k(float* p) { __shared__ float s[4096]; auto t = make_tiled_copy(Copy_Atom<UniversalCopy<float>,float>{},"
        "Layout<Shape<_32,_4>>{}, Layout<_1>{}).get_slice(threadIdx.x);\nauto a = make_tensor(make_gmem_ptr(p), Layout<Shape<_128,_64>,Stride<_64,_1>>{});\n"
        "auto b = make_tensor(make_smem_ptr(s), Layout<Shape<_128,_64>,Stride<_64,_1>>{});\n"
        + _filled("copy(t.partition_S(a), t.partition_D(b));\n", 60_000)
        + "}\n"
    ),
    "loops in one another": (
        "void k() { for (int i = 0; i < 1000; ++i) for (int j = 0; j < 1000; ++j) for (int l = 0; l < 1000; ++l)"
        " { auto a = make_layout(make_shape(i, j)); } }\n"
    ),
    "sequences": "auto a = make_seq<1000000>{};\nauto b = tuple_repeat<1000000>(Layout<_2>{});\nauto c = repeat<100000000>(_1{});\n",
    "ranks": "auto a = append<1000000>(Layout<_2>{});\nauto b = group_modes<0,1000000>(a);\n",
}
DRAWN = ("many names", "many branches", "specialisations", "callers of one helper", "one name again and again")
PYTHON: dict[str, str | Callable[[], str]] = {
    "f-strings doubled": lambda: _doubled("a = 'abcdefgh'", "a = f'{{a}}{{a}}'", last="n = len(a)"),
    "format doubled": lambda: _doubled("a = 'abcdefgh'", "a = '{{}}{{}}'.format(a, a)", last="n = len(a)"),
    "percent doubled": lambda: _doubled("a = 'abcdefgh'", "a = '%s%s' % (a, a)", last="n = len(a)"),
    "join doubled": lambda: _doubled("a = 'abcdefgh'", "a = a.join([a, a, a])", last="n = len(a)"),
    "replace doubled": lambda: _doubled("a = 'aaaaaaaa'", "a = a.replace('a', 'aa')", last="n = len(a)"),
    "widths": "a = '%1000000000d' % 1\nb = f'{1:1000000000}'\nc = 'x'.ljust(10**9)\nd = 'x'.center(10**9)\ne = 'x'.zfill(10**9)\n"
    "f = '{:>1000000000}'.format(1)\ng = format(1, '1000000000')\nh = '\\t'.expandtabs(10**9)\ni = f'{1.5:.1000000000f}'\n",
    "ranges": "a = list(range(10**9))\nb = tuple(range(10**9))\nc = [i for i in range(10**9)]\nd = sum(range(10**9))\ne = set(range(10**9))\n"
    "f = dict.fromkeys(range(10**9))\ng = sorted(range(10**9))\nh = max(range(10**9))\ni = [0] * 10**9\nj = bytes(10**9)\nk = 10**9 in [*range(10**9)]\n",
    "powers": "a = 10 ** 10 ** 6\nb = 1 << 10 ** 9\nc = pow(2, 10 ** 9)\nd = 2 ** 2 ** 2 ** 2 ** 2 ** 2\ne = pow(3, 10**9, 7)\n",
    "numbers squared": lambda: _doubled("a = 9999999", "a = a * a", last="b = str(a)"),
    "numbers of texts": "a = int('9' * 100000)\nb = str(10 ** 4000)\nc = int('f' * 100000, 16)\nd = float('9' * 100000)\n",
    "mathematics": "import math\na = math.factorial(10**6)\nb = math.comb(10**6, 5*10**5)\nc = math.perm(10**6)\nd = math.prod(range(1, 10**6))\n",
    "products of iterables": "import itertools\na = list(itertools.product(range(1000), repeat=5))\nb = list(itertools.permutations(range(20)))\n"
    "c = [(i, j, k) for i in range(1000) for j in range(1000) for k in range(1000)]\n",
    "loops in one another": "n = 0\nfor i in range(10000):\n    for j in range(10000):\n        n += 1\n",
    "stars doubled": lambda: _doubled("a = (1,)", "a = (*a, *a)", last="b = a"),
    "dictionaries doubled": lambda: _doubled("a = {'x': 1}", "a = {{'x': a, **a, 'y': [a, a]}}", last="b = a"),
    "slices": lambda: _doubled("a = [1, 2]", "a[1:1] = a", last="b = a"),
    "extended": lambda: _doubled("a = [1, 2]", "a.extend(a)", last="b = a"),
    "added": lambda: _doubled("a = [1, 2]\ns = 'ab'", "a += a; s += s", last="b = a"),
    "zipped": lambda: _doubled("a = [1, 2]", "a = list(zip(a, a)) + list(enumerate(a))", last="b = a"),
    "a class of its own": lambda: "class A:\n    pass\na = A()\n" + _doubled("a.x = a", "a.y{n} = [a, a]", last="b = a"),
    "layouts doubled": lambda: (
        "import cutlass.cute as cute\n"
        + _doubled("a = cute.make_layout((2, 2))", "a = cute.append(a, a); b = cute.logical_product(a, a)", last="c = a")
    ),
    "shapes doubled": lambda: (
        "import cutlass.cute as cute\n" + _doubled("a = (1, 1)", "a = (a, a)", last="c = cute.make_layout(a)")
    ),
    "recursion": "def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\na = f(60)\n",
    "recursion of lists": "def f(a, n):\n    return a if n == 0 else f([a, a], n - 1)\na = f([1], 200)\nb = a == a\n",
    "calls doubled": lambda: (
        "def f0(n):\n    return n\n"
        + "".join(f"def f{n}(n):\n    return f{n - 1}(n) + f{n - 1}(n + 1)\n" for n in range(1, 60))
        + "a = f59(1)\n"
    ),
    "a loop without an end": "n = 1\nwhile True:\n    n = n + 1\n",
    "a loop that grows": "n = []\nwhile True:\n    n.append('x' * 4000)\n",
    "branches": lambda: "a = 1\n" + "".join(f"if unknown{n}():\n    a = a + {n}\n" for n in range(2000)),
    "branches in one another": lambda: "".join(f"{' ' * n}if unknown{n}():\n" for n in range(90)) + " " * 90 + "a = 1\n",
    "parentheses": lambda: "a = " + "(" * 190 + "1" + ")" * 190 + "\nb = " + "[" * 100_000,
    "signs": lambda: "a = " + "-" * 60_000 + "1\n",
    "sums": lambda: "a = " + "1+" * 30_000 + "1\n",
    "attributes": lambda: "a = b" + ".c" * 30_000 + "\n",
    "calls in a row": lambda: "a = b" + "()" * 30_000 + "\n",
    "lambdas": lambda: "a = " + "lambda: " * 10_000 + "1\n",
    "comparisons": lambda: "a = " + "1 < " * 15_000 + "2\n",
    "many names": lambda: "import cutlass.cute as cute\n" + _filled("l@@ = cute.make_layout((4, 8), stride=(8, 1))\n", 64_000),
    "many functions": lambda: "import cutlass.cute as cute\n" + _filled("def f@@():\n    l = cute.make_layout((4, 8))\n", 64_000),
    "a chain of classes": lambda: (
        "class S0:\n    x = 1\n" + "".join(f"class S{n}(S{n - 1}):\n    pass\n" for n in range(1, 1500)) + "a = S1499.x\n"
    ),
    "classes of two parents": lambda: (
        "class S0:\n    x = 1\nclass T0(S0):\n    pass\n"
        + "".join(f"class S{n}(S{n - 1}, T{n - 1}):\n    pass\nclass T{n}(T{n - 1}, S{n - 1}):\n    pass\n" for n in range(1, 60))
        + "a = S59.q\n"
    ),
    "imports of itself": "from a import *\nimport a\nfrom . import a\nx = a.a.a.a.a\n",
    "a notebook": lambda: "# %%\n" * 20_000 + "a = 1\n",
}
NOTATION: dict[str, str | Callable[[], str]] = {
    "parentheses": lambda: "(" * 60_000 + "1",
    "a wide tuple": lambda: f"({','.join(['2'] * 30_000)})",
    "modes": lambda: (
        f"complement(({','.join(['2'] * 1000)}):({','.join(str(3 * 4**n) for n in range(600))},{','.join(['0'] * 400)}))"
    ),
    "chained": lambda: "(4,8)" + " o (4,8)" * 7_000,
    "names doubled": lambda: _doubled("a0 = (2,2)", "a{n} = blocked_product(a{p}, a{p})"),
    "divided": "logical_divide((9223372036854775807,9223372036854775807), (4611686018427387904:3, 7:5))",
    "inverted": lambda: f"right_inverse(({','.join(['2'] * 900)}):({','.join(str(1 << n) for n in range(899, -1, -1))}))",
    "digits": lambda: f"({'9' * 400},{'7' * 400}) o ({'5' * 390},3)",
    "swizzles": lambda: "Sw<3,4,3> o " * 5_000 + "0 o (8,8)",
    "basis": lambda: "1" + "@0" * 30_000,
    "calls": lambda: "coalesce(" * 6_000 + "(4,8)" + ")" * 6_000,
    "numbers": lambda: "9" * 60_000,
    "xor": "right_inverse((1048576,1048576):(F1,F1048576))",
    "a large map": "zipped_divide((1048576,1048576), (1024,1024))",
}
IR: dict[str, str | Callable[[], str]] = {
    "aliases doubled": lambda: _doubled("#a0 = 1", "#a{n} = [#a{p}, #a{p}]", last="%0 = cute.x() {{a = #a{n}}}"),
    "types doubled": lambda: _doubled(
        '!a0 = !cute.layout<"2:1">', "!a{n} = tuple<!a{p}, !a{p}>", last="%0 = cute.x() : () -> !a{n}"
    ),
    "types in one another": lambda: "%0 = cute.x() : () -> " + "tuple<" * 30_000 + "i32" + ">" * 30_000,
    "many values": lambda: _filled('%@@ = cute.make_layout() : () -> !cute.layout<"(4,8):(8,1)">\n'),
    "chained values": lambda: (
        "%0 = arith.constant 1 : i32\n" + "".join(f"%{n} = arith.addi %{n - 1}, %{n - 1} : i32\n" for n in range(1, 20_000))
    ),
    "a long type": lambda: f'%0 = cute.x() : () -> !cute.layout<"({",".join(["2"] * 200_000)}):1">\n',
    "regions": lambda: "scf.for {\n" * 30_000,
}
SPECS: dict[str, str | Callable[[], str]] = {
    "aliases doubled": lambda: _doubled("a0: &a0 [1, 1]", "a{n}: &a{n} [*a{p}, *a{p}]"),
    "merges": lambda: _doubled("a0: &a0 {x: 1}", "a{n}: &a{n} {{<<: [*a{p}, *a{p}], y: *a{p}}}"),
    "brackets": lambda: "[" * 100_000,
    "indents": lambda: "".join(" " * n + "a:\n" for n in range(1200)),
    "many anchors": lambda: _filled("a@@: &b@@ 1\n"),
    "many specs": lambda: "specs:\n" + _filled("  a@@: {layout: (4,8)}\n", 60_000),
    "a long text": lambda: "layout: '" + "(" * 900_000 + "'",
}


def inputs() -> Iterator[tuple[str, Input]]:
    """Every input with its name."""

    def text(given: str | Callable[[], str]) -> str:
        return given if isinstance(given, str) else given()

    for name, given in CPP.items():
        source = text(given)
        source += "".join(
            f"\nusing Z{n} = Layout<C<{at}>>;" for n, at in enumerate(re.findall(r"constexpr \w+ (\w+) = ", source)[:20])
        )
        way = ("analyze", "x.cu") if "cop" in name else ("list", "x.cu", "--json")
        yield f"C++: {name}", Input(("render", "x.cu", "--all", "-o", "x.html") if name in DRAWN else way, {"x.cu": source})
    for name, given in PYTHON.items():
        yield f"Python: {name}", Input(("list", "a.py", "--json"), {"a.py": text(given)})
    for name, given in NOTATION.items():
        yield f"notation: {name}", Input((("explain" if name[0] in "dix" else "render"), "-"), {"-": text(given)})
    for name, given in IR.items():
        yield f"IR: {name}", Input(("list", "x.mlir"), {"x.mlir": text(given)})
    for name, given in SPECS.items():
        yield f"YAML: {name}", Input(("render", "x.yaml"), {"x.yaml": text(given)})
    deep, many = "[" * 200_000, _filled('{"a": 1},', 900_000)
    layout = text(CPP["many copies"]).split("copy(t")[0] + "copy(t.partition_S(a), t.partition_D(b)); }\n"
    rows = _filled('"1","k","(1,1,1)","sm__x","y","1,000","\n')
    npy = b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<i8', 'fortran_order': False, 'shape': (100000000000,), }".ljust(117) + b"\n"
    page = _filled("```cute-viz\n(4,8)\n```\n", 60_000)
    for name, one in {
        "a baseline of brackets": Input(("analyze", "x.cu", "--baseline", "b.json"), {"x.cu": layout, "b.json": deep}),
        "a baseline of rows": Input(("analyze", "x.cu", "--baseline", "b.json"), {"x.cu": layout, "b.json": f"[{many}0]"}),
        "counters": Input(("analyze", "x.cu", "--ncu", "n.csv"), {"x.cu": layout, "n.csv": rows}),
        "counters in quotes": Input(("analyze", "x.cu", "--ncu", "n.csv"), {"x.cu": layout, "n.csv": '"' * 900_000}),
        "a table of numpy": Input(("find", "layout", "t.npy"), {"t.npy": npy}),
        "a figure of brackets": Input(("render", "f.json"), {"f.json": deep}),
        "a figure of objects": Input(("render", "f.json"), {"f.json": f'{{"panels": [{many}0]}}'}),
        "a quiz": Input(("quiz", "--check", "q.yaml"), {"q.yaml": text(SPECS["aliases doubled"])}),
        "a project": Input(("list", "x.cu"), {"x.cu": layout, "cute-viz.yaml": text(SPECS["aliases doubled"])}),
        "commands of a build": Input(("list", "x.cu", "-p", "."), {"x.cu": layout, "compile_commands.json": deep}),
        "names of a binary": Input(
            ("list", "x.cu", "--flags", "-DX", "--instances", "i.txt"),
            {"x.cu": layout, "i.txt": _filled("00000000 W void k@@<" + "a<" * 200 + "int" + ">" * 200 + ">(int)\n", 300_000)},
        ),
        "a document": Input(("embed", "d.md", "--check"), {"d.md": page}),
        "a log of prints": Input(("list", "x.log"), {"x.log": _filled("l@@: (4,8):(8,1)\n")}),
        "a log of types": Input(("list", "x.log"), {"x.log": _filled("void k@@<cute::Layout<cute::C<@@>>>()\n")}),
        "a log of one type": Input(("list", "x.log"), {"x.log": "void k<" + "cute::tuple<" * 60_000 + ">()"}),
        "a log of brackets": Input(("eval", "x.log"), {"x.log": "(4,8):(" * 9_000}),
    }.items():
        yield f"other: {name}", one
    folder = cute_headers()
    for name in (
        "mma_traits_sm90_gmma",
        "mma_traits_sm90_gmma_sparse",
        "mma_traits_sm100",
        "copy_traits_sm90_im2col",
        "mma_traits_sm80",
    ):
        path = Path(folder or "") / "cute" / "atom" / f"{name}.hpp"
        if path.is_file():
            for argv in (("render", str(path), "--all", "-o", "x.html"), ("list", str(path), "--json")):
                yield f"header: {argv[0]} {name}.hpp", Input(argv)


class Cost(NamedTuple):
    """What a command took: seconds of processor time, bytes of memory, its exit status (None of one that never ended), its words."""

    seconds: float
    memory: int
    status: int | None
    said: str
    written: int


def cost(one: Input) -> Cost:
    """The cost of a command in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        stdin = tempfile.TemporaryFile()  # noqa: SIM115
        for name, content in one.files.items():
            data = content if isinstance(content, bytes) else content.encode()
            if name == "-":
                stdin.write(data)
                stdin.seek(0)
            else:
                (Path(folder) / name).write_bytes(data)
        env = {**os.environ, "PYTHONPATH": str(ROOT), "CUTE_VIZ_DEBUG": ""}
        words = [sys.executable, "-m", "cute_viz", *one.argv]
        child = subprocess.Popen(words, cwd=folder, env=env, stdin=stdin, stdout=out, stderr=err, start_new_session=True)
        until, status = time.monotonic() + WALL, None
        while True:
            pid, ended, spent = os.wait4(child.pid, os.WNOHANG)
            if pid:
                status = os.waitstatus_to_exitcode(ended)
                break
            if time.monotonic() > until:
                os.killpg(child.pid, signal.SIGKILL)
                _, _, spent = os.wait4(child.pid, 0)
                break
            time.sleep(0.02)
        child.returncode = status or 0
        stdin.close()
        err.seek(0)
        written = out.seek(0, 2) + sum(
            path.stat().st_size for path in Path(folder).rglob("*") if path.is_file() and path.name not in one.files
        )
        said = err.read().decode("utf-8", "replace").strip()
        return Cost(spent.ru_utime + spent.ru_stime, spent.ru_maxrss * 1024, status, said, written)


def wrong(found: Cost) -> str:
    """What is wrong with the cost of an input; "" of a good one."""
    if found.status is None:
        return "never ends"
    if found.status not in (0, 1, 2, 3) or "Traceback" in found.said or "mistake in cute-viz" in found.said:
        return f"exit status {found.status}"
    if found.seconds > LIMITS["seconds"].value + 2:
        return "takes too long"
    if found.memory > LIMITS["memory"].value * 1.1:
        return "takes too much memory"
    if "out of memory" in found.said:
        return "is stopped by the last limit only"
    if found.status and found.said.count("error: ") != 1 and not found.written:
        return "does not say it in one error"
    return ""


def as_table(rows: Sequence[tuple[str, float, int, int, int | None, str]], most: int = 100) -> str:
    """The costliest inputs, by processor time and then by memory.

    >>> print(as_table([("a|b", 0.2, 30, 12, 1, ""), ("c", 0.5, 20, 2_000_000, 0, "")]))
    | input | s | MB | kB written | exit status |
    | --- | ---: | ---: | ---: | ---: |
    | c | 0.5 | 20 | 1954 | 0 |
    | a\\|b | 0.2 | 30 | 1 | 1 |
    <BLANKLINE>
    """
    out = ["| input | s | MB | kB written | exit status |", "| --- | ---: | ---: | ---: | ---: |"]
    for name, seconds, memory, written, status, _ in sorted(rows, key=lambda row: (-row[1], -row[2]))[:most]:
        out.append(f"| {name.replace('|', chr(92) + '|')} | {seconds} | {memory} | {-(-written // 1024)} | {status} |")
    return "\n".join([*out, ""])


@click.command()
@click.argument("words", nargs=-1)
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Where the figures go, as JSON.")
@click.option(
    "--table", type=click.Path(dir_okay=False, path_type=Path), help="Where the hundred costliest go, as a table of Markdown."
)
def main(words: tuple[str, ...], save: Path | None, table: Path | None) -> None:
    """Try the inputs; exit status 1 where one is over the limits."""
    rows, bad = [], 0
    for name, one in inputs():
        if words and not any(word in name for word in words):
            continue
        found = cost(one)
        said = found.said.splitlines()[0][:110] if found.said else ""
        bad += bool(why := wrong(found))
        click.echo(
            f"{found.seconds:5.1f} s {found.memory >> 20:4d} MB {found.written:8d} B  {name}{f'  <== {why}' if why else ''}  | {said}"
        )
        rows.append((name, round(found.seconds, 1), found.memory >> 20, found.written, found.status, why))
    if table is not None:
        table.write_text(as_table(rows), "utf-8")
    if save is not None:
        save.write_text(json.dumps(rows, indent=0), "utf-8")
    click.echo(
        f"{len(rows)} inputs, {bad} over the limits; most {max((row[1] for row in rows), default=0)} s, {max((row[2] for row in rows), default=0)} MB"
    )
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
