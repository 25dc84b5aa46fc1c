"""Colour differences as a reader sees them: CIEDE2000, colour vision deficiencies, grey print."""

from __future__ import annotations

from itertools import combinations
from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
MACHADO = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(colour: str) -> tuple[float, float, float]:
    channels = (int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return r, g, b


def seen(colour: str, how: str) -> tuple[float, float, float]:
    """Linear RGB as somebody sees it: `normal`, `grey`, or one of MACHADO."""
    rgb = linear(colour)
    if how == "normal":
        return rgb
    if how == "grey":
        y = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]
        return y, y, y
    r, g, b = (min(1.0, max(0.0, sum(m * c for m, c in zip(row, rgb, strict=True)))) for row in MACHADO[how])
    return r, g, b


def lab(rgb: tuple[float, float, float]) -> tuple[float, float, float]:
    r, g, b = rgb
    xyz = (
        (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047,
        0.2126729 * r + 0.7151522 * g + 0.0721750 * b,
        (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883,
    )
    x, y, z = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def ciede2000(one: tuple[float, float, float], two: tuple[float, float, float]) -> float:
    """The difference of two L*a*b* colours (Sharma, Wu and Dalal 2005)."""
    l1, a1, b1 = one
    l2, a2, b2 = two
    mean_c = (hypot(a1, b1) + hypot(a2, b2)) / 2
    g = 0.5 * (1 - sqrt(mean_c**7 / (mean_c**7 + 25**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = hypot(a1, b1), hypot(a2, b2)
    h1, h2 = degrees(atan2(b1, a1)) % 360, degrees(atan2(b2, a2)) % 360
    dh = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    dl, dc, dbig = l2 - l1, c2 - c1, 2 * sqrt(c1 * c2) * sin(radians(dh) / 2)
    ml, mc = (l1 + l2) / 2, (c1 + c2) / 2
    between = (h1 + h2) / 2 if abs(h1 - h2) <= 180 else (h1 + h2 + 360) / 2 % 360
    mh = h1 + h2 if c1 * c2 == 0 else between
    waves = ((0.17, 1, 30, -1), (0.24, 2, 0, 1), (0.32, 3, -6, 1), (0.2, 4, 63, -1))
    t = 1 + sum(sign * height * cos(radians(times * mh - shift)) for height, times, shift, sign in waves)
    sl = 1 + 0.015 * (ml - 50) ** 2 / sqrt(20 + (ml - 50) ** 2)
    sc, sh = 1 + 0.045 * mc, 1 + 0.015 * mc * t
    rt = -2 * sqrt(mc**7 / (mc**7 + 25**7)) * sin(radians(60 * exp(-(((mh - 275) / 25) ** 2))))
    return sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dbig / sh) ** 2 + rt * dc / sc * dbig / sh)


def smallest_difference(colours: tuple[str, ...], how: str) -> float:
    """The smallest CIEDE2000 distance between any two of the colours, as somebody sees them."""
    points = [lab(seen(colour, how)) for colour in colours]
    return min(ciede2000(a, b) for a, b in combinations(points, 2))
