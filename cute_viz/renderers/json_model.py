"""JSON: the picture model itself, versioned; `cute-viz render figure.json` draws it again."""

from __future__ import annotations

import json

from cute_viz.figures.model import Figure, to_dict
from cute_viz.renderers import Options


def render(figure: Figure, options: Options) -> str:
    """The figure as one JSON object, keys in the model's order, a line for each member of the figure."""
    items = to_dict(figure).items()
    rows = [f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'), default=_plain)}" for key, value in items]
    return "{" + ",\n ".join(rows) + "}\n"


def _plain(value: object) -> object:
    """The paints of an image, which are bytes, as a list; the halves of a recast coordinate, 1/2, as text."""
    return list(value) if isinstance(value, bytes) else str(value)
