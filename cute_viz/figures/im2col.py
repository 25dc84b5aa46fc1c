"""TMA of a convolution: which pixels of the image a tile is made of, what of them is out of bounds, and how they land.

PTX ISA, "Im2col mode": base pixels run through a box, w first, a traversal stride each; the offset of the filter moves all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from cute_viz.algebra.compose import composition
from cute_viz.algebra.inttuple import leaves, modes, product, show
from cute_viz.algebra.inverse import right_inverse
from cute_viz.algebra.layout import flat_modes
from cute_viz.algebra.measure import get_nonswizzle_portion, get_swizzle_portion, size
from cute_viz.algebra.static import unmarked
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor_map import SWIZZLE_NAMES, Im2col
from cute_viz.algebra.tma import TmaCopy
from cute_viz.errors import FigureError
from cute_viz.figures.machine import of_moved
from cute_viz.figures.memory import CHUNK, LINE, in_chunks, per_chunk
from cute_viz.figures.model import HOLE, Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.figures.paint import HUES
from cute_viz.spelling import count

MOST_LINES = 16
MOST_PLANES = 4  # images, or depths of one, that are drawn
# 8 x 8 pixels of 2 images and 64 channels, a filter of 3 x 3
EXAMPLE = (
    "make_im2col_tma_copy(SM90_TMA_LOAD_IM2COL{}, make_tensor(make_gmem_ptr<half_t>(0), ((8,8,2),64):((64,512,4096),1)), "
    "(8,64):(64,1), (8,64), 1, (0,0), (-2,-2), (0,0), (0,0), (1,1), (0,0), (1,1))"
)


class Pixel(NamedTuple):
    """One element of the tile: the channel, where its pixel stands in (w,h,d), the image, and its row in the tile."""

    channel: int
    place: tuple[int, ...]
    image: int
    row: int


class Issue(NamedTuple):
    """What an instruction of a CTA is given: its number, the CTA, coordinates (c,w,h,d,n), and offsets (s,r,t)."""

    instruction: int
    cta: int
    start: tuple[int, ...]
    offsets: tuple[int, ...]
    element: int


class Corner(NamedTuple):
    """Where a tile begins in the im2col matrix: its pixel, its channel, and the position in the filter (s,r,t)."""

    pixel: int
    channel: int
    filter: tuple[int, ...]


def conv(obj: TmaCopy) -> Im2col:
    """The convolution of a TMA copy that has one."""
    assert obj.im2col is not None
    return obj.im2col


def corner_of(obj: TmaCopy, word: str | None) -> Corner:
    """`coord=`: pixel, channel and the position in the filter, as `pixel,c,s,r`; 0 for those that are not given. Raises:
    FigureError for more numbers than there are, and for positions that the filter does not have."""
    filters = conv(obj).filters
    names = ["pixel", "c", *"srt"[: len(filters)]]
    parts = [part.strip() for part in (word or "0").strip("() ").split(",")]
    if len(parts) > len(names) or not all(part.isdecimal() and len(part) < 12 for part in parts):
        raise FigureError(
            f"`coord={word}` is not a place in the im2col matrix",
            hint=f"{','.join(names)}, for example {','.join('0' * len(names))}",
        )
    numbers = [int(part) for part in parts] + [0] * (len(names) - len(parts))
    if any(x >= extent for x, extent in zip(numbers[2:], filters, strict=True)):
        raise FigureError(f"`coord={word}`: the filter has {show(filters)} positions")
    return Corner(numbers[0], numbers[1], tuple(numbers[2:]))


def outputs(obj: TmaCopy) -> tuple[int, ...]:
    """How many base pixels there are along w, h and d, and images."""
    x, dims, strides = conv(obj), obj.map.global_dim, obj.map.element_strides
    spatial = len(x.lower)
    each = [(dims[1 + n] + x.upper[n] - x.lower[n] - 1) // strides[1 + n] + 1 for n in range(spatial)]
    return (*each, dims[1 + spatial])


def base_pixel(obj: TmaCopy, number: int) -> tuple[tuple[int, ...], int]:
    """The base pixel of a number, (w,h,d) and image, before the offset of the filter; the image is beyond the last one at the
    end."""
    x, place = conv(obj), []
    *extents, _ = outputs(obj)
    for n, extent in enumerate(extents):
        number, step = divmod(number, extent)
        place.append(x.lower[n] + step * obj.map.element_strides[1 + n])
    return tuple(place), number


def offsets(obj: TmaCopy, corner: Corner) -> tuple[int, ...]:
    """What the filter adds to the place of every base pixel. Raises: FigureError for an offset that has no place in an
    instruction (PTX ISA, cp.async.bulk.tensor, im2col offsets)."""
    x = conv(obj)
    moved = tuple(first + step * at for first, step, at in zip(x.moved, x.dilation, corner.filter, strict=True))
    most = (1 << 16 // len(moved)) - 1
    if not all(0 <= step <= most for step in moved):
        raise FigureError(
            f"the filter's offset {show(moved)} cannot be given to an instruction", hint=f"each of its numbers is 0 to {most}"
        )
    return moved


def tile_pixels(obj: TmaCopy, corner: Corner) -> list[Pixel]:
    """Each element of shared memory, before the swizzle, as the pixel and channel that it comes from."""
    where = composition(obj.cta_v_map, right_inverse(get_nonswizzle_portion(obj.smem)))
    inner = next(iter(leaves(modes(obj.gbasis.stride)[0]))).path[0]  # the mode of the tensor that is the channels
    table = [(0, 0)]  # (row, channel), a mode of the map after the other
    for extent, step in flat_modes(where):
        down, across = (0, 0) if isinstance(step, int) else (0, step.value) if step.path[0] == inner else (step.value, 0)
        table = [(row + n * down, channel + n * across) for n in range(extent) for row, channel in table]
    moved, known = offsets(obj, corner), {}
    for row in {row for row, _ in table}:
        place, image = base_pixel(obj, corner.pixel + row)
        known[row] = tuple(a + b for a, b in zip(place, moved, strict=True)), image
    return [Pixel(corner.channel + channel, *known[row], row) for row, channel in table]


def issues(obj: TmaCopy, corner: Corner) -> list[Issue]:
    """What every instruction of every CTA is given, in the order of shared memory."""
    pixels, moved = tile_pixels(obj, corner), offsets(obj, corner)
    per = obj.bits // obj.tensor.bits
    out = []
    for n in range(max(1, len(pixels) // per)):
        for cta in range(obj.ctas):
            element = n * per + cta * (per // obj.ctas)
            pixel = pixels[element]
            base = tuple(a - b for a, b in zip(pixel.place, moved, strict=True))
            out.append(Issue(n, cta, (pixel.channel, *base, pixel.image), moved, element))
    return out


def inside(obj: TmaCopy, pixel: Pixel) -> bool:
    """Whether an element is in the tensor; what is not arrives as zero."""
    coord = (pixel.channel, *pixel.place, pixel.image)
    return all(0 <= x < extent for x, extent in zip(coord, obj.map.global_dim, strict=True))


def im2col(obj: TmaCopy, options: FigureOptions) -> Figure:
    """The figure of a TMA copy of a convolution, of the tile that `coord` places. Raises: FigureError for a place outside the
    matrix; LimitError for more cells than the options allow."""
    check_cells(size(obj.cta_v_map) + product(obj.map.global_dim[1:]), f"the tile {obj.cta_v_map} and its image", options)
    corner = corner_of(obj, options.coord)
    pixels = tile_pixels(obj, corner)
    hue = {row: n % HUES for n, row in enumerate(sorted({pixel.row for pixel in pixels}))}
    planes = _planes(obj, corner, pixels, hue, options)
    memory = _memory(obj, pixels, hue, len(planes))
    lost = sum(not inside(obj, pixel) for pixel in pixels) * obj.tensor.bits // 8
    x = conv(obj)
    extents = " × ".join(str(product(mode)) for mode in modes(obj.cta_v_map.shape))
    told = of_moved("image", lost, len(pixels) * obj.tensor.bits // 8, False)
    title = options.title or told or f"All {len({pixel.row for pixel in pixels})} pixels of the tile lie inside of the image"
    name = f"{obj.op.name}: a tile of {extents} {obj.tensor.pointer.element}, filter {show(x.filters)}"
    caption = f"{name}. p is a pixel, a row of the tile; in memory a cell is 16 bytes: its pixel p, and from channel c on"
    dims = obj.map.global_dim
    corners = zip("whd", x.lower, x.upper, dims[1:], strict=False)
    given = ", ".join(f"{name} {low}..{extent - 1 + up}" for name, low, up, extent in corners)
    instructions = issues(obj, corner)
    letters = ",".join(("c", *"whd"[: len(x.lower)], "n"))
    notes = [
        f"Base pixels run through {given}, w first; the filter's offset {show(offsets(obj, corner))} moves all of them.",
        f"The first instruction is given {letters} = {show(instructions[0].start)} and the offset; "
        f"{count(len(instructions), 'instruction')} of {obj.map.box_dim[1]} pixels × {obj.map.box_dim[0]} channels.",
    ]
    if lost:
        notes.append("Hatched: outside of the tensor, zeros.")
    used = [LegendEntry(h, f"p{h}, p{h + HUES} …") for h in sorted(set(hue.values()))]
    return Figure(
        kind="im2col",
        title=title,
        source=f"{unmarked(obj.tensor.layout)} -> {unmarked(obj.smem)}",
        caption=caption,
        paints=(*(Paint(h) for h in range(HUES)), Paint(-1)),
        legends=(Legend(f"hue: row of the tile, mod {HUES}", tuple(used)),),
        panels=(*planes, memory),
        notes=tuple(notes),
        facts={
            "globalDim, elements": show(obj.map.global_dim[: obj.map.rank]),
            "pixelBoxLowerCorner": show(x.lower),
            "pixelBoxUpperCorner": show(x.upper),
            "channelsPerPixel": obj.map.box_dim[0],
            "pixelsPerColumn": obj.map.box_dim[1],
            "elementStrides": show(obj.map.element_strides),
            "swizzle": SWIZZLE_NAMES[obj.map.swizzle],
            "bytes out of bounds": lost,
        },
    )


def _planes(obj: TmaCopy, corner: Corner, pixels: list[Pixel], hue: dict[int, int], options: FigureOptions) -> list[Panel]:
    """The images that the tile reaches, w across and h down, with the pixels out of bounds around them."""
    held: dict[tuple[int, tuple[int, ...]], dict[tuple[int, int], int]] = {}
    for pixel in pixels:
        w, h, *deeper = (*pixel.place, 0)[: max(2, len(pixel.place))]
        held.setdefault((pixel.image, tuple(deeper)), {}).setdefault((h, w), pixel.row)
    x, dims = conv(obj), obj.map.global_dim
    wide, high = dims[1], dims[2] if len(x.lower) > 1 else 1
    moved = offsets(obj, corner)
    reach = [(min(0, low + at), max(0, up + at)) for low, up, at in zip(x.lower, x.upper, moved, strict=True)]
    (left, right), (top, bottom) = (*reach, (0, 0))[:2] if len(reach) > 1 else (reach[0], (0, 0))
    out = []
    check_cells((high + bottom - top) * (wide + right - left), f"an image of {wide} × {high} and what is around it", options)
    for n, ((image, depth), cells) in enumerate(sorted(held.items())[:MOST_PLANES]):
        there = image < dims[1 + len(x.lower)] and all(0 <= d < dims[3 + k] for k, d in enumerate(depth))
        rows, cols = range(top, high + bottom), range(left, wide + right)
        places = [(h, w) for h in rows for w in cols]
        within = [there and 0 <= h < high and 0 <= w < wide for h, w in places]
        what = f"image {image}" + "".join(f", d {d}" for d in depth) + ("" if there else ": there is none")
        out.append(
            Panel(
                caption=f"{what}: the pixels of the tile",
                labels=tuple(f"p{cells[place]}" if place in cells else "" for place in places),
                paints=tuple(
                    HOLE if not ok else hue[cells[place]] if place in cells else HUES
                    for place, ok in zip(places, within, strict=True)
                ),
                row_ruler=Ruler("h", tuple(map(str, rows)), _edges(rows, high)),
                col_ruler=Ruler("w", tuple(map(str, cols)), _edges(cols, wide)),
                data={"row": tuple(cells.get(place) for place in places)},
                place=(n // 2, n % 2),
                legends=(0,),
            )
        )
    return out


def _edges(lines: range, extent: int) -> tuple[int, ...]:
    """A border where the image begins and ends."""
    return (*(int(0 < n < len(lines) and lines[n] in (0, extent)) for n in range(len(lines))), 0)


def _memory(obj: TmaCopy, pixels: list[Pixel], hue: dict[int, int], planes: int) -> Panel:
    """Shared memory as the tile lands in it."""
    swizzle, bits = get_swizzle_portion(obj.smem), obj.tensor.bits
    cells: dict[int, Pixel] = {}
    for element in range(0, len(pixels), per_chunk(bits)):
        byte = element * bits // 8
        cells[(swizzle(byte) if isinstance(swizzle, Swizzle) else byte) // CHUNK] = pixels[element]
    lines = min(MOST_LINES, max(cells) // (LINE // CHUNK) + 1)
    shown = [
        None if (p := cells.get(n)) is None else (f"p{p.row} c{p.channel}", hue[p.row] if inside(obj, p) else HOLE)
        for n in range(lines * LINE // CHUNK)
    ]
    more = f", the first {MOST_LINES} lines" if max(cells) // (LINE // CHUNK) >= MOST_LINES else ""
    caption = f"shared memory, swizzle {SWIZZLE_NAMES[obj.map.swizzle]}: 16 bytes, 4 banks, per cell{more}"
    return replace(in_chunks(caption, shown, (0, 1) if planes == 1 else ((planes + 1) // 2, 0)), legends=(0,))
