"""Types of CuTe in other programs' texts: the symbols and messages of real compilers, judged by what CuTe itself prints."""

from __future__ import annotations

import gzip
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from cute_viz.algebra.inttuple import show
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.limits import raised
from cute_viz.source.model import Given, SourceFile
from cute_viz.source.types import read
from cute_viz.spec.library import resolve

DATA = json.loads(gzip.decompress((Path(__file__).parent / "data" / "types.json.gz").read_bytes()))


def read_text(text: str, **let: Any) -> SourceFile:
    return read(text, Given({"?" if key == "runtime" else key: value for key, value in let.items()}, resolve))


def values(file: SourceFile) -> dict[str, list[str]]:
    """The distinct values by path, as CuTe prints them."""
    out: dict[str, set[str]] = {}
    for entry in file.entries:
        out.setdefault(entry.path, set()).add(show(entry.read()).strip())
    return {path: sorted(found) for path, found in out.items()}


def test_symbols_are_what_cute_prints() -> None:
    """Every argument of every function of a program, named by its place; CuTe's own functions are passed over."""
    assert values(read_text(DATA["symbols"], runtime="(1,64,1,9)")) == DATA["printed"]


def as_nsight(line: str) -> str:
    """The name of a kernel as Nsight Compute lists it: no namespaces, casts, and a launch behind it."""
    name = re.sub(r"^\S+ \S (?:static )?", "  ", line).replace("cute::", "").replace("cutlass::", "").replace("SM90::GMMA::", "")
    return (
        re.sub(r"\bC<(-?\d+)>", r"C<(int)\1>", name).replace("> >", ">>") + " (1, 1, 1)x(128, 1, 1), Context 1, Stream 7, Device 0"
    )


KERNELS = [
    line
    for text in (DATA["symbols"], *DATA["kernels"].values())
    for line in text.splitlines()
    if re.search(r"void (?:gemm_device|copy_kernel_vectorized)<", line)
]


@pytest.mark.parametrize("line", KERNELS)
def test_profilers_name_the_same(line: str) -> None:
    assert values(read_text(as_nsight(line))) == values(read_text(line)) != {}


def test_kernels_of_the_tutorials() -> None:
    kernel = read_text(DATA["kernels"]["sgemm_sm80.o"])
    assert [entry.name for entry in kernel.entries] == [f"arg{n}" for n in (1, 4, 5, 6, 9, 10, 11, 14, 15)]
    assert show(kernel.find("gemm_device::arg4").read()) == (
        "Sw<3,3,3> o _0 o ((_8,_16),((_8,_8),_1),(_1,_3)):((_8,_512),((_1,_64),_0),(_0,_8192))"
    )
    assert str(kernel.find("arg15").read()).startswith("TiledMMA\n  ThrLayoutVMNK:  (_32,_2,_2,_1):(_1,_32,_64,_0)\n")
    two = read_text(DATA["kernels"]["wgmma_sm90.o"])
    with pytest.raises(CuteVizError, match=r"'gemm_device::arg4' is defined 2 times"):
        two.find("gemm_device::arg4")
    line = two.entries[-1].line
    assert "MMA_Atom" in str(two.find(f"gemm_device::arg12@{line}").read())
    copies = read_text(DATA["kernels"]["tiled_copy.o"])
    assert show(copies.find("copy_kernel_vectorized::arg0").read()) == "((_128,_64),?,?):((_1,?),_128,?)"
    given = read_text(DATA["kernels"]["tiled_copy.o"], runtime="(4,2,512,9)")
    assert show(given.find("copy_kernel_vectorized::arg0").read()) == "((_128,_64),4,2):((_1,512),_128,9)"


def test_messages_of_compilers() -> None:
    gcc, nvcc = read_text(DATA["g++"]), read_text(DATA["nvcc"])
    for file, scope in ((gcc, "Smem::arg"), (nvcc, "Smem::")):
        first, second = [entry for entry in file.entries if entry.path.startswith(scope)]
        assert show(first.read()) == "(_8,_4):(_4,_1)"
        assert "Shape_MNK:  (_16,_8,_8)" in str(second.read())
    assert show(gcc.find("kern::Lay").read()) == "((_2,_4),_8):((_1,_2),_8)"
    # A parameter of a template in what a parameter of a function is: bound by the same line.
    assert show(gcc.find("composition::param1").read()) == "(_4):(_3)"
    assert {show(entry.read()) for file in (gcc, nvcc) for entry in file.entries if entry.name.startswith("Tensor")} == {
        "(_3,_5):(_1,_3)"
    }
    with pytest.raises(CuteVizError, match="int is not an MMA operation") as caught:
        next(entry for entry in gcc.entries if entry.name == "MMA_Atom").read()
    assert caught.value.text == DATA["g++"]
    assert caught.value.span is not None


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("T = cute::Layout<cute::C<8>, cute::C<1> >", "Layout", "_8:_1"),
        ("f() [with T = cute::Layout<cute::C<8> >; U = int]", "f::T", "_8:_1"),
        ("f() [with T=cute::Layout<cute::Int<8>>, U=cute::tuple<cute::C<2>, cute::_3>]", "f::U", "(_2,_3)"),
        ("void a::k<int, b::Mainloop<4, cute::Layout<cute::_8, cute::_1>>>(int)", "a::k::Mainloop::arg1", "_8:_1"),
        ("void k<Swizzle<(int)3, (int)4, (int)-3>>()", "k::arg0", "Sw<3,4,-3>"),
        ("void k(Layout<tuple<integral_constant<unsigned long, 16ul>, _4>, tuple<_1, C<16>>>)", "k::param0", "(_16,_4):(_1,_16)"),
        ("Layout<Shape<_8,_4>,\n       Stride<_4,_1>>", "Layout", "(_8,_4):(_4,_1)"),  # as a terminal wraps it
        ("void k<Layout<Shape<_1, _8>>, float>()", "k::arg0", "(_1,_8):(_0,_1)"),
        ("void k<Layout<tuple<int, _8>, tuple<_1, long>>>()", "k::arg0", "(?,_8):(_1,?)"),
        ("void k<cute::Layout<cute::tuple<cute::_2, cute::_3>, cute::LayoutRight::Apply<cute::tuple<cute::_2, cute::_3> > > >()", "k::arg0", "(_2,_3):(_3,_1)"),  # noqa: E501
        ("void k<Tensor<ViewEngine<swizzle_ptr<Swizzle<3,4,3>, smem_ptr<half_t*>>>, Layout<Shape<_8,_64>,Stride<_64,_1>>>>()", "k::arg0", "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)"),  # noqa: E501
        ("void k<Tensor<ViewEngine<ArithmeticTupleIterator<ArithmeticTuple<C<0>, C<2>>>>, Layout<tuple<_4, _8>, tuple<ScaledBasis<C<1>, 0>, ScaledBasis<C<1>, 1>>>>>()", "k::arg0", "ArithTuple(_0,_2) o (_4,_8):(_1@0,_1@1)"),  # noqa: E501
        ("void k<ThrCopy<TiledCopy<Copy_Atom<UniversalCopy<unsigned int, unsigned int>, float>, Layout<Shape<_32,_1>>, Shape<_32>>, int>>()", "k::arg0", None),  # noqa: E501
    ],
)  # fmt: skip
def test_ways_to_write_a_type(text: str, path: str, value: str | None) -> None:
    found = read_text(text).find(path).read()
    assert value is None or show(found) == value


def test_mangled_names_and_cut_off_types_say_so() -> None:
    (entry,) = read_text(DATA["mangled"]).entries
    assert entry.path == "gemm_device"
    with pytest.raises(CuteVizError, match="mangled") as caught:
        entry.read()
    assert "--no-recurse-limit" in (caught.value.hint or "")
    (entry,) = read_text("  void gemm<cute::Layout<cute::tuple<cute::C<8>, cute::C...\n").entries
    with pytest.raises(CuteVizError, match="cut off"):
        entry.read()


def test_what_has_no_types() -> None:
    for text in ("", "\n", "x < y > z", "vector<int> a;", "template<class T> f(Layout<Shape, Stride> const&)", "Layout<", "<<<>>>"):
        assert all(isinstance(entry.name, str) for entry in read_text(text).entries)
    assert read_text("void f(const Tensor<Engine, Layout>&, Copy_Atom<Args ...>)").entries == ()


def test_a_large_symbol_table_is_read_at_once() -> None:
    """A tenth of the promise: 2 MB, most of it CuTe's own functions, all of it one type a line."""
    noise = "0000000000001234 W auto cute::composition<cute::Layout<cute::C<8>, cute::C<1> > >(int)\n"
    kernels = "".join(f"00000000 T void k<{n}, cute::Layout<cute::tuple<cute::C<8>, cute::C<{n}> > > >()\n" for n in range(2, 2002))
    begun = time.process_time()
    file = read_text(noise * 20_000 + kernels)
    assert time.process_time() - begun < 5
    assert len(file.entries) == 2000
    assert file.entries[-1].line == 22_000
    assert show(file.entries[7].read()) == "(_8,_9):(_1,_8)"


def test_limits() -> None:
    text = "".join(f"void k<Layout<C<{n}>>>()\n" for n in range(2, 40))
    with raised({"types": 10}), pytest.raises(LimitError, match="the limit is 10"):
        read_text(text)
    with raised({"log": 10}), pytest.raises(LimitError, match="the limit is 10"):
        read_text(text)
    deep = "void k<Layout<" + "tuple<" * 500 + "C<1>" + ">" * 500 + ">>()"
    (entry,) = read_text(deep).entries
    with pytest.raises(LimitError):
        entry.read()
    wide = "void k<Layout<tuple<" + "C<1>, " * 5000 + "C<1>>>>()"
    (entry,) = read_text(wide).entries
    with pytest.raises(CuteVizError):
        entry.read()


def test_a_line_of_types_takes_no_longer_than_it_is() -> None:
    assert len(read("k.cu(1): error: " + "Layout<" * 20_000, Given()).entries) <= 1
    names = "; ".join(f"T{n} = cute::tuple<{', '.join([f'T{n + 1}'] * 10)}>" for n in range(20))
    entries = read(f"k.cu(1): error: no [with T = cute::Layout<T0, T0>; {names}; T20 = cute::C<1>]", Given()).entries
    with pytest.raises(CuteVizError, match="too many integers"):
        entries[0].read()
