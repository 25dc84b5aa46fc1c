"""Random C++ programs over tensors: views, slices, recasts, and what threads of tilings have of them.

`python -m tests.tensor_programs 41 42` keeps programs of these seeds as the corpus of the tests.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from tests import layout_programs as lp
from tests.layout_programs import Writer

_TYPES = ("half_t", "float", "uint8_t", "double", "int8_t", "bfloat16_t", "tfloat32_t")
_SIZES = (16, 32, 64, 128)
# Kinds: g a tensor in memory, r one of registers, i one of coordinates, m a TiledMMA, y a TiledCopy, h a thread of the former,
# s a thread of the latter, d a tile of a tensor.
_MMAS = (
    "SM80_16x8x16_F32F16F16F32_TN",
    "SM80_16x8x8_F32F16F16F32_TN",
    "SM75_16x8x8_F32F16F16F32_TN",
    "SM80_8x8x4_F64F64F64F64_TN",
    "UniversalFMA<float,float,float>",
    "SM80_16x8x32_S32S8S8S32_TN",
)
_COPIES = ("UniversalCopy<uint128_t>", "UniversalCopy<uint32_t>", "SM80_CP_ASYNC_CACHEALWAYS<uint128_t>", "DefaultCopy")


class TensorWriter(Writer):
    """Makes one function's statements over tensors."""

    def forms(self) -> list[tuple[str, Callable[[Writer], str]]]:
        return _FORMS

    def a(self, kinds: str) -> str:
        names = [x.name for x in self.made if x.kind in kinds]
        if names and self.rng.random() < 0.8:
            return self.rng.choice(names[-6:])
        kind = self.rng.choice(kinds)
        made = {"g": memory, "i": identity, "m": mma, "y": copy, "h": thread_of_mma, "s": thread_of_copy, "r": fragment}
        return made[kind](self) if kind in made else super().a(kind)

    def plane(self) -> str:
        """A tile that partitions fit, in one of the usual orders; of two modes, or of three."""
        rng = self.rng
        sizes = [self.number(rng.choice(_SIZES), 0.85) for _ in range(2)]
        if rng.random() < 0.3:
            sizes.append(self.number(rng.choice((1, 2, 3)), 0.7))
        shape = f"make_shape({', '.join(sizes)})"
        if rng.random() < 0.25:
            swizzle = f"Swizzle<{rng.choice((1, 2, 3))},{rng.choice((3, 3, 4))},3>{{}}"
            return f"composition({swizzle}, make_layout({shape}, LayoutRight{{}}))"
        return f"make_layout({shape}, {rng.choice(('LayoutRight', 'LayoutLeft'))}{{}})"

    def place(self, rank: int) -> str:
        """A coordinate with one blank at least."""
        parts = [self.rng.choice(("_", "_", "0", "1", "_1{}", "_0{}", "2")) for _ in range(rank)]
        return ", ".join(parts if "_" in parts else ["_", *parts[1:]])


def memory(w: Writer) -> str:
    assert isinstance(w, TensorWriter)
    layout = w.plane() if w.rng.random() < 0.7 else w.a("lc")
    kind, space = w.rng.choice(_TYPES), w.rng.choice(("smem", "gmem"))
    return f"make_tensor(make_{space}_ptr<{kind}>(nullptr), {layout})"


def identity(w: Writer) -> str:
    if w.rng.random() < 0.7:
        return f"make_identity_tensor(make_shape({', '.join(w.number(w.rng.choice(_SIZES), 0.85) for _ in range(2))}))"
    return f"make_identity_tensor({w.a('t')})"


def counting(w: Writer) -> str:
    return w.rng.choice(("make_counting_tensor({})", "make_tensor(counting_iterator<int>{{5}}, {})")).format(w.a("l"))


def fragment(w: Writer) -> str:
    return f"make_tensor<{w.rng.choice(_TYPES)}>({w.tuple(w.nested(), 'make_shape', 1)})"


def tile(w: Writer, share: float) -> str:
    return f"make_shape({w.number(w.rng.choice(_SIZES), share)}, {w.number(w.rng.choice(_SIZES), share)})"


def mma(w: Writer) -> str:
    layout = w.rng.choice(("", ", Layout<Shape<_2,_2,_1>>{}", ", Layout<Shape<_1,_2,_1>>{}", ", Layout<Shape<_2,_1>>{}"))
    tile = w.rng.choice(("", ", Tile<_32,_32,_16>{}", ", Tile<_64,_16,_16>{}", ", Tile<_32,_16,_32>{}")) if layout else ""
    return f"make_tiled_mma({w.rng.choice(_MMAS)}{{}}{layout}{tile})"


def copy(w: Writer) -> str:
    kind = w.rng.choice(_TYPES)
    atom = f"Copy_Atom<{w.rng.choice(_COPIES)}, {kind}>{{}}"
    how = w.rng.random()
    if how < 0.25:
        side = w.rng.choice("ABC")
        op = w.rng.choice(("SM75_U32x4_LDSM_N", "SM75_U32x2_LDSM_N", "UniversalCopy<uint32_t>", "SM75_U16x4_LDSM_T"))
        return f"make_tiled_copy_{side}(Copy_Atom<{op}, half_t>{{}}, {w.a('m')})"
    if how < 0.35:
        return f"make_tiled_copy_{w.rng.choice('SD')}({atom}, {w.a('y')})"
    threads = w.rng.choice(("Layout<Shape<_16,_8>,Stride<_8,_1>>", "Layout<Shape<_32,_4>>", "Layout<Shape<_8,_4>,Stride<_4,_1>>"))
    values = w.rng.choice(("Layout<Shape<_1,_8>>", "Layout<Shape<_8,_1>>", "Layout<Shape<_1,_4>>", "Layout<Shape<_4,_4>>"))
    return f"make_tiled_copy({atom}, {threads}{{}}, {values}{{}})"


def thread_of_mma(w: Writer) -> str:
    return f"{w.a('m')}.get_slice({w.rng.randint(0, 31)})"


def thread_of_copy(w: Writer) -> str:
    return f"{w.a('y')}.{w.rng.choice(('get_slice', 'get_thread_slice'))}({w.rng.randint(0, 31)})"


def _of(kinds: str, *templates: str) -> list[tuple[str, Callable[[Writer], str]]]:
    """A form for each kind of tensor: `$` is one of it, `[T]` a tiler, `[2]` a coordinate of blanks, `[S]` a span of modes."""

    def written(kind: str, template: str) -> Callable[[Writer], str]:
        def form(w: Writer) -> str:
            assert isinstance(w, TensorWriter)
            out = template.replace("$", w.a(kind)).replace("[T]", w.tiler()).replace("[S]", lp._span(w))
            out = out.replace("[2]", w.place(2)).replace("[3]", w.place(3))
            return out.replace("[K]", w.rng.choice(_TYPES)).replace("[M]", str(lp._mode(w)))

        return form

    return [(kind, written(kind, template)) for template in templates for kind in kinds]


def _shares(kind: str, thread: str, *names: str) -> list[tuple[str, Callable[[Writer], str]]]:
    """What a thread has of a tensor of a kind; of a name that ends in `_` each operand."""

    def written(name: str) -> Callable[[Writer], str]:
        def form(w: Writer) -> str:
            side = w.rng.choice("ABC" if thread == "h" else "SD") if name.endswith("_") else ""
            return f"{w.a(thread)}.{name}{side}({w.a(kind)})"

        return form

    return [(kind, written(name)) for name in names]


_VIEWS = (
    *["$([2])"] * 3, "$([3])", "tensor<[M]>($)", "flatten($)", "coalesce($)", "filter_zeros($)", "filter($)", "group_modes<[S]>($)",
    "take<[S]>($)", "logical_divide($, [T])", "zipped_divide($, [T])", "flat_divide($, [T])", "tiled_divide($, [T])",
    "$.compose([T])", "domain_offset(make_coord(1, 2), $)", "local_tile($, make_shape(_8{}, _16{}), make_coord([2]))",
    "local_tile($, Shape<_16,_8,_4>{}, make_coord(0, _, 1), Step<_1,_1,X>{})", "make_tensor($.data(), $.layout())",
    "local_partition($, Layout<Shape<_8,_4>>{}, 5)", "local_partition($, Layout<Shape<_4,_8>,Stride<_8,_1>>{}, 3, Step<_1,_1>{})",
    "local_partition($, Layout<Shape<_2,_2,_1>>{}, 2, Step<_1,X,_1>{})", "make_tensor($.data(), select<1,0>($.layout()))",
    "$.compose(make_layout(Shape<_8,_2>{}), _2{})",
    "outer_partition($, Shape<_8,_8>{}, make_coord(1, 0))", "inner_partition($, Shape<_8,_8>{}, make_coord(1, 0))",
)  # fmt: skip
_FORMS: list[tuple[str, Callable[[Writer], str]]] = [
    *[("l", Writer.layout)] * 3,
    ("t", Writer.shape),
    *[("g", memory)] * 12,
    *[("i", identity)] * 8,
    ("g", counting),
    *[("r", fragment)] * 3,
    *[("m", mma)] * 5,
    *[("y", copy)] * 5,
    *[("h", thread_of_mma)] * 4,
    *[("s", thread_of_copy)] * 4,
    *_of("gir", *_VIEWS),
    *_of("gr", "recast<[K]>($)", "recast<[K]>($)", "recast<[K] const>($)", "make_tensor(recast_ptr<[K]>($.data()), $.layout())"),
    *_of("i", "recast<[K]>($)"),
    *_of("gr", "make_tensor($.data(), make_layout(Shape<_8,_4>{}))"),
    *[("r", lambda w, f=f: f"{f}({w.a('gri')})") for f in ("make_fragment_like", "make_tensor_like")],
    *[("r", lambda w, f=f: f"{f}<{w.rng.choice(_TYPES)}>({w.a('gr')})") for f in ("make_fragment_like", "make_tensor_like")],
    *[("t", lambda w, f=f: f"{f}({w.a('gir')})") for f in ("shape", "size", "rank", "depth", "shape<0>", "size<1>")],
    ("l", lambda w: f"{w.a('gr')}.layout()"),
    ("k", lambda w: f"{w.a('i')}({lp._index(w, 30)})"),
    ("k", lambda w: f"{w.a('i')}({lp._index(w, 4)}, {lp._index(w, 4)})"),
    *_shares("g", "h", *["partition_"] * 4),
    *_shares("g", "s", *["partition_"] * 4, "retile_"),
    *_shares("i", "h", *["partition_"] * 2),
    *_shares("i", "s", "partition_", "retile_"),
    *_shares("r", "s", *["retile_"] * 2, "partition_"),
    *[("r", lambda w, s=s: f"{w.a('h')}.partition_fragment_{s}({w.a('g')})") for s in "ABC"],
    *[("r", lambda w, s=s: f"{w.a('h')}.make_fragment_{s}({w.a('g')})") for s in "ABC"],
    *[("r", lambda w: f"partition_fragment_C({w.a('m')}, {tile(w, 1)})")] * 2,
    *[("t", lambda w, s=s: f"partition_shape_{s}({w.a('m')}, {tile(w, 0.7)})") for s in "ABC"],
    *[("l", lambda w, s=s: f"{w.a('m')}.get_layout{s}_TV()") for s in "ABC"],
    *[("l", lambda w, s=s: f"{w.a('y')}.get_layout{s}_TV()") for s in "SD"],
    ("l", lambda w: f"{w.a('m')}.get_thr_layout_vmnk()"),
    ("t", lambda w: f"tile_shape({w.a('m')})"),
    ("n", lambda w: f"tile_size<{lp._mode(w)}>({w.a('m')})"),
    ("n", lambda w: f"size({w.a('my')})"),
    *[("l", lambda w, s=s: f"{w.a('m')}.thrfrg_{s}({w.a('l')})") for s in "ABC"],
    *[("l", lambda w, s=s: f"{w.a('y')}.tidfrg_{s}({w.a('l')})") for s in "SD"],
    ("n", lambda w: f"max_common_vector({w.a('gr')}, {w.a('gr')})"),
    ("n", lambda w: f"max_common_vector({w.a('gr')}, {w.a('gr')})"),
    ("l", lambda w: f"max_common_layout({w.a('gr')}, {w.a('gr')})"),
    # what CuTe has of tensors alone, or of layouts alone
    *_shares("l", "h", "partition_"),
    *_shares("l", "s", "partition_", "retile_"),
    *_of("l", "group_modes<0,2>($)", "recast<float>($)", "tensor<0>($)"),
    *[("l", lambda w, f=f: f"{f}({w.a('l')}, Shape<_8,_4>{{}}, make_coord(0, 1))") for f in ("local_tile", "outer_partition")],
    *[("l", lambda w, f=f: f"{f}({w.a('gi')})") for f in ("complement", "right_inverse", "coprofile", "cosize", "get<0>")],
    ("l", lambda w: f"logical_product({w.a('g')}, {w.a('l')})"),
]  # fmt: skip


def program(seed: int, functions: int = 12, statements: int = 22) -> list[lp.Statement]:
    """The statements of a random program over tensors."""
    return lp.program(seed, functions, statements, TensorWriter)


if __name__ == "__main__":
    lp.keep(lp.TENSORS, [program(int(seed)) for seed in sys.argv[1:]])
