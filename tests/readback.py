"""Pages read back from what the writers wrote: SVG and our own TikZ, as rectangles, texts, lines and outlines in px.

Each reader knows the syntax of its format and nothing of the layout.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.etree import ElementTree

NS = "{http://www.w3.org/2000/svg}"
HOLE = "hole"


@dataclass
class Drawn:
    """What a page shows, whatever its format.

    fills: (colour or HOLE, left, top, right, bottom) of runs of cells. texts: (text, x, y of the middle, size, anchor, colour).
    lines: (x0, y0, x1, y1, width). boxes: (x, y, width, height). ears: (x, y). swatches: (colour, x, y).
    """

    width: float = 0
    height: float = 0
    fills: list[tuple] = field(default_factory=list)
    texts: list[tuple] = field(default_factory=list)
    lines: list[tuple] = field(default_factory=list)
    boxes: list[tuple] = field(default_factory=list)
    ears: list[tuple] = field(default_factory=list)
    swatches: list[tuple] = field(default_factory=list)

    def colour(self, x: float, y: float) -> str | None:
        """The colour of the cell around a point."""
        return next((fill for fill, x0, y0, x1, y1 in self.fills if x0 <= x < x1 and y0 <= y < y1), None)


def svg(text: str) -> Drawn:
    """What an SVG shows."""
    return _svg(ElementTree.fromstring(text))


def html(text: str) -> Drawn:
    """What the SVG of a page of HTML shows."""
    return svg(text[text.index("<svg") : text.index("</svg>") + 6])


def _svg(root: ElementTree.Element) -> Drawn:
    out = Drawn(float(root.attrib["width"]), float(root.attrib["height"]))
    for element in root:
        tag, kind, at = element.tag.removeprefix(NS), (element.attrib.get("class") or "").partition(" ")[0], element.attrib
        if tag == "path" and kind in ("cell", "hole"):
            fill = HOLE if kind == "hole" else at["fill"]
            for x, y, w, h in _floats(r"M(\S+) ([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z", at["d"]):
                out.fills.append((fill, x, y, x + w, y + h))
        elif tag == "path" and kind in ("l", "tile"):
            width = float(at["stroke-width"])
            out.lines += [(x, y, x1, y, width) for x, y, x1 in _floats(r"M(\S+) ([\d.]+)H([\d.]+)", at["d"])]
            out.lines += [(x, y, x, y1, width) for x, y, y1 in _floats(r"M(\S+) ([\d.]+)V([\d.]+)", at["d"])]
        elif tag == "path" and kind == "b":
            out.lines += [
                (*corners, float(at["stroke-width"])) for corners in _floats(r"M(\S+) ([\d.]+)H([\d.]+)V([\d.]+)H\S+Z", at["d"])
            ]
        elif tag == "path" and kind == "box":
            pattern = r"M(\S+) (\S+) h(\S+?)a(\S+) .*?v(\S+?)a.*?z".replace(" h", "h")
            out.boxes += [(x - r, y, w + 2 * r, h + 2 * r) for x, y, w, r, h in _floats(pattern, at["d"])]
        elif tag == "path" and kind == "i":  # the corner of each is its second point
            out.ears += list(_floats(r"M\S+ \S+?L(\S+) ([\d.]+)L", at["d"]))
        elif tag == "rect" and kind == "s":
            out.swatches.append((at["fill"], float(at["x"]), float(at["y"])))
        elif tag in ("g", "text"):
            for item in element.iter(f"{NS}text"):
                found = {**at, **item.attrib}
                size = float(found["font-size"])
                middle = float(item.attrib["y"]) - 0.35 * size
                out.texts.append(
                    (item.text, float(item.attrib["x"]), middle, size, found.get("text-anchor", "start"), found["fill"])
                )
    return out


def tikz(text: str) -> Drawn:
    """What our own TikZ shows."""
    colours = {name: f"#{code.lower()}" for name, code in re.findall(r"\\definecolor\{(\w+)\}\{HTML\}\{(\w+)\}", text)}
    colours |= {"black": "#000000", "white": "#ffffff"}
    holes = next((name for name in colours if name == "cvhole"), "")
    out = Drawn()
    ((out.width, out.height),) = _floats(r"\\useasboundingbox \(0,0\) rectangle \(([\d.]+),([\d.]+)\);\n", text)
    block = r"\\node\[cvg[^]]*\] at \((\S+),(\S+)\) \{\\color\{(\w+)\}(?:\\cvfont\{(\S+)\}\{[^}]*\})?"
    block += r"\\cvgrid\{(\S+)\}\{(\S+)\}\\vbox\{%\n"
    for match in re.finditer(block + r"(.*?)\}\};\n", text, re.DOTALL):
        x, y, size, w, h = (float(match[n] or 0) for n in (1, 2, 4, 5, 6))
        row = 0
        for line in match[7].splitlines():
            if gap := re.fullmatch(r"\\kern(\d+)\\cvh", line):
                row += int(gap[1])
            elif rules := re.fullmatch(r"\\hbox\{\\cvr\{(\d+)\}(.*)\}", line):
                col = 0
                for skipped, run in re.findall(r"\\kern(\d+)\\cvw|\\vrule width(\d+)\\cvw", rules[2]):
                    if run:
                        fill = HOLE if match[3] == holes else colours[match[3]]
                        place = x + col * w, y + row * h, x + (col + int(run)) * w, y + (row + int(rules[1])) * h
                        out.fills.append((fill, *place))
                    col += int(skipped or run)
                row += int(rules[1])
            else:
                labels = re.fullmatch(r"\\cvl\{(.*)\}", line)
                assert labels, line
                col = 0
                for skipped, label in re.findall(r"\\kern(\d+)\\cvw|\\cvc\{((?:[^{}]|\{[^{}]*\})*)\}", labels[1]):
                    if label:
                        middle = y + (row + 1) * h - 0.33 * size / 0.75
                        out.texts.append((plain(label), x + (col + 0.5) * w, middle, size / 0.75, "middle", colours[match[3]]))
                    col += int(skipped or 1)
                row += 1
    for colour, size, body in re.findall(
        r"\\node\[cvo\] at \(0,0\) \{\\color\{(\w+)\}\\cvfont\{(\S+?)\}\{[^}]*\}%\n(.*?)\};\n", text, re.S
    ):
        px = float(size) / 0.75
        for kind, x, y, words in re.findall(r"^\\cv([sme])\{(\S+?)\}\{(\S+?)\}\{(.*)\}%$", body, re.M):
            anchor = {"s": "start", "m": "middle", "e": "end"}[kind]
            out.texts.append((plain(words), float(x), float(y) - 0.33 * px, px, anchor, colours[colour]))
    for width, body in re.findall(r"\\draw\[(?:black|cvtile|cvb),line width=([\d.]+)pt[^]]*\] (.*);\n", text):
        for x0, y0, x1, y1 in _floats(r"\((\S+?),(\S+?)\)(?:--| rectangle )\((\S+?),(\S+?)\)", body):
            out.lines.append((x0, y0, x1, y1, float(width) / 0.75))
    for shape, places in re.findall(r"\\node\[cvo\] at \(0,0\) \{\\cvstamp\{([^\n]*)\}%\n(.*?)\};\n", text, re.S):
        corners = list(_floats(r"\\cvz\{(\S+?)\}\{(\S+?)\}%", places))
        for x, y, across, dx, down, dy in _floats(r"\\cvy" + r"\{(\S+?)\}" * 6 + "%", places):
            corners += [(x + i * dx, y + j * dy) for j in range(int(down)) for i in range(int(across))]
        if size := re.search(r"\(0,0\) rectangle \((\S+),(\S+)\)", shape):
            out.boxes += [(x, y, float(size[1]), float(size[2])) for x, y in corners]
    for body in re.findall(r"\\path\[fill=cvi,opacity=[^]]*\] (.*);\n", text):
        out.ears += list(_floats(r"\([^)]*\)--\((\S+?),(\S+?)\)--\([^)]*\)--cycle", body))
    for fill, x, y in re.findall(r"\\path\[draw=cvb,fill=(\w+)[^]]*\] \((\S+?),(\S+?)\)", text):
        out.swatches.append((colours[fill], float(x), float(y)))
    return out


def plain(tex: str) -> str:
    """Escaped words as they read."""
    for sign, words in (("×", "$\\times$"), ("→", "$\\rightarrow$"), ("↓", "$\\downarrow$"), ("·", "$\\cdot$"), ("…", "\\ldots{}")):
        tex = tex.replace(words, sign)
    for sign in "<>|":
        tex = tex.replace(f"${sign}$", sign)
    return re.sub(r"\\([{}$&#_%])", r"\1", tex)


def _floats(pattern: str, text: str) -> list[tuple[float, ...]]:
    return [tuple(map(float, found)) for found in re.findall(pattern, text)]
