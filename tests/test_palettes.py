"""What the palettes promise: hues that all readers can tell apart, and text that can be read on every one of them."""

from __future__ import annotations

import pytest

from cute_viz.figures.model import Paint
from cute_viz.renderers.palette import DEFAULT, PALETTES, luminance
from tests.colour_science import ciede2000, smallest_difference

CONTRAST = 4.5  # WCAG 2, AA, for text of any size
DIFFERENCE = {"normal": 9.0, "protan": 7.5, "deutan": 10.0, "tritan": 7.5, "grey": 2.9}  # CIEDE2000


@pytest.mark.parametrize(
    ("one", "two", "difference"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (61, -5, 29), 22.8977),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
        ((50, 0, 0), (50, 0, 0), 0),
    ],
)
def test_the_measure_itself(one, two, difference):
    """Pairs of the data that Sharma, Wu and Dalal published with the formula."""
    assert ciede2000(one, two) == pytest.approx(difference, abs=1e-4)


@pytest.mark.parametrize("how", DIFFERENCE)
def test_every_reader_can_tell_the_default_hues_apart(how):
    assert smallest_difference(PALETTES[DEFAULT].hues, how) >= DIFFERENCE[how]


@pytest.mark.parametrize("shades", [2, 3, 4])
def test_neighbors_differ_in_every_shade_for_readers_without_green_cones(shades):
    """Cells side by side have hues that follow each other, nearly always: of the last of eight the first follows."""
    palette = PALETTES[DEFAULT]
    for hue in range(8):
        for shade in range(shades):
            pair = palette.fill(Paint(hue, shade, shades)), palette.fill(Paint((hue + 1) % 8, shade, shades))
            assert smallest_difference(pair, "deutan") >= 10, (hue, shade)


@pytest.mark.parametrize("name", ["grey", "viridis"])
def test_palettes_for_print_differ_in_grey(name):
    assert smallest_difference(PALETTES[name].hues, "grey") >= 3.9


@pytest.mark.parametrize("name", PALETTES)
def test_every_label_can_be_read(name):
    palette = PALETTES[name]
    for hue in range(len(palette.hues)):
        for shade in range(4):
            paint = Paint(hue, shade, 4)
            light, dark = sorted((luminance(palette.fill(paint)), luminance(palette.ink(paint))), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= CONTRAST, paint


def test_text_outside_of_cells_can_be_read():
    from cute_viz.renderers.colours import DARK, LIGHT
    from cute_viz.renderers.svg import RULES

    assert all(RULES[name].endswith(DARK[name]) for name in "ptm")
    for theme in (LIGHT, DARK):
        for name in "tm":
            light, dark = sorted((luminance(theme["p"]), luminance(theme[name])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= CONTRAST
