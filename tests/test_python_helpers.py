"""A copy in a helper of the DSL costs what it costs where it is written out: tensors keep their memory and type on every way."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import indent

import pytest

from cute_viz import cli

_HEAD = """
import cutlass
import cutlass.cute as cute
import cutlass.utils as utils
"""
_TILE = """
smem = utils.SmemAllocator()
s = smem.allocate_tensor(cutlass.Float32, cute.make_layout((32, 32), stride=(32, 1)), 16)
p = smem.allocate_tensor(cutlass.Float32, cute.make_layout((32, 32), stride=(36, 1)), 16)
"""
_STORE = """
atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float32)
tv = cute.make_tiled_copy_tv(atom, cute.make_layout((32, 4), stride=(1, 32)), cute.make_layout((1, 1)))
thr = tv.get_slice(tidx)
tS = thr.partition_D({tile})
r = cute.make_fragment_like(tS)
cute.copy(tv, r, tS)
"""
_INDEX = "tidx, _, _ = cute.arch.thread_idx()"


def _kernel(*parts: str) -> str:
    return "@cute.kernel\ndef k():\n" + indent("\n".join((_INDEX, _TILE, *parts)), "    ")


def _helper(body: str, name: str = "store(tile, tidx)", word: str = "@cute.jit") -> str:
    return f"{word}\ndef {name}:\n{indent(body, '    ')}\n"


_PARTED = _STORE.format(tile="tile").rpartition("cute.copy")[0]
_PATHS = {
    "written out": _kernel(_STORE.format(tile="s")),
    "argument": _helper(_STORE.format(tile="tile")) + _kernel("store(s, tidx)"),
    "annotated": _helper(_STORE.format(tile="tile"), "store(tile: cute.Tensor, tidx: cutlass.Int32)") + _kernel("store(s, tidx)"),
    "keyword": _helper(_STORE.format(tile="tile"), word="") + _kernel("store(tidx=tidx, tile=s)"),
    "two helpers": _helper(_STORE.format(tile="tile"))
    + _helper("store(tile, tidx)", "outer(tidx, *, tile)")
    + _kernel("outer(tidx, tile=s)"),
    "returned": _helper("return tile, tidx", "both(tile, tidx)") + _kernel("t, i = both(s, tidx)", _STORE.format(tile="t")),
    "returned part": _helper(_PARTED + "return tv, r, tS", "parts(tile, tidx)")
    + _kernel("tv, r, tS = parts(s, tidx)", "cute.copy(tv, r, tS)"),
    "in a tuple": _helper(_STORE.format(tile="tiles[1]"), "store(tiles, tidx)") + _kernel("store((p, s), tidx)"),
    "in a list": _helper(_STORE.format(tile="tiles[-1]"), "store(tiles, tidx)") + _kernel("store([p, s], tidx)"),
    "in a namespace": _helper(_STORE.format(tile="x.tile"), "store(x, tidx)") + _kernel("store(SimpleNamespace(tile=s), tidx)"),
    "in a dictionary": _helper(_STORE.format(tile="x['t']"), "store(x, tidx)") + _kernel("store({'t': s}, tidx)"),
    "a closure": _kernel(_helper(_STORE.format(tile="s"), "store()", ""), "store()"),
    "star arguments": _helper(_STORE.format(tile="x[0]"), "store(tidx, *x)") + _kernel("store(tidx, *(s, p))"),
    "keyword arguments": _helper(_STORE.format(tile="x['tile']"), "store(tidx, **x)") + _kernel("store(tidx, **{'tile': s})"),
    "a view": _kernel("v = cute.make_tensor(s.iterator, s.layout)", _STORE.format(tile="v")),
    "a view of a view": _kernel(
        "v = cute.make_tensor(cute.recast_ptr(s.iterator.align(16), dtype=cutlass.Float32), s.layout)", _STORE.format(tile="v")
    ),
    "one of a list": _kernel("tiles = [s, s]", _STORE.format(tile="tiles[tidx]")),
    "a pointer": "def view(q):\n    return cute.make_tensor(q, cute.make_layout((32, 32), stride=(32, 1)))\n"
    + _kernel("q = smem.allocate_array(cutlass.Float32, 1024)", "v = view(q)", _STORE.format(tile="v")),
    "a lambda": "store = lambda tile: tile\n" + _kernel("t = store(s)", _STORE.format(tile="t")),
    "a method": "class K:\n"
    + indent(_helper(_STORE.format(tile="tile"), "store(self, tile, tidx)"), "    ")
    + indent(_kernel("self.store(s, tidx)").replace("k()", "k(self)"), "    "),
    "self": "class K:\n"
    + indent(_helper(_STORE.format(tile="self.s"), "store(self, tidx)"), "    ")
    + indent(_kernel("self.s = s", "self.store(tidx)").replace("k()", "k(self)"), "    "),
    "a part in self": "class K:\n"
    + indent(_helper(_PARTED + "self.parts = (tv, r, tS)", "part(self, tile, tidx)"), "    ")
    + indent(_kernel("self.part(s, tidx)", "cute.copy(*self.parts)").replace("k()", "k(self)"), "    "),
}


def _report(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, *words: str) -> dict[str, list[dict[str, object]]]:
    (tmp_path / "kernel.py").write_text(_HEAD + text)
    with pytest.raises(SystemExit):
        cli.main(["analyze", str(tmp_path / "kernel.py"), "--json", *words])
    found: dict[str, list[dict[str, object]]] = json.loads(capsys.readouterr().out)
    return found


_KEYS = ("call", "instruction", "elements", "instructions", "wavefronts", "ideal", "sectors", "tile")


@pytest.mark.parametrize("way", _PATHS)
def test_a_store_costs_the_same_on_every_way(tmp_path: Path, capsys: pytest.CaptureFixture[str], way: str) -> None:
    found = _report(tmp_path, capsys, _PATHS[way])
    assert not found["unknown"]
    name = "v" if way == "a pointer" else "s"  # the buffer: a view is of it
    assert [tuple(row[key] for key in _KEYS) for row in found["accesses"]] == [(None, "st.shared.32", 8, 32, 1024, 32, None, name)]


def test_calls_with_different_tensors_have_a_row_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = _helper(_STORE.format(tile="tile")) + _kernel("store(s, tidx)", "store(p, tidx)")
    found = _report(tmp_path, capsys, text)
    line = (_HEAD + text).splitlines().index("    store(s, tidx)") + 1
    assert [(row["call"], row["tile"], row["wavefronts"]) for row in found["accesses"]] == [
        (f"k, line {line}", "s", 1024),
        (f"k, line {line + 1}", "p", 128),
    ]


@pytest.mark.parametrize(("memory", "instruction"), [("smem", "st.shared.32"), ("gmem", "st.global.32")])
def test_a_helper_that_nothing_calls_is_asked_for_its_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], memory: str, instruction: str
) -> None:
    text = _helper(_INDEX + _STORE.format(tile="tile"), "store(tile: cute.Tensor)")
    (lost,) = _report(tmp_path, capsys, text, "--let", "tile=(32,32):(32,1)")["unknown"]
    assert "the memory that this tensor is in is not known" in str(lost["error"])
    given = f"tile=make_tensor(make_{memory}_ptr<float>(0), (32,32):(32,1))"
    (row,) = _report(tmp_path, capsys, text, "--let", given)["accesses"]
    assert row["instruction"] == instruction


def test_registers_of_an_mma_have_its_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Accumulators of 32 bits, stored element by element to a tile of 16 bits, are not 32 bits at once."""
    text = _kernel(
        "op = cute.nvgpu.warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16))",
        "mma = cute.make_tiled_mma(op, cute.make_layout((2, 2, 1)))",
        "acc = mma.make_fragment_C(mma.partition_shape_C((32, 32)))",
        "t = mma.get_slice(tidx).partition_C(s)",
        "cute.autovec_copy(acc, t)",
    )
    (row,) = _report(tmp_path, capsys, text)["accesses"]
    assert (row["instruction"], row["elements"]) == ("st.shared.64", 8)
