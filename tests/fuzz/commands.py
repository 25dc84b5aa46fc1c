"""`python -m tests.fuzz.commands N SEED`: N commands that a typed grammar makes, each run in this process and judged.

The grammar knows every operation and the kinds of its operands, every command, and every option with words that fit and words that
do not. A command may refuse; it may not raise, take 10 seconds of this machine, write outside of its folder, or say it unclearly.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from cute_viz.algebra.ops import ALIASES, OPS
from cute_viz.cli import COMMANDS, cli
from cute_viz.cli.options import OptionValue
from cute_viz.options import OPTIONS
from tests.commands import run

SECONDS = 10.0  # of work, for one command
WATCHING = 1.0  # seconds of the clock, after which Ctrl-C ends a command that watches
NEVER = {"--help", "--install-completion"}
TELLS = ("gallery", "embed", "explain", "eval", "check")  # of a check, of a refusal, of a line of many: on standard output
JUNK = (
    "",
    "-1",
    "0",
    "x",
    "1.5",
    "nan",
    "1e400",
    "9" * 500,
    "((",
    "'",
    "\x1b[2J",
    "::error::x",
    "a\nb",
    "é",
    "_",
    "=",
    "5..",
    "8x",
)
INTEGERS = ("0", "1", "2", "3", "4", "7", "8", "16", "64", "-1", "-8", "_0", "_1", "_4", "_-2", "4294967296", "9223372036854775808")
ATOMS = (
    *("SM80_16x8x16_F32F16F16F32_TN", "SM80_16x8x16_F32F16F16F32_TN{}", "SM90_64x8x16_F32F16F16_SS", "SM70_8x8x4_F32F16F16F32_TN"),
    *("SM75_U32x4_LDSM_N", "UniversalCopy<float>", "Copy_Atom<UniversalCopy<uint128_t>, half_t>{}", "SM80_nothing", "ampere_gemm"),
    "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))",
    "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, (16,8):(8,1), (1,8))",
    "make_tiled_copy(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, (16,8):(8,1), (1,8))",
    "get_slice(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}), 5)",
)
WORDS = {  # options that hold text, by their names
    "access": ("((8,4),8):((1,64),8)", ATOMS[9], ATOMS[10]),
    "type": ("f16", "half_t", "8", "e4m3", "float", "128", "f32"),
    "operand": ("A", "B", "C", "AB", "S", "D"),
    "let": ("M=4", "a=(4,8):(8,1)", "?=(4,8)", "M"),
    "name": ("a", "b", "c"),
    "palette": ("viridis", "mono", "grey", "okabe"),
    "title": ("a title", "</svg>", "::error::x"),
    "arch": ("sm80", "sm90", "universal"),
    "read": ("ldmatrix", "rows", "column", "cp.async"),
    "write": ("ldmatrix", "rows", "column", "cp.async"),
    "limit": ("nesting=100", "cells=5", "elements=10", "modes=2", "nothing=1"),
    "layouts": (".", "nowhere"),
}

STAY = {
    "serve",
    "mcp",
    "record",
}  # commands that answer until they are stopped, or run a script; tests/test_live.py asks them hostile questions


class Grammar:
    """Words that commands take, as chance has it."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def rarely(self, of: int = 12) -> bool:
        """True once in so many times."""
        return self.chance.randrange(of) == 0

    def one(self, *several: str) -> str:
        """One of several."""
        return self.chance.choice(several)

    def integer(self) -> str:
        """An integer, dynamic or static."""
        return self.one(*INTEGERS[2:9], *INTEGERS) if self.rarely(3) else self.one("1", "2", "3", "4", "8", "_2", "_4")

    def tuple(self, leaf: Any, depth: int = 2) -> str:
        """A tuple of leaves, perhaps nested."""
        if depth == 0 or self.rarely(3):
            return str(leaf())
        inside = ",".join(self.tuple(leaf, depth - 1) for _ in range(self.chance.choice((0, 1, 2, 2, 2, 3))))
        return f"({inside})"

    def shape(self) -> str:
        """A shape, of small extents most of the time."""
        return self.tuple(self.integer)

    def stride(self) -> str:
        """A stride of some kind."""
        number = self.integer()
        return self.one(
            number, number, number, f"{number}@0", f"{number}@1", f"{number}@0@1", f"F{number}", f"1/{number}", f"{number}/3"
        )

    def alike(self, shape: str) -> str:
        """Strides as nested as a shape."""
        kind = self.one("integer", "integer", "integer", "coordinate", "xor", "ratio", "mixed")

        def leaf(_: re.Match[str]) -> str:
            number = self.integer()
            if kind == "integer":
                return number
            if kind == "coordinate":
                return self.one(f"{number.lstrip('_')}@0", f"{number.lstrip('_')}@1", "0", "1@0@1")
            if kind == "xor":
                return f"F{number.lstrip('_-')}"
            return f"{number.lstrip('_')}/{self.one('2', '3', '4', '8', '0')}" if kind == "ratio" else self.stride()

        return re.sub(r"[_\d-]+", leaf, shape)

    def swizzle(self) -> str:
        """A swizzle by three numbers."""
        numbers = [self.one("0", "1", "2", "3", "3", "4", "-1", "-3", "60") for _ in range(3)]
        return f"{self.one('Sw', 'S', 'Swizzle')}<{','.join(numbers)}>"

    def layout(self, depth: int = 2) -> str:
        """A layout: plain, composed, flagged, of C++ or the DSL, or what an operation gives."""
        shape = self.shape()
        plain = self.one(f"{shape}:{self.alike(shape)}", shape)
        kind = self.chance.randrange(16)
        if kind == 0:
            return f"{self.swizzle()} o {self.integer()} o {plain}"
        if kind == 1:
            return f"{self.swizzle()} o smem_ptr[{self.one('16', '8', '4', '32', '6')}b](unset) o {plain}"
        if kind == 2:
            return f"{plain} o {self.integer()} o {self.shape()}"
        if kind == 3:
            major = self.one("LayoutRight{}", "LayoutLeft{}", "GenRowMajor{}")
            return f"make_layout(make_shape({self.integer()},{self.integer()}), {major})"
        if kind == 4:
            return f"Layout<Shape<_{self.one('2', '8')},Int<4>>,Stride<_1,_{self.one('2', '0')}>>{{}}"
        if kind == 5:
            return f"cute.make_layout(({self.integer()},4), stride=({self.integer()},1))"
        return self.call(depth - 1) if kind in (6, 7) and depth else plain

    def tiler(self) -> str:
        """A tiler in any spelling."""
        a, b = self.layout(0), self.layout(0)
        return self.one(
            self.shape(), f"({a},{b})", f"<{a}, {b}>", f"[{a};{b}]", f"({a},_)", "_", a, f"make_tile({a},{b})", f"Tile<_2,{b}>"
        )

    def operand(self, kind: str, depth: int = 2) -> str:
        """Something for a place of a call; now and then what does not belong there."""
        if self.rarely(10):
            kind = self.one(*"LTNCSDBYGKXM")
        if kind in "LAHRVEQG":
            return self.layout(depth)
        if kind in "TO":
            return self.tiler()
        if kind == "N":
            return self.integer()
        if kind in "ISKP":
            return self.shape()
        if kind == "C":
            return self.tuple(lambda: self.one(self.integer(), "_", "1"))
        if kind == "D":
            return self.tuple(self.stride)
        if kind == "M":
            return self.one(self.shape(), "LayoutLeft{}", "LayoutRight{}", "Step<_2,_1>{}")
        if kind == "B":
            return self.one(self.integer(), "smem_ptr[16b](unset)")
        return self.one("half_t", "f16", "float", self.integer()) if kind == "Y" else self.one(*ATOMS)

    def call(self, depth: int = 2) -> str:
        """An operation on operands of its kinds."""
        name = self.chance.choice(list(OPS))
        op = OPS[name]
        kinds = op.kinds.rstrip("*")
        count = self.chance.randint(op.least, len(kinds)) if not self.rarely(15) else self.chance.randrange(5)
        if op.kinds.endswith("*"):
            count += self.chance.randrange(3)
        operands = [self.operand(kinds[min(n, len(kinds) - 1)] if kinds else "L", depth) for n in range(count)]
        template = (
            f"<{','.join(self.integer() for _ in range(self.chance.choice((1, 1, 2))))}>" if op.templated and self.rarely(2) else ""
        )
        others = [alias for alias, known in ALIASES.items() if known == name]
        if others and self.rarely(4):
            name = "cute." + self.chance.choice(others)
        return f"{name}{template}({self.one(', ', ',').join(operands)})"

    def source(self) -> str:
        """Whatever a command is asked to read."""
        kind = self.chance.randrange(20)
        if kind < 7:
            return self.call()
        if kind < 12:
            return self.layout()
        if kind < 14:
            return self.one(*ATOMS)
        if kind == 14:
            return f"a = {self.layout()}; b = {self.call()}; {self.one('a', 'b', 'a(1)', 'a(1,_)', 'b', 'a o b', 'c')}"
        if kind == 15:
            return f"auto a = {self.layout()}; auto b = {self.call()};"
        if kind == 16:
            return f"{self.layout(0)} {self.one('o', '⊘', '⊗', '+', '*')} {self.tiler()}"
        if kind == 17:
            return self.one(self.swizzle(), self.tiler(), self.shape())
        if kind == 18:
            text = self.call()
            at = self.chance.randrange(len(text) + 1)
            return text[:at] + self.one(*"(),:<>_@/o5-", "") + text[at + self.chance.randrange(3) :]
        return self.one(*JUNK, "-", "s.yaml", "x.json", "nowhere.yaml", ".")

    def word(self, name: str, type_: Any) -> str:
        """A value for an option, by what it holds."""
        if self.rarely():
            return self.one(*JUNK)
        row = type_.option if isinstance(type_, OptionValue) else OPTIONS.get(name)
        if isinstance(type_, click.Choice):
            return self.one(*type_.choices)
        if name in WORDS and not (row and row.holds == "object"):
            return self.one(*WORDS[name])
        holds = row.holds if row else ""
        if isinstance(type_, click.IntRange) or holds == "count":
            return self.one("1", "2", "5", "64", "1000")
        if holds == "tile":
            return self.one("4x8", "8x8", "16x8", "8x128", "1x1", "100000x100000")
        if holds == "range":
            return self.one("0", "5", "0..3", "3..0", "31", "99999999999")
        if holds == "pixels":
            return self.one("200", "5", "20000", "400", "0.01")
        return self.source() if holds == "object" else self.one(*JUNK)

    def options(self, command: click.Command, most: int = 3) -> list[str]:
        """Options of a command, with words; those that are needed to end soon or to write into the folder are given."""
        out = []
        params = [p for p in command.params if isinstance(p, click.Option) and not NEVER & set(p.opts)]
        for param in self.chance.sample(params, min(len(params), self.chance.randrange(most + 1))):
            flag = self.chance.choice(param.opts)
            if param.is_flag:
                out.append(flag)
            elif flag in ("-o", "--output", "--save", "--folder"):
                suffix = self.one(
                    "svg", "svg", "txt", "html", "tex", "json", "yaml", "", *(["png", "pdf"] if self.rarely(4) else [])
                )
                out += [flag, f"out/x.{suffix}" if command.name != "gallery" else self.one("out", "out/g", "s.yaml")]
            elif param.name == "jobs":
                out += ["-j", "1"]
            elif param.name in ("format_", "formats") and self.rarely(2):
                out += [flag, self.one("svg", "text", "json", "tikz", "html")]
            else:
                out += [flag, self.word(str(param.name), param.type)]
        return out

    def check(self, command: click.Command) -> list[str]:
        """What is checked, and how: kernels as text most of the time; all of the library only where no kernel is written."""
        rest = self.options(command, 2)
        if "--all" in rest:
            return [word for word in rest if word not in ("ptx", "cuda", "--emit")] + ([self.source()] if self.rarely(4) else [])
        return [self.source(), *(["--emit", self.one("ptx", "cuda")] if not self.rarely(6) else []), *rest]

    def files(self, folder: Path) -> None:
        """A spec file and a document, which commands may name."""
        figure = ", ".join(
            f"{name}: {self.word(name, None)!r}" for name in self.chance.sample(list(OPTIONS), self.chance.randrange(3))
        )
        specs = [f"  {self.one('a', 'b', 'con', 'é')}{n}: {{layout: {self.source()!r}, figure: {{{figure}}}}}" for n in range(2)]
        (folder / "s.yaml").write_text("specs:\n" + "\n".join(specs) + "\n", "utf-8", "replace")
        words = " ".join(f"{name}={shlex.quote(self.word(name, None))}" for name in self.chance.sample(list(OPTIONS), 1))
        text = f"<!-- cute-viz: {self.source()} | {words} -->\n<!-- /cute-viz -->\n"
        (folder / "d.md").write_text(text, "utf-8", "replace")

    def command(self) -> list[str]:
        """A command line."""
        name = self.one(*(["render"] * 6), *(["eval"] * 6), *(["show"] * 3), *(["explain"] * 3), *sorted(set(COMMANDS) - STAY))
        command = cli.commands.get(name) or cli.get_command(click.Context(cli), name)
        assert command is not None
        before = ["--limit", self.word("limit", None)] if self.rarely(20) else []
        if name in ("gallery", "check-spec"):
            what = ["s.yaml"] if not self.rarely() else [self.one(*JUNK)]
            rest = [*what, *self.options(command)]
            return [*before, name, *rest, *(["-j", "1", "-o", "out"] if name == "gallery" and "-o" not in rest else [])]
        if name == "embed":
            return [*before, name, self.one("d.md", "d.md", "s.yaml"), *self.options(command)]
        if name == "swizzle":
            return [*before, name, self.one("64x64", "32x32", "8x128", *JUNK), *self.options(command)]
        if name == "list":
            return [*before, name, self.one("ops", "formats", "palettes", "limits", "copy", "x"), *self.options(command)]
        if name == "check":
            return [*before, name, *self.check(command)]
        several = 2 if name == "render" and self.rarely(8) else 1
        return [*before, name, *self.options(command), *(self.source() for _ in range(several))]


class TooLong(BaseException):
    """A command that takes longer than any may; no `except Exception` takes it."""


_folder: list[str] = []  # where files may be written, while a command runs
_outside: list[str] = []
_free: list[str] = []  # where a compiler may write, too
STATE = os.path.realpath(os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")) + "/cute-viz"  # a gallery's key


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if not _folder or event not in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "os.chmod"):
        return
    if event == "open" and not (args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
        return
    path = args[1] if event in ("os.rename", "os.symlink") else args[0]
    if not isinstance(path, (str, bytes)) or "__pycache__" in os.fsdecode(path) or os.fsdecode(path) == os.devnull:
        return
    real = os.path.realpath(os.fsdecode(path))
    if event == "os.mkdir" and STATE.startswith(real):
        return
    if not real.startswith((_folder[0], STATE, *_free)) and "matplotlib" not in real:
        _outside.append(f"{event} {real}")


_hooked = False


@contextmanager
def _watched(folder: str, watching: bool, compiling: bool) -> Iterator[None]:
    """What is written outside of the folder is noted, and work that takes too long ends; what watches is interrupted."""
    global _hooked
    if not _hooked:
        sys.addaudithook(_audit)  # for as long as the process lives
        _hooked = True

    def end(*_: Any) -> None:
        raise TooLong

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before, awake = signal.signal(signal.SIGPROF, end), signal.signal(signal.SIGALRM, interrupt)
    _outside.clear()
    _folder.append(os.path.realpath(folder))
    _free[:] = [os.path.realpath(tempfile.gettempdir()) + "/tmp"] if compiling else []
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    if watching:
        signal.setitimer(signal.ITIMER_REAL, WATCHING, WATCHING)  # one that falls into a finaliser is lost
    try:
        yield
    finally:
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)
        _folder.clear()
        signal.signal(signal.SIGPROF, before)
        signal.signal(signal.SIGALRM, awake)


def wrong(argv: list[str], folder: str, stdin: bytes = b"(4,8):(8,1)\n") -> str:
    """What is wrong with how a command answers; "" where it answers, or refuses in clear words."""
    try:
        with _watched(folder, watching := "--watch" in argv, "--static" in argv):
            result = run(*argv, stdin=stdin, cwd=folder, env={"CUTE_VIZ_DEBUG": "1"})
    except TooLong:
        return f"more than {SECONDS:.0f} s"
    except MemoryError:
        return "MemoryError"
    except Exception as error:
        import traceback

        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:200]} at {last.filename.rpartition('/')[2]}:{last.lineno}"
    said = result.stderr.decode("utf-8", "replace")
    command = next((word for word in argv if word in COMMANDS), "")
    if _outside:
        return f"writes outside: {_outside[0]}"
    if result.returncode not in ((1, 2, 130) if watching else (0, 1, 2, 3)):  # 70 is a mistake of ours
        return f"exit status {result.returncode}"
    if result.returncode and not (re.search("^error: ", said, re.M) or (command in TELLS and result.stdout)):
        return "fails without a word"
    if not result.returncode and re.search("^error: ", said, re.M):
        return f"an error, and no failure: {said[:200]}"
    if "Traceback" in said or "mistake in cute-viz" in said or re.search("`[a-z_]+=", said):
        return f"says {said[:300]}"
    lines = ("error: ", "note: ", "warning: ", "reading ", "  ", "stale: ", "removed: ", "kept", "out", "d.md: ", "s.yaml: ", "./")
    lines += ("interrupted",) if watching else ()
    if strange := [line for line in said.splitlines() if line.strip() and not line.startswith(lines)]:
        return f"a line of its own: {strange[0][:200]!r}"
    return ""


def fuzz(count: int, seed: int, progress: bool = False) -> Iterator[tuple[int, list[str], str]]:
    """The findings of so many commands: the number that makes it again, the command, and what is wrong."""
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "work"
        for number in range(seed, seed + count):
            folder.mkdir(exist_ok=True)
            (folder / "out").mkdir(exist_ok=True)
            grammar = Grammar(number)
            grammar.files(folder)
            argv = grammar.command()
            if any("\0" in word for word in argv):
                continue
            if said := wrong(argv, str(folder)):
                yield number, argv, said
            for path in (folder / "out").iterdir():
                if path.is_file():
                    path.unlink()
            if progress and (number - seed) % 1000 == 999:
                print(f"{number - seed + 1} commands", file=sys.stderr, flush=True)


def main() -> None:
    """Fuzz, and print what is found."""
    if len(sys.argv) != 3 or not all(word.isdecimal() for word in sys.argv[1:]):
        sys.exit("python -m tests.fuzz.commands N SEED")
    found = 0
    for number, argv, said in fuzz(int(sys.argv[1]), int(sys.argv[2]), progress=True):
        found += 1
        print(f"{number}: cute-viz {shlex.join(argv)}\n    {said}", flush=True)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
