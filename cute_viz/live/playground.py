"""The page as a static site: its engine is this package, run by Pyodide in a worker of the browser."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from cute_viz.algebra.ops import OPS
from cute_viz.errors import CuteVizError
from cute_viz.live.page import assets, document, policy, presets, settings
from cute_viz.live.questions import answer

VERSION = "314.0.7"
CDN = f"https://cdn.jsdelivr.net/npm/pyodide@{VERSION}/"
NEEDED = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
PURE = ("svgwrite", "yaml")  # what the engine needs beside the standard library to draw an SVG
FIRST: dict[str, Any] = {"source": "SM80_16x8x16_F32F16F16F32_TN"}
DRAWN = ("compose", "inverse", "divide", "products")  # the operations whose examples are drawn before Python is there
WIDTH = 700  # px of these pictures
_LEFT_OUT = ("cute_viz/cli/", "cute_viz/ext/", "cute_viz/live/assets/", "cute_viz/layouts/verified/")  # of no use in a browser
_DATE = (1980, 1, 1, 0, 0, 0)  # equal content is equal bytes


def site(pyodide: str | None = None, first: dict[str, Any] = FIRST) -> dict[str, bytes]:
    """The files of the site by their paths, relative to any address.

    pyodide: the folder of an unpacked npm package; without one the page names a pinned address of a CDN. first: the state that the
    page begins with.

    Raises: CuteVizError for any other folder, and for a first source that cannot be drawn.
    """
    out = {f"assets/{name}": data for name, data in assets().items()}
    out["engine/cute_viz.zip"] = _zipped(_package())
    out["engine/libraries.zip"] = _zipped(_libraries())
    out |= {f"pyodide/{name}": data for name, data in _unpacked(pyodide).items()} if pyodide is not None else {}
    where = "pyodide/" if pyodide is not None else CDN
    let = dict(line.split("=", 1) for line in first.get("let", "").splitlines())
    begun = answer({"options": {"target": "readme", "width": WIDTH}, **first, "ask": "draw", "let": let})
    if error := begun.get("error"):
        raise CuteVizError(error["message"], hint=error["hint"])
    drawn = _drawn()
    out["engine/drawn.json"] = json.dumps(drawn, separators=(",", ":")).encode()
    archives = ["engine/cute_viz.zip", "engine/libraries.zip"]
    more: dict[str, Any] = {"engine": "pyodide", "pyodide": where, "files": archives, "drawn": "engine/drawn.json", "first": first}
    more["presets"] = [one | _thumb(one) for one in presets()]
    outside = "" if pyodide is not None else CDN
    rules = policy(f"'wasm-unsafe-eval' {outside}".strip(), outside)
    out["index.html"] = document(settings(**more), policy=rules, drawn=begun["svg"]).encode()
    out["service.js"] = _service(out, [] if pyodide is not None else [CDN + name for name in NEEDED])
    return out


def _drawn() -> dict[str, dict[str, Any]]:
    """The answers that stand in for Python until it is there, by source and options, as `engine.js` writes them."""
    out = {}
    examples = [one for one in presets() if one["group"] == "First"]
    operations = [{"source": op.example} for op in OPS.values() if op.module in DRAWN]
    for one in [FIRST, *examples, *operations]:
        source, options = one["source"], one.get("options", {})
        key = json.dumps([source, options], separators=(",", ":"), ensure_ascii=False)
        out[key] = answer({"ask": "draw", "source": source, "options": {"target": "readme", **options, "width": WIDTH}})
    return {key: one for key, one in out.items() if "svg" in one}  # evenly_divides is a truth value


def _thumb(one: dict[str, Any]) -> dict[str, str]:
    """The small picture of an example that the page begins with, so that it is there before Python is."""
    if one["group"] != "First":
        return {}
    asked = {"ask": "compare" if "against" in one else "draw", "options": {}, **one, **one.get("thumb", {})}
    found = answer({**asked, "options": {**asked["options"], "bare": True}})
    return {"svg": found["svg"]} if "svg" in found else {}


def _service(site: dict[str, bytes], others: list[str]) -> bytes:
    """The worker that keeps the site for when there is no network; its name for what it keeps changes with the site."""
    digest = hashlib.sha256(b"".join(hashlib.sha256(name.encode() + site[name]).digest() for name in sorted(site)))
    script = (files("cute_viz.live") / "assets" / "service.js").read_text("utf-8")
    paths = json.dumps(["./", *(path for path in site if path != "index.html"), *others])
    return script.replace("{{version}}", digest.hexdigest()[:16]).replace("{{files}}", paths).encode()


def _package() -> Iterator[tuple[str, bytes]]:
    """This package, and the library of atoms and specs in the place where it is when installed."""
    import cute_viz

    (root,) = cute_viz.__path__
    yield from ((path, data) for path, data in _tree(root, "cute_viz") if not path.startswith(_LEFT_OUT))
    beside = os.path.join(os.path.dirname(root), "layouts")
    if not os.path.isdir(os.path.join(root, "layouts")):
        yield from ((path, data) for path, data in _tree(beside, "cute_viz/layouts") if not path.startswith(_LEFT_OUT))


def _libraries() -> Iterator[tuple[str, bytes]]:
    for name in PURE:
        found = find_spec(name)
        if found is None or not found.submodule_search_locations:
            raise CuteVizError(f"the package {name} is not installed", hint=f"pip install {name}")
        yield from _tree(next(iter(found.submodule_search_locations)), name)


def _tree(root: str, name: str) -> Iterator[tuple[str, bytes]]:
    """The sources and the data of a package, with their paths in an archive."""
    for folder, names, found in os.walk(root):
        names[:] = sorted(name for name in names if name != "__pycache__")
        for file in sorted(found):
            if file.endswith((".py", ".txt", ".hpp", ".json", ".yaml", ".js", ".css", ".html", ".tex", ".dsl", ".gz")):
                path = os.path.join(folder, file)
                with open(path, "rb") as opened:
                    yield f"{name}/{os.path.relpath(path, root).replace(os.sep, '/')}", opened.read()


def _unpacked(folder: str) -> dict[str, bytes]:
    out = {}
    for name in NEEDED:
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            raise CuteVizError(
                f"there is no {name}", name=folder, hint="an unpacked npm package: npm pack pyodide, tar xzf pyodide-*.tgz"
            )
        with open(path, "rb") as file:
            out[name] = file.read()
    return out


def _zipped(entries: Iterator[tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data in entries:
            archive.writestr(zipfile.ZipInfo(path, _DATE), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()
