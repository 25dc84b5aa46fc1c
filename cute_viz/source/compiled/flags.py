"""The flags of nvcc or clang, as a build has them -> those that libclang parses a unit of CUDA with."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cute_viz.errors import CuteVizError

HERE = os.path.dirname(os.path.abspath(__file__))  # of the headers that stand for a compiler's
# Flags with a value of their own behind them, by what is made of it; other words that begin with a dash are left out.
_KEPT = {
    **dict.fromkeys(("-I", "--include-path"), "-I"),
    **dict.fromkeys(("-isystem", "--system-include"), "-isystem"),
    **dict.fromkeys(("-iquote", "-idirafter"), "-I"),
    **dict.fromkeys(("-D", "--define-macro"), "-D"),
    **dict.fromkeys(("-U", "--undefine-macro"), "-U"),
    **dict.fromkeys(("-include", "--pre-include"), "-include"),
    **dict.fromkeys(("-std", "--std"), "-std="),
}
_ARCH = (
    *("-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code", "--cuda-gpu-arch", "--offload-arch"),
    *("-march", "-mtune"),
)
# Flags whose value stands in the next word, and says nothing to a parser.
_SKIPPED = {
    *("-o", "--output-file", "-Xcompiler", "--compiler-options", "-Xlinker", "--linker-options", "-Xptxas", "--ptxas-options"),
    *("-Xnvlink", "-Xarchive", "-Xcudafe", "-Xclang", "-ccbin", "--compiler-bindir", "-MF", "-MT", "-MQ", "-L", "--library-path"),
    *("-l", "--library", "-t", "--threads", "-x", "--x", "-odir", "--output-directory", "-maxrregcount", "--maxrregcount"),
    *("-diag-suppress", "--diag-suppress", "-split-compile", "--split-compile", "-cudart", "--cudart", "--target", "-target"),
    *("-dlink-time-opt", "-default-stream", "--default-stream", "-rdc", "--relocatable-device-code"),
}
_PATHS = ("-I", "-isystem", "-include")
_NUMBER = re.compile(r"(?:sm|compute|lto)_?(\d{2,3})([af]?)")
_MOST = 4096  # words of a command


@dataclass(frozen=True, slots=True)
class Flags:
    """What a unit is parsed with.

    words: include folders, macros and the standard, as clang has them, paths made absolute. arch: the newest architecture that
    the build asks for, `90a`, or "" of none. instances: functions of templates as demangled, `void f<4>(int)`.
    """

    words: tuple[str, ...] = ()
    arch: str = ""
    instances: tuple[str, ...] = field(default=(), repr=False)

    @property
    def folders(self) -> tuple[str, ...]:
        """The include folders."""
        return self._values("-I", "-isystem")

    @property
    def macros(self) -> tuple[str, ...]:
        """The names that are defined, or are not."""
        return tuple(re.split(r"[=(]", name)[0] for name in self._values("-D", "-U"))

    def _values(self, *names: str) -> tuple[str, ...]:
        return tuple(value for word, value in zip(self.words, self.words[1:], strict=False) if word in names)


def flags(text: str | Iterable[str], folder: str, root: str | None = None) -> Flags:
    """The flags of a text or of a list of words, relative to a folder; `@file` stands for the words of a file, held in a root.
    Raises: CuteVizError for a quote that is not closed, a file that is not there, a flag whose value is missing."""
    out: list[str] = []
    archs: list[str] = []
    words = _words(text, folder, root)
    for word in words:
        name, value = _split(word)
        if name in _KEPT or name in _ARCH or name in _SKIPPED:
            value = next(words, None) if value is None else value
            if value is None:
                raise CuteVizError(f"the flag {name} has no value", hint="quote the flags as one word: `flags=-Iinclude -DX=1`")
        if name in _ARCH:
            archs += ["".join(found) for found in _NUMBER.findall(value or "")]
        elif name in _KEPT and value is not None:
            flag = _KEPT[name]
            whole = os.path.normpath(os.path.join(folder, value)) if flag in _PATHS else value
            out += [flag + whole] if flag == "-std=" else [flag, whole]
    return Flags(tuple(out), max(archs, key=lambda arch: (int(arch.rstrip("af")), arch[-1:] == "a"), default=""))


def _split(word: str) -> tuple[str, str | None]:
    """A flag and its value, where it stands in the same word: `-Idir`, `-DN=4`, `--std=c++17`."""
    for short in ("-I", "-D", "-U", "-L", "-l"):
        if word.startswith(short) and len(word) > 2 and not word.startswith("--"):
            return short, word[2:].lstrip("=") if short == "-I" else word[2:]
    for flag in ("-isystem", "-iquote", "-idirafter"):
        if word.startswith(flag) and len(word) > len(flag):
            return flag, word[len(flag) :].lstrip("=")
    name, equals, value = word.partition("=")
    return name, value if equals else None


def _words(text: str | Iterable[str], folder: str, root: str | None, deep: int = 0) -> Iterator[str]:
    """The words of a command, those of its files of options among them."""
    from cute_viz.files import read_text

    try:
        words = shlex.split(text) if isinstance(text, str) else list(text)
    except ValueError as error:
        raise CuteVizError(f"the flags are not words of a shell: {error}", hint="quote them as one word") from None
    if len(words) > _MOST:
        raise CuteVizError(f"the flags have {len(words)} words, over {_MOST}")
    waiting = iter(words)
    for word in waiting:
        path = word[1:] if word.startswith("@") else None
        if word in ("--options-file", "-optf"):
            path = next(waiting, None)
        if path is None:
            yield word
        elif deep < 4:
            yield from _words(read_text(os.path.join(folder, path), root), folder, root, deep + 1)
