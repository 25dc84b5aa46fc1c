"""The page: its document with its settings, and its modules, styles and presets by name."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from functools import lru_cache
from html import escape
from importlib.resources import files
from typing import Any
from zlib import compressobj

from cute_viz import __version__
from cute_viz.algebra.ops import OPS
from cute_viz.live.question import WAYS
from cute_viz.options import OPTIONS
from cute_viz.renderers.html import CONTROLS, MODULES, READOUT
from cute_viz.renderers.palette import PALETTES
from cute_viz.spec import PACKAGED


@lru_cache(maxsize=1)
def presets() -> list[dict[str, Any]]:
    """Groups of examples: a title, a source, and options."""
    own = json.loads((files("cute_viz.live") / "assets" / "presets.json").read_text("utf-8"))
    return [{"group": group, **one} for group, ones in own.items() for one in ones] + _specs()


def _specs() -> list[dict[str, Any]]:
    from cute_viz.files import read_text
    from cute_viz.spec.yaml import Keys, read_yaml

    out: list[dict[str, Any]] = []
    seen: dict[str, Any] = {}
    for name in dict.fromkeys(PACKAGED.spec_names()):
        path = PACKAGED.spec_file(name) or ""
        if path not in seen:
            seen[path] = read_yaml(read_text(path))
        whole = seen[path]
        specs = whole.get("specs")
        fields = specs.get(name) if isinstance(specs, Keys) else whole
        if isinstance(fields, Keys):
            title = str(fields.get("title") or fields.get("layout") or name.replace("_", " "))
            out.append({"group": str(whole.get("description") or "Kernels"), "title": title, "source": name, "options": {}})
    return out


TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".json": "application/json", ".svg": "image/svg+xml"}
FIELDS = (
    *("view", "tile", "labels", "color_by", "coords", "thread", "warp", "value", "operand", "type", "tensor"),
    *("crop", "fold", "title", "palette", "theme"),
)
MACHINE = (  # of names and encodings that leave it open, which no option of a picture says
    ("arch", "target GPU, where the name is ambiguous", "gfx942"),
    ("wave", "wave size", "64"),
    ("shape", "the shape of the tensor that an encoding of Triton is for", "64x64"),
    ("bits", "the width of its elements", "16"),
)
POLICY = (
    "default-src 'none'; script-src 'self'{scripts}; worker-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; "
    "connect-src 'self'{sources}; base-uri 'none'; form-action 'none'"
)


def policy(scripts: str = "", sources: str = "") -> str:
    """The page's Content-Security-Policy: no inline script, nothing from anywhere else but what is named."""
    return POLICY.format(scripts=f" {scripts}" if scripts else "", sources=f" {sources}" if sources else "")


@lru_cache(maxsize=1)
def assets() -> dict[str, bytes]:
    """Every module and style of the page by its file name, those that it shares with the HTML of `render` included."""
    out = {}
    for package, names in (("cute_viz.renderers", (*MODULES, "explore.css")), ("cute_viz.live", None)):
        folder = files(package) / "assets"
        for file in folder.iterdir():
            if (names is None or file.name in names) and file.name not in ("page.html", "presets.json", "service.js"):
                out[file.name] = file.read_bytes()
    return out


def settings(**more: Any) -> dict[str, Any]:
    """The settings of the page: the options, the ways to copy, the presets, the version, and `more`."""
    fields = []
    for name in FIELDS:
        option = OPTIONS[name]
        choices = tuple(PALETTES) if name == "palette" else option.choices
        fields.append({"name": name, "holds": option.holds, "choices": choices, "meaning": option.meaning, "like": option.metavar})
    fields += [{"name": name, "holds": "text", "choices": (), "meaning": words, "like": like} for name, words, like in MACHINE]
    known = {"version": __version__, "fields": fields, "ways": list(WAYS), "presets": presets()}
    return {**known, "operations": [(op.name, op.signature, op.summary, op.example) for op in OPS.values()], **more}


def document(settings: dict[str, Any], assets: str = "assets/", *, policy: str = "", drawn: str = "") -> str:
    """The page's HTML.

    assets: where its modules lie, seen from the page. policy: for a page that comes from a server which sends none.
    drawn: an SVG that is shown until the engine answers.
    """
    text = (files("cute_viz.live") / "assets" / "page.html").read_text("utf-8")
    data = json.dumps(settings, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")
    meta = f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">' if policy else ""
    parts = (
        ("{{policy}}", meta),
        ("{{assets}}", escape(assets)),
        ("{{controls}}", CONTROLS),
        ("{{readout}}", READOUT),
        ("{{drawn}}", drawn),
    )
    for name, value in parts:
        text = text.replace(name, value)
    return text.replace("{{settings}}", data)  # the last: what it holds is replaced by nothing


def fragment(state: dict[str, Any]) -> str:
    """A state of the page as the fragment of its address, as its own `state.js` packs it."""
    deflate = compressobj(9, wbits=-15)
    data = deflate.compress(json.dumps(state, separators=(",", ":"), ensure_ascii=False).encode()) + deflate.flush()
    return "#z" + urlsafe_b64encode(data).decode().rstrip("=")
