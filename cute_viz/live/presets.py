"""What a page offers to begin with: the gallery's specs by name, and an example of each question that people come with."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any

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
