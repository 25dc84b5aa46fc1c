"""`svgwrite`, imported without what a picture never needs: its HTTP client and its validators take half of its time.

They are put off until somebody calls them, so that svgwrite does all that it can do, in this process too.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

LATER = {
    "urllib.request": ("urlopen",),  # svgwrite.container, for fonts from the network
    "svgwrite.validator2": ("get_validator",),  # debug=True
}


class _Called:
    """What a function of a module gives, which is imported and called when an attribute of that is asked for."""

    def __init__(self, module: str, name: str, *args: Any, **named: Any) -> None:
        self._call = module, name, args, named

    def __getattr__(self, attribute: str) -> Any:
        module, name, args, named = self._call
        return getattr(getattr(import_module(module), name)(*args, **named), attribute)


def _load() -> Any:
    if "svgwrite" in sys.modules:
        return sys.modules["svgwrite"]
    stand_ins = {}
    for module, names in LATER.items():
        if module not in sys.modules:
            stand_ins[module] = sys.modules[module] = ModuleType(module)
            for name in names:
                setattr(stand_ins[module], name, partial(_Called, module, name))
    try:
        return import_module("svgwrite")
    finally:
        for module, stand_in in stand_ins.items():
            if sys.modules.get(module) is stand_in:
                del sys.modules[module]


svgwrite = _load()
