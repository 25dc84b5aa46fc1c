"""Each picture uses the options that it is given, or refuses them: none is ignored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cute_viz.algebra.call import Call
from cute_viz.errors import FigureError, LimitError
from cute_viz.figures import build
from cute_viz.figures.model import to_dict
from cute_viz.figures.options import FigureOptions, options_of
from cute_viz.options.views import LABELS, TILINGS, VIEWS
from cute_viz.spec import read

TV = "((4,8),(2,2)):((32,1),(16,8))"
GRID = "((2,2),(2,4)):((1,4),(2,8))"
TILE = {"tile": (16, 8)}
MMA = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))"
COPY = "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, (16,8):(8,1), (1,8))"
DRAWN: dict[str, tuple[str, dict[str, Any]]] = {
    "grid": (GRID, {}),
    "tv": (TV, TILE),
    "table": (TV, TILE),
    "both": (TV, TILE),
    "banks": (GRID, {}),
    "address": (GRID, {}),
    "operation": (GRID, {}),
    "an atom": ("SM80_16x8x16_F32F16F16F32_TN", {}),
    "a tiled MMA": (MMA, {}),
    "a tiled copy": (COPY, {}),
    "a thread's view": (f"get_slice({MMA}, 5)", {}),
    "a partition": (MMA, {"thread": range(3, 4), "tensor": read("(64,64):(64,1)").pick()}),
    "a swizzle": ("Sw<2,3,3>", {}),
}
OPTIONS: list[tuple[str, Any]] = [
    ("tile", (16, 16)), ("coords", True), ("thread", range(1, 2)), ("warp", range(5)), ("warp", range(1)), ("value", range(1, 2)),
    ("operand", "A"), ("operand", "S"), ("type", 8), ("tensor", read("(64,32):(32,1)").pick()),
    *(("labels", word) for word in LABELS if word not in ("auto", "full")),
    *(("color_by", word) for word in ("offset", "mod8", "chunk", "thread", "value", "warp", "row", "column", "tile", "none")),
]  # fmt: skip
# What each draws without being asked.
SAME = {
    "grid": ("offset",),
    "tv": ("thread", range(5), range(1)),
    "table": ("thread", "coord", range(5), range(1)),
    "both": ("thread", range(5), range(1)),
    "operation": ("offset",),
    "an atom": ("thread", range(5), range(1)),
    "a thread's view": ("warp",),
    "a tiled MMA": ("warp", range(5)),
    "a tiled copy": ("warp", range(5)),
}


def drawn(what: str, **more: Any) -> dict[str, Any]:
    text, options = DRAWN[what]
    obj = read(text).pick()
    if what == "operation":
        obj = Call("coalesce", (obj,))
    view = what if what in VIEWS and what != "operation" else None
    return to_dict(build(obj, options_of({"view": view, **options, **more})))


@pytest.mark.parametrize("what", DRAWN)
def test_no_option_is_ignored(what: str) -> None:
    plain, used = drawn(what), 0
    for name, value in OPTIONS:
        try:
            other = drawn(what, **{name: value})
        except FigureError:
            continue
        used += 1
        assert other != plain or value in SAME.get(what, ()), f"{name}={value}"
    assert used or what == "a swizzle"


def test_every_view_is_tried() -> None:
    assert set(VIEWS) <= set(DRAWN)


@pytest.mark.parametrize("name", ["thread", "tensor", "type", "color_by", "coords", "tile"])
def test_a_refusal_names_what_an_option_goes_with(name: str) -> None:
    value = dict(OPTIONS)[name]
    with pytest.raises(FigureError) as caught:
        drawn("a swizzle", **{name: value})
    assert "does not go with a swizzle alone" in caught.value.message
    hint = caught.value.hint or ""
    assert all((key in hint) == (name in view.uses) for key, view in VIEWS.items() if key != "tv")
    assert all((view.meaning in hint) == (name in view.uses) for view in TILINGS.values())


@pytest.mark.parametrize(("more", "words"), [({"coords": True}, "coords="), ({"color_by": "row"}, 'color_by="row"')])
def test_no_option_is_ignored_by_an_image(more: dict[str, Any], words: str) -> None:
    image = FigureOptions(heat=True, max_cells=16)
    assert build(read(GRID).pick(), image).kind == "heat"
    with pytest.raises(FigureError, match=f"{words} does not go with an image") as caught:
        build(read(GRID).pick(), replace(image, **more))
    assert "at most 16 cells" in (caught.value.hint or "")
    assert build(read(GRID).pick(), replace(image, color_by="offset")) == build(read(GRID).pick(), image)


def test_full_labels_make_no_image() -> None:
    with pytest.raises(LimitError, match="the limit is 16"):
        build(read(GRID).pick(), FigureOptions(heat=True, max_cells=16, labels="full"))
