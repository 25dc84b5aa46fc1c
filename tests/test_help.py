"""The help of every command, the names of commands, and what a wrong choice is told."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from cute_viz.cli import COMMANDS, OLD, commands
from tests.commands import fails, run

EVERY = [words for words, _, _ in commands()]


@pytest.mark.parametrize("words", [*EVERY, *OLD])
def test_help_fits_a_page_and_says_all_options(words: str) -> None:
    """At most 60 lines of 80 columns, every option once, headings where there are many options."""
    text = run(*words.split(), "--help").stdout.decode()
    lines = text.splitlines()
    assert len(lines) <= 60, (
        f"{len(lines)} lines: shorten the help of options (cute_viz/options/options.txt) or the examples (cute_viz/cli/)"
    )
    assert max(map(len, lines)) <= 80
    command = next((found for name, found, _ in commands() if name == words), None)
    shown = re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)(?=[ /])", re.sub(r"(?s)\nExample.*|^.*?\n\n(?=\w+[ \w]*:\n)", "\n", text))
    assert len(shown) == len(set(shown)) > 0
    if command is not None:
        options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
        assert len(shown) == len(options) + 1  # and --help
        assert ("\nKernel:\n" in text) == (len(options) > 10 and "--let" in shown)


def test_a_wrong_choice_is_told_the_nearest() -> None:
    """Of options, commands and subcommands."""
    for argv, hint in (
        (["render", "4", "--view", "gird"], "did you mean grid?"),
        (["render", "4", "--for", "colum"], "for --for; did you mean column?"),
        (["render", "4", "--theme", "blue"], "one of auto, light, dark, print"),
        (["find", "swizle"], "did you mean 'swizzle'?"),
        (["find", "atom"], "one of swizzle, layout"),
        (["analize", "x"], "did you mean 'analyze'?"),
    ):
        assert hint in fails(run(*argv), 2)


SPECS = str(Path(__file__).parent.parent / "layouts" / "specs" / "ampere_gemm.yaml")


def test_old_names_work_and_are_silent() -> None:
    """What was said before is still understood, with the same bytes and no word about it; help shows the new name only."""
    swizzle = ["32x32", "--type", "f32", "--read", "column", "--write", "rows"]
    for old, new in (
        (["solve", "0 1; 2 3"], ["find", "layout", "0 1; 2 3"]),
        (["swizzle", *swizzle], ["find", "swizzle", *swizzle]),
        (["fmt", "(_4,_8):(_8,_1)", "--as", "cpp"], ["eval", "(_4,_8):(_8,_1)", "--as", "cpp"]),
        (["fmt", "cute.make_layout((4,8), stride=(8,1))", "--as", "cpp"], ["eval", "(_4,_8):(_8,_1)", "--as", "cpp"]),
        (["check", "(4,8):(8,1)", "--emit", "ptx"], ["verify", "(4,8):(8,1)", "--emit", "ptx"]),
        (["--limit", "nesting=90", "fmt", "(4,8)"], ["--limit=nesting=90", "eval", "(4,8)", "--as", "cute"]),
        (["check-spec", "--schema"], ["gallery", "--schema"]),
        (["check-spec", SPECS], ["gallery", "--validate", SPECS]),
        (["render", "(4,8)", "--target", "readme", "-T", "svg"], ["render", "(4,8)", "--for", "readme", "-T", "svg"]),
    ):
        was, now = run(*old), run(*new)
        assert (was.returncode, was.stdout, was.stderr) == (0, now.stdout, now.stderr)
    assert "Option '--static' requires an argument" in fails(run("playground"), 2)
    text = run("--help").stdout.decode()
    assert all(re.search(rf"(?m)^  {name} ", text) for name in COMMANDS)
    assert not [name for name in OLD if re.search(rf"(?m)^  {name} ", text)]
    assert "--target" not in run("render", "--help").stdout.decode()
