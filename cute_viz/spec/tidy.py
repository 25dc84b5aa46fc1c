"""A spec file in block style, its fields in the order of the schema."""

from __future__ import annotations

from cute_viz.files import read_text
from cute_viz.spec import Library
from cute_viz.spec.build import read_specs
from cute_viz.spec.schema import COMMON, FIGURE, KINDS
from cute_viz.spec.yaml import read_yaml, write_yaml


def tidied(path: str, library: Library) -> tuple[str, int]:
    """The text of a spec file, tidied, and the first line whose comment is lost, 0 for none; the comment at the top is kept.
    Raises: CuteVizError where the file is not a spec file, with the place."""
    text = read_text(path)
    read_specs(text, path, library)
    order = ["title", "description", "source", "let", "specs", *KINDS]
    order += [field.name for kind in KINDS.values() for field in kind.fields]
    order += [field.name for field in (*COMMON, *FIGURE)]
    lines = text.splitlines()
    top = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
    lost = next((n + 1 for n, line in enumerate(lines) if n >= top and line.lstrip().startswith("#")), 0)
    head = "".join(line + "\n" for line in lines[:top])
    return head + write_yaml(read_yaml(text, path), tuple(dict.fromkeys(order))), lost
