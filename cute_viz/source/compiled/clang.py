"""A unit of CUDA -> what its compiler decided: libclang parses it as a compiler would, without running anything."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cute_viz.errors import CuteVizError
from cute_viz.headers import cuda_headers, cute_headers
from cute_viz.source.compiled.flags import HERE, Flags
from cute_viz.source.compiled.texts import begun, completed
from cute_viz.source.compiled.unit import Unit

if TYPE_CHECKING:
    from clang.cindex import TranslationUnit

NEEDS = "pip install 'cute-viz[compiler]'"
_EXPLICIT = re.compile(
    r"^[ \t]*template\s+(?!<)(?P<head>[^;{}()<>=\\#]*?)(?P<name>[\w:]+)\s*(?P<args><[^;{}\\#]*>)"
    r"\s*\((?P<params>[^;{}\\#]*)\)\s*;",
    re.M,
)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([\w\s,\\]*)\)((?:[^\n\\]|\\[\s\S])*)", re.M)
_TIMES = 3  # that a unit is parsed at most for these
_KEPT: list[TranslationUnit] = []  # what is parsed, until the process ends: to give back its memory takes long
_KEEP_GOING = 0x200  # CXTranslationUnit_KeepGoing: a header that is not there does not end the unit


def parse(path: str, text: str, flags: Flags, others: Mapping[str, str]) -> Unit:
    """The unit of a file, whose text may be newer than the file. others: texts for files that it includes, by their paths.
    Raises: CuteVizError without libclang, and where the unit cannot be parsed at all."""
    try:
        from clang import cindex

        if (own := os.environ.get("LIBCLANG")) and not cindex.Config.loaded:
            cindex.Config.set_library_file(own)
        from cute_viz.source.compiled.clang_walk import UnitWalk
    except ImportError:
        raise CuteVizError("reading a file as compiled needs libclang, which is not installed", hint=NEEDS) from None
    path, index = os.path.abspath(path), cindex.Index.create()
    try:
        known, aliases = begun(path, {**others, path: _used(text) + _named(flags.instances)}, flags.folders)
        for _ in range(_TIMES):
            unit = index.parse(path, [*words(flags)], [*known.items()], _KEEP_GOING)
            if known == (known := completed(_told(unit), known)):
                break
            del unit  # two of them take twice the memory
        else:
            unit = index.parse(path, [*words(flags)], [*known.items()], _KEEP_GOING)
        _KEPT.append(unit)
        return UnitWalk(unit, path, text.count("\n") + 1, aliases).unit()
    except (cindex.TranslationUnitLoadError, cindex.LibclangError) as error:
        raise CuteVizError(f"libclang cannot parse this file: {error}", name=path, hint="look at the flags") from None


def _told(unit: TranslationUnit) -> Iterator[tuple[str, str, int]]:
    """What clang says of files."""
    for diagnostic in unit.diagnostics:
        if (file := diagnostic.location.file) is not None:
            yield str(diagnostic.spelling), str(file.name), int(diagnostic.location.offset)


def words(flags: Flags) -> Iterator[str]:
    """The command line of libclang: CUDA code for a device, CUDA's and CuTe's headers, where the flags do not name them."""
    number = int(flags.arch.rstrip("af") or 80)
    yield from ("-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-w", "-ferror-limit=0", "-fms-extensions")
    if not any(word.startswith("-std=") for word in flags.words):
        yield "-std=c++17"
    yield f"-D__CUDA_ARCH__={number}0"
    if number >= 90:
        yield from (
            f"-D__CUDA_ARCH_FEAT_SM{number}_ALL",
            f"-D__CUDA_ARCH_SPECIFIC__={number}0",
            f"-DCUTLASS_ARCH_MMA_SM{number}_SUPPORTED=1",
        )
    if number >= 100:  # which CUTLASS defines for nvcc only
        yield from (f"-DCUTLASS_ARCH_MMA_SM{number}{kind}_ENABLED=1" for kind in ("", "A", "F"))
    yield from ("-include", os.path.join(HERE, "device.h"))
    yield from flags.words
    if not _has(flags, "cute/layout.hpp") and (folder := cute_headers()):
        yield from ("-I", folder)
    if not _has(flags, "cuda_runtime_api.h") or not _has(flags, "crt/host_defines.h"):
        for folder in cuda_headers():
            yield from ("-I", folder)
    for folder in _builtin():
        yield from ("-isystem", folder)
    yield from ("-idirafter", os.path.join(HERE, "stubs"))


def _has(flags: Flags, name: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, name)) for folder in flags.folders)


def _builtin() -> list[str]:
    """The folder of a compiler's own headers, `stddef.h`, which libclang does not bring: gcc's or clang's, the newest."""
    from glob import glob

    places = [*glob("/usr/lib/gcc/*/*/include/stddef.h"), *glob("/usr/lib/llvm-*/lib/clang/*/include/stddef.h")]
    places += glob("/usr/lib/clang/*/include/stddef.h") + glob(f"{sys.prefix}/lib/gcc/*/*/include/stddef.h")
    found = sorted(places, key=lambda place: ([int(n) for n in re.findall(r"\d+", place)], place))
    return [os.path.dirname(found[-1])] if found else []


def _named(instances: tuple[str, ...]) -> str:
    """Functions that use instances which a binary names."""
    out = []
    for n, line in enumerate(instances):
        head, _, rest = line.partition(" ")
        at = len(rest) - 1
        depth = 0
        while at > 0 and (depth := depth + (rest[at] == ")") - (rest[at] == "(")):
            at -= 1
        use = f"(void)static_cast<{head} (*){rest[at:]}>(&{rest[:at]});"
        out.append(f"\nstatic void __cute_viz_named_{n}() {{ {use} }}")
    return "".join(out)


def _used(text: str) -> str:
    """A text in which functions use what it instantiates explicitly, itself or by a macro, which libclang does not visit."""
    begin = 0

    def use(found: re.Match[str]) -> str:
        head = re.sub(r"\b(?:__global__|__device__|__host__|inline|static|extern)\b", "", found["head"]).strip()
        if head.split()[:1] in (["class"], ["struct"]) or not head:
            return found[0]
        type_, name = f"{head} (*)({found['params']})", found["name"] + found["args"]
        return f"{found[0]} static void __cute_viz_use_{begin}_{found.start()}() {{ (void)static_cast<{type_}>(&{name}); }}"

    def expanded(found: re.Match[str]) -> str:
        nonlocal begin
        params, body = macros[found["macro"]]
        values = [value.strip() for value in found["values"].split(",")]
        if len(params) != len(values):
            return found[0]
        known = dict(zip(params, values, strict=True))
        body = re.sub(r"\w+", lambda word: known.get(word[0], word[0]), body)
        begin = found.start()
        whole = _EXPLICIT.sub(use, f"{body};")
        return f"{found[0]}{whole[len(body) + 1 :]}" if whole.startswith(f"{body};") else found[0]

    macros: dict[str, tuple[list[str], str]] = {}
    for name, params, body in _MACRO.findall(text):
        row = " ".join(body.replace("\\\n", " ").split())
        if _EXPLICIT.match(f"{row};"):
            macros[name] = re.findall(r"\w+", params), row
    out = _EXPLICIT.sub(use, text)
    names = "|".join(map(re.escape, macros))
    return re.sub(rf"^[ \t]*(?P<macro>{names})\((?P<values>[^;{{}}()]*)\)[ \t]*;", expanded, out, flags=re.M) if macros else out
