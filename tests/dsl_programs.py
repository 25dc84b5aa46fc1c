"""Random programs of the Python DSL, and the values that the DSL itself gives their names, by a Python that has it."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

FAILED = "FAIL"
_SIZES = (1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 16, 32, 64)

_PRELUDE = """
import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import warp, cpasync, warpgroup

def row_major(m, n, pad=0):
    return cute.make_layout((m, n), stride=(n + pad, 1))

def padded(shape, *, pad=1):
    rows, columns = shape
    return row_major(rows, columns, pad=pad)

class Config:
    def __init__(self, m, n, stages=2):
        self.m, self.n = m, n
        self.stages = stages

    @property
    def tile(self):
        return (self.m, self.n)

    def layout(self):
        return cute.make_layout((*self.tile, self.stages))
"""

# What the DSL runs beside the program: names keep their values, or that they failed, whatever they were made of.
_RUNNER = """
class Failed(Exception):
    pass

def T(make, *used):
    try:
        if any(isinstance(one, Failed) for one in used):
            raise Failed("made of what fails")
        return make()
    except BaseException as error:
        return Failed(f"{type(error).__name__} {error}"[:200].replace("\\n", " "))

def P(name, value):
    print(name + "\\t" + (("FAIL " + str(value)) if isinstance(value, Failed) else str(value).replace("\\n", " / ")))
"""


@dataclass
class Program:
    """A random program: its lines for a reader, and its lines for the DSL, one name in each."""

    rng: random.Random
    lines: list[tuple[str, str]] = field(default_factory=list)
    layouts: list[str] = field(default_factory=list)
    swizzled: list[str] = field(default_factory=list)
    shapes: list[str] = field(default_factory=list)
    tensors: list[str] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    mmas: list[str] = field(default_factory=list)

    def bind(self, expression: str, *pools: list[str]) -> str:
        """A new name for an expression."""
        name = f"v{len(self.lines)}"
        self.lines.append((name, expression))
        for pool in pools:
            pool.append(name)
        return name

    def size(self) -> int:
        return self.rng.choice(_SIZES)

    def shape(self, deep: int = 2, most: int = 3) -> str:
        """A shape, nested now and then."""
        if deep == 0 or self.rng.random() < 0.45:
            return str(self.size())
        items = [self.shape(deep - 1) for _ in range(self.rng.randint(1, most))]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"

    def strided(self) -> str:
        """The arguments of a layout with strides that are permuted, padded, 0 or anything."""
        shape: object = eval(self.shape(), {})

        def flat(x: object) -> list[int]:
            return [n for item in x for n in flat(item)] if isinstance(x, tuple) else [x]  # type: ignore[list-item]

        leaves = flat(shape)
        order = list(range(len(leaves)))
        if self.rng.random() < 0.6:
            self.rng.shuffle(order)
        steps, step = [0] * len(leaves), 1
        for at in order:
            steps[at] = step
            step *= leaves[at]
            if self.rng.random() < 0.15:
                step += self.rng.choice((1, 4, 8, step))
        if self.rng.random() < 0.2:
            steps[self.rng.randrange(len(steps))] = 0
        todo = iter(steps)

        def nested(x: object) -> object:
            return tuple(nested(item) for item in x) if isinstance(x, tuple) else next(todo)

        return f"{shape}, stride={nested(shape)}"

    def layout(self) -> str:
        """A name or an expression of a plain layout."""
        if self.layouts and self.rng.random() < 0.7:
            return self.rng.choice(self.layouts[-6:])
        return f"cute.make_layout({self.strided() if self.rng.random() < 0.6 else self.shape()})"

    def small(self) -> str:
        shape = self.rng.choice(("2", "3", "4", "(2, 2)", "(4, 1)", "(1, 4)", "(2, 3)", "(4, 4)", "(2,)", "(8, 2, 2)", "1"))
        order = {"(2, 2)": ", stride=(2, 1)", "(2, 3)": ", stride=(3, 1)", "(4, 4)": ", stride=(1, 4)", "4": ", stride=2"}
        return f"cute.make_layout({shape}{order.get(shape, '') if self.rng.random() < 0.4 else ''})"

    def tiler(self) -> str:
        kind = self.rng.random()
        if kind < 0.4:
            return self.rng.choice(("(2, 2)", "(4, 8)", "(8, 4)", "(2, 4, 2)", "4", "2", "(4,)", "(16, 16)"))
        if kind < 0.6:
            return f"({self.small()}, {self.small()})"
        if kind < 0.7:
            return f"({self.small()},)"
        return self.small()

    def any(self) -> str:
        pools = [pool for pool in (self.layouts, self.swizzled, self.tensors) if pool]
        return self.rng.choice(self.rng.choice(pools)[-6:]) if pools else self.layout()


def _plain(p: Program) -> None:
    p.bind(f"cute.make_layout({p.strided()})", p.layouts)


def _compact(p: Program) -> None:
    shape = p.shape()
    p.bind(f"cute.make_layout({shape})", p.layouts)


def _ordered(p: Program) -> None:
    count = p.rng.randint(1, 3)
    order = list(range(count))
    p.rng.shuffle(order)
    shape = tuple(p.size() for _ in range(count))
    p.bind(f"cute.make_ordered_layout({shape}, order={tuple(order)})", p.layouts)


def _swizzled(p: Program) -> None:
    inner = p.rng.choice(("(8, 64), stride=(64, 1)", "(8, 32), stride=(32, 1)", "(64, 8), stride=(1, 64)", "(16, 16)"))
    b, m, s = p.rng.choice(((3, 3, 3), (2, 3, 3), (1, 3, 3), (3, 4, 3), (2, 4, 3), (3, 2, 3)))
    p.bind(f"cute.make_composed_layout(cute.make_swizzle({b}, {m}, {s}), 0, cute.make_layout({inner}))", p.swizzled)


def _identity(p: Program) -> None:
    shape = p.rng.choice(("(32, 64)", "(64, 64)", "(128, 64)", "(32, 16, 3)", "(8, (4, 4))", "(64,)"))
    p.bind(f"cute.make_identity_tensor({shape})", p.tensors)


def _one(*names: str) -> Callable[[Program], None]:
    def add(p: Program) -> None:
        name, source = p.rng.choice(names), p.any() if p.rng.random() < 0.4 else p.layout()
        p.bind(f"cute.{name}({source})", *([p.layouts] if name not in _SCALARS and source in p.layouts else []))

    return add


_SCALARS = ("size", "cosize", "rank", "depth", "max_alignment")


def _divide(p: Program) -> None:
    name = p.rng.choice(("logical_divide", "zipped_divide", "tiled_divide", "flat_divide"))
    source = p.any() if p.rng.random() < 0.5 else p.layout()
    p.bind(
        f"cute.{name}({source}, {p.tiler()})",
        p.tensors if source in p.tensors else p.swizzled if source in p.swizzled else p.layouts,
    )


def _product(p: Program) -> None:
    name = p.rng.choice(("logical_product", "zipped_product", "tiled_product", "flat_product"))
    p.bind(f"cute.{name}({p.layout()}, {p.tiler() if p.rng.random() < 0.4 else p.small()})", p.layouts)


def _raked(p: Program) -> None:
    name, block = p.rng.choice(("raked_product", "blocked_product")), p.small() if p.rng.random() < 0.4 else p.layout()
    p.bind(f"cute.{name}({block}, {p.small() if p.rng.random() < 0.7 else p.layout()})", p.layouts)


def _composition(p: Program) -> None:
    source = p.any() if p.rng.random() < 0.4 else p.layout()
    p.bind(
        f"cute.composition({source}, {p.tiler()})",
        p.tensors if source in p.tensors else p.swizzled if source in p.swizzled else p.layouts,
    )


def _complement(p: Program) -> None:
    p.bind(f"cute.complement({p.layout()}, {p.rng.choice((16, 64, 128, 256, 1024))})", p.layouts)


def _tile_to_shape(p: Program) -> None:
    source = p.rng.choice(p.swizzled) if p.swizzled and p.rng.random() < 0.5 else p.small()
    shape, order = p.rng.choice(
        (("(64, 64)", "(0, 1)"), ("(128, 128, 3)", "(1, 0, 2)"), ("(16, 8)", "(1, 0)"), ("(7, 9)", "(0, 1)"))
    )
    p.bind(f"cute.tile_to_shape({source}, {shape}, order={order})", p.swizzled if source in p.swizzled else p.layouts)


def _modes(p: Program) -> None:
    source = p.any() if p.rng.random() < 0.4 else p.layout()
    call = p.rng.choice(
        (
            f"cute.group_modes({source}, {p.rng.randint(0, 1)}, {p.rng.randint(1, 3)})",
            f"cute.select({source}, mode=[{p.rng.randint(0, 2)}, {p.rng.randint(0, 2)}])",
            f"cute.get({source}, mode=[{p.rng.randint(0, 2)}])",
            f"cute.append({source}, cute.make_layout(2, stride=1))",
            f"cute.prepend({source}, cute.make_layout(2, stride=1))",
            f"cute.slice_({source}, ({p.rng.choice(('None', '0', '1'))}, {p.rng.choice(('None', '0', '2'))}))",
            f"cute.dice({source}, ({p.rng.choice(('None', '1'))}, 1))",
            f"cute.coalesce({source}, target_profile=(1, 1))",
            f"cute.coalesce({source}, target_profile=1)",
            f"cute.recast_layout({p.rng.choice((8, 16, 32, 64))}, {p.rng.choice((8, 16, 32, 64))}, {source})",
            f"cute.size({source}, mode=[{p.rng.randint(0, 2)}])",
        )
    )
    p.bind(call)


def _two(p: Program) -> None:
    name = p.rng.choice(("max_common_layout", "max_common_vector"))
    p.bind(f"cute.{name}({p.layout()}, {p.layout()})")


def _call(p: Program) -> None:
    layout = p.layout()
    p.bind(p.rng.choice((f"{layout}({p.rng.randint(0, 5)})", f"cute.crd2idx({p.rng.randint(0, 9)}, {layout})")))
    p.bind(f"cute.idx2crd({p.rng.randint(0, 40)}, {p.shape()})")
    p.bind(f"{p.layout()}.get_hier_coord({p.rng.randint(0, 7)})")


def _tuples(p: Program) -> None:
    shape = p.shape(3)
    name = p.rng.choice(("product", "product_each", "size", "rank", "depth", "flatten_to_tuple", "front"))
    p.bind(f"cute.{name}({shape})")
    p.bind(f"cute.ceil_div({p.size() * 10 + 3}, {p.size()})")
    p.bind(f"cute.ceil_div(({p.size() * 9}, 100), ({p.size()}, {p.size()}))")
    p.bind(f"cute.shape_div({p.rng.choice((16, 64, (16, 8)))}, {p.rng.choice((2, 4))})")
    p.bind(f"cute.round_up({p.size() * 7}, {p.size()})")


def _tv(p: Program) -> None:
    threads, values = p.small(), p.small()
    p.bind(f"cute.make_layout_tv({threads}, {values})[{p.rng.randint(0, 1)}]")
    bits, dtype = p.rng.choice(((128, "Float16"), (32, "Float32"), (64, "Int8"), (128, "BFloat16")))
    op = p.rng.choice(("cpasync.CopyG2SOp()", "cute.nvgpu.CopyUniversalOp()"))
    name = p.bind(
        f"cute.make_tiled_copy_tv(cute.make_copy_atom({op}, cutlass.{dtype}, num_bits_per_copy={bits}), "
        f"cute.make_layout({p.rng.choice(('(16, 8)', '(16, 8), stride=(8, 1)', '(4, 32), stride=(32, 1)'))}), "
        f"cute.make_layout({p.rng.choice(('(1, 8)', '(8, 1)', '(1, 4)', '(4, 4)'))}))",
        p.copies,
    )
    p.bind(f"{name}.{p.rng.choice(('layout_tv_tiled', 'tiler_mn', 'size', 'layout_src_tv_tiled', 'layout_dst_tv_tiled'))}")


def _mma(p: Program) -> None:
    dtype, k = p.rng.choice((("Float16", 16), ("BFloat16", 16), ("Float16", 8)))
    layout = p.rng.choice(("(2, 2, 1)", "(4, 1, 1)", "(1, 2, 1)", "(4, 2, 1)"))
    tile = p.rng.choice(("", "", ", permutation_mnk=(32, 32, 16)", ", permutation_mnk=(64, 32, 16)"))
    op = f"warp.MmaF16BF16Op(cutlass.{dtype}, cutlass.Float32, (16, 8, {k}))"
    name = p.bind(f"cute.make_tiled_mma({op}, cute.make_layout({layout}){tile})", p.mmas)
    p.bind(f"{name}.{p.rng.choice(('tv_layout_A_tiled', 'tv_layout_B_tiled', 'tv_layout_C_tiled', 'size', 'shape_mnk', 'thr_id'))}")
    p.bind(f"{name}.get_tile_size({p.rng.randint(0, 2)})")
    p.bind(f"{name}.partition_shape_{p.rng.choice('ABC')}(({p.rng.choice((64, 128))}, {p.rng.choice((32, 64))}))")


def _partition(p: Program) -> None:
    shape = p.rng.choice(("(64, 32)", "(128, 64)", "(256, 32)", "(512, 16)"))
    thread = p.rng.randint(0, 31)
    if p.copies and p.rng.random() < 0.5:
        p.bind(
            f"{p.rng.choice(p.copies)}.get_slice({thread}).partition_{p.rng.choice('SD')}(cute.make_identity_tensor({shape}))",
            p.tensors,
        )
    elif p.mmas:
        p.bind(
            f"{p.rng.choice(p.mmas)}.get_slice({thread}).partition_{p.rng.choice('ABC')}(cute.make_identity_tensor({shape}))",
            p.tensors,
        )


def _local(p: Program) -> None:
    if p.tensors:
        source = p.rng.choice(p.tensors)
        tile, coord = p.rng.choice((("(8, 8)", "(1, 0)"), ("(16, 8)", "(0, None)"), ("(4, 4)", "(None, None)")))
        p.bind(f"cute.local_tile({source}, tiler={tile}, coord={coord})", p.tensors)
        p.bind(f"{source}[{p.rng.choice(('None, 0', '0, None', '1, 2', '(None, 1)', '3'))}]")
        p.bind(f"cute.domain_offset((1, 2), {source})", p.tensors)
        p.bind(f"{source}.layout")


def _python(p: Program) -> None:
    n, m = p.size(), p.size()
    p.bind(
        p.rng.choice(
            (
                f"row_major({n}, {m}, pad={p.rng.choice((0, 1, 8))})",
                f"padded(({n}, {m}), pad={p.rng.choice((1, 8))})",
                f"Config({n}, {m}, stages=3).layout()",
                f"cute.make_layout(Config({n}, {m}).tile)",
                f"(lambda a, b: cute.make_layout((a, b), stride=(b, 1)))({n}, {m})",
                f"cute.make_layout([({n}, {m}), ({m}, {n})][-1])",
                f"cute.make_layout(tuple(x * 2 for x in ({n}, {m})))",
                f"cute.make_layout(({n} if {n} > {m} else {m}, {n} // 2 + 1))",
                f"cute.make_layout((*({n}, {m}), {n}))",
                f"cute.make_layout(max({n}, {m}), stride=min({n}, {m}))",
                f"cute.make_layout(sum(x for x in range({n % 7 + 1}) if x % 2) + 1)",
            )
        ),
        p.layouts,
    )


_KINDS: tuple[tuple[int, Callable[[Program], None]], ...] = (
    (8, _plain),
    (6, _compact),
    (2, _ordered),
    (3, _swizzled),
    (4, _identity),
    (8, _one("coalesce", "flatten", "filter_zeros", "filter", "size", "cosize", "rank", "depth")),
    (3, _one("right_inverse", "left_inverse")),
    (8, _divide),
    (6, _product),
    (6, _raked),
    (5, _composition),
    (3, _complement),
    (4, _tile_to_shape),
    (8, _modes),
    (3, _two),
    (2, _call),
    (2, _tuples),
    (3, _tv),
    (2, _mma),
    (4, _partition),
    (3, _local),
    (4, _python),
)


def program(seed: int, functions: int = 6, statements: int = 14) -> tuple[str, str, int]:
    """The text of a random program, the same for the DSL, which prints each value, and the number of values."""
    rng = random.Random(seed)
    ours, theirs, count = [_PRELUDE], [_PRELUDE, _RUNNER], 0
    kinds, weights = [kind for _, kind in _KINDS], [weight for weight, _ in _KINDS]
    for f in range(functions):
        p = Program(rng)
        for _ in range(statements):
            rng.choices(kinds, weights)[0](p)
        ours.append(f"@cute.jit\ndef f{f}():\n" + "".join(f"    {name} = {value}\n" for name, value in p.lines))
        runs = ""
        for name, value in p.lines:
            used = "".join(f", {one}" for one in sorted(set(re.findall(r"\bv\d+\b", value))))
            runs += f"    {name} = T(lambda: {value}{used})\n    P('f{f}::{name}', {name})\n"
        theirs.append(f"@cute.jit\ndef f{f}():\n{runs}")
        count += len(p.lines)
    theirs.append("".join(f"f{f}()\n" for f in range(functions)))
    return "\n".join(ours), "\n".join(theirs), count


def python_with_the_dsl() -> str | None:
    """A Python that has the DSL: the one that CUTE_VIZ_DSL names, this one, or None."""
    named = os.environ.get("CUTE_VIZ_DSL")
    if named:
        return named
    return sys.executable if find_spec("cutlass") is not None and find_spec("cutlass.cute") is not None else None


def values_of(text: str, path: Path, python: str) -> dict[str, str]:
    """The values that the DSL prints for a program, by name; `FAIL ...` for what it refuses."""
    return values_of_all([text], path.parent, python)[0]


def values_of_all(texts: list[str], folder: Path, python: str) -> list[dict[str, str]]:
    """The same for several programs, in one process."""
    paths = [folder / f"program{n}.py" for n in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    run = "import runpy, sys\nfor path in sys.argv[1:]:\n    print('===', flush=True)\n    runpy.run_path(path)\n"
    done = subprocess.run([python, "-c", run, *map(str, paths)], capture_output=True, text=True, timeout=300, check=False)
    printed = [part.splitlines() for part in done.stdout.split("===\n")[1:]]
    pairs = [[line.partition("\t") for line in lines if "\t" in line] for lines in printed]
    assert len(pairs) == len(texts), done.stderr[-2000:]
    assert all(pairs), done.stderr[-2000:]
    return [{name: value for name, _, value in each} for each in pairs]


def differences(text: str, expected: dict[str, str]) -> list[tuple[str, str, str]]:
    """The names whose values are not those of the DSL: (name, the DSL's, ours or the error)."""
    from cute_viz.engine.whole import rows
    from cute_viz.source import read
    from cute_viz.source.model import Given
    from cute_viz.spec.library import resolve

    file = replace(read(text, "python", Given(resolve=resolve)), language="python")
    ours = {row.path: row for row in rows(file)}
    out = []
    for name, wanted in expected.items():
        row = ours.get(name)
        got = f"{FAILED} absent" if row is None else f"{FAILED} {row.error}" if row.error else row.value
        if _shown(got) != _shown(wanted):
            out.append((name, wanted, got))
    return out


def _shown(value: str) -> str:
    """A value without what a print leaves open: spaces, lines; of what fails, that it does. x:x is a layout of nothing, a slice of
    a composed layout at one place."""
    if value.startswith(FAILED) or "object at 0x" in value or "x:x" in value:
        return FAILED
    return "".join(value.replace(" / ", "\n").split())
