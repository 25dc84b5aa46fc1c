"""Completion in PowerShell, which click lacks."""

from __future__ import annotations

import os

from click.shell_completion import CompletionItem, ShellComplete, add_completion_class

from cute_viz.records import beside


@add_completion_class
class PowerShellComplete(ShellComplete):
    """What the script and the tool say to each other: a word of the line in each line of COMP_WORDS; back, a completion a line."""

    name = "powershell"
    source_template = beside(__file__, "completion.ps1")

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is typed, without the name of the tool, and what is there of that one."""
        return os.environ.get("COMP_WORDS", "").split("\n")[1:], os.environ.get("COMP_CWORD", "").strip("'\"")

    def format_completion(self, item: CompletionItem) -> str:
        """A completion as its type, its value, and a help that PowerShell demands not to be empty."""
        shown = " ".join((item.help or str(item.value)).split())
        return f"{item.type}\t{item.value}\t{shown or ' '}"
