"""`svgwrite`, imported without what a picture never needs: its HTTP client and its validators take half of its time.

Both are put off until somebody calls them, so that svgwrite does all that it can do, in this process too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

LATER = {
    "urllib.request": ("urlopen",),  # svgwrite.container, for fonts from the network
    "svgwrite.data.svgparser": ("is_valid_transferlist", "is_valid_pathdata", "is_valid_animation_timing"),  # debug=True
}


def _later(module: str, name: str) -> Callable[..., Any]:
    """A function that imports the real one when it is called."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(import_module(module), name)(*args, **kwargs)

    return call


def _load() -> Any:
    if "svgwrite" in sys.modules:
        return sys.modules["svgwrite"]
    stand_ins = {}
    for module, names in LATER.items():
        if module not in sys.modules:
            stand_ins[module] = sys.modules[module] = ModuleType(module)
            for name in names:
                setattr(stand_ins[module], name, _later(module, name))
    try:
        return import_module("svgwrite")
    finally:
        for module, stand_in in stand_ins.items():
            if sys.modules.get(module) is stand_in:
                del sys.modules[module]


svgwrite = _load()
