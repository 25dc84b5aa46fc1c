"""A moving SVG of wavefronts: 32 lanes above, 32 banks below, joined where a wavefront serves them; accesses side by side. Above
swizzled lanes, the bits of their byte addresses that are XORed.

Each wavefront is a group that a style sheet shows for its time, so that an image of a README moves, and no script is needed. Who
prefers less motion, and a viewer without animations, sees the first wavefront of each access.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Paint, Panel
from cute_viz.renderers import Options
from cute_viz.renderers.colours import DARK, LIGHT, page_palette
from cute_viz.renderers.geometry import PROSE, SANS, number, wrap
from cute_viz.renderers.letters import markup

LANES = BANKS = 32
CELL, GAP = 10.0, 30.0  # px: of a lane or bank, and between accesses
MARGIN, HIGH = 16.0, 110.0  # px: around all, and from the lanes down to the banks
SECONDS = 0.45  # that a wavefront is shown
REST = 4  # wavefronts' time at the end, to see that all is done
DONE = "#9aa4ae"  # of a lane that was served


def render(figure: Figure, options: Options) -> str:
    """The film of a figure of wavefronts (`figures.phases`), as SVG.

    Raises: FigureError for any other figure.

    >>> from cute_viz.analysis.banks import phases
    >>> from cute_viz.figures.phases import strip
    >>> drawn = strip("Two words of a bank", "", [("plain", phases([0, 128] + [0] * 30, "ld.32"))], 1)
    >>> render(drawn, Options()).count('class="f')  # two wavefronts, and that all is done
    3
    """
    panels = [panel for panel in figure.panels if "lanes" in panel.data]
    if figure.kind != "phases" or not panels:
        raise FigureError("a film shows the wavefronts of an access of shared memory")
    colours = page_palette(options)
    fills = {name: colours.fill(Paint(hue)) for name, hue in (("first", 0), ("later", 1), ("xor", 3))}
    wide = BANKS * CELL
    width = 2 * MARGIN + len(panels) * wide + (len(panels) - 1) * GAP
    lines = wrap(figure.title, width - 2 * MARGIN, 14 * 0.64)
    top = MARGIN + 20 * len(lines)
    heads = [wrap(panel.caption, wide, 11 * PROSE, commas=True) for panel in panels]
    body = top + 15 * max(map(len, heads)) + 24 + max(_bits_high(panel) for panel in panels)
    height = body + CELL * 2 + HIGH + 40
    frames = max(panel.rows for panel in panels) + REST
    out = [_text(MARGIN, MARGIN + 20 * n + 8, line, 14, bold=True) for n, line in enumerate(lines)]
    for n, panel in enumerate(panels):
        x = MARGIN + n * (wide + GAP)
        out += [_text(x, top + 15 * k + 10, line, 11) for k, line in enumerate(heads[n])]
        out.append(_stage(panel, x, body, fills, frames))
    lengths = sorted({1, *(frames - panel.rows for panel in panels)})
    size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
    alt = markup(f"{figure.title}. {figure.description}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><title>{markup(figure.title)}</title><desc>{alt}</desc>'
        f"<style>{_style(options.theme, frames, lengths)}</style>"
        f'<rect class="p" width="{number(width)}" height="{number(height)}"/>{"".join(out)}</svg>\n'
    )


def _style(theme: str, frames: int, lengths: list[int]) -> str:
    """Colours, dark ones where they are wanted, and how a group is shown for each number of wavefronts' times."""

    def rules(colours: dict[str, str]) -> str:
        return (
            f".p{{fill:{colours['p']}}}.t{{fill:{colours['t']}}}.m{{fill:{colours['m']}}}"
            f".o{{fill:none;stroke:{colours['m']};stroke-width:.8}}.w{{fill:none;stroke:{colours['m']};stroke-width:1}}"
        )

    dark = rules(DARK)
    shown = rules(LIGHT) if theme in ("light", "print", "auto") else dark
    also = f"@media(prefers-color-scheme:dark){{{dark}}}" if theme == "auto" else ""
    time = number(frames * SECONDS)
    moves = "".join(f"@keyframes w{n}{{0%{{visibility:visible}}{100 * n / frames:.4f}%{{visibility:hidden}}}}" for n in lengths)
    return (
        f"{shown}{also}.f{{visibility:hidden;animation:w1 {time}s step-end infinite}}.f0{{visibility:visible}}{moves}"
        "@media(prefers-reduced-motion:reduce){.f{animation:none!important}}"
    )


def _bits(panel: Panel) -> list[int]:
    """The bits of a byte address that a swizzle changes for any lane, the highest first.

    >>> from cute_viz.figures.model import Ruler
    >>> line = Ruler("", ("0",), (0, 0))
    >>> _bits(Panel("", 1, 1, ("",), (0,), line, line, data={"xor": ((16, 96),)}))
    [6, 5, 4]
    """
    every = 0
    for x in (x for mine in panel.data.get("xor", ()) for x in mine):
        every |= x
    return [bit for bit in reversed(range(every.bit_length())) if every >> bit & 1]


def _bits_high(panel: Panel) -> float:
    """px of the rows of bits, with their heading."""
    return len(_bits(panel)) * CELL + 28 if _bits(panel) else 0.0


def _stage(panel: Panel, x: float, y: float, fills: dict[str, str], frames: int) -> str:
    """One access: lanes, banks, and a group for each wavefront; the last one stays until the others are done."""
    low = y + CELL + HIGH
    each = BANKS // panel.cols
    lanes = max(LANES, 1 + max(lane for mine in panel.data["lanes"] for lane in mine))  # 64 of a wave
    side = BANKS * CELL / lanes
    out = [_text(x + n * side, y - 6, str(n), 8) for n in range(0, lanes, 8)]
    out += [_text(x + n * CELL, low + CELL + 8, str(n), 8) for n in range(0, BANKS, 8)]
    out += [_text(x + BANKS * CELL - 30, y - 6, "lanes", 8), _text(x + BANKS * CELL - 32, low + CELL + 8, "banks", 8)]
    done: set[int] = set()
    bits, above = _bits(panel), y - 18 - CELL * len(_bits(panel))
    if bits:
        out.append(_text(x, above - 5, "bits of the byte address that the swizzle flips, for each lane", 8))
        out += [_text(x - 25, above + n * CELL + 8, f"bit {bit}", 8) for n, bit in enumerate(bits)]
    flips: dict[int, int] = {}
    for served_here, mine in zip(panel.data["lanes"], panel.data.get("xor", ()), strict=False):
        flips.update(zip(served_here, mine, strict=True))
    for row in range(panel.rows):
        served = {(lane, c) for c in range(panel.cols) for lane in panel.data["lanes"][row * panel.cols + c]}
        first = panel.row_ruler.labels[row].endswith(".0")
        now = sorted({lane for lane, _ in served})
        banks = sorted({c * each + k for _, c in served for k in range(each)})
        lines = "".join(
            f"M{number(x + (lane + 0.5) * side)} {number(y + CELL)}L{number(x + (c + 0.5) * each * CELL)} {number(low)}"
            for lane, c in sorted(served)
        )
        fill = fills["first" if first else "later"]
        parts = [f'<path class="w" d="{lines}"/>', _cells(now, x, y, fill, side), _cells(banks, x, low, fill)]
        parts.append(_cells(sorted(done - set(now)), x, y, DONE, side))
        phase = panel.row_ruler.labels[row].partition(".")[0]
        for n, bit in enumerate(bits):
            parts.append(_cells([lane for lane in now if flips[lane] >> bit & 1], x, above + n * CELL, fills["xor"], side))
        words = f"wavefront {row + 1} of {panel.rows}, phase {phase}: {len(banks)} of {BANKS} banks busy"
        parts.append(_text(x, low + CELL + 24, words, 11))
        out.append(_frame("".join(parts), row))
        done |= set(now)
    rest = _cells(sorted(done), x, y, DONE, side) + _text(x, low + CELL + 24, f"done after {panel.rows}", 11, bold=True)
    out.append(_frame(rest, panel.rows, frames - panel.rows))
    rows = "".join(_boxes(range(lanes), x, above + n * CELL, side) for n in range(len(bits)))
    out.append(f'<path class="o" d="{rows}{_boxes(range(lanes), x, y, side)}{_boxes(range(BANKS), x, low)}"/>')
    return "".join(out)


def _frame(inside: str, at: int, times: int = 1) -> str:
    """What is seen from one wavefront on for the time of so many; the first also where nothing moves."""
    more = f";animation-name:w{times}" if times > 1 else ""
    return f'<g class="{"f" if at else "f f0"}" style="animation-delay:{number(at * SECONDS)}s{more}">{inside}</g>'


def _boxes(places: Iterable[int], x: float, y: float, wide: float = CELL) -> str:
    across, down = number(wide), number(CELL)
    return "".join(f"M{number(x + n * wide)} {number(y)}h{across}v{down}h-{across}z" for n in places)


def _cells(places: Sequence[int], x: float, y: float, fill: str, wide: float = CELL) -> str:
    return f'<path fill="{fill}" d="{_boxes(places, x, y, wide)}"/>' if places else ""


def _text(x: float, y: float, text: str, size: float, bold: bool = False) -> str:
    weight = ' font-weight="700"' if bold else ""
    role = "t" if bold else "m"
    return (
        f'<text class="{role}" x="{number(x)}" y="{number(y)}" font-family="{SANS}" font-size="{number(size)}"{weight}>'
        f"{markup(text)}</text>"
    )
