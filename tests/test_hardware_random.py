"""Operations of Hopper and Blackwell with random parameters, against CUTLASS's headers (tests/data/hardware_random.json.gz)."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cute_viz.algebra.inttuple import show
from cute_viz.algebra.tensor import Tensor
from cute_viz.engine.explaining import facts_of
from cute_viz.errors import CuteVizError
from cute_viz.source.text import read
from cute_viz.spec import PACKAGED
from cute_viz.spec.library import resolve

FILE = Path(__file__).parent / "data" / "hardware_random.json.gz"
ROWS: list[Any] = json.loads(gzip.decompress(FILE.read_bytes()))["rows"]
KINDS = sorted({row[0] for row in ROWS})
OF_IM2COL = {
    "lower": "pixelBoxLowerCorner",
    "upper": "pixelBoxUpperCorner",
    "channels": "channelsPerPixel",
    "pixels": "pixelsPerColumn",
}


def plain(value: Any) -> str:
    """A print without the marks of static integers, spaces, and the words around a condition."""
    text = show(value.layout if isinstance(value, Tensor) else value) if not isinstance(value, str) else value
    return re.sub(r"(?<![A-Za-z0-9])_(?=-?\d)", "", text).replace(" ", "")


def shown(text: str, what: list[str]) -> dict[str, str]:
    """What we say of the objects of a text, by the keys of the answers."""
    document, out = read(text, resolve=resolve), {}
    for word in what:
        kind, _, name = word.partition(":")
        name = name or {"enc": "tma", "aux": "tma", "gmma": "d", "umma": "d", "idesc": "d"}.get(kind, "")
        if name:
            facts = facts_of(document.pick(name), "", PACKAGED)
            facts |= {key: facts[ours] for key, ours in OF_IM2COL.items() if ours in facts}
            prefix = f"{name}." if kind == "frag" else ""
            out |= {prefix + key: plain(str(value)) for key, value in facts.items()}
            continue
        key, _, expression = word.partition("=")
        if expression and not expression.isidentifier():
            out[key] = plain(read(f"{text} auto asked = {expression};", resolve=resolve).pick("asked"))
        else:
            out[key] = plain(document.pick(expression or key))
    return out


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_random_parameters(kind):
    wrong = []
    for _, text, what, expected in [row for row in ROWS if row[0] == kind][::2]:  # every second: time
        if isinstance(expected, str):
            with pytest.raises(CuteVizError) as caught:
                shown(text, what)
            condition = plain(expected.rpartition("&& ")[2].strip('"').rstrip(".")).replace("tile_to_shape:", "")
            if condition not in plain(str(caught.value)):
                wrong.append((text, expected, str(caught.value)))
            continue
        ours = shown(text, what)
        for key, value in expected.items():
            # CuTe prints the layout of a tensor alone, without its pointer, swizzle or origin
            told, right = ours.get(key, ""), plain(value)
            if told != right and told.rpartition("o")[2] != right:
                wrong.append((text, key, told, value))
    assert not wrong[:3]


def test_there_are_rows_of_every_kind():
    assert len(KINDS) == 28
    assert len(ROWS) > 800
