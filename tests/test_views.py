"""Each picture uses the options that it is given, or refuses them: every kind of object, view and option, and pairs of options."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import Any

import pytest

from cute_viz.algebra.common import Operation
from cute_viz.algebra.gemm import Pipeline
from cute_viz.engine import Answer, Request, ask
from cute_viz.errors import CuteVizError, FigureError, LimitError
from cute_viz.figures import build
from cute_viz.figures.model import to_dict
from cute_viz.figures.options import FigureOptions
from cute_viz.options import OPTIONS
from cute_viz.options.views import TILINGS, VIEWS
from cute_viz.spec import read
from cute_viz.spec.build import read_specs

GRID = "((2,2),(2,4)):((1,4),(2,8))"
MMA = "make_tiled_mma(SM80_16x8x8_F32F16F16F32_TN{}, (1,2,1))"
COPY = "make_tiled_copy(Copy_Atom<UniversalCopy<uint32_t>, half_t>{}, (4,16):(16,1), (1,2))"
GEMM = f"gemm:\n  mma: {MMA}\n  tile: (16,16,16)\n  smem_a: ((8,2),16):((16,8),1)\n"
OBJECTS: dict[str, Any] = {
    "an integer": 8,
    "a shape": (4, 8),
    "rank 1": "8:2",
    "rank 2": "(4,8):(8,1)",
    "rank 3": "(2,3,4)",
    "nested": GRID,
    "a TV layout": "((2,4),(2,2)):((8,1),(4,16))",
    "coordinates": "(4,8):(1@0,1@1)",
    "XOR": "(4,4):(F1,F4)",
    "composed": "(4,5):(1,4) o 2 o (2,3):(1,2)",
    "swizzled": "Sw<2,1,3> o 0 o (4,16):(16,1)",
    "swizzled with an offset": "Sw<2,1,3> o 5 o (4,16):(16,1)",
    "swizzled with a flag": "Sw<2,4,3> o smem_ptr[16b](unset) o (8,32):(32,1)",
    "a swizzle": "Sw<2,3,3>",
    "an MMA": "SM80_16x8x8_F32F16F16F32_TN",
    "an MMA of quad pairs": "SM70_8x8x4_F32F16F16F32_TN",
    "an MMA of shared memory": "SM90_64x8x16_F32F16F16_SS",
    "an MMA of tensor memory": "SM100_MMA_F16BF16_SS<half_t,half_t,float,64,8,UMMA::Major::K,UMMA::Major::K>",
    "a tiled MMA": MMA,
    "a thread's MMA": f"get_slice({MMA}, 5)",
    "a copy": "SM75_U32x4_LDSM_N",
    "a copy atom": "Copy_Atom<UniversalCopy<uint64_t>, half_t>{}",
    "a tiled copy": COPY,
    "a thread's copy": f"get_slice({COPY}, 5)",
    "a GEMM": read_specs(GEMM)[0].obj,
    "a call": Operation("coalesce", (read(GRID).pick(),)),
    "a divide": Operation("logical_divide", (read("(4,8):(8,1)").pick(), (2, 4))),
    "a descriptor": "make_gmma_desc<GMMA::Major::K>(tile_to_shape(GMMA::Layout_K_SW32_Atom<half_t>{}, (64,16)))",
    "an instruction descriptor": "make_instr_desc<half_t, half_t, float, 64, 8, UMMA::Major::K, UMMA::Major::K>()",
    "tensor memory": "make_tensor(make_tmem_ptr<float>(0), (128,64):(65536,1))",
    "a copy of tensor memory": "SM100_TMEM_LOAD_16dp64b1x",
    "a TMA copy": "g = make_tensor(make_gmem_ptr<float>(0), (64,32):(32,1));"
    "make_tma_copy(SM90_TMA_LOAD{}, g, (16,32):(32,1), (16,32), 2)",
    "a TMA atom": "Copy_Atom<SM100_TMA_2SM_LOAD<1024>, half_t>{}",
    "stages": "stages(GMMA::Layout_K_SW32_Atom<half_t>{}, SM80_16x8x8_F32F16F16F32_TN{})",
    "operands": "mma_operands(SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,128,32,UMMA::Major::K,UMMA::Major::K>{})",
    "a thread's stages": "m = SM90_64x8x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>{};"
    "s = make_tensor(make_smem_ptr<half_t>(0), tile_to_shape(GMMA::Layout_K_SW32_Atom<half_t>{}, (64,16)));"
    "m = make_tiled_mma(m); stages(make_fragment_A(m, partition_A(get_slice(m, 0), s)), m)",
    "im2col": "make_im2col_tma_copy(SM90_TMA_LOAD_IM2COL{}, make_tensor(make_gmem_ptr<half_t>(0), ((8,8,2),64):((64,512,4096),1)),"
    "(8,64):(64,1), (8,64), 1, (-1,-1), (-1,-1), (-1,-1), (1,1), (1,1), (0,0), (1,1))",
    "a sparse MMA": "GMMA_64x8x32_F32F16F16_RS",
    "a pipeline": Pipeline(2, 6),
    "scale factors": "((32,4),(16,4)):((16,4),(0,1))",
}
FLAT = {  # they have no modes in modes, so that rulers have no more to show
    "an integer", "a shape", "rank 1", "rank 2", "rank 3", "coordinates", "XOR", "composed",
    "swizzled", "swizzled with an offset", "swizzled with a flag",
}  # fmt: skip
MANY = {  # that have so many views and cells that half a second is not enough
    "an MMA", "an MMA of quad pairs", "an MMA of shared memory", "an MMA of tensor memory", "a thread's MMA", "a sparse MMA",
    "a GEMM", "tensor memory", "stages", "a thread's stages", "scale factors",
}  # fmt: skip
WORDS: dict[str, tuple[Any, ...]] = {  # of an option without choices
    "tile": ("4x8", "16x8", "8x4"), "coords": (True,), "title": ("A title",), "thread": ("0", "1..2"), "warp": ("0",),
    "value": ("1",), "operand": ("A", "S", "C", "AB"), "type": ("8", "f64"), "tensor": ("(64,64):(64,1)", "(32,64):(64,1)"),
    "max_cells": ("1",), "diff": (True,), "fold": ("1",), "crop": ("2x2",), "palette": ("mono",), "fragment": (True,),
    "follow": ("0", "13"), "width": ("200",), "cell": ("5",), "bare": (True,), "coord": ("8,0", "56,0"),
    "by": ("ldmatrix.x1", "st.32"), "cluster": ("2x1", "1x2"),
    "schedule": ("tiles=5", "load=5,epilogue=1"), "note": ("(0,0): one", "row 0: two"),
    "blank": ("labels=1",), "key": (), "letters": ("7",), "animate": (),
} | {name: option.choices for name, option in OPTIONS.items() if option.choices}  # fmt: skip
WORDS["target"] = ("column", "slide")  # of a small picture a screen, a README and a page are alike
TILES = ("4x8", "16x8", "8x32")  # of which one fits where a view needs a tile


@lru_cache
def object_of(what: str) -> Any:
    source = OBJECTS[what]
    return read(source).pick() if isinstance(source, str) else source


def answer(what: str, options: dict[str, Any]) -> Answer | None:
    """What the engine makes of an object and options; None where it refuses them. No other exception is an answer."""
    out = ask(Request((object_of(what),), options, formats=("svg",)))
    try:
        out.figure  # noqa: B018
        out.how  # noqa: B018
    except CuteVizError:
        return None
    return out


def drawn(what: str, options: dict[str, Any], page: bool = False) -> Any:
    """The picture as its model, or as bytes where an option is of the page."""
    out = answer(what, options)
    try:
        return out and (out.write("svg") if page else to_dict(out.figure))
    except CuteVizError:
        return None


def views(what: str) -> list[dict[str, Any]]:
    """The options that give each view that an object has, the one without any first."""
    out: list[dict[str, Any]] = [{}]
    for view in VIEWS:
        for tile in ("", *TILES) if view in ("tv", "table", "both") else ("",):
            words = {"view": view, **({"tile": tile} if tile else {}), **({"by": "ldmatrix.x1"} if view == "access" else {})}
            if answer(what, words) is not None:
                out.append(words)
                break
    return out


@pytest.mark.parametrize("what", OBJECTS)
def test_no_view_is_ignored(what: str) -> None:
    pictures: list[Any] = [drawn(what, words) for words in views(what)]
    natural = {"a call": "operation", "a divide": "operation"}.get(what, "tv" if hasattr(object_of(what), "tiling") else "grid")
    for words, picture in zip(views(what)[1:], pictures[1:], strict=True):
        assert (picture == pictures[0]) == (words["view"] == natural), f"{words} draws what is drawn without a view"
    assert all(one != other for one, other in combinations(pictures[1:], 2))


def is_said_anyway(what: str, base: dict[str, Any], name: str, word: Any) -> bool:
    """Whether a picture need not change, as it is like this without the option, or has nothing that the option is about."""
    if name == "labels" and word == "full":
        full = answer(what, {**base, name: word})
        return full is not None and full.how.full  # the page is told; what it does with it, tests of the formats see
    return (
        word == OPTIONS[name].default
        or (name == "tile" and word == (base.get("tile") or "4x8") and base.get("view") != "matrix")
        or (name == "by" and word == base.get("by"))
        or (name == "tile" and base.get("view") == "zoom")  # of the tile that the MMA covers
        or (name == "coords" and what in FLAT)
        or (name == "fold" and what in ("an integer", "rank 1"))  # one column
    )


@pytest.mark.parametrize("what", [pytest.param(x, marks=pytest.mark.slow) if x in MANY else x for x in OBJECTS])
def test_no_option_is_ignored(what: str) -> None:
    """Of a choice one word may say what is drawn anyway; no two others draw the same."""
    for base in views(what):
        plain, plain_page = drawn(what, base), drawn(what, base, True)
        for name in OPTIONS.keys() - {"view"}:
            page = OPTIONS[name].level == "page"
            if page and base:
                continue  # what writes a page does not know views
            pictures = [(word, drawn(what, {**base, name: word}, page)) for word in WORDS[name]]
            pictures = [(word, picture) for word, picture in pictures if picture is not None]
            same = [word for word, picture in pictures if picture == (plain_page if page else plain)]
            same = [word for word in same if not is_said_anyway(what, base, name, word)]
            hint = f"{base}: {name}={same} changes nothing: draw it, or take it out of the view's row in options/views.txt"
            assert len(same) <= (name in ("labels", "color_by")), hint
            others = [picture for word, picture in pictures if word not in same and picture != (plain_page if page else plain)]
            if name == "labels" and base.get("view") == "table":
                others = others[1:]  # of a table offset and index are both the place in the tile
            assert all(one != other for one, other in combinations(others, 2)), (base, name)


SAID = {  # pairs of which the second leaves nothing to the first
    ("an MMA of shared memory", "color_by", "operand"),  # all threads have all of A
    *(
        ("an MMA of tensor memory", *pair)
        for pair in (("color_by", "labels"), ("labels", "thread"), ("labels", "warp"), ("labels", "value"), ("labels", "operand"))
    ),  # any of them draws its cells
    ("a thread's copy", "operand", "tensor"),  # S is what is drawn of a tensor anyway
}


@pytest.mark.slow
@pytest.mark.parametrize("what", OBJECTS)
def test_no_option_is_ignored_beside_another(what: str) -> None:
    """Pairs of options, each with the first word that it has an effect with: the picture is none of those with one of the two."""
    for base in views(what):
        if base.get("view") == "grid" or (base and hasattr(object_of(what), "tiling")):
            continue  # it is that without a view
        plain = drawn(what, base)
        used: dict[str, tuple[Any, Any]] = {}
        for name, option in OPTIONS.items():
            if option.level == "page" or name in ("view", "tile", "max_cells"):
                continue
            pictures = ((word, drawn(what, {**base, name: word})) for word in WORDS[name])
            effects = ((word, picture) for word, picture in pictures if picture not in (None, plain))
            if (effect := next(effects, None)) is not None:
                used[name] = effect
        for (one, (word, first)), (other, (word_, second)) in combinations(used.items(), 2):
            both = drawn(what, {**base, one: word, other: word_})
            assert both not in (plain, first, second) or (what, one, other) in SAID, (base, one, word, other, word_)


def test_every_option_is_tried() -> None:
    assert WORDS.keys() == OPTIONS.keys()
    seen = {words.get("view") for what in OBJECTS for words in views(what)}
    assert seen == {None, *VIEWS}, "a view has no object here: give OBJECTS one that it draws"
    chosen = {"partition", "lanes", "bulk", "follow", "way"}  # by an option, or by name
    assert {getattr(object_of(what), "tiling", "") for what in OBJECTS} >= TILINGS.keys() - chosen
    tried = [(what, words) for what in OBJECTS for words in views(what)]
    for name in WORDS.keys() - {"view", "tile", "max_cells", "diff", "style"}:  # the last two are tried where they apply
        for word in WORDS[name]:
            assert any(answer(what, {**words, name: word}) is not None for what, words in tried), (name, word)


@pytest.mark.parametrize("name", ["thread", "tensor", "type", "color_by", "coords", "tile"])
def test_a_refusal_names_what_an_option_goes_with(name: str) -> None:
    value = True if name == "coords" else WORDS[name][0]
    with pytest.raises(FigureError) as caught:
        ask(Request(("Sw<2,3,3>",), {name: value})).figure  # noqa: B018
    assert "does not apply to a bare swizzle" in caught.value.message
    hint = caught.value.hint or ""
    assert all((key in hint) == (name in view.uses) for key, view in VIEWS.items() if key != "tv")
    assert all((view.meaning in hint) == (name in view.uses) for view in TILINGS.values())


@pytest.mark.parametrize(("more", "words"), [({"coords": True}, "coords="), ({"color_by": "row"}, 'color_by="row"')])
def test_no_option_is_ignored_by_an_image(more: dict[str, Any], words: str) -> None:
    image = FigureOptions(heat=True, max_cells=16)
    assert build(read(GRID).pick(), image).kind == "heat"
    with pytest.raises(FigureError, match=f"{words} does not apply to an image") as caught:
        build(read(GRID).pick(), replace(image, **more))
    assert "at most 16 cells" in (caught.value.hint or "")
    assert build(read(GRID).pick(), replace(image, color_by="offset")) == build(read(GRID).pick(), image)


def test_full_labels_make_no_image() -> None:
    with pytest.raises(LimitError, match="the limit is 16"):
        build(read(GRID).pick(), FigureOptions(heat=True, max_cells=16, labels="full"))
