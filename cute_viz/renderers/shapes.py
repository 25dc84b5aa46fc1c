"""The shapes over and beside the cells of a panel as primitives, and how far they reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import cos, pi, sin
from typing import TypeAlias

from cute_viz.figures.model import HOLE, Shape
from cute_viz.renderers.geometry import BOLD, CHAR, FONT, PROSE
from cute_viz.renderers.primitives import ALARM, END, INK, MIDDLE, MUTED, PAPER, START, TEXT, Line, Path, Primitive

Point: TypeAlias = "tuple[float, float]"
Projection: TypeAlias = "Callable[[float, float], Point]"

SIZES = {"small": 9.0, "head": 13.0, "big": 40.0}  # px of a text; FONT of any other
WIDTHS = {"thin": 0.9, "strong": 2.2}  # px of a line; THICK of any other
THICK = 1.4
DASH = 4.0
HEAD = 7.0  # px of an arrow's head
BULGE, BRACE = 0.2, 6.0  # of an arc, in lengths of it; of a brace, px
DOT = 0.36  # of a cell's smaller side
SIDES = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def breadth(text: str, size: float, mono: bool = False, bold: bool = False) -> float:
    """px that a text is broad, on the safe side."""
    return len(text) * size * (CHAR if mono else BOLD if bold else PROSE)


def broad(line: Line) -> float:
    """px that a line of prose is broad."""
    return breadth(line.text, line.size, line.mono, line.weight != 400)


def drawn(shape: Shape, at: Projection, side: float) -> Iterator[Primitive]:
    """The primitives of a shape; at: a point of the panel on the page; side: px of a cell's smaller side."""
    words, points = shape.look.split(), [at(*point) for point in shape.points]
    role = ALARM if "alarm" in words else MUTED if "muted" in words else INK
    width = next((px for word, px in WIDTHS.items() if word in words), THICK)
    dash = DASH if "dashed" in words else 0.0
    fill = None if shape.paint == HOLE else shape.paint
    match shape.kind:
        case "text":
            yield from _within(shape, points) if len(points) > 1 else [_text(shape, *points[0])]
        case "dot":
            (x, y), r = points[0], max(DOT * side, _disc(shape.text) if shape.text else 0)
            circle = [(x + r * cos(n * pi / 12), y + r * sin(n * pi / 12)) for n in range(24)]
            yield Path([circle], role, THICK, role if fill is None else fill)
            if shape.text:
                size = min(FONT, r / _disc(shape.text) * FONT)
                yield Line(shape.text, x, y, size, TEXT if fill is None else INK, True, 600, MIDDLE)
        case "box":
            (x0, y0), (x1, y1) = at(*shape.points[0]), at(*shape.points[1])
            (a, b), (c, d) = shape.points
            corners = [(x0, y0), at(c, b), (x1, y1), at(a, d)]
            if fill is not None:
                yield Path([corners], role, 0, fill)
            outline = TEXT if role == INK and "ink" not in words else role
            yield Path([[*corners, corners[0]]], outline, width, None, 1.0, dash)
        case "area":
            shadow = PAPER if "paper" in words else MUTED
            yield Path([points], role, 0.0, shadow if fill is None else fill, 0.14 if fill is None and shadow == MUTED else 1.0)
        case "brace":
            role = TEXT if role == INK else role
            way = next((SIDES[word] for word in words if word in SIDES), SIDES["right"])
            yield Path([_brace(points[0], points[1], way)], role, 1.0)
            yield _text(shape, *_beyond(points[0], points[1], way))
        case _:
            if shape.kind == "arc":
                points = _arc(points[0], points[1], words)
            plain = shape.kind == "line" or "plain" in words
            role = TEXT if role == INK and not plain else role  # an arrow is beside the cells, or over faded ones
            yield from [Path([points], role, width, None, 1.0, dash)] if plain else arrows([points], role, width, dash)
            if shape.text:
                yield _text(shape, *_along(points, words))


def _disc(text: str) -> float:
    """px of the radius of a disc that holds a text."""
    return FONT * max(1.2, len(text) * CHAR) / 1.5


def reach(shape: Shape, at: Projection) -> list[Point]:
    """Corners of what a shape takes, on the page."""
    points = [at(*point) for point in shape.points]
    words = shape.look.split()
    if shape.kind == "brace":
        way = next((SIDES[word] for word in words if word in SIDES), SIDES["right"])
        points.append(_beyond(points[0], points[1], way))
    if shape.kind == "arc":
        points = _arc(points[0], points[1], words)
    if not shape.text or (shape.kind == "text" and len(points) > 1):
        return points
    if shape.kind == "dot":  # only the disc of a long number is larger than its cell
        ((x, y),), r = points, _disc(shape.text)
        return [(x - r, y - r), (x + r, y + r)]
    where = points[0] if shape.kind == "text" else points[-1] if shape.kind == "brace" else _along(points, words)
    line = _text(shape, *where)
    wide = broad(line)
    x0 = line.x - (0 if line.anchor == START else wide if line.anchor == END else wide / 2)
    return [*points, (x0 + wide, line.y + line.size / 2), (x0, line.y - line.size / 2)]


def arrows(lines: Sequence[Sequence[Point]], role: str, width: float, dash: float = 0.0) -> Iterator[Path]:
    """Lines through points, and their heads, whose tips are the last."""
    strokes, heads = [], []
    for line in lines:
        (px, py), (x, y) = line[-2:]
        length = ((x - px) ** 2 + (y - py) ** 2) ** 0.5 or 1.0
        ux, uy = (x - px) / length * HEAD, (y - py) / length * HEAD
        strokes.append([*line[:-1], (x - 0.8 * ux, y - 0.8 * uy)])
        heads.append([(x, y), (x - ux + 0.4 * uy, y - uy - 0.4 * ux), (x - ux - 0.4 * uy, y - uy + 0.4 * ux)])
    yield Path(strokes, role, width, None, 1.0, dash)
    yield Path(heads, role, 0, role)


def _within(shape: Shape, corners: Sequence[Point]) -> Iterator[Line]:
    """A text in the middle of a box, as large as it allows, and the lines below its first where there is room for them."""
    (x0, y0), (x1, y1) = corners[0], corners[1]
    head, *more = shape.text.split("\n")
    wide, tall = x1 - x0 - 4, y1 - y0 - 4
    line = _text(shape, (x0 + x1) / 2, (y0 + y1) / 2)
    more = more if tall > 14 * len(more) + 18 and wide > max([0.0, *(breadth(text, FONT) for text in more)]) else []
    size = min(line.size, wide / max(1.0, broad(line._replace(text=head, size=1))), (tall - 14 * len(more)) / 1.1)
    if size < 8:
        return
    top = line.y - (size + 14 * len(more)) / 2
    yield line._replace(text=head, y=top + size / 2, size=size)
    for n, text in enumerate(more):
        yield Line(text, line.x, top + size + 10 + 14 * n, FONT, line.role, False, 400, line.anchor)


def _text(shape: Shape, x: float, y: float) -> Line:
    words = shape.look.split()
    size = next((px for word, px in SIZES.items() if word in words), float(FONT))
    way = next((word for word in words if word in SIDES), "")
    anchor = START if "start" in words or way == "right" else END if "end" in words or way == "left" else MIDDLE
    if shape.kind == "arc":
        anchor = {"left": END, "right": START}.get(way, MIDDLE)
    role = ALARM if "alarm" in words else MUTED if "muted" in words else INK if "ink" in words else TEXT
    return Line(shape.text, x, y, size, role, "mono" in words, 600 if "bold" in words or "big" in words else 400, anchor)


def _arc(a: Point, b: Point, words: Sequence[str]) -> list[Point]:
    """Points of a flat curve from one to the other, off the line between them; of a plain one close to it."""
    way = next((word for word in words if word in SIDES), "up")
    (x0, y0), (x1, y1) = a, b
    tall = min(BULGE * max(abs(x1 - x0), abs(y1 - y0)), 8.0 if "plain" in words else 1e9)
    dx, dy = SIDES[way]
    ts = [n / 10 for n in range(11)]
    return [(x0 + (x1 - x0) * t + 4 * tall * dx * t * (1 - t), y0 + (y1 - y0) * t + 4 * tall * dy * t * (1 - t)) for t in ts]


def _along(points: Sequence[Point], words: Sequence[str]) -> Point:
    """Where the text of a line stands: beside its middle, beyond what it curves round."""
    (x, y), (dx, dy) = points[len(points) // 2], next((SIDES[word] for word in words if word in SIDES), SIDES["up"])
    return x + dx * 5, y + dy * FONT


def _brace(a: Point, b: Point, way: tuple[int, int]) -> list[Point]:
    (x0, y0), (x1, y1), (dx, dy) = a, b, way
    length = max(abs(x1 - x0), abs(y1 - y0), 1.0)
    turn = min(BRACE, length / 4) / length
    quarter = [n * pi / 12 for n in range(7)]
    half = [(turn * (1 - cos(a)), sin(a)) for a in quarter] + [(0.5 - turn * (1 - sin(a)), 2 - cos(a)) for a in quarter]
    ends = [*half, *((1 - t, out) for t, out in reversed(half))]
    return [(x0 + (x1 - x0) * t + dx * BRACE * out, y0 + (y1 - y0) * t + dy * BRACE * out) for t, out in ends]


def _beyond(a: Point, b: Point, way: tuple[int, int]) -> Point:
    """Where the text of a brace stands."""
    return (a[0] + b[0]) / 2 + way[0] * 3.2 * BRACE, (a[1] + b[1]) / 2 + way[1] * 3.4 * BRACE
