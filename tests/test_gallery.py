"""The gallery, byte for byte: what its list says is what its files hold."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from cute_viz.cli.render import command

FOLDER = Path(__file__).parent.parent / "gallery"
LINES = [line for line in (FOLDER / "figures.txt").read_text().splitlines() if line and not line.startswith("#")]
FIGURES = {name: args for name, *args in map(shlex.split, LINES)}


def draw(name: str, args: list[str], folder: Path) -> bytes:
    out = folder / name
    result = CliRunner().invoke(command, [*args, "-o", str(out)], catch_exceptions=False)
    assert result.exit_code == 0
    return out.read_bytes()


@pytest.mark.parametrize("name", FIGURES)
def test_committed_bytes(name: str, tmp_path: Path) -> None:
    assert draw(name, FIGURES[name], tmp_path) == (FOLDER / name).read_bytes()


def test_nothing_else_lies_there() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*FIGURES, "figures.txt"}


if __name__ == "__main__":
    for _name, _args in FIGURES.items():
        draw(_name, _args, FOLDER)
