"""How a file of C++ is compiled, as a command or a project says it; reading as compiled takes its flags from it."""

from __future__ import annotations

from typing import NamedTuple


class Build(NamedTuple):
    """Where the flags of a file come from.

    flags: those of nvcc or clang, as one text. folder: of compile_commands.json, or the path of one. through: the unit that
    includes the file. root: the folder of the project that says so, outside of which nothing but system headers is read; None for
    what the user says. instances: the path of what `nm -C` prints of a binary, whose instances of templates are read.
    """

    flags: str | None = None
    folder: str | None = None
    through: str | None = None
    root: str | None = None
    instances: str | None = None
