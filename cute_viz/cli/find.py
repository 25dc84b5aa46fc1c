"""`cute-viz find`: the searches."""

from __future__ import annotations

from cute_viz.cli import LazyGroup

COMMANDS = {
    "swizzle": ("cute_viz.cli.swizzle", "Find the swizzle that removes bank conflicts"),
    "layout": ("cute_viz.cli.solve", "Find the layout that gives a table of offsets or owners"),
}
command = LazyGroup(
    "find", help="Find a swizzle or a layout.", table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
